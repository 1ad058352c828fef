"""The loop that plays any league: one realisation after the other, one match after the other.

What happens in a match is said once, in :mod:`kinelo.play.match`. A law of kind ``USER`` is a function that the kernel
is handed; the kernel is compiled for its type and stays on disk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.arithmetic import high_product
from kinelo.play.formula import inlined, kernel
from kinelo.play.match import Candidate, League, accepts, end_period, moves_by_calendar, play_match, turn_over
from kinelo.play.motion import present
from kinelo.play.pairs import next_pair, pair_index, two_teams, unpacked, waiting_at
from kinelo.play.performances import normal_of
from kinelo.play.stream import draw, redraw, unit

NOT_PLAYED = 2.0


class Seen(NamedTuple):
    """Room for what was played, one entry per candidate match, or none: teams, and the result (2 if not played)."""

    home: NDArray[np.int32]
    away: NDArray[np.int32]
    result: NDArray[np.float64]


@inlined
def meet(meeting, teams, waiting, left, match, bits):
    """Who meets in a candidate match: i, j, their place in the table, the rest of the draw, and how many still wait.

    ``waiting`` (teams,) and ``left`` are the teams that have not played yet in the present matching.
    """
    if meeting.rounds:
        pair = np.uint64(match % meeting.period)
        i, j = unpacked(meeting.pairs[pair])
        return i, j, pair, bits, left
    if meeting.period > 0:
        i, j, left, fraction = next_pair(waiting, left, bits)
        return i, j, pair_index(i, j, teams), fraction, left
    if meeting.literal:
        i, j = two_teams(bits, teams)
        return i, j, np.uint64(0), bits, left
    pairs = np.uint64(meeting.pairs.shape[0])
    pair = high_product(bits, pairs)  # pyright: ignore[reportCallIssue]
    i, j = unpacked(meeting.pairs[pair])
    return i, j, pair, bits * pairs, left


@kernel
def play_general(league, played, keys, system, functions, first, last, seen):
    """Play matches ``first … last − 1`` of several realisations in place.

    ``league`` is a :class:`kinelo.play.match.League` of arrays (realisations, teams), ``played`` (realisations,),
    ``keys`` (realisations, 2), ``system`` an ``EncodedSystem``, ``functions`` are ``UserFunctions``; ``seen`` has room
    for all matches of one realisation, or none.
    """
    count = league.rating.shape[1]
    teams, waiting, period = np.uint64(count), np.empty(count, np.uint64), system.meeting.period
    matchings = period > 0 and not system.meeting.rounds
    for k in range(league.rating.shape[0]):
        key_1, key_2 = keys[k, 0], keys[k, 1]
        left = waiting_at(waiting, key_1, key_2, first) if matchings else np.uint64(0)
        own = League(
            league.rating[k], league.strength[k], league.level[k], league.clock[k], league.variance[k], league.rest[k],
            league.matches[k], league.reached[k], league.owed[k], league.known[k],
        )  # fmt: skip
        into = first % period if period > 0 else 0
        for match in range(first, last):
            bits, used = draw(key_1, key_2, np.uint64(match)), np.uint64(1)
            i, j, pair, fraction, left = meet(system.meeting, teams, waiting, left, into, bits)
            if seen.result.size > 0:
                seen.home[match - first], seen.away[match - first], seen.result[match - first] = i, j, NOT_PLAYED
            if accepts(system.rule, functions.w, own.rating[i] - own.rating[j], bits):
                one = Candidate(match, bits, i, j, pair, fraction, k * (last - first) + match - first)
                result, used = play_match(own, system, functions.b, functions.tie, one)
                if seen.result.size > 0:
                    seen.result[match - first] = result
                played[k] += 1
            into += 1
            if into == period:
                into = 0
                for team in range(count):
                    end_period(own, system, team, match + 1, bits, used)
                if moves_by_calendar(system.motion.kind):
                    used += teams
            if system.motion.leaving > 0.0:
                turn_over(own, system, match + 1, bits, used)


@kernel
def days(home, away, teams):
    """Days from 0 on which matches in this order are played when nobody plays twice on a day."""
    last, day = np.full(teams, -1), np.empty(home.size, np.int64)
    today = 0
    for k in range(home.size):
        if last[home[k]] == today or last[away[k]] == today:
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
            i, j, _, _, left = meet(meeting, np.uint64(teams), waiting, left, match, bits)
            team[row], team[row + 1] = i, j
            for k in range(width):
                uniforms[row, k] = unit(redraw(bits, np.uint64(k + 1)))
                uniforms[row + 1, k] = unit(redraw(bits, np.uint64(width + k + 1)))
            row += 2


@kernel
def strengths_now(league, keys, match, motion, today):
    """Fill ``today`` (realisations, teams) with the strengths before ``match``; what is carried on stays as it was."""
    count = today.shape[1]
    for realisation in range(today.shape[0]):
        bits = draw(keys[realisation, 1], keys[realisation, 0], np.uint64(match))
        for team in range(count):
            elapsed = (match - league.clock[realisation, team]) * 2.0 / count
            today[realisation, team] = present(
                motion.kind, motion.rate, motion.form, motion.walk, league.strength[realisation, team],
                league.level[realisation, team], elapsed, normal_of(bits, np.uint64(team)),
            )  # fmt: skip
