"""RD over matches, and the mean rating over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.neighbours.deviations.evidence import DeviationEvidence


def draw(data: DeviationEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        left.plot(data.matches, data.falling, color=style.SERIES[0], label="from above")
        left.plot(data.matches, data.rising, color=style.SERIES[1], label="from below")
        left.axhline(data.settled, color=style.GREY, linestyle="--", linewidth=0.9)
        left.set(xlabel="matches played", ylabel="RD", ylim=(0, None), title="(a) RD falls only from above")
        left.legend()
        first = data.mean[0]
        right.plot(data.time, data.mean, color=style.SERIES[0], label="simulated")
        for speed, line, name in ((data.still_speed, ":", "without noise"), (data.noisy_speed, "--", "with noise")):
            right.plot(data.time, first + speed * data.time, color=style.GREY, linestyle=line, label=f"computed {name}")
        right.set(xlabel="matches per team", ylabel="mean rating of the league", title="(b) a scale that travels")
        right.legend()
        return figure
