"""The verdict a designer of a rating system wants, before choosing ν, γ and the pairing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from kinelo.advice.judged import Judged, JudgedLeague, judge, one_step, resting
from kinelo.advice.motion import (
    SETTLED_SHARE,
    STILL_SCALE,
    MotionFacts,
    RatedTogether,
    drift_notes,
    motion_facts,
    motion_rows,
    rate_together,
)
from kinelo.advice.remedy import Case, Remedy, find_remedy, with_newcomers
from kinelo.advice.report import Report, Rows
from kinelo.advice.results import ResultsDiagnosis, diagnose_results
from kinelo.advice.words import (
    ConditionB,
    Facts,
    Gain,
    RatedTeam,
    Taylor,
    Worth,
    rows_of,
)
from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Dynamics, Learning, Turnover, parts_of
from kinelo.model.expectation import expected_result, largest_variance, taylor_result
from kinelo.model.law import description
from kinelo.model.outcome import Outcome
from kinelo.model.results import Results
from kinelo.model.schedule import Period, Rounds
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import flag
from kinelo.presentation import json_ready, percent, significant
from kinelo.theory.caveats import Caveat
from kinelo.theory.farming import largest_gain
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import DENSE_TEAMS
from kinelo.theory.many_teams import representatives
from kinelo.theory.moving.best import BestGamma, search_gamma, with_error
from kinelo.theory.relaxation import relaxation_of
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum, Teams, as_system
from kinelo.theory.unbiased import UnbiasedGamma, unbiased_gamma
from kinelo.theory.worth import worth_at

if TYPE_CHECKING:
    from kinelo.advice.check import Check

TRAVEL = Caveat(
    "travel speed",
    "The speed at which the whole scale travels is about a tenth larger in leagues than in theory.",
    0.1,
)
LISTED_TEAMS = 5
SMALLEST_GAIN = 1e-7
TAYLOR_TOLERANCE = 0.05


@dataclass(frozen=True, repr=False)
class Diagnosis(Facts, Report):
    """The verdict: everything in :class:`~kinelo.advice.words.Facts`, with advice and the state behind it.

    Attributes
    ----------
    advice
        What to change, in sentences, the most important first.
    state
        Where ratings settle, with their noise: from the closure with the motion, where strengths move.
    remedy
        The one change that lowers the error most, with the error before and after; None where none is worth it.
    motion
        How ratings follow strengths that move, and what rounds and deviations do; None where nothing moves.

    >>> import kinelo as kn
    >>> verdict = kn.diagnose(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.Normal([4.0, 7.0, 10.0], sigma=1.0))
    >>> len(verdict.advice) > 0, "slope" in verdict.to_dict()
    (True, True)
    """

    state: StationaryState
    motion: MotionFacts | None = None
    remedy: Remedy | None = None

    @cached_property
    def advice(self) -> tuple[str, ...]:
        """What to change, in sentences: the remedy, and what to do where the whole scale moves."""
        notes = drift_notes(self.motion, self.unit)
        if self.remedy is not None:
            return (self.remedy.sentence, *notes)
        if not self.stable:
            rounds = None if self.motion is None else self.motion.rounds
            advice = "These ratings are an unstable equilibrium: widen the pairing, or start from other ratings."
            if rounds is not None and isinstance(self.system.gamma, float):
                advice = (
                    f"Reduce γ below {rounds.critical:.3g}: rating whole rounds at once with γ = "
                    f"{self.system.gamma:.3g} makes ratings alternate."
                )
            elif self.system.schedule is not None:
                advice = "Reduce γ, or rate fewer matches at once: so many together overshoot, and ratings alternate."
            return (advice, *notes)
        if notes:
            return tuple(notes)
        if self.uncounted:
            nothing = (
                "Nothing that theory knows: what newcomers add to the error here is not computed; kn.design plays it."
            )
        elif self.strength_spread == 0:
            nothing = (
                "Nothing: all teams are equally strong, so every gap between ratings is luck; a rating varies by "
                f"± {self.rating_noise:.3g}, and less with smaller steps."
            )
        else:
            error, share = self.error.total, percent(self.error.total / self.strength_variance, 1)
            nothing = (
                f"Nothing: the mean square error of {significant(error, 4)} is {share} of the variance of strengths, "
                "and no change of the steps or of the scale that is computed here is worth its price."
            )
        return (nothing,)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain numbers, words and lists, ready for JSON; what is infinite or undefined is None."""
        left_out = (
            "system",
            "state",
            "motion",
            "check",
            "caveats",
            "by_deviations",
            "dynamics",
            "open",
            "uncounted",
            "remedy",
        )
        step = self.system.gamma
        plain: dict[str, Any] = {
            "outcome": description(self.system.outcome),
            "pairing": description(self.system.pairing),
            "gamma": list(step) if isinstance(step, tuple) else step if isinstance(step, float) else description(step),
            "shrinkage": self.shrinkage,
            **{one.name: getattr(self, one.name) for one in fields(self) if one.name not in left_out},
            "advice": self.advice,
            "caveats": [one.sentence for one in self.caveats],
            "check": None if self.check is None else self.check.to_dict(),
            "remedy": None if self.remedy is None else self.remedy.to_dict(),
        }
        if self.motion is not None:
            plain["motion"] = self.motion.to_dict()
        return json_ready(plain)

    def to_html(self) -> str:
        """The verdict as an HTML fragment: a table and a list of advice."""
        return self._repr_html_()

    def _title(self) -> str:
        return f"Where the ratings of {self.league} end up"

    def rows(self) -> Rows:
        """Name and finding of every line."""
        rows = [*rows_of(self), *motion_rows(self.motion, self.unit)]
        rows += [("Outside the range of theory", one.sentence) for one in self.caveats]
        if self.check is not None:
            rows.append(("Played beside it", self.check.sentence))
        if self.remedy is not None and self.remedy.check is not None:
            rows.append(("Played with the change", self.remedy.check.sentence))
        return rows

    def _sentences(self) -> tuple[str, ...]:
        return self.advice

    def __repr__(self) -> str:
        return f"Diagnosis: {' '.join(self.advice) or 'nothing to change'}"

    def __str__(self) -> str:
        lines = [*self.rows(), *(("What to change", sentence) for sentence in self.advice)]
        return "\n".join(f"{name}: {words}" for name, words in lines)


