"""The controllers of the Rate tab: rating, auditing and comparing, each in a worker process of its own.

So ratings can be looked at while an audit or a comparison runs, and either can be stopped. Every number comes from
:mod:`kinelo.raters` and :func:`kinelo.audit`, as on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kinelo.advice.audit.audit import Audit, audit
from kinelo.advice.audit.contests import ContestAudit
from kinelo.advice.audit.gaps import bands_table
from kinelo.advice.audit.inflation import columns_of
from kinelo.advice.charts import loss_chart
from kinelo.book.contest_ledger import contests_to_rows, rows_to_contests
from kinelo.errors import InputError
from kinelo.forecasts.automatic import LEAST_COMPARED, choice_table, choose
from kinelo.lab.rate.league import League, first_matches, summary
from kinelo.lab.rate.leagues import ContestLeague, MatchLeague, first_entries
from kinelo.lab.rate.reading import ASKED_COLUMNS, GROUPS_DROPPED, ReadingPanel, contests_of, matches_of
from kinelo.lab.rate.tables import FIELDS, UploadedTable, read_table, sample_tables
from kinelo.matches.contests import Contests
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.matches.same_side import likely_names
from kinelo.pages.page import write_page
from kinelo.raters.choice import AUTOMATIC, RATERS, all_raters, candidates, rater_called
from kinelo.raters.team.rater import TeamElo
from kinelo.results.spreadsheet import harmless
from kinelo.runtime.reading import read_file

BESIDE = ("start", "groups", "ratings")
"""Lists that an audit or a comparison needs beside what was played."""


def hand_over(played: Matches | Contests, folder: Path, beside: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Write what was played, and lists beside it, into a folder, and say what else is needed to read it again."""
    for name, frame in beside.items():
        frame.write_parquet(folder / name)
    if isinstance(played, Contests):
        (folder / "contests").write_text(json.dumps(contests_to_rows(played)), encoding="utf-8")
        return {"kind": played.kind.noun, "sides": [], "columns": []}
    table = played.to_polars().with_columns(match_id=pl.int_range(pl.len()).cast(pl.String))
    if np.isnan(played.margin).any():
        table = table.drop("margin")
    table.write_parquet(folder / "matches")
    if (lineups := played.lineups) is not None:
        side = np.repeat(np.arange(lineups.offsets.size - 1), np.diff(lineups.offsets))
        pl.DataFrame(
            {
                "match_id": pl.Series(side // 2).cast(pl.String),
                "side": pl.Series(np.where(side % 2, "away", "home")),
                "player": pl.Series(lineups.players, dtype=pl.String).gather(lineups.player),
                "minutes": pl.Series(lineups.minutes).fill_nan(None),
                "starter": pl.Series([None if one < 0 else one for one in lineups.starter.tolist()], dtype=pl.Int8),
            }
        ).write_parquet(folder / "lineups")
    return {"kind": played.kind.noun, "sides": list(played.side_headers), "columns": list(played.conditions)}


def handed_over(folder: str, kind: str, sides: Sequence[str], columns: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """What was played, and the lists beside it, as :func:`hand_over` wrote them."""
    where = Path(folder)
    beside = {name: pl.read_parquet(where / name) if (where / name).exists() else None for name in BESIDE}
    if kind == Contests.kind.noun:
        return rows_to_contests(json.loads((where / "contests").read_text(encoding="utf-8"))), beside
    first, second = sides
    lineups = pl.read_parquet(where / "lineups") if (where / "lineups").exists() else None
    matches = read_matches(pl.read_parquet(where / "matches"), lineups, conditions=columns)
    return replace(matches, side_headers=(first, second)), beside


class AuditController:
    """Audits one league at a time; gone with the process."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._found: Audit | ContestAudit | None = None
        self._title: str | None = None

    def share(self, path: str) -> dict[str, Any]:
        """Write the page of the last audit to a file of the server's choice."""
        if self._found is None:
            raise InputError("Audit a league first; then its page can be saved.")
        write_page(self._found, path, title=self._title)
        return {}

    def audit(
        self, folder: str, handed: dict[str, Any], k: float, rater: str = "", by: str = "", reference: str = ""
    ) -> dict[str, Any]:
        """Audit what was handed over as the command line does: the system in use is plain Elo with this K, or the
        ``rater``; ``by`` is a column, or the groups that were dropped."""
        asked = {what: handed[what] for what in ASKED_COLUMNS}
        played, beside = handed_over(folder, handed["kind"], handed["sides"], handed["columns"])
        start, of_matches = beside["start"], {}
        if rater:
            _check_known(rater, played.kind)
            more = {"start": start, **asked} if played.kind is CONTESTS else {}
            in_use = rater_called(rater, **more, kind=played.kind)
        else:
            in_use = TeamElo.classic(k=k, start=start)
        if played.kind is MATCHES:
            in_use = in_use if rater else in_use.set_params(home_advantage=None)
            groups = beside["groups"] if by == GROUPS_DROPPED else by or None
            of_matches = {"ratings": beside["ratings"], "by": groups, "reference": reference or None}
        judged = audit(played, in_use, **of_matches, progress=self._progress)
        self._found, self._title = judged, handed["title"]
        return {
            "kind": handed["kind"],
            "verdict": judged.verdict,
            "notes": list(judged.notes),
            "chart": loss_chart(judged).to_dict(),
            "best": list(judged._gain_words()),
            # Strong and weak sides, where matches say who is rated too high across the league.
            "fifths": None
            if isinstance(judged, ContestAudit) or judged.opponents.alike
            else bands_table(judged.bands).to_dict(),
            "findings": [f"{one.words} {one.advice}" for one in getattr(judged, "findings", ())],
            "rows": [list(row) for row in judged.rows()],
        }


class CompareController:
    """Compares raters on one league; gone with the process."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress

    def compare(self, folder: str, handed: dict[str, Any]) -> dict[str, Any]:
        """Try every rater that can use these matches on the later half of them."""
        matches, beside = handed_over(folder, handed["kind"], handed["sides"], handed["columns"])
        named = candidates(matches, beside["start"], **{what: handed[what] for what in ASKED_COLUMNS})
        if len(matches) < LEAST_COMPARED:
            raise InputError(f"Fewer than {LEAST_COMPARED} matches cannot tell raters apart.")
        tried = iter(range(1, len(named) + 1))
        choice = choose(
            matches, named, next(iter(named)), lambda name: self._progress(f"{name}, {next(tried)} of {len(named)}")
        )
        test = choice.test
        assert test is not None
        short = {one.kind: name for name, one in RATERS.items()}
        table = choice_table(choice)
        raters = [
            {"rater": row["rater"], "short": short[row["rater"]], "meaning": RATERS[short[row["rater"]]].meaning}
            for row in table.rows
        ]
        words = f"{choice} Fitted on {choice.fitted:,} matches."
        return {"words": words, "raters": raters, "table": table.to_dict(), "tested": len(test.matches)}


SESSION_VERSION = 1


def read_session(path: Path, name: str, rows: int, columns: int) -> tuple[dict[str, UploadedTable], dict[str, Any]]:
    """Read what :meth:`RatingController.save` wrote, refusing what is no session or too large."""
    try:
        content = json.loads(read_file(path))
        if content["kinelo_session"] != SESSION_VERSION:
            raise InputError(f"{name} is a session of another version of Kinelo.")
        tables = {kind: _table(kind, plain) for kind, plain in content["tables"].items()}
        chosen: dict[str, Any] = {"columns": dict(content["columns"]), "rater": str(content["rater"])}
        chosen |= {what: list(content.get(what, [])) for what in ASKED_COLUMNS}
        chosen["stated"] = content.get("stated") is True
        chosen["reading"] = ReadingPanel.read(content.get("reading", {})).to_dict()
        texts = [text for pair in chosen["columns"].items() for text in pair]
        texts += [column for what in ASKED_COLUMNS for column in chosen[what]]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, pl.exceptions.PolarsError):
        raise InputError(f"{name} is no session that Kinelo saved.") from None
    for table in tables.values():
        if table.frame.height > rows or table.frame.width > columns:
            raise InputError(f"{name} is too large: at most {rows:,} rows and {columns:,} columns are accepted here.")
    return tables, chosen


def _table(kind: str, plain: dict[str, Any]) -> UploadedTable:
    if kind not in FIELDS:
        raise KeyError(kind)
    frame = pl.DataFrame(plain["columns"], schema=dict.fromkeys(plain["columns"], pl.String))
    if frame.height == 0 or frame.width < 2:
        raise ValueError(kind)
    return UploadedTable(kind, str(plain["name"])[:80], frame, int(plain["header_lines"]))


def _check_known(rater: str, kind: Kind, *others: str) -> None:
    """Refuse what is no rater of Kinelo's nor of a plug-in: a visitor names no code."""
    known = (*others, *all_raters(kind))
    if rater not in known:
        raise InputError(f"There is no rater {rater!r:.80}; choose one of {', '.join(known)}.")


NOT_RATED = "Rate a league first."
ASKED_OF_LEAGUE = ("team", "why", "odds", "rank", "predict", "field", "next")
"""Tasks that a rated league does itself."""
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
        content = {
            "kinelo_session": SESSION_VERSION,
            "tables": {
                kind: {
                    "name": table.name,
                    "header_lines": table.header_lines,
                    # Every cell as text, as it stood in the file.
                    "columns": {name: table.frame[name].cast(pl.String).to_list() for name in table.frame.columns},
                }
                for kind, table in self._tables.items()
            },
            **self.league.chosen,
        }
        Path(path).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
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
        self, columns: dict[str, str], conditions: list[str], further: list[str], reading: ReadingPanel
    ) -> Matches | Contests:
        """Matches under conditions, or contests with further columns to rate, and ``more`` columns of either."""
        if reading.rows == "contests":
            return contests_of(self._tables, columns, conditions, reading, further)
        return matches_of(self._tables, columns, list(dict.fromkeys([*conditions, *further])), reading)

    def rate(
        self,
        columns: dict[str, str],
        rater: str,
        conditions: list[str] | None = None,
        reading: dict[str, str] | None = None,
        noise_by: list[str] | None = None,
        covariates: list[str] | None = None,
        stated: bool = False,
    ) -> dict[str, Any]:
        """Rate the league and describe the outcome; of contests, ``conditions`` are columns to rate beside.

        With ``stated`` it begins with the ratings that the file states.
        """
        self._forget_ratings()
        read = self._reading(reading)
        chosen: dict[str, Any] = {"columns": columns, "rater": rater, "reading": read.to_dict()}
        chosen |= {"conditions": conditions or [], "noise_by": noise_by or [], "covariates": covariates or []}
        chosen["stated"] = stated
        if read.rows == "matches":
            _check_known(rater, MATCHES, AUTOMATIC)
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

    def __getattr__(self, task: str) -> Any:
        """What the league that was rated answers itself."""
        if task in ASKED_OF_LEAGUE:
            return getattr(self._rated(), task)
        raise AttributeError(task)

    def share(self, path: str) -> dict[str, Any]:
        """Write the page of the ratings to a file of the server's choice."""
        self._rated().share(path, self._title())
        return {}

    def _title(self) -> str:
        """What a page calls the league: as its file."""
        name = Path(self._tables["results"].name).stem.replace("_", " ")
        return f"{name[:1].upper()}{name[1:]}"

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

    def hand_over(self, folder: str, by: str = "", *, of_matches: bool = False) -> dict[str, Any]:
        """Write what was rated into a folder of the server's choice, for an audit (``by`` group) or a comparison.

        The comparison is one ``of_matches`` alone.
        """
        league = self._rated()
        played = league.matches_alone() if of_matches else league.played
        chosen = {what: league.chosen[what] for what in ASKED_COLUMNS}
        if by and by != GROUPS_DROPPED:
            groups = columns_of(by, self._tables["results"].frame.columns)
            more = [*chosen["noise_by"], *chosen["covariates"], *groups]
            reading = self._reading(league.chosen["reading"])
            played = self._read(league.chosen["columns"], chosen["conditions"], more, reading)
        beside = {kind: table.frame for kind, table in self._tables.items() if kind in BESIDE}
        if league.start is not None:
            beside["start"] = league.start
        return hand_over(played, Path(folder), beside) | chosen | {"title": self._title()}

    def write(self, name: str, path: str) -> dict[str, Any]:
        """Write one of the tables that can be downloaded to a file of the server's choice."""
        if self.league is None or name not in self.league.downloads:
            raise InputError(f"There is nothing to download as {name!r}; rate a league first.")
        table = self.league.downloads[name]
        if not table.width:
            noun = self.league.played.kind.noun
            raise InputError(f"Forecasts can be checked only on a file with dates and enough {noun}.")
        harmless(table).write_csv(path)
        return {}


def _first_rows(rejects: pl.DataFrame, most: int = 200) -> list[dict[str, Any]]:
    return rejects.head(most).to_dicts()
