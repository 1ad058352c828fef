"""Forecasters that use margins or scores: Elo ratings in their plainest form, and Dixon and Coles refitted.

The Elo ratings are written out here, because no library has them. One follows FiveThirtyEight's rule for the step,
``K log(1 + |m|) 2.2 / (2.2 + 0.001 d)`` with ``d`` the winner's lead. The other moves the expected margin,
``r ← r ± k (y − d)`` with ``y = ± log(1 + |m|)``, of a side or of each of its starters, whose mean its strength is; the
step of a newcomer falls from ``k (1 + 2 s)`` to ``k``. ``k`` and ``s`` are tuned as the libraries' pace and spread are.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import polars as pl

import kinelo as kn
from forecast_peers import Array, Manner, Meeting, Online, Peer


class FiveThirtyEight:
    def __init__(self, manner: Manner) -> None:
        self.k, self.home, self.known = 10.0 * manner.pace, 0.0, {}

    def difference(self, meeting: Meeting) -> float:
        one, other = (self.known.get(side[0], 1500.0) for side in meeting.sides)
        return one - other + (0.0 if meeting.neutral else self.home)

    def update(self, meeting: Meeting) -> None:
        d = self.difference(meeting)
        size = 1.0 if math.isnan(meeting.margin) else math.log1p(abs(meeting.margin) or 1.0)
        damped = 2.2 / (2.2 + 0.001 * d * meeting.signed)
        surprise = (1 + meeting.signed) / 2 - 1 / (1 + 10 ** (-d / 400))
        step = self.k * size * damped * surprise
        for sign, side in zip((1, -1), meeting.sides):
            self.known[side[0]] = self.known.get(side[0], 1500.0) + sign * step
        self.home += 0.0 if meeting.neutral else 0.02 * step


class ExpectedMargin:
    def __init__(self, manner: Manner, pace: float = 0.03) -> None:
        self.k, self.early, self.home = pace * manner.pace, 10.0 * manner.spread, 0.0
        self.strength: dict[str, float] = {}
        self.games: dict[str, int] = {}

    def difference(self, meeting: Meeting) -> float:
        one, other = (sum(self.strength.get(n, 0.0) for n in side) / len(side) for side in meeting.sides)
        return one - other + (0.0 if meeting.neutral else self.home)

    def update(self, meeting: Meeting) -> None:
        size = abs(meeting.signed if math.isnan(meeting.margin) else meeting.margin)
        surprise = meeting.signed * math.log1p(size) - self.difference(meeting)
        for sign, side in zip((1, -1), meeting.sides):
            for name in side:
                n = self.games.get(name, 0)
                step = self.k * (1 + self.early / (n + 5))
                self.strength[name] = self.strength.get(name, 0.0) + sign * step * surprise
                self.games[name] = n + 1
        self.home += 0.0 if meeting.neutral else 0.001 * surprise


def starter_margins(manner: Manner) -> Online:
    return ExpectedMargin(manner, 0.06)


MARGIN_PEERS = {
    "Elo, FiveThirtyEight's margins": partial(Peer, FiveThirtyEight),
    "Elo of expected margins": partial(Peer, ExpectedMargin),
    "Elo of expected margins, mean of starters": partial(Peer, starter_margins, lineups=True),
}


class DixonColes:
    """penaltyblog's model, fitted again every so many days on the years before, older matches weighing less.

    ``scores`` holds home and away goals by row of the file. The decay is penaltyblog's 0.0018 a day times the best of
    two factors on the last year of the training span, where more matches came before it than in it. Sides that the
    years before do not know get the frequencies. Takes part where penaltyblog is installed; the bench extra lacks
    it, because it brings a score of packages that forecasts do not need.
    """

    _lineup_knowledge = "not used"

    def __init__(self, scores: pl.DataFrame, *, years: float, every: int) -> None:
        self.goals = scores.to_numpy()
        self.years, self.every, self.xi = years, every, 0.0018
        self.past: kn.matches.Matches | None = None

    def fit(self, matches: kn.matches.Matches) -> DixonColes:
        last_year = matches.date[-1] - np.timedelta64(365, "D")
        begun, scored = matches.before(last_year), matches.since(last_year)
        if len(begun) > len(scored):
            losses = {}
            for factor in (0.5, 1.0):
                self.past, self.xi = begun, 0.0018 * factor
                forecast = self._forecast(scored, every=self.every * 2)
                losses[self.xi] = -np.log(np.maximum(_of_what_happened(forecast, scored), 1e-12)).mean()
            self.xi = min(losses, key=lambda xi: losses[xi])
        self.past = matches
        return self

    def one_step_ahead(self, matches: kn.matches.Matches) -> kn.forecasts.Forecast:
        return kn.forecasts.Forecast.of(*self._forecast(matches, self.every).T)

    def _forecast(self, matches: kn.matches.Matches, every: int) -> Array:
        from penaltyblog.models import DixonColesGoalModel

        assert self.past is not None
        past = self.past
        told = np.empty((len(matches), 3))
        known = _table(past)
        coming = _table(matches)
        start = int(matches.day[0])
        for first in range(start, int(matches.day[-1]) + 1, every):
            due = np.flatnonzero((coming["day"] >= first) & (coming["day"] < first + every))
            if not due.size:
                continue
            seen = {key: np.concatenate([known[key], coming[key][coming["day"] < first]]) for key in known}
            recent = np.flatnonzero(seen["day"] >= first - 365.25 * self.years)
            rows = {key: value[recent] for key, value in seen.items()}
            goals = self.goals[rows["row"] - 1]
            model = DixonColesGoalModel(
                goals[:, 0].astype(int), goals[:, 1].astype(int), rows["home"], rows["away"],
                np.exp(-self.xi * (first - rows["day"])), rows["neutral"].astype(int),
            )  # fmt: skip
            model.fit()
            often = np.array([np.mean(rows["signed"] == s) for s in (1, 0, -1)])
            met = set(rows["home"]) | set(rows["away"])
            for k in due:
                pair = coming["home"][k], coming["away"][k]
                if pair[0] in met and pair[1] in met:
                    told[k] = model.predict(*pair, neutral_venue=bool(coming["neutral"][k])).home_draw_away
                else:
                    told[k] = often
        told = np.maximum(told, 1e-4)
        return told / told.sum(axis=1, keepdims=True)


def _table(matches: kn.matches.Matches) -> dict[str, np.ndarray]:
    names = np.array(matches.teams, dtype=object)
    return {
        "row": matches.row,
        "home": names[matches.home],
        "away": names[matches.away],
        "day": matches.day,
        "neutral": matches.neutral,
        "signed": matches.signed,
    }


def _of_what_happened(told: Array, matches: kn.matches.Matches) -> Array:
    return told[np.arange(len(matches)), np.round(1 - matches.signed).astype(int)]
