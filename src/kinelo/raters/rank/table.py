"""Ratings of everyone who took part in contests, as a table, in points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.model.outcome import CHESS_NU
from kinelo.raters.filter.belief import fade_all
from kinelo.raters.qualifying import REFERENCE_DAYS
from kinelo.raters.state import NEVER

if TYPE_CHECKING:
    import polars as pl

POINTS_PER_UNIT = 1.0 / (math.sqrt(math.pi) * CHESS_NU)
"""Rating points per unit of strength: between equals the expected result rises by 1/√π a unit, ln 10/800 a point."""


def slot_table(rater: Any, day: int | None) -> pl.DataFrame:
    """Every slot that took part, advantages too, on a day or as of its last contest; the best of each kind first."""
    import polars as pl

    state = rater._begun()
    size, known = len(state), state.known
    kind = known.kind[:size].astype(np.int64)
    x, v, last = known.x[:size, 0].copy(), known.v[:size, 0].copy(), known.last[:size]
    for number, name in enumerate(rater.kinds_):
        own = kind == number
        then = known.clock[1] if day is None else day
        f, added = fade_all(then - last[own], rater._of_kind("regression", name), rater._of_kind("walk", name) ** 2)
        faded = f * x[own]
        if day is not None:
            x[own], v[own] = faded, f * f * v[own] + added
        if name in rater.advantage_kinds_ or rater.start is not None:
            continue
        active = ((last >= known.clock[1] - REFERENCE_DAYS) & (known.games[:size] > 0))[own]
        # One level for both, on the day; the sum is exact, so that it does not matter who was met first.
        x[own] -= math.fsum(faded[active]) / active.sum() if active.any() else 0.0
    shown = state.dated & (last != NEVER)
    supposed = np.zeros(size, np.int64)
    supposed[list(state.unseen)] = list(state.unseen.values())
    table = pl.DataFrame(
        {
            "kind": pl.Series(state.kinds, dtype=pl.String).gather(kind),
            "name": pl.Series([name for _, name in state.names], dtype=pl.String),
            "rating": rater.initial + POINTS_PER_UNIT * x,
            "uncertainty": POINTS_PER_UNIT * np.sqrt(v),
            "matches": known.games[:size] - supposed,
            "last_played": np.where(shown, last.astype("datetime64[D]"), np.datetime64("NaT")),
        }
    )
    table = table.with_columns(_kind=kind).filter(known.games[:size] > 0)
    ranked = table.sort("_kind", "rating", descending=[False, True], maintain_order=True)
    return ranked.drop("_kind")
