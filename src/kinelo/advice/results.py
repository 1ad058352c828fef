r"""A table of results judged: where ratings end, what they cannot show, and whether that is more than luck.

Ratings solve ``Σ_j w_ij (s_ij − b(R_i − R_j)) = 0``, w_ij the games of a pair (1 for a table that is exact), by
Newton's method on a convex functional. What they cannot show is ``s_ij − b(R_i − R_j)``. If results followed the
ratings, its weighted square ``X² = Σ_{i<j} w_ij (s_ij − b_ij)²/(1 − b_ij²)`` would be that of luck; leagues drawn from
the ratings, and rated again, say how often luck alone makes it as large. Draws make results less lucky than that, and
the answer cautious.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtrc

from kinelo.advice.report import Report, Rows
from kinelo.errors import InputError, NoStationaryState
from kinelo.model.outcome import Outcome
from kinelo.model.results import Results
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.presentation import json_ready, percent
from kinelo.theory.balance import balance_pairs
from kinelo.theory.farming import gap_of

LEAGUES = 400
"""Leagues that are drawn to say what luck does; of more than ``MOST_DRAWN`` teams the law of X² says it."""
MOST_DRAWN = 120
MOST_SEARCHED = 500
REDRAWN_NEWTON_STEPS = 8
"""Newton's steps of a drawn league, from the ratings it was drawn from."""
RARE_BY_LUCK = 0.05
TEAMS_SHOWN = 5
SMALL_SLOPE = 1e-9


@dataclass(frozen=True)
class Cycle:
    """Three teams, each of which scores more against the next than ratings say: ``excess`` points per match on average.

    ``real``: each is also expected to beat the next.
    """

    teams: tuple[str, str, str]
    excess: float
    real: bool


