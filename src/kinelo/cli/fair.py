"""``kinelo fair``: which handicap makes a match even."""

from __future__ import annotations

from typing import Annotated

import typer

from kinelo.cli.known import BookOption, ResultsOption
from kinelo.cli.options import AnyReadingOptions, Json, RaterName, grouped
from kinelo.cli.streams import echo_json
from kinelo.errors import InputError
from kinelo.matches.kind import SIZE
from kinelo.raters.choice import AUTOMATIC


@grouped
def fair(
    match: Annotated[str, typer.Argument(help="The match as 'HOME - AWAY'.")],
    reading: AnyReadingOptions,
    book: BookOption = None,
    results: ResultsOption = None,
    rater: RaterName = AUTOMATIC,
    of: Annotated[str | None, typer.Option(help="Which covariate, where the rater has several.")] = None,
    given: Annotated[
        list[str] | None, typer.Option(help="Another covariate or condition, as NAME=VALUE; may be repeated.")
    ] = None,
    neutral: Annotated[bool, typer.Option("--neutral", help="Nobody is at home.")] = False,
    date: Annotated[str | None, typer.Option(help="Day of the match; by default the last day known.")] = None,
    as_json: Json = False,
) -> None:
    """Say which value of a covariate, such as a handicap, makes a match even.

    Example:  kinelo fair 'Ann - Bob' --results games.csv --covariate stones --neutral
    Example:  kinelo fair 'Ann - Bob' --book club.db --json
    Example:  kinelo fair 'Ann; Bob; Cid' --results races.csv --covariate weight
    """
    from kinelo.cli.known import rater_of, typed_names
    from kinelo.cli.loading import plain_warnings
    from kinelo.raters.questions import fair_value

    contest = ";" in match
    names = [name.strip() for name in match.split(";" if contest else " - ")]
    if not all(names) or len(names) < 2 or (len(names) > 2 and not contest):
        raise InputError(f"{match!r:.60} is neither of the form 'HOME - AWAY' nor 'ANN; BOB; CID'.")
    said = dict(_given(one) for one in given or ())
    if contest and (said or neutral):
        raise InputError(f"{match!r:.60} is a contest, for which there is no {'--given' if said else '--neutral'}.")
    names = typed_names(names, reading)
    known, _ = rater_of(book, results, rater, reading, contest=contest)
    columns = [name for name in getattr(known, "covariates", None) or () if not contest or name != SIZE]
    if not columns:
        raise InputError(
            f"This {type(known).__name__} uses no covariates; give --covariate COLUMN with --results FILE."
        )
    if of is None and len(columns) > 1:
        raise InputError(f"Say which covariate to find: --of takes {', '.join(columns[:-1])} or {columns[-1]}.")
    asked = columns[0] if of is None else of
    values = {name: _number(name, value) if name in columns else value for name, value in said.items()}
    with plain_warnings():
        if contest:
            value = fair_value(known, names, covariate=asked, date=date)
        else:
            value = fair_value(known, *names, asked, date=date, neutral=neutral, given=values)
        (effect,) = known.effects_.filter(name=asked).to_dicts()
    if contest:
        if as_json:
            content = {"rater": type(known).__name__, "covariate": asked, "fair": value}
            echo_json(content | {name: effect[name] for name in ("effect", "standard_error")})
            return
        for name, number in value.items():
            typer.echo(f"{name}: {asked} {number:+.2f} against the mean of all")
        typer.echo(f"A unit of it is worth {effect['effect']:.1f} ± {effect['standard_error']:.1f} points.")
        return
    if as_json:
        content = {"rater": type(known).__name__, "home": names[0], "away": names[1], "covariate": asked, "fair": value}
        echo_json(content | {name: effect[name] for name in ("effect", "standard_error")})
        return
    points = f"a unit of it is worth {effect['effect']:.1f} ± {effect['standard_error']:.1f} points to the first side"
    typer.echo(f"{names[0]} – {names[1]} is even at {asked} = {value:.2f}; {points}.")


def _given(said: str) -> tuple[str, str]:
    name, equals, value = said.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise InputError(f"--given {said!r:.60} is not of the form NAME=VALUE.")
    return name.strip(), value.strip()


def _number(name: str, value: str) -> float:
    try:
        return float(value.replace("−", "-"))
    except ValueError:
        raise InputError(f"--given {name}={value!r:.40} is no number, and {name} is a covariate.") from None
