r"""Find the positions m at which every team scores what it should: ``Σ_j μ_j E b(m_i − m_j + noise) = t_i``.

With noise of variance ``v_i + v_j`` this is one problem for three questions: the stationary map (v = 0, t from the
strengths), the same with rating noise (v of the ratings), and strengths from ratings (v = σ², t from the ratings).
The left side is the gradient of a convex functional; Newton's method with a line search finds its minimum.

A balance exists iff ``Σ_{i∈S, j∉S} μ_i μ_j (1 − s_ij) > 0`` for every proper subset S. Since s is antisymmetric,
results inside S cancel, and the sum is ``μ(S) (1 − μ(S)) − Σ_{i∈S} μ_i t_i``. For a given mass the worst S therefore
holds the teams with the largest t: one sort decides all 2^N conditions, for any closure. Where b stays below a supremum
other than 1, that takes the place of 1.

Sums over all pairs of teams take O(N Q) where every function of a rating difference is a sum of Q waves. With
``φ_j(u) = e^{iu x_j − u² v_j / 2}`` for a rating of mean x and variance v,
``Σ_j c_j E b(Δ_ij) = Im Σ_q W_q φ_i(u_q) C̄_q`` with ``C_q = Σ_j c_j φ_j(u_q)``, and b' replaces W by uW and Im by Re.
The nodes are equidistant, so each wave is the last one times a fixed factor: no exponentials, memory O(N).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kinelo.errors import NoStationaryState
from kinelo.model.outcome import Davidson, Outcome, Tanh
from kinelo.model.spectrum import SpectralNodes
from kinelo.model.strength import Complex, normal_waves
from kinelo.model.validation import Array
from kinelo.theory.fixed_point import GOAL, ROUNDING_FLOOR
from kinelo.theory.pair_means import laplacian

WAVE_BLOCK = 8192


def wave_nodes(outcome: Outcome, span: float, spread: float = 0.0) -> SpectralNodes:
    """Nodes for differences up to ``span`` with normal parts of at most ``spread`` each."""
    return outcome.spectrum(span + 12.2 * spread)


class Waves:
    """The waves of teams at ``positions`` with ``variances`` (None for none)."""

    def __init__(self, positions: Array, variances: Array | None, nodes: SpectralNodes) -> None:
        self.nodes, self.u, self.step = nodes, nodes.u, nodes.step
        self.centre = float(positions.max() + positions.min()) / 2
        self._positions = positions - self.centre
        self._variances = variances

    def _blocks(self) -> Iterator[tuple[slice, Complex, Complex, Array | None]]:
        for first in range(0, self._positions.size, WAVE_BLOCK):
            part = slice(first, first + WAVE_BLOCK)
            turn = np.exp(1j * self.step * self._positions[part])
            wave = np.exp(0.5j * self.step * self._positions[part])
            if self._variances is None:
                yield part, wave, turn, None
                continue
            damping = np.exp(-(self.step**2) * self._variances[part])
            wave *= np.exp(-(self.step**2) * self._variances[part] / 8)
            turn *= damping
            yield part, wave, turn, damping

    def sums(self, coefficients: Array) -> Complex:
        """``C_q = Σ_j c_j φ_j(u_q)`` for each row of coefficients."""
        total = np.zeros((len(coefficients), self.u.size), dtype=np.complex128)
        for part, wave, turn, damping in self._blocks():
            rows = coefficients[:, part]
            for q in range(self.u.size):
                total[:, q] += rows @ wave.real + 1j * (rows @ wave.imag)
                wave *= turn
                if damping is not None:
                    turn *= damping
        return total

    def values(self, amplitudes: Complex) -> Complex:
        """``Σ_q φ_i(u_q) Ā_q`` for each row of amplitudes."""
        total = np.zeros((len(amplitudes), self._positions.size), dtype=np.complex128)
        conjugate = amplitudes.conj()
        for part, wave, turn, damping in self._blocks():
            for q in range(self.u.size):
                for row, amplitude in zip(total, conjugate[:, q]):
                    row[part] += amplitude * wave
                wave *= turn
                if damping is not None:
                    turn *= damping
        return total


MOST_NEWTON_STEPS = 100
INNER = 400
NO_SLACK = 1e-14


class Pull(Protocol):
    """The left side of the balance at given positions, and Newton's step against an imbalance."""

    def scores(self, positions: Array) -> Array:
        """``Σ_j μ_j E b(m_i − m_j + noise)``."""
        ...

    def step(self, positions: Array, imbalance: Array) -> Array:
        """Solve ``Σ_j μ_j E b'(m_i − m_j + noise) (h_i − h_j) = imbalance_i`` with mean zero."""
        ...


