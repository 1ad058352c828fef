"""The orbit diagram, and the noise beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.neighbours.rounds.evidence import RoundsEvidence


def draw(data: RoundsEvidence) -> Figure:
    """Two panels over γ."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        left.plot(*data.orbit.T, "o", color=style.SERIES[0], markersize=2.5)
        left.set(xlabel="step size γ of a round", ylabel="mean rating after many rounds", title="(a) one team's orbit")
        right.plot(data.noisy_gamma, data.noise, "o-", color=style.SERIES[1], markersize=3, label="rounds")
        right.plot(data.noisy_gamma, data.noise_by_match, "s-", color=style.SERIES[0], markersize=3, label="by match")
        right.set(xlabel="step size γ", ylabel="standard deviation of a rating", title="(b) noise, by the closure")
        for axes in (left, right):
            axes.axvline(data.bound, color=style.GREY, linestyle=":", linewidth=0.9)
            axes.axvline(data.critical, color=style.GREY, linestyle="--", linewidth=0.9)
        right.legend()
        return figure
