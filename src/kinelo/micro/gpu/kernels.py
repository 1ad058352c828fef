"""Two ways of playing one realisation's matches at once and yet in order.

Matches that share no team commute exactly, so a match may be played as soon as every earlier match of its two teams
is over. Each waiting match writes its number, if it is the smallest, on both its teams (an atomic minimum); the match
that finds its number on both may play, the others try again. Numbers carry a stamp that falls from turn to turn, so
nothing need be wiped: a newer claim is always smaller. Two boards are used in turn, one being read while the other
is written.

``crew_kernel`` gives a realisation a block of threads: most of them sort the matches of a window into turns while the
others play the window before it, turn by turn. It is the fast way for few realisations, where the time is the length
of the longest chain of matches that wait for one another. ``warp_kernel`` gives a realisation one warp, which claims
and plays 32 matches at a time. It is the fast way for many realisations, where the time is the number of instructions.

Ratings and boards lie in the memory of the multiprocessor where they fit (``near``), else in that of the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as numba_cuda
from numba import float64, uint32, uint64

from kinelo.micro.gpu.matches import Origin
from kinelo.micro.gpu.target import kernel

cuda: Any = numba_cuda

UNCLAIMED = np.uint32(0xFFFFFFFF)
NONE, ONE, TWO = np.uint32(0), np.uint32(1), np.uint32(2)
WARP, LANE_BITS = 32, np.uint32(5)
SLOT_BITS, TURN = np.uint32(9), np.uint32(512)
FIRST_STAMP = np.uint32((1 << 23) - 1)
LONGEST_LAUNCH = 1 << 22
"""Matches of one launch: at worst each is a turn of its own, and stamps must last."""


def crew_bytes(window: int, teams: int, near: bool) -> int:
    """Memory of the multiprocessor that a block of :func:`crew_kernel` needs."""
    return 8 * (4 * window + near * teams) + 4 * (near * 2 * teams + 2 * window + 2)


def crew_kernel(window: int, players: int, near: bool, origin: Origin, luck: Any, settle: Any):
    """Launch with (realisations, window + players) and :func:`crew_bytes`."""
    prepare, finish, who = origin.prepare, origin.finish, origin.who
    wide = np.uint32(window)
    crew = np.uint32(players)

    def play(rating, played, keys, table, drawing, first, last, gamma, law, rule, boards):
        thread, threads = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockDim.x)
        realisation = np.uint32(cuda.blockIdx.x)
        teams = np.uint32(rating.shape[1])
        words = cuda.shared.array(0, uint64)
        reals = cuda.shared.array(0, float64)
        smalls = cuda.shared.array(0, uint32)
        queue, chances = words[: 2 * window], reals[2 * window : 4 * window]
        if near:
            r = reals[4 * window : 4 * window + teams]
            owner = smalls[8 * window + TWO * teams : 8 * window + np.uint32(4) * teams]
            count = smalls[8 * window + np.uint32(4) * teams :]
            for k in range(thread, teams, threads):
                r[k] = rating[realisation, k]
        else:
            r = rating[realisation]
            owner = boards[realisation]
            count = smalls[8 * window :]
        for k in range(thread, TWO * teams, threads):
            owner[k] = UNCLAIMED
        for k in range(thread, 2 * window + 2, threads):
            count[k] = NONE
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        sorting = thread >= crew
        slot = thread - crew
        tally = 0
        stamp = FIRST_STAMP
        levels, sorted_levels = NONE, NONE
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
            i, j, item, chance = NONE, NONE, np.uint64(0), 0.0
            ready, lucky, ripe, eaten = np.uint64(0), 0.0, NONE, NONE
            if sorting:
                waiting = coming
                item = finish(pair, win, loss, fraction)
                chance = luck(bits)
                i, j = who(item)
                following = first + (k + 1) * window + slot
                coming = following < last
                if coming:
                    pair, win, loss, fraction, bits = prepare(
                        key_1, key_2, np.uint64(following), table, np.uint64(teams), drawing, law
                    )
                if waiting:
                    board = np.uint32(teams * (stamp & ONE))
                    claim = np.uint32((stamp << SLOT_BITS) | slot)
                    cuda.atomic.min(owner, np.uint32(board + i), claim)
                    cuda.atomic.min(owner, np.uint32(board + j), claim)
            elif levels > NONE:
                ripe = count[there * (wide + ONE)]
                if thread < ripe:
                    ready, lucky = queue[there * wide + thread], chances[there * wide + thread]
            cuda.syncthreads()
            level, placed = NONE, NONE
            while placed < size or level < levels:
                if sorting:
                    if waiting:
                        board = np.uint32(teams * (stamp & ONE))
                        claim = np.uint32((stamp << SLOT_BITS) | slot)
                        if owner[np.uint32(board + i)] == claim and owner[np.uint32(board + j)] == claim:
                            place = here * wide + placed + cuda.atomic.add(count, here * (wide + ONE) + level, ONE)
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
                        tally += settle(r, a, b, ready, lucky, gamma, law, rule)
                    for p in range(thread + crew, ripe, crew):
                        place = there * wide + eaten + p
                        a, b = who(queue[place])
                        tally += settle(r, a, b, queue[place], chances[place], gamma, law, rule)
                    eaten += ripe
                    if level + ONE < levels:
                        # Fetched before the barrier, so that the wait for memory is part of the wait for the others.
                        ripe = count[there * (wide + ONE) + level + ONE]
                        if thread < ripe:
                            place = there * wide + eaten + thread
                            ready, lucky = queue[place], chances[place]
                cuda.syncthreads()
                if placed < size:
                    placed += count[here * (wide + ONE) + level]
                    sorted_levels = level + ONE
                stamp, level = np.uint32(stamp - ONE), np.uint32(level + ONE)
            for p in range(thread, levels, threads):
                count[there * (wide + ONE) + p] = NONE
            levels = sorted_levels if size > NONE else NONE
        cuda.syncthreads()
        if tally > 0:
            cuda.atomic.add(played, realisation, tally)
        if near:
            for k in range(thread, teams, threads):
                rating[realisation, k] = r[k]

    return kernel(play)


def warp_bytes(teams: int, near: bool) -> int:
    """Memory of the multiprocessor that a block of :func:`warp_kernel` needs."""
    return 16 * teams * near


def warp_kernel(near: bool, origin: Origin, luck: Any, settle: Any):
    """Launch with (realisations, 32) and :func:`warp_bytes`."""
    prepare, finish, who = origin.prepare, origin.finish, origin.who
    warp = np.uint32(WARP)

    @cuda.jit(device=True)
    def attempt(owner, r, i, j, read, write, item, chance, claim, gamma, law, rule):
        """Play, and say so, if the claim on the board at ``read`` stands; else claim on the board at ``write``."""
        if owner[np.uint32(i + read)] == claim and owner[np.uint32(j + read)] == claim:
            return True, settle(r, i, j, item, chance, gamma, law, rule)
        cuda.atomic.min(owner, np.uint32(i + write), np.uint32(claim - warp))
        cuda.atomic.min(owner, np.uint32(j + write), np.uint32(claim - warp))
        return False, 0

    def play(rating, played, keys, table, drawing, first, last, gamma, law, rule, boards):
        lane, realisation = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockIdx.x)
        teams = np.uint32(rating.shape[1])
        if near:
            r = cuda.shared.array(0, float64)
            owner = cuda.shared.array(0, uint32)
            one = np.uint32(TWO * teams)
            for k in range(lane, teams, WARP):
                r[k] = rating[realisation, k]
        else:
            r = rating[realisation]
            owner = boards[realisation]
            one = NONE
        other = np.uint32(one + teams)
        for k in range(lane, TWO * teams, WARP):
            owner[np.uint32(one + k)] = UNCLAIMED
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        tally = 0
        stamp = FIRST_STAMP
        pair, win, loss, fraction, bits = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        match, left = np.uint64(first + lane), np.int32(last - first - lane)
        if left > 0:
            pair, win, loss, fraction, bits = prepare(key_1, key_2, match, table, np.uint64(teams), drawing, law)
        cuda.syncthreads()
        for _ in range(np.int32((last - first + WARP - 1) // WARP)):
            waiting = left > 0
            item, chance = finish(pair, win, loss, fraction), luck(bits)
            i, j = who(item)
            claim = np.uint32((stamp << LANE_BITS) | lane)
            if waiting:
                cuda.atomic.min(owner, np.uint32(i + one), claim)
                cuda.atomic.min(owner, np.uint32(j + one), claim)
            match += np.uint64(WARP)
            left = np.int32(left - WARP)
            if left > 0:
                pair, win, loss, fraction, bits = prepare(key_1, key_2, match, table, np.uint64(teams), drawing, law)
            while cuda.syncthreads_or(np.int32(waiting)):
                if waiting:
                    over, count = attempt(owner, r, i, j, one, other, item, chance, claim, gamma, law, rule)
                    waiting, tally = not over, tally + count
                    claim = np.uint32(claim - warp)
                stamp = np.uint32(stamp - ONE)
                if not cuda.syncthreads_or(np.int32(waiting)):
                    break
                if waiting:
                    over, count = attempt(owner, r, i, j, other, one, item, chance, claim, gamma, law, rule)
                    waiting, tally = not over, tally + count
                    claim = np.uint32(claim - warp)
                stamp = np.uint32(stamp - ONE)
        if tally > 0:
            cuda.atomic.add(played, realisation, tally)
        cuda.syncthreads()
        if near:
            for k in range(lane, teams, WARP):
                rating[realisation, k] = r[k]

    return kernel(play)
