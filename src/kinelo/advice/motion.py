r"""What a diagnosis says of strengths that move, of rounds and periods, and of ratings with a deviation.

Where whole rounds or periods are rated at once, a disturbance of rate λ (per match of a team and γ) shrinks by
``1 − nγλ`` between two ratings of n matches: too large a step overshoots, and noise is larger than match by match.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from kinelo.advice.judged import Judged, JudgedLeague
from kinelo.errors import InputError
from kinelo.model.dynamics import Learning, Turnover, Walk
from kinelo.model.schedule import Period, Rounds
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.presentation import significant
from kinelo.theory.covariance import matches_together
from kinelo.theory.moving.best import BestGamma
from kinelo.theory.moving.following import Moments
from kinelo.theory.moving.glicko import DeviationState
from kinelo.theory.moving.newcomer import Inflation, open_league
from kinelo.theory.moving.rounds import CriticalGamma, critical_gamma
from kinelo.theory.moving.tracking import Tracking
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum

SETTLED_SHARE = 0.01
STILL_SCALE = 1e-9
"""Largest speed of a whole scale that counts as standing still."""


@dataclass(frozen=True)
class MotionFacts:
    """How ratings follow strengths that move, and what rounds or deviations do to them; None where it is not asked.

    Attributes
    ----------
    tracking
        How ratings follow the strengths of a league that nobody enters or leaves.
    followed
        V, C and U of those who play, newcomers included where theory knows them.
    best
        The step size of least error, newcomers included.
    rounds
        Step sizes at which rating whole rounds at once becomes unstable.
    deviations
        Where ratings with a deviation settle.
    inflation
        How an open league drifts.
    """

    tracking: Tracking | None = None
    followed: Moments | None = None
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


def motion_facts(
    system: RatingSystem,
    league: JudgedLeague,
    turnover: Turnover | None,
    judged: Judged,
    plain: RatingSystem,
    best: BestGamma | None,
) -> MotionFacts | None:
    """What is asked for by the system's schedule and steps, and by the dynamics; ``plain`` has one step for all."""
    strengths = league.strengths
    rounds = critical_gamma(system.outcome, strengths) if isinstance(system.schedule, Rounds) else None
    inflation = None if turnover is None else open_league(plain, strengths, turnover)
    best = None if judged.tracking is None and turnover is None else best
    followed = None if judged.tracking is None else judged.moments
    facts = MotionFacts(judged.tracking, followed, best, rounds, judged.deviations, inflation)
    return None if facts == MotionFacts() else facts


