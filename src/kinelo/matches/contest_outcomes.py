"""What a cell says of an entrant, and how each row of a contest ended.

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

from kinelo.errors import InputError
from kinelo.matches.columns import FEWEST, POINTS, WORLD_RANKS, plain_name
from kinelo.matches.contests import DISQUALIFIED, FINISHED, NOT_STARTED, UNFINISHED
from kinelo.matches.names import as_text, clean_name, read_numbers
from kinelo.matches.rows import Best, ContestRows, listed_names
from kinelo.matches.words import BROKEN_OFF, LAST, REDRESS, TO_COME, UNKNOWN, meaning_of
from kinelo.presentation import counted

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

LEAST_PLACED = 4
"""Places of a contest below which repeats tell nothing."""

CONTRADICTED = 0.25
"""Share of neighbours by place whose times stand the other way round, from which on both cannot be results."""

LEAST_ODD, SHARE_ODD = 3, 0.01
"""Rows, and share of those that can be used, from which on a word that is not known is asked about."""


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
    column: pl.Series, measure: str, endings: Mapping[str, int] | None = None, notes: list[str] | None = None
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
    if measure == "time" and (column.dtype == pl.Duration or column.dtype == pl.Time):
        value = (
            column.cast(pl.Duration("ns")).dt.total_nanoseconds().cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e9
        )
        return Cells(value, _ended(value), nothing, nothing, np.isnan(value))
    text = as_text(column)
    value = np.array(read_numbers(column, notes))
    if column.dtype != pl.String:
        return Cells(value, _ended(value), nothing, nothing, np.isnan(value))
    signed = text.str.strip_chars().str.starts_with("+").fill_null(False).to_numpy() if measure == "time" else nothing
    value = np.where(signed, np.nan, value)
    left = np.flatnonzero(np.isnan(value) & text.is_not_null().to_numpy())
    if measure == "time" and left.size:
        parts = text.gather(left).str.strip_chars().str.extract_groups(CLOCK).struct
        hours, minutes, seconds = (read_numbers(parts.field(str(k))) for k in (1, 2, 3))
        plain = value[np.isfinite(value)]
        value[left] = np.where(np.isnan(hours), 0.0, hours) * 3600.0 + minutes * 60.0 + seconds
        value[left[(seconds >= 60.0) | (np.isfinite(hours) & (minutes >= 60.0))]] = np.nan  # 99:99:99
        # Days of a spreadsheet: below 2, with more digits than anybody stops.
        days = plain.size and np.all((plain > 0.0) & (plain < 2.0) & (np.round(plain, 4) != plain))
        if np.isfinite(value[left]).any() and days:
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
        cell = read_word(plain, measure, endings or {})
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


def _ended(value: NDArray[np.float64]) -> NDArray[np.int8]:
    return np.where(np.isfinite(value), FINISHED, UNKNOWN).astype(np.int8)


def read_word(word: str, measure: str, endings: Mapping[str, int]) -> Cell:
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
    if (cell := READERS[measure](word)) is not None:
        return cell
    if re.fullmatch(OF_OUTCOMES, word):
        return Cell(ended=UNFINISHED)
    if (ended := ending_of(word, place=measure == "place")) != UNKNOWN:
        return Cell(ended=ended)
    if measure != "place" and (marked := MARKED.fullmatch(word)):  # 10.01 Q, 9.58 WR
        cell = Cell(_number(marked[1]), FINISHED) if NUMBER.fullmatch(marked[1]) else READERS[measure](marked[1])
        if cell is not None:
            return cell._replace(marked=True)
    beside = BESIDE.fullmatch(word)
    if beside:  # 16 DNF, DNF 16: points for a race that was not finished; 7 SCP: a place with a penalty
        number, code = (beside[1], beside[2]) if beside[1] else (beside[4], beside[3])
        if re.fullmatch(PENALTIES, code):
            return Cell(_number(number), FINISHED)
        if (ended := ending_of(code)) != UNKNOWN:
            return Cell(ended=ended)
    if (remark := REMARK.fullmatch(word)) and remark[1] != word:
        return read_word(remark[1], measure, endings)
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


def direction(measure: str, column: str, best: Best | None) -> tuple[float, str]:
    """1 where less is better, -1 where more is, and how that is known; a column that does not say is asked about.

    >>> direction("score", "Points", None)
    (-1.0, "the most of 'Points' is best")
    """
    if best is not None and (not isinstance(best, str) or best not in ("lowest", "highest")):
        raise InputError(f"best must be 'lowest' or 'highest', not {best!r:.60}.")
    if best is not None:
        return (1.0 if best == "lowest" else -1.0), f"the {best} {column!r} is best, as asked"
    if measure == "place":
        return 1.0, f"the lowest {column!r} is best"
    if measure == "time":
        return 1.0, f"the shortest {column!r} is best; best='highest' if the longest is"
    if plain_name(column) in POINTS:
        return -1.0, f"the most of {column!r} is best"
    if plain_name(column) in FEWEST:
        return 1.0, f"the lowest {column!r} is best"
    raise InputError(
        f"Nothing tells whether a high or a low {column!r} is better: say best='highest' or best='lowest'."
    )


ONLY_SIGNS = re.compile(r"[\d\W]*")

WITHDREW = r"^(wd|w/d)$|withdr"
NEARLY_ALL, FAR_LONGER = 0.9, 4.0
STROKES, SHORT = ("strokes", "totalstrokes", "schlage"), 0.8
"""Scores that all who play the same rounds have about as many of: nobody has less than this part of another's."""