@dataclass(frozen=True, repr=False)
class ResultsDiagnosis(Report):
    """What Elo makes of a table of results.

    Attributes
    ----------
    rating
        Where ratings end when pairs meet as often as in the table (all alike where it is exact); mean 0.
    unexplained
        Points per match that ratings cannot show, row against column: the table less what ratings predict.
    explained
        Share of the squared results that ratings show: 1 where results follow one order of strength.
    cycle
        The three teams whose results go round most; None where nothing is left over, and among more than 500 teams.
    lowest, highest
        Ratings of each team when it meets one opponent only, the worst and the best for it.
    games
        Matches behind the table; None where it is exact.
    by_luck
        Chance that luck alone leaves as much unexplained; None where the table is exact.

    >>> import kinelo as kn
    >>> game = kn.model.Results([[0.5, 0.8, 0.3], [0.2, 0.5, 0.9], [0.7, 0.1, 0.5]], names=["a", "b", "c"])
    >>> found = kn.diagnose(kn.Tanh(nu=0.5), game)
    >>> found.cycle.teams, found.cycle.real, round(found.explained, 2)
    (('a', 'b', 'c'), True, 0.07)
    """

    system: RatingSystem
    names: tuple[str, ...]
    rating: Array
    unexplained: Array
    explained: float
    cycle: Cycle | None
    lowest: Array
    highest: Array
    games: float | None
    by_luck: float | None

    _heading = "In short"

    @property
    def beyond_luck(self) -> bool:
        """Whether results go against one order of strength by more than luck explains."""
        return self.explained < 1 - SMALL_SLOPE and (self.by_luck is None or self.by_luck < RARE_BY_LUCK)

    @property
    def advice(self) -> tuple[str, ...]:
        """The verdict in sentences."""
        if self.explained >= 1 - SMALL_SLOPE:
            return ("Ratings show everything: results follow one order of strength.",)
        if self.games is not None and self.by_luck is not None and not self.beyond_luck:
            return (
                "No cycle is more than luck can make: of leagues whose results follow the ratings, "
                f"{percent(self.by_luck)} leave as much unexplained after {self.games:,.0f} games.",
            )
        left = f"{100 * (1 - self.explained):.2g} %"
        sentences = [f"Ratings leave {left} of the squared results unexplained: one number per team cannot show it."]
        if self.by_luck is not None:
            sentences[0] += f" Luck alone leaves as much in {_percent(self.by_luck)} of leagues."
        if self.cycle is not None and self.cycle.real:
            a, b, c = self.cycle.teams
            sentences.append(f"{a} beats {b}, {b} beats {c}, and {c} beats {a}: ratings depend on who meets whom.")
        return tuple(sentences)

    def rows(self) -> Rows:
        """Name and finding of every line."""
        order = np.argsort(-self.rating, kind="stable")
        shown = [f"{self.names[k]}: {self.rating[k]:+.3g}" for k in order[:TEAMS_SHOWN]]
        if order.size > TEAMS_SHOWN:
            shown.append(f"and {order.size - TEAMS_SHOWN} more")
        rows = [("Where ratings end", "\n".join(shown))]
        i, j = np.unravel_index(int(np.argmax(self.unexplained)), self.unexplained.shape)
        left = f"{self.names[i]} scores {self.unexplained[i, j]:+.2f} points per match more against {self.names[j]}"
        nothing = self.explained >= 1 - SMALL_SLOPE
        rows.append(
            (
                "What they cannot show",
                "nothing" if nothing else f"{1 - self.explained:.2g} of the squared results; most: {left}",
            )
        )
        if self.cycle is not None:
            teams = " over ".join((*self.cycle.teams, self.cycle.teams[0]))
            rows.append(("Strongest cycle", f"{teams}: {self.cycle.excess:+.2f} points per match each"))
        width = self.highest - self.lowest
        most = int(np.argmax(width))
        name, low, high = self.names[most], self.lowest[most], self.highest[most]
        depends = f"{name} is rated {low:+.3g} to {high:+.3g} by meeting one opponent"
        if not width[most] > SMALL_SLOPE:
            depends = "does not matter: ratings are the same"
        elif not math.isfinite(width[most]):
            depends = f"without end: {name} meets an opponent that it always beats, or never"
        rows.append(("Who plays whom", depends))
        exact = "the table is taken as exact; give games= to hear what luck does"
        rows.append(
            ("Luck", exact if self.by_luck is None else f"leaves as much in {_percent(self.by_luck)} of leagues")
        )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain numbers, words and lists, ready for JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("rating", "unexplained", "lowest", "highest")}
        numbers = {name: getattr(self, name) for name in ("names", "explained", "cycle", "games", "by_luck", "advice")}
        return json_ready({**numbers, **arrays})

    def _title(self) -> str:
        return f"What ratings make of a table of {len(self.names):,} teams"

    def _sentences(self) -> tuple[str, ...]:
        return self.advice

    def __repr__(self) -> str:
        return f"ResultsDiagnosis: {' '.join(self.advice)}"

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: {words}" for name, words in [*self.rows(), *((self._heading, s) for s in self.advice)]
        )


