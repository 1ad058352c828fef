"""E, the distance to R* and the centred second moment over time, with the values theory gives for late times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.outcome import Tanh
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged_under, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.kinetic import Kinetic, conservation, continuum_of, stationary_of
from kinelo.paper.summary import scale_of
from kinelo.pictures import style
from kinelo.studies.study import Study
from kinelo.theory.relaxation import relaxation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class EnergyRun(Kinetic):
    """Integrals of one run over time, and their computed limits."""

    nu: float
    common_sigma: float
    time: Array
    energy: Array
    distance: Array
    variance: Array
    asymptote: Array
    predicted_energy: float
    predicted_variance: float
    gap: float


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> dict[str, EnergyRun]:
    """Follow every run."""
    return {name: _follow(figure.studies[name], run) for name, run in runs.items()}


def _follow(study: Study, run: xr.Dataset) -> EnergyRun:
    teams = continuum_of(run)
    state = stationary_of(study.system, teams, run.attrs["closure"])
    gap = relaxation(study.system, teams, closure=run.attrs["closure"]).gap
    time, distance = run.series_time.values, run.stationary_distance.values
    late = int(np.argmax(distance < 0.05 * distance[0])) if distance[0] > 0 else 0
    return EnergyRun(
        **vars(conservation(run)),
        nu=scale_of(study),
        common_sigma=float(run.sigma.values[0]),
        time=time,
        energy=run.energy.values,
        distance=distance,
        variance=run.second_moment.values - run.mean_rating.values**2,
        asymptote=distance[late] * np.exp(-2 * gap * (time - time[late])),
        predicted_energy=state.mean_square_bias,
        predicted_variance=float(state.teams.mean((state.rating - state.teams.mean(state.rating)) ** 2)),
        gap=gap,
    )


def draw(data: Mapping[str, EnergyRun]) -> Figure:
    """Three panels with one legend below them."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.8)
        rise, decay, moment = figure.subplots(1, 3)
        for closure, colour in (("exact", style.EXACT), ("taylor", style.TAYLOR)):
            label = "exact" if closure == "exact" else "Taylor"
            diagonal, flat = data[f"from r = θ, {closure}"], data[f"from r = 7, {closure}"]
            rise.plot(diagonal.time, diagonal.energy, color=colour, linestyle="--")
            if (smooth := data.get(f"smooth, from r = θ, {closure}")) is not None:
                rise.plot(smooth.time, smooth.energy, color=colour, linewidth=0.8, alpha=0.6)
            rise.axhline(diagonal.predicted_energy, color=colour, linestyle=":", linewidth=0.9)
            decay.plot(flat.time, flat.energy, color=colour, linestyle="--", label=f"E, {label}")
            decay.plot(flat.time, flat.distance, color=colour, label=f"distance to R*, {label}")
            moment.plot(flat.time, flat.variance, color=colour)
        guide = data["from r = 7, exact"]
        decay.plot(guide.time, guide.asymptote, color=style.BLACK, linestyle=":", linewidth=0.9, label="rate 2λ₂")
        rise.set(xlabel="time γt", ylabel="E = ∫(r − θ)² f", title="(a) started on r = θ", ylim=(0, None))
        decay.set(xlabel="time γt", ylabel="squared distance", title="(b) started on r = 7", yscale="log")
        moment.set(
            xlabel="time γt", ylabel="second moment of r about its mean", title="(c) started on r = 7", ylim=(0, None)
        )
        decay.set_ylim(bottom=0.3 * float(guide.distance.min()))
        figure.legend(*decay.get_legend_handles_labels(), loc="outside lower center", ncols=5)
        return figure


SMOOTH = "smooth, "
"""Runs from data with a bounded derivative, as the theorems ask for."""


@check(
    320, "Section 3, second moment; again in Section 4",
    quote="the second moment in r decreases over time",
    statement="∫ r² f decreases",
    criterion="the variance of r at the end below that at the start, from one rating for all and from smooth data",
)  # fmt: skip
def second_moment_decreases(evidence: Mapping[str, EnergyRun]) -> Finding:
    """m_{2,r} decreases over time."""
    flat, taylor = needed(evidence, "from r = 7, exact"), needed(evidence, "from r = 7, taylor")
    smooth = needed(evidence, SMOOTH + "from r = 7, taylor")
    starts, ends = ([max(float(run.variance[k]), 0.0) for run in (flat, smooth)] for k in (0, -1))
    return Finding(
        f"about its mean, started on r = 7 (ν = {flat.nu:g}, σ = {flat.common_sigma:g}), it rises from "
        f"{starts[0]:.4f} to "
        f"{ends[0]:.4f} at t = {flat.time[-1]:g} (Taylor: {taylor.variance[-1]:.4f}); computed limit "
        f"{flat.predicted_variance:.4f}. From smooth data around 7, Taylor: {starts[1]:.4f} to {ends[1]:.4f}",
        judged_under(*(end < start for start, end in zip(starts, ends))),
        "The integral that is said to vanish, ∬ Δr s w f f′, does not: it is what drives equal ratings apart.",
        on="the data it starts from",
        figures=(9,),
    )


