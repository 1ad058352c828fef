r"""A newcomer in a settled league: its expected rating match by match, how widely that spreads, how long it takes.

The recursion is that of :mod:`kinelo.theory.moving.newcomer_path`. Points are only passed on, so what the newcomer
gains the others lose (under one γ for all).

An open league: a team that leaves takes its rating along and a newcomer brings ``start``, so the mean rating moves by
``rate·(start − E R_leaving)`` per match of a team, and the mean strength by ``rate·(E θ_new − E θ_leaving)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics, Form, Learning, Turnover, Walk, parts_of
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll
from kinelo.model.steps import ELITE, DeviationSteps, FallingSteps, FideSteps
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, number, positive
from kinelo.theory.caveats import Caveat, caveats_of
from kinelo.theory.closure import settled_steps
from kinelo.theory.limit import stationary
from kinelo.theory.moving.following import follow_league
from kinelo.theory.moving.glicko import deviation_tracking, settled_deviations
from kinelo.theory.moving.learning import learning_closure
from kinelo.theory.moving.newcomer_path import NewcomerRecursion, SettledLeague, StepOf
from kinelo.theory.teams import Continuum, Teams, as_system, normal_only, teams_of


@dataclass(frozen=True)
class Inflation:
    """How an open league drifts, per match of a team.

    Attributes
    ----------
    rating, strength
        Change of the league's mean rating and mean strength.
    """

    rating: float
    strength: float

    @property
    def excess(self) -> float:
        """Inflation proper: by how much ratings rise beyond strengths; deflation where negative."""
        return self.rating - self.strength


@dataclass(frozen=True)
class Newcomer:
    """The expected path of a newcomer's rating.

    Attributes
    ----------
    theta, start
        Its strength and its first rating.
    matches, rating, spread, strength
        Matches played, expected rating then, the standard deviation of the rating about it, and the expected strength
        (under learning, counted from the league's growing mean).
    settles_at
        The rating it has in the end.
    taken
        Points that the rest of the league loses to it in all, ``settles_at − start``.
    inflation
        What an open league does to its mean, with :class:`~kinelo.model.dynamics.Turnover`; else None.
    caveats
        Why the answer may be off; see :class:`~kinelo.theory.caveats.Caveat`.
    """

    theta: float
    start: float
    matches: Array = field(repr=False)
    rating: Array = field(repr=False)
    spread: Array = field(repr=False)
    strength: Array = field(repr=False)
    settles_at: float
    inflation: Inflation | None = None
    caveats: tuple[Caveat, ...] = ()

    @property
    def taken(self) -> float:
        """Points that go from the rest of the league to the newcomer, or the other way where negative."""
        return self.settles_at - self.start

    def matches_until(self, tolerance: float) -> float:
        """Matches until the expected rating is within ``tolerance`` points of where it settles.

        >>> import kinelo as kn
        >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1)
        >>> found = kn.newcomer(system, kn.Fixed([0.0, 1.0, 2.0, 3.0]), theta=3.0, start=1.0)
        >>> 20 < found.matches_until(0.2) < 100
        True
        """
        gap = np.abs(self.rating - self.settles_at)
        outside = np.flatnonzero(gap > positive("tolerance", tolerance))
        if outside.size == 0:
            return 0.0
        last = int(outside[-1])
        if last + 1 == gap.size:
            # Beyond the path the gap falls by the same factor from match to match.
            rate = math.log(gap[-2] / gap[-1]) / (self.matches[-1] - self.matches[-2]) if gap[-2] > gap[-1] else 0.0
            return float(self.matches[-1] + math.log(gap[-1] / tolerance) / rate) if rate > 0 else math.inf
        share = (gap[last] - tolerance) / (gap[last] - gap[last + 1])
        return float(self.matches[last] + share * (self.matches[last + 1] - self.matches[last]))


def newcomer(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    theta: float,
    start: float,
    *,
    dynamics: Dynamics | Sequence[Dynamics] | None = None,
) -> Newcomer:
    """Follow a newcomer of strength ``theta`` that starts with rating ``start`` in a league that has settled.

    Parameters
    ----------
    system, strengths
        The rating system (every pair playing; one γ, FallingSteps, FideSteps or DeviationSteps) and the league that
        the newcomer joins, whose teams have played for long.
    theta, start
        Strength and first rating of the newcomer; its performances vary as those of the league.
    dynamics
        None for strengths at rest, Form, Walk or Learning for moving ones (theta is then the newcomer's own mean, its
        strength of the day, or its strength beside a league whose mean is that of ``strengths``), Turnover for an
        open league, whose inflation is computed too.

    Examples
    --------
    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1)
    >>> found = newcomer(system, kn.Fixed([0.0, 1.0, 2.0, 3.0]), theta=3.0, start=1.0)
    >>> 3.0 < found.settles_at < 3.5, round(found.taken - found.settles_at, 9)
    (True, -1.0)
    """
    system = as_system(system)
    if not isinstance(system.pairing, AllPlayAll) or system.schedule is not None:
        raise InputError("A newcomer is followed under AllPlayAll, match by match; simulate plays the rest.")
    motion, open_ = parts_of(dynamics)
    if isinstance(motion, Learning) and not isinstance(system.gamma, float):
        raise InputError(f"Learning moves strengths by one gamma for all teams, not by {system.gamma!r}.")
    teams = teams_of(strengths)
    normal_only(teams)
    step = _step_of(system.gamma)
    others = _opponents(system, strengths, teams, motion)
    smooth = system.gamma if isinstance(system.gamma, float) else None
    path = NewcomerRecursion(system.outcome, step, others, number("theta", theta), motion, smooth)
    found = path.follow(number("start", start))
    inflation = None if open_ is None else open_league(system, strengths, open_)
    steps = 0.0 if isinstance(system.gamma, DeviationSteps) else settled_steps(system, teams.theta)
    caveats = caveats_of(system, teams, "joint", steps, dynamics=motion)
    return Newcomer(
        float(theta), float(start), found.matches, found.rating, found.spread, found.strength, found.end, inflation,
        caveats,
    )  # fmt: skip


def open_league(system: RatingSystem, strengths: Strength | Continuum, turnover: Turnover) -> Inflation:
    """How mean rating and mean strength of an open league move, per match of a team, as it stands today."""
    state = stationary(system, strengths)
    teams = state.teams
    if turnover.leaving == "random":
        theta, rating = teams.mean(teams.theta), teams.mean(state.rating)
    else:
        who = int(np.argmin(teams.theta) if turnover.leaving == "weakest" else np.argmax(teams.theta))
        theta, rating = float(teams.theta[who]), float(state.rating[who])
    return Inflation(turnover.rate * (turnover.start - rating), turnover.rate * (turnover.arriving - theta))


def _opponents(
    system: RatingSystem, strengths: Strength | Continuum, teams: Teams, motion: Form | Walk | Learning | None
) -> SettledLeague:
    """The league as it has settled."""
    outcome, rule = system.outcome, system.gamma
    if isinstance(motion, Learning):
        found = learning_closure(outcome, motion, system.step, teams).moments
        one = np.ones(1)
        middle = teams.mean(teams.theta) * one
        return SettledLeague(middle, teams.sigma[:1], middle, found.U * one, one, found.V, found.C)
    form = motion.spread**2 if isinstance(motion, Form) else 0.0
    if isinstance(rule, DeviationSteps):
        if motion is None:
            moved = settled_deviations(system, strengths, noise="gaussian")
        else:
            moved, _ = deviation_tracking(outcome, teams, rule, motion)
        teams = moved.teams
        return SettledLeague(
            teams.theta, teams.sigma, moved.rating, moved.variance, teams.mass, form, moved.covariance, moved.deviation
        )
    if motion is None:
        state = stationary(system, strengths, noise="gaussian")
        return SettledLeague(teams.theta, teams.sigma, state.rating, state.variance, teams.mass)
    found = follow_league(system, teams, motion)
    return SettledLeague(teams.theta, teams.sigma, found.rating, found.variance, teams.mass, form, found.covariance)


def _step_of(rule: object) -> StepOf | DeviationSteps:
    """The newcomer's step after so many matches, at a mean rating."""
    if isinstance(rule, float):
        return lambda match, rating: rule
    if isinstance(rule, DeviationSteps):
        return rule
    if isinstance(rule, FallingSteps | FideSteps):
        highest = [-math.inf]

        def step(match: float, rating: float) -> float:
            if match == 0:
                highest[0] = -math.inf
            highest[0] = max(highest[0], rating)
            one, reached = np.array([rating]), np.array([highest[0] >= ELITE])
            return float(rule.at(one, np.array([int(match)]), reached)[0])

        return step
    raise InputError(f"A newcomer has a step of its own: give one gamma or a step rule, not {rule!r}.")
