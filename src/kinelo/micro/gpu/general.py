"""Any league on the device: the loop of ``micro/general`` for 32 matches at a time.

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
from kinelo.micro.gpu.target import kernel
from kinelo.play.arithmetic import Target, high_product
from kinelo.play.match import Draws, Rules, Side
from kinelo.play.users import UserFunctions

cuda: Any = numba_cuda

ONE, NOTHING = np.uint64(1), np.uint64(0)
FIRST_TURN, TURN, NEXT = np.uint32((1 << 27) - 1), np.uint32(5), np.uint32(1)


def general_kernel(formulas: SimpleNamespace, target: Target, functions: UserFunctions) -> Any:
    """Launch with (realisations, WARP); arguments as of ``play_general``, boards and queues (realisations, teams)."""
    f, upper = formulas, target.operations[high_product]
    b, tie, w = functions
    draw, two_teams, unpacked, pair_index, performances = (
        f.draw, f.two_teams, f.unpacked, f.pair_index, f.performances,
    )  # fmt: skip
    waiting_at, next_pair, moves_by_calendar, normal_of = f.waiting_at, f.next_pair, f.moves_by_calendar, f.normal_of
    accepts, draws_before, play_match, end_period, turn_over = (
        f.accepts, f.draws_before, f.play_match, f.end_period, f.turn_over,
    )  # fmt: skip

    def play(league, played, keys, system, first, last, boards, queues):
        lane, realisation = cuda.threadIdx.x, cuda.blockIdx.x
        law, rule, steps, meeting, drawing, motion, glicko, gamma, junior, pool = system
        pairs, win, loss, rounds, literal, period = meeting
        kind, values, table, lineup, theta = drawing
        # On lines of their own: an imitated kernel tells shared arrays apart by where they are made.
        seats = cuda.shared.array((3, WARP), uint64)
        tail = cuda.shared.array(2, uint64)
        r, rho, level = league[0][realisation], league[1][realisation], league[2][realisation]
        clock, v, rest = league[3][realisation], league[4][realisation], league[5][realisation]
        n, top = league[6][realisation], league[7][realisation]
        owed, known = league[8][realisation], league[9][realisation]
        owner, queue = boards[realisation], queues[realisation]
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        count = r.shape[0]
        teams, number, leaving = np.uint64(count), np.uint64(pairs.shape[0]), motion.leaving > 0.0
        matchings, calendar = period > 0 and not rounds, rounds and moves_by_calendar(motion.kind)
        rules = Rules(law, steps, motion, glicko, rounds, literal, period, 2.0 / count)
        for k in range(lane, count, WARP):
            owner[k] = UNCLAIMED
        left, tally, turn, begin = NOTHING, 0, FIRST_TURN, first
        if matchings and lane == 0:
            left = waiting_at(queue, key_1, key_2, first)
        while begin < last:
            size = min(WARP, last - begin)
            if period > 0:
                size = min(size, period - begin % period)
            if leaving:
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
                elif literal:
                    i, j = two_teams(bits, teams)
                else:
                    pair, fraction = upper(bits, number), bits * number
                    i, j = unpacked(pairs[pair])
            while cuda.syncthreads_or(np.int32(waits)):
                claim = np.uint32((turn << TURN) | np.uint32(lane))
                if waits:
                    cuda.atomic.min(owner, i, claim)
                    cuda.atomic.min(owner, j, claim)
                cuda.syncthreads()
                if waits and owner[i] == claim and owner[j] == claim:
                    if accepts(rule, w, r[i] - r[j], bits):
                        used, x, y, mean_x, mean_y = draws_before(motion, rounds), 0.0, 0.0, 0.0, 0.0
                        below, beyond = NOTHING, NOTHING
                        if literal:
                            x, y, used = performances(kind, values, table, lineup, i, j, bits, used)
                            mean_x, mean_y = theta[i], theta[j]
                        else:
                            below, beyond = win[pair], loss[pair]
                        draws = Draws(match, bits, used, x, y, mean_x, mean_y, fraction, below, beyond)
                        mine, theirs, _result, used = play_match(
                            Side(r[i], rho[i], level[i], clock[i], v[i], rest[i], n[i], top[i], owed[i], known[i]),
                            Side(r[j], rho[j], level[j], clock[j], v[j], rest[j], n[j], top[j], owed[j], known[j]),
                            (gamma[i], gamma[j]), (junior[i], junior[j]), rules, draws, b, tie,
                        )  # fmt: skip
                        r[i], rho[i], level[i], clock[i], v[i], rest[i], n[i], top[i], owed[i], known[i] = mine
                        r[j], rho[j], level[j], clock[j], v[j], rest[j], n[j], top[j], owed[j], known[j] = theirs
                        tally += 1
                    waits = False
                turn = np.uint32(turn - NEXT)
            if lane == size - 1:
                tail[0], tail[1] = bits, used
            cuda.syncthreads()
            begin += size
            ended = period > 0 and begin % period == 0
            if ended:
                for q in range(lane, count, WARP):
                    normal = normal_of(tail[0], tail[1] + np.uint64(q)) if calendar else 0.0
                    side = Side(r[q], rho[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q])
                    side = end_period(side, rules, begin, normal)
                    r[q], rho[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q] = side
            if leaving:
                cuda.syncthreads()
                if lane == 0:
                    used = tail[1] + (teams if ended and calendar else NOTHING)
                    q, side = turn_over(rho, pool, motion, glicko, begin, tail[0], used)
                    if q >= 0:
                        r[q], rho[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q] = side
        if tally > 0:
            cuda.atomic.add(played, realisation, tally)

    return kernel(play)
