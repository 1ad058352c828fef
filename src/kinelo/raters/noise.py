"""Noise that depends on circumstances: best of three or of five, friendly or cup, a surface on which luck decides.

Each level of a column of circumstances has a factor ``f`` of the noise, 1 where nothing is known of it. It divides the
differences of strength that a match shows: forecasts read ``μ/f`` and ``V/f²``, and the information of a match is
divided by ``f²``. The logarithms of the factors of one column are believed to be normal around 0 with a spread that is
estimated with them, so that levels with few matches stay near 1. Given what the rater expected of each match, they are
the most likely ones of the results; the rater is then fitted anew with them, in ``NOISE_TURNS`` turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from kinelo.errors import InputError
from kinelo.matches.matches import Matches
from kinelo.raters.one_match import SingleMatches
from kinelo.raters.stored import ANY, SEPARATOR, stored

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

NOISE_TURNS = 2
MOST_FACTOR_STEPS = 12
FACTOR_DIFFERENCE = 0.03
LONGEST_FACTOR_STEP = 0.5
LARGEST_LOG = 2.0
SPREAD_TURNS = 100
USUAL_SPREAD = 0.2
"""Standard deviation of the logarithms of factors before any match; it counts like one level."""


def noise_columns(noise_by: Sequence[str] | None) -> tuple[str, ...]:
    """The columns of circumstances a rater was asked to use."""
    if isinstance(noise_by, tuple) and not noise_by:
        return ()
    if isinstance(noise_by, str):
        raise InputError(f"noise_by={noise_by!r} must be a list of columns, such as [{noise_by!r}].")
    if not isinstance(noise_by, Sequence | None) or not all(isinstance(name, str) for name in noise_by or ()):
        raise InputError(f"noise_by={noise_by!r:.60} must be a list of the names of columns.")
    if len(set(noise_by or ())) < len(noise_by or ()):
        raise InputError(f"noise_by={list(noise_by or ())!r:.60} names a column twice.")
    return tuple(noise_by or ())


@dataclass
class NoiseFactors:
    """Logarithms of the factors of levels, their standard errors, and in how many matches each was met.

    >>> NoiseFactors({("format", "best of 5"): 0}, np.array([-0.1]), np.array([0.02]), np.array([40])).table().rows()
    [('format', 'best of 5', 0.9048374180359595, 0.8819401950757073, 0.9283291062697291, 40)]
    """

    index: dict[tuple[str, str], int] = field(default_factory=dict)
    log: Array = field(default_factory=lambda: np.empty(0))
    error: Array = field(default_factory=lambda: np.empty(0))
    matches: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def codes(self, matches: Matches, columns: tuple[str, ...]) -> NDArray[np.int64]:
        """Places of the levels of every match, a column each; −1 where a level was never met, or is not said."""
        out = np.full((len(matches), len(columns)), -1)
        for k, name in enumerate(columns):
            if name not in matches.conditions:
                raise InputError(
                    f"The column {name!r} of noise_by was not read; read it with read_matches(..., "
                    f"conditions=[{name!r}])."
                )
            condition = matches.conditions[name]
            places = np.array([self.index.get((name, level), -1) for level in condition.levels] + [-1])
            out[:, k] = places[condition.codes]
        return out

    def of(self, matches: Matches, columns: tuple[str, ...]) -> Array:
        """The factor of the noise of every match."""
        return np.exp(np.append(self.log, 0.0)[self.codes(matches, columns)].sum(axis=1))

    def spread(self, name: str) -> float:
        """Standard deviation of the logarithms of the factors of a column, by which a level never met may differ."""
        own = np.array([column == name for column, _ in self.index], bool)
        squares = (self.log[own] ** 2 + self.error[own] ** 2).sum()
        return float(np.sqrt((USUAL_SPREAD**2 + squares) / (1.0 + own.sum()))) if own.any() else 0.0

    def errors(self, matches: Matches, columns: tuple[str, ...]) -> Array:
        """Standard error of the logarithm of the factor of every match; of levels never met it is their spread."""
        known = np.append(self.error, np.nan)[self.codes(matches, columns)]
        return np.sqrt(
            np.where(np.isnan(known), [self.spread(name) for name in columns], known) ** 2 @ np.ones(len(columns))
        )

    def of_one(self, levels: Mapping[str, object], columns: tuple[str, ...]) -> float:
        """The factor of the noise of one match at these levels by column."""
        places = [self.index.get((name, str(levels.get(name)).strip()), -1) for name in columns]
        return float(np.exp(np.append(self.log, 0.0)[places].sum()))

    def table(self, level: float = 0.8) -> pl.DataFrame:
        """Column, level, factor of the noise with its interval, and matches."""
        import polars as pl

        reach = ndtri(0.5 + level / 2.0) * self.error
        schema = {"column": pl.String, "level": pl.String, "factor": pl.Float64, "low": pl.Float64}
        values = zip(*self.index or [((), ())], strict=True) if self.index else ([], [])
        columns, levels = (list(one) for one in values)
        bounds = (np.exp(self.log + shift) for shift in (0.0, -reach, reach))
        parts = dict(zip(("factor", "low", "high"), bounds, strict=True))
        return pl.DataFrame(
            {"column": columns, "level": levels, **parts, "matches": self.matches},
            schema=schema | {"high": pl.Float64, "matches": pl.Int64},
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk; nothing where there is no level."""
        if not self.index:
            return {}
        levels = np.array([f"{column}{SEPARATOR}{level}" for column, level in self.index], dtype=str)
        numbers = np.column_stack([self.log, self.error, self.matches.astype(float)])
        return {"noise_levels": levels, "noise_factors": numbers}

    def to_rows(self) -> list[list[Any]]:
        """Column, level, logarithm of the factor, its error and matches of every level, as JSON keeps them."""
        numbers = zip(self.log.tolist(), self.error.tolist(), self.matches.tolist())
        return [[*key, *row] for key, row in zip(self.index, numbers)]

    @classmethod
    def from_rows(cls, rows: object) -> NoiseFactors:
        """What :meth:`to_rows` gave.

        >>> factors = NoiseFactors({("track", "oval"): 0}, np.array([0.5]), np.array([0.1]), np.array([7]))
        >>> NoiseFactors.from_rows(factors.to_rows()).table().equals(factors.table())
        True
        """
        right = isinstance(rows, list) and all(isinstance(row, list) and len(row) == 5 for row in rows)
        if not right or not all(isinstance(text, str) for row in rows for text in row[:2]):  # type: ignore[attr-defined]
            raise InputError("The factors of the noise of a stored state are not what its rater stores.")
        if not rows:
            return cls()
        texts = [f"{row[0]}{SEPARATOR}{row[1]}" for row in rows]  # type: ignore[attr-defined]
        try:
            numbers = np.array([row[2:] for row in rows], float)  # type: ignore[attr-defined]
        except (TypeError, ValueError):
            numbers = np.full((len(texts), 3), np.nan)
        if not np.isfinite(numbers).all():
            raise InputError("The factors of the noise of a stored state hold numbers out of range.")
        return cls.from_arrays({"noise_levels": np.array(texts), "noise_factors": numbers})

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> NoiseFactors:
        """What :meth:`to_arrays` gave."""
        if "noise_levels" not in arrays:
            return cls()
        texts = [str(text).split(SEPARATOR, 1) for text in arrays["noise_levels"].tolist()]
        numbers = stored(arrays, "noise_factors", "f", (len(texts), ANY))
        if any(len(text) != 2 for text in texts) or numbers.shape[1] != 3 or np.abs(numbers[:, 0]).max() > 10.0:
            raise InputError("The array 'noise_factors' of a stored state holds numbers out of range.")
        index = {(column, level): k for k, (column, level) in enumerate(texts)}
        return cls(index, numbers[:, 0].copy(), numbers[:, 1].copy(), numbers[:, 2].astype(np.int64))


