r"""How far strengths lie apart, how alike the entrants of a contest are, and how much of the differences ratings show.

Strengths come from all contests at once (:mod:`kinelo.raters.bradley_terry.orders`), and each answer in two ways.

**Moments.** Strengths that no prior holds, corrected for luck; then the same fields compete again, some times, from
those strengths shrunk to the spread found. Every season is fitted and rated as the real one was: what comes out, held
against what went in, tells bias and interval. Right where fields do not look at results (clubs, classes, repute).

**Evidence.** Independent strengths of the spread that makes the orders likeliest, and draws given the orders. Right
where fields look at results alone (ratings, promotion): who met whom then tells nothing that the orders do not tell.

**Which.** Where fields ignore results, those who were lucky meet nobody else afterwards than those who were not. With u
the decayed sum of an entrant's surprises, ``T = Σ u_i (mean strength of the others − its usual)`` is held against the
seasons. Below 1.8 of their standard deviations moments answer, else both do, as one interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.advice.audit.kernels import NORMAL_95, Array
from kinelo.matches.contests import Contests, Slots
from kinelo.play.formula import kernel
from kinelo.raters.bradley_terry.orders import Orders, drawn_orders, fit_orders, order_surprises, pools_of_contests
from kinelo.raters.rank.entries import with_entries

WIDE = 2_000.0
"""Spread of strengths beforehand that decides nothing, in points."""
SEASONS, LUCK_DRAWS, POSTERIOR_DRAWS = 24, 24, 300
SPREADS = np.geomspace(10.0, 900.0, 28)
"""Spreads whose evidence is weighed."""
MOST_TOGETHER, LEAST_TOGETHER, MOST_PAIRS = 500, 40, 3e6
"""Entrants whose strengths are found together, those who competed most, and pairs of one field among them. Orders of
some tell of them what orders of all do."""
DECAYS = (0.9, 0.98, 1.0)
IGNORES_RESULTS = 1.8
"""Standard deviations of luck's test up to which fields are taken not to look at results."""
LEAST_PART = 0.02
"""Part of the variance put in below which what comes out of a season is not taken."""
MOST_ALIKE = 0.995

Rerate = Callable[[Contests], list[Array]]


