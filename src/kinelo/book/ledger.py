"""Which matches a book holds, and what a table that is handed to it adds.

A match is known by its identifier. Where a table has none, it is known by the fingerprint of the table and its row: the
same table sent again is recognised, and so is one that has grown at its end (its first rows are, one by one, those of a
table sent before). Anything else that repeats a date and two sides may be the same match or a second one. No rule can
tell them apart, and either guess would change ratings in silence, so it is refused with advice.

Matches stand in order of date; those of one day in the order of their table, tables in order of arrival. A day that
arrives in parts of one table thus ends at the same bits as the day in one piece.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from kinelo.book.rows import (
    LIST_SCHEMA,
    MATCH_SCHEMA,
    ORDER,
    conditions_among,
    frame_to_lines,
    lines_to_frame,
    matches_to_frame,
    parted_removal,
    removal_to_lines,
)
from kinelo.errors import InputError
from kinelo.matches.dated import UNDATED
from kinelo.matches.matches import Matches

PLACE = ("date", "rank", "place")
MEETING = ("date", "home", "away")
NAMELESS = pl.col("match_id") == pl.format("{}:{}", pl.col("source").str.head(16), "row")
"""Whether a match is known by its table and row, for want of an identifier."""

CONTENT = ("date", "home", "away", "result", "margin", "neutral", "weight")


@dataclass(frozen=True)
class Entry:
    """What a table adds: the record to be written (None for nothing), how many matches are new, changed and known."""

    payload: bytes | None
    new: int
    changed: int
    known: int
    first_change: str = ""
    split_days: int = 0
    named: int = 0
    renamed: tuple[str, ...] = ()


class Ledger:
    """The matches of a book as its records tell them, with the conditions that its rater uses."""

    def __init__(self, conditions: tuple[str, ...] = ()) -> None:
        self.conditions = conditions
        self.table = pl.DataFrame(schema={**MATCH_SCHEMA, "rank": pl.Int64, "place": pl.Int64})
        self.sources: dict[str, int] = {}

    def apply(self, payload: bytes) -> bool:
        """Take in a record; whether it only adds matches behind all others."""
        removed, lines = parted_removal(payload)
        if removed:
            self.table = self.table.filter(~pl.col("match_id").is_in(removed))
        if not lines:
            return False
        rows = lines_to_frame(lines)
        for source in rows["source"].unique(maintain_order=True):
            self.sources.setdefault(source, len(self.sources))
        rank = pl.col("source").replace_strict(self.sources, return_dtype=pl.Int64)
        rows = rows.with_columns(
            rank=rank, place=pl.coalesce(*(name for name in (ORDER, "row") if name in rows.columns))
        )
        kept = self.table.filter(~pl.col("match_id").is_in(rows["match_id"].implode()))
        replaced = kept.height < self.table.height
        rows = rows.sort(PLACE, maintain_order=True)
        behind = not replaced and not removed and (kept.height == 0 or _place(kept, -1) < _place(rows, 0))
        together = pl.concat([kept, rows], how="diagonal")
        self.table = together if behind else together.sort(PLACE, maintain_order=True)
        return behind

    def enter(self, matches: Matches) -> Entry:
        """What a table would add; nothing is changed yet."""
        for name in self.conditions:
            if name not in matches.conditions:
                raise InputError(
                    f"The rater of this book uses the condition {name!r}, which was not read; read it with "
                    f"read_matches(..., conditions=[{name!r}])."
                )
        if matches.identifiers is not None:
            ids = matches.identifiers
            twice = ids.filter(ids.is_duplicated())
            if len(twice):
                raise InputError(f"The identifier {twice[0]!r} stands for more than one of these matches.")
        else:
            ids = self._ids_by_row(matches)
        rows = lines_to_frame(frame_to_lines(matches_to_frame(matches, ids, self.conditions)))
        fresh = rows.join(self.table, on="match_id", how="anti", maintain_order="left")
        named = self._named_now(fresh) if matches.identifiers is not None else {}
        old = self.table.with_columns(pl.col("match_id").replace(named)) if named else self.table
        fresh = fresh.filter(~pl.col("match_id").is_in(list(named.values()))) if named else fresh
        self._refuse_doubtful(fresh, matches, named)
        known = rows.join(old, on="match_id", how="semi", maintain_order="left")
        changed, touched = _changed(known, old), _changed(known, old, tuple(named.values()))
        written = pl.concat([fresh, touched], how="diagonal") if touched.height else fresh
        return Entry(
            (removal_to_lines(list(named)) if named else b"") + frame_to_lines(written) if written.height else None,
            fresh.height,
            changed.height,
            rows.height - fresh.height - changed.height,
            str(_first_day(changed, old)) if changed.height else "",
            self._split_days(fresh),
            len(named),
        )

    def _named_now(self, fresh: pl.DataFrame) -> dict[str, str]:
        """Identifiers that matches held without one get: those of a table that was added before without its column.

        A table is known again where each of its matches meets one row on its day, and most of them say the same.
        """
        named: dict[str, str] = {}
        for _, part in self.table.filter(NAMELESS).group_by("source", maintain_order=True):
            pairs = part.join(fresh, on=list(MEETING), suffix="_new", nulls_equal=True)
            once = pairs["match_id"].n_unique() == pairs["match_id_new"].n_unique() == pairs.height
            same = [pl.col(name).eq_missing(pl.col(f"{name}_new")) for name in CONTENT if name not in MEETING]
            if once and pairs.height == part.height < 2 * pairs.filter(pl.all_horizontal(same)).height:
                named |= dict(pairs.select("match_id", "match_id_new").iter_rows())
        return named

    def _ids_by_row(self, matches: Matches) -> pl.Series:
        """Identifiers from fingerprint and row; rows of an earlier table that has grown keep the ones they had."""
        whole = matches if matches.source is None else matches.source
        digest = matches.source_digest
        own = {int(row): f"{digest[:16]}:{row}" for row in matches.row}
        held = dict(self.table.filter(pl.col("source") == digest).select("row", "match_id").iter_rows())
        own |= {row: name for row, name in held.items() if row in own}  # matches of this table may have got names since
        undated = not np.any(whole.day)
        if digest in self.sources:
            repeated = self.table.filter(pl.col("match_id").is_in(list(own.values()))).height
        else:
            known = self._grown_from(whole)
            own |= {row: name for row, name in known.items() if row in own}
            repeated = len(known)
        if undated and repeated:
            raise InputError(
                f"{repeated} of these matches have neither date nor identifier and are those of a table added before: "
                "they may be the same or have been played again; give a date or a match_id column."
            )
        return pl.Series("match_id", [own[int(row)] for row in matches.row], dtype=pl.String)

    def _grown_from(self, whole: Matches) -> dict[int, str]:
        """Identifiers by row of those earlier tables that this one repeats row by row."""
        plain = pl.Series("match_id", whole.row.astype(str))
        rows = lines_to_frame(frame_to_lines(matches_to_frame(whole, plain))).select("row", *CONTENT)
        known: dict[int, str] = {}
        for _, part in self.table.filter(NAMELESS).group_by("source", maintain_order=True):
            same = part.select("row", *CONTENT).join(rows, on=["row", *CONTENT], how="semi", nulls_equal=True)
            if same.height == part.height:
                known |= dict(part.select("row", "match_id").iter_rows())
        return known

    def _refuse_doubtful(self, fresh: pl.DataFrame, matches: Matches, named: Mapping[str, str]) -> None:
        """Refuse matches that may be in the book under another name: same day and sides, no identifier."""
        if not fresh.height or not np.any(matches.day):
            return
        others = self.table if matches.identifiers is None else self.table.filter(NAMELESS)
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
                "out those that are the same (kinelo book DIR --remove ID, RatingBook.remove) and add the table again."
            )
        raise InputError(
            f"{number} of {fresh.height} matches meet on the day of a match of the book ({meeting}) in a table that is "
            "neither the one sent before nor that one with rows added at its end; without identifiers nobody can tell "
            "a match sent again from a second one: give a match_id column, or add only what is new."
        )

    def _split_days(self, fresh: pl.DataFrame) -> int:
        """Days on which a side plays in this table and in another: their order is that of arrival.

        Matches without a date count in the order in which they come, and are not meant.
        """
        fresh = fresh.filter(pl.col("date") != pl.lit(UNDATED.item()))
        if not fresh.height or not self.table.height:
            return 0

        def appearances(table: pl.DataFrame) -> pl.DataFrame:
            return pl.concat([table.select("date", "source", side=name) for name in ("home", "away")])

        met = appearances(fresh).join(appearances(self.table), on=["date", "side"], suffix="_old")
        return met.filter(pl.col("source") != pl.col("source_old"))["date"].n_unique()


def _changed(rows: pl.DataFrame, old: pl.DataFrame, named: tuple[str, ...] = ()) -> pl.DataFrame:
    """Rows under known identifiers that say something else now, or are named now, at the place the match has."""
    old = old.join(rows.select("match_id"), on="match_id", how="semi")
    further = (*LIST_SCHEMA, *conditions_among(rows.columns))
    further = [name for name in further if name in rows.columns and name in old.columns]
    both = rows.join(old, on="match_id", suffix="_old", maintain_order="left")
    differs = [pl.col(name).ne_missing(pl.col(f"{name}_old")) for name in (*CONTENT, *further)]
    both = both.filter(pl.any_horizontal([*differs, pl.col("match_id").is_in(list(named))]))
    keep = [pl.col("source_old").alias("source"), pl.col("row_old").alias("row")]
    if ORDER in rows.columns:
        keep.append((pl.col(f"{ORDER}_old") if ORDER in old.columns else pl.lit(None, pl.Int64)).alias(ORDER))
    lost = [name for name in (ORDER, *LIST_SCHEMA) if name in old.columns and name not in rows.columns]
    return both.with_columns(keep).select(*(name for name in rows.columns), *lost)


def _first_day(changed: pl.DataFrame, old: pl.DataFrame) -> object:
    before = old.join(changed.select("match_id"), on="match_id", how="semi")
    return min(before["date"].min(), changed["date"].min())  # type: ignore[type-var]


def _place(table: pl.DataFrame, at: int) -> tuple:
    return table.select(PLACE).row(at)
