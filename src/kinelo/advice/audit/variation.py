r"""Do performances of some sides vary more than those of others?

A side whose performances vary more has flatter results: it wins less as a favourite and more as an outsider. With
forecasts b and gaps z of the filter, ``T_i = Σ (S − b) νz / √Σ ν²z² Var S`` over the matches of side i is its score for
steepness. Where all sides are alike T_i has mean 0 and variance 1 up to what all share, which is taken out. The null is
drawn, not assumed: results are drawn again from the forecasts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinelo.advice.audit.gaps import Gaps
from kinelo.advice.audit.kernels import Array, Calendar
from kinelo.advice.audit.recursion import Recursion
from kinelo.matches.matches import Matches

DRAWS = 200
LEAST = 30


@dataclass(frozen=True)
class Variation:
    """Whether sides differ in how much their performances vary.

    Attributes
    ----------
    sides
        Sides with at least 30 matches.
    spread, null_low, null_high
        Variance over sides of the score for steepness, and where chance alone puts 95 % of it.
    p_value
        Share of drawn leagues of alike sides with a spread at least as large.
    split_half
        Correlation of the scores of a side's odd and even matches.
    """

    sides: int
    spread: float
    null_low: float
    null_high: float
    p_value: float
    split_half: float


def variation_of(matches: Matches, recursion: Recursion, seed: int = 0) -> Variation:
    """Test whether spreads of performance differ between sides."""
    calendar, (gap, doubt) = recursion.calendar, recursion.before_results()
    expected, _, spread = Gaps(gap, np.sqrt(doubt), recursion.parameters.ties, recursion.parameters.nu).law()
    z = recursion.parameters.nu * gap
    count = np.bincount(np.concatenate([matches.home, matches.away]), minlength=len(matches.teams))
    enough = count >= LEAST
    score = _Scores(calendar, z, spread, enough)
    draw = np.random.default_rng(seed)
    tie = 1 - spread - expected**2
    win = (1 - tie + expected) / 2
    null = []
    for _ in range(DRAWS):
        uniform = draw.random(len(matches))
        again = np.where(uniform < win, 1.0, np.where(uniform < win + tie, 0.0, -1.0))
        null.append(float(score.of(again - expected).var()))
    residual = matches.signed - expected
    found = float(score.of(residual).var())
    odd = score.of(residual, 0), score.of(residual, 1)
    correlation = float(np.corrcoef(*odd)[0, 1]) if enough.sum() > 3 else float("nan")
    low, high = np.quantile(null, [0.025, 0.975])
    p = (1 + int(np.sum(np.array(null) >= found))) / (1 + DRAWS)
    return Variation(int(enough.sum()), found, float(low), float(high), p, correlation)


class _Scores:
    def __init__(self, calendar: Calendar, z: Array, spread: Array, enough: NDArray[np.bool_]) -> None:
        self._sides = np.concatenate([calendar.home, calendar.away])
        self._order = np.arange(calendar.size) % 2
        self._z, self._spread, self._enough = z, spread, enough

    def of(self, residual: Array, half: int | None = None) -> Array:
        """Score of every side with enough matches; the part that all share is taken out."""
        keep = np.ones(residual.size) if half is None else (self._order == half).astype(float)
        information = keep * self._z**2 * self._spread
        raw = keep * residual * self._z
        common = raw.sum() / max(float(information.sum()), 1e-12)
        size = self._enough.size
        top = np.bincount(self._sides, np.tile(raw - common * information, 2), minlength=size)
        below = np.bincount(self._sides, np.tile(information, 2), minlength=size)
        return (top / np.sqrt(np.maximum(below, 1e-12)))[self._enough]
