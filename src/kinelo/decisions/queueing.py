"""Lobbies from a queue: those who wait become lobbies, as even as can be within the time that they may wait.

Whoever has waited longest is served first. Around such an anchor the nearest in rating who fit (parties stay together
on a side, regions and roles have to go) make a lobby, and it is split into sides as evenly as their parties allow. It
starts if its ratings are even enough, or if the anchor has waited as long as anybody should; else the anchor waits for
somebody nearer. Doubt of ratings, which no waiting takes away, holds nobody up.

How even a lobby is: ``1 − E[(P(win) − P(loss))²]`` over what is believed of ratings, in the mean over all pairs of
sides; a side is the mean of its players, as raters of contests take it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.model.outcome import CHESS_NU
from kinelo.model.validation import is_text, one_line, whole
from kinelo.presentation import Table, counted, number, words
from kinelo.raters.hermite import HERMITE_NODES, HERMITE_WEIGHTS
from kinelo.raters.questions import answering

Array = NDArray[np.float64]
NEWCOMER = 200.0
"""Deviation of who has no rating, and of ratings that say none."""
LOOKED_AT = 4
"""How many times as many as a lobby takes are looked at around an anchor."""
MOST_PARTIES = 12
"""Tickets of a lobby up to which all ways to split it are looked at."""


@dataclass(frozen=True)
class Ticket:
    """Who waits: a player or a party, for how many seconds, in which regions (none: any), in which roles each could
    play (nothing said: any)."""

    players: tuple[str, ...]
    waited: float = 0.0
    regions: tuple[str, ...] = ()
    roles: Mapping[str, Sequence[str]] | None = None


@dataclass(frozen=True)
class Lobby:
    """A match to be started: its sides, how even it is believed to be, its region (none: any), and how long who waited
    longest has waited."""

    sides: tuple[tuple[str, ...], ...]
    quality: float
    region: str
    waited: float


@dataclass(frozen=True)
class Lobbies:
    """What a lobby is, and how long to wait for one.

    Parameters
    ----------
    sides, size
        How many sides there are, and how many play on each: 2 and 5, or 8 and 1 where everybody plays for himself.
    patience
        Seconds after which somebody starts in the best lobby there is.
    good
        How even a lobby must be (0 to 1) to start before that, by its ratings as if they were sure.
    roles
        How many on a side play each role, ``{"tank": 1, "healer": 1, "fighter": 3}``.
    """

    sides: int = 2
    size: int = 5
    patience: float = 60.0
    good: float = 0.97
    roles: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        for name, low, high in (("sides", 2, 100), ("size", 1, 100)):
            if whole(name, getattr(self, name), low) > high:
                raise InputError(f"{name} is at most {high}, not {getattr(self, name)}.")
        check_number("a queue", "patience", self.patience, 0.0, 1e9)
        check_number("a queue", "good", self.good, 0.0, 1.0)
        if self.roles is not None and sum(whole(one_line(k), n, 0) for k, n in self.roles.items()) != self.size:
            raise InputError(f"Roles of a side are as many as play on it, {self.size}.")


class _Waiting(NamedTuple):
    """A ticket with the mean of its ratings, and the sum of their variances."""

    ticket: Ticket
    size: int
    rating: float
    variance: float


def form_lobbies(rated: Any, waiting: Iterable[Ticket], what: Lobbies | None = None) -> list[Lobby]:
    """Lobbies that start now, of those who wait; who is in none of them waits on.

    >>> import kinelo as kn
    >>> played = {"race": [1] * 6, "driver": list("ABCDEF"), "place": [1, 2, 3, 4, 5, 6]}
    >>> rater = kn.RankElo().update(kn.read_contests(played))
    >>> queue = [Ticket((name,), waited=40.0 if name == "A" else 5.0) for name in "ABCDEF"]
    >>> [lobby.sides for lobby in form_lobbies(rater, queue, Lobbies(size=1, patience=30.0, good=1.0))]
    [(('A',), ('B',))]
    """
    what, tickets = what or Lobbies(), list(waiting)
    names = [name for ticket in tickets for name in ticket.players]
    for ticket in tickets:
        if not 1 <= len(ticket.players) <= what.size or not all(is_text(name) for name in ticket.players):
            raise InputError(f"A party has 1 to {what.size} names here, not {one_line(list(ticket.players))}.")
        check_number("a queue", "waited", ticket.waited, 0.0, 1e9)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{twice!r:.60} waits twice.")
    return [lobby for lobby, _ in _formed(_queue(_ratings_of(rated, names), tickets), what, _even)]


def _ratings_of(rated: Any, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Rating and variance of everyone named; those who are not rated count as newcomers."""
    rater = answering(rated, "match_quality", names)[0]
    newcomer = (float(getattr(rater, "initial", 1500.0)), NEWCOMER**2)
    ratings = dict.fromkeys(names, newcomer)
    try:
        table = rater.ratings_
    except InputError:  # nobody has played yet
        return ratings
    doubts = table["uncertainty"] if "uncertainty" in table.columns else [None] * table.height
    for name, rating, doubt in zip(table["name"], table["rating"], doubts):
        if name in ratings:
            ratings[name] = float(rating), NEWCOMER**2 if doubt is None or doubt != doubt else float(doubt) ** 2
    return ratings


