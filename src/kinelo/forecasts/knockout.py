"""How a cup may end: a knockout played many times.

A rater that can (``_possible_strengths``) draws strengths from what it believes, one truth for each cup; of any other
rater each forecast is kept, and sides are better or worse than rated for a whole cup as for a whole season
(:mod:`kinelo.forecasts.season`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.errors import InputError
from kinelo.forecasts.season import MOST_TABLE_CELLS, check_forecaster, possible_truths, rater_knowing
from kinelo.matches.dated import Day, read_day
from kinelo.model.validation import whole
from kinelo.presentation import Table, chance, words
from kinelo.runtime.frames import to_pandas

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Knockout:
    """Chance of every side to reach every round: one column per round won, the last of them the cup.

    >>> Knockout(("A", "B"), np.array([[0.7], [0.3]]))
    Knockout of 2 sides: A wins with 0.700
    """

    names: tuple[str, ...]
    reached: Array

    def to_pandas(self) -> pd.DataFrame:
        """The same table as a pandas frame; pyarrow is not needed."""
        return to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """Name and chances to win each round, the likeliest winner first."""
        import polars as pl

        rounds = {f"round_{k + 1}": self.reached[:, k] for k in range(self.reached.shape[1] - 1)}
        table = pl.DataFrame({"name": pl.Series(self.names, dtype=pl.String), **rounds, "title": self.reached[:, -1]})
        return table.sort("title", descending=True, maintain_order=True)

    def to_dict(self) -> dict[str, Any]:
        """The table by columns."""
        return self.to_polars().to_dict(as_series=False)

    def __repr__(self) -> str:
        best = self.to_polars().row(0, named=True)
        return f"Knockout of {len(self.names)} sides: {best['name']} wins with {best['title']:.3f}"

    def _repr_html_(self) -> str:
        return knockout_table(self).html()


def knockout_table(found: Knockout, title: str = "") -> Table:
    """Chances to reach every round, by the names that people give them."""
    table = found.to_polars()
    rounds = table.columns[1:]
    sides = [f"Last {2 ** (len(rounds) - k - 1)}" for k in range(len(rounds) - 2)]
    labels = [*sides, "Final", "Wins it"][-len(rounds) :]
    chances = [chance(label, name) for label, name in zip(labels, rounds)]
    return Table([words("Name", "name"), *chances], table.to_dicts(), title)


def knockout(rater: Any, bracket: Sequence[str], *, date: Day, realisations: int = 10_000, seed: int = 1) -> Knockout:
    """Play a knockout many times: first against second, third against fourth, winners of neighbours after that.

    On neutral ground; a draw is decided as the two would decide a match without draws. A power of two of sides.

    >>> import kinelo as kn
    >>> played = kn.read_matches({"home": ["A", "B", "C", "D"] * 9, "away": ["B", "C", "D", "A"] * 9,
    ...                           "result": [1, 1, 0.5, 0] * 9})
    >>> cup = kn.knockout(kn.TeamElo.classic(k=20).fit(played), ["A", "B", "C", "D"], date="2024-06-01")
    >>> cup.to_polars()["name"][0], round(float(cup.reached[:, -1].sum()), 6)
    ('A', 1.0)
    """
    names = check_bracket(bracket)
    rounds = len(names).bit_length() - 1
    check_forecaster(rater)
    realisations, seed = whole("realisations", realisations, 1), whole("seed", seed, 0)
    if realisations * float(len(names)) > MOST_TABLE_CELLS:
        raise InputError(f"{realisations:,} realisations of {len(names):,} sides are too many at once; ask for fewer.")
    date = str(read_day(date))
    chance = _duels(rater_knowing(rater, names), names, date, realisations, seed)
    generator = np.random.default_rng([seed, 16])
    alive = np.tile(np.arange(len(names)), (realisations, 1))
    reached = np.zeros((len(names), rounds))
    for k in range(rounds):
        one, other = alive[:, 0::2], alive[:, 1::2]
        alive = np.where(generator.random(one.shape) < chance(one, other), one, other)
        reached[:, k] = np.bincount(alive.ravel(), minlength=len(names)) / realisations
    return Knockout(names, reached)


def check_bracket(bracket: Sequence[str]) -> tuple[str, ...]:
    """The sides of a bracket, refused unless they are 2, 4, 8, … different ones."""
    if isinstance(bracket, str) or not isinstance(bracket, Sequence) or not all(isinstance(n, str) for n in bracket):
        raise InputError(f"bracket must be a list of names, not {type(bracket).__name__}.")
    names = tuple(bracket)
    if len(names) < 2 or len(names) & (len(names) - 1) or len(set(names)) != len(names):
        raise InputError(f"A bracket needs 2, 4, 8, … different sides, not {len(names)}.")
    return names


def _duels(
    rater: Any, names: tuple[str, ...], date: Day, realisations: int, seed: int
) -> Callable[[NDArray[Any], NDArray[Any]], Array]:
    """Chance that one side beats another in every simulation, draws left out."""
    if hasattr(rater, "_possible_strengths"):
        strength = rater._possible_strengths(names, date, realisations, seed)
        band = rater._band

        def chance(one: NDArray[Any], other: NDArray[Any]) -> Array:
            z = np.take_along_axis(strength, one, 1) - np.take_along_axis(strength, other, 1)
            win, loss = ndtr(z - band), ndtr(-z - band)
            return win / (win + loss)

        return chance
    from kinelo.matches.reading import read_matches

    pairs = [(a, b) for a in range(len(names)) for b in range(len(names)) if a != b]
    columns = (name for what in ("conditions", "noise_by") for name in getattr(rater, what, None) or ())
    asked, numbers = list(dict.fromkeys(columns)), list(getattr(rater, "covariates", None) or ())
    blank: dict[str, list[Any]] = {name: [""] * len(pairs) for name in asked}
    asked += [name for name in numbers if name not in asked]
    table = (
        blank
        | {name: [0] * len(pairs) for name in numbers}
        | {  # of a cup no level is known: own strengths count
            "date": [str(date)] * len(pairs),
            "home": [names[a] for a, _ in pairs],
            "away": [names[b] for _, b in pairs],
            "neutral": [True] * len(pairs),
            "match_id": list(range(len(pairs))),
        }
    )
    p = rater.predict(read_matches(table, played=False, conditions=asked)).probabilities
    beats = np.full((len(names), len(names)), 0.5)
    rows, columns = np.array(pairs).T
    beats[rows, columns] = p[:, 0] / (p[:, 0] + p[:, 2])
    better, doubt = possible_truths(rater, names, date, realisations, np.random.default_rng([seed, 14]))
    quantile = ndtri(beats) * np.sqrt(1.0 + doubt[:, None] + doubt)
    return lambda one, other: ndtr(
        quantile[one, other] + np.take_along_axis(better, one, 1) - np.take_along_axis(better, other, 1)
    )
