"""Raters and matches in pieces (:func:`kinelo.scan_matches`).

``update`` takes the pieces one after the other: the ratings are those of one piece, to the bit. ``fit`` estimates on
the first matches (``look`` of the rater), says so, and rates all of them.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, TypeVar

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.estimator import check_target
from kinelo.matches.matches import Matches, check_matches
from kinelo.matches.scan import MatchScan, joined

Kind = TypeVar("Kind")

LOOK = 200_000
"""Matches on which ``fit`` estimates parameters unless told otherwise: tens of thousands settle every one of them."""


def update_in_chunks(update: Callable[[Kind, Matches], Kind]) -> Callable[[Kind, Matches | MatchScan], Kind]:
    """Let an ``update`` of matches take a scan too."""

    @wraps(update)
    def over_pieces(self: Any, matches: Matches | MatchScan) -> Any:
        if not isinstance(matches, MatchScan):
            check_matches(matches)
            return update(self, matches)
        _check_able(self)
        for piece in _told(matches.pieces()):
            update(self, piece)
        return self

    return over_pieces


def fit_in_chunks(
    fit: Callable[[Kind, Matches], Kind],
) -> Callable[Concatenate[Kind, Matches | MatchScan, ...], Kind]:
    """Let a ``fit`` to matches take a scan too, and the target ``y`` that scikit-learn hands over."""

    @wraps(fit)
    def over_pieces(self: Any, matches: Matches | MatchScan, y: object = None) -> Any:
        if not isinstance(matches, MatchScan):
            check_matches(matches)
            check_target(matches, y)
            return fit(self, matches)
        if y is not None:
            raise InputError("Matches in pieces hold their results; leave y out.")
        _check_able(self)
        pieces = _told(matches.pieces())
        if self.look is None:
            raise InputError(
                "look = None estimates on all matches at once, which pieces are not: read them with read_matches, or "
                "set look to a number."
            )
        head, rest = _split(pieces, int(self.look))
        fit(self, head)
        more = False
        for piece in rest:
            more = more or len(piece) > 0
            self.update(piece)
        if more and self.open_parameters():
            told = f"parameters were estimated on the first {len(head):,} matches; all matches were rated with them"
            warnings.warn(told, KineloWarning, stacklevel=2)
        return self

    return over_pieces


def _check_able(rater: Any) -> None:
    why = rater.needs_whole_table()
    if why:
        raise InputError(f"{type(rater).__name__} cannot take matches in pieces: {why}.")


def _split(pieces: Iterator[Matches], look: int) -> tuple[Matches, Iterator[Matches]]:
    """The first ``look`` matches, and all that follow: where pieces end does not matter."""
    begun: list[Matches] = []
    count = 0
    for piece in pieces:
        room = look - count
        begun.append(piece[:room])
        count += len(begun[-1])
        if len(piece) >= room:
            return joined(begun), _after(piece[room:], pieces)
    return joined(begun), iter(())


def _after(first: Matches, rest: Iterator[Matches]) -> Iterator[Matches]:
    if len(first):
        yield first
    yield from rest


def _told(pieces: Iterator[Matches]) -> Iterator[Matches]:
    """The pieces, and after the last one a warning of the rows that were set aside."""
    counts: Counter[str] = Counter()
    for piece in pieces:
        counts.update(piece.rejected.counts())
        yield piece
    if counts:
        reasons = ", ".join(f"{reason}: {number:,}" for reason, number in counts.items())
        warnings.warn(f"{sum(counts.values()):,} rows were set aside ({reasons}).", KineloWarning, stacklevel=3)
