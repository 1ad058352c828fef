"""How large sides are: what a sixth player is worth, or somebody who leaves.

A side is as strong as the mean of its line-up, plus ``b log(size)``: with ``b = 0`` a sixth player counts for nothing
beyond the mean, and the larger ``b`` the more. Only the ratio of both sizes can be seen, and where all are equal
nothing is. ``b`` is an effect like that of a covariate (:mod:`kinelo.raters.covariates`) whose column Kinelo makes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.kind import SIZE as SIZE
from kinelo.matches.lineups import Lineups
from kinelo.raters.player.rotation import AFTER, UNSEEN

LEAST_PART = 0.01
"""Part of all matches in which sizes must differ for them to count."""
LEAST_LOG = 0.1
"""How far playing times must differ for that: eleven of whom one is sent off late are no other size."""


def log_sizes(lineups: Lineups, seen: int) -> NDArray[np.float64]:
    """The logarithm of the ratio of both sizes of every match: 0 where a line-up is not known.

    What is ``seen`` after a match are minutes, where all of both sides are known, and before it those who start.

    >>> log_sizes(Lineups(np.array([0, 2, 3, 4, 5]), np.zeros(5, np.int32), ("A",)), AFTER).round(3).tolist()
    [0.693, 0.0]
    """
    sides = lineups.offsets.size - 1
    if seen == UNSEEN:
        return np.zeros(sides // 2)
    side = np.repeat(np.arange(sides), np.diff(lineups.offsets))
    size = np.bincount(side, lineups.starter != 0, sides).reshape(-1, 2)
    if seen == AFTER:
        minutes = np.where(np.isnan(lineups.minutes), 0.0, lineups.minutes)
        unknown = np.bincount(side, np.isnan(lineups.minutes), sides).reshape(-1, 2).any(axis=1)
        played = np.bincount(side, minutes, sides).reshape(-1, 2)
        size = np.where((unknown | np.any(played <= 0.0, axis=1)).reshape(-1, 1), size, played)
    known = (size > 0.0).all(axis=1)
    return np.where(known, np.log(np.where(known, size[:, 0], 1.0) / np.where(known, size[:, 1], 1.0)), 0.0)


def sizes_differ(lineups: Lineups) -> bool:
    """Whether sides are of different sizes often enough to count."""
    announced, played = np.abs(log_sizes(lineups, seen=1)), np.abs(log_sizes(lineups, AFTER))
    differ = (announced > 0.0) | (played > LEAST_LOG)
    return bool(np.count_nonzero(differ) > LEAST_PART * max(len(lineups), 1))
