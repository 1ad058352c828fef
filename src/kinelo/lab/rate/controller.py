"""The controller that rates a visitor's league: reads tables, fits a rater, forecasts, writes what can be downloaded.

Runs in a worker process. Every number comes from :mod:`kinelo.raters`, as on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.lab.rate.auditing import hand_over
from kinelo.lab.rate.comparing import write_matches
from kinelo.lab.rate.labels import all_labels
from kinelo.lab.rate.odds import can_raise, odds, season_rules
from kinelo.lab.rate.reading import Reading, aliases_of, matches_of
from kinelo.lab.rate.samples import sample_tables
from kinelo.lab.rate.session import read_session, write_session
from kinelo.lab.rate.standings import calibration, first_matches, histories, leaderboard, parameters, sides_of, summary
from kinelo.lab.rate.tables import Table, read_table
from kinelo.lab.rate.teams import fixtures_of, team_page
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.pages.page import write_page
from kinelo.raters.adapter import blank_of, carry_on
from kinelo.raters.choice import AUTOMATIC, RATERS, all_raters, candidates, choose_rater, rater_called
from kinelo.raters.history import rating_history
from kinelo.raters.leaderboard import ACTIVE_DAYS, LEAST_MATCHES
from kinelo.raters.leaderboard import leaderboard as ranked_by
from kinelo.raters.rater import Rater
from kinelo.raters.upset_table import upsets
from kinelo.results.spreadsheet import harmless


class RatingController:
    """Tables, matches and rater of one visitor; gone with the process."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._tables: dict[str, Table] = {}
        self._made_up = False
        self._forget_ratings()

    def _forget_ratings(self) -> None:
        """Ratings belong to the tables they were made from."""
        self._matches: Matches | None = None
        self._rater: Rater | None = None
        self._chosen: dict[str, Any] | None = None
        self._history = pl.DataFrame()
        self._surprises: pl.DataFrame | None = None
        self._ranking: dict[str, Any] = {}
        self._earlier: dict[float, tuple[Rater, Matches]] = {}
        self._downloads: dict[str, pl.DataFrame] = {}

    def look(self, kind: str, path: str, name: str, rows: int, columns: int, keep: str | None = None) -> dict[str, Any]:
        """Read an uploaded table and say what it holds; ``name`` is only ever shown.

        What was read is written to the file ``keep``, from which :meth:`restore` takes it in another process.
        """
        table = read_table(kind, Path(path), name, rows, columns)
        if keep is not None:
            table.write(Path(keep))
        return self._take(kind, table)

    def restore(self, kind: str, keep: str, name: str) -> dict[str, Any]:
        """Take a table that was read before."""
        return self._take(kind, Table.read(kind, name, Path(keep)))

    def _take(self, kind: str, table: Table) -> dict[str, Any]:
        kept = {} if self._made_up else self._tables
        self._tables, self._made_up = {**kept, kind: table}, False
        self._forget_ratings()
        return self.seen()

    def sample(self, name: str = "football") -> dict[str, Any]:
        """Take a made-up league instead of an upload."""
        self._tables = sample_tables(name)
        self._made_up = True
        self._forget_ratings()
        return self.seen()

    def save(self, path: str) -> dict[str, Any]:
        """Write tables and choices of a league that was rated to one file."""
        if self._chosen is None:
            raise InputError("Rate a league first; then the session can be saved.")
        write_session(Path(path), self._tables, self._chosen)
        return {}

    def open_session(self, path: str, name: str, rows: int, columns: int, keep: dict[str, str]) -> dict[str, Any]:
        """Take the tables of a saved session; they are written to the files of ``keep``."""
        tables, chosen = read_session(Path(path), name, rows, columns)
        for kind, table in tables.items():
            table.write(Path(keep[kind]))
        self._tables, self._made_up = tables, False
        self._forget_ratings()
        return {**self.seen(), "chosen": chosen}

    def forget(self, kind: str) -> dict[str, Any]:
        """Let go of a table."""
        self._tables.pop(kind, None)
        self._forget_ratings()
        return self.seen()

    def seen(self) -> dict[str, Any]:
        """Describe every table there is."""
        return {"tables": {kind: table.described() for kind, table in self._tables.items()}}

    def check(
        self, columns: dict[str, str], conditions: list[str], reading: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Say how the tables would be read: the first matches, notes, and the rows that would be set aside."""
        matches = matches_of(self._tables, columns, conditions, Reading.read(reading or {}))
        rejects = self._rejects(matches)
        return {
            "summary": summary(matches),
            "rows": first_matches(matches),
            "rejects": {"count": rejects.height, "reasons": matches.rejected.counts(), "rows": _first_rows(rejects, 8)},
        }

    def rate(
        self,
        columns: dict[str, str],
        rater: str,
        conditions: list[str] | None = None,
        reading: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Rate the league and describe the outcome."""
        self._forget_ratings()
        conditions, read = conditions or [], Reading.read(reading or {})
        if rater not in (AUTOMATIC, *all_raters()):
            raise InputError(f"There is no rater {rater!r}; choose one of {', '.join((AUTOMATIC, *all_raters()))}.")
        self._progress("Reading the matches")
        matches = matches_of(self._tables, columns, conditions, read)
        if rater == "player" and matches.lineups is None:
            raise InputError("ratings of players need line-ups: drop a file of line-ups, or rate teams.")
        choice, chosen = None, {"columns": columns, "rater": rater, "conditions": conditions, "reading": read.to_dict()}
        if rater == AUTOMATIC:
            self._progress("Comparing the raters on these matches")
            choice = choose_rater(matches, candidates(matches, conditions=conditions))
            fitted = choice.rater
            rater = next(name for name, one in RATERS.items() if one.kind == choice.name)
        else:
            self._progress(f"Fitting {len(matches):,} matches")
            fitted = self._rater_called(rater, conditions).fit(matches)
        self._progress("Following the ratings through time")
        history = rating_history(fitted, matches, points=120)
        self._progress("Checking the forecasts")
        checked, forecasts = calibration(rater, matches, conditions)
        rejects = self._rejects(matches)
        ranked, ranking = _first_ranking(fitted, matches)
        self._matches, self._rater, self._chosen = matches, fitted, chosen
        self._history, self._ranking = history, ranking
        self._downloads = {
            "leaderboard": ranked, "ratings": fitted.ratings_, "histories": history, "forecasts": forecasts,
            "rejects": rejects,
        }  # fmt: skip
        return {
            "rater": rater,
            "chosen": None if choice is None else str(choice),
            "summary": summary(matches),
            "rejects": {"count": rejects.height, "reasons": matches.rejected.counts(), "rows": _first_rows(rejects)},
            "leaderboard": leaderboard(ranked, fitted.ratings_.height, ranking),
            "parameters": parameters(fitted),
            "histories": histories(history, ranked),
            "calibration": checked,
            "teams": sorted(sides_of(matches)),
            "favourites": _strongest(matches, ranked),
            "labels": self._labels(fitted, matches, columns),
            "conditions": {name: list(matches.conditions[name].levels) for name in conditions},
            "fixtures": self._described_fixtures(),
            "rules": season_rules(matches),
            "can_raise": can_raise(fitted),
        }

    def _rater_called(self, name: str, conditions: list[str]) -> Rater:
        try:
            return rater_called(name, conditions=conditions)
        except InputError:
            if not conditions:
                raise
            kind = all_raters()[name].kind
            raise InputError(f"{kind} uses no conditions; leave them out, or rate otherwise.") from None

    def _labels(self, rater: Rater, matches: Matches, columns: Mapping[str, str]) -> dict[str, str]:
        frames = {kind: table.frame for kind, table in self._tables.items()}
        return all_labels(frames, columns, {*rater.ratings_["name"], *matches.teams})

    def _described_fixtures(self) -> dict[str, Any] | None:
        fixtures = self._fixtures()
        if fixtures is None:
            return None
        return {"matches": len(fixtures), "left": int(np.isnan(fixtures.result).sum()), "sides": len(fixtures.teams)}

    def _fixtures(self) -> Matches | None:
        """The fixtures that were dropped; a condition that they do not say is unknown."""
        if "fixtures" not in self._tables:
            return None
        assert self._chosen is not None
        frame, conditions = self._tables["fixtures"].frame, self._chosen["conditions"]
        missing = [pl.lit("").alias(name) for name in conditions if name not in frame.columns]
        options = Reading.read(self._chosen["reading"]).options()
        return read_matches(
            frame.with_columns(missing),
            played=False,
            conditions=conditions,
            aliases=aliases_of(self._tables),
            **options,
        )

    def _rated(self) -> tuple[Rater, Matches]:
        if self._rater is None or self._matches is None:
            raise InputError("Rate a league first.")
        return self._rater, self._matches

    def team(self, name: str) -> dict[str, Any]:
        """The page of one side or player."""
        rater, matches = self._rated()
        if self._surprises is None:
            self._surprises = upsets(rater, matches)
        page = team_page(rater, matches, name, self._history, self._surprises)
        return {**page, "fixtures": fixtures_of(rater, self._fixtures(), name)}

    def odds(
        self, kind: str, points: dict[str, float], rules: dict[str, float], best: int, fixtures: bool
    ) -> dict[str, Any]:
        """How a season or a cup may end: of the fixtures, or of so many of the best."""
        rater, matches = self._rated()
        if fixtures and "fixtures" not in self._tables:
            raise InputError("There are no fixtures; drop a file of them, or take the best sides.")
        sides = set(matches.teams)
        names = [name for name in self._downloads["leaderboard"]["name"] if name in sides][:best]
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

    def share(self, path: str, title: str) -> dict[str, Any]:
        """Write the page of the ratings to a file of the server's choice."""
        rater, matches = self._rated()
        write_page(rater, path, matches=matches, title=title)
        return {}

    def hand_over_all(self, folder: str) -> dict[str, Any]:
        """Write the matches with line-ups and conditions into a folder of the server's choice, to compare raters."""
        write_matches(self._rated()[1], Path(folder))
        assert self._chosen is not None
        return {"conditions": self._chosen["conditions"]}

    def rank(
        self, active_days: float | None, least_matches: int, caution: float, period: float | None = None
    ) -> dict[str, Any]:
        """Rank those rated by other rules, with places so many days before the last match."""
        if self._rater is None or self._matches is None:
            raise InputError("Rate a league first; then it can be ranked.")
        ranking = {"active_days": active_days, "least_matches": least_matches, "caution": caution}
        table = ranked_by(self._rater, self._matches, **ranking)
        self._downloads["leaderboard"], self._ranking = table, ranking
        then = None if period is None else self._places_then(period, ranking)
        return leaderboard(table, self._rater.ratings_.height, ranking, then)

    def _places_then(self, period: float, ranking: Mapping[str, Any]) -> dict[str, int]:
        """Places by the same rules so many days before the last match."""
        rater, matches = self._rated()
        if not matches.dated:
            raise InputError("Without dates nothing moves.")
        if period not in self._earlier:
            before = matches.before(matches.date[-1] - np.timedelta64(int(period), "D") + 1)
            walker = blank_of(rater)
            if len(before):
                carry_on(walker, before)
            self._earlier[period] = (walker, before)
        walker, before = self._earlier[period]
        if not len(before):
            return {}
        table = ranked_by(walker, before, **ranking)
        return {name: place for name, place in table.select("name", "place").iter_rows() if place is not None}

    def _rejects(self, matches: Matches) -> pl.DataFrame:
        """Rejected rows with the line of the file they stand on and what is written there."""
        rejected = matches.rejected.to_polars()
        lines, texts = [], []
        for kind, row in rejected.select("table", "row").iter_rows():
            # Line-ups listed inside the results are named by the row of their match.
            table = self._tables.get("lineups" if kind == "lineups" else "results", self._tables["results"])
            lines.append(row + table.header_lines)
            cells = table.frame.row(row - 1) if row <= table.frame.height else ()
            texts.append(" | ".join("" if cell is None else str(cell) for cell in cells))
        return rejected.select("table").with_columns(
            line=pl.Series(lines, dtype=pl.Int64), reason=rejected["reason"], content=pl.Series(texts, dtype=pl.String)
        )

    def predict(self, home: str, away: str, neutral: bool, conditions: dict[str, str] | None = None) -> dict[str, Any]:
        """Forecast one match to be played after the last of the file."""
        if self._rater is None or self._matches is None:
            raise InputError("Rate a league first; then any match can be tried.")
        if home == away:
            raise InputError("A side cannot play against itself; choose two.")
        day = np.datetime_as_string(self._matches.date[-1])
        match = {"home": [home], "away": [away], "neutral": [neutral], "date": [day]}
        used = list(self._matches.conditions)
        match |= {name: [(conditions or {}).get(name, "")] for name in used}
        forecast = self._rater.predict(read_matches(match, played=False, conditions=used))
        win, draw, loss = forecast.probabilities[0].tolist()
        return {"win": win, "draw": draw, "loss": loss, "unknown": list(forecast.unknown)}

    def hand_over(self, path: str) -> dict[str, Any]:
        """Write the matches that were rated to a file of the server's choice, for an audit."""
        if self._matches is None:
            raise InputError("Rate a league first; then it can be audited.")
        hand_over(self._matches, path)
        return {}

    def write(self, name: str, path: str) -> dict[str, Any]:
        """Write one of the tables that can be downloaded to a file of the server's choice."""
        if name not in self._downloads:
            raise InputError(f"There is nothing to download as {name!r}; rate a league first.")
        harmless(self._downloads[name]).write_csv(path)
        return {}


def _first_rows(rejects: pl.DataFrame, most: int = 200) -> list[dict[str, Any]]:
    return rejects.head(most).to_dicts()


def _first_ranking(rater: Rater, matches: Matches) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Those whom the library ranks, by rating, or everyone where its rules would leave nobody."""
    for rules in (
        {"active_days": ACTIVE_DAYS, "least_matches": LEAST_MATCHES, "caution": 0.0},
        {"active_days": None, "least_matches": 0, "caution": 0.0},
    ):
        table = ranked_by(rater, matches, **rules)
        if table.height:
            break
    return table, rules


def _strongest(matches: Matches, table: pl.DataFrame) -> list[str]:
    """Two sides worth a first look: the best rated, where sides are rated at all."""
    sides = set(matches.teams)
    return [name for name in table["name"] if name in sides][:2]
