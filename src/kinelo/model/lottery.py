r"""Choosing m of M players: the conditional-Bernoulli law, without enumerating line-ups.

A line-up L is chosen with probability proportional to ``Π_{k∈L} w_k``. The same law arises from independent coins
with odds ``p_k/(1 − p_k) = c w_k`` conditioned on m heads, for any c; with c such that ``Σ p_k = m`` that condition
is likely and every number below stays near 1, however many players there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinelo.model.validation import Array

CACHED_TABLES = 20_000
"""Complex numbers that a processor's second cache holds several times over."""


def balanced_probabilities(weights: Array | None, teams: int, players: int, m: int) -> Array:
    """Coin probabilities ``p_k = c w_k/(1 + c w_k)`` with ``Σ p_k = m`` for each team."""
    if weights is None or m == players:
        return np.full((teams, players), m / players)
    certain = (weights > 0).sum(axis=1) == m
    low, high = np.full(teams, -700.0), np.full(teams, 700.0)
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    for _ in range(200):
        middle = (low + high) / 2
        total = _logistic(log_weights + middle[:, None]).sum(axis=1)
        low, high = np.where(total < m, middle, low), np.where(total < m, high, middle)
    p = _logistic(log_weights + ((low + high) / 2)[:, None])
    p[certain] = weights[certain] > 0
    return p


def _logistic(x: Array) -> Array:
    return np.where(x > 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


@dataclass(frozen=True)
class LotteryTables:
    """What is needed of the lottery: coins, the probability of m heads, and the sequential choice.

    ``selection[team, k, r]`` is the probability that player k is chosen when r of the places are still open.
    """

    coins: Array
    m: int
    heads: Array
    selection: Array

    def characteristic_function(self, rho: Array, u: Array) -> NDArray[np.complex128]:
        """``E e^{iu Σ ρ}`` over line-ups, of shape (teams, len(u)), in O(M m) operations per value."""
        result = np.empty((len(rho), len(u)), dtype=np.complex128)
        # A block of teams at a time, so that the table of the programme stays in the processor's cache.
        size = max(1, CACHED_TABLES // ((self.m + 1) * len(u)))
        for first in range(0, len(rho), size):
            part = slice(first, first + size)
            result[part] = self._some(rho[part], self.coins[part], u) / self.heads[part, None]
        return result

    def _some(self, rho: Array, coins: Array, u: Array) -> NDArray[np.complex128]:
        teams, players = rho.shape
        phi = np.zeros((self.m + 1, teams, len(u)), dtype=np.complex128)
        phi[0] = 1.0
        for k in range(players):
            tails = (1 - coins[:, k])[:, None]
            phase = np.multiply.outer(rho[:, k], u)
            heads = coins[:, k][:, None] * (np.cos(phase) + 1j * np.sin(phase))
            filled = min(k + 1, self.m)
            phi[1 : filled + 1] = tails * phi[1 : filled + 1] + heads * phi[:filled]
            phi[0] *= tails
        return phi[self.m]

    def moments(self, rho: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the sum of a line-up, by the same programme."""
        teams, players = rho.shape
        centre = rho.mean(axis=1)
        mass = np.zeros((self.m + 1, teams))
        first, second = np.zeros_like(mass), np.zeros_like(mass)
        mass[0] = 1.0
        for k in range(players):
            p, x = self.coins[:, k], rho[:, k] - centre
            new, old = slice(1, None), slice(None, -1)
            second[new] = (1 - p) * second[new] + p * (second[old] + 2 * x * first[old] + x**2 * mass[old])
            first[new] = (1 - p) * first[new] + p * (first[old] + x * mass[old])
            mass[new] = (1 - p) * mass[new] + p * mass[old]
            for moment in (mass, first, second):
                moment[0] *= 1 - p
        mean = first[self.m] / self.heads
        variance = second[self.m] / self.heads - mean**2
        # All of rho equal, or all players chosen, leaves rounding noise where the variance is zero.
        floor = 1e-14 * np.maximum(second[self.m] / self.heads, 1e-300)
        return self.m * centre + mean, np.sqrt(np.where(variance > floor, variance, 0.0))


def lottery_tables(coins: Array, m: int) -> LotteryTables:
    """Build the tables by a backward recursion over the players."""
    teams, players = coins.shape
    tail = np.zeros((teams, m + 1))
    tail[:, 0] = 1.0
    selection = np.zeros((teams, players, m + 1))
    for k in range(players - 1, -1, -1):
        p = coins[:, k, None]
        heads = p * np.concatenate([np.zeros((teams, 1)), tail[:, :-1]], axis=1)
        whole = (1 - p) * tail + heads
        with np.errstate(divide="ignore", invalid="ignore"):
            selection[:, k] = np.where(whole > 0, heads / whole, 0.0)
        tail = whole
    return LotteryTables(coins, m, tail[:, m].copy(), selection)
