"""Forecasts of several raters, mixed by weights that are learnt on the way.

With ``p_i`` the forecast of rater ``i`` and ``ℓ_i`` the sum of its log-losses so far, two mixtures are formed. Bayes'
rule, ``w_i ∝ exp(−ℓ_i)``, finds the best rater: over the ``n`` matches it has seen, its mean log-loss exceeds that of
the best of ``k`` by ``log(k)/n`` at most. Stacking finds raters that complement one another: the constant weights that
would have given past results the largest likelihood, ``max Π_t Σ_i w_i p_i(t)``, with one match in favour of each rater
added. They are estimated again after every quarter more matches. The two are weighed against one another by Bayes' rule
too, evenly at first, so that the whole exceeds the better of them by ``log(2)/n`` at most. Of more than
``MOST_COMPARED`` matches stacking looks at the latest.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning, warn
from kinelo.forecasts.automatic import MOST_COMPARED, best_of, compare, fitted, latest_part
from kinelo.forecasts.backtest import Backtest, Forecaster, named_raters
from kinelo.forecasts.estimator import chances_by_class, check_target, classes_of, estimator_tags, score_ahead
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.scores import log_loss
from kinelo.matches.dated import Day
from kinelo.matches.day_order import first_of_each, forecast_until
from kinelo.matches.matches import Matches, check_matches
from kinelo.presentation import percent
from kinelo.raters.adapter import blank_of
from kinelo.raters.choice import candidates
from kinelo.raters.rater import traits_of
from kinelo.raters.stored import ANY, stored, stored_names

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]
FIRST_BLOCK = 50
WEIGHT_GROWTH = 0.25
"""Stacked weights are estimated again after so many matches, and after a quarter more each time."""

MOST_WEIGHT_STEPS = 100
NEGLIGIBLE_WEIGHT = 2e-3
"""A rater below this weight after the comparison is not fitted again."""


@dataclass
class Weights:
    """What has been learnt of ``k`` raters.

    Attributes
    ----------
    past
        Likelihoods that the raters gave to the latest results, ``(k, n)``.
    losses
        Log-loss of every rater so far, ``(k,)``.
    stacked
        Constant weights of largest likelihood, ``(k,)``.
    both
        Log-loss of Bayes' mixture and of the stacked one since forecasting began, ``(2,)``.
    seen, began, due
        Matches so far, when forecasting began, and when the stacked weights are due again.
    """

    past: Array
    losses: Array
    stacked: Array
    both: Array = field(default_factory=lambda: np.zeros(2))
    seen: int = 0
    began: int = 0
    due: int = FIRST_BLOCK

    @classmethod
    def after(cls, likelihoods: Array) -> Weights:
        """Weights after the results of a comparison."""
        n = likelihoods.shape[1]
        stacked = stacked_weights(likelihoods)
        losses = -np.log(likelihoods).sum(axis=1)
        return cls(likelihoods[:, -MOST_COMPARED:], losses, stacked, seen=n, began=n, due=n + FIRST_BLOCK)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on."""
        numbers = {name: getattr(self, name) for name in ("past", "losses", "stacked", "both")}
        return {**numbers, "number": np.array([self.seen, self.began, self.due])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], count: int) -> Self:
        """What :meth:`to_arrays` gave, of so many raters."""
        past = stored(arrays, "past", "f", (count, ANY), 0.0)
        losses, stacked = (stored(arrays, name, "f", (count,), 0.0) for name in ("losses", "stacked"))
        seen, began, due = stored(arrays, "number", "i", (3,), 0).tolist()
        if due <= seen or began > seen or past.shape[1] != min(seen, MOST_COMPARED):
            raise InputError("The weights of a stored mixture do not fit the matches that it has seen.")
        return cls(past, losses, stacked, stored(arrays, "both", "f", (2,), 0.0), seen, began, due)

    def shares(self) -> Array:
        """Weight of every rater in the next forecast."""
        first, second = _posterior(self.both)
        return first * _posterior(self.losses) + second * self.stacked

    def learn(self, likelihoods: Array, until: NDArray[np.int64] | None = None) -> Array:
        """Weights for each of these matches, from those before it, ``(k, n)``; all of them are learnt from.

        ``until`` says where the matches end that each is forecast with (:mod:`kinelo.matches.day_order`): such matches
        have the weights from before the first of them.
        """
        parts, done, size = [], 0, likelihoods.shape[1]
        until = np.arange(1, size + 1) if until is None else until
        while done < size:
            end = int(until[min(done + self.due - self.seen, size) - 1])
            block, first_known = likelihoods[:, done:end], first_of_each(until[done:end] - done)
            losses = -np.log(block)
            bayes = _posterior(_before(self.losses, losses)[:, first_known])
            stacked = np.broadcast_to(self.stacked[:, None], losses.shape)
            of_both = -np.log(np.array([(weights * block).sum(axis=0) for weights in (bayes, stacked)]))
            first, second = _posterior(_before(self.both, of_both)[:, first_known])
            self.losses = self.losses + losses.sum(axis=1)
            self.both = self.both + of_both.sum(axis=1)
            self.seen += block.shape[1]
            self.past = np.hstack([self.past, block])[:, -MOST_COMPARED:]
            parts.append(first * bayes + second * stacked)
            done = end
            if self.seen >= self.due:
                self.stacked = stacked_weights(self.past)
                self.due = self.seen + max(FIRST_BLOCK, int(WEIGHT_GROWTH * (self.seen - self.began)))
        return np.hstack(parts) if parts else likelihoods


