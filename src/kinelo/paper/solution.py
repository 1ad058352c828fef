"""Carrying out the ``[solve]`` section of a study, with every sample on disk as soon as it exists.

A row of the store is a state the run yields. Its integrals are kept in every row, its density in those the study asks
for; in the others the density has no file and reads as NaN.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kinelo.errors import KineloWarning
from kinelo.macro.diagnostics import StationaryMap, diagnose, stationary_map
from kinelo.macro.population import Population
from kinelo.macro.run import kinetic_states, save_times
from kinelo.macro.state import KineticState
from kinelo.macro.velocity import Velocity
from kinelo.results.layout import Layout
from kinelo.results.store import RunStore
from kinelo.studies.study import Study, required

QUANTITIES = ("time", "steps", "mass", "mean_rating", "second_moment", "energy", "stationary_distance")


def solution_inputs(study: Study) -> dict[str, Any]:
    """All of a study that determines its solution."""
    return study.model_dump(mode="json", include={"gamma", "outcome", "pairing", "population", "solve"})


def run_solution(
    study: Study,
    folder: Path,
    *,
    advance: Callable[[float], None] = lambda time: None,
    threads: int = 1,
) -> xr.Dataset:
    """Solve into the run folder, continuing what is there; ``advance`` is told the time reached.

    Returns ``density(theta, sigma, r)`` at the end, and over ``time`` the mass, moments, E and the distance to the
    stationary map.
    """
    with RunStore.open(folder, solution_inputs(study), _layout(study)) as store:
        if not store.complete:
            rest = _rest(study)
            for state in _states(study, store.state, threads):
                density = {"density": state.population.density} if state.saved else {}
                store.append({"integrals": _integrals(state, rest)} | density, _checkpoint(state))
                advance(state.time)
            store.finish()
        return _tidy(store.dataset(), required("solve", study.solve).closure)


def _states(study: Study, kept: dict[str, NDArray[Any]] | None, threads: int) -> Iterator[KineticState]:
    plan = required("solve", study.solve)

    def begin(start: Population | KineticState) -> Iterator[KineticState]:
        return kinetic_states(study.system, start, **plan.model_dump(), threads=threads)

    # The report states where the closure is out of its range; a warning per run would only repeat it.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        if kept is None:
            yield from begin(study.teams)
            return
        if kept["steady"] or kept["time"] >= plan.until:
            return
        # Population(...) would scale the density to mass one again and change its last bits.
        population = Population._of(study.teams.grid, kept["density"])
        first = next(begin(study.teams))
        yield from begin(
            replace(
                first, time=float(kept["time"]), steps=int(kept["steps"]), centre=float(kept["centre"]),
                population=population,
            )
        )  # fmt: skip


def _checkpoint(state: KineticState) -> dict[str, NDArray[Any]]:
    return {
        "time": np.array(state.time),
        "steps": np.array(state.steps),
        "centre": np.array(state.centre),
        "steady": np.array(state.steady),
        "density": state.population.density,
    }


def _rest(study: Study) -> StationaryMap:
    """The stationary map, from the start of the run: computed from a later state it would differ in the last bits."""
    plan, start = required("solve", study.solve), study.teams
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        velocity = Velocity(study.system, start.grid, plan.closure)
    velocity.update_labels(start.label_mass)
    moving = plan.diffusion > 0
    return stationary_map(study.system.outcome, velocity, start.label_mass.ravel(), start.mean_rating, moving)


def _integrals(state: KineticState, rest: StationaryMap) -> NDArray[np.float64]:
    grid = state.population.grid
    integrals = diagnose(state.population.density.reshape(grid.labels, -1), grid, rest)
    return np.array([state.time, state.steps, *(getattr(integrals, name) for name in QUANTITIES[2:])])


def _layout(study: Study) -> Layout:
    plan, grid = required("solve", study.solve), study.teams.grid
    axes = {"theta": grid.theta, "sigma": grid.sigma, "r": grid.r}
    return Layout(
        rows=plan.samples + len(save_times(plan.save_at, plan.until)) + 2,
        fixed={name: ((name,), axis.centres) for name, axis in axes.items()}
        | {"quantity": (("quantity",), np.array(QUANTITIES))},
        series={"integrals": (("quantity",), (len(QUANTITIES),)), "density": (tuple(axes), grid.shape)},
        attributes={"title": study.title, "closure": plan.closure, "outcome": repr(study.system.outcome)},
        row_dimension="row",
    )


def _tidy(stored: xr.Dataset, closure: str) -> xr.Dataset:
    integrals = stored.integrals.values
    columns = {name: ("time", integrals[:, k]) for k, name in enumerate(QUANTITIES)}
    return xr.Dataset(
        {name: column for name, column in columns.items() if name != "time"}
        | {"density": stored.density.isel(row=-1).load()},
        coords={"time": columns["time"]},
        attrs={"closure": closure, "steps": int(integrals[-1, 1])},
    )
