"""Matches to come as a program says them, without a table: names of both sides, and what is known beforehand.

Reading a table costs milliseconds, because tables are written by people. A service that asks for one forecast at a time
has names in hand, and making :class:`~kinelo.matches.matches.Matches` of them costs microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.dated import UNDATED, Condition
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.matches.names import clean_name
from kinelo.model.validation import flag, is_text

HOME_FLAG, NEUTRAL_FLAG = np.zeros(1, np.bool_), np.ones(1, np.bool_)
NO_CONDITIONS: Mapping[str, Condition] = {}


UNPLAYED = np.full(1, math.nan)
ONE_ROW: dict[str, Any] = dict(vars(Matches(
    np.array([UNDATED]), np.zeros(1, np.int32), np.ones(1, np.int32), (), UNPLAYED, UNPLAYED, HOME_FLAG, np.ones(1),
    np.ones(1, np.int64),
)))  # fmt: skip
"""Columns of a match that has not been played yet, which are never changed and shared by all of them."""


def fixture(
    home: str,
    away: str,
    day: np.datetime64 = UNDATED,
    *,
    neutral: bool = False,
    conditions: Mapping[str, object] | None = None,
    lineups: Lineups | None = None,
) -> Matches:
    """One match to come, as a table of one row.

    >>> match = fixture("Ajax", "PSV", np.datetime64("2024-08-10"), conditions={"surface": "grass"})
    >>> match, match.conditions["surface"].levels
    (Matches: 1 of 2 sides, on 2024-08-10, conditions surface, ('grass',))
    """
    check_neutral(neutral)
    match = object.__new__(Matches)  # a frozen class sets its fields one by one, which takes as long as a forecast
    vars(match).update(
        ONE_ROW,
        date=np.array([day]),
        teams=two_sides(home, away),
        neutral=NEUTRAL_FLAG if neutral else HOME_FLAG,
        lineups=lineups,
        conditions={name: _one_level(conditions, name) for name in conditions} if conditions else NO_CONDITIONS,
    )
    return match


def fixtures(
    home: Sequence[str],
    away: Sequence[str],
    day: np.datetime64 = UNDATED,
    *,
    neutral: bool = False,
    conditions: Mapping[str, object] | None = None,
    lineups: Lineups | None = None,
) -> Matches:
    """Several matches to come on one day, under the same conditions.

    >>> fixtures(["Ajax", "Ajax"], ["PSV", "Twente"], np.datetime64("2024-08-10"))
    Matches: 2 of 3 sides, on 2024-08-10
    """
    check_neutral(neutral)
    pairs = [two_sides(one, other) for one, other in zip(home, away, strict=True)]
    home, away = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    size = len(home)
    teams = tuple(dict.fromkeys((*home, *away)))
    place = {name: code for code, name in enumerate(teams)}
    levels = {name: _one_level(conditions or {}, name) for name in conditions or {}}
    return Matches(
        np.full(size, day),
        _codes(home, place),
        _codes(away, place),
        teams,
        np.full(size, math.nan),
        np.full(size, math.nan),
        np.full(size, bool(neutral)),
        np.ones(size),
        np.arange(1, size + 1),
        lineups=lineups,
        conditions={name: Condition(np.repeat(one.codes, size), one.levels) for name, one in levels.items()},
    )


def lineups_of_starters(*given: Sequence[str] | Mapping[str, float]) -> Lineups | None:
    """Line-ups of matches from the names of starters, home and away of each in turn; None where none is known.

    A side may say for how long each of them played instead: ``{"Ann": 90, "Bob": 35}``.

    >>> lineups_of_starters(["Ann", "Bob"], []).names(0, side=0)
    ('Ann', 'Bob')
    >>> lineups_of_starters({"Ann": 90, "Bob": 35}, ["Cid"]).minutes.tolist()
    [90.0, 35.0, nan]
    """
    sides = []
    for listed in given:
        names = list(listed) if isinstance(listed, Mapping) else listed
        usable = isinstance(names, list | tuple) or (isinstance(names, np.ndarray) and names.ndim == 1)
        if not usable or not all(isinstance(name, str) and is_text(name) and clean_name(name) for name in names):
            raise InputError(f"{names!r:.60} is not a line-up; a line-up is a list of names that are not blank.")
        sides.append([clean_name(name) for name in names])
    minutes = [time for names, side in zip(given, sides, strict=True) for time in _minutes(names, side)]
    for names in sides:
        if len(set(names)) < len(names):
            raise InputError(f"{names!r:.60} names a player twice.")
    starters = [name for names in sides for name in names]
    if not starters:
        return None
    players = tuple(dict.fromkeys(starters))
    place = {name: code for code, name in enumerate(players)}
    offsets = np.cumsum([0, *map(len, sides)])
    started = np.where(np.isnan(minutes), 1, -1).astype(np.int8)
    return Lineups(offsets, _codes(starters, place), players, np.array(minutes), started)


def _minutes(given: object, names: Sequence[str]) -> list[float]:
    """How long each of a side played; NaN where that is not said."""
    if not isinstance(given, Mapping):
        return [math.nan] * len(names)
    for time in given.values():
        number = isinstance(time, int | float | np.integer | np.floating) and not isinstance(time, bool)
        if not number or not 0.0 <= time < math.inf:
            raise InputError(f"{time!r:.40} is no time that somebody played; a time is a number from 0 on.")
    if not any(given.values()):
        raise InputError(f"Nobody of {', '.join(names)[:60]} played at all; leave out the times, or give some.")
    return [float(time) for time in given.values()]


def check_neutral(neutral: object) -> None:
    """Refuse a venue that is neither neutral nor not: text such as "no" would count as yes.

    >>> check_neutral("no")
    Traceback (most recent call last):
    kinelo.errors.InputError: neutral must be True or False, not 'no'.
    """
    flag("neutral", neutral)


def two_sides(home: object, away: object) -> tuple[str, str]:
    """Names of two sides that can meet, written one way (:func:`~kinelo.matches.names.clean_name`), as in files.

    >>> two_sides("Ajax ", "PSV")
    ('Ajax', 'PSV')
    >>> two_sides("Ajax", "Ajax")
    Traceback (most recent call last):
    kinelo.errors.InputError: 'Ajax' cannot play against itself; a match has two sides.
    """
    names = []
    for name in (home, away):
        cleaned = clean_name(name) if isinstance(name, str) and is_text(name) else ""
        if not cleaned:
            raise InputError(f"{name!r:.60} is not the name of a side; a name is text that is not blank.")
        names.append(cleaned)
    if names[0] == names[1]:
        raise InputError(f"{names[0]!r:.60} cannot play against itself; a match has two sides.")
    return names[0], names[1]


def _codes(names: Sequence[str], place: Mapping[str, int]) -> NDArray[np.int32]:
    return np.fromiter((place[name] for name in names), np.int32, len(names))


def _one_level(conditions: Mapping[str, object], name: str) -> Condition:
    """A condition of one match, as a column: -1 where nothing is said of it."""
    level = conditions[name]
    text = "" if level is None else str(level).strip()
    return Condition(np.array([0 if text else -1], np.int32), (text,) if text else ())
