r"""Every K on the league's own matches: log-loss by blocks of time, and how sure the best K is.

Ratings run through all matches and the later half is scored. Blocks of time, not matches, are drawn anew (bootstrap),
because ratings remember: what one K loses against another in one match, it also loses in the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kinelo.advice.audit.kernels import Array

BLOCKS_OF_QUARTER = 12
"""Blocks in each quarter of the history."""
BOOTSTRAP_DRAWS = 600
K_LADDER = 1.1
MOST_WIDENED = 3
LEAST_FOLLOWED = 0.1
"""Share of a gap that a K must close within the matches of a side to be tested by them."""

Losses = Callable[[Array], Array]
"""From some K to the log-loss of every match, a row for each."""


@dataclass(frozen=True)
class Difference:
    """How much more one K loses than another, per match, with its 95 % interval and its standard error."""

    mean: float
    low: float
    high: float
    standard_error: float = math.nan


@dataclass(frozen=True)
class KBacktest:
    """Mean log-loss of the later half at every K, and of each quarter of the history.

    Attributes
    ----------
    k
        The K tried, in steps of 10 % and less.
    blocks
        Summed loss by K and block of time; the later half of the blocks is the later half of the matches.
    sizes
        Matches of each block; of contests, pairs of finishers.
    cuts
        Contests of each block, where ``sizes`` are pairs.
    """

    k: Array
    blocks: Array = field(repr=False)
    sizes: Array = field(repr=False)
    cuts: Array | None = field(default=None, repr=False)

    @property
    def log_loss(self) -> Array:
        """Mean log-loss of the later half at every K."""
        part = _later(self.sizes)
        return self.blocks[:, part].sum(axis=1) / self.sizes[part].sum()

    @cached_property
    def best(self) -> float:
        """The K with the least log-loss in the later half."""
        return lowest(self.k, self.log_loss[:, None])[0]

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the best K, blocks of the later half drawn anew."""
        return self._interval(_later(self.sizes))

    def at(self, k: float) -> float:
        """Log-loss of the later half at any K on the curve."""
        return float(np.interp(math.log(k), np.log(self.k), self.log_loss))

    def period(self, quarter: int) -> tuple[float, float, float]:
        """Best K of one quarter of the history, with its 95 % interval."""
        part = slice(quarter * BLOCKS_OF_QUARTER, (quarter + 1) * BLOCKS_OF_QUARTER)
        return lowest(self.k, self.blocks[:, part].sum(axis=1)[:, None])[0], *self._interval(part)

    def difference(self, one: float, other: float) -> Difference:
        """How much more K = one loses in the later half than K = other."""
        return self._test(self._at_every_block(one) - self._at_every_block(other))

    def against(self, losses: Array, k: float) -> Difference:
        """How much more forecasts with these losses (n, all matches) lose in the later half than K = k."""
        return self._test(self._summed(losses) - self._at_every_block(k))

    def saving(self, differences: Array) -> Difference:
        """Mean over the later half of differences in log-loss (n, all matches)."""
        return self._test(self._summed(differences))

    def _at_every_block(self, k: float) -> Array:
        place = np.log(self.k)
        return np.array([np.interp(math.log(k), place, column) for column in self.blocks.T])

    def _summed(self, losses: Array) -> Array:
        return sums_by_block(losses[None, :], self.sizes if self.cuts is None else self.cuts)[0]

    def _test(self, differences: Array) -> Difference:
        """Mean and 95 % interval of block sums, of the later half."""
        part = _later(self.sizes)
        return mean_by_block(differences[part], self.sizes[part])

    def _interval(self, part: slice) -> tuple[float, float]:
        blocks = self.blocks[:, part]
        bests = lowest(self.k, blocks @ _resample(blocks.shape[1]).T)
        low, high = np.quantile(bests, [0.02, 0.98])
        return float(low), float(high)


