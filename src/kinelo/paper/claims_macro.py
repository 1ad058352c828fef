"""Statements of the paper's Section 3: the Taylor closure, the kinetic equation, its moments and its marginals."""

from __future__ import annotations

import math
import time

import numpy as np
import xarray as xr

from kinelo.equilibrium.continuum import Continuum
from kinelo.equilibrium.limit import stationary
from kinelo.model.outcome import Tanh
from kinelo.model.system import RatingSystem
from kinelo.paper.claim import AllEvidence, Check, Claim, judged, judged_twice

SECTION = "Section 3"


def taylor_closure(evidence: AllEvidence) -> Claim:
    """⟨S⟩ ≈ b + ½ b'' V: how far off, and where it turns back."""
    both = evidence[8]["closures"]
    error = np.abs(both.win.sel(closure="exact") - both.win.sel(closure="taylor")).max("difference").values
    sigma = both.sigma.values
    turns = [s for s in sigma if (np.diff(both.win.sel(closure="taylor", sigma=s)) < 0).any()]
    ok = error < 0.05
    return Claim(
        "Section 2, Taylor expansion; used throughout Section 3",
        "⟨S⟩ ≈ b(d) + ½ b″(d) V",
        "largest error of the win probability: "
        + ", ".join(f"{e:.4f} at σ = {s:g}" for s, e in zip(sigma, error))
        + (f"; falls with growing d at σ = {', '.join(f'{s:g}' for s in turns)}" if turns else ""),
        judged_twice(bool(ok[0]), bool(ok[-1])),
        "Good while νσ is well below 1/√2 = 0.707; beyond it a stronger team can be predicted to win less often.",
        on="νσ",
        figures=(8,),
    )


def mass_and_mean(evidence: AllEvidence) -> Claim:
    """Mass and mean rating are conserved."""
    runs = [run for number in (3, 5, 9) if number in evidence for run in evidence[number].values()]
    mass = max(run.attrs["mass_error"] for run in runs)
    mean = max(run.attrs["mean_error"] for run in runs)
    return Claim(
        f"{SECTION}, analysis",
        "the kinetic equation conserves mass (and, w being even, the mean rating)",
        f"largest change over {len(runs)} runs: mass {mass:.1e}, mean rating {mean:.1e}",
        judged(max(mass, mean) < 1e-10),
        "Exact for the scheme, not only in the limit of fine cells.",
        figures=(3,),
    )


def second_moment_decreases(evidence: AllEvidence) -> Claim:
    """m_{2,r} decreases over time."""
    flat = evidence[9]["from r = 7, exact"]
    taylor = evidence[9]["from r = 7, taylor"]
    start, end, until = max(float(flat.variance[0]), 0.0), float(flat.variance[-1]), float(flat.time[-1])
    return Claim(
        f"{SECTION}, second moment",
        "the second moment in r decreases over time",
        f"started on r = 7 (ν = 0.5, σ = 1) it rises from {start:.4f} to {end:.4f} at t = {until:g} "
        f"(Taylor: {float(taylor.variance[-1]):.4f}); computed limit {flat.predicted_variance:.4f}",
        judged(end < start),
        "The integral that is said to vanish, ∬ Δr s w f f′, does not: it is what drives equal ratings apart.",
        figures=(9,),
    )


def stationary_states(evidence: AllEvidence) -> Claim:
    """The paper cannot compute its stationary states."""
    system, teams = RatingSystem(Tanh(0.5)), Continuum(theta=(4.0, 10.0), sigma=1.0)
    stationary(system, teams)
    begin = time.perf_counter()
    state = stationary(system, teams)
    spent = time.perf_counter() - begin
    return Claim(
        f"{SECTION}, end of the analysis",
        "the stationary states cannot be computed explicitly",
        f"computed in {spent * 1e3:.0f} ms, {state.iterations} Newton steps, residual {state.residual:.0e}; R(10) = "
        f"{float(state.rating_of(10.0)):.6f}",
        judged(state.residual > 1e-9),
        "For w ≡ 1 they minimise a convex functional, so Newton's method finds them; no closed formula is claimed.",
    )


