"""What the paper says of its Figure 2, over the step size γ that it does not print: computed and simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.errors import InputError
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, judged_under, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.figures.leagues import LeagueRun, teams_in_line
from kinelo.paper.figures.outliers import stand_out
from kinelo.paper.summary import line_through, simulated, with_error
from kinelo.pictures import style
from kinelo.studies.study import Study, required
from kinelo.theory.limit import stationary, with_noise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class ScanPoint:
    """One simulated league: the slope of its line and R − θ of its last two teams, with standard errors."""

    gamma: float
    slope: float
    slope_error: float
    germany: float
    brazil: float
    germany_error: float
    brazil_error: float


@dataclass(frozen=True, kw_only=True)
class ScanLine:
    """One league over γ: computed slope, R − θ of its last two teams, lower edge of the others' 95 % band."""

    slope: Array
    germany: Array
    brazil: Array
    low: Array
    points: tuple[ScanPoint, ...]


@dataclass(frozen=True)
class StepScan:
    """Evidence of Figure 12: set-up R1, and R2 by the spread given to Germany and Brazil.

    ``ranges`` holds, by that spread, the γ between which all that is said of Figure 2 is true; ``r1_range`` where R1 is
    flatter than R = θ, ``r2_ranges`` where R2 is steeper. A range that is empty is (inf, −inf).
    """

    gamma: Array
    r1: ScanLine
    r2: Mapping[float, ScanLine]
    ranges: Mapping[float, tuple[float, float]]
    r1_range: tuple[float, float]
    r2_ranges: Mapping[float, tuple[float, float]]


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> StepScan:
    """Compute every league over γ, and find where the statements hold together."""
    gamma = np.array(figure.parameters["gamma"], dtype=float)
    r1, r2 = {}, {}
    for name, study in figure.studies.items():
        league = required("league", study.league).model_dump()
        place, key = (r2, float(league["germany_brazil_sigma"])) if league["kind"] == "r2" else (r1, 0.0)
        place.setdefault(key, []).append((study, runs[name]))
    if not r1 or not r2:
        raise InputError('This figure needs leagues of kind = "r1" and of kind = "r2".')
    first = _line(r1[0.0], gamma)
    others = {sigma: _line(some, gamma) for sigma, some in sorted(r2.items())}
    return StepScan(
        gamma=gamma,
        r1=first,
        r2=others,
        ranges={sigma: _range(gamma, 1 - first.slope, line.slope - 1, _below(line)) for sigma, line in others.items()},
        r1_range=_range(gamma, 1 - first.slope),
        r2_ranges={sigma: _range(gamma, line.slope - 1) for sigma, line in others.items()},
    )


def _line(some: list[tuple[Study, xr.Dataset]], gamma: Array) -> ScanLine:
    study = some[0][0]
    line, league = teams_in_line(study), study.strengths
    rows, state = [], None
    limit = stationary(study.system, league)
    for step in gamma:
        system = RatingSystem(study.system.outcome, gamma=float(step))
        state = with_noise(replace(limit, system=system), similar=state)
        germany, brazil, low, _ = stand_out(state.bias)
        rows.append((line_through(league.theta[line], state.rating[line])[0], germany, brazil, low))
    slope, germany, brazil, low = np.array(rows).T
    points = tuple(_point(study, run) for study, run in some)
    return ScanLine(slope=slope, germany=germany, brazil=brazil, low=low, points=points)


def _point(study: Study, run: xr.Dataset) -> ScanPoint:
    settled_run = simulated(run, line=teams_in_line(study))
    germany, brazil = (settled_run.settled - settled_run.theta)[-2:]
    errors = settled_run.settled_error[-2:]
    return ScanPoint(
        gamma=study.system.step, slope=settled_run.slope, slope_error=settled_run.slope_error, germany=float(germany),
        brazil=float(brazil), germany_error=float(errors[0]), brazil_error=float(errors[1]),
    )  # fmt: skip


def _below(line: ScanLine) -> Array:
    """How far the nearer of Germany and Brazil lies below its strength and below the others."""
    return np.minimum(line.low, 0) - np.maximum(line.germany, line.brazil)


def _range(gamma: Array, *margins: Array) -> tuple[float, float]:
    """First and last γ at which every margin, straight between the computed ones, is positive."""
    fine = np.linspace(gamma[0], gamma[-1], 4801)
    inside = fine[np.min([np.interp(fine, gamma, margin) for margin in margins], axis=0) > 0]
    return (float(inside[0]), float(inside[-1])) if inside.size else (float("inf"), float("-inf"))


