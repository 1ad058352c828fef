"""Likelihood of Davidson's model from counts, and its maximum by Newton's method.

With ``x = a_i − a_j + γ·c`` a comparison is won, drawn or lost with probabilities ``e^x, κ, e^{−x}`` over their sum.
Counts of the three results per cell (pair and covariates ``c``) are sufficient. Unknown are ``(a, γ, log κ)``. With
``b = P(win) − P(loss)`` the score is ``(S − b)`` along ``x`` and ``1{draw} − P(draw)`` along ``log κ``, and the
curvature of ``−log L`` is ``[[P(win) + P(loss) − b², −b P(draw)], [−b P(draw), P(draw)(1 − P(draw))]]``. A ridge
``½ ridge Σ (2a)²`` on the log-odds keeps those finite who always won.
"""

from __future__ import annotations

import copy
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import inlined, kernel
from kinelo.play.laws import davidson_chances

Array = NDArray[np.float64]
STEEPEST = 40.0
MOST_STEPS = 60
MOST_HALVINGS = 30
MOST_NEAR_STEPS = 12
CLOSE = 1e-10
"""Newton's method ends when the decrement, twice what the likelihood could still gain, is below this."""

NEAR = 1e-6
"""The same for a draw of the bootstrap: a thousandth of a standard error."""


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
def add_square(M, a, z, n, side, weight):
    """``M += weight · d dᵀ`` with ``d = ∂x``: 1 at ``a``, −1 at ``z``, and the covariates."""
    M[a, a] += weight
    M[z, z] += weight
    M[a, z] -= weight
    M[z, a] -= weight
    for s in range(side.size):
        r = n + s
        M[a, r] += weight * side[s]
        M[r, a] += weight * side[s]
        M[z, r] -= weight * side[s]
        M[r, z] -= weight * side[s]
        for s2 in range(side.size):
            M[r, n + s2] += weight * side[s] * side[s2]


@inlined
def add_cross(M, a, z, n, side, t, weight):
    """Add ``weight · d`` to row and column ``t`` of ``M``."""
    M[a, t] += weight
    M[t, a] += weight
    M[z, t] -= weight
    M[t, z] -= weight
    for s in range(side.size):
        M[n + s, t] += weight * side[s]
        M[t, n + s] += weight * side[s]


@kernel
def accumulate(theta, unknowns, cells, offset, gradient, H, B):
    """``−log L`` (float) at ``theta`` (unknowns), where ``offset`` (cells) is known of ``x``; adds its gradient
    (unknowns) and, where there is room, its curvature ``H`` and the sum of squared scores ``B`` (unknowns, unknowns).
    """
    n, tied = unknowns.n, unknowns.tied
    i, j, c, counts = cells
    q = c.shape[1]
    total = 0.0
    kappa = math.exp(theta[n + q]) if tied else unknowns.kappa
    squares = B.size > 0
    curved = H.size > 0
    side = np.zeros(q)
    for k in range(i.size):
        win, draw, loss = counts[k, 0], counts[k, 1], counts[k, 2]
        m = win + draw + loss
        if m <= 0.0:
            continue
        x = theta[i[k]] - theta[j[k]] + offset[k]
        for s in range(q):
            side[s] = c[k, s]
            x += theta[n + s] * side[s]
        x = min(max(x, -STEEPEST), STEEPEST)
        p_win, p_draw, p_loss = davidson_chances(kappa, x)
        b = p_win - p_loss
        g = m * b - (win - loss)
        v = m * (p_win + p_loss - b * b)
        a, z = i[k], j[k]
        gradient[a] += g
        gradient[z] -= g
        for s in range(q):
            gradient[n + s] += g * side[s]
        if tied:
            gradient[n + q] += m * p_draw - draw
        if not curved:  # a draw of the bootstrap needs the gradient only
            continue
        log_sum = abs(x) - math.log(max(p_win, p_loss))
        total += m * log_sum - (win - loss) * x - (draw * math.log(kappa) if kappa > 0.0 else 0.0)
        add_square(H, a, z, n, side, v)
        if squares:
            u = win * (1.0 - b) ** 2 + draw * b * b + loss * (1.0 + b) ** 2
            add_square(B, a, z, n, side, u)
        if tied:
            t = n + q
            H[t, t] += m * p_draw * (1.0 - p_draw)
            add_cross(H, a, z, n, side, t, -m * b * p_draw)
            if squares:
                B[t, t] += (win + loss) * p_draw * p_draw + draw * (1.0 - p_draw) ** 2
                joint = -p_draw * (win * (1.0 - b) - loss * (1.0 + b)) - b * draw * (1.0 - p_draw)
                add_cross(B, a, z, n, side, t, joint)
    return total


