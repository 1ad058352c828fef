"""What an audit found, before it is put into words."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinelo.advice.audit.curve import KCurve, Prediction
from kinelo.advice.audit.estimate import LeagueEstimate
from kinelo.advice.audit.gaps import Band
from kinelo.advice.audit.in_use import Misrated, RatingsInUse
from kinelo.advice.audit.measured import Measured, Venue
from kinelo.advice.audit.other import OtherSystem
from kinelo.matches.matches import Matches
from kinelo.model.dynamics import Form, Walk
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem


@dataclass(frozen=True, repr=False)
class Findings:
    """What a league's rating system does to it, and what K should be.

    Attributes
    ----------
    verdict
        One sentence: the answer.
    k
        The K in use.
    league
        What the matches alone say: how far strengths lie apart, how fast they move, home advantage, ties.
    now, best
        What theory predicts at the K in use and at K*: log-loss, noise, lag, newcomers, bias, calibration.
    curve
        The same at every K, with the interval of K*.
    measured
        The curve by backtest, on the same matches.
    slope
        Slope of results on forecasts of the system in use, with its standard error.
    later_slope
        The same with home advantage and ties of the later half, in place of the earlier one's.
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
        What was found of a rater that is not classic Elo; None without one.
    strengths, dynamics, system
        The league as the theory takes it: `kn.tracking(audit.system, audit.strengths, audit.dynamics)`.
    notes
        What could not be told from these matches, and why.
    """

    verdict: str
    k: float
    league: LeagueEstimate
    now: Prediction
    best: Prediction
    curve: KCurve
    measured: Measured
    slope: tuple[float, float]
    later_slope: tuple[float, float]
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
    strengths: Fixed = field(repr=False)
    dynamics: Form | Walk = field(repr=False)
    system: RatingSystem = field(repr=False)
    venue: Venue = field(repr=False)
    later_venue: Venue = field(repr=False)
    matches: Matches = field(repr=False)
    since: int = field(repr=False)
