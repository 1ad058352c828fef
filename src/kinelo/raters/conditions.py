"""Conditions of matches, such as the surface in tennis: strengths that depend on them.

Beside the own strength everyone has a deviation ``δ_l`` per level ``l`` of a condition, normal before any match with a
spread per condition that is estimated. A level never met, and a match that says no level, count with the own strength
alone. A level is a slot; slots are numbered in order of first appearance.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.parameters import Parameter
from kinelo.matches.matches import Matches
from kinelo.raters.state import RaterState
from kinelo.raters.stored import SEPARATOR

if TYPE_CHECKING:
    pass


SPREAD_PREFIX = "spread by "
FEWEST_NUMBERS = 6
"""Levels from which on numbers are hardly categories."""


def check_levels(given: Mapping[str, object] | None, conditions: Sequence[str]) -> dict[str, object]:
    """Levels of all conditions of one match, None where nothing is said; what the rater does not know is refused.

    >>> check_levels({"surface": "clay"}, ["surface", "weather"])
    {'surface': 'clay', 'weather': None}
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise InputError(f"conditions={given!r:.60} must say levels by condition, such as {{'surface': 'clay'}}.")
    strange = [name for name in given if name not in conditions]
    if strange:
        raise InputError(f"{strange[0]!r} is no condition of this rater; it uses {list(conditions)}.")
    return {name: given.get(name) for name in conditions}


def condition_names(conditions: Sequence[str] | None) -> tuple[str, ...]:
    """The conditions a rater was asked to use."""
    if isinstance(conditions, tuple) and not conditions:
        return ()
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
        Parameter(SPREAD_PREFIX + name, default, low, high, True, f"spread of a side's strengths by {name}")
        for name in condition_names(conditions)
    )


def numbers_in(levels: Sequence[str]) -> tuple[float, float] | None:
    """The least and the largest of levels that are numbers, so many that they are hardly categories.

    Years are categories, and so are a few numbers.

    >>> numbers_in(("0", "2", "3", "4", "6", "9", "-1"))
    (-1.0, 9.0)
    >>> numbers_in(("3", "5", "7")) is None
    True
    """
    if len(levels) < FEWEST_NUMBERS:
        return None
    try:
        values = np.array([float(level.replace("−", "-")) for level in levels])
    except ValueError:
        return None
    if not np.isfinite(values).all() or bool(np.all((values % 1 == 0) & (values >= 1800) & (values <= 2200))):
        return None
    return float(values.min()), float(values.max())


def warn_of_numbers(name: str, levels: Sequence[str]) -> None:
    """Warn of numbers among conditions, each of which counts as a category that knows nothing of its neighbours."""
    span = numbers_in(levels)
    if span is None:
        return
    warnings.warn(
        f"The condition {name!r} holds numbers ({len(levels)} of them, {span[0]:g} to {span[1]:g}), and each counts "
        "as a category of its own: what one is worth says nothing of the next. "
        f"covariates=[{name!r}] says what a unit is worth; if they are categories, leave it.",
        KineloWarning,
        stacklevel=5,
    )


class Levels:
    """Levels of conditions met so far.

    >>> levels = Levels(("surface",))
    >>> levels.place("surface", "clay"), levels.place("surface", "grass"), levels.column.tolist()
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
        return np.array([values[SPREAD_PREFIX + condition] ** 2 for condition, _ in self.index])

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

    def all_met(self, matches: Matches) -> bool:
        """Whether every level that matches say has been met."""
        met = self.codes(matches, admit=False) >= 0
        return all((met[:, k] | (matches.conditions[name].codes < 0)).all() for k, name in enumerate(self.conditions))

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
        if len(self.index) < len(pairs) or not {condition for condition, _ in pairs} <= set(self.conditions):
            raise InputError("A stored state must hold levels of the conditions of its rater, each of them once.")


def _in_order(codes: NDArray[np.int32]) -> list[int]:
    """Codes that occur, in order of first appearance, so that batches of one table number slots as the whole does."""
    known = codes[codes >= 0]
    values, first = np.unique(known, return_index=True)
    return values[np.argsort(first)].tolist()


MOST_STRENGTHS = 5_000_000
"""Strengths under conditions beyond which their derivatives would not fit into memory."""


def check_strengths(levels: Levels, names: int) -> None:
    """Refuse levels that are too many for so many names."""
    if len(levels) * names > MOST_STRENGTHS:
        raise InputError(
            f"{len(levels):,} levels of {', '.join(levels.conditions)} are too many for {names:,} names: "
            f"at most {MOST_STRENGTHS:,} strengths are kept; give columns with fewer levels."
        )


class LevelState(RaterState):
    """A state with ``delta`` and ``delta_v``, a column per slot, and ``slot_v``, their variance before any match."""

    levels: Levels
    values: Mapping[str, float]

    def use_conditions(self, conditions: tuple[str, ...], values: Mapping[str, float]) -> None:
        """Begin without any level of these conditions; their spreads are among the values of parameters."""
        self.levels, self.values = Levels(conditions), values

    def grow(self) -> None:
        """Make room for new levels of conditions, and for everyone on the name_indices."""
        met, names = self.known.slot_v.size, len(self.name_indices[self.columns["delta"].name_index])
        check_strengths(self.levels, names)
        if len(self.levels) > met:
            fresh = self.levels.variances(self.values)[met:]
            wide = {name: np.pad(getattr(self.known, name), ((0, 0), (0, fresh.size))) for name in ("delta", "delta_v")}
            wide["delta_v"][:, met:] = fresh
            self.known = self.known._replace(**wide, slot_v=np.append(self.known.slot_v, fresh))
            self.fills["delta_v"] = self.known.slot_v
        super().grow()

    def at_level(self, level: int, before: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of what everyone is better by at a level; ``before`` is the variance before any match."""
        return self.known.delta[: len(self), level], self.known.delta_v[: len(self), level]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk; nothing of conditions where there are none."""
        kept = super().to_arrays()
        if self.levels.conditions:
            return {**kept, "slots": self.levels.to_array()}
        return {name: values for name, values in kept.items() if name not in ("delta", "delta_v", "slot_v")}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        nothing = np.empty((arrays[self.columns["delta"].name_index].size, 0))
        none = {"delta": nothing, "delta_v": nothing, "slot_v": np.empty(0), "slots": np.empty(0, "U1")}
        super().from_arrays({**none, **arrays})
        self.levels.from_array({**none, **arrays}["slots"])
        widths = {self.known.delta.shape[1], self.known.delta_v.shape[1], self.known.slot_v.size}
        if widths != {len(self.levels)}:
            raise InputError("The array 'delta' of a stored state has another width than its levels are many.")
        self.fills["delta_v"] = self.known.slot_v
