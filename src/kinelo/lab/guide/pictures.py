"""What a scene shows: charts as plain lists, sentences, and lines of Python that compute the number to take along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

Role = Literal["truth", "prediction", "team", "other", "good", "bad"]
Mode = Literal["lines", "dashed", "thin", "markers", "large", "bars", "area"]


@dataclass(frozen=True)
class Trace:
    """One line or set of marks; ``role`` chooses its colour."""

    name: str
    role: Role
    mode: Mode
    x: list[float]
    y: list[float]


def trace(name: str, role: Role, mode: Mode, x: ArrayLike, y: ArrayLike) -> Trace:
    """A trace of numbers short enough to send."""
    return Trace(name, role, mode, _rounded(x), _rounded(y))


def _rounded(values: ArrayLike) -> list[float]:
    return np.round(np.asarray(values, dtype=float).reshape(-1), 5).tolist()


@dataclass(frozen=True)
class Frames:
    """A trace that moves: its coordinates and a label at each moment; where one of them is None it stays."""

    trace: int
    labels: list[str]
    x: list[list[float]] | None = None
    y: list[list[float]] | None = None


@dataclass(frozen=True)
class Drag:
    """A hand on the chart moves this control; its value is the place on the x-axis divided by ``scale``."""

    control: str
    scale: float


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
    drag: Drag | None = None
    frames: Frames | None = None


@dataclass(frozen=True)
class Picture:
    """A scene at one position of its controls.

    ``numbers`` are those that the lines of ``python`` print, in order; ``take`` is the sentence to take along.
    """

    charts: Sequence[Chart]
    sentences: Sequence[str]
    take: str
    python: str
    numbers: Sequence[float] = field(default_factory=tuple)

    def to_dict(self) -> dict[str, Any]:
        """The picture as JSON holds it."""
        return asdict(self)
