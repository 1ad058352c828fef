"""What a diagnosis measures, and the words for it: the lines of its table, and its advice."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinelo.advice.check import Check
from kinelo.advice.report import Rows
from kinelo.model.system import RatingSystem
from kinelo.theory.caveats import Caveat

NEAR = 0.02


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
class Worth:
    """What a contest of ``size`` teams is worth in matches of two, to those who gain least and most by it."""

    size: int
    least: float
    most: float


@dataclass(frozen=True)
class Gain:
    """What the team that gains most by choosing whom it meets gains, and by meeting whom; infinitely small steps."""

    team: str
    opponent: str
    points: float


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
    worth
        What a contest is worth in matches of two; None where two meet.
    farming
        Who gains most by choosing opponents; None in a continuum and in leagues of more than 800 teams.
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
    worth: Worth | None
    farming: Gain | None
    caveats: tuple[Caveat, ...]
    check: Check | None

    @property
    def shrinkage(self) -> float:
        """``1 − slope``: by what share rating gaps fall short of strength gaps (negative: they exceed them)."""
        return 1 - self.slope


def rows_of(verdict: Facts) -> Rows:
    """Name and finding of every line."""
    contest = [] if verdict.worth is None else [("A contest", _contest(verdict.worth))]
    return [
        *contest,
        ("Condition (B')", _condition(verdict)),
        ("Taylor closure", _taylor(verdict)),
        ("Scale of the ratings", _scale(verdict)),
        ("Rated too high", _teams(verdict.overrated)),
        ("Rated too low", _teams(verdict.underrated)),
        ("Rating noise", _noise(verdict)),
        ("Time to settle (whole league)", _time(verdict)),
        ("Unbiased step size", _unbiased(verdict)),
        *([] if verdict.farming is None else [("Choosing opponents", _farming(verdict.farming))]),
    ]


def _contest(worth: Worth) -> str:
    same = f"{worth.least:.2f}" == f"{worth.most:.2f}"
    numbers = f"{worth.least:.2f}" if same else f"{worth.least:.2f} to {worth.most:.2f}"
    return (
        f"of {worth.size} tells as much as {numbers} matches of two to each who takes part: ratings end up in the same "
        "place and take as many contests as they would take matches, with less noise"
    )


def _condition(verdict: Facts) -> str:
    limit = f"the largest σ_i² + σ_j² is {verdict.condition.load:.0%} of its limit"
    if verdict.condition.holds:
        return f"holds: {limit}, a margin of {verdict.condition.margin:.0%}"
    return f"fails: {limit}"


def _taylor(verdict: Facts) -> str:
    error = f"largest error of an expected result {verdict.taylor.largest_error:.2g}"
    return f"usable: {error}" if verdict.taylor.usable else f"not usable: {error}"


def _scale(verdict: Facts) -> str:
    if math.isnan(verdict.slope):
        return "all teams have the same mean strength"
    if abs(verdict.shrinkage) <= NEAR / 2:
        kind = "as wide as the strengths"
    else:
        kind = f"{'shrunken' if verdict.shrinkage > 0 else 'stretched'} by {abs(verdict.shrinkage):.1%}"
    return f"{kind} (slope {verdict.slope:.4f}; {verdict.slope_of_small_steps:.4f} for very small steps)"


def _teams(teams: tuple[RatedTeam, ...]) -> str:
    if not teams:
        return "none"
    return "\n".join(_team(one) for one in teams)


def _team(one: RatedTeam) -> str:
    return f"{one.team}: {one.bias:+.3g} (strength {one.theta:.4g} ± {one.sigma:.3g}, rating {one.rating:.4g})"


def _noise(verdict: Facts) -> str:
    noise = f"a rating wanders by ± {verdict.rating_noise:.3g} (one standard deviation)"
    if verdict.strength_spread == 0:
        return noise
    return f"{noise}, {verdict.rating_noise / verdict.strength_spread:.0%} of the spread of strengths in the league"


def _time(verdict: Facts) -> str:
    if not verdict.stable:
        return "never: this equilibrium is unstable"
    what = "matches" if verdict.worth is None else "contests"
    return (
        f"{verdict.matches_until_converged:,.0f} {what} per team until any disturbance of the whole league is down to "
        "1 %: its slowest mode, not how long until a newcomer is right, who is far quicker"
    )


def _unbiased(verdict: Facts) -> str:
    if verdict.by_deviations:
        return "none: steps follow from deviations, and no γ is chosen"
    if verdict.unbiased_gamma is None:
        return "none found (it takes AllPlayAll, teams of different strength, and noise that can be computed)"
    if verdict.unbiased_gamma == 0:
        return "only infinitely small steps are without bias, because strengths do not vary"
    gamma = verdict.unbiased_gamma
    return f"γ = {gamma:.4g} (K = {2 * gamma:.4g}) makes the slope 1; the system has γ = {verdict.system.step:.4g}"


def _farming(gain: Gain) -> str:
    if gain.points == 0:
        return "gains nothing: whoever a team meets, it is rated the same"
    return f"pays {gain.team} most: {gain.points:+.3g} if it meets only {gain.opponent}, as steps become small"


def advice_for(verdict: Facts) -> tuple[str, ...]:
    """What to change, most important first."""
    advice: list[str] = []
    # Where all play alike it is the schedule that overshoots, and the advice is about γ.
    if not verdict.stable and not verdict.system.pairing.constant:
        advice.append("These ratings are an unstable equilibrium: widen the pairing, or start from other ratings.")
    if not verdict.taylor.usable:
        advice.append("Use the exact closure: the Taylor closure misjudges matches of this league.")
    advice += _advice_on_scale(verdict)
    if verdict.strength_spread > 0 and verdict.rating_noise > verdict.strength_spread / 2:
        what = "Let deviations grow more slowly" if verdict.by_deviations else "Reduce γ"
        advice.append(f"{what}: ratings wander by more than half the spread of strengths and hide who is better.")
    return tuple(advice) or ("Nothing: the ratings are on the scale of the strengths.",)


def _advice_on_scale(verdict: Facts) -> list[str]:
    if math.isnan(verdict.slope) or abs(verdict.shrinkage) <= NEAR:
        return []
    gamma, target = verdict.system.step, verdict.unbiased_gamma
    if verdict.by_deviations:
        stretched = "uncertain opponents and rating noise stretch the ratings"
        cause = stretched if verdict.shrinkage < 0 else "varying performances shrink the ratings"
        return [f"Divide rating gaps by {verdict.slope:.3f} before reading them as gaps in strength: {cause}."]
    if verdict.shrinkage < 0:
        if not target:
            return [f"Reduce γ: rating noise stretches the ratings by {-verdict.shrinkage:.1%}."]
        return [f"Reduce γ from {gamma:.3g} towards {target:.3g}: rating noise stretches the ratings."]
    advice = [
        f"Divide rating gaps by {verdict.slope:.3f} before reading them as gaps in strength, or recover the strengths "
        "with recover_strength: varying performances shrink the ratings."
    ]
    if target and target > gamma:
        noise = verdict.noise_when_unbiased
        speed = "" if noise is None else f"; ratings would then wander by about ± {noise:.2g}"
        advice.append(f"Or raise γ from {gamma:.3g} to {target:.3g}, which removes the shrinkage{speed}.")
    return advice


def range_rows(verdict: Facts) -> Rows:
    """What theory does not vouch for here, and what a played league showed."""
    rows = [("Outside the range of theory", one.sentence) for one in verdict.caveats]
    if verdict.check is not None:
        rows.append(("Played beside it", verdict.check.sentence))
    return rows
