"""Performances of any shape: ``λ = θ + σX`` with X a SciPy distribution, moved to mean 0 and scaled to variance 1.

Quantiles of a distribution that knows only its density are found here too: the density is integrated over parts that
lengthen with the distance from the mean, from both ends inwards, so that tails keep their relative accuracy, and
Newton's method finds a quantile in its part.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from kinelo.errors import InputError
from kinelo.model.law import law_digest
from kinelo.model.outcome import Outcome
from kinelo.model.quantile import LawNodes, furthest, law_nodes, sum_of_waves
from kinelo.model.strength import Complex, Strength, spreads
from kinelo.model.validation import Array, team_vector

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
        above = SHAPE_PARTS - np.searchsorted(self._above[::-1], wanted, side="right")
        below = np.searchsorted(self._below, wanted, side="right") - 1
        part = np.clip(np.where(upper, above, below), 0, SHAPE_PARTS - 1)
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
        # A distribution that knows its density only would search for each quantile and moment.
        from scipy import stats

        family = getattr(distribution, "dist", distribution)
        searches = getattr(type(family), "_ppf", None) is stats.rv_continuous._ppf
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


SMOOTH_LENGTHS = 1.5
"""Finest lengths of an outcome function over which Gauss's rule of ten nodes is exact to twelve digits."""


class Scaled(Strength):
    """``λ = θ + σX``: X has the shape of a SciPy distribution, moved to mean 0 and scaled to variance 1.

    Parameters
    ----------
    distribution
        A SciPy distribution with its parameters, such as ``scipy.stats.t(3)``; its variance must be finite.
    theta
        Mean strengths, one per team.
    sigma
        Standard deviations, common or one per team.
    names
        Names of the teams.

    Examples
    --------
    >>> from scipy import stats
    >>> from kinelo.model.expectation import expected_result
    >>> from kinelo.model.outcome import Tanh
    >>> league = Scaled(stats.t(3), theta=[1.0, 0.0], sigma=1.0)
    >>> expected_result(Tanh(nu=0.5), league)[0, 1].round(6)
    np.float64(0.376871)
    """

    def __init__(
        self,
        distribution: object,
        theta: ArrayLike,
        sigma: ArrayLike,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.shape: Shape = distribution if isinstance(distribution, Shape) else Shape(distribution)
        values = team_vector("theta", theta)
        self.describe(values, spreads(sigma, values), names)
        # Without an outcome in view, as far as two performances can meet.
        self._reach, self._finest = self.shape.furthest(0.0, np.zeros_like), 0.25

    def seen_through(self, outcome: Outcome, span: float, sigma: float) -> Scaled:
        """The same league with performances known as far, and as finely, as results depend on them."""
        widest = max(sigma, float(self.sigma.max()))
        if widest == 0:
            return self
        seen = copy(self)
        seen._reach = self.shape.furthest(span / widest, lambda x: outcome.missing(widest * x))
        seen._finest = SMOOTH_LENGTHS * outcome.finest / widest
        return seen

    @property
    def reach(self) -> float:
        """Distance from θ beyond which performances need not be known."""
        return self._reach * float(self.sigma.max())

    def characteristic_function(self, u: Array, origin: float = 0.0) -> Complex:
        """Return e^{iu(θ − origin)} E e^{iuσX}."""
        return self.waves_of(self.theta, self.sigma, u, origin)

    def waves_of(self, theta: Array, sigma: Array, u: Array, origin: float = 0.0) -> Complex:
        """Characteristic functions of teams with other means and spreads, of the same shape."""
        nodes = self.shape.nodes(self._finest, self._reach)
        spread, which = np.unique(np.broadcast_to(sigma, theta.shape), return_inverse=True)
        shapes = np.array([sum_of_waves(one * nodes.deviation[0], nodes.weight, u) for one in spread])
        return np.exp(1j * np.multiply.outer(theta - origin, u)) * shapes[which.reshape(theta.shape)]

    def reach_of(self, sigma: float) -> float:
        """Reach of teams with this spread."""
        return self._reach * sigma

    def like(self, theta: ArrayLike, sigma: ArrayLike) -> Scaled:
        """Teams of other strengths and the same shape."""
        return Scaled(self.shape, theta, sigma)

    def performances(self, team: NDArray[np.integer], uniforms: Array) -> Array:
        """Return θ + σX by inversion."""
        return self.theta[team] + self.sigma[team] * self.shape.at(uniforms[:, 0])

    def digest(self) -> str:
        """A name for the shape and the strengths."""
        return law_digest((self.shape.digest(), self.theta, self.sigma))

    def __repr__(self) -> str:
        return super().__repr__().replace("Scaled(", f"Scaled({self.shape!r}, ", 1)
