r"""What every K of plain Elo does to contests of many entrants, by theory.

Ratings follow strengths along the contests that were played. Strengths are those of the entrants themselves, drawn
given all results (:func:`kinelo.raters.rank.hindsight.drawn_strengths`): who meets whom, divisions that are entered and
left, newcomers, and how strengths move count as they happened. Of every rating the theory keeps the mean ``m`` and the
variance ``n`` over luck. With ``γ = K/2``, a contest of k takes them to

    ``m ← m + γ ⟨b − t⟩``,  ``n ← (1 − γβ)² n + γ² (⟨β² n⟩ + λ (1 + (k − 2) ρ))/(k − 1)``,

means being over the others of the field. ``b`` is the expected result between two by their strengths, with performances
as :class:`kinelo.RankElo` finds them, ``t`` the one that Elo expects of two ratings on average over their luck,

    ``t = tanh νκ(m − m')``,  ``κ² = 1/(1 + π ν² (n + n')/2)``,

and ``β`` the mean slope of that. ``λ`` is the luck ``1 − b²`` of a match and ρ the correlation of an entrant's
surprises against two opponents: a day that is off is luck against all of them at once.

Plain Elo counts who does not finish as beaten by all who do. With a chance u not to, results are expected to be
``r = (1 − u)(1 − u') b + u' − u``, and with the part v of the others who finish luck is

    ``λ (1 + (k − 2) ρ) → ⟨1 − u u' − r²⟩ + (k − 2) (u (1 − u) (1 + v ⟨b⟩)² + (1 − u) v² λ ρ)``.

The log-loss of a pair is the mean over its results, by strengths, and over the luck of both ratings. Luck does not
choose the field in this theory: who was promoted for it is met as anybody of that strength.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.advice.audit.estimate import hermite
from kinelo.advice.audit.kernels import Array
from kinelo.advice.audit.recursion import GOLDEN_SECTION
from kinelo.forecasts.places import mixed_chance, width_of
from kinelo.matches.contests import FINISHED, Contests

POOL = 24
"""Strengths that stand for those of a field; of a larger one, so many that lie evenly among them."""
NODES = 21
"""Nodes for a performance."""
LUCK_NODES = 3
"""Nodes for the luck of two ratings: exact up to the fifth power."""


class ContestLeague(NamedTuple):
    """What is known of those who compete, in points: the yearly walk of a strength, the yearly rate of its return, and
    the deviation of strengths within a field; which part of performances is off, and how deep; by how much the logit
    of not finishing grows with a point of strength, and the variance among entrants of the chance not to finish beyond
    that.
    """

    walk: float
    rate: float
    within: float
    off: float = 0.0
    depth: float = 0.0
    tilt: float = 0.0
    fragile: float = 0.0


def surprises_alike(league: ContestLeague, nu: float) -> float:
    """What the surprises of an entrant against two others of a field have in common: their correlation."""
    pool, unit = league.within * ndtri((np.arange(POOL) + 0.5) / POOL), 1.0 / (math.sqrt(math.pi) * nu)
    result = 2.0 * ahead(pool[:, None] - pool, league, nu) - 1.0
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
    common = float((square - result.mean(axis=1) ** 2).mean())
    return common / float((1.0 - result**2).mean())


def _parts(league: ContestLeague) -> list[tuple[float, float, float]]:
    """The law of performances in units of the noise: part, mean and deviation of each of its normal laws."""
    usual = (1.0 - league.off, 0.0, 1.0)
    return [usual, (league.off, -league.depth, width_of(league.depth))] if league.off > 0.0 else [usual]


def ahead(gap: Array, league: ContestLeague, nu: float) -> Array:
    """Chance to be ahead by the gap of strengths in points; between equals its slope is Elo's where no day is off."""
    one = np.ones_like(gap)
    return mixed_chance(math.sqrt(math.pi) * nu * gap, one, one, league.off, league.depth)


class DrawnEntries(NamedTuple):
    """What the theory is told of entries: strengths in points, chances not to finish (entries each), and the noise of
    each contest in units of the usual one (contests).
    """

    strength: Array
    out: Array
    noise: Array


