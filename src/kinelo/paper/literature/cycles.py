"""The point without drift of Elo among players whose results hold a cycle, by who meets whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from kinelo.model.outcome import Tanh
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SOURCE = "Hamilton, Kalenkova and Roughan, arXiv 2412.14427, abstract"
APART = 0.05
"""Tables depend on who meets whom where a rating differs by more."""
EXACT = 1e-6
REST, NEWTON = 500.0, 4
"""Time for which mean ratings are followed, and Newton's steps after it."""


@dataclass(frozen=True)
class CyclesEvidence:
    """Tables without drift over the strength of the cycle, for two pairings, and how far searches end apart."""

    cycle: Array
    evenly: Array
    often: Array
    starts_apart: Array
    likelihood_apart: float


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> CyclesEvidence:
    """Solve for every strength of the cycle, under both pairings."""
    p = figure.parameters
    outcome, skills = Tanh(p["nu"]), np.array(p["skills"])
    even = 1 - np.eye(skills.size)
    beside = even.copy()
    beside[0, 1] = beside[1, 0] = p["often"]
    generator = np.random.default_rng(p["seed"])
    cycle = np.array(p["strengths"])
    tables = {name: [] for name in ("even", "beside")}
    apart = []
    for strength in cycle:
        expected = expected_results(outcome, skills, strength)
        tables["even"].append(without_drift(outcome, expected, even))
        tables["beside"].append(without_drift(outcome, expected, beside))
        ends = [
            without_drift(outcome, expected, beside, 3 * start)
            for start in generator.normal(size=(p["starts"], skills.size))
        ]
        apart.append(np.ptp(np.array(ends), axis=0).max())
    expected = expected_results(outcome, skills, cycle[-1])
    likely = most_likely(outcome, expected, beside)
    return CyclesEvidence(
        cycle,
        np.array(tables["even"]),
        np.array(tables["beside"]),
        np.array(apart),
        float(np.abs(likely - tables["beside"][-1]).max()),
    )


def expected_results(outcome: Tanh, skills: Array, strength: float) -> Array:
    """Results that skills let expect, plus a cycle: each player gains ``strength`` against the next.

    >>> table = expected_results(Tanh(0.5), np.zeros(5), 0.2)
    >>> bool(np.allclose(table, -table.T)), table[0].tolist()
    (True, [0.0, 0.2, 0.0, 0.0, -0.2])
    """
    step = (np.arange(skills.size)[None, :] - np.arange(skills.size)[:, None]) % skills.size
    cycle = np.where(step == 1, strength, np.where(step == skills.size - 1, -strength, 0.0))
    return outcome.b(skills[:, None] - skills[None, :]) + cycle


def without_drift(outcome: Tanh, expected: Array, weight: Array, start: Array | None = None) -> Array:
    """Ratings, of mean 0, at which mean ratings rest: the flow of Elo's rule, then Newton's steps to rounding."""
    begin = np.zeros(len(expected)) if start is None else start - start.mean()

    def drift(rating: Array) -> Array:
        gap = rating[:, None] - rating[None, :]
        return (weight * (expected - outcome.b(gap))).sum(axis=1)

    rating = solve_ivp(lambda _, table: drift(table), (0.0, REST), begin, method="LSODA").y[:, -1]
    for _ in range(NEWTON):
        slope = weight * outcome.b_prime(rating[:, None] - rating[None, :])
        laplacian = np.diag(slope.sum(axis=1)) - slope + 1 / rating.size  # the constant holds the mean
        rating = rating + np.linalg.solve(laplacian, drift(rating))
    return rating - rating.mean()


def most_likely(outcome: Tanh, expected: Array, weight: Array) -> Array:
    """Strengths of Bradley and Terry that maximise the likelihood of as many wins and losses as expected."""

    def loss(rating: Array) -> float:
        chance = (1 + outcome.b(rating[:, None] - rating[None, :])) / 2
        return -float((weight * (1 + expected) / 2 * np.log(chance)).sum()) + rating.mean() ** 2

    found = minimize(loss, np.zeros(len(expected)), method="BFGS", options={"gtol": 1e-10})
    return found.x - found.x.mean()


def draw(data: CyclesEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        for k, colour in zip(range(data.evenly.shape[1]), style.SERIES):
            left.plot(data.cycle, data.evenly[:, k], "o-", color=colour, markersize=3.5, markerfacecolor="white")
            left.plot(data.cycle, data.often[:, k], "s--", color=colour, markersize=3)
        left.plot([], [], "o-", color=style.GREY, markerfacecolor="white", markersize=3.5, label="evenly")
        left.plot([], [], "s--", color=style.GREY, markersize=3, label="the first two more often")
        left.set(xlabel="strength of the cycle c", ylabel="rating without drift", title="(a) five players")
        left.legend(title="who meets", loc=(0.03, 0.63))
        gap = np.abs(data.evenly - data.often).max(axis=1)
        right.plot(data.cycle, gap, "o-", color=style.SERIES[0], markersize=4, label="two pairings")
        right.plot(data.cycle, data.starts_apart, color=style.GREY, linestyle="--", label="many starts, one pairing")
        right.set(
            xlabel="strength of the cycle c", ylabel="largest difference of a rating", title="(b) one point a pairing"
        )
        right.legend()
        return figure


@check(
    10, SOURCE, statement="without transitivity ratings depend on who plays whom",
    criterion=f"a rating differs by more than {APART} between two pairings with a cycle, by less than {EXACT} without",
)  # fmt: skip
def who_plays_whom(evidence: CyclesEvidence) -> Finding:
    """Tables of two pairings."""
    gap = np.abs(evidence.evenly - evidence.often).max(axis=1)
    return Finding(
        f"largest difference of a rating {gap[0]:.0e} without a cycle, {gap[-1]:.3f} at c = {evidence.cycle[-1]:g}",
        judged(bool(gap[0] < EXACT and gap[-1] > APART)),
        "With skills alone every pairing rests at the skills; a cycle is shared out by the games that are played.",
        figures=(4,),
    )


@check(
    11, SOURCE, statement="there is one point at which the expected change is zero, and it is the most likely table",
    criterion=f"searches from all starts, and the maximum of the likelihood, within {EXACT:g} of one another",
)  # fmt: skip
def one_point(evidence: CyclesEvidence) -> Finding:
    """Searches from many starts."""
    return Finding(
        f"searches from random starts end within {evidence.starts_apart.max():.0e} of one another, the maximum of the "
        f"likelihood within {evidence.likelihood_apart:.0e}",
        judged(bool(evidence.starts_apart.max() < EXACT and evidence.likelihood_apart < EXACT)),
        "The drift is the gradient of a concave likelihood, strictly so where all are connected by games.",
        figures=(4,),
    )
