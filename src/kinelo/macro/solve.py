"""Solving the kinetic equation ``∂_t f + ∂_r (a[f] f) = 0`` into a dataset.

Time is γ times the matches per team of the microscopic model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from kinelo._version import __version__
from kinelo.errors import InputError, warn
from kinelo.macro.population import Population, as_population
from kinelo.macro.run import Stop, kinetic_states, save_times, until_time
from kinelo.macro.scheme import SchemeName
from kinelo.macro.state import KineticState
from kinelo.model.dynamics import Dynamics
from kinelo.model.expectation import Closure
from kinelo.model.scaled import Shape
from kinelo.model.strength import Fixed, Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.presentation import counted
from kinelo.runtime.device import DeviceName
from kinelo.runtime.progress import Progress, progress_bar
from kinelo.theory.teams import Continuum

if TYPE_CHECKING:
    import xarray as xr

_SERIES = {
    "mass": "total mass",
    "mean_rating": "mean rating, ∫ r f",
    "second_moment": "second moment in r, ∫ r² f",
    "energy": "E = ∫ (r − θ)² f",
    "stationary_distance": "∫ (r − R*)² f with the stationary map R*",
}


def solve(
    system: RatingSystem,
    population: Population | Strength | Continuum,
    *,
    until: float,
    closure: Closure = "exact",
    scheme: SchemeName = "upwind",
    dt: float | Literal["cfl"] = "cfl",
    diffusion: float = 0.0,
    save_at: Sequence[float] | None = None,
    stop: Stop = "until",
    steady_below: float = 1e-4,
    samples: int = 100,
    threads: int = 1,
    shape: object = None,
    device: DeviceName = "cpu",
    progress: Progress = False,
    dynamics: Dynamics | Sequence[Dynamics] | None = None,
) -> xr.Dataset:
    """Move a population by the kinetic equation and return its density over time.

    Parameters
    ----------
    system, population
        The rating system, one γ for all, and the teams at time 0: a Population, or a league or a Continuum as
        ``simulate`` and ``stationary`` take it. Those begin at the mean of θ, in 100 cells of θ and of r (20 of σ where
        it differs), and their performances are taken as normal. Time is γ times the matches per team, so γ itself
        enters only where something happens per match: dynamics, or the length γn of a rating ``Period(n)``, after
        which all ratings move at once.
    until
        The last time.
    closure
        How expected results follow from strengths: "exact" (normal performances) or "taylor" (the paper's).
    scheme
        "upwind", the paper's, of first order, or "tvd", of second order. Both keep mass, mean rating and sign.
    dt
        "cfl" steps just below the stability limit; a number fixes the step, and is refused above that limit.
    diffusion
        Spread σ that strengths gain per unit of time through playing: adds ``½ σ² d[f] ∂²_θ f``.
    save_at
        Times at which to keep the density; the start and the end by default.
    stop
        "steady" ends the run, and keeps its last density, once ratings move by less than ``steady_below`` rating points
        per unit of time on average, measured between samples; ``until`` is then the longest time.
    samples
        Number of times, besides those saved, at which the series of integrals is taken.
    threads
        Number of threads; the result is the same, to the last bit, for any.
    shape
        Shape X of the performances θ + σX: a SciPy distribution such as ``scipy.stats.t(3)``; normal by default.
    device
        "cpu", "gpu" (for AllPlayAll()), or "auto". Densities agree to rounding, about 1e-15 where it was
        measured (tests ask for 1e-12), and what is conserved is conserved on both.
    progress
        True shows a progress bar; a function is called with a few words now and then.
    dynamics
        How strengths move: Learning (θ is then counted from the league's growing mean), Form (θ is a team's own mean,
        about which its form comes and goes, from 0), Walk, Turnover, or one of the first three with a Turnover. Rates
        per match become ω/γ, s²/γ.

    Returns
    -------
    Dataset
        ``density(time, theta, sigma, r)``, its marginals and the mean rating given θ; over ``series_time`` the mass,
        the moments, E and the distance to the stationary map (NaN, with a note, where there is no single one). With
        dynamics, over ``time``, also V, C and U (``strength_variance``, ``covariance``, ``rating_variance``).

    Examples
    --------
    >>> import kinelo as kn
    >>> teams = kn.macro.Population.uniform(theta=(4, 10, 60), r=(4, 10, 60), sigma=1.0)
    >>> run = kn.solve(kn.RatingSystem(kn.Tanh(nu=0.5)), teams, until=40.0)
    >>> run.density.sizes["time"], round(float(run.mean_rating[-1]), 9)
    (2, 7.0)
    >>> stationary = kn.stationary(kn.RatingSystem(kn.Tanh(nu=0.5)), kn.theory.Continuum(theta=(4, 10), sigma=1.0))
    >>> bool(abs(run.rating_given_theta[-1] - stationary.rating_of(run.theta)).max() < 0.1)  # a cell of r
    True
    """
    end = until_time(until)
    saves = save_times(save_at, end)
    if shape is None and isinstance(population, Strength) and not isinstance(population, Fixed | Normal):
        warn(
            f"The kinetic equation takes performances of {type(population).__name__} as normal, with the same means "
            "and spreads."
        )
    population = as_population(population)
    population.grid.check_memory(len(saves) + 6, f"Keeping the density at {counted(len(saves), 'time', 'times')}")
    states = kinetic_states(
        system, population, until=end, closure=closure, scheme=scheme, dt=dt, diffusion=diffusion, save_at=saves,
        stop=stop, steady_below=steady_below, samples=samples, threads=threads, shape=shape, dynamics=dynamics,
        device=device,
    )  # fmt: skip
    description = {"closure": closure, "scheme": scheme, "dt": dt, "diffusion": float(diffusion)}
    if dynamics is not None:
        description["dynamics"] = repr(dynamics)
    if shape is not None:
        description["shape"] = repr(Shape(shape))
    with progress_bar("Solving", end, wanted=progress) as advance:
        return dataset_of(states, system, description, advance)


def dataset_of(
    states: Iterable[KineticState],
    system: RatingSystem,
    description: Mapping[str, object],
    advance: Callable[[float], None] = lambda time: None,
) -> xr.Dataset:
    """Drain a run into a dataset; ``advance`` is called with the time reached."""
    recorded: list[KineticState] = []
    series: list[tuple[float, ...]] = []
    last: KineticState | None = None
    for last in states:
        if last.saved:
            recorded.append(last)
        series.append((last.time, *(getattr(last.diagnostics, name) for name in _SERIES)))
        advance(last.time)
    if last is None:
        raise InputError("A run without states has no dataset.")
    ending = {"steps": last.steps, "ended": "steady" if last.steady else "until", "stationary_note": last.note}
    return assembled(recorded, np.array(series), system, {**description, **ending})


def assembled(
    states: Sequence[KineticState], series: Array, system: RatingSystem, description: Mapping[str, object]
) -> xr.Dataset:
    """The dataset of a run from its saved states and its series, whose columns are time and the integrals."""
    import xarray as xr

    grid = states[0].population.grid
    frames = [state.population for state in states]

    def stacked(*axes: str) -> tuple[tuple[str, ...], np.ndarray]:
        return ("time", *axes), np.stack([frame.marginal(*axes) for frame in frames])

    given_theta = np.stack([frame.mean_rating_given_theta() for frame in frames])
    points = "rating points"
    moments = {}
    if "dynamics" in description:
        rows = np.array([frame.moments for frame in frames])
        texts = ("variance of strengths, V", "covariance of strengths and ratings, C", "variance of ratings, U")
        names = ("strength_variance", "covariance", "rating_variance")
        moments = {name: ("time", rows[:, k], {"long_name": texts[k]}) for k, name in enumerate(names)}
    return xr.Dataset(
        {
            "density": (*stacked("theta", "sigma", "r"), {"long_name": "density of teams"}),
            "density_theta_r": (*stacked("theta", "r"), {"long_name": "density in mean strength and rating"}),
            "density_sigma_r": (*stacked("sigma", "r"), {"long_name": "density in spread and rating"}),
            "density_r": (*stacked("r"), {"long_name": "density in rating"}),
            "density_theta": (*stacked("theta"), {"long_name": "density in mean strength"}),
            "rating_given_theta": (
                ("time", "theta"),
                given_theta,
                {"long_name": "mean rating given θ", "units": points},
            ),
            **moments,
            **{
                name: ("series_time", series[:, k + 1], {"long_name": text})
                for k, (name, text) in enumerate(_SERIES.items())
            },
        },
        coords={
            "time": ("time", [state.time for state in states], {"long_name": "kinetic time, γ × matches per team"}),
            "theta": ("theta", grid.theta.centres, {"long_name": "mean strength θ", "units": points}),
            "sigma": ("sigma", grid.sigma.centres, {"long_name": "spread of strength σ", "units": points}),
            "r": ("r", grid.r.centres, {"long_name": "rating r", "units": points}),
            "series_time": ("series_time", series[:, 0], {"long_name": "kinetic time, γ × matches per team"}),
        },
        attrs={
            "outcome": repr(system.outcome),
            "pairing": repr(system.pairing),
            "population": repr(frames[0]),
            "kinelo_version": __version__,
            **description,
        },
    )
