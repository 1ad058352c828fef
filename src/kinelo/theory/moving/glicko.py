r"""A league rated by Glicko: where ratings and deviations settle, at rest or with strengths that move.

``A_i = νv_i⟨g_j(s_ij − b(g_j(R_i − R_j)))⟩`` is the speed of rating i and ``c² − v_i²I_i`` that of its variance, with
``I_i = ν⟨g_j²b'(g_j(R_i − R_j))⟩``. Steps differ from team to team, so the mean rating is not conserved: in the long
run all ratings travel with one speed W, and ``v_i = c/√I_i``. W = 0 in symmetric leagues.

With the noise of ratings, ``Δ_ij ~ N(m_i − m_j, U_i + U_j)`` and ε = v₀I, ``v₀ = c/√I``: v = v₀(1 + 3ε/8) discounts
results, and ``γ_i = νv₀(1 − 5ε/8)`` is the mean step. C and U solve the balances of independent teams
(:mod:`kinelo.theory.covariance`) with ``B_θ = ⟨gE s'⟩``, ``B_r = ⟨g²E b'(gΔ)⟩`` and ``Q = ⟨g²E(S − b(gΔ))²⟩``. At rest
a team's rating and variance are correlated, ``X = −v₀²I'U/(2v₀I + γB)``: far from its opponents a team learns less, and
the means solve

``⟨g(s − E b)⟩ − X_iB/v₀ − ⟨X_j(6ν²/π²)g³(2gE b' + g²(m_i − m_j)E b'')⟩ = W/γ_i``  (all b at gΔ).

The deviation of one team: match by match ``v⁺ = v/(1 + vI)``, then ``v + c²`` per match of rest, which settles before a
match at ``½c²(1 + √(1 + 4/(c²I)))``; on average ``dv/dT = c² − v²I``, settling at ``c/√I``.

Where strengths move, X is left out. If they walk by s = c, ``E(r − θ)² = v`` in the limit of small c: the deviation is
calibrated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.linalg import solve

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Form, Walk
from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Outcome, Tanh
from kinelo.model.steps import GLICKO, DeviationSteps
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array, nonnegative, positive
from kinelo.theory.closure import LeagueClosure, Solution, State, equal_opponents
from kinelo.theory.covariance import PairSlopes, StrengthMotion, batch_of, motion_of, separate_covariance, walk_lag
from kinelo.theory.fixed_point import ACCEPTED_RESIDUAL, few_threads, fixed_point
from kinelo.theory.many_teams import representatives
from kinelo.theory.moving.following import TrackedTeams, follow
from kinelo.theory.pair_means import PairMeans
from kinelo.theory.state import Noise, regression_slope
from kinelo.theory.teams import Continuum, Teams, as_system, normal_only, teams_of

MOST_GLICKO_TEAMS = 120


def discount(nu: float, variance: ArrayLike) -> Array:
    """``g = (1 + 12ν²v/π²)^{−½}``: how much less a result says against an opponent of uncertain rating."""
    return 1 / np.sqrt(1 + GLICKO * nu**2 * np.asarray(variance, dtype=np.float64))


def deviation_before_match(growth: float, information: float, matches: float = 1.0) -> float:
    """RD at which a team settles just before a match, at ``matches`` per unit of the time in which v grows by c².

    >>> import math
    >>> nu = math.log(10) / 800
    >>> round(deviation_before_match(math.sqrt(1200.0), nu**2, matches=1), 1)  # chess, opponents known exactly
    112.5
    """
    square = positive("growth", growth) ** 2 / positive("matches", matches)
    return math.sqrt(square / 2 * (1 + math.sqrt(1 + 4 / (square * positive("information", information)))))


def deviation_after(growth: float, information: float, start: float, matches: ArrayLike) -> Array:
    """RD after some matches, from RD ``start``, when matches come evenly: ``v_∞(v₀ + v_∞ th)/(v_∞ + v₀ th)``."""
    settled = growth / math.sqrt(information)
    tanh = np.tanh(growth * math.sqrt(information) * np.asarray(matches, dtype=np.float64))
    return np.sqrt(settled * (start**2 + settled * tanh) / (settled + start**2 * tanh))


def equal_deviation(nu: float, growth: float, matches: float = 1.0) -> float:
    """RD before a match in a league of equals, whose deviations discount one another.

    >>> nu = math.log(10) / 800
    >>> round(equal_deviation(nu, math.sqrt(1200.0)), 5)
    115.92344
    """
    deviation = deviation_before_match(growth, nu**2, matches)
    for _ in range(200):
        last = deviation
        deviation = deviation_before_match(growth, float(nu * discount(nu, last**2)) ** 2, matches)
        if abs(deviation - last) <= 1e-14 * deviation:
            break
    return deviation


@dataclass(frozen=True)
class DeviationState:
    """Ratings and deviations of a settled league.

    Attributes
    ----------
    rating, deviation
        Mean rating and RD of each team; the mean rating of the league is that of its strengths.
    variance
        Var r of each team about its mean: 0 where noise was left out.
    travel_speed
        W: by how much all ratings move per match of a team, for ever. 0 in symmetric leagues.
    covariance
        Covariance of each rating with its team's strength, where strengths move; else 0.

    >>> import kinelo as kn
    >>> teams = kn.theory.Continuum(theta=(4, 10), sigma=1.0)
        >>> state = kn.theory.settled_deviations(kn.Tanh(nu=0.5), teams, growth=0.1)
    >>> bool(state.deviation.min() > 0), abs(state.travel_speed) < 1e-9
    (True, True)
    """

    rating: Array = field(repr=False)
    deviation: Array = field(repr=False)
    variance: Array = field(repr=False)
    travel_speed: float
    teams: Teams = field(repr=False)
    covariance: Array = field(repr=False)
    _league: GlickoLeague = field(repr=False)
    _steps: Array = field(repr=False)
    _pairs: PairSlopes = field(repr=False)

    @cached_property
    def slope(self) -> float:
        """Slope of the regression of ratings on strengths."""
        return regression_slope(self.teams.theta, self.rating, self.teams.mass)

    def rating_of(self, theta: ArrayLike, sigma: float | None = None) -> Array:
        """Rating that one more team with strengths N(θ, σ) would settle at; σ defaults to the typical spread.

        >>> import kinelo as kn
        >>> teams = kn.theory.Continuum(theta=(4, 10), sigma=1.0)
        >>> state = kn.theory.settled_deviations(kn.Tanh(nu=0.5), teams, growth=0.1)
        >>> round(float(state.rating_of(10.0)), 7)
        9.3734687
        """
        points = finite_array("theta", theta)
        spread = self.teams.typical_sigma if sigma is None else nonnegative("sigma", sigma)
        # The same league with further teams that nobody else meets.
        teams, theta = self.teams, np.atleast_1d(points).ravel()
        size, whole = teams.size, teams.size + theta.size
        league = copy(self._league)
        joined = teams.strengths.like(
            np.concatenate([teams.theta, theta]), np.concatenate([teams.sigma, np.full(theta.size, spread)])
        )
        league.teams = Teams(joined, np.concatenate([teams.mass, np.zeros(theta.size)]), finite=False)
        league.weights = np.zeros((whole, whole))
        league.weights[:size, :size], league.weights[size:, :size] = self._league.weights, teams.mass
        league._prepare()
        return _settle(league, noisy=bool(self.variance.any())).rating[size:].reshape(points.shape)

    def slope_at(self, theta: ArrayLike, sigma: float | None = None) -> Array:
        """Derivative of :meth:`rating_of` with respect to θ, by a difference of fourth order."""
        points = finite_array("theta", theta)
        step = 0.02 / self._league.nu
        shifts = np.array([-2.0, -1.0, 1.0, 2.0]) * step
        values = self.rating_of(np.add.outer(shifts, points), sigma)
        return np.tensordot(np.array([1.0, -8.0, 8.0, -1.0]) / (12 * step), values, 1)


class GlickoLeague:
    """A league seen by Glicko: expected results, opponents, growth c, and how strengths move."""

    def __init__(
        self,
        outcome: Outcome,
        strengths: Strength | Continuum | Teams,
        growth: float,
        motion: StrengthMotion | None = None,
    ) -> None:
        if not isinstance(outcome, Tanh):
            raise InputError(f"Glicko's formulas are those of Tanh, not of {type(outcome).__name__}.")
        self.outcome, self.nu, self.growth = outcome, outcome.nu, positive("growth", growth)
        self.teams = strengths if isinstance(strengths, Teams) else teams_of(strengths)
        self.motion, self.weights = StrengthMotion() if motion is None else motion, equal_opponents(self.teams)
        self._prepare()

    def _prepare(self) -> None:
        teams, V = self.teams, self.motion.variance
        self.form: PairMeans | None = None
        if V > 0:
            spread = np.sqrt(2 * V + np.add.outer(teams.sigma**2, teams.sigma**2))
            self.form = PairMeans(self.outcome, np.subtract.outer(teams.theta, teams.theta).ravel(), spread.ravel())
            self.results = self.form.mean.reshape(self.weights.shape)
            self.driving = self.form.slope.reshape(self.weights.shape)
        else:
            self.results = expected_result(self.outcome, teams.strengths)
        self.walks = bool(self.motion.walk) and np.ptp(teams.theta) > 0
        if self.walks:
            gap, spread = np.subtract.outer(teams.theta, teams.theta), np.add.outer(teams.sigma**2, teams.sigma**2)
            seen = PairMeans(self.outcome, gap.ravel(), np.sqrt(spread).ravel(), products=False)
            self.driving = seen.slope.reshape(self.weights.shape)

    def forces(self, rating: Array, variance: Array) -> tuple[Array, Array, Array]:
        """``⟨g(s − b(gΔ))⟩``, its slopes ``g²b'`` with the weights of the pairs, and ``I``."""
        g = discount(self.nu, variance)[None, :]
        z = g * (rating[:, None] - rating[None, :])
        drift = (self.weights * g * (self.results - self.outcome.b(z))).sum(axis=1)
        slope = self.weights * g**2 * self.outcome.b_prime(z)
        return drift, slope, self.nu * slope.sum(axis=1)

    def newton(self, drift: Array, slope: Array, steps: Array, speed: float) -> tuple[Array, float]:
        """Shift of the ratings, of mean zero, and of the speed W that make ``drift_i = W/steps_i``."""
        size = drift.size
        system = np.zeros((size + 1, size + 1))
        system[:size, :size] = np.diag(slope.sum(axis=1)) - slope
        system[:size, size] = 1 / steps
        system[size, :size] = self.teams.mass
        shift: Array = solve(system, np.append(drift - speed / steps, 0.0))
        return shift[:size], float(shift[size])


