r"""How much performances vary around strengths, as far as line-ups tell it.

A side plays better or worse than it usually does because others are on the pitch. With β_p what player p is worth and x
the line-up (its starters, one each) less the side's usual one (a mean that forgets as ratings do), a match's residual
is ``S − b = μ (x_home − x_away)·β + luck``. One-step-ahead residuals of different matches are uncorrelated where
line-ups do not matter; where they do, ``E y_k y_l = τ² x_k·x_l`` for k ≠ l, with ``y = (S − b)/√q`` and x scaled by
μ/√q. So

    τ² = Σ_{k≠l} y_k y_l (x_k·x_l) / Σ_{k≠l} (x_k·x_l)²

estimates the variance of β without estimating any player, without bias, and side i performs with
``σ_i² = τ² · mean |x_i|²`` around its strength. The play of chance is drawn: results from the forecasts.

What line-ups do not show, the form of the day, is not identified: it flattens the scale of all results alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kinelo.advice.audit.gaps import GapForecasts, law_of
from kinelo.advice.audit.kernels import Array
from kinelo.advice.audit.recursion import Recursion
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches

PERFORMANCE_DRAWS = 200
LEAST_WITH_LINEUPS = 60
"""Matches with both line-ups known."""
LEAST_LINEUPS = 10
"""Line-ups of a side whose own spread is stated."""
SETTLED_LINEUPS = 5
"""Line-ups after which a side's usual one is known."""
RARE_BY_CHANCE = 1e-3


@dataclass(frozen=True)
class Performance:
    """How much performances vary around strengths because line-ups do, in points.

    Attributes
    ----------
    spread, low, high
        σ over all sides, 0 where nothing of it shows, with its 95 % interval by draws. Of 48 simulated leagues 42
        intervals held σ and all lower ends lay below it: in long leagues σ is found too small.
    sides
        σ of every side by name.
    p_value
        Share of leagues whose line-ups do not matter that show at least as much.
    matches
        Matches with both line-ups known.
    """

    spread: float
    low: float
    high: float
    p_value: float
    matches: int
    sides: dict[str, float] = field(repr=False)


def performance_of(matches: Matches, recursion: Recursion, k: float, seed: int = 0) -> Performance | None:
    """Estimate the spread of performances from line-ups; ``k`` says how fast the usual line-up is forgotten.

    None where too few matches have both: in results alone that spread flattens the scale of all alike.
    """
    lineups = matches.lineups
    if lineups is None or lineups.known().sum() < LEAST_WITH_LINEUPS:
        return None
    size = len(matches.teams)
    home, away, seen = _unusual(matches, lineups, min(k / 2 * recursion.slope, 0.5))
    # The gap of strengths in every match, home advantage included, and its doubt before it was played.
    path, at_home, venue = recursion.filtered.path, recursion.filtered.home_path, ~recursion.calendar.neutral
    gap = path[:, 0, 1] - path[:, 1, 1] + np.where(venue, at_home[:, 0], 0.0)
    doubt = path[:, 0, 2] + path[:, 1, 2] + np.where(venue, at_home[:, 1], 0.0)
    gaps = GapForecasts(gap, law_of(recursion.parameters.nu, recursion.parameters.ties), np.sqrt(doubt))
    expected, mu, q = gaps.law()
    scale = (mu / np.sqrt(q))[seen]
    x = sparse.diags_array(scale) @ (home - away)[seen]
    y = ((matches.signed - expected) / np.sqrt(q))[seen]
    pairs = _MatchPairs(x.tocsr())
    raw = pairs.estimate(y)
    tau = max(raw, 0.0)
    draw = np.random.default_rng(seed)
    decided = q[seen] + expected[seen] ** 2  # chances of each match, by the mean and the variance of its result
    win = (decided + expected[seen]) / 2
    null, again = np.empty(PERFORMANCE_DRAWS), np.empty(PERFORMANCE_DRAWS)
    for n in range(PERFORMANCE_DRAWS):
        uniform = draw.random(win.size)
        result = np.where(uniform < win, 1.0, np.where(uniform < win + 1 - decided, 0.0, -1.0))
        luck = (result - expected[seen]) / np.sqrt(q[seen])
        null[n] = pairs.estimate(luck)
        worth = draw.normal(0.0, math.sqrt(tau), x.shape[1])
        again[n] = pairs.estimate(luck + pairs.x @ worth)
    # What was found lies about the truth as drawn estimates lie about what was found.
    low, high = tau - np.quantile(again - tau, [0.975, 0.025])
    who = np.concatenate([matches.home[seen], matches.away[seen]])
    squares = np.bincount(who, np.concatenate([_row_squares(one)[seen] for one in (home, away)]), minlength=size)
    count = np.bincount(who, minlength=size)
    typical = float(squares.sum() / max(count.sum(), 1))
    sides = {matches.teams[i]: math.sqrt(tau * squares[i] / count[i]) for i in np.flatnonzero(count >= LEAST_LINEUPS)}
    spread, least, most = (math.sqrt(max(float(value), 0.0) * typical) for value in (tau, low, high))
    p = (1 + int(np.sum(null >= raw))) / (1 + PERFORMANCE_DRAWS)
    return Performance(spread, least, most, p, int(seen.sum()), sides)


