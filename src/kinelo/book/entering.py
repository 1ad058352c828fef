"""Which matches a book holds, and what a table that is handed to it adds.

A match is known by its identifier. Where a table has none, it is known by the fingerprint of the table and its row: the
same table sent again is recognised, and so is one that has grown at its end (its first rows are, one by one, those of a
table sent before). Anything else that repeats a date and two sides may be the same match or a second one. No rule can
tell them apart, and either guess would change ratings in silence, so it is refused with advice.

Matches stand in order of date; those of one day in the order of their table, tables in order of arrival. A day that
arrives in parts of one table thus ends at the same bits as the day in one piece. A match that is put right keeps its
place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from kinelo.book.database import Database
from kinelo.book.rows import COLUMNS, SCHEMA, frame_to_matches, matches_to_frame, rows_to_frame
from kinelo.errors import InputError
from kinelo.matches.dated import UNDATED
from kinelo.matches.matches import Matches, check_matches

MEETING = ("date", "home", "away")
NAMELESS = pl.col("match_id") == pl.format("{}:{}", pl.col("source").str.head(16), "line")
"""Whether a match is known by its table and row, for want of an identifier."""
CONTENT = ("date", "home", "away", "result", "margin", "neutral", "weight")
INSERT = f"INSERT INTO match (number, {', '.join(SCHEMA)}) VALUES ({', '.join('?' * (len(SCHEMA) + 1))})"


class Place(NamedTuple):
    """Where a match stands in the order of a book."""

    date: str
    rank: int
    place: int


@dataclass
class Entry:
    """What a table adds: rows that are new and rows that replace others, how many were known, and what to say."""

    fresh: Any
    changed: Any
    known: int
    source: str = ""
    rank: int | None = None
    """The number of the table among those that arrived, where it is an earlier one."""
    first_change: str = ""
    split_days: int = 0
    named: Mapping[str, str] = field(default_factory=dict)
    renamed: tuple[str, ...] = ()
    has_ids: bool = True

    @property
    def nothing(self) -> bool:
        """Whether the book stays as it is."""
        return not (len(self.fresh) or len(self.changed) or self.named)


class MatchLedger:
    """The matches of a book: what a table adds to them, and how they are written and read."""

    noun, table, column = "matches", "match", "match_id"

    def __init__(self, database: Database, conditions: Sequence[str] = ()) -> None:
        self.database, self.conditions = database, tuple(conditions)

    # Reading

    def read(self, since: str | None = None, before: str | None = None) -> Matches | None:
        """All matches in order, or those from a day on and before another; None where there are none."""
        sql, values = f"SELECT {COLUMNS} FROM match", []
        bounds = [(word, day) for word, day in ((">=", since), ("<", before)) if day is not None]
        if bounds:
            sql += " WHERE " + " AND ".join(f"date {word} ?" for word, _ in bounds)
            values = [day for _, day in bounds]
        table = self._frame(f"{sql} ORDER BY date, rank, place", values)
        return frame_to_matches(table) if table.height else None

    def _frame(self, sql: str, values: Sequence[Any]) -> pl.DataFrame:
        try:
            return rows_to_frame(self.database.rows(sql, values))
        except InputError as error:
            raise InputError(f"{self.database.name}: {error}") from None

    def as_of(self, where: str, values: Sequence[Any], name: str = "", former: Any = None) -> Matches | None:
        """Some of the matches in order, one of them in the place of another of its name where that is given."""
        table = self._frame(f"SELECT {COLUMNS} FROM match WHERE {where} ORDER BY date, rank, place", values)
        if former is not None:
            old = rows_to_frame([tuple(former)])
            table = pl.concat([table.filter(pl.col("match_id") != name), old]).sort("date", "rank", "place")
        return frame_to_matches(table) if table.height else None

    def ids(self, rows: pl.DataFrame) -> list[str]:
        """Identifiers of rows of an entry."""
        return rows["match_id"].to_list()

    def rows_of(self, ids: Sequence[str]) -> dict[str, list[Any]]:
        """What the book holds under some identifiers, to be kept as JSON."""
        sql = f"SELECT {COLUMNS} FROM match WHERE {self.database.among('match_id')}"
        return {row[0]: list(row) for row in self.database.rows(sql, (self.database.listed(list(ids)),))}

    def held(self, ids: list[str]) -> dict[str, str]:
        """Days of those of some identifiers that the book holds."""
        rows = self.database.rows(f"SELECT match_id, CAST(date AS TEXT) FROM match WHERE "
                                  f"{self.database.among('match_id')}", (self.database.listed(ids),))  # fmt: skip
        return dict(rows)

    # Writing

    def write(self, entry: Entry, rank: int, numbers: Sequence[int]) -> None:
        """Write what a table adds; ``rank`` is that of the table, ``numbers`` are those of the new rows."""
        if entry.source and entry.fresh.height:
            self.database.run("INSERT INTO source (digest, rank, named) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                              (entry.source, rank, int(entry.has_ids)))  # fmt: skip
        for old, new in entry.named.items():
            self.database.run("UPDATE match SET match_id = ? WHERE match_id = ?", (new, old))
        if entry.changed.height:
            columns = ", ".join(f"{name} = ?" for name in SCHEMA if name != "match_id")
            self.database.many(f"UPDATE match SET {columns} WHERE match_id = ?",
                               [(*row[1:], row[0]) for row in entry.changed.iter_rows()])  # fmt: skip
        if entry.fresh.height:
            fresh = entry.fresh.with_columns(rank=pl.lit(rank, pl.Int64))
            self.database.many(INSERT, ((number, *row) for number, row in zip(numbers, fresh.iter_rows())))

    def remove(self, ids: list[str]) -> None:
        """Take matches out."""
        self.database.run(f"DELETE FROM match WHERE {self.database.among('match_id')}", (self.database.listed(ids),))

    def used(self, entry: Entry) -> Matches:
        """The new matches of a table, in order."""
        return frame_to_matches(entry.fresh)

    def first_place(self, entry: Entry, rank: int) -> Place:
        """Where the first of the new matches stands."""
        date, place = entry.fresh.select("date", "place").row(0)
        return Place(date, rank, place)

    # What a table adds

    def check(self, matches: object) -> None:
        """Refuse anything but matches with results."""
        check_matches(matches)
        if np.isnan(matches.result).any():  # type: ignore[attr-defined]
            raise InputError("A match without a result cannot enter a rating book; read it with played=True.")

    def enter(self, matches: Matches, *, alone: bool = False) -> Entry:
        """What a table would add; nothing is changed yet. A match that arrives alone is not one of a table's day."""
        for name in self.conditions:
            if name not in matches.conditions:
                raise InputError(
                    f"The rater of this book uses the condition {name!r}, which was not read; read it with "
                    f"read_matches(..., conditions=[{name!r}])."
                )
        digest = matches.source_digest
        if matches.identifiers is not None:
            ids = matches.identifiers
            if len(twice := ids.filter(ids.is_duplicated())):
                raise InputError(f"The identifier {twice[0]!r} stands for more than one of these matches.")
        rows = matches_to_frame(matches, pl.Series(matches.row.astype(str), dtype=pl.String), self.conditions)
        rank = self.database.one("SELECT rank FROM source WHERE digest = ?", (digest,))
        old = self._concerned(matches, rows)
        ids = matches.identifiers if matches.identifiers is not None else self._ids_by_row(matches, old, rank)
        rows = rows.with_columns(match_id=ids)
        fresh = rows.join(old, on="match_id", how="anti", maintain_order="left")
        lonely = alone and len(matches) == 1 and not matches.day.any()  # one match without a day is no table sent again
        named = {} if matches.identifiers is None or lonely else _named_now(fresh, old)
        if named:
            old = old.with_columns(pl.col("match_id").replace(named))
            fresh = fresh.filter(~pl.col("match_id").is_in(list(named.values())))
        _refuse_doubtful(fresh, old, matches, set(named.values()))
        said = [*CONTENT, *(["lineups"] if matches.lineups is not None else []),
                *(["conditions"] if self.conditions else [])]  # fmt: skip
        changed = _changed(rows, old, said)
        return Entry(
            fresh.sort("date", "place", maintain_order=True),
            changed,
            rows.height - fresh.height - changed.height,
            "" if alone else digest,
            None if rank is None else rank[0],
            _first_day(changed, old) if changed.height else "",
            0 if alone else _split_days(fresh, old, digest),
            named,
            has_ids=matches.identifiers is not None,
        )

    def _concerned(self, matches: Matches, rows: pl.DataFrame) -> pl.DataFrame:
        """Matches of the book that a table may speak of: under its identifiers, of its sides on its days, and those of
        tables without identifiers that reach into them.
        """
        db, columns = self.database, COLUMNS
        days, rows_held = (rows["date"].min(), rows["date"].max()), []
        if matches.identifiers is not None and len(matches):
            rows_held += db.rows(f"SELECT {columns} FROM match WHERE {db.among('match_id')}",
                             (db.listed(matches.identifiers.to_list()),))  # fmt: skip
        if len(matches):
            sides = db.listed(sorted({*rows["home"].to_list(), *rows["away"].to_list()}))
            rows_held += db.rows(
                f"SELECT {columns} FROM match WHERE date BETWEEN ? AND ? AND ({db.among('home')} OR "
                f"{db.among('away')})", (*days, sides, sides)
            )  # fmt: skip
            if ranks := self._nameless_on(*days):
                rows_held += db.rows(f"SELECT {columns} FROM match WHERE {db.among('rank')}", (db.listed(ranks),))
        try:
            table = rows_to_frame(dict.fromkeys(rows_held))
        except InputError as error:
            raise InputError(f"{db.name}: {error}") from None
        sources = pl.DataFrame(
            db.rows(f"SELECT CAST(rank AS BIGINT), CAST(digest AS TEXT) FROM source WHERE {db.among('rank')}",
                    (db.listed(table["rank"].unique().to_list()),)),
            schema={"rank": pl.Int64, "source": pl.String}, orient="row",
        )  # fmt: skip
        joined = table.join(sources, on="rank", how="left", maintain_order="left")
        return joined.with_columns(pl.col("source").fill_null("")).sort("date", "rank", "place")

    def _nameless_on(self, first: object, last: object) -> list[int]:
        """Tables without identifiers that hold matches of some days."""
        if self.database.one("SELECT 1 FROM source WHERE named = 0 LIMIT 1") is None:
            return []
        rows = self.database.rows(
            "SELECT DISTINCT rank FROM match WHERE date BETWEEN ? AND ? AND rank IN (SELECT rank FROM source WHERE "
            "named = 0)", (first, last)
        )  # fmt: skip
        return [rank for (rank,) in rows]

    def _ids_by_row(self, matches: Matches, old: pl.DataFrame, rank: Any) -> pl.Series:
        """Identifiers from fingerprint and row; rows of an earlier table that has grown keep the ones they had."""
        whole = matches if matches.source is None else matches.source
        digest = matches.source_digest
        id_of = {int(row): f"{digest[:16]}:{row}" for row in matches.row}
        grown = _grown_from(whole, old, digest)
        id_of |= {row: name for row, name in grown.items() if row in id_of}
        held = dict(old.filter(pl.col("source") == digest).select("line", "match_id").iter_rows())
        id_of |= {
            row: name for row, name in held.items() if row in id_of
        }  # matches of this table may have got names since
        if not np.any(whole.day):
            repeated = old.filter(pl.col("match_id").is_in(list(id_of.values()))).height if rank else len(grown)
            if repeated:
                raise InputError(
                    f"{repeated} of these matches have neither date nor identifier and are those of a table added "
                    "before: they may be the same or have been played again; give a date or a match_id column."
                )
        return pl.Series("match_id", [id_of[int(row)] for row in matches.row], dtype=pl.String)


