"""The numbers of the manuscript: one function per study file, from theory, from its runs, or from stored measurements.

Each returns ``values``, single numbers by name with their kind and, where they were simulated, one standard error or,
where they were estimated, an interval; and ``series``, what its picture draws.
"""

from __future__ import annotations

import json
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
from kinelo.paper.neighbours.learning import simulated_error
from kinelo.paper.summary import Simulated, simulated
from kinelo.theory.moving.best import error_curve

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
        many = kn.Continuum(theta=(4.0, 10.0), sigma=sigma)
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


def moving(figure: FigureStudy, runs: Runs) -> Evidence:
    """Error of following form over the step with its parts, the best step, and few teams; a walk on the chess scale."""
    first = next(iter(figure.studies.values()))
    outcome, form = first.system.outcome, first.motion
    assert form is not None
    many, given_ = kn.Continuum(theta=0.0), figure.parameters
    curve = error_curve(outcome, many, form)
    gammas = np.linspace(0, given_["largest"], given_["points"])[1:]
    parts = np.array([(one.noise, one.lag, one.bias) for one in map(curve, gammas)])
    best = kn.best_gamma(outcome, many, form)
    values = {
        "nu": given(float(outcome.nu)), "rate": given(form.rate), "spread": given(form.spread),
        "best": computed(best.gamma), "least": computed(best.error), "walk": given(given_["walk"]),
        "teams": given(first.strengths.theta.size),
    }  # fmt: skip
    points = []
    for name, study in figure.studies.items():
        error = simulated_error(runs[name])
        values |= {
            f"{name}.gamma": given(study.system.step), f"{name}.played": played(*error),
            f"{name}.error": computed(kn.tracking(study.system, many, form).E),
        }  # fmt: skip
        points.append((study.system.step, *error))
    for teams in given_["few"]:
        found = kn.best_gamma(outcome, kn.Fixed(teams * [0.0]), form)
        values |= {f"few{teams}.best": computed(found.gamma), f"few{teams}.least": computed(found.error)}
    chess, walk = kn.Tanh.elo(), given_["walk"]
    k = 2 * kn.best_gamma(chess, kn.Continuum(theta=0.0), kn.Walk(spread=walk)).gamma
    values |= {"walk.k": computed(k), "walk.ratio": computed(k / walk)}
    series = {"gamma": gammas, "parts": parts, "points": points, "best": best.gamma, "least": best.error}
    return Evidence(values, series)


def contests(figure: FigureStudy, runs: Runs) -> Evidence:
    """What a contest of k is worth in matches of two, the noise that is left, and the step without bias."""
    first = next(iter(figure.studies.values()))
    outcome, league, gamma = first.system.outcome, first.strengths, first.system.step
    values = {"nu": given(float(outcome.nu)), "gamma": given(gamma), "teams": given(league.theta.size)}
    rows = []
    for k in figure.parameters["sizes"]:
        system = kn.RatingSystem(outcome, gamma=gamma, schedule=kn.Field(k) if k > 2 else None)
        worth = kn.theory.contest_worth(system, league) if k > 2 else np.ones(league.theta.size)
        noise = kn.stationary(system, league, noise="gaussian").variance.mean()
        fair = kn.unbiased_gamma(system, league)
        rows.append((k, float(worth.mean()), 3 * (k - 1) / (k + 1), float(noise), float(fair)))
        values |= {
            f"k{k}.worth": computed(worth.mean()), f"k{k}.best": computed(worth.max()),
            f"k{k}.equal": computed(3 * (k - 1) / (k + 1)),
            f"k{k}.variance": computed(noise), f"k{k}.fair": computed(float(fair)),
        }  # fmt: skip
    points = []
    for name, run in runs.items():
        schedule = figure.studies[name].system.schedule
        k, noise = getattr(schedule, "size", 2), _noise(run)
        values[f"k{k}.noise"] = played(*noise)
        points.append((k, *noise))
    return Evidence(values, {"rows": rows, "points": points})


def pairing(figure: FigureStudy, runs: Runs) -> Evidence:
    """What choosing opponents gains, what a window changes, and fair games against quick ratings."""
    p = figure.parameters
    outcome = kn.Tanh(p["nu"])
    league = kn.Normal(np.linspace(*p["theta"], p["teams"]), sigma=p["sigma"])
    one = kn.farming(outcome, league, p["teams"] - 1)
    some = kn.farming(outcome, league, p["teams"] - 1, opponents=p["opponents"])
    still = kn.farming(outcome, kn.Fixed(league.theta), p["teams"] - 1)
    everybody = kn.stationary(outcome, league)
    near = kn.stationary(kn.RatingSystem(outcome, kn.Window(p["window"])), league)
    system = kn.RatingSystem(outcome, gamma=p["gamma"])
    players = kn.Fixed(np.linspace(*p["theta"], p["players"]))
    choice = kn.matchmaking(system, players, fairness=p["fairness"])
    free = next(option for option in choice.options if option.name == "all play all")
    values = {name: given(p[name]) for name in ("nu", "sigma", "teams", "opponents", "window", "fairness", "players")}
    values |= {
        "gamma": given(p["gamma"]), "alone": computed(one.rating), "gain": computed(one.gain),
        "reacting": computed(one.reacting_gain), "some": computed(some.gain), "constant": computed(still.gain),
        "everybody": computed(everybody.rating[-1]), "near": computed(near.rating[-1]),
        "best.matches": computed(choice.best.matches), "best.one_sided": computed(choice.best.one_sided),
        "best.slope": computed(choice.best.slope), "free.matches": computed(free.matches),
        "free.one_sided": computed(free.one_sided),
    }  # fmt: skip
    gains = [kn.farming(outcome, league, team).gain for team in range(0, p["teams"], 3)]
    series = {
        "theta": league.theta[::3], "gain": gains, "best": [choice.best.one_sided, choice.best.matches],
        "options": [
            (one.name, one.one_sided, one.matches, one in choice.frontier)
            for one in choice.options
            if math.isfinite(one.matches)
        ],
    }  # fmt: skip
    return Evidence(values, series)