def settled_deviations(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    growth: float | None = None,
    *,
    noise: Noise = "none",
) -> DeviationState:
    """Where Glicko settles: ratings, deviations and the speed at which all ratings travel.

    Parameters
    ----------
    system
        A rating system with :class:`~kinelo.model.steps.DeviationSteps`, or its outcome Tanh.
    strengths
        A league or a continuum with strengths at rest.
    growth
        c: the variance RD² grows by c² from one match of a team to its next; by default that of the system.
    noise
        ``"none"`` leaves the noise of ratings out, ``"gaussian"`` includes it: it stretches the map, by up to a few per
        cent, and is what a played league shows.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> teams = Continuum(theta=(4, 10), sigma=1.0)
    >>> round(settled_deviations(Tanh(nu=0.5), teams, growth=0.1).slope, 8)
    0.79058394
    """
    if not isinstance(noise, str) or noise not in ("none", "gaussian"):
        raise InputError(f'noise must be "none" or "gaussian", not {noise!r}.')
    system = as_system(system)
    if growth is None:
        if not isinstance(system.gamma, DeviationSteps):
            raise InputError(f"growth must be given, unless the system has DeviationSteps; it has {system.gamma!r}.")
        growth = system.gamma.growth
    if not system.pairing.constant or system.schedule is not None:
        raise InputError("Deviations settle here under AllPlayAll, match by match; simulate plays the rest.")
    league = GlickoLeague(system.outcome, strengths, growth)
    with few_threads(league.teams.size):
        return _settle(league, noisy=noise == "gaussian")


