"""Made-up contests to try things on: strengths that stand still or move, teams, cars, newcomers, fields of any size."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np

from kinelo.errors import InputError

if TYPE_CHECKING:
    import polars as pl

WEEKS = 52.0


def sample_contests(
    contests: int = 200,
    entrants: int = 40,
    size: int | tuple[int, int] = 10,
    *,
    walk: float = 0.0,
    cars: int = 0,
    team: int = 1,
    newcomers: float = 0.0,
    levels: int = 0,
    seed: int = 1,
) -> pl.DataFrame:
    """A long table of weekly contests between made-up entrants, as :func:`kinelo.read_contests` takes it.

    Strengths are normal with standard deviation 1, and each performance has noise of the same size.

    Parameters
    ----------
    contests, entrants
        How many contests, and how many entrants are around at a time.
    size
        Entrants of each contest, or the least and the most of them.
    walk
        Standard deviation by which a strength moves in a year.
    cars
        How many cars there are; each entrant then drives one, for a season of 20 contests.
    team
        Players of each entrant, drawn anew for every contest.
    newcomers
        Share of the entrants who are replaced in a year, by weaker ones.
    levels
        How many different places there are: all between them tie. 0 is no tie.
    seed
        Of the random numbers.

    >>> sample_contests(contests=2, entrants=5, size=3, seed=1).select("contest", "entrant", "place").rows()[:3]
    [(1, 'P4', 1), (1, 'P2', 2), (1, 'P0', 3)]
    """
    import polars as pl

    least, most = _checked(contests, entrants, size, team, seed)
    for label, value in (("walk", walk), ("newcomers", newcomers), ("cars", cars), ("levels", levels)):
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e6:
            raise InputError(f"{label}={value!r:.60} is not a number of at least 0.")
    if not 2 <= least <= most or most * team > entrants:
        raise InputError(f"size={size!r} with {team} players each needs from 2 to {entrants} of the entrants.")
    rng = np.random.default_rng(seed)
    strength, name = rng.normal(size=entrants), [f"P{k}" for k in range(entrants)]
    car_strength, seat = rng.normal(size=max(cars, 1)), np.zeros(entrants, int)
    rows: dict[str, list] = {"date": [], "contest": [], "entrant": []}
    rows |= {"car": []} if cars else {}
    rows |= {f"player_{j + 1}": [] for j in range(team)} if team > 1 else {}
    rows["place"] = []
    known = entrants
    for contest in range(contests):
        strength += walk / np.sqrt(WEEKS) * rng.normal(size=entrants)
        if cars and contest % 20 == 0:
            seat = rng.permutation(entrants) % cars
            car_strength = 0.7 * car_strength + np.sqrt(0.51) * rng.normal(size=cars)
        for k in np.flatnonzero(rng.random(entrants) < newcomers / WEEKS):
            name[k], strength[k], known = f"P{known}", strength.mean() - 0.5 + rng.normal(), known + 1
        k = int(rng.integers(least, most + 1))
        chosen = rng.permutation(entrants)[: k * team].reshape(k, team)
        shown = strength[chosen].mean(axis=1) * np.sqrt(team) + rng.normal(size=k)
        shown = shown + car_strength[seat[chosen[:, 0]]] if cars else shown
        order = np.argsort(-shown)
        place = np.arange(1, k + 1) if not levels else 1 + (np.arange(k) * min(levels, k)) // k
        day = date(2020, 1, 6) + timedelta(weeks=contest)
        for a, where in zip(order, place.tolist()):
            members = [name[m] for m in chosen[a]]
            rows["date"].append(day)
            rows["contest"].append(contest + 1)
            rows["entrant"].append(members[0] if team == 1 else f"T{contest + 1}-{a + 1}")
            rows["place"].append(where)
            if cars:
                rows["car"].append(f"C{seat[chosen[a, 0]]}")
            for j in range(team if team > 1 else 0):
                rows[f"player_{j + 1}"].append(members[j])
    return pl.DataFrame(rows)


def _checked(contests: object, entrants: object, size: object, team: object, seed: object) -> tuple[int, int]:
    """Least and largest field, where all of these are whole numbers."""
    sizes = size if isinstance(size, tuple) and len(size) == 2 else (size, size)
    for label, value in (("contests", contests), ("entrants", entrants), ("team", team), ("seed", seed),
                         ("size", sizes[0]), ("size", sizes[1])):  # fmt: skip
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 0 <= value < 2**31:
            raise InputError(f"{label}={value!r:.60} is not a whole number of at least 0.")
    return sizes  # type: ignore[return-value]
