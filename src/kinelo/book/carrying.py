"""Carrying a book on: what is added or taken out, and the ratings after it, count together or not at all.

A match or contest that is new, and comes after all that those who take part have played, is counted alone
(:class:`Alone`), in as few steps as that takes: nothing but their rows, and what all share, is read and written. That
is the way of a service that sends them as they end; those that end at the same moment share a transaction. Whatever
else it may be is left to the general way, which takes tables; what arrives late, is put right or taken out is rated
again from the last checkpoint before it.
"""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinelo.book.contest_ledger import CONTEST, INSERT_ENTRY
from kinelo.book.database import RETRIES, Database
from kinelo.book.match_ledger import SCHEMA, Entry, Place
from kinelo.book.ratings import (
    AWAITED,
    BEFORE,
    COUNTED,
    READ,
    RESERVE,
    UPSERT,
    Ratings,
    milestones_in,
    restored,
    save_state,
    slot_rows,
    written,
)  # fmt: skip
from kinelo.book.replay import forget, remember
from kinelo.book.schema import in_book, plain_json, read_json
from kinelo.errors import InputError, warn
from kinelo.matches.contests import Contests
from kinelo.matches.dated import day_number, read_day, refuse_far_ahead
from kinelo.matches.kinds import kind_of
from kinelo.matches.matches import Matches
from kinelo.raters.adapter import carry_on, conditions_of
from kinelo.raters.one_match import OneResult
from kinelo.raters.rater import Rater
from kinelo.raters.sides import SIDE, SideRater
from kinelo.raters.slots import SlotRow
from kinelo.raters.soft_reset import begin_seasons
from kinelo.raters.stored import LAST_DAY
from kinelo.raters.two_rows import TwoRows

EVERY = 10_000
"""Matches after which, once a day has ended, the whole state is kept as a checkpoint."""
LARGE = 10_000
"""Matches of a book up to which a process with more to do rates them again itself."""
TAKEN_BACK = (
    "milestones",
    "resets",
    "blank",
    "settled",
    "store",
    "local",
    "ledgers",
    "earliest",
    "noun_held",
    "checked_day",
)
"""What a transaction may change of what a book knows: where it does not count, all of it is as it was before."""
WRITTEN = [name for name in SCHEMA if name != "rank"]
LISTED = [name for name in CONTEST if name != "rank"]
NAMELESS_MEETING = (
    "SELECT 1 FROM match WHERE date = ? AND home = ? AND away = ? AND rank IN (SELECT rank FROM source WHERE named = 0)"
)
MOST_KNOWN = 200_000
"""Rows beyond which what is known of them is forgotten."""


Played = tuple[str, Any, "np.datetime64 | None"]
"""The identifier of a match or contest, what was played, and its day where that is said."""


@dataclass(frozen=True)
class Added:
    """What an addition did: matches that were new, that the book held as they are, that it held and are changed now."""

    new: int
    known: int
    changed: int = 0


class Otherwise(Exception):
    """A match is not one that can be counted alone."""


class _EverybodyError(Exception):
    """A transaction turns out to need all of the book, and is begun again with everybody else kept out."""


class _LargeError(Exception):
    """A transaction turns out to need all of a large book, and is left to another process."""


