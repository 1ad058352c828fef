"""Slope at the centre of the exact map over (ν, σ); the rule of thumb beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinelo.model.outcome import Tanh
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.theory.limit import stationary
from kinelo.theory.teams import Continuum


@dataclass(frozen=True)
class Phase:
    """Evidence of Figure 10: slopes of shape (σ, ν), the levels to draw, and (ν, σ) of simulated runs."""

    nu: Array
    sigma: Array
    slope: Array
    rule: Array
    levels: tuple[float, ...]
    runs: tuple[tuple[float, float], ...]


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> Phase:
    """Compute the map for every ν and σ."""
    nu, sigma = _geometric(figure.parameters["nu"]), _geometric(figure.parameters["sigma"])
    low, high = figure.parameters["theta"]
    slope = [
        [
            stationary(RatingSystem(Tanh(float(n))), Continuum(theta=(low, high), sigma=float(s))).centre_slope
            for n in nu
        ]
        for s in sigma
    ]
    return Phase(
        nu=nu,
        sigma=sigma,
        slope=np.array(slope),
        rule=1 / np.sqrt(1 + np.pi * np.multiply.outer(sigma, nu) ** 2),
        levels=tuple(figure.parameters["levels"]),
        runs=tuple((float(n), float(s)) for n, s in figure.parameters["runs"]),
    )


def _geometric(interval: Mapping[str, Any]) -> Array:
    return np.geomspace(interval["from"], interval["to"], interval["points"])
