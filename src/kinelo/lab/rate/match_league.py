"""A league of matches that was rated: what the page shows of it, and what it may be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from kinelo.advice.charts import side_names
from kinelo.errors import InputError
from kinelo.forecasts.season import season_rules
from kinelo.lab.rate.odds import can_raise, odds
from kinelo.lab.rate.reading import ReadingPanel, aliases_of
from kinelo.lab.rate.standings import (
    calibration,
    histories,
    leaderboard,
    summary,
)
from kinelo.lab.rate.tables import UploadedTable, all_labels
from kinelo.lab.rate.teams import fixtures_of, team_page, why_moved
from kinelo.matches.kind import MATCHES
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.pages.page import write_page
from kinelo.raters.adapter import blank_of, carry_on
from kinelo.raters.choice import AUTOMATIC, RATERS, all_raters, candidates, choose_rater, rater_called
from kinelo.raters.history import rating_history
from kinelo.raters.leaderboard import board_and_words
from kinelo.raters.qualifying import ACTIVE_DAYS, CAUTION, LEAST_MATCHES
from kinelo.raters.rater import Rater
from kinelo.raters.tables import luck_table, parameters_table
from kinelo.raters.upset_table import upsets


class MatchLeague:
    """Matches, rater and rankings of one visitor's league.

    ``chosen`` is what the visitor chose: columns, rater, conditions, on what luck may depend, and reading.
    """

    kind = MATCHES

    def __init__(
        self,
        matches: Matches,
        tables: Mapping[str, UploadedTable],
        chosen: dict[str, Any],
        progress: Callable[[Any], None],
    ) -> None:
        self.matches, self.chosen, self._tables = matches, chosen, tables
        self._choice, self._named = None, chosen["rater"]
        asked = {name: chosen[name] for name in ("conditions", "noise_by")}
        if self._named == AUTOMATIC:
            progress("Comparing the raters on these matches")
            self._choice = choose_rater(matches, candidates(matches, **asked))
            self.rater: Rater = self._choice.rater  # type: ignore[assignment]
            self._named = next(name for name, one in RATERS.items() if one.kind == self._choice.name)
        else:
            progress(f"Fitting {len(matches):,} matches")
            self.rater = _rater_called(self._named, **asked).fit(matches)
        progress("Following the ratings through time")
        self.history = rating_history(self.rater, matches, points=120)
        progress("Checking the forecasts")
        self._checked, forecasts = calibration(self._named, matches, **asked)
        self._ranking: dict[str, Any] = {
            "active_days": ACTIVE_DAYS, "least_matches": LEAST_MATCHES, "caution": CAUTION,
        }  # fmt: skip
        ranked, self._everyone = board_and_words(self.rater, matches, **self._ranking)
        self._surprises: pl.DataFrame | None = None
        self._earlier: dict[float, tuple[Rater, Matches]] = {}
        self.downloads: dict[str, pl.DataFrame] = {
            "leaderboard": ranked, "ratings": self.rater.ratings_, "histories": self.history, "forecasts": forecasts,
        }  # fmt: skip

    def described(self) -> dict[str, Any]:
        """The league as the page shows it."""
        luck = luck_table(self.rater)
        matches, fitted, ranked = self.matches, self.rater, self.downloads["leaderboard"]
        board = leaderboard(ranked, fitted.ratings_.height, self._ranking, everyone=self._everyone)
        return {
            "each_row": "matches",
            "rater": self._named,
            "chosen": None if self._choice is None else str(self._choice),
            "summary": summary(matches),
            "sides": list(side_names(matches)),
            "leaderboard": board,
            "parameters": parameters_table(fitted).to_dict(),
            "luck": None if luck is None else luck.to_dict(),
            "histories": histories(self.history, ranked),
            "calibration": self._checked,
            "teams": sorted(matches.present),
            "favourites": self._strongest(),
            "labels": self._labels(),
            "conditions": {name: list(one.levels) for name, one in matches.conditions.items()},
            "fixtures": self._described_fixtures(),
            "rules": season_rules(matches),
            "can_raise": can_raise(fitted),
        }

    def _strongest(self) -> list[str]:
        """Two sides worth a first look: the best rated, where sides are rated at all."""
        sides = set(self.matches.teams)
        return [name for name in self.downloads["leaderboard"]["name"] if name in sides][:2]

    def _labels(self) -> dict[str, str]:
        frames = {kind: table.frame for kind, table in self._tables.items()}
        return all_labels(frames, self.chosen["columns"], {*self.rater.ratings_["name"], *self.matches.teams})

    def _described_fixtures(self) -> dict[str, Any] | None:
        fixtures = self._fixtures()
        if fixtures is None:
            return None
        return {"matches": len(fixtures), "left": int(np.isnan(fixtures.result).sum()), "sides": len(fixtures.teams)}

    def _fixtures(self) -> Matches | None:
        """The fixtures that were dropped; a condition that they do not say is unknown."""
        if "fixtures" not in self._tables:
            return None
        frame, conditions = self._tables["fixtures"].frame, list(self.matches.conditions)
        missing = [pl.lit("").alias(name) for name in conditions if name not in frame.columns]
        options = ReadingPanel.read(self.chosen["reading"]).options()
        return read_matches(
            frame.with_columns(missing),
            played=False,
            conditions=conditions,
            aliases=aliases_of(self._tables),
            **options,
        )

    def team(self, name: str) -> dict[str, Any]:
        """The page of one side or player."""
        if self._surprises is None:
            self._surprises = upsets(self.rater, self.matches)
        page = team_page(self.rater, self.matches, name, self.history, self._surprises)
        return {**page, "fixtures": fixtures_of(self.rater, self._fixtures(), name)}

    def why(self, name: str) -> dict[str, Any]:
        """Why the rating of one side or player moved."""
        return why_moved(self.rater, self.matches, name)

    def odds(
        self, kind: str, points: dict[str, float], rules: dict[str, float], best: int, fixtures: bool
    ) -> dict[str, Any]:
        """How a season or a cup may end: of the fixtures, or of so many of the best."""
        rater, matches = self.rater, self.matches
        if fixtures and "fixtures" not in self._tables:
            raise InputError("There are no fixtures; drop a file of them, or take the best sides.")
        sides = set(matches.teams)
        names = [name for name in self.downloads["leaderboard"]["name"] if name in sides][:best]
        if not fixtures and len(names) < best:
            raise InputError(f"Only {len(names)} sides are ranked; {best} were asked for.")
        day = str(np.datetime_as_string(matches.date[-1] + np.timedelta64(1, "D")))
        return odds(
            rater,
            matches,
            self._fixtures() if fixtures else None,
            names,
            kind=kind,
            points=points,
            rules=rules,
            day=day,
        )

    def share(self, path: str, title: str) -> None:
        """Write the page of the ratings."""
        write_page(self.rater, path, matches=self.matches, title=title, ranking=self._ranking)

    def rank(
        self, active_days: float | None, least_matches: int, caution: float, period: float | None = None
    ) -> dict[str, Any]:
        """Rank those rated by other rules, with places so many days before the last match."""
        ranking = {"active_days": active_days, "least_matches": least_matches, "caution": caution}
        table, self._everyone = board_and_words(self.rater, self.matches, **ranking)
        self.downloads["leaderboard"], self._ranking = table, ranking
        then = None if period is None else self._places_then(period, ranking)
        return leaderboard(table, self.rater.ratings_.height, ranking, then, everyone=self._everyone)

    def _places_then(self, period: float, ranking: Mapping[str, Any]) -> dict[str, int]:
        """Places by the same rules so many days before the last match."""
        if not self.matches.dated:
            raise InputError("Without dates nothing moves.")
        if period not in self._earlier:
            before = self.matches.before(self.matches.date[-1] - np.timedelta64(int(period), "D") + 1)
            walker = blank_of(self.rater)
            if len(before):
                carry_on(walker, before)
            self._earlier[period] = (walker, before)
        walker, before = self._earlier[period]
        if not len(before):
            return {}
        table, _ = board_and_words(walker, before, **ranking)
        return {name: place for name, place in table.select("name", "place").iter_rows() if place is not None}

    def predict(self, home: str, away: str, neutral: bool, conditions: dict[str, str] | None = None) -> dict[str, Any]:
        """Forecast one match to be played after the last of the file."""
        if home == away:
            raise InputError("A side cannot play against itself; choose two.")
        day = np.datetime_as_string(self.matches.date[-1])
        match = {"home": [home], "away": [away], "neutral": [neutral], "date": [day]}
        used = list(self.matches.conditions)
        match |= {name: [(conditions or {}).get(name, "")] for name in used}
        forecast = self.rater.predict(read_matches(match, played=False, conditions=used))
        win, draw, loss = forecast.probabilities[0].tolist()
        changes = self._changes(home, away, {"date": day, "neutral": neutral}, conditions or {})
        return {"win": win, "draw": draw, "loss": loss, "unknown": list(forecast.unknown), "changes": changes}

    def _changes(self, home: str, away: str, said: dict[str, Any], levels: dict[str, str]) -> dict[str, Any] | None:
        """What the match would change; nothing where players are rated and nobody said who plays."""
        if not hasattr(self.rater, "preview"):
            return None
        known = {name: level for name, level in levels.items() if name in self.matches.conditions and level}
        try:
            return self.rater.preview(home, away, **said, **({"conditions": known} if known else {})).table().to_dict()
        except InputError:
            return None


def _rater_called(name: str, conditions: list[str], noise_by: list[str]) -> Rater:
    asked: dict[str, Any] = {"conditions": conditions, "noise_by": noise_by}
    lacking = {"conditions": "uses no conditions", "noise_by": "takes luck to be the same in all matches"}
    for what, columns in asked.items():
        try:
            rater_called(name, **{what: columns})
        except InputError:
            if not columns:
                raise
            kind = all_raters()[name].kind
            raise InputError(f"{kind} {lacking[what]}; leave this out, or rate otherwise.") from None
    return rater_called(name, **asked)
