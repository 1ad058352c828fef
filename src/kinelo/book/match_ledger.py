"""The matches of a book: rows of its table ``match`` and back, and what a table that is handed to it adds.

A match is known by its identifier. Where a table has none, it is known by the fingerprint of the table and its row: the
same table sent again is recognised, and so is one that has grown at its end (its first rows are, one by one, those of a
table sent before). Anything else that repeats a date and two sides may be the same match or a second one. No rule can
tell them apart, and either guess would change ratings in silence, so it is refused with advice.

Matches stand in order of date; those of one day in the order of their table, tables in order of arrival. A day that
arrives in parts of one table thus ends at the same bits as the day in one piece. A match that is put right keeps its
place. Conditions that the rater uses and line-ups are kept as JSON, written one way, so that rows can be compared.
Whatever comes back from a file is checked: it may be damaged, or somebody else's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from kinelo.book.database import Database
from kinelo.book.schema import in_book, plain_json, read_json
from kinelo.errors import InputError
from kinelo.matches.dated import EARLIEST, LATEST, UNDATED, Condition
from kinelo.matches.fixtures import lineups_of_starters
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches, check_matches
from kinelo.matches.names import encode_names
from kinelo.model.validation import LARGEST
from kinelo.presentation import counted
from kinelo.raters.one_match import OneResult

SCHEMA = {
    "match_id": pl.String,
    "date": pl.String,
    "home": pl.String,
    "away": pl.String,
    "result": pl.Float64,
    "margin": pl.Float64,
    "neutral": pl.Int64,
    "weight": pl.Float64,
    "conditions": pl.String,
    "lineups": pl.String,
    "rank": pl.Int64,
    "place": pl.Int64,
    "line": pl.Int64,
}
COLUMNS = ", ".join(name if name != "date" else "CAST(date AS TEXT)" for name in SCHEMA)
"""The columns of ``match`` as a question asks for them."""
NEEDED = [name for name in SCHEMA if name not in ("margin", "conditions", "lineups", "line")]
LINEUP = ("player", "minutes", "starter", "role")
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

    def sentences(self, ledger: Any) -> list[str]:
        """What is not plain about the addition to a ledger, to whoever made it."""
        sentences, match, noun = [], ledger.table, ledger.noun
        if len(self.changed):
            differ = counted(len(self.changed), f"{match} of the book differs", f"{noun} of the book differ")
            sentences.append(
                f"{differ} in this table: {'it was' if len(self.changed) == 1 else 'they were'} changed, and the "
                f"ratings computed again from {self.first_change} on."
            )
        if self.named:
            held = counted(len(self.named), f"{match} that the book held", f"{noun} that the book held")
            known = "are those of this table: they are known by its identifiers"
            known = "is one of this table: it is known by its identifier" if len(self.named) == 1 else known
            sentences.append(f"{held} without an identifier {known} from now on.")
        if self.renamed:
            others = f", and so are {len(self.renamed) - 1:,} more" if self.renamed[1:] else ""
            sentences.append(
                f"{self.renamed[0]}: the book holds a contest of that name on another day, more than a month away. "
                f"They are two contests{others}; the later one is known by its name and day."
            )
        if self.split_days:
            sentences.append(
                f"On {counted(self.split_days, 'day', 'days')} sides play in this table and in one added before: such "
                "matches are rated in the order in which the tables arrived, which one table for the whole day might "
                "not share."
            )
        return sentences


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
        return self._matches(f"{sql} ORDER BY date, rank, place", values)

    def _matches(self, sql: str, values: Sequence[Any], name: str = "", former: Any = None) -> Matches | None:
        rows = self.database.rows(sql, values)
        with in_book(self.database.name):
            table = rows_to_frame(rows)
            if former is not None:
                old = rows_to_frame([tuple(former)])
                table = pl.concat([table.filter(pl.col("match_id") != name), old]).sort("date", "rank", "place")
            return frame_to_matches(table) if table.height else None

    def as_of(self, where: str, values: Sequence[Any], name: str = "", former: Any = None) -> Matches | None:
        """Some of the matches in order, one of them in the place of another of its name where that is given."""
        sql = f"SELECT {COLUMNS} FROM match WHERE {where} ORDER BY date, rank, place"
        return self._matches(sql, values, name, former)

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
        columns_given = [*CONTENT, *(["lineups"] if matches.lineups is not None else []),
                *(["conditions"] if self.conditions else [])]  # fmt: skip
        # Rows under known identifiers of which the table says something else now, at the place the match has.
        both = rows.join(old, on="match_id", suffix="_old", maintain_order="left")
        both = both.filter(pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_old")) for name in columns_given))
        unsaid = [
            name for name in SCHEMA if name not in columns_given and name != "match_id"
        ]  # the place is one of these
        changed = both.with_columns(pl.col(f"{name}_old").alias(name) for name in unsaid).select(*SCHEMA)
        before = old.join(changed.select("match_id"), on="match_id", how="semi")
        return Entry(
            fresh.sort("date", "place", maintain_order=True),
            changed,
            rows.height - fresh.height - changed.height,
            "" if alone else digest,
            None if rank is None else rank[0],
            min(before["date"].min(), changed["date"].min()) if changed.height else "",  # type: ignore[type-var,arg-type]
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
            nameless = db.one("SELECT 1 FROM source WHERE named = 0 LIMIT 1") is not None
            ranks = nameless and [rank for (rank,) in db.rows(
                "SELECT DISTINCT rank FROM match WHERE date BETWEEN ? AND ? AND rank IN (SELECT rank FROM source WHERE "
                "named = 0)", days
            )]  # fmt: skip
            if ranks:
                rows_held += db.rows(f"SELECT {columns} FROM match WHERE {db.among('rank')}", (db.listed(ranks),))
        with in_book(db.name):
            table = rows_to_frame(dict.fromkeys(rows_held))
        sources = pl.DataFrame(
            db.rows(f"SELECT CAST(rank AS BIGINT), CAST(digest AS TEXT) FROM source WHERE {db.among('rank')}",
                    (db.listed(table["rank"].unique().to_list()),)),
            schema={"rank": pl.Int64, "source": pl.String}, orient="row",
        )  # fmt: skip
        joined = table.join(sources, on="rank", how="left", maintain_order="left")
        return joined.with_columns(pl.col("source").fill_null("")).sort("date", "rank", "place")

    def _ids_by_row(self, matches: Matches, old: pl.DataFrame, rank: Any) -> pl.Series:
        """Identifiers from fingerprint and row; rows of an earlier table that has grown keep the ones they had."""
        whole = matches if matches.source is None else matches.source
        digest = matches.source_digest
        id_of = {int(row): f"{digest[:16]}:{row}" for row in matches.row}
        # Earlier tables that this one repeats row by row: it is one of them that has grown.
        rows = matches_to_frame(whole, pl.Series(whole.row.astype(str), dtype=pl.String)).select("line", *CONTENT)
        grown: dict[int, str] = {}
        for _, part in old.filter(NAMELESS & (pl.col("source") != digest)).group_by("source", maintain_order=True):
            same = part.select("line", *CONTENT).join(rows, on=["line", *CONTENT], how="semi", nulls_equal=True)
            if same.height == part.height:
                grown |= dict(part.select("line", "match_id").iter_rows())
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
    meet = "meets" if number == 1 else "meet"
    some = f"The match {meet}" if fresh.height == 1 else f"{number} of {fresh.height:,} matches {meet}"
    if matches.identifiers is not None:
        raise InputError(
            f"{some} on the day of a match that the book holds "
            f"without an identifier ({meeting}, held as {row['match_id_old']!r}); they may be the same or second "
            "ones: take out of the book those that are the same, and add these again."
        )
    raise InputError(
        f"{some} on the day of a match of the book ({meeting}) "
        "in a table that is neither the one sent before nor that one with rows added at its end; without identifiers "
        "nobody can tell a match sent again from a second one: give a match_id column, or add only what is new."
    )


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


# Rows and matches


def matches_to_frame(matches: Matches, ids: pl.Series, conditions: Sequence[str] = ()) -> pl.DataFrame:
    """Matches as a table of a book's columns, under the identifiers the book gives them; ranks come later."""
    table = matches.to_polars().select("date", "home", "away", "result", "margin", "neutral", "weight")
    levels = zip(*(matches.conditions[name].names().to_list() for name in conditions))
    texts = [plain_json(dict(zip(conditions, one))) for one in levels] if conditions else [None] * len(matches)
    listed: list[str | None] = [None] * len(matches)  # line-ups of each match, where anybody is listed
    if (lineups := matches.lineups) is not None:
        player = [lineups.players[code] for code in lineups.player.tolist()]
        minutes = [None if math.isnan(value) else value for value in lineups.minutes.tolist()]
        role = [None if code < 0 else lineups.roles[code] for code in lineups.role.tolist()]
        columns, bounds = (player, minutes, lineups.starter.tolist(), role), lineups.offsets.tolist()
        for k in range(len(matches)):
            begin, middle, end = bounds[2 * k : 2 * k + 3]
            sides = [dict(zip(LINEUP, (c[a:b] for c in columns))) for a, b in ((begin, middle), (middle, end))]
            listed[k] = plain_json(dict(zip(("home", "away"), sides))) if end > begin else None
    return table.select(
        match_id=ids,
        date=pl.col("date").cast(pl.String),
        home="home",
        away="away",
        result=pl.col("result").cast(pl.Float64),
        margin=pl.col("margin").fill_nan(None).cast(pl.Float64),
        neutral=pl.col("neutral").cast(pl.Int64),
        weight=pl.col("weight").cast(pl.Float64),
        conditions=pl.Series(texts, dtype=pl.String),
        lineups=pl.Series(listed, dtype=pl.String),
        rank=pl.lit(None, pl.Int64),
        place=_places(matches),
        line=pl.Series(matches.row, dtype=pl.Int64),
    )