def read_outcome_cells(rows: ContestRows) -> Cells | None:
    """What the column of the outcome says of every row; None where there is none.

    A place of 0 stands for somebody without one, unless every contest has one, which is asked about; a time of 0 too,
    but where it is that of the first one listed, as gaps to the winner begin.
    """
    column, good = rows.found.get("outcome"), rows.fault == 0
    if column is None:
        return None
    cells = read_cells(rows.table[column], rows.measure, rows.options.endings, rows.notes)
    if rows.measure == "time" and rows.options.best is None:
        zero = (cells.value == 0.0) & ~cells.behind & good & (rows.contest >= 0)
        first = np.zeros(zero.size, bool)
        first[np.unique(np.where(good, rows.contest, -1), return_index=True)[1]] = True
        several = (np.bincount(rows.contest[zero], minlength=len(rows.identifiers) + 1) > 1)[rows.contest]
        none = zero & (~first | several)
        if number := int(none.sum()):
            times = counted(number, "time of 0", "times of 0")
            rows.notes.append(f"{times} in {column!r} {'was' if number == 1 else 'were'} read as none")
            cells.value[none], cells.ended[none], cells.blank[none] = np.nan, UNKNOWN, True
    below = (cells.value < 1.0) & (rows.measure == "place") & (rows.options.best is None)
    zero = below & good
    if zero.any():
        unexplained = zero
        if "status" in rows.found:
            status, says = read_endings(rows.table[rows.found["status"]], rows.options.endings)
            unexplained = zero & ~(says & (status != FINISHED))
        number = np.bincount(rows.contest[unexplained], minlength=len(rows.identifiers))
        present = np.unique(rows.contest[good & np.isfinite(cells.value)])
        if (cells.value[zero] == 0.0).all() and (number[present] == 1).all():
            raise InputError(
                f"Every contest has one {column!r} of 0, which may be the first place or somebody without one: say "
                "best='lowest' if 0 is first, or leave these cells empty."
            )
        rows.notes.append(
            f"{counted(int(zero.sum()), 'row has', 'rows have')} a {column!r} below 1, such as "
            f"{cells.value[zero][0]:g}, which is no place"
        )
        cells.value = np.where(below, np.nan, cells.value)
    cells.ended = np.where(below & (cells.ended == FINISHED), UNKNOWN, cells.ended).astype(np.int8)
    return cells


