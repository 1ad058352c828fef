"""E, the distance to R* and the second moment over time, computed without cells, with the limits that theory gives."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kinelo.errors import KineloWarning
from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Tanh
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.kinetic import Cloud, Paths, cloud_of, follow, nodes, normal_nodes, stationary_of
from kinelo.pictures import style
from kinelo.theory.relaxation import relaxation
from kinelo.theory.teams import Continuum

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLOSURES: tuple[Literal["exact", "taylor"], ...] = ("exact", "taylor")
STARTS = DIAGONAL, ONE, UNIFORM, SMOOTH = "from r = θ", "from one rating", "uniform", "smooth around r = θ"
LINE_NODES, PLANE_NODES, WIDTH_NODES = 60, 24, 10
"""Points along θ where the data are a line, along θ and r where they fill a square, across a smooth ridge."""
LATE = 1e-4
"""Share of its start below which the distance to R* decays at its last rate."""
NEARLY = 0.9
"""Slope of the line through the centre on which the printed rates are tried."""


@dataclass(frozen=True, kw_only=True)
class EnergyRun:
    """Integrals of one solution over time, and their computed limits; ``rate`` is what the theorem prints."""

    nu: float
    common_sigma: float
    time: Array
    energy: Array
    distance: Array
    variance: Array
    asymptote: Array
    predicted_energy: float
    predicted_variance: float
    predicted_slope: float
    gap: float
    rate: float

    @property
    def bound(self) -> Array:
        """What the decay theorem allows E at each time."""
        return self.energy[0] * np.exp(-self.rate * self.time)


@dataclass(frozen=True)
class Rates:
    """dE/dt and dm₂/dt of some data by the kinetic equation, and as the paper prints them.

    ``curvature`` is −∬ (r − r′) σ² b″(r − r′) f f′, whose sign the proof of the decay theorem uses.
    """

    energy: float
    printed_energy: float
    moment: float
    printed_moment: float
    curvature: float


@dataclass(frozen=True)
class Energy:
    """Evidence of Figure 9."""

    runs: Mapping[str, EnergyRun]
    rates: Mapping[str, Rates]


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> Energy:
    """Follow the teams from each start, by both closures."""
    given = figure.parameters
    outcome, clouds = Tanh(given["nu"]), _clouds(given)
    time = np.linspace(0.0, given["until"], given["records"])
    numbers = {}
    for closure in CLOSURES:
        teams = Continuum(theta=tuple(given["theta"]), sigma=given["sigma"])
        state = stationary_of(RatingSystem(outcome), teams, closure)
        gap = relaxation(RatingSystem(outcome), teams, closure=closure).gap
        limits = {
            "predicted_energy": state.mean_square_bias,
            "predicted_variance": float(state.teams.mean((state.rating - state.teams.mean(state.rating)) ** 2)),
            "predicted_slope": state.slope,
            "gap": gap,
            "rate": _printed_rate(outcome, given["sigma"]),
        }
        for name, cloud in clouds.items():
            paths = follow(outcome, cloud, time, closure)
            distance = cloud.mean((paths.rating - state.rating_of(cloud.theta)) ** 2)
            numbers[f"{name}, {closure}"] = _run(outcome, given["sigma"], paths, distance, limits)
    line = 7 + NEARLY * (clouds[DIAGONAL].theta - 7)
    near = Cloud(clouds[DIAGONAL].theta, clouds[DIAGONAL].sigma, line, clouds[DIAGONAL].mass)
    return Energy(numbers, {UNIFORM: _rates(outcome, clouds[UNIFORM]), "line": _rates(outcome, near)})


def _run(outcome: Tanh, sigma: float, paths: Paths, distance: Array, limits: Mapping[str, float]) -> EnergyRun:
    late = int(np.argmax(distance < LATE * distance[0])) if distance[0] > 0 else 0
    asymptote = distance[late] * np.exp(-2 * limits["gap"] * (paths.time - paths.time[late]))
    return EnergyRun(
        nu=outcome.nu, common_sigma=sigma, time=paths.time, energy=paths.energy, distance=distance,
        variance=paths.variance, asymptote=asymptote,
        **limits,
    )  # fmt: skip


def _clouds(given: Mapping[str, Any]) -> dict[str, Cloud]:
    theta, sigma = tuple(given["theta"]), (np.array([given["sigma"]]), np.ones(1))
    centre, single = sum(theta) / 2, (np.zeros(1), np.ones(1))
    along = nodes(theta, LINE_NODES)
    return {
        DIAGONAL: cloud_of(along, sigma, single, lambda t, _: t),
        ONE: cloud_of(along, sigma, single, lambda t, _: np.full_like(t, centre)),
        UNIFORM: cloud_of(nodes(theta, PLANE_NODES), sigma, nodes(theta, PLANE_NODES)),
        SMOOTH: cloud_of(
            nodes(theta, PLANE_NODES), sigma, normal_nodes(WIDTH_NODES), lambda t, x: t + given["width"] * x
        ),
    }


def _printed_rate(outcome: Tanh, sigma: float) -> float:
    """2 (L + σ²L₂) with the Lipschitz constants of b and b″, w_min = 1."""
    z = np.linspace(-30, 30, 60_001)
    return 2 * (outcome.steepest + sigma**2 * float(np.abs(outcome.b_third(z)).max()))


def _rates(outcome: Tanh, cloud: Cloud) -> Rates:
    """Both rates now, by the Taylor closure, which is the paper's equation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        results = expected_result(outcome, Normal(cloud.theta, cloud.sigma), "taylor")
    expected = outcome.b(np.subtract.outer(cloud.rating, cloud.rating))
    speed = (results - expected) @ cloud.mass
    dr, dtheta = (np.subtract.outer(x, x) for x in (cloud.rating, cloud.theta))

    def pairs(values: Array) -> float:
        return float(cloud.mass @ values @ cloud.mass)

    return Rates(
        energy=2 * float(cloud.mean((cloud.rating - cloud.theta) * speed)),
        printed_energy=-pairs(dr * expected) - pairs(dtheta * results),
        moment=2 * float(cloud.mean(cloud.rating * speed)),
        printed_moment=-pairs(dr * results),
        curvature=-pairs(dr * cloud.sigma**2 * outcome.b_second(dr)),
    )


