"""A league that plays while somebody watches: the simulator and the kinetic equation, at the same time.

The kinetic equation is the limit of vanishing steps for a continuum of teams with the same spread of strengths. It
depends on how results and opponents come about, on the spread of strength and on the start, not on the step or the
seed: it is computed once, as a film, for all pages that have the same limit, as far as somebody has looked. It is not
solved where strengths move or steps are Glicko's. A frame is what the page draws: a line of JSON with the numbers, then
32-bit floats (ratings and, where they move, strengths about their mean; then both of a pinned league), then the density
as bytes, a few times a second and only where it has changed."""

from __future__ import annotations

import json
import math
import struct
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinelo.advice.league_evidence import Evidence, LeagueRecord, MovingRecord
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.theory import EXPLORED_NODES, is_slow, typical_sigma, unanswered
from kinelo.lab.units import CENTRE, MIDDLE, THETA
from kinelo.macro.population import Population
from kinelo.macro.run import kinetic_states
from kinelo.macro.state import KineticState
from kinelo.micro.simulate import SimulationState, simulation_states
from kinelo.model.validation import Array

THETA_CELLS, RATING_CELLS = 48, 96
RATING_RANGE = (THETA[0] - 0.5, THETA[1] + 0.5)
SPACING = 0.2
"""Kinetic time between two stills."""
DENSITY_LIMIT = 1e6
MOST_FILMS, MOST_STILLS = 32, 1500
"""Films that are kept, and stills of one of them: some kilobytes each."""


class Still(NamedTuple):
    """One moment: time, mean squared gaps to strength and to where ratings settle, and the density as shades."""

    time: float
    energy: float
    distance: float | None
    shades: bytes


class Film:
    """Stills of one solution, computed when they are first asked for."""

    def __init__(self, controls: Controls, sigma: float) -> None:
        self._states = kinetic_states(
            replace(controls.system, schedule=None), _first_population(controls, sigma), until=DENSITY_LIMIT,
            samples=round(DENSITY_LIMIT / SPACING), stop="steady", steady_below=1e-4,
        )  # fmt: skip
        self._advancing = threading.Lock()
        first = next(self._states)
        grid = first.population.grid
        self.theta, self.rating = grid.theta.centres, grid.r.centres
        self._stills = [_still(first)]
        self._ended = False

    def at(self, time: float) -> Still:
        """The still nearest to a time, or the last one of a solution that has come to rest."""
        wanted = round(time / SPACING)
        with self._advancing:
            while len(self._stills) <= wanted and not self._ended:
                state = next(self._states, None)
                self._ended = state is None or len(self._stills) >= MOST_STILLS
                if state is not None:
                    self._stills.append(_still(state))
                if self._ended:
                    self._states.close()  # type: ignore[attr-defined]
            return self._stills[min(wanted, len(self._stills) - 1)]


_FILMS: OrderedDict[tuple[object, ...], Film] = OrderedDict()
_CHOOSING = threading.Lock()


def film_of(controls: Controls, sigma: float) -> Film:
    """The film of a position of the controls, whose teams vary by ``sigma``; shared by all that have the same."""
    key = (controls.outcome, controls.system.pairing, round(sigma, 9), controls.start)
    with _CHOOSING:
        if key not in _FILMS:
            _FILMS[key] = Film(controls, sigma)
            while len(_FILMS) > MOST_FILMS:
                _FILMS.popitem(last=False)
        _FILMS.move_to_end(key)
        return _FILMS[key]


def _first_population(controls: Controls, sigma: float) -> Population:
    cells = {"theta": (*THETA, THETA_CELLS), "r": (*RATING_RANGE, RATING_CELLS)}
    if controls.start == "equal":
        return Population.concentrated(MIDDLE, sigma=sigma, **cells)

    def flat(theta: Array, sigma: Array, r: Array) -> Array:
        return ((r > THETA[0]) & (r < THETA[1])) + 0.0 * theta

    return Population.from_function(flat, sigma=sigma, **cells)


def _still(state: KineticState) -> Still:
    """A moment, with its density over (rating, strength) as shades: by the square root, so that thin parts show."""
    density = state.population.marginal("theta", "r").T
    # A ridge thinner than a cell looks like beads unless every rating is shared with its two neighbours.
    padded = np.pad(density, ((1, 1), (0, 0)))
    density = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    shades = np.sqrt(np.maximum(density, 0.0) / density.max() * 255.0**2).astype(np.uint8)
    watched = state.diagnostics
    gap = watched.stationary_distance
    return Still(state.time, watched.energy, None if math.isnan(gap) else gap, shades.tobytes())


