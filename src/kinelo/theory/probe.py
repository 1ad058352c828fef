r"""One more team: where a team of any strength would settle among the others.

Its rating solves ``Σ_j μ_j b(R − R_j) = t(θ, σ)`` with ``t = Σ_j μ_j s(θ, σ; θ_j, σ_j)``. That gives the map R(θ)
between and beyond the teams of a league, and by implicit differentiation its slope. With rating noise b is averaged
over it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinelo.errors import NoStationaryState
from kinelo.model.expectation import Closure, LeagueWaves, spectral_nodes
from kinelo.model.outcome import Outcome
from kinelo.model.strength import normal_waves
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.fixed_point import GOAL
from kinelo.theory.many_teams import Opponents, results_against
from kinelo.theory.teams import Teams
from kinelo.theory.waves import Waves, wave_nodes

BISECTIONS = 100
FIRST_REACH = 30.0
"""Lengths of the outcome beyond the league in which a rating is looked for first: light tails are flat there."""


@dataclass(frozen=True)
class View:
    """What one more team sees of a stationary state."""

    system: RatingSystem
    teams: Teams
    closure: Closure
    rating: Array
    variance: Array


class ProbedLeague:
    """What a league presents to one more team: the score of a position x with variance v, and its derivatives.

    ``span`` bounds the differences of positions that will be asked for, ``spread`` the noise of either side.
    """

    def __init__(
        self, outcome: Outcome, mass: Array, positions: Array, variances: Array, span: float, spread: float
    ) -> None:
        noisy = variances if variances.any() else None
        waves = Waves(positions, noisy, wave_nodes(outcome, span, spread))
        self._centre, self._u = waves.centre, waves.u
        self._amplitude = waves.nodes.sine * waves.sums(mass[None])[0].conj()

    def score(self, x: Array, variance: Array | float, derivative: int = 0) -> Array:
        """``Σ_j μ_j E b^{(k)}(x − x_j + noise)`` for k = ``derivative``."""
        u = self._u
        waves = normal_waves(x - self._centre, variance, u)
        return (waves @ (self._amplitude * (1j * u) ** derivative)).imag


def target_score(
    outcome: Outcome, teams: Teams, closure: Closure, theta: Array, sigma: float, derivative: int = 0
) -> Array:
    """``t(θ, σ)``, the mean result of one more team against the league, or its derivative in θ."""
    span = float(max(theta.max(), teams.theta.max()) - min(theta.min(), teams.theta.min()))
    if closure == "exact":
        league, centre = teams.strengths.seen_through(outcome, span, sigma), float(teams.theta.mean())
        nodes = spectral_nodes(outcome, span + 2 * max(league.reach_of(sigma), league.reach))
        total = np.zeros(theta.shape)
        for part, phi in LeagueWaves(nodes, league, centre).blocks(2**21):
            waves = league.waves_of(theta, np.asarray(sigma), part.u, centre)
            weight = part.sine * (1j * part.u) ** derivative
            total += (waves @ (weight * (teams.mass @ phi).conj())).imag
        return total
    zero, second = np.zeros(teams.size), derivative + 2
    plain = ProbedLeague(outcome, teams.mass, teams.theta, zero, span, 0.0)
    curved = ProbedLeague(outcome, teams.mass * teams.sigma**2, teams.theta, zero, span, 0.0)
    curvature = sigma**2 * plain.score(theta, 0.0, second) + curved.score(theta, 0.0, second)
    return plain.score(theta, 0.0, derivative) + curvature / 2


def league_field(
    outcome: Outcome, mass: Array, rating: Array, variance: Array, own: Array | float, reach: float
) -> ProbedLeague:
    """The field of a league's ratings, for positions as far as ``reach`` beyond them."""
    spread = float(np.sqrt(max(variance.max(), np.max(own))))
    return ProbedLeague(outcome, mass, rating, variance, float(np.ptp(rating)) + 2 * reach, spread)


def field_around(view: View, target: Array, own: Array | float) -> tuple[ProbedLeague, float, float]:
    """The field of a league and two positions between which a team scores ``target``.

    Under a law with heavy tails b is flat only millions of points away, and waves as long would be needed to look
    there. So the search begins near the league and goes out until the target lies between, or b is flat.
    """
    outcome, rating = view.system.outcome, view.rating
    reach = min(outcome.saturation / 2, float(np.ptp(rating)) + FIRST_REACH / outcome.sharpness)
    while True:
        field = league_field(outcome, view.teams.mass, rating, view.variance, own, reach)
        low, high = float(rating.min()) - reach, float(rating.max()) + reach
        ends = (field.score(np.full(target.shape, end), own) for end in (low, high))
        if reach >= outcome.saturation / 2 or ((next(ends) < target) & (next(ends) > target)).all():
            return field, low, high
        reach = min(4 * reach, outcome.saturation / 2)


def settle(field: ProbedLeague, low: float, high: float, target: Array, own: Array | float) -> Array:
    """Position in [low, high] at which one more team scores ``target``: Newton's method inside a shrinking bracket."""
    below, above = np.full(target.shape, low), np.full(target.shape, high)
    if (target <= field.score(below, own)).any() or (target >= field.score(above, own)).any():
        raise NoStationaryState("A team of this strength wins or loses every match, so its rating never settles.")
    x = (below + above) / 2
    for _ in range(BISECTIONS):
        excess = field.score(x, own) - target
        below, above = np.where(excess < 0, x, below), np.where(excess < 0, above, x)
        with np.errstate(divide="ignore", invalid="ignore"):
            guess = x - excess / field.score(x, own, derivative=1)
        new = np.where((guess >= below) & (guess <= above), guess, (below + above) / 2)
        moved, x = np.abs(new - x).max(), new
        if moved <= 1e-14 * (high - low):
            break
    return x


def probe_rating(view: View, theta: Array, sigma: float) -> Array:
    """Rating R(θ) of one more team."""
    outcome, rating = view.system.outcome, view.rating
    target = target_score(outcome, view.teams, view.closure, theta, sigma)
    own: Array = np.full(theta.shape, view.variance.mean())
    if not own.any():
        return _settle_without_noise(view, target)[1]
    opponents = Opponents(view.system, view.teams, view.closure, rating, view.variance)
    matchups = results_against(outcome, view.teams, view.closure, theta.ravel(), np.full(theta.size, sigma))
    x = rating
    for _ in range(BISECTIONS):
        x = settle(*field_around(view, target, own), target, own)
        new = opponents.variance_given(matchups, x.ravel(), own.ravel()).reshape(theta.shape)
        change, own = float(np.abs(new / own - 1).max()), new
        if change <= GOAL:
            break
    return x


def probe_slope(view: View, theta: Array, sigma: float) -> Array:
    """Slope of the map: ``t'(θ) / Σ_j μ_j b'(R − R_j)`` without noise, a central difference with it."""
    outcome = view.system.outcome
    if view.variance.any():
        step = 1e-4 / outcome.sharpness
        return (probe_rating(view, theta + step, sigma) - probe_rating(view, theta - step, sigma)) / (2 * step)
    field, own = _settle_without_noise(view, target_score(outcome, view.teams, view.closure, theta, sigma))
    slope = target_score(outcome, view.teams, view.closure, theta, sigma, derivative=1)
    return slope / field.score(own, 0.0, derivative=1)


def _settle_without_noise(view: View, target: Array) -> tuple[ProbedLeague, Array]:
    """The field of the league, and the rating at which a team without noise scores ``target`` in it."""
    field, low, high = field_around(view, target, 0.0)
    return field, settle(field, low, high, target, 0.0)
