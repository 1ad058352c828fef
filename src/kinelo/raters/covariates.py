"""Numbers as circumstances: handicap stones, komi, days of rest, weight carried.

A covariate is a column of numbers ``x`` that say what speaks for the side named first. A unit of it is worth ``β``
rating points to everyone, which joins the difference of strengths. It is learnt on the way, like the home advantage:
it begins wide, and may drift. It is counted in units of the root mean square of the column among the matches fitted, so
that neither the forecasts nor the effects depend on whether a handicap is written in stones or in seconds.

Handicaps are given to the weaker side. Whoever learns from one match after the other cannot tell then how much of a
result is the handicap's and how much the strength's: ratings and effect would both stay too small. ``fit`` therefore
begins with what the column is worth if strengths stay, all matches being weighed at once: the raters of sides with the
estimate of :class:`kinelo.BradleyTerry`, filters with the least squares of what they see, which they believe with twice
its standard error, since strengths do move. Without a fit it begins at 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from kinelo.errors import InputError
from kinelo.forecasts.parameters import Parameter
from kinelo.matches.matches import Matches
from kinelo.presentation import counted

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

EFFECT_WIDTH = 200.0
"""Standard deviation, in points of 400, of what a usual value of a covariate is worth before any match."""
EFFECT_STEP = Parameter(
    "effect_step",
    0.6,
    0.03,
    10.0,
    True,
    "points by which the worth of a covariate moves per surprise",
    in_points=True,
)
"""Points of 400 by which that moves per full surprise once it is known, in raters of sides."""
WIDE_EFFECT = 1.0
"""Variance of the same in filters, in units of the noise."""
FIRST_DOUBT = 2.0
"""How many standard errors of strengths that stay filters believe in, since strengths move."""
FIRST_DOUBT_OF_SIDES = 1.0
"""How many raters of sides do, which know of no covariance of effect and strengths, and would else forget it."""
MOST_WEIGHED = 1000
"""Sides, or strengths, that are weighed at once."""
LEAST_PRECISION = 0.01
"""Precision of a strength before any match, which holds those who meet nobody else."""


def covariate_names(covariates: object) -> tuple[str, ...]:
    """The columns of numbers that a rater was asked to use."""
    if not isinstance(covariates, list | tuple) or not all(isinstance(name, str) for name in covariates):
        raise InputError(f"covariates={covariates!r:.60} must be a list of names of columns, such as ['handicap'].")
    if len(set(covariates)) < len(covariates):
        raise InputError(f"covariates={list(covariates)!r:.60} names a column twice.")
    return tuple(covariates)


def covariate_numbers(matches: Matches, names: Sequence[str]) -> Array:
    """The named covariates of every match (matches, covariates)."""
    out = np.empty((len(matches), len(names)))
    for k, name in enumerate(names):
        if name not in matches.conditions:
            raise InputError(
                f"The covariate {name!r} was not read; read it with read_matches(..., conditions=[{name!r}])."
            )
        condition = matches.conditions[name]
        try:
            levels = np.array([float(level.replace("−", "-")) for level in condition.levels] + [math.nan])
        except ValueError as wrong:
            raise InputError(f"The covariate {name!r} must hold numbers: {wrong}") from None
        out[:, k] = levels[condition.codes]
        missing = int(np.sum(~np.isfinite(out[:, k])))
        if missing:
            raise InputError(f"The covariate {name!r} is missing or not finite in {counted(missing, 'row', 'rows')}.")
    return out


def effects_frame(names: Sequence[str], effect: Array, error: Array) -> pl.DataFrame:
    """Effects as a table: name, effect, standard_error, low, high (95 %)."""
    import polars as pl

    reach = ndtri(0.975) * error
    numbers = {"effect": effect, "standard_error": error, "low": effect - reach, "high": effect + reach}
    return pl.DataFrame({"name": pl.Series(names, dtype=pl.String), **numbers})


def settled_effects(shares: Any, counts: NDArray[np.bool_], numbers: Array, y: Array) -> Array:
    """What covariates (matches, covariates) are worth if strengths stay, from all matches at once (covariates, 3).

    Least squares of what matches show, ``y``, over ``shares`` (matches, slots; sparse) of the slots that count: mean,
    variance in units of the noise, and the part of each column that strengths do not explain. Of more slots than are
    weighed at once those with the most matches are, in the matches among them.
    """
    played = np.asarray(np.abs(shares).sign().sum(axis=0)).ravel() * counts
    weighed = np.sort(np.argsort(-played, kind="stable")[:MOST_WEIGHED])
    others = np.setdiff1d(np.flatnonzero(counts), weighed)
    whole = np.asarray(np.abs(shares[:, others]).sum(axis=1)).ravel() == 0.0
    A, X, y = shares[:, weighed][whole], numbers[whole], y[whole]
    information = (A.T @ A).toarray()
    information[np.diag_indices(weighed.size)] += LEAST_PRECISION
    left = X - A @ np.linalg.solve(information, A.T @ X)
    variance = np.linalg.inv(left.T @ left + 1e-9 * np.eye(X.shape[1]))
    part = np.sum(left**2, axis=0) / np.maximum(np.sum(X**2, axis=0), 1e-300)
    return np.column_stack([variance @ (left.T @ y), np.diagonal(variance), np.clip(part, 0.0, 1.0)])
