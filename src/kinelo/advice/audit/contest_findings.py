"""What an audit of contests found, before it is put into words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kinelo.advice.audit.alike import CLEARLY_ALIKE, Measured
from kinelo.advice.audit.backtest import Difference, KBacktest
from kinelo.advice.audit.contest_fields import Between, FieldsFound
from kinelo.advice.audit.contest_theory import ContestLeague, field_luck
from kinelo.advice.audit.findings import Advice
from kinelo.advice.audit.in_use import OtherSystem, SystemInUse
from kinelo.advice.audit.recursion import KCurve
from kinelo.matches.contests import FINISHED, Contests

CLEARLY_FOLLOWS = 3.5
"""Standard deviations of luck's test beyond which fields follow results."""


class LuckLevel(NamedTuple):
    """Factor of the luck at one level of a column, with its 80 % interval, and contests."""

    column: str
    level: str
    factor: float
    low: float
    high: float
    contests: int


@dataclass(frozen=True, repr=False)
class ContestFindings:
    """What plain Elo does to contests of many entrants, and what K should be.

    Attributes
    ----------
    advice
        The K that theory and backtest both support, with its 95 % interval.
    k
        The K in use; None where another rater is.
    gain
        How much more the K in use loses, per pair of finishers of the later half, than the K advised.
    pairs_right
        Share of pairs of the later half in the order forecast, with the K in use and with the K advised.
    curve, measured
        Log-loss of orders at every K, by theory and by backtest.
    league
        Strengths in points: their yearly walk and return, newcomers' deviation and how far off they start, and the
        deviation within a field.
    walk
        The yearly walk of a strength, with its standard error.
    fields
        What all contests at once say of strengths: their spread, ``alike``, the correlation of two entrants of one
        contest (0 where fields are drawn from all alike), and how much of the true differences the ratings of the later
        half show, their slope on strengths, with the K in use (``share_shown``) and the one advised
        (``shown_advised``).
    start
        Where newcomers should start beside ratings at the best K; None where nobody is new.
    newcomer_contests
        Contests after which what is unknown of a newcomer's start is less than the usual error of a rating.
    luck
        Factors of the luck by levels of columns that are one for all of a contest.
    other
        What was found of a rater that is no Elo with a K; None without one.
    notes
        What was left out, and why.
    """

    advice: Advice
    k: float | None
    gain: Difference
    pairs_right: tuple[float, float]
    curve: KCurve
    measured: KBacktest
    league: ContestLeague
    walk: Measured
    fields: FieldsFound
    start: Measured | None
    newcomer_contests: float
    luck: tuple[LuckLevel, ...]
    other: OtherSystem | None
    notes: tuple[str, ...]
    in_use: SystemInUse = field(repr=False)
    contests: Contests = field(repr=False)
    since: int = field(repr=False)

    @property
    def alike(self) -> Between:
        """Correlation of the strengths of two entrants of one contest."""
        return self.fields.correlation

    @property
    def share_shown(self) -> Between:
        """Share of the true differences that ratings show with the K in use."""
        return self.fields.shares[0]

    @property
    def shown_advised(self) -> Between:
        """The same with the K advised."""
        return self.fields.shares[1]

    @property
    def follows_results(self) -> bool:
        """Whether results clearly decide who meets whom."""
        return self.fields.follows > CLEARLY_FOLLOWS

    @property
    def like_meets_like(self) -> bool:
        """Whether entrants of one contest are clearly alike."""
        return self.alike.low > CLEARLY_ALIKE

    @property
    def unfinished(self) -> float:
        """Part of all entries that did not finish, whom plain Elo counts as beaten by all who did."""
        return float((self.contests.ended != FINISHED).mean())

    @property
    def share_of_luck(self) -> float:
        """Luck of a contest of the usual size in units of that of a match of two."""
        luck, there = field_luck(self.league, self.in_use.nu), 1.0 - self.unfinished
        return luck.of_contest(float(np.median(self.contests.sizes)), there) / luck.of_contest(2.0, there)
