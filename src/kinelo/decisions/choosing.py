"""Which matches tell most about a question, in order.

Beliefs are means ``m`` and a covariance ``P`` of ratings. A match of ``i`` and ``j`` has information ``w``, from the
law of the rater, draws included, and takes ``(cᵀP(e_i − e_j))²/(1/w + D)`` off the variance of ``c·s``, with ``D =
P_ii + P_jj − 2P_ij``. A question is a sum of contrasts ``c = e_a − e_b`` with weights, a Laplacian ``L``: the
variance taken off it is ``g/(1/w + D)``, ``g = (e_i − e_j)ᵀ G (e_i − e_j)`` and ``G = PLP``. Matches are taken
greedily by what they take off over what they cost. After each ``P ← P − k v vᵀ`` with ``v = P(e_i − e_j)`` and ``k =
1/(1/w + D)``; with ``t = G(e_i − e_j)`` ``G`` becomes ``G − k(v tᵀ + t vᵀ) + k² g v vᵀ``, and no matrix is multiplied
again.

A contest of ``k`` shows all its pairs at once, each less sharply than a match of its own: the Laplacian ``J`` of their
information takes ``tr (I + JP)⁻¹JG`` of its entrants off the question.
"""

from __future__ import annotations

import math
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
from kinelo.raters.hermite import HERMITE_NODES, HERMITE_WEIGHTS
from kinelo.raters.kalman.rater import KalmanElo
from kinelo.raters.leaderboard import ratings_today
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
"""Pairs, those that tell most at first, among which a batch is chosen until none of them is left."""
MOST_IN_A_FIELD = 100
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


@dataclass(frozen=True)
class NextContest:
    """A contest to be held: its entrants, the strongest first, and what it takes off what is open."""

    entrants: tuple[str, ...]
    tells: float