def stacked_weights(likelihoods: Array) -> Array:
    """Constant weights of the largest likelihood, one match in favour of each rater added.

    ``Σ_t log(Σ_i w_i p_i(t)) + Σ_i log w_i`` is concave, and Newton's steps on the simplex, damped by their own length
    as for every sum of logarithms, stay inside of it and end at its maximum.

    >>> stacked_weights(np.array([[0.9] * 98, [0.1] * 98])).round(3).tolist()
    [0.989, 0.011]
    """
    count = len(likelihoods)
    weights, ones = np.full(count, 1.0 / count), np.ones(count)
    for _ in range(MOST_WEIGHT_STEPS):
        shares = likelihoods / (weights @ likelihoods)
        slope = shares.sum(axis=1) + 1.0 / weights
        curvature = shares @ shares.T + np.diag(weights**-2)
        towards, along = np.linalg.solve(curvature, np.column_stack([slope, ones])).T
        step = towards - along * (towards.sum() / along.sum())
        length = np.sqrt(max(float(slope @ step), 0.0))
        weights = weights + step * (1.0 if length < 0.25 else 1.0 / (1.0 + length))
        if length < 1e-6:
            break
    return weights / weights.sum()


def _weights_of(names: list[str], test: Backtest) -> Weights:
    """Weights of raters after their forecasts in a comparison."""
    return Weights.after(np.exp(-np.array([test.match_scores(name) for name in names])))


def _before(start: Array, losses: Array) -> Array:
    """Sums of the losses before each match."""
    return start[:, None] + np.hstack([np.zeros((start.size, 1)), np.cumsum(losses, axis=1)[:, :-1]])


def _posterior(losses: Array) -> Array:
    """Weights ``exp(−loss)``, which sum to one over the first axis."""
    weights = np.exp(losses.min(axis=0) - losses)
    return weights / weights.sum(axis=0)


