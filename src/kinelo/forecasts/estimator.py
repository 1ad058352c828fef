"""What scikit-learn and its users expect of an estimator, as functions of anything that forecasts matches.

``fit(matches)``, ``score(matches)``, ``predict_proba(matches)``, ``get_params``, ``set_params`` and tags, so that
``clone``, ``cross_val_score`` with a time split, ``GridSearchCV`` and pipelines run on raters as they do on other
classifiers. The features are a table of matches, which holds the results too: the target is left out, or it is
``matches.labels``, which metrics such as ``scoring="neg_log_loss"`` ask for. scikit-learn is not needed for any of it.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.scores import log_loss
from kinelo.matches.kinds import CONTESTS, kind_of
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


def classes_of(fitted: Matches | Contests | None) -> NDArray[np.str_]:
    """Labels of the columns of :func:`chances_by_class`: without draws where none of the matches fitted was drawn."""
    drawn = fitted is None or kind_of(fitted) is CONTESTS or bool(np.any(fitted.outcome == 0.5))
    return np.array(LABELS if drawn else (LABELS[0], LABELS[2]))


def chances_by_class(rater: Any, matches: Matches) -> NDArray[np.float64]:
    """The chances that ``predict`` gives, one column for each of the classes.

    Where there is no column of draws, these are the chances in a match that is decided.
    """
    check_matches(matches)
    chances = rater.predict(matches).probabilities[:, ::-1]
    if rater.classes_.size == chances.shape[1]:
        return chances
    decided = chances[:, [0, 2]]
    return decided / decided.sum(axis=1, keepdims=True)


def score_ahead(rater: Any, matches: Any, y: object) -> float:
    """Minus the mean log-loss of forecasts one step ahead, on a copy; of contests over pairs of finishers."""
    check_target(matches, y)
    if len(matches) == 0:
        raise InputError(f"There are no {matches.kind.noun} to score; at least one is needed.")
    fitted, kind = rater._fitted, matches.kind
    if fitted is not None and len(fitted) and fitted.dated and matches.date[0] < fitted.date[-1]:
        warn(
            f"These {kind.noun} begin on {matches.date[0]}, before the last {kind.one} fitted "
            f"({fitted.date[-1]}): their score is one of hindsight. Split {kind.noun} by time, with TimeSeriesSplit or "
            "before() and since()."
        )
        matches = replace(matches, date=np.maximum(matches.date, fitted.date[-1]))
    forecast = copy.deepcopy(rater).one_step_ahead(matches)
    if kind is CONTESTS:
        from kinelo.forecasts.contest_scores import score_of

        return score_of(forecast)
    return -float(log_loss(forecast.probabilities, matches.result).mean())


def estimator_tags() -> Tags:
    """What scikit-learn asks of an estimator: a classifier with a table of matches in, and no target."""
    from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

    return Tags(
        estimator_type="classifier",
        classifier_tags=ClassifierTags(),
        target_tags=TargetTags(required=False),
        input_tags=InputTags(two_d_array=False, allow_nan=True),
        no_validation=True,
    )
