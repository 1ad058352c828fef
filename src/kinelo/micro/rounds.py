"""A run in short calls of compiled code, so that it can be stopped between two of them.

Rounds here are these calls; the schedule in which everybody plays everybody is :class:`kinelo.Rounds`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.micro.league import MOST_LANES, Play
from kinelo.micro.plan import SimulationState, check_playing
from kinelo.model.validation import Array, whole

ROUND, FIRST_ROUND = 0.2, 1 << 14
"""Seconds of one round of calls into compiled code, after which a run can be stopped; matches of the first one."""

Record = Callable[[Mapping[str, NDArray], int], Mapping[str, NDArray]]
"""``record(memory, match)`` is what a state tells beside its ratings."""


def played_states(
    play: Play,
    state: SimulationState,
    stops: Iterable[int],
    matches_per_step: int,
    groups: list[slice],
    workers: int,
    record: Record | None = None,
) -> Iterator[SimulationState]:
    """Yield the state at each step in ``stops``; each group of rows is one call of ``play``, ``workers`` at a time."""
    rating, played, step = state.rating.copy(), state.played.copy(), state.step
    memory = {name: values.copy() for name, values in state.memory.items()}
    with ThreadPoolExecutor(workers) as pool:
        rounds = _Rounds(pool, groups)
        for stop in stops:
            if isinstance(stop, int | np.integer) and stop < step:
                raise InputError(f"stops must not lie in the past: {stop} comes before step {step}.")
            stop = whole("stops", stop, 0)
            match, last = step * matches_per_step, stop * matches_per_step
            check_playing(last - match, len(rating), "ask for an earlier stop or fewer matches_per_step")
            while match < last:
                match = rounds.play_all(play, rating, played, memory, match, last)
            step = stop
            getattr(play, "fetch", _nothing)()
            kept = {name: values.copy() for name, values in memory.items()}
            more = {} if record is None else record(memory, last)
            yield SimulationState(step, rating.copy(), played.copy(), kept, more)


def lane_groups(realisations: int, workers: int) -> list[slice]:
    """Split the realisations into even groups of at most MOST_LANES, as many as keep every worker busy."""
    count = -(-realisations // MOST_LANES)
    return even_groups(realisations, min(-(-count // workers) * workers, realisations))


def even_groups(rows: int, count: int) -> list[slice]:
    """Rows in so many groups of nearly the same size.

    >>> even_groups(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    edges = np.linspace(0, rows, count + 1).round().astype(int)
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


def _nothing() -> None:
    """What a loop has to fetch whose state lies in the arrays it was handed."""


class _Rounds:
    """Plays all rows in rounds of about ROUND seconds, however long a match of this league takes."""

    def __init__(self, pool: ThreadPoolExecutor, groups: list[slice]) -> None:
        self.pool, self.groups = pool, groups
        self.size = max(1, FIRST_ROUND // groups[-1].stop)

    def play_all(
        self,
        play: Play,
        rating: Array,
        played: NDArray[np.int64],
        memory: Mapping[str, NDArray],
        first: int,
        last: int,
    ) -> int:
        """Play from match ``first`` on, at most up to ``last``, and return the match that comes next."""
        last = min(first + self.size, last)
        begin = time.monotonic()
        if len(self.groups) == 1:  # handing one group to another thread would only take time
            play(rating, played, memory, self.groups[0], first, last)
        else:
            jobs = [self.pool.submit(play, rating, played, memory, group, first, last) for group in self.groups]
            for job in jobs:
                job.result()
        taken = time.monotonic() - begin
        if last - first == self.size:
            self.size = max(1, int(self.size * min(2.0, ROUND / max(taken, 1e-9))))
        return last
