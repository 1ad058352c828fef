"""How far a rating moves: the step γ of one side in one match, from its rating and what it has played.

A number, or one per team; falling with experience, ``γ (1 + β m/(m + n))`` after n matches; or the rules of FIDE,
``K = 2γ``: 40 for the first matches, 20, and 10 for good once the line was reached; a junior keeps 40
below its own line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.model.steps import FALLING, FIDE
from kinelo.play.formula import formula


class Steps(NamedTuple):
    """Steps as kernels take them: the kind, one γ per team, two numbers of the rule, and who is a junior."""

    kind: int
    gamma: NDArray[np.float64]
    boost: float
    matches: float
    junior: NDArray[np.bool_]


@formula
def falling(boost, matches, n):
    """How much larger the step of a side is that has played n matches."""
    return 1.0 + boost * matches / (matches + n)


@formula
def step_size(kind, gamma, boost, matches, junior, rating, n, reached):
    """γ of a side; ``reached`` tells whether its rating has ever been at the upper line."""
    if kind == FALLING:
        return gamma * falling(boost, matches, n)
    if kind == FIDE:
        if n < 30 or (junior and rating < 2300.0):
            return 20.0
        return 5.0 if reached else 10.0
    return gamma
