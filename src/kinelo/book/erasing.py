"""Taking a name out of a book for good: a pseudonym stands in its place everywhere, and every rating stays as it is.

Names stand in matches and line-ups, in contests, in what is known of everyone, in the list that a rater began with and
in checkpoints. All of them are rewritten in one transaction; then the database writes its pages anew, so that the name
is in none that it has freed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from kinelo.book.database import Database
from kinelo.book.ratings import pack, unpack
from kinelo.book.replay import FORMER
from kinelo.book.schema import plain_json, read_json
from kinelo.errors import InputError
from kinelo.raters.stored import SEPARATOR

TEXTS = {
    "common": ("name", ("value",)),
    "match": ("number", ("conditions", "lineups")),
    "slot": ("number", ("more",)),
}
"""Tables with the columns that hold JSON, and what tells their rows apart."""
NAMES = (("match", "home"), ("match", "away"), ("slot", "name"), ("milestone_rating", "name"))
"""Columns of names."""
FORMER_ROWS = f"SUBSTR(key, 1, {len(FORMER)}) = '{FORMER}'"
SETTINGS_ROW = "key = 'settings'"
"""What of ``about`` may hold names: what matches said that were put right, and the lists that a rater begins with.

Tiers, and words such as ``"full"``, stay what they are, whoever is called so.
"""
LISTS = {"start", "k_of", "born"}
JOINED = " + "
"""What stands between the members of an entrant."""
LABELS = {"match": ("match_id",), "contest": ("contest_id", "name", "title")}
"""Columns of words that somebody chose, in which a name may be part of more."""


def erase(database: Database, name: str, pseudonym: str | None) -> str:
    """Put a pseudonym in the place of a name, inside a transaction; by default the first of erased 1, erased 2, …"""
    number = 1
    while pseudonym is None:
        free = f"erased {number}"
        pseudonym, number = None if _everywhere(database, free) else free, number + 1
    new = pseudonym.strip()
    if _everywhere(database, new):
        raise InputError(f"{new!r:.60} stands in {database.name} already; choose another pseudonym.")
    if not _everywhere(database, name):
        raise InputError(f"{database.name} knows no {name!r:.60}; names are written as in the results.")
    # Identifiers and titles of which the name is a part are known to others; they are not rewritten.
    for table, columns in LABELS.items():
        for column in columns:
            for (text,) in database.rows(f"SELECT CAST({column} AS TEXT) FROM {table} WHERE {column} IS NOT NULL"):
                if name in text:
                    raise InputError(
                        f"The name {name!r:.60} is part of {text!r:.80}, by which {database.name} knows what was "
                        "played; nothing was changed. Give it another identifier or title first."
                    )
    for table, column in _names(database):
        database.run(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, name))

    def json_renamed(text: str) -> str | None:
        """JSON with another name in it, None where nothing changes or the text is no JSON."""
        try:
            value = read_json(text)
        except InputError:
            return None
        changed = _renamed(value, name, new)
        return None if changed == value else plain_json(changed)

    def settings_renamed(text: str) -> str | None:
        value = read_json(text, database.name)
        changed = _lists_renamed(value, name, new)
        return None if changed == value else plain_json(changed)

    def label_renamed(text: str) -> str | None:
        """The label of an entrant, whose members stand between plus signs."""
        parts = [text] if text == name else text.split(JOINED)
        return JOINED.join(new if part == name else part for part in parts) if name in parts else None

    for table, (key, columns) in TEXTS.items():
        for column in columns:
            some = "name NOT IN ('kinds', 'advantages', 'parameters')" if table == "common" else "TRUE"
            _rewrite(database, table, (key,), column, json_renamed, some)
    _rewrite(database, "about", ("key",), "value", json_renamed, FORMER_ROWS)
    _rewrite(database, "about", ("key",), "value", settings_renamed, SETTINGS_ROW)
    _rewrite(database, "entry", ("contest_id", "number"), "slots", json_renamed)
    _rewrite(database, "entry", ("contest_id", "number"), "entrant", label_renamed)
    _rewrite(database, "checkpoint", ("number",), "state", lambda state: _state_renamed(state, name, new))
    if _everywhere(database, name):
        raise InputError(f"The name {name!r:.60} could not be taken out of {database.name}; nothing was changed.")
    return new


def strings_in(text: str | None, book: str) -> dict[str, None]:
    """All texts in a cell of JSON of a book, in its order."""
    strings: dict[str, None] = {}

    def look(value: Any) -> None:
        if isinstance(value, str):
            strings[value] = None
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(part)

    if text is not None:
        look(read_json(text, book))
    return strings


def _names(database: Database) -> list[tuple[str, str]]:
    """Columns of names that a book has."""
    return [(table, column) for table, column in NAMES if table in database.tables()]


def _everywhere(database: Database, name: str) -> int:
    """How often a name stands among those who are rated or have played."""
    count = 0
    for table, column in _names(database):
        count += database.one(f"SELECT COUNT(*) FROM {table} WHERE {column} = ?", (name,))[0]
    spelt = (plain_json(name), json.dumps(name))
    for table, column in (("match", "lineups"), ("entry", "slots")):
        for (text,) in database.rows(f"SELECT CAST({column} AS TEXT) FROM {table} WHERE {column} IS NOT NULL"):
            if any(words in text for words in spelt):
                value = read_json(text, database.name)
                count += _renamed(value, name, "") != value
    for (text,) in database.rows(f"SELECT value FROM about WHERE {FORMER_ROWS}"):
        value = read_json(text, database.name)
        count += _renamed(value, name, "") != value
    for (text,) in database.rows(f"SELECT value FROM about WHERE {SETTINGS_ROW}"):
        value = read_json(text, database.name)
        count += _lists_renamed(value, name, "") != value
    return count


def _rewrite(
    database: Database, table: str, keys: tuple[str, ...], column: str, change: Callable[[Any], Any], some: str = "TRUE"
) -> None:
    """Write what a change makes of the cells of a column, where that is something else."""
    where = " AND ".join(f"{key} = ?" for key in keys)
    rows = database.rows(f"SELECT {', '.join(keys)}, {column} FROM {table} WHERE {column} IS NOT NULL AND {some}")
    for *key, cell in rows:
        new = change(cell)
        if new is not None:
            database.run(f"UPDATE {table} SET {column} = ? WHERE {where}", (new, *key))


def _renamed(value: Any, name: str, pseudonym: str, *, keys: bool = False) -> Any:
    """A value with another name in its texts, and where that is said in its keys: else these are no names."""
    if isinstance(value, str) and value.startswith('{"'):  # JSON in JSON, as line-ups of a match that was put right
        with suppress(InputError):
            return plain_json(_renamed(read_json(value), name, pseudonym, keys=keys))
    if isinstance(value, str):  # alone, or after the kind (or the condition) that it is of
        kind, *words = value.split(SEPARATOR)
        changed = [pseudonym if word == name else word for word in words]
        return SEPARATOR.join([kind, *changed]) if words else pseudonym if value == name else value
    if isinstance(value, list):
        return [_renamed(one, name, pseudonym, keys=keys) for one in value]
    if isinstance(value, dict):
        return {
            pseudonym if keys and key == name else key: _renamed(one, name, pseudonym, keys=keys)
            for key, one in value.items()
        }
    return value


def _lists_renamed(value: Any, name: str, pseudonym: str) -> Any:
    """Settings of a rater, or of several, with another name in the lists that it begins with; all else stays."""
    if not isinstance(value, dict):
        return value
    changed = {key: _lists_renamed(part, name, pseudonym) for key, part in value.items()}
    for key in LISTS & value.keys():
        names = value[key]
        if isinstance(names, dict) and isinstance(names.get("name"), list):  # columns
            changed[key] = {**names, "name": _renamed(names["name"], name, pseudonym)}
        elif isinstance(names, dict):
            changed[key] = {pseudonym if one == name else one: number for one, number in names.items()}
    return changed


def _state_renamed(content: Any, name: str, pseudonym: str) -> bytes | None:
    """A stored state with another name in it, None where nothing changes."""
    arrays, changed = unpack(content), False
    for key, array in arrays.items():
        if array.dtype.kind == "U" and key not in ("kinds", "advantages"):
            words = array.ravel().tolist()
            new = _renamed(words, name, pseudonym)
            if new != words:
                arrays[key], changed = np.array(new).reshape(array.shape), True
        elif array.dtype == np.uint8 and array.ndim == 1 and array[:1].tobytes() == b"{":  # JSON, as lists are kept
            value = json.loads(array.tobytes())
            new = _renamed(value, name, pseudonym, keys=True)
            if new != value:
                arrays[key] = np.frombuffer(json.dumps(new, sort_keys=True).encode(), np.uint8).copy()
                changed = True
    return pack(arrays) if changed else None
