"""What is known of players and of the line-ups their teams have fielded lately, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.raters.conditions import LevelState
from kinelo.raters.lanes import in_lanes
from kinelo.raters.name_index import NameIndex
from kinelo.raters.player.rotation import AFTER, EFFECT, PLAYER, RECENT, STAND_IN, WIDEST, PlayerState, Sheet
from kinelo.raters.state import NEVER, Column, MatchIndices

LANED = ("x", "P", "venue", "venue_v", "delta", "delta_v", "slot_v")
"""What of a state differs between lanes."""

APART = "\x1f"
"""How names begin that stand for a team among the players; no file holds such a name."""


class SquadState(LevelState):
    """Players, teams and venues met so far, and players' strengths under conditions, in arrays that grow."""

    columns: ClassVar[Mapping[str, Column]] = {
        **dict.fromkeys(
            ("x", "P", "last", "games", "usual", "seat", "team_of", "kind", "delta", "delta_v"), Column("players")
        ),
        **dict.fromkeys(
            ("ring_ids", "ring_w", "ring_start", "ring_count", "ring_day", "stand_in", "effect"), Column("teams")
        ),
    }

    def __init__(
        self,
        venue_variance: NDArray[np.float64],
        conditions: tuple[str, ...] = (),
        values: Mapping[str, float] | None = None,
    ) -> None:
        known = PlayerState(
            x=np.empty(0),
            P=np.empty(0),
            last=np.empty(0, np.int64),
            games=np.empty(0, np.int64),
            usual=np.empty(0),
            seat=np.empty(0, np.int64),
            team_of=np.empty(0, np.int64),
            kind=np.empty(0, np.int8),
            ring_ids=np.empty((0, RECENT, WIDEST), np.int32),
            ring_w=np.empty((0, RECENT, WIDEST)),
            ring_start=np.empty((0, RECENT, WIDEST), np.int8),
            ring_count=np.empty(0, np.int64),
            ring_day=np.empty(0, np.int64),
            stand_in=np.empty(0, np.int64),
            effect=np.empty(0, np.int64),
            venue=np.zeros(2),
            venue_v=venue_variance.copy(),
            clock=np.full(2, -(2**62)),
            delta=np.empty((0, 0)),
            delta_v=np.empty((0, 0)),
            slot_v=np.empty(0),
        )
        super().__init__(known, {"ring_day": NEVER, "stand_in": -1, "effect": -1})
        self.use_conditions(conditions, values or {})

    @property
    def teams(self) -> NameIndex:
        """The sides that players play for."""
        return self.name_indices["teams"]

    def admit(self, matches: Matches) -> MatchIndices:
        """Places of both teams and of all players listed; newcomers are given room."""
        lineups = lineups_of(matches)
        teams = self.teams.places(matches.teams)
        players = self.name_index.places(lineups.players)
        slots = self.slots.codes(matches)
        self._bring_squads()
        if len(matches):
            self.arrive(int(matches.day[0]))
        places = players[lineups.player]
        home, away = teams[matches.home], teams[matches.away]
        sides = np.column_stack([home, away]).ravel()
        self.known.team_of[places] = np.repeat(sides, np.diff(lineups.offsets))
        return MatchIndices(home, away, slots=slots, players=places)

    def _bring_squads(self) -> None:
        """Give every team that has none a stand-in and an effect of its own, among the players."""
        self.grow()
        for team in np.flatnonzero(self.known.effect[: len(self.teams)] < 0):
            for kind, column in ((STAND_IN, "stand_in"), (EFFECT, "effect")):
                place = self.name_index.place(f"{APART}{kind} {self.teams.names[team]}")
                self.grow()
                getattr(self.known, column)[team] = place
                self.known.kind[place] = kind
                self.known.team_of[place] = team

    def in_lanes(self, count: int = 1) -> PlayerState:
        """The arrays as kernels take them."""
        return in_lanes(self.known, LANED, count)

    def here(self) -> NDArray[np.bool_]:
        """Who has a rating: every player who has played or began with one; a squad is no player."""
        return super().here() & (self.known.kind[: len(self)] == PLAYER)

    def from_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave; books of 0.2 knew players alone."""
        if "kind" not in arrays:
            ids = arrays["ring_ids"]
            seen = np.where(ids >= 0, arrays["last"][np.maximum(ids, 0)] if arrays["last"].size else NEVER, NEVER)
            teams = arrays["teams"].size
            arrays = {
                **arrays,
                "kind": np.zeros(arrays["players"].size, np.int8),
                "ring_day": seen.reshape(teams, -1).max(axis=1, initial=NEVER),
                **dict.fromkeys(("stand_in", "effect"), np.full(teams, -1)),
            }
        super().from_arrays(arrays)
        self._bring_squads()

    def find(self, matches: Matches) -> MatchIndices:
        """The same without keeping anyone: unknown players get places past the end, teams get −1."""
        lineups = lineups_of(matches)
        players = self.name_index.find(lineups.players, lineups.player)
        newcomers, order = np.unique(lineups.player[players < 0], return_inverse=True)
        players[players < 0] = len(self.name_index) + order
        indices = self.find_sides(matches, self.teams)
        unmet = {*indices.unknown, *(lineups.players[code] for code in newcomers)}
        slots = self.slots.codes(matches, admit=False)
        return indices._replace(players=players, slots=slots, unknown=tuple(sorted(unmet)))


def lineups_of(matches: Matches) -> Lineups:
    """Line-ups of matches, empty ones where nothing is known of them."""
    if matches.lineups is not None:
        return matches.lineups
    return Lineups(np.zeros(2 * len(matches) + 1, np.int64), np.empty(0, np.int32), ())


def lineup_sheet(
    lineups: Lineups, places: NDArray[np.int32], role_weights: dict[str, float], mode: int = AFTER
) -> Sheet:
    """Line-ups as the kernels read them."""
    weights = np.array([role_weights.get(role, 1.0) for role in lineups.roles] + [1.0])
    return Sheet(lineups.offsets, places, lineups.minutes, lineups.starter, weights[lineups.role], mode)
