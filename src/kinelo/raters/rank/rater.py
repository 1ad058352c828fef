"""Ratings from contests of many entrants: a filter of slots that reads rankings.

Strengths move as ``dx = −ρ x dt + walk dW``, each kind of slot with numbers of its own. Equations of a contest in
:mod:`kinelo.raters.rank.ranking` and :mod:`kinelo.raters.rank.kernels`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.fit import NEGLIGIBLE_GAIN, Slopes, estimate
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Estimates, Option, Parameter
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contest_scan import ContestScan
from kinelo.matches.contests import FINISHED, Contests, check_contests
from kinelo.matches.dated import Day, read_day
from kinelo.matches.matches import Matches
from kinelo.raters.lanes import moved_twins, slopes_of
from kinelo.raters.order import joined_forecast, learn_order
from kinelo.raters.random_walk import YEAR
from kinelo.raters.rank.kernels import ContestColumns, Expected, expect_contests, filter_contests, room_for_expected
from kinelo.raters.rank.parameters import KindParameters
from kinelo.raters.rank.state import RankState
from kinelo.raters.rank.table import POINTS_PER_UNIT, slot_table
from kinelo.raters.rank.two_sides import chances_of_points, likeliest_ties, two_sided_points
from kinelo.raters.rater import without_ratings
from kinelo.raters.start import Start, warn_of_unmet
from kinelo.raters.stored import PREFIX, stored_parameters

if TYPE_CHECKING:
    import polars as pl

    from kinelo.raters.one_contest import Unfinished

Array = NDArray[np.float64]

LARGE = 60
"""Entrants who finish, on average, beyond which a search begins with scaled losses."""
MANY_ENTRIES = 8_000
"""Entries beyond which a search begins with a quarter of the contests."""
NEAR, SMALL = 2.0, 0.3
"""Gain of a step, in log-likelihood, below which a search ends that only leads near the place, and the one after it."""


@dataclass(eq=False, repr=False)
class RankElo(KindParameters):
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
    prior_spread
        Standard deviation of a newcomer's strength.
    newcomer
        Where newcomers begin, against the mean of the others of their kind in their first contest.
    regression
        Rate per year at which strengths return to the mean.
    retirement
        How much it tells that somebody did not finish: 0 nothing, 1 as much as finishing last. Where contests say how
        far each came (``Contests.distance``), half-way.
    late_retirement
        How much more a retirement at the very end tells than one at the start. It grows evenly with the distance, as
        far as it stays from 0 to 1.
    off
        Part of all performances that are off, as after an accident: far lower than the strength, which they then say
        little about. 0 in matches of two sides, unless it is given.
    ties
        Davidson's κ, in forecasts of matches of two sides: equals draw with probability ``κ / (2 + κ)``.
    conditions
        Advantages, such as ``["weather"]``, of which each level is worth something else to everybody: beside its
        strength an entrant has a deviation under each level, around 0. Their spread is estimated.
    initial
        Rating shown for the average of those of a kind who are active. A point is a point of expected score between
        equals, as in 1/(1 + 10^(−z/400)).
    start
        Ratings to begin with: names and ratings, or a table, as :class:`kinelo.TeamElo` takes them. Names are those of
        the first kind; ``"car: Red"`` is one of another kind. Ratings then keep the level of the table.

    >>> import kinelo as kn
    >>> table = {"race": [1, 1, 1, 2, 2, 2], "driver": ["Ann", "Bob", "Cid", "Ann", "Cid", "Bob"],
    ...          "place": [1, 2, 3, 1, 2, 3]}
    >>> rater = kn.RankElo().update(kn.read_contests(table))
    >>> rater.ratings_["name"].to_list(), rater.predict_one(["Bob", "Ann"])
    (['Ann', 'Cid', 'Bob'], Forecast of 1 contest: Ann 0.700, Bob 0.300)
    """

    parameters = (
        Parameter("retirement", 0.05, 0.0, 1.0, False, "how much a retirement tells"),
        Parameter("late_retirement", 0.0, -2.0, 2.0, False, "how much more a late retirement tells than an early one"),
        Parameter("off", 0.0, 0.0, 0.3, False, "part of performances that are off"),
        Parameter("ties", 0.5, 1e-6, 20.0, True, "Davidson's kappa"),
    )
    options = (Option("initial"),)
    book_holds = ("contests",)
    fitted_by_forecasts = False
    kinds_: tuple[str, ...] = field(default=(), init=False)
    advantage_kinds_: tuple[str, ...] = field(default=(), init=False)
    fitted_: Any = field(default=None, init=False)
    _state: RankState | None = field(default=None, init=False)
    _part: Array | None = field(default=None, init=False)
    _columns: Any = field(default=None, init=False)

    walk: float | Mapping[str, float] | None = None
    prior_spread: float | Mapping[str, float] | None = None
    newcomer: float | Mapping[str, float] | None = None
    regression: float | Mapping[str, float] | None = None
    retirement: float | None = None
    off: float | None = None
    ties: float | None = None
    _: KW_ONLY
    late_retirement: float | None = None
    conditions: Sequence[str] | None = None
    initial: float = 1500.0
    start: Any = None

    # Rating

    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every contest and settle the parameters."""
        self.parameters_ = self.settled_values(estimated)
        self._state = RankState(self.kinds_, self.advantage_kinds_, self._conditions())
        start = self._start()
        if start is not None:
            for kind, own in by_kind(start, self.kinds_, self.advantage_kinds_).items():
                x = (own.rating - self.initial) / POINTS_PER_UNIT
                prior = self._of_kind("prior_spread", kind)
                v = np.where(np.isnan(own.deviation), prior, own.deviation / POINTS_PER_UNIT) ** 2
                self._state.seat(kind, own, x, v)

    def fit(self, matches: Contests | ContestScan | Matches, y: object = None) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Estimate the open parameters on these contests, then rate them in order from a fresh start."""
        if isinstance(matches, ContestScan):
            return self._fit_in_chunks(matches)
        if isinstance(matches, Matches):
            self.order_ = learn_order(matches)
        contests = _played(self._contests(matches))
        if len(contests) == 0:
            raise InputError("There are no contests to fit; at least one is needed.")
        self._estimate(contests)
        if isinstance(matches, Matches) and self.ties is None:
            self._estimate_ties(matches, contests)
        self.fitted_ = matches
        self.update(contests)
        start = self._start()
        if start is not None:
            warn_of_unmet(start, names_met(contests, start.names))
        return self

    def _contests(self, value: object) -> Contests:
        """Contests as they are, or matches of two sides as contests of two; nobody is at home if that would leak."""
        if not isinstance(value, Matches):
            check_contests(value)
            return value  # type: ignore[return-value]
        away = replace(value, neutral=np.ones(len(value), bool)) if not self.order_.home else value
        return Contests.from_matches(away)

    def _estimate_ties(self, matches: Matches, contests: Contests) -> None:
        """Settle κ, given everything else, by the draws of the matches fitted."""
        twin = copy.copy(self)
        values = dict(self.parameters_)
        twin.reset(values)
        points = two_sided_points(matches, twin._filter(contests)[0], values["off"])
        self.reset(values | {"ties": likeliest_ties(points, matches.result)})

    def _estimate(self, contests: Contests) -> None:
        self.estimates_ = None
        self._take_kinds(contests)
        self.moot_ = self.moot_parameters(contests)
        self.reset()
        if self.open_parameters():
            estimates = self._search(contests)
            self.reset(estimates.values)
            self.estimates_ = estimates

    def _search(self, contests: Contests) -> Estimates:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Estimate the open parameters; of many contests from where the first ones lead, and in large fields from where
        scaled losses do.

        Losses grow with the field, and a search by outer products of slopes takes shorter steps the larger they are.
        Losses of contests of ``k`` that count ``2/k`` lead near the place, and those in full find it.
        """
        near = None
        finishers = np.add.reduceat((contests.ended == FINISHED).astype(float), contests.first[:-1])
        if finishers.mean() > LARGE:
            self._part = 2.0 / np.maximum(finishers, 2.0)
            near = self._likeliest(contests, NEAR).values
            self._part = None
        elif contests.entrant.size > MANY_ENTRIES:
            middle = contests[3 * len(contests) // 8 : 5 * len(contests) // 8]
            near = self._likeliest(middle, NEAR).values
        return self._likeliest(contests, NEGLIGIBLE_GAIN if near is None else SMALL, near)

    def _likeliest(self, contests: Contests, negligible: float, near: Mapping[str, float] | None = None) -> Estimates:
        """Search once; what contests are to loops is found out once for all passes."""
        twin = copy.copy(self)
        twin.reset()
        self._columns = contests, twin._begun(contests), twin._begun().columns(contests, admit=True)
        day = self._columns[2][0].day
        self._years = (day[-1] - day[0]) / YEAR
        try:
            return estimate(self, contests, near=near, negligible=negligible)  # type: ignore[arg-type]
        finally:
            self._columns = None

    def _admit(self, contests: Contests) -> tuple[ContestColumns, tuple[str, ...]]:
        """Contests as loops take them, and names never met, which are given slots."""
        state = self._begun(contests)
        if self._columns is not None and self._columns[0] is contests:
            state.adopt(self._columns[1])
            return self._columns[2]
        return state.columns(contests, admit=True)

    def _fit_in_chunks(self, scan: ContestScan) -> Self:
        """Estimate on the first chunk and rate all of them."""
        chunks = scan.chunks()
        first = next(chunks, None)
        if first is None:
            raise InputError("There are no contests in the files and days asked for.")
        self._estimate(first)
        self.update(first)
        for chunk in chunks:
            self.update(chunk)
        return self

    def _begun(self, contests: Contests | None = None) -> RankState:
        """The state, made where there is none yet; before the first contest, for the kinds of these contests."""
        state = self._state
        if state is None and contests is None:
            raise without_ratings(self)
        if contests is not None and (state is None or (state.contests == 0 and state.kinds != contests.kinds)):
            self._take_kinds(contests)
            self.reset()
        assert self._state is not None
        return self._state

    def _filter(self, contests: Contests) -> tuple[Expected, tuple[str, ...]]:
        """Rate contests; what was expected of them before, and names never met."""
        state = self._begun(contests)
        last = int(state.known.clock[1])
        if contests.dated and state.dated and len(contests) and contests.day[0] < last:
            raise InputError(
                f"The contest {contests.identifiers[0]} of {contests.date[0]} comes before the last contest rated, of "
                f"{np.datetime64(last, 'D')}; nothing was changed. Rate contests in order of date, or keep a rating "
                "book, which takes results that arrive late."
            )
        columns, unknown = self._admit(contests)
        if state.contests == 0 and len(contests):
            state.begin(int(columns.day[0]))
        expected = room_for_expected(contests.entrant.size)
        filter_contests(columns, self._model(), state.known, expected)
        state.contests += len(contests)
        return expected, unknown

    def update(self, matches: Contests | ContestScan | Matches) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Carry the ratings on with further contests, in order."""
        for contests in matches.chunks() if isinstance(matches, ContestScan) else [self._contests(matches)]:
            if len(contests):
                self._filter(_played(contests))
        return self

    def _losses(self, contests: Contests, skipped: int) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Loss of every contest from ``skipped`` on, after a reset (:func:`contest_losses`)."""
        loss = contest_losses(contests, self._filter(contests)[0].log_chance)[:, 0]
        return (loss if self._part is None else loss * self._part)[skipped:]

    def _slopes(self, contests: Contests, skipped: int) -> Slopes:
        """Derivatives of the losses by open parameters but ``off``, after a reset: raters a little apart, in lanes."""
        moves = {name: move for name, move in moved_twins(self).items() if name != "off"}
        state, twins = self._begun(contests), [move.twin for move in moves.values()]
        columns, _ = self._admit(contests)
        state.begin(int(columns.day[0]))
        known = state.known._replace(
            x=np.repeat(state.known.x, 1 + len(twins), axis=1), v=np.repeat(state.known.v, 1 + len(twins), axis=1)
        )
        for q, twin in enumerate(twins):  # ratings to begin with may owe their variance to a parameter
            begun = len(twin._state)
            known.v[:begun, q + 1] = twin._state.known.v[:begun, 0]
        expected = room_for_expected(contests.entrant.size, 1 + len(twins))
        filter_contests(columns, self._model(*twins), known, expected)
        losses = contest_losses(contests, expected.log_chance)[skipped:]
        if self._part is not None:
            losses *= self._part[skipped:, None]
        return slopes_of(losses[:, 0], list(losses[:, 1:].T), moves)

    def one_step_ahead(self, matches: Contests | Matches) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Forecast each contest (or match) before it is used, and use it."""
        self._begun(self._contests(matches))
        if not isinstance(matches, Matches):
            return self._step_ahead(matches)
        said = []
        for part, as_whole in self._parts(matches):
            said.append(self._foresee(part) if as_whole else self._step_ahead(part))
            if as_whole:
                self.update(part)
        return said[0] if len(said) == 1 else joined_forecast(said, matches)

    def _step_ahead(self, matches: Contests | Matches) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        contests = _played(self._contests(matches))
        return self._forecast(matches, contests, *self._filter(contests))

    def predict(self, matches: Contests | Matches) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Forecast contests (or matches) from the ratings as they stand; names never met get the prior and are listed.

        Contests are forecast place by place (:class:`kinelo.forecasts.ContestForecast`), matches by who wins
        (:class:`kinelo.forecasts.Forecast`).
        """
        self._begun(None if self.start is None else self._contests(matches))
        return self._foresee(matches)

    def _foresee(self, matches: Contests | Matches) -> Any:
        contests, state = self._contests(matches), self._begun()
        if state.contests == 0 and len(contests):
            state.begin(int(contests.day[0]))
        columns, unknown = state.columns(contests, admit=False)
        expected = room_for_expected(contests.entrant.size)
        expect_contests(columns, self._model(), state.known, expected)
        return self._forecast(matches, contests, expected, unknown)

    def _forecast(
        self, matches: object, contests: Contests, expected: Expected, unknown: tuple[str, ...]
    ) -> ContestForecast | Forecast:
        off = self.parameters_["off"]
        if not isinstance(matches, Matches):
            return ContestForecast(contests, expected.mean[:, 0], np.sqrt(expected.variance[:, 0]), unknown, off=off)
        points = two_sided_points(matches, expected, off)
        return Forecast(chances_of_points(points, self.parameters_["ties"]), unknown, matches)

    def score(self, matches: Contests | Matches, y: object = None) -> float:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Minus the mean log-loss over pairs of finishers, each contest forecast before it is used, on a copy."""
        from kinelo.forecasts.contest_scores import score_of

        if isinstance(matches, Matches):
            return super().score(matches, y)
        return score_of(copy.deepcopy(self).one_step_ahead(matches))

    # One contest, by names

    def _one(
        self, entrants: Sequence[Any], places: Sequence[float] | None, ended: Sequence[int] | None, date: Day | None
    ) -> Contests:
        from kinelo.raters.one_contest import contest_of

        kinds = self.kinds_ or ("entrant",)
        day = np.datetime64(self._today(), "D") if date is None else read_day(date)
        return contest_of(entrants, places, ended, day, kinds, self.advantage_kinds_)

    def _today(self) -> int:
        state = self._state
        return max(int(state.known.clock[1]), 0) if state is not None and state.dated else 0

    def predict_one(self, entrants: Sequence[Any], *, date: Day | None = None) -> ContestForecast:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Forecast one contest of these entrants from the ratings as they stand.

        An entrant is a name; a tuple of names, one for each kind, where several kinds are rated. Advantages come last,
        and who has none leaves them out: ``[("Ajax", "home"), "PSV"]``.
        """
        if self.start is None:
            self._begun()
        return self.predict(self._one(entrants, None, None, date))

    def update_one(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, order: Sequence[Any], *, unfinished: Unfinished = (), date: Day | None = None
    ) -> Self:
        """Carry the ratings on with one contest: its entrants in order of places, those who tie together in a list.

        ``unfinished`` lists those who did not finish, or says how far each came as a part of what the winner did:
        ``{"Dee": 0.8}``.

        >>> import kinelo as kn
        >>> rater = kn.RankElo().update_one(["Ann", ["Bob", "Cid"]], unfinished=["Dee"], date="2024-05-01")
        >>> rater.ratings_["name"].to_list()
        ['Ann', 'Dee', 'Bob', 'Cid']
        """
        from kinelo.raters.one_contest import ranked, with_distances

        return self.update(with_distances(self._one(*ranked(order, unfinished), date), unfinished))

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

        table = slot_table(self, None).filter(pl.col("kind").is_in(self.advantage_kinds_))
        points = (pl.col("rating") - self.initial).alias("points")
        return table.select("kind", "name", points, "uncertainty", "matches")

    def hindsight(self, matches: Contests | Matches, stops: Sequence[int]) -> list[pl.DataFrame]:
        """Ratings after the first ``stops[0]``, ``stops[1]``, … of these contests, given all of them.

        The parameters are taken as they stand, and the rater is left alone.
        """
        from kinelo.raters.rank.hindsight import smoothed_states

        back = copy.copy(self)
        contests = _played(back._contests(matches))
        back.reset(dict(self.parameters_))
        state, tables = back._begun(contests), []
        for known in smoothed_states(state, contests, back._model(), stops):
            state.known = known
            tables.append(back.ratings_)
        return tables

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything needed to carry on from here, as arrays."""
        values = {f"{PREFIX}{name}": np.array(value) for name, value in self.parameters_.items()}
        return self._begun().to_arrays() | values

    def from_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        state = RankState.from_arrays(arrays, self._conditions())
        self.kinds_, self.advantage_kinds_ = state.kinds, state.advantages
        self.reset(stored_parameters(arrays))
        self._state = state


