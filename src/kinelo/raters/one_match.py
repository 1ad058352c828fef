"""One match as a user says it: two names, a result of 0, ½, 1 (or in words), and what else is known of it."""

from __future__ import annotations

import math
import numbers

from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.matches import LARGEST_WEIGHT

WORDS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


def signed_result(result: float | str) -> float:
    """A result in points of the home side (0, ½, 1, anything between, or in words) on the paper's scale.

    >>> signed_result(0.5), signed_result("win"), signed_result(0)
    (0.0, 1.0, -1.0)
    >>> signed_result(-1)
    Traceback (most recent call last):
    kinelo.errors.InputError: the result -1 is not 1, 0.5 or 0 points of the home side, nor "win", "draw" or "loss"
    """
    points = WORDS.get(result.strip().lower(), math.nan) if isinstance(result, str) else result
    number = isinstance(points, numbers.Real) and not isinstance(points, bool)
    if not number or not 0.0 <= points <= 1.0:
        raise InputError(
            f'The result {result!r} is not 1, 0.5 or 0 points of the home side, nor "win", "draw" or "loss".'
        )
    return 2.0 * float(points) - 1.0


def check_match(home: str, away: str, margin: float, weight: float) -> None:
    """Refuse sides, a margin or a weight that would spoil ratings; a margin of NaN is one that is not known."""
    for name in (home, away):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{name!r} is not the name of a side; a name is text that is not blank.")
    if home == away:
        raise InputError(f"{home!r} cannot play against itself; a match has two sides.")
    check_number("update_one", "weight", weight, 0.0, LARGEST_WEIGHT)
    if not (isinstance(margin, float) and math.isnan(margin)):
        check_number("update_one", "margin", margin, -math.inf)
