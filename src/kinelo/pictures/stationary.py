"""Pictures of the stationary state: the map from strength to rating with its noise, and the bias of every team."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinelo.model.validation import Array
    from kinelo.theory.state import StationaryState

MOST_NAMES = 12
CURVE = 121
MOST_POINTS = 2000


def draw_map(state: StationaryState, title: str = "") -> Figure:
    """Draw the map R(θ) with its noise band, and beside it the bias R − θ."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.1)
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        map_with_noise(left, state)
        bias_over_strength(right, state)
        if title:
            figure.suptitle(style.literal(title))
        return figure


def map_with_noise(axes: Axes, state: StationaryState) -> None:
    """The curve R(θ) of a team of typical spread, a band of one standard deviation of rating noise, and the teams."""
    theta, rating, deviation = _curve(state)
    if state.variance.any():
        band = "± one standard deviation of a rating"
        axes.fill_between(theta, rating - deviation, rating + deviation, color=style.SKY, alpha=0.45, lw=0, label=band)
    axes.plot(theta, rating, color=style.BLUE, label="stationary rating R(θ)", zorder=3)
    ends = np.array([theta[0], theta[-1]])
    axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=1, label="rating = mean strength", zorder=2)
    if state.teams.finite:
        shown = _shown(state)
        axes.scatter(state.theta[shown], state.rating[shown], s=5, color=style.BLACK, label="teams", zorder=4)
        _name_few(axes, state, state.rating)
    axes.set_xlabel("mean strength θ (rating points)")
    axes.set_ylabel("rating R (rating points)")
    axes.set_title(f"slope {state.slope:.3f} at γ = {state.system.step:.3g}")
    axes.legend(loc="upper left")


def bias_over_strength(axes: Axes, state: StationaryState) -> None:
    """Points (θ, R − θ): above zero a team is rated too high."""
    theta, rating, _ = _curve(state)
    axes.axhline(0, color=style.GREY, linestyle="--", linewidth=1)
    axes.plot(theta, rating - theta, color=style.BLUE, zorder=3)
    if state.teams.finite:
        shown = _shown(state)
        axes.scatter(state.theta[shown], state.bias[shown], s=5, color=style.BLACK, zorder=4)
        _name_few(axes, state, state.bias)
    axes.set_xlabel("mean strength θ (rating points)")
    axes.set_ylabel("bias R − θ (rating points)")
    axes.set_title("rated too high or too low")
    axes.margins(y=0.2)


def _shown(state: StationaryState) -> slice:
    return slice(None, None, max(1, state.theta.size // MOST_POINTS))


def _curve(state: StationaryState) -> tuple[Array, Array, Array]:
    order = np.argsort(state.theta, kind="stable")
    deviation = np.sqrt(state.variance[order])
    if not state.system.pairing.constant or state.theta.min() == state.theta.max():
        return state.theta[order], state.rating[order], deviation
    theta = np.linspace(state.theta.min(), state.theta.max(), CURVE)
    groups = np.array_split(np.arange(order.size), min(20, order.size))
    # Teams differ in spread, and so slightly in noise; the band shows what is typical at a strength.
    centres = [state.theta[order][group].mean() for group in groups]
    typical = [deviation[group].mean() for group in groups]
    return theta, state.rating_of(theta), np.interp(theta, centres, typical)


def _name_few(axes: Axes, state: StationaryState, y: Array) -> None:
    names = state.teams.strengths.names or ()
    named = [k for k, name in enumerate(names) if not name.startswith("Team ")]
    if len(named) > MOST_NAMES:
        return
    for k in named:
        axes.scatter(state.theta[k], y[k], s=20, color=style.ORANGE, edgecolor=style.BLACK, linewidth=0.7, zorder=5)
        axes.annotate(
            style.literal(names[k], 40),
            (state.theta[k], y[k]),
            xytext=(0, -12),
            textcoords="offset points",
            ha="center",
            fontsize=7,
            zorder=6,
        )
