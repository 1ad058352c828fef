"""What a stationary state is: ratings, their noise, and the map from strength to rating that they make up.

**One more team.** Where a team of any strength would settle among the others solves ``Σ_j μ_j b(R − R_j) = t(θ, σ)``
with ``t = Σ_j μ_j s(θ, σ; θ_j, σ_j)``. That gives the map R(θ) between and beyond the teams of a league, and by
implicit differentiation its slope. With rating noise b is averaged over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.expectation import Closure, LeagueWaves
from kinelo.model.outcome import Outcome
from kinelo.model.strength import normal_waves
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array, nonnegative
from kinelo.presentation import html_facts, html_list
from kinelo.theory.balance import Waves, wave_nodes
from kinelo.theory.caveats import Caveat, caveats_of
from kinelo.theory.closure import NoiseKind, settled_steps
from kinelo.theory.fixed_point import GOAL
from kinelo.theory.many_teams import Opponents, results_against
from kinelo.theory.teams import Teams
from kinelo.theory.two_teams import GapLaw

BISECTIONS = 100
FIRST_REACH = 30.0
"""Lengths of the outcome beyond the league in which a rating is looked for first: light tails are flat there."""


@dataclass(frozen=True)
class View:
    """What one more team sees of a stationary state."""

    system: RatingSystem
    teams: Teams
    closure: Closure
    rating: Array
    variance: Array


class ProbedLeague:
    """What a league presents to one more team: the score of a position x with variance v, and its derivatives.

    ``span`` bounds the differences of positions that will be asked for, ``spread`` the noise of either side.
    """

    def __init__(
        self, outcome: Outcome, mass: Array, positions: Array, variances: Array, span: float, spread: float
    ) -> None:
        noisy = variances if variances.any() else None
        waves = Waves(positions, noisy, wave_nodes(outcome, span, spread))
        self._centre, self._u = waves.centre, waves.u
        self._amplitude = waves.nodes.sine * waves.sums(mass[None])[0].conj()

    def score(self, x: Array, variance: Array | float, derivative: int = 0) -> Array:
        """``Σ_j μ_j E b^{(k)}(x − x_j + noise)`` for k = ``derivative``."""
        u = self._u
        waves = normal_waves(x - self._centre, variance, u)
        return (waves @ (self._amplitude * (1j * u) ** derivative)).imag


def target_score(
    outcome: Outcome, teams: Teams, closure: Closure, theta: Array, sigma: float, derivative: int = 0
) -> Array:
    """``t(θ, σ)``, the mean result of one more team against the league, or its derivative in θ."""
    span = float(max(theta.max(), teams.theta.max()) - min(theta.min(), teams.theta.min()))
    if closure == "exact":
        league, centre = teams.strengths.seen_through(outcome, span, sigma), float(teams.theta.mean())
        nodes = outcome.spectrum(span + 2 * max(league.reach_of(sigma), league.reach))
        total = np.zeros(theta.shape)
        for part, phi in LeagueWaves(nodes, league, centre).blocks(2**21):
            waves = league.waves_of(theta, np.asarray(sigma), part.u, centre)
            weight = part.sine * (1j * part.u) ** derivative
            total += (waves @ (weight * (teams.mass @ phi).conj())).imag
        return total
    zero, second = np.zeros(teams.size), derivative + 2
    plain = ProbedLeague(outcome, teams.mass, teams.theta, zero, span, 0.0)
    curved = ProbedLeague(outcome, teams.mass * teams.sigma**2, teams.theta, zero, span, 0.0)
    curvature = sigma**2 * plain.score(theta, 0.0, second) + curved.score(theta, 0.0, second)
    return plain.score(theta, 0.0, derivative) + curvature / 2


def field_around(view: View, target: Array, noise: Array | float) -> tuple[ProbedLeague, float, float]:
    """The field of a league and two positions between which a team scores ``target``.

    Under a law with heavy tails b is flat only millions of points away, and waves as long would be needed to look
    there. So the search begins near the league and goes out until the target lies between, or b is flat.
    """
    outcome, rating = view.system.outcome, view.rating
    reach = min(outcome.saturation / 2, float(np.ptp(rating)) + FIRST_REACH / outcome.sharpness)
    spread = float(np.sqrt(max(view.variance.max(), np.max(noise))))
    while True:
        span = float(np.ptp(rating)) + 2 * reach
        field = ProbedLeague(outcome, view.teams.mass, rating, view.variance, span, spread)
        low, high = float(rating.min()) - reach, float(rating.max()) + reach
        ends = (field.score(np.full(target.shape, end), noise) for end in (low, high))
        if reach >= outcome.saturation / 2 or ((next(ends) < target) & (next(ends) > target)).all():
            return field, low, high
        reach = min(4 * reach, outcome.saturation / 2)


def settle(field: ProbedLeague, low: float, high: float, target: Array, noise: Array | float) -> Array:
    """Position in [low, high] at which one more team scores ``target``: Newton's method inside a shrinking bracket."""
    below, above = np.full(target.shape, low), np.full(target.shape, high)
    if (target <= field.score(below, noise)).any() or (target >= field.score(above, noise)).any():
        raise NoStationaryState("A team of this strength wins or loses every match, so its rating never settles.")
    x = (below + above) / 2
    for _ in range(BISECTIONS):
        excess = field.score(x, noise) - target
        below, above = np.where(excess < 0, x, below), np.where(excess < 0, above, x)
        with np.errstate(divide="ignore", invalid="ignore"):
            guess = x - excess / field.score(x, noise, derivative=1)
        new = np.where((guess >= below) & (guess <= above), guess, (below + above) / 2)
        moved, x = np.abs(new - x).max(), new
        if moved <= 1e-14 * (high - low):
            break
    return x


