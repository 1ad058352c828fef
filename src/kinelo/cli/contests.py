"""Contests of many entrants on the command line: what rate, predict, backtest and leaderboard do with a long table."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    from kinelo.book.book import RatingBook
    from kinelo.cli.options import AnyReadingOptions, Federation, ShownOptions
    from kinelo.forecasts.places import ContestForecast
    from kinelo.matches.contests import Contests

ENTRANTS_SHOWN = 60
RATER = "rank"
"""What ``--rater`` calls the rater of contests."""

_FOR_MATCHES = ("--lineups", "--scale", "--drop-repeats", "--ordered", "--write-aliases")


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


def load_contests(
    path: Path, reading: AnyReadingOptions, rejects: Path | None = None, *, played: bool = True
) -> Contests:
    """Read a long table, say on the error stream what was noticed, and write rejected rows where asked."""
    from kinelo.cli.loading import column_mapping, rejects_written, report_reading, silent_refusals
    from kinelo.matches.contest_reading import read_contests

    odd = [option for option in reading.asked() if option in _FOR_MATCHES]
    if odd:
        raise InputError(f"{path} holds contests of many entrants, for which there is no {odd[0]}.")
    with silent_refusals(), rejects_written(rejects):
        contests = read_contests(
            path, column_mapping(reading.column), played=played, sheet=reading.sheet, **_options(reading)
        )
    report_reading(cast("Any", contests), rejects)
    return contests


def _options(reading: AnyReadingOptions) -> dict[str, Any]:
    """What the reader of contests is asked for beside columns; conditions, and what luck depends on, are advantages."""
    asked = dict.fromkeys([*(reading.condition or ()), *(reading.noise_by or ())])
    conditions = [name for name in asked if name not in _slots(reading.advantage)]
    return {
        "slots": _slots(reading.slot),
        "advantages": _slots([*(reading.advantage or ()), *conditions]),
        "team": reading.team,
        "best": reading.best,
        "unfinished": reading.unfinished or "behind",
        "disqualified": reading.disqualified or "out",
        "not_started": reading.not_started or "out",
        "aliases": reading.aliases,
        "dates": reading.dates,
        "endings": _pairs(reading.ending),
        "accept_losses": reading.accept_losses,
    }


def _pairs(given: list[str] | None) -> dict[str, str]:
    """``["XYZ=unfinished"]`` as a dictionary."""
    for pair in given or []:
        if not all(pair.partition("=")):
            raise InputError(f"--ending {pair!r:.60} is not of the form WORD=unfinished.")
    return {word.strip(): ending.strip() for word, _, ending in (pair.rpartition("=") for pair in given or [])}


def _slots(given: list[str] | None) -> dict[str, list[str]]:
    """``["driver", "player=p1", "player=p2"]`` as kinds with their columns."""
    kinds: dict[str, list[str]] = {}
    for one in given or []:
        kind, equals, column = one.partition("=")
        kinds.setdefault(kind.strip(), []).append(column.strip() if equals else kind.strip())
    return kinds


def contest_rater(name: str, reading: AnyReadingOptions, federation: Federation | None = None) -> Any:
    """The rater of contests that options ask for."""
    from kinelo.raters.rank.rater import RankElo

    if federation is not None and federation != replace(federation, k=None, k_of=None, k_first=None, rules=None):
        return federation.rater(name, *reading.asked_of_rater())
    if name not in (AUTOMATIC, RATER):
        raise InputError(f"--rater {name} rates matches of two sides; contests are rated by --rater {RATER} or --k.")
    initial = 1500.0 if federation is None or federation.initial is None else federation.initial
    return RankElo(initial=initial, start=reading.start, conditions=reading.condition, noise_by=reading.noise_by)


def _fit(rater: Any, contests: Any) -> Any:
    """Fit a rater, which shows on a terminal how far it is where that takes long."""
    if hasattr(rater, "progress"):
        rater.progress = sys.stderr.isatty()
    return rater.fit(contests)


def _title(rater: Any, contests: Contests) -> str:
    return f"{len(contests):,} contests, {getattr(rater, 'label', type(rater).__name__)}"


def rate_file(
    path: Path, reading: AnyReadingOptions, federation: Federation, shown: ShownOptions, asked: dict[str, Any]
) -> None:
    """``kinelo rate`` of a long table; ``asked`` holds rater, book, out, picture, rejects and as_json."""
    asked = {**asked, "ranking": shown.ranking()}
    from kinelo.cli.loading import plain_warnings
    from kinelo.cli.rating import content_of, show_estimates, show_leaderboard, show_tables
    from kinelo.raters.tables import advantages_table, luck_table

    as_json = asked["as_json"]
    kept, rater = _rater_or_book(asked["book"], asked["rater"], federation, reading)
    reading = reading if kept is None else as_rated(reading, kept.rater, path)
    contests = load_contests(path, reading, asked["rejects"])
    with plain_warnings():
        rater = _rated(kept, rater, contests, asked["book"], quiet=as_json)
    if as_json:
        content = content_of(rater, contests, None)
        echo_json({"contests" if name == "matches" else name: value for name, value in content.items()})
    else:
        show_leaderboard(rater, contests, _title(rater, contests), shown, noun="contests")
        show_estimates(rater)
        show_tables(advantages_table(rater), luck_table(rater))
    _write_ratings(rater, contests, path, asked)


def _rater_or_book(
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


def _rated(kept: RatingBook | None, rater: Any, contests: Contests, book: str | Path | None, *, quiet: bool) -> Any:
    """The rater after these contests; those of a book are counted in it."""
    from kinelo.cli.rating import add_to_book
    from kinelo.raters.team.contests import slots_not_used

    if kept is None:
        _fit(rater, contests)
    unused = [] if type(rater if kept is None else kept.rater).__name__ == "RankElo" else slots_not_used(contests)
    if unused:
        said = f"plain Elo rates each entrant as a whole and does not use {' and '.join(unused)}; --rater rank does"
        typer.echo(f"note: {said}", err=True)
    return rater if book is None else add_to_book(book, kept, rater, contests, quiet=quiet)


def _write_ratings(rater: Any, contests: Contests, path: Path, asked: dict[str, Any]) -> None:
    """The table or page, and the picture, where they are asked for."""
    from kinelo.cli.files import is_page
    from kinelo.cli.loading import write_csv

    out, as_json = asked["out"], asked["as_json"]
    if is_page(out):
        from kinelo.pages.page import write_page

        typer.echo(
            f"Page: {write_page(rater, out, matches=contests, title=path.stem, ranking=asked['ranking'])}", err=as_json
        )
    elif out is not None:
        write_csv(rater.ratings_, out)
        typer.echo(f"Ratings: {out}", err=as_json)
    if asked["picture"] is not None:
        from kinelo.pictures.histories import draw_histories
        from kinelo.pictures.style import save
        from kinelo.raters.history import rating_history

        typer.echo(f"Picture: {save(draw_histories(rating_history(rater, contests)), asked['picture'])}", err=as_json)


def rate_in_chunks(pattern: str, reading: AnyReadingOptions, asked: dict[str, Any]) -> None:
    """Rate contests of files that need not fit into memory; ``asked`` holds rater, federation, shown and out."""
    from kinelo.cli.loading import column_mapping, plain_warnings, write_csv
    from kinelo.cli.rating import show_leaderboard
    from kinelo.matches.contest_scan import scan_contests

    scan = scan_contests(pattern, column_mapping(reading.column), **_options(reading))
    for note in scan.notes:
        typer.echo(f"note: {note}", err=True)
    with plain_warnings():
        rater = _fit(contest_rater(asked["rater"], reading, asked["federation"]), scan)
    table = rater.ratings_
    title = f"{len(scan.files):,} files, {table.height:,} names, {type(rater).__name__}"
    show_leaderboard(rater, None, title, asked["shown"], noun="contests")
    if asked["out"] is not None:
        write_csv(table, asked["out"])
        typer.echo(f"Ratings: {asked['out']}")


def predict_file(
    fixtures: Path | None, results: Path | None, reading: AnyReadingOptions, asked: dict[str, Any]
) -> None:
    """``kinelo predict`` of contests to come; ``asked`` holds match, rater, book, played_since, out and as_json."""
    import polars as pl

    from kinelo.cli.loading import plain_warnings, write_csv
    from kinelo.forecasts.places import contest_forecast_tables

    book = asked["book"]
    with plain_warnings():
        kept = None if book is None else open_contest_book(book, asked["rater"], reading).rater
    if fixtures is None:
        rater = _fitted(kept, results, reading, asked)
        forecasts = [_typed(rater, one, number) for number, one in enumerate(asked["match"], 1)]
    else:
        reading = as_rated(reading, kept, fixtures)
        to_come = _to_come(load_contests(fixtures, reading, played=False), fixtures, asked["played_since"])
        with plain_warnings():
            forecasts, rater = _forecasts(to_come, kept, results or fixtures, reading, asked)
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
    past = load_contests(results or Path(), reading)
    with plain_warnings():
        return _fit(contest_rater(asked["rater"], reading), past)


def _typed(rater: Any, match: str, number: int) -> ContestForecast:
    """Forecast of the contest whose entrants are written between semicolons, their kinds between plus signs."""
    entrants = [one.strip() for one in match.split(";") if one.strip()]
    if len(entrants) < 2:
        raise InputError(f"--match {match!r:.60} names no contest; write its entrants as 'ANN; BOB; CID'.")
    several = len(getattr(rater, "kinds_", ())) > 1
    split = [tuple(part.strip() for part in one.split(" + ")) if several and " + " in one else one for one in entrants]
    forecast = rater.predict_one(split)
    return forecast.about(replace(forecast.contests, identifiers=(str(number),)))


def _forecasts(
    to_come: Contests, kept: Any, results: Path, reading: AnyReadingOptions, asked: dict[str, Any]
) -> tuple[list[ContestForecast], Any]:
    """Forecasts of contests that took place since a day, each from those before it, and of those to come."""
    if kept is not None:
        return [kept.predict(to_come)], kept
    past, said = load_contests(results, reading), []
    rater = contest_rater(asked["rater"], reading)
    if asked["played_since"] is None:
        _fit(rater, past)
    else:
        earlier, later = past.before(asked["played_since"]), past.since(asked["played_since"])
        if not len(earlier):
            raise InputError(
                f"There are no contests before {asked['played_since']} to fit a rater on; choose a later one."
            )
        _fit(rater, earlier)
        said = [rater.one_step_ahead(later)] if len(later) else []
    return [*said, rater.predict(to_come)] if len(to_come) or not said else said, rater


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


def backtest_file(path: Path, reading: AnyReadingOptions, asked: dict[str, Any]) -> None:
    """``kinelo backtest`` of a long table; ``asked`` holds the options of that command by name, and its engine."""
    from kinelo.cli.loading import plain_warnings, write_csv
    from kinelo.cli.scores import draw_scores, show_scores
    from kinelo.forecasts.backtest import backtest
    from kinelo.raters.team.rater import TeamElo

    contests = load_contests(path, reading, asked["rejects"])
    contests = contests if asked["since"] is None else contests.since(asked["since"])
    if len(contests) < 2:
        raise InputError(f"A backtest needs contests to fit and to forecast; there are {len(contests)} in all.")
    if asked["rater"]:
        raters = {type(r).__name__: r for r in (contest_rater(name, reading) for name in asked["rater"])}
    else:
        raters = {"RankElo": contest_rater(RATER, reading), "plain Elo, K = 32": TeamElo.classic(k=32)}
    middle = len(contests) // 2
    first_day = asked["train_until"] or (str(contests.date[middle]) if contests.dated else middle)
    with plain_warnings(), asked["engine"] as client:
        test = backtest(
            contests, raters, train_until=first_day, metrics=asked["metric"], client=client,
            progress=sys.stderr.isatty(),
        )  # fmt: skip
    if asked["as_json"]:
        echo_json(test.to_dict() | {"train_until": str(first_day), "differences": test.differences().to_dicts()})
    else:
        show_scores(test, str(first_day) if contests.dated else test.contests.labels[0])
    if asked["out"] is not None:
        write_csv(test.scores, asked["out"])
        typer.echo(f"Scores: {asked['out']}", err=asked["as_json"])
    draw_scores(test, asked["picture"], asked["as_json"])


def leaderboard_file(path: Path, reading: AnyReadingOptions, shown: ShownOptions, asked: dict[str, Any]) -> None:
    """``kinelo leaderboard`` of a long table or a book of contests; ``asked`` holds rater, caution, out and as_json."""
    from kinelo.cli.loading import plain_warnings, write_csv
    from kinelo.cli.rating import show_board
    from kinelo.raters.leaderboard import board_and_words

    if asked["odd"]:
        raise InputError(f"{path} holds contests of many entrants, for which there is no {asked['odd'][0]}.")
    with plain_warnings():
        if is_contest_book(path):
            book = open_contest_book(path, asked["rater"], reading)
            contests, rater = cast("Contests", book.matches()), book.rater
        else:
            contests = load_contests(path, reading)
            rater = _fit(contest_rater(asked["rater"], reading), contests)
    table, said = board_and_words(rater, contests, caution=asked["caution"], **shown.ranking())
    if asked["out"] is not None:
        write_csv(table, asked["out"])
    if asked["as_json"]:
        echo_json(table.to_dicts())
        return
    show_board(table, said, rater, _title(rater, contests), shown.top, "contests")
