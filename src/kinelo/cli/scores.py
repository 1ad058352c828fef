"""How good forecasts were, on the terminal: tables and pictures of backtests, of matches and of contests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kinelo.cli.streams import console

if TYPE_CHECKING:
    from kinelo.forecasts.comparison import Comparison


def show_scores(test: Comparison, first_day: str) -> None:
    """Print the scores of all raters, and how far each is behind the best."""
    from kinelo.forecasts.comparison import backtest_table

    title = f"{test.number:,} {test.noun} from {first_day}, one step ahead"
    console().print(backtest_table(test, title))


def draw_scores(test: Comparison, picture: Path | None, quiet: bool) -> None:
    """Draw how often forecasts came true, where a picture is asked for."""
    if picture is not None:
        from kinelo.pictures.calibration import draw_calibration
        from kinelo.pictures.style import save

        typer.echo(f"Picture: {save(draw_calibration(test), picture)}", err=quiet)