def probe_rating(view: View, theta: Array, sigma: float) -> Array:
    """Rating R(θ) of one more team."""
    outcome, rating = view.system.outcome, view.rating
    target = target_score(outcome, view.teams, view.closure, theta, sigma)
    variance: Array = np.full(theta.shape, view.variance.mean())
    if not variance.any():
        return _settle_without_noise(view, target)[1]
    opponents = Opponents(view.system, view.teams, view.closure, rating, view.variance)
    matchups = results_against(outcome, view.teams, view.closure, theta.ravel(), np.full(theta.size, sigma))
    x = rating
    for _ in range(BISECTIONS):
        x = settle(*field_around(view, target, variance), target, variance)
        new = opponents.variance_given(matchups, x.ravel(), variance.ravel()).reshape(theta.shape)
        change, variance = float(np.abs(new / variance - 1).max()), new
        if change <= GOAL:
            break
    return x


def _settle_without_noise(view: View, target: Array) -> tuple[ProbedLeague, Array]:
    """The field of the league, and the rating at which a team without noise scores ``target`` in it."""
    field, low, high = field_around(view, target, 0.0)
    return field, settle(field, low, high, target, 0.0)


Noise = Literal["none", "gaussian"]
Method = Literal["auto", "dense", "matrix-free"]


