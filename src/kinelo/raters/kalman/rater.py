"""Ratings of teams by a Gaussian filter with the covariance between all of them.

Strengths move as ``dx = −ρ x dt + walk dW``; a match shows their difference plus the venue's advantage, in noise. The
theory of rating noise says how uncertain a rating is, and that ratings of sides which met are uncertain together. The
filter carries exactly that: a result tells about everyone connected with the two who played, and the forecast knows
how much of a difference is doubt. Equations in :mod:`kinelo.raters.kalman.kernels`.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.parameters import Estimates, Option, Parameter
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Day, Matches, read_day
from kinelo.raters.conditions import ConditionRater, condition_names
from kinelo.raters.gaussian import (
    DOUBT,
    MARGIN_POWER,
    NOISE,
    SHARPNESS,
    SHARPNESS_WALK,
    TIES,
    TIES_STEP,
    Array,
    GaussianRater,
)
from kinelo.raters.kalman import kernels
from kinelo.raters.kalman.draws import Forecasting, PossibleStates, play_out
from kinelo.raters.kalman.hindsight import backwards, check_room, smooth
from kinelo.raters.kalman.kernels import BLOCK, FIRST, NO_STEPS, KalmanParameters, Lanes, Steps, steps
from kinelo.raters.kalman.state import MOST_SIDES, FilterState, too_many
from kinelo.raters.random_walk import fade_all
from kinelo.raters.start import Start
from kinelo.raters.state import REFERENCE_DAYS, match_columns
from kinelo.raters.streaming import LOOK, fit_in_chunks
from kinelo.runtime.processors import usable_processors

if TYPE_CHECKING:
    import polars as pl

MOST_WORK = 4e9
"""Matches times sides squared beyond which parameters are sought without covariance."""

MOST_PASS = 4e10
"""The same beyond which not one pass with the covariance is tried."""

LEVEL_VARIANCE = 1.0
"""Variance of the newcomers' level before any match, in units of the noise."""

_P = Parameter


