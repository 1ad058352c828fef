"""``kinelo balance``: fair teams of those who are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinelo.cli.known import BookOption, ResultsOption
from kinelo.cli.options import AnyReadingOptions, Json, RaterName, grouped
from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC


@grouped
def balance(
    reading: AnyReadingOptions,
    players: Annotated[list[str] | None, typer.Argument(help="Names of those who are there.")] = None,
    lobby: Annotated[Path | None, typer.Option(help="A file of their names instead, one a line.")] = None,
    book: BookOption = None,
    results: ResultsOption = None,
    rater: RaterName = AUTOMATIC,
    sides: Annotated[str, typer.Option(help="How many sides, or their sizes, such as 5,4.")] = "2",
    together: Annotated[
        list[str] | None, typer.Option(help="Names for one side, such as 'Ann, Bob'; may be repeated.")
    ] = None,
    apart: Annotated[
        list[str] | None, typer.Option(help="Names for different sides, such as 'Ann, Bob'; may be repeated.")
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option(help="NAME=ROLE; each side gets its share of a role. May be repeated.")
    ] = None,
    newcomers: Annotated[int, typer.Option(min=0, help="Spread those with fewer matches than this.")] = 0,
    show: Annotated[int, typer.Option(min=1, help="How many splits to show.")] = 5,
    date: Annotated[str | None, typer.Option(help="Day of the match; by default the last day known.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search, where there are too many splits.")] = 1,
    as_json: Json = False,
) -> None:
    """Split those who are there into teams so that the match is as even as can be.

    Example:  kinelo balance Ann Bob Cid Dee Eve Fay --book arena.db --together 'Ann, Bob'
    Example:  kinelo balance --lobby lobby.txt --results races.csv --sides 3 --json
    """
    import kinelo as kn
    from kinelo.cli.known import rater_of, typed_names
    from kinelo.cli.loading import plain_warnings

    names = typed_names(_present(players or [], lobby), reading)
    sizes = _sizes(sides)
    asked = {"together": together or (), "apart": apart or ()}
    wishes = {name: [typed_names(_names(one), reading) for one in several] for name, several in asked.items()}
    roles = {typed_names([name], reading)[0]: one for name, one in map(_role, role or ())}
    known, _ = rater_of(book, results, rater, reading)
    with plain_warnings():
        found = kn.balance(
            known, names, sizes, **wishes, roles=roles or None, newcomers=newcomers, best=show, date=date, seed=seed
        )
    for name in found.unknown:
        typer.echo(f"warning: {name} has never played and counts as a newcomer", err=True)
    if as_json:
        echo_json({"rater": type(known).__name__, **found.to_dict()})
        return
    console().print(found.table())
    for line in found.lines():
        typer.echo(line)


def _present(players: list[str], lobby: Path | None) -> list[str]:
    if lobby is None:
        if not players:
            raise InputError("Name those who are there, or give a file of names: --lobby FILE.")
        return players
    if players:
        raise InputError("Give names or --lobby FILE, not both.")
    from kinelo.matches.loading import decode
    from kinelo.runtime.reading import check_file

    check_file(lobby)
    raw, _ = decode(lobby.read_bytes(), str(lobby))
    return [line.strip() for line in raw.decode("utf-8", "replace").splitlines() if line.strip()]


def _sizes(words: str) -> int | list[int]:
    try:
        numbers = [int(word) for word in words.split(",")]
    except ValueError:
        raise InputError(f"--sides {words!r:.40} is neither a number of sides nor sizes such as 5,4.") from None
    return numbers[0] if len(numbers) == 1 else numbers


def _names(words: str) -> list[str]:
    return [name.strip() for name in words.split(",") if name.strip()]


def _role(words: str) -> tuple[str, str]:
    name, equals, role = words.rpartition("=")
    if not equals or not name.strip() or not role.strip():
        raise InputError(f"--role {words!r:.60} is not of the form NAME=ROLE.")
    return name.strip(), role.strip()
