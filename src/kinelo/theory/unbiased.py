r"""The step size at which ratings are on the scale of the strengths.

Performance noise shrinks the map R(θ), rating noise stretches it, and rating noise grows with γ: at one step size γ*
the slope is 1. There ratings vary about as much as performances do, so the closure is solved for ratings, covariance
and γ at once, starting from ``R = θ`` and ``U = diag σ²``. Where that does not settle, where results count together and
where pairs are chosen by rating, γ climbs from small steps instead. Two teams are solved exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import root_scalar

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.expectation import Closure
from kinelo.model.outcome import Outcome
from kinelo.model.schedule import Period, Rounds
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.caveats import Caveat, caveats_of
from kinelo.theory.closure import Aim, Fluctuation, LeagueClosure, Solution, State
from kinelo.theory.covariance import matches_together
from kinelo.theory.fixed_point import ACCEPTED_RESIDUAL, ATTEMPTS, SMALL_STEP, STEP_GROWTH, few_threads, fixed_point
from kinelo.theory.limit import at_small_steps, balance_ratings, rating_noise, stationary, with_noise
from kinelo.theory.many_teams import merge_many
from kinelo.theory.state import StationaryState, mean_square_error, regression_slope
from kinelo.theory.teams import Continuum, Teams, as_system, check_field, teams_of
from kinelo.theory.two_teams import exact_law, gap_law

UNBIASED = 1e-9
LARGEST_STEP_TRIED = 8.0
"""Largest γ sup b' that is tried."""


class UnbiasedGamma(float):
    """The step size γ* at which the slope of ratings on strengths is 1: a number that knows more.

    Attributes
    ----------
    noise
        Standard deviation of a rating in time at γ*; None where γ* is 0.
    error
        Mean square of rating less strength about the league's means at γ*, noise included; None where γ* is 0.
    caveats
        Why the answer may be off; see :class:`~kinelo.theory.caveats.Caveat`.

    >>> import kinelo as kn
    >>> found = kn.unbiased_gamma(kn.Tanh(nu=0.5), kn.Normal([0.0, 1.0, 3.0], sigma=0.5))
    >>> found.gamma == found, found.noise > 0, [one.reason for one in found.caveats]
    (True, True, ['few teams', 'large steps'])
    """

    noise: float | None
    error: float | None
    caveats: tuple[Caveat, ...]

    def __new__(
        cls, gamma: float, noise: float | None = None, error: float | None = None, caveats: tuple[Caveat, ...] = ()
    ) -> UnbiasedGamma:
        """A step size with the noise and the error at it."""
        made = super().__new__(cls, gamma)
        made.noise, made.error, made.caveats = noise, error, caveats
        return made

    @property
    def gamma(self) -> float:
        """γ* as a plain number."""
        return float(self)

    def to_dict(self) -> dict[str, object]:
        """Plain numbers, ready for JSON."""
        caveats = [one.reason for one in self.caveats]
        return {"gamma": float(self), "noise": self.noise, "error": self.error, "caveats": caveats}


class Unbiased(NamedTuple):
    """γ*, and the fluctuations there where they were found together with it (to ``ACCEPTED_RESIDUAL``)."""

    gamma: float
    there: Fluctuation | None


def unbiased_gamma(
    system: RatingSystem | Outcome, strengths: Strength | Continuum, closure: Closure = "exact"
) -> UnbiasedGamma:
    """Step size at which the regression of stationary ratings on strengths has slope 1.

    ``system`` is a rating system, whose pairing and schedule count and whose own step size is not looked at, or its
    outcome alone; in a :class:`~kinelo.model.schedule.Field` the step is that of a contest. Strengths that do not vary
    are rated without bias only by infinitely small steps: the answer is then 0, as it is where small steps stretch
    already.

    Raises NoStationaryState where no step makes ratings as wide as strengths.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> round(unbiased_gamma(Tanh(nu=0.5), Continuum(theta=(4, 10), sigma=1.0)), 3)
    0.613
    """
    system, teams = as_system(system), teams_of(strengths)
    check_field(system, teams)
    if teams.theta.max() == teams.theta.min():
        raise InputError("All teams have the same mean strength, so no step size changes the slope of their ratings.")
    if not system.pairing.constant or isinstance(system.schedule, Rounds | Period):
        gamma, there = _in_use(system, strengths, closure)
    else:
        plain, teams = RatingSystem(system.outcome, schedule=system.schedule), merge_many(teams)
        with few_threads(teams.size):
            still = balance_ratings(plain.outcome, teams, closure, teams.theta, dense=True).positions
            gamma, there = unbiased_of(plain, teams, closure, still)
            if gamma and there is None:
                there = rating_noise(replace(plain, gamma=gamma), teams, closure, still)
    if there is None:
        return UnbiasedGamma(gamma)
    caveats = caveats_of(system, teams, there.kind, gamma, variance=there.variance)
    error = mean_square_error(teams, there.rating, there.variance, there.covariance)
    return UnbiasedGamma(gamma, math.sqrt(teams.mean(there.variance)), error, caveats)


