"""The controller that audits a visitor's league: is the rating system any good, and which K should it have?

Runs in a worker process of its own, so that ratings can be looked at meanwhile and the audit be cancelled. Every number
comes from :func:`kinelo.audit`, as on the command line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl

from kinelo.advice.audit.audit import Audit, audit
from kinelo.advice.audit.words import rows_of
from kinelo.errors import InputError
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.pages.page import write_page
from kinelo.raters.team.rater import TeamElo

MOST_MATCHES = 40_000
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

    def audit(self, path: str, k: float) -> dict[str, Any]:
        """Audit the matches that were handed over, for a system with this K."""
        if not 0 < k < 10_000:
            raise InputError(f"K must be above 0 and below 10,000, not {k:g}.")
        matches = read_matches(pl.read_parquet(path))
        matches, bounded = latest(matches)
        found = audit(matches, TeamElo.classic(k=k, home_advantage=None), progress=self._progress)
        self._found = found
        return {**described(found), "bounded": bounded}


def latest(matches: Matches, most: int = MOST_MATCHES) -> tuple[Matches, str | None]:
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


def described(found: Audit) -> dict[str, Any]:
    """An audit as the page shows it."""
    plain, curve, measured = found.to_dict(), found.curve, found.measured
    return {
        "verdict": found.verdict,
        "k": found.k,
        "best": {**plain["advice"], "theory": curve.best.k, "measured": measured.best},
        "gain": {
            "theory": found.now.log_loss - curve.at(found.advice.k),
            "measured": found.tested.gain.mean,
            "off_now": math.sqrt(max(found.now.error, 0.0)),
            "off_best": math.sqrt(max(found.best.error, 0.0)),
        },
        "curve": {"k": plain["curve"]["k"], "log_loss": _above_least(plain["curve"]["log_loss"])},
        "measured": {"k": plain["measured"]["k"], "log_loss": _above_least(plain["measured"]["log_loss"])},
        "bands": plain["bands"],
        "periods": plain["periods"],
        "rows": [list(row) for row in rows_of(found)],
        "notes": list(found.notes),
        "matches": len(found.matches),
        "scored": len(found.matches) - found.since,
    }


def _above_least(losses: list[float]) -> list[float]:
    """Losses less the least of them: of the theory's curve differences are to be trusted, the level less so."""
    least = min(losses)
    return [loss - least for loss in losses]