def _places(matches: Matches) -> pl.Series:
    """Place of each match in its table: its row, unless matches of one day do not stand in the order of their rows."""
    whole = matches if matches.source is None else matches.source
    if not np.any((whole.date[1:] == whole.date[:-1]) & (whole.row[1:] < whole.row[:-1])):
        return pl.Series(matches.row, dtype=pl.Int64)
    place = np.empty(int(whole.row.max()) + 1, np.int64)
    place[whole.row] = np.arange(1, len(whole) + 1)
    return pl.Series(place[matches.row])


def rows_to_frame(rows: Iterable[tuple]) -> pl.DataFrame:
    """Rows of ``match`` as a table; refused where one holds what no match is."""
    try:
        table = pl.DataFrame(list(rows), schema=SCHEMA, orient="row", strict=True)
        day = pl.col("date").str.to_date("%Y-%m-%d", strict=True)
        sound = pl.all_horizontal(
            *(pl.col(name).is_not_null() for name in NEEDED),
            pl.col("result").is_between(0.0, 1.0),
            pl.col("weight").is_between(0.0, LARGEST),
            pl.col("margin").fill_null(0.0).is_between(-LARGEST, LARGEST),
            pl.col("neutral").is_between(0, 1),
            pl.col("home") != pl.col("away"),
            (day >= EARLIEST.item()) & (day < LATEST.item()),
        )
        if table.select(sound.all()).item():
            return table
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        pass
    raise InputError("A row of the table match holds what no match is.")


