r"""True strengths from stationary ratings, the spreads σ being known.

Solves ``Σ_j s(θ_i − θ_j, σ_i, σ_j) = Σ_j E b(R_i − R_j)`` for θ: the problem of :mod:`kinelo.theory.balance` with
the parts of ratings and strengths exchanged. Rating noise δR carries over to ``δθ = H_s⁻¹ H_b δR``, H being the
Laplacians of the slopes of both sides, and so gives the standard error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import root_scalar

from kinelo.errors import InputError
from kinelo.model.outcome import Outcome, check_outcome
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array, positive, team_vector
from kinelo.presentation import html_facts
from kinelo.theory.balance import DensePull, WavePull, expected_slope, find_balance, runaway_group
from kinelo.theory.closure import WHOLE_COVARIANCE, Fluctuation, LeagueClosure
from kinelo.theory.fixed_point import ITERATIONS, few_threads
from kinelo.theory.limit import DENSE_TEAMS, rating_noise, stationary
from kinelo.theory.pair_means import laplacian
from kinelo.theory.teams import Teams, teams_of
from kinelo.theory.two_teams import gap_law

RECOVERED = 1e-11


@dataclass(frozen=True, repr=False)
class Recovery:
    """Strengths that explain given ratings.

    Attributes
    ----------
    theta
        Mean strength of each team; the mean over the league is that of the ratings.
    standard_error
        Standard error of θ when the ratings are those of one moment: the share of rating noise in them. None where
        neither a step size nor a rating variance was given.
    rating, sigma
        What was given.
    residual
        Largest difference left between the mean results that strengths and ratings predict.

    >>> from kinelo.model.outcome import Tanh
    >>> found = recover_strength(Tanh(nu=0.5), [4.6678, 7.0, 9.3322], sigma=1.0)
    >>> found.strengths.theta.round(3), found.residual < 1e-9
    (array([ 4.,  7., 10.]), True)
    """

    theta: Array
    standard_error: Array | None
    rating: Array
    sigma: Array
    residual: float

    def __repr__(self) -> str:
        parts = [f"{self.theta.size:,} teams", f"strengths from {self.theta.min():.4g} to {self.theta.max():.4g}"]
        if self.standard_error is not None:
            parts.append(f"standard error {np.sqrt(np.mean(self.standard_error**2)):.3g}")
        return f"Recovery: {', '.join(parts)}"

    def _repr_html_(self) -> str:
        rows = [
            ("teams", f"{self.theta.size:,}"),
            ("ratings", f"{self.rating.min():.4g} to {self.rating.max():.4g}"),
            ("strengths", f"{self.theta.min():.4g} to {self.theta.max():.4g}"),
        ]
        if self.standard_error is not None:
            rows.append(("standard error of a strength", f"{np.sqrt(np.mean(self.standard_error**2)):.3g}"))
        return html_facts(rows)

    @property
    def strengths(self) -> Normal:
        """The league with these strengths."""
        return Normal(self.theta, self.sigma)


def recover_strength(
    outcome: Outcome,
    ratings: ArrayLike,
    sigma: ArrayLike,
    *,
    gamma: float | None = None,
    rating_variance: ArrayLike | None = None,
) -> Recovery:
    """Find the mean strengths whose stationary ratings are the given ones.

    Parameters
    ----------
    outcome
        The outcome function of the rating system.
    ratings
        Stationary ratings under AllPlayAll, one per team.
    sigma
        Spread of the performances, one for all teams or one each.
    gamma
        Step size of the rating system. The stretch that rating noise gives the map is then taken out, as
        ``stationary(..., noise="gaussian")`` puts it in, and the standard error is reported.
    rating_variance
        Instead of gamma: the variance of the ratings in time, one for all teams or one each.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> found = recover_strength(Tanh(nu=0.5), [4.6678, 7.0, 9.3322], sigma=1.0)
    >>> found.theta.round(3)
    array([ 4.,  7., 10.])
    """
    check_outcome(outcome)
    rating = team_vector("ratings", ratings)
    teams = teams_of(Normal(rating, sigma))
    if gamma is not None and rating_variance is not None:
        raise InputError("gamma and rating_variance both say how noisy the ratings are; give one of them.")
    if gamma is not None:
        with few_threads(teams.size):
            return _with_step_size(RatingSystem(outcome, gamma=positive("gamma", gamma)), teams, rating)
    variance = None if rating_variance is None else _variances(rating_variance, rating)
    theta, residual = _strengths_for(outcome, teams, _scores(outcome, teams, rating, variance), rating)
    noise = None if variance is None else Fluctuation(rating, variance, None, 0.0, 0, "independent")
    return Recovery(theta, _standard_error(outcome, teams, theta, noise), rating, teams.sigma, residual)


def _variances(given: ArrayLike, rating: Array) -> Array:
    values = finite_array("rating_variance", given, 0, 1)
    if values.ndim == 1 and values.shape != rating.shape:
        raise InputError(f"rating_variance must be one number or one per team: {values.size} for {rating.size} teams.")
    if (values < 0).any():
        raise InputError(f"rating_variance must be 0 or more, but its smallest entry is {values.min():g}.")
    return np.array(np.broadcast_to(values, rating.shape))


def _pull(outcome: Outcome, teams: Teams, variance: Array | None) -> DensePull | WavePull:
    return (DensePull if teams.size <= DENSE_TEAMS else WavePull)(outcome, teams.mass, variance)


def _scores(outcome: Outcome, teams: Teams, rating: Array, variance: Array | None) -> Array:
    return _pull(outcome, teams, variance).scores(rating)


def _strengths_for(outcome: Outcome, teams: Teams, target: Array, start: Array) -> tuple[Array, float]:
    group = runaway_group(target, teams.mass, outcome.supremum)
    if group is not None:
        raise InputError(
            f"ratings: no strengths can produce them, because {teams.list_names(group)} would never lose to any other "
            f"team; accepted are gaps of less than about {outcome.saturation:.3g} rating points."
        )
    found = find_balance(_pull(outcome, teams, teams.sigma**2), target, start, teams.mass)
    return found.positions, found.residual


def _with_step_size(system: RatingSystem, teams: Teams, rating: Array) -> Recovery:
    """Alternate between the noise of the ratings given the strengths and the strengths given the noise."""
    outcome = system.outcome
    theta, residual = _strengths_for(outcome, teams, _scores(outcome, teams, rating, None), rating)
    if teams.size == 2:
        return _of_two(system, teams, rating, theta)
    noise = None
    for _ in range(ITERATIONS):
        league = Teams(Normal(theta, teams.sigma), teams.mass, finite=True)
        if teams.size <= WHOLE_COVARIANCE:
            solver = LeagueClosure(system, league)
            known = None if noise is None else noise.state(whole=True)
            solved = solver.solve(system.step, rating, known)
            noise = solved.fluctuation
            # The closure at the given ratings, not at those of the strengths found so far.
            now = solver.look(solver.steps(system.step), solved.state._replace(rating=rating))
            target = (solver.target - now.drift) / teams.crowding
        else:
            noise = rating_noise(system, league, "exact", rating, guess=noise)
            target = _scores(outcome, teams, rating, noise.variance)
        new, residual = _strengths_for(outcome, teams, target, theta)
        change, theta = float(np.abs(new - theta).max()), new
        if change * outcome.sharpness <= RECOVERED:
            error = _standard_error(outcome, teams, theta, noise)
            return Recovery(theta, error, rating, teams.sigma, residual)
    raise InputError(f"No strengths produce these ratings at gamma = {system.step:g}; a smaller gamma may.")


def _of_two(system: RatingSystem, teams: Teams, rating: Array, first: Array) -> Recovery:
    """Two teams by the exact law of their gap: the secant method on the gap of strengths."""
    middle, gap = float(rating.mean()), float(rating[0] - rating[1])

    def league(strength_gap: float) -> Normal:
        return Normal(middle + np.array([0.5, -0.5]) * strength_gap, teams.sigma)

    def excess(strength_gap: float) -> float:
        return gap_law(system, league(strength_gap)).mean - gap

    guess = float(first[0] - first[1])
    root = root_scalar(excess, x0=guess, x1=0.9 * guess + 1e-3 / system.outcome.sharpness, xtol=1e-11, maxiter=60)
    theta = league(float(root.root)).theta
    state = stationary(system, league(float(root.root)), noise="gaussian")
    noise = Fluctuation(rating, state.variance, state.covariance, 0.0, 0, "exact")
    error = _standard_error(system.outcome, teams, theta, noise)
    return Recovery(theta, error, rating, teams.sigma, abs(excess(float(root.root))))


def _standard_error(outcome: Outcome, teams: Teams, theta: Array, noise: Fluctuation | None) -> Array | None:
    if noise is None:
        return None
    spread = teams.sigma**2 if teams.sigma.any() else None
    if teams.size > DENSE_TEAMS:
        ones = np.ones(teams.size)
        ratings = WavePull(outcome, teams.mass, noise.variance).smoothing(noise.rating)(ones)
        strengths = WavePull(outcome, teams.mass, spread).smoothing(theta)(ones)
        return np.sqrt(noise.variance) * ratings / strengths
    covariance = np.diag(noise.variance) if noise.covariance is None else noise.covariance
    variance = noise.variance if noise.variance.any() else None
    response = np.linalg.pinv(laplacian(expected_slope(outcome, theta, spread)), hermitian=True) @ laplacian(
        expected_slope(outcome, noise.rating, variance)
    )
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", response, covariance, response), 0.0))
