"""Fair teams: those present are split so that the match is believed to be as even as it can be.

The quality of a split is the rater's own match quality, ``1 − E[(P(win) − P(loss))²]`` over what is believed of
strengths; of more than two sides, its mean over all pairs of them. What a line-up is worth, the rater says: a rater of
players by its line-ups, any other by the mean of those on a side. All splits are looked at while they are few enough
(8 against 8 has 6,435), and beyond that a seeded search exchanges players as long as that helps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.dated import Day
from kinelo.matches.kinds import SIZE
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.presentation import Table, chance, counted, number, words
from kinelo.raters.hermite import HERMITE_NODES, HERMITE_WEIGHTS
from kinelo.raters.questions import answering
from kinelo.raters.rater import traits_of

Array = NDArray[np.float64]
Splits = NDArray[np.int8]
"""The side of every player (splits, players)."""

MOST_SPLITS = 20_000
"""Splits up to which all are looked at."""
MOST_PLAYERS = 200
MOST_LOOKED_AT = 40_000
STARTS = 6
GRID = 1 << 12
EXACTLY = 256
"""So many of the best are compared by their very quality; the others are sorted out by one that is nearly the same."""
FEW_NODES, _FEW = np.polynomial.hermite_e.hermegauss(15)
FEW_WEIGHTS = _FEW / _FEW.sum()
SIDES = ("side\x1f1", "side\x1f2")
"""Names of sides that nobody has: their squads are unknown to a rater of players."""


class Wish(NamedTuple):
    """What a split should do: its words, and which of some splits do it."""

    words: str
    met: Callable[[Splits], NDArray[np.bool_]]


@dataclass(frozen=True)
class Split:
    """One way to split those present: the names on each side, how even it is, and the chances.

    ``chances`` holds win, draw and loss of the first of two sides; of more sides, the points (a win counts 1, a draw ½)
    that each is expected to take from another.
    """

    sides: tuple[tuple[str, ...], ...]
    quality: float
    chances: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Names, quality and chances."""
        return {"sides": [list(side) for side in self.sides], "quality": self.quality, "chances": list(self.chances)}


@dataclass(frozen=True, repr=False)
class Balance:
    """Fair teams: the best splits, the first the fairest, and what each wish costs.

    Attributes
    ----------
    splits
        The best splits, each with its quality and chances.
    costs
        How much evener the best split would be without each wish, by its words.
    exact
        Whether every split was looked at; else the best are those that a search found.
    looked_at
        How many splits were looked at.
    unknown
        Names that have never played and count as newcomers.
    """

    splits: tuple[Split, ...]
    costs: Mapping[str, float]
    exact: bool
    looked_at: int
    unknown: tuple[str, ...] = ()

    @property
    def best(self) -> Split:
        """The fairest split."""
        return self.splits[0]

    def to_dict(self) -> dict[str, Any]:
        """All of it in words and numbers."""
        return {
            "splits": [split.to_dict() for split in self.splits], "costs": dict(self.costs), "exact": self.exact,
            "looked_at": self.looked_at, "unknown": list(self.unknown),
        }  # fmt: skip

    def table(self) -> Table:
        """The best splits as terminal and notebook show them."""
        two = len(self.best.sides) == 2
        rows = []
        for place, split in enumerate(self.splits, 1):
            row: dict[str, Any] = {"place": place, "quality": split.quality}
            row |= {f"side {k}": ", ".join(side) for k, side in enumerate(split.sides, 1)}
            row |= {f"chance {k}": value for k, value in enumerate(split.chances, 1)}
            rows.append(row)
        sides = [words(f"Side {k}", f"side {k}") for k in range(1, len(self.best.sides) + 1)]
        names = ("First wins", "Draw", "Second wins") if two else [f"Side {k} takes" for k in range(1, len(sides) + 1)]
        chances = [chance(name, f"chance {k}") for k, name in enumerate(names, 1)]
        return Table([number("", "place", ""), *sides, number("Quality", "quality", ".3f"), *chances], rows)

    def lines(self) -> list[str]:
        """What is said below the table."""
        count = counted(self.looked_at, "split", "splits")
        looked = f"All {count} were looked at." if self.looked_at > 1 else "There is no other split."
        sentences = [looked if self.exact else f"A search looked at {count}."]
        sentences += [
            f"Without the wish '{wish}' the best split is evener by {cost:.3f}." for wish, cost in self.costs.items()
        ]
        return sentences

    def __repr__(self) -> str:
        sides = " – ".join(", ".join(side) for side in self.best.sides)
        return (
            f"Balance: {sides}, quality {self.best.quality:.3f} (best of {counted(self.looked_at, 'split', 'splits')})"
        )

    def _repr_html_(self) -> str:
        return self.table().html()


