r"""Rating noise among so many teams that their ratings are independent, under AllPlayAll and at rest.

The equations are those of :mod:`kinelo.theory.closure` with a diagonal covariance,
``v = γ ⟨S² − 2 s E b + E b²⟩ / (2 ⟨E b'⟩)``, means ⟨·⟩ taken over opponents whose ratings are normal. Every mean is a
sum over waves, and an iteration costs a few products of matrices instead of a quadrature for each pair.

All sums over opponents are smooth in their strengths. So teams of a large league with nearly equal θ and σ are merged
into a few hundred groups, whose ratings and variances are solved as a continuum. Each team then gets its own variance
against the groups, and the mean ratings are balanced exactly over all teams given those variances. Work and memory grow
as N.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.expectation import Closure, taylor_result
from kinelo.model.outcome import Outcome
from kinelo.model.schedule import Rounds
from kinelo.model.strength import normal_waves
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.balance import DensePull, WavePull, find_balance
from kinelo.theory.closure import WHOLE_COVARIANCE, Fluctuation, growing_steps, most_together, unsolved_error
from kinelo.theory.covariance import StrengthMotion
from kinelo.theory.fixed_point import GOAL, few_threads, fixed_point
from kinelo.theory.teams import Teams, mean_results

Groups = NDArray[np.intp]

REPRESENTATIVES = 320
FEW_GROUPS = 80
"""Groups of teams that differ in strength alone, where the closure is solved pair by pair."""
SIGMA_GROUPS = 8
VARIANCE_PASSES = 2
TEAMS_AT_ONCE = 4096


@dataclass(frozen=True)
class Matchups:
    """Mean result of teams against each opponent, and the mean square of their results over all opponents."""

    mean: Array
    square: Array


class Opponents:
    """A league with the means and variances of its ratings, seen by one more team."""

    def __init__(self, system: RatingSystem, teams: Teams, closure: Closure, rating: Array, variance: Array) -> None:
        self._system, self._teams = system, teams
        self._closure: Closure = closure
        self._rating, self._variance = rating, variance

    def variance_given(self, matchups: Matchups, rating: Array, variance: Array) -> Array:
        """New estimate of the variances of teams whose results against the opponents are known."""
        low, high = min(rating.min(), self._rating.min()), max(rating.max(), self._rating.max())
        spread, centre = float(np.sqrt(max(variance.max(), self._variance.max()))), float(low + high) / 2
        nodes = self._system.outcome.spectrum(float(high - low) + 12.2 * spread)
        waves = normal_waves(self._rating - centre, self._variance, nodes.u)
        mine = normal_waves(rating - centre, variance, nodes.u)
        sums = (self._teams.mass @ waves).conj()
        score = (mine.imag * nodes.sine) @ waves.real.T - (mine.real * nodes.sine) @ waves.imag.T
        slope = (mine @ (nodes.sine * nodes.u * sums)).real
        shake = (
            matchups.square + 1 - (mine @ (nodes.square * sums)).real - 2 * (matchups.mean * score) @ self._teams.mass
        )
        return self._system.step * shake / (2 * slope)


def results_against(outcome: Outcome, teams: Teams, closure: Closure, theta: Array, sigma: Array) -> Matchups:
    """Results of further teams of a league's kind against its teams."""
    span = float(max(theta.max(), teams.theta.max()) - min(theta.min(), teams.theta.min()))
    widest = float(sigma.max())
    league = teams.strengths.seen_through(outcome, span, widest)
    nodes = outcome.spectrum(span + 2 * max(league.reach_of(widest), league.reach))
    centre = float(teams.theta.mean())
    further = league.waves_of(theta, sigma, nodes.u, centre)
    waves = league.characteristic_function(nodes.u, centre)
    square = 1 - (further @ (nodes.cosine * (teams.mass @ waves).conj())).real
    if closure == "taylor":
        gap = theta[:, None] - teams.theta[None, :]
        variance = sigma[:, None] ** 2 + teams.sigma[None, :] ** 2
        return Matchups(taylor_result(outcome, gap, variance), square)
    return Matchups((further.imag * nodes.sine) @ waves.real.T - (further.real * nodes.sine) @ waves.imag.T, square)


def mean_field(
    system: RatingSystem, teams: Teams, closure: Closure, start: Array, guess: Fluctuation | None = None
) -> Fluctuation:
    """Means and variances of a continuum's ratings: a Newton step for the means, new variances, and again."""
    outcome, size = system.outcome, teams.size
    target = mean_results(outcome, teams, closure, dense=True)
    matchups = results_against(outcome, teams, closure, teams.theta, teams.sigma)

    def solve(gamma: float, first: Fluctuation) -> Fluctuation:
        at_step, least = replace(system, gamma=gamma), np.zeros(size)

        def look(point: Array) -> tuple[Array, float, Fluctuation]:
            nonlocal least
            rating, variance = point[:size], np.maximum(point[size:], least)
            pull = DensePull(outcome, teams.mass, variance)
            drift = target - pull.scores(rating)
            new = Opponents(at_step, teams, closure, rating, variance).variance_given(matchups, rating, variance)
            least, residual = new / 4, float(np.abs(drift).max())
            change = max(float(np.abs(new / variance - 1).max()), residual)
            step = 0.0 if change <= GOAL else pull.step(rating, drift)
            image = np.concatenate([rating + step, new])
            return image, change, Fluctuation(rating, new, None, residual, 0, "independent")

        fluctuation, iterations = fixed_point(look, np.concatenate([first.rating, first.variance]))
        return replace(fluctuation, iterations=iterations)

    fluctuation = guess
    try:
        for gamma in [system.step] if guess else growing_steps(system.step, outcome.steepest):
            if fluctuation is None:
                even = np.full(size, gamma / (2 * outcome.steepest))
                fluctuation = Fluctuation(np.array(start), even, None, 0.0, 0, "independent")
            fluctuation = solve(gamma, fluctuation)
    except (LinAlgError, NoStationaryState):
        raise unsolved_error(outcome, system.step) from None
    assert fluctuation is not None
    return fluctuation


