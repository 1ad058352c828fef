"""Plain Elo on contests of many entrants: ``R_a += K/(k − 1) · Σ_b (S_ab − E_ab)`` over the other ``k − 1`` of one.

``S_ab`` is 1, ½ or 0 by the order of places, ``E_ab = 1/(1 + 10^{−(R_a − R_b)/400})``; two entrants are a match. Who
finished counts, and who did not is behind. Forecasts are those of Plackett and Luce, of which ``E_ab`` is the chance of
the order of two.

The variance ``v`` of a rating follows the same steps, linearised. With ``γ = K/2``, ``b = 2E − 1`` and its slope
``b'``: ``v_a ← (1 − γ ⟨b'⟩)² v_a + γ²/(k−1)² [Σ_b b'_ab² v_b + ⅔ Σ_b n_ab + ⅓ (Σ_b √n_ab)²]``, ``n = 1 − b²``:
results of one entrant against two others are correlated by 1/3 among equals, so that ``k`` of them make
``(k + 1)/3(k − 1)`` of the noise of a match.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.places import GUMBEL_DEVIATION, ContestForecast
from kinelo.matches.contests import Contests
from kinelo.play.formula import kernel


class ContestResults(NamedTuple):
    """Contests as the kernel reads them: contest ``c`` has the entries ``first[c]:first[c + 1]``, each with a place and
    the place of its entrant among the names (entries), a day and a weight (contests).
    """

    first: NDArray[np.int64]
    place: NDArray[np.float64]
    entrant: NDArray[np.int64]
    day: NDArray[np.int64]
    weight: NDArray[np.float64]


@kernel
def play_contests(contests, gamma, scale, s, before):
    """Rate contests in order; ``before`` (entries) receives the rating of each entry before its contest.

    ``s`` holds rating, variance, games and last of names.
    """
    first, place, entrant, day, weight = contests
    pace = math.log(10.0) / scale
    doubt = np.empty(before.size)
    for c in range(first.size - 1):
        lo, hi = first[c], first[c + 1]
        for a in range(lo, hi):
            before[a], doubt[a] = s.rating[entrant[a]], s.variance[entrant[a]]
        for a in range(lo, hi):
            surprise = slopes = others = noise = roots = 0.0
            for other in range(lo, hi):
                if other != a:
                    b = 2.0 / (1.0 + math.exp(-pace * (before[a] - before[other]))) - 1.0
                    S = 1.0 if place[a] < place[other] else -1.0 if place[a] > place[other] else 0.0
                    slope = 0.5 * pace * (1.0 - b * b)
                    surprise, slopes, others = surprise + S - b, slopes + slope, others + slope * slope * doubt[other]
                    noise, roots = noise + 1.0 - b * b, roots + math.sqrt(1.0 - b * b)
            step, name = weight[c] * gamma / (hi - lo - 1), entrant[a]
            s.rating[name] += step * surprise
            noise = (2.0 * noise + roots * roots) / 3.0
            s.variance[name] = (1.0 - step * slopes) ** 2 * doubt[a] + step * step * (others + noise)
            s.games[name] += 1
            s.last[name] = max(day[c], s.last[name])


def rate_contests(rater: Any, contests: Contests) -> ContestForecast:
    """Forecast each contest from the ratings before it, and use it."""
    if rater.step is None:
        raise InputError("Contests are rated with one K for all: give TeamElo.classic(k=…) a number, and no k_of.")
    if not len(contests):
        return forecast_contests(rater, contests)
    state = rater._begun()
    entrant = _entrants(state, contests)
    before = np.empty(entrant.size)
    unknown = tuple(contests.entrants[code] for code in _unmet(state, contests))
    results = ContestResults(contests.first, contests.place, entrant, contests.day, contests.weight)
    play_contests(results, rater.step, rater.scale, state.known, before)
    return _forecast(rater, contests, before, unknown)


def forecast_contests(rater: Any, contests: Contests) -> ContestForecast:
    """Forecast contests from the ratings as they stand; names never met begin at the start."""
    state = rater._begun()
    index = state.name_index.index
    rating = np.array([
        state.known.rating[index[name]] if name in index else rater.initial for name in contests.entrants
    ])  # fmt: skip
    unknown = tuple(contests.entrants[code] for code in _unmet(state, contests))
    return _forecast(rater, contests, rating[contests.entrant], unknown)


def _unmet(state: Any, contests: Contests) -> list[int]:
    """Codes of entrants who have no rating yet."""
    index, games = state.name_index.index, state.known.games
    places = {code: index.get(contests.entrants[code]) for code in np.unique(contests.entrant).tolist()}
    return [code for code, place in places.items() if place is None or games[place] == 0]


def _entrants(state: Any, contests: Contests) -> NDArray[np.int64]:
    places = state.name_index.places(contests.entrants)
    state.grow()
    state.arrive(int(contests.day[0]))
    state.note_days(contests.day)
    return places[contests.entrant].astype(np.int64)


def _forecast(rater: Any, contests: Contests, mean: NDArray, unknown: tuple[str, ...] = ()) -> ContestForecast:
    deviation = np.full(mean.size, GUMBEL_DEVIATION * rater.scale / math.log(10.0))
    return ContestForecast(contests, mean, deviation, unknown, "gumbel")
