"""What a book knows: a row for every slot, or the whole state of its rater, and raters that know some or everyone.

A rater with ``slots`` (:mod:`kinelo.raters.slots`) is kept in rows of ``slot`` and ``common``, and a match reads
and writes those it touches. Any other is kept as a whole, in the row 1 of ``checkpoint``; its rows in ``slot`` only
show its ratings. Row 0 is the rater before any match; rows from 2 on are whole states before certain days, from which
late matches are rated.
"""

from __future__ import annotations

import copy
import io
import math
import threading
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.book.contest_ledger import ContestLedger
from kinelo.book.database import Database
from kinelo.book.keeping import class_of, rater_from, restore, settings_to_keep
from kinelo.book.match_ledger import MatchLedger
from kinelo.book.schema import FORMAT, in_book, plain_json, read_json
from kinelo.errors import InputError
from kinelo.matches.dated import UNDATED, read_day
from kinelo.model.validation import LARGEST
from kinelo.raters.adapter import carry_on, conditions_of, state_of
from kinelo.raters.rater import Rater, traits_of
from kinelo.raters.slots import Key, Points, SlotRow, check_rows
from kinelo.raters.soft_reset import SoftReset
from kinelo.raters.state import NEVER

BEFORE, NOW = 0, 1
"""Rows of ``checkpoint``: the state before any match, and after all where it is kept as a whole."""
COUNTED = "milestones"
"""The key of ``about`` that counts milestones: all ratings begin anew with each."""
SEASON = "season"
"""What a milestone is with which a season was closed."""
MOST_STATE = 1 << 30
"""Bytes of a state beyond which it is not read."""
MOST_ROWS = 10_000
"""Rows beyond which a rater that answers questions about some is begun anew."""
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
                part = archive.read(member)
                file = io.BytesIO(part)
                first = np.lib.format.read_magic(file) == (1, 0)
                read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
                shape, by_columns, dtype = read(file)
                if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(part) - file.tell():
                    raise ValueError("no plain array, or a header that says more than there is")
                # Not by read_array, which would read the header, most of the work, once more.
                array = np.ndarray(shape, dtype, part, file.tell(), order="F" if by_columns else "C")
                arrays[member.filename.removesuffix(".npy")] = array.copy("K")
    except (ValueError, KeyError, TypeError, EOFError, OSError, NotImplementedError, zipfile.BadZipFile, SyntaxError):
        raise InputError("A state in the table checkpoint is not what Kinelo writes.") from None
    return arrays


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


class SlotStore:
    """Rows of slots, and what all share."""

    local = True

    def __init__(self, database: Database, blank: Any) -> None:
        self.database, self.blank = database, blank
        self._read: tuple[Any, dict[str, Any]] = (None, {})

    def begin(self) -> None:
        """Write those who begin with a rating, inside a transaction."""
        self.database.many(UPSERT, written(self.blank._slots.rows()))
        self.database.many("UPDATE slot SET supposed = ? WHERE kind = ? AND name = ?",
                           [(games, *key) for key, games in self.blank._slots.supposed().items()])  # fmt: skip

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
        rows_by_key: dict[Key, SlotRow] = {}
        sql = f"{READ} WHERE kind = ? AND {db.among('name')}{f' ORDER BY name{db.for_update}' if lock else ''}"
        for kind in sorted(kinds):
            rows = {row[1]: row for row in db.rows(sql, (kind, db.listed(kinds[kind])))}
            if lock and db.for_update and (missing := sorted(set(kinds[kind]) - set(rows))):
                db.many(RESERVE, [(kind, name, AWAITED) for name in missing])
                rows |= {row[1]: row for row in db.rows(sql, (kind, db.listed(missing)))}
            rows_by_key |= {row[:2]: row for row in slot_rows(rows.values(), db.name)}
        return rows_by_key

    def glance(self, keys: Iterable[Key], table: str) -> tuple[int, dict[str | None, Any], dict[Key, SlotRow]]:
        """The number of milestones, what all share and the last day (under None), as texts, and rows of some slots.

        One question, so that all of it is of one moment without a transaction.
        """
        db, kinds, values, named = self.database, {}, [], []
        for kind, name in keys:
            kinds.setdefault(kind, []).append(name)
        for kind, names in kinds.items():
            condition, handed = db.one_of("name", names)
            named.append(condition)
            values += [kind, *handed]
        rows = db.rows(_glance_at(tuple(named), table), values)
        said = {row[1]: row[6] for row in rows if row[0] is None}
        return (
            milestones_in(said.pop("", None)),
            said,
            {row[:2]: row for row in slot_rows((row for row in rows if row[0] is not None), db.name)},
        )

    def whole(self, latest: int) -> Any:
        """A rater that knows everyone."""
        rater, shared, rows = copy.deepcopy(self.blank), self.shared(), all_rows(self.database)
        with in_book(self.database.name):
            if shared:
                rater._slots.take_shared(shared, latest)
            rater._slots.take(rows)
            if shared:
                rater._slots.take_shared(shared, latest)
        return rater

    def save(self, rater: Any, matches: int) -> None:
        """Write all that has changed."""
        save_rows(self.database, rater._slots.rows())
        self.save_shared(rater._slots.shared() if matches else {}, self.shared())

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


