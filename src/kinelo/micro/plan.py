"""A league between two matches and the state that a run begins with; and what a simulation will take, known before it
begins: which steps are recorded, how much memory, how much time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby, takewhile
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo.errors import InputError
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array, whole
from kinelo.runtime.device import usable_processors
from kinelo.runtime.limits import LONGEST_RUN, check_memory, check_time


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


LARGEST_COUNT = 1 << 62
"""Matches of one realisation that a counter can tell apart."""

SECONDS_PER_MATCH = 5e-9
"""Of one processor at its best: a run that is too long by this measure is too long by any."""

BYTES_PER_MATCH = 100
"""Of a match that is kept: who played, when, with what result, and the parts of which the whole is made."""


class Records(Sequence[int]):
    """The steps at which a run is recorded: its start, its end, and every ``every`` between. Counted, never listed.

    >>> list(Records(10, 4)), list(Records(10, None)), len(Records(10**18, 1))
    ([0, 4, 8, 10], [0, 10], 1000000000000000001)
    """

    def __init__(self, steps: int, every: int | None) -> None:
        self.steps = whole("steps", steps, 0)
        self.every = max(self.steps, 1) if every is None else whole("record_every", every, 1)

    @property
    def total(self) -> int:
        """How many there are; ``len`` cannot say it beyond the size of memory."""
        return -(-self.steps // self.every) + 1

    def __len__(self) -> int:
        return self.total

    @overload
    def __getitem__(self, row: int) -> int: ...
    @overload
    def __getitem__(self, row: slice) -> list[int]: ...
    def __getitem__(self, row: int | slice) -> int | list[int]:
        if isinstance(row, slice):
            return [self[k] for k in range(*row.indices(self.total))]
        if not -self.total <= row < self.total:
            raise IndexError(row)
        return min((row % self.total) * self.every, self.steps)

    def __contains__(self, step: object) -> bool:
        return isinstance(step, int) and 0 <= step <= self.steps and (step % self.every == 0 or step == self.steps)

    def with_stops_between(self, stride: int, begin: int = 0) -> Iterator[int]:
        """Every record from ``begin`` on and every multiple of ``stride`` between them, in order.

        >>> list(Records(10, 4).with_stops_between(3, begin=2))
        [3, 4, 6, 8, 9, 10]
        """
        first = -(-begin // self.every)
        records = (self[row] for row in range(first, self.total) if self[row] >= begin)
        between = takewhile(lambda step: step < self.steps, _multiples(stride, begin))
        return (step for step, _ in groupby(merge(records, between)))


def _multiples(stride: int, begin: int) -> Iterator[int]:
    step = max(1, -(-begin // stride)) * stride
    while True:
        yield step
        step += stride


def check_plan(*, teams: int, records: Records, matches_per_step: int, realisations: int, kept: int) -> None:
    """Refuse a run that needs more memory than there is, or more time than anyone has.

    ``kept`` is the number of records held in memory at once.
    """
    state = 8 * realisations * (teams + 1)
    few = f"{records.total:,} records of {realisations:,} realisations × {teams:,} teams" if kept > 2 else (
        f"{realisations:,} realisations × {teams:,} teams"
    )  # fmt: skip
    remedy = "use fewer teams or realisations" + (", or a larger record_every" if kept > 2 else "")
    # The state, its copy for the caller, its transpose for the kernel; the records, and the array made of them.
    check_memory(state * (3 + 2 * kept), f"A simulation of {few}", remedy)
    matches = records.steps * matches_per_step
    check_playing(matches, realisations, "use fewer steps or realisations")


def check_matches(matches: int) -> None:
    """Refuse more matches than memory can keep or anyone can wait for."""
    check_memory(float(BYTES_PER_MATCH) * matches, f"A list of {matches:,} matches", "ask for fewer matches")
    check_playing(matches, 1, "ask for fewer matches")


def check_playing(matches: int, realisations: int, remedy: str) -> None:
    """Refuse more matches than anyone can wait for."""
    seconds = matches * realisations * SECONDS_PER_MATCH / usable_processors()
    # Beyond what a counter can tell apart, no match has a number of its own.
    seconds = max(seconds, 2 * LONGEST_RUN) if matches > LARGEST_COUNT else seconds
    check_time(seconds, f"A simulation of {matches * realisations:.3g} matches", remedy)