def draw(data: Energy) -> Figure:
    """Three panels; colours are named once, lines in their own panel."""
    from matplotlib.lines import Line2D

    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.3)
        rise, decay, moment = figure.subplots(1, 3)
        for closure, colour in (("exact", style.EXACT), ("taylor", style.TAYLOR)):
            runs = {name: data.runs[f"{name}, {closure}"] for name in STARTS}
            time, uniform = runs[UNIFORM].time, runs[UNIFORM]
            for axes, values, label, pattern, width in (
                (rise, runs[DIAGONAL].energy, "E", "--", 1.3),
                (rise, runs[SMOOTH].energy, "E from smooth data", "-", 0.7),
                (rise, np.full(time.size, uniform.predicted_energy), "limit", ":", 0.9),
                (decay, uniform.energy, "E", "--", 1.3),
                (decay, uniform.distance, "distance to R*", "-", 1.3),
                (decay, uniform.asymptote, "rate 2λ₂", ":", 0.9),
                (moment, uniform.variance, "from uniform data", "-", 1.3),
                (moment, runs[ONE].variance, "from one rating", "--", 0.7),
            ):
                named = label if closure == "exact" else None
                axes.plot(time, values, color=colour, linestyle=pattern, linewidth=width, label=named)
        guide = data.runs[f"{UNIFORM}, exact"]
        decay.plot(guide.time, guide.bound, color=style.BLACK, linewidth=1.2, label="the theorem's bound of E")
        rise.set(xlabel="time γt", ylabel="E = ∫(r − θ)² f", title="(a) started on r = θ", ylim=(0, None))
        decay.set(xlabel="time γt", ylabel="squared distance", title="(b) from uniform data", yscale="log")
        moment.set(xlabel="time γt", ylabel="variance of r", title="(c) second moment", ylim=(0, None))
        decay.set_ylim(bottom=0.3 * float(guide.distance.min()))
        for axes, place in ((rise, "lower right"), (decay, "upper right"), (moment, "lower right")):
            axes.legend(loc=place, fontsize=6.5)
        rates = (data.runs[f"{UNIFORM}, {closure}"].gap for closure in CLOSURES)
        colours = [Line2D([], [], color=colour) for colour in (style.EXACT, style.TAYLOR)]
        words = [f"{name} closure, 2λ₂ = {2 * gap:.3f}" for name, gap in zip(("exact", "Taylor"), rates)]
        figure.legend(colours, words, loc="outside lower center", ncols=2)
        return figure