@overload
def diagnose(  # pyright: ignore[reportOverlappingOverload]
    system: RatingSystem | Outcome, strengths: Results, dynamics: None = None, *, check: bool = False
) -> ResultsDiagnosis: ...
@overload
def diagnose(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    dynamics: Dynamics | Sequence[Dynamics] | None = None,
    *,
    check: bool = False,
) -> Diagnosis: ...
def diagnose(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    dynamics: Dynamics | Sequence[Dynamics] | None = None,
    *,
    check: bool = False,
) -> Diagnosis | ResultsDiagnosis:
    """Say where the ratings of a league end up, how noisy and how slow they are, and what to change.

    What is advised is one thing at a time, that which lowers the error (bias, noise and lag together) most, with its
    price. With ``dynamics`` (one that moves strengths, a Turnover, or both) it says too how well ratings follow
    strengths that move, and which step follows best; of rounds, when they become unstable; of DeviationSteps, where
    deviations settle and whether the scale travels. With ``check`` leagues are played beside the theory, as they are
    and with the remedy, and both numbers are shown.

    Of a table of :class:`~kinelo.model.results.Results` it says where ratings end, what they cannot show, and whether
    that is more than luck.

    Examples
    --------
    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    >>> verdict = kn.diagnose(system, kn.Normal([4.0, 7.0, 10.0], sigma=1.0))
    >>> verdict.condition.holds, round(verdict.slope, 3), verdict.underrated[0].team
    (True, 0.79, 'team 2')
    """
    system, check = as_system(system), flag("check", check)
    if isinstance(strengths, Results):
        if dynamics is not None or check:
            raise InputError("A table of Results has no strengths that could move or be checked.")
        return diagnose_results(system, strengths)
    moving, turnover = parts_of(dynamics)
    if system.deviations and system.schedule is not None:
        raise InputError(f"DeviationSteps are judged match by match, not for {system.schedule!r}; simulate plays them.")
    league = JudgedLeague(strengths, moving)
    still = resting(system, league)
    plain = one_step(system, strengths, still)
    judged = judge(system, league, still)
    judged_before: dict[float, Judged] = {}
    best = _best(system, league, turnover, still, judged, judged_before)
    pace = _pace(system, plain, strengths, still)
    settling = pace.settling(judged, 1.0)
    judged = replace(judged, state=replace(judged.state, stable=judged.state.stable and pace.stable))
    counted = judged if turnover is None else with_newcomers(judged, system, league, turnover)
    uncounted, judged = turnover is not None and counted is judged, counted
    motion = motion_facts(system, league, turnover, judged, plain, best)
    remedy = find_remedy(Case(system, league, turnover, still, judged, best, judged_before, pace.settling))
    unbiased = _unbiased(system, strengths, still) if moving is None and turnover is None else None
    verdict = _verdict(system, league, still, judged, settling, motion, unbiased)
    # What turnover does is not part of the theory that could be checked.
    played = None
    if check and turnover is None:
        played = _check(system, strengths, judged, None if remedy is None else remedy.factor)
        if remedy is not None and remedy.system is not None:
            other = judged_before.get(remedy.system.gamma) or judge(remedy.system, league, still)  # type: ignore[arg-type]
            remedy = replace(remedy, check=_check(remedy.system, strengths, other, None))
    return replace(verdict, check=played, remedy=remedy, open=turnover is not None, uncounted=uncounted)