def frame_to_matches(table: pl.DataFrame) -> Matches:
    """Matches of a book's table, in its order."""
    (home, away), teams = encode_names(table["home"], table["away"])
    texts = table["conditions"]
    levels_by_match = (
        [] if texts.null_count() == texts.len() else [{} if x is None else read_json(x) for x in texts.to_list()]
    )
    levels = [level for one in levels_by_match if isinstance(one, dict) for level in one.values()]
    if not all(isinstance(one, dict) for one in levels_by_match) or not all(isinstance(x, str | None) for x in levels):
        raise InputError("A row of the table match holds conditions that are none.")
    conditions = {}
    for name in dict.fromkeys(name for one in levels_by_match for name in one):
        (codes,), held = encode_names(pl.Series([one.get(name) for one in levels_by_match]))
        conditions[name] = Condition(codes, held)
    return Matches(
        table["date"].str.to_date("%Y-%m-%d").to_numpy().astype("datetime64[D]"),
        home,
        away,
        teams,
        table["result"].to_numpy(writable=True),
        table["margin"].fill_null(np.nan).to_numpy(writable=True),
        table["neutral"].cast(pl.Boolean).to_numpy().copy(),
        table["weight"].to_numpy(writable=True),
        np.arange(1, table.height + 1),
        table["match_id"],
        None if table["lineups"].null_count() == table.height else _lineups_of(table["lineups"]),
        conditions=conditions,
    )


