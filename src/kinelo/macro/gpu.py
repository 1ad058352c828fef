"""The kinetic equation on a graphics processor, for ``w ≡ 1``: the schemes of :mod:`kinelo.macro.scheme` there.

A step is three launches. The first moves every cell, a block for some cells of r and some labels, and adds the new
masses up over those labels. The second adds these sums up, in a fixed order, to the marginal of r. The third
recentres that and convolves it with b for the speeds of the next step. Steps of a fixed length are recorded once
as a graph and then replayed, since asking for a launch takes as long as the launch itself.
"""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module
from typing import Any

import numpy as np
from numba import cuda as numba_cuda
from numba import float64

from kinelo.device import simulated
from kinelo.errors import InputError
from kinelo.macro.kernels import TINY
from kinelo.macro.population import Population
from kinelo.macro.scheme import LEAST_SHIFT, SchemeName, Transport, Tvd, Upwind
from kinelo.macro.velocity import Speeds, Velocity
from kinelo.model.validation import Array

cuda: Any = numba_cuda

TILE, GROUPS = (8, 2) if simulated() else (32, 8)
"""Threads of a block along r and across labels."""

ROWS = 4 * GROUPS
"""Labels of a block, whose masses it adds up."""

DEPTH = 2 if simulated() else 32
"""Threads that share a sum over labels or cells."""

MOST_CELLS = 4000
"""Cells of r whose masses fit into the memory of a multiprocessor."""

REPLAYED = 50
"""Steps in one graph."""

SHIFT, UPWARDS, DOWNWARDS, UPWARDS_EVER, DOWNWARDS_EVER = range(5)
"""Where the shift, the largest speeds up and down, and the largest since the last look stand among the facts."""


@cuda.jit(device=True)
def shifted(f, i, j, n, up, down):
    """Cell j of row i after the upwind shift by a part of a cell."""
    value = f[i, j]
    if j == 0:
        return value - up * value + down * f[i, 1]
    if j == n - 1:
        return value + up * f[i, n - 2] - down * value
    return value + up * (f[i, j - 1] - value) + down * (f[i, j + 1] - value)


@cuda.jit(device=True)
def half_slope(before, here, after):
    """Half of the monotonised-central slope of a cell."""
    left, right = here - before, after - here
    middle = 0.5 * (left + right)
    return 0.5 * (max(min(2.0 * min(left, right), middle), 0.0) + min(max(2.0 * max(left, right), middle), 0.0))


@cuda.jit(device=True)
def add_groups(scratch, total, j, n, sums):
    """Add up what the groups of a block have in their cells."""
    scratch[cuda.threadIdx.y, cuda.threadIdx.x] = total
    cuda.syncthreads()
    if cuda.threadIdx.y == 0 and j < n:
        total = 0.0
        for group in range(GROUPS):
            total += scratch[group, cuda.threadIdx.x]
        sums[cuda.blockIdx.x, j] = total


@cuda.jit
def move_upwind(source, target, label, drag, ratio, facts, sums):
    """One Euler step of every cell."""
    scratch = cuda.shared.array((GROUPS, TILE), float64)
    j, rows, n = np.uint32(cuda.blockIdx.y * TILE + cuda.threadIdx.x), source.shape[0], np.uint32(source.shape[1])
    up, down = max(facts[SHIFT], 0.0), max(-facts[SHIFT], 0.0)
    within = j >= 2 and j + 2 < n
    total = 0.0
    end = min(rows, (cuda.blockIdx.x + 1) * ROWS) if j < n else 0
    here_d, next_d = (drag[j], drag[np.uint32(j + 1)]) if j < n else (0.0, 0.0)
    for row in range(cuda.blockIdx.x * ROWS + cuda.threadIdx.y, end, GROUPS):
        i = np.uint32(row)
        if within:
            far, before = source[i, np.uint32(j - 2)], source[i, np.uint32(j - 1)]
            value, after, beyond = source[i, j], source[i, np.uint32(j + 1)], source[i, np.uint32(j + 2)]
            left = before + up * (far - before) + down * (value - before)
            here = value + up * (before - value) + down * (after - value)
            right = after + up * (value - after) + down * (beyond - after)
        else:
            here = shifted(source, i, j, n, up, down)
            left = shifted(source, i, j - 1, n, up, down) if j > 0 else 0.0
            right = shifted(source, i, j + 1, n, up, down) if j + 1 < n else 0.0
        a = ratio * (label[i] - here_d) if j > 0 else 0.0
        c = ratio * (label[i] - next_d) if j + 1 < n else 0.0
        new = here + (a * (left if a >= 0.0 else here) - c * (here if c >= 0.0 else right))
        new = new if abs(new) > TINY else 0.0
        target[i, j] = new
        total += new
    add_groups(scratch, total, j, n, sums)


