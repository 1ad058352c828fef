"""What the entries of contests consist of: slots with their shares, numbers, and luck that differs between contests.

A *covariate*, such as the weight that a horse carries, is a column of numbers whose worth is the same to everyone. It
is one slot, that of a unit, in which each entrant has a share: how far its number lies from the mean of its contest, in
usual distances (the root mean square among the contests fitted, 1 without a fit). Places show nothing of what all in a
contest have in common.

A *circumstance*, such as the track of a race, is read as an advantage and is one for all entrants of a contest. It is
not rated: each of its levels has a factor of the noise (:mod:`kinelo.raters.noise`), by which performances spread.

Parameters of very many entries are estimated on a part of them: the latest contests, and of large fields some entrants.
Whoever is left out of a field changes nothing in the order of the others, so that contests of some entrants follow the
same law as those of all. Entrants are chosen by their names and keep all their contests: who is new stays new, and who
returns does so as often. Fields are thinned before contests are, as far as a field remains.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import Parameter
from kinelo.matches.contests import Contests, Slots
from kinelo.matches.dated import Condition
from kinelo.matches.kind import SIZE
from kinelo.matches.matches import Matches
from kinelo.raters.noise import NoiseFactors

Array = NDArray[np.float64]

A_UNIT = "a unit"
"""The name of the slot of a covariate."""
LEAST_LOG = 0.1
"""How far sizes, or playing times, must differ to count as different."""
LEAST_PART = 0.01
"""Part of all contests in which sizes differ, from which on it is said that they may count."""
NO_FACTORS = NoiseFactors()
LEAST_FIELD = 50
"""Entrants whom a typical field keeps: a place in a field of so many tells almost as much as in one of all."""


@dataclass(frozen=True)
class ContestLevels:
    """Circumstances of contests by name, as factors of the noise are found from them."""

    conditions: Mapping[str, Condition]
    number: int

    def __len__(self) -> int:
        return self.number


@dataclass(frozen=True, eq=False)
class ContestEntries:
    """Which slots the entries of contests consist of, and what luck depends on.

    ``kinds`` are those that are rated, ``advantages`` those of them that are nobody's strength. ``conditions`` are
    advantages of which each level is worth something else to everybody, ``units`` the usual distances of covariates.
    Circumstances on which luck depends are the columns ``noise_by``, with the ``factors`` found.
    """

    kinds: tuple[str, ...] = ()
    advantages: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    units: Mapping[str, float] = field(default_factory=dict)
    noise_by: tuple[str, ...] = ()
    factors: NoiseFactors = field(default_factory=lambda: NO_FACTORS)

    def kinds_in(self, contests: Contests) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Kinds and advantages that contests say, without those that say luck alone."""
        of_luck = set(self.noise_by).difference(self.conditions)
        slots = [(kind, slots.advantage) for kind, slots in contests.slots.items() if kind not in of_luck]
        return tuple(kind for kind, _ in slots), tuple(kind for kind, helps in slots if helps)

    def label(self, name: str, kind: str) -> str:
        """What a parameter of a kind is called."""
        return name if len(self.kinds) < 2 else f"{name} of {kind}"

    def labelled(
        self, of_strengths: Sequence[Parameter], of_advantages: Sequence[Parameter]
    ) -> list[tuple[str, str, Parameter]]:
        """Every kind with what each of its parameters is called, and the parameter."""
        return [
            (kind, self.label(p.name, kind), p)
            for kind in self.kinds
            for p in (of_advantages if kind in self.advantages else of_strengths)
        ]

    def value(self, values: Mapping[str, float], name: str, kind: str) -> float:
        """A parameter of a kind; 0 where the kind has none of it."""
        return values.get(self.label(name, kind), 0.0)

    def with_units(self, units: Sequence[float]) -> ContestEntries:
        """The same with usual distances of the covariates as they were stored."""
        if not all(0.0 < unit < np.inf for unit in units):
            raise InputError("Units of covariates of a stored state are out of range.")
        return replace(self, units=dict(zip(self.units, map(float, units), strict=True)))

    def slots_of(self, contests: Contests, kind: str) -> Slots:
        """The slots of a kind; a condition has one for everybody under every level, such as ``Ann · wet``."""
        level = contests.slots[kind]
        if kind not in self.conditions:
            return level
        owner = next(slots for slots in contests.slots.values() if not slots.advantage)
        width = max(len(level.names), 1)
        both = (owner.codes >= 0) & (level.codes[:, :1] >= 0)
        pairs = np.where(both, owner.codes.astype(np.int64) * width + level.codes[:, :1], -1)
        values, codes = np.unique(pairs, return_inverse=True)
        none = int(values.size > 0 and values[0] < 0)
        names = tuple(f"{owner.names[k // width]} · {level.names[k % width]}" for k in values[none:].tolist())
        return Slots(codes.reshape(owner.codes.shape).astype(np.int32) - none, names, True)

    def with_size(self, contests: Contests) -> Contests:
        """Contests with the size of every team as an advantage, where that is a covariate and no column of its own.

        A team is as strong as the mean of its members, plus ``b log(size)``: between the mean (``b = 0``) and more than
        the sum. Where it is said how long each played, they count for that.
        """
        if SIZE not in self.units or SIZE in contests.slots:
            return contests
        values, codes = np.unique(log_sizes(contests), return_inverse=True)
        size = Slots(codes.reshape(-1, 1).astype(np.int32), tuple(str(value) for value in values.tolist()), True)
        return replace(contests, slots={**contests.slots, SIZE: size})

    # Luck

    def circumstances(self, contests: Contests) -> Any:
        """What luck depends on in every contest; a column that was not read, or differs within one, is refused."""
        levels = {}
        for name in self.noise_by:
            if name not in contests.slots:
                raise InputError(
                    f"The column {name!r} of noise_by was not read; read it with read_contests(..., "
                    f"advantages=[{name!r}])."
                )
            slots = contests.slots[name]
            level = slots.codes[:, 0]
            codes = level[contests.first[:-1]] if len(contests) else level[:0]
            differs = np.flatnonzero(codes[contests.contest] != level)
            if differs.size:
                contest = contests.identifiers[contests.contest[differs[0]]]
                raise InputError(f"{name!r} differs within the contest {contest}; noise_by takes what is one for all.")
            levels[name] = Condition(codes, slots.names)
        return ContestLevels(levels, len(contests))

    def variance(self, contests: Contests) -> Array:
        """Variance of a performance around the strength in every contest, in units of the usual one."""
        if not self.noise_by:
            return np.ones(contests.weight.size)
        return self.factors.of(self.circumstances(contests), self.noise_by) ** 2

    def believed(self, contests: Contests) -> dict[str, Array]:
        """Of every entry, the variance around the strength and the standard error of the logarithm of its root; nothing
        where luck depends on nothing.
        """
        if not self.factors.index:
            return {}
        errors = self.factors.errors(self.circumstances(contests), self.noise_by)
        return {"luck": self.variance(contests)[contests.contest], "luck_error": errors[contests.contest]}

    def with_levels(self, contests: Contests, levels: Mapping[str, object] | None) -> Contests:
        """Contests that say the same circumstances for all of them, or nothing of them."""
        levels = {} if levels is None else levels
        unknown = [name for name in levels if name not in self.noise_by]
        if unknown:
            named = ", ".join(self.noise_by) or "none"
            raise InputError(f"conditions={{{unknown[0]!r:.40}: …}} is no column of noise_by; these are: {named}.")
        slots = dict(contests.slots)
        for name in self.noise_by:
            if name not in slots:
                level = levels.get(name)
                codes = np.full((contests.entrant.size, 1), -1 if level is None else 0, np.int32)
                slots[name] = Slots(codes, () if level is None else (str(level),), True)
        return replace(contests, slots=slots)

    def of_matches(self, matches: Matches) -> Contests:
        """Matches of two sides as contests of two, with their circumstances."""
        contests = Contests.from_matches(matches)
        slots = dict(contests.slots)
        for name in self.noise_by:
            if name not in matches.conditions:
                raise InputError(
                    f"The column {name!r} of noise_by was not read; read it with read_matches(..., "
                    f"conditions=[{name!r}])."
                )
            condition = matches.conditions[name]
            slots[name] = Slots(np.repeat(condition.codes, 2)[:, None].astype(np.int32), condition.levels, True)
        return replace(contests, slots=slots)


