"""Making the reproduction of the paper, or one figure again, small, with other parameters, in a worker process.

A figure has sliders, and they change its study. A run takes seconds: the scale is that of a quick look, and the ranges
of the sliders bound the work."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import create_model

from kinelo.errors import InputError
from kinelo.lab.control import Panel, slider
from kinelo.paper.figure import FigureStudy, merged, read_figures
from kinelo.paper.folder import copy_studies, open_folder
from kinelo.paper.report import write_report
from kinelo.paper.reproduce import (
    Progress,
    RunWork,
    carry_out,
    check_plan,
    evidence_of,
    figure_work,
    has_run,
    render,
    reproduce,
    run_folder,
    run_work,
)
from kinelo.runtime.atomic import replace_file
from kinelo.runtime.blas import one_blas_thread

SMALL_REPORT_EVERY, MOST_SECONDS = 0.3, 10.0
"""Seconds between two reports, and how much slower than an idle core a run is taken to be at most."""
Key = tuple[str, ...]
"""Names from the top of a figure file down to one value."""


class Knob(NamedTuple):
    """A slider of a figure: its declaration, and the key of the study that it sets."""

    name: str
    kind: type[int] | type[float]
    field: Any
    place: Key


def _nu(default: float, *place: str) -> Knob:
    hint = "How surely the stronger side wins."
    field = slider(default, (0.05, 2.0), step=0.01, symbol="ν", label="Decisiveness", hint=hint, logarithmic=True)
    return Knob("nu", float, field, place)


def _gamma(default: float = 0.05) -> Knob:
    hint = "How far one surprising result moves a rating."
    field = slider(default, (0.01, 1.0), step=0.01, symbol="γ", label="Step size", hint=hint, logarithmic=True)
    return Knob("gamma", float, field, ("study", "gamma"))


def _sigma(default: float, *place: str) -> Knob:
    hint = "How far strength strays in a typical match."
    field = slider(default, (0.0, 4.0), step=0.1, symbol="σ", label="Ups and downs", hint=hint)
    return Knob("sigma", float, field, place)


def _teams() -> Knob:
    field = slider(100, (20, 200), step=10, symbol="N", label="Teams", hint="Number of teams.")
    return Knob("teams", int, field, ("study", "league", "teams"))


def _until(low: float, high: float, default: float) -> Knob:
    hint = "Kinetic time at which the density is looked at."
    field = slider(default, (low, high), step=1, symbol="t", label="Time", hint=hint)
    return Knob("until", float, field, ("study", "solve", "until"))


def _lineups() -> Knob:
    field = slider(1000, (100, 2000), step=100, label="Line-ups", hint="Line-ups drawn for each team.")
    return Knob("lineups", int, field, ("parameters", "lineups"))


_OUTCOME = ("study", "outcome", "nu")

KNOBS: Mapping[int, tuple[Knob, ...]] = {
    1: (_lineups(),),
    2: (_nu(0.5, *_OUTCOME), _gamma(default=0.1)),
    3: (_nu(1.0, *_OUTCOME), _until(1, 12, 5)),
    4: (_nu(0.5, *_OUTCOME), _gamma(), _teams()),
    5: (_nu(0.5, *_OUTCOME), _until(5, 120, 60)),
    6: (_sigma(2.0, "study", "league", "sigma"), _gamma()),
    7: (_nu(0.5, *_OUTCOME), _teams()),
    8: (_nu(0.5, "parameters", "nu"),),
    9: (_nu(0.5, "parameters", "nu"), _sigma(1.0, "parameters", "sigma")),
    11: (_nu(0.5, *_OUTCOME), _gamma(default=0.1)),
    12: (_nu(0.5, *_OUTCOME),),
}
"""Sliders by figure. Figure 10 shows all ν and σ already."""


def panel_of(number: int) -> type[Panel]:
    """The controls of a figure."""
    if number not in KNOBS:
        raise InputError(f"There are no sliders for figure {number}; there are for {', '.join(map(str, KNOBS))}.")
    fields: dict[str, Any] = {knob.name: (knob.kind, knob.field) for knob in KNOBS[number]}
    return create_model(f"Figure{number}", __base__=Panel, **fields)


def small_figure(number: int, given: Mapping[str, Any]) -> FigureStudy:
    """The study of a figure at quick scale with the values of its sliders.

    >>> small_figure(4, {"gamma": 0.2}).studies["σ = 1"].gamma
    0.2
    """
    values = panel_of(number).read(given)
    changes: dict[str, Any] = {}
    for knob in KNOBS[number]:
        value: Any = knob.kind(getattr(values, knob.name))
        for key in reversed(knob.place):
            value = {key: value}
        changes = merged(changes, value)
    [figure] = read_figures(scale="quick", wanted=[number], changes={number: changes})
    return figure


def estimated(figure: FigureStudy) -> dict[str, Any]:
    """What is known before a run: about how many seconds of one idle core it takes."""
    return {"share": 0.0, "label": "starting", "seconds": figure_work(figure)}


REPORT_EVERY = 0.2


class PaperController:
    """Carries out what ``kinelo reproduce`` does; an interrupted one is continued."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._reported = 0.0

    def make(self, folder: str, scale: str) -> dict[str, Any]:
        """Make figures, claims and report."""
        if scale not in ("quick", "full"):
            raise InputError(f"scale must be quick or full, not {scale!r}.")
        place = open_folder(Path(folder), resume=True)
        figures = read_figures(None, scale)
        copy_studies(figures, place, None)
        write_report(reproduce(figures, place, scale=scale, watch=self._watch), place)
        return {}

    def draw(self, number: int, values: dict[str, Any], folder: str) -> dict[str, Any]:
        """Run one figure again, small, for values of its sliders; its picture is left in ``folder``.

        On the way it says which share is done, what is under way and about how many seconds are left.
        """
        figure = small_figure(number, values)
        runs = Path(tempfile.mkdtemp(dir=folder))
        begin, total, done, asked = time.monotonic(), figure_work(figure), 0.0, 0.0

        def tell(label: str, partly: float = 0.0, *, now: bool = False) -> None:
            nonlocal asked
            if not now and time.monotonic() - asked < SMALL_REPORT_EVERY:
                return
            asked = time.monotonic()
            share = min((done + partly) / total, 0.99)
            # Compiled code may have to be made first, and others may use the machine.
            pace = min(max((asked - begin) / max(total * share, 0.5), 1.0), MOST_SECONDS)
            self._progress({"share": share, "label": label, "seconds": pace * total * (1 - share)})

        try:
            with one_blas_thread():
                check_plan([figure], runs)
                for name, study in figure.studies.items():
                    if has_run(study):
                        work = run_work(study)
                        tell(name, now=True)

                        def advance(units: float, name: str = name, work: RunWork = work) -> None:
                            tell(name, work.seconds * min(units / work.units, 1.0))

                        carry_out(study, run_folder(runs, figure, name, study), advance, threads=1)
                        done += work.seconds
                tell("theory and drawing", now=True)
                png = render(figure.draw, evidence_of(figure, runs), "quick")["png"]
            replace_file(Path(folder, f"{figure.name}.png"), png)
            return {"title": figure.title, "caption": figure.caption, "seconds": time.monotonic() - begin}
        finally:
            shutil.rmtree(runs, ignore_errors=True)

    def _watch(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._reported < REPORT_EVERY:
            return
        self._reported = now
        self._progress(
            {
                "share": progress.done / progress.total if progress.total else 0.0,
                "label": progress.label,
                "figures_done": progress.figures_done,
                "figures": progress.figures,
            }
        )
