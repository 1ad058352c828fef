"""How soon the unit of margins forgets, from the margins of the matches fitted.

A memory of 1,000 matches follows a drift of decades. Where scoring changes within a few hundred matches it lags, and
forecasts become too sure or not sure enough. With ``u`` the running unit before a match, ``e`` the difference of what
it showed from what was expected and ``S`` the variance of that, up to the noise, which is what fits best, margins have
the log-likelihood ``−½ Σ log S − p Σ log u − ½ n log⟨e²/S⟩`` but for a constant; ``p Σ log u`` is there because ``y``
is seen in the unit and margins are not. A quarter of the memory is taken where margins are clearly more likely with it.
Strengths are heeded because a schedule that brings many unequal pairs makes margins larger while scoring stays.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from kinelo.forecasts.fit import WARM_UP
from kinelo.forecasts.parameters import Estimates
from kinelo.matches.matches import Matches
from kinelo.raters.margins import MEMORY, running_unit
from kinelo.raters.reading import read_anew

SHORT = MEMORY / 4

CLEARLY = 2.0
"""By how much the log-likelihood of the margins has to grow."""


def margin_lack(rater: Any, memory: float, found: Estimates, matches: Matches) -> float:
    """Minus the log-likelihood of the margins that are scored, but for a constant, with this memory of the unit."""
    twin = copy.copy(rater)
    twin.memory_ = memory
    twin.reset(found.values)
    unit = np.empty(len(matches))
    running_unit(matches.margin, twin.margin_unit_, memory, unit)
    y = twin._signal(matches)
    ((mean, variance),) = twin._sift(matches, [twin], [y])
    S = variance + twin._noise_of(matches)
    scored = np.isfinite(matches.margin) & np.isfinite(S) & (np.arange(len(matches)) >= int(WARM_UP * len(matches)))
    square = float(np.mean((y - mean)[scored] ** 2 / S[scored])) if scored.any() else 0.0
    if square == 0.0:
        return 0.0
    sizes = 0.5 * np.log(S[scored]) + twin.parameters_["margin_power"] * np.log(unit[scored])
    return float(sizes.sum()) + 0.5 * scored.sum() * math.log(square)


def with_memory(rater: Any, found: Estimates, matches: Matches) -> Estimates:
    """Settle the memory of a rater with normal beliefs; the estimates, read anew where it is not the usual one."""
    if rater.start is not None or math.isnan(rater.margin_unit_):
        return found
    usual, short = (margin_lack(rater, memory, found, matches) for memory in (rater.memory_, SHORT))
    if short > usual - CLEARLY:
        return found
    rater.memory_ = SHORT
    return read_anew(rater, found, matches)
