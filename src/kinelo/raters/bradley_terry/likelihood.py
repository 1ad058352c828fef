"""Likelihood of Davidson's model from counts, and its maximum by Newton's method.

With ``x = a_i − a_j + γ·c`` a comparison is won, drawn or lost with probabilities ``e^x, κ, e^{−x}`` over their sum.
Counts of the three results per cell (pair and covariates ``c``) are sufficient. Unknown are ``(a, γ, log κ)``. With
``b = P(win) − P(loss)`` the score is ``(S − b)`` along ``x`` and ``1{draw} − P(draw)`` along ``log κ``, and the
curvature of ``−log L`` is ``[[P(win) + P(loss) − b², −b P(draw)], [−b P(draw), P(draw)(1 − P(draw))]]``. A ridge
``½ ridge Σ (2a)²`` on the log-odds keeps those finite who always won. So do weak beliefs of ``log κ`` and of the
advantage, each worth less than a match: a few results in which all wins were at home, and the rest drawn, would be
explained without any strength.

Every pair has met a few times or never, so the curvature is kept cell by cell: Newton's steps are found by conjugate
gradients, a pass over the cells each, and the matrix is written out only where its inverse is shown.

*The ridge*: how wide strengths are believed to lie before any comparison, found by forecasts of comparisons left out.
The comparisons are dealt into ``FOLDS``; each fold is forecast from all others with every ridge of a grid. Forecasts
find the ridge of sparse pools, in which most have few comparisons and an estimate without a prior believes each of
them. Where opponents are alike they say little of how far all lie apart, and the evidence would find far too little:
comparisons between equals are forecast well by equal strengths. So the least ridge is taken whose forecasts are not
clearly worse than the best (``CLEARLY``), nor worse by more than ``MOST_LOST``: strengths lie as far apart as results
allow. Of few comparisons nothing is clear, and a ridge too weak makes one match a certainty: a win says 98 % at the
least ridge, 79 % at that of ``FEW``, which is taken below ``LEAST_COMPARISONS``. A table in which everyone is compared
often keeps the least ridge of all.

Comparisons are dealt in an order of names, pairs and results, so that the estimate depends on no order of a file.

*How sure the estimate is*: sandwich covariance, bootstrap, and intervals of ranks.
The sandwich ``A⁻¹ B A⁻¹`` (curvature ``A``, squared scores ``B``) holds where the model is only an approximation; where
votes of one judge hang together, the scores of each judge are summed before they are squared. The
ridge counts in both: a prior of precision λ has curvature λ and an expected squared score of λ. Where comparisons say
nothing, as of who lost once and away where the home side always wins, the prior is what is left: no information is no
precision. The bootstrap draws every count anew from a Poisson law, which is what drawing comparisons with replacement
comes to when they are many; a draw depends on the seed and its number only. A contestant's rank lies
between one plus those surely better and the number of contestants less those surely worse.

Poisson numbers for many means at once come from tables of the distribution function, inverted. A table of votes has few
different counts, so one table serves many cells, and one uniform number and a short search make a draw: several times
faster than rejection, which the bootstrap would otherwise wait for.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.special import ndtri, pdtr

from kinelo.play.formula import borrowing, inlined, kernel
from kinelo.play.laws import STEEPEST, davidson_chances
from kinelo.runtime.device import usable_processors
from kinelo.runtime.limits import check_memory
from kinelo.runtime.workers import check_client, collected, pieces

if TYPE_CHECKING:
    from distributed import Client

Array = NDArray[np.float64]
MOST_LIKELIHOOD_STEPS = 60
MOST_SHORTER_STEPS = 30
MOST_NEAR_STEPS = 12
LEAST_BOOTSTRAP_DECREMENT = 1e-6
"""The same for a draw of the bootstrap: a thousandth of a standard error."""

LEAST_RESIDUAL = 1e-12
MOST_GRADIENT_ROUNDS = 10
"""A step is found when this part of the squared gradient is left, after so many rounds per unknown at most. Newton's
method ends when the decrement, twice what the likelihood could still gain, is below the same part of it."""


USUAL_TIES = 0.5
TIES_WIDTH = 3.0
ADVANTAGE_WIDTH = 2.0
"""What is believed before any comparison: κ within a factor e³ of ½, an advantage of 0 with this standard deviation in
``x``, some 700 rating points."""


class Cells(NamedTuple):
    """Comparisons put together: both contestants (cells), covariates (cells, effects), and how often (by weight) each
    result was seen (cells, 3)."""

    i: NDArray[np.int32]
    j: NDArray[np.int32]
    c: Array
    counts: Array


class Unknowns(NamedTuple):
    """How many contestants there are, κ where it is given, and whether it is sought instead (``tied``)."""

    n: int
    kappa: float
    tied: bool


@inlined
def difference(theta, n, cells, offset, k):
    """``x`` of cell ``k``, where ``offset`` (cells) is known of it."""
    x = theta[cells.i[k]] - theta[cells.j[k]] + offset[k]
    for s in range(cells.c.shape[1]):
        x += theta[n + s] * cells.c[k, s]
    return min(max(x, -STEEPEST), STEEPEST)


@borrowing
def slopes(theta, unknowns, cells, offset, gradient, weights):
    """``−log L`` (float) at ``theta`` (unknowns); adds its gradient (unknowns) and, where there is room, writes its
    curvature (cells, 3): along ``x``, along ``x`` and ``log κ``, along ``log κ``. Without room the value is 0."""
    n, tied, q = unknowns.n, unknowns.tied, cells.c.shape[1]
    kappa = math.exp(theta[n + q]) if tied else unknowns.kappa
    log_kappa = math.log(kappa) if kappa > 0.0 else 0.0
    curved = weights.size > 0
    total = 0.0
    for k in range(cells.i.size):
        win, draw, loss = cells.counts[k, 0], cells.counts[k, 1], cells.counts[k, 2]
        m = win + draw + loss
        if m <= 0.0:
            continue
        x = difference(theta, n, cells, offset, k)
        p_win, p_draw, p_loss = davidson_chances(kappa, x)
        b = p_win - p_loss
        g = m * b - (win - loss)
        gradient[cells.i[k]] += g
        gradient[cells.j[k]] -= g
        for s in range(q):
            gradient[n + s] += g * cells.c[k, s]
        if tied:
            gradient[n + q] += m * p_draw - draw
        if not curved:  # a draw of the bootstrap needs the gradient only
            continue
        log_sum = abs(x) - math.log(max(p_win, p_loss))
        total += m * log_sum - (win - loss) * x - draw * log_kappa
        weights[k, 0] = m * (p_win + p_loss - b * b)
        weights[k, 1] = -m * b * p_draw
        weights[k, 2] = m * p_draw * (1.0 - p_draw)
    return total


@borrowing
def squared_scores(theta, unknowns, cells, offset, weights):
    """Write the sums of squared scores of every cell, in the order of :func:`slopes`, into ``weights`` (cells, 3)."""
    n, q = unknowns.n, cells.c.shape[1]
    kappa = math.exp(theta[n + q]) if unknowns.tied else unknowns.kappa
    for k in range(cells.i.size):
        win, draw, loss = cells.counts[k, 0], cells.counts[k, 1], cells.counts[k, 2]
        p_win, p_draw, p_loss = davidson_chances(kappa, difference(theta, n, cells, offset, k))
        b = p_win - p_loss
        weights[k, 0] = win * (1.0 - b) ** 2 + draw * b * b + loss * (1.0 + b) ** 2
        weights[k, 1] = -p_draw * (win * (1.0 - b) - loss * (1.0 + b)) - b * draw * (1.0 - p_draw)
        weights[k, 2] = (win + loss) * p_draw * p_draw + draw * (1.0 - p_draw) ** 2


@borrowing
def add_product(unknowns, cells, weights, vector, out):
    """Add the product of the matrix that ``weights`` (cells, 3) describe with ``vector`` (unknowns) to ``out``."""
    n, tied, q = unknowns.n, unknowns.tied, cells.c.shape[1]
    t = vector[n + q] if tied else 0.0
    for k in range(cells.i.size):
        i, j = cells.i[k], cells.j[k]
        x = vector[i] - vector[j]
        for s in range(q):
            x += vector[n + s] * cells.c[k, s]
        push = weights[k, 0] * x + weights[k, 1] * t
        out[i] += push
        out[j] -= push
        for s in range(q):
            out[n + s] += push * cells.c[k, s]
        if tied:
            out[n + q] += weights[k, 1] * x + weights[k, 2] * t


@borrowing
def add_diagonal(unknowns, cells, weights, out):
    """Add the diagonal of the same matrix to ``out`` (unknowns)."""
    n, q = unknowns.n, cells.c.shape[1]
    for k in range(cells.i.size):
        out[cells.i[k]] += weights[k, 0]
        out[cells.j[k]] += weights[k, 0]
        for s in range(q):
            out[n + s] += weights[k, 0] * cells.c[k, s] ** 2
        if unknowns.tied:
            out[n + q] += weights[k, 2]


@kernel
def add_matrix(unknowns, cells, weights, M):
    """Add the same matrix to ``M`` (unknowns, unknowns)."""
    n, q = unknowns.n, cells.c.shape[1]
    place, d = np.arange(n - 2, n + q), np.ones(2 + q)  # where ∂x is not 0, and what it is
    for k in range(cells.i.size):
        place[0], place[1], d[1] = cells.i[k], cells.j[k], -1.0
        for s in range(q):
            d[2 + s] = cells.c[k, s]
        for row in range(2 + q):
            for column in range(2 + q):
                M[place[row], place[column]] += weights[k, 0] * d[row] * d[column]
            if unknowns.tied:
                M[place[row], n + q] += weights[k, 1] * d[row]
                M[n + q, place[row]] += weights[k, 1] * d[row]
        if unknowns.tied:
            M[n + q, n + q] += weights[k, 2]


@kernel
def conjugate_gradients(unknowns, cells, weights, added, free, right, tolerance):
    """Solve ``(M + diag(added)) step = right`` for the unknowns that are ``free``, where ``weights`` describe ``M``.

    Unknowns are scaled by the diagonal; it ends when the square of what is left has fallen by ``tolerance``.
    """
    n = right.size
    scale, along, image = added.copy(), np.empty(n), np.empty(n)
    step, left = np.zeros(n), right.copy()
    add_diagonal(unknowns, cells, weights, scale)
    size = 0.0
    for k in range(n):
        scale[k] = 1.0 / scale[k] if free[k] and scale[k] > 0.0 else 0.0
        along[k] = scale[k] * left[k]
        size += left[k] * along[k]
    enough = tolerance * size
    for _ in range(MOST_GRADIENT_ROUNDS * n):
        if not size > enough:
            break
        for k in range(n):
            image[k] = added[k] * along[k]
        add_product(unknowns, cells, weights, along, image)
        steep = 0.0
        for k in range(n):
            steep += along[k] * image[k]
        length, before, size = size / steep, size, 0.0
        for k in range(n):
            step[k] += length * along[k]
            left[k] -= length * image[k]
            size += scale[k] * left[k] * left[k]
        for k in range(n):
            along[k] = scale[k] * left[k] + size / before * along[k]
    return step


@kernel
def all_chances(x, kappa, out):
    """Win, draw and loss probabilities of every ``x`` (n) into ``out`` (n, 3)."""
    for k in range(x.size):
        out[k, 0], out[k, 1], out[k, 2] = davidson_chances(kappa, x[k])


def differences(theta: Array, n: int, cells: Cells, offset: Array) -> Array:
    """``x`` of every cell."""
    return np.clip(
        theta[cells.i] - theta[cells.j] + offset + cells.c @ theta[n : n + cells.c.shape[1]], -STEEPEST, STEEPEST
    )


class Likelihood:
    """``−log L`` plus ridge of some cells, for the contestants among the ``unknowns``, of whom those in ``held`` keep
    their strength.

    ``offset`` is what is known of ``x`` in every cell. The first covariate is the advantage of the first side where it
    is sought (``venue``). Without a ridge nothing is believed before the comparisons.
    """

    def __init__(
        self,
        cells: Cells,
        unknowns: Unknowns,
        ridge: float,
        held: NDArray[np.intp],
        centre: float,
        offset: Array,
        venue: bool,
    ) -> None:
        self.cells, self.unknowns, self.offset, self.held = cells, unknowns, offset, held
        self.n, self.kappa, self.tied = n, _, tied = unknowns
        self.effects = cells.c.shape[1]
        self.size = n + self.effects + tied
        self.free = np.ones(self.size, bool)
        self.free[held] = False
        self.centre, self.added = np.zeros(self.size), np.zeros(self.size)
        self.centre[:n], self.added[:n] = centre, 4.0 * ridge
        if venue and ridge > 0.0:
            self.added[n] = ADVANTAGE_WIDTH**-2
        if tied and ridge > 0.0:
            self.centre[-1], self.added[-1] = math.log(USUAL_TIES), TIES_WIDTH**-2

    def over(self, cells: Any) -> Self:
        """The same of other counts."""
        twin = copy.copy(self)
        twin.cells = cells
        return twin

    def with_ridge(self, ridge: float) -> Self:
        """The same with another ridge."""
        twin = copy.copy(self)
        twin.added = np.concatenate([np.full(self.n, 4.0 * ridge), self.added[self.n :]])
        return twin

    def slopes(self, theta: Array, curved: bool = True) -> tuple[float, Array, Array]:
        """Value, gradient, and curvature of every cell; without it the value is 0."""
        value, gradient, weights = self._of_comparisons(theta, curved)
        away = theta - self.centre
        return value + 0.5 * float(self.added @ away**2), gradient + self.added * away, weights

    def _of_comparisons(self, theta: Array, curved: bool) -> tuple[float, Array, Array]:
        gradient, weights = np.zeros(self.size), np.zeros((self.cells.i.size if curved else 0, 3))
        value = slopes(theta, self.unknowns, self.cells, self.offset, gradient, weights)
        return value, gradient, weights

    def curvature(self, theta: Array) -> Array:
        """Matrix of second derivatives."""
        M = np.diag(self.added)
        self._add_matrix(self.slopes(theta)[2], M)
        return M

    def _add_matrix(self, weights: Array, M: Array) -> None:
        """Add the matrix that such weights describe."""
        add_matrix(self.unknowns, self.cells, weights, M)

    def newton_step(self, weights: Array, free: NDArray[np.bool_], gradient: Array, residual: float) -> Array:
        """Newton's step for the unknowns that are free, by conjugate gradients."""
        return conjugate_gradients(self.unknowns, self.cells, weights, self.added, free, gradient, residual)

    def tells_enough(self, theta: Array, events: Array) -> bool:
        """Whether no ridge could gain forecasts what anybody sees, where ``theta`` is the estimate of a weak one.

        A contestant of whom ``events`` tell ``I`` costs half a nat in all; a prior of the precision ``λ`` with which
        strengths lie around their mean saves ``λ/(I + λ)`` of it.
        """
        strength, told = theta[: self.n], np.zeros(self.size)
        add_diagonal(self.unknowns, self.cells, self.over(self.cells._replace(counts=events)).slopes(theta)[2], told)
        precision = 1.0 / max(float(strength.var()) if self.n else 0.0, WIDEST**-2)
        saved = 0.5 * precision / (told[: self.n] + precision)
        return bool(saved.sum() < LEAST_GAIN * events.sum())

    def losses(self, theta: Array) -> Array:
        """Log-loss of every result of every cell."""
        return -np.log(np.maximum(self._chances(theta), 1e-15))

    def _chances(self, theta: Array) -> Array:
        """Chances of the results of every cell."""
        chances, kappa = np.empty((self.cells.i.size, 3)), math.exp(theta[-1]) if self.tied else self.kappa
        all_chances(differences(theta, self.n, self.cells, self.offset), kappa, chances)
        return chances

    @property
    def worth(self) -> Array:
        """How many comparisons each of what is counted stands for."""
        return np.ones((self.cells.i.size, 3))

    def first_numbers(self, events: Array, names: Sequence[str]) -> Array:
        """How many of ``events`` come before the first of each result of each cell, in an order of names (cells, 3)."""
        cells, rank = self.cells, np.empty(len(names), np.int64)
        rank[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
        one, other = rank[cells.i], rank[cells.j]
        turned = one > other
        sides = np.where(turned[:, None], -cells.c, cells.c)
        order = np.lexsort((*sides.T[::-1], np.maximum(one, other), np.minimum(one, other)))
        seen = np.where(turned[:, None], events[:, ::-1], events)[order]
        first = np.empty_like(events)
        first[order] = (np.cumsum(seen) - seen.ravel()).reshape(seen.shape)
        return np.where(turned[:, None], first[:, ::-1], first)

    def squared_scores(self, theta: Array) -> Array:
        """Matrix of the sums of squared scores."""
        M, weights = np.zeros((self.size, self.size)), np.zeros((self.cells.i.size, 3))
        squared_scores(theta, self.unknowns, self.cells, self.offset, weights)
        add_matrix(self.unknowns, self.cells, weights, M)
        return M

    def squared_scores_by(self, theta: Array, judge: NDArray[np.int64]) -> Array:
        """The same where votes (cells) of one judge hang together: the squares of judges' sums, times ``G/(G − 1)`` of
        ``G`` judges."""
        cells, chances = self.cells, self._chances(theta)
        number = cells.counts.sum(axis=1)
        push = number * (chances[:, 0] - chances[:, 2]) - (cells.counts[:, 0] - cells.counts[:, 2])
        parts = [push, -push, *(push * column for column in cells.c.T)]
        places = [cells.i, cells.j, *(np.full(push.size, self.n + s) for s in range(self.effects))]
        if self.tied:
            parts.append(number * chances[:, 1] - cells.counts[:, 1])
            places.append(np.full(push.size, self.size - 1))
        at = (np.tile(judge, len(parts)), np.concatenate(places))
        votes = np.bincount(judge)
        scores = sparse.coo_array((np.concatenate(parts), at), shape=(votes.size, self.size)).tocsr()
        judges = float(np.count_nonzero(votes))
        return (scores.T @ scores).toarray() * (judges / max(judges - 1.0, 1.0))

    def solve(self, H: Array, right: Array) -> Array:
        """``H⁻¹ right`` on the free unknowns; only differences of strengths matter where nobody is held."""
        inner = H[np.ix_(self.free, self.free)] if self.held.size else H.copy()
        if not self.held.size:
            inner[: self.n, : self.n] += np.mean(np.diagonal(inner)[: self.n]) / self.n
        right = right[self.free] if self.held.size else right
        try:
            part = linalg.cho_solve(linalg.cho_factor(inner, lower=True), right)
        except np.linalg.LinAlgError:  # comparisons say nothing of some unknown, which stays where it is
            part = np.linalg.lstsq(inner, right)[0]
        out = np.zeros((self.size, *right.shape[1:]))
        out[self.free] = part
        return out

    def maximum(self, theta: Array, residual: float = LEAST_RESIDUAL) -> Array:
        """Newton's method from ``theta``, steps halved until the value falls; ``residual`` is what steps may leave."""
        theta, free = theta.copy(), self.free.copy()
        if not self.held.size and not self.added[: self.n].any():
            free[:1] = False  # only differences matter: rounding would drive everybody off together
        value, gradient, weights = self.slopes(theta)
        for _ in range(MOST_LIKELIHOOD_STEPS):
            step = self.newton_step(weights, free, gradient, residual)
            decrement = float(gradient @ step)
            if decrement < residual * max(1.0, abs(value)) or not math.isfinite(decrement):
                return theta - step if math.isfinite(decrement) else theta
            size = 1.0
            for _ in range(MOST_SHORTER_STEPS):
                there = theta - size * step
                slopes = self.slopes(there)
                if slopes[0] < value:
                    break
                size /= 2.0
            else:
                return theta
            theta = there
            value, gradient, weights = slopes
        return theta

    def near(self, theta: Array, inverse: Array) -> Array:
        """The maximum from a place close to it, with the inverse curvature of that place instead of Newton's."""
        start, theta = theta, theta.copy()
        for _ in range(MOST_NEAR_STEPS):
            gradient = self.slopes(theta, curved=False)[1]
            step = inverse @ gradient
            theta -= step
            if float(gradient @ step) < LEAST_BOOTSTRAP_DECREMENT:
                return theta
        return self.maximum(start)

    def inverse(self, theta: Array) -> Array:
        """Inverse curvature; zero rows for those who are held."""
        out = self.solve(self.curvature(theta), np.eye(self.size))
        out[:, self.held] = 0.0
        return out


# The ridge

LEAST_RIDGE = 0.01
RIDGES = tuple(LEAST_RIDGE * 10.0 ** (k / 2) for k in range(8))
"""Precisions of the prior that are tried, in log-odds: spreads of 1,700 to 30 rating points."""

FOLDS = 5
ENOUGH = 20_000
"""Comparisons that are left out in all: beyond that number no further fold is tried."""

LEAST_COMPARISONS, FEW = 30, 3
"""Comparisons below which no ridge is looked for, and which of ``RIDGES`` is taken: strengths spread by 300 points."""

CLEARLY, MOST_LOST = 1.5, 0.01
"""Standard errors by which the forecasts of a ridge are worse when they are clearly worse, and log-loss that it may
cost where that is not clear."""

LEAST_GAIN = 1e-5
"""Log-loss a comparison below which no ridge is looked for."""

LOOSE_RESIDUAL = 1e-6
"""What conjugate gradients may leave of a squared gradient while ridges are compared."""


def first_not_worse(
    tried: Sequence[Likelihood], judge: Likelihood, events: Array, names: Sequence[str], start: Array,
    clearly: float = CLEARLY, few: int = FEW,
) -> int:  # fmt: skip
    """Which of several likelihoods is the first whose forecasts of comparisons left out are not worse than the best by
    more than so many standard errors, or by ``MOST_LOST``; they are held against what ``judge`` says of those.

    ``events`` says how often each result was seen in each cell, without weights (cells, 3); ``names`` are those of the
    contestants, and estimates begin at the unknowns ``start``.
    """
    worth = judge.worth
    if (events * worth).sum() < LEAST_COMPARISONS:
        return few
    before = judge.first_numbers(events, names)
    losses: list[list[Array]] = [[] for _ in tried]
    weights: list[Array] = []
    left_out = 0.0
    for fold in range(FOLDS):
        part = np.divide(_dealt(before, events, fold), events, out=np.zeros_like(events), where=events > 0)
        counts = judge.cells.counts
        theta, weight = start, (counts * part).ravel()
        asked = weight > 0.0
        for k in reversed(range(len(tried))):  # a strong ridge is found at once, and begins the next weaker one
            theta = tried[k].over(tried[k].cells._replace(counts=counts * (1.0 - part))).maximum(theta, LOOSE_RESIDUAL)
            losses[k].append(judge.losses(theta).ravel()[asked])
        weights.append(weight[asked])
        left_out += float(worth.ravel()[asked].sum())
        if left_out >= ENOUGH:
            break
    weight = np.concatenate(weights)
    if weight.size == 0:
        return 0
    scores = np.array([np.concatenate(one) for one in losses])
    best = scores[int((scores @ weight).argmin())]
    for k, own in enumerate(scores):
        gap = own - best
        mean = float(np.average(gap, weights=weight))
        error = float(np.sqrt(np.average((gap - mean) ** 2, weights=weight) / weight.sum()))
        if mean <= min(clearly * error, MOST_LOST):
            return k
    return 0


def _dealt(before: Array, events: Array, fold: int) -> Array:
    """How many of ``events`` consecutive comparisons, of which so many come before, are dealt to a fold."""
    last, first = (np.floor((number - 1.0 - fold) / FOLDS) for number in (before + events, before))
    return np.minimum(last - first, events)


# How sure the estimate is

MOST_TABULATED = 1000.0
GUIDES = 256
WIDEST = 100.0
"""Standard deviation, in natural units, of an unknown of which neither comparisons nor a ridge say anything."""


@njit(cache=True, nogil=True)
def invert(uniform, which, first, offset, cdf, guide, out):
    """Smallest ``n`` with ``F(n) > u``, from where the guide of the table says that the search may begin."""
    for k in range(uniform.size):
        t = which[k]
        n = guide[t, int(uniform[k] * GUIDES)]
        last = offset[t + 1] - offset[t] - 1
        while n < last and cdf[offset[t] + n] <= uniform[k]:
            n += 1
        out[k] = first[t] + n


class Resampling:
    """Draws Poisson numbers with the given means; large ones, and means that differ too much, by rejection."""

    def __init__(self, mean: Array) -> None:
        self.mean = mean
        self.small = mean <= MOST_TABULATED
        means, which = np.unique(mean[self.small], return_inverse=True)
        reach = 9.0 * np.sqrt(means) + 20.0
        first = np.maximum(np.floor(means - reach), 0.0)
        length = (np.ceil(means + reach) - first + 1.0).astype(np.int64)
        self.which, self.first = which, first
        self.offset = np.concatenate([[0], np.cumsum(length)])
        self.cdf = np.concatenate(
            [pdtr(first[t] + np.arange(length[t]), means[t]) for t in range(means.size)] or [np.empty(0)]
        )
        self.guide = np.array(
            [
                np.searchsorted(self.cdf[lo:hi], np.arange(GUIDES) / GUIDES, side="right")
                for lo, hi in zip(self.offset[:-1], self.offset[1:])
            ]
        ).reshape(means.size, GUIDES)

    def __call__(self, generator: np.random.Generator) -> Array:
        """One draw of all."""
        out = np.empty(self.mean.size)
        numbers = np.empty(self.which.size)
        invert(generator.random(self.which.size), self.which, self.first, self.offset, self.cdf, self.guide, numbers)
        out[self.small] = numbers
        out[~self.small] = generator.poisson(self.mean[~self.small])
        return out


def sandwich(likelihood: Likelihood, theta: Array, squared_scores: Array) -> Array:
    """Covariance of all unknowns, zero rows for those held."""
    at, prior = np.diag_indices(likelihood.size), np.maximum(likelihood.added, WIDEST**-2)
    A, B = likelihood.curvature(theta), squared_scores.copy()
    A[at] += prior - likelihood.added
    B[at] += prior
    try:
        half = likelihood.solve(A, linalg.cholesky(B, lower=True))
    except np.linalg.LinAlgError:  # rounding outweighs the prior
        return likelihood.solve(A, likelihood.solve(A, B).T)
    return half @ half.T


def bootstrap(
    likelihood: Likelihood, theta: Array, events: Array | None, draws: int, seed: int, client: Client | None = None,
    judge: NDArray[np.int64] | None = None,
) -> Array:  # fmt: skip
    """Estimates of ``draws`` tables of counts drawn anew, one a row; ``events`` counts comparisons without weights.
    Without them judges are drawn, whose votes the cells are."""
    # Every draw is kept once by itself and once in the table of all.
    size = likelihood.size
    check_memory(16.0 * draws * size, f"A bootstrap of {draws:,} draws of {size:,} unknowns", "use fewer draws")
    if client is None:
        return _draw(range(draws), likelihood, theta, events, seed, judge)
    check_client(client)
    return np.concatenate(collected(client, _draw, pieces(draws, client), likelihood, theta, events, seed, judge))


def _draw(
    numbers: range, likelihood: Likelihood, theta: Array, events: Array | None, seed: int,
    judge: NDArray[np.int64] | None,
) -> Array:  # fmt: skip
    """The draws with these numbers."""
    cells = likelihood.cells
    votes = cells.counts.ravel()
    if events is None:  # a judge is drawn with all votes
        assert judge is not None
        seen, owner = np.arange(votes.size), np.repeat(judge, 3)
        weight, mean = votes, np.ones(int(judge.max(initial=-1)) + 1)
    else:
        seen = np.flatnonzero(events)
        mean = events.ravel()[seen]
        weight, owner = votes[seen] / mean, np.arange(seen.size)
    resample, inverse = Resampling(mean), likelihood.inverse(theta)

    def one(draw: int) -> Array:
        counts = np.zeros(votes.size)
        counts[seen] = weight * resample(np.random.default_rng([seed, draw]))[owner]
        return likelihood.over(cells._replace(counts=counts.reshape(cells.counts.shape))).near(theta, inverse)

    with ThreadPoolExecutor(usable_processors()) as pool:
        return np.array(list(pool.map(one, numbers)))


def rank_intervals(strength: Array, covariance: Array, level: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lowest and highest rank of each, by comparing each with every other at this level."""
    variance = np.diagonal(covariance)
    spread = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2.0 * covariance, 0.0))
    gap = strength[:, None] - strength[None, :]
    sure = gap > ndtri(0.5 + level / 2.0) * spread
    np.fill_diagonal(sure, False)
    return 1 + sure.sum(axis=0), strength.size - sure.sum(axis=1)


def ranks_of_draws(strengths: Array, level: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lowest and highest rank of each over bootstrap draws (rows), at this level."""
    ranks = (-strengths).argsort(axis=1, kind="stable").argsort(axis=1) + 1
    low, high = np.quantile(ranks, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64)