def motion_rows(motion: MotionFacts | None, unit: str = "match") -> list[tuple[str, str]]:
    """Name and finding of every line about motion; ``unit`` is a match or a contest."""
    if motion is None:
        return []
    rows: list[tuple[str, str]] = []
    if motion.tracking is not None:
        moments, drift = motion.followed or motion.tracking.moments, motion.tracking.drift
        what = "strengths of the day" if isinstance(motion.tracking.dynamics, Walk) else "strengths"
        slopes = f"slope of ratings on {what} {moments.rating_slope:.3f}, of {what} on ratings "
        slopes += f"{moments.forecast_slope:.3f}"
        rows.append(("Following strengths", f"{what} spread by ± {moments.V**0.5:.3g}; {slopes}"))
        if drift > 0:
            rows.append(("Common learning", f"strengths leave the mean rating behind by {drift:.4g} per {unit}"))
    best, newcomers = motion.best, motion.inflation is not None
    if best is not None and (motion.tracking is not None or newcomers):
        words = (
            f"γ = {best.gamma:.4g} (K = {2 * best.gamma:.4g}) follows best, with mean square error "
            f"{significant(best.error, 4)}{', newcomers counted' if newcomers else ''}"
        )
        if motion.tracking is not None and isinstance(motion.tracking.dynamics, Learning):
            words = (
                f"none to choose: γ is also the pace at which teams learn. The mean square error is {best.error:.4g} "
                f"at γ = {best.gamma:.3g}, and takes 1/γ as many {unit}{'es' if unit == 'match' else 's'} to reach"
            )
        elif best.gamma == 0:
            why = (
                "form changes too fast to be followed" if motion.tracking is not None else "there is nothing to follow"
            )
            words = f"the smaller the better: {why} (mean square error {best.error:.4g})"
        rows.append(("Best step size", words))
    elif newcomers:
        words = "not computed, because what newcomers add to the error is not; kn.design plays it"
        rows.append(("Best step size", words))
    if motion.rounds is not None:
        part = motion.rounds
        words = f"unstable from γ = {part.critical:.4g}, fastest at {part.fastest:.4g}"
        rows.append(("Whole rounds", f"{words}, safe from any start below {part.bound:.4g}"))
    if (settled := motion.deviations) is not None:
        speed = settled.travel_speed
        travel = f"; all ratings travel by {speed:+.3g} per match" if abs(speed) > STILL_SCALE else ""
        words = f"RD settles between {settled.deviation.min():.4g} and {settled.deviation.max():.4g}"
        rows.append(("Deviations", f"{words}{travel}"))
    if motion.inflation is not None:
        part = motion.inflation
        words = f"mean rating {part.rating:+.3g}, mean strength {part.strength:+.3g} per {unit} of a team"
        kind = f"{'inflation' if part.excess > 0 else 'deflation'} by {abs(part.excess):.3g}"
        kind = kind if abs(part.excess) > STILL_SCALE else "no inflation"
        rows.append(("Open league", f"{words}: {kind}"))
    return rows


def drift_notes(motion: MotionFacts | None, unit: str = "match") -> list[str]:
    """What to do about a scale that moves as a whole, which no error about the league's mean shows."""
    if motion is None:
        return []
    notes: list[str] = []
    if motion.tracking is not None and motion.tracking.drift > 0:
        notes.append(
            f"Add {motion.tracking.drift:.3g} to {'both' if unit == 'match' else 'all'} ratings after a {unit} if "
            "ratings are to keep up with learning: "
            "points that are only passed on cannot show it."
        )
    if motion.deviations is not None and abs(motion.deviations.travel_speed) > STILL_SCALE:
        notes.append("Re-centre ratings now and then: with deviations this lopsided league's whole scale travels.")
    if motion.inflation is not None and abs(motion.inflation.excess) > STILL_SCALE:
        target = "lower" if motion.inflation.excess > 0 else "higher"
        notes.append(f"Let newcomers start {target}, or re-centre: the open league's ratings drift against strengths.")
    return notes


class RatedTogether(NamedTuple):
    """Whether mean ratings settle, and matches of a team until a disturbance is down to 1 %: of what was found with
    steps so many times as large.
    """

    stable: bool
    settling: Callable[[Judged, float], float]


def rate_together(
    schedule: Rounds | Period,
    strengths: Strength | Continuum,
    still: StationaryState,
    system: RatingSystem,
) -> RatedTogether:
    """What a schedule makes of a league whose ratings rest at ``still`` as γ → 0; ``system`` has one step for all."""
    teams = still.teams
    if not system.pairing.constant:
        raise InputError("Rounds and periods are judged under AllPlayAll only; simulate plays the rest.")
    critical = critical_gamma(system.outcome, strengths)
    # In a continuum L is a mean over opponents already.
    opponents = teams.size - 1 if teams.finite else 1
    matches = matches_together(schedule, teams.size)
    gamma, share = system.step, matches / opponents

    def settling(found: Judged, times: float) -> float:
        fastest, slowest = (1 - times * gamma * share * rate for rate in (critical.largest, critical.slowest))
        factor = max(abs(fastest), abs(slowest))
        return matches * math.log(SETTLED_SHARE) / math.log(factor) if 0 < factor < 1 else math.inf

    return RatedTogether(gamma * share * critical.largest < 2, settling)