@check(
    406, "Section 4, energy decay",
    quote="In the following we will show that dE(t)/dt < 0", statement="under (B′) E = ∫(r − θ)² f decreases",
    criterion="E never rises by more than 1e-12 from one record to the next, from r = θ and from smooth data around it",
)  # fmt: skip
def energy_decays(evidence: Mapping[str, EnergyRun]) -> Finding:
    """dE/dt < 0 under (B')."""
    exact, taylor = needed(evidence, "from r = θ, exact"), needed(evidence, "from r = θ, taylor")
    smooth = needed(evidence, SMOOTH + "from r = θ, taylor")
    return Finding(
        f"from r = θ, ν = {exact.nu:g}, σ = {exact.common_sigma:g} ((B′) holds) E rises from {exact.energy[0]:.4f} to "
        f"{exact.energy[-1]:.4f} (exact; computed limit {exact.predicted_energy:.4f}) and to {taylor.energy[-1]:.4f} "
        f"(Taylor; {taylor.predicted_energy:.4f}). From smooth data around r = θ, Taylor: {smooth.energy[0]:.4f} to "
        f"{smooth.energy[-1]:.4f}",
        judged_under(*(bool((np.diff(run.energy) <= 1e-12).all()) for run in (exact, smooth))),
        "r = θ is not stationary for σ > 0. What decays is the distance to the stationary map, ∫(r − R*)² f.",
        on="the data it starts from",
        figures=(9,),
    )


@check(
    410, "Section 4, decay theorem",
    statement="E(t) ≤ E(0) exp(−2 w_min (L + σ²L₂) t) with the Lipschitz constants L, L₂ of b, b″",
    criterion="E never above the bound by more than 1e-9 of it, from one rating for all and from smooth data",
)  # fmt: skip
def decay_rate(evidence: Mapping[str, EnergyRun]) -> Finding:
    """E itself against the bound, and what decays instead."""
    run, smooth = needed(evidence, "from r = 7, exact"), needed(evidence, SMOOTH + "from r = 7, taylor")
    outcome, z = Tanh(run.nu), np.linspace(-30, 30, 60_001)
    printed = 2 * (outcome.steepest + run.common_sigma**2 * float(np.abs(outcome.b_third(z)).max()))
    return Finding(
        f"started on r = 7, E falls from {run.energy[0]:.4f} and stays at {run.energy[-1]:.4f} (computed limit "
        f"{run.predicted_energy:.4f}); the bound falls at rate {printed:.4f}: {_against(run, printed)}; from "
        f"smooth data "
        f"around 7, Taylor: {_against(smooth, printed)}; ∫(r − R*)² f decays to 0, at rate {_measured_rate(run):.4f} "
        f"(2λ₂ = {2 * run.gap:.4f})",
        judged_under(*(_leaves(one, printed) is None for one in (run, smooth))),
        "E does not tend to 0 for σ > 0. And a Lipschitz constant bounds b′ from above where a lower bound is "
        "needed: with c = inf b′ on the support, the distance to R* decays at least at rate 2c = "
        f"{2 * float(outcome.b_prime(6.0)):.4f}, and asymptotically at 2λ₂.",
        on="the data it starts from",
        figures=(9,),
    )


def _bound(run: EnergyRun, rate: float) -> Array:
    return run.energy[0] * np.exp(-rate * run.time)


def _leaves(run: EnergyRun, rate: float) -> int | None:
    """The record at which E is first above a bound that falls at ``rate``, if any."""
    above = np.flatnonzero(run.energy > _bound(run, rate) * (1 + 1e-9))
    return int(above[0]) if above.size else None


def _against(run: EnergyRun, rate: float) -> str:
    first = _leaves(run, rate)
    if first is None:
        return "E keeps it"
    return f"at t = {run.time[first]:.3g} E is {run.energy[first]:.4f} and has left it ({_bound(run, rate)[first]:.4f})"


def _measured_rate(run: EnergyRun) -> float:
    """Slope of log distance where it is far above its floor, which the cells' width sets."""
    distance, time = run.distance, run.time
    use = (distance < 0.1 * distance[0]) & (distance > 100 * distance.min())
    if use.sum() < 3:
        use = slice(time.size // 4, time.size // 2)
    return -float(np.polyfit(time[use], np.log(distance[use]), 1)[0])
