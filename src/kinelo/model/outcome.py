r"""Outcome functions: ``b(z)`` is the expected result, in [−1, 1], of sides whose performances differ by ``z``.

It is odd, continuous and increasing. One scalar formula is enough: a subclass says what b is by
:meth:`Outcome.scalar_b`, in plain Python; arrays of b, its derivatives and integral, and the sums of waves by which
random performances are averaged over, then follow numerically. A law with closed forms overrides them.

The built-in laws have closed forms. Each knows its sine transform

.. math:: b(z) = \int_0^\infty W(u) \sin(uz)\, du ,

so that the expected result of random performances with characteristic functions φ is
``∫ W(u) Im[φ_X(u) φ̄_Y(u)] du``: an integral that separates into one factor per team.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinelo.errors import InputError
from kinelo.model.curve import Curve
from kinelo.model.law import FAR, Code, Law, Scalar, built_in, built_in_names, called, described, guarded
from kinelo.model.spectrum import MOST_SPECTRAL_NODES, NORMAL_REACH, SpectralNodes, extended_nodes, finest_length
from kinelo.model.validation import Array, nonnegative, positive

ODD_TOLERANCE = 1e-12


@dataclass(frozen=True)
class _Measures:
    """Numbers that describe b as a whole."""

    supremum: float
    saturation: float
    steepest: float
    finest: float
    largest_monotone_variance: float


class Outcome(Law):
    """An outcome function; see :class:`Tanh`, :class:`Probit`, :class:`Davidson`, and derive your own from this.

    Examples
    --------
    >>> class Algebraic(Outcome):
    ...     def scalar_b(self):
    ...         return lambda z: z / math.sqrt(1 + z * z)
    >>> law = Algebraic()
    >>> law.b([0.0, 1.0]).round(6), law.b_prime(0.0).round(9), round(law.steepest, 9)
    (array([0.      , 0.707107]), np.float64(1.0), 1.0)
    """

    section: ClassVar[str] = "outcome"
    nu: float
    """The law's own parameter ν where it has one, else its largest slope."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> float:
            if name == "nu":
                return self.steepest
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @classmethod
    def from_function(cls, b: Scalar, *, ties: Scalar | None = None) -> Outcome:
        """An outcome from a Python function of one number: odd, continuous, increasing, at most 1.

        Parameters
        ----------
        b
            The expected result at a difference of performances, made of arithmetic and ``math`` calls.
        ties
            The probability of a tie at that difference: even, and never above 1 − |b|.

        Examples
        --------
        >>> gudermann = Outcome.from_function(lambda z: 2 / math.pi * math.atan(math.sinh(z)))
        >>> gudermann.b(1.0).round(6)
        np.float64(0.551166)
        """
        return FunctionOutcome(b, ties)

    @abstractmethod
    def scalar_b(self) -> Scalar:
        """The formula of b for one difference."""

    def scalar_tie(self) -> Scalar:
        """The formula of the probability of a tie at one difference."""
        return lambda z: 0.0

    @property
    def code(self) -> Code | None:
        """(kind, ν, κ) of a law with a formula in ``play``, None for any other: compiled code then takes scalar_b."""
        return None if self.kind is None else (self.kind, self.nu, getattr(self, "kappa", 0.0))

    @cached_property
    def _curve(self) -> Curve:
        formula = guarded(self.scalar_b())
        return Curve(formula, parity=-1, length=_checked_length(formula))

    @cached_property
    def _tie_curve(self) -> Curve:
        formula = guarded(self.scalar_tie())
        _check_ties(formula, self._curve)
        return Curve(formula, parity=1, length=self._curve.length)

    def b(self, z: ArrayLike) -> Array:
        """Expected result at a difference ``z``."""
        return self._curve(z)

    def b_prime(self, z: ArrayLike) -> Array:
        """First derivative of b."""
        return self._curve.derivative(z, 1)

    def b_second(self, z: ArrayLike) -> Array:
        """Second derivative of b."""
        return self._curve.derivative(z, 2)

    def b_third(self, z: ArrayLike) -> Array:
        """Third derivative of b."""
        return self._curve.derivative(z, 3)

    def antiderivative(self, z: ArrayLike) -> Array:
        """``∫₀^z b``: even and convex."""
        return self._curve.integral(z)

    def spectrum(self, span: float, least_sigma: float = 0.0) -> SpectralNodes:
        """Waves whose sum is b on differences up to ``span``.

        ``least_sigma`` > 0 states that every performance has a normal part of at least that spread, which damps high
        frequencies and saves nodes.
        """
        tie = self.tie_probability if self.has_ties else None
        return extended_nodes(self.b, tie, self._curve.length, span, least_sigma)

    @property
    def supremum(self) -> float:
        """Limit of b for large differences."""
        return self._measures.supremum

    @property
    def saturation(self) -> float:
        """Difference beyond which b is flat: 1e-16 below its supremum, or twice where it is 1e-6 below it if less."""
        return self._measures.saturation

    def missing(self, z: ArrayLike) -> Array:
        """``sup b − b(z)``: how uncertain a win still is at a difference ``z``."""
        return self.supremum - self.b(z)

    @property
    def steepest(self) -> float:
        """``sup b'``, the Lipschitz constant of b."""
        return self._measures.steepest

    @property
    def sharpness(self) -> float:
        """One over the length on which b turns: ν for the built-in laws, the largest slope for others."""
        return self.steepest

    @property
    def finest(self) -> float:
        """Length that quadratures over b must resolve; 1/ν for tanh."""
        return self._measures.finest

    @property
    def largest_monotone_variance(self) -> float:
        """Supremum of the V for which the Taylor closure ``b + ½ V b''`` is increasing."""
        return self._measures.largest_monotone_variance

    @cached_property
    def _measures(self) -> _Measures:
        curve = self._curve
        supremum = curve.formula(FAR)
        far = np.geomspace(0.1 * curve.length, FAR, 1400)
        missing = supremum - curve.exactly(far)
        flat = min(far[np.argmax(missing <= 1e-16)], 2 * far[np.argmax(missing <= 1e-6 * supremum)])
        z = np.linspace(0.0, 40.0, 16_001) * curve.length
        slope, third = curve.derivative(z, 1), curve.derivative(z, 3)
        falling = third < -1e-7 * float(np.abs(third).max())
        largest = float(np.min(-2 * slope[falling] / third[falling])) if falling.any() else math.inf
        return _Measures(supremum, float(flat), float(slope.max()), finest_length(curve, curve.length, -1), largest)

    def tie_probability(self, z: ArrayLike) -> Array:
        """Probability of a tie at a difference ``z`` (zero unless the outcome has ties)."""
        return self._tie_curve(z) if self.has_ties else np.zeros_like(np.asarray(z, dtype=np.float64))

    def win_probability(self, z: ArrayLike) -> Array:
        """Probability that the side ahead by ``z`` wins."""
        return (1.0 - self.tie_probability(z) + self.b(z)) / 2

    @property
    def has_ties(self) -> bool:
        """Whether a match can end in a tie."""
        return type(self).scalar_tie is not Outcome.scalar_tie


