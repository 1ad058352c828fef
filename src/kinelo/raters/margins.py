"""Margins as raters see them: the unit they are measured in, the law of surprises, and how soon the unit forgets.

**Unit.** It is a running mean of the size of margins. Scoring drifts over decades, and what was a large margin once is
an ordinary one later. With ``u`` the unit before a match of margin ``m``, ``u ← u + (|m| − u)/memory`` after it:
causal, and steady to a few per cent. A memory of 1,000 matches follows any drift that takes years, and in a shorter
table the unit hardly moves from where it began. Raters with normal beliefs forget sooner where the margins fitted ask
for it (below).

**Law.** Surprises ``z = (y − μ)/√(V + noise²)`` have mean square 1, but they need not be normal: where nobody draws
there is a hole around an even score, and a power of the margin moves weight from the tails to the shoulders. The law is
the increasing odd function ``T`` that makes surprises of normal deviates, ``z = T(g)``: at deviates 0, 0.1, …, 3 it is
the quantile of ``|z|`` that belongs to ``|g|``, straight in between and in proportion beyond. A hundred normal
surprises are taken for seen before the first, so that a short table stays near the normal law.

**Memory.** A memory of 1,000 matches follows a drift of decades. Where scoring changes within a few hundred matches it
lags, and forecasts become too sure or not sure enough. With ``u`` the running unit before a match, ``e`` the difference
of what it showed from what was expected and ``S`` the variance of that, up to the noise, which is what fits best,
margins have the log-likelihood ``−½ Σ log S − p Σ log u − ½ n log⟨e²/S⟩`` but for a constant; ``p Σ log u`` is there
because ``y`` is seen in the unit and margins are not. A quarter of the memory is taken where margins are clearly more
likely with it. Strengths count because a schedule that brings many unequal pairs makes margins larger while scoring
stays.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.forecasts.fit import WARM_UP
from kinelo.forecasts.parameters import Estimates
from kinelo.matches.matches import Matches
from kinelo.play.formula import kernel
from kinelo.raters.reading import refit_reading

MEMORY = 1000


@kernel
def running_unit(margin, unit, memory, out):
    """Unit before every match into ``out``; return the one after the last."""
    for k in range(margin.size):
        out[k] = unit
        if not math.isnan(margin[k]):
            unit += (abs(margin[k]) - unit) / memory
    return unit


def first_unit(margin: NDArray[np.float64]) -> float:
    """Mean size of the first margins of a table, NaN where there are none to speak of."""
    known = np.abs(margin[~np.isnan(margin)])
    if not np.any(known > 0):
        return math.nan
    early = float(known[:MEMORY].mean())
    return early if early > 0 else float(known.mean())


Array = NDArray[np.float64]
NORMAL_QUANTILES = np.linspace(0.0, 3.0, 31)
BEFORE = 100
LEAST_RISE = 1e-9


class MarginLaw:
    """``T`` by its values at the nodes; the normal law where nothing is given.

    >>> law = MarginLaw()
    >>> float(law.surprise(np.array([-1.0]))[0]), float(law.deviate(np.array([2.5]))[0])
    (-1.0, 2.5)
    """

    def __init__(self, values: Array | None = None) -> None:
        self.values: Array = NORMAL_QUANTILES.copy() if values is None else np.asarray(values, float)

    @classmethod
    def of(cls, surprises: Array) -> MarginLaw:
        """The law of surprises that were seen; those that are not finite say nothing."""
        size = np.abs(surprises[np.isfinite(surprises)])
        before = ndtri(0.5 + (np.arange(BEFORE) + 0.5) / (2.0 * BEFORE))
        quantiles = np.quantile(np.concatenate([size, before]), 2.0 * ndtr(NORMAL_QUANTILES) - 1.0)
        quantiles[0] = 0.0
        return cls(np.maximum.accumulate(quantiles + LEAST_RISE * NORMAL_QUANTILES))

    def surprise(self, g: Array) -> Array:
        """``T(g)``."""
        return np.sign(g) * _straight(np.abs(g), NORMAL_QUANTILES, self.values)

    def deviate(self, z: Array) -> Array:
        """The ``g`` with ``T(g) = z``."""
        return np.sign(z) * _straight(np.abs(z), self.values, NORMAL_QUANTILES)


def _straight(at: Array, x: Array, y: Array) -> Array:
    """Straight lines through points, in proportion beyond the last."""
    return np.where(at > x[-1], at * (y[-1] / x[-1]), np.interp(at, x, y))


SHORT_MEMORY = MEMORY / 4

CLEAR_GAIN = 2.0
"""By how much the log-likelihood of the margins has to grow."""


def margin_lack(rater: Any, memory: float, estimates: Estimates, matches: Matches) -> float:
    """Minus the log-likelihood of the margins that are scored, but for a constant, with this memory of the unit."""
    twin = copy.copy(rater)
    twin._memory = memory
    twin._reset(estimates.values)
    unit = np.empty(len(matches))
    running_unit(matches.margin, twin._margin_unit, memory, unit)
    y = twin._signal(matches)
    ((mean, variance),) = twin._filter_batch(matches, [twin], [y])
    S = variance + twin._noise_of(matches)
    scored = np.isfinite(matches.margin) & np.isfinite(S) & (np.arange(len(matches)) >= int(WARM_UP * len(matches)))
    square = float(np.mean((y - mean)[scored] ** 2 / S[scored])) if scored.any() else 0.0
    if square == 0.0:
        return 0.0
    sizes = 0.5 * np.log(S[scored]) + twin.parameters_["margin_power"] * np.log(unit[scored])
    return float(sizes.sum()) + 0.5 * scored.sum() * math.log(square)


def choose_memory(rater: Any, estimates: Estimates, matches: Matches) -> Estimates:
    """Settle the memory of a rater with normal beliefs; the estimates, read anew where it is not the usual one."""
    if rater.start is not None or math.isnan(rater._margin_unit):
        return estimates
    usual, short = (margin_lack(rater, memory, estimates, matches) for memory in (rater._memory, SHORT_MEMORY))
    if short > usual - CLEAR_GAIN:
        return estimates
    rater._memory = SHORT_MEMORY
    return refit_reading(rater, estimates, matches)
