"""How many goals fall, and who scores them: the loops of :mod:`kinelo.raters.scores.rater`.

**Paces.** The total of an even match has the expected value ``E = exp(ℓ + p_i + p_j)``: ``ℓ`` is the level of the
league, ``p`` the pace of each side. More is scored where a match is not even. With ``g`` the lean of the match, ``Φ⁻¹``
of the points expected of the home side, and ``q = bg/√E``, the home side scores ``e^{2u}`` goals for one of the away
side, where ``sinh(u)/√cosh(u) = q``, so that ``cosh(u) = (q² + √(q⁴ + 4))/2``; and the expected total is
``T = E cosh(u)^m``. At m = 1 and b = 1 goals depend on attack and defence as a log-linear law says, and chances of
outcomes agree with them. The variance of a total is ``φT``.

Level and paces are a diagonal filter. With what is believed of ``log T`` of variance ``V``, a total ``N`` has the score
``(N − T)/φ`` and the information ``T/φ``: everyone's mean moves by ``v (N − T)/φ / (1 + VT/φ)``, and every variance
``v`` by ``−v² T/φ / (1 + VT/φ)``. A pace fades towards 0 as it wanders, so that its spread stays what it is.

**Counts.** Home and away score ``T/(1 + e^{−δ})`` and ``T/(1 + e^δ)``, ``δ = 2u + cz`` with a normal ``z``, each by a
negative binomial law of variance ``φ`` times its mean, whose chances follow from one another by
``q_{k+1}/q_k = (λ + k(φ − 1))/((k + 1)φ)`` (Poisson's at φ = 1). Who is behind presses on and who is ahead holds on:
chances are multiplied by ``e^κ`` where both score, and by ``e^κ`` where one goal decides.

**Points.** Where dozens are scored, margin and total are normal, of means ``bg√T`` and ``T`` and variances ``b²T`` and
``φT + VT²``, on the scores that whole numbers allow.

Both laws only say how chances lie among scores of one outcome: outcomes themselves have the chances that strengths give
them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinelo.play.formula import inner, kernel

NODES, NODE_WEIGHTS = (values.copy() for values in np.polynomial.hermite_e.hermegauss(5))
NODE_WEIGHTS /= NODE_WEIGHTS.sum()
"""Where the mean over a normal law is taken."""

YEAR = 365.25
UNSEEN = -(2**62)
"""The day of those who have not played."""

FIRST_LEVEL, FIRST_DOUBT = math.log(2.5), 0.3
"""Level of a league before any match, and the standard deviation of its logarithm after the first."""

TINY = 1e-15


class Law(NamedTuple):
    """What scores follow: ``points`` or counts, and the numbers φ, b, m, κ and c of the module."""

    points: bool
    dispersion: float
    steepness: float
    mismatch: float
    closeness: float
    scatter: float


class Pace(NamedTuple):
    """How paces move: their spread, and walks of a pace and of the level per year."""

    spread: float
    walk: float
    level_walk: float


class Totals(NamedTuple):
    """Matches as paces see them: day, places of both sides (−1: of nobody met), total (NaN: not known), weight and
    lean of each."""

    day: Any
    home: Any
    away: Any
    total: Any
    weight: Any
    lean: Any


class Paces(NamedTuple):
    """What is believed of the level (mean, variance and the day of the last total), and of each pace: mean, variance
    and the day of the side's last match."""

    level: Any
    mean: Any
    variance: Any
    last: Any


@inner
def log_uneven(log_even, lean, steepness):
    """``log cosh(u)`` of a match with this lean, where an even one has this logarithm of the total."""
    q2 = (steepness * lean) ** 2 / math.exp(log_even)
    return math.log(0.5 * (q2 + math.sqrt(q2 * q2 + 4.0)))