def python_lines(controls: Controls, seed: int, pairs: int | str, units: str) -> str:
    """The league after so many drawn pairs, its slope and the slope that theory expects; every line runs.

    What is printed is in the units of the page.

    >>> print(python_lines(Controls(teams=20), 1, 5000, "paper").splitlines()[5])
    start = np.random.default_rng(1).permutation(theta)
    """
    league = [f"league = kn.Normal(theta, sigma={controls.sigma!r})"]
    if controls.law != "normal":
        league = [
            f"eta = np.random.default_rng({seed}).standard_normal(({controls.teams}, {controls.players}))",
            "eta -= eta.mean(axis=1, keepdims=True)",
            f"league = kn.model.LineupLottery((theta[:, None] + {controls.unevenness!r} * eta) / {controls.lineup}, "
            f"{controls.lineup})",
        ]
    strength = ["strength = league.theta"]
    if controls.motion != "still":
        strength = [
            "strength = run.strength.isel(realisation=0, time=-1).values",
            f"strength = strength - strength.mean() + {MIDDLE}  # about the mean of the league",
        ]
    pairing = {"all": "AllPlayAll()", "local": "Local()", "window": f"Window({controls.window!r})"}[controls.pairing]
    gamma, outcome = repr(controls.gamma), f"kn.Tanh(nu={controls.nu!r})"
    if controls.steps == "glicko":
        gamma = f"kn.model.DeviationSteps(growth={controls.growth!r}, start={controls.deviation!r})"
    if controls.ties > 0:
        outcome = f"kn.model.Davidson({controls.nu!r}, {2 * controls.ties / (1 - controls.ties)!r})"
    rounds = controls.system.schedule
    schedule = "" if rounds is None else f", schedule=kn.model.{rounds!r}"
    printed = ["print(rating)  # the dots on the page"]
    if units != "paper":
        step = "" if controls.steps == "glicko" else f"; K = {2 * controls.gamma * controls.elo_points:.3g}"
        printed = [
            f"point = {controls.elo_points!r}  # Elo points to one point of the model{step}",
            f"print({CENTRE:.0f} + point * (rating - {MIDDLE}))  # the dots on the page, in Elo points",
        ]
    return "\n".join(
        [
            "import numpy as np",
            "import kinelo as kn",
            "",
            f"theta = kn.homogeneous(sigma=0.0, teams={controls.teams}, theta={THETA}).theta",
            *league,
            f"start = np.random.default_rng({seed}).permutation(theta)"
            if controls.start == "random"
            else f"start = np.full({controls.teams}, {MIDDLE})",
            f"system = kn.RatingSystem({outcome}, kn.model.{pairing}, {gamma}{schedule})",
            *([f"dynamics = kn.model.{controls.dynamics!r}"] if controls.dynamics else []),
            f"run = kn.simulate(system, league, steps={pairs}, matches_per_step=1, seed={seed}, start=start,",
            f'                  sampling="literal"{", dynamics=dynamics" if controls.dynamics else ""})',
            "rating = run.rating.isel(realisation=0, time=-1).values",
            *strength,
            *printed,
            "print(np.polyfit(strength, rating, 1)[0])  # their slope at this moment",
            *_theory_lines(controls, units),
            "",
        ]
    )


def _theory_lines(controls: Controls, units: str) -> list[str]:
    """What theory expects, where it has an answer; the league of very many teams stands for this one."""
    if reason := unanswered(controls):
        return ["", f"# {reason}"]
    sigma = typical_sigma(controls)
    many = f"many = kn.theory.Continuum({THETA}, {sigma!r}, nodes={EXPLORED_NODES})"
    if controls.schedule == "rounds":
        many = f"many = kn.homogeneous(sigma={sigma!r}, teams={controls.teams}, theta={THETA})"
    if controls.motion != "still":
        asked = ["found = kn.tracking(system, many, dynamics)", "slope, luck = found.rating_slope, found.E**0.5"]
    elif controls.steps == "glicko":
        asked = ['found = kn.theory.settled_deviations(system, many, noise="gaussian")']
    else:
        asked = ['found = kn.stationary(system, many, noise="gaussian")']
    if controls.motion == "still":
        asked.append("slope, luck = found.slope, found.teams.mean(found.variance) ** 0.5")
    words = "luck in a rating" if controls.motion == "still" else "error of a rating"
    shown, points = ("luck", "") if units == "paper" else ("point * luck", " in Elo points")
    note = f"what theory expects, and the {words}{points} (one standard deviation)"
    return ["", many, *asked, f"print(slope, {shown})  # {note}"]


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

        def stops() -> Iterator[int]:
            while True:
                yield self._goal

        self._league = simulation_states(
            self.system, self.strengths, stops=stops(), matches_per_step=1, seed=seed, start=first,
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
        controls, theta = self.controls, self.strengths.theta
        slope = float(self.system.outcome.b_prime(theta[:, None] - theta).mean())
        ratings = 1 / (controls.typical_step * slope)
        apart = abs(controls.alpha - controls.beta)
        learned = 1 / (controls.gamma * slope * apart) if apart else ratings
        return max(ratings, {"form": 1 / controls.rate, "learning": learned}.get(controls.motion, ratings))

    def _typical_sigma(self) -> float:
        return float(np.sqrt(np.mean(self.strengths.sigma**2)))

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
