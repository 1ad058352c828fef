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
from kinelo.model.pairing import AllPlayAll
from kinelo.model.schedule import Period
from kinelo.model.strength import Fixed, Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array
from kinelo.theory.balance import Balance, DensePull, WavePull, far_balance, find_balance, missing, runaway_group
from kinelo.theory.closure import WHOLE_COVARIANCE, Fluctuation, LeagueClosure, most_together, settled_steps
from kinelo.theory.covariance import StrengthMotion
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.many_teams import few_groups, large_league, mean_field
from kinelo.theory.pair_means import smooth
from kinelo.theory.selective import equilibrium
from kinelo.theory.state import Method, Noise, StationaryState
from kinelo.theory.teams import Continuum, Teams, as_system, check_field, mean_results, teams_of
from kinelo.theory.two_teams import exact_law, gap_law

DENSE_TEAMS = 800

FEW_NODES = 100
"""Nodes of a continuum whose noise takes less time pair by pair, in Newton's steps, than in waves."""

CERTAIN_GAP = 12.0
"""Gap of neighbours, in units of 1/ν, beyond which results are so certain that the rest to certainty decides."""


def stationary(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    closure: Closure = "exact",
    noise: Noise = "none",
    *,
    start: ArrayLike | None = None,
    method: Method = "auto",
) -> StationaryState:
    """Ratings at which the drift vanishes, and their noise.

    The parameters are described where users find them, in :func:`kinelo.advice.checked.stationary`, which can also play
    a league beside the answer. Raises NoStationaryState where no ratings can balance the results.
    """
    system = as_system(system)
    teams = teams_of(strengths)
    check_field(system, teams)
    first = _start(teams, start)
    dense = _is_dense(method, teams)
    if not isinstance(noise, str) or noise not in ("none", "gaussian"):
        raise InputError(f'noise must be "none" or "gaussian", not {noise!r}.')
    with few_threads(teams.size):
        if noise == "none":
            return _without_noise(system, teams, closure, first, dense)
        state = with_noise(before_noise(system, teams, closure, first, dense), method)
    warn_if_outside(state)
    return state


def _without_noise(system: RatingSystem, teams: Teams, closure: Closure, start: Array, dense: bool) -> StationaryState:
    if system.pairing.constant:
        settled = balance_ratings(system.outcome, teams, closure, start, dense)
    else:
        settled = equilibrium(system, teams, closure, start)
    growth = None if settled.growth is None else settled.growth * teams.crowding
    return StationaryState(
        system,
        teams,
        closure,
        "none",
        freeze(settled.positions),
        freeze(np.zeros(teams.size)),
        settled.residual,
        settled.iterations,
        stable=growth is None or growth < 0,
        growth=growth,
    )


def before_noise(
    system: RatingSystem, teams: Teams, closure: Closure = "exact", start: Array | None = None, dense: bool = True
) -> StationaryState:
    """Where the ratings of small steps rest, to look for those of the system's own steps from there.

    Teams may slide along the edge of a pairing that jumps and never rest; noise rounds that edge, and so does this.
    """
    start = teams.theta if start is None else start
    if not system.pairing.jumps:
        return _without_noise(system, teams, closure, start, dense)
    rounded = replace(system, pairing=system.pairing.softened())
    try:
        found = _without_noise(rounded, teams, closure, start, dense)
    except NoStationaryState:
        found = _without_noise(replace(system, pairing=AllPlayAll()), teams, closure, start, dense)
    return replace(found, system=system)


def at_small_steps(system: RatingSystem, strengths: Strength | Continuum) -> StationaryState:
    """Where ratings rest as steps vanish; at the edge of a pairing that jumps, that of one with a rounded edge."""
    try:
        return stationary(system, strengths)
    except NoStationaryState:
        if not system.pairing.jumps:
            raise
    return replace(stationary(replace(system, pairing=system.pairing.softened()), strengths), system=system)


def with_noise(
    still: StationaryState, method: Method = "auto", similar: StationaryState | None = None
) -> StationaryState:
    """The state at the system's steps, from that of infinitely small ones; one of a similar league saves time."""
    system, teams = still.system, still.teams
    steps = settled_steps(system, teams.theta)
    gap = None
    if still.closure == "exact" and exact_law(system, teams):
        gap = gap_law(system, teams.strengths)
        moving = _two_teams(system, teams.mean(still.rating), gap.mean, gap.variance)
    else:
        guess = None
        if similar is not None and similar.kind in ("joint", "independent"):
            guess = Fluctuation(
                similar.rating, similar.variance, similar.covariance, similar.residual, 0, similar.kind or "joint"
            )
        with few_threads(teams.size):
            moving = rating_noise(system, teams, still.closure, still.rating, method, guess, steps)
    return replace(
        still,
        noise="gaussian",
        rating=freeze(moving.rating),
        variance=freeze(moving.variance),
        residual=moving.residual,
        iterations=still.iterations + moving.iterations,
        covariance=None if moving.covariance is None else freeze(moving.covariance),
        kind=moving.kind,
        gap=gap,
    )


def _two_teams(system: RatingSystem, middle: float, mean: float, variance: float) -> Fluctuation:
    """Ratings of two teams from their gap: each takes its share of a change in proportion to its step."""
    steps = system.gammas(2)
    share = np.array([1.0, -1.0]) * steps / steps.sum()
    rating = middle + mean * (share - share.mean())
    return Fluctuation(rating, share**2 * variance, variance * np.multiply.outer(share, share), 0.0, 1, "exact")


