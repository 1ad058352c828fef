"""Soft resets: where a season begins, ratings are drawn towards the mean, and are less certain.

With the part ``r`` a rating becomes ``m + (1 − r) (x − m)``, where ``m`` is the mean of all who have one, and its
variance ``v + w²``, where ``w`` is what strengths move between seasons beyond what the rater allows for the days that
pass; nobody becomes less certain by it than a newcomer is. Nothing is added for what the reset itself takes away: those
it drew in are not anywhere around, but farther out. In twelve simulated leagues a doubt wider by that made forecasts
worse over the first three matches each (log-loss +.003 to +.010 with Glicko, RankElo and KalmanElo), and over forty
better with KalmanElo alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from kinelo.errors import InputError
from kinelo.raters.filter.state import STRENGTH, SlotState
from kinelo.raters.rater import traits_of


class SoftReset(NamedTuple):
    """The day from which it holds, the part ``r``, and what strengths move beside, in points."""

    day: int
    part: float
    moves: float = 0.0


def mean_of(means: Iterable[float]) -> float:
    """The mean of ratings, the same to the last bit in whatever order they come; 0 of none.

    >>> mean_of([1e16, 1.0, -1e16]) == mean_of([1.0, -1e16, 1e16])
    True
    """
    values = list(means)
    return math.fsum(values) / max(len(values), 1)


def soften(rater: Any, reset: SoftReset) -> None:
    """Draw in the ratings of everyone who has one; what all share, venues and the like stay as they are.

    Of a mixture those of every rater that keeps ratings, of which the one shown must be one.
    """
    if members := getattr(rater, "members_", {}):
        for name, member in members.items():
            if name == rater.shown_ or not traits_of(member).all_at_once:
                soften(member, reset)
        return
    state: Any = rater._begun() if hasattr(rater, "_begun") else None
    if isinstance(state, SlotState):
        b, slots = state.beliefs, state.own
        slots = slots[slots >= 0]
        slots = slots[b.games[slots] > 0]
        b.x[slots] -= reset.part * (b.x[slots] - mean_of(b.x[slots].tolist()))
        added, newcomer = (reset.moves / rater._points_per_unit) ** 2, rater._numbers[0][STRENGTH].prior
        variances, places = (b.C, (b.row[slots], b.row[slots])) if state.full else (b.v, slots)
        before = variances[places]
        variances[places] = before.clip(min=(before + added).clip(max=newcomer))
    elif getattr(rater, "_slots", None) is not None:
        helping = getattr(rater, "_advantage_kinds", ())
        moves = reset.moves / rater._slots.points().unit
        by_kind: dict[str, list[Any]] = {}
        for row in rater._slots.rows():
            if row.games > 0 and row.kind not in helping:
                by_kind.setdefault(row.kind, []).append(row)
        for kind, rows in by_kind.items():
            mean = mean_of(row.mean for row in rows)
            if hasattr(state, "entries"):
                newcomer = state.entries.value(rater.parameters_, "prior_spread", kind) ** 2
            else:
                newcomer = state.fills["variance"]
            rater._slots.take(
                row._replace(
                    mean=row.mean - reset.part * (row.mean - mean),
                    variance=max(row.variance, min(row.variance + moves**2, newcomer)),
                )
                for row in rows
            )
    else:
        raise InputError(
            f"{type(rater).__name__} cannot begin a season nearer to the mean: it keeps no rating that could be moved. "
            "Close the season with a reset of 0."
        )


def begin_seasons(rater: Any, day: int) -> None:
    """Soften ratings for every season that begins by this day and has not begun for the rater yet."""
    for reset in getattr(rater, "_soft_resets", ())[getattr(rater, "_resets_done", 0) :]:
        if reset.day > day:
            break
        soften(rater, reset)
        rater._resets_done += 1
