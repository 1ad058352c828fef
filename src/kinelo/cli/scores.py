"""How good forecasts were, on the terminal: tables and pictures of backtests, of matches and of contests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kinelo.cli.streams import console
from kinelo.presentation import Column, Table

if TYPE_CHECKING:
    import polars as pl

    from kinelo.forecasts.comparison import Comparison


def show_scores(test: Comparison, first_day: str) -> None:
    """Print the scores of all raters, how far each is behind the best, and of contests what the best expected."""
    from kinelo.forecasts.comparison import backtest_table

    title = f"{test.number:,} {test.noun} from {first_day}, one step ahead"
    console().print(backtest_table(test, title))
    name = str(test.scores["rater"][0])
    bands = test._bands_by_rater().get(name)
    if bands is not None:
        console().print(bands_table(bands, name))


EVENT_WORDS = {"win": "to win", "top 3": "to be among the first three"}


def bands_table(bands: pl.DataFrame, name: str) -> Table:
    """Winners and podiums expected and seen, by the chance that a rater gave."""
    columns = [
        Column("chance", lambda row: f"{100 * row['low']:g} to {100 * row['high']:g} % {EVENT_WORDS[row['event']]}"),
        Column("entrants", lambda row: f"{row['entries']:,}", number=True),
        Column("expected", lambda row: f"{row['expected']:.1f} ± {row['error']:.1f}", number=True),
        Column("seen", lambda row: f"{row['seen']:,}", number=True),
    ]
    below = "± is one standard deviation of the number seen, were the chances right."
    return Table(columns, bands.to_dicts(), f"What {name} expected, and what came", (below,))


def draw_scores(test: Comparison, picture: Path | None, quiet: bool) -> None:
    """Draw how often forecasts came true, where a picture is asked for."""
    if picture is not None:
        from kinelo.pictures.calibration import draw_calibration
        from kinelo.pictures.style import save

        typer.echo(f"Picture: {save(draw_calibration(test), picture)}", err=quiet)
