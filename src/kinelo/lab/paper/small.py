"""Figures run again, small, with other parameters: the sliders of each figure and what they change in its study.

A run takes seconds: the scale is that of a quick look, and the ranges of the sliders bound the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.lab.explore.controls import Slider, shown
from kinelo.paper.figure import FigureStudy, merged, read_figures
from kinelo.paper.rendering import render
from kinelo.paper.reproduce import check_plan, evidence_of
from kinelo.paper.runs import carry_out, has_run, run_folder
from kinelo.runtime.atomic import replace_file
from kinelo.runtime.blas import one_blas_thread

Key = tuple[str, ...]
"""Names from the top of a figure file down to one value."""


def _nu(default: float, *place: str) -> tuple[Slider, Key]:
    hint = "How surely the stronger side wins."
    return Slider("nu", "ν", "Decisiveness", hint, 0.05, 2.0, 0.01, default, "", logarithmic=True), place


def _gamma(hint: str = "How far one surprising result moves a rating.") -> tuple[Slider, Key]:
    return Slider("gamma", "γ", "Step size", hint, 0.01, 1.0, 0.01, 0.05, "", logarithmic=True), ("study", "gamma")


def _sigma(default: float, section: str) -> tuple[Slider, Key]:
    hint = "How far strength strays in a typical match."
    return Slider("sigma", "σ", "Ups and downs", hint, 0.0, 4.0, 0.1, default, ""), ("study", section, "sigma")


def _teams() -> tuple[Slider, Key]:
    return Slider("teams", "N", "Teams", "Number of teams.", 20, 200, 10, 100, ""), ("study", "league", "teams")


def _until(low: float, high: float, default: float) -> tuple[Slider, Key]:
    hint = "Kinetic time at which the density is looked at."
    return Slider("until", "t", "Time", hint, low, high, 1, default, ""), ("study", "solve", "until")


_OUTCOME = ("study", "outcome", "nu")

KNOBS: Mapping[int, tuple[tuple[Slider, Key], ...]] = {
    1: (
        (
            Slider("lineups", "", "Line-ups", "Line-ups drawn for each team.", 100, 2000, 100, 1000, ""),
            ("parameters", "lineups"),
        ),
    ),
    2: (_nu(0.5, *_OUTCOME), _gamma("The small one of the two step sizes.")),
    3: (_nu(1.0, *_OUTCOME), _until(1, 12, 5)),
    4: (_nu(0.5, *_OUTCOME), _gamma(), _teams()),
    5: (_nu(0.5, *_OUTCOME), _until(5, 120, 60)),
    6: (_sigma(2.0, "league"), _gamma()),
    7: (_nu(0.5, *_OUTCOME), _teams()),
    8: (_nu(0.5, "parameters", "nu"),),
    9: (_nu(0.5, *_OUTCOME), _sigma(1.0, "population")),
    11: (_nu(0.5, *_OUTCOME), _gamma()),
}
"""Sliders by figure, each with the key of the study that it sets. Figure 10 shows all ν and σ already."""


def described_knobs() -> dict[int, list[dict[str, Any]]]:
    """The sliders of every figure, as the page draws them."""
    return {number: [{"kind": "slider", **asdict(slider)} for slider, _ in knobs] for number, knobs in KNOBS.items()}


def small_figure(number: int, given: Mapping[str, Any]) -> FigureStudy:
    """The study of a figure at quick scale with the values of its sliders.

    >>> small_figure(4, {"gamma": 0.2}).studies["σ = 1"].gamma
    0.2
    """
    if number not in KNOBS:
        raise InputError(f"There are no sliders for figure {number}; there are for {', '.join(map(str, KNOBS))}.")
    sliders = {slider.name: (slider, place) for slider, place in KNOBS[number]}
    if unknown := sorted(map(str, set(given) - set(sliders))):
        raise InputError(f"Figure {number} has no slider {shown(unknown[0])}; it has {', '.join(sliders)}.")
    changes: dict[str, Any] = {}
    for name, (slider, place) in sliders.items():
        value: Any = slider.read(given.get(name, slider.default))
        if name == "until":
            value = float(value)
        for key in reversed(place):
            value = {key: value}
        changes = merged(changes, value)
    [figure] = read_figures(scale="quick", wanted=[number], changes={number: changes})
    return figure


def draw_small(figure: FigureStudy, folder: Path, picture: Path, report: Callable[[str], None]) -> dict[str, Any]:
    """Carry out the runs of a figure in ``folder`` and write it as a PNG to ``picture``; its words come back."""
    begin = time.monotonic()
    with one_blas_thread():
        check_plan([figure], folder)
        for name, study in figure.studies.items():
            if has_run(study):
                report(name)
                carry_out(study, run_folder(folder, figure, name, study), lambda done: None, threads=1)
        report("theory and drawing")
        png = render(figure.draw, evidence_of(figure, folder), "quick")["png"]
    replace_file(picture, png)
    return {"title": figure.title, "caption": figure.caption, "seconds": time.monotonic() - begin}
