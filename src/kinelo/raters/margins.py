"""The unit in which margins are seen: a running mean of their size.

Scoring drifts over decades, and what was a large margin once is an ordinary one later. With ``u`` the unit before a
match of margin ``m``, ``u ← u + (|m| − u)/memory`` after it: causal, and steady to a few per cent. A memory of 1,000
matches follows any drift that takes years, and in a shorter table the unit hardly moves from where it began. Raters
with normal beliefs forget sooner where the margins fitted ask for it (:mod:`kinelo.raters.open_memory`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import kernel

MEMORY = 1000


@kernel
def running_unit(margin, unit, memory, out):
    """Unit before every match into ``out``; return the one after the last."""
    for k in range(margin.size):
        out[k] = unit
        if not math.isnan(margin[k]):
            unit += (abs(margin[k]) - unit) / memory
    return unit


def first_unit(margin: NDArray[np.float64]) -> float:
    """Mean size of the first margins of a table, NaN where there are none to speak of."""
    known = np.abs(margin[~np.isnan(margin)])
    if not np.any(known > 0):
        return math.nan
    early = float(known[:MEMORY].mean())
    return early if early > 0 else float(known.mean())
