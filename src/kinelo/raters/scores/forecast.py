"""Forecasts of matches with the chances of every score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from kinelo.errors import InputError
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import check_number
from kinelo.matches.matches import Matches
from kinelo.raters.scores.kernels import Law, goals_up_to, score_grid, score_losses

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

MOST_LEAN = 4.0
"""Beyond this chances are certain, and say no more about scores."""

MOST_CELLS = 2e7
"""Chances of scores that are held at once."""

LARGEST_GRID = 1000


def lean_of(chances: Array) -> Array:
    """``Φ⁻¹`` of the points expected of the home side."""
    return cast("Array", np.clip(ndtri(np.clip(chances[:, 0] + 0.5 * chances[:, 1], 0.0, 1.0)), -MOST_LEAN, MOST_LEAN))


def goals_of(matches: Matches) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Scores of both sides, −1 where they are not known or are no whole numbers."""
    if matches.total is None:
        none = np.full(len(matches), -1)
        return none, none
    with np.errstate(invalid="ignore"):
        home, away = 0.5 * (matches.total + matches.margin), 0.5 * (matches.total - matches.margin)
        known = (home >= 0.0) & (away >= 0.0) & (home == np.floor(home)) & (away == np.floor(away))
    return tuple(np.where(known, side, -1.0).astype(np.int64) for side in (home, away))  # type: ignore[return-value]


