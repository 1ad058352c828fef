r"""Compiled loops of the audit, over matches in order of date.

**Model.** A point is a point of expected score at equality: ``P(S) ∝ e^{ν_D S z} κ^{1−|S|}`` with ``z = θ_i − θ_j + h``
and ``ν_D = ν(2 + κ)/2`` (Davidson), so that ``s'(0) = ν`` whatever κ. From one match of a side to its next, dt years
later, ``θ ← φθ + ε`` with ``φ = e^{−ω dt}`` and ``Var ε = φ²a² + y²(1 − φ²)/2ω``: a per match, y per root year. θ
counts from the league's own mean M, which follows those who play: every appearance moves it by 1/n of the way, n sides
having been seen. A newcomer's θ is normal about M, plus a level once the average side seen has played twice. The home
advantage h walks by d per root year.

**Filter.** Each side, and h, is normal with mean m and variance v; a match is a quadrature over
z ~ N(m_i − m_j + h, v_i + v_j + v_h) that gives the probability of the result and the moments of z after it.

**Smoothing**, backwards, with φ', m⁻, v⁻ what was predicted for the side's next match: ``J = φ'v/v⁻``,
``m̂ = m + J(m̂' − m⁻)``, ``v̂ = v + J²(v̂' − v⁻)``, ``A = Jv̂'/v̂``, the regression of the next strength on this one.

**Ratings**, forwards: of each rating R its mean, ``C = Cov(θ, R)`` and ``U = Var R``, given those strengths; see
:func:`follow_ratings`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.day_order import forecast_until
from kinelo.matches.matches import Matches
from kinelo.model.outcome import CHESS_NU
from kinelo.play.elementary import exp_negative
from kinelo.play.formula import inlined, kernel
from kinelo.play.laws import davidson, davidson_terms, points_scale, result_of, tail_of
from kinelo.raters.filter.belief import STEEPEST_PROMISE, YEAR, fade, learnt, observe_result, rested

Array = NDArray[np.float64]
NORMAL_95 = 1.96
LEAST_SEEN = 20
"""The league's mean follows no faster than if there were this many sides."""
HOME_DOUBT = 100.0
"""Standard deviation of the home advantage before the first match, in points of the chess scale."""


class Calendar(NamedTuple):
    """The matches as the compiled loops take them: days count from the first one, results lie in [−1, 1], and matches
    up to ``until`` are forecast from the same ratings, because nothing tells their order within their day.
    """

    home: NDArray[np.int32]
    away: NDArray[np.int32]
    result: Array
    neutral: NDArray[np.bool_]
    weight: Array
    day: Array
    sides: int
    until: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of matches."""
        return self.home.size

    @property
    def appearances(self) -> NDArray[np.int32]:
        """The side of every appearance (2n): both of a match in turn."""
        return np.column_stack([self.home, self.away]).ravel()

    @classmethod
    def of(cls, matches: Matches) -> Calendar:
        """The calendar of these matches."""
        day = (matches.day - matches.day[0]).astype(float)
        return cls(
            matches.home, matches.away, matches.signed, matches.neutral, matches.weight, day, len(matches.teams),
            forecast_until(matches),
        )  # fmt: skip


class Parameters(NamedTuple):
    """The model's numbers, in points of a scale with this ν."""

    walk_per_match: float
    walk_per_year: float
    return_per_year: float
    newcomer_spread: float
    newcomer_level: float
    home_drift: float
    ties: float
    nu: float = CHESS_NU


class System(NamedTuple):
    """The rating system: ``b = tanh νr``, Davidson's law of its forecasts, its home advantage in every match (n), and
    where each side's rating begins, less where newcomers begin (sides)."""

    nu: float
    forecast_nu: float
    forecast_kappa: float
    home: Array
    start: Array


class NormalNodes(NamedTuple):
    """Of the expectation over a standard normal variable."""

    x: Array
    weight: Array


class Strengths(NamedTuple):
    """Strengths given all results: mean, variance and A of both sides (n × 2), and the home advantage (n)."""

    mean: Array
    variance: Array
    regression: Array
    home: Array


class ExpectedMatches(NamedTuple):
    """Of each match, over the strengths: E s, E s', E S² and E s²."""

    score: Array
    slope: Array
    square: Array
    score_square: Array


class Today(NamedTuple):
    """What is known after some matches: mean, variance and day of the last match of each side (−1 of who has played
    none, who enters as a newcomer), the league's mean, sides seen and matches played."""

    mean: Array
    variance: Array
    last: Array
    centre: float
    seen: int
    played: int


