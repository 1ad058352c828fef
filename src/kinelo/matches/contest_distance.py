"""How far each entrant of a contest came: a column of laps, kilometres or stages, as a part of what the winner did."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.contest_rows import ContestRows
from kinelo.matches.contests import FINISHED, NOT_STARTED, UNFINISHED
from kinelo.matches.fields import read_numbers
from kinelo.matches.names import as_text

WITHDREW = r"^(wd|w/d)$|withdr"


def read_distances(rows: ContestRows) -> None:
    """Read how far each came, after the outcome; ``found`` loses a column that turns out to say something else."""
    column = rows.found.get("distance")
    rated = (*rows.options.slots.values(), *rows.options.advantages.values(), (rows.options.team,))
    if column is None:
        return
    if any(column in columns for columns in rated) and "distance" not in (rows.options.columns or {}):
        del rows.found["distance"]
        return
    there = rows.good & (rows.contest >= 0)
    came = _numbers(rows, column, there)
    whole = _of_winners(rows, came, there)[rows.contest]
    retired = there & (rows.ended > FINISHED) & np.isfinite(came)
    lost = retired & ~(whole > 0.0)
    if lost.any():
        number = np.unique(rows.contest[lost]).size
        rows.notes.append(
            f"{number:,} {'contest has' if number == 1 else 'contests have'} no {column!r} of anybody who finished: "
            "how far the others came is unknown"
        )
    part = np.where(whole > 0.0, came / np.where(whole > 0.0, whole, 1.0), np.nan)
    told = retired & ~lost
    if told.any() and (part[told] == 1.0).all():
        rows.notes.append(
            f"{column!r} is the same for who finished and who did not: it is how long a contest is, not how far each "
            "came, and was not used"
        )
        del rows.found["distance"]
        return
    if told.any():
        rows.notes.append(f"{column!r} says how far who did not finish came, as a part of what the winner did")
    _note_longer(rows, column, there & (part > 1.0))
    rows.distance = np.minimum(part, 1.0)


def without_starters(rows: ContestRows, ended: NDArray[np.int8]) -> NDArray[np.int8]:
    """Endings in which who withdrew after some way, though not the longest of the contest, has started."""
    column = rows.found.get("distance")
    if column is None or "status" not in rows.found:
        return ended
    came = np.nan_to_num(read_numbers(rows.table[column]), posinf=0.0)
    longest = np.zeros(len(rows.identifiers) + 1)
    np.maximum.at(longest, rows.contest, came)
    status = as_text(rows.table[rows.found["status"]]).str.strip_chars().str.to_lowercase().fill_null("")
    on_the_way = status.str.contains(WITHDREW).to_numpy() & (came > 0.0) & (came < longest[rows.contest])
    on_the_way &= rows.good & (ended == NOT_STARTED)
    if on_the_way.any():
        number, name = int(on_the_way.sum()), rows.entrants[rows.entrant[np.flatnonzero(on_the_way)[0]]]
        entries = "1 entry" if number == 1 else f"{number:,} entries"
        rows.notes.append(f"{entries} withdrew after some {column!r}, such as {name}: that is not finishing")
    return np.where(on_the_way, UNFINISHED, ended).astype(np.int8)


def _numbers(rows: ContestRows, column: str, there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Distances from 0 on, NaN where there is none; cells that are no distance are noted."""
    came = np.array(read_numbers(rows.table[column], rows.notes))
    text = as_text(rows.table[column]).str.strip_chars().fill_null("")
    wrong = there & ~((came >= 0.0) & (came < np.inf)) & (text != "").to_numpy()
    if wrong.any():
        shown = text[int(np.flatnonzero(wrong)[0])]
        cells = "cell is" if wrong.sum() == 1 else "cells are"
        rows.notes.append(
            f"{int(wrong.sum()):,} {cells} no distance in {column!r}, such as {shown!r:.40}: how far these "
            "entries came is unknown"
        )
    return np.where((came >= 0.0) & (came < np.inf), came, np.nan)


def _of_winners(rows: ContestRows, came: NDArray[np.float64], there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Distance of the best of each contest (contests, and NaN for none); of who finished, the first who has one."""
    whole = np.full(len(rows.identifiers) + 1, np.nan)
    known = np.flatnonzero(there & (rows.ended == FINISHED) & np.isfinite(rows.value) & np.isfinite(came))
    order = known[np.lexsort((-came[known], rows.value[known], rows.contest[known]))]
    contest, at = np.unique(rows.contest[order], return_index=True)
    whole[contest] = came[order[at]]
    return whole


def _note_longer(rows: ContestRows, column: str, longer: NDArray[np.bool_]) -> None:
    if not longer.any():
        return
    row, number = int(np.flatnonzero(longer)[0]), int(longer.sum())
    name = rows.entrants[rows.entrant[row]]
    rows.notes.append(
        f"{number:,} {'entry' if number == 1 else 'entries'} came further in {column!r} than the winner, such as "
        f"{name} in row {row + 1:,}; that counts as all the way"
    )