@kernel
def follow_paces(played, p, law, state, mean, variance):
    """Mean and variance of ``log E`` before each match, and level and paces after it; without weight nothing is
    learnt."""
    day, home, away, total, weight, lean = played
    level, x, v, last = state
    room = p.spread * p.spread
    rate = 0.5 * p.walk * p.walk / room if room > 0.0 else 0.0
    pair, moved, doubt = np.empty(2, np.int64), np.empty(2), np.empty(2)
    for k in range(day.size):
        pair[0], pair[1] = home[k], away[k]
        log_total, spread = FIRST_LEVEL if math.isnan(level[0]) else level[0], level[1]
        if level[2] > -math.inf:
            spread += p.level_walk * p.level_walk * max(day[k] - level[2], 0.0) / YEAR
        level_doubt = spread
        for s in range(2):
            place = pair[s]
            moved[s], doubt[s] = 0.0, room
            if place >= 0 and last[place] != UNSEEN:
                kept = math.exp(-rate * max(day[k] - last[place], 0) / YEAR)
                moved[s], doubt[s] = kept * x[place], room - (room - v[place]) * kept * kept
            log_total += moved[s]
            spread += doubt[s]
        mean[k], variance[k] = log_total, spread
        if math.isnan(total[k]) or not weight[k] > 0.0:
            continue
        if math.isnan(level[0]):
            level[0], level[1], level[2] = math.log(total[k] + 0.5), FIRST_DOUBT * FIRST_DOUBT, day[k]
            continue
        expected = math.exp(log_total + law.mismatch * log_uneven(log_total, lean[k], law.steepness))
        information = weight[k] * expected / law.dispersion
        score = weight[k] * (total[k] - expected) / law.dispersion
        gain = 1.0 / (1.0 + spread * information)
        level[0] += level_doubt * score * gain
        level[1] = level_doubt - level_doubt * level_doubt * information * gain
        level[2] = day[k]
        for s in range(2):
            place = pair[s]
            x[place] = moved[s] + doubt[s] * score * gain
            v[place] = doubt[s] - doubt[s] * doubt[s] * information * gain
            last[place] = day[k]


@inner
def counted(rate, excess, out):
    """Chances of 0, 1, 2, … goals at this rate, whose variance is ``1 + excess`` times the mean."""
    out[0] = math.exp(-rate if excess < 1e-12 else -rate * math.log1p(excess) / excess)
    for k in range(out.size - 1):
        out[k + 1] = out[k] * (rate + k * excess) / ((k + 1) * (1.0 + excess))


@inner
def both_counted(log_even, lean, law, z, first, second):
    """Chances of both sides' goals at one node."""
    uneven = log_uneven(log_even, lean, law.steepness)
    total = math.exp(log_even + law.mismatch * uneven)
    odds = math.copysign(2.0 * math.acosh(max(math.exp(uneven), 1.0)), lean) + law.scatter * z
    rate, other = total / (1.0 + math.exp(-odds)), total / (1.0 + math.exp(odds))
    counted(rate, max(law.dispersion - 1.0, 0.0), first)
    counted(other, max(law.dispersion - 1.0, 0.0), second)


@inner
def closer(i, j, closeness):
    """What closeness multiplies the chance of this score by."""
    return math.exp(closeness * ((i > 0 and j > 0) + (abs(i - j) == 1)))


@inner
def points_of(mean, variance, lean, law):
    """Mean and standard deviation of a total of points, and of its margin."""
    total = math.exp(mean + law.mismatch * log_uneven(mean, lean, law.steepness))
    spread = law.steepness * math.sqrt(total)
    return total, math.sqrt(law.dispersion * total + variance * total * total), lean * spread, spread


@inner
def outcome_of(i, j):
    """What a score is: 0 a home win, 1 a draw, 2 an away win."""
    return 0 if i > j else 1 if i == j else 2


@kernel
def goals_up_to(mean, variance, lean, law):
    """Goals of a side beyond which no match here has a chance to speak of."""
    most = 0.0
    for k in range(mean.size):
        uneven = log_uneven(mean[k], lean[k], law.steepness)
        if law.points:
            total, width, _, spread = points_of(mean[k], variance[k], lean[k], law)
            most = max(most, 0.5 * (total + 6.0 * width + spread * (abs(lean[k]) + 6.0)))
        else:
            rate = math.exp(mean[k] + 3.0 * math.sqrt(variance[k]) + law.mismatch * uneven)
            rate /= 1.0 + math.exp(-2.0 * math.acosh(max(math.exp(uneven), 1.0)) - 3.0 * law.scatter)
            most = max(most, rate + 7.0 * math.sqrt(law.dispersion * rate) + 7.0)
    return most


