"""A league played beside an answer of theory: both numbers, and how far apart they are in standard errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinelo.advice.judged import moments_of
from kinelo.advice.settling import beginning
from kinelo.errors import InputError
from kinelo.micro.simulate import simulate
from kinelo.model.dynamics import Dynamics, Walk
from kinelo.model.strength import Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.covariance import matches_together
from kinelo.theory.moving.following import Moments
from kinelo.theory.moving.tracking import Tracking, tracking
from kinelo.theory.state import StationaryState, regression_slope
from kinelo.theory.teams import Continuum

CHECK_MATCHES = 4_000_000
"""Matches of a check in all: a second or two."""
REALISATIONS = 16
SEED = 1
CHECK_RECORDS = 40
"""Moments of each league that are looked at, at least."""
CHECK_TEAMS = 200
"""Teams that stand for a continuum."""
FORGOTTEN = 5.0
"""Memories after which a league that walks has forgotten where its ratings began."""
WALK_RECORDS = 8
LEAST_LEAGUES, MOST_LEAGUES = 8, 400
"""Leagues of strengths that walk, each of which is looked at about one moment only."""
DISAGREEMENT = 4.0
"""Standard errors beyond which theory and league disagree, if they do by more than ``NEAR_PLAYED`` as well."""
NEAR_PLAYED = 0.02


@dataclass(frozen=True)
class Quantity:
    """One number by theory and as played, with the standard error of the latter.

    >>> Quantity("slope", 0.84, 0.85, 0.005).z.__round__(3)
    2.0
    """

    name: str
    theory: float
    played: float
    standard_error: float

    @property
    def z(self) -> float:
        """Played less theory in standard errors."""
        gap = self.played - self.theory
        return gap / self.standard_error if self.standard_error > 0 else math.copysign(math.inf, gap) if gap else 0.0

    @property
    def agrees(self) -> bool:
        """Whether both lie within 2 % or four standard errors of each other."""
        return abs(self.z) <= DISAGREEMENT or abs(self.played - self.theory) <= NEAR_PLAYED * abs(self.played)


@dataclass(frozen=True)
class Check:
    """What a league played beside theory showed.

    Attributes
    ----------
    quantities
        The numbers that were compared.
    matches
        Matches of each team over which they were measured, in each league.
    leagues
        Leagues that were played.
    spread
        Standard deviation of the strengths that both numbers are about, where strengths walk: those that the played
        league came to have, as near as can be to today's.

    >>> check = Check((Quantity("slope", 0.84, 0.9, 0.005),), matches=1000, leagues=16)
    >>> check.agrees, check.sentence
    (False, 'Theory and league disagree: slope 0.84 by theory, 0.9 ± 0.005 as played (z = +12.0).')
    """

    quantities: tuple[Quantity, ...]
    matches: int
    leagues: int
    spread: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether theory and league agree in everything that was compared."""
        return all(one.agrees for one in self.quantities)

    @property
    def sentence(self) -> str:
        """Both numbers of each quantity."""
        misses = "; ".join(
            f"{one.name} {one.theory:.4g} by theory, {one.played:.4g} ± {one.standard_error:.2g} as played "
            f"(z = {one.z:+.1f})"
            for one in self.quantities
        )
        about = (
            ""
            if self.spread is None
            else f" Both are about strengths that have walked until they spread by ± {self.spread:.3g}."
        )
        return f"Theory and league {'agree' if self.agrees else 'disagree'}: {misses}.{about}"

    def to_dict(self) -> dict[str, object]:
        """Plain numbers, ready for JSON."""
        rows = [
            {"name": q.name, "theory": q.theory, "played": q.played, "standard_error": q.standard_error, "z": q.z}
            for q in self.quantities
        ]
        plain = {"agrees": self.agrees, "matches": self.matches, "leagues": self.leagues, "quantities": rows}
        return plain if self.spread is None else {**plain, "spread": self.spread}


