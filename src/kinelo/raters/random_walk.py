"""How a strength moves while nobody plays, ``dx = −ρ x dt + walk dW``, and how large the walk is taken after a fit.

A search finds the most likely logarithm of the walk. Where matches say little of it, that is too low more often than
too high, and ratings then seem surer than they are. Here every walk counts that the matches leave open. What moving
adds to a variance in a year is ``walk²``, so the walk to take is the root of the mean of its square. With a likelihood
that is normal in the logarithm around the most likely walk, and walks themselves (not their logarithms) equally likely
before, that is ``walk · e^(2s²)``: one ``s²`` by the change of measure, one by the mean of squares. Here
``1/s² = 1/e² − 1/w² + 1/k²``, where ``e`` is the standard error of the logarithm, ``w`` the width of the prior it was
found with, which is there only to bound the search, and ``k`` how far walks of leagues lie apart: without it a walk of
which nothing is known would be anything. Where thousands of matches tell the walk, nothing changes to speak of.

How a belief is read as a forecast (sharpness, draw band, doubt) is settled anew for the walk taken.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.parameters import PRIOR_WIDTHS, Estimates, Parameter
from kinelo.matches.matches import Matches
from kinelo.play.formula import kernel
from kinelo.raters.reading import refit_reading

YEAR = 365.25
START, TODAY = range(2)
LONG_AGO = -(2**60)
"""Days before this have never been: the clock of a rater that has seen no match."""


@kernel
def fade(days, rho, walk):
    """Factor on a strength after a rest, and the variance the rest adds (``walk`` is a variance per year)."""
    years = max(days, 0) / YEAR
    a = rho * years
    if a < 1e-2:  # a few terms instead of an exponential, because most rests are of a few days
        f = 1.0 - a * (1.0 - a / 2.0 * (1.0 - a / 3.0 * (1.0 - a / 4.0)))
        return f, walk * years * (1.0 - a * (1.0 - a * (2.0 / 3.0 - a * (1.0 / 3.0 - a * 2.0 / 15.0))))
    f = math.exp(-a)
    return f, walk * (1.0 - f * f) / (2.0 * rho)


def fade_all(days: NDArray, rho: float, walk: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same as :func:`fade` for an array of rests."""
    years = np.maximum(days, 0) / YEAR
    f = np.exp(-rho * years)
    return f, walk * (years if rho == 0.0 else -np.expm1(-2.0 * rho * years) / (2.0 * rho))


@kernel
def years_since_start(day, clock):
    """Years (float) since the first match; none before it."""
    return max(day - clock[START], 0) / YEAR if clock[START] > LONG_AGO else 0.0


@kernel
def years_since_last(day, clock):
    """Years (float) since the latest match; none before the first."""
    return max(day - clock[TODAY], 0) / YEAR if clock[TODAY] > LONG_AGO else 0.0


@kernel
def move_clock(day, clock):
    """Note in the clock (2) that a match is played on ``day`` (int)."""
    if clock[START] <= LONG_AGO:
        clock[START] = day
    clock[TODAY] = max(day, clock[TODAY])


WALK_SPREAD = 0.5
"""Standard deviation of the logarithm of the walk, in units of the noise, between leagues."""


def mean_walk(walk: float, error: float, parameter: Parameter) -> float:
    """The walk whose square is the mean over what is left open; ``error`` is NaN where matches say next to nothing.

    >>> p = Parameter("walk", 0.15, 0.005, 3.0, True, "yearly walk of a strength")
    >>> [round(mean_walk(0.2, error, p), 3) for error in (0.002, 0.06, math.nan)]
    [0.2, 0.23, 0.33]
    """
    width = math.log(parameter.high / parameter.low) / PRIOR_WIDTHS
    own = min(error / walk, width) if math.isfinite(error) else width
    s2 = 1.0 / (own**-2 - width**-2 + WALK_SPREAD**-2)
    return min(walk * math.exp(2.0 * s2), parameter.high)


def average_walk(rater: Any, found: Estimates, matches: Matches) -> Estimates:
    """The estimates that a rater with normal beliefs found, its walk averaged over what the matches leave open."""
    own = next((p for p in rater.open_parameters() if p.name == "walk"), None)
    if own is None or rater.start is not None:  # where ratings begin depends on how they are read
        return found
    most_likely, error = found.values["walk"], found.standard_errors["walk"]
    walk = mean_walk(most_likely, error, own)
    values = found.values | {"walk": walk}
    errors = found.standard_errors | {"walk": error * walk / most_likely}
    return refit_reading(rater, replace(found, values=values, standard_errors=errors), matches)