def read_outcomes(rows: ContestRows, cells: Cells) -> None:
    """Values of which less is better, and how entrants ended who have none."""
    sign, how = direction(rows.measure, rows.found["outcome"], rows.options.best)
    rows.notes.append(how)
    value = _with_gaps(rows, cells) if rows.measure == "time" else cells.value
    redress = (cells.ended == REDRESS) & (rows.fault == 0)
    if number := int(redress.sum()):
        given = counted(number, "result was", "results were")
        rows.notes.append(
            f"{given} given by redress (RDG): {'it is no place' if number == 1 else 'they are no places'}, and left out"
        )
        rows.reject(redress, "place given by redress")
    ended = np.where(np.isfinite(value), FINISHED, np.where(cells.ended > FINISHED, cells.ended, UNKNOWN))
    blank = cells.blank
    if "status" in rows.found:
        status, says = read_endings(rows.table[rows.found["status"]], rows.options.endings)
        waiting = status == TO_COME
        if rows.options.played:
            rows.reject(waiting, "contest not over yet")
        value, blank = np.where(waiting, np.nan, value), blank | waiting
        # A word such as "Engine" beside an empty place is why somebody did not finish.
        why = (ended == UNKNOWN) & says & (status == UNKNOWN)
        ended = np.select([waiting, status > FINISHED, why], [UNKNOWN, status, UNFINISHED], ended)
        ended = _without_starters(rows, ended)
    unknown, to_come = ended == UNKNOWN, np.zeros(ended.size, bool)
    if not rows.options.played:  # contests in which nobody has a place yet
        good = (rows.fault == 0) & (rows.contest >= 0)
        over = np.zeros(len(rows.identifiers) + 1, bool)
        over[rows.contest[good & ~(blank & unknown)]] = True
        to_come = good & ~over[rows.contest]
    rows.reject(unknown & blank & ~to_come, "missing place")
    rows.reject(unknown & ~blank, "unreadable place")
    rows.ended = np.where(ended < 0, FINISHED, ended).astype(np.int8)
    rows.value = np.where(rows.ended == FINISHED, sign * value, np.nan)
    if sign > 0 and rows.measure == "score":
        _mark_short_rounds(rows)
    options = rows.options
    for ending, choice, option, reason in (
        (NOT_STARTED, options.not_started, "not_started", "did not start"),
        (DISQUALIFIED, options.disqualified, "disqualified", "disqualified"),
        (UNFINISHED, options.unfinished, "unfinished", "did not finish"),
    ):
        at = (rows.ended == ending) & (rows.fault == 0)
        if not (number := int(at.sum())):
            continue
        happened = reason if ending != DISQUALIFIED else "was disqualified" if number == 1 else "were disqualified"
        who = f"{counted(number, 'entry', 'entries')} {happened}{_in_which_words(rows, at)}"
        if choice == "out":
            rows.reject(at, reason)
            rows.notes.append(f"{who}: left out; {option}='behind' puts such entries behind all who finished")
        elif choice == "last":
            rows.notes.append(f"{who}: counted like finishing last; {option}='out' leaves such entries out")
        else:
            rows.notes.append(
                f"{who}: tied behind all who finished, which is partly luck and tells as much as RankElo finds; "
                f"{option}='last' counts such entries like finishing last, {option}='out' leaves them out"
            )
    last = (rows.ended == LAST) & (rows.fault == 0)
    if number := int(last.sum()):
        entries = counted(number, "entry is", "entries are")
        rows.notes.append(f"{entries} tied behind all others who finished{_in_which_words(rows, last)}, as after a cut")


