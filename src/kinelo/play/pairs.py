"""Who meets: two teams from one draw of the stream.

Pairs at random, or the next pair of a random perfect matching, in which every team plays once (one rests if their
number is odd): the last of those who wait meets one of the others, all equally likely, which makes every matching
equally likely.
"""

from __future__ import annotations

import numpy as np

from kinelo.play.arithmetic import high_product
from kinelo.play.formula import formula
from kinelo.play.stream import ONE, TWO, draw

S16, LOW16 = np.uint64(16), np.uint64(0xFFFF)


@formula
def two_teams(bits, teams):
    """Two different teams out of ``teams`` (uint64), every ordered pair equally likely."""
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


@formula
def pair_index(i, j, teams):
    """Place of a pair i < j in the table of all pairs, (0, 1), (0, 2), …, (1, 2), …"""
    return i * (TWO * teams - i - ONE) // TWO + j - i - ONE


@formula
def matched(waiting, left, bits):
    """The next pair of a matching, smaller number first, how many wait after it, and what is left of the draw.

    The first ``left`` of ``waiting`` are those who wait. If their number is odd, one of them rests.
    """
    if left & ONE:
        resting = high_product(bits, left)  # pyright: ignore[reportCallIssue]
        bits = bits * left
        left -= ONE
        waiting[resting] = waiting[left]
    others = left - ONE
    k = high_product(bits, others)  # pyright: ignore[reportCallIssue]
    one, other = waiting[others], waiting[k]
    waiting[k] = waiting[left - TWO]
    return min(one, other), max(one, other), left - TWO, bits * others


@formula
def everyone(waiting):
    """Let all teams wait for a new matching; return their number."""
    for team in range(waiting.size):
        waiting[team] = team
    return np.uint64(waiting.size)


@formula
def waiting_at(waiting, key_1, key_2, match):
    """How many teams wait before a match, ``waiting`` being put in the order that the matching's earlier ones left."""
    left = everyone(waiting)
    for past in range(match - match % (waiting.size // 2), match):
        _, _, left, _ = matched(waiting, left, draw(key_1, key_2, np.uint64(past)))
    return left


@formula
def next_pair(waiting, left, bits):
    """The pair of a match, how many teams wait after it, and what is left of its draw."""
    if left < np.uint64(2):
        left = everyone(waiting)
    return matched(waiting, left, bits)