def draw(data: StepScan) -> Figure:
    """Slopes of the lines, and the two teams beside the others."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.4)
        slopes, pair = figure.subplots(1, 2)
        for axes in (slopes, pair):
            for low, high in data.ranges.values():
                if low < high:
                    axes.axvspan(low, high, color=style.SKY, alpha=0.22, linewidth=0)
        _slopes(slopes, data.gamma, data.r1, "R1", style.BLACK, "o")
        for colour, marker, (sigma, line) in zip((style.BLUE, style.GREEN), "sD", data.r2.items()):
            _slopes(slopes, data.gamma, line, f"R2, σ = {sigma:g}", colour, marker)
            _pair(pair, data.gamma, line, f"σ = {sigma:g}", colour)
        slopes.axhline(1, color=style.GREY, linestyle="--", linewidth=0.9)
        pair.axhline(0, color=style.GREY, linewidth=0.6)
        slopes.set(xlabel="step size γ (points per match)", ylabel="slope of R on θ", title="(a) the lines")
        pair.set(xlabel="step size γ (points per match)", ylabel="R − θ (points)", title="(b) Germany and Brazil")
        for axes in (slopes, pair):
            axes.set_xlim(0, float(data.gamma[-1]))
        slopes.legend(loc="upper left", fontsize=6.5)
        pair.set_ylim(bottom=1.5 * min(float(line.germany.min()) for line in data.r2.values()))
        pair.legend(loc="lower center", fontsize=6.5, ncols=2)
        return figure


def _slopes(axes: Axes, gamma: Array, line: ScanLine, name: str, colour: str, marker: str) -> None:
    axes.plot(gamma, line.slope, color=colour, linewidth=1.1, label=f"{name}, computed")
    x, y, error = (np.array([getattr(p, part) for p in line.points]) for part in ("gamma", "slope", "slope_error"))
    axes.errorbar(
        x, y, 2 * error, fmt=marker, color=colour, markersize=4, markerfacecolor="white", capsize=2,
        label=f"{name}, simulated",
    )  # fmt: skip


def _pair(axes: Axes, gamma: Array, line: ScanLine, name: str, colour: str) -> None:
    for team, style_of_line, marker in (("germany", "-", "o"), ("brazil", "--", "s")):
        axes.plot(
            gamma, getattr(line, team), color=colour, linestyle=style_of_line, linewidth=1.1,
            label=f"{team.title()}, {name}",
        )  # fmt: skip
        axes.errorbar(
            [p.gamma for p in line.points], [getattr(p, team) for p in line.points],
            [2 * getattr(p, f"{team}_error") for p in line.points], fmt=marker, color=colour, markersize=3.5,
            markerfacecolor="white", capsize=2,
        )  # fmt: skip
    axes.plot(gamma, line.low, color=colour, linestyle=":", linewidth=1.0, label=f"edge of the others, {name}")


def _said(scan: StepScan) -> str:
    """Where all statements about Figure 2 hold together."""
    parts = [
        f"{low:.3f} to {high:.3f} (σ = {sigma:g})" if low < high else f"no γ (σ = {sigma:g})"
        for sigma, (low, high) in scan.ranges.items()
    ]
    return "all that is said of Figure 2 holds for γ from " + ", ".join(parts)


def below_one(run: LeagueRun) -> bool:
    """Whether a slope is below 1 by more than two standard errors."""
    return bool(run.slope < 1 - 2 * run.slope_error)


@check(
    232, "§2, Figure 2a", needs=("leagues", "step_scan"),
    quote="teams with θ < 5 consistently under-perform and conversely θ > 5 over-perform, as they lie above and "
    "below the line θ = R, respectively",
    statement="in set-up R1 the slope of R on θ is below 1",
    criterion="below 1 by two standard errors",
)  # fmt: skip
def r1_over_and_under(leagues: Mapping[str, LeagueRun], scan: StepScan) -> Finding:
    """Teams with θ < 5 lie above the diagonal, those with θ > 5 below: slope below one."""
    run = needed(leagues, "R1")
    return Finding(
        f"slope {with_error(run)} at γ = {run.gamma:g} (computed {run.computed_slope:.4f})",
        judged(below_one(run)),
        "The paper does not print γ; the authors' was probably near 0.1.",
        figures=(2, 12),
        more=f"Below 1 for γ up to {scan.r1_range[1]:.3f}; {_said(scan)}.",
    )


@check(
    234, "§2, Figure 2b", needs=("leagues", "step_scan"),
    quote="this straight line has a steeper slope than θ = R",
    statement="in set-up R2 the slope of R on θ is above 1 (198 teams)",
    criterion="above 1 by two standard errors",
)  # fmt: skip
def r2_steeper(leagues: Mapping[str, LeagueRun], scan: StepScan) -> Finding:
    """The line of R2 is steeper than R = θ."""
    run = needed(leagues, "R2")
    return Finding(
        f"slope {with_error(run)} at γ = {run.gamma:g} (computed {run.computed_slope:.4f})",
        judged(bool(run.slope > 1 + 2 * run.slope_error)),
        "Varying strength flattens the map; rating noise steepens it.",
        figures=(2, 12),
        more=f"Above 1 from γ = {steeper_from(scan)}; {run.limit_slope:.4f} as γ → 0.",
    )


def steeper_from(scan: StepScan) -> str:
    """The γ from which on R2 is steeper than R = θ, by the spread of Germany and Brazil."""
    return ", ".join(f"{low:.3f} (σ = {sigma:g})" for sigma, (low, _) in scan.r2_ranges.items())


@check(
    235, "§2, Figure 2b", needs=("leagues", "step_scan"),
    quote="the German and Brazilian team are clear outliers, both are under-performing relative to their strengths",
    statement="R − θ of Germany and Brazil is negative and outside of the other teams' range",
    criterion="both simulated below the others' computed 95 % band by two standard errors, with σ = 1 and with 2; "
    "depends if with one",
)  # fmt: skip
def germany_and_brazil(leagues: Mapping[str, LeagueRun], scan: StepScan) -> Finding:
    """Germany and Brazil are outliers, rated below their strength."""
    run = needed(leagues, "R2")

    def at(values: Array) -> float:
        return float(np.interp(run.gamma, scan.gamma, values))

    points = {sigma: min(line.points, key=lambda one: abs(one.gamma - run.gamma)) for sigma, line in scan.r2.items()}
    sentences = [
        f"{point.germany:+.3f} ± {point.germany_error:.3f} and {point.brazil:+.3f} ± {point.brazil_error:.3f} with "
        f"σ = {sigma:g} (edge {at(scan.r2[sigma].low):+.3f})"
        for sigma, point in points.items()
    ]
    computed = "; ".join(
        f"{at(line.germany):+.3f} and {at(line.brazil):+.3f} with σ = {sigma:g}" for sigma, line in scan.r2.items()
    )
    reach = {sigma: _range(scan.gamma, _below(line))[1] for sigma, line in scan.r2.items()}
    outside = ", ".join(f"for {f'γ up to {most:.2f}' if most > 0 else 'no γ'} (σ = {s:g})" for s, most in reach.items())
    # Whether both teams lie below 0 and below the others by more than two standard errors.
    clear = {
        sigma: max(one.germany + 2 * one.germany_error, one.brazil + 2 * one.brazil_error)
        < min(at(scan.r2[sigma].low), 0.0)
        for sigma, one in points.items()
    }
    which = {yes: " and ".join(f"{sigma:g}" for sigma, one in clear.items() if one is yes) for yes in (True, False)}
    settled, last = ((rating - run.theta)[-2:] for rating in (run.settled, run.rating))
    last_error = run.rating_sd[-2:] / np.sqrt(run.realisations)
    return Finding(
        f"R − θ of Germany and Brazil, simulated at γ = {run.gamma:g}: {'; '.join(sentences)}",
        judged_under(*clear.values()),
        "",
        on=f"their σ, which is not published: clear with {which[True]}, not with {which[False]}",
        figures=(2, 11, 12),
        more=f"Computed: {computed}; outside the band {outside}. Figure 2b draws the ratings at the end of "
        f"its run, as the paper does: {last[0]:+.3f} ± {last_error[0]:.3f} and {last[1]:+.3f} ± {last_error[1]:.3f}; "
        f"means over the second half of that run are {settled[0]:+.3f} ± {run.settled_error[-2]:.3f} and "
        f"{settled[1]:+.3f} ± {run.settled_error[-1]:.3f}. Figures 11 and 12 draw such means of shorter runs with "
        "other seeds.",
    )
