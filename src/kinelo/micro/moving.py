r"""The loop that plays leagues whose strengths move, or whose ratings carry a deviation.

One realisation after the other, one match after the other; T counts candidate matches per team. Before a match:

* form and walks bring both teams to the present T by their exact transition;
* deviations grow, ``v ← min(v + c²ΔT, v_max)``.

All numbers are taken from values before the match; then ratings, strengths and deviations move together. Learning:
``ρ_i += γ[α(1 − b(d)) + βX] + √γ σξ``. Where ratings are frozen for a round or a period, strengths are too, whatever
moves them: what form, walks and lessons add comes at its end. Glicko: ``v⁺ = v/(1 + vI)``,
``r += νg v⁺ (S − b(gΔ))``. Turnover: after a candidate match a team leaves with probability ``2·rate`` and a newcomer
takes its place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.micro.general import NOT_PLAYED
from kinelo.play.deviations import informed, rested, sharpened
from kinelo.play.formula import kernel
from kinelo.play.laws import result_of
from kinelo.play.motion import FORM, LEARNING, WALK, jolt, leaver, lessons, newcomer_of, present
from kinelo.play.pairs import next_pair, two_teams, unpacked, waiting_at
from kinelo.play.performances import normal_of, performances
from kinelo.play.steps import pay, rate, steps_of
from kinelo.play.stream import draw, redraw, unit
from kinelo.play.users import b_at, tie_at, w_at

ONE = np.uint64(1)


class Carried(NamedTuple):
    """What a league carries beside its ratings, realisations × teams.

    ``strength`` as of T = ``clock`` (in candidate matches), its own mean ``level``, v as of ``rest``, matches played
    since arrival, whether the line was reached, and what a period owes: gains, and information or lessons.
    """

    strength: NDArray[np.float64]
    level: NDArray[np.float64]
    clock: NDArray[np.int64]
    variance: NDArray[np.float64]
    rest: NDArray[np.int64]
    matches: NDArray[np.int64]
    reached: NDArray[np.bool_]
    owed: NDArray[np.float64]
    known: NDArray[np.float64]


class Pairs(NamedTuple):
    """Pairs in order of a round (or none), whether they come so or in matchings, and the period of frozen ratings."""

    pairs: NDArray[np.uint32]
    rounds: bool
    period: int


@kernel
def play_moving(
    rating, carried, played, keys, meeting, drawing, theta, first, last, steps, motion, glicko, law, rule, b, tie, w,
    seen,
):  # fmt: skip
    """Play matches ``first … last − 1``; ``rating`` is (realisations, teams), ``theta`` the means of the drawn law."""
    count = rating.shape[1]
    teams, unit_time = np.uint64(count), 2.0 / count
    calendar = motion.kind == FORM or motion.kind == WALK
    waiting, matchings = np.empty(count, np.uint64), meeting.period > 0 and not meeting.rounds
    for realisation in range(rating.shape[0]):
        left = waiting_at(waiting, keys[realisation, 0], keys[realisation, 1], first) if matchings else np.uint64(0)
        r, rho, level = rating[realisation], carried.strength[realisation], carried.level[realisation]
        clock, v, rest = carried.clock[realisation], carried.variance[realisation], carried.rest[realisation]
        n, top = carried.matches[realisation], carried.reached[realisation]
        owed, known = carried.owed[realisation], carried.known[realisation]
        into = first % meeting.period if meeting.period > 0 else 0
        for match in range(first, last):
            bits = draw(keys[realisation, 0], keys[realisation, 1], np.uint64(match))
            if meeting.rounds:
                i, j = unpacked(meeting.pairs[into])
            elif matchings:
                i, j, left, _ = next_pair(waiting, left, bits)
            else:
                i, j = two_teams(bits, teams)
            z = r[i] - r[j]
            if seen.result.size > 0:
                seen.home[match - first], seen.away[match - first], seen.result[match - first] = i, j, NOT_PLAYED
            chance = w_at(rule, w, z)
            used = ONE
            if chance >= 1.0 or unit(redraw(bits, np.uint64(0))) < chance:
                if calendar and meeting.period == 0:
                    for side in (i, j):
                        rho[side] = present(
                            motion.kind, motion.rate, motion.form, motion.walk, rho[side], level[side],
                            (match - clock[side]) * unit_time, normal_of(bits, used),
                        )  # fmt: skip
                        clock[side] = match
                        used += ONE
                mine, theirs, used = performances(
                    drawing.kind, drawing.values, drawing.table, drawing.lineup, i, j, bits, used
                )
                d = rho[i] - rho[j]
                x = d + (mine - theta[i]) - (theirs - theta[j])
                result = result_of(unit(redraw(bits, used)), b_at(law, b, x), tie_at(law, tie, x))
                used += ONE
                if glicko.on:
                    if meeting.period == 0:
                        for side in (i, j):
                            v[side] = rested(v[side], glicko.growth, glicko.largest, (match - rest[side]) * unit_time)
                            rest[side] = match
                    gi, bi, info_i = informed(glicko.nu, v[j], z)
                    gj, bj, info_j = informed(glicko.nu, v[i], z)
                    if meeting.period > 0:
                        owed[i] += gi * (result - bi)
                        owed[j] -= gj * (result - bj)
                        known[i] += info_i
                        known[j] += info_j
                    else:
                        v[i], v[j] = sharpened(v[i], info_i), sharpened(v[j], info_j)
                        r[i] += glicko.nu * gi * v[i] * (result - bi)
                        r[j] -= glicko.nu * gj * v[j] * (result - bj)
                else:
                    surprise = result - b_at(law, b, z)
                    si, sj = steps_of(
                        steps.kind, steps.gamma, steps.boost, steps.matches, steps.junior, r, n, top, i, j
                    )
                    rate(r, owed, top, i, j, si, sj, surprise, meeting.period > 0)
                    if motion.kind == LEARNING:
                        # In a period strengths are frozen with ratings, or teams would differ by their place in it.
                        learnt = known if meeting.period > 0 else rho
                        mine, theirs = lessons(motion.alpha, motion.beta, motion.on_result, b_at(law, b, d), result)
                        learnt[i] += si * mine
                        learnt[j] += sj * theirs
                        if motion.diffusion > 0.0:
                            learnt[i] += jolt(si, motion.diffusion, normal_of(bits, used))
                            learnt[j] += jolt(sj, motion.diffusion, normal_of(bits, used + ONE))
                            used += np.uint64(2)
                if seen.result.size > 0:
                    seen.result[match - first] = result
                n[i] += 1
                n[j] += 1
                played[realisation] += 1
            into += 1
            if into == meeting.period:
                into = 0
                span = meeting.period * unit_time
                for team in range(count):
                    if glicko.on:
                        v[team] = sharpened(v[team], known[team])
                        r[team] += glicko.nu * v[team] * owed[team]
                        owed[team] = 0.0
                        v[team] = rested(v[team], glicko.growth, glicko.largest, span)
                        known[team] = 0.0
                        rest[team] = match + 1
                    else:
                        pay(r, owed, top, team)
                    if motion.kind == LEARNING:
                        rho[team] += known[team]
                        known[team] = 0.0
                    if calendar:
                        rho[team] = present(
                            motion.kind, motion.rate, motion.form, motion.walk, rho[team], level[team], span,
                            normal_of(bits, used),
                        )  # fmt: skip
                        clock[team] = match + 1
                        used += ONE
            if motion.leaving > 0.0 and unit(redraw(bits, used)) < motion.leaving:
                gone = leaver(motion.who, rho, redraw(bits, used + ONE))
                level[gone], rho[gone] = newcomer_of(motion.kind, motion.form, motion.pool, bits, used + np.uint64(2))
                r[gone], n[gone], top[gone], owed[gone], known[gone] = motion.start, 0, False, 0.0, 0.0
                clock[gone], rest[gone], v[gone] = match + 1, match + 1, glicko.start


@kernel
def strengths_now(carried, keys, match, motion, today):
    """Strengths brought to the present, for the record only: what is carried on stays as it was."""
    count = today.shape[1]
    for realisation in range(today.shape[0]):
        bits = draw(keys[realisation, 1], keys[realisation, 0], np.uint64(match))
        for team in range(count):
            elapsed = (match - carried.clock[realisation, team]) * 2.0 / count
            today[realisation, team] = present(
                motion.kind, motion.rate, motion.form, motion.walk, carried.strength[realisation, team],
                carried.level[realisation, team], elapsed, normal_of(bits, np.uint64(team)),
            )  # fmt: skip
