"""``kinelo audit``: is the rating system of this league any good, and which K should it have?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinelo.cli.loading import COLUMN_HELP, Aliases, DropRepeats, ResultScale
from kinelo.cli.picture import picture_name
from kinelo.raters.choice import RATER_HELP


def audit(
    results: Annotated[Path, typer.Argument(help="Results: CSV or Parquet with date, two sides, scores or result.")],
    k: Annotated[float, typer.Option("--k", help="K of the system in use.")] = 32.0,
    rules: Annotated[str | None, typer.Option("--rules", help="Instead of one K, the rules in use: fide.")] = None,
    home_advantage: Annotated[
        float | None, typer.Option(help="Its home advantage in points; by default that of the earlier half.")
    ] = None,
    rater: Annotated[
        str | None,
        typer.Option(help=f"Instead of a K, the rater in use: {RATER_HELP}; it is held against Elo at its best K."),
    ] = None,
    lineups: Annotated[
        Path | None, typer.Option(help="Line-ups: tell how much performances vary, and what that does to ratings.")
    ] = None,
    ratings: Annotated[
        Path | None, typer.Option(help="Table of the ratings in use: name, rating, perhaps deviation.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything found as JSON.")] = False,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw the curves over K, by theory and by backtest, into this file.", callback=picture_name),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            help="Play the league again from the estimates and draw both into this file.", callback=picture_name
        ),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Leave out matches before this day.")] = None,
    column: Annotated[list[str] | None, typer.Option(help=COLUMN_HELP)] = None,
    aliases: Aliases = None,
    scale: ResultScale = None,
    drop_repeats: DropRepeats = False,
) -> None:
    """Say what a league's rating system does to it, which K it should have, and what moving there buys.

    Example:  kinelo audit league/results.csv --k 32 --picture which-k.png
    """
    import json
    from dataclasses import asdict

    from kinelo.advice.audit.audit import audit as run
    from kinelo.advice.audit.words import performance_words
    from kinelo.cli.loading import load, plain_warnings
    from kinelo.raters.choice import rater_called
    from kinelo.raters.team.rater import TeamElo

    matches = load(results, lineups, column, aliases=aliases, scale=scale, drop_repeats=drop_repeats)
    if since is not None:
        matches = matches.since(since)
    with plain_warnings():
        found = run(
            matches,
            TeamElo.classic(k, home_advantage=home_advantage) if rater is None else rater_called(rater),
            ratings=ratings,
        )
    if as_json:
        content = found.to_dict()
        if lineups is not None:
            content |= {"performance": asdict(found.performance), "recovered": asdict(found.recovered())}
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        from rich.console import Console

        Console().print(found)
        for note in found.notes:
            typer.echo(f"note: {note}")
        if lineups is not None:
            for words in performance_words(found.performance, found.recovered()):
                typer.echo(words)
    for path, name in ((picture, "audit"), (check, "check")):
        if path is not None:
            from kinelo.pictures.audit import draw_audit, draw_check
            from kinelo.pictures.style import save

            figure = draw_audit(found) if name == "audit" else draw_check(found.check)
            typer.echo(f"Picture: {save(figure, path)}", err=as_json)
