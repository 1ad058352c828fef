"""One league, one question: is the rating system in use any good, and which K should it have?"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.alike import OpponentsFound, Range, opponents_found
from kinelo.advice.audit.backtest import (
    BLOCKS_OF_QUARTER,
    LEAST_FOLLOWED,
    Difference,
    KBacktest,
    backtest,
    k_grid,
    lowest,
)
from kinelo.advice.audit.contests import ContestAudit, audit_contests
from kinelo.advice.audit.estimate import LeagueEstimate, estimate_league, moves
from kinelo.advice.audit.gaps import Band, bands_of, law_of
from kinelo.advice.audit.hindsight import strengths_in_hindsight
from kinelo.advice.audit.in_use import (
    OtherSystem,
    SystemInUse,
    carried_on,
    other_system,
    own_losses,
    side_ratings,
    system_of,
)
from kinelo.advice.audit.inflation import GroupFound, RatingInflation, groups_found, groups_of, inflation_of
from kinelo.advice.audit.inputs import (
    Misrated,
    RatingsInUse,
    auditable,
    compare_ratings,
    latest_part,
    only_side,
    table_of,
)
from kinelo.advice.audit.kernels import Array, Calendar, Parameters
from kinelo.advice.audit.outlook import Outlook, look_ahead, newcomers_steps
from kinelo.advice.audit.recursion import (
    Advice,
    KCurve,
    Prediction,
    Recursion,
    advise,
    k_curve,
    replay,
)
from kinelo.advice.audit.verdict import AuditReport, Lead, lead_of
from kinelo.advice.audit.words import Finding, advised, findings_of, gain_words, rows_of
from kinelo.advice.report import Rows
from kinelo.errors import InputError
from kinelo.matches.contests import Contests
from kinelo.matches.matches import Matches, check_matches
from kinelo.model.dynamics import Form, Walk
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem
from kinelo.presentation import json_ready
from kinelo.runtime.progress import Progress, stages

if TYPE_CHECKING:
    from kinelo.advice.audit.performance import Performance
    from kinelo.raters.rater import Rater

ACTIVE_YEARS = 2.0
SECONDS = 0.0003
"""Processor time for each match, about."""
REPLAYS = 40
REPLAY_RUNG, REPLAY_RUNGS = 1.35, 5
"""K tried in each replay: this factor apart, so many on either side of K*."""


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


@dataclass(frozen=True)
class Home:
    """The home advantage: what forecasts add, what it was in the last tenth of the matches, by how much an advantage
    that follows it lowers the expected log-loss of the later half, the standard error of today's, and whether what
    forecasts add was given, and not that of the earlier half."""

    in_use: float
    today: float
    gain: float
    error: float = 0.0
    given: bool = True


@dataclass(frozen=True, repr=False)
class Audit(AuditReport):
    """What a league's rating system does to it, and what K should be.

    ``verdict`` is the answer in one sentence; ``performance`` is computed when first asked for.

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
    inflation: RatingInflation | None
    opponents: OpponentsFound
    groups: tuple[GroupFound, ...]
    reference: str | None
    bands: tuple[Band, ...]
    misrated: tuple[Misrated, ...]
    ratings: RatingsInUse | None
    other: OtherSystem | None
    extract: str | None
    notes: tuple[str, ...]
    in_use: SystemInUse
    strengths: Fixed
    dynamics: Form | Walk
    system: RatingSystem
    recursion: Recursion
    before: Array
    matches: Matches
    since: int

    _heading = "What these matches do not show"

    @cached_property
    def lead(self) -> Lead:
        """The answer: one K with its interval, one reason and one caveat."""
        return lead_of(self)

    @cached_property
    def findings(self) -> list[Finding]:
        """At most six findings, each with what to do, the most useful first."""
        return findings_of(self)

    def rows(self) -> Rows:
        """Name and finding of every line."""
        return rows_of(self)

    def _gain_words(self) -> tuple[str, str]:
        return gain_words(self, "matches")

    @cached_property
    def performance(self) -> Performance | None:
        """How much performances vary around strengths because line-ups do; None without line-ups."""
        from kinelo.advice.audit.performance import performance_of

        return performance_of(self.matches, self.recursion, self.best.k)

    @property
    def opponents_correlation(self) -> Range:
        """How alike opponents are: the correlation of their strengths, corrected for luck."""
        return self.opponents.correlation

    @property
    def share_shown(self) -> Range:
        """How much of the true differences the ratings in use show: their slope on strengths."""
        return self.opponents.share_shown

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, words and lists, ready for JSON; what is undefined is None."""
        names = "moves step rate memory extract reference"
        plain = self._alike() | {name: getattr(self, name) for name in names.split()}
        plain |= {
            "matches": len(self.matches),
            "scored": len(self.matches) - self.since,
            "outlook": asdict(self.outlook) | {"differs": self.outlook.differs},
            "periods": [asdict(one) for one in self.periods],
            "league": self.league.parameters._asdict()
            | {"log_likelihood": self.league.log_likelihood, "standard_errors": self.league.standard_errors},
            "home": asdict(self.home),
            **self.opponents.to_dict(),
            "inflation": None if self.inflation is None else self.inflation.to_dict(),
            "groups": [one.to_dict() for one in self.groups],
            "tested": asdict(self.tested),
            "now": asdict(self.now),
            "best": asdict(self.best),
            "curve": self.curve.to_dict(),
            "theory": {"k": self.curve.best.k, "low": self.curve.low, "high": self.curve.high},
            "calibration": {"slope": self.slope[0], "standard_error": self.slope[1]},
            "bands": [asdict(one) for one in self.bands],
            "misrated": [asdict(one) for one in self.misrated],
            "ratings": None if self.ratings is None else asdict(self.ratings),
            "performance": None if self.performance is None else asdict(self.performance),
        }
        return json_ready(plain)


@overload
def audit(
    matches: Matches,
    rater: Rater | None = None,
    *,
    ratings: Any = None,
    by: Any = None,
    reference: str | None = None,
    progress: Progress = False,
) -> Audit: ...


@overload
def audit(matches: Contests, rater: Rater | None = None, *, progress: Progress = False) -> ContestAudit: ...


def audit(
    matches: Matches | Contests,
    rater: Rater | None = None,
    *,
    ratings: Any = None,
    by: Any = None,
    reference: str | None = None,
    progress: Progress = False,
) -> Audit | ContestAudit:
    """Say what a league's rating system does to it, which K it should have, and what moving there buys.

    Parameters
    ----------
    matches
        The results of the league, in order of date: some hundred at least, thousands for a sharp answer. Or contests
        of many entrants: forty at least, and the answer is a :class:`kinelo.advice.ContestAudit`.
    rater
        The system in use, a :meth:`TeamElo.classic` with a K or a rule of K; by default K = 32 with the home advantage
        of the earlier half, which any ``home_advantage=None`` stands for. Any other rater is fitted on the earlier
        half, and its forecasts of the later one are held against results and against Elo at its best K.
    ratings
        The table of ratings in use (name, rating): a frame, a mapping or a CSV file. It is held against what the
        matches say of strengths today.
    by
        Groups whose questions are answered apart: a mapping from names to groups, a table or CSV file with the columns
        name and group, or a column that the matches were read with (``conditions=["region"]``, or one for each side).
    reference
        The group that is taken to stand still (adults, established players): inflation, gains and biases are told next
        to it. Results alone do not show whether everybody grew stronger.
    progress
        True says on the terminal what is being done; a function is called with the same words.

    Examples
    --------
    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(seed=1).results)
    >>> found = kn.audit(matches, kn.TeamElo.classic(k=60, home_advantage=None))
    >>> found.best.k < 60, found.verdict.split(":")[0]
    (True, 'K = 60 is too large for this league')
    """
    if isinstance(matches, Contests):
        for name, value in {"ratings": ratings, "by": by, "reference": reference}.items():
            if value is not None:
                raise InputError(f"{name}=… is for audits of matches of two sides; an audit of contests takes a rater.")
    else:
        check_matches(matches)
    with stages(progress) as tell:
        if isinstance(matches, Contests):
            return audit_contests(matches, rater, tell)
        return _audit_matches(matches, rater, ratings, by, reference, tell)


def _audit_matches(
    matches: Matches, rater: Rater | None, ratings: Any, by: Any, reference: str | None,
    tell: Callable[[str, float], None],
) -> Audit:  # fmt: skip
    """The audit of matches that hold together, which tells what it is doing."""
    matches, earlier = latest_part(matches)
    rater, notes = carried_on(rater, earlier), []
    if earlier is not None:
        notes.append(
            f"Of {len(earlier) + len(matches):,} matches the latest {len(matches):,}, since {matches.date[0]}, are "
            "audited, with ratings carried on from the earlier ones."
        )
    matches, since = auditable(matches, notes)
    in_use, other_rater = system_of(rater, matches, since)
    table = None if ratings is None else table_of(ratings, matches)
    calendar = Calendar.of(matches)
    if reference is not None and by is None:
        raise InputError("A reference is one of the groups: say by what sides are grouped (by=, --by).")
    groups = None if by is None else groups_of(by, matches, reference)
    seconds = max(SECONDS * len(matches), 2)
    tell(f"Auditing {len(matches):,} matches takes about {seconds:.0f} s of processor time", 0.0)
    tell("Estimating strengths and their movement", 0.01)
    league = estimate_league(calendar, in_use.nu)
    in_use = in_use.with_ties(league.ties)
    recursion = Recursion(calendar, league.parameters, in_use.in_kernels(matches), since)
    tell("Asking the theory what every K would do", 0.10)
    centre = recursion.best()
    each = 2.0 * len(matches) / len(matches.teams)
    least = 2.0 * LEAST_FOLLOWED / (recursion.slope * each)
    ks = k_grid(centre, in_use.k or centre, least)
    tell("Holding every K against the later half of the matches", 0.14)
    measured = backtest(lambda some: in_use.losses(matches, some), ks, since, least=least)
    tell(f"Playing the league {REPLAYS} times again, to see how sure that is", 0.17)
    drawn = league.draw(calendar, REPLAYS)
    curve = k_curve(recursion, ks, centre, replay_interval(recursion, drawn, centre))
    before, steps = in_use.trace(matches)
    tell("Finding strengths from results alone, whoever met whom", 0.50)
    hindsight = strengths_in_hindsight(calendar, league.parameters, recursion.strengths)
    used = steps if steps is not None else np.multiply.outer(matches.weight, np.full(2, (in_use.k or centre) / 2))
    opponents = opponents_found(calendar, league.parameters, hindsight, recursion.system, used, ACTIVE_YEARS)
    advice = advise(curve, measured, len(matches), opponents.alike)
    other = None
    if other_rater is not None:
        tell(f"Fitting {type(other_rater).__name__} on the earlier half", 0.55)
        other = other_system(other_rater, matches, since, in_use, measured)
    rated = in_use.blank().update(matches)
    tell("Looking ahead from today's ratings", 0.56)
    today_rated = side_ratings(rated, matches.teams) - rated.initial
    outlook = look_ahead(recursion, drawn, today_rated, advice, curve.best.k, in_use.k)
    k = in_use.k or advice.k
    result, gaps = matches.signed[since:], in_use.gaps(matches, before, since)
    # The league as theory takes it: form about its mean where that explains the spread of today; else a walk.
    spread, (step, rate) = max(opponents.spread.value, 1e-3), recursion.change_per_match()
    strength, _, active = opponents.today
    names = [matches.teams[i] for i in np.flatnonzero(active)]
    if rate > 0 and step**2 / (2 * rate) <= 2 * spread**2:
        strengths, dynamics = Fixed(np.zeros(len(names)), names=names), Form(rate, step / math.sqrt(2 * rate))
    else:
        # As far apart as strengths are, not as luck makes them look.
        apart = strength[active] * spread / max(float(strength[active].std()), 1e-9)
        strengths, dynamics = Fixed(apart, names=names), Walk(spread=step)
    now = recursion.at(k if steps is None else steps)
    memory = recursion.memory(k)
    by_group, inflation = (), None
    if groups is not None:
        rated_so, known = (before, memory, in_use.rater.initial), recursion.strengths
        by_group, inflation = groups_found(calendar, league.parameters, known, groups, rated_so, reference)
    if reference is None:
        inflation = inflation_of(calendar, hindsight, before, memory, in_use.rater.initial, in_use.nu)
    notes.append(
        "How much performances vary around strengths from match to match does not show in results alone: it flattens "
        "the scale of results, and strengths here are on that scale"
        + ("; line-ups show the part that they make." if matches.lineups is not None else ".")
    )
    ends = np.concatenate([[0], np.cumsum(measured.sizes)[BLOCKS_OF_QUARTER - 1 :: BLOCKS_OF_QUARTER]]).astype(int)
    periods = tuple(
        HistoryPeriod(
            str(matches.date[first]), str(matches.date[last - 1]), int(last - first), curve.quarters[n],
            *measured.period(n),
        )
        for n, (first, last) in enumerate(pairwise(ends))
    )  # fmt: skip
    home = replace(_home(recursion, in_use, k), given=getattr(rater, "home_advantage", None) is not None)
    audit = Audit(
        advice=advice, groups=by_group, extract=only_side(matches), outlook=outlook, periods=periods,
        k=in_use.k if other is None else None, moves=moves(calendar, league),
        tested=measured.against(own_losses(in_use.blank(), matches), advice.k), now=now, best=recursion.at(advice.k),
        curve=curve, measured=measured, league=league, home=home, slope=gaps.slope(result),
        spread=spread, step=step, rate=rate, memory=memory,
        inflation=inflation, opponents=opponents, reference=reference,
        bands=bands_of(before[since:, 0], before[since:, 1], gaps, result),
        misrated=compare_ratings(matches.teams, rated.ratings_, *opponents.today).extremes,
        ratings=None if table is None else compare_ratings(matches.teams, table, *opponents.today), other=other,
        notes=tuple(notes), in_use=in_use, strengths=strengths, dynamics=dynamics,
        system=RatingSystem(law_of(in_use.nu, league.ties), gamma=k / 2), recursion=recursion, before=before,
        matches=matches, since=since,
    )  # fmt: skip
    # Beside the K that is said.
    first = newcomers_steps(recursion, in_use, matches, advised(audit).k, measured)
    return replace(audit, outlook=replace(outlook, first=first))


def replay_interval(recursion: Recursion, drawn: list[Parameters], centre: float) -> tuple[float, float]:
    """Where the best K lies in 95 % of replays: each draw of the parameters plays one, and that replay's best K counts.

    The logarithms of forty best K are taken as normal: their quantiles themselves would be the extremes.
    """
    ks = centre * REPLAY_RUNG ** np.arange(-REPLAY_RUNGS, REPLAY_RUNGS + 1.0)
    calendar, losses = recursion.calendar, np.empty((len(drawn), ks.size))
    for parameters, stream, row in zip(drawn, np.random.SeedSequence(0).spawn(len(drawn)), losses):
        result = replay(calendar, parameters, np.random.default_rng(stream)).result
        kernels.play_results(calendar, recursion.system, ks, result, recursion.since, row)
    found = np.log(lowest(ks, losses.T))
    reach = 2.02 * float(found.std(ddof=1))
    return math.exp(found.mean() - reach), math.exp(found.mean() + reach)


def _home(recursion: Recursion, in_use: SystemInUse, k: float) -> Home:
    """The home advantage today, and what it buys to follow it."""
    advantages = recursion.strengths.home[~recursion.calendar.neutral]
    if advantages.size == 0:
        return Home(0.0, 0.0, 0.0)  # all on neutral ground
    tenth = max(advantages.size // 10, 1)
    # What was known before each match: to follow what only later results tell would be hindsight.
    known = np.where(recursion.calendar.neutral, 0.0, recursion.filtered.home_path[:, 0])
    following = copy.copy(recursion)
    following.system = recursion.system._replace(home=known)
    gain = recursion.loss(k) - following.loss(k)
    today = float(advantages[-tenth:].mean())
    return Home(in_use.home_advantage, today, gain, math.sqrt(float(recursion.filtered.home_path[-1, 3])))
