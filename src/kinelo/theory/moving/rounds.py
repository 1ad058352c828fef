r"""Rounds: every pair plays once with ratings frozen, then ``R_i += γ Σ_j (S_ij − b(R_i − R_j))``.

The mean map is gradient descent with step γ on a convex functional; its Jacobian is ``I − γL``, L the Laplacian of
``b'(R_i − R_j)``. At the stationary ratings it is stable iff ``γ < γ_c = 2/λ_max(L)``, and fastest at
``2/(λ₂ + λ_max)``. From every start it converges if ``γN sup b' < 2``.
Beyond γ_c ratings do not diverge: they alternate. This module computes γ_c and the orbits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh

from kinelo.errors import InputError
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, positive
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import stationary
from kinelo.theory.pair_means import laplacian, mass_laplacian
from kinelo.theory.teams import Continuum, Teams, as_system, mean_results, teams_of

MOST_ROUND_TEAMS = 2000
MOST_ROUNDS = 40_000
LONGEST_ROUND = 64
SAME_STEP = 1e-8


@dataclass(frozen=True)
class Orbit:
    """What the mean map does in the long run.

    Attributes
    ----------
    kind
        ``"settles"``, ``"cycle"`` or ``"wanders"``.
    period
        Rounds until ratings repeat: 1 if they settle, 0 if they never do.
    ratings
        The ratings round by round, over one period (or some rounds of a wandering orbit).
    exponent
        Lyapunov exponent per round: positive where nearby ratings part for good.
    """

    kind: str
    period: int
    ratings: Array = field(repr=False)
    exponent: float

    @property
    def amplitude(self) -> Array:
        """Half the range through which each team's rating moves."""
        return np.ptp(self.ratings, axis=0) / 2


@dataclass(frozen=True)
class CriticalGamma:
    """The step sizes that matter when a whole round is rated at once.

    Attributes
    ----------
    critical
        γ_c: from here on the stationary ratings are unstable.
    fastest
        The step at which mean ratings settle fastest.
    factor
        By how much each round then shrinks the slowest disturbance.
    bound
        ``2/(N sup b')``: below it the mean map converges from every start; ``critical`` itself iff strengths are equal.
    slowest, largest
        λ₂ and λ_max of L.
    rating
        The stationary ratings.

    In a continuum the step is ``γ(N − 1)``, and all of these are in its units.

    >>> import kinelo as kn
    >>> found = kn.theory.critical_gamma(kn.Tanh(nu=0.5), kn.Fixed([4.0, 7.0, 10.0]))
    >>> bool(found.bound <= found.critical), bool(0 < found.factor < 1)
    (True, True)
    """

    critical: float
    fastest: float
    factor: float
    bound: float
    slowest: float
    largest: float
    rating: Array = field(repr=False)
    _outcome: Outcome = field(repr=False)
    _teams: Teams = field(repr=False)
    _mode: Array = field(repr=False)

    def beyond(self, gamma: float, start: Array | None = None) -> Orbit:
        """Follow the mean map at a step size, by default from ratings slightly off the stationary ones."""
        first = self._beside() if start is None else np.asarray(start, dtype=float)
        if first.shape != self.rating.shape:
            raise InputError(f"start must hold one rating per team, {self.rating.size}, not {first.size}.")
        with few_threads(self._teams.size):
            step = MeanMap(self._outcome, self._teams, positive("gamma", gamma))
            before = last = rating = first
            for _ in range(MOST_ROUNDS):
                before, last, rating = last, rating, step(rating)
                if min(np.abs(rating - last).max(), np.abs(rating - before).max()) <= 1e-13:
                    break
            path = [rating]
            for _ in range(2 * LONGEST_ROUND):
                path.append(step(path[-1]))
            scale = SAME_STEP * max(1.0, float(np.ptp(path[0])))
            period = next((p for p in range(1, LONGEST_ROUND + 1) if np.abs(path[p] - path[0]).max() <= scale), 0)
            kind = {0: "wanders", 1: "settles"}.get(period, "cycle")
            rounds = 4000 if period == 0 else 500
            return Orbit(kind, period, np.array(path[: period or None]), _exponent(step, rating, rounds))

    def _beside(self) -> Array:
        """Ratings off the stationary ones along the fastest mode, and a little in no symmetric way, for a cycle that
        mirrors itself need not be stable.
        """
        askew = np.sin(1.0 + np.arange(self.rating.size) ** 2)
        return self.rating + (0.05 * self._mode + 1e-3 * (askew - askew.mean())) / self._outcome.nu


