r"""What every K would do to this league: expected log-loss, and the error of a rating.

The strengths of all sides in all matches are known as well as all results tell them (backwards smoothing); ratings
follow them over the matches really played (:func:`kinelo.advice.audit.kernels.follow_ratings`), so that newcomers,
rests, unequal numbers of matches and who meets whom count as they happened. Expectations are over the luck of results.

The league is also played again from the estimates on the same calendar, and rated alike: strengths are drawn given all
results, backwards through the filter, and only luck is new.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import root_scalar

from kinelo.advice.audit import kernels
from kinelo.advice.audit.backtest import KBacktest, block_sizes, lowest, sums_by_block
from kinelo.advice.audit.estimate import Filtered, filter_league, hermite, smooth_league
from kinelo.advice.audit.gaps import law_of
from kinelo.advice.audit.kernels import (
    CHESS_NU,
    Array,
    Calendar,
    ExpectedMatches,
    Followed,
    Parameters,
    Strengths,
    System,
)

RECURSION_NODES = 7
LARGEST_K, SMALLEST_K = 400.0, 0.25
"""Largest and smallest K looked at, on the chess scale."""
WIDE_RUNG, NARROW_RUNG = 1.6, 1.12
"""Factors between neighbouring K in the search for the best one."""
CURVE_RUNG = 1.3
"""Factor between the K at which the theory is asked, at least; between them its curve is smooth."""
FEWEST_FOR_K = 300
"""Matches below which nothing from the data beats a convention by much."""
WIDE_INTERVAL = 4.0
"""An interval whose ends lie this factor apart tells no K."""


@dataclass(frozen=True)
class Prediction:
    """What one K does to the later half of the matches.

    Attributes
    ----------
    k
        K = 2γ; NaN where it is not one number.
    log_loss
        ExpectedMatches mean log-loss of its forecasts. Differences between two K are to be trusted, the level less so.
    error
        Mean square error of a rating, in points².
    slope
        ExpectedMatches slope of results on forecasts: below 1 forecasts are too bold, above 1 too timid.
    """

    k: float
    log_loss: float
    error: float
    slope: float


class Recursion:
    """The expected ratings of a league of these parameters, under any step."""

    nodes = RECURSION_NODES
    calendar: Calendar
    parameters: Parameters
    system: System
    since: int
    filtered: Filtered
    strengths: Strengths
    expected: ExpectedMatches

    def __init__(self, calendar: Calendar, parameters: Parameters, system: System, since: int) -> None:
        self.calendar, self.parameters, self.system, self.since = calendar, parameters, system, since
        self.filtered = filter_league(calendar, parameters)
        self.strengths = smooth_league(calendar, self.filtered)
        self.expected = ExpectedMatches(*(np.empty(calendar.size) for _ in ExpectedMatches._fields))
        kernels.expect_results(self.strengths, parameters, hermite(self.nodes), self.expected)

    @property
    def slope(self) -> float:
        """Mean slope of results on strengths: a rating closes about the share γ · slope of its gap in a match."""
        return float(self.expected.slope[self.since :].mean())

    def follow(self, k: float | Array) -> Followed:
        """Ratings under one K, or under steps γ given for both sides of every match (n × 2, weights included)."""
        steps = np.multiply.outer(self.calendar.weight, np.full(2, k / 2)) if np.ndim(k) == 0 else k
        out = Followed(*(np.empty(self.calendar.size) for _ in Followed._fields))
        kernels.follow_ratings(
            self.calendar, self.system, steps, self.strengths, self.expected, hermite(self.nodes), out
        )
        return out

    def loss(self, k: float) -> float:
        """ExpectedMatches mean log-loss of the later half."""
        return float(self.follow(k).loss[self.since :].mean())

    def at(self, k: float | Array) -> Prediction:
        """What a K, or steps of every match, do to the later half."""
        return self.summary(k, self.follow(k))

    def summary(self, k: float | Array, out: Followed) -> Prediction:
        """What ratings that were followed do to the later half."""
        loss, error = (float(part[self.since :].mean()) for part in (out.loss, out.error))
        return Prediction(float(k) if np.ndim(k) == 0 else math.nan, loss, error, self._slope(out))

    def best(self, near: float | None = None) -> float:
        """K*: the least expected log-loss; the search may begin ``near`` a K."""
        unit = CHESS_NU / self.parameters.nu
        low, high = SMALLEST_K * unit, LARGEST_K * unit
        ks = np.geomspace(low, high, 9) if near is None else near * WIDE_RUNG ** np.arange(-1.0, 2.0)
        losses = {float(k): self.loss(float(k)) for k in ks}
        while (least := min(losses, key=lambda k: losses[k])) in (min(losses), max(losses)) and low < least < high:
            k = float(np.clip(least * WIDE_RUNG ** (1 if least == max(losses) else -1), low, high))
            losses[k] = self.loss(k)
        for rung in (WIDE_RUNG, NARROW_RUNG, 1.0):
            tried = np.array(sorted(losses))
            centre = lowest(tried, np.array([[losses[k]] for k in tried.tolist()]))[0]
            if rung > 1.0:
                losses |= {k: self.loss(k) for k in (centre / rung, centre, centre * rung) if k not in losses}
        return centre

    def change_per_match(self) -> tuple[float, float]:
        """Mean change of a strength, and its return, from one match of a side to its next, over the matches scored."""
        p, path = self.parameters, self.filtered.path[self.since :]
        # φ is 1 where a side enters.
        phi = path[:, :, 0][path[:, :, 0] < 1.0]
        lost = 1 - phi**2 if phi.size else np.zeros(1)
        change = p.walk_per_match**2 + p.walk_per_year**2 * lost / (2 * p.return_per_year)
        return math.sqrt(float(change.mean())), float(lost.mean() / 2)

    def memory(self, k: float) -> float:
        """Matches after which a rating has followed 63 % of a change."""
        return -1.0 / math.log1p(-min(k / 2 * self.slope, 0.999))

    def _slope(self, out: Followed) -> float:
        """t with ``Σ E s(z) r = Σ E f(tr) r``, f the expected score of the forecasts."""
        part = slice(self.since, None)
        r, variance = out.gap[part], np.maximum(out.variance[part], 0.0)
        wanted = float((self.expected.score[part] * r + self.expected.slope[part] * out.covariance[part]).sum())
        sd, law = np.sqrt(variance), law_of(self.system.nu, self.system.forecast_kappa)
        points = [(r + sd * x, weight) for x, weight in zip(*hermite(RECURSION_NODES))]

        def excess(t: float) -> float:
            return sum(weight * float(at @ law.b(t * at)) for at, weight in points) - wanted

        if excess(0.0) >= 0.0 or excess(20.0) <= 0.0:
            return math.nan
        return float(root_scalar(excess, bracket=(0.0, 20.0), method="brentq", xtol=1e-4).root)


@dataclass(frozen=True)
class KCurve:
    """The trade-off over K, its best place, and how sure that is.

    Attributes
    ----------
    points
        What each K does.
    best
        What K* does, the K with the least expected log-loss.
    low, high
        95 % interval: where the best K lies when the same sides play the calendar again.
    quarters
        K* of each quarter of the history.
    """

    points: tuple[Prediction, ...]
    best: Prediction
    low: float
    high: float
    quarters: tuple[float, ...]
    _names: tuple[str, ...] = field(default=("k", "log_loss", "error", "slope"), repr=False)

    def column(self, name: str) -> Array:
        """One quantity at every K."""
        return np.array([getattr(one, name) for one in self.points])

    def at(self, k: float) -> float:
        """ExpectedMatches log-loss of any K on the curve."""
        return float(np.interp(math.log(k), np.log(self.column("k")), self.column("log_loss")))

    def to_dict(self) -> dict[str, list[float]]:
        """Every quantity as a list over K."""
        return {name: self.column(name).tolist() for name in self._names}


def k_curve(recursion: Recursion, ks: Array, best: float, interval: tuple[float, float]) -> KCurve:
    """The curve at these K, by splines through some of them."""
    chosen = [float(ks[0])]
    for k in ks[1:-1].tolist():
        if min(k / chosen[-1], ks[-1] / k) > CURVE_RUNG:
            chosen.append(k)
    chosen.append(float(ks[-1]))
    followed = [recursion.follow(k) for k in chosen]
    points = [recursion.summary(k, one) for k, one in zip(chosen, followed)]
    at, x = np.log(chosen), np.log(ks)
    columns = np.array([(p.log_loss, p.error) for p in points])
    smooth = CubicSpline(at, columns)(x)
    slope = np.interp(x, at, [p.slope for p in points])
    blocks = sums_by_block(
        np.stack([one.loss for one in followed]), block_sizes(recursion.since, recursion.calendar.size)
    )
    by_quarter = np.stack([part.sum(axis=1) for part in np.split(blocks, 4, axis=1)], axis=1)
    quarters = tuple(lowest(ks, CubicSpline(at, by_quarter)(x)))
    curve = tuple(Prediction(*row) for row in np.column_stack([ks, smooth, slope]).tolist())
    return KCurve(curve, recursion.at(best), *interval, quarters)


@dataclass(frozen=True)
class Advice:
    """A K with its 95 % interval.

    Attributes
    ----------
    k, low, high
        Geometric means of theory's and the backtest's where the two agree and opponents are not alike; else the
        backtest's own. The lower end is 0 where no K that could be tested is too small.
    agree
        Whether the intervals of theory and backtest overlap.
    telling
        Whether these matches can tell K at all: enough of them, and an interval within a factor of four.
    """

    k: float
    low: float
    high: float
    agree: bool
    telling: bool


def advise(curve: KCurve | None, measured: KBacktest, matches: int, alike: bool = False) -> Advice:
    """What theory and backtest support together; without theory, or where opponents are ``alike``, which it does not
    know, the backtest alone."""
    low, high = measured.interval
    agree = curve is None or (curve.low <= high and low <= curve.high)
    k = measured.best
    least, most = float(measured.k[0]), float(measured.k[-1])
    # No K below what was tested is advised, nor called too small.
    open_below = low <= least
    if curve is not None and agree and not alike:
        pairs = ((curve.best.k, k), (curve.low, low), (curve.high, high))
        k, low, high = (min(max(math.sqrt(one * other), least), most) for one, other in pairs)
        open_below = open_below and curve.low <= least
    low, high = 0.0 if open_below else min(low, k), max(high, k)
    return Advice(k, low, high, agree, matches >= FEWEST_FOR_K and high < WIDE_INTERVAL * low)


class Replay(NamedTuple):
    """Results in [−1, 1] of every match, the strengths of both sides (n × 2) and the home advantage behind them."""

    result: Array
    strength: Array
    home: Array


def replay(calendar: Calendar, parameters: Parameters, generator: np.random.Generator) -> Replay:
    """Play the calendar once more: strengths drawn given all results, and new results."""
    n = calendar.size
    filtered = filter_league(calendar, parameters)
    strength, home, result = np.empty((n, 2)), np.empty(n), np.empty(n)
    normal = generator.standard_normal((n, 2))
    kernels.smooth_sides(calendar, filtered.path, normal, strength, np.empty((n, 2)), np.empty((n, 2)))
    kernels.smooth_home(calendar.neutral, filtered.home_path, generator.standard_normal(n), home)
    kernels.draw_results(strength, home, parameters, generator.random(n), result)
    return Replay(result, strength, home)
