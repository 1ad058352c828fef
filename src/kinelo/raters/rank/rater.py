"""Ratings from contests of many entrants: a filter of slots that reads rankings.

Strengths move as ``dx = −ρ x dt + walk dW``, each kind of slot with numbers of its own. Equations of a contest in
:mod:`kinelo.raters.rank.ranking` and :mod:`kinelo.raters.rank.kernels`.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.pair_sums import sum_of_losses
from kinelo.forecasts.parameters import Estimates, Option, Parameter
from kinelo.forecasts.places import DEEPEST, LUCK_NODES, LUCK_WEIGHTS, ContestForecast, mixed_chance
from kinelo.matches.contests import Contests, Slots, check_contests
from kinelo.matches.dated import Day, read_day
from kinelo.matches.kind import SIZE
from kinelo.matches.matches import Matches
from kinelo.raters.conditions import warn_of_numbers
from kinelo.raters.covariates import effects_frame
from kinelo.raters.filter.belief import LONG_AGO
from kinelo.raters.hermite import HERMITE_NODES, HERMITE_WEIGHTS
from kinelo.raters.noise import NoiseFactors, noise_columns, settle_factors, with_levels_noted
from kinelo.raters.one_contest import SingleContests, Unfinished, contest_of, ranked, with_distances, with_minutes
from kinelo.raters.order import SideOrder, learn_order
from kinelo.raters.rank.filtering import SMALL, ContestFilter
from kinelo.raters.rank.kernels import NOISE, Expected, expect_contests, room_for_expected
from kinelo.raters.rank.numbers import A_UNIT, sizes_differ, usual_units, with_size
from kinelo.raters.rank.one_field import FieldCall, PlainField, day_of, plain_field, plain_forecast
from kinelo.raters.rank.start import names_met
from kinelo.raters.rank.state import RankState
from kinelo.raters.rank.table import POINTS_PER_UNIT, slot_table
from kinelo.raters.slots import Key, Points, SlotRow, numbers_shared, texts_shared
from kinelo.raters.slots import Slots as BookSlots
from kinelo.raters.stored import PREFIX, stored, taken_whole

if TYPE_CHECKING:
    import polars as pl

    from kinelo.raters.rank.field_rows import FieldRows

Array = NDArray[np.float64]

PAIRS_AT_ONCE = 20_000
"""Pairs whose evenness is found at once, for the sake of memory."""
LOOK_AT_ENTRIES = 150_000
"""Entries beyond which parameters are estimated on a part: so many take half a minute."""


@dataclass(eq=False, repr=False)
class RankElo(ContestFilter, SingleContests[Matches | Contests, Any]):
    """Ratings from contests of many entrants, for each kind of slot: players, or drivers and their cars.

    Matches of two sides are contests of two: a draw is a tie, and being at home an advantage, which may drift. They
    are forecast as every rater forecasts matches.

    Every parameter left at None is estimated by ``fit``, for each kind by itself; a number holds for all kinds, a
    mapping such as ``{"driver": 0.3}`` for those it names. Strengths are in units of the standard deviation of a
    performance around the strength. Places are all that is seen, so that the noise is the unit.

    Parameters
    ----------
    walk
        Standard deviation by which a strength moves in a year. Contests without dates count as a week apart.
    contest_walk
        Standard deviation by which it moves with each contest taken part in, beside that. 0 in matches of two sides,
        unless it is given.
    prior_spread
        Standard deviation of a newcomer's strength.
    newcomer
        Where newcomers begin, against the mean of the others of their kind in their first contest.
    newcomer_follows
        How much of that mean newcomers are believed to have: 1 where they enter fields they belong to, as divisions;
        0 where anybody enters any field. 1 in matches of two sides and where there are ratings to begin with, unless it
        is given.
    regression
        Rate per year at which strengths return to the mean.
    experience
        How much newcomers gain on the others by taking part, two thirds of it in the first ten contests. 0 in matches
        of two sides and where there are ratings to begin with, unless it is given.
    retirement
        How much it tells that somebody did not finish: 0 nothing, 1 as much as finishing last. Where contests say how
        far each came (``Contests.distance``), half-way.
    late_retirement
        How much more a retirement at the very end tells than one at the start. It grows evenly with the distance, as
        far as it stays from 0 to 1.
    off
        Part of all performances that are off, as after an accident: far from the strength, which they then say little
        about. 0 in matches of two sides, unless it is given.
    depth
        How much lower such performances are, in deviations of others: 3 if they are bad days alone, 0 if good and bad
        ones alike.
    anchor
        How much the level of a field, which places do not show, is drawn to that of all contests: 0 leaves it to what
        is believed of its entrants, which drifts where newcomers learn; 1 takes all fields to be equally strong. 0 in
        matches of two sides and where there are ratings to begin with, unless it is given.
    ties
        Davidson's κ, in forecasts of matches of two sides: equals draw with probability ``κ / (2 + κ)``.
    conditions
        Advantages, such as ``["weather"]``, of which each level is worth something else to everybody: beside its
        strength an entrant has a deviation under each level, around 0. Their spread is estimated.
    noise_by
        Advantages, such as ``["track"]``, that are one for all of a contest and on which luck depends. They are not
        rated: performances have a factor of the noise for each level, estimated and drawn to 1 (``noise_factors_``);
        it counts in forecasts and updates.
    covariates
        Advantages that hold numbers, such as ``["weight"]``: what a unit is worth, the same to everyone, is learnt on
        the way and may drift (``effects_``). A number counts against the mean of its contest. ``"size"`` is made where
        there is no such column: the logarithm of how many play in a team, which else counts as the mean of its members.
    initial
        Rating shown for the average of those of a kind who are active. A point is a point of expected score between
        equals, as in 1/(1 + 10^(−z/400)).
    start
        Ratings to begin with: names and ratings, or a table, as :class:`kinelo.TeamElo` takes them. Names are those of
        the first kind; ``"car: Red"`` is one of another kind. Ratings then keep the level of the table.
    look
        How many entries ``fit`` estimates parameters on, None for all. Of more, fields keep some of their entrants,
        with all contests of these, and where fields are small the latest contests count.

    >>> import kinelo as kn
    >>> table = {"race": [1, 1, 1, 2, 2, 2], "driver": ["Ann", "Bob", "Cid", "Ann", "Cid", "Bob"],
    ...          "place": [1, 2, 3, 1, 2, 3]}
    >>> rater = kn.RankElo().update(kn.read_contests(table))
    >>> rater.ratings_["name"].to_list(), rater.predict_one(["Bob", "Ann"])
    (['Ann', 'Cid', 'Bob'], Forecast of 1 contest: Ann 0.700, Bob 0.300)
    """

    _declared_parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("retirement", 0.05, 0.0, 1.0, False, "how much a retirement tells"),
        Parameter("late_retirement", 0.0, -2.0, 2.0, False, "how much more a late retirement tells than an early one"),
        Parameter("off", 0.0, 0.0, 0.3, False, "part of performances that are off", largest=1.0),
        Parameter("depth", 1.5, 0.0, DEEPEST, False, "how much lower those are", largest=DEEPEST, vague=6.0),
        Parameter("anchor", 0.0, 0.0, 1.0, False, "how much the level of a field is drawn to that of all"),
        Parameter("newcomer_follows", 1.0, 0.0, 1.0, False, "how much a first field tells", largest=1.0, vague=1.5),
        Parameter("ties", 0.5, 1e-6, 20.0, True, "Davidson's kappa"),
    )
    _declared: ClassVar[Mapping[str, Any]] = {
        one.name: one for one in (*_declared_parameters, Option("initial"), Option("look", 1.0, open=True))
    }
    kinds_: tuple[str, ...] = field(default=(), init=False)
    advantage_kinds_: tuple[str, ...] = field(default=(), init=False)
    fitted_: Any = field(default=None, init=False)
    _state: RankState | None = field(default=None, init=False)
    _one_call: FieldCall | None = field(default=None, init=False)

    walk: float | Mapping[str, float] | None = None
    prior_spread: float | Mapping[str, float] | None = None
    newcomer: float | Mapping[str, float] | None = None
    regression: float | Mapping[str, float] | None = None
    retirement: float | None = None
    off: float | None = None
    ties: float | None = None
    _: KW_ONLY
    late_retirement: float | None = None
    depth: float | None = None
    anchor: float | None = None
    newcomer_follows: float | None = None
    experience: float | Mapping[str, float] | None = None
    contest_walk: float | Mapping[str, float] | None = None
    conditions: Sequence[str] | None = None
    noise_by: Sequence[str] | None = None
    covariates: Sequence[str] | None = None
    initial: float = 1500.0
    start: Any = None
    look: int | None = LOOK_AT_ENTRIES

    # Rating

    def _prepare(self, matches: Matches | Contests) -> None:
        self._noise = NoiseFactors()
        contests = self._seen(matches).contests
        self._take_kinds(contests)
        self._covariate_units: Mapping[str, float] = usual_units(contests, list(self._units()))
        for name in self._conditions():
            warn_of_numbers(name, contests.slots[name].names)
        number = 0 if SIZE in self._units() else sizes_differ(contests)
        if number:
            warnings.warn(
                f"Teams are of different sizes in {number:,} of {len(contests):,} contests, and count as the mean of "
                'their members; covariates=["size"] estimates what one more is worth.',
                KineloWarning,
                stacklevel=3,
            )

    def _latest_matches(self, matches: Matches | Contests) -> Contests:
        contests = self._seen(matches).contests
        return self._to_search(contests) if self._open_parameters() or noise_columns(self.noise_by) else contests

    def _learn(self, matches: Matches | Contests, latest: Matches | Contests) -> None:
        """Estimate; where the noise depends on circumstances, by turns with its factors. Then rate."""
        seen, part = self._seen(matches), self._seen(latest).contests
        if self._open_parameters():
            self.estimates_: Estimates | None = self._search(part)
        if noise_columns(self.noise_by):
            settle_factors(self, lambda: self._find_noise(part), lambda: self._learn_again(part))
        self._reset(None if self.estimates_ is None else self.estimates_.values)
        seen.settle_ties(self)
        self._use(matches)

    def _learn_again(self, part: Contests) -> None:
        """Estimate with other factors of the noise, from where the last search ended."""
        if self.estimates_ is not None:
            self.estimates_ = self._likeliest(part, SMALL, self.estimates_.values)

    def _expected_anew(self, contests: Contests) -> Expected:
        """What was expected of contests one step ahead, by a copy that has seen nothing before them."""
        twin = copy.copy(self)
        twin._reset(dict(self.parameters_))
        return twin._filter(contests)[0]

    def _names_of(self, matches: Matches | Contests) -> set[str]:
        start = self._start()
        return names_met(self._seen(matches).contests, () if start is None else start.names)

    def _prepare_once(self, matches: Matches | Contests) -> None:
        """Let the first matches say what the order of sides may teach, and what kinds there are."""
        if not self._prepared and len(matches):
            self._prepared = True
            self._order: SideOrder = self._order if self._open_parameters() else learn_order(matches)
        self._begun(self._seen(matches).contests)

    def _use(self, matches: Matches | Contests) -> None:
        seen = self._seen(matches)
        if len(matches):
            seen.follow(self, self._filter(seen.contests)[0])

    def _reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every contest and settle the parameters."""
        super()._reset(estimated)
        self._tie_sums = np.zeros(2)

    def _step_ahead(self, matches: Matches | Contests) -> Any:
        seen = self._seen(matches)
        expected, unknown = self._filter(seen.contests)
        return seen.forecast(self, expected, unknown, seen.follow(self, expected))

    def _check_has_ratings(self) -> None:
        if self.start is None:
            self._begun()

    def _on_days(self, matches: Matches | Contests) -> Matches | Contests:
        return matches  # the state says on which day contests without dates are

    def _names_known(self) -> Iterable[str]:
        return [name for _, name in self._begun().names]

    def _noted(self, forecast: Any, matches: Matches | Contests) -> Any:
        return with_levels_noted(forecast, matches, self._noise)

    def _foresee(self, matches: Matches | Contests) -> Any:
        seen = self._seen(matches)
        return seen.forecast(self, *self._expect(seen.contests))

    def _expect(self, contests: Contests) -> tuple[Expected, tuple[str, ...]]:
        """What is expected of contests to come, and names never met; the state is left alone."""
        contests = with_size(contests, self._units())
        state = self._begun(None if self.start is None else contests)
        columns, unknown = state.columns(contests, admit=False)
        known = state.as_seen_on(int(columns.day[0])) if len(contests) else state.known
        expected = room_for_expected(contests.entrant.size)
        expect_contests(columns, self._model(), known, expected)
        return expected, unknown

    # One contest, by names

    def _one(
        self,
        entrants: Sequence[Any],
        places: Sequence[float] | None,
        ended: Sequence[int] | None,
        date: Day | None,
        conditions: Mapping[str, object] | None = None,
    ) -> Contests:
        made = {SIZE} & self._units().keys()  # of sizes nobody says anything but who plays
        kinds = tuple(kind for kind in self.kinds_ if kind not in made) or ("entrant",)
        helps = tuple(kind for kind in self.advantage_kinds_ if kind not in made)
        day = np.datetime64(max(self._last_day(), 0), "D") if date is None else read_day(date)
        return self._luck().with_levels(contest_of(entrants, places, ended, day, kinds, helps), conditions)

    def _foresee_field(self, entrants: Any, *, date: Day | None = None, **said: Any) -> ContestForecast:
        self._check_has_ratings()
        plain = None if said else self._foresee_plain(entrants, date)
        return super()._foresee_field(entrants, date=date, **said) if plain is None else plain

    def _use_order(self, order: Any, *, ranks: Any = None, date: Day | None = None, **said: Any) -> None:
        if said or not self._use_plain(order, ranks, date):
            super()._use_order(order, ranks=ranks, date=date, **said)

    def _plain(self, entrants: Any, ranks: Any, date: Day | None, *, ahead: bool) -> tuple[PlainField, int] | None:
        """A contest that needs no table, and its day; None where it does."""
        state = self._state
        if state is None or len(self.kinds_) != 1 or self.advantage_kinds_ or self.noise_by:
            return None
        if type(self) is not RankElo:
            return None
        day = day_of(state, None if date is None else read_day(date), ahead=ahead)
        field = None if day is None else plain_field(entrants, ranks)
        return None if field is None or day is None else (field, day)

    def _use_plain(self, order: Any, ranks: Any, date: Day | None) -> bool:
        """Use a contest that needs no table, at a cost that does not grow with those who are rated."""
        found = self._plain(order, ranks, date, ahead=False)
        if found is None:
            return False
        (field, day), state, kind = found, self._begun(), self.kinds_[0]
        at = [state._place(kind, name) for name in field.names]
        self._field_call().run(field, day, at, state.known, learning=True)
        state.contests += 1
        return True

    def _field_call(self) -> FieldCall:
        """The loop over one contest for the state as it is, made once."""
        known, call = self._begun().known, self._one_call
        if call is None or call.known is not known or call.parameters != self.parameters_:
            call = self._one_call = FieldCall(self._model(), known, self.parameters_)
        return call

    def _expect_plain(self, entrants: Any, date: Day | None) -> tuple[PlainField, int, Array, tuple[str, ...]] | None:
        """A contest to come that needs no table, its day, what is expected as loops write it, and names never met."""
        found = self._plain(entrants, None, date, ahead=True)
        if found is None:
            return None
        (field, day), state, kind = found, self._begun(), self.kinds_[0]
        index, games, unknown = state.index, state.known.games, ()
        at = [index.get((kind, name), -1) for name in field.names]
        expected, met = self._field_call().run(field, day, at, state.known, learning=False)
        if not met:
            unknown = tuple(name for name, place in zip(field.names, at) if place < 0 or not games[place])
        return field, day, expected, unknown

    def _foresee_plain(self, entrants: Any, date: Day | None) -> ContestForecast | None:
        """Forecast a contest that needs no table."""
        found = self._expect_plain(entrants, date)
        if found is None:
            return None
        field, day, expected, unknown = found
        return plain_forecast((field, day, self.kinds_[0]), expected, unknown, **self._off())

    def contest_one(
        self,
        order: Sequence[Any],
        *,
        ranks: Sequence[float] | None = None,
        unfinished: Unfinished = (),
        date: Day | None = None,
        conditions: Mapping[str, object] | None = None,
        minutes: Mapping[str, float] | None = None,
    ) -> Contests:
        """One contest as :meth:`update_one` takes it."""
        contest = with_distances(self._one(*ranked(order, unfinished, ranks), date, conditions), unfinished)
        return contest if minutes is None else with_minutes(contest, minutes)

    def field_of(
        self, entrants: Sequence[Any], *, date: Day | None = None, conditions: Mapping[str, object] | None = None
    ) -> Contests:
        """One contest to come as :meth:`predict_one` takes it."""
        return self._one(entrants, None, None, date, conditions)

    def _match_quality(
        self, home: Any, away: Any = None, *, date: Day | None = None, neutral: bool = False,
        conditions: Mapping[str, object] | None = None, **more: Any,
    ) -> float | Array:  # fmt: skip
        """How even a contest, or contests of two sides each, are believed to be (:func:`kinelo.match_quality`).

        ``1 − E[(P(a before b) − P(b before a))²]``, the mean taken over what is believed of strengths and over all
        pairs of the contest.
        """
        from kinelo.matches.fixtures import check_neutral
        from kinelo.raters.one_match import pairs_of

        if more:
            raise InputError(f"RankElo takes no {next(iter(more))} here; it rates no line-ups.")
        self._check_has_ratings()
        if away is None:
            plain = self._expect_plain(home, date) if conditions is None else None
            if plain is not None:
                return self._quality(Expected(*plain[2]))
            return self._quality_of(self._one(home, None, None, date, conditions))
        check_neutral(neutral)
        at_home = not neutral and "venue" in self.advantage_kinds_ and self._order.home
        quality = np.array(
            [
                self._quality_of(self._one([(one, "home") if at_home else one, other], None, None, date, conditions))
                for one, other in zip(*pairs_of(home, away), strict=True)
            ]
        )
        return float(quality[0]) if isinstance(home, str) and isinstance(away, str) else quality

    def _quality_of(self, contest: Contests) -> float:
        """How even one contest is believed to be, over strengths and luck as its forecast is."""
        expected, believed = self._expect(contest)[0], self._luck().believed(contest)
        if not believed:
            return self._quality(expected)
        luck, error, quality = believed["luck"][0], believed["luck_error"][0], 0.0
        for node, weight in zip(LUCK_NODES, LUCK_WEIGHTS, strict=True):
            other = luck * math.exp(2.0 * node * error)
            spread = expected._replace(variance=expected.variance + NOISE * (other - luck))
            quality += weight * self._quality(spread, other)
        return quality

    def _quality(self, expected: Expected, luck: float = 1.0) -> float:
        """How even one contest, of which so much is expected, is believed to be."""
        mean, deviation = expected.mean[:, 0], np.sqrt(expected.variance[:, 0])
        pairs = mean.size * (mean.size - 1) / 2
        return sum_of_losses(partial(self._evenness, luck), mean, deviation, np.zeros(mean.size)) / pairs

    def _evenness(self, luck: float, m: Array, s: Array, n: Array, t: Array) -> Array:
        """``1 − E[(P(a before b) − P(b before a))²]`` of pairs, from means and deviations of performances; a part at a
        time.
        """
        even = np.empty(m.size)
        for begin in range(0, m.size, PAIRS_AT_ONCE):
            part = slice(begin, begin + PAIRS_AT_ONCE)
            spread = np.sqrt(np.maximum(s[part] ** 2 + t[part] ** 2 - 2.0 * NOISE * luck, 0.0))
            gap = (m[part] - n[part])[:, None] + spread[:, None] * HERMITE_NODES
            even[part] = 1.0 - (2.0 * self._chance_ahead(gap, luck) - 1.0) ** 2 @ HERMITE_WEIGHTS
        return even

    def _chance_ahead(self, gap: Array, luck: float = 1.0) -> Array:
        """The chance to be ahead of another who is weaker by a difference of strength that is known, where the variance
        of performances is ``luck`` times the usual one."""
        noise = np.full(gap.shape, np.sqrt(NOISE * luck))
        return mixed_chance(gap, noise, noise, **self._off())

    def _entrant_beliefs(self, names: Sequence[str], date: Day | None = None) -> tuple[Array, Array, tuple[str, ...]]:
        """Mean and variance of what is believed of entrants' strengths, and names never met."""
        self._check_has_ratings()
        expected, unknown = self._expect(self._as_usual(self._one(list(names), None, None, date)))
        return expected.mean[:, 0], np.maximum(expected.variance[:, 0] - NOISE, 0.0), unknown

    def _fair_value(
        self, home: Any, away: Any, covariate: str, *, date: Day | None = None, **more: Any
    ) -> float | dict[str, float]:
        """The number of every entrant at which all are believed to be equally strong (:func:`kinelo.fair_value`)."""
        if more:
            raise InputError(f"RankElo takes no {next(iter(more))} here; it makes the numbers of entrants fair.")
        if not isinstance(covariate, str) or covariate not in self._units() or covariate == SIZE:
            asked = [name for name in self._units() if name != SIZE]
            raise InputError(f"{covariate!r:.60} is no number that this rater could make fair; it has {asked}.")
        self._check_has_ratings()
        worth = self._effect_of(covariate)[0]
        if worth == 0.0:
            raise InputError(f"Nothing is known of what {covariate!r} is worth; fit the rater first.")
        contest = self._as_usual(self._one(home if away is None else [home, away], None, None, date))
        mean = self._expect(contest)[0].mean[:, 0]
        value = (mean.mean() - mean) / worth
        if away is not None:
            return float(value[0] - value[1])
        return dict(zip((contest.entrants[code] for code in contest.entrant.tolist()), value.tolist(), strict=True))

    def _effect_of(self, covariate: str) -> tuple[float, float]:
        """What a unit of a covariate is worth, and the variance of that; 0 where nothing is known."""
        unit, state = self._units().get(covariate), self._begun(None)
        at = state.index.get((covariate, A_UNIT))
        if unit is None or at is None:
            return 0.0, 0.0
        return float(state.known.x[at, 0]) / unit, float(state.known.v[at, 0]) / unit**2

    def _as_usual(self, contest: Contests) -> Contests:
        """A contest whose entrants all have the same numbers, which then count for nothing."""
        zero = Slots(np.zeros((contest.entrant.size, 1), np.int32), ("0",), True)
        numbers = {kind: zero for kind in self._units() if kind in contest.slots}
        return replace(contest, slots={**contest.slots, **numbers})

    # What is known

    def ratings_on(self, date: Day | None = None) -> pl.DataFrame:
        """Ratings and their uncertainty as they are on a day, by default that of the last contest."""
        state = self._begun()
        return self._rated(int(state.known.clock[1] if date is None else read_day(date).astype(np.int64)))

    def _rated(self, day: int | None) -> pl.DataFrame:
        """The table of those who are rated, on a day or as of each one's last contest."""
        import polars as pl

        return slot_table(self, day).filter(~pl.col("kind").is_in(self.advantage_kinds_))

    @property
    def ratings_(self) -> pl.DataFrame:
        """Kind, name, rating, uncertainty, matches (contests) and last_played, the best of each kind first."""
        return self._rated(None)

    @property
    def advantages_(self) -> pl.DataFrame:
        """Rating points that each advantage is worth, as of the last contest: kind, name, points, uncertainty, matches.

        >>> import kinelo as kn
        >>> matches = kn.read_matches({"home": ["A", "B"] * 9, "away": ["B", "A"] * 9, "result": [1, 1, 0.5] * 6})
        >>> kn.RankElo().update(matches).advantages_.select("kind", "name", "matches").rows()
        [('venue', 'home', 18)]
        """
        import polars as pl

        kinds = [kind for kind in self.advantage_kinds_ if kind not in self._units()]
        table = slot_table(self, None).filter(pl.col("kind").is_in(kinds))
        points = (pl.col("rating") - self.initial).alias("points")
        return table.select("kind", "name", points, "uncertainty", "matches")

    @property
    def effects_(self) -> pl.DataFrame:
        """Rating points that a unit of every covariate is worth, as of the last contest: name, effect, standard_error,
        low, high (95 %).

        >>> import kinelo as kn
        >>> table = {"race": [k // 3 for k in range(60)], "horse": ["A", "B", "C"] * 20, "place": [1, 2, 3] * 20,
        ...          "weight": [50, 55, 60, 52, 57, 59] * 10}
        >>> rater = kn.RankElo(covariates=["weight"]).update(kn.read_contests(table, advantages=["weight"]))
        >>> rater.effects_["name"].to_list(), bool(rater.effects_["effect"][0] < 0)
        (['weight'], True)
        """
        table, units = slot_table(self, None), self._units()
        known = {row["kind"]: row for row in table.to_dicts() if row["kind"] in units}
        unmet = {kind: (self.initial, POINTS_PER_UNIT * self._of_kind("prior_spread", kind)) for kind in units}
        rows = [(known[k]["rating"], known[k]["uncertainty"]) if k in known else unmet[k] for k in units]
        points = (np.array(rows).reshape(-1, 2) - [self.initial, 0.0]) / np.array(list(units.values()))[:, None]
        return effects_frame(list(units), points[:, 0], points[:, 1])

    @property
    def noise_factors_(self) -> pl.DataFrame:
        """By column of ``noise_by`` and level: factor of the noise, 80 % interval, and contests fitted."""
        return self._noise.table()

    def _noise_of(self, contests: Contests) -> Array:
        """Variance of a performance around the strength in every contest, in units of the usual one."""
        check_contests(contests)
        return self._luck().variance(contests)

    def hindsight(self, matches: Contests | Matches, stops: Sequence[int]) -> list[pl.DataFrame]:
        """Ratings after the first ``stops[0]``, ``stops[1]``, … of these contests, given all of them.

        The parameters are taken as they stand, and the rater is left alone.
        """
        from kinelo.raters.rank.hindsight import smoothed_states

        back, state, contests = self._once_more(matches)
        tables = []
        for known in smoothed_states(state, contests, back._model(), stops):
            state.known = known
            tables.append(back.ratings_)
        return tables

    def _drawn_strengths(self, contests: Contests, draws: int) -> Array:
        """Strengths of all entries (draws, entries), drawn given all these contests, in units of the noise."""
        from kinelo.raters.rank.hindsight import drawn_strengths

        back, state, contests = self._once_more(contests)
        return drawn_strengths(state, contests, back._model(), draws)

    def _once_more(self, matches: Contests | Matches) -> tuple[RankElo, RankState, Contests]:
        """A rater with these parameters that has seen nothing yet, its state, and what it is to see."""
        back = copy.copy(self)
        back._reset(dict(self.parameters_))
        back._check_usable(matches)
        contests = back._seen(matches).contests
        return back, back._begun(contests), contests

    @property
    def slots(self) -> RankSlots:
        """What a book keeps of every slot, and of all."""
        return RankSlots(self)

    def _field_rows(self) -> FieldRows:
        """What rates single contests by the rows of those who take part."""
        from kinelo.raters.rank.field_rows import FieldRows

        return FieldRows(self)

    def _take_units(self, units: Sequence[float]) -> None:
        """Usual distances of the covariates as they were stored."""
        if not all(0.0 < unit < np.inf for unit in units):
            raise InputError("Units of covariates of a stored state are out of range.")
        self._covariate_units = dict(zip(self._units(), map(float, units), strict=True))
        if self._state is not None:
            self._state.units = self._units()

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays."""
        values = {f"{PREFIX}{name}": np.array(value) for name, value in self.parameters_.items()}
        flags = {"prepared": np.array([self._prepared, self._never_fitted]), "tie_sums": self._tie_sums}
        units = {"covariate_units": np.array(list(self._units().values()))} if self.covariates else {}
        return self._begun().to_arrays() | values | flags | self._noise.to_arrays() | units

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self._noise = NoiseFactors.from_arrays(arrays)
        if self.covariates:
            self._take_units(stored(arrays, "covariate_units", "f", (len(self._units()),)).tolist())
        state = RankState.from_arrays(arrays, self._conditions(), self._luck(), self._units())
        self.kinds_, self.advantage_kinds_ = state.kinds, state.advantages
        self._prepared, self._never_fitted = map(bool, arrays["prepared"])
        self._reset_as_stored(arrays)
        self._state = state
        self._tie_sums = stored(arrays, "tie_sums", "f", (2,), 0.0)


@dataclass(frozen=True)
class RankSlots(BookSlots):
    """Rows of slots; of all together only kinds, and where contests have no dates, their number."""

    rater: RankElo

    def moves_shared(self, matches: Any) -> bool:
        """Whether contests without dates follow one another by their number."""
        return not (matches.dated and self.rater._begun().dated)

    def met(self, matches: Any) -> list[Key]:
        """Everyone who takes part, and everything that helps."""
        return self.rater._begun(matches).keys_of(with_size(matches, self.rater._units()))

    def has(self, key: Key) -> bool:
        """Whether a slot has been made."""
        return key in self.rater._begun().index

    def rows(self, keys: Sequence[Key] | None = None) -> list[SlotRow]:
        """Rows of some slots, or of all in their order."""
        return self.rater._begun().slot_rows(keys)

    def take(self, rows: Iterable[SlotRow]) -> None:
        """Put rows in."""
        self.rater._begun().take_slots(list(rows))

    def shared(self) -> dict[str, Any]:
        """Kinds and their parameters; the number of contests and their days where they have no dates."""
        rater, state = self.rater, self.rater._begun()
        undated = {"contests": [state.contests, *state.known.clock.tolist()]}
        kept = {"kinds": list(state.kinds), "advantages": list(state.advantages), "parameters": dict(rater.parameters_)}
        kept |= {"noise": rater._noise.to_rows()} if rater._noise.index else {}
        kept |= {"units": list(rater._units().values())} if rater.covariates else {}
        return kept | (undated if not state.dated else {"contests": [int(state.contests > 0)]})

    def take_shared(self, kept: dict[str, Any], latest: int | None) -> None:
        """Take over what all share."""
        rater = self.rater
        kinds, advantages = texts_shared(kept, "kinds"), texts_shared(kept, "advantages")
        values = kept.get("parameters")
        if not isinstance(values, dict) or not set(advantages) <= set(kinds) or len(set(kinds)) < len(kinds):
            raise InputError("'kinds' in the table common are not what its rater stores.")
        numbers = numbers_shared({"parameters": list(values.values())}, "parameters")
        rater._noise = NoiseFactors.from_rows(kept.get("noise", []))
        if rater.covariates:
            rater._take_units(numbers_shared(kept, "units", len(rater._units())))
        state = rater._state
        if state is None or (list(state.kinds), list(state.advantages)) != (kinds, advantages):
            rater.kinds_, rater.advantage_kinds_ = tuple(kinds), tuple(advantages)
            rater._reset(dict(zip(values, map(float, numbers))))
            state = rater._begun()
        counted = [int(number) for number in numbers_shared(kept, "contests")]
        state.contests, state.dated = counted[0], len(counted) == 1
        state.known.clock[:] = counted[1:] if len(counted) == 3 else LONG_AGO if latest is None else latest

    def supposed(self) -> dict[Key, int]:
        """Contests that settled names are supposed to have seen."""
        state = self.rater._begun()
        return {state.names[place]: games for place, games in state.unseen.items()}

    def points(self) -> Points:
        """Points from the average of the active, unless ratings to begin with say where they are counted from."""
        return Points(self.rater.initial, POINTS_PER_UNIT, self.rater.start is None)
