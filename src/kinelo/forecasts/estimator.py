"""What scikit-learn and its users expect of an estimator, for anything that forecasts matches.

``fit(matches)``, ``score(matches)``, ``predict_proba(matches)``, ``get_params``, ``set_params`` and tags, so that
``clone``, ``cross_val_score`` with a time split, ``GridSearchCV`` and pipelines run on raters as they do on other
classifiers. The features are a table of matches, which holds the results too: the target is left out, or it is
``matches.labels``, which metrics such as ``scoring="neg_log_loss"`` ask for. scikit-learn is not needed for any of it.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.scores import log_loss
from kinelo.matches.kind import CONTESTS, MATCHES, Kind, kind_of
from kinelo.matches.matches import LABELS, Matches, check_matches

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from typing_extensions import TypeVar

    from kinelo.forecasts.places import ContestForecast
    from kinelo.matches.contests import Contests

    Data = TypeVar("Data", bound=Matches | Contests, default=Matches)
    Said = TypeVar("Said", bound=Forecast | ContestForecast, default=Forecast)
else:
    from typing import TypeVar

    Data, Said = TypeVar("Data"), TypeVar("Said")


def _score_of_matches(forecast: Forecast, matches: Matches) -> float:
    return -float(log_loss(forecast.probabilities, matches.result).mean())


def _score_of_contests(forecast: ContestForecast, contests: Contests) -> float:
    from kinelo.forecasts.contest_scores import score_of

    return score_of(forecast)


SCORES: dict[Kind, Callable[[Any, Any], float]] = {MATCHES: _score_of_matches, CONTESTS: _score_of_contests}
"""Minus the mean log-loss of forecasts of each kind."""


def check_target(matches: Matches | Contests, y: object) -> None:
    """Refuse a target other than the results that the matches hold, as numbers or as labels.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]})
    >>> check_target(matches, [1.0]), check_target(matches, None)
    (None, None)
    >>> check_target(matches, matches.labels)
    >>> check_target(matches, [0.0])
    Traceback (most recent call last):
    kinelo.errors.InputError: Matches hold their results; y must be left out or equal matches.result or matches.labels.
    """
    if y is None:
        return
    try:
        if np.asarray(y).dtype.kind == "U" and np.array_equal(np.asarray(y), matches.labels):
            return
        alike = np.array_equal(np.asarray(y, dtype=np.float64), matches.outcome, equal_nan=True)
    except (TypeError, ValueError, OverflowError):
        alike = False
    if not alike:
        raise InputError("Matches hold their results; y must be left out or equal matches.result or matches.labels.")


class MatchEstimator(Generic[Data, Said]):
    """A score, probabilities by class and tags for what can forecast one step ahead."""

    takes: ClassVar[tuple[Kind, ...]] = (MATCHES,)
    """What is rated and forecast: matches, contests, or both, the usual first."""
    fitted_: Data | None = None

    @property
    def classes_(self) -> NDArray[np.str_]:
        """Labels of the columns of ``predict_proba``, in the order of the alphabet, which scikit-learn asks for.

        The rows of a :class:`kinelo.Forecast` begin with the home win. Without ``draw`` where none of the matches
        fitted was drawn.
        """
        fitted = self.fitted_
        drawn = fitted is None or kind_of(fitted) is CONTESTS or bool(np.any(fitted.outcome == 0.5))
        return np.array(LABELS if drawn else (LABELS[0], LABELS[2]))

    def predict_proba(self, matches: Matches) -> NDArray[np.float64]:
        """The chances that ``predict`` gives, one column for each of ``classes_``, from the ratings as they stand.

        Where there is no column of draws, these are the chances in a match that is decided.

        >>> import kinelo as kn
        >>> matches = kn.read_matches(kn.sample_league(teams=6, seasons=3, seed=1).results)
        >>> rater = kn.TeamElo.classic(k=20).fit(matches[:60])
        >>> rater.classes_.tolist(), rater.predict_proba(matches[60:]).shape
        (['away_win', 'draw', 'home_win'], (30, 3))
        """
        check_matches(matches)
        forecast: Any = self.predict(matches)  # type: ignore[arg-type]
        said = forecast.probabilities[:, ::-1]
        if self.classes_.size == said.shape[1]:
            return said
        decided = said[:, [0, 2]]
        return decided / decided.sum(axis=1, keepdims=True)

    def predict(self, matches: Data) -> Said:
        """Forecast matches from the ratings as they stand."""
        raise NotImplementedError

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
        check_target(matches, y)
        if len(matches) == 0:
            raise InputError(f"There are no {matches.kind.noun} to score; at least one is needed.")
        self._check_has_ratings()
        return SCORES[matches.kind](copy.deepcopy(self).one_step_ahead(self._as_hindsight(matches)), matches)

    def _check_kind(self, matches: object, *, scans: bool = False) -> None:
        """Refuse what is no sound table of a kind that is forecast here, nor a scan of one where these are taken."""
        (kind_of(matches) if kind_of(matches) in self.takes else self.takes[0]).check(matches, scans=scans)

    def _as_hindsight(self, matches: Data) -> Data:
        """Matches to score; those before the last one fitted count as played on its day, with a warning."""
        fitted = self.fitted_
        if fitted is not None and len(fitted) and fitted.dated and matches.date[0] < fitted.date[-1]:
            noun = matches.kind.noun
            warnings.warn(
                f"These {noun} begin on {matches.date[0]}, before the last {matches.kind.one} fitted "
                f"({fitted.date[-1]}): their score is one of hindsight. Split {noun} by time, with TimeSeriesSplit or "
                "before() and since().",
                KineloWarning,
                stacklevel=3,
            )
            return replace(matches, date=np.maximum(matches.date, fitted.date[-1]))
        return matches

    def one_step_ahead(self, matches: Data) -> Said:
        """Forecast each match before it is used, and use it."""
        raise NotImplementedError

    def _check_has_ratings(self) -> None:
        """Refuse to forecast by a rater that has seen nothing."""

    def __sklearn_is_fitted__(self) -> bool:
        """Whether forecasts can be asked for."""
        try:
            self._check_has_ratings()
        except InputError:
            return False
        return True

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn asks of an estimator: a classifier with a table of matches in, and no target."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            classifier_tags=ClassifierTags(),
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False, allow_nan=True),
            no_validation=True,
        )
