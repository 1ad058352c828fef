"""The fast loops for step rules, rounds and rating periods: built-in laws, results from the table.

A batch holds matches that do not wait for one another: one match of each of several realisations or, while ratings are
frozen, a run of matches of one. Who meets and who wins is drawn for the whole batch, then all ``S − b`` are computed at
once, then they count, in order. The bytes are those of the general loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.model.outcome import LOGISTIC
from kinelo.model.pairing import ALL_PLAY_ALL
from kinelo.model.steps import EACH, FIDE
from kinelo.play.arithmetic import high_product
from kinelo.play.formula import inlined, kernel
from kinelo.play.laws import acceptance, expected, logistic, result_at
from kinelo.play.pairs import next_pair, pair_index, unpacked, waiting_at
from kinelo.play.steps import move, pay, rate, steps_of
from kinelo.play.stream import draw, redraw, unit

BLOCK = 64


class Batch(NamedTuple):
    """Draws, teams, rating differences and results of a batch; ``surprise`` is S − b, 0 if not ``accepted``."""

    bits: NDArray[np.uint64]
    i: NDArray[np.uint64]
    j: NDArray[np.uint64]
    z: NDArray[np.float64]
    surprise: NDArray[np.float64]
    accepted: NDArray[np.bool_]


@inlined
def empty_batch(size):
    """Room for a batch."""
    return Batch(
        np.empty(size, np.uint64), np.empty(size, np.uint64), np.empty(size, np.uint64),
        np.empty(size), np.empty(size), np.ones(size, np.bool_),
    )  # fmt: skip


@inlined
def meet(batch, k, i, j, pair, fraction, meeting, r):
    """Enter who meets, and the result that the table and the rest of the draw give."""
    batch.i[k], batch.j[k], batch.z[k] = i, j, r[i] - r[j]
    batch.surprise[k] = result_at(fraction, meeting.win[pair], meeting.loss[pair])


@inlined
def compare(batch, size, law, rule):
    """Subtract what was expected from every result, and turn away pairs that do not play."""
    if law.kind == LOGISTIC:
        # The loop that must vectorise: no branch, no call.
        for k in range(size):
            batch.surprise[k] -= logistic(law.nu, law.kappa, batch.z[k])
    else:
        for k in range(size):
            batch.surprise[k] -= expected(law.kind, law.nu, law.kappa, batch.z[k])
    if rule.kind != ALL_PLAY_ALL:
        for k in range(size):
            chance = acceptance(rule.kind, rule.c, rule.smoothing, batch.z[k])
            batch.accepted[k] = unit(redraw(batch.bits[k], np.uint64(0))) < chance


@inlined
def count(batch, k, r, owed, n, top, steps, frozen):
    """Move or owe ratings for one match; return 1 if it was played."""
    if not batch.accepted[k]:
        return 0
    i, j = batch.i[k], batch.j[k]
    if steps.kind == EACH:
        move(r, owed, i, j, steps.gamma[i], steps.gamma[j], batch.surprise[k], frozen)
        return 1
    step_i, step_j = steps_of(steps.kind, steps.gamma, steps.boost, steps.matches, steps.junior, r, n, top, i, j)
    if steps.kind == FIDE:
        rate(r, owed, top, i, j, step_i, step_j, batch.surprise[k], frozen)
    else:
        move(r, owed, i, j, step_i, step_j, batch.surprise[k], frozen)
    n[i] += 1
    n[j] += 1
    return 1


@kernel
def play_rounds(rating, owed, played, keys, meeting, first, last, gamma, law, rule):
    """Play matches ``first … last − 1`` of rounds in which each team keeps its step.

    The pairs of team i with those after it lie side by side in the table, so that nothing is looked up.
    """
    teams, row = rating.shape[1], empty_batch(rating.shape[1])
    for realisation in range(rating.shape[0]):
        r, due, tally = rating[realisation], owed[realisation], 0
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        pair, match = first % meeting.period, first
        while match < last:
            one, two = unpacked(meeting.pairs[pair])
            i, j = np.int64(one), np.int64(two)
            size = min(teams - j, last - match)
            win, loss = meeting.win[pair : pair + size], meeting.loss[pair : pair + size]
            for k in range(size):
                bits = draw(key_1, key_2, np.uint64(match + k))
                row.bits[k], row.z[k] = bits, r[i] - r[j + k]
                row.surprise[k] = result_at(bits, win[k], loss[k])
            compare(row, size, law, rule)
            if rule.kind != ALL_PLAY_ALL:
                for k in range(size):
                    row.surprise[k] = row.surprise[k] if row.accepted[k] else 0.0
                    tally += row.accepted[k]
            for k in range(size):
                due[j + k] -= gamma[j + k] * row.surprise[k]
            total = due[i]
            for k in range(size):
                total += gamma[i] * row.surprise[k]
            due[i] = total
            match, pair = match + size, pair + size
            if pair == meeting.period:
                pair = 0
                for team in range(teams):
                    r[team] += due[team]
                    due[team] = 0.0
        played[realisation] += last - first if rule.kind == ALL_PLAY_ALL else tally


@kernel
def play_frozen(rating, memory, played, keys, meeting, first, last, steps, law, rule):
    """Play matches ``first … last − 1`` of rounds or periods; ``rating`` is (realisations, teams)."""
    batch, waiting = empty_batch(BLOCK), np.empty(rating.shape[1], np.uint64)
    teams = np.uint64(waiting.size)
    for realisation in range(rating.shape[0]):
        r, owed = rating[realisation], memory.owed[realisation]
        n, top = memory.matches[realisation], memory.reached[realisation]
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        left = waiting_at(waiting, key_1, key_2, first)
        begin, tally = first, 0
        while begin < last:
            into = begin % meeting.period
            size = min(BLOCK, last - begin, meeting.period - into)
            for k in range(size):
                batch.bits[k] = draw(key_1, key_2, np.uint64(begin + k))
            if meeting.rounds:
                for k in range(size):
                    i, j = unpacked(meeting.pairs[into + k])
                    meet(batch, k, i, j, into + k, batch.bits[k], meeting, r)
            else:
                for k in range(size):
                    i, j, left, fraction = next_pair(waiting, left, batch.bits[k])
                    meet(batch, k, i, j, pair_index(i, j, teams), fraction, meeting, r)
            compare(batch, size, law, rule)
            for k in range(size):
                tally += count(batch, k, r, owed, n, top, steps, True)
            begin += size
            if into + size == meeting.period:
                for team in range(r.size):
                    pay(r, owed, top, team)
        played[realisation] += tally


@kernel
def play_steps(rating, memory, played, keys, meeting, first, last, steps, law, rule):
    """Play matches ``first … last − 1`` of pairs drawn at random, rated at once, all realisations side by side."""
    lanes, teams, pairs = rating.shape[0], rating.shape[1], np.uint64(meeting.pairs.size)
    batch = empty_batch(lanes)
    r, owed = rating.reshape(-1), memory.owed.reshape(-1)
    n, top = memory.matches.reshape(-1), memory.reached.reshape(-1)
    for match in range(first, last):
        for lane in range(lanes):
            batch.bits[lane] = draw(keys[lane, 0], keys[lane, 1], np.uint64(match))
        for lane in range(lanes):
            bits = batch.bits[lane]
            pair = high_product(bits, pairs)  # pyright: ignore[reportCallIssue]
            i, j = unpacked(meeting.pairs[pair])
            base = np.uint64(lane * teams)
            meet(batch, lane, base + i, base + j, pair, bits * pairs, meeting, r)
        compare(batch, lanes, law, rule)
        for lane in range(lanes):
            played[lane] += count(batch, lane, r, owed, n, top, steps, False)


@kernel
def play_steps_alone(rating, memory, played, keys, meeting, first, last, steps, law, rule):
    """``play_steps`` for a few realisations, each by itself: draws are made for a block of matches at a time."""
    batch, pairs = empty_batch(BLOCK), np.uint64(meeting.pairs.size)
    for realisation in range(rating.shape[0]):
        r, owed = rating[realisation], memory.owed[realisation]
        n, top = memory.matches[realisation], memory.reached[realisation]
        key_1, key_2, tally = keys[realisation, 0], keys[realisation, 1], 0
        for begin in range(first, last, BLOCK):
            size = min(BLOCK, last - begin)
            for k in range(size):
                batch.bits[k] = draw(key_1, key_2, np.uint64(begin + k))
            for k in range(size):
                pair = high_product(batch.bits[k], pairs)  # pyright: ignore[reportCallIssue]
                i, j = unpacked(meeting.pairs[pair])
                meet(batch, k, i, j, pair, batch.bits[k] * pairs, meeting, r)
            for k in range(size):
                z = r[batch.i[k]] - r[batch.j[k]]
                batch.surprise[k] -= expected(law.kind, law.nu, law.kappa, z)
                if rule.kind != ALL_PLAY_ALL:
                    chance = acceptance(rule.kind, rule.c, rule.smoothing, z)
                    batch.accepted[k] = unit(redraw(batch.bits[k], np.uint64(0))) < chance
                tally += count(batch, k, r, owed, n, top, steps, False)
        played[realisation] += tally
