"""Error of ratings against γ, computed and simulated, and the spread of a league that is driven apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.errors import InputError
from kinelo.model.dynamics import Learning
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.pictures import style
from kinelo.theory.moving.learning import learning_closure
from kinelo.theory.moving.tracking import tracking
from kinelo.theory.teams import teams_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LEARNING_APART = "apart"
BURN_IN = 0.25
"""Part of a run that is left out, as its way to the stationary state."""


@dataclass(frozen=True)
class LearningEvidence:
    """Computed errors over γ, their limit, simulated ones with standard errors, and the spreads of the league apart."""

    gamma: Array
    error: Array
    floor: float
    slope: float
    run_gamma: Array
    run_error: Array
    run_uncertainty: Array
    time: Array
    strength_spread: Array
    rating_spread: Array
    predicted_spread: Array


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> LearningEvidence:
    """Compute the line, and measure the runs."""
    studies = {name: study for name, study in figure.studies.items() if name != LEARNING_APART}
    first = next(iter(studies.values()))
    learning = first.motion
    if not isinstance(learning, Learning):
        raise InputError(f"{figure.source}: the runs must have learning as their dynamics.")
    tracked = tracking(first.system, first.strengths, learning)
    outcome, correction = first.system.outcome, tracked.moments - tracked.closure
    gamma = np.linspace(0.0, max(study.system.step for study in studies.values()), 25)
    teams = teams_of(first.strengths)
    error = np.array([(learning_closure(outcome, learning, one, teams).moments + correction).error for one in gamma])
    measured = np.array([(study.system.step, *simulated_error(runs[name])) for name, study in studies.items()])
    apart, system = runs[LEARNING_APART], figure.studies[LEARNING_APART].system
    time = system.step * apart.time.values
    nu = system.outcome.nu
    return LearningEvidence(
        gamma=gamma,
        error=error,
        floor=tracked.limit.error if tracked.limit else float(error[0]),
        slope=tracked.limit.rating_slope if tracked.limit else math.nan,
        run_gamma=measured[:, 0],
        run_error=measured[:, 1],
        run_uncertainty=measured[:, 2],
        time=time,
        strength_spread=apart.strength.std("team").mean("realisation").values,
        rating_spread=apart.rating.std("team").mean("realisation").values,
        predicted_spread=(3 * math.pi**2 * time / (8 * nu**2)) ** (1 / 3) / math.sqrt(5),
    )


def simulated_error(run: xr.Dataset) -> tuple[float, float]:
    """Mean square error about the league's means, and its standard error over realisations."""
    late = run.isel(time=slice(int(BURN_IN * run.sizes["time"]), None))
    gap = (late.rating - late.strength).transpose("realisation", "time", "team").values
    each = gap.var(axis=-1, ddof=1).mean(axis=-1)
    return float(each.mean()), float(each.std(ddof=1) / math.sqrt(each.size))


def draw(data: LearningEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        left.plot(data.gamma, data.error, color=style.SERIES[0], label="computed")
        left.errorbar(
            data.run_gamma, data.run_error, 2 * data.run_uncertainty, fmt="o", color=style.SERIES[0], markersize=4,
            markerfacecolor="white", capsize=2, label="simulated",
        )  # fmt: skip
        left.axhline(data.floor, color=style.GREY, linestyle="--", linewidth=0.9, label="as γ → 0")
        left.set(xlabel="step size γ", ylabel="mean square error E(r − ρ)²", xlim=(0, None), ylim=(0, None))
        left.set_title("(a) ratings never reach strengths that learn")
        left.legend()
        later = data.time > 0
        right.loglog(data.time[later], data.strength_spread[later], color=style.SERIES[1], label="strengths")
        right.loglog(data.time[later], data.rating_spread[later], color=style.SERIES[0], label="ratings")
        right.loglog(
            data.time[later], data.predicted_spread[later], color=style.GREY, linestyle="--", label="t^{1/3} law"
        )
        right.set(xlabel="kinetic time t = γ × matches per team", ylabel="standard deviation over the league")
        right.set_title("(b) winners gain what losers lose")
        right.legend()
        return figure


@check(
    1, "Introduction, on Jabin and Junca",
    statement="ratings converge to strengths, here: strengths that learn",
    criterion="error below 0.001 as γ → 0",
)  # fmt: skip
def ratings_converge(evidence: LearningEvidence) -> Finding:
    """The error as γ → 0."""
    played = zip(evidence.run_gamma, evidence.run_error, evidence.run_uncertainty)
    runs = ", ".join(f"{error:.4f} ± {2 * doubt:.4f} at γ = {gamma:g}" for gamma, error, doubt in played)
    return Finding(
        f"error {evidence.floor:.4f} as γ → 0 (slope of ratings on strengths {evidence.slope:.3f}); simulated {runs}",
        judged(evidence.floor < 1e-3),
        "Strengths move on while ratings follow: a lag stays however small the step.",
        figures=(1,),
    )


@check(
    2, "Düring, Torregrossa, Wolfram 2019",
    statement="ratings show how strengths spread when winners gain what losers lose",
    criterion="exponents of growth within 0.1 of each other",
)  # fmt: skip
def ratings_show_spread(evidence: LearningEvidence) -> Finding:
    """Growth exponents over the last half of the run."""
    late = evidence.time > evidence.time[-1] / 4
    powers = [
        np.polyfit(np.log(evidence.time[late]), np.log(spread[late]), 1)[0]
        for spread in (evidence.strength_spread, evidence.rating_spread)
    ]
    return Finding(
        f"strengths grow like t^{powers[0]:.2f}, ratings like t^{powers[1]:.2f}",
        judged(abs(powers[0] - powers[1]) < 0.1),
        "Once the stronger always wins, results say who is better but no longer by how much.",
        figures=(1,),
    )
