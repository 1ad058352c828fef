"""Whether a table of matches or contests holds together: what compiled loops index must lie where they look.

What Kinelo reads does. A table that was made by hand, changed with ``dataclasses.replace``, or whose arrays were
written to may not; every door to a compiled loop asks (:func:`~kinelo.matches.matches.check_matches`,
:func:`~kinelo.matches.contests.check_contests`), since such a loop would read and write outside its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.errors import InputError
from kinelo.matches.dated import EARLIEST, LATEST

if TYPE_CHECKING:
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches

KINDS = {"M": "days", "i": "whole numbers", "f": "numbers", "b": "True or False"}
DAYS = np.dtype("datetime64[D]")
TEXTS = {str, np.str_}
OWN = object()
"""In the place of values: the column of the table that has the name."""


class _Table:
    """Says what is wrong with the columns of one table."""

    def __init__(self, what: str, table: Any) -> None:
        self.what, self.table = what, table

    def refuse(self, complaint: str) -> InputError:
        return InputError(
            f"These {self.what} do not hold together: {complaint}. Read them with kinelo.read_{self.what} instead of "
            "making them by hand."
        )

    def column(self, name: str, kind: str, size: int, values: Any = OWN, dimensions: int = 1) -> Any:
        """An array of so many values of a kind."""
        values = getattr(self.table, name) if values is OWN else values
        if not isinstance(values, np.ndarray) or values.ndim != dimensions or values.dtype.kind != kind:
            raise self.refuse(f"{name} must be an array of {KINDS[kind]}, not {_described(values)}")
        if len(values) != size:
            raise self.refuse(f"{name} has {len(values):,} values where {size:,} are needed")
        return values

    def codes(self, name: str, size: int, names: Any, least: int = 0, values: Any = OWN, dimensions: int = 1) -> Any:
        """Codes into names, from ``least``."""
        if not isinstance(names, tuple | list) or not {*map(type, names)} <= TEXTS:
            raise self.refuse(f"the names of {name} must be a tuple of text, not {_described(names)}")
        codes = self.column(name, "i", size, values, dimensions)
        if codes.size and (int(codes.min()) < least or int(codes.max()) >= len(names)):
            worst = int(codes.min()) if int(codes.min()) < least else int(codes.max())
            raise self.refuse(f"{name} holds the code {worst:,}, and there are {len(names):,} names")
        return codes

    def numbers(self, name: str, size: int, least: float, most: float, missing: bool = False) -> None:
        """Numbers between two bounds, NaN among them if some may be missing."""
        values = self.column(name, "f", size)
        sound = (values >= least) & (values <= most)
        if not (sound | np.isnan(values) if missing else sound).all():
            worst = values[~(sound | np.isnan(values) if missing else sound)][0]
            raise self.refuse(f"{name} holds {worst:g}, which is not between {least:g} and {most:g}")

    def bounds(self, name: str, size: int, entries: int, values: Any, least: int) -> None:
        """Where stretches of entries begin and end: from 0 up to all of them, each of ``least`` at least."""
        bounds = self.column(name, "i", size, values)
        if bounds[0] != 0 or bounds[-1] != entries or (np.diff(bounds) < least).any():
            raise self.refuse(f"{name} must rise from 0 to {entries:,}, the number of entries")

    def days(self) -> int:
        """The days, in order; how many there are."""
        date = getattr(self.table, "date", None)
        if not isinstance(date, np.ndarray) or date.ndim != 1 or date.dtype != DAYS:
            raise self.refuse(f"date must be an array of days (datetime64[D]), not {_described(date)}")
        if date.size and not ((date >= EARLIEST) & (date < LATEST)).all():
            raise self.refuse(f"date holds {date[~((date >= EARLIEST) & (date < LATEST))][0]}, which is no day of them")
        return date.size


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"one of {value.dtype} in {value.ndim} dimensions"
    return type(value).__name__


def check_sound_matches(matches: Matches) -> None:
    """Refuse matches whose columns do not fit together."""
    from kinelo.matches.conditions import Condition
    from kinelo.matches.matches import LARGEST_WEIGHT

    table = _Table("matches", matches)
    size = table.days()
    home, away = (table.codes(name, size, matches.teams) for name in ("home", "away"))
    if (home == away).any():
        raise table.refuse(f"{matches.teams[home[home == away][0]]} plays itself")
    table.numbers("result", size, 0.0, 1.0, missing=True)
    table.column("margin", "f", size)
    table.column("neutral", "b", size)
    table.numbers("weight", size, 0.0, LARGEST_WEIGHT)
    table.column("row", "i", size)
    if matches.unordered is not None:
        table.column("unordered", "b", size)
    if matches.identifiers is not None and len(matches.identifiers) != size:
        raise table.refuse(f"identifiers has {len(matches.identifiers):,} values where {size:,} are needed")
    if not isinstance(matches.conditions, Mapping):
        raise table.refuse(f"conditions must be a mapping, not {_described(matches.conditions)}")
    parts = {f"conditions[{name!r}]": part for name, part in matches.conditions.items()}
    for name, part in (parts | ({} if matches.season is None else {"season": matches.season})).items():
        if not isinstance(part, Condition):
            raise table.refuse(f"{name} must be a Condition, not {_described(part)}")
        table.codes(name, size, part.levels, -1, part.codes)
    if matches.lineups is not None:
        _check_lineups(table, matches.lineups, size)


def _check_lineups(table: _Table, lineups: Any, size: int) -> None:
    from kinelo.matches.lineups import Lineups

    if not isinstance(lineups, Lineups):
        raise table.refuse(f"lineups must be Lineups, not {_described(lineups)}")
    entries = lineups.player.size if isinstance(lineups.player, np.ndarray) else 0
    table.codes("lineups.player", entries, lineups.players, 0, lineups.player)
    table.bounds("lineups.offsets", 2 * size + 1, entries, lineups.offsets, 0)
    table.column("lineups.minutes", "f", entries, lineups.minutes)
    table.column("lineups.starter", "i", entries, lineups.starter)
    table.codes("lineups.role", entries, lineups.roles, -1, lineups.role)


def check_sound_contests(contests: Contests) -> None:
    """Refuse contests whose columns do not fit together."""
    from kinelo.matches.contests import ENDINGS, Slots
    from kinelo.matches.matches import LARGEST_WEIGHT

    table = _Table("contests", contests)
    size = table.days()
    entries = contests.entrant.size if isinstance(contests.entrant, np.ndarray) else 0
    table.bounds("first", size + 1, entries, contests.first, 1)
    table.codes("entrant", entries, contests.entrants)
    table.codes("ended", entries, ENDINGS)
    table.numbers("place", entries, 1.0, np.inf, missing=True)
    table.numbers("weight", size, 0.0, LARGEST_WEIGHT)
    table.column("row", "i", entries)
    if contests.distance is not None:
        table.column("distance", "f", entries)
    for name in ("identifiers", "titles"):
        texts = getattr(contests, name)
        if (texts is not None or name == "identifiers") and len(texts) != size:
            raise table.refuse(f"{name} has {len(texts):,} values where {size:,} are needed")
    if not isinstance(contests.slots, Mapping) or not contests.slots:
        raise table.refuse(f"slots must be a mapping from kinds to Slots, not {_described(contests.slots)}")
    for kind, slots in contests.slots.items():
        if not isinstance(slots, Slots):
            raise table.refuse(f"slots[{kind!r}] must be Slots, not {_described(slots)}")
        table.codes(f"slots[{kind!r}]", entries, slots.names, -1, slots.codes, dimensions=2)
    contest = np.repeat(np.arange(size), np.diff(contests.first))
    twice = np.sort(contest * max(len(contests.entrants), 1) + contests.entrant)
    if (twice[1:] == twice[:-1]).any():
        raise table.refuse("an entrant stands twice in one contest")
