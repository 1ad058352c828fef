"""Rating points as the paper counts them, or as chess does, where 400 points are ten to one."""

from __future__ import annotations

import math
from dataclasses import dataclass

NU = 0.5
"""Decisiveness of the scenes, as in the paper."""
ELO_POINTS = NU * 800 / math.log(10)
"""Elo points to one point of the paper at this ν: the same expected score."""


def percent(share: float, digits: int = 0) -> str:
    """A share as people write it.

    >>> percent(0.875), percent(0.875, 1)
    ('88 %', '87.5 %')
    """
    return f"{100 * share:.{digits}f} %"


@dataclass(frozen=True)
class Units:
    """How numbers are written; coordinates are multiplied by ``factor``.

    >>> Units("elo").points(1.0), Units("paper").points(1.0), Units("elo").step(0.1)
    ('174', '1.00', 'K = 34.7')
    """

    name: str

    @property
    def factor(self) -> float:
        """Shown points to one point of the paper."""
        return ELO_POINTS if self.name == "elo" else 1.0

    @property
    def word(self) -> str:
        """What a point is called on axes."""
        return "Elo points" if self.name == "elo" else "points"

    def points(self, value: float, digits: int = 2) -> str:
        """A number of points."""
        return f"{value * self.factor:.0f}" if self.name == "elo" else f"{value:.{digits}f}"

    def step(self, gamma: float) -> str:
        """A step size: γ, or K = 2γ in Elo points."""
        return f"K = {2 * gamma * self.factor:.3g}" if self.name == "elo" else f"γ = {gamma:.3g}"