def marginals_converge(evidence: AllEvidence) -> Claim:
    """At t = 5 ratings have converged for θ in [6, 8], blurred outside."""
    blur = {name: _blur(run) for name, run in evidence[3].items()}
    (wide, (wide_inside, wide_outside)), (narrow, (inside, outside)) = blur.items()
    return Claim(
        "Figure 3, left",
        "ratings converge towards the mean strength for θ ∈ [6, 8] but are blurred for smaller and larger means",
        f"standard deviation of r given θ, in and outside of [6, 8]: {inside:.3f} and {outside:.3f} on {narrow}; "
        f"{wide_inside:.3f} and {wide_outside:.3f} on {wide}",
        judged_twice(wide_inside < 0.8 * wide_outside, inside < 0.8 * outside),
        "[6, 8] is the middle of [4, 10], not of the stated [0, 10], whose middle is 5.",
        on="the domain: read as [4, 10]",
        figures=(3,),
    )


def _blur(run: xr.Dataset) -> tuple[float, float]:
    inside = (run.theta.values >= 6) & (run.theta.values <= 8)
    return float(run.sd_rating.values[inside].mean()), float(run.sd_rating.values[~inside].mean())


def around_seven(evidence: AllEvidence) -> Claim:
    """All teams get a similar rating, around 7."""
    means = {name: run.attrs["mean_rating"] for name, run in evidence[3].items()}
    first, second = means.values()
    return Claim(
        "Figure 3, right",
        "ratings lie around 7 on the domain [0, 10]",
        ", ".join(f"mean rating {value:.6f} on {name}" for name, value in means.items()),
        judged_twice(abs(first - 7) < 0.1, abs(second - 7) < 0.1),
        "The mean rating is conserved: uniform data on [0, 10] keep 5; 7 belongs to [4, 10]. Both are run here.",
        on="the domain: 7 belongs to [4, 10]",
        figures=(3,),
    )


def less_accurate_with_spread(evidence: AllEvidence) -> Claim:
    """The larger σ, the flatter the ratings."""
    run = list(evidence[3].values())[-1]
    slope = run.slope_by_sigma.values
    return Claim(
        "Figure 3, right",
        "the larger the uncertainty σ, the less accurate the ratings, as all teams get a similar rating",
        f"slope of r on θ at t = {run.attrs['time']:g}: {slope[0]:.4f} for the smallest σ, {slope[-1]:.4f} for "
        f"the largest",
        judged(bool((np.diff(slope) <= 1e-9).all())),
        "Teams of large σ are pulled further towards the mean, at every σ on the grid.",
        figures=(3,),
    )


def condition_b_prime(evidence: AllEvidence) -> Claim:
    """(B') for tanh: the printed inequality, for all z, is νσ < 1/√2."""
    z = np.linspace(-20, 20, 40_001)
    sech2 = 1 / np.cosh(z) ** 2

    def increasing(nu_sigma: float) -> bool:
        return bool((1 + nu_sigma**2 * (4 - 6 * sech2) > 0).all())

    low, high = 0.1, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) else (low, middle)
    return Claim(
        "Section 4, assumption (B′)",
        "b + σ²b″ increases if 1 + ν²σ²(4 − 6 sech²(νz)) > 0",
        f"positive for all z up to νσ = {low:.6f}; 1/√2 = {1 / math.sqrt(2):.6f}",
        judged(abs(low - 1 / math.sqrt(2)) < 1e-6),
        "The printed inequality is right; it must hold at z = 0, which makes it νσ < 1/√2.",
    )


CHECKS = (
    Check((8,), taylor_closure),
    Check((3,), mass_and_mean),
    Check((9,), second_moment_decreases),
    Check((), stationary_states),
    Check((3,), marginals_converge),
    Check((3,), around_seven),
    Check((3,), less_accurate_with_spread),
    Check((), condition_b_prime),
)
