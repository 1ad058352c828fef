"""Which matches tell most about a question, in order.

Beliefs are means ``m`` and a covariance ``P`` of ratings. A match of ``i`` and ``j`` has information ``w``, from the
law of the rater, draws included, and takes ``(cᵀP(e_i − e_j))²/(1/w + D)`` off the variance of ``c·s``, with ``D =
P_ii + P_jj − 2P_ij``. A question is a sum of contrasts ``c = e_a − e_b`` with weights, a Laplacian ``L``: the
variance taken off it is ``g/(1/w + D)``, ``g = (e_i − e_j)ᵀ G (e_i − e_j)`` and ``G = PLP``. Matches are taken
greedily by what they take off over what they cost. After each ``P ← P − k v vᵀ`` with ``v = P(e_i − e_j)`` and ``k =
1/(1/w + D)``; with ``t = G(e_i − e_j)`` ``G`` becomes ``G − k(v tᵀ + t vᵀ) + k² g v vᵀ``, and no matrix is multiplied
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from kinelo.errors import InputError, in_one_line
from kinelo.forecasts.parameters import check_number
from kinelo.model.validation import is_list, is_text, one_line, whole
from kinelo.play.formula import kernel
from kinelo.presentation import Table, chance, number, percent, words
from kinelo.raters.bradley_terry.rater import BradleyTerry
from kinelo.raters.kalman.rater import KalmanElo
from kinelo.raters.questions import answering
from kinelo.raters.rank.rater import RankElo
from kinelo.raters.rank.reading import POINTS_PER_UNIT
from kinelo.raters.rater import without_ratings

Array = NDArray[np.float64]
TARGETS = ("leader", "order", "tiers")
GRID, REACH = 5.0, 2000.0
"""Points between differences at which the law of a rater is tabulated, and the largest of them."""
MOST_MATCHES = 10_000
"""How many matches are chosen at once: every one keeps two numbers of everybody."""

KEPT = 6000
"""Pairs, those that tell most at first, among which a batch is chosen; all of them where there are no more."""
TOLD_APART = 1.96


class Beliefs(NamedTuple):
    """Names, means and covariance of ratings in points; information of a match by difference, every ``GRID``; and what
    a point is in the units of the rater."""

    names: list[str]
    mean: Array
    covariance: Array
    law: Array
    unit: float


@dataclass(frozen=True)
class NextMatch:
    """A match to be played: its sides, the points expected of the first, what it takes off what is open, its cost."""

    home: str
    away: str
    points: float
    tells: float
    cost: float


@dataclass(frozen=True, repr=False)
class NextMatches:
    """Matches in the order in which they should be played.

    Attributes
    ----------
    matches
        Each with ``home``, ``away``, ``points`` (expected of the first), ``tells`` (the share that it is expected to
        take off what the question leaves open) and ``cost``.
    target
        What they are to tell.
    question
        The same in words.
    """

    matches: tuple[NextMatch, ...]
    target: str
    question: str

    def to_dict(self) -> dict[str, Any]:
        """The question, and a row for each match."""
        return {"target": self.target, "question": self.question, "matches": [asdict(one) for one in self.matches]}

    def table(self) -> Table:
        """A row for each match."""
        rows = [{"number": k + 1, **asdict(one)} for k, one in enumerate(self.matches)]
        columns = [number("", "number", "d"), words("First", "home"), words("Second", "away")]
        columns += [chance("Points expected", "points"), chance("Tells", "tells"), number("Cost", "cost", "g")]
        return Table(columns, rows, below=tuple(self.lines()))

    def lines(self) -> list[str]:
        """What the matches are for, in a sentence."""
        if not self.matches:
            return ["No match is left to be played within these limits."]
        first, together = self.matches[0], sum(one.tells for one in self.matches)
        return [
            f"These matches are to tell {self.question}: {first.home} – {first.away} first, which takes "
            f"{percent(first.tells, 1)} off what is open; all {len(self.matches)} are expected to take "
            f"{percent(together)}."
        ]

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.home} – {one.away}" for one in self.matches[:3])
        return f"NextMatches: {shown}{', …' if len(self.matches) > 3 else ''} ({len(self.matches)}, for {self.target})"

    def _repr_html_(self) -> str:
        return self.table().html()


def beliefs_of(rated: Any, question: str) -> tuple[Beliefs, Array]:
    """What a rater or a book believes of everyone together, and chances by difference, every ``GRID`` points."""
    rater: Any = answering(rated, question)[0]
    if rater._traits.rates_players:
        raise InputError(f"{type(rater).__name__} rates players, and sides play: ask a rater of sides.")
    rater._check_has_ratings()
    differences = np.arange(-GRID, REACH + 2 * GRID, GRID)
    if isinstance(rater, BradleyTerry):
        unit, names = rater._scale, list(rater._state.name_index.names)
        mean, covariance = rater._strength() / unit + rater._shift(), rater._covariance()
    elif isinstance(rater, KalmanElo) and rater._begun().full:
        unit, known = 1.0 / rater._points_per_unit, rater._begun()
        names, mean = list(known.name_index.names), rater.initial + known.strengths() / unit
        covariance = rater.parameters_["doubt"] * known.covariance() / unit**2
    else:
        table = rater.ratings_on() if hasattr(rater, "ratings_on") else rater.ratings_
        if not table.height:
            raise without_ratings(rater)
        if "kind" in table.columns:
            table = table.filter(table["kind"] == table["kind"][0])  # those of the first kind
        if "uncertainty" not in table.columns or not table["uncertainty"].is_finite().all():
            raise InputError(f"{type(rater).__name__} does not say how uncertain its ratings are; Glicko does.")
        names, mean = table["name"].to_list(), table["rating"].to_numpy().astype(float)
        covariance = np.diag(table["uncertainty"].to_numpy().astype(float) ** 2)
        if isinstance(rater, RankElo):
            unit = 1.0 / POINTS_PER_UNIT
        else:
            unit = 1.0 / rater._points_per_unit if isinstance(rater, KalmanElo) else rater._unit_of_points
    if isinstance(rater, RankElo):
        ahead = rater._chance_ahead(unit * differences)
        chances = np.column_stack([ahead, np.zeros(ahead.size), 1.0 - ahead])
    else:
        chances = rater._chances(unit * differences)
    slope = (chances[2:] - chances[:-2]) / (2.0 * GRID)
    law = (slope**2 / np.maximum(chances[1:-1], 1e-12)).sum(axis=1)
    return Beliefs(names, mean, covariance, law, unit), chances[1:-1]


def contrasts(target: str, beliefs: Beliefs) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, str]:
    """Pairs of places that a question compares, their weights, and the question in words."""
    names, mean, P = beliefs.names, beliefs.mean, beliefs.covariance
    order = np.argsort(-mean, kind="stable")
    if target in ("order", "tiers"):
        a, b = order[:-1], order[1:]
    else:
        centre = order[0] if target == "leader" else names.index(target)
        b = np.flatnonzero(np.arange(len(names)) != centre)
        a = np.full(b.size, centre)
    own = np.diagonal(P)
    variance = np.maximum(own[a] + own[b] - 2.0 * P[a, b], 1e-9)
    square = (mean[a] - mean[b]) ** 2 / variance
    if target == "tiers":
        weight = np.where(square < TOLD_APART**2, (square + 0.01) / variance, 0.0)
        return a, b, weight, "which groups lie apart"
    asked = {"leader": "who is first", "order": "the order of neighbours"}.get(target, f"who is above {target}")
    return a, b, np.exp(-0.5 * square) / variance, asked


@kernel
def first_look(mean, P, G, law, cost, i, j):
    """``D``, ``g`` and ``1/w`` of pairs (pairs, 3), and their values over costs."""
    known, value = np.empty((i.size, 3)), np.empty(i.size)
    for n in range(i.size):
        a, b = i[n], j[n]
        known[n, 0] = P[a, a] + P[b, b] - 2.0 * P[a, b]
        known[n, 1] = G[a, a] + G[b, b] - 2.0 * G[a, b]
        at = min(abs(mean[a] - mean[b]) / GRID, law.size - 2.0)
        low = int(at)
        known[n, 2] = 1.0 / max(law[low] + (at - low) * (law[low + 1] - law[low]), 1e-300)
        value[n] = known[n, 1] / (known[n, 2] + known[n, 0]) / cost[n]
    return known, value


@kernel
def choose(P, G, i, j, known, cost, count, most):
    """Places of the chosen pairs, and what each takes off the question."""
    n, picked = P.shape[0], np.zeros(i.size, np.int64)
    V, T = np.zeros((count, n)), np.zeros((count, n))
    gain, square = np.zeros(count), np.zeros(count)
    chosen, told = np.full(count, -1), np.zeros(count)
    for c in range(count):
        best, at = 0.0, -1
        for q in range(i.size):
            if picked[q] < most:
                value = known[q, 1] / (known[q, 2] + known[q, 0]) / cost[q]
                if value > best:
                    best, at = value, q
        if at < 0:
            break
        a, b = i[at], j[at]
        chosen[c], picked[at] = at, picked[at] + 1
        k, g = 1.0 / (known[at, 2] + known[at, 0]), known[at, 1]
        told[c] = g * k
        v, t = P[a] - P[b], G[a] - G[b]
        for e in range(c):  # the matrices as they are after the matches before
            dv, dt = V[e, a] - V[e, b], T[e, a] - T[e, b]
            for x in range(n):
                v[x] -= gain[e] * dv * V[e, x]
                t[x] += gain[e] * (gain[e] * square[e] * dv - dt) * V[e, x] - gain[e] * dv * T[e, x]
        V[c], T[c], gain[c], square[c] = v, t, k, g
        for q in range(i.size):
            dv, dt = v[i[q]] - v[j[q]], t[i[q]] - t[j[q]]
            known[q, 0] -= k * dv * dv
            known[q, 1] += k * dv * (k * g * dv - 2.0 * dt)
    return chosen, told


def next_matches(
    rated: Any,
    *,
    count: int = 10,
    target: str = "leader",
    candidates: Sequence[Any] | None = None,
    cost: Mapping[tuple[str, str], float] | Callable[[str, str], float] | None = None,
    at_most: int | None = None,
) -> NextMatches:
    """The matches that tell most about a question, in the order in which they should be played.

    Parameters
    ----------
    rated
        A rater that says how uncertain its ratings are, or a rating book. :class:`kinelo.BradleyTerry`, and
        :class:`kinelo.KalmanElo` where it keeps it, know how errors hang together; others take them as independent.
    count
        How many matches.
    target
        ``"leader"``: who is first; ``"order"``: who is above whom among neighbours; ``"tiers"``: which groups lie
        apart; or a name: who is above it.
    candidates
        Who is there: names, or pairs of names that may meet; by default everyone rated.
    cost
        What a match costs, by pair, in whichever order its names stand, or as a function of two names; 1 where nothing
        is said.
    at_most
        How often a pair may meet in this batch; by default as often as is best.

    Returns
    -------
    NextMatches
        Each match counts what those before it are expected to tell. Sides are balanced: who has been first less often
        in the batch is named first.

    >>> import kinelo as kn
    >>> known = {"name": ["Ann", "Bea", "Cid", "Dee"], "rating": [1700, 1690, 1500, 1300], "deviation": [60] * 4}
    >>> rater = kn.Glicko(start=known, ties=0.0, home_advantage=0.0)
    >>> kn.next_matches(rater, count=3)
    NextMatches: Ann – Bea, Bea – Ann, Ann – Bea (3, for leader)
    """
    count = whole("count", count, 1)
    if count > MOST_MATCHES:
        raise InputError(f"count={count:,} is more than are chosen at once; it is at most {MOST_MATCHES:,}.")
    most = count if at_most is None else whole("at_most", at_most, 1)
    beliefs, chances = beliefs_of(rated, "next_matches")
    names, place = beliefs.names, {name: k for k, name in enumerate(beliefs.names)}
    if not is_text(target) or (target not in TARGETS and target not in place):
        raise InputError(f"target={one_line(target)} is not known; it is 'leader', 'order', 'tiers' or a name rated.")
    i, j = _pairs(candidates, place)
    prices = _prices(cost, names, i, j)
    a, b, weight, question = contrasts(target, beliefs)
    keep = weight > 1e-6 * weight.max(initial=0.0)
    a, b, weight = a[keep], b[keep], weight[keep]
    ends = (np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a]))
    L = coo_array((np.concatenate([weight, weight, -weight, -weight]), ends), shape=(len(names),) * 2).tocsr()
    P = np.ascontiguousarray(beliefs.covariance)
    touched = np.unique(np.concatenate([a, b]))
    G = P[:, touched] @ (L[touched] @ P)
    total = float((weight * (np.diagonal(P)[a] + np.diagonal(P)[b] - 2.0 * P[a, b])).sum())
    known, value = first_look(beliefs.mean, P, G, beliefs.law, prices, i, j)
    if i.size > KEPT:
        best = np.sort(np.argpartition(-value, KEPT)[:KEPT])
        i, j, known, prices = i[best], j[best], known[best], prices[best]
    chosen, told = choose(P, G, i, j, known, prices, count, most)
    first = np.zeros(len(names), np.int64)
    rows = []
    for q, share in zip(chosen[chosen >= 0].tolist(), told.tolist()):
        one, other = (int(i[q]), int(j[q])) if first[i[q]] <= first[j[q]] else (int(j[q]), int(i[q]))
        first[one] += 1
        first[other] -= 1
        gap = beliefs.mean[one] - beliefs.mean[other]
        win, tie, loss = chances[min(round(abs(gap) / GRID), len(chances) - 1)]
        points = (win if gap >= 0 else loss) + 0.5 * tie
        rows.append(NextMatch(names[one], names[other], float(points), share / total, float(prices[q])))
    return NextMatches(tuple(rows), target, question)


def _pairs(candidates: Any, place: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the pairs that may meet, each once."""
    given = list(place) if candidates is None else candidates
    if not is_list(given):
        raise InputError(f"candidates={one_line(candidates)} must be a list of names, or of pairs of names.")
    given = list(given)
    pairs = [] if not given or is_text(given[0]) else given
    if any(not is_list(pair) or len(pair) != 2 for pair in pairs):
        raise InputError(f"candidates={one_line(candidates)} must be a list of names, or of pairs of names.")
    for name in given if not pairs else (name for pair in pairs for name in pair):
        if not is_text(name) or name not in place:
            raise InputError(f"{name!r:.60} among the candidates has no rating.")
    if not pairs:
        at = np.array(sorted({place[name] for name in given}), np.int64)
        first, second = np.triu_indices(at.size, 1)
        return at[first], at[second]
    unique = sorted({(min(x, y), max(x, y)) for x, y in ((place[one], place[two]) for one, two in pairs) if x != y})
    both = np.array(unique, np.int64).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def _prices(cost: Any, names: Sequence[str], i: NDArray[np.int64], j: NDArray[np.int64]) -> Array:
    """What every pair costs."""
    prices = np.ones(i.size)
    if cost is None:
        return prices
    if not isinstance(cost, Mapping) and not callable(cost):
        raise InputError(f"cost={one_line(cost)} must be numbers by pair of names, or a function of two names.")
    if isinstance(cost, Mapping):
        if any(not isinstance(pair, tuple) or len(pair) != 2 for pair in cost):
            raise InputError("cost must be numbers by pair of names, {('A', 'B'): 2.5}.")
        both = {pair[::-1]: value for pair, value in cost.items()} | dict(cost)
        found: Any = (both.get((names[x], names[y]), 1.0) for x, y in zip(i.tolist(), j.tolist()))
    else:
        found = (cost(names[x], names[y]) for x, y in zip(i.tolist(), j.tolist()))
    try:
        values = list(found)
    except TypeError as error:
        raise InputError(f"cost must be a function of two names: {in_one_line(error)}.") from error
    for n, value in enumerate(values):
        prices[n] = check_number("next_matches", "cost", value, 0.0, above=True)
    return prices
