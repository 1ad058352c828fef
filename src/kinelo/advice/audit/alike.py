r"""How far strengths lie apart, how alike opponents are, and how much of the differences ratings show.

**Where the calendar ignores results**, results alone tell (:mod:`kinelo.advice.audit.hindsight`). Firth's correction
adds ``½ (ln w)' lev`` to each match's pull on its difference of strengths, w its information and lev its leverage, and
takes the first order of the bias out of x. With e the draws of luck,

    τ² = Var x − E Var e,    ρ = (E x_i x_j − E e_i e_j) / (E x² − E e²) over matches,    share = (Cov(R, x) − b) / τ².

Seasons are played on the *same* calendar from x shrunk to τ, fitted and rated again: what they find beside what is true
of them gives the bias b of the covariance, and all intervals.

**Where it follows results** (ratings, points, promotion), luck decides who meets whom and errors go along with
strengths. The calendar then says nothing that the results do not say: the likelihood with independent strengths
``N(0, τ²)`` is right, it is largest at ``E Σ x²/τ² = n``, and all three follow from draws of strengths given results.

**Which of the two** a test of luck says: do sides that were lucky meet stronger opponents afterwards?

    T = Σ u_i (x_j − ō_i) + u_j (x_i − ō_j),

u the faded sum of a side's surprises so far, ō the mean strength of its opponents, beside the T of the seasons. Unless
it lies among those, both answers are given as one interval.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kinelo.advice.audit import kernels
from kinelo.advice.audit.hindsight import SEARCH_DRAWS, HindsightStrengths, Likelihood, falling_root, walk_factor
from kinelo.advice.audit.kernels import CHESS_NU, NORMAL_95, YEAR, Array, Calendar, Parameters, System
from kinelo.play.formula import kernel

SEASONS = 24
STUDENT_95 = 2.07
"""Half width of a 95 % interval in standard deviations that are known from so many seasons."""
LUCK_FADES = (0.9, 0.98, 1.0)
"""What is left of a surprise after a match of the side, in each of the three tests."""
FOLLOWS_RESULTS = 1.8
"""Standard deviations of the seasons beyond which a calendar may follow results."""
EVIDENCE_DRAWS = 32
EVIDENCE_RANGE = 3.0
"""How far from the other answer the spread of independent strengths is sought: logarithms."""
EVIDENCE_LEFT, EVIDENCE_ERROR = 0.3, 0.2
"""Where Newton's steps end, and how near the logarithm of the spread is found."""
FIRTH_STEPS, SEASON_STEPS = 5, 6
MOST_ALIKE, LEAST_SHARE, MOST_SHARE = 0.995, 1e-3, 2.0
"""Correlations lie below, and shares between."""
FAINT = 0.1
"""Part of the variance of strengths that must be no luck, in all but as many of the seasons."""
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


class Measured(NamedTuple):
    """A number with its standard error."""

    value: float
    error: float

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.value - NORMAL_95 * self.error

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.value + NORMAL_95 * self.error

    def to_dict(self) -> dict[str, float]:
        """The number, its standard error and its interval."""
        return {**self._asdict(), "low": self.low, "high": self.high}


