"""How far a rating moves: the step γ of one side in one match, from its rating and what it has played.

A number, or one per team; falling with experience, ``γ (1 + β m/(m + n))`` after n matches; or the rules of FIDE,
``K = 2γ``: 40 for the first matches, 20, and 10 for good once the line was reached; a junior keeps 40
below its own line.

A match moves both sides by their own step times the surprise ``S − b``: at once, or, while ratings are frozen, into
what is owed to each side and paid at the end of the period.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.model.steps import FALLING, FIDE
from kinelo.play.formula import formula

ELITE = 2400.0
"""The line of FIDE's rules: who has reached it keeps the smallest step for good."""


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
        # No branch: a processor would guess wrong half the time.
        settled = 5.0 if reached else 10.0
        return 20.0 if (n < 30) | (junior & (rating < 2300.0)) else settled
    return gamma


@formula
def steps_of(kind, gamma, boost, matches, junior, r, n, top, i, j):
    """γ of both sides of a match between teams i and j."""
    return (
        step_size(kind, gamma[i], boost, matches, junior[i], r[i], n[i], top[i]),
        step_size(kind, gamma[j], boost, matches, junior[j], r[j], n[j], top[j]),
    )


@formula
def move(r, owed, i, j, step_i, step_j, surprise, frozen):
    """Move the ratings of both sides by their steps times the surprise, or owe it while ratings are frozen."""
    if frozen:
        owed[i] += step_i * surprise
        owed[j] -= step_j * surprise
    else:
        r[i] += step_i * surprise
        r[j] -= step_j * surprise


@formula
def rate(r, owed, top, i, j, step_i, step_j, surprise, frozen):
    """Move ratings, and mark the sides that have reached the upper line."""
    move(r, owed, i, j, step_i, step_j, surprise, frozen)
    if not frozen:
        top[i] |= r[i] >= ELITE
        top[j] |= r[j] >= ELITE


@formula
def pay(r, owed, top, team):
    """End a period for a team: its rating receives what is owed."""
    r[team] += owed[team]
    owed[team] = 0.0
    top[team] |= r[team] >= ELITE
