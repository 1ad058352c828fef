"""Tiers and divisions of a book: what a player is shown beside the rating, found when it is asked for.

The book keeps the rule (:class:`Tiers`), and nothing of who is in which tier. That follows from ratings on the last few
days that are looked at: a step is taken upwards as soon as its bound is reached, and downwards once the shown number is
below the bound by more than a margin. The shown number is the rating, less what it decays by while somebody rests; the
rating itself, and every forecast, knows nothing of it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.book.carrying import Carrying
from kinelo.book.contest_ledger import contests_to_rows, rows_to_contests
from kinelo.book.schema import plain_json, read_json
from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.contests import Contests
from kinelo.matches.dated import read_day
from kinelo.model.validation import is_text, one_line, whole
from kinelo.presentation import Table, counted, number, words
from kinelo.raters.adapter import carry_on, forecast_by
from kinelo.raters.slots import Key
from kinelo.raters.soft_reset import begin_seasons
from kinelo.raters.stored import LAST_DAY

if TYPE_CHECKING:
    from kinelo.book.book import RatingBook

Array = NDArray[np.float64]
TIERS = "tiers"
"""The key of ``about`` under which the rule is kept."""
LOOKS = 8
"""Days that are looked at, ``every`` so many days, the last one that of the last match."""
DRAWS, MOST_DRAWN = 20, 200_000
"""How often results are drawn, and how many at most."""


@dataclass(frozen=True)
class Tiers:
    """How a book shows ratings as tiers.

    Parameters
    ----------
    bounds
        Tiers from the lowest to the highest, each with the shown number from which it holds (of the lowest, from which
        its second division begins to be split off), or with the share of players it takes.
    by
        ``"points"``, or ``"share"`` of those placed: shares add up to 1.
    divisions
        Into how many divisions of equal width (or share) every tier but the highest is split; 1 is the best of them.
    margin
        Points below a bound until which a division is kept.
    placement
        Matches before which nobody is placed.
    decay, decay_after, decay_most
        Points a week by which the shown number decays after so many days without a match, and at most in all.
    every
        Days between two days that are looked at; steps are taken on those.

    >>> rule = Tiers({"Bronze": 1300, "Silver": 1500, "Gold": 1600}, divisions=2)
    >>> rule.steps
    (('Bronze', 2), ('Bronze', 1), ('Silver', 2), ('Silver', 1), ('Gold', 1))
    >>> rule.lower(np.empty(0))[1:].tolist()
    [1400.0, 1500.0, 1550.0, 1600.0]
    """

    bounds: Mapping[str, float]
    by: str = "points"
    divisions: int = 1
    margin: float = 0.0
    placement: int = 10
    decay: float = 0.0
    decay_after: int = 28
    decay_most: float = 200.0
    every: int = 7
    steps: tuple[tuple[str, int], ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.bounds, Mapping) or not 2 <= len(self.bounds) <= 50:
            raise InputError("Tiers are 2 to 50 names with a number each, from the lowest to the highest.")
        for name in self.bounds:
            if not is_text(name) or not name.strip() or len(name) > 200:
                raise InputError(f"{one_line(name)} is not the name of a tier.")
        values = [float(check_number("Tiers", f"bounds[{n!r:.60}]", x, -1e6, 1e6)) for n, x in self.bounds.items()]
        if self.by not in ("points", "share"):
            raise InputError(f"by is 'points' or 'share', not {self.by!r:.60}.")
        if self.by == "points" and any(b <= a for a, b in pairwise(values)):
            raise InputError("Every tier begins with more points than the one before it; name the lowest first.")
        if self.by == "share" and (min(values) <= 0.0 or abs(sum(values) - 1.0) > 1e-9):
            raise InputError(f"Shares of tiers are above 0 and add up to 1, not to {sum(values):g}.")
        for name, low, high in (("divisions", 1, 20), ("placement", 0, 10**6), ("decay_after", 0, 10**5),
                                ("every", 1, 400)):  # fmt: skip
            if whole(name, getattr(self, name), low) > high:
                raise InputError(f"{name} is at most {high:,}, not {getattr(self, name):,}.")
        for name in ("margin", "decay", "decay_most"):
            check_number("Tiers", name, getattr(self, name), 0.0, 1e6)
        names, highest = list(self.bounds), list(self.bounds)[-1]
        steps = [(name, k) for name in names[:-1] for k in range(self.divisions, 0, -1)]
        object.__setattr__(self, "steps", (*steps, (highest, 1)))

    def lower(self, shown: Array) -> Array:
        """The number from which each step holds, given the shown numbers of all who are placed; none for the lowest."""
        values, parts = list(self.bounds.values()), np.arange(self.divisions) / self.divisions
        if self.by == "points":
            inner = [a + (b - a) * parts for a, b in pairwise(values)]
            return np.concatenate([[-math.inf], np.concatenate(inner)[1:], [values[-1]]])
        below = np.concatenate([[0.0], np.cumsum(values)[:-1]])
        share = np.concatenate([*(a + x * parts for a, x in zip(below[:-1], values)), below[-1:]])
        if not shown.size:
            return np.append(-math.inf, np.full(share.size - 1, math.inf))
        ordered = np.sort(shown)
        return np.append(-math.inf, ordered[np.minimum((share[1:] * shown.size).round().astype(int), shown.size - 1)])

    def shown(self, rating: Array, idle: Array) -> Array:
        """Ratings as they are shown after so many days without a match."""
        weeks = np.maximum(idle - self.decay_after, 0) / 7.0
        return rating - np.minimum(self.decay * weeks, self.decay_most)

    def step(self, before: NDArray[np.int64], shown: Array, lower: Array) -> NDArray[np.int64]:
        """Steps after a look, from those before it (−1: none) and the shown numbers.

        >>> rule = Tiers({"Low": 0, "High": 100}, margin=30)
        >>> rule.step(np.array([1, 1, 0, 0, -1]), np.array([75.0, 65.0, 75.0, 100.0, 75.0]), rule.lower(np.empty(0)))
        array([1, 0, 0, 1, 0])
        """
        plain = np.searchsorted(lower[1:], shown, side="right")
        kept = np.searchsorted(lower[1:] - self.margin, shown, side="right")
        return np.minimum(np.maximum(before, plain), np.maximum(kept, plain))


class Seen(NamedTuple):
    """Everyone with a rating on a day: keys, ratings, matches and days without a match."""

    keys: list[Key]
    rating: Array
    matches: NDArray[np.int64]
    idle: Array


@dataclass(frozen=True)
class TierBoard:
    """Who is in which tier: a row for each rated, the highest shown number of each kind first, and the last day.

    Rows have place, kind, name, rating, shown, tier, division, matches, idle (days without one), to_place (matches
    left until placed) and moved (steps since the look before; none of those who were not placed then).
    """

    date: str
    rows: tuple[dict[str, Any], ...]
    bounds: Mapping[str, tuple[float | None, ...]]
    """By kind, the number from which each step holds now, from the lowest."""

    def table(self) -> Table:
        """The board as terminal and page show it."""
        columns = [
            number("", "place", "d"),
            words("Name", "name"),
            words("Tier", "tier"),
            number("Shown", "shown", ".0f"),
        ]
        columns += [number("Rating", "rating", ".0f"), number("Matches", "matches", "d")]
        several = [words("Kind", "kind")] if len(self.bounds) > 1 else []
        rows = []
        for row in self.rows:
            arrow = "" if not row["moved"] else " ↑" if row["moved"] > 0 else " ↓"
            placed = row["tier"] is not None
            tier = f"{row['tier']} {row['division']}{arrow}" if placed else f"placed after {row['to_place']} more"
            rows.append(row | {"tier": tier})
        return Table([columns[0], *several, *columns[1:]], rows)

    def html(self, most: int) -> str:
        """The body of a page: a heading, the day, and the first of the board."""
        return f"<h1>Leaderboard</h1><p>After the matches up to {self.date}.</p>{self.table().head(most).html()}"


@dataclass(frozen=True)
class MovedByLuck:
    """Shares of those placed who played since the look before and stand on another step: as it came, and in the mean
    over ``draws`` if nobody's skill had changed."""

    moved: float
    by_luck: float
    players: int
    days: int
    draws: int

    def lines(self) -> list[str]:
        """Both, in a sentence."""
        return [
            f"Of {self.players:,} placed who played in the last {counted(self.days, 'day', 'days')}, {self.moved:.0%} "
            f"changed division; {self.by_luck:.0%} would have by luck alone, with skills as they were "
            f"({self.draws} draws)."
        ]


