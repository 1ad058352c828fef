"""One row per domain: the density in (θ, r) and in (σ, r)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.paper.panels import SPREAD, STRENGTH
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinelo.paper.figures.marginals.evidence import Marginals


def draw(data: Marginals) -> Figure:
    """Two panels for every run."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.75 * len(data.runs))
        rows = figure.subplots(len(data.runs), 2, squeeze=False)
        for (name, run), (left, right) in zip(data.runs.items(), rows):
            _density(figure, left, run.theta, run.r, run.theta_r)
            ends = np.array([run.theta[0], run.theta[-1]])
            left.plot(ends, ends, color="white", linestyle="--", linewidth=0.8, label="r = θ")
            left.plot(run.theta, run.mean_given_theta, color=style.RED, linewidth=1.1, label="mean rating given θ")
            left.set(xlabel=STRENGTH, ylabel="rating r (points)", title=f"{name}: density in (θ, r)")
            left.legend(loc="upper left", labelcolor="white")
            _density(figure, right, run.sigma, run.r, run.sigma_r)
            right.axhline(run.mean_rating, color="white", linestyle="--", linewidth=0.8, label="mean rating")
            right.set(xlabel=SPREAD, ylabel="rating r (points)", title=f"{name}: density in (σ, r)")
            right.legend(loc="upper left", labelcolor="white")
        return figure


def _density(figure: Figure, axes: Axes, x: np.ndarray, r: np.ndarray, density: np.ndarray) -> None:
    ceiling = float(np.quantile(density, 0.995))
    image = axes.pcolormesh(x, r, density.T, cmap=style.DENSITY, vmin=0, vmax=ceiling, rasterized=True)
    figure.colorbar(image, ax=axes, label="density (per point²)", extend="max")