def balance(
    rated: Any,
    players: Sequence[str],
    sides: int | Sequence[int] = 2,
    *,
    together: Iterable[Sequence[str]] = (),
    apart: Iterable[Sequence[str]] = (),
    roles: Mapping[str, str] | None = None,
    newcomers: int = 0,
    best: int = 5,
    date: Day | None = None,
    seed: int = 1,
) -> Balance:
    """Split those present into sides so that the match is believed to be as even as it can be.

    The quality of a split is :func:`kinelo.match_quality`, on neutral ground: of two sides, or its mean over all pairs
    of more. :class:`kinelo.PlayerElo` takes sides for line-ups; for any other rater a side is as strong as the mean of
    those on it. All splits are looked at while there are at most 20,000 (8 against 8 has 6,435, three sides of four
    5,775); of more, a search with a ``seed`` looks at some.

    Parameters
    ----------
    rated
        A rater that has rated matches or contests, or a rating book.
    players
        Names of those present; whoever has never played counts as a newcomer.
    sides
        How many sides, or the size of each, such as ``[5, 4]``.
    together, apart
        Groups that are to be on one side, or all on different sides.
    roles
        Roles by name: each side gets its share of those with one role.
    newcomers
        Those with fewer matches than this are spread over the sides; 0 does not ask.
    best
        How many splits are returned.

    Returns
    -------
    Balance
        ``best`` is the fairest split; ``splits`` holds the best with their quality and chances, ``costs`` how much
        evener the best would be without each wish.

    >>> import kinelo as kn
    >>> known = {"Ann": 1700, "Bob": 1600, "Cid": 1500, "Dee": 1380}
    >>> rater = kn.TeamElo.classic(start=known)
    >>> party = kn.balance(rater, list(known), together=[["Ann", "Bob"]])
    >>> kn.balance(rater, list(known)).best.sides, round(party.costs["together: Ann, Bob"], 2)
    ((('Ann', 'Dee'), ('Bob', 'Cid')), 0.14)
    """
    names = _names(players)
    rater, own_balance = answering(rated, "balance", names)
    if own_balance is not None:
        wishes = {"together": together, "apart": apart, "roles": roles, "newcomers": newcomers}
        return own_balance(players, sides, **wishes, best=best, date=date, seed=seed)
    sizes = _sizes(sides, len(names))
    if isinstance(best, bool) or not isinstance(best, int) or best < 1:
        raise InputError(f"best must be a number of splits, at least 1, not {best!r:.40}.")
    beliefs = beliefs_of(rater, names, date)
    wishes = _wishes(rater, names, sizes, together, apart, roles, newcomers, beliefs.unknown)
    count = number_of_splits(sizes)
    if count <= MOST_SPLITS:
        splits = all_splits(sizes)
        quality = beliefs.quality(splits)
        met = [wish.met(splits) for wish in wishes]
        chosen, costs = _best_of(splits, quality, wishes, met, best)
        looked_at, exact = len(splits), True
    else:
        chosen, looked_at = _search(beliefs, sizes, wishes, best, seed)
        costs, exact = {}, False
        for wish in wishes:  # what each costs, by a search without it
            free, number = _search(beliefs, sizes, [other for other in wishes if other is not wish], 1, seed)
            looked_at += number
            costs[wish.words] = max(0.0, float(beliefs.quality(free[:1])[0] - beliefs.quality(chosen[:1])[0]))
    best_splits = []
    for split in chosen:
        places = (np.flatnonzero(split == side) for side in range(len(sizes)))
        by_name = tuple(tuple(names[k] for k in side) for side in places)
        best_splits.append(Split(by_name, float(beliefs.quality(split[None])[0]), beliefs.chances(split)))
    return Balance(tuple(best_splits), costs, exact, looked_at, beliefs.unknown)


