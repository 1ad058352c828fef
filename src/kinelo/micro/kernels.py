"""The fast loops: built-in laws, results from the table, one step for each team.

A match: draw a pair, accept it with probability w, draw the result S, then ``R_i += γ(S − b)``, ``R_j −= γ(S − b)``.

``play_table`` knows the probabilities of every pair and spends one 64-bit draw on a match: read as a fraction of
the number of pairs, its integer part is the pair and its fractional part the uniform that decides the result.
Several realisations are interleaved, so that their independent arithmetic overlaps and vectorises.
``play_points`` plays one realisation of many settings: the stream is keyed by (seed, realisation, match), so that with
the same seed all of them meet in the same pair with the same uniform at every match, and one draw serves them all.
``play_rounds`` plays every pair once with ratings frozen; the pairs of a team lie side by side in the table.
All end at the bytes of the general loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.model.outcome import LOGISTIC
from kinelo.model.pairing import ALL_PLAY_ALL
from kinelo.play.arithmetic import high_product
from kinelo.play.formula import kernel
from kinelo.play.laws import acceptance, expected, logistic, result_at
from kinelo.play.pairs import unpacked
from kinelo.play.stream import draw, redraw, unit

DRAWN_AHEAD = 64


class Tables(NamedTuple):
    """Tables of results of one size side by side: ``pairs`` (pairs,), ``win`` and ``loss`` (pairs, tables)."""

    pairs: NDArray[np.uint32]
    win: NDArray[np.uint64]
    loss: NDArray[np.uint64]


class Points(NamedTuple):
    """Points of a sweep, one entry each: which table, γ, the numbers of outcome and pairing; their kinds are common."""

    which: NDArray[np.uint64]
    gamma: NDArray[np.float64]
    outcome: int
    nu: NDArray[np.float64]
    kappa: NDArray[np.float64]
    pairing: int
    c: NDArray[np.float64]
    smoothing: NDArray[np.float64]


@kernel
def play_table(rating, played, keys, system, first, last):
    """Play matches ``first … last − 1`` of several realisations at once.

    ``rating`` is float64 (teams, realisations), ``played`` int64 (realisations,), ``keys`` uint64 (realisations, 2).
    ``system`` is an ``EncodedSystem`` with one γ for all. ``pairs`` of its table pack i and j; a draw below ``win`` is
    a win, one of at least ``loss`` a loss, anything between a tie.
    """
    outcome, nu, kappa = system.law
    pairing, c, smoothing = system.rule
    pairs, win, loss, gamma = system.meeting.pairs, system.meeting.win, system.meeting.loss, system.gamma[0]
    lanes = rating.shape[1]
    count = np.uint64(pairs.shape[0])
    key_1, key_2 = keys[:, 0].copy(), keys[:, 1].copy()
    bits = np.empty(lanes, np.uint64)
    i, j = np.empty(lanes, np.uint64), np.empty(lanes, np.uint64)
    result, gain = np.empty(lanes), np.empty(lanes)
    for match in range(first, last):
        for lane in range(lanes):
            bits[lane] = draw(key_1[lane], key_2[lane], np.uint64(match))
        for k in range(lanes):
            lane = np.uint64(k)
            # One draw: the integer part of bits · count / 2⁶⁴ is the pair, the fraction decides the result S.
            pair = high_product(bits[lane], count)  # pyright: ignore[reportCallIssue]
            fraction = bits[lane] * count
            i[lane], j[lane] = unpacked(pairs[pair])
            result[lane] = result_at(fraction, win[pair], loss[pair])
            gain[lane] = rating[i[lane], lane] - rating[j[lane], lane]  # Δ = R_i − R_j
        if pairing == ALL_PLAY_ALL and outcome == LOGISTIC:
            # The one loop that must vectorise: no branch, no call.
            for lane in range(lanes):
                gain[lane] = gamma * (result[lane] - logistic(nu, kappa, gain[lane]))  # γ(S − b(Δ))
        elif pairing == ALL_PLAY_ALL:
            for lane in range(lanes):
                gain[lane] = gamma * (result[lane] - expected(outcome, nu, kappa, gain[lane]))
        else:
            for lane in range(lanes):
                # The pair plays with probability w(Δ), by a second uniform of the same match.
                accepted = unit(redraw(bits[lane], np.uint64(0))) < acceptance(pairing, c, smoothing, gain[lane])
                step = gamma * (result[lane] - expected(outcome, nu, kappa, gain[lane]))
                gain[lane] = step if accepted else 0.0
                played[lane] += np.int64(accepted)
        for k in range(lanes):
            lane = np.uint64(k)
            rating[i[lane], lane] += gain[lane]  # what one gains
            rating[j[lane], lane] -= gain[lane]  # the other loses
    if pairing == ALL_PLAY_ALL:
        played += last - first


@kernel
def play_alone(rating, keys, system, first, last):
    """``play_table`` for single realisations, when everyone plays everyone and b is logistic.

    ``rating`` is float64 (realisations, teams), ``keys`` uint64 (realisations, 2). With nothing to interleave, the
    draws of a block of matches are made first; the results are the same bits. A match takes a third of the processor
    time of ``play_points`` with one point, and half of that of ``play_table`` with one realisation.
    """
    nu, kappa, gamma = system.law.nu, system.law.kappa, system.gamma[0]
    pairs, win, loss = system.meeting.pairs, system.meeting.win, system.meeting.loss
    count = np.uint64(pairs.shape[0])
    bits = np.empty(DRAWN_AHEAD, np.uint64)
    i, j, result = np.empty(DRAWN_AHEAD, np.uint64), np.empty(DRAWN_AHEAD, np.uint64), np.empty(DRAWN_AHEAD)
    for realisation in range(rating.shape[0]):
        r, key_1, key_2 = rating[realisation], keys[realisation, 0], keys[realisation, 1]
        for begin in range(first, last, DRAWN_AHEAD):
            size = min(DRAWN_AHEAD, last - begin)
            for k in range(size):
                bits[k] = draw(key_1, key_2, np.uint64(begin + k))
            for m in range(size):
                k = np.uint64(m)
                pair = high_product(bits[k], count)  # pyright: ignore[reportCallIssue]
                fraction = bits[k] * count
                i[k], j[k] = unpacked(pairs[pair])
                result[k] = result_at(fraction, win[pair], loss[pair])
            for m in range(size):
                k = np.uint64(m)
                gain = gamma * (result[k] - logistic(nu, kappa, r[i[k]] - r[j[k]]))  # γ(S − b(Δ))
                r[i[k]] += gain
                r[j[k]] -= gain


@kernel
def play_points(rating, played, keys, tables, points_of, first, last):
    """Play matches ``first … last − 1`` of several points of a sweep, which share every draw.

    ``rating`` is (realisations, teams, points), ``played`` (realisations, points), ``keys`` (realisations, 2);
    ``tables`` are :class:`Tables`, ``points_of`` are :class:`Points`. The results are the bits of ``play_table``.
    """
    pairs, win, loss = tables
    which, gamma, outcome, nu, kappa, pairing, c, smoothing = points_of
    points, tables = rating.shape[2], win.shape[1]
    count = np.uint64(pairs.shape[0])
    bits, at = np.empty(DRAWN_AHEAD, np.uint64), np.empty(DRAWN_AHEAD, np.uint64)
    outcomes, result, gain = np.empty(tables), np.empty(points), np.empty(points)
    for realisation in range(rating.shape[0]):
        r, key_1, key_2 = rating[realisation], keys[realisation, 0], keys[realisation, 1]
        for begin in range(first, last, DRAWN_AHEAD):
            size = min(DRAWN_AHEAD, last - begin)
            for k in range(size):
                bits[k] = draw(key_1, key_2, np.uint64(begin + k))
            for k in range(size):
                at[k] = high_product(bits[k], count)  # pyright: ignore[reportCallIssue]
            for k in range(size):
                pair, fraction = at[k], bits[k] * count
                i, j = unpacked(pairs[pair])
                mine, theirs, below, beyond = r[i], r[j], win[pair], loss[pair]
                for t in range(tables):
                    outcomes[t] = result_at(fraction, below[t], beyond[t])  # S of every table, by one uniform
                for p in range(points):
                    result[p] = outcomes[which[p]]
                if pairing == ALL_PLAY_ALL and outcome == LOGISTIC:
                    for p in range(points):
                        gain[p] = gamma[p] * (result[p] - logistic(nu[p], kappa[p], mine[p] - theirs[p]))
                elif pairing == ALL_PLAY_ALL:
                    for p in range(points):
                        gain[p] = gamma[p] * (result[p] - expected(outcome, nu[p], kappa[p], mine[p] - theirs[p]))
                else:
                    chance = unit(redraw(bits[k], np.uint64(0)))
                    for p in range(points):
                        difference = mine[p] - theirs[p]
                        accepted = chance < acceptance(pairing, c[p], smoothing[p], difference)
                        step = gamma[p] * (result[p] - expected(outcome, nu[p], kappa[p], difference))
                        gain[p] = step if accepted else 0.0
                        played[realisation, p] += np.int64(accepted)
                # Two loops: rows i and j may be one for all that a compiler knows.
                for p in range(points):
                    mine[p] += gain[p]
                for p in range(points):
                    theirs[p] -= gain[p]
    if pairing == ALL_PLAY_ALL:
        played += last - first


@kernel
def play_rounds(rating, owed, played, keys, system, first, last):
    """Play matches ``first … last − 1`` of rounds in which each team keeps its step.

    ``rating`` and ``owed`` are (realisations, teams), ``played`` (realisations,), ``keys`` (realisations, 2),
    ``system`` is an ``EncodedSystem``. The pairs of team i with those after it lie side by side in the table.
    """
    table = system.meeting
    outcome, nu, kappa = system.law
    pairing, c, smoothing = system.rule
    teams = rating.shape[1]
    # The loops below vectorise over an array of steps, also where it is one step for all.
    gamma = system.gamma if system.gamma.shape[0] > 1 else np.full(teams, system.gamma[0])
    z, surprise, bits = np.empty(teams), np.empty(teams), np.empty(teams, np.uint64)
    for realisation in range(rating.shape[0]):
        r, due, tally = rating[realisation], owed[realisation], 0
        key_1, key_2 = keys[realisation, 0], keys[realisation, 1]
        pair, match = first % table.period, first
        while match < last:
            one, two = unpacked(table.pairs[pair])
            i, j = np.int64(one), np.int64(two)
            size = min(teams - j, last - match)
            win, loss = table.win[pair : pair + size], table.loss[pair : pair + size]
            for k in range(size):
                bits[k] = draw(key_1, key_2, np.uint64(match + k))
                z[k] = r[i] - r[j + k]  # Δ at the start of the round: ratings are frozen
                surprise[k] = result_at(bits[k], win[k], loss[k])  # S, then S − b(Δ)
            if outcome == LOGISTIC:
                for k in range(size):
                    surprise[k] -= logistic(nu, kappa, z[k])
            else:
                for k in range(size):
                    surprise[k] -= expected(outcome, nu, kappa, z[k])
            if pairing != ALL_PLAY_ALL:
                for k in range(size):
                    accepted = unit(redraw(bits[k], np.uint64(0))) < acceptance(pairing, c, smoothing, z[k])
                    surprise[k] = surprise[k] if accepted else 0.0
                    tally += accepted
            for k in range(size):
                due[j + k] -= gamma[j + k] * surprise[k]  # owed until the round ends
            total = due[i]
            for k in range(size):
                total += gamma[i] * surprise[k]
            due[i] = total
            match, pair = match + size, pair + size
            if pair == table.period:  # the round ends: all ratings move at once
                pair = 0
                for team in range(teams):
                    r[team] += due[team]
                    due[team] = 0.0
        played[realisation] += last - first if pairing == ALL_PLAY_ALL else tally
