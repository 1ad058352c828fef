"""A pair drawn at random plays with probability ``w(R_i − R_j)``, w even with values in [0, 1].

One scalar formula is enough: a subclass says what w is by :meth:`Pairing.scalar_w` and names the differences at which
it jumps; arrays of w and its derivative then follow. The built-in pairings have closed forms.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kinelo.errors import InputError
from kinelo.model.curve import Curve
from kinelo.model.law import FAR, Code, Law, Scalar, built_in, called, described, guarded
from kinelo.model.spectrum import finest_length
from kinelo.model.validation import Array, nonnegative, positive

EVEN = 1e-12
JUMP_ROUNDING = 25
"""A jump is rounded over this part of the distance to the next one where noise is averaged over it."""


class Pairing(Law):
    """The probability that two teams whose ratings differ by ``z`` meet when they are drawn.

    See :class:`AllPlayAll`, :class:`Local`, :class:`Window`, and derive your own from this.

    Examples
    --------
    >>> import math
    >>> class Bell(Pairing):
    ...     def scalar_w(self):
    ...         return lambda z: math.exp(-z * z / 2)
    >>> Bell().w([0.0, 1.0]).round(6), Bell().w_prime(1.0).round(6)
    (array([1.      , 0.606531]), np.float64(-0.606531))
    """

    section: ClassVar[str] = "pairing"

    @classmethod
    def from_function(cls, w: Scalar, *, jumps: Iterable[float] = ()) -> Pairing:
        """A pairing from a Python function of one number: even, with values in [0, 1].

        Parameters
        ----------
        w
            The probability of playing at a rating difference, made of arithmetic and ``math`` calls.
        jumps
            The differences above 0 at which w jumps, if any.

        Examples
        --------
        >>> steps = Pairing.from_function(lambda z: 1.0 if abs(z) < 2 else 0.25, jumps=[2.0])
        >>> steps.w([-3.0, 1.0]), steps.jumps
        (array([0.25, 1.  ]), (-2.0, 2.0))
        """
        return FunctionPairing(w, tuple(sorted({positive("jumps", abs(jump)) for jump in jumps})))

    @abstractmethod
    def scalar_w(self) -> Scalar:
        """The formula of w for one rating difference."""

    @property
    def code(self) -> Code | None:
        """(kind, c, smoothing) of a law with a formula in ``play``, None for any other: scalar_w is then compiled."""
        if self.kind is None:
            return None
        return self.kind, getattr(self, "c", 0.0), getattr(self, "smoothing", 0.0)

    @property
    def constant(self) -> bool:
        """Whether w ≡ 1, so that nothing depends on who meets whom."""
        return False

    @property
    def jumps(self) -> tuple[float, ...]:
        """Differences at which w jumps, on both sides of zero."""
        return ()

    @cached_property
    def _curve(self) -> Curve:
        formula = guarded(self.scalar_w())
        return Curve(formula, parity=1, length=_checked_length(formula), jumps=self.jumps)

    def w(self, z: ArrayLike) -> Array:
        """Probability of playing at a rating difference ``z``."""
        return self._curve(z)

    def w_prime(self, z: ArrayLike) -> Array:
        """Derivative of w (zero where w jumps)."""
        return self._curve.derivative(z, 1)

    @property
    def finest(self) -> float:
        """Length that quadratures over w must resolve, on the scale on which it is 1/ν for tanh(νz)."""
        return self._finest

    @cached_property
    def _finest(self) -> float:
        return finest_length(self.w, self._curve.length, 1)

    @property
    def box(self) -> tuple[float, float] | None:
        """``(c, far)`` where w is 1 up to a difference c and ``far`` beyond, so that means over it are cut there."""
        return None

    def softened(self) -> Pairing:
        """The pairing with its jumps rounded, so that noise can be averaged over; itself where it has none."""
        return Softened(self) if self.jumps else self


@dataclass(frozen=True, repr=False)
class FunctionPairing(Pairing):
    """What :meth:`Pairing.from_function` returns."""

    function: Scalar
    distances: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _checked_length(guarded(self.function))

    def scalar_w(self) -> Scalar:
        """The function itself."""
        return self.function

    @property
    def jumps(self) -> tuple[float, ...]:
        """The jumps that were named."""
        return (*(-z for z in reversed(self.distances)), *self.distances)

    def __repr__(self) -> str:
        jumps = f", jumps={list(self.distances)}" if self.distances else ""
        return f"Pairing.from_function({described(self.function)}{jumps})"


class Softened(Pairing):
    """A pairing whose jumps are steps of tanh of a small width."""

    def __init__(self, law: Pairing) -> None:
        self.law = law
        distances = np.array([z for z in law.jumps if z > 0])
        self.width = float(np.diff(distances, prepend=0.0).min()) / JUMP_ROUNDING
        inner, at, outer = (law.w(distances * (1 + shift)) for shift in (-1e-9, 0.0, 1e-9))
        # Either side of a jump may own it.
        first = np.where(at == outer, distances, np.nextafter(distances, np.inf))
        self._steps = list(zip(distances, first, outer - inner))

    @property
    def finest(self) -> float:
        """The width of the rounded steps."""
        return self.width

    def scalar_w(self) -> Scalar:
        """The formula of the pairing before it was rounded."""
        return self.law.scalar_w()

    def w(self, z: ArrayLike) -> Array:
        """Return w with every jump replaced by a smooth step of the same height."""
        far = np.abs(np.asarray(z, dtype=np.float64))
        total = self.law.w(far)
        for distance, first, height in self._steps:
            total = total + height * ((1 + np.tanh((far - distance) / self.width)) / 2 - (far >= first))
        return np.clip(total, 0.0, 1.0)


def _checked_length(formula: Scalar) -> float:
    """Difference at which w has changed by half of all it changes, doubled; or one sentence on why w is no pairing."""
    z = np.concatenate([np.zeros(1), np.geomspace(1e-9, FAR, 400)])
    value = np.array([called("w", formula, x) for x in z.tolist()])
    for x, w in zip(z.tolist(), value.tolist()):
        mirrored = called("w", formula, -x)
        if not -EVEN <= w <= 1 + EVEN:
            raise InputError(f"w must lie in [0, 1], but w({x:g}) = {w:g}.")
        if abs(w - mirrored) > EVEN:
            raise InputError(f"w must be even, but w({x:g}) = {w:g} and w({-x:g}) = {mirrored:g}.")
    if value.max() <= 0:
        raise InputError("w must be above 0 somewhere, or nobody ever plays.")
    change = np.abs(value - value[0])
    return 2 * float(z[np.argmax(change >= change.max() / 2)]) if change.max() > 0 else 1.0


ALL_PLAY_ALL, LOCAL, WINDOW = 0, 1, 2


@built_in("all-play-all")
@dataclass(frozen=True)
class AllPlayAll(Pairing):
    """``w ≡ 1``: every pair that is drawn plays.

    >>> AllPlayAll().w([0.0, 3.0])
    array([1., 1.])
    """

    kind: ClassVar[int | None] = ALL_PLAY_ALL

    def scalar_w(self) -> Scalar:
        """Return z → 1."""
        return lambda z: 1.0

    @property
    def constant(self) -> bool:
        """True."""
        return True

    @property
    def finest(self) -> float:
        """Infinite: there is nothing to resolve."""
        return math.inf

    def w(self, z: ArrayLike) -> Array:
        """Return 1."""
        return np.ones_like(np.asarray(z, dtype=np.float64))

    def w_prime(self, z: ArrayLike) -> Array:
        """Return 0."""
        return np.zeros_like(np.asarray(z, dtype=np.float64))


@built_in("local")
@dataclass(frozen=True)
class Local(Pairing):
    """``w(z) = e^{ln 2 / (1 + z²)} − 1``: neighbours in the table meet more often.

    >>> Local().w([0.0, 1.0]).round(4)
    array([1.    , 0.4142])
    """

    kind: ClassVar[int | None] = LOCAL

    def scalar_w(self) -> Scalar:
        """Return z → e^{ln 2 / (1 + z²)} − 1."""
        ln_2 = math.log(2)
        return lambda z: math.expm1(ln_2 / (1.0 + z * z))

    @property
    def finest(self) -> float:
        """0.4: w has singularities at ±i."""
        return 0.4

    def w(self, z: ArrayLike) -> Array:
        """Return e^{ln 2 / (1 + z²)} − 1."""
        return np.expm1(math.log(2) / (1 + np.asarray(z, dtype=np.float64) ** 2))

    def w_prime(self, z: ArrayLike) -> Array:
        """Return the derivative of w."""
        z = np.asarray(z, dtype=np.float64)
        return -(self.w(z) + 1) * math.log(2) * 2 * z / (1 + z**2) ** 2


@built_in("window")
@dataclass(frozen=True)
class Window(Pairing):
    """``w(z) = 1`` for ``|z| ≤ c`` and 0 beyond; ``smoothing`` > 0 rounds the edge over that width.

    >>> Window(c=2.0).w([1.9, 2.1])
    array([1., 0.])
    """

    kind: ClassVar[int | None] = WINDOW
    c: float
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", positive("c", self.c))
        object.__setattr__(self, "smoothing", nonnegative("smoothing", self.smoothing))

    def scalar_w(self) -> Scalar:
        """Return the window, or the difference of two tanh steps."""
        c, smoothing = self.c, self.smoothing
        if smoothing == 0:
            return lambda z: 1.0 if abs(z) <= c else 0.0
        scale = 2 * math.tanh(c / smoothing)
        return lambda z: (math.tanh((z + c) / smoothing) - math.tanh((z - c) / smoothing)) / scale

    @property
    def jumps(self) -> tuple[float, ...]:
        """The edges; quadratures are cut there even where they are smoothed."""
        return -self.c, self.c

    @property
    def finest(self) -> float:
        """The width of the edge."""
        return self.smoothing or self.c / JUMP_ROUNDING

    @property
    def box(self) -> tuple[float, float] | None:
        """The window, unless its edge is smoothed."""
        return (self.c, 0.0) if self.smoothing == 0 else None

    def softened(self) -> Window:
        """The window with its edge rounded over a 25th of its width."""
        return Window(self.c, self.finest)

    def w(self, z: ArrayLike) -> Array:
        """Return the window, or the difference of two tanh steps normalised to w(0) = 1."""
        z = np.asarray(z, dtype=np.float64)
        if self.smoothing == 0:
            return (np.abs(z) <= self.c).astype(np.float64)
        up, down = np.tanh((z + self.c) / self.smoothing), np.tanh((z - self.c) / self.smoothing)
        return (up - down) / (2 * math.tanh(self.c / self.smoothing))

    def w_prime(self, z: ArrayLike) -> Array:
        """Return the derivative of w."""
        z = np.asarray(z, dtype=np.float64)
        if self.smoothing == 0:
            return np.zeros_like(z)
        up, down = np.tanh((z + self.c) / self.smoothing), np.tanh((z - self.c) / self.smoothing)
        return (down**2 - up**2) / (2 * self.smoothing * math.tanh(self.c / self.smoothing))


@built_in("loose-window")
@dataclass(frozen=True)
class LooseWindow(Pairing):
    """``w(z) = 1`` for ``|z| ≤ c`` and ``far`` beyond: near teams always play, others now and then.

    >>> LooseWindow(c=2.0, far=0.1).w([1.9, 2.1])
    array([1. , 0.1])
    """

    c: float
    far: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", positive("c", self.c))
        object.__setattr__(self, "far", nonnegative("far", self.far))
        if self.far > 1:
            raise InputError(f"far is a probability of at most 1, not {self.far:g}.")

    def scalar_w(self) -> Scalar:
        """Return z → 1 near, far beyond."""
        c, far = self.c, self.far
        return lambda z: 1.0 if abs(z) <= c else far

    @property
    def jumps(self) -> tuple[float, ...]:
        """The edges."""
        return -self.c, self.c

    @property
    def box(self) -> tuple[float, float] | None:
        """The window, and what is left beyond it."""
        return self.c, self.far

    @property
    def finest(self) -> float:
        """The width of the edge once it is rounded."""
        return self.c / JUMP_ROUNDING

    def w(self, z: ArrayLike) -> Array:
        """Return 1 near, far beyond."""
        return np.where(np.abs(np.asarray(z, dtype=np.float64)) <= self.c, 1.0, self.far)

    def w_prime(self, z: ArrayLike) -> Array:
        """Return 0."""
        return np.zeros_like(np.asarray(z, dtype=np.float64))
