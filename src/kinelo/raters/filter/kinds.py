"""What kinds of slots there are: how their strengths move, and how newcomers of each kind enter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Kind(NamedTuple):
    """One kind of slots, in numbers of one filter.

    Strengths move as ``dx = −rho x dt + dW`` with variance ``walk`` a year. A newcomer has mean

        ``mates · Σ |share| x`` of his own side ``+ foes · Σ |share| x`` of the other side
        ``+ level · (1 − foes) (1 − e^{−years}) · x_level``,

    where sums go over those in the match who ``count`` and are known already, ``years`` is the time since the first
    match and ``foes`` is 0 where nobody of the other side is known. Around it he has variance ``prior``, and newcomers
    of one side share ``common · prior`` beyond that. A kind that is ``whole`` begins at the mean of those of its side
    who are known, where there are any. A kind that is ``apart`` is believed to be independent of everything else, and
    an ``effect`` is no part of anybody's rating; nor is what is kept apart.
    """

    walk: float = 0.0
    rho: float = 0.0
    prior: float = 0.0
    mates: float = 0.0
    foes: float = 0.0
    level: float = 0.0
    common: float = 0.0
    counts: bool = False
    whole: bool = False
    apart: bool = False
    effect: bool = False


class Kinds(NamedTuple):
    """The table as loops take it: numbers (kinds, members), flags (kinds), and the variance of the noise (members)."""

    walk: Array
    rho: Array
    prior: Array
    mates: Array
    foes: Array
    level: Array
    common: Array
    counts: NDArray[np.bool_]
    whole: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    effect: NDArray[np.bool_]
    noise: Array


KIND_NUMBERS = 7


def kinds_of_batch(tables: Sequence[Sequence[Kind]], noise: Sequence[float]) -> Kinds:
    """The tables of several filters, which agree in their flags, side by side.

    >>> kinds_of_batch([[Kind(walk=0.1), Kind(prior=2.0)]], [1.0]).prior.tolist()
    [[0.0], [2.0]]
    """
    numbers = np.array([[kind[:KIND_NUMBERS] for kind in table] for table in tables], float)
    columns = [np.ascontiguousarray(numbers[:, :, k].T) for k in range(KIND_NUMBERS)]
    kinds = [kind._replace(effect=kind.effect or kind.apart) for kind in tables[0]]
    flags = [np.array(column, np.bool_) for column in zip(*(kind[KIND_NUMBERS:] for kind in kinds))]
    return Kinds._make([*columns, *flags, np.array(noise, float)])
