"""The reproduction: carry out the runs of every figure, draw it, check the claims.

A run has a folder of its own, named after its inputs; how much work it is, is known before it begins."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from kinelo._version import __version__
from kinelo.errors import InputError
from kinelo.paper.catalogue import check_claims, drawing, preparation
from kinelo.paper.claim import Claim
from kinelo.paper.figure import FigureStudy, Scale
from kinelo.pictures.style import arrange, picture_bytes
from kinelo.results.disk import check_space, disk_errors_in_words, make_writable_folder
from kinelo.results.manifest import FILE_NAME, Provenance, content_digest, provenance
from kinelo.runtime.atomic import replace_file
from kinelo.runtime.blas import one_blas_thread
from kinelo.runtime.device import DeviceName, usable_processors
from kinelo.runtime.limits import check_time
from kinelo.studies.plan import check_solution, run_bytes, run_seconds
from kinelo.studies.simulation import planned, run_simulation, simulate_into, simulation_inputs, total_matches
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


FILES_OF_SCALE: Mapping[Scale, Sequence[str]] = {"full": ("png", "pdf"), "quick": ("png",)}
"""Files of a figure: what goes to a printer is worth its time only where the numbers are the final ones."""


def render(name: str, evidence: object, scale: Scale = "full") -> dict[str, bytes]:
    """Draw the figure ``name`` from its evidence, as the bytes of a file in each format of the scale."""
    try:
        figure = drawing(name)(evidence)
    except KeyError as missing:
        raise InputError(f"The drawing {name!r} needs a run named {missing}.") from None
    arrange(figure)
    return {kind: picture_bytes(figure, kind) for kind in FILES_OF_SCALE[scale]}


ADVICE = "continue with --resume"


@dataclass(frozen=True)
class Progress:
    """How far a reproduction is: seconds' worth of work done and in all, figures done and in all, what is next."""

    done: float
    total: float
    figures_done: int
    figures: int
    label: str


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with its numbers and its picture."""

    study: FigureStudy
    evidence: Any
    png: bytes


@dataclass(frozen=True)
class Reproduction:
    """All that a report shows."""

    scale: Scale
    figures: Sequence[DrawnFigure]
    claims: Sequence[Claim]
    claims_left_out: int
    runs_found: int
    runs: int
    matches: int
    provenance: Provenance


def reproduce(
    figures: Sequence[FigureStudy],
    folder: Path,
    *,
    scale: Scale = "full",
    watch: Callable[[Progress], None] = lambda progress: None,
    threads: int | None = None,
    device: DeviceName = "cpu",
) -> Reproduction:
    """Carry out every run that is not in ``folder`` yet, draw the figures into it and check the claims.

    Each run has a folder of its own below ``folder/runs``, named after its inputs: a finished one is used again, an
    interrupted one continued, and one whose inputs changed is computed anew beside the old one. ``device`` is where
    matches are played, which changes no byte.
    """
    begin = time.monotonic()
    with one_blas_thread():
        for figure in figures:
            preparation(figure.draw, figure.source)
        check_plan(figures, folder)
        make_writable_folder(folder)
        work = _Work(figures, folder, watch)
        for figure in figures:
            work.make(figure, scale, threads, device)
    work.report("Checking the claims")
    claims, left_out = check_claims({one.study.draw: one.evidence for one in work.drawn})
    # Every seed that enters: of leagues, of simulations and of what is drawn for a figure.
    sections = [part for figure in figures for s in figure.studies.values() for part in (s.league, s.simulate)]
    drawn = [figure.parameters.get("seed") for figure in figures]
    seeds = {seed for seed in (*(getattr(part, "seed", None) for part in sections), *drawn) if seed is not None}
    return Reproduction(
        scale=scale,
        figures=work.drawn,
        claims=claims,
        claims_left_out=left_out,
        runs_found=work.found,
        runs=work.runs,
        matches=sum(run_work(s).matches for f in figures for s in f.studies.values()),
        provenance=provenance(seconds=time.monotonic() - begin, seeds=sorted(seeds)),
    )


def check_plan(figures: Sequence[FigureStudy], folder: Path) -> None:
    """Refuse a reproduction whose runs, each or all together, take more memory, disk or time than there is."""
    seconds = size = 0.0
    for figure in figures:
        for name, study in figure.studies.items():
            place = run_folder(folder, figure, name, study) if has_run(study) else None
            if place is None or (place / FILE_NAME).exists():
                continue
            try:
                if study.simulate is not None:
                    planned(study, place)
                elif study.solve is not None:
                    check_solution(study, place)
            except InputError as error:
                raise InputError(f"Figure {figure.number}, {name}: {error}") from None
            seconds, size = seconds + run_seconds(study), size + run_bytes(study)
    what, remedy = f"The reproduction of {len(figures)} figures", "ask for fewer with --figure, or for smaller runs"
    check_time(seconds, what, remedy)
    check_space(folder, size, what, remedy)


class _Work:
    """Makes figures one after the other and keeps count."""

    def __init__(self, figures: Sequence[FigureStudy], folder: Path, watch: Callable[[Progress], None]) -> None:
        self.folder, self.watch = folder, watch
        self.total, self.figures = sum(figure_work(figure) for figure in figures), len(figures)
        self.done, self.found, self.runs = 0.0, 0, 0
        self.drawn: list[DrawnFigure] = []

    def make(self, figure: FigureStudy, scale: Scale, threads: int | None, device: DeviceName) -> None:
        """Carry out the runs of a figure, compute its evidence and draw it."""
        for name, study in figure.studies.items():
            if has_run(study):
                self.run(figure, name, study, threads, device)
        self.report(f"Figure {figure.number}: theory and drawing")
        evidence = evidence_of(figure, self.folder)
        pictures = render(figure.draw, evidence, scale)
        with disk_errors_in_words(self.folder, ADVICE):
            (self.folder / "figures").mkdir(exist_ok=True)
            for kind, content in pictures.items():
                replace_file(self.folder / "figures" / f"{figure.name}.{kind}", content)
        self.drawn.append(DrawnFigure(figure, evidence, pictures["png"]))
        self.done += figure_work(figure) - sum(run_work(study).seconds for study in figure.studies.values())

    def run(self, figure: FigureStudy, name: str, study: Study, threads: int | None, device: DeviceName) -> None:
        """Carry out one run, or go on with it."""
        work = run_work(study)
        label = f"Figure {figure.number}: {name}"
        self.report(label)

        def advance(done: float) -> None:
            self.report(label, work.seconds * min(done / work.units, 1.0))

        folder = run_folder(self.folder, figure, name, study)
        self.runs += 1
        self.found += (folder / FILE_NAME).exists()
        carry_out(study, folder, advance, threads, device)
        self.done += work.seconds

    def report(self, label: str, more: float = 0.0) -> None:
        """Say how far the reproduction is."""
        self.watch(Progress(self.done + more, self.total, len(self.drawn), self.figures, label))


def evidence_of(figure: FigureStudy, folder: Path) -> Any:
    """What a figure shows, from its finished runs in ``folder`` and from theory."""
    data = {
        name: finished_run(study, run_folder(folder, figure, name, study))
        for name, study in figure.studies.items()
        if has_run(study)
    }
    return preparation(figure.draw, figure.source)(figure, data)
