"""Standard deviation of each team: R1 over its number, R2 over θ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.paper.panels import SPREAD, STRENGTH, name_pair
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.figures.spread.evidence import Spread


def draw(data: Spread) -> Figure:
    """Two panels, one per league."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.7)
        left, right = figure.subplots(1, 2)
        r1, r2 = data.leagues["R1"], data.leagues["R2"]
        number = np.arange(1, r1.theta.size + 1)
        left.plot(number, r1.drawn_sigma, ".", color=style.SKY, markersize=3, label="over drawn line-ups")
        left.plot(number, r1.sigma, color=style.BLUE, linewidth=0.8, label="exact")
        left.plot(
            number, r1.expected_sigma, color=style.RED, linestyle="--", label="root mean square over many leagues"
        )
        left.set(xlabel="number of the team", ylabel=SPREAD, title="(a) set-up R1", ylim=(0, None))
        left.legend(loc="upper left")
        right.plot(r2.theta, r2.drawn_sigma, ".", color=style.SKY, markersize=3, label="over drawn line-ups")
        right.plot(r2.theta, r2.sigma, "+", color=style.BLUE, markersize=3, markeredgewidth=0.5, label="exact")
        name_pair(right, r2.theta, r2.sigma)
        right.set(xlabel=STRENGTH, ylabel=SPREAD, title="(b) set-up R2", ylim=(0, None))
        right.legend(loc="center left")
        return figure
