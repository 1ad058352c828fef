"""Ratings of teams by a Gaussian filter with the covariance between all of them.

Strengths move as ``dx = −ρ x dt + walk dW``; a match shows their difference plus the venue's advantage, in noise. The
theory of rating noise says how uncertain a rating is, and that ratings of sides which met are uncertain together. The
filter carries exactly that: a result tells about everyone connected with the two who played, and the forecast knows
how much of a difference is doubt. Equations in :mod:`kinelo.raters.filter`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import estimated, fixed
from kinelo.matches.dated import Day
from kinelo.matches.day_order import forecast_until
from kinelo.matches.matches import Matches
from kinelo.raters.filter.active import NO_ACTIVE, Active
from kinelo.raters.filter.alone import NO_DAYS, Days, days_of
from kinelo.raters.filter.belief import fade_all
from kinelo.raters.filter.entries import NO_ENTRIES, NO_ROTATIONS, Entries, entries_of
from kinelo.raters.filter.kinds import Kind
from kinelo.raters.filter.state import (
    CONDITION,
    FIXED_SLOTS,
    HOME,
    NEUTRAL,
    OWN,
    STRENGTH,
    Lists,
    Places,
    SlotState,
)
from kinelo.raters.gaussian import (
    BAND_WIDTH,
    FILTER_DOUBT,
    MARGIN_POWER,
    MATCH_NOISE,
    SHARPNESS,
    Array,
    GaussianRater,
)
from kinelo.raters.qualifying import REFERENCE_DAYS
from kinelo.raters.reading import SHARPNESS_WALK
from kinelo.raters.state import MatchIndices, StateColumn
from kinelo.raters.streaming import LOOK

if TYPE_CHECKING:
    import polars as pl

SIDE_SHARES = np.array([1.0, -1.0, 1.0, 1.0])
"""Shares of both strengths, the venue, and the own ground."""


class Sides(NamedTuple):
    """Slots of every side (−1: none yet): its strength, and its own ground."""

    own: Places
    ground: Places


class SideState(SlotState):
    """Beliefs about sides, and the entries of their matches."""

    columns: ClassVar[Mapping[str, StateColumn]] = dict.fromkeys(Sides._fields, StateColumn(into="slots"))

    def __init__(
        self,
        fixed: Sequence[tuple[float, float]],
        conditions: tuple[str, ...],
        full: bool,
        grounds: bool,
    ) -> None:
        apart = [kind in (OWN,) or kind >= CONDITION for kind in range(CONDITION + len(conditions))]
        none = np.empty(0, np.int64)
        super().__init__(Sides(none, none), fixed, [*apart, *[False] * (len(fixed) - FIXED_SLOTS)], full)
        self.use_conditions(conditions)
        self.grounds = grounds

    def lists(self, matches: Matches, keep: bool, effects: NDArray[np.float64]) -> Lists:
        """Entries of matches with these covariates; newcomers are given places where they are to be kept."""
        home, away, unknown, *_ = self.admit(matches) if keep else self.find(matches)
        owners, ground = self.known.own, self.known.ground
        if len(matches) == 1 and not self.levels.conditions and not effects.size:  # without the arrays that many need
            host, neutral = int(home[0]), bool(matches.neutral[0])
            slots = [int(owners[place]) if place >= 0 else -1 - STRENGTH for place in (host, int(away[0]))]
            slots.append(NEUTRAL if neutral else HOME)
            if self.grounds and not neutral:
                ground_slot = int(ground[host]) if host >= 0 else -1
                slots.append(ground_slot if ground_slot >= 0 else -1 - OWN)
            entries = Entries(np.array([0, len(slots)]), np.array(slots), SIDE_SHARES[: len(slots)])
            return Lists(NO_ENTRIES, entries, NO_ROTATIONS, unknown)
        at_home = ~matches.neutral
        columns: list[tuple[Places, float, NDArray[np.bool_] | None]] = [
            (_slots(owners, home, STRENGTH), 1.0, None),
            (_slots(owners, away, STRENGTH), -1.0, None),
            (np.where(matches.neutral, NEUTRAL, HOME), 1.0, None),
        ]
        if self.grounds and at_home.any():
            columns.append((_slots(ground, home, OWN), 1.0, None if at_home.all() else at_home))
        entries = self.with_levels(entries_of(columns), self.levels.codes(matches, admit=keep), keep)
        return Lists(NO_ENTRIES, self.with_effects(entries, effects), NO_ROTATIONS, unknown)

    def find(self, matches: Matches) -> MatchIndices:
        """Places of both sides (−1: never met), and the names never met; nobody is added."""
        return self.find_sides(matches, self.name_index)

    def admit(self, matches: Matches) -> MatchIndices:
        """Places of both sides, newcomers in order of their first match, and their names."""
        before, index = len(self), self.name_index.index
        home, away, unknown, *_ = self.find(matches)
        if unknown:
            codes = np.column_stack([matches.home, matches.away]).ravel()
            new = codes[np.column_stack([home, away]).ravel() < 0]
            for code in dict.fromkeys(new.tolist()):
                self.name_index.place(matches.teams[code])
            self.grow()
            self.known.own[before : len(self)] = self.make(STRENGTH, len(self) - before)
            places = np.full(len(matches.teams), -1)
            met = np.unique(codes)
            places[met] = [index[matches.teams[code]] for code in met.tolist()]
            home, away = places[matches.home], places[matches.away]
        if self.grounds:
            self.make_missing("ground", home[~matches.neutral], OWN)
        if self.waiting and len(matches):
            self.arrive(int(matches.day[0]))
        return MatchIndices(home, away, tuple(self.name_index.names[before:]))


def _slots(table: Places, places: NDArray[Any], kind: int) -> Places:
    """Slots of places, and newcomers of a kind where there is none."""
    if not table.size:
        return np.full(places.size, -1 - kind)
    slots = np.where(places >= 0, table[places], -1)
    return np.where(slots >= 0, slots, -1 - kind)


LEVEL_VARIANCE = 1.0
"""Variance of the newcomers' level before any match, in units of the noise."""


