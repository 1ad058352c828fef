"""Why ratings moved: the change of a match as terms that add up to it.

The match is played again on copies of the rater as it stood before, each time without one more of its circumstances:
its margin, weight, covariates, conditions, luck, venue, the rest before it. What a circumstance added is the difference
of two such changes. What remains is the result itself, against what was expected of it: the mean of the changes by win,
draw and loss, weighted by the forecast (next to nothing in most raters), and the surprise. Where a filter keeps
covariances, what is known of others is told apart too: the change without it, and the pull that it adds.

How somebody's rating came about is told by the last matches one by one, each explained so, and by what moved the rating
between them: the resets of seasons, and what others played.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.contests import ENDINGS, FINISHED
from kinelo.matches.dated import UNDATED, Condition
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.matches.matches import Matches
from kinelo.model.validation import is_text, whole
from kinelo.presentation import Row, Table, number, words
from kinelo.raters.adapter import blank_of, carry_on
from kinelo.raters.preview import ratings_by_name
from kinelo.raters.qualifying import LAST_EXPLAINED
from kinelo.raters.questions import answering, matches_of
from kinelo.raters.rater import traits_of
from kinelo.raters.soft_reset import begin_seasons
from kinelo.raters.stored import LAST_DAY

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
LEAST, LEAST_BETWEEN = 5e-13, 1e-9
SMALLEST_SAID = 0.05
"""Points below which a term is left out of a sentence; it stands in the table and in JSON."""
MOST_LAST = 1000
ELSEWHERE, SEASON = "elsewhere", "season"
BETWEEN = {SEASON: "by the reset of the season", ELSEWHERE: "while others played"}
"""What moves a rating between two matches of somebody, and how a player reads it."""
RESULTS = {1.0: ("won", "against"), 0.5: ("drew", "with"), 0.0: ("lost", "to")}
"""What a match was to somebody, by the points of it."""


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


def explain(rated: Any, match: str, matches: Any = None, *, of: str | Sequence[str] = ()) -> Explanation:
    """Why ratings moved by a match, as terms that add up to the change of everyone in it.

    Of a match that came late to a rating book, or was put right there, it is told how the list changed when it arrived:
    what the match counts at its place, and the ``replay`` of later matches that were rated again.

    Parameters
    ----------
    rated
        A rater that has rated matches or contests, or a rating book.
    match
        The identifier of the match (the number of its row where it has none), or the name of a contest.
    matches
        The matches rated, by default those of the book, or those fitted. They are rated again up to this one.
    of
        Further names, of whom the replay of a book is told too: everyone's rating may move by it.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B", "A"], "away": ["B", "A", "B"], "result": [1, 0, 0.5]})
    >>> rater = kn.TeamElo.classic(k=20, home_advantage=60).fit(matches)
    >>> print(kn.explain(rater, "3").lines()[0].partition(" (score")[0])
    A: 1519.5 → 1516.8 (-2.8): -1.7 for the venue, -1.1 for the result against what was expected
    """
    replayed = getattr(rated, "_explain_replay", None) if matches is None else None
    names = [of] if isinstance(of, str) else list(of)
    if names and replayed is None:
        raise InputError("of= asks about later matches that a rating book rated again; a rater remembers none.")
    rater, own = answering(rated, "explain")
    if own is not None:
        return own(match, matches)
    explanation = explain_match(rater, match, matches_of(rated, matches))
    return explanation if replayed is None else replayed(rater, explanation.match_id, names) or explanation


def explain_match(rater: Any, match: str, played: Any) -> Explanation:
    """Why ratings moved by the match of this identifier among those played; the rater is left alone."""
    places = np.flatnonzero(played._keys == str(match))
    if places.size != 1:
        many = "no match" if not places.size else f"{places.size} matches"
        raise InputError(f"There is {many} with the identifier {match!r:.60}.")
    k = int(places[0])
    walker = blank_of(rater)
    if k:
        carry_on(walker, played[:k])
    one: Any = played[k : k + 1]
    begin_seasons(walker, int(one.day[0]))
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
    if traits_of(walker).rates_players and match.lineups is not None:
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
    if getattr(getattr(walker, "_state", None), "full", False):  # beside a filter that knows of no covariance
        arrays = dict(walker.to_arrays())
        row, C, variance = arrays["slot_row"], arrays["C"], arrays["slot_v"].copy()
        joint = row >= 0
        variance[joint] = np.diagonal(C)[row[joint]]
        arrays |= {"slot_v": variance, "slot_row": np.full_like(row, -1), "C": np.empty((0, 0))}
        alone = copy.deepcopy(walker)
        alone.from_arrays(arrays)
        changes = _changes(alone, before, known)(plain)
        terms["others"] = {name: last[name] - changes[name] for name in known}
        last = changes
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
    if traits_of(walker).rates_players and match.lineups is not None:
        at_home = name in match.lineups.names(0, side=0)
    else:
        at_home = name == match.teams[match.home[0]]
    return (points, expected) if at_home else (1.0 - points, 1.0 - expected)


def _simpler(walker: Any, match: Matches) -> list[tuple[str, Callable[[Matches], Matches]]]:
    """Circumstances that a match has, and the match without each."""
    changes: list[tuple[str, Callable[[Matches], Matches]]] = []
    if not np.isnan(match.margin[0]):
        changes.append(("margin", lambda m: replace(m, margin=np.full(1, math.nan))))
    if match.weight[0] != 1.0:
        changes.append(("weight", lambda m: replace(m, weight=np.ones(1))))
    columns_with_level = [name for name, condition in match.conditions.items() if condition.codes[0] >= 0]
    numbers, luck = list(getattr(walker, "covariates", None) or ()), list(getattr(walker, "noise_by", None) or ())
    levels = [name for name in columns_with_level if name in (getattr(walker, "conditions", None) or ())]
    for term, columns, level in (
        ("covariates", [name for name in columns_with_level if name in numbers], "0"),
        ("conditions", levels, None),
        ("luck", [name for name in columns_with_level if name in luck and name not in levels], None),
    ):
        if columns:
            changes.append((term, partial(_with_level, columns=columns, level=level)))
    if not match.neutral[0]:
        changes.append(("venue", lambda m: replace(m, neutral=np.ones(1, bool))))
    last = max(walker._last_day(), int(UNDATED.astype(np.int64)))
    if match.dated and int(match.day[0]) > last > 0:
        day = np.full(1, np.datetime64(last, "D"))
        changes.append(("rest", lambda m: replace(m, date=day)))
    return changes


def _with_level(match: Matches, columns: Sequence[str], level: str | None) -> Matches:
    """A match with another level in some columns, or none."""
    code, levels = (-1, ()) if level is None else (0, (level,))
    other = Condition(np.full(1, code, np.int32), levels)
    return replace(match, conditions={n: other if n in columns else one for n, one in match.conditions.items()})


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


# Somebody's last matches


@dataclass(frozen=True)
class Step:
    """A match of somebody: what it was, why the rating moved, and how it had moved since the match before.

    ``season`` is what resets of seasons had moved it by, ``elsewhere`` all else, while others played.
    """

    match_id: str
    date: str | None
    words: str
    reason: Reason
    elsewhere: float
    season: float = 0.0


@dataclass(frozen=True, repr=False)
class Account:
    """How a rating came about over the last matches of somebody.

    Attributes
    ----------
    name
        Of whom it is told.
    before
        Rating before the first of these matches, None where it is the first of all.
    after
        Rating now.
    steps
        The matches in order. The terms of each, its ``season`` and its ``elsewhere`` (what resets of seasons, and
        others' matches, moved since the one before) add up, with ``since`` and ``season_since`` of the end, to
        ``after − before``; of a first match, to what came after it.
    since
        What has moved since the last match, while others played.
    season_since
        What resets of seasons have moved since the last match.
    """

    name: str
    before: float | None
    after: float
    steps: tuple[Step, ...]
    since: float
    season_since: float = 0.0

    @property
    def change(self) -> float | None:
        """After less before."""
        return None if self.before is None else self.after - self.before

    def totals(self) -> dict[str, float]:
        """All steps together, by term; they add up to the change.

        >>> import kinelo as kn
        >>> table = {"home": ["A", "B", "A"], "away": ["B", "A", "B"], "result": [1, 0, 0.5]}
        >>> rater = kn.TeamElo.classic(k=20, home_advantage=60).fit(kn.read_matches(table))
        >>> {term: round(points, 2) for term, points in kn.explain_last(rater, "A", last=2).totals().items()}
        {'surprise': 8.4, 'venue': 0.06}
        """
        terms = [*(step.reason.terms for step in self.steps)]
        sums = {term: math.fsum(one.get(term, 0.0) for one in terms) for term in WORDS if any(term in t for t in terms)}
        between = {
            SEASON: math.fsum([*(step.season for step in self.steps), self.season_since]),
            ELSEWHERE: math.fsum([*(step.elsewhere for step in self.steps), self.since]),
        }
        return sums | {term: points for term, points in between.items() if abs(points) > LEAST_BETWEEN}

    def to_dict(self) -> dict[str, Any]:
        """All of it in words and numbers."""
        return {
            "name": self.name, "before": self.before, "after": self.after, "change": self.change,
            "steps": [
                {"match_id": one.match_id, "date": one.date, "words": one.words, SEASON: one.season,
                 ELSEWHERE: one.elsewhere, **one.reason.to_dict()}
                for one in self.steps
            ],
            "since": self.since, "season_since": self.season_since, "totals": self.totals(),
        }  # fmt: skip

    def lines(self) -> list[str]:
        """A sentence for the whole, and one for every match."""
        return [self.summary(), *(self._line(step) for step in self.steps)]

    def summary(self) -> str:
        """The whole change in a sentence."""
        times = f"{len(self.steps)} times" if len(self.steps) > 1 else "time"
        many = f"the last {times} {self.name} played"
        if self.before is None or self.change is None:
            return f"{self.name} stands at {self.after:.1f} after {many}, from the first on."
        terms = sorted(self.totals().items(), key=lambda item: -abs(item[1]))
        parts = [f"{points:+.1f} {_said(term)}" for term, points in terms if abs(points) >= SMALLEST_SAID]
        whole = f"{self.name}: {self.before:.1f} → {self.after:.1f} ({self.change:+.1f}) over {many}"
        return f"{whole}{': ' if parts else ''}{', '.join(parts)}."

    def _line(self, step: Step) -> str:
        day = f"{step.date}, " if step.date else ""
        return f"{day}{step.words}. {step.reason.sentence()}"

    def table(self) -> Table:
        """A row for every match and for what happened meanwhile; the last row is the sum of all."""
        kinds = [term for term in WORDS if any(term in step.reason.terms for step in self.steps)]
        blank = dict.fromkeys(["date", "before", "change", *kinds])
        rows: list[Row] = []
        for step in self.steps:
            moved = {SEASON: step.season, ELSEWHERE: step.elsewhere}
            rows += [
                {**blank, "words": BETWEEN[how], "change": x} for how, x in moved.items() if abs(x) >= SMALLEST_SAID
            ]
            own = {"date": step.date, "words": step.words, "before": step.reason.before, "change": step.reason.change}
            rows.append({**blank, **own, **dict(step.reason.terms)})
        for how, points in {SEASON: self.season_since, ELSEWHERE: self.since}.items():
            if abs(points) >= SMALLEST_SAID:
                rows.append({**blank, "words": f"{BETWEEN[how]}, since then", "change": points})
        together = {"words": "all together", "before": self.before, "change": self.change}
        rows.append({**blank, **together, **{term: points for term, points in self.totals().items() if term in kinds}})
        columns = [words("Date", "date"), words("Match", "words"), number("Before", "before", ".1f")]
        columns += [number("Change", "change", "+.1f")]
        return Table([*columns, *(number(term.capitalize(), term, "+.1f") for term in kinds)], rows)

    def __repr__(self) -> str:
        return f"Account of {self.name}: {self.summary()}"

    def _repr_html_(self) -> str:
        return self.table().html()


def _said(term: str) -> str:
    return BETWEEN[term] if term in BETWEEN else f"for {WORDS[term]}"


def _walk_on(walker: Any, matches: Any, day: int, name: str) -> float:
    """Use further matches and begin the seasons until a day; how many points resets moved somebody on the way."""
    moved = 0.0
    for reset in getattr(walker, "_soft_resets", ())[getattr(walker, "_resets_done", 0) :]:
        if reset.day > day:
            break
        at = int(np.searchsorted(matches.day, reset.day)) if len(matches) else 0
        if at:
            carry_on(walker, matches[:at])
            matches = matches[at:]
        before = ratings_by_name(walker).get(name, math.nan)
        begin_seasons(walker, reset.day)
        moved += np.nan_to_num(ratings_by_name(walker).get(name, math.nan) - before)
    if len(matches):
        carry_on(walker, matches)
    return float(moved)


def explain_last(rated: Any, name: str, matches: Any = None, *, last: int = LAST_EXPLAINED) -> Account:
    """Why somebody's rating moved over its last matches, and between them: all of it adds up.

    Parameters
    ----------
    rated
        A rater that has rated matches or contests, or a rating book.
    name
        A side, a player or an entrant that is rated.
    matches
        The matches rated, by default those of the book, or those fitted.
    last
        How many of its matches are told apart.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B", "A"], "away": ["B", "A", "B"], "result": [1, 0, 0.5]})
    >>> account = kn.explain_last(kn.TeamElo.classic(k=20).fit(matches), "B", last=2)
    >>> [step.words for step in account.steps], round(account.change, 2)
    (['lost to A', 'drew with A'], -8.31)
    """
    if not is_text(name):
        raise InputError(f"A name is text, not {name!r:.60}.")
    most = whole("last", last, 1)
    if most > MOST_LAST:
        raise InputError(f"last must be at most {MOST_LAST:,}, not {most:,}.")
    rater, own_way = answering(rated, "explain_last")
    if own_way is not None:
        return own_way(name, matches, last=last)
    played = matches_of(rated, matches)
    rows = np.empty(0, np.int64)
    if played.kind is CONTESTS:
        there = np.zeros(len(played), bool)
        for codes in _entries_of(played, name):
            there[played.contest[codes]] = True
        rows = np.flatnonzero(there)
    elif traits_of(rater).rates_players and (lineups := played.lineups) is not None:
        if name in lineups.players:
            stretches = np.flatnonzero(lineups.player == lineups.players.index(name))
            rows = np.unique((np.searchsorted(lineups.offsets, stretches, side="right") - 1) // 2)
    elif name in played.teams:
        code = played.teams.index(name)
        rows = np.flatnonzero((played.home == code) | (played.away == code))
    if not rows.size:
        raise InputError(f"{name!r:.60} is in none of these {played.kind.noun}.")
    walker = blank_of(rater)
    steps, before, at = [], None, 0
    for k in rows[-most:].tolist():
        match: Any = played[k : k + 1]
        season = _walk_on(walker, played[at:k], int(match.day[0]), name)
        reason = REASONS[played.kind](walker, match).get(name)
        if reason is None:
            raise InputError(f"{type(rater).__name__} has no rating of {name!r:.60}.")
        known = reason.before
        if known is None or before is None:
            season, before = 0.0, known
        elsewhere = known - before - season if known is not None and before is not None else 0.0
        day = str(match.date[0]) if played.dated else None
        steps.append(Step(str(played._keys[k]), day, _words(rater, match, name), reason, elsewhere, season))
        before, at = reason.after, k
    season = _walk_on(walker, played[at:], LAST_DAY, name)
    now = ratings_by_name(walker)[name]
    return Account(name, steps[0].reason.before, now, tuple(steps), now - steps[-1].reason.after - season, season)


def _entries_of(contests: Any, name: str) -> Iterator[NDArray[np.int64]]:
    """Entries in which a name stands, of each kind that has it; ``"kind: name"`` is of that kind alone."""
    for kind, slots in contests.slots.items():
        if slots.advantage:
            continue
        for said in (name, name.removeprefix(f"{kind}: ")):
            if said in slots.names:
                yield np.flatnonzero((slots.codes == slots.names.index(said)).any(axis=1))
                break


def _words(rater: Any, match: Any, name: str) -> str:
    """What a match was to somebody."""
    if match.kind is CONTESTS:
        at = int(next(codes for codes in _entries_of(match, name) if codes.size)[0])
        ended = int(match.ended[at])
        place = f"place {match.place[at]:g} of {match.entrant.size}" if ended == FINISHED else ENDINGS[ended]
        return f"{match.labels[0]}: {place}"
    home, away = match.teams[match.home[0]], match.teams[match.away[0]]
    first, team = name == home, ""
    if traits_of(rater).rates_players and match.lineups is not None:
        first = name in match.lineups.names(0, side=0)
        team = f"for {home if first else away} "
    points = float(match.result[0])
    verb, against = RESULTS.get(points if first else 1.0 - points, ("played", "against"))
    return f"{verb} {team}{against} {away if first else home}"
