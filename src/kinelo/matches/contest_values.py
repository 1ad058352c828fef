"""What a cell says of an entrant: a place, a score, a time, or in which way it has none.

Cells that are numbers or clocks are read all at once. What is left are few different words, read one by one: ``T3``,
``3-4``, ``16 DNF``, ``DNF (engine)``, ``+1 Lap``, ``s.t.``, ``2h04m``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.contests import FINISHED, UNFINISHED
from kinelo.matches.fields import read_numbers
from kinelo.matches.names import as_text, clean_name
from kinelo.matches.words import REDRESS, TO_COME, UNKNOWN, meaning_of

OF_OUTCOMES = r"lap|lpd|lapped|el|elim\.?|eliminated|rt|rtd|abd|buw"
"""What stands for not finishing in place of a result; beside one, lapped and eliminated entrants have theirs."""

PENALTIES = r"zfp|scp|stp|dpi|arb|pen|\*"
"""Codes beside a place that was reached, with a penalty."""

PLACE = re.compile(r"(?:p|pos\.?|#|=|t|t=)?\s*(\d+(?:[.,]\d+)?)\s*(?:st|nd|rd|th|\.|=|t|º|°|ª|er|[eè]re|e|[eè]me|de)?")
RANGE = re.compile(r"[=t]?\s*(\d+)\s*[-–−]\s*(\d+)\.?")
OF_FIELD = re.compile(r"(\d+)\s*(?:/|of|von|de|sur|di)\s*(\d+)")
BEHIND_BY_LAPS = re.compile(r"[+\-−]?\s*(\d+)\s*(?:laps?|l|rd\.?|runden?|voltas?|vueltas?|tours?|giri|giro|ronden?)\.?")
HALVES = re.compile(r"([+\-]?)(?:(\d+)(?:\s+|(?=[½¼¾])))?(½|¼|¾|1/2|1/4|3/4)")
"""Half points, as 7½ and 6 1/2."""

FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "1/2": 0.5, "1/4": 0.25, "3/4": 0.75}
MARKED = re.compile(r"(.*\d[\d:.,'’′\"″a-z]*?)\s*(q|pb|sb|nr|or|wr|er|ar|cr|mr|wl|w|\*)")
"""A result with a mark beside it: qualified, a record, with the wind."""

SAME_TIME = re.compile(r"s\.? ?t\.?|m\.? ?t\.?|same time|mismo tiempo|m[eê]me temps|z\.? ?t\.?|,,|''|\"|″")
CLOCK = r"^(?:(\d+)[:h])?\s*(\d+)[:m'’′]\s*(\d+(?:[.,]\d+)?)\s*(?:s|\"|''|″)?$"
POINTED_CLOCK = re.compile(r"(?:(\d+)\.)?(\d+)\.(\d\d,\d+)")
"""1.54,31: minutes, seconds and hundredths."""

HOURS = re.compile(
    r"(?:(\d+)\s*h(?:rs?|ours?)?\.?)?\s*(?:(\d+)\s*(?:m(?:in)?\.?|['’′]))?\s*"
    r"(?:(\d+(?:[.,]\d+)?)\s*(s(?:ec)?\.?|\"|″|'')?)?"
)
WITH_UNIT = re.compile(r"([+\-]?\d+(?:[.,]\d+)?)\s*(?:m|cm|km|kg|s|sec|pts?|p|pkt|points?|punkte)\.?")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
REMARK = re.compile(r"(.*?\S)\s*[(\[][^()\[\]]*[)\]]")
BRACKETS = re.compile(r"[(\[](.*)[)\]]")
BESIDE = re.compile(r"(\d+(?:[.,]\d+)?)\s*[,;/]?\s*([a-z/.*]+\d?)|([a-z/.]+)\s*[,;/]?\s*(\d+(?:[.,]\d+)?)")
LAPPED = 1e12
"""Values from here on are numbers of laps behind, after all times."""

LONGEST_WORD = 300
"""Letters beyond which a cell holds no result."""


class Cell(NamedTuple):
    """What one word says: a value or NaN, an ending, how the value counts, and whether a mark beside it was left."""

    value: float = math.nan
    ended: int = UNKNOWN
    behind: bool = False
    same: bool = False
    marked: bool = False


@dataclass
class Cells:
    """What a column says of every row.

    ``value`` is NaN where there is none; ``ended`` says how a row ended that has none (-1 where nothing tells);
    ``behind`` marks times that are so much behind the best, ``same`` those of the row above; ``blank`` cells say
    nothing at all.
    """

    value: NDArray[np.float64]
    ended: NDArray[np.int8]
    behind: NDArray[np.bool_]
    same: NDArray[np.bool_]
    blank: NDArray[np.bool_]


def read_cells(
    column: pl.Series, kind: str, endings: Mapping[str, int] | None = None, notes: list[str] | None = None
) -> Cells:
    """Read a column of places, scores or times.

    >>> cells = read_cells(pl.Series(["1st", "T2", "3-4", "5/8", "16 DNF", "DNF (engine)", "?"]), "place")
    >>> cells.value.tolist(), cells.ended.tolist()
    ([1.0, 2.0, 3.5, 5.0, nan, nan, nan], [0, 0, 0, 0, 1, 1, -1])
    >>> cells = read_cells(pl.Series(["59.5", "1:02.25", "2h04m", "+1.5s", "s.t.", "+1 Lap"]), "time")
    >>> cells.value.tolist(), cells.behind.tolist().index(True), cells.same.tolist().index(True)
    ([59.5, 62.25, 7440.0, 1.5, nan, 1000000000001.0], 3, 4)
    """
    n = len(column)
    nothing = np.zeros(n, bool)
    if kind == "time" and (column.dtype == pl.Duration or column.dtype == pl.Time):
        value = (
            column.cast(pl.Duration("ns")).dt.total_nanoseconds().cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e9
        )
        return Cells(value, _ended(value), nothing, nothing, np.isnan(value))
    text = as_text(column)
    value = np.array(read_numbers(column, notes))
    if column.dtype != pl.String:
        return Cells(value, _ended(value), nothing, nothing, np.isnan(value))
    signed = text.str.strip_chars().str.starts_with("+").fill_null(False).to_numpy() if kind == "time" else nothing
    value = np.where(signed, np.nan, value)
    left = np.flatnonzero(np.isnan(value) & text.is_not_null().to_numpy())
    if kind == "time" and left.size:
        parts = text.gather(left).str.strip_chars().str.extract_groups(CLOCK).struct
        hours, minutes, seconds = (read_numbers(parts.field(str(k))) for k in (1, 2, 3))
        plain = value[np.isfinite(value)]
        value[left] = np.where(np.isnan(hours), 0.0, hours) * 3600.0 + minutes * 60.0 + seconds
        value[left[(seconds >= 60.0) | (np.isfinite(hours) & (minutes >= 60.0))]] = np.nan  # 99:99:99
        if np.isfinite(value[left]).any() and _are_days(plain):
            value[np.isin(value, plain)] *= 86_400.0
            if notes is not None:
                notes.append(
                    f"{plain[0]:g} in {column.name!r} was read as a part of a day, as a spreadsheet counts times"
                )
        left = left[np.isnan(value[left])]
    cells = Cells(value, _ended(value), nothing.copy(), nothing.copy(), text.is_null().to_numpy())
    rest = pl.DataFrame({"row": left, "word": text.gather(left)})
    marked: list[str] = []
    for (word,), rows in rest.group_by(["word"], maintain_order=True):
        plain = clean_name(str(word)).lower()
        at = rows["row"].to_numpy()
        cell = read_word(plain, kind, endings or {})
        if cell.ended == TO_COME:
            plain, cell = "", Cell()
        cells.blank[at] = not plain
        cells.value[at], cells.ended[at], cells.behind[at], cells.same[at] = cell[:4]
        marked += [str(word)] if cell.marked else []
    if marked and notes is not None:
        notes.append(
            f"marks beside results were not read, such as that of {marked[0].strip()!r:.40} in {column.name!r}"
        )
    return cells


def _are_days(numbers: NDArray[np.float64]) -> bool:
    """Whether numbers are days of a spreadsheet: below 2, with more digits than anybody stops."""
    return bool(numbers.size and np.all((numbers > 0.0) & (numbers < 2.0) & (np.round(numbers, 4) != numbers)))


def _ended(value: NDArray[np.float64]) -> NDArray[np.int8]:
    return np.where(np.isfinite(value), FINISHED, UNKNOWN).astype(np.int8)


def read_word(word: str, kind: str, endings: Mapping[str, int]) -> Cell:
    """What one word in lower case says, in a column of places, scores or times."""
    word = word.replace("\N{MINUS SIGN}", "-").strip()
    if word in endings:
        return Cell(ended=endings[word])
    if len(word) > LONGEST_WORD:
        return Cell()
    if inner := BRACKETS.fullmatch(word):  # a result that does not count for the total was reached all the same
        word = inner[1].strip()
        if number := NUMBER.fullmatch(word):
            return Cell(float(number[0].replace(",", ".")), FINISHED)
    if (found := READERS[kind](word)) is not None:
        return found
    if re.fullmatch(OF_OUTCOMES, word):
        return Cell(ended=UNFINISHED)
    if (ended := ending_of(word, place=kind == "place")) != UNKNOWN:
        return Cell(ended=ended)
    if kind != "place" and (marked := MARKED.fullmatch(word)):  # 10.01 Q, 9.58 WR
        found = Cell(_number(marked[1]), FINISHED) if NUMBER.fullmatch(marked[1]) else READERS[kind](marked[1])
        if found is not None:
            return found._replace(marked=True)
    beside = BESIDE.fullmatch(word)
    if beside:  # 16 DNF, DNF 16: points for a race that was not finished; 7 SCP: a place with a penalty
        number, code = (beside[1], beside[2]) if beside[1] else (beside[4], beside[3])
        if re.fullmatch(PENALTIES, code):
            return Cell(_number(number), FINISHED)
        if (ended := ending_of(code)) != UNKNOWN:
            return Cell(ended=ended)
    if (remark := REMARK.fullmatch(word)) and remark[1] != word:
        return read_word(remark[1], kind, endings)
    return Cell()


def ending_of(word: str, *, place: bool = False) -> int:
    """The ending that a word stands for in the place of a result, -1 for none; in a column of places F is a fall."""
    if place and word == "f":
        return UNFINISHED
    if re.fullmatch(r"rdga?|rdg[\s/,]?.*|redress.*", word):
        return REDRESS
    meaning = meaning_of(word, "entrant")
    return UNKNOWN if meaning == FINISHED else meaning


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _read_place(word: str) -> Cell | None:
    if parts := PLACE.fullmatch(word):
        return Cell(_number(parts[1]), FINISHED)
    parts = RANGE.fullmatch(word)
    if parts and int(parts[1]) < int(parts[2]):
        return Cell((int(parts[1]) + int(parts[2])) / 2.0, FINISHED)
    parts = OF_FIELD.fullmatch(word)
    if parts and 1 <= int(parts[1]) <= int(parts[2]):
        return Cell(float(parts[1]), FINISHED)
    return None


def _read_score(word: str) -> Cell | None:
    if word in ("e", "even", "par", "level"):  # golf: level with par
        return Cell(0.0, FINISHED)
    if found := HALVES.fullmatch(word):
        return Cell((-1.0 if found[1] == "-" else 1.0) * (float(found[2] or 0) + FRACTIONS[found[3]]), FINISHED)
    found = WITH_UNIT.fullmatch(word)
    return Cell(_number(found[1]), FINISHED) if found else None


def _read_time(word: str) -> Cell | None:
    if SAME_TIME.fullmatch(word):
        return Cell(ended=FINISHED, same=True)
    if found := BEHIND_BY_LAPS.fullmatch(word):
        return Cell(LAPPED + int(found[1]), FINISHED)
    behind = word.startswith("+")
    word = word.removeprefix("+").strip()
    parts = re.fullmatch(CLOCK, word) or POINTED_CLOCK.fullmatch(word) or HOURS.fullmatch(word)
    if parts is not None and any(parts.groups()):
        hours, minutes, seconds = (_number(part) if part else 0.0 for part in parts.groups()[:3])
        if parts.re is not HOURS and (seconds >= 60.0 or (parts[1] and minutes >= 60.0)):
            return None
        if parts[1] and not parts[2] and parts.re is HOURS and not parts[4]:
            minutes, seconds = seconds, 0.0  # 2h04
        return Cell(hours * 3600.0 + minutes * 60.0 + seconds, FINISHED, behind)
    return None


READERS = {"place": _read_place, "score": _read_score, "time": _read_time}


def read_endings(
    column: pl.Series, endings: Mapping[str, int] | None = None
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """What the words of a column of statuses say of each row (-1 for nothing known), and whether it says anything.

    >>> ended, says = read_endings(pl.Series(["Finished", "DNF", "Disqualified", "Engine", None]))
    >>> ended.tolist(), says.tolist()
    ([0, 1, 2, -1, -1], [True, True, True, True, False])
    """
    text = as_text(column).str.strip_chars().str.to_lowercase().fill_null("")
    meaning = {word: (endings or {}).get(word, meaning_of(word, "entrant")) for word in text.unique().to_list()}
    return np.array(text.replace_strict(meaning, return_dtype=pl.Int8).to_numpy()), (text != "").to_numpy()
