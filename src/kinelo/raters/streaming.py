"""Raters and matches in pieces (:func:`kinelo.scan_matches`).

``update`` takes the pieces one after the other: the ratings are those of one piece, to the bit. ``fit`` estimates on
the first matches (``look`` of the rater), says so, and rates all of them.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from kinelo.errors import InputError, KineloWarning
from kinelo.matches.matches import Matches
from kinelo.matches.scan import MatchScan, joined

LOOK = 200_000
"""Matches on which ``fit`` estimates parameters by default: tens of thousands settle every one of them."""


def update_in_pieces(rater: Any, scan: MatchScan) -> None:
    """Carry the ratings of a rater on with the matches of a scan."""
    _check_able(rater)
    for piece in _with_warning(scan.pieces()):
        rater.update(piece)


def fit_in_pieces(rater: Any, scan: MatchScan, y: object) -> None:
    """Fit a rater to the first matches of a scan, and carry its ratings on with all others."""
    if y is not None:
        raise InputError("Matches in pieces hold their results; leave y out.")
    _check_able(rater)
    if rater.look is None:
        raise InputError(
            "look = None estimates on all matches at once, which pieces are not: read them with read_matches, or "
            "set look to a number."
        )
    head, rest = _split(_with_warning(scan.pieces()), int(rater.look))
    rater.fit(head)
    more = False
    for piece in rest:
        more = more or len(piece) > 0
        rater.update(piece)
    if more and rater.open_parameters():
        said = f"parameters were estimated on the first {len(head):,} matches; all matches were rated with them"
        warnings.warn(said, KineloWarning, stacklevel=3)


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


def _with_warning(pieces: Iterator[Matches]) -> Iterator[Matches]:
    """The pieces, and after the last one a warning of the rows that were set aside."""
    counts: Counter[str] = Counter()
    for piece in pieces:
        counts.update(piece.rejected.counts())
        yield piece
    if counts:
        reasons = ", ".join(f"{reason}: {number:,}" for reason, number in counts.items())
        warnings.warn(f"{sum(counts.values()):,} rows were set aside ({reasons}).", KineloWarning, stacklevel=4)
