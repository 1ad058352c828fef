"""Names that stand for two sides: clubs with men's and women's teams, first and second teams, leagues of one town.

A column of few values cuts the matches into groups. Nobody plays across them, so that nothing in the results shows
whether a name that stands in two of them is one side or two. It is taken for one, and reported, where the column or its
values speak of such a division, where a name plays in two groups on one day, where the same pairs play a season of
their own in each group, or where names are strong in one group and weak in the other more than one side would be.
A group is closed: its names are host and guest in it. What follows from the host, the turf of a ground say, is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.columns import listed, plain_name
from kinelo.matches.names import encode_names

if TYPE_CHECKING:
    from kinelo.matches.rows import Rows

DIVISIONS = ("gender", "sex", "division", "category", "leaguegender", "menswomens", "agegroup", "geschlecht", "genero")
OF_DIVISIONS = re.compile(
    r"\b(?:wom[ae]n'?s?|m[ae]n'?s?|ladies|girls|boys|female|male|damen|herren|frauen|männer|fémin\w*|femin\w*|femen\w*"
    r"|mascul\w*|donne|uomini|vrouwen|mannen|u-?\d{2}|under-?\s?\d{2}|youth|juniors?|reserves?|seniors?)\b"
)
LETTERS = ({"m", "f"}, {"m", "w"}, {"h", "d"})
MOST_LEVELS = 20
MOST_ROWS = 50_000
MOST_COLUMNS = 60
LEAST_IN_GROUP = 4
LEAST_NAMES = 5
LEAST_DAYS = 3
SEASON_DAYS = 330
NEARLY_ALL = 0.8
HARDLY_ANY = 0.25
"""Share of the agreement within groups below which there is hardly any across them, and of hosts in more than one."""


def note_of_groups(rows: Rows, columns: Sequence[str]) -> list[str]:
    """What to say of columns in which the same names seem to stand for different sides."""
    notes = []
    good = np.flatnonzero(rows.fault == 0)[:MOST_ROWS]
    for column in [one for one in columns if not _of_each_side(one, columns)][:MOST_COLUMNS]:
        if rows.table[column].n_unique() > MOST_LEVELS + 1:
            continue
        (level,), levels = encode_names(rows.table[column].gather(good))
        if not 2 <= len(levels) <= MOST_LEVELS:
            continue
        table = _long(rows, good, level)
        shared = table.group_by("side").agg(pl.col("level").n_unique()).filter(pl.col("level") > 1)["side"].sort()
        if len(shared) and (why := _why(column, levels, table.filter(pl.col("side").is_in(shared.implode())))):
            names = [rows.teams[k] for k in shared[:3]]
            more = ", …" if len(shared) > len(names) else ""
            notes.append(
                f"{len(shared):,} names play in more than one {column!r} ({', '.join(levels[:4])}) and count as one "
                f"side each, {why}: {listed(names)}{more}; say columns={{'group': {column!r}}} if they are different "
                "sides"
            )
    return notes


def _of_each_side(column: str, columns: Sequence[str]) -> bool:
    """Whether a column and another (home_group and away_group) say something of each side, not of the match."""
    other = {"home_": "away_", "away_": "home_"}.get(column[:5])
    return other is not None and other + column[5:] in columns


def _long(rows: Rows, good: NDArray[np.int64], level: NDArray[np.int32]) -> pl.DataFrame:
    """One row for each side of each match whose level is known."""
    known = level >= 0
    good, level = good[known], level[known]
    points = rows.result[good]
    return pl.DataFrame(
        {
            "side": np.concatenate([rows.home[good], rows.away[good]]),
            "level": np.tile(level, 2),
            "day": np.tile(rows.date[good].view(np.int64), 2),
            "points": np.concatenate([points, 1.0 - points]),
            "against": np.concatenate([rows.away[good], rows.home[good]]),
            "at_home": np.repeat([True, False], good.size),
        }
    )


def _why(column: str, levels: tuple[str, ...], table: pl.DataFrame) -> str:
    """Why a name may stand for two sides; empty where nothing speaks for it."""
    words = {level.lower() for level in levels}
    if plain_name(column) in DIVISIONS or words in LETTERS or any(OF_DIVISIONS.search(word) for word in words):
        return "though this column names divisions"
    if not _closed(table):
        return ""
    if _on_one_day(table):
        return "though some play in two on one day"
    if _two_schedules(table):
        return "though the same sides meet in each of them in the same year"
    if _unlike(table):
        return "though they are not as strong in one as in another"
    return ""


def _closed(table: pl.DataFrame) -> bool:
    """Whether names play at home in more than one group; where hardly any does, the column says where a match was."""
    at_home = (
        table.filter("at_home").group_by("side").agg(pl.col("level").n_unique(), pl.len()).filter(pl.col("len") > 1)
    )
    return int((at_home["level"] > 1).sum()) > HARDLY_ANY * at_home.height


def _on_one_day(table: pl.DataFrame) -> bool:
    """Whether names play in two groups on one day, and hardly ever twice in one."""
    if table["day"].n_unique() < LEAST_DAYS:
        return False
    days = table.group_by("side", "day").agg(pl.col("level").n_unique(), pl.len())
    across = int((days["level"] > 1).sum())
    within = int((days["len"] > days["level"]).sum())
    return across >= LEAST_DAYS and across > 3 * within


def _two_schedules(table: pl.DataFrame) -> bool:
    """Whether nearly every pair meets in two groups within a year, once at each place in each."""
    both = table.filter(pl.col("at_home") & pl.col("against").is_in(table["side"].unique().implode()))
    if both.height < LEAST_NAMES * (LEAST_NAMES - 1):
        return False
    year = both.filter(pl.col("day") < pl.col("day").min() + SEASON_DAYS)
    pairs = year.group_by("side", "against").agg(pl.col("level").n_unique(), pl.len())
    if pairs.height < LEAST_NAMES * (LEAST_NAMES - 1):
        return False
    once = (pairs["level"] > 1) & (pairs["len"] == pairs["level"])
    return float(once.mean() or 0.0) > NEARLY_ALL  # type: ignore[arg-type]


def _unlike(table: pl.DataFrame) -> bool:
    """Whether points in two groups agree less than those of two halves of each group do, beyond chance."""
    first, second = table.group_by("level").len().sort("len", "level", descending=[True, False])["level"][:2]
    spans = [table.filter(pl.col("level") == k)["day"].quantile(q) for k in (first, second) for q in (0.05, 0.95)]
    begin, end = max(spans[0], spans[2]), min(spans[1], spans[3])  # type: ignore[type-var]
    if end - begin < 0.5 * min(spans[1] - spans[0], spans[3] - spans[2]):  # type: ignore[operator]
        return False  # one came after the other, and strengths move
    halves = (
        table.filter(pl.col("level").is_in([first, second]))
        .with_columns(half=pl.int_range(pl.len()).over("side", "level") % 2)
        .group_by("side", "level", "half")
        .agg(pl.col("points").mean(), pl.len())
        .filter(pl.col("len") * 2 >= LEAST_IN_GROUP)
        .pivot("half", index=["side", "level"], values="points")
        .drop_nulls()
    )
    one, other = (halves.filter(pl.col("level") == k) for k in (first, second))
    both = one.join(other, on="side", suffix="_other")
    if both.height < LEAST_NAMES or not {"0", "1", "0_other", "1_other"} <= set(both.columns):
        return False
    a, b, c, d = (both[name].to_numpy() for name in ("0", "1", "0_other", "1_other"))
    with np.errstate(invalid="ignore", divide="ignore"):
        within = [2 * r / (1 + r) for r in (np.corrcoef(a, b)[0, 1], np.corrcoef(c, d)[0, 1])]
        across = np.corrcoef(a + b, c + d)[0, 1]
    if not np.all(np.array(within) > 0.3) or not np.isfinite(across):
        return False
    expected = min(float(np.sqrt(within[0] * within[1])), 0.98)
    beyond_chance = (np.arctanh(expected) - np.arctanh(across)) * np.sqrt(both.height - 3) > 2.6
    return bool(beyond_chance and across < HARDLY_ANY * expected)
