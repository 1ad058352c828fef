"""A readable twin of the loop for moving leagues: plain Python, one match after the other, the same draws."""

import math

import numpy as np
from scipy.stats import norm

from kinelo.play.stream import draw, realisation_keys, redraw, unit


def further(bits, k):
    return np.uint64(redraw(np.uint64(bits), np.uint64(k)))


def uniform(bits, k):
    return float(unit(further(bits, k)))


def normal(bits, k):
    # The stream's normal numbers come from the centre of each of 2**52 cells.
    return float(norm.ppf((int(further(bits, k)) >> 12) * 2.0**-52 + 2.0**-53))


class SlowLeague:
    """Teams with strength ``rho``, rating ``r``, deviation ``v``; T counts candidate matches per team."""

    def __init__(self, outcome, theta, sigma, rating, seed):
        self.outcome, self.sigma, self.seed = outcome, sigma, seed
        self.rho, self.level, self.r = list(theta), list(theta), list(rating)
        self.size = len(theta)
        self.since = [0] * self.size
        self.key = realisation_keys(seed, 1)[0]

    def pair(self, bits):
        first = (int(bits) * self.size) >> 64
        second = (((int(bits) * self.size) % 2**64) * (self.size - 1)) >> 64
        return first, second + (second >= first)

    def result(self, i, j, bits, used):
        x = self.rho[i] - self.rho[j]
        if self.sigma is not None:
            x += self.sigma * (normal(bits, used) - normal(bits, used + 1))
            used += 2
        chance, tie = float(self.outcome.win_probability(x)), float(self.outcome.tie_probability(x))
        u = uniform(bits, used)
        return (1.0 if u < chance else 0.0 if u < chance + tie else -1.0), used + 1

    def matches(self, count):
        for match in range(count):
            bits = draw(self.key[0], self.key[1], np.uint64(match))
            yield match, bits, *self.pair(bits)

    def learn(self, count, gamma, dynamics):
        b = self.outcome.b
        for _, bits, i, j in self.matches(count):
            S, used = self.result(i, j, bits, 1)
            gap, surprise = float(b(self.rho[i] - self.rho[j])), S - float(b(self.r[i] - self.r[j]))
            X = S if dynamics.on == "result" else gap
            self.r[i] += gamma * surprise
            self.r[j] -= gamma * surprise
            shock = math.sqrt(gamma) * dynamics.diffusion
            self.rho[i] += gamma * (dynamics.alpha * (1 - gap) + dynamics.beta * X) + shock * normal(bits, used)
            self.rho[j] += gamma * (dynamics.alpha * (1 + gap) - dynamics.beta * X) + shock * normal(bits, used + 1)

    def form(self, count, gamma, omega, V, turnover=None):
        for match, bits, i, j in self.matches(count):
            for k, team in enumerate((i, j)):
                kept = math.exp(-omega * (match - self.since[team]) * 2 / self.size)
                away = (self.rho[team] - self.level[team]) * kept
                self.rho[team] = self.level[team] + away + math.sqrt(V * (1 - kept**2)) * normal(bits, 1 + k)
                self.since[team] = match
            S, used = self.result(i, j, bits, 3)
            surprise = S - float(self.outcome.b(self.r[i] - self.r[j]))
            self.r[i] += gamma * surprise
            self.r[j] -= gamma * surprise
            if turnover is not None and uniform(bits, used) < 2 * turnover.rate:
                gone = self.leaver(turnover.leaving, further(bits, used + 1))
                pick = (int(further(bits, used + 2)) * len(turnover.pool)) >> 64
                self.level[gone] = float(turnover.pool[pick])
                self.rho[gone] = self.level[gone] + math.sqrt(V) * normal(bits, used + 3)
                self.r[gone], self.since[gone] = turnover.start, match + 1

    def leaver(self, leaving, bits):
        if leaving == "random":
            return (int(bits) * self.size) >> 64
        return self.rho.index(min(self.rho) if leaving == "weakest" else max(self.rho))

    def glicko(self, count, growth, start, largest):
        nu, v = self.outcome.nu, [start**2] * self.size
        for match, bits, i, j in self.matches(count):
            S, _ = self.result(i, j, bits, 1)
            for team in (i, j):
                v[team] = min(v[team] + growth**2 * (match - self.since[team]) * 2 / self.size, largest**2)
                self.since[team] = match
            moves = []
            for me, other, score in ((i, j, S), (j, i, -S)):
                g = 1 / math.sqrt(1 + 12 * nu**2 * v[other] / math.pi**2)
                z = nu * g * (self.r[me] - self.r[other])
                left = 1 / (1 / v[me] + nu**2 * g**2 / math.cosh(z) ** 2)
                moves.append((me, left, nu * g * left * (score - math.tanh(z))))
            for me, left, gain in moves:
                v[me] = left
                self.r[me] += gain
        return v
