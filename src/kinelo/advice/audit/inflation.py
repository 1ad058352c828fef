"""Whether a rating today is worth what it was, and where newcomers should start.

Ratings are held against strengths as results alone tell them (:mod:`kinelo.advice.audit.hindsight`), all in one frame
whoever comes and goes. Rating less strength, on average over those who play, rises by as much as ratings inflate. A
side that enters above its strength brings points in, and one that leaves above its strength takes points out: with the
changes of strength themselves, that is all that can move the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinelo.advice.audit.estimate import estimate_league, filter_league, smooth_league
from kinelo.advice.audit.hindsight import (
    FOUNDING,
    LEAST_SIDES,
    LEAST_YEARS,
    HindsightStrengths,
    newcomers,
    strengths_in_hindsight,
)
from kinelo.advice.audit.kernels import NORMAL_95, YEAR, Array, Calendar
from kinelo.matches.kind import kind_of
from kinelo.matches.matches import Matches
from kinelo.raters.adapter import blank_of
from kinelo.raters.rater import traits_of

BINS = 8
"""Parts of the span in which a side's ratings and strengths are averaged."""
SETTLED_AFTER = 3.0
"""A side has settled after so many times the matches in which a rating follows 63 % of a change."""
AWAY_DAYS, AWAY_MATCHES = 250.0, 0.5
"""Who was away for so long, while the league played so many of the matches of a year, has come back."""
FURTHEST = 6.0
"""How far apart sides of a league can lie, in 1/ν: some 2,100 points of the chess scale, odds of 160,000 to 1."""
FEWEST_MATCHES, MOST_INFLATION_MATCHES = 300, 50_000
USUAL_MEMORY = 20.0
"""Matches in which ratings follow 63 % of a change, where no step tells it."""


