"""A draw band that follows the matches: the logarithm of Davidson's κ, or of the half width of a normal one.

Rules change once, habits drift, most leagues do neither. So four filters follow the logarithm ``ψ`` side by side, which
allow for a change of 0, a tenth, a third and all of ``walk`` per match. With ``g = ∂ log P(result)/∂ψ`` and ``I`` its
expected square, both at the mean ``m`` of the four, a match says of a filter at ``ψ`` ± √v, with ``d = ψ − m``,

    v ← v + walk²,   r = g − I d,   w ← w · exp(g d − I d²/2 + r² v/(2 (1 + v I))) / √(1 + v I),
    ψ ← ψ + v r/(1 + v I),   v ← v/(1 + v I):

what a normal observation of precision ``I`` would say, and ``w``, the weight of the filter, grows by how well it
foresaw it. Most leagues do not move at all, and that filter begins with .85 of the weight. From one match to the next
one league in 10,000 begins to move in another way, so that no weight falls to 0.
Where draws are rare ``I`` is small and the variance grows, and with it the step; it is held below that of a factor e.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.play.formula import part

TIES_WALK = 0.03
"""How far the logarithm of a draw band may move per match where it moves fastest."""

WALKS = (0.0, 0.1, 1.0 / 3.0, 1.0)
SHARES = (0.85, 0.05, 0.05, 0.05)
"""What each of them is believed to be worth before any match, and where leagues begin to move in another way."""
FIRST_VARIANCE, LARGEST_VARIANCE = 0.05**2, 1.0
CHANGES = 1e-4

FILTERS, EACH = len(WALKS), 3
"""Filters, and what each keeps: its value, its variance, its weight."""


def fresh_band(value: float = 0.0) -> list[float]:
    """What is believed before any match: the logarithm is about this value."""
    return [number for share in SHARES for number in (value, FIRST_VARIANCE, share)]


def band_walk(rater: Any) -> float:
    """How far the logarithm of a rater's draw band may move per match: not at all where it is given, or learnt from
    none."""
    if rater._learns_ties:
        return 0.0
    if rater.ties_walk is not None:
        return float(rater.ties_walk)
    return TIES_WALK if rater.ties is None else 0.0


def with_band(numbers: NDArray[np.float64], whole: int, value: float) -> NDArray[np.float64]:
    """Numbers of a state that was stored, which end with what is believed of a draw band: one stored before draw bands
    were followed, shorter by that than the ``whole``, begins at this value.
    """
    if numbers.size == whole - EACH * FILTERS:
        return np.concatenate([numbers, fresh_band(value)])
    beliefs = numbers[-EACH * FILTERS :].reshape(-1, EACH)
    if numbers.size != whole or not (np.all(beliefs[:, 1:] > 0.0) and beliefs[:, 2].sum() <= 1.0 + 1e-6):
        raise InputError("What a stored state believes of its draw band is not what its rater stores.")
    return numbers


@part
def band_of(state, at):
    """Mean and variance (floats) of the logarithm that is believed from place ``at`` of a state on."""
    mean = square = 0.0
    for f in range(at, at + EACH * FILTERS, EACH):
        mean += state[f + 2] * state[f]
    for f in range(at, at + EACH * FILTERS, EACH):
        square += state[f + 2] * (state[f + 1] + (state[f] - mean) ** 2)
    return mean, square


@part
def follow_band(walk, score, information, state, at):
    """Move what is believed from place ``at`` of a state on by a match of this score and information at its mean;
    return the new mean (float).
    """
    mean, best = band_of(state, at)[0], -math.inf
    for k in range(FILTERS):
        f = at + EACH * k
        v = min(state[f + 1] + (walk * WALKS[k]) ** 2, LARGEST_VARIANCE)
        off = state[f] - mean
        missed, wider = score - information * off, 1.0 + v * information
        state[f + 1] = v / wider
        # the logarithm of how well it foresaw the match waits in the place of its weight's
        foreseen = (
            score * off - 0.5 * information * off * off + 0.5 * missed * missed * v / wider - 0.5 * math.log(wider)
        )
        state[f] += state[f + 1] * missed
        state[f + 2] = math.log(state[f + 2]) + foreseen
        best = max(best, state[f + 2])
    total = after = 0.0
    for f in range(at, at + EACH * FILTERS, EACH):
        state[f + 2] = math.exp(state[f + 2] - best)
        total += state[f + 2]
    for k in range(FILTERS):
        f = at + EACH * k
        state[f + 2] = (1.0 - CHANGES) * state[f + 2] / total + CHANGES * SHARES[k]
        after += state[f + 2] * state[f]
    return after