def warn_if_outside(state: StationaryState) -> None:
    """Warn of an answer so far outside the range of theory that it is rough: where w jumps within the noise."""
    for caveat in state.caveats:
        if caveat.error >= 1:
            warnings.warn(caveat.sentence, KineloWarning, stacklevel=3)


def rating_noise(
    system: RatingSystem,
    teams: Teams,
    closure: Closure,
    start: Array,
    method: Method = "auto",
    guess: Fluctuation | None = None,
    steps: float | Array | None = None,
) -> Fluctuation:
    """Mean and covariance of the ratings at the system's steps, all pairs at once or through representatives."""
    steps = settled_steps(system, teams.theta) if steps is None else steps
    special = not system.pairing.constant or system.schedule is not None or not isinstance(steps, float)
    small = teams.size <= (WHOLE_COVARIANCE if teams.finite else FEW_NODES)
    many = teams.finite and teams.size > most_together(system, StrengthMotion())
    if many and method == "auto" and isinstance(system.schedule, Period) and isinstance(steps, float):
        return _in_groups(system, teams, closure, start, steps)
    if special or method == "dense" or (small and method == "auto"):
        solver = LeagueClosure(system, teams, closure)
        known = None if guess is None else guess.state(solver.whole)
        return solver.solve(steps, start, known).fluctuation
    plain = replace(system, gamma=steps)
    if teams.finite:
        return large_league(plain, teams, closure, start)
    return mean_field(plain, teams, closure, start, guess)


def _in_groups(system: RatingSystem, teams: Teams, closure: Closure, start: Array, steps: float) -> Fluctuation:
    """Mean and covariance of ratings of many teams whose results count together, from groups of nearly equal ones."""
    merged = few_groups(teams)
    few = merged.teams
    first = np.bincount(merged.group, teams.mass * start, few.size) / few.mass
    found = LeagueClosure(system, few, closure).solve(steps, first).fluctuation
    rating, variance = merged.expand(found.rating - first, teams.theta), merged.expand(found.variance, teams.theta)
    return replace(found, rating=start + rating, variance=variance)


def balance_ratings(outcome: Outcome, teams: Teams, closure: Closure, start: Array, dense: bool) -> Balance:
    """Stationary ratings for w ≡ 1 without noise."""
    target = mean_results(outcome, teams, closure, dense)
    refuse_runaway(teams, target, outcome.supremum)
    if dense and closure == "exact" and (found := _far_apart(outcome, teams, start)) is not None:
        return found
    pull = (DensePull if dense else WavePull)(outcome, teams.mass)
    return find_balance(pull, target, start, teams.mass)


def _far_apart(outcome: Outcome, teams: Teams, start: Array) -> Balance | None:
    """Ratings of normal teams between which there is a gap so wide that expected results are 1 to many digits."""
    if not isinstance(teams.strengths, Fixed | Normal) or outcome.supremum < 1:
        return None
    order = np.argsort(-teams.theta, kind="stable")
    theta, sigma = teams.theta[order], teams.sigma[order]
    if -np.diff(theta).min(initial=0.0) * outcome.sharpness < CERTAIN_GAP:
        return None
    rows, columns = np.triu_indices(teams.size, 1)
    uncertain, gap = np.zeros((teams.size, teams.size)), theta[rows] - theta[columns]
    spread = np.sqrt(sigma[rows] ** 2 + sigma[columns] ** 2)
    for one in np.unique(spread):
        at = spread == one
        # The mass of what is left of a certain win lies 2νV below the mean gap.
        uncertain[rows[at], columns[at]] = smooth(lambda z: missing(outcome, z), outcome.nu, one)(gap[at])
    equal = np.full(teams.size, 0.0) - np.arange(teams.size) / outcome.sharpness
    balanced = far_balance(outcome, teams.mass[order], uncertain, equal)
    if balanced is None:
        return None
    positions = np.empty(teams.size)
    positions[order] = balanced.positions
    return replace(balanced, positions=positions + teams.mean(start) - teams.mean(positions))


def refuse_runaway(teams: Teams, target: Array, supremum: float = 1.0) -> None:
    """Say which teams run away from the others, where some do."""
    group = runaway_group(target, teams.mass, supremum)
    if group is None:
        return
    raise NoStationaryState(
        f"No stationary ratings exist: against all others, {teams.list_names(group)} score as much as infinitely "
        f"higher ratings would predict, or more, so the gap between {group.size} of the {teams.size} teams and the "
        'rest grows without end; closure="exact", a smaller nu, or strengths that overlap have a stationary state.'
    )


def _start(teams: Teams, start: ArrayLike | None) -> Array:
    if start is None:
        return teams.theta
    given = finite_array("start", start, 1)
    if given.size != teams.size:
        raise InputError(f"start must list one rating per team: {given.size} for {teams.size} teams.")
    return given


def _is_dense(method: str, teams: Teams) -> bool:
    if not isinstance(method, str) or method not in ("auto", "dense", "matrix-free"):
        raise InputError(f'method must be "auto", "dense" or "matrix-free", not {method!r}.')
    return method == "dense" or (method == "auto" and teams.size <= DENSE_TEAMS)


def freeze(values: Array) -> Array:
    """Make an array read-only."""
    values.setflags(write=False)
    return values
