r"""Rating periods in the kinetic equation: ratings stay for ``Δt = γn``, then all move at once, ``r += Δt a[f](r)``.

A period of n matches per team is one explicit Euler step. The mass of a cell is carried to where its centre goes and
shared by the two cells there, so that mass and mean rating are conserved to rounding. Strengths move between periods.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.errors import InputError
from kinelo.macro.moving import Moving
from kinelo.macro.scheme import Transport

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
