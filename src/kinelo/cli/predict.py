"""``kinelo predict``: win, draw and loss probabilities of matches to come."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.cli.options import AnyReadingOptions, Json, RaterName, grouped
from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError, KineloWarning
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from kinelo.forecasts.forecast import Forecast
    from kinelo.matches.matches import Matches
    from kinelo.raters.rater import Rater

FORECASTS_SHOWN = 40
MATCH_HELP = (
    "A match as 'HOME - AWAY', or a contest as 'ANN; BOB; CID' ('ANN + RED; BOB + BLUE' where drivers and cars are "
    "rated); may be repeated."
)
PLAYED_HELP = (
    "Forecast matches played since this day too, each from the results before its day; the rater is fitted on results "
    "before this day. By default played matches are left out. Contests without dates "
    "take a contest, a number or a share."
)


@grouped
def predict(
    reading: AnyReadingOptions,
    fixtures: Annotated[
        Path | None,
        typer.Argument(help="Matches or contests to come: CSV or Parquet; played ones in it stand in for --results."),
    ] = None,
    match: Annotated[list[str] | None, typer.Option(help=MATCH_HELP)] = None,
    book: Annotated[str | None, typer.Option(help="Rating book to forecast from.")] = None,
    results: Annotated[Path | None, typer.Option(help="File of results to fit and forecast from.")] = None,
    rater: RaterName = AUTOMATIC,
    neutral: Annotated[bool, typer.Option("--neutral", help="Matches given by --match have no home side.")] = False,
    played_since: Annotated[str | None, typer.Option(help=PLAYED_HELP)] = None,
    out: Annotated[Path | None, typer.Option(help="Write the forecasts to this CSV file.")] = None,
    as_json: Json = False,
) -> None:
    """Forecast matches from a rating book or a file of results.

    Example:  kinelo predict --results league/results.csv --match 'Ashford - Bramley'
    Example:  kinelo predict next-race.csv --results races.csv
    """
    from kinelo.cli.contests import is_contest_book, predict_file
    from kinelo.cli.loading import holds_contests, plain_warnings, write_csv
    from kinelo.cli.rating import check_rater, open_book
    from kinelo.forecasts.forecast import forecast_table
    from kinelo.raters.adapter import conditions_of

    _check(fixtures, match, book, results, played_since)
    reading, levels = typed_levels(reading) if match else (reading, {})
    files = [path for path in (fixtures, results) if path is not None]
    if any(holds_contests(path, reading.column) for path in files) or (book is not None and is_contest_book(book)):
        asked = {"rater": rater, "book": book, "played_since": played_since, "out": out, "as_json": as_json}
        asked |= {"match": match, "levels": levels}
        predict_file(fixtures, results, reading, asked)
        return
    conditions = reading.columns_asked()
    with plain_warnings():
        if book is not None:
            kept = open_book(book, rater, reading)
            chosen, past = kept.rater, kept.matches() if len(kept) else None
            conditions = list(dict.fromkeys([*conditions_of(chosen), *conditions]))
            strange = [name for name in levels if name not in conditions_of(chosen)]
            if strange:
                raise InputError(f"{book} knows no {strange[0]!r}: leave out its level.")
        else:
            check_rater(rater, reading)
            chosen, past = None, None
        if fixtures is None:
            matches = _pairs(match or [], neutral, reading, {name: levels.get(name, "") for name in conditions})
        else:
            matches = reading.fixtures(fixtures, conditions, results)
        if book is None:
            past = reading.load(results or fixtures or Path(), coming=matches if fixtures else None, beside=fixtures)
        _say_day(matches, past)
        forecast, chosen = _forecast(chosen, past, matches, rater, reading, played_since)
    for name in forecast.unknown:
        typer.echo(_stranger(name, chosen), err=True)
    table = _table(forecast)
    if out is not None:
        write_csv(table, out)
        typer.echo(f"Forecasts: {out}", err=as_json)
    if as_json:
        content = {"rater": type(chosen).__name__, "forecasts": table.to_dicts(), "unknown": list(forecast.unknown)}
        echo_json(content)
    else:
        console().print(forecast_table(table).head(FORECASTS_SHOWN))


def _check(
    fixtures: Path | None, match: list[str] | None, book: str | None, results: Path | None, played_since: str | None
) -> None:
    """Refuse a command that does not say what to forecast, or from what."""
    if (fixtures is None) == (not match):
        raise InputError("Say what to forecast: either a file of fixtures or --match 'HOME - AWAY'.")
    if book is not None and results is not None:
        raise InputError("Say where the ratings come from: either --book BOOK or --results FILE.")
    if book is None and results is None and fixtures is None:
        raise InputError("Say where the ratings come from: either --book BOOK or --results FILE.")
    if played_since is not None and (book is not None or fixtures is None):
        raise InputError(
            "--played-since forecasts played matches of a file from --results; it takes no --book or --match."
        )


def _forecast(
    kept: Any, past: Matches | None, matches: Matches, rater: str, reading: AnyReadingOptions, played_since: str | None
) -> tuple[Forecast, Any]:
    """Forecast what is not played from all results, and what was played since a day from the results before its day."""
    import numpy as np

    from kinelo.cli.rating import fit_forecaster
    from kinelo.matches.dated import read_day

    played = _played(matches, past)
    late = np.zeros(len(matches), bool) if played_since is None else matches.date >= read_day(played_since)
    wanted = ~played | late
    if not wanted.any():
        raise InputError(
            f"All {len(matches):,} matches have been played. --played-since DAY forecasts those since a day, each from "
            "the results before its day."
        )
    if not wanted.all():
        left_out = int((~wanted).sum())
        typer.echo(f"note: {left_out:,} matches already played are left out (see --played-since)", err=True)
    if kept is None and past is not None:
        train = past if played_since is None else past.before(played_since)
        if len(train) == 0:
            raise InputError(f"There are no results before {played_since} to fit a rater on; choose a later day.")
        kept = fit_forecaster(rater, train, *reading.asked_of_rater())
        past = past[len(train) :]
    elif past is not None:
        past = past[:0]
    return _by_day(kept, past, matches[wanted], played[wanted]), kept


def _by_day(rater: Any, results: Matches | None, matches: Matches, played: NDArray[np.bool_]) -> Forecast:
    """Forecast played matches from the results before their day, the others from all results."""
    import numpy as np

    from kinelo.forecasts.forecast import Forecast
    from kinelo.raters.adapter import carry_on, forecast_by

    chances = np.empty((len(matches), 3))
    unknown: dict[str, None] = {}
    parts = [np.flatnonzero(played & (matches.date == day)) for day in np.unique(matches.date[played])]
    used = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)  # names never met are reported one by one
        for part in [*parts, np.flatnonzero(~played)]:
            if part.size == 0:
                continue
            if results is not None:
                here = matches.date[part[0]]
                until = int(np.searchsorted(results.date, here)) if played[part[0]] else len(results)
                if until > used:
                    carry_on(rater, results[used:until])
                    used = until
            said = forecast_by(rater, matches[part])
            chances[part] = said.probabilities
            unknown |= dict.fromkeys(said.unknown)
    return Forecast(chances, tuple(unknown)).about(matches)


def _played(matches: Matches, past: Matches | None) -> NDArray[np.bool_]:
    """Which matches have a result, in their own file or (same day, same sides) among those that the rater saw."""
    import numpy as np

    played = ~np.isnan(matches.result)
    if past is None or _undated(matches):
        return played

    def keys(table: Matches) -> list[tuple[int, str, str]]:
        names = table.teams
        return [(int(d), names[h], names[a]) for d, h, a in zip(table.day, table.home, table.away)]

    seen = set(keys(past))
    known = np.array([key in seen for key in keys(matches)], bool)
    early = int((~played & ~known & (matches.date < past.date[-1])).sum()) if len(past) else 0
    if early:
        typer.echo(
            f"note: {early:,} matches without a result are dated before {past.date[-1]}, the last result; their "
            "forecasts know results that came later",
            err=True,
        )
    return played | known


def _stranger(name: str, rater: Rater) -> str:
    """What is said of a name never met: perhaps it is another one, misspelt."""
    from kinelo.raters.name_index import nearest_names

    table = getattr(rater, "ratings_", None)
    known = set() if table is None else {n for col in ("name", "team") if col in table.columns for n in table[col]}
    near = nearest_names(name, sorted(known))
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"warning: {name} has never played: it is forecast as a newcomer{meant}"


def _say_day(matches: Matches, past: Matches | None) -> None:
    """Say on which day matches are forecast that have no date."""
    if _undated(matches) and past is not None and len(past) and past.dated:
        typer.echo(f"note: matches without a date are forecast for {past.date[-1]}, the last day known", err=True)


def _undated(matches: Matches) -> bool:
    return any(note.startswith("there is no date column") for note in matches.notes)


def _table(forecast: Forecast) -> pl.DataFrame:
    """The forecasts without columns that the matches do not have."""
    table, matches = forecast.to_polars(), forecast.matches
    assert matches is not None
    absent = [*(["match_id"] if matches.identifiers is None else []), *(["date"] if _undated(matches) else [])]
    return table.drop(absent)


def typed_levels(reading: AnyReadingOptions) -> tuple[AnyReadingOptions, dict[str, str]]:
    """Options without the levels that ``--noise-by track=oval`` and ``--condition surface=clay`` say of a ``--match``,
    and these by column.
    """
    asked = {"condition": reading.condition, "noise_by": reading.noise_by}
    parts = {option: [one.partition("=") for one in given or ()] for option, given in asked.items()}
    levels = {name.strip(): level.strip() for own in parts.values() for name, equals, level in own if equals}
    if not all(name and level for name, level in levels.items()):
        raise InputError("--noise-by and --condition take a column, and for a --match its level: track=oval.")
    columns = {option: [name.strip() for name, _, _ in own] or None for option, own in parts.items()}
    return replace(reading, **columns), levels


def _pairs(pairs: list[str], neutral: bool, reading: AnyReadingOptions, conditions: dict[str, str]) -> Matches:
    """Matches given as 'HOME - AWAY', with the levels of conditions that are said for all of them."""
    from kinelo.matches.reading import read_matches

    sides = [pair.split(" - ") for pair in pairs]
    for pair, names in zip(pairs, sides, strict=True):
        if len(names) != 2 or not all(name.strip() for name in names):
            raise InputError(f"--match {pair!r} is not of the form 'HOME - AWAY'.")
    home, away = ([names[k].strip() for names in sides] for k in (0, 1))
    unsaid = [name for name, level in conditions.items() if not level]
    if unsaid:
        note = f"note: --match says nothing of {', '.join(unsaid)}: sides play with their own strength"
        typer.echo(note, err=True)
    table = {name: [level] * len(sides) for name, level in conditions.items()} | {
        "home": home,
        "away": away,
        "neutral": [neutral] * len(sides),
    }
    return read_matches(table, played=False, aliases=reading.aliases, conditions=list(conditions))
