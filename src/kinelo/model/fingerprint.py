"""Whether two leagues are one: what is computed from the laws alone can be kept for the next that are equal."""

from __future__ import annotations

import numpy as np

from kinelo.model.digest import law_digest
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Empirical, Fixed, LineupLottery, Normal, Strength


def likeness(outcome: Outcome, strengths: Strength) -> str | None:
    """The same text for laws of the same kinds and numbers; None where a law may hold what is not seen from outside.

    >>> from kinelo.model.outcome import Tanh
    >>> likeness(Tanh(0.5), Fixed([1.0, 2.0])) == likeness(Tanh(0.5), Fixed([1.0, 2.0]))
    True
    """
    if outcome.code is None:
        return None
    if type(strengths) is Fixed:
        numbers = [strengths.theta]
    elif type(strengths) is Normal:
        numbers = [strengths.theta, strengths.sigma]
    elif type(strengths) is LineupLottery:
        numbers = [strengths.rho, strengths.tables.selection, np.array(strengths.m)]
    elif type(strengths) is Empirical:
        numbers = [strengths.values, strengths.probabilities]
    else:
        return None
    return law_digest((type(outcome), outcome.code, type(strengths), numbers))
