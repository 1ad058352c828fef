"""The shape X of a law θ + σX: any SciPy distribution with a variance, moved to mean 0 and scaled to variance 1.

Quantiles of a distribution that knows only its density are found here too: the density is integrated over parts that
lengthen with the distance from the mean, from both ends inwards, so that tails keep their relative accuracy, and
Newton's method finds a quantile in its part.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.errors import InputError
from kinelo.model.digest import law_digest
from kinelo.model.quantile import LawNodes, furthest, law_nodes
from kinelo.model.validation import Array

SHAPE_REACH = 12.5
SHAPE_PARTS = 800
SHAPE_NEWTON_STEPS = 8


class Inversion:
    """Quantiles at normal deviates, from a density with a given mean and standard deviation.

    >>> normal = Inversion(lambda x: np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), 0.0, 1.0)
    >>> normal(np.array([-3.0, 0.5])).round(10)
    array([-3. ,  0.5])
    """

    def __init__(self, density: Callable[[Array], Array], mean: float, deviation: float) -> None:
        self._density = density
        self._nodes, self._weights = np.polynomial.legendre.leggauss(10)
        self._edges = mean + deviation * np.sinh(np.linspace(-SHAPE_REACH, SHAPE_REACH, SHAPE_PARTS + 1))
        masses = self._mass(self._edges[:-1], self._edges[1:])
        self.total: float = float(masses.sum())
        self._below = np.concatenate([[0.0], np.cumsum(masses)])
        self._above = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])

    def _mass(self, low: Array, high: Array) -> Array:
        middle, half = (low + high) / 2, (high - low) / 2
        return (self._density(middle[..., None] + half[..., None] * self._nodes) @ self._weights) * half

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        middle, half = (self._edges[1:] + self._edges[:-1]) / 2, np.diff(self._edges) / 2
        x = middle[:, None] + half[:, None] * self._nodes
        mass = self._density(x) * self._weights * half[:, None]
        mean = float((mass * x).sum())
        return mean, float(np.sqrt((mass * (x - mean) ** 2).sum()))

    def __call__(self, t: Array) -> Array:
        """The values that are exceeded as rarely as a standard normal exceeds t."""
        upper = t > 0
        wanted = ndtr(-np.abs(t))
        part = np.where(upper, self._part_above(wanted), self._part_below(wanted))
        low, high = self._edges[part], self._edges[part + 1]
        rest = np.where(upper, self._above[part] - wanted, wanted - self._below[part])
        first, x = low, (low + high) / 2
        for _ in range(SHAPE_NEWTON_STEPS):
            excess, slope = self._mass(first, x) - rest, self._density(x)
            low, high = np.where(excess < 0, x, low), np.where(excess < 0, high, x)
            with np.errstate(divide="ignore", invalid="ignore"):
                guess = x - excess / slope
            x = np.where((guess >= low) & (guess <= high), guess, (low + high) / 2)
        return x

    def _part_below(self, wanted: Array) -> NDArray[np.intp]:
        return np.clip(np.searchsorted(self._below, wanted, side="right") - 1, 0, SHAPE_PARTS - 1)

    def _part_above(self, wanted: Array) -> NDArray[np.intp]:
        return np.clip(SHAPE_PARTS - np.searchsorted(self._above[::-1], wanted, side="right"), 0, SHAPE_PARTS - 1)

    def at(self, uniforms: Array) -> Array:
        """Quantiles at probabilities."""
        return self(ndtri(uniforms))


REMEMBERED = 8


class Shape:
    """A standardised distribution.

    >>> from scipy import stats
    >>> shape = Shape(stats.expon())
    >>> float(shape.quantile(np.array([0.0]))[0].round(6))  # ln 2 − 1
    -0.306853
    """

    mean: float
    deviation: float

    def __init__(self, distribution: object) -> None:
        self.distribution = distribution
        self._below = _method(distribution, "ppf", "icdf")
        self._above = _method(distribution, "isf", "iccdf")
        searches = _searches(distribution)
        self.mean, self.deviation = _integrated(distribution) if searches else _stated(distribution)
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation > 0):
            raise InputError(
                f"distribution must have a finite mean and a finite variance above 0; {_name(distribution)} has mean "
                f"{self.mean:g} and standard deviation {self.deviation:g}."
            )
        self._inversion = _inversion(distribution, self.mean, self.deviation) if searches else None
        if self._inversion is not None:
            self.mean, self.deviation = self._inversion.moments()
        self._known: dict[tuple[float, float], LawNodes] = {}

    def quantile(self, t: Array) -> Array:
        """X at normal deviates t: the value exceeded as rarely as a standard normal exceeds t."""
        if self._inversion is not None:
            return (self._inversion(t) - self.mean) / self.deviation
        values = np.empty_like(t)
        low = t <= 0
        values[low], values[~low] = self._below(ndtr(t[low])), self._above(ndtr(-t[~low]))
        return (values - self.mean) / self.deviation

    def at(self, uniforms: Array) -> Array:
        """X at uniform numbers in [0, 1)."""
        below = self._below if self._inversion is None else self._inversion.at
        return (below(np.maximum(uniforms, 2.0**-54)) - self.mean) / self.deviation

    def nodes(self, longest: float, reach: float) -> LawNodes:
        """Nodes of X for functions that are smooth over ``longest``; the last few are remembered."""
        key = (longest, reach)
        if key not in self._known:
            while len(self._known) >= REMEMBERED:
                self._known.pop(next(iter(self._known)))
            self._known[key] = law_nodes(lambda t: self.quantile(t)[None, :], longest, reach)
        return self._known[key]

    def furthest(self, span: float, missing: Callable[[Array], Array]) -> float:
        """Distance beyond which X need not be known; see :func:`kinelo.model.quantile.furthest`."""
        return furthest(lambda t: self.quantile(t)[None, :], span, missing)

    def digest(self) -> str:
        """A name for the distribution and its parameters."""
        return law_digest(self.distribution)

    def __repr__(self) -> str:
        return _name(self.distribution)


def is_distribution(thing: object) -> bool:
    """Whether something can be a distribution, frozen or still to be given its parameters; nothing is called."""
    return any(callable(getattr(thing, name, None)) for name in ("ppf", "icdf"))


def _searches(distribution: object) -> bool:
    """Whether a distribution knows its density only, and would search for each quantile and moment."""
    from scipy import stats

    family = getattr(distribution, "dist", distribution)
    return getattr(type(family), "_ppf", None) is stats.rv_continuous._ppf


def _inversion(distribution: object, mean: float, deviation: float) -> Inversion | None:
    found = Inversion(_method(distribution, "pdf"), mean, deviation)
    return found if abs(found.total - 1) <= 1e-11 else None


def _integrated(distribution: Any) -> tuple[float, float]:
    """Mean and standard deviation by integrals over the density; infinite where those diverge."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mean = float(distribution.expect(lambda x: x))
            return mean, math.sqrt(float(distribution.expect(lambda x: (x - mean) ** 2)))
    except (Warning, TypeError, ValueError):
        return _stated(distribution)


def _stated(distribution: object) -> tuple[float, float]:
    return _moment(distribution, "mean"), _moment(distribution, "std", "standard_deviation")


def _method(distribution: object, *names: str) -> Callable[[Array], Array]:
    for name in names:
        found = getattr(distribution, name, None)
        if callable(found):
            return lambda p: np.asarray(found(p), dtype=np.float64)
    raise InputError(
        "distribution must be a SciPy distribution with its parameters, such as scipy.stats.t(3), "
        f"not {distribution!r}."
    )


def _moment(distribution: object, *names: str) -> float:
    for name in names:
        method = getattr(distribution, name, None)
        if callable(method):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    return float(np.asarray(method()))
            except TypeError:
                break
    raise InputError(
        f"distribution must come with its parameters, such as scipy.stats.t(3); {_name(distribution)} has no "
        f"{names[0]}() without more of them."
    )


def _name(distribution: object) -> str:
    inner = getattr(distribution, "dist", distribution)
    words = [f"{value:g}" for value in getattr(distribution, "args", ())]
    words += [f"{name}={value:g}" for name, value in getattr(distribution, "kwds", {}).items()]
    return f"{getattr(inner, 'name', None) or type(inner).__name__}({', '.join(words)})"