class Between(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    def with_other(self, other: Between) -> Between:
        """One interval that holds both."""
        return Between(0.5 * (self.value + other.value), min(self.low, other.low), max(self.high, other.high))


class FieldsFound(NamedTuple):
    """Spread of the strengths of those who compete, in points; correlation of two of one field; the share of true
    differences that each of some ratings shows; luck's test of whether fields follow results, in standard deviations;
    and entrants in pools that never meet the largest one."""

    spread: Between
    correlation: Between
    shares: tuple[Between, ...]
    follows: float
    apart: int


class _Entries(NamedTuple):
    """Who each entry is, its contest, and whether it counts for the share of differences that ratings show."""

    who: NDArray[np.int64]
    contest: NDArray[np.int64]
    later: NDArray[np.bool_]

    def squares(self, x: Array) -> tuple[Array, Array, Array]:
        """Variance over entries, within contests, and over those that are later; x is entrants × any."""
        x = x[self.who]
        size = np.bincount(self.contest).astype(float)
        mean = np.stack([np.bincount(self.contest, column) for column in x.T], axis=1) / size[:, None]
        inner = ((x - mean[self.contest]) ** 2).sum(axis=0) / (size - 1.0).sum()
        return x.var(axis=0), inner, x[self.later].var(axis=0)

    def along(self, x: Array, ratings: Array) -> float:
        """Covariance of strengths (entrants) and ratings (entries) over the later entries."""
        x, r = x[self.who][self.later], ratings[self.later]
        return float((x - x.mean()) @ (r - r.mean())) / r.size

    def luck(self, orders: Orders, x: Array) -> Array:
        """T of luck's test, for each decay, with strengths x (entrants)."""
        size, own = np.bincount(self.contest).astype(float)[self.contest], x[self.who]
        others = (np.bincount(self.contest, own)[self.contest] - own) / (size - 1.0)
        usual = np.bincount(self.who, others) / np.maximum(np.bincount(self.who), 1)
        totals = np.zeros(len(DECAYS))
        follow_luck(self.who, order_surprises(orders, x), others - usual[self.who], np.array(DECAYS), totals)
        return totals


@kernel
def follow_luck(who, surprise, away, decays, totals):
    """Sum into ``totals`` how far ``away`` the others of an entry are from its entrant's usual, times the surprises of
    that entrant so far, which decay (entries in order of date, and one number for each of ``decays``)."""
    luck = np.zeros((who.max() + 1, decays.size))
    for n in range(who.size):
        for d in range(decays.size):
            totals[d] += luck[who[n], d] * away[n]
            luck[who[n], d] = decays[d] * luck[who[n], d] + surprise[n]


def fields_found(contests: Contests, since: int, ratings: list[Array], rerate: Rerate) -> FieldsFound:
    """What contests say of the fields that they have; ``ratings`` (entries) are those before each contest, and
    ``rerate`` rates other contests alike; the share that they show is that of the contests from ``since`` on.
    """
    # By name, so that draws are the same however a file numbers its entrants.
    names, code = np.unique(np.array(contests.entrants), return_inverse=True)
    contests = _with_entrants(
        replace(contests, entrants=tuple(names.tolist())), code[contests.entrant].astype(np.int32)
    )
    pool, times = pools_of_contests(contests), np.bincount(contests.entrant, minlength=len(contests.entrants))
    often, most = np.argsort(np.where(pool == 0, -times, 0), kind="stable"), MOST_TOGETHER
    while True:
        core = np.zeros(times.size, bool)
        core[often[:most]] = pool[often[:most]] == 0
        kept = core[contests.entrant]
        number = np.bincount(contests.contest, kept, len(contests))
        if number @ number <= MOST_PAIRS or most < LEAST_TOGETHER:
            break
        most = most * 3 // 4
    kept &= (number > 1)[contests.contest]
    there, who = np.unique(contests.entrant[kept], return_inverse=True)
    later = (contests.contest >= since)[kept]
    later |= not later.any()  # the largest pool may be an earlier one
    ratings = [one[kept] for one in ratings]
    part = with_entries(contests, kept)
    part = _with_entrants(replace(part, entrants=tuple(contests.entrants[n] for n in there)), who.astype(np.int32))
    entries, size, generator = _Entries(who, part.contest, later), there.size, np.random.default_rng(0)
    fit = fit_orders(Orders.of(part), size, WIDE)
    x = fit.strength - fit.strength[who].mean()

    def variances(fitted: Array, luck: Array) -> list[float]:
        """Variance over entries, within fields and over later entries, without what luck adds."""
        mine = entries.squares(fitted[:, None])
        return [float(own[0] - lucky.mean()) for own, lucky in zip(mine, entries.squares(luck))]

    found = variances(x, fit.draws(generator.standard_normal((size, LUCK_DRAWS))))
    whole = max(float(x[who].var()), 1e-9)
    total = max(found[0], LEAST_PART * whole)
    truth = x * math.sqrt(min(total / whole, 1.0))
    put_in = [float(one[0]) for one in entries.squares(truth[:, None])]
    places, seasons = _untied(part), []
    for _ in range(SEASONS):
        order = drawn_orders(part, truth, generator)
        again = replace(_with_entrants(part, part.entrant[order]), place=places, ended=part.ended[order])
        orders = Orders.of(again)
        other = fit_orders(orders, size, WIDE, truth)
        mine = other.strength - other.strength[who].mean()
        came_out = variances(mine, other.draws(generator.standard_normal((size, LUCK_DRAWS))))
        moved = _Entries(again.entrant.astype(np.int64), entries.contest, entries.later)
        rated = rerate(again)
        seasons.append(
            (came_out, [moved.along(mine, one) for one in rated], [moved.along(truth, one) for one in rated],
             moved.luck(orders, mine))
        )  # fmt: skip
    luck = np.array([one[3] for one in seasons])
    real = entries.luck(Orders.of(part), x)
    follows = float(((real - luck.mean(axis=0)) / np.maximum(luck.std(axis=0, ddof=1), 1e-9)).max())
    answers = _by_moments(found, put_in, seasons, [entries.along(x, one) for one in ratings])
    if follows > IGNORES_RESULTS:
        by_evidence = _by_evidence(part, entries, ratings, generator)
        answers = [one.with_other(other) for one, other in zip(answers, by_evidence)]
    return FieldsFound(answers[0], answers[1], tuple(answers[2:]), follows, int((pool > 0).sum()))


def _with_entrants(contests: Contests, entrant: NDArray[np.int32]) -> Contests:
    """The same contests between others, each rated as a whole."""
    return replace(contests, entrant=entrant, slots={"entrant": Slots(entrant[:, None], contests.entrants)})


def _untied(part: Contests) -> Array:
    """Places of the same fields without ties, but of who did not finish, at the end."""
    rank = np.arange(part.entrant.size) - part.first[:-1][part.contest] + 1.0
    out = part.ended != 0
    mean = np.bincount(part.contest, np.where(out, rank, 0.0)) / np.maximum(np.bincount(part.contest, out), 1.0)
    return np.where(out, mean[part.contest], rank)


def _by_moments(found: list[float], put_in: list[float], seasons: list, along: list[float]) -> list[Between]:
    """Spread, correlation and shares, and what seasons say of their bias and error."""
    total, inner, late = (max(one, LEAST_PART * true) for one, true in zip(found, put_in))
    out = np.array([np.maximum(one[0], LEAST_PART * np.array(put_in)) for one in seasons])
    off = 0.5 * np.log(out[:, 0] / put_in[0])
    answers = [_normal(0.5 * math.log(total) - off, np.exp)]
    alike, true = (
        np.arctanh(np.clip(1.0 - a / b, -MOST_ALIKE, MOST_ALIKE)) for a, b in ((inner, total), (put_in[1], put_in[0]))
    )
    off = np.arctanh(np.clip(1.0 - out[:, 1] / out[:, 0], -MOST_ALIKE, MOST_ALIKE)) - true
    answers.append(_normal(alike - off, np.tanh))
    for n, own in enumerate(along):
        shown, right = (np.array([one[k][n] for one in seasons]) for k in (1, 2))
        bias = float((shown - right).mean())
        off = np.log(np.maximum((shown - bias) / out[:, 2], 1e-3) / np.maximum(right / put_in[2], 1e-3))
        answers.append(_normal(math.log(max((own - bias) / late, 1e-3)) - off, np.exp))
    return answers


def _normal(values: Array, back: Callable[[Array], Array]) -> Between:
    """Middle and 95 % interval of numbers that are normal, taken back to their scale."""
    middle, reach = float(np.median(values)), NORMAL_95 * float(np.std(values, ddof=1))
    return Between(*(float(back(np.array(middle + part * reach))) for part in (0.0, -1.0, 1.0)))


def _by_evidence(
    part: Contests, entries: _Entries, ratings: list[Array], generator: np.random.Generator
) -> list[Between]:
    """The same from draws given all orders, of independent strengths whose spread the orders choose."""
    orders, size, strength = Orders.of(part), len(part.entrants), None
    fits, evidence = [], []
    for spread in SPREADS[::-1]:
        fit = fit_orders(orders, size, float(spread), strength)
        strength = fit.strength
        # Laplace: the prior's own density and the width of what is left.
        level = fit.likelihood - 0.5 * float(strength @ strength) / spread**2 - size * math.log(spread)
        evidence.append(level - float(np.log(np.diagonal(fit.root)).sum()))
        fits.append(fit)
    weight = np.exp(np.array(evidence) - max(evidence))
    numbers = generator.multinomial(POSTERIOR_DRAWS, weight / weight.sum())
    drawn = np.concatenate(
        [f.strength[:, None] + f.draws(generator.standard_normal((size, n))) for f, n in zip(fits, numbers) if n],
        axis=1,
    )
    total, inner, late = entries.squares(drawn)
    values = [np.sqrt(total), 1.0 - inner / total]
    values += [np.array([entries.along(column, one) for column in drawn.T]) / late for one in ratings]
    return [Between(*np.quantile(one, [0.5, 0.025, 0.975]).tolist()) for one in values]
