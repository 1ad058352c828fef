"""The controller that audits a visitor's league: is the rating system any good, and which K should it have?

Runs in a worker process of its own, so that ratings can be looked at meanwhile and the audit be cancelled. Every number
comes from :func:`kinelo.audit`, as on the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl

from kinelo.advice.audit.audit import Audit, audit
from kinelo.advice.audit.gaps import bands_table
from kinelo.advice.audit.words import gain_words
from kinelo.advice.charts import loss_chart
from kinelo.errors import InputError
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.pages.page import write_page
from kinelo.raters.team.rater import TeamElo

MOST_WAITED_FOR = 40_000
"""Somebody waits: of larger files the latest matches are looked at."""
HANDED_OVER = ("date", "home", "away", "result", "neutral", "weight")


def hand_over(matches: Matches, path: str) -> None:
    """Write what an audit needs of the matches to a file of the server's choice."""
    matches.to_polars().select(HANDED_OVER).write_parquet(path)


class AuditController:
    """Audits one league at a time; gone with the process."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._found: Audit | None = None

    def share(self, path: str) -> dict[str, Any]:
        """Write the page of the last audit to a file of the server's choice."""
        if self._found is None:
            raise InputError("Audit a league first; then its page can be saved.")
        write_page(self._found, path)
        return {}

    def audit(self, path: str, k: float, sides: list[str]) -> dict[str, Any]:
        """Audit the matches that were handed over, for a system with this K; the file called its ``sides`` so."""
        first, second = sides
        matches = replace(read_matches(pl.read_parquet(path)), side_headers=(first, second))
        matches, bounded = latest(matches)
        judged = audit(matches, TeamElo.classic(k=k, home_advantage=None), progress=self._progress)
        self._found = judged
        return {
            "verdict": judged.verdict,
            "notes": list(judged.notes),
            "chart": loss_chart(judged).to_dict(),
            "best": list(gain_words(judged)),
            # Matches between equals say nothing of who is rated too high across the league.
            "fifths": None if judged.opponents.hidden else bands_table(judged.bands).to_dict(),
            "sections": [[heading, [list(row) for row in rows]] for heading, rows in judged.sections()],
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
