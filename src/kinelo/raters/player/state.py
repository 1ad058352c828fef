"""What is known of players and of the line-ups their teams have fielded lately, by name.

Rating books keep the arrays of :class:`SquadState` under their names: a new one gets a default for older books.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.raters.filter.entries import Entries, Rotations
from kinelo.raters.filter.state import (
    CONDITION,
    FIXED_SLOTS,
    LEVEL,
    OWN,
    STAND_IN,
    STRENGTH,
    Lists,
    SlotState,
)
from kinelo.raters.player.rotation import MOST_PLAYERS, RECENT, Fixtures, Sheet, Squads, make_lists
from kinelo.raters.state import NEVER, MatchIndices, NameIndex, StateColumn


class LineupReading(NamedTuple):
    """How line-ups are read: weights of roles, what forecasts may know, how long substitutes play, and a sum's size."""

    role_weights: Mapping[str, float]
    mode: int
    bench: float
    size: float


class SquadState(SlotState):
    """Beliefs about players and teams, recent line-ups, and the entries of matches."""

    columns: ClassVar[Mapping[str, StateColumn]] = {
        "own": StateColumn("players", into="slots"), "usual": StateColumn("players"), "seat": StateColumn("players"),
        "team_of": StateColumn("players", into="teams"), "ring_ids": StateColumn("teams", into="players"),
        "ring_w": StateColumn("teams"), "ring_start": StateColumn("teams"), "ring_count": StateColumn("teams", low=0),
        "ring_day": StateColumn("teams"), "stand_in": StateColumn("teams", into="slots"),
        "effect": StateColumn("teams", into="slots"),
    }  # fmt: skip

    def __init__(
        self,
        fixed: Sequence[tuple[float, float]],
        conditions: tuple[str, ...] = (),
        full: bool = False,
    ) -> None:
        whole: dict[str, Any] = dict.fromkeys(
            ("own", "seat", "team_of", "ring_count", "ring_day", "stand_in", "effect"), np.int64
        )
        shape: dict[str, Any] = dict.fromkeys(("ring_ids", "ring_w", "ring_start"), (0, RECENT, MOST_PLAYERS))
        kinds = whole | {"ring_ids": np.int32, "ring_start": np.int8}
        empty: dict[str, Any] = {name: np.empty(shape.get(name, 0), kinds.get(name, float)) for name in Squads._fields}
        known = Squads(**empty)
        apart = [kind >= CONDITION for kind in range(CONDITION + len(conditions))]
        super().__init__(known, fixed, [*apart, *[False] * (len(fixed) - FIXED_SLOTS)], full)
        self.use_conditions(conditions)
        self.fills = {"own": -1, "ring_ids": -1, "ring_day": NEVER, "stand_in": -1, "effect": -1, "team_of": -1}

    @property
    def teams(self) -> NameIndex:
        """The sides that players play for."""
        return self.name_indices["teams"]

    def admit(self, matches: Matches) -> MatchIndices:
        """Places of both teams and of all players listed; newcomers are given room."""
        lineups = lineups_of(matches)
        listed = named(len(lineups.players), lineups.player)  # a part of a table names all its players
        newcomers = listed[self._met(lineups, listed) < 0]
        unknown = _all_unknown(self._find_teams(matches), lineups, newcomers)
        teams = self.teams.places(matches.teams)
        players = self.name_index.places(lineups.players)
        self.grow()
        playing = teams[named(len(matches.teams), matches.home, matches.away)]
        self.make_missing("own", players[listed], STRENGTH)
        self.make_missing("stand_in", playing, STAND_IN)
        self.make_missing("effect", playing, OWN)
        if len(matches):
            self.arrive(int(matches.day[0]))
        places = players[lineups.player]
        home, away = teams[matches.home], teams[matches.away]
        sides = np.column_stack([home, away]).ravel()
        self.known.team_of[places] = np.repeat(sides, np.diff(lineups.offsets))
        return MatchIndices(home, away, unknown, players=places)

    def find(self, matches: Matches) -> MatchIndices:
        """The same without keeping anyone: −1 for players and teams never met.

        A part of a table names everyone in it, so some of those who have a place have not been met.
        """
        lineups = lineups_of(matches)
        players = self._met(lineups, lineups.player)
        newcomers = named(len(lineups.players), lineups.player[players < 0])
        teams = self._find_teams(matches)
        return teams._replace(players=players, unknown=_all_unknown(teams, lineups, newcomers))

    def _find_teams(self, matches: Matches) -> MatchIndices:
        return self.find_sides(matches, self.teams, self.known.effect >= 0)

    def _met(self, lineups: Lineups, codes: NDArray[Any]) -> NDArray[np.int32]:
        """Places of players by their codes in line-ups, −1 for those never met."""
        players = self.name_index.find(lineups.players, codes)
        placed = players >= 0
        players[placed] = np.where(self.known.own[players[placed]] >= 0, players[placed], -1)
        return players

    def lists(
        self,
        matches: Matches,
        reading: LineupReading,
        keep: bool,
        effects: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> Lists:
        """Entries of matches, as they are forecast and as they are played; ``effects`` are known after and ahead."""
        indices = self.admit(matches) if keep else self.find(matches)
        sheet = lineup_sheet(lineups_of(matches), indices.players, reading)
        fixtures = Fixtures(
            np.asarray(indices.home, np.int32), np.asarray(indices.away, np.int32), matches.day, matches.neutral
        )
        ahead, played, lineups = make_lists(fixtures, sheet, self.known, self.size, keep)
        codes = self.levels.codes(matches, admit=keep)
        entries = [
            self.with_effects(self.with_levels(Entries(*one), codes, keep), numbers)
            for one, numbers in zip((played, ahead), effects, strict=True)
        ]
        turns = Rotations(*lineups)
        if self.levels.conditions and turns.slot.size:  # of line-ups of which one will play
            match = np.repeat(np.repeat(np.arange(len(codes)), np.diff(turns.sides)), np.diff(turns.lineups))
            levelled = self.with_levels(Entries(turns.offsets, turns.slot, turns.share), codes[match], keep=False)
            met = levelled.slot >= 0
            slot, share = np.where(met, levelled.slot, LEVEL), np.where(met, levelled.share, 0.0)
            turns = turns._replace(offsets=levelled.offsets, slot=slot, share=share)
        return Lists(entries[1], entries[0], turns, indices.unknown)

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        super().from_arrays(arrays)
        self.make_missing("stand_in", np.arange(len(self.teams)), STAND_IN)
        self.make_missing("effect", np.arange(len(self.teams)), OWN)


def _all_unknown(teams: MatchIndices, lineups: Lineups, newcomers: NDArray[Any]) -> tuple[str, ...]:
    """Names of teams never met, and of players by their codes."""
    return tuple(sorted({*teams.unknown, *(lineups.players[code] for code in newcomers)}))


def named(size: int, *codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Those of ``size`` names whose codes occur, in order."""
    there = np.zeros(size, np.bool_)
    for some in codes:
        there[some] = True
    return np.flatnonzero(there)


def lineups_of_nobody(matches: int) -> Lineups:
    """Empty line-ups of so many matches."""
    return Lineups(np.zeros(2 * matches + 1, np.int64), np.empty(0, np.int32), ())


def lineups_of(matches: Matches) -> Lineups:
    """Line-ups of matches, empty ones where nothing is known of them."""
    return lineups_of_nobody(len(matches)) if matches.lineups is None else matches.lineups


def lineup_sheet(lineups: Lineups, places: NDArray[np.int32], reading: LineupReading) -> Sheet:
    """Line-ups as the kernels read them."""
    weights = np.array([reading.role_weights.get(role, 1.0) for role in lineups.roles] + [1.0])
    role_weight = weights[lineups.role]
    return Sheet(
        lineups.offsets,
        places,
        lineups.minutes,
        lineups.starter,
        role_weight,
        reading.mode,
        reading.bench,
        reading.size,
    )
