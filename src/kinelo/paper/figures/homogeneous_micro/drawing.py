"""One column per σ: simulated ratings over θ with the computed map, and below what is left when it is taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.paper.panels import RATING, STRENGTH, ratings_with_map, ratings_without_map
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.figures.homogeneous_micro.evidence import Micro


def draw(data: Micro) -> Figure:
    """All columns on one scale."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.9)
        rows = figure.subplots(2, len(data.runs), sharex=True, sharey="row", squeeze=False, height_ratios=[3, 2])
        for above, below, run in zip(*rows, data.runs.values()):
            ratings_with_map(above, run)
            above.set_title(f"σ = {run.common_sigma:g}: slope {run.slope:.3f}")
            ratings_without_map(below, run)
            below.set_xlabel(STRENGTH)
        rows[0, 0].set_ylabel(RATING)
        rows[1, 0].set_ylabel("R − computed (points)")
        rows[0, 0].legend(loc="upper left")
        rows[1, 0].legend(loc="upper left")
        return figure