class Field(NamedTuple):
    """Each entrant of a contest against some of its field: who these are (opponents), which pairs are of two,
    the chance to be ahead, and the result that plain Elo counts on average (entrants, opponents); and the chance of
    each not to finish.
    """

    others: NDArray[np.int64]
    apart: NDArray[np.bool_]
    first: Array
    result: Array
    out: Array

    def luck(self, alike: float) -> Array:
        """Of each entrant, the variance of the sum of its surprises over the number of opponents."""
        there, part, won = 1.0 - self.out, 1.0 - self.out.mean(), 2.0 * self.first - 1.0
        result, one = self.mean(won[..., None])[:, 0], self.mean(1.0 - won[..., None] ** 2)[:, 0]
        own = self.out * there * (1.0 + part * result) ** 2 + there * part**2 * alike * one
        pair = 1.0 - self.out[:, None] * self.out[self.others] - self.result**2
        return self.mean(pair[..., None])[:, 0] + (self.out.size - 2.0) * own

    def mean(self, values: Array) -> Array:
        """Mean of numbers (entrants, opponents, any) over the opponents of each entrant."""
        return np.einsum("ijk,ij->ik", values, self.apart / self.apart.sum(axis=1, keepdims=True))


def field_of(strength: Array, out: Array, noise: float, league: ContestLeague, nu: float, number: int = 0) -> Field:
    """The field of a contest with this number: strengths and chances not to finish, and the noise in units of the usual
    one.
    """
    others = np.argsort(strength, kind="stable")
    if others.size > POOL:  # others in each contest, so that in many all have their turn
        others = others[((np.arange(POOL) + number * GOLDEN_SECTION % 1.0) * others.size / POOL).astype(np.int64)]
    first, there = ahead((strength[:, None] - strength[others]) / noise, league, nu), 1.0 - out
    result = there[:, None] * there[others] * (2.0 * first - 1.0) + out[others] - out[:, None]
    return Field(others, np.arange(out.size)[:, None] != others, first, result, out)


class FollowedRatings:
    """Mean and variance over luck of ratings that begin somewhere (entrants), at every K (entrants, K)."""

    def __init__(self, begin: Array, ks: Array, nu: float) -> None:
        self._gamma, self._nu = ks / 2.0, nu
        self.mean = np.tile(begin[:, None], ks.size)
        self.variance = np.zeros(self.mean.shape)

    def _gaps(self, who: NDArray[np.int32], others: NDArray[np.int32]) -> tuple[Array, Array]:
        """Means and variances of the gaps of ratings (entrants, opponents, K)."""
        return (
            self.mean[who][:, None] - self.mean[others],
            self.variance[who][:, None] + self.variance[others],
        )

    def loss(self, who: NDArray[np.int32], field: Field, finished: NDArray[np.bool_]) -> Array:
        """Log-loss of a pair of those who finished, on average."""
        seen = np.ix_(finished, finished[field.others])
        gap, variance = self._gaps(who[finished], who[field.others][finished[field.others]])
        promise, luck = 2.0 * self._nu * gap, 2.0 * self._nu * np.sqrt(variance)
        missed = sum(w * np.logaddexp(0.0, -promise - luck * z) for z, w in zip(*hermite(LUCK_NODES)))
        missed += (1.0 - field.first[seen])[..., None] * promise
        return np.einsum("ijk,ij->k", missed, field.apart[seen] / field.apart[seen].sum())

    def meet(self, who: NDArray[np.int32], field: Field, alike: float) -> None:
        """Rate a contest, two surprises of one entrant being so much ``alike``."""
        nu, gamma = self._nu, self._gamma
        gap, variance = self._gaps(who, who[field.others])
        slope = nu / np.sqrt(1.0 + math.pi / 2.0 * nu**2 * variance)
        expected = np.tanh(slope * gap)
        step, rest = gamma * field.mean(slope * (1.0 - expected**2)), self.variance[who]
        shake = (step**2 * rest).mean(axis=0) + gamma**2 * field.luck(alike)[:, None]
        self.mean[who] += gamma * field.mean(field.result[..., None] - expected)
        self.variance[who] = (1.0 - step) ** 2 * rest + shake / (who.size - 1.0)


def expected_losses(
    contests: Contests, entries: DrawnEntries, league: ContestLeague, ks: Array, nu: float, since: int, begin: Array
) -> Array:
    """Log-loss of a pair of finishers of the contests from ``since`` on, at every K; entrants ``begin`` somewhere."""
    ratings, alike = FollowedRatings(begin, ks, nu), surprises_alike(league, nu)
    losses, pairs = np.zeros(ks.size), 0.0
    for number in range(len(contests)):
        own = slice(int(contests.first[number]), int(contests.first[number + 1]))
        who, out, finished = contests.entrant[own], entries.out[own], contests.ended[own] == FINISHED
        field = field_of(entries.strength[own], out, float(entries.noise[number]), league, nu, number)
        if number >= since and field.apart[np.ix_(finished, finished[field.others])].any():
            told = finished.sum() * (finished.sum() - 1.0) / 2.0
            losses += told * ratings.loss(who, field, finished)
            pairs += told
        ratings.meet(who, field, alike)
    return losses / max(pairs, 1.0)
