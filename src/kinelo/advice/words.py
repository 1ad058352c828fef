"""What a diagnosis measures, and the words for it: the lines of its table, and its advice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinelo.advice.report import Rows
from kinelo.model.dynamics import Dynamics, Form, Learning, Walk
from kinelo.model.system import RatingSystem
from kinelo.presentation import percent, significant
from kinelo.theory.caveats import Caveat
from kinelo.theory.moving.following import Parts

if TYPE_CHECKING:
    from kinelo.advice.check import Check

NEAR_ONE = 0.02
"""A slope this close to 1 is called 1."""
ROUNDING_OF_WORDS = 1e-6


@dataclass(frozen=True)
class ConditionB:
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
class Worth:
    """What a contest of ``size`` teams is worth in matches of two, to those who gain least and most by it."""

    size: int
    least: float
    most: float


@dataclass(frozen=True)
class Gain:
    """What the team that gains most by choosing whom it meets gains, and by meeting whom; infinitely small steps.

    ``points`` while the others' ratings are held, ``reacting`` once they have answered.
    """

    team: str
    opponent: str
    points: float
    reacting: float


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
    strength_variance
        Variance of the strengths, form and walk included, with the divisor of the error.
    matches_until_converged
        Matches per team until a disturbance is down to 1 %.
    unbiased_gamma
        Step size at which the slope is 1; None where it is not defined.
    noise_when_unbiased, error_when_unbiased
        Standard deviation of a rating in time at that step size, and the mean square error there; None where there is
        none, or where it is 0.
    error
        Mean square of rating less strength about the league's means, by cause: bias, noise, lag.
    dynamics, open
        How strengths move. Whether newcomers enter: the scale and the teams that are rated too high or too low are then
        those of the league if nobody came or left, the error is that of all who play in the end.
    uncounted
        Whether the league is open and the error is that without newcomers, because theirs is not computed.
    by_deviations
        Whether steps follow from deviations: there is then no γ to change.
    worth
        What a contest is worth in matches of two; None where two meet.
    farming
        Who gains most by choosing opponents; None in a continuum, in leagues of more than 800 teams, and where
        strengths learn.
    caveats
        Why theory may be off by more than 2 % here; see :class:`~kinelo.theory.caveats.Caveat`.
    check
        What a league played beside the theory showed, where one was.
    """

    system: RatingSystem
    league: str
    condition: ConditionB
    taylor: Taylor
    slope: float
    slope_of_small_steps: float
    overrated: tuple[RatedTeam, ...]
    underrated: tuple[RatedTeam, ...]
    largest_bias: float
    rating_noise: float
    strength_spread: float
    strength_variance: float
    stable: bool
    matches_until_converged: float
    unbiased_gamma: float | None
    noise_when_unbiased: float | None
    error_when_unbiased: float | None
    error: Parts
    dynamics: Dynamics | None
    open: bool
    uncounted: bool
    by_deviations: bool
    worth: Worth | None
    farming: Gain | None
    caveats: tuple[Caveat, ...]
    check: Check | None

    @property
    def shrinkage(self) -> float:
        """``1 − slope``: by what share rating gaps fall short of strength gaps (negative: they exceed them)."""
        return 1 - self.slope

    @property
    def walks(self) -> bool:
        """Whether strengths walk."""
        return isinstance(self.dynamics, Walk)

    @property
    def learns(self) -> bool:
        """Whether strengths learn."""
        return isinstance(self.dynamics, Learning)

    @property
    def unit(self) -> str:
        """What is counted: matches of two, or contests."""
        return "match" if self.worth is None else "contest"

    @property
    def units(self) -> str:
        """Several of them."""
        return "matches" if self.worth is None else "contests"


def rows_of(verdict: Facts) -> Rows:
    """Name and finding of every line."""
    rows: Rows = [] if verdict.worth is None else [("A contest", _contest(verdict.worth))]
    # Who was there from the start gives way to newcomers, whose error is another.
    closed = "if nobody came or left: " * verdict.open
    settles = (
        f"{verdict.matches_until_converged:,.0f} {verdict.units} per team until any disturbance of the whole league is "
        "down to 1 %: its slowest mode, not how long until a newcomer is right, who is far quicker"
    )
    parts = verdict.error
    whose = "once all have come as newcomers: " * verdict.open if not verdict.uncounted else "if nobody came or left: "
    error = (
        f"{whose}mean square of rating less strength {significant(parts.total, 4)}: bias {significant(parts.bias)}, "
        f"noise {significant(parts.noise)}, lag {significant(parts.lag)}"
    )
    rows += [
        ("Condition (B')", _condition(verdict)),
        ("Taylor closure", _taylor(verdict)),
        ("Scale of the ratings", closed + _scale(verdict)),
    ]
    if not verdict.learns:
        both = (("Rated too high", verdict.overrated), ("Rated too low", verdict.underrated))
        rows += [(name, closed + _teams(teams)) for name, teams in both]
    rows += [
        ("Rating noise", closed + _noise(verdict)),
        ("Error", error),
        ("Time to settle (whole league)", settles if verdict.stable else "never: this equilibrium is unstable"),
    ]
    if (unbiased := _unbiased(verdict)) is not None:
        rows.append(("Unbiased step size", unbiased))
    if verdict.farming is not None:
        rows.append(("Choosing opponents", _farming(verdict.farming)))
    return rows


