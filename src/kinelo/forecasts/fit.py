"""Parameters of a rater by the likelihood of its one-step-ahead forecasts.

With ``ℓ_k(φ)`` the log-loss of match ``k`` forecast from the matches before it, the search minimises
``Σ ℓ_k(φ) + ½ Σ ((φ − φ₀)/s)²``. The second term is a prior around the defaults, six standard deviations ``s`` as wide
as the range of the parameter: it decides where the matches say little, as a season does, and fades among thousands.
Scores ``∂ℓ_k/∂φ`` by finite differences give the gradient and, through their outer products (Berndt, Hall, Hall and
Hausman), the curvature; each damped Newton step then costs one pass over the matches per parameter. The inverse of the
same matrix gives the standard errors. The first quarter of the matches is rated but not scored, because a forecast made
while nobody is known yet tells of the start, not of the parameters.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Estimates, Parameter
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches
from kinelo.processors import usable_processors

Array = NDArray[np.float64]

WARM_UP = 0.25
DIFFERENCE = 1e-3
LONGEST_STEP = 1.0
NEGLIGIBLE = 0.1
MOST_STEPS = 30
MOST_DAMPINGS = 8
FLAT = 0.7


class Estimable(Protocol):
    """What the search asks of a rater."""

    def open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters to be estimated."""
        ...

    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and take these values."""
        ...

    def one_step_ahead(self, matches: Matches) -> Forecast:
        """Forecast each match before it is used, and use it."""
        ...


def estimate(rater: Estimable, matches: Matches, warm_up: float = WARM_UP) -> Estimates:
    """Estimate the open parameters of a rater, which is left as it was.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B"] * 200, "away": ["B", "A"] * 200, "result": [1, -1, 1, 0, -1, 0, 1, -1] * 50}
    >>> found = estimate(kn.TeamElo(step=5.0), kn.read_matches(table))
    >>> found.matches, "step" in found.values
    (300, False)
    """
    scales = _Scales(rater.open_parameters())
    skipped = int(warm_up * len(matches))
    result = matches.result[skipped:]

    def losses(z: Array) -> Array:
        twin = copy.copy(rater)
        twin.reset(scales.values(z))
        return log_loss(twin.one_step_ahead(matches).probabilities[skipped:], result)

    z, information, total = _search(losses, scales)
    errors = scales.standard_errors(z, information)
    return Estimates(scales.values(z), errors, -total, len(matches) - skipped, scales.at_bounds(z))


class _Scales:
    """Parameters as the search sees them: logarithms where positive, else tenths of their range."""

    def __init__(self, parameters: tuple[Parameter, ...]) -> None:
        self.parameters = parameters
        self.unit = np.array([1.0 if p.positive else (p.high - p.low) / 10 for p in parameters])
        self.low, self.high, self.start = (
            np.array([self._place(p, getattr(p, end)) for p in parameters]) for end in ("low", "high", "default")
        )
        self.prior_precision = (6.0 / (self.high - self.low)) ** 2

    def _place(self, p: Parameter, value: float) -> float:
        return math.log(value) if p.positive else value * 10 / (p.high - p.low)

    def values(self, z: Array) -> dict[str, float]:
        return {
            p.name: min(max(math.exp(x) if p.positive else float(x * u), p.low), p.high)
            for p, x, u in zip(self.parameters, z, self.unit)
        }

    def at_bounds(self, z: Array) -> tuple[str, ...]:
        """Names of parameters at an end of their range; 0, where it is the least that makes sense, is no end."""
        stuck = (z >= self.high) | ((z <= self.low) & np.array([p.low != 0.0 for p in self.parameters]))
        return tuple(p.name for p, at in zip(self.parameters, stuck) if at)

    def standard_errors(self, z: Array, information: Array) -> dict[str, float]:
        """By the delta method; NaN at a bound, or where the matches add little to the prior."""
        variance = np.diag(np.linalg.inv(information + np.diag(self.prior_precision)))
        vague = variance * self.prior_precision > FLAT**2
        stuck = (z <= self.low) | (z >= self.high)
        slope = [value if p.positive else u for p, u, value in zip(self.parameters, self.unit, self.values(z).values())]
        error = np.where(vague | stuck, np.nan, np.sqrt(variance) * np.array(slope))
        return {p.name: float(e) for p, e in zip(self.parameters, error)}


@dataclass
class _Point:
    """A place of the search: the losses there, and the penalised total."""

    z: Array
    losses: Array
    total: float


def _search(losses: Callable[[Array], Array], scales: _Scales) -> tuple[Array, Array, float]:
    """Best place, information of the matches there, and the sum of their losses."""

    def look(z: Array) -> _Point:
        loss = losses(z)
        penalty = 0.5 * float(scales.prior_precision @ (z - scales.start) ** 2)
        total = float(loss.sum()) + penalty
        return _Point(z, loss, total if math.isfinite(total) else math.inf)

    here, damping, idle = look(scales.start), 1e-3, 0
    for _ in range(MOST_STEPS):
        score = _scores(losses, here, scales)
        there, damping = _step(look, here, score, scales, damping)
        idle = idle + 1 if here.total - there.total < NEGLIGIBLE else 0
        stuck, here = there is here, there
        if stuck or idle == 2:  # one short step may only mean strong damping
            break
    score = _scores(losses, here, scales)
    return here.z, score.T @ score, float(here.losses.sum())


def _scores(losses: Callable[[Array], Array], here: _Point, scales: _Scales) -> Array:
    """``∂ℓ_k/∂z_p`` by differences that stay within the bounds."""
    shift = np.where(here.z + DIFFERENCE <= scales.high, DIFFERENCE, -DIFFERENCE)
    with ThreadPoolExecutor(usable_processors()) as pool:  # the kernels release the interpreter's lock
        shifted = list(pool.map(losses, here.z + np.diag(shift)))
    return np.nan_to_num((np.column_stack(shifted) - here.losses[:, None]) / shift)


def _step(
    look: Callable[[Array], _Point], here: _Point, score: Array, scales: _Scales, damping: float
) -> tuple[_Point, float]:
    """A damped Newton step within the bounds that lowers the total, or ``here`` again where none does."""
    gradient = score.sum(axis=0) + scales.prior_precision * (here.z - scales.start)
    curvature = score.T @ score + np.diag(scales.prior_precision)
    outward = ((here.z <= scales.low) & (gradient > 0)) | ((here.z >= scales.high) & (gradient < 0))
    free = np.flatnonzero(~outward)
    if free.size == 0:
        return here, damping
    inner = curvature[np.ix_(free, free)]
    for _ in range(MOST_DAMPINGS):
        move = np.zeros_like(here.z)
        move[free] = -np.linalg.solve(inner + damping * np.diag(np.diag(inner)), gradient[free])
        z = np.clip(here.z + np.clip(move, -LONGEST_STEP, LONGEST_STEP), scales.low, scales.high)
        there = look(z)
        if there.total < here.total:
            return there, max(damping / 5, 1e-6)
        damping = max(6 * damping, 1e-2)
    return here, damping
