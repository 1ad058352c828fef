r"""The step size that tracks best: ``E(γ) = noise + lag + bias`` has its least value at γ*.

Small fluctuations, form: ``E = γq/2μ + s²/(2(γμ + ω))`` with μ = mean E b' and q = mean E(S − b)², so
``γ* = max(0, s/√q − ω/μ)``; for a random walk ω = 0. The answer uses the closure instead, which knows that noise and
form flatten b.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Dynamics, Form, Learning, Turnover, Walk, parts_of
from kinelo.model.outcome import Outcome
from kinelo.model.schedule import Period, Rounds, Schedule, checked_schedule
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.caveats import Caveat, caveats_of
from kinelo.theory.closure import LeagueClosure, NoiseKind, State
from kinelo.theory.covariance import StrengthMotion, matches_together, motion_of
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import at_small_steps, before_noise
from kinelo.theory.many_teams import FEW_GROUPS, merge_moving, representatives
from kinelo.theory.moving.following import Parts, exact_moments, follow
from kinelo.theory.moving.learning import learning_closure
from kinelo.theory.moving.open_league import OpenLeague
from kinelo.theory.moving.tracking import error_of, parts_at_rest
from kinelo.theory.teams import Continuum, as_system, normal_only, teams_of
from kinelo.theory.two_teams import exact_law

MOST_JOINT = 40
GAMMA_LADDER = 2.0
FLAT_GAIN = 1e-3
WIDEST_RANGE = 6.0
SEARCHED = 1e-8
"""Relative change to which a curve is solved that is searched for its least point only."""
DEGREES = 4, 6
"""Degrees of the polynomials, a coarse one over a wide range and a fine one about its least point."""

Curve = Callable[[float], Parts]


@dataclass(frozen=True)
class BestGamma:
    """The step size with the least mean square error, and the curve it was read from.

    Attributes
    ----------
    gamma
        γ*; on the chess scale K = 2γ*. Zero where following form costs more than it brings.
    error
        E(γ*), the mean of (r − θ)².
    parts
        Noise, lag and bias at γ*.
    gammas, noise, lag, bias
        The curve E(γ) = noise + lag + bias at some step sizes.
    caveats
        Why the answer may be off; see :class:`~kinelo.theory.caveats.Caveat`.

    >>> import kinelo as kn
    >>> best = kn.best_gamma(kn.Tanh(nu=0.5), kn.Fixed([0.0, 0.0]), kn.model.Form(rate=0.01, spread=1.0))
    >>> bool(best.error <= best.errors.min() + 1e-6), len(best.gammas) == len(best.errors)
    (True, True)
    """

    gamma: float
    error: float
    parts: Parts
    gammas: Array = field(repr=False)
    noise: Array = field(repr=False)
    lag: Array = field(repr=False)
    bias: Array = field(repr=False)
    caveats: tuple[Caveat, ...] = ()

    @property
    def errors(self) -> Array:
        """E at each of ``gammas``."""
        return self.noise + self.lag + self.bias

    def error_near(self, gamma: float) -> float:
        """E at a step between those of the curve."""
        inner = self.gammas > 0
        return float(np.interp(np.log(gamma), np.log(self.gammas[inner]), self.errors[inner]))

    def to_dict(self) -> dict[str, object]:
        """The answer and its curve as plain numbers and lists."""
        rows = {name: getattr(self, name).tolist() for name in ("gammas", "noise", "lag", "bias")}
        return {"gamma": self.gamma, "error": self.error, **vars(self.parts), "curve": rows}


def best_gamma(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    dynamics: Dynamics | Sequence[Dynamics] | None = None,
    *,
    schedule: Schedule | None = None,
) -> BestGamma:
    """Step size at which ratings are nearest to strengths.

    Parameters
    ----------
    system
        The rating system, whose own step size is not looked at, or its outcome alone. A pairing that depends on ratings
        counts where strengths are at rest, and is refused where they move.
    strengths
        A league or a continuum; under :class:`Form` its θ are the teams' own means, under :class:`Walk` the strengths
        of the day. Learning forgets them, and so does an open league, whose teams are newcomers in the end.
    dynamics
        How strengths move; None for strengths at rest, where γ trades noise against the bias of varying performances.
        With a :class:`Turnover`, alone or beside Form or Walk, E is that of all who play, newcomers included; only
        leaving at random is computed.
    schedule
        None where every match counts at once, Rounds() or Period(matches), where E is that before ratings move, or
        Field(size), where γ is the step of a contest. By default that of the system.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> from kinelo.model.strength import Fixed
    >>> form = Form(rate=0.01, spread=1.0)
    >>> best = best_gamma(Tanh(nu=0.5), Continuum(theta=0.0), form)
    >>> round(best.gamma, 6), round(best.error, 7)
    (0.116217, 0.3169133)
    >>> round(best_gamma(Tanh(nu=0.5), Fixed(4 * [0.0]), form).gamma, 4)  # four teams
    0.1056
    >>> arrivals = Turnover(rate=0.01, theta=[-1.0, 1.0], start=0.0)
    >>> round(best_gamma(Tanh(nu=0.5), Fixed(40 * [0.0]), (form, arrivals)).gamma, 3)  # newcomers pay for larger steps
    0.2
    """
    system = as_system(system)
    if schedule is not None:
        system = as_system(replace(system, schedule=checked_schedule(schedule)))
    if dynamics is not None and not system.pairing.constant:
        raise InputError("The best gamma of strengths that move is computed for AllPlayAll only.")
    moving, turnover = parts_of(dynamics)
    teams, best = teams_of(strengths), search_gamma(system, strengths, moving, turnover)
    if best.gamma > 0 and turnover is None:
        best = with_error(best, error_of(replace(system, gamma=best.gamma), strengths, moving))
    closed = moving if turnover is None else None
    exact = turnover is None and exact_law(system, teams, moving)
    kind: NoiseKind = "exact" if exact else "joint" if teams.finite else "independent"
    return replace(best, caveats=caveats_of(system, teams, kind, best.gamma, dynamics=closed))


def search_gamma(
    system: RatingSystem,
    strengths: Strength | Continuum,
    dynamics: Dynamics | None,
    turnover: Turnover | None,
) -> BestGamma:
    """The best step by the curve that is searched, whose error is off by a few thousandths for many teams."""
    teams, schedule = teams_of(strengths), system.schedule
    if turnover is not None:
        league = OpenLeague(system, strengths, dynamics, turnover)
        return _least(lambda gamma: league(gamma).parts, *_ladder(system.outcome, None, 1))
    curve = error_curve(system, strengths, dynamics)
    # As many matches as count together may overshoot together.
    together = teams.size if isinstance(schedule, Rounds) else matches_together(schedule, teams.size)
    with few_threads(teams.size):
        return _least(curve, *_ladder(system.outcome, dynamics, together))


def with_error(best: BestGamma, parts: Parts) -> BestGamma:
    """The answer with the error that is known of its step, and the curve moved with it."""
    factor = parts.total / best.error
    rows = {name: factor * getattr(best, name) for name in ("noise", "lag", "bias")}
    return replace(best, error=parts.total, parts=parts, **rows)


def error_curve(system: RatingSystem | Outcome, strengths: Strength | Continuum, dynamics: Dynamics | None) -> Curve:
    """The parts of the error as a function of γ."""
    system, teams = as_system(system), teams_of(strengths)
    if isinstance(dynamics, Learning):
        if isinstance(system.schedule, Rounds | Period):
            raise InputError(
                f"The best gamma of strengths that learn is computed match by match, not for {system.schedule!r}."
            )
        return lambda gamma: learning_closure(system.outcome, dynamics, gamma, teams, system.sides).parts
    if dynamics is None or isinstance(dynamics, Form | Walk):
        return _FormCurve(system, strengths, dynamics)
    raise InputError(f"dynamics must be Learning, Form, Walk or None to have a best gamma, not {dynamics!r}.")


class _FormCurve:
    """Parts of the error at rest, under form and under walks, each γ solved from the last where that is near."""

    def __init__(self, system: RatingSystem, strengths: Strength | Continuum, dynamics: Form | Walk | None) -> None:
        teams = teams_of(strengths)
        normal_only(teams)
        merged = merge_moving(system, teams, motion_of(dynamics) if dynamics else StrengthMotion(walk=1.0))
        rounds = isinstance(system.schedule, Rounds)
        # A curve is searched at a tenth of the cost, and off by less than three thousandths, with few groups.
        if merged is not None or (rounds and teams.finite and teams.size > FEW_GROUPS):
            teams = representatives(teams, FEW_GROUPS).teams
        self._system, self._strengths, self._dynamics, self._teams = system, strengths, dynamics, teams
        # Beyond some dozens of teams independent ones differ by less than the closure is off by.
        whole = teams.finite and (teams.size <= MOST_JOINT or rounds)
        self._closure = LeagueClosure(system, teams, motion=motion_of(dynamics), whole=whole)
        self._start = teams.theta if system.pairing.constant else before_noise(system, teams).rating
        self._last: tuple[float, State] | None = None

    def __call__(self, gamma: float) -> Parts:
        """Noise, lag and bias at γ."""
        if gamma == 0 and isinstance(self._dynamics, Walk):
            raise NoStationaryState("Ratings that do not move lose a random walk out of sight: gamma must exceed 0.")
        if gamma == 0 and not self._system.pairing.constant:
            # Without noise a team may slide along the edge of a window.
            return parts_at_rest(at_small_steps(self._system, self._strengths))
        gamma = max(gamma, 1e-12 / self._system.outcome.steepest)
        near = self._last is not None and 0.5 <= gamma / self._last[0] <= 2
        guess = self._last[1] if near and self._last is not None else None
        found = self._closure.solve(gamma, self._start, guess, SEARCHED)
        self._last = (gamma, found.state)
        parts, form = follow(self._closure, found).parts, self._dynamics
        system = replace(self._system, gamma=gamma)
        if isinstance(form, Form) and exact_law(system, self._teams, form):
            return parts.scaled_to(exact_moments(system, self._teams.strengths, form, quick=True).error)
        return parts


def _ladder(outcome: Outcome, dynamics: Dynamics | None, together: int) -> tuple[float, float, float]:
    """A first step size, the least one that differs from 0, and the largest one tried."""
    most = (WIDEST_RANGE if together == 1 else 2 / together) / outcome.steepest
    if isinstance(dynamics, Walk):
        return min(dynamics.step, most / GAMMA_LADDER), 0.0, most
    if isinstance(dynamics, Form):
        return min(dynamics.step, most / GAMMA_LADDER), FLAT_GAIN * dynamics.rate / outcome.steepest, most
    return min(0.1 / outcome.steepest, most / GAMMA_LADDER), FLAT_GAIN * 0.1 / outcome.steepest, most


def _least(curve: Curve, current: float, least: float, most: float) -> BestGamma:
    """Climb down a ladder of step sizes, then find the bottom by polynomials through Chebyshev points."""
    parts_at: dict[float, Parts] = {}

    def error(gamma: float) -> float:
        """E at γ; infinite where ratings do not settle."""
        try:
            if gamma not in parts_at:
                parts_at[gamma] = curve(gamma)
            return parts_at[gamma].total
        except NoStationaryState:
            return math.inf

    while error(current) == math.inf:
        if current / GAMMA_LADDER < least:
            curve(current)  # and its reason
        current /= GAMMA_LADDER
    direction = GAMMA_LADDER if error(current * GAMMA_LADDER) < error(current) else 1 / GAMMA_LADDER
    while least <= current * direction <= most and error(current * direction) < error(current):
        current *= direction
    if current / GAMMA_LADDER < least and error(0.0) <= error(current):
        current = 0.0
    else:
        for width, degree in zip((min(GAMMA_LADDER, most / current) if most > current else 1.2, 1.2), DEGREES):
            # The least point of the polynomial through E at Chebyshev points of ln γ, where all of them are known.
            points = np.polynomial.chebyshev.chebpts1(degree + 1)
            errors = np.array([error(current * width**point) for point in points])
            if not np.isfinite(errors).all():
                continue
            series = np.polynomial.Chebyshev.fit(points, errors, degree, [-1, 1])
            roots = series.deriv().roots()
            inside = roots.real[(np.abs(roots.imag) < 1e-6) & (np.abs(roots.real) <= 1)]
            candidates = np.concatenate([inside, [-1.0, 1.0]])
            bottom = current * width ** float(candidates[np.argmin(series(candidates))])
            current = bottom if error(bottom) <= error(current) else current
    gammas, parts = sorted(parts_at), parts_at[current]
    rows = np.array([[parts_at[gamma].noise, parts_at[gamma].lag, parts_at[gamma].bias] for gamma in gammas])
    return BestGamma(current, parts.total, parts, np.array(gammas), rows[:, 0], rows[:, 1], rows[:, 2])
