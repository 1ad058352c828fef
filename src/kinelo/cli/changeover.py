"""``kinelo changeover``: an old list of ratings beside a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kinelo.cli.files import picture_name
from kinelo.cli.options import Json, MatchesFile, ReadingOptions, grouped
from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import all_raters

LIST_HELP = f"a list (CSV or Parquet with name and rating), k=NUMBER, fide, or a rater: {', '.join(all_raters())}"


@grouped
def changeover(
    results: MatchesFile,
    reading: ReadingOptions,
    old: Annotated[str, typer.Option("--old", help=f"What is in use: {LIST_HELP}.")],
    new: Annotated[str, typer.Option("--new", help=f"What shall be: {LIST_HELP}.")],
    initial: Annotated[float, typer.Option("--initial", help="Rating of a newcomer.")] = 1500.0,
    threshold: Annotated[
        list[str] | None, typer.Option(help="A title and its rating, as Master=2200; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write both lists with all moves to this CSV file.")] = None,
    picture: Annotated[
        Path | None, typer.Option(callback=picture_name, help="Draw both lists into this PNG file.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many to show.")] = 10,
    as_json: Json = False,
) -> None:
    """Lay an old list of ratings beside a new one: who moves, why, and what becomes of titles.

    Example:  kinelo changeover club.csv --old k=32 --new k=16 --threshold Master=2000 --out moves.csv
    """
    from kinelo.advice.changeover import changeover as run
    from kinelo.advice.changeover import changeover_table, title_sentences
    from kinelo.cli.loading import plain_warnings, write_csv

    lines = _thresholds(threshold or [])
    before, after = (_system(words, initial, reading) for words in (old, new))
    matches = reading.load(results)
    with plain_warnings():
        change = run(before, after, matches, thresholds=lines)
    if as_json:
        echo_json(change.to_dict(), indent=2)
    else:
        console().print(change.verdict, changeover_table(change, top), highlight=False)
        for sentence in title_sentences(change):
            console().print(sentence, highlight=False)
    if out is not None:
        write_csv(change.table, out)
        typer.echo(f"Lists: {out}", err=as_json)
    if picture is not None:
        from kinelo.pictures.style import save
        from kinelo.pictures.systems import draw_changeover

        typer.echo(f"Picture: {save(draw_changeover(change), picture)}", err=as_json)


def _system(words: str, initial: float, reading: ReadingOptions) -> Any:
    """The list or rater that an option names."""
    from kinelo.model.steps import FideSteps
    from kinelo.raters.choice import rater_called
    from kinelo.raters.team.rater import TeamElo

    name, equals, number = words.partition("=")
    if name.strip().lower() == "k" and equals:
        try:
            return TeamElo.classic(float(number), initial=initial, start=reading.start)
        except ValueError:
            raise InputError(f"{words!r} is not of the form k=NUMBER, for example k=20.") from None
    if words == "fide":
        return TeamElo.classic(FideSteps(), initial=initial, start=reading.start)
    if words in all_raters() or ":" in words:
        return rater_called(words, *reading.asked_of_rater())
    if not Path(words).exists():
        raise InputError(f"{words!r} is no file, and no system either; give {LIST_HELP}.")
    return Path(words)


def _thresholds(pairs: list[str]) -> dict[str, float]:
    thresholds = {}
    for pair in pairs:
        title, equals, rating = pair.rpartition("=")
        try:
            thresholds[title.strip()] = float(rating)
        except ValueError:
            equals = ""
        if not equals or not title.strip():
            raise InputError(f"--threshold {pair!r} is not of the form TITLE=RATING, for example Master=2200.")
    return thresholds
