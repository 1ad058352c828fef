"""What the running league itself shows: the slope of its ratings on strengths and the luck in them, with honest errors.

Every snapshot of the ratings gives one slope and one scatter. Successive snapshots are alike, so the standard error of
their average counts how many of them are worth an independent one: the integrated autocorrelation time (Geyer's initial
monotone sequence), which a short record underestimates, or the time in which the league's own ratings forget a slope,
whichever is longer. The first half of the time played is left out, because ratings are on their way there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array

MOST_SNAPSHOTS = 1024
ENOUGH_SNAPSHOTS = 4.0
"""Independent snapshots from which an average is trusted."""
LEAST_SNAPSHOTS = 20
"""Snapshots below which nothing is averaged."""
SAME_ERRORS = 3.0
"""Two halves of a record within this many standard errors show no drift."""
OUTGROWN = 1.2
"""Growth of the variance of strengths from which a walk has left the league that theory was asked about."""
BEND = 3
"""Ratings are compared with a polynomial of this degree in strength, so that a bent line does not count as luck."""


@dataclass(frozen=True)
class Measured:
    """An average over snapshots, its standard error, and how many independent snapshots it is worth."""

    value: float
    error: float
    independent: float
    steady: bool

    def z_score(self, other: float) -> float:
        """How many standard errors this lies above another number."""
        return (self.value - other) / self.error if self.error > 0 else math.copysign(math.inf, self.value - other)


@dataclass(frozen=True)
class Evidence:
    """Slope and luck of the league on screen, after so many matches of each team.

    Luck is the standard deviation of ratings around the league's own line; where strengths move, it is the error of
    ratings as estimates of present strength, and ``outgrown`` says whether strengths have spread beyond what theory
    was asked about.
    """

    slope: Measured
    luck: Measured
    matches: float
    outgrown: bool = False

    @property
    def settled(self) -> bool:
        """Whether the league has come to rest for long enough to be averaged."""
        return all(one.steady and one.independent >= ENOUGH_SNAPSHOTS for one in (self.slope, self.luck))


class _Snapshots:
    """Numbers of one league at many moments, thinned as it plays on, so that a long run is no larger than a short one.

    Times are in drawn pairs per team.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []
        self._every, self._next = 1.0, 0.0

    def _keep(self, time: float, *numbers: float) -> None:
        self._rows.append((time, *numbers))
        if len(self._rows) >= MOST_SNAPSHOTS:
            self._rows = self._rows[::2]
            self._every *= 2
        self._next = time + self._every

    def _late(self) -> tuple[Array, float] | None:
        """Rows of the later half of the time and the time between two of them; None while they are few."""
        rows = np.array(self._rows)
        late = rows[rows[:, 0] > rows[-1, 0] / 2] if len(rows) else rows
        if len(late) < LEAST_SNAPSHOTS:
            return None
        return late, (late[-1, 0] - late[0, 0]) / (len(late) - 1)


