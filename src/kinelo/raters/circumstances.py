"""What beside its two sides a match depends on: the columns of conditions that a rater was asked to use.

``conditions`` are columns whose levels change strengths, such as the surface in tennis: beside the own strength
everyone has a deviation ``δ_l`` per level ``l``, normal before any match with a spread per condition that is estimated.
A level never met, and a match that says no level, count with the own strength alone. ``noise_by`` are columns on whose
levels luck depends (:mod:`kinelo.raters.noise`), and effects are numbers that speak for the side named first
(:mod:`kinelo.raters.covariates`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.matches.matches import Matches
from kinelo.raters.covariates import covariate_numbers
from kinelo.raters.noise import NoiseFactors
from kinelo.raters.state import check_levels
from kinelo.raters.stored import stored

FEWEST_NUMBERS = 6
"""Levels from which on numbers are hardly categories."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Circumstances:
    """Columns that a rater uses, and what was found of them before any match is rated.

    ``effects`` are the names of all numbers that are learnt: ``covariates``, and what a rater sees by itself. Of each,
    ``usual_values`` is the root mean square among the matches fitted, and ``first_effects`` (effects, 3) is what that
    is worth, the variance of this, and the part of the column that strengths do not explain.

    >>> Circumstances(("surface",), covariates=("stones",)).levels({"surface": "clay"})
    {'surface': 'clay', 'stones': 0.0}
    """

    conditions: tuple[str, ...] = ()
    noise_by: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    noise: NoiseFactors = field(default_factory=NoiseFactors)
    usual_values: Array = field(default_factory=lambda: np.ones(0))
    first_effects: Array = field(default_factory=lambda: np.empty((0, 3)))

    def of(self, *names: tuple[str, ...]) -> Circumstances:
        """The same for these columns; what was found of effects belongs to all of them."""
        conditions, noise_by, covariates, effects = names
        found: dict[str, Any] = {"noise": self.noise} if noise_by == self.noise_by else {}
        if effects == self.effects:
            found |= {"usual_values": self.usual_values, "first_effects": self.first_effects}
        return Circumstances(conditions, noise_by, covariates, effects, **found)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """All columns that must be read."""
        return tuple(dict.fromkeys((*self.conditions, *self.noise_by, *self.covariates)))

    def levels(self, given: Mapping[str, object] | None) -> dict[str, object] | None:
        """Levels of every column of one match, 0 for every covariate of which nothing is said; None without any."""
        asked = self.asked
        if not asked and given is None:
            return None
        levels = check_levels(given, asked)
        return levels | {name: 0.0 for name in self.covariates if levels[name] is None}

    def factors(self, matches: Matches) -> Array | float:
        """The factor of the noise of each match."""
        return self.noise.of(matches, self.noise_by) if self.noise_by else 1.0

    @property
    def units(self) -> Array:
        """Usual values of the effects, 1 without a fit."""
        known, wanted = self.usual_values, len(self.effects)
        return known if known.size == wanted else np.ones(wanted)

    def effects_before(self, widest: float) -> Array:
        """What is believed of the effects before any match (effects, 3); nothing but a variance without a fit."""
        known, wanted = self.first_effects, len(self.effects)
        return known if len(known) == wanted else np.array([[0.0, widest, 1.0]] * wanted).reshape(-1, 3)

    def numbers(self, matches: Matches) -> Array:
        """The covariates of every match (matches, covariates)."""
        return covariate_numbers(matches, self.covariates)

    def columns(self, matches: Matches) -> Array:
        """The covariates of every match in their units."""
        return self.numbers(matches) / self.units if self.effects else np.empty((len(matches), 0))

    def fitted(self, numbers: Array) -> Circumstances:
        """The same with the usual values of numbers (matches, effects) that are to be fitted, and nothing else found.

        >>> Circumstances(effects=("stones",)).fitted(np.array([[3.0], [4.0], [0.0]])).units.round(2).tolist()
        [2.89]
        """
        usual = np.sqrt(np.mean(numbers**2, axis=0))
        units = np.where(usual > 0.0, usual, 1.0)
        return replace(self, noise=NoiseFactors(), usual_values=units, first_effects=np.empty((0, 3)))

    def to_arrays(self, widest: float) -> dict[str, NDArray[Any]]:
        """What was found, as arrays to be kept on disk."""
        found = {"covariate_units": self.units, "covariate_effects": self.effects_before(widest)}
        return (found if self.effects else {}) | self.noise.to_arrays()

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Circumstances:
        """What :meth:`to_arrays` gave, for these columns."""
        circumstances, wanted = replace(self, noise=NoiseFactors.from_arrays(arrays)), len(self.effects)
        if not wanted:
            return circumstances
        units = stored(arrays, "covariate_units", "f", (wanted,), 0.0)
        first = stored(arrays, "covariate_effects", "f", (wanted, 3))
        if not (units > 0.0).all() or (first[:, 1:] < 0.0).any():
            raise InputError("The array 'covariate_units' of a stored state holds numbers out of range.")
        return replace(circumstances, usual_values=units, first_effects=first)


def condition_names(conditions: Sequence[str] | None) -> tuple[str, ...]:
    """The conditions a rater was asked to use."""
    if isinstance(conditions, tuple) and not conditions:
        return ()
    if isinstance(conditions, str):
        raise InputError(f"conditions={conditions!r} must be a list of columns, such as [{conditions!r}].")
    if not isinstance(conditions, Sequence | None) or not all(isinstance(name, str) for name in conditions or ()):
        raise InputError(f"conditions={conditions!r:.60} must be a list of the names of columns.")
    if len(set(conditions or ())) < len(conditions or ()):
        raise InputError(f"conditions={list(conditions or ())!r:.60} names a column twice.")
    return tuple(conditions or ())


def numbers_in(levels: Sequence[str]) -> tuple[float, float] | None:
    """The least and the largest of levels that are numbers, so many that they are hardly categories.

    Years are categories, and so are a few numbers.

    >>> numbers_in(("0", "2", "3", "4", "6", "9", "-1"))
    (-1.0, 9.0)
    >>> numbers_in(("3", "5", "7")) is None
    True
    """
    if len(levels) < FEWEST_NUMBERS:
        return None
    try:
        values = np.array([float(level.replace("−", "-")) for level in levels])
    except ValueError:
        return None
    if not np.isfinite(values).all() or bool(np.all((values % 1 == 0) & (values >= 1800) & (values <= 2200))):
        return None
    return float(values.min()), float(values.max())


def warn_of_numbers(name: str, levels: Sequence[str]) -> None:
    """Warn of numbers among conditions, each of which counts as a category that knows nothing of its neighbours."""
    span = numbers_in(levels)
    if span is None:
        return
    warn(
        f"The condition {name!r} holds numbers ({len(levels)} of them, {span[0]:g} to {span[1]:g}), and each counts "
        "as a category of its own: what one is worth says nothing of the next. "
        f"covariates=[{name!r}] says what a unit is worth; if they are categories, leave it."
    )
