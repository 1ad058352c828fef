"""Random perfect matchings of a realisation, one match after the other, from any match on."""

from __future__ import annotations

import numpy as np

from kinelo.play.formula import inlined
from kinelo.play.pairs import matched
from kinelo.play.stream import draw


@inlined
def everyone(waiting):
    """Let all teams wait for a new matching."""
    for team in range(waiting.size):
        waiting[team] = team
    return np.uint64(waiting.size)


@inlined
def waiting_at(waiting, key_1, key_2, match):
    """How many teams wait before a match, ``waiting`` being put in the order that the matching's earlier ones left."""
    left = everyone(waiting)
    for past in range(match - match % (waiting.size // 2), match):
        _, _, left, _ = matched(waiting, left, draw(key_1, key_2, np.uint64(past)))
    return left


@inlined
def next_pair(waiting, left, bits):
    """The pair of a match, how many teams wait after it, and what is left of its draw."""
    if left < np.uint64(2):
        left = everyone(waiting)
    return matched(waiting, left, bits)