class LeagueRecord(_Snapshots):
    """Snapshots of a league whose strengths are at rest; ``step`` is the typical step of a rating."""

    def __init__(self, theta: Array, system: RatingSystem, step: float | None = None) -> None:
        super().__init__()
        self._centred, self._system = theta - theta.mean(), system
        self._step = system.step if step is None else step
        self._slope = self._centred / (self._centred @ self._centred)
        powers = np.vander(self._centred / np.abs(self._centred).max(), min(BEND, theta.size - 2) + 1)
        self._bend, _ = np.linalg.qr(powers)
        self._free = theta.size - powers.shape[1]
        self._rating = theta

    def add(self, time: float, rating: Array, strength: Array | None = None) -> None:
        """Take a snapshot, if enough has been played since the last."""
        if time < self._next:
            return
        rest = rating - self._bend @ (self._bend.T @ rating)
        self._rating = rating
        self._keep(time, float(self._slope @ rating), math.sqrt(float(rest @ rest) / self._free))

    def evidence(self, matches: float) -> Evidence | None:
        """The averages over the later half of the time, of teams that have played so many matches each.

        None before there are a few snapshots of it.
        """
        if (found := self._late()) is None:
            return None
        late, spacing = found
        slope_memory, rating_memory = self.memory(self._rating)
        luck = late[:, 2].mean()
        # How far one snapshot of independent ratings strays, where the record is too short to show it.
        slope_spread, luck_spread = luck * np.linalg.norm(self._slope), luck / math.sqrt(2 * self._free)
        return Evidence(
            averaged(late[:, 1], 2 * slope_memory / spacing, float(slope_spread)),
            averaged(late[:, 2], rating_memory / spacing, luck_spread),  # squares forget twice as fast
            matches,
        )

    def memory(self, rating: Array) -> tuple[float, float]:
        """Pairs per team in which ratings forget: a slope added to all of them, and what is added to one alone."""
        gaps = rating[:, None] - rating[None, :]
        pull = self._step / (rating.size - 1) * self._system.outcome.b_prime(gaps) * self._system.pairing.w(gaps)
        squares = (self._centred[:, None] - self._centred[None, :]) ** 2
        together = float((pull * squares).sum()) / 2 / float(self._centred @ self._centred)
        alone = float(pull.sum()) / rating.size
        return 1 / together if together > 0 else math.inf, 1 / alone if alone > 0 else math.inf


class MovingRecord(_Snapshots):
    """Snapshots of a league whose strengths move: variance and covariance of strengths and ratings, and the error.

    ``memory`` is the time in which strengths and ratings forget, in drawn pairs per team; ``widens`` says whether
    strengths spread without end.
    """

    def __init__(self, theta: Array, memory: float, *, widens: bool) -> None:
        super().__init__()
        self._memory, self._most = memory, OUTGROWN * float(theta.var()) if widens else math.inf

    def add(self, time: float, rating: Array, strength: Array) -> None:
        """Take a snapshot, if enough has been played since the last."""
        if time < self._next:
            return
        r, p = rating - rating.mean(), strength - strength.mean()
        self._keep(time, float(p @ p) / p.size, float(p @ r) / p.size, float((r - p) @ (r - p)) / p.size)

    def evidence(self, matches: float) -> Evidence | None:
        """The averages over the later half of the time; slope and error are those of averaged squares."""
        if (found := self._late()) is None:
            return None
        late, spacing = found
        V, C, E = late[:, 1:].T
        length = self._memory / spacing
        slope, error = float(C.mean() / V.mean()), math.sqrt(float(E.mean()))
        return Evidence(
            # A ratio of means strays as the mean of C − slope·V does; a root, half as far as its square.
            averaged(slope + (C - slope * V) / V.mean(), length),
            averaged(error + (E - E.mean()) / (2 * error) if error > 0 else E, length),
            matches,
            outgrown=bool(V[-1] > self._most),
        )


def averaged(series: Array, length: float = 1.0, spread: float = 0.0) -> Measured:
    """The mean of a series whose members are alike to their neighbours.

    ``length`` and ``spread`` are the least that one independent member counts for and strays by.

    >>> averaged(np.array([1.0, 3.0] * 50)).value
    2.0
    """
    n = series.size
    centred = series - series.mean()
    variance = float(centred @ centred) / n
    if variance > 0:
        # Correlation at every lag at once; padding keeps the end of the series from meeting its beginning.
        power = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
        correlation = np.fft.irfft(power)[:n] / (n * variance)
        pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
        negative = np.flatnonzero(pairs <= 0)
        pairs = np.minimum.accumulate(pairs[: negative[0]] if negative.size else pairs)
        length = max(2 * float(pairs.sum()) - 1, length)
    independent = n / max(length, 1.0)
    # A mean takes part of the variance along, all of it where the record is one long wave.
    variance = max(variance / max(1 - 1 / independent, 0.1), spread**2)
    error = math.sqrt(variance / independent)
    first, second = series[: n // 2].mean(), series[n // 2 :].mean()
    steady = abs(first - second) <= SAME_ERRORS * 2 * error  # each half has √2 the error, their difference twice
    return Measured(float(series.mean()), error, independent, bool(steady))
