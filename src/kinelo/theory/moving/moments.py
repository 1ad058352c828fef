"""Three numbers describe tracking: the variance V of strengths, the covariance C with ratings, their variance U."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moments:
    """V = Var ρ, C = Cov(ρ, r), U = Var r about the league's means.

    >>> Moments(1.0, 0.8, 0.8).error.__round__(3)
    0.2
    """

    V: float
    C: float
    U: float

    @property
    def error(self) -> float:
        """E = E(r − ρ)² = V − 2C + U."""
        return self.V - 2 * self.C + self.U

    @property
    def rating_slope(self) -> float:
        """Slope of ratings on strengths, C/V: lag and bias shrink it."""
        return self.C / self.V if self.V > 0 else float("nan")

    @property
    def forecast_slope(self) -> float:
        """Slope of strengths on ratings, C/U: 1 is calibrated, below 1 ratings are over-dispersed."""
        return self.C / self.U if self.U > 0 else float("nan")

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.V + other.V, self.C + other.C, self.U + other.U)

    def __sub__(self, other: Moments) -> Moments:
        return Moments(self.V - other.V, self.C - other.C, self.U - other.U)


@dataclass(frozen=True)
class Parts:
    """What the error E is made of.

    Attributes
    ----------
    noise
        Ratings jump with the luck of results; grows with γ.
    lag
        Ratings come behind strengths that have moved on; falls with γ.
    bias
        Ratings settle at other values than the strengths.
    """

    noise: float
    lag: float
    bias: float

    @property
    def total(self) -> float:
        """The error E."""
        return self.noise + self.lag + self.bias

    def scaled_to(self, total: float) -> Parts:
        """The same shares of another error."""
        factor = total / self.total if self.total else 1.0
        return Parts(factor * self.noise, factor * self.lag, factor * self.bias)