@kernel
def score_grid(chances, mean, variance, lean, law, out):
    """Chances of every score of each match, ``out[k, home, away]``; those of an outcome sum to its chance."""
    size = out.shape[1]
    first, second = np.empty(size), np.empty(size)
    out[:] = 0.0
    for k in range(mean.size):
        grid = out[k]
        if law.points:
            total, width, middle, spread = points_of(mean[k], variance[k], lean[k], law)
            for i in range(size):
                for j in range(size):
                    a, b = (i - j - middle) / spread, (i + j - total) / width
                    grid[i, j] = math.exp(-0.5 * (a * a + b * b))
        else:
            for s in range(NODES.size):
                log_even = mean[k] + math.sqrt(variance[k]) * NODES[s]
                for t in range(NODES.size):
                    both_counted(log_even, lean[k], law, NODES[t], first, second)
                    share = NODE_WEIGHTS[s] * NODE_WEIGHTS[t]
                    for i in range(size):
                        for j in range(size):
                            grid[i, j] += share * first[i] * second[j]
            for i in range(size):
                for j in range(size):
                    grid[i, j] *= closer(i, j, law.closeness)
        sums = np.zeros(3)
        for i in range(size):
            for j in range(size):
                sums[outcome_of(i, j)] += grid[i, j]
        for i in range(size):
            for j in range(size):
                place = outcome_of(i, j)
                grid[i, j] *= chances[k, place] / max(sums[place], 1e-300)


@kernel
def score_losses(chances, beliefs, law, goals, size, out):
    """``−log`` of the chance of each score in a grid of this size, by beliefs of ``log E`` (mean, variance) and lean;
    NaN where a score is not known (−1)."""
    (mean, variance, lean), (home, away) = beliefs, goals
    first, second = np.empty(size), np.empty(size)
    for k in range(mean.size):
        i, j = home[k], away[k]
        if i < 0 or j < 0:
            out[k] = math.nan
            continue
        place = outcome_of(i, j)
        at_score = in_all = 0.0
        if law.points:
            total, width, middle, spread = points_of(mean[k], variance[k], lean[k], law)
            a, b = (i - j - middle) / spread, (i + j - total) / width
            at_score = math.exp(-0.5 * (a * a + b * b))
            # The margins of the outcome, each with the totals of its parity, which are as good as half of all.
            for margin in range(0 if place == 1 else 1, 1 if place == 1 else size):
                a = ((-margin if place == 2 else margin) - middle) / spread
                in_all += math.exp(-0.5 * a * a)
            in_all *= 0.5 * width * math.sqrt(2.0 * math.pi)
        else:
            for s in range(NODES.size):
                log_even = mean[k] + math.sqrt(variance[k]) * NODES[s]
                for t in range(NODES.size):
                    both_counted(log_even, lean[k], law, NODES[t], first, second)
                    share = NODE_WEIGHTS[s] * NODE_WEIGHTS[t]
                    at_score += share * first[i] * second[j]
                    in_all += share * _outcome(place, first, second, law.closeness)
            at_score *= closer(i, j, law.closeness)
        out[k] = -math.log(max(chances[k, place] * at_score / max(in_all, 1e-300), TINY))


@inner
def _outcome(place, first, second, closeness):
    """Chance of an outcome (0 home win, 1 draw, 2 away win) at one node."""
    once = math.exp(closeness)
    winner, loser = (first, second) if place != 2 else (second, first)
    if place == 1:
        chance = winner[0] * loser[0]
        for k in range(1, winner.size):
            chance += once * winner[k] * loser[k]
        return chance
    chance = once * winner[1] * loser[0]
    below = loser[0]  # chances of two goals or more fewer than the winner's
    for k in range(2, winner.size):
        chance += winner[k] * (below + once * once * loser[k - 1])
        below += once * loser[k - 1]
    return chance
