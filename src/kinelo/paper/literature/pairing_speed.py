"""Elo among players who meet along the edges of a graph: how long it takes, against the graph's spectral gap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.model.outcome import Tanh
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.paper.literature.fits import power_law
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SOURCE = "Olesker-Taylor and Zanetti, arXiv 2406.05869 (the gap: after its description elsewhere)"
TENTH = 0.1
SLOPE = 0.15
"""How far the power of the gap may lie from −1."""


@dataclass(frozen=True)
class PairingSpeedEvidence:
    """Names of graphs, their gaps, times, missing shares over time, and matches per player to a tenth."""

    names: tuple[str, ...]
    gap: Array
    time: Array
    missing: Array
    until: Array


def graphs(players: int) -> dict[str, Array]:
    """Chances of every pair to meet next, by the name of a graph."""
    away = np.abs(np.arange(players)[:, None] - np.arange(players)[None, :])
    around = np.minimum(away, players - away)
    side = np.arange(players) < players // 2
    halves = (side[:, None] == side[None, :]) & (away > 0)
    halves[players // 2, players // 2 - 1] = halves[players // 2 - 1, players // 2] = True
    graph_of = {
        "everybody": away > 0,
        "ring of 4 neighbours": (around > 0) & (around <= 4),
        "ring of 2 neighbours": (around > 0) & (around <= 2),
        "ring": around == 1,
        "two halves, one bridge": halves,
    }
    return {name: edges / edges.sum() for name, edges in graph_of.items()}


def spectral_gap(pairs: Array) -> float:
    """Second eigenvalue of the Laplacian of meetings, in units of matches per player.

    >>> round(spectral_gap(graphs(8)["everybody"]), 6)  # N/(N − 1)
    1.142857
    """
    per_player = pairs * len(pairs)
    return float(np.linalg.eigvalsh(np.diag(per_player.sum(axis=1)) - per_player)[1])


def slowest_mode(pairs: Array) -> Array:
    """Of all that the second eigenvalue belongs to, what comes nearest to players in their order.

    >>> slowest_mode(graphs(4)["everybody"]).round(6).tolist()
    [-1.5, -0.5, 0.5, 1.5]
    """
    per_player = pairs * len(pairs)
    rates, modes = np.linalg.eigh(np.diag(per_player.sum(axis=1)) - per_player)
    alike = modes[:, np.isclose(rates, rates[1])]  # machines differ in which of them they find
    return alike @ (np.arange(0.0, len(pairs)) @ alike)


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> PairingSpeedEvidence:
    """Play every graph."""
    p = figure.parameters
    generator = np.random.default_rng(p["seed"])
    named = graphs(p["players"])
    curves = {name: _missing(pairs, p, generator) for name, pairs in named.items()}
    time, missing = curves["everybody"][0], np.array([curve for _, curve in curves.values()])
    until = np.array([time[np.argmax(row < TENTH)] if (row < TENTH).any() else np.inf for row in missing])
    return PairingSpeedEvidence(tuple(named), np.array([*map(spectral_gap, named.values())]), time, missing, until)


def _missing(pairs: Array, p: Mapping[str, Any], generator: np.random.Generator) -> tuple[Array, Array]:
    """Matches per player, and the part of the skills that ratings do not show yet; skills are the slowest mode."""
    outcome, leagues, gamma = Tanh(p["nu"]), np.arange(p["leagues"]), p["gamma"]
    skills = slowest_mode(pairs)
    skills = skills / np.abs(skills).max() * p["spread"]
    first, second = np.nonzero(np.triu(pairs))
    rating, every = np.zeros((p["leagues"], skills.size)), p["matches"] // 240
    time, share = [0.0], [1.0]
    for match in range(1, p["matches"] + 1):
        edge = generator.integers(first.size, size=p["leagues"])
        i, j = first[edge], second[edge]
        won = np.where(generator.random(p["leagues"]) < (1 + outcome.b(skills[i] - skills[j])) / 2, 1.0, -1.0)
        move = gamma * (won - outcome.b(rating[leagues, i] - rating[leagues, j]))
        rating[leagues, i] += move
        rating[leagues, j] -= move
        if match % every == 0:
            time.append(2 * match / skills.size)
            share.append(1 - float(rating.mean(axis=0) @ skills / (skills @ skills)))
    return np.array(time), np.array(share)


def draw(data: PairingSpeedEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        for name, row, gap, until, colour in zip(data.names, data.missing, data.gap, data.until, style.SERIES):
            left.semilogx(data.time[1:], row[1:], color=colour, label=name)
            right.loglog(gap, until, "o", color=colour, markersize=5, label=name)
        left.axhline(TENTH, color=style.GREY, linestyle="--", linewidth=0.9)
        left.set(xlabel="matches per player", ylabel="share not yet shown", title="(a) the slowest difference")
        line = np.array([data.gap.min(), data.gap.max()])
        right.loglog(line, data.until[0] * data.gap[0] / line, color=style.GREY, linestyle=":")
        right.set(xlabel="spectral gap", ylabel="matches per player to a tenth", title="(b) time against gap")
        right.legend(fontsize="small", loc="upper right")
        return figure


@check(
    14, SOURCE, statement="the time Elo needs to learn is as the inverse of the spectral gap of who meets whom",
    criterion=f"power of the gap within {SLOPE} of −1, over graphs whose gaps differ tenfold",
)  # fmt: skip
def speed_by_gap(evidence: PairingSpeedEvidence) -> Finding:
    """The power of the gap in the time."""
    law = power_law(evidence.gap, evidence.until, 0.05 * evidence.until)
    wide = evidence.gap.max() / evidence.gap.min()
    ends = [
        f"{evidence.until[k]:.0f} matches a player at gap {evidence.gap[k]:.3f} ({evidence.names[k]})" for k in (0, -1)
    ]
    return Finding(
        f"matches per player ∝ gap^{law.power:.2f}: {'; '.join(ends)}",
        judged(bool(abs(law.power + 1) < SLOPE and wide > 10)),
        "Near equal skills one match closes gaps along its edge, so that the slowest difference fades with the second "
        "eigenvalue of the graph; kn.relaxation computes the same number for pairings by rating.",
        figures=(6,),
    )