class NoiseRater(SingleMatches):
    """A rater with ``noise_by``."""

    conditions: Sequence[str]
    noise_by: Sequence[str] = ()
    _noise: NoiseFactors = NoiseFactors()

    def _noise_factors(self, matches: Matches) -> Array | float:
        """The factor of the noise of each match, by its circumstances."""
        columns = noise_columns(self.noise_by)
        return self._noise.of(matches, columns) if columns else 1.0

    @property
    def noise_factors_(self) -> pl.DataFrame:
        """By column of ``noise_by`` and level: factor of the noise, 80 % interval, and matches fitted."""
        return self._noise.table()

    def _conditions_asked(self) -> Sequence[str]:
        asked = (*super()._conditions_asked(), *noise_columns(self.noise_by))
        return list(dict.fromkeys(asked))


def find_factors(
    columns: tuple[str, ...], matches: Matches, losses: Callable[[Array], Array], skipped: int, start: NoiseFactors
) -> NoiseFactors:
    """The most likely factors of all levels that were met, given the losses of matches by their factors.

    ``losses`` takes a factor of the noise for each match, and says the loss of every one; the first ``skipped`` do not
    count. The search begins at the factors of ``start``.
    """
    found = NoiseFactors()
    for name in columns:
        levels = matches.conditions[name].levels if name in matches.conditions else ()
        for level in levels:
            found.index.setdefault((name, level), len(found.index))
    size = len(found.index)
    codes = found.codes(matches, columns)
    found.log, found.error = np.zeros(size), np.zeros(size)
    for key, k in found.index.items():
        found.log[k] = start.log[start.index[key]] if key in start.index else 0.0
    found.matches = sum((np.bincount(one[one >= 0], minlength=size) for one in codes.T), np.zeros(size, np.int64))
    column = np.array([columns.index(name) for name, _ in found.index], np.int64)
    spread2 = np.full(len(columns), USUAL_SPREAD**2)
    for _ in range(MOST_FACTOR_STEPS):
        slope, bend, squares_of_slopes = _slopes(found, codes, losses, skipped)
        alone = bend * found.log - slope  # where the losses of each level have their least, times their curvature
        for _ in range(SPREAD_TURNS):  # no losses are needed: turns are cheap, and with rare levels many are needed
            posterior = 1.0 / (bend + 1.0 / spread2[column])
            squares = np.clip(posterior * alone, -LARGEST_LOG, LARGEST_LOG) ** 2 + posterior
            for k in range(len(columns)):
                own = column == k
                spread2[k] = (USUAL_SPREAD**2 + squares[own].sum()) / (1.0 + own.sum())
        precision = bend + 1.0 / spread2[column]
        step = np.clip(alone / precision - found.log, -LONGEST_FACTOR_STEP, LONGEST_FACTOR_STEP)
        found.log = np.clip(found.log + step, -LARGEST_LOG, LARGEST_LOG)
        # losses of contests are no likelihood: slopes that differ more than their curvature says count
        error = np.sqrt(np.maximum(squares_of_slopes, bend) + 1.0 / spread2[column]) / precision
        found.error = np.minimum(error, LARGEST_LOG)
        if np.abs(step).max(initial=0.0) < 1e-3:
            break
    return found


def _slopes(
    found: NoiseFactors, codes: NDArray[np.int64], losses: Callable[[Array], Array], skipped: int
) -> tuple[Array, Array, Array]:
    """First and second derivative of all losses by the logarithm of each level's factor, and the sum of the squares of
    the first; the second is not negative.
    """
    size, h = found.log.size, FACTOR_DIFFERENCE
    logs = np.append(found.log, 0.0)[codes].sum(axis=1)
    here = losses(np.exp(logs))
    slope, bend, squares = np.zeros(size), np.zeros(size), np.zeros(size)
    for one in codes.T:
        known = one >= 0
        up, down = (losses(np.exp(logs + shift * known)) for shift in (h, -h))
        known[:skipped] = False
        first, second = (up - down) / (2.0 * h), (up - 2.0 * here + down) / h**2
        for total, by in ((slope, first), (bend, second), (squares, first**2)):
            total += np.bincount(one[known], weights=by[known], minlength=size)
    return slope, np.maximum(bend, 0.0), squares
