"""How well ratings follow strengths that move: one question for learning, form and walks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import root_scalar

from kinelo.errors import InputError, KineloWarning, NoStationaryState
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
from kinelo.theory.moving.joint import JointDynamics, JointState, joint_state
from kinelo.theory.moving.learning import (
    LearningPull,
    StrengthProfile,
    expected_score,
    learning_closure,
    strength_profile,
)
from kinelo.theory.pair_means import smooth
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum, Teams, as_system, check_field, common_sigma, normal_only, teams_of
from kinelo.theory.two_teams import exact_law

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
    >>> found = kn.tracking(system, kn.Continuum(theta=0.0), kn.Form(rate=0.01, spread=1.0))
    >>> round(found.parts.noise, 4), round(found.parts.lag, 4)
    (0.1089, 0.2098)
    """

    system: RatingSystem
    dynamics: Dynamics
    moments: Moments
    closure: Moments
    parts: Parts
    profile: StrengthProfile | None = field(repr=False)
    drift: float
    teams: TrackedTeams | None = field(repr=False)
    kind: NoiseKind
    _league: Teams = field(repr=False)
    _small: Moments | None = field(default=None, repr=False)
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
        with few_threads(self._league.size):
            return _find_calibrated(self._slopes(), self.system.outcome)

    def _slopes(self) -> Callable[[float], float]:
        dynamics, league, closure = self.dynamics, self._league, None
        if not isinstance(dynamics, Learning) and self.kind != "exact":
            merged = merge_moving(self.system, league, motion_of(dynamics))
            few_teams = league if merged is None else merged.teams
            closure = LeagueClosure(self.system, few_teams, motion=motion_of(dynamics))

        def slope(gamma: float) -> float:
            system = replace(self.system, gamma=gamma)
            if isinstance(dynamics, Learning):
                found = learning_closure(system.outcome, dynamics, gamma, league, system.sides).moments
                found = found + self.moments - self.closure
            elif closure is None:
                assert isinstance(dynamics, Form)
                found = exact_moments(system, league.strengths, dynamics)
            else:
                found = follow(closure, closure.solve(gamma, closure.teams.theta)).moments
                few = two_team_correction(system, league, dynamics) if isinstance(dynamics, Form) else None
                found = found if few is None else found + few
            return found.forecast_slope

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
    joint = _warn_if_coarse(learning_joint(LearningPull(outcome, learning, sigma), profile, small.moments))
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
    found = follow_league(system, teams, dynamics)
    total, kind = found.moments, found.kind
    best = total
    if isinstance(dynamics, Form) and exact_law(system, teams, dynamics):
        # Form so wide that its law is not resolved leaves the closure, with its caveat of few teams.
        with suppress(InputError):
            best, kind = exact_moments(system, teams.strengths, dynamics), "exact"
    elif isinstance(dynamics, Form) and (few := two_team_correction(system, teams, dynamics)) is not None:
        best = total + few
    parts = found.parts.scaled_to(best.error)
    return Tracking(system, dynamics, best, total, parts, None, 0.0, found, kind, teams)


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


def _warn_if_coarse(joint: JointState) -> JointState:
    if joint.change > COARSE:
        warnings.warn(
            f"The law of strengths and ratings as gamma → 0 still changes by {joint.change:.1g} on the finest "
            "grid: it has long tails, and fewer digits than usual are certain.",
            KineloWarning,
            stacklevel=4,
        )
    return joint


def form_joint(outcome: Outcome, sigma: float, form: Form, gamma: float, guess: Moments) -> JointState:
    """The law of strengths and ratings of equal teams whose form changes, as γ → 0 at a fixed ω/γ."""
    rate = form.rate / gamma
    drive = smooth(expected_score(outcome, sigma), outcome.nu, form.spread)

    def law(points: Array) -> Array:
        return np.exp(-((points / form.spread) ** 2) / 2) / (math.sqrt(2 * math.pi) * form.spread)

    motion = JointDynamics(law, lambda points: rate * points, 2 * rate * form.spread**2, drive)
    return joint_state(outcome, motion, guess, 7.2 * form.spread)


def _find_calibrated(slope: Callable[[float], float], outcome: Outcome) -> float | None:
    """First crossing of 1 on a ladder of step sizes."""
    ladder: Array = np.geomspace(1e-3, 4.0, 13) / outcome.steepest
    last = math.nan
    for low, high in pairwise(ladder):
        try:
            first = slope(low) - 1 if math.isnan(last) else last
            last = slope(high) - 1
        except NoStationaryState:
            return None
        if first >= 0 > last or first <= 0 < last:
            found = root_scalar(lambda gamma: slope(gamma) - 1, bracket=(low, high), method="brentq", xtol=1e-9 * high)
            return float(found.root)
    return None
