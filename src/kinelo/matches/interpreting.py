"""From a table to rows: which column means what, sides, dates, details and repeats, and what had to be assumed.

Where a table has one row per team, the two rows with one match identifier become one row of home and away.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.blocks import fill_blocks
from kinelo.matches.columns import (
    LOSER_COLUMNS,
    LOSER_DETAILS,
    MATCH_COLUMNS,
    ORDER_COLUMNS,
    find_columns,
    listed,
    more_sides,
    rating_columns,
    venue_columns,
)
from kinelo.matches.conditions import read_conditions
from kinelo.matches.contest_columns import contest_hint
from kinelo.matches.dates import read_dates
from kinelo.matches.day_order import order_days
from kinelo.matches.fields import read_flags, read_words
from kinelo.matches.groups import note_of_groups
from kinelo.matches.loading import Opened
from kinelo.matches.matches import LARGEST_WEIGHT
from kinelo.matches.names import UNDECIDED, as_text, could_be_names, encode_names, without_stand_ins
from kinelo.matches.row_outcomes import read_outcome
from kinelo.matches.rows import MatchOptions, Rows, repeated_meetings
from kinelo.matches.same_side import likely_pairs, note_of_likely
from kinelo.matches.table_rows import EMPTY, listed_names, with_group


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


TEAM_COLUMNS: dict[str, tuple[str, ...]] = {
    "team": ("team", "teamname", "teamid", "club", "side", "player"),
    "score": ("score", "goals", "points", "pts", "runs", "goalsfor", "gf", "teamscore"),
    "result": ("result", "outcome", "won", "wl"),
    "rank": ("rank", "place", "position", "finish", "finishposition", "placement", "rang", "platz", "posicao", "posto"),
    "venue": ("venue", "homeaway", "ha", "location", "ishome", "where", "homeoraway"),
    "match_id": MATCH_COLUMNS["match_id"],
}
AT_HOME = {
    1: ("h", "home", "1", "true", "yes", "heim", "casa", "local", "domicile", "thuis"),
    0: ("a", "away", "0", "false", "no", "@", "auswärts", "gast", "fora", "visitante", "extérieur", "trasferta", "uit"),
    2: ("n", "neutral", "neutro", "neutre", "neutraal"),
}
UNPAIRED = "not two rows of one match"


def joined_rows(opened: Opened, columns: Mapping[str, str] | None) -> Opened | None:
    """One row per match from a table of one row per team, or None where the table is not of that kind.

    A joined match stands at the first of its rows; the second row is left blank and marked as used.
    """
    table = opened.table
    given = {name: column for name, column in (columns or {}).items() if name in ("match_id",)}
    own = find_columns(table.columns, MATCH_COLUMNS, None)
    column_of = find_columns(table.columns, TEAM_COLUMNS, given or None)
    if {"home", "away"} & (own.keys() | (columns or {}).keys()) or not {"team", "match_id"} <= column_of.keys():
        return None
    if not {"score", "result", "rank"} & column_of.keys():
        return None
    (match,), _ = encode_names(table[column_of["match_id"]])
    number = np.bincount(match[match >= 0])
    if np.mean(number > 2) > 0.5:
        raise InputError(
            f"The table ranks up to {number.max():,} sides under one {column_of['match_id']!r}; "
            "only matches of two sides are read. kinelo.read_contests reads contests of many."
        )
    if not np.any(number == 2) or not {"score", "result"} & column_of.keys():
        return None
    return _joined(opened, column_of, match, number)


def _joined(opened: Opened, found: dict[str, str], match: np.ndarray, number: np.ndarray) -> Opened:
    table, n = opened.table, opened.table.height
    paired = np.append(number == 2, False)[match]
    order = np.argsort(match, kind="stable")
    pairs = order[paired[order]].reshape(-1, 2)
    venue = np.full(n, -1, np.int8)
    if "venue" in found:
        venue = read_words(table[found["venue"]], AT_HOME)
    first, second = venue[pairs].T
    turned = ((first == 0) & (second != 0)) | ((second == 1) & (first != 1))
    home, away = np.where(turned, pairs[:, 1], pairs[:, 0]), np.where(turned, pairs[:, 0], pairs[:, 1])
    neutral = ~((venue[home] == 1) | (venue[away] == 0))
    place = pairs.min(axis=1)
    used = np.setdiff1d(pairs, place)
    columns = {"home": (found["team"], home), "away": (found["team"], away)}
    if "score" in found:
        columns |= {"home_score": (found["score"], home), "away_score": (found["score"], away)}
    else:
        columns["result"] = (found["result"], home)
    series = []
    for name, (column, rows) in columns.items():
        source = np.full(n, n)
        source[place] = rows
        series.append(
            pl.concat([table[column], pl.Series([None], dtype=table[column].dtype)]).gather(source).alias(name)
        )
    flags = np.zeros(n, bool)
    flags[place] = neutral
    rest = table.drop({found[name] for name in ("team", "score", "result", "venue") if name in found})
    rest = rest.drop([name for name in (*columns, "neutral") if name in rest.columns])
    broken = {int(row): UNPAIRED for row in np.flatnonzero(~paired)} | dict(opened.broken)
    notes = (
        *opened.notes,
        f"the table has one row per team: {len(pairs):,} matches were joined by {found['match_id']!r}",
    )
    used_up = frozenset(int(row) for row in used)
    return Opened(rest.with_columns(*series, pl.Series("neutral", flags)), notes, broken, used_up)
