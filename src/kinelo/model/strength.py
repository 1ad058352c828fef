"""Strength as a random variable: each team's performance λ has mean θ and standard deviation σ.

A law describes a whole league, one entry per team. It knows its moments, its characteristic function
``φ(u) = E e^{iu(λ − c)}`` about a common origin c, and how to draw performances.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo.errors import InputError
from kinelo.model.law import Law, built_in
from kinelo.model.lottery import LotteryTables, balanced_probabilities, lottery_tables
from kinelo.model.open_outcome import Outcome
from kinelo.model.quantile import Complex, LawNodes, furthest, law_nodes, sum_of_waves
from kinelo.model.validation import Array, checked_names, finite_array, team_vector, whole

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
        self.names = None if names is None else checked_names(names)
        if self.names is not None and len(self.names) != values.size:
            raise InputError(f"names must list one name per team: {len(self.names)} names for {values.size} teams.")

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
        return None if self.own_kind is None else (self.own_kind, *self._tables())

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
        self.weights = None if weights is None else self._checked_weights(weights, teams, players)
        self.tables = lottery_tables(balanced_probabilities(self.weights, teams, players, self.m), self.m)
        theta, sigma = self.tables.moments(self.rho)
        self.describe(theta, sigma, names)

    def _checked_weights(self, weights: ArrayLike, teams: int, players: int) -> Array:
        given = finite_array("weights", weights)
        try:
            full = np.array(np.broadcast_to(given, (teams, players)))
        except ValueError:
            raise InputError(
                f"weights must have the shape of rho, {teams} × {players}, not {list(given.shape)}."
            ) from None
        if (full < 0).any():
            raise InputError(f"weights must be 0 or more, but the smallest is {full.min():g}.")
        if ((full > 0).sum(axis=1) < self.m).any():
            team = int(np.argmin((full > 0).sum(axis=1)))
            raise InputError(f"weights must be positive for at least m = {self.m} players; team {team} has fewer.")
        return full

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
