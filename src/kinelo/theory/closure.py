r"""One closure for means and covariances of ratings, whatever schedule, motion and steps; one fixed point.

Strengths and ratings are taken as jointly normal. The means m solve ``Σ_j w_ij E[s(Δθ_ij) − b(ΔR_ij)] = 0``, where the
law of ΔR comes from the covariance U, and U and C solve the balances of :mod:`kinelo.theory.covariance`, whose
coefficients are means over ΔR and Δθ. In a league of up to ``WHOLE_COVARIANCE`` teams U and C are kept whole; among
more, and in a continuum, ratings are independent.

A Newton step takes means and variances together; for it a variance is taken to answer as that of independent ratings
does, and what correlations add comes with the next iteration, mixed with the last few (Anderson). Steps that are too
long for the start are reached from smaller ones.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.expectation import Closure, expected_result, expected_tie
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import Pairing
from kinelo.model.schedule import Rounds
from kinelo.model.steps import ELITE, DeviationSteps, StepRule
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.contests import ContestNoise
from kinelo.theory.covariance import (
    Overshoot,
    PairSlopes,
    StrengthMotion,
    WalkLag,
    batch_of,
    joint_covariance,
    separate_covariance,
    walk_lag,
)
from kinelo.theory.fixed_point import ATTEMPTS, GOAL, ITERATIONS, SMALL_STEP, STEP_GROWTH, Restart, fixed_point
from kinelo.theory.pair_means import WIDEST, PairMeans, Triangle, laplacian, normal_nodes
from kinelo.theory.teams import Teams, normal_only

NoiseKind = Literal["joint", "independent", "exact"]
"""How an answer was found: whole covariance, independent teams, or the exact law of two teams."""

WHOLE_COVARIANCE = 300
WHOLE_WHEN_MOVING = 100
LARGEST_CHANGE = 4.0
"""Factor by which one step changes a variance at most."""
VALUES_TOGETHER = 1 << 13
"""Values that the laws are asked for at once: few calls, and arrays that fit into the processor's cache."""
BOX_NODES, BOX_REACH = 28, 7.0
"""Nodes within a window, and standard deviations of rating noise that are looked at."""
LARGEST_SQUARE = 4.0
"""Of a result less its expectation."""
LONGEST_MEAN_STEP = 4.0
"""Longest step of a mean, in units of 1/ν."""


class State(NamedTuple):
    """Mean ratings, C and U; the latter are matrices where they are kept whole, else one number per team."""

    rating: Array
    C: Array
    U: Array

    def vector(self) -> Array:
        """All of it in one row."""
        return np.concatenate([one.ravel() for one in self])

    def reshape(self, vector: Array) -> State:
        """The state of a vector, in the shape of this one."""
        size, inner = self.rating.size, self.C.size
        C, U = vector[size : size + inner], vector[size + inner : size + 2 * inner]
        return State(vector[:size], C.reshape(self.C.shape), U.reshape(self.U.shape))


@dataclass(frozen=True)
class Solution:
    """A fixed point: its state, what is left of the drift, iterations, and the pairs that it was found with."""

    state: State
    residual: float
    iterations: int
    gamma: Array
    pairs: PairSlopes

    @property
    def variance(self) -> Array:
        """Variance of each rating."""
        return own_variance(self.state.U)

    @property
    def fluctuation(self) -> Fluctuation:
        """The ratings alone."""
        U, rating = self.state.U, self.state.rating
        if U.ndim == 2:
            return Fluctuation(rating, self.variance, U, self.residual, self.iterations, "joint")
        return Fluctuation(rating, U, None, self.residual, self.iterations, "independent")


@dataclass(frozen=True)
class Fluctuation:
    """Mean ratings, their variances, their covariance where it was kept, and how they were found."""

    rating: Array
    variance: Array
    covariance: Array | None
    residual: float
    iterations: int
    kind: NoiseKind

    def state(self, whole: bool) -> State:
        """As a start for similar equations."""
        U = self.variance if self.covariance is None else self.covariance
        if U.ndim < 1 + whole:
            U = np.diag(U)
        U = own_variance(U) if not whole else U
        return State(self.rating, np.zeros_like(U), U)


class Aim(NamedTuple):
    """A linear condition on the means, which a common factor of the steps is to meet: weights, and what is missing."""

    weights: Array
    missing: float


