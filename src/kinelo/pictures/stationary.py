"""Pictures of the stationary state: the map from strength to rating with its noise, and the bias of every team."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.advice.charts import bias_chart, map_chart
from kinelo.pictures import style
from kinelo.pictures.chart import put_chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.theory.state import StationaryState


def draw_map(state: StationaryState, title: str = "") -> Figure:
    """Draw the map R(θ) with its noise band, and beside it the bias R − θ."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.1)
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        put_chart(left, map_chart(state))
        left.set_title(f"slope {state.slope:.3f} at γ = {state.system.step:.3g}")
        left.legend(loc="upper left")
        put_chart(right, bias_chart(state))
        right.set_title("rated too high or too low")
        right.margins(y=0.2)
        if title:
            figure.suptitle(style.literal(title))
        return figure