@cuda.jit
def move_tvd(source, before, target, moved, part, label, drag, ratio, facts, sums):
    """One stage: ``target ← (1 − part) before + part (source + Δt L(source))``; ``moved`` is the shifted source."""
    scratch = cuda.shared.array((GROUPS, TILE), float64)
    j, rows, n = cuda.blockIdx.y * TILE + cuda.threadIdx.x, source.shape[0], source.shape[1]
    shift = facts[SHIFT] if part == 1.0 else 0.0
    up, down = max(shift, 0.0), max(-shift, 0.0)
    total = 0.0
    end = min(rows, (cuda.blockIdx.x + 1) * ROWS) if j < n else 0
    for i in range(cuda.blockIdx.x * ROWS + cuda.threadIdx.y, end, GROUPS):
        here = shifted(source, i, j, n, up, down)
        left = shifted(source, i, j - 1, n, up, down) if j > 0 else here
        right = shifted(source, i, j + 1, n, up, down) if j < n - 1 else here
        slope = half_slope(left, here, right) if 0 < j < n - 1 else 0.0
        new = here
        if j > 0:
            s = half_slope(shifted(source, i, j - 2, n, up, down), left, here) if j > 1 else 0.0
            a = ratio * (label[i] - drag[j])
            new += max(a, 0.0) * (left + s) + min(a, 0.0) * (here - slope)
        if j < n - 1:
            s = half_slope(here, right, shifted(source, i, j + 2, n, up, down)) if j < n - 2 else 0.0
            a = ratio * (label[i] - drag[j + 1])
            new -= max(a, 0.0) * (here + slope) + min(a, 0.0) * (right - s)
        if part == 1.0:
            moved[i, j] = here
        new = (1.0 - part) * before[i, j] + part * new
        new = new if abs(new) > TINY else 0.0
        target[i, j] = new
        total += new
    add_groups(scratch, total, j, n, sums)


@cuda.jit(device=True)
def fold(scratch):
    """Add the rows of a board of threads up into its first one."""
    depth = DEPTH // 2
    while depth > 0:
        cuda.syncthreads()
        if cuda.threadIdx.y < depth:
            scratch[cuda.threadIdx.y, cuda.threadIdx.x] += scratch[cuda.threadIdx.y + depth, cuda.threadIdx.x]
        depth //= 2
    cuda.syncthreads()


@cuda.jit
def add_up(sums, volume, offset, mass, moments):
    """The sums of blocks added up: the mass in every cell of r, and the first moment of every tile of them."""
    scratch = cuda.shared.array((DEPTH, TILE), float64)
    j, n = np.uint32(cuda.blockIdx.x * TILE + cuda.threadIdx.x), np.uint32(mass.size)
    total = 0.0
    if j < n:
        for block in range(cuda.threadIdx.y, sums.shape[0], DEPTH):
            total += sums[np.uint32(block), j]
    scratch[cuda.threadIdx.y, cuda.threadIdx.x] = total
    fold(scratch)
    if cuda.threadIdx.y == 0 and j < n:
        total = scratch[0, cuda.threadIdx.x] * volume
        mass[j] = total
        scratch[1, cuda.threadIdx.x] = total * offset[j]
    cuda.syncthreads()
    if cuda.threadIdx.y == 0 and cuda.threadIdx.x == 0:
        moment = 0.0
        for k in range(min(TILE, n - cuda.blockIdx.x * TILE)):
            moment += scratch[1, k]
        moments[cuda.blockIdx.x] = moment


