"""An audit in pictures: which K, by theory and by backtest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.advice.audit.inflation import groups_chart
from kinelo.advice.charts import loss_chart, periods_chart
from kinelo.pictures import style
from kinelo.pictures.chart import put_chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinelo.advice.audit.audit import Audit
    from kinelo.advice.audit.contests import ContestAudit

ERROR_PARTS = (("luck", style.BLUE), ("newcomers", style.GREEN), ("lag", style.ORANGE))


def draw_audit(audit: Audit | ContestAudit, *, width: style.Width = None, size: float | None = None) -> Figure:
    """Log-loss over K, predicted and measured, the parts of the error of a rating, and the best K by period; of
    contests the log-loss alone, and where like meets like no errors: their model takes pairing for random.
    """
    from kinelo.advice.audit.contests import ContestAudit

    with style.journal(width, size):
        if isinstance(audit, ContestAudit):
            figure = style.new_figure(style.PAGE, 3.2)
            _draw_losses(figure.subplots(), audit)
            return figure
        groups = getattr(audit, "groups", ())
        rows = 3 if groups else 2
        figure = style.new_figure(style.PAGE, 3.2 * rows)
        # One grid for all: panels of two grids would not know of each other.
        grid = figure.add_gridspec(rows, 2)
        alike = audit.opponents.alike
        _draw_losses(figure.add_subplot(grid[0, :] if alike else grid[0, 0]), audit)
        if not alike:
            _draw_parts(figure.add_subplot(grid[0, 1]), audit)
        below = figure.add_subplot(grid[1, :])
        put_chart(below, periods_chart(audit))
        below.margins(x=0.01)
        below.set(yscale="log", title="K by period")
        style.plain_ticks(below, "y")
        _key(below, 4)
        if groups:
            last = figure.add_subplot(grid[2, :])
            put_chart(last, groups_chart(groups))
            names = [style.literal(one.group, 20) for one in groups]
            last.set(title="Groups", xticks=range(len(groups)), xlabel="")
            last.set_xticklabels(names)
            _key(last, 3)
        return figure


def _draw_losses(axes: Axes, audit: Audit | ContestAudit) -> None:
    put_chart(axes, loss_chart(audit))
    axes.set_title("Which K?")
    _key(axes, 2)


def _key(axes: Axes, columns: int) -> None:
    """The key below the panel, off the data."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=columns)


def _draw_parts(axes: Axes, audit: Audit) -> None:
    curve = audit.curve
    ks, below = curve.column("k"), np.zeros(len(curve.points))
    for name, colour in ERROR_PARTS:
        above = below + np.maximum(curve.column(name), 0.0)
        if (above - below).max() > 1e-3 * above.max():
            axes.fill_between(ks, below, above, color=colour, alpha=0.6, linewidth=0, label=name)
        below = above
    axes.plot(ks, curve.column("error"), color=style.BLACK, linewidth=1.0)
    for k, look, words in ((audit.advice.k, "--", "best"), (audit.k, ":", "in use")):
        if k is not None:
            axes.axvline(k, color=style.BLACK, linewidth=0.9, linestyle=look, label=words)
    axes.set(
        xscale="log",
        xlabel="K",
        ylabel="Squared error, points²",
        title="Why: errors of a rating",
        ylim=(0, min(1.3 * below.max(), 4 * below.min())),
    )
    style.plain_ticks(axes)
    _key(axes, 3)
