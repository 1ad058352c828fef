"""A counter-based random stream: the draw for (seed, realisation, match) depends on these three and nothing else.

``draw`` mixes ``key₁ + match · golden`` by two multiply-and-shift rounds (the finaliser of SplitMix64) and folds a
second key in between, so that two realisations never walk the same sequence shifted. Keys come from NumPy's
``SeedSequence(seed, spawn_key=(realisation,))``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import formula

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ROUND_1 = np.uint64(0xBF58476D1CE4E5B9)
ROUND_2 = np.uint64(0x94D049BB133111EB)
ONE, TWO = np.uint64(1), np.uint64(2)
S11, S12, S27, S30, S31 = (np.uint64(k) for k in (11, 12, 27, 30, 31))
TO_UNIT = 2.0**-53
TO_CENTRE = 2.0**-52


def realisation_keys(seed: int, realisations: int | range) -> NDArray[np.uint64]:
    """Two 64-bit keys for each of so many realisations, or of those with these numbers: the same whichever are run."""
    numbers = realisations if isinstance(realisations, range) else range(realisations)
    keys = [np.random.SeedSequence(seed, spawn_key=(k,)).generate_state(2, np.uint64) for k in numbers]
    return np.array(keys, dtype=np.uint64).reshape(len(numbers), 2)


@formula
def draw(key_1, key_2, counter):
    """64 random bits for one counter."""
    z = key_1 + counter * GOLDEN
    z = (z ^ (z >> S30)) * ROUND_1
    z = (z ^ (z >> S27) ^ key_2) * ROUND_2
    return z ^ (z >> S31)


@formula
def redraw(bits, k):
    """The k-th further 64 random bits that belong to a match, from its first."""
    z = bits + (k + ONE) * GOLDEN
    z = (z ^ (z >> S30)) * ROUND_1
    z = (z ^ (z >> S27)) * ROUND_2
    return z ^ (z >> S31)


@formula
def unit(bits):
    """Uniform double in [0, 1) from 64 random bits."""
    return float(bits >> S11) * TO_UNIT


@formula
def centred(bits):
    """Uniform double in (−½, ½), never ±½ and as often v as −v, from 64 random bits."""
    return (float(bits >> S12) + 0.5) * TO_CENTRE - 0.5
