"""One moment of a run."""

from __future__ import annotations

from dataclasses import dataclass

from kinelo.macro.diagnostics import Diagnostics
from kinelo.macro.population import Population


@dataclass(frozen=True)
class KineticState:
    """The population at one time, and what is watched of it.

    Attributes
    ----------
    time, steps
        Kinetic time, and steps taken to reach it.
    population, diagnostics
        The density and its integrals.
    change
        Rating points that ratings have moved on average, per unit of time, since the state before: the Wasserstein
        distance in r between the two densities of each label. NaN at the start.
    saved
        Whether this is one of the times asked for rather than one in between.
    steady
        Whether the run ends here because the distribution no longer moves.
    centre
        The mean rating that the run conserves; in an open league, the one it has.
    note
        Why the distance to the stationary map is NaN, where it is.
    frame
        Under learning, by how much the mean strength has grown: θ is counted from there.

    >>> import kinelo as kn
    >>> teams = kn.Population.uniform(theta=(4, 10, 12), r=(4, 10, 12), sigma=1.0)
    >>> *_, last = kn.macro.kinetic_states(kn.RatingSystem(kn.Tanh(nu=0.5)), teams, until=1.0)
    >>> last.time, round(last.population.mass, 9), last.steady
    (1.0, 1.0, False)
    """

    time: float
    steps: int
    population: Population
    diagnostics: Diagnostics
    change: float
    saved: bool
    steady: bool
    centre: float
    note: str
    frame: float = 0.0
