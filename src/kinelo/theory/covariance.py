r"""How ratings fluctuate about their means, and how they follow strengths that move: two linear balances.

Deviations of (R, θ) from their means have covariances ``U = Cov R``, ``C = Cov(R, θ)`` and ``V·1 = Cov θ``, all taken
just before results begin to be collected. With Γ the steps, L_r and L_θ the Laplacians of ``w_ij E b'(ΔR)`` and
``w_ij E s'(Δθ)``, w_ij the share of team j among the opponents of i, and n matches of a team that count together:

* ``f C + nΓL_r C = dVΓL_θ``, f what form forgets meanwhile, ``1/φ − 1``;
* ``n(ΓL_r U + U L_rΓ) − o_rr ΓL_r U L_rΓ = F(ΓL_θC' + C L_θΓ) + nΓ Lap(Q)Γ``
  ``− Γ[o_rθ(L_r C L_θ + L_θC'L_r) − o_θθ V L_θL_θ]Γ``.

Match by match ``n = d = F = 1`` and every o is 0. In rounds strengths stand still, every pair meets once, and
``n = d = F``, ``o = n²``; what is linear in the deviations of a pair then leaves Q. In periods strengths move from
matchday to matchday, ``e^{−ω} = e``: ``F = 1 + e + … + e^{n−1}``, ``d = eF/eⁿ``, ``o_rr = n(n − 1)``,
``o_rθ = (n − 1)F``, ``o_θθ = 2Σ(n − k)e^k``, and Q is a mean over days k whose C is ``e^k C``.

A walk by s per match has no stationary V. θ are then the strengths of the day, whose variance V over the league grows
by s² per match, and m and U are mean and covariance of R given them. With the slope ``k = ΣE s'/ΣE b'`` of the ratings
that follow and r_i the rate at which gaps close, the lag has variance ``k²L``, ``L = s²/2r``, and what a
team has gained lately is part of its strength today: ``Cov(θ, R) = k(V − D)`` with ``D = 2L(1 − e^{−V/2L})``, 2L unless
the walk is younger than the memory of the ratings. So given θ ratings vary by ``k²(L − D²/V)`` and noise, and the means
solve ``Σ_j w_ij E[s − b] = k r_i D(θ_i − θ̄)/(γ_iV)``: they are always being caught up with.

Both balances are diagonal in the modes of ``Γ^½ L_r Γ^½``; a shift that keeps ``Σ R/γ`` is neither held nor excited.
Among many teams U and C are diagonal, and so are the balances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics, Form, Walk
from kinelo.model.schedule import Field, Rounds, Schedule
from kinelo.model.validation import Array
from kinelo.theory.pair_means import laplacian
from kinelo.theory.teams import Teams

FREE_SHARE = 1e-9


class Overshoot(LinAlgError):
    """Ratings that move so far at once that only more noise, which flattens b, would hold them."""


@dataclass(frozen=True)
class StrengthMotion:
    """How strengths move: the variance V of form about its mean, its rate ω, and s² of a walk, per match of a team."""

    variance: float = 0.0
    rate: float = 0.0
    walk: float = 0.0


def motion_of(dynamics: Dynamics | None) -> StrengthMotion:
    """Form, walk or rest in numbers."""
    if isinstance(dynamics, Form):
        return StrengthMotion(dynamics.spread**2, dynamics.rate)
    return StrengthMotion(walk=dynamics.step**2) if isinstance(dynamics, Walk) else StrengthMotion()


@dataclass(frozen=True)
class Batch:
    """What counts together: the numbers n, f, d, F and o_rr, o_rθ, o_θθ, those of a walk, and whether it is a round.

    ``walk`` are the coefficients of s², of ``−s²(ΓL_r + L_rΓ)`` and of ``s²ΓL_rL_rΓ``. ``kept`` is what is left of C on
    each matchday of a period, None where strengths stand still until results count; ``step`` is the time that passes
    between results and the strengths of the next matches.
    """

    matches: float
    forgotten: float
    driven: float = 1.0
    shared: float = 1.0
    overlap: tuple[float, float, float] = (0.0, 0.0, 0.0)
    walk: tuple[float, float, float] = (1.0, 0.0, 0.0)
    whole: bool = False
    kept: Array | None = None
    step: float = 0.0


def matches_together(schedule: Schedule | None, teams: int) -> int:
    """Matches of a team that count together."""
    if schedule is None or isinstance(schedule, Field):
        return 1
    return teams - 1 if isinstance(schedule, Rounds) else schedule.matches


def batch_of(schedule: Schedule | None, teams: Teams, motion: StrengthMotion) -> Batch:
    """A schedule in numbers."""
    if schedule is None or isinstance(schedule, Field):
        # One candidate match advances the league's clock by 2/N, a contest of k by k/N.
        clock = (2 if schedule is None else schedule.sides) / teams.number if teams.number else 0.0
        fine = clock * motion.rate > 1e-12
        return Batch(1.0, math.expm1(min(clock * motion.rate, 700.0)) / clock if fine else motion.rate, step=clock)
    if isinstance(schedule, Rounds):
        if teams.number is None:
            raise InputError("Rounds() needs a number of teams, which a continuum has not; give Period(matches).")
        n = float(teams.number - 1)
        return Batch(n, _forgetting(n * motion.rate), n, n, (n * n, n * n, n * n), (n, 0.0, 0.0), whole=True, step=n)
    # With an odd number of teams one rests in each matching.
    playing = 1 - 1 / teams.number if teams.number and teams.number % 2 else 1.0
    days, often, e = schedule.matches, playing**2, math.exp(-motion.rate)
    k = np.arange(1, days, dtype=np.float64)
    shared = 1 + float((e**k).sum())
    overlap = days * (days - 1), (days - 1) * shared, float(2 * ((days - k) * e**k).sum())
    walk = days, days * (days - 1) / 2 * playing, days * (days - 1) * (days - 2) / 3 * often
    driven = playing * shared * e * math.exp(min(days * motion.rate, 700.0))
    first, second, third = (often * one for one in overlap)
    forgotten = _forgetting(days * motion.rate)
    kept = e ** np.arange(days, dtype=np.float64)
    return Batch(days * playing, forgotten, driven, playing * shared, (first, second, third), walk, kept=kept, step=1.0)


def _forgetting(elapsed: float) -> float:
    return math.expm1(min(elapsed, 700.0))


@dataclass(frozen=True)
class PairSlopes:
    """Pairs as they enter the balances, weighted by w_ij: ``E b'``, ``E s'``, and the mean square Q of ``S − b``.

    ``follows`` is an addition to ``nVΓL_θ``, for strengths that learn from the matches that move ratings.
    """

    restoring: Array
    driving: Array | None
    shaking: Array
    follows: float = 0.0


class WalkLag(NamedTuple):
    """How ratings come behind strengths that walk, one entry per team.

    Attributes
    ----------
    share
        ``kD/V``: what ratings miss of a team's distance from the middle of the league.
    drift
        What the mean ``S − b`` of a team's matches is, as it is being caught up with.
    known
        ``k²D²/V``: the part of the lag's variance that strengths of the day explain.
    """

    share: Array
    drift: Array
    known: Array


def walk_lag(gamma: Array, pairs: PairSlopes, motion: StrengthMotion, batch: Batch, teams: Teams) -> WalkLag | None:
    """The lag of ratings behind a walk; None where strengths do not walk, or do not differ."""
    if not motion.walk or pairs.driving is None:
        return None
    x = teams.theta - teams.mean(teams.theta)
    V = teams.crowding * teams.mean(x * x)
    if V == 0:
        return None
    once, late, _ = batch.walk
    restoring, k = pairs.restoring.sum(axis=1), followed_slope(pairs, teams.mass)
    rate = teams.crowding * gamma * restoring
    latest = np.maximum(motion.walk * (once / rate - late) / batch.matches, 1e-300)
    D = -latest * np.expm1(-V / latest)
    drift = k * restoring * teams.crowding * D * x / V
    return WalkLag(k * D / V, drift - teams.mean(drift), k**2 * D**2 / V)


def followed_slope(pairs: PairSlopes, mass: Array | float = 1.0) -> float:
    """Slope of ratings on strengths that have been caught up with, over the whole league."""
    if pairs.driving is None:
        return 1.0
    driving, restoring = (np.sum(mass * one.sum(axis=1)) for one in (pairs.driving, pairs.restoring))
    return float(driving / restoring)


def joint_covariance(gamma: Array, pairs: PairSlopes, motion: StrengthMotion, batch: Batch) -> tuple[Array, Array]:
    """C and U of a finite league, each N × N."""
    n, V, size = batch.matches, motion.variance, gamma.size
    root, (o_rr, o_rs, o_ss) = np.sqrt(gamma), batch.overlap
    L_r = laplacian(pairs.restoring)
    rates, modes = np.linalg.eigh(root[:, None] * L_r * root)
    free = np.abs(rates) <= FREE_SHARE * np.abs(rates).max()
    if free.all() or (rates[~free] < 0).any():
        raise LinAlgError("nothing holds the ratings together")
    source = n * gamma[:, None] * laplacian(pairs.shaking) * gamma
    C = np.zeros((size, size))
    if V > 0 and pairs.driving is not None:
        L_s = laplacian(pairs.driving)
        kept = np.where(free, 0.0, batch.driven * V / (batch.forgotten + n * np.where(free, 1.0, rates)))
        C = root[:, None] * (modes @ (kept[:, None] * (modes.T @ (root[:, None] * L_s))))
        cross = batch.shared * gamma[:, None] * (L_s @ C.T)
        source += cross + cross.T
        if o_rr:
            both = o_rs * (L_r @ C @ L_s)
            source += gamma[:, None] * (o_ss * V * L_s @ L_s - both - both.T) * gamma
    if motion.walk:
        once, late, twice = batch.walk
        pull, steps = gamma[:, None] * L_r, motion.walk * followed_slope(pairs) ** 2
        source += steps * (once * np.eye(size) - late * (pull + pull.T) + twice * pull @ pull.T)
    decay = n * np.add.outer(rates, rates) - o_rr * np.multiply.outer(rates, rates)
    held = np.multiply.outer(~free, ~free)
    if (decay[held] <= 0).any():
        raise Overshoot("results that count together overshoot")
    inner = modes.T @ (source / np.multiply.outer(root, root)) @ modes
    inner = np.where(held, inner / np.where(held, decay, 1.0), 0.0)
    U = np.multiply.outer(root, root) * (modes @ inner @ modes.T)
    return C, (U + U.T) / 2


def separate_covariance(
    gamma: Array, pairs: PairSlopes, motion: StrengthMotion, batch: Batch, crowding: float
) -> tuple[Array, Array]:
    """C and U of each team among so many that their ratings are independent; ``crowding`` is N/(N − 1)."""
    n, V, (o_rr, o_rs, o_ss) = batch.matches, motion.variance, batch.overlap
    restoring, shaking = pairs.restoring.sum(axis=1), pairs.shaking.sum(axis=1)
    if (restoring <= 0).any():
        raise LinAlgError("nothing holds the ratings together")
    C, driving, pull = np.zeros(gamma.size), np.zeros(gamma.size), gamma * restoring
    if V > 0 and pairs.driving is not None:
        driving = pairs.driving.sum(axis=1)
        # Opponents give what a team takes: differences close by N/(N − 1) of what it does itself.
        C = crowding * gamma * (batch.driven * V * driving + pairs.follows) / (batch.forgotten + crowding * n * pull)
    once, late, twice = batch.walk
    source = 2 * batch.shared * gamma * driving * C + n * gamma**2 * shaking
    if motion.walk:
        steps = motion.walk * followed_slope(pairs) ** 2 / crowding
        source += steps * (once - 2 * late * pull + twice * pull**2)
    source += gamma**2 * (o_ss * V * driving**2 - 2 * o_rs * restoring * driving * C)
    decay = 2 * n * pull - o_rr * pull**2
    if (decay <= 0).any():
        raise Overshoot("results that count together overshoot")
    return C, source / decay
