"""The later scenes, about leagues: one that settles, luck, the fair step and the best. Leagues are really played."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kinelo.advice.league_evidence import Evidence, LeagueRecord
from kinelo.charts import Chart, Frames, Trace
from kinelo.lab.guide.matches import ELO, FIRST_K, LAW, STRONG, Picture, law_line, league_line, number, step_of
from kinelo.lab.units import MIDDLE, THETA, Units
from kinelo.micro.simulate import SimulationState, simulation_states
from kinelo.model.dynamics import Form
from kinelo.model.setups import homogeneous
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.presentation import counted, percent
from kinelo.theory.limit import stationary
from kinelo.theory.moving.best import BestGamma, best_gamma, error_curve
from kinelo.theory.relaxation import relaxation
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum
from kinelo.theory.unbiased import unbiased_gamma

TEAMS, SIGMA = 100, 1.0
"""Teams of a league, and the ups and downs of every team, as in the paper."""
MOMENTS = 40
FORM_RATE, FORM_SPREAD = 0.01, 1.0
"""Share of form lost in a match, and how far it carries a team."""
SLOPE_FAIR = 0.02
LEAGUE_WORDS = "Each dot is a team: its true strength across, its rating up. On the dashed line ratings would be right."


def _system(gamma: float) -> RatingSystem:
    return RatingSystem(LAW, gamma=gamma)


def _many() -> Continuum:
    return Continuum(THETA, SIGMA, nodes=40)


@lru_cache(maxsize=256)
def _theory(gamma: float) -> StationaryState:
    return stationary(_system(gamma), _many(), noise="gaussian")


def luck_of(gamma: float) -> float:
    """Standard deviation of a rating, typical of the league."""
    state = _theory(gamma)
    return math.sqrt(state.teams.mean(state.variance))


def bias_of(gamma: float) -> float:
    """Root mean square of mean rating less strength."""
    state = _theory(gamma)
    return math.sqrt(state.teams.mean((state.rating - state.theta) ** 2))


def miss_of(gamma: float) -> float:
    """How far ratings miss strength, bias and luck together (root mean square)."""
    return math.hypot(luck_of(gamma), bias_of(gamma))


@lru_cache(maxsize=1)
def fair_step() -> float:
    """The step at which ratings are right on average."""
    return unbiased_gamma(LAW, _many())


def fair_k() -> float:
    """The K in Elo points, whole, at which ratings are right on average."""
    return float(round(2 * ELO * fair_step()))


def _strengths() -> Array:
    return homogeneous(sigma=SIGMA, teams=TEAMS, theta=THETA).theta


def _states(gamma: float, stops: list[int], start: Array) -> Iterator[SimulationState]:
    league = homogeneous(sigma=SIGMA, teams=TEAMS, theta=THETA)
    return simulation_states(
        _system(gamma), league, stops=stops, matches_per_step=1, seed=1, start=start, sampling="literal", threads=1
    )


@lru_cache(maxsize=256)
def played(gamma: float) -> tuple[Array, Evidence]:
    """Ratings of a league that has settled, and what it shows of slope and luck."""
    theta = _strengths()
    record = LeagueRecord(theta, _system(gamma))
    memory, _ = record.memory(theta)
    times = np.arange(1, 201) * memory / 5  # forty memories: the later half is averaged
    rating = theta
    for time, state in zip(times, _states(gamma, [round(t * TEAMS / 2) for t in times], theta), strict=True):
        rating = state.rating[0]
        record.add(float(time), rating)
    found = record.evidence(float(times[-1]))
    assert found is not None
    return rating, found


def _truth(f: float) -> Trace:
    ends = [f * (end - MIDDLE) for end in THETA]
    return Trace("rating = strength", "truth", "dashed", ends, ends)


def _line(f: float, gamma: float, name: str = "theory") -> Trace:
    state = _theory(gamma)
    return Trace(name, "prediction", "lines", f * (state.theta - MIDDLE), f * (state.rating - MIDDLE), later=True)


def _league_chart(units: Units, label: str, traces: list[Trace], frames: Frames | None = None) -> Chart:
    f = units.factor
    return Chart(
        label, f"true strength ({units.word} from the average)", f"rating ({units.word} from the average)", traces,
        (-3.2 * f, 3.2 * f), (-4.6 * f, 4.6 * f), frames=frames,
    )  # fmt: skip


def _python(units: Units, *lines: str) -> str:
    return "\n".join(["import math", "import kinelo as kn", "", law_line(units), *lines, ""])


def _step(units: Units, gamma: float) -> str:
    return number(units.factor * gamma)


def settling(units: Units, start: str) -> Picture:
    """A hundred teams on their way to the line that theory drew before they started."""
    gamma, f, theta = step_of(FIRST_K), units.factor, _strengths()
    first = {
        "random": np.random.default_rng(1).permutation(theta),
        "equal": np.full(TEAMS, MIDDLE),
        "reversed": theta[::-1].copy(),
    }[start]
    matches = relaxation(_system(gamma), _many()).matches_per_team(0.01)
    times = np.concatenate([[0.0], np.geomspace(1.0, 1.2 * matches, MOMENTS - 1)])
    stops = [max(round(t * TEAMS / 2), 0) for t in times]
    ratings = [first, *(state.rating[0] for state in _states(gamma, stops[1:], first))]
    slopes = [float(np.polyfit(theta, one, 1)[0]) for one in ratings]
    counts = [counted(round(t), "match", "matches") for t in times]
    labels = [f"{words} per team: slope {s:.2f}" for words, s in zip(counts, slopes, strict=True)]
    theory = _theory(gamma)
    dots = Trace("teams", "team", "markers", f * (theta - MIDDLE), f * (ratings[-1] - MIDDLE))
    moving = Frames(2, labels, y=[f * (one - MIDDLE) for one in ratings])
    began = {"random": "at random", "equal": "all equal", "reversed": "upside down"}[start]
    return Picture(
        _league_chart(
            units, f"A hundred teams that began {began} settle along a line of slope {theory.slope:.2f}.",
            [_truth(f), _line(f, gamma), dots], moving,
        ),
        f"Though they began {began}, after {times[-1]:,.0f} matches of each team the ratings lie along a slope of "
        f"{slopes[-1]:.2f}, where theory drew {theory.slope:.2f}: too flat, the strong too low and the weak too high.",
        Chart(
            "The slope of ratings on strengths over the matches played.", "matches per team (logarithmic)", "slope",
            [
                Trace("rating = strength", "truth", "dashed", [1, times[-1]], [1, 1]),
                Trace("theory", "prediction", "lines", [1, times[-1]], [theory.slope] * 2),
                Trace("the league", "team", "thin", times[1:], slopes[1:]),
            ],
            (0.9, 1.1 * times[-1]), logarithmic=True,
        ),
        (
            LEAGUE_WORDS,
            f"With {units.step(gamma)} a league forgets its start, to 1 %, in {matches:,.0f} matches per team. Where "
            "it ends does not depend on where it began.",
        ),
        _python(
            units, league_line(units, SIGMA), f"system = kn.RatingSystem(law, gamma={_step(units, gamma)})",
            'print(kn.stationary(system, league, noise="gaussian").slope)',
            "print(kn.relaxation(system, league).matches_per_team(0.01))",
        ),
        (theory.slope, matches),
    )  # fmt: skip


def luck(units: Units, k: float) -> Picture:
    """The same league with a step and with four times that step."""
    f, theta, steps = units.factor, _strengths(), (step_of(k), step_of(4 * k))
    spreads, theory = [played(step)[1].luck for step in steps], [luck_of(step) for step in steps]
    names = [units.step(step) for step in steps]
    x = f * (theta - MIDDLE)
    dots = [f * (played(step)[0] - MIDDLE) for step in steps]
    curve = np.geomspace(step_of(4), step_of(320), 18)
    lucks = f * np.array([luck_of(float(step)) for step in curve])
    shown, bars = [f * one.value for one in spreads], [2 * f * one.error for one in spreads]
    return Picture(
        _league_chart(
            units, f"The same hundred teams rated with {names[0]} and with {names[1]}.",
            [
                _truth(f),
                Trace(names[1], "bad", "open", x, dots[1], later=True),
                Trace(names[0], "team", "markers", x, dots[0]),
            ],
        ),
        f"With {names[0]} luck moves a rating by ± {units.points(theory[0])} {units.word} (one standard deviation), "
        f"with four times the step, {names[1]}, by ± {units.points(theory[1])}: {theory[1] / theory[0]:.1f} times as "
        "far.",
        Chart(
            "Luck in a rating over the step: theory and leagues that were played, with two standard errors.",
            _step_axis(units), f"luck ({units.word})",
            [
                Trace("theory", "prediction", "lines", _on_axis(units, curve), lucks),
                Trace("leagues played", "team", "markers", _on_axis(units, np.array(steps)), shown, error=bars),
            ],
            logarithmic=True,
        ),
        (
            LEAGUE_WORDS,
            f"Every match moves both ratings, deserved or not. Luck is about √(γ/2ν): four times the step, twice the "
            f"luck. The two leagues played show ± {units.points(spreads[0].value)} and "
            f"± {units.points(spreads[1].value)}, with standard errors of "
            f"{spreads[0].error * f:.2g} and {spreads[1].error * f:.2g}.",
        ),
        _python(
            units, league_line(units, SIGMA), f"for gamma in ({_step(units, steps[0])}, {_step(units, steps[1])}):",
            '    state = kn.stationary(kn.RatingSystem(law, gamma=gamma), league, noise="gaussian")',
            "    print(state.teams.mean(state.variance) ** 0.5)",
        ),
        (theory[0] * f, theory[1] * f),
    )  # fmt: skip


def _step_axis(units: Units) -> str:
    return "K (logarithmic)" if units.name == "elo" else "step size γ (logarithmic)"


def _on_axis(units: Units, gamma: Array | float) -> Array:
    return np.asarray(gamma) * (2 * units.factor if units.name == "elo" else 1.0)


FAIR_KS = (8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 160.0)
LARGE_KS = (256.0, 320.0)


def fair_stops() -> tuple[float, ...]:
    """Steps of the scene, the fair one among them."""
    return (*FAIR_KS, fair_k(), *LARGE_KS)


@dataclass(frozen=True)
class _Misses:
    """What ratings miss by at each step of the scene."""

    steps: Array
    bias: Array
    luck: Array

    @property
    def total(self) -> Array:
        return np.hypot(self.bias, self.luck)


@lru_cache(maxsize=1)
def _misses() -> _Misses:
    steps = np.array([step_of(k) for k in fair_stops()])
    found = [[part(float(step)) for step in steps] for part in (bias_of, luck_of)]
    return _Misses(steps, *map(np.array, found))


def bias_and_luck(units: Units, k: float) -> Picture:
    """How far ratings miss strength, by the step: bias and luck, and the step at which they are right on average."""
    gamma, f, all_of = step_of(k), units.factor, _misses()
    at = _on_axis(units, all_of.steps)
    miss, state = miss_of(gamma), _theory(gamma)
    fair = step_of(fair_k())
    slopes = [played(float(step))[1].slope for step in all_of.steps]
    ends = [float(at[0]), float(at[-1])]
    span = (0.85 * ends[0], 1.15 * ends[1])
    return Picture(
        Chart(
            f"How far ratings miss true strength, by the step: {units.points(miss)} at {units.step(gamma)}.",
            _step_axis(units), f"ratings miss strength by ({units.word})",
            [
                Trace("bias", "other", "thin", at, f * all_of.bias),
                Trace("luck", "bad", "thin", at, f * all_of.luck),
                Trace("both together", "prediction", "lines", at, f * all_of.total, later=True),
                Trace("right on average", "good", "large", [_on_axis(units, fair)], [f * miss_of(fair)], later=True),
                Trace("this step", "team", "large", [_on_axis(units, gamma)], [f * miss], later=True),
            ],
            span, (0, 1.08 * f * float(all_of.total.max())), logarithmic=True,
        ),
        _fair_sentence(units, gamma, miss, state.slope),
        Chart(
            "Slope of ratings on strengths by the step: theory, and leagues played, with two standard errors.",
            _step_axis(units), "slope",
            [
                Trace("right on average", "truth", "dashed", ends, [1, 1]),
                Trace("theory", "prediction", "lines", at, [_theory(float(step)).slope for step in all_of.steps]),
                Trace(
                    "leagues played", "team", "markers", at, [one.value for one in slopes],
                    error=[2 * one.error for one in slopes],
                ),
            ],
            span, logarithmic=True,
        ),
        (
            "Good and bad days pull ratings together, luck pushes them apart. At one step the two cancel and the slope "
            "is 1; the luck that it takes is the price. No step is both right and calm.",
            f"Theory says a slope of {state.slope:.2f} at {units.step(gamma)}; the league played there shows "
            f"{played(gamma)[1].slope.value:.2f}, with a standard error of {played(gamma)[1].slope.error:.2g}. Theory "
            "is for very many teams, the leagues have a hundred.",
        ),
        _python(
            units, league_line(units, SIGMA), "print(kn.unbiased_gamma(law, league))",
            f'state = kn.stationary(kn.RatingSystem(law, gamma={_step(units, gamma)}), league, noise="gaussian")',
            "print(state.teams.mean((state.rating - state.theta) ** 2 + state.variance) ** 0.5)",
        ),
        (fair_step() * f, miss * f),
    )  # fmt: skip


def _fair_sentence(units: Units, gamma: float, points: float, slope: float) -> str:
    all_of, fair = _misses(), step_of(fair_k())
    least = float(all_of.steps[int(np.argmin(all_of.total))])
    best = f"{units.step(least)}, the smallest here, misses least: by {units.points(miss_of(least))}"
    if abs(slope - 1) <= SLOPE_FAIR:
        return (
            f"With {units.step(gamma)} ratings are right on average, and luck alone makes them miss true strength by "
            f"{units.points(points)} {units.word}; {best}."
        )
    lie = "too close together" if slope < 1 else "too far apart"
    right = f"with {units.step(fair)} they are right on average and miss by {units.points(miss_of(fair))}"
    if gamma == least:
        return (
            f"With {units.step(gamma)}, the smallest here, ratings lie {lie} and still miss true strength least, by "
            f"{units.points(points)} {units.word}; {right}."
        )
    miss = f"{units.points(points)} {units.word}"
    return f"With {units.step(gamma)} ratings lie {lie} and miss true strength by {miss}; {right}."


GUIDE_FORM = Form(rate=FORM_RATE, spread=FORM_SPREAD)
EQUALS = Fixed(np.full(20, MIDDLE))


@lru_cache(maxsize=64)
def _path(gamma: float) -> tuple[Array, Array, Array]:
    """Matches, strength and rating of one team among twenty whose form comes and goes."""
    times = np.arange(200, 1001, 5)
    states = simulation_states(
        _system(gamma),
        EQUALS,
        stops=[int(t) * 10 for t in times],
        matches_per_step=1,
        seed=1,
        threads=1,
        dynamics=GUIDE_FORM,
    )
    found = [(state.record["strength"][0, 0], state.rating[0, 0]) for state in states]
    strength, rating = np.array(found).T
    return times.astype(float) - times[0], strength, rating


@lru_cache(maxsize=1)
def _best() -> BestGamma:
    return best_gamma(LAW, EQUALS, GUIDE_FORM)


@lru_cache(maxsize=64)
def _errors(steps: tuple[float, ...]) -> dict[str, Array]:
    """Root mean square error by cause at each step size."""
    curve = error_curve(LAW, EQUALS, GUIDE_FORM)
    found = [curve(step) for step in steps]
    squares = {"luck": [one.noise for one in found], "lag": [one.lag for one in found]}
    squares["both"] = [one.noise + one.lag + one.bias for one in found]
    return {name: np.sqrt(np.maximum(values, 0.0)) for name, values in squares.items()}


def moving_strength(units: Units, k: float) -> Picture:
    """One team's strength as a path with its rating behind it, and the error against the step."""
    gamma, f, best = step_of(k), units.factor, _best()
    times, strength, rating = _path(gamma)
    steps = np.geomspace(step_of(3), step_of(220), 25)
    shown, miss, error = (
        _errors(tuple(steps.tolist())),
        float(_errors((gamma,))["both"][0]),
        math.sqrt(best.error),
    )
    sentence = f"With {units.step(gamma)} a rating misses {STRONG}'s strength by ± {units.points(miss)} {units.word}"
    if units.points(miss) == units.points(error):
        sentence += f" (one standard deviation): no step follows its form better than {units.step(best.gamma)} or so."
    else:
        parts = _errors((gamma,))
        why = "because it lags" if parts["lag"][0] > parts["luck"][0] else "by luck"
        sentence += f", mostly {why}; {units.step(best.gamma)} follows its form best: ± {units.points(error)}"
        sentence += " (one standard deviation)."
    return Picture(
        Chart(
            f"{STRONG}'s strength over 800 matches, and its rating with {units.step(gamma)}.",
            "matches", f"{units.word} from the average",
            [
                Trace(f"{STRONG}'s strength", "truth", "lines", times, f * (strength - MIDDLE)),
                Trace(f"its rating, {units.step(gamma)}", "team", "thin", times, f * (rating - MIDDLE), later=True),
            ],
            y_range=(-4.2 * f * FORM_SPREAD, 4.2 * f * FORM_SPREAD),
        ),
        sentence,
        Chart(
            "How far off ratings are, by the step: lag on one side, luck on the other.",
            _step_axis(units), f"typical error ({units.word})",
            [
                Trace("lag", "other", "thin", _on_axis(units, steps), f * shown["lag"]),
                Trace("luck", "bad", "thin", _on_axis(units, steps), f * shown["luck"]),
                Trace("both", "prediction", "lines", _on_axis(units, steps), f * shown["both"]),
                Trace("best step", "good", "large", [_on_axis(units, best.gamma)], [f * error]),
                Trace("this step", "team", "large", [_on_axis(units, gamma)], [f * miss]),
            ],
            logarithmic=True,
        ),
        (
            "A small step is calm and always late; a large one is quick and takes luck for change.",
            f"Form here strays by ± {units.points(FORM_SPREAD)} {units.word} (one standard deviation) and loses "
            f"{percent(FORM_RATE)} of itself in a match. For a league of your own the best step is found from its "
            "results: “Which K?”",
        ),
        _python(
            units, f"form = kn.model.Form(rate={FORM_RATE}, spread={number(f * FORM_SPREAD)})",
            "best = kn.best_gamma(law, kn.Fixed([0.0] * 20), form)", "print(best.gamma)", "print(best.error ** 0.5)",
        ),
        (best.gamma * f, error * f),
    )  # fmt: skip
