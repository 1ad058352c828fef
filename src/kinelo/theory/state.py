"""What a stationary state is: ratings, their noise, and the map from strength to rating that they make up."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinelo.errors import InputError
from kinelo.model.expectation import Closure
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array, nonnegative
from kinelo.presentation import html_facts, html_list
from kinelo.theory.caveats import Caveat, caveats_of
from kinelo.theory.closure import NoiseKind, settled_steps
from kinelo.theory.probe import View, probe_rating, probe_slope
from kinelo.theory.teams import Teams
from kinelo.theory.two_teams import GapLaw

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
    teams: Teams = field(repr=False)
    closure: Closure
    noise: Noise
    rating: Array
    variance: Array
    residual: float
    iterations: int
    stable: bool = True
    growth: float | None = None
    covariance: Array | None = field(default=None, repr=False)
    kind: NoiseKind | None = None
    gap: GapLaw | None = field(default=None, repr=False)
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
        >>> teams = kn.Continuum(theta=(4, 10), sigma=1.0)
        >>> state = kn.stationary(kn.RatingSystem(kn.Tanh(nu=0.5)), teams)
        >>> round(float(state.rating_of(10.0)), 6)
        9.285862
        """
        return probe_rating(*self._probe(theta, sigma))

    def slope_at(self, theta: ArrayLike, sigma: float | None = None) -> Array:
        """Derivative of :meth:`rating_of` with respect to θ."""
        return probe_slope(*self._probe(theta, sigma))

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
