"""How far a rating moves: the step γ of one side in one match, from its rating and what it has played.

A number, or one per team; falling with experience, ``γ (1 + β m/(m + n))`` after n matches; or the rules of FIDE,
``K = 2γ``: 40 for the first matches, 20, and 10 for good once the line was reached; a junior keeps 40
below its own line.
"""

from __future__ import annotations

from typing import NamedTuple

from kinelo.model.steps import FALLING, FIDE
from kinelo.play.formula import formula


class StepCode(NamedTuple):
    """A rule of steps as kernels take it: its kind and two numbers; γ and who is a junior are one entry per team."""

    kind: int
    boost: float
    matches: float


@formula
def falling(boost, matches, n):
    """How much larger the step of a side is that has played n matches."""
    return 1.0 + boost * matches / (matches + n)


@formula
def gamma_of(gamma, team):
    """γ of a team, where ``gamma`` holds one number for all of them or one for each."""
    return gamma[team] if gamma.shape[0] > 1 else gamma[0]


@formula
def step_size(kind, gamma, boost, matches, junior, rating, n, reached):
    """γ of a side with this rating after ``n`` matches; ``reached`` says whether its rating was ever at FIDE's line."""
    if kind == FALLING:
        return gamma * falling(boost, matches, n)
    if kind == FIDE:
        # No branch: a processor would guess wrong half the time.
        settled = 5.0 if reached else 10.0
        return 20.0 if (n < 30) | (junior & (rating < 2300.0)) else settled
    return gamma
