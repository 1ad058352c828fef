"""What if a side were stronger: a copy of a rater whose ratings of some sides lie higher or lower by given points."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

from kinelo.errors import InputError
from kinelo.raters.glicko.rater import Q
from kinelo.raters.kalman.kernels import FIRST
from kinelo.raters.kalman.state import FilterState
from kinelo.raters.state import RatingTable


def with_points(rater: Any, points: Mapping[str, float]) -> Any:
    """Return a copy of a fitted rater of sides in which the named sides have so many points more.

    Uncertainties, the other sides and the rater itself stay as they are. Raters of sides that keep a rating per side
    can be asked (TeamElo, KalmanElo, Glicko, Glicko2).

    >>> import kinelo as kn
    >>> played = kn.read_matches({"home": ["A", "B", "C"], "away": ["B", "C", "A"], "result": [1, 1, 0]})
    >>> rater = kn.TeamElo.classic().fit(played)
    >>> for one in (rater, with_points(rater, {"B": 40})):
    ...     print([round(r) for r in one.ratings_.sort("name")["rating"]])
    [1530, 1501, 1469]
    [1530, 1541, 1469]
    """
    if not isinstance(points, Mapping):
        raise InputError(f"points must map names to numbers, not {type(points).__name__}.")
    raised = copy.deepcopy(rater)
    state = getattr(raised, "_state", None)
    if isinstance(state, FilterState):
        values, unit = state.known.x[FIRST:], 1.0 / raised.points_per_unit_
    elif isinstance(state, RatingTable):
        values, unit = state.known.rating, Q if type(rater).__name__.startswith("Glicko") else 1.0
    else:
        raise InputError(
            f"{type(rater).__name__} keeps no rating per side to add points to; take TeamElo, KalmanElo or Glicko."
        )
    for name, more in points.items():
        if name not in state.name_index.names:
            raise InputError(f"{name!r:.80} is not rated; names are written as in the results.")
        if isinstance(more, bool) or not isinstance(more, int | float) or not math.isfinite(more):
            raise InputError(f"points[{name!r}] must be a number, not {more!r:.80}.")
        values[state.name_index.place(name)] += more * unit
    return raised
