"""From a table to rows of matches: sides, dates, details and repeats, and what had to be assumed.

Also line-ups beside matches: from a long table (match, side, player) or from lists in the matches themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import (
    LINEUP_COLUMNS,
    LOSER_COLUMNS,
    LOSER_DETAILS,
    MATCH_COLUMNS,
    ORDER_COLUMNS,
    VENUE_COLUMNS,
    find_columns,
    find_contest_columns,
    first_side,
    listed,
    plain_name,
    rating_columns,
)
from kinelo.matches.dated import Condition, Rejects
from kinelo.matches.dates import read_dates
from kinelo.matches.day_order import order_days
from kinelo.matches.lineups import Lineups
from kinelo.matches.loading import Opened
from kinelo.matches.matches import LARGEST_WEIGHT, Matches
from kinelo.matches.names import UNDECIDED, as_text, encode_names, read_flags, read_numbers, read_words
from kinelo.matches.outcomes import read_outcome
from kinelo.matches.rows import EMPTY, MatchOptions, MatchRows, fill_blocks, listed_names, with_group
from kinelo.matches.same_side import likely_pairs, note_of_groups, note_of_likely
from kinelo.matches.shapes import AT_HOME, joined_rows
from kinelo.model.validation import one_line
from kinelo.presentation import counted

LINEUP_REASONS = (
    "", "line-up of an unknown match", "line-up of a rejected match", "unreadable side", "missing player",
    "impossible minutes", "player on both sides", "player listed twice on one side",
)  # fmt: skip
MOST_MINUTES = 1e5
HOME_SIDES = ("h", "home", "1", "home team", "white", "winner", "w")
AWAY_SIDES = ("a", "away", "2", "away team", "black", "v", "visitor", "loser", "l")

SLOTS = 4096
"""Slots of the table in which meetings of one day are looked up."""


def read_match_rows(opened: Opened, options: MatchOptions, name: str) -> MatchRows:
    """Read every column of a table of matches and mark the rows that cannot be used."""
    named = find_columns(opened.table.columns, MATCH_COLUMNS, options.columns)
    if not {"home", "away"} & named.keys() and (joined := joined_rows(opened, options.columns)):
        opened = joined
        named = find_columns(opened.table.columns, MATCH_COLUMNS, options.columns)
    order = find_columns(opened.table.columns, ORDER_COLUMNS, options.columns)
    winners = find_columns(opened.table.columns, LOSER_COLUMNS, None)
    named, winners_first = _side_columns(opened.table, named, winners, name)
    notes = list(opened.notes)
    blocks = [columns[key] for columns in (named, order) for key in ("date", "season", "round") if key in columns]
    table = fill_blocks(opened.table, dict.fromkeys(blocks), notes)
    mended: list[str] = []
    (home, away), teams = encode_names(table[named["home"]], table[named["away"]], mended=mended)
    if mended:
        held = counted(len(mended), "name held marks that cannot be seen", "names held marks that cannot be seen")
        notes.append(
            f"{held}, or an apostrophe against formulas, which were left out: "
            f"{listed_names(list(dict.fromkeys(mended)), 3)}"
        )
    if "group" in named:
        (home, away), teams = with_group((home, away), teams, table[named["group"]])
    n = table.height
    unknown = np.full(n, np.nan)
    rows = MatchRows(
        table, named, order, home, away, teams, options, notes, np.zeros(n, "datetime64[D]"), unknown, unknown,
        np.zeros(n, bool), np.ones(n), np.zeros(n, np.int8), np.arange(n), winners_first,
    )  # fmt: skip
    for column in options.conditions:
        if not isinstance(column, str):
            raise InputError(f"conditions must be a list of names of columns, not {one_line(options.conditions)}.")
        if column not in table.columns:
            raise InputError(f"The condition {column!r} is no column of the table, which has {listed(table.columns)}.")
        (codes,), levels = encode_names(table[column])
        rows.conditions[column] = Condition(codes, levels)
    rows.fault[list(opened.used_up)] = EMPTY
    rows.begin(opened.broken, (rows.home < 0) & (rows.away < 0))
    rows.reject((rows.home < 0) | (rows.away < 0), "missing side")
    [((rows.home, rows.away), rows.teams)] = rows.rename(((rows.home, rows.away), rows.teams))
    rows.note_spelling(rows.teams)
    if "date" not in named and "time" in order:
        # Times may hold days too: in full, or counted from 1970.
        column = order["time"]
        days = read_dates(table[column], options.dates).days
        filled = as_text(table[column]).fill_null("").ne("").to_numpy()
        if filled.any() and np.mean(np.isnat(days[filled])) < 0.1:
            named["date"] = column
            notes.append(f"days were read from the column {column!r}")
    rows.read_days()

    def plays(code: int) -> bool:
        # A side stands on either side, never against itself and never twice on a day; a bye always on the same side.
        home, away = ((side == code) & (rows.fault == 0) for side in (rows.home, rows.away))
        days = rows.date[home | away]
        both = home.any() and away.any() and not (home & away).any()
        return bool("date" in named and both and np.unique(days).size == days.size)

    rows.check_stand_ins(rows.teams, (rows.home, rows.away), plays)
    rows.reject(rows.home == rows.away, "a side against itself")
    read_outcome(rows, name)
    undecided = np.array([*(team.lower() in UNDECIDED for team in rows.teams), False])
    if undecided.any():  # a fixture whose sides are not known yet
        open_side = undecided[rows.home] | undecided[rows.away]
        rows.reject(open_side & np.isnan(rows.result), "a name that stands for none")
    _read_details(rows)
    _find_repeats(rows)
    good = np.flatnonzero(rows.fault == 0)
    date = rows.date[good]
    moved = bool(np.any(date[1:] < date[:-1]))
    if good.size:
        index, rows.unordered = order_days(rows, good[np.argsort(date, kind="stable")] if moved else good)
        if index is not good or good.size < n:
            rows.order = index  # a clean file in order is passed on without copying its columns
    _note_assumptions(rows, good)
    if moved:
        rows.notes.append("the file was not in date order: it was sorted by date")
    return rows


def _side_columns(
    table: pl.DataFrame, named: dict[str, str], winners: dict[str, str], name: str
) -> tuple[dict[str, str], bool]:
    """What each column means, and whether the sides are those of winners and losers."""
    sides = {named[side] for side in ("home", "away") if side in named}
    winners_first = len(winners) == 2 and sides in (set(), set(winners.values()))
    if winners_first:
        if named.get("result") in winners.values():  # who won is said by the sides, and the score by another column
            others = [column for column in table.columns if column not in named.values()]
            named |= find_columns(others, {"result": MATCH_COLUMNS["result"]}, None)
        if named.get("result") not in (None, *winners.values()):
            named["score_line"] = named["result"]
        named = {key: column for key, column in named.items() if key != "result" and column not in winners.values()}
        named |= find_columns(table.columns, LOSER_DETAILS, None) | winners
    if lacking := [side for side in ("home", "away") if side not in named]:
        hint = ""
        if {"entrant", "contest"} <= find_contest_columns(table.columns, None).keys():
            hint = (
                " If each row is an entrant of a contest of many, kinelo.read_contests reads it: name its place, "
                "score or time (columns={'place': ...})."
            )
        wanted = ", ".join(f"{side!r}: ..." for side in lacking)
        raise InputError(
            f"{name} has no column for the {' side, nor for the '.join(lacking)} side; name it with "
            f"columns={{{wanted}}}, its columns are {listed(table.columns)}.{hint}"
        )
    first = plain_name(named["home"])
    third = [column for column in table.columns if first.endswith("1") and plain_name(column) == f"{first[:-1]}3"]
    if third:
        raise InputError(
            f"{name} has more than two sides per match ({third[0]!r}); only matches of two sides are read. Contests of "
            "many need a row for each entrant (kinelo.read_contests)."
        )
    return named, winners_first


def _read_details(rows: MatchRows) -> None:
    """Read venues, weights and identifiers."""
    table, column_of = rows.table, rows.found
    if "neutral" in column_of and not rows.winners_first:
        flags = read_flags(table[column_of["neutral"]])
        rows.neutral = flags == 1
        # Where the column says nothing, the venue is not neutral.
        words = as_text(table[column_of["neutral"]].filter(pl.Series((flags < 0) & (rows.fault == 0))))
        words = words.str.strip_chars().drop_nulls()
        words = words.filter(words != "")
        if number := len(words):
            shown = listed_names(words.unique(maintain_order=True).to_list(), 3)
            rows.notes.append(
                f"{counted(number, 'entry', 'entries')} of {column_of['neutral']!r} {'says' if number == 1 else 'say'} "
                f"neither yes nor no ({shown}): {'it counts' if number == 1 else 'they count'} as not neutral"
            )
    elif not rows.winners_first:
        # A column may say home, away or neutral of every match; one that names places says nothing here.
        for column in table.columns:
            if plain_name(column) not in VENUE_COLUMNS or column in (*column_of.values(), *rows.options.conditions):
                continue
            says = read_words(table[column], AT_HOME)
            blank = as_text(table[column]).str.strip_chars().fill_null("").eq("").to_numpy()
            if np.all((says >= 0) | blank) and np.any(says != 1):
                column_of["neutral"] = column
                rows.neutral = (says == 2) | (says == 0)
                if number := int(((says == 0) & (rows.fault == 0)).sum()):
                    entries = counted(number, "entry", "entries")
                    rows.notes.append(
                        f"{entries} of {column!r} {'says' if number == 1 else 'say'} that the first side was away: "
                        f"{'that venue counts' if number == 1 else 'those venues count'} as neutral"
                    )
                break
    if "weight" in column_of:
        rows.weight = read_numbers(table[column_of["weight"]], rows.notes)
        rows.reject(~((rows.weight >= 0) & (rows.weight <= LARGEST_WEIGHT)), "impossible weight")
    if "match_id" in column_of:
        text = as_text(table[column_of["match_id"]]).str.strip_chars()
        rows.identifiers = text.set(text == "", None) if (text == "").any() else text


def _find_repeats(rows: MatchRows) -> None:
    """With identifiers a repeat is dropped; without, rows may be alike and still be two matches, so all count."""
    good = rows.fault == 0
    if rows.identifiers is not None:
        rows.reject(rows.identifiers.is_null().to_numpy(), "missing match id")
        good = rows.fault == 0  # rows at fault use no identifier up
        again = np.zeros(good.size, bool)
        again[good] = ~rows.identifiers.filter(pl.Series(good)).is_first_distinct().to_numpy()
        if number := rows.reject(again, "duplicate match id"):
            rows.notes.append(
                f"{counted(number, 'row repeats', 'rows repeat')} the match id of an earlier row: "
                f"{'it was' if number == 1 else 'they were'} dropped"
            )
        return
    # Without dates rows are compared only where the user wants repeats dropped.
    suspects = np.full(good.size, rows.options.drop_repeats)
    if "date" in rows.found:
        suspects = repeated_meetings(rows.date.view(np.int64), rows.home, rows.away, len(rows.teams))
    again = np.zeros(good.size, bool)
    if suspects.any():
        alike = rows.table.filter(suspects).select(~pl.struct(pl.all()).is_first_distinct()).to_series()
        again[suspects] = alike.to_numpy()
    again &= good
    if not (number := int(again.sum())):
        return
    note = f"{counted(number, 'row is', 'rows are')} alike an earlier row in every column: "
    if rows.options.drop_repeats:
        rows.reject(again, "duplicate row")
        note += "it was dropped" if number == 1 else "they were dropped"
    else:
        note += "without a match id each counts as a match; drop_repeats=True drops them"
    rows.notes.append(note)


@njit(cache=True, nogil=True)
def _mark_by_day(day, home, away, repeated, slot_run, slot_pair, slot_row):
    """Mark repeats with a small hash table for the pairs of one day, which the next day takes over as it stands.

    Gives up with False where days are out of order or one has too many matches for the table. ``day``, ``home``,
    ``away`` (int) and ``repeated`` (bool) are (matches); ``slot_…`` (int64) are the table, a power of two long.
    """
    mask = slot_run.size - 1
    run = 1
    today = 0
    for k in range(day.size):
        if k > 0 and day[k] < day[k - 1]:
            return False
        if k > 0 and day[k] > day[k - 1]:
            run += 1
            today = 0
        today += 1
        if 2 * today > slot_run.size:
            return False
        pair = (np.int64(home[k]) << 32) + away[k]
        at = ((pair * 0x9E3779B1) >> 20) & mask
        while slot_run[at] == run and slot_pair[at] != pair:
            at = (at + 1) & mask
        if slot_run[at] == run:
            repeated[k] = True
            repeated[slot_row[at]] = True
        else:
            slot_run[at] = run
            slot_pair[at] = pair
            slot_row[at] = k
    return True


def repeated_meetings(
    day: NDArray[np.int64], home: NDArray[np.int32], away: NDArray[np.int32], sides: int
) -> NDArray[np.bool_]:
    """Whether another row has the same day and the same sides at home and away.

    >>> repeated_meetings(np.array([1, 1, 1, 2]), np.array([0, 1, 0, 0]), np.array([1, 0, 1, 1]), 2).tolist()
    [True, False, True, False]
    """
    repeated = np.zeros(day.size, bool)
    slots = np.zeros((3, SLOTS), np.int64)
    if _mark_by_day(day, home, away, repeated, slots[0], slots[1], slots[2]):
        return repeated
    size = np.int64(sides + 1)
    key = (day * size + home) * size + away
    ordered = np.sort(key)
    return np.isin(key, ordered[1:][ordered[1:] == ordered[:-1]])


def _note_assumptions(rows: MatchRows, good: NDArray[np.int64]) -> None:
    """Say what was taken for granted: venues, columns not used, men's and women's sides under one name."""
    used = {*rows.found.values(), *rows.options.conditions, *rows.order_columns, *rows.outcome_columns}
    order = {*rows.order_found.values()}
    ignored = [column for column in rows.table.columns if column not in used]
    if "neutral" not in rows.found and not rows.winners_first and rows.options.played:
        first = first_side(rows.found["home"])
        rows.notes.append(
            "there is no column of neutral venues: "
            + ("every match counts as played at the first side's home" if first == "playing at home" else
               f"{first} counts as playing at home")
        )  # fmt: skip
    if stated := rating_columns(ignored, rows.found):
        rows.notes.append(
            f"the columns {stated[0]!r} and {stated[1]!r} state ratings, which are not used: start= with this very "
            "file begins with the first rating of each side"
        )
        ignored = [column for column in ignored if column not in stated]
    if ignored:
        rows.notes.append(f"columns that were not used: {listed_names(ignored)}")
    day = rows.date[good].view(np.int64) if "date" in rows.found else None
    if likely := likely_pairs(rows.teams, rows.home[good], rows.away[good], day):
        rows.notes.append(note_of_likely(likely))
    if "group" not in rows.found:
        rows.notes += note_of_groups(rows, good, ignored, order)


def attach_lineups(
    matches: Matches, rows: MatchRows, table: pl.DataFrame, columns: Mapping[str, str] | None
) -> Matches:
    """Matches with the line-ups of a long table; rows of it that cannot be used join the rejects."""
    column_of = find_columns(table.columns, LINEUP_COLUMNS, columns)
    needed = [name for name in ("lineup_match", "player") if name not in column_of]
    if needed or not {"side", "team"} & column_of.keys():
        raise InputError(
            "Line-ups in long form need a match, a side (or a team) and a player column; "
            "name them with columns={'lineup_match': ..., 'side': ..., 'player': ...}, found "
            f"{listed(table.columns)}."
        )
    # Codes follow first appearance, and no identifier of the matches repeats: the code of a match is its place.
    own = matches.identifiers if matches.identifiers is not None else pl.Series(matches.match_id)
    written = own if rows.identifiers is None else rows.identifiers
    (_, elsewhere, wanted), _ = encode_names(own, written, table[column_of["lineup_match"]])
    known = (wanted >= 0) & (wanted <= max(elsewhere.max(), len(matches) - 1))
    match = np.where(wanted < len(matches), wanted, -1).astype(np.int64)
    fault = np.zeros(table.height, np.int8)
    _blame(fault, match < 0, "line-up of an unknown match")
    fault[(match < 0) & known] = LINEUP_REASONS.index("line-up of a rejected match")
    side = _sides(matches, rows, table, column_of, match)
    _blame(fault, side < 0, "unreadable side")
    (player,), players = encode_names(table[column_of["player"]])
    _blame(fault, player < 0, "missing player")
    minutes = _minutes(table, column_of)
    _blame(fault, (minutes < 0) | (minutes > MOST_MINUTES), "impossible minutes")
    starter = read_flags(table[column_of["starter"]]) if "starter" in column_of else np.full(table.height, -1, np.int8)
    role, roles = np.full(table.height, -1, np.int16), ()
    if "role" in column_of:
        (codes,), roles = encode_names(table[column_of["role"]])
        role = codes.astype(np.int16)
    good = np.flatnonzero(fault == 0)
    if good.size:
        # A player on both sides is believed on neither; one listed twice on a side counts once.
        key = (match[good] * len(players) + player[good]) * 2 + side[good]
        order = np.argsort(key, kind="stable")
        key = key[order]
        again = np.append(False, key[1:] == key[:-1])
        begins = np.append(True, key[1:] // 2 != key[:-1] // 2)
        ends = np.append(np.flatnonzero(begins)[1:] - 1, key.size - 1)
        both = (key[begins] != key[ends])[np.cumsum(begins) - 1]
        fault[good[order[both]]] = LINEUP_REASONS.index("player on both sides")
        fault[good[order[again & ~both]]] = LINEUP_REASONS.index("player listed twice on one side")
    bad = np.flatnonzero(fault)
    rows_used = np.flatnonzero(fault == 0)
    rows_used = rows_used[np.argsort(2 * match[rows_used] + side[rows_used], kind="stable")]
    count = np.bincount(2 * match[rows_used] + side[rows_used], minlength=2 * len(matches))
    offsets = np.concatenate([[0], np.cumsum(count)])
    lineups = Lineups(
        offsets, player[rows_used], players, minutes[rows_used], starter[rows_used], role[rows_used], roles
    )
    rejected = Rejects.of("lineups", bad + 1, np.array(LINEUP_REASONS, object)[fault[bad]])
    notes = matches.notes + _missing(matches, count)
    return replace(matches, lineups=lineups, rejected=matches.rejected + rejected, notes=notes)


def _missing(matches: Matches, count: NDArray[np.int64]) -> tuple[str, ...]:
    """What to say of sides without a line-up: how many, and how many teams never have one."""
    bare = count == 0
    if not bare.any() or bare.all():
        return ()
    sides = np.column_stack([matches.home, matches.away]).ravel()
    never = np.setdiff1d(sides, sides[~bare]).size
    which = f", {never:,} teams never have one" if never > 1 else ", one team never has one" if never else ""
    return (
        f"no line-up is known of {bare.sum():,} of {bare.size:,} sides{which}: in player ratings the squad of the team "
        "stands in",
    )


def _blame(fault: NDArray[np.int8], wrong: NDArray[np.bool_], reason: str) -> None:
    fault[wrong & (fault == 0)] = LINEUP_REASONS.index(reason)


def _sides(
    matches: Matches, rows: MatchRows, table: pl.DataFrame, headers: Mapping[str, str], match: NDArray[np.int64]
) -> NDArray[np.int8]:
    """0 for the home side, 1 for the away side, -1 where it is not known."""
    side = np.full(table.height, -1, np.int8)
    if "side" in headers:
        side = read_words(table[headers["side"]], {0: HOME_SIDES, 1: AWAY_SIDES})
        if rows.turned is not None:
            # The words say who won; the sides of the match stand in another order.
            turned = (side >= 0) & (match >= 0) & rows.turned[matches.row - 1][match]
            side[turned] = 1 - side[turned]
    for column in ("side", "team"):
        open_rows = side < 0
        if column not in headers or not open_rows.any():
            continue
        (team,), names = encode_names(table[headers[column]])
        index = {name: code for code, name in enumerate(matches.teams)}
        code = np.array([*(index.get(rows.options.aliases.get(name, name), -1) for name in names), -1])[team]
        at = np.maximum(match, 0)
        side[open_rows & (match >= 0) & (code >= 0) & (code == matches.home[at])] = 0
        side[open_rows & (match >= 0) & (code >= 0) & (code == matches.away[at])] = 1
    return side


def _minutes(table: pl.DataFrame, headers: Mapping[str, str]) -> NDArray[np.float64]:
    """Minutes on the pitch, NaN unknown; who is said not to have played has none of them."""
    minutes = np.full(table.height, np.nan)
    if "minutes" in headers:
        minutes = read_numbers(table[headers["minutes"]]).copy()
    if "played" in headers:
        minutes[np.isnan(minutes) & (read_flags(table[headers["played"]]) == 0)] = 0.0
    return minutes


def attach_listed_lineups(matches: Matches, rows: MatchRows) -> Matches:
    """Matches with the line-ups that stand in two list columns (or text split at ``;`` or ``|``) of their own table."""
    column_of, parts = rows.found, []
    chosen = rows.table[matches.row - 1]
    for side, code in (("home", "H"), ("away", "A")):
        names = _as_list(chosen[column_of[f"{side}_lineup"]])
        columns = {"match": matches.match_id, "row": matches.row, "player": names}
        lists = ["player"]
        if f"{side}_minutes" in column_of:
            columns["minutes"] = _as_list(chosen[column_of[f"{side}_minutes"]])
            lists.append("minutes")
        frame = pl.DataFrame(columns)
        if len(lists) == 2:
            frame = frame.with_columns(
                pl.when(pl.col("minutes").list.len() == pl.col("player").list.len()).then("minutes")
            )
            blank = pl.col("player").list.eval(pl.lit(None, pl.String))
            frame = frame.with_columns(pl.col("minutes").fill_null(blank))
        parts.append(frame.explode(lists).with_columns(side=pl.lit(code)))
    long = pl.concat(parts, how="diagonal").filter(pl.col("player").is_not_null())
    named = {"lineup_match": "match", "side": "side", "player": "player"}
    attached = attach_lineups(
        matches, rows, long, named | ({"minutes": "minutes"} if "minutes" in long.columns else {})
    )
    listed = attached.rejected.row[len(matches.rejected) :]
    of_match = Rejects.of(
        "lineups", long["row"].to_numpy()[listed - 1], attached.rejected.reason[len(matches.rejected) :]
    )
    return replace(attached, rejected=matches.rejected + of_match)


def _as_list(column: pl.Series) -> pl.Series:
    if isinstance(column.dtype, pl.List):
        return column.cast(pl.List(pl.String))
    text = column.cast(pl.String).str.strip_chars("[] ")
    return text.str.replace_all("|", ";", literal=True).str.split(";")
