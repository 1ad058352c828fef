"""Files that commands read: their columns, what they hold, and saying what was noticed on the way."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinelo.cli.output import is_page, option_words, say_note
from kinelo.errors import InputError, KineloWarning
from kinelo.matches.kinds import CONTESTS, KINDS, MATCHES, Kind
from kinelo.presentation import counted

if TYPE_CHECKING:
    import polars as pl

    from kinelo.matches.matches import Matches


def named_value(option: str, words: str, form: str, *, last: bool = False) -> tuple[str, str]:
    """A name and its value, as ``NAME=VALUE`` gives them; the ``last`` of several signs may part them."""
    name, equals, value = (part.strip() for part in (words.rpartition("=") if last else words.partition("=")))
    if not (name and equals and value):
        raise InputError(f"{option} {words!r:.60} is not of the form {form}.")
    return name, value


def column_mapping(pairs: list[str] | None) -> dict[str, Any]:
    """``["home=club_1"]`` as a dictionary; what is named twice has several columns."""
    mapping: dict[str, Any] = {}
    for pair in pairs or []:
        key, value = named_value("--column", pair, "NAME=COLUMN, for example home=club_1")
        earlier = mapping.get(key)
        if key == "contest" and earlier is not None:
            mapping[key] = [earlier, value] if isinstance(earlier, str) else [*earlier, value]
        else:
            mapping[key] = value
    return mapping


def mapping_for(path: Path, pairs: list[str] | None, beside: Path | None = None) -> dict[str, Any]:
    """What of a mapping is for a file: what sends to a column of the file ``beside`` it alone is not."""
    from kinelo.matches.loading import head_of

    mapping = column_mapping(pairs)
    if not mapping or beside in (None, path) or not (path.is_file() and beside.is_file()):
        return mapping
    with silent_refusals():
        present, there = ({*head_of(file).columns} for file in (path, beside))

    def among(column: str | list[str], columns: set[str]) -> bool:
        return {column} <= columns if isinstance(column, str) else {*column} <= columns

    return {key: column for key, column in mapping.items() if among(column, present) or not among(column, there)}


def kind_of_file(path: Path, column: list[str] | None = None, beside: Path | None = None) -> Kind:
    """What a file (or the first of a pattern) holds, by its columns and first rows."""
    from kinelo.matches.loading import head_of
    from kinelo.matches.reading_file import kept_reading
    from kinelo.matches.scan import files_of
    from kinelo.matches.shapes import are_contests

    files = files_of(path) if any(sign in str(path) for sign in "*?[") else [path]
    if not files[0].is_file():
        return MATCHES
    try:
        kept, answers = kept_reading(files[0])
        if kept is not None and not column:
            return kept
        with silent_refusals():
            head = head_of(files[0])
    except InputError:
        return MATCHES  # the reader of matches says what is wrong
    mapping = answers.get("columns", {}) | mapping_for(path, column, beside)
    return CONTESTS if are_contests(head, mapping) else MATCHES


def kind_of_source(source: str | Path, column: list[str] | None = None, beside: Path | None = None) -> Kind:
    """What a rating book or a file holds."""
    from kinelo.book.book import RatingBook, is_book

    if not is_book(source):
        return kind_of_file(Path(source), column, beside)
    try:
        with plain_warnings():
            return KINDS[RatingBook(source).noun]
    except InputError:
        return MATCHES  # whoever opens it says what is wrong


def check_identifiers(results: Matches, coming: Matches) -> None:
    """Refuse an identifier that is one match among results and another among matches to come: line-ups go by it."""

    def sides(matches: Matches) -> dict[str, str]:
        names = matches.teams
        pairs = (f"{names[home]} – {names[away]}" for home, away in zip(matches.home, matches.away))
        return dict(zip(map(str, matches.identifiers if matches.identifiers is not None else ()), pairs))

    played = sides(results)
    for identifier, pair in sides(coming).items():
        if played.get(identifier, pair) != pair:
            raise InputError(
                f"The match {identifier} is {played[identifier]} among the results and {pair} among those to come, so "
                "that line-ups cannot tell whose they are. Give every match an identifier of its own."
            )


def report_reading(matches: Matches, rejects: Path | None) -> None:
    """Say on the error stream what was noticed on reading; write the rejected rows where asked."""
    for note in matches.notes:
        say_note(note)
    if len(matches.rejected):
        rows = counted(len(matches.rejected), "row", "rows")
        typer.echo(f"note: {rows} set aside ({matches.rejected.in_words()})", err=True)
    if rejects is not None:
        write_csv(matches.rejected.to_polars(), rejects)


@contextmanager
def rejects_written(path: Path | None) -> Iterator[None]:
    """Write the rejected rows also where no row is left."""
    from kinelo.matches.rows import NoMatches

    try:
        yield
    except NoMatches as error:
        if path is not None:
            write_csv(error.rejected.to_polars(), path)
        raise


@contextmanager
def silent_refusals() -> Iterator[None]:
    """Hold back what libraries print past Python where a file is refused: the sentence says it.

    A reader that panics reports it on the error stream of the process before anyone can catch it.
    """
    try:
        stream = os.dup(2)
    except OSError:  # the error stream is closed
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except InputError:
            held.truncate(0)
            raise
        finally:
            os.dup2(stream, 2)
            os.close(stream)
            held.seek(0)
            for line in held:
                os.write(2, line)


def write_csv(table: pl.DataFrame, path: Path) -> None:
    """Write a table whole or not at all, making the folder it goes to; no text of it runs in a spreadsheet."""
    from kinelo.results.disk import disk_errors_in_words
    from kinelo.results.spreadsheet import harmless
    from kinelo.runtime.atomic import write_file

    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file to write to, such as table.csv.")
    if is_page(path):
        raise InputError(f"This is a table and no page: name a file such as {path.with_suffix('.csv')}, not {path}.")
    with disk_errors_in_words(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, harmless(table).write_csv().encode())


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show Kinelo's warnings as one line each, without the code they came from."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KineloWarning)
        yield
    for message in dict.fromkeys(str(item.message) for item in caught):
        typer.echo(f"warning: {option_words(message)}", err=True)
