"""A density on a graphics processor: the schemes of :mod:`kinelo.macro.scheme` there, for ``w ≡ 1``."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numba import cuda as numba_cuda

from kinelo.errors import InputError
from kinelo.macro.gpu.kernels import (
    CELLS_OF_THREAD,
    DOWNWARDS,
    DOWNWARDS_EVER,
    HALO,
    LANES,
    MEETINGS,
    SCRATCH,
    SHIFT,
    THREADS,
    UPWARDS,
    UPWARDS_EVER,
    march_tvd,
    march_upwind,
    take_stock,
    tvd_stage,
)
from kinelo.macro.population import Population
from kinelo.macro.scheme import SchemeName, Transport, Tvd, Upwind
from kinelo.macro.velocity import Speeds, Velocity
from kinelo.model.validation import Array
from kinelo.runtime.device import cuda_module, simulated

cuda: Any = numba_cuda


SHARED_BYTES = 47 * 1024 - 8 * SCRATCH
"""Bytes of a multiprocessor's memory that a block may ask for, beside what it adds up in."""

MOST_SHARED_CELLS = SHARED_BYTES // 8
"""Cells of r whose masses fit there."""

AT_ONCE = 1000
"""Steps of one launch: some milliseconds, so that a run can be stopped."""


class GpuTransport(Transport):
    """A density on the device; what is asked of it comes back, what is changed goes there again."""

    marches = True

    def __init__(self, velocity: Velocity, start: Population, mean: float, threads: int) -> None:
        if not velocity.separates:
            raise InputError('device = "gpu" solves the kinetic equation for AllPlayAll() only; use device = "cpu".')
        if start.grid.r.count > MOST_SHARED_CELLS:
            raise InputError(f'device = "gpu" takes at most {MOST_SHARED_CELLS} cells of r, not {start.grid.r.count}.')
        cuda_module()
        labels, n = start.grid.labels, start.grid.r.count
        self._wide = LANES * -(-labels // LANES)
        units = 1 if simulated() else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)
        self._blocks = min(units, self._wide // LANES)
        self._padded = CELLS_OF_THREAD * -(-n // CELLS_OF_THREAD) + 2 * HALO, self._wide
        self._now, self._next = (cuda.to_device(np.zeros(self._padded).ravel()) for _ in range(2))
        self._sums = cuda.device_array((self._blocks, n))
        self._mass, self._drag = cuda.device_array(n), cuda.device_array(n + 1)
        self._facts = cuda.to_device(np.zeros(5))
        self._kernel = cuda.to_device(velocity.loss.reversed)
        self._centred = cuda.to_device(start.grid.r.centres - mean)
        self._label = cuda.device_array(self._wide)
        self._arrived, self._met = cuda.to_device(np.zeros(1, dtype=np.int64)), 0
        self._stream = cuda.stream()
        self._away = False
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
            density = self._now.copy_to_host().reshape(self._padded)
            self._density[:] = density[HALO : HALO + self.grid.r.count, : self.grid.labels].T
            self._shift, self._pending, self._away = float(self._facts.copy_to_host()[SHIFT]), 1, False
        return super().density()

    def relabel(self) -> None:
        """Take note of a density that was changed in place, and send it to the device."""
        super().relabel()
        density, label = np.zeros(self._padded), np.zeros(self._wide)
        density[HALO : HALO + self.grid.r.count, : self.grid.labels] = self._density.T
        label[: self.grid.labels] = self.velocity.label
        self._now.copy_to_device(density.ravel())
        self._label.copy_to_device(label)
        self._facts.copy_to_device(np.zeros(5))
        weights = np.zeros((self._blocks, self.grid.r.count))
        weights[0] = self.rating_mass / self.grid.volume
        self._sums.copy_to_device(weights)
        self._launch(take_stock, 1)

    def march(self, dt: float, count: int) -> float:
        """Take ``count`` equal steps and return the largest speed met."""
        facts = np.zeros(5)
        facts[SHIFT] = self._facts.copy_to_host()[SHIFT]
        self._facts.copy_to_device(facts)
        for begin in range(0, count, AT_ONCE):
            self._advance(dt, min(AT_ONCE, count - begin))
            self._stream.synchronize()
        self._leave()
        self._stream.synchronize()
        return float(self._facts.copy_to_host()[[UPWARDS_EVER, DOWNWARDS_EVER]].max())

    @abstractmethod
    def _advance(self, dt: float, count: int) -> None:
        """Ask the device for some steps."""

    def _leave(self) -> None:
        self._away, self._speeds, self._pending = True, None, 1

    def _launch(self, kernel: Any, balances: int, *arguments: Any, before: tuple[Any, ...] = ()) -> None:
        """Ask for a kernel: what it is about, the state, the numbers of the grid, its arguments, and the meeting."""
        grid = self.grid
        state = grid.volume, self._centred, self._mass, self._drag, self._facts, self._sums, self._label
        shape = self._kernel, grid.r.width, *map(float, self.velocity.range)
        near = 8 * (3 * grid.r.count + 1)
        kernel[self._blocks, THREADS, self._stream, near if near <= SHARED_BYTES else 8 * grid.r.count](
            *before, state, shape, *arguments, self._arrived, self._met
        )
        self._met += balances * MEETINGS * self._blocks


class GpuUpwind(GpuTransport, Upwind):
    """The paper's scheme on the device."""

    def step(self, speeds: Speeds, dt: float) -> float:
        """One explicit Euler step."""
        self._advance(dt, 1)
        self._leave()
        return dt

    def _advance(self, dt: float, count: int) -> None:
        self._launch(march_upwind, count, dt / self.grid.r.width, count, before=((self._now, self._next),))
        if count % 2:
            self._now, self._next = self._next, self._now


class GpuTvd(GpuTransport, Tvd):
    """The scheme of second order on the device."""

    def __init__(self, velocity: Velocity, start: Population, mean: float, threads: int) -> None:
        super().__init__(velocity, start, mean, threads)
        self._middle = cuda.to_device(np.zeros(self._padded).ravel())

    def step(self, speeds: Speeds, dt: float) -> float:
        """One step of two stages."""
        ratio = dt / self.grid.r.width
        self._launch(tvd_stage, 1, ratio, before=((self._now, self._now, self._middle, self._next), 1.0))
        self._now, self._next = self._next, self._now
        self._leave()
        second = self.speeds()
        if dt > (stable := self.limit(second)):
            # What was moved is only the shift that was due.
            self._facts.copy_to_device(np.zeros(5))
            self.density()
            self.relabel()
            return 0.9 * stable
        self._launch(tvd_stage, 1, ratio, before=((self._middle, self._now, self._next, self._middle), 0.5))
        self._now, self._next = self._next, self._now
        self._leave()
        return dt

    def _advance(self, dt: float, count: int) -> None:
        ratio = dt / self.grid.r.width
        self._launch(march_tvd, 2 * count, ratio, count, before=((self._now, self._next, self._middle),))


GPU_SCHEMES: dict[SchemeName, type[GpuTransport]] = {"upwind": GpuUpwind, "tvd": GpuTvd}
