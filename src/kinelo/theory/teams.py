"""Who a team meets: the teams of a league with their masses μ, finite or a continuum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.expectation import Closure, check_closure, expected_result, league_waves, warn_if_taylor_fails
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.validation import Array
from kinelo.theory.continuum import Continuum
from kinelo.theory.waves import Waves, wave_nodes


@dataclass(frozen=True)
class Teams:
    """Teams with masses μ that sum to one.

    In a finite league a team meets each of the N − 1 others equally often; ``crowding`` = N/(N − 1) turns a sum over
    all teams with masses 1/N into that mean, as long as the team's own term is left out or zero. A node of a
    continuum stands for many teams, which do meet one another.
    """

    strengths: Strength
    mass: Array
    finite: bool

    @property
    def theta(self) -> Array:
        """Mean strengths."""
        return self.strengths.theta

    @property
    def sigma(self) -> Array:
        """Standard deviations of the strengths."""
        return self.strengths.sigma

    @property
    def size(self) -> int:
        """Number of teams or nodes."""
        return self.mass.size

    @property
    def crowding(self) -> float:
        """N/(N − 1) for a finite league, 1 for a continuum."""
        return self.size / (self.size - 1) if self.finite else 1.0

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
            return f"θ = {self.theta[team]:.3g}"
        return names[team] if names is not None else f"team {team}"

    def listed(self, group: NDArray[np.intp], most: int = 5) -> str:
        """The first few names of a group of teams, and how many more there are."""
        named = ", ".join(self.name(int(team)) for team in group[:most])
        return named if group.size <= most else f"{named} and {group.size - most} more"


def teams_of(strengths: Strength | Continuum) -> Teams:
    """Masses of a league (1/N each) or of a continuum's nodes."""
    if isinstance(strengths, Continuum):
        return Teams(strengths.league, strengths.mass, finite=False)
    if not isinstance(strengths, Strength):
        raise InputError(
            f"strengths must be a league such as Normal or LineupLottery, or a Continuum, not {strengths!r}."
        )
    return Teams(strengths, np.full(strengths.teams, 1 / strengths.teams), finite=True)


def mean_results(outcome: Outcome, teams: Teams, closure: Closure, dense: bool) -> Array:
    """Mean result of each team, ``t_i = Σ_j μ_j s_ij``: by the matrix, or by waves with memory O(N)."""
    check_closure(closure)
    if dense:
        return expected_result(outcome, teams.strengths, closure) @ teams.mass
    if closure == "taylor":
        warn_if_taylor_fails(outcome, teams.sigma)
        return _taylor_results(outcome, teams)
    total = np.zeros(teams.size)
    for nodes, phi in league_waves(outcome, teams.strengths).blocks(2**21):
        total += (phi @ ((teams.mass @ phi).conj() * nodes.sine)).imag
    return total


def _taylor_results(outcome: Outcome, teams: Teams) -> Array:
    waves = Waves(teams.theta, None, wave_nodes(outcome, float(np.ptp(teams.theta))))
    variance = teams.sigma**2
    sine = waves.nodes.sine
    sums = waves.sums(np.stack([teams.mass, teams.mass * variance]))
    plain, curved = sums[0] * sine, -sums * sine * waves.u**2
    values = waves.values(np.stack([plain + curved[1] / 2, curved[0] / 2])).imag
    return values[0] + variance * values[1]
