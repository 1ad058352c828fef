"""What the filter of sides knows: a strength, an own ground and levels of conditions for every side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.matches import Matches
from kinelo.raters.filter.entries import NO_ENTRIES, NO_ROTATIONS, Entries, entries_of
from kinelo.raters.filter.state import (
    CONDITION,
    FIXED_SLOTS,
    HOME,
    NEUTRAL,
    OWN,
    STRENGTH,
    Lists,
    Places,
    SlotState,
)
from kinelo.raters.state import MatchIndices, StateColumn

SIDE_SHARES = np.array([1.0, -1.0, 1.0, 1.0])
"""Shares of both strengths, the venue, and the own ground."""


class Sides(NamedTuple):
    """Slots of every side (−1: none yet): its strength, and its own ground."""

    own: Places
    ground: Places


class SideState(SlotState):
    """Beliefs about sides, and the entries of their matches."""

    columns: ClassVar[Mapping[str, StateColumn]] = dict.fromkeys(Sides._fields, StateColumn(into="slots"))

    def __init__(
        self,
        fixed: Sequence[tuple[float, float]],
        conditions: tuple[str, ...],
        full: bool,
        grounds: bool,
    ) -> None:
        apart = [kind in (OWN,) or kind >= CONDITION for kind in range(CONDITION + len(conditions))]
        none = np.empty(0, np.int64)
        super().__init__(Sides(none, none), fixed, [*apart, *[False] * (len(fixed) - FIXED_SLOTS)], full)
        self.use_conditions(conditions)
        self.grounds = grounds

    def lists(self, matches: Matches, keep: bool, effects: NDArray[np.float64]) -> Lists:
        """Entries of matches with these covariates; newcomers are given places where they are to be kept."""
        home, away, unknown, *_ = self.admit(matches) if keep else self.find(matches)
        if len(matches) == 1 and not self.levels.conditions and not effects.size:
            return Lists(
                NO_ENTRIES, self._one_match(int(home[0]), int(away[0]), bool(matches.neutral[0])), NO_ROTATIONS, unknown
            )
        own, ground = self.known.own, self.known.ground
        at_home = ~matches.neutral
        columns: list[tuple[Places, float, NDArray[np.bool_] | None]] = [
            (_slots(own, home, STRENGTH), 1.0, None),
            (_slots(own, away, STRENGTH), -1.0, None),
            (np.where(matches.neutral, NEUTRAL, HOME), 1.0, None),
        ]
        if self.grounds and at_home.any():
            columns.append((_slots(ground, home, OWN), 1.0, None if at_home.all() else at_home))
        entries = self.with_levels(entries_of(columns), self.levels.codes(matches, admit=keep), keep)
        return Lists(NO_ENTRIES, self.with_effects(entries, effects), NO_ROTATIONS, unknown)

    def _one_match(self, home: int, away: int, neutral: bool) -> Entries:
        """Entries of one match, without the arrays that many need."""
        own, ground = self.known.own, self.known.ground
        slots = [int(own[place]) if place >= 0 else -1 - STRENGTH for place in (home, away)]
        slots.append(NEUTRAL if neutral else HOME)
        if self.grounds and not neutral:
            met = int(ground[home]) if home >= 0 else -1
            slots.append(met if met >= 0 else -1 - OWN)
        return Entries(np.array([0, len(slots)]), np.array(slots), SIDE_SHARES[: len(slots)])

    def find(self, matches: Matches) -> MatchIndices:
        """Places of both sides (−1: never met), and the names never met; nobody is added."""
        return self.find_sides(matches, self.name_index)

    def admit(self, matches: Matches) -> MatchIndices:
        """Places of both sides, newcomers in order of their first match, and their names."""
        before, index = len(self), self.name_index.index
        home, away, unknown, *_ = self.find(matches)
        if unknown:
            codes = np.column_stack([matches.home, matches.away]).ravel()
            new = codes[np.column_stack([home, away]).ravel() < 0]
            for code in dict.fromkeys(new.tolist()):
                self.name_index.place(matches.teams[code])
            self.grow()
            self.known.own[before : len(self)] = self.make(STRENGTH, len(self) - before)
            places = np.full(len(matches.teams), -1)
            met = np.unique(codes)
            places[met] = [index[matches.teams[code]] for code in met.tolist()]
            home, away = places[matches.home], places[matches.away]
        if self.grounds:
            self.make_missing("ground", home[~matches.neutral], OWN)
        if self.waiting and len(matches):
            self.arrive(int(matches.day[0]))
        return MatchIndices(home, away, tuple(self.name_index.names[before:]))

    def ground_advantages(self) -> NDArray[np.float64]:
        """What every side's own ground adds."""
        ground = self.known.ground[: len(self)]
        return np.where(ground >= 0, self.beliefs.x[ground], 0.0)


def _slots(table: Places, places: NDArray[Any], kind: int) -> Places:
    """Slots of places, and newcomers of a kind where there is none."""
    if not table.size:
        return np.full(places.size, -1 - kind)
    slots = np.where(places >= 0, table[places], -1)
    return np.where(slots >= 0, slots, -1 - kind)
