r"""The outcome function b and what follows from it.

``b(z)`` is the expected result, in [−1, 1], of a match between sides whose performances differ by ``z``. It is odd,
increasing and bounded. Each outcome also knows its sine transform

.. math:: b(z) = \int_0^\infty W(u) \sin(uz)\, du ,

so that the expected result of random performances with characteristic functions φ is
``∫ W(u) Im[φ_X(u) φ̄_Y(u)] du``: an integral that separates into one factor per team.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from kinelo.model.formula import Code, Scalar
from kinelo.model.validation import Array, nonnegative, positive

LOGISTIC, PROBIT = 0, 1


@dataclass(frozen=True)
class Outcome(ABC):
    """An outcome function with scale ``nu``; see :class:`Tanh`, :class:`Probit`, :class:`Davidson`."""

    nu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "nu", positive("nu", self.nu))

    @abstractmethod
    def scalar_b(self) -> Scalar:
        """The formula of b for one difference."""

    def scalar_tie(self) -> Scalar:
        """The formula of the probability of a tie at one difference."""
        return _no_tie

    @property
    def code(self) -> Code | None:
        """(kind, ν, κ) of a built-in law, None for any other: compiled code then takes the formulas."""
        return None

    @abstractmethod
    def b(self, z: ArrayLike) -> Array:
        """Expected result at a difference ``z``."""

    @abstractmethod
    def b_prime(self, z: ArrayLike) -> Array:
        """First derivative of b."""

    @abstractmethod
    def b_second(self, z: ArrayLike) -> Array:
        """Second derivative of b."""

    @abstractmethod
    def b_third(self, z: ArrayLike) -> Array:
        """Third derivative of b."""

    @abstractmethod
    def antiderivative(self, z: ArrayLike) -> Array:
        """``∫₀^z b``: even and convex."""

    @abstractmethod
    def sine_weight(self, u: Array) -> Array:
        """``W(u)`` of ``b(z) = ∫ W(u) sin(uz) du``, for u > 0."""

    @property
    @abstractmethod
    def saturation(self) -> float:
        """Difference beyond which 1 − b(z) is below 1e-16."""

    @property
    @abstractmethod
    def cutoff(self) -> float:
        """Frequency beyond which W no longer matters in double precision."""

    @property
    @abstractmethod
    def steepest(self) -> float:
        """``sup b'``, the Lipschitz constant of b."""

    @property
    @abstractmethod
    def largest_monotone_variance(self) -> float:
        """Supremum of the V for which the Taylor closure ``b + ½ V b''`` is increasing."""

    def tie_probability(self, z: ArrayLike) -> Array:
        """Probability of a tie at a difference ``z`` (zero unless the outcome has ties)."""
        return np.zeros_like(np.asarray(z, dtype=np.float64))

    def tie_weight(self, u: Array) -> Array:
        """Weight of the cosine transform of :meth:`tie_probability`."""
        return np.zeros_like(u)

    def win_probability(self, z: ArrayLike) -> Array:
        """Probability that the side ahead by ``z`` wins."""
        return (1.0 - self.tie_probability(z) + self.b(z)) / 2

    @property
    def has_ties(self) -> bool:
        """Whether a match can end in a tie."""
        return False


def _no_tie(z: float) -> float:
    return 0.0


@dataclass(frozen=True)
class Tanh(Outcome):
    """``b(z) = tanh(νz)``: Elo's logistic law.

    >>> round(float(Tanh(nu=0.5).b(1.0)), 6)
    0.462117
    >>> round(float(Tanh.elo().win_probability(400)), 6)  # ten to one
    0.909091
    """

    @classmethod
    def elo(cls) -> Tanh:
        """Return the chess scale: ν = ln 10 / 800, so 400 points are odds of ten to one, and K = 2γ."""
        return cls(nu=math.log(10) / 800)

    def scalar_b(self) -> Scalar:
        """Return z → tanh(νz)."""
        nu = self.nu
        return lambda z: math.tanh(nu * z)

    @property
    def code(self) -> Code | None:
        """The logistic law without ties."""
        return (LOGISTIC, self.nu, 0.0) if type(self) is Tanh else None

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


@dataclass(frozen=True)
class Probit(Outcome):
    """``b(z) = erf(νz)``: Thurstone's normal law.

    >>> round(float(Probit(nu=0.5).b(1.0)), 6)
    0.5205
    """

    def scalar_b(self) -> Scalar:
        """Return z → erf(νz)."""
        nu = self.nu
        return lambda z: math.erf(nu * z)

    @property
    def code(self) -> Code | None:
        """The normal law."""
        return (PROBIT, self.nu, 0.0) if type(self) is Probit else None

    def b(self, z: ArrayLike) -> Array:
        """Return erf(νz)."""
        return np.asarray(erf(self.nu * np.asarray(z, dtype=np.float64)))

    def b_prime(self, z: ArrayLike) -> Array:
        """Return 2ν/√π e^{−ν²z²}."""
        a = self.nu * np.asarray(z, dtype=np.float64)
        return 2 * self.nu / math.sqrt(math.pi) * np.exp(-(a**2))

    def b_second(self, z: ArrayLike) -> Array:
        """Return −2ν²z b'(z)."""
        return -2 * self.nu**2 * np.asarray(z, dtype=np.float64) * self.b_prime(z)

    def b_third(self, z: ArrayLike) -> Array:
        """Return (4ν⁴z² − 2ν²) b'(z)."""
        a2 = (self.nu * np.asarray(z, dtype=np.float64)) ** 2
        return self.nu**2 * (4 * a2 - 2) * self.b_prime(z)

    def antiderivative(self, z: ArrayLike) -> Array:
        """Return z erf(νz) + (e^{−ν²z²} − 1)/(ν√π)."""
        z = np.asarray(z, dtype=np.float64)
        return z * self.b(z) + np.expm1(-((self.nu * z) ** 2)) / (self.nu * math.sqrt(math.pi))

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


@dataclass(frozen=True)
class Davidson(Outcome):
    """Ties after Davidson: win : tie : loss = e^{νz} : κ : e^{−νz}.

    ``b(z) = sinh νz / (cosh νz + κ/2)``. κ = 0 is :class:`Tanh`; κ = 2 is tanh(νz/2) with every second match of
    equals a tie.

    >>> league_of_ties = Davidson(nu=0.5, kappa=2.0)
    >>> float(league_of_ties.tie_probability(0.0))
    0.5
    """

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

    @property
    def code(self) -> Code | None:
        """The logistic law with ties."""
        return (LOGISTIC, self.nu, self.kappa) if type(self) is Davidson else None

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
