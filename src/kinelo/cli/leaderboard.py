"""``kinelo leaderboard``: who is best, of those who are active, have played enough and are tied to one another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.cli.options import AnyReadingOptions, Json, RaterName, ShownOptions, grouped
from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    import polars as pl

    from kinelo.matches.matches import Matches

MOST_BOARDS = 50


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
    from kinelo.cli.contests import is_contest_book, leaderboard_file
    from kinelo.cli.loading import holds_contests, plain_warnings, write_csv
    from kinelo.cli.rating import check_rater, fit_rater, open_book
    from kinelo.raters.leaderboard import board_and_words
    from kinelo.raters.tables import board_table, ranks_table

    if holds_contests(source, reading.column) or is_contest_book(source):
        odd = ["--ranks"] * ranks + ["--by"] * (by is not None)
        asked = {"rater": rater, "caution": caution, "out": out, "as_json": as_json, "odd": odd}
        leaderboard_file(source, reading, shown, asked)
        return
    if ranks and rater != "bradley-terry":
        raise InputError("--ranks needs --rater bradley-terry, which says how sure each rank is.")
    if is_book(source) and (by or ranks):
        raise InputError("--by and --ranks rate a file of results; a book holds one board.")

    def board(rated: Any, matches: Matches, level: str) -> pl.DataFrame:
        if ranks:
            return rated.intervals()
        table, said = board_and_words(rated, matches, caution=caution, **shown.ranking())
        if said:
            typer.echo(f"note: {f'{by} {level}: ' if by else ''}{said}", err=True)
        return table

    boards: dict[str, tuple[pl.DataFrame, str]] = {}
    with plain_warnings():
        if is_book(source):
            book = open_book(source, rater, reading)
            parts = {"": (book.rater, book.matches())}
        else:
            check_rater(rater, reading)
            matches = reading.load(source, conditions=[*reading.columns_asked(), *([by] if by else [])])
            parts = {
                level: (fit_rater(rater, part, *reading.asked_of_rater())[0], part)
                for level, part in _by_level(matches, by).items()
            }
        for level, (rated, part) in parts.items():
            title = f"{f'{by} {level}: ' if by else ''}{len(part):,} matches, {type(rated).__name__}"
            boards[level] = board(rated, part, level), title
    tables = [table.with_columns(pl.lit(level).alias(str(by))) if by else table for level, (table, _) in boards.items()]
    if out is not None:
        write_csv(pl.concat(tables), out)
    if as_json:
        echo_json([row for table in tables for row in table.to_dicts()])
        return
    for table, title in boards.values():
        console().print(
            ranks_table(table, title).head(shown.top) if ranks else board_table(table, title, top=shown.top)
        )


def _by_level(matches: Matches, by: str | None) -> dict[str, Matches]:
    """The matches of each value of a column, those with most first; all of them without one."""
    import numpy as np

    if by is None:
        return {"": matches}
    condition = matches.conditions[by]
    if not condition.levels or len(condition.levels) > MOST_BOARDS:
        raise InputError(
            f"The column {by!r} has {len(condition.levels):,} values; --by takes one with 1 to {MOST_BOARDS}."
        )
    size = np.bincount(condition.codes[condition.codes >= 0], minlength=len(condition.levels))
    parts = {condition.levels[k]: matches[condition.codes == k] for k in np.argsort(-size, kind="stable") if size[k]}
    if unknown := int((condition.codes < 0).sum()):
        typer.echo(f"note: {unknown:,} matches without a value in {by!r} stand on no board", err=True)
    return parts
