"""Matches to come, played many times: strengths drawn from what the filter believes, moving on until each match.

A draw of all slots from ``N(x, d C)`` (``d`` is the doubt) is one possible truth. It moves on as the filter says, and
given it the results are independent: ``P(win) = Φ(κD − c)`` of the difference ``D``. The margin is then a draw of
``D`` plus noise on the side of zero that the result says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.matches.matches import Matches
from kinelo.raters.filter.kinds import Kind
from kinelo.raters.filter.smoother import symmetric
from kinelo.raters.filter.state import CONDITION, HOME, LEVEL, NEUTRAL, OWN, STRENGTH
from kinelo.raters.kalman.state import SideState
from kinelo.raters.margins import MarginLaw
from kinelo.raters.random_walk import fade, years_since_start

Array = NDArray[np.float64]


class Forecasting(NamedTuple):
    """How strengths become results: kinds of slots, doubt, sharpness κ, draw band c, noise and its law."""

    kinds: Sequence[Kind]
    doubt: float
    sharpness: float
    band: float
    noise: float
    law: MarginLaw


def possible_slots(state: SideState, doubt: float, draws: int, generator: np.random.Generator) -> Array:
    """All slots drawn from what is believed of them, one draw a row."""
    b, size = state.beliefs, state.size
    variance = np.where(b.row[:size] < 0, b.v[:size], 0.0)
    drawn = b.x[:size] + np.sqrt(doubt * variance) * generator.standard_normal((draws, size))
    rows = int(b.rows[0])
    if state.full:
        values, vectors = np.linalg.eigh(symmetric(b.C[:rows, :rows]))
        root = vectors * np.sqrt(doubt * np.maximum(values, 0.0))
        joined = np.flatnonzero(b.row[:size] >= 0)
        drawn[:, joined] += (generator.standard_normal((draws, rows)) @ root.T)[:, b.row[joined]]
    return drawn


class PossibleStates:
    """Possible truths, carried from match to match."""

    def __init__(self, state: SideState, manner: Forecasting, draws: int, generator: np.random.Generator) -> None:
        self.state, self.manner, self.generator = state, manner, generator
        self.X = possible_slots(state, manner.doubt, draws, generator)
        self.last = state.beliefs.last[: state.size].copy()
        self.fresh: dict[tuple[str, int], tuple[Array, int]] = {}
        """By name and kind (or level), what is drawn for newcomers, and the day on which it holds."""

    def _normal(self) -> Array:
        return self.generator.standard_normal(len(self.X))

    def _moved(self, x: Array, kind: int, days: int) -> Array:
        """A slot of a kind after so many days."""
        own = self.manner.kinds[kind]
        f, added = fade(days, own.rho, own.walk)
        if f == 1.0 and added == 0.0:
            return x
        return f * x + math.sqrt(self.manner.doubt * added) * self._normal()

    def slot(self, slot: int, day: int) -> Array:
        """A slot that has been met, on a day."""
        days = max(day - int(self.last[slot]), 0) if self.last[slot] > -(10**9) else 0
        if days > 0:
            self.X[:, slot] = self._moved(self.X[:, slot], int(self.state.beliefs.kind[slot]), days)
            self.last[slot] = day
        return self.X[:, slot]

    def part(self, name: str, table: NDArray[np.int64], kind: int, key: int, day: int) -> Array:
        """A strength, an own ground or a level of a side on a day; one that was never met is a newcomer."""
        place = self.state.name_index.index.get(name, -1)
        slot = int(table[place]) if 0 <= place < len(table) else -1
        if slot >= 0 and self.state.beliefs.games[slot] > 0:
            return self.slot(slot, day)
        if (name, key) not in self.fresh:
            self.fresh[name, key] = (math.sqrt(self.manner.doubt * self.manner.kinds[kind].prior) * self._normal(), day)
        x, last = self.fresh[name, key]
        if day > last:
            x = self._moved(x, kind, day - last)
            self.fresh[name, key] = (x, day)
        return x

    def side(self, name: str, day: int) -> Array:
        """Strength of a side on a day; a newcomer leans on nobody unless :meth:`enter` was called."""
        if self._new(name):
            self.enter(name, day)
        return self.part(name, self.state.known.own, STRENGTH, STRENGTH, day)

    def enter(self, name: str, day: int, opponent: Array | None = None) -> None:
        """Give a newcomer its prior, as the filter does: leaning on the first whom it meets, if that one is known.

        Without covariance the filter forgets that the two are alike, and so does the draw: it leans on another truth.
        """
        kind, doubt = self.manner.kinds[STRENGTH], self.manner.doubt
        lean = 0.0 if opponent is None else kind.foes
        load = (1.0 - lean) * (1.0 - math.exp(-years_since_start(day, self.state.beliefs.clock)))
        strength = load * self.slot(LEVEL, day) + math.sqrt(doubt * kind.prior) * self._normal()
        if opponent is not None and lean > 0.0:
            strength += lean * (opponent if self.state.full else self.generator.permutation(opponent))
        self.fresh[name, STRENGTH] = (strength, day)

    def _new(self, name: str) -> bool:
        return name not in self.state.name_index.index and (name, STRENGTH) not in self.fresh

    def difference(self, home: str, away: str, neutral: bool, day: int, levels: NDArray[np.int64]) -> Array:
        """``D`` of a match in every possible truth; ``levels`` are those of its conditions (−1: not known)."""
        for name, other in ((home, away), (away, home)):
            if self._new(name) and not self._new(other):
                self.enter(name, day, self.side(other, day))
        known = self.state.known
        D = self.side(home, day) - self.side(away, day) + self.slot(NEUTRAL if neutral else HOME, day)
        if not neutral and self.state.grounds:
            D = D + self.part(home, known.ground, OWN, OWN, day)
        for c, level in enumerate(levels):
            if level >= 0:
                under = self.state.under
                table = np.full(len(self.state), -1)
                own = self.state.own < len(under)
                table[own] = under[self.state.own[own], level]
                for name, sign in ((home, 1.0), (away, -1.0)):
                    D = D + sign * self.part(name, table, CONDITION + c, CONDITION + int(level), day)
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


def play_out(possible: PossibleStates, matches: Matches) -> tuple[NDArray[np.int8], Array]:
    """Results and what margins show of matches in order, a row per possible truth."""
    levels = possible.state.levels.codes(matches, admit=False)
    shape = (len(possible.X), len(matches))
    outcome, shown = np.empty(shape, np.int8), np.empty(shape)
    for g in range(len(matches)):
        home, away = matches.teams[matches.home[g]], matches.teams[matches.away[g]]
        D = possible.difference(home, away, bool(matches.neutral[g]), int(matches.day[g]), levels[g])
        outcome[:, g], shown[:, g] = possible.result(D)
    return outcome, shown
