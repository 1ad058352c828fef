r"""The loop that plays leagues whose strengths move, or whose ratings carry a deviation.

One realisation after the other, one match after the other; T counts candidate matches per team. Before a match:

* form and walks bring both teams to the present T by their exact transition; where ratings are frozen for a period,
  strengths are too, and all move at its end;
* deviations grow, ``v ← min(v + c²ΔT, v_max)``.

All numbers are taken from values before the match; then ratings, strengths and deviations move together. Learning:
``ρ_i += γ[α(1 − b(d)) + βX] + √γ σξ``. Glicko: ``v⁺ = v/(1 + vI)``, ``r += νg v⁺ (S − b(gΔ))``. Turnover: after a
candidate match a team leaves with probability ``2·rate`` and a newcomer takes its place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.micro.general import ELITE, NOT_PLAYED
from kinelo.model.pairing import ALL_PLAY_ALL
from kinelo.play.arithmetic import high_product
from kinelo.play.elementary import exp_negative, quantile
from kinelo.play.formula import formula, kernel
from kinelo.play.laws import acceptance, expected, result_of, tie_chance
from kinelo.play.performances import performance
from kinelo.play.steps import step_size
from kinelo.play.stream import centred, draw, redraw, unit
from kinelo.play.users import USER

STILL, LEARNING, FORM, WALK = 0, 1, 2, 3
RANDOM, WEAKEST, STRONGEST = 0, 1, 2
ONE = np.uint64(1)
GLICKO = 12.0 / math.pi**2


class Motion(NamedTuple):
    """How strengths move, as the kernel takes it.

    ``kind``; α, β, σ and whether X is the result; ω, V and s²; departures per candidate match and who leaves; what
    newcomers bring.
    """

    kind: int
    alpha: float
    beta: float
    diffusion: float
    on_result: bool
    rate: float
    form: float
    walk: float
    leaving: float
    who: int
    pool: NDArray[np.float64]
    start: float


class Deviation(NamedTuple):
    """Glicko's numbers: whether it is on, ν, c² per unit of T, the first and the largest v."""

    on: bool
    nu: float
    growth: float
    start: float
    largest: float


class Carried(NamedTuple):
    """What a league carries beside its ratings, realisations × teams.

    ``strength`` as of T = ``clock`` (in candidate matches), its own mean ``level``, v as of ``rest``, matches played
    since arrival, whether the line was reached, and what a period owes: gains and information.
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
    """Pairs in order of a round (or none), whether they come in order, and the period of frozen ratings (or 0)."""

    pairs: NDArray[np.uint32]
    rounds: bool
    period: int


@formula
def present(kind, rate, form, walk, strength, level, elapsed, normal):
    """Strength after ``elapsed`` units of T, from a standard normal number."""
    if kind == FORM:
        kept = exp_negative(-min(rate * elapsed, 350.0))
        return level + (strength - level) * kept + math.sqrt(form * (1.0 - kept * kept)) * normal
    if kind == WALK:
        return strength + math.sqrt(walk * elapsed) * normal
    return strength


@formula
def rested(variance, growth, largest, elapsed):
    """v after ``elapsed`` units of T without a match."""
    return min(variance + growth * elapsed, max(largest, variance))


@formula
def discount(nu, variance):
    """Glicko's g."""
    return 1.0 / math.sqrt(1.0 + GLICKO * nu * nu * variance)


@formula
def normal_of(bits, k):
    """A standard normal number from the k-th further draw of a match."""
    return quantile(centred(redraw(bits, k)))