def milestones_in(text: Any) -> int:
    """How many milestones a book counts; none where it says nothing."""
    if text is not None and not (isinstance(text, str) and text.isdecimal() and len(text) < 10):
        raise InputError("A book does not say how many milestones it has: it is damaged.")
    return int(text or 0)


@lru_cache(64)
def _glance_at(named: tuple[str, ...], table: str) -> str:
    """The question for rows that are named, by kind, and for what all share."""
    parts = [f"{READ} WHERE kind = ? AND {condition}" for condition in named] or [f"{READ} WHERE 1 = 0"]
    parts.append("SELECT NULL, name, NULL, NULL, NULL, NULL, value FROM common")
    parts.append(f"SELECT NULL, NULL, NULL, NULL, NULL, NULL, CAST(MAX(date) AS TEXT) FROM {table}")
    parts.append(f"SELECT NULL, '', NULL, NULL, NULL, NULL, value FROM about WHERE key = '{COUNTED}'")
    return " UNION ALL ".join(parts)


def all_rows(database: Database) -> list[SlotRow]:
    """Rows of everyone, in order."""
    return slot_rows(database.rows(f"{READ} ORDER BY number"), database.name)


def save_rows(database: Database, rows: Sequence[SlotRow]) -> None:
    """Write the rows of everyone that have changed, and take out those of others."""
    before = {row[:2]: row for row in all_rows(database)}
    gone = before.keys() - {row[:2] for row in rows}
    database.many("DELETE FROM slot WHERE kind = ? AND name = ?", sorted(gone))
    database.many(UPSERT, written([row for row in rows if before.get(row[:2]) != row]))


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
        slots = [
            SlotRow(*row[:6], None if row[6] is None else read_json(row[6]))  # type: ignore[arg-type]
            for row in rows
            if row[6] != AWAITED
        ]
        check_rows(slots)
    return slots


class WholeStore:
    """The whole state in one piece, and rows that show the ratings."""

    local = False

    def __init__(self, database: Database, blank: Any) -> None:
        self.database, self.blank = database, blank

    def begin(self) -> None:
        """Nothing is known of anyone yet."""

    def whole(self, latest: int) -> Any:
        """A rater that knows everyone, None where it is not kept."""
        return restored(self.database, self.blank, NOW)

    def save(self, rater: Any, matches: int) -> None:
        """Write all that has changed."""
        save_state(self.database, NOW, rater, None, matches)
        save_rows(self.database, shown_rows(rater) if matches else [])


def shown_rows(rater: Any) -> list[SlotRow]:
    """Ratings of a rater that is kept as a whole, as rows of ``slot``."""
    if not hasattr(rater, "ratings_"):
        return []
    table = rater.ratings_

    def column(name: str, default: Any) -> list[Any]:
        return table[name].to_list() if name in table.columns else [default] * table.height

    dates = np.array(column("last_played", None), "datetime64[us]").astype("datetime64[D]")
    days = np.where(np.isnat(dates), NEVER, dates.astype(np.int64)).tolist()
    rows = []
    for kind, name, rating, doubt, games, day in zip(
        column("kind", "side"), table["name"].to_list(), table["rating"].to_list(), column("uncertainty", None),
        column("matches", 1), days,
    ):  # fmt: skip
        spread = float(doubt) if doubt is not None and math.isfinite(doubt) else 0.0
        rows.append(SlotRow(str(kind), str(name), float(rating), spread**2, int(games or 1), day))
    return rows


def resets_in(database: Database) -> tuple[SoftReset, ...]:
    """Where the seasons of a book begin, after the first one: the day after each one that was closed."""
    resets = []
    for date, text in database.rows(
        "SELECT CAST(date AS TEXT), details FROM milestone WHERE what = ? ORDER BY date", (SEASON,)
    ):
        details = read_json(text, database.name)
        details = details if isinstance(details, dict) else {}
        part, moves = details.get("reset"), details.get("moves")
        if not (
            isinstance(part, float) and 0.0 <= part <= 1.0 and isinstance(moves, float) and 0.0 <= moves <= LARGEST
        ):
            raise InputError(f"{database.name} does not say how its seasons begin: it is damaged.")
        resets.append(SoftReset(int(read_day(date).astype(np.int64)) + 1, part, moves))
    return tuple(resets)


