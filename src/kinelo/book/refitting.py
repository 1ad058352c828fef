"""Parameters learnt anew from the matches that a book holds by then: a milestone of the book.

A milestone is a row of the table ``milestone``, and a row of ``milestone_rating`` for everyone, with the rating before
and after; nothing changes these rows any more, whatever comes late.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kinelo.book.carrying import Carrying
from kinelo.book.ratings import BEFORE, COUNTED, NOW, Ratings, points_of, save_state, store_of
from kinelo.book.schema import MILESTONES, plain_json, read_json
from kinelo.errors import InputError
from kinelo.raters.adapter import blank_of, settings_of
from kinelo.raters.mixture import Mixture
from kinelo.raters.rater import Rater
from kinelo.raters.streaming import LOOK

REFIT = "refit"
EARLIEST = "0001-01-01"
NOTHING: Mapping[Any, Any] = MappingProxyType({})
DECIDED = ("number", "what", "name", "date", "matches", "details")
KEPT = ("kind", "name", "place", "rating", "deviation", "games", "rating_after", "deviation_after", "reward")


@dataclass(frozen=True)
class Refit:
    """Parameters learnt anew: the milestone, the last day and the number of matches learnt from, parameters and losses.

    A loss is the mean log-loss of forecasts one step ahead of the latest of these matches (of pairs of finishers of
    contests), with the parameters before and after. These matches chose the parameters after.
    """

    number: int
    date: str
    matches: int
    before: Mapping[str, float]
    after: Mapping[str, float]
    loss_before: float
    loss_after: float


def refit(ratings: Ratings, after: int | None) -> Refit | None:
    """Learn the open parameters from all matches of a book, and rate all of them again with what was found.

    Nothing is done, and None returned, where fewer than ``after`` matches were added since this was done last.
    """
    database = ratings.database
    with database.snapshot():
        ratings.keep_up()
        done, blank = ratings.milestones, ratings.blank
        if after is not None:
            (fresh,) = database.one(f"SELECT COUNT(*) FROM {ratings.ledger.table}")
            if ratings.milestones:  # of them, those that parameters were learnt from
                fresh -= database.one("SELECT MAX(matches) FROM milestone WHERE what = ?", (REFIT,))[0] or 0
            if fresh < after:
                return None
        matches, whole = ratings.ledger.read(), ratings.whole()
    if matches is None:
        raise InputError(f"The rating book {database.name} holds no {ratings.noun} to learn from yet.")
    fitted = _unfitted(blank)
    if isinstance(fitted, Rater) and not (fitted._open_parameters() or whole._open_parameters()):
        raise InputError(
            f"All parameters of the {type(blank).__name__} of {database.name} were given: none is to be learnt."
        )
    fitted.fit(matches)
    fitted._fitted = None  # the book holds the matches
    new = blank_of(fitted)
    losses = [-float(copy.deepcopy(one).score(matches[-LOOK:])) for one in (blank, new)]
    refitted = Refit(done + 1, str(matches.date[-1]), len(matches), _parameters(whole), _parameters(new), *losses)

    def work() -> bool:
        """Replace how the rater began and rate every match again; False where another process has done so meanwhile."""
        now = Ratings(database, type(blank))
        if now.milestones > done:
            return False
        before = rating_rows(now.read_whole())
        said = {"parameters": plain_json(refitted.after), **points_of(store_of(database, new))}
        database.many("UPDATE about SET value = ? WHERE key = ?", [(value, key) for key, value in said.items()])
        database.run("DELETE FROM checkpoint WHERE number > ?", (NOW,))
        for table in ("slot", "common"):
            database.run(f"DELETE FROM {table}")
        save_state(database, BEFORE, new, None, 0)
        now.open(type(blank))
        now.store.begin()
        Carrying(now).rate_again(EARLIEST)
        details = {"before": refitted.before, "after": refitted.after, "losses": losses}
        row = (refitted.number, REFIT, "", refitted.date, refitted.matches, plain_json(details))
        keep(database, row, before, rating_rows(now.read_whole()))
        return True

    counted = Carrying(ratings).attempt(work, everybody=True)
    ratings.keep_up()
    if not counted and after is None:
        raise InputError(f"The ratings of {database.name} were computed anew meanwhile; ask again.")
    return refitted if counted else None


def _unfitted(blank: Any) -> Any:
    """A rater made as that of a book was, to be fitted anew."""
    if isinstance(blank, Mixture):
        return Mixture({name: _unfitted(member) for name, member in blank.members_.items()})
    if not isinstance(blank, Rater):
        raise InputError(
            f"A book learns the parameters of Kinelo's raters, and {type(blank).__name__} is none of them."
        )
    rater = type(blank)(**settings_of(blank))
    rater.look = blank.look
    return rater


def _parameters(rater: Any) -> dict[str, float]:
    """What was learnt: parameters, of a mixture those of every rater and its weight."""
    if not isinstance(rater, Mixture):
        return dict(rater.parameters_)
    weights = {f"{name}: weight": weight for name, weight in rater.weights_.items()}
    return weights | {
        f"{name}: {parameter}": value
        for name, member in rater.members_.items()
        for parameter, value in member.parameters_.items()
    }


Row = tuple[int, float, float | None, int]
"""Place (within its kind), rating, deviation and matches of somebody."""


def rating_rows(rater: Any, since: Any = None) -> dict[tuple[str, str], Row]:
    """The row of everyone (who has played since a day), by kind and name."""
    rows: dict[tuple[str, str], Row] = {}
    places: dict[str, int] = {}
    for row in rater.ratings_.iter_rows(named=True):
        if since is not None and (row["last_played"] is None or row["last_played"] < since.item()):
            continue
        kind = str(row.get("kind", "side"))
        places[kind] = places.get(kind, 0) + 1
        doubt = row.get("uncertainty")
        doubt = None if doubt is None or doubt != doubt else float(doubt)
        rows[kind, row["name"]] = places[kind], float(row["rating"]), doubt, int(row.get("matches") or 0)
    return rows


def decided(database: Any) -> list[dict[str, Any]]:
    """Every milestone, the first one first: number, what, name, date, matches and details."""
    if not database.has("milestone"):
        return []
    columns = ", ".join(name if name != "date" else "CAST(date AS TEXT)" for name in DECIDED)
    rows = [dict(zip(DECIDED, row)) for row in database.rows(f"SELECT {columns} FROM milestone ORDER BY number")]
    return [row | {"details": read_json(row["details"], database.name)} for row in rows]


def keep(
    database: Any, row: tuple[Any, ...], before: Any, after: Any, rewards: Mapping[tuple[str, str], str] = NOTHING
) -> None:
    """Write a milestone, inside a transaction: a row, and everyone's ratings before and after, and rewards."""
    if not database.has("milestone"):
        for sql in MILESTONES.values():
            database.run(database.definition(sql))
    database.run("INSERT INTO about (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                 (COUNTED, str(row[0])))  # fmt: skip
    marks = ", ".join("?" * len(DECIDED))
    database.run(f"INSERT INTO milestone ({', '.join(DECIDED)}) VALUES ({marks})", row)
    nothing = (None, None, None, None)
    rows = [(row[0], *key, *kept, *after.get(key, nothing)[1:3], rewards.get(key)) for key, kept in before.items()]
    marks = ", ".join("?" * (1 + len(KEPT)))
    database.many(f"INSERT INTO milestone_rating (number, {', '.join(KEPT)}) VALUES ({marks})", rows)