class Alone:
    """What matches and contests share.

    ``known`` are rows as they stand in the book: as long as nobody else writes they need not be read again.
    """

    kind = SIDE
    moves = False
    """Whether what all share moves with every match."""

    def __init__(self, database: Database, table: str, columns: Sequence[str], shared: Sequence[str]) -> None:
        self.database, self.shared = database, shared
        texts = "".join(f"(SELECT value FROM common WHERE name = '{name}'), " for name in shared)
        self.question = (
            f"SELECT (SELECT value FROM about WHERE key = '{COUNTED}'), "
            "(SELECT COUNT(*) FROM (SELECT 1 FROM source WHERE named = 0 LIMIT 1) AS nameless), "
            f"{texts}(SELECT CAST(MAX(date) AS TEXT) FROM {table})"
        )
        """How many milestones there are, whether some matches have no identifier, what all share, and the last day."""
        number, marks = database.next_number.format(table=table), ", ".join("?" * len(columns))
        self.insert = (
            f"INSERT INTO {table} (number, {', '.join(columns)}, rank) SELECT new.number, {marks}, new.number "
            f"FROM (SELECT {number} AS number) AS new WHERE {{}} ON CONFLICT DO NOTHING"
        )
        self.forget()

    def forget(self) -> None:
        """Know nothing; the next match begins from what the book holds."""
        self.known: dict[str, SlotRow] = {}
        self.said: Any = None
        self.texts: Any = None

    def ahead(self, entries: Sequence[Played]) -> tuple[str, Any] | None:
        """The statement and values of rows that can be asked for as a transaction begins."""
        return None

    def begin(self, milestones: int) -> str:
        """Learn in a transaction what the book says, where others have written since; its last day."""
        answer = self.database.answer
        if answer is not None or self.said is None:
            self.said = answer or self.database.one(self.question)
            self.known.clear()
        if self.said[2] is None or milestones_in(self.said[0]) != milestones:
            raise Otherwise
        if self.texts != self.said[2:-1]:
            with in_book(self.database.name):
                kept = zip(self.shared, self.said[2:-1])
                self.take({name: read_json(text) for name, text in kept if text is not None})
            self.texts = self.said[2:-1]
        return self.said[-1] or ""

    def take(self, shared: dict[str, Any]) -> None:
        """Take over what all share."""
        raise NotImplementedError

    def count(self, entries: Sequence[tuple[str, Any, int, str]]) -> None:
        """Write what was played (its name, itself, the number of its day and the day as text) and the rows after it,
        inside a transaction.
        """
        raise NotImplementedError

    def learn(self, names: Iterable[str]) -> None:
        """Know rows as the book holds them, which newcomers have none of; locked, and reserved where they are new."""
        database, kind, known = self.database, self.kind, self.known
        if len(known) > MOST_KNOWN:
            known.clear()
        missing = sorted({name for name in names if name not in known})
        if not missing:
            return
        rows, asked = database.ahead, self._locking(missing)
        if rows is None:
            rows = database.rows(*asked)
        if len(rows) < len(missing) and database.for_update:
            there = {row[1] for row in rows}
            database.many(RESERVE, [(kind, name, AWAITED) for name in missing if name not in there])
            rows = database.rows(*asked)
        known.update((row.name, row) for row in slot_rows(rows, database.name))

    def _locking(self, names: Sequence[str]) -> tuple[str, Any]:
        """The question for rows, in the order in which they are locked, and its values."""
        database = self.database
        condition, handed = database.one_of("name", names)
        return f"{READ} WHERE kind = ? AND {condition} ORDER BY name{database.for_update}", [self.kind, *handed]

    def rows(self, names: Sequence[str], first: int) -> list[SlotRow | None]:
        """Rows as they are known, None of a newcomer; none of them may have played after the day ``first``."""
        rows_now = [self.known.get(name) for name in names]
        if any(row is not None and row.last > first for row in rows_now):
            raise Otherwise
        return rows_now

    def note(self, date: str) -> None:
        """Know the last day of what was written."""
        self.said = (*self.said[:2], *self.texts, max(date, self.said[-1] or ""))


class OneByOne(Alone):
    """Counts matches of two sides alone."""

    def __init__(self, database: Database, blank: SideRater) -> None:
        super().__init__(database, "match", WRITTEN, ("common",))
        self.moves, self.pair, self.insert = blank._slots.moves_shared(None), TwoRows(blank), self.insert.format("TRUE")

    def take(self, shared: dict[str, Any]) -> None:
        """Take over the numbers that all share."""
        self.pair.common = shared["common"]
        self.common = self.pair.common

    def ahead(self, entries: Sequence[Played]) -> tuple[str, Any] | None:
        """Rows of all sides."""
        return self._locking(sorted({name for _, one, _ in entries for name in (one.home, one.away)}))

    def count(self, entries: Sequence[tuple[str, OneResult, int, str]]) -> None:
        """Write matches and the rows of their sides, inside a transaction."""
        self.learn(name for _, played, *_ in entries for name in (played.home, played.away))
        new: list[tuple[tuple[Any, ...], list[tuple[Any, ...]]]] = []
        for name, played, first, date in entries:
            before = self.rows((played.home, played.away), first)
            # On the last day of both it may be a match that the book holds without an identifier; undated ones are not.
            doubtful = self.said[1] and first and all(row is not None and row.last == first for row in before)
            if doubtful and self.database.one(NAMELESS_MEETING, (date, played.home, played.away)) is not None:
                raise Otherwise
            rows = self.pair.use(played, first, before)
            margin = None if math.isnan(played.margin) else float(played.margin)
            match = (name, date, played.home, played.away, 0.5 + 0.5 * played.signed, margin, int(played.neutral),
                     float(played.weight), None, None, 1, None)  # fmt: skip
            new.append((match, written(rows)))
            self.known.update((row.name, row) for row in rows)
        common = self.pair.common
        moved = common != self.common
        if not self.database.entered(self.insert, UPSERT, new) or (moved and not self.moves):
            raise Otherwise
        if moved:
            self.texts, self.common = (plain_json(common),), common
            self.database.run("UPDATE common SET value = ? WHERE name = 'common'", self.texts)
        self.note(max(date for *_, date in entries))


