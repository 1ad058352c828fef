"""The compiled update of one match, among the sides of a rater or of two rows, and its forecast.

A rating book reads the rows of both sides, and writes those after the match. Nobody is looked up by name, and nothing
is kept between two matches but what all share.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kinelo.play.formula import compiled_for
from kinelo.raters.one_match import OneResult
from kinelo.raters.slots import SlotRow, numbers_shared
from kinelo.raters.state import MatchColumns, RatingTable, common_stored

HOME, AWAY = 0, 1
NO_LEVELS = np.empty((1, 0), np.int64)
"""Slots of one match without conditions."""


def one_match_columns() -> MatchColumns:
    """Columns of one match, to be filled."""
    number, place = np.float64, np.int32
    columns: list[Any] = [np.zeros(1, kind) for kind in (place, place, number, number, np.bool_, number, np.int64)]
    return MatchColumns(*columns, slots=NO_LEVELS)


class OneCall:
    """The kernels of a :class:`~kinelo.raters.sides.SideRater` with all that they take for one match, found once.

    It serves as long as rater and state have the same arrays.
    """

    def __init__(self, rater: Any, known: Any) -> None:
        self.known, self.common, self.law, self.table = known, rater._common, rater._law, rater._begun()
        self.columns, self.codes = one_match_columns(), dict[Any, Any]()
        room = rater._law.room(1, None)
        self.kernel, self.arguments = rater._law.call(self.columns, known, rater._common, room)
        arrays = (getattr(known, name) for name in self.table.columns)
        self.arrays = [array for array in arrays if array.ndim == 1]

    def __reduce__(self) -> Any:
        """None: arrays of a copy are others."""
        return type(None), ()

    def serves(self, rater: Any, known: Any) -> bool:
        """Whether this is how the rater plays a match among these arrays."""
        return self.known is known and self.common is rater._common and self.law is rater._law

    def run(self, kernel: Any, *arguments: Any) -> None:
        """Call a kernel, always with arguments of the same types."""
        code = self.codes.get(kernel)
        if code is None:
            code = self.codes[kernel] = compiled_for(kernel, arguments)
        code(*arguments)

    def ahead(self, i: int, j: int, day: int, neutral: bool) -> Any:
        """What is believed of a match on a day between those who stand at two places (-1: a newcomer)."""
        columns = one_match_columns()  # new ones: several threads may ask the same rater
        columns.home[0], columns.away[0], columns.day[0], columns.neutral[0] = i, j, day, neutral
        return self.law.ahead(columns, self.table, self.common, self.run)

    def say(self, played: OneResult, i: int, j: int, day: int) -> None:
        """Fill the columns with a match on a day between those who stand at two places."""
        home, away, signed, margin, neutral, weight, days = self.columns[:7]
        home[0], away[0], days[0], neutral[0] = i, j, day, played.neutral
        signed[0], margin[0], weight[0] = played.signed, played.margin, played.weight

    def play(self) -> None:
        """Rate the match."""
        self.run(self.kernel, *self.arguments)

    def rows(self, i: int, j: int) -> list[tuple[float, float]]:
        """What is known at two places."""
        return [(array.item(i), array.item(j)) for array in self.arrays]

    def put_back(self, i: int, j: int, rows: Sequence[tuple[float, float]]) -> None:
        """Take over what was known at two places before."""
        for array, (one, other) in zip(self.arrays, rows, strict=True):
            array[i], array[j] = one, other


class TwoRows:
    """The update of one match by a :class:`~kinelo.raters.sides.SideRater` without conditions, of any two rows.

    >>> import kinelo as kn
    >>> from kinelo.raters.one_match import one_result
    >>> pair = TwoRows(kn.TeamElo.classic(k=20, ties=0.0))
    >>> [row[1:3] for row in pair.use(one_result("A", "B", "win"), 19_900, [None, None])]
    [('A', 1510.0), ('B', 1490.0)]
    """

    def __init__(self, rater: Any) -> None:
        self.table: RatingTable = rater._begun()
        self.rater = copy.copy(rater)
        self.rater._common = rater._common.copy()
        self.known = self.table.newcomers(2)
        self.usual = [getattr(self.known, name) for name in self.table.usual]
        further = [getattr(self.known, name) for name in self.table.columns if name not in self.table.usual]
        self.newcomers = [(array, array.tolist()) for array in further if array.size]
        """What rows hold beside the usual numbers, as newcomers find it."""

    @cached_property
    def call(self) -> OneCall:
        """The call that rates them: made with the first match, since its code is loaded, which takes a second."""
        return OneCall(self.rater, self.known)

    @property
    def common(self) -> list[float]:
        """The numbers that all share."""
        return self.rater._common.tolist()

    @common.setter
    def common(self, numbers: Any) -> None:
        size = self.rater._common.size
        self.rater._common[:] = common_stored(numbers_shared({"common": numbers}, "common"), size)

    def use(self, played: OneResult, day: int, rows: Sequence[SlotRow | None]) -> list[SlotRow]:
        """Rows of both sides after a match on a day, from those before it; None is a newcomer."""
        names, known, table = (played.home, played.away), self.known, self.table
        mean, variance, games, last = self.usual
        plain = self._is_plain()
        for at, row in enumerate(rows):
            if row is None:
                table.begin_row(known, at, names[at])
            elif plain and row.more is None:
                mean[at], variance[at], games[at], last[at] = row[2:6]
            else:
                table.put_row(known, at, row)
        self.call.say(played, HOME, AWAY, day)
        self.call.play()
        if self._is_plain():
            numbers = zip(names, *(array.tolist() for array in self.usual))
            after = [SlotRow("side", *row) for row in numbers]
        else:
            after = [table.row_of(known, at, "side", name) for at, name in enumerate(names)]
        if not math.isfinite(sum(row.mean + row.variance for row in after)):
            raise self.rater._out_of_range()
        return after

    def _is_plain(self) -> bool:
        """Whether the arrays hold nothing beside the usual numbers but what newcomers find."""
        return all(array.tolist() == found for array, found in self.newcomers)