def _in_which_words(rows: ContestRows, at: NDArray[np.bool_]) -> str:
    """Words of the file that were taken for an ending, in brackets."""
    words: dict[str, None] = {}
    for column in (rows.found["outcome"], rows.found.get("status")):
        if column is not None and rows.table[column].dtype == pl.String:
            cells = rows.table[column].filter(pl.Series(at)).str.strip_chars().drop_nulls()
            words |= dict.fromkeys(word for word in cells.unique(maintain_order=True) if not ONLY_SIGNS.fullmatch(word))
    return f" ({listed_names(list(words), 3)})" if words else ""


def _with_gaps(rows: ContestRows, cells: Cells) -> NDArray[np.float64]:
    """Times of which those behind the best of their contest are added to it, and those of the row above are taken."""
    text = as_text(rows.table[rows.found["time"]])
    value = cells.value
    plain = gaps_without_sign(rows, cells)
    if plain.any():
        rows.notes.append(
            "the first time of each contest is by far the longest: the others, such as "
            f"{text[int(np.argmax(plain))].strip()!r}, were read as so much behind it"
        )
        cells.behind = cells.behind | plain
    elif cells.behind.any():
        shown = text[int(np.argmax(cells.behind))].strip()
        rows.notes.append(f"times such as {shown!r} were read as so much behind the shortest")
    if cells.behind.any():
        best = np.full(len(rows.identifiers) + 1, np.inf)
        whole = ~cells.behind & np.isfinite(value) & (rows.contest >= 0)
        np.minimum.at(best, rows.contest[whole], value[whole])
        value = np.where(cells.behind, np.where(np.isfinite(best), best, 0.0)[rows.contest] + value, value)
    if number := int((value >= LAPPED).sum()):
        rows.notes.append(
            f"{counted(number, 'time says', 'times say')} how many laps somebody was behind: behind all times, and "
            "tied where they are as many"
        )
    if number := int(cells.same.sum()):
        table = pl.DataFrame({"contest": rows.contest, "value": np.where(cells.same, np.nan, value)})
        above = table.select(pl.col("value").fill_nan(None).forward_fill().over("contest")).to_series()
        value = np.where(cells.same, above.fill_null(np.nan).to_numpy(), value)
        taken = counted(number, "time is that", "times are those")
        rows.notes.append(f"{taken} of the row above, as s.t. says: a tie")
    return value


def _mark_short_rounds(rows: ContestRows) -> None:
    """Put who has fewer rounds than others behind them, where the fewest strokes are best, as after a cut."""
    there = (rows.fault == 0) & (rows.contest >= 0) & (rows.ended == FINISHED)
    if not there.any():
        return
    rounds = [column for column in rows.table.columns if re.fullmatch(r"(?:r|rd|round|runde)[1-9]", plain_name(column))]
    if len(rounds) > 1:
        played = np.sum([np.isfinite(read_numbers(rows.table[column])) for column in rounds], axis=0)
        most = np.zeros(len(rows.identifiers) + 1, np.int64)
        np.maximum.at(most, rows.contest[there], played[there])
        short = there & (played < most[rows.contest])
        if number := int(short.sum()):
            entries = counted(number, "entry has", "entries have")
            rows.notes.append(f"{entries} fewer rounds ({listed_names(rounds)}) than others")
            rows.ended[short], rows.value[short] = LAST, np.nan
    if plain_name(rows.found["score"]) in STROKES and not rounds and "status" not in rows.found:
        least, highest = np.full(len(rows.identifiers), np.inf), np.zeros(len(rows.identifiers))
        np.minimum.at(least, rows.contest[there], rows.value[there])
        np.maximum.at(highest, rows.contest[there], rows.value[there])
        if np.any((least < SHORT * highest)[np.unique(rows.contest[there])]):
            raise InputError(
                f"Some have far fewer {rows.found['score']!r} than others of their contest: they may have played fewer "
                "rounds. Mark them in a column 'status', as CUT or DNF."
            )


