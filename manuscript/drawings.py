"""The pictures of the manuscript, each from one stored result, as SVG files that are the same bytes every time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kinelo.pictures import style
from store import HERE, RESULTS, read_result

FIGURES = HERE / "build" / "figures"
WIDTH = 6.3


def _panels(count: int, height: float = 2.5) -> tuple[Figure, Any]:
    figure = style.new_figure(WIDTH, height)
    return figure, figure.subplots(1, count)


def _played(axes: Any, x: Any, y: Any, error: Any, **more: Any) -> None:
    """Simulated points with two standard errors."""
    axes.errorbar(
        x, y, 2 * np.asarray(error), fmt="o", markersize=3.5, markerfacecolor="white", capsize=2, linewidth=0.9, **more
    )


def settled_map(data: dict[str, Any]) -> Figure:
    """The map for four spreads, and what played ratings lack of it."""
    figure, (left, right) = _panels(2)
    for colour, one in zip(style.SERIES, data.values()):
        left.plot(one["theta"], one["rating"], color=colour, label=f"σ = {one['sigma']:g}")
        rest = np.subtract(one["settled"], one["computed"])
        right.plot(one["team"], rest, ".", color=colour, markersize=2)
    # Wide, below the map without variation, which lies on it.
    left.plot([4, 10], [4, 10], color=style.GREY, alpha=0.45, linewidth=6, zorder=0, label="R = θ")
    left.set(xlabel="mean strength (points)", ylabel="settled rating (points)", title="(a) the map, small steps")
    left.legend()
    right.axhline(0, color=style.GREY, linewidth=0.8)
    right.set(xlabel="mean strength (points)", ylabel="played − computed (points)", title="(b) played less computed")
    return figure


def step(data: dict[str, Any]) -> Figure:
    """Slope, and variance and error, over the step."""
    figure, (left, right) = _panels(2)
    gamma, slope, error, noise, doubt = np.array(data["points"]).T
    left.plot([0, *data["gamma"]], [data["limit"], *data["slope"]], label="closure")
    _played(left, gamma, slope, error, color=style.RED, label="simulated")
    left.axhline(1, color=style.GREY, linestyle="--", linewidth=0.8)
    left.plot(data["fair"], 1, "*", color=style.BLACK, markersize=8)
    left.annotate("γ₀", (data["fair"], 1), xytext=(4, -12), textcoords="offset points")
    left.set(xlabel="step size (points)", ylabel="slope of ratings on strengths", title="(a) noise stretches the map")
    left.set_xlim(0, None)
    left.legend()
    right.plot(data["gamma"], data["variance"], label="variance of a rating")
    right.plot(data["gamma"], data["error"], color=style.GREEN, linestyle="-.", label="mean square error")
    _played(right, gamma, noise, doubt, color=style.RED, label="variance, simulated")
    right.set(xlabel="step size (points)", ylabel="variance, mean square (points²)", title="(b) its price")
    right.set(xlim=(0, None), ylim=(0, None))
    right.legend()
    return figure


def few(data: dict[str, Any]) -> Figure:
    """Variance of a rating over the number of teams."""
    figure, axes = _panels(1, 2.2)
    teams, variance, noise, doubt = np.array(data["points"]).T
    axes.semilogx(teams, variance, "s-", markersize=3, label="computed")
    _played(axes, teams, noise, doubt, color=style.RED, label="simulated")
    axes.axhline(data["many"], color=style.GREY, linestyle="--", linewidth=0.8, label="many sides")
    axes.set_xticks(teams, [f"{one:.0f}" for one in teams])
    axes.minorticks_off()
    axes.set(xlabel="number of sides (log scale)", ylabel="variance of a rating (points²)", ylim=(0, None))
    axes.legend()
    return figure


def ladder(data: dict[str, Any]) -> Figure:
    """Share of true differences that Elo shows over K, for calendars that look at strengths and at ratings."""
    figure, panels = _panels(2)
    for axes, by, letter in zip(panels, ("strength", "rating"), "ab"):
        for colour, nearest in zip(style.SERIES, data["nearest"]):
            rows = np.array([row[2:] for row in data["rows"] if row[:2] == [by, nearest]], dtype=float)
            label = "anybody" if nearest == 1 else f"nearest of {nearest}"
            _played(axes, rows[:, 0], rows[:, 2], rows[:, 6], color=colour, label=label, linestyle="-")
        axes.axhline(1, color=style.GREY, linestyle="--", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xticks(rows[:, 0], [f"{one:.0f}" for one in rows[:, 0]])
        axes.minorticks_off()
        axes.set(xlabel="constant K (log scale)", title=f"({letter}) opponents near in {by}", ylim=(0, 1.75))
    panels[0].set_ylabel("share of true differences shown")
    panels[0].legend(loc="upper left", title="opponent", ncols=2)
    return figure


def which_k(data: dict[str, Any]) -> Figure:
    """K by theory and by backtest."""
    figure, axes = _panels(1, 1.9)
    for row, (_, k, low, high, found, below, above, _) in enumerate(data["rows"]):
        for shift, value, a, b, colour in ((-0.12, k, low, high, style.BLUE), (0.12, found, below, above, style.RED)):
            axes.plot([a, b], [row + shift] * 2, color=colour, linewidth=2, alpha=0.5)
            axes.plot(value, row + shift, "o", color=colour, markersize=4)
    axes.plot([], [], "o-", color=style.BLUE, label="theory")
    axes.plot([], [], "o-", color=style.RED, label="backtest")
    axes.set_yticks(range(len(data["rows"])), [row[0] for row in data["rows"]])
    axes.set(xlabel="constant K with 95 % interval (log scale)", xscale="log")
    axes.set_xticks([5, 10, 20, 40], ["5", "10", "20", "40"])
    axes.minorticks_off()
    axes.invert_yaxis()
    axes.legend()
    return figure


DRAWINGS: dict[str, Callable[[dict[str, Any]], Figure]] = {
    "map": settled_map, "step": step, "few": few, "which_k": which_k, "ladder": ladder,
}  # fmt: skip


def draw_all() -> list[Path]:
    """Draw every result that is stored."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in DRAWINGS.items():
        if (RESULTS / f"{name}.json").exists():
            with style.journal_style():
                paths.append(FIGURES / f"{name}.svg")
                draw(read_result(name)["series"]).savefig(paths[-1], metadata={"Date": None})
    return paths
