"""Line-ups beside matches: from a long table (match, side, player) or from lists in the matches themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import LINEUP_COLUMNS, find_columns, listed
from kinelo.matches.dated import Rejects
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.matches.names import encode_names, read_flags, read_numbers, read_words
from kinelo.matches.rows import MatchRows

LINEUP_REASONS = (
    "",
    "line-up of an unknown match",
    "line-up of a rejected match",
    "unreadable side",
    "missing player",
    "impossible minutes",
    "player on both sides",
    "player listed twice on one side",
)
MOST_MINUTES = 1e5
HOME_SIDES = ("h", "home", "1", "home team", "white", "winner", "w")
AWAY_SIDES = ("a", "away", "2", "away team", "black", "v", "visitor", "loser", "l")


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
    _blame_repeats(fault, match, side, player, len(players))
    bad = np.flatnonzero(fault)
    kept = np.flatnonzero(fault == 0)
    kept = kept[np.argsort(2 * match[kept] + side[kept], kind="stable")]
    count = np.bincount(2 * match[kept] + side[kept], minlength=2 * len(matches))
    offsets = np.concatenate([[0], np.cumsum(count)])
    lineups = Lineups(offsets, player[kept], players, minutes[kept], starter[kept], role[kept], roles)
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
    matches: Matches, rows: MatchRows, table: pl.DataFrame, found: Mapping[str, str], match: NDArray[np.int64]
) -> NDArray[np.int8]:
    """0 for the home side, 1 for the away side, -1 where it is not known."""
    side = np.full(table.height, -1, np.int8)
    if "side" in found:
        side = read_words(table[found["side"]], {0: HOME_SIDES, 1: AWAY_SIDES})
        if rows.turned is not None:
            # The words say who won; the sides of the match stand in another order.
            turned = (side >= 0) & (match >= 0) & rows.turned[matches.row - 1][match]
            side[turned] = 1 - side[turned]
    for column in ("side", "team"):
        open_rows = side < 0
        if column not in found or not open_rows.any():
            continue
        (team,), names = encode_names(table[found[column]])
        index = {name: code for code, name in enumerate(matches.teams)}
        code = np.array([*(index.get(rows.options.aliases.get(name, name), -1) for name in names), -1])[team]
        at = np.maximum(match, 0)
        side[open_rows & (match >= 0) & (code >= 0) & (code == matches.home[at])] = 0
        side[open_rows & (match >= 0) & (code >= 0) & (code == matches.away[at])] = 1
    return side


def _minutes(table: pl.DataFrame, found: Mapping[str, str]) -> NDArray[np.float64]:
    """Minutes on the pitch, NaN unknown; who is said not to have played has none of them."""
    minutes = np.full(table.height, np.nan)
    if "minutes" in found:
        minutes = read_numbers(table[found["minutes"]]).copy()
    if "played" in found:
        minutes[np.isnan(minutes) & (read_flags(table[found["played"]]) == 0)] = 0.0
    return minutes


def _blame_repeats(
    fault: NDArray[np.int8], match: NDArray[np.int64], side: NDArray[np.int8], player: NDArray[np.int32], number: int
) -> None:
    """A player on both sides is believed on neither; one listed twice on a side counts once."""
    good = np.flatnonzero(fault == 0)
    if good.size == 0:
        return
    key = (match[good] * number + player[good]) * 2 + side[good]
    order = np.argsort(key, kind="stable")
    key = key[order]
    again = np.append(False, key[1:] == key[:-1])
    begins = np.append(True, key[1:] // 2 != key[:-1] // 2)
    person = np.cumsum(begins) - 1
    ends = np.append(np.flatnonzero(begins)[1:] - 1, key.size - 1)
    both = (key[begins] != key[ends])[person]
    fault[good[order[both]]] = LINEUP_REASONS.index("player on both sides")
    fault[good[order[again & ~both]]] = LINEUP_REASONS.index("player listed twice on one side")


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
