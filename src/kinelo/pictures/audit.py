"""An audit in pictures: which K, by theory and by backtest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.advice.audit.inflation import groups_chart
from kinelo.advice.charts import loss_chart, periods_chart
from kinelo.pictures import style
from kinelo.pictures.chart import put_chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinelo.advice.audit.audit import Audit
    from kinelo.advice.audit.contests import ContestAudit


def draw_audit(audit: Audit | ContestAudit, *, width: style.Width = None, size: float | None = None) -> Figure:
    """Log-loss over K, predicted and measured, the best K by period, and groups; of contests the log-loss alone."""
    from kinelo.advice.audit.contests import ContestAudit

    with style.journal(width, size):
        if isinstance(audit, ContestAudit):
            figure = style.new_figure(style.PAGE, 3.2)
            _draw_losses(figure.subplots(), audit)
            return figure
        groups = getattr(audit, "groups", ())
        rows = 3 if groups else 2
        figure = style.new_figure(style.PAGE, 3.2 * rows)
        loss, below, *rest = figure.subplots(rows)
        _draw_losses(loss, audit)
        put_chart(below, periods_chart(audit))
        below.margins(x=0.01)
        below.set(yscale="log", title="K by period")
        style.plain_ticks(below, "y")
        _key(below, 4)
        if groups:
            (last,) = rest
            put_chart(last, groups_chart(groups))
            last.set(title="Groups", xlabel="")
            _key(last, 3)
        return figure


def _draw_losses(axes: Axes, audit: Audit | ContestAudit) -> None:
    put_chart(axes, loss_chart(audit))
    axes.set_title("Which K?")
    _key(axes, 3)


def _key(axes: Axes, columns: int) -> None:
    """The key below the panel, off the data."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=columns)