class Range(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


class StrengthsToday(NamedTuple):
    """Strength of each side at its last match and the variance of its error, about the mean of those who are active,
    and who is (sides each)."""

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
    shown_by
        The share at other K, played on this calendar.
    matches
        Matches of a side so far, on average over those who are active.
    """

    spread: Range
    correlation: Range
    share_shown: Range
    luck: float
    shown_by: dict[float, float]
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
            "shown_by": [[k, share] for k, share in self.shown_by.items()], "matches": self.matches,
            "alike": self.alike,
        }  # fmt: skip


def strengths_today(calendar: Calendar, found: HindsightStrengths, years: float) -> tuple[StrengthsToday, np.ndarray]:
    """Strengths at the end, about the mean of those who have played within some years and are tied to most others; and
    the last appearance of each side."""
    side, day = np.column_stack([calendar.home, calendar.away]).ravel(), np.full(calendar.sides, -math.inf)
    last = np.zeros(calendar.sides, np.int64)
    last[side] = np.arange(side.size)
    day[side] = calendar.day[last[side] // 2]
    active = (day >= max(calendar.day[-1] - years * YEAR, 0.0)) & largest_pool(calendar)
    strength, luck = (one.reshape(side.size, -1)[last] for one in found.of_matches())
    strength = strength[:, 0]
    strength, luck = strength - strength[active].mean(), luck - luck[active].mean(axis=0)
    idle = np.where(np.isfinite(day), calendar.day[-1] - day, 0.0) / YEAR
    return StrengthsToday(strength, (luck**2).mean(axis=1) + found.walk_per_year**2 * idle, active), last


def largest_pool(calendar: Calendar) -> np.ndarray:
    """Who is tied to most others by matches."""
    ones = np.ones(calendar.size)
    graph = sparse.coo_array((ones, (calendar.home, calendar.away)), shape=(calendar.sides, calendar.sides))
    _, label = connected_components(graph, directed=False)
    return label == np.bincount(label).argmax()


class _Moments(NamedTuple):
    """Variance of strengths today, and over matches the product of opponents and the variance; one of each column."""

    today: Array
    together: Array
    spread: Array


NOTHING = _Moments(*np.zeros((3, 1)))


class _Lens:
    """What is looked at of strengths in all appearances (2n × columns)."""

    def __init__(self, last: np.ndarray, weight: Array, rated: Array) -> None:
        self.last, self.weight, self.unbiased = last, weight, 1.0 - float(weight @ weight)
        self.rated = rated - weight @ rated

    def moments(self, strength: Array) -> _Moments:
        today = strength[self.last] - self.weight @ strength[self.last]
        apart = strength - strength.mean(axis=0)
        together, spread = (apart[0::2] * apart[1::2]).mean(axis=0), (apart**2).mean(axis=0)
        return _Moments(self.weight @ today**2 / self.unbiased, together, spread)

    def along(self, strength: Array, rated: Array | None = None) -> Array:
        """Covariance of ratings (of the sides that are looked at; a column each, or those in use) and strengths."""
        today = strength[self.last]
        today = today - self.weight @ today
        rated = self.rated[:, None] if rated is None else rated - self.weight @ rated
        return (self.weight[:, None] * today * rated).sum(axis=0) / self.unbiased


def opponents_found(
    calendar: Calendar, parameters: Parameters, found: HindsightStrengths, system: System, steps: Array, years: float,
    ks: tuple[float, ...] = (), seed: int = 0,
) -> OpponentsFound:  # fmt: skip
    """Spread, likeness of opponents and the share of differences that ratings by ``steps`` (n × 2) show today, and by
    other ``ks``."""
    g, likelihood = np.random.default_rng(seed), found.likelihood
    today, last = strengths_today(calendar, found, years)
    played = np.bincount(np.concatenate([calendar.home, calendar.away]), minlength=calendar.sides).astype(float)
    places = np.flatnonzero(today.active)
    weight = weights_of(today.strength[places], today.variance[places], played[places])
    places, weight = places[weight > 0], weight[weight > 0]

    def ratings(result: Array, step: Array = steps) -> Array:
        rated = system.start.copy()
        kernels.expect_ratings(calendar, system, step, result, rated)
        return rated[places]

    lens = _Lens(last[places], weight, ratings(calendar.result))
    grown = np.zeros(2 * calendar.size) if found.trend is None else found.years @ found.trend.per_year
    x, luck = _firth(likelihood, found, g)
    strength = (found.paths @ x + grown)[:, None]
    own, error = lens.moments(strength), _Moments(*(one.mean() for one in lens.moments(found.paths @ luck)))
    least = (LEAST_SPREAD * CHESS_NU / parameters.nu) ** 2
    variance = max(float(own.today[0]) - float(error.today), least)
    rho = _correlation(own, error)[0]
    covered = float(lens.along(strength)[0])

    # Seasons on the same calendar, from strengths as far apart as they are.
    shrunk = min(math.sqrt(variance / float(own.today[0])), 1.0)
    true = shrunk * strength
    both = true.reshape(-1, 2)
    results = np.empty((calendar.size, SEASONS))
    for n in range(SEASONS):
        kernels.draw_results(both, found.home, parameters, g.random(calendar.size), results[:, n])
    offset = found.home + shrunk * (grown[0::2] - grown[1::2])
    again = found.paths @ _refit(likelihood, found.factor, shrunk * x, luck, offset, results) + shrunk * grown[:, None]
    rated = np.stack([ratings(results[:, n]) for n in range(SEASONS)], axis=1)
    seen, truth = lens.moments(again), lens.moments(true)
    true_along, found_along = lens.along(true, rated), lens.along(again, rated)
    bias = float((found_along - true_along).mean())
    spreads = 0.5 * np.log(np.maximum(seen.today - error.today, 0.02 * variance) / variance)
    turned = np.arctanh(_correlation(seen, error)) - np.arctanh(_correlation(truth, NOTHING))
    shares = np.log(
        np.maximum((found_along - bias) / np.maximum(seen.today - error.today, 0.02 * variance), LEAST_SHARE)
    )
    shares -= np.log(np.maximum(true_along / variance, LEAST_SHARE))
    share = max((covered - bias) / variance, LEAST_SHARE)
    answers = [
        _interval(math.log(variance) / 2, spreads, math.exp),
        _interval(math.atanh(rho), turned, math.tanh, LEAST_ERROR),
        _interval(math.log(share), shares, math.exp),
    ]
    # Strengths that move as fast as results tell them leave nothing to be seen of how far they lie apart.
    faint = seen.today - error.today < FAINT * seen.today
    if faint.mean() > FAINT or own.today[0] - error.today < FAINT * own.today[0]:
        low, high = math.sqrt(least), math.sqrt(max(float(own.today[0]), 4 * least))
        answers = [
            Range((low + high) / 2, low, high), Range(0.0, -MOST_ALIKE, MOST_ALIKE), Range(1.0, LEAST_SHARE, MOST_SHARE)
        ]  # fmt: skip
        return OpponentsFound(answers[0], answers[1], answers[2], 0.0, {}, float(played[places].mean()), today)
    unlucky = np.array([_luck_test(calendar, likelihood, *one) for one in zip(again.T, results.T)])
    real = _luck_test(calendar, likelihood, strength[:, 0], calendar.result)
    luck_of_calendar = float(((real - unlucky.mean(axis=0)) / np.maximum(unlucky.std(axis=0, ddof=1), 1e-12)).max())
    if luck_of_calendar > FOLLOWS_RESULTS:
        other, drawn = _evidence(likelihood, found, lens, x, math.sqrt(variance), grown, g)
        answers = [
            Range((one.value + two.value) / 2, min(one.low, two.low), max(one.high, two.high))
            for one, two in zip(answers, other)
        ]
        today = _between(today, drawn[last])
    shown = {}
    for k in ks:
        step = np.multiply.outer(calendar.weight, np.full(2, k / 2))
        there = np.stack([ratings(results[:, n], step) for n in range(SEASONS)], axis=1)
        shown[k] = answers[2].value * float(lens.along(true, there).mean()) / max(float(true_along.mean()), 1e-9)
    # What a walk adds between blocks is smoothed away where results do not show it: strengths may lie further apart.
    unseen = lens.moments(found.paths @ luck - _side_means(found, luck)).today.mean()
    wide = answers[0]
    answers[0] = wide._replace(high=math.hypot(wide.high, math.sqrt(2.0 * float(unseen))))
    answers[2] = Range(*(min(one, MOST_SHARE) for one in answers[2]))
    mean = float(played[places].mean())
    return OpponentsFound(answers[0], answers[1], answers[2], luck_of_calendar, shown, mean, today)


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


def _correlation(own: _Moments, error: _Moments) -> Array:
    """ρ of each column, without what luck adds to both of its parts."""
    spread = np.maximum(own.spread - error.spread, 1e-3 * own.spread + 1e-12)
    return np.clip((own.together - error.together) / spread, -MOST_ALIKE, MOST_ALIKE)


def _side_means(found: HindsightStrengths, luck: Array) -> Array:
    """Of draws of luck (blocks × draws) the mean over the blocks of a side, in every appearance."""
    side = found.blocks.side
    count = np.bincount(side)
    sums = np.stack([np.bincount(side, one, count.size) for one in luck.T], axis=1)
    return (sums / np.maximum(count, 1)[:, None])[side[found.blocks.block.ravel()]]


def _between(today: StrengthsToday, drawn: Array) -> StrengthsToday:
    """Strengths between two answers, ``drawn`` (sides × draws) the other one: half of their gap is doubt."""
    drawn = drawn - drawn[today.active].mean(axis=0)
    other = drawn.mean(axis=1)
    doubt = np.maximum(today.variance, drawn.var(axis=1)) + (today.strength - other) ** 2 / 4
    return StrengthsToday((today.strength + other) / 2, doubt, today.active)


def _interval(value: float, errors: Array, back: Callable[[float], float], least: float = 0.0) -> Range:
    """A number on a scale on which errors are normal, without their middle and with their spread, scaled back; no
    error is taken for less than the ``least``."""
    centre, reach = value - float(np.median(errors)), STUDENT_95 * math.hypot(float(errors.std(ddof=1)), least)
    return Range(back(centre), back(centre - reach), back(centre + reach))


def _pull(likelihood: Likelihood, gap: Array, unknown: Array) -> Array:
    """Firth's part of what each match moves its difference by: ½ (ln w)' lev, the leverage w times ``unknown``."""
    law, step = likelihood.law, 0.01 / likelihood.nu
    weight = likelihood.weight[:, None] if gap.ndim > 1 else likelihood.weight
    return weight * likelihood.nu * (law.b_prime(gap + step) - law.b_prime(gap - step)) / (4 * step) * unknown


def _firth(likelihood: Likelihood, found: HindsightStrengths, g: np.random.Generator) -> tuple[Array, Array]:
    """Strengths with Firth's correction, and draws of luck there (blocks × draws)."""
    x, factor = found.strength, found.factor
    normal = g.standard_normal((likelihood.n + likelihood.walk.size + likelihood.size, SEASONS))
    most, luck = 2.0 / likelihood.nu, found.luck
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


@kernel
def _follow_luck(home, away, strength, surprise, sides, fades, out):
    """Into ``out`` (one for each of ``fades``): luck so far times how much stronger than usual the opponent is."""
    usual, count = np.zeros(sides), np.zeros(sides)
    for k in range(home.size):
        usual[home[k]] += strength[2 * k + 1]
        usual[away[k]] += strength[2 * k]
        count[home[k]] += 1.0
        count[away[k]] += 1.0
    for f in range(fades.size):
        luck, total = np.zeros(sides), 0.0
        for k in range(home.size):
            i, j = home[k], away[k]
            total += luck[i] * (strength[2 * k + 1] - usual[i] / count[i])
            total += luck[j] * (strength[2 * k] - usual[j] / count[j])
            luck[i] = fades[f] * luck[i] + surprise[k]
            luck[j] = fades[f] * luck[j] - surprise[k]
        out[f] = total


def _luck_test(calendar: Calendar, likelihood: Likelihood, strength: Array, result: Array) -> Array:
    """T of each fading."""
    out, gap = np.empty(len(LUCK_FADES)), strength[0::2] - strength[1::2]
    surprise = result - likelihood.law.b(gap + likelihood.home)
    ways = np.ascontiguousarray(strength), surprise, calendar.sides, np.array(LUCK_FADES)
    _follow_luck(calendar.home, calendar.away, *ways, out)
    return out


def _evidence(
    likelihood: Likelihood, found: HindsightStrengths, lens: _Lens, x: Array, spread: float, grown: Array,
    g: np.random.Generator,
) -> tuple[list[Range], Array]:  # fmt: skip
    """The three where the calendar tells nothing beside the results, and draws of strengths in all appearances."""
    first, own, factor = likelihood.prior > 0, copy.copy(likelihood), found.factor
    normal = g.standard_normal((own.n + own.walk.size + own.size, EVIDENCE_DRAWS))

    def drawn(log_ratio: float, draws: int = EVIDENCE_DRAWS) -> Array:
        nonlocal x
        own.prior = np.where(first, (spread * math.exp(log_ratio)) ** -2, 0.0)
        x, solve = own.mode(x, factor, EVIDENCE_LEFT)
        return x[:, None] + own.luck(x, factor, solve, normal[:, :draws])

    def excess(log_ratio: float) -> float:
        # The mean of squares is that of the mode and of the luck about it, which few draws tell.
        some = drawn(log_ratio, SEARCH_DRAWS)
        return float(own.prior @ (x**2 + ((some - x[:, None]) ** 2).mean(axis=1)) - first.sum())

    best, slope = falling_root(excess, EVIDENCE_RANGE, EVIDENCE_ERROR)
    if own.walk.size:
        # Luck that decides who meets whom looks like movement to a prior that is wide.
        factor, x = walk_factor(own, x, g)
        shift, slope = falling_root(lambda further: excess(best + further), EVIDENCE_RANGE, EVIDENCE_ERROR)
        best += shift
    error = 1.0 / math.sqrt(max(-slope, 1.0))
    # Three nodes of a normal law of the logarithm.
    nodes = [found.paths @ drawn(best + shift * error) + grown[:, None] for shift in (-math.sqrt(3), 0.0, math.sqrt(3))]
    weight = np.repeat([1 / 6, 2 / 3, 1 / 6], EVIDENCE_DRAWS) / EVIDENCE_DRAWS
    parts = [lens.moments(one) for one in nodes]
    today, together, over = (np.concatenate(one) for one in zip(*parts))
    share = np.concatenate([lens.along(one) for one in nodes]) / today
    scales: list[tuple[Array, Callable[[float], float]]] = [
        (0.5 * np.log(today), math.exp), (np.arctanh(np.clip(together / over, -MOST_ALIKE, MOST_ALIKE)), math.tanh),
        (np.log(np.maximum(share, LEAST_SHARE)), math.exp),
    ]  # fmt: skip
    answers = []
    for values, back in scales:
        mean = float(weight @ values)
        reach = NORMAL_95 * math.sqrt(float(weight @ (values - mean) ** 2))
        answers.append(Range(back(mean), back(mean - reach), back(mean + reach)))
    return answers, nodes[1]
