"""Contests of many entrants, one question: which K should plain Elo have on them?

Every K is tried on the contests themselves. A theory that followed the strengths found by :class:`kinelo.RankElo` chose
K no better (log-loss 0.00030 above the best one's by both, 0.00031 by trying, on 65 made-up leagues of thirteen kinds).
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.advice.audit.alike import CLEARLY_ALIKE, FieldsFound, Range, fields_found
from kinelo.advice.audit.backtest import Difference, KBacktest, backtest, k_grid
from kinelo.advice.audit.in_use import OtherSystem, SystemInUse, system_of
from kinelo.advice.audit.inflation import Shift
from kinelo.advice.audit.kernels import Array
from kinelo.advice.audit.recursion import Advice, advise
from kinelo.advice.audit.verdict import AuditReport, Lead, contest_lead
from kinelo.advice.audit.words import Finding, contest_findings, contest_rows, gain_words
from kinelo.advice.report import Rows
from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.contest_scores import order_log_loss, pairs_of, pairs_right, pooled
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import FINISHED, Contests, Slots, check_contests
from kinelo.presentation import counted, json_ready
from kinelo.raters.one_contest import slots_not_used
from kinelo.raters.rank.estimation import thinned
from kinelo.raters.rank.kernels import POINTS_PER_UNIT
from kinelo.raters.rank.rater import RankElo
from kinelo.raters.rater import Rater, traits_of

LEAST_CONTESTS = 40
MOST_ENTRIES = 60_000
"""Entries beyond which a part is audited."""
MOST_LEVELS = 30
"""Levels of a column up to which luck is asked of each."""
FIRST_GUESS = 120.0
CLEARLY_MOVES = 5.0
"""Standard errors by which a walk must lie above 0: it cannot lie below, and newcomers alone make it lie at four."""


class LuckLevel(NamedTuple):
    """Factor of the luck at one level of a column, with its 95 % interval, and contests."""

    column: str
    level: str
    factor: float
    low: float
    high: float
    contests: int


@dataclass(frozen=True, repr=False)
class ContestAudit(AuditReport):
    """What plain Elo does to contests of many entrants, and what K should be; ``verdict`` is the answer in a few
    sentences.

    Attributes
    ----------
    advice
        The K that theory and backtest both support, with its 95 % interval.
    k
        The K in use; None where another rater is.
    tested
        How much more the K in use loses, per pair of finishers of the later half, than the K advised.
    pairs_right
        Share of pairs of the later half in the order forecast, with the K in use and with the K advised.
    measured
        Log-loss of orders at every K.
    walk
        The yearly walk of a strength in points, with its standard error.
    fields
        How alike those of one field are, as all contests at once tell it, and who never meets most of the others.
    start
        Where newcomers should start beside ratings at the best K; None where nobody is new.
    luck
        Factors of the luck by levels of columns that are one for all of a contest.
    other
        What was found of a rater that is no Elo with a K; None without one.
    notes
        What was left out, and why.
    """

    advice: Advice
    k: float | None
    tested: Difference
    pairs_right: tuple[float, float]
    measured: KBacktest
    walk: Shift
    fields: FieldsFound
    start: Shift | None
    luck: tuple[LuckLevel, ...]
    other: OtherSystem | None
    notes: tuple[str, ...]
    in_use: SystemInUse
    contests: Contests
    since: int

    _heading = "What these contests do not show"

    @cached_property
    def lead(self) -> Lead:
        """The answer: one K with its interval, one reason and one caveat."""
        return contest_lead(self)

    @cached_property
    def findings(self) -> list[Finding]:
        """Findings, each with what to do, the most useful first."""
        return contest_findings(self)

    def rows(self) -> Rows:
        """Name and finding of every line."""
        return contest_rows(self)

    def _gain_words(self) -> tuple[str, str]:
        return gain_words(self, "contests")

    @property
    def alike(self) -> Range:
        """Correlation of the strengths of two entrants of one contest."""
        return self.fields.correlation

    @property
    def like_meets_like(self) -> bool:
        """Whether entrants of one contest are clearly alike."""
        return self.alike.low > CLEARLY_ALIKE

    @property
    def moves(self) -> bool:
        """Whether strengths move beyond what chance shows; a walk at its bound has no error, and shows nothing."""
        return self.walk.mean > CLEARLY_MOVES * self.walk.error

    @property
    def unfinished(self) -> float:
        """Part of all entries that did not finish, whom plain Elo counts as beaten by all who did."""
        return float((self.contests.ended != FINISHED).mean())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, words and lists, ready for JSON; what is undefined is None."""
        return json_ready(self._alike() | {
            "contests": len(self.contests), "scored": len(self.contests) - self.since,
            "entries": self.contests.entrant.size, "tested": asdict(self.tested),
            "pairs_right": {"in_use": self.pairs_right[0], "advised": self.pairs_right[1]},
            "walk": self.walk.to_dict(), "alike": self.alike._asdict(), "never_meet": self.fields.apart,
            "start": None if self.start is None else self.start.to_dict(),
            "luck": [one._asdict() for one in self.luck],
        })  # fmt: skip


