"""How a book keeps what its rater knows: a row for every slot, or the whole state in one piece.

A rater with ``slots`` (:mod:`kinelo.raters.slots`) is kept in rows of ``slot`` and ``common``, and a match reads
and writes those it touches. Any other is kept as a whole, in the row 1 of ``checkpoint``; its rows in ``slot`` only
show its ratings. Row 0 is the rater before any match; rows from 2 on are whole states before certain days, from which
late matches are rated.
"""

from __future__ import annotations

import copy
import io
import math
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.book.database import Database
from kinelo.book.keeping import restore
from kinelo.book.rows import plain_json, read_json
from kinelo.errors import InputError
from kinelo.raters.adapter import state_of
from kinelo.raters.slots import Key, Points, SlotRow, check_rows
from kinelo.raters.state import NEVER

BEFORE, NOW = 0, 1
"""Rows of ``checkpoint``: the state before any match, and after all where it is kept as a whole."""
MOST_STATE = 1 << 30
"""Bytes of a state beyond which it is not read."""
READ = "SELECT kind, name, mean, variance, games, last_day, more FROM slot"
UPSERT = (
    "INSERT INTO slot (kind, name, mean, variance, deviation, games, last_day, more) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (kind, name) DO UPDATE SET mean = excluded.mean, variance = excluded.variance, deviation = "
    "excluded.deviation, games = excluded.games, last_day = excluded.last_day, more = excluded.more"
)
AWAITED = '"new"'
"""What ``more`` says of a slot that a transaction has reserved and not filled yet."""


RESERVE = (
    "INSERT INTO slot (kind, name, mean, variance, deviation, games, last_day, more) VALUES "
    f"(?, ?, 0, 0, 0, 0, {NEVER}, ?) ON CONFLICT DO NOTHING"
)


def pack(arrays: Mapping[str, NDArray]) -> bytes:
    """Arrays in one piece: a plain npz, without compression or pickles."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def unpack(content: Any) -> dict[str, NDArray]:
    """What :func:`pack` gave; anything that would take more room than its bytes is refused.

    >>> unpack(pack({"x": np.arange(3)}))["x"].tolist()
    [0, 1, 2]
    """
    if not isinstance(content, bytes | memoryview) or len(content) > MOST_STATE:
        raise InputError("A state in the table checkpoint is not what Kinelo writes.")
    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                if member.compress_type != zipfile.ZIP_STORED or not member.filename.endswith(".npy"):
                    raise ValueError("no plain npz")
                arrays[member.filename.removesuffix(".npy")] = _array(archive.read(member))
    except (ValueError, KeyError, TypeError, EOFError, OSError, NotImplementedError, zipfile.BadZipFile, SyntaxError):
        raise InputError("A state in the table checkpoint is not what Kinelo writes.") from None
    return arrays


def _array(content: bytes) -> NDArray:
    """One array, whose header says no more than there is."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ValueError("no plain array")
    # Not by read_array, which would read the header, most of the work, once more.
    return np.ndarray(shape, dtype, content, file.tell(), order="F" if by_columns else "C").copy("K")


def is_local(rater: Any) -> bool:
    """Whether a rater is kept row by row: one of Kinelo's own, not a class derived from it, which may know more."""
    own = type(rater).__module__.startswith("kinelo.")
    return own and rater.slots is not None


class Store:
    """What both ways share: the state before any match, and checkpoints."""

    def __init__(self, database: Database, blank: Any) -> None:
        self.database, self.blank = database, blank

    def state_at(self, number: int) -> Any:
        """The rater as a row of ``checkpoint`` holds it, None where there is none."""
        return restored(self.database, self.blank, number)

    def save_state(self, number: int | None, rater: Any, date: str | None, matches: int) -> None:
        """Keep a whole state, where the rater can say it."""
        save_state(self.database, number, rater, date, matches)

    # What each does in its own way

    def begin(self) -> None:
        """Write what a new book says of everyone, inside a transaction."""
        raise NotImplementedError

    def whole(self, latest: int) -> Any:
        """A rater that knows everyone, None where it is not kept."""
        raise NotImplementedError

    def save(self, rater: Any, matches: int) -> None:
        """Write all that has changed, inside a transaction."""
        raise NotImplementedError


def save_state(database: Database, number: int | None, rater: Any, date: str | None, matches: int) -> None:
    """Keep a whole state under a number, or under the next one."""
    arrays = state_of(rater)
    if arrays is None:
        return
    if number is None:
        number = max(NOW, database.one("SELECT MAX(number) FROM checkpoint")[0] or 0) + 1
    database.run(
        "INSERT INTO checkpoint (number, date, matches, state) VALUES (?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET "
        "date = excluded.date, matches = excluded.matches, state = excluded.state",
        (number, date, matches, pack(arrays)),
    )