# Numbers


def centred_numbers(contests: Contests, kind: str) -> Array:
    """The number of every entry less the mean of its contest.

    >>> from kinelo.matches.reading import read_contests
    >>> table = {"race": [1, 1, 1], "horse": ["A", "B", "C"], "place": [1, 2, 3], "weight": [55, 57, 62]}
    >>> centred_numbers(read_contests(table, advantages=["weight"]), "weight").tolist()
    [-3.0, -1.0, 4.0]
    """
    slots = contests.slots[kind]
    try:
        levels = np.array([float(name.replace("−", "-")) for name in slots.names] + [math.nan])
    except ValueError as wrong:
        raise InputError(f"The covariate {kind!r} must hold numbers: {wrong}") from None
    if ((slots.codes != slots.codes[:, :1]) & (slots.codes >= 0)).any():  # rows of a team all say the same
        raise InputError(f"The covariate {kind!r} must hold one number for each entrant.")
    numbers = levels[slots.codes[:, 0]]
    missing = int(np.sum(~np.isfinite(numbers)))
    if missing:
        raise InputError(f"The covariate {kind!r} is missing or not finite in {missing} rows.")
    sizes = np.diff(contests.first)
    mean = np.add.reduceat(numbers, contests.first[:-1]) / sizes if len(contests) else np.empty(0)
    return numbers - np.repeat(mean, sizes)


