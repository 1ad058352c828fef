"""What if a side were stronger: a copy of a rater whose ratings of some sides lie higher or lower by given points."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

from kinelo.errors import InputError


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
    if not hasattr(rater, "_add_points"):
        raise InputError(f"with_points takes a fitted rater, not {type(rater).__name__}.")
    raised = copy.deepcopy(rater)
    for name, more in points.items():
        if isinstance(more, bool) or not isinstance(more, int | float) or not math.isfinite(more):
            raise InputError(f"points[{name!r}] must be a number, not {more!r:.80}.")
        raised._add_points(name, more)
    return raised
