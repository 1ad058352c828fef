"""Glicko and Glicko-2: ratings whose uncertainty shrinks by playing and grows by resting.

The neighbours the paper names; formulas in :mod:`kinelo.raters.glicko.kernels`. Beyond the originals they know a home
advantage and draws, so that their forecasts are win, draw and loss probabilities that sum to one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.parameters import estimated, fixed, switch
from kinelo.raters.band import band_walk
from kinelo.raters.glicko import kernels
from kinelo.raters.glicko.kernels import GlickoParameters, GlickoState, GlickoTrace
from kinelo.raters.reading import SHARPNESS_WALK
from kinelo.raters.sides import HOME_STEP, Ahead, SideLaw, SideRater, begin_common, dispatch
from kinelo.raters.start import Start
from kinelo.raters.state import BOLD, NEVER, MatchColumns, RatingTable, StateColumn
from kinelo.raters.streaming import LOOK

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

Q = math.log(10.0) / 400.0
GLICKO_DEVIATION = partial(
    estimated, 350.0, 20.0, 1000.0, True, "uncertainty of a newcomer, in rating points", above_zero=True
)
HOME_ADVANTAGE = partial(estimated, 30.0, -300.0, 500.0, False, "rating points for playing at home", learnt=True)
TIES = partial(estimated, 0.5, 0.0, 20.0, False, "draws: equals draw κ/(2 + κ) of their matches")
GLICKO_SHARPNESS = partial(estimated, 1.0, 0.2, 5.0, True, "how steeply forecasts follow the ratings", above_zero=True)


class Deviations(RatingTable):
    """Ratings whose sides have a volatility, and results that wait for the end of the period."""

    kind = GlickoState
    columns: ClassVar[Mapping[str, StateColumn]] = {
        **dict.fromkeys(GlickoState._fields, StateColumn()),
        **RatingTable.columns,
        "info": StateColumn(low=0),
    }


@dataclass(frozen=True, eq=False)
class GlickoLaw(SideLaw):
    """Glicko and Glicko-2, which differ in where volatilities come from (formulas in
    :mod:`kinelo.raters.glicko.kernels`)."""

    numbers: GlickoParameters
    initial: float
    ties: float
    volatility: float
    """Of a newcomer: growth of a resting side's uncertainty, in natural units per square root of a period."""
    unit = Q

    def table(self) -> Deviations:
        """Ratings before any match."""
        return Deviations(0.0, self.numbers.largest, volatility=self.volatility, gain=0.0, info=0.0)

    def common(self, effects: Array) -> Array:
        """What all share before any match: home advantage, κ, and what follows."""
        p = self.numbers
        first = [p.home, 0.0 if p.learns_ties else self.ties, 0.0, 0.0, 0.0]
        return begin_common(first, effects, Q, p.home_wide, 2.0 * p.home_step)

    def place(self, start: Start, table: Any) -> None:
        """Write the ratings to begin with at the first places."""
        size, known = len(start.names), table.known
        known.rating[:size] = Q * (start.rating - self.initial)
        phi2 = np.minimum((Q * start.deviation) ** 2, known.variance[:size])
        known.variance[:size] = np.where(np.isnan(phi2), known.variance[:size], phi2)
        if self.numbers.tau > 0.0:
            known.volatility[:size] = np.where(np.isnan(start.volatility), known.volatility[:size], start.volatility)

    def room(self, size: int, until: NDArray[np.int64] | None) -> GlickoTrace:
        """Room for what is known before each of so many matches."""
        return NO_GLICKO_TRACE if until is None else _empty_trace(size, until)

    def call(self, columns: MatchColumns, known: Any, common: Array, trace: GlickoTrace) -> tuple[Any, tuple[Any, ...]]:
        """The loop over matches and its arguments."""
        return kernels.play_all, (columns, self.numbers, known, common, trace)

    def forecasts(self, trace: GlickoTrace, run: Callable[..., None] = dispatch) -> tuple[Array, Array]:
        """Chances and ratings of both sides before each match."""
        out = np.empty((trace.z.size, 3))
        run(kernels.all_chances, trace.z, trace.doubt, trace.ties, trace.sharpness, out)
        return out, self.initial + trace.ratings / Q

    def ahead(self, columns: MatchColumns, table: Any, common: Array, run: Callable[..., None] = dispatch) -> Ahead:
        """What is believed of matches to come."""
        size, first = columns.day.size, table.fills["variance"]
        trace = _empty_trace(size, np.empty(0, np.int64))
        run(kernels.foresee, columns, 0, size, self.numbers, table.known, first, common, trace)
        return Ahead(trace.z, trace.doubt, *self.forecasts(trace, run))

    def chances(self, z: Array, doubt: Array | None, common: Array) -> Array:
        """Chances of matches with these differences of ratings and doubts (none), as things stand."""
        out, certain = np.empty((z.size, 3)), np.zeros(z.size) if doubt is None else doubt
        sharpness = self.numbers.sharpness * math.exp(float(common[BOLD]))
        kernels.all_chances(z, certain, np.full(z.size, common[kernels.KAPPA]), np.full(z.size, sharpness), out)
        return out

    def at_factors(self, trace: GlickoTrace, common: Array, before: Array | float, factors: Array) -> Array:
        """Chances of matches that were played with factors of the noise ``before``, had it these factors."""
        f, out = factors / before, np.empty((trace.z.size, 3))
        kernels.all_chances(trace.z / f, trace.doubt / f**2, trace.ties, trace.sharpness, out)
        return out

    def shown(self, table: Any) -> pl.DataFrame:
        """The ratings as if the running period ended now, grown uncertain since each one's last match."""
        p = self.numbers
        if p.together:
            waiting, table = table.to_arrays(), self.table()
            table.from_arrays(waiting)
            kernels.settle_all(table.known, p.tau)
        size = len(table)
        mu, phi2, last, volatility = (
            getattr(table.known, name)[:size] for name in ("rating", "variance", "last", "volatility")
        )
        day = last.max(initial=NEVER)
        rest = (day - last) / p.period
        if p.together:
            # Whole periods count; Glicko-2 adds the volatility of the first one when it settles.
            rest = np.floor(day / p.period) - np.floor(last / p.period) - (1.0 if p.tau > 0 else 0.0)
        rest = np.where(last > NEVER, np.maximum(rest, 0.0), 0.0)
        phi2 = np.minimum(phi2 + volatility**2 * rest, p.largest)
        further = {"volatility": volatility} if p.tau > 0.0 else {}
        return table.table(rating=self.initial + mu / Q, uncertainty=np.sqrt(phi2) / Q, **further)