class _PullOfTeams:
    """What both ways of summing over teams hold: masses, and variances unless all are 0."""

    def __init__(self, outcome: Outcome, mass: Array, variances: Array | None = None) -> None:
        self._outcome, self._mass = outcome, mass
        self._variances = variances if variances is not None and variances.any() else None


class DensePull(_PullOfTeams):
    """All pairs as matrices; Newton's step by Cholesky factorisation."""

    def scores(self, positions: Array) -> Array:
        """See :class:`Pull`."""
        return expected_b(self._outcome, positions, self._variances) @ self._mass

    def step(self, positions: Array, imbalance: Array) -> Array:
        """See :class:`Pull`."""
        stiffness = expected_slope(self._outcome, positions, self._variances)
        stiffness *= -np.multiply.outer(self._mass, self._mass)
        diagonal = -stiffness.sum(axis=1)
        # The mean is free; a rank-one term ties it down without touching the solution.
        stiffness += np.multiply.outer(self._mass, self._mass) * diagonal.sum()
        stiffness[np.diag_indices_from(stiffness)] += diagonal
        return cho_solve(cho_factor(stiffness, overwrite_a=True), self._mass * imbalance)


class WavePull(_PullOfTeams):
    """Sums over waves, memory O(N); Newton's step by preconditioned conjugate gradients."""

    def _waves(self, positions: Array) -> Waves:
        spread = 0.0 if self._variances is None else float(np.sqrt(self._variances.max()))
        return Waves(positions, self._variances, wave_nodes(self._outcome, float(np.ptp(positions)), spread))

    def scores(self, positions: Array) -> Array:
        """See :class:`Pull`."""
        waves = self._waves(positions)
        return waves.values(waves.sums(self._mass[None]) * waves.nodes.sine)[0].imag

    def smoothing(self, positions: Array) -> Callable[[Array], Array]:
        """Return the map ``h → Σ_j μ_j E b'(m_i − m_j + noise) h_j``."""
        waves = self._waves(positions)
        cosine = waves.nodes.sine * waves.u
        return lambda h: waves.values(waves.sums((self._mass * h)[None]) * cosine)[0].real

    def step(self, positions: Array, imbalance: Array) -> Array:
        """See :class:`Pull`."""
        smooth, mass = self.smoothing(positions), self._mass
        diagonal = smooth(np.ones_like(positions))
        accuracy = min(1e-2, max(float(np.abs(imbalance).max()), 1e-9))
        return conjugate_gradients(lambda h: diagonal * h - smooth(h), imbalance, diagonal, mass, accuracy)


def conjugate_gradients(
    apply: Callable[[Array], Array], right: Array, diagonal: Array, mass: Array, accuracy: float
) -> Array:
    """Solve ``L h = right`` with mean zero, L self-adjoint in the masses, preconditioned by its diagonal."""
    solution, rest = np.zeros_like(right), right - mass @ right
    ready = rest / diagonal
    direction, size = ready.copy(), float(mass * rest @ ready)
    goal = size * accuracy**2
    for _ in range(INNER):
        if size <= goal:
            break
        image = apply(direction)
        length = size / float(mass * direction @ image)
        solution += length * direction
        rest -= length * image
        ready = rest / diagonal
        size, last = float(mass * rest @ ready), size
        direction *= size / last
        direction += ready
    return solution - mass @ solution


