"""The numbers of the manuscript: one function per study file, from theory, from its runs, or from real matches.

Each returns ``values``, single numbers by name with their kind and, where they were simulated, one standard error or,
where they were estimated, an interval; and ``series``, what its picture draws.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

import kinelo as kn
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import Simulated, simulated

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("KINELO_DATA", ROOT.parent / "shared" / "data"))
Runs = Mapping[str, xr.Dataset]


class Evidence(NamedTuple):
    """What a study found."""

    values: dict[str, dict[str, Any]]
    series: dict[str, Any]


class NoData(LookupError):
    """The matches of a real league are not on this machine."""


def computed(value: float) -> dict[str, Any]:
    """A number from theory."""
    return {"value": float(value), "kind": "computed"}


def played(value: float, error: float) -> dict[str, Any]:
    """A simulated number and its standard error."""
    return {"value": float(value), "error": float(error), "kind": "simulated"}


def given(value: float) -> dict[str, Any]:
    """A setting of the study."""
    return {"value": value, "kind": "given"}


def estimated(value: float, low: float, high: float) -> dict[str, Any]:
    """A number from real matches, with its 95 % interval."""
    return {"value": float(value), "low": float(low), "high": float(high), "kind": "estimated"}


def _noise(run: xr.Dataset) -> tuple[float, float]:
    """Variance of a rating over time, mean over teams, and its standard error over realisations."""
    late = run.rating.isel(time=slice(run.sizes["time"] // 2, None)).transpose("realisation", "time", "team").values
    about = late - late.mean(axis=(0, 1))
    each = (about**2).mean(axis=(1, 2))
    return float(each.mean()), float(each.std(ddof=1) / math.sqrt(each.size))


def _simulated(runs: Runs) -> dict[str, Simulated]:
    return {name: simulated(run) for name, run in runs.items()}


def settled_map(figure: FigureStudy, runs: Runs) -> Evidence:
    """Slope, ends and bias of the settled map for several spreads, and what a played league shows."""
    values, series = {}, {}
    for name, study in figure.studies.items():
        system, league, run = study.system, study.strengths, simulated(runs[name])
        nu, sigma = float(system.outcome.nu), float(league.sigma[0])
        many = kn.theory.Continuum(theta=(4.0, 10.0), sigma=sigma)
        state, noisy = kn.stationary(system, many), kn.stationary(system, league, noise="gaussian")
        relaxation = kn.relaxation(system, many)
        values |= {
            f"{name}.sigma": given(sigma),
            f"{name}.slope": computed(state.slope),
            f"{name}.noisy": computed(noisy.slope),
            f"{name}.played": played(run.slope, run.slope_error),
            f"{name}.top": computed(state.rating_of(10.0)),
            f"{name}.bias": computed(math.sqrt(state.mean_square_bias)),
            f"{name}.thumb": computed(1 / math.sqrt(1 + math.pi * nu**2 * sigma**2)),
            f"{name}.gap": computed(relaxation.gap),
            f"{name}.patience": computed(relaxation.matches_per_team(tolerance=0.01)),
        }
        order = np.argsort(state.theta)
        series[name] = {
            "sigma": sigma, "theta": state.theta[order], "rating": state.rating[order], "team": run.theta,
            "settled": run.settled, "computed": noisy.rating,
        }  # fmt: skip
    study = next(iter(figure.studies.values()))
    assert study.simulate is not None
    matches = study.simulate.steps * study.simulate.matches_per_step * study.simulate.realisations
    values |= {
        "nu": given(float(study.system.outcome.nu)), "gamma": given(study.system.step),
        "teams": given(study.strengths.theta.size), "matches": given(matches),
        "win": computed(50 * (1 + float(study.system.outcome.b(1.0)))),
        "matches.all": given(matches * len(figure.studies)),
    }  # fmt: skip
    return Evidence(values, series)


def step(figure: FigureStudy, runs: Runs) -> Evidence:
    """Slope and noise over the step size, the step without bias, and the step of least error."""
    first = next(iter(figure.studies.values()))
    outcome, league = first.system.outcome, first.strengths
    gammas = np.linspace(0, figure.parameters["largest"], figure.parameters["points"])[1:]
    states = [kn.stationary(kn.RatingSystem(outcome, gamma=g), league, noise="gaussian") for g in gammas]
    error = np.array([state.mean_square_bias + state.variance.mean() for state in states])
    limit, fair = kn.stationary(outcome, league), kn.unbiased_gamma(outcome, league)
    at_fair = kn.stationary(kn.RatingSystem(outcome, gamma=float(fair)), league, noise="gaussian")
    values = {
        "nu": given(float(outcome.nu)), "sigma": given(float(league.sigma[0])), "teams": given(league.theta.size),
        "limit": computed(limit.slope), "fair": computed(float(fair)),
        "fair.variance": computed(at_fair.variance.mean()),
        "fair.error": computed(at_fair.mean_square_bias + at_fair.variance.mean()),
        "limit.error": computed(limit.mean_square_bias),
        "least": computed(gammas[error.argmin()]), "least.error": computed(error.min()),
    }  # fmt: skip
    points = []
    for name, run in _simulated(runs).items():
        study = figure.studies[name]
        state, noise = kn.stationary(study.system, league, noise="gaussian"), _noise(runs[name])
        values |= {
            f"{name}.gamma": given(study.system.step),
            f"{name}.slope": computed(state.slope),
            f"{name}.played": played(run.slope, run.slope_error),
            f"{name}.variance": computed(state.variance.mean()),
            f"{name}.noise": played(*noise),
        }
        points.append((study.system.step, run.slope, run.slope_error, *noise))
    series = {
        "gamma": gammas, "slope": [state.slope for state in states],
        "variance": [state.variance.mean() for state in states], "error": error, "points": points,
        "fair": float(fair), "limit": limit.slope,
    }  # fmt: skip
    return Evidence(values, series)


def few(figure: FigureStudy, runs: Runs) -> Evidence:
    """The noise of ratings in leagues from two teams on: computed and played."""
    values, points, worst = {}, [], 0.0
    for name, study in figure.studies.items():
        league = study.strengths
        state, noise = kn.stationary(study.system, league, noise="gaussian"), _noise(runs[name])
        variance = float(state.variance.mean())
        values |= {
            f"{name}.teams": given(league.theta.size), f"{name}.variance": computed(variance),
            f"{name}.noise": played(*noise),
        }  # fmt: skip
        worst = max(worst, abs(variance / noise[0] - 1))
        points.append((league.theta.size, variance, *noise))
    study = next(iter(figure.studies.values()))
    many = kn.homogeneous(sigma=float(study.strengths.sigma[0]), teams=300, theta=(5.0, 9.0))
    limit = float(kn.stationary(study.system, many, noise="gaussian").variance.mean())
    values |= {
        "gamma": given(study.system.step), "nu": given(float(study.system.outcome.nu)),
        "sigma": given(float(study.strengths.sigma[0])), "many": computed(limit), "worst": computed(100 * worst),
    }  # fmt: skip
    return Evidence(values, {"points": points, "many": limit})


def ladder(figure: FigureStudy, runs: Runs) -> Evidence:
    """Sides that meet the nearest of c, by strength or by rating: what Elo shows of their differences at each K."""
    p = figure.parameters
    values = {name: given(p[name]) for name in ("sides", "games", "spread", "leagues")}
    values["games.side"] = given(2 * p["games"] / p["sides"])
    values |= {f"k.{number}": given(k) for number, k in enumerate(p["k"], 1)}
    rows = []
    for by in ("strength", "rating"):
        for nearest in p["nearest"]:
            for k, found in zip(p["k"], measure_ladders(p, play_ladders(p, nearest, by))):
                mean, error = found.mean(axis=1), found.std(axis=1, ddof=1) / math.sqrt(found.shape[1])
                names = ("alike", "shown", "rank", "loss")
                values |= {f"{by}{nearest}.{k}.{name}": played(m, e) for name, m, e in zip(names, mean, error)}
                rows.append((by, nearest, k, *mean, *error))
    return Evidence(values, {"rows": rows, "nearest": p["nearest"]})


class Ladders(NamedTuple):
    """Played leagues, the same luck at every K: winners of shape (K, game, league), ratings (K, league, side)."""

    strength: np.ndarray
    first: np.ndarray
    second: np.ndarray
    won: np.ndarray
    expected: np.ndarray
    rating: np.ndarray


def play_ladders(p: Mapping[str, Any], nearest: int, by: str) -> Ladders:
    """Rate every league from a common start as it is played; the calendar looks at strengths, or at the ratings."""
    g = np.random.default_rng([p["seed"], nearest, by == "rating"])
    ks, leagues, sides, games = np.array(p["k"], dtype=float), p["leagues"], p["sides"], p["games"]
    curve, strength = kn.Tanh.elo(), g.normal(0, p["spread"], (leagues, sides))
    rating, shape = np.zeros((ks.size, leagues, sides)), (ks.size, games, leagues)
    second, won, expected = np.empty(shape, dtype=int), np.empty(shape, dtype=bool), np.empty(shape)
    first, luck = g.integers(sides, size=(games, leagues)), g.random((games, leagues))
    at, each = np.arange(leagues), np.arange(ks.size)[:, None]
    for n, i in enumerate(first):
        others = g.integers(sides - 1, size=(leagues, nearest))
        others += others >= i[:, None]
        seen = rating if by == "rating" else np.broadcast_to(strength, rating.shape)
        gap = np.abs(
            np.take_along_axis(seen, np.broadcast_to(others, (ks.size, *others.shape)), 2) - seen[:, at, i, None]
        )
        j = second[:, n] = others[at, gap.argmin(axis=2)]
        won[:, n] = luck[n] < (1 + curve.b(strength[at, i] - strength[at, j])) / 2
        expected[:, n] = (1 + curve.b(rating[:, at, i] - rating[each, at, j])) / 2
        step = ks[:, None] * (won[:, n] - expected[:, n])
        rating[:, at, i] += step
        rating[each, at, j] -= step
    return Ladders(strength, first, second, won, expected, rating)


def measure_ladders(p: Mapping[str, Any], one: Ladders) -> np.ndarray:
    """By K, of each league: correlation of opponents, slope and correlation of ratings on strengths, later log-loss."""
    late = p["games"] // 2
    found = np.empty((len(p["k"]), 4, p["leagues"]))
    for k in range(len(p["k"])):
        chance = np.where(one.won[k], one.expected[k], 1 - one.expected[k])[late:]
        for league, strength in enumerate(one.strength):
            sides = strength[one.first[:, league]], strength[one.second[k, :, league]]
            truth, rating = strength - strength.mean(), one.rating[k, league]
            found[k, :, league] = (
                np.corrcoef(np.concatenate(sides), np.concatenate(sides[::-1]))[0, 1],
                truth @ rating / (truth @ truth),
                np.corrcoef(truth, rating)[0, 1],
                -np.log(chance[:, league]).mean(),
            )
    return found


def which_k(figure: FigureStudy, runs: Runs) -> Evidence:
    """The K that real leagues ask for: by theory from their estimates, by backtest, and both."""
    p = figure.parameters
    values, rows = {}, []
    for name in p["leagues"]:
        path = DATA / p["files"][name]
        if not path.exists():
            raise NoData(f"The matches of {name} are not here ({p['files'][name]}); set KINELO_DATA to their folder.")
        matches = kn.read_matches(path)
        found = kn.audit(matches)
        theory, low, high = found.curve.best.k, found.curve.low, found.curve.high
        measured, (below, above) = found.measured.best, found.measured.interval
        values |= {
            f"{name}.matches": given(len(matches)), f"{name}.teams": given(len(matches.teams)),
            f"{name}.theory": estimated(theory, low, high), f"{name}.measured": estimated(measured, below, above),
            f"{name}.advice": estimated(found.advice.k, found.advice.low, found.advice.high),
        }  # fmt: skip
        rows.append((name, theory, low, high, measured, below, above, found.advice.k))
    return Evidence(values, {"rows": rows})


FUNCTIONS: dict[str, FunctionType] = {
    "map": settled_map, "step": step, "few": few, "which_k": which_k, "ladder": ladder,
}  # fmt: skip
