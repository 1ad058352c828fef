"""What the run of a study would take, said before anything is written: records, memory, disk and time."""

from __future__ import annotations

import math
from pathlib import Path

from kinelo.errors import InputError
from kinelo.micro.simulate import SECONDS_PER_MATCH
from kinelo.presentation import counted
from kinelo.results.disk import check_space
from kinelo.results.manifest import FILE_NAME
from kinelo.runtime.device import usable_processors
from kinelo.studies.simulation import MOST_RECORDS, SMALLEST_FILE, stored_bytes, total_matches
from kinelo.studies.study import Study, required


def check_solution(study: Study, folder: Path) -> None:
    """Refuse a solution with more samples, cells or saved densities than memory, disk or a folder can hold."""
    samples = required("solve", study.solve).samples
    if samples > MOST_RECORDS:
        raise InputError(
            f"[solve] samples = {samples:,} asks for more records than a stored run keeps; "
            f"use at most {MOST_RECORDS:,}."
        )
    # A simulation need not load what solves the kinetic equation.
    from kinelo.macro.stepping import check_samples

    check_samples(samples)
    grid = study.teams.grid
    grid.check_memory(6, "Solving")
    if not (folder / FILE_NAME).exists():
        shown = " × ".join(f"{n:,}" for n in grid.shape)
        what = f"A solution on {shown} cells kept at {counted(_saves(study), 'time', 'times')}"
        check_space(folder, run_bytes(study), what, "use fewer cells or save fewer times")


def run_bytes(study: Study) -> float:
    """Bytes that a stored run takes on the disk; none for a study without one."""
    if study.simulate is not None:
        return stored_bytes(study)
    if study.solve is not None:
        density = max(8.0 * math.prod(study.teams.grid.shape), SMALLEST_FILE)
        # The densities, two checkpoints of which one replaces the other, and the copy that the dataset is.
        return density * (2 * _saves(study) + 2) + float(SMALLEST_FILE) * study.solve.samples
    return 0.0


def run_seconds(study: Study) -> float:
    """Seconds that a run takes on this machine at its best; to its first sample if it may stop there."""
    if study.simulate is not None:
        return float(total_matches(study)) * SECONDS_PER_MATCH / usable_processors()
    if study.solve is not None:
        from kinelo.macro.stepping import SECONDS_PER_CELL, SECONDS_PER_STEP

        grid, plan = study.teams.grid, study.solve
        span = plan.until / plan.samples if plan.stop == "steady" else plan.until
        # Speeds are of order one, and a step moves no team further than a cell.
        steps = span / (grid.r.width if isinstance(plan.dt, str) else plan.dt)
        return steps * (math.prod(grid.shape) * SECONDS_PER_CELL + SECONDS_PER_STEP["gpu"])
    return 0.0


def _saves(study: Study) -> int:
    from kinelo.macro.run import save_times, until_time

    plan = required("solve", study.solve)
    return len(save_times(plan.save_at, until_time(plan.until)))