class MeanMap:
    """``R → R + γ Σ_j (s_ij − b(R_i − R_j))``."""

    def __init__(self, outcome: Outcome, teams: Teams, gamma: float) -> None:
        self.outcome, self.gamma = outcome, gamma
        self.count = teams.mass * (teams.size if teams.finite else 1)
        self._target = mean_results(outcome, teams, "exact", dense=True) * (teams.size if teams.finite else 1)

    def __call__(self, rating: Array) -> Array:
        """Mean ratings after one round."""
        predicted = self.outcome.b(rating[:, None] - rating[None, :]) @ self.count
        return rating + self.gamma * (self._target - predicted)


def critical_gamma(system: RatingSystem | Outcome, strengths: Strength | Continuum) -> CriticalGamma:
    """Step sizes at which rating a whole round at once becomes unstable, and at which it settles fastest.

    ``system`` is a rating system, whose own step size is not looked at, or its outcome alone. These are thresholds of
    the mean map, without noise; noise flattens b and shifts them up.

    Examples
    --------
    >>> import numpy as np
    >>> from kinelo.model.outcome import Tanh
    >>> from kinelo.model.strength import Fixed
    >>> found = critical_gamma(Tanh(nu=0.5), Fixed(np.linspace(4, 10, 20)))
    >>> round(found.critical, 6), round(found.fastest, 6), round(found.bound, 6)
    (0.34419, 0.272023, 0.2)
    >>> found.beyond(0.36).period
    2
    """
    outcome = as_system(system).outcome
    teams = teams_of(strengths)
    if teams.size > MOST_ROUND_TEAMS:
        raise InputError(f"Rounds are analysed for at most {MOST_ROUND_TEAMS} teams, not {teams.size}.")
    rating = stationary(RatingSystem(outcome), strengths).rating
    with few_threads(teams.size):
        # Eigenvalues and modes of L, the Laplacian of b'(R_i − R_j) with the weights of the teams.
        slope = outcome.b_prime(rating[:, None] - rating[None, :])
        if teams.finite:
            np.fill_diagonal(slope, 0.0)
            rates, modes = eigh(laplacian(slope))
        else:
            rates, modes = eigh(mass_laplacian(slope, teams.mass))
            modes = modes / np.sqrt(teams.mass)[:, None]
    # The mode of the largest one; where several share it, the one nearest to halves that move oppositely.
    top = modes[:, rates > rates[-1] * (1 - 1e-9)]
    mode = top[:, -1]
    if top.shape[1] > 1:
        mode = top @ (top.T @ np.where(np.arange(rates.size) < rates.size // 2, 1.0, -1.0))
    slowest, largest = float(rates[1]), float(rates[-1])
    if not teams.finite:
        # The fastest modes of a continuum sit on single strengths: the top of its continuous spectrum.
        largest = max(largest, float((outcome.b_prime(rating[:, None] - rating[None, :]) @ teams.mass).max()))
    return CriticalGamma(
        critical=2 / largest,
        fastest=2 / (slowest + largest),
        factor=(largest - slowest) / (largest + slowest),
        bound=2 / ((teams.size if teams.finite else 1) * outcome.steepest),
        slowest=slowest,
        largest=largest,
        rating=rating,
        _outcome=outcome,
        _teams=teams,
        _mode=mode / np.abs(mode).max(),
    )


def _exponent(step: MeanMap, rating: Array, rounds: int) -> float:
    direction = np.random.default_rng(0).standard_normal(rating.size)
    direction -= direction.mean()
    total = 0.0
    for _ in range(rounds):
        # The Jacobian at these ratings, applied to the direction.
        slope = step.outcome.b_prime(rating[:, None] - rating[None, :]) * step.count
        direction = direction - step.gamma * (slope.sum(axis=1) * direction - slope @ direction)
        direction -= direction.mean()
        size = float(np.linalg.norm(direction))
        if size == 0:
            return -math.inf
        direction /= size
        total += math.log(size)
        rating = step(rating)
    return total / rounds
