"""A population of teams: cell averages of the density f(θ, σ, r), and ways to make one.

The density integrates to one. Moments are midpoint sums over cells, as in the scheme that conserves them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from kinelo.errors import InputError, in_one_line
from kinelo.macro.grid import Axis, Cells, Grid, Index
from kinelo.macro.kernels import label_moments
from kinelo.model.results import Results
from kinelo.model.strength import Normal, Strength
from kinelo.model.validation import Array, finite_array, number, one_line, positive, whole
from kinelo.theory.teams import Continuum

Spread = float | Cells
CELLS, SPREAD_CELLS = 100, 20
MARGIN_OF_RATINGS = 0.25
"""Share of the range of strengths by which ratings of a league may lie beyond it."""


class Population:
    """Teams spread over cells in θ, σ and r; immutable.

    Parameters
    ----------
    density
        Cell averages of shape (theta, sigma, r), zero or more; scaled to total mass one. With a single σ the middle
        axis may be left out.
    theta, r
        ``(low, high, cells)``.
    sigma
        One spread for all teams, or ``(low, high, cells)``.

    Examples
    --------
    >>> teams = Population.uniform(theta=(4, 10, 60), r=(4, 10, 60), sigma=1.0)
    >>> teams
    Population(60 × 1 × 60 cells, θ in [4, 10], σ = 1, r in [4, 10])
    >>> round(teams.mean_rating, 12), round(teams.energy, 3)
    (7.0, 5.998)
    """

    grid: Grid
    density: Array

    def __init__(self, density: ArrayLike, *, theta: Cells | Axis, r: Cells | Axis, sigma: Spread | Axis) -> None:
        self.grid = _grid(theta, sigma, r)
        shape = self.grid.shape
        given = finite_array("density", density, 2, 3)
        if given.ndim == 2 and shape[1] == 1:
            given = given[:, None, :]
        if given.shape != shape:
            raise InputError(
                f"density must have one entry per cell, {' × '.join(map(str, shape))} (theta × sigma × r), "
                f"not {' × '.join(map(str, given.shape))}."
            )
        self.density = _normalised(given, self.grid)

    @classmethod
    def _of(cls, grid: Grid, density: Array) -> Population:
        """Wrap an array that is known to be a normalised density; it becomes read-only."""
        new = cls.__new__(cls)
        new.grid, new.density = grid, density
        density.setflags(write=False)
        return new

    @classmethod
    def uniform(cls, *, theta: Cells, r: Cells, sigma: Spread) -> Population:
        """Spread teams evenly over all cells: the paper's initial state."""
        grid = _grid(theta, sigma, r)
        size = grid.volume * np.prod(grid.shape)
        return cls._of(grid, np.full(grid.shape, 1 / size))

    @classmethod
    def gaussian(
        cls,
        *,
        theta: Cells,
        r: Cells,
        sigma: Spread,
        theta_mean: float | None = None,
        theta_sd: float | None = None,
        r_mean: float | None = None,
        r_sd: float | None = None,
    ) -> Population:
        """Make θ and r independent and normal, cut off at the ends of their ranges, and σ uniform.

        Means default to the middle of a range and standard deviations to a sixth of its length.

        >>> teams = Population.gaussian(theta=(0, 10, 50), r=(0, 10, 50), sigma=1.0, r_mean=4.0, r_sd=0.5)
        >>> round(teams.mean_rating, 6)
        4.0
        """
        grid = _grid(theta, sigma, r)
        across = _normal_averages(grid.theta, "theta", theta_mean, theta_sd)
        along = _normal_averages(grid.r, "r", r_mean, r_sd)
        density = across[:, None, None] * np.ones(grid.sigma.count)[None, :, None] * along
        return cls._of(grid, _normalised(density, grid))

    @classmethod
    def from_function(
        cls, function: Callable[[Array, Array, Array], ArrayLike], *, theta: Cells, r: Cells, sigma: Spread
    ) -> Population:
        """Take ``function(theta, sigma, r)``, zero or more and in need of no normalisation, at the cells' centres.

        >>> ridge = lambda theta, sigma, r: np.exp(-((r - theta) ** 2))
        >>> teams = Population.from_function(ridge, theta=(4, 10, 30), r=(0, 14, 70), sigma=1.0)
        >>> round(teams.mass, 12)
        1.0
        """
        grid = _grid(theta, sigma, r)
        if not callable(function):
            raise InputError(f"function must be a function of theta, sigma and r, not {one_line(function)}.")
        centres = grid.theta.centres[:, None, None], grid.sigma.centres[None, :, None], grid.r.centres[None, None, :]
        density = _values_of("function", function, centres, grid.shape)
        return cls._of(grid, _normalised(density, grid))

    @classmethod
    def concentrated(
        cls, rating: float | Callable[[Array, Array], ArrayLike], *, theta: Cells, r: Cells, sigma: Spread
    ) -> Population:
        """Give all teams of one label the same rating: a number, or ``rating(theta, sigma)``; labels are uniform.

        A rating between two centres of cells is shared by them so that its mean is exact.

        >>> everyone_at_seven = Population.concentrated(7.0, theta=(4, 10, 30), r=(0, 14, 70), sigma=1.0)
        >>> on_the_diagonal = Population.concentrated(lambda theta, sigma: theta, theta=(4, 10, 30), r=(4, 10, 30),
        ...                                           sigma=1.0)
        >>> round(everyone_at_seven.mean_rating, 12), round(on_the_diagonal.energy, 12)
        (7.0, 0.0)
        """
        grid = _grid(theta, sigma, r)
        values = _wanted_ratings(rating, grid)
        density = np.zeros((grid.labels, grid.r.count))
        lower, upper, part = grid.r.share(values)
        label = np.arange(grid.labels)
        density[label, lower] += 1 - part
        density[label, upper] += part
        return cls._of(grid, _normalised(density.reshape(grid.shape), grid))

    @classmethod
    def ridge(
        cls, rating: float | Callable[[Array, Array], ArrayLike], width: float, *, theta: Cells, r: Cells, sigma: Spread
    ) -> Population:
        """Make ratings normal with standard deviation ``width`` around ``rating``; otherwise as ``concentrated``.

        >>> smooth = Population.ridge(lambda theta, sigma: theta, 0.2, theta=(4, 10, 60), r=(2, 12, 500), sigma=1.0)
        >>> round(smooth.energy, 3)
        0.04
        """
        grid = _grid(theta, sigma, r)
        centres = _wanted_ratings(rating, grid)
        rows = _normal_shares((grid.r.faces - centres[:, None]) / positive("width", width))
        return cls._of(grid, _normalised((rows / rows.sum(axis=1, keepdims=True)).reshape(grid.shape), grid))

    @classmethod
    def from_sample(
        cls,
        ratings: ArrayLike,
        strengths: Strength,
        *,
        theta: Cells | None = None,
        r: Cells | None = None,
        sigma: Spread | None = None,
    ) -> Population:
        """Spread a league's teams over cells; ratings are one per team, or realisations × teams.

        A team is shared by the cells around it so that the means of θ, σ and r are kept. Ranges default to those of
        the sample with a margin, in 100 cells each (20 in σ, or one value when all teams share it).

        >>> from kinelo.model.strength import Normal
        >>> league = Normal(np.linspace(4, 10, 25), sigma=1.0)
        >>> teams = Population.from_sample(np.full(25, 7.0), league, r=(4, 10, 60))
        >>> round(teams.mean_rating, 12), teams.grid.sigma.centres
        (7.0, array([1.]))
        """
        if not isinstance(strengths, Strength):
            raise InputError(f"strengths must be a league such as Normal or Fixed, not {one_line(strengths)}.")
        sample = np.atleast_2d(finite_array("ratings", ratings, 1, 2))
        if sample.shape[1] != strengths.teams:
            raise InputError(f"ratings must list one per team: {sample.shape[1]} for {strengths.teams} teams.")
        spread = strengths.sigma
        if sigma is None:
            # Spreads computed from squads agree only to rounding.
            common = float(np.ptp(spread)) <= 1e-9 * (1 + float(spread.max()))
            sigma = float(spread.mean()) if common else (0.0, float(1.05 * spread.max()), SPREAD_CELLS)
        grid = _grid(theta or _around(strengths.theta, CELLS), sigma, r or _around(sample, CELLS))
        for name, axis, values in (("theta", grid.theta, strengths.theta), ("r", grid.r, sample)):
            _check_inside(name, values, axis)
        if not grid.sigma.is_point:
            _check_inside("sigma", spread, grid.sigma)
        density = np.zeros(grid.shape)
        for i, weight_i in _corners(grid.theta, strengths.theta):
            for s, weight_s in _corners(grid.sigma, spread):
                for j, weight_j in _corners(grid.r, sample):
                    np.add.at(density, (i[None, :], s[None, :], j), weight_i * weight_s * weight_j)
        return cls._of(grid, _normalised(density, grid))

    @property
    def mass(self) -> float:
        """Total mass: one, to rounding."""
        return float(self.density.sum() * self.grid.volume)

    @property
    def rating_mass(self) -> Array:
        """Mass in each cell of r."""
        return self.density.reshape(self.grid.labels, -1).sum(axis=0) * self.grid.volume

    @property
    def label_mass(self) -> Array:
        """Mass of each label, of the shape of all axes but r."""
        return self.density.sum(axis=-1) * self.grid.volume

    def rating_moment(self, order: int) -> float:
        """``m_{s,r} = ∫ r^s f``."""
        return float(self.rating_mass @ self.grid.r.centres ** whole("order", order, 0))

    @property
    def mean_rating(self) -> float:
        """``∫ r f``."""
        return self.rating_moment(1)

    @property
    def rating_variance(self) -> float:
        """Second moment of r about its mean."""
        return float(self.rating_mass @ (self.grid.r.centres - self.mean_rating) ** 2)

    @property
    def energy(self) -> float:
        """``E = ∫ (r − θ)² f``."""
        mass, first, second = self._label_moments()
        theta = self.grid.label_theta
        return float((second - 2 * theta * first + theta**2 * mass).sum())

    def mean_rating_given_theta(self) -> Array:
        """Mean rating of the teams in each cell of θ; NaN where there are none."""
        mass, first, _ = self._label_moments().reshape(3, self.grid.theta.count, -1).sum(axis=2)
        return np.divide(first, mass, out=np.full(mass.shape, np.nan), where=mass > 0)

    def marginal(self, *axes: str) -> Array:
        """Density of some of the variables, in the order theta, form (where there is such an axis), sigma, r.

        >>> teams = Population.uniform(theta=(0, 10, 5), r=(0, 10, 4), sigma=(0, 1, 3))
        >>> teams.marginal("theta", "r").shape, round(float(teams.marginal("r")[0]), 12)
        ((5, 4), 0.1)
        """
        order = self.grid.axes
        if unknown := sorted(set(axes) - set(order)):
            raise InputError(f"axes of a marginal are {', '.join(order)}, not {unknown[0]!r}.")
        gone = [k for k, name in enumerate(order) if name not in axes]
        return self.density.sum(axis=tuple(gone)) * math.prod(order[name].width for name in order if name not in axes)

    @property
    def moments(self) -> tuple[float, float, float]:
        """Variance of the strengths, their covariance with ratings, and variance of ratings: V, C and U.

        >>> V, C, U = Population.uniform(theta=(0, 12, 60), r=(0, 6, 60), sigma=1.0).moments
        >>> round(V, 1), round(abs(C), 9), round(U, 1)
        (12.0, 0.0, 3.0)
        """
        mass, first, second = self._label_moments()
        total = float(mass.sum())
        theta = self.grid.label_theta - float(mass @ self.grid.label_theta) / total
        mean = float(first.sum()) / total
        V, C = float(mass @ theta**2), float(theta @ (first - mean * mass))
        return V / total, C / total, float(second.sum()) / total - mean**2

    def _label_moments(self) -> Array:
        return label_moments(self.density.reshape(self.grid.labels, -1), self.grid.r.centres) * self.grid.volume

    def __repr__(self) -> str:
        cells = " × ".join(map(str, self.grid.shape))
        theta, sigma, r = self.grid.theta, self.grid.sigma, self.grid.r
        spread = f"σ = {sigma.low:g}" if sigma.is_point else f"σ in [{sigma.low:g}, {sigma.high:g}]"
        return (
            f"Population({cells} cells, θ in [{theta.low:g}, {theta.high:g}], {spread}, r in [{r.low:g}, {r.high:g}])"
        )


