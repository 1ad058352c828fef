"""Forecasts of contests: the chance of every place, and of the order of any two.

Each entrant performs independently, around a mean with a deviation. With ``f_a`` the density of ``a``'s performance
and ``F_b`` the distribution of ``b``'s, ``P(a wins) = ∫ f_a Π_{b≠a} F_b dx``. Given ``x_a = x`` the number of those
ahead is a sum of independent events with chances ``1 − F_b(x)``, a Poisson-binomial law, so that every place is one
integral more of the same kind. Who may not finish, with a chance ``q``, comes behind all who do, in an
order by lot: ``f`` and ``F`` become ``(1 − q) f`` and ``q + (1 − q) F``, and below every performance lies one more
range, of a uniform law with the weights ``q``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_ndtr, ndtr

from kinelo.errors import InputError
from kinelo.matches.contests import Contests
from kinelo.play.formula import kernel
from kinelo.presentation import Table, chance, number, words
from kinelo.runtime.frames import to_pandas

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Array = NDArray[np.float64]

PLACE_REACH, PLACE_STEP = 6.0, 0.25
NEGLIGIBLE_CHANCE = 1e-18
MOST_LOTS = 64
"""Points at which orders by lot are looked at, at most: half as many as a field has entrants are exact."""
LEAST_BEHIND = 1e-300
VALUES_AT_ONCE = 2**18
"""Entrants times points of a grid that are in memory at once."""
PLACE_ROWS = 10
GUMBEL_DEVIATION = math.pi / math.sqrt(6.0)
EULER = 0.5772156649015329
LUCK_NODES, LUCK_WEIGHTS = (-math.sqrt(3.0), 0.0, math.sqrt(3.0)), (1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0)
"""Standard errors from what luck is believed to be at which forecasts are averaged: exact up to the fifth power."""
DEEPEST = 3.0
"""How much lower the mean of performances that are off is at most, in deviations of others."""


Asked = ParamSpec("Asked")


def over_luck(
    chances: Callable[Concatenate[ContestForecast, Asked], Array],
) -> Callable[Concatenate[ContestForecast, Asked], Array]:
    """The mean of what forecasts say over what is believed of luck."""

    @wraps(chances)
    def averaged(self: ContestForecast, *given: Asked.args, **named: Asked.kwargs) -> Array:
        if not self._by_luck:
            return chances(self, *given, **named)
        return sum((weight * chances(one, *given, **named) for weight, one in self._by_luck), np.zeros(()))

    return averaged


@dataclass(frozen=True, repr=False)
class ContestForecast:
    """Forecasts of contests: how every entrant is expected to perform, and the chances that follow.

    Attributes
    ----------
    contests
        The contests that were forecast.
    mean, deviation
        Mean and standard deviation of each performance (entries).
    unknown
        Names that had never taken part and were given the prior.
    law
        ``"normal"``, or ``"gumbel"`` for the law of Plackett and Luce.
    off
        Part of performances, where the law is normal, that are off.
    depth
        How many deviations lower those are; their own deviation is ``3 − depth/3`` times as large (:func:`width_of`).
    luck, luck_error
        Variance of each performance around the strength (a part of the square of ``deviation``), and standard error of
        the logarithm of its root, which is one for all of a contest; chances are averaged over it. None where luck is
        known.
    unfinished
        Chance of every entry not to finish (entries), by which it comes behind all who do; None where all finish.
    notes
        What else is to be said, such as a level of what luck depends on that was never met.

    >>> import kinelo as kn
    >>> races = kn.read_contests({"race": [1, 1, 1], "driver": ["Ann", "Bob", "Cid"], "place": [1, 2, 3]})
    >>> forecast = ContestForecast(races, np.array([1.0, 0.0, 0.0]), np.ones(3))
    >>> forecast.win.round(3).tolist(), forecast.places(0)[0].round(3).tolist()
    ([0.634, 0.183, 0.183], [0.634, 0.253, 0.113])
    >>> forecast.chance_before(0, "Ann", "Bob").round(3)
    np.float64(0.76)
    """

    contests: Contests
    mean: Array
    deviation: Array
    unknown: tuple[str, ...] = ()
    law: str = "normal"
    off: float = 0.0
    depth: float = DEEPEST
    luck: Array | None = None
    luck_error: Array | None = None
    unfinished: Array | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.contests)

    @staticmethod
    def joined(parts: list[ContestForecast], contests: Contests) -> ContestForecast:
        """One forecast of all contests from those of their parts, which differ in means, deviations and who may not
        finish alone.
        """
        unknown = tuple(dict.fromkeys(name for part in parts for name in part.unknown))
        names = ("mean", "deviation", *(("unfinished",) if parts[0].unfinished is not None else ()))
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return replace(parts[0], contests=contests, unknown=unknown, **joined)

    def about(self, contests: Contests) -> ContestForecast:
        """The same forecasts with the contests they are about."""
        return replace(self, contests=contests)

    def _entries(self, contest: int) -> slice:
        contest = range(len(self))[contest]
        return slice(int(self.contests.first[contest]), int(self.contests.first[contest + 1]))

    def _on_grid(
        self, entries: slice, step: float, surely_ahead: int = 0, least: float = 0.0
    ) -> Iterator[tuple[Array, Array, Callable[[], Array]]]:
        """Of some entries the weights of their densities, and the chances to come behind and ahead of points of a grid
        (points, entries), from the highest down; of thousands of entrants some points at a time.

        ``step`` is in least deviations. Points are left out below which ``surely_ahead`` entrants are ahead in any
        case, or where the chance of fewer is below ``least``.
        """
        mean, deviation = self.mean[entries], self.deviation[entries]
        failing = np.zeros(1) if self.unfinished is None else self.unfinished[entries]
        if failing.any():  # nobody is ahead in any case
            surely_ahead, least = 0, 0.0
        reach = PLACE_REACH * deviation * (2.5 if self.law == "gumbel" else 1.0)
        wide, depth = (width_of(self.depth), self.depth) if self.off > 0.0 else (1.0, 0.0)
        further = PLACE_REACH * (wide - 1.0)
        lowest = mean - reach - (further + depth) * deviation
        high = float((mean + reach + max(further - depth, 0.0) * deviation).max())
        low = float(np.partition(lowest, -surely_ahead)[-surely_ahead] if surely_ahead else lowest.min())
        step = step * float(deviation.min()) * (1.0 if self.law == "normal" else 0.5)
        x = np.linspace(low, high, max(int((high - low) / step) + 2, 8))
        scale, at_once = (1.0 - failing) * (x[1] - x[0]) / deviation, max(VALUES_AT_ONCE // mean.size, 1)
        for end in range(x.size, 0, -at_once):
            z = (x[max(end - at_once, 0) : end, None] - mean) / deviation
            density, behind = self._density(z), self._below(z)
            density *= scale
            behind *= 1.0 - failing
            behind += failing
            yield density, behind, partial(self._ahead, z, failing)
            if least > 0.0 and log_chance_of_fewer(surely_ahead, mean.size - behind[0].sum() - 1.0) < math.log(least):
                return
        if failing.any():
            lots, weights = np.polynomial.legendre.leggauss(min(mean.size // 2 + 1, MOST_LOTS))
            behind = 0.5 * (1.0 + lots[:, None]) * failing
            yield 0.5 * weights[:, None] * failing, behind, partial(np.subtract, 1.0, behind)

    def _density(self, z: Array) -> Array:
        """Density of performances at points that are in deviations from their means."""
        if self.law == "gumbel":
            tail = _gumbel_tail(z)
            return tail * np.exp(-tail) * GUMBEL_DEVIATION
        if self.off == 0.0:
            return _normal_density(z)
        wide = width_of(self.depth)
        return (1.0 - self.off) * _normal_density(z) + self.off / wide * _normal_density((z + self.depth) / wide)

    def _ahead(self, z: Array, failing: Array) -> Array:
        """Chance to finish with a performance above such points."""
        return (1.0 - failing) * self._below(z, -1.0)

    def _below(self, z: Array, side: float = 1.0) -> Array:
        """Chance of performances below such points, or above them (``side`` −1)."""
        if self.law == "gumbel":
            tail = _gumbel_tail(z)
            return np.exp(-tail) if side > 0.0 else -np.expm1(-tail)
        chance = ndtr(side * z)
        if self.off > 0.0:
            chance *= 1.0 - self.off
            chance += self.off * ndtr(side * (z + self.depth) / width_of(self.depth))
        return chance

    @cached_property
    def _by_luck(self) -> list[tuple[float, ContestForecast]]:
        """Forecasts with luck that is known, and how much each counts; none where it is known anyway."""
        if self.luck is None or self.luck_error is None:
            return []
        spread = [with_luck(self.deviation, self.luck, node * self.luck_error) for node in LUCK_NODES]
        known = [replace(self, deviation=one, luck=None, luck_error=None) for one in spread]
        return list(zip(LUCK_WEIGHTS, known, strict=True))

    @cached_property
    @over_luck
    def win(self) -> Array:
        """Chance of every entry to win its contest."""
        won = np.zeros(self.mean.size)
        for contest in range(len(self)):
            entries = self._entries(contest)
            for density, behind, _ in self._on_grid(entries, PLACE_STEP, 1, LEAST_BEHIND):
                log = np.log(np.maximum(behind, LEAST_BEHIND))
                won[entries] += (density * np.exp(log.sum(axis=1, keepdims=True) - log)).sum(axis=0)
            won[entries] /= won[entries].sum()
        return won

    @cached_property
    @over_luck
    def expected_place(self) -> Array:
        """Expected place of every entry: 1 plus the expected number of those ahead."""
        expected = np.ones(self.mean.size)
        for contest in range(len(self)):
            entries = self._entries(contest)
            for density, behind, _ in self._on_grid(entries, PLACE_STEP):
                ahead = 1.0 - behind
                expected[entries] += (density * (ahead.sum(axis=1, keepdims=True) - ahead)).sum(axis=0)
        return expected

    @over_luck
    def places(self, contest: int = 0) -> Array:
        """Chance of every entrant of one contest (rows) to reach every place (columns), the first place first."""
        entries = self._entries(contest)
        size = self.contests.entrant[entries].size
        step = min(PLACE_STEP, 1.0 / math.sqrt(size))  # as narrow as the law of a place
        chances = np.zeros((size, size))
        for density, behind, ahead in self._on_grid(entries, step):
            fill_places(density, behind, ahead(), chances)
        np.maximum(chances, 0.0, out=chances)  # of thousands these are gigabytes: no copies
        chances /= chances.sum(axis=1, keepdims=True)
        return chances

    def top(self, contest: int = 0, number: int = 3) -> Array:
        """Chance of every entrant of one contest to be among the first ``number``."""
        size = self.contests.entrant[self._entries(contest)].size
        return np.ones(size) if number >= size else self._top(contest, number)  # exactly 1

    @over_luck
    def _top(self, contest: int, number: int) -> Array:
        entries = self._entries(contest)
        size = self.contests.entrant[entries].size
        if number**2 > size:
            return self.places(contest)[:, :number].sum(axis=1)
        chances = np.zeros(size)
        for density, behind, ahead in self._on_grid(entries, PLACE_STEP / math.sqrt(number), number, NEGLIGIBLE_CHANCE):
            fill_top(density, behind, ahead(), number, chances)
        return np.clip(chances, 0.0, 1.0)

    def chance_before(self, contest: int, one: str, other: str) -> np.float64:
        """Chance that one entrant of a contest comes before another."""
        entries = self._entries(contest)
        codes = self.contests.entrant[entries]
        at = []
        for name in (one, other):
            found = [k for k, code in enumerate(codes.tolist()) if self.contests.entrants[code] == name]
            if not found:
                raise InputError(f"{name!r} does not take part in {self.contests.identifiers[contest]}.")
            at.append(found[0])
        a, b = (np.array([entries.start + k]) for k in at)
        before = self.pair_chance(a, b)[0]
        if self.unfinished is None:
            return before
        p, q = self.unfinished[a][0], self.unfinished[b][0]
        return (1.0 - p) * (q + (1.0 - q) * before) + 0.5 * p * q

    @over_luck
    def pair_chance(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Array:
        """Chance of each entry of ``one`` to come before that of ``other`` where both finish."""
        gap = self.mean[first] - self.mean[second]
        if self.law == "normal":
            return mixed_chance(gap, self.deviation[first], self.deviation[second], self.off, self.depth)
        return expit(gap * GUMBEL_DEVIATION / self.deviation[first])

    def log_pair_chance(self, contest: int, m: Array, s: Array, n: Array, t: Array) -> Array:
        """Logarithm of the chance of a performance in a contest, with mean ``m`` and deviation ``s``, to come before
        another.
        """
        if self.luck is not None and self.luck_error is not None:
            first = self._entries(contest).start
            luck, error = self.luck[first], self.luck_error[first]
            parts = [
                math.log(weight)
                + known._log_pair_chance(m, with_luck(s, luck, node * error), n, with_luck(t, luck, node * error))
                for node, (weight, known) in zip(LUCK_NODES, self._by_luck, strict=True)
            ]
            return np.logaddexp.reduce(parts)
        return self._log_pair_chance(m, s, n, t)

    def _log_pair_chance(self, m: Array, s: Array, n: Array, t: Array) -> Array:
        if self.law == "normal":
            return log_mixed_chance(m - n, s, t, self.off, self.depth)
        return log_expit((m - n) * GUMBEL_DEVIATION / s)

    @cached_property
    def middle(self) -> Array:
        """Median of each performance: in the order of these, entries are forecast to finish."""
        if self.law != "normal" or self.off == 0.0:
            return self.mean
        from scipy.optimize import brentq  # 24 MB of memory that a program which keeps a book does without

        depth, wide = self.depth, width_of(self.depth)
        below: Any = brentq(
            lambda z: (1.0 - self.off) * ndtr(z) + self.off * ndtr((z + depth) / wide) - 0.5, -depth, 0.0
        )
        return self.mean + below * self.deviation

    def __repr__(self) -> str:
        many = len(self) != 1
        if many:
            return f"Forecast of {len(self):,} contests"
        order = np.argsort(-self.win, kind="stable")[:3]
        likeliest = ", ".join(f"{self.contests.entrants[self.contests.entrant[k]]} {self.win[k]:.3f}" for k in order)
        return f"Forecast of 1 contest: {likeliest}{', …' if self.mean.size > 3 else ''}"

    def _repr_html_(self) -> str:
        return Table.of(self.to_polars(), ".3f").head(PLACE_ROWS).html()

    def to_pandas(self) -> pd.DataFrame:
        """The forecasts as a pandas frame; pyarrow is not needed."""
        return to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """Contest, date, entrant, chance to win and to be among the first three, and expected place of every entry; of
        contests that have titles, these too.
        """
        import polars as pl

        titles = [] if self.contests.titles is None else ["title"]
        table = self.contests.to_polars().select("contest", *titles, "date", "entrant")
        podium = np.concatenate([self.top(c) for c in range(len(self))]) if len(self) else []
        table = table.with_columns(
            pl.Series("win", self.win), pl.Series("top_3", podium), pl.Series("expected_place", self.expected_place)
        )
        return table if self.contests.dated else table.drop("date")


def _normal_density(z: Array) -> Array:
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def _gumbel_tail(z: Array) -> Array:
    return np.exp(-np.clip(z * GUMBEL_DEVIATION + EULER, -30.0, None))


def with_luck(deviation: Array, luck: Array, log: Array) -> Array:
    """Deviations of performances where the deviation of the ``luck`` (a variance) in them is ``exp(log)`` as large."""
    return np.sqrt(deviation**2 + luck * np.expm1(2.0 * log))


def log_chance_of_fewer(number: int, expected: float) -> float:
    """A bound (Chernoff's) of the logarithm of the chance that fewer than ``number`` of independent events happen, of
    which so many are expected.

    >>> round(log_chance_of_fewer(1, 20.0), 3), log_chance_of_fewer(3, 2.0)
    (-20.0, 0.0)
    """
    most = number - 1
    return 0.0 if expected <= most else most - expected + (most * math.log(expected / most) if most else 0.0)


def width_of(depth: float) -> float:
    """Deviation, in those of others, of performances that are off and lie so many deviations lower.

    From bad days alone (3 lower, twice as wide) to good and bad ones alike (no lower, three times as wide).
    """
    return 3.0 - depth / 3.0


def _scaled_gaps(gap: Array, first: Array, second: Array, depth: float) -> tuple[Array, Array, Array]:
    """Gaps in units of their deviation where the one, the other, or both are off."""
    wide = width_of(depth)
    return (
        (gap - depth * first) / np.hypot(wide * first, second),
        (gap + depth * second) / np.hypot(first, wide * second),
        (gap - depth * (first - second)) / (wide * np.hypot(first, second)),
    )


def mixed_chance(gap: Array, first_deviation: Array, second_deviation: Array, off: float, depth: float) -> Array:
    """Chance of a performance to be better than another, from the gap of their means and both deviations."""
    chance = ndtr(gap / np.hypot(first_deviation, second_deviation))
    if off == 0.0:
        return chance
    first, second, both = map(ndtr, _scaled_gaps(gap, first_deviation, second_deviation, depth))
    return (1.0 - off) ** 2 * chance + off * (1.0 - off) * (first + second) + off * off * both


def log_mixed_chance(gap: Array, first_deviation: Array, second_deviation: Array, off: float, depth: float) -> Array:
    """Logarithm of :func:`mixed_chance`, however small that is."""
    chance = log_ndtr(gap / np.hypot(first_deviation, second_deviation))
    if off == 0.0:
        return chance
    first, second, both = map(log_ndtr, _scaled_gaps(gap, first_deviation, second_deviation, depth))
    usual, bad = math.log1p(-off), math.log(off)
    mixed = np.logaddexp(2.0 * usual + chance, 2.0 * bad + both)
    return np.logaddexp(mixed, usual + bad + np.logaddexp(first, second))


@kernel
def fill_top(density, behind, ahead, number, chances):
    """Add up, over the points of a grid, the chances (entrants) of fewer than ``number`` ahead; arrays are (points,
    entrants).

    The law of how many of those listed before an entrant are ahead, and of those listed after, is cut at ``number``.
    """
    points, size = density.shape
    before, after = np.zeros((size + 1, number)), np.zeros(number)
    before[0, 0] = 1.0
    for g in range(points):
        for b in range(size):
            before[b + 1, 0] = before[b, 0] * behind[g, b]
            for j in range(1, number):
                before[b + 1, j] = before[b, j] * behind[g, b] + before[b, j - 1] * ahead[g, b]
        for j in range(number):
            after[j] = 0.0 if j > 0 else 1.0
        for a in range(size - 1, -1, -1):
            if density[g, a] > NEGLIGIBLE_CHANCE:
                fewer, total = 0.0, 0.0
                for j in range(number - 1, -1, -1):  # j ahead of those before, at most number − 1 − j of the others
                    fewer += after[number - 1 - j]
                    total += before[a, j] * fewer
                chances[a] += density[g, a] * total
            for j in range(number - 1, 0, -1):
                after[j] = after[j] * behind[g, a] + after[j - 1] * ahead[g, a]
            after[0] *= behind[g, a]


@kernel
def fill_places(density, behind, ahead, chances):
    """Add up the chances (entrants, places) over the points of a grid; the other arrays are (points, entrants).

    At every point the law of the number ahead is convolved from all entrants, and each is taken out again from the end
    at which that is stable. Numbers without weight are left out on both sides.
    """
    points, size = density.shape
    law = np.zeros(size + 2)
    for g in range(points):
        law[0] = 1.0
        lo, hi = 0, 0
        for b in range(size):
            p, q = ahead[g, b], behind[g, b]
            law[hi + 1] = 0.0
            for j in range(hi + 1, lo, -1):
                law[j] = law[j] * q + law[j - 1] * p
            law[lo] *= q
            hi += 1
            while lo < hi and law[lo] < NEGLIGIBLE_CHANCE:
                lo += 1
            while hi > lo and law[hi] < NEGLIGIBLE_CHANCE:
                hi -= 1
        for a in range(size):
            if density[g, a] < NEGLIGIBLE_CHANCE:
                continue
            p, q = ahead[g, a], behind[g, a]
            if q >= 0.5:
                rest = 0.0
                for j in range(lo, min(hi, size - 1) + 1):
                    rest = (law[j] - p * rest) / q
                    chances[a, j] += density[g, a] * rest
            else:
                rest = 0.0
                for j in range(hi - 1, max(lo - 1, 0) - 1, -1):
                    rest = (law[j + 1] - q * rest) / p
                    chances[a, j] += density[g, a] * rest
        for j in range(lo, hi + 1):
            law[j] = 0.0


def contest_forecast_tables(forecasts: pl.DataFrame, most: int) -> list[Table]:
    """A table for each contest under its title, with the first ``most`` rows of all of them: every entrant with the
    chances to win and to be among the first three, and the place expected.
    """
    import polars as pl

    name, win, podium = words("Entrant", "entrant"), chance("Win", "win"), chance("First three", "top_3")
    place = number("Expected place", "expected_place", ".1f")
    tables, left = [], most
    for rows in forecasts.with_columns(_contest=pl.col("contest").rle_id()).partition_by("_contest"):
        if left <= 0:
            break
        day = f", {rows['date'][0]}" if "date" in rows.columns else ""
        title = f"{rows['title' if 'title' in rows.columns else 'contest'][0]}{day}"
        columns = [name, win, podium, place] if rows.height > 3 else [name, win, place]
        tables.append(Table(columns, rows.head(left).to_dicts(), title))
        left -= rows.height
    if forecasts.height > most:
        tables[-1] = replace(tables[-1], below=(f"and {forecasts.height - most:,} more",))
    return tables
