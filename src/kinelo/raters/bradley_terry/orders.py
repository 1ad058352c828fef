r"""Strengths of all who compete from all contests at once: Plackett–Luce.

A contest is won by one of its field with chance ``e^{x_i}/Σ e^{x_j}``, the rest is a contest of the others, and so on:
between two of them that is Bradley and Terry's law. With ``S_k`` the sum of ``e^x`` over those who were not ahead of
entry k, ``C_l = Σ 1/S_k`` and ``D_l = Σ 1/S_k²`` over the entries k that finished no later than l,

    ``∂ log P/∂x_l = [l finished] − e_l C_l``,  ``−∂² log P/∂x_l ∂x_m = [l = m] e_l C_l − e_l e_m D_{min(l, m)}``.

Who ties is chosen from all who tie, and who did not finish is behind all who did, or of a contest in part. Strengths
are normal beforehand, with mean 0 and some spread; orders tell differences only, and those between pools that never
meet not at all.

Where fields are alike, equals are forecast best by equal strengths, and a prior of independent strengths that suits
forecasts would lay all of them together. There the weakest prior is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from kinelo.matches.contests import FINISHED, Contests
from kinelo.play.formula import kernel
from kinelo.raters.bradley_terry.likelihood import MOST_GRADIENT_ROUNDS, Cells, Likelihood, Unknowns

Array = NDArray[np.float64]
POINT = math.log(10.0) / 400.0
"""x for one point: between two entrants the chances are those of Elo."""
LONGEST_STEP, MOST_STEPS = 2.0, 40
CLEARLY_ALIKE = 0.5
"""Correlation of strengths in a field from which on the weakest prior is taken."""


class Orders(NamedTuple):
    """Orders as compiled loops take them: where the entries of each begin, and of each entry who it is, the first entry
    of those that it ties with, and whether it finished; entries stand in order of their places. Each is of a contest,
    of which it counts for a ``share``, and contests count so often (``counts``)."""

    first: NDArray[np.int64]
    entrant: NDArray[np.int64]
    tied: NDArray[np.int64]
    finished: NDArray[np.bool_]
    contest: NDArray[np.int64]
    share: Array
    counts: Array

    @classmethod
    def of(cls, contests: Contests) -> Orders:
        """The orders of these contests, one for each, which counts once; who did not finish stands behind all."""
        place, n, number = contests.place, contests.entrant.size, len(contests)
        new = np.ones(n, bool)
        new[1:] = place[1:] != place[:-1]
        new[contests.first[:-1]] = True
        tied = np.maximum.accumulate(np.where(new, np.arange(n), 0))
        finished, ones = contests.ended == FINISHED, np.ones(number)
        return cls(contests.first, contests.entrant.astype(np.int64), tied, finished, np.arange(number), ones, ones)

    def with_retirement(self, retirement: float) -> Orders:
        """The same where not to finish tells so much: 0 nothing, 1 as much as to finish last.

        A contest that some did not finish is the order of those who did, and that of all for ``retirement`` of it.
        """
        sizes = np.diff(self.first)
        contest = np.repeat(np.arange(sizes.size), sizes)
        left = np.bincount(contest, self.finished, sizes.size).astype(np.int64)
        broken = left < sizes
        if retirement == 1.0 or not broken.any():
            return self
        all_too = broken & (retirement > 0.0)
        entries = np.append(np.flatnonzero(self.finished), np.flatnonzero(all_too[contest]))
        new = (self.tied == np.arange(self.tied.size))[entries]
        first = np.cumsum(np.concatenate([[0], left, sizes[all_too]]))
        tied = np.maximum.accumulate(np.where(new, np.arange(new.size), 0))
        of = np.append(np.arange(sizes.size), np.flatnonzero(all_too))
        share = np.append(np.where(broken, 1.0 - retirement, 1.0), np.full(int(all_too.sum()), retirement))
        return Orders(first, self.entrant[entries], tied, self.finished[entries], of, share, self.counts)


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
def order_levels(orders, x, levels, parts):
    """Log-likelihood of every order at x (entrants) into ``levels``; into ``parts`` (entries, 4) how much better each
    entry did than expected, which is its part in the gradient, and ``e``, ``e C`` and ``D`` of the information."""
    for c in range(orders.first.size - 1):
        low, high = orders.first[c], orders.first[c + 1]
        count = orders.share[c] * orders.counts[orders.contest[c]]
        size, total, most = high - low, 0.0, -np.inf
        rest, linear, quadratic = np.zeros(size + 1), np.zeros(size), np.zeros(size)
        for k in range(low, high):
            most = max(most, x[orders.entrant[k]])
        for k in range(size - 1, -1, -1):
            parts[low + k, 1] = math.exp(x[orders.entrant[low + k]] - most)
            rest[k] = rest[k + 1] + parts[low + k, 1]
        for k in range(size):
            if orders.finished[low + k]:
                begin = orders.tied[low + k] - low
                total += x[orders.entrant[low + k]] - most - math.log(rest[begin])
                linear[begin] += count / rest[begin]
                quadratic[begin] += count / rest[begin] ** 2
        levels[c] = count * total
        C, D = 0.0, 0.0
        for k in range(size):
            C += linear[k]
            D += quadratic[k]
            parts[low + k, 2], parts[low + k, 3] = parts[low + k, 1] * C, D
            parts[low + k, 0] = (count if orders.finished[low + k] else 0.0) - parts[low + k, 2]


@kernel
def add_information(orders, parts, M):
    """Add what orders tell to ``M`` (entrants × entrants, above the diagonal)."""
    for c in range(orders.first.size - 1):
        for k in range(orders.first[c], orders.first[c + 1]):
            i, e, D = orders.entrant[k], parts[k, 1], parts[k, 3]
            M[i, i] += parts[k, 2] - e * e * D
            for m in range(k + 1, orders.first[c + 1]):
                j = orders.entrant[m]
                M[min(i, j), max(i, j)] -= e * parts[m, 1] * D


@kernel
def add_information_times(orders, parts, vector, out):
    """Add the product of what orders tell with ``vector`` (entrants) to ``out``, without writing the matrix out."""
    for c in range(orders.first.size - 1):
        behind, ahead = 0.0, 0.0  # Σ e v of those after an entry, and Σ e v D up to it
        for k in range(orders.first[c], orders.first[c + 1]):
            behind += parts[k, 1] * vector[orders.entrant[k]]
        for k in range(orders.first[c], orders.first[c + 1]):
            i, weighted = orders.entrant[k], parts[k, 1] * vector[orders.entrant[k]]
            behind -= weighted
            ahead += weighted * parts[k, 3]
            out[i] += parts[k, 2] * vector[i] - parts[k, 1] * (ahead + parts[k, 3] * behind)


def order_derivatives(orders: Orders, x: Array) -> tuple[float, Array]:
    """Log-likelihood of all orders at x, and the parts of entries in what follows (:func:`order_levels`)."""
    levels, parts = np.empty(orders.share.size), np.empty((orders.entrant.size, 4))
    order_levels(orders, x, levels, parts)
    return float(levels.sum()), parts


class OrderLikelihood(Likelihood):
    """``−log P`` plus ridge of some orders: :class:`Likelihood`, with ``x = 2a``, where many are compared at once."""

    cells: Any

    def __init__(self, orders: Orders, n: int, ridge: float, held: NDArray[np.intp], centre: float) -> None:
        none = np.empty(0, np.int32)
        nothing = Cells(none, none, np.empty((0, 0)), np.empty((0, 3)))
        super().__init__(nothing, Unknowns(n, 0.0, False), ridge, held, centre, np.empty(0), False)
        self.cells = orders

    def _of_comparisons(self, theta: Array, curved: bool) -> tuple[float, Array, Array]:
        level, parts = order_derivatives(self.cells, 2.0 * theta)
        gradient: NDArray[Any] = -2.0 * np.bincount(self.cells.entrant, parts[:, 0], self.n)
        return -level, gradient, parts

    def _add_matrix(self, weights: Array, M: Array) -> None:
        upper = np.zeros_like(M)
        add_information(self.cells, weights, upper)
        M += 4.0 * (upper + np.triu(upper, 1).T)

    def newton_step(self, weights: Array, free: NDArray[np.bool_], gradient: Array, residual: float) -> Array:
        """Newton's step for the unknowns that are free, by conjugate gradients."""
        scale = self.added + 4.0 * np.bincount(
            self.cells.entrant, weights[:, 2] - weights[:, 1] ** 2 * weights[:, 3], self.n
        )
        scale = np.where(free & (scale > 0.0), 1.0 / np.maximum(scale, 1e-300), 0.0)

        def product(vector: Array) -> Array:
            image = np.zeros(self.n)
            add_information_times(self.cells, weights, np.where(free, vector, 0.0), image)
            return np.where(free, 4.0 * image + self.added * vector, 0.0)

        step, left = np.zeros(self.n), np.where(free, gradient, 0.0)
        along = scale * left
        size = float(left @ along)
        enough = residual * size
        for _ in range(MOST_GRADIENT_ROUNDS * self.n):
            if not size > enough:
                break
            image = product(along)
            length = size / float(along @ image)
            step, left = step + length * along, left - length * image
            before, size = size, float(left @ (scale * left))
            along = scale * left + size / before * along
        return step

    def tells_enough(self, theta: Array, events: Array) -> bool:
        """Whether fields are so alike that the weakest prior is taken."""
        return self.alike(theta) > CLEARLY_ALIKE

    def alike(self, theta: Array) -> float:
        """How alike the strengths of one field are: their correlation over all appearances."""
        orders: Orders = self.cells
        sizes, x = np.diff(orders.first), theta[orders.entrant]
        field = np.repeat(np.arange(sizes.size), sizes)
        inner = x - (np.bincount(field, x) / sizes)[field]
        within, over = float(inner @ inner) / max(float((sizes - 1).sum()), 1.0), float(x.var())
        return 1.0 - within / over if over > 0.0 else 0.0

    def losses(self, theta: Array) -> Array:
        """Minus the log-likelihood of every contest."""
        orders = self.cells._replace(counts=np.ones_like(self.cells.counts))
        levels = np.empty(orders.share.size)
        order_levels(orders, 2.0 * theta, levels, np.empty((orders.entrant.size, 4)))
        total: NDArray[Any] = np.bincount(orders.contest, levels, orders.counts.size)
        return -total

    @property
    def worth(self) -> Array:
        """How many comparisons a contest stands for: who comes next, but for the last."""
        orders: Orders = self.cells
        sizes = np.bincount(orders.contest, np.diff(orders.first) * orders.share, orders.counts.size)
        return np.maximum(sizes - 1.0, 0.0)

    def first_numbers(self, events: Array, names: Sequence[str]) -> Array:
        """How many contests come before each, in their order."""
        before: NDArray[Any] = np.cumsum(events) - events
        return before

    def squared_scores(self, theta: Array) -> Array:
        """Matrix of the sums of squared scores of contests."""
        orders: Orders = self.cells
        _, parts = order_derivatives(orders._replace(counts=np.ones_like(orders.counts)), 2.0 * theta)
        contest = np.repeat(orders.contest, np.diff(orders.first))
        scores = sparse.csr_array((2.0 * parts[:, 0], (contest, orders.entrant)), shape=(orders.counts.size, self.n))
        return (scores.T @ sparse.diags_array(orders.counts) @ scores).toarray()


