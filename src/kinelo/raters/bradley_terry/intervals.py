"""How sure the batch estimate is: sandwich covariance, bootstrap, and intervals of ranks.

The sandwich ``A⁻¹ B A⁻¹`` (curvature ``A``, squared scores ``B`` of the comparisons) holds where the model is only an
approximation. The bootstrap draws every count anew from a Poisson law, which is what drawing comparisons with
replacement comes to when they are many; a draw depends on the seed and its number only. A contestant's rank lies
between one plus those surely better and the number of contestants less those surely worse.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from kinelo.raters.bradley_terry.likelihood import Likelihood
from kinelo.raters.bradley_terry.resampling import Resampling
from kinelo.runtime.memory import check_memory
from kinelo.runtime.processors import usable_processors
from kinelo.runtime.workers import check_client, collected, pieces

if TYPE_CHECKING:
    from distributed import Client

Array = NDArray[np.float64]


def sandwich(likelihood: Likelihood, theta: Array, squared: Array) -> Array:
    """Covariance of all unknowns, zero rows for those held; ``squared`` counts comparisons by squared weight."""
    A = likelihood.derivatives(theta)[2]
    B = likelihood.over(likelihood.cells._replace(counts=squared)).derivatives(theta, squares=True)[3]
    half = likelihood.solve(A, B)
    return likelihood.solve(A, half.T)


def bootstrap(
    likelihood: Likelihood, theta: Array, events: Array, draws: int, seed: int, client: Client | None = None
) -> Array:
    """Estimates of ``draws`` tables of counts drawn anew, one a row; ``events`` counts comparisons without weights."""
    if client is None:
        return _drawn(range(draws), likelihood, theta, events, seed)
    check_client(client)
    return np.concatenate(collected(client, _drawn, pieces(draws, client), likelihood, theta, events, seed))


def check_draws(draws: int, size: int) -> None:
    """Refuse, before the first, more draws of so many unknowns than memory has room for."""
    # Every draw is kept once by itself and once in the table of all.
    check_memory(16.0 * draws * size, f"A bootstrap of {draws:,} draws of {size:,} unknowns", "use fewer draws")


def _drawn(numbers: range, likelihood: Likelihood, theta: Array, events: Array, seed: int) -> Array:
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


def drawn_ranks(strengths: Array, level: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lowest and highest rank of each over bootstrap draws (rows), at this level."""
    ranks = (-strengths).argsort(axis=1, kind="stable").argsort(axis=1) + 1
    low, high = np.quantile(ranks, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64)
