r"""How far strengths lie apart, how alike opponents are, and how much of the differences ratings show.

A match is a contest of two, and all is told of fields. With x strengths in all appearances, from all results at once
(:mod:`kinelo.advice.audit.hindsight`, :mod:`kinelo.raters.bradley_terry.orders`), and e draws of what luck adds,

    τ² = Var x − E Var e,    ρ = 1 − (Var x − E Var e within fields)/(the same over all),    share = (Cov(R, x) − b)/τ².

**Where fields ignore results**, that is the answer (of matches with Firth's correction, which adds ``½ (ln w)' lev`` to
each match's pull on its difference of strengths, w its information and lev its leverage). Seasons of the *same* fields
are played from x shrunk to τ, fitted and rated again: what they find beside what is true of them gives the bias b of
the covariance, and all intervals.

**Where they follow results** (ratings, points, promotion), luck decides who meets whom and errors go along with
strengths. Who met whom then says nothing that the results do not say: the likelihood with independent strengths
``N(0, τ²)`` is right, it is largest at ``E Σ x²/τ² = n``, and all three follow from draws of strengths given results.

**Which of the two** a test of luck says: do those who were lucky meet stronger fields afterwards?

    T = Σ u_i (mean strength of the others − its usual),

u the faded sum of surprises so far, beside the T of the seasons. Unless it lies among those, both answers are given as
one interval.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kinelo.advice.audit import kernels
from kinelo.advice.audit.hindsight import SEARCH_DRAWS, HindsightStrengths, Likelihood, falling_root, walk_factor
from kinelo.advice.audit.kernels import CHESS_NU, NORMAL_95, YEAR, Array, Calendar, Parameters, System
from kinelo.forecasts.places import width_of
from kinelo.matches.contests import FINISHED, Contests, Slots
from kinelo.play.formula import kernel
from kinelo.raters.bradley_terry.orders import (
    OrderFit,
    Orders,
    fit_orders,
    order_surprises,
    pools_of_contests,
)
from kinelo.raters.rank.estimation import with_entries
from kinelo.raters.rank.kernels import POINTS_PER_UNIT

SEASONS = 24
STUDENT_95 = 2.07
"""Half width of a 95 % interval in standard deviations that are known from so many seasons."""
LUCK_FADES = np.array([0.9, 0.98, 1.0])
"""What is left of a surprise after a match of the side, in each of the three tests."""
FOLLOWS_RESULTS = 1.8
"""Standard deviations of the seasons beyond which a calendar may follow results."""
EVIDENCE_DRAWS = 32
EVIDENCE_RANGE = 3.0
"""How far from the other answer the spread of independent strengths is sought: logarithms."""
EVIDENCE_LEFT, EVIDENCE_ERROR = 0.3, 0.2
"""Where Newton's steps end, and how near the logarithm of the spread is found."""
NODES = {-math.sqrt(3): 1 / 6, 0.0: 2 / 3, math.sqrt(3): 1 / 6}
"""Three nodes of a normal law, with their weights."""
FIRTH_STEPS, SEASON_STEPS = 5, 6
MOST_ALIKE, LEAST_SHARE, MOST_SHARE = 0.995, 1e-3, 2.0
"""Correlations lie below, and shares between."""
LEAST_PART = 0.02
"""Part of the variance that is true of a season below which what it finds is not taken."""
FAINT = 0.1
"""Part of the variance of strengths that must be no luck, in all but as many of the seasons."""
SHRUNK = 1.5
"""Strengths that are hardly told are drawn together: true ones may lie so many times as far apart."""
LEAST_ERROR = 0.02
"""Standard error of a correlation that seasons of the very same strengths do not show."""
LEAST_SPREAD = 10.0
"""Points of the chess scale below which no spread is told."""
FEW_MATCHES = 0.5
"""Who played less than this share of what the middle side did played little."""
MEDIAN_OF_SQUARE = 0.455
"""Median of the square of a standard normal variable."""
CLEARLY_ALIKE = 0.3
"""Correlation of opponents above which like meets like, if the whole interval lies there."""
HARDLY_SHOWN = 0.8
"""Share of the differences below which ratings hide much of them, if the whole interval lies there."""
WIDE = 2_000.0
"""Spread of the strengths of entrants beforehand that decides nothing, in points."""
MOST_TOGETHER, LEAST_TOGETHER, MOST_PAIRS = 500, 40, 3e6
"""Entrants whose strengths are found together, those who competed most, and pairs of one field among them. Orders of
some tell of them what orders of all do."""


