"""How a file is read, kept beside it: ``results.csv.kinelo.toml`` holds the answers of one reading for all others.

The keys are arguments of the readers. A file may come from somebody else: nothing that it names is run, opened or
looked up but columns of the table beside it, and a key or value that does not belong there is refused.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.matches.columns import CONTEST_COLUMNS, LINEUP_COLUMNS
from kinelo.matches.kinds import CONTESTS, KINDS, MATCHES, Kind
from kinelo.matches.same_side import read_aliases
from kinelo.runtime.reading import read_text

SUFFIX = ".kinelo.toml"
LARGEST = 1 << 20
"""Bytes of a reading."""

USUAL = {"unfinished": "behind", "disqualified": "out", "not_started": "out"}
"""What the readers take where nothing is said."""

WORD, FLAG, NAMES, LISTS = "a text", "true or false", "a table of names", "a table of names, or of lists of them"
FORMS = {
    "columns": LISTS, "aliases": NAMES, "endings": NAMES, "dates": WORD, "sheet": WORD, "accept_losses": FLAG,
    "results": WORD, "drop_repeats": FLAG, "ordered": FLAG, "slots": LISTS, "advantages": LISTS, "team": WORD,
    "best": WORD, "unfinished": WORD, "disqualified": WORD, "not_started": WORD,
}  # fmt: skip
"""Every key, and what it holds; what the words may be is checked where they are used."""

OF_ONE = {
    "results": MATCHES, "drop_repeats": MATCHES, "ordered": MATCHES,
    **dict.fromkeys(("slots", "advantages", "team", "best", "unfinished", "disqualified", "not_started"), CONTESTS),
}  # fmt: skip
"""Keys of one kind alone."""


def reading_file(path: str | Path) -> Path:
    """Where the reading of a file is kept.

    >>> reading_file("league/results.csv").name
    'results.csv.kinelo.toml'
    """
    return Path(f"{path}{SUFFIX}")


def kept_reading(source: object) -> tuple[Kind | None, dict[str, Any]]:
    """The kind and the answers that are kept beside a file; none where none are, or the source is no file."""
    if not isinstance(source, str | Path) or not os.path.isfile(reading_file(source)):  # which never fails
        return None, {}
    place = reading_file(source)
    if place.stat().st_size > LARGEST:
        raise InputError(f"The reading {place} has more than {LARGEST:,} bytes; delete it, and read the file anew.")
    try:
        content = tomllib.loads(read_text(place, "reading"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The reading {place} is not TOML ({error}); mend it, or delete it.") from None
    except RecursionError:
        raise InputError(f"The reading {place} cannot be read: it is nested too deeply.") from None
    kind = content.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"{place} must say kind = 'matches' or 'contests', not {kind!r:.60}.")
    for key, value in content.items():
        if key not in FORMS or OF_ONE.get(key, KINDS[kind]) is not KINDS[kind]:
            known = [name for name in FORMS if OF_ONE.get(name, KINDS[kind]) is KINDS[kind]]
            raise InputError(f"{place} has the key {key!r:.60}; of {kind} it may hold {', '.join(known)}.")
        if not _fits(value, FORMS[key]):
            raise InputError(f"{key} must be {FORMS[key]} in {place}, not {value!r:.60}.")
    return KINDS[kind], content


def _fits(value: object, form: str) -> bool:
    if form == FLAG:
        return isinstance(value, bool)
    if form == WORD:
        return isinstance(value, str)

    def several(names: object) -> bool:
        return form == LISTS and isinstance(names, list) and bool(names) and all(isinstance(n, str) for n in names)

    return isinstance(value, dict) and all(isinstance(one, str) or several(one) for one in value.values())


def joined_answers(asked: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Answers that were asked for over those that are kept.

    >>> kept = {"columns": {"home": "X", "away": "Y"}, "dates": "dmy"}
    >>> joined_answers({"columns": {"home": "H"}, "dates": None}, kept)
    {'columns': {'home': 'H', 'away': 'Y'}, 'dates': 'dmy'}
    """
    answers = dict(asked)
    for key, value in stored.items():
        given = asked.get(key)
        if given is None or given is False or given == USUAL.get(key) or (key in ("slots", "advantages") and not given):
            answers[key] = value
        elif key == "aliases":
            answers[key] = value | read_aliases(given)
        elif key in ("columns", "endings") and isinstance(given, Mapping):
            answers[key] = value | dict(given)
    return answers


def stale_columns(stored: Mapping[str, Any], columns: Iterable[str]) -> dict[str, str]:
    """What a reading calls by columns that are not there, and the first of each.

    >>> stale_columns({"columns": {"home": "H", "away": "A"}, "team": "T"}, ["A", "B"])
    {'home': 'H', 'team': 'T'}
    """
    columns = {*columns}
    named = {key: value for key, value in stored.get("columns", {}).items() if key not in LINEUP_COLUMNS}
    for section in ("slots", "advantages"):  # which may say what a column means in place of its name
        for key, value in stored.get(section, {}).items():
            own = [value] if isinstance(value, str) else value
            named[key] = [column for column in own if column not in CONTEST_COLUMNS]
    named |= {"team": stored["team"]} if "team" in stored else {}
    lists = {key: [value] if isinstance(value, str) else value for key, value in named.items()}
    missing = {key: [column for column in value if column not in columns] for key, value in lists.items()}
    return {key: value[0] for key, value in missing.items() if value}


def reading_text(name: str, kind: Kind, answers: Mapping[str, Any]) -> str:
    """A reading as it is kept: what is not the usual, one line each.

    >>> print(reading_text("r.csv", MATCHES, {"columns": {"home": "Home side"}, "dates": "dmy", "ordered": False}))
    # How Kinelo reads r.csv; every command and reader takes it by itself.
    kind = "matches"
    dates = "dmy"
    <BLANKLINE>
    [columns]
    "home" = "Home side"
    <BLANKLINE>
    """

    def quoted(value: object) -> str:  # TOML reads the texts and lists of JSON, but for one sign
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

    answers = {key: value for key, value in answers.items() if value not in (None, False, {}, ()) and key in FORMS}
    answers = {key: value for key, value in answers.items() if value != USUAL.get(key)}
    lines = [
        f"# How Kinelo reads {quoted(name)[1:-1]}; every command and reader takes it by itself.",
        f"kind = {quoted(kind.noun)}",
        *(f"{key} = {quoted(value)}" for key, value in answers.items() if not isinstance(value, Mapping)),
    ]
    for key, table in answers.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{key}]", *(f"{quoted(name)} = {quoted(value)}" for name, value in table.items())]
    return "\n".join([*lines, ""])