def _queue(known: Mapping[str, tuple[float, float]], tickets: Iterable[Ticket]) -> list[_Waiting]:
    queue = []
    for ticket in tickets:
        numbers = [known[name] for name in ticket.players]
        rating = math.fsum(x for x, _ in numbers) / len(numbers)
        queue.append(_Waiting(ticket, len(numbers), rating, math.fsum(v for _, v in numbers)))
    return queue


Split = Callable[[Sequence[_Waiting], Lobbies], list[list[_Waiting]] | None]


def _formed(queue: Sequence[_Waiting], what: Lobbies, split: Split) -> list[tuple[Lobby, list[_Waiting]]]:
    """Lobbies that start now, each with its tickets."""
    order = sorted(range(len(queue)), key=lambda k: (-queue[k].ticket.waited, k))
    by_rating = sorted(range(len(queue)), key=lambda k: (queue[k].rating, k))
    where = {k: at for at, k in enumerate(by_rating)}
    gone: set[int] = set()
    formed = []
    for anchor in order:
        if anchor in gone:
            continue
        chosen = _around(anchor, queue, by_rating, where, gone, what)
        sides = None if chosen is None else split([queue[k] for k in chosen[0]], what)
        if chosen is None or sides is None:
            continue
        if evenness(sides, doubt=0.0) >= what.good or queue[anchor].ticket.waited >= what.patience:
            gone |= set(chosen[0])
            names = tuple(tuple(name for one in side for name in one.ticket.players) for side in sides)
            members = [queue[k] for k in chosen[0]]
            formed.append((Lobby(names, evenness(sides), chosen[1], queue[anchor].ticket.waited), members))
    return formed


def _around(
    anchor: int, queue: Sequence[_Waiting], by_rating: Sequence[int], where: Mapping[int, int], gone: set[int],
    what: Lobbies,
) -> tuple[list[int], str] | None:  # fmt: skip
    """The nearest in rating who make a lobby with an anchor, and its region; None where they do not."""
    need, left, right = what.sides * what.size, where[anchor] - 1, where[anchor] + 1
    chosen, regions, count = [anchor], set(queue[anchor].ticket.regions), queue[anchor].size
    looked, most = 0, LOOKED_AT * need
    while count < need and looked < most and (left >= 0 or right < len(by_rating)):
        below = queue[anchor].rating - queue[by_rating[left]].rating if left >= 0 else math.inf
        above = queue[by_rating[right]].rating - queue[anchor].rating if right < len(by_rating) else math.inf
        nearest = by_rating[left] if below <= above else by_rating[right]
        left, right = (left - 1, right) if below <= above else (left, right + 1)
        if nearest in gone:
            continue
        looked += 1
        ticket = queue[nearest].ticket
        both = regions & set(ticket.regions) if regions and ticket.regions else regions or set(ticket.regions)
        if (regions and ticket.regions and not both) or count + queue[nearest].size > need:
            continue
        if not _fits([queue[k] for k in (*chosen, nearest)], what):
            continue
        chosen, regions, count = [*chosen, nearest], both, count + queue[nearest].size
    return (chosen, min(regions, default="")) if count == need else None


