"""Steps worth applying: the one at which ratings are right on average, and the one that misses strength least.

Where opponents depend on ratings, the first is looked for, for want of a formula.
From the present step the search goes towards slope 1 by factors of :data:`FACTOR` until the slope has passed it, the
slider ends, or luck leaves no stable ratings; between the last two steps it goes by the chord, in the logarithm of γ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinelo.errors import InputError, NoStationaryState
from kinelo.lab.control import Slider
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.theory import PredictedMap, predicted_map

FACTOR = 1.5
CHORDS = 6
UNIT_SLOPE_TOLERANCE = 0.002
"""A slope this near to 1 is 1."""


STEPS_TRIED, FEW_STEPS_TRIED = 9, 4
"""Steps of the slider that are tried for the least miss."""


@dataclass(frozen=True)
class PricedStep:
    """A step size with its price: the luck in a rating, and how far it misses strength, bias and luck together."""

    gamma: float
    luck: float
    miss: float


@dataclass(frozen=True)
class Search:
    """What was found. ``gamma`` is None where nothing was; the slope got as far as ``slope`` at step ``reached``, and
    ``settles`` says whether ratings settle at the step after that.
    """

    gamma: float | None
    reached: float
    slope: float
    settles: bool = True


def look_for_fair_step(controls: Controls) -> Search:
    """Look for a step size at which the slope of ratings on strengths is 1."""
    low, high = offered_steps()
    step = controls.gamma
    slope = _slope(controls, step)
    if slope is None:
        return Search(None, step, float("nan"), settles=False)
    rising = slope < 1
    while step < high if rising else step > low:
        there = min(step * FACTOR, high) if rising else max(step / FACTOR, low)
        beyond = _slope(controls, there)
        if beyond is None:
            return Search(None, step, slope, settles=False)
        if (beyond < 1) != rising:
            return _between(controls, (step, slope), (there, beyond))
        step, slope = there, beyond
    return Search(None, step, slope)


def _between(controls: Controls, here: tuple[float, float], there: tuple[float, float]) -> Search:
    """Step size of slope 1 between two steps, each given with its slope, on either side of 1."""
    gamma = here[0]
    for _ in range(CHORDS):
        share = (1 - here[1]) / (there[1] - here[1])
        gamma = here[0] * (there[0] / here[0]) ** share
        slope = _slope(controls, gamma)
        if slope is None:
            return Search(None, *here, settles=False)
        if abs(slope - 1) <= UNIT_SLOPE_TOLERANCE:
            break
        here, there = ((gamma, slope), there) if (slope < 1) == (here[1] < 1) else (here, (gamma, slope))
    return Search(gamma, gamma, 1.0)


def _slope(controls: Controls, gamma: float) -> float | None:
    found = _at(controls, gamma)
    return None if found is None else found.slope


def _at(controls: Controls, gamma: float) -> PredictedMap | None:
    """The map at another step; None where there is none."""
    try:
        found = predicted_map(controls.but(gamma=gamma))
    except (NoStationaryState, InputError):
        return None
    return None if found.missing else found


def offered_steps() -> tuple[float, float]:
    """Smallest and largest step of the slider."""
    control = Controls.controls()["gamma"]
    assert isinstance(control, Slider)
    return control.low, control.high


def on_slider(gamma: float) -> float | None:
    """A step as the slider can hold it, to three digits; None where it lies beyond the ends."""
    low, high = offered_steps()
    rounded = float(f"{gamma:.3g}")
    return rounded if low <= rounded <= high else None


def priced(controls: Controls, gamma: float) -> PricedStep | None:
    """A step with what it costs; None where there is no answer."""
    found = _at(controls, gamma)
    return None if found is None else PricedStep(gamma, found.luck, found.miss)


def least_miss(controls: Controls) -> PricedStep | None:
    """The step on the slider at which ratings miss strength least, of a ladder over it."""
    low, high = offered_steps()
    # Where opponents depend on ratings, an answer takes seconds at large steps: only smaller ones are tried.
    steps = (
        np.geomspace(low, high, STEPS_TRIED)
        if controls.pairing == "all"
        else np.geomspace(low, controls.gamma, FEW_STEPS_TRIED)
    )
    rungs = (priced(controls, float(f"{gamma:.3g}")) for gamma in steps)
    return min((one for one in rungs if one is not None), key=lambda one: one.miss, default=None)
