"""What every rater can do, written once.

A rater is a ``Rater[Data, Said]``: what it is handed (matches, contests, or either) and what it says of them. Its
constructor only stores its parameters; ``None`` stands for "estimate it". ``fit`` starts afresh, estimates
what was left open by one-step-ahead likelihood and then rates the matches in order; ``update`` carries on.
Names, not codes, tie one call to the next.

:class:`Rater` checks what it is handed, takes tables and scans, keeps the order inside a day, begins with the ratings
it is given and stores its state. A rater says what it estimates (fields, :mod:`kinelo.forecasts.parameters`), what it
knows before any match (``_fresh``), how matches change that (``_use``, ``_step_ahead``), and how it becomes a forecast
(``_foresee``).
"""

from __future__ import annotations

import copy
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from kinelo.errors import InputError, warn
from kinelo.forecasts.estimator import (
    Data,
    Said,
    chances_by_class,
    check_target,
    classes_of,
    estimator_tags,
    score_ahead,
)
from kinelo.forecasts.fit import estimate, says_anew
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import (
    FIXED_BY_PLAIN_ELO,
    LOOKED_AT,
    MOST_ENTRIES,
    Estimates,
    Parameter,
    checked_estimates,
    declared_fields,
    default_arguments,
)
from kinelo.forecasts.scores import log_loss
from kinelo.matches.columns import listed
from kinelo.matches.dated import Day, read_day, refuse_far_ahead
from kinelo.matches.day_order import parts_of
from kinelo.matches.fixtures import fixture, fixtures, lineups_of_starters, two_sides
from kinelo.matches.kinds import MATCHES, Kind, kind_of
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches, SideOrder, learn_order
from kinelo.matches.scan import TableScan
from kinelo.presentation import counted, html_facts
from kinelo.raters.circumstances import Circumstances, condition_names, warn_of_numbers
from kinelo.raters.covariates import covariate_names, effects_frame
from kinelo.raters.noise import NoiseFactors, noise_columns, with_levels_noted
from kinelo.raters.one_match import DAY_SECONDS, UNDATED_DAY, Gaps, OneResult, one_result
from kinelo.raters.spelling import warn_of_misspelt
from kinelo.raters.start import SETTLED, Start, read_start, warn_of_unmet
from kinelo.raters.state import NEVER, SPREAD_PREFIX
from kinelo.raters.stored import PREFIX, stored, taken_whole
from kinelo.raters.streaming import LOOK, fit_in_pieces, update_in_pieces

if TYPE_CHECKING:
    import polars as pl


class Traits(NamedTuple):
    """What kind of rater this is, for those who ask no rating of it: books, pages, audits and the search.

    ``takes`` are the tables that are rated and forecast, the usual first; ``book_holds`` what a rating book of it may
    hold. ``plain_elo`` is a federation's Elo, ``R += K (S − E)``, which can be played at any K. Where it
    ``follows_matches``, each match moves ratings from where they stood, so that they may inflate over the years; where
    it ``passes_points``, newcomers begin at ``initial``, and bring points in or take them out from there. It
    ``rates_players`` whom line-ups name, or sides, and estimates from all matches ``all_at_once``, at every update, or
    goes from match to match. ``fitted_by_forecasts`` says that a fit lowers the losses of
    forecasts, so that a subclass with forecasts of its own is fitted by those.
    """

    takes: tuple[Kind, ...] = (MATCHES,)
    book_holds: tuple[str, ...] = ("matches",)
    plain_elo: bool = False
    follows_matches: bool = False
    passes_points: bool = False
    rates_players: bool = False
    all_at_once: bool = False
    fitted_by_forecasts: bool = True


class Learnt(NamedTuple):
    """Something that follows the matches, as it is after those used, with its standard error (NaN: not known)."""

    value: float
    error: float


def traits_of(rater: object) -> Traits:
    """What kind of rater this is; one of a user's own is what nothing is known of."""
    return getattr(rater, "_traits", Traits())


QUESTIONS = frozenset(
    {"balance", "explain", "explain_last", "fair_value", "leaderboard", "match_quality", "preview", "rating_history"}
)
"""What was asked of raters and books by methods, and is asked by functions now."""


def no_attribute(asked: object, variable: str, name: str) -> AttributeError:
    """What to say where a rater or a book has no such attribute: questions are functions."""
    if name in QUESTIONS:
        return AttributeError(f"{name} is a function now: kn.{name}({variable}, …).")
    return AttributeError(f"{type(asked).__name__!r} object has no attribute {name!r}")


def without_ratings(rater: Rater[Any, Any]) -> InputError:
    """What to say where a rater that has seen no match is asked for a forecast."""
    return InputError(f"{type(rater).__name__} has seen no match yet; call fit or update before you ask for forecasts.")


