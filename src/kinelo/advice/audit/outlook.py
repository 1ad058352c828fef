"""The matches to come: which K is best from today's ratings on, and why the past may have wanted another.

The later half of the calendar is played twice more. Sides begin with today's ratings and with strengths as all results
tell them; who entered during that half enters again, as somebody new. Strengths then move as they did. Where everybody
began at one rating, the past asked for a large K until strengths were found, and the future does not.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.backtest import Difference, KBacktest, lowest
from kinelo.advice.audit.estimate import filter_league, hermite
from kinelo.advice.audit.in_use import SystemInUse, anew, own_losses
from kinelo.advice.audit.kernels import Array, Calendar, ExpectedMatches, Parameters, Strengths
from kinelo.advice.audit.recursion import RECURSION_NODES, Recursion
from kinelo.matches.matches import Matches
from kinelo.model.steps import FallingSteps

OTHER = 1.25
"""Two K this factor apart are not the same."""
BOOSTS, HALVING_MATCHES = (1.0, 2.0, 4.0, 8.0, 16.0), (3.0, 10.0, 30.0)
"""Steps of newcomers that are tried: how much larger at first, and matches until half of that is gone."""

PLAYED_AGAIN = 2
"""How often the later half is played."""
LAST_PART = 0.2
"""Who played in this last part of the later half is still there."""
OUTLOOK_RUNG, OUTLOOK_RUNGS = 1.5, 4
"""K tried under other parameters: this factor apart, so many on either side."""
MOST_FOLLOWED = 2e6
"""Matches followed in all under other parameters, about."""


class BestK(Protocol):
    """A K with its 95 % interval."""

    @property
    def k(self) -> float:
        """The K."""
        ...

    @property
    def low(self) -> float:
        """Lower end."""
        ...

    @property
    def high(self) -> float:
        """Upper end."""
        ...


@dataclass(frozen=True)
class StartRemedy:
    """Another way to find strengths soon, and how much more the system in use loses on the later half."""

    words: str
    gain: Difference


@dataclass(frozen=True)
class Outlook:
    """The best K over matches to come, from today's ratings on.

    Attributes
    ----------
    k, low, high
        The best K with its 95 % interval: that of the past where the past says nothing else of the future.
    matches
        How many matches to come it is best for.
    gain
        How much more per match the K in use is expected to lose on them; None where that is not one number.
    past, future
        Theory's best K of the later half, and of the matches to come.
    known_starts
        Theory's best K of the later half, had every side begun at its strength: what ``past`` lies above it was needed
        to find strengths.
    remedies
        What would have found them sooner; empty where the future wants what the past wanted.
    """

    k: float
    low: float
    high: float
    matches: int
    gain: float | None
    past: float
    future: float
    known_starts: float
    remedies: tuple[StartRemedy, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the matches to come want another K than the past did."""
        return abs(math.log(self.future / self.past)) > math.log(OTHER)

    @property
    def finding_strengths(self) -> bool:
        """Whether the past wanted a larger K because sides began away from their strengths."""
        return self.differs and self.future < self.past and self.known_starts * OTHER < self.past


def look_ahead(
    recursion: Recursion, drawn: list[Parameters], ratings: Array, advice: BestK, past: float, in_use: float | None
) -> Outlook:
    """What the matches to come want, from today's ``ratings`` (sides, less where newcomers begin).

    By theory it is a ratio to what the past wanted (theory's K is ``past``), which the backtest knows as well.
    """
    ahead = play_on(recursion, recursion.parameters, ratings)
    best, known = ahead.best(), with_known_starts(recursion).best()

    def gain(k: float) -> float | None:
        return None if in_use is None else ahead.loss(in_use) - ahead.loss(k)

    found = Outlook(advice.k, advice.low, advice.high, ahead.calendar.size, gain(advice.k), past, best, known)
    if not found.differs:
        return found
    ks = best * OUTLOOK_RUNG ** np.arange(-OUTLOOK_RUNGS, OUTLOOK_RUNGS + 1.0)
    number = int(np.clip(MOST_FOLLOWED / (ks.size * ahead.calendar.size), 4, len(drawn)))
    some = [drawn[n] for n in np.linspace(0, len(drawn) - 1, number).astype(int)]
    others = [play_on(recursion, parameters, ratings) for parameters in some]
    bests = lowest(ks, np.array([[one.loss(float(k)) for one in others] for k in ks]))
    reach = math.hypot(2.0 * float(np.log(bests).std(ddof=1)), 0.5 * math.log(advice.high / advice.low))
    k = advice.k * best / past
    return replace(found, k=k, low=k * math.exp(-reach), high=k * math.exp(reach), gain=gain(k))


