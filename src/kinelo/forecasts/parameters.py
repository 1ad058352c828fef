"""The free numbers of a rater: where they are sought, and what was found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A number that a rater needs: ``default`` where nothing was fitted, and the range in which it is sought.

    ``positive`` asks the search to work on its logarithm.
    """

    name: str
    default: float
    low: float
    high: float
    positive: bool
    meaning: str


@dataclass(frozen=True)
class Estimates:
    """Parameters found by one-step-ahead likelihood.

    Attributes
    ----------
    values, standard_errors
        By parameter name; a standard error is NaN where the likelihood is flat or the estimate stands at a bound.
    log_likelihood
        Of the training matches at ``values``.
    matches
        How many matches were used.
    """

    values: dict[str, float]
    standard_errors: dict[str, float]
    log_likelihood: float
    matches: int
