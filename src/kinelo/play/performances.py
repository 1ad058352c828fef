"""How a team performs on the day: λ drawn from the law of its strength, one uniform number after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.model.strength import FIXED, LOTTERY, NORMAL
from kinelo.play.elementary import quantile
from kinelo.play.formula import formula
from kinelo.play.stream import ONE, centred, redraw, unit

GIVEN = 4
"""Kind of a drawing whose ``values`` are the performances themselves, two per match, realisation by realisation."""


class Drawing(NamedTuple):
    """A built-in law of strength as kernels take it.

    ``values`` is (teams, ·): θ, or players' strengths, or the values of a sample. ``table`` is (teams, ·, ·): σ, or the
    probability that a player is chosen while so many places are open, or cumulative probabilities. ``theta`` (teams,)
    are the means of what is drawn.
    """

    kind: int
    values: NDArray[np.float64]
    table: NDArray[np.float64]
    lineup: int
    theta: NDArray[np.float64]


@formula
def normal_of(bits, k):
    """A standard normal number from the k-th further draw of a match."""
    return quantile(centred(redraw(bits, k)))


@formula
def performance(kind, values, table, lineup, team, bits, used):
    """Draw λ of a team by a :class:`Drawing`; return it and the number of draws used so far.

    A normal law takes one draw, a lottery one for each player of the squad, a sample one, a fixed strength none.
    """
    if kind == FIXED:
        return values[team, 0], used
    if kind == NORMAL:
        return values[team, 0] + table[team, 0, 0] * normal_of(bits, used), used + ONE
    if kind == LOTTERY:
        total, missing = 0.0, lineup
        for k in range(values.shape[1]):
            if unit(redraw(bits, used)) < table[team, k, missing]:
                total = total + values[team, k]
                missing -= 1
            used += ONE
        return total, used
    uniform = unit(redraw(bits, used))
    k = 0
    while uniform >= table[team, k, 0]:
        k += 1
    return values[team, k], used + ONE


@formula
def performances(kind, values, table, lineup, i, j, bits, used):
    """Draw λ of both teams of a match; return them and the number of draws used so far."""
    mine, used = performance(kind, values, table, lineup, i, bits, used)
    theirs, used = performance(kind, values, table, lineup, j, bits, used)
    return mine, theirs, used
