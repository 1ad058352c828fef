"""Two leagues that share games and luck, from different starts; and how far settled ratings lie from skills, over γ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.paper.literature.fits import BURN_IN, SMALLEST, PowerLaw, power_law
from kinelo.pictures import style
from kinelo.theory.limit import stationary
from kinelo.theory.relaxation import relaxation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


EQUAL, REVERSED = "equal start", "reversed start"
SOURCE = "Cortez and Tossounian, arXiv 2410.09180, abstract"
HALF = 0.03
"""How far a fitted power may lie from one half."""
STRAIGHT = 0.995
"""Share of the variance of log-distance that a straight line explains where an approach is called exponential."""


@dataclass(frozen=True)
class SmallStepsEvidence:
    """Distance of two coupled leagues over matches with its rate, and distances from the skills over γ."""

    time: Array
    apart: Array
    rate: float
    straight: float
    slowest: float
    mean_gap: float
    mean_gap_error: float
    gamma: Array
    distance: Array
    distance_error: Array
    computed: Array
    law: PowerLaw


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> SmallStepsEvidence:
    """Measure the coupled pair, then every run of its own step."""
    first, second = (_centred(runs[name]) for name in (EQUAL, REVERSED))
    time = runs[EQUAL].time.values
    apart = np.sqrt(((first - second) ** 2).mean(axis=(0, 2)))
    falling = apart > 1e-12 * apart[0]  # below it the distance is rounding
    rate, straight = _decay(time[falling], apart[falling])
    late = slice(int(BURN_IN * time.size), None)
    alike = _centred(runs[f"γ = {figure.studies[EQUAL].system.step:g}"])
    gap = first[:, late].mean(axis=1) - alike[:, late].mean(axis=1)
    alone = {name: study for name, study in figure.studies.items() if name not in (EQUAL, REVERSED)}
    gamma = np.array([study.system.step for study in alone.values()])
    measured = np.array([_distance(runs[name], study.strengths.theta) for name, study in alone.items()])
    computed = []
    for study in alone.values():
        state, theta = stationary(study.system, study.strengths, noise="gaussian"), study.strengths.theta
        bias = state.rating - state.rating.mean() - (theta - theta.mean())
        computed.append(math.sqrt(float((bias**2 + state.variance).mean())))
    worst = np.abs(gap.mean(axis=0)) / (gap.std(axis=0, ddof=1) / math.sqrt(gap.shape[0]))
    player = int(worst.argmax())
    start = figure.studies[EQUAL]
    return SmallStepsEvidence(
        time=time,
        apart=apart,
        rate=rate,
        straight=straight,
        slowest=start.system.step * relaxation(start.system, start.strengths, noise="gaussian").gap,
        mean_gap=float(gap.mean(axis=0)[player]),
        mean_gap_error=float(gap.std(axis=0, ddof=1)[player] / math.sqrt(gap.shape[0])),
        gamma=gamma,
        distance=measured[:, 0],
        distance_error=measured[:, 1],
        computed=np.array(computed),
        law=power_law(gamma[:SMALLEST], measured[:SMALLEST, 0], measured[:SMALLEST, 1]),
    )


def _centred(run: xr.Dataset) -> Array:
    """Ratings as realisations × times × players, less the mean of each league."""
    rating = run.rating.transpose("realisation", "time", "team").values
    return rating - rating.mean(axis=-1, keepdims=True)


def _decay(time: Array, apart: Array) -> tuple[float, float]:
    """Rate of an exponential through the distances, and the share of their logarithm's variance it explains."""
    log = np.log(apart)
    slope, level = np.polyfit(time, log, 1)
    return float(-slope), float(1 - np.var(log - slope * time - level) / np.var(log))


def _distance(run: xr.Dataset, theta: Array) -> tuple[float, float]:
    """Root mean square distance of settled ratings from the skills, with its standard error over leagues."""
    rating = _centred(run)
    late = rating[:, int(BURN_IN * rating.shape[1]) :]
    each = ((late - (theta - theta.mean())) ** 2).mean(axis=(1, 2))
    distance = math.sqrt(each.mean())
    return distance, float(each.std(ddof=1) / math.sqrt(each.size) / (2 * distance))


