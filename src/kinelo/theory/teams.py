"""Who plays: the teams of a league with their masses μ, or a continuum of them; and the arguments that name them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.expectation import Closure, check_closure, expected_result, league_waves, warn_if_taylor_fails
from kinelo.model.law import built_in_names
from kinelo.model.outcome import Outcome
from kinelo.model.results import Results
from kinelo.model.schedule import Field
from kinelo.model.strength import Fixed, Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, nonnegative, number, one_line, whole
from kinelo.theory.balance import Waves, wave_nodes

MOST_NODES = 4000
"""Along one axis; the rule is exact to all digits long before, and its cost grows with the cube."""


class Continuum:
    """Infinitely many teams with normal performances, θ uniform on an interval and σ fixed or uniform on another.

    Parameters
    ----------
    theta
        The interval of mean strengths, or one number: infinitely many equal teams.
    sigma
        One spread for all teams, or an interval of spreads independent of θ.
    nodes
        Gauss–Legendre nodes in θ.
    sigma_nodes
        Gauss–Legendre nodes in σ, where σ is an interval.

    Examples
    --------
    >>> teams = Continuum(theta=(4, 10), sigma=1.0)
    >>> len(teams.mass), float(teams.mass.sum().round(12))
    (80, 1.0)
    >>> Continuum(theta=0.0, sigma=1.0)
    Continuum(θ = 0, σ in [1, 1])
    """

    league: Normal
    mass: Array
    theta: tuple[float, float]
    sigma: float
    sigmas: tuple[float, float]

    def __init__(
        self,
        theta: tuple[float, float] | float,
        sigma: float | tuple[float, float] = 0.0,
        *,
        nodes: int = 80,
        sigma_nodes: int = 16,
    ) -> None:
        count = _count("nodes", nodes)
        if isinstance(theta, tuple | list):
            self.theta = _interval("theta", theta)
            points, mass = _legendre(self.theta, count)
        else:
            middle = number("theta", theta)
            self.theta, points, mass = (middle, middle), np.full(2, middle), np.full(2, 0.5)
        if isinstance(sigma, tuple | list):
            low, high = _interval("sigma", (sigma[0], sigma[1]) if len(sigma) == 2 else sigma)
            self.sigmas = nonnegative("sigma[0]", low), high
            spreads, spread_mass = _legendre(self.sigmas, _count("sigma_nodes", sigma_nodes))
            self.sigma = float(np.sqrt(spread_mass @ spreads**2))
        else:
            self.sigma = nonnegative("sigma", sigma)
            self.sigmas = self.sigma, self.sigma
            spreads, spread_mass = np.array([self.sigma]), np.ones(1)
        self.league = Normal(np.repeat(points, spreads.size), np.tile(spreads, points.size))
        self.mass = np.multiply.outer(mass, spread_mass).ravel()
        self.mass.setflags(write=False)

    def __repr__(self) -> str:
        (low, high), (least, most) = self.theta, self.sigmas
        where = f"θ in [{low:g}, {high:g}]" if low < high else f"θ = {low:g}"
        return f"Continuum({where}, σ in [{least:.4g}, {most:.4g}])"


def _interval(name: str, value: object) -> tuple[float, float]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputError(f"{name} must be an interval (low, high), not {value!r}.")
    low, high = number(f"{name}[0]", value[0]), number(f"{name}[1]", value[1])
    if low >= high:
        raise InputError(f"{name} must be an interval (low, high) with low < high, not ({low:g}, {high:g}).")
    return low, high


def _count(name: str, value: object) -> int:
    count = whole(name, value, 2)
    if count > MOST_NODES:
        raise InputError(f"{name} must be at most {MOST_NODES:,}, not {count:,}.")
    return count


_leggauss = cache(np.polynomial.legendre.leggauss)
"""Nodes and weights by their number: a figure asks for the same ones hundreds of times."""


def _legendre(interval: tuple[float, float], count: int) -> tuple[Array, Array]:
    x, weight = _leggauss(count)
    low, high = interval
    return (low + high) / 2 + (high - low) / 2 * x, weight / 2


@dataclass(frozen=True)
class Teams:
    """Teams with masses μ that sum to one.

    In a finite league a team meets each of the N − 1 others equally often; ``crowding`` = N/(N − 1) turns a sum over
    all teams with masses 1/N into that mean, as long as the team's own term is left out or zero. A node of a
    continuum stands for many teams, which do meet one another; ``behind`` is the number of teams that the nodes stand
    for in all, where it is finite.
    """

    strengths: Strength
    mass: Array
    finite: bool
    behind: int | None = None
    theta: Array = field(init=False, repr=False, compare=False)
    """Mean strengths."""
    sigma: Array = field(init=False, repr=False, compare=False)
    """Standard deviations of the strengths."""
    size: int = field(init=False, repr=False, compare=False)
    """Number of teams or nodes."""

    def __post_init__(self) -> None:
        for name, value in (("theta", self.strengths.theta), ("sigma", self.strengths.sigma), ("size", self.mass.size)):
            object.__setattr__(self, name, value)

    @property
    def number(self) -> int | None:
        """Number of teams; None in a continuum."""
        return self.size if self.finite else self.behind

    @property
    def crowding(self) -> float:
        """N/(N − 1), 1 for a continuum."""
        return 1.0 if self.number is None else self.number / (self.number - 1)

    @property
    def typical_sigma(self) -> float:
        """Root mean square of the spreads."""
        return math.sqrt(float(self.mass @ self.sigma**2))

    def mean(self, values: Array) -> float:
        """Average over the teams."""
        return float(self.mass @ values)

    def name(self, team: int) -> str:
        """Name of a team, or its number counted from 0; in a continuum, its strength."""
        names = self.strengths.names
        if not self.finite:
            return f"θ = {self.theta[team]:.4g}"
        return names[team] if names is not None else f"team {team}"

    def list_names(self, group: NDArray[np.intp]) -> str:
        """The first five names of a group of teams, and how many more there are."""
        named = ", ".join(self.name(int(team)) for team in group[:5])
        return named if group.size <= 5 else f"{named} and {group.size - 5} more"


def teams_of(strengths: Strength | Continuum) -> Teams:
    """Masses of a league (1/N each) or of a continuum's nodes."""
    if isinstance(strengths, Continuum):
        return Teams(strengths.league, strengths.mass, finite=False)
    if not isinstance(strengths, Strength):
        raise InputError(
            f"strengths must be a league such as Normal or LineupLottery, or a Continuum, not {one_line(strengths)}."
        )
    return Teams(strengths, np.full(strengths.teams, 1 / strengths.teams), finite=True)


