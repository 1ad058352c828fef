r"""Strengths as results alone tell them, however opponents are chosen.

Where like meets like the schedule itself tells of strengths, and a model that takes it for random finds them far too
close together. Here every strength begins with a prior so wide that it decides nothing, and the likelihood of all
matches is maximal: x with precision

    Q = Σ_matches w (e_i − e_j)(e_i − e_j)ᵀ + Σ_links (e_k − e_l)(e_k − e_l)ᵀ / v + I/5000²,    w = ν_D b'(z).

The first sum is the weighted Laplacian of the graph of matches. Where strengths move, a side has one strength in every
block of its matches, short enough that its walk within stays below a third of what luck hides, and neighbouring blocks
are linked by the walk: v = f (a² matches + y² years), with a and y of the filter and the factor f that makes the
results likeliest (all strengths integrated out). Draws of N(0, Q⁻¹) are what luck may have added: of whatever is
computed from x, they tell the bias and the error. Newcomers may grow stronger with the years since they entered, by so
much a year for all of them: a walk alone would take that for luck.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from kinelo.advice.audit.gaps import law_of
from kinelo.advice.audit.kernels import CHESS_NU, YEAR, Array, Calendar, Parameters, Strengths
from kinelo.play.formula import kernel
from kinelo.play.laws import points_scale

WIDE_SPREAD = 5000.0
"""Standard deviation of a strength before any match, in points of the chess scale: so wide that it decides nothing.
At 1,000 it would take a fifth of the differences from a ladder in which the nearest of twenty meet."""
HIDDEN_SHARE = 1 / 3
"""Part of the standard error below which the walk within a block stays."""
MOST_BLOCKS = 4_000
LUCK_DRAWS, SEARCH_DRAWS = 48, 16
NEWTON_STEPS, LIKELIHOOD_LEFT, SEARCH_LEFT = 40, 1e-3, 0.3
"""Newton's steps end where the next would raise the logarithm of the density by less than this."""
CG_STEPS, CG_ERROR = 100, 1e-4
"""Conjugate gradients end at this error. Where they take more steps than this, who met whom falls apart along few
matches, and then a factor of Q is sparse."""
MOST_LOG_FACTOR, FACTOR_ERROR = 4.0, 0.4
"""How far from the filter's walk another is sought, and how near: logarithms of its variance."""
LEAST_CUT = 3.0
"""Walk from match to match for which blocks are cut at least, in points of the chess scale."""
USUAL_WALK, WALK_WIDTH = 6.0, 1.5
"""Prior of the walk from match to match, as the filter's: centre in points of the chess scale, width of its
logarithm."""

WIDE_TREND, TREND_STEPS = 500.0, 8
"""Standard deviation of what a year is worth before any match, in points; and steps of the search for it."""
FOUNDING = 0.1
"""Who enters after this part of the matches is a newcomer."""
LEAST_SIDES, LEAST_YEARS = 8, 0.5
"""Sides and years below which nothing is said of a group."""

Solve = Callable[[Array], Array]


class Blocks(NamedTuple):
    """Stretches of matches in which a side has one strength.

    ``side`` and ``clock`` (a² matches + y² years, at the middle) of each block, ``block`` and ``at`` (the clock) of
    both sides in each match (n × 2), ``earlier``, ``later`` and ``walk`` (variance) of neighbouring blocks of a side.
    """

    side: NDArray[np.int64]
    clock: Array
    block: NDArray[np.int64]
    at: Array
    earlier: NDArray[np.int64]
    later: NDArray[np.int64]
    walk: Array


@kernel
def cut_blocks(calendar, per_match, per_year, least, most, block, at):
    """Number the blocks of all sides in order of their beginning, into ``block``, with clocks into ``at`` (n × 2).

    A block ends where the variance of the walk within (``least`` from match to match, at least), times its matches,
    exceeds ``most``. Returns how many there are.
    """
    block_of = np.full(calendar.sides, -1)
    games, began, clock, last = (
        np.zeros(calendar.sides),
        np.zeros(calendar.sides),
        np.zeros(calendar.sides),
        np.zeros(calendar.sides),
    )
    number = 0
    for k in range(calendar.home.size):
        day = calendar.day[k]
        for side in range(2):
            i = calendar.home[k] if side == 0 else calendar.away[k]
            if block_of[i] >= 0:
                clock[i] += per_match + per_year * (day - last[i]) / YEAR
            if block_of[i] < 0 or max(clock[i] - began[i], least * games[i]) * games[i] > most:
                block_of[i] = number
                number += 1
                games[i], began[i] = 0.0, clock[i]
            games[i] += calendar.weight[k]
            last[i] = day
            block[k, side], at[k, side] = block_of[i], clock[i]
    return number


