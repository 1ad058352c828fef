"""From numbers of openskill or TrueSkill to a book: a table of mu and sigma, and the log of what was played since.

What a point of mu is in rating points depends on how large teams are, since those libraries add members up and a rater
of contests takes their mean. It is found from the log: the factor with which its first half is forecast best. Forecasts
of the second half then stand beside those of the old numbers, which go on by the update of Weng and Lin (Journal of
Machine Learning Research 12, 2011, algorithm 4, with the variance ``tau²`` added before each game).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.book.book import RatingBook
from kinelo.errors import InputError
from kinelo.forecasts.contest_scores import order_log_loss, pairs_of
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import Contests, check_contests
from kinelo.matches.loading import load_table
from kinelo.matches.names import clean_name, read_numbers
from kinelo.raters.rank.rater import RankElo

Array = NDArray[np.float64]
MU, SIGMA = 25.0, 25.0 / 3.0
BETA, TAU, LEAST = SIGMA / 2.0, SIGMA / 100.0, 1e-4
"""What those libraries begin with: a newcomer, luck of a player in a game, moves between games, least variance kept."""
FACTORS = (8.0, 12.0, 18.0, 27.0, 40.0, 60.0, 90.0, 135.0)
"""Points of a rating for a point of mu that are tried."""
FEWEST = 40
"""Contests that a comparison needs."""


class OldNumbers:
    """Numbers of Weng and Lin, by name, which go on with every contest."""

    def __init__(self, known: Mapping[str, tuple[float, float]], tau: float = TAU) -> None:
        self.known, self.tau = dict(known), tau

    def ahead(self, contests: Contests) -> Array:
        """Losses of forecasts of every contest (mean log-loss of its pairs) before it is used."""
        return np.concatenate([self._one(contests[k : k + 1]) for k in range(len(contests))])

    def _one(self, contest: Contests) -> Array:
        names = [name for name in contest.slots if not contest.slots[name].advantage]
        slots = contest.slots[names[0]]
        teams = [[slots.names[code] for code in row if code >= 0] for row in slots.codes.tolist()]
        numbers = [[self.known.get(name, (MU, SIGMA)) for name in team] for team in teams]
        mean = np.array([sum(mu for mu, _ in team) for team in numbers])
        variance = np.array([sum(sigma**2 + BETA**2 for _, sigma in team) for team in numbers])
        loss = order_log_loss(ContestForecast(contest, mean, np.sqrt(variance)))
        self.use(teams, contest.place)
        return loss

    def use(self, teams: list[list[str]], places: Array) -> None:
        """Count a game: teams and their places, of which equal ones are ties."""
        numbers = [[self.known.get(name, (MU, SIGMA)) for name in team] for team in teams]
        variance = [[sigma**2 + self.tau**2 for _, sigma in team] for team in numbers]
        mean, total = np.array([sum(mu for mu, _ in team) for team in numbers]), np.array([sum(v) for v in variance])
        c = math.sqrt(math.fsum(total + BETA**2))
        e = np.exp((mean - mean.max()) / c)
        behind = np.array([e[places >= place].sum() for place in places])  # everyone not ahead of it
        tied = np.array([(places == place).sum() for place in places])
        for i, team in enumerate(teams):
            before = places <= places[i]
            chance = e[i] / behind[before]
            pull = (1.0 - chance[np.flatnonzero(before) == i]).item() / tied[i]
            others = np.flatnonzero(before) != i
            pull -= (chance[others] / tied[before][others]).sum()
            shrink = (chance * (1.0 - chance) / tied[before]).sum() * math.sqrt(total[i]) / c
            for name, (mu, _), v in zip(team, numbers[i], variance[i]):
                left = max(1.0 - v / total[i] * (total[i] / c**2) * shrink, LEAST)
                self.known[name] = mu + v / total[i] * (total[i] / c) * pull, math.sqrt(v * left)


@dataclass(frozen=True)
class Migration:
    """A book that began with numbers of mu and sigma: points for a point of mu, and mean log-losses of pairs in the
    second half of the log, by the old numbers and by the book's rater, their difference and its standard error."""

    factor: float
    contests: int
    old_loss: float
    loss: float
    difference: float
    error: float

    def lines(self) -> list[str]:
        """The comparison in sentences."""
        clear = abs(self.difference) > 2.0 * self.error
        verdict = ("Kinelo's are better" if self.difference < 0 else "the old ones are better") if clear else \
            "that is no clear difference"  # fmt: skip
        return [
            f"A point of mu counts as {self.factor:g} points, found on the first half of the log.",
            f"Forecasts of {self.contests:,} contests, the second half: log-loss {self.old_loss:.4f} by the old "
            f"numbers (going on by Weng and Lin's update), {self.loss:.4f} by Kinelo; difference "
            f"{self.difference:+.4f} ± {self.error:.4f}: {verdict}.",
        ]


