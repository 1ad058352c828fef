"""What covariates are worth to strengths that stay: where raters of sides begin (:mod:`kinelo.raters.covariates`)."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kinelo.errors import KineloWarning
from kinelo.matches.matches import Matches
from kinelo.raters.bradley_terry.rater import BradleyTerry
from kinelo.raters.bradley_terry.ridge import LEAST_RIDGE
from kinelo.raters.covariates import (
    EFFECT_WIDTH,
    FIRST_DOUBT_OF_SIDES,
    MOST_WEIGHED,
    covariate_numbers,
    settled_effects,
)


def effects_if_strengths_stay(
    matches: Matches, names: tuple[str, ...], units: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean and variance of what usual values of covariates are worth, in points of 400, and the part of each column
    that strengths do not explain (covariates, 3).

    Of more sides than are weighed at once those with the most matches are.
    """
    played = np.bincount(np.concatenate([matches.home, matches.away]), minlength=len(matches.teams))
    often = np.zeros(played.size, bool)
    often[np.argsort(-played, kind="stable")[:MOST_WEIGHED]] = True
    among = matches[often[matches.home] & often[matches.away]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        weighed = BradleyTerry(covariates=names, ridge=LEAST_RIDGE).fit(among)
    table = weighed.effects_.tail(len(names))
    mean, error = (table[name].to_numpy() * units for name in ("effect", "standard_error"))
    variance = np.minimum(np.nan_to_num((FIRST_DOUBT_OF_SIDES * error) ** 2, nan=np.inf), EFFECT_WIDTH**2)
    rows, size = np.arange(len(among)), len(matches.teams)
    places = (np.concatenate([rows] * 3), np.concatenate([among.home, among.away, np.full(len(among), size)]))
    sides = np.concatenate([np.ones(len(among)), -np.ones(len(among)), 1.0 - among.neutral])
    shares = csr_array((sides, places), shape=(len(among), size + 1))
    part = settled_effects(shares, np.ones(size + 1, bool), covariate_numbers(among, names) / units, among.signed)[:, 2]
    return np.column_stack([np.where(variance < EFFECT_WIDTH**2, mean, 0.0), variance, part])
