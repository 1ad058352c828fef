"""Compiled sweeps over the density, one row (θ, σ) at a time with r contiguous.

``f`` has shape (labels, ratings). The speed of label i at face j is ``label[i] − drag[i, j]``, with one row of drag for
all labels where a[f] separates. A sweep reads a row, computes fluxes ``Δt/Δr · a h`` at the inner faces (none at the
ends), writes the new row and adds it to the r-marginal of its block of rows: one pass over memory. Marginals are kept
per block and summed in the order of blocks, so results do not depend on how blocks are shared among threads.

``shift`` moves a row, as it is read, by that part of a cell with the upwind flux ``shift · f``. The solver uses it to
return the mean rating exactly to where it belongs, without a pass of its own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kinelo.model.validation import Array

ROWS_TOGETHER = 32
# Emptied cells, and those ahead of a front, would otherwise hold denormal numbers, on which processors are slow.
TINY = 1e-100
# Densities are checked to be finite before they come here; without NaN in mind max and min become single instructions.
_FINITE = {"nnan", "nsz", "contract"}


@njit(cache=True, nogil=True, fastmath=_FINITE)
def sweep_upwind(
    f: Array, speeds: tuple[Array, Array], ratio: float, shift: float, marginals: Array, first: int, last: int
) -> None:
    """Advance blocks ``first`` to ``last`` in place: ``h_{j+1/2} = f_j`` where a ≥ 0, else ``f_{j+1}``.

    Arrays are float64: ``f`` (labels, n), ``marginals`` (blocks, n); ``speeds`` are label (labels,) and drag (1 or
    labels, n + 1).
    """
    label, drag = speeds
    rows, n = f.shape
    up, down = max(shift, 0.0), max(-shift, 0.0)
    for block in range(first, last):
        marginal = marginals[block]
        marginal[:] = 0.0
        for i in range(block * ROWS_TOGETHER, min(rows, (block + 1) * ROWS_TOGETHER)):
            row, d, g = f[i], drag[i % drag.shape[0]], label[i]
            inflow, old = 0.0, row[0]
            cell = old - up * old + down * row[1]
            # Row values are shifted and advanced in one run through the row, which compilers turn into vector code.
            for j in range(n - 2):
                value = row[j + 1]
                beyond = value + up * (old - value) + down * (row[j + 2] - value)
                old = value
                a = ratio * (g - d[j + 1])  # Δt/Δr · a at the face j + ½
                outflow = max(a, 0.0) * cell + min(a, 0.0) * beyond  # upwind: from the cell the flux leaves
                new = cell + (inflow - outflow)
                inflow, cell = outflow, beyond
                row[j] = new
                marginal[j] += new
            beyond = row[n - 1] + up * old - down * row[n - 1]
            a = ratio * (g - d[n - 1])
            outflow = max(a, 0.0) * cell + min(a, 0.0) * beyond
            row[n - 2] = cell + (inflow - outflow)
            row[n - 1] = beyond + outflow  # nothing leaves at the ends
            marginal[n - 2] += row[n - 2]
            marginal[n - 1] += row[n - 1]


@njit(cache=True, nogil=True, fastmath=_FINITE)
def _read(row: Array, shift: float, q: Array) -> None:
    """Copy a row, float64 (n,), to ``q`` (n,), shifted by a part of a cell."""
    n = row.size
    up, down = max(shift, 0.0), max(-shift, 0.0)
    q[0] = row[0] - up * row[0] + down * row[1]
    for j in range(1, n - 1):
        q[j] = row[j] + up * (row[j - 1] - row[j]) + down * (row[j + 1] - row[j])
    q[n - 1] = row[n - 1] + up * row[n - 2] - down * row[n - 1]


@njit(cache=True, nogil=True, fastmath=_FINITE)
def _limited_halves(q: Array, s: Array) -> None:
    """Half of the limited slope of each inner cell of ``q``, float64 (n,), into ``s`` (n,)."""
    # Monotonised central: a slope is at most twice the smaller one-sided difference, so face values lie in [0, 2 q_j].
    for j in range(1, q.size - 1):
        left, right = q[j] - q[j - 1], q[j + 1] - q[j]
        middle = 0.5 * (left + right)
        rising = min(2.0 * min(left, right), middle)
        falling = max(2.0 * max(left, right), middle)
        s[j] = 0.5 * (max(rising, 0.0) + min(falling, 0.0))


@njit(cache=True, nogil=True, fastmath=_FINITE)
def sweep_tvd(
    densities: tuple[Array, Array],
    part: float,
    speeds: tuple[Array, Array],
    ratio: float,
    shift: float,
    marginals: Array,
    first: int,
    last: int,
) -> None:
    """One stage of SSP Runge–Kutta: ``target ← (1 − part) target + part (source + Δt L(source))``.

    ``densities`` are source and target, float64 (labels, n), other arguments those of :func:`sweep_upwind`. The source
    is left shifted, so that the second stage finds the first one's density as it should be.
    """
    (source, target), (label, drag) = densities, speeds
    rows, n = source.shape
    q, s, flux = np.empty(n), np.zeros(n), np.zeros(n + 1)
    keep = 1.0 - part
    for block in range(first, last):
        marginal = marginals[block]
        marginal[:] = 0.0
        for i in range(block * ROWS_TOGETHER, min(rows, (block + 1) * ROWS_TOGETHER)):
            row, d, g = target[i], drag[i % drag.shape[0]], label[i]
            _read(source[i], shift, q)
            if shift != 0.0:
                for j in range(n):
                    source[i, j] = q[j]
            _limited_halves(q, s)
            for j in range(1, n):
                a = ratio * (g - d[j])
                # Face values q ± ½ slope, from the side the flux comes from.
                flux[j] = max(a, 0.0) * (q[j - 1] + s[j - 1]) + min(a, 0.0) * (q[j] - s[j])
            for j in range(n):
                new = keep * row[j] + part * (q[j] + (flux[j] - flux[j + 1]))  # the stage of Runge–Kutta
                new = new if abs(new) > TINY else 0.0
                row[j] = new
                marginal[j] += new


@njit(cache=True, nogil=True, fastmath=_FINITE | {"reassoc"})
def convolve(kernel: Array, mass: Array) -> Array:
    """``Σ_k kernel[n − i + k] mass[k]`` for i = 0 … n: ``kernel`` float64 (2n,), ``mass`` (n,), the result (n + 1,)."""
    n = mass.size
    result = np.empty(n + 1)
    for i in range(n + 1):
        part, total = kernel[n - i : 2 * n - i], 0.0
        for k in range(n):
            total += part[k] * mass[k]
        result[i] = total
    return result


@njit(cache=True, nogil=True)
def shift_rows(f: Array, shift: float, target: Array) -> None:
    """Write the rows of ``f``, shifted and rid of dust, to ``target`` (which may be ``f`` itself)."""
    q = np.empty(f.shape[1])
    for i in range(f.shape[0]):
        _read(f[i], shift, q)
        for j in range(q.size):
            target[i, j] = q[j] if abs(q[j]) > TINY else 0.0


@njit(cache=True, nogil=True)
def label_moments(f: Array, r: Array) -> Array:
    """``Σ_j f``, ``Σ_j r f`` and ``Σ_j r² f`` of every row, of shape (3, labels)."""
    moments = np.empty((3, f.shape[0]))
    for i in range(f.shape[0]):
        m0, m1, m2 = 0.0, 0.0, 0.0
        for j in range(f.shape[1]):
            m0 += f[i, j]
            m1 += r[j] * f[i, j]
            m2 += r[j] * r[j] * f[i, j]
        moments[0, i], moments[1, i], moments[2, i] = m0, m1, m2
    return moments


@njit(cache=True, nogil=True)
def transported(before: Array, after: Array) -> float:
    """Σ |cumulative difference| over the rows of two densities, float64 (labels, n): mass times cells it moved."""
    total = 0.0
    for i in range(before.shape[0]):
        carried = 0.0
        for j in range(before.shape[1] - 1):
            carried += after[i, j] - before[i, j]  # mass that must pass the face
            total += abs(carried)
    return total


@njit(cache=True, nogil=True)
def largest_outflow(label: Array, drag: Array) -> tuple[float, float]:
    """Largest speed at an inner face, and largest sum of the speeds at which one cell loses mass through its faces.

    ``label`` is float64 (labels,), ``drag`` (1 or labels, n + 1).
    """
    fastest, largest = 0.0, 0.0
    faces = drag.shape[1]
    for i in range(label.size):
        d, before = drag[i % drag.shape[0]], 0.0
        for j in range(1, faces - 1):
            a = label[i] - d[j]
            fastest = max(fastest, abs(a))
            largest = max(largest, max(a, 0.0) - min(before, 0.0))  # out above, and out below
            before = a
        largest = max(largest, -min(before, 0.0))
    return fastest, largest
