"""Rating histories: how the ratings of the leading sides moved over the years."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinelo.errors import InputError
from kinelo.pictures.style import GREY, SERIES, journal_style, literal, new_figure
from kinelo.raters.history import broken_line

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

SHOWN = len(SERIES)
MOST_LINES = 40
LONGEST_NAME = 30
"""Characters of a name in the legend, beside which the axes need room."""


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
    import polars as pl

    shown = list(names) if names else _leaders(history)
    tables = [history] if now is None else [history, now]
    for name in shown:
        if not all(name in table["name"] for table in tables):
            raise InputError(f"{name!r} has no rating in this history; names are written as in the results.")
    with journal_style():
        figure = new_figure(height=3.6)
        panels = figure.subplots(1, len(tables), sharey=True, squeeze=False)[0]
        for axes, table in zip(panels, tables):
            stops = table["date"].unique().sort().to_numpy()
            _draw_others(axes, table.filter(~pl.col("name").is_in(shown)), stops)
            _draw_shown(axes, table, shown, stops)
            axes.set_xlabel("Date")
        limits = [_range(table, shown) for table in tables]
        panels[0].set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        panels[0].set_ylabel("Rating (points)")
        panels[0].set_title(literal(title) if now is None else "As seen then")
        if now is not None:
            panels[1].set_title("As we know now")
            figure.suptitle(literal(title))
            for axes in panels:
                axes.tick_params(axis="x", rotation=45)
        _add_legend(panels[-1])
    return figure


def _draw_shown(axes: Axes, history: pl.DataFrame, shown: Sequence[str], stops: NDArray[np.datetime64]) -> None:
    """The chosen sides, a line each, the first with its band."""
    import polars as pl

    for k, name in enumerate(shown):
        date, rating, doubt = broken_line(history.filter(pl.col("name") == name).sort("date"), stops)
        color = SERIES[k % len(SERIES)]
        if k == 0:
            axes.fill_between(
                date, rating - doubt, rating + doubt, color=color, alpha=0.18, lw=0, label="± one standard deviation"
            )
        style = "-" if k < len(SERIES) else "--"
        label = f"{literal(name, LONGEST_NAME)}  {rating[-1]:.0f}"
        axes.plot(date, rating, style, color=color, label=label, zorder=3)
        _draw_dots(axes, date, rating, color, 3.0)


def _draw_dots(axes: Axes, date: NDArray, rating: NDArray, color: str, size: float) -> None:
    """Points that no line joins to another one."""
    import numpy as np

    alone = np.isnan(np.append(rating[1:], np.nan)) & np.isnan(np.append(np.nan, rating[:-1])) & ~np.isnan(rating)
    if alone.any():
        axes.plot(date[alone], rating[alone], "o", color=color, markersize=size, zorder=3)


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


def _draw_others(axes: Axes, rest: pl.DataFrame, stops: NDArray[np.datetime64]) -> None:
    """The other sides: a line each where they are few, else the band that holds the middle four fifths of them."""
    import polars as pl

    others = rest["name"].n_unique()
    if others > MOST_LINES:
        band = rest.group_by("date").agg(
            pl.col("rating").quantile(0.1).alias("low"), pl.col("rating").quantile(0.9).alias("high"), pl.len()
        )
        band = band.filter(pl.col("len") >= 5).sort("date")
        label = f"middle 80 % of {others} others"
        axes.fill_between(
            band["date"].to_numpy(),
            band["low"].to_numpy(),
            band["high"].to_numpy(),
            color=GREY,
            alpha=0.25,
            lw=0,
            label=label,
        )
        return
    for place, (_, line) in enumerate(rest.group_by("name", maintain_order=True)):
        label = None if place else f"{others} others"
        date, rating, _ = broken_line(line.sort("date"), stops)
        axes.plot(date, rating, color=GREY, alpha=0.35, linewidth=0.5, zorder=1, label=label)
        _draw_dots(axes, date, rating, GREY, 1.5)


def _leaders(history: pl.DataFrame) -> list[str]:
    import polars as pl

    last = history.group_by("name").agg(pl.col("rating").sort_by("date").last(), pl.col("date").max())
    recent = last.filter(pl.col("date") >= pl.col("date").max() - pl.duration(days=730))
    return recent.sort("rating", descending=True)["name"].head(SHOWN).to_list()


def _range(history: pl.DataFrame, shown: Sequence[str]) -> tuple[float, float]:
    """Limits that hold the chosen lines with their bands and most of the rest."""
    import polars as pl

    lines = history.filter(pl.col("name").is_in(shown))
    cut = 0.05 if history["name"].n_unique() > MOST_LINES else 0.0
    low, high = history["rating"].quantile(cut), history["rating"].quantile(1.0 - cut)
    low = min(float(low or 0.0), float((lines["rating"] - lines["uncertainty"]).quantile(0.005) or 0.0))
    high = max(float(high or 0.0), float((lines["rating"] + lines["uncertainty"]).quantile(0.995) or 0.0))
    room = 0.04 * (high - low + 1.0)
    return low - room, high + room
