r"""What a diagnosis says of strengths that move, of rounds and periods, and of ratings with a deviation.

Where whole rounds or periods are rated at once, a disturbance of rate λ (per match of a team and γ) shrinks by
``1 − nγλ`` between two ratings of n matches: too large a step overshoots, and noise is larger than match by match.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import root_scalar

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Dynamics, Learning, Turnover
from kinelo.model.schedule import Field, Period, Rounds
from kinelo.model.steps import DeviationSteps
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.theory.covariance import matches_together
from kinelo.theory.limit import with_noise
from kinelo.theory.moving.best import BestGamma, best_gamma
from kinelo.theory.moving.glicko import DeviationState, settled_deviations
from kinelo.theory.moving.newcomer import Inflation, open_league
from kinelo.theory.moving.rounds import CriticalGamma, critical_gamma
from kinelo.theory.moving.tracking import Tracking, tracking
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum, Teams

NEAR = 0.02
WORTH = 1.05
SETTLED = 0.01


@dataclass(frozen=True)
class MotionFacts:
    """How ratings follow strengths that move, and what rounds or deviations do to them; None where it is not asked.

    Attributes
    ----------
    tracking, best
        How ratings follow, and the step size that follows best.
    rounds
        Step sizes at which rating whole rounds at once becomes unstable.
    deviations
        Where ratings with a deviation settle.
    inflation
        How an open league drifts.
    """

    tracking: Tracking | None = None
    best: BestGamma | None = None
    rounds: CriticalGamma | None = None
    deviations: DeviationState | None = None
    inflation: Inflation | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        plain: dict[str, Any] = {}
        if self.tracking is not None:
            plain["tracking"] = self.tracking.to_dict()
        if self.best is not None:
            plain["best"] = {"gamma": self.best.gamma, "error": self.best.error}
        if self.rounds is not None:
            plain["rounds"] = {"critical": self.rounds.critical, "fastest": self.rounds.fastest}
        if self.deviations is not None:
            smallest, largest = float(self.deviations.deviation.min()), float(self.deviations.deviation.max())
            plain["deviations"] = {
                "smallest": smallest, "largest": largest, "slope": self.deviations.slope,
                "travel_speed": self.deviations.travel_speed,
            }  # fmt: skip
        if self.inflation is not None:
            plain["inflation"] = {**asdict(self.inflation), "excess": self.inflation.excess}
        return plain


def one_step(system: RatingSystem, strengths: Strength | Continuum) -> RatingSystem:
    """The system as the static verdict takes it: matches rated one by one, with one step for all.

    Rounds keep their step, and a field its size; deviations are replaced by the mean step that they settle at.
    """
    gamma = system.gamma
    if isinstance(gamma, DeviationSteps):
        settled = settled_deviations(system, strengths)
        gamma = system.outcome.nu * settled.teams.mean(settled.deviation**2)
    return replace(system, gamma=gamma, schedule=system.schedule if isinstance(system.schedule, Field) else None)


def motion_facts(
    system: RatingSystem, strengths: Strength | Continuum, dynamics: Dynamics | None
) -> MotionFacts | None:
    """Compute what is asked for by the system's schedule and steps, and by the dynamics."""
    rule, plain = system.gamma, one_step(system, strengths)
    rounds = critical_gamma(system.outcome, strengths) if isinstance(system.schedule, Rounds) else None
    if isinstance(rule, DeviationSteps) and system.schedule is not None:
        raise InputError(f"DeviationSteps are judged match by match, not for {system.schedule!r}; simulate plays them.")
    deviations = None
    if isinstance(rule, DeviationSteps):
        deviations = settled_deviations(system, strengths, noise="gaussian")
    if dynamics is None:
        return None if rounds is None and deviations is None else MotionFacts(rounds=rounds, deviations=deviations)
    if isinstance(dynamics, Turnover):
        return MotionFacts(rounds=rounds, deviations=deviations, inflation=open_league(plain, strengths, dynamics))
    if not isinstance(dynamics, Dynamics):
        raise InputError(f"dynamics must be Learning, Form, Walk or Turnover, not {dynamics!r}.")
    followed = tracking(system, strengths, dynamics)
    return MotionFacts(followed, best_gamma(system, strengths, dynamics), rounds, deviations)


def motion_rows(motion: MotionFacts | None) -> list[tuple[str, str]]:
    """Name and finding of every line about motion."""
    if motion is None:
        return []
    rows: list[tuple[str, str]] = []
    if motion.tracking is not None:
        one = motion.tracking
        rows.append(
            (
                "Following strengths",
                f"mean square error {one.E:.4g} (noise {one.parts.noise:.3g}, lag {one.parts.lag:.3g}, bias "
                f"{one.parts.bias:.3g}) where strengths spread by {one.V**0.5:.3g}; ratings on strengths "
                f"{one.rating_slope:.3f}, strengths on ratings {one.forecast_slope:.3f}",
            )
        )
        if one.drift > 0:
            rows.append(("Common learning", f"strengths leave the mean rating behind by {one.drift:.4g} per match"))
    if motion.best is not None:
        best = motion.best
        words = f"γ = {best.gamma:.4g} (K = {2 * best.gamma:.4g}) follows best, with mean square error {best.error:.4g}"
        rows.append(("Best step size", words if best.gamma > 0 else "the smaller the better: following costs more"))
    if motion.rounds is not None:
        one = motion.rounds
        words = f"unstable from γ = {one.critical:.4g}, fastest at {one.fastest:.4g}"
        rows.append(("Whole rounds", f"{words}, safe from any start below {one.bound:.4g}"))
    if motion.deviations is not None:
        one = motion.deviations
        travel = f"; all ratings travel by {one.travel_speed:+.3g} per match" if abs(one.travel_speed) > 1e-12 else ""
        rd = f"RD settles between {one.deviation.min():.4g} and {one.deviation.max():.4g}"
        rows.append(("Deviations", f"{rd}, slope of ratings on strengths {one.slope:.3f}{travel}"))
    if motion.inflation is not None:
        one = motion.inflation
        words = f"mean rating {one.rating:+.3g}, mean strength {one.strength:+.3g} per match of a team"
        kind = "inflation" if one.excess > 0 else "deflation"
        rows.append(("Open league", f"{words}: {kind} by {abs(one.excess):.3g}"))
    return rows


