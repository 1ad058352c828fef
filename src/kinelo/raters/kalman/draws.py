"""Matches to come, played many times: strengths drawn from what the filter believes, moving on until each match.

A draw of all strengths and venue advantages from ``N(x, d C)`` (``d`` is the doubt) is one possible truth. It moves
on as the filter says, and given it the results are independent: ``P(win) = Φ(κD − c)`` of the difference ``D``. The
margin is then a draw of ``D`` plus noise on the side of zero that the result says.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.matches.matches import Matches
from kinelo.raters.kalman.kernels import FIRST, HOME, LEVEL, NEUTRAL, KalmanParameters
from kinelo.raters.kalman.state import FilterState
from kinelo.raters.margins import MarginLaw
from kinelo.raters.random_walk import TODAY, YEAR, fade, years_since_start

Array = NDArray[np.float64]


class Forecasting(NamedTuple):
    """How strengths become results: ``numbers`` of the kernels, doubt, sharpness κ, draw band c, noise and its law."""

    numbers: KalmanParameters
    doubt: float
    sharpness: float
    band: float
    noise: float
    law: MarginLaw


class Newcomer(NamedTuple):
    """A side never met, in every possible truth: its strength, home advantage, strengths under conditions, last day."""

    strength: Array
    home: Array
    under: Array
    last: int


def possible_states(state: FilterState, doubt: float, draws: int, generator: np.random.Generator) -> Array:
    """Rows of the filter drawn from its belief, one draw a row."""
    rows = FIRST + len(state)
    known = state.known
    if not state.full:
        spread = np.sqrt(doubt * known.v[:rows])
        return known.x[:rows] + spread * generator.standard_normal((draws, rows))
    lower = np.tril(known.C[:rows, :rows])
    values, vectors = np.linalg.eigh(lower + np.tril(lower, -1).T)
    root = vectors * np.sqrt(doubt * np.maximum(values, 0.0))
    return known.x[:rows] + generator.standard_normal((draws, rows)) @ root.T


class PossibleStates:
    """Possible truths, carried from match to match."""

    def __init__(self, state: FilterState, manner: Forecasting, draws: int, generator: np.random.Generator) -> None:
        self.state, self.manner, self.generator = state, manner, generator
        self.X = possible_states(state, manner.doubt, draws, generator)
        self.last = np.append(
            np.full(FIRST, max(int(state.known.clock[TODAY]), -(10**6))), state.known.last[: len(state)]
        )
        known, size = state.known, len(state)
        self.eta = known.eta[:size] + np.sqrt(manner.doubt * known.eta_v[:size]) * self._normal(size)
        slots = known.slot_v.size
        self.delta = known.delta[:size] + np.sqrt(manner.doubt * known.delta_v[:size]) * generator.standard_normal(
            (draws, size, slots)
        )
        self.newcomers: dict[str, Newcomer] = {}

    def _normal(self, size: int | None = None) -> Array:
        shape = (len(self.X),) if size is None else (len(self.X), size)
        return self.generator.standard_normal(shape)

    def row(self, row: int, day: int) -> Array:
        """A row of the state on a day."""
        p, known = self.manner.numbers, self.state.known
        if row < FIRST:
            certain = (known.C[row, row] if self.state.full else known.v[row]) <= 0.0
            per_year = 0.0 if certain else p.walk if row == LEVEL else p.venue_walk
            f, added = 1.0, per_year * max(day - int(self.last[row]), 0) / YEAR
        else:
            f, added = fade(day - int(self.last[row]), p.rho, p.walk)
        if f != 1.0 or added > 0.0:
            self.X[:, row] = f * self.X[:, row] + math.sqrt(self.manner.doubt * added) * self._normal()
            self.last[row] = max(day, int(self.last[row]))
        return self.X[:, row]

    def side(self, name: str, day: int) -> tuple[Array, Array, Array]:
        """Strength, own home advantage and strengths under conditions of a side on a day; a newcomer is a newcomer."""
        place = self.state.name_index.index.get(name, -1)
        if place >= 0:
            return self.row(FIRST + place, day), self.eta[:, place], self.delta[:, place]
        if name not in self.newcomers:
            self.enter(name, day)
        newcomer, p = self.newcomers[name], self.manner.numbers
        f, added = fade(day - newcomer.last, p.rho, p.walk)
        if f != 1.0 or added > 0.0:
            strength = f * newcomer.strength + math.sqrt(self.manner.doubt * added) * self._normal()
            newcomer = self.newcomers[name] = newcomer._replace(strength=strength, last=max(day, newcomer.last))
        return newcomer.strength, newcomer.home, newcomer.under

    def enter(self, name: str, day: int, opponent: Array | None = None) -> None:
        """Give a newcomer its prior, as the filter does: leaning on the first whom it meets, if that one is known.

        Without covariance the filter forgets that the two are alike, and so does the draw: it leans on another truth.
        """
        p, known, doubt = self.manner.numbers, self.state.known, self.manner.doubt
        lean = 0.0 if opponent is None else p.lean
        load = (1.0 - lean) * (1.0 - math.exp(-years_since_start(day, known.clock)))
        strength = load * self.row(LEVEL, day) + math.sqrt(doubt * p.prior) * self._normal()
        if opponent is not None and lean > 0.0:
            strength += lean * (opponent if self.state.full else self.generator.permutation(opponent))
        home = math.sqrt(doubt * p.home_prior) * self._normal()
        under = np.sqrt(doubt * known.slot_v) * self._normal(known.slot_v.size)
        self.newcomers[name] = Newcomer(strength, home, under, day)

    def _new(self, name: str) -> bool:
        return name not in self.state.name_index.index and name not in self.newcomers

    def difference(self, home: str, away: str, neutral: bool, day: int, slots: NDArray[np.int64]) -> Array:
        """``D`` of a match in every possible truth."""
        for name, other in ((home, away), (away, home)):
            if self._new(name) and not self._new(other):
                self.enter(name, day, self.side(other, day)[0])
        (x_i, eta, delta_i), (x_j, _, delta_j) = self.side(home, day), self.side(away, day)
        D = x_i - x_j + self.row(NEUTRAL if neutral else HOME, day) + (0.0 if neutral else eta)
        for slot in slots[slots >= 0]:
            D = D + delta_i[:, slot] - delta_j[:, slot]
        return D

    def result(self, D: Array) -> tuple[NDArray[np.int8], Array]:
        """Result (0 home win, 1 draw, 2 away win) and what the margin shows of it, in every possible truth."""
        kappa, band, noise, law = self.manner.sharpness, self.manner.band, self.manner.noise, self.manner.law
        u = self.generator.random(D.size)
        win, loss = ndtr(kappa * D - band), ndtr(-kappa * D - band)
        outcome = np.where(u < win, 0, np.where(u < 1.0 - loss, 1, 2)).astype(np.int8)
        below = ndtr(law.deviate(-D / noise))  # chance that what the match shows is negative
        v = self.generator.random(D.size)
        part = np.where(outcome == 0, below + v * (1.0 - below), v * below)
        shown = D + noise * law.surprise(ndtri(np.clip(part, 1e-12, 1.0 - 1e-12)))
        return outcome, np.where(outcome == 1, 0.0, np.where(outcome == 0, np.maximum(shown, 0), np.minimum(shown, 0)))


def play_out(possible: PossibleStates, matches: Matches, slots: NDArray[np.int64]) -> tuple[NDArray[np.int8], Array]:
    """Results and what margins show of matches in order, a row per possible truth."""
    shape = (len(possible.X), len(matches))
    outcome, shown = np.empty(shape, np.int8), np.empty(shape)
    for g in range(len(matches)):
        home, away = matches.teams[matches.home[g]], matches.teams[matches.away[g]]
        D = possible.difference(home, away, bool(matches.neutral[g]), int(matches.day[g]), slots[g])
        outcome[:, g], shown[:, g] = possible.result(D)
    return outcome, shown
