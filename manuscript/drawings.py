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
    left.plot([4, 10], [4, 10], color=style.GREY, linestyle="--", linewidth=0.8)
    for colour, one in zip(style.SERIES, data.values()):
        left.plot(one["theta"], one["rating"], color=colour, label=f"σ = {one['sigma']:g}")
        rest = np.subtract(one["settled"], one["computed"])
        right.plot(one["team"], rest, ".", color=colour, markersize=2)
    left.set(xlabel="mean strength θ", ylabel="settled rating R*", title="(a) the map, γ → 0")
    left.legend()
    right.axhline(0, color=style.GREY, linewidth=0.8)
    right.set(xlabel="mean strength θ", ylabel="played − computed", title="(b) played, less the closure at its γ")
    return figure


def step(data: dict[str, Any]) -> Figure:
    """Slope, and variance and error, over the step."""
    figure, (left, right) = _panels(2)
    gamma, slope, error, noise, doubt = np.array(data["points"]).T
    left.plot([0, *data["gamma"]], [data["limit"], *data["slope"]], label="closure")
    _played(left, gamma, slope, error, color=style.RED, label="simulated")
    left.axhline(1, color=style.GREY, linestyle="--", linewidth=0.8)
    left.plot(data["fair"], 1, "*", color=style.BLACK, markersize=8)
    left.annotate("γ*", (data["fair"], 1), xytext=(4, -12), textcoords="offset points")
    left.set(xlabel="step size γ", ylabel="slope of R on θ", title="(a) noise stretches the map", xlim=(0, None))
    left.legend()
    right.plot(data["gamma"], data["variance"], label="variance of a rating")
    right.plot(data["gamma"], data["error"], color=style.GREEN, linestyle="-.", label="mean square of R − θ")
    _played(right, gamma, noise, doubt, color=style.RED, label="variance, simulated")
    right.set(xlabel="step size γ", ylabel="squared points", title="(b) its price", xlim=(0, None), ylim=(0, None))
    right.legend()
    return figure


def few(data: dict[str, Any]) -> Figure:
    """Variance of a rating over the number of teams."""
    figure, axes = _panels(1, 2.2)
    teams, variance, noise, doubt = np.array(data["points"]).T
    axes.semilogx(teams, variance, "s-", markersize=3, label="computed")
    _played(axes, teams, noise, doubt, color=style.RED, label="simulated")
    axes.axhline(data["many"], color=style.GREY, linestyle="--", linewidth=0.8, label="many teams")
    axes.set_xticks(teams, [f"{one:.0f}" for one in teams])
    axes.minorticks_off()
    axes.set(xlabel="number of teams N", ylabel="variance of a rating", ylim=(0, None))
    axes.legend()
    return figure


def moving(data: dict[str, Any]) -> Figure:
    """The error of following form, with its parts."""
    figure, axes = _panels(1, 2.3)
    parts = np.array(data["parts"])
    gamma, error, doubt = np.array(data["points"]).T
    axes.plot(data["gamma"], parts.sum(axis=1), label="error, computed")
    for values, line, name in zip(parts.T, ("-.", ":"), ("noise", "lag")):
        axes.plot(data["gamma"], values, color=style.GREY, linestyle=line, label=name)
    _played(axes, gamma, error, doubt, color=style.RED, label="error, simulated")
    axes.plot(data["best"], data["least"], "*", color=style.BLACK, markersize=8)
    axes.set(xlabel="step size γ", ylabel="mean square error", xlim=(0, None), ylim=(0, 0.8))
    axes.legend(ncols=2)
    return figure


def contests(data: dict[str, Any]) -> Figure:
    """Worth of a field, and the noise that is left."""
    figure, (left, right) = _panels(2)
    k, worth, equal, variance, _ = np.array(data["rows"]).T
    left.plot(k, worth, "o-", markersize=3, label="40 unequal teams, mean")
    left.plot(k, equal, "s--", markersize=3, color=style.GREEN, label="equal teams")
    left.axhline(3, color=style.GREY, linestyle=":", linewidth=0.8)
    left.set(xlabel="sides of a contest k", ylabel="worth in matches of two", title="(a) worth", ylim=(0, None))
    left.legend(loc="lower right")
    size, noise, doubt = np.array(data["points"]).T
    right.plot(k, variance, "-", label="closure")
    _played(right, size, noise, doubt, color=style.RED, label="simulated")
    right.set(xlabel="sides of a contest k", ylabel="variance of a rating", title="(b) noise left", ylim=(0, None))
    for axes in (left, right):
        axes.set_xticks([2, 5, 10, 15, 20])
    right.legend()
    return figure


