"""Raters by the short names the command line uses."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from kinelo.errors import InputError

if TYPE_CHECKING:
    from kinelo.raters.rater import Rater

RATERS = {
    "team": ("team", "TeamElo"),
    "player": ("player", "PlayerElo"),
    "kalman": ("kalman", "KalmanElo"),
    "glicko": ("glicko", "Glicko"),
    "glicko2": ("glicko", "Glicko2"),
}


def rater_called(name: str) -> Rater:
    """A rater with every parameter left to be estimated.

    >>> type(rater_called("glicko")).__name__
    'Glicko'
    """
    if name not in RATERS:
        raise InputError(f"there is no rater {name!r}; choose one of {', '.join(RATERS)}")
    module, kind = RATERS[name]
    return getattr(import_module(f"kinelo.raters.{module}.rater"), kind)()
