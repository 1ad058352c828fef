"""The reproduction: carry out the runs of every figure, draw it, check the claims, write the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.paper.catalogue import preparation
from kinelo.paper.claim import Claim
from kinelo.paper.claims import check_claims
from kinelo.paper.easel import Easel, Pictures
from kinelo.paper.figure import FigureStudy, Scale
from kinelo.paper.runs import carry_out, has_run, run_folder
from kinelo.paper.theory import Think, evidence_of
from kinelo.paper.work import figure_work, run_work
from kinelo.results.disk import check_space, disk_errors_in_words, make_writable_folder
from kinelo.results.manifest import FILE_NAME
from kinelo.results.provenance import Provenance, provenance
from kinelo.runtime.atomic import replace_file
from kinelo.runtime.blas import one_blas_thread
from kinelo.runtime.device import DeviceName
from kinelo.runtime.limits import check_time
from kinelo.studies.plan import check_run, run_bytes, run_seconds
from kinelo.studies.study import Study

SHORT = 1.0
"""Seconds of a simulation that is played on one thread, beside the theory and the drawing of the figures before it."""

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
    easel: Easel | None = None,
    think: Think = evidence_of,
) -> Reproduction:
    """Carry out every run that is not in ``folder`` yet, draw the figures into it and check the claims.

    Each run has a folder of its own below ``folder/runs``, named after its inputs: a finished one is used again, an
    interrupted one continued, and one whose inputs changed is computed anew beside the old one. ``device`` is where
    matches are played, which changes no byte. ``easel`` draws, one of its own by default; ``think`` computes evidence.
    """
    begin = time.monotonic()
    # Runs, theory and drawing keep the processors busy; more threads for one product of matrices only get in their way.
    with one_blas_thread(), Easel() if easel is None else nullcontext(easel) as easel:
        for figure in figures:
            preparation(figure.draw, figure.source)
        check_plan(figures, folder)
        make_writable_folder(folder)
        bench = _Bench(figures, folder, watch, threads, easel, think, device, scale)
        try:
            # What is drawn longest comes first, so that little is left to do once the last run has ended.
            for figure in sorted(figures, key=_is_simulated):
                bench.make(figure)
            drawn = sorted(bench.all_drawn(), key=lambda one: figures.index(one.study))
        finally:
            bench.close()
    bench.report("Checking the claims")
    claims, left_out = check_claims({one.study.draw: one.evidence for one in drawn})
    return Reproduction(
        scale=scale,
        figures=drawn,
        claims=claims,
        claims_left_out=left_out,
        runs_found=bench.found,
        runs=bench.runs,
        matches=sum(run_work(s).matches for f in figures for s in f.studies.values()),
        provenance=provenance(seconds=time.monotonic() - begin, seeds=seeds_of(figures)),
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
                check_run(study, place)
            except InputError as error:
                raise InputError(f"Figure {figure.number}, {name}: {error}") from None
            seconds, size = seconds + run_seconds(study), size + run_bytes(study)
    what, remedy = f"The reproduction of {len(figures)} figures", "ask for fewer with --figure, or for smaller runs"
    check_time(seconds, what, remedy)
    check_space(folder, size, what, remedy)


def _is_simulated(figure: FigureStudy) -> bool:
    return any(study.simulate is not None for study in figure.studies.values())


class _Bench:
    """Keeps count while figures are made one after the other."""

    def __init__(
        self,
        figures: Sequence[FigureStudy],
        folder: Path,
        watch: Callable[[Progress], None],
        threads: int | None,
        easel: Easel,
        think: Think,
        device: DeviceName,
        scale: Scale,
    ) -> None:
        self.folder, self.watch, self.threads, self.easel, self.think = folder, watch, threads, easel, think
        self.device: DeviceName = device
        self.scale: Scale = scale
        self.total = sum(figure_work(figure) for figure in figures)
        self.done, self.figures = 0.0, len(figures)
        self.found, self.runs = 0, 0
        self.promised: list[tuple[FigureStudy, Future[tuple[Any, Future[Pictures]]]]] = []
        self.theory = ThreadPoolExecutor(1)
        self.drawn: list[DrawnFigure] = []

    def make(self, figure: FigureStudy) -> None:
        for name, study in figure.studies.items():
            if has_run(study):
                self.run(figure, name, study)
        # Theory is computed beside the runs of the figures that follow.
        self.promised.append((figure, self.theory.submit(self._think, figure)))
        self.done += figure_work(figure) - sum(run_work(study).seconds for study in figure.studies.values())
        self.hang_up(wait=False)

    def _think(self, figure: FigureStudy) -> tuple[Any, Future[Pictures]]:
        evidence = self.think(figure, self.folder)
        return evidence, self.easel.draw(figure.draw, evidence, self.scale)

    def hang_up(self, *, wait: bool) -> None:
        """Write the pictures that are there, or with ``wait`` all that were promised."""
        while self.promised:
            figure, promise = self.promised[0]
            if not wait and not (promise.done() and promise.result()[1].done()):
                return
            self.promised.pop(0)
            self.report(f"Figure {figure.number}: theory and drawing")
            evidence, drawing = promise.result()
            pictures = drawing.result()
            with disk_errors_in_words(self.folder, ADVICE):
                (self.folder / "figures").mkdir(exist_ok=True)
                for kind, content in pictures.items():
                    replace_file(self.folder / "figures" / f"{figure.name}.{kind}", content)
            self.drawn.append(DrawnFigure(figure, evidence, pictures["png"]))

    def close(self) -> None:
        """Begin no more theory."""
        self.theory.shutdown(cancel_futures=True)

    def all_drawn(self) -> list[DrawnFigure]:
        self.hang_up(wait=True)
        return self.drawn

    def run(self, figure: FigureStudy, name: str, study: Study) -> None:
        self.hang_up(wait=False)
        work = run_work(study)
        label = f"Figure {figure.number}: {name}"
        self.report(label)

        def advance(done: float) -> None:
            self.report(label, work.seconds * min(done / work.units, 1.0))

        folder = run_folder(self.folder, figure, name, study)
        self.runs += 1
        self.found += (folder / "manifest.json").exists()
        # Other threads lose more by sharing few realisations than they gain where theory and drawing wait for them.
        threads = 1 if self.threads is None and work.seconds < SHORT else self.threads
        carry_out(study, folder, advance, threads, self.device)
        self.done += work.seconds

    def report(self, label: str, more: float = 0.0) -> None:
        self.watch(Progress(self.done + more, self.total, len(self.drawn), self.figures, label))


def seeds_of(figures: Sequence[FigureStudy]) -> list[int]:
    """Every seed that enters: of leagues, of simulations and of what is drawn for a figure."""
    sections = [part for figure in figures for s in figure.studies.values() for part in (s.league, s.simulate)]
    found = {getattr(part, "seed", None) for part in sections}
    found |= {figure.parameters.get("seed") for figure in figures}
    return sorted(seed for seed in found if seed is not None)
