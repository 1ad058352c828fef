"""What the paper says about the second moment, the energy E and its decay."""

from __future__ import annotations

import numpy as np

from kinelo.model.outcome import Tanh
from kinelo.paper.claim import Finding, check, judged, needed
from kinelo.paper.figures.energy.evidence import Energy, EnergyRun

NEEDS = ("energy",)


@check(
    320, "Section 3, second moment; again in Section 4", needs=NEEDS,
    quote="the second moment in r decreases over time",
    statement="∫ r² f decreases",
    criterion="the variance of r at the end below that at the start",
)  # fmt: skip
def second_moment_decreases(evidence: Energy) -> Finding:
    """m_{2,r} decreases over time."""
    flat, taylor = needed(evidence.runs, "from r = 7, exact"), needed(evidence.runs, "from r = 7, taylor")
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
    406, "Section 4, energy decay", needs=NEEDS,
    quote="In the following we will show that dE(t)/dt < 0", statement="under (B′) E = ∫(r − θ)² f decreases",
    criterion="E never rises by more than 1e-12 from one record to the next",
)  # fmt: skip
def energy_decays(evidence: Energy) -> Finding:
    """dE/dt < 0 under (B')."""
    exact, taylor = needed(evidence.runs, "from r = θ, exact"), needed(evidence.runs, "from r = θ, taylor")
    return Finding(
        f"from r = θ, ν = {exact.nu:g}, σ = {exact.common_sigma:g} ((B′) holds) E rises from {exact.energy[0]:.4f} to "
        f"{exact.energy[-1]:.4f} (exact; computed limit {exact.predicted_energy:.4f}) and to {taylor.energy[-1]:.4f} "
        f"(Taylor; {taylor.predicted_energy:.4f})",
        judged(bool((np.diff(exact.energy) <= 1e-12).all())),
        "r = θ is not stationary for σ > 0. What decays is the distance to the stationary map, ∫(r − R*)² f.",
        figures=(9,),
    )


@check(
    410, "Section 4, decay theorem", needs=NEEDS,
    statement="E(t) ≤ E(0) exp(−2 w_min (L + σ²L₂) t) with the Lipschitz constants L, L₂ of b, b″",
    criterion="E never above the bound by more than 1e-9 of it",
)  # fmt: skip
def decay_rate(evidence: Energy) -> Finding:
    """E itself against the bound, and what decays instead."""
    run = needed(evidence.runs, "from r = 7, exact")
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


CHECKS = (second_moment_decreases, energy_decays, decay_rate)
