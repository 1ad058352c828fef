"""What raters with normal beliefs share: how a match is seen, and how a belief becomes a forecast.

A match shows ``y = sign(m) |m / u|^p`` of its margin ``m``, with ``u`` the running mean size of margins, whatever the
result was; without a score it shows the result. Where ``y`` is believed to lie around ``μ`` with variance ``V``,
besides the noise of a match, ``P(win) = Φ((κμ − c)/√(1 + κ²dV))``, ``P(loss) = Φ((−κμ − c)/√(1 + κ²dV))``
and the rest is a draw: the exact expectation of a normal performance over the belief; ``d`` (doubt) says how much more
uncertain strengths are than the filter believes.

The noise of a match needs no search. A filter whose variances are all multiplied by ``s²`` has the same means, so the
other parameters are sought in units of the noise, and the noise is then the ``s`` for which surprises
``(y − μ)/√(V + noise²)`` have mean square 1. The walk is averaged over what the matches leave open
(:mod:`kinelo.raters.random_walk`), and ``u`` forgets as soon as margins ask for it (:mod:`kinelo.raters.margins`).
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtri

from kinelo.errors import InputError, warn
from kinelo.forecasts.fit import WARM_UP, Slopes, estimate, settled_slopes
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Estimates, Parameter, check_number, estimated
from kinelo.forecasts.scores import log_loss
from kinelo.matches.dated import Day, read_day
from kinelo.matches.day_order import first_of_each
from kinelo.matches.fixtures import fixtures
from kinelo.matches.matches import Matches, SideOrder, check_matches
from kinelo.model.outcome import CHESS_NU
from kinelo.raters import reading
from kinelo.raters.band import band_of, band_walk, with_band
from kinelo.raters.batches import moved_twins, slopes_of
from kinelo.raters.covariates import FIRST_DOUBT, WIDE_EFFECT, settled_effects
from kinelo.raters.filter.active import NO_ACTIVE, Active, mean_active
from kinelo.raters.filter.alone import NO_DAYS, NO_SIDES, Days, MatchRoom, expected_alone, filter_alone
from kinelo.raters.filter.alone import room_for as room_for_work
from kinelo.raters.filter.belief import TODAY
from kinelo.raters.filter.draws import Forecasting, PossibleTruths
from kinelo.raters.filter.entries import NO_ENTRIES, NO_ROTATIONS, observed
from kinelo.raters.filter.kinds import Kind, Kinds, kinds_of_batch
from kinelo.raters.filter.smoother import backwards, check_room, smooth
from kinelo.raters.filter.state import FIXED_SLOTS, HOME, MOST_TOGETHER, NEUTRAL, STRENGTH, Lists, SlotState, too_many
from kinelo.raters.filter.together import (
    BLOCK,
    Room,
    Steps,
    expected_together,
    filter_together,
    room_for,
    steps,
)
from kinelo.raters.margins import MEMORY, MarginLaw, choose_memory, first_unit, running_unit
from kinelo.raters.noise import NoiseFactors, find_factors, settle_factors
from kinelo.raters.one_match import Gaps
from kinelo.raters.random_walk import average_walk
from kinelo.raters.rater import Learnt, Rater, Traits
from kinelo.raters.reading import READING, Reading
from kinelo.raters.start import Start
from kinelo.raters.state import SPREAD_PREFIX
from kinelo.raters.stored import ANY, stored, taken_whole
from kinelo.runtime.device import usable_processors

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

TURNS = 4

VENUE_VARIANCE = 1.0
"""Variance of a venue's advantage before any match, in units of the noise: wide, so that the matches decide."""

MARGIN_POWER = partial(estimated, 0.7, 0.1, 1.5, True, "power of the margin that the update sees")
SHARPNESS = partial(estimated, 1.2, 0.1, 5.0, True, "how steeply the forecast follows the strengths")
MATCH_NOISE = partial(
    estimated, 1.0, 0.05, 20.0, True, "luck of a match: spread of performances around strengths", above_zero=True
)
FILTER_DOUBT = partial(
    estimated, 1.0, 0.25, 4.0, True, "factor on the variance of a strength, in forecasts", prior_counts=True
)
NARROWEST_DRAW_BAND, WIDEST_DRAW_BAND = 1e-6, 3.0
BAND_WIDTH = partial(
    estimated, 0.35, NARROWEST_DRAW_BAND, WIDEST_DRAW_BAND, True, "how close two performances must be for a draw"
)

MOST_WORK = 4e9
"""Matches times rows of the covariance squared beyond which the parameters of the filter are sought without it."""

MOST_UNTRIED, MICROSECONDS = 300, 4.5e-4
"""Rows beyond which a covariance is not kept where nothing is estimated, and what a match costs per row squared."""

MOST_PASS = 4e10
"""The same beyond which not one pass with the covariance is tried."""