def store_of(database: Database, blank: Any) -> Any:
    """How a book keeps this rater; by rows if it is one of Kinelo's: a class derived from it may know more."""
    local = type(blank).__module__.startswith("kinelo.") and blank._slots is not None
    return SlotStore(database, blank) if local else WholeStore(database, blank)


def points_of(store: Any) -> dict[str, str]:
    """How the view of ratings counts in points, as ``about`` says it."""
    points = store.blank._slots.points() if store.local else Points(0.0, 1.0)
    return {"points: zero": repr(points.zero), "points: unit": repr(points.unit),
            "points: relative": str(int(points.relative))}  # fmt: skip


def kinds_of(rater: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Kinds of entrants that a rater of contests rates, in their order, and those that help others; none of matches."""
    helping = getattr(rater, "_advantage_kinds", None)
    return ((), ()) if helping is None else (tuple(rater._kinds), tuple(helping))


class Ratings:
    """What an open book knows of itself: how its rater began, what was played, and who is rated how.

    ``blank`` is the rater before any match, ``settled`` whether nothing of that waits for a first table; ``store`` and
    ``ledgers`` are how ratings and matches are kept, ``local`` whether that is row by row; ``earliest`` is the last day
    of the ratings to begin with.
    """

    def __init__(self, database: Database, given: Any) -> None:
        self.database = database
        self._opening = threading.Lock()
        self.open(given)

    def open(self, given: Any) -> None:
        """Read what the book says of itself, and keep nothing of what it said before."""
        database = self.database
        database.check_schema()
        about = dict(database.rows("SELECT key, value FROM about"))
        if about.get("format") != FORMAT:
            raise InputError(
                f"{database.name} was written by another version of Kinelo (tables of format "
                f"{about.get('format')!r:.20}, this one reads {FORMAT})."
            )
        described = {
            name: read_json(about.get(name, "null"), database.name) for name in ("settings", "systems", "parameters")
        }
        described["systems"] = described["systems"] or []
        kind = class_of(about.get("rater"), given, database.name)
        rater = rater_from(kind, {"rater": about.get("rater"), **described}, database.name)
        if given is not None and given is not kind and settings_to_keep(given) != settings_to_keep(rater):
            raise InputError(
                f"{database.name} is a book of {kind.__name__} with other settings than the rater given; "
                "open it without a rater."
            )
        blank = restored(database, rater, BEFORE)
        if blank is None and hasattr(rater, "from_arrays"):
            raise InputError(f"{database.name} does not say where its rater began: it is damaged.")
        self.milestones = milestones_in(about.get(COUNTED))
        self.resets = resets_in(database) if self.milestones else ()
        self.seen: Any = None
        self.noun_held = self.checked_day = ""
        self.forget()
        self.take_over(rater if blank is None else blank)

    def forget(self) -> None:
        """Know nobody; the next question begins from what the book holds."""
        self._reader: tuple[Any, Any] = (None, None)
        self._partial = threading.local()

    def take_over(self, blank: Any) -> None:
        """Begin with this rater."""
        self.blank: Any = blank
        if any(one.part or one.moves for one in self.resets):
            blank._soft_resets = self.resets
        self.settled = not isinstance(blank, Rater) or blank._prepared
        self.store = store_of(self.database, blank)
        self.local = self.store.local
        self.ledgers = {
            "matches": MatchLedger(self.database, conditions_of(blank)), "contests": ContestLedger(self.database),
        }  # fmt: skip
        begun = blank._begun() if self.local else ()
        self.earliest = int(begun.known.last[: len(begun)].max(initial=NEVER)) if begun else NEVER

    def keep_up(self) -> None:
        """Begin anew where all ratings were computed anew since, by another process or this one."""
        count = self.database.one("SELECT value FROM about WHERE key = ?", (COUNTED,))
        with self._opening:
            if count is not None and milestones_in(count[0]) > self.milestones:
                self.open(type(self.blank))
        self.know_blank()

    def know_blank(self) -> None:
        """Read again how the rater began where another process has settled it since."""
        if not self.settled and self.database.one(f"SELECT 1 FROM {self.ledger.table} LIMIT 1") is not None:
            self.take_over(restored(self.database, self.blank, BEFORE) or self.blank)
            self.settled = True

    # What was played

    @property
    def can_hold(self) -> tuple[str, ...]:
        """What a book of this rater may hold: matches, unless it says otherwise."""
        return traits_of(self.blank).book_holds

    @property
    def noun(self) -> str:
        """What the book holds: ``"matches"`` of two sides or ``"contests"`` of many."""
        if not self.noun_held:
            written = self.database.one("SELECT value FROM about WHERE key = 'holds'")[0]
            self.noun_held = self.can_hold[0] if len(self.can_hold) == 1 else written
        return self.noun_held or "matches"

    @property
    def ledger(self) -> Any:
        """The matches, or the contests, of the book."""
        ledger = self.ledgers.get(self.noun)
        if ledger is None:
            raise InputError(f"{self.database.name} does not say what it holds: it is damaged.")
        return ledger

    def last_date(self) -> str | None:
        """The day of the last match."""
        return self.database.one(f"SELECT CAST(MAX(date) AS TEXT) FROM {self.ledger.table}")[0]

    @property
    def season_day(self) -> int:
        """The first day of the season: what is played before it belongs to another one."""
        return self.resets[-1].day if self.resets else NEVER

    def latest(self, last: str | None) -> int:
        """Day of the last match, or of the ratings to begin with."""
        return max(self.earliest, NEVER if last is None else int(read_day(last).astype(np.int64)))

    def day_of(self, name: str, day: np.datetime64 | None) -> np.datetime64:
        """The day of a match; where none is said, that under which the book holds it, or the day of the last match."""
        if day is not None:
            return day
        held = self.ledger.held([name]).get(name)
        return self.next_day(self.last_date()) if held is None else read_day(held)

    def next_day(self, last: str | None) -> np.datetime64:
        """The day of a match of which none is said: that of the last one, not before the season."""
        day = read_day(last or str(UNDATED))
        return day if self.season_day == NEVER else max(day, np.datetime64(self.season_day, "D"))

    # Who is rated how

    def whole(self) -> Any:
        """A rater that knows everyone, read anew where anything was committed since it was read."""
        moment = self.database.moment()  # what is committed from now on is read the next time
        with self.database.snapshot():
            self.keep_up()
            seen, rater = self._reader
            if seen is None or seen != moment:
                rater = self.read_whole()
                self._reader, self.seen = (moment, rater), moment
        return rater

    def read_whole(self) -> Any:
        """The same, read now."""
        rater = self.store.whole(self.latest(self.last_date()))
        if rater is not None and self.resets:
            rater._resets_done = len(self.resets)
        if rater is None:  # its rater cannot say its state: rate all matches
            rater = copy.deepcopy(self.blank)
            matches = self.ledger.read()
            if matches is not None:
                carry_on(rater, matches)
        return rater

    def knowing(self, asked: Callable[[Any], Sequence[Key]]) -> Any:
        """A rater that knows those of a match to come; everyone where ratings are relative to all."""
        self.know_blank()
        if not self.local:
            return self.whole()
        partial, rater = self._partial, getattr(self._partial, "rater", None)
        if rater is None or partial.rows > MOST_ROWS:
            rater, partial.said, partial.rows = copy.deepcopy(self.blank), None, 0
        while True:
            keys = [] if partial.said is None else asked(rater)
            milestones, glance, rows = self.store.glance(keys, self.ledger.table)
            if milestones > self.milestones:
                self.keep_up()
                return self.knowing(asked)
            if glance == partial.said:
                break
            if len(glance) == 1:
                return self.whole()
            with in_book(self.database.name):
                shared = {name: read_json(text) for name, text in glance.items() if name is not None}
                partial.shared = shared, self.latest(glance[None])
                rater._slots.take_shared(*partial.shared)
            known, partial.said = partial.said is not None, glance
            if known and asked(rater) == keys:
                break
        if any(key not in rows and rater._slots.has(key) for key in keys):
            rater = copy.deepcopy(self.blank)  # somebody was taken out of the book
            rater._slots.take_shared(*partial.shared)
        with in_book(self.database.name):
            rater._slots.take(rows.values())
        partial.rater, partial.rows = rater, partial.rows + len(rows)
        return rater

    def showing(self, keys: Sequence[Key]) -> Any:
        """A rater that knows some, as far as the table of ratings shows them: everyone where all are compared."""
        if not self.local or self.blank._slots.points().relative:
            return self.whole()
        self._partial.rater = None  # which knows others too, of whom nothing is asked
        return self.knowing(lambda _: keys)
