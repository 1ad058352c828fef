"""A league with users' laws, step rules or a schedule, made ready for the general loop."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.micro import batches
from kinelo.micro.general import GIVEN, Meeting, Memory, Seen, meet_and_draw, play_general
from kinelo.micro.league import FEW, LARGEST_TABLE, NotBuiltIn, Play, code_strength
from kinelo.micro.tables import all_pairs, result_table
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import Pairing
from kinelo.model.schedule import Rounds
from kinelo.model.steps import EACH, FideSteps, StepRule
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.play.laws import Law, Rule, code_outcome, code_pairing
from kinelo.play.performances import Drawing
from kinelo.play.steps import ELITE, Steps
from kinelo.play.stream import realisation_keys
from kinelo.play.users import USER, compiled, nothing

CHUNK = 1 << 14
"""Matches, of all realisations of a call, whose performances are drawn at once by a user's law."""


def needs_general(system: RatingSystem, strengths: Strength, literal: bool) -> bool:
    """Whether something is asked for that the fast loops do not know."""
    known = system.plain and system.outcome.code is not None and system.pairing.code is not None
    return not known or (literal and not draws_built_in(strengths))


def draws_built_in(strengths: Strength) -> bool:
    """Whether the law of strength is one that compiled code can draw."""
    try:
        code_strength(strengths)
    except NotBuiltIn:
        return False
    return True


def fresh_memory(system: RatingSystem, rating: Array) -> dict[str, NDArray]:
    """What a league remembers beside its ratings before its first match, realisations × teams, by name."""
    kept: dict[str, NDArray] = {}
    if isinstance(system.gamma, StepRule):
        kept["matches"] = np.zeros(rating.shape, dtype=np.int64)
    if isinstance(system.gamma, FideSteps):
        kept["reached"] = rating >= ELITE
    return kept if system.schedule is None else {**kept, "owed": np.zeros_like(rating)}


