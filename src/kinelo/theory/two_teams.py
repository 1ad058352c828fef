r"""Two teams, exactly: the law of the gap z of their ratings, and of the gap D of their strengths where form moves it.

A match moves the gap by ``z' = z + g(S − b(z))``, g the sum of both steps; n results that count together by the sum of
n such changes with b frozen. The mean of any function u under the stationary law is the constant c of Poisson's
equation ``u − c = h − Ph`` with the backward operator ``Ph(D, z) = E h(D', z')``. h is a polynomial through Chebyshev
nodes in z, on an interval so wide that nothing changes when it is widened, times a Hermite series in D, whose degrees
form damps one by one: ``E[h_k(D') | D] = e^{−ωk} h_k(D)``. Match by match and by rounds are the same here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinelo.errors import InputError
from kinelo.model.dynamics import Form
from kinelo.model.expectation import outcome_probabilities
from kinelo.model.schedule import Period
from kinelo.model.strength import Fixed, Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.pair_means import hermite_rows, normal_nodes, smooth
from kinelo.theory.teams import Teams

GAP_AGREEMENT = 1e-10, 1e-7
"""Two resolutions agree to this much, at rest and with form, where they cost more."""
MOST_GAP_UNKNOWNS = 1000, 1500
"""Unknowns, likewise."""
LEAST_LUCK = 1e-9
"""Variance of a result, and slope of b in parts of its largest, below which they count as 0."""
INTERVAL_WIDTHS = 6.0, 9.0
"""Standard deviations that the interval reaches, with form and at rest."""


@dataclass(frozen=True)
class GapLaw:
    """Moments of the rating gap z of two teams, the first less the second, just before a match.

    Attributes
    ----------
    moments
        E z, E z², E z³, E z⁴.
    shared
        Cov(z, D) with the gap of their strengths, 0 where those stand still.
    """

    moments: tuple[float, float, float, float]
    shared: float = 0.0

    @property
    def mean(self) -> float:
        """E z."""
        return self.moments[0]

    @property
    def variance(self) -> float:
        """Var z."""
        return self.moments[1] - self.moments[0] ** 2


def exact_law(system: RatingSystem, teams: Teams, dynamics: object = None) -> bool:
    """Whether the exact law is known: two teams, every pair playing, steps that do not change, at rest or with form."""
    return teams.finite and _is_known(system, teams.strengths, dynamics)


def _is_known(system: RatingSystem, strengths: Strength, dynamics: object) -> bool:
    if strengths.teams != 2 or not system.pairing.constant:
        return False
    if not isinstance(system.gamma, float | tuple):
        return False
    if dynamics is None:
        return True
    normal = isinstance(strengths, Fixed | Normal)
    return isinstance(dynamics, Form) and normal and not isinstance(system.schedule, Period)


def gap_law(system: RatingSystem, strengths: Strength, form: Form | None = None, *, quick: bool = False) -> GapLaw:
    """The stationary law of the rating gap of two teams; ``quick`` is content with about five digits.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> law = gap_law(RatingSystem(Tanh(nu=0.5), gamma=0.2), Fixed([0.0, 0.0]))
    >>> round(law.moments[1], 8), round(law.moments[3] / law.moments[1] ** 2, 4)
    (0.48449931, 2.6973)
    """
    if not _is_known(system, strengths, form):
        raise InputError("The exact law of the gap is that of 2 teams with one step each, at rest or with form.")
    chain, moving = _Chain(system, strengths, form), form is not None
    # As many nodes as b has turns in reach.
    degrees, count, last = (14, 26 + int(4 * chain.reach * system.outcome.nu), None) if moving else (1, 60, None)
    while True:
        moments = chain.moments(degrees, count)
        seen = [k for k in range(5) if not moving or k not in (2, 3)]
        change = math.inf if last is None else max(abs(moments[k] - last[k]) / max(1, abs(moments[k])) for k in seen)
        fine = degrees * count > MOST_GAP_UNKNOWNS[moving]
        if quick or change <= GAP_AGREEMENT[moving] or (fine and change <= 1e-3):
            return GapLaw((moments[0], moments[1], moments[2], moments[3]), moments[4])
        if fine:
            raise InputError(f"The law of the gap was not resolved at gamma = {system.gamma}; take a smaller one.")
        last = moments
        degrees, count = (degrees + 4, count + 12) if moving else (1, 3 * count // 2)
        chain.reach *= 1.05


class _Chain:
    """The chain of (D, z) in units that a polynomial can take."""

    def __init__(self, system: RatingSystem, strengths: Strength, form: Form | None) -> None:
        self._outcome, self._form = system.outcome, form
        self._step = float(system.gammas(2).sum())
        self._strengths = strengths
        self._together = system.schedule.matches if isinstance(system.schedule, Period) else 1
        self._centre, self.reach = self._range(strengths)

    def _range(self, strengths: Strength) -> tuple[float, float]:
        """Where the mean gap lies as steps vanish, and how far from it the law reaches."""
        outcome = self._outcome
        gap = float(strengths.theta[0] - strengths.theta[1])
        spread = math.hypot(*strengths.sigma)
        widening = 0.0 if self._form is None else math.sqrt(2) * self._form.spread
        wide = math.hypot(spread, widening)
        score = float(smooth(outcome.b, outcome.nu, wide)(np.array(gap)))
        tie = float(smooth(outcome.tie_probability, outcome.nu, wide)(np.array(gap))) if outcome.has_ties else 0.0
        low, high = -outcome.saturation, outcome.saturation
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if float(outcome.b(middle)) < score else (low, middle)
        # Where the stronger side nearly always wins, results are nearly certain and shake the gap little.
        luck = max(1 - tie - score**2, LEAST_LUCK)
        slope = max(float(outcome.b_prime(low)), LEAST_LUCK * outcome.steepest)
        noise = self._step * self._together * luck / (2 * slope)
        widths = INTERVAL_WIDTHS[self._form is None]
        return low, widths * math.sqrt(noise + widening**2 + noise**2 * outcome.nu**2) + 2 * self._step * self._together

    def _chances(self, degrees: int) -> list[tuple[float, Array]]:
        """Each change of z that results can bring, in results, with its probability as a matrix on Hermite degrees."""
        if self._form is None:
            win, tie, loss = (float(one[0, 1]) for one in outcome_probabilities(self._outcome, self._strengths))
            law = np.array([1.0])
            for _ in range(self._together):
                law = np.convolve(law, [loss, tie, win])
            return [(k - self._together, np.array([[p]])) for k, p in enumerate(law) if p > 1e-18]
        outcome, own = self._outcome, math.sqrt(2) * self._form.spread
        x, weight = normal_nodes(own * outcome.nu, 0.25, 9.0)
        hermite = hermite_rows(x, degrees)
        gap = float(self._strengths.theta[0] - self._strengths.theta[1]) + own * x
        spread = math.hypot(*self._strengths.sigma)
        mean = smooth(outcome.b, outcome.nu, spread)(gap)
        tie = smooth(outcome.tie_probability, outcome.nu, spread)(gap) if outcome.has_ties else np.zeros_like(gap)
        kept = np.exp(-self._form.rate * np.arange(degrees))
        chances = ((1, (1 - tie + mean) / 2), (0, tie), (-1, (1 - tie - mean) / 2))
        return [(change, (hermite * (weight * p)) @ hermite.T * kept) for change, p in chances if p.any()]

    def moments(self, degrees: int, count: int) -> list[float]:
        """E z … E z⁴ and Cov(z, D)."""
        x: Array = np.cos(np.pi * (np.arange(count) + 0.5) / count)
        z = self._centre + self.reach * x
        vander = np.polynomial.chebyshev.chebvander
        # Block (k, l) holds what degree l of D brings to degree k, over nodes and polynomials of z.
        blocks = np.zeros((degrees, count, degrees, count))
        np.einsum("kikj->kij", blocks)[...] = vander(x, count - 1)
        frozen = self._together * np.asarray(self._outcome.b(z))
        for change, chance in self._chances(degrees):
            after = np.clip((z + self._step * (change - frozen) - self._centre) / self.reach, -1.0, 1.0)
            blocks -= chance[:, None, :, None] * vander(after, count - 1)[:, None, :]
        system = blocks.reshape(degrees * count, degrees * count)
        # In the unknowns, the constant gives way to c.
        system[:, 0] = 0.0
        system[:count, 0] = 1.0
        right = np.zeros((degrees * count, 5))
        right[:count, :4] = z[:, None] ** np.arange(1, 5)
        widening = 0.0
        if self._form is not None:
            widening = math.sqrt(2) * self._form.spread
            right[count : 2 * count, 4] = z
        found = np.linalg.solve(system, right)[0]
        values: Sequence[float] = found.tolist()
        return [*values[:4], widening * values[4]]
