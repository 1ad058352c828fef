"""How well ratings follow strengths that move: one question for learning, form and walks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import pairwise

import numpy as np
from scipy.optimize import root_scalar

from kinelo.errors import InputError, KineloWarning, NoStationaryState
from kinelo.model.dynamics import Dynamics, Form, Learning, Walk
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll
from kinelo.model.schedule import Period, Rounds
from kinelo.model.steps import DeviationSteps
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.continuum import Continuum
from kinelo.theory.moving.form import FormClosure, TrackedTeams
from kinelo.theory.moving.glicko_tracking import DeviationTracking, deviation_tracking
from kinelo.theory.moving.joint import Guess, JointState, Motion, joint_state
from kinelo.theory.moving.learning import learning_closure
from kinelo.theory.moving.moments import Moments, Parts
from kinelo.theory.moving.performance import Function, Results, common_sigma, smoothed
from kinelo.theory.moving.profile import Pull, StrengthProfile, strength_profile
from kinelo.theory.moving.rounds_tracking import RoundTracking, round_tracking
from kinelo.theory.teams import Teams, teams_of
from kinelo.theory.threads import few_threads

NEGLIGIBLE = 1e-11
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
        The error of the closure by cause: noise, lag, bias.
    profile
        The stationary law of strengths that learn; None for others.
    drift
        By how much strengths leave the mean rating behind, per match of a team: γα under learning, else 0.
    teams
        Team by team, under form and walks; None under learning, where teams are alike.

    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1)
    >>> found = kn.tracking(system, kn.Fixed([0.0, 0.0]), kn.Form(rate=0.01, spread=1.0))
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
    teams: TrackedTeams | RoundTracking | DeviationTracking | None = field(repr=False)
    _league: Teams = field(repr=False)
    _small: Moments | None = field(default=None, repr=False)

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

    @cached_property
    def limit(self) -> Moments | None:
        """The moments as γ → 0, computed without closure, or None where they are not.

        They are under learning, and for the form of equal teams, where ω/γ is kept.
        """
        alike = np.ptp(self._league.theta) == 0 and np.ptp(self._league.sigma) == 0
        random = self.system.plain
        if self._small is not None or not isinstance(self.dynamics, Form) or not alike or not random:
            return self._small
        outcome, gamma = self.system.outcome, self.system.step
        with few_threads(self._league.size):
            guess = FormClosure(outcome, self._league, self.dynamics).at(gamma, luck=False).within
            joint = form_joint(Results(outcome, float(self._league.sigma[0])), self.dynamics, gamma, guess)
        return Moments(self.dynamics.spread**2, joint.C, joint.U)

    @cached_property
    def calibrated_gamma(self) -> float | None:
        """Step size at which the slope of strengths on ratings is 1; None where there is none, and for step rules."""
        if not isinstance(self.system.gamma, float):
            return None
        with few_threads(self._league.size):
            return _calibrated(self._slopes(), self.system.outcome)

    def _slopes(self) -> Callable[[float], float]:
        outcome, dynamics = self.system.outcome, self.dynamics
        if isinstance(dynamics, Learning):
            results = Results(outcome, common_sigma(self._league))
            correction = self.moments - self.closure
            return lambda gamma: (learning_closure(results, dynamics, gamma).moments + correction).forecast_slope
        if isinstance(self.system.schedule, Rounds) and isinstance(dynamics, Form | Walk):
            league = self._league
            return lambda gamma: round_tracking(outcome, league, dynamics, gamma).moments.forecast_slope
        motion = dynamics if isinstance(dynamics, Form | Walk) else None
        closure = FormClosure(outcome, self._league, motion, _matches(self.system))

        def slope(gamma: float) -> float:
            found = closure.at(gamma)
            return (found.within + found.between).forecast_slope

        return slope

    def to_dict(self) -> dict[str, float | None]:
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
        }

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(k)}</th><td>{v:.6g}</td></tr>" for k, v in self.to_dict().items())
        return f"<table>{rows}</table>"

    def __repr__(self) -> str:
        return f"Tracking(V={self.V:.6g}, C={self.C:.6g}, U={self.U:.6g}, E={self.E:.6g})"


def tracking(system: RatingSystem, strengths: Strength | Continuum, dynamics: Dynamics) -> Tracking:
    """How well ratings follow strengths that move, every pair playing.

    Under :class:`~kinelo.model.dynamics.Learning` the law of strengths and ratings as γ → 0 is computed without
    closure, and the effect of finite steps added from the closure; where strengths start is forgotten. Under
    :class:`~kinelo.model.dynamics.Form` and :class:`~kinelo.model.dynamics.Walk` the answer is the closure's, team by
    team. There γ may differ from team to team, be Glicko's (:class:`~kinelo.model.steps.DeviationSteps`), and whole
    rounds or periods may be rated at once: the answer is then the state just before they are.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> from kinelo.model.strength import Fixed
    >>> system = RatingSystem(Tanh(nu=0.5), gamma=0.1)
    >>> found = tracking(system, Fixed([0.0, 0.0]), Form(rate=0.01, spread=1.0))
    >>> round(found.C, 6), round(found.U, 6), round(found.E, 6)
    (0.761937, 0.843613, 0.319738)
    """
    if not isinstance(system, RatingSystem):
        raise InputError(f"system must be a RatingSystem, not {system!r}.")
    teams = teams_of(strengths)
    if not isinstance(system.pairing, AllPlayAll):
        raise InputError("Tracking is computed for AllPlayAll only; simulate plays every pairing.")
    if not isinstance(dynamics, Learning | Form | Walk):
        raise InputError(f"dynamics must be Learning, Form or Walk, not {dynamics!r}.")
    with few_threads(teams.size):
        if isinstance(dynamics, Learning):
            return _learning(system, teams, dynamics)
        if isinstance(system.gamma, DeviationSteps):
            return _deviations(system, teams, dynamics)
        if isinstance(system.schedule, Rounds):
            return _rounds(system, teams, dynamics)
        return _form(system, teams, dynamics)


def _deviations(system: RatingSystem, teams: Teams, dynamics: Form | Walk) -> Tracking:
    if system.schedule is not None or not isinstance(system.gamma, DeviationSteps):
        raise InputError(f"Tracking by DeviationSteps is computed match by match, not for {system.schedule!r}.")
    found = deviation_tracking(system.outcome, teams, system.gamma, dynamics)
    total = found.within + found.between
    return Tracking(system, dynamics, total, total, found.parts, profile=None, drift=0.0, teams=found, _league=teams)


def _one(system: RatingSystem) -> float:
    if not isinstance(system.gamma, float):
        raise InputError(f"Tracking is computed here for one gamma that all teams share, not {system.gamma!r}.")
    return system.gamma


def _rounds(system: RatingSystem, teams: Teams, dynamics: Form | Walk) -> Tracking:
    found = round_tracking(system.outcome, teams, dynamics, _one(system))
    total = found.moments
    return Tracking(system, dynamics, total, total, found.parts, profile=None, drift=0.0, teams=found, _league=teams)


def _learning(system: RatingSystem, teams: Teams, learning: Learning) -> Tracking:
    _one(system)
    if system.schedule is not None:
        raise InputError(f"Tracking of strengths that learn is computed match by match, not for {system.schedule!r}.")
    results = Results(system.outcome, common_sigma(teams))
    profile = strength_profile(system.outcome, learning, results.sigma)
    small, closed = learning_closure(results, learning, 0.0), learning_closure(results, learning, system.step)
    joint = _warn_if_coarse(learning_joint(results, learning, profile, small.moments))
    # V is known from the profile to more digits than from the law in the plane.
    limit = Moments(profile.variance, joint.C, joint.U)
    best = limit + closed.moments - small.moments
    drift = system.step * learning.alpha
    return Tracking(
        system, learning, best, closed.moments, closed.parts, profile, drift, teams=None, _league=teams, _small=limit
    )


def learning_joint(results: Results, learning: Learning, profile: StrengthProfile, guess: Moments) -> JointState:
    """The law of strengths and ratings of a league that learns, as γ → 0."""
    pull = Pull(results.outcome, learning, results.sigma)
    force, drive = _tabled(profile, pull.force), _tabled(profile, results.mean)
    outer = np.cumsum(profile.weight * profile.strength**2)
    reach = -float(profile.strength[np.searchsorted(outer, NEGLIGIBLE * outer[-1])])
    exponent, middle = _tabled(profile, pull.potential), profile.strength.size // 2
    bottom, top = float(exponent(np.zeros(1))[0]), float(profile.density[middle])

    def law(points: Array) -> Array:
        return top * np.exp(2 / learning.diffusion**2 * (bottom - exponent(points)))

    motion = Motion(law, force, learning.diffusion**2, drive)
    # The closure's spread of strengths is not quite the profile's.
    scale = profile.variance / guess.V
    return joint_state(results.outcome, motion, Guess(profile.variance, scale * guess.C, scale * guess.U, reach))


def _warn_if_coarse(joint: JointState) -> JointState:
    if joint.change > COARSE:
        warnings.warn(
            f"The law of strengths and ratings as gamma → 0 still changes by {joint.change:.1g} on the finest "
            "grid: it has long tails, and fewer digits than usual are certain.",
            KineloWarning,
            stacklevel=4,
        )
    return joint


def _tabled(profile: StrengthProfile, function: Function) -> Function:
    return lambda points: profile.mean_of(function, points)


def form_joint(results: Results, form: Form, gamma: float, guess: Moments) -> JointState:
    """The law of strengths and ratings of equal teams whose form changes, as γ → 0 at a fixed ω/γ."""
    rate = form.rate / gamma
    drive = smoothed(results.mean, results.outcome.nu, form.spread)

    def law(points: Array) -> Array:
        return np.exp(-((points / form.spread) ** 2) / 2) / (math.sqrt(2 * math.pi) * form.spread)

    motion = Motion(law, lambda points: rate * points, 2 * rate * form.spread**2, drive)
    return joint_state(results.outcome, motion, Guess(form.spread**2, guess.C, guess.U, 7.2 * form.spread))


def _form(system: RatingSystem, teams: Teams, dynamics: Form | Walk) -> Tracking:
    closure = FormClosure(system.outcome, teams, dynamics, _matches(system))
    gamma = np.array(system.gamma) if isinstance(system.gamma, tuple) else _one(system)
    if isinstance(gamma, np.ndarray) and gamma.size != closure.teams.size:
        raise InputError(
            f"gamma must be one number or one per team, at most {closure.teams.size} of them: it has {gamma.size} for "
            f"{teams.size} teams."
        )
    found = closure.at(gamma)
    total = found.within + found.between
    return Tracking(system, dynamics, total, total, found.parts, profile=None, drift=0.0, teams=found, _league=teams)


def _matches(system: RatingSystem) -> int | None:
    return system.schedule.matches if isinstance(system.schedule, Period) else None


def _calibrated(slope: Callable[[float], float], outcome: Outcome) -> float | None:
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
