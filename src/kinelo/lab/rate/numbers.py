"""The numbers that a visitor types on the Rate tab, each declared once: the page's inputs and the checks follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinelo.errors import InputError
from kinelo.forecasts.usual_rules import DRAW, USUAL_RELEGATED, WIN
from kinelo.lab.control import Panel, slider

MOST_RAISED = 200
RULES = ("win", "draw", "relegated")
"""What a season is played by."""


class RateNumbers(Panel, frozen=True):
    """Inputs of the Rate tab; a page finds its own by ``data-number``."""

    k: float = slider(32.0, (0.1, 9999.0), step=0.1, label="K in use", hint="Points at stake in a match.")
    least_matches: int = slider(0, (0, 100_000), step=1, label="At least", hint="Who has played less is not ranked.")
    win: float = slider(WIN, (0.0, 100.0), step=0.1, label="Win", hint="Points of a season.")
    draw: float = slider(DRAW, (0.0, 100.0), step=0.1, label="Draw", hint="Points of a season.")
    relegated: int = slider(USUAL_RELEGATED, (0, 20), step=1, label="Go down", hint="How many are relegated.")
    points: int = slider(0, (-300, 300), step=10, label="were stronger or weaker", hint="In Elo points.")

    @classmethod
    def number(cls, name: str, value: object) -> float:
        """One of them as a page sent it, or a sentence that says what is accepted."""
        return cls.controls()[name].read("K" if name == "k" else name, value)  # type: ignore[return-value]


def read_rules(given: object) -> dict[str, float]:
    """Points for a win and a draw, and how many go down."""
    if not isinstance(given, Mapping):
        raise InputError(f"Rules are numbers: {', '.join(RULES)}.")
    return {name: RateNumbers.number(name, given.get(name)) for name in RULES}


def read_raised(given: Any) -> dict[str, float]:
    """By how many points sides are raised, by name."""
    if not isinstance(given, Mapping) or len(given) > MOST_RAISED:
        raise InputError(f"Points are numbers by name, of at most {MOST_RAISED} sides.")
    return {name: RateNumbers.number("points", value) for name, value in given.items()}