def fit_orders(orders: Orders, entrants: int, spread: float, start: Array | None = None) -> OrderFit:
    """Strengths in points of all entrants from all orders at once; beforehand they have mean 0 and this ``spread``.

    >>> import kinelo as kn
    >>> races = kn.read_contests({"race": [1, 1, 1, 2, 2, 2], "driver": list("ABCBAC"), "place": [1, 2, 3, 1, 2, 3]})
    >>> fit_orders(Orders.of(races), 3, 200.0).strength.round().tolist()
    [76.0, 76.0, -152.0]
    """
    x = np.zeros(entrants) if start is None else POINT * start
    precision = (POINT * spread) ** -2
    steps = 0
    while True:
        likelihood, parts = order_derivatives(orders, x)
        gradient = np.bincount(orders.entrant, parts[:, 0], entrants) - precision * x
        information = np.zeros((entrants, entrants))
        information[np.diag_indices(entrants)] = precision
        add_information(orders, parts, information)
        root: Array = linalg.cholesky(information, overwrite_a=True, check_finite=False)
        step = linalg.cho_solve((root, False), gradient, check_finite=False)
        if gradient @ step < 1e-4 or steps == MOST_STEPS:
            return OrderFit(x / POINT, likelihood, POINT * root)
        x = x + step * min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        steps += 1


def order_surprises(orders: Orders, strength: Array) -> Array:
    """How much better each entry did than strengths in points let expect; the sum over a contest is 0."""
    return order_derivatives(orders, POINT * strength)[1][:, 0]


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
