"""``kinelo next`` and ``test``: what to play next, and when to stop."""

# ruff: noqa: PT028 (the command ``test`` is no test)

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from kinelo.cli.options import Json, MatchesFile, ResultsOptions, grouped
from kinelo.cli.output import echo_json


@grouped
def test(
    results: MatchesFile,
    reading: ResultsOptions,
    low: Annotated[float, typer.Option(help="Points by which the side is better if it is to be refused.")] = 0.0,
    high: Annotated[float, typer.Option(help="Points by which it is better if it is to be accepted.")] = 5.0,
    side: Annotated[str | None, typer.Option(help="Who is tested; by default who is named first.")] = None,
    alpha: Annotated[float, typer.Option(help="How often it may be accepted though it is at --low.")] = 0.05,
    beta: Annotated[float, typer.Option(help="How often it may be refused though it is at --high.")] = 0.05,
    points: Annotated[str, typer.Option(help="logistic, or normalised by the deviation of a game.")] = "logistic",
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Two rows after one another are a pair, sides reversed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say whether a side is better by so many points, as soon as its matches with another allow: go on, accept, refuse.

    Example:  kinelo test results.csv --low 0 --high 5
    Example:  kinelo test games.csv --side 'Engine 2' --pairs --points normalised --low 0 --high 3 --json
    """
    import kinelo as kn

    found = kn.sequential_test(low, high, alpha=alpha, beta=beta, points=cast("Any", points), pairs=pairs)
    found.update_matches(reading.load(results), side)
    if as_json:
        echo_json(found.to_dict())
        return
    for line in found.lines():
        typer.echo(line)
