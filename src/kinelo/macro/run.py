"""The kinetic equation as a generator of states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kinelo.errors import InputError, warn
from kinelo.macro.kernels import transported
from kinelo.macro.motion import with_form
from kinelo.macro.population import Population, as_population
from kinelo.macro.scheme import SCHEMES, SchemeName, Transport
from kinelo.macro.state import KineticState, diagnose, stationary_map
from kinelo.macro.stepping import (
    COURANT,
    SECONDS_PER_CELL,
    SECONDS_PER_STEP,
    Moving,
    PeriodStepper,
    Stepper,
    StrengthDiffusion,
    check_samples,
    one_gamma,
)
from kinelo.macro.velocity import Velocity
from kinelo.model.dynamics import Dynamics, parts_of
from kinelo.model.expectation import Closure
from kinelo.model.schedule import Period, Rounds
from kinelo.model.system import RatingSystem
from kinelo.model.validation import SMALLEST, finite_array, nonnegative, number, positive, whole
from kinelo.runtime.blas import one_blas_thread
from kinelo.runtime.device import DeviceName, choose_device
from kinelo.runtime.limits import check_time

Stop = Literal["until", "steady"]

PRESSING = 1e-6
"""Mass held back by the ends of r that is worth a warning."""


@dataclass(frozen=True)
class SolverOptions:
    """How the kinetic equation is solved; :func:`kinelo.solve` describes each option.

    >>> SolverOptions(scheme="tvd", dt=0.1).fixed
    0.1
    """

    closure: Closure = "exact"
    scheme: SchemeName = "upwind"
    dt: float | Literal["cfl"] = "cfl"
    diffusion: float = 0.0
    save_at: Sequence[float] | None = None
    stop: Stop = "until"
    steady_below: float = 1e-4
    samples: int = 100
    threads: int = 1
    shape: object = None
    dynamics: Dynamics | Sequence[Dynamics] | None = None
    device: DeviceName = "cpu"

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, str) or self.scheme not in SCHEMES:
            raise InputError(f'scheme must be "upwind" or "tvd", not {self.scheme!r}.')
        if not isinstance(self.stop, str) or self.stop not in ("until", "steady"):
            raise InputError(f'stop must be "until" or "steady", not {self.stop!r}.')
        if isinstance(self.dt, str) and self.dt != "cfl":
            raise InputError(f'dt must be "cfl" or a number greater than 0, not {self.dt!r}.')
        _ = self.fixed, self.threshold, whole("threads", self.threads, 1)
        check_samples(whole("samples", self.samples, 1))
        if nonnegative("diffusion", self.diffusion) > 0 and self.dynamics is not None:
            raise InputError("diffusion must be 0 where dynamics say how strengths move.")

    @property
    def fixed(self) -> float | None:
        """The length of every step, unless the scheme chooses it."""
        return None if isinstance(self.dt, str) else positive("dt", self.dt)

    @property
    def threshold(self) -> float:
        """Rating points per unit of time below which a run is over."""
        return positive("steady_below", self.steady_below) if self.stop == "steady" else 0.0


def kinetic_states(
    system: RatingSystem, start: Population | KineticState, *, until: float, **options: Any
) -> Iterator[KineticState]:
    """Yield the state at the start, at each time of ``save_at``, at the end, and at about ``samples`` times in between.

    A state in between is that of the first step past each of ``samples`` evenly spaced instants, so that it shortens no
    step. ``start`` may be a state of an earlier run with the same arguments, which is then continued as if it had never
    stopped, without yielding that state again. Other arguments, the fields of :class:`SolverOptions`, are those of
    :func:`kinelo.solve`.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> teams = Population.uniform(theta=(4, 10, 30), r=(4, 10, 30), sigma=1.0)
    >>> states = list(kinetic_states(RatingSystem(Tanh(nu=0.5)), teams, until=2.0, save_at=[1.0, 2.0]))
    >>> [state.time for state in states if state.saved]
    [1.0, 2.0]
    """
    return _Run(system, start, until, SolverOptions(**options)).states()


class _Run:
    """A run's arguments, checked, and its loop over time."""

    def __init__(
        self, system: RatingSystem, start: Population | KineticState, until: float, options: SolverOptions
    ) -> None:
        if not isinstance(system, RatingSystem):
            raise InputError(f"system must be a RatingSystem, not {system!r}.")
        one_gamma(system)
        self.earlier = start if isinstance(start, KineticState) else None
        population = start.population if isinstance(start, KineticState) else as_population(start)
        self.population, self.options = with_form(population, parts_of(options.dynamics)[0]), options
        self.population.grid.check_memory(7 if options.scheme == "tvd" else 6, "Solving")
        self.begin = 0.0 if self.earlier is None else self.earlier.time
        self.until = until_time(until, self.begin)
        self.saves = save_times(options.save_at, self.until)
        self.interval = self.until / options.samples
        self.centre = self.population.mean_rating if self.earlier is None else self.earlier.centre
        if isinstance(system.schedule, Rounds):
            raise InputError(
                "Rounds() needs a number of teams, which a population has not; give Period(matches) with one match per "
                "opponent."
            )
        # Kinetic time of a rating period, γ times its matches of a team; None where every match counts at once.
        schedule = system.schedule
        self.length = one_gamma(system) * schedule.matches if isinstance(schedule, Period) else None
        if self.length is not None and (options.diffusion > 0 or options.fixed is not None):
            raise InputError("A rating period is one step of its own length; leave dt and diffusion as they are.")
        if (options.dynamics is not None or self.length is not None) and choose_device(options.device) == "gpu":
            raise InputError(
                'device = "gpu" solves for strengths that stay and matches that count at once; use device = "cpu".'
            )
        with one_blas_thread():
            self._prepare(system)
        self.warned = False

    def _prepare(self, system: RatingSystem) -> None:
        """Make ready what steps need: speeds, the density under way, what moves strengths, and R*."""
        options, grid = self.options, self.population.grid
        self.velocity = Velocity(system, grid, options.closure, options.shape)
        device, schemes = choose_device(options.device), SCHEMES
        if device == "gpu":
            from kinelo.macro.gpu.transport import GPU_SCHEMES

            schemes = GPU_SCHEMES
        scheme = schemes[options.scheme]
        self.transport: Transport = scheme(self.velocity, self.population, self.centre, options.threads)
        self.motion: StrengthDiffusion | Moving | None = None
        if options.diffusion > 0:
            self.motion = StrengthDiffusion(grid.theta, float(options.diffusion))
        elif options.dynamics is not None:
            frame = 0.0 if self.earlier is None else self.earlier.frame
            self.motion = Moving(system, self.velocity, options.dynamics, frame)
        # Whether it is steady is seen from one sample to the next.
        span = self.interval if options.stop == "steady" else self.until - self.begin
        # Steps have the length that the start allows, or a fixed one; a run that takes years is refused.
        step = options.fixed or COURANT * self.transport.limit(self.transport.speeds())
        seconds = span / step * (math.prod(grid.shape) * SECONDS_PER_CELL + SECONDS_PER_STEP[device])
        what = f"Solving over a time of {span:.4g} in about {span / step:.3g} steps"
        check_time(seconds, what, "use an earlier until or larger cells")
        label_mass, moving = self.population.label_mass.ravel(), self.motion is not None
        self.stationary = stationary_map(system.outcome, self.velocity, label_mass, self.centre, moving)

    def states(self) -> Iterator[KineticState]:
        """Step through time, yielding states."""
        state = self.earlier
        try:
            if state is None:
                with one_blas_thread():
                    state = self._state(0.0, 0, None)
                yield state
            if self.length is None:
                stepper = Stepper(self.transport, self.motion, self.options.fixed)
            else:
                moving = self.motion if isinstance(self.motion, Moving) else None
                stepper = PeriodStepper(self.transport, moving, self.length)
            for stop in [t for t in sorted({*self.saves, self.until}) if t > state.time]:
                while state.time < stop:
                    with one_blas_thread():
                        state = self._next(stepper, state, stop)
                    yield state
                    if state.steady:
                        return
        finally:
            self.transport.close()

    def _next(self, stepper: Stepper | PeriodStepper, state: KineticState, stop: float) -> KineticState:
        """Step on to the first instant past the next sample, or to ``stop``."""
        time, steps = state.time, state.steps
        while True:
            mark = self.interval * (math.floor(time / self.interval + 1e-9) + 1)
            time, taken = stepper.go_on(time, stop, mark)
            steps += taken
            if time == stop or time >= mark:
                return self._state(time, steps, state)

    def _state(self, time: float, steps: int, before: KineticState | None) -> KineticState:
        grid, density = self.population.grid, self.transport.density()
        # Whoever continues from this state knows its density alone; so does this run from here on.
        self.transport.relabel()
        # Mass in the first and in the last cell of r whose speed at the end points out of the range.
        speeds = self.transport.speeds()
        low = float(density[speeds.label - speeds.drag[:, 0] < 0, 0].sum() * grid.volume)
        high = float(density[speeds.label - speeds.drag[:, -1] > 0, -1].sum() * grid.volume)
        if not self.warned and max(low, high) >= PRESSING:
            self.warned = True
            end, mass = ("lower", low) if low > high else ("upper", high)
            warn(
                f"The range of r is too narrow: at time {time:.4g} a part {mass:.2g} of the teams presses against its "
                f"{end} end, {grid.r.low if low > high else grid.r.high:g}; give r a wider range."
            )
        population = Population._of(grid, density.reshape(grid.shape).copy())
        change = math.nan
        if before is not None:
            moved = transported(before.population.density.reshape(density.shape), density)
            change = moved * grid.volume * grid.r.width / (time - before.time)
        steady = change < self.options.threshold
        saved = time in self.saves or steady
        diagnostics = diagnose(density, grid, self.stationary)
        centre, note = self.transport.mean, self.stationary.note
        frame = self.motion.frame if isinstance(self.motion, Moving) else 0.0
        return KineticState(time, steps, population, diagnostics, change, saved, steady, centre, note, frame)


def until_time(until: object, begin: float = 0.0) -> float:
    """Return the end of a run, or say that it has passed."""
    value = number("until", until)
    if begin <= 0.0 < value < SMALLEST:
        raise InputError(f"until must be at least {SMALLEST:g}, not {value:g}.")
    if value <= begin:
        raise InputError(f"until must lie in the future: {value:g} is not after {begin:g}.")
    return value


def save_times(save_at: Sequence[float] | None, until: float) -> tuple[float, ...]:
    """Times at which the density is kept: in order, without repeats; the start and the end by default."""
    if save_at is None:
        return (0.0, until)
    times = finite_array("save_at", save_at, 1)
    if times.size == 0:
        raise InputError("save_at must list at least one time.")
    if times.min() < 0 or times.max() > until:
        outside = times.min() if times.min() < 0 else times.max()
        raise InputError(f"save_at must lie between 0 and until = {until:g}, but {outside:g} does not.")
    return tuple(float(t) for t in np.unique(times))
