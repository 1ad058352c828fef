r"""The stationary map: where every team's mean drift ``Σ_j μ_j w(R_i − R_j) (s_ij − b(R_i − R_j))`` vanishes.

For w ≡ 1 the ratings minimise the convex functional ``½ Σ μ_i μ_j [B(R_i − R_j) − s_ij (R_i − R_j)]`` with ``B' = b``
and a given mean. Other pairings are treated in :mod:`kinelo.theory.selective`.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinelo.errors import InputError, KineloWarning, NoStationaryState
from kinelo.model.expectation import Closure
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array
from kinelo.theory.balance import Balance, DensePull, WavePull, find_balance
from kinelo.theory.continuum import Continuum
from kinelo.theory.crowd import crowd_fluctuations
from kinelo.theory.existence import runaway_group
from kinelo.theory.meanfield import mean_field
from kinelo.theory.noise import WHOLE_COVARIANCE, Fluctuation, fluctuations
from kinelo.theory.selective import equilibrium
from kinelo.theory.state import Method, Noise, StationaryState
from kinelo.theory.teams import Teams, mean_results, teams_of
from kinelo.theory.threads import few_threads

DENSE_TEAMS = 800

FEW_NODES = 100
"""Nodes of a continuum whose noise takes less time pair by pair, in Newton's steps, than in waves."""

WIDEST_NOISE = 0.5
"""Noise of a rating difference, as a part of the distance at which w jumps, up to which it is taken for normal."""


def stationary(
    system: RatingSystem,
    strengths: Strength | Continuum,
    closure: Closure = "exact",
    noise: Noise = "none",
    *,
    start: ArrayLike | None = None,
    method: Method = "auto",
) -> StationaryState:
    """Ratings at which the drift vanishes, and their noise.

    Parameters
    ----------
    system
        The rating system. Its step size matters only with ``noise="gaussian"``.
    strengths
        A league, or a :class:`~kinelo.theory.continuum.Continuum` of teams.
    closure
        How expected results follow from strengths: exactly, or by the paper's Taylor closure.
    noise
        ``"none"`` for small steps, ``"gaussian"`` to let ratings fluctuate as they do at the system's step size.
    start
        Ratings to start from: their mean is kept, and with several equilibria they decide which one is found.
        Defaults to the mean strengths.
    method
        ``"dense"`` works on all pairs, ``"matrix-free"`` in memory O(N); ``"auto"`` takes dense up to 800 teams.

    Raises
    ------
    NoStationaryState
        Where no ratings can balance the results; the message names the teams.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> from kinelo.model.strength import Normal
    >>> state = stationary(RatingSystem(Tanh(nu=0.5)), Normal([4.0, 7.0, 10.0], sigma=1.0))
    >>> state.rating.round(4), round(state.slope, 4)
    (array([4.6678, 7.    , 9.3322]), 0.7774)
    """
    if not isinstance(system, RatingSystem):
        raise InputError(f"system must be a RatingSystem, not {system!r}.")
    teams = teams_of(strengths)
    first = _start(teams, start)
    dense = _is_dense(method, teams)
    if noise not in ("none", "gaussian"):
        raise InputError(f'noise must be "none" or "gaussian", not {noise!r}.')
    with few_threads(teams.size):
        still = _without_noise(system, teams, closure, first, dense)
        if noise == "none":
            return still
        state = with_noise(still, method)
    warn_if_noise_fills_the_window(state)
    return state


def _without_noise(system: RatingSystem, teams: Teams, closure: Closure, start: Array, dense: bool) -> StationaryState:
    if system.pairing.constant:
        found, growth = balanced_ratings(system.outcome, teams, closure, start, dense), None
    else:
        found = equilibrium(system, teams, closure, start)
        growth = found.growth * teams.crowding
    return StationaryState(
        system,
        teams,
        closure,
        "none",
        frozen(found.positions),
        frozen(np.zeros(teams.size)),
        found.residual,
        found.iterations,
        stable=growth is None or growth < 0,
        growth=growth,
    )