def set_tiers(book: RatingBook, rule: Tiers | None) -> None:
    """Keep a rule in a book, in the place of the one before; None takes it out.

    >>> import tempfile, kinelo as kn
    >>> book = kn.RatingBook(tempfile.mkdtemp() + "/ratings.db", kn.Glicko())
    >>> set_tiers(book, Tiers({"Low": 0.8, "High": 0.2}, by="share"))
    >>> tiers_of(book).steps
    (('Low', 1), ('High', 1))
    """
    database = book._database
    with database.transaction():
        database.run("DELETE FROM about WHERE key = ?", (TIERS,))
        if rule is not None:
            said = {name: value for name, value in asdict(rule).items() if name != "steps"}
            database.run("INSERT INTO about (key, value) VALUES (?, ?)", (TIERS, plain_json(said)))


def tiers_of(book: RatingBook) -> Tiers | None:
    """The rule that a book keeps, None where there is none."""
    stored = book._database.one("SELECT value FROM about WHERE key = ?", (TIERS,))
    if stored is None:
        return None
    try:
        return Tiers(**read_json(stored[0]))
    except (TypeError, InputError) as error:
        raise InputError(f"{book._database.name} holds a rule of tiers that is none ({error}); set it again.") from None


def tier_board(book: RatingBook) -> TierBoard:
    """Who is in which tier by the rule that the book keeps, as of the day of its last match."""
    rule, moment = _rule(book), book._database.moment()
    if book._board[0] == (moment, rule) and moment is not None:
        return book._board[1]
    with book._database.snapshot():
        looks = list(_looks(book, rule))
        season = book._ratings.season_day
    day, last, _ = looks[-1]
    before = _walked(rule, looks[:-1], season)
    steps = _stepped(rule, last, before)
    shown = rule.shown(last.rating, last.idle)
    order = np.argsort(-shown, kind="stable").tolist()
    kinds = list(dict.fromkeys(kind for kind, _ in last.keys))
    rows: list[dict[str, Any]] = []
    for kind in kinds:
        there = [k for k in order if last.keys[k][0] == kind]
        for place, k in enumerate(there, 1):
            key = last.keys[k]
            at = steps.get(key)
            tier, division = (None, None) if at is None else rule.steps[at]
            rows.append({
                "place": place, "kind": kind, "name": key[1], "rating": float(last.rating[k]), "shown": float(shown[k]),
                "tier": tier, "division": division, "matches": int(last.matches[k]), "idle": int(last.idle[k]),
                "to_place": max(rule.placement - int(last.matches[k]), 0),
                "moved": None if at is None or key not in before else at - before[key],
            })  # fmt: skip
    bounds = {kind: tuple(x if math.isfinite(x) else None for x in _lower(rule, last, kind).tolist()) for kind in kinds}
    book._board = (moment, rule), TierBoard(str(np.datetime64(day, "D")), tuple(rows), bounds)
    return book._board[1]


