r"""Two teams, exactly: ``z' = z + 2γ(S − b(z))`` for the gap z of their ratings.

The mean of any function u under the stationary law is the constant c of Poisson's equation ``u − c = h − Ph``, with P
the backward operator ``Ph(z) = E h(z')``; h is a polynomial through Chebyshev nodes of an interval so wide that nothing
changes when it is widened. Match by match and by rounds are the same here.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.errors import InputError
from kinelo.model.expectation import outcome_probabilities
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.validation import Array, positive
from kinelo.theory.limit import balanced_ratings
from kinelo.theory.teams import teams_of

AGREED = 1e-11
MOST = 1600


def gap_moments(outcome: Outcome, strengths: Strength, gamma: float) -> tuple[float, float]:
    """E z and E z² of the stationary rating gap of two teams, the first less the second.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> from kinelo.model.strength import Fixed
    >>> round(gap_moments(Tanh(nu=0.5), Fixed([0.0, 0.0]), gamma=0.2)[1], 8)
    0.48449931
    """
    if strengths.teams != 2:
        raise InputError(f"The exact law of the gap is that of 2 teams, not {strengths.teams}.")
    win, tie, loss = (float(one[0, 1]) for one in outcome_probabilities(outcome, strengths))
    chances = ((1.0, win), (0.0, tie), (-1.0, loss))
    step = 2 * positive("gamma", gamma)
    gap = float(np.ptp(balanced_ratings(outcome, teams_of(strengths), "exact", strengths.theta, dense=True).positions))
    reach, count, last = gap + 2 * step + 9 * math.sqrt(step / (2 * float(outcome.b_prime(gap)))), 60, None
    while True:
        found = _moments(outcome, chances, step, reach, count)
        if last is not None and max(abs(a - b) / max(1, abs(a)) for a, b in zip(found, last)) <= AGREED:
            return found
        if count > MOST:
            raise InputError(f"The law of the gap was not resolved at gamma = {gamma:g}; take a smaller one.")
        last, count, reach = found, 2 * count, 1.2 * reach


def _moments(
    outcome: Outcome, chances: tuple[tuple[float, float], ...], step: float, reach: float, count: int
) -> tuple[float, float]:
    x: Array = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    z = reach * x
    # In the unknowns, the constant polynomial gives way to c.
    system = np.polynomial.chebyshev.chebvander(x, count - 1)
    for result, chance in chances:
        if chance > 0:
            after = np.clip((z + step * (result - outcome.b(z))) / reach, -1.0, 1.0)
            system -= chance * np.polynomial.chebyshev.chebvander(after, count - 1)
    system[:, 0] = 1.0
    first, second = np.linalg.lstsq(system, np.column_stack([z, z * z]), rcond=1e-14)[0][0]
    return float(first), float(second)
