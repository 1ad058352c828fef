"""What a contest of many sides is worth, counted in matches of two."""

from __future__ import annotations

import numpy as np

from kinelo.model.outcome import Outcome
from kinelo.model.strength import Fixed, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.closure import LeagueClosure
from kinelo.theory.limit import stationary
from kinelo.theory.many_teams import merge_many, representatives
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum, Teams


def contest_worth(system: RatingSystem | Outcome, strengths: Strength | Continuum) -> Array:
    """How many matches of two a contest is worth to each team that takes part, as γ → 0.

    A contest of k moves ratings on average as one match does, and with less noise: the variance is
    ``(k − 1)/(1 + (k − 2)ρ)`` times less, ρ being the correlation of a team's surprises against two opponents. Among
    equals that is ``3(k − 1)/(k + 1)``, never more than three.

    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), schedule=kn.model.Field(8))
    >>> contest_worth(system, kn.Fixed([7.0] * 20)).round(6)[:3]
    array([2.333333, 2.333333, 2.333333])
    """
    return worth_at(stationary(system, strengths))


def worth_at(still: StationaryState) -> Array:
    """How many matches of two a contest is worth to each team of a stationary state without noise."""
    system, teams = still.system, still.teams
    if system.sides == 2:
        return np.ones(teams.size)
    few = merge_many(teams)
    solver = LeagueClosure(system, few, still.closure, whole=False)
    if few is teams:
        return _worth(solver, still.rating)
    group = representatives(teams)[1]
    rating = np.bincount(group, teams.mass * still.rating, few.size) / few.mass
    return _worth(solver, rating)[group]


def _worth(solver: LeagueClosure, rating: Array) -> Array:
    match, contest = solver.luck(rating)
    return match / contest


def contest_share(system: RatingSystem, pool: Array) -> float:
    """Luck of a contest in units of that of a match, over many teams drawn from a pool of strengths at rest."""
    many = Teams(Fixed(np.repeat(pool, 2)), np.full(2 * pool.size, 0.5 / pool.size), finite=False)
    solver = LeagueClosure(system, many, whole=False)
    match, contest = solver.luck(many.theta)
    return float(contest.mean() / match.mean())
