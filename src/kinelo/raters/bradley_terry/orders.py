r"""Strengths of all who compete from all contests at once: Plackett–Luce.

A contest is won by one of its field with chance ``e^{x_i}/Σ e^{x_j}``, the rest is a contest of the others, and so on:
between two of them that is Bradley and Terry's law. With ``S_k`` the sum of ``e^x`` over those who were not ahead of
entry k, ``C_l = Σ 1/S_k`` and ``D_l = Σ 1/S_k²`` over the entries k that finished no later than l,

    ``∂ log P/∂x_l = [l finished] − e_l C_l``,  ``−∂² log P/∂x_l ∂x_m = [l = m] e_l C_l − e_l e_m D_{min(l, m)}``.

Who ties is chosen from all who tie, and who did not finish is behind all who did. Strengths are normal beforehand, with
mean 0 and some spread; orders tell differences only, and those between pools that never meet not at all.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from kinelo.matches.contests import FINISHED, Contests
from kinelo.play.formula import kernel

Array = NDArray[np.float64]
POINT = math.log(10.0) / 400.0
"""x for one point: between two entrants the chances are those of Elo."""
LONGEST_STEP, MOST_STEPS = 2.0, 40


class Orders(NamedTuple):
    """Contests as the compiled loop takes them: where their entries begin, and of each entry who it is, the first entry
    of those that it ties with, and whether it finished; entries stand in order of their places."""

    first: NDArray[np.int64]
    entrant: NDArray[np.int64]
    tied: NDArray[np.int64]
    finished: NDArray[np.bool_]

    @classmethod
    def of(cls, contests: Contests) -> Orders:
        """The orders of these contests."""
        place, n = contests.place, contests.entrant.size
        new = np.ones(n, bool)
        new[1:] = place[1:] != place[:-1]
        new[contests.first[:-1]] = True
        tied = np.maximum.accumulate(np.where(new, np.arange(n), 0))
        return cls(contests.first, contests.entrant.astype(np.int64), tied, contests.ended == FINISHED)


class OrderFit(NamedTuple):
    """Strengths in points, likeliest given the orders and their prior; the log-likelihood of the orders there, and the
    Cholesky factor of the precision of strengths (upper, in points⁻²)."""

    strength: Array
    likelihood: float
    root: Array

    def draws(self, normal: Array) -> Array:
        """What luck may have added to strengths, a column for each of ``normal`` (entrants × draws)."""
        return linalg.solve_triangular(self.root, normal)


@kernel
def order_derivatives(orders, x, gradient, information, surprise):
    """Log-likelihood of ``Orders`` at x (entrants); its gradient (entrants) and what orders tell (entrants × entrants,
    above the diagonal) are added to, unless empty. Into ``surprise`` (entries) goes the part of each entry in the
    gradient: how much better it did than expected."""
    total = 0.0
    for c in range(orders.first.size - 1):
        low, high = orders.first[c], orders.first[c + 1]
        size = high - low
        e, rest, one, two = np.empty(size), np.zeros(size + 1), np.zeros(size), np.zeros(size)
        most = -np.inf
        for k in range(low, high):
            most = max(most, x[orders.entrant[k]])
        for k in range(size - 1, -1, -1):
            e[k] = math.exp(x[orders.entrant[low + k]] - most)
            rest[k] = rest[k + 1] + e[k]
        for k in range(size):
            if orders.finished[low + k]:
                begin = orders.tied[low + k] - low
                total += x[orders.entrant[low + k]] - most - math.log(rest[begin])
                one[begin] += 1.0 / rest[begin]
                two[begin] += 1.0 / rest[begin] ** 2
        C, D = 0.0, 0.0
        for k in range(size):
            C += one[k]
            D += two[k]
            i = orders.entrant[low + k]
            surprise[low + k] = (1.0 if orders.finished[low + k] else 0.0) - e[k] * C
            if gradient.size == 0:
                continue
            gradient[i] += surprise[low + k]
            information[i, i] += e[k] * C - e[k] * e[k] * D
            for m in range(k + 1, size):
                j = orders.entrant[low + m]
                information[min(i, j), max(i, j)] -= e[k] * e[m] * D
    return total


def fit_orders(orders: Orders, entrants: int, spread: float, start: Array | None = None) -> OrderFit:
    """Strengths in points of all entrants from all orders at once; beforehand they have mean 0 and this ``spread``.

    >>> import kinelo as kn
    >>> races = kn.read_contests({"race": [1, 1, 1, 2, 2, 2], "driver": list("ABCBAC"), "place": [1, 2, 3, 1, 2, 3]})
    >>> fit_orders(Orders.of(races), 3, 200.0).strength.round().tolist()
    [76.0, 76.0, -152.0]
    """
    x = np.zeros(entrants) if start is None else POINT * start
    precision, surprise = (POINT * spread) ** -2, np.empty(orders.entrant.size)
    steps = 0
    while True:
        gradient, information = -precision * x, np.zeros((entrants, entrants))
        information[np.diag_indices(entrants)] = precision
        likelihood = order_derivatives(orders, x, gradient, information, surprise)
        root: Array = linalg.cholesky(information, overwrite_a=True, check_finite=False)
        step = linalg.cho_solve((root, False), gradient, check_finite=False)
        if gradient @ step < 1e-4 or steps == MOST_STEPS:
            return OrderFit(x / POINT, float(likelihood), POINT * root)
        x = x + step * min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        steps += 1


def order_surprises(orders: Orders, strength: Array) -> Array:
    """How much better each entry did than strengths in points let expect; the sum over a contest is 0."""
    surprise = np.empty(orders.entrant.size)
    order_derivatives(orders, POINT * strength, np.empty(0), np.empty((0, 0)), surprise)
    return surprise


def drawn_orders(contests: Contests, shown: Array) -> NDArray[np.int64]:
    """Entries in the order in which the same fields end by what each of them shows (entries); who did not finish does
    not finish again."""
    return np.lexsort((-shown, contests.ended != FINISHED, contests.contest))


def pools_of_contests(contests: Contests) -> NDArray[np.int64]:
    """The pool of each entrant: those whom contests tie to one another; 0 is the largest, −1 of who never competed."""
    entries, number = contests.entrant.size, len(contests.entrants)
    rows = sparse.coo_array(
        (np.ones(entries), (contests.entrant, contests.contest + number)), shape=(number + len(contests),) * 2
    )
    label = connected_components(rows, directed=False)[1][:number]
    there = np.zeros(number, bool)
    there[contests.entrant] = True
    sizes = np.bincount(label[there], minlength=label.max() + 1)
    rank = np.empty(sizes.size, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    return np.where(there, rank[label], -1)
