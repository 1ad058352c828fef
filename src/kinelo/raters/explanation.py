"""Why ratings moved: the change of a match as terms that add up to it.

The match is played again on copies of the rater as it stood before, each time without one more of its circumstances:
its margin, weight, covariates, conditions, luck, venue, the rest before it. What a circumstance added is the difference
of two such changes. What remains is the result itself, against what was expected of it: the mean of the changes by win,
draw and loss, weighted by the forecast (next to nothing in most raters), and the surprise. Where a filter keeps
covariances, what is known of others is told apart too: the change without it, and the pull that it adds.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinelo.errors import InputError
from kinelo.matches.dated import UNDATED, Condition
from kinelo.matches.kind import CONTESTS, MATCHES, Kind
from kinelo.matches.matches import Matches
from kinelo.presentation import Table, number, words
from kinelo.raters.preview import ratings_by_name

WORDS = {
    "surprise": "the result against what was expected",
    "drift": "what the rater counts apart from its forecast",
    "others": "what is known of others (covariance)",
    "margin": "the margin",
    "weight": "the weight of the match",
    "covariates": "the numbers of the match, such as a handicap",
    "conditions": "the conditions of the match",
    "luck": "how much luck such a match allows",
    "venue": "the venue",
    "rest": "the rest before the match",
    "places": "the places",
    "correction": "what the match counts now, against what it counted before",
    "replay": "later matches, rated again",
}
"""Terms, and how a player reads them."""
LEAST = 5e-13
SMALLEST_SAID = 0.05
"""Points below which a term is left out of a sentence; it stands in the table and in JSON."""


@dataclass(frozen=True)
class Reason:
    """Why one rating moved: ``terms`` add up to ``after − before``.

    ``score`` and ``expected`` are the points (a win counts 1, a draw ½) of the match and those forecast on neutral
    ground; ``gain`` is how many rating points a point of surprise is worth. They are None of contests, and of a rating
    that was not there before.
    """

    name: str
    before: float | None
    after: float
    terms: Mapping[str, float]
    score: float | None = None
    expected: float | None = None

    @property
    def change(self) -> float | None:
        """After less before."""
        return None if self.before is None else self.after - self.before

    @property
    def gain(self) -> float | None:
        """Rating points for a point of surprise."""
        if self.score is None or self.expected is None or "surprise" not in self.terms:
            return None
        return self.terms["surprise"] / (self.score - self.expected) if self.score != self.expected else None

    def to_dict(self) -> dict[str, Any]:
        """All of it in words and numbers."""
        return {
            "name": self.name, "before": self.before, "after": self.after, "change": self.change,
            "terms": dict(self.terms), "score": self.score, "expected": self.expected, "gain": self.gain,
        }  # fmt: skip

    def sentence(self) -> str:
        """What a player is told."""
        if self.before is None or self.change is None:
            return f"{self.name} enters the ratings with {self.after:.1f}."
        parts = []
        for term, points in sorted(self.terms.items(), key=lambda item: -abs(item[1])):
            if abs(points) < SMALLEST_SAID and abs(self.change) >= SMALLEST_SAID:
                continue
            more = ""
            if term == "surprise" and self.gain is not None:
                more = f" (score {self.score:g}, expected {self.expected:.2f}, {self.gain:.1f} points for one)"
            parts.append(f"{points:+.1f} for {WORDS[term]}{more}")
        return f"{self.name}: {self.before:.1f} → {self.after:.1f} ({self.change:+.1f}): {', '.join(parts)}."


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why the ratings of those in a match moved; ``reasons`` by name.

    Of a match that came late to a book, or was put right there, ``note`` says so, and the changes are those of the list
    when it arrived: what the match counts, and the ``replay`` of later ones.
    """

    match_id: str
    date: str | None
    reasons: Mapping[str, Reason]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """All of it in words and numbers."""
        people = [reason.to_dict() for reason in self.reasons.values()]
        return {"match_id": self.match_id, "date": self.date, "note": self.note, "people": people}

    def lines(self) -> list[str]:
        """A sentence for everyone."""
        return [*([self.note] if self.note else []), *(reason.sentence() for reason in self.reasons.values())]

    def table(self) -> Table:
        """Everyone's change, and its terms."""
        kinds = [term for term in WORDS if any(term in reason.terms for reason in self.reasons.values())]
        rows = [
            {"name": one.name, "before": one.before, "after": one.after, "change": one.change, **dict(one.terms)}
            for one in self.reasons.values()
        ]
        rows = [dict.fromkeys(kinds) | row for row in rows]
        columns = [words("Name", "name"), number("Before", "before", ".1f"), number("Change", "change", "+.1f")]
        return Table([*columns, *(number(term.capitalize(), term, "+.1f") for term in kinds)], rows)

    def __repr__(self) -> str:
        return f"Explanation of the match {self.match_id}: {' '.join(self.lines()[:2])}"

    def _repr_html_(self) -> str:
        return self.table().html()