def as_population(teams: object) -> Population:
    """A population as it is; a league or a continuum with everybody at the mean strength, as a simulation begins."""
    if isinstance(teams, Population):
        return teams
    if isinstance(teams, Continuum):
        (low, high), (least, most) = teams.theta, teams.sigmas
        if low < high:
            spread = least if least == most else (least, most, SPREAD_CELLS)
            ratings = _around(np.array(teams.theta), CELLS, MARGIN_OF_RATINGS)
            return Population.concentrated((low + high) / 2, theta=(low, high, CELLS), r=ratings, sigma=spread)
        teams = Normal(
            np.full(SPREAD_CELLS, low), least + (most - least) * (np.arange(SPREAD_CELLS) + 0.5) / SPREAD_CELLS
        )
    if not isinstance(teams, Strength) or isinstance(teams, Results):
        raise InputError(
            f"population must be a Population, a league such as Normal or LineupLottery, or a Continuum, not "
            f"{one_line(teams)}."
        )
    start = np.full(teams.teams, float(teams.theta.mean()))
    return Population.from_sample(start, teams, r=_around(teams.theta, CELLS, MARGIN_OF_RATINGS))


def _grid(theta: object, sigma: object, r: object) -> Grid:
    grid = Grid(Axis.of("theta", theta), Axis.of_spread(sigma), Axis.of("r", r))
    grid.check_memory(2, "A population")
    return grid


