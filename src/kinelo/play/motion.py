"""How strengths move: what a match teaches, what time brings, who leaves and who comes.

Learning: ``ρ_i += γ[α(1 − b(d)) + βX] + √γ σξ``, X being ``b(d)`` or the result. Form and walks: the exact transition
over the time since a team was last looked at. Turnover: a newcomer takes the place of the one who leaves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kinelo.model.dynamics import FORM, RANDOM, STILL, WALK, WEAKEST
from kinelo.play.arithmetic import high_product
from kinelo.play.elementary import exp_negative
from kinelo.play.formula import formula
from kinelo.play.performances import normal_of
from kinelo.play.stream import ONE, redraw


class Motion(NamedTuple):
    """How strengths move, as kernels take it.

    Whether anything moves, deviations included; ``kind``; α, β, σ and whether X is the result; ω, V and s²; departures
    per candidate match and who leaves; the rating of newcomers.
    """

    moving: bool
    kind: int = STILL
    alpha: float = 0.0
    beta: float = 0.0
    diffusion: float = 0.0
    on_result: bool = False
    rate: float = 0.0
    form: float = 0.0
    walk: float = 0.0
    leaving: float = 0.0
    who: int = RANDOM
    start: float = 0.0


@formula
def present(kind, rate, form, walk, strength, level, elapsed, normal):
    """Strength after ``elapsed`` units of T by form or a walk, from a standard normal number; else as it was."""
    if kind == FORM:
        kept = exp_negative(-min(rate * elapsed, 350.0))
        return level + (strength - level) * kept + math.sqrt(form * (1.0 - kept * kept)) * normal
    if kind == WALK:
        return strength + math.sqrt(walk * elapsed) * normal
    return strength


@formula
def lessons(alpha, beta, on_result, gap, result):
    """What a match teaches each side, to be multiplied by its step; ``gap`` is b(d) of their strengths."""
    gain = beta * (result if on_result else gap)
    return alpha * (1.0 - gap) + gain, alpha * (1.0 + gap) - gain


@formula
def jolt(step, diffusion, normal):
    """The random part of learning, √γ σξ, from a standard normal number ξ."""
    return math.sqrt(step) * diffusion * normal


@formula
def leaver(who, strength, lot):
    """The team that leaves: one by lot, or the first of the weakest or strongest."""
    if who == RANDOM:
        return np.int64(high_product(lot, np.uint64(strength.shape[0])))  # pyright: ignore[reportCallIssue]
    sign = 1.0 if who == WEAKEST else -1.0
    gone = np.int64(0)
    for team in range(strength.shape[0]):
        if sign * strength[team] < sign * strength[gone]:
            gone = np.int64(team)
    return gone


@formula
def newcomer_of(kind, form, pool, bits, used):
    """Mean strength of a newcomer, by lot from the pool, and its strength on arrival; ``used`` counts earlier draws."""
    lot = redraw(bits, used)
    level = pool[high_product(lot, np.uint64(pool.shape[0]))]  # pyright: ignore[reportCallIssue]
    if kind == FORM:
        return level, level + math.sqrt(form) * normal_of(bits, used + ONE)
    return level, level
