r"""The stationary map: where every team's mean drift ``Σ_j μ_j w(R_i − R_j) (s_ij − b(R_i − R_j))`` vanishes.

For w ≡ 1 the ratings minimise the convex functional ``½ Σ μ_i μ_j [B(R_i − R_j) − s_ij (R_i − R_j)]`` with ``B' = b``
and a given mean. Where pairing depends on ratings the drift is still a gradient, but of a functional that need not be
convex: several equilibria are possible. From a given start we follow the flow by implicit Euler steps that lengthen as
the drift dies out, until they are Newton steps. The eigenvalues of the Jacobian then tell whether the equilibrium is
stable.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh

from kinelo.errors import InputError, NoStationaryState, warn
from kinelo.model.expectation import Closure, expected_result
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll
from kinelo.model.schedule import Period
from kinelo.model.strength import Fixed, Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array
from kinelo.theory.balance import Balance, DensePull, WavePull, far_balance, find_balance, missing, runaway_group
from kinelo.theory.closure import WHOLE_COVARIANCE, Fluctuation, LeagueClosure, most_together, settled_steps
from kinelo.theory.covariance import StrengthMotion
from kinelo.theory.fixed_point import GOAL, ROUNDING_FLOOR, few_threads
from kinelo.theory.many_teams import few_groups, large_league, mean_field
from kinelo.theory.pair_means import FREE_RATE, mass_laplacian, smooth
from kinelo.theory.state import Method, Noise, StationaryState
from kinelo.theory.teams import Continuum, Teams, as_system, check_field, mean_results, teams_of
from kinelo.theory.two_teams import exact_law, gap_law

MOST_DENSE_TEAMS = 3000
MOST_SELECTIVE_STEPS = 2000


def drift_and_slope(system: RatingSystem, results: Array, mass: Array, rating: Array) -> tuple[Array, Array]:
    """Drift of every team, and the symmetric matrix of how strongly each pair is drawn together."""
    gap = rating[:, None] - rating[None, :]
    b, w = system.outcome.b(gap), system.pairing.w(gap)
    slope = w * system.outcome.b_prime(gap) - system.pairing.w_prime(gap) * (results - b)
    return (w * (results - b)) @ mass, slope


def equilibrium(system: RatingSystem, teams: Teams, closure: Closure, start: Array) -> Balance:
    """Follow the flow from ``start`` to where it ends."""
    if teams.size > MOST_DENSE_TEAMS:
        raise InputError(
            f"A pairing that depends on ratings is solved for at most {MOST_DENSE_TEAMS:,} teams, not {teams.size:,}; "
            "AllPlayAll has no such limit."
        )
    results = expected_result(system.outcome, teams.strengths, closure)
    mass, rating = teams.mass, np.array(start)
    drift, slope = drift_and_slope(system, results, mass, rating)
    time = 1 / system.outcome.steepest
    for iteration in range(MOST_SELECTIVE_STEPS):
        residual = float(np.abs(drift).max())
        if residual <= ROUNDING_FLOOR:
            return Balance(rating, residual, iteration, _growth(slope, mass))
        # Solve (1/time − J) step = drift; a step that is too long leads no way downhill.
        matrix = -slope * np.multiply.outer(mass, mass)
        np.fill_diagonal(matrix, 0.0)
        np.fill_diagonal(matrix, -matrix.sum(axis=1) + mass / time)
        try:
            step = cho_solve(cho_factor(matrix), mass * drift)
        except LinAlgError:
            time /= 4
            continue
        new_drift, new_slope = drift_and_slope(system, results, mass, rating + step)
        new_residual = float(np.abs(new_drift).max())
        if new_residual >= residual and residual <= GOAL:
            return Balance(rating, residual, iteration, _growth(slope, mass))
        if new_residual > 2 * residual and time * system.outcome.steepest > 1e-3:
            time /= 4
            continue
        rating, drift, slope = rating + step, new_drift, new_slope
        time *= float(np.clip(2 * residual / max(new_residual, 1e-300), 0.7, 10))
    raise NoStationaryState(
        f"The ratings reach no equilibrium from this start: they still drift by {np.abs(drift).max():.3g} per match "
        "where pairs of teams enter and leave the pairing; a smoothed pairing or another start may have one."
    )


def _growth(slope: Array, mass: Array) -> float:
    """Largest eigenvalue of the Jacobian apart from shifts of groups that never meet, which are free."""
    rates = eigvalsh(mass_laplacian(slope, mass))
    moving = rates[np.abs(rates) > FREE_RATE * np.abs(rates).max()]
    return -float(moving.min()) if moving.size else 0.0


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
    first = teams.theta if start is None else finite_array("start", start, 1)
    if first.size != teams.size:
        raise InputError(f"start must list one rating per team: {first.size} for {teams.size} teams.")
    if not isinstance(method, str) or method not in ("auto", "dense", "matrix-free"):
        raise InputError(f'method must be "auto", "dense" or "matrix-free", not {method!r}.')
    dense = method == "dense" or (method == "auto" and teams.size <= DENSE_TEAMS)
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
        gap, each = gap_law(system, teams.strengths), system.gammas(2)
        # Of a change of the gap each team takes its share, in proportion to its step.
        share = np.array([1.0, -1.0]) * each / each.sum()
        rating = teams.mean(still.rating) + gap.mean * (share - share.mean())
        covariance = gap.variance * np.multiply.outer(share, share)
        moving = Fluctuation(rating, share**2 * gap.variance, covariance, 0.0, 1, "exact")
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


def warn_if_outside(state: StationaryState) -> None:
    """Warn of an answer so far outside the range of theory that it is rough: where w jumps within the noise."""
    for caveat in state.caveats:
        if caveat.error >= 1:
            warn(caveat.sentence)


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
        # Many teams whose results count together, from groups of nearly equal ones.
        merged = few_groups(teams)
        first = np.bincount(merged.group, teams.mass * start, merged.teams.size) / merged.teams.mass
        moved = LeagueClosure(system, merged.teams, closure).solve(steps, first).fluctuation
        shift, variance = merged.expand(moved.rating - first, teams.theta), merged.expand(moved.variance, teams.theta)
        return replace(moved, rating=start + shift, variance=variance)
    if special or method == "dense" or (small and method == "auto"):
        solver = LeagueClosure(system, teams, closure)
        known = None if guess is None else guess.state(solver.whole)
        return solver.solve(steps, start, known).fluctuation
    plain = replace(system, gamma=steps)
    if teams.finite:
        return large_league(plain, teams, closure, start)
    return mean_field(plain, teams, closure, start, guess)


def balance_ratings(outcome: Outcome, teams: Teams, closure: Closure, start: Array, dense: bool) -> Balance:
    """Stationary ratings for w ≡ 1 without noise."""
    target = mean_results(outcome, teams, closure, dense)
    group = runaway_group(target, teams.mass, outcome.supremum)
    if group is not None:
        other = 'closure="exact", ' if closure == "taylor" else ""
        raise NoStationaryState(
            f"No stationary ratings exist: against all others, {teams.list_names(group)} would score no more than now "
            f"if rated infinitely higher, so the gap between {group.size} of the {teams.size} teams and the "
            f"rest grows without end; {other}a smaller nu, or strengths that overlap have a stationary state."
        )
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


def freeze(values: Array) -> Array:
    """Make an array read-only."""
    values.setflags(write=False)
    return values
