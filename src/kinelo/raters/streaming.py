"""Raters and tables in pieces (:func:`kinelo.matches.scan_matches`, :func:`kinelo.matches.scan_contests`).

``update`` takes the pieces one after the other: the ratings are those of one piece, to the bit. ``fit`` reads them
twice: it estimates on a part of them (of matches the latest ``look`` of the rater), says so, and rates all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kinelo.errors import InputError, warn
from kinelo.matches.scan import TableScan
from kinelo.presentation import counted

LOOK = 200_000
"""Matches on which ``fit`` estimates parameters by default, the latest: where a file begins decides nothing."""


def update_in_pieces(rater: Any, scan: TableScan[Any]) -> None:
    """Carry the ratings of a rater on with the matches or contests of a scan."""
    _check_able(rater, scan)
    for piece in _with_warning(scan.pieces()):
        rater.update(piece)


def fit_in_pieces(rater: Any, scan: TableScan[Any], y: object) -> None:
    """Estimate the parameters of a rater on a part of a scan, and rate all of it."""
    noun = scan.kind.noun
    if y is not None:
        raise InputError(f"{noun.capitalize()} in {scan.parts} hold their results; leave y out.")
    _check_able(rater, scan)
    part, count = scan.to_estimate(rater.look), 0
    rater.fit(part)
    rater._reset(None if rater.estimates_ is None else rater.estimates_.values)
    for piece in _with_warning(scan.pieces()):
        count += len(piece)
        rater.update(piece)
    rater._show_learnt()
    if count > len(part) and rater._open_parameters():
        which = f"{scan.part_estimated} {len(part):,} {noun}"
        said = f"parameters were estimated on {which}; all {noun} were rated with them"
        warn(said)


def _check_able(rater: Any, scan: TableScan[Any]) -> None:
    rater._check_kind(scan, scans=True)
    why = rater._needs_whole_table()
    if why:
        raise InputError(f"{type(rater).__name__} cannot take {scan.kind.noun} in {scan.parts}: {why}.")


def _with_warning(pieces: Iterator[Any]) -> Iterator[Any]:
    """The pieces, and after the last one a warning of the rows that were set aside."""
    counts: Counter[str] = Counter()
    for piece in pieces:
        counts.update(piece.rejected.counts())
        yield piece
    if counts:
        reasons = ", ".join(f"{reason}: {number:,}" for reason, number in counts.items())
        rows = counted(sum(counts.values()), "row was", "rows were")
        warn(f"{rows} set aside ({reasons}).")
