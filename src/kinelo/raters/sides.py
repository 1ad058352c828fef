"""Raters that keep one rating per side: what :class:`TeamElo` and the Glicko family share.

A :class:`SideRater` holds a :class:`SideLaw` (numbers and compiled loops), a table of ratings, and what all share. A
fit ends with a look at inflation (:class:`Drift`): where sides enter at one level and leave at another, points are
carried in or out of the pool, and a rating of one year no longer means what it meant in another.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.forecasts.fit import OutOfRange, estimate, settled_slopes
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Estimates, Parameter, estimated
from kinelo.forecasts.scores import log_loss
from kinelo.matches.day_order import forecast_until
from kinelo.matches.fixtures import fixture
from kinelo.matches.matches import Matches, check_matches
from kinelo.model.validation import number
from kinelo.raters.advantage import SELDOM
from kinelo.raters.band import band_of, fresh_band
from kinelo.raters.covariates import EFFECT_STEP, EFFECT_WIDTH
from kinelo.raters.noise import NoiseFactors, find_factors, settle_factors
from kinelo.raters.one_match import Gaps, OneResult
from kinelo.raters.qualifying import REFERENCE_DAYS
from kinelo.raters.rater import Learnt, Rater, Traits
from kinelo.raters.reading import FIRST_SPREAD
from kinelo.raters.slots import Key, Points, SlotRow, StoredSlots, numbers_shared, texts_shared
from kinelo.raters.start import Start
from kinelo.raters.state import (
    ALIKE,
    BAND,
    BOLD,
    BOLD_V,
    EACH_EFFECT,
    EFFECTS,
    HOME_POINTS,
    HOME_V,
    KAPPA,
    NEVER,
    NO_EFFECTS,
    MatchColumns,
    MatchIndices,
    RatingTable,
    SavedRows,
    common_stored,
    match_columns,
)
from kinelo.raters.stored import ANY, stored, taken_whole
from kinelo.raters.two_rows import NO_LEVELS, OneCall

if TYPE_CHECKING:
    import polars as pl


FEWEST_SIDES = 8
USUAL_SPREAD = 200.0
"""Standard deviation of newcomers' strengths in points of 400 where nothing else is known."""


@dataclass(frozen=True)
class Drift:
    """Mean rating of the ``active`` sides (played within two years of the last match) beside the newcomers' start."""

    active: int
    mean: float
    start: float
    spread: float

    @property
    def shift(self) -> float:
        """How far the average active side stands above the newcomers' start."""
        return self.mean - self.start

    @property
    def serious(self) -> bool:
        """More than a quarter of the spread between sides, and more than three standard errors."""
        if self.active < FEWEST_SIDES:
            return False
        return abs(self.shift) > max(0.25 * self.spread, 3.0 * self.spread / self.active**0.5)

    def warn(self) -> None:
        """Warn if the drift is serious."""
        if self.serious:
            kind = "inflation" if self.shift > 0 else "deflation"
            warn(
                f"Rating {kind}: the {self.active} active sides average {self.mean:.4g}, newcomers start at "
                f"{self.start:.4g}; compare ratings of different years by rank, not by value."
            )


def measure_drift(ratings: pl.DataFrame, start: float) -> Drift:
    """Drift of a table of ratings (``rating``, ``last_played``) against the newcomers' ``start``."""
    import polars as pl

    if ratings.height == 0:
        return Drift(0, start, start, 0.0)
    idle = pl.col("last_played").max() - pl.col("last_played")
    active = ratings.filter(idle.dt.total_days().fill_null(0) <= REFERENCE_DAYS)  # without dates, everyone
    rating = active["rating"].to_numpy()
    return Drift(active.height, float(rating.mean()), start, float(rating.std()))


HOME_STEP = partial(
    estimated, 0.3, 0.01, 10.0, True, "points the home advantage moves per full surprise", in_points=True
)
Array = NDArray[np.float64]


def dispatch(kernel: Any, *arguments: Any) -> None:
    """Call a kernel."""
    kernel(*arguments)


SIDE = "side"
"""The kind of slot of raters that keep one rating per side."""


