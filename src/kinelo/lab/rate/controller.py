"""The controller that rates a visitor's league: reads tables, rates what they hold, writes what can be downloaded.

Runs in a worker process. Every number comes from :mod:`kinelo.raters`, as on the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from kinelo.errors import InputError
from kinelo.lab.rate.auditing import hand_over
from kinelo.lab.rate.comparing import write_matches
from kinelo.lab.rate.contest_league import ContestLeague, first_entries
from kinelo.lab.rate.league import League
from kinelo.lab.rate.match_league import MatchLeague
from kinelo.lab.rate.reading import ASKED_COLUMNS, ReadingPanel, contests_of, matches_of
from kinelo.lab.rate.samples import sample_tables
from kinelo.lab.rate.session import read_session, write_session
from kinelo.lab.rate.standings import first_matches, summary
from kinelo.lab.rate.tables import UploadedTable, read_table
from kinelo.matches.contests import Contests
from kinelo.matches.kind import CONTESTS, MATCHES, Kind
from kinelo.matches.matches import Matches
from kinelo.matches.same_side import likely_names
from kinelo.raters.choice import AUTOMATIC, all_raters
from kinelo.results.spreadsheet import harmless

NOT_RATED = "Rate a league first."
MOST_LIKELY = 40
"""Pairs of names that may be one side, offered to be joined."""


FIRST_ROWS: dict[Kind, Callable[[Any], list[dict[str, Any]]]] = {MATCHES: first_matches, CONTESTS: first_entries}
LEAGUES: dict[Kind, type[League]] = {MATCHES: MatchLeague, CONTESTS: ContestLeague}


class RatingController:
    """Tables and league of one visitor; gone with the process."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._tables: dict[str, UploadedTable] = {}
        self._made_up = False
        self._forget_ratings()

    def _forget_ratings(self) -> None:
        """Ratings belong to the tables they were made from."""
        self.league: League | None = None

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
        return self._take(kind, UploadedTable.read(kind, name, Path(keep)))

    def _take(self, kind: str, table: UploadedTable) -> dict[str, Any]:
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
        if self.league is None:
            raise InputError("Rate a league first; then the session can be saved.")
        write_session(Path(path), self._tables, self.league.chosen)
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
        self,
        columns: dict[str, str],
        conditions: list[str],
        reading: dict[str, str] | None = None,
        noise_by: list[str] | None = None,
        covariates: list[str] | None = None,
    ) -> dict[str, Any]:
        """Say how the tables would be read: the first rows, notes, and the rows that would be set aside."""
        played = self._read(columns, conditions, [*(noise_by or ()), *(covariates or ())], self._reading(reading))
        rejects = self._rejects(played)
        return {
            "summary": summary(played),
            "likely": likely_names(played).head(MOST_LIKELY).rows(),
            "rows": FIRST_ROWS[played.kind](played),
            "rejects": {"count": rejects.height, "reasons": played.rejected.counts(), "rows": _first_rows(rejects, 8)},
        }

    def _reading(self, given: dict[str, str] | None) -> ReadingPanel:
        """What the visitor chose; what each row is, as the results suggest where nobody said."""
        seems = {"rows": self._tables["results"].rows} if "results" in self._tables else {}
        return ReadingPanel.read({**seems, **(given or {})})

    def _read(
        self, columns: dict[str, str], conditions: list[str], more: list[str], reading: ReadingPanel
    ) -> Matches | Contests:
        """Matches under conditions, or contests with further columns to rate, and ``more`` columns of either."""
        if reading.rows == "contests":
            return contests_of(self._tables, columns, conditions, reading, more)
        return matches_of(self._tables, columns, list(dict.fromkeys([*conditions, *more])), reading)

    def rate(
        self,
        columns: dict[str, str],
        rater: str,
        conditions: list[str] | None = None,
        reading: dict[str, str] | None = None,
        noise_by: list[str] | None = None,
        covariates: list[str] | None = None,
    ) -> dict[str, Any]:
        """Rate the league and describe the outcome; of contests, ``conditions`` are columns to rate beside."""
        self._forget_ratings()
        read = self._reading(reading)
        chosen: dict[str, Any] = {"columns": columns, "rater": rater, "reading": read.to_dict()}
        chosen |= {"conditions": conditions or [], "noise_by": noise_by or [], "covariates": covariates or []}
        known = (AUTOMATIC, *all_raters())
        if read.rows == "matches" and rater not in known:
            raise InputError(f"There is no rater {rater!r}; choose one of {', '.join(known)}.")
        self._progress("Reading the file")
        played = self._read(columns, chosen["conditions"], [*chosen["noise_by"], *chosen["covariates"]], read)
        if read.rows == "matches" and rater == "player" and getattr(played, "lineups", None) is None:
            raise InputError("ratings of players need line-ups: drop a file of line-ups, or rate teams.")
        league = LEAGUES[played.kind](played, self._tables, chosen, self._progress)
        rejects = self._rejects(played)
        self.league, league.downloads["rejects"] = league, rejects
        counted = {"count": rejects.height, "reasons": played.rejected.counts(), "rows": _first_rows(rejects)}
        return {**league.described(), "rejects": counted}

    def _rated(self) -> League:
        if self.league is None:
            raise InputError(NOT_RATED)
        return self.league

    def team(self, name: str) -> dict[str, Any]:
        """The page of one side, player or entrant."""
        return self._rated().team(name)

    def why(self, name: str) -> dict[str, Any]:
        """Why the rating of one side, player or entrant moved."""
        return self._rated().why(name)

    def odds(
        self, kind: str, points: dict[str, float], rules: dict[str, float], best: int, fixtures: bool
    ) -> dict[str, Any]:
        """How a season or a cup may end."""
        return self._rated().odds(kind, points, rules, best, fixtures)

    def share(self, path: str, title: str) -> dict[str, Any]:
        """Write the page of the ratings to a file of the server's choice."""
        self._rated().share(path, title)
        return {}

    def hand_over_all(self, folder: str) -> dict[str, Any]:
        """Write the matches with line-ups and conditions into a folder of the server's choice, to compare raters."""
        league = self._rated()
        write_matches(league.matches_alone(), Path(folder))
        return {what: league.chosen[what] for what in ASKED_COLUMNS}

    def rank(
        self, active_days: float | None, least_matches: int, caution: float, period: float | None = None
    ) -> dict[str, Any]:
        """Rank those rated by other rules, with places so many days before the end."""
        return self._rated().rank(active_days, least_matches, caution, period)

    def _rejects(self, found: Matches | Contests) -> pl.DataFrame:
        """Rejected rows with the line of the file they stand on and what is written there."""
        rejected = found.rejected.to_polars()
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
        return self._rated().predict(home, away, neutral, conditions)

    def field(self, entrants: list[list[list[str]]], conditions: dict[str, str] | None = None) -> dict[str, Any]:
        """Forecast a contest of these entrants, each with its names for every kind and its numbers."""
        return self._rated().field(entrants, conditions)

    def hand_over(self, path: str) -> dict[str, Any]:
        """Write what was rated to a file of the server's choice, for an audit."""
        return hand_over(self._rated().played, path)

    def write(self, name: str, path: str) -> dict[str, Any]:
        """Write one of the tables that can be downloaded to a file of the server's choice."""
        if self.league is None or name not in self.league.downloads:
            raise InputError(f"There is nothing to download as {name!r}; rate a league first.")
        harmless(self.league.downloads[name]).write_csv(path)
        return {}


def _first_rows(rejects: pl.DataFrame, most: int = 200) -> list[dict[str, Any]]:
    return rejects.head(most).to_dicts()