def starters(lineups: Lineups) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Players of each line-up who started; all who are listed where nobody is known to have started."""
    started = lineups.starter == 1
    length = np.diff(lineups.offsets)
    owner = np.repeat(np.arange(length.size), length)
    some = np.bincount(owner[started], minlength=length.size) > 0
    keep = started | ~some[owner]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(owner[keep], minlength=length.size))])
    return lineups.player[keep], bounds


class _MatchPairs:
    """Sums over pairs of different matches."""

    def __init__(self, x: sparse.csr_array) -> None:
        self.x = x
        self._own = _row_squares(x)
        products = (x.T @ x).tocsr()
        self._below = float(products.multiply(products).sum() - (self._own**2).sum())

    def estimate(self, y: Array) -> float:
        """τ² from standardised residuals."""
        together = self.x.T @ y
        return float(together @ together - (y**2 * self._own).sum()) / max(self._below, 1e-300)


def _unusual(
    matches: Matches, lineups: Lineups, forget: float
) -> tuple[sparse.csr_array, sparse.csr_array, NDArray[np.bool_]]:
    """Both line-ups of each match less what those sides usually field (matches × players), and where that is known."""
    players, bounds = starters(lineups)
    usual: list[dict[int, float]] = [{} for _ in matches.teams]
    games = np.zeros(len(matches.teams), int)
    entries: tuple[list[tuple[int, int, float]], ...] = ([], [])
    seen = np.zeros(len(matches), bool)
    for match in np.flatnonzero(lineups.known()).tolist():
        pair = int(matches.home[match]), int(matches.away[match])
        seen[match] = min(games[pair[0]], games[pair[1]]) >= SETTLED_LINEUPS
        for place, team in enumerate(pair):
            fielded = players[bounds[2 * match + place] : bounds[2 * match + place + 1]].tolist()
            apart = {player: -share for player, share in usual[team].items()}
            for player in fielded:
                apart[player] = apart.get(player, 0.0) + 1.0
            entries[place].extend((match, player, value) for player, value in apart.items())
            # The usual line-up moves towards the one that played.
            rate = max(forget, 1.0 / (games[team] + 1))
            left = {player: share * (1.0 - rate) for player, share in usual[team].items()}
            usual[team] = {player: share for player, share in left.items() if share >= RARE_BY_CHANCE}
            for player in fielded:
                usual[team][player] = usual[team].get(player, 0.0) + rate
            games[team] += 1
    rows = [zip(*one) for one in entries]
    home, away = (
        sparse.csr_array((values, (match, player)), shape=(len(matches), len(lineups.players)))
        for match, player, values in rows
    )
    return home, away, seen


def _row_squares(x: sparse.csr_array) -> Array:
    return np.asarray(x.multiply(x).sum(axis=1)).ravel()
