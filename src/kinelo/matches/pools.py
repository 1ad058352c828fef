"""Pools: sides that matches tie to one another, and how firmly.

Let every match be a wire of conductance 1 (less, the longer ago it was played) between its two sides. The effective
resistance between two sides is, up to a factor, the variance with which matches determine the difference of their
ratings. A side's *tie* is 1 over the median resistance to the sides of the largest connected group: so many matches,
played directly against a typical side, would tie it as firmly. Sides whose tie is at least ``firm`` (or a third of the
median tie, where that is less: few matches have been played at all) make the main pool; the others fall into the groups
in which they are connected among themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, get_lapack_funcs
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from kinelo.errors import InputError

if TYPE_CHECKING:
    import polars as pl

FIRM = 4.0
MOST_SIDES = 3000
"""Beyond this many connected sides, resistances are those of direct matches only: the full ones take too long."""


LEAST_WEIGHT = 1e-9
"""Matches that count for less, under a short half-life, tie nobody: beside others they would be lost in rounding."""


def pools_of(
    home: NDArray[np.int32], away: NDArray[np.int32], weight: NDArray[np.float64], sides: int, firm: float = FIRM
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pool of every side (0 is the main one, then by number of sides; -1 never played) and its tie to the main pool.

    >>> home, away = np.array([0, 1, 2, 3] * 20 + [4] * 9 + [4]), np.array([1, 2, 3, 0] * 20 + [5] * 9 + [0])
    >>> pool, tie = pools_of(home, away, np.ones(90), 7)
    >>> pool.tolist(), tie.round(1).tolist()
    ([0, 0, 0, 0, 1, 1, -1], [20.0, 20.0, 20.0, 20.0, 1.0, 0.9, 0.0])
    """
    counts = weight > LEAST_WEIGHT
    graph = coo_matrix((weight[counts], (home[counts], away[counts])), shape=(sides, sides)).tocsr()
    graph = (graph + graph.T).tocsr()
    played = np.bincount(np.concatenate([home, away]), minlength=sides) > 0
    _, group = connected_components(graph, directed=False)
    largest = np.bincount(group[played]).argmax() if played.any() else -1
    core = np.flatnonzero((group == largest) & played)
    tie = np.zeros(sides)
    if core.size > 1:
        if core.size <= MOST_SIDES:
            tie[core] = _ties(graph[core][:, core].toarray())
        else:  # through direct matches alone: never firmer than a side's own matches
            own = np.asarray(graph.sum(axis=1)).ravel()[core]
            tie[core] = 1.0 / (1.0 / np.maximum(own, 1e-300) + 1.0 / max(float(np.median(own)), 1e-300))
    pool = np.full(sides, -1)
    firmly = played & (tie >= min(firm, float(np.median(tie[core])) / 3 if core.size else 0.0)) & (tie > 0)
    pool[firmly] = 0
    loose = np.flatnonzero(played & ~firmly)
    _, among = connected_components(graph[loose][:, loose], directed=False)
    sizes = np.bincount(among)
    pool[loose] = 1 + np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")[among] if loose.size else 0
    return pool, tie


def _ties(conductance: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 over the median effective resistance to the others, from the inverse of the grounded Laplacian."""
    laplacian = np.diag(conductance.sum(axis=1)) - conductance
    size = len(laplacian)
    # A wire of conductance 1 from everyone to a common rail shifts all differences alike and makes it definite.
    (invert,) = get_lapack_funcs(("potri",), (laplacian,))
    inverse, _ = invert(cholesky(laplacian + 1.0 / size, lower=True), lower=True)
    own = np.diagonal(inverse).copy()
    resistance = own[:, None] + own[None, :] - 2.0 * (np.tril(inverse) + np.tril(inverse, -1).T)
    np.fill_diagonal(resistance, np.inf)
    middle = ((size - 2) // 2, (size - 1) // 2)  # of the others: who is infinitely far, oneself, comes last
    return 1.0 / np.maximum(np.partition(resistance, middle, axis=1)[:, list(middle)].mean(axis=1), 1e-300)


LARGEST_POOL_NUMBER = 1e15
"""Days and matches beyond this are none."""


def _finite(value: object) -> bool:
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and -LARGEST_POOL_NUMBER < value < LARGEST_POOL_NUMBER  # type: ignore[operator]
    )


def pool_table(
    teams: tuple[str, ...],
    home: NDArray[np.int32],
    away: NDArray[np.int32],
    day: NDArray[np.int64],
    half_life: float | None,
    firm: float,
) -> pl.DataFrame:
    """Name, pool and tie of every side, the main pool first; a lesser pool is called after the side that plays most."""
    import polars as pl

    if half_life is not None and not (_finite(half_life) and half_life > 0):
        raise InputError(f"half_life must be a number of days above 0, or None, not {half_life!r}.")
    if not (_finite(firm) and firm >= 0):
        raise InputError(f"firm must be a number of matches from 0 on, not {firm!r}.")
    age = day.max() - day if day.size else day
    weight = np.ones(day.size) if half_life is None else 0.5 ** (age / float(half_life))
    sides = len(teams)
    pool, tie = pools_of(home, away, weight, sides, firm)
    both = np.concatenate([home, away])
    count = np.bincount(both, minlength=sides)
    recent = np.bincount(both, weights=np.tile(weight, 2), minlength=sides)
    called = {}
    for number in np.unique(pool[pool > 0]).tolist():
        members = np.flatnonzero(pool == number)
        called[number] = f"around {teams[members[np.argmax(recent[members])]]}"
    names = ["main" if number == 0 else called.get(number, "") for number in pool.tolist()]
    table = pl.DataFrame(
        {
            "name": pl.Series(teams, dtype=pl.String),
            "pool": pl.Series(names, dtype=pl.String),
            "tie": tie,
            "matches": count,
            "number": pool,
        }
    )
    return table.filter(pl.col("number") >= 0).sort("number", "tie", descending=[False, True]).drop("number")
