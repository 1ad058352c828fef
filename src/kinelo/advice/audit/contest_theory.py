r"""What every K of plain Elo does to contests of many entrants, by theory.

Ratings follow strengths along the contests that were played. With ``γ = K/2`` and the mean slope ``β`` of an expected
result, a contest of k takes the mean square ``v`` of the error ``e = R − s`` of a rating, and ``c = E e s``, to

    ``v ← (1 − γβ)² v + γ² β² ⟨v⟩/(k − 1) + γ² λ (1 + (k − 2) ρ)/(k − 1)``,  ``c ← (1 − γβ) c``,

``λ`` being the luck ``⟨1 − b²⟩`` of a match and ρ the correlation of a team's surprises against two opponents, from the
theory of :class:`kinelo.Field`. Plain Elo counts who does not finish as beaten by all who do. Where a part u of a field
does not, whatever its strength, results of pairs show ``(1 − u)²`` of the difference of strengths, and whether somebody
finishes is luck against all opponents at once: ``e`` loses ``h s`` more, ``h = γβ (1 − (1 − u)²)``,

    ``v ← … + h² W − 2 (1 − γβ) h c + γ² u (1 − u) k/(k − 1)``,  ``c ← … − h W``,

the luck of matches counting ``(1 − u)²`` times. Between contests strengths move, ``s ← f s + w``, and errors with them.
A newcomer differs by what is not known of it, ``c = −v``, and by how far off the rating is at which it starts.

The gap of two ratings is then ``(1 + c/W) d`` and noise, ``d`` being the gap of strengths of which the variance in a
field is ``2W``: ratings that lag show less than there is, which costs less than as much noise. The log-loss of a pair
is the mean over both, with performances as :class:`kinelo.RankElo` believes them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from kinelo.advice.audit.estimate import hermite
from kinelo.advice.audit.kernels import Array
from kinelo.matches.contests import FINISHED, Contests
from kinelo.model.outcome import Tanh
from kinelo.model.schedule import Field
from kinelo.model.system import RatingSystem
from kinelo.raters.filter.belief import fade_all
from kinelo.theory.worth import contest_share

POOL = 24
"""Strengths that stand for those of a field."""
NODES = 21
"""Nodes for the gap of two strengths, and for the noise of that of their ratings."""


class ContestLeague(NamedTuple):
    """What the theory needs to know of those who compete, in points: the yearly walk of a strength, the yearly rate of
    its return, the deviation of newcomers, how far off their rating is at first, and the deviation of strengths within
    a field.
    """

    walk: float
    rate: float
    entry_spread: float
    entry_gap: float
    within: float


class FieldLuck(NamedTuple):
    """Means over the pairs of a field: slope of an expected result, luck of a match, and what the surprises of one
    entrant against two others have in common.
    """

    slope: float
    luck: float
    alike: float


def field_luck(within: float, nu: float) -> FieldLuck:
    """Means over the pairs of a field whose strengths have this deviation."""
    pool = within * ndtri((np.arange(POOL) + 0.5) / POOL)
    luck = float((1.0 - np.tanh(nu * (pool[:, None] - pool)) ** 2).mean())
    share = contest_share(RatingSystem(Tanh(nu=nu), schedule=Field(3)), pool)
    return FieldLuck(nu * luck, luck, 2.0 * share - 1.0)


def expected_losses(contests: Contests, league: ContestLeague, ks: Array, nu: float, since: int) -> Array:
    """Log-loss of a pair of finishers of the contests from ``since`` on, at every K."""
    mean, spread, gamma = field_luck(league.within, nu), league.within**2, ks / 2.0
    rest = 1.0 - gamma * mean.slope
    v, c = np.full((2, len(contests.entrants), ks.size), np.nan)
    last = np.zeros(len(contests.entrants))
    known_sum, pairs = np.zeros((2, ks.size)), np.zeros(3)  # of known, of a known and a new one, of new ones
    for number in range(len(contests)):
        own = slice(int(contests.first[number]), int(contests.first[number + 1]))
        who, size = contests.entrant[own], int(contests.sizes[number])
        f, added = (one[:, None] for one in fade_all(contests.day[number] - last[who], league.rate, league.walk**2))
        error = v[who] + 2.0 * (1.0 - f) * c[who] + (1.0 - f) ** 2 * spread + added
        along = f * c[who] + f * (1.0 - f) * spread - added
        new = np.isnan(error[:, 0])
        there = float((contests.ended[own] == FINISHED).mean())
        lost = gamma * mean.slope * (1.0 - there**2)
        error[new], along[new] = league.entry_spread**2 + league.entry_gap**2, -(league.entry_spread**2)
        if number >= since:
            finished = contests.ended[own] == FINISHED
            old, fresh = int((finished & ~new).sum()), int((finished & new).sum())
            weights = np.array([old * (old - 1) / 2.0, old * fresh, fresh * (fresh - 1) / 2.0])
            pairs += weights
            if old:
                settled = finished & ~new
                known_sum += (2 * weights[0] + weights[1]) * np.stack([error[settled].mean(0), along[settled].mean(0)])
        shake = there**2 * mean.luck * (1.0 + (size - 2.0) * mean.alike) + there * (1.0 - there) * size
        v[who] = rest**2 * error + (gamma * mean.slope) ** 2 * error.mean(axis=0) / (size - 1.0)
        v[who] += gamma**2 * shake / (size - 1.0) + lost**2 * spread - 2.0 * rest * lost * along
        c[who], last[who] = rest * along - lost * spread, contests.day[number]
    error, along = known_sum / max(2 * pairs[0] + pairs[1], 1.0)
    show = 1.0 + np.clip(along / spread, -1.0, 1.0)
    return pair_losses(Known(spread, show, np.maximum(error - (1.0 - show) ** 2 * spread, 0.0)), league, pairs, nu)


class Known(NamedTuple):
    """Variance of the strengths of those who are known, the part of it that ratings show, and the variance of the rest
    of ratings (K each).
    """

    variance: float
    show: Array
    noise: Array


def pair_losses(known: Known, league: ContestLeague, pairs: Array, nu: float) -> Array:
    """Mean log-loss of pairs: so many of known entrants, of a known and a new one, and of new ones, whose ratings show
    nothing of their strength but that they are ``entry_gap`` off.
    """
    variance, show, noise = known
    fresh, gap = league.entry_spread**2, league.entry_gap**2
    kinds = (
        (2 * variance, show, 2 * noise),
        (variance + fresh, show * variance / (variance + fresh),
         noise + show**2 * variance * fresh / (variance + fresh) + gap),
        (2 * fresh, 0.0 * show, 0.0 * noise),
    )  # fmt: skip
    losses = [number * pair_loss(*kind, nu) for number, kind in zip(pairs, kinds) if number > 0]
    return np.sum(losses, axis=0) / max(pairs.sum(), 1.0)


def pair_loss(variance: float, show: Array, noise: Array, nu: float) -> Array:
    """Log-loss of forecasts ``1/(1 + e^{−2νr})`` by gaps ``r`` of ratings that are ``show`` times the gap of strengths,
    which has this variance, and noise; a performance is normal, and the slope of results at equality is Elo's.
    """
    nodes, weights = hermite(NODES)
    gap = math.sqrt(variance) * nodes
    ahead = ndtr(math.sqrt(math.pi / 2.0) * nu * gap)
    shown = show[:, None, None] * gap[:, None] + np.sqrt(noise)[:, None, None] * nodes
    loss = ahead[:, None] * np.logaddexp(0.0, -2.0 * nu * shown)
    loss += (1.0 - ahead)[:, None] * np.logaddexp(0.0, 2.0 * nu * shown)
    return np.einsum("kij,i,j->k", loss, weights, weights)
