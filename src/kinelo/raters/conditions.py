"""Conditions of matches, such as the surface in tennis, as raters see them.

Everyone has a strength per level of a condition around the own one: normal, with a spread per condition that is
estimated. A level of a condition is a slot; slots are numbered in order of first appearance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import Parameter
from kinelo.matches.matches import Matches
from kinelo.raters.one_match import check_levels

PREFIX = "spread by "
SEPARATOR = "\x1f"


def condition_names(conditions: Sequence[str] | None) -> tuple[str, ...]:
    """The conditions a rater was asked to heed."""
    if isinstance(conditions, str):
        raise InputError(f"conditions={conditions!r} must be a list of columns, such as [{conditions!r}].")
    if not isinstance(conditions, Sequence | None) or not all(isinstance(name, str) for name in conditions or ()):
        raise InputError(f"conditions={conditions!r:.60} must be a list of the names of columns.")
    if len(set(conditions or ())) < len(conditions or ()):
        raise InputError(f"conditions={list(conditions or ())!r:.60} names a column twice.")
    return tuple(conditions or ())


def spread_parameters(
    conditions: Sequence[str] | None, default: float, low: float, high: float
) -> tuple[Parameter, ...]:
    """One spread per condition, to be estimated."""
    return tuple(
        Parameter(PREFIX + name, default, low, high, True, f"spread of a side's strengths by {name}")
        for name in condition_names(conditions)
    )


class Slots:
    """Levels of conditions met so far.

    >>> slots = Slots(("surface",))
    >>> slots.place("surface", "clay"), slots.place("surface", "grass"), slots.column.tolist()
    (0, 1, [0, 0])
    """

    def __init__(self, conditions: tuple[str, ...]) -> None:
        self.conditions = conditions
        self.index: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        return len(self.index)

    def place(self, condition: str, level: str) -> int:
        """Slot of a level, made if it is new."""
        return self.index.setdefault((condition, level), len(self.index))

    @property
    def column(self) -> NDArray[np.int64]:
        """Which condition each slot belongs to."""
        return np.array([self.conditions.index(condition) for condition, _ in self.index], np.int64)

    def variances(self, values: Mapping[str, float]) -> NDArray[np.float64]:
        """Variance of every slot before any match, from the parameters."""
        return np.array([values[PREFIX + condition] ** 2 for condition, _ in self.index])

    def codes(self, matches: Matches, admit: bool = True) -> NDArray[np.int64]:
        """Slots of every match, a column per condition; -1 where the level is not known (or new, unless admitted)."""
        out = np.empty((len(matches), len(self.conditions)), np.int64)
        for k, name in enumerate(self.conditions):
            if name not in matches.conditions:
                raise InputError(
                    f"The condition {name!r} was not read; read it with read_matches(..., conditions=[{name!r}])."
                )
            condition = matches.conditions[name]
            places = np.full(len(condition.levels) + 1, -1, np.int64)
            for code in _in_order(condition.codes):
                level = condition.levels[code]
                places[code] = self.place(name, level) if admit else self.index.get((name, level), -1)
            out[:, k] = places[condition.codes]
        return out

    def row(self, given: Mapping[str, object] | None) -> NDArray[np.int64]:
        """Slots of one match from its levels by condition, made where they are new; -1 where none is given."""
        given = check_levels(given, self.conditions)
        levels = {name: str(level).strip() for name, level in given.items() if level is not None}
        return np.array([[self.place(n, levels[n]) if levels.get(n) else -1 for n in self.conditions]], np.int64)

    def to_array(self) -> NDArray[np.str_]:
        """Condition and level of every slot, as text to be kept on disk."""
        return np.array([f"{condition}{SEPARATOR}{level}" for condition, level in self.index] or [""], dtype=str)

    def from_array(self, kept: NDArray[np.str_]) -> None:
        """Take over what :meth:`to_array` gave."""
        pairs = [tuple(text.split(SEPARATOR, 1)) for text in kept.tolist() if text]
        self.index = {(condition, level): k for k, (condition, level) in enumerate(pairs)}


def _in_order(codes: NDArray[np.int32]) -> list[int]:
    """Codes that occur, in order of first appearance, so that batches of one table number slots as the whole does."""
    known = codes[codes >= 0]
    values, first = np.unique(known, return_index=True)
    return values[np.argsort(first)].tolist()
