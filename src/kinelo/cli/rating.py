"""The rater of a command (asked for, of a book, or chosen on the user's own matches) and how its ratings are shown."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinelo.cli.streams import console, say_note
from kinelo.errors import InputError
from kinelo.matches.kind import KINDS, MATCHES, Kind, kind_of
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    import polars as pl

    from kinelo.book.book import RatingBook
    from kinelo.cli.options import ReadingOptions, ShownOptions
    from kinelo.forecasts.automatic import RaterChoice
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches
    from kinelo.matches.scan import MatchScan
    from kinelo.presentation import Table
    from kinelo.raters.rater import Rater


def check_rater(name: str, reading: ReadingOptions, kind: Kind = MATCHES) -> None:
    """Refuse a rater that does not exist or cannot do what is asked, before any file is read."""
    from kinelo.raters.choice import rater_called

    if name != AUTOMATIC:
        rater_called(name, *reading.asked_of_rater(), kind=kind)


def fit_shown(rater: Any, played: Any) -> Any:
    """Fit a rater, which shows on a terminal how far it is where that takes long."""
    if hasattr(rater, "progress"):
        rater.progress = sys.stderr.isatty()
    return rater.fit(played)


def fit_rater(name: str, played: Any, reading: ReadingOptions) -> tuple[Any, RaterChoice | None]:
    """The rater of this name, fitted, and how it was chosen where that was left to Kinelo, which is said."""
    from kinelo.raters.choice import rater_called

    kind = kind_of(played)
    name = kind.usual_rater or AUTOMATIC if name == AUTOMATIC else name
    if name != AUTOMATIC:
        return fit_shown(rater_called(name, *reading.asked_of_rater(), kind=kind), played), None
    choice = choose(played, reading)
    return choice.rater, choice


def fit_forecaster(name: str, played: Any, reading: ReadingOptions) -> Any:
    """A fitted rater to forecast with; where the choice is left to Kinelo, a mixture, whose weights are said."""
    from kinelo.forecasts.automatic import LEAST_COMPARED
    from kinelo.forecasts.mixture import Mixture
    from kinelo.raters.choice import candidates

    if name != AUTOMATIC or kind_of(played).usual_rater is not None or len(played) < LEAST_COMPARED:
        return fit_rater(name, played, reading)[0]
    mixture = Mixture(candidates(played, *reading.asked_of_rater())).fit(played)
    typer.echo(f"Forecasts are mixed, by weights learnt on the latest matches: {mixture}", err=True)
    return mixture


def choose(matches: Matches | MatchScan, reading: ReadingOptions) -> RaterChoice:
    """Choose a rater on the latest of these matches, and say on the error stream which and by how much."""
    from kinelo.forecasts import automatic
    from kinelo.raters.choice import candidates

    named = candidates(matches, *reading.asked_of_rater())
    choice = automatic.choose(matches, named, next(iter(named)))
    typer.echo(f"Rater chosen on the earlier matches: {choice}", err=True)
    if getattr(matches, "lineups", None) is not None and choice.name != "PlayerElo":
        typer.echo(f"note: {choice.name} does not use the line-ups; --rater player does", err=True)
    return choice


def say_unused(rater: Any, played: Matches | Contests) -> None:
    """Say what of a table a rater does not use."""
    if hasattr(rater, "_unused_words") and (words := rater._unused_words(played)):
        say_note(words)


def open_book(book: str | Path, asked: str, reading: ReadingOptions, kind: Kind) -> RatingBook:
    """A book that exists and may hold this kind, whose rater is none other than what was asked for."""
    from kinelo.book.book import RatingBook
    from kinelo.cli.loading import conditions_of_book
    from kinelo.raters.choice import rater_called

    wanted = None if asked == AUTOMATIC else type(rater_called(asked, kind=kind))
    opened = RatingBook(book, wanted if ":" in asked else None)
    keeper = type(opened.rater).__name__
    if not opened._takes(kind):
        held = KINDS[opened.noun].described
        raise InputError(f"{book} is a book of {held}, kept by {keeper}; start another for {kind.noun}.")
    if wanted is not None and wanted is not type(opened.rater):
        raise InputError(f"{book} is a book of {keeper}; leave out --rater {asked} or start another.")
    conditions_of_book(book, opened.rater, reading.columns_asked(), reading.start)
    return opened


def add_to_book(
    book: str | Path, kept: RatingBook | None, fitted: Rater | None, matches: Matches | Contests, *, quiet: bool
) -> Rater:
    """Count matches in a book, which is begun with the rater fitted where there is none yet."""
    from kinelo.book.book import RatingBook
    from kinelo.results.disk import disk_errors_in_words

    with disk_errors_in_words(Path(book)):
        kept = RatingBook(book, fitted) if kept is None else kept
        added = kept.add(matches)
    changed = f"{added.changed:,} changed, " if added.changed else ""
    kind = type(kept.rater).__name__
    typer.echo(
        f"Book {book}, kept by {kind}: {added.new:,} new {kept.noun}, {changed}{added.known:,} counted before, "
        f"{len(kept):,} in all.",
        err=quiet,
    )
    return kept.rater


def rated_by(rater: Any, played: Matches | Contests) -> str:
    """The title of a leaderboard: how many matches or contests, and whose ratings."""
    return f"{len(played):,} {played.kind.noun}, {getattr(rater, 'label', type(rater).__name__)}"


def content_of(rater: Any, matches: Matches | Contests, choice: RaterChoice | None) -> dict[str, Any]:
    """What ``--json`` prints: the rater, its parameters with standard errors, and all ratings."""
    from kinelo.raters.tables import effects_table

    estimates = getattr(rater, "estimates_", None)
    errors = {} if estimates is None else estimates.standard_errors
    return {
        "rater": type(rater).__name__,
        "choice": None if choice is None else choice.to_dict(),
        matches.kind.noun: len(matches),
        "parameters": dict(getattr(rater, "parameters_", {})),
        "at_bounds": [] if estimates is None else list(estimates.at_bounds),
        "standard_errors": {name: error if error == error else None for name, error in errors.items()},
        **({"effects": rater.effects_.to_dicts()} if effects_table(rater) is not None else {}),
        **({"noise_factors": rater.noise_factors_.to_dicts()} if _has_noise_factors(rater) else {}),
        **({"advantages": rater.advantages_.to_dicts()} if _has_advantages(rater) else {}),
        "ratings": rater.ratings_.to_dicts(),
    }


def _has_noise_factors(rater: Any) -> bool:
    return bool(getattr(rater, "noise_by", None)) and hasattr(rater, "noise_factors_")


def _has_advantages(rater: Any) -> bool:
    table = getattr(rater, "advantages_", None)
    return table is not None and table.height > 0


def show_estimates(rater: Rater) -> None:
    """One line of parameters: the estimates with their standard errors."""
    from kinelo.raters.tables import estimates_in_a_line, retirement_words

    if said := estimates_in_a_line(rater):
        typer.echo(f"Estimated: {said}")
    if said := retirement_words(rater):
        typer.echo(said)


def show_boards(boards: Mapping[str, pl.DataFrame], title: str, top: int, *, noun: str = "matches") -> None:
    """Print a leaderboard for each kind that is rated."""
    from kinelo.raters.tables import board_table

    for kind, board in boards.items():
        console().print(board_table(board, f"{title}: {kind}" if kind else title, top=top, noun=noun))


def show_left_out(rater: Any, boards: Mapping[str, pl.DataFrame], noun: str = "matches") -> None:
    """Say how many stand on no board, and which options show them."""
    from kinelo.raters.tables import left_out_words

    if said := left_out_words(rater.ratings_.height - sum(board.height for board in boards.values()), noun):
        typer.echo(f"{said.removesuffix('.')} (--active-days, --least-matches).")


def show_leaderboard(
    rater: Any, matches: Matches | Contests | None, title: str, shown: ShownOptions, *, noun: str = "matches"
) -> None:
    """Print the leaderboard of each kind that is rated, and say who is shown and who is not."""
    from kinelo.raters.leaderboard import board_and_words

    show_board(*board_and_words(rater, matches, **shown.ranking()), rater, title, shown.top, noun)


def show_board(table: pl.DataFrame, said: str, rater: Any, title: str, top: int, noun: str) -> None:
    """Print a leaderboard, by kinds where there are any, and what is said of it."""
    from kinelo.raters.leaderboard import boards_by_kind

    if said:
        typer.echo(f"note: {said}", err=True)
    boards = boards_by_kind(table)
    show_boards(boards, title, top, noun=noun)
    show_left_out(rater, boards, noun)


def show_tables(*tables: Table | None) -> None:
    """Print the tables there are."""
    for table in tables:
        if table is not None:
            console().print(table)
