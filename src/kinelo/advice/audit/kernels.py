r"""Compiled loops of the audit, over matches in order of date.

**Model.** Strengths on the scale of the ratings, ``P(S) ∝ e^{νSz} κ^{1−|S|}`` with ``z = θ_i − θ_j + h`` (Davidson).
From one match of a side to its next, dt years later, ``θ ← φθ + ε`` with ``φ = e^{−ω dt}`` and
``Var ε = φ²a² + y²(1 − φ²)/2ω``: a per match, y per root year. θ counts from the league's own mean M, which follows
those who play: every appearance moves it by 1/n of the way, n sides having been seen. A newcomer's θ is normal about M
plus a level, so that only differences of strength have a meaning, in any era.

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
LEAST_SEEN = 20
"""The league's mean follows no faster than if there were this many sides."""


@kernel
def filter_all(home, away, S, neutral, game_weight, day, p, x, weight, m, v, last, likelihood, gap, doubt, path):
    """Log-likelihood of each result, and mean and variance of z before it; days count from the first match.

    A match of weight w teaches as much as w matches with its result.

    ``path`` keeps both sides' φ, mean and variance before the match and after it, unless it is empty. Returns M.
    """
    a, y, omega, v0, level = p[PER_MATCH] ** 2, p[PER_YEAR] ** 2, p[RETURN], p[START] ** 2, p[LEVEL]
    h, kappa, nu = p[HOME], p[KAPPA], p[NU]
    log_kappa = math.log(kappa) if kappa > 0.0 else 0.0
    M = 0.0
    seen = 0
    for k in range(S.size):
        for side in range(2):
            i = home[k] if side == 0 else away[k]
            phi = 1.0
            if last[i] < 0:
                m[i] = M + (level if day[k] > LATE else 0.0)
                v[i] = v0
                seen += 1
            else:
                dt = (day[k] - last[i]) / YEAR
                phi = math.exp(-omega * dt)
                m[i] = M + phi * (m[i] - M)
                v[i] = phi * phi * (v[i] + a) + y * (1.0 - phi * phi) / (2.0 * omega)
            last[i] = day[k]
            if path.size > 0:
                path[k, side, 0] = phi
                path[k, side, 1] = m[i]
                path[k, side, 2] = v[i]
        i, j = home[k], away[k]
        z = m[i] - m[j] + (0.0 if neutral[k] else h)
        both = v[i] + v[j]
        sd = math.sqrt(both)
        gap[k] = z
        doubt[k] = both
        L = 0.0
        M0 = 0.0
        M1 = 0.0
        M2 = 0.0
        for n in range(x.size):
            u = nu * (z + sd * x[n])
            u = min(max(u, -STEEPEST), STEEPEST)
            e = math.exp(u)
            like = math.exp(S[k] * u) / (e + 1.0 / e + kappa)
            L += weight[n] * like
            if game_weight[k] != 1.0:
                like = like ** game_weight[k]
            like *= weight[n]
            M0 += like
            M1 += like * x[n]
            M2 += like * x[n] * x[n]
        M1 /= M0
        M2 /= M0
        likelihood[k] = math.log(L) + (1.0 - abs(S[k])) * log_kappa
        shift = sd * M1 / both
        left = (1.0 - M2 + M1 * M1) / both
        m[i] += v[i] * shift
        m[j] -= v[j] * shift
        v[i] -= v[i] * v[i] * left
        v[j] -= v[j] * v[j] * left
        M += (m[i] + m[j] - 2.0 * M) / max(seen, LEAST_SEEN)
        if path.size > 0:
            path[k, 0, 3], path[k, 0, 4] = m[i], v[i]
            path[k, 1, 3], path[k, 1, 4] = m[j], v[j]
    return M


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
    M = 0.0
    seen = 0
    for k in range(home.size):
        for side in range(2):
            s = state[home[k] if side == 0 else away[k]]
            if s[0] < 0.0:
                s[1] = M + (level if day[k] > LATE else 0.0)
                s[7] = v0
                seen += 1
            else:
                phi = math.exp(-omega * (day[k] - s[0]) / YEAR)
                square = phi * phi
                s[1] = M + phi * (s[1] - M)
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
        M += (s[1] + t[1] - 2.0 * M) / max(seen, LEAST_SEEN)
    return sums


@kernel
def new_strengths(home, away, day, p, normal, theta, last, strength):
    """Draw strengths of the whole calendar from the model: other sides of the same kind."""
    a, y, omega, v0, level = p[PER_MATCH] ** 2, p[PER_YEAR] ** 2, p[RETURN], p[START], p[LEVEL]
    M = 0.0
    seen = 0
    for k in range(home.size):
        for side in range(2):
            i = home[k] if side == 0 else away[k]
            if last[i] < 0:
                theta[i] = M + (level if day[k] > LATE else 0.0) + v0 * normal[k, side]
                seen += 1
            else:
                phi = math.exp(-omega * (day[k] - last[i]) / YEAR)
                change = phi * phi * a + y * (1.0 - phi * phi) / (2.0 * omega)
                theta[i] = M + phi * (theta[i] - M) + math.sqrt(change) * normal[k, side]
            last[i] = day[k]
            strength[k, side] = theta[i]
        M += (strength[k, 0] + strength[k, 1] - 2.0 * M) / max(seen, LEAST_SEEN)


@kernel
def same_strengths(home, away, path, normal, following, strength):
    """Draw strengths of the very sides that played, given all their results: backwards through the filter's path.

    ``following`` has a row per side: the strength, φ, mean and variance before its next match; φ = 0 where none is.
    """
    for k in range(home.size - 1, -1, -1):
        for side in range(2):
            f = following[home[k] if side == 0 else away[k]]
            m, v = path[k, side, 3], path[k, side, 4]
            if f[1] > 0.0:
                gain = f[1] * v / f[3]
                m += gain * (f[0] - f[2])
                v *= 1.0 - gain * f[1]
            f[0] = m + math.sqrt(max(v, 0.0)) * normal[k, side]
            f[1], f[2], f[3] = path[k, side, 0], path[k, side, 1], path[k, side, 2]
            strength[k, side] = f[0]


@kernel
def results(strength, neutral, p, uniform, S):
    """Draw every result from the strengths of both sides."""
    h, kappa, nu = p[HOME], p[KAPPA], p[NU]
    for k in range(S.size):
        u = nu * (strength[k, 0] - strength[k, 1] + (0.0 if neutral[k] else h))
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