class OneContestByOne(Alone):
    """Counts plain contests alone: of one kind, with an order or ranks, and nothing else said of them."""

    def __init__(self, database: Database, blank: Any) -> None:
        shared = ("kinds", "advantages", "parameters", "contests", "unfinished")
        super().__init__(database, "contest", LISTED, shared)
        self.blank = blank
        self.insert = self.insert.format("NOT EXISTS (SELECT 1 FROM contest WHERE name = ?)")

    @cached_property
    def field_rows(self) -> Any:
        """What rates rows."""
        return self.blank._field_rows()

    def take(self, shared: dict[str, Any]) -> None:
        """Take over kinds and parameters."""
        self.field_rows.take_shared(shared)
        self.kind = self.field_rows.kind

    def count(self, entries: Sequence[tuple[str, tuple[Any, Any], int, str]]) -> None:
        """Write contests (order and ranks), their entries, and the rows of those who take part."""
        fields = [self.field_rows.field(*played) for _, played, *_ in entries]
        if any(field is None or first <= 0 or " on " in name for field, (name, _, first, _) in zip(fields, entries)):
            raise Otherwise
        self.learn(name for field in fields for name in field.names)
        new: list[tuple[tuple[Any, ...], list[tuple[Any, ...]]]] = []
        after: dict[str, SlotRow] = {}
        for field, (name, _, first, date) in zip(fields, entries):
            rows = self.field_rows.use(field, first, self.rows(field.names, first))
            contest = (name, name, date, 1.0, None, plain_json([[self.kind, False]]), 1, name)
            new.append((contest, [
                (name, k, label, place, 0, None, plain_json([names]))
                for k, (label, place, names) in enumerate(self.field_rows.entries(field))
            ]))  # fmt: skip
            after |= {row.name: row for row in rows}
            self.known |= after
        # PostgreSQL carries out both even where the contest is there already; then nothing of it is kept.
        if not self.database.entered(self.insert, f"{INSERT_ENTRY} ON CONFLICT DO NOTHING", new):
            raise Otherwise
        self.database.many(UPSERT, written(list(after.values())))
        self.note(max(date for *_, date in entries))


