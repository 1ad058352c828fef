"""What an audit is given: matches that can be audited, or why not, and a table of ratings held against strengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.advice.audit.kernels import Array
from kinelo.errors import InputError
from kinelo.matches.loading import load_table
from kinelo.matches.matches import Matches
from kinelo.presentation import counted, percent, quoted
from kinelo.raters.spelling import nearest_names

if TYPE_CHECKING:
    import polars as pl

LEAST_AUDITED = 60
FEW_MATCHES = 500
SEASON_BREAK_DAYS = 300
ONE_SIDED = 0.95
LISTED_SIDES = 5
MOST_AUDITED = 150_000


def latest_part(matches: Matches, most: int = MOST_AUDITED) -> tuple[Matches, Matches | None]:
    """The matches to audit, and those before them where there are more than can be waited for."""
    if len(matches) <= most:
        return matches, None
    cut = len(matches) - most
    cut += int(np.searchsorted(matches.day[cut:], matches.day[cut - 1], side="right"))  # whole days
    cut = cut if cut < len(matches) - most // 2 else len(matches) - most
    return matches[cut:], matches[:cut]


def auditable(matches: Matches, notes: list[str]) -> tuple[Matches, int]:
    """The matches to audit, and where their later half begins; ``notes`` gains what was noticed. Only what leaves
    nothing to say is refused."""
    if len(matches) < LEAST_AUDITED:
        raise InputError(
            f"An audit needs at least {LEAST_AUDITED} matches and has {len(matches):,}: some {LEAST_AUDITED} tell how "
            f"far strengths lie apart, {FEW_MATCHES} which way K should go, some thousands K itself to ± 25 %."
        )
    if np.ptp(matches.result) == 0 and matches.result[0] == 0.5:
        raise InputError("Every match is a draw: results say nothing about strengths.")
    decided = matches.signed[matches.signed != 0]
    share = float(np.mean(decided > 0)) if decided.size else 0.5
    if max(share, 1 - share) >= ONE_SIDED:
        notes.append(
            f"The side named {'first' if share > 0.5 else 'second'} won {percent(max(share, 1 - share), 1)} of decided "
            "matches: the order of sides gives away the result, so nothing is said of home advantage and every second "
            "match is read from the other side."
        )
        turn = np.arange(len(matches)) % 2 == 1
        matches = replace(
            matches,
            home=np.where(turn, matches.away, matches.home).astype(matches.home.dtype),
            away=np.where(turn, matches.home, matches.away).astype(matches.away.dtype),
            result=np.where(turn, 1 - matches.result, matches.result),
            margin=np.where(turn, -matches.margin, matches.margin),
            neutral=np.ones(len(matches), bool),
            lineups=None,
        )
    if len(matches) < FEW_MATCHES:
        notes.append(
            f"{len(matches):,} matches are few: they show how far strengths lie apart. It takes about {FEW_MATCHES} to "
            "show which way K should go, and thousands to show how fast strengths move; until then wide priors decide."
        )
    days = int(matches.day[-1] - matches.day[0])
    if days == 0:
        notes.append("All matches have one date: they show what matches do to strengths, not what time does.")
    elif days < SEASON_BREAK_DAYS:
        notes.append(
            f"All matches lie within {counted(days, 'day', 'days')}: they do not show what happens between seasons."
        )
    pools = matches.pools()
    apart = pools.filter(pools["pool"] != "main")
    if apart.height:
        names = ", ".join(quoted(name) for name in apart["name"].head(3))
        notes.append(
            f"{counted(apart.height, 'side', 'sides')} ({names}{', …' if apart.height > 3 else ''}) "
            f"{'is' if apart.height == 1 else 'are'} hardly tied to the others by matches: what is said of K holds, "
            "but their ratings cannot be compared with the rest."
        )
    # The middle match, moved to the beginning of its day where that leaves a quarter before it.
    middle = len(matches) // 2
    start = int(np.searchsorted(matches.day, matches.day[middle]))
    return matches, start if start >= len(matches) // 4 else middle


def only_side(matches: Matches) -> str | None:
    """The side that plays in every match, where there is one and the others are many: an extract of a league."""
    codes = (matches.home, matches.away)
    for code in {int(side[0]) for side in codes}:
        if np.all((codes[0] == code) | (codes[1] == code)) and np.unique(np.concatenate(codes)).size > 2:
            return matches.teams[code]
    return None


@dataclass(frozen=True)
class Misrated:
    """A side, its rating in use and what the matches say of its strength, about the mean of the active sides.

    ``off`` is rating less strength, ``error`` the standard error of the strength.
    """

    side: str
    rating: float
    strength: float
    off: float
    error: float


@dataclass(frozen=True)
class RatingsInUse:
    """Ratings held against strengths, about their means over the sides compared.

    Attributes
    ----------
    sides
        How many were compared.
    extremes
        The sides rated highest and lowest.
    """

    sides: int
    extremes: tuple[Misrated, ...]


def table_of(ratings: Any, matches: Matches) -> pl.DataFrame:
    """The table of ratings in use as a frame: name, rating."""
    import polars as pl

    try:
        table = load_table(ratings)
    except InputError as error:
        raise InputError(
            f"ratings must be a table with the columns name and rating, which cannot be read: {error}"
        ) from None
    table = table.rename({"team": "name"}) if "team" in table.columns and "name" not in table.columns else table
    missing = [name for name in ("name", "rating") if name not in table.columns]
    if missing:
        raise InputError(f"ratings has no column {missing[0]}; it has {', '.join(table.columns) or 'none'}.")
    table = table.with_columns(pl.col("name").cast(pl.String), pl.col("rating").cast(pl.Float64, strict=False))
    bad = table.filter(~pl.col("rating").is_finite().fill_null(False))
    if bad.height:
        raise InputError(f"ratings has no usable rating for {bad['name'][0]!r}.")
    if table["name"].n_unique() < table.height:
        raise InputError("ratings names a side twice.")
    strange = [name for name in table["name"] if name not in set(matches.teams)]
    if len(strange) > table.height / 2 or table.height - len(strange) < 2:
        near = nearest_names(strange[0], matches.teams) if strange else []
        meant = f"; is {strange[0]!r} {near[0]!r}" + "?" if near else ""
        raise InputError(
            f"These ratings do not belong to these sides: {len(strange):,} of {counted(table.height, 'name', 'names')} "
            f"never played{meant}" + ("" if near else ".")
        )
    return table


def compare_ratings(
    teams: tuple[str, ...], table: pl.DataFrame, strength: Array, doubt: Array, active: np.ndarray
) -> RatingsInUse:
    """Hold ratings of active sides against their strengths of today."""
    index = {name: i for i, name in enumerate(teams)}
    rows = [
        (index[row["name"]], row)
        for row in table.iter_rows(named=True)
        if row["name"] in index and active[index[row["name"]]]
    ]
    if len(rows) < 2:
        raise InputError("Fewer than two sides of these ratings have played within two years of the last match.")
    places = np.array([place for place, _ in rows])
    rating = np.array([row["rating"] for _, row in rows])
    rating = rating - rating.mean()
    strengths, error = strength[places] - strength[places].mean(), np.sqrt(doubt[places])
    off = rating - strengths
    order = np.argsort(-rating, kind="stable")
    chosen = [*order[:LISTED_SIDES], *order[max(LISTED_SIDES, order.size - LISTED_SIDES) :]]
    extremes = tuple(
        Misrated(teams[places[i]], *(float(x[i]) for x in (rating, strengths, off, error))) for i in chosen
    )
    return RatingsInUse(len(rows), extremes)