def moved_by_luck(book: RatingBook, seed: int = 0) -> MovedByLuck:
    """How many change division within ``every`` days, and how many would if nobody's skill had changed.

    Results since the look before are drawn anew from the forecasts of then, and steps are taken as they are.
    """
    rule = _rule(book)
    with book._database.snapshot():
        looks = list(_looks(book, rule))
        season = book._ratings.season_day
    (start, first, rater), (day, last, _) = looks[-2], looks[-1]
    steps = _walked(rule, looks[:-1], season)
    played = book.matches()
    played = played[int(np.searchsorted(played.day, start + 1)) :]
    known = dict(zip(first.keys, first.matches.tolist()))
    those = [key for key, n in zip(last.keys, last.matches.tolist()) if key in steps and n > known[key]]
    if not those:
        raise InputError(f"Nobody who was placed has played in the last {counted(rule.every, 'day', 'days')}.")

    def share(seen: Seen) -> float:
        after = _stepped(rule, seen, steps)
        return float(np.mean([after[key] != steps[key] for key in those]))

    generator, forecast = np.random.default_rng(seed), forecast_by(copy.deepcopy(rater), played)
    draws = max(3, min(DRAWS, MOST_DRAWN // max(len(played), 1)))
    lucky = []
    for _ in range(draws):
        twin = copy.deepcopy(rater)
        carry_on(twin, drawn_anew(played, forecast, generator))
        lucky.append(share(_seen(twin, day)))
    return MovedByLuck(share(last), float(np.mean(lucky)), len(those), day - start, draws)


def drawn_anew(played: Any, forecast: Any, generator: np.random.Generator) -> Any:
    """The same matches or contests with results drawn from a forecast of them."""
    if not isinstance(played, Contests):
        win, draw, _ = np.cumsum(np.asarray(forecast.probabilities), axis=1).T
        u = generator.random(len(played))
        drawn = np.where(u < win, 1.0, np.where(u < draw, 0.5, 0.0))
        return replace(played, result=drawn, margin=np.full(len(played), np.nan), source=None)
    noise = generator.standard_normal(forecast.mean.size)
    if forecast.law == "gumbel":
        noise = generator.gumbel(size=noise.size) * math.sqrt(6.0) / math.pi
    performance, rows = forecast.mean + forecast.deviation * noise, contests_to_rows(played)
    for row, start, stop in zip(rows, played.first[:-1], played.first[1:]):
        order = np.argsort(-performance[start:stop]).tolist()
        row["entries"] = [(*row["entries"][k][:1], float(n), 0, None, row["entries"][k][4]) for n, k in
                          enumerate(order, 1)]  # fmt: skip
    return rows_to_contests(rows)


def _rule(book: RatingBook) -> Tiers:
    rule = tiers_of(book)
    if rule is None:
        raise InputError(
            f"{book._database.name} keeps no rule of tiers: kinelo book tiers BOOK --rule FILE sets one, or "
            "kinelo.book.tiers.set_tiers."
        )
    return rule


def _looks(book: RatingBook, rule: Tiers) -> Iterator[tuple[int, Seen, Any]]:
    """The days that are looked at, everyone with a rating then, and the rater as it is after that day."""
    ratings = book._ratings
    ratings.keep_up()
    last = ratings.last_date()
    if last is None:
        raise InputError(f"{book._database.name} holds no {ratings.noun} yet.")
    end = int(read_day(last).astype(np.int64))
    days = [end - rule.every * k for k in range(LOOKS - 1, -1, -1)]
    rater, since, _ = Carrying(ratings).state_before(str(np.datetime64(days[0] + 1, "D")))
    played, done = ratings.ledger.read(since=since), 0
    for day in days:
        stop = 0 if played is None else int(np.searchsorted(played.day, day, side="right"))
        if played is not None and stop > done:
            carry_on(rater, played[done:stop])
        done = stop
        begin_seasons(rater, LAST_DAY if day == end else day)
        yield day, _seen(rater, day), copy.deepcopy(rater) if day == days[-2] else None


def _walked(rule: Tiers, looks: Sequence[tuple[int, Seen, Any]], season: int) -> dict[Key, int]:
    """Steps after some looks; none are taken over into a season from before it."""
    steps: dict[Key, int] = {}
    for day, seen, _ in looks:
        steps = _stepped(rule, seen, steps) if day >= season else {}
    return steps


def _seen(rater: Any, day: int) -> Seen:
    """Everyone with a rating after a day."""
    try:
        table = rater.ratings_
    except InputError:  # nobody has played yet
        return Seen([], np.empty(0), np.empty(0, np.int64), np.empty(0))
    kinds = table["kind"] if "kind" in table.columns else ["side"] * table.height
    played = table["last_played"] if "last_played" in table.columns else [None] * table.height
    days = [day if one is None else int(np.datetime64(one, "D").astype(np.int64)) for one in played]
    matches = table["matches"].to_numpy().astype(np.int64)
    return Seen(list(zip(kinds, table["name"])), table["rating"].to_numpy().astype(float), matches,
                day - np.array(days, float))  # fmt: skip


def _lower(rule: Tiers, seen: Seen, kind: str) -> Array:
    """Bounds of a kind."""
    of_kind = np.array([key[0] == kind for key in seen.keys], bool)
    placed = of_kind & (seen.matches >= rule.placement)
    return rule.lower(rule.shown(seen.rating[placed], seen.idle[placed]))


def _stepped(rule: Tiers, seen: Seen, before: Mapping[Key, int]) -> dict[Key, int]:
    """Steps of all who are placed, after a look."""
    shown, steps = rule.shown(seen.rating, seen.idle), {}
    for kind in dict.fromkeys(key[0] for key in seen.keys):
        there: Sequence[int] = [k for k, key in enumerate(seen.keys)
                                if key[0] == kind and seen.matches[k] >= rule.placement]  # fmt: skip
        old = np.array([before.get(seen.keys[k], -1) for k in there], np.int64)
        new = rule.step(old, shown[there], _lower(rule, seen, kind))
        steps |= dict(zip((seen.keys[k] for k in there), new.tolist()))
    return steps
