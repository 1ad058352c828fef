"""``kinelo predict``: win, draw and loss probabilities of matches to come."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.cli.loading import COLUMN_HELP, Aliases, Conditions, DropRepeats, ResultScale, StartingRatings
from kinelo.errors import KineloWarning
from kinelo.raters.choice import RATER_HELP

if TYPE_CHECKING:
    import polars as pl

    from kinelo.matches.matches import Matches
    from kinelo.raters.rater import Rater


def predict(
    fixtures: Annotated[Path | None, typer.Argument(help="Matches to come: CSV or Parquet with two sides.")] = None,
    match: Annotated[list[str] | None, typer.Option(help="A match as 'HOME - AWAY'; may be repeated.")] = None,
    book: Annotated[Path | None, typer.Option(help="Rating book to forecast from.")] = None,
    results: Annotated[Path | None, typer.Option(help="File of results to fit and forecast from.")] = None,
    lineups: Annotated[Path | None, typer.Option(help="Line-ups that belong to --results.")] = None,
    rater: Annotated[str | None, typer.Option(help=f"{RATER_HELP}.")] = None,
    neutral: Annotated[bool, typer.Option("--neutral", help="Matches given by --match have no home side.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the forecasts to this CSV file.")] = None,
    column: Annotated[list[str] | None, typer.Option(help=COLUMN_HELP)] = None,
    aliases: Aliases = None,
    scale: ResultScale = None,
    drop_repeats: DropRepeats = False,
    condition: Conditions = None,
    start: StartingRatings = None,
) -> None:
    """Forecast matches from a rating book or a file of results.

    Example:  kinelo predict --results league/results.csv --match 'Ashford - Bramley'
    """
    from kinelo.cli.loading import load, plain_warnings, rater_or_usual, told_by_book, write_csv
    from kinelo.raters.adapter import conditions_of, forecast_by
    from kinelo.raters.choice import rater_called

    with plain_warnings():
        options: dict[str, Any] = {
            "aliases": aliases,
            "scale": scale,
            "drop_repeats": drop_repeats,
            "conditions": condition,
        }
        kind = rater_or_usual(rater, lineups)
        chosen = _rater(
            book, results, lambda: rater_called(kind, start, condition or ()),
            lambda path: load(path, lineups, columns=column, **options),
        )  # fmt: skip
        if book is not None:
            told_by_book(book, chosen, condition, start)
    asked = dict.fromkeys([*conditions_of(chosen), *(condition or ())])
    matches = _fixtures(fixtures, match, neutral, column, aliases, list(asked))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)  # names never met are told below, one by one
        forecast = forecast_by(chosen, matches)
    for name in forecast.unknown:
        typer.echo(_stranger(name, chosen), err=True)
    table = forecast.to_polars()
    if matches.identifiers is None:
        table = table.drop("match_id")
    if "date" not in _columns_of(matches):
        table = table.drop("date")
    if out is not None:
        write_csv(table, out)
        typer.echo(f"Forecasts: {out}")
    _show(table)


def _stranger(name: str, rater: Rater) -> str:
    """What is said of a name never met: perhaps it is another one, misspelt."""
    from kinelo.raters.name_index import nearest_names

    table = getattr(rater, "ratings_", None)
    known = set() if table is None else {n for col in ("name", "team") if col in table.columns for n in table[col]}
    near = nearest_names(name, sorted(known))
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"warning: {name} has never played: it is forecast as a newcomer{meant}"


def _columns_of(matches: Matches) -> set[str]:
    dateless = any(note.startswith("there is no date column") for note in matches.notes)
    return set() if dateless else {"date"}


def _rater(book: Path | None, results: Path | None, new: Callable[[], Rater], read: Callable[[Path], Matches]) -> Rater:
    from kinelo.book.book import RatingBook
    from kinelo.errors import InputError

    if (book is None) == (results is None):
        raise InputError("say where the ratings come from: either --book DIR or --results FILE")
    if book is not None:
        return RatingBook(book).rater
    assert results is not None
    rater = new()
    return rater.fit(read(results))


def _fixtures(
    path: Path | None,
    pairs: list[str] | None,
    neutral: bool,
    column: list[str] | None,
    aliases: Path | None,
    conditions: list[str],
) -> Matches:
    from kinelo.cli.loading import column_mapping
    from kinelo.errors import InputError
    from kinelo.matches.reading import read_matches

    if (path is None) == (not pairs):
        raise InputError("say what to forecast: either a file of fixtures or --match 'HOME - AWAY'")
    if path is not None:
        return read_matches(path, columns=column_mapping(column), played=False, aliases=aliases, conditions=conditions)
    sides = [pair.split(" - ") for pair in pairs or []]
    for pair, names in zip(pairs or [], sides, strict=True):
        if len(names) != 2 or not all(name.strip() for name in names):
            raise InputError(f"--match {pair!r} is not of the form 'HOME - AWAY'")
    home, away = ([names[k].strip() for names in sides] for k in (0, 1))
    if conditions:
        typer.echo(
            f"note: --match says nothing of {', '.join(conditions)}: sides play with their own strength", err=True
        )
    table = {name: [""] * len(sides) for name in conditions} | {
        "home": home,
        "away": away,
        "neutral": [neutral] * len(sides),
    }
    return read_matches(table, played=False, aliases=aliases, conditions=conditions)


def _show(table: pl.DataFrame, most: int = 40) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table()
    for name in ("Home", "Away"):
        shown.add_column(name)
    for name in ("Home win", "Draw", "Away win"):
        shown.add_column(name, justify="right")
    for row in table.head(most).iter_rows(named=True):
        chances = (f"{row[name]:.1%}" for name in ("home_win", "draw", "away_win"))
        shown.add_row(row["home"], row["away"], *chances)
    Console().print(shown)
    if table.height > most:
        Console().print(f"and {table.height - most:,} more")
