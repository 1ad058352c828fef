"""Seasons of a book: one is closed, with ratings, places and rewards kept for good, and the next one begins.

A season ends with a day. Its table is a milestone (:mod:`kinelo.book.milestones`), which nothing changes any more. The
next season begins with ratings drawn in (:mod:`kinelo.raters.soft_reset`), wherever the book rates matches again.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinelo.book.carrying import Carrying
from kinelo.book.database import Database
from kinelo.book.ratings import SEASON, Ratings, save_state
from kinelo.book.refitting import Row, decided, keep, rating_rows
from kinelo.book.schema import plain_json
from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.dated import UNDATED, Day, read_day
from kinelo.model.validation import is_text, one_line
from kinelo.raters.adapter import carry_on
from kinelo.raters.questions import rater_shown
from kinelo.raters.rater import Rater
from kinelo.raters.slots import Key
from kinelo.raters.soft_reset import SoftReset, soften

FARTHEST = 366
"""Days after the last match by which a season ends at the latest."""
MOVES_TRIED = (0.25, 0.5, 1.0)
"""What strengths may move between seasons, in standard deviations of ratings."""
PARTS = 30
"""Parts of equally many matches, whole days each, that a replay is looked at by."""
LOOKED_BACK = 3
"""Seasons, the last ones, by which is found how far strengths move between them."""
MOST_LETTERS = 200


@dataclass(frozen=True)
class Season:
    """A season that was closed: its milestone, name, first day (none: from the beginning) and last day, how many
    played in it, and how the next one began: the part ``reset`` by which ratings were drawn towards their mean, and
    what strengths were taken to move beside, ``moves``, in points."""

    number: int
    name: str
    first_day: str | None
    last_day: str
    players: int
    reset: float
    moves: float


def closed_seasons(database: Database) -> list[Season]:
    """The seasons that were closed, the first one first."""
    first, closed = None, []
    for row in decided(database):
        if row["what"] == SEASON:
            said = row["details"]
            closed.append(Season(row["number"], row["name"], first, row["date"], said["players"], said["reset"],
                                 said["moves"]))  # fmt: skip
            first = str(read_day(row["date"]) + 1)
    return closed


class Wish(NamedTuple):
    """How a season is to be closed."""

    name: str
    reset: float
    date: Day | None
    moves: float | None
    rewards: Mapping[str, float]


def close_season(ratings: Ratings, wish: Wish) -> Season:
    """Close a season, or say how it was closed where it is; :meth:`kinelo.RatingBook.season` is its face."""
    part, moves = checked(wish.reset, wish.moves)
    for name, what in ((wish.name, "a season"), *((name, "a reward") for name in wish.rewards)):
        if not is_text(name) or not name.strip() or len(name) > MOST_LETTERS:
            raise InputError(
                f"{one_line(name)} is not the name of {what}; it is text of at most {MOST_LETTERS} letters."
            )
    for bound in wish.rewards.values():
        usable = isinstance(bound, int | float) and not isinstance(bound, bool)
        if not usable or not 0 < bound < 1e9 or (bound > 1 and bound % 1):
            raise InputError(
                f"A reward goes to so many of the best (1, 100) or a share of them (.05), not {bound!r:.20}."
            )
    database = ratings.database
    with database.snapshot():
        ratings.keep_up()
        if moves is None and _named(database, wish) is None:
            moves = moves_shown(ratings)
    carrying = Carrying(ratings)
    carrying.attempt(lambda: _close(ratings, wish, part, moves or 0.0), everybody=True)
    ratings.keep_up()
    (season,) = (one for one in closed_seasons(database) if one.name == wish.name)
    return season


def _named(database: Database, wish: Wish) -> Season | None:
    """The season of this name; refused where it was closed otherwise than it is wished."""
    for season in closed_seasons(database):
        if season.name == wish.name:
            day = wish.date is None or str(read_day(wish.date)) == season.last_day
            if not day or wish.reset != season.reset or wish.moves not in (None, season.moves):
                raise InputError(
                    f"The season {wish.name!r:.60} was closed with {season.last_day} and a reset of {season.reset:g}; "
                    "give the next one another name."
                )
            return season
    return None


def _close(ratings: Ratings, wish: Wish, part: float, moves: float) -> None:
    """Keep the table of a season and let the next one begin, inside a transaction."""
    database = ratings.database
    if _named(database, wish) is not None:
        return
    now = Ratings(database, type(ratings.blank))
    carrying, last = Carrying(now), now.last_date()
    if last is None:
        raise InputError(f"The rating book {database.name} holds no {now.noun} yet: there is no season to close.")
    if read_day(last) == UNDATED:
        raise InputError(f"The {now.noun} of {database.name} have no dates, and a season ends with a day.")
    day = read_day(last if wish.date is None else wish.date)
    first = int(day.astype(np.int64)) + 1
    begun = np.datetime64(now.season_day, "D")
    if first <= now.season_day or first > int(read_day(last).astype(np.int64)) + FARTHEST:
        raise InputError(
            f"A season cannot end with {day}: the last match is of {last}, and the season before ended with "
            f"{begun - 1}." if now.resets else f"A season cannot end with {day}: the last match is of {last}."
        )  # fmt: skip
    if day >= read_day(last):
        rater, after = now.read_whole(), None
    else:
        rater, since, _ = carrying.state_before(str(day + 1))
        played, after = now.ledger.read(since=since, before=str(day + 1)), now.ledger.read(since=str(day + 1))
        if played is not None:
            carry_on(rater, played)
    before = rating_rows(rater, begun if now.resets else None)
    if not before:
        raise InputError(f"Nobody played from {begun} to {day}: there is no season to close.")
    details = {"reset": part, "moves": moves, "players": len(before), "rewards": dict(wish.rewards)}
    count = database.one(f"SELECT COUNT(*) FROM {now.ledger.table} WHERE date < ?", (str(day + 1),))[0]
    reset = SoftReset(first, part, moves)
    if part or moves:
        soften(rater, reset)
    milestone = (now.milestones + 1, SEASON, wish.name, str(day), count, plain_json(details))
    keep(database, milestone, before, rating_rows(rater), rewards_of(before, wish.rewards))
    now.open(type(now.blank))
    rater._resets_done = len(now.resets)
    database.run("DELETE FROM checkpoint WHERE date >= ?", (str(day + 1),))
    save_state(database, None, rater, str(day + 1), count)
    if after is None:
        carrying.save(rater)
    else:
        carrying._carry_in_pieces(rater, after, count)


def checked(reset: Any, moves: Any) -> tuple[float, float | None]:
    """A reset and moves as numbers in their range."""
    part = float(check_number("a season", "reset", reset, 0.0, 1.0))
    return part, None if moves is None else float(check_number("a season", "moves", moves, 0.0, 1e6))


def rewards_of(rows: Mapping[Key, Row], rewards: Mapping[str, float]) -> dict[Key, str]:
    """The best reward of everyone: a whole number is a last place, a number below 1 a share of those of the kind.

    >>> rows = {("side", name): (place, 1500.0, None, 9) for place, name in enumerate("ABCDE", 1)}
    >>> rewards_of(rows, {"silver": 0.5, "gold": 1})
    {('side', 'A'): 'gold', ('side', 'B'): 'silver'}
    """
    counts: dict[str, int] = {}
    for kind, _ in rows:
        counts[kind] = counts.get(kind, 0) + 1
    given: dict[Key, str] = {}
    for key, row in rows.items():
        bounds = {name: x if x >= 1 else math.floor(x * counts[key[0]]) for name, x in rewards.items()}
        reached = [(bound, name) for name, bound in bounds.items() if row[0] <= bound]
        if reached:
            given[key] = min(reached)[1]
    return given


# What a reset does, found on what was played


def losses_of(rater: Any, parts: Sequence[Any]) -> list[float]:
    """Mean losses of forecasts one step ahead of parts of a table, which the rater then has used."""
    losses = []
    for part in parts:
        losses.append(-float(copy.deepcopy(rater).score(part)))
        carry_on(rater, part)
    return losses


def in_parts(matches: Any, most: int = PARTS) -> list[Any]:
    """Matches in parts of about equally many, each of whole days."""
    ends = np.flatnonzero(np.append(matches.day[1:] != matches.day[:-1], True)) + 1
    wanted = np.searchsorted(ends, np.linspace(0, len(matches), min(most, ends.size) + 1)[1:])
    stops = np.unique(ends[np.minimum(wanted, ends.size - 1)]).tolist()
    return [matches[a:b] for a, b in zip([0, *stops], stops)]


def _spread(rater: Any) -> float:
    """Standard deviation of ratings, in points."""
    return float(np.std(rater.ratings_["rating"].to_numpy()))


def moves_shown(ratings: Ratings) -> float:
    """How far strengths move between seasons, in points, beyond what the rater allows for the days that pass.

    It is what forecasts best the first third of the seasons that have begun in this book, where it does so by more
    than a standard error; else, and before a second season has begun, 0.
    """
    resets = ratings.resets[-LOOKED_BACK:]
    if not resets or not isinstance(rater_shown(ratings.blank), Rater) or not hasattr(ratings.blank, "_begun"):
        return 0.0
    matches, sizes = ratings.ledger.read(), []
    gains: dict[float, list[float]] = {part: [] for part in MOVES_TRIED}
    stops = [*(int(np.searchsorted(matches.day, one.day)) for one in resets), len(matches)]
    walker = copy.deepcopy(ratings.blank)
    walker._soft_resets = ratings.resets[: len(ratings.resets) - len(resets)]
    carry_on(walker, matches[: stops[0]])
    for reset, start, stop in zip(resets, stops, stops[1:]):
        early = matches[start : start + (stop - start) // 3]
        if len(early) >= PARTS:
            spread, parts = _spread(walker), in_parts(early, 10)
            base = np.array(losses_of(softened(walker, reset._replace(moves=0.0)), parts))
            for part in MOVES_TRIED:
                moved = softened(walker, reset._replace(moves=part * spread))
                gains[part] += (base - np.array(losses_of(moved, parts))).tolist()
            sizes.append(spread)
        soften(walker, reset)
        if stop > start:
            carry_on(walker, matches[start:stop])
    if not sizes or len(gains[MOVES_TRIED[0]]) < 3:
        return 0.0
    found = max(MOVES_TRIED, key=lambda part: float(np.mean(gains[part])))
    gain = np.array(gains[found])
    sure = gain.mean() > gain.std(ddof=1) / math.sqrt(gain.size)
    return float(found * np.mean(sizes)) if sure else 0.0


def softened(rater: Any, reset: SoftReset) -> Any:
    """A copy of a rater whose season begins now."""
    twin = copy.deepcopy(rater)
    soften(twin, reset)
    return twin