def blocks_of(calendar: Calendar, parameters: Parameters) -> Blocks:
    """Blocks short enough that the walk within them is hidden by luck."""
    n, information = calendar.size, points_scale(parameters.nu, parameters.ties) * parameters.nu
    block, at = np.empty((n, 2), np.int64), np.empty((n, 2))
    per_match, per_year = parameters.walk_per_match**2, parameters.walk_per_year**2
    least = (LEAST_CUT * CHESS_NU / parameters.nu) ** 2
    most, number = HIDDEN_SHARE**2 / information, MOST_BLOCKS + calendar.sides + 1
    while number > MOST_BLOCKS + calendar.sides:
        number = cut_blocks(calendar, per_match, per_year, least, most, block, at)
        most *= 2.0
    side = np.empty(number, np.int64)
    side[block] = np.column_stack([calendar.home, calendar.away])
    clock = np.bincount(block.ravel(), at.ravel(), number) / np.bincount(block.ravel(), minlength=number)
    order = np.lexsort((np.arange(number), side))
    next_one = np.flatnonzero(side[order][1:] == side[order][:-1])
    earlier, later = order[next_one], order[next_one + 1]
    return Blocks(side, clock, block, at, earlier, later, clock[later] - clock[earlier])


class Likelihood:
    """The likelihood of all results in x, one strength for each block."""

    def __init__(self, calendar: Calendar, parameters: Parameters, home: Array, blocks: Blocks) -> None:
        n, number = calendar.size, blocks.side.size
        self.weight, self.result, self.home = calendar.weight, calendar.result, home
        self.nu, self.ties = points_scale(parameters.nu, parameters.ties), parameters.ties
        self.law = law_of(parameters.nu, parameters.ties)
        self.matches = differences(blocks.block[:, 0], blocks.block[:, 1], number)
        self.links = differences(blocks.later, blocks.earlier, number)
        self.walk = blocks.walk
        moved = blocks.walk.sum() / max(2 * n - np.unique(blocks.side).size, 1)
        self.usual_walk = math.log(USUAL_WALK * CHESS_NU / parameters.nu / math.sqrt(max(moved, 1e-300)))
        wide = WIDE_SPREAD * CHESS_NU / parameters.nu
        first = np.ones(number, bool)
        first[blocks.later] = False
        self.prior = np.where(first, wide**-2, 0.0)
        self.size, self.n, self.blocks, self.direct = number, n, blocks, False
        self.by_side = np.lexsort((np.arange(number), blocks.side))

    def solver(self, x: Array, factor: float) -> Solve:
        """What solves Q y = r for the columns of r, at x: conjugate gradients, or a factor of Q once they were slow."""
        Q = self.precision(x, factor)
        whole = factorised(Q) if self.direct else None
        chains = None if self.direct else self.chains(Q, factor)

        def solve(r: Array) -> Array:
            nonlocal whole
            if whole is None and chains is not None:
                y = conjugate_gradients(Q, r, chains, CG_STEPS)
                if y is not None:
                    return y
                self.direct = True
            whole = factorised(Q) if whole is None else whole
            return whole(r)

        return solve

    def chains(self, Q: sparse.csr_array, factor: float) -> Solve:
        """What solves T y = r, where T is Q without what ties two sides: the chain of blocks of each side."""
        place = np.argsort(self.by_side)
        band = np.zeros((2, self.size))
        band[1] = Q.diagonal()[self.by_side]
        band[0, place[self.blocks.later]] = -1.0 / np.maximum(factor * self.walk, 1e-300)
        root = linalg.cholesky_banded(band)

        def solve(r: Array) -> Array:
            y = np.empty_like(r)
            y[self.by_side] = linalg.cho_solve_banded((root, False), r[self.by_side])
            return y

        return solve

    def rows(self, x: Array, factor: float) -> tuple[Array, Array]:
        """Roots of the weights of matches and of links: Q is the sum of their squares along the differences."""
        return np.sqrt(self.information(x)), 1.0 / np.sqrt(np.maximum(factor * self.walk, 1e-300))

    def information(self, x: Array) -> Array:
        """What each match tells of its difference of strengths."""
        return self.weight * self.nu * self.law.b_prime(self.matches @ x + self.home)

    def missing(self, x: Array) -> Array:
        """What each match moves its difference of strengths by."""
        return self.weight * self.nu * (self.result - self.law.b(self.matches @ x + self.home))

    def precision(self, x: Array, factor: float) -> sparse.csr_array:
        """Q at x."""
        game, link = self.rows(x, factor)
        parts = [(self.matches, game), (self.links, link)]
        Q = sparse.diags_array(self.prior).tocsr()
        for rows, root in parts:
            scaled = sparse.diags_array(root) @ rows
            Q = Q + scaled.T @ scaled
        return sparse.csr_array(Q)

    def slope(self, x: Array, factor: float) -> Array:
        """Gradient of the logarithm of the posterior density."""
        walked = (self.links @ x) / np.maximum(factor * self.walk, 1e-300)
        return self.matches.T @ self.missing(x) - self.links.T @ walked - self.prior * x

    def mode(self, x: Array, factor: float, left: float = LIKELIHOOD_LEFT) -> tuple[Array, Solve]:
        """Where the logarithm of the density is ``left`` below its largest value, and what solves Q y = r there."""
        most, steps = 2.0 / self.nu, 0
        while True:
            solve = self.solver(x, factor)
            slope = self.slope(x, factor)
            step = solve(slope[:, None])[:, 0]
            if 0.5 * float(slope @ step) < left or steps >= NEWTON_STEPS:
                return x, solve
            # The law is nearly linear within 1/ν: further is not trusted at once.
            x = x + step * min(1.0, most / max(float(np.abs(self.matches @ step).max()), 1e-12))
            steps += 1

    def regression(self, x: Array, solve: Solve, years: Array) -> Array:
        """By how much strengths would be lower for each point a year that ``years`` (2n × groups) are worth."""
        apart = years[0::2] - years[1::2]
        return solve(self.matches.T @ (self.information(x)[:, None] * apart))

    def trend(
        self, x: Array, factor: float, years: Array, everybody: bool, generator: np.random.Generator
    ) -> tuple[Array, Trend]:
        """What a year is worth to sides in groups, likeliest together with all strengths, which come first.

        Where ``everybody`` is in a group, results do not show that all of them gain alike: that is held at 0.
        """
        groups = years.shape[1]
        free = linalg.null_space(np.ones((1, groups))) if everybody else np.eye(groups)
        own_home, apart, most = self.home, (years[0::2] - years[1::2]) @ free, 2.0 / self.nu
        along, prior = np.zeros(free.shape[1]), np.eye(free.shape[1]) / WIDE_TREND**2
        covariance = np.linalg.inv(prior).astype(float)
        for _ in range(TREND_STEPS):
            self.home = own_home + apart @ along
            x, solve = self.mode(x, factor, SEARCH_LEFT)
            told = self.information(x)[:, None] * apart
            left = apart.T @ told - told.T @ (self.matches @ solve(self.matches.T @ told)) + prior
            covariance = np.linalg.inv(left).astype(float)
            step = covariance @ (apart.T @ self.missing(x) - prior @ along)
            # As in mode: no further at once than the law is nearly linear.
            along = along + step * min(1.0, most / max(float(np.abs(apart @ step).max()), 1e-12))
            if step @ left @ step < SEARCH_LEFT:
                break
        self.home = own_home
        luck = np.linalg.cholesky(covariance) @ generator.standard_normal((along.size, LUCK_DRAWS))
        return x, Trend(free @ along, free @ luck, free @ covariance @ free.T)

    def luck(self, x: Array, factor: float, solve: Solve, normal: Array) -> Array:
        """Draws of N(0, Q⁻¹), a column for each of ``normal`` (matches, links and blocks, in this order)."""
        game, link = self.rows(x, factor)
        cut = (self.n, self.n + link.size)
        pushed = self.matches.T @ (game[:, None] * normal[: cut[0]])
        pushed += self.links.T @ (link[:, None] * normal[cut[0] : cut[1]])
        return solve(pushed + np.sqrt(self.prior)[:, None] * normal[cut[1] :])