def log_sizes(contests: Contests) -> Array:
    """The logarithm of how many play for every entrant; of those with minutes, of how long they did together.

    >>> from kinelo.raters.one_contest import contest_of
    >>> one = contest_of([["Ann", "Bob"], ["Cid"]], None, None, np.datetime64("2024-05-01"), ("player",))
    >>> log_sizes(one).round(3).tolist()
    [0.693, 0.0]
    """
    first = next(slots for slots in contests.slots.values() if not slots.advantage)
    played, there = first.playing().sum(axis=1), (first.codes >= 0).sum(axis=1)
    if first.minutes is not None:  # of a contest in which some are not known, heads are counted
        unknown = np.isnan(np.where(first.codes >= 0, first.minutes, 0.0)).any(axis=1) | (played <= 0.0)
        some = np.logical_or.reduceat(unknown, contests.first[:-1]) if len(contests) else np.empty(0, bool)
        played = np.where(np.repeat(some, contests.sizes), there, played)
    return np.log(np.maximum(played, np.finfo(float).tiny))


def sizes_differ(contests: Contests) -> int:
    """In how many contests teams are of different sizes, where these are more than a few; else 0."""
    if not len(contests):
        return 0
    logs = log_sizes(contests)
    low, high = (of.reduceat(logs, contests.first[:-1]) for of in (np.minimum, np.maximum))
    number = int(np.count_nonzero(high - low > LEAST_LOG))
    return number if number > LEAST_PART * len(contests) else 0


# A part of very many entries


def thinned(contests: Contests, entries: int) -> Contests:
    """These contests where they have no more ``entries`` than that, else about so many of them."""
    if contests.entrant.size > entries:
        kept = max(entries / contests.entrant.size, LEAST_FIELD / typical_field(contests))
        contests = with_some_entrants(contests, kept)
    after = contests.entrant.size - contests.first[:-1]
    return contests if contests.entrant.size <= entries else contests[int(np.argmax(after <= entries)) :]


def typical_field(contests: Contests) -> float:
    """Size of the field in which a typical entry stands."""
    return float((contests.sizes.astype(float) ** 2).sum() / contests.sizes.sum())


def with_some_entrants(contests: Contests, part: float) -> Contests:
    """Contests with about this part of the entrants that they have, where two remain; teams stay whole.

    Names are chosen by a number made of their letters, up to a part of the largest: those chosen before can be thinned
    again.
    """
    slots = next(one for one in contests.slots.values() if not one.advantage)
    if part >= 1.0 or slots.codes.shape[1] > 1:
        return contests
    number = np.array([zlib.crc32(name.encode()) for name in slots.names], float)[slots.codes[:, 0]]
    return with_entries(contests, number < part * number.max())


def with_entries(contests: Contests, kept: NDArray[np.bool_]) -> Contests:
    """Contests with the entries that are kept (bool, entries), where there are two; places are those among them."""
    number = np.add.reduceat(kept, contests.first[:-1], dtype=np.int64)
    kept = kept & (number > 1)[contests.contest]
    first = np.append(0, np.cumsum(number[number > 1]))
    rest = replace(contests[number > 1], first=first)
    inner = contests._entries(np.flatnonzero(kept))
    place = inner.place.copy()
    for lo, hi in zip(first[:-1].tolist(), first[1:].tolist()):
        _, rank, count = np.unique(inner.place[lo:hi], return_inverse=True, return_counts=True)
        place[lo:hi] = (np.cumsum(count) - 0.5 * (count - 1))[rank]
    return replace(
        rest, entrant=inner.entrant, place=place, ended=inner.ended, slots=inner.slots, row=inner.row,
        distance=inner.distance,
    )  # fmt: skip
