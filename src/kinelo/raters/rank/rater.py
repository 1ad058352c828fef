"""Ratings from contests of many entrants: a filter of slots that reads rankings.

Strengths move as ``dx = −ρ x dt + walk dW``, each kind of slot with numbers of its own. Equations of a contest in
:mod:`kinelo.raters.rank.ranking` and :mod:`kinelo.raters.rank.kernels`.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Estimates, Parameter, estimated, fixed
from kinelo.forecasts.places import DEEPEST, ContestForecast
from kinelo.matches.columns import listed
from kinelo.matches.contests import FINISHED, Contests, Slots, check_contests
from kinelo.matches.dated import Day, check_played, day_number, read_day
from kinelo.matches.fixtures import check_neutral
from kinelo.matches.kinds import CONTESTS, MATCHES, SIZE
from kinelo.matches.matches import Matches, SideOrder, learn_order
from kinelo.raters import one_contest
from kinelo.raters.band import band_of, band_walk, with_band
from kinelo.raters.circumstances import Circumstances, condition_names, warn_of_numbers
from kinelo.raters.covariates import covariate_names, effects_frame
from kinelo.raters.noise import NoiseFactors, noise_columns, settle_factors
from kinelo.raters.one_contest import Unfinished, contest_of, ranked, refuse_words, with_distances, with_minutes
from kinelo.raters.one_match import pairs_of
from kinelo.raters.rank.estimation import SMALL, estimate_parameters, find_noise, likeliest, thinned
from kinelo.raters.rank.kernels import (
    NOISE,
    POINTS_PER_UNIT,
    ContestModel,
    Expected,
    expect_contests,
    filter_contests,
    room_for_expected,
)
from kinelo.raters.rank.one_field import FieldCall, FieldRows, PlainField, plain_field, plain_forecast
from kinelo.raters.rank.reading import (
    chance_ahead,
    chances_of_points,
    contest_quality,
    follow_ties,
    follow_unfinished,
    fresh_ties,
    likeliest_ties,
    points_at_home,
    slot_table,
)
from kinelo.raters.rank.state import (
    A_UNIT,
    ContestEntries,
    RankSlots,
    RankState,
    centred_numbers,
    contest_model,
    sizes_differ,
)
from kinelo.raters.rater import Rater, Traits, without_ratings
from kinelo.raters.state import NEVER
from kinelo.raters.stored import ANY, PREFIX, stored, taken_whole
from kinelo.runtime.progress import Progress

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

LOOK_AT_ENTRIES = 150_000
"""Entries beyond which parameters are estimated on a part: so many take half a minute."""
OF_ADVANTAGES = (
    Parameter("walk", 0.05, 0.002, 1.0, True, "yearly random walk of an advantage"),
    Parameter("prior_spread", 0.4, 0.02, 3.0, True, "spread of advantages"),
)
"""Parameters of an advantage, which lies around 0 and does not return to it."""
FAR_DAYS = 365
"""Days from today beyond which a date is asked about, which a table does."""
AFTER_A_FIT = ("contest_walk",)
"""Parameters whose default is where a search begins; they are 0 where nobody has estimated them."""


@dataclass(eq=False, repr=False)
class RankElo(Rater[Matches | Contests, Any]):
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
        How much it tells that somebody did not finish: 0 nothing, 1 as much as finishing last.
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
    ties_walk
        How far κ's logarithm may move per match of two sides where it moves fastest, as in :class:`TeamElo`.
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

    _traits = Traits((CONTESTS, MATCHES), ("contests",), fitted_by_forecasts=False)
    _gone: ClassVar[Mapping[str, str]] = {
        **Rater._gone,
        "late_retirement": "every retirement counts alike (retirement)",
    }
    progress: Progress = field(default=False, init=False)
    """Whether ``fit`` shows how far it is where it takes long: True on the terminal, or a function that is told."""
    _fitted: Any = field(default=None, init=False)
    _taken: ContestEntries | None = field(default=None, init=False)
    _state: RankState | None = field(default=None, init=False)
    _one_call: FieldCall | None = field(default=None, init=False)
    _tie_state: Array | None = field(default=None, init=False)

    walk: float | Mapping[str, float] | None = estimated(
        0.4, 0.01, 4.0, True, "yearly random walk of a strength", by_kind=True
    )
    prior_spread: float | Mapping[str, float] | None = estimated(
        0.7, 0.05, 5.0, True, "spread of newcomers", by_kind=True
    )
    newcomer: float | Mapping[str, float] | None = estimated(
        -0.4, -4.0, 2.0, False, "where newcomers begin against the field", by_kind=True, largest=1000.0
    )
    regression: float | Mapping[str, float] | None = estimated(
        0.1, 0.0, 3.0, False, "yearly return to the mean", by_kind=True
    )
    contest_walk: float | Mapping[str, float] | None = estimated(
        0.05, 0.005, 1.0, True, "random walk of a strength in a contest", by_kind=True, largest=1000.0, kw_only=True
    )
    experience: float | Mapping[str, float] | None = estimated(
        0.0, -1.0, 2.0, False, "what newcomers gain in their first contests", by_kind=True, largest=1000.0, kw_only=True
    )
    retirement: float | None = estimated(0.05, 0.0, 1.0, False, "how much a retirement tells")
    off: float | None = estimated(0.0, 0.0, 0.3, False, "part of performances that are off", largest=1.0)
    depth: float | None = estimated(
        1.5, 0.0, DEEPEST, False, "how much lower those are", largest=DEEPEST, vague=6.0, kw_only=True
    )
    anchor: float | None = estimated(
        0.0, 0.0, 1.0, False, "how much the level of a field is drawn to that of all", kw_only=True
    )
    newcomer_follows: float | None = estimated(
        1.0, 0.0, 1.0, False, "how much a first field tells", largest=1.0, vague=1.5, kw_only=True
    )
    ties: float | None = estimated(0.5, 1e-6, 20.0, True, "draws: equals draw κ/(2 + κ) of their matches")
    _: KW_ONLY
    conditions: Sequence[str] | None = None
    noise_by: Sequence[str] | None = None
    covariates: Sequence[str] | None = None
    initial: float = fixed(1500.0)
    ties_walk: float | None = fixed(None, 0.0, open=True)
    start: Any = None
    look: int | None = LOOK_AT_ENTRIES

    predict_one: ClassVar[one_contest.PredictOne] = one_contest.predict_one  # type: ignore[assignment]
    update_one: ClassVar[one_contest.UpdateOne] = one_contest.update_one  # type: ignore[assignment]

    # Parameters: one of each sort for every kind of slot, and some for all

    def _by_kind(self) -> list[tuple[str, str, Parameter, float | None]]:
        """Of every kind each parameter: the kind, what it is called, what is declared of it, and what was given."""
        entries, rows = self._entries, []
        of_strengths = tuple(p for p in self._declared_parameters if p.by_kind)
        for kind in entries.kinds:
            for p in OF_ADVANTAGES if kind in entries.advantages else of_strengths:
                value = getattr(self, p.name)
                given = value.get(kind) if isinstance(value, Mapping) else value
                rows.append((kind, entries.label(p.name, kind), p, given))
        return rows

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters the user left to be estimated, for every kind of the contests fitted; ties come after them, and
        where no performances are off, nothing is asked of how much lower they are.
        """
        by_kind = [
            replace(p, name=label, meaning=f"{p.meaning} ({kind})")
            for kind, label, p, given in self._by_kind()
            if given is None and label not in self._unidentified
        ]
        settled = {"ties", *self._unidentified, *(("depth",) if self.off == 0.0 else ())}
        of_all = [p for p in self._declared_parameters if not p.by_kind and p.name not in settled]
        return (*by_kind, *(p for p in of_all if getattr(self, p.name) is None))

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter of every kind: the user's, else the estimate, else the default."""
        if estimated is not None and not (
            isinstance(estimated, Mapping) and all(isinstance(value, Real) for value in estimated.values())
        ):
            raise InputError(f"estimates are numbers by the names of parameters, not {estimated!r:.60}.")
        of_all = [(p.name, p, getattr(self, p.name)) for p in self._declared_parameters if not p.by_kind]
        values = {}
        for label, p, given in (*(row[1:] for row in self._by_kind()), *of_all):
            default = self._unidentified.get(label, 0.0 if p.name in AFTER_A_FIT else p.default)
            values[label] = float((estimated or {}).get(label, default) if given is None else given)
        return values

    def _unidentified_parameters(self, matches: Any) -> Mapping[str, float]:
        """Parameters of which contests say nothing: of retirements where there are none, of the level of fields and of
        experience where two meet or there are ratings to begin with, of walks by the contest where two meet, and of the
        spread of a single advantage.
        """
        check_played(matches)
        contests, entries = self._seen(matches), self._entries
        unidentified = {} if np.any(contests.ended > 0) else {"retirement": 0.0}
        finished = contests.ended == FINISHED
        duels = np.add.reduceat(finished, contests.first[:-1], dtype=np.int64).max() < 3
        if duels:
            unidentified |= {"off": 0.0, "depth": DEEPEST}
        if duels or self.start is not None:
            unidentified |= {"anchor": 0.0, "newcomer_follows": 1.0}
            unidentified |= {entries.label("experience", kind): 0.0 for kind in entries.kinds}
        if duels:
            unidentified |= {entries.label("contest_walk", kind): 0.0 for kind in entries.kinds}
        for kind, label, p, _ in self._by_kind():
            names = np.unique(contests.slots[kind].codes[contests.slots[kind].codes >= 0]).size
            alone = kind in entries.units or (names == 1 and kind not in entries.conditions)
            if kind in entries.advantages and (names == 0 or (alone and p.name == "prior_spread")):
                unidentified[label] = p.default
        return unidentified

    def _off(self) -> dict[str, float]:
        """Part of performances that are off, and how much lower they lie."""
        return {"off": self.parameters_["off"], "depth": self.parameters_["depth"]}

    def _model(self) -> ContestModel:
        """The parameters as loops take them."""
        return contest_model(self._entries, self.parameters_)

    # Entries: which slots contests consist of

    def _asked(self) -> ContestEntries:
        """Entries as the arguments ask for them, before any contest."""
        return ContestEntries(
            conditions=() if self.conditions is None else condition_names(self.conditions),
            units={} if self.covariates is None else dict.fromkeys(covariate_names(self.covariates), 1.0),
            noise_by=() if self.noise_by is None else noise_columns(self.noise_by),
        )

    @property
    def _entries(self) -> ContestEntries:
        """Entries of the contests rated."""
        return self._asked() if self._taken is None else self._taken

    @property
    def _kinds(self) -> tuple[str, ...]:
        """Kinds of slots that are rated, advantages among them."""
        return self._entries.kinds

    @property
    def _advantage_kinds(self) -> tuple[str, ...]:
        """Those kinds that are nobody's strength."""
        return self._entries.advantages

    @property
    def _around(self) -> Circumstances:
        return Circumstances(noise_by=self._entries.noise_by, noise=self._entries.factors)

    @property
    def _noise(self) -> NoiseFactors:
        return self._entries.factors

    @_noise.setter
    def _noise(self, factors: NoiseFactors) -> None:
        self._taken = replace(self._entries, factors=factors)

    def _take_kinds(self, contests: Contests, asked: ContestEntries | None = None) -> None:
        """Rate the kinds of these contests from now on; arguments must name some of them."""
        entries = self._entries if asked is None else asked
        kinds, advantages = entries.kinds_in(entries.with_size(contests))
        for p in self._declared_parameters:
            value = getattr(self, p.name)
            strange = [kind for kind in value if kind not in kinds] if isinstance(value, Mapping) else []
            if strange:
                raise InputError(
                    f"RankElo({p.name}=…) speaks of {strange[0]!r}, but these contests rate {', '.join(kinds)}."
                )
        for what, columns in (("conditions", entries.conditions), ("covariates", entries.units)):
            strange = [kind for kind in columns if kind not in advantages]
            if strange:
                raise InputError(
                    f"RankElo({what}=…) names {strange[0]!r}, which these contests do not say; read them with "
                    f"advantages=[{strange[0]!r}]."
                )
        self._taken = replace(entries, kinds=kinds, advantages=advantages)

    def _seen(self, matches: Matches | Contests, asked: ContestEntries | None = None) -> Contests:
        """Contests as they are, or matches of two sides as contests of two; nobody is at home if that would leak."""
        entries = self._entries if asked is None else asked
        if isinstance(matches, Contests):
            return entries.with_size(matches)
        leaks = not self._order.home
        return entries.of_matches(replace(matches, neutral=np.ones(len(matches), bool)) if leaks else matches)

    # Rating

    def _prepare(self, matches: Matches | Contests) -> None:
        asked = self._asked()
        contests = self._seen(matches, asked)
        self._take_kinds(contests, asked)
        numbers = {name: centred_numbers(contests, name) for name in asked.units}
        units = {name: math.sqrt(np.mean(values**2)) or 1.0 if values.size else 1.0 for name, values in numbers.items()}
        self._taken = replace(self._entries, units=units)
        for name in asked.conditions:
            warn_of_numbers(name, contests.slots[name].names)
        number = 0 if SIZE in asked.units else sizes_differ(contests)
        if number:
            warn(
                f"Teams are of different sizes in {number:,} of {len(contests):,} contests, and count as the mean of "
                'their members; covariates=["size"] estimates what one more is worth.'
            )

    def _latest_matches(self, matches: Matches | Contests) -> Contests:
        """The contests on which parameters are estimated: of very many entries a part, with a warning."""
        contests = self._seen(matches)
        if self.look is None or not (self._open_parameters() or self._entries.noise_by):
            return contests
        part = thinned(contests, int(self.look))
        if part is not contests and self._open_parameters():
            warn(
                f"Parameters are estimated on {part.entrant.size:,} of {contests.entrant.size:,} entries, and all "
                "contests are rated with them; set look = None to estimate on all."
            )
        return part

    def _learn(self, matches: Matches | Contests, latest: Any) -> None:
        """Estimate; where the noise depends on circumstances, by turns with its factors. Then rate."""
        if self._open_parameters():
            self.estimates_: Estimates | None = estimate_parameters(self, latest)
        if self._entries.noise_by:
            settle_factors(self, lambda: find_noise(self, latest), lambda: self._learn_again(latest))
        self._reset(None if self.estimates_ is None else self.estimates_.values)
        if not isinstance(matches, Contests) and self.ties is None:  # how often sides draw, given everything else
            contests = self._seen(matches)
            points = points_at_home(self._forecast(contests, *self._filter(contests)), matches)
            self._reset(dict(self.parameters_) | {"ties": likeliest_ties(points, matches.result)})
        self._use(matches)

    def _learn_again(self, part: Contests) -> None:
        """Estimate with other factors of the noise, from where the last search ended."""
        if self.estimates_ is not None:
            self.estimates_ = likeliest(self, part, SMALL, self.estimates_.values)

    def _names_of(self, matches: Matches | Contests) -> set[str]:
        """Names of the contests, and those of ratings to begin with that are written with their kind."""
        start, slots = self._start(), self._seen(matches).slots
        rated = {kind: set(one.names) for kind, one in slots.items() if not one.advantage}
        listed = () if start is None else start.names
        written = {name for name in listed if (part := name.partition(": "))[2] in rated.get(part[0], ())}
        return written.union(*rated.values())

    def _reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every contest and settle the parameters."""
        self.parameters_: Mapping[str, float] = self._settled_values(estimated)
        self._state, self._tie_state = self._fresh(self.parameters_), None

    @property
    def _ties(self) -> Array:
        """What is known of draws, made when somebody asks: contests of many have none."""
        if self._tie_state is None:
            self._tie_state = fresh_ties(self.parameters_["ties"])
        return self._tie_state

    def _fresh(self, values: Mapping[str, float]) -> RankState:
        state, start = RankState(self._entries), self._start()
        if start is not None:
            entries = state.entries
            prior = {kind: entries.value(values, "prior_spread", kind) for kind in entries.kinds}
            strength = (start.rating - self.initial) / POINTS_PER_UNIT
            state.seat(start, strength, start.deviation / POINTS_PER_UNIT, prior)
        return state

    def _begun(self, contests: Contests | None = None) -> RankState:
        """The state, made where there is none yet; before the first contest, for the kinds of these contests."""
        state = self._state
        if contests is not None and (state is None or state.contests == 0):
            entries = self._entries
            kinds = entries.kinds_in(entries.with_size(contests))[0]
            if state is None or state.entries.kinds != kinds:
                self._take_kinds(contests)
                self._reset()
        if self._state is None:
            raise without_ratings(self)
        return self._state

    def _last_day(self) -> int:
        state = self._state
        return int(state.known.clock[1]) if state is not None and state.dated else NEVER

    def _check_order(self, matches: Matches | Contests) -> None:
        if matches.dated:  # those without dates follow one another
            self._begun(self._seen(matches))
            super()._check_order(matches)

    def _prepare_once(self, matches: Matches | Contests) -> None:
        """Let the first matches say what the order of sides may teach, and what kinds there are."""
        if not self._prepared and len(matches):
            self._prepared = True
            if not isinstance(matches, Contests):
                self._order: SideOrder = self._order if self._open_parameters() else learn_order(matches)
        self._begun(self._seen(matches))

    def _filter(self, contests: Contests) -> tuple[Expected, tuple[str, ...], Array]:
        """Rate contests; what was expected of them before, names never met, and chances not to finish."""
        state, number = self._begun(contests), contests.weight.size
        columns, unknown = state.columns(contests, admit=True)
        if state.contests == 0 and number:
            state.known = state.as_seen_on(int(columns.day[0]))
        expected = room_for_expected(contests.entrant.size)
        filter_contests(columns, self._model(), state.known, expected)
        state.contests += number
        failing, state.unfinished = follow_unfinished(contests, expected.mean[:, 0], state.unfinished, learning=True)
        return expected, unknown, failing

    def _use(self, matches: Matches | Contests) -> None:
        if not isinstance(matches, Contests) and (self._learns_ties or band_walk(self) > 0.0):
            self._step_ahead(matches)
        elif matches.weight.size:
            self._filter(self._seen(matches))

    def _step_ahead(self, matches: Matches | Contests) -> Any:
        if not len(matches):
            return self._foresee(matches)
        contests = self._seen(matches)
        forecast = self._forecast(contests, *self._filter(contests))
        if isinstance(matches, Contests):
            return forecast
        points = points_at_home(forecast, matches)
        ties = self._follow_ties(points, matches.signed, matches.weight)
        return Forecast(chances_of_points(points, ties), forecast.unknown, matches)

    def _follow_ties(self, points: Array, signed: Array, weight: Array) -> Array:
        """κ before each match in which a side expects so many points, learning from the results."""
        walk, before = band_walk(self), self.parameters_["ties"]
        kappa = math.exp(band_of.py_func(self._ties, 2)[0]) if walk > 0.0 and before > 0.0 else before
        return follow_ties(points, signed, weight, self._learns_ties, walk, kappa, self._ties)

    def _foresee(self, matches: Matches | Contests) -> Any:
        contests = self._seen(matches)
        forecast = self._forecast(contests, *self._expect(contests))
        if isinstance(matches, Contests):
            return forecast
        ties = self._follow_ties(np.array([0.5]), np.zeros(1), np.zeros(1))  # a match without a weight teaches nothing
        return Forecast(chances_of_points(points_at_home(forecast, matches), ties), forecast.unknown, matches)

    def _forecast(
        self, contests: Contests, expected: Expected, unknown: tuple[str, ...], failing: Array
    ) -> ContestForecast:
        """The forecast of contests of which so much is expected."""
        believed: Any = self._entries.believed(contests)
        mean, deviation = expected.mean[:, 0], np.sqrt(expected.variance[:, 0])
        return ContestForecast(contests, mean, deviation, unknown, **self._off(), **believed, unfinished=failing)

    def _check_has_ratings(self) -> None:
        if self.start is None:
            self._begun()

    def _on_days(self, matches: Matches | Contests) -> Matches | Contests:
        return matches  # the state says on which day contests without dates are

    def _names_known(self) -> Iterable[str]:
        return [name for _, name in self._begun().names]

    def _expect(self, contests: Contests) -> tuple[Expected, tuple[str, ...], Array]:
        """What is expected of contests to come, names never met, and chances not to finish; the state is left alone."""
        contests = self._entries.with_size(contests)
        state = self._begun(None if self.start is None else contests)
        columns, unknown = state.columns(contests, admit=False)
        known = state.as_seen_on(int(columns.day[0])) if len(contests) else state.known
        expected = room_for_expected(contests.entrant.size)
        expect_contests(columns, self._model(), known, expected)
        return expected, unknown, follow_unfinished(contests, expected.mean[:, 0], state.unfinished, learning=False)[0]

    # One contest, by names

    def _one(
        self,
        entrants: Sequence[Any],
        places: Sequence[float] | None,
        ended: Sequence[int] | None,
        date: Day | None,
        conditions: Mapping[str, object] | None = None,
    ) -> Contests:
        entries = self._entries
        made = {SIZE} & entries.units.keys()  # of sizes nobody says anything but who plays
        kinds = tuple(kind for kind in entries.kinds if kind not in made) or ("entrant",)
        helps = tuple(kind for kind in entries.advantages if kind not in made)
        day = np.datetime64(max(self._last_day(), 0), "D") if date is None else read_day(date)
        return entries.with_levels(contest_of(entrants, places, ended, day, kinds, helps), conditions)

    def _foresee_field(self, entrants: Any, *, date: Day | None = None, **options: Any) -> ContestForecast:
        self._check_has_ratings()
        plain = None if options else self._expect_plain(entrants, date)
        if plain is None:
            return self.predict(self._field_of(entrants, date=date, **options))
        field, day, expected, unknown = plain
        return plain_forecast((field, day, self._kinds[0]), expected, unknown, **self._off())

    def _use_order(self, order: Any, *, ranks: Any = None, date: Day | None = None, **options: Any) -> None:
        plain = None if options else self._plain(order, ranks, date, ahead=False)
        if plain is None:
            self.update(self._contest_one(order, ranks=ranks, date=date, **options))
            return
        (field, day), state = plain, self._begun()
        kind = state.entries.kinds[0]
        at = [state.place(kind, name) for name in field.names]
        self._field_call().run(field, day, at, state.known, learning=True)
        state.contests += 1

    def _plain(self, entrants: Any, ranks: Any, date: Day | None, *, ahead: bool) -> tuple[PlainField, int] | None:
        """A contest that needs no table, at a cost that does not grow with those who are rated, and its day; None where
        it does.
        """
        state = self._state
        if state is None or type(self) is not RankElo:
            return None
        entries = state.entries
        if len(entries.kinds) != 1 or entries.advantages or entries.noise_by or state.unfinished.size:
            return None
        last = int(state.known.clock[1])
        day = last if date is None else day_number(read_day(date))
        if not (state.dated and state.contests and day > 0 and last > 0):
            return None  # a table says what it means
        if not ahead and not last <= day <= time.time() / 86400.0 + FAR_DAYS:
            return None
        field = plain_field(entrants, ranks)
        return None if field is None else (field, day)

    def _field_call(self) -> FieldCall:
        """The loop over one contest for the state as it is, made once."""
        known, call = self._begun().known, self._one_call
        if call is None or call.known is not known or call.parameters != self.parameters_:
            call = self._one_call = FieldCall(self._model(), known, self.parameters_)
        return call

    def _expect_plain(self, entrants: Any, date: Day | None) -> tuple[PlainField, int, Array, tuple[str, ...]] | None:
        """A contest to come that needs no table, its day, what is expected as loops write it, and names never met."""
        plain = self._plain(entrants, None, date, ahead=True)
        if plain is None:
            return None
        (field, day), state = plain, self._begun()
        kind = state.entries.kinds[0]
        index, games, unknown = state.index, state.known.games, ()
        at = [index.get((kind, name), -1) for name in field.names]
        expected, met = self._field_call().run(field, day, at, state.known, learning=False)
        if not met:
            unknown = tuple(name for name, place in zip(field.names, at) if place < 0 or not games[place])
        return field, day, expected, unknown

    def _contest_one(
        self,
        order: Sequence[Any],
        *,
        ranks: Sequence[float] | None = None,
        unfinished: Unfinished = (),
        date: Day | None = None,
        conditions: Mapping[str, object] | None = None,
        minutes: Mapping[str, float] | None = None,
        **unknown_options: Any,
    ) -> Contests:
        """One contest as :meth:`update_one` takes it."""
        refuse_words(unknown_options, "update_one takes its order, ranks, unfinished, date, conditions and minutes")
        contest = with_distances(self._one(*ranked(order, unfinished, ranks), date, conditions), unfinished)
        return contest if minutes is None else with_minutes(contest, minutes)

    def _field_of(
        self, entrants: Sequence[Any], *, date: Day | None = None, conditions: Mapping[str, object] | None = None,
        **unknown_options: Any,
    ) -> Contests:  # fmt: skip
        """One contest to come as :meth:`predict_one` takes it."""
        refuse_words(unknown_options, "predict_one takes its entrants, date and conditions")
        return self._one(entrants, None, None, date, conditions)

    # What questions about ratings ask (:mod:`kinelo.raters.questions`, :mod:`kinelo.raters.balance`)

    def _match_quality(
        self, home: Any, away: Any = None, *, date: Day | None = None, neutral: bool = False,
        conditions: Mapping[str, object] | None = None, **unknown_options: Any,
    ) -> float | Array:  # fmt: skip
        """How even a contest, or contests of two sides each, are believed to be (:func:`kinelo.match_quality`)."""
        if unknown_options:
            raise InputError(f"RankElo takes no {next(iter(unknown_options))} here; it rates no line-ups.")
        self._check_has_ratings()
        if away is None:
            plain = self._expect_plain(home, date) if conditions is None else None
            if plain is not None:
                return contest_quality(Expected(*plain[2]), {}, **self._off())
            fields = [home]
        else:
            check_neutral(neutral)
            at_home = not neutral and "venue" in self._advantage_kinds and self._order.home
            fields = [
                [(one, "home") if at_home else one, other] for one, other in zip(*pairs_of(home, away), strict=True)
            ]
        quality = []
        for entrants in fields:
            contest = self._one(entrants, None, None, date, conditions)
            expected, believed = self._expect(contest)[0], self._entries.believed(contest)
            quality.append(contest_quality(expected, believed, **self._off()))
        return quality[0] if away is None or (isinstance(home, str) and isinstance(away, str)) else np.array(quality)

    def _chance_ahead(self, gap: Array) -> Array:
        """The chance to be ahead of another who is weaker by a difference of strength that is known."""
        return chance_ahead(gap, **self._off())

    def _entrant_beliefs(self, names: Sequence[str], date: Day | None = None) -> tuple[Array, Array, tuple[str, ...]]:
        """Mean and variance of what is believed of entrants' strengths, and names never met."""
        self._check_has_ratings()
        expected, unknown, _ = self._expect(self._as_usual(self._one(list(names), None, None, date)))
        return expected.mean[:, 0], np.maximum(expected.variance[:, 0] - NOISE, 0.0), unknown

    def _fair_value(
        self, home: Any, away: Any, covariate: str, *, date: Day | None = None, **unknown_options: Any
    ) -> float | dict[str, float]:
        """The number of every entrant at which all are believed to be equally strong (:func:`kinelo.fair_value`)."""
        if unknown_options:
            raise InputError(
                f"RankElo takes no {next(iter(unknown_options))} here; it makes the numbers of entrants fair."
            )
        fair = [name for name in self._entries.units if name != SIZE]
        if covariate not in fair:
            known = listed(fair) or "none"
            raise InputError(f"{covariate!r:.60} is no number that this rater could make fair; it has {known}.")
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
        unit, state = self._entries.units.get(covariate), self._begun()
        at = state.index.get((covariate, A_UNIT))
        if unit is None or at is None:
            return 0.0, 0.0
        return float(state.known.x[at, 0]) / unit, float(state.known.v[at, 0]) / unit**2

    def _as_usual(self, contest: Contests) -> Contests:
        """A contest whose entrants all have the same numbers, which then count for nothing."""
        zero = Slots(np.zeros((contest.entrant.size, 1), np.int32), ("0",), True)
        numbers = {kind: zero for kind in self._entries.units if kind in contest.slots}
        return replace(contest, slots={**contest.slots, **numbers})

    # What is known

    def ratings_on(self, date: Day | None = None) -> pl.DataFrame:
        """Ratings and their uncertainty as they are on a day, by default that of the last contest."""
        state = self._shown()
        return self._rated(int(state.known.clock[1] if date is None else read_day(date).astype(np.int64)))

    def _shown(self) -> RankState:
        """The state; of a starting list before any contest with the kind of names alone, where none is asked for."""
        if self.start is not None and (self._state is None or not self._state.entries.kinds):
            with suppress(InputError):
                self._begun(self._one(["one", "other"], None, None, None))
        return self._begun()

    def _rated(self, day: int | None) -> pl.DataFrame:
        """The table of those who are rated, on a day or as of each one's last contest."""
        import polars as pl

        return slot_table(self, day).filter(~pl.col("kind").is_in(self._advantage_kinds))

    @property
    def ratings_(self) -> pl.DataFrame:
        """Kind, name, rating, uncertainty, matches (contests) and last_played, the best of each kind first."""
        self._shown()
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

        kinds = [kind for kind in self._advantage_kinds if kind not in self._entries.units]
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
        table, entries = slot_table(self, None), self._entries
        units = entries.units
        known = {row["kind"]: row for row in table.to_dicts() if row["kind"] in units}
        priors = {kind: entries.value(self.parameters_, "prior_spread", kind) for kind in units}
        unmet = {kind: (self.initial, POINTS_PER_UNIT * prior) for kind, prior in priors.items()}
        rows = [(known[k]["rating"], known[k]["uncertainty"]) if k in known else unmet[k] for k in units]
        points = (np.array(rows).reshape(-1, 2) - [self.initial, 0.0]) / np.array(list(units.values()))[:, None]
        return effects_frame(list(units), points[:, 0], points[:, 1])

    def _noise_of(self, contests: Contests) -> Array:
        """Variance of a performance around the strength in every contest, in units of the usual one."""
        check_contests(contests)
        return self._entries.variance(contests)

    def _hindsight(self, matches: Contests | Matches, stops: Sequence[int]) -> list[pl.DataFrame]:
        """Ratings after the first ``stops[0]``, ``stops[1]``, … of these contests, given all of them.

        The parameters are taken as they stand, and the rater is left alone.
        """
        from kinelo.raters.rank.hindsight import smoothed_states

        back = copy.copy(self)
        back._reset(dict(self.parameters_))
        back._check_usable(matches)
        contests = back._seen(matches)
        state = back._begun(contests)
        tables = []
        for known in smoothed_states(state, contests, back._model(), stops):
            state.known = known
            tables.append(back.ratings_)
        return tables

    @property
    def _slots(self) -> RankSlots:
        """What a book keeps of every slot, and of all."""
        return RankSlots(self)

    def _field_rows(self) -> FieldRows:
        """What rates single contests by the rows of those who take part."""
        return FieldRows(self)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays."""
        values = {f"{PREFIX}{name}": np.array(value) for name, value in self.parameters_.items()}
        flags = {
            "prepared": np.array([self._prepared, self._never_fitted]),
            "tie_sums": self._ties[:2],
            "tie_band": self._ties[2:],
        }
        entries = self._entries
        units = {"covariate_units": np.array(list(entries.units.values()))} if entries.units else {}
        return self._begun().to_arrays() | values | flags | entries.factors.to_arrays() | units

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        entries = replace(self._asked(), factors=NoiseFactors.from_arrays(arrays))
        if entries.units:
            units = stored(arrays, "covariate_units", "f", (len(entries.units),))
            entries = entries.with_units(units.tolist())
        state = RankState.from_arrays(arrays, entries)
        self._taken = state.entries
        self._prepared, self._never_fitted = map(bool, arrays["prepared"])
        self._reset_as_stored(arrays)
        self._state = state
        sums = [stored(arrays, "tie_sums", "f", (2,), 0.0)]
        sums += [stored(arrays, "tie_band", "f", (ANY,))] if "tie_band" in arrays else []
        self._tie_state = with_band(np.concatenate(sums), self._ties.size, float(self._ties[2]))
