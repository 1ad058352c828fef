"""Where the ratings of a live run are heading: the stationary map with its noise.

It is that of a league of very many teams with the same strengths, which takes hundredths of a second. What the library
warns of travels with it.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from kinelo.errors import KineloWarning, NoStationaryState
from kinelo.lab.explore.controls import THETA, Controls
from kinelo.model.validation import Array
from kinelo.theory.limit import stationary
from kinelo.theory.teams import Continuum

NODES = 40


@dataclass(frozen=True)
class PredictedMap:
    """Mean rating and its standard deviation over mean strength, and the standard deviation of all teams, ``luck``.

    ``missing`` says why there is no answer at this step size; the line is then that of vanishing steps. ``caveats`` are
    the library's own words about how far the answer can be trusted.
    """

    theta: Array
    rating: Array
    deviation: Array
    slope: float
    luck: float
    missing: str = ""
    caveats: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        lists = {name: np.round(getattr(self, name), 5).tolist() for name in ("theta", "rating", "deviation")}
        return {**lists, "slope": self.slope, "note": self.missing}


@lru_cache(maxsize=256)
def predicted_map(controls: Controls) -> PredictedMap:
    """Stationary ratings at the controls' step size; raises NoStationaryState where there are none at all."""
    league = many_teams(controls)
    caveats: list[str] = []
    with heard(caveats):
        try:
            state, reason = stationary(controls.system, league, noise="gaussian"), ""
        except NoStationaryState as error:
            state, reason = stationary(controls.system, league), str(error)
    caveats += [one.sentence for one in state.caveats]
    luck = float(np.sqrt(state.teams.mean(state.variance)))
    said = tuple(dict.fromkeys(caveats))
    return PredictedMap(state.theta, state.rating, np.sqrt(state.variance), state.slope, luck, reason, said)


@contextlib.contextmanager
def heard(caveats: list[str]) -> Iterator[None]:
    """Collect the warnings of the library, which a cache would let be heard only once."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", KineloWarning)
        yield
    caveats += [str(one.message) for one in said if issubclass(one.category, KineloWarning)]


def many_teams(controls: Controls) -> Continuum:
    """A continuum of teams with the typical spread of the controls' league."""
    sigma = float(np.sqrt(np.mean(controls.strengths().sigma ** 2)))
    return Continuum(THETA, sigma, nodes=NODES)