def _in_use(system: RatingSystem, strengths: Strength | Continuum, closure: Closure) -> Unbiased:
    """γ* where results count together, or pairs are chosen by rating: on a ladder of steps, short of where ratings
    overshoot or run apart.
    """
    at_rest = replace(system, schedule=None)
    still = at_small_steps(at_rest, strengths) if closure == "exact" else stationary(at_rest, strengths, closure)
    if still.slope >= 1 - UNBIASED:
        return Unbiased(0.0, None)
    state_at: dict[float, StationaryState] = {}

    def excess(gamma: float) -> float:
        state_at[gamma] = with_noise(replace(still, system=replace(system, gamma=gamma)))
        return state_at[gamma].slope - 1

    low, high = 0.0, SMALL_STEP / (matches_together(system.schedule, still.teams.size) * system.outcome.steepest)
    try:
        while excess(high) < 0:
            low, high = high, STEP_GROWTH * high
            if high * system.outcome.steepest > LARGEST_STEP_TRIED:
                raise NoStationaryState("No step is large enough.")
    except NoStationaryState:
        raise NoStationaryState(f"No step up to γ = {low:.3g} makes the ratings as wide as the strengths.") from None
    gamma = float(root_scalar(excess, bracket=(max(low, 1e-3 * high), high), method="brentq", xtol=1e-7 * high).root)
    found = state_at[gamma] if gamma in state_at else with_noise(replace(still, system=replace(system, gamma=gamma)))
    kind = found.kind or "joint"
    return Unbiased(gamma, Fluctuation(found.rating, found.variance, found.covariance, found.residual, 1, kind))


def unbiased_of(system: RatingSystem, teams: Teams, closure: Closure, still: Array) -> Unbiased:
    """γ* of teams whose ratings rest at ``still`` as γ → 0."""
    if _slope(teams, still) >= 1 - UNBIASED:
        return Unbiased(0.0, None)
    if closure == "exact" and exact_law(system, teams):
        return _of_two(system.outcome, teams)
    found = _together(system, teams, closure)
    if found is not None:
        return found
    # Climb to the first step size whose slope is above 1, each solved from the one before, and refine from there.
    solved: list[Fluctuation] = []

    def excess(gamma: float) -> float:
        near = solved[-1] if solved else None
        solved.append(rating_noise(replace(system, gamma=gamma), teams, closure, still, guess=near))
        return _slope(teams, solved[-1].rating) - 1

    return Unbiased(_crossing(excess, system.outcome, teams), None)


def _slope(teams: Teams, rating: Array) -> float:
    return regression_slope(teams.theta, rating, teams.mass)


def _of_two(outcome: Outcome, teams: Teams) -> Unbiased:
    """Two teams: the exact law of their gap."""
    gap = float(teams.theta[0] - teams.theta[1])

    def excess(gamma: float) -> float:
        return gap_law(RatingSystem(outcome, gamma=gamma), teams.strengths).mean / gap - 1

    gamma = _crossing(excess, outcome, teams)
    law = gap_law(RatingSystem(outcome, gamma=gamma), teams.strengths)
    covariance = law.variance / 4 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return Unbiased(gamma, Fluctuation(teams.theta, np.diag(covariance), covariance, 0.0, 1, "exact"))


def _crossing(excess: Callable[[float], float], outcome: Outcome, teams: Teams) -> float:
    """The first step at which an excess that grows with it vanishes."""
    low, high = 0.0, min(0.5 * outcome.sharpness * teams.typical_sigma**2, SMALL_STEP / outcome.steepest)
    while excess(high) < 0:
        low, high = high, STEP_GROWTH * high
        if high * outcome.steepest > LARGEST_STEP_TRIED:
            raise NoStationaryState(f"No step up to γ = {low:.3g} makes the ratings as wide as the strengths.")
    return float(root_scalar(excess, bracket=(max(low, 1e-3 * high), high), method="brentq", xtol=1e-8 * high).root)


def _together(system: RatingSystem, teams: Teams, closure: Closure) -> Unbiased | None:
    """Iterate ratings, covariance and γ as one; None where they do not settle."""
    solver, centred = LeagueClosure(system, teams, closure), teams.theta - teams.mean(teams.theta)
    of_slope = teams.mass * centred / teams.mean(centred**2)  # what the slope of the regression weighs ratings by
    noise = np.maximum(teams.sigma, 1e-3 * teams.typical_sigma) ** 2
    U = np.diag(noise) if solver.whole else noise
    start = State(np.array(teams.theta), np.zeros_like(U), U)

    def look(point: Array) -> tuple[Array, float, tuple[float, Solution]]:
        state, gamma = start.reshape(point), float(point[-1])
        if not gamma > 0:
            raise NoStationaryState("The step fell to 0 on the way.")
        now = solver.look(solver.steps(gamma), state)
        aim = Aim(of_slope, 1 - float(of_slope @ state.rating))
        change = max(now.residual, now.change, abs(aim.missing))
        ahead, share = (state, 0.0) if change <= ACCEPTED_RESIDUAL else now.newton(teams.mass, aim)
        answer = gamma, Solution(now.implied, now.residual, 0, now.gamma, now.pairs)
        return np.append(ahead.vector(), gamma * (1 + share)), change, answer

    try:
        unit = solver.look(solver.steps(1.0), start).implied.U
        first = float(np.trace(U) / np.trace(unit)) if solver.whole else float(noise.sum() / unit.sum())
        begin = np.append(start._replace(U=first * unit).vector(), first)
        (gamma, answer), _ = fixed_point(look, begin, most=ATTEMPTS, goal=ACCEPTED_RESIDUAL, newton=True)
    except (LinAlgError, NoStationaryState):
        return None
    return Unbiased(gamma, answer.fluctuation)
