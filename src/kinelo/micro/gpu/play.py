"""A league made ready for the device: which kernel, compiled for which laws, on which arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.micro.gpu.held import HeldPlay
from kinelo.micro.gpu.matches import (
    LARGEST_LEAGUE,
    PAIR_WORDS,
    SHORT,
    WORDS_WITH_TIES,
    Laws,
    Source,
    device_laws,
    from_performances,
    from_table,
    settling,
)
from kinelo.micro.gpu.target import rounded_by_device, target
from kinelo.model.law import Scalar
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import Pairing
from kinelo.model.system import RatingSystem
from kinelo.play.encoding import EncodedSystem, Meeting, distinct_tables, has_ties
from kinelo.play.formula import bind
from kinelo.play.users import USER, UserFunctions
from kinelo.runtime.device import cuda_module, simulated

BLOCK_MEMORY = 48 * 1024
"""Bytes of a multiprocessor's memory that a block may ask for."""

BLOCK_REALISATIONS = 1
"""Realisations per multiprocessor up to which a block of threads for each is faster than a warp for each."""

BLOCK_THREADS, BLOCK_OF_MANY, MANY_TEAMS = (448, 64), (256, 256), 500
"""Threads of a block that sort and that play, in leagues of fewer than MANY_TEAMS and of more."""

WARPS_OF_BLOCK = 2
"""Realisations of a block of warps; a multiprocessor takes 32 blocks."""


@cache
def device_formulas() -> Any:
    """Every formula of ``play`` for the device."""
    return bind(target())


@cache
def _nothing() -> Any:
    return target().compile(lambda z: 0.0)


def user_functions_on_device(outcome: Outcome, pairing: Pairing) -> UserFunctions:
    """The formulas of laws that are not built in, as device functions; a stand-in for those that are."""
    b = tie = w = _nothing()
    if outcome.code is None:
        b, tie = (_bound(outcome, formula) for formula in (outcome.scalar_b(), outcome.scalar_tie()))
    if pairing.code is None:
        w = _bound(pairing, pairing.scalar_w())
    return UserFunctions(b, tie, w)


def _bound(law: Outcome | Pairing, formula: Scalar) -> Any:
    """A user's formula as a device function; a warning where the device may round it in another way."""
    if names := rounded_by_device(formula):
        warn(
            f"A formula of {type(law).__name__} uses {', '.join(names)}, which a graphics processor rounds in its own "
            "way: ratings may differ from the processor's in the last bit. Those of +, -, *, / and math.sqrt do not."
        )
    return target().compile(formula)


@cache
def _laws(outcome_kind: int, pairing_kind: int, functions: UserFunctions | None) -> Laws:
    """Device functions of laws by their kinds; those of users are their own functions."""
    return device_laws(device_formulas(), target(), outcome_kind, pairing_kind, functions)


@cache
def _kernel(source: Source, laws: Laws, ties: bool, near: bool, window: int, players: int, many: bool) -> Any:
    """The kernel of a block of ``window`` and ``players`` threads, or of ``players`` warps when there is no window."""
    from kinelo.micro.gpu import kernels

    formulas = device_formulas()
    if source == "table":
        origin = from_table(formulas, target(), ties=ties)
    else:
        origin = from_performances(formulas, target(), laws)
    functions = (origin, *settling(formulas, target(), laws))
    if window == 0:
        return kernels.warp_kernel(near, laws.w is not None, players, many, *functions)
    return kernels.block_kernel(window, players, near, many, *functions)


def packed(table: Meeting, *, ties: bool) -> NDArray[np.uint64]:
    """The table with what belongs to a pair side by side, so that one look at memory finds it."""
    words = np.zeros((len(table.pairs), WORDS_WITH_TIES if ties else PAIR_WORDS), dtype=np.uint64)
    i, j = table.pairs.astype(np.uint64) >> np.uint64(16), table.pairs.astype(np.uint64) & np.uint64(0xFFFF)
    words[:, 0], words[:, 1] = i | (j << np.uint64(SHORT)), table.win
    if ties:
        words[:, 2] = table.loss
    return words.ravel()


NO_TABLE = np.zeros(PAIR_WORDS, dtype=np.uint64)


def gpu_play(
    system: RatingSystem, leagues: Sequence[EncodedSystem], keys: NDArray[np.uint64], *, blocks: int | None = None
) -> HeldPlay:
    """Play one league on the device, or from tables several of a kind; ``system`` is that of the first.

    ``keys`` is (realisations, 2). Rows are the leagues of the first realisation, then those of the second …, all of
    them in every call; ``blocks`` is the largest number of rows that get a block of threads each.
    """
    cuda = cuda_module()
    from kinelo.micro.gpu import kernels

    law, rule, meeting, drawing = leagues[0].law, leagues[0].rule, leagues[0].meeting, leagues[0].drawing
    teams, source = leagues[0].teams, "literal" if meeting.literal else "table"
    if teams >= LARGEST_LEAGUE:
        raise InputError(f"A league on the GPU has fewer than {LARGEST_LEAGUE:,} teams, not {teams:,}.")
    own = USER in (law.kind, rule.kind)
    laws = _laws(law.kind, rule.kind, user_functions_on_device(system.outcome, system.pairing) if own else None)
    found, which = distinct_tables(leagues)
    ties = any(has_ties(table) for table in found)
    tables = [NO_TABLE] if meeting.literal else [packed(table, ties=ties) for table in found]
    keys = np.repeat(keys, len(leagues), axis=0)
    rows = len(keys)
    if blocks is None:
        blocks = BLOCK_REALISATIONS * (1 if simulated() else int(cuda.get_current_device().MULTIPROCESSOR_COUNT))
    window, players = BLOCK_OF_MANY if teams >= MANY_TEAMS else BLOCK_THREADS
    if rows > blocks:
        window, players = 0, WARPS_OF_BLOCK
    together = 1 if window else players

    def bytes_of_block(near: bool) -> int:
        if window:
            return kernels.block_bytes(window, teams, near)
        return players * kernels.warp_bytes(teams, near, 32 if source == "table" else 64, laws.w is not None)

    near = bytes_of_block(True) <= BLOCK_MEMORY
    need = bytes_of_block(near)
    run = _kernel(source, laws, ties, near, window, players, len(leagues) > 1)
    threads = window + players if window else players * kernels.WARP
    kind, values, chances, lineup, _ = drawing
    on_device = (kind, cuda.to_device(values), cuda.to_device(chances), lineup)
    if len(leagues) == 1:
        held: tuple[Any, ...] = cuda.to_device(tables[0]), float(leagues[0].gamma[0]), tuple(law), tuple(rule)
    else:
        # Tables, steps, outcomes and pairings of several leagues, as ``kernels.one_of_many`` reads them.
        of_row = np.arange(rows) % len(leagues)
        numbers = np.array([(league.gamma[0], *league.law[1:], *league.rule[1:]) for league in leagues]).T
        gamma, nu, kappa, c, smoothing = (cuda.to_device(column[of_row]) for column in numbers)
        results = cuda.to_device(np.stack(tables)), cuda.to_device(which[of_row])
        held = results, gamma, (law.kind, nu, kappa), (rule.kind, c, smoothing)
    boards = cuda.device_array((1, 1) if near else (rows, 2 * teams), np.uint32)

    def launch(arrays: Mapping[str, Any], played: Any, own: Any, first: int, last: int) -> None:
        run[-(-rows // together), threads, 0, need](arrays["rating"], played, own, held, on_device, first, last, boards)

    return HeldPlay(cuda, launch, keys, ("rating",), kernels.LONGEST_PAIRS_LAUNCH)
