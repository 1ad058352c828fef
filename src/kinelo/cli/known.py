"""The rater that a command asks: that of a book, or one fitted on a file of results, of matches or of contests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.errors import InputError

if TYPE_CHECKING:
    from kinelo.cli.options import AnyReadingOptions

BookOption = Annotated[str | None, typer.Option(help="Rating book whose ratings count.")]
ResultsOption = Annotated[Path | None, typer.Option(help="File of results (or contests) to fit a rater on.")]


def rater_of(
    book: str | None, results: Path | None, rater: str, reading: AnyReadingOptions, *, history: bool = False
) -> tuple[Any, Any]:
    """The rater, and the matches or contests that it has rated; of a book those are read for a ``history`` alone."""
    from kinelo.cli.loading import kind_of_source, plain_warnings
    from kinelo.cli.rating import check_rater, fit_rater, open_book

    if (book is None) == (results is None):
        raise InputError("Say where the ratings come from: either --book BOOK or --results FILE.")
    kind = kind_of_source(book or results or "", reading.column)
    with plain_warnings():
        if book is not None:
            kept = open_book(book, rater, reading, kind)
            return kept.rater, kept.matches() if history and len(kept) else None
        assert results is not None
        check_rater(rater, reading, kind)
        played = reading.load(results, kind=kind)
        return fit_rater(rater, played, reading)[0], played
