"""What a match would change: a copy of the rater is told each result, and ratings are compared with those before."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.dated import day_number, read_day
from kinelo.model.validation import is_list, one_line
from kinelo.presentation import Column, Table, number, words
from kinelo.raters.leaderboard import ratings_today
from kinelo.raters.one_contest import WholeEntrants
from kinelo.raters.questions import answering
from kinelo.raters.rater import Rater, traits_of
from kinelo.raters.state import NEVER

OUTCOMES = ("win", "draw", "loss")
MOST_PREVIEWED = 12
"""Entrants of a contest up to whom every place of everyone is tried."""


@dataclass(frozen=True, repr=False)
class Preview:
    """What a match or a contest would change, for everyone in it.

    Attributes
    ----------
    outcomes
        Results of the first side, or places of an entrant.
    ratings
        Ratings as they stand, by name; None of those who have never played.
    after
        Ratings after each outcome, by name, in the order of ``outcomes``: of a match those of one result together, of
        a contest those of each entrant for each of its places, the others finishing in the order that is expected.
    today
        Ratings as a leaderboard shows them: of the day of the last match, by when those who rest have faded.
    """

    outcomes: tuple[str, ...]
    ratings: Mapping[str, float | None]
    after: Mapping[str, tuple[float, ...]]
    today: Mapping[str, float]

    def changes(self, name: str) -> dict[str, float | None]:
        """Points that somebody would gain (or lose, below 0) by each outcome; None for a newcomer.

        >>> import kinelo as kn
        >>> rater = kn.TeamElo.classic(k=20, start={"Ann": 1700, "Bob": 1500})
        >>> {name: round(points, 2) for name, points in kn.preview(rater, "Ann", "Bob").changes("Bob").items()}
        {'win': -4.81, 'draw': 5.19, 'loss': 15.19}
        """
        if name not in self.after:
            raise InputError(f"{name!r:.60} is not in this match.")
        old = self.ratings[name]
        return {
            outcome: None if old is None else new - old
            for outcome, new in zip(self.outcomes, self.after[name], strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """Everyone's rating, and ratings and changes by outcome."""
        return {
            "outcomes": list(self.outcomes),
            "people": [
                {"name": name, "rating": self.ratings[name], "after": dict(zip(self.outcomes, after, strict=True)),
                 "change": self.changes(name)}
                for name, after in self.after.items()
            ],
        }  # fmt: skip

    def table(self) -> Table:
        """Everyone's rating, and the change by each outcome, or the rating of a newcomer."""
        rows = []
        for name, after in self.after.items():
            old = self.ratings[name]
            cells = {
                o: (f"{new - old:+.1f}" if old is not None else f"→ {new:.0f}")
                for o, new in zip(self.outcomes, after, strict=True)
            }
            rows.append({"name": name, "rating": self.today.get(name), **cells})
        columns: list[Column] = [words("Name", "name"), number("Rating", "rating", ".0f")]
        return Table([*columns, *(number(_heading(one), one, "") for one in self.outcomes)], rows)

    def lines(self) -> list[str]:
        """What may surprise: somebody who would lose points by every outcome, or gain by every one."""
        sentences = []
        for name in self.after:
            changes = [change for change in self.changes(name).values() if change is not None]
            if changes and (max(changes) < 0.0 or min(changes) > 0.0):
                way = "lose" if max(changes) < 0.0 else "gain"
                sentences.append(
                    f"{name} would {way} points by every outcome: the rest until that day moves ratings too."
                )
        return sentences

    def __repr__(self) -> str:
        name = next(iter(self.after))
        changes = ", ".join(
            f"{outcome} {'?' if change is None else format(change, '+.1f')}"
            for outcome, change in self.changes(name).items()
        )
        return f"Preview: {name} {changes}; {len(self.after)} in all"

    def _repr_html_(self) -> str:
        return self.table().html()


def _heading(outcome: str) -> str:
    return {"win": "First wins", "draw": "Draw", "loss": "First loses"}.get(outcome, f"Place {outcome}")