def common_sigma(teams: Teams) -> float:
    """The one spread of performances that all teams share."""
    normal_only(teams)
    if np.ptp(teams.sigma) > 1e-12 * float(teams.sigma.max()):
        raise InputError(
            f"Strengths that learn are computed for one common sigma, not for spreads from {teams.sigma.min():g} to "
            f"{teams.sigma.max():g}; simulate plays unequal ones."
        )
    return float(teams.sigma[0])


def normal_only(teams: Teams) -> None:
    """Refuse laws of performance for which nothing about moving strengths is computed."""
    if not isinstance(teams.strengths, Fixed | Normal):
        raise InputError(
            f"Strengths that move are computed for Fixed or Normal performances, not {type(teams.strengths).__name__}; "
            "simulate plays every law."
        )


def mean_results(outcome: Outcome, teams: Teams, closure: Closure, dense: bool) -> Array:
    """Mean result of each team, ``t_i = Σ_j μ_j s_ij``: by the matrix, or by waves with memory O(N)."""
    if dense or isinstance(teams.strengths, Results):
        return expected_result(outcome, teams.strengths, closure) @ teams.mass
    check_closure(closure)
    if closure == "taylor":
        warn_if_taylor_fails(outcome, teams.sigma)
        waves = Waves(teams.theta, None, wave_nodes(outcome, float(np.ptp(teams.theta))))
        variance, sine = teams.sigma**2, waves.nodes.sine
        sums = waves.sums(np.stack([teams.mass, teams.mass * variance]))
        plain, curved = sums[0] * sine, -sums * sine * waves.u**2
        values = waves.values(np.stack([plain + curved[1] / 2, curved[0] / 2])).imag
        return values[0] + variance * values[1]
    total = np.zeros(teams.size)
    for nodes, phi in league_waves(outcome, teams.strengths).blocks(2**21):
        total += (phi @ ((teams.mass @ phi).conj() * nodes.sine)).imag
    return total


def as_system(system: object) -> RatingSystem:
    """A rating system, or one made of an outcome alone; a field of two is the paper's random pairing."""
    if isinstance(system, Outcome):
        return RatingSystem(system)
    if not isinstance(system, RatingSystem):
        raise InputError(
            f"system must be a RatingSystem, or an outcome ({built_in_names(Outcome, ', ')} or your own "
            f"kinelo.model.Outcome), not {system!r}."
        )
    schedule = system.schedule
    return replace(system, schedule=None) if isinstance(schedule, Field) and schedule.size == 2 else system


def check_field(system: RatingSystem, teams: Teams) -> None:
    """Refuse a league that is too small for the contests of its system."""
    if isinstance(system.schedule, Field) and teams.finite:
        system.schedule.check_teams(teams.size)