@dataclass(frozen=True, repr=False)
class FunctionOutcome(Outcome):
    """What :meth:`Outcome.from_function` returns."""

    function: Scalar
    ties: Scalar | None = None

    def __post_init__(self) -> None:
        # What is not admissible is refused here.
        curve = self._curve
        if self.ties is not None:
            _check_ties(self.ties, curve)

    def scalar_b(self) -> Scalar:
        """The function itself."""
        return self.function

    def scalar_tie(self) -> Scalar:
        """The function given for ties."""
        return super().scalar_tie() if self.ties is None else self.ties

    @property
    def has_ties(self) -> bool:
        """Whether a function for ties was given."""
        return self.ties is not None

    def __repr__(self) -> str:
        ties = "" if self.ties is None else f", ties={described(self.ties)}"
        return f"Outcome.from_function({described(self.function)}{ties})"


def check_outcome(outcome: object) -> None:
    """Refuse what is no outcome function."""
    if not isinstance(outcome, Outcome):
        known = built_in_names(Outcome, ", ")
        raise InputError(f"outcome must be {known} or your own kinelo.model.Outcome, not {outcome!r}.")


def _checked_length(formula: Scalar) -> float:
    """Difference at which b is half its supremum, doubled; or one sentence on why b is no outcome function."""
    z = np.geomspace(1e-9, FAR, 400)
    value = np.array([called("b", formula, x) for x in z.tolist()])
    if (bad := np.flatnonzero(value > 1 + 1e-12)).size:
        raise InputError(f"b must be at most 1, but b({z[bad[0]]:g}) = {value[bad[0]]:g}.")
    if value[-1] <= 0:
        raise InputError(f"b must be odd and increasing, but b({z[-1]:g}) = {value[-1]:g}.")
    half = int(np.argmax(value >= value[-1] / 2))
    if half == 0 or half == z.size - 1:
        raise InputError(
            "b must rise from 0 to its supremum between differences of 1e-9 and 1e12; "
            f"b({z[0]:g}) = {value[0]:g} and b({z[-1]:g}) = {value[-1]:g}."
        )
    length = 2 * float(z[half])
    points = np.concatenate([z, length * np.linspace(0, 20, 401)])
    points.sort()
    forward = np.array([called("b", formula, x) for x in points.tolist()])
    backward = np.array([called("b", formula, -x) for x in points.tolist()])
    if (bad := np.flatnonzero(np.abs(forward + backward) > ODD_TOLERANCE)).size:
        x = points[bad[0]]
        raise InputError(f"b must be odd, but b({x:g}) = {forward[bad[0]]:g} and b({-x:g}) = {backward[bad[0]]:g}.")
    if (bad := np.flatnonzero(np.diff(forward) < -ODD_TOLERANCE)).size:
        x, y = points[bad[0]], points[bad[0] + 1]
        first, then = forward[bad[0]], forward[bad[0] + 1]
        raise InputError(f"b must be increasing, but b({x:g}) = {first:g} and b({y:g}) = {then:g}.")
    # The largest rise, halved again and again, vanishes unless it is a jump.
    k = int(np.argmax(np.diff(forward)))
    low, high, below, above = points[k], points[k + 1], forward[k], forward[k + 1]
    for _ in range(60):
        middle = (low + high) / 2
        value = formula(float(middle))
        if above - value > value - below:
            low, below = middle, value
        else:
            high, above = middle, value
    if above - below > 1e-6:
        raise InputError(f"b must be continuous, but it jumps by {above - below:.3g} at {high:g}.")
    return length


