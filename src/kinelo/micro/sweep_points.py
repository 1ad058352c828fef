"""Many points of a sweep played at once: leagues of one size, seed and plan, whose laws have other numbers.

The stream is keyed by (seed, realisation, match). Such leagues therefore meet in the same pair with the same uniform
at every match: one draw serves them all, and their ratings move side by side. Each ends at the bytes of being alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinelo.micro.kernels import Points, Tables, play_points
from kinelo.micro.league import Play
from kinelo.micro.simulate import (
    Records,
    Setting,
    SimulationState,
    check_plan,
    dataset_of,
    even_groups,
    played_states,
    starting_state,
)
from kinelo.model.law import fingerprint
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, whole
from kinelo.play.encoding import LARGEST_TABLE, EncodedSystem, distinct_tables, encode, has_ties
from kinelo.play.stream import realisation_keys
from kinelo.runtime.blas import one_blas_thread
from kinelo.runtime.device import DeviceName, choose_device, usable_processors
from kinelo.runtime.limits import check_memory

if TYPE_CHECKING:
    import xarray as xr

LEAST_POINTS_TOGETHER, MOST_POINTS_TOGETHER, MOST_ON_GPU = 8, 32, 4096
"""Points that gain by being played together, and that are at most: for each thread; on a GPU, times realisations."""

ROOM = 1 << 28
"""Bytes of tables, and of recorded ratings, that points played together may take."""

LONG = 1 << 34
"""Matches of points played together: some minutes of one processor, so that little is lost when a sweep is stopped."""


def common_kind(system: RatingSystem, strengths: Strength) -> tuple[int, int, int] | None:
    """What leagues must have in common to be played together: kinds of law and number of teams; None if never."""
    outcome, pairing = system.outcome.code, system.pairing.code
    if not system.plain or outcome is None or pairing is None or strengths.teams > LARGEST_TABLE:
        return None
    return outcome[0], pairing[0], strengths.teams


def most_points(
    teams: int, records: Records, matches: int, realisations: int, threads: int | None, device: str, shared: bool
) -> int:
    """How many points of this size can be played together; ``shared`` if they have one table of results."""
    parts = -(-(threads or usable_processors()) // realisations)
    tables = 0 if shared else 8 * teams * (teams - 1)
    kept = 16 * realisations * (teams + 1) * records.total
    most = MOST_ON_GPU // realisations if device == "gpu" else MOST_POINTS_TOGETHER * parts
    return min(most, ROOM // max(tables, kept), LONG // max(1, matches * realisations))


def simulate_points(
    leagues: Sequence[Setting],
    *,
    steps: int,
    matches_per_step: int,
    realisations: int,
    seed: int,
    record_every: int | None,
    threads: int | None = None,
    device: DeviceName = "cpu",
) -> list[xr.Dataset]:
    """What :func:`kinelo.simulate` gives for each of these leagues, which must be of one :func:`common_kind`.

    >>> import kinelo as kn
    >>> plan = {"steps": 9, "matches_per_step": 25, "realisations": 2, "seed": 1, "record_every": 3}
    >>> leagues = [Setting(kn.RatingSystem(kn.Tanh(0.5), gamma=g), kn.Fixed([4.0, 7.0, 9.0])) for g in (0.1, 0.2)]
    >>> one, other = simulate_points(leagues, **plan)
    >>> other.identical(kn.simulate(*leagues[1][:2], **plan))
    True
    """
    matches_per_step, realisations, seed = (
        whole(name, value, least)
        for name, value, least in (
            ("matches_per_step", matches_per_step, 1), ("realisations", realisations, 1), ("seed", seed, 0),
        )
    )  # fmt: skip
    points, teams, records = len(leagues), leagues[0].strengths.teams, Records(steps, record_every)
    rows = realisations * points
    check_plan(
        teams=teams, records=records, matches_per_step=matches_per_step, realisations=rows, in_memory=records.total
    )  # fmt: skip
    starts = [starting_state(league.strengths, league.start, realisations).rating for league in leagues]
    state = SimulationState(0, np.stack(starts, axis=1).reshape(rows, teams), np.zeros(rows, dtype=np.int64))
    there = choose_device(device)
    with one_blas_thread():
        # Leagues with one outcome and the same strengths share a table of results.
        tables = len({fingerprint(one.system.outcome, one.strengths) or k for k, one in enumerate(leagues)})
        check_memory(16.0 * tables * teams * (teams - 1), f"{tables:,} tables of results", "use fewer teams")
        encoded, keys = [encode(*one[:2]) for one in leagues], realisation_keys(seed, realisations)
        if there == "gpu":
            from kinelo.micro.gpu.play import gpu_play

            play = gpu_play(leagues[0].system, encoded, keys)
        else:
            play = points_play(encoded, keys)
    workers = usable_processors() if threads is None else threads
    groups = [slice(0, rows)] if there == "gpu" else _groups(realisations, points, workers)
    recorded = list(played_states(play, state, records, matches_per_step, groups, min(workers, len(groups))))
    description = {"matches_per_step": matches_per_step, "seed": seed, "sampling": "marginal"}
    runs = []
    for k, league in enumerate(leagues):
        states = [SimulationState(state.step, state.rating[k::points], state.played[k::points]) for state in recorded]
        runs.append(dataset_of(states, league.system, league.strengths, description))
    return runs


def points_play(leagues: Sequence[EncodedSystem], keys: NDArray[np.uint64]) -> Play:
    """Play from tables of results; rows are the points of the first realisation, then those of the second …"""
    points, teams = len(leagues), leagues[0].teams
    tables, which = distinct_tables(leagues)
    win = np.stack([table.win for table in tables], axis=1)
    loss = np.stack([table.loss for table in tables], axis=1) if any(map(has_ties, tables)) else win
    gamma = np.array([league.gamma[0] for league in leagues])
    laws, rules = [league.law for league in leagues], [league.rule for league in leagues]
    (nu, kappa), (c, smoothing) = (np.array([code[1:] for code in codes]).T.copy() for codes in (laws, rules))
    side = Tables(tables[0].pairs, win, loss)

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        # All points of some realisations, or some points of one.
        begin, offset = divmod(chosen.start, points)
        rows = chosen.stop - chosen.start
        width = min(rows, points)
        part, count = slice(offset, offset + width), rows // width
        side_by_side = np.ascontiguousarray(rating[chosen].reshape(count, width, teams).swapaxes(1, 2))
        play_points(
            side_by_side, played[chosen].reshape(count, width), keys[begin : begin + count], side,
            Points(
                which[part], gamma[part], laws[0].kind, nu[part], kappa[part], rules[0].kind, c[part], smoothing[part]
            ),
            first, last,
        )  # fmt: skip
        rating[chosen] = side_by_side.swapaxes(1, 2).reshape(rows, teams)

    return play


def _groups(realisations: int, points: int, workers: int) -> list[slice]:
    """Whole realisations for each worker; where there are fewer of them than workers, parts of the points of each."""
    if realisations >= workers:
        return [slice(points * one.start, points * one.stop) for one in even_groups(realisations, workers)]
    parts = even_groups(points, min(points, -(-workers // realisations)))
    return [slice(k * points + a.start, k * points + a.stop) for k in range(realisations) for a in parts]