def contest_losses(contests: Contests, log_chance: Array) -> Array:
    """Loss of every contest (contests, lanes) from ``log Z`` of entries (entries, lanes): the mean of ``−log Z`` over
    those who finished, times how many duels a contest of so many is worth, ``3 (k − 1)/(k + 1)``.

    With that the losses are as informative as their slopes say: places of one contest depend on each other.
    """
    known = np.isfinite(log_chance[:, 0])
    total = np.add.reduceat(np.where(known[:, None], -log_chance, 0.0), contests.first[:-1], axis=0)
    number = np.add.reduceat(known.astype(float), contests.first[:-1])
    worth = 3.0 * np.maximum(number - 1.0, 0.0) / (number + 1.0)
    return (worth / np.maximum(number, 1.0))[:, None] * total


def by_kind(start: Start, kinds: tuple[str, ...], advantages: tuple[str, ...]) -> dict[str, Start]:
    """Ratings to begin with, by kind of slot: ``car: Red`` is of the kind car, a plain name of the first kind."""
    rated = [kind for kind in kinds if kind not in advantages]
    found: dict[str, list[tuple[int, str]]] = {}
    for place, name in enumerate(start.names if rated else ()):
        kind, colon, rest = name.partition(": ")
        kind, rest = (kind, rest) if colon and kind in rated else (rated[0], name)
        found.setdefault(kind, []).append((place, rest))
    return {kind: _rows_of(start, own) for kind, own in found.items()}


def _rows_of(start: Start, own: list[tuple[int, str]]) -> Start:
    """Some rows of ratings to begin with, under other names."""
    at = [place for place, _ in own]
    names = tuple(name for _, name in own)
    return Start(names, start.rating[at], start.deviation[at], start.volatility[at], start.matches[at], start.day[at])


def names_met(contests: Contests, listed: tuple[str, ...]) -> set[str]:
    """Names of the contests, and those of the list that are written with their kind."""
    rated = {kind: set(slots.names) for kind, slots in contests.slots.items() if not slots.advantage}
    written = {name for name in listed if (part := name.partition(": "))[2] in rated.get(part[0], ())}
    return written.union(*rated.values())


def _played(contests: Contests) -> Contests:
    if len(contests) and np.isnan(contests.place).any():
        raise InputError("A contest without places cannot change a rating; forecast it with predict.")
    return contests
