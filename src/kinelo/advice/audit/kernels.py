r"""Compiled loops of the audit, over matches in order of date.

**Model.** Strengths on the scale of the ratings, ``P(S) ∝ e^{νSz} κ^{1−|S|}`` with ``z = θ_i − θ_j + h`` (Davidson).
From one match of a side to its next, dt years later, ``θ ← φθ + ε`` with ``φ = e^{−ω dt}`` and
``Var ε = φ²a² + y²(1 − φ²)/2ω``: a per match, y per root year. A newcomer's θ is normal about a level.

**Filter.** Each side is normal with mean m and variance v; a match is a quadrature over
z ~ N(m_i − m_j + h, v_i + v_j) that gives the probability of the result and the moments of z after it.

**Calendar.** Errors of Elo with step γ, linear in them, over the matches really played: with α = γμ, μ = E b' of the
match and q = Var S, a side's V = Var θ, C = Cov(θ, r), U = Var r move by ``C ← (1 − α)C + αV``,
``U ← (1 − α)²U + 2α(1 − α)C + α²(V + E_j) + γ²q``, ``E = V − 2C + U``. Since this is linear, each source of error
(luck, movement, unknown starts) has a triple of its own.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.play.formula import kernel

YEAR = 365.25
STEEPEST = 300.0
# Places in the vector of what the model knows.
PER_MATCH, PER_YEAR, RETURN, START, LEVEL, HOME, KAPPA, NU = range(8)
LATE = 2 * YEAR
"""Sides that enter this long after the first match are newcomers at the level of late entrants."""


@kernel
def filter_all(home, away, S, neutral, day, p, x, weight, m, v, last, likelihood, gap, doubt):
    """Log-likelihood of each result, and mean and variance of z before it; days count from the first match."""
    a, y, omega, v0, level = p[PER_MATCH] ** 2, p[PER_YEAR] ** 2, p[RETURN], p[START] ** 2, p[LEVEL]
    h, kappa, nu = p[HOME], p[KAPPA], p[NU]
    log_kappa = math.log(kappa) if kappa > 0.0 else 0.0
    for k in range(S.size):
        for side in range(2):
            i = home[k] if side == 0 else away[k]
            if last[i] < 0:
                m[i] = level if day[k] > LATE else 0.0
                v[i] = v0
            else:
                dt = (day[k] - last[i]) / YEAR
                phi = math.exp(-omega * dt)
                m[i] *= phi
                v[i] = phi * phi * (v[i] + a) + y * (1.0 - phi * phi) / (2.0 * omega)
            last[i] = day[k]
        i, j = home[k], away[k]
        z = m[i] - m[j] + (0.0 if neutral[k] else h)
        both = v[i] + v[j]
        sd = math.sqrt(both)
        gap[k] = z
        doubt[k] = both
        L = 0.0
        M1 = 0.0
        M2 = 0.0
        for n in range(x.size):
            u = nu * (z + sd * x[n])
            u = min(max(u, -STEEPEST), STEEPEST)
            e = math.exp(u)
            like = weight[n] * math.exp(S[k] * u) / (e + 1.0 / e + kappa)
            L += like
            M1 += like * x[n]
            M2 += like * x[n] * x[n]
        M1 /= L
        M2 /= L
        likelihood[k] = math.log(L) + (1.0 - abs(S[k])) * log_kappa
        shift = sd * M1 / both
        left = (1.0 - M2 + M1 * M1) / both
        m[i] += v[i] * shift
        m[j] -= v[j] * shift
        v[i] -= v[i] * v[i] * left
        v[j] -= v[j] * v[j] * left


@kernel
def expectations(gap, doubt, p, x, weight, mu, q, entropy, surprise):
    """Mean slope, variance and entropy of each result, z ~ N(gap, doubt), and the entropy of its mean probabilities."""
    kappa, nu = p[KAPPA], p[NU]
    log_kappa = math.log(kappa) if kappa > 0.0 else 0.0
    for k in range(gap.size):
        sd = math.sqrt(doubt[k])
        mu[k] = 0.0
        q[k] = 0.0
        entropy[k] = 0.0
        win = 0.0
        loss = 0.0
        for n in range(x.size):
            u = nu * (gap[k] + sd * x[n])
            u = min(max(u, -STEEPEST), STEEPEST)
            e = math.exp(u)
            D = e + 1.0 / e + kappa
            b = (e - 1.0 / e) / D
            spread = (e + 1.0 / e) / D - b * b
            mu[k] += weight[n] * nu * spread
            q[k] += weight[n] * spread
            entropy[k] += weight[n] * (math.log(D) - b * u - kappa / D * log_kappa)
            win += weight[n] * e / D
            loss += weight[n] / (e * D)
        tie = max(1.0 - win - loss, 1e-300)
        surprise[k] = -win * math.log(win) - loss * math.log(loss) - tie * math.log(tie)


@kernel
def calendar(home, away, game_weight, day, p, gamma, gap, mu, q, entropy, x, weight, since, state, loss):
    """Expected loss of matches from ``since`` on, and sums over their sides: noise, lag, newcomers, bias, Cov, Var r.

    ``state`` has a row per side: last day, mean strength and rating, luck's U, then V, C, U of movement and of starts.
    """
    a, y, omega, v0, level = p[PER_MATCH] ** 2, p[PER_YEAR] ** 2, p[RETURN], p[START] ** 2, p[LEVEL]
    kappa, nu = p[KAPPA], p[NU]
    sums = np.zeros(7)
    for k in range(home.size):
        for side in range(2):
            s = state[home[k] if side == 0 else away[k]]
            if s[0] < 0.0:
                s[1] = level if day[k] > LATE else 0.0
                s[7] = v0
            else:
                phi = math.exp(-omega * (day[k] - s[0]) / YEAR)
                square = phi * phi
                s[1] *= phi
                s[4] = square * (s[4] + a) + y * (1.0 - square) / (2.0 * omega)
                s[5] *= phi
                s[7] *= square
                s[8] *= phi
            s[0] = day[k]
        s, t = state[home[k]], state[away[k]]
        lag_s, lag_t = s[4] - 2.0 * s[5] + s[6], t[4] - 2.0 * t[5] + t[6]
        new_s, new_t = s[7] - 2.0 * s[8] + s[9], t[7] - 2.0 * t[8] + t[9]
        bias_s, bias_t = s[2] - s[1], t[2] - t[1]
        if k >= since:
            sums[0] += s[3] + t[3]
            sums[1] += lag_s + lag_t
            sums[2] += new_s + new_t
            sums[3] += (bias_s - bias_t) ** 2
            sums[4] += s[5] + s[8] + t[5] + t[8] + (s[1] - t[1]) * (s[2] - t[2])
            sums[5] += s[3] + s[6] + s[9] + t[3] + t[6] + t[9] + (s[2] - t[2]) ** 2
            sums[6] += mu[k]
            sd = math.sqrt(s[3] + t[3] + lag_s + lag_t + new_s + new_t)
            u = nu * gap[k]
            e = math.exp(min(max(u, -STEEPEST), STEEPEST))
            D = e + 1.0 / e + kappa
            b = (e - 1.0 / e) / D
            spread = (e + 1.0 / e) / D - b * b
            wrong = 0.0
            for n in range(x.size):
                d = nu * (bias_s - bias_t + sd * x[n])
                f = math.exp(min(max(u + d, -STEEPEST), STEEPEST))
                wrong += weight[n] * (math.log((f + 1.0 / f + kappa) / D) - b * d)
            loss[k - since] = entropy[k] + wrong * (q[k] / spread)
        g = gamma * game_weight[k]
        A = g * mu[k]
        B = 1.0 - A
        pull = A * (bias_s - bias_t)
        s[2] -= pull
        t[2] += pull
        luck = g * g * q[k]
        s[3], t[3] = B * B * s[3] + A * A * t[3] + luck, B * B * t[3] + A * A * s[3] + luck
        s[6] = B * B * s[6] + 2.0 * A * B * s[5] + A * A * (s[4] + lag_t)
        t[6] = B * B * t[6] + 2.0 * A * B * t[5] + A * A * (t[4] + lag_s)
        s[9] = B * B * s[9] + 2.0 * A * B * s[8] + A * A * (s[7] + new_t)
        t[9] = B * B * t[9] + 2.0 * A * B * t[8] + A * A * (t[7] + new_s)
        s[5] = B * s[5] + A * s[4]
        t[5] = B * t[5] + A * t[4]
        s[8] = B * s[8] + A * s[7]
        t[8] = B * t[8] + A * t[7]
    return sums


@kernel
def play_again(home, away, neutral, day, p, normal_home, normal_away, uniform, theta, last, S, gap):
    """Draw strengths and results of the whole calendar from the model, and keep the gaps they were drawn from."""
    a, y, omega, v0, level = p[PER_MATCH] ** 2, p[PER_YEAR] ** 2, p[RETURN], p[START], p[LEVEL]
    h, kappa, nu = p[HOME], p[KAPPA], p[NU]
    for k in range(home.size):
        for side in range(2):
            i = home[k] if side == 0 else away[k]
            draw = normal_home[k] if side == 0 else normal_away[k]
            if last[i] < 0:
                theta[i] = (level if day[k] > LATE else 0.0) + v0 * draw
            else:
                phi = math.exp(-omega * (day[k] - last[i]) / YEAR)
                change = phi * phi * a + y * (1.0 - phi * phi) / (2.0 * omega)
                theta[i] = phi * theta[i] + math.sqrt(change) * draw
            last[i] = day[k]
        gap[k] = theta[home[k]] - theta[away[k]]
        u = nu * (gap[k] + (0.0 if neutral[k] else h))
        e = math.exp(min(max(u, -STEEPEST), STEEPEST))
        D = e + 1.0 / e + kappa
        S[k] = 1.0 if uniform[k] * D < e else (0.0 if uniform[k] * D < e + kappa else -1.0)


@kernel
def elo(home, away, S, neutral, game_weight, gamma, h, kappa, nu, R, before_home, before_away):
    """Classic Elo: ratings of both sides before each match."""
    for k in range(S.size):
        i, j = home[k], away[k]
        before_home[k] = R[i]
        before_away[k] = R[j]
        u = nu * (R[i] - R[j] + (0.0 if neutral[k] else h))
        e = math.exp(min(max(u, -STEEPEST), STEEPEST))
        change = gamma * game_weight[k] * (S[k] - (e - 1.0 / e) / (e + 1.0 / e + kappa))
        R[i] += change
        R[j] -= change
