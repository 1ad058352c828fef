"""What a scene shows at one place of its control: a chart, a sentence, and behind "more" a second chart and Python."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

Role = Literal["truth", "prediction", "team", "other", "good", "bad"]
Mode = Literal["lines", "dashed", "thin", "markers", "open", "large", "area"]


@dataclass(frozen=True)
class Trace:
    """One line or set of marks; ``role`` chooses its colour.

    ``later`` hides it until the visitor has guessed; ``error`` is the half length of bars up and down.
    """

    name: str
    role: Role
    mode: Mode
    x: list[float]
    y: list[float]
    later: bool = False
    error: list[float] | None = None


def trace(
    name: str,
    role: Role,
    mode: Mode,
    x: ArrayLike,
    y: ArrayLike,
    *,
    later: bool = False,
    error: ArrayLike | None = None,
) -> Trace:
    """A trace of numbers short enough to send."""
    return Trace(name, role, mode, _short(x), _short(y), later, None if error is None else _short(error))


def _short(values: ArrayLike) -> list[float]:
    """Numbers to four digits: a chart shows no more."""
    return [float(f"{value:.4g}") for value in np.asarray(values, dtype=float).reshape(-1)]


@dataclass(frozen=True)
class Frames:
    """A trace that moves: its coordinates and a label at each moment; where one of them is None it stays."""

    trace: int
    labels: list[str]
    x: list[list[float]] | None = None
    y: list[list[float]] | None = None


def moments(values: ArrayLike) -> list[list[float]]:
    """Coordinates of a moving trace, one row per moment."""
    return [_short(row) for row in np.asarray(values, dtype=float)]


@dataclass(frozen=True)
class Chart:
    """Traces on axes; ``label`` says for those who cannot see it what it shows."""

    label: str
    x_title: str
    y_title: str
    traces: list[Trace]
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    logarithmic: bool = False
    frames: Frames | None = None


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
        return asdict(self)
