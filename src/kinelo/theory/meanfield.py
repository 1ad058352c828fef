r"""Rating noise among so many teams that ratings are independent, under AllPlayAll.

The equations are those of :mod:`kinelo.theory.closure` with a diagonal covariance, strengths at rest. Every mean is
then a sum over waves, and an iteration costs a few products of matrices instead of a quadrature for each pair.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError

from kinelo.errors import NoStationaryState
from kinelo.model.expectation import Closure
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.anderson import Mixing
from kinelo.theory.balance import DensePull
from kinelo.theory.closure import GOAL, GROWTH, ITERATIONS, SMALL, Fluctuation
from kinelo.theory.opponents import Matchups, Opponents, results_against
from kinelo.theory.teams import Teams, mean_results


def mean_field(
    system: RatingSystem, teams: Teams, closure: Closure, start: Array, guess: Fluctuation | None = None
) -> Fluctuation:
    """Means and variances of a continuum's ratings, by alternating a Newton step for the means with new variances."""
    target = mean_results(system.outcome, teams, closure, dense=True)
    matchups = results_against(system.outcome, teams, closure, teams.theta, teams.sigma)
    gammas = [system.step]
    while guess is None and gammas[-1] * system.outcome.steepest > SMALL:
        gammas.append(gammas[-1] / GROWTH)
    found = guess
    for gamma in reversed(gammas):
        first = start if found is None else found.rating
        found = _solved(replace(system, gamma=gamma), teams, closure, target, matchups, first, found)
    assert found is not None
    return found


def _solved(
    system: RatingSystem,
    teams: Teams,
    closure: Closure,
    target: Array,
    matchups: Matchups,
    start: Array,
    guess: Fluctuation | None,
) -> Fluctuation:
    outcome = system.outcome
    rating = np.array(start)
    variance: Array = np.full(teams.size, system.step / (2 * outcome.steepest)) if guess is None else guess.variance
    mixing = Mixing()
    for iteration in range(1, ITERATIONS + 1):
        pull = DensePull(outcome, teams.mass, variance)
        drift = target - pull.scores(rating)
        opponents = Opponents(system, teams, closure, rating, variance)
        new = opponents.variance_given(matchups, rating, variance)
        change = float(np.abs(new / variance - 1).max())
        residual = float(np.abs(drift).max())
        if residual <= GOAL and change <= GOAL:
            return Fluctuation(rating, new, None, residual, iteration, "independent")
        try:
            step = pull.step(rating, drift)
        except LinAlgError:
            break
        here, there = np.concatenate([rating, variance]), np.concatenate([rating + step, new])
        point = mixing.propose(here, there, change)
        rating, variance = point[: teams.size], np.maximum(point[teams.size :], new / 4)
    raise NoStationaryState(
        f"The equations for the rating noise were not solved at gamma = {system.step:g}: with nu = "
        f"{outcome.sharpness:g} ratings fluctuate too widely for them; take a smaller gamma, or simulate."
    )