class Grouped(NamedTuple):
    """Groups of teams with nearly equal strengths, the group of each team, and each group's band of σ."""

    teams: Teams
    group: Groups
    band: Groups

    def expand(self, values: Array, theta: Array) -> Array:
        """One value for each team from those of the groups, along θ within a band of σ."""
        slope, middle = np.zeros(values.size), self.teams.theta
        for band in np.unique(self.band):
            at = np.flatnonzero(self.band == band)
            if at.size > 1 and np.diff(middle[at]).min() > 0:
                slope[at] = np.gradient(values[at], middle[at])
        return values[self.group] + slope[self.group] * (theta - middle[self.group])


def representatives(teams: Teams, most: int = REPRESENTATIVES) -> Grouped:
    """At most so many groups of teams with nearly equal strengths."""
    spreads = SIGMA_GROUPS if np.ptp(teams.sigma) > 0 else 1
    by_sigma = _equal_parts(teams.sigma, np.zeros(teams.size, dtype=np.intp), spreads)
    group = by_sigma * (most // spreads) + _equal_parts(teams.theta, by_sigma, most // spreads)
    chosen, group = np.unique(group, return_inverse=True)
    if chosen.size == 1:
        # A league takes two teams: equals make two groups.
        group, chosen = np.arange(teams.size) % 2, np.arange(2)
    mass: Array = np.bincount(group, teams.mass, chosen.size).astype(np.float64)
    theta = np.bincount(group, teams.mass * teams.theta, chosen.size) / mass
    sigma = np.sqrt(np.bincount(group, teams.mass * teams.sigma**2, chosen.size) / mass)
    groups = Teams(teams.strengths.like(theta, sigma), mass, finite=False, behind=teams.number)
    return Grouped(groups, group, chosen // (most // spreads))


def merge_many(teams: Teams) -> Teams:
    """The teams themselves, or representatives of more than can be kept with their whole covariance."""
    many = teams.finite and teams.size > WHOLE_COVARIANCE
    return representatives(teams).teams if many else teams


def merge_moving(system: RatingSystem, teams: Teams, motion: StrengthMotion) -> Grouped | None:
    """Groups of a league whose ratings are taken as independent; None where teams are solved one by one."""
    if not teams.finite or teams.size <= most_together(system, motion):
        return None
    if isinstance(system.schedule, Rounds) or isinstance(system.gamma, tuple):
        raise InputError(
            f"Rounds and a gamma for each team are computed for at most {WHOLE_COVARIANCE} teams, not {teams.size}."
        )
    return few_groups(teams)


def few_groups(teams: Teams) -> Grouped:
    """As few groups as change no mean over a league by more than a ten-thousandth."""
    return representatives(teams, FEW_GROUPS * (1 if np.ptp(teams.sigma) == 0 else 2))


def _equal_parts(values: Array, within: Groups, parts: int) -> Groups:
    """Split each class of ``within`` into equally large parts by ``values``; teams that tie stay together."""
    result = np.zeros(values.size, dtype=np.intp)
    for label in np.unique(within):
        members = np.flatnonzero(within == label)
        edges = np.quantile(values[members], np.arange(1, parts) / parts)
        result[members] = np.searchsorted(edges, values[members], side="right")
    return result


def large_league(system: RatingSystem, teams: Teams, closure: Closure, start: Array) -> Fluctuation:
    """Mean and variance of every rating of a large league with w ≡ 1."""
    few, group, _ = representatives(teams)
    mean = np.bincount(group, teams.mass * start, few.size) / few.mass
    with few_threads(few.size):
        solved = mean_field(system, few, closure, mean)
    opponents = Opponents(system, few, closure, solved.rating, solved.variance)
    target = mean_results(system.outcome, teams, closure, dense=False)
    variance, steps = solved.variance[group], solved.iterations
    balance = find_balance(WavePull(system.outcome, teams.mass, variance), target, start, teams.mass)
    for _ in range(VARIANCE_PASSES):
        steps += balance.iterations
        rating, last, variance = balance.positions, variance, np.empty(teams.size)
        for first in range(0, teams.size, TEAMS_AT_ONCE):
            part = slice(first, first + TEAMS_AT_ONCE)
            matchups = results_against(system.outcome, few, closure, teams.theta[part], teams.sigma[part])
            variance[part] = opponents.variance_given(matchups, rating[part], last[part])
        balance = find_balance(WavePull(system.outcome, teams.mass, variance), target, balance.positions, teams.mass)
    return Fluctuation(balance.positions, variance, None, balance.residual, steps + balance.iterations, "independent")
