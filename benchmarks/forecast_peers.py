"""Other libraries' ratings as forecasters, so that one table holds them and ours.

Each library rates match by match, sides or their starters. Two numbers are its own to choose, by log-loss on the first
8,000 matches of the training span: how fast ratings change, and how far newcomers spread, each doubled or halved from
the library's default for as long as that helps, in up to 16 trials. The difference of ratings before a match, divided
by what the library itself takes for the standard deviation of the performances, becomes win, draw and loss
probabilities through one ordered logit with a home term, fitted on the training span with its first quarter left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

import kinelo as kn
from kinelo.forecasts.scores import log_loss

Array = NDArray[np.float64]
TRIAL = 8_000
MOST_TRIALS = 16
LINEUP = "before the match (starters)"


class Meeting(NamedTuple):
    """A match as a library is told of it: who plays on either side, and how it ended for the first."""

    sides: tuple[tuple[str, ...], tuple[str, ...]]
    neutral: bool
    signed: float
    margin: float
    day: int


class Manner(NamedTuple):
    """Factors on a library's pace and on its spread of newcomers, and the share of draws in the training span."""

    pace: float
    spread: float
    drawn: float


class Online(Protocol):
    """A library's rating, one match at a time."""

    def difference(self, meeting: Meeting) -> float: ...

    def update(self, meeting: Meeting) -> None: ...


class Sides:
    """Matches as meetings of sides, or of their starters; who is not announced is taken from the match before."""

    def __init__(self, lineups: bool) -> None:
        self.lineups = lineups
        self.recent: dict[str, tuple[str, ...]] = {}

    def meetings(self, matches: kn.matches.Matches) -> Iterator[Meeting]:
        columns = (matches.neutral.tolist(), matches.signed.tolist(), matches.margin.tolist(), matches.day.tolist())
        names = matches.teams
        for k, (neutral, signed, margin, day) in enumerate(zip(*columns)):
            pair = names[matches.home[k]], names[matches.away[k]]
            sides = tuple(self._starters(matches, k, s, pair[s]) if self.lineups else (pair[s],) for s in (0, 1))
            yield Meeting(sides, neutral, signed, margin, day)  # type: ignore[arg-type]

    def _starters(self, matches: kn.matches.Matches, k: int, side: int, team: str) -> tuple[str, ...]:
        lineups = matches.lineups
        assert lineups is not None
        part = slice(lineups.offsets[2 * k + side], lineups.offsets[2 * k + side + 1])
        started = lineups.player[part][lineups.starter[part] != 0]
        if started.size:
            self.recent[team] = tuple(lineups.players[c] for c in started)
        return self.recent.get(team, (f"somebody of {team}",))


def ordered_logit(z: Array, parameters: Array) -> Array:
    centre, width = parameters[0], np.exp(parameters[1])
    win, loss = expit(z - centre - width), expit(centre - width - z)
    return np.column_stack([win, np.maximum(1 - win - loss, 0.0), loss])


