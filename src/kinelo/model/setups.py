"""The leagues of the paper: R1, R2, and homogeneous teams."""

from __future__ import annotations

import math

import numpy as np

from kinelo.errors import InputError
from kinelo.model.strength import LineupLottery, Normal
from kinelo.model.validation import nonnegative, number, whole


def setup_r1(*, seed: int = 1, teams: int = 200, players: int = 23, lineup: int = 11) -> LineupLottery:
    """Set-up R1: teams of about equal strength 5 whose squads grow more uneven.

    Player strengths of team i are uniform on ``(1/m) [5 − 5(i − 1)/N, 5 + 5(i − 1)/N]``.

    >>> setup_r1().theta.mean().round(1)
    np.float64(5.0)
    """
    teams, players = whole("teams", teams, 2), whole("players", players, 1)
    half_width = 5 * np.arange(teams) / teams
    uniform = np.random.default_rng(seed).uniform(-1, 1, (teams, players))
    return LineupLottery((5 + half_width[:, None] * uniform) / whole("lineup", lineup, 1), lineup)


def setup_r2(
    *,
    seed: int = 1,
    teams: int = 200,
    players: int = 23,
    lineup: int = 11,
    germany_brazil_sigma: float = 1.0,
) -> LineupLottery:
    """Set-up R2: mean strengths rising from 4 to 10, squads alike, plus Germany (θ = 10) and Brazil (θ = 9).

    The paper takes the spread of the last two from ratings it does not publish; ``germany_brazil_sigma`` is that
    spread as a standard deviation of the performance, and its default is an assumption. Their squads are drawn like
    the others' and then shifted and scaled to have exactly that θ and σ.

    >>> league = setup_r2()
    >>> league.names[-2:], league.theta[-2:].round(9), league.sigma[-2:].round(9)
    (('Germany', 'Brazil'), array([10.,  9.]), array([1., 1.]))
    """
    teams, players = whole("teams", teams, 4), whole("players", players, 2)
    lineup = whole("lineup", lineup, 1)
    wanted = nonnegative("germany_brazil_sigma", germany_brazil_sigma)
    if lineup >= players:
        raise InputError(f"lineup must be smaller than players = {players}, not {lineup}.")
    ordinary = teams - 2
    eta = np.random.default_rng(seed).standard_normal((teams, players))
    rho = np.empty((teams, players))
    rho[:-2] = (4 + 6 * np.arange(ordinary)[:, None] / (ordinary - 1) + eta[:-2]) / lineup
    for row, theta in ((-2, 10.0), (-1, 9.0)):
        shape = (eta[row] - eta[row].mean()) / eta[row].std(ddof=1)
        rho[row] = theta / lineup + shape * wanted / math.sqrt(lineup * (1 - lineup / players))
    names = [f"Team {i + 1}" for i in range(ordinary)] + ["Germany", "Brazil"]
    return LineupLottery(rho, lineup, names=names)


def homogeneous(
    *,
    sigma: float,
    teams: int = 500,
    theta: tuple[float, float] = (4.0, 10.0),
    seed: int | None = None,
) -> Normal:
    """Teams of one common spread σ with mean strengths uniform on an interval.

    Strengths are the midpoints of ``teams`` equal parts of the interval, or random if a seed is given.

    >>> homogeneous(sigma=1.0, teams=3).theta
    array([5., 7., 9.])
    """
    teams = whole("teams", teams, 2)
    low, high = number("theta[0]", theta[0]), number("theta[1]", theta[1])
    if low >= high:
        raise InputError(f"theta must be an interval (low, high) with low < high, not ({low:g}, {high:g}).")
    if seed is None:
        values = low + (high - low) * (np.arange(teams) + 0.5) / teams
    else:
        values = np.sort(np.random.default_rng(seed).uniform(low, high, teams))
    return Normal(values, nonnegative("sigma", sigma))
