"""A described chart, drawn by matplotlib: the colours of roles and how each mode looks in print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.charts import Chart, Trace
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROLE_COLOURS = {
    "truth": style.GREY, "prediction": style.BLUE, "team": style.BLACK, "other": style.GREY,
    "good": style.GREEN, "bad": style.ORANGE,
}  # fmt: skip
LINE_LOOKS: dict[str, dict[str, Any]] = {
    "lines": {}, "dashed": {"linestyle": "--", "linewidth": 1.0}, "thin": {"linewidth": 0.9},
    "faint": {"linewidth": 0.5, "alpha": 0.35}, "upright": {"linestyle": "--", "linewidth": 0.9},
}  # fmt: skip
DOT_LOOKS: dict[str, dict[str, Any]] = {
    "markers": {"s": 6, "linewidth": 0}, "open": {"s": 12, "facecolor": "none", "linewidth": 0.8}, "large": {"s": 40},
    "named": {"s": 20, "edgecolor": style.BLACK, "linewidth": 0.7},
}  # fmt: skip
SHAPES = "osD^vP"
LONGEST_KEY = 30
"""Characters of a name in the key, beside which the axes need room."""


def put_chart(axes: Axes, chart: Chart) -> None:
    """Draw all traces, in their order, with labels for a key; the caller places the key."""
    for place, one in enumerate(chart.traces):
        _draw(axes, one, 2.0 + place / 1000)
    if chart.x_names:
        axes.set_xticks(range(len(chart.x_names)), [style.literal(one, 20) for one in chart.x_names])
    axes.set_xlabel(chart.x_title)
    axes.set_ylabel(chart.y_title)
    if chart.logarithmic:
        axes.set_xscale("log")
        style.plain_ticks(axes)
    if chart.x_range:
        axes.set_xlim(*chart.x_range)
    if chart.y_range:
        axes.set_ylim(*chart.y_range)


def _draw(axes: Axes, trace: Trace, order: float) -> None:
    if isinstance(trace.role, int):
        look: dict[str, Any] = {"color": style.SERIES[trace.role % len(style.SERIES)]}
        if trace.mode == "lines" and trace.role >= len(style.SERIES):
            look["linestyle"] = "--"
        if trace.mode == "markers":  # known by their shape too where a print has no colours
            look |= {"marker": SHAPES[trace.role % len(SHAPES)], "s": 12}
    else:
        look = {"color": ROLE_COLOURS[trace.role]}
    look |= {"label": _label(trace), "zorder": order}
    x, y = np.asarray(trace.x), np.asarray(trace.y, float)
    if trace.mode == "span":
        axes.axvspan(x[0], x[1], alpha=0.12, linewidth=0, **look)
    elif trace.mode == "upright":
        axes.axvline(x[0], **LINE_LOOKS["upright"], **look)
    elif trace.mode in ("band", "area"):
        low = np.zeros(y.size) if trace.low is None else np.asarray(trace.low, float)
        axes.fill_between(x, low, y, alpha=0.2, linewidth=0, **look)
    elif trace.mode in DOT_LOOKS:
        if trace.mode == "open":
            look["edgecolor"] = look.pop("color")
        axes.scatter(x, y, **(DOT_LOOKS[trace.mode] | look))
        if trace.error is not None:
            axes.vlines(x, y - np.asarray(trace.error), y + np.asarray(trace.error), color=look["color"], zorder=order)
    else:
        axes.plot(x, y, **{**LINE_LOOKS[trace.mode], **look})
        # Points that no line joins to another one.
        alone = np.isnan(np.append(y[1:], np.nan)) & np.isnan(np.append(np.nan, y[:-1])) & ~np.isnan(y)
        if alone.any():
            size = 1.5 if trace.mode == "faint" else 3.0
            axes.plot(x[alone], y[alone], "o", color=look["color"], markersize=size, zorder=order)
    for note, u, v in zip(trace.notes if trace.mode == "named" else (), x, y):
        axes.annotate(
            style.literal(note, 40), (u, v), xytext=(0, -12), textcoords="offset points", ha="center", fontsize=7,
            zorder=order,
        )  # fmt: skip


def _label(one: Trace) -> str | None:
    if not one.name:
        return None
    return f"{style.literal(one.name, LONGEST_KEY)}  {one.value}" if one.value else style.literal(one.name, 60)
