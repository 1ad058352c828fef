"""E, the distance to R* and the centred second moment over time, with the values theory gives for late times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.outcome import Tanh
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, needed
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


@check(
    320, "Section 3, second moment; again in Section 4",
    quote="the second moment in r decreases over time",
    statement="∫ r² f decreases",
    criterion="the variance of r at the end below that at the start",
)  # fmt: skip
def second_moment_decreases(evidence: Mapping[str, EnergyRun]) -> Finding:
    """m_{2,r} decreases over time."""
    flat, taylor = needed(evidence, "from r = 7, exact"), needed(evidence, "from r = 7, taylor")
    start, end = max(float(flat.variance[0]), 0.0), float(flat.variance[-1])
    return Finding(
        f"about its mean, started on r = 7 (ν = {flat.nu:g}, σ = {flat.common_sigma:g}), it rises from {start:.4f} to "
        f"{end:.4f} at t = {flat.time[-1]:g} (Taylor: {taylor.variance[-1]:.4f}); computed limit "
        f"{flat.predicted_variance:.4f}",
        judged(end < start),
        "The integral that is said to vanish, ∬ Δr s w f f′, does not: it is what drives equal ratings apart.",
        figures=(9,),
    )


@check(
    406, "Section 4, energy decay",
    quote="In the following we will show that dE(t)/dt < 0", statement="under (B′) E = ∫(r − θ)² f decreases",
    criterion="E never rises by more than 1e-12 from one record to the next",
)  # fmt: skip
def energy_decays(evidence: Mapping[str, EnergyRun]) -> Finding:
    """dE/dt < 0 under (B')."""
    exact, taylor = needed(evidence, "from r = θ, exact"), needed(evidence, "from r = θ, taylor")
    return Finding(
        f"from r = θ, ν = {exact.nu:g}, σ = {exact.common_sigma:g} ((B′) holds) E rises from {exact.energy[0]:.4f} to "
        f"{exact.energy[-1]:.4f} (exact; computed limit {exact.predicted_energy:.4f}) and to {taylor.energy[-1]:.4f} "
        f"(Taylor; {taylor.predicted_energy:.4f})",
        judged(bool((np.diff(exact.energy) <= 1e-12).all())),
        "r = θ is not stationary for σ > 0. What decays is the distance to the stationary map, ∫(r − R*)² f.",
        figures=(9,),
    )


@check(
    410, "Section 4, decay theorem",
    statement="E(t) ≤ E(0) exp(−2 w_min (L + σ²L₂) t) with the Lipschitz constants L, L₂ of b, b″",
    criterion="E never above the bound by more than 1e-9 of it",
)  # fmt: skip
def decay_rate(evidence: Mapping[str, EnergyRun]) -> Finding:
    """E itself against the bound, and what decays instead."""
    run = needed(evidence, "from r = 7, exact")
    outcome, z = Tanh(run.nu), np.linspace(-30, 30, 60_001)
    printed = 2 * (outcome.steepest + run.common_sigma**2 * float(np.abs(outcome.b_third(z)).max()))
    bound = run.energy[0] * np.exp(-printed * run.time)
    kept = bool((run.energy <= bound * (1 + 1e-9)).all())
    broken = int(np.argmax(run.energy > bound * (1 + 1e-9)))
    return Finding(
        f"started on r = 7, E falls from {run.energy[0]:.4f} and stays at {run.energy[-1]:.4f} (computed limit "
        f"{run.predicted_energy:.4f}); "
        + ("it keeps" if kept else f"at t = {run.time[broken]:.3g} it is {run.energy[broken]:.4f} and has left")
        + f" the bound, which falls at rate {printed:.4f}"
        + ("" if kept else f" to {bound[broken]:.4f} by then")
        + f"; ∫(r − R*)² f decays to 0, at rate {_measured_rate(run):.4f} (2λ₂ = {2 * run.gap:.4f})",
        judged(kept),
        "E does not tend to 0 for σ > 0. And a Lipschitz constant bounds b′ from above where a lower bound is "
        "needed: with "
        "c = inf b′ on the support, the distance to R* decays at least at rate 2c = "
        f"{2 * float(outcome.b_prime(6.0)):.4f}, "
        "and asymptotically at 2λ₂.",
        figures=(9,),
    )


def _measured_rate(run: EnergyRun) -> float:
    """Slope of log distance where it is far above its floor, which the cells' width sets."""
    distance, time = run.distance, run.time
    use = (distance < 0.1 * distance[0]) & (distance > 100 * distance.min())
    if use.sum() < 3:
        use = slice(time.size // 4, time.size // 2)
    return -float(np.polyfit(time[use], np.log(distance[use]), 1)[0])
