"""What a match that came late, or was put right, did to the ratings of a book: later matches were rated again.

The list before it is that of one run over what the book had then, the list after it that of one run with the match as
it stands. What the match counts at its own place is told apart from what later matches, rated again, made of it.
Matches that were taken out or put right since are as the book holds them now.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinelo.book.schema import plain_json, read_json
from kinelo.raters.adapter import carry_on
from kinelo.raters.explanation import Explanation, Reason, explain_match
from kinelo.raters.preview import ratings_by_name
from kinelo.raters.soft_reset import begin_seasons
from kinelo.raters.stored import LAST_DAY

FORMER = "former: "
"""Before the identifier of a match that was put right, among the keys of ``about``: what it said before."""
MOST_FORMER = 1000
"""Corrections that a book remembers, the last ones; a table that puts right more than these leaves none."""


def remember(database: Any, ledger: Any, ids: Sequence[str]) -> None:
    """Keep what matches say that are about to be put right."""
    if len(ids) > MOST_FORMER:
        return
    number = database.one(f"SELECT COALESCE(MAX(number), 0) FROM {ledger.table}")[0]
    held = [(key, read_json(value, database.name)["number"]) for key, value in _all(database)]
    kept = {FORMER + name for name in ids}
    held = sorted((n, key) for key, n in held if key not in kept)
    gone = [key for _, key in held[: max(0, len(held) + len(ids) - MOST_FORMER)]]
    database.many("DELETE FROM about WHERE key = ?", [(key,) for key in (*gone, *kept)])
    rows = [(FORMER + name, plain_json({"number": number, "row": row})) for name, row in ledger.rows_of(ids).items()]
    database.many("INSERT INTO about (key, value) VALUES (?, ?)", rows)


def forget(database: Any, ids: Sequence[str]) -> None:
    """Keep no more of matches that were taken out."""
    database.many("DELETE FROM about WHERE key = ?", [(FORMER + name,) for name in ids])


def _all(database: Any) -> list[tuple[str, str]]:
    return database.rows("SELECT key, value FROM about WHERE key LIKE ?", (f"{FORMER}%",))


def explain_replay(
    database: Any, ledger: Any, blank: Any, rater: Any, name: str, of: Sequence[str]
) -> Explanation | None:
    """Why ratings moved when a match came late or was put right; None of one that did neither."""
    former = database.one("SELECT value FROM about WHERE key = ?", (FORMER + name,))
    if former is not None:
        stored = read_json(former[0], database.name)
        new, old = (ledger.as_of("number <= ?", (stored["number"],), name, row) for row in (None, stored["row"]))
        was, explanation = (explain_match(rater, name, played) for played in (old, new))
        then, now = _list(blank, old), _list(blank, new)
        reasons = {}
        for person in dict.fromkeys([*explanation.reasons, *was.reasons, *of]):
            correction = _counted(explanation.reasons.get(person), was.reasons.get(person))
            reasons |= _reason(person, then, now, {"correction": correction})
        note = f"{name} was put right: the {new.kind.noun} after it were rated again."
        return replace(explanation, reasons=reasons, note=note)
    (rank,) = database.one(f"SELECT rank FROM {ledger.table} WHERE {ledger.column} = ?", (name,))
    before = ledger.as_of("rank < ?", (rank,))
    after = ledger.as_of(f"(rank < ? OR {ledger.column} = ?)", (rank, name))
    if before is None or str(after._keys[-1]) == name:
        return None
    return _late(blank, rater, name, before, after, of)


def _late(blank: Any, rater: Any, name: str, before: Any, after: Any, of: Sequence[str]) -> Explanation:
    explanation = explain_match(rater, name, after)
    then, now = _list(blank, before), _list(blank, after)
    reasons = {}
    for person in dict.fromkeys([*explanation.reasons, *of]):
        reason = explanation.reasons.get(person)
        terms = dict(reason.terms) if reason is not None else {}
        said = (reason.score, reason.expected) if reason is not None else (None, None)
        reasons |= _reason(person, then, now, terms, *said)
    later = len(after) - 1 - int((after._keys == name).nonzero()[0][0])
    rest = f"1 later {after.kind.one} was" if later == 1 else f"{later:,} later {after.kind.noun} were"
    note = f"{name} came late: {rest} rated again."
    return replace(explanation, reasons=reasons, note=note)


def _counted(new: Reason | None, old: Reason | None) -> float:
    """What a match counts at its place against what it counted; who began with it began elsewhere."""
    if new is not None and old is not None and new.before is old.before is None:
        return new.after - old.after
    return math.fsum(x for one, sign in ((new, 1), (old, -1)) if one for x in (sign * (one.change or 0.0),))


def _list(blank: Any, played: Any) -> dict[str, float]:
    rater = copy.deepcopy(blank)
    carry_on(rater, played)
    begin_seasons(rater, LAST_DAY)
    return ratings_by_name(rater)


def _reason(
    name: str, then: Mapping[str, float], now: Mapping[str, float], terms: dict[str, float],
    score: float | None = None, expected: float | None = None,
) -> dict[str, Reason]:  # fmt: skip
    """Why somebody stands elsewhere on the list; nothing of who has left it."""
    if name not in now:
        return {}
    if name not in then:
        return {name: Reason(name, None, now[name], {})}
    rest = now[name] - then[name] - math.fsum(terms.values())
    return {name: Reason(name, then[name], now[name], terms | {"replay": rest}, score, expected)}