def find_remedies(
    recursion: Recursion, in_use: SystemInUse, matches: Matches, k: float, measured: KBacktest
) -> tuple[StartRemedy, ...]:
    """What finding strengths sooner would have done to the later half: a larger K at first, and a starting list."""
    since, own = recursion.since, own_losses(in_use.blank(), matches)
    rule = first_steps(recursion, k)
    provisional = own_losses(anew(in_use.rater, k=rule, k_of=None), matches)
    mean, _, last = kernels.last_known(_until(recursion.calendar, since), recursion.filtered.path)
    names = {matches.teams[n]: in_use.rater.initial + float(mean[n]) for n in np.flatnonzero(last >= 0)}
    listed = own.copy()
    listed[since:] = own_losses(anew(in_use.rater, k=k, k_of=None, start=names), matches[since:])
    first = 2.0 * rule.gamma * (1.0 + rule.boost)
    return (
        StartRemedy(
            f"a larger K for the first matches of a side (K = {first:.0f} falling to {k:.3g}, halfway after "
            f"{rule.matches:.0f} matches: --k {k:.3g} --k-first {first:.0f} --k-halfway {rule.matches:g}, or "
            f"k=FallingSteps({rule.gamma:.3g}, boost={rule.boost:g}, matches={rule.matches:g}))",
            measured.saving(own - provisional),
        ),
        StartRemedy(
            f"a starting list (the strengths that the earlier half shows, then K = {k:.3g}: --start, or start=)",
            measured.saving(own - listed),
        ),
    )


def first_steps(recursion: Recursion, k: float) -> FallingSteps:
    """A step that falls to K/2 as a side plays: the one with the least expected loss over all matches."""
    calendar = recursion.calendar
    before = matches_before(calendar)
    tried = [FallingSteps(k / 2, boost, matches) for boost in BOOSTS for matches in HALVING_MATCHES]
    weight = calendar.weight[:, None]
    steps = (weight * rule.gamma * (1 + rule.boost * rule.matches / (rule.matches + before)) for rule in tried)
    losses = [float(recursion.follow(one).loss.mean()) for one in steps]
    return tried[int(np.argmin(losses))]


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


def play_on(recursion: Recursion, parameters: Parameters, ratings: Array) -> Recursion:
    """The matches to come as the theory follows them, from ratings (sides, less where newcomers begin)."""
    calendar = recursion.calendar
    coming = future_calendar(calendar, recursion.since)
    filtered = recursion.filtered if parameters is recursion.parameters else filter_league(calendar, parameters)
    mean, variance, last = kernels.last_known(calendar, filtered.path)
    size, more = coming.size, coming.sides - calendar.sides
    known = (np.append(mean, np.zeros(more)), np.append(variance, np.zeros(more)), np.append(last, np.full(more, -1.0)))
    strengths = Strengths(np.empty((size, 2)), np.empty((size, 2)), np.zeros((size, 2)), np.zeros(size))
    kernels.foresee_sides(coming, parameters, *known, filtered.centre, int(np.sum(last >= 0)), *strengths[:3])
    strengths.home[~coming.neutral] = filtered.home_path[-1, 2]
    future = copy.copy(recursion)
    future.calendar, future.parameters, future.since, future.strengths = coming, parameters, 0, strengths
    home = np.tile(recursion.system.home[recursion.since :], PLAYED_AGAIN)
    future.system = recursion.system._replace(home=home, start=np.append(ratings, np.zeros(more)))
    future.expected = ExpectedMatches(*(np.empty(size) for _ in ExpectedMatches._fields))
    kernels.expect_results(strengths, parameters, hermite(RECURSION_NODES), future.expected)
    return future


def matches_before(calendar: Calendar) -> Array:
    """How many matches both sides have played before each (n × 2)."""
    side = np.column_stack([calendar.home, calendar.away]).ravel()
    order = np.argsort(side, kind="stable")
    first = np.flatnonzero(np.diff(side[order], prepend=-1))
    before = np.empty(side.size)
    before[order] = np.arange(side.size) - np.repeat(first, np.diff(first, append=side.size))
    return before.reshape(-1, 2)


def _until(calendar: Calendar, end: int) -> Calendar:
    """The first matches of a calendar."""
    return calendar._replace(home=calendar.home[:end], away=calendar.away[:end])


def with_known_starts(recursion: Recursion) -> Recursion:
    """The past as if every side had begun at its strength, as all results tell it."""
    calendar, start = recursion.calendar, np.zeros(recursion.calendar.sides)
    for k in range(calendar.size - 1, -1, -1):
        start[calendar.home[k]], start[calendar.away[k]] = recursion.strengths.mean[k]
    other = copy.copy(recursion)
    other.system = recursion.system._replace(start=start)
    return other
