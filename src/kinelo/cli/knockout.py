"""``kinelo knockout``: how a cup may end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinelo.cli.options import Json, MatchesFile, RaterName, ReadingOptions, grouped
from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC


@grouped
def knockout(
    results: MatchesFile,
    sides: Annotated[
        list[str],
        typer.Argument(help="The bracket: 2, 4, 8, … sides, first against second, third against fourth, and so on."),
    ],
    reading: ReadingOptions,
    rater: RaterName = AUTOMATIC,
    date: Annotated[
        str | None, typer.Option(help="Day of the cup (2024-06-01); by default the day after the last result.")
    ] = None,
    realisations: Annotated[int, typer.Option(min=1, help="How many times the cup is played.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same table.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write the chances to this CSV file.")] = None,
    as_json: Json = False,
) -> None:
    """Play a cup many times: the chance of every side to win each round, on neutral ground.

    Example:  kinelo knockout league/results.csv Ashford Bramley Calder Dunmore
    """
    from kinelo.cli.loading import plain_warnings, write_csv
    from kinelo.cli.rating import check_rater, fit_rater
    from kinelo.forecasts.knockout import check_bracket, knockout_table
    from kinelo.forecasts.knockout import knockout as played
    from kinelo.matches.dated import read_day

    check_bracket(sides)
    check_rater(rater, reading)
    day = None if date is None else read_day(date)
    past = reading.load(results)
    if strange := [name for name in sides if name not in past.teams]:
        raise InputError(_strange(strange, past.teams))
    with plain_warnings():
        fitted, _ = fit_rater(rater, past, reading)
        day = past.date[-1] + 1 if day is None else day
        cup = played(fitted, sides, date=str(day), realisations=realisations, seed=seed)
    if out is not None:
        write_csv(cup.to_polars(), out)
    if as_json:
        content = {"rater": type(fitted).__name__, "date": str(day), "realisations": realisations}
        echo_json(content | cup.to_dict())
        return
    when = f" on {day}" if past.dated or date else ""
    title = f"{len(sides)} sides{when}, {realisations:,} times, {type(fitted).__name__}"
    console().print(knockout_table(cup, title))


def _strange(names: list[str], known: tuple[str, ...]) -> str:
    """What to say of sides that have never played."""
    from kinelo.raters.name_index import nearest_names

    near = nearest_names(names[0], sorted(known))
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"{', '.join(map(repr, names))} has no match in these results.{meant}"