def differences(first: NDArray[np.int64], second: NDArray[np.int64], size: int) -> sparse.csr_array:
    """Rows that subtract ``other`` from ``one``."""
    place = np.arange(first.size)
    rows, columns = np.concatenate([place, place]), np.concatenate([first, second])
    values = np.repeat([1.0, -1.0], first.size)
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(first.size, size)))


def factorised(Q: sparse.csr_array) -> Solve:
    """What solves Q y = r for the columns of r, by a sparse factor of Q."""
    whole = splu(
        sparse.csc_array(Q), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    return whole.solve


def conjugate_gradients(Q: sparse.csr_array, r: Array, near: Solve, steps: int) -> Array | None:
    """Q⁻¹ r for all columns at once, preconditioned by what is ``near`` Q⁻¹; None where that takes too many steps."""
    y, left = np.zeros_like(r), r.copy()
    way = near(left)
    level = np.einsum("ij,ij->j", left, way)
    enough = CG_ERROR**2 * np.maximum(level, 1e-300)
    for _ in range(steps):
        pushed = Q @ way
        share = level / np.maximum(np.einsum("ij,ij->j", way, pushed), 1e-300)
        y += share * way
        left -= share * pushed
        scaled = near(left)
        fresh = np.einsum("ij,ij->j", left, scaled)
        if np.all(fresh <= enough):
            return y
        way = scaled + (fresh / np.maximum(level, 1e-300)) * way
        level = fresh
    return None


class Trend(NamedTuple):
    """Points a year by which sides in some groups grow stronger, with draws of luck (groups × draws) and covariance."""

    per_year: Array
    luck: Array
    covariance: Array


@dataclass(frozen=True)
class HindsightStrengths:
    """Strengths of all sides in all blocks, and draws of what luck may have added to them (blocks × draws).

    ``likelihood`` and ``factor`` (of the walk) are where they are likeliest, ``trend`` is what sides of some groups
    gained with the ``years`` since they entered (2n × groups, 0 of others).
    """

    blocks: Blocks
    walk_per_match: float
    walk_per_year: float
    strength: Array = field(repr=False)
    luck: Array = field(repr=False)
    home: Array = field(repr=False)
    likelihood: Likelihood = field(repr=False)
    factor: float
    trend: Trend | None = None
    years: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    def of_matches(self) -> tuple[Array, Array]:
        """Strengths of both sides in each match (n × 2), and draws of luck (n × 2 × draws)."""
        n = self.blocks.block.shape[0]
        strength, luck = self.paths @ self.strength, self.paths @ self.luck
        if self.trend is not None:
            strength, luck = strength + self.years @ self.trend.per_year, luck + self.years @ self.trend.luck
        return strength.reshape(n, 2), luck.reshape(n, 2, -1)

    @cached_property
    def paths(self) -> sparse.csr_array:
        """Rows that take strengths of blocks to those of every appearance (2n): between the middles of two blocks."""
        blocks, number = self.blocks, self.blocks.side.size
        following, before = np.full(number, -1), np.full(number, -1)
        following[blocks.earlier], before[blocks.later] = blocks.later, blocks.earlier
        block, at = blocks.block.ravel(), blocks.at.ravel()
        other = np.where(at >= blocks.clock[block], following[block], before[block])
        other = np.where(other < 0, block, other)
        reach = np.abs(blocks.clock[other] - blocks.clock[block])
        share = np.where(reach > 0, np.abs(at - blocks.clock[block]) / np.where(reach > 0, reach, 1.0), 0.0)
        place = np.arange(block.size)
        values, columns = np.concatenate([1 - share, share]), np.concatenate([block, other])
        rows = np.concatenate([place, place])
        return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(block.size, number)))


