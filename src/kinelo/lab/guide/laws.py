"""What scenes share: the picture that each shows, their league (as in the paper), and how its points are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kinelo.charts import Chart
from kinelo.lab.units import THETA, Units, elo_points
from kinelo.model.outcome import Tanh
from kinelo.presentation import percent

NU = 0.5
"""Decisiveness of the scenes, as in the paper."""
ELO = elo_points(NU)
"""Elo points to one point of the paper at this ν: the same expected score."""
LAW = Tanh(nu=NU)
FIRST_K = 32.0
STRONG, WEAK = "Ashford", "Yarm"
"""Two clubs of the sample league."""
UNITS = {"elo": Units("elo", ELO), "paper": Units("paper", 1.0)}


@dataclass(frozen=True)
class Picture:
    """A scene at one place of its control.

    ``numbers`` are those that the lines of ``python`` print, in order, and that ``sentence`` is written from.
    """

    chart: Chart
    sentence: str
    beside: Chart
    more: tuple[str, ...]
    python: str
    numbers: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """The picture as JSON holds it."""
        return vars(self) | {"chart": self.chart.to_dict(), "beside": self.beside.to_dict()}


def step_of(k: float) -> float:
    """The step γ of the paper for a K in Elo points."""
    return k / (2 * ELO)


def law_line(units: Units) -> str:
    """The outcome function as a line of Python on the scale of the page."""
    if units.name == "elo":
        return "law = kn.Tanh(nu=math.log(10) / 800)  # 400 points are ten to one"
    return f"law = kn.Tanh(nu={NU})"


def number(value: float) -> str:
    """A number for a line of Python: whole where it is whole to ten digits."""
    return repr(float(f"{value:.10g}"))


def league_line(units: Units, sigma: float) -> str:
    """The league as a line of Python on the scale of the page."""
    low, high = (number(units.factor * end) for end in THETA)
    return f"league = kn.Continuum(({low}, {high}), {number(units.factor * sigma)}, nodes=40)"


def two_shares(taken: float, promised: float) -> tuple[str, str]:
    """Two shares with as many digits as tell them apart, up to one; the same text where nothing does.

    >>> two_shares(0.906, 0.947), two_shares(0.8497, 0.8502), two_shares(0.5, 0.5)
    (('91 %', '95 %'), ('85.0 %', '85.0 %'), ('50.0 %', '50.0 %'))
    """
    digits = 0 if percent(taken) != percent(promised) else 1
    return percent(taken, digits), percent(promised, digits)
