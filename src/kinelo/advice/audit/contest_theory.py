r"""What every K of plain Elo does to contests of many entrants, by theory.

Ratings follow strengths along the contests that were played. Of every entrant the theory keeps the variance ``w`` of
the strength s, what the rating has in common with it, ``x = E R s``, and the variance ``n`` of the rest of the rating.
With ``γ = K/2``, a contest of k takes them to

    ``x ← (1 − γβ) x + γ σ w``,  ``n ← (1 − γβ)² n + (γ² β² ⟨n⟩ + γ² λ (1 + (k − 2) ρ))/(k − 1)``.

``β`` is the mean slope of Elo's expected results at gaps of ratings as they are, ``E[ν/cosh²(νz)]`` with the variance
``2⟨x²/w + n⟩``: ratings that lag lie closer together, where Elo expects more of a point. ``σ`` is the slope of results
on strengths, ``λ`` the luck ``⟨1 − b²⟩`` of a match and ρ the correlation of an entrant's surprises against two
opponents, all three with performances as :class:`kinelo.RankElo` finds them: a day that is off is luck against all
opponents at once.

Plain Elo counts who does not finish as beaten by all who do. Where a part u of a field does not, results of pairs show
``(1 − u)² σ − u (1 − u) τ``, ``τ`` being the growth of the logit of u with strength, and λ, ρ and σ change to

    ``λ (1 + (k − 2) ρ) → (1 − u)² λ (1 + (k − 2) (1 − u) ρ) + u (1 − u) k``.

Where some do not finish more often than others of their strength, with a variance φ of their chances, that pulls their
ratings for as long as they take part: ``y = E R p ← (1 − γβ) y − γ φ``, and n gains ``−2 (1 − γβ) γ y``.

Between contests strengths move, ``s ← f s + ω``: ``x ← f x``, ``w ← f² w + E ω²`` up to the variance W in a field,
while ``x²/w + n`` stays. Of newcomers x and n are 0: ratings show nothing of how they differ, nor of how far off all of
them start, which counts in their w.

The gap of two ratings is then ``(x/w) d`` and noise, ``d`` being the gap of strengths of which the variance in a field
is ``2W``: ratings that lag show less than there is, which costs less than as much noise. The log-loss of a pair is the
mean over both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.advice.audit.estimate import hermite
from kinelo.advice.audit.kernels import Array
from kinelo.forecasts.places import mixed_chance, width_of
from kinelo.matches.contests import FINISHED, Contests
from kinelo.raters.filter.belief import fade_all

POOL = 24
"""Strengths that stand for those of a field."""
NODES = 21
"""Nodes for the gap of two strengths, and for the noise of that of their ratings."""


class ContestLeague(NamedTuple):
    """What the theory needs to know of those who compete, in points: the yearly walk of a strength, the yearly rate of
    its return, the deviation of newcomers, how far off their rating is at first, and the deviation of strengths within
    a field; which part of performances is off, and how deep; by how much the logit of not finishing grows with a point
    of strength, and the variance among entrants of the chance not to finish beyond that.
    """

    walk: float
    rate: float
    entry_spread: float
    entry_gap: float
    within: float
    off: float = 0.0
    depth: float = 0.0
    tilt: float = 0.0
    fragile: float = 0.0

    @property
    def newcomers(self) -> float:
        """Mean square of newcomers' strengths from the rating at which they start; no more than within a field."""
        return min(self.entry_spread**2 + self.entry_gap**2, self.within**2)


class FieldLuck(NamedTuple):
    """Means over the pairs of a field: slope of results on strengths, luck of a match, and what the surprises of one
    entrant against two others have in common.
    """

    slope: float
    luck: float
    alike: float

    def of_contest(self, size: float, there: float) -> float:
        """Variance of the mean surprise of an entrant of a field of this size, of which this part finishes."""
        shared = (size - 2.0) * there * self.alike
        return (there**2 * self.luck * (1.0 + shared) + there * (1.0 - there) * size) / (size - 1.0)