def expected_b(outcome: Outcome, positions: Array, variances: Array | None) -> Array:
    """Matrix of ``E b(m_i − m_j + noise)``."""
    if variances is None:
        return outcome.b(positions[:, None] - positions[None, :])
    nodes, phi = _nodes(outcome, positions, variances)
    half = (phi.imag * nodes.sine) @ phi.real.T
    return half - half.T


def expected_slope(outcome: Outcome, positions: Array, variances: Array | None) -> Array:
    """Matrix of ``E b'(m_i − m_j + noise)``."""
    if variances is None:
        return outcome.b_prime(positions[:, None] - positions[None, :])
    nodes, phi = _nodes(outcome, positions, variances)
    weight = nodes.sine * nodes.u
    return (phi.real * weight) @ phi.real.T + (phi.imag * weight) @ phi.imag.T


def _nodes(outcome: Outcome, positions: Array, variances: Array) -> tuple[SpectralNodes, Complex]:
    reach = 12.2 * float(np.sqrt(variances.max()))
    nodes = outcome.spectrum(float(np.ptp(positions)) + reach, float(np.sqrt(variances.min())))
    centre = float(positions.max() + positions.min()) / 2
    return nodes, normal_waves(positions - centre, variances, nodes.u)


@dataclass(frozen=True)
class Balance:
    """Positions found, the largest remaining imbalance, and the number of Newton steps.

    ``growth`` is the growth rate of the fastest growing disturbance; None where convexity makes the balance stable.
    """

    positions: Array
    residual: float
    iterations: int
    growth: float | None = None


def missing(outcome: Outcome, z: Array) -> Array:
    """``sup b − b(z)``, for laws known in closed form to all its digits however small it is."""
    if type(outcome) is Tanh:
        return 2 / (1 + np.exp(np.minimum(2 * outcome.nu * z, 700.0)))
    if type(outcome) is Davidson:
        t = np.exp(-np.abs(outcome.nu * z))
        rest = (outcome.kappa + 2 * t) * t / (1 + outcome.kappa * t + t * t)
        return np.where(z >= 0, rest, 2 - rest)
    return outcome.missing(z)


def far_balance(outcome: Outcome, mass: Array, uncertain: Array, start: Array) -> Balance | None:
    """The balance of teams so far apart that the rest to a certain win decides: found from these rests, in which
    nothing cancels. ``uncertain[i, j]`` is ``sup b − s_ij``, teams sorted from the strongest down, above the diagonal.
    None where Newton's method does not settle.
    """
    rows, columns = np.triu_indices(mass.size, 1)
    weight, rests = mass[rows] * mass[columns], uncertain[rows, columns]
    positions = start - float(mass @ start)
    for iteration in range(MOST_NEWTON_STEPS):
        gap = positions[rows] - positions[columns]
        expected, slope = missing(outcome, gap), weight * outcome.b_prime(gap)
        push, size = weight * (expected - rests), weight * np.maximum(expected, rests)
        force, scale, stiffness = np.zeros(mass.size), np.zeros(mass.size), np.zeros((mass.size, mass.size))
        np.add.at(force, rows, push)
        np.add.at(force, columns, -push)
        np.add.at(scale, rows, size)
        np.add.at(scale, columns, size)
        stiffness[rows, columns] = stiffness[columns, rows] = -slope
        diagonal = -stiffness.sum(axis=1)
        if not (diagonal > 0).all():
            return None
        root = np.sqrt(diagonal)
        stiffness = stiffness / np.multiply.outer(root, root) + np.eye(mass.size) + np.multiply.outer(root, root)
        step = np.linalg.solve(stiffness, force / root) / root
        longest = float(np.abs(step).max()) * outcome.sharpness
        if longest <= 1e-11 or float((np.abs(force) / scale).max()) <= ROUNDING_FLOOR:
            return Balance(positions + float(mass @ start), float(np.abs(force / mass).max()), iteration)
        positions = positions + step * min(1.0, 0.5 / longest)
        positions -= float(mass @ positions)
    return None


