"""A league that plays while somebody watches: the simulator and the kinetic equation, at the same time.

The kinetic equation is the limit of vanishing steps for a continuum of teams with the same spread of strengths; its
time is γ times the matches per team. A frame is what the page draws: a line of JSON with the numbers, then the ratings
as 32-bit floats, then the density as bytes.
"""

from __future__ import annotations

import json
import math
import struct
import threading
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kinelo.lab.explore.controls import THETA, Controls
from kinelo.lab.explore.evidence import Evidence, LeagueRecord
from kinelo.macro.population import Population
from kinelo.macro.run import kinetic_states
from kinelo.macro.state import KineticState
from kinelo.micro.simulate import SimulationState, simulation_states
from kinelo.model.validation import Array

THETA_CELLS, RATING_CELLS = 48, 96
RATING_RANGE = (THETA[0] - 0.5, THETA[1] + 0.5)
KINETIC_STEP = 0.2
FAR = 1e6
MOST_MATCHES = 100_000
"""Matches of one advance: some hundredths of a second."""
MOST_KINETIC_TIME = 6.0
"""Kinetic time of one advance, for the same reason."""
LEAST_SHARE = 0.02
"""The least share of drawn pairs that is taken to play."""


class LiveRun:
    """One run, moved on by :meth:`advance`; its steps come from the same generators as those of the command line."""

    def __init__(self, number: int, controls: Controls, seed: int = 1) -> None:
        self.number, self.controls = number, controls
        self.system, self.strengths = controls.system, controls.strengths(seed)
        self.time = 0.0
        self.target: Array | None = None
        first = controls.first_ratings(seed)
        self._goal = 0
        self._playing = threading.Lock()
        self._league = simulation_states(
            self.system, self.strengths, stops=self._stops(), matches_per_step=1, seed=seed, start=first,
            sampling="literal", threads=1,
        )  # fmt: skip
        self._state = SimulationState(0, first[None, :], np.zeros(1, dtype=np.int64))
        self._kinetic: Iterator[KineticState] | None = kinetic_states(
            self.system, self._first_population(), until=FAR, samples=round(FAR / KINETIC_STEP), stop="steady",
            steady_below=1e-4,
        )  # fmt: skip
        self._density = next(self._kinetic)
        self._record = LeagueRecord(self.strengths.theta, self.system)

    def _stops(self) -> Iterator[int]:
        while True:
            yield self._goal

    def _first_population(self) -> Population:
        sigma = float(np.sqrt(np.mean(self.strengths.sigma**2)))
        cells = {"theta": (*THETA, THETA_CELLS), "r": (*RATING_RANGE, RATING_CELLS)}
        if self.controls.start == "equal":
            return Population.concentrated(sum(THETA) / 2, sigma=sigma, **cells)

        def flat(theta: Array, sigma: Array, r: Array) -> Array:
            return ((r > THETA[0]) & (r < THETA[1])) + 0.0 * theta

        return Population.from_function(flat, sigma=sigma, **cells)

    @property
    def teams(self) -> int:
        """Number of teams."""
        return self.strengths.teams

    @property
    def rating(self) -> Array:
        """Present rating of each team."""
        return self._state.rating[0]

    @property
    def matches(self) -> float:
        """Matches that each team has played, on average; fewer than the pairs drawn where not every pair plays."""
        return 2 * int(self._state.played[0]) / self.teams

    def evidence(self) -> Evidence | None:
        """What the league has shown so far."""
        with self._playing:
            return self._record.evidence(self.matches)

    def advance(self, matches_per_team: float) -> None:
        """Play on for about this many matches per team, or as many as one frame can bear."""
        with self._playing:
            share = self.matches / self.time if self.time > 0 else 1.0
            self._advance(matches_per_team / max(share, LEAST_SHARE))
            self._record.add(self.time, self.rating)

    def _advance(self, pairs_per_team: float) -> None:
        most = min(2 * MOST_MATCHES / self.teams, MOST_KINETIC_TIME / self.system.step)
        self.time += min(pairs_per_team, most)
        self._goal = max(self._goal, round(self.time * self.teams / 2))
        self._state = next(self._league)
        while self._kinetic is not None and self._density.time + KINETIC_STEP / 2 < self.system.step * self.time:
            state = next(self._kinetic, None)
            if state is None:
                self._kinetic = None
            else:
                self._density = state

    def close(self) -> None:
        """End both generators and the threads they hold, once an advance under way is done."""
        with self._playing:
            self._league.close()  # type: ignore[attr-defined]
            if self._kinetic is not None:
                self._kinetic.close()  # type: ignore[attr-defined]

    def opening(self) -> dict[str, object]:
        """What stays the same while the run goes on."""
        grid = self._density.population.grid
        sigma = self.strengths.sigma
        return {
            "type": "started",
            "run": self.number,
            "controls": self.controls.to_dict(),
            "elo_points": self.controls.elo_points,
            "python": self.controls.python,
            "theta": rounded(self.strengths.theta),
            "sigma": {
                "typical": float(np.sqrt(np.mean(sigma**2))),
                "low": float(sigma.min()),
                "high": float(sigma.max()),
            },
            "density_theta": rounded(grid.theta.centres),
            "density_rating": rounded(grid.r.centres),
        }

    def frame(self, sequence: int) -> bytes:
        """The present moment, encoded."""
        rating, watched = self.rating, self._density.diagnostics
        numbers = {
            "run": self.number,
            "sequence": sequence,
            "time": self.matches,
            "kinetic_time": self.system.step * self.time,
            "played": int(self._state.played[0]),
            "energy": mean_square(rating - self.strengths.theta),
            "distance": None if self.target is None else mean_square(rating - self.target),
            "kinetic_energy": watched.energy,
            "kinetic_distance": None if math.isnan(watched.stationary_distance) else watched.stationary_distance,
        }
        head = json.dumps(numbers).encode()
        head += b" " * (-len(head) % 4)
        return struct.pack("<I", len(head)) + head + rating.astype("<f4").tobytes() + self._shades().tobytes()

    def _shades(self) -> NDArray[np.uint8]:
        """Density over (rating, strength) as shades, by its square root so that thin parts can be seen."""
        density = self._density.population.marginal("theta", "r").T
        # A ridge thinner than a cell looks like beads unless every rating is shared with its two neighbours.
        padded = np.pad(density, ((1, 1), (0, 0)))
        density = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
        return np.sqrt(np.maximum(density, 0.0) / density.max() * 255.0**2).astype(np.uint8)


def mean_square(values: Array) -> float:
    """Mean of the squares."""
    return float(np.mean(values**2))


def rounded(values: Array, digits: int = 5) -> list[float]:
    """A list short enough to send."""
    return np.round(values, digits).tolist()
