"""The built-in pairings: a pair drawn at random plays with probability ``w(R_i − R_j)``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kinelo.errors import InputError
from kinelo.model.formula import Scalar
from kinelo.model.law import built_in
from kinelo.model.open_pairing import JUMP_ROUNDING
from kinelo.model.open_pairing import Pairing as Pairing
from kinelo.model.validation import Array, nonnegative, positive

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
