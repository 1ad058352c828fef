r"""How far strengths lie apart, how alike opponents are, and how much of the differences ratings show.

All three come from strengths that results alone tell (:mod:`kinelo.advice.audit.hindsight`), each corrected for luck:
with x the strengths and e the draws of luck,

    τ² = Var x − E Var e,    E d² = mean (x_i − x_j)² − E (e_i − e_j)² over matches,    ρ = 1 − E d²/2v,

v the variance over appearances. Ratings that begin alike follow the expected results match by match; the slope of
where they end on strengths is the share of the differences that they show. Around strengths a step closes gaps along
the matches that are played, dR = −A(R − x) with A = Σ γ b'(z)(e_i − e_j)(e_i − e_j)ᵀ a calendar: from a common start
ratings show 1 − xᵀe^{−At}x/xᵀx, and the slowest mode of A is what the theory calls relaxation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from kinelo.advice.audit import kernels
from kinelo.advice.audit.gaps import law_of
from kinelo.advice.audit.hindsight import HindsightStrengths, differences
from kinelo.advice.audit.kernels import NORMAL_95, YEAR, Array, Calendar, Parameters, System

MOST_SHOWN = 0.9
"""Share of the differences for which the matches that it takes are counted."""
SHARE_DRAWS = 12
"""Draws of luck whose ratings are followed."""
LANCZOS_STEPS = 60
LONGEST = 1e6
"""Calendars after which nobody waits."""
FEW_MATCHES = 0.5
"""Who played less than this share of what the middle side did played little."""
MEDIAN_OF_SQUARE = 0.455
"""Median of the square of a standard normal variable."""
CLEARLY_ALIKE = 0.3
"""Correlation of opponents above which like meets like, if the whole interval lies there."""
VERY_ALIKE = 0.8
"""Correlation of opponents, at the upper end of its interval, above which strengths that move lie further apart than
results alone tell: they hide some of the correlation too."""
HIDDEN_BY_MOTION = 2.0
"""Factor by which they then may: what is measured for walks of up to 5 points a match (docs/which-k.md)."""
HARDLY_SHOWN = 0.8
"""Share of the differences below which ratings hide much of them, if the whole interval lies there."""


class Measured(NamedTuple):
    """A number with its standard error."""

    value: float
    error: float

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.value - NORMAL_95 * self.error

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.value + NORMAL_95 * self.error

    def to_dict(self) -> dict[str, float]:
        """The number, its standard error and its interval."""
        return {**self._asdict(), "low": self.low, "high": self.high}


class StrengthsToday(NamedTuple):
    """Strength of each side at its last match and its error about the mean of those who are active, and who is
    (sides each); ``luck`` are the draws (sides × draws)."""

    strength: Array
    variance: Array
    active: np.ndarray
    luck: Array


@dataclass(frozen=True)
class OpponentsFound:
    """How alike opponents are, and what that does to ratings.

    Attributes
    ----------
    spread
        Standard deviation of the strengths of the sides active at the end, from results alone, in points.
    correlation
        Correlation of the strengths of opponents: 0 where they are drawn at random.
    share_shown
        How much of the true differences today's ratings show: the slope of expected ratings on strengths.
    matches
        Matches of a side so far, on average over those who are active.
    matches_needed
        Matches of a side after which ratings that began alike show nine tenths, against opponents like these.
    relaxation
        Matches of a side in which the slowest of all differences shrinks to 37 %.
    """

    spread: Measured
    correlation: Measured
    share_shown: Measured
    matches: float
    matches_needed: float
    relaxation: float
    today: StrengthsToday = field(repr=False)

    @property
    def alike(self) -> bool:
        """Whether like clearly meets like."""
        return self.correlation.low > CLEARLY_ALIKE

    @property
    def hidden(self) -> bool:
        """Whether like meets like, and ratings therefore show clearly less than there is."""
        return self.alike and self.share_shown.high < HARDLY_SHOWN

    @property
    def at_least(self) -> bool:
        """Whether strengths lie further apart than found if they also move: opponents follow them as they do."""
        return self.alike and self.correlation.high > VERY_ALIKE

    @property
    def spread_range(self) -> tuple[float, float]:
        """Ends of the 95 % interval of the spread; the upper one as if strengths moved, where that would hide some."""
        return max(self.spread.low, 0.0), self.spread.high * (HIDDEN_BY_MOTION if self.at_least else 1.0)

    def to_dict(self) -> dict[str, object]:
        """Plain numbers."""
        low, high = self.spread_range
        return {
            "spread": {**self.spread.to_dict(), "low": low, "high": high},
            "opponents_correlation": self.correlation.to_dict(),
            "share_shown": self.share_shown.to_dict(), "matches": self.matches, "alike": self.alike,
            "at_least": self.at_least, "matches_needed": self.matches_needed, "relaxation": self.relaxation,
        }  # fmt: skip


def strengths_today(calendar: Calendar, found: HindsightStrengths, years: float) -> StrengthsToday:
    """Strengths at the end, about the mean of those who have played within some years and are tied to most others."""
    side, day = np.column_stack([calendar.home, calendar.away]).ravel(), np.full(calendar.sides, -math.inf)
    last = np.zeros(calendar.sides, np.int64)
    last[side] = np.arange(side.size)
    day[side] = calendar.day[last[side] // 2]
    active = (day >= max(calendar.day[-1] - years * YEAR, 0.0)) & largest_pool(calendar)
    strength, luck = (one.reshape(side.size, -1)[last] for one in found.of_matches())
    strength = strength[:, 0]
    strength, luck = strength - strength[active].mean(), luck - luck[active].mean(axis=0)
    idle = np.where(np.isfinite(day), calendar.day[-1] - day, 0.0) / YEAR
    return StrengthsToday(strength, (luck**2).mean(axis=1) + found.walk_per_year**2 * idle, active, luck)


def largest_pool(calendar: Calendar) -> np.ndarray:
    """Who is tied to most others by matches."""
    ones = np.ones(calendar.size)
    graph = sparse.coo_array((ones, (calendar.home, calendar.away)), shape=(calendar.sides, calendar.sides))
    _, label = connected_components(graph, directed=False)
    return label == np.bincount(label).argmax()


def opponents_found(
    calendar: Calendar, parameters: Parameters, found: HindsightStrengths, system: System, steps: Array, years: float
) -> OpponentsFound:
    """Spread, likeness of opponents and the share of differences that ratings by ``steps`` (n × 2) show today."""
    today = strengths_today(calendar, found, years)
    played = np.bincount(np.concatenate([calendar.home, calendar.away]), minlength=calendar.sides)
    weight, spread = spread_of(today, played.astype(float))
    law = law_of(parameters.nu, parameters.ties)
    x, e = found.of_matches()
    gap = x[:, 0] - x[:, 1] + found.home

    def ratings(extra: Array | float = 0.0) -> Array:
        rated = system.start.copy()
        kernels.expect_ratings(calendar, system, steps, law.b(gap + extra), rated)
        return rated

    share = share_of(today, weight, ratings, [e[:, 0, n] - e[:, 1, n] for n in range(SHARE_DRAWS)])
    # Who left, or hardly plays, closes no gaps.
    regular = today.active & (played >= FEW_MATCHES * np.median(played[today.active]))
    active = regular[calendar.home] & regular[calendar.away]
    pull = np.where(active, 0.5 * steps.sum(axis=1) * law.b_prime(gap), 0.0)
    sides = np.flatnonzero(regular)
    matches = 2.0 * float(active.sum()) / max(sides.size, 1)
    A = _laplacian(calendar, pull)[sides][:, sides]
    strength, luck = today.strength[sides], today.luck[sides, :SHARE_DRAWS]
    needed, slowest = _calendars(A, strength - strength.mean(), luck - luck.mean(axis=0))
    return OpponentsFound(
        spread, _correlation(x, e), share, float(played[today.active].mean()), needed * matches, slowest * matches,
        today,
    )  # fmt: skip


def spread_of(today: StrengthsToday, matches: Array) -> tuple[Array, Measured]:
    """Weights of the active sides, less for those with few matches, and the spread of strengths."""
    x, e = today.strength[today.active], today.luck[today.active]
    doubt, played = (e**2).mean(axis=1), matches[today.active]
    # The ends of a ladder play less and are known less: where they lie is part of the spread.
    few = played < FEW_MATCHES * np.median(played)
    enough = np.where(few, played, FEW_MATCHES * np.median(played))
    weight, variance = enough / enough.sum(), float(np.median(x**2)) / MEDIAN_OF_SQUARE
    for _ in range(8):
        # Who played little and is known worse than by the league alone says nothing of its spread.
        told = ~few | (doubt < variance)
        weight = np.where(told | (told.sum() < 3), enough, 0.0)
        weight /= weight.sum()
        spread = weight @ (x - weight @ x) ** 2
        luck = (weight @ (e - weight @ e) ** 2).mean()
        unbiased = 1.0 - weight @ weight
        variance = max(float(spread - luck) / unbiased, 1e-6 * float(spread) + 1e-9)
    both = weight @ (x[:, None] + e - weight @ (x[:, None] + e)) ** 2
    size = math.sqrt(variance)
    return weight, Measured(size, float(both.std(ddof=1)) / (2 * size))


def _correlation(x: Array, e: Array) -> Measured:
    """ρ over matches; the errors of its two parts go along."""
    deviation, luck = x - x.mean(), e - e.mean(axis=(0, 1))
    gap, shift = deviation[:, 0] - deviation[:, 1], luck[:, 0] - luck[:, 1]
    apart = float((gap**2).mean()) - (shift**2).mean()
    spread = float((deviation**2).mean()) - (luck**2).mean()
    spread = max(spread, 1e-6 * float((deviation**2).mean()) + 1e-12)
    rho = float(np.clip(1.0 - apart / (2 * spread), -1.0, 1.0))
    moved = 2 * (gap @ shift) / gap.size, 2 * np.einsum("ij,ijk->k", deviation, luck) / deviation.size
    error = (moved[0] - apart / spread * moved[1]) / (2 * spread)
    return Measured(rho, float(error.std(ddof=1)))


def share_of(today: StrengthsToday, weight: Array, ratings: Callable[..., Array], shifts: list[Array]) -> Measured:
    """Slope of the ratings of active sides on their strengths, without what luck moves both."""
    active = today.active
    x, rated = today.strength[active], ratings()[active]
    x, e = x - weight @ x, today.luck[active] - weight @ today.luck[active]
    together, alone, errors = float((weight * x) @ rated), float(weight @ x**2), []
    moved = np.stack([ratings(shift)[active] - rated for shift in shifts], axis=1)
    both, own = (weight @ (e[:, : len(shifts)] * moved)).mean(), (weight @ e**2).mean()
    share = float((together - both) / max(alone - own, 1e-9 * alone + 1e-12))
    # Luck moves both parts of the slope at once.
    for n in range(len(shifts)):
        up = (weight * x) @ moved[:, n] + (weight * e[:, n]) @ rated
        errors.append((up - share * 2 * (weight * x) @ e[:, n]) / max(alone - own, 1e-12))
    return Measured(share, float(np.std(errors, ddof=1)))


def _laplacian(calendar: Calendar, pull: Array) -> sparse.csr_array:
    rows = differences(calendar.home.astype(np.int64), calendar.away.astype(np.int64), calendar.sides)
    return sparse.csr_array(rows.T @ sparse.diags_array(pull) @ rows)


def _calendars(A: sparse.csr_array, x: Array, e: Array) -> tuple[float, float]:
    """How often the matches must be played until ratings that began alike show nine tenths of the differences, and
    until the slowest difference is down to 37 %."""
    rates, shares = lanczos(A, x)
    total = float(x @ x)
    modes = [(rates, shares * total)]
    for n in range(e.shape[1]):
        own_rates, own_shares = lanczos(A, e[:, n])
        modes.append((own_rates, -own_shares * float(e[:, n] @ e[:, n]) / e.shape[1]))
    whole = sum(float(size.sum()) for _, size in modes)
    if whole <= 0:
        return math.inf, math.inf

    def missing(time: float) -> float:
        return sum(float(size @ np.exp(-rate * time)) for rate, size in modes) / whole

    slowest = 1.0 / max(float(rates[shares > 1e-6].min()), 1.0 / LONGEST)
    low, high = 0.0, 1.0
    while missing(high) > 1 - MOST_SHOWN and high < LONGEST:
        low, high = high, 2 * high
    if high >= LONGEST:
        return math.inf, slowest
    while high - low > 1e-3 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if missing(middle) > 1 - MOST_SHOWN else (low, middle)
    return high, slowest


def lanczos(A: sparse.csr_array, x: Array, steps: int = LANCZOS_STEPS) -> tuple[Array, Array]:
    """Rates and shares with ``xᵀf(A)x ≈ xᵀx Σ share f(rate)`` for any smooth f: Gauss's rule of x's own spectrum."""
    size = float(np.linalg.norm(x))
    if size == 0.0:
        return np.zeros(1), np.ones(1)
    basis, diagonal, beside = [x / size], [], []
    for _ in range(min(steps, x.size)):
        pushed = A @ basis[-1]
        diagonal.append(float(basis[-1] @ pushed))
        known = np.stack(basis)
        for _ in range(2):
            pushed -= known.T @ (known @ pushed)
        length = float(np.linalg.norm(pushed))
        if length < 1e-10 * max(diagonal) or len(diagonal) == steps:
            break
        beside.append(length)
        basis.append(pushed / length)
    rates, vectors = linalg.eigh_tridiagonal(np.array(diagonal), np.array(beside[: len(diagonal) - 1]))
    return np.maximum(rates, 0.0), vectors[0] ** 2