@dataclass(frozen=True, repr=False)
class StationaryState:
    """Ratings at which the mean drift of every team vanishes.

    Attributes
    ----------
    rating
        Mean rating of each team.
    variance
        Variance of each rating in time; zero where noise was not asked for.
    residual
        Largest remaining drift, as a mean result per match.
    iterations
        Newton steps taken.
    stable
        Whether the ratings return here after a small disturbance.
    growth
        Growth rate of the fastest growing disturbance (negative when stable), per match and γ; None where the
        functional is convex and the state therefore stable.
    covariance
        Covariance of the ratings where it was computed, else None.
    kind
        How the noise was found: ``"joint"`` with the whole covariance, ``"independent"`` among many teams, ``"exact"``
        for two; None without noise.
    gap
        The exact law of the rating gap of two teams; None for others.
    check
        What a league played beside this answer showed, where one was.
    """

    system: RatingSystem
    teams: Teams
    closure: Closure
    noise: Noise
    rating: Array
    variance: Array
    residual: float
    iterations: int
    stable: bool = True
    growth: float | None = None
    covariance: Array | None = None
    kind: NoiseKind | None = None
    gap: GapLaw | None = None
    check: object | None = None

    def __repr__(self) -> str:
        parts = [f"{self.rating.size:,} teams", f"ratings from {self.rating.min():.4g} to {self.rating.max():.4g}"]
        if self.kind is not None:
            parts.append(f"noise of a rating {self._noise:.3g}")
        parts.append("stable" if self.stable else "not stable")
        return f"StationaryState: {', '.join(parts)}"

    def _repr_html_(self) -> str:
        rows = [
            ("teams", f"{self.rating.size:,}"),
            ("ratings", f"{self.rating.min():.4g} to {self.rating.max():.4g}"),
            ("strengths", f"{self.theta.min():.4g} to {self.theta.max():.4g}"),
        ]
        if np.isfinite(self.slope):  # teams that are all alike have none
            rows.append(("slope of rating on strength", f"{self.slope:.4g}"))
        if self.kind is not None:
            rows.append(("noise of a rating (one standard deviation)", f"{self._noise:.3g}"))
        rows.append(("stable", "yes" if self.stable else "no"))
        return html_facts(rows) + html_list(one.sentence for one in self.caveats)

    @property
    def _noise(self) -> float:
        return float(np.sqrt(self.teams.mean(self.variance)))

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """Why this answer may be off by more than 2 %; empty inside the range where theory was measured."""
        if self.kind is None:
            return ()
        steps = settled_steps(self.system, self.theta)
        return caveats_of(self.system, self.teams, self.kind, steps, variance=self.variance)

    @property
    def theta(self) -> Array:
        """Mean strengths of the teams."""
        return self.teams.theta

    @property
    def bias(self) -> Array:
        """``R − θ``: positive for teams rated above their strength."""
        return self.rating - self.theta

    @property
    def mean_square_bias(self) -> float:
        """``∫ (R − θ)²`` over the league."""
        return self.teams.mean(self.bias**2)

    @property
    def error(self) -> float:
        """Mean square of rating less strength about the means of the league, noise included; divisor N − 1."""
        return mean_square_error(self.teams, self.rating, self.variance, self.covariance)

    @property
    def slope(self) -> float:
        """Slope of the regression of R on θ; 1 is an unbiased scale, less than 1 a shrunken one."""
        return regression_slope(self.theta, self.rating, self.teams.mass)

    @cached_property
    def centre_slope(self) -> float:
        """Slope of the map R(θ) at the middle of the league, for a normal team of typical spread.

        Where pairing depends on ratings it is the regression slope of the middle half of the teams.
        """
        low, high = float(self.theta.min()), float(self.theta.max())
        if self.system.pairing.constant:
            return float(self.slope_at((low + high) / 2))
        middle = np.abs(self.theta - (low + high) / 2) <= (high - low) / 4
        return regression_slope(self.theta[middle], self.rating[middle], self.teams.mass[middle])

    def rating_of(self, theta: ArrayLike, sigma: float | None = None) -> Array:
        """Rating that one more team with strengths N(θ, σ) would settle at; σ defaults to the typical spread.

        >>> import kinelo as kn
        >>> teams = kn.theory.Continuum(theta=(4, 10), sigma=1.0)
        >>> state = kn.stationary(kn.RatingSystem(kn.Tanh(nu=0.5)), teams)
        >>> round(float(state.rating_of(10.0)), 6)
        9.285862
        """
        return probe_rating(*self._probe(theta, sigma))

    def slope_at(self, theta: ArrayLike, sigma: float | None = None) -> Array:
        """Derivative of :meth:`rating_of` with respect to θ: ``t'(θ) / Σ_j μ_j b'(R − R_j)`` without noise."""
        view, points, spread = self._probe(theta, sigma)
        outcome = self.system.outcome
        if self.variance.any():  # a central difference
            step = 1e-4 / outcome.sharpness
            return (probe_rating(view, points + step, spread) - probe_rating(view, points - step, spread)) / (2 * step)
        target = partial(target_score, outcome, self.teams, self.closure, points, spread)
        field, rating = _settle_without_noise(view, target())
        return target(derivative=1) / field.score(rating, 0.0, derivative=1)

    def _probe(self, theta: ArrayLike, sigma: float | None) -> tuple[View, Array, float]:
        if not self.system.pairing.constant:
            raise InputError(
                "The rating of one more team is defined for AllPlayAll only: where pairing depends on ratings, "
                "a team can settle in several places."
            )
        points = finite_array("theta", theta)
        if not points.size:
            raise InputError("theta must hold at least one strength.")
        spread = self.teams.typical_sigma if sigma is None else nonnegative("sigma", sigma)
        return View(self.system, self.teams, self.closure, self.rating, self.variance), points, spread


def mean_square_error(teams: Teams, rating: Array, variance: Array, covariance: Array | None) -> float:
    """Mean square of rating less strength about the means of the league, noise included; divisor N − 1.

    Every error that stands beside another one is this one.
    """
    off = rating - teams.theta
    noise = teams.mean(variance)
    if covariance is not None:
        noise -= float(covariance.mean())
    elif teams.finite:
        noise *= 1 - 1 / teams.size
    return teams.crowding * (teams.mean((off - teams.mean(off)) ** 2) + noise)


def regression_slope(theta: Array, rating: Array, mass: Array) -> float:
    """Least-squares slope of ratings on mean strengths, with masses; NaN where all strengths are equal."""
    weight = mass / mass.sum()
    centred = theta - weight @ theta
    spread = float(weight @ centred**2)
    return float(weight @ (centred * rating)) / spread if spread > 0 else float("nan")
