"""Carrying out the ``[solve]`` section of a study, with every sample on disk as soon as it exists.

A row of the store is a state the run yields. Its numbers are kept in every row, its density in those the study asks
for; in the others the density has no file and reads as NaN. The checkpoint is the last state whole, so that a run
continues from it as if it had never stopped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kinelo.errors import KineloWarning
from kinelo.macro.motion import with_form
from kinelo.macro.population import Population
from kinelo.macro.run import kinetic_states, save_times, until_time
from kinelo.macro.solve import assembled
from kinelo.macro.state import Diagnostics, KineticState, StationaryMap, diagnose, stationary_map
from kinelo.macro.velocity import Velocity
from kinelo.results.layout import Layout
from kinelo.results.store import RunStore
from kinelo.runtime.blas import one_blas_thread
from kinelo.runtime.device import DeviceName, choose_device
from kinelo.studies.plan import check_solution
from kinelo.studies.study import Study, required

NUMBERS = ("time", "steps", "change", "saved", "steady", "centre")
INTEGRALS = ("mass", "mean_rating", "second_moment", "energy", "stationary_distance")


def solution_inputs(study: Study, device: str = "cpu") -> dict[str, Any]:
    """All that determines a solution; devices differ in its last bits, so a run stays on the one it began on."""
    moves = tuple(name for name in ("dynamics", "schedule") if getattr(study, name) is not None)
    inputs = study.inputs("gamma", "outcome", "pairing", "population", "solve", *moves)
    return inputs if device == "cpu" else inputs | {"device": device}


def run_solution(study: Study, folder: Path, **options: Any) -> xr.Dataset:
    """Solve into the run folder, continuing what is there.

    Returns what :func:`kinelo.solve` returns: densities over ``time``, integrals over ``series_time``. ``options`` are
    those of :func:`solve_into`.
    """
    with solve_into(study, folder, **options) as store:
        stored = store.dataset()
        plan, numbers, note = required("solve", study.solve), stored.numbers.values, stored.attrs["stationary_note"]
        saved = np.flatnonzero(numbers[:, NUMBERS.index("saved")])
        grid = _teams(study).grid
        states = [_state(numbers[row], Population._of(grid, stored.density[int(row)].values), note) for row in saved]
        last = _state(numbers[-1], study.teams, note)
        series = numbers[:, [0, *range(len(NUMBERS), numbers.shape[1])]]
        ending = {"steps": last.steps, "ended": "steady" if last.steady else "until", "stationary_note": note}
        moves = {} if study.motion is None else {"dynamics": repr(study.motion)}
        words = {"title": study.title, **plan.description, **moves, **ending}
        return assembled(states, series, study.system, words)


@contextmanager
def solve_into(
    study: Study,
    folder: Path,
    *,
    watch: Callable[[KineticState], None] = lambda state: None,
    threads: int = 1,
    quiet: bool = False,
    device: DeviceName = "cpu",
) -> Iterator[RunStore]:
    """The store of a solution, finished but not read.

    ``watch`` is shown every state that is computed; ``quiet`` keeps warnings about the closure to itself.
    """
    there = choose_device(device)
    check_solution(study, folder)
    with RunStore.open(folder, solution_inputs(study, there), _layout(study)) as store:
        if not store.complete:
            rest = _rest(study)
            with _silence() if quiet else nullcontext():
                for state in _states(study, store.state, threads, there):
                    # R* computed from a later state would differ in the last bits.
                    grid, density = state.population.grid, state.population.density
                    integrals = diagnose(density.reshape(grid.labels, -1), grid, rest)
                    state = replace(state, diagnostics=integrals, note=rest.note)
                    numbers = np.array(
                        [*(getattr(state, name) for name in NUMBERS), *(getattr(integrals, name) for name in INTEGRALS)]
                    )
                    checkpoint = {"numbers": numbers, "density": density}
                    checkpoint |= {"note": np.array(state.note), "frame": np.array(state.frame)}
                    store.append({"numbers": numbers} | ({"density": density} if state.saved else {}), checkpoint)
                    watch(state)
            store.finish({"stationary_note": rest.note})
        yield store


@contextmanager
def _silence() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        yield


def _states(
    study: Study, checkpoint: Mapping[str, NDArray[Any]] | None, threads: int, device: DeviceName
) -> Iterator[KineticState]:
    plan = required("solve", study.solve)
    start: Population | KineticState = _teams(study)
    if checkpoint is not None:
        # Population(...) would scale the density to mass one again and change its last bits.
        population = Population._of(start.grid, checkpoint["density"])
        frame = float(checkpoint["frame"]) if "frame" in checkpoint else 0.0
        start = replace(_state(checkpoint["numbers"], population, str(checkpoint["note"])), frame=frame)
        if start.steady or start.time >= plan.until:
            return iter(())
    return kinetic_states(study.system, start, **plan.settings, threads=threads, device=device, dynamics=study.motion)


def _teams(study: Study) -> Population:
    """The population at the start, with an axis for form where the study has it."""
    return with_form(study.teams, study.motion)


def _state(numbers: NDArray[np.float64], population: Population, note: str) -> KineticState:
    time, steps, change, saved, steady, centre, *integrals = map(float, numbers)
    return KineticState(
        time, int(steps), population, Diagnostics(*integrals), change, bool(saved), bool(steady), centre, note
    )


def _rest(study: Study) -> StationaryMap:
    """The stationary map, from the start of the run."""
    plan, start = required("solve", study.solve), _teams(study)
    with one_blas_thread():
        with _silence():
            velocity = Velocity(study.system, start.grid, plan.closure)
        velocity.update_labels(start.label_mass)
        moving = plan.diffusion > 0 or study.motion is not None
        return stationary_map(study.system.outcome, velocity, start.label_mass.ravel(), start.mean_rating, moving)


def _layout(study: Study) -> Layout:
    plan, grid = required("solve", study.solve), _teams(study).grid
    axes = grid.axes
    names = (*NUMBERS, *INTEGRALS)
    return Layout(
        rows=plan.samples + len(save_times(plan.save_at, until_time(plan.until))) + 2,
        fixed={name: ((name,), axis.centres) for name, axis in axes.items()}
        | {"quantity": (("quantity",), np.array(names))},
        series={"numbers": (("quantity",), (len(names),)), "density": (tuple(axes), grid.shape)},
        attributes={"title": study.title, "outcome": repr(study.system.outcome), **plan.description},
        row_dimension="row",
    )
