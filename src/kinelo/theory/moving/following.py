r"""How ratings follow strengths, read off the closure: moments about the means of the league, and the error by cause.

With P the projection that removes the league's mean, ``E = tr P(V − 2C + U)P/(N − 1)`` plus the spread of the means;
divisors are N − 1 throughout, so that a variance is half that of a difference.

Among few teams the closure is improved by what it misses for two of them, which are solved exactly:
``E ≈ closure(N) + (2/N)·mean over pairs [exact₂(gap) − closure₂(gap)]`` at the same γ and ω.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Form, Walk
from kinelo.model.strength import Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.closure import LeagueClosure, NoiseKind, Solution, State, own_variance, settled_steps
from kinelo.theory.covariance import motion_of
from kinelo.theory.fixed_point import GOAL
from kinelo.theory.many_teams import Grouped, merge_moving
from kinelo.theory.teams import Teams, teams_of
from kinelo.theory.two_teams import gap_law

MOST_CORRECTED = 40
"""Teams beyond which two of them say too little to be worth their time."""
GAPS = 5
"""Gaps at which two teams are solved, where a league has more."""
QUICK = 1e-9
"""Relative change to which the closure of two teams is solved, beside an exact law of about five digits."""


@dataclass(frozen=True)
class Moments:
    """V = Var ρ, C = Cov(ρ, r), U = Var r about the league's means.

    >>> Moments(1.0, 0.8, 0.8).error.__round__(3)
    0.2
    """

    V: float
    C: float
    U: float

    @property
    def error(self) -> float:
        """E = E(r − ρ)² = V − 2C + U."""
        return self.V - 2 * self.C + self.U

    @property
    def rating_slope(self) -> float:
        """Slope of ratings on strengths, C/V: lag and bias shrink it."""
        return self.C / self.V if self.V > 0 else float("nan")

    @property
    def forecast_slope(self) -> float:
        """Slope of strengths on ratings, C/U: 1 is calibrated, below 1 ratings are over-dispersed."""
        return self.C / self.U if self.U > 0 else float("nan")

    def rescaled(self, factor: float) -> Moments:
        """The moments of ratings whose gaps are so many times as wide."""
        return Moments(self.V, factor * self.C, factor**2 * self.U)

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.V + other.V, self.C + other.C, self.U + other.U)

    def __sub__(self, other: Moments) -> Moments:
        return Moments(self.V - other.V, self.C - other.C, self.U - other.U)


@dataclass(frozen=True)
class Parts:
    """What the error E is made of.

    Attributes
    ----------
    noise
        Ratings jump with the luck of results; grows with γ.
    lag
        Ratings come behind strengths that have moved on; falls with γ.
    bias
        Ratings settle at other values than the strengths.
    """

    noise: float
    lag: float
    bias: float

    @property
    def total(self) -> float:
        """The error E."""
        return self.noise + self.lag + self.bias

    def scaled_to(self, total: float) -> Parts:
        """Parts with the same shares of another error."""
        factor = total / self.total if self.total else 1.0
        return Parts(factor * self.noise, factor * self.lag, factor * self.bias)


@dataclass(frozen=True)
class TrackedTeams:
    """Mean ratings of the teams, and how their ratings follow their own strengths.

    Attributes
    ----------
    rating
        m_i, the mean rating of each team.
    covariance, variance
        C_i and U_i of each team about its own mean.
    within, between
        Moments of the teams about their own means and the league's, averaged; and of the means of strengths and ratings
        over the league.
    parts
        Noise, lag and bias of the error.
    after
        Mean square error right after results have counted, before strengths move on.
    kind
        Whether the covariance was kept whole (``"joint"``) or teams taken as independent.
    deviation
        RD of each team, where ratings carry one.
    """

    rating: Array = field(repr=False)
    covariance: Array = field(repr=False)
    variance: Array = field(repr=False)
    within: Moments
    between: Moments
    parts: Parts
    after: float
    kind: NoiseKind
    deviation: Array | None = field(default=None, repr=False)

    @property
    def moments(self) -> Moments:
        """Moments over the league."""
        return self.within + self.between

    def expand(self, merged: Grouped, theta: Array) -> TrackedTeams:
        """Team by team what was found of groups."""
        each = (merged.expand(one, theta) for one in (self.rating - merged.teams.theta, self.covariance, self.variance))
        off, covariance, variance = each
        deviation = None if self.deviation is None else merged.expand(self.deviation, theta)
        between = Moments(*np.cov(theta, theta + off)[[0, 0, 1], [0, 1, 1]].tolist())
        gained = between.error - self.between.error
        parts, after = replace(self.parts, bias=self.parts.bias + gained), self.after + gained
        return TrackedTeams(theta + off, covariance, variance, self.within, between, parts, after, self.kind, deviation)


def follow_league(system: RatingSystem, teams: Teams, dynamics: Form | Walk, goal: float = GOAL) -> TrackedTeams:
    """Moments of a league at the steps that its teams settle at, to a relative change of ``goal``; many teams are
    solved in groups.
    """
    motion = motion_of(dynamics)
    merged = merge_moving(system, teams, motion)
    few = teams if merged is None else merged.teams
    closure = LeagueClosure(system, few, motion=motion)
    found = follow(closure, closure.solve(settled_steps(system, few.theta), few.theta, goal=goal))
    return found if merged is None else found.expand(merged, teams.theta)


def follow(closure: LeagueClosure, solution: Solution) -> TrackedTeams:
    """Moments over the league at a fixed point."""
    teams, V = closure.teams, closure.motion.variance
    rating = solution.state.rating - teams.mean(solution.state.rating) + teams.mean(teams.theta)
    x, y = teams.theta - teams.mean(teams.theta), rating - teams.mean(rating)
    between = Moments(*(teams.crowding * teams.mean(one) for one in (x * x, x * y, y * y)))
    within, quiet = _within(closure, solution.state), _within(closure, closure.without_luck(solution))
    noise = within.error - quiet.error
    # What is missed for good: by means, once a walk has been caught up with, and of V, (1 − B_θ/B_r)² of what is
    # followed.
    lag = closure.lag(solution.gamma, solution.pairs)
    off = y - x if lag is None else y - x + lag.share * x
    bias = teams.crowding * (teams.mean(off**2) - teams.mean(off) ** 2)
    if solution.pairs.driving is not None:
        restoring, driving = solution.pairs.restoring.sum(axis=1), solution.pairs.driving.sum(axis=1)
        pull = teams.crowding * closure.batch.matches * solution.gamma * restoring
        bias += V * teams.mean((1 - driving / restoring) ** 2 * pull / (closure.batch.forgotten + pull))
    # Strengths have moved since the last results: C was larger then, and a walk shorter.
    followed = math.exp(min(closure.motion.rate * closure.batch.step, 700.0))
    moved = closure.motion.walk * closure.batch.step
    after = V - 2 * followed * within.C + within.U - moved + between.error
    parts = Parts(noise, within.error + between.error - noise - bias, bias)
    C = own_variance(solution.state.C)
    kind = "joint" if closure.whole else "independent"
    return TrackedTeams(rating, C, solution.variance, within, between, parts, after, kind)


def _within(closure: LeagueClosure, state: State) -> Moments:
    teams, V = closure.teams, closure.motion.variance
    if state.U.ndim == 1:
        return Moments(V, teams.mean(state.C), teams.mean(state.U))
    free = teams.size - 1
    C, U = ((float(np.trace(one)) - float(one.sum()) / teams.size) / free for one in (state.C, state.U))
    return Moments(V, C, U)


def exact_moments(system: RatingSystem, league: Strength, form: Form, *, quick: bool = False) -> Moments:
    """Moments of two teams from the exact law of their gap; ``quick`` is content with about five digits."""
    law = gap_law(system, league, form, quick=quick)
    gap = float(league.theta[0] - league.theta[1])
    V = form.spread**2 + gap**2 / 2
    return Moments(V, (law.shared + gap * law.mean) / 2, law.moments[1] / 2)


def two_team_correction(system: RatingSystem, teams: Teams, form: Form) -> Moments | None:
    """What the closure misses of C and U among few teams, from two of them; None where it is not known."""
    if not teams.finite or not 2 < teams.size <= MOST_CORRECTED or not system.plain:
        return None
    spread = teams.typical_sigma
    rows, columns = np.triu_indices(teams.size, 1)
    gaps = np.abs(teams.theta[rows] - teams.theta[columns])
    distinct, index = np.unique(gaps.round(9), return_inverse=True)
    widest = float(gaps.max())
    try:
        if distinct.size <= GAPS:
            values = np.array([_closure_error(system, float(gap), spread, form) for gap in distinct])[index]
        else:
            # Even in the gap, and smooth: a polynomial in its square.
            nodes = (1 - np.cos(np.pi * (np.arange(GAPS) + 0.5) / GAPS)) / 2
            rows_ = np.array([_closure_error(system, widest * math.sqrt(one), spread, form) for one in nodes])
            fit = np.polynomial.polynomial.polyfit(nodes, rows_, GAPS - 1)
            values = np.polynomial.polynomial.polyval((gaps / widest) ** 2, fit).T
    except (NoStationaryState, InputError):
        return None
    C, U = 2 / teams.size * values.mean(axis=0)
    return Moments(0.0, float(C), float(U))


def _closure_error(system: RatingSystem, gap: float, sigma: float, form: Form) -> tuple[float, float]:
    """C and U of two teams, exactly less by closure."""
    league = Normal([gap, 0.0], sigma)
    exact = exact_moments(system, league, form, quick=True)
    near = follow_league(system, teams_of(league), form, QUICK).moments
    return exact.C - near.C, exact.U - near.U