class _State(NamedTuple):
    """Mean ratings, C, U and v₀ of each team, and W."""

    rating: Array
    C: Array
    U: Array
    base: Array
    speed: float

    def vector(self) -> Array:
        return np.concatenate([*self[:4], [self.speed]])

    @classmethod
    def of(cls, vector: Array, least: _State) -> _State:
        rating, C, U, base = np.split(vector[:-1], 4)
        return cls(rating, C, np.maximum(U, least.U / 4), np.maximum(base, least.base / 4), float(vector[-1]))


def _settle(league: GlickoLeague, *, noisy: bool) -> DeviationState:
    """The fixed point: Newton's step for means and speed, the balances for C, U and v₀."""
    teams, size = league.teams, league.teams.size
    base: Array = np.full(size, league.growth / league.nu)
    start = _State(teams.theta.copy(), np.zeros(size), base / 2 if noisy else np.zeros(size), base, 0.0)
    least = start

    def look(point: Array) -> tuple[Array, float, DeviationState]:
        nonlocal least
        state = _State.of(point, least)
        least, variance, steps, pairs = _image(league, state, noisy)
        change = float(np.abs(least.vector() - state.vector()).max()) * league.nu
        step = least.rating - state.rating
        far = float(np.abs(step).max()) * league.nu
        # A long Newton step can overshoot where b is flat; the next ones make up for a shorter one.
        shorter = least._replace(rating=state.rating + step * min(1.0, 2 / (far + 1e-300)))
        found = DeviationState(
            state.rating, np.sqrt(variance), state.U, state.speed, teams, state.C, league, steps, pairs
        )
        return shorter.vector(), change, found

    try:
        return fixed_point(look, start.vector(), accepted=ACCEPTED_RESIDUAL)[0]
    except NoStationaryState:
        raise NoStationaryState(
            f"The deviations of this league were not found with growth = {league.growth:g}; simulate it."
        ) from None


