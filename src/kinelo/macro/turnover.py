r"""An open league in the kinetic equation: ``∂_t f = η(g − f_leaving)``, η the departures per team and unit of time.

g is the law of newcomers: a strength from their pool, one first rating, the performances (σ) of those who leave. Those
are drawn from all teams, or stand at the lower or upper end of the strengths. Mass is conserved; the mean rating moves.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.errors import InputError
from kinelo.macro.grid import Grid
from kinelo.macro.motion import settled_form
from kinelo.model.dynamics import Form, Turnover
from kinelo.model.validation import Array


class Replacement:
    """Departures and arrivals on a grid."""

    def __init__(self, grid: Grid, turnover: Turnover, gamma: float, form: object = None) -> None:
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
        stay = math.exp(-self._rate * dt) if self._leaving == "random" else self._staying(rows, self._rate * dt)
        kept = rows * stay
        gone = (rows - kept).reshape(-1, self._grid.sigma.count, rows.shape[1]).sum(axis=(0, 2))
        rows[:] = kept
        density += self._newcomers(frame)[..., None, None] * np.multiply.outer(gone, self._rating)

    def _staying(self, rows: Array, share: float) -> Array:
        """Part of each label that stays where the weakest, or the strongest, go first."""
        mass = np.bincount(self._order, rows.sum(axis=1))
        weakest = mass if self._leaving == "weakest" else mass[::-1]
        before = np.cumsum(weakest) - weakest
        left = np.clip(share * mass.sum() - before, 0.0, weakest)
        part = 1 - np.divide(left, weakest, out=np.zeros_like(left), where=weakest > 0)
        return (part if self._leaving == "weakest" else part[::-1])[self._order][:, None]

    def _newcomers(self, frame: float) -> Array:
        """The share of newcomers in each cell of θ, and of form where there is such an axis."""
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
        if self._grid.form is None or not isinstance(self._form, Form):
            return law
        return np.multiply.outer(law, settled_form(self._grid.form, self._form))
