"""The realisations of a league, played by the workers of a Dask client.

The stream is keyed by (seed, realisation, match), so that a worker plays realisations ``k … l − 1`` as they would be
played among all of them; their states are put together along the realisations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.micro.league import MOST_LANES
from kinelo.micro.state import SimulationState, starting_state
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.runtime.limits import check_memory
from kinelo.runtime.workers import LOST, answers, check_client, pieces

if TYPE_CHECKING:
    from distributed import Client

ANSWER_BYTES = 1 << 26
"""Bytes of ratings that one task hands back, unless a single state of one realisation has more."""

SOON = 1 << 29
"""Matches that one task plays where a run is stored as it goes."""


def spread_states(
    states: Callable[..., Iterator[SimulationState]],
    client: Client,
    system: RatingSystem,
    strengths: Strength,
    *,
    stops: Iterable[int],
    stored: bool = False,
    **plan: Any,
) -> Iterator[SimulationState]:
    """Yield what ``states``, the generator of one process, yields, to the last bit, from the workers.

    ``plan`` holds the other arguments of ``states``. ``stored``: every state comes with what it takes to continue it,
    and after few matches; otherwise the last one does.
    """
    check_client(client)
    realisations, matches_per_step = plan.pop("realisations"), plan["matches_per_step"]
    state = starting_state(strengths, plan.pop("start", None), realisations)
    plan["threads"] = plan.get("threads") or 1
    size = 8 * (strengths.teams + 1)
    parts = pieces(realisations, client, MOST_LANES, max(1, ANSWER_BYTES // (2 * size)))
    largest = len(parts[0])
    most = max(1, ANSWER_BYTES // (size * largest))
    reach = max(1, SOON // (matches_per_step * largest)) if stored else None
    for block in _blocks(stops, state.step, most, reach):
        items = [(part, _part(state, part), block) for part in parts]
        together = [_Whole(stop, realisations) for stop in block]
        for k, played in answers(client, _play_piece, items, states, system, strengths, plan, stored):
            if isinstance(played, InputError) and str(played) == LOST:
                raise InputError(f"Realisations {parts[k].start} to {parts[k].stop - 1} were lost: {LOST}")
            if isinstance(played, BaseException):
                raise played
            for whole, one in zip(together, played, strict=True):
                whole.put(parts[k], one)
        for whole in together:
            state = whole.state()
            yield state


def _play_piece(
    item: tuple[range, SimulationState, Sequence[int]],
    states: Callable[..., Iterator[SimulationState]],
    system: RatingSystem,
    strengths: Strength,
    plan: Mapping[str, Any],
    stored: bool,
) -> list[SimulationState]:
    """On a worker: some of the realisations, from a state to the stops."""
    which, start, stops = item
    needed = 8 * len(which) * (strengths.teams + 1) * (3 + 2 * len(stops))
    check_memory(needed, f"A part of {len(which):,} realisations on a worker", "give the workers more memory")
    played = list(states(system, strengths, stops=stops, realisations=which, start=start, **plan))
    return played if stored else [*(replace(state, memory={}) for state in played[:-1]), played[-1]]


def _blocks(stops: Iterable[int], begin: int, most: int, reach: int | None) -> Iterator[list[int]]:
    """Stops in groups of at most so many, each within so many steps of its beginning where that is possible."""
    block: list[int] = []
    for stop in chain(stops, [None]):
        full = block and (stop is None or len(block) == most or (reach is not None and stop - begin > reach))
        if full:
            yield block
            begin, block = block[-1], []
        if stop is not None:
            block.append(stop)


def _part(state: SimulationState, part: range) -> SimulationState:
    chosen = slice(part.start, part.stop)
    memory = {name: values[chosen] for name, values in state.memory.items()}
    return SimulationState(state.step, state.rating[chosen], state.played[chosen], memory)


class _Whole:
    """A state of all realisations, put together as its parts come in."""

    def __init__(self, step: int, realisations: int) -> None:
        self._step, self._realisations = step, realisations
        self._arrays: dict[tuple[str, str], NDArray] = {}

    def put(self, part: range, state: SimulationState) -> None:
        """Take over the realisations ``part``."""
        named = {("", "rating"): state.rating, ("", "played"): state.played}
        named |= {("memory", name): values for name, values in state.memory.items()}
        named |= {("record", name): values for name, values in state.record.items()}
        for name, values in named.items():
            if name not in self._arrays:
                self._arrays[name] = np.empty((self._realisations, *values.shape[1:]), values.dtype)
            self._arrays[name][part.start : part.stop] = values

    def state(self) -> SimulationState:
        """The state, once all parts are in."""
        kept = {kind: {n: v for (k, n), v in self._arrays.items() if k == kind} for kind in ("", "memory", "record")}
        return SimulationState(self._step, kept[""]["rating"], kept[""]["played"], kept["memory"], kept["record"])