@kernel
def all_chances(x, kappa, out):
    """Win, draw and loss probabilities of every ``x`` (n) into ``out`` (n, 3)."""
    for k in range(x.size):
        out[k, 0], out[k, 1], out[k, 2] = davidson_chances(kappa, x[k])


class Likelihood:
    """``−log L`` plus ridge of some cells, for ``n`` contestants of whom those in ``held`` keep their strength.

    ``offset`` is what is known of ``x`` in every cell, ``kappa`` the draws' weight where it is not sought (``tied``).
    """

    def __init__(
        self,
        cells: Cells,
        n: int,
        ridge: float,
        tied: bool,
        held: NDArray[np.intp],
        centre: float,
        offset: Array,
        kappa: float,
    ) -> None:
        self.cells, self.n, self.ridge, self.tied, self.centre = cells, n, ridge, tied, centre
        self.offset, self.kappa, self.held = offset, kappa, held
        self.size = n + cells.c.shape[1] + tied
        self.free = np.setdiff1d(np.arange(self.size), held)

    def over(self, cells: Cells) -> Likelihood:
        """The same of other counts."""
        twin = copy.copy(self)
        twin.cells = cells
        return twin

    def derivatives(
        self, theta: Array, curved: bool = True, squares: bool = False
    ) -> tuple[float, Array, Array, Array]:
        """Value and gradient, curvature (without it the value is 0), and squared scores where they are asked for."""
        cells, n = self.cells, self.n
        gradient = np.zeros(self.size)
        H, B = (np.zeros((self.size, self.size) if wanted else (0, 0)) for wanted in (curved, squares))
        value = accumulate(theta, Unknowns(n, float(self.kappa), bool(self.tied)), cells, self.offset, gradient, H, B)
        away = theta[:n] - self.centre
        value += 2.0 * self.ridge * float(away @ away)
        gradient[:n] += 4.0 * self.ridge * away
        if curved:
            H[np.arange(n), np.arange(n)] += 4.0 * self.ridge
        return value, gradient, H, B

    def solve(self, H: Array, right: Array) -> Array:
        """``H⁻¹ right`` on the free unknowns; only differences of strengths matter where nobody is held."""
        inner = H[np.ix_(self.free, self.free)]
        if not self.held.size:
            inner[: self.n, : self.n] += np.mean(np.diagonal(inner)[: self.n]) / self.n
        out = np.zeros_like(right)
        out[self.free] = np.linalg.solve(inner, right[self.free])
        return out

    def maximum(self, theta: Array) -> Array:
        """Newton's method from ``theta``, steps halved until the value falls."""
        theta = theta.copy()
        value, gradient, H, _ = self.derivatives(theta)
        for _ in range(MOST_STEPS):
            step = self.solve(H, gradient)
            decrement = float(gradient @ step)
            if decrement < CLOSE * max(1.0, abs(value)) or not math.isfinite(decrement):
                return theta - step if math.isfinite(decrement) else theta
            size = 1.0
            for _ in range(MOST_HALVINGS):
                there = theta - size * step
                found = self.derivatives(there)
                if found[0] < value:
                    break
                size /= 2.0
            else:
                return theta
            theta = there
            value, gradient, H, _ = found
        return theta

    def near(self, theta: Array, inverse: Array) -> Array:
        """The maximum from a place close to it, with the inverse curvature of that place instead of Newton's."""
        start, theta = theta, theta.copy()
        for _ in range(MOST_NEAR_STEPS):
            gradient = self.derivatives(theta, curved=False)[1]
            step = inverse @ gradient
            theta -= step
            if float(gradient @ step) < NEAR:
                return theta
        return self.maximum(start)

    def inverse(self, theta: Array) -> Array:
        """Inverse curvature; zero rows for those who are held."""
        out = self.solve(self.derivatives(theta)[2], np.eye(self.size))
        out[:, self.held] = 0.0
        return out
