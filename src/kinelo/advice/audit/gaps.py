"""Forecasts by gaps of ratings or strengths, held against results: calibration, log-loss, and by bands of ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy.optimize import root_scalar

from kinelo.advice.audit.estimate import hermite
from kinelo.advice.audit.kernels import Array
from kinelo.model.outcome import Davidson, Outcome, Tanh
from kinelo.play.laws import points_scale
from kinelo.presentation import MISSING, Column, Row, Table, number, words

BANDS = 5
LEAST_IN_BAND = 30
GAP_NODES = 15


@dataclass(frozen=True)
class Band:
    """Sides of one fifth of the ratings: how far off, seen from the results of their matches.

    Attributes
    ----------
    rating
        Mean rating of the band, in points above the rating to begin with.
    matches
        Matches seen, from the side in the band.
    underrated, error
        Rating points that would have made expected and real points agree, with their standard error.
    """

    rating: float
    matches: int
    underrated: float
    error: float


def bands_table(bands: Sequence[Band]) -> Table:
    """How far off each fifth of the ratings is, the weakest first."""
    if len(bands) < 2:
        return Table((), (), below=("Too few matches to tell strong and weak sides apart.",))
    ends = {1: " (weakest)", len(bands): " (best)"}
    rows = [{"fifth": f"{k}{ends.get(k, '')}", **asdict(one)} for k, one in enumerate(bands, 1)]
    columns = [
        words("Fifth", "fifth"),
        number("Above the start", "rating", "+.0f"),
        Column("Is rated", _tilt, number=True),
    ]
    return Table(columns, rows)


def _tilt(row: Row) -> str:
    if not math.isfinite(row["underrated"]):
        return MISSING
    return f"{abs(row['underrated']):.0f} ± {row['error']:.0f} too {'high' if row['underrated'] < 0 else 'low'}"


def law_of(nu: float, ties: float) -> Davidson | Tanh:
    """Davidson's law in points: its expected score has the slope ν at equality, whatever its κ."""
    return Davidson(nu=points_scale(nu, ties), kappa=ties) if ties > 0 else Tanh(nu=nu)


class GapForecasts:
    """Matches with gaps in points that forecast results by a law; ``blur`` is the standard deviation of a normal error
    of the gaps.
    """

    gap: Array
    blur: float | Array

    def __init__(self, gap: Array, law: Outcome, blur: float | Array = 0.0) -> None:
        self.gap, self.blur, self._law = gap, blur, law

    def law(self, stretch: float = 1.0) -> tuple[Array, Array, Array]:
        """Mean, slope and variance of results."""
        mean, slope, square = (np.zeros(self.gap.size) for _ in range(3))
        for x, weight in zip(*hermite(GAP_NODES if np.any(self.blur) else 1)):
            z = stretch * self.gap + self.blur * x
            mean += weight * self._law.b(z)
            slope += weight * self._law.b_prime(z)
            square += weight * (1 - self._law.tie_probability(z))
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

    def of(self, here: np.ndarray) -> GapForecasts:
        """Some of the matches."""
        return GapForecasts(self.gap[here], self._law, np.broadcast_to(self.blur, self.gap.size)[here])


def bands_of(home: Array, away: Array, forecast: GapForecasts, result: Array) -> tuple[Band, ...]:
    """Matches by rating of the side in question, lowest fifth first; every match is seen from both sides."""
    ratings = np.concatenate([home, away])
    # Every match seen by the home side, then by the away side.
    blur = np.tile(np.broadcast_to(forecast.blur, forecast.gap.size), 2)
    whole = GapForecasts(np.concatenate([forecast.gap, -forecast.gap]), forecast._law, blur)
    seen = np.concatenate([result, -result])
    place = np.searchsorted(np.quantile(ratings, np.linspace(0, 1, BANDS + 1)[1:-1]), ratings)
    bands = []
    for band in range(BANDS):
        within = place == band
        if within.sum() < LEAST_IN_BAND:
            continue
        part = whole.of(within)
        mean, steep, variance = part.law()
        pull = float(steep.sum())
        off, error = float((seen[within] - mean).sum()) / pull, math.sqrt(float(variance.sum())) / pull
        bands.append(Band(float(ratings[within].mean()), int(within.sum()), off, error))
    return tuple(bands)