def glicko_law(rater: Any, values: Mapping[str, float], volatility: float, tau: float = 0.0) -> GlickoLaw:
    """The law of a rater with these parameters."""
    home, home_wide = rater._home_before(values)
    numbers = GlickoParameters(
        float(rater.period), float(rater.together), float(tau), (Q * values["deviation"]) ** 2,
        Q * values["home_step"], band_walk(rater), values["sharpness"],
        float(rater.sharpness_walk), float(rater._learns_ties), Q * home, home_wide,
        Q * values.get("effect_step", 0.0),
    )  # fmt: skip
    return GlickoLaw(numbers, rater.initial, values["ties"], volatility)


def _empty_trace(size: int, until: NDArray[np.int64]) -> GlickoTrace:
    z, doubt, ties, sharpness = np.empty((4, size))
    return GlickoTrace(z, doubt, ties, sharpness, np.empty((size, 2)), until)


NO_GLICKO_TRACE = _empty_trace(0, np.empty(0, np.int64))


@dataclass(eq=False, repr=False)
class Glicko(SideRater):
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
    home_step
        How fast the home advantage drifts, as in :class:`TeamElo`.
    ties_walk, sharpness_walk
        How far the logarithms of κ and of the sharpness may move per match, as in :class:`TeamElo`.
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
    _: KW_ONLY
    initial: float = fixed(1500.0)
    period: float = fixed(30.0, 0.0, above=True)
    together: bool = switch(False)
    sharpness_walk: float = fixed(SHARPNESS_WALK, 0.0)
    ties_walk: float | None = fixed(None, 0.0, open=True)
    noise_by: Sequence[str] = ()
    covariates: Sequence[str] = ()
    start: Any = None
    look: int | None = LOOK

    _unit_of_points = Q

    def _law_of(self, values: Mapping[str, float]) -> GlickoLaw:
        return glicko_law(self, values, Q * values["growth"])


@dataclass(eq=False, repr=False)
class Glicko2(SideRater):
    """Glicko-2: Glicko with a volatility for every side, found anew from its results.

    Parameters
    ----------
    deviation, home_advantage, ties, sharpness, home_step, ties_walk, sharpness_walk, noise_by, covariates, initial,
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
    _: KW_ONLY
    tau: float = fixed(0.5, 0.0, above=True)
    initial: float = fixed(1500.0)
    period: float = fixed(30.0, 0.0, above=True)
    together: bool = switch(False)
    sharpness_walk: float = fixed(SHARPNESS_WALK, 0.0)
    ties_walk: float | None = fixed(None, 0.0, open=True)
    noise_by: Sequence[str] = ()
    covariates: Sequence[str] = ()
    start: Any = None
    look: int | None = LOOK

    _unit_of_points = Q

    def _law_of(self, values: Mapping[str, float]) -> GlickoLaw:
        return glicko_law(self, values, values["volatility"], self.tau)
