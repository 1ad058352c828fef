"""Parameters of a rater by the likelihood of its one-step-ahead forecasts.

With ``ℓ_k(φ)`` the log-loss of match ``k`` forecast from the matches before it, the search minimises
``Σ ℓ_k(φ) + ½ Σ ((φ − φ₀)/s)²``. The second term is a prior around the defaults, six standard deviations ``s`` as wide
as the range of the parameter: it decides where the matches say little, as a season does, and fades among thousands.
Scores ``∂ℓ_k/∂φ`` give the gradient and, through their outer products (Berndt, Hall, Hall and Hausman), the curvature
of damped Newton steps; the inverse of the same matrix gives the standard errors. A rater that can differentiate its own
losses (``_slopes``) hands all scores over in one pass; what it leaves out is found by finite differences, one pass per
parameter. Of very many matches the latest ``FIRST_LOOK`` are searched before all of them. The first quarter of the
matches is rated but not scored, because a forecast made while nobody is known yet tells of the start, not of the
parameters. Where the order of matches within a day is not known, only those are scored whose sides have not played
before on that day: that two sides meet again may itself show who won. In a knock-out cup played on one day more than a
quarter of all matches remain, whatever its size. Where fewer than ``FEWEST_FIRST`` remain, sides meet many times a day
whatever the result, and all matches are scored.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import PRIOR_WIDTHS, Estimates, Parameter
from kinelo.forecasts.scores import log_loss
from kinelo.matches.day_order import first_of_day
from kinelo.matches.matches import Matches
from kinelo.runtime.device import usable_processors

Array = NDArray[np.float64]

WARM_UP = 0.25
DIFFERENCE = 1e-3
LONGEST_STEP = 1.0
NEGLIGIBLE_GAIN = 0.1
MOST_STEPS = 30
MOST_DAMPINGS = 8
FLAT_SHARE = 0.7
FEWEST_FIRST = 0.2
NO_BELIEFS = np.empty(0)

FIRST_LOOK = 20_000
"""Matches on which the search begins where there are many times as many: they lead near the place in a fraction."""

MANY = 4


class OutOfRange(InputError):
    """Ratings of a rater left the range of numbers: its parameters cannot be used on these matches."""


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the losses of matches: a column for each of the parameters that the rater names."""

    by: Array
    names: tuple[str, ...]


class Estimable(Protocol):
    """What the search asks of a rater; one with ``_losses`` and ``_slopes`` (matches, skipped) of its own is faster.

    Each of these is asked of all matches, and of a long table also of the latest of them alone. A subclass that says
    ``one_step_ahead`` anew is asked for that (:func:`says_anew`).
    """

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters to be estimated."""
        ...

    def _reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and take these values."""
        ...

    def one_step_ahead(self, matches: Matches) -> Forecast:
        """Forecast each match before it is used, and use it."""
        ...


def says_anew(rater: object) -> bool:
    """Whether a rater's class says ``one_step_ahead`` anew, so that ``_losses`` it has inherited are not its own.

    A rater that is fitted by other losses than those of its forecasts says so in its traits.
    """
    kinds = type(rater).__mro__
    latest, known = (
        next((k for k, kind in enumerate(kinds) if name in vars(kind)), len(kinds))
        for name in ("one_step_ahead", "_losses")
    )
    return latest < known < len(kinds) and getattr(getattr(rater, "_traits", None), "fitted_by_forecasts", True)


