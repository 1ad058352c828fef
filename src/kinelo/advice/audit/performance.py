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

from kinelo.advice.audit.gaps import Gaps
from kinelo.advice.audit.kernels import Array
from kinelo.advice.audit.recursion import Recursion
from kinelo.errors import InputError
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches

DRAWS = 200
LEAST = 60
"""Matches with both line-ups known."""
SETTLED = 5
"""Line-ups after which a side's usual one is known."""
RARE = 1e-3


@dataclass(frozen=True)
class Performance:
    """How much performances vary around strengths because line-ups do, in points.

    Attributes
    ----------
    spread, low, high
        σ over all sides, 0 where nothing of it shows, with its 95 % interval.
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


def performance_of(matches: Matches, recursion: Recursion, k: float, seed: int = 0) -> Performance:
    """Estimate the spread of performances from line-ups; ``k`` says how fast the usual line-up is forgotten."""
    lineups = matches.lineups
    known = np.zeros(len(matches), bool) if lineups is None else lineups.known()
    if lineups is None or known.sum() < LEAST:
        raise InputError(
            f"The spread of performances is told by line-ups only: {int(known.sum()):,} matches have both, and it "
            f"takes {LEAST}; in results alone it flattens the scale of all results alike."
        )
    size = len(matches.teams)
    home, away, seen = _unusual(matches, lineups, min(k / 2 * recursion.slope, 0.5))
    gap, doubt = recursion.before_results()
    gaps = Gaps(gap, np.sqrt(doubt), recursion.parameters.ties, recursion.parameters.nu)
    expected, mu, q = gaps.law()
    scale = (mu / np.sqrt(q))[seen]
    x = sparse.diags_array(scale) @ (home.x - away.x)[seen]
    y = ((matches.signed - expected) / np.sqrt(q))[seen]
    pairs = _Pairs(x.tocsr())
    raw = pairs.estimate(y)
    tau = max(raw, 0.0)
    draw = np.random.default_rng(seed)
    win, tie = _chances(expected[seen], q[seen])
    null, again = np.empty(DRAWS), np.empty(DRAWS)
    for n in range(DRAWS):
        u = draw.random(y.size)
        luck = (np.where(u < win, 1.0, np.where(u < win + tie, 0.0, -1.0)) - expected[seen]) / np.sqrt(q[seen])
        null[n] = pairs.estimate(luck)
        worth = draw.normal(0.0, math.sqrt(tau), x.shape[1])
        again[n] = pairs.estimate(luck + pairs.x @ worth)
    # What was found lies about the truth as drawn estimates lie about what was found.
    low, high = tau - np.quantile(again - tau, [0.975, 0.025])
    weights = _squares(home, away, seen, matches, size)
    typical = float(weights.total / max(weights.count, 1))
    sides = {matches.teams[i]: math.sqrt(tau * weights.own[i]) for i in np.flatnonzero(np.isfinite(weights.own))}
    spread, least, most = (math.sqrt(max(float(value), 0.0) * typical) for value in (tau, low, high))
    p = (1 + int(np.sum(null >= raw))) / (1 + DRAWS)
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


@dataclass(frozen=True)
class _Unusual:
    """Line-ups of one side of every match, less what that side usually fields, and |x|² of each."""

    x: sparse.csr_array
    square: Array


@dataclass(frozen=True)
class _Squares:
    own: Array
    total: float
    count: int


class _Pairs:
    """Sums over pairs of different matches."""

    def __init__(self, x: sparse.csr_array) -> None:
        self.x = x
        self._own = np.asarray(x.multiply(x).sum(axis=1)).ravel()
        products = (x.T @ x).tocsr()
        self._below = float(products.multiply(products).sum() - (self._own**2).sum())

    def estimate(self, y: Array) -> float:
        """τ² from standardised residuals."""
        together = self.x.T @ y
        return float(together @ together - (y**2 * self._own).sum()) / max(self._below, 1e-300)


def _unusual(matches: Matches, lineups: Lineups, forget: float) -> tuple[_Unusual, _Unusual, NDArray[np.bool_]]:
    """Both line-ups of each match against what those sides usually field, and where that is known of both."""
    players, bounds = starters(lineups)
    usual: list[dict[int, float]] = [{} for _ in matches.teams]
    games = np.zeros(len(matches.teams), int)
    parts: tuple[_Entries, _Entries] = (_Entries(), _Entries())
    seen = np.zeros(len(matches), bool)
    for match in np.flatnonzero(lineups.known()).tolist():
        pair = int(matches.home[match]), int(matches.away[match])
        seen[match] = min(games[pair[0]], games[pair[1]]) >= SETTLED
        for place, team in enumerate(pair):
            fielded = players[bounds[2 * match + place] : bounds[2 * match + place + 1]].tolist()
            parts[place].add(match, usual[team], fielded)
            _get_used(usual[team], fielded, max(forget, 1.0 / (games[team] + 1)))
            games[team] += 1
    shape = len(matches), len(lineups.players)
    return parts[0].made(shape), parts[1].made(shape), seen


class _Entries:
    """The entries of a sparse table, as they come."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._values: list[float] = []

    def add(self, match: int, usual: dict[int, float], fielded: list[int]) -> None:
        apart = {player: -share for player, share in usual.items()}
        for player in fielded:
            apart[player] = apart.get(player, 0.0) + 1.0
        self._rows.extend([match] * len(apart))
        self._columns.extend(apart)
        self._values.extend(apart.values())

    def made(self, shape: tuple[int, int]) -> _Unusual:
        x = sparse.csr_array((self._values, (self._rows, self._columns)), shape=shape)
        return _Unusual(x, np.asarray(x.multiply(x).sum(axis=1)).ravel())


def _get_used(usual: dict[int, float], fielded: list[int], rate: float) -> None:
    """Move the usual line-up towards the one that played."""
    for player in list(usual):
        usual[player] *= 1.0 - rate
        if usual[player] < RARE:
            del usual[player]
    for player in fielded:
        usual[player] = usual.get(player, 0.0) + rate


def _squares(home: _Unusual, away: _Unusual, seen: NDArray[np.bool_], matches: Matches, size: int) -> _Squares:
    sums, count = np.zeros(size), np.zeros(size)
    for one, side in ((home, matches.home), (away, matches.away)):
        sums += np.bincount(side[seen], one.square[seen], minlength=size)
        count += np.bincount(side[seen], minlength=size)
    own = np.where(count >= 10, sums / np.maximum(count, 1), np.nan)
    return _Squares(own, float(sums.sum()), int(count.sum()))


def _chances(mean: Array, variance: Array) -> tuple[Array, Array]:
    """Probabilities of a win and of a tie, from mean and variance of a result."""
    decided = variance + mean**2
    return (decided + mean) / 2, 1 - decided
