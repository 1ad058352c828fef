"""A contest of rows: the compiled update, for whoever keeps rows of entrants and not a rater that knows all of them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinelo.raters.filter.alone import SlotBeliefs
from kinelo.raters.filter.belief import LONG_AGO
from kinelo.raters.rank.one_field import FieldCall, PlainField, labels_of, plain_field
from kinelo.raters.slots import SlotRow
from kinelo.raters.state import NEVER


class FieldRows:
    """The update of one plain contest by a :class:`kinelo.RankElo` that rates one kind, of any rows.

    >>> import kinelo as kn
    >>> rows = FieldRows(kn.RankElo().update_one(["Ann", "Bob"], date="2024-05-01"))
    >>> field = rows.field(["Cid", "Dee"])
    >>> [row.name for row in rows.use(field, 19_900, [None, None])]
    ['Cid', 'Dee']
    """

    def __init__(self, rater: Any) -> None:
        self.rater = copy.deepcopy(rater)
        self.call: FieldCall | None = None

    @property
    def kind(self) -> str:
        """The kind that is rated."""
        return self.rater.kinds_[0]

    def take_shared(self, kept: dict[str, Any]) -> None:
        """Take over what all share."""
        self.rater.slots.take_shared(kept, None)

    def field(self, order: Any, ranks: Any = None) -> PlainField | None:
        """A contest that can be rated so; None where it takes a table."""
        rater, state = self.rater, self.rater._begun()
        if len(rater.kinds_) != 1 or rater.advantage_kinds_ or rater.noise_by or not state.dated:
            return None
        return plain_field(order, ranks)

    def entries(self, field: PlainField) -> list[tuple[str, float, list[str]]]:
        """What entrants are called, their places, and the names of each."""
        found, first = [], 0
        for label, size, place in zip(labels_of(field), field.sizes, field.places.tolist()):
            found.append((label, place, field.names[first : first + size]))
            first += size
        return found

    def use(self, field: PlainField, day: int, rows: Sequence[SlotRow | None]) -> list[SlotRow]:
        """Rows of everyone after a contest, from those before it, in the order of its names; None is a newcomer."""
        size = len(rows)
        x, v, games, last = np.zeros((size, 1)), np.zeros((size, 1)), np.zeros(size, np.int64), np.full(size, NEVER)
        for k, row in enumerate(rows):
            if row is not None:
                x[k, 0], v[k, 0], games[k], last[k] = row[2:6]
        own = SlotBeliefs(x, v, last, games, np.zeros(size, np.int8), np.full(2, LONG_AGO, np.int64))
        if self.call is None or self.call.parameters != self.rater.parameters_:
            self.call = FieldCall(self.rater._model(), own, self.rater.parameters_)
        self.call.run(field, day, range(size), own, learning=True)
        numbers = zip(x[:, 0].tolist(), v[:, 0].tolist(), games.tolist(), last.tolist())
        return [
            SlotRow(self.kind, name, *one, None if row is None else row.more)
            for name, one, row in zip(field.names, numbers, rows)
        ]