def estimate(
    rater: Estimable,
    matches: Matches,
    warm_up: float = WARM_UP,
    near: Mapping[str, float] | None = None,
    negligible: float = NEGLIGIBLE_GAIN,
) -> Estimates:
    """Estimate the open parameters of a rater, which is left as it was.

    The search begins ``near`` these values, where another one ended, or at the defaults, and ends where steps gain no
    more than is ``negligible``.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B"] * 200, "away": ["B", "A"] * 200, "result": [1, -1, 1, 0, -1, 0, 1, -1] * 50}
    >>> found = estimate(kn.TeamElo(step=5.0), kn.read_matches(table))
    >>> found.matches, "step" in found.values
    (300, False)
    """
    scales = Scales(rater._open_parameters())
    start = scales.start
    if near is not None:
        start = np.clip(
            scales.place({p.name: p.default for p in scales.parameters} | dict(near)), scales.low, scales.high
        )
    elif len(matches) >= MANY * FIRST_LOOK:
        start = search(_RaterCourse(rater, matches[-FIRST_LOOK:], warm_up, scales), start)[0].z
    point, score = search(_RaterCourse(rater, matches, warm_up, scales, negligible), start)
    losses = point.losses
    errors = scales.standard_errors(point.z, score.T @ score)
    moved = (point.settled and math.isfinite(point.total)) or bool((point.z != scales.start).any())
    bounds = scales.at_bounds(point.z)
    return Estimates(scales.values(point.z), errors, -float(losses.sum()), losses.size, bounds, moved)


@dataclass(frozen=True)
class SettledSlopes:
    """Slopes of losses by parameters where a search ended: ``by`` (scored, parameters) is ``T R⁻¹``, with ``R'R`` the
    ``T'T`` of slopes ``T`` and the precision of what was believed beforehand. ``scored`` says which matches counted.
    """

    by: Array
    scored: NDArray[np.bool_]


def settled_slopes(rater: Any, matches: Any) -> SettledSlopes:
    """Slopes of the losses of a rater by its open parameters at their values; those at a bound do not give way."""
    scales = Scales(rater._open_parameters())
    course = _RaterCourse(rater, matches, WARM_UP, scales)
    scored = np.zeros(len(matches), bool)
    scored[np.arange(course.skipped, len(matches))[course.scored]] = True
    if not scales.parameters:
        return SettledSlopes(np.empty((int(scored.sum()), 0)), scored)
    z = np.clip(scales.place(rater.parameters_), scales.low, scales.high)
    free = (z > scales.low) & (z < scales.high)
    slopes = course.scores(course.point(z))[:, free]
    root = np.linalg.cholesky(slopes.T @ slopes + np.diag(scales.prior_precision[free]))
    return SettledSlopes(np.linalg.solve(root, slopes.T).T.astype(np.float64, copy=False), scored)


class Scales:
    """Parameters as the search sees them: logarithms where positive, else tenths of their range, which is ``widths``
    standard deviations of the prior.
    """

    def __init__(self, parameters: tuple[Parameter, ...], widths: float = PRIOR_WIDTHS) -> None:
        self.parameters = parameters
        self.unit = np.array([1.0 if p.positive else (p.high - p.low) / 10 for p in parameters])
        self.low, self.high, self.start = (
            self.place({p.name: getattr(p, end) for p in parameters}) for end in ("low", "high", "default")
        )
        self.prior_precision = (widths / (self.high - self.low) / np.array([p.vague for p in parameters])) ** 2

    def place(self, values: Mapping[str, float]) -> Array:
        """The place of the search at which parameters have these values."""
        return np.array(
            [math.log(values[p.name]) if p.positive else values[p.name] / u for p, u in zip(self.parameters, self.unit)]
        )

    def values(self, z: Array) -> dict[str, float]:
        """The parameters by name at a place of the search."""
        return {
            p.name: min(max(math.exp(x) if p.positive else float(x * u), p.low), p.high)
            for p, x, u in zip(self.parameters, z, self.unit)
        }

    def pace(self, z: Array) -> Array:
        """How fast each value moves with its place: the step from ``∂/∂φ`` to ``∂/∂z``."""
        values = self.values(z)
        return np.array([values[p.name] if p.positive else u for p, u in zip(self.parameters, self.unit)])

    def at_bounds(self, z: Array) -> tuple[str, ...]:
        """Names of parameters at an end of their range; 0, where it is the least that makes sense, is no end."""
        stuck = (z >= self.high) | ((z <= self.low) & np.array([p.low != 0.0 for p in self.parameters], bool))
        return tuple(p.name for p, at in zip(self.parameters, stuck) if at)

    def standard_errors(self, z: Array, information: Array) -> dict[str, float]:
        """By the delta method; NaN at a bound, or where the matches add little to the prior."""
        variance = np.diag(np.linalg.inv(information + np.diag(self.prior_precision)))
        open_to_all = np.array([not p.prior_counts for p in self.parameters], bool)
        vague = open_to_all & (variance * self.prior_precision > FLAT_SHARE**2)
        stuck = (z <= self.low) | (z >= self.high)
        error = np.where(vague | stuck, np.nan, np.sqrt(variance) * self.pace(z))
        return {p.name: float(e) for p, e in zip(self.parameters, error)}


