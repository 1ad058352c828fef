"""What is known of players and of the line-ups their teams have fielded lately, by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.raters.player.rotation import RECENT, WIDEST, Sheet, Squads
from kinelo.raters.roster import Roster

PER_PLAYER = ("x", "P", "last", "games", "usual", "seat")
PER_TEAM = ("ring_ids", "ring_w", "ring_start", "ring_count")


class SquadState:
    """Players, teams and venues met so far, in arrays that grow."""

    def __init__(self, venue_variance: NDArray[np.float64]) -> None:
        self.players, self.teams = Roster(), Roster()
        self.team_of = np.empty(0, np.int64)
        self.arrays = Squads(
            x=np.empty(0),
            P=np.empty(0),
            last=np.empty(0, np.int64),
            games=np.empty(0, np.int64),
            usual=np.empty(0),
            seat=np.empty(0, np.int64),
            ring_ids=np.empty((0, RECENT, WIDEST), np.int32),
            ring_w=np.empty((0, RECENT, WIDEST)),
            ring_start=np.empty((0, RECENT, WIDEST), np.int8),
            ring_count=np.empty(0, np.int64),
            venue=np.zeros(2),
            venue_v=venue_variance.copy(),
            clock=np.full(2, -(2**62)),
        )

    def admit(self, matches: Matches, lineups: Lineups) -> tuple[NDArray, NDArray, NDArray[np.int32]]:
        """Places of both teams and of all players listed; newcomers are given room."""
        teams = self.teams.places(matches.teams)
        players = self.players.places(lineups.players)
        self._grow()
        places = players[lineups.player]
        home, away = teams[matches.home], teams[matches.away]
        sides = np.column_stack([home, away]).ravel()
        self.team_of[places] = np.repeat(sides, np.diff(lineups.offsets))
        return home, away, places

    def find(self, matches: Matches, lineups: Lineups) -> tuple[NDArray, NDArray, NDArray[np.int32], tuple[str, ...]]:
        """The same without keeping anyone: strangers among the players get places past the end, teams get −1."""
        teams = self.teams.find(matches.teams)
        players = self.players.find(lineups.players)
        strangers = np.flatnonzero(players < 0)
        players[strangers] = len(self.players) + np.arange(strangers.size)
        listed = np.bincount(lineups.player, minlength=len(lineups.players)) > 0
        unmet = {matches.teams[c] for c in np.unique(np.concatenate([matches.home, matches.away])) if teams[c] < 0}
        unmet |= {lineups.players[c] for c in strangers[listed[strangers]]}
        return teams[matches.home], teams[matches.away], players[lineups.player], tuple(sorted(unmet))

    def with_room(self, players: int) -> Squads:
        """The arrays with room for strangers, who have never played; the state itself does not change."""
        missing = players - self.arrays.x.size
        if missing <= 0:
            return self.arrays
        longer = {name: _lengthened(getattr(self.arrays, name), missing) for name in PER_PLAYER}
        return self.arrays._replace(**longer)

    def _grow(self) -> None:
        missing = len(self.players) - self.arrays.x.size
        if missing > 0:
            missing = max(missing, self.arrays.x.size // 2, 64)
            self.arrays = self.with_room(self.arrays.x.size + missing)
            self.team_of = _lengthened(self.team_of, missing)
        missing = len(self.teams) - self.arrays.ring_count.size
        if missing > 0:
            longer = {name: _lengthened(getattr(self.arrays, name), missing) for name in PER_TEAM}
            self.arrays = self.arrays._replace(**longer)

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything, as arrays to be kept on disk."""
        sizes: dict[str, int] = {}
        sizes |= dict.fromkeys(PER_PLAYER, len(self.players)) | dict.fromkeys(PER_TEAM, len(self.teams))
        kept = {name: values[: sizes.get(name)] for name, values in self.arrays._asdict().items()}
        names = {"players": self.players.names, "teams": self.teams.names}
        return {
            **{key: np.array(value, dtype=str) if value else np.empty(0, "U1") for key, value in names.items()},
            "team_of": self.team_of[: len(self.players)],
            **kept,
        }

    def from_arrays(self, arrays: dict[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self.players, self.teams = Roster(), Roster()
        self.players.places(tuple(arrays["players"].tolist()))
        self.teams.places(tuple(arrays["teams"].tolist()))
        self.team_of = arrays["team_of"].copy()
        self.arrays = Squads(**{name: np.ascontiguousarray(arrays[name]).copy() for name in Squads._fields})


def _lengthened(values: NDArray, extra: int) -> NDArray:
    return np.concatenate([values, np.zeros((extra, *values.shape[1:]), values.dtype)])


def lineup_sheet(lineups: Lineups, places: NDArray[np.int32], role_weights: dict[str, float]) -> Sheet:
    """Line-ups as the kernels read them."""
    weights = np.array([role_weights.get(role, 1.0) for role in lineups.roles] + [1.0])
    return Sheet(lineups.offsets, places, lineups.minutes, lineups.starter, weights[lineups.role])


def no_lineups(matches: int) -> Lineups:
    """Line-ups of matches of which nothing is known."""
    return Lineups(np.zeros(2 * matches + 1, np.int64), np.empty(0, np.int32), ())