@kernel
def play_moving(
    rating, carried, played, keys, meeting, drawing, theta, first, last, steps, motion, glicko, law, rule, b, tie, w,
    seen,
):  # fmt: skip
    """Play matches ``first … last − 1``; ``rating`` is (realisations, teams), ``theta`` the means of the drawn law."""
    count = rating.shape[1]
    teams, pairs, unit_time = np.uint64(count), np.uint64(meeting.pairs.shape[0]), 2.0 / count
    calendar = motion.kind == FORM or motion.kind == WALK
    for realisation in range(rating.shape[0]):
        r, rho, level = rating[realisation], carried.strength[realisation], carried.level[realisation]
        clock, v, rest = carried.clock[realisation], carried.variance[realisation], carried.rest[realisation]
        n, top = carried.matches[realisation], carried.reached[realisation]
        owed, known = carried.owed[realisation], carried.known[realisation]
        for match in range(first, last):
            bits = draw(keys[realisation, 0], keys[realisation, 1], np.uint64(match))
            if meeting.rounds:
                packed = np.uint64(meeting.pairs[np.uint64(match) % pairs])
                i, j = packed >> np.uint64(16), packed & np.uint64(0xFFFF)
            else:
                i = high_product(bits, teams)  # pyright: ignore[reportCallIssue]
                j = high_product(bits * teams, teams - ONE)  # pyright: ignore[reportCallIssue]
                if j >= i:
                    j += ONE
            z = r[i] - r[j]
            if seen.result.size > 0:
                seen.home[match - first], seen.away[match - first], seen.result[match - first] = i, j, NOT_PLAYED
            chance = 1.0
            if rule.kind == USER:
                chance = w(z)
            elif rule.kind != ALL_PLAY_ALL:
                chance = acceptance(rule.kind, rule.c, rule.smoothing, z)
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
                mine, used = performance(drawing.kind, drawing.values, drawing.table, drawing.lineup, i, bits, used)
                theirs, used = performance(drawing.kind, drawing.values, drawing.table, drawing.lineup, j, bits, used)
                d = rho[i] - rho[j]
                x = d + (mine - theta[i]) - (theirs - theta[j])
                level_chance = tie(x) if law.kind == USER else tie_chance(law.kind, law.nu, law.kappa, x)
                mean = b(x) if law.kind == USER else expected(law.kind, law.nu, law.kappa, x)
                result = result_of(unit(redraw(bits, used)), mean, level_chance)
                used += ONE
                if glicko.on:
                    if meeting.period == 0:
                        for side in (i, j):
                            v[side] = rested(v[side], glicko.growth, glicko.largest, (match - rest[side]) * unit_time)
                            rest[side] = match
                    gi, gj = discount(glicko.nu, v[j]), discount(glicko.nu, v[i])
                    bi = expected(law.kind, law.nu, law.kappa, gi * z)
                    bj = expected(law.kind, law.nu, law.kappa, gj * z)
                    # sech² = 1 − tanh²
                    info_i, info_j = (glicko.nu * gi) ** 2 * (1.0 - bi * bi), (glicko.nu * gj) ** 2 * (1.0 - bj * bj)
                    if meeting.period > 0:
                        owed[i] += gi * (result - bi)
                        owed[j] -= gj * (result - bj)
                        known[i] += info_i
                        known[j] += info_j
                    else:
                        v[i], v[j] = v[i] / (1.0 + v[i] * info_i), v[j] / (1.0 + v[j] * info_j)
                        r[i] += glicko.nu * gi * v[i] * (result - bi)
                        r[j] -= glicko.nu * gj * v[j] * (result - bj)
                else:
                    surprise = result - (b(z) if law.kind == USER else expected(law.kind, law.nu, law.kappa, z))
                    si = step_size(
                        steps.kind, steps.gamma[i], steps.boost, steps.matches, steps.junior[i], r[i], n[i], top[i]
                    )
                    sj = step_size(
                        steps.kind, steps.gamma[j], steps.boost, steps.matches, steps.junior[j], r[j], n[j], top[j]
                    )
                    if meeting.period > 0:
                        owed[i] += si * surprise
                        owed[j] -= sj * surprise
                    else:
                        r[i] += si * surprise
                        r[j] -= sj * surprise
                        top[i] |= r[i] >= ELITE
                        top[j] |= r[j] >= ELITE
                    if motion.kind == LEARNING:
                        gap = b(d) if law.kind == USER else expected(law.kind, law.nu, law.kappa, d)
                        gain = motion.beta * (result if motion.on_result else gap)
                        rho[i] += si * (motion.alpha * (1.0 - gap) + gain)
                        rho[j] += sj * (motion.alpha * (1.0 + gap) - gain)
                        if motion.diffusion > 0.0:
                            rho[i] += math.sqrt(si) * motion.diffusion * normal_of(bits, used)
                            rho[j] += math.sqrt(sj) * motion.diffusion * normal_of(bits, used + ONE)
                            used += np.uint64(2)
                if seen.result.size > 0:
                    seen.result[match - first] = result
                n[i] += 1
                n[j] += 1
                played[realisation] += 1
            if meeting.period > 0 and (match + 1) % meeting.period == 0:
                span = meeting.period * unit_time
                for team in range(count):
                    if glicko.on:
                        v[team] = v[team] / (1.0 + v[team] * known[team])
                        r[team] += glicko.nu * v[team] * owed[team]
                        v[team] = rested(v[team], glicko.growth, glicko.largest, span)
                        known[team] = 0.0
                        rest[team] = match + 1
                    else:
                        r[team] += owed[team]
                        top[team] |= r[team] >= ELITE
                    owed[team] = 0.0
                    if calendar:
                        rho[team] = present(
                            motion.kind, motion.rate, motion.form, motion.walk, rho[team], level[team], span,
                            normal_of(bits, used),
                        )  # fmt: skip
                        clock[team] = match + 1
                        used += ONE
            if motion.leaving > 0.0 and unit(redraw(bits, used)) < motion.leaving:
                gone = np.int64(high_product(redraw(bits, used + ONE), teams))  # pyright: ignore[reportCallIssue]
                if motion.who != RANDOM:
                    sign = 1.0 if motion.who == WEAKEST else -1.0
                    gone = 0
                    for team in range(count):
                        if sign * rho[team] < sign * rho[gone]:
                            gone = team
                lot, kinds = redraw(bits, used + np.uint64(2)), np.uint64(motion.pool.size)
                level[gone] = motion.pool[high_product(lot, kinds)]  # pyright: ignore[reportCallIssue]
                rho[gone] = level[gone]
                if motion.kind == FORM:
                    rho[gone] += math.sqrt(motion.form) * normal_of(bits, used + np.uint64(3))
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
