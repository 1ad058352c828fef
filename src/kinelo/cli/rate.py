"""``kinelo rate``: ratings from a file of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kinelo.cli.federation_list import ListOptions, show_list
from kinelo.cli.files import is_page, picture_name
from kinelo.cli.options import (
    MATCHES_HELP,
    AnyReadingOptions,
    Federation,
    Json,
    RaterName,
    Rejects,
    ShownOptions,
    grouped,
)
from kinelo.cli.streams import echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC

RESULTS_HELP = (
    f"{MATCHES_HELP}; or contests, with a row for each entrant. Files of a pattern such as 'games/*.parquet' are read "
    "one after the other."
)


@grouped
def rate(
    results: Annotated[Path, typer.Argument(help=RESULTS_HELP)],
    reading: AnyReadingOptions,
    federation: Federation,
    listing: ListOptions,
    shown: ShownOptions,
    rater: RaterName = AUTOMATIC,
    covariate: Annotated[
        list[str] | None,
        typer.Option(help="A column of numbers that speak for the first side, for bradley-terry; may be repeated."),
    ] = None,
    book: Annotated[
        str | None, typer.Option(help="Rating book to start or to carry on with these matches: a file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write all ratings to this CSV file, or a page to share: NAME.html.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(callback=picture_name, help="Draw rating histories into this PNG file.")
    ] = None,
    rejects: Rejects = None,
    as_json: Json = False,
) -> None:
    """Rate the sides (or players) of a file of results, or the entrants of contests, and show the leaderboard.

    Parameters are estimated from the file; a rating book keeps its rater and the parameters it was started with.

    With --k or --k-of it is plain Elo, and with --rules fide the next monthly list by FIDE's regulations (results may
    be a tournament report, TRF); nothing is estimated.

    Example:  kinelo rate league/results.csv --lineups league/lineups.csv --out ratings.csv
    Example:  kinelo rate league/results.csv --out ratings.html
    Example:  kinelo rate races.csv --slot driver --slot car
    Example:  kinelo rate open.trf --rules fide --start list.csv --out new-list.csv
    """
    from kinelo.advice.audit.inflation import rating_inflation
    from kinelo.advice.audit.words import inflation_words
    from kinelo.book.book import is_book
    from kinelo.cli.contests import rate_file, rate_in_chunks
    from kinelo.cli.loading import holds_contests, plain_warnings, write_csv
    from kinelo.cli.rating import (
        add_to_book,
        check_rater,
        content_of,
        fit_rater,
        open_book,
        show_estimates,
        show_leaderboard,
        show_tables,
        with_covariates,
    )
    from kinelo.raters.adapter import conditions_of
    from kinelo.raters.tables import effects_table, luck_table

    contests = holds_contests(results, reading.column)
    if any(sign in str(results) for sign in "*?["):
        if contests and not (book or picture or rejects or as_json or covariate or is_page(out)):
            asked = {"rater": rater, "federation": federation, "shown": shown, "out": out}
            rate_in_chunks(str(results), reading, asked)
            return
        others = {*reading.asked()} - {"--column"}
        if book or picture or rejects or as_json or covariate or others or federation != Federation() or is_page(out):
            raise InputError(
                "Of a pattern of files, only --rater, --column, --active-days, --least-matches, --top and --out "
                "FILE.csv can be asked."
            )
        _rate_in_pieces(str(results), rater, reading, shown, out)
        return

    if contests:
        if covariate:
            raise InputError(f"{results} holds contests of many entrants, for which there is no --covariate.")
        asked = {"rater": rater, "book": book, "out": out, "picture": picture, "rejects": rejects, "as_json": as_json}
        rate_file(results, reading, federation, shown, asked)
        return

    kept, choice = None, None
    lists = listing.rater(results, rater, federation, reading)
    if lists is not None and is_page(out):
        raise InputError("A list is written as a table: --out NAME.csv.")
    own = lists or federation.rater(rater, *reading.asked_of_rater())
    if covariate:
        if own is not None or book is not None or reading.start is not None or reading.columns_asked():
            raise InputError(
                "--covariate goes with --rater bradley-terry alone: leave out --k, --book, --start and others."
            )
        own = with_covariates(rater, covariate)
    if book is not None and is_book(book):
        if own is not None:
            raise InputError(f"{book} keeps its rater; leave out --k, --k-of, --rules and --initial or start another.")
        with plain_warnings():
            kept = open_book(book, rater, reading)
    else:
        check_rater(rater, reading)
    asked = lists if kept is None else kept.rater
    conditions = covariate or (reading.columns_asked() if asked is None else list(conditions_of(asked)))
    matches = reading.load(results, rejects, conditions)
    federation.check_names(matches)
    with plain_warnings():
        rated: Any = None
        if own is not None:
            rated = own.fit(matches)
        elif kept is None:
            rated, choice = fit_rater(rater, matches, *reading.asked_of_rater())
        if book is not None:
            rated = add_to_book(book, kept, rated, matches, quiet=as_json)
        worth = None if kept is not None else rating_inflation(rated, matches)
    if as_json:
        echo_json(content_of(rated, matches, choice) | {"inflation": None if worth is None else worth.to_dict()})
    elif hasattr(rated, "list_table"):
        show_list(rated, shown.top)
    else:
        title = f"{len(matches):,} matches, {getattr(rated, 'label', type(rated).__name__)}"
        show_leaderboard(rated, matches, title, shown)
        show_estimates(rated)
        show_tables(effects_table(rated), luck_table(rated))
        if worth is not None:
            typer.echo(f"Inflation: {'; '.join(inflation_words(worth))}.")
    if is_page(out):
        from kinelo.pages.page import write_page

        typer.echo(
            f"Page: {write_page(rated, out, matches=matches, title=results.stem, ranking=shown.ranking())}", err=as_json
        )
    elif out is not None:
        write_csv(rated.ratings_, out)
        typer.echo(f"Ratings: {out}", err=as_json)
    if picture is not None:
        from kinelo.pictures.histories import draw_histories
        from kinelo.pictures.style import save
        from kinelo.raters.history import rating_history

        drawn = save(draw_histories(rating_history(rated, matches)), picture)
        typer.echo(f"Picture: {drawn}", err=as_json)


def _rate_in_pieces(
    pattern: str, rater: str, reading: AnyReadingOptions, shown: ShownOptions, out: Path | None
) -> None:
    """Rate files that need not fit into memory and show the leaderboard."""
    from kinelo.cli.loading import column_mapping, plain_warnings, write_csv
    from kinelo.cli.rating import fit_rater, show_leaderboard
    from kinelo.matches.scan import scan_matches

    scan = scan_matches(pattern, column_mapping(reading.column), accept_losses=reading.accept_losses)
    for note in scan.notes:
        typer.echo(f"note: {note}", err=True)
    with plain_warnings():
        rated, _ = fit_rater(rater, scan)
    table = rated.ratings_
    played = int(table["matches"].sum()) // 2
    title = f"{played:,} matches of {len(scan.files):,} files, {table.height:,} names, {type(rated).__name__}"
    show_leaderboard(rated, None, title, shown)
    if out is not None:
        write_csv(table, out)
        typer.echo(f"Ratings: {out}")
