"""What an audit found, before it is put into words, and the K that theory and backtest support together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kinelo.advice.audit.alike import OpponentsFound
from kinelo.advice.audit.backtest import BLOCKS_OF_QUARTER, Difference, KBacktest
from kinelo.advice.audit.estimate import LeagueEstimate
from kinelo.advice.audit.gaps import Band
from kinelo.advice.audit.groups import GroupFound
from kinelo.advice.audit.in_use import OtherSystem, SystemInUse
from kinelo.advice.audit.inflation import RatingInflation
from kinelo.advice.audit.inputs import Misrated, RatingsInUse
from kinelo.advice.audit.kernels import Array
from kinelo.advice.audit.outlook import Outlook
from kinelo.advice.audit.recursion import KCurve, Prediction, Recursion
from kinelo.matches.matches import Matches
from kinelo.model.dynamics import Form, Walk
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem

FEWEST_FOR_K = 300
"""Matches below which nothing from the data beats a convention by much."""
WIDE_INTERVAL = 4.0
"""An interval whose ends lie this factor apart tells no K."""


@dataclass(frozen=True)
class Advice:
    """A K with its 95 % interval.

    Attributes
    ----------
    k, low, high
        Geometric means of theory's and the backtest's where the two agree and opponents are not alike; else the
        backtest's own. The lower end is 0 where no K that could be tested is too small.
    agree
        Whether the intervals of theory and backtest overlap.
    telling
        Whether these matches can tell K at all: enough of them, and an interval within a factor of four.
    """

    k: float
    low: float
    high: float
    agree: bool
    telling: bool


@dataclass(frozen=True)
class HistoryPeriod:
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


def advise(curve: KCurve, measured: KBacktest, matches: int, alike: bool = False) -> Advice:
    """What theory and backtest support together; where opponents are ``alike``, which theory does not know, the
    backtest alone."""
    low, high = measured.interval
    agree = curve.low <= high and low <= curve.high
    k = measured.best
    least, most = float(measured.k[0]), float(measured.k[-1])
    # No K below what was tested is advised, nor called too small.
    open_below = low <= least
    if agree and not alike:
        pairs = ((curve.best.k, k), (curve.low, low), (curve.high, high))
        k, low, high = (min(max(math.sqrt(one * other), least), most) for one, other in pairs)
        open_below = open_below and curve.low <= least
    low, high = 0.0 if open_below else min(low, k), max(high, k)
    return Advice(k, low, high, agree, matches >= FEWEST_FOR_K and high < WIDE_INTERVAL * low)


def periods_of(matches: Matches, curve: KCurve, measured: KBacktest) -> tuple[HistoryPeriod, ...]:
    """Best K of each quarter of the history."""
    ends = np.concatenate([[0], np.cumsum(measured.sizes)[BLOCKS_OF_QUARTER - 1 :: BLOCKS_OF_QUARTER]]).astype(int)
    return tuple(
        HistoryPeriod(
            str(matches.date[ends[n]]), str(matches.date[ends[n + 1] - 1]), int(ends[n + 1] - ends[n]),
            curve.quarters[n], *measured.period(n),
        )
        for n in range(4)
    )  # fmt: skip


@dataclass(frozen=True)
class Home:
    """The home advantage: what forecasts add, what it was in the first and the last tenth of the matches, by how much
    an advantage that follows it lowers the expected log-loss of the later half, and the standard error of today's."""

    in_use: float
    first: float
    today: float
    gain: float
    error: float = 0.0


@dataclass(frozen=True, repr=False)
class Findings:
    """What a league's rating system does to it, and what K should be.

    Attributes
    ----------
    advice
        The K that theory and backtest both support, with its 95 % interval, or what was tested where they disagree.
    outlook
        The K to use from now on: the best one over matches to come, from today's ratings.
    periods
        The best K of each quarter of the history; the last one is today's.
    k
        The K in use; None where a rule sets it match by match, or the system is no Elo.
    tested
        How much more the system in use loses on the later half than the K advised, with its 95 % interval.
    now, best
        What theory predicts of the system in use and of the K advised: log-loss, error of a rating, calibration.
    curve
        The same at every K, with theory's own best K and its interval.
    measured
        The curve by backtest, on the same matches.
    league
        What the matches alone say: how far strengths lie apart, how fast they move, home advantage, ties.
    home
        Home advantage in use, at first and today.
    slope
        Slope of results on forecasts of the system in use, with its standard error.
    spread
        Standard deviation of the strengths of the sides active at the end, from results alone, in points.
    moves
        Whether strengths move beyond what chance shows.
    step, rate
        Standard deviation of the change of a strength from one match of a side to its next, and its rate of return.
    memory
        Matches of a side after which a rating has followed 63 % of a change of strength.
    newcomer_matches
        Matches until what is unknown of a newcomer's start is less than the usual error of a rating.
    inflation
        Whether a rating today is worth what it was, and where newcomers should start; None without half a year.
    opponents
        How alike opponents are, how much of the differences ratings show, and how many matches it would take.
    groups
        What became of each group; empty where none were asked for.
    reference
        The group that they, and inflation, are told next to; None where that is all sides.
    bands
        The later half by fifths of the ratings: how far off, seen from results.
    misrated
        The sides rated highest and lowest, with what the matches say of their strength today.
    ratings
        What was found of the table of ratings in use; None without one.
    other
        What was found of a rater that is no Elo with a K; None without one.
    strengths, dynamics, system
        The league as the theory takes it: `kn.tracking(audit.system, audit.strengths, audit.dynamics)`.
    k_in_order
        Theory's best K of the later half, were the order of all matches within their day known; None where it is.
    extract
        The side that plays in every match, where there is one; None in a league.
    notes
        What these matches do not show, and why.
    """

    advice: Advice
    outlook: Outlook
    periods: tuple[HistoryPeriod, ...]
    k: float | None
    tested: Difference
    now: Prediction
    best: Prediction
    curve: KCurve
    measured: KBacktest
    league: LeagueEstimate
    home: Home
    slope: tuple[float, float]
    spread: float
    moves: bool
    step: float
    rate: float
    memory: float
    newcomer_matches: float
    inflation: RatingInflation | None
    opponents: OpponentsFound
    groups: tuple[GroupFound, ...]
    reference: str | None
    bands: tuple[Band, ...]
    misrated: tuple[Misrated, ...]
    ratings: RatingsInUse | None
    other: OtherSystem | None
    k_in_order: float | None
    extract: str | None
    notes: tuple[str, ...]
    in_use: SystemInUse = field(repr=False)
    strengths: Fixed = field(repr=False)
    dynamics: Form | Walk = field(repr=False)
    system: RatingSystem = field(repr=False)
    recursion: Recursion = field(repr=False)
    before: Array = field(repr=False)
    matches: Matches = field(repr=False)
    since: int = field(repr=False)
