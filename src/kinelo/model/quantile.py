r"""Laws known by how they are drawn: performances as a function of one uniform number, made ready for quadrature.

With ``p = Φ(t)`` the mean of any function of the performance is ``∫ f(λ(Φ(t))) φ(t) dt``. The axis of t is cut into
parts over which no team's performance moves further than the outcome function can be trusted to be smooth, and Gauss's
rule is used on each. Parts are halved until both halves together say what the whole does, or hardly carry probability:
performances need not increase with the uniform number, and may jump, as those of mixtures do. Performances further out
than ``reach`` are set to it: results no longer depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinelo.model.validation import Array

Complex = NDArray[np.complex128]
Quantile = Callable[[Array], Array]
"""``quantile(t)``: deviations from the mean at normal deviates t, of shape (laws, len(t))."""

ENDS = 8.0
QUANTILE_PARTS = 32
HALVINGS = 45
NEGLIGIBLE_TAIL = 1e-13
FINE = 32
QUANTILE_TOLERANCE = 1e-10
ROUGH = 1e-12
VALUES_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class LawNodes:
    """Deviations of each law at common nodes, of shape (laws, nodes), and the weights of the nodes."""

    deviation: Array
    weight: Array
    reach: float


def law_nodes(quantile: Quantile, longest: float, reach: float) -> LawNodes:
    """Nodes for laws cut off at ``reach``, close enough for functions that are smooth over ``longest``."""
    from scipy.special import ndtr

    edges = np.linspace(-ENDS, ENDS, QUANTILE_PARTS + 1)
    values = np.clip(quantile(edges), -reach, reach)
    for _ in range(HALVINGS):
        rise = np.abs(np.diff(values, axis=1)).max(axis=0)
        split = (rise > longest) & (np.diff(ndtr(edges)) > NEGLIGIBLE_TAIL)
        if not split.any():
            break
        middle = ((edges[1:] + edges[:-1]) / 2)[split]
        edges = np.concatenate([edges, middle])
        values = np.concatenate([values, np.clip(quantile(middle), -reach, reach)], axis=1)
        order = np.argsort(edges)
        edges, values = edges[order], values[:, order]
    edges = _refined(quantile, edges, longest, reach)
    x, gauss = np.polynomial.legendre.leggauss(10)
    centre, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    t = (centre[:, None] + half[:, None] * x).ravel()
    weight = (half[:, None] * gauss).ravel() * np.exp(-(t**2) / 2)
    kept = weight > 0
    return LawNodes(np.clip(quantile(t[kept]), -reach, reach), weight[kept] / weight.sum(), reach)


def _refined(quantile: Quantile, edges: Array, longest: float, reach: float) -> Array:
    """Halve parts over which waves of length ``2π longest`` are not integrated to rounding by Gauss's rule."""
    from scipy.special import ndtr

    x, gauss = np.polynomial.legendre.leggauss(10)

    def waves(low: Array, high: Array) -> Complex:
        half = (high - low) / 2
        t = (low + half)[:, None] + half[:, None] * x
        deviation = np.clip(quantile(t.ravel()), -reach, reach).reshape(-1, *t.shape)
        weight = half[:, None] * gauss * np.exp(-(t**2) / 2)
        return np.asarray((np.exp(1j * deviation / longest) * weight).sum(axis=-1), dtype=np.complex128)

    low, high, grids = edges[:-1], edges[1:], [edges]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        off = np.abs(waves(low, high) - waves(low, middle) - waves(middle, high)).max(axis=0)
        rough = (off > ROUGH) & (ndtr(high) - ndtr(low) > NEGLIGIBLE_TAIL)
        if not rough.any():
            break
        grids.append(middle[rough])
        low, high = np.concatenate([low[rough], middle[rough]]), np.concatenate([middle[rough], high[rough]])
    return np.sort(np.concatenate(grids))


def furthest(quantile: Quantile, span: float, missing: Callable[[Array], Array]) -> float:
    """Distance c from the mean beyond which a performance need not be known.

    Cutting it off there changes a result only if it lies beyond, and either the opponent, whose mean is at most
    ``span`` away, is halfway there too or the win is not certain yet: ``P(c) (P(h) + missing(h))`` with
    ``h = (c − span)/2`` is at most 1e-10.
    """
    from scipy.special import ndtr

    edges = np.linspace(-ENDS, ENDS, 641)
    values = quantile(edges)
    scale = float(np.abs(values[:, 160:-160]).max())
    for _ in range(HALVINGS):
        # Where performances jump, or rise without end, inside: as rare values lie there as at the ends.
        size = np.maximum(np.abs(values[:, 1:]), np.abs(values[:, :-1]))
        wide = (np.abs(np.diff(values, axis=1)) > 0.25 * (scale + size)).any(axis=0)
        split = wide & (np.diff(ndtr(edges)) > NEGLIGIBLE_TAIL)
        if not split.any():
            break
        middle = ((edges[1:] + edges[:-1]) / 2)[split]
        order = np.argsort(np.concatenate([edges, middle]))
        values = np.concatenate([values, quantile(middle)], axis=1)[:, order]
        edges = np.concatenate([edges, middle])[order]
    within = np.maximum(np.abs(values[:, 1:]), np.abs(values[:, :-1])).max(axis=0)
    order = np.argsort(within)
    distance, chance = within[order], np.diff(ndtr(edges))[order]
    rarely = np.minimum(np.cumsum(chance[::-1])[::-1], 1.0)
    halfway = (distance - span) / 2
    there = np.interp(halfway, distance, rarely, left=1.0)
    matters = rarely * np.minimum(there + missing(np.maximum(halfway, 0.0)), 1.0)
    return float(
        distance[np.argmax(matters <= QUANTILE_TOLERANCE)] if matters[-1] <= QUANTILE_TOLERANCE else distance[-1]
    )


def sum_of_waves(positions: Array, weight: Array, u: Array) -> Complex:
    """``Σ_k weight_k e^{i u x_k}``; equidistant u are split into two levels, which makes it a product of matrices."""
    if u.size <= FINE or not np.allclose(np.diff(u), u[1] - u[0], rtol=1e-9, atol=0):
        return np.asarray(np.exp(1j * np.multiply.outer(u, positions)) @ weight, dtype=np.complex128)
    step = (u[-1] - u[0]) / (u.size - 1)
    coarse = u[0] + step * FINE * np.arange(math.ceil(u.size / FINE))
    fine = np.exp(1j * np.multiply.outer(positions, step * np.arange(FINE))) * weight[:, None]
    size = max(1, VALUES_AT_ONCE // positions.size)
    parts = [coarse[first : first + size] for first in range(0, coarse.size, size)]
    rows = [np.exp(1j * np.multiply.outer(part, positions)) @ fine for part in parts]
    return np.asarray(np.concatenate(rows).ravel()[: u.size], dtype=np.complex128)