def check_state(
    state: StationaryState,
    *,
    matches: int = CHECK_MATCHES,
    factor: float | None = None,
    fairness: tuple[Array, float] | None = None,
) -> Check:
    """Play the league of a stationary state: slope of the mean ratings, and mean square of rating less strength.

    With ``factor`` also the mean square where rating gaps are multiplied by it; with ``fairness`` (expected results of
    all pairs in size, and their mean over games by theory) also how one-sided games are.
    """
    league, start = state.teams.strengths, state.rating
    if not state.teams.finite:
        if np.ptp(state.teams.sigma) > 0:
            raise InputError("A continuum is played for one common sigma; give a league of teams to check.")
        league = _sample((float(state.theta.min()), float(state.theta.max())), float(state.teams.sigma[0]))
        start = np.interp(league.theta, state.theta, state.rating)
    rating, _, length = _play(state.system, league, None, start, matches)
    weight = np.full(league.teams, 1 / league.teams)
    quantities = []
    if np.ptp(league.theta) > 0:
        slopes = np.array([regression_slope(league.theta, one, weight) for one in rating.mean(axis=1)])
        quantities.append(_quantity("slope", state.slope, slopes))
    if state.noise == "gaussian":
        errors = (rating - league.theta).var(axis=2, ddof=1).mean(axis=1)
        quantities.append(_quantity("mean square error", state.error, errors))
        if factor is not None and factor != 1:
            quantities.append(_rescaled(factor, moments_of(state), rating, league.theta + 0 * rating))
    if fairness is not None:
        # Mean size of the expected result over games, one for each league.
        i, j = np.triu_indices(rating.shape[2], 1)
        played = np.array([state.system.pairing.w(one[:, i] - one[:, j]).mean(axis=0) for one in rating])
        one_sided = played @ fairness[0][i, j] / played.sum(axis=1)
        quantities.append(_quantity("one-sidedness", fairness[1], one_sided))
    return Check(tuple(quantities), length, len(rating))


