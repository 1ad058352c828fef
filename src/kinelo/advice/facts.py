"""What a diagnosis measures, before it is put into words."""

from __future__ import annotations

from dataclasses import dataclass

from kinelo.advice.check import Check
from kinelo.model.system import RatingSystem
from kinelo.theory.caveats import Caveat


@dataclass(frozen=True)
class Condition:
    """Condition (B'): ``holds``, the largest ν²V-like load in units of its limit, and the margin left."""

    holds: bool
    load: float
    margin: float


@dataclass(frozen=True)
class Taylor:
    """Whether the Taylor closure can be used, and its largest error in an expected result."""

    usable: bool
    largest_error: float


@dataclass(frozen=True)
class RatedTeam:
    """A team with its bias: rated above its strength when positive."""

    team: str
    theta: float
    sigma: float
    rating: float
    bias: float


@dataclass(frozen=True)
class Facts:
    """What a rating system does to a league in the long run.

    Attributes
    ----------
    condition
        Condition (B') of the paper and its margin.
    taylor
        Whether the Taylor closure is usable for this league.
    slope, slope_of_small_steps
        Slope of ratings on strengths at the system's step size, and as γ → 0; below 1 the scale is shrunken.
    overrated, underrated
        The teams with the largest bias, by how much.
    rating_noise
        Standard deviation of a rating in time, typical of the league.
    strength_spread
        Standard deviation of the mean strengths, for comparison.
    matches_until_converged
        Matches per team until a disturbance is down to 1 %.
    unbiased_gamma
        Step size at which the slope is 1; None where it is not defined.
    noise_when_unbiased
        Standard deviation of a rating in time at that step size; None where there is none, or where it is 0.
    by_deviations
        Whether steps follow from deviations: there is then no γ to change.
    caveats
        Why theory may be off by more than 2 % here; see :class:`~kinelo.theory.caveats.Caveat`.
    check
        What a league played beside the theory showed, where one was.
    """

    system: RatingSystem
    league: str
    condition: Condition
    taylor: Taylor
    slope: float
    slope_of_small_steps: float
    overrated: tuple[RatedTeam, ...]
    underrated: tuple[RatedTeam, ...]
    largest_bias: float
    rating_noise: float
    strength_spread: float
    stable: bool
    matches_until_converged: float
    unbiased_gamma: float | None
    noise_when_unbiased: float | None
    by_deviations: bool
    caveats: tuple[Caveat, ...]
    check: Check | None

    @property
    def shrinkage(self) -> float:
        """``1 − slope``: by what share rating gaps fall short of strength gaps (negative: they exceed them)."""
        return 1 - self.slope