@dataclass
class Point:
    """A place of the search: losses of the matches there, the penalised total, and whether no step promises more."""

    z: Array
    losses: Array
    total: float
    settled: bool = False


class Course:
    """The losses of matches by place of the search; whoever estimates something says what they are.

    The search ends where two steps in a row gain less than ``negligible``, or where a tenth of that is in sight.
    """

    def __init__(self, scales: Scales, negligible: float = NEGLIGIBLE_GAIN) -> None:
        self.scales, self.negligible = scales, negligible

    def losses(self, z: Array) -> Array:
        """Loss of every match that is scored."""
        raise NotImplementedError

    def slopes(self, z: Array) -> Slopes | None:
        """Derivatives of the losses by parameter, as far as they are known without differences."""
        return None

    def beliefs(self, z: Array) -> Array:
        """How far parameters together are from what is believed of them beforehand, as normal deviates."""
        return NO_BELIEFS

    def point(self, z: Array) -> Point:
        """Losses at a place, and their total."""
        losses = self.losses(z)
        total = float(losses.sum()) + 0.5 * float(self.scales.prior_precision @ (z - self.scales.start) ** 2)
        total += 0.5 * float(self.beliefs(z) @ self.beliefs(z))
        return Point(z, losses, total if math.isfinite(total) else math.inf)

    def slope(self, here: Point, score: Array) -> tuple[Array, Array]:
        """Gradient and curvature of the total at a place where scores are known."""
        z, scales = here.z, self.scales
        gradient = score.sum(axis=0) + scales.prior_precision * (z - scales.start)
        curvature = score.T @ score + np.diag(scales.prior_precision)
        believed = self.beliefs(z)
        if believed.size:
            shift = self._shift(z)
            moved = np.stack([self.beliefs(there) - believed for there in z + np.diag(shift)]) / shift[:, None]
            gradient, curvature = gradient + moved @ believed, curvature + moved @ moved.T
        return gradient, curvature

    def _shift(self, z: Array) -> Array:
        """How far each parameter is moved for differences, within the bounds."""
        return np.where(z + DIFFERENCE <= self.scales.high, DIFFERENCE, -DIFFERENCE)

    def scores(self, point: Point) -> Array:
        """``∂ℓ_k/∂z_p``, by differences within the bounds where slopes are not known."""
        z, scales = point.z, self.scales
        score = np.empty((point.losses.size, z.size))
        exact = np.zeros(z.size, bool)
        slopes = self.slopes(z)
        if slopes is not None:
            place = {name: k for k, name in enumerate(slopes.names)}
            exact = np.array([p.name in place for p in scales.parameters], bool)
            score[:, exact] = slopes.by[:, [place[p.name] for p in scales.parameters if p.name in place]]
            score[:, exact] *= scales.pace(z)[exact]
        shift = self._shift(z)
        with ThreadPoolExecutor(usable_processors()) as pool:  # the kernels release the interpreter's lock
            moved = pool.map(self.losses, (z + np.diag(shift))[~exact])
            for k, losses in zip(np.flatnonzero(~exact), moved):
                score[:, k] = (losses - point.losses) / shift[k]
        # nothing is known of the slope towards where the rater leaves the range of numbers
        return score if np.isfinite(score.sum()) else np.nan_to_num(score, posinf=0.0, neginf=0.0)


