"""``kinelo backtest``: which rater forecasts these matches best."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.cli.files import picture_name
from kinelo.cli.options import AnyReadingOptions, Json, Rejects, ResultsFile, Scheduler, Workers, grouped
from kinelo.cli.streams import echo_json
from kinelo.errors import InputError
from kinelo.matches.kind import CONTESTS, MATCHES
from kinelo.raters.choice import AUTOMATIC, rater_help

if TYPE_CHECKING:
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
    from kinelo.cli.contests import raters_to_compare
    from kinelo.cli.loading import kind_of_file, plain_warnings, write_csv
    from kinelo.cli.scores import draw_scores, show_scores
    from kinelo.forecasts.backtest import backtest as run
    from kinelo.runtime.workers import client_of

    engine = client_of(workers, scheduler)
    kind = kind_of_file(results, reading.column)
    played = reading.load(results, rejects, kind=kind)
    if since is not None:
        played = played.since(since)
    first_day = train_until or _middle(played)
    with plain_warnings(), engine as client:
        chosen = _raters(played, rater, reading) if kind is MATCHES else raters_to_compare(rater, reading)
        test = run(
            played, chosen, train_until=first_day, metrics=metric, client=client, progress=sys.stderr.isatty()
        )  # fmt: skip
    if as_json:
        found = test.to_dict() | {"train_until": str(first_day), "differences": test.differences().to_dicts()}
        if kind is CONTESTS:
            found["bands"] = {name: test.bands(name).to_dicts() for name in test.forecasts}
        echo_json(found)
    else:
        show_scores(test, str(first_day) if kind is MATCHES or played.dated else test.contests.labels[0])
    if out is not None:
        write_csv(test.scores, out)
        typer.echo(f"Scores: {out}", err=as_json)
    draw_scores(test, picture, as_json)


def _middle(played: Matches | Contests) -> str | int:
    """The middle of what was played: a day, or of contests without dates their number."""
    if len(played) < 2:
        raise InputError(f"A backtest needs {played.kind.noun} to fit and to forecast; there are {len(played)} in all.")
    middle = len(played) // 2
    return str(played.date[middle]) if played.dated or played.kind is MATCHES else middle


def _raters(matches: Matches, asked: list[str] | None, reading: AnyReadingOptions) -> dict[str, Any]:
    """The raters asked for, or all of Kinelo's; those that lack what is asked of them are left out, with a word."""
    from kinelo.forecasts.mixture import Mixture
    from kinelo.raters.choice import RATERS, candidates, rater_called

    start, conditions, noise_by, covariates = asked_of_rater = reading.asked_of_rater()
    names = asked or [name for name, kind in RATERS.items() if matches.lineups is not None or not kind.needs_lineups]
    chosen: dict[str, Any] = {}
    for name in names:
        if name == AUTOMATIC:
            chosen["Mixture"] = Mixture(candidates(matches, *asked_of_rater))
            continue
        rater = rater_called(name)
        takes = getattr(rater, "get_params", dict)()
        wanted = {"conditions": conditions, "noise_by": noise_by, "covariates": covariates, "start": start}
        lacking = [what for what, given in wanted.items() if given and what not in takes]
        if lacking and ":" not in name and len(names) > 1:
            typer.echo(f"note: {type(rater).__name__} takes no {' and no '.join(lacking)} and is left out", err=True)
        else:
            chosen[type(rater).__name__] = rater_called(name, *asked_of_rater)
    if not chosen:
        rater_called(names[0], *asked_of_rater)  # says what it lacks
    if "PlayerElo" in chosen and not asked:
        unaware = rater_called("player", *asked_of_rater)
        unaware.known = "none"  # type: ignore[attr-defined]
        chosen |= {"PlayerElo, line-up unknown": unaware}
    return chosen