def _without_starters(rows: ContestRows, ended: NDArray[np.int8]) -> NDArray[np.int8]:
    """Endings in which who withdrew after some way, though not the longest of the contest, has started."""
    column = rows.found.get("distance")
    if column is None:
        return ended
    came = np.nan_to_num(read_numbers(rows.table[column]), posinf=0.0)
    longest = np.zeros(len(rows.identifiers) + 1)
    np.maximum.at(longest, rows.contest, came)
    status = as_text(rows.table[rows.found["status"]]).str.strip_chars().str.to_lowercase().fill_null("")
    on_the_way = status.str.contains(WITHDREW).to_numpy() & (came > 0.0) & (came < longest[rows.contest])
    on_the_way &= (rows.fault == 0) & (ended == NOT_STARTED)
    if on_the_way.any():
        name = rows.entrants[rows.entrant[int(np.argmax(on_the_way))]]
        entries = counted(int(on_the_way.sum()), "entry", "entries")
        rows.notes.append(f"{entries} withdrew after some {column!r}, such as {name}: that is not finishing")
    return np.where(on_the_way, UNFINISHED, ended).astype(np.int8)


def gaps_without_sign(rows: ContestRows, cells: Cells) -> NDArray[np.bool_]:
    """Times that are so much behind the first one listed, although no plus says it: 4:12:33, 0:12, 0:48.

    In nearly every contest the first must be more than ``FAR_LONGER`` times the longest of the others, which rise.
    """
    whole = np.isfinite(cells.value) & ~cells.behind & (cells.value < LAPPED) & (rows.fault == 0) & (rows.contest >= 0)
    table = pl.DataFrame({"contest": rows.contest, "value": cells.value, "at": np.arange(whole.size)})
    table = table.filter(pl.Series(whole)).sort("contest", "at")
    others = pl.col("value").slice(1)
    firsts = table.group_by("contest").agg(
        pl.col("at").first(), pl.len().alias("n"), (pl.col("value").first() > FAR_LONGER * others.max()).alias("far"),
        (others.diff().fill_null(0.0) >= 0.0).all().alias("rise"),
    ).filter(pl.col("n") > 1)  # fmt: skip
    if not firsts.height or float((firsts["far"] & firsts["rise"]).mean() or 0.0) < NEARLY_ALL:  # type: ignore[arg-type]
        return np.zeros(whole.size, bool)
    first = np.zeros(whole.size, bool)
    first[firsts["at"].to_numpy()] = True
    return whole & ~first & np.isin(rows.contest, firsts["contest"].to_numpy())


def ask_about_places(rows: ContestRows) -> None:
    """Ask where places contradict times or scores, or count more than took part, as those of a world ranking do."""
    if rows.measure != "place" or "place" in rows.options.columns or rows.options.best is not None:
        return
    there = (rows.fault == 0) & (rows.contest >= 0) & np.isfinite(rows.value)
    place = rows.found["place"]
    doubtful = plain_name(place) in WORLD_RANKS
    for measure in ("time", "score"):
        if measure not in rows.found:
            continue
        # Both order the same entrants, in one direction or the other.
        column = rows.found[measure]
        other = read_cells(rows.table[column], measure)
        gaps = gaps_without_sign(rows, other) if measure == "time" else other.behind
        known = np.flatnonzero(there & np.isfinite(other.value) & ~other.behind & ~gaps)
        order = known[np.lexsort((rows.value[known], rows.contest[known]))]
        same = (rows.contest[order][1:] == rows.contest[order][:-1]) & (rows.value[order][1:] > rows.value[order][:-1])
        step = np.diff(other.value[order])
        rises, falls = int((same & (step > 0)).sum()), int((same & (step < 0)).sum())
        wrong = falls if measure == "time" else min(rises, falls)
        if rises + falls < LEAST_PLACED or wrong <= CONTRADICTED * (rises + falls):
            continue
        words = f"{place!r} and {column!r} contradict each other in {wrong:,} of {rises + falls:,} neighbours"
        if doubtful:
            raise InputError(
                f"{words}: one of them is not the result. Say columns={{'place': {place!r}}} or "
                f"columns={{{measure!r}: {column!r}}}."
            )
        rows.notes.append(f"{words}: the places count")
    if not doubtful:
        return
    table = pl.DataFrame({"contest": rows.contest, "place": rows.value, "there": there})
    sizes = table.filter(pl.Series(rows.contest >= 0)).group_by("contest").agg(
        pl.len().alias("rows"), pl.col("place").filter("there").max(),
        pl.col("place").filter("there").min().alias("first"),
    ).drop_nulls()  # fmt: skip
    beyond = (sizes["place"] > sizes["rows"]) & (sizes["first"] > 1)
    if sizes.height and float(beyond.mean() or 0.0) > 0.5:  # type: ignore[arg-type]
        raise InputError(
            f"{place!r} goes up to {sizes.filter(beyond)['place'].max():g} in contests of fewer entrants, and nobody "
            f"is first: it may be a ranking from elsewhere. Say columns={{'place': {place!r}}} if it is the result, or "
            "name the column that is."
        )


