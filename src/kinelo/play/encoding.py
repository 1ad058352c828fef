"""A rating system, its league and how strengths move, encoded once: what every loop over matches takes.

Numbers and arrays only, in tuples with names, so that a loop compiled once serves every system and stays on disk. What
cannot be encoded is refused here, in a sentence; functions of users are compiled by :mod:`kinelo.play.users`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics, Learning, parts_of
from kinelo.model.law import built_in_laws, built_in_names, no_formula
from kinelo.model.outcome import Tanh
from kinelo.model.steps import EACH, StepRule
from kinelo.model.strength import FIXED, Strength
from kinelo.model.system import RatingSystem
from kinelo.play.deviations import Deviation
from kinelo.play.laws import OutcomeCode, PairingCode, code_outcome, code_pairing
from kinelo.play.motion import Motion
from kinelo.play.performances import GIVEN, Drawing
from kinelo.play.steps import StepCode
from kinelo.play.tables import LARGEST_TABLE, all_pairs, result_table
from kinelo.play.users import USER

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


def encode_laws(system: RatingSystem) -> tuple[OutcomeCode, PairingCode]:
    """Outcome and pairing by kind and numbers; laws without a formula in ``play`` have the kind ``USER``."""
    law = OutcomeCode(USER, 0.0, 0.0) if system.outcome.code is None else code_outcome(system.outcome)
    return law, PairingCode(USER, 0.0, 0.0) if system.pairing.code is None else code_pairing(system.pairing)


def is_moving(system: RatingSystem, dynamics: Motions) -> bool:
    """Whether strengths move or ratings carry a deviation."""
    return dynamics is not None or system.deviations is not None


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
    moving = is_moving(system, dynamics)
    if moving:
        _check_moving(system, strengths, dynamics)
    literal = literal or moving or system.sides > 2 or strengths.teams > LARGEST_TABLE
    return EncodedSystem(
        *encode_laws(system),
        _encode_steps(system),
        _encode_meeting(system, strengths, literal),
        _encode_drawing(strengths, literal),
        _encode_motion(dynamics, moving),
        _encode_deviation(system),
        _encode_gamma(system, strengths.teams),
        system.gamma.juniors(strengths.teams)
        if isinstance(system.gamma, StepRule)
        else np.zeros(strengths.teams, bool),
        np.zeros(1) if (open_ := parts_of(dynamics)[1]) is None else open_.pool.copy(),
    )


def distinct_tables(leagues: Sequence[EncodedSystem]) -> tuple[list[Meeting], NDArray[np.uint64]]:
    """The tables of results of several leagues, each once, and which of them each league has."""
    places: dict[int, int] = {}
    which = [places.setdefault(id(league.meeting.win), len(places)) for league in leagues]
    return [leagues[which.index(k)].meeting for k in range(len(places))], np.array(which, dtype=np.uint64)


def has_ties(table: Meeting) -> bool:
    """Whether results of a table may be ties."""
    return table.loss is not table.win


def _check_moving(system: RatingSystem, strengths: Strength, dynamics: Motions) -> None:
    """Refuse combinations that have no meaning, each in a sentence."""
    motion, _ = parts_of(dynamics)
    if isinstance(motion, Learning) and not isinstance(system.gamma, float):
        raise InputError(f"Learning moves strengths by one gamma for all teams, not by {system.gamma!r}.")
    if system.deviations is not None and type(system.outcome) is not Tanh:
        raise InputError(f"DeviationSteps are Glicko's, whose outcome is Tanh, not {system.outcome!r}.")
    if strengths.code is None:
        raise InputError(
            f"Strengths that move are played for {built_in_names(Strength, compiled=True)}, "
            f"not for {type(strengths).__name__}."
        )


def _encode_steps(system: RatingSystem) -> StepCode:
    """The rule of steps by kind and numbers; a rule without a formula in ``play`` is refused."""
    if not isinstance(system.gamma, StepRule):
        return StepCode(EACH, 0.0, 1.0)
    kind, _, boost, matches = system.gamma.code
    if kind not in [one.law.kind for one in built_in_laws(StepRule)]:
        raise no_formula(StepRule, "step rule", system.gamma)
    return StepCode(kind, boost, matches)


def _encode_gamma(system: RatingSystem, teams: int) -> NDArray[np.float64]:
    """One number where it is one, else one for each team."""
    each = system.gammas(teams)
    return each if isinstance(system.gamma, tuple) else each[:1].copy()


def _encode_meeting(system: RatingSystem, strengths: Strength, literal: bool) -> Meeting:
    """Who meets by the schedule, and the table of results unless performances are drawn."""
    schedule, teams = system.schedule, strengths.teams
    rounds = schedule is not None and schedule.all_pairs
    period = 0 if schedule is None else schedule.period(teams)
    if rounds and teams > LARGEST_TABLE:
        raise InputError(f"Rounds() is for leagues of at most {LARGEST_TABLE} teams, not {teams}.")
    if not literal:
        table = result_table(system.outcome, strengths)
        return Meeting(table.pairs, table.win, table.loss, rounds, False, period)
    none = np.zeros(1, dtype=np.uint64)
    return Meeting(all_pairs(teams)[2] if rounds else np.zeros(1, dtype=np.uint32), none, none, rounds, True, period)


def _encode_drawing(strengths: Strength, literal: bool) -> Drawing:
    """How performances are drawn; those of users' laws are drawn outside of loops and handed over."""
    if not literal:
        return Drawing(FIXED, np.zeros((1, 1)), np.zeros((1, 1, 1)), 0, np.zeros(1))
    if strengths.code is None:
        return Drawing(GIVEN, np.zeros((1, 2)), np.zeros((1, 1, 1)), 2 * strengths.uniforms, np.zeros(1))
    return Drawing(*strengths.code, np.array(strengths.theta))


def _encode_motion(dynamics: Motions, moving: bool) -> Motion:
    """How strengths move by kind and numbers, of one or two laws."""
    numbers: dict[str, Any] = {}
    for law in parts_of(dynamics):
        numbers |= {} if law is None else law.numbers()
    return Motion(moving, **numbers)


def _encode_deviation(system: RatingSystem) -> Deviation:
    """Glicko's numbers, in squares; off where ratings carry no deviation."""
    rule = system.deviations
    if rule is None:
        return Deviation(False, 1.0, 0.0, 0.0, 0.0)
    return Deviation(True, system.outcome.nu, rule.growth**2, rule.start**2, rule.code[3] ** 2)
