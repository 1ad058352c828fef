"""Raters and matches in pieces (:func:`kinelo.scan_matches`).

``update`` takes the pieces one after the other: the ratings are those of one piece, to the bit. ``fit`` reads them
twice: it estimates on the latest matches (``look`` of the rater), says so, and rates all of them.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from kinelo.errors import InputError, KineloWarning
from kinelo.matches.matches import Matches
from kinelo.matches.scan import MatchScan

LOOK = 1_000_000
"""Matches on which ``fit`` estimates parameters by default, the latest: where a file begins decides nothing."""


def update_in_pieces(rater: Any, scan: MatchScan) -> None:
    """Carry the ratings of a rater on with the matches of a scan."""
    _check_able(rater)
    for piece in _with_warning(scan.pieces()):
        rater.update(piece)


def fit_in_pieces(rater: Any, scan: MatchScan, y: object) -> None:
    """Estimate the parameters of a rater on the latest matches of a scan, and rate all of them."""
    if y is not None:
        raise InputError("Matches in pieces hold their results; leave y out.")
    _check_able(rater)
    if rater.look is None:
        raise InputError(
            "look = None estimates on all matches at once, which pieces are not: read them with read_matches, or "
            "set look to a number."
        )
    latest, count = scan.latest(int(rater.look)), 0
    rater.fit(latest)
    rater.reset(None if rater.estimates_ is None else rater.estimates_.values)
    for piece in _with_warning(scan.pieces()):
        count += len(piece)
        rater.update(piece)
    rater._show_learnt()
    if count > len(latest) and rater.open_parameters():
        said = f"parameters were estimated on the latest {len(latest):,} matches; all matches were rated with them"
        warnings.warn(said, KineloWarning, stacklevel=3)


def _check_able(rater: Any) -> None:
    why = rater.needs_whole_table()
    if why:
        raise InputError(f"{type(rater).__name__} cannot take matches in pieces: {why}.")


def _with_warning(pieces: Iterator[Matches]) -> Iterator[Matches]:
    """The pieces, and after the last one a warning of the rows that were set aside."""
    counts: Counter[str] = Counter()
    for piece in pieces:
        counts.update(piece.rejected.counts())
        yield piece
    if counts:
        reasons = ", ".join(f"{reason}: {number:,}" for reason, number in counts.items())
        warnings.warn(f"{sum(counts.values()):,} rows were set aside ({reasons}).", KineloWarning, stacklevel=4)
