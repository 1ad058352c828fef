r"""Transport and diffusion in one variable, by the fluxes of Scharfetter and Gummel: ``∂_t f = ∂_x(k f) + D∂²_x f``.

``F = (D/h)[B(q)f_i − B(−q)f_{i+1}]`` with B(q) = q/(e^q − 1), ``q = Φ_{i+1} − Φ_i`` and ``Φ' = k/D``: fluxes vanish on
``f ∝ e^{−Φ}``, so the stationary profile is kept to rounding. Without diffusion they are upwind. No flux leaves through
the ends. Steps are implicit, of second order and L-stable (SDIRK).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_banded

from kinelo.model.validation import Array

STAGE = 1 - 1 / math.sqrt(2)


def generator(rises: Array, diffusion: float, width: float) -> Array:
    """The three diagonals, upper first, for the rises of the antiderivative of k from each cell to the next."""
    if diffusion > 0:
        ratio = rises / diffusion
        right, left = _bernoulli(ratio), _bernoulli(-ratio)
        scale = diffusion / width**2
    else:
        # Upwind: what lies higher flows down.
        right, left, scale = np.maximum(-rises, 0.0), np.maximum(rises, 0.0), 1 / width**2
    bands = np.zeros((3, rises.size + 1))
    bands[0, 1:], bands[2, :-1] = scale * left, scale * right
    bands[1, :-1] -= scale * right
    bands[1, 1:] -= scale * left
    return bands


def advanced(density: Array, bands: Array, dt: float) -> Array:
    """Columns of ``density`` after a step; what falls below zero is the error of the step and is cut off."""
    system = -STAGE * dt * bands
    system[1] += 1.0
    first = solve_banded((1, 1), system, _applied(bands, density), check_finite=False)
    second = solve_banded((1, 1), system, _applied(bands, density + (1 - STAGE) * dt * first), check_finite=False)
    moved = np.maximum(density + dt * ((1 - STAGE) * first + STAGE * second), 0.0)
    before, after = density.sum(axis=0), moved.sum(axis=0)
    return moved * np.divide(before, after, out=np.zeros_like(after), where=after > 0)


def shifted_back(density: Array, offset: float, width: float) -> Array:
    """Rows moved by −``offset`` as a whole, less than a cell, by upwind fluxes that leave no mass beyond the ends.

    This returns a mean that the equation conserves, and that upwinding lets drift by the scheme's own error.
    """
    row = density.sum(axis=tuple(range(1, density.ndim)))
    movable = 1 - float((row[-1] if offset < 0 else row[0]) / row.sum())
    if movable <= 1e-9:
        return density
    part = max(-1.0, min(1.0, -offset / (width * movable)))
    if abs(part) < 1e-15:
        return density
    flux = part * (density[:-1] if part > 0 else density[1:])
    result = density.copy()
    result[:-1] -= flux
    result[1:] += flux
    return result


def _applied(bands: Array, density: Array) -> Array:
    result = bands[1][:, None] * density
    result[:-1] += bands[0][1:, None] * density[1:]
    result[1:] += bands[2][:-1, None] * density[:-1]
    return result


def _bernoulli(q: Array) -> Array:
    """``q/(e^q − 1)``, without loss near 0 and without overflow far from it."""
    small = np.abs(q) < 1e-8
    safe = np.where(small, 1.0, np.clip(q, -700, 700))
    return np.where(small, 1 - q / 2, safe / np.expm1(safe))
