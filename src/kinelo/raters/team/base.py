"""What :class:`kinelo.TeamElo` and a federation's Elo share: numbers, ratings and conditions in one compiled loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.fit import Slopes
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Parameter
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches
from kinelo.model.outcome import LOGISTIC
from kinelo.model.steps import ELITE
from kinelo.model.system import RatingSystem
from kinelo.play.laws import code_outcome, points_scale
from kinelo.raters.batches import in_batch, moved_twins, slopes_of
from kinelo.raters.margins import MEMORY
from kinelo.raters.one_match import Gaps, OneResult
from kinelo.raters.order import forecast_until
from kinelo.raters.sides import NO_LEVELS, SideRater, Trace
from kinelo.raters.start import Start
from kinelo.raters.state import MatchColumns, RatingTable, match_columns
from kinelo.raters.stored import stored, taken_whole
from kinelo.raters.team import kernels
from kinelo.raters.team.kernels import TeamParameters, TeamTrace
from kinelo.raters.team.state import REACHED, StepsByName, TeamTable

if TYPE_CHECKING:
    import polars as pl

SCALE = 400.0
USUAL_SPREAD = 200.0
BATCHED = ("rating", "delta", "delta_v")
"""What of a state differs between members of a batch."""


class EloOfSides(SideRater):
    """A rater whose ratings :func:`kinelo.raters.team.kernels.play_all` moves."""

    _condition_spread: ClassVar[Any] = (20.0, 0.5, 400.0)
    scale: float
    season_gap: float
    system: RatingSystem | None
    _margin_unit: float = math.nan
    _found_spread: float
    _target_square: float = 1.0
    _own_batch = None

    def _newcomers_spread(self) -> float:
        """Standard deviation of newcomers' strengths: what is given, or else what was found."""
        given: float | None = vars(self).get("prior_spread")
        return given or getattr(self, "_found_spread", USUAL_SPREAD * self._unit)

    @property
    def _unit(self) -> float:
        """Own rating points per point of the scale of 400."""
        return self.scale / SCALE if self.system is None else 1.0

    @property
    def _own_points(self) -> float:
        return self._unit

    def _in_own_unit(self) -> tuple[Parameter, ...]:
        """All parameters, with defaults and ranges in points of this ``scale``."""
        return tuple(p.in_unit(self._unit) for p in self._declared_parameters)

    def _vector(self, values: Mapping[str, float]) -> TeamParameters:
        unit = self._margin_unit
        weight = 0.0 if math.isnan(unit) else values["margin_weight"]
        return TeamParameters(
            kind=float(self._kind),
            nu=self._nu / (values["contraction"] if weight > 0 else 1.0),
            kappa=values["ties"],
            gamma=values["step"],
            boost=values["newcomer_boost"],
            settling=values["settling_matches"],
            home=self._home_start(values),
            margin_weight=weight,
            margin_scale=values["margin_scale"],
            home_step=values["home_step"],
            ties_step=values["ties_step"] if self._kind == LOGISTIC and not self._learns_ties else 0.0,
            learns_ties=float(self._learns_ties),
            memory=float(MEMORY),
            outer_nu=self._nu,
            rho=values["regression"],
            mean=self.initial,
            v0=self._newcomers_spread() ** 2,
            gap=self.season_gap,
            square=self._target_square,
            in_points=1.0 if self.system is None else 0.0,
            sharpness_walk=float(self.sharpness_walk) if self.system is None else 0.0,
            home_wide=self._home_wide,
            effect_step=values.get("effect_step", 0.0),
        )

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        unit, self._found_spread, self._target_square = stored(arrays, "found", "f", (3,), 0.0).tolist()
        self._margin_unit = unit or math.nan  # a unit of 0 stands for none
        super().from_arrays(arrays)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, or to rate matches anew, as arrays."""
        usual = USUAL_SPREAD * self._unit
        found = np.array([np.nan_to_num(self._margin_unit), getattr(self, "_found_spread", usual), self._target_square])
        return {**super().to_arrays(), "found": found}

    def _table(self, values: Mapping[str, float]) -> TeamTable:
        fresh = TeamTable(self.initial, self._numbers.v0, self._around.conditions, values)
        fresh.steps = self._steps_by_name()
        return fresh

    def _steps_by_name(self) -> StepsByName:
        """Steps of single sides and who is a junior, under a rule of K."""
        return StepsByName()

    def _place(self, start: Start, known: Any) -> None:
        size = len(start.names)
        self._state.assign()
        known.rating[:size] = start.rating
        known.marks[:size] |= np.where(start.rating >= ELITE, REACHED, 0).astype(np.int8)
        known.variance[:size] = np.where(np.isnan(start.deviation), known.variance[:size], start.deviation**2)

    @property
    def _nu(self) -> float:
        return math.log(10.0) / (2.0 * self.scale) if self.system is None else self.system.outcome.nu

    @property
    def _kind(self) -> int:
        return LOGISTIC if self.system is None else code_outcome(self.system.outcome).kind

    def _play(self, matches: Matches, ratings: RatingTable, traced: bool) -> Trace:
        return self._play_batch(matches, [self], traced)

    def _play_batch(self, matches: Matches, batch: Sequence[EloOfSides], traced: bool = True) -> Trace:
        """Let raters that differ in their parameters use the matches side by side; the first is this one.

        What was known before each.
        """
        ratings: TeamTable = self._state
        columns = match_columns(
            matches, ratings.admit(matches), self._around.factor_column(matches), self._around.columns(matches)
        )
        state, size, count = in_batch(ratings.known, BATCHED, len(batch)), len(matches), len(batch)
        for q, member in enumerate(batch[1:], 1):
            state.delta_v[..., q] = ratings.levels.variances(member.parameters_)
        common = np.array([member._common for member in batch]) if count > 1 else self._common[None]
        trace = kernels.NO_TRACE
        if traced:
            until = forecast_until(matches)
            trace = TeamTrace(np.empty((size, count)), np.empty((count, size, 3)), np.empty((size, 2)), until)
        numbers = parameters_of_batch(batch) if count > 1 else self._own_numbers
        kernels.play_all(columns, numbers, state, common, self._nodes(batch), trace)
        self._common = common[0]
        return trace

    @property
    def _own_numbers(self) -> NDArray[np.void]:
        """This rater's numbers as the only member, made once."""
        if self._own_batch is None or self._own_batch[0] is not self._numbers:
            self._own_batch = (self._numbers, parameters_of_batch([self]))
        return self._own_batch[1]

    def _nodes(self, batch: Sequence[EloOfSides]) -> kernels.Nodes:
        """Nodes of the performances of the whole batch; κ may drift, so they serve up to twice its first value."""
        if len(batch) == 1:
            return self._blur
        values = [member.parameters_ for member in batch]
        return kernels.blur(self._nu, [v["spread"] for v in values], 2.0 * max(v["ties"] for v in values))

    def _slopes(self, matches: Matches, skipped: int) -> Slopes:
        """Derivatives of the losses of the matches from ``skipped`` on by the open parameters, after a reset."""
        self._begun()
        moves = moved_twins(self)
        _, chances, *_ = self._play_batch(matches, [self, *(move.twin for move in moves.values())])
        losses = [log_loss(one[skipped:], matches.result[skipped:]) for one in chances]
        return slopes_of(losses[0], losses[1:], moves)

    def _shared(self, values: Mapping[str, float]) -> NDArray[np.float64]:
        unit = self._margin_unit
        self._blur = kernels.blur(self._nu, [values["spread"]], 2.0 * values["ties"])
        unit = 1.0 if math.isnan(unit) else unit
        p = self._numbers
        # As plain Python: to compile it for one number would take longer than to open a book.
        steady = p.home_step / points_scale.py_func(p.nu, p.in_points * p.counts_draws * p.kappa)
        ties = 0.0 if self._learns_ties else p.kappa
        return np.array(
            [p.home, ties, unit, 0.0, 0.0, *self._effects_before(self._unit), *self._following(p.home, steady)]
        )

    @property
    def _learns_ties(self) -> bool:
        return super()._learns_ties and self.system is None

    def _forecast(self, trace: Trace, unknown: tuple[str, ...], matches: Matches) -> Forecast:
        z, chances, ratings, _ = trace
        said = chances[0] if self._kind == LOGISTIC else self._by_law(z[:, 0])
        return Forecast(said, unknown, matches, ratings)

    def _by_law(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chances under the law of the rating system, blurred by normal performances."""
        assert self.system is not None
        law, nodes = self.system.outcome, z[:, None] + self._blur.x[:, 0]
        b, tie = law.b(nodes) @ self._blur.weight, law.tie_probability(nodes) @ self._blur.weight
        win = 0.5 * (1.0 - tie + b)
        return np.column_stack([win, tie, 1.0 - tie - win])

    def _chances(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chances of matches with these differences of strength, as things stand."""
        if self._kind != LOGISTIC:
            return self._by_law(z)
        ties = self._common.item(kernels.KAPPA)
        out = np.empty((z.size, 3))
        scale = points_scale.py_func(self._nu, self._numbers.in_points * ties)
        kernels.all_chances(self._boldness * z, scale, ties, self._blur, out)
        return out

    def _slots_of(self, one: OneResult) -> NDArray[np.int64]:
        ratings: TeamTable = self._state
        if one.conditions is None and not self._around.conditions:
            return NO_LEVELS
        levels = self._levels(one.conditions) or {}
        return ratings.levels.row({name: levels[name] for name in self._around.conditions})

    def _play_columns(self, columns: MatchColumns, known: Any) -> tuple[Any, tuple[Any, ...]]:
        state, common = in_batch(known, BATCHED), self._common[None]
        return kernels.play_all, (columns, self._own_numbers, state, common, self._blur, kernels.NO_TRACE)

    def _foresee(self, matches: Matches) -> Forecast:
        (z, _, unknown), ratings = self._gaps_and_ratings(matches)
        return Forecast(self._chances(z), unknown, matches, ratings)

    def _gaps(self, matches: Matches) -> Gaps:
        return self._gaps_and_ratings(matches)[0]

    def _chances_by_noise(self, matches: Matches) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        z = self._play_batch(matches, [self])[0][:, 0]
        return lambda factors: self._chances(z / factors)

    def _gaps_and_ratings(self, matches: Matches) -> tuple[Gaps, NDArray[np.float64]]:
        """What is believed of the differences in matches to come, and the ratings of both sides (matches, 2)."""
        state: TeamTable = self._state
        indices, size = state.find(matches), len(matches)
        z, doubt, ratings = np.empty(size), np.empty(size), np.empty((size, 2))
        columns = match_columns(matches, indices, effects=self._around.columns(matches))
        kernels.foresee_all(columns, self._numbers, state.known, self._common, z, doubt, ratings)
        f = self._around.factors(matches)
        return Gaps(z / f, doubt / f**2, indices.unknown), ratings

    @property
    def ratings_(self) -> pl.DataFrame:
        """Name, rating, uncertainty, matches and last_played of everyone who has played, the best first.

        Uncertainty is that of the day of the last match: it has grown for those who rested since.
        """
        ratings: TeamTable = self._begun()
        size = len(ratings)
        last = ratings.known.last[:size]
        idle = np.maximum((last.max() if size else 0) - last - self.season_gap, 0.0)
        f = np.exp(-2 * self.parameters_["regression"] * idle / kernels.YEAR)
        prior = self._numbers.v0
        variance = prior + f * (ratings.known.variance[:size] - prior)
        return ratings.table(uncertainty=np.sqrt(variance))


def parameters_of_batch(batch: Sequence[EloOfSides]) -> NDArray[np.void]:
    """Numbers of the kernels, an entry per member."""
    return np.array([tuple(member._numbers) for member in batch], kernels.MEMBER)
