"""Whether these matches can be audited, and what must be said before: too few, one season, pools, results one way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinelo.errors import InputError
from kinelo.matches.matches import Matches

FEWEST = 60
FEW = 500
SEASON_DAYS = 300
TELLING = 0.95


@dataclass(frozen=True)
class Readable:
    """The matches to audit, where their later half begins, and what was noticed."""

    matches: Matches
    since: int
    notes: tuple[str, ...]


def readable(matches: Matches) -> Readable:
    """Check the matches; refuse only what leaves nothing to say."""
    if len(matches) < FEWEST:
        raise InputError(
            f"An audit needs at least {FEWEST} matches and has {len(matches):,}: some {FEWEST} tell how far strengths "
            f"lie apart, {FEW} which way K should go, some thousands K itself to ± 25 %."
        )
    if np.ptp(matches.result) == 0 and matches.result[0] == 0.5:
        raise InputError("Every match is a draw: nothing can be told of strengths.")
    notes: list[str] = []
    matches = _turned(matches, notes)
    if len(matches) < FEW:
        notes.append(
            f"{len(matches):,} matches are few: they tell how far strengths lie apart; it takes about {FEW} to tell "
            "which way K should go, and thousands to tell how fast strengths move. Until then wide priors decide."
        )
    days = int(matches.day[-1] - matches.day[0])
    if days == 0:
        notes.append("All matches have one date: what time does to strengths cannot be told, only what matches do.")
    elif days < SEASON_DAYS:
        notes.append(f"All matches lie within {days} days: what happens between seasons cannot be told.")
    _note_pools(matches, notes)
    return Readable(matches, _later_half(matches), tuple(notes))


def _turned(matches: Matches, notes: list[str]) -> Matches:
    """Every second match named from the other side, on neutral ground, where the order of sides tells the result."""
    decided = matches.signed[matches.signed != 0]
    share = float(np.mean(decided > 0)) if decided.size else 0.5
    if max(share, 1 - share) < TELLING:
        return matches
    who = "first" if share > 0.5 else "second"
    notes.append(
        f"The side named {who} won {max(share, 1 - share):.1%} of decided matches: the order of sides tells the "
        "result, so nothing is said of home advantage and every second match is read from the other side."
    )
    turn = np.arange(len(matches)) % 2 == 1
    return replace(
        matches,
        home=np.where(turn, matches.away, matches.home).astype(matches.home.dtype),
        away=np.where(turn, matches.home, matches.away).astype(matches.away.dtype),
        result=np.where(turn, 1 - matches.result, matches.result),
        margin=np.where(turn, -matches.margin, matches.margin),
        neutral=np.ones(len(matches), bool),
        lineups=None,
    )


def _note_pools(matches: Matches, notes: list[str]) -> None:
    pools = matches.pools()
    apart = pools.filter(pools["pool"] != "main")
    if apart.height:
        names = ", ".join(apart["name"].head(3).to_list())
        notes.append(
            f"{apart.height:,} sides ({names}{', …' if apart.height > 3 else ''}) are hardly tied to the others by "
            "matches: what is said of K holds, but their ratings cannot be compared with the rest."
        )


def _later_half(matches: Matches) -> int:
    """The middle match, moved to the beginning of its day where that leaves a quarter before it."""
    middle = len(matches) // 2
    start = int(np.searchsorted(matches.day, matches.day[middle]))
    return start if start >= len(matches) // 4 else middle
