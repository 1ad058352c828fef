"""The law of :class:`kinelo.TeamElo` and of a federation's Elo: numbers, ratings and forecasts of one compiled loop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.fit import Slopes
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches
from kinelo.model.outcome import LOGISTIC, Outcome
from kinelo.model.steps import ELITE
from kinelo.play.laws import code_outcome, points_scale
from kinelo.raters.batches import in_batch, moved_twins, slopes_of
from kinelo.raters.margins import MEMORY
from kinelo.raters.order import forecast_until
from kinelo.raters.sides import Ahead, SideLaw, SideRater, begin_common
from kinelo.raters.start import Start
from kinelo.raters.state import ALIKE, BOLD, MatchColumns
from kinelo.raters.team import kernels
from kinelo.raters.team.kernels import KAPPA, TeamParameters, TeamTrace
from kinelo.raters.team.state import REACHED, StepsByName, TeamTable

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

SCALE = 400.0
NO_STEPS_BY_NAME = StepsByName()
BATCHED = ("rating", "delta", "delta_v")
"""What of a state differs between members of a batch."""


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
        steady = p.home_step / points_scale.py_func(p.nu, p.in_points * p.counts_draws * p.kappa)
        first = [p.home, 0.0 if p.learns_ties else p.kappa, 1.0 if math.isnan(self.margin_unit) else self.margin_unit]
        return begin_common([*first, 0.0, 0.0], effects, self.point, p.home_wide, steady)

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

    def ahead(self, columns: MatchColumns, table: Any, common: Array) -> Ahead:
        """What is believed of matches to come."""
        size, f = columns.day.size, columns.noise if columns.noise.size else 1.0
        z, doubt, ratings = np.empty(size), np.empty(size), np.empty((size, 2))
        kernels.foresee_all(columns._replace(noise=ALIKE), self.numbers, table.known, common, z, doubt, ratings)
        return Ahead(z / f, doubt / f**2, self.chances(z / f, None, common), ratings)

    def chances(self, z: Array, doubt: Array | None, common: Array) -> Array:
        """Chances of matches with these differences of strength, as things stand."""
        if self.outcome is not None:
            return self._by_outcome(z)
        ties, out = common.item(KAPPA), np.empty((z.size, 3))
        scale = points_scale.py_func(self.numbers.outer_nu, self.numbers.in_points * ties)
        kernels.all_chances(math.exp(float(common[BOLD])) * z, scale, ties, self.blur, out)
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


def elo_law(
    rater: Any, values: Mapping[str, float], spread: float, steps: StepsByName = NO_STEPS_BY_NAME, **changes: float
) -> EloLaw:
    """The law of a rater with these parameters; ``spread`` is that of newcomers' strengths, and ``changes`` are numbers
    by which it differs from :class:`kinelo.TeamElo`."""
    system, unit, learns_ties = rater.system, rater._margin_unit, rater._learns_ties
    outcome = None if system is None else system.outcome
    kind = LOGISTIC if outcome is None else code_outcome(outcome).kind
    nu = math.log(10.0) / (2.0 * rater.scale) if outcome is None else outcome.nu
    weight = 0.0 if math.isnan(unit) else values["margin_weight"]
    numbers = TeamParameters(
        kind=float(kind),
        nu=nu / (values["contraction"] if weight > 0 else 1.0),
        kappa=values["ties"],
        gamma=values["step"],
        boost=values["newcomer_boost"],
        settling=values["settling_matches"],
        home=rater._home_start(values),
        margin_weight=weight,
        margin_scale=values["margin_scale"],
        home_step=values["home_step"],
        ties_step=values["ties_step"] if kind == LOGISTIC and not learns_ties else 0.0,
        learns_ties=float(learns_ties),
        memory=float(MEMORY),
        outer_nu=nu,
        rho=values["regression"],
        mean=rater.initial,
        v0=spread**2,
        gap=rater.season_gap,
        square=rater._target_square,
        in_points=1.0 if system is None else 0.0,
        sharpness_walk=float(rater.sharpness_walk) if system is None else 0.0,
        home_wide=rater._home_wide,
        effect_step=values.get("effect_step", 0.0),
    )
    own = outcome if kind != LOGISTIC else None
    point = rater._own_points
    return EloLaw(numbers._replace(**changes), values, point, unit, rater._around.conditions, own, steps)


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
