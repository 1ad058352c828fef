"""What one system makes of a league: ratings as they settle and their error by cause, from the closure solved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics, Form, Learning
from kinelo.model.schedule import Field, Period, Rounds
from kinelo.model.steps import DeviationSteps, FallingSteps
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.theory.closure import settled_steps
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import at_small_steps, stationary, warn_if_outside, with_noise
from kinelo.theory.moving.following import Moments, Parts
from kinelo.theory.moving.glicko import DeviationState, settled_deviations
from kinelo.theory.moving.tracking import Tracking, parts_at_rest, tracking
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum


@dataclass(frozen=True)
class JudgedLeague:
    """Who plays and how strengths move; ``dynamics`` is what moves them, without arrivals and departures."""

    strengths: Strength | Continuum
    dynamics: Dynamics | None

    @cached_property
    def at_rest(self) -> Strength | Continuum:
        """The league as vanishing steps see it: form is then one more part of how performances vary."""
        if not isinstance(self.dynamics, Form):
            return self.strengths
        if isinstance(self.strengths, Continuum):
            if np.ptp(self.strengths.league.sigma) > 0:
                return self.strengths
            low, high = self.strengths.theta
            spread = math.hypot(self.strengths.sigma, self.dynamics.spread)
            return Continuum((low, high) if low < high else low, spread, nodes=self.strengths.mass.size)
        return self.strengths.like(self.strengths.theta, np.hypot(self.strengths.sigma, self.dynamics.spread))


@dataclass(frozen=True)
class Judged:
    """A system in a league.

    Attributes
    ----------
    state
        Mean ratings and their variances; where strengths walk, given those of the day.
    moments, parts
        V, C and U over the league, and the error E = V − 2C + U by cause.
    tracking, deviations
        How ratings follow strengths that move, and where deviations settle; None where nothing moves or deviates.
    """

    state: StationaryState
    moments: Moments
    parts: Parts
    tracking: Tracking | None
    deviations: DeviationState | None


def judge(
    system: RatingSystem,
    league: JudgedLeague,
    still: StationaryState,
    similar: StationaryState | None = None,
    tracked: Tracking | None = None,
) -> Judged:
    """Solve the closure of a system; ``still`` are the ratings of the same league as steps vanish. What is known
    already saves time: ``similar`` is its state at other steps, ``tracked`` how this system follows it.
    """
    if league.dynamics is not None:
        return _moving(system, league, still, tracked)
    if isinstance(system.gamma, DeviationSteps):
        settled = settled_deviations(system, league.strengths, noise="gaussian")
        state = replace(
            still, system=system, noise="gaussian", rating=settled.rating, variance=settled.variance, kind="independent"
        )
        return _from_state(state, settled)
    if similar is not None and isinstance(system.gamma, float) and isinstance(similar.system.gamma, float):
        # A state at other steps with the noise that these would have if it grew in proportion.
        ratio = system.gamma / similar.system.gamma
        covariance = None if similar.covariance is None else ratio * similar.covariance
        similar = replace(similar, variance=ratio * similar.variance, covariance=covariance)
    else:
        similar = None
    with few_threads(still.teams.size):
        state = with_noise(replace(still, system=system), similar=similar)
    warn_if_outside(state)
    return _from_state(state)


def _from_state(state: StationaryState, deviations: DeviationState | None = None) -> Judged:
    return Judged(state, moments_of(state), parts_at_rest(state), None, deviations)


def moments_of(state: StationaryState) -> Moments:
    """Moments of strengths and ratings of a league that has settled, noise included."""
    x, y = (one - state.teams.mean(one) for one in (state.theta, state.rating))
    V, C = (state.teams.crowding * state.teams.mean(one) for one in (x * x, x * y))
    return Moments(V, C, state.error - V + 2 * C)


def _moving(system: RatingSystem, league: JudgedLeague, still: StationaryState, tracked: Tracking | None) -> Judged:
    tracked = tracked or tracking(system, league.strengths, league.dynamics)  # type: ignore[arg-type]
    teams, middle = still.teams, still.teams.mean(still.theta)
    if tracked.teams is None:
        # Teams that learn are alike: the line of ratings on strengths, and what lies about it.
        rating = middle + tracked.rating_slope * (still.theta - middle)
        variance = np.full(teams.size, max(tracked.U - tracked.C * tracked.rating_slope, 0.0))
    else:
        rating, variance = tracked.teams.rating, tracked.teams.variance
    state = replace(
        still, system=system, noise="gaussian", rating=rating, variance=variance, kind=tracked.kind, covariance=None
    )
    deviations = settled_deviations(system, league.strengths, noise="gaussian") if system.deviations else None
    return Judged(state, tracked.moments, tracked.parts, tracked, deviations)


def rescaled(system: RatingSystem, factor: float) -> RatingSystem | None:
    """The system with steps so many times as large; None where a rule leaves no choice."""
    gamma: Any = system.gamma
    if isinstance(gamma, float):
        return replace(system, gamma=factor * gamma)
    if isinstance(gamma, tuple):
        return replace(system, gamma=tuple(factor * one for one in gamma))
    if isinstance(gamma, FallingSteps):
        return replace(system, gamma=replace(gamma, gamma=factor * gamma.gamma))
    if isinstance(gamma, DeviationSteps):
        return replace(system, gamma=replace(gamma, growth=factor * gamma.growth))
    return None


def one_step(system: RatingSystem, strengths: Strength | Continuum, still: StationaryState) -> RatingSystem:
    """The system with the mean of its steps for all, matches rated one by one; a field keeps its size."""
    gamma: Any = system.gamma
    if isinstance(gamma, DeviationSteps):
        settled = settled_deviations(system, strengths)
        gamma = float(system.outcome.nu * settled.teams.mean(settled.deviation**2))
    elif not isinstance(gamma, float):
        steps = settled_steps(system, still.theta)
        gamma = float(steps) if isinstance(steps, float) else still.teams.mean(np.asarray(steps, dtype=np.float64))
    return replace(system, gamma=gamma, schedule=system.schedule if isinstance(system.schedule, Field) else None)


def resting(system: RatingSystem, league: JudgedLeague) -> StationaryState:
    """Ratings as steps vanish, about the league's own strengths."""
    if isinstance(league.dynamics, Learning) and isinstance(system.schedule, Rounds | Period):
        raise InputError(f"Strengths that learn are judged match by match, not for {system.schedule!r}.")
    plain = replace(system, gamma=0.05, schedule=system.schedule if isinstance(system.schedule, Field) else None)
    limit = at_small_steps(plain, league.at_rest)
    if league.at_rest is league.strengths:
        return limit
    own = stationary(plain, league.strengths) if isinstance(league.strengths, Continuum) else None
    teams = own.teams if own is not None else replace(limit.teams, strengths=league.strengths)
    return replace(limit, teams=teams)
