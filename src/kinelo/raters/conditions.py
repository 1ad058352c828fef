"""Conditions of matches, such as the surface in tennis, as raters see them.

Everyone has a strength per level of a condition around the own one: normal, with a spread per condition that is
estimated. A level of a condition is a slot; slots are numbered in order of first appearance.

Strengths under conditions: what the states, and the raters, that use conditions share.

Beside the own strength everyone has a deviation ``δ_l`` per level ``l`` of a condition, normal before any match with
the condition's spread. A level never met, and a match that says no level, count with the own strength alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.parameters import Parameter
from kinelo.matches.matches import Matches
from kinelo.raters.one_match import check_levels
from kinelo.raters.rater import Rater
from kinelo.raters.state import RaterState
from kinelo.raters.stored import SEPARATOR

if TYPE_CHECKING:
    import polars as pl


SPREAD_PREFIX = "spread by "
FEWEST_NUMBERS = 6
"""Levels from which on numbers are hardly categories."""


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


class ConditionRater(Rater):
    """A rater with ``conditions``: one spread for each is estimated beside its other parameters."""

    conditions: Sequence[str]
    _condition_spread: ClassVar[tuple[float, float, float]]
    """Where the spread by a condition is sought: default, least, largest."""

    def _look_at_conditions(self, matches: Matches) -> None:
        for name in condition_names(self.conditions):
            if name in matches.conditions:
                warn_of_numbers(name, matches.conditions[name].levels)

    def _spreads(self) -> tuple[Parameter, ...]:
        return spread_parameters(self.conditions, *self._condition_spread)

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters the user left to be estimated, with the spreads by condition."""
        return super()._open_parameters() + self._spreads()

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter: the user's, else the unidentified one, else the estimate, else the default."""
        given = dict(estimated or {})
        own = {p.name: given.pop(p.name, p.default) for p in self._spreads()}
        return super()._settled_values(given) | own

    @property
    def _points_per_unit(self) -> float:
        """Rating points per unit of strength."""
        return 1.0

    def strengths_by(self, condition: str) -> pl.DataFrame:
        """Rating points that each level of a condition adds to everyone's strength, with their uncertainty.

        >>> import kinelo as kn
        >>> table = {"home": ["A", "B"] * 9, "away": ["B", "A"] * 9, "result": [1] * 18}
        >>> table["surface"] = ["clay", "grass"] * 9
        >>> rater = kn.TeamElo(conditions=["surface"]).update(kn.read_matches(table, conditions=["surface"]))
        >>> [(level, points > 0) for _, level, points, _ in rater.strengths_by("surface").filter(name="A").rows()]
        [('clay', True), ('grass', False)]
        """
        import polars as pl

        state: Any = self._begun()
        if not isinstance(condition, str) or condition not in condition_names(self.conditions):
            raise InputError(f"{condition!r:.60} is no condition of this rater; it uses {list(self.conditions)}.")
        points, size = self._points_per_unit, len(state)
        names = pl.Series(state.name_index.names, dtype=pl.String)
        schema = {"name": pl.String, condition: pl.String, "rating": pl.Float64, "uncertainty": pl.Float64}
        tables = [pl.DataFrame(schema=schema)]
        for (of, level), place in state.levels.index.items():
            if of == condition:
                added, variance = state.at_level(place, self.parameters_[SPREAD_PREFIX + condition] ** 2)
                columns = (names, [level] * size, points * added, points * np.sqrt(variance))
                tables.append(pl.DataFrame(dict(zip(schema, columns)), schema=schema).filter(state.here()))
        return pl.concat(tables)
