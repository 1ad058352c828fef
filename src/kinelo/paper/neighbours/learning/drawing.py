"""The error over γ, and two spreads over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.neighbours.learning.evidence import LearningEvidence


def draw(data: LearningEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        left.plot(data.gamma, data.error, color=style.SERIES[0], label="computed")
        left.errorbar(
            data.run_gamma, data.run_error, 2 * data.run_uncertainty, fmt="o", color=style.SERIES[0], markersize=4,
            markerfacecolor="white", capsize=2, label="simulated",
        )  # fmt: skip
        left.axhline(data.floor, color=style.GREY, linestyle="--", linewidth=0.9, label="as γ → 0")
        left.set(xlabel="step size γ", ylabel="mean square error E(r − ρ)²", xlim=(0, None), ylim=(0, None))
        left.set_title("(a) ratings never reach strengths that learn")
        left.legend()
        later = data.time > 0
        right.loglog(data.time[later], data.strength_spread[later], color=style.SERIES[1], label="strengths")
        right.loglog(data.time[later], data.rating_spread[later], color=style.SERIES[0], label="ratings")
        right.loglog(
            data.time[later], data.predicted_spread[later], color=style.GREY, linestyle="--", label="t^{1/3} law"
        )
        right.set(xlabel="kinetic time t = γ × matches per team", ylabel="standard deviation over the league")
        right.set_title("(b) winners gain what losers lose")
        right.legend()
        return figure
