"""Where the ratings of a live run are heading: the stationary map with its noise.

It is that of a league of very many teams with the same strengths, which takes hundredths of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from kinelo.errors import NoStationaryState
from kinelo.lab.explore.controls import THETA, Controls
from kinelo.model.validation import Array
from kinelo.theory.continuum import Continuum
from kinelo.theory.limit import stationary
from kinelo.theory.state import StationaryState

NODES = 40


@dataclass(frozen=True)
class PredictedMap:
    """Mean rating and its standard deviation over mean strength; ``note`` says what is missing, if anything."""

    theta: Array
    rating: Array
    deviation: Array
    slope: float
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        lists = {name: np.round(getattr(self, name), 5).tolist() for name in ("theta", "rating", "deviation")}
        return {**lists, "slope": self.slope, "note": self.note}


@lru_cache(maxsize=256)
def predicted_map(controls: Controls) -> PredictedMap:
    """Stationary ratings at the controls' step size; raises NoStationaryState where there are none at all."""
    league = many_teams(controls)
    try:
        return _of(stationary(controls.system, league, noise="gaussian"))
    except NoStationaryState as error:
        reason = str(error)
    state = stationary(controls.system, league)
    return _of(state, f"Shown without rating noise. {reason}")


def many_teams(controls: Controls) -> Continuum:
    """A continuum of teams with the typical spread of the controls' league."""
    sigma = float(np.sqrt(np.mean(controls.strengths().sigma ** 2)))
    return Continuum(THETA, sigma, nodes=NODES)


def _of(state: StationaryState, note: str = "") -> PredictedMap:
    return PredictedMap(state.theta, state.rating, np.sqrt(state.variance), state.slope, note)
