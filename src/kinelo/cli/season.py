"""``kinelo season``: how a season may end, from results so far and fixtures to come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from kinelo.cli.loading import COLUMN_HELP, Aliases, Conditions, DropRepeats, ResultScale, StartingRatings
from kinelo.raters.choice import RATER_HELP

if TYPE_CHECKING:
    import polars as pl

    from kinelo.matches.outcomes import Scale

BREAK_HELP = "What separates sides level on points: margin, wins or head_to_head; repeat for an order."


def season(
    results: Annotated[Path, typer.Argument(help="Results to fit the rater on.")],
    fixtures: Annotated[
        Path, typer.Argument(help="All matches of the season; those with a result count as they ended.")
    ],
    rater: Annotated[str, typer.Option(help=RATER_HELP)] = "kalman",
    win: Annotated[float, typer.Option(help="Points for a win.")] = 3.0,
    draw: Annotated[float, typer.Option(help="Points for a draw.")] = 1.0,
    loss: Annotated[float, typer.Option(help="Points for a loss.")] = 0.0,
    tie_break: Annotated[list[str] | None, typer.Option(help=BREAK_HELP)] = None,
    relegated: Annotated[int, typer.Option(min=0, help="How many go down.")] = 3,
    simulations: Annotated[int, typer.Option(min=1, help="How many times the season is played.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same table.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the table to this CSV file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    lineups: Annotated[Path | None, typer.Option(help="Line-ups that belong to the results.")] = None,
    column: Annotated[list[str] | None, typer.Option(help=COLUMN_HELP)] = None,
    aliases: Aliases = None,
    scale: ResultScale = None,
    drop_repeats: DropRepeats = False,
    condition: Conditions = None,
    start: StartingRatings = None,
) -> None:
    """Play the rest of a season many times: final points, chances of the title and of going down.

    Example:  kinelo season league/results.csv fixtures.csv --relegated 2
    """
    from kinelo.cli.loading import column_mapping, load, plain_warnings, write_csv
    from kinelo.forecasts.season import Rules
    from kinelo.forecasts.season import season as played
    from kinelo.matches.reading import read_matches
    from kinelo.raters.choice import rater_called

    places = {"title": (1, 1)} | ({"relegation": (-relegated, -1)} if relegated else {})
    rules = Rules(win, draw, loss, tuple(tie_break) if tie_break else ("margin", "wins"), places)
    with plain_warnings():
        options: dict[str, Any] = {"aliases": aliases, "drop_repeats": drop_repeats, "conditions": condition}
        fitted = rater_called(rater, start, condition or ()).fit(load(results, lineups, column, scale=scale, **options))
        coming = read_matches(
            fixtures, played=False, columns=column_mapping(column), results=cast("Scale | None", scale),
            aliases=aliases, drop_repeats=drop_repeats, conditions=condition or (),
        )  # fmt: skip
        found = played(fitted, coming, rules=rules, simulations=simulations, seed=seed)
    table = found.to_polars()
    if out is not None:
        write_csv(table, out)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    _show(table, f"{len(coming):,} fixtures, {simulations:,} times, {type(fitted).__name__}")


def _show(table: pl.DataFrame, title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=title, title_justify="left")
    shown.add_column("Name")
    groups = table.columns[5:]
    for words in ("Points", "80 %", "Place", *(name.capitalize() for name in groups)):
        shown.add_column(words, justify="right", no_wrap=True)
    for row in table.iter_rows(named=True):
        chances = [f"{row[name]:.1%}" for name in groups]
        shown.add_row(
            row["name"],
            f"{row['points']:.1f}",
            f"{row['low']:.0f} to {row['high']:.0f}",
            f"{row['place']:.1f}",
            *chances,
        )
    Console().print(shown)
