"""The loop that plays any league: one realisation after the other, one match after the other.

What happens in a match is said once, in :mod:`kinelo.play.match`. A law of kind ``USER`` is a function that the kernel
is handed; the kernel is compiled for its type and stays on disk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.arithmetic import high_product
from kinelo.play.formula import kernel
from kinelo.play.match import (
    Draws,
    MatchRules,
    MatchSide,
    accepts,
    draws_before,
    end_period,
    moves_by_calendar,
    play_match,
    turn_over,
)
from kinelo.play.motion import present
from kinelo.play.pairs import next_pair, pair_index, two_teams, unpacked, waiting_at
from kinelo.play.performances import GIVEN, normal_of, performances
from kinelo.play.steps import gamma_of
from kinelo.play.stream import draw, redraw, unit

NOT_PLAYED = 2.0


class Seen(NamedTuple):
    """Room for what was played, one entry per candidate match, or none: teams, and the result (2 if not played)."""

    home: NDArray[np.int32]
    away: NDArray[np.int32]
    result: NDArray[np.float64]


@kernel
def play_general(league, played, keys, system, functions, first, last, seen):
    """Play matches ``first … last − 1`` of several realisations in place.

    ``league`` is a :class:`kinelo.play.match.League` of arrays (realisations, teams), ``played`` (realisations,),
    ``keys`` (realisations, 2), ``system`` an ``EncodedSystem``, ``functions`` are ``UserFunctions``; ``seen`` has room
    for all matches of one realisation, or none.
    """
    law, rule, steps, meeting, drawing, motion, glicko, gamma, junior, pool = system
    pairs, win, loss, rounds, literal, period = meeting
    kind, values, table, lineup, theta = drawing
    b, tie, w = functions
    count, number = league.rating.shape[1], np.uint64(pairs.size)
    teams, waiting = np.uint64(count), np.empty(count, np.uint64)
    matchings, calendar = period > 0 and not rounds, rounds and moves_by_calendar(motion.kind)
    rules = MatchRules(law, steps, motion, glicko, rounds, literal, period, 2.0 / count)
    for k in range(league.rating.shape[0]):
        key_1, key_2 = keys[k, 0], keys[k, 1]
        left = waiting_at(waiting, key_1, key_2, first) if matchings else np.uint64(0)
        # Arrays are taken out of their tuples here: within the loop each would be counted as one reference more.
        r, rho, level, clock = league.rating[k], league.strength[k], league.level[k], league.clock[k]
        v, rest, n, top = league.variance[k], league.rest[k], league.matches[k], league.reached[k]
        owed, known = league.owed[k], league.known[k]
        into = first % period if period > 0 else 0
        for match in range(first, last):
            bits, used = draw(key_1, key_2, np.uint64(match)), np.uint64(1)
            pair, fraction = np.uint64(0), bits
            # Who meets: the next pair of the round, of a random matching, two teams at random, or a pair of the table.
            if rounds:
                pair = np.uint64(into)
                i, j = unpacked(pairs[pair])
            elif matchings:
                i, j, left, fraction = next_pair(waiting, left, bits)
                pair = pair_index(i, j, teams)
            elif literal:
                i, j = two_teams(bits, teams)
            else:
                pair, fraction = high_product(bits, number), bits * number  # pyright: ignore[reportCallIssue]
                i, j = unpacked(pairs[pair])
            if seen.result.size > 0:
                seen.home[match - first], seen.away[match - first], seen.result[match - first] = i, j, NOT_PLAYED
            if accepts(rule, w, r[i] - r[j], bits):  # with probability w(Δ)
                used, x, y, mean_x, mean_y = draws_before(motion, rounds), 0.0, 0.0, 0.0, 0.0
                # How it ends: by the table of chances, by performances given, or by performances drawn.
                below, beyond = np.uint64(0), np.uint64(0)
                if not literal:
                    below, beyond = win[pair], loss[pair]
                elif kind == GIVEN:
                    row = k * (last - first) + match - first
                    x, y, used = values[row, 0], values[row, 1], used + np.uint64(lineup)
                else:
                    x, y, used = performances(kind, values, table, lineup, i, j, bits, used)
                    mean_x, mean_y = theta[i], theta[j]
                draws = Draws(match, bits, used, x, y, mean_x, mean_y, fraction, below, beyond)
                mine, theirs, result, used = play_match(
                    MatchSide(r[i], rho[i], level[i], clock[i], v[i], rest[i], n[i], top[i], owed[i], known[i]),
                    MatchSide(r[j], rho[j], level[j], clock[j], v[j], rest[j], n[j], top[j], owed[j], known[j]),
                    (gamma_of(gamma, i), gamma_of(gamma, j)), (junior[i], junior[j]), rules, draws, b, tie,
                )  # fmt: skip
                r[i], rho[i], level[i], clock[i], v[i], rest[i], n[i], top[i], owed[i], known[i] = mine
                r[j], rho[j], level[j], clock[j], v[j], rest[j], n[j], top[j], owed[j], known[j] = theirs
                if seen.result.size > 0:
                    seen.result[match - first] = result
                played[k] += 1
            into += 1
            if into == period:  # a period ends: what is owed moves the ratings, strengths move by the calendar
                into = 0
                for q in range(count):
                    side = MatchSide(r[q], rho[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q])
                    side = end_period(side, rules, match + 1, normal_of(bits, used) if calendar else 0.0)
                    r[q], rho[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q] = side
                    used += np.uint64(calendar)
            if motion.leaving > 0.0:  # somebody leaves, and a newcomer takes the place
                q, side = turn_over(rho, pool, motion, glicko, match + 1, bits, used)
                if q >= 0:
                    r[q], rho[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q] = side


@kernel
def days(home, away, teams):
    """Days from 0, int64 (matches,), on which matches in this order are played when nobody plays twice on a day.

    ``home`` and ``away`` are int32 (matches,).
    """
    last, day = np.full(teams, -1), np.empty(home.size, np.int64)
    today = 0
    for k in range(home.size):
        if last[home[k]] == today or last[away[k]] == today:  # one of them has played today
            today += 1
        last[home[k]] = last[away[k]] = day[k] = today
    return day


@kernel
def meet_and_draw(keys, meeting, teams, first, last, team, uniforms):
    """Both teams of every match, one realisation after the other, and the uniform numbers of their performances.

    ``team`` (2 · realisations · matches,) and ``uniforms`` (the same, numbers of one performance) are filled.
    """
    waiting, matchings = np.empty(teams, np.uint64), meeting.period > 0 and not meeting.rounds
    width, row = uniforms.shape[1], 0
    for key_1, key_2 in keys:
        left = waiting_at(waiting, key_1, key_2, first) if matchings else np.uint64(0)
        for match in range(first, last):
            bits = draw(key_1, key_2, np.uint64(match))
            if meeting.rounds:
                i, j = unpacked(meeting.pairs[match % meeting.pairs.size])
            elif matchings:
                i, j, left, _ = next_pair(waiting, left, bits)
            else:
                i, j = two_teams(bits, np.uint64(teams))
            team[row], team[row + 1] = i, j
            for k in range(width):
                uniforms[row, k] = unit(redraw(bits, np.uint64(k + 1)))
                uniforms[row + 1, k] = unit(redraw(bits, np.uint64(width + k + 1)))
            row += 2


@kernel
def strengths_now(league, sides, keys, match, motion, today):
    """Fill ``today`` (realisations, teams) with the strengths before ``match``; what is carried on stays as it was.

    ``sides`` meet in a match.
    """
    count = today.shape[1]
    for realisation in range(today.shape[0]):
        bits = draw(keys[realisation, 1], keys[realisation, 0], np.uint64(match))
        for team in range(count):
            elapsed = (match - league.clock[realisation, team]) * float(sides) / count
            today[realisation, team] = present(
                motion.kind, motion.rate, motion.form, motion.walk, league.strength[realisation, team],
                league.level[realisation, team], elapsed, normal_of(bits, np.uint64(team)),
            )  # fmt: skip
