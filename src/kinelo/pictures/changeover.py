"""An old list beside a new one: every side as a point, thresholds as lines, those who move furthest by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.advice.changeover import Changeover

NAMED = 6


def draw_changeover(
    found: Changeover, *, width: style.Width = None, size: float | None = None, ax: style.Panels = None
) -> Figure:
    """Draw new ratings over old ones, with the line of those who do not move."""
    with style.journal(width, size, ax):
        figure, (axes,) = style.panels(style.PAGE * 0.7, 4.0)
        old, new = (found.table[name].to_numpy() for name in ("old", "new"))
        ends = [min(old.min(), new.min()), max(old.max(), new.max())]
        axes.plot(ends, ends, color=style.BLACK, linewidth=0.8, label="no change")
        for title in found.titles:
            axes.axhline(title.threshold, color=style.ORANGE, linestyle="--", linewidth=0.8)
            axes.axvline(title.threshold, color=style.ORANGE, linestyle="--", linewidth=0.8)
            axes.annotate(
                style.literal(title.name, 20), (ends[0], title.threshold), textcoords="offset points", xytext=(2, 2),
                fontsize=6, color=style.ORANGE,
            )  # fmt: skip
        axes.scatter(old, new, s=10, color=style.BLUE, linewidth=0, alpha=0.7, label="side")
        for row in found.movers(NAMED).iter_rows(named=True):
            axes.annotate(
                f"{style.literal(row['name'], 20)} {row['move']:+.0f}", (row["old"], row["new"]),
                textcoords="offset points", xytext=(4, -2), fontsize=6,
            )  # fmt: skip
        axes.set(xlabel=style.literal(f"rating by {found.old}", 60), ylabel=style.literal(f"rating by {found.new}", 60))
        axes.legend(loc="lower right")
        return figure
