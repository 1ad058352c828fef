"""``kinelo book``: what a rating book holds, and taking matches out of it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches


def book(
    folder: Annotated[Path, typer.Argument(help="A rating book, as kinelo rate --book keeps it.")],
    remove: Annotated[
        list[str] | None, typer.Option(help="Identifier of a match (name of a contest) to take out; may be repeated.")
    ] = None,
    listed: Annotated[
        bool,
        typer.Option(
            "--list", help="List its matches: identifier, date, sides, result; of contests, entrants by place."
        ),
    ] = False,
    rater: Annotated[str | None, typer.Option(help="MODULE:CLASS where the book keeps a rater of your own.")] = None,
) -> None:
    """Say what a rating book holds, list its matches, take matches out of it again.

    Example:  kinelo book league-book --remove M-2014-61
    """
    from kinelo.book.book import RatingBook
    from kinelo.cli.loading import plain_warnings
    from kinelo.raters.choice import rater_called
    from kinelo.results.disk import disk_errors_in_words

    kind = None if rater is None else type(rater_called(rater))
    with plain_warnings(), disk_errors_in_words(folder):
        kept = RatingBook(folder, kind)
        taken = kept.remove(remove) if remove else 0
    if taken:
        typer.echo(f"{taken:,} taken out; the ratings are as if they had never been added.")
    if listed and len(kept):
        for line in _lines(kept.matches()):
            typer.echo(line)
    span = ""
    if len(kept) and kept.matches().dated:
        days = kept.matches().date
        span = f" from {days[0]} to {days[-1]}"
    typer.echo(f"{folder}: {len(kept):,} {kept.noun}{span}, {kept.ratings_.height:,} rated by {kept.rater!r}")


def _lines(matches: Matches | Contests) -> Iterator[str]:
    """One line for each match: identifier, date, sides and result between tabs; of contests, entrants by place,
    and the title where there is one.
    """
    from kinelo.matches.contests import Contests

    if isinstance(matches, Contests):
        for k in range(len(matches)):
            part = slice(int(matches.first[k]), int(matches.first[k + 1]))
            names = ", ".join(matches.entrants[code] for code in matches.entrant[part].tolist())
            title = "" if matches.titles is None else f"\t{matches.titles[k]}"
            yield f"{matches.identifiers[k]}\t{matches.date[k] if matches.dated else 'undated'}\t{names}{title}"
        return
    for k in range(len(matches)):
        date = str(matches.date[k]) if matches.dated else "undated"
        home, away = matches.teams[matches.home[k]], matches.teams[matches.away[k]]
        yield f"{matches.match_id[k]}\t{date}\t{home}\t{away}\t{matches.result[k]:g}"
