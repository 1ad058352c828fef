"""The controller that audits a visitor's league, of matches or of contests: is the rating system any good, and which K
should it have?

Runs in a worker process of its own, so that ratings can be looked at meanwhile and the audit be cancelled. Every number
comes from :func:`kinelo.audit`, as on the command line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from kinelo.advice.audit.audit import Audit, audit
from kinelo.advice.audit.contests import ContestAudit, part_audited
from kinelo.advice.audit.gaps import bands_table
from kinelo.advice.charts import loss_chart
from kinelo.book.contests import contests_to_rows, rows_to_contests
from kinelo.errors import InputError
from kinelo.matches.contests import Contests
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.pages.page import write_page
from kinelo.raters.team.rater import TeamElo

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


def take_over(path: str, kind: str, sides: list[str]) -> Matches | Contests:
    """What was handed over; the file of matches called its ``sides`` so."""
    if kind == Contests.kind.noun:
        return rows_to_contests(json.loads(Path(path).read_text(encoding="utf-8")))
    first, second = sides
    return replace(read_matches(pl.read_parquet(path)), side_headers=(first, second))


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
        played = take_over(path, kind, sides)
        if isinstance(played, Contests):
            bounded = " ".join(notes) or None
            judged: Any = replace(audit(played, TeamElo.classic(k=k), progress=self._progress), notes=tuple(notes))
        else:
            played, bounded = latest(played)
            judged = audit(played, TeamElo.classic(k=k, home_advantage=None), progress=self._progress)
        self._found = judged
        return {
            "kind": kind,
            "verdict": judged.verdict,
            "notes": [note for note in judged.notes if note not in notes],
            "chart": loss_chart(judged).to_dict(),
            "best": list(judged._gain_words()),
            "fifths": _fifths(judged),
            "findings": [f"{one.words} {one.advice}" for one in getattr(judged, "findings", ())],
            "rows": [list(row) for row in judged.rows()],
            "bounded": bounded,
        }


def _fifths(judged: Audit | ContestAudit) -> dict[str, Any] | None:
    """Strong and weak sides, where matches say who is rated too high across the league."""
    if isinstance(judged, ContestAudit) or judged.opponents.alike:
        return None
    return bands_table(judged.bands).to_dict()


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
