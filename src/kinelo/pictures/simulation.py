"""Pictures of the microscopic model: where ratings stand over mean strength."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.pictures import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NAMED_DOTS = 12
"""More names than this would cover the points."""


def draw_ratings(
    run: xr.Dataset,
    title: str = "",
    *,
    width: style.Width = None,
    size: float | None = None,
    ax: style.Panels = None,
) -> Figure:
    """Draw the last ratings of a run over θ, and the spread of each team's performance beside it."""
    with style.journal(width, size, ax):
        figure, (left, right) = style.panels(style.PAGE, 3.0, (3, 2))
        # Points (θ, R) averaged over realisations, bars for their spread, and the line on which R = θ.
        last, theta, sigma = run.rating.isel(time=-1), run.theta.values, run.sigma.values
        mean, label = last.mean("realisation").values, "ratings"
        if run.sizes["realisation"] > 1:
            deviation = last.std("realisation", ddof=1).values
            left.errorbar(theta, mean, deviation, fmt="none", ecolor=style.SKY, elinewidth=0.7, zorder=1)
            label = f"mean of {run.sizes['realisation']} runs ± one standard deviation"
        ends = np.array([min(theta.min(), mean.min()), max(theta.max(), mean.max())])
        left.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=1, label="rating = mean strength", zorder=4)
        left.scatter(theta, mean, s=7, color=style.BLUE, label=label, zorder=3)
        _name_outliers(left, run, theta, mean)
        left.set(xlabel="mean strength θ (rating points)", ylabel="rating R (rating points)")
        left.set_title(f"after {float(run.time[-1]):,.0f} matches per team")
        left.legend(loc="upper left")
        right.scatter(theta, sigma, s=7, color=style.RED)
        _name_outliers(right, run, theta, sigma)
        right.set(xlabel="mean strength θ (rating points)", ylabel="spread of strength σ (rating points)")
        right.set_ylim(bottom=0)
        right.set_title("how much each team varies")
        style.put_title(figure, title)
        return figure


def _name_outliers(axes: Axes, run: xr.Dataset, x: np.ndarray, y: np.ndarray) -> None:
    """Write the names of the few teams that have one of their own beside their points."""
    named = [k for k, name in enumerate(run.team.values) if isinstance(name, str) and not name.startswith("Team ")]
    if len(named) > MOST_NAMED_DOTS:
        return
    for k in named:
        axes.scatter(x[k], y[k], s=20, color=style.ORANGE, edgecolor=style.BLACK, linewidth=0.7, zorder=4)
        axes.annotate(
            style.literal(run.team.values[k], 40),
            (x[k], y[k]),
            xytext=(0, -12),
            textcoords="offset points",
            ha="center",
            fontsize=6.5,
            zorder=5,
        )
