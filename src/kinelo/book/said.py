"""Matches as a program says them to a book, one by one or several at once, made into a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.dated import Condition
from kinelo.matches.fixtures import lineups_of_starters
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.matches.names import encode_names
from kinelo.raters.one_match import OneResult

MATCH = ("match_id", "home", "away", "result", "date", "margin", "neutral", "weight", "conditions", "home_lineup",
         "away_lineup")  # fmt: skip
CONTEST = ("match_id", "order", "ranks", "unfinished", "date", "conditions", "minutes")
"""What may be said of a match of two sides, and of a contest."""


class Said(NamedTuple):
    """A match under its identifier, and the day on which it is counted."""

    name: str
    one: OneResult
    day: np.datetime64


def table_of(said: Sequence[Said]) -> Matches:
    """Matches in order of their days; those of one day in the order in which they are said.

    >>> from kinelo.raters.one_match import one_result
    >>> table = table_of([Said("m1", one_result("A", "B", "draw"), np.datetime64("2024-05-01"))])
    >>> table.match_id.tolist(), table.result.tolist()
    (['m1'], [0.5])
    """
    said = sorted(said, key=lambda match: match.day)
    ones = [match.one for match in said]
    teams = tuple(dict.fromkeys(name for one in ones for name in (one.home, one.away)))
    code = {name: k for k, name in enumerate(teams)}
    home, away = (np.array([code[getattr(one, side)] for one in ones], np.int32) for side in ("home", "away"))
    numbers = {name: np.array([getattr(one, name) for one in ones], float) for name in ("signed", "margin", "weight")}
    starters = [() if one.lineups is None else _side_of(one.lineups, side) for one in ones for side in (0, 1)]
    return Matches(
        np.array([match.day for match in said]), home, away, teams, 0.5 + 0.5 * numbers["signed"], numbers["margin"],
        np.array([bool(one.neutral) for one in ones]), numbers["weight"], np.arange(1, len(said) + 1),
        pl.Series([match.name for match in said], dtype=pl.String), lineups_of_starters(*starters),
        conditions=_conditions_of(ones),
    )  # fmt: skip


def _side_of(lineups: Lineups, side: int) -> Sequence[str] | dict[str, float]:
    """Names of a side of one match, with the time that each played where that is said."""
    names, minutes = lineups.names(0, side=side), lineups.minutes[lineups.offsets[side] : lineups.offsets[side + 1]]
    return names if np.isnan(minutes).any() else dict(zip(names, minutes.tolist(), strict=True))


def _conditions_of(ones: Sequence[OneResult]) -> dict[str, Condition]:
    found = {}
    for name in ones[0].conditions or {}:
        levels = [(one.conditions or {}).get(name) for one in ones]
        texts = [None if level is None else str(level).strip() or None for level in levels]
        (codes,), known = encode_names(pl.Series(texts, dtype=pl.String))
        found[name] = Condition(codes, known)
    return found


def check_identifier(match_id: Any) -> str:
    """The identifier of a match without blanks around it; refused where it is none.

    >>> check_identifier(" m1 ")
    'm1'
    """
    if not isinstance(match_id, str) or not match_id.strip():
        raise InputError(f"match_id={match_id!r:.60} must be text that is not blank.")
    return match_id.strip()


def check_listed(rows: Sequence[Any]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Matches of a list as :meth:`kinelo.RatingBook.update_one` takes them, all of one sort, and their identifiers."""
    for row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"matches must be such as {{'home': 'A', 'away': 'B', 'result': 1}}, not {row!r:.60}.")
        known, needed = (CONTEST, ("order",)) if "order" in row else (MATCH, ("home", "away", "result"))
        for word in row:
            if word not in known:
                raise InputError(f"{word!r:.60} is not known of a match; it has {', '.join(known)}.")
        for word in needed:
            if row.get(word) is None:
                raise InputError(f"A match has no {word}: {dict(row)!r:.60}.")
    if len({"order" in row for row in rows}) > 1:
        raise InputError("A list holds matches of two sides, or contests with an order, not both.")
    said = [{word: value for word, value in row.items() if word != "match_id"} for row in rows]
    return said, [row.get("match_id") for row in rows]