def _fits(tickets: Sequence[_Waiting], what: Lobbies) -> bool:
    """Whether these tickets can stand together in a lobby: parties on sides, players in roles."""
    room = [what.size] * what.sides
    for size in sorted((one.size for one in tickets), reverse=True):
        side = next((k for k, free in enumerate(room) if free >= size), None)
        if side is None:
            return False
        room[side] -= size
    return what.roles is None or _cast(tickets, {role: n * what.sides for role, n in what.roles.items()})


def _cast(tickets: Sequence[_Waiting], places: Mapping[str, int]) -> bool:
    """Whether everybody of these has a role of those that are wanted, by paths that move others elsewhere."""
    wants = [
        [role for role in (one.ticket.roles or {}).get(name, places) if places.get(role, 0)]
        for one in tickets for name in one.ticket.players
    ]  # fmt: skip
    holders: dict[str, list[int]] = {role: [] for role in places}

    def seat(player: int, seen: set[str]) -> bool:
        for role in wants[player]:
            if role in seen:
                continue
            seen.add(role)
            if len(holders[role]) < places[role]:
                holders[role].append(player)
                return True
            for k, other in enumerate(holders[role]):
                if seat(other, seen):
                    holders[role][k] = player
                    return True
        return False

    return all(seat(player, set()) for player in range(len(wants)))


def _splits(tickets: Sequence[_Waiting], what: Lobbies) -> Iterable[list[list[_Waiting]]]:
    """Ways to split a lobby into sides: all of two sides of few tickets, else those dealt in turn."""
    if what.size == 1:
        yield [[one] for one in tickets]
        return
    if what.sides == 2 and len(tickets) <= MOST_PARTIES:
        for count in range(len(tickets)):
            for others in combinations(range(1, len(tickets)), count):
                if tickets[0].size + sum(tickets[k].size for k in others) == what.size:
                    own = {0, *others}
                    yield [[tickets[k] for k in sorted(own)], [t for k, t in enumerate(tickets) if k not in own]]
        return
    yield from _turns(tickets, what)


def _turns(tickets: Sequence[_Waiting], what: Lobbies) -> Iterable[list[list[_Waiting]]]:
    """Large parties first, and of those of a size the strongest, each dealt to the weakest side that has room."""
    sides: list[list[_Waiting]] = [[] for _ in range(what.sides)]
    room, total = [what.size] * what.sides, [0.0] * what.sides
    for ticket in sorted(tickets, key=lambda ticket: (-ticket.size, -ticket.rating)):
        free = [k for k in range(what.sides) if room[k] >= ticket.size]
        if not free:
            return
        at = min(free, key=lambda k: (total[k], k))
        sides[at].append(ticket)
        room[at] -= ticket.size
        total[at] += ticket.rating * ticket.size
    yield sides


def _even(tickets: Sequence[_Waiting], what: Lobbies) -> list[list[_Waiting]] | None:
    """The most even split, in which every side has its roles; None where there is none."""
    best, least = None, math.inf
    for sides in _splits(tickets, what):
        means = [math.fsum(one.rating * one.size for one in side) / what.size for side in sides]
        apart = math.fsum((a - b) ** 2 for a, b in combinations(means, 2))
        if apart < least and (what.roles is None or all(_cast(side, what.roles) for side in sides)):
            best, least = sides, apart
    return best


def _dealt(tickets: Sequence[_Waiting], what: Lobbies) -> list[list[_Waiting]] | None:
    """Sides dealt in turn, the first split that has its roles: what who pairs by nearest rating does."""
    for sides in (*_turns(tickets, what), *_splits(tickets, what)):
        if what.roles is None or all(_cast(side, what.roles) for side in sides):
            return sides
    return None


