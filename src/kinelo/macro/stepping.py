"""Steps in time: as long as the scheme allows, or of a fixed length, alternating with what moves beside ratings.

* Diffusion: the variant of the paper's conclusion is ``+ ½ σ² d[f] ∂²_θ f`` with ``d[f](r) = ∫ w(r − r') f'``. On cells
  of θ with no flux through the ends, the discrete Laplacian has cosines as eigenvectors, so a step of any length is
  exact: a cosine transform, a factor ``e^{λ_k d(r) Δt}``, and back. Mass and the mean of θ (away from the ends) are
  conserved, and the variance of θ grows by exactly ``σ² d Δt``.
* Turnover: ``∂_t f = η(g − f_leaving)``, η the departures per team and unit of time. g is the law of newcomers: a
  strength from their pool, one first rating, the performances (σ) of those who leave. Those are drawn from all teams,
  or stand at the lower or upper end of the strengths. Mass is conserved; the mean rating moves.
* Periods: ratings stay for ``Δt = γn``, then all move at once, ``r += Δt a[f](r)``: one explicit Euler step. The mass
  of a cell is carried to where its centre goes and shared by the two cells there, so that mass and mean rating are
  conserved to rounding. Strengths move between periods.

What a run will take, ``n ≈ T / Δt`` steps over all cells, is known before its first step and checked here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.fft import dct, idct

from kinelo.errors import InputError
from kinelo.macro.grid import Axis, Grid
from kinelo.macro.motion import DensityMotion, FormMotion, LearningMotion, WalkMotion
from kinelo.macro.scheme import Transport
from kinelo.macro.velocity import Velocity
from kinelo.model.dynamics import Dynamics, Form, Learning, Turnover, Walk, parts_of
from kinelo.model.schedule import Period, Rounds
from kinelo.model.steps import DeviationSteps
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.runtime.limits import check_memory


class Replacement:
    """Departures and arrivals on a grid."""

    def __init__(self, grid: Grid, turnover: Turnover, gamma: float, form: object) -> None:
        self._rate, self._leaving, self._pool = turnover.rate / gamma, turnover.leaving, turnover.pool
        self._grid, self._form = grid, form
        if not grid.r.low <= turnover.start <= grid.r.high:
            raise InputError(
                f"start = {turnover.start:g} of the newcomers lies outside of the cells of r, which span "
                f"[{grid.r.low:g}, {grid.r.high:g}]."
            )
        self._rating = np.zeros(grid.r.count)
        lower, upper, part = grid.r.share(np.array([turnover.start]))
        self._rating[lower] += 1 - part
        self._rating[upper] += part
        _, self._order = np.unique(grid.label_theta, return_inverse=True)

    def step(self, density: Array, frame: float, dt: float) -> None:
        """Replace teams in ``density``, of the grid's shape, in place; strengths are counted from ``frame``."""
        rows = density.reshape(self._grid.labels, -1)
        if self._leaving == "random":
            staying = rows * math.exp(-self._rate * dt)
        else:  # the part of each label that stays where the weakest, or the strongest, go first
            order = slice(None) if self._leaving == "weakest" else slice(None, None, -1)
            mass = np.bincount(self._order, rows.sum(axis=1))[order]
            left = np.clip(self._rate * dt * mass.sum() - (np.cumsum(mass) - mass), 0.0, mass)
            part = 1 - np.divide(left, mass, out=np.zeros_like(left), where=mass > 0)
            staying = rows * part[order][self._order][:, None]
        gone = (rows - staying).reshape(-1, self._grid.sigma.count, rows.shape[1]).sum(axis=(0, 2))
        rows[:] = staying
        # The share of newcomers in each cell of θ, and of form where there is such an axis.
        theta, pool = self._grid.theta, self._pool - frame
        if pool.min() < theta.low or pool.max() > theta.high:
            outside = pool.min() if pool.min() < theta.low else pool.max()
            raise InputError(
                f"theta = {outside:g} of the newcomers, counted from the league's growing mean, lies outside of the "
                f"cells of theta, which span [{theta.low:g}, {theta.high:g}]."
            )
        law = np.zeros(theta.count)
        lower, upper, part = theta.share(pool)
        np.add.at(law, lower, (1 - part) / pool.size)
        np.add.at(law, upper, part / pool.size)
        if self._grid.form is not None and isinstance(self._form, Form):
            # Form has its stationary law, as the scheme keeps it.
            form = np.exp(-((self._grid.form.centres / self._form.spread) ** 2) / 2)
            law = np.multiply.outer(law, form / form.sum())
        density += law[..., None, None] * np.multiply.outer(gone, self._rating)


