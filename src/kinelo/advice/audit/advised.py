"""The K that is advised: the one that theory and backtest both support, and what was tested where they do not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinelo.advice.audit.backtest import BLOCKS, Backtest
from kinelo.advice.audit.check import PosteriorCheck
from kinelo.advice.audit.recursion import KCurve
from kinelo.matches.matches import Matches

FEW = 300
"""Matches below which nothing from the data beats a convention by much."""
WIDE = 4.0
"""An interval whose ends lie this factor apart tells no K."""

UNLIKE = {
    "spread": ("ratings lie further apart", "ratings lie closer together"),
    "movement": ("ratings move further in 20 matches", "ratings move less in 20 matches"),
    "likeness": ("opponents are more alike", "opponents are less alike"),
    "slope": ("results follow forecasts more steeply", "results follow forecasts less steeply"),
    "log_loss": ("results are harder to forecast", "results are easier to forecast"),
}


@dataclass(frozen=True)
class Advice:
    """A K with its 95 % interval.

    Attributes
    ----------
    k, low, high
        Geometric means of theory's and the backtest's where the two agree; else the backtest's own.
    agree
        Whether the intervals of theory and backtest overlap.
    telling
        Whether these matches can tell K at all: enough of them, and an interval within a factor of four.
    causes
        What was found where the two disagree: how the league differs from its replays.
    """

    k: float
    low: float
    high: float
    agree: bool
    telling: bool
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Period:
    """A quarter of the history: its days, matches, best K by theory, and by backtest with its 95 % interval."""

    first: str
    last: str
    matches: int
    theory: float
    measured: float
    low: float
    high: float

    @property
    def k(self) -> float:
        """What both say: the geometric mean."""
        return math.sqrt(self.theory * self.measured)


def advise(curve: KCurve, measured: Backtest, matches: int) -> Advice:
    """What theory and backtest support together."""
    low, high = measured.interval
    agree = curve.low <= high and low <= curve.high
    if agree:
        pairs = ((curve.best.k, measured.best), (curve.low, low), (curve.high, high))
        k, low, high = (math.sqrt(one * other) for one, other in pairs)
    else:
        k = measured.best
    low, high = min(low, k), max(high, k)
    return Advice(k, low, high, agree, matches >= FEW and high < WIDE * low)


def periods_of(matches: Matches, curve: KCurve, measured: Backtest) -> tuple[Period, ...]:
    """Best K of each quarter of the history."""
    ends = np.concatenate([[0], np.cumsum(measured.sizes)[BLOCKS - 1 :: BLOCKS]]).astype(int)
    return tuple(
        Period(
            str(matches.date[ends[n]]), str(matches.date[ends[n + 1] - 1]), int(ends[n + 1] - ends[n]),
            curve.quarters[n], *measured.period(n),
        )
        for n in range(4)
    )  # fmt: skip


def differences_from(check: PosteriorCheck) -> tuple[str, ...]:
    """In which of the things tested the league differs from itself played again, beyond 95 % of the replays."""
    found = []
    for name, real, (low, high) in zip(check.names, check.real, check.interval):
        if low <= real <= high:
            continue
        digits = 3 if abs(real) < 10 else 0
        found.append(
            f"{UNLIKE[name][0 if real > high else 1]} than when the league is played again from the estimates "
            f"({real:.{digits}f}; {low:.{digits}f} to {high:.{digits}f})"
        )
    return tuple(found)