@dataclass(frozen=True, repr=False)
class ScoreForecast(Forecast):
    """A :class:`kinelo.forecasts.Forecast` that knows the chances of scores.

    Attributes
    ----------
    law
        What scores follow.
    log_even
        Mean and variance of the logarithm of the total that every match would be expected to have if it were even,
        ``(n, 2)``.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B", "C"] * 30, "away": ["B", "C", "A"] * 30,
    ...          "home_score": [2, 1, 0, 3, 0] * 18, "away_score": [1, 1, 2, 0, 0] * 18}
    >>> forecast = kn.ScoreElo().fit(kn.read_matches(table)).predict_one("A", "C")
    >>> forecast.scores.shape[0], round(float(forecast.scores.sum()), 9)
    (1, 1.0)
    >>> over, exactly, under = forecast.totals(2.5)[0]
    >>> bool(over < under), float(exactly)
    (True, 0.0)
    """

    law: Law = Law(False, 1.0, 1.0, 1.0, 0.0, 0.0)
    log_even: Array | None = None

    @staticmethod
    def joined(parts: list[Forecast], matches: Any) -> Forecast:
        """One forecast of all matches from those of their parts."""
        first, whole = cast("ScoreForecast", parts[0]), Forecast.joined(parts, matches)
        beliefs = np.concatenate([cast("Any", part).log_even for part in parts])
        return ScoreForecast(
            whole.probabilities, whole.unknown, matches, whole.ratings_before, whole.notes, first.law, beliefs
        )

    @property
    def scores(self) -> Array:
        """Chances of every score, ``[match, goals of the home side, goals of the away side]``; each match sums to 1."""
        cells = len(self) * self._size**2
        if cells > MOST_CELLS:
            raise InputError(
                f"The chances of all scores of {len(self):,} matches are {cells:,} numbers; ask for fewer matches at "
                "once, or for totals, handicap, both_score or expected."
            )
        return np.concatenate([*self._grids(), np.empty((0, self._size, self._size))])

    def totals(self, line: float) -> Array:
        """Chances that both sides together score more than ``line``, just as much, and less: a row a match.

        At a quarter, such as 2.25, half of the stake is on 2 and half on 2.5: shares of it won, returned and lost.
        """
        line = check_number("totals", "line", line, 0.0)
        return self._at(line, lambda half: np.add.outer(np.arange(self._size), np.arange(self._size)) - half)

    def handicap(self, line: float) -> Array:
        """Chances that the home side, given ``line`` goals, wins, draws and loses: a row a match.

        At a quarter, such as −0.75, half of the stake is on −0.5 and half on −1.
        """
        line = check_number("handicap", "line", line, -float("inf"))
        return self._at(line, lambda half: np.subtract.outer(np.arange(self._size), np.arange(self._size)) + half)

    def _at(self, line: float, above: Callable[[float], NDArray[Any]]) -> Array:
        """The shares at a line: those of the two lines beside it at an odd quarter."""
        if line % 0.5 == 0.25:
            return 0.5 * (self._over(above(line - 0.25)) + self._over(above(line + 0.25)))
        return self._over(above(line))

    @property
    def both_score(self) -> Array:
        """Chance that neither side stays without a goal."""
        return np.concatenate([*(grids[:, 1:, 1:].sum(axis=(1, 2)) for grids in self._grids()), np.empty(0)])

    @property
    def expected(self) -> Array:
        """Goals expected of the home and the away side: a row a match."""
        goals = np.arange(self._size, dtype=float)
        rows = [np.stack([g.sum(axis=2) @ goals, g.sum(axis=1) @ goals], axis=1) for g in self._grids()]
        return np.concatenate([*rows, np.empty((0, 2))])

    @property
    def likeliest(self) -> list[str]:
        """The likeliest score of every match."""
        places = [divmod(int(grid.argmax()), self._size) for grids in self._grids() for grid in grids]
        return [f"{home}-{away}" for home, away in places]

    def score_losses(self, matches: Matches) -> Array:
        """``−log`` of the chance that each score had; NaN where none is known."""
        home, away = goals_of(matches)
        size = max(self._size, int(max(home.max(initial=0), away.max(initial=0))) + 1)
        losses = np.empty(len(self))
        score_losses(self.probabilities, self._beliefs, self.law, (home, away), size, losses)
        return losses

    def to_polars(self) -> pl.DataFrame:
        """The table of every forecast, with the goals expected of both sides, the likeliest score, the chance of
        more goals than the half number next to those expected (``line``), and that both sides score.
        """
        import polars as pl

        expected, likeliest = self.expected, pl.Series(self.likeliest, dtype=pl.String)
        line = np.floor(expected.sum(axis=1)) + 0.5
        goals = np.add.outer(np.arange(self._size), np.arange(self._size))
        grids = (grid for part in self._grids() for grid in part)
        over = np.array([grid[goals > least].sum() for grid, least in zip(grids, line)])
        return super().to_polars().with_columns(
            expected_home=expected[:, 0], expected_away=expected[:, 1], likeliest=likeliest,
            line=line, over=over, both_score=self.both_score,
        )  # fmt: skip

    @cached_property
    def _beliefs(self) -> tuple[Array, Array, Array]:
        """Mean and variance of ``log E``, and the lean."""
        beliefs = np.zeros((len(self), 2)) if self.log_even is None else self.log_even
        return beliefs[:, 0].copy(), beliefs[:, 1].copy(), lean_of(self.probabilities)

    @cached_property
    def _size(self) -> int:
        """Goals up to which chances matter, of any match here."""
        return grid_size(self.law, *self._beliefs)

    def _grids(self) -> Iterator[Array]:
        """Chances of scores, of some matches after the other."""
        step = max(int(MOST_CELLS / 10 / self._size**2), 1)
        for k in range(0, len(self), step):
            part = slice(k, k + step)
            chances = np.ascontiguousarray(self.probabilities[part])
            grids = np.empty((len(chances), self._size, self._size))
            score_grid(chances, *(b[part] for b in self._beliefs), self.law, grids)
            yield grids

    def _over(self, above: Array) -> Array:
        """Chances of the scores that are above 0 here, at it and below."""
        parts = [above > 0.0, above == 0.0, above < 0.0]
        rows = [np.stack([grids[:, part].sum(axis=1) for part in parts], axis=1) for grids in self._grids()]
        return np.concatenate([*rows, np.empty((0, 3))])


def grid_size(law: Law, mean: Array, variance: Array, lean: Array) -> int:
    """Rows of a grid that holds all scores of these matches that have a chance to speak of."""
    return int(min(goals_up_to(mean, variance, lean, law), LARGEST_GRID)) + 2