def read_skills(source: Any) -> dict[str, tuple[float, float]]:
    """Names with mu and sigma, from a table (also a path) with the columns name (or player), mu and sigma.

    >>> read_skills({"name": ["Ann"], "mu": [27.5], "sigma": [2.0]})
    {'Ann': (27.5, 2.0)}
    """
    table = load_table(source)
    lower = {str(column).strip().lower(): column for column in table.columns}
    name = next((lower[word] for word in ("name", "player", "id") if word in lower), None)
    if name is None or not {"mu", "sigma"} <= lower.keys():
        raise InputError(f"Skills need the columns name, mu and sigma; there are {', '.join(map(str, table.columns))}.")
    names = [clean_name(str(one)) for one in table[name]]
    mu, sigma = (read_numbers(table[lower[word]], []) for word in ("mu", "sigma"))
    for one, m, s in zip(names, mu.tolist(), sigma.tolist()):
        if not one or not math.isfinite(m) or not 0.0 < s < 1e6 or abs(m) > 1e6:
            raise InputError(f"Skills say of {one!r:.60} mu {m:g} and sigma {s:g}; sigma is above 0.")
    if len(set(names)) < len(names):
        raise InputError(f"Skills name {next(one for one in names if names.count(one) > 1)!r:.60} twice.")
    return dict(zip(names, zip(mu.tolist(), sigma.tolist())))


def start_of(skills: Mapping[str, tuple[float, float]], factor: float) -> dict[str, list[Any]]:
    """Ratings to begin with: 1500 for a mu of 25, so many points for a point of mu.

    >>> start_of({"Ann": (27.5, 2.0)}, 40.0)
    {'name': ['Ann'], 'rating': [1600.0], 'deviation': [80.0]}
    """
    return {
        "name": list(skills),
        "rating": [1500.0 + factor * (mu - MU) for mu, _ in skills.values()],
        "deviation": [factor * sigma for _, sigma in skills.values()],
    }


def migrate(path: str | Path, skills: Any, contests: Contests) -> Migration:
    """Start a book from a table of mu and sigma, add the log, and compare its forecasts with the old ones."""
    known = read_skills(skills)
    check_contests(contests)
    if len(contests) < 2 * FEWEST:
        raise InputError(f"A comparison needs {2 * FEWEST} contests, and the log has {len(contests):,}.")
    half = len(contests) // 2
    first, second = contests[:half], contests[half:]

    factor = max(FACTORS, key=lambda one: RankElo(start=start_of(known, one)).score(first))
    rater = RankElo(start=start_of(known, factor)).fit(first)
    old = OldNumbers(known)
    old.ahead(first)
    ours, weights = order_log_loss(copy.deepcopy(rater).one_step_ahead(second)), pairs_of(second)
    theirs = old.ahead(second)
    there = ~np.isnan(ours) & ~np.isnan(theirs)
    weights, ours, theirs = weights[there], ours[there], theirs[there]
    apart = np.average(ours - theirs, weights=weights)
    error = math.sqrt(np.sum((weights * (ours - theirs - apart)) ** 2)) / weights.sum()
    with RatingBook(path, rater) as book:
        if len(book):
            raise InputError(f"{path} is a book already; name one that is to be made.")
        book.add(contests)
    old_loss, loss = (float(np.average(one, weights=weights)) for one in (theirs, ours))
    return Migration(factor, len(second), old_loss, loss, float(apart), float(error))
