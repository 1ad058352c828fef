"""Who is first, surely above another, or in a group apart, at a level that holds however often one looks.

Before ``i`` meets ``j`` the chance ``p`` that ``i`` wins, if it is no draw, is predicted from all earlier matches,
and a bet is made on whoever is likelier to win. Under the hypothesis "k is first" nobody beats k with a chance above
½, so the fortune ``E[k]`` of bets against ``k``, which is multiplied by ``2p`` or ``2(1 − p)``, grows beyond ``1/α``
with a chance of at most ``α``, whenever one looks and however matches were chosen from the past. Only the best one's
hypothesis holds, so that no factor for many is paid; the last one left is first. Of two, ``E_ij`` are bets on their
own matches, and with the threshold ``N(N − 1)/2α`` the order of all pairs holds together. Within ``ε`` of the first
is who is told from the hypothesis "k leads by ε" of every ``k``, of odds ``10^{−ε/400}``, with the threshold ``(N −
1)/α``.

What is predicted, and believed, is a normal belief of all ratings together, moved match by match.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.matches import Matches, check_matches
from kinelo.model.validation import is_list, is_text, one_line, whole
from kinelo.play.formula import kernel
from kinelo.presentation import Table, counted, number, words
from kinelo.raters.one_match import signed_result

Q = math.log(10.0) / 400.0
OUT, ABOVE, NEAR = range(3)
"""Fortunes of bets: against each as the first (on the diagonal), on the second above the first, and within ε of it."""


@kernel
def bet(home, away, signed, m, P, log_fortune, epsilon):
    """Bet on matches one by one, each from what is known before it, and move the belief; ``log_fortune`` (3, N, N)."""
    lead = 1.0 / (1.0 + math.exp(Q * epsilon))
    for n in range(home.size):
        i, j, s = home[n], away[n], signed[n]
        v = P[:, i] - P[:, j]
        D, gap = v[i] - v[j], m[i] - m[j]
        p = 1.0 / (1.0 + math.exp(-Q * gap / math.sqrt(1.0 + math.pi / 8.0 * Q * Q * D)))
        if s != 0.0:
            up, down, likely = (i, j, p) if p >= 0.5 else (j, i, 1.0 - p)
            won = (s > 0.0) == (up == i)
            log_fortune[OUT, down, down] += math.log(2.0 * (likely if won else 1.0 - likely))
            log_fortune[ABOVE, down, up] += math.log(2.0 * (likely if won else 1.0 - likely))
            for k, other, chance, lost in ((i, j, p, s < 0.0), (j, i, 1.0 - p, s > 0.0)):
                if 1.0 - chance > lead:  # the hypothesis is that k leads the other by ε
                    share = (1.0 - chance) / lead if lost else chance / (1.0 - lead)
                    log_fortune[NEAR, k, other] += math.log(share)
        # Laplace's step of a normal belief; a draw counts half, and its lesser noise is not counted.
        center = 1.0 / (1.0 + math.exp(-Q * gap))
        w = Q * Q * center * (1.0 - center)
        gain = 1.0 / (1.0 + w * D)
        step = Q * (0.5 + 0.5 * s - center) * gain
        for x in range(m.size):
            m[x] += step * v[x]
            for y in range(m.size):
                P[x, y] -= w * gain * v[x] * v[y]


class Elimination:
    """Stop a ranking honestly: who is first, who is surely above whom, and groups, at a level that always holds.

    Parameters
    ----------
    names
        Everyone who takes part.
    alpha
        The chance that anything that is called sure is wrong, of each of the three questions.
    epsilon
        Points within which somebody counts as first, so that near ties end; 0 asks for the first alone.
    spread
        How far strengths lie apart, in points, before any match: it serves prediction, and no level depends on it.

    Attributes
    ----------
    ratings
        What is believed of everyone, in points around 1500: mean (names).
    covariance
        The same: covariance (names, names).

    Levels hold for strengths that stay as they are, or for who is ahead throughout. Where one side has an advantage,
    reverse sides or draw them by coin. Draws tell nothing here.

    >>> import kinelo as kn
    >>> stop = kn.Elimination(["Ann", "Bob", "Cid"])
    >>> for _ in range(12):
    ...     stop = stop.update("Ann", "Bob", "win").update("Cid", "Ann", "loss")
    >>> stop.leader, stop.surely_above("Ann", "Bob"), stop.surely_above("Bob", "Cid")
    ('Ann', True, False)
    """

    def __init__(
        self, names: Sequence[str], *, alpha: float = 0.05, epsilon: float = 0.0, spread: float = 200.0
    ) -> None:
        if not is_list(names) or not all(is_text(name) and name.strip() for name in names):
            raise InputError(f"names={one_line(names)} must be a list of names.")
        self.names: list[str] = list(dict.fromkeys(names))
        if len(self.names) < 2 or len(self.names) < len(list(names)):
            raise InputError("Elimination takes at least 2 names, each once.")
        self.alpha: float = float(check_number("Elimination", "alpha", alpha, 1e-12, 0.5))
        self.epsilon: float = float(check_number("Elimination", "epsilon", epsilon, 0.0, 1000.0))
        spread = check_number("Elimination", "spread", spread, 1.0, 2000.0)
        size = len(self.names)
        self._place = {name: k for k, name in enumerate(self.names)}
        self.ratings: NDArray[np.float64] = np.full(size, 1500.0)
        self.covariance: NDArray[np.float64] = np.eye(size) * float(spread) ** 2
        self._log_fortune = np.zeros((3, size, size))
        self._largest = np.zeros((3, size, size))
        self.played: int = 0

    def update(self, home: str, away: str, result: float | str) -> Elimination:
        """Count a match that has been played: 1, 0.5 or 0 points of the side named first, or in words."""
        places = [self._at(home), self._at(away)]
        if places[0] == places[1]:
            raise InputError(f"{home!r:.60} cannot meet itself.")
        signed = signed_result(result)
        if signed not in (-1.0, 0.0, 1.0):
            raise InputError(f"A match counts as 0, 0.5 or 1 points of the side named first, not {result!r}.")
        return self._bet(np.array(places[:1]), np.array(places[1:]), np.array([signed]))

    def update_matches(self, matches: Matches) -> Elimination:
        """Count the matches of a table, in their order."""
        check_matches(matches)
        if not np.isin(matches.signed, (-1.0, 0.0, 1.0)).all():
            raise InputError("Elimination counts wins, draws and losses; other results have no place in it.")
        code = np.array([self._at(name) if name in matches._appearing else -1 for name in matches.teams])
        return self._bet(code[matches.home], code[matches.away], np.ascontiguousarray(matches.signed, np.float64))

    def _bet(self, home: NDArray[Any], away: NDArray[Any], signed: NDArray[np.float64]) -> Elimination:
        """Bet match by match; what a fortune once reached stays true of its hypothesis."""
        for n in range(home.size):
            one = slice(n, n + 1)
            bet(home[one], away[one], signed[one], self.ratings, self.covariance, self._log_fortune, self.epsilon)
            pair = np.ix_(range(3), (home[n], away[n]), (home[n], away[n]))
            last = (self._largest[OUT].diagonal() < -math.log(self.alpha)).sum() == 1  # who is left is first for good
            reached = np.maximum(self._largest[pair], self._log_fortune[pair])
            self._largest[pair] = np.concatenate([self._largest[pair][:1], reached[1:]]) if last else reached
        self.played += home.size
        return self

    def _at(self, name: object) -> int:
        if not isinstance(name, str) or name not in self._place:
            more = " …" if len(self.names) > 5 else ""
            raise InputError(f"{name!r:.60} does not take part; {', '.join(self.names[:5])}{more} do.")
        return self._place[name]

    @property
    def left(self) -> list[str]:
        """Who may still be first, the likeliest first."""
        out = np.diagonal(self._largest[OUT]) >= -math.log(self.alpha)
        return [self.names[k] for k in np.argsort(-self.ratings, kind="stable") if not out[k]]

    @property
    def leader(self) -> str | None:
        """Who is surely first (within ``epsilon``, where that is given); None while nobody is."""
        size = len(self.names)
        if self.epsilon == 0.0:
            return self.left[0] if len(self.left) == 1 else None
        near = self._largest[NEAR] >= math.log((size - 1) / self.alpha)
        first = [k for k in range(size) if near[np.arange(size) != k, k].all()]
        return self.names[max(first, key=self.ratings.__getitem__)] if first else None

    @property
    def believed(self) -> str:
        """Who is believed to be first, which is not sure."""
        return self.names[int(np.argmax(self.ratings))]

    def _order(self) -> NDArray[np.bool_]:
        """Whether a name (row) is surely above another (column), also by way of others."""
        size = len(self.names)
        above = (self._largest[ABOVE] >= math.log(size * (size - 1) / 2.0 / self.alpha)).T
        for k in range(size):
            above = above | (above[:, k, None] & above[k])
        return above

    def surely_above(self, one: str, other: str) -> bool:
        """Whether one is surely above another."""
        return bool(self._order()[self._at(one), self._at(other)])

    @property
    def tiers(self) -> list[list[str]]:
        """Groups, the best first: everyone of a group is surely above everyone of those below it."""
        above, order = self._order(), np.argsort(-self.ratings, kind="stable")
        groups: list[list[str]] = [[]]
        for k, place in enumerate(order.tolist()):
            if k and above[np.ix_(order[:k], order[k:])].all():
                groups.append([])
            groups[-1].append(self.names[place])
        return groups

    def next_pair(self, seed: int = 1) -> tuple[str, str]:
        """Two who should meet next: who is likely to be first among those left, as often as that is believed.

        Two draws from what is believed, each of which has a first. Number of matches and seed say which draws.
        """
        rng = np.random.default_rng([whole("seed", seed, 0), self.played])
        left = [self._place[name] for name in (self.left if len(self.left) > 1 else self.names)]
        root = np.linalg.cholesky(self.covariance[np.ix_(left, left)] + 1e-6 * np.eye(len(left)))
        draws = self.ratings[left] + rng.standard_normal((50, len(left))) @ root.T
        best = np.argmax(draws, axis=1)
        other = best[best != best[0]]
        second = other[0] if other.size else int(np.argsort(-draws[0])[1])
        pair = [self.names[left[best[0]]], self.names[left[second]]]
        return (pair[0], pair[1]) if rng.random() < 0.5 else (pair[1], pair[0])

    def chance_first(self, draws: int = 4000) -> dict[str, float]:
        """What is only believed: the chance of everyone to be first. It is no level that holds if looked at often."""
        draws = whole("draws", draws, 1)
        root = np.linalg.cholesky(self.covariance + 1e-6 * np.eye(len(self.names)))
        seen = self.ratings + np.random.default_rng(1).standard_normal((draws, len(self.names))) @ root.T
        share = np.bincount(np.argmax(seen, axis=1), minlength=len(self.names)) / draws
        return dict(zip(self.names, share.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """What is sure, what is believed, and how many matches that took."""
        return {
            "leader": self.leader, "left": self.left, "tiers": self.tiers, "believed": self.believed,
            "chance_first": self.chance_first(), "played": self.played, "alpha": self.alpha, "epsilon": self.epsilon,
        }  # fmt: skip

    def lines(self) -> list[str]:
        """What is sure, and what is only believed, in sentences."""
        chance, level = self.chance_first()[self.believed], f"at a level of {self.alpha:g}"
        played = counted(self.played, "match", "matches")
        if self.leader is not None:
            near = f"within {self.epsilon:g} points of the first" if self.epsilon else "first"
            first = f"{self.leader} is {near}, {level}, after {played}."
        else:
            first = f"Nobody is surely first {level} after {played}; {len(self.left)} are left."
        groups = "; ".join(", ".join(group) for group in self.tiers)
        apart = f"Told apart {level}: {groups}." if len(self.tiers) > 1 else f"No groups are told apart {level}."
        return [first, apart, f"Believed, which is no level: {self.believed} is first with {100 * chance:.0f} %."]

    def table(self) -> Table:
        """Everyone with the group, what is believed, and whether they may still be first, the best first."""
        left, groups = set(self.left), self.tiers
        rows = [
            {"tier": k + 1, "name": name, "rating": float(self.ratings[self._place[name]]),
             "first": "may be" if name in left else "no"}
            for k, group in enumerate(groups) for name in group
        ]  # fmt: skip
        columns = [number("Tier", "tier", "d"), words("Name", "name"), number("Believed", "rating", ".0f")]
        return Table([*columns, words("First", "first")], rows, below=tuple(self.lines()))

    def __repr__(self) -> str:
        state = f"{self.leader} is first" if self.leader else f"{len(self.left)} of {len(self.names)} may be first"
        return f"Elimination: {state} after {counted(self.played, 'match', 'matches')}"

    def _repr_html_(self) -> str:
        return self.table().html()
