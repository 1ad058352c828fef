"""How far a rating moves: the step γ of one side in one match, from its rating and what it has played.

A number, or one per team; falling with experience, ``γ (1 + β m/(m + n))`` after n matches; or the rules of FIDE,
``K = 2γ``: largest for the first matches, then smaller, and smallest for good once the line was reached; a junior keeps
the largest below its own line.
"""

from __future__ import annotations

from typing import NamedTuple

from kinelo.model.steps import FALLING, FIDE, JUNIOR_LINE, NEW_GAMES, STEP_ELITE, STEP_NEW, STEP_SETTLED
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
        settled = STEP_ELITE if reached else STEP_SETTLED
        return STEP_NEW if (n < NEW_GAMES) | (junior & (rating < JUNIOR_LINE)) else settled
    return gamma
