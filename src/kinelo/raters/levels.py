"""Strengths under conditions: what the states, and the raters, that heed conditions share.

Beside the own strength everyone has a deviation ``δ_l`` per level ``l`` of a condition, normal before any match with
the condition's spread. A level never met, and a match that says no level, count with the own strength alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import Parameter
from kinelo.raters.conditions import Slots, condition_names, spread_parameters
from kinelo.raters.state import RaterState
from kinelo.raters.stateful import StatefulRater

if TYPE_CHECKING:
    import polars as pl


MOST_STRENGTHS = 5_000_000
"""Strengths under conditions beyond which their derivatives would not fit into memory."""


class LevelState(RaterState):
    """A state with ``delta`` and ``delta_v``, a column per slot, and ``slot_v``, their variance before any match."""

    slots: Slots
    values: Mapping[str, float]

    def heed(self, conditions: tuple[str, ...], values: Mapping[str, float]) -> None:
        """Begin without any level of these conditions; their spreads are among the values of parameters."""
        self.slots, self.values = Slots(conditions), values

    def grow(self) -> None:
        """Make room for new levels of conditions, and for everyone on the rosters."""
        met, names = self.known.slot_v.size, len(self.rosters[self.columns["delta"].roster])
        if len(self.slots) * names > MOST_STRENGTHS:
            raise InputError(
                f"{len(self.slots):,} levels of {', '.join(self.slots.conditions)} are too many for {names:,} names: "
                f"at most {MOST_STRENGTHS:,} strengths are kept; give columns with fewer levels."
            )
        if len(self.slots) > met:
            fresh = self.slots.variances(self.values)[met:]
            wide = {name: np.pad(getattr(self.known, name), ((0, 0), (0, fresh.size))) for name in ("delta", "delta_v")}
            wide["delta_v"][:, met:] = fresh
            self.known = self.known._replace(**wide, slot_v=np.append(self.known.slot_v, fresh))
            self.fills["delta_v"] = self.known.slot_v
        super().grow()

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk; nothing of conditions where there are none."""
        kept = super().to_arrays()
        if self.slots.conditions:
            return {**kept, "slots": self.slots.to_array()}
        return {name: values for name, values in kept.items() if name not in ("delta", "delta_v", "slot_v")}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        nothing = np.empty((arrays[self.columns["delta"].roster].size, 0))
        none = {"delta": nothing, "delta_v": nothing, "slot_v": np.empty(0), "slots": np.empty(0, "U1")}
        super().from_arrays({**none, **arrays})
        self.slots.from_array({**none, **arrays}["slots"])
        self.fills["delta_v"] = self.known.slot_v


class ConditionRater(StatefulRater):
    """A rater with ``conditions``: one spread for each is estimated beside its other parameters."""

    conditions: Sequence[str]
    condition_spread: ClassVar[tuple[float, float, float]]
    """Where the spread by a condition is sought: default, least, largest."""

    def _spreads(self) -> tuple[Parameter, ...]:
        return spread_parameters(self.conditions, *self.condition_spread)

    def open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters the user left to be estimated, with the spreads by condition."""
        return super().open_parameters() + self._spreads()

    def settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter: the user's, else the moot one, else the estimate, else the default."""
        given = dict(estimated or {})
        own = {p.name: given.pop(p.name, p.default) for p in self._spreads()}
        return super().settled_values(given) | own

    @property
    def points_per_unit_(self) -> float:
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
        if condition not in condition_names(self.conditions):
            raise InputError(f"{condition!r} is no condition of this rater; it uses {list(self.conditions)}.")
        points, size = self.points_per_unit_, len(state)
        names = pl.Series(state.roster.names, dtype=pl.String)
        schema = {"name": pl.String, condition: pl.String, "rating": pl.Float64, "uncertainty": pl.Float64}
        tables = [pl.DataFrame(schema=schema)]
        for (of, level), slot in state.slots.index.items():
            if of == condition:
                added, variance = (values[:size, slot] for values in (state.known.delta, state.known.delta_v))
                columns = (names, [level] * size, points * added, points * np.sqrt(variance))
                tables.append(pl.DataFrame(dict(zip(schema, columns)), schema=schema).filter(state.here()))
        return pl.concat(tables)
