"""One match or contest counted in as few steps as that takes: the way of a service that sends them as they end.

It is counted alone where it is new and comes after all that those who take part have played, so that nothing but their
rows, and what all share, is read and written. Whatever else it may be is left to the general way (:class:`Otherwise`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

from kinelo.book.contests import CONTEST, INSERT_ENTRY
from kinelo.book.database import Database
from kinelo.book.rows import SCHEMA, plain_json, read_json
from kinelo.book.state import AWAITED, READ, RESERVE, UPSERT, in_book, slot_rows, written
from kinelo.raters.one_match import OneResult
from kinelo.raters.sides import SIDE, SideRater
from kinelo.raters.slots import SlotRow
from kinelo.raters.two_rows import TwoRows

WRITTEN = [name for name in SCHEMA if name != "rank"]
LISTED = [name for name in CONTEST if name != "rank"]
MOST_KNOWN = 200_000
"""Rows beyond which what is known of them is forgotten."""


class Otherwise(Exception):
    """A match is not one that can be counted alone."""


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
            "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM source WHERE named = 0 LIMIT 1) AS nameless), "
            f"{texts}(SELECT CAST(MAX(date) AS TEXT) FROM {table})"
        )
        """Whether some matches have no identifier, what all share, and the last day."""
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

    def begin(self) -> str:
        """Learn in a transaction what the book says, where others have written since; its last day."""
        answer = self.database.answer
        if answer is not None or self.said is None:
            self.said = answer or self.database.one(self.question)
            self.known.clear()
        if self.said[1] is None:
            raise Otherwise
        if self.texts != self.said[1:-1]:
            with in_book(self.database.name):
                kept = zip(self.shared, self.said[1:-1])
                self.take({name: read_json(text) for name, text in kept if text is not None})
            self.texts = self.said[1:-1]
        return self.said[-1] or ""

    def take(self, shared: dict[str, Any]) -> None:
        """Take over what all share."""
        raise NotImplementedError

    def rows(self, names: Sequence[str], first: int) -> list[SlotRow | None]:
        """Rows as the book holds them, None of a newcomer; locked, and reserved where they are new.

        None of them may have played after the day ``first``.
        """
        known = self.known
        found: list[SlotRow | None]
        try:
            found = [known[name] for name in names]
        except KeyError:
            found = self._read(names)
        for row in found:
            if row is not None and row.last > first:
                raise Otherwise
        return found

    def _read(self, names: Sequence[str]) -> list[SlotRow | None]:
        database, kind = self.database, self.kind
        sql = _rows_of(len(names)) + database.for_update
        rows = database.rows(sql, (kind, *names))
        if len(rows) < len(names) and database.for_update:
            database.many(RESERVE, [(kind, name, AWAITED) for name in sorted(set(names) - {row[1] for row in rows})])
            rows = database.rows(sql, (kind, *names))
        found = {row.name: row for row in slot_rows(rows, database.name)}
        return [found.get(name) for name in names]

    def note(self, rows: Sequence[SlotRow], date: str) -> None:
        """Know rows that were written, and the day of the match."""
        if len(self.known) > MOST_KNOWN:
            self.known.clear()
        self.known.update((row.name, row) for row in rows)
        self.said = (self.said[0], *self.texts, max(date, self.said[-1] or ""))


@lru_cache(256)
def _rows_of(count: int) -> str:
    """The question for so many rows of one kind, in the order in which they are locked."""
    return f"{READ} WHERE kind = ? AND name IN ({', '.join('?' * count)}) ORDER BY name"


class OneByOne(Alone):
    """Counts matches of two sides alone."""

    def __init__(self, database: Database, blank: SideRater) -> None:
        super().__init__(database, "match", WRITTEN, ("common",))
        self.moves, self.pair, self.insert = blank.slots.moves_shared(None), TwoRows(blank), self.insert.format("TRUE")

    def take(self, shared: dict[str, Any]) -> None:
        """Take over the numbers that all share."""
        self.pair.common = shared["common"]
        self.common = self.pair.common

    def count(self, name: str, one: OneResult, day: tuple[int, str]) -> None:
        """Write a match on a day (its number, and as text) and the rows of its sides, inside a transaction."""
        first, date = day
        before = self.rows((one.home, one.away), first)
        # On the last day of both it may be a match that the book holds without an identifier; undated ones are not.
        if self.said[0] and first and all(row is not None and row.last == first for row in before):
            raise Otherwise
        rows = self.pair.use(one, first, before)
        margin = None if math.isnan(one.margin) else float(one.margin)
        match = (name, date, one.home, one.away, 0.5 + 0.5 * one.signed, margin, int(one.neutral), float(one.weight),
                 None, None, 1, None)  # fmt: skip
        common = self.pair.common
        moved = common != self.common
        if not self.database.entered(self.insert, match, UPSERT, written(rows)) or (moved and not self.moves):
            self.forget()
            raise Otherwise
        if moved:
            self.texts, self.common = (plain_json(common),), common
            self.database.run("UPDATE common SET value = ? WHERE name = 'common'", self.texts)
        self.note(rows, date)


class OneContestByOne(Alone):
    """Counts plain contests alone: of one kind, with an order or ranks, and nothing else said of them."""

    def __init__(self, database: Database, blank: Any) -> None:
        shared = ("kinds", "advantages", "parameters", "contests")
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

    def count(self, name: str, said: tuple[Any, Any], day: tuple[int, str]) -> None:
        """Write a contest (order and ranks) on a day, its entries, and the rows of those who take part."""
        first, date = day
        field = self.field_rows.field(*said)
        if field is None or first <= 0 or " on " in name:
            raise Otherwise
        rows = self.field_rows.use(field, first, self.rows(field.names, first))
        contest = (name, name, date, 1.0, None, plain_json([[self.kind, False]]), 1, name)
        entries = [
            (name, k, label, place, 0, None, plain_json([names]))
            for k, (label, place, names) in enumerate(self.field_rows.entries(field))
        ]
        # PostgreSQL carries out both even where the contest is there already; then nothing of it is kept.
        if not self.database.entered(self.insert, contest, f"{INSERT_ENTRY} ON CONFLICT DO NOTHING", entries):
            raise Otherwise
        self.database.many(UPSERT, written(rows))
        self.note(rows, date)
