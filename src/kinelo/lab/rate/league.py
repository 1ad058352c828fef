"""A league that was rated, of matches or of contests: what the page shows of either, and what either may be asked."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.advice.charts import calibration_chart, outcome_words
from kinelo.decisions.choosing import next_matches
from kinelo.decisions.telling_apart import board_with_tiers
from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.backtest import backtest
from kinelo.lab.rate.reading import ASKED_COLUMNS, start_of
from kinelo.lab.rate.tables import UploadedTable
from kinelo.matches.contests import Contests
from kinelo.matches.kinds import Kind
from kinelo.matches.matches import Matches
from kinelo.pages.page import write_page
from kinelo.presentation import percent
from kinelo.raters.adapter import blank_of, carry_on
from kinelo.raters.choice import all_raters, rater_called
from kinelo.raters.explanation import explain_last
from kinelo.raters.history import broken_line, rating_history
from kinelo.raters.leaderboard import board_and_words, boards_by_kind
from kinelo.raters.qualifying import ACTIVE_DAYS, LEAST_MATCHES
from kinelo.raters.questions import answers
from kinelo.raters.tables import (
    board_table,
    effects_table,
    left_out_words,
    luck_table,
    parameters_table,
    pool_words,
    tier_words,
)

MOST_BOARD_ROWS = 5000
MOST_HISTORIES = 24
LEAST_CHECKED = 40
BESIDE_CELLS = ("name", "place", "rating", "uncertainty", "team", "note", "pool")
"""What the page needs of a row beside its cells: to find it, to draw its bar, to say more below its name."""


def summary(table: Matches | Contests) -> dict[str, Any]:
    """What was read."""
    lineups = getattr(table, "lineups", None)
    return {
        "matches": len(table),
        "teams": len(table.present),
        "words": [table.kind.noun, table.kind.who],
        "first": str(table.date[0]) if table.dated else None,
        "last": str(table.date[-1]) if table.dated else None,
        "notes": list(table.notes),
        "lineups": None if lineups is None else int(lineups.known().sum()),
    }


def first_matches(matches: Matches, most: int = 6) -> list[dict[str, Any]]:
    """The first matches as they were read."""
    head = matches[:most]
    table = head.to_polars().select("date", "home", "away", "result", "neutral", *head.conditions)
    if not matches.dated:
        table = table.drop("date")
    lineups = head.lineups
    if lineups is not None:
        sizes = np.diff(lineups.offsets).reshape(-1, 2)
        table = table.with_columns(players=pl.Series([f"{home} and {away}" for home, away in sizes.tolist()]))
    return [
        {name: str(value) if name == "date" else plain(value) for name, value in row.items()}
        for row in table.to_dicts()
    ]


def leaderboard(
    table: pl.DataFrame,
    rated: int,
    ranking: Mapping[str, Any],
    then: Mapping[str, int] | None = None,
    noun: str = "matches",
    everyone: str = "",
) -> dict[str, Any]:
    """A ranking: the table that every surface shows, and what the page does with a row beside its cells.

    ``left_out`` says how many are rated but not ranked, ``everyone`` that all are because nobody qualifies. ``then``
    are places at an earlier day; a row says what became of them: ``before``, None for who was not ranked.
    """
    listed = table.head(MOST_BOARD_ROWS)
    shown = board_table(listed, noun=noun, narrow=True).to_dict()
    kept = [name for name in BESIDE_CELLS if name in listed.columns]
    rows = [
        {name: plain(row[name]) for name in kept} | {"cells": cells}
        for row, cells in zip(listed.iter_rows(named=True), shown["rows"])
    ]
    if then is not None:
        rows = [{**row, "before": then.get(row["name"])} for row in rows]
    pools = listed["pool"].unique(maintain_order=True) if "pool" in listed.columns else []
    return {
        "columns": shown["columns"],
        "rows": rows,
        "below": tier_words(listed),
        "more": table.height - listed.height,
        "everyone": everyone,
        "left_out": left_out_words(rated - table.height, noun),
        "pools": {pool: pool_words(pool) for pool in pools} if len(pools) > 1 else {},
        "ranking": dict(ranking),
    }


def histories(history: pl.DataFrame, table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rating over time of those at the top of the table."""
    shown = table["name"].head(MOST_HISTORIES).to_list()
    stops = history["date"].unique().sort().to_numpy()
    parts = history.filter(pl.col("name").is_in(shown)).partition_by("name", as_dict=True)
    lines = []
    for name in shown:
        part = parts.get((name,))
        if part is not None:
            date, rating, _ = broken_line(part, stops)
            days = np.datetime_as_string(date.astype("datetime64[D]")).tolist()
            lines.append({"name": name, "date": days, "rating": [plain(float(value), 2) for value in rating]})
    return lines


