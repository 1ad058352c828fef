"""One match counted in as few steps as that takes: the way of a service that sends matches as they end.

A match is counted alone where it is new and comes after all that its sides have played, so that nothing but their two
rows, and what all share, is read and written. Whatever else it may be is left to the general way (:class:`Otherwise`).
"""

from __future__ import annotations

import copy
import math
from typing import Any

from kinelo.book.database import Database
from kinelo.book.rows import SCHEMA, plain_json, read_json
from kinelo.book.state import AWAITED, READ, RESERVE, UPSERT, in_book, slot_row
from kinelo.raters.one_match import OneResult
from kinelo.raters.sides import SIDE, SideRater
from kinelo.raters.slots import Key, SlotRow

ASK = (
    "SELECT EXISTS (SELECT 1 FROM match WHERE match_id = ?), EXISTS (SELECT 1 FROM source WHERE named = 0), "
    "(SELECT value FROM common WHERE name = 'common')"
)
SIDES = f"{READ} WHERE kind = '{SIDE}' AND name IN (?, ?) ORDER BY name"
WRITTEN = [name for name in SCHEMA if name != "rank"]
MARKS = ", ".join("?" * len(WRITTEN))


class Otherwise(Exception):
    """A match is not one that can be counted alone."""


class OneByOne:
    """Counts matches alone, with a rater that knows those whom it has met."""

    def __init__(self, database: Database, blank: SideRater) -> None:
        self.database, self.blank, self.moves = database, blank, blank.shared_moves(None)
        columns = ", ".join(WRITTEN)
        self.insert = (
            f"INSERT INTO match (number, {columns}, rank) SELECT new.number, {MARKS}, new.number "
            f"FROM (SELECT {database.next_number.format(table='match')} AS number) AS new"
        )
        self.sides = SIDES + database.for_update
        self.forget()

    def forget(self) -> None:
        """Know nobody; the next match begins from what the book holds."""
        self.rater: Any = None
        self.known: dict[Key, tuple] = {}
        self.text = ""
        self.common: list[float] = []

    def count(self, name: str, one: OneResult, day: tuple[int, str]) -> None:
        """Write a match on a day (its number, and as text) and the rows of its sides, inside a transaction."""
        first, date = day
        held, nameless, text = self.database.one(ASK, (name,))
        if held or nameless or text is None:
            raise Otherwise
        keys = [(SIDE, one.home), (SIDE, one.away)]
        rows = self._rows(keys)
        if any(row[5] > first for row in rows.values()):
            raise Otherwise
        self._catch_up(keys, rows, text)
        margin = None if math.isnan(one.margin) else float(one.margin)
        self.database.run(self.insert, (
            name, date, one.home, one.away, 0.5 + 0.5 * one.signed, margin, int(one.neutral), float(one.weight),
            None, None, 1, None,
        ))  # fmt: skip
        self.rater.use_alone(one)
        self._write(keys, rows)

    def _rows(self, keys: list[Key]) -> dict[Key, tuple]:
        """Rows of both sides as the book holds them; locked, and reserved where they are new."""
        database, names = self.database, (keys[0][1], keys[1][1])
        rows = database.rows(self.sides, names)
        if len(rows) < 2 and database.for_update:
            database.many(RESERVE, [(SIDE, name, AWAITED) for name in sorted(set(names) - {row[1] for row in rows})])
            rows = database.rows(self.sides, names)
        return {(row[0], row[1]): row for row in rows if row[6] != AWAITED}

    def _catch_up(self, keys: list[Key], rows: dict[Key, tuple], text: str) -> None:
        """Let the rater know what the book holds of both sides, and what all share, where that is news."""
        rater = self.rater
        if rater is None or any(key not in rows and rater.has_slot(key) for key in keys):
            self.forget()
            rater = self.rater = copy.deepcopy(self.blank)
        news = [row for key, row in rows.items() if self.known.get(key) != row]
        if not news and text == self.text:
            return
        with in_book(self.database.name):
            if text != self.text:
                rater.take_shared({"common": read_json(text)}, None)
                self.text, self.common = text, rater.shared()["common"]
            rater.take_slots([slot_row(row) for row in news])

    def _write(self, keys: list[Key], rows: dict[Key, tuple]) -> None:
        """Write both rows, and what all share where it has moved."""
        values = []
        for row in self.rater.slot_rows(keys):
            kept = _kept(row)
            self.known[row[:2]] = kept
            if rows.get(row[:2]) != kept:
                values.append((*kept[:4], math.sqrt(row.variance), *kept[4:]))
        self.database.many(UPSERT, values)
        common = self.rater.shared()["common"]
        if common != self.common:
            if not self.moves:
                self.forget()
                raise Otherwise
            self.text, self.common = plain_json(common), common
            self.database.run("UPDATE common SET value = ? WHERE name = 'common'", (self.text,))


def _kept(row: SlotRow) -> tuple:
    """A row as the database gives it back."""
    return (*row[:6], None if row.more is None else plain_json(row.more))