def _check(system: RatingSystem, strengths: Strength | Continuum, judged: Judged, factor: float | None) -> Check:
    # The simulator and its compiler are loaded by those who ask for a league only.
    from kinelo.advice.check import check_state, check_tracking

    if judged.tracking is not None:
        return check_tracking(judged.tracking, strengths, factor=factor)
    return check_state(replace(judged.state, system=system), factor=factor)


def _best(
    system: RatingSystem,
    league: JudgedLeague,
    turnover: Turnover | None,
    still: StationaryState,
    judged: Judged,
    known: dict[float, Judged],
) -> BestGamma | None:
    """The step of least error, newcomers included, where one γ serves all.

    What is found at that step is remembered in ``known``.
    """
    one = isinstance(system.gamma, float)
    if not (one or (judged.tracking is not None and system.schedule is None)):
        return None
    try:
        best = search_gamma(system, league.strengths, league.dynamics, turnover)
        if best.gamma == 0 or turnover is not None:
            return best
        # The error of that step, as every other row has it.
        known[best.gamma] = judge(replace(system, gamma=best.gamma), league, still, judged.state)
        return with_error(best, known[best.gamma].parts)
    except (InputError, NoStationaryState):
        return None


def _pace(
    system: RatingSystem, plain: RatingSystem, strengths: Strength | Continuum, still: StationaryState
) -> RatedTogether:
    """Whether and how fast ratings settle, as noisy as they are."""
    if isinstance(system.schedule, Rounds | Period):
        with few_threads(still.teams.size):
            return rate_together(system.schedule, strengths, still, plain)

    def settling(judged: Judged, factor: float) -> float:
        # Strengths of the day may explain more of a walk's ratings than noise adds.
        variance = np.maximum(judged.state.variance, 0.0)
        other = replace(plain, gamma=factor * plain.step)
        with few_threads(still.teams.size):
            noisy = replace(judged.state, teams=still.teams, system=other, variance=variance)
            return relaxation_of(noisy).matches_per_team(SETTLED_SHARE)

    return RatedTogether(True, settling)


