"""``kinelo preview`` and ``kinelo explain``: what a match would change, and why one changed ratings."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kinelo.cli.known import BookOption, ResultsOption
from kinelo.cli.options import AnyReadingOptions, Json, RaterName, grouped
from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC


@grouped
def preview(
    match: Annotated[str, typer.Argument(help="A match as 'HOME - AWAY', or a contest as 'ANN; BOB; CID'.")],
    reading: AnyReadingOptions,
    book: BookOption = None,
    results: ResultsOption = None,
    rater: RaterName = AUTOMATIC,
    neutral: Annotated[bool, typer.Option("--neutral", help="Nobody is at home.")] = False,
    date: Annotated[str | None, typer.Option(help="Day of the match; by default the last day known.")] = None,
    home_lineup: Annotated[str | None, typer.Option(help="Who plays for the first side: 'Ann, Bob'.")] = None,
    away_lineup: Annotated[str | None, typer.Option(help="Who plays for the other side.")] = None,
    of: Annotated[list[str] | None, typer.Option(help="Of a contest: whose places to try; may be repeated.")] = None,
    as_json: Json = False,
) -> None:
    """Show what everyone would gain or lose by each result of a match, or by each place of a contest.

    Example:  kinelo preview 'Ashford - Bramley' --book league.db
    Example:  kinelo preview 'Ann; Bob; Cid' --results races.csv --json
    """
    from kinelo.cli.known import rater_of
    from kinelo.cli.loading import plain_warnings

    contest = ";" in match
    names = [name.strip() for name in match.split(";" if contest else " - ")]
    if not all(names) or len(names) < 2 or (len(names) > 2 and not contest):
        raise InputError(f"{match!r:.60} is neither of the form 'HOME - AWAY' nor 'ANN; BOB; CID'.")
    said: dict[str, Any] = {} if date is None else {"date": date}
    if contest:
        said |= {"of": of} if of else {}
    elif of:
        raise InputError("--of asks about places of a contest, 'ANN; BOB; CID'.")
    if neutral:
        said["neutral"] = True
    for name, lineup in (("home_lineup", home_lineup), ("away_lineup", away_lineup)):
        if lineup is not None:
            said[name] = [player.strip() for player in lineup.split(",")]
    known, _ = rater_of(book, results, rater, reading)
    with plain_warnings():
        found = _asked(known, "preview")(*([names] if contest else names), **said)
    if as_json:
        echo_json({"rater": type(known).__name__, **found.to_dict()})
    else:
        console().print(found.table())
        for line in found.lines():
            typer.echo(line)


@grouped
def explain(
    match: Annotated[str, typer.Argument(help="Identifier of the match (its row without one), or of the contest.")],
    reading: AnyReadingOptions,
    book: BookOption = None,
    results: ResultsOption = None,
    rater: RaterName = AUTOMATIC,
    as_json: Json = False,
) -> None:
    """Say why a match moved ratings by so much, as terms that add up to the change.

    Example:  kinelo explain M-2014-61 --book league.db
    Example:  kinelo explain 17 --results league/results.csv --rater team
    """
    from kinelo.cli.known import rater_of
    from kinelo.cli.loading import plain_warnings

    known, played = rater_of(book, results, rater, reading, history=True)
    if played is None:
        raise InputError(f"{book} holds no matches.")
    with plain_warnings():
        found = _asked(known, "explain")(match, played)
    if as_json:
        echo_json({"rater": type(known).__name__, **found.to_dict()})
        return
    for line in found.lines():
        typer.echo(line)


def _asked(rater: Any, verb: str) -> Any:
    if not hasattr(rater, verb):
        raise InputError(f"{type(rater).__name__} has no {verb}; the raters of Kinelo have it.")
    return getattr(rater, verb)
