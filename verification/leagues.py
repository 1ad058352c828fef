"""Leagues of seventeen kinds whose truth is known, for studies of which K they need; compiled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

import kinelo as kn

NU = math.log(10.0) / 800.0
RANDOM, UNEVEN, ALIKE, KNOCK_OUT, DIVISIONS = range(5)
FIRST = np.datetime64("1990-01-01")


class Kind(NamedTuple):
    """How a league is played: sizes in points, rates per match of a side, breaks between seasons."""

    sides: int = 24
    rounds: int = 340
    pairing: int = RANDOM
    spread: float = 120.0
    walk: float = 3.0
    return_rate: float = 0.0
    rounds_of_season: int = 34
    season_walk: float = 0.0
    turnover: float = 0.0
    newcomer_level: float = 0.0
    jump_chance: float = 0.0
    jump: float = 0.0
    form: float = 0.0
    form_rate: float = 0.0
    conditions: float = 0.0
    home: float = 40.0
    home_end: float = 40.0
    own_home: float = 0.0
    kappa: float = 0.5
    days_between: float = 4.0


KINDS: dict[str, Kind] = {
    "slow walk": Kind(walk=2.0),
    "walk": Kind(walk=6.0),
    "fast walk": Kind(walk=15.0),
    "returning form": Kind(spread=100.0, walk=8.0, return_rate=0.01),
    "fast form": Kind(walk=2.0, form=80.0, form_rate=0.15),
    "seasons": Kind(walk=1.0, season_walk=60.0),
    "newcomers every season": Kind(walk=3.0, season_walk=20.0, turnover=0.15),
    "many newcomers, weaker": Kind(sides=40, rounds=200, walk=3.0, turnover=0.3, newcomer_level=-120.0, spread=150.0),
    "knock-outs": Kind(
        sides=64, rounds=420, pairing=KNOCK_OUT, walk=5.0, spread=150.0, kappa=0.0, home=0.0, home_end=0.0,
    ),
    "knock-outs with newcomers": Kind(
        sides=96, rounds=520, pairing=KNOCK_OUT, walk=4.0, spread=150.0, turnover=0.2, newcomer_level=-60.0, kappa=0.0,
        home=0.0, home_end=0.0, rounds_of_season=40,
    ),
    "uneven activity": Kind(sides=60, rounds=150, pairing=UNEVEN, walk=5.0),
    "many draws": Kind(walk=4.0, kappa=2.0, home=0.0, home_end=0.0),
    "jumps": Kind(walk=1.0, jump_chance=0.02, jump=120.0),
    "conditions": Kind(walk=4.0, conditions=70.0),
    "own home advantage": Kind(walk=4.0, own_home=50.0),
    "home advantage falls": Kind(walk=4.0, home=110.0, home_end=10.0),
    "like meets like": Kind(sides=40, rounds=200, pairing=ALIKE, spread=220.0, walk=4.0),
}  # fmt: skip


@dataclass(frozen=True)
class League:
    """Matches of a league, and the true difference of strengths behind each, home advantage included."""

    matches: kn.matches.Matches
    gap: np.ndarray


def make(kind: Kind, seed: int) -> League:
    """Play a league of this kind."""
    most = kind.rounds * max(kind.sides // 2, 32)
    day, home, away, result, gap, neutral = (np.empty(most) for _ in range(6))
    count = _play(kind, np.random.default_rng(seed), day, home, away, result, gap, neutral)
    part = slice(0, count)
    names = np.array([f"s{n}" for n in range(int(max(home[part].max(), away[part].max())) + 1)])
    table = {
        "date": FIRST + day[part].astype(int), "home": names[home[part].astype(int)],
        "away": names[away[part].astype(int)], "result": result[part], "neutral": neutral[part] > 0,
    }  # fmt: skip
    return League(kn.read_matches(table), gap[part].copy())


@njit(cache=True)
def _pair(kind, rng, theta, activity, order):
    """Who meets whom: sides in pairs one after the other; returns how many play."""
    n = theta.size
    if kind.pairing == ALIKE:
        order[:] = np.argsort(theta + 60.0 * rng.standard_normal(n))
        # Swap within pairs at random, so that the home side is not always the weaker.
        for place in range(0, n - 1, 2):
            if rng.random() < 0.5:
                order[place], order[place + 1] = order[place + 1], order[place]
        return n
    if kind.pairing == UNEVEN:
        order[:] = np.argsort(-np.log(rng.random(n)) / activity)
        return n // 2
    order[:] = rng.permutation(n)
    return n


@njit(cache=True)
def _play(kind, rng, day, home, away, result, gap, neutral):
    n = kind.sides
    theta = kind.spread * rng.standard_normal(n)
    form = kind.form * rng.standard_normal(n)
    surface = kind.conditions * rng.standard_normal((n, 3))
    own = kind.own_home * rng.standard_normal(n)
    activity = np.exp(1.2 * rng.standard_normal(n))
    name = np.arange(n)
    fresh = n
    order = np.arange(n)
    nu = NU * (2.0 + kind.kappa) / 2.0
    count = 0
    when = 0.0
    playing = 0
    for turn in range(kind.rounds):
        if kind.pairing == KNOCK_OUT:
            if playing < 2:
                # A tournament of 32, better sides entering more often.
                order[:] = np.argsort(-(theta / kind.spread + 1.5 * rng.standard_normal(n)))
                order[:32] = order[:32][rng.permutation(32)]
                playing = 32
        else:
            playing = _pair(kind, rng, theta, activity, order)
        level = turn % 3
        h = kind.home + (kind.home_end - kind.home) * turn / kind.rounds
        winners = 0
        for place in range(0, playing - 1, 2):
            i, j = order[place], order[place + 1]
            z = theta[i] + form[i] + surface[i, level] - theta[j] - form[j] - surface[j, level]
            own_ground = h + own[i] if kind.pairing != KNOCK_OUT else 0.0
            e = math.exp(nu * (z + own_ground))
            u = rng.random() * (e + 1.0 / e + kind.kappa)
            won = 1.0 if u < e else (0.5 if u < e + kind.kappa else 0.0)
            day[count], home[count], away[count], result[count], gap[count] = (
                when,
                name[i],
                name[j],
                won,
                z + own_ground,
            )
            neutral[count] = 1.0 if kind.pairing == KNOCK_OUT else 0.0
            count += 1
            if kind.pairing == KNOCK_OUT:
                order[winners] = i if won > 0.5 else j
                winners += 1
            for s in (i, j):
                theta[s] = theta[s] * math.exp(-kind.return_rate) + kind.walk * rng.standard_normal()
                if rng.random() < kind.jump_chance:
                    theta[s] += kind.jump * rng.standard_normal()
                f = math.exp(-kind.form_rate)
                form[s] = f * form[s] + kind.form * math.sqrt(1.0 - f * f) * rng.standard_normal()
        if kind.pairing == KNOCK_OUT:
            playing = winners
        when += kind.days_between
        if (turn + 1) % kind.rounds_of_season == 0:
            when += 90.0
            for s in range(n):
                theta[s] += kind.season_walk * rng.standard_normal()
                if rng.random() < kind.turnover:
                    theta[s] = kind.newcomer_level + kind.spread * rng.standard_normal()
                    form[s] = kind.form * rng.standard_normal()
                    name[s] = fresh
                    fresh += 1
    return count


@njit(cache=True)
def elo_losses(home, away, S, at_home, ks, kappa, sides):
    """Log-loss of each match (columns) under plain Elo at every K (rows), written apart from Kinelo's own."""
    out = np.empty((ks.size, home.size))
    nu = NU * (2.0 + kappa) / 2.0
    for q in range(ks.size):
        R = np.zeros(sides)
        for k in range(home.size):
            i, j = home[k], away[k]
            z = R[i] - R[j] + at_home[k]
            e = math.exp(nu * z)
            D = e + 1.0 / e + kappa
            p = e / D if S[k] > 0.0 else (1.0 / (e * D) if S[k] < 0.0 else kappa / D)
            out[q, k] = -math.log(p)
            change = 0.5 * ks[q] * (S[k] - math.tanh(NU * z))
            R[i] += change
            R[j] -= change
    return out


@njit(cache=True)
def play_again(gap, kappa, rng, S):
    """New results between the same strengths."""
    nu = NU * (2.0 + kappa) / 2.0
    for k in range(S.size):
        e = math.exp(nu * gap[k])
        u = rng.random() * (e + 1.0 / e + kappa)
        S[k] = 1.0 if u < e else (0.0 if u < e + kappa else -1.0)
