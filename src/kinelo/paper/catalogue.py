"""The figures there are: every folder of :mod:`kinelo.paper.figures` with a study.

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

PLACE = "kinelo.paper.figures"
Prepare = Callable[[Any, Mapping[str, "xr.Dataset"]], Any]


def figure_names() -> list[str]:
    """Names of the figures, in alphabetical order.

    >>> "spread" in figure_names()
    True
    """
    return sorted(entry.name for entry in files(PLACE).iterdir() if (entry / "study.toml").is_file())


def study_texts() -> Iterator[tuple[str, str]]:
    """Name and text of the study of every figure."""
    for name in figure_names():
        yield name, (files(PLACE) / name / "study.toml").read_text(encoding="utf-8")


def known(draw: str, source: str) -> str:
    """The name of a figure that exists, or the sentence that says which do."""
    if draw not in (names := figure_names()):
        raise InputError(f"{source}: draw must be one of {', '.join(names)}, not {draw!r}.")
    return draw


def preparation(draw: str, source: str) -> Prepare:
    """The function that turns the runs of a figure, read from the file ``source``, into its evidence."""
    return import_module(f"{PLACE}.{known(draw, source)}.evidence").prepare


def drawing(name: str) -> Callable[[Any], Figure]:
    """The function that draws a figure from its evidence."""
    return import_module(f"{PLACE}.{name}.drawing").draw


def checks() -> list[Check]:
    """Every statement of the paper that can be measured, in the paper's order."""
    from kinelo.paper import formulas

    modules = [f"{PLACE}.{name}.claims" for name in figure_names()]
    found = [*formulas.CHECKS]
    for module in modules:
        if find_spec(module) is not None:
            found += import_module(module).CHECKS
    return sorted(found, key=lambda one: one.order)