class Ahead(NamedTuple):
    """What is believed of matches to come: differences of strength and their variance, over the factor of the noise,
    chances (matches, 3), and ratings of both sides (matches, 2)."""

    z: Array
    doubt: Array
    chances: Array
    ratings: Array


class SideLaw(ABC):
    """How matches move one rating per side, and how ratings become forecasts: numbers and compiled loops.

    It knows nothing of names, files or books. ``common`` are the numbers that all sides share, which matches move too.
    """

    numbers: Any
    """The numbers of the kernels, a named tuple."""
    unit: ClassVar[float]
    """What the state counts for a rating point."""

    @abstractmethod
    def table(self) -> RatingTable:
        """Ratings before any match."""

    @abstractmethod
    def common(self, effects: Array) -> Array:
        """What all share before any match; ``effects`` (covariates, 3) is what is believed of covariates."""

    @abstractmethod
    def place(self, start: Start, table: Any) -> None:
        """Write the ratings to begin with at the first places of a table."""

    @abstractmethod
    def room(self, size: int, until: NDArray[np.int64] | None) -> Any:
        """Room for what is known before each of so many matches, of which those up to ``until`` are forecast together;
        none where that is None."""

    @abstractmethod
    def call(self, columns: MatchColumns, known: Any, common: Array, trace: Any) -> tuple[Any, tuple[Any, ...]]:
        """The loop that rates matches by the arrays of a table, and its arguments: these arrays, or views of them."""

    @abstractmethod
    def forecasts(self, trace: Any) -> tuple[Array, Array]:
        """Chances of matches that were played (matches, 3), and ratings of both sides before each (matches, 2)."""

    @abstractmethod
    def ahead(self, columns: MatchColumns, table: Any, common: Array, run: Callable[..., None] = dispatch) -> Ahead:
        """What is believed of matches to come; kernels are called by ``run(kernel, *arguments)``."""

    @abstractmethod
    def chances(self, z: Array, doubt: Array | None, common: Array) -> Array:
        """Chances of matches with these differences of strength and doubts about them (none), as things stand."""

    @abstractmethod
    def at_factors(self, trace: Any, common: Array, before: Array | float, factors: Array) -> Array:
        """Chances of matches that were played with factors of the noise ``before``, had it these factors."""

    @abstractmethod
    def shown(self, table: Any) -> pl.DataFrame:
        """The ratings as users see them."""


def begin_common(first: Sequence[float], effects: Array, point: float, wide: float, steady: float) -> Array:
    """What all share before any match, in the order of :mod:`kinelo.raters.state`: five numbers that begin with the
    home advantage, what covariates are worth, and what follows the matches. ``point`` is what the state counts for a
    point of 400, ``wide`` the variance of a home advantage of which nothing is known (0 where it is given), and
    ``steady`` that of one which is given.
    """
    worth = (effects * np.array([point, point**2, 1.0])).ravel().tolist()
    band = fresh_band(math.log(first[KAPPA]) if first[KAPPA] > 0.0 else 0.0)
    return np.array([*first, *worth, wide or steady, 0.0, FIRST_SPREAD**2, first[0], wide, SELDOM, *band])


