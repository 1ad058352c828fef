"""From a table to rows of matches: sides, dates, details and repeats, and what had to be assumed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import (
    LOSER_COLUMNS,
    LOSER_DETAILS,
    MATCH_COLUMNS,
    ORDER_COLUMNS,
    contest_hint,
    find_columns,
    listed,
    more_sides,
    rating_columns,
    venue_columns,
)
from kinelo.matches.dated import Condition
from kinelo.matches.dates import read_dates
from kinelo.matches.day_order import order_days
from kinelo.matches.loading import Opened
from kinelo.matches.matches import LARGEST_WEIGHT
from kinelo.matches.names import (
    UNDECIDED,
    as_text,
    could_be_names,
    encode_names,
    read_flags,
    read_words,
    without_stand_ins,
)
from kinelo.matches.outcomes import read_outcome
from kinelo.matches.rows import EMPTY, MatchOptions, Rows, listed_names, repeated_meetings, with_group
from kinelo.matches.same_side import likely_pairs, note_of_groups, note_of_likely
from kinelo.matches.shapes import AT_HOME, fill_blocks, joined_rows
from kinelo.model.validation import is_list, one_line


def interpret(opened: Opened, options: MatchOptions, name: str) -> Rows:
    """Read every column of a table of matches and mark the rows that cannot be used."""
    opened = joined_rows(opened, options.columns) or opened
    table = opened.table
    named = find_columns(table.columns, MATCH_COLUMNS, options.columns)
    winners_first = False
    winners = find_columns(table.columns, LOSER_COLUMNS, None)
    sides = {named[side] for side in ("home", "away") if side in named}
    if len(winners) == 2 and sides in (set(), set(winners.values())):
        winners_first = True
        details = find_columns(table.columns, LOSER_DETAILS, None)
        if named.get("result") not in (None, *winners.values()):
            named["score_line"] = named["result"]
        named = {k: v for k, v in named.items() if k != "result" and v not in winners.values()}
        named = named | details | winners
    for side in ("home", "away"):
        if side not in named:
            raise InputError(
                f"{name} has no column for the {side} side; name it with columns={{{side!r}: ...}}, "
                f"its columns are {listed(table.columns)}."
                f"{contest_hint(table.columns)}"
            )
    if extra := more_sides(table.columns, named):
        raise InputError(
            f"{name} has more than two sides per match ({extra!r}); only matches of two sides are read. Contests of "
            "many need a row for each entrant (kinelo.read_contests)."
        )
    n = table.height
    unknown = np.full(n, np.nan)
    notes = list(opened.notes)
    order = find_columns(table.columns, ORDER_COLUMNS, options.columns)
    blocks = [columns[name] for columns in (named, order) for name in ("date", "season", "round") if name in columns]
    table = fill_blocks(table, dict.fromkeys(blocks), notes)
    rows = Rows(
        table, named, *_sides(table, named, notes), np.zeros(n, "datetime64[D]"), unknown, unknown, np.zeros(n, bool),
        np.ones(n), np.zeros(n, np.int8), None, options, read_conditions(table, options.conditions),
        notes=notes, winners_first=winners_first,
    )  # fmt: skip
    rows.fault[list(opened.used_up)] = EMPTY
    rows.begin(opened.broken, (rows.home < 0) & (rows.away < 0))
    _check_sides(rows)
    _read_dates(rows)
    _check_stand_ins(rows)
    read_outcome(rows, name)
    _check_undecided(rows)
    _read_details(rows)
    _find_repeats(rows)
    moved = _put_in_order(rows)
    _tell_assumptions(rows)
    if moved:
        rows.notes.append("the file was not in date order: it was sorted by date")
    return rows


def _sides(
    table: pl.DataFrame, found: dict[str, str], notes: list[str]
) -> tuple[NDArray[np.int32], NDArray[np.int32], tuple[str, ...]]:
    """Codes of both sides and their names; a column that keeps groups apart is part of the name."""
    mended: list[str] = []
    (home, away), teams = encode_names(table[found["home"]], table[found["away"]], mended=mended)
    if mended:
        notes.append(
            f"{len(mended):,} names held marks that cannot be seen, or an apostrophe against formulas, which were left "
            f"out: {listed_names(list(dict.fromkeys(mended)), 3)}"
        )
    if "group" not in found:
        return home, away, teams
    (level,), levels = encode_names(table[found["group"]])
    (home, away), teams = with_group((home, away), teams, level, levels)
    return home, away, teams


def _check_sides(rows: Rows) -> None:
    rows.reject((rows.home < 0) | (rows.away < 0), "missing side")
    [((rows.home, rows.away), rows.teams)] = rows.rename(((rows.home, rows.away), rows.teams))
    rows.note_spelling(rows.teams)


def _check_stand_ins(rows: Rows) -> None:
    """Set rows aside whose name stands for none; NULL or None is a name where it plays as a side does.

    That is on either side, never against itself and never twice on a day. A bye always stands on the same side.
    """
    named = without_stand_ins(rows.teams)
    handles = ~named & could_be_names(rows.teams) & ("date" in rows.found)
    for code in np.flatnonzero(handles).tolist():
        home, away = ((side == code) & rows.good for side in (rows.home, rows.away))
        days = rows.date[home | away]
        handles[code] = home.any() and away.any() and not (home & away).any() and np.unique(days).size == days.size
    rows.note_handles(rows.teams, handles)
    if not named.all():
        known = np.append(named | handles, True)
        rows.reject(~(known[rows.home] & known[rows.away]), "a name that stands for none")
    rows.reject(rows.home == rows.away, "a side against itself")


def _check_undecided(rows: Rows) -> None:
    """Set fixtures aside whose sides are not known yet."""
    undecided = np.array([*(name.lower() in UNDECIDED for name in rows.teams), False])
    if undecided.any():
        known = ~(undecided[rows.home] | undecided[rows.away])
        rows.reject(~known & np.isnan(rows.result), "a name that stands for none")


def _read_dates(rows: Rows) -> None:
    if "date" not in rows.found:
        _take_days_from_times(rows)
    rows.read_days()


def _take_days_from_times(rows: Rows) -> None:
    """Take a column of times for that of dates where it holds days too: in full, or counted from 1970."""
    column = find_columns(rows.table.columns, ORDER_COLUMNS, rows.options.columns).get("time")
    if column is None:
        return
    days = read_dates(rows.table[column], rows.options.dates).days
    said = as_text(rows.table[column]).fill_null("").ne("").to_numpy()
    if said.any() and np.mean(np.isnat(days[said])) < 0.1:
        rows.found["date"] = column
        rows.notes.append(f"days were read from the column {column!r}")


def _read_details(rows: Rows) -> None:
    table, column_of = rows.table, rows.found
    if "neutral" not in column_of and not rows.winners_first:
        _read_venue(rows)
    elif "neutral" in column_of and not rows.winners_first:
        flags = read_flags(table[column_of["neutral"]])
        rows.neutral = flags == 1
        if (flags < 0).any():
            _tell_unclear(rows, table[column_of["neutral"]].filter(pl.Series((flags < 0) & (rows.fault == 0))))
    if "weight" in column_of:
        rows.weight = rows.numbers("weight")
        rows.reject(~((rows.weight >= 0) & (rows.weight <= LARGEST_WEIGHT)), "impossible weight")
    if "match_id" in column_of:
        text = as_text(table[column_of["match_id"]]).str.strip_chars()
        rows.identifiers = text.set(text == "", None) if (text == "").any() else text


def _read_venue(rows: Rows) -> None:
    """Venues from a column that says home, away or neutral of every match; one that names places says nothing here."""
    for column in venue_columns(rows.table.columns):
        if column in rows.found.values() or column in rows.options.conditions:
            continue
        says = read_words(rows.table[column], AT_HOME)
        blank = as_text(rows.table[column]).str.strip_chars().fill_null("").eq("").to_numpy()
        if not np.all((says >= 0) | blank) or not np.any(says != 1):
            continue
        rows.found["neutral"] = column
        rows.neutral = (says == 2) | (says == 0)
        if number := int(((says == 0) & (rows.fault == 0)).sum()):
            rows.notes.append(
                f"{number:,} entries of {column!r} say that the first side was away: those venues count as neutral"
            )
        return


def _tell_unclear(rows: Rows, neither: pl.Series) -> None:
    """Venues whose column says something that is neither yes nor no; where it says nothing, it is no."""
    words = as_text(neither).str.strip_chars().drop_nulls()
    words = words.filter(words != "")
    if number := len(words):
        shown = listed_names(words.unique(maintain_order=True).to_list(), 3)
        rows.notes.append(
            f"{number:,} entries of {rows.found['neutral']!r} say neither yes nor no ({shown}): "
            "they count as not neutral"
        )


def _put_in_order(rows: Rows) -> bool:
    """Order rows that can be used by date and within days; whether the file was in another order of dates."""
    good = np.flatnonzero(rows.fault == 0)
    if not good.size:
        return False
    date = rows.date[good]
    moved = bool(np.any(date[1:] < date[:-1]))
    by_date = good[np.argsort(date, kind="stable")] if moved else good
    index, rows.unordered = order_days(rows, by_date)
    if index is not good or good.size < rows.fault.size:
        rows.order = index  # a clean file in order is passed on without copying its columns
    return moved


def _find_repeats(rows: Rows) -> None:
    """With identifiers a repeat is dropped; without, rows may be alike and still be two matches, so all count."""
    if rows.identifiers is not None:
        rows.reject(rows.identifiers.is_null().to_numpy(), "missing match id")
        again = ~_first_among_good(rows, rows.identifiers)
        if number := int((again & (rows.fault == 0)).sum()):
            rows.notes.append(f"{number:,} rows repeat the match id of an earlier row: they were dropped")
        rows.reject(again, "duplicate match id")
        return
    again = _alike(rows)
    again &= rows.fault == 0
    if not (number := int(again.sum())):
        return
    if rows.options.drop_repeats:
        rows.notes.append(f"{number:,} rows are alike an earlier row in every column: they were dropped")
        rows.reject(again, "duplicate row")
    else:
        rows.notes.append(
            f"{number:,} rows are alike an earlier row in every column: without a match id each counts as a match; "
            "drop_repeats=True drops them"
        )


def _alike(rows: Rows) -> NDArray[np.bool_]:
    """Rows that repeat an earlier one in every column; without dates only where the user wants them dropped."""
    again = np.zeros(rows.fault.size, bool)
    suspects = np.ones(rows.fault.size, bool)
    if "date" in rows.found:
        suspects = repeated_meetings(rows.date.view(np.int64), rows.home, rows.away, len(rows.teams))
    elif not rows.options.drop_repeats:
        return again
    if suspects.any():
        again[suspects] = (
            ~rows.table.filter(suspects).select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
        )
    return again


def _first_among_good(rows: Rows, identifiers: pl.Series) -> NDArray[np.bool_]:
    """Whether a row is the first usable one of its identifier; rows already at fault use none up."""
    good = rows.fault == 0
    first = np.ones(good.size, bool)
    if good.all():
        return identifiers.is_first_distinct().to_numpy()
    first[good] = identifiers.filter(pl.Series(good)).is_first_distinct().to_numpy()
    return first


def _tell_assumptions(rows: Rows) -> None:
    """Say what was taken for granted: venues, columns not used, men's and women's sides under one name."""
    if "neutral" not in rows.found and not rows.winners_first and rows.options.played:
        rows.notes.append("there is no column of neutral venues: every match counts as played at the first side's home")
    used = {*rows.found.values(), *rows.options.conditions, *rows.order_columns, *rows.status_columns}
    ignored = [column for column in rows.table.columns if column not in used]
    if stated := rating_columns(ignored, rows.found):
        rows.notes.append(
            f"the columns {stated[0]!r} and {stated[1]!r} state ratings, which are not used: start= with this very "
            "file begins with the first rating of each side"
        )
        ignored = [column for column in ignored if column not in stated]
    if ignored:
        rows.notes.append(f"columns that were not used: {listed_names(ignored)}")
    order = set(find_columns(rows.table.columns, ORDER_COLUMNS, rows.options.columns).values())
    good = np.flatnonzero(rows.fault == 0)
    day = rows.date[good].view(np.int64) if "date" in rows.found else None
    if likely := likely_pairs(rows.teams, rows.home[good], rows.away[good], day):
        rows.notes.append(note_of_likely(likely))
    if "group" not in rows.found:
        rows.notes += note_of_groups(rows, [column for column in ignored if column not in order])


def read_conditions(table: pl.DataFrame, wanted: Sequence[str]) -> dict[str, Condition]:
    """The conditions that stand in the named columns of a table."""
    if isinstance(wanted, str):
        wanted = [wanted]
    if not is_list(wanted) or not all(isinstance(name, str) for name in wanted):
        raise InputError(f"conditions must be a list of names of columns, not {one_line(wanted)}.")
    conditions_read = {}
    for name in wanted:
        if name not in table.columns:
            raise InputError(f"The condition {name!r} is no column of the table, which has {listed(table.columns)}.")
        (codes,), levels = encode_names(table[name])
        conditions_read[name] = Condition(codes, levels)
    return conditions_read
