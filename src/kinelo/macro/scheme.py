r"""Finite-volume schemes for ``∂_t f + ∂_r (a[f] f) = 0`` with no flux through the ends of r.

*Upwind* is the paper's: ``h_{j+1/2}`` is the value on the side the speed comes from; explicit Euler steps.
*TVD* reconstructs lines in cells with the monotonised-central limiter and steps with SSP Runge–Kutta of order two.

Both keep f ≥ 0 up to their Courant limit. Upwind: a cell loses at most ``Δt/Δr (a⁺_{j+1/2} − a⁻_{j−1/2}) f_j``. TVD:
face values are at least 0 and the two of a cell sum to 2 f_j, so it loses at most ``Δt/Δr · 2 max|a| f_j``.

The mean rating is conserved by the equation because s and b are odd, but upwinding breaks that symmetry and lets the
mean drift by O(Δr) (upwind) or O(Δr²) (TVD). Each step therefore ends with a shift of the whole population by the
part c of a cell that returns the mean to its first value: ``f_j ← f_j − (φ_{j+1/2} − φ_{j−1/2})`` with the upwind flux
``φ = c f`` and no flux at the ends, hence ``c = (m − m₁) / (Δr (1 − mass of the end cell))`` exactly. This corrects the
speed by a constant of the order of the scheme's own error: it keeps mass, sign and order of accuracy. The next sweep
applies it as it reads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from kinelo.macro.kernels import ROWS_TOGETHER, shift_rows, sweep_tvd, sweep_upwind
from kinelo.macro.population import Population
from kinelo.macro.velocity import Speeds, Velocity
from kinelo.model.validation import Array

SchemeName = Literal["upwind", "tvd"]
SHIFT_EVERY = 16
"""Steps after which a density is rid of dust at the latest."""

LEAST_SHIFT = 1e-13
"""Part of a cell below which the mean is left where rounding has put it."""

# The limit itself leaves an emptied cell at −1 unit of rounding now and then.
_SAFE = 1 - 1e-12


class Transport(ABC):
    """A density under way: cell averages, the shift still to be applied to them, and their r-marginal."""

    def __init__(self, velocity: Velocity, start: Population, mean: float, threads: int) -> None:
        self.velocity = velocity
        self.grid = start.grid
        self.mean = mean
        self._density = start.density.reshape(self.grid.labels, -1).copy()
        self._shift, self._pending = 0.0, 0
        self._speeds: Speeds | None = None
        blocks = -(-self.grid.labels // ROWS_TOGETHER)
        self._marginals = np.zeros((blocks, self.grid.r.count))
        self._edges = np.linspace(0, blocks, min(threads, blocks) + 1).round().astype(int).tolist()
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._offset = self.grid.r.centres - mean
        self.relabel()

    marches = False
    """Whether many equal steps can be taken at once."""

    def march(self, dt: float, count: int) -> float:
        """Take ``count`` equal steps at once and return the largest speed met."""
        raise NotImplementedError

    @abstractmethod
    def limit(self, speeds: Speeds) -> float:
        """Largest step that keeps densities positive at these speeds."""

    @abstractmethod
    def step(self, speeds: Speeds, dt: float) -> float:
        """Advance by ``dt``; or change nothing and return a smaller step that would be stable."""

    def speeds(self) -> Speeds:
        """Speeds of the present density."""
        if self._speeds is None:
            if not self.velocity.separates:
                self.density()
            self._speeds = self.velocity.speeds(self._density, self.rating_mass)
        return self._speeds

    def density(self) -> Array:
        """The present density, of shape (labels, ratings), to be read or changed in place."""
        if self._pending:
            shift_rows(self._density, self._shift, self._density)
            self._shift, self._pending = 0.0, 0
        return self._density

    def relabel(self) -> None:
        """Take note of a density that was changed in place."""
        density = self.density()
        self.rating_mass = density.sum(axis=0) * self.grid.volume
        self.velocity.update_labels(density.sum(axis=1) * self.grid.volume)
        self._speeds = None

    def carry_mean(self) -> None:
        """Conserve from here on the mean rating that the density has now."""
        mass = self.rating_mass
        self.mean += float(self._offset @ mass) / float(mass.sum())
        self._offset = self.grid.r.centres - self.mean

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _sweep(self, kernel: Callable[..., None], *arguments: object) -> Array:
        """Run a kernel over all blocks of rows and return the mass in each cell of r."""
        if self._pool is None:
            kernel(*arguments, self._marginals, 0, len(self._marginals))
        else:
            parts = zip(self._edges[:-1], self._edges[1:], strict=True)
            for job in [self._pool.submit(kernel, *arguments, self._marginals, *part) for part in parts]:
                job.result()
        return self._marginals.sum(axis=0) * self.grid.volume

    def _recentre(self, mass: Array) -> None:
        """Choose the shift that returns the mean rating to its first value, and apply it to the r-marginal."""
        drift = float(self._offset @ mass)
        movable = 1 - float(mass[-1] if drift < 0 else mass[0])
        shift = max(-1.0, min(1.0, -drift / (self.grid.r.width * movable))) if movable > 1e-9 else 0.0
        shift = shift if abs(shift) > LEAST_SHIFT else 0.0
        flux = max(shift, 0.0) * mass[:-1] + min(shift, 0.0) * mass[1:]
        mass[:-1] -= flux
        mass[1:] += flux
        self._shift, self.rating_mass, self._speeds = shift, mass, None
        self._pending += 1
        if self._pending == SHIFT_EVERY:
            self.density()


class Upwind(Transport):
    """The paper's scheme, of first order."""

    def limit(self, speeds: Speeds) -> float:
        """``Δr / max (a⁺_{j+1/2} − a⁻_{j−1/2})``, which is ``Δr / max|a|`` for w ≡ 1."""
        return _SAFE * self.grid.r.width / speeds.outflow if speeds.outflow > 0 else np.inf

    def step(self, speeds: Speeds, dt: float) -> float:
        """One explicit Euler step in place."""
        ratio = dt / self.grid.r.width
        self._recentre(self._sweep(sweep_upwind, self._density, (speeds.label, speeds.drag), ratio, self._shift))
        return dt


class Tvd(Transport):
    """Limited reconstruction and SSP Runge–Kutta, of second order."""

    def __init__(self, velocity: Velocity, start: Population, mean: float, threads: int) -> None:
        super().__init__(velocity, start, mean, threads)
        self._stage = np.zeros_like(self._density)

    def limit(self, speeds: Speeds) -> float:
        """``Δr / (2 max|a|)``."""
        return _SAFE * self.grid.r.width / (2 * speeds.largest) if speeds.largest > 0 else np.inf

    def step(self, speeds: Speeds, dt: float) -> float:
        """One step of two stages."""
        ratio, now, stage = dt / self.grid.r.width, self._density, self._stage
        mass = self._sweep(sweep_tvd, (now, stage), 1.0, (speeds.label, speeds.drag), ratio, self._shift)
        self._shift = 0.0
        second = self.velocity.speeds(stage, mass)
        if dt > (stable := self.limit(second)):
            return 0.9 * stable
        self._recentre(self._sweep(sweep_tvd, (stage, now), 0.5, (second.label, second.drag), ratio, 0.0))
        return dt


SCHEMES: dict[SchemeName, type[Transport]] = {"upwind": Upwind, "tvd": Tvd}