def _verdict(
    system: RatingSystem,
    league: JudgedLeague,
    still: StationaryState,
    judged: Judged,
    settling: float,
    motion: MotionFacts | None,
    unbiased: UnbiasedGamma | None,
) -> Diagnosis:
    """Everything but checks and the remedy."""
    state, teams = judged.state, still.teams
    learns = isinstance(league.dynamics, Learning)
    by_bias = np.argsort(state.bias, kind="stable")
    caveats = () if system.deviations else state.caveats
    if judged.tracking is not None:
        caveats = judged.tracking.caveats
    travels = judged.deviations is not None and abs(judged.deviations.travel_speed) > STILL_SCALE
    return Diagnosis(
        system=system,
        league=f"{teams.size:,} teams" if teams.finite else "a continuum of teams",
        condition=_condition(system.outcome, teams),
        taylor=_taylor(system.outcome, teams),
        slope=judged.moments.rating_slope if learns else state.slope,
        slope_of_small_steps=still.slope,
        overrated=() if learns else _most_biased(state, by_bias[::-1], 1),
        underrated=() if learns else _most_biased(state, by_bias, -1),
        largest_bias=float(np.abs(state.bias).max()),
        rating_noise=math.sqrt(teams.mean(state.variance)),
        strength_spread=math.sqrt(judged.moments.V / teams.crowding),
        strength_variance=judged.moments.V,
        stable=state.stable,
        matches_until_converged=settling,
        unbiased_gamma=None if unbiased is None else unbiased.gamma,
        noise_when_unbiased=None if unbiased is None else unbiased.noise,
        error_when_unbiased=None if unbiased is None else unbiased.error,
        error=judged.parts,
        dynamics=league.dynamics,
        open=False,
        uncounted=False,
        by_deviations=system.deviations is not None,
        worth=_worth(still),
        farming=None if learns else _farming(still, league.at_rest),
        caveats=(*caveats, TRAVEL) if travels else caveats,
        check=None,
        state=state,
        motion=motion,
    )


def _farming(still: StationaryState, strengths: Strength | Continuum) -> Gain | None:
    teams = still.teams
    if isinstance(strengths, Continuum) or teams.size > DENSE_TEAMS:
        return None
    own, other, points, reacting = largest_gain(replace(still, teams=replace(teams, strengths=strengths)))
    small = points <= SMALLEST_GAIN * max(float(np.ptp(still.rating)), 1 / still.system.outcome.sharpness)
    return Gain(teams.name(own), teams.name(other), *((0.0, 0.0) if small else (points, reacting)))


def _worth(still: StationaryState) -> Worth | None:
    if still.system.sides == 2:
        return None
    each = worth_at(still)
    return Worth(still.system.sides, float(each.min()), float(each.max()))


def _condition(outcome: Outcome, teams: Teams) -> ConditionB:
    load = largest_variance(teams.sigma) / outcome.largest_monotone_variance
    return ConditionB(load < 1, load, 1 - load)


def _taylor(outcome: Outcome, teams: Teams) -> Taylor:
    sample = teams if teams.size <= DENSE_TEAMS else representatives(teams)[0]
    theta, spread = sample.theta, sample.sigma**2
    closure = taylor_result(outcome, theta[:, None] - theta[None, :], spread[:, None] + spread[None, :])
    error = float(np.abs(closure - expected_result(outcome, sample.strengths)).max())
    return Taylor(_condition(outcome, teams).holds and error <= TAYLOR_TOLERANCE, error)


def _most_biased(state: StationaryState, order: NDArray[np.intp], sign: int) -> tuple[RatedTeam, ...]:
    teams, bias = state.teams, state.bias
    least = 1e-9 * max(1.0, float(np.ptp(teams.theta)))
    chosen = [int(i) for i in order[:LISTED_TEAMS] if sign * bias[i] > least]
    values = (teams.theta, teams.sigma, state.rating, bias)
    return tuple(RatedTeam(teams.name(i), *(float(value[i]) for value in values)) for i in chosen)


def _unbiased(system: RatingSystem, strengths: Strength | Continuum, still: StationaryState) -> UnbiasedGamma | None:
    """The step size without bias, with the noise and the error at it."""
    if not isinstance(system.gamma, float) or np.ptp(still.teams.theta) == 0:
        return None
    try:
        return unbiased_gamma(system, strengths)
    except NoStationaryState:
        return None
