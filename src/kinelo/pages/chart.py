"""A described chart as inline SVG, in the colours of the page it stands on.

A point (x, y) is drawn at ``left + (x − x₀)/(x₁ − x₀)·width``, ``top + (y₁ − y)/(y₁ − y₀)·height``; on a logarithmic
axis x stands for log x, and a date for its day. Traces are coloured by the classes h0 … h6 of the frame.
"""

from __future__ import annotations

import math
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo.charts import Chart, Trace
from kinelo.presentation import isolated

Array = NDArray[np.float64]
LEFT, TOP, RIGHT, BOTTOM = 76.0, 44.0, 12.0, 46.0
WIDTH, HEIGHT = 740.0, 364.0
MOST_NARROW = 4
"""Marks of an axis up to which a narrow screen shows every one; of more it shows each second one, but of names all."""
HUES = {"truth": 6, "prediction": 1, "team": 0, "other": 6, "good": 2, "bad": 4}
FAMILY = 6
"""Hues of traces that are alike."""
LINE_CLASSES = {"lines": "line", "thin": "line", "faint": "line", "dashed": "rule", "upright": "rule"}
RADII = {"markers": 3.2, "open": 3.2, "large": 6.0, "named": 4.5}


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


def year_ticks(first: float, last: float) -> list[tuple[float, str]]:
    """Days and names of beginnings of years, or of months where a year is all there is.

    >>> year_ticks(17897.0, 17960.0)
    [(17897.0, '2019-01'), (17928.0, '2019-02'), (17956.0, '2019-03')]
    >>> [name for _, name in year_ticks(17900.0, 18470.0)]
    ['2019-04', '2019-07', '2019-10', '2020-01', '2020-04', '2020-07']
    """
    unit = "Y" if last - first > 800 else "M"
    begin, end = (np.datetime64(int(day), "D").astype(f"datetime64[{unit}]") for day in (first, last))
    every = np.arange(begin + (begin.astype("datetime64[D]").astype(int) < first), end + 1)
    steps, number = ((1, 2, 5, 10, 20, 50, 100, 1000), 1970) if unit == "Y" else ((1, 2, 3, 6, 12), 0)
    step = next(step for step in steps if every.size <= 8 * step)
    kept = every[(every.astype(int) + number) % step == 0]
    return [(float(at.astype("datetime64[D]").astype(int)), str(at)) for at in kept]


def _written(at: float) -> str:
    """A number beside an axis."""
    return f"{at:,.6g}".replace("-", "−")


def chart_html(chart: Chart) -> str:
    """The chart with its key.

    >>> line = Trace("theory", "prediction", "lines", [0, 10], [0, 1])
    >>> drawn = chart_html(Chart("Loss over K", "K", "loss", [line]))
    >>> "M76,318h0L728,44" in drawn, '<li class="line h1">theory</li>' in drawn
    (True, True)
    """
    plane = _Plane(chart)
    marks = "".join(plane.marks())
    drawn = "".join(part for one in chart.traces for part in plane.drawn(one))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" aria-label="{escape(chart.label)}">'
        f'{marks}<path class="axis" d="M{LEFT:g},{TOP:g}V{bottom:g}H{right:g}"/>'
        f'<text x="{(LEFT + right) / 2:g}" y="{HEIGHT - 6:g}" text-anchor="middle">{escape(chart.x_title)}</text>'
        f'<text x="4" y="{TOP - 24:g}">{escape(chart.y_title)}</text>{drawn}</svg>{_key(chart)}'
    )


def _key(chart: Chart) -> str:
    """Which hue and way of drawing is what."""
    items = "".join(
        f'<li class="{_classes(one)}">{isolated(one.name)}{f": {escape(one.value)}" if one.value else ""}</li>'
        for one in chart.traces
        if one.name
    )
    return f'<ul class="keys">{items}</ul>'


def _classes(one: Trace) -> str:
    hue = one.role % FAMILY if isinstance(one.role, int) else HUES[one.role]
    kind = LINE_CLASSES.get(one.mode) or ("dot" if one.mode in RADII else "band")
    return f"{kind} h{hue}"