def backtest(losses: Losses, ks: Array, since: int, counts: Array | None = None, least: float = 0.0) -> KBacktest:
    """Try these K, and others until the best one lies within, down to the ``least``; a loss may be the sum over
    ``counts`` of pairs."""
    tried = losses(ks)
    cuts = block_sizes(since, tried.shape[1])
    sizes = cuts if counts is None else sums_by_block(counts[None, :], cuts)[0]
    blocks = sums_by_block(tried, cuts)
    for _ in range(MOST_WIDENED):
        place = int(np.argmin(KBacktest(ks, blocks, sizes).log_loss))
        if 0 < place < ks.size - 1:
            break
        further = ks[0] * np.geomspace(0.25, 0.8, 6) if place == 0 else ks[-1] * np.geomspace(1.25, 4.0, 6)
        further = further[further >= least]
        if not further.size:
            break
        ks = np.concatenate([ks, further])
        blocks = np.concatenate([blocks, sums_by_block(losses(further), cuts)])
        order = np.argsort(ks)
        ks, blocks = ks[order], blocks[order]
    return KBacktest(ks, blocks, sizes, cuts)


def k_grid(centre: float, also: float, least: float = 0.0) -> Array:
    """K in steps of 10 %, from a quarter to four times the centre, and on to another K; none below the ``least``."""
    centre = max(centre, least)
    reach = math.ceil(math.log(4.0) / math.log(K_LADDER))
    ks = centre * np.exp(math.log(K_LADDER) * np.arange(-reach, reach + 1, dtype=np.float64))
    beyond = np.geomspace(min(also, ks[0]), max(also, ks[-1]), 16)
    ks = np.unique(np.concatenate([ks, beyond[(beyond < 0.99 * ks[0]) | (beyond > 1.01 * ks[-1])], [also]]))
    return ks[ks >= min(least, also)]


def block_sizes(since: int, size: int) -> Array:
    """Matches of each block: as many blocks in the earlier half as in the later one."""
    cuts = np.concatenate(
        [
            np.linspace(0, since, 2 * BLOCKS_OF_QUARTER + 1).round(),
            np.linspace(since, size, 2 * BLOCKS_OF_QUARTER + 1).round()[1:],
        ]
    )
    return np.diff(cuts)


def mean_by_block(sums: Array, sizes: Array) -> Difference:
    """Mean over matches of what was summed by block of time, blocks drawn anew for the interval and the error."""
    chosen = _resample(sizes.size)
    means = (chosen @ sums) / (chosen @ sizes)
    # Twelve or twenty-four blocks: a bootstrap is too narrow by √(1 − 1/B), and normal quantiles by Student's.
    low, high = np.quantile(means, [0.02, 0.98])
    error = float(means.std()) / math.sqrt(1 - 1 / sizes.size)
    return Difference(float(sums.sum() / sizes.sum()), float(low), float(high), error)


def sums_by_block(losses: Array, sizes: Array) -> Array:
    """Losses (rows) summed over blocks of matches (columns)."""
    ends = np.cumsum(sizes).astype(int)
    total = np.concatenate([np.zeros((losses.shape[0], 1)), np.cumsum(losses, axis=1)], axis=1)
    return np.diff(total[:, np.concatenate([[0], ends])], axis=1)


def lowest(ks: Array, losses: Array) -> list[float]:
    """The K at the bottom of each column, by the parabola in log K through its three lowest neighbours."""
    x = np.log(ks)
    minima = []
    for place, column in zip(np.argmin(losses, axis=0), losses.T):
        if 0 < place < ks.size - 1:
            (x0, x1, x2), (y0, y1, y2) = x[place - 1 : place + 2], column[place - 1 : place + 2]
            left, right = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
            bend = (right - left) / (x2 - x0)
            vertex = 0.5 * (x0 + x1 - left / bend) if bend > 0 else x1
            minima.append(math.exp(min(max(vertex, x0), x2)))
        else:
            minima.append(float(ks[place]))
    return minima


def _later(sizes: Array) -> slice:
    return slice(sizes.size // 2, None)


def _resample(blocks: int) -> Array:
    """How often each block is drawn, a row for each bootstrap sample."""
    return np.random.default_rng(0).multinomial(blocks, np.full(blocks, 1 / blocks), BOOTSTRAP_DRAWS).astype(float)