@cuda.jit
def find_speeds(mass, moments, kernel, width, low, high, recentre, drag, facts):
    """From the masses in cells of r, recentred if asked, to the speeds at a tile of faces.

    Every block finds the same shift; the first one notes it.
    """
    scratch = cuda.shared.array((DEPTH, TILE), float64)
    n, thread = np.uint32(mass.size), np.uint32(cuda.threadIdx.y * TILE + cuda.threadIdx.x)
    weights = cuda.shared.array(0, float64)
    shift = 0.0
    if recentre:
        drift = 0.0
        for k in range(moments.size):
            drift += moments[np.uint32(k)]
        movable = 1.0 - (mass[n - 1] if drift < 0.0 else mass[0])
        shift = max(-1.0, min(1.0, -drift / (width * movable))) if movable > 1e-9 else 0.0
        shift = shift if abs(shift) > LEAST_SHIFT else 0.0
    up, down = max(shift, 0.0), min(shift, 0.0)
    for j in range(thread, n, TILE * DEPTH):
        new = mass[j]
        if shift != 0.0 and j > 0:
            new += up * mass[j - 1] + down * mass[j]
        if shift != 0.0 and j + 1 < n:
            new -= up * mass[j] + down * mass[j + 1]
        weights[j] = new
    cuda.syncthreads()
    face = np.uint32(cuda.blockIdx.x * TILE + cuda.threadIdx.x)
    total = 0.0
    if face <= n:
        for k in range(cuda.threadIdx.y, n, DEPTH):
            total += kernel[np.uint32(n - face + k)] * weights[np.uint32(k)]
    scratch[cuda.threadIdx.y, cuda.threadIdx.x] = total
    fold(scratch)
    if cuda.threadIdx.y == 0 and face <= n:
        total = scratch[0, cuda.threadIdx.x]
        drag[face] = total
        if face == 0 and recentre:
            facts[SHIFT] = shift
        if face == 1:
            facts[UPWARDS], facts[UPWARDS_EVER] = high - total, max(facts[UPWARDS_EVER], high - total)
        if face == n - 1:
            facts[DOWNWARDS], facts[DOWNWARDS_EVER] = total - low, max(facts[DOWNWARDS_EVER], total - low)


