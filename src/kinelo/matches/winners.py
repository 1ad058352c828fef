"""Tables that name winner and loser: an order of the two sides that knows nothing of the result.

Whoever stands first is decided by a hash of both names and the day, which is the same whichever of them won.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

ODD = np.uint64(0x9E3779B97F4A7C15)


def losers_first(
    winner: NDArray[np.int32], loser: NDArray[np.int32], teams: tuple[str, ...], day: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """For each match, whether the loser is to be named first.

    >>> sides = np.array([0, 1], np.int32)
    >>> losers_first(sides, sides[::-1], ("A", "B"), np.zeros(2, np.int64)).sum().item()
    1
    """
    name = np.array([int.from_bytes(blake2b(team.encode(), digest_size=8).digest(), "little") for team in teams] + [0])
    one, other = name.astype(np.uint64)[winner], name.astype(np.uint64)[loser]
    with np.errstate(over="ignore"):
        mixed = (one + other) * ODD ^ day.astype(np.uint64) * np.uint64(0xD1342543DE82EF95)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * ODD
    turned = (mixed >> np.uint64(63)).astype(bool)
    return (one > other) ^ turned
