"""How a result is drawn: a chart is described once and drawn in a journal's figure, on a page and in the lab.

A :class:`Chart` holds traces on two axes; a trace says what it stands for and how it is drawn, not in which colour. To
show a new result, describe its chart (those that several doors show are in ``advice/charts.py``). Three functions draw
one: ``pictures/chart.py`` by matplotlib, ``pages/chart.py`` as SVG, ``lab/static/charts.js`` by plotly.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

Role = Literal["truth", "prediction", "team", "other", "good", "bad"]
Mode = Literal[
    "lines", "dashed", "thin", "faint", "markers", "open", "large", "named", "area", "band", "span", "upright"
]


@dataclass(frozen=True)
class Trace:
    """One line, band or set of marks.

    Attributes
    ----------
    name
        What the key of the chart calls it; ``""`` keeps it out of the key.
    role
        What it stands for, which chooses its colour; a number for one of several alike.
    mode
        How it is drawn. A ``band`` lies between ``low`` and ``y``; a ``span`` reaches from the first x to the second,
        and an ``upright`` stands at its x, both from the bottom of the chart to its top; ``named`` marks show their
        notes.
    x, y
        Coordinates; a line is broken where y is NaN.
    later
        Whether a visitor guesses before it is shown.
    error
        Half length of bars up and down.
    notes
        What a browser says of each mark.
    value
        A number for the key, after the name.
    """

    name: str
    role: Role | int
    mode: Mode
    x: ArrayLike
    y: ArrayLike = ()
    later: bool = False
    error: ArrayLike | None = None
    low: ArrayLike | None = None
    notes: tuple[str, ...] = ()
    value: str = ""


@dataclass(frozen=True)
class Frames:
    """A trace that moves: its coordinates and a label at each moment; where one of them is None it stays."""

    trace: int
    labels: list[str]
    x: ArrayLike | None = None
    y: ArrayLike | None = None


@dataclass(frozen=True)
class Chart:
    """Traces on axes; ``label`` says for those who cannot see it what it shows, ``x_names`` what stands at x = 0, 1, …

    >>> theory = Trace("theory", "prediction", "lines", [1, 2], [0.12346, 0.5])
    >>> Chart("Loss over K", "K", "loss", [theory]).to_dict()["traces"][0]["y"]
    [0.1235, 0.5]
    """

    label: str
    x_title: str
    y_title: str
    traces: list[Trace]
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    logarithmic: bool = False
    frames: Frames | None = None
    x_names: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The chart as JSON holds it: numbers to four digits, a chart shows no more; None for those that are none."""
        return _sent(asdict(self))


def _sent(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sent(one) for key, one in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind == "M":
        value = np.datetime_as_string(value.astype("datetime64[D]"))
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_sent(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.4g}") if np.isfinite(value) else None
    return value
