"""Two sides as rows: the compiled update of one match, for whoever keeps rows of sides and not a rater that knows all.

A rating book reads the rows of both sides, and writes those after the match. Nobody is looked up by name, and nothing
is kept between two matches but what all share.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinelo.raters.one_match import OneResult
from kinelo.raters.slots import SlotRow, numbers_shared
from kinelo.raters.state import RatingTable

HOME, AWAY = 0, 1


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
        self.known = self.table.newcomers(2)
        self.members = rater._members(self.known)
        self.columns = rater._one_match()
        self.columns.home[0], self.columns.away[0] = HOME, AWAY

    @property
    def common(self) -> list[float]:
        """The numbers that all share."""
        return self.rater._common.tolist()

    @common.setter
    def common(self, numbers: Any) -> None:
        whole = numbers_shared({"common": numbers}, "common", self.rater._common.size)
        self.rater._common = np.array(whole, float)

    def use(self, one: OneResult, day: int, rows: Sequence[SlotRow | None]) -> list[SlotRow]:
        """Rows of both sides after a match on a day, from those before it; None is a newcomer."""
        names, known, table, columns = (one.home, one.away), self.known, self.table, self.columns
        for at, row in enumerate(rows):
            if row is None:
                table.begin_row(known, at, names[at])
            else:
                table.put_row(known, at, row)
        columns.day[0] = day
        columns.signed[0], columns.margin[0], columns.weight[0] = one.signed, one.margin, one.weight
        columns.neutral[0] = one.neutral
        self.rater._play_members(columns, self.members)
        after = [table.row_of(known, at, "side", name) for at, name in enumerate(names)]
        if not math.isfinite(sum(row.mean + row.variance for row in after)):
            raise self.rater._out_of_range()
        return after