def _image(league: GlickoLeague, state: _State, noisy: bool) -> tuple[_State, Array, Array, PairSlopes]:
    """The next state, and at this one v, the mean steps and the weighted pairs."""
    nu, weights, still = league.nu, league.weights, league.form is None and not league.motion.walk
    excess = league.growth**2 / state.base if noisy else np.zeros_like(state.base)
    g = np.broadcast_to(discount(nu, state.base * (1 + 3 * excess / 8))[None, :], weights.shape)
    gap = np.subtract.outer(state.rating, state.rating)
    width = np.sqrt(np.add.outer(state.U, state.U))
    means = PairMeans(league.outcome, (g * gap).ravel(), (g * width).ravel(), products=league.form is not None)
    mean, slope, square = (one.reshape(gap.shape) for one in (means.mean, means.slope, means.square))
    curve = (-2 * nu * (league.outcome.b(g * gap) * slope).ravel() if not noisy else means.second).reshape(gap.shape)
    both = league.results * mean
    driving = weights * g * league.driving if league.form is not None or league.walks else None
    if league.form is not None:
        both = league.form.product(means, (g * np.add.outer(state.C, state.C)).ravel()).reshape(gap.shape)
    restoring = weights * g**2 * slope
    pull = restoring.sum(axis=1)
    information = nu * pull
    base = league.growth / np.sqrt(information)
    ahead = base * information if noisy else 0.0
    step = nu * base * (1 - 5 * ahead / 8)
    pairs = PairSlopes(restoring, driving, weights * g**2 * (1 - 2 * both + square))
    C, U = np.zeros_like(base), np.zeros_like(base)
    drift = (weights * g * (league.results - mean)).sum(axis=1)
    if noisy:
        batch = batch_of(None, league.teams, league.motion)
        C, U = separate_covariance(step, pairs, league.motion, batch, league.teams.crowding)
        if (lag := walk_lag(step, pairs, league.motion, batch, league.teams)) is not None:
            drift, U = drift - lag.drift, U - lag.known / league.teams.crowding
        if still:
            tilt = nu * (weights * g**3 * curve).sum(axis=1)
            linked = -(base**2) * tilt * U / (2 * base * information + step * pull)
            others = weights * linked[None, :] * (GLICKO / 2 * nu**2) * g**3 * (2 * g * slope + g**2 * gap * curve)
            drift -= linked * pull / base + others.sum(axis=1)
    shift, change = league.newton(drift, restoring, step, state.speed)
    variance = base * (1 + 3 * ahead / 8)
    return _State(state.rating + shift, C, U, base, state.speed + change), variance, step, pairs


