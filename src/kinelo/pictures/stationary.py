"""Pictures of the stationary state: the map from strength to rating with its noise, and the bias of every team."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.advice.charts import bias_chart, map_chart
from kinelo.pictures import style
from kinelo.pictures.chart import put_chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.theory.state import StationaryState


def draw_map(
    state: StationaryState,
    title: str = "",
    *,
    width: style.Width = None,
    size: float | None = None,
    ax: style.Panels = None,
) -> Figure:
    """Draw the map R(θ) with its noise band, and beside it the bias R − θ."""
    with style.journal(width, size, ax):
        figure, (left, right) = style.panels(style.PAGE, 3.1, (3, 2))
        put_chart(left, map_chart(state))
        left.set_title(f"slope {state.slope:.3f} at γ = {state.system.step:.3g}")
        left.legend(loc="upper left")
        put_chart(right, bias_chart(state))
        right.set_title("rated too high or too low")
        right.margins(y=0.2)
        style.put_title(figure, title)
        return figure
