"""The leagues of the paper: R1, R2, and homogeneous teams."""

from __future__ import annotations

import math

import numpy as np

from kinelo.errors import InputError
from kinelo.model.law import built_in
from kinelo.model.strength import LineupLottery, Normal
from kinelo.model.validation import finite_array, nonnegative, whole
from kinelo.runtime.limits import check_memory


def check_league(teams: int, players: int) -> None:
    """Refuse a league that does not fit into memory, before it is made."""
    # Strengths, their draws and what is derived from them.
    check_memory(8 * 6 * teams * players, f"A league of {teams:,} teams of {players:,}", "use fewer teams")


@built_in("r1")
def setup_r1(*, seed: int = 1, teams: int = 200, players: int = 23, lineup: int = 11) -> LineupLottery:
    """Set-up R1: teams of about equal strength 5 whose squads grow more uneven.

    Player strengths of team i are uniform on ``(1/m) [5 − 5(i − 1)/N, 5 + 5(i − 1)/N]``.

    >>> setup_r1().theta.mean().round(1)
    np.float64(5.0)
    """
    teams, players, seed = whole("teams", teams, 2), whole("players", players, 1), whole("seed", seed, 0)
    check_league(teams, players)
    half_width = 5 * np.arange(teams) / teams
    uniform = np.random.default_rng(seed).uniform(-1, 1, (teams, players))
    return LineupLottery((5 + half_width[:, None] * uniform) / whole("lineup", lineup, 1), lineup)


@built_in("r2")
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
    lineup, seed = whole("lineup", lineup, 1), whole("seed", seed, 0)
    check_league(teams, players)
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


@built_in("homogeneous")
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
    check_league(teams, 1)
    ends = finite_array("theta", theta, 1)
    if ends.size != 2:
        raise InputError(f"theta must be an interval (low, high), not {ends.size} numbers.")
    low, high = map(float, ends)
    if low >= high:
        raise InputError(f"theta must be an interval (low, high) with low < high, not ({low:g}, {high:g}).")
    if seed is None:
        values = low + (high - low) * (np.arange(teams) + 0.5) / teams
    else:
        values = np.sort(np.random.default_rng(whole("seed", seed, 0)).uniform(low, high, teams))
    return Normal(values, nonnegative("sigma", sigma))