class _RaterCourse(Course):
    """The losses of a rater over matches."""

    def __init__(
        self, rater: Estimable, matches: Matches, warm_up: float, scales: Scales, negligible: float = NEGLIGIBLE_GAIN
    ) -> None:
        super().__init__(scales, negligible)
        self.rater, self.matches, self.anew = rater, matches, says_anew(rater)
        self.skipped = int(warm_up * len(matches))
        self.scored: slice | NDArray[np.bool_] = slice(None)
        if matches.unordered is not None:
            self.matches = replace(matches, unordered=None)
            first = first_of_day(matches)[self.skipped :]
            self.scored = first if first.mean() >= FEWEST_FIRST else slice(None)

    def _twin(self, z: Array) -> Any:
        twin = copy.copy(self.rater)
        twin._reset(self.scales.values(z))
        return twin

    def losses(self, z: Array) -> Array:
        """Loss of every match that is scored; infinite where the rater leaves the range of numbers."""
        twin = self._twin(z)
        try:
            if hasattr(twin, "_losses") and not self.anew:
                return twin._losses(self.matches, self.skipped)[self.scored]
            said = twin.one_step_ahead(self.matches).probabilities[self.skipped :]
        except OutOfRange:
            return np.full(len(self.matches) - self.skipped, np.inf)[self.scored]
        return log_loss(said, self.matches.result[self.skipped :])[self.scored]

    def beliefs(self, z: Array) -> Array:
        """What the rater believes of its parameters together, where it does."""
        return self.rater._beliefs(self.scales.values(z)) if hasattr(self.rater, "_beliefs") else NO_BELIEFS  # type: ignore[attr-defined]

    def slopes(self, z: Array) -> Slopes | None:
        """What the rater says of them itself."""
        if self.anew or not hasattr(self.rater, "_slopes"):
            return None
        found: Slopes = self._twin(z)._slopes(self.matches, self.skipped)
        return replace(found, by=found.by[self.scored])


def search(course: Course, start: Array) -> tuple[Point, Array]:
    """Best place from ``start`` on, and the scores of the matches there."""
    point, damping, idle = course.point(start), 1e-3, 0
    score = course.scores(point)
    for _ in range(MOST_STEPS):
        there, damping = _step(course, point, score, damping)
        if there is point:
            break
        idle = idle + 1 if point.total - there.total < course.negligible else 0
        point, score = there, course.scores(there)
        if idle == 2:  # one short step may only mean strong damping
            break
    return point, score


def _step(course: Course, point: Point, score: Array, damping: float) -> tuple[Point, float]:
    """A damped Newton step within the bounds that lowers the total, or ``here`` again where none does.

    How much of the gain that was foreseen came about says how far to trust the next step.
    """
    scales = course.scales
    gradient, curvature = course.slope(point, score)
    outward = ((point.z <= scales.low) & (gradient > 0)) | ((point.z >= scales.high) & (gradient < 0))
    free = np.flatnonzero(~outward)
    inner = curvature[np.ix_(free, free)]
    point.settled = bool(gradient[free] @ np.linalg.solve(inner, gradient[free]) < 0.2 * course.negligible)
    if point.settled:
        return point, damping  # what a full step promises is not worth a pass
    harder = 2.0
    for _ in range(MOST_DAMPINGS):
        move = np.zeros_like(point.z)
        move[free] = -np.linalg.solve(inner + damping * np.diag(np.diag(inner)), gradient[free])
        z = np.clip(point.z + np.clip(move, -LONGEST_STEP, LONGEST_STEP), scales.low, scales.high)
        there, move = course.point(z), z - point.z
        gain = point.total - there.total
        if gain > 0.0:
            foreseen = -float(gradient @ move + 0.5 * move @ curvature @ move)
            kept = min(gain / foreseen, 1.0) if foreseen > 0.0 else 0.0
            return there, max(damping * max(0.2, 1.0 - (2.0 * kept - 1.0) ** 3), 1e-6)
        damping, harder = max(harder * damping, 1e-2), 2.0 * harder
    return point, damping