@dataclass(eq=False, repr=False)
class KalmanElo(GaussianRater, ConditionRater):
    """Team ratings by a Gaussian filter: full covariance, moving strengths, venue advantages learnt on the way.

    Every parameter left at None is estimated by ``fit``; without ``fit`` it takes its default. Strengths are in units
    of what a match shows: its margin in mean absolute margins, to the power ``margin_power``.

    Parameters
    ----------
    walk
        Standard deviation by which a strength moves in a year; ``fit`` averages it over what the matches leave open.
    prior_spread
        Standard deviation of a newcomer's strength.
    noise
        Standard deviation of what a match shows around the difference of strengths.
    home_spread
        Standard deviation between teams of what their home is worth.
    venue_walk
        Standard deviation by which the advantages of playing at home, and of being named first on neutral ground,
        move in a year.
    newcomer
        Where the search for the level of those who enter years after the first begins; the first average 0. The level
        is learnt on the way, like a strength.
    opponent_prior
        How much of the strength of the first opponent a newcomer is given, because schedules tell of strength.
    regression
        Rate per year at which strengths return to the mean.
    margin_power
        Power of the margin that the update sees.
    sharpness, ties
        Scale and half width of the draw band of the forecast: equal sides of known strength draw with ``2Φ(ties) − 1``.
    ties_step
        How far the logarithm of the draw band moves per draw, so that it may drift over the years; 0 where ``ties`` is
        given.
    doubt
        How much larger the variance of a strength is, in forecasts, than the filter believes.
    sharpness_walk
        How far the logarithm of the sharpness may move per match: forecasts that prove too bold, or not bold enough,
        are corrected as matches go by. 0 leaves the sharpness as it was estimated.
    covariance
        ``"full"``, ``"diagonal"`` to forget how strengths are connected, or ``"auto"``: ``fit`` takes what forecasts
        better on the matches fitted, and the diagonal where there are too many sides; ``covariance_`` says which.
    conditions
        Columns read with ``read_matches(..., conditions=[...])``, such as ``["surface"]``: each side has a strength per
        level of each around its own, with a spread that is estimated (``"spread by surface"``).
    initial
        Rating shown for the average of the teams that are active; a point is a point of expected score between
        equals, as in 1/(1 + 10^(−z/400)), whatever the draws.
    start
        Ratings to begin with: names and numbers, or a table (also a path) with name, rating and perhaps deviation,
        matches and last_played, such as ``ratings_``; whoever is not in it enters as a newcomer.
    look
        How many matches ``fit`` estimates parameters on, the first of a longer table; None means all of them.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "C"], "result": [1, 1], "neutral": [True, True]})
    >>> rater = kn.KalmanElo().update(matches)
    >>> rater.ratings_["name"].to_list(), rater.correlation("A", "C") > 0
    (['A', 'B', 'C'], True)
    """

    parameters = (
        _P("walk", 0.15, 0.005, 3.0, True, "yearly random walk of a strength"),
        _P("prior_spread", 1.5, 0.05, 10.0, True, "spread of newcomers"),
        NOISE,
        _P("home_spread", 0.15, 0.005, 1.5, True, "spread of teams' own home advantages"),
        _P("venue_walk", 0.03, 0.003, 0.3, True, "yearly random walk of the venue advantages"),
        _P("newcomer", -0.5, -8.0, 4.0, False, "mean strength of late entrants"),
        _P("opponent_prior", 0.3, 0.0, 1.0, False, "how much of the first opponent's strength a newcomer is given"),
        _P("regression", 0.05, 0.0, 3.0, False, "yearly return to the mean"),
        MARGIN_POWER,
        SHARPNESS,
        TIES,
        DOUBT,
        TIES_STEP,
    )
    options = (Option("initial"), Option("sharpness_walk", 0.0))
    spreads = ("walk", "prior_spread", "home_spread", "venue_walk")
    condition_spread = (0.05, 0.002, 3.0)
    covariance_ = ""

    walk: float | None = None
    prior_spread: float | None = None
    noise: float | None = None
    home_spread: float | None = None
    venue_walk: float | None = None
    newcomer: float | None = None
    opponent_prior: float | None = None
    regression: float | None = None
    margin_power: float | None = None
    sharpness: float | None = None
    ties: float | None = None
    doubt: float | None = None
    ties_step: float | None = None
    _: KW_ONLY
    sharpness_walk: float = SHARPNESS_WALK
    conditions: Sequence[str] = ()
    covariance: Literal["auto", "full", "diagonal"] = "auto"
    initial: float = 1500.0
    start: Any = None
    look: int | None = LOOK

    def needs_whole_table(self) -> str:
        """The covariance of all sides grows with their square."""
        if self.covariance == "diagonal":
            return ""
        return f"covariance={self.covariance!r} may keep a number for every two sides; say covariance='diagonal'"

    @fit_in_chunks
    def fit(self, matches: Matches) -> Self:
        """Estimate the open parameters on these matches, then rate them in order from a fresh start.

        Whether the covariance is kept is decided by what forecasts these matches better. Where one pass with it would
        take seconds, the parameters are those of the filter without it.
        """
        self.covariance_ = ""
        self._check_covariance()
        sides = int(np.unique(np.concatenate([matches.home, matches.away])).size)
        if self.covariance == "full" and sides > MOST_SIDES:
            raise too_many(sides)
        if self.covariance != "auto":
            self.covariance_ = self.covariance
            return super().fit(matches)
        work = len(matches) * float(sides) ** 2
        if sides > MOST_SIDES or work > MOST_PASS:
            warnings.warn(
                f"{sides:,} sides in {len(matches):,} matches are too many to keep how strengths are connected: "
                "covariance='diagonal' is used (covariance='full' insists, up to "
                f"{MOST_SIDES:,} sides).",
                KineloWarning,
                stacklevel=2,
            )
            self.covariance_ = "diagonal"
            return super().fit(matches)
        alone = copy.copy(self)
        alone.covariance_ = "diagonal"
        super(KalmanElo, alone).fit(matches)
        if alone.estimates_ is None:
            self.covariance_ = "full"
            return super().fit(matches)
        together = copy.copy(alone)
        together.covariance_ = "full"
        if work <= MOST_WORK:
            super(KalmanElo, together).fit(matches)
        else:
            together.estimates_ = together._rate_with(alone.estimates_, matches)
        likelihood = [rater.estimates_.log_likelihood for rater in (alone, together) if rater.estimates_]
        vars(self).update(vars(alone if likelihood[0] > likelihood[-1] else together))
        return self

    def _rate_with(self, estimates: Estimates, matches: Matches) -> Estimates:
        """Rate the matches with these estimates, and say how likely their results were."""
        self.reset(estimates.values)
        seen = len(matches) if self.look is None else min(len(matches), int(self.look))
        scored = slice(seen - estimates.matches, seen)
        losses = log_loss(self.one_step_ahead(matches).probabilities[scored], matches.result[scored])
        return replace(estimates, log_likelihood=-float(losses.sum()))

    def _check_covariance(self) -> None:
        if self.covariance not in ("auto", "full", "diagonal"):
            raise InputError(f"covariance={self.covariance!r} is not known; it is 'auto', 'full' or 'diagonal'.")

    def _fresh(self, values: Mapping[str, float]) -> FilterState:
        self._check_covariance()
        self._numbers = numbers = KalmanParameters(
            walk=values["walk"] ** 2,
            prior=values["prior_spread"] ** 2,
            noise=values["noise"] ** 2,
            home_prior=values["home_spread"] ** 2 if self.order_.home else 0.0,
            venue_walk=values["venue_walk"] ** 2,
            rho=values["regression"],
            lean=values["opponent_prior"],
        )
        first = np.append(self._venue_variance, LEVEL_VARIANCE * numbers.noise)
        return FilterState(
            (self.covariance_ or self.covariance) != "diagonal", first, values["newcomer"],
            numbers.home_prior, condition_names(self.conditions), values,
        )  # fmt: skip

    def _place(self, start: Start, known: kernels.KalmanState) -> None:
        rows = slice(FIRST, FIRST + len(start.names))
        points, doubt = self.points_per_unit_, self.parameters_["doubt"] or 1.0
        known.x[rows] = (start.rating - self.initial) / points
        variance = np.where(np.isnan(start.deviation), self._numbers.prior, (start.deviation / points) ** 2 / doubt)
        if known.C.size:
            known.C[rows, rows] = np.diag(variance)
        else:
            known.v[rows] = variance

    def _walk(self, matches: Matches, y: Array) -> tuple[Array, Array, tuple[str, ...]]:
        unknown = self._state.admit(matches).unknown
        mean, variance = self._together(matches, y) if self._state.full else self._alone(matches, [self], [y])[0]
        return mean, variance, unknown

    def _filter_lanes(
        self, matches: Matches, lanes: Sequence[Any], signals: Sequence[Array]
    ) -> list[tuple[Array, Array]]:
        if not self._state.full:
            return self._alone(matches, lanes, signals)
        with ThreadPoolExecutor(usable_processors()) as pool:
            return list(pool.map(lambda lane, y: lane._together(matches, y, BLOCK), lanes, signals))

    def _together(self, matches: Matches, y: Array, block: int = 1, kept: Steps = NO_STEPS) -> tuple[Array, Array]:
        """Use the matches with the covariance: mean and variance expected of each."""
        state: FilterState = self._state
        columns = match_columns(matches, state.admit(matches))
        expected = np.empty(len(matches)), np.empty(len(matches))
        kernels.play_together(columns, y, self._numbers, state.known, block, expected, kept)
        return expected

    def _alone(self, matches: Matches, lanes: Sequence[Self], signals: Sequence[Array]) -> list[tuple[Array, Array]]:
        """Let raters with these numbers use the matches without covariance, side by side; the first is this one."""
        state: FilterState = self._state
        columns = match_columns(matches, state.admit(matches))
        known, count = state.known, len(lanes)
        p = KalmanParameters(*np.ascontiguousarray(np.array([lane._numbers for lane in lanes]).T))
        arrays = {
            name: np.repeat(getattr(known, name)[..., None], count, axis=-1) for name in ("x", "v", "eta", "eta_v")
        }
        arrays |= {name: np.repeat(getattr(known, name).T[..., None], count, axis=-1) for name in ("delta", "delta_v")}
        for q, lane in enumerate(lanes[1:], 1):  # they begin where their numbers say
            arrays["x"][:FIRST, q], arrays["v"][:FIRST, q] = lane._state.known.x[:FIRST], lane._state.known.v[:FIRST]
            arrays["eta_v"][..., q] = lane._numbers.home_prior
            arrays["delta_v"][..., q] = state.slots.variances(lane.parameters_)[:, None]
        s = Lanes(**arrays, last=known.last, games=known.games, clock=known.clock)
        mean, variance = np.empty((len(matches), count)), np.empty((len(matches), count))
        kernels.play_alone(columns, np.column_stack(signals), p, s, mean, variance)
        for name in ("x", "v", "eta", "eta_v"):
            getattr(known, name)[:] = arrays[name][..., 0]
        known.delta[:], known.delta_v[:] = s.delta[..., 0].T, s.delta_v[..., 0].T
        return [(mean[:, q].copy(), variance[:, q].copy()) for q in range(count)]

    def _look(self, matches: Matches) -> tuple[Array, Array, tuple[str, ...]]:
        state: FilterState = self._state
        indices = state.find(matches)
        mean, variance = np.empty(len(matches)), np.empty(len(matches))
        known = state.as_seen_on(int(matches.day[0])) if len(matches) else state.known
        kernels.foresee_all(match_columns(matches, indices), self._numbers, known, mean, variance)
        return mean, variance, indices.unknown

    def play_out(self, matches: Matches, draws: int, seed: int) -> tuple[NDArray[np.int8], Array]:
        """Play matches to come ``draws`` times: results (0 home win, 1 draw, 2 away win) and margins, a row per draw.

        Each draw has one truth about all strengths, drawn from what is believed of them and moving on.
        """
        possible = self._possible(draws, seed)
        state: FilterState = self._state
        outcome, shown = play_out(possible, matches, state.slots.codes(matches, admit=False))
        unit = 1.0 if math.isnan(self._unit) else self._unit
        power = 1.0 if math.isnan(self._unit) else 1.0 / self.parameters_["margin_power"]
        size = np.maximum(np.round(unit * np.abs(shown) ** power), 1.0)
        return outcome, np.where(outcome == 1, 0.0, np.sign(shown) * size)

    def possible_strengths(self, names: Sequence[str], date: Day, draws: int, seed: int) -> Array:
        """Strengths of sides on a day, drawn from what is believed, a row per draw: ``Φ`` of a gap is a chance."""
        day = int(read_day(date).astype(np.int64))
        possible = self._possible(draws, seed)
        columns = [possible.side(name, day)[0].copy() for name in names]
        return self.sharpness_ * np.column_stack(columns)

    def _possible(self, draws: int, seed: int) -> PossibleStates:
        state: FilterState = self._begun()
        values = self.parameters_
        manner = Forecasting(
            self._numbers, values["doubt"], self.sharpness_, self.ties_, values["noise"], self.margin_law_
        )
        return PossibleStates(state, manner, draws, np.random.default_rng([seed, 14]))

    @property
    def ratings_(self) -> pl.DataFrame:
        """Name, rating, uncertainty, matches and last_played of everyone who has played, the best first.

        Only differences of strength can be seen in matches, so ratings and their uncertainty are relative to the
        average of the teams that played within two years of the last match. Uncertainty is that of a team's own last
        match (:meth:`ratings_on` has that of a day) and includes the ``doubt`` of forecasts; ``home`` is what its
        ground adds to the common home advantage, in points.
        """
        return self._table(self._begun())

    def ratings_on(self, date: Day | None = None) -> pl.DataFrame:
        """Ratings and their uncertainty as they are on a day, by default that of the last match.

        >>> import kinelo as kn
        >>> table = {"date": ["2020-01-01", "2024-01-01"], "home": ["A", "B"], "away": ["B", "C"], "result": [1, 1]}
        >>> rater = kn.KalmanElo(regression=0.0).update(kn.read_matches(table))
        >>> known, today = (t.filter(name="A")["uncertainty"][0] for t in (rater.ratings_, rater.ratings_on()))
        >>> today > known
        True
        """
        state: FilterState = self._begun()
        size, p = len(state), self._numbers
        f, added = fade_all(self._day(date) - state.as_seen_on(self._day(date)).last[:size], p.rho, p.walk)
        strength, spread = state.known.x[FIRST : FIRST + size], state.spread()
        faded = f**2 * spread + added if spread.ndim == 1 else f[:, None] * spread * f + np.diag(added)
        return self._table(state, (f * strength, faded))

    def _table(self, state: FilterState, belief: tuple[Array, Array] | None = None) -> pl.DataFrame:
        import polars as pl

        size, points = len(state), self.points_per_unit_
        strength, variance = state.relative(None if self._start() else REFERENCE_DAYS, belief)
        table = pl.DataFrame(
            {
                "name": pl.Series(state.name_index.names, dtype=pl.String),
                "rating": self.initial + points * strength,
                "uncertainty": points * np.sqrt(self.parameters_["doubt"] * variance),
                "home": points * state.known.eta[:size],
                "matches": state.games_shown(),
                "last_played": state.last_played(),
            }
        )
        return table.filter(state.here()).sort("rating", descending=True, maintain_order=True)

    def hindsight(self, matches: Matches, stops: Sequence[int]) -> list[pl.DataFrame]:
        """Ratings after the first ``stops[0]``, ``stops[1]``, … of these matches, given all of them.

        The parameters are taken as they stand, the covariance is kept whatever was chosen, and the rater is left alone.
        """
        walker = copy.deepcopy(self)
        walker.covariance_ = "full"
        walker.reset(dict(self.parameters_))
        walker._begin(matches)
        state: FilterState = walker._state
        columns = match_columns(matches, state.admit(matches))
        rows = FIRST + len(state)
        check_room(len(matches), rows, len(stops))
        state.known = state.known._replace(x=state.known.x[:rows], C=state.known.C[:rows, :rows].copy())
        kept, y = steps(len(matches), rows), walker._signal(matches)
        then, done = [], 0
        for stop in stops:
            walker._together(matches[done:stop], y[done:stop], BLOCK, Steps._make(part[done:stop] for part in kept))
            then.append(copy.deepcopy(state))
            done = stop
        r, N, tables, later = np.zeros(rows), np.zeros((rows, rows)), [], done
        for stop, seen in zip(reversed(stops), reversed(then)):
            backwards(columns, stop, later, kept, r, N)
            x, C = smooth(seen.known.x, seen.known.C, r, N)
            tables.append(walker._table(seen, (x[FIRST:], C[FIRST:, FIRST:])))
            later = stop
        return tables[::-1]

    @property
    def home_advantage_(self) -> float:
        """Rating points that playing at home is worth now."""
        return float(self.points_per_unit_ * self._begun().known.x[kernels.HOME])

    def correlation(self, one: str, other: str) -> float:
        """Correlation between what is believed of two teams' strengths."""
        state: FilterState = self._begun()
        missing = [name for name in (one, other) if name not in state.name_index.index]
        if missing:
            raise InputError(f"{missing[0]!r} has not played; the correlation is between teams that have.")
        i, j = state.name_index.index[one], state.name_index.index[other]
        covariance: NDArray[np.float64] = state.covariance()
        return float(covariance[i, j] / np.sqrt(covariance[i, i] * covariance[j, j]))

    def from_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self.covariance_ = "full" if arrays["C"].size else "diagonal"
        super().from_arrays(arrays)
