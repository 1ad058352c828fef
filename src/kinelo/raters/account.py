"""How a rating came about: the last matches of somebody one by one, and what happened between them.

Each of these matches is explained (:mod:`kinelo.raters.explanation`); what moved the rating while others played stands
between them, so that everything adds up to the whole change.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.contests import ENDINGS, FINISHED
from kinelo.matches.kind import CONTESTS
from kinelo.model.validation import is_text, whole
from kinelo.presentation import Row, Table, number, words
from kinelo.raters.explanation import REASONS, SMALLEST_SAID, WORDS, Reason, rated
from kinelo.raters.preview import ratings_by_name
from kinelo.raters.qualifying import LAST_EXPLAINED

MOST_LAST = 1000
ELSEWHERE = "elsewhere"
MEANWHILE = "while others played"
RESULTS = {1.0: ("won", "against"), 0.5: ("drew", "with"), 0.0: ("lost", "to")}
"""What a match was to somebody, by the points of it."""


@dataclass(frozen=True)
class Step:
    """A match of somebody: what it was, why the rating moved, and how it had moved since the match before."""

    match_id: str
    date: str | None
    words: str
    reason: Reason
    elsewhere: float


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
        The matches in order. The terms of each and its ``elsewhere`` (what moved while others played since the one
        before) add up, with the ``since`` of the end, to ``after − before``; of a first match, to what came after it.
    since
        What has moved since the last match, while others played.
    """

    name: str
    before: float | None
    after: float
    steps: tuple[Step, ...]
    since: float

    @property
    def change(self) -> float | None:
        """After less before."""
        return None if self.before is None else self.after - self.before

    def totals(self) -> dict[str, float]:
        """All steps together, by term; they add up to the change.

        >>> import kinelo as kn
        >>> table = {"home": ["A", "B", "A"], "away": ["B", "A", "B"], "result": [1, 0, 0.5]}
        >>> rater = kn.TeamElo.classic(k=20, home_advantage=60).fit(kn.read_matches(table))
        >>> {term: round(points, 2) for term, points in rater.explain_last("A", last=2).totals().items()}
        {'surprise': 8.4, 'venue': 0.06}
        """
        terms = [*(step.reason.terms for step in self.steps)]
        found = {
            term: math.fsum(one.get(term, 0.0) for one in terms) for term in WORDS if any(term in t for t in terms)
        }
        away = math.fsum([*(step.elsewhere for step in self.steps), self.since])
        return found | ({ELSEWHERE: away} if away else {})

    def to_dict(self) -> dict[str, Any]:
        """All of it in words and numbers."""
        return {
            "name": self.name, "before": self.before, "after": self.after, "change": self.change,
            "steps": [
                {"match_id": one.match_id, "date": one.date, "words": one.words, ELSEWHERE: one.elsewhere,
                 **one.reason.to_dict()}
                for one in self.steps
            ],
            "since": self.since, "totals": self.totals(),
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
            if abs(step.elsewhere) >= SMALLEST_SAID:
                rows.append({**blank, "words": MEANWHILE, "change": step.elsewhere})
            own = {"date": step.date, "words": step.words, "before": step.reason.before, "change": step.reason.change}
            rows.append({**blank, **own, **dict(step.reason.terms)})
        if abs(self.since) >= SMALLEST_SAID:
            rows.append({**blank, "words": f"{MEANWHILE}, since then", "change": self.since})
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
    return MEANWHILE if term == ELSEWHERE else f"for {WORDS[term]}"


def account_of(rater: Any, name: str, played: Any = None, last: int = LAST_EXPLAINED) -> Account:
    """How a rating came about over somebody's last matches; the rater is left alone."""
    if not is_text(name):
        raise InputError(f"A name is text, not {name!r:.60}.")
    most = whole("last", last, 1)
    if most > MOST_LAST:
        raise InputError(f"last must be at most {MOST_LAST:,}, not {most:,}.")
    played = rated(rater, played)
    own = _taken_part(rater, played, name)
    if not own.size:
        raise InputError(f"{name!r:.60} is in none of these {played.kind.noun}.")
    walker = copy.deepcopy(rater)
    walker._reset(dict(rater.parameters_))
    steps, before, at = [], None, 0
    for k in own[-most:].tolist():
        if k > at:
            walker.update(played[at:k])
        one: Any = played[k : k + 1]
        reason = REASONS[played.kind](walker, one).get(name)
        if reason is None:
            raise InputError(f"{type(rater).__name__} has no rating of {name!r:.60}.")
        known = reason.before
        elsewhere = known - before if steps and known is not None and before is not None else 0.0
        day = str(one.date[0]) if played.dated else None
        steps.append(Step(str(played._keys[k]), day, _words(rater, one, name), reason, elsewhere))
        before, at = reason.after, k
    if at < len(played):
        walker.update(played[at:])
    now = ratings_by_name(walker)[name]
    return Account(name, steps[0].reason.before, now, tuple(steps), now - steps[-1].reason.after)


def _taken_part(rater: Any, played: Any, name: str) -> NDArray[np.int64]:
    """Matches or contests in which somebody took part."""
    if played.kind is CONTESTS:
        found = np.zeros(len(played), bool)
        for codes in _entries_of(played, name):
            found[played.contest[codes]] = True
        return np.flatnonzero(found)
    if getattr(rater, "rates_players", False) and played.lineups is not None:
        lineups = played.lineups
        if name not in lineups.players:
            return np.empty(0, np.int64)
        stretches = np.flatnonzero(lineups.player == lineups.players.index(name))
        return np.unique((np.searchsorted(lineups.offsets, stretches, side="right") - 1) // 2)
    if name not in played.teams:
        return np.empty(0, np.int64)
    code = played.teams.index(name)
    return np.flatnonzero((played.home == code) | (played.away == code))


def _entries_of(contests: Any, name: str) -> Iterator[NDArray[np.int64]]:
    """Entries in which a name stands, of each kind that has it; ``"kind: name"`` is of that kind alone."""
    for kind, slots in contests.slots.items():
        if slots.advantage:
            continue
        for said in (name, name.removeprefix(f"{kind}: ")):
            if said in slots.names:
                yield np.flatnonzero((slots.codes == slots.names.index(said)).any(axis=1))
                break


def _words(rater: Any, one: Any, name: str) -> str:
    """What a match was to somebody."""
    if one.kind is CONTESTS:
        at = int(next(codes for codes in _entries_of(one, name) if codes.size)[0])
        ended = int(one.ended[at])
        place = f"place {one.place[at]:g} of {one.entrant.size}" if ended == FINISHED else ENDINGS[ended]
        return f"{one.labels[0]}: {place}"
    home, away = one.teams[one.home[0]], one.teams[one.away[0]]
    first, team = name == home, ""
    if getattr(rater, "rates_players", False) and one.lineups is not None:
        first = name in one.lineups.names(0, side=0)
        team = f"for {home if first else away} "
    points = float(one.result[0])
    verb, against = RESULTS.get(points if first else 1.0 - points, ("played", "against"))
    return f"{verb} {team}{against} {away if first else home}"