class Peer:
    """A library's rating, tuned and calibrated as said above."""

    def __init__(self, make: Callable[[Manner], Online], lineups: bool = False) -> None:
        self.make, self.lineups = make, lineups
        self._lineup_knowledge = LINEUP if lineups else "not used"

    def fit(self, matches: kn.matches.Matches) -> Peer:
        drawn = float(np.mean(np.abs(matches.signed) < 1))
        trial, losses, most = matches[:TRIAL], {}, getattr(self.make, "trials", MOST_TRIALS)

        def loss(where: tuple[int, int]) -> float:
            if where not in losses:
                losses[where] = self._calibrated(trial, Manner(2.0 ** where[0], 2.0 ** where[1], drawn))[0]
            return losses[where]

        best, moved = (0, 0), True
        while moved and len(losses) < most:
            moved = False
            for step in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                while len(losses) < most and loss((best[0] + step[0], best[1] + step[1])) < loss(best) - 1e-6:
                    best, moved = (best[0] + step[0], best[1] + step[1]), True
        self.manner = Manner(2.0 ** best[0], 2.0 ** best[1], drawn)
        _, self.parameters, self.rating, self.sides = self._calibrated(matches, self.manner)
        return self

    def _calibrated(self, matches: kn.matches.Matches, manner: Manner) -> tuple[float, Array, Online, Sides]:
        rating, sides = self.make(manner), Sides(self.lineups)
        differences = run(rating, sides.meetings(matches))
        scored = slice(len(matches) // 4, None)
        unit = float(differences[scored].std()) or 1.0
        x, at_home, result = differences[scored] / unit, 1.0 - matches.neutral[scored], matches.result[scored]

        def loss(p: Array) -> float:
            held = (p[0] ** 2 + p[3] ** 2) / (2 * x.size)  # tells both apart where nearly all matches have a home side
            return log_loss(ordered_logit(p[2] * x + p[3] * at_home, p), result).mean() + held

        start = np.array([0.0, np.log(2 * max(manner.drawn, 1e-9)), 0.8, 0.3])
        simplex = start + 0.3 * np.vstack([np.zeros(4), np.eye(4)])
        options = {"initial_simplex": simplex, "maxiter": 2_000, "xatol": 1e-4, "fatol": 1e-8}
        found = minimize(loss, start, method="Nelder-Mead", options=options)
        return float(found.fun), found.x / np.array([1.0, 1.0, unit, 1.0]), rating, sides

    def one_step_ahead(self, matches: kn.matches.Matches) -> kn.forecasts.Forecast:
        p = self.parameters
        z = p[2] * run(self.rating, self.sides.meetings(matches)) + p[3] * (1.0 - matches.neutral)
        return kn.forecasts.Forecast.of(*ordered_logit(z, p).T)


def run(rating: Online, meetings: Iterator[Meeting]) -> Array:
    """Differences before each match, while the rating is carried on."""
    differences = []
    for meeting in meetings:
        differences.append(rating.difference(meeting))
        rating.update(meeting)
    return np.array(differences)


class Beliefs:
    """A library that believes a mean and a deviation of everyone, and adds up the players of a side."""

    beta: float

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def fresh(self) -> Any:
        raise NotImplementedError

    def of(self, name: str, day: int) -> Any:
        if name not in self.known:
            self.known[name] = self.fresh()
        return self.known[name]

    def noises(self, meeting: Meeting) -> int:
        """How many independent performances a match consists of."""
        return sum(map(len, meeting.sides))

    def difference(self, meeting: Meeting) -> float:
        gap, variance = 0.0, self.noises(meeting) * self.beta**2
        for sign, side in zip((1.0, -1.0), meeting.sides):
            for name in side:
                belief = self.of(name, meeting.day)
                gap += sign * belief.mu
                variance += belief.sigma**2
        return gap / math.sqrt(variance)


class OpenSkill(Beliefs):
    def __init__(self, manner: Manner) -> None:
        from openskill.models import ThurstoneMostellerFull

        super().__init__()
        self.model = ThurstoneMostellerFull(tau=25 / 300 * manner.pace, sigma=25 / 3 * manner.spread)
        self.beta = self.model.beta

    def fresh(self) -> Any:
        return self.model.rating()

    def noises(self, meeting: Meeting) -> int:
        return 2

    def update(self, meeting: Meeting) -> None:
        teams = [[self.of(name, meeting.day) for name in side] for side in meeting.sides]
        rated = self.model.rate(teams, scores=[meeting.signed, -meeting.signed])
        for side, after in zip(meeting.sides, rated):
            self.known.update(zip(side, after))


class TrueSkill(Beliefs):
    trials = 8
    """Fewer than the others: line-ups take it milliseconds a match."""

    def __init__(self, manner: Manner) -> None:
        import trueskill

        super().__init__()
        sigma = 25 / 3 * manner.spread
        self.environment = trueskill.TrueSkill(
            sigma=sigma, beta=25 / 6, tau=25 / 300 * manner.pace, draw_probability=manner.drawn
        )
        self.beta = self.environment.beta

    def fresh(self) -> Any:
        return self.environment.create_rating()

    def update(self, meeting: Meeting) -> None:
        teams = [tuple(self.of(name, meeting.day) for name in side) for side in meeting.sides]
        rated = self.environment.rate(teams, ranks=[-meeting.signed, meeting.signed])
        for side, after in zip(meeting.sides, rated):
            self.known.update(zip(side, after))


class ThroughTime(Beliefs):
    """The forward filter of TrueSkill Through Time, with the venue as one more player of the home side, as it advises.

    Passes back and forth would better what is believed of the past; a forecast needs the present.
    """

    beta = 1.0

    def __init__(self, manner: Manner) -> None:
        import trueskillthroughtime as ttt

        super().__init__()
        self.ttt, self.drawn = ttt, max(manner.drawn, 0.02) if manner.drawn else 0.0  # its arithmetic fails below
        self.gamma, self.spread = 0.06 * manner.pace, 0.8 * manner.spread
        self.last: dict[str, int] = {}
        self.venue = ttt.Gaussian(0.0, 1.0)

    def of(self, name: str, day: int) -> Any:
        belief = self.known.get(name)
        if belief is None:
            return self.ttt.Gaussian(0.0, self.spread)
        return belief.forget(self.gamma, max(day - self.last[name], 0) / 30)

    def difference(self, meeting: Meeting) -> float:
        venue = 0.0 if meeting.neutral else self.venue.mu
        return super().difference(meeting) + venue / math.sqrt(self.noises(meeting))

    def update(self, meeting: Meeting) -> None:
        Player = self.ttt.Player
        teams = [[Player(self.of(name, meeting.day), self.beta, 0.0) for name in side] for side in meeting.sides]
        if not meeting.neutral:
            teams[0].append(Player(self.venue, 0.0, 0.0))
        after = self.ttt.Game(teams, [meeting.signed, -meeting.signed], self.drawn).posteriors()
        if not meeting.neutral:
            self.venue = after[0].pop()
        for side, beliefs in zip(meeting.sides, after):
            self.known.update(zip(side, beliefs))
            self.last.update(dict.fromkeys(side, meeting.day))


class RiixGlicko:
    """Its c is 10 a month, much better here than its default."""

    def __init__(self, manner: Manner) -> None:
        from riix.models.glicko import Glicko

        self.model = Glicko(list(range(10_000)), c=10.0 * manner.pace, initial_rating_dev=350.0 * manner.spread)
        self.places: dict[str, int] = {}
        self.first: int | None = None

    def _places(self, meeting: Meeting) -> list[int]:
        return [self.places.setdefault(side[0], len(self.places)) for side in meeting.sides]

    def difference(self, meeting: Meeting) -> float:
        i, j = self._places(meeting)
        q, deviations = math.log(10) / 400, self.model.rating_devs[[i, j]]
        doubt = math.sqrt(1 + 3 * q**2 * float(np.sum(deviations**2)) / math.pi**2)
        return float(self.model.ratings[i] - self.model.ratings[j]) / doubt

    def update(self, meeting: Meeting) -> None:
        self.first = meeting.day if self.first is None else self.first
        outcome = np.array([(1 + meeting.signed) / 2])
        self.model.iterative_update(np.array([self._places(meeting)]), outcome, (meeting.day - self.first) // 30)


class Glicko2Library:
    def __init__(self, manner: Manner) -> None:
        import glicko2

        self.player, self.deviation, self.volatility = glicko2.Player, 350.0 * manner.spread, 0.06 * manner.pace
        self.known: dict[str, Any] = {}

    def _pair(self, meeting: Meeting) -> list[Any]:
        for side in meeting.sides:
            if side[0] not in self.known:
                self.known[side[0]] = self.player(rd=self.deviation, vol=self.volatility)
        return [self.known[side[0]] for side in meeting.sides]

    def difference(self, meeting: Meeting) -> float:
        one, other = self._pair(meeting)
        doubt = (math.log(10) / 400) ** 2 * (one.rd**2 + other.rd**2)
        return (one.rating - other.rating) / math.sqrt(1 + 3 * doubt / math.pi**2)

    def update(self, meeting: Meeting) -> None:
        one, other = self._pair(meeting)
        before = (one.rating, one.rd), (other.rating, other.rd)
        one.update_player([before[1][0]], [before[1][1]], [(1 + meeting.signed) / 2])
        other.update_player([before[0][0]], [before[0][1]], [(1 - meeting.signed) / 2])


class EloteElo:
    """Without an uncertainty of its own, and without a spread of newcomers."""

    def __init__(self, manner: Manner) -> None:
        from elote import EloCompetitor

        self.competitor, self.k = EloCompetitor, 32.0 * manner.pace
        self.known: dict[str, Any] = {}

    def _pair(self, meeting: Meeting) -> list[Any]:
        for side in meeting.sides:
            if side[0] not in self.known:
                self.known[side[0]] = self.competitor(initial_rating=1500, k_factor=self.k)
        return [self.known[side[0]] for side in meeting.sides]

    def difference(self, meeting: Meeting) -> float:
        one, other = self._pair(meeting)
        return one.rating - other.rating

    def update(self, meeting: Meeting) -> None:
        one, other = self._pair(meeting)
        if meeting.signed == 0:
            one.tied(other)
        elif meeting.signed > 0:
            one.beat(other)
        else:
            other.beat(one)


class EloteGlicko(EloteElo):
    """Deviations grow by the library's own constant, a day to a period."""

    def __init__(self, manner: Manner) -> None:
        from elote import GlickoCompetitor

        self.competitor = type("TunedGlicko", (GlickoCompetitor,), {})
        self.competitor.configure_class(c=34.6 * manner.pace / 10)
        self.deviation = min(350.0, 350.0 * manner.spread)
        self.known: dict[str, Any] = {}

    def _pair(self, meeting: Meeting) -> list[Any]:
        for side in meeting.sides:
            if side[0] not in self.known:
                self.known[side[0]] = self.competitor(initial_rating=1500, initial_rd=self.deviation)
        return [self.known[side[0]] for side in meeting.sides]

    def difference(self, meeting: Meeting) -> float:
        one, other = self._pair(meeting)
        doubt = (math.log(10) / 400) ** 2 * (one.rd**2 + other.rd**2)
        return (one.rating - other.rating) / math.sqrt(1 + 3 * doubt / math.pi**2)

    def update(self, meeting: Meeting) -> None:
        one, other = self._pair(meeting)
        when = datetime(1970, 1, 1) + timedelta(days=meeting.day)
        if meeting.signed == 0:
            one.tied(other, match_time=when)
        elif meeting.signed > 0:
            one.beat(other, match_time=when)
        else:
            other.beat(one, match_time=when)


PEERS: dict[str, tuple[str, Callable[[Manner], Online]]] = {
    "trueskill": ("trueskill", TrueSkill),
    "openskill": ("openskill", OpenSkill),
    "TrueSkill Through Time": ("trueskillthroughtime", ThroughTime),
    "riix Glicko": ("riix", RiixGlicko),
    "glicko2": ("glicko2", Glicko2Library),
    "elote Elo": ("elote", EloteElo),
    "elote Glicko": ("elote", EloteGlicko),
}
WITH_LINEUPS = ("trueskill", "openskill", "TrueSkill Through Time")
