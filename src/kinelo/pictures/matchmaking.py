"""Fair games against quick ratings: every pairing tried, the frontier, and the choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.model.pairing import AllPlayAll, Local, LooseWindow, Window
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.advice.matchmaking import Matchmaking

PAIRING_LOOKS = {
    "all play all": (AllPlayAll, style.BLACK, "s"),
    "local": (Local, style.GREEN, "D"),
    "windows": (Window, style.ORANGE, "o"),
    "windows with strangers": (LooseWindow, style.BLUE, "o"),
}


def draw_matchmaking(
    found: Matchmaking, *, width: style.Width = None, size: float | None = None, ax: style.Panels = None
) -> Figure:
    """Draw matches until ratings settle over how one-sided games are; lower left is better in both."""
    with style.journal(width, size, ax):
        figure, (axes,) = style.panels(style.PAGE * 0.75, 3.3)
        known = tuple(kind for kind, _, _ in PAIRING_LOOKS.values())
        for label, (kind, colour, marker) in PAIRING_LOOKS.items():
            _points(axes, [one for one in found.options if isinstance(one.pairing, kind)], label, colour, marker)
        _points(axes, [one for one in found.options if not isinstance(one.pairing, known)], "others", style.PURPLE, "^")
        axes.plot(
            [one.one_sided for one in found.frontier], [one.matches for one in found.frontier],
            color=style.GREY, linewidth=1, zorder=1, label="frontier",
        )  # fmt: skip
        best = found.best
        axes.plot(
            best.one_sided, best.matches, "o", markersize=11, markerfacecolor="none", markeredgecolor=style.RED,
            markeredgewidth=1.5, label=style.literal(f"choice: {best.name}", 40),
        )  # fmt: skip
        if found.fairness is not None:
            axes.axvline(found.fairness, color=style.RED, linewidth=0.8, linestyle=":")
        axes.set(yscale="log", xlabel="mean |expected result| of a game", ylabel="matches of a team until 1 %")
        axes.set_xlim(0, None)
        style.put_legend(figure, axes)
        return figure


def _points(axes, options, label: str, colour: str, marker: str) -> None:
    if options:
        x, y = [one.one_sided for one in options], [one.matches for one in options]
        axes.plot(x, y, marker, color=colour, markersize=4, markeredgecolor="white", markeredgewidth=0.5, label=label)
