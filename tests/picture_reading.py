"""Read a picture back: lines, points, bars, bands and shades of a panel as numbers, by the names in its legend."""

import numpy as np
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh


def lines(axes) -> dict[str, np.ndarray]:
    """Named lines as (x, y); unnamed ones as '0', '1', … in the order they were drawn."""
    found, unnamed = {}, 0
    for line in axes.lines:
        name = str(line.get_label())
        if name.startswith("_"):
            name, unnamed = str(unnamed), unnamed + 1
        found[name] = np.asarray(line.get_xydata(), float)
    return found


def points(axes) -> dict[str, np.ndarray]:
    return {
        str(one.get_label()): np.asarray(one.get_offsets())
        for one in axes.collections
        if isinstance(one, PathCollection)
    }


def bands(axes) -> dict[str, np.ndarray]:
    """Bands between two curves as (x, low, high)."""
    found = {}
    for one in axes.collections:
        if isinstance(one, PolyCollection) and not isinstance(one, QuadMesh):
            around = one.get_paths()[0].vertices
            count = (len(around) - 3) // 2
            below, above = around[1 : count + 1], around[count + 2 : 2 * count + 2][::-1]
            found[str(one.get_label())] = np.column_stack([below, above[:, 1]])
    return found


def shades(axes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres or corners of a heat map's cells along x and y, and its values, row by row upwards."""
    (mesh,) = [one for one in axes.collections if isinstance(one, QuadMesh)]
    corners = np.asarray(mesh.get_coordinates())
    return corners[0, :, 0], corners[:, 0, 1], np.asarray(mesh.get_array())


def bars_of_errors(axes) -> dict[str, np.ndarray]:
    """Error bars as (x, low, y, high)."""
    found = {}
    for one in axes.containers:
        middle, _, (bars,) = one
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        x = np.array([segment[0, 0] for segment in bars.get_segments()])
        y = middle.get_ydata() if middle is not None else ends.mean(axis=1)
        found[str(one.get_label())] = np.column_stack([x, ends[:, 0], np.asarray(y, float), ends[:, 1]])
    return found


def uprights(axes) -> list[np.ndarray]:
    """Vertical strokes as (x, low, high), a group for each call that drew them."""
    groups = [one for one in axes.collections if isinstance(one, LineCollection)]
    return [np.array([[s[0, 0], s[:, 1].min(), s[:, 1].max()] for s in one.get_segments()]) for one in groups]


def legend(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def title(axes) -> str:
    return axes.get_title(loc="left") or axes.get_title()
