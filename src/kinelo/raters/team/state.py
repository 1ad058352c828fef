"""Where sides stand that also have a strength under every level of a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.matches import Matches
from kinelo.model.steps import ELITE
from kinelo.raters.conditions import LevelState
from kinelo.raters.slots import SlotRow
from kinelo.raters.state import MatchIndices, RatingTable, StateColumn

JUNIOR, REACHED = 1, 2
NO_OWN_STEPS: Mapping[str, float] = {}


class StepsByName(NamedTuple):
    """Sides with a step of their own, and juniors."""

    own: Mapping[str, float] = NO_OWN_STEPS
    juniors: frozenset[str] = frozenset()


class TeamRatings(NamedTuple):
    """Rating, variance, matches played and last day of every side, and its deviations under levels of conditions.

    ``own`` is the step of a side that has its own (else −1); ``marks`` adds JUNIOR and REACHED (FIDE's line).
    """

    rating: NDArray[np.float64]
    variance: NDArray[np.float64]
    games: NDArray[np.int64]
    last: NDArray[np.int64]
    own: NDArray[np.float64]
    marks: NDArray[np.int8]
    delta: NDArray[np.float64]
    delta_v: NDArray[np.float64]
    slot_v: NDArray[np.float64]


class TeamTable(LevelState, RatingTable):
    """The ratings of sides, in matches and under conditions."""

    kind = TeamRatings
    columns: ClassVar[Mapping[str, StateColumn]] = {
        **RatingTable.columns, **dict.fromkeys(("own", "marks", "delta"), StateColumn()), "delta_v": StateColumn(low=0),
    }  # fmt: skip
    steps: StepsByName = StepsByName()
    assigned = 0

    def __init__(
        self,
        rating: float,
        variance: float,
        conditions: tuple[str, ...] = (),
        values: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(rating, variance)
        self.known = self.known._replace(
            delta=np.empty((0, 0)), delta_v=np.empty((0, 0)), marks=np.empty(0, np.int8), own=np.empty(0)
        )
        self.fills |= {"own": -1.0, "marks": REACHED if rating >= ELITE else 0}
        self.use_conditions(conditions, values or {})

    def admit(self, matches: Matches) -> MatchIndices:
        """Places of both sides of every match, and slots of conditions; new names and levels begin at the start."""
        slots = self.levels.codes(matches)
        indices = super().admit(matches)
        self.assign()
        return indices._replace(slots=slots)

    def place(self, name: str) -> int:
        """Place of one name, made if it is new."""
        at = super().place(name)
        self.assign()
        return at

    def assign(self) -> None:
        """Give new names the step of their own and mark the juniors, where there are any."""
        if not self.steps.own and not self.steps.juniors:
            return
        names = self.name_index.names
        for at in range(self.assigned, len(names)):
            self.known.own[at] = self.steps.own.get(names[at], -1.0)
            if names[at] in self.steps.juniors:
                self.known.marks[at] |= JUNIOR
        self.assigned = len(names)

    def begin_row(self, known: Any, at: int, name: str) -> None:
        """Let a newcomer of this name stand at a place of some arrays, with the step of the own."""
        super().begin_row(known, at, name)
        known.own[at] = self.steps.own.get(name, -1.0)
        known.marks[at] |= JUNIOR * (name in self.steps.juniors)

    def take_slots(self, rows: Sequence[SlotRow]) -> None:
        """Put rows in; who has a step of the own has it again."""
        super().take_slots(rows)
        self.assigned = max(self.assigned, len(self.name_index))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk; steps by name only where there are any."""
        kept = super().to_arrays()
        if np.any(kept["marks"]) or np.any(kept["own"] >= 0.0):
            return kept
        return {name: values for name, values in kept.items() if name not in ("own", "marks")}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        size = arrays["names"].size
        super().from_arrays({"own": np.full(size, -1.0), "marks": np.zeros(size, np.int8), **arrays})
        self.assigned = size

    def find(self, matches: Matches) -> MatchIndices:
        """The same without adding anyone (-1: never played, or a level never met)."""
        home, away, unknown, *_ = super().find(matches)
        return MatchIndices(home, away, unknown, self.levels.codes(matches, admit=False))
