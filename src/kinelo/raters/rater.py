"""What every rater can do, written once.

A rater's constructor only stores its parameters; ``None`` stands for "estimate it". ``fit`` starts afresh, estimates
what was left open by one-step-ahead likelihood and then rates the matches in order; ``update`` carries on.
Names, not codes, tie one call to the next.

:class:`Rater` checks what it is handed, takes tables and scans, keeps the order inside a day, begins with the ratings
it is given and stores its state. A rater says what it estimates (fields, :mod:`kinelo.raters.arguments`), what it knows
before any match (``_fresh``), how matches change that (``_use``, ``_step_ahead``), and how it becomes a forecast
(``_foresee``).
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.estimator import check_target
from kinelo.forecasts.fit import estimate, says_anew
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Estimates
from kinelo.forecasts.scores import log_loss
from kinelo.matches.contests import check_contests
from kinelo.matches.dated import refuse_far_ahead
from kinelo.matches.matches import Matches, check_matches
from kinelo.matches.scan import MatchScan
from kinelo.presentation import html_facts
from kinelo.raters.arguments import Arguments
from kinelo.raters.name_index import warn_of_misspelt
from kinelo.raters.one_match import SingleMatches
from kinelo.raters.order import SideOrder, joined_forecast, learn_order, parts_of
from kinelo.raters.start import SETTLED, Start, read_start, warn_of_unmet
from kinelo.raters.stored import PREFIX, stored_parameters, taken_whole
from kinelo.raters.streaming import fit_in_pieces, update_in_pieces

if TYPE_CHECKING:
    import polars as pl


def without_ratings(rater: Rater) -> InputError:
    """What to say where a rater that has seen no match is asked for a forecast."""
    return InputError(f"{type(rater).__name__} has seen no match yet; call fit or update before you ask for forecasts.")


class Rater(SingleMatches, Arguments, ABC):
    """Base of all raters: see the module for the rules they share.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]})
    >>> rater = kn.TeamElo.classic(k=20).update(matches)
    >>> isinstance(rater, kn.raters.Rater), rater.ratings_["name"][0]
    (True, 'A')
    """

    plain_elo: ClassVar[bool] = False
    """Whether this is a federation's Elo, ``R += K (S − E)``, which can be played at any K."""
    follows_matches: ClassVar[bool] = False
    """Whether each match moves ratings from where they stood, so that they may inflate over the years."""
    passes_points: ClassVar[bool] = False
    """Whether newcomers begin at ``initial``, and bring points in or take them out from there."""

    book_holds: ClassVar[tuple[str, ...]] = ("matches",)
    """What a rating book of this rater may hold: matches, contests, or either of them."""
    fitted_by_forecasts: ClassVar[bool] = True
    """Whether a fit lowers the losses of forecasts, so that a subclass with forecasts of its own is fitted by those."""

    order_: SideOrder = SideOrder()
    estimates_: Estimates | None = None
    fitted_: Matches | None = None
    start: Any = None
    _state: Any = None
    _start_read: tuple[Any, Start] | None = None
    _prepared: bool = False
    _never_fitted: bool = True

    def _repr_html_(self) -> str:
        errors = {} if self.estimates_ is None else self.estimates_.standard_errors
        rows = [
            (name.replace("_", " "), f"{value:.4g}" + (f" ± {error:.2g}" if math.isfinite(error) else ""))
            for name, value in self.parameters_.items()
            for error in (errors.get(name, math.nan),)
        ]
        return f"<p>{escape(repr(self))}</p>{html_facts(rows)}"

    # Estimating

    def fit(self, matches: Matches | MatchScan, y: object = None) -> Self:
        """Estimate the open parameters on these matches, then rate them in order from a fresh start.

        ``y`` is there for scikit-learn: results stand in the matches.
        """
        if isinstance(matches, MatchScan):
            fit_in_pieces(self, matches, y)
            return self
        check_matches(matches)
        check_target(matches, y)
        if len(matches) == 0:
            raise InputError("There are no matches to fit; at least one is needed.")
        if np.isnan(matches.result).any():
            raise InputError(
                "Matches without a result cannot be fitted; read them with played=True to reject such rows."
            )
        self.estimates_ = None
        self.fitted_ = matches
        self.order_ = learn_order(matches)
        self._look_at_conditions(matches)
        self._prepare(matches)
        self._prepared, self._never_fitted = True, False
        self.unidentified_: Mapping[str, float] = self.unidentified_parameters(matches)
        self.reset()
        self._check_order(matches)
        latest = self._latest_matches(matches)
        self._learn(matches, latest)
        self._conclude(matches, latest)
        start = self._start()
        if start is not None:
            warn_of_unmet(start, self._names_of(matches))
        return self

    def _look_at_conditions(self, matches: Matches) -> None:
        """Say what conditions hold that they should not."""

    def _prepare(self, matches: Matches) -> None:
        """What the matches to be fitted say before any of them is rated."""

    @property
    def _learns_ties(self) -> bool:
        """Whether the chance of a draw is learnt on the way, from none: nobody gave it, and no fit estimated it."""
        return self._never_fitted and getattr(self, "ties", None) is None

    def _prepare_once(self, matches: Matches) -> None:
        """Let the first matches that are used say what needs no estimation, where nothing is to be estimated.

        A rater whose parameters are all given then ends where a fit of the same matches ends.
        """
        if self._prepared or not len(matches):
            return
        self._prepared = True
        if self.open_parameters() or (self.rates_players and matches.lineups is None):
            return
        self.order_ = learn_order(matches)
        self._prepare(matches)
        self._settle_choices()
        self.reset()

    def _settle_choices(self) -> None:
        """Choose as a fit does where there is nothing to estimate."""

    def _learn(self, matches: Matches, latest: Matches) -> None:
        """Estimate the open parameters on the latest of the matches, and rate all of them; the rater was reset."""
        if self.open_parameters():
            estimates = self._search(latest)
            self.reset(estimates.values)
            self.estimates_ = estimates
        if says_anew(self):
            self.one_step_ahead(matches)
        else:
            self._use(matches)

    def _conclude(self, matches: Matches, latest: Matches) -> None:
        """What the matches fitted still have to say once they are rated."""

    def _show_learnt(self) -> None:
        """Let what was learnt on the way stand among what was estimated, as it is after the matches fitted."""

    def _latest_matches(self, matches: Matches) -> Matches:
        """The matches on which parameters are estimated: the latest ``look``, with a warning where there are more."""
        if self.look is None or len(matches) <= self.look:
            return matches
        if self.open_parameters():
            warnings.warn(
                f"Parameters are estimated on the latest {int(self.look):,} of {len(matches):,} matches, and all are "
                "rated with them; set look = None to estimate on all.",
                KineloWarning,
                stacklevel=3,
            )
        return matches[-int(self.look) :]

    def _search(self, matches: Matches) -> Estimates:
        """Estimate the open parameters; the rater is left as it was."""
        return estimate(self, matches)

    def search(self, matches: Matches) -> Estimates:
        """What ``fit`` does by itself, under its old name; it goes with version 0.6."""
        said = "Rater.search is no longer public: fit estimates, and estimates_ holds what was found."
        warnings.warn(said, DeprecationWarning, stacklevel=2)
        (check_contests if self.book_holds == ("contests",) else check_matches)(matches)
        return self._search(matches)

    def _losses(self, matches: Matches, skipped: int) -> NDArray[np.float64]:
        """Losses of the matches from ``skipped`` on, after a reset, as the search asks for them."""
        return log_loss(self._step_ahead(matches).probabilities[skipped:], matches.result[skipped:])

    def needs_whole_table(self) -> str:
        """Why this rater cannot take matches in pieces; empty where it can."""
        return ""

    # Beginning

    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and settle the parameters (``parameters_``)."""
        self.parameters_: Mapping[str, float] = self.settled_values(estimated)
        self._state = self._fresh(self.parameters_)
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

    def _names_of(self, matches: Matches) -> set[str]:
        """Names of those who are rated, in matches."""
        return {matches.teams[code] for code in np.unique(np.concatenate([matches.home, matches.away]))}

    def _begun(self) -> Any:
        """The state, made where there is none yet."""
        if self._state is None:
            self.reset()
        return self._state

    # Rating

    def update(self, matches: Matches | MatchScan) -> Self:
        """Carry the ratings on with further matches, in order.

        A match before the last one rated is refused, and nothing is changed: ratings have gone on from there. A
        :class:`kinelo.RatingBook` takes results that arrive late.
        """
        if isinstance(matches, MatchScan):
            update_in_pieces(self, matches)
            return self
        self._check_usable(matches)
        self._prepare_once(matches)
        self._use(matches)
        return self

    def one_step_ahead(self, matches: Matches) -> Forecast:
        """Forecast each match before it is used, and use it: what backtests and fits are made of."""
        self._check_usable(matches)
        self._prepare_once(matches)
        self._begun()
        if not len(matches):
            return self._foresee(matches)
        said = []
        for part, as_whole in self._parts(matches):
            if as_whole:
                said.append(self._foresee(part))
                self._use(part)
            else:
                said.append(self._step_ahead(part))
        return said[0] if len(said) == 1 else joined_forecast(said, matches)

    def _parts(self, matches: Matches) -> Iterable[tuple[Matches, bool]]:
        """The matches in parts, and whether each is forecast as a whole before any of it is used."""
        return parts_of(matches)

    def _use(self, matches: Matches) -> None:
        """Carry the ratings on with matches that were checked."""
        self._step_ahead(matches)

    def _step_ahead(self, matches: Matches) -> Forecast:
        """Forecast each of some matches that were checked before it is used, and use it."""
        if type(self).one_step_ahead is Rater.one_step_ahead:
            raise NotImplementedError
        return self.one_step_ahead(matches)

    def _check_usable(self, matches: Matches) -> None:
        """Refuse matches that cannot change ratings: some without a result, or before the last one rated."""
        check_matches(matches)
        if np.isnan(matches.result).any():
            raise InputError("A match without a result cannot change a rating; forecast it with predict.")
        self._check_order(matches)

    def _check_order(self, matches: Matches) -> None:
        """Refuse matches before the last one rated."""
        if len(matches):
            k = int(matches.day.argmin())
            sides = matches.teams[matches.home[k]], matches.teams[matches.away[k]]
            self._check_day(int(matches.day[k]), sides, matches.dated)
            refuse_far_ahead(matches.day, self._last_day())

    def _check_day(self, day: int, sides: tuple[str, str], dated: bool = True) -> None:
        """Refuse a match before the last one rated; of ratings to begin with, the days count too."""
        last = self._last_day()
        if day >= last:
            return
        when = f"of {np.datetime64(day, 'D')}" if dated else "without a date"
        begun = "" if self.start is None else " (or the last day of the ratings to begin with)"
        raise InputError(
            f"The match {when} between {sides[0]} and {sides[1]} comes before the last match rated{begun}, of "
            f"{np.datetime64(last, 'D')}; nothing was changed. Rate matches in order of date, or keep a rating book, "
            "which takes results that arrive late."
        )

    def _last_day(self) -> int:
        """Day of the last match rated; NEVER before the first."""
        return self._begun().latest

    # Forecasting

    def predict(self, matches: Matches) -> Forecast:
        """Forecast matches from the ratings as they stand; names never met get the prior and are listed.

        Matches without dates are on the last day known, that of the last match rated. That holds wherever matches to
        come are handed over; where the matches rated have no dates either, nobody rests before any match.
        """
        check_matches(matches)
        self._check_has_ratings()
        forecast = self._foresee(self._on_days(matches)).about(matches)
        if forecast.unknown:
            sides = tuple(name for name in forecast.unknown if name in matches.teams)
            warn_of_misspelt(sides, self._state.side_index.names)
        return forecast

    def _check_has_ratings(self) -> None:
        """Refuse to forecast by a rater that has seen nothing; ratings to begin with are something."""
        if self._state is None and self.start is None:
            raise without_ratings(self)
        self._begun()

    @property
    @abstractmethod
    def ratings_(self) -> pl.DataFrame:
        """Name, rating, uncertainty, matches and last_played of everyone who has played, the best first."""

    def add_points(self, name: str, points: float) -> None:
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

    def note_on_points(self) -> str:
        """What to say of a state of an earlier version whose points were others; empty where they are the same."""
        return ""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays (for :class:`kinelo.RatingBook`)."""
        state = self._begun()
        values = {f"{PREFIX}{name}": np.array(value) for name, value in self.parameters_.items()}
        return state.to_arrays() | values | {"prepared": np.array([self._prepared, self._never_fitted])}

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        # Earlier versions found out nothing but in fit, and did not learn how often sides draw.
        self._prepared, self._never_fitted = map(bool, arrays.get("prepared", (True, False)))
        self.reset(stored_parameters(arrays))
        self._state.from_arrays(arrays)
