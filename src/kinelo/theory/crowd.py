r"""Rating noise in a large league: a few representatives stand for all opponents of a team.

Every sum over opponents in the equation for a team's variance is smooth in their strengths. So teams of nearly equal θ
and σ are merged into a few hundred groups, whose ratings and variances are solved as a continuum. Each team then gets
its own variance against the groups, and the mean ratings are balanced exactly over all teams given those variances.
Work and memory grow as N.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinelo.model.expectation import Closure
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.balance import WavePull, find_balance
from kinelo.theory.closure import Fluctuation
from kinelo.theory.meanfield import mean_field
from kinelo.theory.opponents import Opponents
from kinelo.theory.teams import Teams, mean_results
from kinelo.theory.threads import few_threads

Groups = NDArray[np.intp]

REPRESENTATIVES = 320
SIGMA_GROUPS = 8
PASSES = 2


def representatives(teams: Teams) -> tuple[Teams, Groups]:
    """Groups of teams with nearly equal strengths, and the group of each team."""
    spreads = SIGMA_GROUPS if np.ptp(teams.sigma) > 0 else 1
    by_sigma = _equal_parts(teams.sigma, np.zeros(teams.size, dtype=np.intp), spreads)
    group = by_sigma * (REPRESENTATIVES // spreads) + _equal_parts(teams.theta, by_sigma, REPRESENTATIVES // spreads)
    kept, group = np.unique(group, return_inverse=True)
    if kept.size == 1:
        # A league takes two teams: equals make two groups.
        group, kept = np.arange(teams.size) % 2, np.arange(2)
    mass: Array = np.bincount(group, teams.mass, kept.size).astype(np.float64)
    theta = np.bincount(group, teams.mass * teams.theta, kept.size) / mass
    sigma = np.sqrt(np.bincount(group, teams.mass * teams.sigma**2, kept.size) / mass)
    return Teams(teams.strengths.like(theta, sigma), mass, finite=False), group


def _equal_parts(values: Array, within: Groups, parts: int) -> Groups:
    """Split each class of ``within`` into equally large parts by ``values``; teams that tie stay together."""
    result = np.zeros(values.size, dtype=np.intp)
    for label in np.unique(within):
        members = np.flatnonzero(within == label)
        edges = np.quantile(values[members], np.arange(1, parts) / parts)
        result[members] = np.searchsorted(edges, values[members], side="right")
    return result


def crowd_fluctuations(system: RatingSystem, teams: Teams, closure: Closure, start: Array) -> Fluctuation:
    """Mean and variance of every rating of a large league with w ≡ 1."""
    few, group = representatives(teams)
    mean = np.bincount(group, teams.mass * start, few.size) / few.mass
    with few_threads(few.size):
        solved = mean_field(system, few, closure, mean)
    opponents = Opponents(system, few, closure, solved.rating, solved.variance)
    target = mean_results(system.outcome, teams, closure, dense=False)
    variance, steps = solved.variance[group], solved.iterations
    balance = find_balance(WavePull(system.outcome, teams.mass, variance), target, start, teams.mass)
    for _ in range(PASSES):
        steps += balance.iterations
        variance = opponents.variance_of(teams.theta, teams.sigma, balance.positions, variance)
        balance = find_balance(WavePull(system.outcome, teams.mass, variance), target, balance.positions, teams.mass)
    return Fluctuation(balance.positions, variance, None, balance.residual, steps + balance.iterations, "independent")
