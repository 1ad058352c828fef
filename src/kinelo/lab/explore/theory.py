"""Where the ratings of a live run are heading: the stationary map with its noise.

It is that of a league of very many teams with the same strengths, which takes hundredths of a second; only rounds, in
which a team meets all others before anything counts, are computed for their own number of teams. Where strengths move,
the line is the regression of ratings on present strengths, from the theory of tracking. What the library warns of
travels with it.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from kinelo.advice.diagnosis import Diagnosis, diagnose
from kinelo.errors import InputError, KineloWarning, NoStationaryState
from kinelo.lab.explore.controls import Controls
from kinelo.lab.units import CENTRE, MIDDLE, THETA
from kinelo.model.dynamics import Dynamics
from kinelo.model.setups import homogeneous
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.limit import stationary
from kinelo.theory.moving.glicko import DeviationState, settled_deviations
from kinelo.theory.moving.rounds import critical_gamma
from kinelo.theory.moving.tracking import tracking
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum

EXPLORED_NODES = 40
MOST_ROUNDS_TEAMS = 200
"""Teams up to which rounds are computed: more would keep others waiting for their answers."""
OVERSHOT = 1.5
"""Critical steps of rounds up to which the swings are computed: beyond, the search for them mostly ends in nothing."""
UNSTABLE = "Luck at this step leaves no stable mean ratings; a smaller step or a wider choice of opponents has them."
STRENGTH_REACH = 4.0
"""Standard deviations of strength on either side that the line of a moving league covers."""


@dataclass(frozen=True)
class PredictedMap:
    """Mean rating and its standard deviation over mean strength, and the standard deviation of all teams, ``luck``.

    ``miss`` is how far ratings miss strength, bias and luck together: the root of the mean square. Where strengths
    move, strength is the present one, ``luck`` is that miss, and ``parts`` the roots of what luck, lag and bias
    contribute. ``missing`` says why there is no answer at this step size; the line is then that of vanishing steps.
    ``caveats`` are the library's own words about how far the answer can be trusted.
    """

    theta: Array
    rating: Array
    deviation: Array
    slope: float
    luck: float
    miss: float
    missing: str = ""
    caveats: tuple[str, ...] = ()
    parts: tuple[float, float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        lists = {name: np.round(getattr(self, name), 5).tolist() for name in ("theta", "rating", "deviation")}
        return {**lists, "slope": self.slope, "note": self.missing}


def is_slow(controls: Controls) -> bool:
    """Whether the map takes seconds, so that it should not be computed where others wait for theirs."""
    return controls.motion == "learning" or controls.schedule == "rounds"


@lru_cache(maxsize=256)
def predicted_map(controls: Controls) -> PredictedMap:
    """Stationary ratings at the controls' step size; raises NoStationaryState where there are none at all."""
    if reason := unanswered(controls):
        raise InputError(reason)
    if controls.schedule == "rounds" and controls.pairing == "all":  # of which a live page cannot wait for all
        if controls.teams > MOST_ROUNDS_TEAMS:
            raise InputError(f"Rounds are computed here for at most {MOST_ROUNDS_TEAMS} teams, not {controls.teams}.")
        critical = critical_gamma(controls.system, league_of(controls)).critical
        if controls.gamma > OVERSHOT * critical:
            raise NoStationaryState(
                f"The step is {controls.gamma / critical:.2g} times the one from which rounds rated at once overshoot: "
                "ratings swing from round to round, beyond what theory follows."
            )
    caveats: list[str] = []
    with heard(caveats):
        if (dynamics := controls.dynamics) is not None:
            tracked = tracking(controls.system, league_of(controls), dynamics)
            slope, parts = tracked.rating_slope, tracked.parts
            theta = MIDDLE + np.linspace(-STRENGTH_REACH, STRENGTH_REACH, EXPLORED_NODES) * tracked.V**0.5
            around = np.full(EXPLORED_NODES, max(tracked.U - tracked.C**2 / tracked.V, 0.0) ** 0.5)
            luck, lag, bias = (max(part, 0.0) ** 0.5 for part in (parts.noise, parts.lag, parts.bias))
            line, miss = MIDDLE + slope * (theta - MIDDLE), tracked.E**0.5
            prediction = PredictedMap(theta, line, around, slope, miss, miss, parts=(luck, lag, bias))
            caveats += [caveat.sentence for caveat in tracked.caveats]
        elif controls.steps == "glicko":
            prediction = _settled(settled_deviations(controls.system, league_of(controls), noise="gaussian"))
        else:
            prediction = _at_rest(controls)
    return replace(prediction, caveats=tuple(dict.fromkeys([*prediction.caveats, *caveats])))


