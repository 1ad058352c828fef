"""The law of :class:`kinelo.TeamElo` and of a federation's Elo: numbers, ratings and forecasts of one compiled loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.fit import Slopes
from kinelo.forecasts.scores import log_loss
from kinelo.matches.day_order import forecast_until
from kinelo.matches.matches import Matches
from kinelo.model.outcome import Outcome
from kinelo.model.steps import ELITE
from kinelo.play.laws import points_scale
from kinelo.raters.batches import moved_twins, slopes_of
from kinelo.raters.sides import Ahead, SideLaw, SideRater, begin_common, dispatch
from kinelo.raters.slots import SlotRow
from kinelo.raters.start import Start
from kinelo.raters.state import ALIKE, BOLD, LevelState, MatchColumns, MatchIndices, RatingTable, StateColumn, in_batch
from kinelo.raters.team import kernels
from kinelo.raters.team.kernels import JUNIOR, KAPPA, REACHED, TeamParameters, TeamTrace

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

SCALE = 400.0
NO_OWN_STEPS: Mapping[str, float] = {}
BATCHED = ("rating", "delta", "delta_v")
"""What of a state differs between members of a batch."""


class StepsByName(NamedTuple):
    """Sides with a step of their own, and juniors."""

    own: Mapping[str, float] = NO_OWN_STEPS
    juniors: frozenset[str] = frozenset()


NO_STEPS_BY_NAME = StepsByName()


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
        conditions: tuple[str, ...],
        values: Mapping[str, float] | None,
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


@dataclass(frozen=True, eq=False)
class EloLaw(SideLaw):
    """``R_i += γ_i (S − b)`` with all that :func:`kinelo.raters.team.kernels.play_all` knows beside it.

    ``values`` are the parameters, ``point`` a point of 400 in own rating points, ``margin_unit`` the first unit of
    margins (NaN: none), and ``outcome`` the law of a rating system, None for Davidson's.
    """

    numbers: TeamParameters
    values: Mapping[str, float]
    point: float
    margin_unit: float
    conditions: tuple[str, ...]
    outcome: Outcome | None = None
    steps: StepsByName = NO_STEPS_BY_NAME
    unit = 1.0

    @cached_property
    def blur(self) -> kernels.Nodes:
        """Nodes of the performances; κ may drift, so they serve up to twice its first value."""
        return kernels.blur(self.numbers.outer_nu, [self.values["spread"]], 2.0 * self.values["ties"])

    @cached_property
    def member(self) -> NDArray[np.void]:
        """The numbers as the only member of a batch."""
        return np.array([tuple(self.numbers)], kernels.MEMBER)

    def table(self) -> TeamTable:
        """Ratings before any match."""
        fresh = TeamTable(self.numbers.mean, self.numbers.v0, self.conditions, self.values)
        fresh.steps = self.steps
        return fresh

    def common(self, effects: Array) -> Array:
        """What all share before any match: home advantage, κ, the unit of margins, draws, and what follows."""
        p = self.numbers
        # As plain Python: to compile it for one number would take longer than to open a book.
        scale = points_scale.py_func(p.nu, p.in_points * p.counts_draws * p.kappa) if p.home_step else 1.0
        first = [p.home, 0.0 if p.learns_ties else p.kappa, 1.0 if math.isnan(self.margin_unit) else self.margin_unit]
        return begin_common([*first, 0.0, 0.0], effects, self.point, p.home_wide, p.home_step / scale)

    def place(self, start: Start, table: Any) -> None:
        """Write the ratings to begin with at the first places."""
        size, known = len(start.names), table.known
        table.assign()
        known.rating[:size] = start.rating
        known.marks[:size] |= np.where(start.rating >= ELITE, REACHED, 0).astype(np.int8)
        known.variance[:size] = np.where(np.isnan(start.deviation), known.variance[:size], start.deviation**2)

    def room(self, size: int, until: NDArray[np.int64] | None) -> TeamTrace:
        """Room for what is known before each of so many matches."""
        if until is None:
            return kernels.NO_TRACE
        return TeamTrace(np.empty((size, 1)), np.empty((1, size, 3)), np.empty((size, 2)), until)

    def call(self, columns: MatchColumns, known: Any, common: Array, trace: TeamTrace) -> tuple[Any, tuple[Any, ...]]:
        """The loop over matches and its arguments."""
        return kernels.play_all, (columns, self.member, in_batch(known, BATCHED), common[None], self.blur, trace)

    def forecasts(self, trace: TeamTrace) -> tuple[Array, Array]:
        """Chances and ratings of both sides before each match."""
        return (trace.chances[0] if self.outcome is None else self._by_outcome(trace.z[:, 0])), trace.ratings

    def ahead(self, columns: MatchColumns, table: Any, common: Array, run: Callable[..., None] = dispatch) -> Ahead:
        """What is believed of matches to come."""
        size, f = columns.day.size, columns.noise if columns.noise.size else 1.0
        z, doubt, ratings = np.empty(size), np.empty(size), np.empty((size, 2))
        run(kernels.foresee_all, columns._replace(noise=ALIKE), self.numbers, table.known, common, z, doubt, ratings)
        return Ahead(z / f, doubt / f**2, self.chances(z / f, None, common, run), ratings)

    def chances(self, z: Array, doubt: Array | None, common: Array, run: Callable[..., None] = dispatch) -> Array:
        """Chances of matches with these differences of strength, as things stand."""
        if self.outcome is not None:
            return self._by_outcome(z)
        ties, out = common.item(KAPPA), np.empty((z.size, 3))
        scale = points_scale.py_func(self.numbers.outer_nu, self.numbers.in_points * ties)
        run(kernels.all_chances, math.exp(float(common[BOLD])) * z, scale, ties, self.blur, out)
        return out

    def _by_outcome(self, z: Array) -> Array:
        """Chances under the law of the rating system, blurred by normal performances."""
        law, nodes = self.outcome, z[:, None] + self.blur.x[:, 0]
        assert law is not None
        b, tie = law.b(nodes) @ self.blur.weight, law.tie_probability(nodes) @ self.blur.weight
        win = 0.5 * (1.0 - tie + b)
        return np.column_stack([win, tie, 1.0 - tie - win])

    def at_factors(self, trace: TeamTrace, common: Array, before: Array | float, factors: Array) -> Array:
        """Chances of matches that were played, had the noise these factors."""
        return self.chances(trace.z[:, 0] / factors, None, common)

    def shown(self, table: Any) -> pl.DataFrame:
        """The ratings as a table; uncertainty has grown for those who rested since the day of the last match."""
        size, prior = len(table), self.numbers.v0
        last = table.known.last[:size]
        idle = np.maximum((last.max() if size else 0) - last - self.numbers.gap, 0.0)
        f = np.exp(-2 * self.numbers.rho * idle / kernels.YEAR)
        return table.table(uncertainty=np.sqrt(prior + f * (table.known.variance[:size] - prior)))


def elo_slopes(rater: SideRater, matches: Matches, skipped: int) -> Slopes:
    """Derivatives of the losses of the matches from ``skipped`` on by the open parameters, after a reset.

    Raters that differ in one parameter each use the matches side by side.
    """
    state, moves = rater._begun(), moved_twins(rater)
    members: Sequence[Any] = [rater, *(move.twin for move in moves.values())]
    columns, count = rater._columns(matches, state.admit(matches)), len(members)
    known = in_batch(state.known, BATCHED, count)
    for q, member in enumerate(members[1:], 1):
        known.delta_v[..., q] = state.levels.variances(member.parameters_)
    common = np.array([member._common for member in members])
    numbers = np.array([tuple(member._numbers) for member in members], kernels.MEMBER)
    values = [member.parameters_ for member in members]
    blur = kernels.blur(rater._numbers.outer_nu, [v["spread"] for v in values], 2.0 * max(v["ties"] for v in values))
    size = len(matches)
    trace = TeamTrace(np.empty((size, count)), np.empty((count, size, 3)), np.empty((size, 2)), forecast_until(matches))
    kernels.play_all(columns, numbers, known, common, blur, trace)
    losses = [log_loss(chances[skipped:], matches.result[skipped:]) for chances in trace.chances]
    return slopes_of(losses[0], losses[1:], moves)
