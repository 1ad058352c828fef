"""``kinelo rate``: ratings from a file of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.cli.leaderboard import ACTIVE_HELP, LEAST_HELP, show_leaderboard
from kinelo.cli.loading import COLUMN_HELP, Aliases, Conditions, DropRepeats, ResultScale, StartingRatings
from kinelo.cli.picture import picture_name
from kinelo.errors import InputError
from kinelo.raters.choice import RATER_HELP

if TYPE_CHECKING:
    from kinelo.book.book import RatingBook
    from kinelo.matches.matches import Matches
    from kinelo.raters.rater import Rater


RESULTS_HELP = "Results: CSV or Parquet with date, two sides, scores or result; 'games/*.parquet' is read in pieces."


def rate(
    results: Annotated[Path, typer.Argument(help=RESULTS_HELP)],
    lineups: Annotated[Path | None, typer.Option(help="Line-ups: match, side, player, perhaps minutes.")] = None,
    rater: Annotated[
        str | None,
        typer.Option(help=f"{RATER_HELP}; by default team, or player with line-ups."),
    ] = None,
    book: Annotated[Path | None, typer.Option(help="Rating book to start or to carry on with these matches.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write all ratings to this CSV file.")] = None,
    picture: Annotated[
        Path | None, typer.Option(callback=picture_name, help="Draw rating histories into this PNG file.")
    ] = None,
    rejects: Annotated[Path | None, typer.Option(help="Write rows that could not be used to this CSV file.")] = None,
    column: Annotated[list[str] | None, typer.Option(help=COLUMN_HELP)] = None,
    aliases: Aliases = None,
    scale: ResultScale = None,
    drop_repeats: DropRepeats = False,
    condition: Conditions = None,
    start: StartingRatings = None,
    top: Annotated[int, typer.Option(min=1, help="How many to show.")] = 20,
    active_days: Annotated[float, typer.Option(min=0, help=ACTIVE_HELP)] = 730,
    least_matches: Annotated[int, typer.Option(min=0, help=LEAST_HELP)] = 10,
) -> None:
    """Rate the sides (or players) of a file of results and show the leaderboard.

    Parameters are estimated from the file; a rating book keeps the ones it was started with.

    Example:  kinelo rate league/results.csv --lineups league/lineups.csv --out ratings.csv
    """
    from kinelo.cli.loading import load, plain_warnings, rater_or_usual, told_by_book, write_csv
    from kinelo.raters.choice import rater_called

    if any(sign in str(results) for sign in "*?["):
        if lineups or book or picture or rejects or aliases or scale or drop_repeats or condition or start:
            raise InputError("of a pattern of files, only --rater, --column, --top and --out can be asked.")
        _rate_in_pieces(str(results), rater or "team", column, top, out)
        return

    kind = rater_or_usual(rater, lineups)
    with plain_warnings():
        kept = _opened(book, rater)
    if kept is not None:
        condition = told_by_book(kept.path, kept.rater, condition, start)
    rated: Any = rater_called(kind, start, condition or ()) if kept is None else None
    matches = load(
        results, lineups, column, rejects, aliases=aliases, scale=scale, drop_repeats=drop_repeats, conditions=condition
    )
    with plain_warnings():
        if kept is None:
            rated = rated.fit(matches)
        if book is not None:
            rated = _add(book, kept, rated, matches)
    title = f"{len(matches):,} matches, {type(rated).__name__}"
    show_leaderboard(rated, matches, title, top, active_days=active_days, least_matches=least_matches)
    _show_parameters(rated)
    if out is not None:
        write_csv(rated.ratings_, out)
        typer.echo(f"Ratings: {out}")
    if picture is not None:
        from kinelo.pictures.histories import draw_histories
        from kinelo.pictures.style import save
        from kinelo.raters.history import rating_history

        typer.echo(f"Picture: {save(draw_histories(rating_history(rated, matches)), picture)}")


def _rate_in_pieces(pattern: str, kind: str, column: list[str] | None, top: int, out: Path | None) -> None:
    """Rate files that need not fit into memory and show the best, active or not."""
    from kinelo.cli.loading import column_mapping, plain_warnings, write_csv
    from kinelo.matches.scan import scan_matches
    from kinelo.raters.choice import rater_called

    scan = scan_matches(pattern, column_mapping(column))
    for note in scan.notes:
        typer.echo(f"note: {note}", err=True)
    with plain_warnings():
        rated = rater_called(kind).fit(scan)
    table = rated.ratings_
    played = int(table["matches"].sum()) // 2
    typer.echo(f"{played:,} matches of {len(scan.files):,} files, {table.height:,} names, {type(rated).__name__}")
    for place, row in enumerate(table.head(top).iter_rows(named=True), 1):
        typer.echo(
            f"{place:>4}  {row['name']:<30} {row['rating']:>9.1f} ± {row['uncertainty']:<7.1f} {row['matches']:>8,}"
        )
    if out is not None:
        write_csv(table, out)
        typer.echo(f"Ratings: {out}")


def _opened(book: Path | None, asked: str | None) -> RatingBook | None:
    """The book to carry on, if there is one already."""
    from kinelo.book.book import RatingBook
    from kinelo.raters.choice import rater_called

    if book is None or not (book / "book.knl").exists():
        return None
    # The book finds a class of the user's once its module is imported.
    kind = None if asked is None else type(rater_called(asked))
    kept = RatingBook(book)
    if kind is not None and kind is not type(kept.rater):
        raise InputError(
            f"{book} is a book of {type(kept.rater).__name__}; leave --rater {asked} away or start another"
        )
    return kept


def _add(book: Path, kept: RatingBook | None, fitted: Rater | None, matches: Matches) -> Rater:
    """Count matches in a book, which is begun with the rater fitted where there is none yet."""
    from kinelo.book.book import RatingBook
    from kinelo.results.disk import disk_errors_in_words

    with disk_errors_in_words(book):
        kept = RatingBook(book, fitted) if kept is None else kept
        added = kept.add(matches)
    changed = f"{added.changed:,} changed, " if added.changed else ""
    typer.echo(
        f"Book {book}: {added.new:,} new matches, {changed}{added.known:,} counted before, {len(kept):,} in all."
    )
    return kept.rater


def _show_parameters(rater: Rater) -> None:
    """One line of parameters: the estimates with their standard errors."""
    found = getattr(rater, "estimates_", None)
    if found is None:
        return
    parts = []
    for name, value in found.values.items():
        error = found.standard_errors.get(name, float("nan"))
        parts.append(f"{name} {value:.3g}" + (f" ± {error:.2g}" if error == error else ""))
    typer.echo("Estimated: " + ", ".join(parts))
