"""``kinelo farming``: who gained by choosing opponents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinelo.cli.options import Json, MatchesFile, ReadingOptions, grouped
from kinelo.cli.streams import console, echo_json


@grouped
def farming(
    results: MatchesFile,
    reading: ReadingOptions,
    k: Annotated[float, typer.Option("--k", help="K of the plain Elo in use.")] = 32.0,
    top: Annotated[int, typer.Option(min=1, help="How many to show.")] = 10,
    out: Annotated[Path | None, typer.Option(help="Write every side's gain to this CSV file.")] = None,
    as_json: Json = False,
) -> None:
    """Look into a log of matches: who gained rating points by choosing opponents, or by its schedule.

    A side gains where its opponents are rated above their strengths. Each match is held against those that it
    could have had.

    Example:  kinelo farming league/results.csv --k 24
    """
    from kinelo.advice.farming_log import farming_log, farming_table
    from kinelo.cli.loading import plain_warnings, write_csv
    from kinelo.raters.team.rater import TeamElo

    matches = reading.load(results)
    with plain_warnings():
        log = farming_log(matches, TeamElo.classic(k=k, home_advantage=None))
    if out is not None:
        write_csv(log.table, out)
        typer.echo(f"Gains: {out}", err=as_json)
    if as_json:
        echo_json(log.to_dict(), indent=2)
        return
    console().print(log.verdict, farming_table(log, top), highlight=False)
