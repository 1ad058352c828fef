"""How large the walk of a strength, ``dx = −ρ x dt + walk dW``, is taken after a fit.

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

from kinelo.forecasts.parameters import PRIOR_WIDTHS, Estimates, Parameter
from kinelo.matches.matches import Matches
from kinelo.raters.reading import refit_reading

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


def average_walk(rater: Any, estimates: Estimates, matches: Matches) -> Estimates:
    """The estimates that a rater with normal beliefs found, its walk averaged over what the matches leave open."""
    parameter = next((p for p in rater._open_parameters() if p.name == "walk"), None)
    if parameter is None or rater.start is not None:  # where ratings begin depends on how they are read
        return estimates
    most_likely, error = estimates.values["walk"], estimates.standard_errors["walk"]
    walk = mean_walk(most_likely, error, parameter)
    values = estimates.values | {"walk": walk}
    errors = estimates.standard_errors | {"walk": error * walk / most_likely}
    return refit_reading(rater, replace(estimates, values=values, standard_errors=errors), matches)
