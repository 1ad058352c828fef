"""Step rules, schedules and strengths that move, on the device: the loops of ``micro/general`` and ``micro/moving``.

A warp has one realisation and takes up to 32 matches at a time, in order; a match is played as soon as every earlier
one of its two teams is over (:mod:`kinelo.micro.gpu.kernels`). A batch ends with a period, and then all lanes share the
teams. Where teams leave, a match may concern a third team, so there it is played alone.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import cuda as numba_cuda
from numba import uint64

from kinelo.micro.gpu.kernels import UNCLAIMED, WARP
from kinelo.micro.gpu.matches import Laws
from kinelo.micro.gpu.target import kernel
from kinelo.play.arithmetic import Target, high_product
from kinelo.play.motion import FORM, LEARNING, WALK

cuda: Any = numba_cuda

ONE, TWO, NOTHING = np.uint64(1), np.uint64(2), np.uint64(0)
FIRST_TURN, TURN, NEXT = np.uint32((1 << 27) - 1), np.uint32(5), np.uint32(1)


def still_match(formulas: SimpleNamespace, target: Target, laws: Laws, *, literal: bool) -> Any:
    """A match of teams whose strengths stand still, rated by a rule or within a period."""
    f, b, tie = formulas, laws.b, laws.tie
    performances, result_at, result_of, unit, redraw, steps_of, rate = (
        f.performances, f.result_at, f.result_of, f.unit, f.redraw, f.steps_of, f.rate,
    )  # fmt: skip

    def match_of(i, j, z, bits, fraction, pair, own, meeting, drawing, theta, match, steps, motion, glicko, law, time):
        r, n, top, owed = own[0], own[6], own[7], own[8]
        if literal:
            mine, theirs, used = performances(drawing[0], drawing[1], drawing[2], drawing[3], i, j, bits, ONE)
            x = mine - theirs
            result = result_of(unit(redraw(bits, used)), b(law, x), tie(law, x))
        else:
            result = result_at(fraction, meeting[1][pair], meeting[2][pair])
        step_i, step_j = steps_of(steps[0], steps[1], steps[2], steps[3], steps[4], r, n, top, i, j)
        rate(r, owed, top, i, j, step_i, step_j, result - b(law, z), meeting[4] > 0)
        n[i] += 1
        n[j] += 1
        return ONE

    return target.compile(match_of)


def moving_match(formulas: SimpleNamespace, target: Target, laws: Laws) -> Any:
    """A match of teams whose strengths move, or whose ratings carry a deviation."""
    f, b, tie = formulas, laws.b, laws.tie
    performances, result_of, unit, redraw, steps_of, rate = (
        f.performances, f.result_of, f.unit, f.redraw, f.steps_of, f.rate,
    )  # fmt: skip
    present, normal_of, rested, informed, sharpened, lessons, jolt = (
        f.present, f.normal_of, f.rested, f.informed, f.sharpened, f.lessons, f.jolt,
    )  # fmt: skip

    def match_of(i, j, z, bits, fraction, pair, own, meeting, drawing, theta, match, steps, motion, glicko, law, time):
        r, rho, level, clock, v, rest, n, top, owed, known = own
        kind, alpha, beta, diffusion, on_result, pull, form, walk = motion[:8]
        on, nu, growth, _start, largest = glicko
        frozen = meeting[4] > 0
        used = ONE
        if (motion[0] == FORM or motion[0] == WALK) and not frozen:
            for side in (i, j):
                elapsed = (match - clock[side]) * time
                rho[side] = present(kind, pull, form, walk, rho[side], level[side], elapsed, normal_of(bits, used))
                clock[side] = match
                used += ONE
        mine, theirs, used = performances(drawing[0], drawing[1], drawing[2], drawing[3], i, j, bits, used)
        d = rho[i] - rho[j]
        x = d + (mine - theta[i]) - (theirs - theta[j])
        result = result_of(unit(redraw(bits, used)), b(law, x), tie(law, x))
        used += ONE
        if on:
            if not frozen:
                for side in (i, j):
                    v[side] = rested(v[side], growth, largest, (match - rest[side]) * time)
                    rest[side] = match
            gi, bi, info_i = informed(nu, v[j], z)
            gj, bj, info_j = informed(nu, v[i], z)
            if frozen:
                owed[i] += gi * (result - bi)
                owed[j] -= gj * (result - bj)
                known[i] += info_i
                known[j] += info_j
            else:
                v[i] = sharpened(v[i], info_i)
                v[j] = sharpened(v[j], info_j)
                r[i] += nu * gi * v[i] * (result - bi)
                r[j] -= nu * gj * v[j] * (result - bj)
        else:
            step_i, step_j = steps_of(steps[0], steps[1], steps[2], steps[3], steps[4], r, n, top, i, j)
            rate(r, owed, top, i, j, step_i, step_j, result - b(law, z), frozen)
            if kind == LEARNING:
                learnt = known if frozen else rho
                mine, theirs = lessons(alpha, beta, on_result, b(law, d), result)
                learnt[i] += step_i * mine
                learnt[j] += step_j * theirs
                if diffusion > 0.0:
                    learnt[i] += jolt(step_i, diffusion, normal_of(bits, used))
                    learnt[j] += jolt(step_j, diffusion, normal_of(bits, used + ONE))
                    used += TWO
        n[i] += 1
        n[j] += 1
        return used

    return target.compile(match_of)


def general_kernel(formulas: SimpleNamespace, target: Target, laws: Laws, *, literal: bool, moving: bool) -> Any:
    """Launch with (realisations, WARP)."""
    f, w, upper = formulas, laws.w, target.operations[high_product]
    accepting = w is not None
    draw, redraw, unit, two_teams, unpacked, pair_index = (
        f.draw, f.redraw, f.unit, f.two_teams, f.unpacked, f.pair_index,
    )  # fmt: skip
    waiting_at, next_pair, pay = f.waiting_at, f.next_pair, f.pay
    sharpened, rested, present, normal_of, leaver, newcomer_of = (
        f.sharpened, f.rested, f.present, f.normal_of, f.leaver, f.newcomer_of,
    )  # fmt: skip
    match_of = moving_match(f, target, laws) if moving else still_match(f, target, laws, literal=literal)
    drawn_teams = literal or moving

    def play(
        carried, played, keys, meeting, drawing, theta, first, last, steps, motion, glicko, law, rule, boards, queues
    ):
        lane, realisation = cuda.threadIdx.x, cuda.blockIdx.x
        pairs, _win, _loss, rounds, period = meeting
        # On lines of their own: an imitated kernel tells shared arrays apart by where they are made.
        seats = cuda.shared.array((3, WARP), uint64)
        tail = cuda.shared.array(2, uint64)
        own = (
            carried[0][realisation], carried[1][realisation], carried[2][realisation], carried[3][realisation],
            carried[4][realisation], carried[5][realisation], carried[6][realisation], carried[7][realisation],
            carried[8][realisation], carried[9][realisation],
        )  # fmt: skip
        r, rho, level, clock, v, rest, n, top, owed, known = own
        owner, queue = boards[realisation], queues[realisation]
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        count = r.shape[0]
        teams, time = np.uint64(count), 2.0 / count
        calendar = moving and (motion[0] == FORM or motion[0] == WALK)
        matchings = period > 0 and not rounds
        for k in range(lane, count, WARP):
            owner[k] = UNCLAIMED
        left, tally, turn, begin = NOTHING, 0, FIRST_TURN, first
        if matchings and lane == 0:
            left = waiting_at(queue, key_1, key_2, first)
        while begin < last:
            size = min(WARP, last - begin)
            if period > 0:
                size = min(size, period - begin % period)
            if moving and motion[8] > 0.0:
                size = 1
            cuda.syncthreads()
            if matchings and lane == 0:
                for k in range(size):
                    bits = draw(key_1, key_2, np.uint64(begin + k))
                    seats[0, k], seats[1, k], left, seats[2, k] = next_pair(queue, left, bits)
            cuda.syncthreads()
            match, waits = begin + lane, lane < size
            bits, fraction, pair, i, j, used = NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, ONE
            if waits:
                bits = draw(key_1, key_2, np.uint64(match))
                fraction = bits
                if rounds:
                    pair = np.uint64(match % period)
                    i, j = unpacked(pairs[pair])
                elif matchings:
                    i, j, fraction = seats[0, lane], seats[1, lane], seats[2, lane]
                    pair = pair_index(i, j, teams)
                elif drawn_teams:
                    i, j = two_teams(bits, teams)
                else:
                    pair, fraction = upper(bits, np.uint64(pairs.shape[0])), bits * np.uint64(pairs.shape[0])
                    i, j = unpacked(pairs[pair])
            while cuda.syncthreads_or(np.int32(waits)):
                claim = np.uint32((turn << TURN) | np.uint32(lane))
                if waits:
                    cuda.atomic.min(owner, i, claim)
                    cuda.atomic.min(owner, j, claim)
                cuda.syncthreads()
                if waits and owner[i] == claim and owner[j] == claim:
                    z = r[i] - r[j]
                    chance = w(rule, z) if accepting else 1.0  # pyright: ignore[reportOptionalCall]
                    if chance >= 1.0 or unit(redraw(bits, NOTHING)) < chance:
                        used = match_of(
                            i, j, z, bits, fraction, pair, own, meeting, drawing, theta, match, steps, motion, glicko,
                            law, time,
                        )  # fmt: skip
                        tally += 1
                    waits = False
                turn = np.uint32(turn - NEXT)
            if lane == size - 1:
                tail[0], tail[1] = bits, used
            cuda.syncthreads()
            begin += size
            if period > 0 and begin % period == 0:
                span = period * time
                for team in range(lane, count, WARP):
                    if moving and glicko[0]:
                        v[team] = sharpened(v[team], known[team])
                        r[team] += glicko[1] * v[team] * owed[team]
                        owed[team] = 0.0
                        v[team] = rested(v[team], glicko[2], glicko[4], span)
                        known[team] = 0.0
                        rest[team] = begin
                    else:
                        pay(r, owed, top, team)
                    if moving and motion[0] == LEARNING:
                        rho[team] += known[team]
                        known[team] = 0.0
                    if calendar:
                        normal = normal_of(tail[0], tail[1] + np.uint64(team))
                        rho[team] = present(
                            motion[0], motion[5], motion[6], motion[7], rho[team], level[team], span, normal
                        )
                        clock[team] = begin
            if moving and motion[8] > 0.0:
                cuda.syncthreads()
                bits, used = tail[0], tail[1]
                if calendar and period > 0 and begin % period == 0:
                    used += teams
                if lane == 0 and unit(redraw(bits, used)) < motion[8]:
                    gone = leaver(motion[9], rho, redraw(bits, used + ONE))
                    level[gone], rho[gone] = newcomer_of(motion[0], motion[6], motion[10], bits, used + TWO)
                    r[gone], n[gone], top[gone], owed[gone], known[gone] = motion[11], 0, False, 0.0, 0.0
                    clock[gone], rest[gone], v[gone] = begin, begin, glicko[3]
        if tally > 0:
            cuda.atomic.add(played, realisation, tally)

    return kernel(play)