def ask_about_unfinished(rows: ContestRows) -> None:
    """Ask what a word means by which half of a field did not finish: luck, or a cut."""
    if rows.options.unfinished != "behind" or not (rows.ended == UNFINISHED).any():
        return
    words = pl.Series([None] * rows.fault.size, dtype=pl.String)
    for column in (rows.found.get("outcome"), rows.found.get("status")):
        if column is not None:
            text = as_text(rows.table[column]).str.strip_chars()
            words = words.zip_with(words.is_not_null(), text.set(text.str.contains(r"^[\d\W]*$").fill_null(True), None))
    unfinished = pl.Series(rows.ended == UNFINISHED)
    table = pl.DataFrame({"contest": rows.contest, "word": words.set(~unfinished, None).str.to_lowercase()})
    table = table.filter(pl.Series((rows.fault == 0) & (rows.contest >= 0)))
    large = table.filter(pl.len().over("contest") >= LEAST_PLACED)
    shares = (
        large.group_by("contest", "word").len().with_columns(share=pl.col("len") / pl.col("len").sum().over("contest"))
    )
    half = shares.drop_nulls("word").filter(pl.col("share") >= 0.5).group_by("word").len().sort("len", "word")
    contests = large["contest"].n_unique()
    if not half.height or half["len"][-1] <= 0.5 * contests or half["word"][-1] in rows.options.endings:
        return
    word = str(words.filter(words.str.to_lowercase() == half["word"][-1])[0])[:40]
    all_of_them = counted(contests, "contest", "contests")
    words = (
        f"n {half['len'][-1]:,} of {all_of_them} half of the entrants or more did not finish ({word!r}): "
        f"endings={{{word!r}: 'last'}} says that they were behind all others, as after a cut, and "
        f"endings={{{word!r}: 'unfinished'}} that they may have been unlucky"
    )
    if meaning_of(word, "match") != BROKEN_OFF:
        raise InputError(f"I{words}.")
    rows.notes.append(f"i{words}, as was taken for granted")


def note_odd_words(rows: ContestRows) -> None:
    """Ask what a word means that stands in many cells of the outcome and is not known."""
    odd = rows.fault == rows.reasons.index("unreadable place")
    if not odd.any():
        return
    column = rows.found["outcome"]
    words = as_text(rows.table[column].filter(pl.Series(odd))).str.strip_chars()
    for word, number in words.value_counts(sort=True).rows()[:3]:
        if word and number >= max(LEAST_ODD, SHARE_ODD * (rows.fault == 0).sum()):
            rows.notes.append(
                f"{word!r:.40} stands in {number:,} rows of {column!r} and is no {rows.measure} that is known: they "
                f"were set aside. What does it mean? endings={{{word[:40]!r}: 'unfinished'}}, or 'last', "
                "'disqualified' or 'not started', says it"
            )