def plain(value: Any, digits: int = 6) -> Any:
    """Numbers short enough to send, and None for what is none.

    >>> plain(math.nan), plain(1 / 3), plain("A")
    (None, 0.333333, 'A')
    """
    if isinstance(value, float):
        return round(value, digits) if math.isfinite(value) else None
    return value


def calibration(
    kind: str,
    matches: Matches,
    **asked: Any,
) -> tuple[dict[str, Any] | None, pl.DataFrame]:
    """Forecasts of the later half, made by a rater fitted on the earlier, and how they compare with what happened."""
    day = matches.date[len(matches) // 2]
    if day == matches.date[0] or len(matches.since(day)) < LEAST_CHECKED:
        return None, pl.DataFrame()
    with warnings.catch_warnings():
        # What there is to say about these matches was said when all of them were fitted.
        warnings.simplefilter("ignore", KineloWarning)
        test = backtest(matches, {kind: rater_called(kind, **asked)}, train_until=day)
    scores = test.scores.row(0, named=True)
    table = test.forecasts[kind].to_polars().with_columns(result=test.matches.result)
    sentence = (
        f"The log-loss is {scores['log_loss']:.4f}, the Brier score {scores['brier']:.3f}; the likeliest outcome "
        f"happened in {percent(scores['accuracy'])} of cases."
    )
    chart = calibration_chart(test.calibration(kind), outcome_words(matches))
    return {"chart": chart.to_dict(), "words": f"{forecast_words(matches, test.matches)} {sentence}"}, table


def forecast_words(played: Matches | Contests, tested: Matches | Contests) -> str:
    """How forecasts were made and what their chart shows."""
    return (
        f"A rater that had seen only the first {len(played) - len(tested):,} {played.kind.noun} forecast the other "
        f"{len(tested):,}, one by one. A dot on the dashed line is a chance that came true as often as it was given; "
        "a calibrated forecast lies within its line in 95 of 100 cases."
    )


EXPLAINED = 5
"""Matches whose changes are explained."""


def history_of(rows: pl.DataFrame, stops: NDArray) -> dict[str, list]:
    """Dates, ratings and uncertainties of one name, broken where it did not play for a year."""
    date, rating, doubt = broken_line(rows, stops)
    return {
        "date": np.datetime_as_string(date.astype("datetime64[D]")).tolist(),
        "rating": [plain(float(one), 2) for one in rating],
        "uncertainty": [plain(float(one), 2) for one in doubt],
        "matches": rows["matches"].to_list(),
    }


def ranks_of(history: pl.DataFrame, name: str, active_days: int = ACTIVE_DAYS) -> dict[str, list]:
    """Place of a side by rating at every date of a history, among those who had played within a year of it.

    >>> from datetime import date
    >>> day, later = date(2024, 1, 1), date(2024, 2, 1)
    >>> rows = {"date": [day, day, later], "name": ["A", "B", "B"], "rating": [10.0, 9.0, 11.0],
    ...         "last_played": [day, day, later]}
    >>> ranks_of(pl.DataFrame(rows), "A")
    {'date': ['2024-01-01', '2024-02-01'], 'place': [1, 2], 'of': [2, 2]}
    """
    dates = history["date"].unique().sort()
    names = history["name"].unique(maintain_order=True)
    row = dates.search_sorted(history["date"]).to_numpy()
    code = {one: k for k, one in enumerate(names.to_list())}
    column = np.array([code[one] for one in history["name"].to_list()])
    rating = np.full((dates.len(), names.len()), np.nan)
    played = np.full(rating.shape, np.datetime64("NaT"), "datetime64[D]")
    rating[row, column] = history["rating"].to_numpy()
    played[row, column] = history["last_played"].to_numpy().astype("datetime64[D]")
    day = dates.to_numpy().astype("datetime64[D]")
    for k in range(1, len(day)):
        missing = np.isnan(rating[k])
        rating[k, missing], played[k, missing] = rating[k - 1, missing], played[k - 1, missing]
    active = (day[:, None] - played).astype("timedelta64[D]").astype(float) <= active_days
    active &= ~np.isnan(rating)
    own = rating[:, code[name]] if name in code else np.full(len(day), np.nan)
    place = 1 + ((rating > own[:, None]) & active).sum(axis=1)
    here = active[:, code[name]] if name in code else np.zeros(len(day), bool)
    return {
        "date": np.datetime_as_string(day).tolist(),
        "place": [int(one) if there else None for one, there in zip(place, here)],
        "of": active.sum(axis=1).tolist(),
    }


HISTORY_STOPS = 120
MOST_CONSIDERED = 500
"""Of those ranked, the first who may play next."""


class League:
    """What was played, rater and rankings of one visitor's league.

    ``chosen`` is what the visitor chose: columns, rater, conditions, on what luck may depend, reading, and whether
    ratings that the file states are those to begin with. Where several kinds are rated, such as drivers and cars, a
    name is known to the page as ``"kind: name"``.
    """

    kind: ClassVar[Kind]
    caution: ClassVar[float]
    """Standard deviations taken off before a first ranking."""
    kinds: tuple[str, ...] = ("",)

    rater: Any
    _named: str
    """What the page calls the rater."""
    _choice: Any = None
    """How it was chosen, where that was left to Kinelo."""

    def __init__(
        self,
        played: Matches | Contests,
        tables: Mapping[str, UploadedTable],
        chosen: dict[str, Any],
        progress: Callable[[Any], None],
    ) -> None:
        self.played: Any = played
        self.chosen, self._tables = chosen, tables
        self.start = start_of(tables, stated=chosen["stated"])
        self._fit(progress)
        progress("Following the ratings through time")
        history = rating_history(self.rater, played, points=HISTORY_STOPS)
        self.history = history.with_columns(name=self._keys(history))
        progress("Checking the forecasts")
        self._checked, forecasts = self._check_forecasts()
        self._surprises: pl.DataFrame | None = None
        self._earlier: dict[float, tuple[Any, Any]] = {}
        self.downloads: dict[str, pl.DataFrame] = {
            "ratings": self._ratings(), "histories": history, "forecasts": forecasts
        }  # fmt: skip
        first = {"active_days": ACTIVE_DAYS, "least_matches": LEAST_MATCHES, "caution": self.caution}
        self._board = self._ranked(first)

    # What each kind does in its own way

    def _fit(self, progress: Callable[[Any], None]) -> None:
        """Choose and fit the rater."""
        raise NotImplementedError

    def _check_forecasts(self) -> tuple[dict[str, Any] | None, pl.DataFrame]:
        """How good forecasts of the later half were, and these; None where there are too few."""
        raise NotImplementedError

    def _ratings(self) -> pl.DataFrame:
        return self.rater.ratings_

    def _described(self) -> dict[str, Any]:
        """What the page shows of this kind alone."""
        raise NotImplementedError

    def _labels(self) -> dict[str, str]:
        """What to show of a name that is shown otherwise."""
        raise NotImplementedError

    def team(self, name: str) -> dict[str, Any]:
        """The page of one name."""
        raise NotImplementedError

    def _refuse(self) -> InputError:
        return InputError("This is done with matches of two sides, not with contests of many.")

    def matches_alone(self) -> Matches:
        """The matches, where they are matches."""
        raise self._refuse()

    def odds(
        self, kind: str, points: dict[str, float], rules: dict[str, float], best: int, fixtures: bool
    ) -> dict[str, Any]:
        """How a season or a cup may end: of the fixtures, or of so many of the best."""
        raise self._refuse()

    def predict(self, home: str, away: str, neutral: bool, conditions: dict[str, str] | None = None) -> dict[str, Any]:
        """Forecast one match to be played after the last of the file."""
        raise self._refuse()

    def field(self, entrants: list[list[list[str]]], conditions: dict[str, str] | None = None) -> dict[str, Any]:
        """Chances of entrants who meet in a contest after the last, the likeliest winner first."""
        raise InputError("A field is forecast from contests of many, not from matches of two sides.")

    # What is the same of both

    def _asked(self) -> dict[str, Any]:
        """What the rater is given beside results."""
        return {"start": self.start} | {what: self.chosen[what] for what in ASKED_COLUMNS}

    def _key(self, kind: str, name: str) -> str:
        return name if len(self.kinds) == 1 else f"{kind}: {name}"

    def _keys(self, table: pl.DataFrame, kind: str = "") -> pl.Series:
        """What the page calls the names of a table that says their kinds, or of one kind."""
        kinds = table["kind"] if "kind" in table.columns else [kind] * table.height
        keys = [self._key(of, name) for of, name in zip(kinds, table["name"])]
        return pl.Series("name", keys, dtype=pl.String)

    def described(self) -> dict[str, Any]:
        """The league as the page shows it."""
        luck, effects = luck_table(self.rater), effects_table(self.rater)
        has_lineups = getattr(self.played, "lineups", None) is not None
        raters = {name: one.kind for name, one in all_raters(self.kind).items() if has_lineups or not one.needs_lineups}
        tops = {kind: board.head(self._lines_of_each()) for kind, board in self._boards().items()}
        top = pl.concat(board.with_columns(self._keys(board, kind)) for kind, board in tops.items())
        return {
            "each_row": self.kind.noun,
            "rater": getattr(self.rater, "label", type(self.rater).__name__),
            "raters": raters,
            "chosen": None if self._choice is None else str(self._choice),
            "summary": summary(self.played),
            "leaderboard": self._board,
            "parameters": parameters_table(self.rater).to_dict(),
            "luck": None if luck is None else luck.to_dict(),
            "effects": None if effects is None else effects.to_dict(),
            "histories": histories(self.history, top),
            "calibration": self._checked,
            "labels": self._labels(),
            **self._described(),
        }

    def _boards(self) -> dict[str, pl.DataFrame]:
        """The ranking as it stands, by kinds where there are any."""
        return boards_by_kind(self.downloads["leaderboard"])

    def _lines_of_each(self) -> int:
        """Of how many of each kind histories are drawn, at most."""
        return self.downloads["leaderboard"].height

    def _ranked(self, ranking: dict[str, Any], then: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Rank by these rules: the board of every kind, and the table to download."""
        board, everyone = board_and_words(self.rater, self.played, **ranking)
        self.downloads["leaderboard"] = board_with_tiers(self.rater, board)
        self._ranking, boards = ranking, {}
        for kind, table in self._boards().items():
            rated = self.downloads["ratings"]
            number = rated.filter(pl.col("kind") == kind).height if kind else rated.height
            shown = table.with_columns(self._keys(table, kind))
            words = everyone if shown.height == number else ""
            boards[kind] = leaderboard(shown, number, ranking, then, self.kind.noun, words)
        first = boards[self.kinds[0]]
        return first if self.kinds == ("",) else {**first, "boards": boards}

    def rank(
        self, active_days: float | None, least_matches: int, caution: float, period: float | None = None
    ) -> dict[str, Any]:
        """Rank those rated by other rules, with places so many days before the end."""
        ranking = {"active_days": active_days, "least_matches": least_matches, "caution": caution}
        if period is None:
            return self._ranked(ranking)
        if not self.played.dated:
            raise InputError("Without dates nothing moves.")
        if period not in self._earlier:
            before = self.played.before(self.played.date[-1] - np.timedelta64(int(period), "D") + 1)
            walker = blank_of(self.rater)
            if len(before):
                carry_on(walker, before)
            self._earlier[period] = (walker, before)
        walker, before = self._earlier[period]
        then = {}
        if len(before):
            table, _ = board_and_words(walker, before, **ranking)
            then = {name: place for name, place in zip(self._keys(table), table["place"]) if place is not None}
        return self._ranked(ranking, then)

    def _name_of(self, key: str) -> str:
        """The name that the page calls so."""
        return key

    def why(self, name: str) -> dict[str, Any]:
        """Why the rating of one side, player or entrant moved, in words and as a table that adds up."""
        if not answers(self.rater, "explain_last"):
            return {"words": f"{type(self.rater).__name__} cannot say why ratings moved.", "table": None}
        moves = explain_last(self.rater, self._name_of(name), self.played, last=EXPLAINED)
        return {"words": moves.summary(), "lines": moves.lines()[1:][::-1], "table": moves.table().to_dict()}

    def next(self, target: str, count: int, size: int) -> dict[str, Any]:
        """What those ranked should play next, so that it tells most."""
        there = next(iter(self._boards().values()))["name"].to_list()[:MOST_CONSIDERED]
        found = next_matches(self.rater, count=count, target=target, candidates=there, size=size).table()
        return {"words": " ".join(found.below), "table": replace(found, below=()).to_dict()}

    def share(self, path: str, title: str) -> None:
        """Write the page of the ratings."""
        write_page(self.rater, path, matches=self.played, title=title, ranking=self._ranking)
