"""What every rater can do.

A rater's constructor only stores its parameters; ``None`` stands for "estimate it". ``fit`` starts afresh, estimates
what was left open by one-step-ahead likelihood and then rates the matches in order; ``update`` carries on.
Names, not codes, tie one call to the next. Every number that a rater declares (``parameters``, ``options``) is checked
whenever it is set, by the constructor or later.

:class:`StatefulRater` is the base of those that keep a state (:mod:`kinelo.raters.state`).
"""

from __future__ import annotations

import inspect
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Estimates, Option, Parameter, Switch
from kinelo.matches.matches import Matches, check_matches
from kinelo.presentation import html_facts
from kinelo.raters.name_index import warn_of_misspelt
from kinelo.raters.one_match import SingleMatches
from kinelo.raters.order import Order, learn_order
from kinelo.raters.start import SETTLED, Start, read_start, warn_of_unmet
from kinelo.raters.state import NEVER
from kinelo.raters.stored import PREFIX, stored_parameters
from kinelo.raters.streaming import LOOK, fit_in_chunks, update_in_chunks

if TYPE_CHECKING:
    import polars as pl


MOST_SHOWN = 5
LOOKED_AT = Option("look", 1.0, open=True)


def without_ratings(rater: Rater) -> InputError:
    """What to say where a rater that has seen no match is asked for a forecast."""
    return InputError(f"{type(rater).__name__} has seen no match yet; call fit or update before you ask for forecasts.")


def too_early(day: int | None, sides: tuple[str, str], last: int, begun: bool = False) -> InputError:
    """What to say of a match before the last one rated; where ratings were ``begun`` with, their days count too."""
    when = "without a date" if day is None else f"of {np.datetime64(day, 'D')}"
    where = "the last match rated (or the last day of the ratings to begin with)" if begun else "the last match rated"
    return InputError(
        f"The match {when} between {sides[0]} and {sides[1]} comes before {where}, of {np.datetime64(last, 'D')}; "
        "nothing was changed. Rate matches in order of date, or keep a rating book, which takes results that arrive "
        "late."
    )