def diagnose_results(system: RatingSystem, results: Results) -> ResultsDiagnosis:
    """Judge a table of results under a rating system."""
    if not system.pairing.constant:
        raise InputError("A table of Results is judged by its own games; pairing must be AllPlayAll().")
    outcome, s = system.outcome, results.signed
    names = tuple(results._name(k) for k in range(results.teams))
    weight = (1.0 - np.eye(results.teams)) if results.games is None else results.games
    # Ratings settle where every group of teams has lost something to the rest, and gained something from it.
    count, group = connected_components((weight > 0) & (s < outcome.supremum), connection="strong")
    if count > 1:
        apart = connected_components(weight > 0, directed=False)[0] > 1
        smallest = np.flatnonzero(group == np.bincount(group).argmin())
        listed = ", ".join(names[k] for k in smallest[:TEAMS_SHOWN]) + (" …" if smallest.size > TEAMS_SHOWN else "")
        why = "never met the others" if apart else "won or lost everything against others"
        raise NoStationaryState(
            f"No ratings balance these results: {listed} {why}, so the gap between them has no size."
        )
    rating = balance_pairs(outcome, s, weight, np.zeros(results.teams))
    left = np.where(weight > 0, s - outcome.b(rating[:, None] - rating[None, :]), 0.0)
    whole = float((weight * s**2).sum())
    alone = np.where(weight > 0, rating[None, :] + gap_of(outcome, s), np.nan)
    games = None if results.games is None else float(weight.sum() / 2)
    # The three teams with the largest sum of what is left over, once around.
    cycle, most, met = None, SMALL_SLOPE, weight > 0
    for a in range(len(s) if len(s) <= MOST_SEARCHED else 0):
        total = left[a, :, None] + left + left[:, a][None, :]
        total = np.where(met[a, :, None] & met & met[:, a][None, :], total, -np.inf)
        b, c = np.unravel_index(int(np.argmax(total)), total.shape)
        if total[b, c] > most + SMALL_SLOPE:
            most = float(total[b, c])
            real = bool(min(s[a, b], s[b, c], s[c, a]) > 0)
            cycle = Cycle((names[a], names[int(b)], names[int(c)]), most / 6, real)
    return ResultsDiagnosis(
        system, names, rating, left / 2, 1 - float((weight * left**2).sum()) / whole if whole else 1.0,
        cycle, np.nanmin(alone, axis=1), np.nanmax(alone, axis=1), games,
        None if games is None else _chance(outcome, s, weight, rating),
    )  # fmt: skip


def _chance(outcome: Outcome, s: Array, weight: Array, rating: Array) -> float:
    """How often luck alone leaves as much unexplained as there is."""
    i, j = np.nonzero(np.triu(weight, 1))
    n, b = weight[i, j], outcome.b(rating[i] - rating[j])
    there = float(_misfit(n, s[i, j], b))
    if len(s) > MOST_DRAWN:
        return float(chdtrc(max(i.size - len(s) + 1, 1), there))
    matches = np.rint(np.maximum(n, 1)).astype(np.int64)
    drawn = 2 * np.random.default_rng(1).binomial(matches, (1 + b) / 2, (LEAGUES, n.size)) / matches - 1
    tables = np.zeros((LEAGUES, *s.shape))
    tables[:, i, j], tables[:, j, i] = drawn, -drawn
    # Ratings of the drawn leagues, all at once; those that never settle have gone far by then.
    again, size = np.tile(rating, (LEAGUES, 1)), rating.size
    for _ in range(REDRAWN_NEWTON_STEPS):
        gap = again[:, :, None] - again[:, None, :]
        drift = (weight * (tables - outcome.b(gap))).sum(axis=2)
        pull = weight * outcome.b_prime(gap)
        stiffness = np.eye(size) * pull.sum(axis=2)[:, :, None] - pull
        # The mean is free; a constant ties it down. A little more keeps teams that run away from running at once.
        tied = np.trace(stiffness, axis1=1, axis2=2)[:, None, None] / size
        step = np.linalg.solve(stiffness + tied / size + SMALL_SLOPE * tied * np.eye(size), drift[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True) * outcome.sharpness
        again += step * np.minimum(1.0, 1.0 / np.maximum(longest, SMALL_SLOPE))
    worse = _misfit(n, drawn, outcome.b(again[:, i] - again[:, j])) >= there
    return (int(worse.sum()) + 1) / (LEAGUES + 1)


def _misfit(n: Array, s: Array, b: Array) -> Array:
    return (n * (s - b) ** 2 / np.maximum(1 - b**2, SMALL_SLOPE)).sum(axis=-1)


def _percent(chance: float) -> str:
    return f"less than {math.ceil(100 / LEAGUES)} %" if chance < 1 / LEAGUES * 1.5 else percent(chance)
