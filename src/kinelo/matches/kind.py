"""Matches of two sides and contests of many: what all that take either need to know of the difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Kind:
    """Which of the two a table is: its words, and where it is read, scanned and checked.

    >>> import kinelo as kn
    >>> races = kn.read_contests({"race": [1, 1], "driver": ["Ann", "Bob"], "place": [1, 2]})
    >>> races.kind.noun, races.kind.who, races.kind.reader is kn.read_contests
    ('contests', 'entrants', True)
    """

    noun: str
    one: str
    who: str
    lacking: str
    """What those lack that are still to come."""
    home: str
    usual_rater: str | None

    def _found(self, module: str, name: str) -> Any:
        return getattr(import_module(f"kinelo.matches.{self.home}{module}"), f"{name}_{self.noun}")

    @property
    def reader(self) -> Callable[..., Any]:
        """``read_matches`` or ``read_contests``."""
        return self._found("reading", "read")

    @property
    def scanner(self) -> Callable[..., Any]:
        """``scan_matches`` or ``scan_contests``."""
        return self._found("scan", "scan")

    def check(self, value: object, *, scans: bool = False) -> None:
        """Refuse anything but a sound table of this kind, or a scan of it where ``scans`` are taken."""
        if scans and kind_of(value) is self and not getattr(value, "in_memory", True):
            return  # its chunks are checked as they are read
        getattr(import_module(f"kinelo.matches.{self.noun}"), f"check_{self.noun}")(value)


MATCHES = Kind("matches", "match", "sides", "a result", "", None)
CONTESTS = Kind("contests", "contest", "entrants", "places", "contest_", "rank")
"""Which rater is usual of matches is decided on them (:func:`kinelo.choose_rater`)."""


def kind_of(value: object) -> Kind:
    """The kind of a table or a scan; what is neither is taken for matches, whose check says how to get them."""
    kind = getattr(type(value), "kind", None)
    return kind if isinstance(kind, Kind) else MATCHES


def check_played(value: object, *, scans: bool = False) -> None:
    """Refuse anything but matches or contests whose columns fit together, and say how to get them."""
    kind_of(value).check(value, scans=scans)