class Rater(SingleMatches, ABC):
    """Base of all raters: see the module for the rules they share.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]})
    >>> rater = kn.TeamElo.classic(k=20).update(matches)
    >>> isinstance(rater, kn.raters.Rater), rater.ratings_["name"][0]
    (True, 'A')
    """

    parameters: ClassVar[tuple[Parameter, ...]] = ()
    options: ClassVar[tuple[Option | Switch, ...]] = ()
    order_: Order = Order()
    estimates_: Estimates | None = None
    fitted_: Matches | None = None
    moot_: Mapping[str, float] = MappingProxyType({})
    parameters_: Mapping[str, float] = MappingProxyType({})
    look: int | None = LOOK
    """How many matches ``fit`` estimates parameters on, the first ones of a longer table; None means all of them."""

    def __setattr__(self, name: str, value: object) -> None:
        for declared in (*self.parameters, *self.options, LOOKED_AT):
            if declared.name == name:
                declared.check(type(self).__name__, value)
        super().__setattr__(name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Arguments of the constructor as they stand (``deep`` is there for scikit-learn, and changes nothing)."""
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor; what was fitted stays as it is until the next ``fit``."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = []
        for name, value in self.get_params().items():
            usual = defaults[name].default
            if hasattr(value, "columns"):  # a table does not fit into a line, and comparing it gives a table
                given.append(f"{name}=<{len(value)} rows>")
            elif isinstance(value, Mapping) and len(value) > MOST_SHOWN:
                given.append(f"{name}=<{len(value)} names>")
            elif value != usual:
                given.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(given)})"

    def _repr_html_(self) -> str:
        errors = {} if self.estimates_ is None else self.estimates_.standard_errors
        rows = [
            (name.replace("_", " "), f"{value:.4g}" + (f" ± {error:.2g}" if math.isfinite(error) else ""))
            for name, value in self.parameters_.items()
            for error in (errors.get(name, math.nan),)
        ]
        return f"<p>{escape(repr(self))}</p>{html_facts(rows)}"

    @fit_in_chunks
    def fit(self, matches: Matches) -> Self:
        """Estimate the open parameters on these matches, then rate them in order from a fresh start."""
        check_matches(matches)
        if len(matches) == 0:
            raise InputError("There are no matches to fit; at least one is needed.")
        if np.isnan(matches.result).any():
            raise InputError(
                "Matches without a result cannot be fitted; read them with played=True to reject such rows."
            )
        self.estimates_ = None
        self.fitted_ = matches
        self.order_ = learn_order(matches)
        self.moot_ = self.moot_parameters(matches)
        self.reset()
        if self.open_parameters():
            estimates = self.search(self._first_matches(matches))
            self.reset(estimates.values)
            self.estimates_ = estimates
        return self.update(matches)

    def _first_matches(self, matches: Matches) -> Matches:
        """The matches on which parameters are estimated: the first ``look``, with a warning where there are more."""
        if self.look is None or len(matches) <= self.look:
            return matches
        warnings.warn(
            f"Parameters are estimated on the first {int(self.look):,} of {len(matches):,} matches, and all are rated "
            "with them; set look = None to estimate on all.",
            KineloWarning,
            stacklevel=4,
        )
        return matches[: int(self.look)]

    def search(self, matches: Matches) -> Estimates:
        """Estimate the open parameters; the rater is left as it was."""
        from kinelo.forecasts.fit import estimate

        return estimate(self, matches)

    def needs_whole_table(self) -> str:
        """Why this rater cannot take matches in pieces; empty where it can."""
        return ""

    def open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters the user left to be estimated, and that the matches fitted can say something about."""
        return tuple(p for p in self.in_own_unit() if getattr(self, p.name) is None and p.name not in self.moot_)

    def in_own_unit(self) -> tuple[Parameter, ...]:
        """All parameters, with defaults and ranges in the rating points that this rater counts in."""
        return self.parameters

    def moot_parameters(self, matches: Matches) -> Mapping[str, float]:
        """Parameters these matches say nothing about (ties where nobody draws), with the value to take instead."""
        return {}

    def settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter: the user's, else the moot one, else the estimate, else the default."""
        values = {p.name: p.default for p in self.in_own_unit()} | dict(estimated or {}) | dict(self.moot_)
        own = {name: getattr(self, name) for name in values}
        return {name: float(value if own[name] is None else own[name]) for name, value in values.items()}

    @abstractmethod
    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and settle the parameters (``parameters_``)."""

    @abstractmethod
    def one_step_ahead(self, matches: Matches) -> Forecast:
        """Forecast each match before it is used, and use it: what backtests and fits are made of."""

    @update_in_chunks
    def update(self, matches: Matches) -> Self:
        """Carry the ratings on with further matches, in order.

        A match before the last one rated is refused, and nothing is changed: ratings have gone on from there. A
        :class:`kinelo.RatingBook` takes results that arrive late.
        """
        self._check_usable(matches)
        self._use(matches)
        return self

    def _use(self, matches: Matches) -> None:
        """Carry the ratings on with matches that were checked."""
        raise NotImplementedError

    def _check_usable(self, matches: Matches) -> None:
        """Refuse matches that cannot change ratings: some without a result, or before the last one rated."""
        check_matches(matches)
        if np.isnan(matches.result).any():
            raise InputError("A match without a result cannot change a rating; forecast it with predict.")
        last = self._last_day()
        if len(matches) and matches.day.min() < last:
            k = int(matches.day.argmin())
            sides = matches.teams[matches.home[k]], matches.teams[matches.away[k]]
            begun = getattr(self, "start", None) is not None
            raise too_early(int(matches.day[k]) if matches.dated else None, sides, last, begun)

    def _last_day(self) -> int:
        """Day of the last match rated; NEVER before the first."""
        return NEVER

    @abstractmethod
    def predict(self, matches: Matches) -> Forecast:
        """Forecast matches from the ratings as they stand; names never met get the prior and are listed."""

    @property
    @abstractmethod
    def ratings_(self) -> pl.DataFrame:
        """Name, rating, uncertainty, matches and last_played of everyone who has played, the best first."""

    def add_points(self, name: str, points: float) -> None:
        """Let a side that is rated have so many points more, as :func:`kinelo.raters.what_if.with_points` asks."""
        raise InputError(
            f"{type(self).__name__} keeps no rating per side to add points to; take TeamElo, KalmanElo or Glicko."
        )

    def note_on_points(self) -> str:
        """What to say of a state of an earlier version whose points were others; empty where they are the same."""
        return ""

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything needed to carry on from here, as arrays (for :class:`kinelo.RatingBook`)."""
        raise InputError(f"{type(self).__name__} cannot be kept in a rating book.")

    def from_arrays(self, arrays: dict[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        raise InputError(f"{type(self).__name__} cannot be kept in a rating book.")


class StatefulRater(Rater):
    """A rater whose parameters make a fresh state, which matches then carry on."""

    start: Any
    initial: float
    _state: Any = None
    _read: tuple[Any, Start] | None = None

    @abstractmethod
    def _fresh(self, values: Mapping[str, float]) -> Any:
        """The state before any match."""

    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and settle the parameters."""
        self.parameters_ = self.settled_values(estimated)
        self._state = self._fresh(self.parameters_)
        start = self._start()
        if start is not None:
            unseen = np.where(start.matches == SETTLED, SETTLED, 0)
            self._state.seat(start.names, start.matches, unseen, start.day)
            self._place(start, self._state.known)

    @abstractmethod
    def _place(self, start: Start, known: Any) -> None:
        """Write the ratings to begin with at the first places of the arrays."""

    def _start(self) -> Start | None:
        """The ratings to begin with, read once."""
        if self.start is None:
            return None
        if self._read is None or self._read[0] is not self.start:
            self._read = (self.start, read_start(self.start))
        return self._read[1]

    @fit_in_chunks
    def fit(self, matches: Matches) -> Self:
        """Estimate the open parameters on these matches, then rate them in order from a fresh start."""
        super().fit(matches)
        start = self._start()
        if start is not None:
            warn_of_unmet(start, self._names_of(matches))
        return self

    def _names_of(self, matches: Matches) -> set[str]:
        """Names of those who are rated, in matches."""
        return {matches.teams[code] for code in np.unique(np.concatenate([matches.home, matches.away]))}

    def predict(self, matches: Matches) -> Forecast:
        """Forecast matches from the ratings as they stand; names never met get the prior and are listed."""
        check_matches(matches)
        self._check_has_ratings()
        forecast = self._foresee(matches)
        if forecast.unknown:
            sides = [*self._state.name_indices.values()][-1]
            warn_of_misspelt(tuple(name for name in forecast.unknown if name in matches.teams), sides.names)
        return forecast

    def _check_has_ratings(self) -> None:
        """Refuse to forecast by a rater that has seen nothing; ratings to begin with are something."""
        if self._state is None and self.start is None:
            raise without_ratings(self)
        self._begun()

    def _latest_day(self, home: str, away: str) -> int:
        """The day on which one of two sides last played."""
        state = self._begun()
        places = [state.name_index.index.get(name) for name in (home, away)]
        return max(0, *(state.known.last.item(place) for place in places if place is not None), 0)

    @abstractmethod
    def _foresee(self, matches: Matches) -> Forecast:
        """Forecast matches from the state as it stands, which has begun."""

    def _place_of(self, name: str) -> int:
        """Place of a name that is rated."""
        index = self._begun().name_index.index
        if name not in index:
            raise InputError(f"{name!r:.80} is not rated; names are written as in the results.")
        return index[name]

    def _begun(self) -> Any:
        if self._state is None:
            self.reset()
        return self._state

    def _begin(self, matches: Matches) -> Any:
        """The state, about to be carried on by matches, which must be usable."""
        self._check_usable(matches)
        return self._begun()

    def _last_day(self) -> int:
        return int(self._begun().known.last.max(initial=NEVER))

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything needed to carry on from here, as arrays."""
        state = self._begun()
        return state.to_arrays() | {f"{PREFIX}{name}": np.array(value) for name, value in self.parameters_.items()}

    def from_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self.reset(stored_parameters(arrays))
        self._state.from_arrays(arrays)
