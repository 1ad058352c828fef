"""What moves beside ratings in one run: the law of motion of strengths and the turnover of the league."""

from __future__ import annotations

from collections.abc import Sequence

from kinelo.errors import InputError
from kinelo.macro.motion import FormMotion, LearningMotion, Motion, WalkMotion
from kinelo.macro.scheme import Transport
from kinelo.macro.turnover import Replacement
from kinelo.macro.velocity import Velocity
from kinelo.model.dynamics import Dynamics, Form, Learning, Walk, parts_of
from kinelo.model.schedule import Period, Rounds
from kinelo.model.steps import DeviationSteps
from kinelo.model.system import RatingSystem


class Moving:
    """Moves the strengths of a density under way, and replaces its teams."""

    def __init__(
        self, system: RatingSystem, velocity: Velocity, dynamics: Dynamics | Sequence[Dynamics], frame: float
    ) -> None:
        law, open_ = parts_of(dynamics)
        if isinstance(law, Learning) and isinstance(system.schedule, Rounds | Period):
            raise InputError("Learning moves strengths within a period too: simulate plays it, the solver does not.")
        gamma, grid = one_gamma(system), velocity.grid
        self._motion: Motion | None = None
        if isinstance(law, Learning):
            self._motion = LearningMotion(system.outcome, velocity, law, frame)
        elif isinstance(law, Form) and grid.form is not None:
            self._motion = FormMotion(grid.form, law, gamma)
        elif isinstance(law, Walk):
            self._motion = WalkMotion(grid.theta, law, gamma)
        self._replacing = None if open_ is None else Replacement(grid, open_, gamma, law)

    @property
    def frame(self) -> float:
        """By how much the frame in which strengths are counted has moved."""
        return 0.0 if self._motion is None else self._motion.frame

    def step(self, transport: Transport, dt: float) -> None:
        """Advance by ``dt``, arrivals and departures half before and half after the motion."""
        density = transport.density().reshape(transport.grid.shape)
        if self._replacing is not None:
            self._replacing.step(density, self.frame, dt / 2)
        if self._motion is not None:
            self._motion.step(density, dt)
        if self._replacing is not None:
            self._replacing.step(density, self.frame, dt / 2)
        transport.relabel()
        if self._replacing is not None:
            transport.carry_mean()


def one_gamma(system: RatingSystem) -> float:
    """γ where it is one number; the kinetic equation is that of one step for all."""
    if isinstance(system.gamma, float):
        return system.gamma
    if isinstance(system.gamma, DeviationSteps):
        raise InputError(
            "The kinetic equation of DeviationSteps is solved along its characteristics, by "
            "theory.moving.glicko.deviation_path; settled_deviations gives where ratings and deviations end up."
        )
    raise InputError(f"The kinetic equation is solved for one gamma that all teams share, not {system.gamma!r}.")


def period_length(system: RatingSystem) -> float | None:
    """Kinetic time of a rating period, γ times its matches of a team; None where every match counts at once."""
    if isinstance(system.schedule, Rounds):
        raise InputError(
            "Rounds() needs a number of teams, which a population has not; give Period(matches) with one match per "
            "opponent."
        )
    return one_gamma(system) * system.schedule.matches if isinstance(system.schedule, Period) else None
