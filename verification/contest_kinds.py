"""Made-up contests in which the level of a field matters: divisions, huge fields, many who come once; and contests
like those of programmers, with everything at once.

Strengths and performances are in units of the noise. Every kind says how entrants come, go, move and are chosen; the
truth is kept, so that forecasts can be held against those of who knows the strengths.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.contests import FINISHED, UNFINISHED, Contests, Slots

Array = NDArray[np.float64]
YEAR = 365.25


class Kind(NamedTuple):
    """How contests of one kind are played.

    ``size`` is the mean number of entrants of a contest and ``newcomers`` the part of them who are new; ``keenness``
    the spread of the logarithm of how often somebody comes, ``once`` the part of newcomers who never return.
    ``per_year`` contests a year. ``walk`` a root year and ``walk_played`` a contest taken part in; ``returns`` is the
    rate at which strengths return to the mean. Newcomers have mean ``entry`` and deviation ``spread``, and all of one
    contest share a deviation ``cohort``. ``divisions`` are entered from the lowest one and left by rating. ``tails``
    are degrees of freedom of a Student law of performances, ``bad`` the part of performances that are off. ``unlike``
    draws stronger or weaker entrants to each contest; who ``learns`` gains so much in all, most of it in the first ten
    contests; ``away`` is the part of the known who stay away for half a year at a time. A part ``unfinished`` of all
    entries does not finish, more often the stronger ones where ``tilt`` (in the logit, by a unit of strength) is
    positive and the weaker ones where it is negative; two entrants each share a car, which has a strength of deviation
    ``cars`` and fails more or less often, by ``fragile`` (the deviation of the logit).
    """

    size: int = 300
    newcomers: float = 0.15
    once: float = 0.3
    keenness: float = 1.0
    per_year: float = 40.0
    walk: float = 0.5
    walk_played: float = 0.0
    returns: float = 0.0
    entry: float = -0.5
    spread: float = 1.0
    cohort: float = 0.0
    divisions: int = 1
    tails: float = 0.0
    bad: float = 0.0
    unlike: float = 0.0
    learns: float = 0.0
    away: float = 0.0
    unfinished: float = 0.0
    tilt: float = 0.0
    fragile: float = 0.0
    cars: float = 0.0


KINDS = {
    "one series": Kind(),
    "huge fields": Kind(size=2500, newcomers=0.1),
    "many once": Kind(newcomers=0.4, once=0.7),
    "cohorts differ": Kind(newcomers=0.3, once=0.5, cohort=0.6),
    "divisions": Kind(divisions=3, newcomers=0.2, size=200),
    "walk by contest": Kind(walk=0.3, walk_played=0.15),
    "two a year": Kind(per_year=2.0, newcomers=0.1, keenness=0.5),
    "long tails": Kind(tails=3.0, walk=0.9),
    "bad days": Kind(bad=0.1, walk=0.9),
    "fields unlike": Kind(unlike=1.0, size=100),
    "they learn": Kind(learns=1.0, entry=-1.0, newcomers=0.2, away=0.5),
    "anybody retires": Kind(unfinished=0.3, newcomers=0.1, once=0.2),
    "the weak retire": Kind(unfinished=0.3, tilt=-0.6, newcomers=0.1, once=0.2),
    "the strong retire": Kind(unfinished=0.3, tilt=0.3, newcomers=0.1, once=0.2),
    "cars retire": Kind(unfinished=0.3, fragile=0.7, cars=0.7, newcomers=0.1, once=0.2),
}


class Made(NamedTuple):
    """Contests, and the true strength of every entry in it."""

    contests: Contests
    strength: Array


def make(kind: Kind, contests: int, seed: int = 1) -> Made:
    """Contests of a kind."""
    rng = np.random.default_rng(seed)
    strength, keen, seen, division = (np.empty(0) for _ in range(4))
    last = np.empty(0)
    parts: dict[str, list] = {name: [] for name in ("entrant", "place", "strength", "size", "day", "division", "ended")}
    shown_mean, fragile = np.empty(0), np.empty(0)
    for c in range(contests):
        day = c * YEAR / kind.per_year
        level = c % kind.divisions
        fresh = int(kind.size * (kind.newcomers if c >= kind.divisions else 1.0)) if level == kind.divisions - 1 else 0
        fresh = fresh if c >= kind.divisions else kind.size
        open_to = np.flatnonzero((keen > 0.0) & (division == level)) if strength.size else np.empty(0, int)
        if kind.away:  # two groups who come by turns, a quarter of a year each
            turn = int(day / YEAR * 4.0) % 2
            open_to = open_to[(open_to % 100 >= 100 * kind.away) | (open_to % 2 == turn)]
        weight = keen[open_to]
        if kind.unlike:
            weight = weight * np.exp(kind.unlike * rng.normal() * strength[open_to])
        wanted = min(kind.size - (fresh if level == kind.divisions - 1 else 0), open_to.size)
        chosen = rng.choice(open_to, wanted, replace=False, p=weight / weight.sum()) if wanted > 0 else np.empty(0, int)
        years = (day - last[chosen]) / YEAR
        fade = np.exp(-kind.returns * years)
        strength[chosen] = fade * strength[chosen] + rng.normal(size=chosen.size) * np.sqrt(
            kind.walk**2 * years + kind.walk_played**2
        )
        strength[chosen] += kind.learns * np.exp(-(seen[chosen] - 1.0) / 8.0) * (1.0 - math.exp(-1.0 / 8.0))
        begun = strength.size
        cohort = kind.cohort * rng.normal()
        new = kind.entry * (c >= kind.divisions) + cohort + kind.spread * rng.normal(size=fresh)
        if kind.cars:
            new += kind.cars * np.repeat(rng.normal(size=fresh), 2)[:fresh]
        if kind.fragile:
            fragile = np.append(fragile, kind.fragile * np.repeat(rng.normal(size=fresh), 2)[:fresh])
        strength = np.append(strength, new)
        keen = np.append(keen, np.exp(kind.keenness * rng.normal(size=fresh)) * (rng.random(fresh) >= kind.once))
        last, seen = np.append(last, np.full(fresh, day)), np.append(seen, np.zeros(fresh))
        shown_mean = np.append(shown_mean, np.zeros(fresh))
        division = np.append(division, np.full(fresh, float(level)))
        chosen = np.append(chosen, np.arange(begun, begun + fresh))
        if chosen.size < 2:  # of a division that is nearly empty
            continue
        last[chosen], seen[chosen] = day, seen[chosen] + 1
        noise = rng.normal(size=chosen.size)
        if kind.tails:
            noise = rng.standard_t(kind.tails, chosen.size) / math.sqrt(kind.tails / (kind.tails - 2.0))
        if kind.bad:
            off = rng.random(chosen.size) < kind.bad
            noise = np.where(off, -3.0 + 2.0 * noise, noise)
        shown = strength[chosen] + noise
        out = _unfinished(kind, strength[chosen], fragile[chosen] if kind.fragile else 0.0, rng)
        order = np.lexsort((-shown, out))
        own, out = chosen[order], np.sort(out)
        place = np.where(out, own.size - (out.sum() - 1.0) / 2.0, np.arange(1.0, own.size + 1))
        if kind.divisions > 1:
            shown_mean[chosen] += np.maximum(0.25, 1.0 / seen[chosen]) * (shown - shown_mean[chosen])
            edges = np.array([1.0, 0.0])[: kind.divisions - 1]
            division[chosen] = (shown_mean[chosen][:, None] < edges).sum(axis=1)
        keen[rng.random(keen.size) < 0.25 * (YEAR / kind.per_year) / YEAR] = 0.0  # some leave for good
        for name, value in zip(parts, (own, place, strength[own], own.size, day, level, out)):
            parts[name].append(value)
    return _table(parts)


def _unfinished(kind: Kind, strength: Array, fragile: Array | float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Who does not finish."""
    if not kind.unfinished:
        return np.zeros(strength.size, bool)
    usual = math.log(kind.unfinished / (1.0 - kind.unfinished))
    logit = usual + kind.tilt * (strength - strength.mean()) + fragile
    return rng.random(strength.size) < 1.0 / (1.0 + np.exp(-logit))


