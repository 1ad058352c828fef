"""Sides whose results do not fit their rating: smurfs, sandbaggers, a changed line-up, a new version under an old name.

What is not known of a rating belongs into the hypothesis that it is right. Of the matches of a side, with its offset
``u ~ N(0, sd²)`` and opponents as uncertain as they are, the likelihood is ``L(δ) = ∫ Π_t P(result_t | gap_t + u + δ)
dN(u)``, and the evidence ``E = mean over δ = ±50 … ±400 of L(δ)/L(0)``: of a right rating its mean is 1, after any
number of matches. Of ``n`` sides those with the ``k`` largest are named, ``k`` the largest number with ``E_(k) ≥
n/(kq)``: the share of innocents among them is at most ``q`` on average, however evidence of sides hangs together.
Evidence is a fair game against a right rating, so one may look as often as one likes, always from the same day on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.decisions.choosing import GRID, Beliefs, beliefs_of
from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.matches import Matches, check_matches
from kinelo.presentation import counted, percent
from kinelo.raters.questions import answering

if TYPE_CHECKING:
    import polars as pl

CHANGES = np.array([0.0, -400.0, -200.0, -100.0, -50.0, 50.0, 100.0, 200.0, 400.0])
"""Points by which a side may play otherwise than it is rated; first none."""
OFFSETS, OFFSET_WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
DOUBTS, DOUBT_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
"""Nodes and weights of a side's offset, and of what is not known of an opponent."""
PIECE = 4096
"""Matches that are weighed at a time."""


def watch(rated: Any, matches: Matches, *, false_share: float = 0.05) -> pl.DataFrame:
    """Sides whose results in matches that were not rated yet do not fit their rating.

    Parameters
    ----------
    rated
        A rater that says how uncertain its ratings are, or a rating book, as it was **before** these matches.
    matches
        What was played since. Matches with somebody who has no rating are left out.
    false_share
        The share of innocents among those that are named, on average, however many sides are watched.

    Returns
    -------
    polars.DataFrame
        ``name``, ``matches``, ``scored`` (points of its matches), ``expected`` (as it is rated), ``points`` (by which
        the side seems to play better than rated), ``evidence`` (for a wrong rating, against 1), and whether it is
        ``named``; the most evidence first.

    >>> import kinelo as kn
    >>> known = {"name": ["Ann", "Bob", "Cid"], "rating": [1500, 1500, 1500], "deviation": [30, 30, 30]}
    >>> games = {"home": ["Ann", "Bob"] * 30, "away": ["Bob", "Cid"] * 30, "result": [1, 1, 1, 0] * 15}
    >>> found = kn.watch(kn.Glicko(start=known), kn.read_matches(games | {"neutral": [True] * 60}))
    >>> found.filter("named")["name"].to_list()
    ['Ann', 'Bob']
    """
    import polars as pl

    check_matches(matches)
    false_share = check_number("watch", "false_share", false_share, 0.0, 1.0, above=True)
    if not np.isin(matches.signed, (-1.0, 0.0, 1.0)).all():
        raise InputError("watch weighs wins, draws and losses; other results have no place in it.")
    rater = answering(rated, "watch")[0]
    beliefs, chances = beliefs_of(rated, "watch")
    place = {name: k for k, name in enumerate(beliefs.names)}
    code = np.array([place.get(name, -1) for name in matches.teams], np.int64)
    known = (code[matches.home] >= 0) & (code[matches.away] >= 0)
    played = matches[known]
    sd = _doubts(rater, beliefs, played)
    forecast = rater.predict(played).probabilities if len(played) else np.empty((0, 3))
    first = forecast[:, 0] + 0.5 * forecast[:, 1]
    logs = np.zeros((len(place), CHANGES.size, OFFSETS.size))
    for start in range(0, len(played), PIECE):
        part = played[start : start + PIECE]
        gap = rater._mean_gaps(part) / beliefs.unit
        for side, other, sign in ((part.home, part.away, 1.0), (part.away, part.home, -1.0)):
            one, foe = code[side], code[other]
            shown = _chances(sign * gap, sd[one], sd[foe], sign * part.signed, chances)
            np.add.at(logs, one, np.log(np.maximum(shown, 1e-12)))
    top = logs.max(axis=2, keepdims=True)
    likelihood = np.log((np.exp(logs - top) * OFFSET_WEIGHTS).sum(axis=2)) + top[:, :, 0]
    ratio = np.exp(np.minimum(likelihood[:, 1:] - likelihood[:, :1], 700.0))
    evidence = ratio.mean(axis=1)
    points = (ratio * CHANGES[1:]).sum(axis=1) / ratio.sum(axis=1)
    sides = np.concatenate([code[played.home], code[played.away]])
    count, scored, expected = (
        np.bincount(sides, None if one is None else np.concatenate([one, 1.0 - one]), len(place))
        for one in (None, played.result, first)
    )
    order = np.argsort(-evidence, kind="stable")
    order = order[count[order] > 0]
    return pl.DataFrame(
        {
            "name": [beliefs.names[k] for k in order.tolist()],
            "matches": count[order],
            "scored": scored[order],
            "expected": expected[order],
            "points": points[order],
            "evidence": evidence[order],
            "named": enough_evidence(evidence[order], false_share),
        }
    )


