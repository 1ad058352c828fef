"""The later scenes: leagues that settle, luck, the fair step, and strengths that move. Leagues are really played."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from kinelo.errors import NoStationaryState
from kinelo.lab.explore.evidence import Evidence, LeagueRecord
from kinelo.lab.guide.pictures import Chart, Drag, Frames, Picture, Trace, trace
from kinelo.lab.guide.units import NU, Units, percent
from kinelo.micro.simulate import SimulationState, simulation_states
from kinelo.model.dynamics import Form
from kinelo.model.outcome import Tanh
from kinelo.model.setups import homogeneous
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.limit import stationary
from kinelo.theory.moving.best import BestGamma, best_gamma, error_curve
from kinelo.theory.relaxation import relaxation
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum
from kinelo.theory.unbiased import unbiased_gamma

TEAMS, THETA, MIDDLE = 100, (4.0, 10.0), 7.0
MOMENTS = 40
FORM_SPREAD = 1.0
CURVE_STEPS, DOT_STEPS = 14, 6


def _system(gamma: float) -> RatingSystem:
    return RatingSystem(Tanh(nu=NU), gamma=gamma)


def _continuum(sigma: float) -> Continuum:
    return Continuum(THETA, sigma, nodes=40)


@lru_cache(maxsize=256)
def _theory(gamma: float, sigma: float) -> StationaryState:
    return stationary(_system(gamma), _continuum(sigma), noise="gaussian")


def _deviation(state: StationaryState) -> float:
    return math.sqrt(state.teams.mean(state.variance))


def _states(gamma: float, sigma: float, seed: int, stops: list[int], start: Array) -> Iterator[SimulationState]:
    league = homogeneous(sigma=sigma, teams=TEAMS, theta=THETA)
    return simulation_states(
        _system(gamma), league, stops=stops, matches_per_step=1, seed=seed, start=start, sampling="literal", threads=1
    )


@lru_cache(maxsize=256)
def _settled(gamma: float, sigma: float, seed: int) -> tuple[Array, Evidence]:
    """Ratings of a league that has settled, and what it shows of slope and luck."""
    league = homogeneous(sigma=sigma, teams=TEAMS, theta=THETA)
    record = LeagueRecord(league.theta, _system(gamma))
    memory, _ = record.memory(league.theta)
    times = np.arange(1, 201) * memory / 5  # forty memories: the later half is averaged
    rating = league.theta
    for time, state in zip(
        times, _states(gamma, sigma, seed, [round(t * TEAMS / 2) for t in times], rating), strict=True
    ):
        rating = state.rating[0]
        record.add(float(time), rating)
    found = record.evidence(float(times[-1]))
    assert found is not None
    return rating, found


def _league_traces(f: float, sigma: float, gamma: float, rating: Array) -> list[Trace]:
    theory = _theory(gamma, sigma)
    theta = homogeneous(sigma=sigma, teams=TEAMS, theta=THETA).theta
    ends = [f * (THETA[0] - MIDDLE), f * (THETA[1] - MIDDLE)]
    return [
        trace("rating = strength", "truth", "dashed", ends, ends),
        trace("theory", "prediction", "lines", f * (theory.theta - MIDDLE), f * (theory.rating - MIDDLE)),
        trace("teams", "team", "markers", f * (theta - MIDDLE), f * (rating - MIDDLE)),
    ]


def _league_chart(units: Units, label: str, traces: list[Trace], frames: Frames | None = None) -> Chart:
    f = units.factor
    return Chart(
        label, f"true strength ({units.word} from the average)", f"rating ({units.word})", traces,
        (-3.2 * f, 3.2 * f), (-6 * f, 6 * f), frames=frames,
    )  # fmt: skip


def settling(units: Units, sigma: float, gamma: float, start: str, seed: int) -> Picture:
    """A hundred teams on their way to the line that theory drew before they started."""
    theta = homogeneous(sigma=sigma, teams=TEAMS, theta=THETA).theta
    first = {
        "random": np.random.default_rng(seed).permutation(theta),
        "equal": np.full(TEAMS, MIDDLE),
        "reversed": theta[::-1].copy(),
    }[start]
    league = _continuum(sigma)
    matches = relaxation(_system(gamma), league).matches_per_team(0.01)
    times = np.concatenate([[0.0], np.geomspace(1.0, 1.2 * matches, MOMENTS - 1)])
    stops = [max(round(t * TEAMS / 2), 0) for t in times]
    ratings = [first, *(state.rating[0] for state in _states(gamma, sigma, seed, stops[1:], first))]
    slopes = [float(np.polyfit(theta, one, 1)[0]) for one in ratings]
    labels = [f"{t:.0f} matches per team: slope {s:.2f}" for t, s in zip(times, slopes, strict=True)]
    theory = _theory(gamma, sigma)
    f = units.factor
    traces = _league_traces(f, sigma, gamma, first)
    moving = Frames(2, labels, y=[np.round(f * (one - MIDDLE), 3).tolist() for one in ratings])
    return Picture(
        [_league_chart(units, f"A hundred teams settle along a line of slope {theory.slope:.2f}.", traces, moving)],
        [
            "Each dot is a team: its true strength across, its rating up. On the dashed line ratings would be right. "
            "Theory drew "
            "the orange line before the first match was played.",
            f"After {times[-1]:.0f} matches of each team the dots gather along a slope of {slopes[-1]:.2f}; theory "
            f"says {theory.slope:.2f}. "
            "Try another start: where it ends does not depend on it.",
        ],
        f"With {units.step(gamma)} a league forgets its start (to 1 %) in {matches:,.0f} matches per team.",
        f"import kinelo as kn\n\nsystem = kn.RatingSystem(kn.Tanh(nu={NU}), gamma={gamma!r})\n"
        f"league = kn.Continuum({THETA}, {sigma!r}, nodes=40)\nprint(kn.relaxation(system, "
        "league).matches_per_team(0.01))\n",
        (matches,),
    )  # fmt: skip


def luck(units: Units, gamma: float, sigma: float, seed: int) -> Picture:
    """The same league with a step and with four times that step."""
    f, charts, found, theory = units.factor, [], [], []
    for step in (gamma, 4 * gamma):
        rating, evidence = _settled(step, sigma, seed)
        state = _theory(step, sigma)
        charts.append(
            _league_chart(
                units, f"{units.step(step)}: ratings stray by ± {units.points(evidence.luck.value)} {units.word}.",
                _league_traces(f, sigma, step, rating),
            )
        )  # fmt: skip
        found.append(evidence.luck.value)
        theory.append(_deviation(state))
    rule = [math.sqrt(step / (2 * NU)) for step in (gamma, 4 * gamma)]
    return Picture(
        charts,
        [
            f"The same teams, twice: {units.step(gamma)} and {units.step(4 * gamma)}. Ratings jitter around the line "
            "because "
            "every match moves them, deserved or not.",
            f"The leagues show ± {units.points(found[0])} and ± {units.points(found[1])} {units.word} of luck (one "
            "standard deviation); "
            f"theory says ± {units.points(theory[0])} and ± {units.points(theory[1])}.",
        ],
        f"Luck is about √(γ/2ν): ± {units.points(rule[0])} and ± {units.points(rule[1])} {units.word}. Four times "
        "the step, "
        "twice the luck.",
        f"import kinelo as kn\n\nleague = kn.Continuum({THETA}, {sigma!r}, nodes=40)\nfor gamma in ({gamma!r}, "
        f"{4 * gamma!r}):\n"
        f"    system = kn.RatingSystem(kn.Tanh(nu={NU}), gamma=gamma)\n"
        "    state = kn.stationary(system, league, noise=\"gaussian\")\n    print(state.teams.mean(state.variance) "
        "** 0.5)\n",
        tuple(theory),
    )  # fmt: skip


@lru_cache(maxsize=64)
def _fair(sigma: float) -> float:
    """The step without bias; 0 where there is none."""
    try:
        return unbiased_gamma(Tanh(nu=NU), _continuum(sigma))
    except NoStationaryState:
        return 0.0


def fair_step(units: Units, gamma: float, sigma: float) -> Picture:
    """Slope against the step: theory, leagues that were played, and the step at which ratings are right on average."""
    f = units.factor
    steps = np.geomspace(0.02, 1.0, CURVE_STEPS)
    slopes = [_theory(float(step), sigma).slope for step in steps]
    played = np.geomspace(0.04, 0.9, DOT_STEPS)
    dots = [_settled(float(step), sigma, 1)[1].slope.value for step in played]
    here = _theory(gamma, sigma)
    rating, evidence = _settled(gamma, sigma, 1)
    fair = _fair(sigma)
    scale = 2 * f if units.name == "elo" else 1.0
    axis = "K (logarithmic)" if units.name == "elo" else "step size γ (logarithmic)"
    traces = [
        trace("right on average", "truth", "dashed", [0.02 * scale, scale], [1, 1]),
        trace("theory", "prediction", "lines", scale * steps, slopes),
        trace("leagues played", "other", "markers", scale * played, dots),
        trace("your step", "team", "large", [scale * gamma], [here.slope]),
    ]
    if fair > 0:
        price = _deviation(_theory(fair, sigma))
        traces.append(trace("fair step", "good", "large", [scale * fair], [1.0]))
        take = (
            f"At {units.step(fair)} ratings are right on average, and ± {units.points(price)} {units.word} of luck "
            "is what it "
            "costs. No step is both right and calm."
        )
        numbers, lines = (fair, price), (
            f"gamma = kn.unbiased_gamma(kn.Tanh(nu={NU}), league)\nprint(gamma)\n"
            f"state = kn.stationary(kn.RatingSystem(kn.Tanh(nu={NU}), gamma=gamma), league, noise=\"gaussian\")\n"
            "print(state.teams.mean(state.variance) ** 0.5)\n"
        )  # fmt: skip
    else:
        take = (
            "Teams that never vary are rated fairly only by tiny steps: luck alone stretches the scale."
            if sigma == 0
            else "No step makes these ratings right on average."
        )
        numbers, lines = (here.slope,), (
            f"print(kn.stationary(kn.RatingSystem(kn.Tanh(nu={NU}), gamma={gamma!r}), league, "
            "noise=\"gaussian\").slope)\n"
        )  # fmt: skip
    return Picture(
        [
            Chart(
                "Slope of ratings on strengths, against the step.",
                axis,
                "slope",
                traces,
                (0.018 * scale, 1.1 * scale),
                logarithmic=True,
                drag=Drag("gamma", scale),
            ),
            _league_chart(units, f"The league at {units.step(gamma)}.", _league_traces(f, sigma, gamma, rating)),
        ],
        [
            "Good and bad days flatten the line; luck stretches it. Small steps leave the flattening alone, large "
            "ones overdo the luck.",
            f"At {units.step(gamma)} theory says a slope of {here.slope:.2f}; the league beside shows "
            f"{evidence.slope.value:.2f} (standard "
            f"error {evidence.slope.error:.2g}) with ± {units.points(evidence.luck.value)} {units.word} of luck (one "
            "standard deviation).",
        ],
        take,
        f"import kinelo as kn\n\nleague = kn.Continuum({THETA}, {sigma!r}, nodes=40)\n{lines}",
        numbers,
    )


@lru_cache(maxsize=64)
def _path(gamma: float, rate: float, seed: int) -> tuple[Array, Array, Array]:
    """Matches, strength and rating of one team among twenty whose form comes and goes."""
    league = Fixed(np.full(20, MIDDLE))
    times = np.arange(200, 1001, 5)
    states = simulation_states(
        _system(gamma), league, stops=[int(t) * 10 for t in times], matches_per_step=1, seed=seed, threads=1,
        dynamics=Form(rate=rate, spread=FORM_SPREAD),
    )  # fmt: skip
    found = [(state.record["strength"][0, 0], state.rating[0, 0]) for state in states]
    strength, rating = np.array(found).T
    return times.astype(float), strength, rating


@lru_cache(maxsize=64)
def _best(rate: float) -> BestGamma:
    return best_gamma(Tanh(nu=NU), Fixed(np.full(20, MIDDLE)), Form(rate=rate, spread=FORM_SPREAD))


@lru_cache(maxsize=64)
def _errors(rate: float, steps: tuple[float, ...]) -> dict[str, Array]:
    """Root mean square error by cause at each step size."""
    curve = error_curve(Tanh(nu=NU), Fixed(np.full(20, MIDDLE)), Form(rate=rate, spread=FORM_SPREAD))
    found = [curve(step) for step in steps]
    squares = {"luck": [one.noise for one in found], "lag": [one.lag for one in found]}
    squares["both"] = [one.noise + one.lag + one.bias for one in found]
    return {name: np.sqrt(np.maximum(values, 0.0)) for name, values in squares.items()}


def moving_strength(units: Units, gamma: float, rate: float, seed: int) -> Picture:
    """One team's strength as a path with its rating behind it, and the error against the step."""
    f = units.factor
    times, strength, rating = _path(gamma, rate, seed)
    best = _best(rate)
    scale = 2 * f if units.name == "elo" else 1.0
    axis = "K (logarithmic)" if units.name == "elo" else "step size γ (logarithmic)"
    steps = np.geomspace(0.01, 0.6, 21)
    shown = _errors(rate, tuple(steps.tolist()))
    here = float(_errors(rate, (gamma,))["both"][0])
    error = math.sqrt(best.error)
    return Picture(
        [
            Chart(
                "One team's strength and its rating, match by "
                "match.", "matches of the team", f"{units.word} from the average",
                [
                    trace("strength", "truth", "lines", times, f * (strength - MIDDLE)),
                    trace("rating", "team", "lines", times, f * (rating - MIDDLE)),
                ],
            ),
            Chart(
                "How far off ratings are, against the step: lag on one side, luck on the "
                "other.", axis, f"typical error ({units.word})",
                [
                    trace("lag", "other", "thin", scale * steps, f * shown["lag"]),
                    trace("luck", "bad", "thin", scale * steps, f * shown["luck"]),
                    trace("both", "prediction", "lines", scale * steps, f * shown["both"]),
                    trace("best step", "good", "large", [scale * best.gamma], [f * error]),
                    trace("your step", "team", "large", [scale * gamma], [f * here]),
                ],
                (0.009 * scale, 0.65 * scale), logarithmic=True, drag=Drag("gamma", scale),
            ),
        ],
        [
            "Form comes and goes. A small step is calm and always late; a large one is quick and takes luck for "
            "change.",
            f"At {units.step(gamma)} a rating is off by ± {units.points(here)} {units.word} (one standard "
            "deviation), at the best step by "
            f"± {units.points(error)}.",
        ],
        f"A best step exists: {units.step(best.gamma)} for form of ± {units.points(FORM_SPREAD)} {units.word} that "
        f"changes by {percent(rate, 1)} a match. "
        "For a league of your own it is found from its results: “Which K?”",
        f"import kinelo as kn\n\nform = kn.Form(rate={rate!r}, spread={FORM_SPREAD})\n"
        f"best = kn.best_gamma(kn.Tanh(nu={NU}), kn.Fixed([{MIDDLE}] * 20), "
        "form)\nprint(best.gamma)\nprint(best.error ** 0.5)\n",
        (best.gamma, error),
    )  # fmt: skip
