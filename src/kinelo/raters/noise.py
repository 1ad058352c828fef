"""Noise that depends on circumstances: best of three or of five, friendly or cup, a surface on which luck decides.

Each level of a column of circumstances has a factor ``f`` of the noise, 1 where nothing is known of it; matches of
which a column says nothing are a level, where any were fitted beside others. It divides the differences of strength
that a match shows: forecasts read ``μ/f`` and ``V/f²``, and the information of a match is divided by ``f²``. The
logarithms of the factors of one column are believed to be normal around 0 with a spread that is estimated with them, so
that levels with few matches stay near 1. Given what the rater expected of each match, they are the most likely ones of
the results; the rater is then fitted anew with them, by turns until factors stand still.

Factors and the parameters of a rater are not found apart: all factors times two, and forecasts twice as steep, are
nearly the same; and where strengths are less certain, luck seems to differ more. So parameters give way while factors
are sought. With ``g`` and ``b`` the slopes and the curvature of losses by the logarithms ``φ`` of the factors of a
column, and ``U U'`` what parameters make up for, the curvature is ``S = diag b − U U'``. Hence
``φ = (S + 1/s²)⁻¹ (S φ − g)`` with errors ``(S + 1/s²)⁻¹``. Both are averaged over what the levels leave open of their
spread ``s``, which is little known where there are three of them.

What is certain are ratios of factors; how large all of them are is said by forecasts as a whole. An error is therefore
that of which the squares of two levels sum to the variance of the logarithm of their ratio, as well as that can be
(Firth and de Menezes, *Biometrika* 2004).

A level with few matches may owe its factor to luck: 30 finals that favourites won gave a factor of .24. One that is far
from 1 is therefore tried on matches that it was not found on, and drawn to 1 as far as these are forecast better so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from kinelo.errors import InputError, warn
from kinelo.forecasts.fit import SettledSlopes
from kinelo.matches.dated import Condition
from kinelo.matches.matches import Matches
from kinelo.matches.rows import listed_names
from kinelo.raters.stored import ANY, SEPARATOR, stored

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

MOST_NOISE_TURNS = 6
SETTLED = 0.02
"""Turns end where no factor moved by more, next to those of other levels."""
MOST_FACTOR_STEPS = 12
FACTOR_DIFFERENCE = 0.03
LONGEST_FACTOR_STEP = 0.5
LARGEST_LOG = 2.0
USUAL_SPREAD = 0.2
"""Standard deviation of the logarithms of factors by which a level never met differs; it counts like one level met."""
MIDDLE_SPREAD = 1.0
"""Standard deviation of the logarithms of factors that is as often exceeded as not, before any match."""
MOST_GIVEN_WAY = 0.995
FAR, FOLDS, FOLD_STEPS, PARTS, EARNED = 0.2, 4, 2, (0.0, 0.5, 1.0), 1.0
"""Logarithm of a factor beyond which it must earn itself on matches that it was not found on, folds of these, steps of
the search without one, parts of the logarithm that are tried, and the log-loss that all of it must save."""
MOST_NOTED = 3
UNSAID, SHOWN_UNSAID = "", "not said"
"""The level of matches of which a column says nothing, and what it is called in a table."""
NOTHING_SAID = Condition(np.empty(0, np.int32), ())
SPREADS = np.geomspace(0.02, 2.0, 25)


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
        """Places of the levels of every match, a column each; −1 where a level was never met."""
        out = np.full((len(matches), len(columns)), -1)
        for k, name in enumerate(columns):
            if name not in matches.conditions:
                raise InputError(
                    f"The column {name!r} of noise_by was not read; read it with read_matches(..., "
                    f"conditions=[{name!r}])."
                )
            condition = matches.conditions[name]
            places = np.array([self.index.get((name, level), -1) for level in (*condition.levels, UNSAID)])
            out[:, k] = places[condition.codes]
        return out

    def of(self, matches: Matches, columns: tuple[str, ...]) -> Array:
        """The factor of the noise of every match."""
        return np.exp(np.append(self.log, 0.0)[self.codes(matches, columns)].sum(axis=1))

    def moved(self, before: NoiseFactors) -> float:
        """How far the logarithms of factors are from those before, next to others of their column."""
        if not self.index:
            return 0.0
        was = np.array([before.log[before.index[key]] if key in before.index else np.inf for key in self.index])
        columns = np.array([name for name, _ in self.index])
        apart = [self.log[columns == name] - was[columns == name] for name in dict.fromkeys(columns.tolist())]
        return max((float(np.abs(one - one.mean()).max()) for one in apart if np.isfinite(one).all()), default=np.inf)

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
        said = {name: UNSAID if levels.get(name) is None else str(levels[name]).strip() for name in columns}
        places = [self.index.get(key, -1) for key in said.items()]
        return float(np.exp(np.append(self.log, 0.0)[places].sum()))

    def table(self, level: float = 0.8) -> pl.DataFrame:
        """Column, level, factor of the noise with its interval, and matches."""
        import polars as pl

        reach = ndtri(0.5 + level / 2.0) * self.error
        schema = {"column": pl.String, "level": pl.String, "factor": pl.Float64, "low": pl.Float64}
        values = zip(*self.index or [((), ())], strict=True) if self.index else ([], [])
        columns, levels = (list(one) for one in values)
        levels = [level if level != UNSAID else SHOWN_UNSAID for level in levels]
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


def with_levels_noted(forecast: Any, matches: Any, noise: NoiseFactors) -> Any:
    """A forecast that says, and warns of, levels of what luck depends on that no match (or contest) fitted had."""
    notes = []
    for name in dict.fromkeys(name for name, _ in noise.index):
        said = matches.conditions.get(name) if isinstance(matches, Matches) else matches.slots.get(name)
        levels = [] if said is None else said.levels if isinstance(said, Condition) else said.names
        met = set() if said is None else set(np.unique(said.codes).tolist())
        strange = [level for k, level in enumerate(levels) if k in met and (name, level) not in noise.index]
        known = [level for column, level in noise.index if column == name and level != UNSAID]
        notes += [
            f"{level!r:.40} is no {name!r} that was met ({listed_names(known)}): nothing is known of its luck"
            for level in strange
        ]
    if not notes:
        return forecast
    warn("; ".join(notes[:MOST_NOTED]) + ".")
    return replace(forecast, notes=(*forecast.notes, *notes))


def settle_factors(rater: Any, find: Callable[[], NoiseFactors], again: Callable[[], None]) -> None:
    """Find factors and let a rater estimate its parameters ``again`` with them, by turns until factors stand still."""
    for _ in range(MOST_NOISE_TURNS):
        before, rater._noise = rater._noise, find()
        again()
        if rater._noise.moved(before) < SETTLED:
            break


def find_factors(
    columns: tuple[str, ...],
    matches: Matches,
    losses: Callable[[Array], Array],
    settled: SettledSlopes,
    start: NoiseFactors,
) -> NoiseFactors:
    """The most likely factors of all levels that were met, given the losses of matches by their factors.

    ``losses`` takes a factor of the noise for each match, and says the loss of every one; ``settled`` says which of
    them count, and how parameters give way. The search begins at the factors of ``start``.
    """
    factors = NoiseFactors()
    for name in columns:
        said = matches.conditions.get(name, NOTHING_SAID)
        met = [said.levels[k] for k in np.unique(said.codes[said.codes >= 0]).tolist()]
        unsaid = [UNSAID] if met and (said.codes < 0).any() else []
        for level in (*met, *unsaid):
            factors.index.setdefault((name, level), len(factors.index))
    size = len(factors.index)
    codes = factors.codes(matches, columns)
    factors.log, factors.error = np.zeros(size), np.zeros(size)
    for key, k in factors.index.items():
        factors.log[k] = start.log[start.index[key]] if key in start.index else 0.0
    factors.matches = sum((np.bincount(one[one >= 0], minlength=size) for one in codes.T), np.zeros(size, np.int64))
    for _ in range(MOST_FACTOR_STEPS):
        moves = [_move(factors.log, factors.error, codes, k, losses, settled) for k in range(len(columns))]
        if max(moves, default=0.0) < 1e-3:
            break
    for k in range(len(columns)):
        far = np.unique(codes[:, k][codes[:, k] >= 0])
        far = far[np.abs(factors.log[far]) > FAR]
        if far.size:
            factors.log[far] *= _part_earned(factors.log, codes, k, losses, settled)[far]
    return factors


def _move(
    log: Array, error: Array, codes: NDArray[np.int64], k: int, losses: Callable[[Array], Array], settled: SettledSlopes
) -> float:
    """Move the factors of the column ``k`` to where they are most likely by now; return the longest step."""
    at_level, slopes = _slopes(log, codes, k, losses, settled)
    step, error[at_level] = slopes.settle(log[at_level])
    log[at_level] = np.clip(log[at_level] + step, -LARGEST_LOG, LARGEST_LOG)
    return float(np.abs(step).max(initial=0.0))


def _part_earned(
    log: Array, codes: NDArray[np.int64], k: int, losses: Callable[[Array], Array], settled: SettledSlopes
) -> Array:
    """Of the logarithm of each factor of the column ``k`` the part (levels) by which matches are forecast best that it
    was not found on: the matches of every level are dealt to folds, and each is left out in turn.
    """
    level, total = codes[:, k], np.zeros((len(PARTS), log.size))
    order, turn = np.argsort(level, kind="stable"), np.empty(level.size, np.int64)
    turn[order] = (np.arange(level.size) - np.searchsorted(level[order], level[order])) % FOLDS
    for fold in range(FOLDS):
        out, without = settled.scored & (level >= 0) & (turn == fold), log.copy()
        rest = SettledSlopes(settled.by[~out[settled.scored]], settled.scored & ~out)
        for _ in range(FOLD_STEPS):
            _move(without, np.empty(log.size), codes, k, losses, rest)
        for part, sums in zip(PARTS, total, strict=True):
            tried = log.copy()
            tried[level[level >= 0]] = part * without[level[level >= 0]]
            lost = losses(np.exp(np.append(tried, 0.0)[codes].sum(axis=1)))[out]
            sums += np.bincount(level[out], lost, minlength=log.size)
    parts = np.array(PARTS)
    return parts[(total + EARNED * parts[:, None]).argmin(axis=0)]


class LevelSlopes(NamedTuple):
    """Derivatives of all losses by the logarithms of the factors of levels, an entry each.

    ``slope`` and ``bend`` are the first and the second, which is not negative, ``squares`` the sum of the squares of
    the first, and ``coupled`` (levels, parameters) their products with the slopes by parameters
    (:class:`kinelo.forecasts.fit.SettledSlopes`).
    """

    slope: Array
    bend: Array
    squares: Array
    coupled: Array

    def settle(self, log: Array) -> tuple[Array, Array]:
        """How far the logarithms of factors, which are at ``log``, are from where they are most likely, and their
        standard errors. What they have in common is left to the parameters, where any are open.
        """
        if log.size == 1 and self.coupled.size:
            return -log, np.zeros(1)
        size, given = log.size, self._given_way()
        share = self.bend / (self.bend.sum() or 1.0) * bool(self.coupled.size)  # of what all have in common
        alone = self.bend * log - (self.slope - share * self.slope.sum()) - given @ (given.T @ log)
        mean, variance, sums = np.empty((3, SPREADS.size, size))
        inverse, likelihood = 1.0 / (self.bend + SPREADS[:, None] ** -2.0), np.empty(SPREADS.size)
        for k, variance_alone in enumerate(inverse):
            shared = variance_alone[:, None] * given
            rest = np.eye(given.shape[1]) - given.T @ shared
            both = shared @ np.linalg.inv(rest)
            mean[k] = variance_alone * alone + both @ (shared.T @ alone)
            variance[k] = variance_alone + (both * shared).sum(axis=1)
            sums[k] = variance_alone + both @ shared.sum(axis=0)
            likelihood[k] = 0.5 * (mean[k] @ alone + np.log(variance_alone).sum() - np.linalg.slogdet(rest)[1])
        # spreads stand at equal ratios; half of Cauchy's law is believed of them
        likelihood -= (size - 1.0) * np.log(SPREADS) + np.log1p((SPREADS / MIDDLE_SPREAD) ** 2)
        weight = np.exp(likelihood - likelihood.max())
        weight /= weight.sum()
        middle = weight @ mean
        apart = mean - middle
        precision = 1.0 / (weight @ inverse)
        error2 = _errors_of_ratios(weight @ (variance + apart**2), weight @ (sums + apart * apart.sum(axis=1)[:, None]))
        # losses of contests are no likelihood: slopes that differ more than their curvature says count
        error2 = np.maximum(error2, 1.0 / precision) * (1.0 + np.maximum(self.squares - self.bend, 0.0) / precision)
        step = middle - log
        step = np.clip(step - share @ step, -LONGEST_FACTOR_STEP, LONGEST_FACTOR_STEP)
        step -= share @ step
        return step, np.minimum(np.sqrt(error2), LARGEST_LOG)

    def _given_way(self) -> Array:
        """``U`` (levels, 1 + parameters): first what all levels have in common, then what remains of each parameter;
        nothing where no parameter is open. Its sizes are those of the curvature, and it never takes all of it.
        """
        total, squares = self.bend.sum() or 1.0, self.squares.sum() or 1.0
        if not self.coupled.size:
            return self.coupled
        rest = self.coupled - self.squares[:, None] * (self.coupled.sum(axis=0) / squares)
        given = np.column_stack([self.bend / np.sqrt(total), rest * np.sqrt(total / squares)])
        taken, ways = np.linalg.eigh(given.T @ (given / np.where(self.bend > 0.0, self.bend, np.inf)[:, None]))
        return given @ (ways * np.sqrt(np.minimum(1.0, MOST_GIVEN_WAY / np.maximum(taken, 1e-12)))) @ ways.T


def _errors_of_ratios(variance: Array, sums: Array) -> Array:
    """Squares of errors of which those of any two levels sum to the variance of their difference, as well as can be,
    from the diagonal of a covariance and the sums of its rows.

    >>> c = np.diag([0.04, 0.09, 0.01]) + 5.0
    >>> [round(float(e), 3) for e in _errors_of_ratios(np.diag(c), c.sum(axis=1))]
    [0.04, 0.09, 0.01]
    """
    size = variance.size
    if size < 3:  # one variance for two of them: what both share is left out
        return variance - (sums - variance) if size == 2 else variance
    of_differences = size * variance + variance.sum() - 2.0 * sums
    return (of_differences - of_differences.sum() / (2.0 * size - 2.0)) / (size - 2.0)


def _slopes(
    log: Array, codes: NDArray[np.int64], k: int, losses: Callable[[Array], Array], settled: SettledSlopes
) -> tuple[NDArray[np.int64], LevelSlopes]:
    """The levels of the column ``k`` that were met, and derivatives of losses by their factors."""
    h, known = FACTOR_DIFFERENCE, codes[:, k] >= 0
    logs = np.append(log, 0.0)[codes].sum(axis=1)
    here, up, down = (losses(np.exp(logs + shift * known)) for shift in (0.0, h, -h))
    levels, level = np.unique(codes[known, k], return_inverse=True)
    first, second = (up - down) / (2.0 * h), (up - 2.0 * here + down) / h**2
    counts = settled.scored[known]
    slope, bend, squares = (
        np.bincount(level[counts], by[known][counts], minlength=levels.size).astype(np.float64)
        for by in (first, second, first**2)
    )
    coupled = np.zeros((levels.size, settled.by.shape[1]))
    np.add.at(coupled, level[counts], first[known][counts, None] * settled.by[known[settled.scored]])
    return levels, LevelSlopes(slope, np.maximum(bend, 0.0), squares, coupled)
