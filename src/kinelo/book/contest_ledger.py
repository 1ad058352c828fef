"""Which contests a book holds, and what a table that is handed to it adds: each known by its name.

A contest under a known name that says something else now replaces what the book held, at the place it has, unless it is
more than a month away: names of contests return from season to season. Contests stand in order of date; those of one
day in the order of their table, tables in order of arrival.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from kinelo.book.database import Database
from kinelo.book.match_ledger import Entry, Place
from kinelo.book.schema import in_book, plain_json, read_json
from kinelo.errors import InputError
from kinelo.matches.contest_rows import SAME_CONTEST
from kinelo.matches.contests import ENDINGS, Contests, Slots, check_contests
from kinelo.matches.dated import EARLIEST, LATEST
from kinelo.model.validation import LARGEST

CONTEST = ("contest_id", "name", "date", "weight", "title", "kinds", "rank", "place")
ENTRY = ("contest_id", "number", "entrant", "place", "ended", "distance", "slots")
ASKED = ", ".join(name if name != "date" else "CAST(date AS TEXT)" for name in CONTEST)
INSERT_ENTRY = f"INSERT INTO entry ({', '.join(ENTRY)}) VALUES ({', '.join('?' * len(ENTRY))})"
Row = dict[str, Any]
"""A contest of a book: the columns of ``contest``, and ``entries``, a tuple for each with the columns of ``entry`` from
the third on, slots as lists of names by kind."""


def contests_to_rows(contests: Contests) -> list[Row]:
    """A row for each contest; ranks come later."""
    whole = contests if contests.source is None else contests.source
    place = {name: k for k, name in enumerate(whole.identifiers, 1)}
    came = np.full(contests.place.size, np.nan) if contests.distance is None else contests.distance
    kinds = [[kind, slots.advantage] for kind, slots in contests.slots.items()]
    members = [_members(held) for held in contests.slots.values()]
    rows = []
    for c in range(len(contests)):
        entries = [
            (
                contests.entrants[contests.entrant[e]],
                float(contests.place[e]),
                int(contests.ended[e]),
                None if math.isnan(came[e]) else float(came[e]),
                [one[e] for one in members],
            )
            for e in range(int(contests.first[c]), int(contests.first[c + 1]))
        ]
        name = contests.identifiers[c]
        rows.append({
            "contest_id": name, "name": name.rsplit(" on ", 1)[0], "date": str(contests.date[c]),
            "weight": float(contests.weight[c]), "title": None if contests.titles is None else contests.titles[c],
            "kinds": kinds, "rank": None, "place": place.get(name, c + 1), "entries": entries,
        })  # fmt: skip
    return rows


def _members(held: Slots) -> list[list[Any]]:
    """Names of every entry, each with the time it played where the contests say that."""
    if held.minutes is None:
        return [[held.names[code] for code in row if code >= 0] for row in held.codes.tolist()]
    return [
        [held.names[code] if math.isnan(time) else [held.names[code], time] for code, time in zip(*row) if code >= 0]
        for row in zip(held.codes.tolist(), held.minutes.tolist())
    ]


def rows_to_contests(rows: Sequence[Row]) -> Contests:
    """Contests as a book holds them."""
    entries = [entry for row in rows for entry in row["entries"]]
    names = tuple(dict.fromkeys(entry[0] for entry in entries))
    code = {name: k for k, name in enumerate(names)}
    held = {}
    for number, (kind, advantage) in enumerate(rows[0]["kinds"]):
        members = [entry[4][number] for entry in entries]
        names_of = [[name if isinstance(name, str) else name[0] for name in one] for one in members]
        known = tuple(dict.fromkeys(name for one in names_of for name in one))
        index = {name: k for k, name in enumerate(known)}
        codes = np.full((len(members), max(1, *map(len, members))), -1, np.int32)
        minutes = np.full(codes.shape, math.nan)
        for k, one in enumerate(names_of):
            codes[k, : len(one)] = [index[name] for name in one]
            minutes[k, : len(one)] = [math.nan if isinstance(name, str) else name[1] for name in members[k]]
        held[kind] = Slots(codes, known, advantage, None if np.isnan(minutes).all() else minutes)
    came = np.array([math.nan if entry[3] is None else entry[3] for entry in entries])
    titles = tuple(row["contest_id"] if row["title"] is None else row["title"] for row in rows)
    return Contests(
        np.array([row["date"] for row in rows], "datetime64[D]"),
        np.append(0, np.cumsum([len(row["entries"]) for row in rows])).astype(np.int64),
        np.array([code[entry[0]] for entry in entries], np.int32),
        names,
        np.array([entry[1] for entry in entries]),
        np.array([entry[2] for entry in entries], np.int8),
        held,
        np.array([row["weight"] for row in rows]),
        np.arange(1, len(entries) + 1),
        tuple(row["contest_id"] for row in rows),
        distance=None if np.isnan(came).all() else came,
        titles=None if all(row["title"] is None for row in rows) else titles,
    )


def check_row(row: Row) -> None:
    """Refuse a row that holds what no contest is."""
    kinds, entries = row["kinds"], row["entries"]
    texts = isinstance(row["contest_id"], str) and isinstance(row["title"], str | None)
    weight = isinstance(row["weight"], float) and 0.0 <= row["weight"] <= LARGEST
    try:
        day = EARLIEST.item() <= date.fromisoformat(row["date"]) < LATEST.item()
    except (ValueError, TypeError):
        day = False
    listed = isinstance(kinds, list) and bool(kinds) and all(
        isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], bool)
        for one in kinds
    )  # fmt: skip
    if not (texts and weight and day and listed and len({kind for kind, _ in kinds}) == len(kinds)):
        raise InputError("A row of the table contest holds what no contest is.")
    several = len(entries) > 1 and len({entry[0] for entry in entries}) == len(entries)
    if not several or not all(_is_entry(entry, len(kinds)) for entry in entries):
        raise InputError(f"The entries of the contest {row['contest_id']!r:.60} are none of a contest.")


def _is_entry(entry: Sequence[Any], kinds: int) -> bool:
    name, place, ended, came, slots = entry
    numbers = isinstance(place, float) and math.isfinite(place) and place > 0.0 and type(ended) is int
    if not (isinstance(name, str) and numbers and 0 <= ended < len(ENDINGS)):
        return False
    if came is not None and not (isinstance(came, float) and 0.0 <= came <= 1.0):
        return False

    def is_member(member: Any) -> bool:
        """A name, or one with the time played."""
        pair = isinstance(member, list) and len(member) == 2 and isinstance(member[0], str)
        timed = pair and isinstance(member[1], float) and 0.0 <= member[1] <= LARGEST
        return isinstance(member, str) or timed

    return isinstance(slots, list) and len(slots) == kinds and all(
        isinstance(one, list) and all(map(is_member, one))
        and len({member if isinstance(member, str) else member[0] for member in one}) == len(one)
        for one in slots
    ) and len(slots[0]) > 0  # fmt: skip


class ContestLedger:
    """The contests of a book: what a table adds to them, and how they are written and read."""

    noun, table, column = "contests", "contest", "contest_id"

    def __init__(self, database: Database) -> None:
        self.database = database

    # Reading

    def read(self, since: str | None = None, before: str | None = None) -> Contests | None:
        """All contests in order, or those from a day on and before another; None where there are none."""
        bounds = [(word, day) for word, day in ((">=", since), ("<", before)) if day is not None]
        where = " AND ".join(f"date {word} ?" for word, _ in bounds) or "1 = 1"
        rows = self._rows(where, [day for _, day in bounds])
        return rows_to_contests(rows) if rows else None

    def _rows(self, where: str, values: Sequence[Any]) -> list[Row]:
        """Contests with their entries, in order, checked."""
        db = self.database
        held = {}
        for columns in db.rows(f"SELECT {ASKED} FROM contest WHERE {where} ORDER BY date, rank, place", values):
            row = dict(zip(CONTEST, columns))
            held[row["contest_id"]] = row | {"kinds": read_json(row["kinds"], db.name), "entries": []}
        asked = ", ".join(ENTRY)
        entries = db.rows(
            f"SELECT {asked} FROM entry WHERE contest_id IN (SELECT contest_id FROM contest WHERE {where}) "
            "ORDER BY contest_id, number", values
        )  # fmt: skip
        with in_book(db.name):
            for contest_id, _, entrant, place, ended, came, slots in entries:
                if contest_id in held:
                    held[contest_id]["entries"].append((entrant, place, ended, came, read_json(slots)))
            for row in held.values():
                check_row(row)
            if len({plain_json(row["kinds"]) for row in held.values()}) > 1:
                raise InputError("Two contests of the table contest rate other kinds.")
        return list(held.values())

    def as_of(self, where: str, values: Sequence[Any], name: str = "", former: Any = None) -> Contests | None:
        """Some of the contests in order, one of them in the place of another of its name where that is given."""
        rows = self._rows(where, values)
        if former is not None:
            check_row(former)
            rows = [row for row in rows if row["contest_id"] != name] + [former]
            rows.sort(key=lambda row: (row["date"], row["rank"], row["place"]))
        return rows_to_contests(rows) if rows else None

    def ids(self, rows: Sequence[Row]) -> list[str]:
        """Names of rows of an entry."""
        return [row["contest_id"] for row in rows]

    def rows_of(self, ids: Sequence[str]) -> dict[str, Row]:
        """What the book holds under some names, to be kept as JSON."""
        listed = self.database.listed(list(ids))
        return {row["contest_id"]: row for row in self._rows(self.database.among("contest_id"), (listed,))}

    def held(self, ids: list[str]) -> dict[str, str]:
        """Days of those of some names that the book holds."""
        sql = f"SELECT contest_id, CAST(date AS TEXT) FROM contest WHERE {self.database.among('contest_id')}"
        return dict(self.database.rows(sql, (self.database.listed(ids),)))

    # Writing

    def write(self, entry: Entry, rank: int, numbers: Sequence[int]) -> None:
        """Write what a table adds; ``rank`` is that of the table, ``numbers`` are those of the new rows."""
        db = self.database
        if entry.source and entry.fresh:
            db.run("INSERT INTO source (digest, rank, named) VALUES (?, ?, 1) ON CONFLICT DO NOTHING",
                   (entry.source, rank))  # fmt: skip
        gone = [row["contest_id"] for row in entry.changed]
        if gone:
            db.run(f"DELETE FROM entry WHERE {db.among('contest_id')}", (db.listed(gone),))
            columns = ", ".join(f"{name} = ?" for name in CONTEST[1:])
            db.many(f"UPDATE contest SET {columns} WHERE contest_id = ?",
                    [(*_columns(row)[1:], row["contest_id"]) for row in entry.changed])  # fmt: skip
        if entry.fresh:
            marks = ", ".join("?" * (len(CONTEST) + 1))
            db.many(f"INSERT INTO contest (number, {', '.join(CONTEST)}) VALUES ({marks})",
                    [(one, *_columns(row | {"rank": rank})) for one, row in zip(numbers, entry.fresh)])  # fmt: skip
        db.many(INSERT_ENTRY, [
            (row["contest_id"], k, *entry[:4], plain_json(entry[4]))
            for row in (*entry.fresh, *entry.changed) for k, entry in enumerate(row["entries"])
        ])  # fmt: skip

    def remove(self, ids: list[str]) -> None:
        """Take contests out."""
        for table in ("entry", "contest"):
            self.database.run(f"DELETE FROM {table} WHERE {self.database.among('contest_id')}",
                              (self.database.listed(ids),))  # fmt: skip

    def used(self, entry: Entry) -> Contests:
        """The new contests of a table, in order."""
        return rows_to_contests(entry.fresh)

    def first_place(self, entry: Entry, rank: int) -> Place:
        """Where the first of the new contests stands."""
        return Place(entry.fresh[0]["date"], rank, entry.fresh[0]["place"])

    # What a table adds

    def check(self, matches: object) -> None:
        """Refuse anything but contests with places."""
        check_contests(matches)
        if np.isnan(matches.place).any():  # type: ignore[attr-defined]
            raise InputError("A match without a result cannot enter a rating book; read it with played=True.")

    def enter(self, contests: Contests, *, alone: bool = False) -> Entry:
        """What a table would add; nothing is changed yet."""
        if len(set(contests.identifiers)) < len(contests):
            raise InputError("Two of these contests have one name; give each its own, or add a column of seasons.")
        kinds = self.database.one("SELECT kinds FROM contest LIMIT 1")
        kinds = contests.kinds if kinds is None else tuple(kind for kind, _ in read_json(kinds[0], self.database.name))
        if kinds != contests.kinds:
            raise InputError(
                f"The book rates {', '.join(kinds)}, these contests {', '.join(contests.kinds)}; "
                "read them with the same slots=."
            )
        # Contests of the book under these names; those known by name and day stand under both.
        names = sorted({part for name in contests.identifiers for part in (name, name.rsplit(" on ", 1)[0])})
        listed, held = self.database.listed(names), {}
        where = f"({self.database.among('contest_id')} OR {self.database.among('name')})"
        for row in self._rows(where, (listed, listed)):
            for name in {row["contest_id"], row["name"]}:
                held.setdefault(name, []).append(row)
        rows = contests_to_rows(contests)
        rank = self.database.one("SELECT rank FROM source WHERE digest = ?", (contests.source_digest,))
        fresh, changed, counted_before, first, renamed = [], [], 0, "", []
        for row in rows:
            old = _same_contest(row, held)
            if old is None:
                if row["contest_id"] in held:
                    renamed.append(f"{row['contest_id']} of {row['date']}")
                    row["contest_id"] = f"{row['contest_id']} on {row['date']}"
                fresh.append(row)
                continue
            row |= {name: old[name] for name in ("contest_id", "name", "rank", "place")}  # a contest keeps its place
            if contests.titles is None:  # a column that is not there says nothing
                row["title"] = old["title"]
            if contests.distance is None:
                came = {entry[0]: entry[3] for entry in old["entries"]}
                row["entries"] = [(*entry[:3], came.get(entry[0]), entry[4]) for entry in row["entries"]]
            if old == row:
                counted_before += 1
                continue
            changed.append(row)
            first = min(filter(None, (first, old["date"], row["date"])))
        fresh.sort(key=lambda row: (row["date"], row["place"]))
        return Entry(
            fresh, changed, counted_before, contests.source_digest, None if rank is None else rank[0], first,
            renamed=tuple(renamed),
        )  # fmt: skip


def _columns(row: Row) -> tuple[Any, ...]:
    return tuple(plain_json(row[name]) if name == "kinds" else row[name] for name in CONTEST)


def _same_contest(row: Row, held: Mapping[str, list[Row]]) -> Row | None:
    """The contest of a book that a row speaks of: that of its name, not more than a month away.

    Names that return are known by their day too, in a book and in a file of several seasons.
    """
    name, day = row["contest_id"], date.fromisoformat(row["date"])

    def away(one: Row) -> Any:
        return abs(date.fromisoformat(one["date"]) - day)

    near = [one for one in held.get(name, ()) if away(one) <= SAME_CONTEST.item()]
    plain = name.removesuffix(f" on {row['date']}")
    if not near and plain != name:
        near = [one for one in held.get(plain, ()) if one["contest_id"] == plain and one["date"] == row["date"]]
    return min(near, key=away, default=None)