def restored(database: Database, blank: Any, number: int) -> Any:
    """A rater as a row of ``checkpoint`` holds it, None where there is none."""
    size = database.one("SELECT LENGTH(state) FROM checkpoint WHERE number = ?", (number,))
    if size is None:
        return None
    if not isinstance(size[0], int) or size[0] > MOST_STATE:
        raise InputError(f"{database.name}: a state in the table checkpoint is larger than any that Kinelo writes.")
    content = database.one("SELECT state FROM checkpoint WHERE number = ?", (number,))[0]
    rater = copy.deepcopy(blank)
    try:
        arrays = unpack(content)
    except InputError as error:
        raise InputError(f"{database.name}: {error} Put back a copy.") from None
    restore(rater, arrays, database.name)
    return rater


class SlotStore(Store):
    """Rows of slots, and what all share."""

    _read: tuple[Any, dict[str, Any]] = (None, {})

    def begin(self) -> None:
        """Write those who begin with a rating."""
        self.write(self.blank.slots.rows())
        self.database.many("UPDATE slot SET supposed = ? WHERE kind = ? AND name = ?",
                           [(games, *key) for key, games in self.blank.slots.supposed().items()])  # fmt: skip

    def shared(self) -> dict[str, Any]:
        """What all share; empty before the first match. What was read before is not parsed again."""
        rows = self.database.rows("SELECT name, value FROM common")
        if rows != self._read[0]:
            self._read = rows, {name: read_json(value) for name, value in rows}
        return self._read[1]

    def rows(self, keys: Iterable[Key], *, lock: bool = False) -> dict[Key, SlotRow]:
        """Rows of some slots; locked in one order, and reserved where they are new, for whoever will write them."""
        db, kinds = self.database, {}
        for kind, name in keys:
            kinds.setdefault(kind, []).append(name)
        found: dict[Key, SlotRow] = {}
        sql = f"{READ} WHERE kind = ? AND {db.among('name')}{f' ORDER BY name{db.for_update}' if lock else ''}"
        for kind in sorted(kinds):
            rows = {row[1]: row for row in db.rows(sql, (kind, db.listed(kinds[kind])))}
            if lock and db.for_update and (missing := sorted(set(kinds[kind]) - set(rows))):
                db.many(RESERVE, [(kind, name, AWAITED) for name in missing])
                rows |= {row[1]: row for row in db.rows(sql, (kind, db.listed(missing)))}
            found |= {row[:2]: row for row in slot_rows(rows.values(), db.name)}
        return found

    def glance(self, keys: Iterable[Key], table: str) -> tuple[dict[str | None, Any], dict[Key, SlotRow]]:
        """What all share and the last day (under None), as texts, and rows of some slots.

        One question, so that all of it is of one moment without a transaction.
        """
        db, kinds, values = self.database, {}, []
        for kind, name in keys:
            kinds.setdefault(kind, []).append(name)
        for kind, names in kinds.items():
            values += [kind, db.listed(names)]
        rows = db.rows(_glance_at(len(kinds), table, db.among("name")), values)
        said = {row[1]: row[6] for row in rows if row[0] is None}
        return said, {row[:2]: row for row in slot_rows((row for row in rows if row[0] is not None), db.name)}

    def all_rows(self) -> list[SlotRow]:
        """Rows of everyone, in order."""
        return slot_rows(self.database.rows(f"{READ} ORDER BY number"), self.database.name)

    def whole(self, latest: int) -> Any:
        """A rater that knows everyone."""
        rater, shared = copy.deepcopy(self.blank), self.shared()
        with in_book(self.database.name):
            if shared:
                rater.slots.take_shared(shared, latest)
            rater.slots.take(self.all_rows())
            if shared:
                rater.slots.take_shared(shared, latest)
        return rater

    def save(self, rater: Any, matches: int) -> None:
        """Write all that has changed."""
        before = {row[:2]: row for row in self.all_rows()}
        rows = rater.slots.rows()
        gone = before.keys() - {row[:2] for row in rows}
        self.database.many("DELETE FROM slot WHERE kind = ? AND name = ?", sorted(gone))
        self.write([row for row in rows if before.get(row[:2]) != row])
        self.save_shared(rater.slots.shared() if matches else {}, self.shared())

    def write(self, rows: Sequence[SlotRow]) -> None:
        """Write rows of slots."""
        if rows:
            self.database.many(UPSERT, written(rows))

    def save_shared(self, shared: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
        """Write what all share, where it has changed; whether it has."""
        if shared == before:
            return False
        changed = set(before.keys() - shared.keys())
        for name, value in shared.items():
            if name not in before or plain_json(before[name]) != plain_json(value):
                changed.add(name)
                self.database.run("INSERT INTO common (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET "
                                  "value = excluded.value", (name, plain_json(value)))  # fmt: skip
        for name in before.keys() - shared.keys():
            self.database.run("DELETE FROM common WHERE name = ?", (name,))
        return bool(changed)

    def use(self, rater: Any, keys: Sequence[Key], rows: Mapping[Key, SlotRow], use: Callable[[Any], None]) -> Any:
        """Let a rater that knows anybody use a match whose slots stand so in the book, and write what it changes.

        The rater, and whether what all share has changed.
        """
        shared = self.shared()
        if any(key not in rows and rater.slots.has(key) for key in keys):
            rater = copy.deepcopy(self.blank)  # somebody who is new to the book is new to the rater
        with in_book(self.database.name):
            rater.slots.take_shared(shared, None)
            rater.slots.take(rows.values())
        use(rater)
        self.write([row for row in rater.slots.rows(keys) if rows.get(row[:2]) != row])
        return rater, self.save_shared(rater.slots.shared(), shared)


@lru_cache(64)
def _glance_at(kinds: int, table: str, among: str) -> str:
    """The question for rows of so many kinds, and for what all share."""
    parts = [f"{READ} WHERE kind = ? AND {among}"] * kinds or [f"{READ} WHERE 1 = 0"]
    parts.append("SELECT NULL, name, NULL, NULL, NULL, NULL, value FROM common")
    parts.append(f"SELECT NULL, NULL, NULL, NULL, NULL, NULL, CAST(MAX(date) AS TEXT) FROM {table}")
    return " UNION ALL ".join(parts)


def written(rows: Sequence[SlotRow]) -> list[tuple[Any, ...]]:
    """Rows of slots as :data:`UPSERT` takes them; none is written that could not be read again."""
    check_rows(rows)
    return [
        (kind, name, mean, variance, math.sqrt(variance), games, last, None if more is None else plain_json(more))
        for kind, name, mean, variance, games, last, more in rows
    ]


def slot_rows(rows: Iterable[Sequence[Any]], book: str) -> list[SlotRow]:
    """Rows of ``slot`` as raters take them, without those that wait; refused where one holds what no rater stores.

    Nothing of the table reaches a rater, and compiled code, but through here.
    """
    with in_book(book):
        found = [
            SlotRow(*row[:6], None if row[6] is None else read_json(row[6]))  # type: ignore[arg-type]
            for row in rows
            if row[6] != AWAITED
        ]
        check_rows(found)
    return found


class in_book:
    """Whatever a rater finds wrong with what a book holds, as a sentence that names the book."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, InputError):
            raise InputError(f"{self.name}: {error} Nothing was changed; put back a copy.") from None
        if isinstance(error, TypeError | ValueError | KeyError | IndexError | OverflowError | AttributeError):
            raise InputError(f"{self.name} holds what no rater stores; nothing was changed, put back a copy.") from None


class WholeStore(Store):
    """The whole state in one piece, and rows that show the ratings."""

    def begin(self) -> None:
        """Nothing is known of anyone yet."""

    def whole(self, latest: int) -> Any:
        """A rater that knows everyone."""
        return self.state_at(NOW)

    def save(self, rater: Any, matches: int) -> None:
        """Write all that has changed."""
        self.save_state(NOW, rater, None, matches)
        rows = shown_rows(rater) if matches else []
        before = {row[:2]: row for row in slot_rows(self.database.rows(READ), self.database.name)}
        gone = before.keys() - {row[:2] for row in rows}
        self.database.many("DELETE FROM slot WHERE kind = ? AND name = ?", sorted(gone))
        SlotStore.write(self, [row for row in rows if before.get(row[:2]) != row])  # type: ignore[arg-type]


def shown_rows(rater: Any) -> list[SlotRow]:
    """Ratings of a rater that is kept as a whole, as rows of ``slot``."""
    if not hasattr(rater, "ratings_"):
        return []
    rows = []
    for row in rater.ratings_.iter_rows(named=True):
        day = row.get("last_played")
        doubt: Any = row.get("uncertainty")
        spread = float(doubt) if doubt is not None and math.isfinite(doubt) else 0.0
        rows.append(SlotRow(
            str(row.get("kind", "side")), str(row["name"]), float(row["rating"]), spread**2,
            int(row.get("matches") or 1), NEVER if day is None else int(np.datetime64(day, "D").astype(np.int64)),
        ))  # fmt: skip
    return rows


def points_of(rater: Any) -> Points:
    """How the means of slots are shown as ratings."""
    return rater.slots.points() if is_local(rater) else Points(0.0, 1.0)


def store_of(database: Database, blank: Any) -> Any:
    """How a book keeps this rater."""
    return SlotStore(database, blank) if is_local(blank) else WholeStore(database, blank)
