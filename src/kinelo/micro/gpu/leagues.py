"""Leagues with step rules, schedules or strengths that move, made ready for the device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.micro.gpu.held import HeldPlay, on_device
from kinelo.micro.gpu.play import BLOCK_MEMORY, device_formulas, user_functions_on_device
from kinelo.micro.gpu.target import target
from kinelo.micro.league import WHOLE, remembered
from kinelo.model.system import RatingSystem
from kinelo.play.encoding import EncodedSystem
from kinelo.play.match import LeagueState
from kinelo.play.users import UserFunctions
from kinelo.runtime.device import cuda_module

LONGEST_LEAGUE_LAUNCH = 1 << 20
"""Matches of one launch, so that a run can be stopped."""


@cache
def _kernel(kind: Any, near: bool, functions: UserFunctions) -> Any:
    from kinelo.micro.gpu.general import league_kernel

    return league_kernel(kind, near, device_formulas(), target(), functions)


def gpu_general_play(system: RatingSystem, encoded: EncodedSystem, keys: NDArray[np.uint64]) -> HeldPlay:
    """Play any league on the device; ``keys`` is (realisations, 2)."""
    from kinelo.micro.gpu.general import kind_of, moved_columns, near_bytes
    from kinelo.micro.gpu.kernels import WARP

    cuda, teams, rows = cuda_module(), encoded.teams, len(keys)
    kind = kind_of(encoded, remembered(encoded))
    need = near_bytes(kind, teams)
    near = need <= BLOCK_MEMORY
    run = _kernel(kind, near, user_functions_on_device(system.outcome, system.pairing))
    held = on_device(cuda, encoded)
    boards = cuda.device_array((1, 1) if near else (rows, teams), np.uint32)
    queues = cuda.device_array((rows, teams) if kind.matchings and not near else (1, 1), np.uint64)
    unused = {name: cuda.device_array((rows, 1), WHOLE.get(name, np.float64)) for name in LeagueState._fields}

    def launch(arrays: Mapping[str, Any], played: Any, own: Any, first: int, last: int) -> None:
        league = LeagueState(*(arrays[name] if name in kind.columns else unused[name] for name in LeagueState._fields))
        run[rows, WARP, 0, need if near else 0](league, played, own, held, first, last, boards, queues)

    return HeldPlay(cuda, launch, keys, moved_columns(kind), LONGEST_LEAGUE_LAUNCH)
