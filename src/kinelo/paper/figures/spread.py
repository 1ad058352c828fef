"""Exact σ of each team, σ over drawn line-ups as the paper has it, and its root mean square over many leagues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.model.strength import Strength
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, judged_print, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import SPREAD_LABEL, STRENGTH_LABEL, name_pair
from kinelo.pictures import style
from kinelo.studies.study import Study, required

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class TeamSpread:
    """Mean and spread of each team of a league; ``inner_95`` holds 95 % of all but its last two, over many leagues."""

    theta: Array
    sigma: Array
    drawn_sigma: Array
    expected_sigma: Array
    inner_95: tuple[float, float]


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> dict[str, TeamSpread]:
    """Measure the spread of every league that the study names."""
    return {name: _spread(study, figure.parameters) for name, study in figure.studies.items()}


def _spread(study: Study, parameters: Mapping[str, int]) -> TeamSpread:
    league = study.strengths
    section = required("league", study.league)
    others = (section.model_copy(update={"seed": seed}) for seed in range(1, parameters["averaged_leagues"] + 1))
    many = np.array([one.build().sigma for one in others])
    low, high = np.quantile(many[:, : league.teams - 2], [0.025, 0.975])
    return TeamSpread(
        theta=league.theta,
        sigma=league.sigma,
        drawn_sigma=_drawn(league, parameters),
        expected_sigma=np.sqrt(np.mean(many**2, axis=0)),
        inner_95=(float(low), float(high)),
    )


def _drawn(league: Strength, parameters: Mapping[str, int]) -> Array:
    generator = np.random.default_rng(parameters["seed"])
    # Team by team: all at once, the random numbers of 2·10⁶ line-ups would fill 370 MB.
    drawn = [league.draw(generator, np.full(parameters["lineups"], team)) for team in range(league.teams)]
    return np.array(drawn).std(axis=1, ddof=1)


def draw(data: Mapping[str, TeamSpread]) -> Figure:
    """Two panels, one per league."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.7)
        left, right = figure.subplots(1, 2)
        r1, r2 = data["R1"], data["R2"]
        number = np.arange(1, r1.theta.size + 1)
        left.plot(number, r1.drawn_sigma, ".", color=style.SKY, markersize=3, label="over drawn line-ups")
        left.plot(number, r1.sigma, color=style.BLUE, linewidth=0.8, label="exact")
        left.plot(
            number, r1.expected_sigma, color=style.RED, linestyle="--", label="root mean square over many leagues"
        )
        left.set(xlabel="number of the team", ylabel=SPREAD_LABEL, title="(a) set-up R1", ylim=(0, None))
        left.legend(loc="upper left")
        right.plot(r2.theta, r2.drawn_sigma, ".", color=style.SKY, markersize=3, label="over drawn line-ups")
        right.plot(r2.theta, r2.sigma, "+", color=style.BLUE, markersize=3, markeredgewidth=0.5, label="exact")
        name_pair(right, r2.theta, r2.sigma)
        right.set(xlabel=STRENGTH_LABEL, ylabel=SPREAD_LABEL, title="(b) set-up R2", ylim=(0, None))
        right.legend(loc="center left")
        return figure


@check(
    210, "§2, set-up R1, Figure 1a",
    quote="all teams have an approximate team strength of θᵢ ≈ 5 with increasing variance",
    statement="in set-up R1 the spread grows with the number of the team",
    criterion="correlation of σᵢ with i above 0.99, and σᵢ grows",
)  # fmt: skip
def spread_grows_in_r1(evidence: Mapping[str, TeamSpread]) -> Finding:
    """σ_i of R1 grows in proportion to i − 1."""
    r1 = needed(evidence, "R1")
    i = np.arange(r1.theta.size)
    rate = float(i @ r1.expected_sigma / (i @ i))
    straight = float(np.corrcoef(i, r1.expected_sigma)[0, 1])
    return Finding(
        f"root mean square σᵢ = {rate:.6f} (i − 1), correlation {straight:.4f}",
        judged(straight > 0.99 and rate > 0),
        "Theory: 0.0031435 per team.",
        figures=(1,),
    )


@check(
    211, "§2, set-up R1",
    quote="all teams have an approximate team strength of θᵢ ≈ 5",
    statement="in set-up R1 the teams' mean strengths are about 5",
    criterion="mean of θ within 0.1 of 5, root mean square distance below 0.5",
)  # fmt: skip
def strengths_near_five_in_r1(evidence: Mapping[str, TeamSpread]) -> Finding:
    """θ_i of R1 scatters around 5, the more the larger i."""
    theta = needed(evidence, "R1").theta
    typical = float(np.sqrt(np.mean((theta - 5) ** 2)))
    return Finding(
        f"mean {theta.mean():.3f}, root mean square distance {typical:.3f}",
        judged(bool(abs(theta.mean() - 5) < 0.1 and typical < 0.5)),
        "",
        figures=(1,),
        more=f"Teams from {theta.min():.2f} to {theta.max():.2f}.",
    )


@check(
    220, "§2, set-up R2, Figure 1b",
    quote="the variances σᵢ² are of the same order … it is signficantly higher in the generated data set",
    statement="the spreads of the 198 teams of R2 are of the same order, those of Germany and Brazil significantly "
    "higher",
    criterion="largest σ of the 198 below 5 times the smallest; the two are not published",
)  # fmt: skip
def r2_spreads_alike(evidence: Mapping[str, TeamSpread]) -> Finding:
    """Variances of R2 are of the same order; Germany's and Brazil's are what they are given."""
    sigma = needed(evidence, "R2").sigma
    typical = float(np.median(sigma[:-2]))
    ratio = float(sigma[:-2].max() / sigma[:-2].min())
    return Finding(
        f"largest over smallest σ: {ratio:.2f}. Germany and Brazil are given σ = {sigma[-2:].min():.3g}, "
        f"{sigma[-2:].min() / typical:.1f} times the median",
        "input not published" if ratio < 5 else "does not hold",
        "The first half holds.",
        figures=(1,),
    )


@check(
    231, "Figure 2b, caption",
    quote="constant variance σ = 1 in the team performance", statement="the teams of set-up R2 have σ = 1",
    criterion="root mean square of σ within 0.1 of 1",
)  # fmt: skip
def spread_is_one_in_r2(evidence: Mapping[str, TeamSpread]) -> Finding:
    """The caption of Figure 2b says σ = 1."""
    r2 = needed(evidence, "R2")
    typical = float(np.sqrt((r2.sigma[:-2] ** 2).mean()))
    return Finding(
        f"root mean square σ = {typical:.4f}",
        judged_print(abs(typical - 1) < 0.1),
        "1 is that of a player's η.",
        figures=(1,),
        more=f"95 % of teams within {r2.inner_95[0]:.3f}–{r2.inner_95[1]:.3f}.",
    )