def check_tracking(
    tracked: Tracking,
    strengths: Strength | Continuum,
    *,
    matches: int = CHECK_MATCHES,
    factor: float | None = None,
) -> Check:
    """Play the league of a tracking: mean square error, and the slopes of ratings and strengths on each other.

    With ``factor`` also the mean square where rating gaps are multiplied by it.
    """
    same_league = tracked
    if isinstance(strengths, Continuum):
        strengths, same_league = _sample(strengths.theta, strengths.sigma), None
    walk = tracked.dynamics
    if isinstance(walk, Walk):
        # Strengths that walk spread for ever. So the league begins as far in the past as ratings remember, with
        # strengths that much nearer together; one that cannot have walked for so long begins with equal ones. Theory
        # is that of the strengths which the league has about the moment at which they spread as they do today.
        size, memory = strengths.teams, beginning(tracked.system, strengths).memory
        batch = matches_together(tracked.system.schedule, size)
        before, after = (max(1, round(part * memory / batch)) for part in (FORGOTTEN - 0.5, 1.0))
        every = max(1, after // WALK_RECORDS)
        records = max(1, after // every)
        begin = before_walk(strengths, walk, batch * (before + every * records / 2))
        steps = before + every * records
        leagues = int(np.clip(2 * matches / (size * batch * steps), LEAST_LEAGUES, MOST_LEAGUES))
        plan = (steps, every, records)
        rating, strength = last_records(tracked.system, begin, walk, plan, leagues, SEED, begin.theta)
        tracked, length = tracking(tracked.system, as_walked(strengths, strength), walk), every * records * batch
    else:
        start = np.array(strengths.theta)
        if tracked.teams is not None and tracked.teams.rating.size == strengths.teams:
            start = tracked.teams.rating
        rating, strength, length = _play(tracked.system, strengths, tracked.dynamics, start, matches, same_league)
    x, y = (one - one.mean(axis=2, keepdims=True) for one in (strength, rating))
    both, alone, rated = ((one * other).mean(axis=(1, 2)) for one, other in ((x, y), (x, x), (y, y)))
    errors = (rating - strength).var(axis=2, ddof=1).mean(axis=1)
    quantities = [_quantity("mean square error", tracked.E, errors)]
    if tracked.V > 0:
        quantities.append(_ratio("slope", tracked.rating_slope, both, alone))
    quantities.append(_ratio("slope of strengths on ratings", tracked.forecast_slope, both, rated))
    if factor is not None and factor != 1:
        quantities.append(_rescaled(factor, tracked.moments, rating, strength))
    return Check(tuple(quantities), length, len(rating), math.sqrt(tracked.V) if isinstance(walk, Walk) else None)


def before_walk(strengths: Strength, walk: Walk, matches: float) -> Strength:
    """The league that spreads as this one does once it has walked for so many matches of a team.

    Strengths that cannot have walked for so long begin equal.
    """
    middle, own = float(np.mean(strengths.theta)), float(np.var(strengths.theta, ddof=1))
    share = math.sqrt(max(0.0, 1 - walk.step**2 * matches / own)) if own > 0 else 0.0
    return strengths.like(middle + share * (strengths.theta - middle), strengths.sigma)


def as_walked(strengths: Strength, strength: Array) -> Strength:
    """The league with strengths as they lay apart while it was played (leagues × records × teams)."""
    reached = np.sort(strength, axis=2).mean(axis=(0, 1))
    reached = (reached - reached.mean()) * math.sqrt(strength.var(axis=2).mean() / reached.var())
    order = np.argsort(strengths.theta, kind="stable")
    return strengths.like(reached, strengths.sigma[order])


def _quantity(name: str, theory: float, played: Array) -> Quantity:
    return Quantity(name, theory, float(played.mean()), float(played.std(ddof=1)) / math.sqrt(played.size))


def _rescaled(factor: float, moments: Moments, rating: Array, strength: Array) -> Quantity:
    errors = (factor * rating - strength).var(axis=2, ddof=1).mean(axis=1)
    return _quantity(f"mean square error with gaps times {factor:.3f}", moments.rescaled(factor).error, errors)


def _ratio(name: str, theory: float, above: Array, below: Array) -> Quantity:
    """A ratio of two means over leagues."""
    ratio = float(above.mean() / below.mean())
    doubt = float((above - ratio * below).std(ddof=1)) / math.sqrt(above.size) / float(below.mean())
    return Quantity(name, theory, ratio, doubt)


def _sample(theta: tuple[float, float], sigma: float) -> Normal:
    """A league of some hundred teams spread like a continuum."""
    return Normal(np.linspace(*theta, 2 * CHECK_TEAMS + 1)[1::2], sigma)


def _play(
    system: RatingSystem,
    league: Strength,
    dynamics: Dynamics | None,
    start: Array,
    matches: int,
    tracked: Tracking | None = None,
) -> tuple[Array, Array, int]:
    """Ratings and strengths, leagues × records × teams, and the matches of a team they span; ``tracked`` is
    what theory says of this league, where that is known.
    """
    size = league.teams
    memory = beginning(system, league, dynamics, tracked).memory
    leagues = REALISATIONS
    per_team = 2 * matches / size / leagues
    while leagues > 4 and per_team < 12 * memory:
        leagues, per_team = leagues // 2, 2 * per_team
    per_team = min(per_team, 4000 * memory)
    batch = matches_together(system.schedule, size)
    # The first third is left out: it has not forgotten the start.
    records = int(np.clip(2 * per_team / memory / 1.5, CHECK_RECORDS, 10 * CHECK_RECORDS))
    every = max(1, int(per_team / batch / (1.5 * records)))
    rating, strength = last_records(
        system, league, dynamics, (int(1.5 * records) * every, every, records), leagues, SEED, start
    )
    return rating, strength, every * records * batch


def last_records(
    system: RatingSystem,
    league: Strength,
    dynamics: Any,
    plan: tuple[int, int, int],
    leagues: int,
    seed: int,
    start: Array | None,
) -> tuple[Array, Array]:
    """Play leagues and take ratings and strengths of the last records, leagues × records × teams each.

    A step is one candidate match per team, as in the theory, or all that count together; ``plan`` is the number of
    steps, how many of them lie between two records, and the number of records taken.
    """
    steps, every, records = plan
    schedule, size = system.schedule, league.teams
    run = simulate(
        system, league, steps=steps, realisations=leagues, seed=seed, record_every=every, dynamics=dynamics,
        matches_per_step=(schedule and schedule.period(size)) or max(size // system.sides, 1),
        start=None if start is None else np.asarray(start, dtype=np.float64),
    )  # fmt: skip
    late = run.sizes["time"] - records
    rating = run.rating.values[:, late:]
    return rating, run.strength.values[:, late:] if "strength" in run else league.theta + 0 * rating
