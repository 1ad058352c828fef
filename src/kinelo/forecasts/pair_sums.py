"""Sums over all pairs of a large field without all pairs: losses at nodes of Chebyshev, orders by a tree of counts.

The loss of a pair is a smooth function of two means and two deviations. Each entrant is written as weights on a few
nodes of mean and deviation, blocks of entrants that follow one another in places add up their weights, and the sum over
all pairs of different blocks is ``Σ P G S``: weights of the blocks before, losses at the nodes, weights of the block.
Pairs within a block are taken one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import kernel

Array = NDArray[np.float64]
Loss = Callable[[Array, Array, Array, Array], Array]
"""Loss of a pair of which the first came before: mean and deviation of the first, mean and deviation of the second."""

BLOCK = 64
"""Entrants, of places that follow one another, whose pairs are taken one by one."""
LEAST_NODES, NODES_PER_UNIT, MOST_NODES = 12, 4.0, 240
"""Nodes of means: the least, how many more for each least deviation that they span, and the most."""
NODES_OF_DEVIATIONS = 8


def sum_of_losses(loss: Loss, mean: Array, deviation: Array, place: Array) -> float:
    """Sum of losses over all pairs of entrants in order of places; a pair that ties counts half of each order.

    >>> def gap(m, s, n, t):
    ...     return (n - m) / (s + t)
    >>> sum_of_losses(gap, np.array([0.0, 1.0, 3.0]), np.ones(3), np.array([1.0, 2.5, 2.5]))
    2.0
    """
    if place.size <= BLOCK:
        return _sum_directly(loss, mean, deviation, place)
    # Mean and deviation of every node, and the weights of each entrant on nodes of means and of deviations.
    spanned = float(np.ptp(mean)) / float(deviation.min())
    number = min(LEAST_NODES + math.ceil(NODES_PER_UNIT * spanned), MOST_NODES)
    means, by_mean = _chebyshev(mean, number if spanned > 0.0 else 1)
    logs, by_deviation = _chebyshev(np.log(deviation), NODES_OF_DEVIATIONS if np.ptp(deviation) > 0.0 else 1)
    nodes = np.repeat(means, logs.size), np.exp(np.tile(logs, means.size))
    held, total, before = [], 0.0, []
    for block in _blocks(place):
        held.append(np.einsum("ek,el->kl", by_mean[block], by_deviation[block]).ravel())
        before.append(np.zeros_like(held[0]) if len(held) == 1 else before[-1] + held[-2])
        if block.stop - block.start <= BLOCK:
            total += _sum_directly(loss, mean[block], deviation[block], place[block])
    earlier, later = np.array(before), np.array(held)
    tied = np.array([block.stop - block.start > BLOCK for block in _blocks(place)])
    # of entrants who all tie: half of every order, less that of each with itself
    crossed = earlier.T @ later + 0.5 * later[tied].T @ later[tied]
    at = np.arange(nodes[0].size)
    one, other = np.repeat(at, at.size), np.tile(at, at.size)
    at_nodes = loss(nodes[0][one], nodes[1][one], nodes[0][other], nodes[1][other])
    for block in (block for block in _blocks(place) if block.stop - block.start > BLOCK):
        total -= 0.5 * float(loss(mean[block], deviation[block], mean[block], deviation[block]).sum())
    return total + float(crossed.ravel() @ at_nodes)


def _sum_directly(loss: Loss, mean: Array, deviation: Array, place: Array) -> float:
    """The same, pair by pair."""
    i, j = np.triu_indices(place.size, 1)
    tied = place[i] == place[j]
    total = loss(mean[i], deviation[i], mean[j], deviation[j]) * np.where(tied, 0.5, 1.0)
    i, j = i[tied], j[tied]
    return float(total.sum() + 0.5 * loss(mean[j], deviation[j], mean[i], deviation[i]).sum())


def _blocks(place: Array) -> Iterator[slice]:
    """Blocks of entrants in order of places: those who tie stay together, alone where there are many of them."""
    ends = [*(np.flatnonzero(np.diff(place)) + 1).tolist(), place.size]
    begin = done = 0
    for end in ends:
        if end - begin > BLOCK and done > begin:
            yield slice(begin, done)
            begin = done
        done = end
    yield slice(begin, done)


def _chebyshev(values: Array, number: int) -> tuple[Array, Array]:
    """Nodes over the range of some values, and what each value takes of each node (values, nodes)."""
    low, high = float(values.min()), float(values.max())
    if number == 1:
        return np.array([low]), np.ones((values.size, 1))
    angle = (np.arange(number) + 0.5) * math.pi / number
    nodes = 0.5 * (low + high) + 0.5 * (high - low) * np.cos(angle)
    gap = values[:, None] - nodes
    exact = gap == 0.0
    weight = (-1.0) ** np.arange(number) * np.sin(angle) / np.where(exact, 1.0, gap)
    weight = np.where(exact.any(axis=1, keepdims=True), exact, weight)
    return nodes, weight / weight.sum(axis=1, keepdims=True)


@kernel
def pairs_in_order(rank, first, size):
    """Pairs of places that differ whose forecast is right, a forecast tie counting half, and all such pairs (2 floats).

    ``rank`` (entrants, int64) is the rank in the forecast, the best 0, of entrants in order of places; equal forecasts
    have equal ranks. ``first`` (groups + 1, int64) says where those who tie begin, and ``size`` how many ranks are.
    """
    tree, right, pairs = np.zeros(size + 1, np.int64), 0.0, 0.0
    for g in range(first.size - 1):
        for e in range(first[g], first[g + 1]):
            better, as_good, at = 0, 0, rank[e]
            while at > 0:  # ranks 0 to rank − 1
                better += tree[at]
                at -= at & -at
            at = rank[e] + 1
            while at > 0:
                as_good += tree[at]
                at -= at & -at
            right += 0.5 * (better + as_good)
            pairs += first[g]
        for e in range(first[g], first[g + 1]):
            at = rank[e] + 1
            while at <= size:
                tree[at] += 1
                at += at & -at
    return right, pairs
