r"""One match of any league: who wins, and what it does to ratings, strengths and deviations.

T counts candidate matches per team. Before a match form and walks bring both teams to the present T by their exact
transition, and deviations grow, ``v ← min(v + c²ΔT, v_max)``. All numbers are taken from values before the match; then
ratings, strengths and deviations move together:

* ``R_i += γ_i (S − b)``, ``R_j −= γ_j (S − b)``;
* learning: ``ρ_i += γ[α(1 − b(d)) + βX] + √γ σξ``;
* Glicko: ``v⁺ = v/(1 + vI)``, ``r += νg v⁺ (S − b(gΔ))``.

Where ratings are frozen for a round or a period, what results and lessons add comes at its end, so that no team differs
from another by its place in it. A round is one day, after which form and walks move; in a period they go on from
matchday to matchday. Turnover: after a
candidate match a team leaves with probability ``2·rate`` and a newcomer takes its place.

The loops of the processor and of a graphics processor call these bodies; they differ in what they do at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.deviations import informed, rested, sharpened
from kinelo.play.formula import formula
from kinelo.play.laws import result_at, result_of
from kinelo.play.motion import FORM, LEARNING, WALK, jolt, leaver, lessons, newcomer_of, present
from kinelo.play.performances import GIVEN, normal_of, performances
from kinelo.play.steps import pay, rate, steps_of
from kinelo.play.stream import redraw, unit
from kinelo.play.users import b_at, tie_at, w_at

NOTHING, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


class League(NamedTuple):
    """What a league carries from match to match: arrays of shape (realisations, teams), or (teams,) for one of them.

    ``strength`` as of T = ``clock`` (in candidate matches), its own mean ``level``, v as of ``rest``, ``matches``
    played since arrival, whether the line of FIDE's rules was ``reached``, and what a period owes: gains, and
    information or lessons (``known``). What a system does not need has shape (realisations, 1).
    """

    rating: NDArray[np.float64]
    strength: NDArray[np.float64]
    level: NDArray[np.float64]
    clock: NDArray[np.int64]
    variance: NDArray[np.float64]
    rest: NDArray[np.int64]
    matches: NDArray[np.int64]
    reached: NDArray[np.bool_]
    owed: NDArray[np.float64]
    known: NDArray[np.float64]


class Candidate(NamedTuple):
    """A candidate match: its number and draw, the two teams, their place in the table of pairs and what is left of the
    draw to decide the result; ``row`` is where performances that a user's law has drawn lie.
    """

    match: int
    bits: np.uint64
    i: np.uint64
    j: np.uint64
    pair: np.uint64
    fraction: np.uint64
    row: int


@formula
def moves_by_calendar(kind):
    """Whether strengths move with time, played or not."""
    return (kind == FORM) | (kind == WALK)


@formula
def accepts(rule, w, z, bits):
    """Whether a pair whose ratings differ by z plays."""
    chance = w_at(rule, w, z)
    return chance >= 1.0 or unit(redraw(bits, NOTHING)) < chance


@formula
def play_match(league, system, b, tie, one):
    """Play a candidate match that was accepted; return its result and the draws used so far.

    ``league`` is a :class:`League` of one realisation, ``system`` an ``EncodedSystem``, ``one`` a
    :class:`Candidate`; ``b`` and ``tie`` are functions of a user's outcome.
    """
    r, rho, v, owed, known = league.rating, league.strength, league.variance, league.owed, league.known
    motion, glicko, steps, law, drawing = system.motion, system.glicko, system.steps, system.law, system.drawing
    i, j, bits = one.i, one.j, one.bits
    frozen, unit_time = system.meeting.period > 0, 2.0 / r.shape[0]
    z, used, d = r[i] - r[j], ONE, 0.0
    if moves_by_calendar(motion.kind) and not system.meeting.rounds:
        for side in (i, j):
            elapsed = (one.match - league.clock[side]) * unit_time
            rho[side] = present(
                motion.kind, motion.rate, motion.form, motion.walk, rho[side], league.level[side], elapsed,
                normal_of(bits, used),
            )  # fmt: skip
            league.clock[side] = one.match
            used += ONE
    if system.meeting.literal:
        if drawing.kind == GIVEN:
            x = drawing.values[one.row, 0] - drawing.values[one.row, 1]
            used += np.uint64(drawing.lineup)
        else:
            mine, theirs, used = performances(
                drawing.kind, drawing.values, drawing.table, drawing.lineup, i, j, bits, used
            )
            x = mine - theirs
            if system.moving:
                d = rho[i] - rho[j]
                x = d + (mine - system.theta[i]) - (theirs - system.theta[j])
        result = result_of(unit(redraw(bits, used)), b_at(law, b, x), tie_at(law, tie, x))
        used += ONE
    else:
        result = result_at(one.fraction, system.meeting.win[one.pair], system.meeting.loss[one.pair])
    if glicko.on:
        if not frozen:
            for side in (i, j):
                v[side] = rested(v[side], glicko.growth, glicko.largest, (one.match - league.rest[side]) * unit_time)
                league.rest[side] = one.match
        gi, bi, info_i = informed(glicko.nu, v[j], z)
        gj, bj, info_j = informed(glicko.nu, v[i], z)
        if frozen:
            owed[i] += gi * (result - bi)
            owed[j] -= gj * (result - bj)
            known[i] += info_i
            known[j] += info_j
        else:
            v[i] = sharpened(v[i], info_i)
            v[j] = sharpened(v[j], info_j)
            r[i] += glicko.nu * gi * v[i] * (result - bi)
            r[j] -= glicko.nu * gj * v[j] * (result - bj)
    else:
        step_i, step_j = steps_of(
            steps.kind, steps.gamma, steps.boost, steps.matches, steps.junior, r, league.matches, league.reached, i, j
        )
        rate(r, owed, league.reached, i, j, step_i, step_j, result - b_at(law, b, z), frozen)
        if motion.kind == LEARNING:
            # In a period strengths are frozen with ratings, or teams would differ by their place in it.
            learnt = known if frozen else rho
            mine, theirs = lessons(motion.alpha, motion.beta, motion.on_result, b_at(law, b, d), result)
            learnt[i] += step_i * mine
            learnt[j] += step_j * theirs
            if motion.diffusion > 0.0:
                learnt[i] += jolt(step_i, motion.diffusion, normal_of(bits, used))
                learnt[j] += jolt(step_j, motion.diffusion, normal_of(bits, used + ONE))
                used += TWO
    league.matches[i] += 1
    league.matches[j] += 1
    return result, used


@formula
def end_period(league, system, team, after, bits, used):
    """End a period for one team before match ``after``: what it is owed counts, and after a round its form moves.

    ``bits`` and ``used`` are those of the period's last match.
    """
    motion, glicko, v = system.motion, system.glicko, league.variance
    span = system.meeting.period * (2.0 / league.rating.shape[0])
    if glicko.on:
        v[team] = sharpened(v[team], league.known[team])
        league.rating[team] += glicko.nu * v[team] * league.owed[team]
        league.owed[team] = 0.0
        v[team] = rested(v[team], glicko.growth, glicko.largest, span)
        league.known[team] = 0.0
        league.rest[team] = after
    else:
        pay(league.rating, league.owed, league.reached, team)
    if motion.kind == LEARNING:
        league.strength[team] += league.known[team]
        league.known[team] = 0.0
    if moves_by_calendar(motion.kind) and system.meeting.rounds:
        league.strength[team] = present(
            motion.kind, motion.rate, motion.form, motion.walk, league.strength[team], league.level[team], span,
            normal_of(bits, used + np.uint64(team)),
        )  # fmt: skip
        league.clock[team] = after


@formula
def turn_over(league, system, after, bits, used):
    """Let a team leave before match ``after``, by chance, and a newcomer take its place."""
    motion = system.motion
    if unit(redraw(bits, used)) < motion.leaving:
        gone = leaver(motion.who, league.strength, redraw(bits, used + ONE))
        level, strength = newcomer_of(motion.kind, motion.form, motion.pool, bits, used + TWO)
        league.level[gone], league.strength[gone], league.rating[gone] = level, strength, motion.start
        league.matches[gone], league.reached[gone] = 0, False
        league.owed[gone], league.known[gone] = 0.0, 0.0
        league.clock[gone], league.rest[gone], league.variance[gone] = after, after, system.glicko.start