def preview(rated: Any, home: Any, away: str | None = None, **circumstances: Any) -> Preview:
    """What a match would change for those in it: ratings after a win, a draw and a loss of the first side.

    It is what ``update_one`` then does, to the last bit; ``circumstances`` are what that takes beside the result (date,
    neutral, weight, conditions, line-ups, and the ``margin`` by which either side would win). With a list of entrants
    alone it is a contest: everyone's rating after each place, the others finishing in the order that is expected
    (``of=[…]`` asks for some of them).

    >>> import kinelo as kn
    >>> rater = kn.TeamElo.classic(k=20, start={"Ann": 1700, "Bob": 1500})
    >>> kn.preview(rater, "Ann", "Bob")
    Preview: Ann win +4.8, draw -5.2, loss -15.2; 2 in all
    """
    rater, own = answering(rated, "preview")
    if own is not None:
        return own(home, *([] if away is None else [away]), **circumstances)
    date, last = circumstances.get("date"), rater._last_day() if isinstance(rater, Rater) else NEVER
    if date is not None and day_number(read_day(date)) < last:
        day = np.datetime64(last, "D")
        raise InputError(f"A preview is of what comes: {date} lies before the last day that is rated, {day}.")
    if away is None and isinstance(rater, Rater) and not hasattr(rater, "_field_of"):
        raise InputError(f"{type(rater).__name__} rates matches of two sides; give both.")
    if away is None:
        return _preview_contest(rater, home, **circumstances)
    before = ratings_by_name(rater)
    names: list[str] = []
    after: dict[str, list[float]] = {}
    margin = circumstances.pop("margin", None)
    if margin is not None:
        margin = check_number("preview", "margin", margin, 0.0)
    for outcome, sign in zip(OUTCOMES, (1, 0, -1), strict=True):
        by = {} if margin is None else {"margin": sign * margin}
        now = ratings_by_name(copy.deepcopy(rater).update_one(home, away, outcome, **by, **circumstances))
        if not names:  # those who are rated: the sides, or the players of the line-ups
            names = [home.strip(), away.strip()]
            if traits_of(rater).rates_players:
                lineups = (circumstances.get(side, ()) for side in ("home_lineup", "away_lineup"))
                names = [name.strip() for lineup in lineups for name in lineup]
                if not names:
                    raise InputError(f"{type(rater).__name__} rates players: give home_lineup and away_lineup.")
            names = [name for name in names if name in now]
        for name in names:
            after.setdefault(name, []).append(now[name])
    return _of(rater, OUTCOMES, before, after)


def _preview_contest(
    rater: Any, entrants: Sequence[Any], *, of: Sequence[Any] | None = None, **circumstances: Any
) -> Preview:
    """What a contest would change for each of its entrants (or those ``of`` whom it is asked) by each place."""
    if not is_list(entrants):
        raise InputError(f"A contest is a list of its entrants, not {one_line(entrants)}.")
    forecast = rater.predict_one(list(entrants), **circumstances)
    chances = dict(zip(_labels(entrants), forecast.win.tolist(), strict=True))
    expected = sorted(entrants, key=lambda entrant: -chances[_label(entrant)])
    asked = list(entrants) if of is None else [entrant for entrant in entrants if entrant in of]
    if of is not None and len(asked) < len(of):
        raise InputError(f"{of!r:.60} names somebody who is not in this contest.")
    if len(asked) * len(entrants) > MOST_PREVIEWED**2:
        most = MOST_PREVIEWED**2 // len(entrants)
        fewer = f"say of whom, of=[…], up to {most}" if most else f"contests of up to {MOST_PREVIEWED**2} are previewed"
        raise InputError(
            f"A contest of {len(entrants):,} has too many places to try for {len(asked):,} of them: {fewer}."
        )
    before, contest = ratings_by_name(rater), forecast.contests
    rated_slots = [slots for slots in contest.slots.values() if not slots.advantage]
    rated = {
        label: [slots.names[code] for slots in rated_slots for code in slots.codes[k] if code >= 0]
        for k, label in enumerate(_labels(entrants))
    }
    if isinstance(rater, WholeEntrants):  # who rates a team by the names of all
        rated = {label: [contest.entrants[code]] for label, code in zip(rated, contest.entrant.tolist(), strict=True)}
    after: dict[str, list[float]] = {}
    for entrant in asked:
        others = [other for other in expected if other != entrant]
        # A car that two drive is told of the first.
        unseen = [name for name in rated[_label(entrant)] if name not in after]
        for place in range(len(entrants)):
            order = [*others[:place], entrant, *others[place:]]
            now = ratings_by_name(copy.deepcopy(rater).update_one(order, **circumstances))
            for name in unseen:
                after.setdefault(name, []).append(now[name])
    places = tuple(str(place + 1) for place in range(len(entrants)))
    return _of(rater, places, before, after)


def _of(
    rater: Any, outcomes: tuple[str, ...], before: Mapping[str, float], after: Mapping[str, Sequence[float]]
) -> Preview:
    today = ratings_by_name(rater, today=True)
    return Preview(
        outcomes,
        {name: before.get(name) for name in after},
        {name: tuple(ratings) for name, ratings in after.items()},
        {name: today[name] for name in after if name in today},
    )


def _members(entrant: Any) -> list[str]:
    parts = entrant if isinstance(entrant, list | tuple) else [entrant]
    return [str(name).strip() for part in parts for name in (part if isinstance(part, list | tuple) else [part])]


def _label(entrant: Any) -> str:
    return "\x1f".join(_members(entrant))


def _labels(entrants: Sequence[Any]) -> list[str]:
    return [_label(one) for one in entrants]


def ratings_by_name(rater: Any, *, today: bool = False) -> dict[str, float]:
    """Ratings after everyone's own last match, or ``today``; of several kinds, the first by name alone and others as
    ``kind: name``."""
    if getattr(rater, "_state", None) is None and getattr(rater, "start", None) is None:
        return {}
    table = ratings_today(rater) if today else rater.ratings_
    if "kind" not in table.columns or table["kind"].n_unique() < 2:
        return dict(zip(table["name"].to_list(), table["rating"].to_list(), strict=True))
    found: dict[str, float] = {}
    for kind, name, rating in table.select("kind", "name", "rating").rows():
        found[name if name not in found else f"{kind}: {name}"] = rating
    return found
