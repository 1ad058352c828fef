"""A league between two matches, and the state that a run begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo.errors import InputError
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array, whole
from kinelo.runtime.limits import check_memory


class Setting(NamedTuple):
    """A system, the strengths of its teams, and the ratings they start from (None: the mean of θ)."""

    system: RatingSystem
    strengths: Strength
    start: ArrayLike | None = None


@dataclass(frozen=True)
class SimulationState:
    """A league after ``step`` steps: ratings (realisations × teams) and matches played in each realisation.

    ``memory`` holds what else the league carries from match to match, by name, realisations × teams: empty for the
    paper's model; matches, lines reached and gains owed where steps or schedules need them; strengths and deviations
    as of each team's last match where they move. ``record`` holds strength, deviation and age as they are now.

    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    >>> [state] = kn.micro.simulation_states(system, kn.Fixed([4.0, 7.0, 10.0]), stops=[10], seed=1)
    >>> state.step, state.rating.shape
    (10, (1, 3))
    """

    step: int
    rating: Array
    played: NDArray[np.int64]
    memory: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    record: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def starting_state(
    strengths: Strength, start: ArrayLike | SimulationState | None, realisations: int
) -> SimulationState:
    """The state a run begins with: one that is continued, given ratings, or all teams at the mean of θ."""
    realisations = whole("realisations", realisations, 1)
    shape = (realisations, strengths.teams)
    # The state, its copies for the caller and the kernel, and the record made of it.
    what = f"A simulation of {realisations:,} realisations × {strengths.teams:,} teams"
    check_memory(5 * 8 * realisations * (strengths.teams + 1), what, "use fewer teams or realisations")
    if isinstance(start, SimulationState):
        if start.rating.shape != shape:
            raise InputError(f"start must be a state of {shape[0]} realisations × {shape[1]} teams.")
        return start
    if start is None:
        start = np.full(strengths.teams, strengths.theta.mean())
    given = finite_array("start", start, 1, 2)
    if given.shape not in (shape, shape[1:]):
        raise InputError(
            f"start must hold one rating per team ({shape[1]}) or realisations × teams ({shape[0]} × {shape[1]}), "
            f"not {list(given.shape)}."
        )
    return SimulationState(0, np.array(np.broadcast_to(given, shape)), np.zeros(realisations, dtype=np.int64))
