r"""A league rated by Glicko with strengths at rest, noise included: a Gaussian closure.

With ``Δ_ij ~ N(m_i − m_j, U_i + U_j)`` and ε = v₀I, ``v₀ = c/√I``: v = v₀(1 + 3ε/8) discounts results, and
``γ_i = νv₀(1 − 5ε/8)`` is the mean step. ``B = ⟨g²E b'⟩``, ``I = νB``, ``U = γ⟨g²E(S − b)²⟩/2B``. A team's rating and
variance are correlated, ``X = Cov(v, r) = −v₀²I'U/(2v₀I + γB)``: far from its opponents a team learns less. The means
solve

``⟨g(s − E b)⟩ − X_iB/v₀ − ⟨X_j(6ν²/π²)g³(2gE b' + g²(m_i − m_j)E b'')⟩ = W/γ_i``  (all b at gΔ).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinelo.errors import NoStationaryState
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.validation import Array
from kinelo.theory.anderson import Mixing
from kinelo.theory.continuum import Continuum
from kinelo.theory.moving.deviation import GLICKO, discount
from kinelo.theory.moving.glicko import DeviationState, GlickoLeague, settled_deviations
from kinelo.theory.pair_means import normal_nodes

GOAL = 1e-12
ITERATIONS = 600


def noisy_deviations(outcome: Outcome, strengths: Strength | Continuum, growth: float) -> DeviationState:
    """Where Glicko settles with the noise of its ratings: means, deviations, Var r and the travelling speed."""
    league = GlickoLeague(outcome, strengths, growth)
    still = settled_deviations(outcome, strengths, growth)
    size, mixing = league.teams.size, Mixing()
    state = _State(still.rating, still.deviation**2, still.deviation**2 / 2, still.travel_speed)
    change, settled = float("inf"), state.base
    for _ in range(ITERATIONS):
        image, settled = _image(league, state)
        change = float(np.abs(image.vector() - state.vector()).max() * league.nu)
        if change <= GOAL:
            break
        point = mixing.propose(state.vector(), image.vector(), max(change, 1e-3 * GOAL))
        state = _State(
            point[:size], np.maximum(point[size : 2 * size], image.base / 4),
            np.maximum(point[2 * size : -1], image.spread / 4), float(point[-1]),
        )  # fmt: skip
    if change > 1e-8:
        raise NoStationaryState(f"The noise of Glicko's ratings was not found with growth = {growth:g}.")
    return DeviationState(state.rating, np.sqrt(settled), state.spread, state.speed, league.teams)


@dataclass(frozen=True)
class _State:
    """Mean ratings, v₀, U, and W."""

    rating: Array
    base: Array
    spread: Array
    speed: float

    def vector(self) -> Array:
        return np.concatenate([self.rating, self.base, self.spread, [self.speed]])


def _image(league: GlickoLeague, state: _State) -> tuple[_State, Array]:
    nu, weights = league.nu, league.weights
    excess = league.growth**2 / state.base
    variance = state.base * (1 + 3 * excess / 8)
    g = discount(nu, variance)[None, :]
    gap = state.rating[:, None] - state.rating[None, :]
    mean, slope, curve, square = _averages(league, g, gap, state.spread)
    pull = (weights * g**2 * slope).sum(axis=1)
    information = nu * pull
    base = league.growth / np.sqrt(information)
    step = nu * base * (1 - 5 * base * information / 8)
    shake = (weights * g**2 * (1 - 2 * league.results * mean + square)).sum(axis=1)
    spread = step * shake / (2 * pull)
    tilt = nu * (weights * g**3 * curve).sum(axis=1)
    linked = -(base**2) * tilt * spread / (2 * base * information + step * pull)
    others = weights * linked[None, :] * (GLICKO / 2 * nu**2) * g**3 * (2 * g * slope + g**2 * gap * curve)
    drift = (weights * g * (league.results - mean)).sum(axis=1) - linked * pull / base - others.sum(axis=1)
    shift, change = league.newton(drift, weights * g**2 * slope, step, state.speed)
    image = _State(state.rating + shift, base, spread, state.speed + change)
    return image, base * (1 + 3 * base * information / 8)


def _averages(league: GlickoLeague, g: Array, gap: Array, spread: Array) -> tuple[Array, Array, Array, Array]:
    """``E b, E b', E b'', E b²`` at gΔ for all pairs."""
    width = np.sqrt(spread[:, None] + spread[None, :])
    totals = [np.zeros_like(gap) for _ in range(4)]
    for x, weight in zip(*normal_nodes(league.nu * float(width.max()))):
        z = g * (gap + x * width)
        b, slope = league.outcome.b(z), league.outcome.b_prime(z)
        for total, value in zip(totals, (b, slope, -2 * league.nu * b * slope, b * b)):
            total += weight * value
    return totals[0], totals[1], totals[2], totals[3]
