"""Groups that the data can tell apart, and what would split them.

Two are told apart where their difference is ``z`` standard errors from 0, ``Φ(−z) = (1 − level)/(N(N − 1))``, so that
all pairs together hold the level once. A tier ends where everyone above is told from everyone below. What neighbours
lack is counted in matches between them: ``n`` with ``1/D + nw = (z/gap)²``, ``w`` the information of one match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from kinelo.decisions.choosing import GRID, beliefs_of
from kinelo.forecasts.parameters import check_number
from kinelo.raters.rater import traits_of

if TYPE_CHECKING:
    import polars as pl

LEVEL = 0.95
MOST_MATCHES = 1e9
"""Matches beyond which nothing is said of what would tell two apart."""


def tiers(rated: Any, *, level: float = LEVEL) -> pl.DataFrame:
    """Groups of those rated that the data can tell apart, the best first.

    Parameters
    ----------
    rated
        A rater that says how uncertain its ratings are, or a rating book.
    level
        How sure all boundaries together are, looked at once (:class:`kinelo.Elimination` is for looking often).

    Returns
    -------
    polars.DataFrame
        ``tier``, ``name``, ``rating``, ``uncertainty``, and ``more``: how many matches between this one and the next
        below would tell the two apart if the difference is what it seems; None where they are, or where it takes more
        than a billion.

    >>> import kinelo as kn
    >>> known = {"name": ["Ann", "Bea", "Cid"], "rating": [1800, 1780, 1500], "deviation": [40, 40, 40]}
    >>> kn.tiers(kn.Glicko(start=known, ties=0.0, home_advantage=0.0)).select("tier", "name").rows()
    [(1, 'Ann'), (1, 'Bea'), (2, 'Cid')]
    """
    return _groups(rated, level)


def board_with_tiers(rater: Any, board: pl.DataFrame) -> pl.DataFrame:
    """A leaderboard with ``tier`` and, of matches, ``more`` of those who stand on it, where a rater takes all results
    at once; of others it stays as it is.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B", "C"] * 40, "away": ["B", "C", "A"] * 40, "result": [1, 0.5, 0] * 40}
    >>> rater = kn.BradleyTerry().fit(kn.read_matches(table))
    >>> board_with_tiers(rater, kn.leaderboard(rater)).select("place", "tier", "name").rows()
    [(1, 1, 'A'), (2, 2, 'B'), (3, 2, 'C')]
    """
    if not traits_of(rater).all_at_once or not board.height:
        return board
    groups = _groups(rater, LEVEL, set(board["name"])).select("name", "tier", "more")
    joined = board.join(groups, on="name", how="left", maintain_order="left")
    columns = [name for name in board.columns if name not in ("pool", "note")]
    columns.insert(columns.index("place") + 1, "tier")
    more = [] if "kind" in columns else ["more"]  # of contests nobody counts matches between two
    return joined.select(*columns, *more, *(name for name in ("pool", "note") if name in board.columns))


def _groups(rated: Any, level: float, among: set[str] | None = None) -> pl.DataFrame:
    """The same of those ``among`` everyone rated."""
    import polars as pl

    level = check_number("tiers", "level", level, 0.5, 1.0 - 1e-9)
    beliefs, _ = beliefs_of(rated, "tiers")
    at = range(len(beliefs.names)) if among is None else [k for k, name in enumerate(beliefs.names) if name in among]
    order = np.array(at, np.int64)[np.argsort(-beliefs.mean[at], kind="stable")]
    mean, P, size = beliefs.mean[order], beliefs.covariance[np.ix_(order, order)], order.size
    variances = np.diagonal(P)
    variance = np.maximum(variances[:, None] + variances - 2.0 * P, 1e-12)
    z = -float(ndtri((1.0 - level) / max(size * (size - 1), 2)))
    told = (mean[:, None] - mean) / np.sqrt(variance) >= z
    tier = 1 + np.cumsum([k > 0 and bool(told[:k, k:].all()) for k in range(size)])
    gap, D = mean[:-1] - mean[1:], np.diagonal(variance, 1)
    information = np.interp(gap, GRID * np.arange(beliefs.law.size), beliefs.law)
    with np.errstate(divide="ignore", over="ignore"):
        more = ((z / gap) ** 2 - 1.0 / D) / np.maximum(information, 1e-300)
    lacking = [float(np.ceil(one)) if 0.0 < one <= MOST_MATCHES else None for one in more.tolist()]
    return pl.DataFrame(
        {
            "tier": tier.astype(np.int64),
            "name": [beliefs.names[k] for k in order.tolist()],
            "rating": mean,
            "uncertainty": np.sqrt(np.maximum(variances, 0.0)),
            "more": pl.Series([*lacking, None][:size], dtype=pl.Float64).cast(pl.Int64),
        }
    )
