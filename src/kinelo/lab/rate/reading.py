"""How uploaded tables become matches: as ``read_matches`` does, but for what the visitor chose.

What a note of the reading asks for has a control: the scale of results, the order of dates, repeated rows, the order
within a day. Only choices that differ from the guesses are handed on, so an untouched file is read as anywhere. Notes
and complaints speak of the controls of the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinelo.errors import InputError
from kinelo.lab.control import Panel, choice
from kinelo.lab.rate.tables import FIELDS, OWN_FIELDS, Table, forget_columns
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches


class Reading(Panel, frozen=True):
    """How a file is to be read where it does not say."""

    results: str = choice(
        "auto",
        {"auto": "As the file suggests", "points": "0, ½, 1", "signed": "−1, 0, 1: 0 is a draw"},
        label="Numbers for results",
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
        hint="Rows that are alike an earlier one in every column.",
    )
    order: str = choice(
        "unknown",
        {"unknown": "By a column, or unknown", "file": "As in the file"},
        label="Order within a day",
        hint="Where a side plays more than once on a day.",
    )

    def options(self) -> dict[str, Any]:
        """Arguments of ``read_matches``."""
        return {
            "results": None if self.results == "auto" else self.results,
            "dates": None if self.dates == "auto" else self.dates,
            "drop_repeats": self.repeats == "drop",
            "ordered": self.order == "file",
        }


def matches_of(
    tables: Mapping[str, Table], columns: Mapping[str, str], conditions: Sequence[str], reading: Reading
) -> Matches:
    """The matches of the tables; what is wrong or was guessed is said in the words of the page."""
    if "results" not in tables:
        raise InputError("There are no results yet; drop a file first.")
    results = tables["results"]
    frame = forget_columns(results, columns)
    dropped = [name for name in conditions if name not in frame.columns]
    if any(name not in results.frame.columns for name in dropped):
        raise InputError(f"There is no column {dropped[0]!r:.80} in the results.")
    frame = frame.with_columns(results.frame[name] for name in dropped)
    guesses = {field: column for table in tables.values() for field, column in table.guesses.items()}
    given = {
        field: column for field, column in columns.items() if field not in OWN_FIELDS and guesses.get(field) != column
    }
    lineups = forget_columns(tables["lineups"], columns) if "lineups" in tables else None
    try:
        found = read_matches(
            frame, lineups, given, conditions=conditions, aliases=aliases_of(tables), **reading.options()
        )
    except InputError as error:
        raise InputError(page_words(str(error))) from None
    return replace(found, notes=tuple(page_words(note) for note in found.notes))


def aliases_of(tables: Mapping[str, Table]) -> dict[str, str] | None:
    """Names to be replaced: the first two columns of the table of other names."""
    if "aliases" not in tables:
        return None
    frame = tables["aliases"].frame
    return {str(one): str(other) for one, other in frame.select(frame.columns[:2]).drop_nulls().iter_rows()}


def page_words(text: str) -> str:
    """What the library says, with the controls of the page in place of arguments and options of a command.

    >>> page_words("a, say results='signed' (--scale signed on the command line)")
    'a, choose “Numbers for results: −1, 0, 1: 0 is a draw”'
    >>> page_words("the table has no column for the home side; name it with columns={'home': ...} (--column home=...).")
    'the table has no column for the home side; choose the column “First or home side”.'
    """
    text = re.sub(r" \(--[^()]*\)", "", text)
    text = re.sub(r"say (results|dates)='(\w+)'", lambda found: f"choose {_named(found[1], found[2])}", text)
    text = text.replace("drop_repeats=True drops them", f"choose {_named('repeats', 'drop')} to drop them")
    text = text.replace("say ordered=True if rows stand in order", f"choose {_named('order', 'file')} if rows stand so")
    return re.sub(
        r"(?:(?:name (?:it|them|one|the right columns) with|say) |(with) )?columns=\{([^{}]*)\}", _chosen, text
    )


def _named(control: str, option: str) -> str:
    declared = Reading.controls()[control]
    return f"“{declared.label}: {declared.options[option]}”"  # type: ignore[union-attr]


def _chosen(found: re.Match[str]) -> str:
    labels = {field: label for fields in FIELDS.values() for field, label in fields.items()}
    pairs = re.findall(r"'(\w+)': ('[^']*'|\.\.\.)", found[2])
    words = [f"“{labels.get(field, field)}”" + ("" if value == "..." else f" = {value}") for field, value in pairs]
    kind = "the column" if len(words) == 1 else "the columns"
    return f"{'as' if found[1] else 'choose'} {kind} {' and '.join(words)}"