def pairing(data: dict[str, Any]) -> Figure:
    """What choosing gains over strength, and one-sided games against patience."""
    figure, (left, right) = _panels(2)
    left.plot(data["theta"], data["gain"], "o-", markersize=3)
    left.set(xlabel="mean strength θ", ylabel="gain by choosing (points)", title="(a) farming", ylim=(0, None))
    _, sided, matches, front = zip(*data["options"])
    on, sided, matches = np.array(front), np.array(sided), np.array(matches)
    right.semilogy(sided[~on], matches[~on], ".", color=style.GREY, markersize=4, label="tried")
    order = np.argsort(sided[on])
    right.semilogy(sided[on][order], matches[on][order], "o-", markersize=3, label="not beaten in both")
    right.semilogy(*data["best"], "*", color=style.BLACK, markersize=9)
    right.set(xlabel="mean |expected result|", ylabel="matches to settle", title="(b) fair games or quick ratings")
    right.legend()
    return figure


def ladder(data: dict[str, Any]) -> Figure:
    """Share of true differences that Elo shows, told by results and in truth."""
    figure, axes = _panels(1, 2.2)
    nearest, alike, _, _, shown, elo, rank = np.array(data["rows"]).T
    axes.semilogx(nearest, elo, "o-", markersize=4, label="shown by ratings, in truth")
    axes.semilogx(nearest, shown, "s--", markersize=4, color=style.RED, label="shown, told by results")
    axes.semilogx(nearest, rank, "^-", markersize=4, color=style.GREEN, label="correlation of ratings with truth")
    axes.semilogx(nearest, alike, ":", color=style.GREY, label="correlation of opponents")
    axes.set_xticks(nearest, [f"{one:.0f}" for one in nearest])
    axes.minorticks_off()
    axes.set(xlabel="opponent is the nearest of c", ylim=(0, 1.05))
    figure.legend(loc="outside right upper")
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
    axes.set(xlabel="K with 95 % interval (log scale)", xscale="log")
    axes.set_xticks([5, 10, 20, 40], ["5", "10", "20", "40"])
    axes.minorticks_off()
    axes.invert_yaxis()
    axes.legend()
    return figure


OURS = ("KalmanElo", "TeamElo", "PlayerElo", "Glicko", "Glicko2", "PlayerElo, line-up unknown")


def forecasts(data: dict[str, Any]) -> Figure:
    """Log-loss behind the best of each set."""
    figure, axes = _panels(1, 2.4)
    for row, league in enumerate(data["sets"]):
        losses = {rater: loss for name, rater, loss in data["rows"] if name == league}
        best = min(losses.values())
        for rater, loss in losses.items():
            ours = rater in OURS
            axes.plot(
                min(loss - best, 0.034), row + (-0.12 if ours else 0.12), "o" if ours else "x", markersize=4.5,
                color=style.BLUE if ours else style.RED,
            )  # fmt: skip
    axes.plot([], [], "o", color=style.BLUE, label="Kinelo")
    axes.plot([], [], "x", color=style.RED, label="other libraries, tuned")
    axes.set_yticks(range(len(data["sets"])), data["sets"])
    axes.set(xlabel="log-loss behind the best of the set", xlim=(-0.0008, 0.0345))
    axes.invert_yaxis()
    axes.legend(loc="center right")
    return figure


DRAWINGS: dict[str, Callable[[dict[str, Any]], Figure]] = {
    "map": settled_map, "step": step, "few": few, "moving": moving, "contests": contests, "pairing": pairing,
    "ladder": ladder, "which_k": which_k, "forecasts": forecasts,
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
