r"""The built-in outcome functions, in closed form.

Each knows its sine transform

.. math:: b(z) = \int_0^\infty W(u) \sin(uz)\, du ,

so that the expected result of random performances with characteristic functions φ is
``∫ W(u) Im[φ_X(u) φ̄_Y(u)] du``: an integral that separates into one factor per team.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinelo.model.formula import Scalar
from kinelo.model.law import built_in
from kinelo.model.open_outcome import Outcome as Outcome
from kinelo.model.spectrum import SpectralNodes, midpoint_nodes
from kinelo.model.validation import Array, nonnegative, positive

LOGISTIC, PROBIT = 0, 1
CHESS_NU = math.log(10) / 800
"""ν of the chess scale, per point: half the slope of 1/(1 + 10^(−z/400)), so that 400 points are ten to one."""


@dataclass(frozen=True)
class ClosedOutcome(Outcome):
    """An outcome function with scale ``nu`` and a known transform."""

    nu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "nu", positive("nu", self.nu))

    @abstractmethod
    def sine_weight(self, u: Array) -> Array:
        """``W(u)`` of ``b(z) = ∫ W(u) sin(uz) du``, for u > 0."""

    def tie_weight(self, u: Array) -> Array:
        """Weight of the cosine transform of :meth:`tie_probability`."""
        return np.zeros_like(u)

    @property
    @abstractmethod
    def cutoff(self) -> float:
        """Frequency beyond which W no longer matters in double precision."""

    def spectrum(self, span: float, least_sigma: float = 0.0) -> SpectralNodes:
        """Waves by the transform, exact as long as no difference comes within ``saturation`` of the next flank."""
        u, step = midpoint_nodes(span, self.saturation, self.cutoff, least_sigma)
        return SpectralNodes(
            u, self.sine_weight(u) * step, self.tie_weight(u) * step, lambda u: self.square_weight(u) * 2 * u[0]
        )

    def square_weight(self, u: Array) -> Array:
        """``V(u)`` of ``1 − b(z)² = ∫ V(u) cos(uz) du``, by the trapezoidal rule, which is exact here to rounding."""
        z = np.arange(0.0, self.saturation, 0.05 / self.nu)
        values = 1 - self.b(z) ** 2
        values[0] /= 2
        return 2 / math.pi * (np.cos(np.multiply.outer(u, z)) @ values) * z[1]

    @property
    def supremum(self) -> float:
        """1."""
        return 1.0

    @property
    def sharpness(self) -> float:
        """ν."""
        return self.nu

    @property
    def finest(self) -> float:
        """1/ν."""
        return 1 / self.nu


@built_in("tanh", nu=float | Literal["elo"])
@dataclass(frozen=True)
class Tanh(ClosedOutcome):
    """``b(z) = tanh(νz)``: Elo's logistic law. A study file may say ``nu = "elo"`` for the chess scale.

    >>> round(float(Tanh(nu=0.5).b(1.0)), 6)
    0.462117
    >>> round(float(Tanh.elo().win_probability(400)), 6)  # ten to one
    0.909091
    """

    kind: ClassVar[int | None] = LOGISTIC

    @classmethod
    def from_keys(cls, nu: float | Literal["elo"]) -> Tanh:
        """Return the law that a study file describes."""
        return cls.elo() if isinstance(nu, str) else cls(nu)

    @classmethod
    def elo(cls) -> Tanh:
        """Return the chess scale: ν = ln 10 / 800, so 400 points are odds of ten to one, and K = 2γ."""
        return cls(nu=CHESS_NU)

    def scalar_b(self) -> Scalar:
        """Return z → tanh(νz)."""
        nu = self.nu
        return lambda z: math.tanh(nu * z)

    def b(self, z: ArrayLike) -> Array:
        """Return tanh(νz)."""
        return np.tanh(self.nu * np.asarray(z, dtype=np.float64))

    def _sech2(self, z: ArrayLike) -> Array:
        t = np.exp(-2 * np.abs(self.nu * np.asarray(z, dtype=np.float64)))
        return 4 * t / (1 + t) ** 2

    def b_prime(self, z: ArrayLike) -> Array:
        """Return ν sech²(νz)."""
        return self.nu * self._sech2(z)

    def b_second(self, z: ArrayLike) -> Array:
        """Return −2ν² tanh(νz) sech²(νz)."""
        return -2 * self.nu**2 * self.b(z) * self._sech2(z)

    def b_third(self, z: ArrayLike) -> Array:
        """Return ν³ sech²(νz) (4 − 6 sech²(νz))."""
        s = self._sech2(z)
        return self.nu**3 * s * (4 - 6 * s)

    def antiderivative(self, z: ArrayLike) -> Array:
        """Return ln cosh(νz) / ν."""
        a = np.abs(self.nu * np.asarray(z, dtype=np.float64))
        return (a + np.log1p(np.exp(-2 * a)) - math.log(2)) / self.nu

    def sine_weight(self, u: Array) -> Array:
        """Return 1 / (ν sinh(πu/2ν))."""
        t = np.exp(-math.pi * u / (2 * self.nu))
        return 2 * t / (-np.expm1(-math.pi * u / self.nu)) / self.nu

    @property
    def saturation(self) -> float:
        """Difference beyond which 1 − b is below 1e-16."""
        return 19 / self.nu

    @property
    def cutoff(self) -> float:
        """Frequency beyond which W no longer matters."""
        return 27 * self.nu

    @property
    def steepest(self) -> float:
        """ν, reached at z = 0."""
        return self.nu

    @property
    def largest_monotone_variance(self) -> float:
        """1/ν²: condition (B') of the paper reads V < 1/ν²."""
        return self.nu**-2


@built_in("probit")
@dataclass(frozen=True)
class Probit(ClosedOutcome):
    """``b(z) = erf(νz)``: Thurstone's normal law.

    >>> round(float(Probit(nu=0.5).b(1.0)), 6)
    0.5205
    """

    kind: ClassVar[int | None] = PROBIT

    @classmethod
    def fide(cls) -> Probit:
        """Return the law of FIDE's table, normal with standard deviation 2000/7: ν = 7/(2000√2), and K = 2γ.

        It gives 730 of the 736 entries of the table as they are printed.

        >>> round(float(Probit.fide().b(100)), 2)
        0.27
        """
        return cls(nu=7 / (2000 * math.sqrt(2)))

    def scalar_b(self) -> Scalar:
        """Return z → erf(νz)."""
        nu = self.nu
        return lambda z: math.erf(nu * z)

    def b(self, z: ArrayLike) -> Array:
        """Return erf(νz)."""
        from scipy.special import erf

        return np.asarray(erf(self.nu * np.asarray(z, dtype=np.float64)))

    def _square(self, z: ArrayLike) -> Array:
        """ν²z², at most 40²: e^{−ν²z²} is 0 there already."""
        return np.minimum(np.abs(self.nu * np.asarray(z, dtype=np.float64)), 40.0) ** 2

    def b_prime(self, z: ArrayLike) -> Array:
        """Return 2ν/√π e^{−ν²z²}."""
        return 2 * self.nu / math.sqrt(math.pi) * np.exp(-self._square(z))

    def b_second(self, z: ArrayLike) -> Array:
        """Return −2ν²z b'(z)."""
        return -2 * self.nu**2 * np.asarray(z, dtype=np.float64) * self.b_prime(z)

    def b_third(self, z: ArrayLike) -> Array:
        """Return (4ν⁴z² − 2ν²) b'(z)."""
        return self.nu**2 * (4 * self._square(z) - 2) * self.b_prime(z)

    def antiderivative(self, z: ArrayLike) -> Array:
        """Return z erf(νz) + (e^{−ν²z²} − 1)/(ν√π)."""
        z = np.asarray(z, dtype=np.float64)
        return z * self.b(z) + np.expm1(-self._square(z)) / (self.nu * math.sqrt(math.pi))

    def sine_weight(self, u: Array) -> Array:
        """Return 2 e^{−u²/4ν²} / (πu)."""
        return 2 * np.exp(-(u**2) / (4 * self.nu**2)) / (math.pi * u)

    @property
    def saturation(self) -> float:
        """Difference beyond which 1 − b is below 1e-16."""
        return 6 / self.nu

    @property
    def cutoff(self) -> float:
        """Frequency beyond which W no longer matters."""
        return 13 * self.nu

    @property
    def steepest(self) -> float:
        """2ν/√π, reached at z = 0."""
        return 2 * self.nu / math.sqrt(math.pi)

    @property
    def largest_monotone_variance(self) -> float:
        """1/ν², as for tanh."""
        return self.nu**-2


@built_in("davidson")
@dataclass(frozen=True)
class Davidson(ClosedOutcome):
    """Ties after Davidson: win : tie : loss = e^{νz} : κ : e^{−νz}.

    ``b(z) = sinh νz / (cosh νz + κ/2)``. κ = 0 is :class:`Tanh`; κ = 2 is tanh(νz/2) with every second match of
    equals a tie.

    >>> league_of_ties = Davidson(nu=0.5, kappa=2.0)
    >>> float(league_of_ties.tie_probability(0.0))
    0.5
    """

    kind: ClassVar[int | None] = LOGISTIC
    kappa: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "kappa", nonnegative("kappa", self.kappa))

    def scalar_b(self) -> Scalar:
        """Return z → 2 sinh νz / (2 cosh νz + κ), finite for any z."""
        nu, kappa = self.nu, self.kappa

        def b(z: float) -> float:
            t = math.exp(-nu * abs(z))
            return math.copysign((1.0 - t * t) / (1.0 + t * t + kappa * t), z)

        return b

    def scalar_tie(self) -> Scalar:
        """Return z → κ / (2 cosh νz + κ)."""
        nu, kappa = self.nu, self.kappa

        def tie(z: float) -> float:
            t = math.exp(-nu * abs(z))
            return kappa * t / (1.0 + t * t + kappa * t)

        return tie

    def _parts(self, z: ArrayLike) -> tuple[Array, Array, Array, Array]:
        # t = e^{−ν|z|} keeps every quotient finite however far apart the sides are.
        a = self.nu * np.asarray(z, dtype=np.float64)
        t = np.exp(-np.abs(a))
        return np.sign(a), t, 1 + t * t, 1 + t * t + self.kappa * t

    def b(self, z: ArrayLike) -> Array:
        """Return 2 sinh νz / (2 cosh νz + κ)."""
        sign, t, _, q = self._parts(z)
        return sign * (1 - t * t) / q

    def b_prime(self, z: ArrayLike) -> Array:
        """Return the first derivative of b."""
        _, t, cosh, q = self._parts(z)
        return self.nu * t * (4 * t + self.kappa * cosh) / q**2

    def b_second(self, z: ArrayLike) -> Array:
        """Return the second derivative of b."""
        sign, t, cosh, q = self._parts(z)
        c = self.kappa / 2
        return self.nu**2 * sign * 2 * t * (1 - t * t) * (2 * t * (c * c - 2) - c * cosh) / q**3

    def b_third(self, z: ArrayLike) -> Array:
        """Return the third derivative of b."""
        _, t, cosh, q = self._parts(z)
        c, sinh2 = self.kappa / 2, (1 - t * t) ** 2
        m = 2 * t * (c * c - 2) - c * cosh
        return self.nu**3 * 2 * t * ((cosh * m - c * sinh2) / q**3 - 3 * sinh2 * m / q**4)

    def antiderivative(self, z: ArrayLike) -> Array:
        """Return ln[(cosh νz + κ/2)/(1 + κ/2)] / ν."""
        a = np.abs(self.nu * np.asarray(z, dtype=np.float64))
        _, _, _, q = self._parts(z)
        return (a + np.log(q) - math.log(2 + self.kappa)) / self.nu

    def tie_probability(self, z: ArrayLike) -> Array:
        """Return κ / (2 cosh νz + κ)."""
        _, t, _, q = self._parts(z)
        return self.kappa * t / q

    def sine_weight(self, u: Array) -> Array:
        """Return (2/ν) cosh(αu/ν) / sinh(πu/ν) with cos α = κ/2 (α imaginary when κ > 2)."""
        w, c = u / self.nu, self.kappa / 2
        scale = 2 / self.nu / (-np.expm1(-2 * math.pi * w))
        if c <= 1:
            alpha = math.acos(c)
            return scale * (np.exp(-(math.pi - alpha) * w) + np.exp(-(math.pi + alpha) * w))
        return scale * 2 * np.exp(-math.pi * w) * np.cos(math.acosh(c) * w)

    def tie_weight(self, u: Array) -> Array:
        """Weight of the cosine transform of :meth:`tie_probability`."""
        w, c = u / self.nu, self.kappa / 2
        scale = 2 / self.nu / (-np.expm1(-2 * math.pi * w))
        if math.isclose(c, 1.0, abs_tol=1e-7):
            return scale * 2 * w * np.exp(-math.pi * w)
        if c < 1:
            alpha = math.acos(c)
            return scale / math.tan(alpha) * (np.exp(-(math.pi - alpha) * w) - np.exp(-(math.pi + alpha) * w))
        beta = math.acosh(c)
        return scale / math.tanh(beta) * 2 * np.exp(-math.pi * w) * np.sin(beta * w)

    @property
    def saturation(self) -> float:
        """Difference beyond which 1 − b is below 1e-16."""
        return (38 + math.log1p(self.kappa)) / self.nu

    @property
    def cutoff(self) -> float:
        """Frequency beyond which W no longer matters."""
        return 27 * self.nu

    @property
    def steepest(self) -> float:
        """``sup b'``: at z = 0 for κ ≤ 4, to both sides of it for more ties."""
        c = self.kappa / 2
        return self.nu * (1 / (1 + c) if c <= 2 else c * c / (4 * (c * c - 1)))

    @property
    def largest_monotone_variance(self) -> float:
        """Supremum of the V for which ``b + ½ V b''`` is increasing, by a fine scan of −2b'/b'''."""
        z = np.linspace(0, 40 / self.nu, 40_001)
        slope, third = self.b_prime(z), self.b_third(z)
        falling = third < 0
        return float(np.min(-2 * slope[falling] / third[falling])) if falling.any() else math.inf

    @property
    def has_ties(self) -> bool:
        """Whether a match can end in a tie."""
        return self.kappa > 0