def rated(rater: Any, played: Any) -> Any:
    """What a rater has rated: what is given, or what it was fitted on."""
    played = getattr(rater, "fitted_", None) if played is None else played
    if not getattr(played, "in_memory", False):
        raise InputError("Give the matches that the rater has rated: explain(match, matches).")
    return played


def explain_match(rater: Any, match: str, played: Any = None) -> Explanation:
    """Why ratings moved by the match of this identifier, of those fitted or ``played``; the rater is left alone."""
    played = rated(rater, played)
    found = np.flatnonzero(played._keys == str(match))
    if found.size != 1:
        many = "no match" if not found.size else f"{found.size} matches"
        raise InputError(f"There is {many} with the identifier {match!r:.60}.")
    k = int(found[0])
    walker = copy.deepcopy(rater)
    walker._reset(dict(rater.parameters_))
    if k:
        walker.update(played[:k])
    one: Any = played[k : k + 1]
    date = str(one.date[0]) if played.dated else None
    return Explanation(str(match), date, REASONS[played.kind](walker, one))


Change = dict[str, float]


def _changes(walker: Any, before: Mapping[str, float], names: list[str]) -> Callable[[Any], Change]:
    """How ratings of some would move by a match."""

    def of(match: Any) -> Change:
        twin = copy.deepcopy(walker)
        twin.update(match)
        now = ratings_by_name(twin)
        return {name: now[name] - before.get(name, 0.0) for name in names}

    return of


def _names_in(walker: Any, match: Matches, now: Mapping[str, float]) -> list[str]:
    if getattr(walker, "rates_players", False) and match.lineups is not None:
        return [name for side in (0, 1) for name in match.lineups.names(0, side=side) if name in now]
    return [match.teams[code] for code in (match.home[0], match.away[0]) if match.teams[code] in now]


class _Moved(NamedTuple):
    """Ratings before and after a match, of whom it is asked, who of them was rated before, and what others would do."""

    before: Mapping[str, float]
    now: Mapping[str, float]
    names: list[str]
    known: list[str]
    of: Callable[[Any], Change]


def _moved(walker: Any, match: Any, names_in: Callable[[Any, Any, Mapping[str, float]], list[str]]) -> _Moved:
    before, twin = ratings_by_name(walker), copy.deepcopy(walker)
    twin.update(match)
    now = ratings_by_name(twin)
    names = names_in(walker, match, now)
    known = [name for name in names if name in before]
    return _Moved(before, now, names, known, _changes(walker, before, known))


def _of_match(walker: Any, match: Matches) -> dict[str, Reason]:
    before, now, names, known, of = _moved(walker, match, _names_in)
    terms: dict[str, Change] = {}
    plain, last = match, {name: now[name] - before[name] for name in known}
    for term, simpler in _simpler(walker, match):
        plain = simpler(plain)
        fewer = of(plain)
        terms[term] = {name: last[name] - fewer[name] for name in known}
        last = fewer
    chances = walker.predict(replace(plain, result=np.full(1, math.nan))).probabilities[0] if known else np.zeros(3)
    by_result = [of(replace(plain, result=np.full(1, points))) for points in (1.0, 0.5, 0.0) if known]
    drift = {name: float(sum(p * c[name] for p, c in zip(chances, by_result))) for name in known}
    if alone := _without_covariance(walker):
        own = _changes(alone, before, known)(plain)
        terms["others"] = {name: last[name] - own[name] for name in known}
        last = own
    terms["drift"] = drift
    terms["surprise"] = {name: last[name] - drift[name] for name in known}
    expected = float(chances[0] + 0.5 * chances[1])
    return {name: _reason(name, before, now, terms, _score(walker, match, name, expected)) for name in names}


def _reason(
    name: str, before: Mapping[str, float], now: Mapping[str, float], terms: Mapping[str, Change],
    score: tuple[float, float] | tuple[None, None],
) -> Reason:  # fmt: skip
    own = {term: change[name] for term, change in terms.items() if name in change and abs(change[name]) > LEAST}
    return Reason(name, before.get(name), now[name], own, *(score if name in before else (None, None)))


