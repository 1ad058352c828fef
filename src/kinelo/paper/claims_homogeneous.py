"""Statements of the paper's Section 4: homogeneous teams, decay of the energy, the roles of σ and ν."""

from __future__ import annotations

import numpy as np
import xarray as xr

from kinelo.model.outcome import Tanh
from kinelo.paper.claim import AllEvidence, Check, Claim, judged, judged_twice

SECTION = "Section 4"


def energy_decays(evidence: AllEvidence) -> Claim:
    """dE/dt < 0 under (B')."""
    exact, taylor = evidence[9]["from r = θ, exact"], evidence[9]["from r = θ, taylor"]
    return Claim(
        f"{SECTION}, energy decay",
        "under (B′) the energy E = ∫(r − θ)² f decreases",
        f"from r = θ, ν = 0.5, σ = 1 ((B′) holds) E rises from {float(exact.energy[0]):.4f} to "
        f"{float(exact.energy[-1]):.4f} (exact; computed limit {exact.predicted_energy:.4f}) and to "
        f"{float(taylor.energy[-1]):.4f} (Taylor; {taylor.predicted_energy:.4f})",
        judged(bool((np.diff(exact.energy) <= 1e-12).all())),
        "r = θ is not stationary for σ > 0. What decays is the distance to the stationary map, ∫(r − R*)² f.",
        figures=(9,),
    )


def ratings_converge_to_strength(evidence: AllEvidence) -> Claim:
    """If (B') holds ratings converge to θ."""
    run = evidence[4]["σ = 1"]
    bias = float(np.sqrt(((run.map_limit - run.map_theta) ** 2).mean()))
    return Claim(
        f"{SECTION}, theorem and conclusion; also the first sentence of the section",
        "under (B′), or if all teams have the same variance, ratings converge to the mean strength",
        f"ν = {run.nu:g}, σ = {run.common_sigma:g}: R(10) = {run.limit_end:.4f} as γ → 0, slope "
        f"{run.limit_slope:.4f} (simulated at γ = "
        f"{run.gamma:g}: {run.slope:.4f} ± {2 * run.slope_error:.4f}); root mean square of R − θ {bias:.3f}",
        judged(abs(run.limit_slope - 1) < 0.01),
        "A common σ > 0 shrinks the map by about 1/√(1 + πν²σ²), whether or not (B′) holds.",
        figures=(4, 10),
    )


def decay_rate(evidence: AllEvidence) -> Claim:
    """E(t) ≤ E(0) exp(−2(L + σ²L₂)t)."""
    run = evidence[9]["from r = 7, exact"]
    rate = _measured_rate(run)
    outcome, z = Tanh(run.nu), np.linspace(-30, 30, 60_001)
    printed = 2 * (outcome.steepest + run.common_sigma**2 * float(np.abs(outcome.b_third(z)).max()))
    floor = 2 * float(outcome.b_prime(6.0))
    return Claim(
        f"{SECTION}, decay theorem",
        "E(t) ≤ E(0) exp(−2 w_min (L + σ²L₂) t) with the Lipschitz constants L, L₂ of b, b″",
        f"∫(r − R*)² f decays at rate {rate:.4f} (2λ₂ = {2 * run.gap:.4f}); the theorem promises at least "
        f"{printed:.4f}",
        judged(rate >= printed),
        "A Lipschitz constant bounds b′ from above where a lower bound is needed; with c = inf b′ on the support "
        "the rate "
        f"is at least 2c = {floor:.4f}, and asymptotically 2λ₂.",
        figures=(9,),
    )


