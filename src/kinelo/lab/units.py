"""Rating points as the paper counts them, or as chess does, where 400 points are ten to one."""

from __future__ import annotations

import math
from dataclasses import dataclass

THETA = (4.0, 10.0)
"""Mean strengths of the lab's leagues: spread evenly over this interval, as in the paper."""
MIDDLE = sum(THETA) / 2
CENTRE = 1500.0
"""What the average team has in Elo points."""


def elo_points(slope: float) -> float:
    """Elo points to one point of a system whose expected result has this slope between equals.

    >>> round(elo_points(0.5), 1)
    173.7
    """
    return slope * 800 / math.log(10)


@dataclass(frozen=True)
class Units:
    """How one page writes its numbers; ``factor`` is what one point of the model counts there.

    >>> elo, paper = Units("elo", 173.7), Units("paper")
    >>> elo.points(1.0), paper.points(1.0), elo.step(0.1), paper.step(0.1)
    ('174', '1.00', 'K = 34.7', 'γ = 0.1')
    """

    name: str = "paper"
    factor: float = 1.0

    @property
    def word(self) -> str:
        """What a point is called on axes."""
        return "Elo points" if self.name == "elo" else "points"

    def points(self, value: float, digits: int = 2) -> str:
        """A number of points, whole where points are small; never a zero with a sign."""
        text = f"{value * self.factor:,.0f}" if self.name == "elo" else f"{value:.{digits}f}"
        return text.removeprefix("-") if not text.strip("-0.") else text

    def step(self, gamma: float) -> str:
        """A step size: γ, or K = 2γ in Elo points."""
        if self.name != "elo":
            return f"γ = {gamma:.3g}"
        k = 2 * gamma * self.factor
        return f"K = {k:,.0f}" if k >= 999.5 else f"K = {k:.3g}"
