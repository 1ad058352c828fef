r"""Expected results of matches between random performances.

Exact, for any independent laws: ``s_ij = ∫ W(u) Im[φ_i(u) φ̄_j(u)] du``. The midpoint sum with step h replaces b by
a square wave of period 4π/h that equals b, to rounding, as long as no difference of performances comes within
``saturation`` of its next flank; h is chosen so. The sum over nodes is then one product of matrices.

Taylor, the paper's closure: ``s_ij ≈ b(d) + ½ b''(d) V`` with ``d = θ_i − θ_j`` and ``V = σ_i² + σ_j²``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinelo.errors import InputError, warn
from kinelo.model.law import fingerprint
from kinelo.model.outcome import Outcome
from kinelo.model.results import Results
from kinelo.model.spectrum import SpectralNodes
from kinelo.model.strength import Complex, LineupLottery, Strength
from kinelo.model.validation import Array, finite_array, one_line
from kinelo.runtime.blas import one_blas_thread
from kinelo.runtime.limits import check_memory

Closure = Literal["exact", "taylor"]

LARGEST_KEPT = 1000
"""Teams of leagues whose results are kept."""

NUMBERS_AT_ONCE = 1 << 22
"""Complex numbers held at a time: leagues and laws that need more nodes are summed in parts."""


def check_closure(closure: str) -> None:
    """Refuse any closure but the two that exist."""
    if not isinstance(closure, str) or closure not in ("exact", "taylor"):
        raise InputError(f'closure must be "exact" or "taylor", not {closure!r}.')


@dataclass(frozen=True)
class LeagueWaves:
    """Nodes for a league, the league as an outcome sees it, and the origin its waves are best taken about."""

    nodes: SpectralNodes
    strengths: Strength
    origin: float

    def blocks(self, size: int = NUMBERS_AT_ONCE) -> Iterator[tuple[SpectralNodes, Complex]]:
        """Some nodes at a time with the league's characteristic functions there, ``size`` numbers at most."""
        count = max(1, size // self.strengths.teams)
        for first in range(0, self.nodes.u.size, count):
            part = self.nodes[first : first + count]
            yield part, self.strengths.characteristic_function(part.u, self.origin)


def league_waves(outcome: Outcome, strengths: Strength) -> LeagueWaves:
    """What is needed to average an outcome over the performances of a league."""
    low, high = float(strengths.theta.min()), float(strengths.theta.max())
    seen = strengths.seen_through(outcome, high - low, 0.0)
    return LeagueWaves(outcome.spectrum(high - low + 2 * seen.reach), seen, (low + high) / 2)


def taylor_parts(outcome: Outcome, difference: Array) -> tuple[Array, Array]:
    """``b(d)`` and ``½ b''(d)``: the paper's closure is the first plus ``V`` times the second."""
    return outcome.b(difference), outcome.b_second(difference) / 2


def taylor_result(outcome: Outcome, difference: Array, variance: Array) -> Array:
    """The paper's closure ``b(d) + ½ b''(d) V``."""
    level, curvature = taylor_parts(outcome, difference)
    return level + curvature * variance


def expected_result(outcome: Outcome, strengths: Strength, closure: Closure = "exact") -> Array:
    """Matrix of expected results ``s_ij`` in [−1, 1], i against j.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> from kinelo.model.strength import Normal
    >>> s = expected_result(Tanh(nu=0.5), Normal([1.0, 0.0], sigma=1.0))
    >>> round(float(1 + s[0, 1]) / 2, 7)  # probability that the first team wins
    0.6750567
    """
    if not isinstance(outcome, Outcome):
        raise InputError(f"outcome must be an Outcome such as Tanh or Davidson, not {outcome!r}.")
    if not isinstance(strengths, Strength):
        raise InputError(f"strengths must be a league such as Normal or LineupLottery, not {one_line(strengths)}.")
    check_closure(closure)
    teams = strengths.teams
    check_memory(40.0 * teams**2, f"The matrix of {teams:,} × {teams:,} results", "use fewer teams")
    if isinstance(strengths, Results):
        return strengths.every_pair()
    theta = strengths.theta
    difference = theta[:, None] - theta[None, :]
    if closure == "taylor":
        variance = strengths.sigma[:, None] ** 2 + strengths.sigma[None, :] ** 2
        warn_if_taylor_fails(outcome, strengths.sigma)
        return taylor_result(outcome, difference, variance)
    if strengths.certain:
        return outcome.b(difference)
    if (
        type(strengths) is LineupLottery
        and teams <= LARGEST_KEPT
        and (name := fingerprint(outcome, strengths)) is not None
    ):
        return _kept(_Lottery(name, outcome, strengths)).copy()
    return _exact(outcome, strengths)


def _exact(outcome: Outcome, strengths: Strength) -> Array:
    half = np.zeros((strengths.teams, strengths.teams))
    for nodes, phi in league_waves(outcome, strengths).blocks():
        half += (phi.imag * nodes.sine) @ phi.real.T
    return np.clip(half - half.T, -1.0, 1.0)


@dataclass(frozen=True)
class _Lottery:
    name: str
    outcome: Outcome = field(compare=False)
    strengths: Strength = field(compare=False)


@lru_cache(maxsize=8)
def _kept(lottery: _Lottery) -> Array:
    """Results of a lottery, whose waves take longest: its table, its map and its noise all begin with them."""
    # Whoever asks next must find what it would have computed itself, to the last bit.
    with one_blas_thread():
        return _exact(lottery.outcome, lottery.strengths)


def outcome_probabilities(outcome: Outcome, strengths: Strength) -> tuple[Array, Array, Array]:
    """Matrices of exact win, tie and loss probabilities, i against j; they sum to one.

    >>> from kinelo.model.outcome import Davidson
    >>> from kinelo.model.strength import Fixed
    >>> win, tie, loss = outcome_probabilities(Davidson(nu=0.5, kappa=2.0), Fixed([0.0, 0.0]))
    >>> float(win[0, 1]), float(tie[0, 1]), float(loss[0, 1])
    (0.25, 0.5, 0.25)
    """
    result = expected_result(outcome, strengths)
    tie = expected_tie(outcome, strengths)
    win = np.clip((1 - tie + result) / 2, 0.0, 1.0)
    loss = np.clip((1 - tie - result) / 2, 0.0, 1.0)
    return win, tie, loss


def expected_tie(outcome: Outcome, strengths: Strength) -> Array:
    """Matrix of exact probabilities of a tie; a table of expected results has none."""
    if isinstance(strengths, Results):
        return np.zeros((strengths.teams, strengths.teams))
    difference = strengths.theta[:, None] - strengths.theta[None, :]
    if not outcome.has_ties or strengths.certain:
        return outcome.tie_probability(difference)
    tie = np.zeros_like(difference)
    for nodes, phi in league_waves(outcome, strengths).blocks():
        tie += (phi.real * nodes.cosine) @ phi.real.T + (phi.imag * nodes.cosine) @ phi.imag.T
    return np.clip(tie, 0.0, 1.0)


def largest_variance(sigma: ArrayLike) -> float:
    """Largest V = σ_i² + σ_j² that two of these spreads make; a single number stands for all teams."""
    spread = np.sort(np.atleast_1d(np.asarray(sigma, dtype=np.float64)))
    return float(2 * spread[0] ** 2 if spread.size == 1 else spread[-1] ** 2 + spread[-2] ** 2)


def satisfies_b_prime(outcome: Outcome, spread: Strength | ArrayLike) -> bool:
    """Whether condition (B') holds: ``b + ½ V b''`` increases for every pair of teams.

    Parameters
    ----------
    outcome
        The outcome function; for tanh the condition reads ν²V < 1, or νσ < 1/√2 when all spreads are σ.
    spread
        A league, one common σ, or one σ per team.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> satisfies_b_prime(Tanh(nu=0.5), 1.41), satisfies_b_prime(Tanh(nu=0.5), 1.42)
    (True, False)
    """
    if not isinstance(outcome, Outcome):
        raise InputError(f"outcome must be an Outcome such as Tanh or Davidson, not {outcome!r}.")
    if isinstance(spread, Strength):
        sigma = spread.sigma
    else:
        sigma = finite_array("sigma", spread, 0, 1)
        if sigma.size == 0:
            raise InputError("sigma must be one number, or one per team.")
        if (sigma < 0).any():
            raise InputError(f"sigma must be 0 or more, but its smallest entry is {sigma.min():g}.")
    return largest_variance(sigma) < outcome.largest_monotone_variance


def warn_if_taylor_fails(outcome: Outcome, sigma: ArrayLike) -> None:
    """Say so when the Taylor closure is used where it is no longer increasing."""
    variance, limit = largest_variance(sigma), outcome.largest_monotone_variance
    if variance < limit:
        return
    nu_sigma, bound = outcome.sharpness * math.sqrt(variance / 2), outcome.sharpness * math.sqrt(limit / 2)
    warn(
        f"The Taylor closure is used outside its range: νσ = {nu_sigma:.4g}, but it is increasing only for "
        f'νσ < {bound:.4g}; closure="exact" has no such limit.'
    )