class SideRater(Rater):
    """A rater whose kernel goes through the matches once and leaves a trace from which forecasts are made."""

    _traits = Traits(follows_matches=True, passes_points=True)
    initial: float
    home_advantage: float | None
    ties: float | None
    home_step: float | None
    ties_walk: float | None
    sharpness_walk: float
    season_gap: float
    scale: float
    _law: SideLaw
    _common: Array
    _one_call: OneCall | None = None
    _margin_unit: float = math.nan
    """The first unit of margins, where the rater uses any."""
    _target_square: float = 1.0
    """Mean square of what the update sees of a match."""
    _found_spread: float = 0.0
    """Standard deviation of newcomers' strengths as ``fit`` found it; 0 stands for the usual one."""
    _keeps_found: ClassVar[bool] = False
    """Whether a book keeps these three."""
    _unit_of_points: ClassVar[float] = 1.0
    """What the state counts for a rating point."""

    @property
    def _numbers(self) -> Any:
        """The numbers of the kernels."""
        return self._law.numbers

    @_numbers.setter
    def _numbers(self, numbers: Any) -> None:
        self._law = replace(cast("Any", self._law), numbers=numbers)

    @abstractmethod
    def _law_of(self, values: Mapping[str, float]) -> SideLaw:
        """The law with these parameters."""

    def _further_parameters(self) -> tuple[Parameter, ...]:
        """The spreads of conditions, and where there are covariates how fast what they are worth may move."""
        steps = (EFFECT_STEP.in_unit(self._own_points),) if self._around.effects else ()
        return super()._further_parameters() + steps

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter; a home advantage that the user gave stays, unless its step is given."""
        values = super()._settled_values(estimated)
        stays = self.home_step is None and self.home_advantage is not None
        return values | {"home_step": 0.0} if stays else values

    @property
    def _home_parameter(self) -> Parameter:
        return next(p for p in self._in_own_unit() if p.name == "home_advantage")

    @property
    def _learns_home(self) -> bool:
        """Whether the home advantage follows the matches from a wide start."""
        open_to_results = self._order.home and "home_advantage" not in self._unidentified
        alone = vars(self).get("system") is None  # a rating system tells all
        return self.home_advantage is None and self._home_parameter.learnt and open_to_results and alone

    def _home_before(self, values: Mapping[str, float]) -> tuple[float, float]:
        """Home advantage before any match, in rating points, and the variance of one of which nothing is known, as the
        state counts; 0 where it is given."""
        if not self._learns_home:
            return values["home_advantage"], 0.0
        home = self._home_parameter
        return home.default, (self._unit_of_points * home.prior_width) ** 2

    def _prepare(self, matches: Matches) -> None:
        if self._around.asked:
            self._circumstances = self._around.fitted(self._around.numbers(matches))
        if self._around.effects:
            from kinelo.raters.bradley_terry.rater import effects_if_strengths_stay

            latest = matches if self.look is None else matches[-int(self.look) :]
            first = effects_if_strengths_stay(latest, self._around.covariates, self._around.units)
            self._circumstances = replace(self._around, first_effects=first)

    def _effect_beliefs(self) -> tuple[Array, Array]:
        self._begun()
        found = self._common[EFFECTS : EFFECTS + EACH_EFFECT * len(self._around.effects)].reshape(-1, EACH_EFFECT)
        return found[:, 0] / self._unit_of_points, np.sqrt(found[:, 1]) / self._unit_of_points

    @property
    def learnt_(self) -> dict[str, Learnt]:
        """What follows the matches, as it is after those used: value and standard error of the home advantage in rating
        points (error 0 where it is given and stands), of Davidson's κ (``ties``), and of the factor on differences of
        strength in forecasts (``boldness``): how bold they proved right to be.

        >>> import kinelo as kn
        >>> matches = kn.read_matches(kn.sample_league(teams=8, seasons=4, seed=1).results)
        >>> learnt = kn.TeamElo(step=12.0).update(matches).learnt_
        >>> learnt["home_advantage"].value > 0, list(learnt)
        (True, ['home_advantage', 'ties', 'boldness'])
        """
        self._begun()
        unit, numbers, bold = self._unit_of_points, self._common, math.exp(float(self._common[BOLD]))
        kappa, follows = float(numbers[KAPPA]), self._numbers.ties_walk > 0.0
        return {
            "home_advantage": Learnt(float(numbers[HOME_POINTS]) / unit, math.sqrt(float(numbers[HOME_V])) / unit),
            "ties": Learnt(kappa, kappa * math.sqrt(band_of.py_func(numbers, BAND)[1]) if follows else math.nan),
            "boldness": Learnt(bold, bold * math.sqrt(float(numbers[BOLD_V]))),
        }

    def _search(self, matches: Matches) -> Estimates:
        """Estimate the open parameters, while sharpness and draws stand still."""
        still = copy.copy(self)
        still.sharpness_walk = still.ties_walk = 0.0
        still._reset()
        return estimate(still, matches)

    def _show_learnt(self) -> None:
        """Let the home advantage of today, with its error, stand among what was estimated."""
        if not self._learns_home:
            return
        today, error = self.learnt_["home_advantage"]
        self.parameters_: Mapping[str, float] = dict(self.parameters_) | {"home_advantage": today}
        if self.estimates_ is not None:
            estimates = self.estimates_
            self.estimates_: Estimates | None = replace(
                estimates,
                values=estimates.values | {"home_advantage": today},
                standard_errors=estimates.standard_errors | {"home_advantage": error},
            )

    def _play_or_refuse(self, matches: Matches, traced: bool) -> Any:
        state, common = self._begun(), self._common.copy()
        before = state.rows_of(matches)
        trace = self._play(matches, traced)
        for values in (state.known.rating, state.known.variance):
            if not math.isfinite(values[before.rows].sum() + values[before.size : len(state)].sum()):
                self._refuse(before, common)
        return trace

    def _columns(self, matches: Matches, indices: MatchIndices) -> MatchColumns:
        """Matches as kernels read them."""
        around = self._around
        if not around.asked:
            return match_columns(matches, indices)
        noise = around.noise.of(matches, around.noise_by) if around.noise_by else ALIKE
        return match_columns(matches, indices, noise, around.columns(matches))

    def _play(self, matches: Matches, traced: bool) -> Any:
        """Rate the matches in order: what was known before each, or nothing unless that is asked for."""
        state, law = self._begun(), self._law
        columns = self._columns(matches, state.admit(matches))
        trace = law.room(columns.day.size, forecast_until(matches) if traced else None)
        kernel, arguments = law.call(columns, state.known, self._common, trace)
        kernel(*arguments)
        return trace

    def _use_one(self, played: OneResult) -> None:
        """The same as many matches, in a fifth of the time: columns are filled and not made."""
        ratings = self._begun()
        around, levels, slots = self._around, self._levels(played.conditions), NO_LEVELS
        if around.conditions:
            slots = ratings.levels.row({name: (levels or {})[name] for name in around.conditions})
        index = ratings.name_index.index
        i, j = index.get(played.home), index.get(played.away)
        if i is None or j is None:
            i, j = ratings.place(played.home), ratings.place(played.away)
        if slots.size:
            ratings.grow()
        known, latest = ratings.known, ratings.latest
        call = self._call_among(known)
        # A match changes those who play it; the first one those who wait for it, and conditions their deviations too.
        both, common, others = call.rows(i, j), self._common.copy(), None
        if ratings.waiting or slots.size:
            others = ratings.saved(np.arange(len(ratings)) if ratings.waiting else [i, j])
        day = max(latest, 0) if played.number is None else played.number
        if ratings.waiting:
            ratings.arrive(day)
        ratings._latest = max(ratings._latest, day)
        call.say(played, i, j, day)
        noise, effects = ALIKE, NO_EFFECTS
        if around.noise_by:
            noise = np.array([around.noise.of_one(levels or {}, around.noise_by)])
        if around.effects:
            effects = around.columns(fixture(played.home, played.away, conditions=levels))
        if slots.size or noise.size or effects.size:
            columns = call.columns._replace(slots=slots, noise=noise, effects=effects)
            kernel, arguments = self._law.call(columns, known, self._common, self._law.room(1, None))
            kernel(*arguments)
        else:
            call.play()
        rating, variance = known.rating, known.variance
        if not math.isfinite(rating.item(i) + rating.item(j) + variance.item(i) + variance.item(j)):
            call.put_back(i, j, both)
            ratings._latest = latest
            self._refuse(others, common)

    def _call_among(self, known: Any) -> OneCall:
        """The call that rates, or forecasts, one match among these arrays."""
        call = self._one_call
        if call is None or not call.serves(self, known):
            call = self._one_call = OneCall(self, known)
        return call

    def _learn(self, matches: Matches, latest: Matches) -> None:
        """Rate the matches; where the noise depends on circumstances, by turns with its factors."""
        super()._learn(matches, latest)
        if self._around.noise_by:
            learn = super()._learn

            def again() -> None:
                self._reset()
                learn(matches, latest)

            settle_factors(self, lambda: self._find_noise(latest), again)

    def _find_noise(self, matches: Matches) -> NoiseFactors:
        """The factors of the noise, given the differences of strength with those found so far."""
        twin = copy.copy(self)
        twin.sharpness_walk = twin.ties_walk = 0.0
        twin._reset(dict(self.parameters_))
        settled = settled_slopes(twin, matches)
        trace, before = twin._play(matches, traced=True), twin._around.factors(matches)

        def losses(factors: Array) -> Array:
            return log_loss(twin._law.at_factors(trace, twin._common, before, factors), matches.result)

        return find_factors(self._around.noise_by, matches, losses, settled, self._noise)

    def _refuse(self, before: SavedRows | None, common: Array) -> NoReturn:
        """Go back from ratings that are no numbers any more."""
        if before is not None:
            self._state.put_back(before)
        self._common[:] = common
        raise self._out_of_range()

    def _out_of_range(self) -> OutOfRange:
        """What to say of ratings that are no numbers any more."""
        return OutOfRange(
            f"{self!r} leaves the range of numbers on these matches: its steps or spreads are too large. Nothing was "
            "changed; give smaller ones."
        )

    def _fresh(self, values: Mapping[str, float]) -> RatingTable:
        """The state before any match, and the law that moves it."""
        law = self._law_of(values)
        around = self._around
        effects = around.effects_before(EFFECT_WIDTH**2) if around.effects else around.first_effects
        common, table = law.common(effects), law.table()
        self._law, self._common = law, common
        return table

    def _place(self, start: Start, known: Any) -> None:
        self._law.place(start, self._state)

    def _conclude(self, matches: Matches, latest: Matches) -> None:
        self._show_learnt()
        if matches.kind.two_sided:
            measure_drift(self.ratings_, self.initial).warn()

    def _use(self, matches: Matches) -> None:
        self._play_or_refuse(matches, traced=False)

    def _parts(self, matches: Matches) -> Iterable[tuple[Matches, bool]]:
        """All of them: the kernel knows how far a day goes, and needs no part of its own for each."""
        return [(matches, False)]

    def _step_ahead(self, matches: Matches) -> Forecast:
        unknown = self._begun().find(matches).unknown
        chances, ratings = self._law.forecasts(self._play_or_refuse(matches, traced=True))
        return Forecast(chances, unknown, matches, ratings)

    def _ahead(self, matches: Matches) -> tuple[Ahead, tuple[str, ...]]:
        """What is believed of matches to come, and names never met."""
        indices = self._state.find(matches)
        return self._law.ahead(self._columns(matches, indices), self._state, self._common), indices.unknown

    def _foresee(self, matches: Matches) -> Forecast:
        ahead, unknown = self._ahead(matches)
        return Forecast(ahead.chances, unknown, matches, ahead.ratings)

    def _foresee_one(self, match: Matches) -> Forecast:
        """The same in half of the time: columns are filled and not made, and code is looked up once."""
        if self._around.asked:
            return self._foresee(match)
        state = self._begun()
        home, away = places = [state.place_played(name) for name in match.teams]
        believed = self._call_among(state.known).ahead(home, away, match.day.item(), match.neutral.item())
        unknown = tuple(name for name, at in zip(match.teams, places) if at < 0)
        return Forecast(believed.chances, unknown, match, believed.ratings)

    def _gaps(self, matches: Matches) -> Gaps:
        ahead, unknown = self._ahead(matches)
        return Gaps(ahead.z, ahead.doubt, unknown)

    def _chances(self, gaps: Array, /) -> Array:
        return self._law.chances(gaps, None, self._common)

    def _chances_believed(self, mean: Array, variance: Array) -> Array:
        return self._law.chances(mean, variance, self._common)

    @property
    def ratings_(self) -> pl.DataFrame:
        """Name, rating, uncertainty, matches and last_played of everyone who has played, the best first.

        Uncertainty is that of the day of the last match: it has grown for those who rested since.
        """
        ratings = self._begun()
        return self._law.shown(ratings)

    def _unidentified_parameters(self, matches: Matches) -> Mapping[str, float]:
        """No ties without a draw, no home advantage where no venue or order of sides can tell of it."""
        check_matches(matches)
        unidentified: dict[str, float] = {}
        if not np.any(np.abs(matches.signed) < 1):
            unidentified["ties"] = 0.0
        if matches.neutral.all() or not self._order.home:
            unidentified["home_advantage"] = 0.0
        if self.home_advantage is not None or "home_advantage" in unidentified:
            unidentified["home_step"] = 0.0
        return unidentified

    def _add_points(self, name: str, points: float) -> None:
        """Let a side that is rated have so many points more."""
        place = self._place_of(name)
        self._state.known.rating[place] += number("points", points) * self._unit_of_points

    @property
    def _slots(self) -> SideSlots:
        """What a book keeps of every side, and of all."""
        return SideSlots(self)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays."""
        arrays = {"numbers": np.array(self._numbers), "common": self._common}
        if self._keeps_found:
            spread = self._found_spread or USUAL_SPREAD * self._own_points
            arrays["found"] = np.array([np.nan_to_num(self._margin_unit), spread, self._target_square])
        return {**super().to_arrays(), **arrays, **self._around.to_arrays(EFFECT_WIDTH**2)}

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        if self._keeps_found:
            unit, self._found_spread, self._target_square = stored(arrays, "found", "f", (3,), 0.0).tolist()
            self._margin_unit = unit or math.nan  # a unit of 0 stands for none
        self._circumstances = self._around.from_arrays(arrays)
        super().from_arrays(arrays)
        numbers = arrays["numbers"].tolist()
        self._common = common_stored(stored(arrays, "common", "f", (ANY,)), self._common.size)
        if any(map(math.isnan, numbers)):
            raise InputError("The array 'numbers' of a stored state holds numbers out of range.")
        follows = self._numbers.ties_walk
        self._numbers = type(self._numbers)(*numbers)._replace(ties_walk=follows)


