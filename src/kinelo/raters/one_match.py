"""One match as a user says it: two names, a result of 0, ½, 1 (or in words), and what else is known of it.

``predict_one`` and ``update_one`` of every rater make of it the table of one row that ``predict`` and ``update`` take,
without reading a table.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.dated import UNDATED, Day, day_number, read_day
from kinelo.matches.fixtures import check_neutral, two_sides
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import LARGEST_WEIGHT
from kinelo.model.validation import is_list, is_text

UNDATED_DAY = int(UNDATED.astype(np.int64))
DAY_SECONDS = 86400.0
WORDS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


def signed_result(result: float | str) -> float:
    """A result in points of the home side (0, ½, 1, anything between, or in words) on the paper's scale.

    >>> signed_result(0.5), signed_result("win"), signed_result(0)
    (0.0, 1.0, -1.0)
    >>> signed_result(-1)
    Traceback (most recent call last):
    kinelo.errors.InputError: The result -1 is not 1, 0.5 or 0 points of the home side, nor "win", "draw" or "loss".
    """
    points = WORDS.get(result.strip().lower(), math.nan) if isinstance(result, str) else result
    # What is said most often is asked first: a number of any other kind takes longer to recognise.
    number = type(points) is float or (isinstance(points, numbers.Real) and not isinstance(points, bool))
    if not number or not 0.0 <= points <= 1.0:
        raise InputError(
            f'The result {result!r} is not 1, 0.5 or 0 points of the home side, nor "win", "draw" or "loss".'
        )
    return 2.0 * float(points) - 1.0


def check_match(signed: float, margin: float, weight: float) -> None:
    """Refuse a margin or a weight that would spoil ratings; a margin of NaN is one that is not known.

    >>> check_match(1.0, -3.0, 1.0)
    Traceback (most recent call last):
    kinelo.errors.InputError: A margin of -3 contradicts a win of the home side.
    """
    if type(weight) is not float or not 0.0 <= weight <= LARGEST_WEIGHT:
        check_number("update_one", "weight", weight, 0.0, LARGEST_WEIGHT)
    if not (isinstance(margin, float) and math.isnan(margin)):
        check_number("update_one", "margin", margin, -math.inf)
        if margin != 0 and margin * signed <= 0:
            ended = "a win" if signed > 0 else "a loss" if signed < 0 else "a draw"
            raise InputError(f"A margin of {margin:g} contradicts {ended} of the home side.")


class OneResult(NamedTuple):
    """One match that was played, as a user says it, checked: its result in [−1, 1], and where it is said its day, with
    the number of that day."""

    home: str
    away: str
    signed: float
    day: np.datetime64 | None
    margin: float
    neutral: bool
    weight: float
    conditions: Mapping[str, object] | None
    lineups: Lineups | None
    number: int | None


def one_result(
    home: object, away: object, result: float | str, *, date: Day | None = None, margin: float = math.nan,
    neutral: bool = False, weight: float = 1.0, conditions: Mapping[str, object] | None = None,
    lineups: Lineups | None = None,
) -> OneResult:  # fmt: skip
    """One match that was played, checked as far as that needs no rater.

    >>> one_result("A ", "B", "draw", date="2024-05-01")[:4]
    ('A', 'B', 0.0, np.datetime64('2024-05-01'))
    """
    signed = signed_result(result)
    home, away = two_sides(home, away)
    check_match(signed, margin, weight)
    check_neutral(neutral)
    day = None if date is None else read_day(date)
    number = None if day is None else day_number(day)
    return OneResult(home, away, signed, day, margin, neutral, weight, conditions, lineups, number)


class Gaps(NamedTuple):
    """What is believed of the differences of strength in matches to come: mean, variance (matches), and newcomers."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    unknown: tuple[str, ...]


def pairs_of(home: str | Sequence[str], away: str | Sequence[str]) -> tuple[list[str], list[str]]:
    """Both sides as lists of equal length; a single name meets everyone of the other list."""
    sides = [[side] if isinstance(side, str) else side for side in (home, away)]
    for side in sides:
        if not is_list(side):
            raise InputError(f"{side!r:.60} is neither the name of a side nor a list of names.")
    first, second = list(sides[0]), list(sides[1])
    for name in (*first, *second):
        if not is_text(name):
            raise InputError(f"{name!r:.60} is not the name of a side; a name is text that is not blank.")
    if len(first) == len(second):
        return first, second
    if isinstance(home, str):
        return first * len(second), second
    if isinstance(away, str):
        return first, second * len(first)
    raise InputError(
        f"{len(first)} sides cannot be paired with {len(second)}; give one name, or lists of equal length."
    )
