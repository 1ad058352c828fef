"""A rating system, its league and how strengths move, encoded once: what every loop over matches takes.

Numbers and arrays only, in tuples with names, so that a loop compiled once serves every system and stays on disk. What
cannot be encoded is refused here, in a sentence; functions of users are compiled by :mod:`kinelo.play.users`.

A table of results holds exact probabilities of every pair. It depends on the outcome and the strengths alone, and is
made once: points of a sweep that differ in γ, in their seed or their length share one, and so do the parts of an
ensemble that a worker plays one after the other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics, Learning, parts_of
from kinelo.model.expectation import outcome_probabilities
from kinelo.model.law import built_in_laws, built_in_names, fingerprint, no_formula
from kinelo.model.outcome import Outcome, Tanh
from kinelo.model.steps import EACH, StepRule
from kinelo.model.strength import FIXED, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.play.deviations import Deviation
from kinelo.play.laws import OutcomeCode, PairingCode, code_outcome, code_pairing
from kinelo.play.motion import Motion
from kinelo.play.performances import GIVEN, Drawing
from kinelo.play.steps import StepCode

Motions = Dynamics | Sequence[Dynamics] | None


class Meeting(NamedTuple):
    """Who meets, when results count and how they are drawn.

    ``period`` > 0 freezes ratings for so many candidate matches: with ``rounds`` all ``pairs`` come in order, otherwise
    in random matchings. ``literal``: both performances are drawn; otherwise the thresholds ``win`` and ``loss`` of the
    table of results decide, one per pair.
    """

    pairs: NDArray[np.uint32]
    win: NDArray[np.uint64]
    loss: NDArray[np.uint64]
    rounds: bool
    literal: bool
    period: int


class EncodedSystem(NamedTuple):
    """All that loops know of a league: its rules and numbers.

    ``gamma`` holds one step for all teams, or one for each where they differ; ``junior`` is one entry per team;
    ``pool`` holds the strengths that newcomers may have.
    """

    law: OutcomeCode
    rule: PairingCode
    steps: StepCode
    meeting: Meeting
    drawing: Drawing
    motion: Motion
    glicko: Deviation
    gamma: NDArray[np.float64]
    junior: NDArray[np.bool_]
    pool: NDArray[np.float64]

    @property
    def teams(self) -> int:
        """How many teams there are."""
        return len(self.junior)


def encode(
    system: RatingSystem, strengths: Strength, dynamics: Motions = None, *, literal: bool = False
) -> EncodedSystem:
    """Encode a rating system, the league it rates and how strengths move.

    ``literal`` asks for performances to be drawn; leagues that move, contests of more than two, and leagues too large
    for a table always draw them.

    >>> from kinelo.model.strength import Fixed
    >>> encode(RatingSystem(Tanh(0.5), gamma=0.1), Fixed([1.0, 2.0])).law
    OutcomeCode(kind=0, nu=0.5, kappa=0.0)
    """
    motion, turnover = parts_of(dynamics)
    teams, rule, glicko = strengths.teams, system.gamma, system.deviations
    moving = dynamics is not None or glicko is not None
    if moving:
        if isinstance(motion, Learning) and not isinstance(rule, float):
            raise InputError(f"Learning moves strengths by one gamma for all teams, not by {rule!r}.")
        if glicko is not None and type(system.outcome) is not Tanh:
            raise InputError(f"DeviationSteps are Glicko's, whose outcome is Tanh, not {system.outcome!r}.")
        if strengths.kind is None:
            raise InputError(
                f"Strengths that move are played for {built_in_names(Strength, compiled=True)}, "
                f"not for {type(strengths).__name__}."
            )
    literal = literal or moving or system.sides > 2 or teams > LARGEST_TABLE
    # Outcome and pairing by kind and numbers; laws without a formula in ``play`` have the kind USER.
    law, pairing = code_outcome(system.outcome, users=True), code_pairing(system.pairing, users=True)
    # How far ratings move: a rule by kind and numbers, one γ for all, or one for each team.
    steps, junior = StepCode(EACH, 0.0, 1.0), np.zeros(teams, dtype=np.bool_)
    if isinstance(rule, StepRule):
        kind, number, boost, matches = rule.code
        if kind not in [built_in.law.kind for built_in in built_in_laws(StepRule)]:
            raise no_formula(StepRule, "step rule", rule)
        steps, gamma, junior = StepCode(kind, boost, matches), np.array([number]), rule.juniors(teams)
    else:
        gamma = system.gammas(teams) if isinstance(rule, tuple) else np.array([rule], dtype=np.float64)
    # Who meets by the schedule, and how results are drawn: from a table, or by performances.
    schedule = system.schedule
    rounds = schedule is not None and schedule.all_pairs
    period = 0 if schedule is None else schedule.period(teams)
    if rounds and teams > LARGEST_TABLE:
        raise InputError(f"Rounds() is for leagues of at most {LARGEST_TABLE} teams, not {teams}.")
    if not literal:
        table = result_table(system.outcome, strengths)
        meeting = Meeting(table.pairs, table.win, table.loss, rounds, False, period)
        drawing = Drawing(FIXED, np.zeros((1, 1)), np.zeros((1, 1, 1)), 0, np.zeros(1))
    else:
        pairs, none = all_pairs(teams)[2] if rounds else np.zeros(1, np.uint32), np.zeros(1, np.uint64)
        meeting = Meeting(pairs, none, none, rounds, True, period)
        if (code := strengths.code) is not None:
            drawing = Drawing(*code, np.array(strengths.theta))
        else:  # a user's law, drawn outside of the loop and handed over
            drawing = Drawing(GIVEN, np.zeros((1, 2)), np.zeros((1, 1, 1)), 2 * strengths.uniforms, np.zeros(1))
    # How strengths move, of one or two laws, and Glicko's numbers, in squares.
    numbers: dict[str, Any] = {}
    for part in (motion, turnover):
        numbers |= {} if part is None else part.numbers()
    deviation = Deviation(False, 1.0, 0.0, 0.0, 0.0)
    if glicko is not None:
        largest = glicko.code[3]
        deviation = Deviation(True, system.outcome.nu, glicko.growth**2, glicko.start**2, largest**2)
    pool = np.zeros(1) if turnover is None else turnover.pool.copy()
    return EncodedSystem(
        law, pairing, steps, meeting, drawing, Motion(moving, **numbers), deviation, gamma, junior, pool
    )  # fmt: skip


def distinct_tables(leagues: Sequence[EncodedSystem]) -> tuple[list[Meeting], NDArray[np.uint64]]:
    """The tables of results of several leagues, each once, and which of them each league has."""
    places: dict[int, int] = {}
    which = [places.setdefault(id(league.meeting.win), len(places)) for league in leagues]
    return [leagues[which.index(k)].meeting for k in range(len(places))], np.array(which, dtype=np.uint64)


def has_ties(table: Meeting) -> bool:
    """Whether results of a table may be ties."""
    return table.loss is not table.win


LARGEST_TABLE = 4096
"""Teams up to which the table of results is used."""

MOST_TABLE_BYTES = 1 << 28
"""Bytes of tables that a process keeps."""

_kept: OrderedDict[str, ResultTable] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True)
class ResultTable:
    """For each pair i < j: its teams, and the 64-bit fractions below which i wins and from which i loses."""

    pairs: NDArray[np.uint32]
    win: NDArray[np.uint64]
    loss: NDArray[np.uint64]

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self.pairs.nbytes + self.win.nbytes + (0 if self.loss is self.win else self.loss.nbytes)


def all_pairs(teams: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.uint32]]:
    """Both teams of every pair i < j in the order of the table, and the pairs as kernels take them."""
    i, j = np.triu_indices(teams, 1)
    return i, j, (i.astype(np.uint32) << np.uint32(16)) | j.astype(np.uint32)


def result_table(outcome: Outcome, strengths: Strength) -> ResultTable:
    """Exact probabilities of every pair, as thresholds for a 64-bit fraction.

    Those of built-in laws are kept: a law of the user's own may hold what cannot be seen from outside.
    """
    name = fingerprint(outcome, strengths)
    if name is None:
        return _make_table(outcome, strengths)
    with _lock:
        if name in _kept:
            _kept.move_to_end(name)
            return _kept[name]
    table = _make_table(outcome, strengths)
    with _lock:
        _kept[name] = table
        while sum(other.nbytes for other in _kept.values()) > MOST_TABLE_BYTES:
            _kept.popitem(last=False)
    return table


def _make_table(outcome: Outcome, strengths: Strength) -> ResultTable:
    """The table of a league, computed."""
    win, tie, _ = outcome_probabilities(outcome, strengths)
    i, j, pairs = all_pairs(strengths.teams)
    winning = _fraction(win[i, j])
    losing = _fraction(win[i, j] + tie[i, j]) if outcome.has_ties else winning
    return ResultTable(pairs, winning, losing)


def _fraction(probability: Array) -> NDArray[np.uint64]:
    """Probabilities as fractions of 2⁶⁴; what is certain is the largest of them."""
    largest = np.nextafter(1.0, 0.0)
    scaled = (np.clip(probability, 0.0, largest) * 2.0**64).astype(np.uint64)
    scaled[probability >= 1.0] = np.iinfo(np.uint64).max
    return scaled
