r"""How well ratings follow strengths that learn: the Gaussian closure at a finite step size.

With ``B_ρ = E b'(Δρ)``, ``B_s = E s'(Δρ)``, ``B_r = E b'(Δr)``, H what a match teaches and e = S − b(Δr):

    ``V = (σ² + γE H²)/2c``,  ``C = (V B_s + γE[He])/(B_r + c)``,  ``U = (C B_s + ½γE e²)/B_r``

with the decay ``c = κB_ρ``, or ``αB_ρ − βB_s`` where winners learn from results. The second moment of H holds the shot
noise α² of random pairing: a team that happens to play more learns more.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.optimize import root_scalar

from kinelo.errors import NoStationaryState
from kinelo.model.dynamics import Learning
from kinelo.theory.moving.alike import StrengthMeans, rating_means, strength_means
from kinelo.theory.moving.moments import Moments, Parts
from kinelo.theory.moving.performance import Results
from kinelo.theory.moving.profile import refuse_unsettled

GOAL = 1e-13
ITERATIONS = 2000
CALM = 0.1


@dataclass(frozen=True)
class Closed:
    """Moments of the closure and the parts of its error."""

    moments: Moments
    parts: Parts


def learning_closure(results: Results, learning: Learning, gamma: float) -> Closed:
    """Moments of a large league that learns, every pair playing; γ = 0 is the limit of small steps."""
    refuse_unsettled(learning)
    V = _strength_variance(results, learning, gamma)
    strength = strength_means(results, V)
    decay, share = _decay(strength, learning), 1.0
    C = V * strength.result_slope / (strength.result_slope + decay)
    U, last = C, float("inf")
    for _ in range(ITERATIONS):
        rating = rating_means(results, V, C, U)
        luck = gamma * _learning_error(strength, rating.with_strength, rating.with_result, learning)
        error = strength.decided - 2 * rating.with_result + rating.square
        new_C = (V * strength.result_slope + luck) / (rating.slope + decay)
        new_U = (new_C * strength.result_slope + gamma * error / 2) / rating.slope
        change = abs(new_C / C - 1) + abs(new_U / U - 1)
        if change > last:
            share = max(0.7 * share, CALM)
        last = change
        C, U = C + share * (new_C - C), U + share * (new_U - U)
        if change <= GOAL:
            lag = decay / (rating.slope + decay)
            ratio = strength.result_slope / rating.slope
            noise = gamma * error / (2 * rating.slope) + (ratio - 2) * luck / (rating.slope + decay)
            return Closed(Moments(V, C, U), Parts(noise, V * lag, V * (1 - ratio) ** 2 * (1 - lag)))
    raise NoStationaryState(f"The closure was not solved at gamma = {gamma:g}; take a smaller gamma, or simulate.")


def _strength_variance(results: Results, learning: Learning, gamma: float) -> float:
    """Strengths do not know of ratings, so V is found first, alone."""

    def excess(V: float) -> float:
        strength = strength_means(results, V)
        return learning.diffusion**2 + gamma * _learned_square(strength, learning) - 2 * V * _decay(strength, learning)

    low, high = 0.0, learning.diffusion**2 / (2 * learning.pull * results.outcome.steepest)
    while excess(high) > 0:
        low, high = high, 1.5 * high
    return float(root_scalar(excess, bracket=(low, high), method="brentq", xtol=1e-15 * high).root)


def _decay(strength: StrengthMeans, learning: Learning) -> float:
    if learning.on == "expected":
        return learning.pull * strength.slope
    return learning.alpha * strength.slope - learning.beta * strength.result_slope


def _learned_square(strength: StrengthMeans, learning: Learning) -> float:
    """``E H²``."""
    if learning.on == "expected":
        return learning.alpha**2 + learning.pull**2 * strength.square
    both = -2 * learning.alpha * learning.beta * strength.product
    return learning.alpha**2 * (1 + strength.square) + both + learning.beta**2 * strength.decided


def _learning_error(strength: StrengthMeans, with_strength: float, with_result: float, learning: Learning) -> float:
    """``E[He]``."""
    if learning.on == "expected":
        return -learning.pull * (strength.product - with_strength)
    return -learning.alpha * (strength.product - with_strength) + learning.beta * (strength.decided - with_result)
