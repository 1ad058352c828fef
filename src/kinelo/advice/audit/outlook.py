"""The matches to come: which K is best from today's ratings on, and why the past may have wanted another.

The later half of the calendar is played twice more. Sides begin with today's ratings and with strengths as all results
tell them; who entered during that half enters again, as somebody new. Strengths then move as they did. Where everybody
began at one rating, the past asked for a large K until strengths were found, and the future does not.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.backtest import Difference, KBacktest, lowest
from kinelo.advice.audit.estimate import filter_league, hermite
from kinelo.advice.audit.in_use import SystemInUse, anew, own_losses
from kinelo.advice.audit.kernels import Array, Calendar, ExpectedMatches, Parameters, Strengths, Today
from kinelo.advice.audit.recursion import Advice, Recursion
from kinelo.matches.matches import Matches
from kinelo.model.steps import FallingSteps
from kinelo.raters.filter.belief import YEAR

OTHER = 1.25
"""Two K this factor apart are not the same."""
FIRST_MATCHES = 40
"""Matches over which the steps of a newcomer are chosen, on average."""
NEW_MATCHES, LEAST_NEW = 20, 100
"""Matches for which one is a newcomer, and how many of newcomers in the later half it takes to judge their steps."""

PLAYED_AGAIN = 2
"""How often the later half is played."""
LAST_PART = 0.2
"""Who played in this last part of the later half is still there."""
REPLAYED_K = 1.4 ** np.arange(-9.0, 7.0)
"""K tried in each replay of the matches to come, over the best one."""
MOST_REPLAYS, MOST_REPLAYED = 120, 1e7
"""Replays of the matches to come, and matches replayed in all, about."""


def differ(one: float, other: float) -> bool:
    """Whether two K are not the same."""
    return abs(math.log(one / other)) > math.log(OTHER)


@dataclass(frozen=True)
class FirstSteps:
    """A larger K for the first matches of a side, ``first``, which falls to ``k`` (halfway after some matches), and
    how much more the one K advised for all loses on the later half."""

    k: float
    first: float
    halfway: float
    gain: Difference

    @property
    def rule(self) -> FallingSteps:
        """What TeamElo.classic(k=…) and RatingSystem(gamma=…) take."""
        return FallingSteps(self.k / 2, boost=self.first / self.k - 1, matches=self.halfway)

    @property
    def words(self) -> str:
        """The rule as the command line and Python take it."""
        rule = self.rule
        k, first, half = 2.0 * rule.gamma, 2.0 * rule.gamma * (1.0 + rule.boost), rule.matches
        return (
            f"K = {first:.0f} falling to {k:.3g}, halfway after {half:g} match{'es' * (half != 1)}: --k {k:.3g} "
            f"--k-first {first:.0f} --k-halfway {half:g}, or k=FallingSteps({rule.gamma:.4g}, boost={rule.boost:.4g}, "
            f"matches={half:g})"
        )


@dataclass(frozen=True)
class Outlook:
    """The best K over matches to come, from today's ratings on.

    Attributes
    ----------
    k, low, high
        The best K, that of the past where the past says nothing else of the future; and where the K that proves best
        lies in 95 % of replays of the matches to come, wider by what the K of the past may be off.
    matches
        How many matches to come it is best for.
    gain
        How much more per match the K in use is expected to lose on them; None where that is not one number.
    past, future
        Theory's best K of the later half, and of the matches to come.
    known_starts
        Theory's best K of the later half, had every side begun at its strength: what ``past`` lies above it was needed
        to find strengths.
    first
        A larger K for newcomers, that falls; None where hardly anybody is new in the later half.
    """

    k: float
    low: float
    high: float
    matches: int
    gain: float | None
    past: float
    future: float
    known_starts: float
    first: FirstSteps | None = None

    @property
    def differs(self) -> bool:
        """Whether the matches to come want another K than the past did."""
        return differ(self.future, self.past)

    @property
    def finding_strengths(self) -> bool:
        """Whether the past wanted a larger K because sides began away from their strengths."""
        return self.differs and self.future < self.past and self.known_starts * OTHER < self.past


def look_ahead(
    recursion: Recursion, drawn: list[Parameters], ratings: Array, advice: Advice, past: float, in_use: float | None
) -> Outlook:
    """What the matches to come want, from today's ``ratings`` (sides, less where newcomers begin).

    By theory it is a ratio to what the past wanted (theory's K is ``past``), which the backtest knows as well.
    """
    ahead = play_on(recursion, ratings)
    # The past as if every side had begun at its strength, as all results tell it.
    calendar, start, known = recursion.calendar, np.zeros(recursion.calendar.sides), copy.copy(recursion)
    for n in range(calendar.size - 1, -1, -1):
        start[calendar.home[n]], start[calendar.away[n]] = recursion.strengths.mean[n]
    known.system = recursion.system._replace(start=start)
    best, best_if_known = ahead.best(past), known.best(past)
    # The best K of each replay, by turns under the parameters drawn: strengths of today are drawn as well as results
    # tell them, they move on by chance, and so do results. What comes out best is no longer what is best on average.
    number = int(np.clip(MOST_REPLAYED / (REPLAYED_K.size * ahead.calendar.size), len(drawn), MOST_REPLAYS))
    turns, ks = min(len(drawn), number), best * REPLAYED_K
    streams = [np.random.default_rng(one) for one in np.random.SeedSequence(0).spawn(number)]
    losses = [
        replayed_losses(one, ks)
        for turn, parameters in enumerate(drawn[:turns])
        for one in replays_ahead(recursion, parameters, ratings, streams[turn::turns])
    ]
    bests = lowest(ks, np.stack(losses, axis=1))
    k = advice.k * best / past if differ(best, past) else advice.k
    low, high = (advice.k / past * float(end) for end in np.quantile(bests, [0.025, 0.975]))
    # What this is a ratio to is not certain either.
    doubt = math.log(advice.high / advice.k), math.log(advice.k / (advice.low or advice.k))
    high = k * math.exp(math.hypot(math.log(max(high, k) / k), doubt[0]))
    low = k * math.exp(-math.hypot(math.log(k / min(low, k)), doubt[1]))
    gain = None if in_use is None else ahead.loss(in_use) - ahead.loss(k)
    return Outlook(k, low, high, ahead.calendar.size, gain, past, best, best_if_known)


def replayed_losses(replay: Recursion, ks: Array) -> Array:
    """The loss of a replay under each K, that of :meth:`Recursion.loss`, in a fraction of its time."""
    losses = np.empty(ks.size)
    kernels.play_results(replay.calendar, replay.system, ks, replay.expected.score, 0, losses)
    return losses / replay.calendar.size


class Newcomer(NamedTuple):
    """Spread of newcomers about where they start, the points by which a strength moves between two matches, and of a
    match how its expected result in [0, 1] rises with a point and the variance of the result."""

    spread: float
    moved: float
    slope: float
    luck: float

    def right_steps(self, matches: int) -> Array:
        """K of each of the first matches: with v the variance of the error before it, ``K = av/(a²v + u)``, a being the
        slope and u the luck, and ``v ← v − aKv + d²``."""
        ks, v = np.empty(matches), self.spread**2
        for n in range(matches):
            ks[n] = self.slope * v / (self.slope**2 * v + self.luck)
            v += self.moved**2 - self.slope * ks[n] * v
        return ks

    def errors(self, ks: Array) -> Array:
        """Variance of the error after each of the first matches under these K, without what moved since."""
        errors, v = np.empty(ks.size), self.spread**2
        for n, k in enumerate(ks):
            errors[n] = (1.0 - self.slope * k) ** 2 * v + k * k * self.luck
            v = errors[n] + self.moved**2
        return errors

    def falling(self, matches: int) -> FallingSteps:
        """The rule that begins with the right first step, ends with the one after so many matches, and leaves the least
        error on the way there; K is taken as it is printed."""
        ks, n = self.right_steps(matches), np.arange(FIRST_MATCHES)
        first, k = float(f"{ks[0]:.0f}"), float(f"{ks[-1]:.3g}")
        halfway = min(
            range(1, FIRST_MATCHES + 1), key=lambda m: float(self.errors(k + (first - k) * m / (m + n)).mean())
        )
        return FallingSteps(k / 2, boost=max(first / k - 1, 0.0), matches=float(halfway))


def newcomers_steps(
    recursion: Recursion, in_use: SystemInUse, matches: Matches, k: float, measured: KBacktest
) -> FirstSteps | None:
    """Steps of newcomers held against K for all on the later half, where enough of it are matches of newcomers."""
    side = recursion.calendar.appearances
    order = np.argsort(side, kind="stable")
    first = np.flatnonzero(np.diff(side[order], prepend=-1))
    before = np.empty(side.size)  # matches that each side has played before
    before[order] = np.arange(side.size) - np.repeat(first, np.diff(first, append=side.size))
    if (before.reshape(-1, 2)[recursion.since :] < NEW_MATCHES).any(axis=1).sum() < LEAST_NEW:
        return None
    # Steps that end with those of a side that has played as much as others have.
    p, expected, part = recursion.parameters, recursion.expected, slice(recursion.since, None)
    luck = float((expected.square - expected.score_square)[part].mean()) / 4.0
    spread, sides = math.hypot(p.newcomer_spread, p.newcomer_level), np.unique(recursion.calendar[:2]).size
    newcomer = Newcomer(spread, recursion.change_per_match()[0], recursion.slope / 2.0, luck)
    rule = newcomer.falling(max(2 * recursion.calendar.size // sides, FIRST_MATCHES))
    constant, falling = (own_losses(anew(in_use.rater, k=step, k_of=None), matches) for step in (k, rule))
    largest = 2.0 * rule.gamma * (1.0 + rule.boost)
    return FirstSteps(2.0 * rule.gamma, largest, rule.matches, measured.saving(constant - falling))


def future_calendar(calendar: Calendar, since: int) -> Calendar:
    """The later half twice more.

    Sides that entered in it have new places each time. Who had left by the end of it is played by those who had
    entered, so that as many sides as today are known as little as today.
    """
    first, last = np.full(calendar.sides, calendar.size), np.full(calendar.sides, -1)
    for side in (calendar.home, calendar.away):
        np.minimum.at(first, side, np.arange(calendar.size))
        np.maximum.at(last, side, np.arange(calendar.size))
    size = calendar.size - since
    active, played = last >= calendar.size - LAST_PART * size, last >= since
    entrants, left = np.flatnonzero(played & (first >= since)), np.flatnonzero(played & (first < since) & ~active)
    stayed = np.flatnonzero(active[entrants])[: left.size]
    days = calendar.day[since:]
    parts, places = [], np.arange(calendar.sides)
    for n in range(PLAYED_AGAIN):
        places[left[: stayed.size]] = places[entrants[stayed]]
        places[entrants] = calendar.sides + n * entrants.size + np.arange(entrants.size)
        shift = (n + 1) * (float(days[-1] - days[0]) + 1.0)
        parts.append((places[calendar.home[since:]], places[calendar.away[since:]], days + shift))
    home, away, day = (np.concatenate(column) for column in zip(*parts))
    until = np.concatenate([calendar.until[since:] - since + n * size for n in range(PLAYED_AGAIN)])
    return Calendar(
        home.astype(np.int32), away.astype(np.int32), np.zeros(home.size),
        np.tile(calendar.neutral[since:], PLAYED_AGAIN),
        np.tile(calendar.weight[since:], PLAYED_AGAIN), day, calendar.sides + PLAYED_AGAIN * entrants.size, until,
    )  # fmt: skip


def _today(recursion: Recursion, parameters: Parameters, coming: Calendar) -> tuple[Today, tuple[float, float]]:
    """What is known after the last match, of the sides to come too; and mean and variance of the home advantage."""
    calendar = recursion.calendar
    filtered = recursion.filtered if parameters is recursion.parameters else filter_league(calendar, parameters)
    mean, variance, last = kernels.last_known(calendar, filtered.path)
    more, seen = np.zeros(coming.sides - calendar.sides), int(np.sum(last >= 0))
    known = np.append(mean, more), np.append(variance, more), np.append(last, more - 1.0)
    home = float(filtered.home_path[-1, 2]), float(filtered.home_path[-1, 3])
    return Today(*known, filtered.centre, seen, calendar.size), home


def _ahead(recursion: Recursion, coming: Calendar, ratings: Array, strengths: Strengths) -> Recursion:
    """The matches to come from these ratings, with nothing expected of them yet."""
    future = copy.copy(recursion)
    future.calendar, future.since, future.strengths = coming, 0, strengths
    home = np.tile(recursion.system.home[recursion.since :], PLAYED_AGAIN)
    start = np.append(ratings, np.zeros(coming.sides - recursion.calendar.sides))
    future.system = recursion.system._replace(home=home, start=start)
    future.expected = ExpectedMatches(*(np.zeros(coming.size) for _ in ExpectedMatches._fields))
    return future


def play_on(recursion: Recursion, ratings: Array) -> Recursion:
    """The matches to come as the theory follows them, from ratings (sides, less where newcomers begin)."""
    parameters, coming = recursion.parameters, future_calendar(recursion.calendar, recursion.since)
    (today, home), size = _today(recursion, parameters, coming), coming.size
    strengths = Strengths(np.empty((size, 2)), np.empty((size, 2)), np.zeros((size, 2)), np.zeros(size))
    kernels.foresee_sides(coming, parameters, today, strengths)
    strengths.home[~coming.neutral] = home[0]
    future = _ahead(recursion, coming, ratings, strengths)
    kernels.expect_results(strengths, parameters, hermite(future.nodes), future.expected)
    return future


def replays_ahead(
    recursion: Recursion, parameters: Parameters, ratings: Array, generators: list[np.random.Generator]
) -> Iterator[Recursion]:
    """The matches to come with results that are drawn, once for each generator.

    Strengths and results are then known, so that what the recursion expects is what happens, and its loss is the loss.
    """
    coming = future_calendar(recursion.calendar, recursion.since)
    (today, known), size = _today(recursion, parameters, coming), coming.size
    years = np.diff(coming.day, prepend=recursion.calendar.day[-1]) / YEAR
    for g in generators:
        strength, home, result = np.empty((size, 2)), np.zeros(size), np.empty(size)
        theta = today.mean + np.sqrt(today.variance) * g.standard_normal(coming.sides)
        kernels.draw_sides(coming, parameters, today._replace(mean=theta), g.standard_normal((size, 2)), strength)
        walk = np.cumsum(parameters.home_drift * np.sqrt(years) * g.standard_normal(size))
        first = known[0] + math.sqrt(known[1]) * g.standard_normal()
        home[~coming.neutral] = (first + walk)[~coming.neutral]
        kernels.draw_results(strength, home, parameters, g.random(size), result)
        one = _ahead(recursion, coming, ratings, Strengths(strength, np.zeros((size, 2)), np.zeros((size, 2)), home))
        one.expected.score[:], one.expected.square[:], one.nodes = result, result**2, 1
        yield one
