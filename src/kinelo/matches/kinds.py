"""Matches and contests: the two kinds of tables, their words, and where they are read; it imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.presentation import counted

SIZE = "size"
"""The covariate that raters of teams make by themselves: how many play."""


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
    instead: str
    """What to say where a table of the other kind is handed over."""
    usual_rater: str | None
    described: str
    """What it is, in words that tell it from the other kind."""
    met: str
    """What somebody who is no newcomer has done."""
    over: str
    """What has happened to those that are not to come."""
    past: str
    """What a rater is fitted on."""
    two_sided: bool = False

    def counted(self, number: int, which: str = "") -> str:
        """So many of this kind; ``which`` says of which sort.

        >>> MATCHES.counted(1), CONTESTS.counted(1200), MATCHES.counted(1, "new ")
        ('1 match', '1,200 contests', '1 new match')
        """
        return counted(number, which + self.one, which + self.noun)

    def those(self, number: int) -> str:
        """So many who take part.

        >>> MATCHES.those(2), CONTESTS.those(1)
        ('2 sides', '1 entrant')
        """
        return counted(number, self.who.removesuffix("s"), self.who)

    def _found(self, module: str, name: str) -> Any:
        return getattr(import_module(f"kinelo.matches.{module}"), f"{name}_{self.noun}")

    @property
    def reader(self) -> Callable[..., Any]:
        """``read_matches`` or ``read_contests``."""
        return self._found("reading", "read")

    @property
    def scanner(self) -> Callable[..., Any]:
        """``scan_matches`` or ``scan_contests``."""
        return self._found("scan", "scan")

    def check(self, value: Any, *, scans: bool = False) -> None:
        """Refuse anything but a sound table of this kind, or a scan of it where ``scans`` are taken, and say how to
        get one.

        >>> MATCHES.check("league.csv")
        Traceback (most recent call last):
        kinelo.errors.InputError: matches must be read before they are used: kinelo.read_matches('league.csv').
        """
        kind, table = getattr(type(value), "kind", None), getattr(type(value), "in_memory", False)
        if kind is self and table:
            value._check_sound()
        elif kind is self and scans:
            pass  # its chunks are checked as they are read
        elif isinstance(value, str | Path):
            noun = self.noun
            raise InputError(f"{noun} must be read before they are used: kinelo.read_{noun}({str(value)!r}).")
        elif isinstance(kind, Kind) and table:
            raise InputError(self.instead)
        else:
            raise InputError(
                f"{self.noun} must be {self.noun.capitalize()}, as kinelo.read_{self.noun} returns them, not "
                f"{type(value).__name__}."
            )


MATCHES = Kind(
    "matches", "match", "sides", "a result",
    "These are contests of many entrants, not matches of two sides; RankElo and TeamElo.classic rate them.",
    None, "matches of two sides", "played", "been played", "results", two_sided=True,
)  # fmt: skip
CONTESTS = Kind(
    "contests", "contest", "entrants", "places",
    "These are matches of two sides, not contests; kinelo.matches.Contests.from_matches(matches) makes contests "
    "of two of them.",
    "rank", "contests of many entrants", "taken part", "taken place", "contests",
)  # fmt: skip
"""Which rater is usual of matches is decided on them (:func:`kinelo.raters.choose_rater`)."""

KINDS = {kind.noun: kind for kind in (MATCHES, CONTESTS)}
"""Both, by their nouns."""


def kind_of(value: object) -> Kind:
    """The kind of a table or a scan; what is neither is taken for matches, whose check says how to get them."""
    kind = getattr(type(value), "kind", None)
    return kind if isinstance(kind, Kind) else MATCHES
