"""``kinelo backtest``: which rater forecasts these matches best, and how its scores are shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.cli.files import picture_name
from kinelo.cli.options import AnyReadingOptions, Json, Rejects, ResultsFile, Scheduler, Workers, grouped
from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.matches.kind import CONTESTS, MATCHES
from kinelo.raters.choice import AUTOMATIC, rater_help

if TYPE_CHECKING:
    from kinelo.forecasts.comparison import Comparison
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches


METRIC_HELP = (
    "log_loss, brier, rps or accuracy; of contests winner_log_loss, order_log_loss, pairs_right or rank_deviation."
)


@grouped
def backtest(
    results: ResultsFile,
    reading: AnyReadingOptions,
    train_until: Annotated[
        str | None,
        typer.Option(
            help="First day that is forecast (2005-01-01); by default the middle. Of contests without dates: a "
            "contest, how many come before, or a share (0.5)."
        ),
    ] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{AUTOMATIC}: a mixture by weights learnt on the way; {rater_help()}; may be repeated. By default "
            "all of Kinelo's that can be used."
        ),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Leave out matches before this day.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help=f"{METRIC_HELP} The first one sorts; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the scores to this CSV file.")] = None,
    picture: Annotated[
        Path | None, typer.Option(callback=picture_name, help="Draw the calibration into this PNG file.")
    ] = None,
    rejects: Rejects = None,
    as_json: Json = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
) -> None:
    """Fit raters on the earlier matches, forecast the later ones one step ahead, and show how good the forecasts were.

    Example:  kinelo backtest league/results.csv --lineups league/lineups.csv --picture calibration.png
    """
    from kinelo.cli.loading import kind_of_file, plain_warnings, write_csv
    from kinelo.cli.rating import check_rater
    from kinelo.forecasts.backtest import backtest as run
    from kinelo.runtime.workers import client_of

    engine = client_of(workers, scheduler)
    kind = kind_of_file(results, reading.column)
    for name in rater or ():
        check_rater(name, reading if len(rater or ()) == 1 else AnyReadingOptions(), kind)
    played = reading.load(results, rejects, kind=kind)
    if since is not None:
        played = played.since(since)
    first_day = train_until or _middle(played)
    with plain_warnings(), engine as client:
        chosen = _raters(played, rater, reading)
        test = run(
            played, chosen, train_until=first_day, metrics=metric, client=client, progress=sys.stderr.isatty()
        )  # fmt: skip
    if as_json:
        found = test.to_dict() | {"train_until": str(first_day), "differences": test.differences().to_dicts()}
        bands = {name: table.to_dicts() for name, table in test._bands_by_rater().items()}
        echo_json(found | ({"bands": bands} if bands else {}))
    else:
        show_scores(test, str(first_day) if kind.two_sided or played.dated else test.contests.labels[0])
    if out is not None:
        write_csv(test.scores, out)
        typer.echo(f"Scores: {out}", err=as_json)
    draw_scores(test, picture, as_json)


def _middle(played: Matches | Contests) -> str | int:
    """The middle of what was played: a day, or of contests without dates their number."""
    if len(played) < 2:
        raise InputError(f"A backtest needs {played.kind.noun} to fit and to forecast; there are {len(played)} in all.")
    middle = len(played) // 2
    return str(played.date[middle]) if played.dated or played.kind.two_sided else middle


def _raters(played: Matches | Contests, asked: list[str] | None, reading: AnyReadingOptions) -> dict[str, Any]:
    """The raters asked for, or all of Kinelo's; those that lack what is asked of them are left out, with a word."""
    from kinelo.forecasts.mixture import Mixture
    from kinelo.raters.choice import RATERS_OF, candidates, rater_called

    kind = played.kind
    start, conditions, noise_by, covariates = asked_of_rater = reading.asked_of_rater()
    lineups = getattr(played, "lineups", None) is not None
    names = asked or [name for name, choice in RATERS_OF[kind].items() if lineups or not choice.needs_lineups]
    chosen: dict[str, Any] = {}
    for name in names:
        if name == AUTOMATIC and kind.usual_rater is None:
            chosen["Mixture"] = Mixture(candidates(played, *asked_of_rater))
            continue
        name = kind.usual_rater if name == AUTOMATIC and kind.usual_rater is not None else name
        rater = rater_called(name, kind=kind)
        takes = getattr(rater, "get_params", dict)()
        wanted = {"conditions": conditions, "noise_by": noise_by, "covariates": covariates, "start": start}
        lacking = [what for what, given in wanted.items() if given and what not in takes]
        if lacking and ":" not in name and len(names) > 1:
            typer.echo(f"note: {type(rater).__name__} takes no {' and no '.join(lacking)} and is left out", err=True)
        else:
            chosen[type(rater).__name__] = rater_called(name, *asked_of_rater, kind=kind)
    if not chosen:
        rater_called(names[0], *asked_of_rater, kind=kind)  # says what it lacks
    return chosen if asked else chosen | BESIDE[kind](chosen, reading)


def _lineup_unknown(chosen: dict[str, Any], reading: AnyReadingOptions) -> dict[str, Any]:
    """What a rater of players is worth before anybody knows who plays."""
    from kinelo.raters.choice import rater_called

    if "PlayerElo" not in chosen:
        return {}
    unaware = rater_called("player", *reading.asked_of_rater())
    unaware.known = "none"  # type: ignore[attr-defined]
    return {"PlayerElo, line-up unknown": unaware}


def _plain_elo(chosen: dict[str, Any], reading: AnyReadingOptions) -> dict[str, Any]:
    """Plain Elo of contests."""
    from kinelo.raters.team.rater import TeamElo

    return {"plain Elo, K = 32": TeamElo.classic(k=32)}


BESIDE = {MATCHES: _lineup_unknown, CONTESTS: _plain_elo}
"""What stands beside Kinelo's raters where none is asked for."""


def show_scores(test: Comparison, first_day: str) -> None:
    """Print the scores of all raters, how far each is behind the best, and of contests what the best expected."""
    from kinelo.forecasts.comparison import backtest_table
    from kinelo.forecasts.contest_scores import place_bands_table

    title = f"{test.number:,} {test.noun} from {first_day}, one step ahead"
    console().print(backtest_table(test, title))
    name = str(test.scores["rater"][0])
    bands = test._bands_by_rater().get(name)
    if bands is not None:
        console().print(place_bands_table(bands, name))


def draw_scores(test: Comparison, picture: Path | None, quiet: bool) -> None:
    """Draw how often forecasts came true, where a picture is asked for."""
    if picture is not None:
        from kinelo.pictures.calibration import draw_calibration
        from kinelo.pictures.style import save

        typer.echo(f"Picture: {save(draw_calibration(test), picture)}", err=quiet)