class GpuTransport(Transport):
    """A density on the device; what is asked of it comes back, what is changed goes there again."""

    marches = True

    def __init__(self, velocity: Velocity, start: Population, mean: float, threads: int) -> None:
        if not velocity.separates:
            raise InputError('device = "gpu" solves the kinetic equation for AllPlayAll() only; use device = "cpu".')
        if start.grid.r.count > MOST_CELLS:
            raise InputError(f'device = "gpu" takes at most {MOST_CELLS} cells of r, not {start.grid.r.count}.')
        labels, n = start.grid.labels, start.grid.r.count
        self._blocks = -(-labels // ROWS)
        self._now, self._next = (cuda.device_array((labels, n)) for _ in range(2))
        self._sums = cuda.device_array((self._blocks, n))
        self._mass, self._drag = cuda.device_array(n), cuda.device_array(n + 1)
        self._moments = cuda.device_array(-(-n // TILE))
        self._facts = cuda.to_device(np.zeros(5))
        self._kernel = cuda.to_device(velocity.loss.reversed)
        self._centred = cuda.to_device(start.grid.r.centres - mean)
        self._label = cuda.to_device(velocity.label)
        self._stream = cuda.stream()
        self._away = False
        self._graph: tuple[float, Any] | None = None
        super().__init__(velocity, start, mean, 1)

    def speeds(self) -> Speeds:
        """Speeds of the present density, fetched from the device."""
        if self._speeds is None:
            self._stream.synchronize()
            largest = float(self._facts.copy_to_host()[[UPWARDS, DOWNWARDS]].max())
            self._speeds = Speeds(self.velocity.label, self._drag.copy_to_host()[None, :], largest, largest)
        return self._speeds

    def density(self) -> Array:
        """The present density, brought back if it is away."""
        if self._away:
            self._stream.synchronize()
            self._now.copy_to_host(self._density)
            self._shift, self._unsettled, self._away = float(self._facts.copy_to_host()[SHIFT]), 1, False
        return super().density()

    def relabel(self) -> None:
        """Take note of a density that was changed in place, and send it to the device."""
        super().relabel()
        self._now.copy_to_device(self._density)
        self._label.copy_to_device(self.velocity.label)
        self._facts.copy_to_device(np.zeros(5))
        weights = np.zeros((self._blocks, self.grid.r.count))
        weights[0] = self.rating_mass / self.grid.volume
        self._sums.copy_to_device(weights)
        self._find_speeds(False)
        self._graph = None

    def march(self, dt: float, count: int) -> float:
        """Take ``count`` equal steps and return the largest speed met."""
        facts = np.zeros(5)
        facts[SHIFT] = self._facts.copy_to_host()[SHIFT]
        self._facts.copy_to_device(facts)
        while count > REPLAYED and not simulated():
            if self._graph is None or self._graph[0] != dt:
                # Compiled before it is recorded; an even number, so that both buffers are back in their places.
                self._advance(dt)
                self._advance(dt)
                count -= 2
                self._graph = dt, self._recorded(dt)
            else:
                self._replay()
                count -= REPLAYED
        for _ in range(count):
            self._advance(dt)
        self._leave()
        self._stream.synchronize()
        return float(self._facts.copy_to_host()[[UPWARDS_EVER, DOWNWARDS_EVER]].max())

    @abstractmethod
    def _advance(self, dt: float) -> None:
        """Ask the device for one step."""

    def _recorded(self, dt: float) -> Any:
        driver = import_module("cuda.bindings.driver")
        stream = driver.CUstream(int(self._stream.handle))
        relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        _checked(driver.cuStreamBeginCapture(stream, relaxed))
        for _ in range(REPLAYED):
            self._advance(dt)
        graph = _checked(driver.cuStreamEndCapture(stream))
        return _checked(driver.cuGraphInstantiate(graph, 0))

    def _replay(self) -> None:
        driver = import_module("cuda.bindings.driver")
        if self._graph is not None:
            _checked(driver.cuGraphLaunch(self._graph[1], driver.CUstream(int(self._stream.handle))))

    def _leave(self) -> None:
        self._away, self._speeds, self._unsettled = True, None, 1

    def _grid(self) -> tuple[Any, ...]:
        return (self._blocks, -(-self.grid.r.count // TILE)), (TILE, GROUPS), self._stream

    def _find_speeds(self, recentre: bool) -> None:
        lowest, highest = self.velocity.range
        grid = self.grid
        tiles, board = -(-grid.r.count // TILE), (TILE, DEPTH)
        add_up[tiles, board, self._stream](self._sums, grid.volume, self._centred, self._mass, self._moments)
        find_speeds[-(-(grid.r.count + 1) // TILE), board, self._stream, 8 * grid.r.count](
            self._mass, self._moments, self._kernel, grid.r.width, lowest, highest, recentre, self._drag, self._facts
        )


def _checked(answer: tuple[Any, ...]) -> Any:
    """What a call of the driver gave, or its complaint."""
    if int(answer[0]) != 0:
        raise RuntimeError(f"the CUDA driver answered {answer[0]!r}")
    return answer[1] if len(answer) > 1 else None


class GpuUpwind(GpuTransport, Upwind):
    """The paper's scheme on the device."""

    def step(self, speeds: Speeds, dt: float) -> float:
        """One explicit Euler step."""
        self._advance(dt)
        self._leave()
        return dt

    def _advance(self, dt: float) -> None:
        move_upwind[self._grid()](
            self._now, self._next, self._label, self._drag, dt / self.grid.r.width, self._facts, self._sums
        )
        self._now, self._next = self._next, self._now
        self._find_speeds(True)


class GpuTvd(GpuTransport, Tvd):
    """The scheme of second order on the device."""

    def __init__(self, velocity: Velocity, start: Population, mean: float, threads: int) -> None:
        self._middle = cuda.device_array((start.grid.labels, start.grid.r.count))
        super().__init__(velocity, start, mean, threads)

    def step(self, speeds: Speeds, dt: float) -> float:
        """One step of two stages."""
        self._first_stage(dt)
        self._leave()
        second = self.speeds()
        if dt > (stable := self.limit(second)):
            # What was moved is only the shift that was due.
            self._facts.copy_to_device(np.zeros(5))
            self.density()
            self.relabel()
            return 0.9 * stable
        self._second_stage(dt)
        self._leave()
        return dt

    def _advance(self, dt: float) -> None:
        self._first_stage(dt)
        self._second_stage(dt)

    def _first_stage(self, dt: float) -> None:
        ratio = dt / self.grid.r.width
        move_tvd[self._grid()](
            self._now, self._now, self._middle, self._next, 1.0, self._label, self._drag, ratio, self._facts, self._sums
        )
        self._now, self._next = self._next, self._now
        self._find_speeds(False)

    def _second_stage(self, dt: float) -> None:
        ratio = dt / self.grid.r.width
        move_tvd[self._grid()](
            self._middle, self._now, self._next, self._middle, 0.5, self._label, self._drag, ratio, self._facts,
            self._sums,
        )  # fmt: skip
        self._now, self._next = self._next, self._now
        self._find_speeds(True)


GPU_SCHEMES: dict[SchemeName, type[GpuTransport]] = {"upwind": GpuUpwind, "tvd": GpuTvd}