class Followed(NamedTuple):
    """What ratings do in each match, before it is played: expected loss, mean and variance of their difference, its
    covariance with that of strengths, and the squared error of a rating."""

    loss: Array
    gap: Array
    variance: Array
    covariance: Array
    error: Array


@inlined
def _since_last(p, days):
    """φ and Var ε (two float64) of the ``days`` since a side's last match, under the ``Parameters`` p."""
    phi, grown = fade(days, p.return_per_year, p.walk_per_year**2)
    return phi, phi * phi * p.walk_per_match**2 + grown  # the step after the last match fades too


@inlined
def _advance(p, days, M, mean, variance):
    """φ of the ``days`` since a side's last match, and its mean and variance after them; means return to M."""
    phi, change = _since_last(p, days)
    ahead, variance = rested(mean - M, variance, phi, change)
    return phi, M + ahead, variance


@inlined
def _level(p, matches, seen):
    """How far (float) from M a newcomer begins after so many matches of ``seen`` sides."""
    return p.newcomer_level if matches >= seen and seen > 0 else 0.0


@inlined
def _follow(M, ours, theirs, seen):
    """M (float) after a match between these strengths, ``seen`` sides having played."""
    return M + (ours + theirs - 2.0 * M) / max(seen, LEAST_SEEN)


@kernel
def filter_matches(calendar, p, nodes, likelihood, path, home_path):
    """Log-likelihood of each result before it is seen; a match of weight w teaches as much as w with its result.

    Takes a ``Calendar``, ``Parameters`` and ``NormalNodes``, fills ``likelihood`` (n), ``path`` (n × 2 × 5: both
    sides' φ, mean and variance before the match, mean and variance after it) and ``home_path`` (n × 4: mean and
    variance of the home advantage before and after), all float64, and returns M. Of a path of one row, nothing is kept.
    """
    v0, kappa, drift = p.newcomer_spread**2, p.ties, p.home_drift**2
    nu = points_scale(p.nu, kappa)
    log_kappa = math.log(kappa) if kappa > 0.0 else 0.0
    m, v, last = np.zeros(calendar.sides), np.zeros(calendar.sides), np.full(calendar.sides, -1.0)
    h, h_variance, h_day = 0.0, (HOME_DOUBT * CHESS_NU / p.nu) ** 2, 0.0
    M = 0.0
    seen, kept = 0, path.shape[0] > 1
    for k in range(calendar.home.size):
        day, row = calendar.day[k], k if kept else 0
        for side in range(2):
            i = calendar.home[k] if side == 0 else calendar.away[k]
            phi = 1.0
            if last[i] < 0.0:
                m[i], v[i] = M + _level(p, k, seen), v0
                seen += 1
            else:
                phi, m[i], v[i] = _advance(p, day - last[i], M, m[i], v[i])
            last[i] = day
            path[row, side, 0], path[row, side, 1], path[row, side, 2] = phi, m[i], v[i]
        i, j = calendar.home[k], calendar.away[k]
        z, both = m[i] - m[j], v[i] + v[j]  # z ~ N(z, both) before the match
        if not calendar.neutral[k]:
            h_variance += drift * (day - h_day) / YEAR  # the home advantage walks
            h_day = day
            z += h
            both += h_variance
        home_path[row, 0], home_path[row, 1] = h, h_variance
        S, games = calendar.result[k], calendar.weight[k]
        L, shift, left = observe_result(S, games, nu, kappa, z, both, nodes.x, nodes.weight)
        likelihood[k] = math.log(L) + (1.0 - abs(S)) * log_kappa
        m[i], v[i] = learnt(m[i], v[i], 1.0, shift, left)
        m[j], v[j] = learnt(m[j], v[j], -1.0, shift, left)
        if not calendar.neutral[k]:
            h, h_variance = learnt(h, h_variance, 1.0, shift, left)
        M = _follow(M, m[i], m[j], seen)
        path[row, 0, 3], path[row, 0, 4] = m[i], v[i]
        path[row, 1, 3], path[row, 1, 4] = m[j], v[j]
        home_path[row, 2], home_path[row, 3] = h, h_variance
    return M


