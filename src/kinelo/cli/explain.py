"""``kinelo preview`` and ``kinelo explain``: what a match would change, and why one changed ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kinelo.cli.files import is_page
from kinelo.cli.known import BookOption, ResultsOption
from kinelo.cli.options import AnyReadingOptions, Json, RaterName, grouped
from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC
from kinelo.raters.qualifying import LAST_EXPLAINED


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
    import kinelo as kn
    from kinelo.cli.known import rater_of, typed_names
    from kinelo.cli.loading import plain_warnings

    contest = ";" in match
    names = [name.strip() for name in match.split(";" if contest else " - ")]
    if not all(names) or len(names) < 2 or (len(names) > 2 and not contest):
        raise InputError(f"{match!r:.60} is neither of the form 'HOME - AWAY' nor 'ANN; BOB; CID'.")
    names = typed_names(names, reading)
    said: dict[str, Any] = {} if date is None else {"date": date}
    if contest:
        of_matches = {"--neutral": neutral, "--home-lineup": home_lineup, "--away-lineup": away_lineup}
        for name in (name for name, value in of_matches.items() if value):
            raise InputError(f"{match!r:.60} is a contest, for which there is no {name}.")
        said |= {"of": typed_names(of, reading)} if of else {}
    elif of:
        raise InputError("--of asks about places of a contest, 'ANN; BOB; CID'.")
    if neutral:
        said["neutral"] = True
    for name, lineup in (("home_lineup", home_lineup), ("away_lineup", away_lineup)):
        if lineup is not None:
            said[name] = typed_names([player.strip() for player in lineup.split(",")], reading)
    known, _ = rater_of(book, results, rater, reading, contest=contest)
    with plain_warnings():
        found = kn.preview(known, *([names] if contest else names), **said)
    if as_json:
        echo_json({"rater": type(known).__name__, **found.to_dict()})
    else:
        console().print(found.table())
        for line in found.lines():
            typer.echo(line)


@grouped
def explain(
    reading: AnyReadingOptions,
    match: Annotated[
        str | None, typer.Argument(help="Identifier of the match (its row without one), or of the contest.")
    ] = None,
    book: BookOption = None,
    results: ResultsOption = None,
    rater: RaterName = AUTOMATIC,
    of: Annotated[str | None, typer.Option(help="In place of a match: whose last matches to explain.")] = None,
    last: Annotated[int | None, typer.Option(min=1, help=f"How many of them: {LAST_EXPLAINED} unless given.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the page of --of to this file: NAME.html.")] = None,
    as_json: Json = False,
) -> None:
    """Say why a match moved ratings by so much, or why somebody's rating moved, as terms that add up to the change.

    Example:  kinelo explain M-2014-61 --book league.db
    Example:  kinelo explain 17 --results league/results.csv --rater team
    Example:  kinelo explain --of Ashford --last 5 --book league.db --out ashford.html
    """
    import kinelo as kn
    from kinelo.cli.known import rater_of, typed_names
    from kinelo.cli.loading import plain_warnings

    if (match is None) == (of is None):
        raise InputError("Say what to explain: either a match, or somebody's last matches (--of NAME).")
    if last is not None and of is None:
        raise InputError("--last counts somebody's last matches: give --of NAME.")
    last, of = last or LAST_EXPLAINED, None if of is None else typed_names([of], reading)[0]
    if out is not None and (of is None or not is_page(out)):
        raise InputError("--out writes the page of somebody: give --of NAME and a file whose name ends in .html.")

    known, played = rater_of(book, results, rater, reading, history=True)
    if played is None:
        raise InputError(f"{book} holds no matches.")
    with plain_warnings():
        if of is not None:
            found = kn.explain_last(known, of, played, last=last)
        elif book is not None:  # which knows what came late
            found = kn.explain(kn.RatingBook(book), str(match))
        else:
            found = kn.explain(known, str(match), played)
        if out is not None:
            from kinelo.pages.page import write_page

            typer.echo(f"Page: {write_page(known, out, matches=played, of=of, last=last)}", err=as_json)
    if as_json:
        echo_json({"rater": type(known).__name__, **found.to_dict()})
        return
    for line in found.lines():
        typer.echo(line)
