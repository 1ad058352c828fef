"""Steps in time: as long as the scheme allows, or of a fixed length, with diffusion woven in."""

from __future__ import annotations

from dataclasses import replace

from kinelo.errors import InputError
from kinelo.macro.diffusion import StrengthDiffusion
from kinelo.macro.moving import Moving
from kinelo.macro.scheme import Transport

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
