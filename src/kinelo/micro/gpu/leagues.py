"""Leagues with step rules, schedules or strengths that move, made ready for the device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.micro.gpu.play import device_formulas, user_functions_on_device
from kinelo.micro.gpu.target import target, unfused
from kinelo.micro.league import Play, league_of
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.play.encoding import EncodedSystem
from kinelo.play.users import UserFunctions
from kinelo.runtime.device import cuda_module

LONGEST_LAUNCH = 1 << 20
"""Matches of one launch, so that a run can be stopped."""


@cache
def _kernel(functions: UserFunctions) -> Any:
    from kinelo.micro.gpu.general import general_kernel

    return general_kernel(device_formulas(), target(), functions)


def gpu_general_play(system: RatingSystem, encoded: EncodedSystem, keys: NDArray[np.uint64]) -> Play:
    """Play any league on the device; ``keys`` is (realisations, 2)."""
    cuda = cuda_module()
    run = _kernel(user_functions_on_device(system.outcome, system.pairing))
    teams, matchings = len(encoded.gamma), encoded.meeting.period > 0 and not encoded.meeting.rounds
    held = on_device(cuda, encoded)

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        from kinelo.micro.gpu.kernels import WARP

        league, count = league_of(rating, memory, chosen), len(rating[chosen])
        carried, counts, own = (
            on_device(cuda, league),
            cuda.to_device(played[chosen].copy()),
            cuda.to_device(keys[chosen]),
        )
        boards = cuda.device_array((count, teams), np.uint32)
        queues = cuda.device_array((count, teams if matchings else 1), np.uint64)
        for begin in range(first, last, LONGEST_LAUNCH):
            end = min(begin + LONGEST_LAUNCH, last)
            with unfused():
                run[count, WARP](carried, counts, own, held, begin, end, boards, queues)
        for values, new in zip(league, carried, strict=True):
            values[...] = new.copy_to_host()
        played[chosen] = counts.copy_to_host()

    return play


def on_device(cuda: Any, value: Any) -> Any:
    """Arrays in the memory of the device, in tuples as they were."""
    if isinstance(value, np.ndarray):
        return cuda.to_device(np.ascontiguousarray(value))
    return type(value)(*(on_device(cuda, part) for part in value)) if isinstance(value, tuple) else value
