"""Pictures of rating systems: the map from strength to rating with its noise and bias, what a contest is worth, the
trade-off of a design, fair games against quick ratings, and an old list beside a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinelo.advice.charts import bias_chart, map_chart
from kinelo.model.pairing import AllPlayAll, Local, LooseWindow, Window
from kinelo.model.schedule import Field
from kinelo.pictures import style
from kinelo.pictures.chart import put_chart
from kinelo.theory.teams import as_system, teams_of
from kinelo.theory.worth import contest_worth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.advice.changeover import Changeover
    from kinelo.advice.design import Design
    from kinelo.advice.matchmaking import Matchmaking
    from kinelo.model.outcome import Outcome
    from kinelo.model.strength import Strength
    from kinelo.model.system import RatingSystem
    from kinelo.theory.state import StationaryState
    from kinelo.theory.teams import Continuum


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


def draw_worth(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    sizes: Sequence[int] | None = None,
    *,
    width: style.Width = None,
    size: float | None = None,
    ax: style.Panels = None,
) -> Figure:
    """Draw what contests of these sizes are worth in matches of two: to each team, and on average over their size.

    Sizes are 2, 3, 5, 8 and 20, as far as there are so many teams, if you name none.
    """
    plain, teams = as_system(system), teams_of(strengths)
    if sizes is None:
        sizes = [k for k in (2, 3, 5, 8, 20) if not teams.finite or k <= teams.size]
    worth = {k: contest_worth(replace(plain, schedule=Field(k)), strengths) for k in sorted(sizes)}
    order = np.argsort(teams.theta, kind="stable")
    with style.journal(width, size, ax):
        figure, (left, right) = style.panels(style.PAGE, 3.1, (3, 2))
        for place, (k, each) in enumerate(worth.items()):
            colour = style.SERIES[place % len(style.SERIES)]
            left.plot(teams.theta[order], each[order], color=colour, label=f"{k} meet")
        left.set(xlabel="mean strength θ (rating points)", ylabel="worth in matches of two", ylim=(0, None))
        left.legend(loc="upper left", bbox_to_anchor=(0, -0.2), ncols=len(worth), borderaxespad=0)
        smooth = np.linspace(2, max(worth), 100)
        right.plot(smooth, 3 * (smooth - 1) / (smooth + 1), color=style.GREY, linestyle="--", label="equal teams")
        means = [teams.mean(each) for each in worth.values()]
        right.plot(list(worth), means, "o", color=style.BLUE, label="this league, mean")
        right.set(xlabel="teams in a contest", ylim=(0, None))
        right.legend(loc="lower right")
        return figure


def draw_design(
    design: Design, *, width: style.Width = None, size: float | None = None, ax: style.Panels = None
) -> Figure:
    """Theory as areas over γ, systems with one γ as points, rules of steps as lines across."""
    with style.journal(width, size, ax):
        figure, (axes,) = style.panels(style.PAGE * 0.7, 3.2)
        if design.best is not None and design.best.gammas.size > 1:
            order = np.argsort(design.best.gammas)
            gammas, below = design.best.gammas[order], np.zeros(order.size)
            for name, colour in (("noise", style.BLUE), ("lag", style.ORANGE), ("bias", style.PURPLE)):
                above = below + getattr(design.best, name)[order]
                if (above - below).max() > 1e-3 * above.max():
                    axes.fill_between(gammas, below, above, color=colour, alpha=0.5, linewidth=0, label=name)
                below = above
            axes.plot(gammas, below, color=style.BLACK, linewidth=1.0, label="theory")
        for place, judged in enumerate(judged for judged in design.systems if judged.settled):
            colour = style.SERIES[place % len(style.SERIES)]
            if isinstance(judged.system.gamma, float):
                axes.errorbar(
                    judged.system.gamma, judged.error, 2 * judged.standard_error, fmt="o", color=colour, markersize=4,
                    markeredgecolor="white", label=style.literal(judged.name, 40),
                )  # fmt: skip
                if judged.theory is not None:
                    axes.plot(judged.system.gamma, judged.theory, "_", color=style.BLACK, markersize=10)
            else:
                axes.axhline(judged.error, color=colour, linestyle="--", label=style.literal(judged.name, 40))
        axes.set(xscale="log", xlabel="γ", ylabel="E = mean of (r − θ)²", ylim=(0, None))
        style.plain_ticks(axes)
        style.put_legend(figure, axes)
        return figure


PAIRING_LOOKS = {
    "all play all": (AllPlayAll, style.BLACK, "s"),
    "local": (Local, style.GREEN, "D"),
    "windows": (Window, style.ORANGE, "o"),
    "windows with strangers": (LooseWindow, style.BLUE, "o"),
}


def draw_matchmaking(
    matchmaking: Matchmaking, *, width: style.Width = None, size: float | None = None, ax: style.Panels = None
) -> Figure:
    """Draw matches until ratings settle over how one-sided games are; lower left is better in both."""
    with style.journal(width, size, ax):
        figure, (axes,) = style.panels(style.PAGE * 0.75, 3.3)
        known = tuple(kind for kind, _, _ in PAIRING_LOOKS.values())
        for label, (kind, colour, marker) in PAIRING_LOOKS.items():
            _points(axes, [one for one in matchmaking.options if isinstance(one.pairing, kind)], label, colour, marker)
        _points(
            axes,
            [one for one in matchmaking.options if not isinstance(one.pairing, known)],
            "others",
            style.PURPLE,
            "^",
        )
        axes.plot(
            [one.one_sided for one in matchmaking.frontier], [one.matches for one in matchmaking.frontier],
            color=style.GREY, linewidth=1, zorder=1, label="frontier",
        )  # fmt: skip
        best = matchmaking.best
        axes.plot(
            best.one_sided, best.matches, "o", markersize=11, markerfacecolor="none", markeredgecolor=style.RED,
            markeredgewidth=1.5, label=style.literal(f"choice: {best.name}", 40),
        )  # fmt: skip
        if matchmaking.fairness is not None:
            axes.axvline(matchmaking.fairness, color=style.RED, linewidth=0.8, linestyle=":")
        axes.set(yscale="log", xlabel="mean |expected result| of a game", ylabel="matches of a team until 1 %")
        axes.set_xlim(0, None)
        style.put_legend(figure, axes)
        return figure


def _points(axes, options, label: str, colour: str, marker: str) -> None:
    if options:
        x, y = [one.one_sided for one in options], [one.matches for one in options]
        axes.plot(x, y, marker, color=colour, markersize=4, markeredgecolor="white", markeredgewidth=0.5, label=label)


NAMED = 6


def draw_changeover(
    changeover: Changeover, *, width: style.Width = None, size: float | None = None, ax: style.Panels = None
) -> Figure:
    """Draw new ratings over old ones, with the line of those who do not move."""
    with style.journal(width, size, ax):
        figure, (axes,) = style.panels(style.PAGE * 0.7, 4.0)
        old, new = (changeover.table[name].to_numpy() for name in ("old", "new"))
        ends = [min(old.min(), new.min()), max(old.max(), new.max())]
        axes.plot(ends, ends, color=style.BLACK, linewidth=0.8, label="no change")
        for title in changeover.titles:
            axes.axhline(title.threshold, color=style.ORANGE, linestyle="--", linewidth=0.8)
            axes.axvline(title.threshold, color=style.ORANGE, linestyle="--", linewidth=0.8)
            axes.annotate(
                style.literal(title.name, 20), (ends[0], title.threshold), textcoords="offset points", xytext=(2, 2),
                fontsize=6, color=style.ORANGE,
            )  # fmt: skip
        axes.scatter(old, new, s=10, color=style.BLUE, linewidth=0, alpha=0.7, label="side")
        for row in changeover.movers(NAMED).iter_rows(named=True):
            axes.annotate(
                f"{style.literal(row['name'], 20)} {row['move']:+.0f}", (row["old"], row["new"]),
                textcoords="offset points", xytext=(4, -2), fontsize=6,
            )  # fmt: skip
        axes.set(
            xlabel=style.literal(f"rating by {changeover.old}", 60),
            ylabel=style.literal(f"rating by {changeover.new}", 60),
        )
        axes.legend(loc="lower right")
        return figure