def _normalised(density: Array, grid: Grid) -> Array:
    if not np.isfinite(density).all():
        where = [int(k) for k in np.argwhere(~np.isfinite(density))[0]]
        raise InputError(f"density must be finite, but in cell {where} it is {density[tuple(where)]}.")
    if (lowest := float(density.min())) < 0:
        where = [int(k) for k in np.argwhere(density == lowest)[0]]
        raise InputError(f"density must be 0 or more, but in cell {where} it is {lowest:g}.")
    mass = float(density.sum()) * grid.volume
    if not 0 < mass < np.inf:
        raise InputError(f"density must have a positive total mass, not {mass:g}.")
    scaled = np.ascontiguousarray(density / mass)
    scaled.setflags(write=False)
    return scaled


def _normal_averages(axis: Axis, name: str, mean: float | None, sd: float | None) -> Array:
    middle = (axis.low + axis.high) / 2 if mean is None else number(f"{name}_mean", mean)
    width = (axis.high - axis.low) / 6 if sd is None else positive(f"{name}_sd", sd)
    averages = _normal_shares((axis.faces - middle) / width)
    if averages.sum() == 0:
        raise InputError(f"{name}_mean = {middle:g} lies too far outside of [{axis.low:g}, {axis.high:g}].")
    return averages


