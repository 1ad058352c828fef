"""Monthly lists: which games stand on which list, and what a list makes of the one before it.

A list holds on from the first day of its month. An event is rated by the list in force when it began (8.3.1), and on
the first list that is dated at least three days after its end (7.1.3). Matches without an event are rated by the list
of their month, and on the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from kinelo.errors import InputError
from kinelo.raters.fide import regulations as rules

CLOSING_DAYS = 3
LONGEST_EVENT = 30
BEGINNING = -1
"""In the place of a list: the one that a rater begins with."""


def list_of(day: date) -> int:
    """The list in force on a day, counted in months."""
    return 12 * day.year + day.month - 1


def first_day(number: int) -> date:
    """The day from which a list is in force.

    >>> first_day(list_of(date(2024, 12, 31)))
    datetime.date(2024, 12, 1)
    """
    return date(number // 12, number % 12 + 1, 1)


class Game(NamedTuple):
    """One game: both players, half points of the first, its day and its event (blank where there is none)."""

    white: str
    black: str
    halves: int
    day: int
    event: str


@dataclass
class Player:
    """What lists and results say of one player."""

    rating: int | None = None
    games: int = 0
    highest: int = 0
    born: int | None = None
    begun: bool = False
    """Whether an event of the player stands on a list: zero points count from the second on."""
    pool: list[tuple[int, int, int]] = field(default_factory=list)
    """List, opponent's rating and half points of each game without a rating of one's own."""
    history: list[tuple[int, int | None]] = field(default_factory=list)
    """Lists on which the rating changed, and the rating from there on."""
    last_day: int | None = None
    played: int = 0

    def rating_on(self, number: int) -> int | None:
        """The rating on a list; before the first list, the one to begin with."""
        rating_then = None
        for since, rating in self.history:
            if since > number:
                break
            rating_then = rating
        return rating_then

    def k(self, number: int) -> int:
        """K as a list publishes it."""
        return rules.development_coefficient(self.games, self.highest, self.born, number // 12)

    def put_on(self, number: int, rating: int | None) -> None:
        """Enter a rating, or none, on a list."""
        if rating != self.rating or not self.history:
            self.history.append((number, rating))
        self.rating = rating
        if rating is not None:
            self.highest, self.begun = max(self.highest, rating), True


class Line(NamedTuple):
    """One game in the calculation of one player's rating: PD and ΔR in hundredths."""

    name: str
    opponent: str
    day: int
    own: int
    opponent_rating: int
    difference: int
    expected: int
    halves: int

    @property
    def change(self) -> int:
        """ΔR = score − PD."""
        return 50 * self.halves - self.expected


