"""Glicko and Glicko-2: ratings whose uncertainty shrinks by playing and grows by resting.

The neighbours the paper names; formulas in :mod:`kinelo.raters.glicko.kernels`. Beyond the originals they know a home
advantage and draws, so that their forecasts are win, draw and loss probabilities that sum to one.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.forecast import Forecast
from kinelo.matches.matches import Matches
from kinelo.raters.arguments import estimated, fixed, switch
from kinelo.raters.glicko import kernels
from kinelo.raters.glicko.kernels import GlickoParameters, GlickoState, GlickoTrace
from kinelo.raters.one_match import Gaps
from kinelo.raters.order import forecast_until
from kinelo.raters.reading import SHARPNESS_WALK
from kinelo.raters.sides import HOME_STEP, TIES_STEP, SideRater, Trace
from kinelo.raters.start import Start
from kinelo.raters.state import NEVER, MatchColumns, RatingTable, StateColumn, match_columns
from kinelo.raters.streaming import LOOK

if TYPE_CHECKING:
    import polars as pl

Q = math.log(10.0) / 400.0
GLICKO_DEVIATION = partial(
    estimated, 350.0, 20.0, 1000.0, True, "uncertainty of a newcomer, in rating points", above_zero=True
)
HOME_ADVANTAGE = partial(estimated, 30.0, -300.0, 500.0, False, "rating points for playing at home", learnt=True)
TIES = partial(estimated, 0.5, 0.0, 20.0, False, "Davidson's kappa")
GLICKO_SHARPNESS = partial(estimated, 1.0, 0.2, 5.0, True, "how steeply forecasts follow the ratings", above_zero=True)


class Deviations(RatingTable):
    """Ratings whose sides have a volatility, and results that wait for the end of the period."""

    kind = GlickoState
    columns: ClassVar[Mapping[str, StateColumn]] = {
        **dict.fromkeys(GlickoState._fields, StateColumn()),
        **RatingTable.columns,
        "info": StateColumn(low=0),
    }


class _GlickoFamily(SideRater):
    """What Glicko and Glicko-2 share: everything but where the volatility comes from."""

    deviation: float | None
    period: float
    together: bool
    tau: float = 0.0
    _unit_of_points: ClassVar[float] = Q

    @property
    def _sharpness(self) -> float:
        """How steeply forecasts follow the ratings after the matches used."""
        return self.parameters_["sharpness"] * self._boldness

    @abstractmethod
    def _volatility(self, values: Mapping[str, float]) -> float:
        """Growth of a resting side's uncertainty, in natural units per square root of a period."""

    def _vector(self, values: Mapping[str, float]) -> GlickoParameters:
        largest = (Q * values["deviation"]) ** 2
        return GlickoParameters(
            float(self.period), float(self.together), float(self.tau), float(largest), Q * values["home_step"],
            0.0 if self._learns_ties else values["ties_step"], values["sharpness"], float(self.sharpness_walk),
            float(self._learns_ties), Q * self._home_start(values), self._home_wide,
            Q * values.get("effect_step", 0.0),
        )  # fmt: skip

    def _shared(self, values: Mapping[str, float]) -> NDArray[np.float64]:
        ties, steady = 0.0 if self._learns_ties else values["ties"], 2.0 * Q * values["home_step"]
        start = Q * self._home_start(values)
        return np.array([start, ties, 0.0, 0.0, 0.0, *self._effects_before(Q), *self._following(start, steady)])

    def _table(self, values: Mapping[str, float]) -> Deviations:
        phi2 = (Q * values["deviation"]) ** 2
        return Deviations(0.0, phi2, volatility=self._volatility(values), gain=0.0, info=0.0)

    def _place(self, start: Start, known: GlickoState) -> None:
        size = len(start.names)
        known.rating[:size] = Q * (start.rating - self.initial)
        phi2 = np.minimum((Q * start.deviation) ** 2, known.variance[:size])
        known.variance[:size] = np.where(np.isnan(phi2), known.variance[:size], phi2)
        if self.tau > 0.0:
            known.volatility[:size] = np.where(np.isnan(start.volatility), known.volatility[:size], start.volatility)

    def _play(self, matches: Matches, ratings: RatingTable, traced: bool) -> GlickoTrace:
        columns = match_columns(
            matches, ratings.admit(matches), self._around.factor_column(matches), self._around.columns(matches)
        )
        trace = _empty_trace(len(matches), forecast_until(matches)) if traced else NO_GLICKO_TRACE
        kernels.play_all(columns, self._numbers, ratings.known, self._common, trace)
        return trace

    def _play_columns(self, columns: MatchColumns, known: Any) -> tuple[Any, tuple[Any, ...]]:
        return kernels.play_all, (columns, self._numbers, known, self._common, NO_GLICKO_TRACE)

    def _forecast(self, trace: Trace, unknown: tuple[str, ...], matches: Matches) -> Forecast:
        z, doubt, ties, sharpness, ratings, _ = trace
        out = np.empty((z.size, 3))
        kernels.all_chances(z, doubt, ties, sharpness, out)
        return Forecast(out, unknown, matches, self.initial + ratings / Q)

    def _foresee(self, matches: Matches) -> Forecast:
        trace, unknown = self._trace_ahead(matches)
        return self._forecast(trace, unknown, matches)

    def _gaps(self, matches: Matches) -> Gaps:
        trace, unknown = self._trace_ahead(matches)
        return Gaps(trace.z, trace.doubt, unknown)

    def _trace_ahead(self, matches: Matches) -> tuple[GlickoTrace, tuple[str, ...]]:
        """What is known of matches to come, and names never met."""
        state: Deviations = self._state
        indices, size = state.find(matches), len(matches)
        noise, effects = self._around.factor_column(matches), self._around.columns(matches)
        columns, first = match_columns(matches, indices, noise, effects), state.fills["variance"]
        trace = _empty_trace(size, np.empty(0, np.int64))
        kernels.foresee(columns, 0, size, self._numbers, state.known, first, self._common, trace)
        return trace, indices.unknown

    def _chances_by_noise(self, matches: Matches) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        trace, found = self._play(matches, self._begun(), traced=True), self._around.factors(matches)

        def chances(factors: NDArray[np.float64]) -> NDArray[np.float64]:
            f, out = factors / found, np.empty((len(matches), 3))
            kernels.all_chances(trace.z / f, trace.doubt / f**2, trace.ties, trace.sharpness, out)
            return out

        return chances

    def _chances(self, z: NDArray[np.float64], doubt: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Chances of matches with these differences of ratings and doubts (none), as things stand."""
        ties = np.full(z.size, self._common[kernels.KAPPA])
        out = np.empty((z.size, 3))
        certain = np.zeros(z.size) if doubt is None else doubt
        kernels.all_chances(z, certain, ties, np.full(z.size, self._sharpness), out)
        return out

    def _chances_believed(self, mean: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._chances(mean, variance)

    def _after_rest(
        self,
        phi2: NDArray[np.float64],
        volatility: NDArray[np.float64],
        last: NDArray[np.int64],
        day: NDArray[np.int64] | np.int64,
    ) -> NDArray[np.float64]:
        """Squared deviation after a rest since a day; whole periods count where matches are rated together."""
        rest = (day - last) / self.period
        if self.together:
            # Glicko-2 adds the volatility of the first period when it settles.
            rest = np.floor(day / self.period) - np.floor(last / self.period) - (1.0 if self.tau > 0 else 0.0)
        rest = np.where(last > NEVER, np.maximum(rest, 0.0), 0.0)
        return np.minimum(phi2 + volatility**2 * rest, self._numbers.largest)

    def _at_period_end(self) -> Deviations:
        """The ratings as if the running period ended now."""
        ratings: Deviations = self._begun()
        if not self.together:
            return ratings
        settled = self._table(self.parameters_)
        settled.from_arrays(ratings.to_arrays())
        kernels.settle_all(settled.known, float(self.tau))
        return settled

    @property
    def ratings_(self) -> pl.DataFrame:
        """Name, rating, uncertainty, matches and last_played of everyone who has played, the best first.

        Uncertainty is that of the day of the last match: it has grown for those who rested since.
        """
        ratings = self._at_period_end()
        size = len(ratings)
        mu, phi2, last, volatility = (
            getattr(ratings.known, name)[:size] for name in ("rating", "variance", "last", "volatility")
        )
        phi2 = self._after_rest(phi2, volatility, last, last.max(initial=NEVER))
        return ratings.table(rating=self.initial + mu / Q, uncertainty=np.sqrt(phi2) / Q, **self._shown(ratings))

    def _shown(self, ratings: Deviations) -> dict[str, NDArray[Any]]:
        return {}


def _empty_trace(size: int, until: NDArray[np.int64]) -> GlickoTrace:
    z, doubt, ties, sharpness = np.empty((4, size))
    return GlickoTrace(z, doubt, ties, sharpness, np.empty((size, 2)), until)


NO_GLICKO_TRACE = _empty_trace(0, np.empty(0, np.int64))


@dataclass(eq=False, repr=False)
class Glicko(_GlickoFamily):
    """Glicko: every side has a rating and a deviation, its uncertainty.

    Parameters
    ----------
    deviation
        RD of a newcomer, and the most that rest can bring it back to.
    growth
        c: how fast the deviation of a resting side grows, ``RD² + c²`` per period.
    home_advantage, ties
        Rating points for the home side; Davidson's κ for draws.
    sharpness
        How steeply forecasts follow the ratings, 1 as Glickman wrote it; ratings do not depend on it.
    home_step, ties_step
        How fast home advantage and κ drift, as in :class:`TeamElo`.
    sharpness_walk
        How far the logarithm of the sharpness may move per match, as in :class:`TeamElo`.
    initial
        Rating of a newcomer.
    start
        Ratings to begin with: names and numbers, or a table (also a path) with name, rating and perhaps deviation,
        matches and last_played, such as ``ratings_``; whoever is not in it enters as a newcomer.
    look
        How many matches ``fit`` estimates parameters on, the latest of a longer table; None means all of them.
    covariates
        Columns of numbers read with ``read_matches(..., conditions=[...])``, such as ``["handicap"]``, that say what
        speaks for the side named first: what a unit is worth in rating points is learnt on the way and may drift
        (``effects_``), and :func:`kinelo.fair_value` says which handicap makes a match even.
    period
        Days in a rating period.
    together
        True rates all matches of a period against the ratings before it, as Glickman wrote it; False (default) rates
        match by match, and periods only measure rest.
    noise_by
        Columns read with ``read_matches(..., conditions=[...])``, such as ``["format"]``: the noise of a match has a
        factor for each level, estimated and drawn to 1 (``noise_factors_``); it counts in forecasts and updates.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "A"], "away": ["B", "C"], "result": [1, 1]})
    >>> table = kn.Glicko(350.0, 35.0, 0.0, 0.0).fit(matches).ratings_
    >>> table["name"].to_list(), table["rating"].round(1).to_list(), table["uncertainty"].round(1).to_list()
    (['A', 'C', 'B'], [1750.3, 1383.4, 1337.8], [256.2, 286.8, 290.2])
    """

    deviation: float | None = GLICKO_DEVIATION()
    growth: float | None = estimated(35.0, 0.0, 300.0, False, "growth of uncertainty per root of a period")
    home_advantage: float | None = HOME_ADVANTAGE()
    ties: float | None = TIES()
    sharpness: float | None = GLICKO_SHARPNESS()
    home_step: float | None = HOME_STEP()
    ties_step: float | None = TIES_STEP()
    _: KW_ONLY
    initial: float = fixed(1500.0)
    period: float = fixed(30.0, 0.0, above=True)
    together: bool = switch(False)
    sharpness_walk: float = fixed(SHARPNESS_WALK, 0.0)
    noise_by: Sequence[str] = ()
    covariates: Sequence[str] = ()
    start: Any = None
    look: int | None = LOOK

    def _volatility(self, values: Mapping[str, float]) -> float:
        return Q * values["growth"]


@dataclass(eq=False, repr=False)
class Glicko2(_GlickoFamily):
    """Glicko-2: Glicko with a volatility for every side, found anew from its results.

    Parameters
    ----------
    deviation, home_advantage, ties, sharpness, home_step, ties_step, sharpness_walk, noise_by, covariates, initial,
    start, look, period, together
        As in :class:`Glicko`.
    volatility
        σ of a newcomer, in Glickman's units.
    tau
        τ: how freely volatilities move.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "A"], "away": ["B", "C"], "result": [1, 1]})
    >>> kn.Glicko2(350.0, 0.06, 0.0, 0.0).fit(matches).ratings_.columns
    ['name', 'rating', 'uncertainty', 'volatility', 'matches', 'last_played']
    """

    deviation: float | None = GLICKO_DEVIATION()
    volatility: float | None = estimated(0.06, 0.001, 1.0, True, "volatility of a newcomer", above_zero=True)
    home_advantage: float | None = HOME_ADVANTAGE()
    ties: float | None = TIES()
    sharpness: float | None = GLICKO_SHARPNESS()
    home_step: float | None = HOME_STEP()
    ties_step: float | None = TIES_STEP()
    _: KW_ONLY
    tau: float = fixed(0.5, 0.0, above=True)
    initial: float = fixed(1500.0)
    period: float = fixed(30.0, 0.0, above=True)
    together: bool = switch(False)
    sharpness_walk: float = fixed(SHARPNESS_WALK, 0.0)
    noise_by: Sequence[str] = ()
    covariates: Sequence[str] = ()
    start: Any = None
    look: int | None = LOOK

    def _volatility(self, values: Mapping[str, float]) -> float:
        return values["volatility"]

    def _shown(self, ratings: Deviations) -> dict[str, NDArray[Any]]:
        return {"volatility": ratings.known.volatility[: len(ratings)]}
