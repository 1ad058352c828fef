r"""What every K would do to this league: expected log-loss and E(K) = noise + lag + newcomers + bias.

Small errors of Elo obey a linear recursion over the matches really played (:mod:`kinelo.advice.audit.kernels`), so that
newcomers, rests and unequal numbers of matches count as they happened: a start that is off by √V₀ is forgotten as
``(1 − γμ)^n`` over a side's own n matches, a rest adds what strengths moved meanwhile, and the mean is over matches. A
match then loses ``E[log D(z + δ) − log D(z) − νb(z)δ]`` beyond its entropy, D the denominator of Davidson's law and δ
normal with the variance of both sides' errors.

The level of the curve is what the filter attained on these matches; the theory says how much more each K loses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.estimate import Array, Calendar, LeagueEstimate, filtered, hermite

ERROR_NODES = 5
TOP, BOTTOM = 400.0, 0.25
LADDER = 1.1
DRAWS = 32
RUNG, MOST_RUNGS = 0.3, 8
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Prediction:
    """What one K does to the later half of the matches.

    Attributes
    ----------
    k
        K = 2γ.
    log_loss
        Expected mean log-loss of its forecasts.
    noise, lag, newcomers, bias
        Parts of the mean square error of a rating, in points²: luck of matches, strengths that moved, starts that were
        not known, and levels that are off on average.
    slope
        Expected slope of results on forecasts: below 1 forecasts are too bold, above 1 too timid.
    """

    k: float
    log_loss: float
    noise: float
    lag: float
    newcomers: float
    bias: float
    slope: float

    @property
    def error(self) -> float:
        """E, the mean square error of a rating."""
        return self.noise + self.lag + self.newcomers + self.bias


class Theory:
    """The calendar of a league with what is known of its matches, ready to be asked about any K."""

    def __init__(self, calendar: Calendar, league: LeagueEstimate, since: int) -> None:
        self.calendar, self.league, self.since = calendar, league, since
        known = filtered(calendar, league.vector)
        x, weight = hermite(ERROR_NODES)
        self._mu, self._q, self._entropy, surprise = (np.empty(len(calendar)) for _ in range(4))
        kernels.expectations(
            known.gap, known.doubt, league.vector, x, weight, self._mu, self._q, self._entropy, surprise
        )
        self.known = known
        self.attained = -float(known.likelihood[since:].mean())
        self._level = self.attained - float(surprise[since:].mean())

    @property
    def slope(self) -> float:
        """μ, the mean slope of results on strengths: a rating closes the share γμ of its gap in a match."""
        return float(self._mu[self.since :].mean())

    def at(self, k: float) -> Prediction:
        """What K does."""
        calendar, (x, weight) = self.calendar, hermite(ERROR_NODES)
        state = np.zeros((calendar.sides, 10))
        state[:, 0] = -1.0
        loss = np.empty(len(calendar) - self.since)
        sums = kernels.calendar(
            calendar.home, calendar.away, calendar.weight, calendar.day, self.league.vector, k / 2, self.known.gap,
            self._mu, self._q, self._entropy, x, weight, self.since, state, loss,
        )  # fmt: skip
        noise, lag, newcomers, bias, covariance, variance = (sums[:6] / (2 * loss.size)).tolist()
        slope = covariance / variance if variance > 0 else math.nan
        return Prediction(k, self._level + float(loss.mean()), noise, lag, newcomers, bias, slope)

    def best(self) -> Prediction:
        """K*: the least expected log-loss."""
        ladder = np.geomspace(BOTTOM, TOP, 14)
        losses = [self.at(float(k)).log_loss for k in ladder]
        place = int(np.argmin(losses))
        low, high = math.log(ladder[max(place - 1, 0)]), math.log(ladder[min(place + 1, ladder.size - 1)])
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_left, at_right = self.at(math.exp(left)), self.at(math.exp(right))
        while high - low > 0.01:
            if at_left.log_loss < at_right.log_loss:
                high, right, at_right = right, left, at_left
                left = high - GOLDEN * (high - low)
                at_left = self.at(math.exp(left))
            else:
                low, left, at_left = left, right, at_right
                right = low + GOLDEN * (high - low)
                at_right = self.at(math.exp(right))
        return min(at_left, at_right, key=lambda one: one.log_loss)


@dataclass(frozen=True)
class KCurve:
    """The trade-off over K, its best place, and how sure that is."""

    points: tuple[Prediction, ...]
    best: Prediction
    low: float
    high: float
    _names: tuple[str, ...] = field(default=("k", "log_loss", "noise", "lag", "newcomers", "bias", "slope"), repr=False)

    def column(self, name: str) -> Array:
        """One quantity at every K."""
        return np.array([getattr(one, name) for one in self.points])

    def to_dict(self) -> dict[str, list[float]]:
        """Every quantity as a list over K."""
        return {name: self.column(name).tolist() for name in self._names}


def k_grid(centre: float) -> Array:
    """K in steps of 10 %, from a quarter to four times the centre."""
    reach = math.ceil(math.log(4.0) / math.log(LADDER))
    return centre * np.exp(math.log(LADDER) * np.arange(-reach, reach + 1, dtype=np.float64))


def k_curve(theory: Theory, also: float | None = None) -> KCurve:
    """The curve around K*, widened to reach the K in use, with a 95 % interval of K*: the doubt in the estimates."""
    best = theory.best()
    ks = set(k_grid(best.k).tolist())
    if also is not None:
        ks |= set(np.geomspace(min(also, best.k), max(also, best.k), 12).tolist())
    points = tuple(theory.at(k) for k in sorted(ks))
    low, high = _interval(theory, best.k)
    return KCurve(points, best, min(low, best.k), max(high, best.k))


def _interval(theory: Theory, centre: float) -> tuple[float, float]:
    """95 % interval of K*: what it would be under other parameters that these matches could have come from."""
    drawn = theory.league.draw(theory.calendar, DRAWS)
    ks = [_lowest(Theory(theory.calendar, one, theory.since), centre) for one in drawn]
    low, high = np.quantile(ks, [0.025, 0.975])
    return float(low), float(high)


def _lowest(theory: Theory, centre: float) -> float:
    """K* near another one: three points, moved until the middle is the lowest, and their parabola."""
    losses: dict[int, float] = {}

    def loss(place: int) -> float:
        if place not in losses:
            losses[place] = theory.at(centre * math.exp(RUNG * place)).log_loss
        return losses[place]

    place = 0
    while abs(place) < MOST_RUNGS and min(loss(place - 1), loss(place + 1)) < loss(place):
        place += 1 if loss(place + 1) < loss(place - 1) else -1
    left, middle, right = (loss(place + n) for n in (-1, 0, 1))
    bend = left - 2 * middle + right
    shift = 0.5 * (left - right) / bend if bend > 0 else 0.0
    return centre * math.exp(RUNG * (place + float(np.clip(shift, -1.0, 1.0))))
