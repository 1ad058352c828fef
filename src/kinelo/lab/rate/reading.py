"""What a visitor chooses and types on the Rate tab, declared once, and how uploaded tables become matches or contests.

A table is read as the library reads it, but for what the visitor chose. What a note of the reading asks for has a
control: the scale of results, the order of dates, repeated rows, the order within a day; of contests, which values are
best and what becomes of those who did not finish. Only choices that differ from the guesses are handed on, so an
untouched file is read as anywhere. Notes and complaints speak of the controls of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.forecasts.usual_rules import DRAW, USUAL_RELEGATED, WIN
from kinelo.lab.control import Panel, choice, slider
from kinelo.lab.rate.tables import FIELDS, OWN_FIELDS, UploadedTable, fields_of, forget_columns
from kinelo.matches.columns import CONTEST_COLUMNS
from kinelo.matches.contests import Contests
from kinelo.matches.kinds import SIZE
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_contests, read_matches
from kinelo.raters.start import read_start

MOST_RAISED = 200
RULES = ("win", "draw", "relegated")
"""What a season is played by."""


class RateNumbers(Panel, frozen=True):
    """Inputs of the Rate tab; a page finds its own by ``data-number``."""

    k: float = slider(32.0, (0.1, 9999.0), step=0.1, label="K in use", hint="Points at stake in a match.")
    least_matches: int = slider(0, (0, 100_000), step=1, label="At least", hint="Who has played less is not ranked.")
    win: float = slider(WIN, (0.0, 100.0), step=0.1, label="Win", hint="Points of a season.")
    draw: float = slider(DRAW, (0.0, 100.0), step=0.1, label="Draw", hint="Points of a season.")
    relegated: int = slider(USUAL_RELEGATED, (0, 20), step=1, label="Go down", hint="How many are relegated.")
    count: int = slider(10, (1, 50), step=1, label="The next", hint="How many are chosen at once.")
    size: int = slider(2, (2, 40), step=1, label="Of how many", hint="How many meet in a contest.")
    points: int = slider(0, (-300, 300), step=10, label="were stronger or weaker", hint="In Elo points.")

    @classmethod
    def number(cls, name: str, value: object) -> float:
        """One of them as a page sent it, or a sentence that says what is accepted."""
        return cls.controls()[name].read("K" if name == "k" else name, value)  # type: ignore[return-value]


def read_rules(given: object) -> dict[str, float]:
    """Points for a win and a draw, and how many go down."""
    if not isinstance(given, Mapping):
        raise InputError(f"Rules are numbers: {', '.join(RULES)}.")
    return {name: RateNumbers.number(name, given.get(name)) for name in RULES}


def read_raised(given: Any) -> dict[str, float]:
    """By how many points sides are raised, by name."""
    if not isinstance(given, Mapping) or len(given) > MOST_RAISED:
        raise InputError(f"Points are numbers by name, of at most {MOST_RAISED} sides.")
    return {name: RateNumbers.number("points", value) for name, value in given.items()}


MATCHES, CONTESTS = ("rows", "matches"), ("rows", "contests")


ASKED_COLUMNS = ("conditions", "noise_by", "covariates")
"""What columns beyond results may be: conditions, circumstances of luck, and numbers."""
GROUPS_DROPPED = "a file of groups"
"""What groups are asked by where they are those of a file beside the results; no column is called so."""


class ReadingPanel(Panel, frozen=True):
    """How a file is to be read where it does not say."""

    rows: str = choice(
        "matches",
        {"matches": "A match of two sides, or a side of one", "contests": "An entrant of a contest of many"},
        label="Each row is",
        hint="Contests are races, tables of poker, tournaments: many meet at once, and each has a place.",
    )
    results: str = choice(
        "auto",
        {"auto": "As the file suggests", "points": "0, ½, 1", "signed": "−1, 0, 1: 0 is a draw"},
        label="Numbers for results",
        when=MATCHES,
        hint="What 0 means.",
    )
    dates: str = choice(
        "auto",
        {"auto": "As the file suggests", "dmy": "Day first", "mdy": "Month first", "ymd": "Year first"},
        label="Dates in numbers",
        hint="01/02/03 may be three days.",
    )
    repeats: str = choice(
        "keep",
        {"keep": "Each counts", "drop": "Drop them"},
        label="Repeated rows",
        when=MATCHES,
        hint="Rows that are alike an earlier one in every column.",
    )
    order: str = choice(
        "unknown",
        {"unknown": "By a column, or unknown", "file": "As in the file"},
        label="Order within a day",
        when=MATCHES,
        hint="Where a side plays more than once on a day.",
    )

    best: str = choice(
        "auto",
        {"auto": "As the file suggests", "lowest": "The lowest", "highest": "The highest"},
        label="Which value is best",
        when=CONTESTS,
        hint="Of places, scores or times.",
    )
    unfinished: str = choice(
        "behind",
        {"behind": "Behind all who finished", "last": "Like finishing last", "out": "Left out"},
        label="Who did not finish",
        when=CONTESTS,
        hint="Retired, or out of time.",
    )
    disqualified: str = choice(
        "out",
        {"out": "Left out", "behind": "Behind all who finished", "last": "Like finishing last"},
        label="Who was disqualified",
        when=CONTESTS,
        hint="By a word such as DSQ.",
    )
    not_started: str = choice(
        "out",
        {"out": "Left out", "behind": "Behind all who finished", "last": "Like finishing last"},
        label="Who did not start",
        when=CONTESTS,
        hint="By a word such as DNS.",
    )

    losses: str = choice(
        "ask",
        {"ask": "Ask me", "accept": "Go on with the rest"},
        label="If most rows are lost",
        hint="Rows that cannot be read or used.",
    )

    def _common(self) -> dict[str, Any]:
        """Arguments of both readers."""
        return {"dates": None if self.dates == "auto" else self.dates, "accept_losses": self.losses == "accept"}

    def options(self) -> dict[str, Any]:
        """Arguments of ``read_matches``."""
        return {
            "results": None if self.results == "auto" else self.results,
            "drop_repeats": self.repeats == "drop",
            "ordered": self.order == "file",
            **self._common(),
        }


def matches_of(
    tables: Mapping[str, UploadedTable], columns: Mapping[str, str], conditions: Sequence[str], reading: ReadingPanel
) -> Matches:
    """The matches of the tables; what is wrong or was guessed is said in the words of the page."""
    frame, given = _results(tables, columns, conditions, "matches")
    lineups = forget_columns(tables["lineups"], columns) if "lineups" in tables else None
    try:
        matches = read_matches(
            frame, lineups, given, conditions=conditions, aliases=aliases_of(tables), **reading.options()
        )
    except InputError as error:
        raise InputError(page_words(str(error))) from None
    return _in_page_words(matches, tables["results"].notes)


def contests_of(
    tables: Mapping[str, UploadedTable],
    columns: Mapping[str, str],
    beside: Sequence[str],
    reading: ReadingPanel,
    further: Sequence[str] = (),
) -> Contests:
    """The contests of the tables, rating the entrant and columns ``beside`` it, with ``more`` that are not rated."""
    further = _own_columns(further, columns)
    frame, given = _results(tables, columns, [*beside, *further], "contests")
    asked = {**_asked(tables, columns, beside, reading), "advantages": further}
    return _read_contests(frame, given, asked, tables["results"].notes)


def _own_columns(names: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    """Those that are columns: sizes of teams are not."""
    return [name for name in dict.fromkeys(names) if not (name == SIZE and "team" in columns)]


def contests_to_come(
    tables: Mapping[str, UploadedTable],
    columns: Mapping[str, str],
    beside: Sequence[str],
    reading: ReadingPanel,
    unsaid: Mapping[str, str],
) -> Contests | None:
    """Contests of the fixtures that have no places yet, read as the results are; None where there are no fixtures.

    ``unsaid`` is what they hold of columns that are not rated where the fixtures do not have them.
    """
    if "fixtures" not in tables:
        return None
    frame, more = tables["fixtures"].frame, _own_columns(list(unsaid), columns)
    frame = frame.with_columns(pl.lit(unsaid[name]).alias(name) for name in more if name not in frame.columns)
    given = {field: column for field, column in columns.items() if column in frame.columns}
    asked = {**_asked(tables, columns, beside, reading), "advantages": more, "played": False}
    found = _read_contests(frame, given, asked)
    return found[np.isnan(found.place[found.first[:-1]])]


def _asked(
    tables: Mapping[str, UploadedTable], columns: Mapping[str, str], beside: Sequence[str], reading: ReadingPanel
) -> dict[str, Any]:
    """Arguments of ``read_contests``."""
    slots = [columns["entrant"], *beside] if beside and "entrant" in columns else ()
    endings = {name: getattr(reading, name) for name in ("unfinished", "disqualified", "not_started")}
    options = {"best": None if reading.best == "auto" else reading.best, **endings, **reading._common()}
    return {**options, "slots": slots, "team": columns.get("team"), "aliases": aliases_of(tables)}


def _read_contests(
    frame: pl.DataFrame, given: Mapping[str, str], asked: Mapping[str, Any], notes: Sequence[str] = ()
) -> Contests:
    known = {field: column for field, column in given.items() if field in CONTEST_COLUMNS}
    try:
        found = read_contests(frame, known, **asked)
    except InputError as error:
        raise InputError(page_words(str(error), "contests")) from None
    return _in_page_words(found, notes, "contests")


def _results(
    tables: Mapping[str, UploadedTable], columns: Mapping[str, str], others: Sequence[str], rows: str
) -> tuple[pl.DataFrame, dict[str, str]]:
    """The results without columns that the visitor took back, and the fields that differ from the guesses."""
    if "results" not in tables:
        raise InputError("There are no results yet; drop a file first.")
    results = tables["results"]
    frame = forget_columns(results, columns, rows)
    dropped = [name for name in others if name not in frame.columns]
    if any(name not in results.frame.columns for name in dropped):
        raise InputError(f"There is no column {dropped[0]!r:.80} in the results.")
    frame = frame.with_columns(results.frame[name] for name in dropped)
    guesses = {field: column for table in tables.values() for field, column in table.guesses_of(rows).items()}
    given = {
        field: column for field, column in columns.items() if field not in OWN_FIELDS and guesses.get(field) != column
    }
    return frame, given


Read = TypeVar("Read", Matches, Contests)


def _in_page_words(table: Read, of_file: Sequence[str], rows: str = "matches") -> Read:
    """What was read, with notes of the page, behind one of many losses those ``of_file``, noticed on opening it."""
    lost = int(bool(table.notes) and "rows (" in table.notes[0] and "cannot be used" in table.notes[0])
    notes = (*table.notes[:lost], *of_file, *table.notes[lost:])
    return replace(table, notes=tuple(page_words(note, rows) for note in notes))


def aliases_of(tables: Mapping[str, UploadedTable]) -> dict[str, str] | None:
    """Names to be replaced: the first two columns of the table of other names."""
    if "aliases" not in tables:
        return None
    frame = tables["aliases"].frame
    return {str(one): str(other) for one, other in frame.select(frame.columns[:2]).drop_nulls().iter_rows()}


def start_of(tables: Mapping[str, UploadedTable], *, stated: bool) -> pl.DataFrame | None:
    """Ratings to begin with: the starting list, or the results where ratings that their rows state are asked for."""
    if stated and "start" in tables:
        raise InputError("Ratings begin with a list or with those that the file states, not with both; leave one out.")
    frame = tables["start"].frame if "start" in tables else tables["results"].frame if stated else None
    if frame is not None:
        try:
            read_start(frame)
        except InputError as error:
            raise InputError(re.sub(r"^start\b", "The starting list", str(error))) from None
    return frame


def page_words(text: str, rows: str = "matches") -> str:
    """What the library says, with the controls of the page in place of arguments and options of a command.

    >>> page_words("a, say results='signed'")
    'a, choose “Numbers for results: −1, 0, 1: 0 is a draw”'
    >>> page_words("the table has no column for the home side; name it with columns={'home': ...}.")
    'the table has no column for the home side; choose the column “First or home side”.'
    >>> page_words("2 entries did not finish: they count as tied; unfinished='out' leaves them out", "contests")
    '2 entries did not finish: they count as tied; “Who did not finish: Left out” leaves them out'
    """
    text = re.sub(r"say (results|dates|best)='(\w+)'", lambda found: f"choose {_named(found[1], found[2])}", text)
    text = re.sub(
        r"\b(best|unfinished|disqualified|not_started)='(\w+)'", lambda found: _named(found[1], found[2]), text
    )
    text = text.replace("accept_losses=True goes on with the rest", f"choose {_named('losses', 'accept')} to go on")
    text = text.replace("with columns={...}", "below")
    text = re.sub(r"endings=\{[^{}]*\}(, or [^,]*?,)? says it", "write DNF, DSQ or DNS in its place", text)
    text = re.sub(r"(?i)\bsay endings=\{('[^']*'): ('[^']*')\}", r"Write \2 in place of \1 in the file", text)
    text = re.sub(r"\bendings=\{('[^']*'): ('[^']*')\}", r"\2 in place of \1 in the file", text)
    text = re.sub(
        r"start= with this very file begins with (.*)",
        r"tick “Begin with the ratings that the file states” for \1",
        text,
    )
    text = text.replace("drop_repeats=True drops them", f"choose {_named('repeats', 'drop')} to drop them")
    text = text.replace("say ordered=True if rows stand in order", f"choose {_named('order', 'file')} if rows stand so")
    text = re.sub(r"slots=\[[^\]]*, ('[^']*')\]", r"tick \1 below the columns", text)
    text = re.sub(r"aliases=(\{[^{}]*\})? ?joins them", "a file of other names joins them", text)
    labels = {field: label for kind in FIELDS for field, label in fields_of(kind, rows).items()}
    return re.sub(
        r"(?:(?:name (?:it|them|one|a column|the right columns) with|say) |(with) )?columns=\{([^{}]*)\}",
        lambda found: _chosen(found, labels),
        text,
    )


def _named(control: str, option: str) -> str:
    declared = ReadingPanel.controls()[control]
    return f"“{declared.label}: {declared.options[option]}”"  # type: ignore[union-attr]


def _chosen(mapping: re.Match[str], labels: Mapping[str, str]) -> str:
    pairs = re.findall(r"'(\w+)': ('[^']*'|\.\.\.)", mapping[2])
    words = [f"“{labels.get(field, field)}”" + ("" if value == "..." else f" = {value}") for field, value in pairs]
    kind = "the column" if len(words) == 1 else "the columns"
    return f"{'as' if mapping[1] else 'choose'} {kind} {' and '.join(words)}"
