"""The controllers of the Rate tab: rating, auditing and comparing, each in a worker process of its own.

So ratings can be looked at while an audit or a comparison runs, and either can be stopped. Every number comes from
:mod:`kinelo.raters` and :func:`kinelo.audit`, as on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kinelo.advice.audit.audit import Audit, audit
from kinelo.advice.audit.contests import ContestAudit, part_audited
from kinelo.advice.audit.gaps import bands_table
from kinelo.advice.charts import loss_chart
from kinelo.book.contest_ledger import contests_to_rows, rows_to_contests
from kinelo.errors import InputError
from kinelo.forecasts.automatic import LEAST_COMPARED, choice_table, choose
from kinelo.lab.rate.league import League, first_matches, summary
from kinelo.lab.rate.leagues import ContestLeague, MatchLeague, first_entries
from kinelo.lab.rate.reading import ASKED_COLUMNS, ReadingPanel, contests_of, matches_of
from kinelo.lab.rate.tables import FIELDS, UploadedTable, read_table, sample_tables
from kinelo.matches.contests import Contests
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.matches.same_side import likely_names
from kinelo.pages.page import write_page
from kinelo.raters.choice import AUTOMATIC, RATERS, all_raters, candidates
from kinelo.raters.team.rater import TeamElo
from kinelo.results.spreadsheet import harmless
from kinelo.runtime.reading import read_file

MOST_WAITED_FOR = 40_000
"""Somebody waits: of larger files the latest matches are looked at."""
HANDED_OVER = ("date", "home", "away", "result", "neutral", "weight")


def hand_over(played: Matches | Contests, path: str) -> dict[str, Any]:
    """Write what an audit needs to a file of the server's choice, and say what else an audit must know."""
    if isinstance(played, Contests):
        part, notes = part_audited(played)
        Path(path).write_text(json.dumps(contests_to_rows(part)), encoding="utf-8")
        return {"kind": played.kind.noun, "sides": [], "notes": list(notes)}
    played.to_polars().select(HANDED_OVER).write_parquet(path)
    return {"kind": played.kind.noun, "sides": list(played.side_headers), "notes": []}


class AuditController:
    """Audits one league at a time; gone with the process."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._found: Audit | ContestAudit | None = None

    def share(self, path: str) -> dict[str, Any]:
        """Write the page of the last audit to a file of the server's choice."""
        if self._found is None:
            raise InputError("Audit a league first; then its page can be saved.")
        write_page(self._found, path)
        return {}

    def audit(self, path: str, k: float, kind: str, sides: list[str], notes: list[str]) -> dict[str, Any]:
        """Audit what was handed over, for plain Elo with this K; ``notes`` say what of contests was not."""
        if kind == Contests.kind.noun:
            contests = rows_to_contests(json.loads(Path(path).read_text(encoding="utf-8")))
            bounded = " ".join(notes) or None
            judged: Any = replace(audit(contests, TeamElo.classic(k=k), progress=self._progress), notes=tuple(notes))
        else:
            first, second = sides
            played, bounded = latest(replace(read_matches(pl.read_parquet(path)), side_headers=(first, second)))
            judged = audit(played, TeamElo.classic(k=k, home_advantage=None), progress=self._progress)
        self._found = judged
        return {
            "kind": kind,
            "verdict": judged.verdict,
            "notes": [note for note in judged.notes if note not in notes],
            "chart": loss_chart(judged).to_dict(),
            "best": list(judged._gain_words()),
            # Strong and weak sides, where matches say who is rated too high across the league.
            "fifths": None
            if isinstance(judged, ContestAudit) or judged.opponents.alike
            else bands_table(judged.bands).to_dict(),
            "findings": [f"{one.words} {one.advice}" for one in getattr(judged, "findings", ())],
            "rows": [list(row) for row in judged.rows()],
            "bounded": bounded,
        }


def latest(matches: Matches, most: int = MOST_WAITED_FOR) -> tuple[Matches, str | None]:
    """The latest matches where there are more than can be waited for, and words about it."""
    if len(matches) <= most:
        return matches, None
    later = matches.since(matches.date[len(matches) - most])
    if len(later) > most:  # one day may hold very many
        later = later[len(later) - most :]
    return later, (
        f"The file holds {len(matches):,} matches; this audit looks at the latest {len(later):,}, since "
        f"{later.date[0]}. All of them: kinelo audit on the command line."
    )


def write_matches(matches: Matches, folder: Path) -> None:
    """Write everything that raters use of the matches, line-ups and conditions too, into a folder."""
    table = matches.to_polars().with_columns(match_id=pl.int_range(pl.len()).cast(pl.String))
    if np.isnan(matches.margin).any():
        table = table.drop("margin")
    table.write_parquet(folder / "matches")
    lineups = matches.lineups
    if lineups is None:
        return
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


def read_written(folder: Path, conditions: Sequence[str]) -> Matches:
    """Read what :func:`write_matches` wrote."""
    lineups = pl.read_parquet(folder / "lineups") if (folder / "lineups").exists() else None
    return read_matches(pl.read_parquet(folder / "matches"), lineups, conditions=conditions)


class CompareController:
    """Compares raters on one league; gone with the process."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress

    def compare(self, folder: str, conditions: list[str], noise_by: list[str], covariates: list[str]) -> dict[str, Any]:
        """Try every rater that can use these matches on the later half of them."""
        matches = read_written(Path(folder), list(dict.fromkeys([*conditions, *noise_by, *covariates])))
        named = candidates(matches, conditions=conditions, noise_by=noise_by, covariates=covariates)
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


def write_session(path: Path, tables: dict[str, UploadedTable], chosen: dict[str, Any]) -> None:
    """Write tables and choices; every cell as text, as it stood in the file."""
    content = {
        "kinelo_session": SESSION_VERSION,
        "tables": {
            kind: {
                "name": table.name,
                "header_lines": table.header_lines,
                "columns": {name: table.frame[name].cast(pl.String).to_list() for name in table.frame.columns},
            }
            for kind, table in tables.items()
        },
        **chosen,
    }
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def read_session(path: Path, name: str, rows: int, columns: int) -> tuple[dict[str, UploadedTable], dict[str, Any]]:
    """Read what :func:`write_session` wrote, refusing what is no session or too large."""
    try:
        content = json.loads(read_file(path))
        if content["kinelo_session"] != SESSION_VERSION:
            raise InputError(f"{name} is a session of another version of Kinelo.")
        tables = {kind: _table(kind, plain) for kind, plain in content["tables"].items()}
        chosen: dict[str, Any] = {"columns": dict(content["columns"]), "rater": str(content["rater"])}
        chosen |= {what: list(content.get(what, [])) for what in ASKED_COLUMNS}
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


NOT_RATED = "Rate a league first."
ASKED_OF_LEAGUE = ("team", "why", "odds", "rank", "predict", "field")
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

    def __getattr__(self, task: str) -> Any:
        """What the league that was rated answers itself."""
        if task in ASKED_OF_LEAGUE:
            return getattr(self._rated(), task)
        raise AttributeError(task)

    def share(self, path: str, title: str) -> dict[str, Any]:
        """Write the page of the ratings to a file of the server's choice."""
        self._rated().share(path, title)
        return {}

    def hand_over_all(self, folder: str) -> dict[str, Any]:
        """Write the matches with line-ups and conditions into a folder of the server's choice, to compare raters."""
        league = self._rated()
        write_matches(league.matches_alone(), Path(folder))
        return {what: league.chosen[what] for what in ASKED_COLUMNS}

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