def _measured_rate(run: xr.Dataset) -> float:
    """Slope of log distance where it is far above its floor, which the cells' width sets."""
    distance, time = run.distance.values, run.time.values
    use = (distance < 0.1 * distance[0]) & (distance > 100 * distance.min())
    if use.sum() < 3:
        use = slice(time.size // 4, time.size // 2)
    return -float(np.polyfit(time[use], np.log(distance[use]), 1)[0])


def micro_and_macro_agree(evidence: AllEvidence) -> Claim:
    """Great agreement between Figures 4 and 5."""
    micro, macro = evidence[4], evidence[5]
    names = [name for name in micro if name in macro]
    gaps = {}
    for name in names:
        simulated = np.interp(macro[name].theta, micro[name].theta, micro[name].settled)
        noise_free = simulated - np.interp(
            macro[name].theta, micro[name].map_theta, micro[name].map_rating - micro[name].map_limit
        )
        gaps[name] = float(np.abs(noise_free - macro[name].mean_rating).max())
    ok = [gap < 0.1 + 2 * macro[name].cell for name, gap in gaps.items()]
    closure = "Taylor" if macro[names[0]].closure == "taylor" else "exact"
    return Claim(
        f"{SECTION}, Figures 4 and 5",
        "great agreement between the microscopic and the macroscopic model",
        f"largest difference of mean ratings ({closure} closure, rating noise removed): "
        + ", ".join(f"{gap:.3f} at {name}" for name, gap in gaps.items()),
        judged_twice(all(ok[:-1]), ok[-1]),
        "Within a cell and the noise while νσ is small; at σ = 2 the Taylor closure of the kinetic equation is "
        "out of its range.",
        on="σ: the closure fails for large νσ",
        figures=(4, 5),
    )


def all_equal_for_large_spread(evidence: AllEvidence) -> Claim:
    """For large σ all ratings converge to 7."""
    run = evidence[4]["σ = 2"]
    return Claim(
        f"{SECTION}, Figures 4 and 5",
        "if σ is large all teams are rated equally, at 7",
        f"ν = {run.nu:g}, σ = {run.common_sigma:g}: slope {run.slope:.4f} simulated, {run.limit_slope:.4f} as γ → "
        f"0, R(10) = {run.limit_end:.4f}",
        judged(abs(run.limit_end - 7) < 0.1),
        "The order and distance of the teams survive, on a smaller scale.",
        figures=(4,),
    )


def weak_over_strong_under(evidence: AllEvidence) -> Claim:
    """Weaker teams are over-rated and stronger ones under-rated."""
    signs = []
    for run in evidence[4].values():
        if run.common_sigma > 0:
            bias, side = (run.settled - run.theta).values, np.sign(run.theta.values - 7)
            outer = np.abs(run.theta.values - 7) > 1
            signs.append(float((bias * side < 0)[outer].mean()))
    return Claim(
        f"{SECTION}, Figures 4 and 5",
        "in expectation weaker teams are over-rated and stronger teams under-rated",
        "share of teams more than 1 from the centre on the stated side: "
        + ", ".join(
            f"{100 * share:.0f} % at {name}"
            for share, name in zip(signs, (n for n, r in evidence[4].items() if r.common_sigma > 0))
        ),
        judged(min(signs) > 0.95),
        "True of the map for every σ > 0; rating noise works against it and wins at large γ (Figure 7).",
        figures=(4, 7),
    )


def all_to_seven_at_nu_one(evidence: AllEvidence) -> Claim:
    """ν = 1, σ = 2: all ratings converge to 7."""
    run = evidence[6]["ν = 1"]
    return Claim(
        f"{SECTION}, Figure 6",
        "for ν = 1, σ = 2 all θ ∈ [4, 10] converge to 7, an almost horizontal line",
        f"R(10) = {run.limit_end:.4f}, slope {run.limit_slope:.4f} (computed, γ → 0); simulated at γ = {run.gamma:g}: "
        f"slope {run.slope:.4f} ± {2 * run.slope_error:.4f}",
        judged(abs(run.limit_end - 7) < 0.1),
        "The map is flatter than at ν = 0.5, but far from horizontal: the order and distance of the teams survive.",
        figures=(6,),
    )


def diagonal_for_small_nu(evidence: AllEvidence) -> Claim:
    """ν = 0.1 and 0.01 give the diagonal."""
    tenth, hundredth = evidence[6]["ν = 0.1"], evidence[6]["ν = 0.01"]
    return Claim(
        f"{SECTION}, Figure 6",
        "for ν = 0.1 and ν = 0.01 the ratings reach the diagonal",
        f"slope {tenth.limit_slope:.4f} and {hundredth.limit_slope:.4f} as γ → 0; simulated at γ = {tenth.gamma:g} "
        f"{tenth.slope:.4f} and {hundredth.slope:.4f}",
        judged_twice(abs(tenth.limit_slope - 1) < 0.02, abs(hundredth.limit_slope - 1) < 0.02),
        "Close to it at ν = 0.1, on it at ν = 0.01; the price is noise, a rating's variance being γ/2ν = "
        f"{hundredth.gamma / 0.02:.2g} at ν = 0.01.",
        on=f"how close is meant: {100 * abs(1 - tenth.limit_slope):.1f} % off at ν = 0.1, "
        f"{100 * abs(1 - hundredth.limit_slope):.1f} % at ν = 0.01",
        figures=(6,),
    )


def small_nu_is_slow(evidence: AllEvidence) -> Claim:
    """Smaller ν converges more slowly."""
    early = [run for name, run in evidence[6].items() if "slope" in run.variables]
    early.sort(key=lambda run: -run.attrs["nu"])
    predicted = [run.attrs["matches_to_ten_percent"] for run in early]
    measured = [run.attrs["measured_to_ten_percent"] for run in early]
    return Claim(
        f"{SECTION}, Figure 6, bottom right",
        "a smaller ν converges more slowly",
        "; ".join(
            f"ν = {run.attrs['nu']:g}: {m:,.0f} matches per team to within 10 % (computed {p:,.0f})"
            for run, p, m in zip(early, predicted, measured)
        ),
        judged(predicted == sorted(predicted) and measured == sorted(measured)),
        "The relaxation time 1/(γλ₂) grows like 1/ν once ν is small.",
        figures=(6,),
    )


def chess_scale(evidence: AllEvidence) -> Claim:
    """In chess ν is around 1/400."""
    nu = Tanh.elo().nu
    return Claim(
        "Conclusion",
        "in chess ν is around 1/400",
        f"ν = ln 10 / 800 = 1/{1 / nu:.0f}",
        judged(0.5 < nu * 400 < 2),
        "Right in size: 400 is the number in 10^(−d/400), and tanh(νd) with that logistic curve has ν = ln 10 / 800.",
    )


CHECKS = (
    Check((9,), energy_decays),
    Check((4,), ratings_converge_to_strength),
    Check((9,), decay_rate),
    Check((4, 5), micro_and_macro_agree),
    Check((4,), all_equal_for_large_spread),
    Check((4,), weak_over_strong_under),
    Check((6,), all_to_seven_at_nu_one),
    Check((6,), diagonal_for_small_nu),
    Check((6,), small_nu_is_slow),
    Check((), chess_scale),
)
