"""The kinetic equation as a film: computed once for all pages whose leagues have the same limit of vanishing steps.

That limit depends on how results and opponents come about, on the spread of strength and on the start, not on the step
or the seed: its time is γ times the matches per team. A film is computed as far as somebody has looked.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.lab.explore.controls import Controls
from kinelo.lab.units import MIDDLE, THETA
from kinelo.macro.population import Population
from kinelo.macro.run import kinetic_states
from kinelo.macro.state import KineticState
from kinelo.model.validation import Array

THETA_CELLS, RATING_CELLS = 48, 96
RATING_RANGE = (THETA[0] - 0.5, THETA[1] + 0.5)
SPACING = 0.2
"""Kinetic time between two stills."""
DENSITY_LIMIT = 1e6
MOST_FILMS, MOST_STILLS = 32, 1500
"""Films that are kept, and stills of one of them: some kilobytes each."""


class Still(NamedTuple):
    """One moment: time, mean squared gaps to strength and to where ratings settle, and the density as shades."""

    time: float
    energy: float
    distance: float | None
    shades: bytes


class Film:
    """Stills of one solution, computed when they are first asked for."""

    def __init__(self, controls: Controls, sigma: float) -> None:
        self._states = kinetic_states(
            replace(controls.system, schedule=None), _first_population(controls, sigma), until=DENSITY_LIMIT,
            samples=round(DENSITY_LIMIT / SPACING), stop="steady", steady_below=1e-4,
        )  # fmt: skip
        self._advancing = threading.Lock()
        first = next(self._states)
        grid = first.population.grid
        self.theta, self.rating = grid.theta.centres, grid.r.centres
        self._stills = [_still(first)]
        self._ended = False

    def at(self, time: float) -> Still:
        """The still nearest to a time, or the last one of a solution that has come to rest."""
        wanted = round(time / SPACING)
        with self._advancing:
            while len(self._stills) <= wanted and not self._ended:
                state = next(self._states, None)
                self._ended = state is None or len(self._stills) >= MOST_STILLS
                if state is not None:
                    self._stills.append(_still(state))
                if self._ended:
                    self._states.close()  # type: ignore[attr-defined]
            return self._stills[min(wanted, len(self._stills) - 1)]


_FILMS: OrderedDict[tuple[object, ...], Film] = OrderedDict()
_CHOOSING = threading.Lock()


def film_of(controls: Controls, sigma: float) -> Film:
    """The film of a position of the controls, whose teams vary by ``sigma``; shared by all that have the same."""
    key = (controls.outcome, controls.system.pairing, round(sigma, 9), controls.start)
    with _CHOOSING:
        if key not in _FILMS:
            _FILMS[key] = Film(controls, sigma)
            while len(_FILMS) > MOST_FILMS:
                _FILMS.popitem(last=False)
        _FILMS.move_to_end(key)
        return _FILMS[key]


def _first_population(controls: Controls, sigma: float) -> Population:
    cells = {"theta": (*THETA, THETA_CELLS), "r": (*RATING_RANGE, RATING_CELLS)}
    if controls.start == "equal":
        return Population.concentrated(MIDDLE, sigma=sigma, **cells)

    def flat(theta: Array, sigma: Array, r: Array) -> Array:
        return ((r > THETA[0]) & (r < THETA[1])) + 0.0 * theta

    return Population.from_function(flat, sigma=sigma, **cells)


def _still(state: KineticState) -> Still:
    watched = state.diagnostics
    gap = watched.stationary_distance
    return Still(state.time, watched.energy, None if math.isnan(gap) else gap, _shades(state).tobytes())


def _shades(state: KineticState) -> NDArray[np.uint8]:
    """Density over (rating, strength) as shades, by its square root so that thin parts can be seen."""
    density = state.population.marginal("theta", "r").T
    # A ridge thinner than a cell looks like beads unless every rating is shared with its two neighbours.
    padded = np.pad(density, ((1, 1), (0, 0)))
    density = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    return np.sqrt(np.maximum(density, 0.0) / density.max() * 255.0**2).astype(np.uint8)
