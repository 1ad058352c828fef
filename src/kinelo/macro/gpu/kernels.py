"""Steps of the kinetic equation on the device, for ``w ≡ 1``, as many as are asked for in one launch.

Every multiprocessor has one block. A step has three parts, after each of which all blocks wait for one another: every
cell is moved and each block adds its masses up over its labels; these sums are added up, in a fixed order, to the
marginal of r; that is recentred and convolved with b for the speeds of the next step. Asking for a launch takes as
long as such a part, hence the one launch.

Densities lie with r first and labels side by side: a thread has one label and a few cells of r next to one another,
so that it reads a cell once and shares what flows through a face between the cells on both its sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as numba_cuda
from numba import float64

from kinelo.macro.kernels import TINY
from kinelo.macro.scheme import LEAST_SHIFT
from kinelo.runtime.device import simulated

cuda: Any = numba_cuda

IMITATED = simulated()
LANES, WARPS = (8, 2) if simulated() else (32, 32)
"""Labels side by side, and cells of r that are under way in a block, counted in CELLS."""

CELLS_OF_THREAD, HALO, HALF = 8, 3, 4
"""Cells of a thread, what it looks at on each side of them, and how many are added up at a time."""

SEEN = CELLS_OF_THREAD + 2 * HALO
THREADS = LANES * WARPS
SCRATCH = HALF * THREADS
TILE, GROUP = (4, 2) if simulated() else (8, 16)
"""Cells of r that a block takes at a time when it adds up or convolves, and summands of a partial sum."""

DEPTH = THREADS // TILE
"""Threads that share a sum."""

REGISTERS = 65536 // THREADS
"""Of a thread, so that a block finds room."""

SHIFT, UPWARDS, DOWNWARDS, UPWARDS_EVER, DOWNWARDS_EVER = range(5)
"""Where the shift, the largest speeds up and down, and the largest since the last look stand among the facts."""


def device(function: Any) -> Any:
    """A function for kernels."""
    return cuda.jit(function, device=True)


def kernel(function: Any) -> Any:
    """A kernel of which a multiprocessor can hold a block of THREADS."""
    return cuda.jit(function) if simulated() else cuda.jit(function, max_registers=REGISTERS)


@device
def meet(arrived, expected):
    """Wait until ``expected`` arrivals of blocks have been counted; the count goes on from launch to launch."""
    cuda.syncthreads()
    if cuda.gridDim.x > 1:
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(arrived, 0, 1)
            while cuda.atomic.add(arrived, 0, 0) < expected:
                pass
            cuda.threadfence()
        cuda.syncthreads()


@device
def wait_for_warp():
    """Wait for the other lanes; where kernels are only imitated, for the whole block."""
    if IMITATED:
        cuda.syncthreads()
    else:
        cuda.syncwarp()


@device
def look(f, at, wide, first, n, shift, cells):
    """Fill ``cells`` with SEEN cells of a label, ``first − HALO`` and on, from place ``at`` in steps of ``wide``.

    All but the outermost are shifted by a part of a cell: upwind, with no flux through the ends.
    """
    for k in range(SEEN):
        cells[k] = f[at]
        at = np.uint32(at + wide)
    if shift > 0.0:
        before = cells[0]
        for k in range(1, SEEN):
            value = cells[k]
            out = value if first + k != n - 1 + HALO else 0.0
            cells[k] = value + shift * (before - out)
            before = value
    elif shift < 0.0:
        after = cells[SEEN - 1]
        for k in range(SEEN - 2, -1, -1):
            value = cells[k]
            out = value if first + k != HALO else 0.0
            cells[k] = value - shift * (after - out)
            after = value


@device
def speed(face, n, label, drag, ratio):
    """Cells that a label moves on in a step at a face; none at the ends."""
    return ratio * (label - drag[np.uint32(face)]) if 0 < face < n else 0.0


@device
def upwind_flows(cells, slopes, first, n, label, drag, ratio, flows):
    """What flows through the faces of some cells in a step: the value on the side the speed comes from."""
    for k in range(CELLS_OF_THREAD + 1):
        a = speed(np.int32(first + k), n, label, drag, ratio)
        flows[k] = a * (cells[k + HALO - 1] if a >= 0.0 else cells[k + HALO])


@device
def half_slope(before, here, after):
    """Half of the monotonised-central slope of a cell."""
    left, right = here - before, after - here
    middle = 0.5 * (left + right)
    return 0.5 * (max(min(2.0 * min(left, right), middle), 0.0) + min(max(2.0 * max(left, right), middle), 0.0))


@device
def tvd_flows(cells, slopes, first, n, label, drag, ratio, flows):
    """What flows through the faces of some cells in a step, where the density is a line within each cell."""
    for k in range(CELLS_OF_THREAD + 2):
        j, at = np.int32(first + k - 1), k + HALO - 1
        slopes[k] = half_slope(cells[at - 1], cells[at], cells[at + 1]) if 0 < j < n - 1 else 0.0
    for k in range(CELLS_OF_THREAD + 1):
        a, at = speed(np.int32(first + k), n, label, drag, ratio), k + HALO
        flows[k] = max(a, 0.0) * (cells[at - 1] + slopes[k]) + min(a, 0.0) * (cells[at] - slopes[k + 1])


@device
def place_of_thread():
    """The number of this thread's warp in the block, and its own in the warp."""
    thread = np.uint32(cuda.threadIdx.x)
    warp = np.uint32(thread // np.uint32(LANES))
    return warp, np.uint32(thread - warp * np.uint32(LANES))


@device
def add_labels(scratch, news, half, first, n, afresh, sums):
    """Add HALF of the cells of a thread up over the labels of its warp, in a fixed order."""
    warp, lane = place_of_thread()
    base, lanes = np.uint32(warp * np.uint32(HALF * LANES)), np.uint32(LANES)
    place = np.uint32(base + lane)
    for k in range(HALF):
        scratch[np.uint32(place + np.uint32(k) * lanes)] = news[half * HALF + k]
    wait_for_warp()
    parts = np.uint32(LANES // HALF)
    column = np.uint32(lane // parts)
    there = np.uint32(base + column * lanes + (lane - column * parts))
    total = 0.0
    for k in range(HALF):
        total += scratch[np.uint32(there + np.uint32(k) * parts)]
    wait_for_warp()
    scratch[place] = total
    wait_for_warp()
    j = np.uint32(first + half * HALF + lane)
    if lane < HALF and j < n:
        there = np.uint32(base + lane * parts)
        total = 0.0
        for k in range(LANES // HALF):
            total += scratch[np.uint32(there + np.uint32(k))]
        sums[np.uint32(cuda.blockIdx.x), j] = total if afresh else sums[np.uint32(cuda.blockIdx.x), j] + total
    wait_for_warp()


def mover(flows_of: Any, *, stages: bool) -> Any:
    """The part of a step that moves the cells: what flows through faces is up to ``flows_of``."""

    @device
    def move(scratch, densities, part, shift, ratio, state):
        """``target ← (1 − part) before + part (source + Δt L(source))``; ``moved`` becomes the shifted source.

        ``densities`` are source, before, target and moved; a scheme without stages has neither ``before`` nor
        ``moved`` nor ``part``.
        """
        source, before, target, moved = densities
        _volume, _offset, _mass, drag, _facts, sums, label = state
        cells = cuda.local.array(SEEN, float64)
        slopes, flows = cuda.local.array(SEEN, float64), cuda.local.array(SEEN, float64)
        news = cuda.local.array(CELLS_OF_THREAD, float64)
        wide, n = np.uint32(label.size), np.int32(sums.shape[1])
        warp, lane = place_of_thread()
        column = np.uint32(cuda.blockIdx.x * LANES + lane)
        afresh = True
        while column < wide:
            begin = np.int32(0)
            while begin < n:
                first = np.int32(begin + warp * CELLS_OF_THREAD)
                if first < n:
                    at = np.uint32(np.uint32(first) * wide + column)
                    look(source, at, wide, first, n, shift, cells)
                    flows_of(cells, slopes, first, n, label[column], drag, ratio, flows)
                    at = np.uint32(at + np.uint32(HALO) * wide)
                    for k in range(CELLS_OF_THREAD):
                        here = cells[k + HALO]
                        new = here + (flows[k] - flows[k + 1])
                        if stages and part == 1.0:
                            moved[at] = here
                        elif stages:
                            new = (1.0 - part) * before[at] + part * new
                        new = new if abs(new) > TINY and first + k < n else 0.0
                        target[at] = new
                        news[k] = new
                        at = np.uint32(at + wide)
                add_labels(scratch, news, 0, first, n, afresh, sums)
                add_labels(scratch, news, 1, first, n, afresh, sums)
                begin = np.int32(begin + WARPS * CELLS_OF_THREAD)
            column = np.uint32(column + cuda.gridDim.x * LANES)
            afresh = False

    return move


move_upwind, move_tvd = mover(upwind_flows, stages=False), mover(tvd_flows, stages=True)


@device
def fold(scratch, part, place, total):
    """Add up what DEPTH parts have for a place, in a fixed order; every thread of the block gets the sum."""
    tile, groups = np.uint32(TILE), np.uint32(DEPTH // GROUP)
    place_of_part = np.uint32(part * tile + place)
    cuda.syncthreads()
    scratch[place_of_part] = total
    cuda.syncthreads()
    if part < groups:
        total = 0.0
        at = np.uint32(part * np.uint32(GROUP * TILE) + place)
        for _ in range(GROUP):
            total += scratch[at]
            at = np.uint32(at + tile)
    cuda.syncthreads()
    if part < groups:
        scratch[place_of_part] = total
    cuda.syncthreads()
    total, at = 0.0, np.uint32(place)
    for _ in range(DEPTH // GROUP):
        total += scratch[at]
        at = np.uint32(at + tile)
    return total


@device
def add_up(scratch, sums, volume, mass):
    """The sums of blocks added up to the mass in every cell of r."""
    n, thread = np.int32(mass.size), np.uint32(cuda.threadIdx.x)
    part, place = np.uint32(thread // np.uint32(TILE)), np.uint32(thread % np.uint32(TILE))
    tile = np.int32(cuda.blockIdx.x)
    while tile * TILE < n:
        j = np.int32(tile * TILE + place)
        total = 0.0
        if j < n:
            block = np.int32(part)
            while block < sums.shape[0]:
                total += sums[np.uint32(block), np.uint32(j)]
                block = np.int32(block + DEPTH)
        total = fold(scratch, part, place, total)
        if part == 0 and j < n:
            mass[np.uint32(j)] = total * volume
        tile = np.int32(tile + cuda.gridDim.x)


@device
def first_moment(scratch, mass, offset, weights):
    """Copy the masses to ``weights`` and return their mean offset, added up in a fixed order."""
    thread, n, total = np.uint32(cuda.threadIdx.x), np.uint32(mass.size), 0.0
    j = thread
    while j < n:
        here = mass[j]
        weights[j] = here
        total += here * offset[j]
        j = np.uint32(j + THREADS)
    total = fold(scratch, np.uint32(thread // np.uint32(TILE)), np.uint32(thread % np.uint32(TILE)), total)
    cuda.syncthreads()
    if thread < TILE:
        scratch[thread] = total
    cuda.syncthreads()
    total = 0.0
    for k in range(TILE):
        total += scratch[np.uint32(k)]
    return total


@device
def find_speeds(scratch, weights, state, shape, values, recentre):
    """From the masses in cells of r, recentred if asked, to the speeds at tiles of faces.

    Every block that has faces finds the same shift; the one with the first face notes it. ``values`` are a table that
    holds those of b, and where they begin.
    """
    _volume, offset, mass, drag, facts, _sums, _label = state
    _of_b, width, low, high = shape
    table, skip = values
    n, thread = np.int32(mass.size), np.uint32(cuda.threadIdx.x)
    part, place = np.uint32(thread // np.uint32(TILE)), np.uint32(thread % np.uint32(TILE))
    tile = np.int32(cuda.blockIdx.x)
    if tile * TILE > n:
        return
    drift = first_moment(scratch, mass, offset, weights)
    shift = 0.0
    if recentre:
        movable = 1.0 - (weights[n - 1] if drift < 0.0 else weights[0])
        shift = max(-1.0, min(1.0, -drift / (width * movable))) if movable > 1e-9 else 0.0
        shift = shift if abs(shift) > LEAST_SHIFT else 0.0
    up, down = max(shift, 0.0), min(shift, 0.0)
    while tile * TILE <= n:
        face = np.int32(tile * TILE + place)
        total = 0.0
        k = np.int32(part if face <= n else n)
        while k < n:
            weight = weights[np.uint32(k)]
            new = weight
            if shift != 0.0 and k > 0:
                new += up * weights[np.uint32(k - 1)] + down * weight
            if shift != 0.0 and k + 1 < n:
                new -= up * weight + down * weights[np.uint32(k + 1)]
            total += table[np.uint32(skip + n - face + k)] * new
            k = np.int32(k + DEPTH)
        total = fold(scratch, part, place, total)
        if part == 0 and face <= n:
            drag[np.uint32(face)] = total
            if face == 0 and recentre:
                facts[SHIFT] = shift
            if face == 1:
                facts[UPWARDS], facts[UPWARDS_EVER] = high - total, max(facts[UPWARDS_EVER], high - total)
            if face == n - 1:
                facts[DOWNWARDS], facts[DOWNWARDS_EVER] = total - low, max(facts[DOWNWARDS_EVER], total - low)
        tile = np.int32(tile + cuda.gridDim.x)


@device
def at_hand(near, n, of_b):
    """Copy the values of b into the memory of the multiprocessor, after the masses, if they fit; else return 0."""
    if near.size < 3 * n + 1:
        return 0
    for k in range(cuda.threadIdx.x, of_b.size, THREADS):
        near[n + k] = of_b[k]
    cuda.syncthreads()
    return n


@device
def balance(scratch, weights, state, shape, values, recentre, arrived, met):
    """From the sums of blocks to the speeds of the next step; ``met`` arrivals were expected before."""
    volume, _offset, mass, _drag, _facts, sums, _label = state
    blocks = cuda.gridDim.x
    meet(arrived, met + blocks)
    add_up(scratch, sums, volume, mass)
    meet(arrived, met + 2 * blocks)
    find_speeds(scratch, weights, state, shape, values, recentre)
    meet(arrived, met + 3 * blocks)
    return met + 3 * blocks


MEETINGS = 3
"""Of all blocks in a balance."""


@kernel
def take_stock(state, shape, arrived, met):
    """The speeds of a density whose sums are there already.

    ``state`` is (volume, centred r (n,), mass (n,), drag (n + 1,), facts (5,), sums (blocks, n), label (labels,)) and
    ``shape`` is (b (2n,), Δr, least and largest G), all float64; ``arrived`` is int64 (1,), ``met`` an int.
    """
    scratch, near = cuda.shared.array(SCRATCH, float64), cuda.shared.array(0, float64)
    skip = at_hand(near, state[2].size, shape[0])
    values = (near if skip > 0 else shape[0]), skip
    balance(scratch, near, state, shape, values, False, arrived, met)


@kernel
def march_upwind(densities, state, shape, ratio, count, arrived, met):
    """Take ``count`` steps of the paper's scheme; the last stands in ``then`` if their number is odd.

    ``densities`` are now and then, float64 (padded cells of r · labels,); others as in :func:`take_stock`.
    """
    scratch, near = cuda.shared.array(SCRATCH, float64), cuda.shared.array(0, float64)
    skip = at_hand(near, state[2].size, shape[0])
    values = (near if skip > 0 else shape[0]), skip
    facts = state[4]
    source, target = densities
    for _ in range(count):
        move_upwind(scratch, (source, source, target, source), 1.0, facts[SHIFT], ratio, state)
        met = balance(scratch, near, state, shape, values, True, arrived, met)
        source, target = target, source


@kernel
def tvd_stage(densities, part, state, shape, ratio, arrived, met):
    """One stage of the scheme of second order; the mean is put back after the second.

    ``densities`` are those of :func:`mover`, float64 (padded cells of r · labels,); others as in :func:`take_stock`.
    """
    scratch, near = cuda.shared.array(SCRATCH, float64), cuda.shared.array(0, float64)
    skip = at_hand(near, state[2].size, shape[0])
    values = (near if skip > 0 else shape[0]), skip
    shift = state[4][SHIFT] if part == 1.0 else 0.0
    move_tvd(scratch, densities, part, shift, ratio, state)
    balance(scratch, near, state, shape, values, part != 1.0, arrived, met)


@kernel
def march_tvd(densities, state, shape, ratio, count, arrived, met):
    """Take ``count`` steps of second order; each ends in ``now``.

    ``densities`` are now, then and the middle, float64 (padded cells of r · labels,); others as in :func:`take_stock`.
    """
    scratch, near = cuda.shared.array(SCRATCH, float64), cuda.shared.array(0, float64)
    skip = at_hand(near, state[2].size, shape[0])
    values = (near if skip > 0 else shape[0]), skip
    facts, (now, then, middle) = state[4], densities
    for _ in range(count):
        move_tvd(scratch, (now, now, middle, then), 1.0, facts[SHIFT], ratio, state)
        met = balance(scratch, near, state, shape, values, False, arrived, met)
        move_tvd(scratch, (middle, then, now, middle), 0.5, 0.0, ratio, state)
        met = balance(scratch, near, state, shape, values, True, arrived, met)