@dataclass(frozen=True, repr=False)
class NextMatches:
    """Matches, or contests, in the order in which they should be played.

    Attributes
    ----------
    matches
        Each with ``home``, ``away``, ``points`` (expected of the first), ``tells`` (the share that it is expected to
        take off what the question leaves open) and ``cost``; contests with ``entrants`` and ``tells``.
    target
        What they are to tell.
    question
        The same in words.
    open
        Whether the question leaves anything open.
    """

    matches: tuple[NextMatch | NextContest, ...]
    target: str
    question: str
    open: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The question, and a row for each match."""
        return {"target": self.target, "question": self.question, "matches": [asdict(one) for one in self.matches]}

    def table(self) -> Table:
        """A row for each match."""
        rows = [{"number": k + 1, **asdict(one), "pair": _pair(one)} for k, one in enumerate(self.matches)]
        columns = [number("", "number", "d"), words("First", "home"), words("Second", "away")]
        columns += [chance("Points expected", "points"), chance("Tells", "tells"), number("Cost", "cost", "g")]
        if self.matches and isinstance(self.matches[0], NextContest):
            columns = [columns[0], words("Contest", "pair"), columns[4]]
        return Table(columns, rows, below=tuple(self.lines()))

    def lines(self) -> list[str]:
        """What the matches are for, in a sentence."""
        if not self.matches and not self.open:
            return [f"Nothing is left to be told of {self.question}."]
        if not self.matches:
            return [f"No match that may be played within these limits tells anything of {self.question}."]
        noun = "matches" if isinstance(self.matches[0], NextMatch) else "contests"
        share, together = self.matches[0].tells, sum(one.tells for one in self.matches)
        taken = percent(share, 1) if share >= 0.0005 else "less than 0.1 %"
        batch = percent(together) if together >= 0.005 else "less than 1 %"
        return [
            f"These {noun} are to tell {self.question}: {_pair(self.matches[0])} first, which takes {taken} off what "
            f"is open{f'; all {len(self.matches)} are expected to take {batch}' if len(self.matches) > 1 else ''}."
        ]

    def __repr__(self) -> str:
        shown = ", ".join(map(_pair, self.matches[:3]))
        return f"NextMatches: {shown}{', …' if len(self.matches) > 3 else ''} ({len(self.matches)}, for {self.target})"

    def _repr_html_(self) -> str:
        return self.table().html()


def _pair(one: NextMatch | NextContest) -> str:
    return " – ".join((one.home, one.away) if isinstance(one, NextMatch) else one.entrants)


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
    elif isinstance(rater, KalmanElo) and rater._begun().full and rater._begun().name_index.names:
        unit, names = 1.0 / rater._points_per_unit, list(rater._begun().name_index.names)
        belief = rater._belief_on()  # as the leaderboard shows it: of today, relative to who played lately
        strength, variance = rater._relative(rater._begun(), belief)
        shift = 0.5 * (variance - np.diagonal(belief[1]))  # what they have in common is in no difference of two
        mean = rater.initial + strength / unit
        covariance = rater.parameters_["doubt"] * (belief[1] + shift[:, None] + shift) / unit**2
    else:
        table = ratings_today(rater)
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
def all_pairs(at):
    """Every pair of these places, once."""
    count = at.size * (at.size - 1) // 2
    i, j, n = np.empty(count, np.int64), np.empty(count, np.int64), 0
    for a in range(at.size):
        for b in range(a + 1, at.size):
            i[n], j[n], n = at[a], at[b], n + 1
    return i, j


class Pairs(NamedTuple):
    """Pairs that may meet: places of both, what a match costs, and how often they may."""

    i: Any
    j: Any
    cost: Any
    most: Any


@kernel
def first_look(mean, P, G, law, pairs, room):
    """``D``, ``g`` and ``1/w`` of pairs (pairs, 3), and what they are worth next to what they cost; 0 of those that
    may not meet."""
    i, j, cost, most = pairs
    own, asked, known, value = np.diag(P).copy(), np.diag(G).copy(), np.empty((i.size, 3)), np.zeros(i.size)
    for n in range(i.size):
        a, b = i[n], j[n]
        known[n, 0] = own[a] + own[b] - 2.0 * P[a, b]
        known[n, 1] = asked[a] + asked[b] - 2.0 * G[a, b]
        at = min(abs(mean[a] - mean[b]) / GRID, law.size - 2.0)
        low = int(at)
        known[n, 2] = 1.0 / max(law[low] + (at - low) * (law[low + 1] - law[low]), 1e-300)
        if most[n] > 0 and room[a] > 0 and room[b] > 0:
            value[n] = known[n, 1] / (known[n, 2] + known[n, 0]) / cost[n]
    return known, value


@kernel
def choose(P, G, pairs, known, count, room):
    """Places of the chosen pairs, what each takes off the question, and what the batch takes off ``P`` as a sum of
    ``k v vᵀ``; ``room`` (names) says who may still play how often, and less is left of it and of ``most`` then."""
    i, j, cost, most = pairs
    n = P.shape[0]
    V, T = np.zeros((count, n)), np.zeros((count, n))
    gain, square = np.zeros(count), np.zeros(count)
    chosen, shares = np.full(count, -1), np.zeros(count)
    for c in range(count):
        best, at = 0.0, -1
        for q in range(i.size):
            if most[q] > 0 and room[i[q]] > 0 and room[j[q]] > 0:
                value = known[q, 1] / (known[q, 2] + known[q, 0]) / cost[q]
                if value > best:
                    best, at = value, q
        if at < 0:
            break
        a, b = i[at], j[at]
        chosen[c] = at
        most[at] -= 1
        room[a] -= 1
        room[b] -= 1
        k, g = 1.0 / (known[at, 2] + known[at, 0]), known[at, 1]
        shares[c] = g * k
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
    return chosen, shares, V, gain


def information_of_fields(size: int) -> float:
    """What the order of a field of equals tells of each of its pairs, next to a match of that pair: ``4(k − H_k)/(k(k −
    1))`` by the law of Plackett and Luce, ``H_k = 1 + ½ + … + 1/k``.

    >>> [round(information_of_fields(size), 3) for size in (2, 3, 10)]
    [1.0, 0.778, 0.314]
    """
    return 4.0 * (size - sum(1.0 / k for k in range(1, size + 1))) / (size * (size - 1))


def value_of_fields(fields: NDArray[np.int64], P: Array, G: Array, W: Array) -> tuple[Array, Array]:
    """What contests of these fields (fields, k) take off a question, and the matrices ``(I + JP)⁻¹J`` of their entrants
    (fields, k, k), ``J`` being the Laplacian of the information ``W`` of pairs."""
    square = (fields[:, :, None], fields[:, None, :])
    J = -W[square]
    J[:, range(fields.shape[1]), range(fields.shape[1])] -= J.sum(axis=2)
    A: Any = np.linalg.solve(np.eye(fields.shape[1]) + J @ P[square], J)
    taken: Any = np.einsum("fij,fji->f", A, G[square])
    return taken, A


def choose_fields(P: Array, G: Array, W: Array, count: int, size: int, most: int, room: NDArray[np.int64]) -> list[Any]:
    """Fields chosen one after the other, and what each takes off the question: the best pair, then whoever adds most,
    then whoever had better be another; ``P`` and ``G`` are moved on."""
    met, rows = np.zeros(W.shape, np.int64), []
    for _ in range(count):
        field: list[int] = []
        best, tries = 0.0, 0
        while tries < size:  # as many changes in a row as there are places, none of which was for the better
            growing = len(field) < size
            rest = field if growing else field[1:]
            fits = (room > 0) & (met[rest] < most).all(axis=0)
            fits[rest] = False
            others = np.flatnonzero(fits)
            fields = np.column_stack([np.tile(rest, (others.size, 1)), others])
            if not rest:
                i, j = all_pairs(others)
                own, asked = np.diagonal(P), np.diagonal(G)
                left, D = met[i, j] < most, own[i] + own[j] - 2.0 * P[i, j]
                worth = np.where(left, (asked[i] + asked[j] - 2.0 * G[i, j]) / (1.0 / W[i, j] + D), 0.0)
                fields = np.column_stack([i, j])[[int(np.argmax(worth))]] if worth.any() else fields[:0]
            if not len(fields):
                break
            values, _ = value_of_fields(fields, P, G, W)
            at = int(np.argmax(values))
            better = growing or values[at] > best * (1.0 + 1e-9)
            field, tries = (fields[at].tolist(), 0) if better else ([*rest, field[0]], tries + 1)
            best = values[at] if better else best
        if len(field) < size or best <= 0.0:
            break
        (told,), (A,) = value_of_fields(np.array([field]), P, G, W)
        rows.append((field, float(told)))
        room[field] -= 1
        met[np.ix_(field, field)] += 1
        PA, GA = P[:, field] @ A, G[:, field] @ A
        G -= PA @ G[field] + GA @ P[field] - PA @ G[np.ix_(field, field)] @ PA.T
        P -= PA @ P[field]
    return rows


def next_matches(
    rated: Any,
    *,
    count: int = 10,
    target: str = "leader",
    candidates: Sequence[Any] | Mapping[str, int] | None = None,
    cost: Mapping[tuple[str, str], float] | Callable[[str, str], float] | None = None,
    at_most: int | None = None,
    size: int = 2,
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
        Who is there: names, or names with how often each may play, ``{"Ann": 3, "Bob": 1}``, or pairs of names that may
        meet; by default everyone rated.
    cost
        What a match costs, by pair, in whichever order its names stand, or as a function of two names; 1 where nothing
        is said.
    at_most
        How often a pair may meet in this batch; by default as often as is best.
    size
        How many meet at once, 2 for matches. Contests of more are for :class:`kinelo.RankElo`; they have no prices.

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
    count, size = whole("count", count, 1), whole("size", size, 2)
    if count > MOST_MATCHES:
        raise InputError(f"count={count:,} is more than are chosen at once; it is at most {MOST_MATCHES:,}.")
    most = count if at_most is None else whole("at_most", at_most, 1)
    beliefs, chances = beliefs_of(rated, "next_matches")
    names, place = beliefs.names, {name: k for k, name in enumerate(beliefs.names)}
    if not is_text(target) or (target not in TARGETS and target not in place):
        raise InputError(f"target={one_line(target)} is not known; it is 'leader', 'order', 'tiers' or a name rated.")
    there, i, j = _candidates(candidates, place)
    room = np.zeros(len(names), np.int64)
    room[list(there)] = [min(often, count) for often in there.values()]
    a, b, weight, question = contrasts(target, beliefs)
    keep = weight > 1e-6 * weight.max(initial=0.0)
    a, b, weight = a[keep], b[keep], weight[keep]
    ends = (np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a]))
    L = coo_array((np.concatenate([weight, weight, -weight, -weight]), ends), shape=(len(names),) * 2).tocsr()
    P = np.array(beliefs.covariance, order="C")
    total = float((weight * (np.diagonal(P)[a] + np.diagonal(P)[b] - 2.0 * P[a, b])).sum())
    if size > 2:
        if not isinstance(answering(rated, "next_matches")[0], RankElo):
            raise InputError(f"size={size} asks for contests of many, which RankElo rates; size=2 is for matches.")
        if cost is not None or i is not None:
            raise InputError("Contests of more than two have no prices by pair, and no pairs that may meet.")
        if size > min(len(there), MOST_IN_A_FIELD):
            raise InputError(
                f"size={size} must be at most {MOST_IN_A_FIELD}, and no more than the {len(there):,} who are there."
            )
        at = np.array(sorted(there), np.int64)
        gaps = np.abs(beliefs.mean[at][:, None] - beliefs.mean[at])
        W = information_of_fields(size) * np.interp(gaps, GRID * np.arange(beliefs.law.size), beliefs.law)
        fields = choose_fields(P[np.ix_(at, at)], _asked(P, L)[np.ix_(at, at)], W, count, size, most, room[at])
        order = [(sorted(at[field].tolist(), key=lambda k: -beliefs.mean[k]), shares) for field, shares in fields]
        contests = [NextContest(tuple(names[k] for k in field), shares / total) for field, shares in order]
        return NextMatches(tuple(contests), target, question, total > 0.0)
    if i is None or j is None:
        i, j = all_pairs(np.array(sorted(there), np.int64))
    prices, often = _prices(cost, names, i, j), np.full(i.size, most)
    first, rows = np.zeros(len(names), np.int64), []
    while len(rows) < count and total > 0.0:
        G = _asked(P, L)
        known, value = first_look(beliefs.mean, P, G, beliefs.law, Pairs(i, j, prices, often), room)
        at = np.arange(i.size) if i.size <= KEPT else np.sort(np.argpartition(-value, KEPT)[:KEPT])
        pairs = Pairs(i[at], j[at], prices[at], often[at])
        chosen, shares, V, gain = choose(P, G, pairs, known[at], count - len(rows), room)
        if chosen[0] < 0:
            break
        often[at] = pairs.most
        for q, share in zip(at[chosen[chosen >= 0]].tolist(), shares.tolist()):
            first_side, second_side = (int(i[q]), int(j[q])) if first[i[q]] <= first[j[q]] else (int(j[q]), int(i[q]))
            first[first_side] += 1
            first[second_side] -= 1
            believed = beliefs.covariance[np.ix_([first_side, second_side], [first_side, second_side])]
            doubt = math.sqrt(max(believed.trace() - 2.0 * believed[0, 1], 0.0))
            gaps = beliefs.mean[first_side] - beliefs.mean[second_side] + doubt * HERMITE_NODES
            ahead = np.interp(np.abs(gaps), GRID * np.arange(len(chances)), chances[:, 0] + 0.5 * chances[:, 1])
            points = np.where(gaps < 0.0, 1.0 - ahead, ahead) @ HERMITE_WEIGHTS
            rows.append(
                NextMatch(names[first_side], names[second_side], float(points), share / total, float(prices[q]))
            )
        if len(rows) < count:
            P -= (V.T * gain) @ V
    return NextMatches(tuple(rows), target, question, total > 0.0)


def _asked(P: Array, L: Any) -> Array:
    """``G = PLP``; nothing is multiplied out where beliefs are independent."""
    if np.count_nonzero(P) <= len(P):
        return (own := np.diagonal(P))[:, None] * L.toarray() * own
    touched = np.unique(L.indices)
    return P[:, touched] @ (L[touched] @ P)


def _candidates(candidates: Any, place: Mapping[str, int]) -> tuple[dict[int, int], Any, Any]:
    """How often each may play, by place; and the pairs that may meet, each once, or None for all."""
    given = list(place) if candidates is None else candidates
    often = given if isinstance(given, Mapping) else {}
    if not is_list(given) and not often:
        raise InputError(f"candidates={one_line(candidates)} must be a list of names, or of pairs of names.")
    given = list(given)
    pairs = [] if not given or is_text(given[0]) else given
    if any(not is_list(pair) or len(pair) != 2 for pair in pairs):
        raise InputError(f"candidates={one_line(candidates)} must be a list of names, or of pairs of names.")
    for name in given if not pairs else (name for pair in pairs for name in pair):
        if not is_text(name) or name not in place:
            raise InputError(f"{name!r:.60} among the candidates has no rating.")
    if alone := [one for one, other in pairs if one == other]:
        raise InputError(f"{alone[0]!r:.60} among the candidates cannot meet itself; a pair has two names.")
    if not pairs:
        limits = {name: whole(f"candidates[{name!r:.60}]", value, 0) for name, value in often.items()}
        return {place[name]: limits.get(name, MOST_MATCHES) for name in given}, None, None
    unique = sorted({(min(x, y), max(x, y)) for x, y in ((place[one], place[two]) for one, two in pairs)})
    both = np.array(unique, np.int64).reshape(-1, 2)
    return dict.fromkeys(both.ravel().tolist(), MOST_MATCHES), both[:, 0].copy(), both[:, 1].copy()


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
        costs: Any = (both.get((names[x], names[y]), 1.0) for x, y in zip(i.tolist(), j.tolist()))
    else:
        costs = (cost(names[x], names[y]) for x, y in zip(i.tolist(), j.tolist()))
    try:
        values = list(costs)
    except TypeError as error:
        raise InputError(f"cost must be a function of two names: {in_one_line(error)}.") from error
    for n, value in enumerate(values):
        prices[n] = check_number("next_matches", "cost", value, 0.0, above=True)
    return prices