def _grown_from(whole: Matches, old: pl.DataFrame, digest: str) -> dict[int, str]:
    """Identifiers by row of those earlier tables that this one repeats row by row."""
    rows = matches_to_frame(whole, pl.Series(whole.row.astype(str), dtype=pl.String)).select("line", *CONTENT)
    id_of: dict[int, str] = {}
    for _, part in old.filter(NAMELESS & (pl.col("source") != digest)).group_by("source", maintain_order=True):
        same = part.select("line", *CONTENT).join(rows, on=["line", *CONTENT], how="semi", nulls_equal=True)
        if same.height == part.height:
            id_of |= dict(part.select("line", "match_id").iter_rows())
    return id_of


def _named_now(fresh: pl.DataFrame, old: pl.DataFrame) -> dict[str, str]:
    """Identifiers that matches held without one get: those of a table that was added before without its column.

    A table is known again where each of its matches meets one row on its day, and most of them say the same.
    """
    named: dict[str, str] = {}
    for _, part in old.filter(NAMELESS).group_by("source", maintain_order=True):
        pairs = part.join(fresh, on=list(MEETING), suffix="_new", nulls_equal=True)
        once = pairs["match_id"].n_unique() == pairs["match_id_new"].n_unique() == pairs.height
        same = [pl.col(name).eq_missing(pl.col(f"{name}_new")) for name in CONTENT if name not in MEETING]
        if once and pairs.height == part.height < 2 * pairs.filter(pl.all_horizontal(same)).height:
            named |= dict(pairs.select("match_id", "match_id_new").iter_rows())
    return named


