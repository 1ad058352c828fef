"""Any league on the device: the loop of ``micro/general``, a warp for each realisation, and what a league hands to it.

A warp keeps up to 32 matches at a time; a match is played as soon as every earlier one of its two teams is over, and
its lane takes the next one (:mod:`kinelo.micro.gpu.kernels`). Where a period ends nobody takes a match beyond it before
all lanes have shared the teams among them. Where teams leave, a match may concern a third team, so there each is
played alone. In a round every pair meets and ratings are frozen: there a lane takes a team and adds up its matches in
their order, so that each match is looked at from both sides and nobody waits.

The loop is compiled for the :class:`LoopKind` of a league: its laws and rules are constants, and columns that its
matches do not touch are neither read nor written. Columns lie in the memory of the multiprocessor where they fit
(``near``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float64, int64, uint32, uint64
from numba import cuda as numba_cuda
from numpy.typing import NDArray

from kinelo.micro.gpu.held import HeldPlay, on_device
from kinelo.micro.gpu.kernels import (
    LAST_TURN,
    LONGEST_WAIT,
    NONE32,
    ONE32,
    RING,
    TURN_BITS,
    UNCLAIMED,
    WARP,
    warp_functions,
)
from kinelo.micro.gpu.matches import LOW32, S32
from kinelo.micro.gpu.play import BLOCK_MEMORY, device_formulas, user_functions_on_device
from kinelo.micro.gpu.target import kernel, target
from kinelo.micro.league import WHOLE, remembered
from kinelo.model.dynamics import FORM, LEARNING, STILL, WALK
from kinelo.model.system import RatingSystem
from kinelo.play.arithmetic import Target, high_product
from kinelo.play.deviations import Deviation
from kinelo.play.encoding import EncodedSystem
from kinelo.play.laws import OutcomeCode, PairingCode
from kinelo.play.match import NOTHING, Draws, LeagueState, MatchRules, MatchSide
from kinelo.play.motion import Motion
from kinelo.play.steps import StepCode
from kinelo.play.users import UserFunctions
from kinelo.runtime.device import cuda_module

cuda: Any = numba_cuda

LAST_OF_RING = np.uint32(RING - 1)
COLUMN_BYTES = {"reached": 1}
"""Bytes of a team in a column, where they are not 8."""


class LoopKind(NamedTuple):
    """What is known of a league when its loop is compiled.

    Kinds of laws, whether ratings are frozen for rounds or for random matchings, how results are drawn, and the columns
    of a :class:`kinelo.play.match.LeagueState` that matches read or write.
    """

    outcome: int
    pairing: int
    steps: int
    motion: int
    moving: bool
    deviations: bool
    leaving: bool
    rounds: bool
    matchings: bool
    literal: bool
    drawing: int
    columns: tuple[str, ...]

    @property
    def period(self) -> bool:
        """Whether ratings are frozen."""
        return self.rounds or self.matchings


def kind_of(encoded: EncodedSystem, remembered: tuple[str, ...]) -> LoopKind:
    """The kind of a league that remembers these columns."""
    motion, glicko, meeting = encoded.motion, encoded.glicko, encoded.meeting
    calendar = motion.kind in (FORM, WALK)
    touched = {
        "rating": True,
        "strength": motion.moving,
        "level": motion.kind == FORM,
        "clock": calendar,
        "variance": glicko.on,
        "rest": glicko.on,
        "matches": True,
        "reached": True,
        "owed": meeting.period > 0,
        "known": meeting.period > 0 and (glicko.on or motion.kind == LEARNING),
    }
    leaving = motion.leaving > 0.0
    kept = ("rating", *remembered)
    columns = tuple(name for name in LeagueState._fields if name in kept and (leaving or touched[name]))
    return LoopKind(
        encoded.law.kind, encoded.rule.kind, encoded.steps.kind, motion.kind, motion.moving, glicko.on, leaving,
        meeting.rounds, meeting.period > 0 and not meeting.rounds, meeting.literal, encoded.drawing.kind, columns,
    )  # fmt: skip


def column_access(kind: LoopKind, target: Target) -> tuple[Any, Any]:
    """Functions that read and write a :class:`MatchSide` of ten columns; what matches do not touch reads as 0."""
    has_rho, has_level, has_clock, has_v, has_rest, has_n, has_top, has_owed, has_known = (
        name in kind.columns for name in LeagueState._fields[1:]
    )

    def side_at(columns, q):
        r, rho, level, clock, v, rest, n, top, owed, known = columns
        return MatchSide(
            r[q], rho[q] if has_rho else 0.0, level[q] if has_level else 0.0, clock[q] if has_clock else 0,
            v[q] if has_v else 0.0, rest[q] if has_rest else 0, n[q] if has_n else 0, top[q] if has_top else False,
            owed[q] if has_owed else 0.0, known[q] if has_known else 0.0,
        )  # fmt: skip

    def put(columns, q, side):
        r, rho, level, clock, v, rest, n, top, owed, known = columns
        r[q] = side.rating
        if has_rho:
            rho[q] = side.strength
        if has_level:
            level[q] = side.level
        if has_clock:
            clock[q] = side.clock
        if has_v:
            v[q] = side.variance
        if has_rest:
            rest[q] = side.rest
        if has_n:
            n[q] = side.matches
        if has_top:
            top[q] = side.reached
        if has_owed:
            owed[q] = side.owed
        if has_known:
            known[q] = side.known

    return target.compile(side_at), target.compile(put)


def match_of(kind: LoopKind, formulas: SimpleNamespace, target: Target, functions: UserFunctions) -> Any:
    """The function that plays one match: both sides after it, the draws used, and whether it took place."""
    f, upper = formulas, target.operations[high_product]
    b, tie, w = functions
    accepts, draws_before, performances, pair_index, play_match, gamma_of = (
        f.accepts, f.draws_before, f.performances, f.pair_index, f.play_match, f.gamma_of,
    )  # fmt: skip
    rule_kind, rounds, matchings, literal, drawn = kind.pairing, kind.rounds, kind.matchings, kind.literal, kind.drawing

    def meet(mine, theirs, i, j, match, bits, fraction, system, rules):
        _law, rule, _steps, meeting, drawing, _motion, _glicko, gamma, junior, _pool = system
        _drawn, values, table, lineup, theta = drawing
        used, taken_place = np.uint64(1), False
        if accepts(PairingCode(rule_kind, rule.c, rule.smoothing), w, mine.rating - theirs.rating, bits):
            used, x, y, mean_x, mean_y = draws_before(rules.motion, rounds), 0.0, 0.0, 0.0, 0.0
            pair, share, below, beyond = NOTHING, bits, NOTHING, NOTHING
            if literal:
                x, y, used = performances(drawn, values, table, lineup, i, j, bits, used)
                mean_x, mean_y = theta[i], theta[j]
            else:
                if rounds:
                    pair = np.uint64(match % meeting.period)
                elif matchings:
                    pair, share = pair_index(np.uint64(i), np.uint64(j), np.uint64(junior.shape[0])), fraction
                else:
                    number = np.uint64(meeting.pairs.shape[0])
                    pair, share = upper(bits, number), bits * number
                below, beyond = meeting.win[pair], meeting.loss[pair]
            mine, theirs, _result, used = play_match(
                mine, theirs, (gamma_of(gamma, i), gamma_of(gamma, j)), (junior[i], junior[j]), rules,
                Draws(match, bits, used, x, y, mean_x, mean_y, share, below, beyond), b, tie,
            )  # fmt: skip
            taken_place = True
        return mine, theirs, used, taken_place

    return target.compile(meet)


def league_kernel(
    kind: LoopKind, near: bool, formulas: SimpleNamespace, target: Target, functions: UserFunctions
) -> Any:
    """Launch with (realisations, WARP), and what a realisation needs where ``near``; arguments as of ``play_general``.

    ``boards`` and ``queues`` (realisations, teams) hold claims and those who wait where they are not near.
    """
    f, upper = formulas, target.operations[high_product]
    side_at, put = column_access(kind, target)
    meet, (sync, rank) = match_of(kind, formulas, target, functions), warp_functions(globals())
    draw, two_teams, unpacked, pair_index, waiting_at, next_pair, normal_of, end_period, turn_over = (
        f.draw, f.two_teams, f.unpacked, f.pair_index, f.waiting_at, f.next_pair, f.normal_of, f.end_period,
        f.turn_over,
    )  # fmt: skip
    law_kind, _, steps_kind, motion_kind, moving, glicko_on, leaving, rounds, matchings, literal = kind[:10]
    by_team = rounds and not leaving
    frozen, calendar = kind.period, kind.rounds and kind.motion in (FORM, WALK)
    # Places of columns in near memory, counted in columns; flags come last, behind those who wait and the claims.
    wide = [name for name in kind.columns if name not in COLUMN_BYTES]
    at_rho, at_level, at_clock, at_v, at_rest, at_n, at_owed, at_known = (
        wide.index(name) if name in wide else 0
        for name in ("strength", "level", "clock", "variance", "rest", "matches", "owed", "known")
    )
    at_queue, at_claims = len(wide), len(wide) + matchings

    def play(league, played, keys, system, first, last, boards, queues):
        lane, realisation = np.uint32(cuda.threadIdx.x), cuda.blockIdx.x
        law, _rule, steps, meeting, _drawing, motion, glicko, _gamma, _junior, pool = system
        pairs, period = meeting.pairs, meeting.period
        # On lines of their own: an imitated kernel tells shared arrays apart by where they are made.
        ring = cuda.shared.array(RING, uint64)
        fractions = cuda.shared.array(RING, uint64)
        tail = cuda.shared.array(2, uint64)
        reals = cuda.shared.array(0, float64)
        wholes = cuda.shared.array(0, int64)
        words = cuda.shared.array(0, uint64)
        smalls = cuda.shared.array(0, uint32)
        flags = cuda.shared.array(0, boolean)
        count = league[0].shape[1]
        there = (
            league[0][realisation], league[1][realisation], league[2][realisation], league[3][realisation],
            league[4][realisation], league[5][realisation], league[6][realisation], league[7][realisation],
            league[8][realisation], league[9][realisation],
        )  # fmt: skip
        if near:
            columns = (
                reals[:count], reals[at_rho * count :], reals[at_level * count :], wholes[at_clock * count :],
                reals[at_v * count :], wholes[at_rest * count :], wholes[at_n * count :],
                flags[(8 * at_claims + 4) * count :], reals[at_owed * count :], reals[at_known * count :],
            )  # fmt: skip
            queue = words[at_queue * count : (at_queue + 1) * count]
            owner = smalls[2 * at_claims * count : (2 * at_claims + 1) * count]
            for k in range(lane, count, WARP):
                put(columns, k, side_at(there, k))
        else:
            columns, queue, owner = there, queues[realisation], boards[realisation]
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        teams, number = np.uint64(count), np.uint64(pairs.shape[0])
        moves = Motion(
            moving, motion_kind, motion.alpha, motion.beta, motion.diffusion, motion.on_result, motion.rate,
            motion.form, motion.walk, motion.leaving, motion.who, motion.start,
        )  # fmt: skip
        deviation = Deviation(glicko_on, glicko.nu, glicko.growth, glicko.start, glicko.largest)
        rules = MatchRules(
            OutcomeCode(law_kind, law.nu, law.kappa), StepCode(steps_kind, steps.boost, steps.matches), moves,
            deviation, rounds, literal, period if frozen else 0, 2.0 / count,
        )  # fmt: skip
        for k in range(lane, count, WARP):
            owner[k] = UNCLAIMED
        total, lanes = np.uint32(last - first), np.uint32(WARP)
        goal, left = total, NOTHING
        if frozen:
            goal = np.uint32(min(period - first % period, last - first))
        if leaving:
            goal = ONE32
        if matchings and lane == 0:
            left = waiting_at(queue, key_1, key_2, first)
        taken, filled, stamp, tally, holding = NONE32, NONE32, LAST_TURN, 0, False
        i, j, place, fraction = np.int64(0), np.int64(0), NONE32, NOTHING
        sync()
        begin = first
        while by_team and begin < last:
            base = begin - begin % period
            end = min(base + period, last)
            for q in range(lane, count, WARP):
                column = side_at(columns, q)
                for other in range(count):
                    i, j = np.int64(min(q, other)), np.int64(max(q, other))
                    match = base + np.int64(pair_index(np.uint64(i), np.uint64(j), teams))
                    if other != q and begin <= match < end:
                        bits = draw(key_1, key_2, np.uint64(match))
                        ahead = column if q == i else side_at(columns, i)
                        behind = column if q == j else side_at(columns, j)
                        mine, theirs, used, taken_place = meet(ahead, behind, i, j, match, bits, NOTHING, system, rules)
                        column = mine if q == i else theirs
                        tally += taken_place and q == i
                        if match + 1 == end:
                            tail[0], tail[1] = bits, used
                put(columns, q, column)
            sync()
            if end % period == 0:
                for q in range(lane, count, WARP):
                    normal = normal_of(tail[0], tail[1] + np.uint64(q)) if calendar else 0.0
                    put(columns, q, end_period(side_at(columns, q), rules, end, normal))
                sync()
            begin = end
        while not by_team:
            if filled < total and np.uint32(filled - taken) < lanes:
                match = first + np.int64(filled) + np.int64(lane)
                place_in_ring = np.uint32(np.uint32(filled + lane) & LAST_OF_RING)
                if matchings:
                    if lane == 0:
                        for k in range(min(np.int64(WARP), np.int64(total) - np.int64(filled))):
                            one, other, left, remains = next_pair(queue, left, draw(key_1, key_2, np.uint64(match + k)))
                            place_in_ring = np.uint32(np.uint32(filled + np.uint32(k)) & LAST_OF_RING)
                            ring[place_in_ring], fractions[place_in_ring] = one | (other << S32), remains
                else:
                    if rounds:
                        one, other = unpacked(pairs[match % period])
                    elif literal:
                        one, other = two_teams(draw(key_1, key_2, np.uint64(match)), teams)
                    else:
                        one, other = unpacked(pairs[upper(draw(key_1, key_2, np.uint64(match)), number)])
                    ring[place_in_ring] = one | (other << S32)
                filled = np.uint32(filled + lanes)
            sync()
            before, free = rank(lane, not holding)
            if free == lanes and taken == goal:
                after = first + np.int64(goal)
                ended = frozen and after % period == 0
                if ended:
                    for q in range(lane, count, WARP):
                        normal = normal_of(tail[0], tail[1] + np.uint64(q)) if calendar else 0.0
                        put(columns, q, end_period(side_at(columns, q), rules, after, normal))
                sync()
                if leaving and lane == 0:
                    used = tail[1] + (teams if ended and calendar else NOTHING)
                    q, side = turn_over(columns[1][:count], pool, moves, deviation, after, tail[0], used)
                    if q >= 0:
                        put(columns, q, side)
                if goal == total:
                    break
                sync()
                goal = np.uint32(min(np.int64(goal) + (1 if leaving else period), last - first))
            if not holding:
                place = np.uint32(taken + before)
                if place < goal:
                    place_in_ring = np.uint32(place & LAST_OF_RING)
                    i, j = np.int64(ring[place_in_ring] & LOW32), np.int64(ring[place_in_ring] >> S32)
                    if matchings:
                        fraction = fractions[place_in_ring]
                    holding = True
            taken = min(np.uint32(taken + free), goal)
            claim = np.uint32(np.uint32(stamp << TURN_BITS) + np.uint32(LONGEST_WAIT - taken) + place)
            if holding:
                cuda.atomic.min(owner, i, claim)
                cuda.atomic.min(owner, j, claim)
            sync()
            if holding and owner[i] == claim and owner[j] == claim:
                match = first + np.int64(place)
                bits = draw(key_1, key_2, np.uint64(match))
                mine, theirs, used, taken_place = meet(
                    side_at(columns, i), side_at(columns, j), i, j, match, bits, fraction, system, rules
                )
                if taken_place:
                    put(columns, i, mine)
                    put(columns, j, theirs)
                    tally += 1
                if (calendar or leaving) and np.uint32(place + ONE32) == goal:
                    tail[0], tail[1] = bits, used
                holding = False
            stamp = np.uint32(stamp - ONE32)
        if tally > 0:
            cuda.atomic.add(played, realisation, tally)
        if near:
            sync()
            for k in range(lane, count, WARP):
                put(there, k, side_at(columns, k))

    return kernel(play)


LONGEST_LEAGUE_LAUNCH = 1 << 20
"""Matches of one launch, so that a run can be stopped."""


@cache
def _kernel(kind: Any, near: bool, functions: UserFunctions) -> Any:
    from kinelo.micro.gpu.general import league_kernel

    return league_kernel(kind, near, device_formulas(), target(), functions)


def gpu_general_play(system: RatingSystem, encoded: EncodedSystem, keys: NDArray[np.uint64]) -> HeldPlay:
    """Play any league on the device; ``keys`` is (realisations, 2)."""
    from kinelo.micro.gpu.general import kind_of
    from kinelo.micro.gpu.kernels import WARP

    cuda, teams, rows = cuda_module(), encoded.teams, len(keys)
    kind = kind_of(encoded, remembered(encoded))
    # Memory of the multiprocessor that a realisation needs: columns, those who wait, claims.
    need = teams * (sum(COLUMN_BYTES.get(name, 8) for name in kind.columns) + 8 * kind.matchings + 4) + 16
    near = need <= BLOCK_MEMORY
    run = _kernel(kind, near, user_functions_on_device(system.outcome, system.pairing))
    held = on_device(cuda, encoded)
    boards = cuda.device_array((rows, 1 if near else teams), np.uint32)
    queues = cuda.device_array((rows, teams if kind.matchings and not near else 1), np.uint64)
    unused = {name: cuda.device_array((rows, 1), WHOLE.get(name, np.float64)) for name in LeagueState._fields}

    def launch(arrays: Mapping[str, Any], played: Any, own: Any, first: int, last: int) -> None:
        league = LeagueState(*(arrays[name] if name in kind.columns else unused[name] for name in LeagueState._fields))
        run[rows, WARP, 0, need if near else 0](league, played, own, held, first, last, boards, queues)

    still = () if kind.leaving else ("level", "strength") if kind.motion == STILL else ("level",)
    moved = tuple(name for name in kind.columns if name not in still)
    return HeldPlay(cuda, launch, keys, moved, LONGEST_LEAGUE_LAUNCH)