def motion_advice(system: RatingSystem, motion: MotionFacts | None) -> list[str]:
    """What to change because strengths move, rounds overshoot or a scale travels."""
    if motion is None:
        return []
    advice: list[str] = []
    if motion.rounds is not None and isinstance(system.gamma, float) and system.gamma >= motion.rounds.critical:
        advice.append(
            f"Reduce γ below {motion.rounds.critical:.3g}: rating whole rounds at once with γ = {system.gamma:.3g} "
            "makes ratings alternate."
        )
    if motion.tracking is not None and motion.best is not None:
        advice += _advice_on_step(motion.tracking, motion.best)
    if motion.tracking is not None and isinstance(motion.tracking.dynamics, Learning) and motion.tracking.drift > 0:
        advice.append(
            f"Add {motion.tracking.drift:.3g} to both ratings after a match if ratings are to keep up with learning: "
            "points that are only passed on cannot show it."
        )
    if motion.deviations is not None and abs(motion.deviations.travel_speed) > 1e-9:
        advice.append("Re-centre ratings now and then: with deviations this lopsided league's whole scale travels.")
    if motion.inflation is not None and abs(motion.inflation.excess) > 0:
        target = "lower" if motion.inflation.excess > 0 else "higher"
        advice.append(f"Let newcomers start {target}, or re-centre: the open league's ratings drift against strengths.")
    return advice


def _advice_on_step(followed: Tracking, best: BestGamma) -> list[str]:
    gamma = followed.system.gamma
    advice: list[str] = []
    if best.gamma == 0 and isinstance(followed.dynamics, Learning):
        return advice
    if best.gamma == 0 and isinstance(gamma, float):
        advice.append("Reduce γ: form changes too fast to be worth following; treat it as luck of the day.")
    elif isinstance(gamma, float) and followed.parts.total > WORTH * best.error:
        verb = "Raise" if best.gamma > gamma else "Reduce"
        gain = 1 - best.error / followed.parts.total
        advice.append(f"{verb} γ from {gamma:.3g} to about {best.gamma:.3g}: the error falls by {gain:.0%}.")
    slope = followed.forecast_slope
    if abs(slope - 1) > NEAR:
        kind = "too far apart" if slope < 1 else "too close together"
        advice.append(f"Multiply rating gaps by {slope:.3f} in forecasts: ratings lie {kind} to be read as strengths.")
    return advice


class RatedTogether(NamedTuple):
    """The state just before ratings move, matches of a team until a disturbance is down to 1 %, the unbiased γ, and the
    standard deviation of a rating at it.
    """

    state: StationaryState
    matches: float
    unbiased: float | None
    noise_when_unbiased: float | None


def rate_together(schedule: Rounds | Period, strengths: Strength | Continuum, still: StationaryState) -> RatedTogether:
    """What a schedule makes of a league whose ratings rest at ``still`` as γ → 0."""
    system, teams = still.system, still.teams
    if not system.pairing.constant:
        raise InputError("Rounds and periods are judged under AllPlayAll only; simulate plays the rest.")
    if not teams.finite and isinstance(schedule, Rounds):
        raise InputError("Rounds() needs a number of teams, which a continuum has not; give Period(matches).")
    critical = critical_gamma(system.outcome, strengths)
    # In a continuum L is a mean over opponents already.
    opponents = teams.size - 1 if teams.finite else 1
    matches = matches_together(schedule, teams.size)
    gamma, share = system.step, matches / opponents

    def noisy(step: float) -> StationaryState:
        return with_noise(replace(still, system=replace(system, gamma=step, schedule=schedule)))

    fastest, slowest = 1 - gamma * share * critical.largest, 1 - gamma * share * critical.slowest
    factor = max(abs(fastest), abs(slowest))
    state = replace(noisy(gamma), stable=fastest > -1)
    settling = matches * math.log(SETTLED) / math.log(factor) if 0 < factor < 1 else math.inf
    unbiased = _unbiased(noisy, teams, 2 / (share * critical.largest))
    noise = None if not unbiased else math.sqrt(teams.mean(noisy(unbiased).variance))
    return RatedTogether(state, settling, unbiased, noise)


def _unbiased(noisy: Callable[[float], StationaryState], teams: Teams, most: float) -> float | None:
    """γ at which the slope of ratings on strengths is 1, short of where ratings overshoot; None if there is none."""
    if np.ptp(teams.theta) == 0:
        return None
    if not teams.sigma.any():
        return 0.0

    def excess(gamma: float) -> float:
        return noisy(gamma).slope - 1

    try:
        if excess(0.01 * most) > 0 or excess(0.9 * most) < 0:
            return None
        found = root_scalar(excess, bracket=(0.01 * most, 0.9 * most), method="brentq", xtol=1e-6 * most)
        return float(found.root)
    except NoStationaryState:
        return None
