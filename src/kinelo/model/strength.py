"""Strength as a random variable: each team's performance λ has mean θ and standard deviation σ.

A law describes a whole league, one entry per team. It knows its moments, its characteristic function
``φ(u) = E e^{iu(λ − c)}`` about a common origin c, and how to draw performances.

Choosing m of M players is the conditional-Bernoulli law, without enumerating line-ups: a line-up L is chosen with
probability proportional to ``Π_{k∈L} w_k``. The same law arises from independent coins with odds
``p_k/(1 − p_k) = c w_k`` conditioned on m heads, for any c; with c such that ``Σ p_k = m`` that condition is likely
and every number stays near 1, however many players there are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo.errors import InputError
from kinelo.model.law import Law, built_in
from kinelo.model.outcome import Outcome
from kinelo.model.quantile import Complex, LawNodes, furthest, law_nodes, sum_of_waves
from kinelo.model.validation import Array, finite_array, is_list, one_line, team_vector, whole

CACHED_TABLES = 20_000
"""Complex numbers that a processor's second cache holds several times over."""


def balanced_probabilities(weights: Array | None, teams: int, players: int, m: int) -> Array:
    """Coin probabilities ``p_k = c w_k/(1 + c w_k)`` with ``Σ p_k = m`` for each team."""
    if weights is None or m == players:
        return np.full((teams, players), m / players)
    certain = (weights > 0).sum(axis=1) == m
    low, high = np.full(teams, -700.0), np.full(teams, 700.0)
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    for _ in range(200):
        middle = (low + high) / 2
        total = _logistic(log_weights + middle[:, None]).sum(axis=1)
        low, high = np.where(total < m, middle, low), np.where(total < m, high, middle)
    p = _logistic(log_weights + ((low + high) / 2)[:, None])
    p[certain] = weights[certain] > 0
    return p