def evenness(sides: Sequence[Sequence[Any]], doubt: float = 1.0) -> float:
    """How even sides of tickets are believed to be, in the mean over pairs; a doubt of 0 looks at ratings alone."""
    numbers = []
    for side in sides:
        size = sum(one.size for one in side)
        rating = math.fsum(one.rating * one.size for one in side) / size
        numbers.append((rating, math.fsum(one.variance for one in side) / size**2))
    mean, spread = np.array([(a[0] - b[0], math.sqrt(a[1] + b[1])) for a, b in combinations(numbers, 2)]).T
    apart = np.tanh(CHESS_NU * (mean[:, None] + doubt * spread[:, None] * HERMITE_NODES))
    return float(np.mean(1.0 - apart**2 @ HERMITE_WEIGHTS))


# What to expect of it


@dataclass(frozen=True)
class Policy:
    """What a way to make lobbies comes to: lobbies started, seconds waited (mean, and of 95 % not more), evenness by
    true strengths, mean chance of the favourite side, and players who still waited at the end."""

    name: str
    lobbies: int
    waited: float
    waited_95: float
    quality: float
    favourite: float
    left: int


@dataclass(frozen=True)
class QueueTrial:
    """Ways to make lobbies beside one another, on the same players who arrive at the same times."""

    policies: tuple[Policy, ...]
    minutes: float
    players: int

    def table(self) -> Table:
        """A row for each way."""
        columns = [words("Lobbies", "name"), number("Started", "lobbies", "d"), number("Waited, s", "waited", ".0f")]
        columns += [number("95 % within, s", "waited_95", ".0f"), number("Evenness", "quality", ".3f")]
        columns += [number("Favourite wins", "favourite", ".1%"), number("Still waiting", "left", "d")]
        return Table(columns, [asdict(one) for one in self.policies], below=tuple(self.lines()))

    def lines(self) -> list[str]:
        """The difference in a sentence."""
        ours, nearest = self.policies
        time = "a minute" if self.minutes == 1 else f"{self.minutes:g} minutes"
        if not (ours.lobbies and nearest.lobbies):
            are = "is" if self.players == 1 else "are"
            return [f"{counted(self.players, 'player', 'players')} in {time} {are} too few for a lobby."]
        return [
            f"Of {counted(self.players, 'player', 'players')} in {time}: the favourite wins {ours.favourite:.1%} after "
            f"{ours.waited:.0f} seconds in the mean, by nearest rating {nearest.favourite:.1%} after "
            f"{nearest.waited:.0f} seconds."
        ]


