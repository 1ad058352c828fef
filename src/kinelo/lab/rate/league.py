"""A league that was rated, of matches or of contests: what the page shows of either, and what either may be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.lab.rate.standings import histories, leaderboard, summary
from kinelo.lab.rate.tables import UploadedTable
from kinelo.lab.rate.teams import why_moved
from kinelo.matches.contests import Contests
from kinelo.matches.kind import Kind
from kinelo.matches.matches import Matches
from kinelo.pages.page import write_page
from kinelo.raters.adapter import blank_of, carry_on
from kinelo.raters.history import rating_history
from kinelo.raters.leaderboard import board_and_words, boards_by_kind
from kinelo.raters.qualifying import ACTIVE_DAYS, LEAST_MATCHES
from kinelo.raters.tables import effects_table, luck_table, parameters_table

HISTORY_STOPS = 120


class League:
    """What was played, rater and rankings of one visitor's league.

    ``chosen`` is what the visitor chose: columns, rater, conditions, on what luck may depend, and reading. Where
    several kinds are rated, such as drivers and cars, a name is known to the page as ``"kind: name"``.
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
        tops = {kind: board.head(self._lines_of_each()) for kind, board in self._boards().items()}
        top = pl.concat(board.with_columns(self._keys(board, kind)) for kind, board in tops.items())
        return {
            "each_row": self.kind.noun,
            "rater": self._named,
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
        self.downloads["leaderboard"], everyone = board_and_words(self.rater, self.played, **ranking)
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
        return self._ranked(ranking, None if period is None else self._places_then(period, ranking))

    def _places_then(self, period: float, ranking: Mapping[str, Any]) -> dict[str, int]:
        """Places by the same rules so many days before the end."""
        if not self.played.dated:
            raise InputError("Without dates nothing moves.")
        if period not in self._earlier:
            before = self.played.before(self.played.date[-1] - np.timedelta64(int(period), "D") + 1)
            walker = blank_of(self.rater)
            if len(before):
                carry_on(walker, before)
            self._earlier[period] = (walker, before)
        walker, before = self._earlier[period]
        if not len(before):
            return {}
        table, _ = board_and_words(walker, before, **ranking)
        return {name: place for name, place in zip(self._keys(table), table["place"]) if place is not None}

    def _name_of(self, key: str) -> str:
        """The name that the page calls so."""
        return key

    def why(self, name: str) -> dict[str, Any]:
        """Why the rating of one side, player or entrant moved."""
        return why_moved(self.rater, self.played, self._name_of(name))

    def share(self, path: str, title: str) -> None:
        """Write the page of the ratings."""
        write_page(self.rater, path, matches=self.played, title=title, ranking=self._ranking)
