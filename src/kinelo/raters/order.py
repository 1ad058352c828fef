"""Whether the order in which a table names the two sides tells who won.

A table that names the winner first leaks the result into the order: a rater that learns an advantage of the side named
first learns nothing else. Among ``n`` decided matches order is taken to tell the result where the first side won at
least ``TELLING`` of them and ``n ≥ FEWEST``; at home it takes ``TELLING_AT_HOME``, because strong hosts who invite weak
guests do win nearly always. No home advantage and no seeding known to sport comes near such a share, and to leave order
out by mistake costs little: the advantage is then simply 0. On neutral ground order counts only once ``fit`` has seen
``FEWEST`` decided matches in which it does not tell the result.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import KineloWarning
from kinelo.matches.matches import Matches

FEWEST = 20
TELLING = 0.95
TELLING_AT_HOME = 0.99


@dataclass(frozen=True)
class Order:
    """What may be learnt from the order of sides: an advantage at home, an advantage of the first on neutral ground."""

    home: bool = True
    neutral: bool = False


def learn_order(matches: Matches) -> Order:
    """What the order of sides in matches to be fitted may teach; warns where it tells the result.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B"] * 20, "away": ["B", "A"] * 20, "neutral": [1] * 40}
    >>> learn_order(kn.read_matches(table | {"result": [1, 1, 0, 1] * 10}))
    Order(home=True, neutral=True)
    """
    at_home, elsewhere = (_first_wins(matches, there) for there in (~matches.neutral, matches.neutral))
    leaks_at_home = _tells(*at_home, TELLING_AT_HOME, "at home")
    leaks_elsewhere = _tells(*elsewhere, TELLING, "on neutral ground")
    return Order(not leaks_at_home, not leaks_elsewhere and elsewhere[0] >= FEWEST)


def _first_wins(matches: Matches, there: NDArray[np.bool_]) -> tuple[int, float]:
    """Decided matches among some, and the share of them that the first side won."""
    S = matches.signed[there]
    won, lost = int(np.sum(S > 0)), int(np.sum(S < 0))
    return won + lost, won / max(won + lost, 1)


def _tells(decided: int, share: float, telling: float, where: str) -> bool:
    if decided < FEWEST or share < telling:
        return False
    warnings.warn(
        f"The side named first won {share:.1%} of {decided:,} decided matches {where}: the order of sides seems to "
        "tell the result, so nothing is learnt from it; if the table names winners, call its columns winner and loser.",
        KineloWarning,
        stacklevel=5,
    )
    return True
