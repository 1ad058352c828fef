"""One match counted in as few steps as that takes: the way of a service that sends matches as they end.

A match is counted alone where it is new and comes after all that its sides have played, so that nothing but their two
rows, and what all share, is read and written. Whatever else it may be is left to the general way (:class:`Otherwise`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kinelo.book.database import Database
from kinelo.book.rows import SCHEMA, plain_json, read_json
from kinelo.book.state import AWAITED, READ, RESERVE, UPSERT, in_book, slot_row, written
from kinelo.raters.one_match import OneResult
from kinelo.raters.sides import SIDE, SideRater
from kinelo.raters.slots import SlotRow, check_rows
from kinelo.raters.two_rows import TwoRows

SAID = (
    "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM source WHERE named = 0 LIMIT 1) AS nameless), "
    "(SELECT value FROM common WHERE name = 'common'), (SELECT CAST(MAX(date) AS TEXT) FROM match)"
)
"""What a match needs to know of the book: whether some have no identifier, what all share, and its last day."""
SIDES = f"{READ} WHERE kind = '{SIDE}' AND name IN (?, ?) ORDER BY name"
WRITTEN = [name for name in SCHEMA if name != "rank"]
MARKS = ", ".join("?" * len(WRITTEN))
MOST_KNOWN = 200_000
"""Sides beyond which what is known of them is forgotten."""


class Otherwise(Exception):
    """A match is not one that can be counted alone."""


class OneByOne:
    """Counts matches alone.

    ``known`` are rows of sides as they stand in the book: as long as nobody else writes they need not be read again.
    """

    def __init__(self, database: Database, blank: SideRater) -> None:
        self.database, self.moves = database, blank.shared_moves(None)
        self.pair = TwoRows(blank)
        columns = ", ".join(WRITTEN)
        self.insert = (
            f"INSERT INTO match (number, {columns}, rank) SELECT new.number, {MARKS}, new.number "
            f"FROM (SELECT {database.next_number.format(table='match')} AS number) AS new WHERE TRUE "
            "ON CONFLICT DO NOTHING"
        )
        self.sides = SIDES + database.for_update
        self.forget()

    def forget(self) -> None:
        """Know nothing; the next match begins from what the book holds."""
        self.known: dict[str, SlotRow] = {}
        self.said: Any = None
        self.text = ""
        self.common: list[float] = []

    def begin(self) -> str:
        """Learn in a transaction what the book says, where others have written since; its last day."""
        answer = self.database.answer
        if answer is not None or self.said is None:
            self.said = answer or self.database.one(SAID)
            self.known.clear()
        nameless, text, last = self.said
        if nameless or text is None:
            raise Otherwise
        return last or ""

    def count(self, name: str, one: OneResult, day: tuple[int, str]) -> None:
        """Write a match on a day (its number, and as text) and the rows of its sides, inside a transaction."""
        first, date = day
        rows = self._rows(one.home, one.away)
        for row in rows:
            if row is not None and row.last > first:
                raise Otherwise
        text = self.said[1]
        if text != self.text:
            with in_book(self.database.name):
                self.pair.common = read_json(text)
            self.text, self.common = text, self.pair.common
        margin = None if math.isnan(one.margin) else float(one.margin)
        match = (name, date, one.home, one.away, 0.5 + 0.5 * one.signed, margin, int(one.neutral), float(one.weight),
                 None, None, 1, None)  # fmt: skip
        self._write(match, self.pair.use(one, rows))
        self.said = (0, self.text, max(date, self.said[2] or ""))

    def _rows(self, *names: str) -> list[SlotRow | None]:
        """Rows of both sides as the book holds them, None of a newcomer; locked, and reserved where they are new."""
        known = self.known
        if names[0] in known and names[1] in known:
            return [known[name] for name in names]
        database = self.database
        rows = database.rows(self.sides, names)
        if len(rows) < 2 and database.for_update:
            database.many(RESERVE, [(SIDE, name, AWAITED) for name in sorted(set(names) - {row[1] for row in rows})])
            rows = database.rows(self.sides, names)
        with in_book(database.name):
            found = {row[1]: slot_row(row) for row in rows if row[6] != AWAITED}
            check_rows(found.values())
        return [found.get(name) for name in names]

    def _write(self, match: tuple, rows: Sequence[SlotRow]) -> None:
        """Write the match, both rows, and what all share where it has moved."""
        if len(self.known) > MOST_KNOWN:
            self.known.clear()
        self.known.update((row.name, row) for row in rows)
        common = self.pair.common
        moved = common != self.common
        if not self.database.entered(self.insert, match, UPSERT, written(rows)) or (moved and not self.moves):
            self.forget()
            raise Otherwise
        if moved:
            self.text, self.common = plain_json(common), common
            self.database.run("UPDATE common SET value = ? WHERE name = 'common'", (self.text,))