@dataclass(eq=False, repr=False)
class KalmanElo(GaussianRater):
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
    ties_walk
        How far the logarithm of the draw band may move per match where it moves fastest, .03 unless said: it follows
        the draws, and whether it moves at all is learnt too. 0 leaves it as it was estimated, as do ``ties`` given.
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
    noise_by
        Columns read with ``read_matches(..., conditions=[...])``, such as ``["format"]``: the noise of a match has a
        factor for each level, estimated and drawn to 1 (``noise_factors_``); it counts in forecasts and updates.
    covariates
        Columns of numbers read with ``read_matches(..., conditions=[...])``, such as ``["handicap"]``, that say what
        speaks for the side named first: what a unit is worth in rating points is learnt on the way and may drift
        (``effects_``), and :func:`kinelo.fair_value` says which handicap makes a match even.
    initial
        Rating shown for the average of the teams that are active; a point is a point of expected score between
        equals, as in 1/(1 + 10^(−z/400)), whatever the draws.
    start
        Ratings to begin with: names and numbers, or a table (also a path) with name, rating and perhaps deviation,
        matches and last_played, such as ``ratings_``; whoever is not in it enters as a newcomer.
    look
        How many matches ``fit`` estimates parameters on, the latest of a longer table; None means all of them.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "C"], "result": [1, 1], "neutral": [True, True]})
    >>> rater = kn.KalmanElo().update(matches)
    >>> rater.ratings_["name"].to_list(), rater.correlation("A", "C") > 0
    (['A', 'B', 'C'], True)
    """

    _spread_names: ClassVar[tuple[str, ...]] = ("walk", "prior_spread", "home_spread", "venue_walk")
    _condition_spread: ClassVar[Any] = (0.05, 0.002, 3.0)

    walk: float | None = estimated(0.15, 0.005, 3.0, True, "yearly random walk of a strength")
    prior_spread: float | None = estimated(1.5, 0.05, 10.0, True, "spread of newcomers")
    noise: float | None = MATCH_NOISE()
    home_spread: float | None = estimated(0.15, 0.005, 1.5, True, "spread of teams' own home advantages")
    venue_walk: float | None = estimated(0.03, 0.003, 0.3, True, "yearly random walk of the venue advantages")
    newcomer: float | None = estimated(-0.5, -8.0, 4.0, False, "mean strength of late entrants")
    opponent_prior: float | None = estimated(
        0.3, 0.0, 1.0, False, "how much of the first opponent's strength a newcomer is given"
    )
    regression: float | None = estimated(0.05, 0.0, 3.0, False, "yearly return to the mean")
    margin_power: float | None = MARGIN_POWER()
    sharpness: float | None = SHARPNESS()
    ties: float | None = BAND_WIDTH()
    doubt: float | None = FILTER_DOUBT()
    _: KW_ONLY
    sharpness_walk: float = fixed(SHARPNESS_WALK, 0.0)
    ties_walk: float | None = fixed(None, 0.0, open=True)
    conditions: Sequence[str] = ()
    noise_by: Sequence[str] = ()
    covariates: Sequence[str] = ()
    covariance: Literal["auto", "full", "diagonal"] = "auto"
    initial: float = fixed(1500.0)
    start: Any = None
    look: int | None = LOOK

    def _rows_needed(self, matches: Matches) -> int:
        return int(np.unique(np.concatenate([matches.home, matches.away])).size)

    def _kinds(self, values: Mapping[str, float]) -> list[Kind]:
        walk, rho, prior = values["walk"] ** 2, values["regression"], values["prior_spread"] ** 2
        return [
            Kind(walk=walk),
            *self._venue_kinds(values["venue_walk"] ** 2),
            Kind(walk=walk, rho=rho, prior=prior, foes=values["opponent_prior"], level=1.0, counts=True),
            Kind(prior=values["home_spread"] ** 2, apart=True),
            Kind(),
            *self._condition_kinds(values),
            *self._effect_kinds(values),
        ]

    def _fresh(self, values: Mapping[str, float]) -> SideState:
        self._numbers = self._numbers_of(values)
        level = (values["newcomer"], LEVEL_VARIANCE * values["noise"] ** 2)
        grounds = self._order.home and values["home_spread"] > 0.0
        return SideState(self._fixed(level), self._around.conditions, self._keeps_covariance(), grounds)

    def _lists(self, matches: Matches, keep: bool) -> Lists:
        return self._state.lists(matches, keep, self._effect_columns(matches))

    def _parts(self, matches: Matches) -> Iterable[tuple[Matches, bool]]:
        """All of them: the filter knows how far a day goes, and needs no part of its own for each; but a level never
        met counts for nothing on its first day.
        """
        levels = self._state.levels
        met = levels.codes(matches, admit=False) >= 0
        columns = enumerate(levels.conditions)
        all_met = all((met[:, k] | (matches.conditions[name].codes < 0)).all() for k, name in columns)
        return [(matches, False)] if all_met else super()._parts(matches)

    def _active(self, matches: int) -> Active:
        return NO_ACTIVE if self.start is not None else self._state.active(REFERENCE_DAYS, matches)

    def _foresee_one(self, match: Matches) -> Forecast:
        """Without ratings, for which all sides would have to be looked at."""
        mean, variance, unknown = self._expect(match)
        f = self._around.factors(match)
        return Forecast(self._chances(mean / f, variance / f**2), unknown, match)

    def _room_for_days(self, matches: Matches) -> Days:
        unordered = matches.unordered is not None and matches.unordered.any()
        return days_of(forecast_until(matches)) if unordered else NO_DAYS

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
        return self._table(self._begun(), self._belief_on(date))

    def _belief_on(self, date: Day | None = None) -> tuple[Array, Array]:
        """Strengths as they are on a day, by default that of the last match, and their covariance or variances."""
        state, kind = self._begun(), self._numbers[0][STRENGTH]
        idle = self._day(date) - state.as_seen_on(self._day(date)).beliefs.last[state.own]
        f, added = fade_all(idle, kind.rho, kind.walk)
        spread = state.covariance() if state.full else state.variances()
        faded = f**2 * spread + added if spread.ndim == 1 else f[:, None] * spread * f + np.diag(added)
        return f * state.strengths(), faded

    def _relative(self, state: SideState, belief: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """Strengths and variances as they are shown: relative to who played lately, but for a starting list."""
        return state.relative(None if self._start() else REFERENCE_DAYS, belief)

    def _table(self, state: SideState, belief: tuple[Array, Array] | None = None) -> pl.DataFrame:
        import polars as pl

        points = self._points_per_unit
        strength, variance = self._relative(state, belief)
        ground = state.known.ground[: len(state)]
        table = pl.DataFrame(
            {
                "name": pl.Series(state.name_index.names, dtype=pl.String),
                "rating": self.initial + points * strength,
                "uncertainty": points * np.sqrt(self.parameters_["doubt"] * variance),
                "home": points * np.where(ground >= 0, state.beliefs.x[ground], 0.0),
                "matches": state.games_shown(),
                "last_played": state.last_played(),
            }
        )
        return table.filter(state.here()).sort("rating", descending=True, maintain_order=True)

    def _hindsight(self, matches: Matches, stops: Sequence[int]) -> list[pl.DataFrame]:
        """Ratings after the first ``stops[0]``, ``stops[1]``, … of these matches, given all of them.

        The parameters are taken as they stand, the covariance is kept whatever was chosen, and the rater is left alone.
        """
        tables, back = [], copy.deepcopy(self)
        for seen, x, C in back._smoothed(matches, stops):
            assert isinstance(seen, SideState)
            rows = seen.beliefs.row[seen.own]
            tables.append(back._table(seen, (x[rows], C[np.ix_(rows, rows)])))
        return tables

    def _add_points(self, name: str, points: float) -> None:
        """Let a side that is rated have so many points more."""
        state = self._begun()
        state.beliefs.x[state.own[self._place_of(name)]] += points / self._points_per_unit

    def correlation(self, one: str, other: str) -> float:
        """Correlation between what is believed of two teams' strengths."""
        state: SideState = self._begun()
        known = state.name_index.index
        missing = [name for name in (one, other) if not isinstance(name, str) or name not in known]
        if missing:
            raise InputError(f"{missing[0]!r:.60} has not played; the correlation is between teams that have.")
        i, j = state.name_index.index[one], state.name_index.index[other]
        covariance: NDArray[np.float64] = state.covariance()
        return float(covariance[i, j] / np.sqrt(covariance[i, i] * covariance[j, j]))
