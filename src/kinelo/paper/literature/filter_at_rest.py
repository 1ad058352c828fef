"""A filter of walking strengths beside Elo with the step of its settled variance.

A match between i and j, with lead z and win chance p(z): ``m_i += v_i g (S − b)``, ``1/v_i += w`` with
``w = ν² (1 − b²)`` and ``g = ν / (1 + w (v_i + v_j))``; between matches of a side ``v_i += walk²``. Once v rests, the
first line is Elo's rule with ``γ = v g``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.model.outcome import Tanh
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Indices = NDArray[np.int64]
SOURCE = "Szczecinski and Tihon, arXiv 2104.14012, abstract"
ALIKE = 0.99
WORSE = 0.002


@dataclass(frozen=True)
class FilterAtRestEvidence:
    """Mean believed variance over matches of a side, ratings of both in the end, and log-losses of both."""

    played: Array
    variance: Array
    settled: float
    gamma: float
    filtered: Array
    elo: Array
    correlation: float
    loss_filter: float
    loss_elo: float


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> FilterAtRestEvidence:
    """Filter every league; then rate the same results by Elo."""
    p = figure.parameters
    outcome, generator = Tanh(p["nu"]), np.random.default_rng(p["seed"])
    leagues = np.arange(p["leagues"])
    i, j, won = _played(outcome, p, generator)
    mean = np.zeros((p["leagues"], p["sides"]))
    variance, path, losses = np.full(mean.shape, p["start"]), [], []
    for match in range(p["matches"]):
        a, b = i[match], j[match]
        variance += 2 / p["sides"] * p["walk"] ** 2  # every side walks with the league's clock, per match of a side
        expected = outcome.b(mean[leagues, a] - mean[leagues, b])
        weight = p["nu"] ** 2 * (1 - expected**2)
        gain = p["nu"] / (1 + weight * (variance[leagues, a] + variance[leagues, b]))
        for side, sign in ((a, 1.0), (b, -1.0)):
            v = variance[leagues, side]
            mean[leagues, side] += sign * v * gain * (won[match] - expected)
            variance[leagues, side] = v - v * v * weight * gain / p["nu"]
        path.append(variance.mean())
        losses.append(_loss(expected, won[match]))
    late = slice(p["matches"] // 2, None)
    settled = float(np.mean(path[late]))
    openness = float(1 - (outcome.b(mean[:, :, None] - mean[:, None, :]) ** 2).mean())  # of 1 − b² over pairs
    gamma = settled * p["nu"] / (1 + 2 * settled * p["nu"] ** 2 * openness)
    # The same results by Elo's rule.
    elo, elo_losses = np.zeros(mean.shape), []
    for a, b, result in zip(i, j, won):
        expected = outcome.b(elo[leagues, a] - elo[leagues, b])
        elo[leagues, a] += gamma * (result - expected)
        elo[leagues, b] -= gamma * (result - expected)
        elo_losses.append(_loss(expected, result))
    return FilterAtRestEvidence(
        played=2 * np.arange(1, p["matches"] + 1) / p["sides"],
        variance=np.array(path),
        settled=settled,
        gamma=gamma,
        filtered=mean[0] - mean[0].mean(),
        elo=elo[0] - elo[0].mean(),
        correlation=float(np.mean([np.corrcoef(one, other)[0, 1] for one, other in zip(mean, elo)])),
        loss_filter=float(np.mean(losses[late])),
        loss_elo=float(np.mean(elo_losses[late])),
    )


def _played(outcome: Tanh, p: Mapping[str, Any], generator: np.random.Generator) -> tuple[Indices, Indices, Array]:
    """Who met whom and who won (matches × leagues), in leagues whose strengths walk from N(0, start)."""
    shape = (p["matches"], p["leagues"])
    leagues = np.arange(p["leagues"])
    strength = generator.normal(0, np.sqrt(p["start"]), (p["leagues"], p["sides"]))
    i = generator.integers(p["sides"], size=shape)
    j = (i + generator.integers(1, p["sides"], size=shape)) % p["sides"]
    won = np.empty(shape)
    for match in range(p["matches"]):
        strength += generator.normal(0, np.sqrt(2 / p["sides"]) * p["walk"], strength.shape)
        chance = (1 + outcome.b(strength[leagues, i[match]] - strength[leagues, j[match]])) / 2
        won[match] = np.where(generator.random(p["leagues"]) < chance, 1.0, -1.0)
    return i, j, won


def _loss(expected: Array, won: Array) -> float:
    return float(-np.log((1 + won * expected) / 2).mean())


def draw(data: FilterAtRestEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        left.semilogx(data.played, data.variance, color=style.SERIES[0])
        left.axhline(data.settled, color=style.GREY, linestyle="--", linewidth=0.9)
        left.set(
            xlabel="matches per side", ylabel="variance believed", ylim=(0, None), title="(a) the filter comes to rest"
        )
        right.plot(data.filtered, data.elo, "o", color=style.SERIES[0], markersize=4)
        span = [data.filtered.min(), data.filtered.max()]
        right.plot(span, span, color=style.GREY, linestyle="--", linewidth=0.9)
        right.set(xlabel="strength by the filter", ylabel=f"Elo with γ = {data.gamma:.3f}", title="(b) one league")
        return figure


@check(
    17, SOURCE, statement="Elo is an instance of an approximate Kalman filter: that whose variance is held",
    criterion=f"ratings correlate by more than {ALIKE} with the filter's and lose less than {WORSE} of log-loss",
)  # fmt: skip
def elo_is_the_filter(evidence: FilterAtRestEvidence) -> Finding:
    """Elo with the step of the settled variance beside the filter."""
    lost = evidence.loss_elo - evidence.loss_filter
    return Finding(
        f"variance settles at {evidence.settled:.3f}, so γ = {evidence.gamma:.3f}; correlation "
        f"{evidence.correlation:.4f}, log-loss {evidence.loss_elo:.4f} beside {evidence.loss_filter:.4f}",
        judged(evidence.correlation > ALIKE and lost < WORSE),
        "Where all play equally often and have played for long. A filter gains where newcomers, breaks or rare players "
        "make variances differ.",
        figures=(8,),
    )
