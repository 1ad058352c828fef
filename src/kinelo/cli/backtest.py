"""``kinelo backtest``: which rater forecasts these matches best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinelo.cli.engine import Scheduler, Workers
from kinelo.cli.loading import COLUMN_HELP, Aliases, Conditions, DropRepeats, ResultScale, StartingRatings
from kinelo.cli.picture import picture_name
from kinelo.raters.choice import RATER_HELP

if TYPE_CHECKING:
    from kinelo.forecasts.backtest import Backtest
    from kinelo.matches.matches import Matches


def backtest(
    results: Annotated[Path, typer.Argument(help="Results: CSV or Parquet with date, two sides, scores or result.")],
    train_until: Annotated[
        str | None,
        typer.Option(help="First day that is forecast (2005-01-01); by default the middle of the matches."),
    ] = None,
    lineups: Annotated[Path | None, typer.Option(help="Line-ups: match, side, player, perhaps minutes.")] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(help=f"{RATER_HELP}; may be repeated. By default all of Kinelo's that can be used."),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Leave out matches before this day.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="log_loss, brier, rps or accuracy; may be repeated. The first one sorts.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the scores to this CSV file.")] = None,
    picture: Annotated[
        Path | None, typer.Option(callback=picture_name, help="Draw the calibration into this PNG file.")
    ] = None,
    rejects: Annotated[Path | None, typer.Option(help="Write rows that could not be used to this CSV file.")] = None,
    column: Annotated[list[str] | None, typer.Option(help=COLUMN_HELP)] = None,
    aliases: Aliases = None,
    scale: ResultScale = None,
    drop_repeats: DropRepeats = False,
    condition: Conditions = None,
    start: StartingRatings = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
) -> None:
    """Fit raters on the earlier matches, forecast the later ones one step ahead, and show how good the forecasts were.

    Example:  kinelo backtest league/results.csv --lineups league/lineups.csv --picture calibration.png
    """
    from kinelo.cli.loading import load, plain_warnings, write_csv
    from kinelo.forecasts.backtest import backtest as run
    from kinelo.forecasts.scores import METRICS
    from kinelo.runtime.workers import client_of

    engine = client_of(workers, scheduler)
    matches = load(
        results, lineups, column, rejects, aliases=aliases, scale=scale, drop_repeats=drop_repeats, conditions=condition
    )
    if since is not None:
        matches = matches.since(since)
    first_day = train_until or _middle(matches)
    with plain_warnings(), engine as client:
        chosen = _raters(matches, rater, start, condition or [])
        test = run(matches, chosen, train_until=first_day, metrics=metric or tuple(METRICS), client=client)
    _show(test, first_day)
    if out is not None:
        write_csv(test.scores, out)
        typer.echo(f"Scores: {out}")
    if picture is not None:
        from kinelo.pictures.calibration import draw_calibration
        from kinelo.pictures.style import save

        typer.echo(f"Picture: {save(draw_calibration(test), picture)}")


def _middle(matches: Matches) -> str:
    from kinelo.errors import InputError

    if len(matches) < 2:
        raise InputError(f"a backtest needs matches to fit and matches to forecast; there are {len(matches)} in all")
    return str(matches.date[len(matches) // 2])


def _raters(matches: Matches, asked: list[str] | None, start: Path | None, conditions: list[str]) -> dict:
    """The raters asked for, or all that can be used; of the latter those do without what they cannot take."""
    from kinelo.raters.choice import RATERS, rater_called

    if asked is not None:
        return {type(rater).__name__: rater for rater in (rater_called(name, start, conditions) for name in asked)}
    chosen = {}
    for name, choice in RATERS.items():
        if choice.needs_lineups and matches.lineups is None:
            continue
        takes = rater_called(name).get_params()
        chosen[choice.kind] = rater_called(
            name, start if "start" in takes else None, conditions if "conditions" in takes else ()
        )
    for given, what in ((conditions, "conditions"), (start, "start")):
        without = [kind for kind, rater in chosen.items() if what not in rater.get_params()]
        if given and without:
            typer.echo(f"note: without {what}, which they do not take, forecast {', '.join(without)}", err=True)
    if "PlayerElo" in chosen:
        unaware = rater_called("player", start, conditions)
        unaware.known = "none"  # type: ignore[attr-defined]
        chosen |= {"PlayerElo, line-up unknown": unaware}
    return chosen


def _show(test: Backtest, first_day: str) -> None:
    from rich.console import Console
    from rich.table import Table

    best = test.scores["rater"][0]
    metric = test.metrics[0]
    gaps = {row["rater"]: row for row in test.differences(best).iter_rows(named=True)}
    shown = Table(title=f"{len(test.matches):,} matches from {first_day}, one step ahead", title_justify="left")
    shown.add_column("Rater")
    shown.add_column("Line-up known")
    for name in test.metrics:
        shown.add_column(name.replace("_", "-"), justify="right")
    shown.add_column("behind the best", justify="right", no_wrap=True)
    for row in test.scores.iter_rows(named=True):
        gap = gaps.get(row["rater"])
        said = "" if gap is None else f"{gap['difference']:+.4f} ± {(gap['high'] - gap['low']) / 2:.4f}"
        shown.add_row(row["rater"], row["line-up"], *(f"{row[name]:.4f}" for name in test.metrics), said)
    Console().print(shown)
    typer.echo(f"Behind the best: mean difference in {metric.replace('_', '-')} and half its 95 % bootstrap interval.")
