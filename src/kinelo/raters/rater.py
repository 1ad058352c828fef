"""What every rater can do, written once.

A rater is a ``Rater[Data, Said]``: what it is handed (matches, contests, or either) and what it says of them. Its
constructor only stores its parameters; ``None`` stands for "estimate it". ``fit`` starts afresh, estimates
what was left open by one-step-ahead likelihood and then rates the matches in order; ``update`` carries on.
Names, not codes, tie one call to the next.

:class:`Rater` checks what it is handed, takes tables and scans, keeps the order inside a day, begins with the ratings
it is given and stores its state. A rater says what it estimates (fields, :mod:`kinelo.raters.arguments`), what it knows
before any match (``_fresh``), how matches change that (``_use``, ``_step_ahead``), and how it becomes a forecast
(``_foresee``).
"""

from __future__ import annotations

import copy
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.estimator import Data, Said, check_target
from kinelo.forecasts.fit import estimate, says_anew
from kinelo.forecasts.parameters import Estimates
from kinelo.forecasts.scores import log_loss
from kinelo.matches.dated import refuse_far_ahead
from kinelo.matches.kind import Kind
from kinelo.matches.scan import TableScan
from kinelo.presentation import html_facts
from kinelo.raters.arguments import Arguments
from kinelo.raters.name_index import warn_of_misspelt
from kinelo.raters.one_match import SingleMatches
from kinelo.raters.order import SideOrder, joined_forecast, learn_order, parts_of
from kinelo.raters.slots import Slots
from kinelo.raters.start import SETTLED, Start, read_start, warn_of_unmet
from kinelo.raters.stored import PREFIX, stored_parameters, taken_whole
from kinelo.raters.streaming import fit_in_pieces, update_in_pieces

if TYPE_CHECKING:
    import polars as pl


INNER = frozenset(
    {
        "book_holds", "_condition_spread", "fitted_by_forecasts", "follows_matches", "_in_own_unit",
        "_needs_whole_table", "passes_points", "plain_elo", "rates_players",
        "takes",
        "_target_square", "_unit_of_points",
    }
)  # fmt: skip
"""What books, pages and the driver ask of a rater, and nobody who rates: neither ``dir`` nor the reference lists it."""


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


class Rater(SingleMatches[Data, Said], Arguments, ABC):
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

    slots: Slots | None = None
    """What a book keeps row by row; None where a rater is kept as a whole."""

    _order: SideOrder = SideOrder()
    estimates_: Estimates | None = None
    fitted_: Data | None = None
    start: Any = None
    _state: Any = None
    _start_read: tuple[Any, Start] | None = None
    _prepared: bool = False
    _never_fitted: bool = True

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in INNER]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, "rater", name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A rater of its own; ratings to begin with, which nobody changes, are shared: they may be a million."""
        memo |= {id(shared): shared for shared in (self.start, self._start_read)}
        other = memo[id(self)] = object.__new__(type(self))
        vars(other).update(copy.deepcopy(vars(self), memo))
        return other

    def _repr_html_(self) -> str:
        errors = {} if self.estimates_ is None else self.estimates_.standard_errors
        rows = [
            (name.replace("_", " "), f"{value:.4g}" + (f" ± {error:.2g}" if math.isfinite(error) else ""))
            for name, value in self.parameters_.items()
            for error in (errors.get(name, math.nan),)
        ]
        return f"<p>{escape(repr(self))}</p>{html_facts(rows)}"

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
        self._check_fittable(matches, y)
        # Forget: nothing of an earlier fit counts.
        self.estimates_ = None
        self.fitted_ = matches
        # Look: whether the order of sides means anything, what conditions hold, what the table says before any match.
        self._order = learn_order(matches)
        self._look_at_conditions(matches)
        self._prepare(matches)
        self._prepared, self._never_fitted = True, False
        # Leave out: parameters of which these matches say nothing are not estimated.
        self._unidentified: Mapping[str, float] = self._unidentified_parameters(matches)
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
            warnings.warn(
                f"The search for parameters did not move from its start: no step made the results of these "
                f"{len(matches):,} {matches.kind.noun} likelier, and all parameters stand at their defaults.",
                KineloWarning,
                stacklevel=2,
            )
        start = self._start()
        if start is not None:
            warn_of_unmet(start, self._names_of(matches))
        return self

    def _check_fittable(self, matches: Data, y: object) -> None:
        """Refuse what cannot be fitted."""
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

    def _look_at_conditions(self, matches: Data) -> None:
        """Say what conditions hold that they should not."""

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
        if self.rates_players and getattr(matches, "lineups", None) is None:
            return
        self._order = learn_order(matches)
        self._prepare(matches)
        self._settle_choices()
        self._reset()

    def _settle_choices(self) -> None:
        """Choose as a fit does where there is nothing to estimate."""

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
            warnings.warn(
                f"Parameters are estimated on the latest {int(self.look):,} of {len(matches):,} {matches.kind.noun}, "
                "and all are rated with them; set look = None to estimate on all.",
                KineloWarning,
                stacklevel=3,
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
        self.parameters_: Mapping[str, float] = self._settled_values(estimated)
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

        A match before the last one rated is refused, and nothing is changed: ratings have gone on from there. A
        :class:`kinelo.RatingBook` takes results that arrive late.
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
        said: list[Any] = []
        for part, as_whole in self._parts(matches):
            if as_whole:
                said.append(self._foresee(part))
                self._use(part)
            else:
                said.append(self._step_ahead(part))
        return said[0] if len(said) == 1 else joined_forecast(said, matches)

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
        if len(matches):
            k = int(matches.day.argmin())
            if matches.day[k] < self._last_day():
                raise self._too_early(matches.kind, matches._named(k))
            refuse_far_ahead(matches.day, self._last_day())

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
        return self._begun().latest

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

    def _names_known(self) -> Iterable[str]:
        """Names of those who have been met: sides, or entrants."""
        return self._state.side_index.names

    def _check_has_ratings(self) -> None:
        """Refuse to forecast by a rater that has seen nothing; ratings to begin with are something."""
        if self._state is None and self.start is None:
            raise without_ratings(self)
        self._begun()

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
        try:
            self._reset(stored_parameters(arrays))
        finally:
            self.start = start