class Rater(ABC, Generic[Data, Said]):
    """Base of all raters: see the module for the rules they share.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]})
    >>> rater = kn.TeamElo.classic(k=20).update(matches)
    >>> isinstance(rater, kn.raters.Rater), rater.ratings_["name"][0]
    (True, 'A')
    """

    _traits: ClassVar[Traits] = Traits()
    _slots: Any = None
    """What a book keeps row by row; None where a rater is kept as a whole."""
    _declared_parameters: ClassVar[tuple[Parameter, ...]] = ()
    _declared: ClassVar[Mapping[str, Any]] = {}
    _gone: ClassVar[Mapping[str, str]] = {
        "ties_step": "draws are followed by themselves now, and ties_walk=0 leaves them as they were estimated"
    }
    """Arguments of earlier versions, and what to do without; books that name them leave them out."""
    _condition_spread: ClassVar[Any] = None
    """Where the spread by a condition is sought (default, least, largest), by raters whose strengths depend on any."""

    parameters_: Mapping[str, float] = MappingProxyType({})
    estimates_: Estimates | None = None
    _fitted: Data | None = None
    look: int | None = LOOK
    """How many matches ``fit`` estimates parameters on, the latest of a longer table; None means all of them."""
    start: Any = None
    conditions: Any = ()
    noise_by: Any = ()
    covariates: Any = ()
    _unidentified: Mapping[str, float] = MappingProxyType({})
    _order: SideOrder = SideOrder()
    _circumstances: Circumstances = Circumstances()
    _state: Any = None
    _start_read: tuple[Any, Start] | None = None
    _prepared: bool = False
    _never_fitted: bool = True
    _rated_alone: bool = False
    """Whether any match was rated by itself since all were forgotten."""
    _soft_resets: tuple[Any, ...] = ()
    """Where seasons of its book began (:mod:`kinelo.raters.soft_reset`), in order; the first ``_resets_done`` have."""
    _resets_done: int = 0

    if not TYPE_CHECKING:

        def __new__(cls, *arguments: Any, **named: Any) -> Any:
            """Refuse arguments of earlier versions in a sentence."""
            for name in cls._gone.keys() & named.keys():
                raise InputError(f"{cls.__name__} no longer has an argument {name}: {cls._gone[name]}.")
            return super().__new__(cls)

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, "rater", name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A rater of its own; ratings to begin with, which nobody changes, are shared: they may be a million."""
        memo |= {id(shared): shared for shared in (self.start, self._start_read)}
        other = memo[id(self)] = object.__new__(type(self))
        vars(other).update(copy.deepcopy(vars(self), memo))
        return other

    # Its arguments

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        declared = declared_fields(cls)
        if declared:
            cls._declared_parameters = tuple(one for one in declared if isinstance(one, Parameter))
            cls._declared = {one.name: one for one in (*declared, LOOKED_AT)}

    def __setattr__(self, name: str, value: object) -> None:
        declared = self._declared.get(name)
        if declared is not None and not (value is None and getattr(declared, "open", False)):
            value = declared.check(type(self).__name__, value)
        super().__setattr__(name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Arguments of the constructor as they stand (``deep`` is there for scikit-learn, and changes nothing)."""
        return {name: getattr(self, name) for name in default_arguments(type(self).__init__)}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor; what was fitted stays as it is until the next ``fit``."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = default_arguments(type(self).__init__)
        shown = []
        for name, value in self.get_params().items():
            usual = defaults[name]
            if hasattr(value, "columns"):  # a table does not fit into a line, and comparing it gives a table
                shown.append(f"{name}=<{counted(len(value), 'row', 'rows')}>")
            elif isinstance(value, Mapping) and len(value) > MOST_ENTRIES:
                shown.append(f"{name}=<{counted(len(value), 'name', 'names')}>")
            elif (tuple(value) if isinstance(value, list) else value) != usual:
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        errors = {} if self.estimates_ is None else self.estimates_.standard_errors
        rows = [
            (name.replace("_", " "), f"{value:.4g}" + (f" ± {error:.2g}" if math.isfinite(error) else ""))
            for name, value in self.parameters_.items()
            for error in (errors.get(name, math.nan),)
        ]
        return f"<p>{escape(repr(self))}</p>{html_facts(rows)}"

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters the user left to be estimated, and that the matches fitted can say something about."""
        return (
            *(
                p
                for p in self._in_own_unit()
                if getattr(self, p.name) is None and p.name not in self._unidentified and not p.learnt
            ),
            *self._further_parameters(),
        )

    def _in_own_unit(self) -> tuple[Parameter, ...]:
        """All parameters, with defaults and ranges in the rating points that this rater counts in."""
        point = self._own_points
        return self._declared_parameters if point == 1.0 else tuple(p.in_unit(point) for p in self._declared_parameters)

    @property
    def _own_points(self) -> float:
        """Own rating points per point of the scale of 400."""
        return 1.0

    def _further_parameters(self) -> tuple[Parameter, ...]:
        """Parameters beside the arguments, to be estimated: one spread for each condition."""
        if self._condition_spread is None:
            return ()
        default, low, high = (self._own_points * end for end in self._condition_spread)
        return tuple(
            Parameter(SPREAD_PREFIX + name, default, low, high, True, f"spread of a side's strengths by {name}")
            for name in self._around.conditions
        )

    def _unidentified_parameters(self, matches: Data) -> Mapping[str, float]:
        """Parameters these matches say nothing about (ties where nobody draws), with the value to take instead."""
        return {}

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter: the user's, else the unidentified one, else the estimate, else the default."""
        further = {p.name: p.default for p in self._further_parameters()}
        given = checked_estimates(estimated, {*vars(self), *further, *FIXED_BY_PLAIN_ELO})
        further = {name: float(given.pop(name, value)) for name, value in further.items()}
        values = {p.name: p.default for p in self._in_own_unit()} | given | dict(self._unidentified)
        own = {name: getattr(self, name) for name in values}
        return {name: float(value if own[name] is None else own[name]) for name, value in values.items()} | further

    # What beside the sides a match depends on

    @property
    def _around(self) -> Circumstances:
        """The columns that the rater was asked to use, and what was found of them."""
        around, given = self._circumstances, (self.conditions, self.noise_by, self.covariates)
        if not all(type(columns) is tuple and not columns for columns in given):
            covariates = () if self.covariates is None else covariate_names(self.covariates)
            given = condition_names(self.conditions), noise_columns(self.noise_by), covariates
        names = (*given, self._effect_names(given[2]))
        if names != (around.conditions, around.noise_by, around.covariates, around.effects):
            around = self._circumstances = around.of(*names)
        return around

    def _effect_names(self, covariates: tuple[str, ...]) -> tuple[str, ...]:
        """Names of all effects that are learnt: covariates, and what a rater sees by itself."""
        return covariates

    @property
    def _noise(self) -> NoiseFactors:
        return self._around.noise

    @_noise.setter
    def _noise(self, factors: NoiseFactors) -> None:
        self._circumstances = replace(self._around, noise=factors)

    def _levels(self, conditions: Mapping[str, object] | None) -> dict[str, object] | None:
        """Levels of every condition that the rater uses, None where it uses none."""
        return self._around.levels(conditions)

    def _noted(self, forecast: Any, matches: Any) -> Any:
        """A forecast with what else is to be said of the matches."""
        return with_levels_noted(forecast, matches, self._noise)

    def _effect_beliefs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard deviation of what a usual value of every covariate is worth, in rating points."""
        return np.empty(0), np.empty(0)

    @property
    def effects_(self) -> pl.DataFrame:
        """Rating points that a unit of every covariate is worth to the side named first, after the matches used: name,
        effect, standard_error, low, high (95 %).

        >>> import kinelo as kn
        >>> table = {"home": ["A", "B"] * 20, "away": ["B", "A"] * 20, "stones": [2, -2, 0, 1] * 10,
        ...          "result": [1, 0, 1, 1] * 10, "neutral": [True] * 40}
        >>> rater = kn.KalmanElo(covariates=["stones"]).update(kn.read_matches(table, conditions=["stones"]))
        >>> rater.effects_["name"].to_list(), bool(rater.effects_["effect"][0] > 0)
        (['stones'], True)
        """
        (mean, deviation), around = self._effect_beliefs(), self._around
        return effects_frame(around.effects, mean / around.units, deviation / around.units)

    @property
    def noise_factors_(self) -> pl.DataFrame:
        """By column of ``noise_by`` and level: factor of the noise, 80 % interval, and matches fitted."""
        return self._noise.table()

    def strengths_by(self, condition: str) -> pl.DataFrame:
        """Rating points that each level of a condition adds to everyone's strength, with their uncertainty.

        >>> import kinelo as kn
        >>> table = {"home": ["A", "B"] * 9, "away": ["B", "A"] * 9, "result": [1] * 18}
        >>> table["surface"] = ["clay", "grass"] * 9
        >>> rater = kn.TeamElo(conditions=["surface"]).update(kn.read_matches(table, conditions=["surface"]))
        >>> [(level, points > 0) for _, level, points, _ in rater.strengths_by("surface").filter(name="A").rows()]
        [('clay', True), ('grass', False)]
        """
        import polars as pl

        state: Any = self._begun()
        if not isinstance(condition, str) or condition not in self._around.conditions:
            known = listed(self._around.conditions) or "none"
            raise InputError(f"{condition!r:.60} is no condition of this rater; it uses {known}.")
        points, size = self._points_per_unit, len(state)
        names = pl.Series(state.name_index.names, dtype=pl.String)
        schema = {"name": pl.String, condition: pl.String, "rating": pl.Float64, "uncertainty": pl.Float64}
        tables = [pl.DataFrame(schema=schema)]
        for (of, level), place in state.levels.index.items():
            if of == condition:
                added, variance = state.at_level(place, self.parameters_[SPREAD_PREFIX + condition] ** 2)
                columns = (names, [level] * size, points * added, points * np.sqrt(variance))
                tables.append(pl.DataFrame(dict(zip(schema, columns)), schema=schema).filter(state.here()))
        return pl.concat(tables)

    @property
    def _points_per_unit(self) -> float:
        """Rating points per unit of strength."""
        return 1.0

    # Estimating

    def fit(self, matches: Data | TableScan[Data], y: object = None) -> Self:
        """Estimate the open parameters on these matches (or contests), then rate them in order from a fresh start.

        ``y`` is there for scikit-learn: results stand in the matches.
        """
        # Scan: files too large for memory go through the same steps piece by piece.
        if isinstance(matches, TableScan):
            fit_in_pieces(self, matches, y)
            return self
        # Check: a sound table of a kind that this rater takes, and nothing in it still to come.
        self._check_kind(matches)
        check_target(matches, y)
        kind = matches.kind
        if len(matches) == 0:
            raise InputError(f"There are no {kind.noun} to fit; at least one is needed.")
        if np.isnan(matches.outcome).any():
            raise InputError(
                f"{kind.noun.capitalize()} without {kind.lacking} cannot be fitted; read them with played=True to "
                "reject such rows."
            )
        # Forget: nothing of an earlier fit counts.
        self.estimates_ = None
        self._fitted = matches
        # Look: whether the order of sides means anything, what conditions hold, what the table says before any match.
        self._order = learn_order(matches)
        for name in self._around.conditions if self._condition_spread else ():
            if (condition := getattr(matches, "conditions", {}).get(name)) is not None:
                warn_of_numbers(name, condition.levels)
        self._prepare(matches)
        self._prepared, self._never_fitted = True, False
        # Leave out: parameters of which these matches say nothing are not estimated.
        self._unidentified = self._unidentified_parameters(matches)
        # Begin: everyone at the start, and every match later than those before it.
        self._reset()
        self._check_order(matches)
        # Learn: estimate on the latest matches, then rate all of them with what was found.
        latest = self._latest_matches(matches)
        self._learn(matches, latest)
        # Conclude: what is only known once all were rated.
        self._conclude(matches, latest)
        # Warn: of a search that found nothing, and of starting ratings whose names nobody has.
        if self.estimates_ is not None and not self.estimates_.moved:
            warn(
                f"The search for parameters did not move from its start: no step made the results of these "
                f"{len(matches):,} {kind.noun} likelier, and all parameters stand at their defaults."
            )
        start = self._start()
        if start is not None:
            warn_of_unmet(start, self._names_of(matches))
        return self

    def _prepare(self, matches: Data) -> None:
        """What the matches to be fitted say before any of them is rated."""

    @property
    def _learns_ties(self) -> bool:
        """Whether the chance of a draw is learnt on the way, from none: nobody gave it, and no fit estimated it."""
        return self._never_fitted and getattr(self, "ties", None) is None

    def _prepare_once(self, matches: Data) -> None:
        """Let the first matches that are used say what needs no estimation, where nothing is to be estimated.

        A rater whose parameters are all given then ends where a fit of the same matches ends. Of contests there is
        nothing to say.
        """
        if self._prepared or not len(matches):
            return
        self._prepared = True
        # What was rated match by match, which says nothing of a league, is not forgotten either.
        if self._rated_alone or not matches.kind.two_sided or self._open_parameters():
            return
        if self._traits.rates_players and getattr(matches, "lineups", None) is None:
            return
        self._order = learn_order(matches)
        self._prepare(matches)
        self._reset()

    def _learn(self, matches: Data, latest: Data) -> None:
        """Estimate the open parameters on the latest of the matches, and rate all of them; the rater was reset."""
        if self._open_parameters():
            estimates = self._search(latest)
            self._reset(estimates.values)
            self.estimates_ = estimates
        if says_anew(self):
            self.one_step_ahead(matches)
        else:
            self._use(matches)

    def _conclude(self, matches: Data, latest: Data) -> None:
        """What the matches fitted still have to say once they are rated."""

    def _show_learnt(self) -> None:
        """Let what was learnt on the way stand among what was estimated, as it is after the matches fitted."""

    def _latest_matches(self, matches: Data) -> Data:
        """The matches on which parameters are estimated: the latest ``look``, with a warning where there are more."""
        if self.look is None or len(matches) <= self.look:
            return matches
        if self._open_parameters():
            warn(
                f"Parameters are estimated on the latest {int(self.look):,} of {len(matches):,} {matches.kind.noun}, "
                "and all are rated with them; set look = None to estimate on all."
            )
        latest: Any = matches[-int(self.look) :]
        return latest

    def _search(self, matches: Data) -> Estimates:
        """Estimate the open parameters; the rater is left as it was."""
        rater, latest = cast("Any", self), cast("Any", matches)
        return estimate(rater, latest)

    def _losses(self, matches: Data, skipped: int) -> NDArray[np.float64]:
        """Losses of the matches from ``skipped`` on, after a reset, as the search asks for them."""
        forecast: Any = self._step_ahead(matches)
        return log_loss(forecast.probabilities[skipped:], matches.outcome[skipped:])

    def _needs_whole_table(self) -> str:
        """Why this rater cannot take matches in pieces; empty where it can."""
        return ""

    # Beginning

    def _reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and settle the parameters (``parameters_``)."""
        self.parameters_ = self._settled_values(estimated)
        self._state, self._rated_alone = self._fresh(self.parameters_), False
        start = self._start()
        if start is not None:
            unseen = np.where(start.matches == SETTLED, SETTLED, 0)
            self._state.seat(start.names, start.matches, unseen, start.day)
            self._place(start, self._state.known)

    def _fresh(self, values: Mapping[str, float]) -> Any:
        """The state before any match."""
        raise NotImplementedError

    def _place(self, start: Start, known: Any) -> None:
        """Write the ratings to begin with at the first places of the arrays."""
        raise NotImplementedError

    def _start(self) -> Start | None:
        """The ratings to begin with, read once."""
        if self.start is None:
            return None
        if self._start_read is None or self._start_read[0] is not self.start:
            self._start_read = (self.start, read_start(self.start))
        return self._start_read[1]

    def _names_of(self, matches: Data) -> set[str]:
        """Names of those who are rated, in matches."""
        return set(matches.present)

    def _begun(self) -> Any:
        """The state, made where there is none yet."""
        if self._state is None:
            self._reset()
        return self._state

    # Rating

    def update(self, matches: Data | TableScan[Data]) -> Self:
        """Carry the ratings on with further matches (or contests), in order.

        Where all parameters are given, the first matches say what needs no estimation (the unit of margins, how many
        draw), as in a fit: of pieces, only the first does. A match before the last one rated is refused, and nothing is
        changed: ratings have gone on from there. A :class:`kinelo.RatingBook` takes results that arrive late.
        """
        if isinstance(matches, TableScan):
            update_in_pieces(self, matches)
            return self
        self._check_usable(matches)
        self._prepare_once(matches)
        self._use(matches)
        return self

    def one_step_ahead(self, matches: Data) -> Said:
        """Forecast each match (or contest) before it is used, and use it: what backtests and fits are made of."""
        self._check_usable(matches)
        self._prepare_once(matches)
        self._begun()
        if not len(matches):
            return self._foresee(matches)
        forecasts: list[Any] = []
        for part, as_whole in self._parts(matches):
            if as_whole:
                forecasts.append(self._foresee(part))
                self._use(part)
            else:
                forecasts.append(self._step_ahead(part))
        return forecasts[0] if len(forecasts) == 1 else forecasts[0].joined(forecasts, matches)

    def _parts(self, matches: Data) -> Iterable[tuple[Data, bool]]:
        """The matches in parts, and whether each is forecast as a whole before any of it is used."""
        return parts_of(matches)

    def _use(self, matches: Data) -> None:
        """Carry the ratings on with matches that were checked."""
        self._step_ahead(matches)

    def _foresee(self, matches: Data) -> Said:
        """Forecast matches from the ratings as they stand."""
        raise NotImplementedError

    def _step_ahead(self, matches: Data) -> Said:
        """Forecast each of some matches that were checked before it is used, and use it."""
        if type(self).one_step_ahead is Rater.one_step_ahead:
            raise NotImplementedError
        return self.one_step_ahead(matches)

    def _check_usable(self, matches: Data) -> None:
        """Refuse matches that cannot change ratings: some without a result, or before the last one rated."""
        self._check_kind(matches)
        if np.isnan(matches.outcome).any():
            kind = matches.kind
            raise InputError(f"A {kind.one} without {kind.lacking} cannot change a rating; forecast it with predict.")
        self._check_order(matches)

    def _check_order(self, matches: Data) -> None:
        """Refuse matches before the last one rated."""
        latest = self._last_day()
        if len(matches):
            k = int(matches.day.argmin())
            if matches.day[k] < latest:
                raise self._too_early(matches.kind, matches._named(k))
            refuse_far_ahead(matches.day, latest)

    def _too_early(self, kind: Kind, named: str) -> InputError:
        """What to say of a match before the last one rated; of ratings to begin with, the days count too."""
        begun = "" if self.start is None else " (or the last day of the ratings to begin with)"
        return InputError(
            f"The {named} comes before the last {kind.one} rated{begun}, of {np.datetime64(self._last_day(), 'D')}; "
            f"nothing was changed. Rate {kind.noun} in order of date, or keep a rating book, which takes results that "
            "arrive late."
        )

    def _last_day(self) -> int:
        """Day of the last match rated; NEVER before the first."""
        return NEVER if self._state is None and self.start is None else self._begun().latest

    # Forecasting

    def predict(self, matches: Data) -> Said:
        """Forecast matches (or contests) from the ratings as they stand; names never met get the prior and are listed.

        Matches without dates are on the last day known, that of the last match rated. That holds wherever matches to
        come are handed over; where the matches rated have no dates either, nobody rests before any match.
        """
        self._check_kind(matches)
        self._check_has_ratings()
        forecast: Any = self._foresee(self._on_days(matches))
        forecast = self._noted(forecast.about(matches), matches)
        if forecast.unknown:
            listed = getattr(matches, "teams", forecast.unknown)  # a line-up may name players nobody knows
            warn_of_misspelt(tuple(name for name in forecast.unknown if name in listed), self._names_known())
        return forecast

    @property
    def classes_(self) -> NDArray[np.str_]:
        """Labels of the columns of ``predict_proba``, in the order of the alphabet, which scikit-learn asks for.

        The rows of a :class:`kinelo.forecasts.Forecast` begin with the home win. Without ``draw`` where none of the
        matches fitted was drawn.
        """
        return classes_of(self._fitted)

    def predict_proba(self, matches: Matches) -> NDArray[np.float64]:
        """The chances that ``predict`` gives, one column for each of ``classes_``, from the ratings as they stand.

        Where there is no column of draws, these are the chances in a match that is decided.

        >>> import kinelo as kn
        >>> matches = kn.read_matches(kn.sample_league(teams=6, seasons=3, seed=1).results)
        >>> rater = kn.TeamElo.classic(k=20).fit(matches[:60])
        >>> rater.classes_.tolist(), rater.predict_proba(matches[60:]).shape
        (['away_win', 'draw', 'home_win'], (30, 3))
        """
        return chances_by_class(self, matches)

    def score(self, matches: Data, y: object = None) -> float:
        """Minus the mean log-loss of forecasts one step ahead: higher is better, and 0 the most.

        Of contests it is the mean over pairs of finishers. Each match is forecast before it is used, and then used, as
        in :func:`kinelo.backtest`; this happens on a copy, and the rater stays as it is. ``y`` is there for
        scikit-learn: results stand in the matches.

        >>> import kinelo as kn
        >>> matches = kn.read_matches(kn.sample_league(teams=6, seasons=3, seed=1).results)
        >>> rater = kn.TeamElo.classic(k=20).fit(matches[:60])
        >>> round(rater.score(matches[60:]), 3)
        -1.079
        """
        self._check_kind(matches)
        self._check_has_ratings()
        return score_ahead(self, matches, y)

    def _check_kind(self, matches: object, *, scans: bool = False) -> None:
        """Refuse what is no sound table of a kind that is forecast here, nor a scan of one where these are taken."""
        takes = self._traits.takes
        (kind_of(matches) if kind_of(matches) in takes else takes[0]).check(matches, scans=scans)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether forecasts can be asked for."""
        return self._state is not None or self.start is not None

    def __sklearn_tags__(self) -> Any:
        return estimator_tags()

    def _names_known(self) -> Iterable[str]:
        """Names of those who have been met: sides, or entrants."""
        return self._state.side_index.names

    def _check_has_ratings(self) -> None:
        """Refuse to forecast by a rater that has seen nothing; ratings to begin with are something."""
        if self._state is None and self.start is None:
            raise without_ratings(self)
        self._begun()

    # One match

    def predict_one(
        self,
        home: str,
        away: str,
        *,
        date: Day | None = None,
        neutral: bool = False,
        conditions: Mapping[str, object] | None = None,
        home_lineup: Sequence[str] = (),
        away_lineup: Sequence[str] = (),
    ) -> Forecast:
        """Forecast one match from the ratings as they stand: what ``predict`` says of it, to the last bit.

        The cost does not grow with the league. Names never met get the prior and stand in ``unknown`` of the forecast;
        names that resemble them are not searched, as ``predict`` does. Without a date the match is on the last day
        known, that of the last match rated. ``conditions={"surface": "clay"}`` says levels of the conditions that the
        rater uses; both sides play with their own strength under those left out. Raters of players take line-ups, names
        of starters; a side without one counts as its recent players.

        >>> import kinelo as kn
        >>> rater = kn.TeamElo.classic(k=20, ties=0.0, start={"A": 1700, "B": 1500})
        >>> rater.predict_one("A", "B", neutral=True)
        Forecast of 1 match: A – B 0.760 / 0.000 / 0.240
        """
        self._check_has_ratings()
        if isinstance(home_lineup, Mapping) or isinstance(away_lineup, Mapping):
            raise InputError("How long everyone plays is known after a match; a line-up to come is a list of names.")
        lineups = self._lineups(home_lineup, away_lineup)
        match = self._fixture(home, away, date, neutral, conditions, lineups)
        return self._noted(self._foresee_one(match), match)

    def update_one(
        self,
        home: str,
        away: str,
        result: float | str,
        *,
        date: Day | None = None,
        margin: float = math.nan,
        neutral: bool = False,
        weight: float = 1.0,
        conditions: Mapping[str, object] | None = None,
        home_lineup: Sequence[str] | Mapping[str, float] = (),
        away_lineup: Sequence[str] | Mapping[str, float] = (),
    ) -> Self:
        """Carry the ratings on with one match: 1, ½ or 0 points of the home side, or "win", "draw", "loss".

        Date, conditions and line-ups are those of :meth:`predict_one`. A line-up may say for how long each played: in
        ``{"Ann": 90, "Bob": 35}`` somebody left.

        >>> import kinelo as kn
        >>> kn.Glicko().update_one("A", "B", "win", date="2024-08-10").ratings_["name"].to_list()
        ['A', 'B']
        """
        played = one_result(
            home, away, result, date=date, margin=margin, neutral=neutral, weight=weight, conditions=conditions,
            lineups=self._lineups(home_lineup, away_lineup),
        )  # fmt: skip
        day = played.number
        if day is not None:  # without a date it is on the last day known
            if day < self._last_day():
                raise self._too_early(MATCHES, f"match of {played.day} between {played.home} and {played.away}")
            if day > time.time() / DAY_SECONDS + 365.0:
                refuse_far_ahead(np.array([day]), self._last_day())
        self._use_one(played)
        self._rated_alone = True
        return self

    def _use_one(self, played: OneResult) -> None:
        """Carry the ratings on with one match that was checked."""
        match = self._fixture(played.home, played.away, played.day, played.neutral, played.conditions, played.lineups)
        known = {
            "result": 0.5 + 0.5 * played.signed,
            "margin": played.margin,
            "weight": played.weight,
            "signed": played.signed,
        }
        # Nobody else has the match yet; to make it again with these columns would take as long as to rate it.
        vars(match).update({name: np.array([float(value)]) for name, value in known.items()})
        self._use(cast("Any", match))

    def _of_outcomes(self) -> Rater[Any, Any]:
        """The rater whose beliefs outcomes are forecast from, which answers questions: itself, or one that it holds."""
        return self

    def _gaps(self, matches: Matches) -> Gaps:
        """What is believed of the differences of strength in matches to come."""
        raise InputError(f"{type(self).__name__} does not say how uncertain its ratings are.")

    def _doubts(self, names: Sequence[str], date: Day | None) -> NDArray[np.float64]:
        """Variances of what is believed of strengths on a day, a match's noise having 1; 0 where nothing is said."""
        if type(self)._gaps is Rater._gaps:
            return np.zeros(len(names))
        names, step = list(names), 0.01
        next_one, one_after = names[1:] + names[:1], names[2:] + names[:2]
        gaps = [  # of everyone to the next one in a ring, and to the one after
            self._gaps(
                fixtures(names, others, self._day_of(date), neutral=True, conditions=self._levels(None))
            ).variance
            for others in (next_one, one_after)[: len(names) - 1]
        ]
        # With v(i, j) the variance of a difference, that of i alone is (v(i, j) + v(i, k) - v(j, k)) / 2.
        variance = 0.5 * (gaps[0] if len(gaps) == 1 else gaps[0] + gaps[1] - np.roll(gaps[0], -1))
        chances = self._chances(np.array([0.0, step]))
        # Chances near an even match are those of a normal law with a draw band: its scale at the edge of the band.
        edge = float(ndtri(0.5 + 0.5 * chances[0, 1]))
        slope = float(np.diff(chances[:, 0] + 0.5 * chances[:, 1])[0]) / step
        unit = slope * math.sqrt(2.0 * math.pi) * math.exp(0.5 * edge * edge)
        return unit**2 * np.maximum(variance, 0.0)

    def _mean_gaps(self, matches: Matches) -> NDArray[np.float64]:
        """Differences of strength believed in, of matches to come."""
        return self._gaps(matches).mean

    def _chances(self, gaps: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Chances of matches whose differences of strength are known."""
        raise NotImplementedError

    def _chances_believed(self, mean: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chances of matches of whose differences this is believed, as forecasts say them: by ratings as they stand."""
        return self._chances(mean)

    def _lineups(
        self, home: Sequence[str] | Mapping[str, float], away: Sequence[str] | Mapping[str, float]
    ) -> Lineups | None:
        """Line-ups of one match, which only a rater of players takes."""
        none = type(home) is tuple and type(away) is tuple and not home and not away
        lineups = None if none else lineups_of_starters(home, away)
        if not self._traits.rates_players and lineups is not None:
            raise InputError(f"{type(self).__name__} rates sides, not players: leave line-ups out, or take PlayerElo.")
        return lineups

    def _lineups_of_pairs(
        self, sides: Sequence[str | Sequence[str]], lineups: Sequence[Sequence[Any]], count: int
    ) -> Lineups | None:
        """Line-ups of so many matches: of a single side the same in all, of a list of sides one for each."""
        each = []
        for side, lineup in zip(sides, lineups, strict=True):
            if not isinstance(lineup, list | tuple | np.ndarray) or getattr(lineup, "shape", None) == ():
                raise InputError(f"{lineup!r:.60} is not a line-up; a line-up is a list of names that are not blank.")
            if isinstance(side, str) or not len(lineup):
                each.append([lineup] * count)
            elif len(lineup) == len(side):
                each.append(list(lineup) if len(side) == count else list(lineup) * count)
            else:
                raise InputError(f"{len(side)} sides need a line-up each (or none at all), not {len(lineup)}.")
        if not self._traits.rates_players:
            return self._lineups(lineups[0], lineups[1])
        return lineups_of_starters(*(lineup for pair in zip(*each, strict=True) for lineup in pair))

    def _fixture(
        self,
        home: str,
        away: str,
        date: Day | None,
        neutral: bool,
        conditions: Mapping[str, object] | None,
        lineups: Lineups | None = None,
    ) -> Matches:
        """One match, with every condition that the rater uses."""
        home, away = two_sides(home, away)
        given = self._levels(conditions)
        day = self._day_of(date)
        return fixture(home, away, day, neutral=neutral, conditions=given, lineups=lineups)

    def _day_of(self, date: Day | None) -> np.datetime64:
        """The day of a match to come: the last day known where none is said, or where ratings know of no days."""
        day, last = None if date is None else read_day(date), self._last_day()
        return np.datetime64(max(last, 0), "D") if day is None or last == UNDATED_DAY else day

    def _on_days(self, matches: Data) -> Data:
        """Matches to come on their days, or on the last day known where they, or the ratings, know of none."""
        last = self._last_day()
        if (matches.dated and last != UNDATED_DAY) or (max(last, UNDATED_DAY) == UNDATED_DAY and not matches.dated):
            return matches
        day = np.datetime64(max(last, UNDATED_DAY), "D")
        return replace(matches, date=np.full(len(matches), day))

    def _foresee_one(self, match: Matches) -> Forecast:
        """Forecast one match, at a cost that does not grow with the league."""
        return cast("Forecast", self._foresee(cast("Any", match)))

    @property
    @abstractmethod
    def ratings_(self) -> pl.DataFrame:
        """Name, rating, uncertainty, matches and last_played of everyone who has played, the best first."""

    def _add_points(self, name: str, points: float) -> None:
        """Let a side that is rated have so many points more, as :func:`kinelo.raters.what_if.with_points` asks."""
        raise InputError(
            f"{type(self).__name__} keeps no rating per side to add points to; take TeamElo, KalmanElo or Glicko."
        )

    def _place_of(self, name: str) -> int:
        """Place of a name that is rated."""
        index = self._begun().name_index.index
        if not isinstance(name, str) or name not in index:
            raise InputError(f"{name!r:.80} is not rated; names are written as in the results.")
        return index[name]

    # Keeping

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays (for :class:`kinelo.RatingBook`)."""
        state = self._begun()
        values = {f"{PREFIX}{name}": np.array(value) for name, value in self.parameters_.items()}
        return (
            state.to_arrays()
            | values
            | {"prepared": np.array([self._prepared or self._rated_alone, self._never_fitted])}
        )

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self._prepared, self._never_fitted = map(bool, arrays["prepared"])
        self._reset_as_stored(arrays)
        self._state.from_arrays(arrays)

    def _reset_as_stored(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Settle the parameters that were stored; whoever began with a rating stands in the state itself."""
        start, self.start = self.start, None
        names = [name for name in arrays if name.startswith(PREFIX)]
        values = {name.removeprefix(PREFIX): float(stored(arrays, name, "f", ())) for name in names}
        values = {name: value for name, value in values.items() if name not in self._gone}
        try:
            self._reset(values)
        finally:
            self.start = start
