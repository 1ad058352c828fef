"""Contests of many entrants on the command line: what rate, predict, backtest and leaderboard do with a long table."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError, KineloWarning
from kinelo.matches.kind import CONTESTS
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    from kinelo.book.book import RatingBook
    from kinelo.cli.options import AnyReadingOptions, Federation
    from kinelo.forecasts.places import ContestForecast
    from kinelo.matches.contests import Contests

ENTRANTS_SHOWN = 60
RATER = "rank"
"""What ``--rater`` calls the rater of contests."""


def is_contest_book(path: str | Path) -> bool:
    """Whether there is a rating book that holds contests."""
    from kinelo.book.book import RatingBook, is_book
    from kinelo.cli.loading import plain_warnings

    if not is_book(path):
        return False
    try:
        with plain_warnings():
            return RatingBook(path).noun == "contests"
    except InputError:
        return False  # whoever opens it says what is wrong


def contest_rater(name: str, reading: AnyReadingOptions, federation: Federation | None = None) -> Any:
    """The rater of contests that options ask for."""
    from kinelo.raters.rank.rater import RankElo

    if federation is not None and federation != replace(federation, k=None, k_of=None, k_first=None, rules=None):
        return federation.rater(name, *reading.asked_of_rater())
    if name not in (AUTOMATIC, RATER):
        raise InputError(f"--rater {name} rates matches of two sides; contests are rated by --rater {RATER} or --k.")
    initial = 1500.0 if federation is None or federation.initial is None else federation.initial
    return RankElo(
        initial=initial,
        start=reading.start,
        conditions=reading.condition,
        noise_by=reading.noise_by,
        covariates=reading.covariate,
    )


def fit_shown(rater: Any, contests: Any) -> Any:
    """Fit a rater, which shows on a terminal how far it is where that takes long."""
    if hasattr(rater, "progress"):
        rater.progress = sys.stderr.isatty()
    return rater.fit(contests)


def rater_or_book(
    book: str | Path | None, name: str, federation: Federation, reading: AnyReadingOptions
) -> tuple[RatingBook | None, Any]:
    """The book that is carried on, or the rater that is asked for."""
    from kinelo.book.book import is_book
    from kinelo.cli.loading import plain_warnings
    from kinelo.cli.options import Federation

    if book is None or not is_book(book):
        return None, contest_rater(name, reading, federation)
    if federation != Federation():
        raise InputError(f"{book} keeps its rater; leave out --k, --k-of, --rules and --initial or start another.")
    with plain_warnings():
        return open_contest_book(book, name, reading), None


def open_contest_book(book: str | Path, name: str, reading: AnyReadingOptions) -> RatingBook:
    """A book that exists and may hold contests, whose rater is none other than what was asked for."""
    from kinelo.book.book import RatingBook

    kept = RatingBook(book)
    kind = type(kept.rater).__name__
    if "contests" not in kept.rater.book_holds or (len(kept) and kept.noun != "contests"):
        raise InputError(f"{book} is a book of matches of two sides, kept by {kind}; start another for contests.")
    if name not in (AUTOMATIC, RATER) or (name == RATER and kind != "RankElo"):
        raise InputError(f"{book} is a book of {kind}; leave out --rater {name} or start another.")
    if reading.start is not None:
        raise InputError(f"{book} keeps the ratings it began with; leave out --start or start another book.")
    return kept


def say_unused(rater: Any, contests: Contests) -> None:
    """Say which kinds of slots plain Elo does not use."""
    from kinelo.raters.team.contests import slots_not_used

    unused = [] if type(rater).__name__ == "RankElo" else slots_not_used(contests)
    if unused:
        said = f"plain Elo rates each entrant as a whole and does not use {' and '.join(unused)}; --rater rank does"
        typer.echo(f"note: {said}", err=True)


def predict_file(
    fixtures: Path | None, results: Path | None, reading: AnyReadingOptions, asked: dict[str, Any]
) -> None:
    """``kinelo predict`` of contests to come; ``asked`` holds match, levels, rater, book, played_since,
    out and as_json."""
    import polars as pl

    from kinelo.cli.loading import plain_warnings, report_reading, write_csv
    from kinelo.forecasts.places import contest_forecast_tables
    from kinelo.matches.same_side import read_aliases

    book = asked["book"]
    with plain_warnings():
        kept = None if book is None else open_contest_book(book, asked["rater"], reading).rater
    if fixtures is None:
        rater = _fitted(kept, results, reading, asked)
        aliases = read_aliases(reading.aliases)
        forecasts = [
            _typed(rater, one, number, aliases, asked["levels"]) for number, one in enumerate(asked["match"], 1)
        ]
    else:
        reading = as_rated(reading, kept, fixtures)
        listed = reading.read(fixtures, CONTESTS, played=False, beside=results)
        report_reading(listed, None)
        to_come = _to_come(listed, fixtures, asked["played_since"])
        with plain_warnings():
            forecasts, rater = _forecasts(to_come, kept, results or fixtures, reading, {**asked, "beside": fixtures})
    for name in dict.fromkeys(name for forecast in forecasts for name in forecast.unknown):
        typer.echo(_stranger(name, rater), err=True)
    tables = [forecast.to_polars() for forecast in forecasts]
    order = pl.col("contest").rle_id()
    table = (
        pl.concat(tables)
        .with_columns(_contest=order)
        .sort("_contest", "win", descending=[False, True])
        .drop("_contest")
    )
    if asked["as_json"]:
        unknown = sorted({name for forecast in forecasts for name in forecast.unknown})
        echo_json({"rater": type(rater).__name__, "forecasts": table.to_dicts(), "unknown": unknown})
    else:
        for shown in contest_forecast_tables(table, ENTRANTS_SHOWN):
            console().print(shown)
    if asked["out"] is not None:
        write_csv(table, asked["out"])
        typer.echo(f"Forecasts: {asked['out']}", err=asked["as_json"])


def _stranger(name: str, rater: Any) -> str:
    """What is said of a name never met: perhaps it is another one, misspelt."""
    from kinelo.raters.name_index import nearest_names

    near = nearest_names(name, sorted(set(rater.ratings_["name"])))
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"warning: {name} has never taken part: it is forecast as a newcomer{meant}"


def as_rated(reading: AnyReadingOptions, rater: Any, path: Path) -> AnyReadingOptions:
    """Options that read a file as the rater of a book needs it, where they do not say what is rated."""
    from kinelo.cli.loading import silent_refusals
    from kinelo.matches.loading import head_of

    kinds, advantages = getattr(rater, "kinds_", ()), getattr(rater, "advantage_kinds_", ())
    luck = [name for name in getattr(rater, "noise_by", None) or () if name not in kinds]
    if reading.slot or reading.advantage or not path.is_file():
        return reading
    with silent_refusals():
        columns = head_of(path).columns
    if not kinds or not {*kinds, *luck} <= set(columns):
        return reading
    return replace(reading, slot=[kind for kind in kinds if kind not in advantages], advantage=[*advantages, *luck])


def _fitted(kept: Any, results: Path | None, reading: AnyReadingOptions, asked: dict[str, Any]) -> Any:
    """The rater of a book, or one that is fitted on results."""
    from kinelo.cli.loading import plain_warnings

    if kept is not None:
        return kept
    past = reading.load(results or Path(), kind=CONTESTS)
    with plain_warnings():
        return fit_shown(contest_rater(asked["rater"], reading), past)


def _typed(
    rater: Any, match: str, number: int, aliases: Mapping[str, str], levels: Mapping[str, str]
) -> ContestForecast:
    """Forecast of the contest whose entrants are written between semicolons, their kinds between plus signs, under
    these levels of what luck depends on.
    """
    entrants = [one.strip() for one in match.split(";") if one.strip()]
    if len(entrants) < 2:
        raise InputError(f"--match {match!r:.60} names no contest; write its entrants as 'ANN; BOB; CID'.")
    several = len(getattr(rater, "kinds_", ())) > 1
    parts = [[aliases.get(name, name) for name in _names(one, several)] for one in entrants]
    strange = [name for name in levels if name not in (getattr(rater, "noise_by", None) or ())]
    if strange:
        raise InputError(f"Luck of {type(rater).__name__} does not depend on {strange[0]!r}: leave out its level.")
    field = [tuple(names) if len(names) > 1 else names[0] for names in parts]
    forecast = rater.predict_one(field, conditions=levels) if levels else rater.predict_one(field)
    return forecast.about(replace(forecast.contests, identifiers=(str(number),)))


def _names(entrant: str, several: bool) -> list[str]:
    """The name of an entrant, or of each of its kinds."""
    return [name.strip() for name in entrant.split(" + ")] if several else [entrant]


def _forecasts(
    to_come: Contests, kept: Any, results: Path, reading: AnyReadingOptions, asked: dict[str, Any]
) -> tuple[list[ContestForecast], Any]:
    """Forecasts of contests that took place since a day, each from those before it, and of those to come."""
    if kept is not None:
        return [_of_newcomers_too(kept, to_come)], kept
    past, said = reading.load(results, beside=asked["beside"], kind=CONTESTS), []
    rater = contest_rater(asked["rater"], reading)
    if asked["played_since"] is None:
        fit_shown(rater, past)
    else:
        earlier, later = past.before(asked["played_since"]), past.since(asked["played_since"])
        if not len(earlier):
            raise InputError(
                f"There are no contests before {asked['played_since']} to fit a rater on; choose a later one."
            )
        fit_shown(rater, earlier)
        said = [rater.one_step_ahead(later)] if len(later) else []
    return [*said, _of_newcomers_too(rater, to_come)] if len(to_come) or not said else said, rater


def _of_newcomers_too(rater: Any, to_come: Contests) -> ContestForecast:
    """Forecasts of contests to come; names never met are reported one by one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        return rater.predict(to_come)


def _to_come(contests: Contests, path: Path, since: str | None) -> Contests:
    import numpy as np

    empty = np.isnan(contests.place[contests.first[:-1]])
    if not empty.any() and since is None:
        raise InputError(
            f"All {len(contests):,} contests of {path} have taken place: none is left to forecast. --played-since DAY "
            "forecasts those since a day, each from the contests before it."
        )
    if not empty.all() and since is None:
        left_out = int((~empty).sum())
        typer.echo(f"note: {left_out:,} contests that have taken place are left out (see --played-since)", err=True)
    return contests[empty]


def raters_to_compare(asked: list[str] | None, reading: AnyReadingOptions) -> dict[str, Any]:
    """The raters of contests asked for, or Kinelo's beside plain Elo."""
    from kinelo.raters.team.rater import TeamElo

    if asked:
        return {type(r).__name__: r for r in (contest_rater(name, reading) for name in asked)}
    return {"RankElo": contest_rater(RATER, reading), "plain Elo, K = 32": TeamElo.classic(k=32)}
