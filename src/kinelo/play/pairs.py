"""Who meets: two teams from one draw of the stream."""

from __future__ import annotations

import numpy as np

from kinelo.play.arithmetic import high_product
from kinelo.play.formula import formula

ONE, S16, LOW16 = np.uint64(1), np.uint64(16), np.uint64(0xFFFF)


@formula
def two_teams(bits, teams):
    """Two different teams of ``teams``, every ordered pair equally likely."""
    i = high_product(bits, teams)  # pyright: ignore[reportCallIssue]
    j = high_product(bits * teams, teams - ONE)  # pyright: ignore[reportCallIssue]
    if j >= i:
        j += ONE
    return i, j


@formula
def unpacked(packed):
    """The two teams of a pair of the table."""
    both = np.uint64(packed)
    return both >> S16, both & LOW16
