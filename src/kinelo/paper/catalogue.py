"""The figures there are: every module of :mod:`kinelo.paper.figures` with a study of its name, and of its neighbours.

``NAME.toml`` declares the runs of a figure. ``NAME.py`` holds ``prepare``, which turns runs into evidence, ``draw``,
which draws the evidence, and a function marked ``@check`` for each statement about it. Whoever adds the two files has
added a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from kinelo.errors import InputError
from kinelo.paper.claim import Claim, ClaimCheck

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

PACKAGES_OF_PLACES = {
    "paper": "kinelo.paper.figures",
    "neighbours": "kinelo.paper.neighbours",
    "literature": "kinelo.paper.literature",
}
"""Where the figures of the paper are, those of the models it names beside its own, and those of other papers."""
Prepare = Callable[[Any, Mapping[str, "xr.Dataset"]], Any]


def figure_names(what: str = "paper") -> list[str]:
    """Names of the figures of one place, in alphabetical order.

    >>> "spread" in figure_names()
    True
    """
    return sorted(
        entry.name[:-5] for entry in files(PACKAGES_OF_PLACES[what]).iterdir() if entry.name.endswith(".toml")
    )


def place_of(draw: str) -> str:
    """Whether a figure is of the "paper", of its "neighbours" or of the "literature"."""
    return next((what for what in PACKAGES_OF_PLACES if draw in figure_names(what)), "paper")


def study_texts(what: str) -> Iterator[tuple[str, str]]:
    """Name and text of the study of every figure."""
    for name in figure_names(what):
        yield name, (files(PACKAGES_OF_PLACES[what]) / f"{name}.toml").read_text(encoding="utf-8")


def known(draw: str, source: str) -> str:
    """The name of a figure that exists, or the sentence that says which do."""
    if draw not in (names := [name for what in PACKAGES_OF_PLACES for name in figure_names(what)]):
        raise InputError(f"{source}: draw must be one of {', '.join(names)}, not {draw!r}.")
    return draw


def preparation(draw: str, source: str) -> Prepare:
    """The function that turns the runs of a figure, read from the file ``source``, into its evidence."""
    return _module(known(draw, source)).prepare


def drawing(name: str) -> Callable[[Any], Figure]:
    """The function that draws a figure from its evidence."""
    return _module(name).draw


def _module(name: str) -> Any:
    return import_module(f"{PACKAGES_OF_PLACES[place_of(name)]}.{name}")


def checks(what: str = "paper") -> list[ClaimCheck]:
    """Every statement of one place that can be measured, in order."""
    modules = [*map(_module, figure_names(what))]
    if what == "paper":
        modules.append(import_module("kinelo.paper.formulas"))
    found = [one for module in modules for one in vars(module).values() if isinstance(one, ClaimCheck)]
    return sorted(found, key=lambda one: one.order)


def check_claims(evidence: Mapping[str, Any]) -> tuple[list[Claim], int]:
    """Measure every statement whose figures are there; also return how many need figures that are not.

    >>> claims, left_out = check_claims({})
    >>> claims[0].judgement, left_out > 0
    ('misprint', True)
    """
    every = checks(next(map(place_of, evidence), "paper"))
    claims = [one.claim(evidence, number) for number, one in enumerate(every, 1) if set(one.needs) <= set(evidence)]
    return claims, len(every) - len(claims)