class Carrying:
    """How a book goes on: what is added or taken out, and the ratings after it, in one transaction.

    ``beside`` is asked to ``add`` or to ``remove`` where that reads and writes all of a large book, in a process that
    has more to do.
    """

    def __init__(self, ratings: Ratings, beside: Any = None) -> None:
        self.ratings, self.database, self.beside = ratings, ratings.database, beside
        self._live: tuple[Any, Any] = (None, None)
        self._alone: tuple[Any, dict[str, Alone]] = (None, {})

    def attempt(
        self, work: Callable[[], Any], *, everybody: bool, question: str = "", rows: tuple[str, Any] | None = None
    ) -> Any:
        """Do something in a transaction, again where it met another one; what fails leaves nothing in memory either."""
        database, ratings = self.database, self.ratings
        with database.writing_lock:
            for attempt in range(RETRIES + 1):
                before = {name: getattr(ratings, name) for name in TAKEN_BACK}
                try:
                    database.start(everybody=everybody, question=question, rows=rows)
                    done = work()
                    database.finish()
                    return done
                except BaseException as error:
                    database.abandon()
                    if ratings.blank is not before["blank"]:  # others may have read by it meanwhile
                        ratings.forget()
                    vars(ratings).update(before)
                    if isinstance(error, Otherwise):
                        raise
                    self._live = (None, None)
                    for alone in self._alone[1].values():
                        alone.forget()
                    if attempt == RETRIES or not database.is_conflict(error):
                        raise
        raise AssertionError("unreachable")

    # Matches that end

    def count_alone(self, noun: str, entries: Sequence[Played]) -> bool:
        """Count what is new and comes after all that those who take part have played, in as few steps as that takes.

        Nothing is done, and False returned, where any of it is nothing of the kind.
        """
        ratings = self.ratings
        ratings.know_blank()
        if not ratings.settled or ratings.noun != noun:
            return False
        with self.database.writing_lock:  # two that do not know of one another would not see what the other writes
            if self._alone[0] is not (blank := ratings.blank):
                plain = ratings.local and not conditions_of(blank)
                ways: dict[str, Alone] = {}
                if plain and isinstance(blank, SideRater):
                    ways["matches"] = OneByOne(self.database, blank)
                if plain and hasattr(blank, "_field_rows"):
                    ways["contests"] = OneContestByOne(self.database, blank)
                self._alone = blank, ways
            alone = self._alone[1].get(noun)
        if alone is None:
            return False

        def count() -> None:
            last, dated = alone.begin(ratings.milestones), []
            for name, entry, date in entries:
                day = ratings.next_day(last) if date is None else date
                first, text = day_number(day), str(day)
                early = first < max(ratings.earliest, ratings.season_day) or (alone.moves and last > text)
                # A day far ahead is asked about by the general way.
                if early or first > time.time() / 86400.0 + 365.0 or self._checkpoint_due(text):
                    raise Otherwise
                dated.append((name, entry, first, text))
                last = max(last, text)
            alone.count(dated)

        try:
            self.attempt(count, everybody=alone.moves, question=alone.question, rows=alone.ahead(entries))
        except Otherwise:
            alone.forget()
            return False
        return True

    # Tables

    def add(self, matches: Matches | Contests, alone: bool = False) -> Added:
        """Count matches that were read or said, and say what is not plain about them."""
        entry = None
        try:
            if self.ratings.local:
                with contextlib.suppress(_EverybodyError):
                    entry = self.attempt(lambda: self._count(matches, alone, False), everybody=False)
            if entry is None:
                entry = self.attempt(lambda: self._count(matches, alone, True), everybody=True)
        except _LargeError:
            return self.beside("add", matches, alone)
        for sentence in entry.sentences(self.ratings.ledger):
            warn(sentence)
        return Added(len(entry.fresh), entry.known, len(entry.changed))

    def _count(self, matches: Any, alone: bool, everybody: bool) -> Entry:
        """Write what a table adds, and the ratings after it."""
        database, ratings = self.database, self.ratings
        ratings.keep_up()
        # Enter: the first table decides what a book holds where its rater rates both.
        ledger, asked = ratings.ledger, kind_of(matches).noun
        if asked != ledger.noun and asked in ratings.can_hold:
            empty = database.one(f"SELECT 1 FROM {ledger.table} LIMIT 1") is None
            ledger = ratings.ledgers[asked] if empty else ledger
        ledger.check(matches)
        entry = ledger.enter(matches, alone=alone)
        if entry.nothing:
            return entry
        if len(ratings.can_hold) > 1 and database.one("SELECT value FROM about WHERE key = 'holds'")[0] != ledger.noun:
            database.run("UPDATE about SET value = ? WHERE key = 'holds'", (ledger.noun,))
            ratings.noun_held = ""
        if not len(entry.fresh) and not len(entry.changed):  # matches got names
            ledger.write(entry, 0, ())
            return entry
        used = ledger.used(entry) if len(entry.fresh) else None
        late = bool(len(entry.changed)) or used is None
        if not late and ratings.local and self._count_touched(entry, used, everybody):
            return entry
        if ratings.local and self._is_left():
            raise _LargeError
        if not everybody:
            raise _EverybodyError
        # Place: what comes before the last match of the book is late.
        last = None if late else self._last_place()
        numbers = database.numbers(max(len(entry.fresh), 1), ledger.table)
        rank = numbers[0] if entry.rank is None else entry.rank
        days = [entry.first_change] if entry.first_change else []
        if used is not None:
            days.append(str(used.date[0]))
            late = late or (last is not None and ledger.first_place(entry, rank) < last)
            late = late or int(used.day[0]) < ratings.season_day
        # Settle: a first table says, once and for all, what a rater whose parameters are given reads off matches.
        blank = ratings.blank
        waits = isinstance(blank, Rater) and ledger.noun == "matches" and not blank._prepared
        if used is not None and not late and last is None and waits:
            blank = copy.deepcopy(blank)  # the other one is taken back where this transaction fails
            blank._prepare_once(used)
            save_state(database, BEFORE, blank, None, 0)
            ratings.take_over(blank)
        # Write, and rate.
        rater = None if late else ratings.read_whole()
        if len(entry.changed):
            remember(database, ledger, ledger.ids(entry.changed))
        ledger.write(entry, rank, numbers)
        if rater is None:
            self.rate_again(min(days))
        else:
            self._carry_in_pieces(rater, used)
        return entry

    def _count_touched(self, entry: Entry, used: Any, everybody: bool) -> bool:
        """Count matches that come after all that their slots have seen; nothing but those is read and written."""
        ratings, store, database = self.ratings, self.ratings.store, self.database
        if database.one("SELECT 1 FROM common LIMIT 1") is None or len(used) > EVERY:
            return False
        blank, live = self._live
        rater, shared = live if blank is ratings.blank else copy.deepcopy(ratings.blank), store.shared()
        rater._slots.take_shared(shared, None)
        first = int(used.day[0])
        moves = rater._slots.moves_shared(used)
        if moves and not everybody:
            raise _EverybodyError
        if first < max(ratings.earliest, ratings.season_day) or self._checkpoint_due(str(used.date[0])):
            return False
        refuse_far_ahead(used.day, ratings.latest(ratings.last_date()))
        keys = rater._slots.met(used)
        rows = store.rows(keys, lock=True)
        last = self._last_place() if moves or entry.rank is not None else None
        if any(row.last > first for row in rows.values()):
            return False
        numbers = database.numbers(len(entry.fresh), ratings.ledger.table)
        rank = numbers[0] if entry.rank is None else entry.rank
        if last is not None and ratings.ledger.first_place(entry, rank) < last:
            return False
        ratings.ledger.write(entry, rank, numbers)
        if any(key not in rows and rater._slots.has(key) for key in keys):
            rater = copy.deepcopy(ratings.blank)  # somebody who is new to the book is new to the rater
        with in_book(database.name):
            rater._slots.take_shared(shared, None)
            rater._slots.take(rows.values())
        rater._resets_done = len(ratings.resets)
        carry_on(rater, used)
        database.many(UPSERT, written([row for row in rater._slots.rows(keys) if rows.get(row[:2]) != row]))
        self._live = ratings.blank, rater
        if store.save_shared(rater._slots.shared(), shared) and not everybody:
            raise _EverybodyError
        return True

    def _last_place(self) -> Place | None:
        row = self.database.one(
            f"SELECT CAST(date AS TEXT), rank, place FROM {self.ratings.ledger.table} ORDER BY date DESC, rank DESC, "
            "place DESC LIMIT 1"
        )  # fmt: skip
        return None if row is None else Place(*row)

    def is_large(self) -> bool:
        """Whether the book holds so much that others would wait while it is rated again."""
        sql = f"SELECT 1 FROM {self.ratings.ledger.table} LIMIT 1 OFFSET {LARGE}"
        return self.database.one(sql) is not None

    def _is_left(self) -> bool:
        """Whether what concerns all of the book is left to another process."""
        return self.beside is not None and self.is_large()

    def remove(self, ids: list[str]) -> int:
        """Take matches out, and rate those after them again."""
        if self._is_left():
            return self.beside("remove", ids)
        return self.attempt(lambda: self._take_out(ids), everybody=True)

    def _take_out(self, ids: list[str]) -> int:
        """Take matches out, inside a transaction, and rate those after them again."""
        ratings = self.ratings
        ratings.keep_up()
        days = ratings.ledger.held(ids)
        missing = [name for name in ids if name not in days]
        if missing:
            raise InputError(
                f"The rating book {self.database.name} holds no match {missing[0]!r}; nothing was taken out."
            )
        ratings.ledger.remove(ids)
        forget(self.database, ids)
        self.rate_again(min(days.values()))
        return len(days)

    # Checkpoints, and rating again

    def _checkpoint_due(self, day: str) -> bool:
        """Whether a day begins after so many matches that the state before it is to be kept."""
        ratings = self.ratings
        if day <= ratings.checked_day:
            return False
        last = ratings.last_date()
        if last is None or day <= last:
            ratings.checked_day = last or ""
            return False
        since = self.database.one("SELECT CAST(MAX(date) AS TEXT) FROM checkpoint")[0] or "0001-01-01"
        many = self.database.one(
            f"SELECT COUNT(*) FROM (SELECT 1 FROM {ratings.ledger.table} WHERE date >= ? LIMIT {EVERY}) AS few",
            (since,),
        )[0]
        if many >= EVERY:
            return True
        ratings.checked_day = day
        return False

    def rate_again(self, day: str) -> None:
        """Rate all matches from a day on again, from the last checkpoint before it; what was not reached stays."""
        self.database.run("DELETE FROM checkpoint WHERE date > ?", (day,))
        rater, since, before = self.state_before(day)
        matches = self.ratings.ledger.read(since=since)
        if matches is not None:
            self._carry_in_pieces(rater, matches, before)
            return
        self.save(rater)

    def state_before(self, day: str) -> tuple[Any, str | None, int]:
        """A rater from the last checkpoint on or before a day, the day before which it stands (none: before any
        match), and how many matches it has seen.
        """
        database, ratings = self.database, self.ratings
        begin = database.one(
            "SELECT number, CAST(date AS TEXT), matches FROM checkpoint WHERE date <= ? ORDER BY date DESC LIMIT 1",
            (day,),
        )
        if begin is None:
            return copy.deepcopy(ratings.blank), None, 0
        rater = restored(database, ratings.blank, begin[0])
        if ratings.resets:
            first = int(read_day(begin[1]).astype(np.int64))
            rater._resets_done = sum(one.day <= first for one in ratings.resets)
        return rater, *begin[1:]

    def save(self, rater: Any) -> None:
        """Write what a rater knows that has used all matches of the book, where that has changed."""
        total = self.database.one(f"SELECT COUNT(*) FROM {self.ratings.ledger.table}")[0]
        if total:
            begin_seasons(rater, LAST_DAY)
        self.ratings.store.save(rater, total)
        self._live = (None, None)

    def _carry_in_pieces(self, rater: Any, matches: Any, before: int | None = None) -> None:
        """Let a rater use matches that stand in the book, keep checkpoints between days, and write what changed."""
        database, table = self.database, self.ratings.ledger.table
        total = database.one(f"SELECT COUNT(*) FROM {table}")[0]
        done = total - len(matches) if before is None else before
        checkpoint = database.one("SELECT MAX(matches) FROM checkpoint WHERE date IS NOT NULL")[0] or 0
        starts = (np.flatnonzero(np.diff(matches.day)) + 1).tolist()
        # The first day begins with these matches unless the book holds others on it, which come before them.
        held = database.one(f"SELECT COUNT(*) FROM {table} WHERE date = ?", (str(matches.date[0]),))[0]
        if held == int(np.sum(matches.date == matches.date[0])):
            starts = [0, *starts]
        at = 0
        for start in starts:
            if done + start - checkpoint < EVERY:
                continue
            if start > at:
                carry_on(rater, matches[at:start])
            begin_seasons(rater, int(matches.day[start]))
            at, checkpoint = start, done + start
            save_state(database, None, rater, str(matches.date[start]), checkpoint)
        carry_on(rater, matches[at:] if at else matches)
        # Keep few checkpoints: all of the last ones, and of earlier ones fewer the longer ago they were.
        rows = database.rows("SELECT number FROM checkpoint WHERE date IS NOT NULL ORDER BY number")
        numbers = [number for (number,) in rows]
        gone = [(n,) for n in numbers if numbers[-1] - n > 2 * (n & -n) + 2]
        database.many("DELETE FROM checkpoint WHERE number = ?", gone)
        self.save(rater)