def with_noise(
    still: StationaryState, method: Method = "auto", similar: StationaryState | None = None
) -> StationaryState:
    """The state at the system's step size, from that of infinitely small steps; one of a similar league saves time."""
    guess = None
    if similar is not None:
        guess = Fluctuation(similar.rating, similar.variance, similar.covariance, similar.residual, 0)
    with few_threads(still.teams.size):
        moving = fluctuating(still.system, still.teams, still.closure, still.rating, method, guess)
    return replace(
        still,
        noise="gaussian",
        rating=frozen(moving.rating),
        variance=frozen(moving.variance),
        residual=moving.residual,
        iterations=still.iterations + moving.iterations,
        covariance=None if moving.covariance is None else frozen(moving.covariance),
    )


def warn_if_noise_fills_the_window(state: StationaryState) -> None:
    """Say so where w jumps within the noise of a rating difference, which then is far from normal."""
    distances = [abs(jump) for jump in state.system.pairing.jumps]
    if not distances:
        return
    noise = float(np.sqrt(2 * state.teams.mean(state.variance)))
    if noise > WIDEST_NOISE * min(distances):
        warnings.warn(
            f"The difference of two ratings varies by ± {noise:.3g} at gamma = {state.system.step:.4g}, and the "
            f"pairing jumps at {min(distances):.4g}: such noise is not normal, so mean ratings "
            "and noise computed here are rough. Simulate, or take a smaller gamma.",
            KineloWarning,
            stacklevel=3,
        )


def fluctuating(
    system: RatingSystem,
    teams: Teams,
    closure: Closure,
    start: Array,
    method: Method = "auto",
    guess: Fluctuation | None = None,
) -> Fluctuation:
    """Mean and covariance of the ratings at the system's step size, all pairs at once or through representatives."""
    selective = not system.pairing.constant
    small = teams.size <= (WHOLE_COVARIANCE if teams.finite else FEW_NODES)
    if selective or method == "dense" or (small and method == "auto"):
        return fluctuations(system, teams, closure, start, guess)
    if teams.finite:
        return crowd_fluctuations(system, teams, closure, start)
    return mean_field(system, teams, closure, start, guess)


def balanced_ratings(outcome: Outcome, teams: Teams, closure: Closure, start: Array, dense: bool) -> Balance:
    """Stationary ratings for w ≡ 1 without noise."""
    target = mean_results(outcome, teams, closure, dense)
    refuse_runaway(teams, target, outcome.supremum)
    pull = (DensePull if dense else WavePull)(outcome, teams.mass)
    return find_balance(pull, target, start, teams.mass)


def refuse_runaway(teams: Teams, target: Array, supremum: float = 1.0) -> None:
    """Say which teams run away from the others, where some do."""
    group = runaway_group(target, teams.mass, supremum)
    if group is None:
        return
    raise NoStationaryState(
        f"No stationary ratings exist: against all others, {teams.listed(group)} score as much as infinitely higher "
        f"ratings would predict, or more, so the gap between {group.size} of the {teams.size} teams and the rest grows "
        'without end; closure="exact", a smaller nu, or strengths that overlap have a stationary state.'
    )


def _start(teams: Teams, start: ArrayLike | None) -> Array:
    if start is None:
        return teams.theta
    given = finite_array("start", start, 1)
    if given.size != teams.size:
        raise InputError(f"start must list one rating per team: {given.size} for {teams.size} teams.")
    return given


def _is_dense(method: str, teams: Teams) -> bool:
    if method not in ("auto", "dense", "matrix-free"):
        raise InputError(f'method must be "auto", "dense" or "matrix-free", not {method!r}.')
    return method == "dense" or (method == "auto" and teams.size <= DENSE_TEAMS)


def frozen(values: Array) -> Array:
    """Make an array read-only."""
    values.setflags(write=False)
    return values


FEW_NODES = 100