# What is asked


def _names(players: Any) -> list[str]:
    if (
        isinstance(players, str)
        or not isinstance(players, Sequence | np.ndarray)
        or getattr(players, "shape", None) == ()
    ):
        raise InputError(f"players={players!r:.60} must be a list of names.")
    names = [name.strip() if isinstance(name, str) else "" for name in players]
    if not all(names):
        raise InputError(f"{players!r:.60} holds what is no name; a name is text that is not blank.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{twice!r} is named twice.")
    if not 2 <= len(names) <= MOST_PLAYERS:
        raise InputError(f"Between 2 and {MOST_PLAYERS} players can be split, not {len(names)}.")
    return names


def _sizes(sides: Any, count: int) -> tuple[int, ...]:
    """The number of players on each side, the largest first."""
    if isinstance(sides, int) and not isinstance(sides, bool):
        if not 2 <= sides <= count:
            raise InputError(f"{count} players cannot be split into {sides} sides.")
        return tuple(count // sides + (k < count % sides) for k in range(sides))
    given = sides if isinstance(sides, list | tuple) else []
    if len(given) < 2 or not all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in given):
        raise InputError(f"sides={sides!r:.60} must be a number of sides, or the sizes of two sides or more.")
    if sum(given) != count:
        raise InputError(f"Sides of {' + '.join(map(str, given))} players need {sum(given)}, and there are {count}.")
    return tuple(sorted(given, reverse=True))


def _groups(given: Any, names: list[str], what: str) -> list[list[int]]:
    if isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise InputError(f"{what} must be a list of groups of names, such as [['Ann', 'Bob']], not {given!r:.60}.")
    groups = []
    for group in given:
        named = isinstance(group, Sequence) and all(isinstance(name, str) for name in group)
        if isinstance(group, str) or not named or len(set(group)) < 2:
            raise InputError(f"{what} must be a list of groups of two names or more, not {group!r:.60}.")
        strange = [name for name in group if name not in names]
        if strange:
            raise InputError(f"{strange[0]!r:.60} of {what} is not among the players.")
        groups.append([names.index(name) for name in group])
    return groups


def _wishes(
    rater: Any, names: list[str], sizes: tuple[int, ...], together: Any, apart: Any, roles: Any, newcomers: Any,
    unknown: tuple[str, ...],
) -> list[Wish]:  # fmt: skip
    def listed(group: list[int]) -> str:
        return ", ".join(names[k] for k in group)

    wishes = []
    for group in _groups(together, names, "together"):
        if len(group) > max(sizes):
            raise InputError(f"{listed(group)} cannot be together on a side of {max(sizes)}.")
        wishes.append(Wish(f"together: {listed(group)}", _same(group)))
    for group in _groups(apart, names, "apart"):
        if len(group) > len(sizes):
            raise InputError(f"{listed(group)} cannot be apart on {len(sizes)} sides.")
        wishes.append(Wish(f"apart: {listed(group)}", _different(group)))
    if roles is not None:
        if not isinstance(roles, Mapping):
            raise InputError(f"roles must give roles by name, such as {{'Ann': 'tank'}}, not {roles!r:.60}.")
        strange = [name for name in roles if name not in names]
        if strange:
            raise InputError(f"{strange[0]!r:.60} of roles is not among the players.")
        for role in dict.fromkeys(roles.values()):
            group = [names.index(name) for name, own in roles.items() if own == role]
            if len(group) > 1:
                wishes.append(Wish(f"each side its share of {role}", _even(group, sizes)))
    if isinstance(newcomers, bool) or not isinstance(newcomers, int) or newcomers < 0:
        raise InputError(f"newcomers must be a number of matches, not {newcomers!r:.40}.")
    if newcomers:
        # Whoever began with a rating has the matches of the list, or is settled.
        table, start = rater.ratings_, rater._start()
        listed_matches = {} if start is None else dict(zip(start.names, start.matches.tolist(), strict=True))
        pairs = zip(table["name"].to_list(), table["matches"].to_list(), strict=True)
        played = listed_matches | {name: games + listed_matches.get(name, 0) for name, games in pairs}
        group = [k for k, name in enumerate(names) if name in unknown or played.get(name, 0) < newcomers]
        if 1 < len(group) < len(names):
            wishes.append(Wish(f"newcomers spread: {listed(group)}", _even(group, sizes)))
    return wishes


