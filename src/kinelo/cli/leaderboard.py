"""``kinelo leaderboard``: who is best, of those who are active, have played enough and are tied to one another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kinelo.cli.options import AnyReadingOptions, Json, RaterName, ShownOptions, grouped
from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    import polars as pl

MOST_BOARDS = 50


class Board(NamedTuple):
    """A leaderboard, of which value of a column, whose it is, and its title."""

    table: pl.DataFrame
    level: str
    rater: Any
    title: str


@grouped
def leaderboard(
    source: Annotated[Path, typer.Argument(help="A rating book, or a file of results to fit.")],
    reading: AnyReadingOptions,
    shown: ShownOptions,
    rater: RaterName = AUTOMATIC,
    caution: Annotated[
        float | None,
        typer.Option(min=0, help="Standard deviations taken off before sorting; 2 unless given, 0 for contests."),
    ] = None,
    ranks: Annotated[
        bool, typer.Option("--ranks", help="Show ranks with their 95 % intervals, of --rater bradley-terry.")
    ] = False,
    by: Annotated[
        str | None, typer.Option(help="A board for each value of this column, from its matches alone.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the leaderboard to this CSV file.")] = None,
    as_json: Json = False,
) -> None:
    """Show who is best, surest first; sides hardly tied to the rest stand in pools of their own.

    Example:  kinelo leaderboard league/results.csv --active-days 365 --least-matches 5
    """
    import polars as pl

    from kinelo.book.book import is_book
    from kinelo.cli.loading import kind_of_source, plain_warnings, write_csv
    from kinelo.cli.rating import check_rater, fit_rater, open_book, rated_by, show_board
    from kinelo.raters.leaderboard import board_and_words
    from kinelo.raters.tables import ranks_table

    kind = kind_of_source(source, reading.column)
    if ranks and rater != "bradley-terry":
        raise InputError("--ranks needs --rater bradley-terry, which says how sure each rank is.")
    if is_book(source) and (by or ranks):
        raise InputError("--by and --ranks rate a file of results; a book holds one board.")

    boards: list[Board] = []
    with plain_warnings():
        if is_book(source):
            book = open_book(source, rater, reading, kind)
            parts: dict[str, Any] = {"": (book.rater, book.matches())}
        else:
            check_rater(rater, reading, kind)
            asked = reading.columns_asked()
            played = reading.load(source, conditions=[*asked, *([by] if by else [])], kind=kind)
            parts = {
                level: (fit_rater(rater, part, reading)[0], part)
                for level, part in _by_level(played, by, keep=by in asked).items()
            }
        for level, (rated, part) in parts.items():
            prefix = f"{by} {level}: " if by else ""
            ranking = {"caution": caution, **shown.ranking()}
            table, said = (rated.intervals(), "") if ranks else board_and_words(rated, part, **ranking)
            if said:
                typer.echo(f"note: {prefix}{said}", err=True)
            boards.append(Board(table, level, rated, f"{prefix}{rated_by(rated, part)}"))
    tables = [board.table.with_columns(pl.lit(board.level).alias(by)) if by else board.table for board in boards]
    if out is not None:
        write_csv(pl.concat(tables), out)
    if as_json:
        echo_json([row for table in tables for row in table.to_dicts()])
        return
    for board in boards:
        if ranks:
            console().print(ranks_table(board.table, board.title).head(shown.top))
        else:
            show_board(board.table, "", board.rater, board.title, shown.top, kind.noun)


def _by_level(played: Any, by: str | None, *, keep: bool) -> dict[str, Any]:
    """The matches or contests of each value of a column, those with most first; all of them without one. Raters
    ``keep`` a column that they use.
    """
    import numpy as np

    if by is None:
        return {"": played}
    condition = played._level_of(by)
    if not condition.levels or len(condition.levels) > MOST_BOARDS:
        raise InputError(
            f"The column {by!r} has {len(condition.levels):,} values; --by takes one with 1 to {MOST_BOARDS}."
        )
    played = played if keep else played._without(by)
    size = np.bincount(condition.codes[condition.codes >= 0], minlength=len(condition.levels))
    parts = {condition.levels[k]: played[condition.codes == k] for k in np.argsort(-size, kind="stable") if size[k]}
    if unknown := int((condition.codes < 0).sum()):
        noun = played.kind.noun
        typer.echo(f"note: {unknown:,} {noun} without a value in {by!r} stand on no board", err=True)
    return parts
