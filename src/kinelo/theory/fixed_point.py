"""Fixed points x = g(x), all found in one way: damped steps from afar, Anderson's mixing of the last few once near.

The tolerances here are those of all solvers of this package.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import numpy as np

from kinelo.errors import NoStationaryState
from kinelo.model.validation import Array
from kinelo.runtime.blas import one_blas_thread

GOAL = 1e-12
"""Relative change, or what is left of an equation, at which it counts as solved."""
ROUNDING_FLOOR = 1e-13
"""Below this there is nothing but rounding to be gained."""
ACCEPTED_RESIDUAL = 1e-8
"""What is accepted of equations whose own rounding keeps them from ``GOAL``."""
ITERATIONS = 200
ATTEMPTS = 40
"""Iterations of a quick way before a slow one is tried."""
SMALL_STEP = 0.2
"""γ sup b' at which a solution is found from any start."""
STEP_GROWTH = 1.4
"""Factor by which steps grow on the way from there."""

NEAR_SOLUTION = 0.1
LEAST_STEP_SHARE = 0.1
FEW_TEAMS = 1000

Answer = TypeVar("Answer")


class Restart(Exception):
    """Raised by what is iterated to go on from another point, past steps forgotten."""

    def __init__(self, point: Array) -> None:
        super().__init__("go on from another point")
        self.point = point


def fixed_point(
    look: Callable[[Array], tuple[Array, float, Answer]],
    point: Array,
    *,
    most: int = ITERATIONS,
    goal: float = GOAL,
    accepted: float | None = None,
    newton: bool = False,
) -> tuple[Answer, int]:
    """What ``look`` answers at its fixed point, and the number of iterations.

    Parameters
    ----------
    look
        From a point to its image, the relative change between them, and an answer.
    point
        Where to start.
    goal
        Change at which to stop.
    most, accepted
        Iterations at most, and the change that is accepted after them, by default the goal.
    newton
        Whether images are Newton steps: past ones then count from the first.
    """
    mixing, change = Mixing(always=newton), math.inf
    for iteration in range(1, most + 1):
        try:
            image, change, answer = look(point)
        except Restart as restart:
            mixing, point = Mixing(always=newton), restart.point
            continue
        if change <= (goal if iteration < most or accepted is None else accepted):
            return answer, iteration
        point = mixing.propose(point, image, change)
    raise NoStationaryState(f"An iteration did not settle: after {most} steps it still changes by {change:.2g}.")


class Mixing:
    """Proposes the next point of an iteration x → g(x) from the last ``depth`` points and their images."""

    def __init__(self, depth: int = 5, *, always: bool) -> None:
        self._depth, self._always = depth, always
        self._share, self._last = 1.0, math.inf
        self._before: tuple[Array, Array] | None = None
        self._moves: list[Array] = []
        self._changes: list[Array] = []

    def propose(self, point: Array, image: Array, change: float) -> Array:
        """The next point, given the relative change from ``point`` to its image."""
        change = min(change, NEAR_SOLUTION) if self._always else change
        if change > self._last:
            self._share = max(0.6 * self._share, LEAST_STEP_SHARE)
        self._last = change
        step = image - point
        if change > NEAR_SOLUTION:
            self._before = None
            self._moves.clear()
            self._changes.clear()
            return point + self._share * step
        if self._before is not None:
            self._moves.append(point - self._before[0])
            self._changes.append(step - self._before[1])
            del self._moves[: -self._depth], self._changes[: -self._depth]
        self._before = point, step
        if not self._moves:
            return image
        # The combination of past images whose steps cancel best: of the vectors themselves, because products of steps
        # that are hardly more than rounding settle nothing.
        changes = np.array(self._changes)
        weights = np.linalg.lstsq(changes.T, step, rcond=1e-10)[0]
        return image - weights @ changes - weights @ np.array(self._moves)


def few_threads(teams: int) -> AbstractContextManager[object]:
    """Use one thread of linear algebra inside this block unless the league is large.

    Small matrices gain nothing from threads, and threads that wait for one another lose everything on a busy machine.
    """
    return one_blas_thread() if teams <= FEW_TEAMS else nullcontext()