def deviation_tracking(
    outcome: Outcome, teams: Teams, rule: DeviationSteps, dynamics: Form | Walk
) -> tuple[DeviationState, TrackedTeams]:
    """How Glicko follows strengths that move: each team's step is the one its deviation settles at."""
    normal_only(teams)
    merged = representatives(teams, MOST_GLICKO_TEAMS) if teams.size > MOST_GLICKO_TEAMS else None
    every, teams = teams, teams if merged is None else merged.teams
    league = GlickoLeague(outcome, teams, rule.growth, motion_of(dynamics))
    settled = _settle(league, noisy=True)
    closure = LeagueClosure(RatingSystem(outcome), teams, motion=league.motion, whole=False)
    state = State(settled.rating, settled.covariance, settled.variance)
    followed = follow(closure, Solution(state, 0.0, 1, settled._steps, settled._pairs))
    followed = replace(followed, deviation=settled.deviation)
    return settled, followed if merged is None else followed.expand(merged, every.theta)


@dataclass(frozen=True)
class DeviationPath:
    """Ratings and deviations on the way: one row per time, one column per team or node."""

    time: Array
    rating: Array = field(repr=False)
    deviation: Array = field(repr=False)
    teams: Teams = field(repr=False)

    def slopes(self) -> Array:
        """Slope of the regression of ratings on strengths at each time."""
        return np.array([regression_slope(self.teams.theta, one, self.teams.mass) for one in self.rating])


def deviation_path(
    outcome: Outcome,
    strengths: Strength | Continuum,
    growth: float,
    times: Sequence[float],
    *,
    rating: ArrayLike,
    deviation: ArrayLike,
) -> DeviationPath:
    """Follow ratings and deviations without noise: the kinetic equation of Glicko along its characteristics.

    ``times`` count matches of a team; ``rating`` and ``deviation`` are where all start, one number or one per team.
    """
    league = GlickoLeague(outcome, strengths, growth)
    size = league.teams.size
    first = np.broadcast_to(finite_array("rating", rating, 0, 1), size)
    spread = np.broadcast_to(finite_array("deviation", deviation, 0, 1), size)
    when = finite_array("times", times, 1)

    def speed(_: float, state: Array) -> Array:
        variance = state[size:]
        drift, _slope, information = league.forces(state[:size], variance)
        return np.concatenate([league.nu * variance * drift, growth**2 - variance**2 * information])

    end = max(float(when.max()), 1e-9)
    found = solve_ivp(speed, (0.0, end), np.concatenate([first, spread**2]), "DOP853", when, rtol=1e-11, atol=1e-12)
    return DeviationPath(when, found.y[:size].T, np.sqrt(found.y[size:].T), league.teams)