@check(
    320, "§3, second moment",
    quote="the second moment in r decreases over time",
    statement="∫ r² f decreases",
    criterion="it never rises (by 1e-9), from the paper's uniform data",
)  # fmt: skip
def second_moment_decreases(evidence: Energy) -> Finding:
    """m_{2,r} decreases over time."""
    run, single = needed(evidence.runs, f"{UNIFORM}, taylor"), needed(evidence.runs, f"{ONE}, taylor")
    low = int(np.argmin(run.variance))
    return Finding(
        f"about its mean: {run.variance[0]:.2f} at first, {run.variance[low]:.3f} at t = {run.time[low]:g}, "
        f"{run.variance[-1]:.3f} at t = {run.time[-1]:g}",
        judged(bool((np.diff(run.variance) <= 1e-9).all())),
        "The integral that is said to vanish, ∬ Δr s w f f′, is even under exchange of the two teams: it stays.",
        figures=(9,),
        more=f"ν = {run.nu:g}, σ = {run.common_sigma:g}, Taylor; limit {run.predicted_variance:.3f}. From one rating "
        f"for all {single.variance[0]:.3f} to {single.variance[-1]:.3f}.",
    )


@check(
    403, "§4, second moment",
    statement="d/dt ∫ r² f = −∬ (r − r′)(b(θ − θ′) + σ²b″(θ − θ′)) w f f′ < 0",
    criterion=f"within 1 % of the true rate, on uniform data and on r = 7 + {NEARLY:g}(θ − 7)",
)  # fmt: skip
def printed_moment_rate(evidence: Energy) -> Finding:
    """The printed dm₂/dt against the kinetic equation's."""
    uniform, line = (needed(evidence.rates, name) for name in (UNIFORM, "line"))
    return Finding(
        f"uniform: true {uniform.moment:+.3f}, printed {_signed(uniform.printed_moment)}; line: true "
        f"{line.moment:+.3f}, printed {_signed(line.printed_moment)}",
        judged(all(abs(one.printed_moment - one.moment) < 0.01 * abs(one.moment) for one in (uniform, line))),
        "The term −∬ Δr b(Δr) w f f′ is missing; the printed one has the wrong sign.",
        figures=(9,),
    )


def _signed(value: float) -> str:
    return f"{value:+.3f}" if abs(value) > 5e-4 else "0"


@check(
    406, "§4, energy decay",
    quote="In the following we will show that dE(t)/dt < 0", statement="under (B′) E = ∫(r − θ)² f decreases",
    criterion="E never rises (by 1e-9), from uniform data and from smooth data around r = θ",
)  # fmt: skip
def energy_decays(evidence: Energy) -> Finding:
    """dE/dt < 0 under (B')."""
    uniform, smooth = (needed(evidence.runs, f"{name}, taylor") for name in (UNIFORM, SMOOTH))
    exact = needed(evidence.runs, f"{SMOOTH}, exact")
    return Finding(
        f"from uniform data {uniform.energy[0]:.3f} to {uniform.energy[-1]:.4f} at t = {uniform.time[-1]:g}, from "
        f"smooth data {smooth.energy[0]:.4f} to {smooth.energy[-1]:.4f}",
        judged(all(bool((np.diff(run.energy) <= 1e-9).all()) for run in (uniform, smooth))),
        "E tends to a positive level, from far away or from below; ∫(r − R*)² f decays.",
        figures=(9,),
        more=f"ν = {uniform.nu:g}, σ = {uniform.common_sigma:g}. Limit {uniform.predicted_energy:.4f}. Exact "
        f"closure: {exact.energy[-1]:.4f} from smooth data, limit {exact.predicted_energy:.4f}.",
    )


@check(
    407, "§4, energy decay",
    statement="dE/dt = −∬ (r − r′) b(r − r′) w f f′ − ∬ (θ − θ′)(b + σ²b″)(θ − θ′) w f f′",
    criterion=f"within 1 % of the true rate, on uniform data and on r = 7 + {NEARLY:g}(θ − 7)",
)  # fmt: skip
def printed_energy_rate(evidence: Energy) -> Finding:
    """The printed dE/dt against the kinetic equation's."""
    uniform, line = (needed(evidence.rates, name) for name in (UNIFORM, "line"))
    return Finding(
        f"uniform: true {uniform.energy:+.3f}, printed {uniform.printed_energy:+.3f}; line: true {line.energy:+.3f}, "
        f"printed {line.printed_energy:+.2f}",
        judged(all(abs(one.printed_energy - one.energy) < 0.01 * abs(one.energy) for one in (uniform, line))),
        "The cross terms ∬ Δθ b(Δr) and ∬ Δr s are dropped. They vanish for uniform data and decide near r = θ.",
        figures=(9,),
    )