class SelectiveMeans(NamedTuple):
    """Of pairs that play with probability w: ``E w(s − b)``, how it falls with the gap, ``E w(S − b)²`` and ``E w``."""

    drift: Array
    slope: Array
    shake: Array
    chance: Array


@cache
def _legendre_box() -> tuple[Array, Array]:
    x, weight = np.polynomial.legendre.leggauss(BOX_NODES)
    return x, weight


def own_variance(covariance: Array) -> Array:
    """Variances of the teams from a whole covariance or from themselves."""
    return np.ascontiguousarray(np.diag(covariance)) if covariance.ndim == 2 else covariance


def most_together(system: RatingSystem, motion: StrengthMotion) -> int:
    """Teams up to which the covariance is kept whole."""
    if isinstance(system.schedule, Rounds) or isinstance(system.gamma, tuple):
        return WHOLE_COVARIANCE
    return WHOLE_COVARIANCE if motion == StrengthMotion() and system.schedule is None else WHOLE_WHEN_MOVING


class LeagueClosure:
    """The equations of one league under one system; what does not depend on γ is prepared once.

    Parameters
    ----------
    system, teams, closure, motion
        What is asked; the step size of the system is not looked at.
    whole
        Whether to keep the covariance whole. By default for leagues of up to ``WHOLE_COVARIANCE`` teams, but of
        ``WHOLE_WHEN_MOVING`` where strengths move or periods count, unless steps differ or rounds are rated:
        independent teams are then off by less than a ten-thousandth, and several times faster.
    opponents
        Weights w_ij, where teams do not meet all others equally often.
    """

    def __init__(
        self,
        system: RatingSystem,
        teams: Teams,
        closure: Closure = "exact",
        motion: StrengthMotion | None = None,
        *,
        whole: bool | None = None,
        opponents: Array | None = None,
    ) -> None:
        self.system, self.teams, self._outcome = system, teams, system.outcome
        self.motion = StrengthMotion() if motion is None else motion
        self.batch = batch_of(system.schedule, teams, self.motion)
        self.whole = teams.finite and teams.size <= most_together(system, self.motion) if whole is None else whole
        self._triangle = triangle = Triangle(teams.size, diagonal=not teams.finite)
        self.weights = equal_opponents(teams) if opponents is None else opponents
        self._form: PairMeans | None = None
        self._driving: Array | None = None
        if self.motion.variance > 0:
            normal_only(teams)
            spread = np.sqrt(2 * self.motion.variance + triangle.total(teams.sigma**2))
            self._form = PairMeans(self._outcome, triangle.gap(teams.theta), spread)
            self._mean, self._decided = self._form.mean, 1 - self._form.tie
            self._driving = triangle.matrix(self._form.slope) * self.weights
        else:
            i, j = triangle.rows, triangle.columns
            self._mean = expected_result(self._outcome, teams.strengths, closure)[i, j]
            self._decided = 1 - expected_tie(self._outcome, teams.strengths)[i, j]
            if self.motion.walk and np.ptp(teams.theta) > 0:
                normal_only(teams)
                seen = PairMeans(
                    self._outcome, triangle.gap(teams.theta), np.sqrt(triangle.total(teams.sigma**2)), products=False
                )
                self._driving = triangle.matrix(seen.slope) * self.weights
        self.target = (triangle.matrix(self._mean, -1) * self.weights).sum(axis=1)
        self._contests: ContestNoise | None = None
        if system.sides > 2:
            mean = triangle.matrix(self._mean, -1)
            self._contests = ContestNoise(system, teams, mean, self.motion, self._form, self.whole)

    def steps(self, gamma: float | Array) -> Array:
        """One step per team."""
        return np.array(np.broadcast_to(np.asarray(gamma, dtype=np.float64), self.teams.size))

    def first_guess(self, gamma: Array, rating: Array) -> State:
        """C and U as they would be if b were a straight line."""
        steepest, motion, n = self._outcome.steepest, self.motion, self.batch.matches
        follow = np.zeros(gamma.size)
        if self._form is not None and self._driving is not None:
            driving = self._driving.sum(axis=1)
            follow = (
                self.batch.driven * gamma * motion.variance * driving / (self.batch.forgotten + n * gamma * driving)
            )
        lag = motion.walk / (2 * gamma * self._outcome.steepest) if motion.walk else 0.0
        noise = follow + gamma / (2 * steepest) + lag
        return State(rating, *map(_about_mean, (follow, noise))) if self.whole else State(rating, follow, noise)

    def solve(self, gamma: float | Array, start: Array, guess: State | None = None, goal: float = GOAL) -> Solution:
        """The fixed point at a step size, or one for each team, from ratings or from a state for a similar step, to a
        relative change of ``goal``.

        Raises NoStationaryState where it is not found.
        """
        steps, constant = self.steps(gamma), self.system.pairing.constant
        if constant or guess is not None:
            with suppress(NoStationaryState):
                first = guess if guess is not None else self.first_guess(steps, start)
                return self._iterate(steps, first, ATTEMPTS if constant else ITERATIONS, goal)
        together = float(steps.max()) * self.batch.matches * self._outcome.steepest
        shares = growing_steps(1.0, together)
        try:
            solution = self._iterate(shares[0] * steps, self.first_guess(shares[0] * steps, start), ITERATIONS, goal)
            for last, share in pairwise(shares):
                # Noise grows with the step, and what overshoots at the old noise need not at the new.
                wider = solution.state._replace(U=share / last * solution.state.U)
                solution = self._iterate(share * steps, wider, ITERATIONS, goal)
        except NoStationaryState:
            raise self._unsolved_error(steps) from None
        return solution

    def _iterate(self, gamma: Array, start: State, most: int, goal: float) -> Solution:
        def look(point: Array) -> tuple[Array, float, Solution]:
            state = start.reshape(point)
            try:
                now = self.look(gamma, state)
                change = max(now.change, now.residual)
                ahead = state if change <= goal else now.newton(self.teams.mass)[0]
            except Overshoot:
                raise Restart(state._replace(U=1.2 * state.U).vector()) from None
            return ahead.vector(), change, Solution(now.implied, now.residual, 0, gamma, now.pairs)

        try:
            newton = self.system.pairing.constant
            found, iterations = fixed_point(look, start.vector(), most=most, goal=goal, newton=newton)
        except LinAlgError:
            raise self._unsolved_error(gamma) from None
        return replace(found, iterations=iterations)

    def look(self, gamma: Array, state: State) -> Look:
        """Evaluate the equations at a state."""
        triangle, weights = self._triangle, self.weights
        variance, covariance = _of_pairs(state.U, triangle), _of_pairs(state.C, triangle)
        centre, spread = triangle.gap(state.rating), np.sqrt(np.maximum(variance, 0.0))  # ΔR ~ N(centre, spread²)
        noise = None
        if self.system.pairing.constant:
            noise = PairMeans(self._outcome, centre, spread, products=bool(self._form or self._contests))
            both = self._mean * noise.mean  # E s b: strengths stand still, or follow their covariance C
            if self._form is not None:
                both = self._form.product(noise, covariance, self.batch.kept)
            follows = self._learning_term(noise, covariance, both)
            drift, slope = self._mean - noise.mean, noise.slope
            shake = self._decided - 2 * both + noise.square  # E(S − b)² = E S² − 2 E s b + E b²
            bends = (
                -noise.second, -noise.third, noise.square_first - 2 * self._mean * noise.slope,
                noise.square_second - 2 * self._mean * noise.second,
            )  # fmt: skip
        else:
            drift, slope, shake, _ = self._selective(self.system.pairing, centre, spread)
            bends, follows = None, 0.0
        if self.batch.whole:
            # What of Var(s − b) is linear in the deviations of a pair is in the balance already.
            shake = shake - drift**2 - slope**2 * variance
            if self._form is not None:
                driven = self._form.slope**2 * 2 * self.motion.variance
                shake = shake - (driven - 2 * self._form.slope * slope * covariance)
        shaking = triangle.matrix(shake) * weights
        if self._contests is not None and noise is not None and bends is not None:
            alone = shaking.sum(axis=1)
            own = own_variance(state.U), own_variance(state.C)
            shaking = self._contests.shaking(triangle.matrix(shake), noise, triangle, *own)
            # Where many meet at once the shaking answers to means and variances about as that of pairs does.
            bends = (*bends[:2], *(b * self._contests.share(alone, shaking) for b in bends[2:]))
        if shaking.sum(axis=1).min() < -LARGEST_SQUARE:
            # A mean of squares is so far below 0 only where C is much larger than strengths and ratings can share.
            raise LinAlgError("no strengths and ratings have these covariances")
        pairs = PairSlopes(triangle.matrix(slope) * weights, self._driving, shaking, follows)
        # The covariances that these slopes imply, and what is left of the balance of means.
        C, U = self._covariances(gamma, pairs, state.rating)
        drifts = (triangle.matrix(drift, -1) * weights).sum(axis=1)
        lag = self.lag(gamma, pairs)
        drifts = drifts if lag is None else drifts - lag.drift
        arriving, leaving = self.arrivals(gamma, state.rating)
        drifts = drifts + arriving
        change = float(np.abs(U - state.U).max() + np.abs(C - state.C).max()) / float(np.abs(U).max())
        residual = float(np.abs(drifts / (1 + leaving / self._outcome.steepest)).max())
        if not math.isfinite(change + residual):
            raise LinAlgError("the ratings run apart")
        signs = (-1, 1, -1, 1)
        laid_out = None if bends is None else [triangle.matrix(b, s) * weights for b, s in zip(bends, signs)]
        implied, sharpness = State(state.rating, C, U), self._outcome.sharpness
        return Look(gamma, state, implied, change, residual, drifts, pairs, laid_out, sharpness, leaving)

    def arrivals(self, gamma: Array, rating: Array) -> tuple[Array | float, Array | float]:
        """What newcomers add to the drift, and how that falls with the rating, in units of γ: nothing, here."""
        return 0.0, 0.0

    def _covariances(self, gamma: Array, pairs: PairSlopes, rating: Array) -> tuple[Array, Array]:
        if self.whole:
            C, U = joint_covariance(gamma, pairs, self.motion, self.batch)
        else:
            C, U = separate_covariance(gamma, pairs, self.motion, self.batch, self.teams.crowding)
        lag = self.lag(gamma, pairs)
        if lag is None:
            return C, U
        return C, U - (_about_mean(lag.known) if self.whole else lag.known / self.teams.crowding)

    def lag(self, gamma: Array, pairs: PairSlopes) -> WalkLag | None:
        """How ratings come behind strengths that walk."""
        return walk_lag(gamma, pairs, self.motion, self.batch, self.teams)

    def _learning_term(self, noise: PairMeans, covariance: Array, both: Array) -> float:
        """What strengths learn from the very result that moves a rating, ``γE[H(S − b)]``: nothing, here."""
        return 0.0

    def _selective(self, pairing: Pairing, centre: Array, spread: Array) -> SelectiveMeans:
        """Means where a pair plays with probability w, over the noise of its ratings."""
        if not float(spread.max()) / self._outcome.finest <= WIDEST:
            raise LinAlgError("the ratings run apart")
        total = np.zeros((5, centre.size))
        if pairing.box is None:
            soft = pairing.softened()
            sharpness = float(spread.max()) / min(self._outcome.finest, soft.finest)
            if not sharpness <= WIDEST:
                raise LinAlgError("the ratings run apart")
            nodes, shares = normal_nodes(sharpness)
            self._add(total, (centre, spread), nodes[:, None], shares[:, None], soft)
        else:
            # Cut at the edge: the mean over all, and that within the window, by Gauss and Legendre.
            c, far = pairing.box
            if far > 0:
                nodes, shares = normal_nodes(float(spread.max()) / self._outcome.finest)
                self._add(total, (centre, spread), nodes[:, None], far * shares[:, None])
            # Of most pairs beside a narrow window nothing lies within.
            near = np.flatnonzero(np.abs(centre) < c + BOX_REACH * spread)
            middle, reach = centre[near], np.maximum(spread[near], 1e-300)
            low, high = (np.clip((edge - middle) / reach, -BOX_REACH, BOX_REACH) for edge in (-c, c))
            x, weight = _legendre_box()
            nodes = (low + high) / 2 + (high - low) / 2 * x[:, None]
            shares = weight[:, None] * (high - low) / 2 * np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi)
            inside = np.zeros((5, near.size))
            self._add(inside, (middle, spread[near]), nodes, (1 - far) * shares)
            total[:, near] += inside
        per = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        w, tilt, b, b_tilt, square = total
        drift, shake = self._mean * w - b, self._decided * w - 2 * self._mean * b + square
        return SelectiveMeans(drift, (b_tilt - self._mean * tilt) * per, shake, w)

    def _add(
        self,
        total: Array,
        pairs: tuple[Array, Array],
        nodes: Array,
        shares: Array,
        pairing: Pairing | None = None,
    ) -> None:
        """Add sums over standard nodes ξ of w, wξ, wb, wbξ and wb², a few nodes at a time."""
        centre, spread = pairs
        together = max(1, VALUES_TOGETHER // max(1, centre.size))
        for first in range(0, len(nodes), together):
            node, share = nodes[first : first + together], shares[first : first + together]
            z = centre + node * spread
            b = self._outcome.b(z)
            if pairing is None and share.shape[1] == 1:
                # The same for all pairs: sums over nodes are products of matrices.
                both = np.concatenate([share, share * node], axis=1).T
                total[:2] += both.sum(axis=1, keepdims=True)
                total[2:4] += both @ b
                total[4] += (share.T @ b**2)[0]
                continue
            w = share if pairing is None else pairing.w(z) * share
            wb = w * b
            rows = (w, w * node, wb, wb * node, wb * b)
            for row, values in zip(total, rows):
                row += np.broadcast_to(values, z.shape).sum(axis=0)

    def meetings(self, rating: Array, U: Array) -> tuple[Array, Array]:
        """Of every pair with ratings of such means and covariance: how strongly it is drawn together, ``E[wb' −
        w'(s − b)]``, and how often it meets, ``E w``.
        """
        triangle, pairing = self._triangle, self.system.pairing
        centre, spread = triangle.gap(rating), np.sqrt(np.maximum(_of_pairs(U, triangle), 0.0))
        if pairing.constant:
            slope = PairMeans(self._outcome, centre, spread, products=False).slope
            return triangle.matrix(slope), triangle.matrix(pairing.w(centre))
        found = self._selective(pairing, centre, spread)
        return triangle.matrix(found.slope), triangle.matrix(found.chance)

    def luck(self, rating: Array) -> tuple[Array, Array]:
        """By how much a match of two, and a contest, shakes each rating, ratings at rest."""
        assert self._contests is not None
        triangle, still = self._triangle, np.zeros(self.teams.size)
        noise = PairMeans(self._outcome, triangle.gap(rating), triangle.total(still))
        shake = triangle.matrix(self._decided - 2 * self._mean * noise.mean + noise.square)
        shaking = self._contests.shaking(shake, noise, triangle, still, still)
        return (shake * self.weights).sum(axis=1), shaking.sum(axis=1)

    def without_luck(self, found: Solution) -> State:
        """C and U if results equalled their expectation, all else as found: what is left is lag and bias."""
        quiet = PairSlopes(found.pairs.restoring, found.pairs.driving, 0 * found.pairs.shaking)
        return State(found.state.rating, *self._covariances(found.gamma, quiet, found.state.rating))

    def _unsolved_error(self, gamma: Array) -> NoStationaryState:
        most = float(gamma.max())
        if not self.system.pairing.constant:
            return NoStationaryState(
                f"The rating noise at gamma = {most:g} leaves no stable mean ratings near this start; "
                "a smaller gamma or a wider pairing has them."
            )
        if self.batch.overlap[0] and most * self.batch.matches * self._outcome.steepest > 1:
            return NoStationaryState(
                f"Results of {self.batch.matches:g} matches of a team that count together with gamma = {most:g} "
                "overshoot; take a smaller gamma."
            )
        return unsolved_error(self._outcome, most)


def unsolved_error(outcome: Outcome, gamma: float) -> NoStationaryState:
    """The error for equations of rating noise that were not solved."""
    return NoStationaryState(
        f"The equations for the rating noise were not solved at gamma = {gamma:g}: with nu = {outcome.sharpness:g} "
        "ratings fluctuate too widely for them; take a smaller gamma, or simulate."
    )


def growing_steps(step: float, steepest: float) -> list[float]:
    """Steps from one that is small beside ``1/steepest`` to the one asked for."""
    steps = [step]
    while steps[0] * steepest > SMALL_STEP:
        steps.insert(0, steps[0] / STEP_GROWTH)
    return steps


def _about_mean(variance: Array) -> Array:
    """Covariance of independent deviations less their mean."""
    size = variance.size
    rows = np.diag(variance) - variance / size
    return rows - rows.mean(axis=0)


def _of_pairs(covariance: Array, triangle: Triangle) -> Array:
    """Variances of differences from U, or covariances of differences from C."""
    i, j = triangle.rows, triangle.columns
    if covariance.ndim == 1:
        return covariance[i] + covariance[j]
    own = np.diag(covariance)
    return own[i] + own[j] - covariance[i, j] - covariance[j, i]


@dataclass(frozen=True)
class Look:
    """What is known at a state: C and U that the balances give, their distance, the drift, and how all of it moves."""

    gamma: Array
    state: State
    implied: State
    change: float
    residual: float
    drift: Array
    pairs: PairSlopes
    bends: list[Array] | None
    sharpness: float
    leaving: Array | float = 0.0

    def newton(self, mass: Array, aim: Aim | None = None) -> tuple[State, float]:
        """The next state, by a Newton step for means and variances (for the means alone where w varies), and the
        relative change of the steps where they have an aim.
        """
        pairs, state, n = self.pairs, self.state, mass.size
        held = pairs.restoring.sum(axis=1)
        # A shift of all means changes nothing; it is held at 0.
        stiffness = laplacian(pairs.restoring) + held.max() * mass
        stiffness.flat[:: n + 1] += self.leaving
        if self.bends is None:
            return State(state.rating + np.linalg.solve(stiffness, self.drift), *self.implied[1:]), 0.0
        variance, implied = own_variance(state.U), own_variance(self.implied.U)
        # Departures take variance along, half as fast as they do the square of a mean.
        held = held + self.leaving / 2
        luck, following = self._shares(held, implied)
        second, third, first, bend = self.bends
        shaken = pairs.shaking.sum(axis=1)
        by_shake = np.divide(luck * implied, shaken, out=np.zeros(n), where=shaken > 0)[:, None]
        by_slope = (following * implied / held)[:, None]
        unknowns = 2 * n + (aim is not None)
        matrix, right = np.zeros((unknowns, unknowns)), np.zeros(unknowns)
        matrix[:n, :n], matrix[:n, n : 2 * n] = stiffness, -_widening(second)
        matrix[n : 2 * n, :n] = -(by_shake * laplacian(first) + by_slope * laplacian(second))
        matrix[n : 2 * n, n : 2 * n] = np.eye(n) - by_shake * _widening(bend) - by_slope * _widening(third)
        right[:n], right[n : 2 * n] = self.drift, implied - variance
        if aim is not None:
            matrix[n : 2 * n, -1], matrix[-1, :n], right[-1] = -implied, aim.weights, aim.missing
        move: Array = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
        if not np.isfinite(move).all():
            raise LinAlgError("no step leads nearer")
        wider = np.sqrt(np.clip((variance + move[n : 2 * n]) / implied, 1 / LARGEST_CHANGE, LARGEST_CHANGE))
        scale = np.multiply.outer(wider, wider) if state.U.ndim == 2 else wider**2
        longest = float(np.abs(move[:n]).max()) * self.sharpness
        step = move[:n] * min(1.0, LONGEST_MEAN_STEP / longest) if longest > 0 else move[:n]
        ahead = State(state.rating + step, self.implied.C, self.implied.U * scale)
        return ahead, 0.0 if aim is None else float(move[-1])

    def _shares(self, held: Array, implied: Array) -> tuple[Array, Array]:
        """How a variance answers to the shaking and to the slopes: of pure noise once each."""
        noise = self.gamma * self.pairs.shaking.sum(axis=1) / (2 * held * implied)
        luck = np.clip(noise, 0.0, 1.0)
        return luck, 2 - luck


def _widening(pairs: Array) -> Array:
    """Matrix of ``h → ½ Σ_j pairs_ij (h_i + h_j)``: the variance of a difference is the sum of two."""
    matrix = pairs / 2
    matrix.flat[:: len(pairs) + 1] += pairs.sum(axis=1) / 2
    return matrix


def settled_steps(system: RatingSystem, theta: Array) -> float | Array:
    """Steps of teams that have played for long: one for all, or one each; rules are asked at their strengths."""
    rule = system.gamma
    if isinstance(rule, float):
        return rule
    if isinstance(rule, DeviationSteps):
        raise InputError(f"The steps of {rule!r} follow from its deviations: kn.theory.settled_deviations finds both.")
    if isinstance(rule, StepRule):
        each = rule.at(theta, np.full(theta.size, 10**9), theta >= ELITE)
        return float(each[0]) if np.ptp(each) <= 1e-6 * each.max() else each
    return system.gammas(theta.size)


def equal_opponents(teams: Teams) -> Array:
    """Weights w_ij of the opponents (columns) of each team."""
    weights = np.broadcast_to(teams.mass * teams.crowding, (teams.size, teams.size)).copy()
    if teams.number is not None:
        # No team meets itself.
        own = np.diag_indices(teams.size)
        weights[own] = np.maximum(weights[own] - teams.crowding / teams.number, 0.0)
    return weights
