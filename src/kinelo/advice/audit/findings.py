"""What an audit found, before it is put into words."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinelo.advice.audit.advised import Advice, Period
from kinelo.advice.audit.backtest import Backtest, Difference
from kinelo.advice.audit.estimate import LeagueEstimate
from kinelo.advice.audit.gaps import Band
from kinelo.advice.audit.in_use import SystemInUse
from kinelo.advice.audit.kernels import Array
from kinelo.advice.audit.other import OtherSystem
from kinelo.advice.audit.recursion import KCurve, Prediction, Recursion
from kinelo.advice.audit.table_in_use import Misrated, RatingsInUse
from kinelo.matches.matches import Matches
from kinelo.model.dynamics import Form, Walk
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem


@dataclass(frozen=True)
class Home:
    """The home advantage: what forecasts add, what it was in the first and the last tenth of the matches, and by how
    much an advantage that follows it lowers the expected log-loss of the later half."""

    in_use: float
    first: float
    today: float
    gain: float


@dataclass(frozen=True)
class Comparison:
    """The system in use against every K tried, on the later half of the matches.

    Attributes
    ----------
    gain
        How much more the system in use loses than the K advised, with its 95 % interval.
    better
        The K that is most surely better than the system in use; None where none is, beyond the interval.
    better_gain
        How much more the system in use loses than that K.
    """

    gain: Difference
    better: float | None
    better_gain: Difference | None


@dataclass(frozen=True, repr=False)
class Findings:
    """What a league's rating system does to it, and what K should be.

    Attributes
    ----------
    verdict
        One sentence: the answer.
    advice
        The K that theory and backtest both support, with its 95 % interval, or what was tested where they disagree.
    periods
        The best K of each quarter of the history; the last one is today's.
    k
        The K in use; None where a rule sets it match by match, or the system is no Elo.
    tested
        The system in use against every K tried.
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
        Standard deviation of the strengths of the sides active at the end, in points.
    step, rate
        Standard deviation of the change of a strength from one match of a side to its next, and its rate of return.
    memory
        Matches of a side after which a rating has followed 63 % of a change of strength.
    newcomer_matches
        Matches until what is unknown of a newcomer's start is less than the usual error of a rating.
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
    notes
        What could not be told from these matches, and why.
    """

    verdict: str
    advice: Advice
    periods: tuple[Period, ...]
    k: float | None
    tested: Comparison
    now: Prediction
    best: Prediction
    curve: KCurve
    measured: Backtest
    league: LeagueEstimate
    home: Home
    slope: tuple[float, float]
    spread: float
    step: float
    rate: float
    memory: float
    newcomer_matches: float
    bands: tuple[Band, ...]
    misrated: tuple[Misrated, ...]
    ratings: RatingsInUse | None
    other: OtherSystem | None
    notes: tuple[str, ...]
    in_use: SystemInUse = field(repr=False)
    strengths: Fixed = field(repr=False)
    dynamics: Form | Walk = field(repr=False)
    system: RatingSystem = field(repr=False)
    recursion: Recursion = field(repr=False)
    before: Array = field(repr=False)
    matches: Matches = field(repr=False)
    since: int = field(repr=False)
