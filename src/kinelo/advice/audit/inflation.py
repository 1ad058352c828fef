"""Whether a rating today is worth what it was, where newcomers should start, and the same by group.

Ratings are held against strengths as results alone tell them (:mod:`kinelo.advice.audit.hindsight`), all in one frame
whoever comes and goes. Rating less strength, on average over those who play, rises by as much as ratings inflate.

A side's group (juniors, clubs, regions) comes from a list of names and groups, or from a column of the matches: one for
each side (``home_region``, ``away_region``), or one for the match, whose value most often is the side's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
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
    years_since_entry,
)
from kinelo.advice.audit.kernels import NORMAL_95, YEAR, Array, Calendar, Parameters, Strengths
from kinelo.charts import Chart, Trace
from kinelo.errors import InputError
from kinelo.matches.columns import listed
from kinelo.matches.kinds import kind_of
from kinelo.matches.loading import load_table
from kinelo.matches.matches import Matches
from kinelo.matches.same_side import columns_of_sides
from kinelo.presentation import counted
from kinelo.raters.adapter import blank_of
from kinelo.raters.rater import traits_of

BINS = 8
"""Parts of the span in which a side's ratings and strengths are averaged."""
SETTLED_AFTER = 3.0
"""A side has settled after so many times the matches in which a rating follows 63 % of a change."""
FURTHEST = 6.0
"""How far apart sides of a league can lie, in 1/ν: some 2,100 points of the chess scale, odds of 160,000 to 1."""
FEWEST_MATCHES, MOST_INFLATION_MATCHES = 300, 50_000
TREND_DOUBT = 1.3
"""Growth is off by so much more than its covariance says, which takes the walk of strengths for known."""
USUAL_MEMORY = 20.0
"""Matches in which ratings follow 63 % of a change, where no step tells it."""
MOST_GROUPS = 40
MOST_LETTERS = 70
"""Letters of all names that stand side by side below a chart."""


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
    def range(self) -> tuple[float, float, float]:
        """The number between both ends."""
        return self.mean, self.low, self.high

    @property
    def beyond_chance(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0

    def to_dict(self) -> dict[str, float]:
        """Plain numbers; the interval holds 95 %."""
        return {**self._asdict(), "low": self.low, "high": self.high}


def plain_numbers(found: Any) -> dict[str, Any]:
    """What was found as plain numbers; intervals hold 95 %."""
    return {name: one.to_dict() if isinstance(one, Shift) else one for name, one in vars(found).items()}


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
    gain
        Points a year by which newcomers grow stronger than sides that were there before; None with too few.
    """

    per_year: Shift | None
    years: float
    start: Shift | None
    initial: float
    gain: Shift | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; intervals hold 95 %."""
        return plain_numbers(self)


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
    side = calendar.appearances
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
    inflation = inflation_seen(in_frame_of_today(seen, years), calendar, memory, initial, FURTHEST / nu)
    trend = hindsight.trend
    if inflation is None or trend is None:
        return inflation
    gain = Shift(float(trend.per_year[0]), TREND_DOUBT * math.sqrt(trend.covariance[0, 0]), newcomers(calendar).size)
    return replace(inflation, gain=plausible(gain, FURTHEST / nu))


def inflation_seen(
    seen: Appearances, calendar: Calendar, memory: float, initial: float, furthest: float
) -> RatingInflation | None:
    """The same from appearances in the frame of today; what lies further off than a league can have is left out."""
    years = float(calendar.day[-1] - calendar.day[0]) / YEAR
    if years < LEAST_YEARS:
        return None
    offset = scale_today(seen, years, memory)
    entered = np.flatnonzero((seen.number == 0) & (seen.match >= FOUNDING * calendar.size))
    slope, start = per_year(seen, np.ones(seen.side.size, bool), years), start_of(seen, entered, offset, initial)
    return RatingInflation(plausible(slope, furthest), years, plausible(start, furthest, initial), initial)


def in_frame_of_today(seen: Appearances, years: float) -> Appearances:
    """The same with luck told relative to those who play today: what all strengths share, results cannot tell."""
    luck = seen.luck - seen.luck[seen.year >= years * (1 - 1 / BINS)].mean(axis=0)
    return seen._replace(luck=luck, doubt=(luck**2).mean(axis=1))


def scale_today(seen: Appearances, years: float, memory: float) -> Shift | None:
    """Where the scale of ratings lies today: the mean of rating less strength over sides whose rating has found its
    strength."""
    each = seen.side.size / max(np.unique(seen.side).size, 1)
    settled = seen.number >= min(SETTLED_AFTER * memory, 0.5 * each)
    recent = settled & (seen.year >= years * (1 - 1 / BINS))
    sides, place = np.unique(seen.side[recent], return_inverse=True)
    if sides.size < LEAST_SIDES:
        return None
    off, doubt = (
        np.bincount(place, one[recent]) / np.bincount(place) for one in (seen.rating - seen.strength, seen.doubt)
    )
    return Shift(*mean_strength(off, doubt), sides.size)


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
    return replace(found, start=None)  # where newcomers start is found from the matches


def per_year(seen: Appearances, chosen: np.ndarray, years: float) -> Shift | None:
    """Slope over time of the mean of rating less strength over the sides that play, each once in a part of the span.

    Of a side that stays the slope would be another: ratings move towards strengths for long after a start, and where
    the weak leave, those stay whose ratings still rise. ``own`` tells the appearances that count.
    """
    part = np.minimum((seen.year[chosen] / years * BINS).astype(int), BINS - 1)
    first = np.flatnonzero(np.diff(seen.side[chosen].astype(np.int64) * BINS + part, prepend=-1))
    sides = int(np.unique(seen.side[chosen]).size)
    if sides < LEAST_SIDES or np.unique(part).size < 2:
        return None
    count = np.diff(first, append=part.size)
    off, strength, when = (
        np.add.reduceat(one[chosen], first) / count for one in (seen.rating - seen.strength, seen.strength, seen.year)
    )
    luck = np.add.reduceat(seen.luck[chosen], first) / count[:, None]
    doubt = (luck**2).mean(axis=1)
    # Who is known no better than by the league alone hardly counts.
    weight = 1.0 / (spread_of(strength, doubt) + doubt)
    t = when - weight @ when / weight.sum()
    along = weight * t / float(weight @ t**2)
    # Luck, and that sides differ in how far they are off: others might have been seen more often.
    differ = float(along @ along) * spread_of(off, doubt)
    return Shift(float(along @ off), math.sqrt(float(((along @ luck) ** 2).mean()) + differ), sides)


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
        moved = spread + excess / max(float(weight**2 @ (strength - mean) ** 2), 1e-300)
        if abs(moved - spread) < 1e-6 * (moved + spread) or moved <= 0:
            return max(moved, 0.0)
        spread = moved
    return spread


@dataclass(frozen=True)
class GroupFound:
    """What became of one group; each number with its standard error, None where too few sides tell it.

    Attributes
    ----------
    group, sides
        Its name, and how many sides it has.
    entry
        Rating at which those who entered should have started, on today's scale; None where nobody is known to stand
        still.
    gain
        Points a year by which its sides grow stronger, next to the reference, or to the average of all sides.
    inflation
        Points a year by which ratings of those who play rose above their strengths; None where nobody is known to stand
        still.
    bias
        Points by which its sides are rated too high today, next to the reference, or to the average of all sides.
    """

    group: str
    sides: int
    entry: Shift | None
    gain: Shift | None
    inflation: Shift | None
    bias: Shift | None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; intervals hold 95 %."""
        return plain_numbers(self)


def groups_of(by: Any, matches: Matches, reference: str | None = None) -> dict[str, np.ndarray]:
    """Places of the sides in each group, in order of size; who is in none is left out, and a ``reference`` that nothing
    can be held against is refused."""
    label: dict[str, str] = {}
    if isinstance(by, str) and not Path(by).is_file():
        # The value that each side has most often.
        columns = columns_of(by, list(matches.conditions))
        both = [matches.conditions[name] for name in (columns if len(columns) == 2 else columns * 2)]
        counts: dict[str, dict[str, int]] = {}
        for side, condition in zip((matches.home, matches.away), both):
            for team, code in zip(side.tolist(), condition.codes.tolist()):
                if code >= 0:
                    own = counts.setdefault(matches.teams[team], {})
                    own[condition.levels[code]] = own.get(condition.levels[code], 0) + 1
        label = {team: max(sorted(own), key=own.__getitem__) for team, own in counts.items()}
    else:
        table = by
        if isinstance(by, Mapping) and not {"name", "group"} <= set(by):
            table = {"name": list(by), "group": list(by.values())}
        if not isinstance(table, str | Path | Mapping | list) and not hasattr(table, "columns"):
            raise InputError(
                "by is a column of the matches, a mapping from names to groups, or a table with the columns name and "
                f"group, not {type(by).__name__}."
            )
        frame = load_table(table)
        if not {"name", "group"} <= set(frame.columns):
            raise InputError(f"A list of groups has the columns name and group; this one has {listed(frame.columns)}.")
        for name, group in frame.select("name", "group").drop_nulls("group").iter_rows():
            if label.setdefault(str(name), str(group)) != str(group):
                raise InputError(f"The list of groups puts {str(name)!r} into two groups.")
    places: dict[str, list[int]] = {}
    for n, team in enumerate(matches.teams):
        if team in label:
            places.setdefault(label[team], []).append(n)
    if not places:
        raise InputError("by names no group of these sides.")
    if len(places) > MOST_GROUPS:
        raise InputError(f"by makes {len(places):,} groups; at most {MOST_GROUPS} can be told apart.")
    order = list(dict.fromkeys(label.values()))
    groups = {
        name: np.array(places[name]) for name in sorted(places, key=lambda one: (-len(places[one]), order.index(one)))
    }
    if reference is not None and reference not in groups:
        raise InputError(f"There is no group {reference!r} to refer to; there is {listed(groups)}.")
    if reference is not None and not _tells(Calendar.of(matches), groups[reference]):
        raise InputError(
            f"The group {reference!r} has {counted(groups[reference].size, 'side', 'sides')}: a reference needs at "
            f"least {LEAST_SIDES} that have played for half a year or more."
        )
    return groups


def columns_of(by: str, columns: list[str]) -> list[str]:
    """The columns of a file that tell groups: one of this name, or one for each side, named by either or by what they
    share."""
    for shared, pair in columns_of_sides(columns).items():
        if pair[0] != shared and (by in pair or by.lower() == shared.lower()):
            return list(pair)
    if by in columns:
        return [by]
    raise InputError(
        f"There is no column {by!r}, nor one for each side (home_{by}, away_{by}); there is "
        f"{listed(columns) or 'none, unless they are read as conditions'}. A list of names and groups is a file "
        "with these two columns."
    )


def _tells(calendar: Calendar, places: np.ndarray) -> bool:
    """Whether a group is large enough, and there for long enough, to tell what a year is worth to it."""
    return years_since_entry(calendar, [places]).shape[1] > 0


def groups_found(
    calendar: Calendar, parameters: Parameters, filtered: Strengths, groups: dict[str, np.ndarray],
    ratings: tuple[Array, float, float], reference: str | None = None,
) -> tuple[tuple[GroupFound, ...], RatingInflation | None]:  # fmt: skip
    """What became of each group, and of all ratings next to the ``reference``; without one, None and next to all sides.

    ``ratings`` are those before each match (n × 2, less where newcomers begin), the matches in which they follow 63 %
    of a change, and where newcomers begin.
    """
    before, memory, initial = ratings
    compared = [name for name, places in groups.items() if _tells(calendar, places)]
    hindsight = strengths_in_hindsight(calendar, parameters, filtered, growing=[groups[name] for name in compared])
    years, trend = float(calendar.day[-1] - calendar.day[0]) / YEAR, hindsight.trend
    size = np.array([groups[name].size for name in compared], float)
    # Gains, biases and inflation count from here: who stands still.
    share = np.array([name == reference for name in compared], float) if reference else size / max(size.sum(), 1.0)
    seen = appearances(calendar, hindsight, before)
    # Others than those groups stand still; where there are none, all of them on average.
    all_told = size.sum() > calendar.sides - LEAST_SIDES
    if trend is not None and (reference or all_told):
        since = seen.year - years
        luck = seen.luck - np.multiply.outer(since, share @ trend.luck)
        seen = seen._replace(strength=seen.strength - since * float(share @ trend.per_year), luck=luck)
    seen = in_frame_of_today(seen, years)
    offset = scale_today(seen, years, memory)
    entered = np.flatnonzero((seen.number == 0) & (seen.match >= FOUNDING * calendar.size))
    last = np.flatnonzero(np.append(seen.side[1:] != seen.side[:-1], True))
    recent = last[seen.year[last] >= years - 2.0]
    middle = recent if reference is None else recent[np.isin(seen.side[recent], groups[reference])]
    nought, _ = mean_strength((seen.rating - seen.strength)[middle], seen.doubt[middle])
    furthest, answers = FURTHEST / parameters.nu, []
    for name, places in groups.items():
        members = np.isin(seen.side, places)
        today = recent[members[recent]]
        bias = gain = None
        if today.size >= LEAST_SIDES and name != reference:
            mean, error = mean_strength((seen.rating - seen.strength)[today], seen.doubt[today])
            # What luck the members share, next to the others, does not average out.
            shared = seen.luck[today].mean(axis=0) - seen.luck[middle].mean(axis=0)
            bias = Shift(mean - nought, math.hypot(error, math.sqrt(float((shared**2).mean()))), int(today.size))
        # Of one group of all sides there is nothing to hold it against.
        if trend is not None and name in compared and name != reference and places.size < calendar.sides:
            against = np.array([other == name for other in compared], float) - (share if len(compared) > 1 else 0.0)
            error = TREND_DOUBT * math.sqrt(max(float(against @ trend.covariance @ against), 0.0))
            gain = Shift(float(against @ trend.per_year), error, int(places.size))
        # Both hang on who stands still: of all told, and without a reference, nobody is known to.
        known = reference is not None or not all_told
        inflation = per_year(seen, members, years) if known and years > 0 else None
        entry = start_of(seen, entered[members[entered]], offset, initial) if known else None
        found = (plausible(entry, furthest, initial), *(plausible(one, furthest) for one in (gain, inflation, bias)))
        answers.append(GroupFound(name, int(places.size), *found))
    return tuple(answers), inflation_seen(seen, calendar, memory, initial, furthest) if reference else None


def groups_chart(groups: tuple[GroupFound, ...]) -> Chart:
    """How far each group is rated too high today, with its 95 % interval, and how much it gains a year."""
    place = np.arange(len(groups), dtype=float)
    traces = [Trace("", "truth", "dashed", [-0.5, len(groups) - 0.5], [0.0, 0.0])]
    parts = (
        ("bias", "rated too high today, points"),
        ("gain", "grows stronger, points a year"),
        ("inflation", "ratings rise above strengths, points a year"),
    )
    for role, (name, words) in enumerate(parts):
        answered = [(n, getattr(group, name)) for n, group in enumerate(groups) if getattr(group, name) is not None]
        if answered:
            x = np.array([place[n] for n, _ in answered]) + {"bias": -0.15, "gain": 0.0, "inflation": 0.15}[name]
            y, error = (
                np.array([pick(group) for _, group in answered])
                for pick in (lambda s: s.mean, lambda s: s.high - s.mean)
            )
            notes = tuple(f"{groups[n].group}: {group.mean:.0f} ± {group.error:.0f}" for n, group in answered)
            traces.append(Trace(words, role, "markers", x, y, error=error, notes=notes))
    names = [group.group for group in groups]
    label = f"Groups: {', '.join(names)}"
    if sum(map(len, names)) <= MOST_LETTERS:
        return Chart(label, "group", "points, with 95 % intervals", traces, x_names=tuple(names))
    # Names that would run into one another stand below the axis.
    listed = ", ".join(f"{n} {name}" for n, name in enumerate(names, 1))
    numbers = tuple(str(n) for n in range(1, len(names) + 1))
    return Chart(label, f"group: {listed}", "points, with 95 % intervals", traces, x_names=numbers)
