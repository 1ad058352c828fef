"""Plain Elo on contests of many entrants: ``R_a += K/(k − 1) · Σ_b (S_ab − E_ab)`` over the other ``k − 1`` of one.

``S_ab`` is 1, ½ or 0 by the order of places, ``E_ab = 1/(1 + 10^{−(R_a − R_b)/400})``; two entrants are a match. Who
finished counts, and who did not is behind. Forecasts are those of Plackett and Luce, of which ``E_ab`` is the chance of
the order of two.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.places import GUMBEL_DEVIATION, ContestForecast
from kinelo.matches.contests import Contests
from kinelo.play.formula import kernel


@kernel
def play_contests(first, place, entrant, day, weight, k, scale, rating, games, last, before):
    """Rate contests in order; ``before`` (entries) receives the rating of each entry before its contest.

    Contest ``c`` has the entries ``first[c]:first[c + 1]``; ``rating``, ``games`` and ``last`` are (names).
    """
    pace = math.log(10.0) / scale
    for c in range(first.size - 1):
        lo, hi = first[c], first[c + 1]
        for a in range(lo, hi):
            before[a] = rating[entrant[a]]
        for a in range(lo, hi):
            total = 0.0
            for b in range(lo, hi):
                if b != a:
                    scored = 1.0 if place[a] < place[b] else 0.0 if place[a] > place[b] else 0.5
                    total += scored - 1.0 / (1.0 + math.exp(-pace * (before[a] - before[b])))
            rating[entrant[a]] += weight[c] * k * total / (hi - lo - 1)
            games[entrant[a]] += 1
            last[entrant[a]] = max(day[c], last[entrant[a]])


def rate_contests(rater: Any, contests: Contests) -> ContestForecast:
    """Forecast each contest from the ratings before it, and use it."""
    if rater.step is None:
        raise InputError("Contests are rated with one K for all: give TeamElo.classic(k=…) a number, and no k_of.")
    if len(contests) and np.isnan(contests.place).any():
        raise InputError("A contest without places cannot change a rating; forecast it with predict.")
    state = rater._begun()
    entrant = _entrants(state, contests)
    known, before = state.known, np.empty(entrant.size)
    play_contests(
        contests.first, contests.place, entrant, contests.day, contests.weight, float(rater.k), rater.scale,
        known.rating, known.games, known.last, before,
    )  # fmt: skip
    return _forecast(rater, contests, before)


def forecast_contests(rater: Any, contests: Contests) -> ContestForecast:
    """Forecast contests from the ratings as they stand; names never met begin at the start."""
    state = rater._begun()
    index = state.name_index.index
    rating = np.array([
        state.known.rating[index[name]] if name in index else rater.initial for name in contests.entrants
    ])  # fmt: skip
    unknown = tuple(
        contests.entrants[code] for code in np.unique(contests.entrant) if contests.entrants[code] not in index
    )
    return _forecast(rater, contests, rating[contests.entrant], unknown)


def _entrants(state: Any, contests: Contests) -> NDArray[np.int64]:
    places = state.name_index.places(contests.entrants)
    state.grow()
    state.note_days(contests.day)
    return places[contests.entrant].astype(np.int64)


def _forecast(rater: Any, contests: Contests, mean: NDArray, unknown: tuple[str, ...] = ()) -> ContestForecast:
    deviation = np.full(mean.size, GUMBEL_DEVIATION * rater.scale / math.log(10.0))
    return ContestForecast(contests, mean, deviation, unknown, "gumbel")