def _same(group: list[int]) -> Callable[[Splits], NDArray[np.bool_]]:
    return lambda splits: (splits[:, group] == splits[:, group[:1]]).all(axis=1)


def _different(group: list[int]) -> Callable[[Splits], NDArray[np.bool_]]:
    def met(splits: Splits) -> NDArray[np.bool_]:
        ordered = np.sort(splits[:, group], axis=1)
        return np.all(ordered[:, 1:] != ordered[:, :-1], axis=1)

    return met


def _even(group: list[int], sizes: tuple[int, ...]) -> Callable[[Splits], NDArray[np.bool_]]:
    """Whether sides have as many of a group, or one more than others."""

    def met(splits: Splits) -> NDArray[np.bool_]:
        counts = np.stack([(splits[:, group] == side).sum(axis=1) for side in range(len(sizes))], axis=1)
        return np.ptp(counts, axis=1) <= 1

    return met


# All splits


def number_of_splits(sizes: Sequence[int]) -> int:
    """How many splits there are where sides of one size are interchangeable.

    >>> number_of_splits([8, 8]), number_of_splits([2, 2, 1])
    (6435, 15)
    """
    ways = math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))
    return ways // math.prod(math.factorial(list(sizes).count(size)) for size in set(sizes))


@lru_cache(8)
def all_splits(sizes: tuple[int, ...]) -> Splits:
    """Every split of so many players into sides of these sizes, the largest first; sides of one size are counted once.

    >>> all_splits((2, 1)).tolist()
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    n = sum(sizes)
    splits = np.full((1, n), -1, np.int8)
    for side, size in enumerate(sizes):
        left = n - sum(sizes[:side])
        # Where all sides left are of one size, the first player left is on the first of them.
        first = len(set(sizes[side:])) == 1
        among, several = left - first, size - first
        rows = math.comb(among, several)
        places = chain.from_iterable(combinations(range(among), several))
        chosen = np.fromiter(places, np.int64, rows * several).reshape(rows, several)
        if first:
            chosen = np.concatenate([np.zeros((len(chosen), 1), np.int64), chosen + 1], axis=1)
        free = np.nonzero(splits < 0)[1].reshape(len(splits), left)
        taken = free[:, chosen].reshape(-1, size)
        splits = np.repeat(splits, len(chosen), axis=0)
        np.put_along_axis(splits, taken, np.int8(side), axis=1)
    for side, (one, other) in enumerate(pairwise(sizes)):
        if one == other:
            splits = splits[(splits == side).argmax(axis=1) < (splits == side + 1).argmax(axis=1)]
    splits.setflags(write=False)
    return splits


def _best_of(
    splits: Splits, quality: Array, wishes: list[Wish], met: list[NDArray[np.bool_]], best: int
) -> tuple[Splits, dict[str, float]]:
    """The best splits that meet all wishes, and how much each wish costs."""
    allowed_splits = np.logical_and.reduce(met, axis=0) if met else np.ones(len(splits), bool)
    if not allowed_splits.any():
        alone = next((wish.words for wish, splits in zip(wishes, met, strict=True) if not splits.any()), None)
        if alone is not None:
            raise InputError(f"No split meets the wish '{alone}'.")
        raise InputError(f"No split meets all wishes: {'; '.join(wish.words for wish in wishes)}.")
    allowed = np.flatnonzero(allowed_splits)
    chosen = allowed[np.argsort(-quality[allowed], kind="stable")[:best]]
    costs = {}
    for k, wish in enumerate(wishes):
        others = [one for j, one in enumerate(met) if j != k]
        free = np.logical_and.reduce(others, axis=0) if others else np.ones(len(splits), bool)
        costs[wish.words] = float(quality[free].max() - quality[chosen[0]])
    return splits[chosen], costs


# The search


def _search(beliefs: Beliefs, sizes: tuple[int, ...], wishes: list[Wish], best: int, seed: int) -> tuple[Splits, int]:
    """Exchange two players of different sides as long as that helps, from several beginnings."""
    rng = np.random.default_rng([seed, 52])
    plain = np.repeat(np.arange(len(sizes), dtype=np.int8), sizes)
    seen: dict[bytes, tuple[int, float, NDArray[np.int8]]] = {}
    looked_at = 0

    def judged(splits: Splits) -> tuple[NDArray[np.int64], Array]:
        nonlocal looked_at
        looked_at += len(splits)
        missed = sum((~wish.met(splits)).astype(np.int64) for wish in wishes) + np.zeros(len(splits), np.int64)
        quality = beliefs.quality(splits)
        keep = np.lexsort((-quality, missed))[: 4 * best]
        for k in keep.tolist():
            key = _canonical(splits[k], sizes)
            seen[key.tobytes()] = (int(missed[k]), float(quality[k]), key)
        return missed, quality

    first, second = np.triu_indices(len(plain), 1)
    for start in range(STARTS):
        now = _drafted(beliefs.level, sizes) if start == 0 else rng.permutation(plain)
        missed, quality = judged(now[None])
        standing = (int(missed[0]), -float(quality[0]))
        while looked_at < MOST_LOOKED_AT * (start + 1) // STARTS:
            pairs = np.flatnonzero(now[first] != now[second])
            near = np.repeat(now[None], pairs.size, axis=0)
            rows = np.arange(pairs.size)
            near[rows, first[pairs]], near[rows, second[pairs]] = now[second[pairs]], now[first[pairs]]
            missed, quality = judged(near)
            k = int(np.lexsort((-quality, missed))[0])
            if (int(missed[k]), -float(quality[k])) >= standing:
                break
            now, standing = near[k], (int(missed[k]), -float(quality[k]))
    ordered = sorted(seen.values(), key=lambda split: (split[0], -split[1], split[2].tobytes()))
    kept = [split for missed, _, split in ordered if missed == 0][:best]
    if not kept:
        raise InputError(f"No split was found that meets all wishes: {'; '.join(wish.words for wish in wishes)}.")
    return np.stack(kept), looked_at


def _drafted(level: Array, sizes: tuple[int, ...]) -> NDArray[np.int8]:
    """Players chosen in turn by strength, there and back, as captains do."""
    split, room, turn = np.empty(level.size, np.int8), list(sizes), 0
    order = [*range(len(sizes)), *reversed(range(len(sizes)))]
    for k in np.argsort(-level, kind="stable"):
        while not room[order[turn % len(order)]]:
            turn += 1
        split[k] = order[turn % len(order)]
        room[split[k]] -= 1
        turn += 1
    return split


def _canonical(split: NDArray[np.int8], sizes: tuple[int, ...]) -> NDArray[np.int8]:
    """The same split with sides of one size in the order of their first players."""
    first = [int((split == side).argmax()) for side in range(len(sizes))]
    order = sorted(range(len(sizes)), key=lambda side: (-sizes[side], first[side]))
    place = np.empty(len(sizes), np.int8)
    place[order] = np.arange(len(sizes), dtype=np.int8)
    return place[split]


# What is believed of a split


class Beliefs:
    """What a rater believes of those present, and how even it takes a split to be."""

    unknown: tuple[str, ...] = ()
    level: Array
    """How strong each is believed to be, for the beginning of a search."""

    def gaps(self, splits: Splits, first: int, second: int) -> tuple[Array, Array]:
        """Mean and variance of the difference of two sides in each split."""
        raise NotImplementedError

    def surprise(self, gap: Array) -> Array:
        """P(win) − P(loss) where the difference is known."""
        raise NotImplementedError

    def pair_chances(self, split: NDArray[np.int8], one: int, other: int) -> Array:
        """Win, draw and loss of two sides."""
        raise NotImplementedError

    def quality(self, splits: Splits) -> Array:
        """How even each split is believed to be; of many, all but the best only to five digits or so."""
        count = int(splits.max()) + 1
        moments = [self.gaps(splits, one, other) for one, other in combinations(range(count), 2)]
        if len(splits) <= EXACTLY:
            return np.mean([self._even(*one) for one in moments], axis=0)
        quality = np.mean([self._about_even(*one) for one in moments], axis=0)
        best = np.argpartition(-quality, EXACTLY)[:EXACTLY]
        quality[best] = np.mean([self._even(mean[best], variance[best]) for mean, variance in moments], axis=0)
        return quality

    def _even(self, mean: Array, variance: Array) -> Array:
        """``1 − E[(P(win) − P(loss))²]``."""
        at = mean[:, None] + np.sqrt(np.maximum(variance, 0.0))[:, None] * HERMITE_NODES
        return 1.0 - self.surprise(at.ravel()).reshape(at.shape) ** 2 @ HERMITE_WEIGHTS

    def _about_even(self, mean: Array, variance: Array) -> Array:
        """The same from a few nodes and a table of the square, which is smooth."""
        spread = np.sqrt(np.maximum(variance, 0.0))
        reach = float(np.abs(mean).max() + FEW_NODES[-1] * spread.max())
        grid = np.linspace(0.0, reach, GRID)
        square = self.surprise(grid) ** 2  # even in the gap
        total, size = np.zeros(mean.size), np.abs(mean)
        for node, weight in zip(FEW_NODES, FEW_WEIGHTS, strict=True):
            total += weight * np.interp(np.abs(size + node * spread), grid, square)
        return 1.0 - total

    def chances(self, split: NDArray[np.int8]) -> tuple[float, ...]:
        """Win, draw and loss of the first of two sides; of more, the points each takes from another on average."""
        count = int(split.max()) + 1
        if count == 2:
            return tuple(self.pair_chances(split, 0, 1).tolist())
        points = np.zeros(count)
        for one, other in combinations(range(count), 2):
            win, draw, loss = self.pair_chances(split, one, other)
            points[one] += win + 0.5 * draw
            points[other] += loss + 0.5 * draw
        return tuple((points / (count - 1)).tolist())


def beliefs_of(rater: Any, names: list[str], date: Day | None) -> Beliefs:
    """What a rater believes of those present."""
    if traits_of(rater).rates_players:
        return LineupBeliefs(rater, names, date)
    if traits_of(rater).book_holds == ("contests",):
        return EntrantBeliefs(rater, names, date)
    return SideBeliefs(rater, names, date)


class SideBeliefs(Beliefs):
    """Of a rater of sides, each of which is a player here: a team is as strong as the mean of its players.

    The variance of a mean less another is found from the variances of all differences of two, since the shares of the
    players add up to 0.
    """

    def __init__(self, rater: Any, names: list[str], date: Day | None) -> None:
        from kinelo.matches.fixtures import fixtures

        rater._check_has_ratings()
        self.rater, n = rater, len(names)
        row, column = np.triu_indices(n, 1)
        first, second = [names[k] for k in row], [names[k] for k in column]
        levels, day = rater._levels(None), rater._day_of(date)
        gaps = rater._gaps(fixtures(first, second, day, neutral=True, conditions=levels))
        self.unknown = gaps.unknown
        self.apart = np.zeros((n, n))
        self.apart[row, column] = self.apart[column, row] = gaps.variance
        self.level = np.append(0.0, -gaps.mean[: n - 1])  # against the first, who meets everybody first

    def _shares(self, splits: Splits, one: int, other: int) -> Array:
        return _share(splits, one) - _share(splits, other)

    def gaps(self, splits: Splits, first: int, second: int) -> tuple[Array, Array]:
        """The means of both sides."""
        shares = self._shares(splits, first, second)
        return shares @ self.level, -0.5 * np.einsum("si,si->s", shares @ self.apart, shares)

    def surprise(self, gap: Array) -> Array:
        """By the rater's own law."""
        chances = self.rater._chances(np.ascontiguousarray(gap))
        return chances[:, 0] - chances[:, 2]

    def pair_chances(self, split: NDArray[np.int8], one: int, other: int) -> Array:
        """As the rater forecasts a match of which this is believed."""
        mean, variance = self.gaps(split[None], one, other)
        return self.rater._chances_believed(mean, np.maximum(variance, 0.0))[0]


