"""Win probability over d and stationary bias over θ for each σ, by both closures."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.errors import KineloWarning, NoStationaryState
from kinelo.model.expectation import Closure, expected_result
from kinelo.model.outcome import Tanh
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged_under
from kinelo.paper.figure import FigureStudy
from kinelo.paper.kinetic import stationary_of
from kinelo.paper.summary import STRENGTH_LABEL
from kinelo.pictures import style
from kinelo.theory.teams import Continuum

if TYPE_CHECKING:
    from matplotlib.figure import Figure


NAMES: tuple[Closure, Closure] = ("exact", "taylor")


@dataclass(frozen=True)
class Closures:
    """Evidence of Figure 8: win probabilities of shape (σ, d) and biases of shape (σ, θ), by closure."""

    nu: float
    sigma: Array
    difference: Array
    theta: Array
    win: Mapping[str, Array]
    bias: Mapping[str, Array]


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> Closures:
    """Compute both closures."""
    outcome = Tanh(figure.parameters["nu"])
    low, high = figure.parameters["theta"]
    sigma, difference, theta = (
        np.array(figure.parameters["sigma"]),
        np.linspace(0.0, 6.0, 121),
        np.linspace(low, high, 121),
    )
    win: dict[str, Array] = {}
    bias: dict[str, Array] = {}
    for name in NAMES:
        win[name] = np.empty((sigma.size, difference.size))
        bias[name] = np.full((sigma.size, theta.size), np.nan)  # where nothing is stationary
        for k, s in enumerate(map(float, sigma)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KineloWarning)
                results = expected_result(outcome, Normal(np.append(difference, 0.0), s), name)
            win[name][k] = (1 + results[:-1, -1]) / 2
            with suppress(NoStationaryState):
                teams = Continuum(theta=(low, high), sigma=s)
                bias[name][k] = stationary_of(RatingSystem(outcome), teams, name).rating_of(theta) - theta
    return Closures(
        nu=outcome.nu,
        sigma=sigma,
        difference=difference,
        theta=theta,
        win=win,
        bias=bias,
    )


def draw(data: Closures) -> Figure:
    """Two panels with one legend below them."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        for k, sigma in enumerate(data.sigma):
            shade = (k + 1) / len(data.sigma)  # the larger σ, the stronger the colour
            for closure, colour, line in (("exact", style.EXACT, "-"), ("taylor", style.TAYLOR, "--")):
                label = f"σ = {sigma:g}, {'exact' if closure == 'exact' else 'Taylor'}"
                look = {"color": colour, "linestyle": line, "alpha": 0.25 + 0.75 * shade}
                left.plot(data.difference, data.win[closure][k], label=label, **look)
                right.plot(data.theta, data.bias[closure][k], **look)
        left.axhline(0.5, color=style.GREY, linewidth=0.6)
        left.set(
            xlabel="difference of mean strengths d (points)",
            ylabel="probability that the stronger wins",
            title=f"(a) expected result, ν = {data.nu:g}",
        )
        right.axhline(0, color=style.GREY, linewidth=0.6)
        right.set(xlabel=STRENGTH_LABEL, ylabel="rating − strength, R − θ (points)", title="(b) stationary map")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(data.sigma))
        return figure


SMALL_GAP = 0.05


@check(
    202, "§2, Taylor expansion",
    statement="⟨S⟩ ≈ b(θᵢ − θⱼ) + ½ b″(θᵢ − θⱼ)(σᵢ² + σⱼ²)",
    criterion=f"largest error of ⟨S⟩ below {SMALL_GAP:g} at the smallest σ and at the largest; depends if at one",
)  # fmt: skip
def taylor_closure(evidence: Closures) -> Finding:
    """⟨S⟩ ≈ b + ½ b'' V: how far off, and where it turns back."""
    error = 2 * np.abs(evidence.win["exact"] - evidence.win["taylor"]).max(axis=1)
    turns = [f"{s:g}" for s, win in zip(evidence.sigma, evidence.win["taylor"]) if (np.diff(win) < 0).any()]
    return Finding(
        "largest error of ⟨S⟩: " + ", ".join(f"{e:.4f} at σ = {s:g}" for s, e in zip(evidence.sigma, error)),
        judged_under(bool(error[0] < SMALL_GAP), bool(error[-1] < SMALL_GAP)),
        "Beyond νσ = 1/√2 a stronger team can be predicted to win less often.",
        on="νσ",
        figures=(8,),
        more=f"It falls with growing d at σ = {', '.join(turns)}." if turns else "",
    )