def draw(data: SmallStepsEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        left.semilogy(data.time, np.maximum(data.apart, 1e-16), color=style.SERIES[0], label="played")
        left.semilogy(
            data.time, np.maximum(data.apart[0] * np.exp(-data.slowest * data.time), 1e-16), color=style.GREY,
            linestyle="--", linewidth=0.9, label="slowest mode, computed",
        )  # fmt: skip
        left.set(xlabel="matches per player", ylabel="distance of two leagues", title="(a) the start is forgotten")
        left.set_ylim(1e-14, 20)
        left.legend()
        right.errorbar(
            data.gamma, data.distance, 2 * data.distance_error, fmt="o", color=style.SERIES[0], markersize=4,
            markerfacecolor="white", capsize=2, label="played",
        )  # fmt: skip
        right.plot(data.gamma, data.computed, color=style.SERIES[0], label="Gaussian closure")
        root = data.distance[0] * np.sqrt(data.gamma / data.gamma[0])
        right.plot(data.gamma, root, color=style.GREY, linestyle=":", label="√γ")
        right.set(xscale="log", yscale="log", xlabel="step size γ", ylabel="distance from the skills")
        right.set_title("(b) skills are reached as √γ")
        right.legend()
        return figure


@check(
    1, SOURCE, statement="the ratings have one equilibrium, whatever the start",
    criterion="mean ratings from two starts, with other luck, agree for every player within 4 standard errors",
)  # fmt: skip
def one_equilibrium(evidence: SmallStepsEvidence) -> Finding:
    """Mean settled ratings of two starts."""
    errors = abs(evidence.mean_gap) / evidence.mean_gap_error
    return Finding(
        f"largest difference of a player's mean rating {evidence.mean_gap:+.4f}, {errors:.1f} standard errors",
        judged(errors < 4),
        "Two leagues with the same games and luck meet, so whatever law one of them settles to is the law of both.",
        figures=(1,),
    )


@check(
    2, SOURCE, statement="the equilibrium is approached at an exponential rate",
    criterion=f"a straight line explains {STRAIGHT:.1%} of the logarithm of the distance of two coupled leagues, "
    "down to a millionth of the start",
)  # fmt: skip
def exponential_approach(evidence: SmallStepsEvidence) -> Finding:
    """How straight the logarithm of the distance falls."""
    deep = evidence.apart.min() < 1e-6 * evidence.apart[0]
    return Finding(
        f"rate {evidence.rate:.4f} a match of a player (slowest mode at the settled ratings {evidence.slowest:.4f}), "
        f"{evidence.straight:.2%} of the variance explained",
        judged(bool(evidence.straight > STRAIGHT and deep)),
        "Far from the skills results are nearly certain and gaps close more slowly; near them the rate is that of the "
        "slowest mode.",
        figures=(1,),
    )


@check(
    3, SOURCE, statement="settled ratings lie at a distance of the order of √K from the skills",
    criterion=f"power of γ within {HALF} of ½ over the {SMALLEST} smallest steps, by least squares on logarithms",
)  # fmt: skip
def square_root_of_step(evidence: SmallStepsEvidence) -> Finding:
    """The power with which the distance falls."""
    law = evidence.law
    return Finding(
        f"distance ∝ γ^{law.power:.3f} ± {law.error:.3f} up to γ = {evidence.gamma[SMALLEST - 1]:g}; "
        + ", ".join(
            f"{evidence.distance[k]:.3f} at γ = {evidence.gamma[k]:g} (closure {evidence.computed[k]:.3f})"
            for k in (0, -1)
        ),
        judged(abs(law.power - 0.5) < HALF),
        "The distance is noise, whose variance grows as γ. Here skills are fixed, as in the source; where strength "
        "varies from match to match a bias remains at every step.",
        figures=(1,),
    )