def _contest(worth: Worth) -> str:
    same = f"{worth.least:.2f}" == f"{worth.most:.2f}"
    numbers = f"{worth.least:.2f}" if same else f"{worth.least:.2f} to {worth.most:.2f}"
    return (
        f"of {worth.size} tells as much as {numbers} matches of two to each who takes part: ratings end up in the same "
        "place and take as many contests as they would take matches, with less noise"
    )


def _condition(verdict: Facts) -> str:
    limit = f"the largest σ_i² + σ_j² is {percent(verdict.condition.load)} of its limit"
    if verdict.condition.holds:
        return f"holds: {limit}, a margin of {percent(verdict.condition.margin)}"
    return f"fails: {limit}"


def _taylor(verdict: Facts) -> str:
    error = f"largest error of an expected result {verdict.taylor.largest_error:.2g}"
    return f"usable: {error}" if verdict.taylor.usable else f"not usable: {error}"


def _scale(verdict: Facts) -> str:
    if math.isnan(verdict.slope):
        return "all teams have the same mean strength"
    if abs(verdict.shrinkage) <= NEAR_ONE / 2:
        kind = "as wide as the strengths"
    else:
        kind = f"{'shrunken' if verdict.shrinkage > 0 else 'stretched'} by {percent(abs(verdict.shrinkage), 1)}"
    if verdict.learns:
        return f"{kind} (slope {verdict.slope:.4f})"
    cause = {Walk: "rating noise and lag", Form: "rating noise and following form"}.get(
        type(verdict.dynamics), "rating noise"
    )
    small = verdict.slope_of_small_steps
    curve = ", where the curve of results stretches by itself" if small > 1 + NEAR_ONE / 2 else ""
    return (
        f"{kind} (slope {verdict.slope:.4f}: {small:.4f} for very small steps{curve}, "
        f"{verdict.slope - small:+.4f} by {cause})"
    )


def _teams(teams: tuple[RatedTeam, ...]) -> str:
    if not teams:
        return "none"
    return "\n".join(
        f"{one.team}: {one.bias:+.3g} (strength {one.theta:.4g} ± {one.sigma:.3g}, rating {one.rating:.4g})"
        for one in teams
    )


def _noise(verdict: Facts) -> str:
    given = {
        Walk: "given the strengths of the day a rating varies",
        Form: "with form and luck a rating varies",
        Learning: "given the strength of a team a rating varies",
    }
    varies = given.get(type(verdict.dynamics), "a rating wanders")
    noise = f"{varies} by ± {verdict.rating_noise:.3g} (one standard deviation)"
    if verdict.strength_spread == 0 or verdict.open:  # the spread is that of newcomers
        return noise
    return (
        f"{noise}, {percent(verdict.rating_noise / verdict.strength_spread)} of the spread of strengths in the league"
    )


def _unbiased(verdict: Facts) -> str | None:
    """The step at which the slope is 1, as what it is: no bias on average, and more noise."""
    gamma, noise = verdict.unbiased_gamma, verdict.noise_when_unbiased
    if verdict.walks or verdict.learns or verdict.uncounted or verdict.error.lag > 0:
        return None
    if verdict.by_deviations:
        return "none: steps follow from deviations, and no γ is chosen"
    if gamma is None:
        return "none found (it takes one step for all, teams of different strength, and noise that can be computed)"
    if gamma == 0 and verdict.slope_of_small_steps > 1 + ROUNDING_OF_WORDS:
        return "none: the curve of results stretches the ratings even with very small steps"
    if gamma == 0 or noise is None or verdict.error_when_unbiased is None:
        return "only infinitely small steps are without bias, because performances do not vary"
    return (
        f"γ = {gamma:.4g} (K = {2 * gamma:.4g}) makes the slope 1: no bias on average, but a rating wanders by "
        f"± {noise:.3g} instead of ± {verdict.rating_noise:.3g}, and the mean square error is "
        f"{significant(verdict.error_when_unbiased)} instead of {significant(verdict.error.total)}"
    )


def _farming(gain: Gain) -> str:
    if gain.points == 0:
        return "gains nothing: whoever a team meets, it is rated the same"
    if math.isinf(gain.points):
        return f"pays {gain.team} without end: it always beats {gain.opponent}, and rises as long as it meets no other"
    return (
        f"pays {gain.team} most: {gain.points:+.3g} if it meets only {gain.opponent} and the others' ratings are held, "
        f"{gain.reacting:+.3g} once the league has reacted, as steps become small"
    )