def strengths_in_hindsight(
    calendar: Calendar,
    parameters: Parameters,
    filtered: Strengths,
    *,
    growing: list[np.ndarray] | None = None,
    seed: int = 0,
) -> HindsightStrengths:
    """Strengths in every match from all results, whoever met whom.

    ``filtered`` are the strengths of the filter: the search begins there, and their home advantage is taken as it is.
    ``growing`` are the groups of sides (places) that may grow stronger with the years: newcomers, unless given.
    """
    generator = np.random.default_rng(seed)
    blocks = blocks_of(calendar, parameters)
    likelihood = Likelihood(calendar, parameters, filtered.home, blocks)
    own = blocks.block.ravel()
    x = np.bincount(own, filtered.mean.ravel(), likelihood.size) / np.bincount(own, minlength=likelihood.size)
    factor = 1.0
    if blocks.walk.size:
        factor, x = walk_factor(likelihood, x, generator)
    groups = [newcomers(calendar)] if growing is None else growing
    years = years_since_entry(calendar, groups)
    trend = None
    if years.shape[1]:
        rest = calendar.sides - np.unique(np.concatenate(groups)).size
        x, trend = likelihood.trend(x, factor, years, rest < LEAST_SIDES, generator)
        likelihood.home = filtered.home + (years[0::2] - years[1::2]) @ trend.per_year
    x, solve = likelihood.mode(x, factor)
    normal = generator.standard_normal((likelihood.n + blocks.walk.size + likelihood.size, LUCK_DRAWS))
    luck, walk = likelihood.luck(x, factor, solve, normal), math.sqrt(factor)
    if trend is not None:
        luck = luck - likelihood.regression(x, solve, years) @ trend.luck
    per_match, per_year = walk * parameters.walk_per_match, walk * parameters.walk_per_year
    return HindsightStrengths(blocks, per_match, per_year, x, luck, filtered.home, likelihood, factor, trend, years)


