"""``kinelo read``: how a file is read, found and asked once, and kept beside it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import typer

from kinelo.cli.loading import kind_of_file, rejects_written, report_reading, silent_refusals, write_csv
from kinelo.cli.options import (
    OF_THE_OTHER,
    FileOptions,
    Json,
    OfContests,
    OfMatches,
    Rejects,
    ResultsFile,
    grouped,
    refuse_options,
)
from kinelo.cli.output import GIVEN, console, echo_json, say_note
from kinelo.errors import InputError
from kinelo.matches.kinds import Kind


@grouped
def read(
    results: ResultsFile,
    reading: FileOptions,
    of_matches: OfMatches,
    of_contests: OfContests,
    rejects: Rejects = None,
    as_json: Json = False,
) -> None:
    """Find out how a file is read, show it, ask what must be asked, and keep the answers beside the file.

    They stand in FILE.kinelo.toml, which every command and reader takes by itself from then on. Options answer at
    once; what was answered before stays until it is said anew or that file is deleted. Of files that are read as a
    pattern, one is enough.

    Example:  kinelo read results.csv
    Example:  kinelo read results.csv --column home=club_1 --dates dmy --aliases names.csv
    Example:  kinelo read races.csv --slot driver --slot car
    """
    from kinelo.matches.loading import head_of
    from kinelo.matches.reading_file import joined_answers, kept_reading, reading_file, reading_text, stale_columns
    from kinelo.matches.same_side import likely_names, read_aliases
    from kinelo.presentation import Table, words
    from kinelo.results.disk import disk_errors_in_words
    from kinelo.runtime.atomic import write_file

    before, stored = kept_reading(results)
    kind = before if before is not None and not reading.column else kind_of_file(results, reading.column)
    refuse_options(kind, results, *(f"--{name.replace('_', '-')}" for name in OF_THE_OTHER[kind] if name in GIVEN))
    stored = stored if kind is before else {}
    asked = reading.answers() | (of_matches if kind.two_sided else of_contests).answers()
    asked["aliases"] = read_aliases(reading.aliases) or None
    if results.is_file():
        with silent_refusals():
            stale = stale_columns(stored, head_of(results).columns)
        for key, column in stale.items():
            say_note(f"{results} no longer has the column {column!r} for {key}: it is found anew")
        found_anew = ("columns", "slots", "advantages", "team") if stale else ()
        stored = {key: value for key, value in stored.items() if key not in found_anew}
    answers = joined_answers(asked, stored)
    with rejects_written(rejects), silent_refusals():
        table, columns = _columns_found(results, kind, answers | {"played": not reading.coming})
    report_reading(table, rejects)
    if reading.write_aliases is not None:
        write_csv(likely_names(table), reading.write_aliases)
    answers["columns"] = columns
    place = reading_file(results)
    with disk_errors_in_words(place.parent):
        write_file(place, reading_text(results.name, kind, answers).encode())
    stored = kept_reading(results)[1]
    if as_json:
        echo_json({"kind": kind.noun, "number": len(table), "reading": stored, "file": str(place)})
        return
    rows = [{"what": name, "how": column} for name, column in _in_lines(stored)]
    who = kind.those(len(table.present))
    if not kind.two_sided:
        who = "rated: " + ", ".join(f"{name} ({len(slot.names):,})" for name, slot in table.slots.items())
    typer.echo(f"{results}: {', '.join(filter(None, (kind.counted(len(table)), table._span, who)))}.")
    console().print(Table([words("What", "what"), words("How it is read", "how")], rows))
    typer.echo(f"Kept: {place}")


def answer_to(error: InputError) -> list[str]:
    """The options by which somebody at a terminal answers what a file cannot say; none where nobody is there."""
    if not at_a_terminal():
        return []
    typer.echo(str(error), err=True)
    answer = typer.prompt("Answer with an option, such as --best lowest (nothing ends)", default="", err=True)
    try:
        return shlex.split(answer)
    except ValueError as quotes:
        raise InputError(f"The answer {answer!r} cannot be read: close its quotation marks.") from quotes


def at_a_terminal() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _columns_found(path: Path, kind: Kind, answers: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The table, and its columns by what they mean, as far as the file is read alike where they are said."""
    from kinelo.matches.reading import columns_found

    table, columns = columns_found(path, kind, answers)
    given = dict(answers.get("columns") or {})
    try:
        again, _ = columns_found(path, kind, answers | {"columns": columns | given})
    except InputError:
        return table, given
    alike = again.to_polars().equals(table.to_polars())
    return table, columns | given if alike else given


def _in_lines(kept: dict[str, Any]) -> list[tuple[str, str]]:
    """A reading in lines: what, and how it is read."""
    lines = []
    for key, value in kept.items():
        if isinstance(value, dict):
            named = "" if key == "columns" else f"{key}: "
            lines += [
                (f"{named}{name}", one if isinstance(one, str) else " and ".join(one)) for name, one in value.items()
            ]
        else:
            lines.append((key.replace("_", " "), "yes" if value is True else str(value)))
    return lines
