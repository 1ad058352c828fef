"""The loop that plays whatever the fast ones do not: users' laws, step rules, rounds and rating periods.

One realisation after the other, one match after the other:
``R_i += γ_i (S − b)``, ``R_j −= γ_j (S − b)``, at once or, where ratings are frozen, at the end of the period. A law of
kind ``USER`` is a function that the kernel is handed; the kernel is compiled for its type and
stays on disk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.arithmetic import high_product
from kinelo.play.formula import kernel
from kinelo.play.laws import result_at, result_of
from kinelo.play.pairs import next_pair, pair_index, two_teams, unpacked, waiting_at
from kinelo.play.performances import performances
from kinelo.play.steps import pay, rate, steps_of
from kinelo.play.stream import draw, redraw, unit
from kinelo.play.users import b_at, tie_at, w_at

GIVEN = 4
"""Kind of a drawing whose ``values`` are the performances themselves, two per match, realisation by realisation."""

NOT_PLAYED = 2.0


class Meeting(NamedTuple):
    """Who meets and how results are drawn: the table of results, and when results count.

    ``period`` > 0 freezes ratings for so many candidate matches. ``rounds``: pairs then come in order, otherwise in
    random matchings.
    ``literal``: both performances are drawn; otherwise the thresholds of the table decide.
    """

    pairs: NDArray[np.uint32]
    win: NDArray[np.uint64]
    loss: NDArray[np.uint64]
    rounds: bool
    literal: bool
    period: int


class Seen(NamedTuple):
    """Room for what was played, one entry per candidate match, or none: teams, and the result (2 if not played)."""

    home: NDArray[np.int32]
    away: NDArray[np.int32]
    result: NDArray[np.float64]


class Memory(NamedTuple):
    """What a league remembers beside its ratings, realisations × teams: matches, whether the line was reached, and
    what ratings are owed at the end of a period.
    """

    matches: NDArray[np.int64]
    reached: NDArray[np.bool_]
    owed: NDArray[np.float64]


@kernel
def play_general(rating, memory, played, keys, meeting, drawing, first, last, steps, law, rule, b, tie, w, seen):
    """Play matches ``first … last − 1``; ``rating`` is (realisations, teams); b, tie, w are functions of users."""
    teams, pairs = np.uint64(rating.shape[1]), np.uint64(meeting.pairs.shape[0])
    waiting, matchings = np.empty(rating.shape[1], np.uint64), meeting.period > 0 and not meeting.rounds
    for realisation in range(rating.shape[0]):
        left = waiting_at(waiting, keys[realisation, 0], keys[realisation, 1], first) if matchings else np.uint64(0)
        r, n = rating[realisation], memory.matches[realisation]
        top, owed = memory.reached[realisation], memory.owed[realisation]
        into = first % meeting.period if meeting.period > 0 else 0
        for match in range(first, last):
            bits = draw(keys[realisation, 0], keys[realisation, 1], np.uint64(match))
            pair, fraction = np.uint64(0), bits
            if meeting.rounds:
                pair = np.uint64(into)
                i, j = unpacked(meeting.pairs[pair])
            elif matchings:
                i, j, left, fraction = next_pair(waiting, left, bits)
                pair = pair_index(i, j, teams)
            elif meeting.literal:
                i, j = two_teams(bits, teams)
            else:
                pair, fraction = high_product(bits, pairs), bits * pairs  # pyright: ignore[reportCallIssue]
                i, j = unpacked(meeting.pairs[pair])
            z = r[i] - r[j]
            if seen.result.size > 0:
                seen.home[match - first], seen.away[match - first], seen.result[match - first] = i, j, NOT_PLAYED
            chance = w_at(rule, w, z)
            if chance >= 1.0 or unit(redraw(bits, np.uint64(0))) < chance:
                if meeting.literal:
                    used = np.uint64(1)
                    if drawing.kind == GIVEN:
                        row = realisation * (last - first) + match - first
                        x = drawing.values[row, 0] - drawing.values[row, 1]
                        used += np.uint64(drawing.lineup)
                    else:
                        mine, theirs, used = performances(
                            drawing.kind, drawing.values, drawing.table, drawing.lineup, i, j, bits, used
                        )
                        x = mine - theirs
                    result = result_of(unit(redraw(bits, used)), b_at(law, b, x), tie_at(law, tie, x))
                else:
                    result = result_at(fraction, meeting.win[pair], meeting.loss[pair])
                surprise = result - b_at(law, b, z)
                step_i, step_j = steps_of(
                    steps.kind, steps.gamma, steps.boost, steps.matches, steps.junior, r, n, top, i, j
                )
                rate(r, owed, top, i, j, step_i, step_j, surprise, meeting.period > 0)
                if seen.result.size > 0:
                    seen.result[match - first] = result
                n[i] += 1
                n[j] += 1
                played[realisation] += 1
            into += 1
            if into == meeting.period:
                into = 0
                for team in range(r.size):
                    pay(r, owed, top, team)


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
    """Both teams of every match, one realisation after the other, and the uniform numbers of their performances."""
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