def _logistic(x: Array) -> Array:
    return np.where(x > 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


@dataclass(frozen=True)
class LotteryTables:
    """What is needed of the lottery: coins, the probability of m heads, and the sequential choice.

    ``selection[team, k, r]`` is the probability that player k is chosen when r of the places are still open.
    """

    coins: Array
    m: int
    heads: Array
    selection: Array

    def characteristic_function(self, rho: Array, u: Array) -> NDArray[np.complex128]:
        """``E e^{iu Σ ρ}`` over line-ups, of shape (teams, len(u)), in O(M m) operations per value."""
        result = np.empty((len(rho), len(u)), dtype=np.complex128)
        # A block of teams at a time, so that the table of the programme stays in the processor's cache.
        size = max(1, CACHED_TABLES // ((self.m + 1) * len(u)))
        for first in range(0, len(rho), size):
            part = slice(first, first + size)
            phi = np.zeros((self.m + 1, len(rho[part]), len(u)), dtype=np.complex128)
            phi[0] = 1.0
            for k in range(rho.shape[1]):
                coin = self.coins[part, k, None]
                phase = np.multiply.outer(rho[part, k], u)
                heads, filled = coin * (np.cos(phase) + 1j * np.sin(phase)), min(k + 1, self.m)
                phi[1 : filled + 1] = (1 - coin) * phi[1 : filled + 1] + heads * phi[:filled]
                phi[0] *= 1 - coin
            result[part] = phi[self.m] / self.heads[part, None]
        return result

    def moments(self, rho: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the sum of a line-up, by the same programme."""
        teams, players = rho.shape
        centre = rho.mean(axis=1)
        mass = np.zeros((self.m + 1, teams))
        first, second = np.zeros_like(mass), np.zeros_like(mass)
        mass[0] = 1.0
        for k in range(players):
            p, x = self.coins[:, k], rho[:, k] - centre
            new, old = slice(1, None), slice(None, -1)
            second[new] = (1 - p) * second[new] + p * (second[old] + 2 * x * first[old] + x**2 * mass[old])
            first[new] = (1 - p) * first[new] + p * (first[old] + x * mass[old])
            mass[new] = (1 - p) * mass[new] + p * mass[old]
            for moment in (mass, first, second):
                moment[0] *= 1 - p
        mean = first[self.m] / self.heads
        variance = second[self.m] / self.heads - mean**2
        # All of rho equal, or all players chosen, leaves rounding noise where the variance is zero.
        floor = 1e-14 * np.maximum(second[self.m] / self.heads, 1e-300)
        return self.m * centre + mean, np.sqrt(np.where(variance > floor, variance, 0.0))


def lottery_tables(coins: Array, m: int) -> LotteryTables:
    """Build the tables by a backward recursion over the players."""
    teams, players = coins.shape
    tail = np.zeros((teams, m + 1))
    tail[:, 0] = 1.0
    selection = np.zeros((teams, players, m + 1))
    for k in range(players - 1, -1, -1):
        p = coins[:, k, None]
        heads = p * np.concatenate([np.zeros((teams, 1)), tail[:, :-1]], axis=1)
        whole = (1 - p) * tail + heads
        with np.errstate(divide="ignore", invalid="ignore"):
            selection[:, k] = np.where(whole > 0, heads / whole, 0.0)
        tail = whole
    return LotteryTables(coins, m, tail[:, m].copy(), selection)


FIXED, NORMAL, LOTTERY, EMPIRICAL = 0, 1, 2, 3
"""Kinds of strength that compiled code can draw."""

_NAMES = list[str] | None

StrengthCode = tuple[int, Array, Array, int]
"""A built-in law as compiled code knows it: its kind; ``values`` (teams, ·), which are θ, players' strengths or the
values of a sample; ``table`` (teams, ·, ·), which is σ, the probability that a player is chosen while so many places
are open, or cumulative probabilities; and the size of a line-up.
"""


class Strength(Law):
    """The performances of a league of teams; see :class:`Fixed`, :class:`Normal`, :class:`LineupLottery`,
    :class:`Scaled`, and derive your own from this.

    A subclass calls :meth:`describe` with its means and standard deviations, and says by :meth:`performances` how a
    performance is made of uniform random numbers. Where one number is enough, its characteristic function follows.

    Examples
    --------
    >>> class Coin(Strength):
    ...     def __init__(self, theta, stake):
    ...         self.stake = float(stake)
    ...         self.describe(theta, stake)
    ...     def performances(self, team, uniforms):
    ...         return self.theta[team] + np.where(uniforms[:, 0] < 0.5, -self.stake, self.stake)
    >>> Coin([0.0, 1.0], stake=2.0).characteristic_function(np.array([0.5])).real.round(6)[0]  # cos(1)
    array([0.540302])
    """

    section: ClassVar[str] = "league"
    theta: Array
    sigma: Array
    names: tuple[str, ...] | None

    def describe(self, theta: ArrayLike, sigma: ArrayLike, names: Sequence[str] | None = None) -> None:
        """Take note of each team's mean and standard deviation (or a common one), and of the teams' names."""
        values = team_vector("theta", theta)
        self.theta, self.sigma = values, spreads(sigma, values)
        self.names = None
        if names is None:
            return
        if not is_list(names):
            raise InputError(f"names must be a list of names, not {one_line(names)}.")
        for name in names:
            if not isinstance(name, str | int | float | np.str_ | np.integer | np.floating) or name != name:
                raise InputError(f"names must be a list of names; {one_line(name)} is none.")
        self.names = tuple(str(name) for name in names)
        if len(self.names) != values.size:
            raise InputError(f"names must list one name per team: {len(self.names)} for {values.size} teams.")

    @property
    def teams(self) -> int:
        """Number of teams."""
        return self.theta.size

    @property
    def certain(self) -> bool:
        """Whether performances do not vary at all."""
        return False

    @property
    def reach(self) -> float:
        """Distance from θ beyond which no team's performance carries probability that matters."""
        return self._view[1]

    def seen_through(self, outcome: Outcome, span: float, sigma: float) -> Strength:
        """The league as far, and as finely, as results depend on it.

        ``span`` is the largest difference of mean strengths that will be asked for, ``sigma`` the largest spread. Laws
        with a closed form are known everywhere and return themselves.
        """
        if type(self).characteristic_function is not Strength.characteristic_function:
            return self
        seen = copy(self)
        vars(seen)["_view"] = (1.5 * outcome.finest, furthest(self._deviations, span, outcome.missing))
        vars(seen).pop("_nodes", None)
        return seen

    @cached_property
    def _view(self) -> tuple[float, float]:
        """How finely and how far performances are known; without an outcome in view, by their own spread."""
        return 0.25 * float(self.sigma.max()), furthest(self._deviations, 0.0, np.zeros_like)

    @cached_property
    def _nodes(self) -> LawNodes:
        if self.uniforms != 1:
            raise InputError(
                f"{type(self).__name__} makes a performance of {self.uniforms} uniform numbers, so its characteristic "
                "function does not follow from them: give it a method characteristic_function, and reach."
            )
        nodes = law_nodes(self._deviations, *self._view)
        mean, spread = nodes.deviation @ nodes.weight, np.sqrt((nodes.deviation**2) @ nodes.weight)
        slack = 1e-3 * (1e-9 + float(self.sigma.max()))
        if (np.abs(mean) > slack).any() or (spread > self.sigma + slack).any():
            team = int(np.argmax(np.maximum(np.abs(mean), spread - self.sigma)))
            raise InputError(
                f"The performances of {type(self).__name__} do not have the moments it describes: team {team} has mean "
                f"{self.theta[team] + mean[team]:g} and standard deviation {spread[team]:g}, described were "
                f"{self.theta[team]:g} and {self.sigma[team]:g}."
            )
        return nodes

    def _deviations(self, t: Array) -> Array:
        from scipy.special import ndtr

        uniform = np.minimum(ndtr(t), 1 - 2.0**-53)[:, None]
        everyone = [self.performances(np.full(t.size, team), uniform) for team in range(self.teams)]
        return np.array(everyone, dtype=np.float64) - self.theta[:, None]

    def characteristic_function(self, u: Array, origin: float = 0.0) -> Complex:
        """``E e^{iu(λ − origin)}``, of shape (teams, len(u)); by quadrature unless a law knows better."""
        nodes = self._nodes
        waves = np.array([sum_of_waves(row, nodes.weight, u) for row in nodes.deviation])
        return waves * np.exp(1j * np.multiply.outer(self.theta - origin, u))

    def waves_of(self, theta: Array, sigma: Array, u: Array, origin: float = 0.0) -> Complex:
        """Characteristic functions of further teams of the kind: normal ones, unless a law knows better."""
        return normal_waves(theta - origin, np.square(sigma), u)

    def reach_of(self, sigma: float) -> float:
        """:attr:`reach` of further teams of the kind with this spread."""
        return 6.1 * sigma

    def like(self, theta: ArrayLike, sigma: ArrayLike) -> Strength:
        """A league of other strengths and the same kind: a normal one, unless a law knows better."""
        return Normal(theta, sigma)

    @property
    def uniforms(self) -> int:
        """Number of uniform random numbers that one performance is made of."""
        return 1

    @abstractmethod
    def performances(self, team: NDArray[np.integer], uniforms: Array) -> Array:
        """One performance for each of ``team``, indices of shape (n,), from ``uniforms`` in [0, 1) of shape (n, k)."""

    def draw(self, generator: np.random.Generator, teams: NDArray[np.integer]) -> Array:
        """One performance for each entry of ``teams`` (indices, repeats allowed)."""
        return self.performances(teams, generator.random((len(teams), self.uniforms)))

    @property
    def code(self) -> StrengthCode | None:
        """How compiled code draws performances; None for users' laws, whose :meth:`performances` does."""
        return None if self.kind is None else (self.kind, *self._tables())

    def _tables(self) -> tuple[Array, Array, int]:
        """Values, table and line-up of :attr:`code`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.teams} teams, θ in [{self.theta.min():.4g}, {self.theta.max():.4g}], "
            f"σ in [{self.sigma.min():.4g}, {self.sigma.max():.4g}])"
        )


def spreads(sigma: ArrayLike, theta: Array) -> Array:
    """Standard deviations, one per team, from one for all or one each."""
    spread = finite_array("sigma", sigma, 0, 1)
    if spread.ndim == 1 and spread.shape != theta.shape:
        raise InputError(f"sigma must be one number or one per team: {spread.size} for {theta.size} teams.")
    if (spread < 0).any():
        raise InputError(f"sigma must be 0 or more, but its smallest entry is {spread.min():g}.")
    full = np.array(np.broadcast_to(spread, theta.shape))
    full.setflags(write=False)
    return full


def normal_waves(centred: Array, variances: Array | float, u: Array) -> Complex:
    """``E e^{iuλ}`` of normal performances with these means, about a common centre, and variances."""
    phase = 1j * np.multiply.outer(centred, u)
    return np.exp(phase - np.multiply.outer(np.broadcast_to(variances, np.shape(centred)), u**2) / 2)


@built_in("fixed", theta=list[float], names=_NAMES)
class Fixed(Strength):
    """Constant strengths: the classic Elo model.

    >>> Fixed([4.0, 10.0]).sigma
    array([0., 0.])
    """

    kind: ClassVar[int | None] = FIXED

    def __init__(self, theta: ArrayLike, *, names: Sequence[str] | None = None) -> None:
        self.describe(theta, 0.0, names)

    def _tables(self) -> tuple[Array, Array, int]:
        return self.theta[:, None].copy(), np.zeros((1, 1, 1)), 0

    @property
    def certain(self) -> bool:
        """True."""
        return True

    @property
    def reach(self) -> float:
        """Zero: performances do not vary."""
        return 0.0

    def characteristic_function(self, u: Array, origin: float = 0.0) -> Complex:
        """Return e^{iu(θ − origin)}."""
        return np.exp(1j * np.multiply.outer(self.theta - origin, u))

    @property
    def uniforms(self) -> int:
        """None: nothing is left to chance."""
        return 0

    def performances(self, team: NDArray[np.integer], uniforms: Array) -> Array:
        """Return θ of each team asked for."""
        return self.theta[team]


@built_in("normal", theta=list[float], sigma=float | list[float], names=_NAMES)
class Normal(Strength):
    """Normal performances ``N(θ, σ)`` with σ a standard deviation, common or one per team.

    >>> Normal([4.0, 10.0], sigma=1.0).sigma
    array([1., 1.])
    """

    kind: ClassVar[int | None] = NORMAL

    def __init__(self, theta: ArrayLike, sigma: ArrayLike, *, names: Sequence[str] | None = None) -> None:
        self.describe(theta, sigma, names)

    def _tables(self) -> tuple[Array, Array, int]:
        return self.theta[:, None].copy(), self.sigma[:, None, None].copy(), 0

    @property
    def reach(self) -> float:
        """Beyond this the tail of a difference of two performances is below 1e-17."""
        return 6.1 * float(self.sigma.max())

    def characteristic_function(self, u: Array, origin: float = 0.0) -> Complex:
        """Return e^{iu(θ − origin) − u²σ²/2}."""
        return normal_waves(self.theta - origin, self.sigma**2, u)

    @property
    def uniforms(self) -> int:
        """Two, for Box and Muller's radius and angle."""
        return 2

    def performances(self, team: NDArray[np.integer], uniforms: Array) -> Array:
        """Return θ + σ √(−2 ln(1 − u₁)) cos 2πu₂."""
        radius = np.sqrt(-2 * np.log1p(-uniforms[:, 0]))
        return self.theta[team] + self.sigma[team] * radius * np.cos(2 * np.pi * uniforms[:, 1])


@built_in("lineups", rho=list[list[float]], weights=list[list[float]] | None, names=_NAMES)
class LineupLottery(Strength):
    """``m`` of each team's ``M`` players are drawn for a match; performance is the SUM of their strengths.

    Parameters
    ----------
    rho
        Player strengths, teams × players.
    m
        Size of a line-up.
    weights
        None for a uniform choice, or positive weights of the same shape (or one row for all teams): a line-up is
        then chosen with probability proportional to the product of its players' weights.
    names
        Names of the teams.

    Examples
    --------
    >>> league = LineupLottery([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]], m=2)
    >>> league.theta, league.sigma.round(4)
    (array([2., 2.]), array([0.8165, 0.    ]))
    """

    kind: ClassVar[int | None] = LOTTERY
    rho: Array
    m: int
    weights: Array | None
    tables: LotteryTables

    def __init__(
        self,
        rho: ArrayLike,
        m: int,
        weights: ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.rho = finite_array("rho", rho, 2)
        teams, players = self.rho.shape
        if teams < 2:
            raise InputError(f"rho must list at least 2 teams (rows), not {teams}.")
        self.m = whole("m", m, 1)
        if self.m > players:
            raise InputError(f"m must be at most M, the number of players per team: m = {self.m}, M = {players}.")
        self.weights = None
        if weights is not None:
            given = finite_array("weights", weights)
            try:
                self.weights = np.array(np.broadcast_to(given, (teams, players)))
            except ValueError:
                raise InputError(
                    f"weights must have the shape of rho, {teams} × {players}, not {list(given.shape)}."
                ) from None
            if (self.weights < 0).any():
                raise InputError(f"weights must be 0 or more, but the smallest is {self.weights.min():g}.")
            chosen = (self.weights > 0).sum(axis=1)
            if (chosen < self.m).any():
                team = int(np.argmin(chosen))
                raise InputError(f"weights must be positive for at least m = {self.m} players; team {team} has fewer.")
        self.tables = lottery_tables(balanced_probabilities(self.weights, teams, players, self.m), self.m)
        theta, sigma = self.tables.moments(self.rho)
        self.describe(theta, sigma, names)

    def _tables(self) -> tuple[Array, Array, int]:
        return self.rho.copy(), self.tables.selection, self.m

    @property
    def reach(self) -> float:
        """Distance from θ to the strongest or weakest line-up there is."""
        ordered = np.sort(self.rho, axis=1)
        best = ordered[:, -self.m :].sum(axis=1) - self.theta
        worst = self.theta - ordered[:, : self.m].sum(axis=1)
        return float(max(best.max(), worst.max()))

    def characteristic_function(self, u: Array, origin: float = 0.0) -> Complex:
        """Return ``[z^m] Π_k (1 + z w_k e^{iuρ_k})``, normalised, by a dynamic programme over the players."""
        # Centring each player at θ/m keeps the phases small.
        values = self.tables.characteristic_function(self.rho - self.theta[:, None] / self.m, u)
        return values * np.exp(1j * np.multiply.outer(self.theta - origin, u))

    @property
    def uniforms(self) -> int:
        """One for each player of a squad."""
        return self.rho.shape[1]

    def performances(self, team: NDArray[np.integer], uniforms: Array) -> Array:
        """Return the strengths of line-ups chosen player by player with their exact conditional probabilities."""
        missing = np.full(len(team), self.m)
        total = np.zeros(len(team))
        for k in range(self.rho.shape[1]):
            chosen = uniforms[:, k] < self.tables.selection[team, k, missing]
            total += np.where(chosen, self.rho[team, k], 0.0)
            missing -= chosen
        return total


@built_in("empirical", values=list[list[float]], probabilities=list[float] | list[list[float]] | None, names=_NAMES)
class Empirical(Strength):
    """Any finite law: ``values`` (teams × outcomes) taken with ``probabilities`` (same shape, or one row for all).

    >>> Empirical([[1.0, 3.0], [2.0, 2.0]], [0.5, 0.5]).theta
    array([2., 2.])
    """

    kind: ClassVar[int | None] = EMPIRICAL

    def __init__(
        self, values: ArrayLike, probabilities: ArrayLike | None = None, *, names: Sequence[str] | None = None
    ) -> None:
        self.values: Array = finite_array("values", values, 2)
        teams, outcomes = self.values.shape
        if teams < 2:
            raise InputError(f"values must list at least 2 teams (rows), not {teams}.")
        given = np.full(outcomes, 1 / outcomes) if probabilities is None else probabilities
        table = finite_array("probabilities", given)
        try:
            table = np.array(np.broadcast_to(table, self.values.shape))
        except ValueError:
            raise InputError(
                f"probabilities must have the shape of values, {teams} × {outcomes}, not {list(table.shape)}."
            ) from None
        sums = table.sum(axis=1)
        if (table < 0).any() or not np.allclose(sums, 1, atol=1e-9):
            raise InputError("probabilities must be 0 or more and sum to 1 for every team.")
        self.probabilities: Array = table / sums[:, None]
        self.probabilities.setflags(write=False)
        theta = (self.probabilities * self.values).sum(axis=1)
        variance = (self.probabilities * (self.values - theta[:, None]) ** 2).sum(axis=1)
        self.describe(theta, np.sqrt(variance), names)

    @property
    def cumulative(self) -> Array:
        """Cumulative probabilities, ending in exactly 1."""
        cumulative = np.cumsum(self.probabilities, axis=1)
        cumulative[:, -1] = 1.0
        return cumulative

    def _tables(self) -> tuple[Array, Array, int]:
        return self.values.copy(), self.cumulative[:, :, None].copy(), 0

    @property
    def reach(self) -> float:
        """Largest distance of a value from its team's mean."""
        return float(np.abs(self.values - self.theta[:, None]).max())

    def characteristic_function(self, u: Array, origin: float = 0.0) -> Complex:
        """Return Σ p e^{iu(value − origin)}."""
        total = np.zeros((self.teams, len(u)), dtype=np.complex128)
        for k in range(self.values.shape[1]):
            phase = np.multiply.outer(self.values[:, k] - origin, u)
            total += self.probabilities[:, k, None] * np.exp(1j * phase)
        return total

    def performances(self, team: NDArray[np.integer], uniforms: Array) -> Array:
        """Return values by inversion of the cumulative probabilities."""
        column = (uniforms[:, :1] >= self.cumulative[team]).sum(axis=1)
        return self.values[team, column]