def _lineups_of(texts: pl.Series) -> Lineups:
    columns: dict[str, list[Any]] = {name: [] for name in LINEUP}
    lengths = []
    for text in texts.to_list():
        said = {} if text is None else read_json(text)
        for side in ("home", "away"):
            part = said.get(side, {}) if isinstance(said, dict) else None
            if not isinstance(part, dict) or not set(part) <= set(LINEUP):
                raise InputError("A row of the table match holds line-ups that are none.")
            lists = [part.get(name, []) for name in LINEUP]
            if not all(isinstance(one, list) for one in lists) or len({len(one) for one in lists}) > 1:
                raise InputError("A row of the table match holds line-ups that are none.")
            for name, one in zip(LINEUP, lists):
                columns[name] += one
            lengths.append(len(lists[0]))
    try:
        player = pl.Series(columns["player"], dtype=pl.String, strict=True)
        minutes = pl.Series([None if v is None else float(v) for v in columns["minutes"]], dtype=pl.Float64)
        starter = pl.Series(columns["starter"], dtype=pl.Int8, strict=True)
        role_names = pl.Series(columns["role"], dtype=pl.String, strict=True)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        raise InputError("A row of the table match holds line-ups that are none.") from None
    if player.null_count() or not starter.fill_null(-1).is_between(-1, 1).all():
        raise InputError("A row of the table match holds line-ups that are none.")
    (codes,), players = encode_names(player)
    (role,), roles = encode_names(role_names)
    return Lineups(
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        codes,
        players,
        minutes.fill_null(np.nan).to_numpy(writable=True),
        starter.fill_null(-1).to_numpy(writable=True).astype(np.int8),
        role.astype(np.int16),
        roles,
    )


def table_of(played: Sequence[tuple[str, OneResult, np.datetime64]]) -> Matches:
    """Matches that a program says, each with its identifier and day, in order of their days, else as they are said.

    >>> from kinelo.raters.one_match import one_result
    >>> table = table_of([("m1", one_result("A", "B", "draw"), np.datetime64("2024-05-01"))])
    >>> table.match_id.tolist(), table.result.tolist()
    (['m1'], [0.5])
    """
    names, ones, days = zip(*sorted(played, key=lambda match: match[2]))
    teams = tuple(dict.fromkeys(name for one in ones for name in (one.home, one.away)))
    code = {name: k for k, name in enumerate(teams)}
    home, away = (np.array([code[getattr(one, side)] for one in ones], np.int32) for side in ("home", "away"))
    numbers = {name: np.array([getattr(one, name) for one in ones], float) for name in ("signed", "margin", "weight")}
    starters: list[Any] = [()] * (2 * len(ones))
    for k, lineups in ((k, one.lineups) for k, one in enumerate(ones) if one.lineups is not None):
        for side in (0, 1):  # names, with the time that each played where that is said
            players, minutes = lineups.names(0, side=side), lineups.minutes[slice(*lineups.offsets[side : side + 2])]
            timed = minutes.size > 0 and not np.isnan(minutes).any()
            starters[2 * k + side] = dict(zip(players, minutes.tolist(), strict=True)) if timed else players
    conditions = {}
    for name in ones[0].conditions or {}:
        levels = [(one.conditions or {}).get(name) for one in ones]
        texts = [None if level is None else str(level).strip() or None for level in levels]
        (codes,), held = encode_names(pl.Series(texts, dtype=pl.String))
        conditions[name] = Condition(codes, held)
    return Matches(
        np.array(days), home, away, teams, 0.5 + 0.5 * numbers["signed"], numbers["margin"],
        np.array([bool(one.neutral) for one in ones]), numbers["weight"], np.arange(1, len(ones) + 1),
        pl.Series(names, dtype=pl.String), lineups_of_starters(*starters), conditions=conditions,
    )  # fmt: skip
