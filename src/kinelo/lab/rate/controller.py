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
from kinelo.lab.rate.samples import sample_tables
from kinelo.lab.rate.session import read_session, write_session
from kinelo.lab.rate.standings import calibration, histories, leaderboard, parameters, summary
from kinelo.lab.rate.tables import Table, check_choice, forget_columns, names_winners, read_table
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.raters.choice import AUTOMATIC, RATERS, choose_rater, rater_called
from kinelo.raters.history import rating_history
from kinelo.raters.leaderboard import ACTIVE_DAYS, CAUTION, LEAST_MATCHES
from kinelo.raters.leaderboard import leaderboard as ranked_by
from kinelo.raters.rater import Rater
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

    def rate(self, columns: dict[str, str], rater: str) -> dict[str, Any]:
        """Rate the league and describe the outcome."""
        self._forget_ratings()
        if "results" not in self._tables:
            raise InputError("There are no results yet; drop a file first.")
        if rater not in (AUTOMATIC, *RATERS):
            raise InputError(f"There is no rater {rater!r}; choose one of {', '.join((AUTOMATIC, *RATERS))}.")
        check_choice(columns, "lineups" in self._tables)
        self._progress("Reading the matches")
        matches = self._read(columns)
        if rater == "player" and matches.lineups is None:
            raise InputError("ratings of players need line-ups: drop a file of line-ups, or rate teams.")
        choice, chosen = None, {"columns": columns, "rater": rater}
        if rater == AUTOMATIC:
            self._progress("Comparing the raters on these matches")
            choice = choose_rater(matches)
            fitted = choice.rater
            rater = next(name for name, one in RATERS.items() if one.kind == choice.name)
        else:
            self._progress(f"Fitting {len(matches):,} matches")
            fitted = rater_called(rater).fit(matches)
        self._progress("Following the ratings through time")
        history = rating_history(fitted, matches, points=120)
        self._progress("Checking the forecasts")
        checked, forecasts = calibration(rater, matches)
        rejects = self._rejects(matches)
        ranked, ranking = _first_ranking(fitted, matches)
        self._matches, self._rater, self._chosen = matches, fitted, chosen
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
            "teams": sorted(set(matches.teams)),
            "favourites": _strongest(matches, ranked),
        }

    def rank(self, active_days: float | None, least_matches: int, caution: float) -> dict[str, Any]:
        """Rank those rated by other rules."""
        if self._rater is None or self._matches is None:
            raise InputError("Rate a league first; then it can be ranked.")
        ranking = {"active_days": active_days, "least_matches": least_matches, "caution": caution}
        table = ranked_by(self._rater, self._matches, **ranking)
        self._downloads["leaderboard"] = table
        return leaderboard(table, self._rater.ratings_.height, ranking)

    def _read(self, columns: Mapping[str, str]) -> Matches:
        results = forget_columns(self._tables["results"], columns)
        lineups = self._tables.get("lineups")
        frame = None if lineups is None else forget_columns(lineups, columns)
        known = ("home", "away") if names_winners(columns) else ()
        return read_matches(results, frame, {field: name for field, name in columns.items() if field not in known})

    def _rejects(self, matches: Matches) -> pl.DataFrame:
        """Rejected rows with the line of the file they stand on and what is written there."""
        rejected = matches.rejected.to_polars()
        lines, texts = [], []
        for kind, row in rejected.select("table", "row").iter_rows():
            # Line-ups listed inside the results are told by the row of their match.
            table = self._tables.get("lineups" if kind == "lineups" else "results", self._tables["results"])
            lines.append(row + table.header_lines)
            cells = table.frame.row(row - 1) if row <= table.frame.height else ()
            texts.append(" | ".join("" if cell is None else str(cell) for cell in cells))
        return rejected.select("table").with_columns(
            line=pl.Series(lines, dtype=pl.Int64), reason=rejected["reason"], content=pl.Series(texts, dtype=pl.String)
        )

    def predict(self, home: str, away: str, neutral: bool) -> dict[str, Any]:
        """Forecast one match to be played after the last of the file."""
        if self._rater is None or self._matches is None:
            raise InputError("Rate a league first; then any match can be tried.")
        if home == away:
            raise InputError("A side cannot play against itself; choose two.")
        day = np.datetime_as_string(self._matches.date[-1])
        match = {"home": [home], "away": [away], "neutral": [neutral], "date": [day]}
        forecast = self._rater.predict(read_matches(match, played=False))
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
    """The library's ranking, or everyone where its rules would leave nobody."""
    for rules in (
        {"active_days": ACTIVE_DAYS, "least_matches": LEAST_MATCHES, "caution": CAUTION},
        {"active_days": None, "least_matches": 0, "caution": CAUTION},
    ):
        table = ranked_by(rater, matches, **rules)
        if table.height:
            break
    return table, rules


def _strongest(matches: Matches, table: pl.DataFrame) -> list[str]:
    """Two sides worth a first look: the best rated, where sides are rated at all."""
    sides = set(matches.teams)
    return [name for name in table["name"] if name in sides][:2]
