"""Ratings that contests begin with, by kind of slot."""

from __future__ import annotations

from kinelo.matches.contests import Contests
from kinelo.raters.start import Start


def by_kind(start: Start, kinds: tuple[str, ...], advantages: tuple[str, ...]) -> dict[str, Start]:
    """Ratings to begin with, by kind of slot: ``car: Red`` is of the kind car, a plain name of the first kind."""
    rated = [kind for kind in kinds if kind not in advantages]
    found: dict[str, list[tuple[int, str]]] = {}
    for place, name in enumerate(start.names if rated else ()):
        kind, colon, rest = name.partition(": ")
        kind, rest = (kind, rest) if colon and kind in rated else (rated[0], name)
        found.setdefault(kind, []).append((place, rest))
    return {kind: _rows_of(start, own) for kind, own in found.items()}


def _rows_of(start: Start, own: list[tuple[int, str]]) -> Start:
    """Some rows of ratings to begin with, under other names."""
    at = [place for place, _ in own]
    names = tuple(name for _, name in own)
    return Start(names, start.rating[at], start.deviation[at], start.volatility[at], start.matches[at], start.day[at])


def names_met(contests: Contests, listed: tuple[str, ...]) -> set[str]:
    """Names of the contests, and those of the list that are written with their kind."""
    rated = {kind: set(slots.names) for kind, slots in contests.slots.items() if not slots.advantage}
    written = {name for name in listed if (part := name.partition(": "))[2] in rated.get(part[0], ())}
    return written.union(*rated.values())
