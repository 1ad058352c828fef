"""How beliefs about matches are read as forecasts, sought by itself: no pass over the matches is needed for that."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.fit import WARM_UP, Slopes, estimate
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Estimates, Parameter
from kinelo.matches.matches import Matches
from kinelo.raters.gaussian_slopes import READING, Expected, read

Array = NDArray[np.float64]


class Read:
    """Beliefs about matches that stand as they are; only how they are read as forecasts is sought."""

    def __init__(self, rater: Any, mean: Array, variance: Array) -> None:
        self.rater = rater
        self.mean, self.variance = mean, variance

    def open_parameters(self) -> tuple[Parameter, ...]:
        """Those of the rater that change no belief."""
        return tuple(p for p in self.rater.open_parameters() if p.name in READING)

    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Read by these values."""
        self.rater = copy.copy(self.rater)
        self.rater.parameters_ = dict(self.rater.parameters_) | (estimated or {})

    def one_step_ahead(self, matches: Matches) -> Forecast:
        """What was forecast of each match."""
        return self.rater._forecast(self.mean, self.variance, ())

    def slopes(self, matches: Matches, skipped: int) -> Slopes:
        """Losses of the matches scored, and their derivatives."""
        none = np.empty((len(matches) - skipped, 0))
        told = Expected(self.mean[skipped:], self.variance[skipped:], none, none, ())
        return read(told, dict(self.rater.parameters_), matches.signed[skipped:])


def read_anew(rater: Any, found: Estimates, matches: Matches) -> Estimates:
    """The estimates of a rater with normal beliefs, its sharpness, draw band and doubt settled anew."""
    rater.reset(found.values)
    mean, variance, _ = rater.expected(matches)
    again = estimate(Read(rater, mean, variance), matches, WARM_UP)
    return replace(
        found,
        values=found.values | again.values,
        log_likelihood=again.log_likelihood,
        at_bounds=tuple(name for name in found.at_bounds if name not in READING) + again.at_bounds,
    )
