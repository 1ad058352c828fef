"""``kinelo book``: what a rating book holds, taking matches out of it again, checking it, writing it as a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.errors import InputError

if TYPE_CHECKING:
    from kinelo.book.book import RatingBook
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches

WORDS = {"check": 1, "export": 2, "erase": 2}
"""Verbs, and how many words follow each."""


def book(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[check|export|erase] BOOK [FILE|NAME]",
            help="A rating book, as kinelo rate --book keeps it: a file, or postgresql://… Before it, check compares "
            "its ratings with one run over all its matches; export writes its matches to FILE (CSV or Parquet); erase "
            "takes NAME out of it for good, with a pseudonym in its place.",
        ),
    ],
    remove: Annotated[
        list[str] | None, typer.Option(help="Identifier of a match (name of a contest) to take out; may be repeated.")
    ] = None,
    remove_player: Annotated[
        list[str] | None, typer.Option(help="Name of somebody whose matches to take out; may be repeated.")
    ] = None,
    pseudonym: Annotated[
        str | None, typer.Option(help="With erase: what stands in the place of the name (else 'erased 1').")
    ] = None,
    listed: Annotated[
        bool,
        typer.Option(
            "--list", help="List its matches: identifier, date, sides, result; of contests, entrants by place."
        ),
    ] = False,
    ratings: Annotated[
        bool, typer.Option("--ratings", help="With export: write the ratings, not the matches.")
    ] = False,
    rater: Annotated[str | None, typer.Option(help="MODULE:CLASS where the book keeps a rater of your own.")] = None,
) -> None:
    """Say what a rating book holds, list its matches, take matches out, check it, write it as a table.

    Example:  kinelo book league.db --remove M-2014-61
    Example:  kinelo book erase league.db 'Ann Example'
    Example:  kinelo book check league.db
    Example:  kinelo book export league.db matches.parquet
    """
    from kinelo.book.book import RatingBook
    from kinelo.cli.loading import plain_warnings
    from kinelo.raters.choice import rater_called
    from kinelo.results.disk import disk_errors_in_words

    verb, address, target = _parted(words, ratings, asked=bool(remove or remove_player) or listed)
    if pseudonym is not None and verb != "erase":
        raise InputError("--pseudonym goes with kinelo book erase BOOK NAME.")
    kind = None if rater is None else type(rater_called(rater))
    with plain_warnings(), disk_errors_in_words(Path(address)):
        opened = RatingBook(address, kind)
        taken = opened.remove(remove) if remove else 0
        for name in remove_player or ():
            taken += _all_of(opened, name)
        if verb == "erase":
            given = opened.erase(str(words[-1]), pseudonym)
            typer.echo(f"{words[-1]} is {given} from now on; every rating is as it was. Copies are yours to erase.")
            return
    if verb == "check":
        _check(opened)
        return
    if verb == "export":
        _export(opened, target, ratings)
        return
    if taken:
        typer.echo(f"{taken:,} taken out; the ratings are as if they had never been added.")
    matches = opened.matches() if len(opened) else None
    if listed and matches is not None:
        for line in _lines(matches):
            typer.echo(line)
    span = f" from {matches.date[0]} to {matches.date[-1]}" if matches is not None and matches.dated else ""
    typer.echo(f"{address}: {len(opened):,} {opened.noun}{span}, {opened.ratings_.height:,} rated by {opened.rater!r}")


def _parted(words: list[str], ratings: bool, *, asked: bool) -> tuple[str, str, Path]:
    """The verb (or none), the book and the file of a command."""
    verb = words[0] if len(words) > 1 and words[0] in WORDS else ""
    rest = words[1:] if verb else words
    if len(rest) != WORDS.get(verb, 1):
        need = {"export": "a book and a file to write", "erase": "a book and a name"}.get(verb, "one book")
        raise InputError(f"kinelo book {verb or 'BOOK'} takes {need}, not {' '.join(rest)!r:.80}.")
    if (verb and asked) or (ratings and verb != "export"):
        raise InputError("--list and --remove go with kinelo book BOOK, --ratings with kinelo book export BOOK FILE.")
    return verb, rest[0], Path(rest[-1])


def _all_of(kept: RatingBook, name: str) -> int:
    """Take out all matches of somebody."""
    taken = kept.remove_player(name)
    if not taken:
        raise InputError(f"{name!r:.60} took part in nothing that {kept.path} holds.")
    return taken


def _check(kept: RatingBook) -> None:
    """Say what is wrong with a book; the status is 1 where anything is."""
    wrong = kept.check()
    for line in wrong[:20]:
        typer.echo(line)
    if wrong:
        typer.echo(f"{kept.path}: {len(wrong):,} of its rows are not right; put back a copy, or start a new book.")
        raise typer.Exit(1)
    typer.echo(f"{kept.path}: {len(kept):,} {kept.noun}, every rating is that of one run over all of them.")


def _export(kept: RatingBook, target: Path, ratings: bool) -> None:
    """Write the matches or the ratings of a book as CSV or Parquet, by the ending of the file."""
    from kinelo.cli.loading import write_csv
    from kinelo.results.disk import disk_errors_in_words
    from kinelo.runtime.atomic import write_file

    if isinstance(kept.path, Path) and target.exists() and target.samefile(kept.path):
        raise InputError(f"{target} would overwrite the book; choose another name.")
    table: Any = kept.ratings_ if ratings else kept.matches().to_polars()
    if target.suffix.lower() == ".parquet":
        import io

        buffer = io.BytesIO()
        table.write_parquet(buffer)
        with disk_errors_in_words(target.parent):
            target.parent.mkdir(parents=True, exist_ok=True)
            write_file(target, buffer.getvalue())
    elif target.suffix.lower() == ".csv":
        write_csv(table, target)
    else:
        raise InputError(f"{target} ends neither in .csv nor in .parquet.")
    typer.echo(f"{target}: {table.height:,} rows")


def _lines(matches: Matches | Contests) -> Iterator[str]:
    """One line for each match: identifier, date, sides and result between tabs; of contests, entrants by place,
    and the title where there is one.
    """
    return map(matches._line, range(len(matches)))
