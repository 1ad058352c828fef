"""Compiled loops of the microscopic model on bare arrays.

A match: draw a pair, accept it with probability w, draw the result S, then ``R_i += γ(S − b)``, ``R_j −= γ(S − b)``.

``play_table`` knows the probabilities of every pair and spends one 64-bit draw on a match: read as a fraction of
the number of pairs, its integer part is the pair and its fractional part the uniform that decides the result.
Several realisations are interleaved, so that their independent arithmetic overlaps and vectorises.
``play_points`` plays one realisation of many settings: the stream is keyed by (seed, realisation, match), so that with
the same seed all of them meet in the same pair with the same uniform at every match, and one draw serves them all.
``play_literal`` draws both performances first; it is the reference, and the way for leagues too large for a table.
"""

from __future__ import annotations

import numpy as np

from kinelo.model.outcome import LOGISTIC
from kinelo.model.pairing import ALL_PLAY_ALL
from kinelo.play.arithmetic import high_product
from kinelo.play.formula import kernel
from kinelo.play.laws import acceptance, expected, logistic, result_at, result_of, tie_chance
from kinelo.play.pairs import two_teams, unpacked
from kinelo.play.performances import performances
from kinelo.play.stream import draw, redraw, unit

BLOCK = 64


@kernel
def play_table(rating, played, keys, pairs, win, loss, first, last, gamma, law, rule):
    """Play matches ``first … last − 1`` of several realisations at once.

    ``rating`` is (teams, realisations); ``pairs`` packs i and j; a draw below ``win`` is a win, one of at least
    ``loss`` a loss, anything between a tie. ``law`` and ``rule`` are the outcome and the pairing.
    """
    outcome, nu, kappa = law
    pairing, c, smoothing = rule
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
            pair = high_product(bits[lane], count)  # pyright: ignore[reportCallIssue]
            fraction = bits[lane] * count
            i[lane], j[lane] = unpacked(pairs[pair])
            result[lane] = result_at(fraction, win[pair], loss[pair])
            gain[lane] = rating[i[lane], lane] - rating[j[lane], lane]
        if pairing == ALL_PLAY_ALL and outcome == LOGISTIC:
            # The one loop that must vectorise: no branch, no call.
            for lane in range(lanes):
                gain[lane] = gamma * (result[lane] - logistic(nu, kappa, gain[lane]))
        elif pairing == ALL_PLAY_ALL:
            for lane in range(lanes):
                gain[lane] = gamma * (result[lane] - expected(outcome, nu, kappa, gain[lane]))
        else:
            for lane in range(lanes):
                accepted = unit(redraw(bits[lane], np.uint64(0))) < acceptance(pairing, c, smoothing, gain[lane])
                step = gamma * (result[lane] - expected(outcome, nu, kappa, gain[lane]))
                gain[lane] = step if accepted else 0.0
                played[lane] += np.int64(accepted)
        for k in range(lanes):
            lane = np.uint64(k)
            rating[i[lane], lane] += gain[lane]
            rating[j[lane], lane] -= gain[lane]
    if pairing == ALL_PLAY_ALL:
        played += last - first


@kernel
def play_alone(rating, keys, pairs, win, loss, first, last, gamma, nu, kappa):
    """``play_table`` for a few realisations, each by itself, when everyone plays everyone and b is logistic.

    With nothing to interleave, the draws of a block of matches are made first; the results are the same bits.
    """
    count = np.uint64(pairs.shape[0])
    bits = np.empty(BLOCK, np.uint64)
    i, j, result = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(BLOCK)
    for realisation in range(rating.shape[0]):
        r, key_1, key_2 = rating[realisation], keys[realisation, 0], keys[realisation, 1]
        for begin in range(first, last, BLOCK):
            size = min(BLOCK, last - begin)
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
                gain = gamma * (result[k] - logistic(nu, kappa, r[i[k]] - r[j[k]]))
                r[i[k]] += gain
                r[j[k]] -= gain


@kernel
def play_points(rating, played, keys, pairs, win, loss, which, first, last, gamma, law, rule):
    """Play matches ``first … last − 1`` of several points of a sweep, which share every draw.

    ``rating`` is (realisations, teams, points), ``played`` (realisations, points); ``win`` and ``loss`` are (pairs,
    tables), and ``which`` is the table of each point. Steps and the numbers of ``law`` and ``rule`` are one per point,
    their kinds those of all. The results are the bits of ``play_table``.
    """
    outcome, nu, kappa = law
    pairing, c, smoothing = rule
    points, tables = rating.shape[2], win.shape[1]
    count = np.uint64(pairs.shape[0])
    bits, at = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    found, result, gain = np.empty(tables), np.empty(points), np.empty(points)
    for realisation in range(rating.shape[0]):
        r, key_1, key_2 = rating[realisation], keys[realisation, 0], keys[realisation, 1]
        for begin in range(first, last, BLOCK):
            size = min(BLOCK, last - begin)
            for k in range(size):
                bits[k] = draw(key_1, key_2, np.uint64(begin + k))
            for k in range(size):
                at[k] = high_product(bits[k], count)  # pyright: ignore[reportCallIssue]
            for k in range(size):
                pair, fraction = at[k], bits[k] * count
                i, j = unpacked(pairs[pair])
                mine, theirs, below, beyond = r[i], r[j], win[pair], loss[pair]
                for t in range(tables):
                    found[t] = result_at(fraction, below[t], beyond[t])
                for p in range(points):
                    result[p] = found[which[p]]
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
def play_literal(rating, played, keys, drawing, first, last, gamma, law, rule):
    """Play matches ``first … last − 1``, drawing both performances; ``rating`` is (realisations, teams)."""
    outcome, nu, kappa = law
    pairing, c, smoothing = rule
    kind, values, table, lineup = drawing
    teams = np.uint64(rating.shape[1])
    for realisation in range(rating.shape[0]):
        r = rating[realisation]
        for match in range(first, last):
            bits = draw(keys[realisation, 0], keys[realisation, 1], np.uint64(match))
            i, j = two_teams(bits, teams)
            difference = r[i] - r[j]
            if pairing != ALL_PLAY_ALL and unit(redraw(bits, np.uint64(0))) >= acceptance(
                pairing, c, smoothing, difference
            ):
                continue
            mine, theirs, used = performances(kind, values, table, lineup, i, j, bits, np.uint64(1))
            z = mine - theirs
            tie = tie_chance(outcome, nu, kappa, z)
            result = result_of(unit(redraw(bits, used)), expected(outcome, nu, kappa, z), tie)
            gain = gamma * (result - expected(outcome, nu, kappa, difference))
            r[i] += gain
            r[j] -= gain
            played[realisation] += 1