class EntrantBeliefs(SideBeliefs):
    """Of a rater of contests, whose entrants may be teams: the mean of their members, each known by itself."""

    def __init__(self, rater: Any, names: list[str], date: Day | None) -> None:
        mean, variance, self.unknown = rater._entrant_beliefs(names, date)
        self.rater, self.level = rater, mean
        self.apart = variance[:, None] + variance[None, :]
        self.size = rater._effect_of(SIZE) if hasattr(rater, "_effect_of") else (0.0, 0.0)
        np.fill_diagonal(self.apart, 0.0)

    def gaps(self, splits: NDArray[np.int8], first: int, second: int) -> tuple[Array, Array]:
        """Gaps of the means, and what more members are worth where that is known: a size counts, as in contests,
        against the mean of all sides."""
        mean, variance = super().gaps(splits, first, second)
        if not any(self.size):
            return mean, variance
        sizes = np.log(np.stack([(splits == side).sum(axis=1) for side in range(int(splits.max()) + 1)], axis=1))
        sizes -= sizes.mean(axis=1, keepdims=True)
        doubt = self.size[1] * (sizes[:, first] ** 2 + sizes[:, second] ** 2)
        return mean + self.size[0] * (sizes[:, first] - sizes[:, second]), variance + doubt

    def surprise(self, gap: Array) -> Array:
        """Twice the chance to be ahead, less one."""
        return 2.0 * self.rater._chance_ahead(gap) - 1.0

    def pair_chances(self, split: NDArray[np.int8], one: int, other: int) -> Array:
        """Contests know no draws."""
        mean, variance = self.gaps(split[None], one, other)
        at = mean[0] + math.sqrt(max(float(variance[0]), 0.0)) * HERMITE_NODES
        ahead = float(HERMITE_WEIGHTS @ self.rater._chance_ahead(at))
        return np.array([ahead, 0.0, 1.0 - ahead])


