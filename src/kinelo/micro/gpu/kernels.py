"""Two ways of playing one realisation's matches at once and yet in order.

Matches that share no team commute exactly, so a match may be played as soon as every earlier match of its two teams
is over. Each waiting match writes its number, if it is the smallest, on both its teams (an atomic minimum); the match
that finds its number on both may play, the others try again. Numbers carry a stamp that falls from turn to turn, so
nothing need be wiped: a newer claim is always smaller. Two boards are used in turn, one being read while the other
is written.

``block_kernel`` gives a realisation a block of threads: most of them sort the matches of a window into turns while the
others play the window before it, turn by turn. It is the fast way for few realisations, where the time is the length
of the longest chain of matches that wait for one another. ``warp_kernel`` gives a realisation one warp: lanes whose
match is over take the next ones from a ring while the others go on waiting, so that most lanes play in every turn. It
is the fast way for many realisations, where the time is the number of instructions.

A row of ratings is a realisation of a league; rows may be those of ``many`` leagues, which are points of a sweep.

Ratings and boards lie in the memory of the multiprocessor where they fit (``near``), else in that of the device.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from numba import cuda as numba_cuda
from numba import float64, uint32, uint64

from kinelo.micro.gpu.matches import Origin
from kinelo.micro.gpu.target import kernel, target
from kinelo.runtime.device import simulated

cuda: Any = numba_cuda

UNCLAIMED = EVERYONE = np.uint32(0xFFFFFFFF)
NONE32, ONE32, TWO32 = np.uint32(0), np.uint32(1), np.uint32(2)
WARP, LANE_BITS = (4, np.uint32(2)) if simulated() else (32, np.uint32(5))
"""Lanes of a warp; an imitated one has few, since each costs a thread of Python."""
SLOT_BITS, TURN = np.uint32(9), np.uint32(512)
FIRST_STAMP = np.uint32((1 << 23) - 1)
LONGEST_PAIRS_LAUNCH = 1 << 22
"""Matches of one launch: at worst each is a turn of its own, and stamps must last."""
RING = 2 * WARP
"""Matches that lie ready for a warp."""
TURN_BITS, LONGEST_WAIT, LAST_TURN = np.uint32(10), np.uint32(1023), np.uint32((1 << 22) - 1)
"""A match waits for at most 31 turns, in each of which at most 31 later ones are taken: 10 bits tell them apart."""


def the_only(row, league):
    """Table, γ, outcome and pairing of a row where all rows are of one league."""
    return league


def one_of_many(row, leagues):
    """The same where rows have steps and numbers of their own, and the number of their table among all."""
    tables, gamma, law, rule = leagues
    own, numbers = tables[0][tables[1][row]], (law[1][row], law[2][row], rule[1][row], rule[2][row])
    return own, gamma[row], (law[0], numbers[0], numbers[1]), (rule[0], numbers[2], numbers[3])


def block_bytes(window: int, teams: int, near: bool) -> int:
    """Memory of the multiprocessor that a block of :func:`block_kernel` needs."""
    return 8 * (4 * window + near * teams) + 4 * (near * 2 * teams + 2 * window + 2)


def block_kernel(window: int, players: int, near: bool, many: bool, origin: Origin, luck: Any, settle: Any):
    """Launch with (realisations, window + players) and :func:`block_bytes`."""
    prepare, finish, who, result = origin.prepare, origin.finish, origin.who, origin.result
    league_of = target().compile(one_of_many if many else the_only)
    wide = np.uint32(window)
    playing = np.uint32(players)

    def play(rating, played, keys, leagues, drawing, first, last, boards):
        thread, threads = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockDim.x)
        realisation = np.uint32(cuda.blockIdx.x)
        teams = np.uint32(rating.shape[1])
        table, gamma, law, rule = league_of(realisation, leagues)
        words = cuda.shared.array(0, uint64)
        reals = cuda.shared.array(0, float64)
        smalls = cuda.shared.array(0, uint32)
        queue, chances = words[: 2 * window], reals[2 * window : 4 * window]
        if near:
            r = reals[4 * window : 4 * window + teams]
            owner = smalls[8 * window + TWO32 * teams : 8 * window + np.uint32(4) * teams]
            count = smalls[8 * window + np.uint32(4) * teams :]
            for k in range(thread, teams, threads):
                r[k] = rating[realisation, k]
        else:
            r = rating[realisation]
            owner = boards[realisation]
            count = smalls[8 * window :]
        for k in range(thread, TWO32 * teams, threads):
            owner[k] = UNCLAIMED
        for k in range(thread, 2 * window + 2, threads):
            count[k] = NONE32
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        sorting = thread >= playing
        slot = thread - playing
        tally = 0
        stamp = FIRST_STAMP
        levels, sorted_levels = NONE32, NONE32
        coming = False
        pair, win, loss, fraction, bits = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        if sorting and first + slot < last:
            coming = True
            pair, win, loss, fraction, bits = prepare(
                key_1, key_2, np.uint64(first + slot), table, np.uint64(teams), drawing, law
            )
        cuda.syncthreads()
        windows = (last - first + window - 1) // window
        for k in range(windows + 1):
            here, there = np.uint32(k & 1), np.uint32(1 - (k & 1))
            size = np.uint32(max(0, min(window, last - first - k * window)))
            waiting = False
            i, j, item, chance = NONE32, NONE32, np.uint64(0), 0.0
            ready, lucky, ripe, eaten = np.uint64(0), 0.0, NONE32, NONE32
            if sorting:
                waiting = coming
                item = np.uint64(finish(pair, win, loss, fraction))
                chance = luck(bits)
                i, j = who(item)
                following = first + (k + 1) * window + slot
                coming = following < last
                if coming:
                    pair, win, loss, fraction, bits = prepare(
                        key_1, key_2, np.uint64(following), table, np.uint64(teams), drawing, law
                    )
                if waiting:
                    board = np.uint32(teams * (stamp & ONE32))
                    claim = np.uint32((stamp << SLOT_BITS) | slot)
                    cuda.atomic.min(owner, np.uint32(board + i), claim)
                    cuda.atomic.min(owner, np.uint32(board + j), claim)
            elif levels > NONE32:
                ripe = count[there * (wide + ONE32)]
                if thread < ripe:
                    ready, lucky = queue[there * wide + thread], chances[there * wide + thread]
            cuda.syncthreads()
            level, placed = NONE32, NONE32
            while placed < size or level < levels:
                if sorting:
                    if waiting:
                        board = np.uint32(teams * (stamp & ONE32))
                        claim = np.uint32((stamp << SLOT_BITS) | slot)
                        if owner[np.uint32(board + i)] == claim and owner[np.uint32(board + j)] == claim:
                            place = here * wide + placed + cuda.atomic.add(count, here * (wide + ONE32) + level, ONE32)
                            queue[place] = item
                            chances[place] = chance
                            waiting = False
                        else:
                            board = np.uint32(teams - board)
                            cuda.atomic.min(owner, np.uint32(board + i), np.uint32(claim - TURN))
                            cuda.atomic.min(owner, np.uint32(board + j), np.uint32(claim - TURN))
                elif level < levels:
                    if thread < ripe:
                        a, b = who(ready)
                        tally += settle(r, a, b, result(ready), lucky, gamma, law, rule)
                    for p in range(thread + playing, ripe, playing):
                        place = there * wide + eaten + p
                        a, b = who(queue[place])
                        tally += settle(r, a, b, result(queue[place]), chances[place], gamma, law, rule)
                    eaten += ripe
                    if level + ONE32 < levels:
                        # Fetched before the barrier, so that the wait for memory is part of the wait for the others.
                        ripe = count[there * (wide + ONE32) + level + ONE32]
                        if thread < ripe:
                            place = there * wide + eaten + thread
                            ready, lucky = queue[place], chances[place]
                cuda.syncthreads()
                if placed < size:
                    placed += count[here * (wide + ONE32) + level]
                    sorted_levels = level + ONE32
                stamp, level = np.uint32(stamp - ONE32), np.uint32(level + ONE32)
            for p in range(thread, levels, threads):
                count[there * (wide + ONE32) + p] = NONE32
            levels = sorted_levels if size > NONE32 else NONE32
        cuda.syncthreads()
        if tally > 0:
            cuda.atomic.add(played, realisation, tally)
        if near:
            for k in range(thread, teams, threads):
                rating[realisation, k] = r[k]

    return kernel(play)


def sync_warp():
    """Wait for the other lanes of the warp."""
    cuda.syncwarp(EVERYONE)


def rank_in_warp(lane, wanted):
    """How many lanes that want something stand before this one, and how many there are in all."""
    votes = np.uint32(cuda.ballot_sync(EVERYONE, wanted))
    return np.uint32(cuda.popc(np.uint32(votes & np.uint32((ONE32 << lane) - ONE32)))), np.uint32(cuda.popc(votes))


def sync_imitated():
    """The same where kernels are imitated: for the whole block."""
    cuda.syncthreads()


def rank_imitated(lane, wanted):
    """The same by a counter of each warp: who comes first is first."""
    count, warp = cuda.shared.array(cuda.blockDim.x, uint32), cuda.threadIdx.x // WARP
    if lane == 0:
        count[warp] = 0
    cuda.syncthreads()
    before = cuda.atomic.add(count, warp, 1) if wanted else 0
    cuda.syncthreads()
    return np.uint32(before), np.uint32(count[warp])


def warp_functions(module: dict[str, Any]) -> tuple[Any, Any]:
    """How the lanes of a warp wait for one another, and count those that want something.

    ``module`` are the globals of the kernel: where it is imitated, ``cuda`` is replaced in these alone.
    """
    if simulated():
        sync, rank = (FunctionType(one.__code__, module) for one in (sync_imitated, rank_imitated))
        return sync, rank
    return cuda.jit(sync_warp, device=True), cuda.jit(rank_in_warp, device=True)


def warp_bytes(teams: int, near: bool, bits: int, accepting: bool) -> int:
    """Memory of the multiprocessor that a warp of :func:`warp_kernel` needs: chances, ring, ratings, claims."""
    return 8 * (RING * accepting + RING * bits // 64 + (teams + -(-teams // 2)) * near)


def warp_kernel(near: bool, accepting: bool, warps: int, many: bool, origin: Origin, luck: Any, settle: Any):
    """Launch with (realisations / ``warps``, 32 ``warps``) and ``warps`` times :func:`warp_bytes`."""
    prepare, finish, who, result, bits = origin.prepare, origin.finish, origin.who, origin.result, origin.bits
    league_of = target().compile(one_of_many if many else the_only)
    sync, rank = warp_functions(globals())
    word = uint32 if bits == 32 else uint64
    chances_wide, front = RING * accepting, RING * accepting + RING * bits // 64

    def play(rating, played, keys, leagues, drawing, first, last, boards):
        thread = np.uint32(cuda.threadIdx.x)
        lane, warp = np.uint32(thread & np.uint32(WARP - 1)), np.uint32(thread >> LANE_BITS)
        realisation = np.uint32(cuda.blockIdx.x * warps + warp)
        if realisation >= rating.shape[0]:
            return
        teams = np.uint32(rating.shape[1])
        table, gamma, law, rule = league_of(realisation, leagues)
        reals = cuda.shared.array(0, float64)
        smalls = cuda.shared.array(0, uint32)
        ring = cuda.shared.array(0, word)
        each = np.uint32(front)
        if near:
            each = np.uint32(each + teams + np.uint32(np.uint32(teams + ONE32) >> ONE32))
        chances = np.uint32(each * warp)
        items = np.uint32(chances + np.uint32(chances_wide))
        if bits == 32:
            items = np.uint32(items * TWO32)
        if near:
            r, owner = reals, smalls
            mine_at = np.uint32(chances + np.uint32(front))
            claims = np.uint32(np.uint32(mine_at + teams) * TWO32)
            for k in range(lane, teams, WARP):
                r[np.uint32(mine_at + k)] = rating[realisation, k]
        else:
            r, owner = rating[realisation], boards[realisation]
            mine_at, claims = NONE32, NONE32
        away = np.uint32(claims - mine_at)
        for k in range(lane, teams, WARP):
            owner[np.uint32(claims + k)] = UNCLAIMED
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        total, lanes = np.uint32(last - first), np.uint32(WARP)
        taken, filled, stamp = NONE32, NONE32, LAST_TURN
        tally = 0
        holding = False
        i, j, place, outcome, chance = NONE32, NONE32, NONE32, 0.0, 0.0
        pair, win, loss, fraction, drawn = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        match = np.uint64(first + lane)
        if lane < total:
            pair, win, loss, fraction, drawn = prepare(key_1, key_2, match, table, np.uint64(teams), drawing, law)
        while True:
            if filled < total and np.uint32(filled - taken) < lanes:
                here = np.uint32(np.uint32(filled + lane) & np.uint32(RING - 1))
                ring[np.uint32(items + here)] = finish(pair, win, loss, fraction)
                if accepting:
                    reals[np.uint32(chances + here)] = luck(drawn)
                filled = np.uint32(filled + lanes)
                match += np.uint64(WARP)
                if np.uint32(filled + lane) < total:
                    pair, win, loss, fraction, drawn = prepare(
                        key_1, key_2, match, table, np.uint64(teams), drawing, law
                    )
            sync()
            before, free = rank(lane, not holding)
            if free == lanes and taken == total:
                break
            if not holding:
                place = np.uint32(taken + before)
                if place < total:
                    here = np.uint32(place & np.uint32(RING - 1))
                    item = ring[np.uint32(items + here)]
                    if accepting:
                        chance = reals[np.uint32(chances + here)]
                    i, j = who(item)
                    outcome = result(item)
                    i, j = np.uint32(i + mine_at), np.uint32(j + mine_at)
                    holding = True
            taken = min(np.uint32(taken + free), total)
            claim = np.uint32(np.uint32(stamp << TURN_BITS) + np.uint32(LONGEST_WAIT - taken) + place)
            if holding:
                cuda.atomic.min(owner, np.uint32(i + away), claim)
                cuda.atomic.min(owner, np.uint32(j + away), claim)
            sync()
            if holding and owner[np.uint32(i + away)] == claim and owner[np.uint32(j + away)] == claim:
                tally += settle(r, i, j, outcome, chance, gamma, law, rule)
                holding = False
            stamp = np.uint32(stamp - ONE32)
        if tally > 0:
            cuda.atomic.add(played, realisation, tally)
        if near:
            for k in range(lane, teams, WARP):
                rating[realisation, k] = r[np.uint32(mine_at + k)]

    return kernel(play)