def general_play(
    system: RatingSystem,
    strengths: Strength,
    seed: int,
    realisations: int | range,
    literal: bool,
    seen: Seen | None = None,
) -> Play:
    """Play match by match, whatever the laws; ``seen``, with room for a whole call, receives what was played."""
    if seen is None and not literal and system.outcome.code is not None and system.pairing.code is not None:
        return batched_play(system, strengths, seed, realisations)
    seen = Seen(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)) if seen is None else seen
    keys = realisation_keys(seed, realisations)
    laws = code_laws(system.outcome, system.pairing)
    steps, meeting = code_steps(system, strengths.teams), meeting_of(system, strengths, literal)
    unused = Drawing(GIVEN, np.zeros((1, 2)), np.zeros((1, 1, 1)), 0)
    try:
        drawing = code_strength(strengths) if literal else unused
    except NotBuiltIn:
        drawing = None

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        own = own_memory(rating, memory, chosen)
        if drawing is not None:
            play_general(
                rating[chosen], own, played[chosen], keys[chosen], meeting, drawing, first, last, steps, *laws, seen
            )
            return
        size = max(1, CHUNK // (chosen.stop - chosen.start))
        for begin in range(first, last, size):
            end = min(begin + size, last)
            drawn = _performances(strengths, keys[chosen], meeting, begin, end)
            play_general(
                rating[chosen], own, played[chosen], keys[chosen], meeting, drawn, begin, end, steps, *laws, seen
            )

    return play


def batched_play(system: RatingSystem, strengths: Strength, seed: int, realisations: int | range) -> Play:
    """Play step rules and schedules from the table of results of built-in laws."""
    keys = realisation_keys(seed, realisations)
    law, rule = code_outcome(system.outcome), code_pairing(system.pairing)
    steps, meeting = code_steps(system, strengths.teams), meeting_of(system, strengths, False)

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        own = own_memory(rating, memory, chosen)
        lanes, plan = chosen.stop - chosen.start, (keys[chosen], meeting, first, last)
        if meeting.rounds and steps.kind == EACH:
            batches.play_rounds(rating[chosen], own.owed, played[chosen], *plan, steps.gamma, law, rule)
        elif meeting.period > 0:
            batches.play_frozen(rating[chosen], own, played[chosen], *plan, steps, law, rule)
        elif lanes < FEW:
            batches.play_steps_alone(rating[chosen], own, played[chosen], *plan, steps, law, rule)
        else:
            batches.play_steps(rating[chosen], own, played[chosen], *plan, _side_by_side(steps, lanes), law, rule)

    return play


def _side_by_side(steps: Steps, lanes: int) -> Steps:
    """Steps of the teams of several realisations, one after the other."""
    return steps._replace(gamma=np.tile(steps.gamma, lanes), junior=np.tile(steps.junior, lanes))


def whole_memory(rating: Array, memory: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """What a league remembers, by name; what its system does not need is there too, and nobody keeps it."""
    return {
        "matches": np.zeros(rating.shape, dtype=np.int64),
        "reached": np.zeros(rating.shape, dtype=np.bool_),
        "owed": np.zeros(rating.shape),
        **memory,
    }


def own_memory(rating: Array, memory: Mapping[str, NDArray], chosen: slice) -> Memory:
    """What some realisations remember."""
    whole = whole_memory(rating, memory)
    return Memory(*(whole[name][chosen] for name in Memory._fields))


def code_laws(outcome: Outcome, pairing: Pairing) -> tuple[Law, Rule, object, object, object]:
    """Outcome and pairing by their codes, and the compiled functions of those that have none."""
    b = tie = w = nothing()
    law, rule = Law(USER, 0.0, 0.0), Rule(USER, 0.0, 0.0)
    if outcome.code is not None:
        law = Law(*outcome.code)
    else:
        b, tie = compiled(outcome, "b", outcome.scalar_b), compiled(outcome, "tie", outcome.scalar_tie)
        _check_one_formula(outcome)
    if pairing.code is not None:
        rule = Rule(*pairing.code)
    else:
        w = compiled(pairing, "w", pairing.scalar_w)
    return law, rule, b, tie, w


def _check_one_formula(outcome: Outcome) -> None:
    """Refuse an outcome whose ``b`` and ``scalar_b`` differ: theory would take the one and the simulator the other."""
    formula = outcome.scalar_b()
    for z in np.array([0.3, 1.0, 2.5]) / outcome.sharpness:
        if not np.isclose(float(outcome.b(z)), formula(float(z)), rtol=0.0, atol=1e-9):
            raise InputError(f"{outcome!r} cannot be simulated: its b and its scalar_b differ at z = {z:.4g}.")


def code_steps(system: RatingSystem, teams: int) -> Steps:
    """The steps as kernels take them."""
    gamma, boost, matches, kind = system.gammas(teams), 0.0, 1.0, EACH
    junior = np.zeros(teams, dtype=np.bool_)
    if isinstance(system.gamma, StepRule):
        kind, _, boost, matches = system.gamma.code
        junior = system.gamma.juniors(teams)
    return Steps(kind, gamma, boost, matches, junior)


def meeting_of(system: RatingSystem, strengths: Strength, literal: bool) -> Meeting:
    """Who meets, and when results count, as kernels take it."""
    schedule, teams = system.schedule, strengths.teams
    rounds = isinstance(schedule, Rounds)
    period = 0 if schedule is None else schedule.period(teams)
    if rounds and teams > LARGEST_TABLE:
        raise InputError(f"Rounds() is for leagues of at most {LARGEST_TABLE} teams, not {teams}.")
    if not literal:
        table = result_table(system.outcome, strengths)
        return Meeting(table.pairs, table.win, table.loss, rounds, False, period)
    none, pairs = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint32)
    if rounds:
        pairs = all_pairs(teams)[2]
    return Meeting(pairs, none, none, rounds, True, period)


def _performances(strengths: Strength, keys: NDArray[np.uint64], meeting: Meeting, first: int, last: int) -> Drawing:
    """Performances of both sides in all realisations by the law's own method, asked once: its calls may be slow."""
    k, size = strengths.uniforms, (last - first) * len(keys)
    team, uniforms = np.empty(2 * size, dtype=np.int64), np.empty((2 * size, k))
    meet_and_draw(keys, meeting, strengths.teams, first, last, team, uniforms)
    drawn = np.asarray(strengths.performances(team, uniforms), dtype=np.float64)
    return Drawing(GIVEN, drawn.reshape(size, 2), np.zeros((1, 1, 1)), 2 * k)