def find_balance(pull: Pull, target: Array, start: Array, mass: Array) -> Balance:
    """Newton's method with a line search on the slope along the step, which convexity makes safe.

    Far from the minimum b can be so flat that a start says nothing. Equal positions, where b is steepest, then lead
    there, and the mean of the start is kept.
    """
    try:
        return _descent(pull, target, np.array(start, dtype=np.float64), mass)
    except NoStationaryState:
        return _descent(pull, target, np.full(mass.size, float(mass @ start)), mass)


def _descent(pull: Pull, target: Array, positions: Array, mass: Array) -> Balance:
    imbalance = target - pull.scores(positions)
    for iteration in range(MOST_NEWTON_STEPS):
        residual = float(np.abs(imbalance).max())
        if residual <= ROUNDING_FLOOR:
            return Balance(positions, residual, iteration)
        try:
            step = pull.step(positions, imbalance)
        except LinAlgError:
            break
        slope, length = abs(float(mass * imbalance @ step)), 1.0
        while True:  # halve the step until it leads nearer, or levels the slope along it
            trial = positions + length * step
            rest = target - pull.scores(trial)
            nearer = np.abs(rest).max() < residual
            if nearer or abs(float(mass * rest @ step)) <= 0.9 * slope or length < 1e-12:
                break
            length /= 2
        if not nearer and residual <= GOAL:
            return Balance(positions, residual, iteration)
        positions, imbalance = trial, rest
    residual = float(np.abs(imbalance).max())
    if not residual <= GOAL:
        raise NoStationaryState(
            f"No balance was found: after {MOST_NEWTON_STEPS} Newton steps the ratings still drift by {residual:.3g} "
            "per match; the ratings lie so far apart that results no longer depend on them."
        )
    return Balance(positions, residual, MOST_NEWTON_STEPS)


def runaway_group(mean_result: Array, mass: Array, supremum: float = 1.0) -> NDArray[np.intp] | None:
    """Teams that score at least as much against the rest as infinitely high ratings would explain, or None.

    >>> runaway_group(np.array([0.5, -0.5]), np.array([0.5, 0.5]))  # the first team always wins
    array([0])
    >>> runaway_group(np.array([0.4, -0.4]), np.array([0.5, 0.5])) is None
    True
    """
    order = np.argsort(-mean_result, kind="stable")
    above = np.cumsum(mass[order])[:-1]
    below = 1 - above
    score = np.cumsum((mass * mean_result)[order])[:-1]
    slack = supremum - score / (above * below)
    worst = int(np.argmin(slack))
    return None if slack[worst] > NO_SLACK else np.sort(order[: worst + 1])


def balance_pairs(outcome: Outcome, s: Array, weight: Array, start: Array) -> Array:
    """Ratings of mean 0 at which nobody drifts, ``Σ_j w_ij (s_ij − b(R_i − R_j)) = 0``, for any symmetric weights.

    Newton's method, with steps that bring the drift down.
    """
    rating, scale = start - start.mean(), weight.sum(axis=1).max()
    drift = _pairs_drift(outcome, s, weight, rating)
    for _ in range(MOST_NEWTON_STEPS):
        size = float(np.abs(drift).max()) / scale
        if size <= 1e-13:
            break
        gap = rating[:, None] - rating[None, :]
        stiffness = laplacian(weight * outcome.b_prime(gap))
        step = np.linalg.solve(stiffness + stiffness.trace() / rating.size**2, drift)
        share = min(1.0, 2.0 / (float(np.abs(step).max()) * outcome.sharpness + 1e-300))
        trial = _pairs_drift(outcome, s, weight, rating + share * step)
        while float(np.abs(trial).max()) / scale > size and share > 1e-9:
            share /= 2
            trial = _pairs_drift(outcome, s, weight, rating + share * step)
        if float(np.abs(trial).max()) / scale >= size:
            break
        rating, drift = rating + share * step, trial
    if float(np.abs(drift).max()) / scale > 1e-8:
        raise NoStationaryState("No ratings balance these results: some teams win more than any ratings can explain.")
    return rating - rating.mean()


def _pairs_drift(outcome: Outcome, s: Array, weight: Array, rating: Array) -> Array:
    return (weight * (s - outcome.b(rating[:, None] - rating[None, :]))).sum(axis=1)
