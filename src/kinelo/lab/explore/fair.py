"""The step size at which ratings are fair where opponents depend on ratings: looked for, for want of a formula.

From the present step the search goes towards slope 1 by factors of :data:`FACTOR` until the slope has passed it, the
slider ends, or luck leaves no stable ratings; between the last two steps it goes by the chord, in the logarithm of γ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinelo.errors import NoStationaryState
from kinelo.lab.explore.controls import CONTROLS, Controls, Slider
from kinelo.lab.explore.theory import predicted_map

FACTOR = 1.5
CHORDS = 6
NEAR = 0.002
"""A slope this near to 1 is 1."""


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
    low, high = next((one.low, one.high) for one in CONTROLS if isinstance(one, Slider) and one.name == "gamma")
    here = controls.gamma
    slope = _slope(controls, here)
    if slope is None:
        return Search(None, here, float("nan"), settles=False)
    rising = slope < 1
    while here < high if rising else here > low:
        there = min(here * FACTOR, high) if rising else max(here / FACTOR, low)
        beyond = _slope(controls, there)
        if beyond is None:
            return Search(None, here, slope, settles=False)
        if (beyond < 1) != rising:
            return _between(controls, (here, slope), (there, beyond))
        here, slope = there, beyond
    return Search(None, here, slope)


def _between(controls: Controls, here: tuple[float, float], there: tuple[float, float]) -> Search:
    """Step size of slope 1 between two steps, each given with its slope, on either side of 1."""
    gamma = here[0]
    for _ in range(CHORDS):
        share = (1 - here[1]) / (there[1] - here[1])
        gamma = here[0] * (there[0] / here[0]) ** share
        slope = _slope(controls, gamma)
        if slope is None:
            return Search(None, *here, settles=False)
        if abs(slope - 1) <= NEAR:
            break
        here, there = ((gamma, slope), there) if (slope < 1) == (here[1] < 1) else (here, (gamma, slope))
    return Search(gamma, gamma, 1.0)


def _slope(controls: Controls, gamma: float) -> float | None:
    try:
        found = predicted_map(replace(controls, gamma=gamma))
    except NoStationaryState:
        return None
    return None if found.missing else found.slope
