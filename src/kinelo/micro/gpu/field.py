"""Contests of many sides on the device: the loop of ``micro/field``, a warp for each realisation.

The entrants of a contest share the lanes: each adds up its own results against the others, in the order in which the
processor does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import cuda as numba_cuda
from numpy.typing import NDArray

from kinelo.micro.field import field_system
from kinelo.micro.gpu.general import LONGEST_LEAGUE_LAUNCH
from kinelo.micro.gpu.held import HeldPlay, on_device
from kinelo.micro.gpu.kernels import WARP
from kinelo.micro.gpu.play import device_formulas
from kinelo.micro.gpu.target import kernel
from kinelo.micro.league import WHOLE
from kinelo.model.dynamics import LEARNING
from kinelo.play.contest import FIRST
from kinelo.play.encoding import EncodedSystem
from kinelo.play.match import LeagueState, MatchRules, MatchSide
from kinelo.runtime.device import cuda_module

cuda: Any = numba_cuda


def field_kernel(formulas: SimpleNamespace) -> Any:
    """Launch with (realisations, WARP); arguments as of ``play_field``, and room for a contest of each realisation.

    Room are int64 (realisations, teams), teams in their order; bits, uint64 (realisations, size); and float64 (3,
    realisations, size): performances, ratings and strengths of those who meet.
    """
    f = formulas
    draw, enter, leave, own_bits, luck, performance = f.draw, f.enter, f.leave, f.own_bits, f.luck, f.performance
    strength_today, order_of, after_contest, turn_over = f.strength_today, f.order_of, f.after_contest, f.turn_over
    expected, lessons, gamma_of = f.expected, f.lessons, f.gamma_of

    def play(league, played, keys, system, size, first, last, room):
        order, bits, numbers = room
        lane, realisation = cuda.threadIdx.x, cuda.blockIdx.x
        law, _, steps, _, drawing, motion, glicko, gamma, junior, pool = system
        kind, values, table, lineup, theta = drawing
        r, strength, level = league[0][realisation], league[1][realisation], league[2][realisation]
        clock, v, rest = league[3][realisation], league[4][realisation], league[5][realisation]
        n, top = league[6][realisation], league[7][realisation]
        owed, known = league[8][realisation], league[9][realisation]
        members, member_bits = order[realisation], bits[realisation]
        x, z, rho = numbers[0, realisation], numbers[1, realisation], numbers[2, realisation]
        count, others, learns = r.shape[0], float(size - 1), motion.kind == LEARNING
        rules = MatchRules(law, steps, motion, glicko, False, True, 0, size / count)
        for match in range(first, last):
            chance = draw(keys[realisation, 0], keys[realisation, 1], np.uint64(match))
            if lane == 0:
                enter(members, size, chance)
            cuda.syncthreads()
            for a in range(lane, size, WARP):
                q = members[a]
                member_bits[a], z[a] = own_bits(chance, size, a), r[q]
                performed, _used = performance(kind, values, table, lineup, q, member_bits[a], FIRST)
                side = MatchSide(r[q], strength[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q])
                rho[a] = strength_today(motion, side, (match - clock[q]) * rules.unit_time, member_bits[a])
                if motion.moving:
                    performed = rho[a] + (performed - theta[q])
                x[a] = performed + luck(law.kind, law.nu, member_bits[a])
            cuda.syncthreads()
            for a in range(lane, size, WARP):
                q, gain, lesson = members[a], 0.0, 0.0
                for b in range(size):
                    if b != a:
                        placed = order_of(x[a], x[b])
                        gain += placed - expected(law.kind, law.nu, law.kappa, z[a] - z[b])
                        if learns:
                            gap = expected(law.kind, law.nu, law.kappa, rho[a] - rho[b])
                            mine, _theirs = lessons(motion.alpha, motion.beta, motion.on_result, gap, placed)
                            lesson += mine
                side = MatchSide(r[q], strength[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q])
                side = after_contest(
                    side,
                    rho[a],
                    (gain / others, lesson / others),
                    gamma_of(gamma, q),
                    junior[q],
                    rules,
                    match,
                    member_bits[a],
                )
                r[q], strength[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q] = side
            cuda.syncthreads()
            if lane == 0:
                leave(members, size, chance)
                if motion.leaving > 0.0:
                    q, side = turn_over(strength, pool, motion, glicko, match + 1, chance, np.uint64(2 * size))
                    if q >= 0:
                        r[q], strength[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q] = side
            cuda.syncthreads()
        if lane == 0:
            played[realisation] += last - first

    return kernel(play)


@cache
def _kernel() -> Any:
    return field_kernel(device_formulas())


def gpu_field_play(encoded: EncodedSystem, size: int, keys: NDArray[np.uint64]) -> HeldPlay:
    """Play contests of ``size`` teams on the device; ``keys`` is (realisations, 2)."""
    cuda, run, teams = cuda_module(), _kernel(), encoded.teams
    held = on_device(cuda, field_system(encoded, size))

    rows = len(keys)
    bits, numbers = cuda.device_array((rows, size), np.uint64), cuda.device_array((3, rows, size), np.float64)
    order = cuda.to_device(np.tile(np.arange(teams), (rows, 1)))
    unused = {
        name: cuda.to_device(np.zeros((rows, teams), WHOLE.get(name, np.float64))) for name in LeagueState._fields
    }

    def launch(arrays: Mapping[str, Any], played: Any, own: Any, first: int, last: int) -> None:
        league = LeagueState(*(arrays.get(name, unused[name]) for name in LeagueState._fields))
        run[rows, WARP](league, played, own, held, size, first, last, (order, bits, numbers))

    return HeldPlay(cuda, launch, keys, LeagueState._fields, LONGEST_LEAGUE_LAUNCH)
