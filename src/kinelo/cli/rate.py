"""``kinelo rate``: ratings from a file of results, or with ``--rules fide`` the next list of a federation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from kinelo.cli.files import is_page, picture_name
from kinelo.cli.options import (
    MATCHES_HELP,
    OF_A_SCAN,
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
from kinelo.matches.kind import Kind
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    from kinelo.book.book import RatingBook


@dataclass(frozen=True)
class ListOptions:
    """What the lists of a federation ask for beside results."""

    heading: ClassVar[str] = "Plain Elo, by the rules of a federation"

    event: Annotated[
        str | None, typer.Option(help="With --rules: the column of events, rated by the list when they began.")
    ] = None
    born: Annotated[
        Path | None, typer.Option(help="With --rules: years of birth, CSV or Parquet with name and born.")
    ] = None
    as_of: Annotated[
        str | None, typer.Option(help="With --rules: the day whose rules hold for all matches, such as 2025-10-01.")
    ] = None

    def rater(self, results: Path, rater: str, federation: Federation, reading: AnyReadingOptions) -> Any:
        """The rater that makes lists where ``--rules`` asks for them, None where it does not."""
        if federation.rules is None:
            given = [f"--{name.replace('_', '-')}" for name in ("event", "born", "as_of") if getattr(self, name)]
            if given:
                raise InputError(f"{given[0]} goes with --rules fide.")
            return None
        federation.rater(rater, None, *reading.asked_of_rater()[1:])  # refuses what contradicts --rules
        if federation.initial is not None:
            raise InputError("FIDE's rules give newcomers a rating by their first games: leave out --initial.")
        return self._lists(results, reading.start)

    def _lists(self, results: Path, start: Path | None) -> Any:
        from kinelo.matches.loading import head_of
        from kinelo.matches.tournament_report import holds_report, tournament_players
        from kinelo.raters.fide.rater import FideElo

        event, list_ = self.event, start
        if holds_report(results):
            event = event or "event"
            list_ = tournament_players(results) if start is None else start
            if start is None:
                typer.echo(
                    "note: the ratings of the report are the list to begin with; it does not say who is among the "
                    "first 30 games, nor who was once rated 2400: --start takes a list with the column k",
                    err=True,
                )
        elif event is not None and event not in head_of(results).columns:
            raise InputError(f"{results} has no column {event!r} for --event.")
        return FideElo(list_, self.born, event=event, as_of=self.as_of)


def show_list(rater: Any, top: int) -> None:
    """Print a list, and who has no rating yet."""
    from kinelo.cli.streams import console

    table, unrated = rater._list_table(), rater.unrated_
    console().print(table.head(top))
    if len(table.rows) > top:
        typer.echo(f"{len(table.rows) - top:,} more are on the list (--top, --out).")
    if unrated.height:
        shown = "; ".join(f"{name} {games}" for name, games in unrated.select("name", "games").head(5).rows())
        more = "; …" if unrated.height > 5 else ""
        typer.echo(f"Without a rating; games against rated opponents so far, of which 5 are needed: {shown}{more}.")


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
    from kinelo.cli.loading import kind_of_file, plain_warnings
    from kinelo.cli.rating import (
        add_to_book,
        content_of,
        fit_rater,
        fit_shown,
        rated_by,
        say_unused,
        show_estimates,
        show_leaderboard,
        show_tables,
    )
    from kinelo.raters.adapter import conditions_of
    from kinelo.raters.tables import advantages_table, effects_table, luck_table

    kind = kind_of_file(results, reading.column)
    lists = listing.rater(results, rater, federation, reading)
    if any(sign in str(results) for sign in "*?["):
        others = {*reading.asked()} - {*OF_A_SCAN[kind]}
        if book or picture or rejects or as_json or others or lists or is_page(out):
            *most, last = (*OF_A_SCAN[kind], "--rater", "--k", "--initial", "--active-days", "--least-matches", "--top")
            raise InputError(f"Of a pattern of files, only {', '.join(most)}, {last} and --out FILE.csv can be asked.")
        _rate_in_chunks(str(results), kind, rater, reading, federation, shown, out)
        return

    if lists is not None and is_page(out):
        raise InputError("A list is written as a table: --out NAME.csv.")
    opened, described = _rater_or_book(book, rater, federation, reading, lists, kind)
    keeper = lists if opened is None else opened.rater
    conditions = reading.columns_asked() if keeper is None else list(conditions_of(keeper))
    if opened is not None:
        reading = reading.as_kept_by(keeper, results, kind)
    played = reading.load(results, rejects, conditions, kind=kind)
    federation.check_names(played)
    with plain_warnings():
        rated: Any = None
        choice = None
        if described is not None:
            rated = fit_shown(described, played)
        elif opened is None:
            rated, choice = fit_rater(rater, played, reading)
        say_unused(rated if opened is None else keeper, played)
        if book is not None:
            rated = add_to_book(book, opened, rated, played, quiet=as_json)
        worth = rating_inflation(rated, played) if opened is None else None
    if as_json:
        echo_json(content_of(rated, played, choice) | {"inflation": None if worth is None else worth.to_dict()})
    elif hasattr(rated, "_list_table"):
        show_list(rated, shown.top)
    else:
        show_leaderboard(rated, played, rated_by(rated, played), shown, noun=kind.noun)
        show_estimates(rated)
        show_tables(effects_table(rated), luck_table(rated), advantages_table(rated))
        if worth is not None:
            typer.echo(f"Inflation: {'; '.join(inflation_words(worth))}.")
    _write(rated, played, results.stem, shown, out, picture, err=as_json)


def _rater_or_book(
    book: str | None,
    name: str,
    federation: Federation,
    reading: AnyReadingOptions,
    lists: Any,
    kind: Kind,
) -> tuple[RatingBook | None, Any]:
    """The book that is carried on, or the rater that options describe; neither where it is to be chosen."""
    from kinelo.book.book import is_book
    from kinelo.cli.loading import plain_warnings
    from kinelo.cli.rating import check_rater, open_book

    own = lists or federation.rater(name, *reading.asked_of_rater(), kind=kind)
    if book is None or not is_book(book):
        check_rater(name, reading, kind)
        return None, own
    if own is not None:
        raise InputError(f"{book} keeps its rater; leave out --k, --k-of, --rules and --initial or start another.")
    with plain_warnings():
        return open_book(book, name, reading, kind), None


def _write(
    rater: Any, played: Any, title: str, shown: ShownOptions, out: Path | None, picture: Path | None, *, err: bool
) -> None:
    """The table or page, and the picture, where they are asked for."""
    from kinelo.cli.loading import write_csv

    if is_page(out):
        from kinelo.pages.page import write_page

        page = write_page(rater, out, matches=played, title=title, ranking=shown.ranking())
        typer.echo(f"Page: {page}", err=err)
    elif out is not None:
        write_csv(rater.ratings_, out)
        typer.echo(f"Ratings: {out}", err=err)
    if picture is not None:
        from kinelo.pictures.histories import draw_histories
        from kinelo.pictures.style import save
        from kinelo.raters.history import rating_history

        typer.echo(f"Picture: {save(draw_histories(rating_history(rater, played)), picture)}", err=err)


def _rate_in_chunks(
    pattern: str, kind: Kind, rater: str, reading: AnyReadingOptions, federation: Federation, shown: ShownOptions,
    out: Path | None,
) -> None:  # fmt: skip
    """Rate files that need not fit into memory and show the leaderboard."""
    from kinelo.cli.loading import plain_warnings, write_csv
    from kinelo.cli.rating import check_rater, fit_rater, fit_shown, show_leaderboard

    own = federation.rater(rater, *reading.asked_of_rater(), kind=kind)
    check_rater(rater, reading, kind)
    scan = reading.scan(pattern, kind)
    with plain_warnings():
        rated = fit_rater(rater, scan, reading)[0] if own is None else fit_shown(own, scan)
    table = rated.ratings_
    # Every match is counted by two sides; entries of contests are no number of contests.
    number = f"{int(table['matches'].sum()) // 2:,} matches of " if kind.two_sided else ""
    title = f"{number}{len(scan.files):,} files, {table.height:,} names, {type(rated).__name__}"
    show_leaderboard(rated, None, title, shown, noun=kind.noun)
    if out is not None:
        write_csv(table, out)
        typer.echo(f"Ratings: {out}")