class Mixture:
    """Several raters that forecast together: see the module for how they are weighed.

    ``fit`` compares them on the latest matches, as :func:`kinelo.raters.choose_rater` does, and fits those that count
    on all. A rating book keeps what was fitted of Kinelo's raters.

    Parameters
    ----------
    raters
        The raters, or a mapping from names to raters; they are copied, not changed. None: all of Kinelo's that can use
        the matches.

    Attributes
    ----------
    members_
        The raters that count, fitted.
    shown_
        The one whose ratings are shown and that answers questions, for good: the one that
        :func:`kinelo.raters.choose_rater` would take, or that of the largest weight where that one does not count.

    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(teams=6, seasons=3, seed=1).results)
    >>> mixture = kn.raters.Mixture([kn.TeamElo.classic(k=20), kn.TeamElo.classic(k=60)]).fit(matches[:60])
    >>> forecast = mixture.one_step_ahead(matches[60:])
    >>> len(forecast), round(sum(mixture.weights_.values()), 6)
    (30, 1.0)
    """

    _slots = None  # a book keeps it as a whole
    _soft_resets: tuple[Any, ...] = ()
    _resets_done = 0
    _asked: Sequence[Any] = ()
    """What is asked of all raters: ratings to begin with, conditions, conditions of their noise, covariates."""

    def __init__(self, raters: Mapping[str, Forecaster] | Iterable[Forecaster] | None = None) -> None:
        named = None if raters is None else named_raters(raters)
        # A mapping is kept as it is: scikit-learn's clone asks for the very object that it handed over.
        self.raters: Mapping[str, Forecaster] | None = cast("Any", raters) if isinstance(raters, Mapping) else named
        self.members_: dict[str, Any] = {}
        self.shown_: str = ""
        self._fitted: Matches | None = None
        self._learnt_until = np.iinfo(np.int64).min
        self._weights: Weights | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The raters, as scikit-learn asks for them (``deep`` changes nothing)."""
        return {"raters": self.raters}

    def set_params(self, **params: Any) -> Self:
        """Exchange the raters; what was fitted stays as it is until the next ``fit``."""
        for name, value in params.items():
            if name != "raters":
                raise InputError(f"A mixture has no parameter {name!r}; it has raters.")
            self.raters = Mixture(value).raters
        return self

    def fit(self, matches: Matches, y: object = None) -> Self:
        """Compare the raters on the latest matches, and fit those that count on all.

        ``y`` is there for scikit-learn: results stand in the matches.
        """
        check_matches(matches)
        check_target(matches, y)
        if np.isnan(matches.result).any():
            raise InputError(
                "Matches without a result cannot be fitted; read them with played=True to reject such rows."
            )
        latest = latest_part(matches)
        half = len(latest) // 2
        raters = candidates(matches, *self._asked) if self.raters is None else self.raters
        test, left_out = compare(latest[:half], latest[half:], raters)
        # Those that count are fitted; one that fails is noted, and the others are weighed without it.
        able, members = list(test.forecasts), {}
        while True:
            if not able:
                raise InputError(next(iter(left_out.values())))
            shares = _weights_of(able, test).shares()
            counted = [name for name, share in zip(able, shares, strict=True) if share >= NEGLIGIBLE_WEIGHT]
            for name in counted:
                if name not in members:
                    members[name] = fitted(raters[name], matches, name, left_out)
            if all(members[name] is not None for name in counted):
                break
            able = [name for name in able if name not in left_out]
        self.members_, self._weights = {name: members[name] for name in counted}, _weights_of(counted, test)
        chosen = best_of(test, next(iter(raters)))
        self._fitted, self.shown_ = matches, chosen if chosen in self.members_ else next(iter(self.weights_))
        if matches.dated:
            self._learnt_until = int(matches.day.max())
        for name, why in left_out.items():
            warn(f"{name} is left out of the mixture: {why.rstrip('.')}.")
        return self

    @property
    def label(self) -> str:
        """What is shown, in a few words."""
        return f"{self.shown_} of a mixture" if self.shown_ else "Mixture"

    @property
    def weights_(self) -> dict[str, float]:
        """Weight of every rater in the next forecast, the largest first."""
        found = zip(self.members_, self._begun().shares().tolist(), strict=True)
        return dict(sorted(found, key=lambda item: -item[1]))

    @property
    def ratings_(self) -> pl.DataFrame:
        """Ratings of one of the raters, ``shown_``."""
        self._begun()
        return self.members_[self.shown_].ratings_

    def one_step_ahead(self, matches: Matches) -> Forecast:
        """Forecast each match before it is used, and use it: raters learn from it, and weights, unless it is of a day
        that raters were fitted on: there they forecast what they know.
        """
        weights = self._begun()
        forecasts = [member.one_step_ahead(matches).probabilities for member in self.members_.values()]
        likelihoods = np.exp(-np.array([log_loss(p, matches.result) for p in forecasts]))
        known = int(np.searchsorted(matches.day, self._learnt_until, side="right"))
        settled = np.repeat(weights.shares()[:, None], known, axis=1)
        shares = np.hstack([settled, weights.learn(likelihoods[:, known:], forecast_until(matches)[known:] - known)])
        return Forecast(np.einsum("kn,knc->nc", shares, np.array(forecasts))).about(matches)

    def update(self, matches: Matches) -> Self:
        """Carry raters and weights on with further matches, in order."""
        if len(matches):
            self.one_step_ahead(matches)
        return self

    def predict(self, matches: Matches) -> Forecast:
        """Forecast matches from ratings and weights as they stand; names that no rater knows are listed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KineloWarning)
            return self._mix([member.predict(matches) for member in self.members_.values()]).about(matches)

    def predict_one(
        self, home: str, away: str, *, home_lineup: Any = (), away_lineup: Any = (), **more: Any
    ) -> Forecast:
        """Forecast one match from ratings and weights as they stand (:meth:`kinelo.Rater.predict_one`)."""
        lineups = {"home_lineup": home_lineup, "away_lineup": away_lineup}
        players = [traits_of(member).rates_players for member in self.members_.values()]
        forecasts: list[Forecast] = [
            member.predict_one(home, away, **more, **(lineups if takes or not any(players) else {}))
            for member, takes in zip(self.members_.values(), players, strict=True)
        ]
        return self._mix(forecasts)

    def _doubts(self, names: Sequence[str], date: Day | None) -> Array:
        """How uncertain strengths are, as the rater that is shown has it; 0 where it does not say."""
        doubts = getattr(self.members_[self.shown_], "_doubts", None)
        return np.zeros(len(names)) if doubts is None else doubts(names, date)

    def _mix(self, forecasts: Sequence[Forecast]) -> Forecast:
        """Forecasts of all raters by their weights; names that none of them knows are unknown."""
        shares = self._begun().shares()
        unknown = tuple(name for name in forecasts[0].unknown if all(name in other.unknown for other in forecasts))
        mixed = np.einsum("k,knc->nc", shares, np.array([forecast.probabilities for forecast in forecasts]))
        return Forecast(mixed, unknown, forecasts[0].matches)

    @property
    def classes_(self) -> NDArray[np.str_]:
        """Labels of the columns of ``predict_proba``, in the order of the alphabet."""
        return classes_of(self._fitted)

    def predict_proba(self, matches: Matches) -> NDArray[np.float64]:
        """The chances that ``predict`` gives, one column for each of ``classes_``."""
        return chances_by_class(self, matches)

    def score(self, matches: Matches, y: object = None) -> float:
        """Minus the mean log-loss of forecasts one step ahead, as of every rater; the mixture stays as it is."""
        check_matches(matches)
        self._begun()
        return score_ahead(self, matches, y)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays."""
        arrays = {f"weights.{name}": values for name, values in self._begun().to_arrays().items()}
        for k, member in enumerate(self.members_.values()):
            arrays |= {f"{k}.{name}": values for name, values in member.to_arrays().items()}
        names = list(self.members_)
        numbers = {"shown": np.array(names.index(self.shown_)), "learnt": np.array(self._learnt_until)}
        return {**arrays, **numbers, "members": np.array(names)}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave of a mixture of such raters."""
        names, parts = stored_names(arrays, "members"), dict[str, dict[str, NDArray[Any]]]()
        for name, values in arrays.items():
            part, _, own = name.partition(".")
            parts.setdefault(part, {})[own] = values
        if self.raters is None or not names or not set(names) <= set(self.raters):
            raise InputError("A stored mixture is not of the raters that it is said to be of.")
        weights, members = Weights.from_arrays(parts["weights"], len(names)), dict[str, Any]()
        for k, name in enumerate(names):
            members[name] = copy.deepcopy(self.raters[name])
            members[name].from_arrays(parts[str(k)])
        self.shown_ = names[int(stored(arrays, "shown", "i", (), 0, len(names)))]
        self._learnt_until = int(arrays["learnt"])
        self.members_, self._weights, self._fitted = members, weights, None

    def _blank(self) -> Mixture:
        """A copy whose raters have seen no match, with the parameters and weights that were found."""
        self._begun()
        blank = Mixture({name: blank_of(member) for name, member in self.members_.items()})
        blank.members_, blank.shown_ = dict(blank.raters or {}), self.shown_
        blank._weights, blank._learnt_until = copy.deepcopy(self._weights), self._learnt_until
        return blank

    def __sklearn_is_fitted__(self) -> bool:
        return self._weights is not None

    def __sklearn_tags__(self) -> Any:
        return estimator_tags()

    def _begun(self) -> Weights:
        if self._weights is None:
            raise InputError("Fit the mixture first: which raters count, and how much, is learnt from matches.")
        return self._weights

    def __str__(self) -> str:
        return ", ".join(f"{name} {percent(share)}" for name, share in self.weights_.items() if share >= 0.005)

    def __repr__(self) -> str:
        if self._weights is not None:
            return f"Mixture of {self}"
        return "Mixture of all raters" if self.raters is None else f"Mixture of {', '.join(self.raters)}"
