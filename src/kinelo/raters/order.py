"""Whether the order in which a table names the two sides tells who won.

A table that names the winner first leaks the result into the order: a rater that learns an advantage of the side named
first learns nothing else. Among ``n`` decided matches order is taken to tell the result where the first side won at
least ``TELLING`` of them and ``n ≥ FEWEST``; at home it takes ``TELLING_AT_HOME``, because strong hosts who invite weak
guests do win nearly always. No home advantage and no seeding known to sport comes near such a share, and to leave order
out by mistake costs little: the advantage is then simply 0. On neutral ground order counts only once ``fit`` has seen
``FEWEST`` decided matches in which it does not tell the result.

Matches whose order within their day nobody knows (:attr:`Matches.unordered`): all forecast from before the first.

A final that is rated before its semi-finals tells who won them. ``one_step_ahead`` therefore forecasts such matches
together from the ratings as they stand before any of them, and then uses them; ``fit`` scores only those that no side
has played before on that day, whose one-step-ahead forecast is the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kinelo.errors import KineloWarning
from kinelo.forecasts.forecast import Forecast
from kinelo.matches.contests import Contests
from kinelo.matches.day_order import forecast_until
from kinelo.matches.matches import Matches
from kinelo.presentation import percent

FEWEST = 20
TELLING = 0.95
TELLING_AT_HOME = 0.99


@dataclass(frozen=True)
class SideOrder:
    """What may be learnt from the order of sides: an advantage at home, an advantage of the first on neutral ground."""

    home: bool = True
    neutral: bool = False


def learn_order(matches: Matches | Contests) -> SideOrder:
    """What the order of sides in matches to be fitted may teach; warns where it tells the result.

    Nobody is named first in a contest because of what he is.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B"] * 20, "away": ["B", "A"] * 20, "neutral": [1] * 40}
    >>> learn_order(kn.read_matches(table | {"result": [1, 1, 0, 1] * 10}))
    SideOrder(home=True, neutral=True)
    """
    at_home, elsewhere = (matches._first_wins(neutral=neutral) for neutral in (False, True))
    leaks_at_home = _tells(*at_home, TELLING_AT_HOME, "at home")
    leaks_elsewhere = _tells(*elsewhere, TELLING, "on neutral ground")
    return SideOrder(not leaks_at_home, not leaks_elsewhere and elsewhere[0] >= FEWEST)


def tells_result(decided: float, share: float, telling: float = TELLING_AT_HOME) -> bool:
    """Whether so many decided matches, of which the side named first won this share, leave no doubt."""
    return decided >= FEWEST and share >= telling


def _tells(decided: int, share: float, telling: float, where: str) -> bool:
    if not tells_result(decided, share, telling):
        return False
    warnings.warn(
        f"The side named first won {percent(share, 1)} of {decided:,} decided matches {where}: the order of sides "
        "seems to tell the result, so nothing is learnt from it; if the table names winners, call its columns winner "
        "and loser.",
        KineloWarning,
        stacklevel=4,
    )
    return True


def joined_forecast(parts: list[Forecast], matches: Any) -> Any:
    """One forecast of all matches from those of their parts."""
    unknown = tuple(dict.fromkeys(name for part in parts for name in part.unknown))
    before = [part.ratings_before for part in parts if part.ratings_before is not None]
    ratings = np.concatenate(before) if len(before) == len(parts) else None
    return Forecast(np.concatenate([part.probabilities for part in parts]), unknown, matches, ratings)


def parts_of(matches: Any) -> Iterator[tuple[Any, bool]]:
    """The matches in parts, and whether each is forecast as a whole before it is used: each day's unordered matches
    together are, and what lies between them is not.
    """
    unordered = matches.unordered
    if unordered is None or not unordered.any():
        yield matches, False
        return
    until = forecast_until(matches)
    cut = (until[1:] != until[:-1]) & (unordered[1:] | unordered[:-1])
    for begin, end in pairwise([0, *(np.flatnonzero(cut) + 1).tolist(), len(matches)]):
        yield matches[begin:end], bool(unordered[begin])
