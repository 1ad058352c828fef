"""How sure the batch estimate is: sandwich covariance, bootstrap, and intervals of ranks.

The sandwich ``A⁻¹ B A⁻¹`` (curvature ``A``, squared scores ``B``) holds where the model is only an approximation. The
ridge counts in both: a prior of precision λ has curvature λ and an expected squared score of λ. Where comparisons say
nothing, as of who lost once and away where the home side always wins, the prior is what is left: no information is no
precision. The bootstrap draws every count anew from a Poisson law, which is what drawing comparisons with replacement
comes to when they are many; a draw depends on the seed and its number only. A contestant's rank lies
between one plus those surely better and the number of contestants less those surely worse.

Poisson numbers for many means at once, by inverting tables of the distribution function.

A table of votes has few different counts, so one table serves many cells, and one uniform number and a short search
make a draw: several times faster than rejection, which the bootstrap would otherwise wait for.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import ndtri, pdtr

from kinelo.raters.bradley_terry.likelihood import Likelihood
from kinelo.runtime.device import usable_processors
from kinelo.runtime.limits import check_memory
from kinelo.runtime.workers import check_client, collected, pieces

if TYPE_CHECKING:
    from distributed import Client


Array = NDArray[np.float64]
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


Array = NDArray[np.float64]


def sandwich(likelihood: Likelihood, theta: Array, squared: Array) -> Array:
    """Covariance of all unknowns, zero rows for those held; ``squared`` counts comparisons by squared weight."""
    prior = np.diag(np.maximum(likelihood.added, WIDEST**-2))
    A = likelihood.curvature(theta) - np.diag(likelihood.added) + prior
    B = likelihood.over(likelihood.cells._replace(counts=squared)).squared_scores(theta) + prior
    half = likelihood.solve(A, B)
    return likelihood.solve(A, half.T)


def bootstrap(
    likelihood: Likelihood, theta: Array, events: Array, draws: int, seed: int, client: Client | None = None
) -> Array:
    """Estimates of ``draws`` tables of counts drawn anew, one a row; ``events`` counts comparisons without weights."""
    if client is None:
        return _draw(range(draws), likelihood, theta, events, seed)
    check_client(client)
    return np.concatenate(collected(client, _draw, pieces(draws, client), likelihood, theta, events, seed))


def check_draws(draws: int, size: int) -> None:
    """Refuse, before the first, more draws of so many unknowns than memory has room for."""
    # Every draw is kept once by itself and once in the table of all.
    check_memory(16.0 * draws * size, f"A bootstrap of {draws:,} draws of {size:,} unknowns", "use fewer draws")


def _draw(numbers: range, likelihood: Likelihood, theta: Array, events: Array, seed: int) -> Array:
    """The draws with these numbers."""
    cells = likelihood.cells
    seen = np.flatnonzero(events)
    mean = events.ravel()[seen]
    weight = cells.counts.ravel()[seen] / mean
    resample, inverse = Resampling(mean), likelihood.inverse(theta)

    def one(draw: int) -> Array:
        counts = np.zeros(events.size)
        counts[seen] = weight * resample(np.random.default_rng([seed, draw]))
        return likelihood.over(cells._replace(counts=counts.reshape(events.shape))).near(theta, inverse)

    with ThreadPoolExecutor(usable_processors()) as pool:
        return np.array(list(pool.map(one, numbers)))


def contrasts(n: int, held: NDArray[np.intp]) -> Array:
    """What strengths are relative to: those who are held, else the average of all."""
    return np.eye(n) if held.size else np.eye(n) - 1.0 / n


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