@dataclass(frozen=True)
class SideSlots(StoredSlots):
    """Rows of sides, and home advantage, κ and the like shared by all."""

    rater: SideRater

    def moves_shared(self, matches: Any) -> bool:
        """Whether anything that all share is learnt as matches go by, or levels of conditions are met."""
        learnt = ("home_step", "home_wide", "ties_walk", "margin_weight", "learns_ties", "sharpness_walk")
        return bool(self.rater._around.conditions or self.rater._around.effects) or any(
            getattr(self.rater._numbers, name, 0.0) > 0.0 for name in learnt
        )

    def met(self, matches: Any) -> list[Key]:
        """Both sides of every match, or the entrants of contests."""
        return [(SIDE, name) for name in matches._appearing]

    def has(self, key: Key) -> bool:
        """Whether a side is known."""
        return key[1] in self.rater._begun().name_index.index

    def rows(self, keys: Sequence[Key] | None = None) -> list[SlotRow]:
        """Rating, variance, matches and last day of sides, and what else differs from a newcomer's."""
        return self.rater._begun().slot_rows(SIDE, None if keys is None else [name for _, name in keys])

    def take(self, rows: Iterable[SlotRow]) -> None:
        """Put rows in."""
        rows = list(rows)
        if any(row.kind != SIDE for row in rows):
            raise InputError(f"The table slot holds kinds that {type(self.rater).__name__} does not rate.")
        self.rater._begun().take_slots(rows)

    def shared(self) -> dict[str, Any]:
        """What all share, and the levels of conditions met."""
        levels = getattr(self.rater._begun(), "levels", None)
        kept: dict[str, Any] = {"common": self.rater._common.tolist()}
        return kept | ({"levels": levels.to_array().tolist()} if levels is not None and levels.conditions else {})

    def take_shared(self, shared: dict[str, Any], latest: int | None) -> None:
        """Take over what all share."""
        state = self.rater._begun()
        self.rater._common = common_stored(numbers_shared(shared, "common"), self.rater._common.size)
        if "levels" in shared and getattr(state, "levels", None) is not None:
            state.levels.from_array(np.array(texts_shared(shared, "levels") or [""]))
            state.grow()
        state.waiting, state._latest = False, NEVER if latest is None else latest

    def supposed(self) -> dict[Key, int]:
        """Matches that settled sides are supposed to have played."""
        state = self.rater._begun()
        return {(SIDE, name): int(games) for name, games in zip(state.name_index.names, state.before) if games}

    def points(self) -> Points:
        """Ratings are points, counted from where newcomers begin."""
        unit = self.rater._unit_of_points
        return Points(0.0 if unit == 1.0 else self.rater.initial, 1.0 / unit)