@check(
    408, "§4, proof of the decay theorem",
    statement="−∬ (r − r′) w_min σ²b″(r − r′) f f′ < 0",
    criterion="negative on uniform data and on the line, w_min = 1",
)  # fmt: skip
def printed_curvature(evidence: Energy) -> Finding:
    """The sign that the proof takes from symmetry."""
    uniform, line = (needed(evidence.rates, name) for name in (UNIFORM, "line"))
    return Finding(
        f"uniform: {uniform.curvature:+.3f}; line: {line.curvature:+.3f}",
        judged(max(uniform.curvature, line.curvature) < 0),
        "z b″(z) ≤ 0 for tanh: the integral is positive.",
        figures=(9,),
    )


@check(
    410, "§4, decay theorem",
    statement="E(t) ≤ E(0) exp(−2 w_min (L + σ²L₂) t) with the Lipschitz constants L, L₂ of b, b″",
    criterion="E never above the bound (by 1e-9 of it), from uniform data and from smooth data around r = θ",
)  # fmt: skip
def decay_rate(evidence: Energy) -> Finding:
    """E itself against the bound, and what decays instead."""
    run, smooth = (needed(evidence.runs, f"{name}, taylor") for name in (UNIFORM, SMOOTH))
    exact = needed(evidence.runs, f"{UNIFORM}, exact")
    return Finding(
        f"bound: rate {run.rate:.3f}. From uniform data {_against(run)}; from smooth data around r = θ "
        f"{_against(smooth)}. ∫(r − R*)² f decays to 0, at rate {_measured_rate(run):.4f} (2λ₂ = {2 * run.gap:.4f})",
        judged(all(_leaves(one) is None for one in (run, smooth))),
        "b′ needs a lower bound, not L: the distance to R* decays at rate 2 inf b′ = "
        f"{2 * float(Tanh(run.nu).b_prime(6.0)):.4f} at least.",
        figures=(9,),
        more=f"Exact closure: rate {_measured_rate(exact):.4f}, 2λ₂ = {2 * exact.gap:.4f}.",
    )


@check(
    500, "Conclusion",
    quote="These analytical insights indicate the formation of non-trivial steady states",
    statement="solutions from different data settle on one map that is neither constant nor r = θ",
    criterion="∫(r − R*)² f ends below 1e-5 from four starts; slope of R* between 0.05 and 0.95",
)  # fmt: skip
def steady_states(evidence: Energy) -> Finding:
    """One map, from everywhere."""
    runs = [needed(evidence.runs, f"{name}, taylor") for name in (DIAGONAL, ONE, UNIFORM, SMOOTH)]
    worst, slope = max(float(run.distance[-1]) for run in runs), runs[0].predicted_slope
    return Finding(
        f"at most {worst:.1e} at t = {runs[0].time[-1]:g}; slope of R* {slope:.3f}",
        judged(worst < 1e-5 and 0.05 < slope < 0.95),
        "",
        figures=(9,),
    )


def _leaves(run: EnergyRun) -> int | None:
    """The record at which E is first above the theorem's bound, if any."""
    above = np.flatnonzero(run.energy > run.bound * (1 + 1e-9))
    return int(above[0]) if above.size else None


def _against(run: EnergyRun) -> str:
    first = _leaves(run)
    if first is None:
        return "E keeps it"
    return f"E({run.time[first]:.3g}) = {run.energy[first]:.4f}, above its {run.bound[first]:.4f}"


def _measured_rate(run: EnergyRun) -> float:
    """Slope of log distance where it is far below its start and far above the error of the paths."""
    distance, time = run.distance, run.time
    use = (distance < LATE * distance[0]) & (distance > 1e-13)
    if use.sum() < 3:
        use = slice(time.size // 4, time.size // 2)
    return -float(np.polyfit(time[use], np.log(distance[use]), 1)[0])
