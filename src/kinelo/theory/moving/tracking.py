"""How well ratings follow strengths that move: one question for learning, form and walks.

**Small steps.** Strengths and ratings together have the stationary density f(ρ, r),

    ``∂_r(a f) = ∂_ρ(k f) + ½σ²∂²_ρ f``, ``a = G(ρ) − D(r)``, ``G = s*g``, ``D = b*h``, h the law of the ratings.

Ratings follow strengths, so f lies along a ridge. With R(ρ) near the mean rating of strength ρ and ``e = r − R(ρ)`` it
is nearly a product, and sinc functions on grids stretched by sinh resolve it with a few dozen points each way. ∂_ρ at
fixed r becomes ``∂_ρ − R'∂_e``. Newton's method on f and D together converges quadratically; the symmetry
``f(−ρ, −r) = f(ρ, r)`` halves it. Both grids are refined until nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.linalg import lu_factor, lu_solve
from scipy.optimize import root_scalar

from kinelo.errors import InputError, NoStationaryState, warn
from kinelo.model.dynamics import Dynamics, Form, Learning, Walk
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll
from kinelo.model.schedule import Period, Rounds
from kinelo.model.steps import DeviationSteps
from kinelo.model.strength import Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.presentation import html_facts
from kinelo.theory.caveats import Caveat, caveats_of
from kinelo.theory.closure import LeagueClosure, NoiseKind
from kinelo.theory.covariance import motion_of
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import stationary
from kinelo.theory.many_teams import merge_moving
from kinelo.theory.moving.following import (
    Moments,
    Parts,
    TrackedTeams,
    exact_moments,
    follow,
    follow_league,
    two_team_correction,
)
from kinelo.theory.moving.glicko import deviation_tracking
from kinelo.theory.moving.learning import (
    LearningPull,
    StrengthProfile,
    expected_score,
    learning_closure,
    strength_profile,
)
from kinelo.theory.pair_means import Function, smooth
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum, Teams, as_system, check_field, common_sigma, normal_only, teams_of
from kinelo.theory.two_teams import exact_law

JOINT_AGREEMENT = 3e-6
FINER = 1.25
AXIS_WIDTH = 8.0
JOINT_NEWTON_STEPS = 25
NEARLY_SOLVED = 1e-3
"""Size of a Newton step after which the next takes the same matrix: it leaves nothing either."""
RIDGE_POINTS = 44
MOST_UNKNOWNS = 5200


@dataclass(frozen=True)
class JointDynamics:
    """How strengths move and what drives ratings: their law g(ρ), the pull k(ρ), the diffusion σ², and G(ρ)."""

    law: Function
    pull: Function
    diffusion: float
    drive: Function


@dataclass(frozen=True)
class JointState(Moments):
    """Second moments of strength and rating about their means, as γ → 0.

    Attributes
    ----------
    V, C, U
        Var ρ, Cov(ρ, r), Var r.
    imbalances
        What is left of the exact identities ``E[rG] = E[rD]`` and ``E[ρ(G − D)] = E[kr]``.
    change
        Relative change of the moments from the grid before.
    """

    imbalances: tuple[float, float]
    change: float


@dataclass(frozen=True)
class SinhAxis:
    """An even number of points placed symmetrically about 0, stretched by sinh; weights and derivative matrix."""

    points: Array
    weight: Array
    derivative: Array
    core: float
    step: float

    def onto(self, other: SinhAxis) -> Array:
        """Matrix that carries values here to values on another axis with the same stretch."""
        mine, theirs = np.arcsinh(self.points / self.core), np.arcsinh(other.points / other.core)
        return np.sinc(np.subtract.outer(theirs, mine) / self.step)


def sinc_axis(count: int, reach: float, core: float) -> SinhAxis:
    """``core·sinh(y)`` for equidistant y, out to ``reach``."""
    end = math.asinh(reach / core)
    half = count // 2
    step = end / (half - 0.5)
    y: Array = (np.arange(2 * half, dtype=np.float64) - half + 0.5) * step
    stretch = core * np.cosh(y)
    gap = np.subtract.outer(np.arange(2 * half), np.arange(2 * half))
    with np.errstate(divide="ignore"):
        derivative = np.where(gap == 0, 0.0, (1.0 - 2.0 * (gap % 2)) / (gap * step))
    derivative[np.diag_indices(2 * half)] = 0.0
    return SinhAxis(core * np.sinh(y), stretch * step, derivative / stretch[:, None], core, step)


@dataclass(frozen=True)
class Ridge:
    """A smooth line near ``k(ρ) R'(ρ) = G(ρ) − D(R)``, the ratings on the likeliest way to reach ρ: a sum of ρ and of
    ``s·arsinh(ρ/s)`` for a few scales s.
    """

    scales: Array
    share: Array

    def value(self, points: Array) -> Array:
        """R at these strengths."""
        return _shapes(self.scales, points) @ self.share

    def slope(self, points: Array) -> Array:
        """R' there."""
        return np.column_stack([np.ones(points.size), 1 / np.hypot(1.0, points[:, None] / self.scales)]) @ self.share


