"""The rater that a command asks: that of a book, or one fitted on a file of results, of matches or of contests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.errors import InputError

if TYPE_CHECKING:
    from kinelo.cli.options import AnyReadingOptions

OF_A_BOOK = ("--aliases", "--condition", "--noise-by", "--covariate", "--start")
"""Options of reading that are looked at where ratings come from a book: aliases of typed names, and what its rater is
asked to use, which is refused where it does not."""
BookOption = Annotated[str | None, typer.Option(help="Rating book whose ratings count.")]
ResultsOption = Annotated[Path | None, typer.Option(help="File of results (or contests) to fit a rater on.")]


def rater_of(
    book: str | None,
    results: Path | None,
    rater: str,
    reading: AnyReadingOptions,
    *,
    history: bool = False,
    contest: bool | None = None,
) -> tuple[Any, Any]:
    """The rater, and the matches or contests that it has rated; of a book those are read for a ``history`` alone.

    Where a match (or a ``contest``) is typed, the other kind is refused.
    """
    from kinelo.cli.loading import kind_of_source, plain_warnings
    from kinelo.cli.rating import check_rater, fit_rater, open_book

    if (book is None) == (results is None):
        raise InputError("Say where the ratings come from: either --book BOOK or --results FILE.")
    kind = kind_of_source(book or results or "", reading.column)
    if contest is not None and contest == kind.two_sided:
        form = "matches of two sides: ask about 'HOME - AWAY'" if contest else "contests: ask about 'ANN; BOB; CID'"
        raise InputError(f"{book or results} holds {form}.")
    with plain_warnings():
        if book is not None:
            odd = [option for option in reading.asked() if option not in OF_A_BOOK]
            if odd:
                raise InputError(f"{odd[0]} says how a file is read: leave it out with --book, or give --results FILE.")
            kept = open_book(book, rater, reading, kind)
            return kept.rater, kept.matches() if history and len(kept) else None
        assert results is not None
        check_rater(rater, reading, kind)
        played = reading.load(results, kind=kind)
        return fit_rater(rater, played, reading)[0], played


def typed_names(names: list[str], reading: AnyReadingOptions) -> list[str]:
    """Names as they were typed, or those wanted for them."""
    from kinelo.matches.same_side import read_aliases

    aliases = read_aliases(reading.aliases)
    return [aliases.get(name, name) for name in names]
