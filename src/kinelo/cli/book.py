"""``kinelo book``: what a rating book holds, and taking matches out of it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def book(
    folder: Annotated[Path, typer.Argument(help="A rating book, as kinelo rate --book keeps it.")],
    remove: Annotated[
        list[str] | None, typer.Option(help="Identifier of a match to take out; may be repeated.")
    ] = None,
    rater: Annotated[str | None, typer.Option(help="MODULE:CLASS where the book keeps a rater of your own.")] = None,
) -> None:
    """Say what a rating book holds; take matches out of it again.

    Example:  kinelo book league-book --remove M-2014-61
    """
    from kinelo.book.book import RatingBook
    from kinelo.cli.loading import plain_warnings
    from kinelo.raters.choice import rater_called
    from kinelo.results.disk import disk_errors_in_words

    if rater is not None:
        rater_called(rater)  # the book finds a class of the user's once its module is imported
    with plain_warnings(), disk_errors_in_words(folder):
        kept = RatingBook(folder)
        taken = kept.remove(remove) if remove else 0
    if taken:
        typer.echo(f"{taken:,} taken out; the ratings are as if they had never been added.")
    span = ""
    if len(kept):
        days = kept.matches().date
        span = f" from {days[0]} to {days[-1]}"
    typer.echo(f"{folder}: {len(kept):,} matches{span}, {kept.ratings_.height:,} rated by {kept.rater!r}")