def audit_contests(contests: Contests, rater: Rater | None, tell: Callable[[str, float], None]) -> ContestAudit:
    """Say which K plain Elo should have on contests, and what moving there buys; it tells what it is doing.

    Columns that were read as advantages and are one for all of a contest (a track) are asked for their luck.

    >>> import kinelo as kn
    >>> races = kn.read_contests(kn.matches.sample_contests(contests=120, entrants=40, size=12, seed=1))
    >>> found = kn.audit(races, kn.TeamElo.classic(k=4))
    >>> found.advice.k > 20, found.verdict.split(":")[0]
    (True, 'K = 4 is too small for these contests')
    """
    check_contests(contests)
    audited, notes = part_audited(contests)
    since, pairs = len(audited) // 2, pairs_of(audited)
    in_use, other_rater = _system(rater, audited)
    tell(f"Auditing {len(audited):,} contests with {audited.entrant.size:,} entries", 0.00)
    tell("Holding every K against the later half of the contests", 0.02)

    def losses(forecast: ContestForecast, pairs: NDArray[Any]) -> Array:
        """Log-loss of each contest, summed over pairs of finishers."""
        return np.where(pairs > 0, order_log_loss(forecast) * pairs, 0.0)

    measured = backtest(
        lambda ks: np.stack([losses(_ahead(in_use, float(k), audited), pairs) for k in ks]),
        k_grid(FIRST_GUESS, in_use.k or FIRST_GUESS), since, pairs,
    )  # fmt: skip
    advice = advise(None, measured, int(worth_in_matches(audited.sizes).sum()))
    tell("Estimating strengths and their movement", 0.40)
    whole, columns = entrants_alone(audited)
    notes += not_used(audited, columns, other_rater)
    # The level of newcomers stands for that of their fields.
    truth = _quiet(RankElo(noise_by=columns or None, contest_walk=0.0, newcomer_follows=1.0), whole)
    other = None
    if other_rater is not None:
        name = type(other_rater).__name__
        tell(f"Fitting {name} on the earlier half", 0.80)
        later = _quiet(copy.deepcopy(other_rater), audited[:since]).one_step_ahead(audited[since:])
        theirs = np.append(np.zeros(since), losses(later, pairs[since:]))
        gap, unknown = measured.against(theirs, measured.best), (math.nan, math.nan)
        other = OtherSystem(
            name, measured.best, float(theirs.sum() / pairs[since:].sum()), measured.at(measured.best), gap, unknown, ()
        )
    tell("Finding strengths from all contests at once", 0.90)
    values, errors = truth.parameters_, {} if truth.estimates_ is None else truth.estimates_.standard_errors
    fields = fields_found(audited, values["off"], values["depth"])
    if fields.apart:
        notes += (
            f"{counted(fields.apart, 'entrant never meets', 'entrants never meet')} most of the others, nor anybody "
            "who does: whatever the K, their ratings cannot be compared with those of the rest.",
        )
    walk, error = (POINTS_PER_UNIT * one for one in (values["walk"], errors.get("walk", math.nan)))
    in_order = (share_in_order(_ahead(in_use, k, audited), since) for k in (in_use.k or measured.best, advice.k))
    before, after = in_order
    return ContestAudit(
        advice=advice, k=in_use.k if other is None else None,
        tested=measured.difference(in_use.k or advice.k, advice.k), pairs_right=(before, after), measured=measured,
        walk=Shift(walk, error, len(audited.entrants)), fields=fields,
        start=right_start(audited, since, _ahead(in_use, measured.best, audited), truth),
        luck=tuple(LuckLevel(*row) for row in truth._noise.table(0.95).rows()), other=other, notes=notes, in_use=in_use,
        contests=audited, since=since,
    )  # fmt: skip


def worth_in_matches(sizes: NDArray[Any]) -> Array:
    """How many matches of two tell as much as a contest of each size: its pairs share the performances they compare.

    >>> worth_in_matches(np.array([2, 5, 11])).tolist()
    [1.0, 5.0, 13.75]
    """
    return 1.5 * sizes * (sizes - 1.0) / (sizes + 1.0)


def part_audited(contests: Contests) -> tuple[Contests, tuple[str, ...]]:
    """What of the contests is audited, and a note where that is a part."""
    if len(contests) and np.isnan(contests.place).any():
        raise InputError("A contest without places tells nothing of ratings; audit those that have taken place.")
    if len(contests) < LEAST_CONTESTS:
        raise InputError(f"An audit needs at least {LEAST_CONTESTS} contests and has {len(contests):,}.")
    part = thinned(contests, MOST_ENTRIES)
    if part is contests:
        return part, ()
    return part, (
        f"Of {contests.entrant.size:,} entries {part.entrant.size:,} are audited: some entrants, chosen by their "
        "names, with all their contests, and where fields are small the latest contests.",
    )


