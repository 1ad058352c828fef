"""Raters of a user's own: what is asked of them beyond ``fit`` and ``one_step_ahead``, and what is done without.

A class in any module takes part in backtests, books, histories and leaderboards. Arguments come from ``get_params`` or
from attributes named like them; matches are used by ``update`` or else by ``one_step_ahead``; a state is kept where
``to_arrays`` and ``from_arrays`` give one, and found again from the matches where they do not.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.matches import Matches
from kinelo.raters.rater import Rater
from kinelo.raters.soft_reset import begin_seasons


def settings_of(rater: Any) -> dict[str, Any]:
    """Arguments with which a rater of the same kind can be made anew."""
    if hasattr(rater, "get_params"):
        return dict(rater.get_params(deep=False))
    kind = type(rater)
    if not callable(getattr(rater, "fit", None)):
        raise InputError(f"rater must be a rater such as KalmanElo, not {kind.__name__}.")
    names = list(inspect.signature(kind).parameters)
    missing = [name for name in names if not hasattr(rater, name)]
    if missing:
        raise InputError(
            f"{kind.__name__} cannot be made anew: its argument {missing[0]!r} is not kept as an attribute; "
            "keep it, or give the class get_params."
        )
    return {name: getattr(rater, name) for name in names}


def conditions_of(rater: Any) -> tuple[str, ...]:
    """Columns beyond results that a rater asks of matches: conditions and circumstances that it uses, covariates."""
    parts = [rater, *getattr(rater, "members_", {}).values()]
    asked = [getattr(part, name, None) or () for name in ("conditions", "noise_by", "covariates") for part in parts]
    judge = getattr(rater, "errors_by", None)
    return tuple(dict.fromkeys(name for names in (*asked, (judge,) if judge else ()) for name in names))


def blank_of(rater: Any) -> Any:
    """A copy that has seen no match, with what ``fit`` found where the rater can say it."""
    if isinstance(rater, Rater):
        blank = copy.deepcopy(rater)
        blank._reset(dict(rater.parameters_))
        blank._resets_done = 0
        return blank
    if hasattr(rater, "_blank"):
        return rater._blank()
    return type(rater)(**settings_of(rater))


def carry_on(rater: Any, matches: Matches) -> None:
    """Use further matches; ratings are drawn in where a season begins before one of them."""
    for reset in getattr(rater, "_soft_resets", ())[getattr(rater, "_resets_done", 0) :]:
        at = int(np.searchsorted(matches.day, reset.day))
        if at == len(matches):
            break
        if at:
            carry_on(rater, matches[:at])
            matches = matches[at:]
        begin_seasons(rater, reset.day)
    if hasattr(rater, "update"):
        rater.update(matches)
    else:
        rater.one_step_ahead(matches)


def state_of(rater: Any) -> dict[str, NDArray[Any]] | None:
    """Everything needed to carry on, or None where the rater cannot say it."""
    return rater.to_arrays() if hasattr(rater, "from_arrays") and hasattr(rater, "to_arrays") else None


def forecast_by(rater: Any, matches: Matches) -> Any:
    """Forecast matches to come, or say that the rater cannot."""
    if not hasattr(rater, "predict"):
        raise InputError(f"{type(rater).__name__} cannot forecast matches to come: it lacks predict.")
    return rater.predict(matches)