def field_luck(league: ContestLeague, nu: float) -> FieldLuck:
    """Means over the pairs of a field whose strengths have the deviation of this league."""
    pool, unit = league.within * ndtri((np.arange(POOL) + 0.5) / POOL), 1.0 / (math.sqrt(math.pi) * nu)
    gap = pool[:, None] - pool
    result = 2.0 * ahead(gap, league, nu) - 1.0
    nodes, weights = hermite(NODES)
    square = np.zeros(POOL)
    for part, low, wide in _parts(league):
        shown = pool[:, None] + unit * (low + wide * nodes)
        # How an entrant who performs like this stands to the whole field.
        each = [
            share * (2.0 * ndtr(((shown[..., None] - pool) / unit - below) / deviation) - 1.0)
            for share, below, deviation in _parts(league)
        ]
        beaten = np.sum(each, axis=0).mean(axis=-1)
        square += part * beaten**2 @ weights
    luck = float((1.0 - result**2).mean())
    common = float((square - result.mean(axis=1) ** 2).mean())
    return FieldLuck(float((gap * result).sum() / (gap * gap).sum()), luck, common / luck)


def elo_slope(variance: Array, nu: float) -> Array:
    """Mean slope of Elo's expected results where gaps of ratings have this variance."""
    nodes, weights = hermite(NODES)
    return nu * (1.0 - np.tanh(nu * np.sqrt(variance)[..., None] * nodes) ** 2) @ weights


def _parts(league: ContestLeague) -> list[tuple[float, float, float]]:
    """The law of performances in units of the noise: part, mean and deviation of each of its normal laws."""
    usual = (1.0 - league.off, 0.0, 1.0)
    return [usual, (league.off, -league.depth, width_of(league.depth))] if league.off > 0.0 else [usual]


def ahead(gap: Array, league: ContestLeague, nu: float) -> Array:
    """Chance to be ahead by the gap of strengths in points; between equals its slope is Elo's where no day is off."""
    one = np.ones_like(gap)
    return mixed_chance(math.sqrt(math.pi) * nu * gap, one, one, league.off, league.depth)


def expected_losses(contests: Contests, league: ContestLeague, ks: Array, nu: float, since: int) -> Array:
    """Log-loss of a pair of finishers of the contests from ``since`` on, at every K."""
    known, pairs = known_errors(contests, league, ks, nu, since)
    return pair_losses(known, league, pairs, nu)


def known_errors(contests: Contests, league: ContestLeague, ks: Array, nu: float, since: int) -> tuple[Known, Array]:
    """Errors of ratings of those who are known and finish the contests from ``since`` on, and numbers of pairs: of
    known entrants, of a known and a new one, and of new ones.
    """
    state = RatingErrors(len(contests.entrants), league, ks)
    sums, pairs = [np.zeros(ks.size), np.zeros(ks.size), np.zeros(1)], np.zeros(3)
    luck = field_luck(league, nu)
    for number in range(len(contests)):
        own = slice(int(contests.first[number]), int(contests.first[number + 1]))
        who, finished = contests.entrant[own], contests.ended[own] == FINISHED
        new = state.advance(who, contests.day[number])
        square = state.rest[who] + state.along[who] ** 2 / state.varies[who]
        if number >= since:
            old, fresh = int((finished & ~new).sum()), int((finished & new).sum())
            weights = np.array([old * (old - 1) / 2.0, old * fresh, fresh * (fresh - 1) / 2.0])
            pairs += weights
            for total, one in zip(sums, (square, state.along[who], state.varies[who])):
                total += (2 * weights[0] + weights[1]) * one[finished & ~new].mean(axis=0) if old else 0.0
        state.meet(who, float(finished.mean()), luck, elo_slope(2.0 * square.mean(axis=0), nu))
    square, along, varies = (total / max(2 * pairs[0] + pairs[1], 1.0) for total in sums)
    show = along / np.maximum(varies, 1.0)
    return Known(league.within**2, show, np.maximum(square - show**2 * varies, 0.0)), pairs