@dataclass
class RatingLists:
    """Everyone on the lists up to now, and the games that no list holds yet."""

    as_of: date | None
    players: dict[str, Player] = field(default_factory=dict)
    pending: list[Game] = field(default_factory=list)
    current: int = BEGINNING
    """The last list that was made."""
    ended: dict[str, int] = field(default_factory=dict)
    """The last day of each event that stands on a list."""
    lines: list[Line] = field(default_factory=list)
    """The calculation of the last list."""
    coefficients: dict[str, int] = field(default_factory=dict)
    """K that the last list was made with, of those who played."""
    first: dict[str, int] = field(default_factory=dict)
    """Who has a first rating on the last list."""

    @property
    def latest(self) -> int | None:
        """Day of the last match handed over."""
        return max((p.last_day for p in self.players.values() if p.last_day is not None), default=None)

    def add(self, games: list[Game]) -> None:
        """Take games in order of their days, and make every list that is due on the last of these days.

        Raises before anything is changed where the regulations do not say how to rate them.
        """
        if not games:
            return
        self._check(games)
        for game in games:
            for name in (game.white, game.black):
                player = self.players.setdefault(name, Player())
                player.last_day, player.played = game.day, player.played + 1
        self.pending = sorted([*self.pending, *games], key=attrgetter("day"))
        self.make_lists(list_of(date.fromordinal(games[-1].day)))

    def _check(self, games: list[Game]) -> None:
        if self.as_of is None:
            rules.check_in_force(date.fromordinal(min(game.day for game in games)))
        for game in games:
            over = self.ended.get(game.event)
            if game.event and over is not None and game.day - over <= LONGEST_EVENT:
                raise InputError(
                    f"The event {game.event!r} stands on a list since its match of {date.fromordinal(over)}, and its "
                    f"match of {date.fromordinal(game.day)} comes later; hand over events whole."
                )
        for event in events_of([*self.pending, *games]):
            if event.end - event.start > LONGEST_EVENT:
                raise InputError(
                    f"The event {event.name!r} lasts {event.end - event.start} days. An event of more than "
                    f"{LONGEST_EVENT} days is rated in parts: give each part a name of its own, or rate without events."
                )

    def due(self) -> int:
        """The first list that can hold all games handed over."""
        return max((event.list for event in events_of(self.pending)), default=self.current)

    def make_lists(self, until: int) -> None:
        """Make every list up to one."""
        events = events_of(self.pending)
        if self.current == BEGINNING:
            self.current = min(event.base for event in events) if events else until
        by_list = {number: list(group) for number, group in groupby(sorted(events, key=_list), key=_list)}
        for number in range(self.current + 1, until + 1):
            self._make(number, by_list.pop(number, []))
        self.current = max(self.current, until)
        self.pending = [game for group in by_list.values() for event in group for game in event.games]
        self.pending.sort(key=attrgetter("day"))

    def _make(self, number: int, events: list[Event]) -> None:
        """Make one list of the one before it and the events that it holds."""
        before = {name: self.players[name].rating for event in events for name in event.names}
        coefficient = {name: self.players[name].k(number - 1) for name in before}
        self.lines, self.first, self.coefficients = [], {}, {}
        for event in events:
            newcomers = [name for name in event.names if before[name] is None and not self.players[name].begun]
            unheard = {name for name in newcomers if event.points(name) == 0}  # 8.2.1
            for name in newcomers:
                self.players[name].begun = True
            for game in event.games:
                for name, opponent, halves in (
                    (game.white, game.black, game.halves),
                    (game.black, game.white, 2 - game.halves),
                ):
                    self._rate(number, event, before, unheard, Line(name, opponent, game.day, 0, 0, 0, 0, halves))
            if event.name:
                self.ended[event.name] = event.end
        changes: dict[str, list[int]] = {name: [] for name in sorted(before)}
        for line in self.lines:
            changes[line.name].append(line.change)
        for name, own in changes.items():
            self._conclude(number, name, own, coefficient[name])

    def _rate(self, number: int, event: Event, before: dict[str, int | None], unheard: set[str], line: Line) -> None:
        """Count a game for one of its players; only games against rated opponents count."""
        opponent = self.players[line.opponent].rating_on(event.base)
        if opponent is None or line.name in unheard:
            return
        now, player = before[line.name], self.players[line.name]
        if now is None:
            player.pool.append((number, opponent, line.halves))
            return
        then = player.rating_on(event.base)
        rating = now if then is None else then  # rated only after the event began, 8.2.4
        began = date.fromordinal(event.start) if self.as_of is None else self.as_of
        difference = rules.counted_difference(rating, opponent, began)
        expected = rules.score_probability(difference)
        self.lines.append(line._replace(own=rating, opponent_rating=opponent, difference=difference, expected=expected))

    def _conclude(self, number: int, name: str, changes: list[int], k: int) -> None:
        """The rating of one player on a list, after all its games."""
        player = self.players[name]
        if player.rating is None:
            player.pool = [one for one in player.pool if one[0] > number - rules.POOLED_MONTHS]
            first_rating = rules.first_rating([one[1] for one in player.pool], sum(one[2] for one in player.pool))
            if first_rating is not None:
                player.games += len(player.pool)
                player.pool = []
                player.put_on(number, first_rating)
                self.first[name] = first_rating
            return
        if not changes:
            return
        k = self.coefficients[name] = rules.coefficient_of_period(k, len(changes))
        player.games += len(changes)
        rating = player.rating + rules.rounded_change(k * sum(changes))
        player.put_on(number, rating if rating >= rules.FLOOR else None)

    def plain(self) -> dict[str, Any]:
        """All of it as numbers, texts and lists."""
        return asdict(self) | {"as_of": None if self.as_of is None else self.as_of.isoformat()}

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> RatingLists:
        """What :meth:`plain` gave."""
        made = cls(None if plain["as_of"] is None else date.fromisoformat(plain["as_of"]))
        for name, one in plain["players"].items():
            player = Player(**one)
            player.pool = [(int(a), int(b), int(c)) for a, b, c in player.pool]
            player.history = [(int(a), None if b is None else int(b)) for a, b in player.history]
            made.players[str(name)] = player
        made.pending = [Game(*game) for game in plain["pending"]]
        made.current, made.ended, made.first = int(plain["current"]), dict(plain["ended"]), dict(plain["first"])
        made.lines, made.coefficients = [Line(*line) for line in plain["lines"]], dict(plain["coefficients"])
        return made


class Event(NamedTuple):
    """Games that are rated together: the list that they are rated by, and the one that they stand on."""

    name: str
    games: tuple[Game, ...]

    @property
    def start(self) -> int:
        """The first day."""
        return self.games[0].day

    @property
    def end(self) -> int:
        """The last day."""
        return self.games[-1].day

    @property
    def base(self) -> int:
        """The list in force when it began."""
        return list_of(date.fromordinal(self.start))

    @property
    def list(self) -> int:
        """The list that it stands on."""
        if not self.name:
            return self.base + 1
        return list_of(date.fromordinal(self.end) + timedelta(CLOSING_DAYS - 1)) + 1

    @property
    def names(self) -> set[str]:
        """Everyone who plays."""
        return {name for game in self.games for name in (game.white, game.black)}

    def points(self, name: str) -> int:
        """Half points of one player."""
        return sum(
            (game.halves if game.white == name else 2 - game.halves)
            for game in self.games
            if name in (game.white, game.black)
        )


_list = attrgetter("list")


def events_of(games: list[Game]) -> list[Event]:
    """Games by event, in order of their first days; those without one by month."""
    return sorted(_events(games), key=lambda event: (event.start, event.name))


def _events(games: list[Game]) -> Iterator[Event]:
    ordered = sorted(games, key=attrgetter("event", "day"))
    for name, group in groupby(ordered, key=attrgetter("event")):
        open_: list[Game] = []
        for game in group:
            month = list_of(date.fromordinal(game.day))
            apart = (
                open_ and game.day - open_[-1].day > LONGEST_EVENT
                if name
                else open_ and month != list_of(date.fromordinal(open_[-1].day))
            )
            if apart:
                yield Event(name, tuple(open_))
                open_ = []
            open_.append(game)
        if open_:
            yield Event(name, tuple(open_))
