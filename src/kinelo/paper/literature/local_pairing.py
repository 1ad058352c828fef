"""Mean ratings without noise, ``dR_i/dt = Σ_j w(R_i − R_j)(b(ρ_i − ρ_j) − b(R_i − R_j))/N``, from several starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.model.outcome import Tanh
from kinelo.model.pairing import AllPlayAll, Pairing, Window
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SOURCE = "Jabin and Junca 2015, abstract"
SAME = 0.05
"""Tables are one and the same where no rating differs by more."""
STEP = 0.5
"""Longest step of the flow; rates are at most ν."""


@dataclass(frozen=True)
class LocalPairingEvidence:
    """Skills, times, distances from the skills by start, and final tables, for all pairs and for near ones."""

    skills: Array
    time: Array
    all_distance: Array
    near_distance: Array
    all_final: Array
    near_final: Array


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> LocalPairingEvidence:
    """Integrate from every start under both pairings."""
    p = figure.parameters
    skills = 5 * np.sign(grid := np.linspace(-1, 1, p["teams"])) * np.abs(grid) ** 1.3
    generator = np.random.default_rng(p["seed"])
    starts = [
        np.zeros_like(skills),
        0.3 * skills,
        -0.5 * skills,
        generator.permutation(skills),
        skills + np.where(skills > 1.0, 3.0, 0.0),  # a group that has been placed too high
    ]
    time = np.concatenate([[0.0], np.geomspace(1.0, p["until"], 160)])
    outcome = Tanh(p["nu"])
    paths = [
        follow(outcome, pairing, skills, np.array(starts), time) for pairing in (AllPlayAll(), Window(p["window"]))
    ]
    everyone, near = paths
    distance, near_distance = (np.sqrt(((path - (skills - skills.mean())) ** 2).mean(axis=-1)) for path in paths)
    return LocalPairingEvidence(skills, time, distance, near_distance, everyone[:, -1], near[:, -1])


def follow(outcome: Tanh, pairing: Pairing, skills: Array, starts: Array, time: Array) -> Array:
    """Mean ratings at every time (starts × times × players), by midpoint steps, which a hard window does not stop."""
    expected = outcome.b(skills[:, None] - skills[None, :])

    def velocity(rating: Array) -> Array:
        gap = rating[:, :, None] - rating[:, None, :]
        return (pairing.w(gap) * (expected - outcome.b(gap))).mean(axis=-1)

    rating, path = starts - starts.mean(axis=1, keepdims=True), []
    for length in np.diff(time, prepend=time[0]):
        steps = max(1, int(np.ceil(length / STEP)))
        for _ in range(steps if length else 0):
            half = rating + length / steps / 2 * velocity(rating)
            rating = rating + length / steps * velocity(half)
        path.append(rating)
    return np.array(path).swapaxes(0, 1)


def draw(data: LocalPairingEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        for k, (everyone, near) in enumerate(zip(data.all_distance, data.near_distance)):
            left.semilogy(data.time, np.maximum(everyone, 1e-7), color=style.SERIES[k], label="all" if k == 0 else None)
            left.semilogy(data.time, near, color=style.SERIES[k], linestyle="--", label="near" if k == 0 else None)
            right.plot(data.skills, data.near_final[k], "o-", color=style.SERIES[k], markersize=2.5, linewidth=0.7)
        left.set(xlabel="γ × matches per player", ylabel="distance from the skills", ylim=(1e-6, 10))
        left.set_xlim(0, 600)
        left.set_title("(a) five starts")
        left.legend(title="who meets")
        right.plot(data.skills, data.skills, color=style.GREY, linestyle="--", linewidth=0.9)
        right.set(xlabel="skill", ylabel="rating in the end", title="(b) near ratings only")
        return figure


@check(
    8, SOURCE, statement="where all meet all, ratings converge to the skills exponentially",
    criterion=f"every start ends within {SAME} of the skills, at late rates within 10 % of one another",
)  # fmt: skip
def all_converge(evidence: LocalPairingEvidence) -> Finding:
    """Distances in the end, and rates late."""
    deep = evidence.all_distance > 1e-6
    rates = []
    for distance, usable in zip(evidence.all_distance, deep):
        late = np.flatnonzero(usable)[-20:]
        rates.append(-np.polyfit(evidence.time[late], np.log(distance[late]), 1)[0])
    spread = np.ptp(rates) / np.mean(rates)
    ends = np.abs(evidence.all_final - (evidence.skills - evidence.skills.mean())).max()
    return Finding(
        f"largest distance of a rating in the end {ends:.0e}; late rates {min(rates):.4f} to {max(rates):.4f} per unit "
        "of γ × matches",
        judged(bool(ends < SAME and spread < 0.1)),
        "Where strength varies from match to match, they converge to a map of smaller slope instead.",
        figures=(3,),
    )


@check(
    9, SOURCE, statement="with local interactions there are several equilibria, which depend on the initial ratings",
    criterion=f"two starts end more than {SAME} apart, and neither moves any more",
)  # fmt: skip
def several_equilibria(evidence: LocalPairingEvidence) -> Finding:
    """How many tables the starts end at."""
    tables: list[Array] = []
    for final in evidence.near_final:
        if all(np.abs(final - one).max() > SAME for one in tables):
            tables.append(final)
    before = int(np.searchsorted(evidence.time, 7 / 8 * evidence.time[-1]))
    ends = evidence.near_distance[:, -1]
    away = ends > SAME
    moving = np.abs(ends / evidence.near_distance[:, before] - 1)[away].max(initial=0.0)
    return Finding(
        f"{len(tables)} tables from {len(ends)} starts, {ends.min():.2f} to {ends.max():.2f} from the skills; over the "
        f"last eighth no distance of more than {SAME} changes by more than {moving:.1%}",
        judged(len(tables) > 1 and bool(moving < 0.01)),
        "Groups that stop meeting keep the gap between them for good; the noise of a finite step lets some meet again.",
        figures=(3,),
    )
