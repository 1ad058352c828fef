"""Rating histories: how the ratings of the leading sides moved over the years."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kinelo.advice.charts import history_chart
from kinelo.errors import InputError
from kinelo.pictures.chart import draw_chart
from kinelo.pictures.style import SERIES, journal_style, literal, new_figure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_histories(
    history: pl.DataFrame,
    names: Sequence[str] | None = None,
    title: str = "Ratings",
    *,
    now: pl.DataFrame | None = None,
) -> Figure:
    """Draw a table of :func:`kinelo.rating_history`: the named sides (default: the best at the end) before the rest.

    The band of the first is one standard deviation of uncertainty. A line is broken where a side did not play for a
    year; a side seen once is a dot. With ``now``, the same history with hindsight, both stand side by side: ratings as
    seen then, and as we know now.
    """
    shown = list(names) if names else _leaders(history)
    tables = [history] if now is None else [history, now]
    for name in shown:
        if not all(name in table["name"] for table in tables):
            raise InputError(f"{name!r} has no rating in this history; names are written as in the results.")
    charts = [history_chart(table, shown) for table in tables]
    lows, highs = zip(*(chart.y_range for chart in charts if chart.y_range))
    with journal_style():
        figure = new_figure(height=3.6)
        panels = figure.subplots(1, len(tables), sharey=True, squeeze=False)[0]
        for place, (axes, chart) in enumerate(zip(panels, charts)):
            title_of_axis = chart.y_title if place == 0 else ""
            draw_chart(axes, replace(chart, y_range=(min(lows), max(highs)), y_title=title_of_axis))
        panels[0].set_title(literal(title) if now is None else "As seen then")
        if now is not None:
            panels[1].set_title("As we know now")
            figure.suptitle(literal(title))
            for axes in panels:
                axes.tick_params(axis="x", rotation=45)
        _add_legend(panels[-1])
    return figure


def _add_legend(axes: Axes) -> None:
    """Names and last ratings beside the picture, the others at the end."""
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda k: labels[k].endswith("others"))
    axes.legend(
        [handles[k] for k in order],
        [labels[k] for k in order],
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        title="Last rating",
        alignment="left",
    )


def _leaders(history: pl.DataFrame) -> list[str]:
    import polars as pl

    last = history.group_by("name").agg(pl.col("rating").sort_by("date").last(), pl.col("date").max())
    recent = last.filter(pl.col("date") >= pl.col("date").max() - pl.duration(days=730))
    return recent.sort("rating", descending=True)["name"].head(len(SERIES)).to_list()
