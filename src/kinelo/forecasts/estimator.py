"""What scikit-learn and its users expect of an estimator, for anything that forecasts matches.

``fit(matches)``, ``score(matches)``, ``get_params``, ``set_params`` and tags, so that ``clone``, ``cross_val_score``
with a time split, ``GridSearchCV`` and pipelines run on raters as they do on other estimators. The features are a table
of matches, which holds the results too: there is no separate target. scikit-learn is not needed for any of it.
"""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches, check_matches

if TYPE_CHECKING:
    from sklearn.utils import Tags


def check_target(matches: Matches, y: object) -> None:
    """Refuse a target other than the results that the matches hold.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]})
    >>> check_target(matches, [1.0]), check_target(matches, None)
    (None, None)
    >>> check_target(matches, [0.0])
    Traceback (most recent call last):
    kinelo.errors.InputError: Matches hold their results; y must be left out or equal matches.result.
    """
    if y is None:
        return
    try:
        alike = np.array_equal(np.asarray(y, dtype=np.float64), matches.result, equal_nan=True)
    except (TypeError, ValueError, OverflowError):
        alike = False
    if not alike:
        raise InputError("Matches hold their results; y must be left out or equal matches.result.")


class MatchEstimator:
    """A score and tags for what can forecast one step ahead."""

    fitted_: Matches | None = None

    def score(self, matches: Matches, y: object = None) -> float:
        """Minus the mean log-loss of forecasts one step ahead: higher is better, and 0 the most.

        Each match is forecast before it is used, and then used, as in :func:`kinelo.backtest`; this happens on a copy,
        and the rater stays as it is. ``y`` is there for scikit-learn: results stand in the matches.

        >>> import kinelo as kn
        >>> matches = kn.read_matches(kn.sample_league(teams=6, seasons=3, seed=1).results)
        >>> rater = kn.TeamElo.classic(k=20).fit(matches[:60])
        >>> round(rater.score(matches[60:]), 3)
        -1.079
        """
        check_matches(matches)
        check_target(matches, y)
        if len(matches) == 0:
            raise InputError("There are no matches to score; at least one is needed.")
        self._check_has_ratings()
        self._warn_of_hindsight(matches)
        said = copy.deepcopy(self).one_step_ahead(matches).probabilities
        return -float(log_loss(said, matches.result).mean())

    def _warn_of_hindsight(self, matches: Matches) -> None:
        """Warn where the matches to score come before those that were fitted."""
        fitted = self.fitted_
        if fitted is not None and len(fitted) and fitted.dated and matches.date[0] < fitted.date[-1]:
            warnings.warn(
                f"These matches begin on {matches.date[0]}, before the last match fitted ({fitted.date[-1]}): their "
                "score is one of hindsight. Split matches by time, with TimeSeriesSplit or before() and since().",
                KineloWarning,
                stacklevel=3,
            )

    def one_step_ahead(self, matches: Matches) -> Any:
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
        """What scikit-learn asks of an estimator: a table of matches in, and no target."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False, allow_nan=True),
            no_validation=True,
        )