def _shapes(scales: Array, points: Array) -> Array:
    return np.column_stack([points, np.arcsinh(points[:, None] / scales) * scales])


def _ridge(outcome: Outcome, motion: JointDynamics, guess: Moments, reach: float) -> Ridge:
    level = smooth(outcome.b, outcome.nu, math.sqrt(guess.U))
    points = sinc_axis(RIDGE_POINTS, reach, 3 * math.sqrt(guess.V)).points
    right = points[points.size // 2 :]
    forces = CubicSpline(points, np.column_stack([motion.drive(points), motion.pull(points)]))

    def slope(strength: float, rating: Array) -> Array:
        push, hold = forces(strength)
        return (push - level(rating)) / hold

    first, m = right[0] / 20, guess.C / guess.V
    path = solve_ivp(slope, (first, right[-1]), [m * first], "LSODA", right, rtol=1e-6, atol=1e-9).y[0]
    scales = math.sqrt(guess.V) * np.array([1.0, 2.0, 4.0])
    return Ridge(scales, np.linalg.lstsq(_shapes(scales, right), path, rcond=1e-8)[0])


def joint_state(outcome: Outcome, motion: JointDynamics, guess: Moments, reach: float) -> JointState:
    """Solve on finer and finer grids, from a guess and out to where strengths reach, until V, C and U agree to 3e-6;
    the last ones are then good to about 1e-7.
    """
    solved, last, sizes = None, None, (26, 22)
    ridge = _ridge(outcome, motion, guess, reach)
    while True:
        try:
            solved = _Equation(outcome, motion, guess, reach, sizes, ridge).solve(solved)
        except NoStationaryState:
            # Too coarse for Newton's method to find its way: begin again on the next grid.
            if sizes[0] * sizes[1] >= MOST_UNKNOWNS:
                raise
            solved, last, sizes = None, None, _finer(sizes)
            continue
        moments = solved.moments()
        if last is not None:
            old, new = (np.array([one.V, one.C, one.U]) for one in (last, moments))
            change = float(np.abs(old / new - 1).max())
            if change <= JOINT_AGREEMENT or sizes[0] * sizes[1] >= MOST_UNKNOWNS:
                return replace(moments, change=change)
        last = moments
        sizes = _finer(sizes)


def _finer(sizes: tuple[int, int]) -> tuple[int, int]:
    return 2 * math.ceil(FINER / 2 * sizes[0]), 2 * math.ceil(FINER / 2 * sizes[1])


class _Equation:
    """The discrete equation on one pair of grids; vectors hold the points with ρ < 0, the rest follow by symmetry."""

    def __init__(
        self,
        outcome: Outcome,
        motion: JointDynamics,
        guess: Moments,
        reach: float,
        sizes: tuple[int, int],
        ridge: Ridge,
    ) -> None:
        m = guess.C / guess.V
        rest = math.sqrt(max(guess.U - m * guess.C, 0.02 * guess.U))
        self.strength = sinc_axis(sizes[0], reach, 3 * math.sqrt(guess.V))
        self.error = sinc_axis(sizes[1], AXIS_WIDTH * rest, 3 * rest)
        self.start = np.exp(
            -np.add.outer(self.strength.points**2 / (2 * guess.V), self.error.points**2 / (2 * rest**2))
        )
        pull, drive = motion.pull(self.strength.points), motion.drive(self.strength.points)
        self._half = sizes[0] * sizes[1] // 2
        rho, width = self.strength.points[: sizes[0] // 2], sizes[1]
        self.rho = np.repeat(rho, width)
        self.rating = np.add.outer(ridge.value(self.strength.points), self.error.points).ravel()
        self._law = motion.law(rho)
        self.drive = np.repeat(drive[: rho.size], width)
        self.pull = np.repeat(pull[: rho.size], width)
        self.weight = 2 * np.multiply.outer(self.strength.weight[: rho.size], self.error.weight).ravel()
        self._fixed = self._strengths(pull, motion.diffusion / 2, ridge.slope(self.strength.points))
        kernel = outcome.b(self.rating[: self._half, None] - self.rating[None, :])
        self._kernel = (kernel[:, : self._half] + kernel[:, self._half :][:, ::-1]) * self.weight[None, :] / 2

    def _strengths(self, pull: Array, half: float, tilt: Array) -> Array:
        """``(∂_ρ − R'∂_e)(k f) + ½σ²(∂_ρ − R'∂_e)² f``, folded by the symmetry."""
        d, de = self.strength.derivative, self.error.derivative
        rows, width = d.shape[0] // 2, de.shape[0]
        still = d * pull[None, :] + half * d @ d
        mixed = -np.diag(tilt * pull) - half * (d * tilt[None, :] + tilt[:, None] * d)
        # Entry (i, a, j, b) leads from strength j and error b to strength i and error a; the mirror image of a point
        # with ρ > 0 has both turned round.
        total = mixed[:rows, None, :rows, None] * de[:, None, :]
        total += mixed[:rows, None, : rows - 1 : -1, None] * de[:, None, ::-1]
        across = np.arange(width)
        total[:, across, :, across] += still[:rows, :rows]
        total[:, across, :, across[::-1]] += still[:rows, : rows - 1 : -1]
        own = np.arange(rows)
        total[own, :, own] += (half * tilt[:rows] ** 2)[:, None, None] * (de @ de)
        return total.reshape(self._half, self._half)

    def solve(self, coarse: _Solution | None) -> _Solution:
        """Newton's method.

        Summed over e the equation of one strength says nothing that g does not fulfil already; so at every strength the
        equation of the point where f is largest gives way to ``∫f de = g``.
        """
        density = (self.start if coarse is None else coarse.on(self.strength, self.error)).ravel()[: self._half]
        width = self.error.points.size
        density = self._scale(density.reshape(-1, width)).ravel()
        dropped = np.arange(0, self._half, width) + np.argmax(density.reshape(-1, width), axis=1)
        size, factors, scale = math.inf, None, 1.0
        for _ in range(JOINT_NEWTON_STEPS):
            velocity = self.drive - self._kernel @ density
            flow = (velocity * density).reshape(-1, width) @ self.error.derivative.T
            residual = self._fixed @ density - flow.ravel()
            if factors is None or size > NEARLY_SOLVED:
                # ∂_e(velocity ·) couples points of one strength only; the other part is ∂_e of what f does to b.
                system = self._fixed.copy()
                for first in range(0, self._half, width):
                    part = slice(first, first + width)
                    system[part, part] -= self.error.derivative * velocity[None, part]
                moved = (density[:, None] * self._kernel).reshape(-1, width, self._half)
                system += np.matmul(self.error.derivative, moved).reshape(system.shape)
                scale = float(np.abs(system).max())
                system[dropped] = np.kron(np.eye(dropped.size), scale * self.error.weight)
                factors = lu_factor(system, overwrite_a=True, check_finite=False)
            residual[dropped] = scale * (density.reshape(-1, width) @ self.error.weight - self._law)
            step = lu_solve(factors, residual)
            size, last = float(self.weight @ np.abs(step)), size
            density = density - step * min(1.0, 1.0 / size)
            # Newton's error squares from step to step, so this one leaves nothing that matters.
            if size <= 1e-6 and size <= last:
                break
        if size > 1e-5:
            raise NoStationaryState(f"The law of strengths and ratings was not found: it still moves by {size:.2g}.")
        return _Solution(self, density)

    def _scale(self, density: Array) -> Array:
        return density * (self._law / (density @ self.error.weight))[:, None]


@dataclass(frozen=True)
class _Solution:
    equation: _Equation
    density: Array

    def on(self, strength: SinhAxis, error: SinhAxis) -> Array:
        """The density interpolated by sinc functions onto other grids of the same stretch."""
        mine = self.equation
        full = np.concatenate([self.density, self.density[::-1]]).reshape(mine.start.shape)
        return mine.strength.onto(strength) @ full @ mine.error.onto(error).T

    def moments(self) -> JointState:
        """Second moments and the identities."""
        equation = self.equation
        share, half = equation.weight * self.density, self.density.size
        rating = equation.rating[:half]
        surplus = equation.drive - equation._kernel @ self.density
        first = float(share @ (rating * surplus))
        second = float(share @ (equation.rho * surplus - equation.pull * rating))
        V, C, U = (float(share @ product) for product in (equation.rho**2, equation.rho * rating, rating**2))
        return JointState(V, C, U, (first, second), math.inf)


NEGLIGIBLE_LAG = 1e-11
COARSE = 1e-4


@dataclass(frozen=True)
class Tracking:
    """How ratings follow strengths in the long run, about the means of the league.

    Attributes
    ----------
    system, dynamics
        What was asked.
    moments
        V = Var ρ, C = Cov(ρ, r), U = Var r over the league: the best estimate there is.
    closure
        The same from the Gaussian closure alone.
    parts
        The error by cause, noise, lag and bias, with the shares that they have in the closure.
    profile
        The stationary law of strengths that learn; None for others.
    drift
        By how much strengths leave the mean rating behind, per match of a team: γα under learning, else 0.
    teams
        Team by team, under form and walks; None under learning, where teams are alike.
    kind
        How it was found: ``"exact"`` for two teams with form, ``"joint"`` with the whole covariance (and what two of
        few teams show the closure to miss), ``"independent"`` among many.
    check
        What a league played beside this answer showed, where one was.

    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1)
    >>> found = kn.tracking(system, kn.theory.Continuum(theta=0.0), kn.model.Form(rate=0.01, spread=1.0))
    >>> round(found.parts.noise, 4), round(found.parts.lag, 4)
    (0.1089, 0.2098)
    """

    system: RatingSystem
    dynamics: Dynamics
    moments: Moments
    closure: Moments
    parts: Parts
    profile: StrengthProfile | None
    drift: float
    teams: TrackedTeams | None
    kind: NoiseKind
    _league: Teams
    _small: Moments | None = None
    check: object | None = None

    @property
    def V(self) -> float:
        """Variance of strengths."""
        return self.moments.V

    @property
    def C(self) -> float:
        """Covariance of strengths and ratings."""
        return self.moments.C

    @property
    def U(self) -> float:
        """Variance of ratings."""
        return self.moments.U

    @property
    def E(self) -> float:
        """Mean square error E(r − ρ)² = V − 2C + U."""
        return self.moments.error

    @property
    def rating_slope(self) -> float:
        """Slope of ratings on strengths, C/V."""
        return self.moments.rating_slope

    @property
    def forecast_slope(self) -> float:
        """Slope of strengths on ratings, C/U; 1 is calibrated."""
        return self.moments.forecast_slope

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """Why this answer may be off by more than 2 %; empty inside the range where theory was measured."""
        steps = self.system.gamma if isinstance(self.system.gamma, float | tuple) else 0.0
        return caveats_of(self.system, self._league, self.kind, np.asarray(steps), dynamics=self.dynamics)

    @cached_property
    def limit(self) -> Moments | None:
        """The moments as γ → 0, computed without closure, or None where they are not.

        They are under learning, and for the form of equal teams, where ω/γ is kept: those of many teams.
        """
        alike = np.ptp(self._league.theta) == 0 and np.ptp(self._league.sigma) == 0
        if self._small is not None or not isinstance(self.dynamics, Form) or not alike or not self.system.plain:
            return self._small
        outcome, gamma = self.system.outcome, self.system.step
        sigma = float(self._league.sigma[0])
        with few_threads(self._league.size):
            many = Teams(Normal([0.0, 0.0], sigma), np.full(2, 0.5), finite=False)
            closure = LeagueClosure(self.system, many, motion=motion_of(self.dynamics))
            quiet = closure.without_luck(closure.solve(gamma, many.theta))
            guess = Moments(self.dynamics.spread**2, float(quiet.C[0]), float(quiet.U[0]))
            joint = form_joint(outcome, sigma, self.dynamics, gamma, guess)
        return Moments(self.dynamics.spread**2, joint.C, joint.U)

    @cached_property
    def calibrated_gamma(self) -> float | None:
        """Step size at which the slope of strengths on ratings is 1; None where there is none, and for step rules."""
        if not isinstance(self.system.gamma, float):
            return None
        slope, last = self._slopes(), math.nan
        # The first crossing of 1 on a ladder of step sizes.
        with few_threads(self._league.size):
            for low, high in pairwise(np.geomspace(1e-3, 4.0, 13) / self.system.outcome.steepest):
                try:
                    first = slope(low) - 1 if math.isnan(last) else last
                    last = slope(high) - 1
                except NoStationaryState:
                    return None
                if first >= 0 > last or first <= 0 < last:
                    crossing = root_scalar(lambda gamma: slope(gamma) - 1, bracket=(low, high), xtol=1e-9 * high)
                    return float(crossing.root)
        return None

    def _slopes(self) -> Callable[[float], float]:
        dynamics, league, closure = self.dynamics, self._league, None
        if not isinstance(dynamics, Learning) and self.kind != "exact":
            merged = merge_moving(self.system, league, motion_of(dynamics))
            few_teams = league if merged is None else merged.teams
            closure = LeagueClosure(self.system, few_teams, motion=motion_of(dynamics))

        def slope(gamma: float) -> float:
            system = replace(self.system, gamma=gamma)
            if isinstance(dynamics, Learning):
                moments = learning_closure(system.outcome, dynamics, gamma, league, system.sides).moments
                moments = moments + self.moments - self.closure
            elif closure is None:
                assert isinstance(dynamics, Form)
                moments = exact_moments(system, league.strengths, dynamics)
            else:
                moments = follow(closure, closure.solve(gamma, closure.teams.theta)).moments
                few = two_team_correction(system, league, dynamics) if isinstance(dynamics, Form) else None
                moments = moments if few is None else moments + few
            return moments.forecast_slope

        return slope

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        return {
            "V": self.V,
            "C": self.C,
            "U": self.U,
            "E": self.E,
            "rating_slope": self.rating_slope,
            "forecast_slope": self.forecast_slope,
            "noise": self.parts.noise,
            "lag": self.parts.lag,
            "bias": self.parts.bias,
            "drift": self.drift,
            "kind": self.kind,
            "caveats": [one.sentence for one in self.caveats],
        }

    def _repr_html_(self) -> str:
        return html_facts((name, f"{value:.6g}") for name, value in self.to_dict().items() if isinstance(value, float))

    def __repr__(self) -> str:
        return f"Tracking(V={self.V:.6g}, C={self.C:.6g}, U={self.U:.6g}, E={self.E:.6g})"


def tracking(system: RatingSystem | Outcome, strengths: Strength | Continuum, dynamics: Dynamics) -> Tracking:
    """How well ratings follow strengths that move, every pair playing.

    What is computed how is described where users find it, in :func:`kinelo.advice.checked.tracking`, which can also
    play a league beside the answer.
    """
    system = as_system(system)
    teams = teams_of(strengths)
    if not isinstance(system.pairing, AllPlayAll):
        raise InputError("Tracking is computed for AllPlayAll only; simulate plays every pairing.")
    if not isinstance(dynamics, Learning | Form | Walk):
        raise InputError(f"dynamics must be Learning, Form or Walk, not {dynamics!r}.")
    check_field(system, teams)
    with few_threads(teams.size):
        if isinstance(dynamics, Learning):
            return _learning(system, teams, dynamics)
        if isinstance(system.gamma, DeviationSteps):
            return _deviations(system, teams, dynamics)
        return _following(system, teams, dynamics)


def error_of(system: RatingSystem, strengths: Strength | Continuum, dynamics: Dynamics | None) -> Parts:
    """The mean square error of a system by cause, as every function that names it gives it."""
    if dynamics is not None:
        return tracking(system, strengths, dynamics).parts
    return parts_at_rest(stationary(system, strengths, noise="gaussian"))


def parts_at_rest(state: StationaryState) -> Parts:
    """Noise and bias of a league at rest that has settled."""
    off = state.bias - state.teams.mean(state.bias)
    bias = state.teams.crowding * state.teams.mean(off**2)
    return Parts(state.error - bias, 0.0, bias)


def _deviations(system: RatingSystem, teams: Teams, dynamics: Form | Walk) -> Tracking:
    if system.schedule is not None or not isinstance(system.gamma, DeviationSteps):
        raise InputError(f"Tracking by DeviationSteps is computed match by match, not for {system.schedule!r}.")
    _, found = deviation_tracking(system.outcome, teams, system.gamma, dynamics)
    total = found.moments
    return Tracking(system, dynamics, total, total, found.parts, None, 0.0, found, "independent", teams)


def _learning(system: RatingSystem, teams: Teams, learning: Learning) -> Tracking:
    if not isinstance(system.gamma, float):
        raise InputError(f"Learning moves strengths by one gamma for all teams, not by {system.gamma!r}.")
    if isinstance(system.schedule, Rounds | Period):
        raise InputError(f"Tracking of strengths that learn is computed match by match, not for {system.schedule!r}.")
    outcome, sigma = system.outcome, common_sigma(teams)
    profile = strength_profile(outcome, learning, sigma)
    small = learning_closure(outcome, learning, 0.0, replace(teams, finite=False))
    closed = learning_closure(outcome, learning, system.step, teams, system.sides)
    joint = learning_joint(LearningPull(outcome, learning, sigma), profile, small.moments)
    if joint.change > COARSE:
        warn(
            f"The law of strengths and ratings as gamma → 0 still changes by {joint.change:.1g} on the finest "
            "grid: it has long tails, and fewer digits than usual are certain."
        )
    # V is known from the profile to more digits than from the law in the plane.
    limit = Moments(profile.variance, joint.C, joint.U)
    best = limit + closed.moments - small.moments
    drift = system.step * learning.alpha
    kind: NoiseKind = "joint" if teams.finite else "independent"
    parts = closed.parts.scaled_to(best.error)
    return Tracking(system, learning, best, closed.moments, parts, profile, drift, None, kind, teams, _small=limit)


def _following(system: RatingSystem, teams: Teams, dynamics: Form | Walk) -> Tracking:
    """Form and walks: the closure, exact for two teams, improved by them for few."""
    normal_only(teams)
    followed = follow_league(system, teams, dynamics)
    total, kind = followed.moments, followed.kind
    best = total
    if isinstance(dynamics, Form) and exact_law(system, teams, dynamics):
        # Form so wide that its law is not resolved leaves the closure, with its caveat of few teams.
        with suppress(InputError):
            best, kind = exact_moments(system, teams.strengths, dynamics), "exact"
    elif isinstance(dynamics, Form) and (few := two_team_correction(system, teams, dynamics)) is not None:
        best = total + few
    parts = followed.parts.scaled_to(best.error)
    return Tracking(system, dynamics, best, total, parts, None, 0.0, followed, kind, teams)


def learning_joint(pull: LearningPull, profile: StrengthProfile, guess: Moments) -> JointState:
    """The law of strengths and ratings of a league that learns, as γ → 0."""
    outcome, diffusion = pull.outcome, pull.learning.diffusion**2
    force, drive = (partial(profile.mean_of, one) for one in (pull.force, expected_score(outcome, pull.sigma)))
    outer = np.cumsum(profile.weight * profile.strength**2)
    reach = -float(profile.strength[np.searchsorted(outer, NEGLIGIBLE_LAG * outer[-1])])
    exponent, middle = partial(profile.mean_of, pull.potential), profile.strength.size // 2
    bottom, top = float(exponent(np.zeros(1))[0]), float(profile.density[middle])

    def law(points: Array) -> Array:
        return top * np.exp(2 / diffusion * (bottom - exponent(points)))

    # The closure's spread of strengths is not quite the profile's.
    scale = profile.variance / guess.V
    near = Moments(profile.variance, scale * guess.C, scale * guess.U)
    return joint_state(outcome, JointDynamics(law, force, diffusion, drive), near, reach)


def form_joint(outcome: Outcome, sigma: float, form: Form, gamma: float, guess: Moments) -> JointState:
    """The law of strengths and ratings of equal teams whose form changes, as γ → 0 at a fixed ω/γ."""
    rate = form.rate / gamma
    drive = smooth(expected_score(outcome, sigma), outcome.nu, form.spread)

    def law(points: Array) -> Array:
        return np.exp(-((points / form.spread) ** 2) / 2) / (math.sqrt(2 * math.pi) * form.spread)

    motion = JointDynamics(law, lambda points: rate * points, 2 * rate * form.spread**2, drive)
    return joint_state(outcome, motion, guess, 7.2 * form.spread)
