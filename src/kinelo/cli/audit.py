"""``kinelo audit``: is the rating system of this league any good, and which K should it have?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.cli.files import page_name, picture_name
from kinelo.cli.options import AnyReadingOptions, Federation, Json, ResultsFile, grouped
from kinelo.cli.streams import console, echo_json, option_words
from kinelo.errors import InputError
from kinelo.matches.kind import CONTESTS
from kinelo.raters.choice import AUTOMATIC, rater_help

if TYPE_CHECKING:
    from kinelo.advice.audit.audit import Audit
    from kinelo.advice.audit.contests import ContestAudit


@grouped
def audit(
    results: ResultsFile,
    options: AnyReadingOptions,
    federation: Federation,
    home_advantage: Annotated[
        float | None,
        typer.Option(help="Home advantage in use, in points; by default that of the earlier half."),
    ] = None,
    rater: Annotated[
        str | None,
        typer.Option(help=f"Instead of a K, the rater in use: {rater_help()}; it is held against Elo at its best K."),
    ] = None,
    ratings: Annotated[
        Path | None, typer.Option(help="Table of the ratings in use: name, rating, perhaps deviation.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Answer by group too: a column of the file (or home_ and away_ one), or a file of name, group."
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="The group of --by that stands still: inflation, gains and biases are told next to it."),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Leave out matches before this day.")] = None,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(help="Write a page to share to this file, NAME.html.", callback=page_name)
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page: the name of the league.")] = None,
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
) -> None:
    """Say what a league's rating system does to it, which K it should have, and what moving there buys.

    The system in use is plain Elo with --k (32 unless given), --k-of or --rules, or the --rater.

    With --by it says of each group where it should enter, whether it grows stronger, inflates or is rated too high:
    next to all sides, or next to the group of --reference.

    With --lineups it also says how much performances vary, and what that does to ratings.

    Of contests of many entrants it says which K suits plain Elo, where newcomers should start, whether like meets like,
    and with --noise-by how luck differs.

    Example:  kinelo audit league/results.csv --k 32 --picture which-k.png --out audit.html
    """
    from kinelo.advice.audit.audit import audit as run
    from kinelo.cli.loading import kind_of_file, plain_warnings

    if title is not None and out is None:
        raise InputError("--title is the heading of a page: give --out too.")
    kind = kind_of_file(results, options.column)
    if kind is CONTESTS:
        asked = {"--home-advantage": home_advantage, "--ratings": ratings, "--by": by, "--reference": reference}
        _refuse(asked | {"--check": check}, results)
        if rater is None and (name := _first(options, "--condition", "--covariate")):
            raise InputError(f"Plain Elo uses no {name}; --rater rank does, and --noise-by asks for luck.")
        matches = options.load(results, kind=kind)
    else:
        if name := _first(options, "--condition", "--noise-by", "--covariate"):
            raise InputError(f"An audit of matches of two sides takes no {name}; --by answers by group.")
        matches = options.load(results, conditions=_group_columns(by, results) or [])
    federation.check_names(matches)
    if since is not None:
        matches = matches.since(since)
    start = options.start
    with plain_warnings():
        if kind is CONTESTS:
            judged = run(matches, _contests_rated_by(rater, federation, options), progress=sys.stderr.isatty())
        else:
            in_use = _system_in_use(rater, federation, start, home_advantage)
            judged = run(matches, in_use, ratings=ratings, by=by, reference=reference, progress=sys.stderr.isatty())
    _show(judged, lineups=options.lineups is not None, as_json=as_json)
    if out is not None:
        from kinelo.pages.page import write_page

        typer.echo(f"Page: {write_page(judged, out, title=title)}", err=as_json)
    for path, name in ((picture, "audit"), (check, "check")):
        if path is not None:
            from kinelo.pictures.audit import draw_audit, draw_check
            from kinelo.pictures.style import save

            figure = draw_audit(judged) if name == "audit" else draw_check(judged.check)
            typer.echo(f"Picture: {save(figure, path)}", err=as_json)


def _first(options: AnyReadingOptions, *names: str) -> str | None:
    """The first of some options that was given."""
    return next((name for name in names if name in options.asked()), None)


def _refuse(asked: dict[str, Any], results: Path) -> None:
    """Refuse what is asked of contests and holds for matches alone."""
    for name, value in asked.items():
        if value is not None:
            raise InputError(f"{results} holds contests of many entrants, for which there is no {name}.")


def _contests_rated_by(rater: str | None, federation: Federation, options: AnyReadingOptions) -> Any:
    """The rater of contests that is in use: plain Elo with a K, or another one."""
    from kinelo.raters.choice import rater_called
    from kinelo.raters.team.rater import TeamElo

    plain = federation.rater(AUTOMATIC, options.start)
    if rater is None:
        return TeamElo.classic(start=options.start) if plain is None else plain
    if plain is not None:
        raise InputError("--rater is no plain Elo: leave out --k, --k-of, --rules and --initial.")
    return rater_called(rater, *options.asked_of_rater(), kind=CONTESTS)


def _group_columns(by: str | None, results: Path) -> list[str] | None:
    """The columns of the file that tell groups, unless a list of names and groups does."""
    if by is None or Path(by).is_file():
        return None
    from kinelo.advice.audit.groups import columns_of
    from kinelo.matches.loading import head_of

    return columns_of(by, head_of(results).columns) if results.is_file() else None


def _system_in_use(rater: str | None, federation: Federation, start: Path | None, home: float | None) -> Any:
    """The rater asked for, or plain Elo as the federation plays it."""
    from kinelo.raters.choice import rater_called
    from kinelo.raters.team.rater import TeamElo

    plain = federation.rater(AUTOMATIC, start)
    if rater is None:
        return (TeamElo.classic(start=start) if plain is None else plain).set_params(home_advantage=home)
    if plain is not None or start is not None or home is not None:
        raise InputError("--rater is no plain Elo: leave out --k, --k-of, --rules, --start and --home-advantage.")
    return rater_called(rater)


def _show(found: Audit | ContestAudit, *, lineups: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from kinelo.advice.audit.audit import Audit
    from kinelo.advice.audit.words import performance_words

    by_lineups = found if lineups and isinstance(found, Audit) else None
    if as_json:
        more = {}
        if by_lineups is not None:
            more = {"performance": asdict(by_lineups.performance), "recovered": asdict(by_lineups.recovered())}
        echo_json(found.to_dict() | more, indent=2)
        return
    console().print(found)
    for note in found.notes:
        typer.echo(f"note: {option_words(note)}")
    if by_lineups is not None:
        for words in performance_words(by_lineups.performance, by_lineups.recovered()):
            typer.echo(words)
