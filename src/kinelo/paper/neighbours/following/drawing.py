"""The error over γ, stacked by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.neighbours.following.evidence import FollowingEvidence


def draw(data: FollowingEvidence) -> Figure:
    """One panel."""
    with style.journal_style():
        figure = style.new_figure(style.COLUMN * 1.35, 3.2)
        axes = figure.subplots()
        axes.plot(data.gamma, data.parts.sum(axis=1), color=style.SERIES[0], label="error, computed")
        for values, line, name in zip(data.parts.T, ("-.", ":"), ("noise", "lag")):
            axes.plot(data.gamma, values, color=style.GREY, linestyle=line, label=name)
        axes.errorbar(
            data.run_gamma, data.run_error, 2 * data.run_uncertainty, fmt="o", color=style.SERIES[0], markersize=4,
            markerfacecolor="white", capsize=2, label="error, simulated",
        )  # fmt: skip
        axes.axhline(data.glicko, color=style.SERIES[1], linestyle="--", linewidth=0.9, label="Glicko, simulated")
        axes.plot(data.best, data.least, "*", color=style.SERIES[0], markersize=9, markeredgecolor="white", zorder=5)
        axes.annotate(f"γ* = {data.best:.3f}", (data.best, data.least), xytext=(4, -12), textcoords="offset points")
        axes.set(xlabel="step size γ", ylabel="mean square error E(r − θ)²", xlim=(0, None), ylim=(0, None))
        axes.legend(fontsize="small")
        return figure