class GaussianRater(Rater):
    """A rater that filters the matches once (:mod:`kinelo.raters.filter`), and reads beliefs as forecasts.

    It says which kinds of slots there are, and of which entries a match consists.
    """

    _traits = Traits(follows_matches=True)
    initial: float
    _margin_unit: float = math.nan
    _memory: float = float(MEMORY)
    _margin_law: MarginLaw = MarginLaw()
    look: int | None
    _level_draws: float | None = None
    _near: Estimates | None = None
    _unit: float = math.nan
    _in_noises: bool = False
    _own_table: tuple[Any, Kinds] | None = None
    _numbers: tuple[list[Kind], float]
    _made: dict[Any, tuple[Matches, SlotState, Lists]]
    _reading_state: Array
    noise: float | None
    ties: float | None
    ties_walk: float | None
    sharpness_walk: float
    _spread_names: ClassVar[tuple[str, ...]] = ()
    """Parameters that are measured in the unit of the noise."""

    covariance: Any
    covariance_: str = ""
    _row_noun: ClassVar[str] = "sides"
    """What a row of the covariance stands for."""
    _state: Any

    @abstractmethod
    def _kinds(self, values: Mapping[str, float]) -> list[Kind]:
        """The table of kinds of slots."""

    @abstractmethod
    def _lists(self, matches: Matches, keep: bool) -> Lists:
        """Entries of matches in order; whoever is new is given a slot where they are to be used."""

    @abstractmethod
    def _rows_needed(self, matches: Matches) -> int:
        """How many rows a covariance would have after these matches."""

    def _numbers_of(self, values: Mapping[str, float]) -> tuple[list[Kind], float]:
        """Kinds of slots and the variance of the noise."""
        if not isinstance(self.covariance, str) or self.covariance not in ("auto", "full", "diagonal"):
            raise InputError(f"covariance={self.covariance!r} is not known; it is 'auto', 'full' or 'diagonal'.")
        return self._kinds(values), values["noise"] ** 2

    def _table_of(self, batch: Sequence[Any]) -> Kinds:
        """Kinds of slots of several raters side by side; of this one alone, made once."""
        if len(batch) == 1:
            numbers = batch[0]._numbers
            if self._own_table is None or self._own_table[0] is not numbers:
                self._own_table = (numbers, kinds_of_batch([numbers[0]], [numbers[1]]))
            return self._own_table[1]
        return kinds_of_batch([member._numbers[0] for member in batch], [member._numbers[1] for member in batch])

    def _run(
        self, matches: Matches, y: Array, sides: Array = NO_SIDES, days: Days = NO_DAYS
    ) -> tuple[Array, Array, tuple[str, ...]]:
        """Use the matches, which show ``y``, in order: mean and variance expected of each, and names never met.

        ``sides`` (matches, 2), where it has rows, receives strengths of both sides before each match, and ``days`` what
        is expected of matches that are forecast together.
        """
        lists, full = self._lists(matches, keep=True), self._state.full
        active = self._active(len(sides)) if sides.size else NO_ACTIVE  # to find them takes all sides
        room: dict[str, Any] = {"sides": sides, "days": days, "active": active}
        if full:
            rows = len(self._state.beliefs.C)
            beliefs = self._together(matches, y, lists, room_for(rows, 1, lists.ahead, lists.played, **room))
        else:
            beliefs = self._alone(matches, [self], [y], lists, room_for_work(lists.ahead, lists.played, **room))[0]
        if active is not NO_ACTIVE:
            sides -= active.mean[first_of_each(days.until) if days.until.size else slice(None), None]
        return *beliefs, lists.unknown

    def _active(self, matches: int) -> Active:
        """Those from whose mean ratings count before so many matches, and now; nobody where they are absolute."""
        return NO_ACTIVE

    def _expect(self, matches: Matches, sides: Array = NO_SIDES) -> tuple[Array, Array, tuple[str, ...]]:
        """The same for matches from the state as it stands, which is left alone."""
        lists = self._lists(matches, keep=False)
        ahead = lists.ahead if lists.ahead.offsets.size else lists.played
        state = self._state.as_seen_on(int(matches.day[0])) if len(matches) else self._state
        table = self._table_of([self])
        if state.full:
            mean, variance = expected_together(matches.day, ahead, table, state.beliefs, lists.rotations, sides)
        else:
            batch = expected_alone(matches.day, ahead, table, state.in_batch(), lists.rotations, sides)
            mean, variance = (values[:, 0] for values in batch)
        active = self._active(0) if sides.size else NO_ACTIVE
        if active is not NO_ACTIVE:
            sides -= mean_active(active)
        return mean, variance, lists.unknown

    def _together(self, matches: Matches, y: Array, lists: Lists, room: Room) -> tuple[Array, Array]:
        """Use the matches with the covariance: mean and variance expected of each."""
        seen = observed(matches.day, self._filter_weight(matches), y)
        table, beliefs = self._table_of([self]), self._state.beliefs
        filter_together(seen, lists.ahead, lists.played, lists.rotations, table, beliefs, room)
        return seen.mean, seen.variance

    def _alone(
        self, matches: Matches, batch: Sequence[Any], signals: Sequence[Array], lists: Lists, work: MatchRoom
    ) -> list[tuple[Array, Array]]:
        """Let raters with these numbers use the matches without covariance, side by side; the first is this one."""
        count, state = len(batch), self._state
        s = state.in_batch(count)
        for q, member in enumerate(batch[1:], 1):  # they begin where their numbers say
            own = member._state.beliefs
            s.x[: state.fixed, q], s.v[: state.fixed, q] = own.x[: state.fixed], own.v[: state.fixed]
        y = np.column_stack(signals) if count > 1 else signals[0][:, None]
        seen = observed(matches.day, self._filter_weight(matches), y)
        filter_alone(seen, lists.ahead, lists.played, lists.rotations, self._table_of(batch), s, work)
        if count > 1:
            state.beliefs.x[: state.size], state.beliefs.v[: state.size] = s.x[:, 0], s.v[:, 0]
        return [(seen.mean[:, q].copy(), seen.variance[:, q].copy()) for q in range(count)]

    def _lists_made_once(self, matches: Matches) -> Lists:
        """Entries of the matches from a fresh start, kept for the next time that a search asks for them."""
        key = (id(matches), self._state.full, self._entry_key())
        made = vars(self).setdefault("_made", {})
        if key not in made:
            lists = self._lists(matches, keep=True)
            before = copy.copy(self._state)
            before.beliefs = before.beliefs._make(map(np.copy, before.beliefs._replace(C=np.empty((0, 0)))))
            self._made[key] = (matches, before, lists)
            return lists
        self._state.adopt(self._made[key][1])
        return self._made[key][2]

    def _entry_key(self) -> Any:
        """Raters with the same key make the same entries of matches."""
        return None

    def _filter_batch(
        self, matches: Matches, batch: Sequence[Any], signals: Sequence[Array]
    ) -> list[tuple[Array, Array]]:
        """Let raters that differ in their parameters alone use the matches: mean and variance each expects of them.

        For the search alone, so rounding may differ.
        """
        groups: dict[Any, list[int]] = {}
        for k, member in enumerate(batch):
            groups.setdefault(k if self._state.full else member._entry_key(), []).append(k)

        def use(group: list[int]) -> list[tuple[Array, Array]]:
            first = batch[group[0]]
            lists = first._lists_made_once(matches)
            if first._state.full:
                room = room_for(len(first._state.beliefs.C), BLOCK, lists.ahead, lists.played)
                return [first._together(matches, signals[group[0]], lists, room)]
            work = room_for_work(lists.ahead, lists.played)
            return first._alone(matches, [batch[k] for k in group], [signals[k] for k in group], lists, work)

        results: dict[int, tuple[Array, Array]] = {}
        with ThreadPoolExecutor(usable_processors()) as pool:
            for group, several in zip(groups.values(), pool.map(use, groups.values())):
                results |= dict(zip(group, several))
        return [results[k] for k in range(len(batch))]

    def _prepare(self, matches: Matches) -> None:
        drawn = float(np.mean(1.0 - np.abs(matches.signed)))
        self._level_draws = drawn if 0.0 < drawn < 0.9 else None
        self._margin_unit, self._memory = first_unit(matches.margin), float(MEMORY)
        if drawn == 1.0 and math.isnan(self._margin_unit) and len(matches) > 1:
            warn(f"All {len(matches):,} matches are drawn, which tells nothing of who is stronger: ± is a guess.")
        self.covariance_, self._made = self._covariance_to_try(matches), {}
        if self._around.asked or self._around.effects:
            self._circumstances = self._around.fitted(self._effect_numbers(matches))

    def _conclude(self, matches: Matches, latest: Matches) -> None:
        again = copy.copy(self)
        again._reset(dict(self.parameters_))
        self._made = {}
        self._margin_law = MarginLaw.of(again._surprises(latest)[int(WARM_UP * len(latest)) :])

    def _covariance_to_try(self, matches: Matches) -> str:
        """What the user asks for, or ``"auto"`` where both are worth a trial on these matches."""
        if not isinstance(self.covariance, str) or self.covariance not in ("auto", "full"):
            return self.covariance
        rows = self._rows_needed(matches)
        if self.covariance == "full":
            if rows > MOST_TOGETHER:
                raise too_many(rows)
            return "full"
        if rows > MOST_TOGETHER or len(matches) * float(rows) ** 2 > MOST_PASS:
            slowly = "; covariance='full' keeps it all the same, slowly" if rows <= MOST_TOGETHER else ""
            warn(
                f"{rows:,} {self._row_noun} in {len(matches):,} matches are too many to keep how strengths are "
                f"connected: covariance='diagonal' is used{slowly}."
            )
            return "diagonal"
        settled = self._unidentified_parameters(matches)
        if any(p.name not in settled for p in self._open_parameters()):
            return "auto"
        if rows > MOST_UNTRIED:  # nothing is sought, so that nothing says whether it pays
            warn(
                f"covariance='full' would keep how the strengths of {rows:,} {self._row_noun} are connected, at some "
                f"{rows**2 * MICROSECONDS:,.0f} µs a match, and as all parameters are given nothing says whether that "
                "pays: covariance='diagonal' is used. Say which of the two you want."
            )
            return "diagonal"
        return "full"

    def _learn(self, matches: Matches, latest: Matches) -> None:
        """Rate the matches; where the noise depends on circumstances, by turns with its factors."""
        self._find_first_effects(latest)
        self._learn_ratings(matches, latest)
        if self._around.noise_by:
            settle_factors(self, lambda: self._find_noise(latest), lambda: self._learn_again(matches, latest))

    def _learn_again(self, matches: Matches, latest: Matches) -> None:
        """Rate the matches with other factors of the noise, from where the last search ended."""
        self._made, self._near, estimates = {}, self.estimates_, self.estimates_
        self._reset(None if estimates is None else estimates.values)
        self._learn_ratings(matches, latest)
        self._near = None

    def _find_noise(self, matches: Matches) -> NoiseFactors:
        """The factors of the noise, given what is expected of the matches with those found so far."""
        twin = copy.copy(self)
        twin.sharpness_walk = twin.ties_walk = 0.0
        long = len(matches) * float(self._rows_needed(matches)) ** 2 > MOST_WORK
        other = twin._with_covariance("diagonal") if long else twin
        other._reset(dict(self.parameters_))
        settled = settled_slopes(other, matches)
        twin._reset(dict(self.parameters_))
        mean, variance, _ = twin._expected(matches)
        twin.noise_by = ()  # what is expected stands, and factors are tried

        def losses(factors: Array) -> Array:
            twin._reading_state = reading.fresh_state()
            return log_loss(twin._forecast_in_order(mean / factors, variance / factors**2, matches), matches.result)

        return find_factors(self._around.noise_by, matches, losses, settled, self._noise)

    def _learn_ratings(self, matches: Matches, latest: Matches) -> None:
        """Rate the matches with the covariance or without it, whichever forecasts them better.

        Where one pass with it would take seconds, only how beliefs are read as forecasts is estimated with it, and all
        else without it.
        """
        if self.covariance_ != "auto":
            super()._learn(matches, latest)
            return
        alone = self._with_covariance("diagonal")
        if self._open_parameters():
            super(GaussianRater, alone)._learn(matches, latest)
        together = alone._with_covariance("full")
        together._near = alone.estimates_
        if alone.estimates_ and len(matches) * float(self._rows_needed(matches)) ** 2 > MOST_WORK:
            # The sharpness stands still, as in a search. Where ratings begin depends on how they are read: that too.
            still, values = copy.copy(together), alone.estimates_.values
            still.sharpness_walk = still.ties_walk = 0.0
            if together.start is not None:
                vars(still).update({name: values.get(name, together.parameters_[name]) for name in READING})
            together.estimates_ = reading.refit_reading(still, alone.estimates_, latest)
            together._reset(together.estimates_.values)
            together._use(matches)
        else:
            super(GaussianRater, together)._learn(matches, latest)
        likelihood = [rater.estimates_.log_likelihood for rater in (alone, together) if rater.estimates_]
        vars(self).update(vars(alone if likelihood and likelihood[0] > likelihood[-1] else together), _near=None)

    def _with_covariance(self, covariance: str) -> Self:
        """A copy that keeps the covariance or does not, before any match."""
        twin = copy.copy(self)
        twin.covariance_ = covariance
        twin._reset()
        return twin

    def _keeps_covariance(self) -> bool:
        """Whether the state to come keeps the covariance."""
        return (self.covariance_ or self.covariance) != "diagonal"

    def _needs_whole_table(self) -> str:
        """The covariance of everyone grows with their square."""
        if self.covariance == "diagonal":
            return ""
        rows = self._row_noun
        return f"covariance={self.covariance!r} may keep a number for every two {rows}; say covariance='diagonal'"

    def _search(self, matches: Matches) -> Estimates:
        """Estimate the open parameters; the noise follows from the others, and the sharpness stands still."""
        self._made = getattr(self, "_made", {})
        if self.sharpness_walk > 0.0 or self.ties_walk != 0.0:
            still = copy.copy(self)
            still.sharpness_walk = still.ties_walk = 0.0
            estimates = still._search(matches)
            self._memory = still._memory
            return estimates
        if self.noise is not None:
            twin = copy.copy(self)
            estimates = twin._seek(matches)
            self._memory = twin._memory
            return estimates
        start = self._start()
        given = start is not None and bool(np.isfinite(start.deviation).any())
        if given or any(getattr(self, name, None) is not None for name in self._spread_names):
            # The noise cannot be the unit of spreads that are given: both are sought by turns.
            twin, estimates = copy.copy(self), Estimates({}, {}, 0.0, 0)
            twin.noise = 1.0
            for _ in range(TURNS):
                twin._reset()
                if twin._open_parameters():
                    estimates = twin._seek(matches)
                twin._reset(estimates.values)
                twin.noise = float(twin.noise or 1.0) * math.sqrt(twin._surprise_square(matches))
            noise, self._memory = float(twin.noise), twin._memory
            twin._reset(estimates.values)
            skipped = int(WARM_UP * len(matches))
            loss = log_loss(twin.one_step_ahead(matches).probabilities[skipped:], matches.result[skipped:]).sum()
            count = len(matches) - skipped
            values = estimates.values | {"noise": noise}
            return replace(estimates, values=values, log_likelihood=-float(loss), matches=count)
        twin = copy.copy(self)
        twin.noise, twin._in_noises = 1.0, True
        estimates = twin._seek(matches)
        self._memory = twin._memory
        twin._reset(estimates.values)
        noise = math.sqrt(twin._surprise_square(matches))
        factor = {name: noise if self._in_unit(name) else 1.0 for name in estimates.values}
        errors = {name: value * factor[name] for name, value in estimates.standard_errors.items()}
        return replace(
            estimates,
            values={name: value * factor[name] for name, value in estimates.values.items()} | {"noise": noise},
            standard_errors=errors,  # not of the noise: the luck of margins is but a part of its error
        )

    def _seek(self, matches: Matches) -> Estimates:
        """The open parameters but for the noise, and the memory of the unit; the rater forgets what it has seen."""
        self._memory, near = float(MEMORY), None
        if self._near is not None:  # begin where the search without covariance ended, in the units of this one
            unit = self._near.values["noise"] if self._in_noises else 1.0
            near = {name: value / (unit if self._in_unit(name) else 1.0) for name, value in self._near.values.items()}
        found = estimate(self, matches, near=near)
        return choose_memory(self, average_walk(self, found, matches), matches)

    def _in_unit(self, name: str) -> bool:
        """Whether a parameter is measured in the unit of the noise."""
        return name in self._spread_names or name.startswith(SPREAD_PREFIX)

    def _surprise_square(self, matches: Matches) -> float:
        """Mean square of the standardised surprises that are scored, after a reset; 1 of draws alone."""
        if not np.any(matches.signed) and not np.any(np.nan_to_num(matches.margin)):
            return 1.0
        surprises = self._surprises(matches)[int(WARM_UP * len(matches)) :]
        return float(np.mean(surprises[np.isfinite(surprises)] ** 2)) or 1.0

    def _fixed(self, level: tuple[float, float]) -> list[tuple[float, float]]:
        """Mean and variance, before any match, of the newcomers' level and of the advantages at home and of the first
        on neutral ground; what is certain is never learnt.
        """
        wide = VENUE_VARIANCE * self.parameters_["noise"] ** 2
        venues = (0.0, wide if self._order.home else 0.0), (0.0, wide if self._order.neutral else 0.0)
        noise = self.parameters_["noise"] ** 2
        return [
            level,
            *venues,
            *((mean, variance * noise) for mean, variance, _ in self._around.effects_before(WIDE_EFFECT).tolist()),
        ]

    def _venue_kinds(self, walk: float) -> list[Kind]:
        """Kinds of the advantages at home and on neutral ground, whose variance grows by ``walk`` a year."""
        return [Kind(walk=walk if there else 0.0) for there in (self._order.home, self._order.neutral)]

    def _condition_kinds(self, values: Mapping[str, float]) -> list[Kind]:
        """Kinds of the levels of conditions."""
        return [Kind(prior=values[SPREAD_PREFIX + name] ** 2, apart=True) for name in self._around.conditions]

    def _effect_kinds(self, values: Mapping[str, float]) -> list[Kind]:
        """Kinds of the covariates: as wide as the advantages of venues, and drifting like them."""
        kind = Kind(walk=values["venue_walk"] ** 2, effect=True)
        return [kind] * len(self._around.effects)

    def _effect_numbers(self, matches: Matches, ahead: bool = False) -> Array:
        """The numbers of every match (matches, effects), as they are known ``ahead`` of it or after it."""
        return self._around.numbers(matches)

    def _effect_columns(self, matches: Matches, ahead: bool = False) -> Array:
        """The same in their units."""
        around = self._around
        return self._effect_numbers(matches, ahead) / around.units if around.effects else np.empty((len(matches), 0))

    def _effect_beliefs(self) -> tuple[Array, Array]:
        state = self._begun()
        variance = np.diagonal(state.beliefs.C) if state.full else state.beliefs.v
        points, slots = self._points_per_unit, slice(FIXED_SLOTS, state.fixed)
        return points * state.beliefs.x[slots], points * np.sqrt(variance[slots])

    def _without_effects(self) -> Self:
        """A copy that knows of no effects."""
        twin = copy.copy(self)
        twin.covariates = ()
        return twin

    def _find_first_effects(self, matches: Matches) -> None:
        """Begin with what covariates are worth to strengths that stay, given all of the matches at once."""
        if not self._around.effects:
            return
        twin = self._without_effects()
        twin._reset()
        entries, state = twin._lists(matches, keep=True).played, twin._state
        counts = np.array([kind.counts for kind in twin._numbers[0]])[state.beliefs.kind[: state.size]]
        counts[[HOME, NEUTRAL]] = True
        shares = csr_array((entries.share, entries.slot, entries.offsets), shape=(len(matches), state.size))
        found = settled_effects(shares, counts, self._effect_columns(matches), twin._signal(matches))
        found[:, 1] = np.minimum(FIRST_DOUBT**2 * found[:, 1], WIDE_EFFECT)
        found[:, 0] = np.where(found[:, 1] < WIDE_EFFECT, found[:, 0], 0.0)
        self._circumstances = replace(self._around, first_effects=found)
        self._reset()

    def _place(self, start: Start, known: Any) -> None:
        points, doubt, state = self._points_per_unit, self.parameters_["doubt"] or 1.0, self._state
        prior, slots = self._numbers[0][STRENGTH].prior, state.own[: len(start.names)]
        variance = np.where(np.isnan(start.deviation), prior, (start.deviation / points) ** 2 / doubt)
        state.beliefs.x[slots], state.beliefs.v[slots] = (start.rating - self.initial) / points, variance
        if state.full:  # independent of each other
            rows = state.beliefs.row[slots]
            state.beliefs.C[rows, rows] = variance

    def _smoothed(self, matches: Matches, stops: Sequence[int]) -> list[tuple[SlotState, Array, Array]]:
        """After the first ``stops[0]``, ``stops[1]``, … of these matches: the state, and mean and covariance by row of
        all strengths given all of the matches.

        The parameters are taken as they stand and the covariance is kept; the rater forgets what it has seen.
        """
        self.covariance_ = "full"
        self._reset(dict(self.parameters_))
        self._check_usable(matches)
        lists, y, state = self._lists(matches, keep=True), self._signal(matches), self._state
        rows, played = len(state.beliefs.C), lists.played
        check_room(len(matches), rows, len(stops))
        steps_made, then, done = steps(len(matches), played.slot.size, rows), [], 0
        for stop in stops:
            at, to = played.offsets[done], played.offsets[stop]
            of_matches, of_entries = steps_made[:3], steps_made[3:]
            out = Steps._make([*(part[done:stop] for part in of_matches), *(part[at:to] for part in of_entries)])
            part = lists._replace(ahead=NO_ENTRIES, rotations=NO_ROTATIONS, played=played.of(done, stop))
            room = room_for(rows, BLOCK, part.played, steps=out)
            self._together(matches[done:stop], y[done:stop], part, room)
            then.append(copy.deepcopy(state))
            done = stop
        r, N, smoothed, later = np.zeros(rows), np.zeros((rows, rows)), [], done
        counts = np.array([kind.counts for kind in self._numbers[0]])[state.beliefs.kind]
        for stop, seen in zip(reversed(stops), reversed(then)):
            backwards(stop, later, played, counts, state.beliefs.row, steps_made, r, N)
            x, at = np.zeros(rows), seen.beliefs.row >= 0
            x[seen.beliefs.row[at]] = seen.beliefs.x[at]
            smoothed.append((seen, *smooth(x, seen.beliefs.C, r, N)))
            later = stop
        return smoothed[::-1]

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters to be estimated; the search for the draw band begins where equal sides would draw as all do."""
        share = self._level_draws
        if share is None:
            return super()._open_parameters()
        band = min(max(float(ndtri(0.5 + share / 2)), NARROWEST_DRAW_BAND), WIDEST_DRAW_BAND)
        return tuple(replace(p, default=band) if p.name == "ties" else p for p in super()._open_parameters())

    def _unidentified_parameters(self, matches: Matches) -> Mapping[str, float]:
        """No ties without a draw, no power of margins without scores."""
        check_matches(matches)
        unidentified: dict[str, float] = {}
        if not np.any(np.abs(matches.signed) < 1):
            unidentified["ties"] = 0.0
        if not np.any(np.abs(matches.margin) > 0):
            unidentified["margin_power"] = 1.0
        return unidentified

    def _reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and settle the parameters."""
        self._unit = self._margin_unit
        self._reading_state = reading.fresh_state()
        super()._reset(estimated)

    def _step_ahead(self, matches: Matches) -> Forecast:
        sides, days = np.empty((len(matches), 2)), self._room_for_days(matches)
        mean, variance, unknown = self._expected(matches, sides, days)
        said = self._forecast_in_order(mean, variance, matches, days)
        return Forecast(said, unknown, matches, self.initial + self._points_per_unit * sides)

    def _use(self, matches: Matches) -> None:
        """The same without the forecasts, which still teach how bold they are to be."""
        mean, variance, _ = self._expected(matches)
        self._forecast_in_order(mean, variance, matches)

    @property
    def _reading(self) -> Reading:
        """How beliefs are read as forecasts."""
        values = self.parameters_
        return Reading._make(
            [*(values[name] for name in READING), band_walk(self), float(self.sharpness_walk), float(self._learns_ties)]
        )

    def _forecast_in_order(self, mean: Array, variance: Array, matches: Matches, days: Days = NO_DAYS) -> Array:
        """Forecast matches in order from what was expected of them, and learn how bold and how level they were."""
        f = self._around.factors(matches)
        mean, variance = mean / f, variance / f**2
        if days is not NO_DAYS:
            days = days._replace(mean=days.mean / f, variance=days.variance / f**2)
        chances, seen = np.empty((mean.size, 3)), (matches.signed, matches.weight, self._reading, self._reading_state)
        if days is NO_DAYS:
            reading.read_in_order(mean, variance, *seen, chances)
        else:
            reading.read_by_days(mean, variance, days, *seen, chances)
        return chances

    def _room_for_days(self, matches: Matches) -> Days:
        """Room for what is expected of matches that are forecast together, where the filter is to do that."""
        return NO_DAYS

    def _expected(
        self, matches: Matches, sides: Array = NO_SIDES, days: Days = NO_DAYS
    ) -> tuple[Array, Array, tuple[str, ...]]:
        """Use the matches in order: mean and variance expected of each, without its noise, and names never met."""
        self._begun()
        y = self._signal(matches)
        mean, variance, unknown = self._run(matches, y, sides, days)
        return mean, self._in_unit_of_noise(mean, variance, y, matches), unknown

    def _in_unit_of_noise(self, mean: Array, variance: Array, y: Array, matches: Matches) -> Array:
        """The variance where it is sought in units of the noise: times the mean square of surprises that are scored."""
        if not self._in_noises:
            return variance
        scored = slice(int(WARM_UP * len(matches)), None)
        return variance * np.mean((y - mean)[scored] ** 2 / (variance + self._noise_of(matches))[scored])

    def _losses(self, matches: Matches, skipped: int) -> Array:
        y = self._signal(matches)
        ((mean, variance),) = self._filter_batch(matches, [self], [y])
        return self._read_losses(mean, self._in_unit_of_noise(mean, variance, y, matches), matches, skipped)

    def _read_losses(self, mean: Array, variance: Array, matches: Matches, skipped: int) -> Array:
        said = self._forecast_in_order(mean, variance, matches)
        return log_loss(said[skipped:], matches.result[skipped:])

    def _slopes(self, matches: Matches, skipped: int) -> Slopes:
        """Derivatives of the losses of the matches from ``skipped`` on by the open parameters, after a reset."""
        if self.start is not None:  # where ratings begin depends on the parameters then
            return Slopes(np.empty((len(matches) - skipped, 0)), ())
        moves = moved_twins(self)
        filters = [self] + [move.twin for name, move in moves.items() if name not in READING]
        seen: dict[float, Array] = {}
        for member in filters:
            power = member.parameters_["margin_power"]
            seen[power] = seen[power] if power in seen else member._signal(matches)
        signals = [seen[member.parameters_["margin_power"]] for member in filters]
        expected = [
            (mean, member._in_unit_of_noise(mean, variance, y, matches))
            for member, y, (mean, variance) in zip(filters, signals, self._filter_batch(matches, filters, signals))
        ]
        batch = iter(expected[1:])
        readers = [(self, expected[0])]
        readers += [(move.twin, expected[0] if name in READING else next(batch)) for name, move in moves.items()]
        with ThreadPoolExecutor(usable_processors()) as pool:  # the kernels release the interpreter's lock
            here, *there = pool.map(lambda reader: reader[0]._read_losses(*reader[1], matches, skipped), readers)
        return slopes_of(here, there, moves)

    def _surprises(self, matches: Matches) -> Array:
        """Use the matches in order: how far what each showed lay from what was expected, in standard deviations."""
        self._begun()
        y = self._signal(matches)
        mean, variance, _ = self._run(matches, y)
        return (y - mean) / np.sqrt(variance + self._noise_of(matches))

    def _filter_weight(self, matches: Matches) -> Array:
        """What the filter takes the information of each match to be worth."""
        factors = self._around.factors(matches)
        return matches.weight if isinstance(factors, float) else matches.weight / factors**2

    def _noise_of(self, matches: Matches) -> Array:
        """Variance of the noise of each match, infinite where it has no weight."""
        with np.errstate(divide="ignore"):
            return self.parameters_["noise"] ** 2 / self._filter_weight(matches)

    def predict_margin(self, matches: Matches, level: float = 0.8) -> pl.DataFrame:
        """Margins expected of matches to come: the middle one, and between which two it lies with this probability.

        Margins are those of the file (results in [−1, 1] where it has none), seen from the home side. How far they lie
        from the middle is taken from the matches fitted (:mod:`kinelo.raters.margins`).
        """
        import polars as pl

        check_matches(matches)
        check_number("predict_margin", "level", level, 0.0, 1.0, above=True)
        self._begun()
        mean, variance, _ = self._expect(self._on_days(matches))
        reach = float(self._margin_law.surprise(ndtri(0.5 + level / 2.0))) * np.sqrt(
            variance + (self._around.factors(matches) * self.parameters_["noise"]) ** 2
        )
        bounds = {"low": mean - reach, "middle": mean, "high": mean + reach}
        return pl.DataFrame({name: self._margins(y) for name, y in bounds.items()})

    def _play_out(self, matches: Matches, draws: int, seed: int) -> tuple[NDArray[np.int8], Array]:
        """Play matches to come ``draws`` times: results (0 home win, 1 draw, 2 away win) and margins, a row per draw.

        Each draw has one truth about all strengths, drawn from what is believed of them and moving on. Line-ups that
        are known of earlier matches count as recent ones in later matches.
        """
        possible = self._possible(self._on_days(matches), draws, seed)
        outcome, shown = np.empty((draws, len(matches)), np.int8), np.empty((draws, len(matches)))
        factors = np.ones(len(matches)) * self._around.factors(matches)
        for g in range(len(matches)):
            outcome[:, g], shown[:, g] = possible.result(possible.total(g) / factors[g])
        shown *= factors
        size = np.maximum(np.round(np.abs(self._margins(shown))), 1.0)
        return outcome, np.where(outcome == 1, 0.0, np.sign(shown) * size)

    def _possible_strengths(self, names: Sequence[str], date: Day, draws: int, seed: int) -> Array:
        """Strengths of sides on a day, drawn from what is believed, a row per draw: ``Φ`` of a gap is a chance."""
        nobody = f"not {max(names, key=len, default='')}"  # longer than every name, so none of them
        against = fixtures(
            names, [nobody] * len(names), self._day_of(date), neutral=True, conditions=self._levels(None)
        )
        possible = self._possible(against, draws, seed)
        return self._sharpness * np.column_stack([possible.total(g, ours=True) for g in range(len(names))])

    def _possible(self, matches: Matches, draws: int, seed: int) -> PossibleTruths:
        """Possible truths of everyone in matches to come."""
        state, values, twin = self._begun(), self.parameters_, copy.copy(self)
        named = copy.copy(state)  # for which matches can make slots, without the covariance
        named.full, named.beliefs = False, state.beliefs._replace(C=np.empty((0, 0)))
        twin._state = named = copy.deepcopy(named)
        lists = twin._lists(matches, keep=True)
        entries = lists.ahead if lists.ahead.offsets.size else lists.played
        unmet = np.isin(entries.slot, named.under[:, len(state.levels) :])  # levels never met add nothing
        coming = (matches.day, entries._replace(share=np.where(unmet, 0.0, entries.share)), lists.rotations)
        manner = Forecasting(
            self._numbers[0], values["doubt"], self._sharpness, self._band, values["noise"], self._margin_law
        )
        return PossibleTruths(state, named, coming, manner, draws, np.random.default_rng([seed, 14]))

    def _margins(self, y: Array) -> Array:
        """Margins that would show this."""
        if math.isnan(self._unit):
            return y
        return self._unit * np.sign(y) * np.abs(y) ** (1.0 / self.parameters_["margin_power"])

    def _foresee(self, matches: Matches) -> Forecast:
        sides = np.empty((len(matches), 2))
        mean, variance, unknown = self._expect(matches, sides)
        ratings, f = self.initial + self._points_per_unit * sides, self._around.factors(matches)
        return Forecast(self._chances(mean / f, variance / f**2), unknown, matches, ratings)

    def _gaps(self, matches: Matches) -> Gaps:
        mean, variance, unknown = self._expect(matches)
        f = self._around.factors(matches)
        return Gaps(mean / f, self.parameters_["doubt"] * variance / f**2, unknown)

    def _chances(self, mean: Array, variance: Array | None = None) -> Array:
        """Chances of matches of which this is believed (nothing doubted), as things stand."""
        chances, nothing = np.empty((mean.size, 3)), np.zeros(mean.size)
        doubted = nothing if variance is None else variance
        # Matches without a weight teach nothing.
        reading.read_in_order(mean, doubted, nothing, nothing, self._reading, self._reading_state, chances)
        return chances

    def _chances_believed(self, mean: Array, variance: Array) -> Array:
        doubt = self.parameters_["doubt"]
        return self._chances(mean, variance / doubt if doubt else None)

    def _signal(self, matches: Matches) -> Array:
        """What the update sees of each match, while the unit of margins runs on; margins count only after ``fit``."""
        if math.isnan(self._unit):
            return matches.signed
        unit = np.empty(len(matches))
        self._unit = running_unit(matches.margin, self._unit, self._memory, unit)
        seen = np.abs(matches.margin / unit) ** self.parameters_["margin_power"]
        return np.where(np.isnan(matches.margin), matches.signed, np.sign(matches.margin) * seen)

    @property
    def learnt_(self) -> dict[str, Learnt]:
        """What follows the matches, as it is after those used, with standard errors (NaN: not known): the home
        advantage in rating points, the half width of the draw band (``ties``) and the ``sharpness`` of forecasts.
        """
        beliefs, points = self._begun().beliefs, self._points_per_unit
        width, error = self._band, math.nan
        if self._reading.ties_walk > 0.0:
            error = width * math.sqrt(band_of.py_func(self._reading_state, reading.BELIEF)[1])
        doubt = self.parameters_["doubt"] * self._begun().variance_of(HOME)
        return {
            "home_advantage": Learnt(float(points * beliefs.x[HOME]), points * math.sqrt(doubt)),
            "ties": Learnt(width, error),
            "sharpness": Learnt(self._sharpness, math.nan),
        }

    @property
    def _sharpness(self) -> float:
        """Sharpness of the forecasts after the matches used."""
        return self._reading.sharpness * math.exp(float(self._reading_state[reading.BOLD]))

    @property
    def _band(self) -> float:
        """Half width of the draw band after the matches used."""
        band = float(self._reading_state[reading.BAND])
        if self._reading.learns_ties > 0.0:
            return band
        return min(self._reading.ties * math.exp(band), reading.WIDEST_BAND)

    @property
    def _points_per_unit(self) -> float:
        """Rating points per unit of strength.

        A point is a point of expected score between equals: with strengths known, the expected result is
        ``Φ(κD − c) − Φ(−κD − c)``, of slope ``2κφ(c)`` at ``D = 0``, and a point is ``ln 10/800`` of it.
        """
        sharpness, band = self.parameters_["sharpness"], self.parameters_["ties"]
        return 2.0 * sharpness * math.exp(-0.5 * band**2) / math.sqrt(2.0 * math.pi) / CHESS_NU

    @abstractmethod
    def ratings_on(self, date: Day | None = None) -> pl.DataFrame:
        """Ratings and their uncertainty as they are on a day, by default that of the last match.

        A strength fades towards the mean and grows uncertain while nobody plays; ``ratings_`` shows everyone as of
        the own last match.
        """

    def _day(self, date: Day | None) -> int:
        """A day as the state counts it, by default that of the last match."""
        return int(self._begun().beliefs.clock[TODAY] if date is None else read_day(date).astype(np.int64))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays."""
        order = np.array([self._order.home, self._order.neutral])
        return {
            **super().to_arrays(),
            "margin_unit": np.array([self._margin_unit, self._unit]),
            "memory": np.array([self._memory]),
            "order": order,
            "reading": self._reading_state,
            "margin_law": self._margin_law.values,
            **self._around.to_arrays(WIDE_EFFECT),
        }

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self._order: SideOrder = SideOrder(*(one.item() for one in arrays["order"]))
        units = arrays["margin_unit"]
        stored(
            {"margin_unit": units[~np.isnan(units)]}, "margin_unit", "f", (ANY,), 0.0
        )  # without margins there is none
        self._margin_unit, unit = map(float, units)
        self.covariance_ = "full" if "C" in arrays and arrays["C"].size else "diagonal"
        self._circumstances = self._around.from_arrays(arrays)
        super().from_arrays(arrays)
        self._unit = unit
        self._memory = float(stored(arrays, "memory", "f", (1,), 0.0)[0])
        numbers = stored(arrays, "reading", "f", (ANY,))
        self._reading_state = with_band(numbers, reading.fresh_state().size, float(numbers[reading.BAND]))
        self._margin_law = MarginLaw(stored(arrays, "margin_law", "f", MarginLaw().values.shape, 0.0))