def _refuse_doubtful(fresh: pl.DataFrame, old: pl.DataFrame, matches: Matches, named: set[str]) -> None:
    """Refuse matches that may be in the book under another name: same day and sides, no identifier."""
    if not fresh.height or not np.any(matches.day):
        return
    others = old if matches.identifiers is None else old.filter(NAMELESS)
    others = others.filter((pl.col("source") != matches.source_digest) & ~pl.col("match_id").is_in(list(named)))
    doubtful = fresh.join(others, on=list(MEETING), how="inner", suffix="_old", maintain_order="left")
    if not doubtful.height:
        return
    row = doubtful.row(0, named=True)
    number = doubtful["match_id"].n_unique()
    meeting = f"{row['home']} - {row['away']} on {row['date']}"
    if matches.identifiers is not None:
        raise InputError(
            f"{number} of {fresh.height} matches meet on the day of a match that the book holds without an "
            f"identifier ({meeting}, held as {row['match_id_old']!r}); they may be the same or second ones: take "
            "out those that are the same (kinelo book BOOK --remove ID, RatingBook.remove) and add the table again."
        )
    raise InputError(
        f"{number} of {fresh.height} matches meet on the day of a match of the book ({meeting}) in a table that is "
        "neither the one sent before nor that one with rows added at its end; without identifiers nobody can tell "
        "a match sent again from a second one: give a match_id column, or add only what is new."
    )