def newcomers(calendar: Calendar) -> np.ndarray:
    """Places of the sides that entered after the founding part of the matches."""
    side, first = np.unique(calendar.appearances, return_index=True)
    return side[first // 2 >= FOUNDING * calendar.size]


def years_since_entry(calendar: Calendar, groups: list[np.ndarray]) -> Array:
    """Years since its side entered, of every appearance (2n) in the column of the side's group, else 0.

    Groups of fewer than eight sides, or within half a year, have none.
    """
    side, day = calendar.appearances, np.repeat(calendar.day, 2)
    first = np.zeros(calendar.sides)
    places, debut = np.unique(side, return_index=True)
    first[places] = day[debut]
    since = (day - first[side]) / YEAR
    columns = [np.where(np.isin(side, group), since, 0.0) for group in groups if group.size >= LEAST_SIDES]
    return np.column_stack([one for one in columns if one.max() >= LEAST_YEARS] or [np.zeros((side.size, 0))])


def walk_factor(likelihood: Likelihood, x: Array, generator: np.random.Generator) -> tuple[float, Array]:
    """The factor of the walk that makes results likeliest, all strengths integrated out, and strengths near those.

    There the links' squares, in expectation given all results, are what the walk makes them: Σ E Δ²/fv = their number,
    but for the prior of the filter's own walk, which decides only where matches say nothing.
    """
    normal = generator.standard_normal((likelihood.n + likelihood.walk.size + likelihood.size, SEARCH_DRAWS))

    def excess(log_factor: float) -> float:
        nonlocal x
        factor = math.exp(log_factor)
        x, solve = likelihood.mode(x, factor, SEARCH_LEFT)
        drawn = likelihood.links @ likelihood.luck(x, factor, solve, normal)
        squares = (likelihood.links @ x) ** 2 + (drawn**2).mean(axis=1)
        pull = (0.5 * log_factor - likelihood.usual_walk) / WALK_WIDTH**2
        return float((squares / (factor * likelihood.walk)).sum() - likelihood.walk.size) - pull

    return math.exp(falling_root(excess, MOST_LOG_FACTOR, FACTOR_ERROR)[0]), x


def falling_root(excess: Callable[[float], float], most: float, within: float) -> tuple[float, float]:
    """Where a falling function of a logarithm is 0, sought up to ``most`` either way, and its slope there."""
    low = high = 0.0
    at_low = at_high = excess(0.0)
    while at_low < 0 and low > -most:
        high, at_high, low = low, at_low, low - 1.0
        at_low = excess(low)
    while at_high > 0 and high < most:
        low, at_low, high = high, at_high, high + 1.0
        at_high = excess(high)
    while high - low > within and at_low > 0 > at_high:
        middle = low + (high - low) * min(max(at_low / (at_low - at_high), 0.2), 0.8)
        there = excess(middle)
        low, at_low, high, at_high = (middle, there, high, at_high) if there > 0 else (low, at_low, middle, there)
    return 0.5 * (low + high), (at_high - at_low) / max(high - low, 1e-9)
