"""Win probability over d and stationary bias over θ for each σ, by both closures."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinelo.errors import KineloWarning, NoStationaryState
from kinelo.model.expectation import Closure, expected_result
from kinelo.model.outcome import Tanh
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.kinetic import stationary_of
from kinelo.theory.teams import Continuum

NAMES: tuple[Closure, Closure] = ("exact", "taylor")


@dataclass(frozen=True)
class Closures:
    """Evidence of Figure 8: win probabilities of shape (σ, d) and biases of shape (σ, θ), by closure."""

    nu: float
    sigma: Array
    difference: Array
    theta: Array
    win: Mapping[str, Array]
    bias: Mapping[str, Array]


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> Closures:
    """Compute both closures."""
    outcome = Tanh(figure.parameters["nu"])
    low, high = figure.parameters["theta"]
    sigma, difference, theta = (
        np.array(figure.parameters["sigma"]),
        np.linspace(0.0, 6.0, 121),
        np.linspace(low, high, 121),
    )
    return Closures(
        nu=outcome.nu,
        sigma=sigma,
        difference=difference,
        theta=theta,
        win={name: np.array([_win(outcome, difference, s, name) for s in sigma]) for name in NAMES},
        bias={name: np.array([_map(outcome, (low, high), s, theta, name) - theta for s in sigma]) for name in NAMES},
    )


def _win(outcome: Tanh, difference: Array, sigma: float, closure: Closure) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        results = expected_result(outcome, Normal(np.append(difference, 0.0), float(sigma)), closure)
    return (1 + results[:-1, -1]) / 2


def _map(outcome: Tanh, interval: tuple[float, float], sigma: float, theta: Array, closure: Closure) -> Array:
    try:
        return stationary_of(RatingSystem(outcome), Continuum(theta=interval, sigma=float(sigma)), closure).rating_of(
            theta
        )
    except NoStationaryState:
        return np.full(theta.size, np.nan)
