"""A league of matches that was rated: what the page shows of it, and what it may be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from kinelo.advice.charts import side_names
from kinelo.errors import InputError
from kinelo.forecasts.season import season_rules
from kinelo.lab.rate.league import League
from kinelo.lab.rate.odds import can_raise, odds
from kinelo.lab.rate.reading import ASKED_COLUMNS, ReadingPanel, aliases_of
from kinelo.lab.rate.standings import calibration
from kinelo.lab.rate.tables import all_labels
from kinelo.lab.rate.teams import fixtures_of, team_page
from kinelo.matches.kind import MATCHES
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.raters.choice import AUTOMATIC, RATERS, all_raters, candidates, choose_rater, rater_called
from kinelo.raters.preview import preview
from kinelo.raters.qualifying import CAUTION
from kinelo.raters.questions import answers
from kinelo.raters.rater import Rater, traits_of
from kinelo.raters.upset_table import upsets


class MatchLeague(League):
    """Matches, rater and rankings of one visitor's league."""

    kind = MATCHES
    caution = CAUTION
    played: Matches

    def _fit(self, progress: Callable[[Any], None]) -> None:
        self._named = self.chosen["rater"]
        if self._named == AUTOMATIC:
            progress("Comparing the raters on these matches")
            self._choice = choose_rater(self.played, candidates(self.played, **self._asked()))
            self.rater: Rater = self._choice.rater  # type: ignore[assignment]
            self._named = next(name for name, one in RATERS.items() if one.kind == self._choice.name)
        else:
            progress(f"Fitting {len(self.played):,} matches")
            self.rater = _rater_called(self._named, **self._asked()).fit(self.played)

    def _asked(self) -> dict[str, Any]:
        return {name: self.chosen[name] for name in ASKED_COLUMNS}

    def _check_forecasts(self) -> tuple[dict[str, Any] | None, pl.DataFrame]:
        return calibration(self._named, self.played, **self._asked())

    def matches_alone(self) -> Matches:
        """The matches."""
        return self.played

    def _described(self) -> dict[str, Any]:
        matches = self.played
        return {
            "sides": list(side_names(matches)),
            "teams": sorted(matches.present),
            "favourites": self._strongest(),
            "conditions": {name: list(one.levels) for name, one in matches.conditions.items()},
            "fixtures": self._described_fixtures(),
            "rules": season_rules(matches),
            "can_raise": can_raise(self.rater),
            "covariates": self.chosen["covariates"],
        }

    def _strongest(self) -> list[str]:
        """Two sides worth a first look: the best rated, where sides are rated at all."""
        sides = set(self.played.teams)
        return [name for name in self.downloads["leaderboard"]["name"] if name in sides][:2]

    def _labels(self) -> dict[str, str]:
        frames = {kind: table.frame for kind, table in self._tables.items()}
        return all_labels(frames, self.chosen["columns"], {*self.rater.ratings_["name"], *self.played.teams})

    def _described_fixtures(self) -> dict[str, Any] | None:
        fixtures = self._fixtures()
        if fixtures is None:
            return None
        return {"matches": len(fixtures), "left": int(np.isnan(fixtures.result).sum()), "sides": len(fixtures.teams)}

    def _fixtures(self) -> Matches | None:
        """The fixtures that were dropped; a condition that they do not say is unknown."""
        if "fixtures" not in self._tables:
            return None
        frame, conditions = self._tables["fixtures"].frame, list(self.played.conditions)
        missing = [pl.lit(self._unsaid(name)).alias(name) for name in conditions if name not in frame.columns]
        options = ReadingPanel.read(self.chosen["reading"]).options()
        return read_matches(
            frame.with_columns(missing),
            played=False,
            conditions=conditions,
            aliases=aliases_of(self._tables),
            **options,
        )

    def _unsaid(self, column: str) -> str:
        """What a match to come has in a column of which nobody says anything: no condition, and the number 0."""
        return "0" if column in self.chosen["covariates"] else ""

    def team(self, name: str) -> dict[str, Any]:
        """The page of one side or player."""
        if self._surprises is None:
            self._surprises = upsets(self.rater, self.played)
        page = team_page(self.rater, self.played, name, self.history, self._surprises)
        return {**page, "fixtures": fixtures_of(self.rater, self._fixtures(), name)}

    def odds(
        self, kind: str, points: dict[str, float], rules: dict[str, float], best: int, fixtures: bool
    ) -> dict[str, Any]:
        """How a season or a cup may end: of the fixtures, or of so many of the best."""
        rater, matches = self.rater, self.played
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

    def predict(self, home: str, away: str, neutral: bool, conditions: dict[str, str] | None = None) -> dict[str, Any]:
        """Forecast one match to be played after the last of the file."""
        if home == away:
            raise InputError("A side cannot play against itself; choose two.")
        day = np.datetime_as_string(self.played.date[-1])
        match = {"home": [home], "away": [away], "neutral": [neutral], "date": [day]}
        used = list(self.played.conditions)
        said = {name: (conditions or {}).get(name) or self._unsaid(name) for name in used}
        match |= {name: [level] for name, level in said.items()}
        forecast = self.rater.predict(read_matches(match, played=False, conditions=used))
        win, draw, loss = forecast.probabilities[0].tolist()
        changes = self._changes(home, away, {"date": day, "neutral": neutral}, said)
        probabilities = {"win": win, "draw": draw, "loss": loss}
        return {**probabilities, "unknown": list(forecast.unknown), "changes": changes, "why_not": self._why_not()}

    def _why_not(self) -> str | None:
        """Why nothing is said of what a match would change, where that is so."""
        if not answers(self.rater, "preview"):
            return f"{type(self.rater).__name__} rates all matches at once: what one would change is not shown."
        if traits_of(self.rater).rates_players:
            return "Players are rated: what the match would change depends on who plays, which is not known here."
        return None

    def _changes(self, home: str, away: str, said: dict[str, Any], levels: dict[str, str]) -> dict[str, Any] | None:
        """What the match would change; nothing where that is not known."""
        if self._why_not():
            return None
        try:
            numbers = {name: float(levels[name]) for name in self.chosen["covariates"]}
            known = {name: level for name, level in levels.items() if level} | numbers
            return preview(self.rater, home, away, **said, **({"conditions": known} if known else {})).table().to_dict()
        except (InputError, ValueError):  # a number that is none was refused by the forecast
            return None


def _rater_called(name: str, **asked: Any) -> Rater:
    lacking = {
        "conditions": "uses no conditions",
        "noise_by": "takes luck to be the same in all matches",
        "covariates": "uses no numbers of matches",
    }
    for what, columns in asked.items():
        try:
            rater_called(name, **{what: columns})
        except InputError:
            if not columns:
                raise
            kind = all_raters()[name].kind
            raise InputError(f"{kind} {lacking[what]}; leave this out, or rate otherwise.") from None
    return rater_called(name, **asked)
