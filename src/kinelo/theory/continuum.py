"""A continuum of teams: strengths uniform on an interval, represented by Gauss–Legendre nodes with masses μ."""

from __future__ import annotations

import numpy as np

from kinelo.errors import InputError
from kinelo.model.strength import Normal
from kinelo.model.validation import Array, nonnegative, number, whole

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
            spreads, spread_mass = _legendre((nonnegative("sigma[0]", low), high), _count("sigma_nodes", sigma_nodes))
            self.sigma = float(np.sqrt(spread_mass @ spreads**2))
        else:
            self.sigma = nonnegative("sigma", sigma)
            spreads, spread_mass = np.array([self.sigma]), np.ones(1)
        self.league = Normal(np.repeat(points, spreads.size), np.tile(spreads, points.size))
        self.mass = np.multiply.outer(mass, spread_mass).ravel()
        self.mass.setflags(write=False)

    def __repr__(self) -> str:
        low, high = self.theta
        spread = self.league.sigma
        where = f"θ in [{low:g}, {high:g}]" if low < high else f"θ = {low:g}"
        return f"Continuum({where}, σ in [{spread.min():.4g}, {spread.max():.4g}])"


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


def _legendre(interval: tuple[float, float], count: int) -> tuple[Array, Array]:
    x, weight = np.polynomial.legendre.leggauss(count)
    low, high = interval
    return (low + high) / 2 + (high - low) / 2 * x, weight / 2
