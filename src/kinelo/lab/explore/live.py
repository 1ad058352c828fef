"""A league that plays while somebody watches: the simulator and the kinetic equation, at the same time.

The kinetic equation is the limit of vanishing steps for a continuum of teams with the same spread of strengths. It is
not solved where strengths move or steps are Glicko's. A frame is what the page draws: a line of JSON with the numbers,
then 32-bit floats (ratings and, where they move, strengths about their mean; then both of a pinned league), then the
density as bytes, a few times a second and only where it has changed.
"""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Iterator

import numpy as np

from kinelo.advice.league_evidence import Evidence, LeagueRecord, MovingRecord
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.film import Still, film_of
from kinelo.lab.explore.python import python_lines
from kinelo.lab.explore.theory import is_slow
from kinelo.lab.units import MIDDLE
from kinelo.micro.simulate import SimulationState, simulation_states
from kinelo.model.validation import Array

MOST_LIVE_MATCHES = 100_000
"""Matches of one advance: some hundredths of a second."""
MOST_KINETIC_TIME = 6.0
"""Kinetic time of one advance, for the same reason."""
DENSITY_EVERY = 4
"""Frames to one with a density, which changes slowly and is large."""
PAIRS = "PAIRS"
"""Stands in the lines of Python where the page writes the pairs drawn so far."""
LEAST_SPEED_SHARE = 0.02
"""The least share of drawn pairs that is taken to play."""


