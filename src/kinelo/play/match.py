r"""One match of any league: who wins, and what it does to ratings, strengths and deviations.

T counts candidate matches per team. Before a match form and walks bring both teams to the present T by their exact
transition, and deviations grow, ``v ← min(v + c²ΔT, v_max)``. All numbers are taken from values before the match; then
ratings, strengths and deviations move together:

* ``R_i += γ_i (S − b)``, ``R_j −= γ_j (S − b)``;
* learning: ``ρ_i += γ[α(1 − b(d)) + βX] + √γ σξ``;
* Glicko: ``v⁺ = v/(1 + vI)``, ``r += νg v⁺ (S − b(gΔ))``.

Where ratings are frozen for a round or a period, what results and lessons add comes at its end, so that no team differs
from another by its place in it. A round is one day, after which form and walks move; in a period they go on from
matchday to matchday. Turnover: after a candidate match a team leaves with probability ``2·rate`` and a newcomer takes
its place.

The loops of the processor and of a graphics processor call these formulas; they differ in what they do at once. A
formula takes the two sides as numbers and returns them: a function that is handed arrays counts references to each of
them, which takes longer than a match.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.model.dynamics import FORM, LEARNING, WALK
from kinelo.model.steps import ELITE
from kinelo.play.deviations import Deviation, informed, rested, sharpened
from kinelo.play.formula import formula
from kinelo.play.laws import OutcomeCode, result_at, result_of
from kinelo.play.motion import Motion, jolt, leaver, lessons, newcomer_of, present
from kinelo.play.performances import normal_of
from kinelo.play.steps import StepCode, step_size
from kinelo.play.stream import ONE, TWO, redraw, unit
from kinelo.play.users import b_at, tie_at, w_at

NOTHING = np.uint64(0)
NOBODY = np.int64(-1)


class LeagueState(NamedTuple):
    """What a league carries from match to match, arrays of shape (realisations, teams).

    ``strength`` as of T = ``clock`` (in candidate matches), its own mean ``level``, v as of ``rest``, ``matches``
    played since arrival, whether the line of FIDE's rules was ``reached``, and what a period owes: gains, and
    information or lessons (``known``).
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


class MatchSide(NamedTuple):
    """One team of a :class:`LeagueState` as a match finds it or leaves it."""

    rating: float
    strength: float
    level: float
    clock: int
    variance: float
    rest: int
    matches: int
    reached: bool
    owed: float
    known: float


class MatchRules(NamedTuple):
    """The rules of a match: all numbers. ``period`` > 0 freezes ratings, ``rounds`` form and walks too; ``literal``
    draws performances.
    """

    law: OutcomeCode
    steps: StepCode
    motion: Motion
    glicko: Deviation
    rounds: bool
    literal: bool
    period: int
    unit_time: float


class Draws(NamedTuple):
    """What chance gives a match: its number, its bits and how many further draws are used; both performances, each
    with its mean, or what is left of the draw and the thresholds of the table.
    """

    match: int
    bits: np.uint64
    used: np.uint64
    mine: float
    theirs: float
    mean: float
    their_mean: float
    fraction: np.uint64
    win: np.uint64
    loss: np.uint64


@formula
def moves_by_calendar(kind):
    """Whether strengths of this kind of motion move with time, whether a team plays or not."""
    return (kind == FORM) | (kind == WALK)


@formula
def accepts(rule, w, z, bits):
    """Whether a pair whose ratings differ by ``z`` plays; ``w`` is the function of a user's pairing."""
    chance = w_at(rule, w, z)
    return chance >= 1.0 or unit(redraw(bits, NOTHING)) < chance


@formula
def draws_before(motion, rounds):
    """The number of the draw that makes the first performance, after those that move strengths to the present."""
    return np.uint64(3) if moves_by_calendar(motion.kind) and not rounds else ONE


@formula
def strength_now(motion, side, elapsed, normal):
    """Strength of a :class:`MatchSide` after ``elapsed`` units of T, from a standard normal number."""
    return present(motion.kind, motion.rate, motion.form, motion.walk, side.strength, side.level, elapsed, normal)


@formula
def learning_gains(motion, law, b, d, result, steps, bits, used):
    """What a match between strengths that differ by d teaches both sides, by chance too, and the draws used.

    ``steps`` are the two step sizes. Chance stands apart: sums keep their order, and with it their last bit.
    """
    gain_i, gain_j = lessons(motion.alpha, motion.beta, motion.on_result, b_at(law, b, d), result)
    more_i = more_j = 0.0
    if motion.diffusion > 0.0:
        more_i = jolt(steps[0], motion.diffusion, normal_of(bits, used))
        more_j = jolt(steps[1], motion.diffusion, normal_of(bits, used + ONE))
        used += TWO
    return (steps[0] * gain_i, steps[1] * gain_j), (more_i, more_j), used


