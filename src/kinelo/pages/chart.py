"""Charts as inline SVG, in the colours of the page they stand on.

A point (x, y) is drawn at ``left + (x − x₀)/(x₁ − x₀)·width``, ``top + (y₁ − y)/(y₁ − y₀)·height``; on a logarithmic
axis x stands for log x. Series are coloured by the classes h0 … h6 of the frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LEFT, TOP, RIGHT, BOTTOM = 62.0, 10.0, 12.0, 46.0
WIDTH, HEIGHT = 740.0, 330.0


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most ``most`` + 1 of them.

    >>> ticks(0.0, 1.0), ticks(1180, 2210)
    ([0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0], [1200.0, 1400.0, 1600.0, 1800.0, 2000.0, 2200.0])
    """
    raw = (high - low) / most
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two numbers.

    >>> log_ticks(9, 120)
    [10.0, 20.0, 50.0, 100.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [m * 10.0**k for k in powers for m in (1, 2, 5) if low <= m * 10.0**k <= high]


class SvgChart:
    """A picture of lines, bands and dots between two axes.

    Parameters
    ----------
    x, y
        Ends of the axes.
    labels
        What the axes show.
    logarithmic
        Whether x is drawn by its logarithm.
    x_ticks
        Places and texts of the marks of the x axis; by default round numbers.

    >>> chart = SvgChart((0, 10), (0, 1), ("K", "loss"))
    >>> chart.line([0, 10], [0, 1], 0)
    >>> "M62,284h0L728,10" in chart.svg("Loss over K")
    True
    """

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        labels: tuple[str, str],
        *,
        logarithmic: bool = False,
        x_ticks: Sequence[tuple[float, str]] | None = None,
    ) -> None:
        self._scale: Callable[[Array], Array] = np.log if logarithmic else np.asarray
        self._x = tuple(float(self._scale(np.asarray(end, float))) for end in _apart(x))
        self._y = _apart(y)
        self._labels = labels
        places = log_ticks(*x) if logarithmic else ticks(*_apart(x))
        self._x_ticks = [(at, f"{at:g}") for at in places] if x_ticks is None else list(x_ticks)
        self._parts: list[str] = []

    def _places(self, x: Sequence[float] | Array, y: Sequence[float] | Array) -> tuple[Array, Array]:
        (a, b), (c, d) = self._x, self._y
        u = LEFT + (self._scale(np.asarray(x, float)) - a) / (b - a) * (WIDTH - LEFT - RIGHT)
        v = TOP + (d - np.asarray(y, float)) / (d - c) * (HEIGHT - TOP - BOTTOM)
        return u, np.clip(v, TOP, HEIGHT - BOTTOM)

    def line(self, x: Sequence[float] | Array, y: Sequence[float] | Array, hue: int, *, dashed: bool = False) -> None:
        """Draw a line; it is broken where y is NaN."""
        kind = "rule" if dashed else "line"
        self._parts.append(f'<path class="{kind} h{hue}" d="{_path(*self._places(x, y))}"/>')

    def band(self, x: Sequence[float] | Array, low: Array, high: Array, hue: int) -> None:
        """Fill between two lines, piece by piece where they are broken."""
        good = np.isfinite(np.asarray(low, float))
        edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
        for first, last in edges.reshape(-1, 2):
            u, top = self._places(np.asarray(x)[first:last], np.asarray(high)[first:last])
            _, bottom = self._places(np.asarray(x)[first:last], np.asarray(low)[first:last])
            outline = _path(np.concatenate([u, u[::-1]]), np.concatenate([top, bottom[::-1]]))
            self._parts.append(f'<path class="band h{hue}" d="{outline}Z"/>')

    def dots(
        self, x: Sequence[float] | Array, y: Sequence[float] | Array, hue: int, titles: Sequence[str] = ()
    ) -> None:
        """Draw dots; a title is what a browser shows of one."""
        for k, (u, v) in enumerate(zip(*self._places(x, y))):
            title = f"<title>{escape(titles[k])}</title>" if k < len(titles) else ""
            self._parts.append(f'<circle class="h{hue}" cx="{u:.5g}" cy="{v:.5g}" r="3.2">{title}</circle>')

    def upright(self, x: float, hue: int) -> None:
        """Draw a dashed line from the bottom to the top."""
        self.line([x, x], list(self._y), hue, dashed=True)

    def svg(self, name: str) -> str:
        """Return the picture; ``name`` is what a screen reader says."""
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        marks = []
        for at, text in self._x_ticks:
            (u,), _ = self._places([at], [self._y[0]])
            marks.append(f'<text class="x" x="{u:.5g}" y="{bottom + 18:g}" text-anchor="middle">{escape(text)}</text>')
            marks.append(f'<path class="grid" d="M{u:.5g},{TOP:g}V{bottom:g}"/>')
        for at in ticks(*self._y, most=5):
            _, (v,) = self._places([self._x[0] if self._scale is np.asarray else math.exp(self._x[0])], [at])
            text = f"{at:,.6g}".replace("-", "−")
            marks.append(
                f'<text class="y" x="{LEFT - 8:g}" y="{v + 4:.5g}" data-at="{v:.5g}" text-anchor="end">{text}</text>'
            )
            marks.append(f'<path class="grid" d="M{LEFT:g},{v:.5g}H{right:g}"/>')
        x, y = (escape(label) for label in self._labels)
        return (
            f'<svg class="chart" role="img" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" aria-label="{escape(name)}">'
            f'{"".join(marks)}<path class="axis" d="M{LEFT:g},{TOP:g}V{bottom:g}H{right:g}"/>'
            f'<text x="{(LEFT + right) / 2:g}" y="{HEIGHT - 6:g}" text-anchor="middle">{x}</text>'
            f'<text transform="translate(13,{(TOP + bottom) / 2:g}) rotate(-90)" text-anchor="middle">{y}</text>'
            f"{''.join(self._parts)}</svg>"
        )


def _apart(ends: tuple[float, float]) -> tuple[float, float]:
    low, high = ends
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _path(u: Array, v: Array) -> str:
    """Commands of a path, begun anew behind every gap."""
    commands, begun = [], False
    for a, b in zip(u, v):
        if not math.isfinite(b):
            begun = False
            continue
        # Of a point that no line joins to another one, a round end of a line of no length is seen.
        commands.append(f"{'L' if begun else 'M'}{a:.5g},{b:.5g}{'' if begun else 'h0'}")
        begun = True
    return "".join(commands)


def keys(names: Sequence[tuple[int, str]]) -> str:
    """Return the key of a chart: which hue is what."""
    return '<ul class="keys">' + "".join(f'<li class="h{hue}">{escape(name)}</li>' for hue, name in names) + "</ul>"