class Shift(NamedTuple):
    """A number of points with its standard error, and how many sides it was found from."""

    mean: float
    error: float
    sides: int

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.mean - NORMAL_95 * self.error

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.mean + NORMAL_95 * self.error

    @property
    def beyond_chance(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def plausible(one: Shift | None, furthest: float, origin: float = 0.0) -> Shift | None:
    """The same; None where it lies outside of what a league can have, or is not known to within that."""
    return one if one is not None and abs(one.mean - origin) < furthest and one.error < furthest / 2 else None


@dataclass(frozen=True)
class RatingInflation:
    """What became of the worth of a rating.

    Attributes
    ----------
    per_year
        Points a year by which ratings of the sides that play rose above their strengths; None of too few sides.
    years
        Years between the first and the last match.
    start
        Rating at which newcomers should start today, with its standard error; None with too few newcomers.
    initial
        Rating at which they start.
    returning
        Points by which ratings of sides that come back after a season or more (promoted sides) should be raised.
    entries, exits
        Points a year by which newcomers raise (their starts above their strengths) and leavers lower the mean of the
        active sides.
    gain
        Points a year by which newcomers grow stronger than sides that were there before; None with too few.
    """

    per_year: Shift | None
    years: float
    start: Shift | None
    initial: float
    returning: Shift | None
    entries: float
    exits: float
    gain: Shift | None = None

    def to_dict(self) -> dict[str, object]:
        """Plain numbers; intervals hold 95 %."""

        def plain(one: Shift | None) -> dict[str, float] | None:
            return None if one is None else {**one._asdict(), "low": one.low, "high": one.high}

        return {
            "per_year": plain(self.per_year), "years": self.years, "start": plain(self.start), "initial": self.initial,
            "returning": plain(self.returning), "entries": self.entries, "exits": self.exits,
            "gain": plain(self.gain),
        }  # fmt: skip


class Appearances(NamedTuple):
    """Every match seen from both sides, in order of side and time: rating, strength, its variance, and when; ``luck``
    are draws of what it may have added to strengths (a column for each)."""

    side: np.ndarray
    rating: Array
    strength: Array
    doubt: Array
    year: Array
    number: np.ndarray
    match: np.ndarray
    luck: Array


def appearances(calendar: Calendar, hindsight: HindsightStrengths, before: Array) -> Appearances:
    """Every match from both sides, with ratings ``before`` it (n × 2) beside strengths in hindsight."""
    side = np.column_stack([calendar.home, calendar.away]).ravel()
    order = np.argsort(side, kind="stable")
    first = np.flatnonzero(np.diff(side[order], prepend=-1))
    number = np.arange(side.size) - np.repeat(first, np.diff(first, append=side.size))
    year, match = np.repeat(calendar.day / YEAR, 2), np.repeat(np.arange(calendar.size), 2)
    strength, luck = hindsight.of_matches()
    rating, strength, year = (one[order] for one in (before.ravel(), strength.ravel(), year))
    match = match[order]
    luck = luck.reshape(side.size, -1)[order]
    return Appearances(side[order], rating, strength, (luck**2).mean(axis=1), year, number, match, luck)


def inflation_of(
    calendar: Calendar, hindsight: HindsightStrengths, before: Array, memory: float, initial: float, nu: float
) -> RatingInflation | None:
    """What ratings ``before`` each match (n × 2, less where newcomers begin) did against strengths in hindsight.

    ``memory`` is the number of matches in which a rating follows 63 % of a change. None without half a year of dates.
    """
    seen, years = appearances(calendar, hindsight, before), float(calendar.day[-1] - calendar.day[0]) / YEAR
    found = inflation_seen(in_frame_of_today(seen, years), calendar, memory, initial, FURTHEST / nu)
    trend = hindsight.trend
    if found is None or trend is None:
        return found
    gain = Shift(float(trend.per_year[0]), math.sqrt(trend.covariance[0, 0]), newcomers(calendar).size)
    return replace(found, gain=plausible(gain, FURTHEST / nu))


def inflation_seen(
    seen: Appearances, calendar: Calendar, memory: float, initial: float, furthest: float
) -> RatingInflation | None:
    """The same from appearances in the frame of today; what lies further off than a league can have is left out."""
    years = float(calendar.day[-1] - calendar.day[0]) / YEAR
    if years < LEAST_YEARS:
        return None
    settled, offset = settled_appearances(seen, years, memory)
    entered = np.flatnonzero((seen.number == 0) & (seen.match >= FOUNDING * calendar.size))
    slope, start = per_year(seen, np.ones(seen.side.size, bool), years), start_of(seen, entered, offset, initial)
    back = _returning(seen, settled, offset, AWAY_MATCHES * calendar.size / years)
    return RatingInflation(
        plausible(slope, furthest), years, plausible(start, furthest, initial), initial, plausible(back, furthest),
        *_entries_and_exits(seen, entered, years),
    )  # fmt: skip


def in_frame_of_today(seen: Appearances, years: float) -> Appearances:
    """The same with luck told relative to those who play today: what all strengths share, results cannot tell."""
    luck = seen.luck - seen.luck[seen.year >= years * (1 - 1 / BINS)].mean(axis=0)
    return seen._replace(luck=luck, doubt=(luck**2).mean(axis=1))


def settled_appearances(seen: Appearances, years: float, memory: float) -> tuple[np.ndarray, Shift | None]:
    """In which appearances a rating has found its strength, and where the scale of ratings lies today."""
    each = seen.side.size / max(np.unique(seen.side).size, 1)
    settled = seen.number >= min(SETTLED_AFTER * memory, 0.5 * each)
    return settled, _by_side(seen, settled & (seen.year >= years * (1 - 1 / BINS)))


def rating_inflation(rater: Any, matches: Matches) -> RatingInflation | None:
    """What became of the worth of a rating while a rater, fitted on these matches, rated them.

    Of many matches the latest are looked at. Ratings of KalmanElo count from the mean of those who are active, so that
    they rise where that mean falls. None where the rater gives no ratings before each match, where the matches are
    few or span less than half a year, and of contests.

    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(seed=1).results)
    >>> found = rating_inflation(kn.TeamElo.classic(k=20).fit(matches), matches)
    >>> found.initial, found.per_year.beyond_chance
    (1500.0, False)
    """
    if not traits_of(rater).follows_matches or not kind_of(matches).two_sided:
        return None
    if len(matches) < FEWEST_MATCHES or not matches.dated:
        return None
    if np.isnan(matches.result).any() or matches.day[-1] - matches.day[0] < LEAST_YEARS * YEAR:
        return None
    said = blank_of(rater).one_step_ahead(matches).ratings_before
    if said is None:
        return None
    matches, before = matches[-MOST_INFLATION_MATCHES:], said[-MOST_INFLATION_MATCHES:] - rater.initial
    calendar, nu = Calendar.of(matches), math.log(10.0) / (2.0 * getattr(rater, "scale", 400.0))
    parameters = estimate_league(calendar, nu).parameters
    filtered = filter_league(calendar, parameters)
    hindsight = strengths_in_hindsight(calendar, parameters, smooth_league(calendar, filtered))
    # A surprise closes about the share γν of a gap.
    memory = 1.0 / (nu * rater.parameters_["step"]) if rater.parameters_.get("step") else USUAL_MEMORY
    found = inflation_of(calendar, hindsight, before, memory, rater.initial, nu)
    if found is None or traits_of(rater).passes_points:
        return found
    # Where newcomers start is found from the matches, and no points are passed on.
    return replace(found, start=None, entries=0.0, exits=0.0)


def _by_side(seen: Appearances, here: np.ndarray) -> Shift | None:
    """Mean of rating less strength over sides, in some of their matches: where the scale of ratings lies."""
    sides, place = np.unique(seen.side[here], return_inverse=True)
    if sides.size < LEAST_SIDES:
        return None
    off, doubt = (
        np.bincount(place, one[here]) / np.bincount(place) for one in (seen.rating - seen.strength, seen.doubt)
    )
    return Shift(*mean_strength(off, doubt), sides.size)


def per_year(seen: Appearances, own: np.ndarray, years: float) -> Shift | None:
    """Slope over time of the mean of rating less strength over the sides that play, each once in a part of the span.

    Of a side that stays the slope would be another: ratings move towards strengths for long after a start, and where
    the weak leave, those stay whose ratings still rise. ``own`` tells the appearances that count.
    """
    part = np.minimum((seen.year[own] / years * BINS).astype(int), BINS - 1)
    first = np.flatnonzero(np.diff(seen.side[own].astype(np.int64) * BINS + part, prepend=-1))
    sides = int(np.unique(seen.side[own]).size)
    if sides < LEAST_SIDES or np.unique(part).size < 2:
        return None
    count = np.diff(first, append=part.size)
    off, strength, when = (
        np.add.reduceat(one[own], first) / count for one in (seen.rating - seen.strength, seen.strength, seen.year)
    )
    luck = np.add.reduceat(seen.luck[own], first) / count[:, None]
    doubt = (luck**2).mean(axis=1)
    # Who is known no better than by the league alone hardly counts.
    weight = 1.0 / (spread_of(strength, doubt) + doubt)
    t = when - weight @ when / weight.sum()
    along = weight * t / float(weight @ t**2)
    return Shift(float(along @ off), math.sqrt(float(((along @ luck) ** 2).mean())), sides)


def start_of(seen: Appearances, entered: np.ndarray, offset: Shift | None, initial: float) -> Shift | None:
    """Where newcomers should start, on today's scale: their mean strength when they entered."""
    if offset is None or entered.size < LEAST_SIDES:
        return None
    strength, doubt = seen.strength[entered], seen.doubt[entered]
    spread = spread_of(strength, doubt)
    weight = 1.0 / (spread + doubt)
    weight /= weight.sum()
    # Newcomers share errors (of their trend, and of the frame that carried them here): these do not average out.
    shared = float(((weight @ seen.luck[entered]) ** 2).mean())
    error = math.sqrt(spread * float(weight @ weight) + shared + offset.error**2)
    return Shift(initial + offset.mean + float(weight @ strength), error, int(entered.size))


def mean_strength(strength: Array, doubt: Array) -> tuple[float, float]:
    """Mean of strengths known to variances ``doubt``, and its standard error: who is known better counts more."""
    weight = 1.0 / (spread_of(strength, doubt) + doubt)
    return float(weight @ strength / weight.sum()), 1.0 / math.sqrt(float(weight.sum()))


def spread_of(strength: Array, doubt: Array) -> float:
    """Variance of strengths about their mean beyond ``doubt``: the one that explains their squares."""
    spread = 0.0
    for _ in range(60):
        weight = 1.0 / (spread + doubt)
        mean = float(weight @ strength / weight.sum())
        excess = float(weight @ (strength - mean) ** 2) - (strength.size - 1)
        moved = spread + excess / float(weight**2 @ (strength - mean) ** 2)
        if abs(moved - spread) < 1e-6 * (moved + spread) or moved <= 0:
            return max(moved, 0.0)
        spread = moved
    return spread


def _returning(seen: Appearances, settled: np.ndarray, offset: Shift | None, missed: float) -> Shift | None:
    """How much stronger than rated sides are that come back, against those who stayed: the league has played so many
    matches in the middle of the time for which they were away, so that no break of all sides counts."""
    days = np.sort(seen.year)
    left, came = seen.year[:-1] + AWAY_DAYS / 4 / YEAR, seen.year[1:] - AWAY_DAYS / 4 / YEAR
    between = (np.searchsorted(days, came) - np.searchsorted(days, left)) / 2
    away = (seen.side[1:] == seen.side[:-1]) & (np.diff(seen.year) * YEAR > AWAY_DAYS) & (between > missed)
    back = 1 + np.flatnonzero(away & settled[1:])
    if offset is None or back.size < LEAST_SIDES:
        return None
    mean, error = mean_strength((seen.strength - seen.rating)[back], seen.doubt[back])
    return Shift(mean + offset.mean, math.hypot(error, offset.error), int(back.size))


def _entries_and_exits(seen: Appearances, entered: np.ndarray, years: float) -> tuple[float, float]:
    """Points a year that newcomers bring to each active side, and that leavers bring (less than 0: take)."""
    above = seen.rating - seen.strength
    last = np.append(seen.side[1:] != seen.side[:-1], True)
    gone = last & (seen.year < years * (1 - 1 / BINS))
    active = int(np.sum(last & ~gone))
    shared = max(active, 1) * years
    return float(above[entered].sum()) / shared, -float(above[gone].sum()) / shared
