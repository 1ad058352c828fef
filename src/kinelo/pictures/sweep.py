"""Pictures of a sweep, chosen by the number of its axes.

One axis makes a line, two a family of lines (where one of them has few values or no numbers) or a heat map, three and
four small multiples. What a variable has besides the axes is averaged, and the label says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from kinelo.errors import InputError
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLOURS = len(style.SERIES)
"""Lines that have a colour of their own."""
MOST_SWEEP_PANELS = 5
"""Small multiples side by side, or one above the other."""

AXIS_WORDS = {
    "gamma": "step γ",
    "kappa": "draws κ",
    "nu": "steepness ν (1 / rating points)",
    "realisations": "realisations",
    "seed": "seed",
    "sigma": "spread of strength σ (rating points)",
    "teams": "teams",
}
"""What the last part of the name of an axis stands for; other names are shown as they are written."""


def draw_sweep(
    dataset: xr.Dataset,
    variable: str | None = None,
    title: str = "",
    *,
    width: style.Width = None,
    size: float | None = None,
    ax: style.Panels = None,
) -> Figure:
    """Draw a variable over the axes of a sweep; the first single number of each point by default."""
    if not isinstance(dataset, xr.Dataset):
        raise InputError(f"dataset must be what kn.sweep returned, not {dataset!r:.60}.")
    shapes = [list(map(str, part.dims)) for part in dataset.data_vars.values()]
    if not shapes:
        raise InputError("The dataset has no variables to be drawn.")
    first = shapes[0]  # the axes are the dimensions that every variable begins with
    dims = [dim for k, dim in enumerate(first) if all(one[: k + 1] == first[: k + 1] for one in shapes)]
    numbers = [str(name) for name, part in dataset.data_vars.items() if part.dtype.kind in "biuf"]
    if variable is None:
        single = [name for name in numbers if set(dataset[name].dims) == set(dims)]
        variable = (single or numbers or [""])[0]
    if variable not in numbers:
        raise InputError(f"variable must be one of {', '.join(numbers)}, not {variable!r}.")
    part = dataset[variable]
    rest = [dim for dim in part.dims if dim not in dims]
    label = str(part.attrs.get("long_name", variable))
    if "units" in part.attrs:
        label += f" ({part.attrs['units']})"
    if rest:
        label += f", mean over {', '.join(map(str, rest))}"
    # The variable over the axes of the sweep alone, the axis with most values last.
    order = sorted(dims, key=lambda dim: (dataset[dim].dtype.kind in "iuf", dataset.sizes[dim]))
    part = part.astype(float).mean(rest).transpose(*order)
    if part.ndim > 4:
        raise InputError(f"A sweep of {part.ndim} axes cannot be drawn; select values of {part.ndim - 4} of them.")
    with style.journal(width, size, ax):
        if part.dims == ("point",) or part.ndim <= 2:
            figure, (axes,) = style.panels(style.PAGE * 0.62, 3.0)
            _panel(figure, axes, part, label, None)
        else:
            figure = _multiples(part, label)
        style.put_title(figure, title)
        return figure


def _panel(figure: Figure, axes: Axes, part: xr.DataArray, label: str, limits: tuple[float, float] | None) -> None:
    if part.ndim == 1:
        _line(axes, part, label)
    elif part.sizes[part.dims[0]] <= MOST_COLOURS or _worded(part[part.dims[0]]) or _worded(part[part.dims[1]]):
        family, dim = map(str, part.dims)
        colours = style.SERIES if part.sizes[family] <= MOST_COLOURS else None
        for k, value in enumerate(part[family].values):
            colour: dict[str, Any] = {} if colours is None else {"color": colours[k]}
            axes.plot(_places(part, dim), part.values[k], marker="o", markersize=3, label=_text(value), **colour)
        _label_axis(axes, part, dim)
        axes.set_ylabel(style.literal(label))
        axes.legend(title=_axis_words(part, family), frameon=True, framealpha=0.85, edgecolor="none")
        if limits is not None:
            axes.set_ylim(*limits)
    else:
        _heat_map(figure, axes, part, label, limits)


def _line(axes: Axes, part: xr.DataArray, label: str) -> None:
    dim = str(part.dims[0])
    axes.plot(_places(part, dim), part.values, marker="o", markersize=3, color=style.BLUE)
    _label_axis(axes, part, dim)
    axes.set_ylabel(style.literal(label))


def _heat_map(figure: Figure, axes: Axes, part: xr.DataArray, label: str, limits: tuple[float, float] | None) -> None:
    vertical, across = map(str, part.dims)
    low, high = limits or (None, None)
    mesh = axes.pcolormesh(
        part[across].values, part[vertical].values, part.values, shading="nearest", vmin=low, vmax=high, rasterized=True
    )
    axes.set(xlabel=_axis_words(part, across), ylabel=_axis_words(part, vertical))
    if limits is None:
        figure.colorbar(mesh, ax=axes, label=style.literal(label))


def _multiples(part: xr.DataArray, label: str) -> Figure:
    """Small multiples: a panel for each value of the third axis, a row for each of the fourth."""
    if part.ndim == 3:
        part = part.expand_dims("")
    down, across = part.dims[:2]
    rows, columns = part.shape[:2]
    if rows > MOST_SWEEP_PANELS or columns > MOST_SWEEP_PANELS:
        many = down if rows > MOST_SWEEP_PANELS else across
        raise InputError(
            f"Small multiples show at most {MOST_SWEEP_PANELS} values of an axis and {many!r} has {max(rows, columns)};"
            " select some of them first."
        )
    width = max(1.7 * columns, 3.5)
    figure = style.new_figure(max(width, style.COLUMN), 1.9 * rows + 0.5)
    panels: Any = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    span = float(np.nanmin(part.values)), float(np.nanmax(part.values))
    room = 0.03 * (span[1] - span[0]) if span[1] > span[0] else 1.0
    for i, j in np.ndindex(rows, columns):
        axes, one = panels[i, j], part[i, j]
        family = one.sizes[one.dims[0]] <= MOST_COLOURS or _worded(one[one.dims[0]]) or _worded(one[one.dims[1]])
        _panel(figure, axes, one, label, (span[0] - room, span[1] + room) if family else span)
        named = [f"{style.literal(str(across))} = {_text(part[across].values[j])}"]
        if down:
            named.append(f"{style.literal(str(down))} = {_text(part[down].values[i])}")
        axes.set_title(", ".join(named))
        axes.label_outer()
        if axes.get_legend() is not None:
            axes.get_legend().remove()
    lines, names = panels[0, 0].get_legend_handles_labels()
    if lines:
        figure.legend(lines, names, title=_axis_words(part, str(part.dims[2])), loc="outside right upper")
    meshes = [collection for axes in panels.ravel() for collection in axes.collections]
    if meshes:
        figure.colorbar(meshes[0], ax=panels, label=style.literal(label))
    return figure


def _worded(values: xr.DataArray) -> bool:
    return values.dtype.kind not in "iuf"


def _places(part: xr.DataArray, dim: str) -> np.ndarray:
    numbers = dim in part.coords and not _worded(part[dim])
    return part[dim].values if numbers else np.arange(part.sizes[dim])


def _label_axis(axes: Axes, part: xr.DataArray, dim: str) -> None:
    axes.set_xlabel(_axis_words(part, dim))
    if dim in part.coords and _worded(part[dim]):
        axes.set_xticks(np.arange(part.sizes[dim]), [_text(value) for value in part[dim].values], rotation=20)


def _axis_words(part: xr.DataArray, dim: str) -> str:
    """An axis in words and symbols: as its coordinate says, else by the last part of its name, else the name."""
    said = part[dim].attrs if dim in part.coords else {}
    if "long_name" in said:
        unit = f" ({said['units']})" if "units" in said else ""
        return style.literal(f"{said['long_name']}{unit}")
    return AXIS_WORDS.get(dim.rsplit(".", 1)[-1], style.literal(dim))


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float | np.number) else style.literal(str(value))