class Range(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


class StrengthsToday(NamedTuple):
    """Strength of each side at its last match and the variance of its error, about the mean of those who are active,
    and who is (sides each). Where like meets like strengths are those of results alone, else what is expected of a side
    of this league with these results."""

    strength: Array
    variance: Array
    active: np.ndarray


@dataclass(frozen=True)
class OpponentsFound:
    """How alike opponents are, and what that does to ratings.

    Attributes
    ----------
    spread
        Standard deviation of the strengths of the sides active at the end, in points.
    correlation
        Correlation of the strengths of opponents: 0 where they are drawn at random.
    share_shown
        How much of the true differences today's ratings show: the slope of ratings on strengths.
    luck
        How far luck decided who met whom, in standard deviations of calendars that ignore results.
    matches
        Matches of a side so far, on average over those who are active.
    """

    spread: Range
    correlation: Range
    share_shown: Range
    luck: float
    matches: float
    today: StrengthsToday = field(repr=False)

    @property
    def follows_results(self) -> bool:
        """Whether the calendar may follow results, so that both answers are given as one."""
        return self.luck > FOLLOWS_RESULTS

    @property
    def told(self) -> bool:
        """Whether these matches show how alike opponents are."""
        return self.correlation.high - self.correlation.low < 1.0

    @property
    def alike(self) -> bool:
        """Whether like clearly meets like."""
        return self.correlation.low > CLEARLY_ALIKE

    @property
    def hidden(self) -> bool:
        """Whether like meets like, and ratings therefore show clearly less than there is."""
        return self.alike and self.share_shown.high < HARDLY_SHOWN

    def to_dict(self) -> dict[str, object]:
        """Plain numbers."""
        return {
            "spread": self.spread._asdict(), "opponents_correlation": self.correlation._asdict(),
            "share_shown": self.share_shown._asdict(), "calendar_luck": self.luck,
            "matches": self.matches, "alike": self.alike,
        }  # fmt: skip


class FieldsFound(NamedTuple):
    """Correlation of the strengths of two of one field; luck's test of whether fields follow results, in standard
    deviations; and entrants in pools that never meet the largest one."""

    correlation: Range
    follows: float
    apart: int


class Moments(NamedTuple):
    """Of each column of strengths: the variance that is told, the covariance of two of one field, and the variance over
    all appearances."""

    spread: Array
    together: Array
    over: Array

    def less(self, luck: Moments) -> Moments:
        """Without what luck adds, on average over its draws."""
        return Moments(*(one - other.mean() for one, other in zip(self, luck)))


class Lens:
    """What is looked at of strengths in all appearances (rows, field by field): whose spread is told, ``here``, with
    weights that sum to 1."""

    def __init__(self, first: np.ndarray, here: np.ndarray, weight: Array) -> None:
        self.first, self.here, self.weight = first, here, weight

    def moments(self, x: Array) -> Moments:
        """Of strengths (appearances × columns)."""
        size, apart = np.diff(self.first, append=x.shape[0]), x - x.mean(axis=0)
        inner = apart - np.repeat(np.add.reduceat(apart, self.first, axis=0) / size[:, None], size, axis=0)
        over, within = (apart**2).mean(axis=0), (inner**2).sum(axis=0) / (size - 1.0).sum()
        return Moments(self.along(x, x[self.here]), over - within, over)

    def along(self, x: Array, rated: Array) -> Array:
        """Covariance of strengths and the ratings of those told (a column for each, or one for all)."""
        weight, own = self.weight, x[self.here]
        return weight @ ((own - weight @ own) * (rated - weight @ rated)) / (1.0 - float(weight @ weight))


def _correlation(moments: Moments, least: Array | float = 0.0) -> Array:
    """ρ on the scale on which its errors are normal."""
    return np.arctanh(np.clip(moments.together / np.maximum(moments.over, least), -MOST_ALIKE, MOST_ALIKE))


class Covered(NamedTuple):
    """Covariance of ratings and strengths: of what is, and in seasons as they find it and as it is true."""

    here: float
    found: Array
    true: Array


def _by_moments(observed: Moments, true: Moments, seasons: Moments, covered: list[Covered]) -> list[Range]:
    """Spread, correlation and shares, with what ``seasons`` say of their bias and error: they find these moments where
    others are ``true``. All are without luck."""
    spread, least = np.maximum(seasons.spread, LEAST_PART * true.spread), LEAST_PART * true.over
    scales: list[tuple[float, Array, Callable, float]] = [
        (0.5 * math.log(observed.spread[0]), 0.5 * np.log(spread / true.spread), math.exp, 0.0),
        (_correlation(observed, least)[0], _correlation(seasons, least) - _correlation(true), math.tanh, LEAST_ERROR),
    ]
    for made in covered:
        bias = float((made.found - made.true).mean())
        share = max((made.here - bias) / float(observed.spread[0]), LEAST_SHARE)
        off = np.log(np.maximum((made.found - bias) / spread, LEAST_SHARE))
        off -= np.log(np.maximum(made.true / true.spread, LEAST_SHARE))
        scales.append((math.log(share), off, math.exp, 0.0))
    answers = []
    for value, errors, back, error in scales:
        centre, reach = value - float(np.median(errors)), STUDENT_95 * math.hypot(float(errors.std(ddof=1)), error)
        answers.append(Range(back(centre), back(centre - reach), back(centre + reach)))
    return answers


def _by_evidence(lens: Lens, drawn: list[Array], ratings: list[Array]) -> list[Range]:
    """The same from draws of strengths given all results (appearances × draws), at each of the nodes."""
    parts = [lens.moments(one) for one in drawn]
    moments = Moments(*(np.concatenate(one) for one in zip(*parts)))
    scales: list[tuple[Array, Callable[[float], float]]] = [
        (0.5 * np.log(moments.spread), math.exp), (_correlation(moments), math.tanh)
    ]  # fmt: skip
    for rated in ratings:
        share = np.concatenate([lens.along(one, rated[:, None]) for one in drawn]) / moments.spread
        scales.append((np.log(np.maximum(share, LEAST_SHARE)), math.exp))
    weight = np.repeat(list(NODES.values()), drawn[0].shape[1]) / drawn[0].shape[1]
    answers = []
    for values, back in scales:
        mean = float(weight @ values)
        reach = NORMAL_95 * math.sqrt(float(weight @ (values - mean) ** 2))
        answers.append(Range(back(mean), back(mean - reach), back(mean + reach)))
    return answers


def _hull(one: list[Range], other: list[Range]) -> list[Range]:
    """Both answers as one interval each."""
    return [Range((a.value + b.value) / 2, min(a.low, b.low), max(a.high, b.high)) for a, b in zip(one, other)]


@kernel
def follow_luck(who, surprise, away, fades, totals):
    """Sum into ``totals`` how far ``away`` the others of an appearance are from its side's usual, times the surprises
    of that side so far, which fade (appearances in order of date, and one number for each of ``fades``)."""
    luck = np.zeros((who.max() + 1, fades.size))
    for n in range(who.size):
        for d in range(fades.size):
            totals[d] += luck[who[n], d] * away[n]
            luck[who[n], d] = fades[d] * luck[who[n], d] + surprise[n]


def luck_test(first: np.ndarray, who: np.ndarray, x: Array, surprise: Array) -> Array:
    """T of each fading: strengths and surprises of all appearances, field by field."""
    size = np.diff(first, append=x.size)
    others = (np.repeat(np.add.reduceat(x, first), size) - x) / np.repeat(size - 1.0, size)
    usual, totals = np.bincount(who, others) / np.maximum(np.bincount(who), 1), np.zeros(LUCK_FADES.size)
    follow_luck(who.astype(np.int64), np.ascontiguousarray(surprise), others - usual[who], LUCK_FADES, totals)
    return totals


def _deviations(real: Array, seasons: Array) -> float:
    """The largest T in standard deviations of the seasons (a row each)."""
    return float(((real - seasons.mean(axis=0)) / np.maximum(seasons.std(axis=0, ddof=1), 1e-12)).max())


def opponents_found(
    calendar: Calendar, parameters: Parameters, hindsight: HindsightStrengths, system: System, steps: Array,
    years: float, seed: int = 0,
) -> OpponentsFound:  # fmt: skip
    """Spread, likeness of opponents and the share of differences that ratings by ``steps`` (n × 2) show today."""
    g, likelihood, side = np.random.default_rng(seed), hindsight.likelihood, calendar.appearances
    today, last = _strengths_today(calendar, hindsight, years)
    played = np.bincount(side, minlength=calendar.sides).astype(float)
    places = np.flatnonzero(today.active)
    weight = weights_of(today.strength[places], today.variance[places], played[places])
    places, weight = places[weight > 0], weight[weight > 0]

    def ratings(result: Array) -> Array:
        rated = system.start.copy()
        kernels.expect_ratings(calendar, system, steps, result, rated)
        return rated[places]

    first = np.arange(0, 2 * calendar.size, 2)
    lens = Lens(first, last[places], weight)
    grown = np.zeros(2 * calendar.size) if hindsight.trend is None else hindsight.years @ hindsight.trend.per_year
    x, luck = _firth(likelihood, hindsight, g)
    strength, rated_now = (hindsight.paths @ x + grown)[:, None], ratings(calendar.result)
    moments, lucky = lens.moments(strength), lens.moments(hindsight.paths @ luck)
    without = moments.less(lucky)
    least = (LEAST_SPREAD * CHESS_NU / parameters.nu) ** 2
    variance = max(float(without.spread[0]), least)

    # Seasons on the same calendar, from strengths as far apart as they are.
    shrunk = min(math.sqrt(variance / float(moments.spread[0])), 1.0)
    true, results = shrunk * strength, np.empty((calendar.size, SEASONS), order="F")
    for n in range(SEASONS):
        kernels.draw_results(true.reshape(-1, 2), hindsight.home, parameters, g.random(calendar.size), results[:, n])
    offset = hindsight.home + shrunk * (grown[0::2] - grown[1::2])
    again = (
        hindsight.paths @ _refit(likelihood, hindsight.factor, shrunk * x, luck, offset, results)
        + shrunk * grown[:, None]
    )
    rated = np.stack([ratings(results[:, n]) for n in range(SEASONS)], axis=1)
    raw = lens.moments(again)
    seasons, mean = raw.less(lucky), float(played[places].mean())
    # Strengths that move as fast as results tell them leave nothing to be seen of how far they lie apart.
    if (seasons.spread < FAINT * raw.spread).mean() > FAINT or without.spread[0] < FAINT * moments.spread[0]:
        low, high = math.sqrt(least), SHRUNK * math.sqrt(max(float(moments.spread[0]), 4 * least))
        unknown = Range(0.0, -MOST_ALIKE, MOST_ALIKE), Range(1.0, LEAST_SHARE, MOST_SHARE)
        return OpponentsFound(Range((low + high) / 2, low, high), *unknown, 0.0, mean, today)
    along = (lens.along(one, rated) for one in (again, true))
    covered = Covered(float(lens.along(strength, rated_now[:, None])[0]), *along)
    answers = _by_moments(without._replace(spread=np.full(1, variance)), lens.moments(true), seasons, [covered])

    def luck_of(strengths: Array, result: Array) -> Array:
        surprise = result - likelihood.law.b(strengths[0::2] - strengths[1::2] + likelihood.home)
        return luck_test(first, side, strengths, np.column_stack([surprise, -surprise]).ravel())

    unlucky = np.array([luck_of(*season) for season in zip(again.T, results.T)])
    luck_of_calendar = _deviations(luck_of(strength[:, 0], calendar.result), unlucky)
    if luck_of_calendar > FOLLOWS_RESULTS:
        drawn = [
            hindsight.paths @ one + grown[:, None] for one in _drawn_given_all(hindsight, x, math.sqrt(variance), g)
        ]
        answers = _hull(answers, _by_evidence(lens, drawn, [rated_now]))
        # Strengths lie between the two answers: half of their gap is doubt.
        given = drawn[1][last] - drawn[1][last][today.active].mean(axis=0)
        other = given.mean(axis=1)
        doubt = np.maximum(today.variance, given.var(axis=1)) + (today.strength - other) ** 2 / 4
        today = StrengthsToday((today.strength + other) / 2, doubt, today.active)
    # What a walk adds between blocks is smoothed away where results do not show it: strengths may lie further apart.
    block_side, count = hindsight.blocks.side, np.bincount(hindsight.blocks.side)
    sums = np.stack([np.bincount(block_side, one, count.size) for one in luck.T], axis=1)
    by_side = (sums / np.maximum(count, 1)[:, None])[block_side[hindsight.blocks.block.ravel()]]
    unseen = float(lens.moments(hindsight.paths @ luck - by_side).spread.mean())
    spread = answers[0]._replace(high=math.hypot(answers[0].high, math.sqrt(2.0 * unseen)))
    share = Range(*(min(one, MOST_SHARE) for one in answers[2]))
    if answers[1].low <= CLEARLY_ALIKE:
        # Whoever met whom, strengths lie so far apart: who is hardly known lies nearer to the mean than it looks.
        kept = spread.value**2 / (spread.value**2 + today.variance)
        strength = kept * today.strength
        today = StrengthsToday(strength - strength[today.active].mean(), kept * today.variance, today.active)
    return OpponentsFound(spread, answers[1], share, luck_of_calendar, mean, today)


def _strengths_today(
    calendar: Calendar, hindsight: HindsightStrengths, years: float
) -> tuple[StrengthsToday, np.ndarray]:
    """Strengths at the end, about the mean of those who have played within some years and are tied to most others; and
    the last appearance of each side."""
    side, day = calendar.appearances, np.full(calendar.sides, -math.inf)
    last = np.zeros(calendar.sides, np.int64)
    last[side] = np.arange(side.size)
    day[side] = calendar.day[last[side] // 2]
    graph = sparse.coo_array((np.ones(calendar.size), (calendar.home, calendar.away)), shape=(calendar.sides,) * 2)
    _, label = connected_components(graph, directed=False)
    active = (day >= max(calendar.day[-1] - years * YEAR, 0.0)) & (label == np.bincount(label).argmax())
    strength, luck = (one.reshape(side.size, -1)[last] for one in hindsight.of_matches())
    strength = strength[:, 0]
    strength, luck = strength - strength[active].mean(), luck - luck[active].mean(axis=0)
    idle = np.where(np.isfinite(day), calendar.day[-1] - day, 0.0) / YEAR
    return StrengthsToday(strength, (luck**2).mean(axis=1) + hindsight.walk_per_year**2 * idle, active), last


def weights_of(strength: Array, doubt: Array, played: Array) -> Array:
    """Weights of the active sides, less for those with few matches and none for those who are not known."""
    # The ends of a ladder play less and are known less: where they lie is part of the spread.
    few = played < FEW_MATCHES * np.median(played)
    enough = np.where(few, played, FEW_MATCHES * np.median(played))
    weight, variance = enough / enough.sum(), float(np.median(strength**2)) / MEDIAN_OF_SQUARE
    for _ in range(8):
        # Who played little and is known worse than by the league alone says nothing of its spread.
        told = ~few | (doubt < variance)
        weight = np.where(told | (told.sum() < 3), enough, 0.0)
        weight /= weight.sum()
        spread = float(weight @ (strength - weight @ strength) ** 2)
        variance = max((spread - float(weight @ doubt)) / (1.0 - float(weight @ weight)), 1e-6 * spread + 1e-9)
    return weight


def _pull(likelihood: Likelihood, gap: Array, unknown: Array) -> Array:
    """Firth's part of what each match moves its difference by: ½ (ln w)' lev, the leverage w times ``unknown``."""
    law, step = likelihood.law, 0.01 / likelihood.nu
    weight = likelihood.weight[:, None] if gap.ndim > 1 else likelihood.weight
    return weight * likelihood.nu * (law.b_prime(gap + step) - law.b_prime(gap - step)) / (4 * step) * unknown


def _firth(likelihood: Likelihood, hindsight: HindsightStrengths, g: np.random.Generator) -> tuple[Array, Array]:
    """Strengths with Firth's correction, and draws of luck there (blocks × draws)."""
    x, factor = hindsight.strength, hindsight.factor
    normal = g.standard_normal((likelihood.n + likelihood.walk.size + likelihood.size, SEASONS))
    most, luck = 2.0 / likelihood.nu, hindsight.luck
    for turn in range(FIRTH_STEPS):
        solve = likelihood.solver(x, factor)
        luck = likelihood.luck(x, factor, solve, normal)
        if turn == FIRTH_STEPS - 1:
            break
        unknown = ((likelihood.matches @ luck) ** 2).mean(axis=1)
        pull = _pull(likelihood, likelihood.matches @ x + likelihood.home, unknown)
        slope = likelihood.slope(x, factor) + likelihood.matches.T @ pull
        step = solve(slope[:, None])[:, 0]
        x = x + step * min(1.0, most / max(float(np.abs(likelihood.matches @ step).max()), 1e-12))
        if 0.5 * float(slope @ step) < EVIDENCE_LEFT:
            break
    return x, luck


def _refit(likelihood: Likelihood, factor: float, start: Array, luck: Array, home: Array, results: Array) -> Array:
    """Strengths with Firth's correction of every season (blocks × seasons), by steps of one curvature: that of the
    strengths they were played from."""
    solve = likelihood.solver(start, factor)
    unknown, most = ((likelihood.matches @ luck) ** 2).mean(axis=1)[:, None], 2.0 / likelihood.nu
    x = np.repeat(start[:, None], results.shape[1], axis=1)
    for _ in range(SEASON_STEPS):
        gap = likelihood.matches @ x + home[:, None]
        missing = likelihood.weight[:, None] * likelihood.nu * (results - likelihood.law.b(gap))
        walked = (likelihood.links @ x) / np.maximum(factor * likelihood.walk, 1e-300)[:, None]
        slope = likelihood.matches.T @ (missing + _pull(likelihood, gap, unknown)) - likelihood.links.T @ walked
        step = solve(slope - likelihood.prior[:, None] * x)
        reach = np.abs(likelihood.matches @ step).max(axis=0)
        x = x + step * np.minimum(1.0, most / np.maximum(reach, 1e-12))
    return x


def _drawn_given_all(hindsight: HindsightStrengths, x: Array, spread: float, g: np.random.Generator) -> list[Array]:
    """Draws of the strengths of blocks (blocks × draws) at each node of the spread of independent strengths, sought
    near another one."""
    likelihood, factor = copy.copy(hindsight.likelihood), hindsight.factor
    first = likelihood.prior > 0
    normal = g.standard_normal((likelihood.n + likelihood.walk.size + likelihood.size, EVIDENCE_DRAWS))

    def drawn(log_ratio: float, draws: int = EVIDENCE_DRAWS) -> Array:
        nonlocal x
        likelihood.prior = np.where(first, (spread * math.exp(log_ratio)) ** -2, 0.0)
        x, solve = likelihood.mode(x, factor, EVIDENCE_LEFT)
        return x[:, None] + likelihood.luck(x, factor, solve, normal[:, :draws])

    def excess(log_ratio: float) -> float:
        # The mean of squares is that of the mode and of the luck about it, which few draws tell.
        some = drawn(log_ratio, SEARCH_DRAWS)
        return float(likelihood.prior @ (x**2 + ((some - x[:, None]) ** 2).mean(axis=1)) - first.sum())

    best, slope = falling_root(excess, EVIDENCE_RANGE, EVIDENCE_ERROR)
    if likelihood.walk.size:
        # Luck that decides who meets whom looks like movement to a prior that is wide.
        factor, x = walk_factor(likelihood, x, g)
        shift, slope = falling_root(lambda further: excess(best + further), EVIDENCE_RANGE, EVIDENCE_ERROR)
        best += shift
    return [drawn(best + node / math.sqrt(max(-slope, 1.0))) for node in NODES]


def fields_found(contests: Contests, off: float = 0.0, depth: float = 0.0) -> FieldsFound:
    """What contests say of the fields that they have.

    Seasons have performances as :class:`kinelo.RankElo` finds them, of which a part ``off`` lies ``depth`` deviations
    lower: what Plackett and Luce's law makes of strengths that it does not fit is then part of the bias.
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
        chosen = core[contests.entrant]
        number = np.bincount(contests.contest, chosen, len(contests))
        if number @ number <= MOST_PAIRS or most < LEAST_TOGETHER:
            break
        most = most * 3 // 4
    chosen &= (number > 1)[contests.contest]
    there, who = np.unique(contests.entrant[chosen], return_inverse=True)
    part = with_entries(contests, chosen)
    part = _with_entrants(replace(part, entrants=tuple(contests.entrants[n] for n in there)), who.astype(np.int32))
    size, orders, generator = there.size, Orders.of(part), np.random.default_rng(0)
    lens = Lens(part.first[:-1], np.arange(who.size), np.full(who.size, 1 / who.size))

    def without_luck(entrant: NDArray, fit: OrderFit) -> tuple[Array, Moments]:
        """Strengths of a fit in all entries, about their mean, and their moments without luck."""
        x, luck = fit.strength[entrant], fit.draws(generator.standard_normal((size, SEASONS)))
        return x - x.mean(), lens.moments(x[:, None]).less(lens.moments(luck[entrant]))

    fit = fit_orders(orders, size, WIDE)
    x, observed = without_luck(who, fit)
    whole = max(float(x.var()), 1e-9)
    truth = (fit.strength - fit.strength[who].mean()) * math.sqrt(
        min(max(float(observed.spread[0]), LEAST_PART * whole) / whole, 1.0)
    )
    true = lens.moments(truth[who][:, None])
    observed = Moments(*(np.maximum(one, LEAST_PART * put) for one, put in zip(observed, true)))
    # Places without ties, but of who did not finish, at the end.
    rank, out = np.arange(who.size) - part.first[:-1][part.contest] + 1.0, part.ended != 0
    last = np.bincount(part.contest, np.where(out, rank, 0.0)) / np.maximum(np.bincount(part.contest, out), 1.0)
    places, moments, luck = np.where(out, last[part.contest], rank), [], []
    for _ in range(SEASONS):
        luck_of_day = generator.standard_normal(who.size)
        low = generator.random(who.size) < off
        shown = truth[who] + POINTS_PER_UNIT * np.where(low, width_of(depth) * luck_of_day - depth, luck_of_day)
        order = np.lexsort((-shown, part.ended != FINISHED, part.contest))  # who did not finish does not again
        again = replace(_with_entrants(part, part.entrant[order]), place=places, ended=part.ended[order])
        entrant, ordered = again.entrant.astype(np.int64), Orders.of(again)
        refit = fit_orders(ordered, size, WIDE, truth)
        seen, without = without_luck(entrant, refit)
        moments.append([float(one[0]) for one in without])
        luck.append(luck_test(lens.first, entrant, seen, order_surprises(ordered, refit.strength)))
    follows = _deviations(luck_test(lens.first, who, x, order_surprises(orders, fit.strength)), np.array(luck))
    answers = _by_moments(observed, true, Moments(*np.array(moments).T), [])
    if follows > FOLLOWS_RESULTS:
        normal, spread = generator.standard_normal((size, 3 * EVIDENCE_DRAWS)), math.sqrt(float(observed.spread[0]))

        def excess(log_ratio: float) -> float:
            given = fit_orders(orders, size, spread * math.exp(log_ratio))
            squares = float(given.strength @ given.strength + (given.draws(normal) ** 2).mean(axis=1).sum())
            return squares / (spread * math.exp(log_ratio)) ** 2 - size

        best, slope = falling_root(excess, EVIDENCE_RANGE, EVIDENCE_ERROR)
        error, drawn = 1.0 / math.sqrt(max(-slope, 1.0)), []
        for node in NODES:
            given = fit_orders(orders, size, spread * math.exp(best + node * error))
            drawn.append((given.strength[:, None] + given.draws(normal))[who])
        answers = _hull(answers, _by_evidence(lens, drawn, []))
    return FieldsFound(answers[1], follows, int((pool > 0).sum()))


def _with_entrants(contests: Contests, entrant: NDArray[np.int32]) -> Contests:
    """The same contests between others, each rated as a whole."""
    return replace(contests, entrant=entrant, slots={"entrant": Slots(entrant[:, None], contests.entrants)})
