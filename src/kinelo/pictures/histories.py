"""Rating histories: how the ratings of the leading sides moved over the years."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinelo.advice.charts import history_chart
from kinelo.errors import InputError
from kinelo.pictures import style
from kinelo.pictures.chart import put_chart
from kinelo.raters.qualifying import REFERENCE_DAYS

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

TITLE = "Ratings"


def draw_histories(
    history: pl.DataFrame,
    names: Sequence[str] | None = None,
    title: str = TITLE,
    *,
    now: pl.DataFrame | None = None,
    width: style.Width = None,
    size: float | None = None,
    ax: style.Panels = None,
) -> Figure:
    """Draw a table of :func:`kinelo.rating_history`: the named sides (default: the best at the end) before the rest.

    The band of the first is one standard deviation of uncertainty. A line is broken where a side did not play for a
    year; a side seen once is a dot. With ``now``, the same history with hindsight, both stand side by side: ratings as
    seen then, and as we know now. Of contests that rate several kinds, such as drivers and cars, each kind has a row.
    """
    import polars as pl

    tables = [history] if now is None else [history, now]
    rows = {}
    for kind in history["kind"].unique(maintain_order=True) if "kind" in history.columns else [""]:
        parts = [table.filter(pl.col("kind") == kind) if kind else table for table in tables]
        if names:
            shown = [name for name in names if name in parts[0]["name"]]
        else:
            last = parts[0].group_by("name").agg(pl.col("rating").sort_by("date").last(), pl.col("date").max())
            recent = last.filter(pl.col("date") >= pl.col("date").max() - pl.duration(days=REFERENCE_DAYS))
            shown = recent.sort("rating", descending=True)["name"].head(len(style.SERIES)).to_list()
        if shown:
            rows[kind] = parts, shown
    for name in names or ():
        if not any(name in shown and all(name in table["name"] for table in parts) for parts, shown in rows.values()):
            raise InputError(f"{name!r} has no rating in this history; names are written as in the results.")
    with style.journal(width, size, ax):
        if len(rows) == len(tables) == 1:
            figure, (axes,) = style.panels(style.PAGE, 3.6)
            grid = np.array([[axes]], object)
        else:
            figure = style.new_figure(height=3.6 if len(rows) < 2 else 2.7 * len(rows))
            grid = figure.subplots(len(rows), len(tables), sharex=True, sharey="row", squeeze=False)
        for panels, (kind, (parts, shown)) in zip(grid, rows.items()):
            _draw_row(panels, parts, shown, kind if len(rows) > 1 else "")
        for axes in grid[:-1].flat:
            axes.set_xlabel("")
        if now is None and len(rows) < 2:
            grid[0, 0].set_title(style.literal(title))
        elif now is not None or title != TITLE:
            figure.suptitle(style.literal(title))
    return figure


def _draw_row(panels: NDArray, tables: Sequence[pl.DataFrame], shown: Sequence[str], kind: str) -> None:
    """One kind of those who are rated: as seen then and, where there is a second table, as we know now."""
    from matplotlib.dates import AutoDateLocator

    charts = [history_chart(table, shown) for table in tables]
    lows, highs = zip(*(chart.y_range for chart in charts if chart.y_range))
    for place, (axes, chart, title) in enumerate(zip(panels, charts, ("As seen then", "As we know now"))):
        title_of_axis = chart.y_title if place == 0 else ""
        put_chart(axes, replace(chart, y_range=(min(lows), max(highs)), y_title=title_of_axis))
        if len(tables) > 1:
            axes.tick_params(axis="x", rotation=45)
        elif style.is_narrow() or style.LOOK.get().axes:
            axes.xaxis.set_major_locator(AutoDateLocator(minticks=2, maxticks=5))
        axes.set_title(": ".join([style.literal(kind)] * bool(kind) + [title] * (len(tables) > 1)))
    # Names and last ratings beside the picture, the others at the end.
    handles, labels = panels[-1].get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda k: labels[k].endswith(("other", "others")))
    narrow = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.2), "ncols": 2}
    beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    panels[-1].legend(
        [handles[k] for k in order],
        [labels[k] for k in order],
        title="Last rating",
        alignment="left",
        **(narrow if style.is_narrow() else beside),
    )
