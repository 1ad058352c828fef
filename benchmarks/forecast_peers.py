"""Other libraries' ratings as forecasters, so that one table holds them and ours.

Each library rates match by match. How fast its ratings may change is its default (for riix's Glicko c = 10 a month,
much better here than its default) times the best of three factors, chosen by log-loss on the first 12,000 matches of
the training span. The difference of ratings before a match becomes win, draw and loss probabilities through one ordered
logit with a home term, fitted on the training span with its first quarter left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

import kinelo as kn
from kinelo.forecasts.scores import log_loss

Array = NDArray[np.float64]
PACES = (0.3, 1.0, 3.0)
TRIAL = 12_000


class Online(Protocol):
    """A library's rating, one match at a time."""

    def difference(self, home: str, away: str, day: int) -> float: ...

    def update(self, home: str, away: str, result: float, day: int) -> None: ...


def ordered_logit(z: Array, parameters: Array) -> Array:
    centre, width = parameters[0], np.exp(parameters[1])
    win, loss = expit(z - centre - width), expit(centre - width - z)
    return np.column_stack([win, np.maximum(1 - win - loss, 0.0), loss])


class Peer:
    """A library's rating with the calibration above; ``make`` takes the factor on its pace."""

    def __init__(self, make: Callable[[float], Online]) -> None:
        self.make = make

    def fit(self, matches: kn.Matches) -> Peer:
        trial = matches[:TRIAL]
        self.pace = min(PACES, key=lambda pace: self._calibrated(trial, pace)[0])
        _, self.parameters, self.rating = self._calibrated(matches, self.pace)
        return self

    def _calibrated(self, matches: kn.Matches, pace: float) -> tuple[float, Array, Online]:
        rating = self.make(pace)
        differences = run(rating, matches)
        scored = slice(len(matches) // 4, None)
        unit = float(differences[scored].std()) or 1.0
        x, at_home, result = differences[scored] / unit, 1.0 - matches.neutral[scored], matches.result[scored]
        drawn = max(float(np.mean((result > 0) & (result < 1))), 1e-9)

        def loss(p: Array) -> float:
            held = (p[0] ** 2 + p[3] ** 2) / (2 * x.size)  # tells both apart where nearly all matches have a home side
            return log_loss(ordered_logit(p[2] * x + p[3] * at_home, p), result).mean() + held

        start = np.array([0.0, np.log(2 * drawn), 0.8, 0.3])
        simplex = start + 0.3 * np.vstack([np.zeros(4), np.eye(4)])
        options = {"initial_simplex": simplex, "maxiter": 2_000, "xatol": 1e-4, "fatol": 1e-8}
        found = minimize(loss, start, method="Nelder-Mead", options=options)
        return float(found.fun), found.x / np.array([1.0, 1.0, unit, 1.0]), rating

    def one_step_ahead(self, matches: kn.Matches) -> kn.Forecast:
        p = self.parameters
        z = p[2] * run(self.rating, matches) + p[3] * (1.0 - matches.neutral)
        return kn.Forecast.of(*ordered_logit(z, p).T)


def run(rating: Online, matches: kn.Matches) -> Array:
    """Differences before each match, while the rating is carried on."""
    names = matches.teams
    differences = np.empty(len(matches))
    columns = (matches.home.tolist(), matches.away.tolist(), matches.signed.tolist(), matches.day.tolist())
    for k, (i, j, s, day) in enumerate(zip(*columns)):
        differences[k] = rating.difference(names[i], names[j], day)
        rating.update(names[i], names[j], s, day)
    return differences


class RiixGlicko:
    def __init__(self, pace: float) -> None:
        from riix.models.glicko import Glicko

        self.model = Glicko(list(range(10_000)), c=10.0 * pace)
        self.places: dict[str, int] = {}
        self.first: int | None = None

    def _place(self, name: str) -> int:
        return self.places.setdefault(name, len(self.places))

    def difference(self, home: str, away: str, day: int) -> float:
        return float(self.model.ratings[self._place(home)] - self.model.ratings[self._place(away)])

    def update(self, home: str, away: str, result: float, day: int) -> None:
        self.first = day if self.first is None else self.first
        pair = np.array([[self._place(home), self._place(away)]])
        self.model.iterative_update(pair, np.array([(1 + result) / 2]), (day - self.first) // 30)


class OpenSkill:
    def __init__(self, pace: float) -> None:
        from openskill.models import ThurstoneMostellerFull

        self.model = ThurstoneMostellerFull(tau=25 / 300 * pace)
        self.known: dict = {}

    def _get(self, name: str):
        return self.known.setdefault(name, self.model.rating())

    def difference(self, home: str, away: str, day: int) -> float:
        return self._get(home).mu - self._get(away).mu

    def update(self, home: str, away: str, result: float, day: int) -> None:
        rated = self.model.rate([[self._get(home)], [self._get(away)]], scores=[result, -result])
        self.known[home], self.known[away] = rated[0][0], rated[1][0]


class TrueSkill:
    def __init__(self, pace: float) -> None:
        import trueskill

        self.environment = trueskill.TrueSkill(tau=25 / 300 * pace, draw_probability=0.2)
        self.known: dict = {}

    def _get(self, name: str):
        return self.known.setdefault(name, self.environment.create_rating())

    def difference(self, home: str, away: str, day: int) -> float:
        return self._get(home).mu - self._get(away).mu

    def update(self, home: str, away: str, result: float, day: int) -> None:
        import trueskill

        pair = (away, home) if result < 0 else (home, away)
        new = trueskill.rate_1vs1(*map(self._get, pair), drawn=result == 0, env=self.environment)
        self.known.update(zip(pair, new))


class ThroughTime:
    """The forward filter of TrueSkill Through Time."""

    def __init__(self, pace: float) -> None:
        import trueskillthroughtime as ttt

        self.ttt = ttt
        self.gamma = 0.03 * pace
        self.known: dict = {}

    def _get(self, name: str, day: int):
        belief, last = self.known.get(name, (self.ttt.Gaussian(0.0, 1.6), day))
        return self.ttt.Gaussian(belief.mu, (belief.sigma**2 + self.gamma**2 * max(day - last, 0) / 30) ** 0.5)

    def difference(self, home: str, away: str, day: int) -> float:
        return self._get(home, day).mu - self._get(away, day).mu

    def update(self, home: str, away: str, result: float, day: int) -> None:
        sides = [[self.ttt.Player(self._get(name, day), 1.0, 0.0)] for name in (home, away)]
        game = self.ttt.Game(sides, [result, -result], 0.2)
        for name, after in zip((home, away), game.posteriors()):
            self.known[name] = (after[0], day)


class Glicko2Library:
    def __init__(self, pace: float) -> None:
        import glicko2

        self.player = glicko2.Player
        self.volatility = 0.06 * pace
        self.known: dict = {}

    def _get(self, name: str):
        if name not in self.known:
            self.known[name] = self.player(vol=self.volatility)
        return self.known[name]

    def difference(self, home: str, away: str, day: int) -> float:
        return self._get(home).rating - self._get(away).rating

    def update(self, home: str, away: str, result: float, day: int) -> None:
        one, other = self._get(home), self._get(away)
        before = (one.rating, one.rd), (other.rating, other.rd)
        one.update_player([before[1][0]], [before[1][1]], [(1 + result) / 2])
        other.update_player([before[0][0]], [before[0][1]], [(1 - result) / 2])


class EloteElo:
    def __init__(self, pace: float) -> None:
        from elote import EloCompetitor

        self.competitor = EloCompetitor
        self.k = 32.0 * pace
        self.known: dict = {}

    def _get(self, name: str):
        if name not in self.known:
            self.known[name] = self.competitor(initial_rating=1500, k_factor=self.k)
        return self.known[name]

    def difference(self, home: str, away: str, day: int) -> float:
        return self._get(home).rating - self._get(away).rating

    def update(self, home: str, away: str, result: float, day: int) -> None:
        one, other = self._get(home), self._get(away)
        if result == 0:
            one.tied(other)
        elif result > 0:
            one.beat(other)
        else:
            other.beat(one)


PEERS: dict[str, tuple[str, Callable[[float], Online]]] = {
    "riix Glicko": ("riix", RiixGlicko),
    "openskill Thurstone–Mosteller": ("openskill", OpenSkill),
    "trueskill": ("trueskill", TrueSkill),
    "TrueSkill Through Time, forward": ("trueskillthroughtime", ThroughTime),
    "glicko2": ("glicko2", Glicko2Library),
    "elote Elo": ("elote", EloteElo),
}