def _system(rater: Rater | None, contests: Contests) -> tuple[SystemInUse, Rater | None]:
    """The Elo to audit, and the rater to hold against it where that is no Elo."""
    if rater is None or not traits_of(rater).plain_elo:
        from kinelo.raters.team.rater import ClassicElo

        elo, other = ClassicElo(), rater
        if rater is not None and not (isinstance(rater, Rater) and "contests" in traits_of(rater).book_holds):
            raise InputError("Contests are rated by TeamElo.classic(k=…) or RankElo: audit one of these.")
        return system_of(elo, None, 0)[0], other  # type: ignore[arg-type]
    if getattr(rater, "step", None) is None:
        raise InputError("Contests are rated with one K for all: give TeamElo.classic(k=…) a number, and no k_of.")
    return system_of(rater.set_params(home_advantage=0.0), None, 0)[0], None  # type: ignore[arg-type]


def entrants_alone(contests: Contests) -> tuple[Contests, list[str]]:
    """Contests that rate each entrant as a whole, as plain Elo does, and columns that are one for all of a contest."""
    slots_by_kind, columns = {"entrant": Slots(contests.entrant[:, None], contests.entrants)}, []
    for kind in contests.advantages:
        slots = contests.slots[kind]
        level = slots.codes[:, 0]
        alike = np.array_equal(level, level[contests.first[:-1]][contests.contest])
        if alike and 1 < np.unique(level).size <= MOST_LEVELS and slots.codes.shape[1] == 1:
            slots_by_kind[kind] = slots
            columns.append(kind)
    return replace(contests, slots=slots_by_kind), columns


def not_used(contests: Contests, columns: list[str], other: Rater | None) -> tuple[str, ...]:
    """What is said of columns that are not asked for their luck, and of which plain Elo uses nothing."""
    unused = [kind for kind in slots_not_used(contests) if kind not in columns]
    if other is not None or not unused:
        return ()
    many = [kind for kind in unused if np.unique(contests.slots[kind].codes[:, 0]).size > MOST_LEVELS]
    more = f" Luck is asked of up to {MOST_LEVELS} levels that are one for all of a contest." if many else ""
    return (f"Plain Elo rates each entrant as a whole and does not use {' and '.join(unused)}; RankElo does.{more}",)


def _quiet(rater: Any, contests: Contests) -> Any:
    """A rater fitted without warnings: what there is to say is said by the audit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        return rater.fit(contests)


def _ahead(in_use: SystemInUse, k: float, contests: Contests) -> ContestForecast:
    """What plain Elo with this K forecasts of each contest before it is used; it rates contests as well as matches."""
    rater: Any = in_use.at(k)
    return rater.one_step_ahead(contests)


def share_in_order(forecast: ContestForecast, since: int) -> float:
    """Share of pairs of finishers of the contests from ``since`` on that stand in the order forecast."""
    begin = int(forecast.contests.first[since])
    part = replace(
        forecast, contests=forecast.contests[since:], mean=forecast.mean[begin:], deviation=forecast.deviation[begin:],
        luck=None, luck_error=None,
    )  # fmt: skip
    return pooled("pairs_right", part, pairs_right(part))


def right_start(contests: Contests, since: int, used: ContestForecast, truth: RankElo) -> Shift | None:
    """Where newcomers of the later half should start, in the points of Elo: beside the known of their first field.

    The error is that of their mean strength: who comes is chance too.
    """
    new = np.zeros(contests.entrant.size, bool)
    new[np.unique(contests.entrant, return_index=True)[1]] = True
    fresh, size = (np.bincount(contests.contest, x, len(contests)) for x in (new, np.ones(new.size)))
    beside = np.bincount(contests.contest, np.where(new, 0.0, used.mean)) / np.maximum(size - fresh, 1.0)
    mixed = (np.arange(size.size) >= since) & (fresh > 0) & (fresh < size)
    if not mixed.any():
        return None
    offset = POINTS_PER_UNIT * truth.parameters_["newcomer"]
    errors = {} if truth.estimates_ is None else truth.estimates_.standard_errors
    mean = float(np.average(beside[mixed], weights=fresh[mixed]))
    doubt = np.sqrt(np.sum((fresh[mixed] * (beside[mixed] - mean)) ** 2)) / fresh[mixed].sum()
    number = int(fresh[mixed].sum())
    chance = math.hypot(errors.get("newcomer", 0.0), truth.parameters_["prior_spread"] / math.sqrt(number))
    return Shift(mean + offset, math.hypot(float(doubt), POINTS_PER_UNIT * chance), number)