def _score(walker: Any, match: Matches, name: str, expected: float) -> tuple[float, float]:
    """Points of somebody in a match, and those expected."""
    points = float(match.result[0])
    if getattr(walker, "rates_players", False) and match.lineups is not None:
        at_home = name in match.lineups.names(0, side=0)
    else:
        at_home = name == match.teams[match.home[0]]
    return (points, expected) if at_home else (1.0 - points, 1.0 - expected)


def _simpler(walker: Any, match: Matches) -> list[tuple[str, Callable[[Matches], Matches]]]:
    """Circumstances that a match has, and the match without each."""
    found: list[tuple[str, Callable[[Matches], Matches]]] = []
    if not np.isnan(match.margin[0]):
        found.append(("margin", lambda m: replace(m, margin=np.full(1, math.nan))))
    if match.weight[0] != 1.0:
        found.append(("weight", lambda m: replace(m, weight=np.ones(1))))
    said = [name for name, condition in match.conditions.items() if condition.codes[0] >= 0]
    numbers, luck = list(getattr(walker, "covariates", None) or ()), list(getattr(walker, "noise_by", None) or ())
    levels = [name for name in said if name in (getattr(walker, "conditions", None) or ())]
    for term, columns, level in (
        ("covariates", [name for name in said if name in numbers], "0"),
        ("conditions", levels, None),
        ("luck", [name for name in said if name in luck and name not in levels], None),
    ):
        if columns:
            found.append((term, partial(_with_level, columns=columns, level=level)))
    if not match.neutral[0]:
        found.append(("venue", lambda m: replace(m, neutral=np.ones(1, bool))))
    last = max(walker._last_day(), int(UNDATED.astype(np.int64)))
    if match.dated and int(match.day[0]) > last > 0:
        day = np.full(1, np.datetime64(last, "D"))
        found.append(("rest", lambda m: replace(m, date=day)))
    return found


def _with_level(match: Matches, columns: Sequence[str], level: str | None) -> Matches:
    """A match with another level in some columns, or none."""
    code, levels = (-1, ()) if level is None else (0, (level,))
    other = Condition(np.full(1, code, np.int32), levels)
    return replace(match, conditions={n: other if n in columns else one for n, one in match.conditions.items()})


def _without_covariance(walker: Any) -> Any:
    """A copy of a filter that knows of no covariance, None where there is none to forget."""
    if not getattr(getattr(walker, "_state", None), "full", False):
        return None
    arrays = dict(walker.to_arrays())
    row, C = arrays["slot_row"], arrays["C"]
    joint = row >= 0
    variance = arrays["slot_v"].copy()
    variance[joint] = np.diagonal(C)[row[joint]]
    arrays |= {"slot_v": variance, "slot_row": np.full_like(row, -1), "C": np.empty((0, 0))}
    alone = copy.deepcopy(walker)
    alone.from_arrays(arrays)
    return alone


def _names_of(walker: Any, contest: Any, now: Mapping[str, float]) -> list[str]:
    return [name for name in who_met(contest) if name in now]


def who_met(contest: Any) -> list[str]:
    """Those in a contest: entrants by name, members of teams, and what else is rated."""
    members = [
        slots.names[code]
        for slots in contest.slots.values()
        if not slots.advantage
        for code in slots.codes.ravel().tolist()
        if code >= 0
    ]
    return [*dict.fromkeys([*members, *(contest.entrants[code] for code in contest.entrant.tolist())])]


def _of_contest(walker: Any, contest: Any) -> dict[str, Reason]:
    before, now, names, known, of = _moved(walker, contest, _names_of)
    last, plain, terms = {name: now[name] - before[name] for name in known}, contest, {}
    if contest.weight[0] != 1.0:
        plain = replace(plain, weight=np.ones(1))
        fewer = of(plain)
        terms["weight"] = {name: last[name] - fewer[name] for name in known}
        last = fewer
    day = walker._last_day()
    if contest.dated and int(contest.day[0]) > day > 0:
        fewer = of(replace(plain, date=np.full(1, np.datetime64(day, "D"))))
        terms["rest"] = {name: last[name] - fewer[name] for name in known}
        last = fewer
    terms["places"] = last
    return {name: _reason(name, before, now, terms, (None, None)) for name in names}


REASONS: dict[Kind, Callable[[Any, Any], dict[str, Reason]]] = {MATCHES: _of_match, CONTESTS: _of_contest}
