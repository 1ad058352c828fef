r"""Outcome functions of any form: one scalar formula is enough, everything else is derived from it.

``b(z)`` is the expected result, in [−1, 1], of a match between sides whose performances differ by ``z``. It is odd,
continuous and increasing. A subclass says what b is by :meth:`Outcome.scalar_b`, a formula in plain Python; arrays of
b, its derivatives and integral, and the sums of waves by which random performances are averaged over, then follow
numerically. A law with closed forms overrides them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kinelo.errors import InputError
from kinelo.model.curve import Curve
from kinelo.model.formula import FAR, Code, Scalar, called, described, guarded
from kinelo.model.law import Law, built_in_names
from kinelo.model.spectrum import SpectralNodes, extended_nodes, finest_length
from kinelo.model.validation import Array

ODD_TOLERANCE = 1e-12


@dataclass(frozen=True)
class _Measures:
    """Numbers that describe b as a whole."""

    supremum: float
    saturation: float
    steepest: float
    finest: float
    largest_monotone_variance: float


def _measured(curve: Curve) -> _Measures:
    supremum = curve.formula(FAR)
    far = np.geomspace(0.1 * curve.length, FAR, 1400)
    missing = supremum - curve.exactly(far)
    flat = min(far[np.argmax(missing <= 1e-16)], 2 * far[np.argmax(missing <= 1e-6 * supremum)])
    z = np.linspace(0.0, 40.0, 16_001) * curve.length
    slope, third = curve.derivative(z, 1), curve.derivative(z, 3)
    falling = third < -1e-7 * float(np.abs(third).max())
    largest = float(np.min(-2 * slope[falling] / third[falling])) if falling.any() else math.inf
    return _Measures(supremum, float(flat), float(slope.max()), finest_length(curve, curve.length, -1), largest)


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
        return _no_tie

    @property
    def code(self) -> Code | None:
        """(kind, ν, κ) of a law with a formula in ``play``, None for any other: compiled code then takes scalar_b."""
        return None if self.own_kind is None else (self.own_kind, self.nu, getattr(self, "kappa", 0.0))

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
        return _measured(self._curve)

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
        raise InputError(f"outcome must be {known} or your own kinelo.Outcome, not {outcome!r}.")


def _no_tie(z: float) -> float:
    return 0.0


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
    _refuse_jumps(formula, points, forward)
    return length


def _refuse_jumps(formula: Scalar, points: Array, values: Array) -> None:
    k = int(np.argmax(np.diff(values)))
    low, high, below, above = points[k], points[k + 1], values[k], values[k + 1]
    for _ in range(60):
        middle = (low + high) / 2
        here = formula(float(middle))
        if above - here > here - below:
            low, below = middle, here
        else:
            high, above = middle, here
    if above - below > 1e-6:
        raise InputError(f"b must be continuous, but it jumps by {above - below:.3g} at {high:g}.")


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
