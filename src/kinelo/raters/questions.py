"""Questions about ratings: functions of whatever is ``rated``, a rater, a rater of a user's own or a rating book.

:func:`answering` finds who answers: of a book, a rater that knows those who are asked about. How even a match is
believed to be, and which handicap would make it even, is answered here; the other questions have modules of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.columns import listed
from kinelo.matches.dated import Day
from kinelo.matches.fixtures import fixtures
from kinelo.raters.covariates import covariate_names
from kinelo.raters.hermite import HERMITE_NODES, HERMITE_WEIGHTS
from kinelo.raters.one_match import pairs_of
from kinelo.raters.rater import Rater


def rater_shown(rater: Any) -> Any:
    """The rater whose ratings are shown, which answers questions: of a mixture it is one of those mixed."""
    return getattr(rater, "members_", {}).get(getattr(rater, "shown_", ""), rater)


def answers(rater: Any, question: str) -> bool:
    """Whether a rater can be asked a question: those of Kinelo can, and others that have a method of its name."""
    rater = rater_shown(rater)
    return isinstance(rater, Rater) or hasattr(rater, question)


def answering(
    rated: Any, question: str, names: Sequence[Any] | None = None, entrants: Any = None
) -> tuple[Any, Callable[..., Any] | None]:
    """The rater that answers a question, and its own way to, None where it answers as all raters do.

    Of a book it is a rater that knows those named, or the ``entrants`` of a contest, or everyone where neither is said.
    Raters of Kinelo have a way of their own as a private method, others as a method with the name of the question.
    """
    knowing = getattr(rated, "_rater_knowing", None)
    rater = rater_shown(rated if knowing is None else knowing(names, entrants))
    if isinstance(rater, Rater):
        rater = rater._of_outcomes()
        return rater, getattr(rater, f"_{question}", None)
    if not callable(getattr(rater, "fit", None)):
        raise InputError(f"{question} asks a rater such as TeamElo, or a rating book, not {type(rater).__name__}.")
    if not answers(rater, question):
        raise InputError(f"{type(rater).__name__} has no {question}; the raters of Kinelo have it.")
    return rater, getattr(rater, question)


def matches_of(rated: Any, matches: Any = None) -> Any:
    """The matches or contests that were rated: those given, those of a book, or those that a rater was fitted on."""
    if matches is None:
        matches = rated.matches() if hasattr(rated, "_rater_knowing") else getattr(rated, "_fitted", None)
    if not getattr(matches, "in_memory", False):
        raise InputError("Give the matches that the rater has rated, matches=….")
    return matches


def _given(**words: Any) -> dict[str, Any]:
    """What was said, without what stands for nothing."""
    return {
        word: value
        for word, value in words.items()
        if not (value is None or value is False or (isinstance(value, tuple | dict) and not value))
    }


def match_quality(
    rated: Any,
    home: str | Sequence[Any],
    away: str | Sequence[str] | None = None,
    *,
    date: Day | None = None,
    neutral: bool = False,
    conditions: Mapping[str, object] | None = None,
    home_lineup: Sequence[Any] = (),
    away_lineup: Sequence[Any] = (),
) -> float | NDArray[np.float64]:
    """How even a match is believed to be, from 0 (one side is sure to win) to 1 (both are known to be equal).

    ``1 − E[(P(win) − P(loss))²]``, the mean taken over what is believed of both strengths. It is the same for both
    sides on neutral ground, and largest for equal sides; between equal sides it falls with the uncertainty of their
    ratings, since one of them may well be far better. Give a list for one side, or lists of equal length for both, to
    compare candidates in one call; date, conditions and line-ups are those of ``predict_one``. Of a list of sides the
    line-up is a list too, with the players of each (empty where they are not known).

    :class:`kinelo.RankElo` also takes a list of entrants alone, a contest: the mean is over all pairs of it. Of two
    sides, or lists of them, each pair is a contest of two then; a rater that has seen matches takes the first to be at
    home, unless the ground is ``neutral``. For :class:`kinelo.BradleyTerry` the cost grows with the cube of the league,
    as for its uncertainties.

    >>> import kinelo as kn
    >>> known = {"name": ["Ann", "Bea", "Cid"], "rating": [1500, 1520, 1900], "deviation": [50, 50, 50]}
    >>> rater = kn.Glicko(start=known)
    >>> kn.match_quality(rater, "Ann", ["Bea", "Cid", "somebody new"], neutral=True).round(2)
    array([0.96, 0.34, 0.6 ])
    >>> rater = kn.RankElo(start={"Ann": 1600, "Bob": 1590, "Cid": 1300, "Dee": 1310})
    >>> kn.match_quality(rater, ["Ann", "Bob"]) > kn.match_quality(rater, ["Ann", "Bob", "Cid"])
    True
    """
    pairs = None if away is None else pairs_of(home, away)
    names, entrants = (None, home) if pairs is None else ([*pairs[0], *pairs[1]], None)
    rater, own = answering(rated, "match_quality", names, entrants)
    if own is not None:
        more = {"date": date, "neutral": neutral, "conditions": conditions}
        return own(home, away, **more, **_given(home_lineup=home_lineup, away_lineup=away_lineup))
    if pairs is None:
        raise InputError(f"{type(rater).__name__} compares matches of two sides; give both.")
    rater._check_has_ratings()
    lineups = rater._lineups_of_pairs((home, away), (home_lineup, away_lineup), len(pairs[0]))
    levels = rater._levels(conditions)
    matches = fixtures(*pairs, rater._day_of(date), neutral=neutral, conditions=levels, lineups=lineups)
    gaps = rater._gaps(matches)
    at = gaps.mean[:, None] + np.sqrt(gaps.variance)[:, None] * HERMITE_NODES
    chances = rater._chances(at.ravel()).reshape(*at.shape, 3)
    quality = 1.0 - ((chances[..., 0] - chances[..., 2]) ** 2 * HERMITE_WEIGHTS).sum(axis=1)
    return float(quality[0]) if isinstance(home, str) and isinstance(away, str) else quality


def fair_value(
    rated: Any,
    home: Any,
    away: str | None = None,
    covariate: str = "",
    *,
    date: Day | None = None,
    neutral: bool = False,
    given: Mapping[str, object] | None = None,
    home_lineup: Sequence[str] = (),
    away_lineup: Sequence[str] = (),
) -> float | dict[str, float]:
    """The value of a covariate at which a match is even: which handicap is fair?

    Parameters
    ----------
    rated
        A rater with ``covariates`` that has rated matches, or a rating book of one.
    home, away
        Both sides. :class:`kinelo.RankElo` also takes a list of entrants alone, and says by name which numbers would
        make all of them equally strong, against the mean of the contest; of two, by how much the number of the first
        exceeds that of the second.
    covariate
        The column that is asked for, one of ``covariates``.
    given
        Values of the other covariates (0 unless they are given), and levels of conditions.
    date, neutral, home_lineup, away_lineup
        As in ``predict_one``.

    >>> import kinelo as kn
    >>> table = {"home": ["Ann", "Bob"] * 12, "away": ["Bob", "Ann"] * 12, "stones": [0, 0, -3, 3] * 6,
    ...          "result": [1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 2, "neutral": [True] * 24}
    >>> games = kn.read_matches(table, conditions=["stones"])
    >>> rater = kn.BradleyTerry(covariates=["stones"]).fit(games)
    >>> fair = kn.fair_value(rater, "Ann", "Bob", "stones", neutral=True)
    >>> rater.predict_one("Ann", "Bob", neutral=True, conditions={"stones": fair}).points.round(9)
    array([0.5])
    """
    rater, own = answering(rated, "fair_value")
    if own is not None:
        more = _given(neutral=neutral, given=given, home_lineup=home_lineup, away_lineup=away_lineup)
        return own(home, away, covariate, date=date, **more)
    covariates = covariate_names(getattr(rater, "covariates", ()))
    if not isinstance(covariate, str) or covariate not in covariates:
        known = ", ".join(map(repr, covariates)) or "none"
        raise InputError(f"{covariate!r:.60} is no covariate of this rater; it has {known}.")
    if not isinstance(given, Mapping | None):
        raise InputError(f"given={given!r:.60} must give values by covariate.")
    asked = [name for name in rater._around.asked if name != covariate]
    for name, value in (given or {}).items():
        if name not in asked:
            raise InputError(f"{name!r:.60} is nothing else that this rater uses; it uses {listed(asked) or 'none'}.")
        if name in covariates:
            check_number("fair_value", str(name), value, -math.inf)
    rater._check_has_ratings()
    lineups = rater._lineups(home_lineup, away_lineup)
    # The difference of strengths is linear in the covariate: two values tell all others.
    levels = [dict(given or {}) | {covariate: x} for x in (0.0, 1.0)]
    gaps = [rater._mean_gaps(rater._fixture(home, away, date, neutral, level, lineups)) for level in levels]
    at_zero, at_unit = (float(gap[0]) for gap in gaps)
    if at_unit == at_zero:
        raise InputError(f"Nothing is known of what {covariate!r} is worth; fit the rater first.")
    return at_zero / (at_zero - at_unit)
