r"""The step size at which ratings are on the scale of the strengths.

Performance noise shrinks the map R(θ), rating noise stretches it, and rating noise grows with γ: at one step size γ*
the slope is 1. The first estimate ``2νσ²`` is where the variances of ratings and performances agree.
"""

from __future__ import annotations

from scipy.optimize import root_scalar

from kinelo.equilibrium.continuum import Continuum
from kinelo.equilibrium.crowd import representatives
from kinelo.equilibrium.limit import balanced_ratings, fluctuating
from kinelo.equilibrium.noise import CALM, GROWTH, WHOLE_COVARIANCE, Fluctuation
from kinelo.equilibrium.state import regression_slope
from kinelo.equilibrium.teams import Teams, teams_of
from kinelo.equilibrium.threads import few_threads
from kinelo.errors import InputError
from kinelo.model.expectation import Closure
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array

UNBIASED = 1e-9


def unbiased_gamma(outcome: Outcome, strengths: Strength | Continuum, closure: Closure = "exact") -> float:
    """Step size at which the regression of stationary ratings on strengths has slope 1, under AllPlayAll.

    Strengths that do not vary are rated without bias only by infinitely small steps: the answer is then 0.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> round(unbiased_gamma(Tanh(nu=0.5), Continuum(theta=(4, 10), sigma=1.0)), 3)
    0.613
    """
    if not isinstance(outcome, Outcome):
        raise InputError(f"outcome must be Tanh, Probit or Davidson, not {outcome!r}.")
    teams = teams_of(strengths)
    if teams.theta.max() == teams.theta.min():
        raise InputError("All teams have the same mean strength, so no step size changes the slope of their ratings.")
    if teams.finite and teams.size > WHOLE_COVARIANCE:
        teams, _ = representatives(teams)
    with few_threads(teams.size):
        still = balanced_ratings(outcome, teams, closure, teams.theta, dense=True).positions
        return _crossing(outcome, teams, closure, still)


def _crossing(outcome: Outcome, teams: Teams, closure: Closure, still: Array) -> float:
    """Climb to the first step size whose slope is above 1, each solved from the one before, and refine from there."""

    def slope(rating: Array) -> float:
        return regression_slope(teams.theta, rating, teams.mass)

    def settled(gamma: float, guess: Fluctuation | None) -> Fluctuation:
        start = still if guess is None else guess.rating
        return fluctuating(RatingSystem(outcome, gamma=gamma), teams, closure, start, guess=guess)

    if slope(still) >= 1 - UNBIASED:
        return 0.0
    low, high = 0.0, min(0.8 * outcome.sharpness * teams.typical_sigma**2, CALM / outcome.steepest)
    below, above = None, settled(high, None)
    while slope(above.rating) < 1:
        low, high, below = high, GROWTH * high, above
        above = settled(high, below)
    near = above if below is None else below

    def excess(gamma: float) -> float:
        return (slope(settled(gamma, near).rating) if gamma > 0 else slope(still)) - 1

    return float(root_scalar(excess, bracket=(low, high), method="brentq", xtol=1e-6 * high).root)
