"""The figures there are: every folder of :mod:`kinelo.paper.figures` with a study, and of its neighbours.

A folder holds ``study.toml``, ``evidence.py`` with the type of its evidence and ``prepare``, ``drawing.py`` with
``draw``, and, if the paper says something about it, ``claims.py`` with ``CHECKS``. Whoever adds a folder has added a
figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kinelo.errors import InputError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from kinelo.paper.claim import Check

PLACES = {"paper": "kinelo.paper.figures", "neighbours": "kinelo.paper.neighbours"}
"""Where the figures of the paper are, and those of the models it names beside its own."""
Prepare = Callable[[Any, Mapping[str, "xr.Dataset"]], Any]


def figure_names(what: str = "paper") -> list[str]:
    """Names of the figures of one place, in alphabetical order.

    >>> "spread" in figure_names()
    True
    """
    return sorted(entry.name for entry in files(PLACES[what]).iterdir() if (entry / "study.toml").is_file())


def place_of(draw: str) -> str:
    """Which place a figure is from."""
    return next((what for what in PLACES if draw in figure_names(what)), "paper")


def study_texts(what: str = "paper") -> Iterator[tuple[str, str]]:
    """Name and text of the study of every figure."""
    for name in figure_names(what):
        yield name, (files(PLACES[what]) / name / "study.toml").read_text(encoding="utf-8")


def known(draw: str, source: str) -> str:
    """The name of a figure that exists, or the sentence that says which do."""
    if draw not in (names := [name for what in PLACES for name in figure_names(what)]):
        raise InputError(f"{source}: draw must be one of {', '.join(names)}, not {draw!r}.")
    return draw


def preparation(draw: str, source: str) -> Prepare:
    """The function that turns the runs of a figure, read from the file ``source``, into its evidence."""
    return import_module(f"{PLACES[place_of(draw)]}.{known(draw, source)}.evidence").prepare


def drawing(name: str) -> Callable[[Any], Figure]:
    """The function that draws a figure from its evidence."""
    return import_module(f"{PLACES[place_of(name)]}.{name}.drawing").draw


def checks(what: str = "paper") -> list[Check]:
    """Every statement of one place that can be measured, in order."""
    from kinelo.paper import formulas

    modules = [f"{PLACES[what]}.{name}.claims" for name in figure_names(what)]
    found = [*formulas.CHECKS] if what == "paper" else []
    for module in modules:
        if find_spec(module) is not None:
            found += import_module(module).CHECKS
    return sorted(found, key=lambda one: one.order)