def _doubts(rater: Any, beliefs: Beliefs, played: Matches) -> NDArray[np.float64]:
    """What is not known of each rating, on the day of the last match: strengths move until then.

    What all ratings have in common tells nothing: ``v_i + v_j`` are to be variances of differences ``D_ij``.
    """
    P, size = beliefs.covariance, len(beliefs.names)
    own = np.diagonal(P)
    variance = own
    if size > 2:
        D = own[:, None] + own - 2.0 * P
        variance = (D.sum(axis=1) - D.sum() / (2.0 * (size - 1))) / (size - 2)
    if len(played) and played.dated and hasattr(rater, "ratings_on"):
        later = dict(rater.ratings_on(played.date[-1]).select("name", "uncertainty").rows())
        variance = np.maximum(variance, [later.get(name, 0.0) ** 2 for name in beliefs.names])
    return np.sqrt(np.maximum(variance, 0.0))


def watch_lines(table: pl.DataFrame, false_share: float = 0.05) -> list[str]:
    """What :func:`kinelo.watch` found, in a sentence for each side named, the most evidence first.

    >>> import polars as pl
    >>> row = {"name": ["Ann"], "matches": [40], "scored": [29.5], "expected": [20.25], "points": [207.4],
    ...        "evidence": [31234.0], "named": [True]}
    >>> watch_lines(pl.DataFrame(row))[0]
    'Ann plays some 210 points above the rating: 29.5 points of 40 matches, where 20.2 were expected; 31,000 to 1.'
    """
    lines = []
    for row in table.filter("named").to_dicts():
        points, where = float(format(abs(row["points"]), ".2g")), "above" if row["points"] > 0.0 else "below"
        lines.append(
            f"{row['name']} plays some {points:.0f} points {where} the rating: {row['scored']:g} points of "
            f"{counted(row['matches'], 'match', 'matches')}, where {row['expected']:.1f} were expected; "
            f"{odds_of(row['evidence'])} to 1."
        )
    if not lines:
        return [f"Of {table.height:,} sides none is named: no results are that unlike a rating."]
    return [*lines, innocents(false_share, table.height, "watched")]


def odds_of(evidence: float) -> str:
    """Evidence against 1, in two digits.

    >>> odds_of(31234.0), odds_of(1e12)
    ('31,000', 'more than a billion')
    """
    return f"{float(format(evidence, '.2g')):,.0f}" if evidence < 1e9 else "more than a billion"


def innocents(false_share: float, number: int, noun: str) -> str:
    """How many of those named are innocent."""
    return f"Of those named {percent(false_share)} are innocent at most, on average, of {number:,} {noun}."


def enough_evidence(evidence: NDArray[np.float64], false_share: float) -> NDArray[np.bool_]:
    """Who is named, of everybody's evidence, the most first.

    >>> enough_evidence(np.array([90.0, 31.0, 12.0, 2.0]), 0.1).tolist()
    [True, True, False, False]
    """
    ranks = np.arange(1, evidence.size + 1)
    enough = np.flatnonzero(evidence >= evidence.size / (ranks * false_share))
    return ranks <= (enough[-1] + 1 if enough.size else 0)


def _chances(
    gap: NDArray[np.float64],
    sd: NDArray[np.float64],
    foe_sd: NDArray[np.float64],
    signed: NDArray[np.float64],
    chances: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The chance of each result of a side, by change and offset (matches, changes, nodes); opponents are in doubt."""
    grid = GRID * np.arange(len(chances))
    differences = np.concatenate([-grid[:0:-1], grid])
    table = np.concatenate([chances[:0:-1, ::-1], chances])  # win, draw, loss by difference
    at = gap[:, None, None] + CHANGES[:, None] + sd[:, None, None] * OFFSETS
    total = np.zeros(at.shape)
    for outcome, value in enumerate((1.0, 0.0, -1.0)):
        own = signed == value
        for node, weight in zip(DOUBTS.tolist(), (DOUBT_WEIGHTS / DOUBT_WEIGHTS.sum()).tolist()):
            seen = at[own] + (foe_sd[own] * node)[:, None, None]
            total[own] += weight * np.interp(seen, differences, table[:, outcome])
    return total
