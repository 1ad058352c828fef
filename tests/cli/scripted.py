"""A rater whose answers are written down, so that what a command prints can be held against them."""

import datetime as dt
import types
from typing import ClassVar

import numpy as np
import polars as pl

from kinelo.forecasts import Forecast
from kinelo.forecasts.places import ContestForecast

CHANCES = {
    ("Ash", "Bix", False): (0.62, 0.23, 0.15),
    ("Bix", "Ash", False): (0.31, 0.27, 0.42),
    ("Ash", "Bix", True): (0.53, 0.26, 0.21),
    ("Cay", "Ash", False): (0.11, 0.19, 0.70),
    ("Ash", "Cay", False): (0.80, 0.13, 0.07),
    ("Bix", "Cay", False): (0.55, 0.25, 0.20),
    ("Cay", "Bix", False): (0.36, 0.30, 0.34),
}
"""Home win, draw, away win, by home side, away side, and whether nobody is at home."""

RATINGS = pl.DataFrame(
    {
        "name": ["Bix", "Ash", "Cay"],
        "rating": [1650.25, 1612.5, 1404.75],
        "uncertainty": [90.5, 21.25, 33.0],
        "matches": [12, 31, 1204],
        "last_played": [dt.date(2024, 3, 2), dt.date(2024, 3, 9), dt.date(2021, 1, 1)],
    }
)


class Scripted:
    """Says CHANCES and RATINGS; what it has seen changes nothing."""

    def fit(self, matches):
        return self

    update = fit

    def one_step_ahead(self, matches):
        return self.predict(matches)

    def predict(self, matches):
        names = matches.teams
        rows = [
            CHANCES.get((names[h], names[a], bool(n)), (0.4, 0.3, 0.3))
            for h, a, n in zip(matches.home, matches.away, matches.neutral)
        ]
        unknown = {names[code] for code in (*matches.home, *matches.away)} - {"Ash", "Bix", "Cay"}
        return Forecast(np.array(rows), tuple(sorted(unknown)))

    @property
    def ratings_(self):
        return RATINGS


class Counting(Scripted):
    """Gives a home win the chance n/(n + 1) after n matches: how much it has seen shows in what it says."""

    seen = 0

    def fit(self, matches):
        self.seen = len(matches)
        return self

    def update(self, matches):
        self.seen += len(matches)
        return self

    def predict(self, matches):
        p = self.seen / (self.seen + 1.0)
        return Forecast(np.tile([p, 0.0, 1 - p], (len(matches), 1)))


class Obedient:
    """Takes whatever a rater can be asked for, of matches and of contests, and remembers it in ``asked``."""

    asked: ClassVar[list[dict]] = []

    def __init__(self):
        self.start = None
        self.conditions = self.noise_by = self.covariates = ()

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in ("start", "conditions", "noise_by", "covariates")}

    def set_params(self, **params):
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, played):
        self.played = played
        columns = {*getattr(played, "conditions", ()), *getattr(played, "kinds", ())}
        told = {"noun": played.kind.noun, "names": set(played.present), "columns": columns}
        self.asked.append({**self.get_params(), **told})
        return self

    def update(self, played):
        return self

    def predict(self, played):
        if played.kind.two_sided:
            return Forecast(np.tile([0.5, 0.2, 0.3], (len(played), 1)))
        return ContestForecast(played, np.zeros(played.entrant.size), np.ones(played.entrant.size))

    one_step_ahead = predict

    @property
    def ratings_(self):
        return pl.DataFrame({"name": sorted(self.played.present), "rating": 1500.0})

    # What commands ask of a rater that is fitted: who is named is remembered, and one answer serves for all.

    @property
    def effects_(self):
        return pl.DataFrame({"name": self.covariates, "effect": 12.5, "standard_error": 2.5})

    def preview(self, *names, **said):
        return self._told(names, said)

    explain = explain_last = balance = preview

    def fair_value(self, *names, **said):
        self._told(names, said)
        return 0.5 if self.played.kind.two_sided else dict.fromkeys(names[0], 0.5)

    def _told(self, names, said):
        self.asked[-1]["typed"] = [*names, said]
        return types.SimpleNamespace(to_dict=dict, unknown=())
