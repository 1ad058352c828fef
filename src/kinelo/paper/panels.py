"""What the drawings share: the names of axes, and ratings over strengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kinelo.paper.summary import Homogeneous

STRENGTH_LABEL, RATING_LABEL, SPREAD_LABEL = (
    "mean strength θ (points)",
    "rating R (points)",
    "standard deviation σ (points)",
)


def ratings_with_map(axes: Axes, run: Homogeneous) -> None:
    """Points (θ, R), the computed map, and the line R = θ."""
    ends = np.array([run.map_theta[0], run.map_theta[-1]])
    axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=0.9, label="R = θ", zorder=1)
    axes.scatter(run.theta, run.rating, s=4, color=style.SKY, linewidth=0, label="simulated", zorder=2)
    axes.plot(run.map_theta, run.map_rating, color=style.EXACT, linewidth=1.2, label="computed", zorder=3)
    axes.set_xticks([4, 6, 8, 10])


def ratings_without_map(axes: Axes, run: Homogeneous) -> None:
    """Points (θ, R − computed), and the band in which 95 % of such means lie if the computed map is right."""
    error = 1.96 * float(np.sqrt(np.mean(run.rating_sd**2) / run.realisations))
    axes.fill_between(run.map_theta, -error, error, color=style.GREY, alpha=0.25, linewidth=0, label="95 % of means")
    axes.axhline(0, color=style.EXACT, linewidth=1.2)
    rest = run.rating - np.interp(run.theta, run.map_theta, run.map_rating)
    axes.scatter(run.theta, rest, s=3, color=style.BLUE, linewidth=0, zorder=2)


def name_pair(axes: Axes, x: np.ndarray, y: np.ndarray, place: tuple[float, float] = (4, -26)) -> None:
    """Write the names of the last two teams, Germany and Brazil, beside their points."""
    for k, name in ((-2, "Germany"), (-1, "Brazil")):
        axes.scatter(x[k], y[k], s=22, facecolor="none", edgecolor=style.BLACK, linewidth=0.8, zorder=4)
        axes.annotate(
            name, (x[k], y[k]), xytext=place, textcoords="offset points", ha="center", fontsize=7, zorder=5,
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": style.BLACK, "shrinkB": 3},
        )  # fmt: skip
