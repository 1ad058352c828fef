"""Figures 8 and 10: what needs no simulation. Exact against Taylor, and shrinkage over (ν, σ)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from kinelo.equilibrium.continuum import Continuum
from kinelo.equilibrium.limit import stationary
from kinelo.errors import KineloWarning, NoStationaryState
from kinelo.model.expectation import Closure, expected_result
from kinelo.model.outcome import Tanh
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.leagues import Evidence


def closures(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """Win probability over d and stationary bias over θ for each σ, by both closures."""
    outcome = Tanh(figure.parameters["nu"])
    sigmas, interval = figure.parameters["sigma"], _interval(figure)
    difference = np.linspace(0.0, 6.0, 121)
    win = np.array([[_win(outcome, difference, s, c) for s in sigmas] for c in ("exact", "taylor")])
    theta = np.linspace(interval[0], interval[1], 121)
    system = RatingSystem(outcome)
    bias = np.array([[_map(system, interval, s, theta, c) - theta for s in sigmas] for c in ("exact", "taylor")])
    return {
        "closures": xr.Dataset(
            {
                "win": (("closure", "sigma", "difference"), win),
                "bias": (("closure", "sigma", "theta"), bias),
            },
            coords={"closure": ["exact", "taylor"], "sigma": sigmas, "difference": difference, "theta": theta},
            attrs={"nu": outcome.nu},
        )
    }


def _interval(figure: FigureStudy) -> tuple[float, float]:
    low, high = figure.parameters["theta"]
    return low, high


def _win(outcome: Tanh, difference: Array, sigma: float, closure: Closure) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        results = expected_result(outcome, Normal(np.append(difference, 0.0), sigma), closure)
    return (1 + results[:-1, -1]) / 2


def _map(system: RatingSystem, interval: tuple[float, float], sigma: float, theta: Array, closure: Closure) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        try:
            return stationary(system, Continuum(theta=interval, sigma=sigma), closure).rating_of(theta)
        except NoStationaryState:
            return np.full(theta.size, np.nan)


def phase_diagram(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """Slope at the centre of the exact map over (ν, σ); the rule of thumb beside it."""
    nu, sigma = _geometric(figure.parameters["nu"]), _geometric(figure.parameters["sigma"])
    interval = _interval(figure)
    slope = np.array(
        [
            [stationary(RatingSystem(Tanh(n)), Continuum(theta=interval, sigma=s)).centre_slope for n in nu]
            for s in sigma
        ]
    )
    rule = 1 / np.sqrt(1 + np.pi * np.multiply.outer(sigma, nu) ** 2)
    return {
        "phase": xr.Dataset(
            {"slope": (("sigma", "nu"), slope), "rule": (("sigma", "nu"), rule)},
            coords={"nu": nu, "sigma": sigma},
            attrs={"levels": list(figure.parameters["levels"]), "runs": list(figure.parameters["runs"])},
        )
    }


def _centre_slope(outcome: Tanh, interval: tuple[float, float], sigma: float) -> float:
    return stationary(RatingSystem(outcome), Continuum(theta=interval, sigma=sigma, nodes=40)).centre_slope


def _geometric(interval: Mapping[str, Any]) -> Array:
    return np.geomspace(interval["from"], interval["to"], interval["points"])