def _changed(rows: pl.DataFrame, old: pl.DataFrame, said: Sequence[str]) -> pl.DataFrame:
    """Rows under known identifiers of which the table says something else now, at the place the match has."""
    both = rows.join(old, on="match_id", suffix="_old", maintain_order="left")
    both = both.filter(pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_old")) for name in said))
    kept = [name for name in SCHEMA if name not in said and name != "match_id"]  # its place, and what is not said
    return both.with_columns(pl.col(f"{name}_old").alias(name) for name in kept).select(*SCHEMA)


def _first_day(changed: pl.DataFrame, old: pl.DataFrame) -> str:
    before = old.join(changed.select("match_id"), on="match_id", how="semi")
    return min(before["date"].min(), changed["date"].min())  # type: ignore[type-var,return-value]


def _split_days(fresh: pl.DataFrame, old: pl.DataFrame, digest: str) -> int:
    """Days on which a side plays in this table and in another: their order is that of arrival.

    Matches without a date count in the order in which they come, and are not meant.
    """
    fresh, others = fresh.filter(pl.col("date") != str(UNDATED)), old.filter(pl.col("source") != digest)
    if not fresh.height or not others.height:
        return 0

    def appearances(table: pl.DataFrame) -> pl.DataFrame:
        return pl.concat([table.select("date", side=name) for name in ("home", "away")])

    return appearances(fresh).join(appearances(others), on=["date", "side"])["date"].n_unique()
