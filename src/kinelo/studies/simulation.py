"""Carrying out the ``[simulate]`` section of a study, with every record on disk as soon as it exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from kinelo.errors import InputError
from kinelo.micro.simulate import CALL, Records, SimulationState, check_plan, dataset_of, description_of, states_of
from kinelo.model.expectation import league_waves
from kinelo.model.strength import Fixed
from kinelo.play.encoding import LARGEST_TABLE
from kinelo.presentation import counted
from kinelo.results.disk import check_space
from kinelo.results.layout import Layout
from kinelo.results.manifest import FILE_NAME
from kinelo.results.store import RunStore
from kinelo.runtime.device import DeviceName
from kinelo.studies.study import Study, required

if TYPE_CHECKING:
    from distributed import Client

MEMORY_PREFIX = "memory_"
MOST_RECORDS = 100_000
"""Each record of a stored run is a file per variable, named in the run's manifest."""

SMALLEST_FILE = 4096
"""Bytes that a file takes at least."""


def simulation_inputs(study: Study) -> dict[str, Any]:
    """All of a study that determines its simulation."""
    moves = [name for name in ("schedule", "dynamics") if getattr(study, name) is not None]
    return study.inputs("gamma", "outcome", "pairing", "league", "simulate", *moves)


def total_matches(study: Study) -> int:
    """Candidate matches of all realisations together."""
    plan = required("simulate", study.simulate)
    return plan.steps * plan.matches_per_step * plan.realisations


def stored_bytes(study: Study) -> float:
    """Space that the records of a simulation take on the disk."""
    plan = required("simulate", study.simulate)
    # Each record is two files, and a file takes a block at least.
    each = max(8.0 * plan.realisations * study.strengths.teams, SMALLEST_FILE) + max(
        8.0 * plan.realisations, SMALLEST_FILE
    )
    return each * Records(plan.steps, plan.record_every).total


def planned(study: Study, folder: Path) -> Records:
    """The steps to be recorded, of a run that this machine can carry out and that ``folder`` can hold."""
    plan, teams = required("simulate", study.simulate), study.strengths.teams
    records = Records(plan.steps, plan.record_every)
    if records.total > MOST_RECORDS:
        raise InputError(
            f"[simulate] record_every = {records.every:,} asks for {records.total:,} records, and a stored run keeps "
            f"at most {MOST_RECORDS:,}; use record_every = {-(-records.steps // (MOST_RECORDS - 2)):,} or more."
        )
    check_plan(
        teams=teams,
        records=records,
        matches_per_step=plan.matches_per_step,
        realisations=plan.realisations,
        in_memory=1,
    )
    if plan.sampling == "marginal" and teams <= LARGEST_TABLE and not isinstance(study.strengths, Fixed):
        league_waves(study.system.outcome, study.strengths)
    if not (folder / FILE_NAME).exists():
        check_space(
            folder,
            stored_bytes(study),
            f"A run of {counted(len(records), 'record', 'records')}",
            "use a larger record_every",
        )
    return records


def run_simulation(study: Study, folder: Path, **options: Any) -> xr.Dataset:
    """Simulate into the run folder, continuing what is there, and return the stored dataset.

    ``options`` are those of :func:`simulate_into`.
    """
    with simulate_into(study, folder, **options) as store:
        return store.dataset().set_coords("step")


@contextmanager
def simulate_into(
    study: Study,
    folder: Path,
    *,
    advance: Callable[[float], None] = lambda done: None,
    threads: int | None = None,
    device: DeviceName = "cpu",
    client: Client | None = None,
) -> Iterator[RunStore]:
    """The store of a simulation, finished but not read.

    ``advance`` is called with the number of candidate matches played so far. Neither the device nor the workers of a
    Dask client change a byte, so a run begun on one goes on on the other.
    """
    plan = required("simulate", study.simulate)
    records = planned(study, folder)
    start = None if plan.start is None else np.broadcast_to(plan.start, np.shape(plan.start) or study.strengths.teams)
    with RunStore.open(folder, simulation_inputs(study), _layout(study, records)) as store:
        if not store.complete:
            for state in _states(study, store, records, start, threads, device, client):
                if state.step in records:
                    row = {"rating": state.rating, "matches_played": state.played, **state.record}
                    kept = {f"{MEMORY_PREFIX}{name}": values for name, values in state.memory.items()}
                    kept |= {"step": np.array(state.step), "rating": state.rating, "played": state.played}
                    store.append(row, kept)
                advance(state.step * plan.matches_per_step * plan.realisations)
            store.finish()
        yield store


def _states(
    study: Study,
    store: RunStore,
    records: Records,
    start: Any,
    threads: int | None,
    device: DeviceName,
    client: Client | None,
) -> Iterator[SimulationState]:
    plan = required("simulate", study.simulate)
    stored = store.state
    if stored is not None:
        memory = {name.removeprefix(MEMORY_PREFIX): stored[name] for name in stored if name.startswith(MEMORY_PREFIX)}
        start = SimulationState(int(stored["step"]), stored["rating"], stored["played"].astype(np.int64), memory)
    begin = 0 if stored is None else int(stored["step"]) + 1
    stride = max(1, CALL // (plan.matches_per_step * plan.realisations))
    stops = records.with_stops_between(stride, begin)
    return states_of(
        client, study.system, study.strengths, stops=stops, matches_per_step=plan.matches_per_step,
        realisations=plan.realisations, seed=plan.seed, start=start, sampling=plan.sampling, threads=threads,
        dynamics=study.motion, device=device, stored=True,
    )  # fmt: skip


def _layout(study: Study, records: Records) -> Layout:
    plan = required("simulate", study.simulate)
    blank = np.zeros((plan.realisations, study.strengths.teams)), np.zeros(plan.realisations, dtype=np.int64)
    # What is recorded beside ratings, where strengths move or ratings carry a deviation.
    beside = ["strength", "age"] if study.motion is not None or study.system.deviations is not None else []
    beside += ["deviation"] if study.system.deviations is not None else []
    description = description_of(
        study.system, study.strengths, study.motion, plan.matches_per_step, plan.seed, plan.sampling
    )
    first = [SimulationState(step, *blank) for step in records[:1]]
    example = dataset_of(first, study.system, study.strengths, description)
    steps = np.array(records, dtype=np.int64)
    time = study.system.sides * steps * plan.matches_per_step / study.strengths.teams
    fixed = {
        name: (tuple(map(str, example[name].dims)), example[name].values)
        for name in ("theta", "sigma", "team", "realisation")
    }
    fixed |= {"time": (("time",), time), "step": (("time",), steps)}
    series = {
        "rating": (("realisation", "team"), blank[0].shape),
        "matches_played": (("realisation",), blank[1].shape),
        **dict.fromkeys(beside, (("realisation", "team"), blank[0].shape)),
    }
    return Layout(len(records), fixed, series, {"title": study.title, **example.attrs})
