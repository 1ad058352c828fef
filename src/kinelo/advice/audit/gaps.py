"""Forecasts by gaps of ratings or strengths, held against results: calibration, log-loss, and by bands of ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import root_scalar

from kinelo.advice.audit.estimate import hermite
from kinelo.advice.audit.kernels import Array
from kinelo.play.laws import points_scale

BANDS = 5
LEAST_IN_BAND = 30
NODES = 15


@dataclass(frozen=True)
class Band:
    """Sides of one fifth of the ratings: how far off, seen from the results of their matches.

    Attributes
    ----------
    rating
        Mean rating of the band.
    matches
        Matches seen, from the side in the band.
    underrated, error
        Rating points that would have made expected and real points agree, with their standard error.
    slope, slope_error
        Slope of results on forecasts within the band: 1 is calibrated, below 1 too bold.
    """

    rating: float
    matches: int
    underrated: float
    error: float
    slope: float
    slope_error: float


class Gaps:
    """Matches with gaps in points that forecast results by Davidson's law, its expected score of slope ν at equality.

    ``blur`` is the standard deviation of a normal error of the gap.
    """

    def __init__(self, gap: Array, blur: float | Array, ties: float, nu: float) -> None:
        self.gap, self.blur, self.ties, self.nu = gap, blur, ties, nu

    def law(self, stretch: float = 1.0) -> tuple[Array, Array, Array]:
        """Mean, slope and variance of results."""
        mean, slope, square = (np.zeros(self.gap.size) for _ in range(3))
        nu = points_scale(self.nu, self.ties)
        for x, weight in zip(*hermite(NODES if np.any(self.blur) else 1)):
            up = np.exp(np.clip(nu * (stretch * self.gap + self.blur * x), -300, 300))
            whole = up + 1 / up + self.ties
            b, s = (up - 1 / up) / whole, (up + 1 / up) / whole
            mean += weight * b
            square += weight * s
            slope += weight * nu * (s - b * b)
        return mean, slope, square - mean**2

    def slope(self, result: Array) -> tuple[float, float]:
        """Stretch of the gaps that makes forecasts agree with results, and its standard error."""

        def score(stretch: float) -> float:
            return float((self.gap * (result - self.law(stretch)[0])).sum())

        if score(0.0) <= 0.0 or score(20.0) >= 0.0:
            return math.nan, math.nan
        stretch = float(root_scalar(score, bracket=(0.0, 20.0), method="brentq", xtol=1e-5).root)
        _, steep, variance = self.law(stretch)
        return stretch, math.sqrt(float((self.gap**2 * variance).sum())) / float((self.gap**2 * steep).sum())

    def log_loss(self, result: Array) -> float:
        """Mean log-loss of win, tie and loss."""
        mean, _, variance = self.law()
        decided = np.minimum(variance + mean**2, 1.0)
        chance = np.where(result == 0, 1 - decided, (decided + result * mean) / 2)
        return -float(np.log(np.maximum(chance, 1e-300)).mean())

    def of(self, here: np.ndarray) -> Gaps:
        """Some of the matches."""
        blur = self.blur[here] if isinstance(self.blur, np.ndarray) else self.blur
        return Gaps(self.gap[here], blur, self.ties, self.nu)


def bands_of(home: Array, away: Array, forecast: Gaps, result: Array) -> tuple[Band, ...]:
    """Matches by rating of the side in question, lowest fifth first; every match is seen from both sides."""
    own = np.concatenate([home, away])
    whole = Gaps(np.concatenate([forecast.gap, -forecast.gap]), forecast.blur, forecast.ties, forecast.nu)
    seen = np.concatenate([result, -result])
    place = np.searchsorted(np.quantile(own, np.linspace(0, 1, BANDS + 1)[1:-1]), own)
    found = []
    for band in range(BANDS):
        here = place == band
        if here.sum() < LEAST_IN_BAND:
            continue
        part = whole.of(here)
        mean, steep, variance = part.law()
        pull = float(steep.sum())
        off, error = float((seen[here] - mean).sum()) / pull, math.sqrt(float(variance.sum())) / pull
        found.append(Band(float(own[here].mean()), int(here.sum()), off, error, *part.slope(seen[here])))
    return tuple(found)
