"""RD over matches from two starts, and the mean rating of a lopsided league over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.errors import InputError
from kinelo.model.steps import DeviationSteps
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, judged_under
from kinelo.paper.figure import FigureStudy
from kinelo.pictures import style
from kinelo.theory.moving.glicko import deviation_after, settled_deviations

if TYPE_CHECKING:
    from matplotlib.figure import Figure


RUN = "lopsided"


@dataclass(frozen=True)
class DeviationEvidence:
    """Matches and RD of two teams; time and mean rating of a league, its speeds computed and simulated."""

    matches: Array
    falling: Array
    rising: Array
    settled: float
    time: Array
    mean: Array
    still_speed: float
    noisy_speed: float
    speed: float
    speed_error: float


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> DeviationEvidence:
    """Compute RD and speeds, and measure the run."""
    study, run = figure.studies[RUN], runs[RUN]
    rule, outcome = study.system.gamma, study.system.outcome
    if not isinstance(rule, DeviationSteps):
        raise InputError(f"{figure.source}: the run must be rated with deviations.")
    growth = float(figure.parameters["growth"])
    settled = math.sqrt(growth / outcome.nu)
    matches = np.linspace(0, 60, 121)
    paths = [deviation_after(growth, outcome.nu**2, start, matches) for start in (2 * settled, settled / 2)]
    time = run.time.values
    means = run.rating.mean("team").transpose("realisation", "time").values
    late = time >= time[-1] / 5
    speeds = np.array([np.polyfit(time[late], one[late], 1)[0] for one in means])
    return DeviationEvidence(
        matches=matches,
        falling=paths[0],
        rising=paths[1],
        settled=settled,
        time=time,
        mean=means.mean(axis=0),
        still_speed=settled_deviations(outcome, study.strengths, rule.growth).travel_speed,
        noisy_speed=settled_deviations(outcome, study.strengths, rule.growth, noise="gaussian").travel_speed,
        speed=float(speeds.mean()),
        speed_error=float(speeds.std(ddof=1) / math.sqrt(speeds.size)),
    )


def draw(data: DeviationEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        left.plot(data.matches, data.falling, color=style.SERIES[0], label="from above")
        left.plot(data.matches, data.rising, color=style.SERIES[1], label="from below")
        left.axhline(data.settled, color=style.GREY, linestyle="--", linewidth=0.9)
        left.set(xlabel="matches played", ylabel="RD", ylim=(0, None), title="(a) RD falls only from above")
        left.legend()
        first = data.mean[0]
        right.plot(data.time, data.mean, color=style.SERIES[0], label="simulated")
        for speed, line, name in ((data.still_speed, ":", "without noise"), (data.noisy_speed, "--", "with noise")):
            right.plot(data.time, first + speed * data.time, color=style.GREY, linestyle=line, label=f"computed {name}")
        right.set(xlabel="matches per team", ylabel="mean rating of the league", title="(b) a scale that travels")
        right.legend()
        return figure


@check(
    5, "Conclusion, outlook on Glicko",
    statement="the deviation shrinks for those who play",
    criterion="RD falls from above where it settles and from below; depends if from one of them only",
)  # fmt: skip
def deviation_shrinks(evidence: DeviationEvidence) -> Finding:
    """RD from above and from below."""
    falls, rises = evidence.falling[-1] < evidence.falling[0], evidence.rising[-1] < evidence.rising[0]
    return Finding(
        f"RD settles at {evidence.settled:.3f}: from {evidence.falling[0]:.3f} it falls, from {evidence.rising[0]:.3f} "
        f"it {'falls' if rises else 'rises'}",
        judged_under(bool(falls), bool(rises)),
        "Playing brings information, time takes it; below the balance ignorance grows even while playing.",
        on="whether RD lies above where it settles",
        figures=(3,),
    )


@check(
    6,
    "Conclusion, outlook on Glicko",
    statement="the mean rating is conserved, as in Elo",
    criterion="speed of the mean rating within 2 standard errors of 0",
)
def mean_conserved(evidence: DeviationEvidence) -> Finding:
    """Speed of the mean rating."""
    return Finding(
        f"speed per match: simulated {evidence.speed:.2e} ± {2 * evidence.speed_error:.0e}, computed "
        f"{evidence.still_speed:.2e} without noise and {evidence.noisy_speed:.2e} with it",
        judged(abs(evidence.speed) < 2 * evidence.speed_error),
        "Two sides move by steps of their own, so points are made and lost; in a lopsided league the whole scale "
        "travels.",
        figures=(3,),
    )
