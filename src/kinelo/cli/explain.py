"""``kinelo balance``, ``fair``, ``preview`` and ``explain``: questions about single matches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kinelo.cli.loading import named_value, plain_warnings
from kinelo.cli.options import AnyReadingOptions, Json, RaterName, grouped
from kinelo.cli.output import console, echo_json, is_page
from kinelo.cli.rating import BookOption, ResultsOption, rater_of, typed_names
from kinelo.errors import InputError
from kinelo.matches.kind import SIZE
from kinelo.raters.choice import AUTOMATIC
from kinelo.raters.qualifying import LAST_EXPLAINED


@grouped
def balance(
    reading: AnyReadingOptions,
    players: Annotated[list[str] | None, typer.Argument(help="Names of those who are there.")] = None,
    lobby: Annotated[Path | None, typer.Option(help="A file of their names instead, one a line.")] = None,
    book: BookOption = None,
    results: ResultsOption = None,
    rater: RaterName = AUTOMATIC,
    sides: Annotated[str, typer.Option(help="How many sides, or their sizes, such as 5,4.")] = "2",
    together: Annotated[
        list[str] | None, typer.Option(help="Names for one side, such as 'Ann, Bob'; may be repeated.")
    ] = None,
    apart: Annotated[
        list[str] | None, typer.Option(help="Names for different sides, such as 'Ann, Bob'; may be repeated.")
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option(help="NAME=ROLE; each side gets its share of a role. May be repeated.")
    ] = None,
    newcomers: Annotated[int, typer.Option(min=0, help="Spread those with fewer matches than this.")] = 0,
    show: Annotated[int, typer.Option(min=1, help="How many splits to show.")] = 5,
    date: Annotated[str | None, typer.Option(help="Day of the match; by default the last day known.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search, where there are too many splits.")] = 1,
    as_json: Json = False,
) -> None:
    """Split those who are there into teams so that the match is as even as can be.

    Example:  kinelo balance Ann Bob Cid Dee Eve Fay --book arena.db --together 'Ann, Bob'
    Example:  kinelo balance --lobby lobby.txt --results races.csv --sides 3 --json
    """
    import kinelo as kn
    from kinelo.matches.loading import decode
    from kinelo.runtime.reading import check_file

    if lobby is None and not players:
        raise InputError("Name those who are there, or give a file of names: --lobby FILE.")
    if lobby is not None and players:
        raise InputError("Give names or --lobby FILE, not both.")
    if lobby is not None:
        check_file(lobby)
        raw, _ = decode(lobby.read_bytes(), str(lobby))
        players = [line.strip() for line in raw.decode("utf-8", "replace").splitlines() if line.strip()]
    names = typed_names(players or [], reading)
    try:
        sizes = [int(word) for word in sides.split(",")]
    except ValueError:
        raise InputError(f"--sides {sides!r:.40} is neither a number of sides nor sizes such as 5,4.") from None
    asked = {"together": together or (), "apart": apart or ()}
    wishes = {
        name: [typed_names(list(filter(None, map(str.strip, words.split(",")))), reading) for words in several]
        for name, several in asked.items()
    }
    named = (named_value("--role", words, "NAME=ROLE", last=True) for words in role or ())
    roles = {typed_names([name], reading)[0]: part for name, part in named}
    known, _ = rater_of(book, results, rater, reading)
    with plain_warnings():
        found = kn.balance(
            known,
            names,
            sizes if len(sizes) > 1 else sizes[0],
            **wishes,
            roles=roles or None,
            newcomers=newcomers,
            best=show,
            date=date,
            seed=seed,
        )
    for name in found.unknown:
        typer.echo(f"warning: {name} has never played and counts as a newcomer", err=True)
    if as_json:
        echo_json({"rater": type(known).__name__, **found.to_dict()})
        return
    console().print(found.table())
    for line in found.lines():
        typer.echo(line)


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
    from kinelo.raters.questions import fair_value

    names, contest = _sides_of(match)
    values: dict[str, Any] = dict(named_value("--given", words, "NAME=VALUE") for words in given or ())
    if contest and (values or neutral):
        raise InputError(f"{match!r:.60} is a contest, for which there is no {'--given' if values else '--neutral'}.")
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
    for name in values.keys() & columns:
        try:
            values[name] = float(values[name].replace("−", "-"))
        except ValueError:
            raise InputError(f"--given {name}={values[name]!r:.40} is no number, and {name} is a covariate.") from None
    with plain_warnings():
        if contest:
            value: Any = fair_value(known, names, covariate=asked, date=date)
        else:
            value = fair_value(known, names[0], names[1], asked, date=date, neutral=neutral, given=values)
        (effect,) = known.effects_.filter(name=asked).to_dicts()
    if as_json:
        sides = {} if contest else {"home": names[0], "away": names[1]}
        content = {"rater": type(known).__name__, **sides, "covariate": asked, "fair": value}
        echo_json(content | {name: effect[name] for name in ("effect", "standard_error")})
        return
    points = f"unit of it is worth {effect['effect']:.1f} ± {effect['standard_error']:.1f} points"
    if contest:
        for name, number in value.items():
            typer.echo(f"{name}: {asked} {number:+.2f} against the mean of all")
        typer.echo(f"A {points}.")
    else:
        typer.echo(f"{names[0]} – {names[1]} is even at {asked} = {value:.2f}; a {points} to the first side.")


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

    names, contest = _sides_of(match)
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
        found = kn.preview(known, names if contest else names[0], None if contest else names[1], **said)
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


def _sides_of(match: str) -> tuple[list[Any], bool]:
    """Who meets in a match or contest that is typed, and whether it is a contest."""
    contest = ";" in match
    names = [name.strip() for name in match.split(";" if contest else " - ")]
    if not all(names) or len(names) < 2 or (len(names) > 2 and not contest):
        raise InputError(f"{match!r:.60} is neither of the form 'HOME - AWAY' nor 'ANN; BOB; CID'.")
    return names, contest
