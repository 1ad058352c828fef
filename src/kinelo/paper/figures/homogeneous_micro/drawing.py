"""One panel per σ: simulated ratings over θ with the computed map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.paper.panels import RATING, STRENGTH, ratings_with_map
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.figures.homogeneous_micro.evidence import Micro


def draw(data: Micro) -> Figure:
    """All panels on one scale."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.5)
        panels = np.atleast_1d(figure.subplots(1, len(data.runs), sharey=True))
        for axes, run in zip(panels, data.runs.values()):
            ratings_with_map(axes, run)
            axes.set_title(f"σ = {run.common_sigma:g}: slope {run.slope:.3f}")
            axes.set_xlabel(STRENGTH)
        panels[0].set_ylabel(RATING)
        panels[0].legend(loc="upper left")
        return figure
