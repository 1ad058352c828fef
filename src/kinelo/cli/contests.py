"""Contests of many entrants on the command line: what rate, predict, backtest and leaderboard do with a long table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from kinelo.cli.streams import console, echo_json
from kinelo.errors import InputError
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    import polars as pl

    from kinelo.cli.options import Federation, ResultsOptions, ShownOptions
    from kinelo.forecasts.places import ContestForecast
    from kinelo.matches.contests import Contests

MOST_SHOWN = 60
RATER = "rank"
"""What ``--rater`` calls the rater of contests."""

_FOR_MATCHES = (
    "--lineups", "--scale", "--drop-repeats", "--dates", "--ordered", "--write-aliases", "--condition", "--start",
)  # fmt: skip


def holds_contests(path: Path, reading: ResultsOptions) -> bool:
    """Whether a file is a long table of contests, by its columns."""
    from kinelo.cli.loading import column_mapping, silent_refusals
    from kinelo.matches.contest_columns import are_contests
    from kinelo.matches.loading import columns_of

    if any(sign in str(path) for sign in "*?[") or not path.is_file():
        return False
    try:
        with silent_refusals():
            columns = columns_of(path)
    except InputError:
        return False  # the reader of matches says what is wrong
    return are_contests(columns, column_mapping(reading.column))


def load_contests(path: Path, reading: ResultsOptions, rejects: Path | None = None, *, played: bool = True) -> Contests:
    """Read a long table, say on the error stream what was noticed, and write rejected rows where asked."""
    from kinelo.cli.loading import column_mapping, rejects_written, report_reading, silent_refusals
    from kinelo.matches.contest_reading import read_contests

    odd = [option for option in reading.asked() if option in _FOR_MATCHES]
    if odd:
        raise InputError(f"{path} holds contests of many entrants, for which there is no {odd[0]}.")
    with silent_refusals(), rejects_written(rejects):
        contests = read_contests(
            path, column_mapping(reading.column), slots=_slots(reading.slot),
            advantages=_slots(reading.advantage), team=reading.team,
            best=cast("Any", reading.best), unfinished=cast("Any", reading.unfinished or "behind"),
            disqualified=cast("Any", reading.disqualified or "out"),
            not_started=cast("Any", reading.not_started or "out"), played=played, aliases=reading.aliases,
        )  # fmt: skip
    report_reading(cast("Any", contests), rejects)
    return contests


def _slots(given: list[str] | None) -> dict[str, list[str]]:
    """``["driver", "player=p1", "player=p2"]`` as kinds with their columns."""
    kinds: dict[str, list[str]] = {}
    for one in given or []:
        kind, equals, column = one.partition("=")
        kinds.setdefault(kind.strip(), []).append(column.strip() if equals else kind.strip())
    return kinds


def contest_rater(name: str, federation: Federation | None = None) -> Any:
    """The rater of contests that options ask for."""
    from kinelo.raters.rank.rater import RankElo

    plain = None if federation is None else federation.rater(AUTOMATIC)
    if plain is not None:
        return plain
    if name not in (AUTOMATIC, RATER):
        raise InputError(f"--rater {name} rates matches of two sides; contests are rated by --rater {RATER} or --k.")
    return RankElo()


def show_ratings(rater: Any, contests: Contests, shown: ShownOptions) -> None:
    """Print a leaderboard for each kind of slot."""
    from kinelo.cli.rating import board_table

    for kind, table in boards(rater, contests, shown).items():
        title = f"{len(contests):,} contests, {type(rater).__name__}"
        console().print(board_table(table, shown.top, f"{title}: {kind}" if kind else title, form=".0f"))


def boards(rater: Any, contests: Contests, shown: ShownOptions) -> dict[str, pl.DataFrame]:
    """Those of each kind who are active and took part often enough, the best first; all where nobody is."""
    from kinelo.raters.rank.leaderboard import contest_leaderboard

    return contest_leaderboard(rater, contests, active_days=shown.active_days, least_contests=shown.least_matches)


def rate_file(
    path: Path, reading: ResultsOptions, federation: Federation, shown: ShownOptions, asked: dict[str, Any]
) -> None:
    """``kinelo rate`` of a long table; ``asked`` holds rater, book, out, picture, rejects and as_json."""
    from kinelo.cli.loading import plain_warnings, write_csv
    from kinelo.cli.rating import add_to_book, content_of, show_parameters

    if asked["picture"] is not None or str(asked["out"] or "").endswith(".html"):
        raise InputError("Pictures and pages are made of matches of two sides; of contests, --out FILE.csv and --json.")
    rater, book, as_json = contest_rater(asked["rater"], federation), asked["book"], asked["as_json"]
    if book is not None and federation.k is not None:
        raise InputError("A book of contests is kept by --rater rank; leave out --k.")
    contests = load_contests(path, reading, asked["rejects"])
    with plain_warnings():
        if book is not None and (book / "book.knl").exists():
            from kinelo.book.book import RatingBook

            rater = add_to_book(book, RatingBook(book), None, contests, quiet=as_json)
        else:
            rater.fit(contests)
            if book is not None:
                rater = add_to_book(book, None, rater, contests, quiet=as_json)
    if as_json:
        content = content_of(rater, contests, None)
        echo_json({"contests" if name == "matches" else name: value for name, value in content.items()})
    else:
        show_ratings(rater, contests, shown)
        show_parameters(rater)
    if asked["out"] is not None:
        write_csv(rater.ratings_, asked["out"])
        typer.echo(f"Ratings: {asked['out']}", err=as_json)


def predict_file(fixtures: Path | None, results: Path | None, reading: ResultsOptions, asked: dict[str, Any]) -> None:
    """``kinelo predict`` of contests to come; ``asked`` holds rater, book, out and as_json."""
    from kinelo.cli.loading import plain_warnings, write_csv
    from kinelo.forecasts.places import contest_forecast_table

    if fixtures is None:
        raise InputError("Contests to come stand in a file: contest, entrants, and empty places.")
    to_come = _to_come(load_contests(fixtures, reading, played=False), fixtures)
    with plain_warnings():
        if asked["book"] is not None:
            from kinelo.book.book import RatingBook

            rater: Any = RatingBook(asked["book"]).rater
        else:
            rater = contest_rater(asked["rater"]).fit(load_contests(results or fixtures, reading))
        forecast: ContestForecast = rater.predict(to_come)
    for name in forecast.unknown:
        typer.echo(f"note: {name} has never taken part and is forecast as a newcomer", err=True)
    table = forecast.to_polars().sort("contest", "win", descending=[False, True], maintain_order=True)
    if asked["as_json"]:
        echo_json(table.to_dicts())
    else:
        console().print(contest_forecast_table(table).head(MOST_SHOWN))
    if asked["out"] is not None:
        write_csv(table, asked["out"])
        typer.echo(f"Forecasts: {asked['out']}", err=asked["as_json"])


def _to_come(contests: Contests, path: Path) -> Contests:
    import numpy as np

    empty = np.array([np.isnan(contests.place[lo]) for lo in contests.first[:-1]], bool)
    if not empty.any():
        raise InputError(f"All {len(contests):,} contests of {path} have taken place: none is left to forecast.")
    return contests[empty]


def backtest_file(path: Path, reading: ResultsOptions, asked: dict[str, Any]) -> None:
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
        raters = {type(rater).__name__: rater for rater in map(contest_rater, asked["rater"])}
    else:
        raters = {"RankElo": contest_rater(RATER), "plain Elo, K = 32": TeamElo.classic(k=32)}
    first_day = asked["train_until"] or str(contests.date[len(contests) // 2])
    with plain_warnings(), asked["engine"] as client:
        test = backtest(
            contests, raters, train_until=first_day, metrics=asked["metric"], client=client,
            progress=sys.stderr.isatty(),
        )  # fmt: skip
    if asked["as_json"]:
        echo_json(test.to_dict() | {"train_until": str(first_day), "differences": test.differences().to_dicts()})
    else:
        show_scores(test, first_day)
    if asked["out"] is not None:
        write_csv(test.scores, asked["out"])
        typer.echo(f"Scores: {asked['out']}", err=asked["as_json"])
    draw_scores(test, asked["picture"], asked["as_json"])


def leaderboard_file(path: Path, reading: ResultsOptions, shown: ShownOptions, asked: dict[str, Any]) -> None:
    """``kinelo leaderboard`` of a long table; ``asked`` holds rater, out and as_json."""
    import polars as pl

    from kinelo.cli.loading import plain_warnings, write_csv

    contests = load_contests(path, reading)
    with plain_warnings():
        rater = contest_rater(asked["rater"]).fit(contests)
    tables = boards(rater, contests, shown)
    table = pl.concat([t.insert_column(0, pl.Series("kind", [kind] * t.height)) for kind, t in tables.items()])
    if asked["out"] is not None:
        write_csv(table, asked["out"])
    if asked["as_json"]:
        echo_json(table.to_dicts())
    else:
        show_ratings(rater, contests, shown)