def ladder(figure: FigureStudy, runs: Runs) -> Evidence:
    """Sides that meet the nearest of c: how alike opponents are, and how much of the differences Elo shows."""
    p = figure.parameters
    values = {name: given(p[name]) for name in ("sides", "games", "spread", "k", "leagues")}
    values["games.side"] = given(2 * p["games"] / p["sides"])
    rows = []
    for nearest in p["nearest"]:
        found = np.array([_one_ladder(p, nearest, number) for number in range(p["leagues"])])
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(len(found))
        names = ("alike", "told", "spread", "shown", "elo", "rank")
        values |= {f"c{nearest}.{name}": played(m, e) for name, m, e in zip(names, mean, error)}
        rows.append((nearest, *mean))
    return Evidence(values, {"rows": rows})


def _one_ladder(p: Mapping[str, Any], nearest: int, number: int) -> tuple[float, ...]:
    """True and estimated correlation of opponents, estimated spread, share shown as told and in truth, rank."""
    g = np.random.default_rng([p["seed"], nearest, number])
    sides, games = p["sides"], p["games"]
    strength = g.normal(0, p["spread"], sides)
    first, rows = g.integers(sides, size=games), []
    second = np.empty(games, dtype=int)
    for n, i in enumerate(first):
        others = g.integers(sides - 1, size=nearest)
        others += others >= i
        second[n] = others[np.argmin(np.abs(strength[others] - strength[i]))]
    won = g.random(games) < 1 / (1 + 10 ** ((strength[second] - strength[first]) / 400))
    days = np.datetime64("2015-01-01") + (np.arange(games) / games * p["years"] * 365.25).astype(int)
    for n in range(games):
        rows.append((str(days[n]), n, f"p{first[n]}", f"p{second[n]}", float(won[n]), 1))
    columns = dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    matches = kn.read_matches(columns)
    found = kn.audit(matches, kn.TeamElo.classic(k=p["k"]))
    table = dict(kn.TeamElo.classic(k=p["k"]).fit(matches).ratings_.select("name", "rating").iter_rows())
    truth = np.array([strength[int(name[1:])] for name in matches.teams])
    truth -= truth.mean()
    rating = np.array([table[name] for name in matches.teams])
    both = np.corrcoef(np.r_[strength[first], strength[second]], np.r_[strength[second], strength[first]])[0, 1]
    return (
        both, found.opponents_correlation.value, found.opponents.spread.value, found.share_shown.value,
        truth @ rating / (truth @ truth), np.corrcoef(truth, rating)[0, 1],
    )  # fmt: skip


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


def forecasts(figure: FigureStudy, runs: Runs) -> Evidence:
    """Log-losses of the stored benchmarks, Kinelo's raters and other libraries'."""
    p = figure.parameters
    stored = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    values, rows = {}, []
    for what, said, *_ in stored[p["section"]]["rows"]:
        league, rater = what.removesuffix(" (not rerun)").split(": ", 1)
        loss = float(said.split(" ", 1)[0])
        values[f"{league}.{rater}"] = {"value": loss, "kind": "estimated"}
        if " to +" in said or " to -" in said:
            difference = said.split("); ", 1)[1].split(" ", 1)[0]
            low, high = said.split("(", 2)[2].split(")")[0].split(" to ")
            values[f"{league}.{rater}.behind"] = estimated(float(difference), float(low), float(high))
        rows.append((league, rater, loss))
    for what, said, *_ in stored[p["contests"]]["rows"]:
        kind, rater = what.split(": ", 1)
        values[f"{kind}.{rater}.pairs"] = {"value": float(said.split(" ", 1)[0]), "kind": "estimated"}
    return Evidence(values, {"rows": rows, "sets": p["sets"]})


FUNCTIONS: dict[str, FunctionType] = {
    "map": settled_map, "step": step, "few": few, "moving": moving, "contests": contests, "pairing": pairing,
    "ladder": ladder, "which_k": which_k, "forecasts": forecasts,
}  # fmt: skip