class Programmers(NamedTuple):
    """Contests like those of programmers: two divisions entered by a public rating and contests for ``together``.

    A contest of the upper division has about ``upper`` entrants, one of the lower ``lower``, of whom ``arrive`` are
    new, all growing by ``growth`` a year. Newcomers gain ``learns ± gains`` in all, by contests, beside walks by the
    year and by the contest; a part comes once, and others leave the sooner the worse they did. Noise differs between
    players and between contests (deviations of its logarithm), has a Student law and ``bad`` days.
    """

    contests: int = 200
    per_year: float = 50.0
    lower: int = 100
    upper: int = 60
    arrive: int = 25
    growth: float = 0.3
    once: float = 0.4
    keenness: float = 1.2
    entry: float = -1.0
    learns: float = 0.8
    gains: float = 0.6
    pace: float = 10.0
    walk: float = 0.4
    walk_played: float = 0.1
    unsteady: float = 0.25
    uneven: float = 0.2
    tails: float = 5.0
    bad: float = 0.05
    leave: float = 0.06
    pleased: float = 0.5
    threshold: float = 0.3
    together: float = 0.2


def make_programmers(kind: Programmers, seed: int = 1) -> Made:
    """Contests like those of programmers."""
    rng = np.random.default_rng(seed)
    now = {name: np.empty(0) for name in ("x", "keen", "last", "seen", "rating", "gain", "steady", "here")}
    parts: dict[str, list] = {name: [] for name in ("entrant", "place", "strength", "size", "day", "division")}
    for c in range(kind.contests):
        day, which = round(c * YEAR / kind.per_year), rng.random()
        grown = (1.0 + kind.growth) ** (day / YEAR)
        division = 0 if which < kind.together else 1 if which < 0.5 + kind.together / 2 else 2
        new = 0 if division == 1 else int(kind.arrive * grown * (5 if c < 3 else 1))
        size = grown * (kind.upper * (division != 2) + kind.lower * (division != 1))
        above = now["rating"] >= kind.threshold
        open_to = np.flatnonzero((now["here"] > 0) & (above if division == 1 else ~above if division == 2 else True))
        keen = now["keen"][open_to]
        own = open_to[rng.random(open_to.size) < np.clip(keen * size / max(keen.sum(), 1e-9), 0.0, 0.9)]
        years, seen = (day - now["last"][own]) / YEAR, now["seen"][own]
        now["x"][own] += rng.normal(size=own.size) * np.sqrt(kind.walk**2 * years + kind.walk_played**2)
        now["x"][own] += now["gain"][own] * (np.exp(-(seen - 1.0) / kind.pace) - np.exp(-seen / kind.pace))
        begun = now["x"].size
        added = {
            "x": kind.entry * (c >= 3) + rng.normal(size=new), "keen": np.exp(kind.keenness * rng.normal(size=new)),
            "last": np.full(new, day), "seen": np.zeros(new), "rating": np.full(new, -0.5),
            "gain": kind.learns + kind.gains * rng.normal(size=new),
            "steady": np.exp(kind.unsteady * rng.normal(size=new)), "here": 1.0 * (rng.random(new) >= kind.once),
        }  # fmt: skip
        now = {name: np.append(held, added[name]) for name, held in now.items()}
        own = np.append(own, np.arange(begun, begun + new))
        if own.size < 5:
            continue
        noise = rng.standard_t(kind.tails, own.size) / math.sqrt(kind.tails / (kind.tails - 2.0))
        noise = np.where(rng.random(own.size) < kind.bad, 1.5 * noise - 2.5, noise)
        shown = now["x"][own] + now["steady"][own] * math.exp(kind.uneven * rng.normal()) * noise
        now["last"][own], now["seen"][own] = day, now["seen"][own] + 1
        surprise = shown - now["rating"][own]
        now["rating"][own] += np.maximum(0.2, 1.0 / (now["seen"][own] + 1.0)) * surprise
        now["here"][own] *= rng.random(own.size) >= kind.leave * np.exp(-kind.pleased * surprise)
        own = own[np.argsort(-shown)]
        for name, value in zip(parts, (own, np.arange(1.0, own.size + 1), now["x"][own], own.size, day, division)):
            parts[name].append(value)
    return _table(parts)


def _endings(parts: dict[str, list], entries: int) -> NDArray[np.int8]:
    """How every entry ended: all finished where nobody says otherwise."""
    if "ended" not in parts:
        return np.zeros(entries, np.int8)
    return np.where(np.concatenate(parts["ended"]), UNFINISHED, FINISHED).astype(np.int8)


def _table(parts: dict[str, list]) -> Made:
    entrant = np.concatenate(parts["entrant"]).astype(np.int32)
    count, sizes = len(parts["size"]), np.array(parts["size"])
    names = tuple(f"P{k}" for k in range(int(entrant.max()) + 1))
    found = Contests(
        np.datetime64("2000-01-01") + np.array(parts["day"]).astype("timedelta64[D]"),
        np.append(0, np.cumsum(sizes)), entrant, names, np.concatenate(parts["place"]),
        _endings(parts, entrant.size), {"entrant": Slots(entrant[:, None], names)}, np.ones(count),
        np.arange(1, entrant.size + 1), tuple(str(k + 1) for k in range(count)),
    )  # fmt: skip
    return Made(found, np.concatenate(parts["strength"]))
