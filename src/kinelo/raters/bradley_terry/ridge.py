"""How wide strengths are believed to lie before any comparison: the ridge, found by forecasts of comparisons left out.

The comparisons are dealt into ``FOLDS``; each fold is forecast from all others with every ridge of a grid. Forecasts
find the ridge of sparse pools, in which most have few comparisons and an estimate without a prior believes each of
them. Where opponents are alike they say little of how far all lie apart, and the evidence would find far too little:
comparisons between equals are forecast well by equal strengths. So the least ridge is taken whose forecasts are not
clearly worse than the best (``CLEARLY``): strengths lie as far apart as results allow. A table in which everyone is
compared often keeps the least ridge of all.

Comparisons are dealt in an order of names, pairs and results, so that the estimate depends on no order of a file.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinelo.raters.bradley_terry.likelihood import Cells, Likelihood, all_chances, differences

Array = NDArray[np.float64]

LEAST_RIDGE = 0.01
RIDGES = tuple(LEAST_RIDGE * 10.0 ** (k / 2) for k in range(8))
"""Precisions of the prior that are tried, in log-odds: spreads of 1,700 to 30 rating points."""

FOLDS = 5
ENOUGH = 20_000
"""Comparisons that are left out in all: beyond that number no further fold is tried."""

LEAST_COMPARISONS = 30
CLEARLY = 1.5
"""Standard errors by which the forecasts of a ridge are worse when they are clearly worse."""

LOOSE_RESIDUAL = 1e-6
"""What conjugate gradients may leave of a squared gradient while ridges are compared."""


def choose_ridge(likelihood: Likelihood, events: Array, names: Sequence[str], start: Array) -> float:
    """The least ridge whose forecasts of comparisons left out are not clearly worse than those of the best.

    Parameters
    ----------
    likelihood
        Of all comparisons, with any ridge.
    events
        How often each result was seen in each cell, without weights (cells, 3).
    names
        Of the contestants.
    start
        Unknowns at which estimates begin.
    """
    if events.sum() < LEAST_COMPARISONS:
        return LEAST_RIDGE
    before = _first_numbers(likelihood.cells, events, names)
    losses: list[list[Array]] = [[] for _ in RIDGES]
    weights: list[Array] = []
    for fold in range(FOLDS):
        part = np.divide(_dealt(before, events, fold), events, out=np.zeros_like(events), where=events > 0)
        counts = likelihood.cells.counts
        train = likelihood.over(likelihood.cells._replace(counts=counts * (1.0 - part)))
        theta, weight = start, (counts * part).ravel()
        asked = weight > 0.0
        for k in reversed(range(len(RIDGES))):  # a strong ridge is found at once, and begins the next weaker one
            theta = train.with_ridge(RIDGES[k]).maximum(theta, LOOSE_RESIDUAL)
            losses[k].append(_log_losses(train, theta)[asked])
        weights.append(weight[asked])
        if sum(map(len, weights)) >= ENOUGH:
            break
    weight = np.concatenate(weights)
    if weight.size == 0:
        return LEAST_RIDGE
    tried = np.array([np.concatenate(one) for one in losses])
    best = tried[int((tried @ weight).argmin())]
    for ridge, own in zip(RIDGES, tried):
        gap = own - best
        mean = float(np.average(gap, weights=weight))
        error = float(np.sqrt(np.average((gap - mean) ** 2, weights=weight) / weight.sum()))
        if mean <= CLEARLY * error:
            return ridge
    return LEAST_RIDGE


def _first_numbers(cells: Cells, events: Array, names: Sequence[str]) -> Array:
    """How many comparisons come before the first of each result of each cell (cells, 3), in an order of names."""
    rank = np.empty(len(names), np.int64)
    rank[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
    one, other = rank[cells.i], rank[cells.j]
    turned = one > other
    sides = np.where(turned[:, None], -cells.c, cells.c)
    order = np.lexsort((*sides.T[::-1], np.maximum(one, other), np.minimum(one, other)))
    seen = np.where(turned[:, None], events[:, ::-1], events)[order]
    first = np.empty_like(events)
    first[order] = (np.cumsum(seen) - seen.ravel()).reshape(seen.shape)
    return np.where(turned[:, None], first[:, ::-1], first)


def _dealt(before: Array, events: Array, fold: int) -> Array:
    """How many of ``events`` consecutive comparisons, of which so many come before, are dealt to a fold."""
    last, first = (np.floor((number - 1.0 - fold) / FOLDS) for number in (before + events, before))
    return np.minimum(last - first, events)


def _log_losses(likelihood: Likelihood, theta: Array) -> Array:
    """Log-loss of every result in every cell (3 · cells)."""
    chances = np.empty((likelihood.cells.i.size, 3))
    x = differences(theta, likelihood.n, likelihood.cells, likelihood.offset)
    all_chances(x, likelihood.kappa_at(theta), chances)
    return -np.log(np.maximum(chances, 1e-15)).ravel()
