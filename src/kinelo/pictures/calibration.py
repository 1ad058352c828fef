"""Calibration: did what was forecast with probability p happen in a share p of the matches?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinelo.forecasts.backtest import OUTCOMES
from kinelo.forecasts.comparison import Comparison
from kinelo.forecasts.contest_scores import EVENTS
from kinelo.pictures import style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OUTCOME_COLOURS = dict(zip((*OUTCOMES, *EVENTS), (style.BLUE, style.ORANGE, style.RED, style.BLUE, style.ORANGE)))
MARKERS = dict(zip((*OUTCOMES, *EVENTS), "osDos"))
MOST_PANELS = 4


def draw_calibration(test: Comparison, names: Sequence[str] | None = None, bins: int = 10) -> Figure:
    """One panel per rater (default: the best four): frequency against forecast, with the forecasts made below.

    Of contests, how often entrants won and were among the first three.

    The bars are where a calibrated forecast would be found in 95 of 100 cases.
    """
    names = list(names or test.scores["rater"].head(MOST_PANELS))
    with style.journal_style():
        figure = style.new_figure(min(style.PAGE, 2.5 * len(names) + 1.0), 3.0 if len(names) > 2 else 3.8)
        panels = figure.subplots(
            2, len(names), squeeze=False, sharex=True, sharey="row", height_ratios=(4, 1), gridspec_kw={"hspace": 0.04}
        )
        for column, name in enumerate(names):
            table = test.calibration(name, bins)
            metric = "log_loss" if test.noun == "matches" else "winner_log_loss"
            loss, said = test.mean_score(name, metric), "log-loss" if test.noun == "matches" else "log-loss of winners"
            _draw_reliability(panels[0, column], table)
            _draw_counts(panels[1, column], table, bins)
            panels[0, column].set_title(f"{style.literal(name, 40)}\n{said} {loss:.4f}")
            panels[1, column].set_xlabel("Forecast probability")
        panels[0, 0].set_ylabel("Share that happened")
        panels[1, 0].set_ylabel("Forecasts")
        panels[0, 0].legend(loc="upper left", handletextpad=0.4)
        return figure


def _draw_reliability(axes: Axes, table: pl.DataFrame) -> None:
    import polars as pl

    axes.plot([0, 1], [0, 1], color=style.GREY, linestyle="--", linewidth=0.9, zorder=1)
    what = table.columns[0]
    for outcome in table[what].unique(maintain_order=True):
        part = table.filter((pl.col(what) == outcome) & (pl.col("forecast") > 0))
        if not part.height:
            continue
        x, colour = part["forecast"].to_numpy(), OUTCOME_COLOURS[outcome]
        axes.vlines(x, part["low"], part["high"], color=colour, linewidth=4.0, alpha=0.35, zorder=2)
        axes.plot(x, part["frequency"], MARKERS[outcome], color=colour, markersize=3.2, label=outcome, zorder=3)
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 0.25, 0.5, 0.75, 1))


def _draw_counts(axes: Axes, table: pl.DataFrame, bins: int) -> None:
    import polars as pl

    what, number = table.columns[0], table.columns[-1]
    outcomes = table[what].unique(maintain_order=True).to_list()
    wide = 1.0 / (len(outcomes) * bins)
    for place, outcome in enumerate(outcomes):
        part = table.filter((pl.col(what) == outcome) & (pl.col("forecast") > 0))
        if not part.height:
            continue
        left = (part["forecast"] * bins).floor().clip(0, bins - 1) / bins
        axes.bar(left + (place + 0.5) * wide, part[number], width=0.8 * wide, color=OUTCOME_COLOURS[outcome])
    axes.set_yscale("log")
