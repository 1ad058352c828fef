"""Pictures of the kinetic equation: marginals, homogeneous teams, and what E and the moments do over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinelo.pictures import style
from kinelo.pictures.paper_leagues import RATING, STRENGTH

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_marginals(data: Mapping[str, xr.Dataset]) -> Figure:
    """One row per domain: the density in (θ, r) and in (σ, r)."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.75 * len(data))
        rows = figure.subplots(len(data), 2, squeeze=False)
        for (name, run), (left, right) in zip(data.items(), rows):
            _density(figure, left, run.theta.values, run.r.values, run.theta_r.values)
            ends = np.array([run.theta.values[0], run.theta.values[-1]])
            left.plot(ends, ends, color="white", linestyle="--", linewidth=0.8, label="r = θ")
            left.plot(run.theta, run.mean_rating, color=style.RED, linewidth=1.1, label="mean rating given θ")
            left.set(xlabel=STRENGTH, ylabel="rating r (points)", title=f"{name}: density in (θ, r)")
            left.legend(loc="upper left", labelcolor="white")
            _density(figure, right, run.sigma.values, run.r.values, run.sigma_r.values)
            right.axhline(run.attrs["mean_rating"], color="white", linestyle="--", linewidth=0.8, label="mean rating")
            right.set(
                xlabel="standard deviation σ (points)", ylabel="rating r (points)", title=f"{name}: density in (σ, r)"
            )
            right.legend(loc="upper left", labelcolor="white")
        return figure


def _density(figure: Figure, axes: Axes, x: np.ndarray, r: np.ndarray, density: np.ndarray) -> None:
    ceiling = float(np.quantile(density, 0.995))
    image = axes.pcolormesh(x, r, density.T, cmap=style.DENSITY, vmin=0, vmax=ceiling, rasterized=True)
    figure.colorbar(image, ax=axes, label="density (per point²)", extend="max")


def draw_homogeneous_macro(data: Mapping[str, xr.Dataset]) -> Figure:
    """One panel per σ: the late density in (θ, r) with the stationary map, by the paper's closure and exactly."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.6)
        panels = np.atleast_1d(figure.subplots(1, len(data), sharey=True))
        for axes, (name, run) in zip(panels, data.items()):
            ceiling = float(np.quantile(run.theta_r, 0.99)) or float(run.theta_r.max())
            axes.pcolormesh(run.theta, run.r, run.theta_r.T, cmap="Greys", vmin=0, vmax=2 * ceiling, rasterized=True)
            ends = np.array([run.theta.values[0], run.theta.values[-1]])
            axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=0.9, label="R = θ")
            axes.plot(run.theta, run.exact_map, color=style.RED, linewidth=1.2, label="exact stationary map")
            axes.plot(run.theta, run.taylor_map, color=style.BLUE, linewidth=1.4, linestyle=":", label="Taylor map")
            axes.set_title(f"{name}: slope {run.attrs['slope']:.3f}")
            axes.set(xlabel=STRENGTH, xticks=[4, 6, 8, 10])
        panels[0].set_ylabel(RATING)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return figure


def draw_energy(data: Mapping[str, xr.Dataset]) -> Figure:
    """E from r = θ, distance to R* from r ≡ 7, and the second moment from r ≡ 7, for both closures."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.8)
        rise, decay, moment = figure.subplots(1, 3)
        for closure, colour in (("exact", style.RED), ("taylor", style.BLUE)):
            label = "exact" if closure == "exact" else "Taylor"
            diagonal, flat = data[f"from r = θ, {closure}"], data[f"from r = 7, {closure}"]
            rise.plot(diagonal.time, diagonal.energy, color=colour, linestyle="--")
            rise.axhline(diagonal.attrs["predicted_energy"], color=colour, linestyle=":", linewidth=0.9)
            decay.plot(flat.time, flat.energy, color=colour, linestyle="--", label=f"E, {label}")
            decay.plot(flat.time, flat.distance, color=colour, label=f"distance to R*, {label}")
            moment.plot(flat.time, flat.variance, color=colour)
        guide = data["from r = 7, exact"]
        decay.plot(guide.time, guide.asymptote, color=style.BLACK, linestyle=":", linewidth=0.9, label="rate 2λ₂")
        rise.set(xlabel="time γt", ylabel="E = ∫(r − θ)² f", title="(a) started on r = θ", ylim=(0, None))
        decay.set(xlabel="time γt", ylabel="squared distance", title="(b) started on r = 7", yscale="log")
        moment.set(
            xlabel="time γt", ylabel="second moment of r about its mean", title="(c) started on r = 7", ylim=(0, None)
        )
        decay.set_ylim(bottom=0.3 * float(guide.distance.min()))
        figure.legend(*decay.get_legend_handles_labels(), loc="outside lower center", ncols=5)
        return figure
