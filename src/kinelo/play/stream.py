"""A counter-based random stream: the draw for (seed, realisation, match) depends on these three and nothing else.

``draw`` mixes ``key₁ + match · golden`` by two multiply-and-shift rounds (the finaliser of SplitMix64) and folds a
second key in between, so that two realisations never walk the same sequence shifted. Keys come from NumPy's
``SeedSequence(seed, spawn_key=(realisation,))``.

Everything here is integer arithmetic or IEEE operations in a fixed order, so results do not depend on the platform.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ROUND_1 = np.uint64(0xBF58476D1CE4E5B9)
ROUND_2 = np.uint64(0x94D049BB133111EB)
S11, S27, S30, S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
TO_UNIT = 2.0**-53


def realisation_keys(seed: int, realisations: int) -> NDArray[np.uint64]:
    """Two 64-bit keys per realisation, the same however many realisations are run."""
    keys = [np.random.SeedSequence(seed, spawn_key=(k,)).generate_state(2, np.uint64) for k in range(realisations)]
    return np.array(keys, dtype=np.uint64).reshape(realisations, 2)


@intrinsic
def high_product(typingctx: Any, a: Any, b: Any) -> Any:
    """Upper 64 bits of the 128-bit product; one machine instruction that NumPy integers cannot express."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def float_from_bits(typingctx: Any, a: Any) -> Any:
    """Reinterpret 64 bits as a double."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


@intrinsic
def bits_from_float(typingctx: Any, a: Any) -> Any:
    """Reinterpret a double as 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.uint64(types.float64), codegen


@njit(inline="always")
def draw(key_1, key_2, counter):
    """64 random bits for one counter."""
    z = key_1 + counter * GOLDEN
    z = (z ^ (z >> S30)) * ROUND_1
    z = (z ^ (z >> S27) ^ key_2) * ROUND_2
    return z ^ (z >> S31)


@njit(inline="always")
def redraw(bits, k):
    """The k-th further 64 random bits that belong to a match, from its first."""
    z = bits + (k + np.uint64(1)) * GOLDEN
    z = (z ^ (z >> S30)) * ROUND_1
    z = (z ^ (z >> S27)) * ROUND_2
    return z ^ (z >> S31)


@njit(inline="always")
def unit(bits):
    """Uniform double in [0, 1) from 64 random bits."""
    return (bits >> S11) * TO_UNIT


LOG2_E = 1.4426950408889634
LN_2_HIGH = 6.93147180369123816490e-01
LN_2_LOW = 1.90821492927058770002e-10
ROUNDER = 6755399441055744.0  # 1.5 · 2⁵²: adding it rounds to an integer that sits in the low bits


@njit(inline="always")
def exp_negative(y):
    """e^y for −700 ≤ y ≤ 0, to about one unit in the last place, in operations a compiler can vectorise."""
    n = y * LOG2_E + ROUNDER
    power = bits_from_float(n)  # pyright: ignore[reportCallIssue]
    n = n - ROUNDER
    r = (y - n * LN_2_HIGH) - n * LN_2_LOW
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    scale = float_from_bits((power + np.uint64(1023)) << np.uint64(52))  # pyright: ignore[reportCallIssue]
    return (1.0 + (r + r * r * p)) * scale
