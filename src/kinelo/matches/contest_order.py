"""The order of contests: by day, within a day by time, by round, as the file lists them, or by their names."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.columns import ORDER_COLUMNS, find_columns
from kinelo.matches.contest_rows import ContestRows
from kinelo.matches.day_order import round_rank, times_of_day
from kinelo.matches.fields import read_numbers
from kinelo.matches.names import encode_names

Ranks = NDArray[np.float64]


def within_day(rows: ContestRows, good: NDArray[np.int64]) -> list[NDArray]:
    """Ranks of the contests inside a day, the surest first; ``good`` are the rows that are used.

    A time or a round orders the contests of those days of which it is known for all.
    """
    contest = rows.contest[good]
    day = np.full(len(rows.identifiers), np.datetime64("0001-01-01"))
    np.maximum.at(day, contest, rows.date[good])
    ranks = []
    for column, key in _keys(rows, good).items():
        rank = _of_contests(key, contest, len(rows.identifiers))
        if rank is None:
            continue
        known = ~np.isnan(rank[np.unique(contest)])
        gaps = np.isin(day, day[np.unique(contest)][~known])
        rank = np.where(gaps, 0.0, rank)
        ranks.append(rank)
        if column in rows.table.columns and column not in rows.found.values():
            rows.order_columns = (*rows.order_columns, column)
            rows.notes.append(f"contests of one day stand in the order of {column!r}")
    return [*ranks, _as_listed(rows, contest)]


def _keys(rows: ContestRows, good: NDArray[np.int64]) -> dict[str, Ranks]:
    """What may tell the order of contests of one day, by column, for rows that are used; NaN where a row does not."""
    keys: dict[str, Ranks] = {}
    table, used = rows.table, {rows.outcome, rows.found.get("contest"), rows.found["entrant"]}
    if "date" in rows.found:
        keys[rows.found["date"]] = times_of_day(table[rows.found["date"]].gather(good))
    given = find_columns(table.columns, ORDER_COLUMNS, None)
    if given.get("time") not in (None, *used):
        keys[given["time"]] = times_of_day(table[given["time"]].gather(good))
    if given.get("round") not in (None, *used):
        (codes,), names = encode_names(table[given["round"]].gather(good))
        keys[given["round"]] = np.array([*round_rank(names), np.nan])[codes]
    if given.get("order") not in (None, *used):
        keys[given["order"]] = read_numbers(table[given["order"]].gather(good))
    return keys


def _of_contests(key: Ranks, contest: NDArray[np.int64], contests: int) -> Ranks | None:
    """The key of each contest; None where rows of one contest differ in it, or no two contests do."""
    least, most = np.full(contests, np.inf), np.full(contests, -np.inf)
    known = ~np.isnan(key)
    np.minimum.at(least, contest[known], key[known])
    np.maximum.at(most, contest[known], key[known])
    met = np.isfinite(least)
    if not met.any() or np.any(least[met] != most[met]) or np.unique(least[met]).size < 2:
        return None
    return np.where(met, least, np.nan)


def _as_listed(rows: ContestRows, contest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order of the file where it lists one contest after the other, else that of their names.

    Rounds of a season without dates are numbers that count, in whichever order they are listed.
    """
    changes = np.flatnonzero(np.concatenate([[True], contest[1:] != contest[:-1]]))
    if changes.size == np.unique(contest).size and not _numbered(rows, contest):
        place = np.full(len(rows.identifiers), contest.size)
        np.minimum.at(place, contest, np.arange(contest.size))
        return place
    keys = [[(not part.isdigit(), int(part) if part.isdigit() else part) for part in re.findall(r"\d+|\D+", name)]
            for name in rows.identifiers]  # fmt: skip
    rank = np.empty(len(keys), np.int64)
    rank[sorted(range(len(keys)), key=lambda k: keys[k])] = np.arange(len(keys))
    return rank


def _numbered(rows: ContestRows, contest: NDArray[np.int64]) -> bool:
    """Whether contests of seasons without dates are numbers, which tell their order."""
    if "date" in rows.found or "season" not in rows.found:
        return False
    return all(rows.identifiers[k].rpartition(" ")[2].isdigit() for k in np.unique(contest).tolist())