class Moving:
    """Moves the strengths of a density under way, and replaces its teams."""

    def __init__(
        self, system: RatingSystem, velocity: Velocity, dynamics: Dynamics | Sequence[Dynamics], frame: float
    ) -> None:
        law, open_ = parts_of(dynamics)
        if isinstance(law, Learning) and isinstance(system.schedule, Rounds | Period):
            raise InputError("Learning moves strengths within a period too: simulate plays it, the solver does not.")
        gamma, grid = one_gamma(system), velocity.grid
        self._motion: DensityMotion | None = None
        if isinstance(law, Learning):
            self._motion = LearningMotion(system.outcome, velocity, law, frame)
        elif isinstance(law, Form) and grid.form is not None:
            self._motion = FormMotion(grid.form, law, gamma)
        elif isinstance(law, Walk):
            self._motion = WalkMotion(grid.theta, law, gamma)
        self._replacing = None if open_ is None else Replacement(grid, open_, gamma, law)

    @property
    def frame(self) -> float:
        """By how much the frame in which strengths are counted has moved."""
        return 0.0 if self._motion is None else self._motion.frame

    def step(self, transport: Transport, dt: float) -> None:
        """Advance by ``dt``, arrivals and departures half before and half after the motion."""
        density = transport.density().reshape(transport.grid.shape)
        if self._replacing is not None:
            self._replacing.step(density, self.frame, dt / 2)
        if self._motion is not None:
            self._motion.step(density, dt)
        if self._replacing is not None:
            self._replacing.step(density, self.frame, dt / 2)
        transport.relabel()
        if self._replacing is not None:
            transport.carry_mean()


def one_gamma(system: RatingSystem) -> float:
    """γ where it is one number; the kinetic equation is that of one step for all."""
    if isinstance(system.gamma, float):
        return system.gamma
    if isinstance(system.gamma, DeviationSteps):
        raise InputError(
            "The kinetic equation of DeviationSteps is solved along its characteristics, by "
            "theory.moving.glicko.deviation_path; settled_deviations gives where ratings and deviations end up."
        )
    raise InputError(f"The kinetic equation is solved for one gamma that all teams share, not {system.gamma!r}.")


OUTSIDE = 1e-9


class PeriodStepper:
    """Advances a density from the end of one period to that of the next."""

    def __init__(self, transport: Transport, moving: Moving | None, length: float) -> None:
        self.transport, self._moving, self._length = transport, moving, length

    def go_on(self, time: float, stop: float, mark: float) -> tuple[float, int]:
        """Rate one period if it ends before ``stop``: the new time, and how many were rated."""
        end = self._length * (math.floor(time / self._length * (1 + 1e-12) + 1e-9) + 1)
        if end > stop * (1 + 1e-12):
            return stop, 0
        self._rate()
        if self._moving is not None:
            self._moving.step(self.transport, self._length)
        return min(end, stop), 1

    def _rate(self) -> None:
        density, speeds, r = self.transport.density(), self.transport.speeds(), self.transport.grid.r
        drag = (speeds.drag[:, 1:] + speeds.drag[:, :-1]) / 2
        goal = r.centres[None, :] + self._length * (speeds.label[:, None] - drag)
        beyond = (goal < r.low) | (goal > r.high)
        if float(density[beyond].sum()) * self.transport.grid.volume > OUTSIDE:
            raise InputError("A period carries teams beyond the ends of r; give r a wider range.")
        lower, upper, part = r.share(goal)
        row = np.arange(len(density))[:, None] * r.count
        moved = np.bincount((row + lower).ravel(), (density * (1 - part)).ravel(), density.size)
        moved += np.bincount((row + upper).ravel(), (density * part).ravel(), density.size)
        density[:] = moved.reshape(density.shape)
        self.transport.relabel()