class _Plane:
    """Where points of a chart lie on the page."""

    def __init__(self, chart: Chart) -> None:
        self._logarithmic = chart.logarithmic
        traces = chart.traces
        self._dated = any(np.asarray(one.x).dtype.kind == "M" for one in traces)
        x = np.concatenate([_numbers(one.x) for one in traces])
        y = np.concatenate([np.asarray(v, float) for one in traces for v in (one.y, one.low) if v is not None])
        self.x = _apart(*(chart.x_range or (float(np.nanmin(x)), float(np.nanmax(x)))))
        if any(one.mode in RADII for one in traces) and not chart.x_range and not chart.logarithmic:
            room = 0.02 * (self.x[1] - self.x[0])  # so that no dot is cut at the edge
            self.x = self.x[0] - room, self.x[1] + room
        barred = [one for one in traces if one.error is not None]
        y = np.concatenate([y, *(_ends(one)[side] for one in barred for side in (0, 1))])
        self.y = _apart(*(chart.y_range or (float(np.nanmin(y)), float(np.nanmax(y)))))
        if any(one.mode in RADII for one in traces) and not chart.y_range:
            room = 0.03 * (self.y[1] - self.y[0])
            self.y = self.y[0] - room, self.y[1] + room
        self._names = chart.x_names

    def places(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        (a, b), at = self.x, _numbers(x)
        if self._logarithmic:
            a, b, at = math.log(a), math.log(b), np.log(at)
        u = LEFT + (at - a) / (b - a) * (WIDTH - LEFT - RIGHT)
        v = TOP + (self.y[1] - np.asarray(y, float)) / (self.y[1] - self.y[0]) * (HEIGHT - TOP - BOTTOM)
        return u, np.clip(v, TOP, HEIGHT - BOTTOM)

    def marks(self) -> list[str]:
        """The grid and what stands beside it."""
        right, bottom, marks = WIDTH - RIGHT, HEIGHT - BOTTOM, []
        places = log_ticks(*self.x) if self._logarithmic else ticks(*self.x)
        texts = year_ticks(*self.x) if self._dated else [(at, _written(at)) for at in places]
        texts = [(float(at), name) for at, name in enumerate(self._names)] or texts
        every = " data-every" if self._names or len(texts) <= MOST_NARROW else ""
        for at, text in texts:
            (u,), _ = self.places([at], [self.y[0]])
            where = f'x="{u:.5g}" y="{bottom + 18:g}" text-anchor="middle"'
            marks.append(f'<text class="x" {where}{every}>{escape(text)}</text>')
            marks.append(f'<path class="grid" d="M{u:.5g},{TOP:g}V{bottom:g}"/>')
        for at in ticks(*self.y, most=5):
            _, (v,) = self.places([self.x[0]], [at])
            text = _written(at)
            marks.append(
                f'<text class="y" x="{LEFT - 8:g}" y="{v + 4:.5g}" data-at="{v:.5g}" text-anchor="end">{text}</text>'
            )
            marks.append(f'<path class="grid" d="M{LEFT:g},{v:.5g}H{right:g}"/>')
        return marks

    def drawn(self, trace: Trace) -> list[str]:
        """What one trace draws."""
        if trace.mode in RADII:
            parts = []
            if trace.error is not None:
                (u, high), (_, low) = (self.places(trace.x, end) for end in _ends(trace))
                bars = "".join(f"M{at:.5g},{a:.5g}V{b:.5g}" for at, a, b in zip(u, high, low))
                parts.append(f'<path class="{_classes(trace).replace("dot", "line")}" d="{bars}"/>')
            for k, (u, v) in enumerate(zip(*self.places(trace.x, trace.y))):
                title = f"<title>{escape(trace.notes[k])}</title>" if k < len(trace.notes) else ""
                at = f'cx="{u:.5g}" cy="{v:.5g}" r="{RADII[trace.mode]}"'
                parts.append(f'<circle class="{_classes(trace)}" {at}>{title}</circle>')
                if trace.mode == "named":
                    middle = f'x="{u:.5g}" y="{v + 18:.5g}" text-anchor="middle"'
                    parts.append(f"<text {middle}>{escape(trace.notes[k])}</text>")
            return parts
        if trace.mode in LINE_CLASSES:
            x, y = ([*np.asarray(trace.x)] * 2, self.y) if trace.mode == "upright" else (trace.x, trace.y)
            return [f'<path class="{_classes(trace)}" d="{_path(*self.places(x, y))}"/>']
        x, high, low = trace.x, trace.y, np.zeros(np.size(trace.y)) if trace.low is None else trace.low
        if trace.mode == "span":
            low, high = np.full(2, self.y[0]), np.full(2, self.y[1])
        return self._between(_classes(trace), _numbers(x), np.asarray(low, float), np.asarray(high, float))

    def _between(self, classes: str, x: Array, low: Array, high: Array) -> list[str]:
        """A filled band, piece by piece where it is broken."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], np.isfinite(low), [False]]).astype(int)))
        parts = []
        for first, last in edges.reshape(-1, 2):
            u, top = self.places(x[first:last], high[first:last])
            _, bottom = self.places(x[first:last], low[first:last])
            outline = _path(np.concatenate([u, u[::-1]]), np.concatenate([top, bottom[::-1]]))
            parts.append(f'<path class="{classes}" d="{outline}Z"/>')
        return parts


def _ends(one: Trace) -> tuple[Array, Array]:
    """Upper and lower ends of the bars of a trace that has some."""
    middle, half = np.asarray(one.y, float), np.asarray(one.error, float)
    return middle + half, middle - half


def _numbers(x: ArrayLike) -> Array:
    """Coordinates as numbers; a date is its day."""
    x = np.asarray(x)
    return (x.astype("datetime64[D]") if x.dtype.kind == "M" else x).astype(float)


def _apart(low: float, high: float) -> tuple[float, float]:
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