def unanswered(controls: Controls) -> str:
    """Why there is no theory of such a league, whatever its numbers; empty where there is one."""
    if controls.motion != "still" and controls.sides > 2:
        return "There is no theory of strengths that move in contests of many, only in matches of two."
    if controls.motion != "still" and controls.pairing != "all":
        return "There is no theory of strengths that move where opponents are chosen, only where everyone meets."
    if controls.steps == "glicko" and (controls.pairing != "all" or controls.schedule != "single"):
        return "There is no theory of Glicko's steps here, only for matches against everyone that count one by one."
    if controls.motion == "learning" and controls.schedule != "single":
        return "There is no theory of teams that learn where results count together, only match by match."
    return ""


def _at_rest(controls: Controls) -> PredictedMap:
    league = league_of(controls)
    try:
        state, reason = stationary(controls.system, league, noise="gaussian"), ""
    except NoStationaryState:
        state, reason = stationary(controls.system, league), UNSTABLE
    return replace(_settled(state), missing=reason, caveats=tuple(one.sentence for one in state.caveats))


def _settled(state: StationaryState | DeviationState) -> PredictedMap:
    teams = state.teams
    luck, miss = (
        float(np.sqrt(teams.mean(square)))
        for square in (state.variance, state.variance + (state.rating - teams.theta) ** 2)
    )
    return PredictedMap(teams.theta, state.rating, np.sqrt(state.variance), state.slope, luck, miss)


@contextlib.contextmanager
def heard(caveats: list[str]) -> Iterator[None]:
    """Collect the warnings of the library, which a cache would let be heard only once."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", KineloWarning)
        yield
    caveats += [str(one.message) for one in said if issubclass(one.category, KineloWarning)]


def league_of(controls: Controls) -> Strength | Continuum:
    """A continuum of teams with the typical spread of the controls' league; for rounds, as many teams as that has."""
    sigma = typical_sigma(controls)
    if controls.schedule == "rounds":
        return homogeneous(sigma=sigma, teams=controls.teams, theta=THETA)
    return Continuum(THETA, sigma, nodes=EXPLORED_NODES)


def typical_sigma(controls: Controls) -> float:
    """Root mean square of the spreads of the teams."""
    return float(np.sqrt(np.mean(controls.strengths().sigma ** 2)))


def diagnosis_in(controls: Controls, units: str) -> Diagnosis:
    """The diagnosis of the league in the units of the page: a league in Elo points has the same laws on that scale."""
    if units == "paper":
        return _diagnosed(controls.system, league_of(controls), controls.dynamics)
    point = controls.elo_points
    sigma = point * typical_sigma(controls)
    ends = (CENTRE + point * (THETA[0] - MIDDLE), CENTRE + point * (THETA[1] - MIDDLE))
    league = Continuum(ends, sigma, nodes=EXPLORED_NODES)
    if controls.schedule == "rounds":
        league = homogeneous(sigma=sigma, teams=controls.teams, theta=ends)
    return _diagnosed(controls.scaled_system(point), league, controls.scaled_dynamics(point))


def _diagnosed(system: RatingSystem, league: Strength | Continuum, dynamics: Dynamics | None) -> Diagnosis:
    """The diagnosis alone: the league on the page is its check."""
    found = diagnose(system, league, dynamics, check=False)
    assert isinstance(found, Diagnosis)
    return found
