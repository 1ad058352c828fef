"""Losses of raters with normal beliefs, and their derivatives by every parameter.

With ``a = (κμ − c)/√(1 + κ²dV)`` and ``a' = (−κμ − c)/√(1 + κ²dV)`` a home win has the chance ``Φ(a)`` and an away win
``Φ(a')`` (:mod:`kinelo.raters.gaussian`). Sharpness κ, band ``c`` and doubt ``d`` need no pass over the matches; the
others act through the mean ``μ`` and variance ``V`` that the filter expects of a match, whose derivatives the filter
carries along where it can, and which are differences of two passes where it cannot.
"""

from __future__ import annotations

import copy
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from kinelo.forecasts.fit import DIFFERENCE, Slopes
from kinelo.forecasts.scores import SMALLEST
from kinelo.matches.matches import Matches
from kinelo.runtime.processors import usable_processors

Array = NDArray[np.float64]
BY_MATCH = ("mean", "variance", "dmean", "dvariance")
READING = ("sharpness", "ties", "doubt")
"""Parameters that say how a belief is read, and change none."""


@dataclass
class Expected:
    """Mean and variance expected of each match, and their derivatives by some parameters, a column each."""

    mean: Array
    variance: Array
    dmean: Array
    dvariance: Array
    names: tuple[str, ...]


def joined(one: Expected, other: Expected) -> Expected:
    """The derivatives of both."""
    dmean, dvariance = (np.hstack([getattr(told, name) for told in (one, other)]) for name in BY_MATCH[2:])
    return Expected(one.mean, one.variance, dmean, dvariance, one.names + other.names)


def scaled(told: Expected, y: Array, dy: Array, noise: Array, skipped: int) -> Expected:
    """The variance in the unit of the noise: times the mean square of the surprises that are scored."""
    mean, variance, dmean, dvariance = (a[skipped:] for a in (told.mean, told.variance, told.dmean, told.dvariance))
    S, e = variance + noise[skipped:], y[skipped:] - mean
    de = -dmean
    if "margin_power" in told.names:
        de[:, told.names.index("margin_power")] += dy[skipped:]
    square = e * e / S
    unit = float(square.mean())
    dunit = ((2.0 * e / S) @ de - (square / S) @ dvariance) / e.size
    return Expected(mean, unit * variance, dmean, unit * dvariance + variance[:, None] * dunit, told.names)


def read(told: Expected, values: dict[str, float], signed: Array) -> Slopes:
    """Losses of forecasts from what was expected, and their derivatives."""
    kappa, band, doubt = (values[name] for name in READING)
    m, V = told.mean, told.variance
    s = 1.0 / np.sqrt(1.0 + kappa * kappa * doubt * V)
    home, away = (kappa * m - band) * s, (-kappa * m - band) * s
    win = ndtr(home)
    loss = ndtr(away) if band > 0.0 else 1.0 - win
    won, drawn, lost = np.maximum(signed, 0.0), 1.0 - np.abs(signed), np.maximum(-signed, 0.0)
    losses = np.zeros(m.size)
    by_win, by_draw, by_loss = (np.zeros(m.size) for _ in range(3))
    for part, chance, by in ((won, win, by_win), (drawn, 1.0 - win - loss, by_draw), (lost, loss, by_loss)):
        losses -= part * np.log(np.maximum(chance, SMALLEST))
        by -= np.where(chance > SMALLEST, part / np.maximum(chance, SMALLEST), 0.0)
    normal = 1.0 / math.sqrt(2.0 * math.pi)
    if band > 0.0:
        by_home = (by_win - by_draw) * normal * np.exp(-0.5 * home * home)
        by_away = (by_loss - by_draw) * normal * np.exp(-0.5 * away * away)
    else:
        by_home, by_away = (by_win - by_loss) * normal * np.exp(-0.5 * home * home), np.zeros(m.size)
    # A change of s moves both arguments in proportion to themselves.
    by_log_s = by_home * home + by_away * away
    shrink = -0.5 * s * s * kappa * by_log_s
    by_mean, by_variance = (by_home - by_away) * kappa * s, shrink * kappa * doubt
    reading = np.column_stack(
        [(by_home - by_away) * m * s + 2.0 * shrink * doubt * V, -(by_home + by_away) * s, shrink * kappa * V]
    )
    by = np.hstack([by_mean[:, None] * told.dmean + by_variance[:, None] * told.dvariance, reading])
    return Slopes(losses, by, (*told.names, *READING))


def by_differences(rater: Any, matches: Matches, mean: Array, variance: Array, names: tuple[str, ...]) -> Expected:
    """Derivatives of what a rater expects by differences, one pass over the matches (``rater._sift``) for each name."""
    ranges = {p.name: p for p in rater.open_parameters()}
    values = dict(rater.parameters_)

    def moved(name: str) -> tuple[Array, Array, float]:
        p = ranges[name]
        step = DIFFERENCE * (values[name] if p.positive else (p.high - p.low) / 10)
        step = step if values[name] + step <= p.high else -step
        twin = copy.copy(rater)
        twin.reset({other: value for other, value in values.items() if other in ranges} | {name: values[name] + step})
        m, V = twin._sift(matches, twin._signal(matches))
        return m, V, step

    dmean, dvariance = (np.empty((mean.size, len(names))) for _ in range(2))
    with ThreadPoolExecutor(usable_processors()) as pool:  # the kernels release the interpreter's lock
        for k, (m, V, step) in enumerate(pool.map(moved, names)):
            dmean[:, k], dvariance[:, k] = (m - mean) / step, (V - variance) / step
    return Expected(mean, variance, dmean, dvariance, names)