def _check_ties(formula: Scalar, curve: Curve) -> None:
    for x in (curve.length * np.concatenate([np.linspace(0, 20, 201), np.geomspace(30, 1e6, 30)])).tolist():
        tie, mirrored = called("ties", formula, x), called("ties", formula, -x)
        if abs(tie - mirrored) > ODD_TOLERANCE:
            raise InputError(f"ties must be even, but ties({x:g}) = {tie:g} and ties({-x:g}) = {mirrored:g}.")
        if not -ODD_TOLERANCE <= tie <= 1 - abs(curve.formula(x)) + ODD_TOLERANCE:
            raise InputError(
                f"ties must lie between 0 and 1 − |b|, so that a win is no less likely than never, but ties({x:g}) = "
                f"{tie:g} and b({x:g}) = {curve.formula(x):g}."
            )


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
        step = 2 * math.pi / (span + self.saturation)
        end = min(self.cutoff, NORMAL_REACH / least_sigma) if least_sigma > 0 else self.cutoff
        if end / step > MOST_SPECTRAL_NODES:
            raise InputError(
                f"Strengths {span:.3g} apart cannot be resolved by outcomes that settle within {self.saturation:.3g}: "
                f"they may be at most {2 * math.pi * MOST_SPECTRAL_NODES / end:.3g} apart; use a smaller nu, or "
                "rescale the strengths."
            )
        u = (np.arange(max(8, math.ceil(end / step)), dtype=np.float64) + 0.5) * step
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
