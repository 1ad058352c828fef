"""Luck that differs between contests: which kinds of slots say circumstances, and the factors of the noise.

A circumstance, such as the track of a race, is read as an advantage and is one for all entrants of a contest. It is not
rated: each of its levels has a factor of the noise (:mod:`kinelo.raters.noise`), by which performances spread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.fit import SettledSlopes
from kinelo.matches.contests import Contests, Slots
from kinelo.matches.dated import Condition
from kinelo.matches.matches import Matches
from kinelo.raters.noise import NoiseFactors, find_factors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Circumstances:
    """Circumstances of contests by name, as factors of the noise are found from them."""

    conditions: Mapping[str, Condition]
    number: int

    def __len__(self) -> int:
        return self.number


def circumstances(contests: Contests, columns: tuple[str, ...]) -> Any:
    """What these columns say of every contest; one that was not read, or differs within a contest, is refused."""
    found = {}
    for name in columns:
        if name not in contests.slots:
            raise InputError(
                f"The column {name!r} of noise_by was not read; read it with read_contests(..., advantages=[{name!r}])."
            )
        slots = contests.slots[name]
        level = slots.codes[:, 0]
        codes = level[contests.first[:-1]] if len(contests) else level[:0]
        differs = np.flatnonzero(codes[contests.contest] != level)
        if differs.size:
            contest = contests.identifiers[contests.contest[differs[0]]]
            raise InputError(f"{name!r} differs within the contest {contest}; noise_by takes what is one for all.")
        found[name] = Condition(codes, slots.names)
    return Circumstances(found, len(contests))


@dataclass(frozen=True)
class Luck:
    """Columns on which the noise depends, those of them that are rated as conditions too, and the factors found."""

    columns: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    factors: NoiseFactors = field(default_factory=NoiseFactors)

    def rated(self, kinds: tuple[str, ...]) -> tuple[str, ...]:
        """Kinds of slots without those that say luck alone."""
        return tuple(kind for kind in kinds if kind not in self.columns or kind in self.conditions)

    def variance(self, contests: Contests) -> Array:
        """Variance of a performance around the strength in every contest, in units of the usual one."""
        if not self.columns:
            return np.ones(len(contests))
        return self.factors.of(circumstances(contests, self.columns), self.columns) ** 2

    def believed(self, contests: Contests) -> dict[str, Array]:
        """Of every entry, the variance around the strength and the standard error of the logarithm of its root; nothing
        where luck depends on nothing.
        """
        if not self.factors.index:
            return {}
        errors = self.factors.errors(circumstances(contests, self.columns), self.columns)
        return {"luck": self.variance(contests)[contests.contest], "luck_error": errors[contests.contest]}

    def find(self, contests: Contests, losses: Callable[[Array], Array], settled: SettledSlopes) -> Luck:
        """The same with the likeliest factors, given the losses of contests by their factors."""
        found = find_factors(self.columns, circumstances(contests, self.columns), losses, settled, self.factors)
        return replace(self, factors=found)

    def with_levels(self, contests: Contests, levels: Mapping[str, object] | None) -> Contests:
        """Contests that say the same circumstances for all of them, or nothing of them."""
        unknown = [name for name in levels or () if name not in self.columns]
        if unknown:
            named = ", ".join(self.columns) or "none"
            raise InputError(f"conditions={{{unknown[0]!r:.40}: …}} is no column of noise_by; these are: {named}.")
        said = {}
        for name in self.columns:
            if name not in contests.kinds:
                level = (levels or {}).get(name)
                codes = np.full((contests.entrant.size, 1), -1 if level is None else 0, np.int32)
                said[name] = Slots(codes, () if level is None else (str(level),), True)
        return replace(contests, slots={**contests.slots, **said})

    def of_matches(self, contests: Contests, matches: Matches) -> Contests:
        """Contests of two with the circumstances of their matches."""
        said = {}
        for name in self.columns:
            if name not in matches.conditions:
                raise InputError(
                    f"The column {name!r} of noise_by was not read; read it with read_matches(..., "
                    f"conditions=[{name!r}])."
                )
            condition = matches.conditions[name]
            said[name] = Slots(np.repeat(condition.codes, 2)[:, None].astype(np.int32), condition.levels, True)
        return replace(contests, slots={**contests.slots, **said})