class StrengthDiffusion:
    """Diffusion in θ of strength σ: ``σ²`` is the variance that strengths gain per unit of kinetic time at d = 1."""

    def __init__(self, theta: Axis, sigma: float) -> None:
        wave = np.pi * np.arange(theta.count) / theta.count
        self.rates = -(sigma**2) * (1 - np.cos(wave)) / theta.width**2

    def step(self, density: Array, meeting_rate: Array, dt: float) -> None:
        """Advance ``density``, of shape (theta, sigma, r), in place."""
        before = density.sum(axis=0)
        waves = np.asarray(dct(density, axis=0))
        waves *= np.exp(dt * np.multiply.outer(self.rates, meeting_rate))[:, None, :]
        # The exact step is positive: what lies below zero is rounding of the transforms.
        np.maximum(np.asarray(idct(waves, axis=0, overwrite_x=True)), 0.0, out=density)
        after = density.sum(axis=0)
        density *= np.divide(before, after, out=np.zeros_like(after), where=after > 0)


COURANT = 0.9
"""Part of the largest stable step that is taken."""


class Stepper:
    """Advances a density; with diffusion, by ``T(Δt/2) D(Δt) T(Δt/2)``, which is of second order."""

    def __init__(self, transport: Transport, motion: StrengthDiffusion | Moving | None, fixed: float | None) -> None:
        self.transport = transport
        self.motion = motion
        self.fixed = fixed

    def go_on(self, time: float, stop: float, mark: float) -> tuple[float, int]:
        """Step once, or as often as the transport can at once, until ``stop`` or past ``mark``: new time and steps."""
        if self.fixed is not None and self.motion is None and self.transport.marches:
            later, count = time, 0
            while later < mark and self.fixed < stop - later:
                later, count = later + self.fixed, count + 1
            if count > 0:
                self._refuse_above(self.transport.limit(self.transport.speeds()))
                largest = self.transport.march(self.fixed, count)
                self._refuse_above(
                    self.transport.limit(replace(self.transport.speeds(), largest=largest, outflow=largest))
                )
                return later, count
        dt = self.advance(stop - time)
        return (stop if dt >= stop - time else time + dt), 1

    def advance(self, longest: float) -> float:
        """Take one step of at most ``longest`` and return its length."""
        if self.motion is None:
            return self._move(longest)
        half = self._move(longest / 2)
        if isinstance(self.motion, Moving):
            self.motion.step(self.transport, 2 * half)
        else:
            density = self.transport.density()
            rate = self.transport.velocity.meeting_rate(self.transport.rating_mass)
            self.motion.step(density.reshape(self.transport.grid.shape), rate, 2 * half)
            self.transport.relabel()
        rest = half
        while rest > 0:
            rest -= self._move(rest)
        return 2 * half

    def _move(self, longest: float) -> float:
        speeds = self.transport.speeds()
        limit = self.transport.limit(speeds)
        if self.fixed is not None:
            self._refuse_above(limit)
            wanted = min(self.fixed, longest)
        else:
            wanted = COURANT * limit
            # Two equal steps rather than a long one and a sliver.
            wanted = longest if wanted >= longest else min(wanted, max(longest / 2, longest - wanted))
        while (taken := self.transport.step(speeds, wanted)) < wanted:
            if self.fixed is not None:
                self._refuse_above(taken)
            wanted = taken
        return taken

    def _refuse_above(self, limit: float) -> None:
        if self.fixed is not None and self.fixed > limit:
            raise InputError(
                f"dt = {self.fixed:g} is above the stability limit of this scheme on this grid, {limit:.4g}; "
                'use a smaller dt, or dt="cfl" for steps just below the limit.'
            )


SECONDS_PER_CELL, SECONDS_PER_STEP = 1e-11, {"cpu": 2e-5, "gpu": 1e-6}
"""Of the fastest device at its best; what a step takes beside its cells by device."""

BYTES_PER_SAMPLE = 256


def check_samples(samples: int) -> None:
    """Refuse a series of integrals that cannot fit into memory."""
    check_memory(float(BYTES_PER_SAMPLE) * samples, f"A series of {samples:,} samples", "use fewer samples")
