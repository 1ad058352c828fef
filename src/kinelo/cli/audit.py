"""``kinelo audit``: is the rating system of this league any good, and which K should it have?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinelo.cli.loading import COLUMN_HELP, Aliases, DropRepeats, Ordered, ResultScale
from kinelo.cli.options import Federation, StartingRatings, grouped
from kinelo.cli.page import page_name
from kinelo.cli.picture import picture_name
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC, rater_help


@grouped
def audit(
    results: Annotated[Path, typer.Argument(help="Results: CSV or Parquet with date, two sides, scores or result.")],
    federation: Federation,
    home_advantage: Annotated[
        float | None,
        typer.Option(help="Home advantage in use, in points; by default that of the earlier half."),
    ] = None,
    rater: Annotated[
        str | None,
        typer.Option(help=f"Instead of a K, the rater in use: {rater_help()}; it is held against Elo at its best K."),
    ] = None,
    lineups: Annotated[
        Path | None, typer.Option(help="Line-ups: tell how much performances vary, and what that does to ratings.")
    ] = None,
    ratings: Annotated[
        Path | None, typer.Option(help="Table of the ratings in use: name, rating, perhaps deviation.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything found as JSON.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write a page to share to this file, NAME.html.", callback=page_name)
    ] = None,
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
    start: StartingRatings = None,
    since: Annotated[str | None, typer.Option(help="Leave out matches before this day.")] = None,
    column: Annotated[list[str] | None, typer.Option(help=COLUMN_HELP)] = None,
    aliases: Aliases = None,
    scale: ResultScale = None,
    drop_repeats: DropRepeats = False,
    ordered: Ordered = False,
) -> None:
    """Say what a league's rating system does to it, which K it should have, and what moving there buys.

    The system in use is plain Elo with --k (32 unless given), --k-of or --rules, or the --rater.

    Example:  kinelo audit league/results.csv --k 32 --picture which-k.png --out audit.html
    """
    import json
    from dataclasses import asdict

    from kinelo.advice.audit.audit import audit as run
    from kinelo.advice.audit.words import performance_words
    from kinelo.cli.loading import load, plain_warnings
    from kinelo.raters.choice import rater_called
    from kinelo.raters.team.rater import TeamElo

    matches = load(results, lineups, column, aliases=aliases, scale=scale, drop_repeats=drop_repeats, ordered=ordered)
    if since is not None:
        matches = matches.since(since)
    plain = federation.rater(AUTOMATIC, start)
    if rater is not None and (plain is not None or start is not None or home_advantage is not None):
        raise InputError("--rater is no plain Elo: leave out --k, --k-of, --rules, --start and --home-advantage.")
    in_use = TeamElo.classic(start=start) if plain is None else plain
    in_use.set_params(home_advantage=home_advantage)
    with plain_warnings():
        found = run(matches, in_use if rater is None else rater_called(rater), ratings=ratings)
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
    if out is not None:
        from kinelo.pages.page import write_page

        typer.echo(f"Page: {write_page(found, out)}", err=as_json)
    for path, name in ((picture, "audit"), (check, "check")):
        if path is not None:
            from kinelo.pictures.audit import draw_audit, draw_check
            from kinelo.pictures.style import save

            figure = draw_audit(found) if name == "audit" else draw_check(found.check)
            typer.echo(f"Picture: {save(figure, path)}", err=as_json)