class LineupBeliefs(SideBeliefs):
    """Of a rater of players: every side is a line-up of starters of a team that nobody knows, on neutral ground."""

    def __init__(self, rater: Any, names: list[str], date: Day | None) -> None:
        rater._check_has_ratings()
        self.rater, self.names = rater, tuple(names)
        self.day, self.levels = rater._day_of(date), rater._levels(None)
        alone = np.zeros((len(names) - 1, len(names)), np.int8) - 1
        alone[:, 0] = 1
        alone[np.arange(len(names) - 1), np.arange(1, len(names))] = 0
        gaps = rater._gaps(self._fixtures(alone, 0, 1))
        self.unknown = tuple(name for name in gaps.unknown if name in names)
        self.level = np.append(0.0, gaps.mean)

    def _fixtures(self, splits: Splits, first: int, second: int) -> Matches:
        """The match of two sides of every split."""
        from kinelo.matches.fixtures import fixtures

        size = len(splits)
        both = np.stack([splits == first, splits == second], axis=1).reshape(2 * size, -1)
        offsets = np.concatenate([[0], np.cumsum(both.sum(axis=1))]).astype(np.int64)
        player = np.nonzero(both)[1].astype(np.int32)
        lineups = Lineups(offsets, player, self.names, starter=np.ones(player.size, np.int8))
        model = fixtures([SIDES[0]], [SIDES[1]], self.day, neutral=True, conditions=self.levels)
        return Matches(
            np.full(size, self.day), np.zeros(size, np.int32), np.ones(size, np.int32), model.teams,
            np.full(size, math.nan), np.full(size, math.nan), np.ones(size, bool), np.ones(size),
            np.arange(1, size + 1), lineups=lineups,
            conditions={name: type(c)(np.repeat(c.codes, size), c.levels) for name, c in model.conditions.items()},
        )  # fmt: skip

    def gaps(self, splits: Splits, first: int, second: int) -> tuple[Array, Array]:
        """As the rater expects matches of these line-ups."""
        found = self.rater._gaps(self._fixtures(splits, first, second))
        return found.mean, found.variance

    def pair_chances(self, split: NDArray[np.int8], one: int, other: int) -> Array:
        """The rater's own forecast."""
        return self.rater._foresee(self._fixtures(split[None], one, other)).probabilities[0]


def _share(splits: Splits, side: int) -> Array:
    on = (splits == side).astype(np.float64)
    return on / np.maximum(on.sum(axis=1, keepdims=True), 1.0)
