"""The trade-off of a design: E(γ) with its parts, and the systems compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.advice.design import Design


def draw_design(
    found: Design, *, width: style.Width = None, size: float | None = None, ax: style.Panels = None
) -> Figure:
    """Theory as areas over γ, systems with one γ as points, rules of steps as lines across."""
    with style.journal(width, size, ax):
        figure, (axes,) = style.panels(style.PAGE * 0.7, 3.2)
        if found.best is not None and found.best.gammas.size > 1:
            order = np.argsort(found.best.gammas)
            gammas, below = found.best.gammas[order], np.zeros(order.size)
            for name, colour in (("noise", style.BLUE), ("lag", style.ORANGE), ("bias", style.PURPLE)):
                above = below + getattr(found.best, name)[order]
                if (above - below).max() > 1e-3 * above.max():
                    axes.fill_between(gammas, below, above, color=colour, alpha=0.5, linewidth=0, label=name)
                below = above
            axes.plot(gammas, below, color=style.BLACK, linewidth=1.0, label="theory")
        for place, one in enumerate(one for one in found.systems if one.settled):
            colour = style.SERIES[place % len(style.SERIES)]
            if isinstance(one.system.gamma, float):
                axes.errorbar(
                    one.system.gamma, one.error, 2 * one.standard_error, fmt="o", color=colour, markersize=4,
                    markeredgecolor="white", label=style.literal(one.name, 40),
                )  # fmt: skip
                if one.theory is not None:
                    axes.plot(one.system.gamma, one.theory, "_", color=style.BLACK, markersize=10)
            else:
                axes.axhline(one.error, color=colour, linestyle="--", label=style.literal(one.name, 40))
        axes.set(xscale="log", xlabel="γ", ylabel="E = mean of (r − θ)²", ylim=(0, None))
        style.plain_ticks(axes)
        style.put_legend(figure, axes)
        return figure
