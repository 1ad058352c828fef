"""The verdict a designer of a rating system wants, before choosing ν, γ and the pairing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.advice.check import MATCHES, QUICK, check_state, check_tracking
from kinelo.advice.motion import MotionFacts, motion_advice, motion_facts, motion_rows, one_step, rate_together
from kinelo.advice.report import Report, Rows, json_ready
from kinelo.advice.results import ResultsDiagnosis, diagnose_results
from kinelo.advice.words import Condition, Facts, Gain, RatedTeam, Taylor, Worth, advice_for, range_rows, rows_of
from kinelo.errors import InputError, NoStationaryState
from kinelo.model.digest import description
from kinelo.model.dynamics import Dynamics, Turnover
from kinelo.model.expectation import expected_result, largest_variance, taylor_result
from kinelo.model.outcome import Outcome
from kinelo.model.results import Results
from kinelo.model.schedule import Period, Rounds, Schedule
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.theory.farming import largest_gain
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import DENSE_TEAMS, stationary, warn_if_outside, with_noise
from kinelo.theory.many_teams import representatives
from kinelo.theory.relaxation import relaxation_of
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum, Teams, as_system
from kinelo.theory.unbiased import unbiased_gamma
from kinelo.theory.worth import worth_at

LISTED = 5
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
        The stationary state with its noise.
    motion
        How ratings follow strengths that move, and what rounds and deviations do; None where nothing moves.

    >>> import kinelo as kn
    >>> verdict = kn.diagnose(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.Normal([4.0, 7.0, 10.0], sigma=1.0))
    >>> len(verdict.advice) > 0, "slope" in verdict.to_dict()
    (True, True)
    """

    state: StationaryState = field(repr=False)
    motion: MotionFacts | None = None

    @cached_property
    def advice(self) -> tuple[str, ...]:
        """What to change, in sentences, the most important first."""
        advice = motion_advice(self.system, self.motion)
        if self.motion is None or self.motion.tracking is None:
            # Where strengths move, what to do about noise follows from tracking, not from the state at rest.
            advice += [one for one in advice_for(self) if not (advice and one.startswith("Nothing"))]
        return tuple(advice) or ("Nothing: ratings follow strengths about as well as one step can.",)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain numbers, words and lists, ready for JSON; what is infinite or undefined is None."""
        left_out = ("system", "state", "motion", "check", "caveats", "by_deviations")
        plain: dict[str, Any] = {
            "outcome": description(self.system.outcome),
            "pairing": description(self.system.pairing),
            "gamma": self.system.step,
            "shrinkage": self.shrinkage,
            **{one.name: getattr(self, one.name) for one in fields(self) if one.name not in left_out},
            "advice": self.advice,
            "caveats": [one.sentence for one in self.caveats],
            "check": None if self.check is None else self.check.to_dict(),
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
        return [*rows_of(self), *motion_rows(self.motion), *range_rows(self)]

    def _sentences(self) -> tuple[str, ...]:
        return self.advice

    def __repr__(self) -> str:
        return f"Diagnosis: {' '.join(self.advice) or 'nothing to change'}"

    def __str__(self) -> str:
        lines = [*self.rows(), *(("What to change", sentence) for sentence in self.advice)]
        return "\n".join(f"{name}: {words}" for name, words in lines)


def diagnose(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    dynamics: Dynamics | None = None,
    *,
    check: bool | None = None,
) -> Diagnosis | ResultsDiagnosis:
    """Say where the ratings of a league end up, how noisy and how slow they are, and what to change.

    With ``dynamics`` it says too how well ratings follow strengths that move, and which step follows best; of rounds,
    when they become unstable; of DeviationSteps, where deviations settle and whether the scale travels. With ``check``
    a league is played beside the theory, and both numbers are shown; by default where theory has a caveat. Of a table
    of :class:`~kinelo.model.results.Results` it says where ratings end, what they cannot show, and whether that can be
    told from luck.

    Examples
    --------
    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    >>> verdict = kn.diagnose(system, kn.Normal([4.0, 7.0, 10.0], sigma=1.0))
    >>> verdict.condition.holds, round(verdict.slope, 3), verdict.underrated[0].team
    (True, 0.79, 'team 2')
    """
    system = as_system(system)
    if isinstance(strengths, Results):
        return _of_table(system, strengths, dynamics, check)
    motion = motion_facts(system, strengths, dynamics)
    plain = one_step(system, strengths) if motion is not None or system.schedule is not None else system
    still = stationary(plain, strengths)
    found = _at_rest(plain, strengths, still, system.schedule, motion)
    followed = None if motion is None else motion.tracking
    caveats = found.state.caveats if followed is None else followed.caveats
    # What turnover does is not part of the theory that could be checked.
    checkable = not isinstance(dynamics, Turnover)
    played = None
    if checkable and (check or (check is None and caveats)):
        size = MATCHES if check else QUICK
        if followed is None:
            played = check_state(replace(found.state, system=system), matches=size)
        else:
            played = check_tracking(followed, strengths, matches=size)
    return replace(found, caveats=caveats, check=played)


def _of_table(
    system: RatingSystem, results: Results, dynamics: Dynamics | None, check: bool | None
) -> ResultsDiagnosis:
    if dynamics is not None or check:
        raise InputError("A table of Results has no strengths that could move or be checked.")
    return diagnose_results(system, results)


def _at_rest(
    system: RatingSystem,
    strengths: Strength | Continuum,
    still: StationaryState,
    schedule: Schedule | None,
    motion: MotionFacts | None,
) -> Diagnosis:
    """Everything but caveats and checks."""
    teams, deviations = still.teams, None if motion is None else motion.deviations
    if deviations is not None:
        state = replace(
            still, noise="gaussian", rating=deviations.rating, variance=deviations.variance, kind="independent"
        )
        matches, unbiased, noise = relaxation_of(still).matches_per_team(0.01), None, None
    elif isinstance(schedule, Rounds | Period):
        with few_threads(teams.size):
            state, matches, unbiased, noise = rate_together(schedule, strengths, still)
    else:
        with few_threads(teams.size):
            state = with_noise(still)
            warn_if_outside(state)
            matches = relaxation_of(still).matches_per_team(0.01)
        unbiased, noise = _unbiased(system, strengths, still)
    by_bias = np.argsort(state.bias, kind="stable")
    return Diagnosis(
        system=system,
        league=f"{teams.size:,} teams" if teams.finite else "a continuum of teams",
        condition=_condition(system.outcome, teams),
        taylor=_taylor(system.outcome, teams),
        slope=state.slope,
        slope_of_small_steps=still.slope,
        overrated=_most_biased(state, by_bias[::-1], 1),
        underrated=_most_biased(state, by_bias, -1),
        largest_bias=float(np.abs(state.bias).max()),
        rating_noise=math.sqrt(teams.mean(state.variance)),
        strength_spread=math.sqrt(teams.mean((teams.theta - teams.mean(teams.theta)) ** 2)),
        stable=state.stable,
        matches_until_converged=matches,
        unbiased_gamma=unbiased,
        noise_when_unbiased=noise,
        by_deviations=deviations is not None,
        worth=_worth(still),
        farming=_farming(still),
        caveats=(),
        check=None,
        state=state,
        motion=motion,
    )


def _farming(still: StationaryState) -> Gain | None:
    teams = still.teams
    if not teams.finite or teams.size > DENSE_TEAMS:
        return None
    own, other, points = largest_gain(still)
    small = points <= SMALLEST_GAIN * max(float(np.ptp(still.rating)), 1 / still.system.outcome.sharpness)
    return Gain(teams.name(own), teams.name(other), 0.0 if small else points)


def _worth(still: StationaryState) -> Worth | None:
    if still.system.sides == 2:
        return None
    each = worth_at(still)
    return Worth(still.system.sides, float(each.min()), float(each.max()))


def _condition(outcome: Outcome, teams: Teams) -> Condition:
    load = largest_variance(teams.sigma) / outcome.largest_monotone_variance
    return Condition(load < 1, load, 1 - load)


def _taylor(outcome: Outcome, teams: Teams) -> Taylor:
    sample = teams if teams.size <= DENSE_TEAMS else representatives(teams)[0]
    theta, spread = sample.theta, sample.sigma**2
    closure = taylor_result(outcome, theta[:, None] - theta[None, :], spread[:, None] + spread[None, :])
    error = float(np.abs(closure - expected_result(outcome, sample.strengths)).max())
    return Taylor(_condition(outcome, teams).holds and error <= TAYLOR_TOLERANCE, error)


def _most_biased(state: StationaryState, order: NDArray[np.intp], sign: int) -> tuple[RatedTeam, ...]:
    teams, bias = state.teams, state.bias
    least = 1e-9 * max(1.0, float(np.ptp(teams.theta)))
    chosen = [int(i) for i in order[:LISTED] if sign * bias[i] > least]
    values = (teams.theta, teams.sigma, state.rating, bias)
    return tuple(RatedTeam(teams.name(i), *(float(value[i]) for value in values)) for i in chosen)


def _unbiased(
    system: RatingSystem, strengths: Strength | Continuum, still: StationaryState
) -> tuple[float | None, float | None]:
    """The step size without bias, and the noise of ratings at it."""
    teams = still.teams
    if not system.pairing.constant or np.ptp(teams.theta) == 0:
        return None, None
    try:
        found = unbiased_gamma(system, strengths)
    except NoStationaryState:
        return None, None
    return found.gamma, found.noise