def _normal_shares(z: Array) -> Array:
    """Shares of a normal law between faces ``z`` along the last axis, taken in the tail where they do not cancel."""
    below, above = np.diff(ndtr(z)), -np.diff(ndtr(-z))
    return np.where(z[..., 1:] <= 0, below, above)


def _wanted_ratings(rating: float | Callable[[Array, Array], ArrayLike], grid: Grid) -> Array:
    """The rating of every label: one number for all, or a function of (θ, σ)."""
    if callable(rating):
        wanted = _values_of("rating", rating, (grid.label_theta, grid.label_sigma), (grid.labels,))
    else:
        wanted = np.full(grid.labels, number("rating", rating))
    values = finite_array("rating", wanted, 1)
    _check_inside("rating", values, grid.r)
    return values


def _values_of(name: str, function: Callable[..., ArrayLike], at: tuple[Array, ...], shape: tuple[int, ...]) -> Array:
    """What a function of a user's says, as an array of this shape."""
    try:
        return np.array(np.broadcast_to(np.asarray(function(*at), dtype=np.float64), shape))
    except Exception as error:  # it may raise anything
        raise InputError(
            f"{name} must return an array of numbers of the shape of its arguments, which it did not "
            f"({in_one_line(error)[:100]})."
        ) from None


def _around(values: Array, cells: int, share: float = 0.1) -> Cells:
    low, high = float(values.min()), float(values.max())
    margin = share * (high - low) or 1.0
    return low - margin, high + margin, cells


def _check_inside(name: str, values: Array, axis: Axis) -> None:
    low, high = float(values.min()), float(values.max())
    if low < axis.low or high > axis.high:
        outside = low if low < axis.low else high
        raise InputError(f"{name} = {outside:g} lies outside of the cells, which span [{axis.low:g}, {axis.high:g}].")


def _corners(axis: Axis, values: Array) -> list[tuple[Index, Array]]:
    lower, upper, part = axis.share(values)
    return [(lower, 1 - part), (upper, part)]
