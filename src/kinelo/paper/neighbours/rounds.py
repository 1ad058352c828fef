"""The figure of rounds: where mean ratings go from round to round, and how noisy they are, over γ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.model.outcome import Tanh
from kinelo.model.schedule import Rounds
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.pictures import style
from kinelo.theory.limit import stationary
from kinelo.theory.moving.rounds import critical_gamma

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class RoundsEvidence:
    """Points of orbits as (γ, rating), periods over γ, thresholds, and noise over some γ."""

    orbit: Array
    gamma: Array
    period: Array
    critical: float
    fastest: float
    bound: float
    noisy_gamma: Array
    noise: Array
    noise_by_match: Array


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> RoundsEvidence:
    """Follow the mean map at each γ."""
    p = figure.parameters
    outcome, league = Tanh(p["nu"]), Fixed(np.linspace(p["theta"][0], p["theta"][1], p["teams"]))
    critical = critical_gamma(outcome, league)
    low, high = p["gamma"]
    gamma = np.linspace(low, high, p["points"])
    orbits = [critical.beyond(float(one)) for one in gamma]
    points = [(one, rating[p["teams"] // 2]) for one, orbit in zip(gamma, orbits) for rating in orbit.ratings]
    some = np.linspace(low, high, p["noisy"])
    noise, by_match = (
        [_noise(RatingSystem(outcome, gamma=float(one), schedule=schedule), league) for one in some]
        for schedule in (Rounds(), None)
    )
    return RoundsEvidence(
        np.array(points), gamma, np.array([orbit.period for orbit in orbits]), critical.critical, critical.fastest,
        critical.bound, some, np.array(noise), np.array(by_match),
    )  # fmt: skip


def _noise(system: RatingSystem, league: Fixed) -> float:
    return float(np.sqrt(stationary(system, league, noise="gaussian").variance.mean()))


def draw(data: RoundsEvidence) -> Figure:
    """Two panels over γ."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        left.plot(*data.orbit.T, "o", color=style.SERIES[0], markersize=2.5)
        left.set(xlabel="step size γ of a round", ylabel="mean rating after many rounds", title="(a) one team's orbit")
        right.plot(data.noisy_gamma, data.noise, "o-", color=style.SERIES[1], markersize=3, label="rounds")
        right.plot(data.noisy_gamma, data.noise_by_match, "s-", color=style.SERIES[0], markersize=3, label="by match")
        right.set(xlabel="step size γ", ylabel="standard deviation of a rating", title="(b) noise, by the closure")
        for axes in (left, right):
            axes.axvline(data.bound, color=style.GREY, linestyle=":", linewidth=0.9)
            axes.axvline(data.critical, color=style.GREY, linestyle="--", linewidth=0.9)
        right.legend()
        return figure


DIVERGED = 1000.0


@check(
    3, "Junca 2021, round robin", statement="the mean map settles exactly where K N sup b′ < 2",
    criterion="no γ above the bound settles; depends if one does",
)  # fmt: skip
def contraction(evidence: RoundsEvidence) -> Finding:
    """Where orbits settle, against the bound."""
    settled = evidence.gamma[evidence.period == 1]
    return Finding(
        f"settles up to γ = {settled.max():.3f}; exact threshold {evidence.critical:.4f}, bound {evidence.bound:.4f}",
        "depends" if settled.max() > evidence.bound else judged(True),
        "Below the bound every start converges, but it is sharp only for equal strengths, and the map contracts "
        "uniformly only on bounded sets, because b′ vanishes far out.",
        on="whether strengths are equal",
        figures=(2,),
    )


@check(
    4, "Junca 2021, round robin", statement="beyond the threshold ratings diverge",
    criterion=f"ratings of some orbit more than {DIVERGED:,g} points apart",
)  # fmt: skip
def divergence(evidence: RoundsEvidence) -> Finding:
    """Orbits beyond the threshold."""
    beyond = evidence.period[evidence.gamma > evidence.critical]
    periods = ", ".join(str(one) if one else "none" for one in sorted({int(one) for one in beyond}))
    return Finding(
        f"periods beyond it, in rounds: {periods or 'none was tried'}; ratings stay within "
        f"{np.ptp(evidence.orbit[:, 1]):.1f} points",
        judged(bool(np.ptp(evidence.orbit[:, 1]) > DIVERGED)),
        "Results are bounded, so ratings alternate between two tables instead; with noise this shows as variance.",
        figures=(2,),
    )
