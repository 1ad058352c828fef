"""Matches to come, played many times: strengths drawn from what a filter believes, moving on until each match.

A draw of all slots that take part, from ``N(x, d C)`` (``d`` is the doubt), is one possible truth. It moves on as the
filter says, newcomers enter it as they enter the filter, and given it the results are independent:
``P(win) = Φ(κD − c)`` of the difference ``D``. The margin is then a draw of ``D`` plus noise on the side of zero that
the result says. Of line-ups of which one will play, each truth draws one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.raters.filter.belief import entry_parts, fade, lateness
from kinelo.raters.filter.entries import Entries, Rotations
from kinelo.raters.filter.kinds import Kind
from kinelo.raters.filter.smoother import symmetric
from kinelo.raters.filter.state import FIXED_SLOTS, LEVEL, SlotState
from kinelo.raters.margins import MarginLaw
from kinelo.raters.state import NEVER

Array = NDArray[np.float64]


class Forecasting(NamedTuple):
    """How strengths become results: kinds of slots, doubt, sharpness κ, draw band c, noise and its law."""

    kinds: Sequence[Kind]
    doubt: float
    sharpness: float
    band: float
    noise: float
    law: MarginLaw


class PossibleTruths:
    """Possible truths of the slots that take part in matches, (slots, draws), carried from match to match.

    ``known`` is the state that is drawn from, ``named`` a copy of it in which everyone in the matches has a slot.
    """

    def __init__(
        self,
        known: SlotState,
        named: SlotState,
        matches: tuple[NDArray[np.int64], Entries, Rotations],
        manner: Forecasting,
        draws: int,
        generator: np.random.Generator,
    ) -> None:
        self.day, self.entries, self.rotations = matches
        self.manner, self.generator, self.full, b = manner, generator, known.full, named.beliefs
        slots = np.unique(np.concatenate([np.arange(FIXED_SLOTS), self.entries.slot, self.rotations.slot]))
        self.place = np.full(named.size, -1)
        self.place[slots] = np.arange(slots.size)
        self.kind, self.last, self.met = b.kind[slots], b.last[slots].copy(), b.games[slots] > 0
        self.start = b.clock.copy()
        self.X = np.zeros((slots.size, draws))
        self.X[self.met] = _drawn(known, slots[self.met], manner.doubt, draws, generator)

    def _normal(self) -> Array:
        return self.generator.standard_normal(self.X.shape[1])

    def on_day(self, k: int, day: int) -> Array:
        """A slot that has been met, on a day."""
        if self.last[k] > NEVER and day > self.last[k]:
            kind = self.manner.kinds[self.kind[k]]
            f, added = fade(day - self.last[k], kind.rho, kind.walk)
            if f != 1.0 or added != 0.0:
                self.X[k] = f * self.X[k] + math.sqrt(self.manner.doubt * added) * self._normal()
            self.last[k] = day
        return self.X[k]

    def total(self, g: int, ours: bool = False) -> Array:
        """What a match would show in every possible truth, without its noise; of the first side alone if asked for."""
        lo, hi, day = self.entries.offsets[g], self.entries.offsets[g + 1], int(self.day[g])
        slot, share = self.entries.slot[lo:hi], self.entries.share[lo:hi]
        here = (share > 0.0) & (slot >= FIXED_SLOTS) if ours else share != 0.0
        k, share = self.place[slot[here]], share[here]
        new = np.flatnonzero(~self.met[k])
        for at in k[self.met[k]]:
            self.on_day(at, day)
        if new.size:
            self._enter(k, share, new, day)
        return share @ self.X[k] + self._turns(g, dict(zip(k.tolist(), share)))

    def _enter(self, k: NDArray[np.int64], share: Array, new: NDArray[np.int64], day: int) -> None:
        """Let newcomers enter as they enter the filter: leaning on those who are known, and alike if of one side.

        Without covariance the filter forgets that they are alike: they lean on other truths, and on mates as such.
        """
        kinds, doubt = self.manner.kinds, self.manner.doubt
        level, late = self.on_day(LEVEL, day), lateness(day, self.start)
        lean_on = np.array([bool(self.met[at]) and kinds[int(self.kind[at])].counts for at in k])
        alike = {True: self._normal(), False: self._normal()}
        for n in new:
            kind, ours = kinds[int(self.kind[k[n]])], share * share[n] > 0.0
            mates, foes = (np.abs(share) * (lean_on & side) for side in (ours, ~ours))
            gift = (kind.mates, kind.foes, kind.level)
            of_mates, of_foes, of_level = entry_parts(kind.whole, gift, late, mates.sum(), foes.sum())
            deviation = math.sqrt(doubt * kind.prior) * self._normal()
            common = math.sqrt(doubt * kind.common * kind.prior) * alike[bool(share[n] > 0.0)]
            theirs, ours_ = foes @ self.X[k], mates @ self.X[k]
            if not self.full:
                theirs, ours_ = self.generator.permutation(theirs), ours_.mean()
            self.X[k[n]] = of_level * level + of_foes * theirs + of_mates * ours_ + deviation + common
        self.met[k[new]], self.last[k[new]] = True, day

    def _turns(self, g: int, shares: dict[int, float]) -> Array:
        """By how much the line-ups that are drawn differ from what is expected of them."""
        r, X, whole = self.rotations, self.X, np.zeros(self.X.shape[1])
        for side in range(r.sides[g], r.sides[g + 1]) if r.sides.size else ():
            lineups, sign = [], 1.0
            for one in range(r.lineups[side], r.lineups[side + 1]):
                k = self.place[r.slot[r.offsets[one] : r.offsets[one + 1]]]
                lineups.append((r.share[r.offsets[one] : r.offsets[one + 1]] * self.met[k]) @ X[k])
                sign = -1.0 if any(shares.get(at, 0.0) < 0.0 for at in k.tolist()) else 1.0
            strength = np.array(lineups)
            drawn = strength[self.generator.integers(len(strength), size=whole.size), np.arange(whole.size)]
            whole += sign * math.sqrt(self.manner.doubt * r.trust[side]) * (drawn - strength.mean(axis=0))
        return whole

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


def _drawn(
    state: SlotState, slots: NDArray[np.int64], doubt: float, draws: int, generator: np.random.Generator
) -> Array:
    """Slots that have been met, drawn from what is believed of them (slots, draws)."""
    b, rows = state.beliefs, state.beliefs.row[slots]
    apart = np.sqrt(doubt * np.where(rows < 0, b.v[slots], 0.0))
    drawn = b.x[slots, None] + apart[:, None] * generator.standard_normal((slots.size, draws))
    joined = rows >= 0
    if joined.any():
        C = symmetric(b.C)[np.ix_(rows[joined], rows[joined])]
        values, vectors = np.linalg.eigh(C)
        root = vectors * np.sqrt(doubt * np.maximum(values, 0.0))
        drawn[joined] += root @ generator.standard_normal((int(joined.sum()), draws))
    return drawn
