"""Leagues with step rules, schedules or strengths that move, made ready for the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.micro.any_league import code_steps, meeting_of, whole_memory
from kinelo.micro.general import Meeting
from kinelo.micro.gpu.matches import Laws
from kinelo.micro.gpu.play import NO_DRAWING, device_formulas, device_laws
from kinelo.micro.gpu.target import target, unfused
from kinelo.micro.league import Play, code_strength
from kinelo.micro.moving import Carried
from kinelo.micro.moving_league import check_moving, code_deviation, code_motion, pairs_of
from kinelo.model.dynamics import Dynamics
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.play.performances import Drawing
from kinelo.play.stream import realisation_keys
from kinelo.runtime.device import cuda_module

LONGEST_LAUNCH = 1 << 20
"""Matches of one launch, so that a run can be stopped."""


@cache
def _kernel(laws: Laws, literal: bool, moving: bool) -> Any:
    from kinelo.micro.gpu.general import general_kernel

    return general_kernel(device_formulas(), target(), laws, literal=literal, moving=moving)


def gpu_general_play(
    system: RatingSystem, strengths: Strength, seed: int, realisations: int | range, literal: bool
) -> Play:
    """Play by step rules or schedules on the device."""
    drawing = code_strength(strengths) if literal else NO_DRAWING
    return _play(system, strengths, None, seed, realisations, meeting_of(system, strengths, literal), drawing)


def gpu_moving_play(
    system: RatingSystem,
    strengths: Strength,
    dynamics: Dynamics | Sequence[Dynamics] | None,
    seed: int,
    realisations: int | range,
) -> Play:
    """Play a league whose strengths move, or whose ratings carry a deviation, on the device."""
    check_moving(system, strengths, dynamics)
    pairs, none = pairs_of(system, strengths.teams), np.zeros(1, dtype=np.uint64)
    meeting = Meeting(pairs.pairs, none, none, pairs.rounds, True, pairs.period)
    return _play(system, strengths, (dynamics,), seed, realisations, meeting, code_strength(strengths))


def _play(
    system: RatingSystem,
    strengths: Strength,
    motion: tuple[Dynamics | Sequence[Dynamics] | None] | None,
    seed: int,
    realisations: int | range,
    meeting: Meeting,
    drawing: Drawing,
) -> Play:
    cuda, teams, moving = cuda_module(), strengths.teams, motion is not None
    laws, law, rule = device_laws(system.outcome, system.pairing)
    run = _kernel(laws, meeting.literal, moving)
    keys = realisation_keys(seed, realisations)
    matchings = meeting.period > 0 and not meeting.rounds

    def there(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(cuda.to_device(value) if isinstance(value, np.ndarray) else value for value in values)

    held = (
        there((meeting.pairs, meeting.win, meeting.loss, meeting.rounds, meeting.period)),
        there(tuple(drawing)),
        cuda.to_device(np.ascontiguousarray(strengths.theta, dtype=np.float64)),
    )
    rules = there(tuple(code_steps(system, teams))), there(tuple(code_motion(motion[0] if motion else None)))
    glicko = tuple(code_deviation(system)) if moving else (False, 1.0, 0.0, 0.0, 0.0)

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        count = len(rating[chosen])
        kept = whole_memory(rating, memory)
        columns = [rating[chosen]]
        for name in Carried._fields:
            values = kept[name][chosen] if name in kept else np.zeros((count, 1))
            columns.append(values)
        carried = there(tuple(np.ascontiguousarray(values) for values in columns))
        counts, own = cuda.to_device(played[chosen].copy()), cuda.to_device(keys[chosen])
        boards = cuda.device_array((count, teams), np.uint32)
        queues = cuda.device_array((count, teams if matchings else 1), np.uint64)
        from kinelo.micro.gpu.kernels import WARP

        for begin in range(first, last, LONGEST_LAUNCH):
            end = min(begin + LONGEST_LAUNCH, last)
            with unfused():
                run[count, WARP](
                    carried, counts, own, *held, begin, end, *rules, glicko, tuple(law), tuple(rule), boards, queues
                )
        for values, new in zip(columns, carried, strict=True):
            values[...] = new.copy_to_host()
        played[chosen] = counts.copy_to_host()

    return play