@kernel
def last_known(calendar, path):
    """Mean and variance of each strength after its side's last match, and the day of that (sides each; day −1 of who
    never played), from ``path`` (n × 2 × 5).
    """
    mean, variance, last = np.zeros(calendar.sides), np.zeros(calendar.sides), np.full(calendar.sides, -1.0)
    for k in range(calendar.home.size):
        for side in range(2):
            i = calendar.home[k] if side == 0 else calendar.away[k]
            mean[i], variance[i], last[i] = path[k, side, 3], path[k, side, 4], calendar.day[k]
    return mean, variance, last


@kernel
def foresee_sides(calendar, p, today, strengths):
    """Mean and variance of both strengths in each match to come, and the regression of a side's next strength on this
    one, into ``Strengths``, from what is known ``Today``."""
    m, v, last, M, seen = today.mean.copy(), today.variance.copy(), today.last.copy(), today.centre, today.seen
    mean, variance, regression = strengths.mean, strengths.variance, strengths.regression
    before = np.full(calendar.sides, -1)
    for k in range(calendar.home.size):
        day = calendar.day[k]
        for side in range(2):
            i = calendar.home[k] if side == 0 else calendar.away[k]
            if last[i] < 0.0:
                m[i], v[i] = M + p.newcomer_level, p.newcomer_spread**2
                seen += 1
            else:
                phi, m[i], v[i] = _advance(p, day - last[i], M, m[i], v[i])
                if before[i] >= 0:
                    regression[before[i] // 2, before[i] % 2] = phi
            last[i], before[i] = day, 2 * k + side
            mean[k, side], variance[k, side] = m[i], v[i]
        M = _follow(M, mean[k, 0], mean[k, 1], seen)


@kernel
def smooth_home(neutral, home_path, normal, home):
    """The home advantage given all results, backwards, into ``home`` (n), from ``neutral`` (n, bool) and ``home_path``
    (n × 4); ``normal`` (n), unless empty, draws it in place of its mean.
    """
    ahead, before, doubt = 0.0, 0.0, -1.0
    for k in range(neutral.size - 1, -1, -1):
        if neutral[k]:
            home[k] = 0.0
            continue
        m, v = home_path[k, 2], home_path[k, 3]
        if doubt >= 0.0:
            J = v / max(doubt, 1e-300)  # φ = 1: the advantage does not return
            m += J * (ahead - before)
            v *= 1.0 - J  # given the next one
        if normal.size > 0:
            m += math.sqrt(max(v, 0.0)) * normal[k]
        home[k] = ahead = m
        before, doubt = home_path[k, 0], home_path[k, 1]


@kernel
def smooth_sides(calendar, path, normal, mean, variance, regression):
    """Mean and variance of both strengths in each match given all results, and A, the regression of the side's next
    strength on this one, which is 0 after its last match.

    Goes backwards through ``path`` (n × 2 × 5) and fills ``mean``, ``variance`` and ``regression`` (n × 2).
    ``normal`` (n × 2), unless empty, draws each strength given the next one: the mean is then what was drawn.
    """
    # Of each side's next match: φ, mean and variance before it, and its smoothed (or drawn) mean and variance.
    following = np.zeros((calendar.sides, 5))
    for k in range(calendar.home.size - 1, -1, -1):
        for side in range(2):
            f = following[calendar.home[k] if side == 0 else calendar.away[k]]
            m, v, A = path[k, side, 3], path[k, side, 4], 0.0
            if f[2] > 0.0:
                J = f[0] * v / f[2]  # J = φ'v/v⁻
                m += J * (f[3] - f[1])  # m̂ = m + J(m̂' − m⁻)
                v = max(v + J * J * (f[4] - f[2]), 1e-12)  # v̂ = v + J²(v̂' − v⁻)
                A = J * f[4] / v  # regression of the next strength on this one
            if normal.size > 0:
                m += math.sqrt(max(v, 0.0)) * normal[k, side]
                v = 0.0
            mean[k, side], variance[k, side], regression[k, side] = m, v, A
            f[0], f[1], f[2] = path[k, side, 0], path[k, side, 1], path[k, side, 2]
            f[3], f[4] = m, v


@kernel
def draw_sides(calendar, p, today, normal, strength):
    """Draw strengths of all matches from the model, on from the means of ``Today``: ``normal`` and ``strength`` are
    float64, n × 2.
    """
    theta, last, M, seen = today.mean.copy(), today.last.copy(), today.centre, today.seen
    for k in range(calendar.home.size):
        day = calendar.day[k]
        for side in range(2):
            i = calendar.home[k] if side == 0 else calendar.away[k]
            if last[i] < 0.0:
                theta[i] = M + _level(p, today.played + k, seen) + p.newcomer_spread * normal[k, side]
                seen += 1
            else:
                phi, change = _since_last(p, day - last[i])
                theta[i] = M + phi * (theta[i] - M) + math.sqrt(change) * normal[k, side]  # θ ← φθ + ε
            last[i] = day
            strength[k, side] = theta[i]
        M = _follow(M, strength[k, 0], strength[k, 1], seen)


@kernel
def draw_results(strength, home, p, uniform, S):
    """Draw every result into ``S`` (n) from both strengths (n × 2), the home advantage and uniform numbers (n each)."""
    nu = points_scale(p.nu, p.ties)
    for k in range(S.size):
        b, _, tie = davidson(nu, p.ties, strength[k, 0] - strength[k, 1] + home[k])
        S[k] = result_of(uniform[k], b, tie)


@kernel
def expect_results(strengths, p, nodes, expected):
    """Moments of each result over ``Strengths``, z ~ N(m̂_i − m̂_j + h, v̂_i + v̂_j), into ``ExpectedMatches`` (n each)."""
    nu = points_scale(p.nu, p.ties)
    for k in range(strengths.home.size):
        z = strengths.mean[k, 0] - strengths.mean[k, 1] + strengths.home[k]
        sd = math.sqrt(strengths.variance[k, 0] + strengths.variance[k, 1])
        score, slope, square, score_square = 0.0, 0.0, 0.0, 0.0
        for n in range(nodes.x.size):
            s, steep, tie = davidson(nu, p.ties, z + sd * nodes.x[n])
            score += nodes.weight[n] * s  # E s
            slope += nodes.weight[n] * steep  # E s'
            square += nodes.weight[n] * (1.0 - tie)  # E S²
            score_square += nodes.weight[n] * s * s  # E s²
        expected.score[k], expected.slope[k] = score, slope
        expected.square[k], expected.score_square[k] = square, score_square


@kernel
def follow_ratings(calendar, system, steps, strengths, expected, nodes, out):
    """Ratings that move by ``steps`` (n × 2, weights included) over matches between these strengths, into ``Followed``.

    All begin at R = start, C = U = 0. With z the difference of strengths, ``r ~ N(R_i − R_j + h, U_i + U_j)`` that of
    ratings, ``c = C_i + C_j`` and ``B_z = E s'(z)``, ``B_r = E b'(r)``: ``C ← AC`` since the side's last match, then

        loss  = E log D(r) − ν_D (E s r̄ + B_z c) − P(draw) log κ
        X     = E S² + E b² − 2 (E s E b + B_z B_r c) − (E s − E b)²
        R_i  += g_i (E s − E b)
        U_i  += 2 g_i (B_z C_i − B_r U_i) + g_i² X
        C_i  += g_i (B_z v̂_i − B_r C_i)

    Matches of a day whose order is not known are forecast from the ratings before the first of them (``held``), while
    ratings move from one to the next.
    """
    sides = calendar.sides
    R = system.start.copy()
    C, U, A = np.zeros(sides), np.zeros(sides), np.zeros(sides)
    held, ahead = np.zeros((sides, 3)), 0
    nu, nu_D, kappa = system.nu, system.forecast_nu, system.forecast_kappa
    log_kappa = math.log(kappa) if kappa > 0.0 else 0.0
    for k in range(calendar.home.size):
        i, j = calendar.home[k], calendar.away[k]
        if k >= ahead:
            ahead = calendar.until[k]
            for n in range(k, ahead):
                for side in range(2):
                    s = calendar.home[n] if side == 0 else calendar.away[n]
                    held[s, 0], held[s, 1], held[s, 2] = R[s], U[s], C[s]
        for side in range(2):
            s = i if side == 0 else j
            C[s] *= A[s]  # C: covariance of strength and rating before the match
            held[s, 2] *= A[s]
            A[s] = strengths.regression[k, side]
        r, c = R[i] - R[j] + system.home[k], C[i] + C[j]
        sd = math.sqrt(max(U[i] + U[j], 0.0))  # r ~ N(r, U_i + U_j)
        belief, variance, shared = (
            held[i, 0] - held[j, 0] + system.home[k],
            held[i, 1] + held[j, 1],
            held[i, 2] + held[j, 2],
        )
        known_sd = math.sqrt(max(variance, 0.0))
        b_mean, B_r, b_square, log_D = 0.0, 0.0, 0.0, 0.0
        for n in range(nodes.x.size):
            at = r + sd * nodes.x[n]
            b, slope, _ = davidson(nu, 0.0, at)
            b_mean += nodes.weight[n] * b  # E b
            B_r += nodes.weight[n] * slope  # E b'
            b_square += nodes.weight[n] * b * b  # E b²
            forecast = nu_D * (belief + known_sd * nodes.x[n])
            _, _, share = davidson_terms(kappa, math.exp(min(max(forecast, -STEEPEST_PROMISE), STEEPEST_PROMISE)))
            log_D -= nodes.weight[n] * math.log(share)  # E log D of the forecast
        score, B_z, square = expected.score[k], expected.slope[k], expected.square[k]
        # Errors of ratings: what the home advantage in use is off is no error of a rating.
        off = held[i, 0] - held[j, 0] - strengths.mean[k, 0] + strengths.mean[k, 1]
        out.loss[k] = log_D - nu_D * (score * belief + B_z * shared) - (1.0 - square) * log_kappa
        out.gap[k], out.variance[k], out.covariance[k] = belief, variance, shared
        out.error[k] = 0.5 * (off * off + strengths.variance[k, 0] + strengths.variance[k, 1] - 2.0 * shared + variance)
        X = square + b_square - 2.0 * (score * b_mean + B_z * B_r * c) - (score - b_mean) ** 2
        for side in range(2):
            s = i if side == 0 else j
            g = steps[k, side]
            sign = 1.0 if side == 0 else -1.0
            R[s] += sign * g * (score - b_mean)  # U before C, which it needs as it was before the match
            U[s] = max(U[s] + 2.0 * g * (B_z * C[s] - B_r * U[s]) + g * g * X, 0.0)
            C[s] += g * (B_z * strengths.variance[k, side] - B_r * C[s])


@kernel
def play_results(calendar, system, ks, result, since, losses):
    """Log-loss of plain Elo with each of ``ks`` on ``result`` (n, in [−1, 1]), each before it is used, summed over the
    matches from ``since`` on into ``losses`` (one for each K): what :func:`follow_ratings` comes to where strengths
    and results are known.
    """
    R = np.repeat(system.start, ks.size).reshape(-1, ks.size)
    held, ahead = R.copy(), 0
    product, missed = np.ones(ks.size), np.zeros(ks.size)
    nu, nu_D, kappa = system.nu, system.forecast_nu, system.forecast_kappa
    log_kappa, certain = math.log(kappa) if kappa > 0.0 else 0.0, 0.0
    for n in range(calendar.home.size):
        i, j, home = calendar.home[n], calendar.away[n], system.home[n]
        if n >= ahead:
            ahead = calendar.until[n]
            for m in range(n, ahead):
                held[calendar.home[m]], held[calendar.away[m]] = R[calendar.home[m]], R[calendar.away[m]]
        if n == since:
            product[:], missed[:], certain = 1.0, 0.0, 0.0
        S, half = result[n], 0.5 * calendar.weight[n]
        certain -= (1.0 - S * S) * log_kappa
        ours, theirs, our_belief, their_belief = R[i], R[j], held[i], held[j]
        for c in range(ks.size):
            x = nu_D * (our_belief[c] - their_belief[c] + home)
            u = min(abs(x), STEEPEST_PROMISE)
            t = exp_negative(-u)
            product[c] *= 1.0 + t * (kappa + t)  # log D = u + log(1 + κt + t²), of many matches at once
            missed[c] += u - S * x
            gap = ours[c] - theirs[c] + home
            t = tail_of(nu * gap)
            move = half * ks[c] * (S - math.copysign((1.0 - t * t) / (1.0 + t * t), gap))
            ours[c] += move
            theirs[c] -= move
        if n % 16 == 0:
            for c in range(ks.size):
                missed[c] += math.log(product[c])
                product[c] = 1.0
    for c in range(ks.size):
        losses[c] = missed[c] + math.log(product[c]) + certain


@kernel
def expect_ratings(calendar, system, steps, score, R):
    """Move ratings ``R`` (sides) through all matches as if each ended as expected: ``score`` (n, in [−1, 1]) by
    ``steps`` (n × 2).
    """
    for k in range(calendar.home.size):
        i, j = calendar.home[k], calendar.away[k]
        b, _, _ = davidson(system.nu, 0.0, R[i] - R[j] + system.home[k])
        R[i] += steps[k, 0] * (score[k] - b)
        R[j] -= steps[k, 1] * (score[k] - b)