class LiveRun:
    """One run, moved on by :meth:`advance`; its steps come from the same generators as those of the command line."""

    def __init__(self, number: int, controls: Controls, seed: int = 1, *, pinned: bool = False) -> None:
        self.number, self.controls, self.seed = number, controls, seed
        self.system, self.strengths = controls.system, controls.strengths(seed)
        self.moving = controls.motion != "still"
        self.time = 0.0
        self.line: tuple[Array, Array] | None = None
        first = controls.first_ratings(seed)
        self._goal = 0
        self._playing = threading.Lock()
        self._league = simulation_states(
            self.system, self.strengths, stops=self._stops(), matches_per_step=1, seed=seed, start=first,
            sampling="literal", threads=1, dynamics=controls.dynamics,
        )  # fmt: skip
        self._state = SimulationState(0, first[None, :], np.zeros(1, dtype=np.int64))
        self.film = film_of(controls, self._typical_sigma()) if controls.kinetic and not pinned else None
        self._still = None if self.film is None else self.film.at(0.0)
        self._shown: Still | None = None
        self._frames = 0
        self._record = (
            MovingRecord(self.strengths.theta, self._memory(), widens=controls.motion == "walk")
            if self.moving
            else LeagueRecord(self.strengths.theta, self.system, controls.typical_step)
        )

    def _memory(self) -> float:
        """About how many pairs per team strengths or ratings take to forget, whichever takes longer."""
        one, theta = self.controls, self.strengths.theta
        slope = float(self.system.outcome.b_prime(theta[:, None] - theta).mean())
        ratings = 1 / (one.typical_step * slope)
        learned = 1 / (one.gamma * slope * abs(one.alpha - one.beta)) if one.alpha != one.beta else ratings
        return max(ratings, {"form": 1 / one.rate, "learning": learned}.get(one.motion, ratings))

    def _typical_sigma(self) -> float:
        return float(np.sqrt(np.mean(self.strengths.sigma**2)))

    def _stops(self) -> Iterator[int]:
        while True:
            yield self._goal

    @property
    def teams(self) -> int:
        """Number of teams."""
        return self.strengths.teams

    @property
    def rating(self) -> Array:
        """Present rating of each team."""
        return self._state.rating[0]

    @property
    def strength(self) -> Array:
        """Present strength of each team; where strengths move, about the mean of the league."""
        if not self.moving:
            return self.strengths.theta
        now = self._state.record["strength"][0] if self._state.record else self.strengths.theta
        return now - now.mean() + MIDDLE

    @property
    def matches(self) -> float:
        """Matches or contests of each team, on average; fewer than the pairs drawn where not every pair plays."""
        return self.system.sides * int(self._state.played[0]) / self.teams

    def evidence(self) -> Evidence | None:
        """What the league has shown so far."""
        with self._playing:
            return self._record.evidence(self.matches)

    def advance(self, matches_per_team: float) -> None:
        """Play on for about this many matches per team, or as many as one frame can bear."""
        with self._playing:
            share = self.matches / self.time if self.time > 0 else 1.0
            self._advance(matches_per_team / max(share, LEAST_SPEED_SHARE))
            self._record.add(self.time, self.rating, self.strength)

    def _advance(self, pairs_per_team: float) -> None:
        step = self.controls.typical_step
        sides = self.system.sides
        most = 2 * MOST_LIVE_MATCHES / (self.teams * (sides - 1))
        self.time += min(pairs_per_team, most if self.film is None else min(most, MOST_KINETIC_TIME / step))
        self._goal = max(self._goal, round(self.time * self.teams / sides))
        self._state = next(self._league)
        if self.film is not None:
            self._still = self.film.at(step * self.time)

    def close(self) -> None:
        """End the league and the threads it holds, once an advance under way is done."""
        with self._playing:
            self._league.close()  # type: ignore[attr-defined]

    def opening(self) -> dict[str, object]:
        """What stays the same while the run goes on."""
        sigma = self.strengths.sigma
        return {
            "type": "started",
            "run": self.number,
            "controls": self.controls.to_dict(),
            "elo_points": self.controls.elo_points,
            "python": {name: python_lines(self.controls, self.seed, PAIRS, name) for name in ("elo", "paper")},
            "theta": rounded(self.strengths.theta),
            "moving": self.moving,
            "slow": is_slow(self.controls),
            "sigma": {
                "typical": self._typical_sigma(),
                "low": float(sigma.min()),
                "high": float(sigma.max()),
            },
            "density_theta": [] if self.film is None else rounded(self.film.theta),
            "density_rating": [] if self.film is None else rounded(self.film.rating),
        }

    def frame(self, sequence: int, beside: LiveRun | None = None) -> bytes:
        """The present moment, encoded, with that of a pinned league beside it."""
        rating, strength = self.rating, self.strength
        still, followed = self._still, self.teams // 2
        self._frames += 1
        # The first frames of a run and every fourth after them, where the density has moved.
        due = still is not self._shown and (self._shown is None or self._frames % DENSITY_EVERY == 0)
        shades = still.shades if still is not None and due else b""
        self._shown = still if due else self._shown
        numbers = {
            "run": self.number,
            "sequence": sequence,
            "time": self.matches,
            "pairs": self._goal,
            "kinetic_time": self.controls.typical_step * self.time,
            "played": int(self._state.played[0]),
            "energy": mean_square(rating - strength),
            "distance": None if self.line is None else mean_square(rating - np.interp(strength, *self.line)),
            "kinetic_energy": None if still is None else still.energy,
            "kinetic_distance": None if still is None else still.distance,
            "density": bool(shades),
            "followed": [float(strength[followed]), float(rating[followed])],
            "pinned": None if beside is None else beside.teams,
        }
        head = json.dumps(numbers).encode()
        head += b" " * (-len(head) % 4)
        floats = [rating, *([strength] if self.moving else [])]
        floats += [] if beside is None else [beside.rating, beside.strength]
        return struct.pack("<I", len(head)) + head + np.concatenate(floats).astype("<f4").tobytes() + shades


def mean_square(values: Array) -> float:
    """Mean of the squares."""
    return float(np.mean(values**2))


def rounded(values: Array, digits: int = 5) -> list[float]:
    """A list short enough to send."""
    return np.round(values, digits).tolist()


def warm_up() -> None:
    """Play a few matches of every kind of league there is."""
    for controls in (
        Controls(teams=10),
        Controls(teams=10, law="lottery", ties=0.2),
        Controls(teams=10, pairing="local"),
    ):
        run = LiveRun(0, controls)
        run.advance(5.0)
        run.frame(0)
        run.close()
