"""The verdict a designer of a rating system wants, before choosing ν, γ and the pairing."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.advice.check import MATCHES, QUICK, check_state, check_tracking
from kinelo.advice.facts import Condition, Facts, RatedTeam, Taylor
from kinelo.advice.motion import MotionFacts, motion_advice, motion_facts, motion_rows, one_step
from kinelo.advice.scheduled import scheduled
from kinelo.advice.words import advice_for, html_fragment, range_rows, rows_of
from kinelo.errors import NoStationaryState
from kinelo.model.digest import description
from kinelo.model.dynamics import Dynamics, Turnover
from kinelo.model.expectation import expected_result, largest_variance, taylor_result
from kinelo.model.outcome import Outcome
from kinelo.model.schedule import Schedule
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import DENSE_TEAMS, stationary, warn_if_outside, with_noise
from kinelo.theory.many_teams import representatives
from kinelo.theory.moving.glicko import DeviationState
from kinelo.theory.relaxation import relaxation_of
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum, Teams, as_system
from kinelo.theory.unbiased import unbiased_gamma

if TYPE_CHECKING:
    from rich.table import Table

LISTED = 5
TAYLOR_TOLERANCE = 0.05


@dataclass(frozen=True)
class Diagnosis(Facts):
    """The verdict: everything in :class:`~kinelo.advice.facts.Facts`, with advice and the state behind it.

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

    advice: tuple[str, ...]
    state: StationaryState = field(repr=False)
    motion: MotionFacts | None = None

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain numbers, words and lists, ready for JSON; what is infinite or undefined is None."""
        plain: dict[str, Any] = {
            "outcome": description(self.system.outcome),
            "pairing": description(self.system.pairing),
            "gamma": self.system.step,
            "shrinkage": self.shrinkage,
        }
        for one in fields(self):
            if one.name not in ("system", "state", "motion", "check", "caveats", "by_deviations"):
                plain[one.name] = getattr(self, one.name)
        plain["caveats"] = [one.sentence for one in self.caveats]
        plain["check"] = None if self.check is None else self.check.to_dict()
        if self.motion is not None:
            plain["motion"] = self.motion.to_dict()
        return _json_ready(plain)

    def to_html(self) -> str:
        """The verdict as an HTML fragment: a table and a list of advice."""
        return html_fragment(self.rows(), self.advice)

    def rows(self) -> list[tuple[str, str]]:
        """Name and finding of every line."""
        return [*rows_of(self), *motion_rows(self.motion), *range_rows(self)]

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        lines = [*self.rows(), *(("What to change", sentence) for sentence in self.advice)]
        return "\n".join(f"{name}: {words}" for name, words in lines)

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table(title=f"Where the ratings of {self.league} end up", show_header=False, show_lines=True)
        table.add_column(style="bold", no_wrap=True)
        table.add_column()
        for name, words in self.rows():
            table.add_row(name, words)
        table.add_row("What to change", "\n".join(f"• {sentence}" for sentence in self.advice))
        return table


def diagnose(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    dynamics: Dynamics | None = None,
    *,
    check: bool | None = None,
) -> Diagnosis:
    """Say where the ratings of a league end up, how noisy and how slow they are, and what to change.

    With ``dynamics`` it says too how well ratings follow strengths that move, and which step follows best; of rounds,
    when they become unstable; of DeviationSteps, where deviations settle and whether the scale travels. With ``check``
    a league is played beside the theory, and both numbers are shown; by default where theory has a caveat.

    Examples
    --------
    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    >>> verdict = kn.diagnose(system, kn.Normal([4.0, 7.0, 10.0], sigma=1.0))
    >>> verdict.condition.holds, round(verdict.slope, 3), verdict.underrated[0].team
    (True, 0.79, 'team 2')
    """
    system = as_system(system)
    motion = motion_facts(system, strengths, dynamics)
    plain = system if motion is None and system.schedule is None else one_step(system, strengths)
    still = stationary(plain, strengths)
    deviations = None if motion is None else motion.deviations
    facts, state = _facts(plain, strengths, still, system.schedule, deviations)
    followed = None if motion is None else motion.tracking
    caveats = state.caveats if followed is None else followed.caveats
    # What turnover does is not part of the theory that could be checked.
    checkable = not isinstance(dynamics, Turnover)
    played = None
    if checkable and (check or (check is None and caveats)):
        size = MATCHES if check else QUICK
        if followed is None:
            played = check_state(replace(state, system=system), matches=size)
        else:
            played = check_tracking(followed, strengths, matches=size)
    facts = replace(facts, caveats=caveats, check=played)
    advice = motion_advice(system, motion)
    if followed is None:
        # Where strengths move, what to do about noise follows from tracking, not from the state at rest.
        advice += [one for one in advice_for(facts) if not (advice and one.startswith("Nothing"))]
    said = tuple(advice) or ("Nothing: ratings follow strengths about as well as one step can.",)
    return Diagnosis(*(getattr(facts, one.name) for one in fields(facts)), advice=said, state=state, motion=motion)


def _facts(
    system: RatingSystem,
    strengths: Strength | Continuum,
    still: StationaryState,
    schedule: Schedule | None,
    deviations: DeviationState | None,
) -> tuple[Facts, StationaryState]:
    teams = still.teams
    if deviations is not None:
        state = replace(
            still, noise="gaussian", rating=deviations.rating, variance=deviations.variance, kind="independent"
        )
        matches, unbiased, noise = relaxation_of(still).matches_per_team(0.01), None, None
    elif schedule is not None:
        with few_threads(teams.size):
            together = scheduled(schedule, strengths, still)
        state, matches, unbiased = together.state, together.matches, together.unbiased
        noise = together.noise_when_unbiased
    else:
        with few_threads(teams.size):
            state = with_noise(still)
            warn_if_outside(state)
            matches = relaxation_of(still).matches_per_team(0.01)
        unbiased, noise = _unbiased(system, strengths, still)
    by_bias = np.argsort(state.bias, kind="stable")
    facts = Facts(
        system=system,
        league=f"{teams.size:,} teams" if teams.finite else "a continuum of teams",
        condition=_condition(system.outcome, teams),
        taylor=_taylor(system.outcome, teams),
        slope=state.slope,
        slope_of_small_steps=still.slope,
        overrated=_rated(state, by_bias[::-1], 1),
        underrated=_rated(state, by_bias, -1),
        largest_bias=float(np.abs(state.bias).max()),
        rating_noise=_noise(state),
        strength_spread=math.sqrt(teams.mean((teams.theta - teams.mean(teams.theta)) ** 2)),
        stable=state.stable,
        matches_until_converged=matches,
        unbiased_gamma=unbiased,
        noise_when_unbiased=noise,
        by_deviations=deviations is not None,
        caveats=(),
        check=None,
    )
    return facts, state


def _noise(state: StationaryState) -> float:
    return math.sqrt(state.teams.mean(state.variance))


def _condition(outcome: Outcome, teams: Teams) -> Condition:
    load = largest_variance(teams.sigma) / outcome.largest_monotone_variance
    return Condition(load < 1, load, 1 - load)


def _taylor(outcome: Outcome, teams: Teams) -> Taylor:
    sample = teams if teams.size <= DENSE_TEAMS else representatives(teams)[0]
    theta, spread = sample.theta, sample.sigma**2
    closure = taylor_result(outcome, theta[:, None] - theta[None, :], spread[:, None] + spread[None, :])
    error = float(np.abs(closure - expected_result(outcome, sample.strengths)).max())
    return Taylor(_condition(outcome, teams).holds and error <= TAYLOR_TOLERANCE, error)


def _rated(state: StationaryState, order: NDArray[np.intp], sign: int) -> tuple[RatedTeam, ...]:
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
        found = unbiased_gamma(system.outcome, strengths)
    except NoStationaryState:
        return None, None
    return found.gamma, found.noise


def _json_ready(value: Any) -> Any:
    if isinstance(value, Condition | Taylor | RatedTeam):
        value = asdict(value)
    if isinstance(value, dict):
        return {key: _json_ready(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_json_ready(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