@formula
def play_match(mine, theirs, gammas, juniors, rules, draws, b, tie):
    """Play a match between two :class:`MatchSide` that was accepted: the sides after it, its result and the draws used.

    ``gammas`` and ``juniors`` are the steps of both and whether FIDE counts them as juniors; ``b`` and ``tie`` are
    functions of a user's outcome.
    """
    motion, glicko, steps, law = rules.motion, rules.glicko, rules.steps, rules.law
    frozen, match, bits, used = rules.period > 0, draws.match, draws.bits, draws.used
    z = mine.rating - theirs.rating  # Δ = R_i − R_j
    rho_i, rho_j, clock_i, clock_j = mine.strength, theirs.strength, mine.clock, theirs.clock
    # Strengths move to the present.
    if moves_by_calendar(motion.kind) and not rules.rounds:
        rho_i = strength_now(motion, mine, (match - clock_i) * rules.unit_time, normal_of(bits, ONE))
        rho_j = strength_now(motion, theirs, (match - clock_j) * rules.unit_time, normal_of(bits, TWO))
        clock_i = clock_j = match
    d = rho_i - rho_j
    # The result S, by both performances or by the table of chances.
    if rules.literal:
        x = draws.mine - draws.theirs
        if motion.moving:
            x = d + (draws.mine - draws.mean) - (draws.theirs - draws.their_mean)
        result = result_of(unit(redraw(bits, used)), b_at(law, b, x), tie_at(law, tie, x))
        used += ONE
    else:
        result = result_at(draws.fraction, draws.win, draws.loss)
    r_i, r_j, v_i, v_j = mine.rating, theirs.rating, mine.variance, theirs.variance
    rest_i, rest_j = mine.rest, theirs.rest
    owed_i, owed_j, known_i, known_j = mine.owed, theirs.owed, mine.known, theirs.known
    top_i, top_j = mine.reached, theirs.reached
    if glicko.on:
        if not frozen:
            v_i = rested(v_i, glicko.growth, glicko.largest, (match - rest_i) * rules.unit_time)
            v_j = rested(v_j, glicko.growth, glicko.largest, (match - rest_j) * rules.unit_time)
            rest_i = rest_j = match
        g_i, b_i, info_i = informed(glicko.nu, v_j, z)
        g_j, b_j, info_j = informed(glicko.nu, v_i, z)
        if frozen:
            owed_i += g_i * (result - b_i)
            owed_j -= g_j * (result - b_j)
            known_i += info_i
            known_j += info_j
        else:
            v_i, v_j = sharpened(v_i, info_i), sharpened(v_j, info_j)  # v⁺ = v/(1 + vI)
            r_i += glicko.nu * g_i * v_i * (result - b_i)  # r += νg v⁺ (S − b(gΔ))
            r_j -= glicko.nu * g_j * v_j * (result - b_j)
    else:
        kind, boost, matches = steps
        step_i = step_size(kind, gammas[0], boost, matches, juniors[0], r_i, mine.matches, top_i)
        step_j = step_size(kind, gammas[1], boost, matches, juniors[1], r_j, theirs.matches, top_j)
        surprise = result - b_at(law, b, z)  # S − b(Δ)
        if frozen:  # owed until the period ends
            owed_i += step_i * surprise
            owed_j -= step_j * surprise
        else:
            r_i += step_i * surprise  # R_i += γ_i (S − b)
            r_j -= step_j * surprise
            top_i |= r_i >= ELITE
            top_j |= r_j >= ELITE
        if motion.kind == LEARNING:
            gain, second_gain, used = learning_gains(motion, law, b, d, result, (step_i, step_j), bits, used)
            if frozen:  # or teams would differ by their place in the period
                known_i, known_j = known_i + gain[0] + second_gain[0], known_j + gain[1] + second_gain[1]
            else:
                rho_i, rho_j = rho_i + gain[0] + second_gain[0], rho_j + gain[1] + second_gain[1]
    return (
        MatchSide(r_i, rho_i, mine.level, clock_i, v_i, rest_i, mine.matches + 1, top_i, owed_i, known_i),
        MatchSide(r_j, rho_j, theirs.level, clock_j, v_j, rest_j, theirs.matches + 1, top_j, owed_j, known_j),
        result,
        used,
    )


@formula
def end_period(side, rules, after, normal):
    """A side at the end of a period, before match ``after``: what it is owed counts, and after a round form moves.

    ``normal`` is a standard normal number, used where strengths move by the calendar.
    """
    motion, glicko, span = rules.motion, rules.glicko, rules.period * rules.unit_time
    r, rho, clock, v, rest, known = side.rating, side.strength, side.clock, side.variance, side.rest, side.known
    top = side.reached
    if glicko.on:
        v = sharpened(v, known)
        r += glicko.nu * v * side.owed  # r += ν v⁺ Σ g (S − b)
        v = rested(v, glicko.growth, glicko.largest, span)
        known, rest = 0.0, after
    else:
        r += side.owed
        top |= r >= ELITE
    if motion.kind == LEARNING:
        rho += known
        known = 0.0
    if moves_by_calendar(motion.kind) and rules.rounds:
        rho, clock = strength_now(motion, side, span, normal), after
    return MatchSide(r, rho, side.level, clock, v, rest, side.matches, top, 0.0, known)


@formula
def turn_over(strength, pool, motion, glicko, after, bits, used):
    """The place of a team that leaves before match ``after`` (−1 for none), and the newcomer who takes it.

    ``strength`` (teams,) are the strengths of one realisation, ``pool`` those that newcomers may have.
    """
    gone, level, rho = NOBODY, 0.0, 0.0
    if unit(redraw(bits, used)) < motion.leaving:
        gone = leaver(motion.who, strength, redraw(bits, used + ONE))
        level, rho = newcomer_of(motion.kind, motion.form, pool, bits, used + TWO)
    return gone, MatchSide(motion.start, rho, level, after, glicko.start, after, 0, False, 0.0, 0.0)
