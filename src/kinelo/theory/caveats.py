"""Where the closure was measured to hold, and what to say of an answer from outside.

Inside (five teams or more, γ sup b' up to 0.1, form no slower than 0.01 per match, every pair playing) the closure lay
within 2 % of simulation; ``verification/MEASURED.md`` has the measurements. Outside an answer carries caveats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinelo.model.dynamics import Dynamics, Form, Walk
from kinelo.model.schedule import Period, Rounds
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.closure import NoiseKind
from kinelo.theory.covariance import matches_together
from kinelo.theory.teams import Teams

MEASURED_ERROR = 0.02
"""Relative error of a variance or mean square error where there is no caveat."""
LEAST_TEAMS = 5
LARGEST_STEP = 0.1
SLOWEST_MOTION = 0.01
CURVED = 0.05
FAR_WALK = 0.25
"""ν²V of strengths that walk, beyond which the lag of the outer teams is not that of the middle ones."""
TOGETHER = 0.5
YOUNG = 3.0
"""Memories of the ratings for which strengths must have walked to lie as far apart as they do."""
WIDEST_NOISE = 0.5
"""Noise of a rating difference, as a part of the distance at which w jumps, up to which it is taken for normal."""


@dataclass(frozen=True)
class Caveat:
    """A reason why an answer of theory may be off by more than 2 %.

    Attributes
    ----------
    reason
        What lies outside the range where the closure was measured, in a few words.
    sentence
        The same for people, with the numbers.
    error
        Largest relative error of variances and mean square errors that was seen so far outside.

    >>> Caveat("few teams", "3 teams are few.", 0.05).reason
    'few teams'
    """

    reason: str
    sentence: str
    error: float


def caveats_of(
    system: RatingSystem,
    teams: Teams,
    kind: NoiseKind | None,
    steps: float | Array,
    *,
    dynamics: Dynamics | None = None,
    variance: Array | None = None,
) -> tuple[Caveat, ...]:
    """What to say of an answer; nothing where it is exact (``kind`` None: infinitely small steps)."""
    if kind is None or kind == "exact":
        return ()
    caveats: list[Caveat] = []
    slope = float(np.max(steps)) * system.outcome.steepest
    if not system.pairing.constant:
        sentence = (
            "Pairs are chosen by rating: mean ratings and noise then depend on each other more than theory knows."
        )
        caveats.append(Caveat("pairing by rating", sentence, 0.2))
        jump = min((abs(distance) for distance in system.pairing.jumps), default=math.inf)
        noise = 0.0 if variance is None else float(np.sqrt(2 * teams.mean(variance)))
        if noise > WIDEST_NOISE * jump:
            gamma = f"{system.gamma:.4g}" if isinstance(system.gamma, float) else repr(system.gamma)
            caveats.append(
                Caveat(
                    "noise fills the window",
                    f"The difference of two ratings varies by ± {noise:.3g} at gamma = {gamma}, and the pairing jumps "
                    f"at {jump:.4g}: such noise is not normal, so mean ratings and noise computed here are rough. "
                    "Simulate, or take a smaller gamma.",
                    1.0,
                )
            )
    if teams.finite and teams.size < LEAST_TEAMS:
        caveats.append(Caveat("few teams", f"{teams.size} teams are few for a normal law of their ratings.", 0.06))
    if slope > LARGEST_STEP:
        caveats.append(
            Caveat(
                "large steps",
                f"γ sup b' = {slope:.3g} is above {LARGEST_STEP}: ratings are then not quite normal, and theory says "
                "too much noise.",
                min(0.5, MEASURED_ERROR + slope * (0.04 + 1.1 / teams.size if teams.finite else 0.04)),
            )
        )
    together = matches_together(system.schedule, teams.size) * slope
    if isinstance(system.schedule, Rounds | Period) and together > TOGETHER:
        caveats.append(
            Caveat("large batches", f"Results that count together move ratings far: nγ sup b' = {together:.3g}.", 0.1)
        )
    if system.deviations and dynamics is not None:
        caveats.append(
            Caveat(
                "deviations", "Every team's deviation is taken at its mean: theory says a little too much error.", 0.06
            )
        )
    elif (
        isinstance(dynamics, Form)
        and dynamics.rate < SLOWEST_MOTION
        and (system.outcome.nu * dynamics.spread) ** 2 > CURVED
    ):
        caveats.append(
            Caveat(
                "slow form",
                f"Form with rate {dynamics.rate:g} is slower than {SLOWEST_MOTION}: ratings follow it on a curve, and "
                "theory says too little error.",
                0.06,
            )
        )
    if isinstance(dynamics, Walk) and slope > 0:
        caveats += _walk(system, teams, dynamics, float(np.min(steps)))
    return tuple(caveats)


def _walk(system: RatingSystem, teams: Teams, walk: Walk, step: float) -> list[Caveat]:
    """Of strengths that lie far apart, and of such as lie so near together that they cannot have walked for long."""
    V = teams.crowding * teams.mean((teams.theta - teams.mean(teams.theta)) ** 2)
    far = system.outcome.nu**2 * V
    caveats = [
        Caveat(
            "wide walk",
            f"Strengths that walk lie far apart (ν²V = {far:.2g} is above {FAR_WALK}): the outer ones are followed "
            "more slowly than theory says, and the error is a little larger.",
            0.1,
        )
    ] * (far > FAR_WALK)
    remembered = walk.step**2 / (step * float(system.outcome.b_prime(np.sqrt(2 * V))))
    if V == 0 or YOUNG * remembered <= V:
        return caveats
    return [
        *caveats,
        Caveat(
            "young walk",
            f"While ratings remember, strengths walk by ± {np.sqrt(remembered):.3g}, and they lie only "
            f"± {np.sqrt(V):.3g} apart: how ratings follow then depends on where the league began.",
            0.1,
        ),
    ]
