"""One round of expected results as a map of tables: how far it contracts; and noise and time of the step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.paper.literature.fits import BURN_IN, SMALLEST, PowerLaw, power_law
from kinelo.pictures import style
from kinelo.studies.study import required
from kinelo.theory.limit import stationary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


JUNCA = "Junca 2021, hal-03286591, abstract"
ZANCO = "Gomes de Pinho Zanco and others, arXiv 2212.12015, abstract"
PROPORTIONAL = 0.05
"""How far a fitted power may lie from a whole number."""
NEARLY_ONE = 0.999


@dataclass(frozen=True)
class RoundRobinEvidence:
    """Contraction factors over the stretch of a table, by γ, and noise and rounds to settle over γ."""

    stretch: Array
    contraction_gamma: Array
    linear: Array
    usual: Array
    gamma: Array
    variance: Array
    played: Array
    played_error: Array
    rounds: Array
    noise: PowerLaw
    patience: PowerLaw


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> RoundRobinEvidence:
    """Factors from the derivative of a round, noise from the closure and from rounds that are played."""
    studies = figure.studies
    first = next(iter(studies.values()))
    outcome, skills = first.system.outcome, first.strengths.theta
    stretch = np.linspace(0.0, figure.parameters["farthest"], 49)
    steps = np.array(figure.parameters["contraction"])
    gamma = np.array([required("gamma", study.gamma) for study in studies.values()], dtype=float)
    states = [stationary(study.system, study.strengths, noise="gaussian") for study in studies.values()]
    played = np.array([_played(runs[name]) for name in studies])
    rounds = np.array([math.log(0.01) / math.log(round_factor(outcome, skills, step)) for step in gamma])
    return RoundRobinEvidence(
        stretch=stretch,
        contraction_gamma=steps,
        linear=np.array([round_factor(outcome, 0 * skills, step) for step in steps]),
        usual=np.array([[round_factor(outcome, k * skills, step) for k in stretch] for step in steps]),
        gamma=gamma,
        variance=np.array([float(state.variance.mean()) for state in states]),
        played=played[:, 0],
        played_error=played[:, 1],
        rounds=rounds,
        noise=power_law(gamma[:SMALLEST], played[:SMALLEST, 0], played[:SMALLEST, 1]),
        patience=power_law(gamma, rounds, 0.01 * rounds),
    )


def round_factor(outcome: Outcome, table: Array, gamma: float) -> float:
    """Norm of the derivative of one round, ``I − γ L(table)``, on differences of tables that sum to zero.

    ``L h = Σ_j b'(R_i − R_j)(h_i − h_j)``. Where it is below 1 two near tables come closer.

    >>> import kinelo as kn
    >>> round(round_factor(kn.Tanh(0.5), np.zeros(4), 0.1), 12)  # 1 − 0.1 × 0.5 × 4, as linear Elo
    0.8
    """
    slope = np.asarray(outcome.b_prime(table[:, None] - table[None, :]))
    laplacian = np.diag(slope.sum(axis=1)) - slope
    values = np.linalg.eigvalsh(laplacian)[1:]  # the first is the common shift
    return float(np.abs(1 - gamma * values).max())


def _played(run: xr.Dataset) -> tuple[float, float]:
    """Variance of settled ratings about their own means, with its standard error over leagues."""
    rating = run.rating.transpose("realisation", "time", "team").values
    late = rating[:, int(BURN_IN * rating.shape[1]) :]
    each = ((late - late.mean(axis=(0, 1))) ** 2).mean(axis=(1, 2))
    return float(each.mean()), float(each.std(ddof=1) / math.sqrt(each.size))


def draw(data: RoundRobinEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        for step, factor, linear, colour in zip(data.contraction_gamma, data.usual, data.linear, style.SERIES):
            left.plot(data.stretch, factor, color=colour, label=f"usual, γ = {step:g}")
            left.axhline(linear, color=colour, linestyle="--", linewidth=0.9, label=f"linear, γ = {step:g}")
        left.set(xlabel="table as a multiple of the skills", ylabel="factor of a round", ylim=(0, 1.04))
        left.set_title("(a) far out, a round hardly contracts")
        left.legend(loc="lower right")
        right.plot(data.gamma, data.variance / data.gamma, color=style.SERIES[0], label="variance / γ, closure")
        right.errorbar(
            data.gamma, data.played / data.gamma, 2 * data.played_error / data.gamma, fmt="o", color=style.SERIES[0],
            markersize=4, markerfacecolor="white", capsize=2, label="variance / γ, played",
        )  # fmt: skip
        right.set(
            xlabel="step size γ", ylabel="variance / γ", ylim=(0, 1.15 * (data.variance / data.gamma).max()),
            title="(b) the step buys speed with noise",
        )  # fmt: skip
        other = right.twinx()
        other.plot(data.gamma, data.rounds * data.gamma, "s-", color=style.SERIES[1], markersize=3)
        other.set(ylabel="rounds to settle × γ", ylim=(0, 1.4 * (data.rounds * data.gamma).max()))
        right.plot([], [], "s-", color=style.SERIES[1], markersize=3, label="rounds to settle × γ")
        right.legend(loc="lower left")
        return figure


@check(
    4, JUNCA, statement="a round of linear Elo is a contraction",
    criterion="its factor is below 1 at every table, and the same at all of them",
)  # fmt: skip
def linear_contracts(evidence: RoundRobinEvidence) -> Finding:
    """The factor of linear Elo."""
    factors = ", ".join(
        f"{factor:.3f} at γ = {step:g}" for step, factor in zip(evidence.contraction_gamma, evidence.linear)
    )
    return Finding(
        f"factor {factors}, whatever the table",
        judged(bool((evidence.linear < 1).all())),
        "Its derivative does not depend on the ratings: |1 − γνN|, below 1 for steps below 2/(νN).",
        figures=(2,),
    )


@check(
    5, JUNCA, statement="the usual Elo is not contractive",
    criterion=f"factors above {NEARLY_ONE} at some table, at every step tried",
)  # fmt: skip
def usual_does_not(evidence: RoundRobinEvidence) -> Finding:
    """The factor of usual Elo, near and far."""
    worst = evidence.usual.max(axis=1)
    near = evidence.usual[:, int(np.abs(evidence.stretch - 1).argmin())]
    words = "; ".join(
        f"γ = {step:g}: {a:.3f} at the skills, up to {b:.5f}"
        for step, a, b in zip(evidence.contraction_gamma, near, worst)
    )
    return Finding(
        words,
        judged(bool((worst > NEARLY_ONE).all())),
        "b′ vanishes where results are certain, so a round brings far tables together by nearly nothing; on a bounded "
        "set of tables it does contract.",
        figures=(2,),
    )


@check(
    6, ZANCO, statement="the noise of settled ratings grows in proportion to the step",
    criterion=f"power of γ within {PROPORTIONAL} of 1 over the {SMALLEST} smallest steps, from rounds that are played",
)  # fmt: skip
def noise_in_proportion(evidence: RoundRobinEvidence) -> Finding:
    """The power of γ in the variance."""
    law = evidence.noise
    gap = float(np.abs(evidence.played / evidence.variance - 1).max())
    return Finding(
        f"variance ∝ γ^{law.power:.3f} ± {law.error:.3f} up to γ = {evidence.gamma[SMALLEST - 1]:g}; the closure is "
        f"within {gap:.1%} of what was played",
        judged(abs(law.power - 1) < PROPORTIONAL),
        "Our words for its expressions of the variance, of which the abstract was read.",
        figures=(2,),
    )


@check(
    7, ZANCO, statement="the time to settle falls in proportion to the step",
    criterion=f"power of γ within {PROPORTIONAL} of −1",
)  # fmt: skip
def time_in_proportion(evidence: RoundRobinEvidence) -> Finding:
    """The power of γ in the time."""
    return Finding(
        f"rounds to settle ∝ γ^{evidence.patience.power:.3f}: {evidence.rounds[0]:.0f} at γ = {evidence.gamma[0]:g}, "
        f"{evidence.rounds[-1]:.0f} at {evidence.gamma[-1]:g}",
        judged(abs(evidence.patience.power + 1) < PROPORTIONAL),
        "So noise times time is a constant of the league: a step buys one with the other.",
        figures=(2,),
    )
