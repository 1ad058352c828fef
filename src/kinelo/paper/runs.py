"""The runs of figures: which studies have one, how much work it is, where it lies, and carrying it out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from kinelo._version import __version__
from kinelo.paper.figure import FigureStudy
from kinelo.results.manifest import content_digest
from kinelo.runtime.device import DeviceName, usable_processors
from kinelo.studies.simulation import run_simulation, simulate_into, simulation_inputs, total_matches
from kinelo.studies.solution import run_solution, solution_inputs, solve_into
from kinelo.studies.study import Study

WORTH_THREADS = 100_000
"""Cells of a kinetic grid from which more than one thread pays."""


def has_run(study: Study) -> bool:
    """Whether a study asks for a simulation or a solution, rather than only naming a league."""
    return study.simulate is not None or study.solve is not None


def carry_out(
    study: Study, folder: Path, advance: Callable[[float], None], threads: int | None, device: DeviceName = "cpu"
) -> None:
    """Do what a study asks for, into ``folder``."""
    if study.simulate is not None:
        with simulate_into(study, folder, advance=advance, threads=threads, device=device):
            return
    many = math.prod(study.teams.grid.shape) >= WORTH_THREADS
    # The report states where the closure is out of its range; a warning per run would only repeat it.
    with solve_into(
        study, folder, watch=lambda state: advance(state.time), quiet=True,
        threads=(threads or usable_processors()) if many else 1,
    ):  # fmt: skip
        return


def finished_run(study: Study, folder: Path) -> xr.Dataset:
    """The dataset of a run, which is carried out where it is not there yet."""
    if study.simulate is not None:
        return run_simulation(study, folder, threads=1)
    return run_solution(study, folder, quiet=True)


def run_folder(folder: Path, figure: FigureStudy, name: str, study: Study) -> Path:
    """Folder of a run: readable, and different for different inputs or another version of Kinelo."""
    inputs = simulation_inputs(study) if study.simulate is not None else solution_inputs(study)
    digest = content_digest({"inputs": inputs, "kinelo": __version__})
    readable = re.sub(r"[^\w.]+", "-", name).strip("-")
    return folder / "runs" / f"{figure.name}-{readable}-{digest[:10]}"


USUAL_SECONDS_PER_MATCH = 8e-9
USUAL_SECONDS_PER_CELL, USUAL_SECONDS_PER_STEP = 3e-9, 1e-4
SECONDS_PER_FIGURE = 1.0
"""Typical figures of a two-core machine; only their ratios matter."""


@dataclass(frozen=True)
class RunWork:
    """``units`` are what the run counts its progress in: matches, or kinetic time."""

    units: float
    seconds: float
    matches: int


def run_work(study: Study) -> RunWork:
    """Work of one run; none for a study that only names a league."""
    if study.simulate is not None:
        matches = total_matches(study)
        return RunWork(matches, matches * USUAL_SECONDS_PER_MATCH, matches)
    if study.solve is not None and study.population is not None:
        grid = study.teams.grid
        steps = study.solve.until / grid.r.width
        return RunWork(
            study.solve.until, steps * (math.prod(grid.shape) * USUAL_SECONDS_PER_CELL + USUAL_SECONDS_PER_STEP), 0
        )
    return RunWork(1.0, 0.0, 0)


def figure_work(figure: FigureStudy) -> float:
    """Seconds for a figure's runs and its drawing."""
    return SECONDS_PER_FIGURE + sum(run_work(study).seconds for study in figure.studies.values())
