r"""Where a league that is played begins, and how long it takes to forget that.

Ratings begin where theory says they settle. What is left to wait for is their noise, whose slowest mode takes as long
as the slowest disturbance of the whole league, 1/(γλ₂) matches of a team: where teams lie far apart, or pairs are
chosen by rating, many times as long as a single rating takes to find its place.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinelo.advice.judged import JudgedLeague, judge, one_step, resting
from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Form, Learning, parts_of
from kinelo.model.pairing import AllPlayAll
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.moving.following import Parts
from kinelo.theory.moving.tracking import Tracking
from kinelo.theory.pair_means import smooth
from kinelo.theory.relaxation import relaxation_of
from kinelo.theory.state import StationaryState

FORGETTING = 3.0
"""Memories after which noise, which is forgotten twice as fast as a mean, is there but for a quarter of a percent."""


class Beginning(NamedTuple):
    """Ratings to begin at, matches of a team after which a disturbance of the league is down to 1/e, and the error of
    a closed league by theory, where it is known with all that moves.
    """

    rating: Array
    memory: float
    error: Parts | None

    @property
    def settling(self) -> float:
        """Matches of a team until the league has settled."""
        return FORGETTING * self.memory


def beginning(
    system: RatingSystem, strengths: Strength, dynamics: Any = None, tracked: Tracking | None = None
) -> Beginning:
    """Where a league settles, as far as theory knows, and its memory; infinite where nothing holds ratings together.

    ``tracked`` saves the time to find how the system follows the league where that is known.
    """
    moving, turnover = parts_of(dynamics)
    league = JudgedLeague(strengths, moving)
    state, error = settled_state(system, league, tracked)
    plain = one_step(system, strengths, state)
    with few_threads(state.teams.size):
        slowest = relaxation_of(replace(state, system=plain))
    # Matches of a team after which the slowest disturbance of ratings, and what moves strengths, is down to 1/e:
    # candidate matches, for a pair that is drawn and does not play takes time as well.
    memory, moves = 1 / (slowest.gamma * slowest.gap) if slowest.gap > 0 else math.inf, 0.0
    if isinstance(moving, Form):
        moves = 1 / moving.rate
    elif isinstance(moving, Learning) and moving.pull > 0:
        spread = math.sqrt(2 * (float(state.variance.mean()) + float(state.rating.var())))
        slope = float(smooth(system.outcome.b_prime, system.outcome.nu, spread)(np.zeros(1))[0])
        moves = 1 / (plain.step * moving.pull * slope)
    if turnover is None:
        memory = max(memory, moves)
    else:  # who leaves at random takes every disturbance along
        leaving = 1 / turnover.rate
        memory = leaving if turnover.leaving == "random" else max(memory, moves, leaving)
    return Beginning(np.array(state.rating), memory, error if turnover is None else None)


def settled_state(
    system: RatingSystem, league: JudgedLeague, tracked: Tracking | None
) -> tuple[StationaryState, Parts | None]:
    """The best that is known of where ratings settle: with motion and noise, and then their error as well; with noise;
    or as steps vanish.
    """
    with suppress(InputError, NoStationaryState):
        judged = judge(system, league, resting(system, league), tracked=tracked)
        return judged.state, judged.parts
    still = JudgedLeague(league.at_rest, None)
    with suppress(InputError, NoStationaryState):
        return judge(system, still, resting(system, still)).state, None
    return replace(resting(replace(system, pairing=AllPlayAll()), still), system=system), None
