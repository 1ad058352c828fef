"""What a figure holds, line by line: its panels, and everything drawn in them with a few of its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PathCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure, FigureBase
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, StrMethodFormatter

ASKED: WeakKeyDictionary[Legend, dict[str, Any]] = WeakKeyDictionary()
"""What each key was asked to be: it does not tell where it stands."""
MOST_POINTS = 6
"""Points that are written of what has many, the first and the last among them."""


def remember_keys(patch: pytest.MonkeyPatch) -> None:
    """Keep from now on what keys are asked to be, for `drawn`."""
    begin = Legend.__init__

    def asked(key: Legend, *args: Any, **options: Any) -> None:
        begin(key, *args, **options)
        ASKED[key] = options

    patch.setattr(Legend, "__init__", asked)


def drawn(figure: Figure) -> Iterator[str]:
    """A line for the figure, for each of its panels and for each thing drawn there, in that order."""
    width, height = figure.get_size_inches()
    engine = type(figure.get_layout_engine()).__name__.removesuffix("LayoutEngine")
    yield f"figure {_number(width)} × {_number(height)} {engine} {_colour(figure.get_facecolor())}{_above(figure)}"
    for key in figure.legends:
        yield from _legend(key)
    yield from (f"  {_text(one)}" for one in figure.texts)
    for axes in figure.axes:
        if axes.get_label() != "<colorbar>":
            yield from _panel(axes)


def _panel(axes: Axes) -> Iterator[str]:
    place = axes.get_subplotspec()
    where = "beside" if place is None else _place(place)
    titles = [axes.get_title(loc) for loc in ("left", "center", "right")]
    size = _number(axes.title.get_fontsize())
    hidden = [name for name in ("top", "right", "left", "bottom") if not axes.spines[name].get_visible()]
    yield f"panel {where} {titles} {size} pt without {' '.join(hidden) or 'nothing'}"
    for name, axis, scale, limits in (
        ("x", axes.xaxis, axes.get_xscale(), axes.get_xlim()),
        ("y", axes.yaxis, axes.get_yscale(), axes.get_ylim()),
    ):
        yield (
            f"  {name} {axis.label.get_text()!r} {_number(axis.label.get_fontsize())} pt {scale} "
            f"{_number(limits[0])} to {_number(limits[1])}{_ticks(axis)}"
        )
    for line in axes.lines:
        yield f"  {_line(line)}"
    for one in axes.collections:
        yield f"  {_collection(one)}"
    if len(axes.patches) > 4 * MOST_POINTS:
        yield f"  of {len(axes.patches)}:"
    for place in _few(len(axes.patches), 4 * MOST_POINTS):
        yield f"  {_patch(axes.patches[place])}"
    for one in axes.images:
        values = np.asarray(one.get_array(), float)
        low, high = one.get_clim()
        yield (
            f"  image {one.get_cmap().name} {_number(low)} to {_number(high)} {_numbers(one.get_extent())} "
            f"{values.shape} {_some(values.ravel())}{_look(one)}"
        )
    contours = any(isinstance(one, ContourSet) for one in axes.collections)
    yield from (f"  {_text(one, placed=not contours)}" for one in axes.texts)
    if axes.get_legend() is not None:
        yield from _legend(axes.get_legend())


def _place(place: Any) -> str:
    """Which part of which grid a panel takes, and how that is divided."""
    grid = place.get_gridspec()
    rows, columns = place.rowspan, place.colspan
    ratios = [grid.get_width_ratios(), grid.get_height_ratios()]
    said = [f" {word} {_numbers(one)}" for word, one in zip(("wide", "high"), ratios) if len(set(one)) > 1]
    room = [
        f" {name} {_number(value)}" for name in ("hspace", "wspace") if (value := getattr(grid, name, None)) is not None
    ]
    where = [f"{one.start}" if len(one) == 1 else f"{one.start}-{one.stop - 1}" for one in (rows, columns)]
    return f"{where[0]}, {where[1]} of {grid.nrows} × {grid.ncols}{''.join(said + room)}"


def _above(figure: FigureBase) -> str:
    title = figure.get_suptitle()
    return f" {title!r}" if title else ""


def _ticks(axis: Any) -> str:
    """Where ticks were put by hand, with their words; otherwise the kind of what puts them, unless that is usual."""
    where, words = axis.get_major_locator(), axis.get_major_formatter()
    if isinstance(where, FixedLocator):
        ticks = f" ticks {_numbers(where.locs)}"
        if isinstance(words, FixedFormatter | FuncFormatter | StrMethodFormatter):
            ticks += f" {[words(value, place) for place, value in enumerate(where.locs)]}"
    elif type(where).__name__ in ("AutoLocator", "LogLocator"):
        ticks = ""
    else:
        ticks = f" {type(where).__name__}"
        ticks += "".join(f" {name} {value}" for name in ("minticks", "maxticks") if (value := vars(where).get(name)))
    if not isinstance(where, FixedLocator) and type(words).__name__ not in (
        "ScalarFormatter",
        "LogFormatterSciNotation",
    ):
        ticks += f" {type(words).__name__} {getattr(words, 'fmt', '')}".rstrip()
    said = axis.get_tick_params()
    turned = said.get("labelrotation", said.get("rotation", 0.0))
    shown = said.get("labelbottom", said.get("labelleft", True))
    minor = type(axis.get_minor_locator()).__name__
    ticks += f" {_number(said['labelsize'])} pt" if "labelsize" in said else ""
    ticks += f" turned {_number(turned)}" if turned else ""
    ticks += "" if minor in ("NullLocator", "LogLocator") else f" minor {minor}"
    return ticks + ("" if shown else " unnamed") + (" inverted" if axis.get_inverted() else "")


def _line(line: Line2D) -> str:
    marker = str(line.get_marker())
    mark = ""
    if marker not in ("None", ""):
        mark = f" {marker} {_number(line.get_markersize())} {_colour(line.get_markerfacecolor())}"
        mark += f" edge {_colour(line.get_markeredgecolor())} {_number(line.get_markeredgewidth())}"
    stroke = "" if line.get_linestyle() == "None" else f" {line.get_linestyle()} {_number(line.get_linewidth())}"
    return f"line{_name(line)} {_colour(line.get_color())}{stroke}{mark}{_look(line)}: {_points(line.get_xydata())}"


def _collection(one: Collection) -> str:
    fill, edge = (_colours(colours) for colours in (one.get_facecolor(), one.get_edgecolor()))
    widths = _numbers(sorted(set(np.round(one.get_linewidth(), 6).tolist())))
    look = f"{_name(one)} {fill} edge {edge} {widths}{_look(one)}"
    if isinstance(one, QuadMesh):
        corners, values, (low, high) = np.asarray(one.get_coordinates()), np.asarray(one.get_array()), one.get_clim()
        bar = one.colorbar
        beside = f" bar {bar.extend} {bar.ax.get_ylabel()!r}" if bar is not None else ""
        return (
            f"shades {one.get_cmap().name} {_number(low)} to {_number(high)} {values.shape}{_look(one)}{beside}: x "
            f"{_some(corners[0, :, 0])}; y {_some(corners[:, 0, 1])}; {_some(values.ravel())}"
        )
    if isinstance(one, ContourSet):  # which way around it goes is Matplotlib's
        return f"contours{look}: {_numbers(one.levels)}"
    if isinstance(one, PathCollection):
        shape = one.get_paths()[0].vertices
        sizes = _numbers(sorted(set(np.round(one.get_sizes(), 6).tolist())))
        return f"dots{look} size {sizes} shape {len(shape)} {_points(shape[:1])}: {_points(one.get_offsets())}"
    if isinstance(one, LineCollection):
        segments = [segment.ravel() for segment in one.get_segments()]
        dash = "" if one.get_linestyle()[0][1] is None else " dashed"
        return f"strokes{look}{dash}: {len(segments)}: " + "; ".join(_numbers(segments[k]) for k in _few(len(segments)))
    return f"area{look}: {_points(np.concatenate([path.vertices for path in one.get_paths()]))}"


def _patch(one: Patch) -> str:
    if isinstance(one, Rectangle):
        shape = f"bar {_numbers([one.get_x(), one.get_y(), one.get_width(), one.get_height()])}"
    else:
        shape = f"{type(one).__name__} {_points(one.get_path().vertices)}"
    edge = f" edge {_colour(one.get_edgecolor())} {_number(one.get_linewidth())}" if one.get_edgecolor()[3] else ""
    return f"{shape}{_name(one)} {_colour(one.get_facecolor())}{edge}{_look(one)}"


def _text(one: Text, placed: bool = True) -> str:
    if not placed:
        return f"text {one.get_text()!r} {_number(one.get_fontsize())} pt {_colour(one.get_color())}{_look(one)}"
    place = _numbers(one.xy) if isinstance(one, Annotation) else _numbers(one.get_position())
    beside = f" by {_numbers(one.xyann)} {one.anncoords}" if isinstance(one, Annotation) else ""
    turned = f" turned {_number(one.get_rotation())}" if one.get_rotation() else ""
    arrow = " arrow" if isinstance(one, Annotation) and one.arrow_patch is not None else ""
    return (
        f"text {one.get_text()!r} at {place}{beside} {one.get_ha()} {one.get_va()} {_number(one.get_fontsize())} pt "
        f"{_colour(one.get_color())}{turned}{arrow}{_look(one)}"
    )


def _legend(key: Legend) -> Iterator[str]:
    asked = {name: value for name, value in ASKED.get(key, {}).items() if isinstance(value, (str, int, float, tuple))}
    box = f" frame {_colour(key.get_frame().get_facecolor())}" if key.get_frame_on() else ""
    yield f"  key {asked}{box}"
    for handle, text in zip(key.legend_handles, key.get_texts(), strict=True):
        look = f"{type(handle).__name__} {_number(text.get_fontsize())} pt {_colour(text.get_color())}"
        yield f"    {text.get_text()!r} {look}"


# Their looks and numbers.


def _name(one: Any) -> str:
    label = str(one.get_label())
    return "" if label.startswith("_") or not label else f" {label!r}"


def _look(one: Any) -> str:
    alpha = f" alpha {_numbers(np.atleast_1d(one.get_alpha())[:3])}" if one.get_alpha() is not None else ""
    raster = " rasterized" if one.get_rasterized() else ""
    return f"{alpha}{raster}{'' if one.get_visible() else ' hidden'} order {one.get_zorder():g}"


def _colour(value: Any) -> str:
    if isinstance(value, str) and value == "none":
        return "none"
    return to_hex(to_rgba(value)).upper() if to_rgba(value)[3] > 0 else "none"


def _colours(values: Any) -> str:
    found = list(dict.fromkeys(_colour(one) for one in np.atleast_2d(values))) if len(values) else ["none"]
    return " ".join(found[:MOST_POINTS])


def _few(count: int, most: int = MOST_POINTS) -> list[int]:
    """Places of those that are written, evenly among all."""
    return sorted({round(at) for at in np.linspace(0, count - 1, min(count, most))}) if count else []


def _points(points: Any) -> str:
    points = np.asarray(points)
    pairs = " ".join(f"({_number(points[k][0])}, {_number(points[k][1])})" for k in _few(len(points)))
    return f"{len(points)}: {pairs}"


def _some(values: Sequence[float] | np.ndarray) -> str:
    return f"{len(values)}: {_numbers([values[k] for k in _few(len(values))])}"


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(_number, values))


def _number(value: Any) -> str:
    """Four digits, one decimal of large numbers."""
    value = float(value)
    if abs(value) < 1e-9:
        return "0"
    return f"{value:.1f}" if 100 <= abs(value) < 1e6 else f"{value:.4g}"
