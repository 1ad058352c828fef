"""Calibration: did what was forecast with probability p happen in a share p of the matches?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kinelo.advice.charts import calibration_chart, outcome_words
from kinelo.forecasts.backtest import Backtest
from kinelo.forecasts.comparison import Comparison
from kinelo.pictures import style
from kinelo.pictures.chart import put_chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 4


def draw_calibration(
    test: Comparison,
    names: Sequence[str] | None = None,
    bins: int = 10,
    *,
    width: style.Width = None,
    size: float | None = None,
) -> Figure:
    """One panel per rater (default: the best four): frequency against forecast, with the forecasts made below.

    Of contests, how often entrants won and were among the first three.

    The bars are where a calibrated forecast would be found in 95 of 100 cases.
    """
    import polars as pl

    names = list(names or test.scores["rater"].head(MOST_PANELS))
    names_of_sides = outcome_words(test.matches) if isinstance(test, Backtest) else {}
    with style.journal(width, size):
        figure = style.new_figure(min(style.PAGE, 2.5 * len(names) + 1.0), 3.0 if len(names) > 2 else 3.8)
        panels = figure.subplots(
            2, len(names), squeeze=False, sharex=True, sharey="row", height_ratios=(4, 1), gridspec_kw={"hspace": 0.04}
        )
        for column, name in enumerate(names):
            table = test.calibration(name, bins)
            metric = "log_loss" if test.noun == "matches" else "winner_log_loss"
            loss, score = test.mean_score(name, metric), "log-loss" if test.noun == "matches" else "log-loss of winners"
            chart = calibration_chart(table, names_of_sides)
            put_chart(panels[0, column], replace(chart, x_title="", y_title="" if column else chart.y_title))
            what, number = table.columns[0], table.columns[-1]
            outcomes = table[what].unique(maintain_order=True).to_list()
            wide = 1.0 / (len(outcomes) * bins)
            for place, outcome in enumerate(outcomes):
                part = table.filter((pl.col(what) == outcome) & (pl.col("forecast") > 0))
                if part.height:
                    left = (part["forecast"] * bins).floor().clip(0, bins - 1) / bins
                    at = 100 * (left + (place + 0.5) * wide)
                    panels[1, column].bar(at, part[number], width=80 * wide, color=style.SERIES[place])
            panels[1, column].set_yscale("log")
            panels[0, column].set(title=f"{style.literal(name, 40)}\n{score} {loss:.4f}", xticks=(0, 50, 100))
            panels[1, column].set_xlabel(chart.x_title)
        panels[1, 0].set_ylabel("Forecasts")
        panels[0, 0].legend(loc="upper left", handletextpad=0.4)
        return figure