class RatingErrors:
    """What ratings have in common with strengths (``along``) and the variance of the rest of them (entrants, K), and
    the variance of strengths (entrants, 1).
    """

    def __init__(self, entrants: int, league: ContestLeague, ks: Array) -> None:
        self._league, self._gamma = league, ks / 2.0
        self.along, self.rest, self._pulled = np.zeros((3, entrants, ks.size))
        self.varies, self._last = np.ones((entrants, 1)), np.full(entrants, np.nan)

    def advance(self, who: NDArray[np.int32], day: float) -> NDArray[np.bool_]:
        """Let strengths move until the day of a contest, and say who of its entrants is new."""
        league, new = self._league, np.isnan(self._last[who])
        days = np.where(new, 0.0, day - self._last[who])
        f, added = (one[:, None] for one in fade_all(days, league.rate, league.walk**2))
        along, varies = f * self.along[who], np.minimum(f**2 * self.varies[who] + added, league.within**2)
        rest = self.rest[who] + self.along[who] ** 2 / self.varies[who] - along**2 / varies
        varies[new] = league.newcomers
        self.along[who], self.rest[who], self.varies[who], self._last[who] = along, rest, varies, day
        return new

    def meet(self, who: NDArray[np.int32], there: float, luck: FieldLuck, slope: Array) -> None:
        """Rate a contest of which this part finishes."""
        league, gamma, size = self._league, self._gamma, who.size
        out, step, rest = there * (1.0 - there), gamma * slope, self.rest[who]
        shake = gamma**2 * luck.of_contest(size, there)
        self.along[who] *= 1.0 - step
        self.along[who] += gamma * (there**2 * luck.slope - out * league.tilt) * self.varies[who]
        self.rest[who] = (1.0 - step) ** 2 * rest + step**2 * rest.mean(axis=0) / (size - 1.0) + shake
        self.rest[who] -= 2.0 * (1.0 - step) * gamma * self._pulled[who]
        self._pulled[who] = (1.0 - step) * self._pulled[who] - gamma * min(league.fragile, out)


class Known(NamedTuple):
    """Variance of the strengths of those who are known, the part of it that ratings show, and the variance of the rest
    of ratings (K each).
    """

    variance: float
    show: Array
    noise: Array


def pair_losses(known: Known, league: ContestLeague, pairs: Array, nu: float) -> Array:
    """Mean log-loss of pairs: so many of known entrants, of a known and a new one, and of new ones, whose ratings show
    nothing of their strength.
    """
    variance, show, noise = known
    fresh = league.newcomers
    kinds = (
        (2 * variance, show, 2 * noise),
        (
            variance + fresh,
            show * variance / (variance + fresh),
            noise + show**2 * variance * fresh / (variance + fresh),
        ),
        (2 * fresh, 0.0 * show, 0.0 * noise),
    )
    losses = [number * pair_loss(*kind, league, nu) for number, kind in zip(pairs, kinds) if number > 0]
    return np.sum(losses, axis=0) / max(pairs.sum(), 1.0)


def pair_loss(variance: float, show: Array, noise: Array, league: ContestLeague, nu: float) -> Array:
    """Log-loss of forecasts ``1/(1 + e^{−2νr})`` by gaps ``r`` of ratings that are ``show`` times the gap of strengths,
    which has this variance, and noise; performances are as this league has them.
    """
    nodes, weights = hermite(NODES)
    gap = math.sqrt(variance) * nodes
    first = ahead(gap, league, nu)
    shown = show[:, None, None] * gap[:, None] + np.sqrt(noise)[:, None, None] * nodes
    loss = first[:, None] * np.logaddexp(0.0, -2.0 * nu * shown)
    loss += (1.0 - first)[:, None] * np.logaddexp(0.0, 2.0 * nu * shown)
    return np.einsum("kij,i,j->k", loss, weights, weights)