def queue_trial(
    rated: Any,
    what: Lobbies | None = None,
    *,
    per_minute: float = 60.0,
    minutes: float = 60.0,
    parties: Mapping[int, float] | None = None,
    regions: Mapping[str, float] | None = None,
    every: float = 5.0,
    seed: int = 0,
) -> QueueTrial:
    """Simulate a queue: those who are rated arrive at random and become lobbies, by these rules and by nearest rating.

    True strengths are drawn around ratings by their deviations, once; how even a lobby is follows from them.

    Parameters
    ----------
    rated
        A rater or a book, or a mapping from names to ratings.
    what
        What a lobby is, and how long to wait. By nearest rating a lobby starts as soon as there are enough for it,
        with sides dealt in turn.
    per_minute
        Players (or parties) who arrive in a minute.
    parties
        Sizes of parties and how often they come: ``{1: 8, 2: 1, 5: 1}``; by default all come alone.
    regions
        Regions and how many are there, by default one; everybody plays in one region.
    every
        Seconds between two looks at the queue.

    >>> ratings = {f"p{k}": 1500.0 + 10.0 * (k % 41 - 20) for k in range(2000)}
    >>> found = queue_trial(ratings, Lobbies(size=1, patience=30), per_minute=20, minutes=30)
    >>> ours, nearest = found.policies
    >>> ours.quality > nearest.quality, ours.waited > nearest.waited
    (True, True)
    """
    what = what or Lobbies()
    for name, value, high in (("per_minute", per_minute, 1e5), ("minutes", minutes, 1e5), ("every", every, 1e4)):
        check_number("queue_trial", name, value, 0.0, high, above=True)
    if isinstance(rated, Mapping):
        named = {name: float(check_number("ratings", one_line(name), x, -1e6, 1e6)) for name, x in rated.items()}
        ratings = {name: (rating, 0.0) for name, rating in named.items()}
    else:
        ratings = _ratings_of(rated, answering(rated, "match_quality")[0].ratings_["name"].to_list())
    sizes, often = zip(*(parties or {1: 1.0}).items())
    if any(not 1 <= whole("a party", size, 1) <= what.size for size in sizes):
        raise InputError(f"A party has 1 to {what.size} players here.")
    generator, names = np.random.default_rng(seed), list(ratings)
    deviates = generator.normal(size=len(names))
    true = {name: x + math.sqrt(v) * z for (name, (x, v)), z in zip(ratings.items(), deviates)}
    count = int(generator.poisson(per_minute * minutes))
    times = np.sort(generator.random(count)) * 60.0 * minutes
    size_of = generator.choice(sizes, count, p=np.array(often) / sum(often))
    if len(names) < size_of.sum():
        raise InputError(f"{int(size_of.sum()):,} players arrive in that time, and {len(names):,} are rated.")
    ends = np.append(0, np.cumsum(size_of))
    who = [names[k] for k in generator.permutation(len(names))[: ends[-1]].tolist()]
    there = list(regions or {"": 1.0})
    chance = np.array(list((regions or {"": 1.0}).values()), float)
    region = generator.choice(len(there), count, p=chance / chance.sum())
    arrivals = [
        (float(t), tuple(who[a:b]), (there[r],) if there[r] else ())
        for t, (a, b), r in zip(times, pairwise(ends.tolist()), region.tolist())
    ]
    nearest = Lobbies(what.sides, what.size, 0.0, 0.0, what.roles)
    ways = (("as even as can be", what, _even), ("nearest rating", nearest, _dealt))
    policies = tuple(_simulated(name, arrivals, ratings, true, rule, split, every, 60.0 * minutes)
                     for name, rule, split in ways)  # fmt: skip
    return QueueTrial(policies, minutes, int(ends[-1]))


def _simulated(
    name: str, arrivals: Sequence[tuple[float, tuple[str, ...], tuple[str, ...]]],
    known: Mapping[str, tuple[float, float]], true: Mapping[str, float], what: Lobbies, split: Split, every: float,
    end: float,
) -> Policy:  # fmt: skip
    """Lobbies of one way, at looks every so many seconds."""
    waiting: dict[int, _Waiting] = {}
    coming, waits, even, favourites, lobbies = 0, [], [], [], 0
    for look in np.arange(every, end + every, every).tolist():
        while coming < len(arrivals) and arrivals[coming][0] <= look:
            _, players, regions = arrivals[coming]
            (waiting[coming],) = _queue(known, [Ticket(players, 0.0, regions)])
            coming += 1
        keys = list(waiting)
        queue = [one._replace(ticket=Ticket(one.ticket.players, look - arrivals[k][0], one.ticket.regions))
                 for k, one in waiting.items()]  # fmt: skip
        place = {one.ticket.players: k for k, one in zip(keys, queue)}
        for lobby, members in _formed(queue, what, split):
            lobbies += 1
            strength = [float(np.mean([true[name] for name in side])) for side in lobby.sides]
            won = [math.tanh(CHESS_NU * (a - b)) for a, b in combinations(strength, 2)]
            even.append(1.0 - float(np.mean(np.square(won))))
            favourites.append(0.5 + 0.5 * float(np.mean(np.abs(won))))
            for one in members:
                waits += [one.ticket.waited] * one.size
                del waiting[place[one.ticket.players]]
    left = sum(one.size for one in waiting.values())
    if not lobbies:
        return Policy(name, 0, math.nan, math.nan, math.nan, math.nan, left)
    return Policy(name, lobbies, float(np.mean(waits)), float(np.quantile(waits, 0.95)), float(np.mean(even)),
                  float(np.mean(favourites)), left)  # fmt: skip
