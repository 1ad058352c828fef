"""Forecasts of matches: win, draw and loss probabilities that sum to one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.validation import finite_array
from kinelo.presentation import Table, chance, chance_in_words, counted, words
from kinelo.runtime.frames import to_pandas

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from kinelo.matches.matches import Matches

FORECAST_ROWS = 20
OUTCOMES = ("home_win", "draw", "away_win")
"""Outcomes in their order everywhere: in the words of ``Matches.labels``."""


@dataclass(frozen=True, repr=False)
class Forecast:
    """Forecasts of ``n`` matches.

    Attributes
    ----------
    probabilities
        ``n`` rows of home win, draw, away win, the order of outcomes everywhere; each sums to one. (The columns of
        ``predict_proba`` are those of ``classes_``, in scikit-learn's order.)
    unknown
        Names that had never played and were given the prior.
    matches
        The matches that were forecast, or None where they were not said.
    ratings_before
        Ratings of both sides (``n`` rows: home, away) that each forecast was made from, without venues and conditions;
        with players those of the line-ups. None where the rater has none to say. Those of KalmanElo count, as
        ``ratings_`` do, from the average of the sides active then, so ``predict_one``, which looks at two sides,
        leaves them out. Matches without an order within their day are all forecast from the ratings before the first.
    notes
        What else is to be said, such as a level of what luck depends on that was never met.

    >>> forecast = Forecast(np.array([[0.5, 0.3, 0.2]]))
    >>> forecast.points.tolist(), forecast
    ([0.65], Forecast of 1 match: 0.500 / 0.300 / 0.200)
    """

    probabilities: NDArray[np.float64]
    unknown: tuple[str, ...] = ()
    matches: Matches | None = None
    ratings_before: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            p = np.asarray(self.probabilities, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"A forecast is an array of rows (home win, draw, away win), not {type(self.probabilities).__name__}."
            ) from None
        object.__setattr__(self, "probabilities", p)
        if p.ndim != 2 or p.shape[1] != 3 or not isinstance(self.unknown, tuple):
            raise InputError(
                f"A forecast is an array of rows (home win, draw, away win) and a tuple of unknown names, not shape "
                f"{p.shape} and {type(self.unknown).__name__}."
            )
        if math.isnan(np.add.reduce(p, axis=None)):
            raise InputError(f"{np.isnan(p).any(axis=1).sum():,} of {len(p):,} forecasts are no numbers.")
        if self.matches is not None:
            if not hasattr(type(self.matches), "match_id"):  # which takes longer to say than a forecast to make
                raise InputError(f"matches of a forecast are Matches, not {type(self.matches).__name__}.")
            if len(self.matches) != len(p):
                forecasts = counted(len(p), "forecast does", "forecasts do")
                raise InputError(f"{forecasts} not belong to {counted(len(self.matches), 'match', 'matches')}.")
        if self.ratings_before is not None and getattr(self.ratings_before, "shape", None) != (len(p), 2):
            raise InputError(f"ratings_before holds two ratings for each of {counted(len(p), 'match', 'matches')}.")

    @classmethod
    def of(cls, win: NDArray[Any], draw: NDArray[Any], loss: NDArray[Any], unknown: tuple[str, ...] = ()) -> Forecast:
        """A forecast from the three probabilities."""
        columns = [finite_array(name, p, 1) for name, p in (("win", win), ("draw", draw), ("loss", loss))]
        if len({column.size for column in columns}) > 1:
            raise InputError("win, draw and loss must hold a probability for each match.")
        return cls(np.column_stack(columns), unknown)

    @staticmethod
    def joined(parts: list[Forecast], matches: Any) -> Forecast:
        """One forecast of all matches from those of their parts."""
        unknown = tuple(dict.fromkeys(name for part in parts for name in part.unknown))
        before = [part.ratings_before for part in parts if part.ratings_before is not None]
        ratings = np.concatenate(before) if len(before) == len(parts) else None
        return Forecast(np.concatenate([part.probabilities for part in parts]), unknown, matches, ratings)

    def about(self, matches: Matches) -> Forecast:
        """The same forecasts with the matches they are about, whose names, dates and identifiers tables then show."""
        return replace(self, matches=matches)

    @property
    def points(self) -> NDArray[np.float64]:
        """Expected points of the home side in [0, 1]: a win counts 1, a draw ½."""
        return self.probabilities[:, 0] + 0.5 * self.probabilities[:, 1]

    @property
    def labels(self) -> NDArray[np.str_]:
        """The likeliest outcome of each match, in the words of ``Matches.labels``; of equal ones the best for home.

        >>> Forecast(np.array([[0.5, 0.3, 0.2], [0.2, 0.4, 0.4]])).labels.tolist()
        ['home_win', 'draw']
        """
        return np.array(OUTCOMES)[self.probabilities.argmax(axis=1)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The likeliest outcomes (``labels``): what scikit-learn's metrics take a prediction to be."""
        return self.labels if dtype is None else self.labels.astype(dtype)

    def __len__(self) -> int:
        return len(self.probabilities)

    def to_polars(self) -> pl.DataFrame:
        """The forecasts as a table, with identifier, date and sides of the matches where they are known."""
        import polars as pl

        from kinelo.matches.dated import UNDATED

        win, draw, loss = self.probabilities.T
        chances = pl.DataFrame({"home_win": win, "draw": draw, "away_win": loss, "points": self.points})
        if self.matches is None:
            return chances
        about = self.matches.to_polars().select("match_id", "date", "home", "away", "neutral")
        if np.all(self.matches.date == UNDATED):
            about = about.with_columns(date=pl.lit(None, pl.Date))
        return pl.concat([about, chances], how="horizontal")

    def to_pandas(self) -> pd.DataFrame:
        """The same table as a pandas frame; pyarrow is not needed."""
        return to_pandas(self)

    def to_dict(self) -> dict[str, Any]:
        """The columns of the table as lists, and the names never met."""
        return {**self.to_polars().to_dict(as_series=False), "unknown": list(self.unknown)}

    def __repr__(self) -> str:
        count = len(self)
        lines = [self._line(k) for k in range(min(count, 3))]
        more = "; …" if count > 3 else ""
        return f"Forecast of {count:,} match{'es' if count != 1 else ''}: {'; '.join(lines)}{more}"

    def _line(self, k: int) -> str:
        chances = " / ".join(f"{p:.3f}" for p in self.probabilities[k])
        if self.matches is None:
            return chances
        teams = self.matches.teams
        return f"{teams[self.matches.home[k]]} – {teams[self.matches.away[k]]} {chances}"

    def _repr_html_(self) -> str:
        shown = (
            self
            if self.matches is None
            else Forecast(self.probabilities[:FORECAST_ROWS], matches=self.matches[:FORECAST_ROWS])
        )
        more = (f"and {len(self) - FORECAST_ROWS:,} more",) if len(self) > FORECAST_ROWS else ()
        return Table.of(shown.to_polars().head(FORECAST_ROWS), ".3f", below=more).html()


def forecast_table(forecasts: pl.DataFrame) -> Table:
    """Both sides of every match and the chances; with scores, the goals expected and the likeliest score."""
    columns = [words("Home", "home"), words("Away", "away")]
    chances = {"home_win": "Home win", "draw": "Draw", "away_win": "Away win"}
    columns += [chance(said, name) for name, said in chances.items()]
    rows = forecasts.to_dicts()
    if "likeliest" in forecasts.columns:
        columns += [words(name.capitalize(), name, wraps=False) for name in ("goals", "likeliest", "over")]
        for row in rows:
            row["goals"] = f"{row['expected_home']:.2f}–{row['expected_away']:.2f}"
            row["over"] = f"{row['line']:.1f}: {chance_in_words(row['over'])}"
    return Table(columns, rows)
