"""What the paper says about the scale ν."""

from __future__ import annotations

from kinelo.paper.claim import EQUAL, Finding, check, judged, judged_under, needed
from kinelo.paper.figures.scale.evidence import Scale

NEEDS = ("scale",)
NEAR_DIAGONAL = 0.02


@check(
    440, "Section 4, Figure 6", needs=NEEDS,
    quote="For ν = 1 all expected values θ ∈ [4, 10] converge to 7 and we get an almost horizontal line",
    statement=f"for ν = 1, σ = 2 all teams are rated equally (slope below {EQUAL:g})",
    criterion=f"slope of the computed map below {EQUAL:g} as γ → 0",
)  # fmt: skip
def all_to_seven_at_nu_one(evidence: Scale) -> Finding:
    """ν = 1, σ = 2: all ratings converge to 7."""
    run = needed(evidence.final, "ν = 1")
    return Finding(
        f"R(10) = {run.limit_end:.4f}, slope {run.limit_slope:.4f} (computed, γ → 0); simulated at γ = {run.gamma:g}: "
        f"slope {run.slope:.4f} ± {2 * run.slope_error:.4f}",
        judged(run.limit_slope < EQUAL),
        "The map is flatter than at ν = 0.5, but not horizontal: the order and distance of the teams survive.",
        figures=(6,),
    )


@check(
    441, "Section 4, Figure 6", needs=NEEDS,
    quote="If we choose ν = 0.1 we get the desired diagonal θ = r as time increases, as in the case ν = 0.01",
    statement=f"for ν = 0.1 and ν = 0.01 the slope is 1 (within {NEAR_DIAGONAL:g})",
    criterion=f"slope of the computed map within {NEAR_DIAGONAL:g} of 1 at both ν; depends if at one of them only",
)  # fmt: skip
def diagonal_for_small_nu(evidence: Scale) -> Finding:
    """ν = 0.1 and 0.01 give the diagonal."""
    tenth, hundredth = needed(evidence.final, "ν = 0.1"), needed(evidence.final, "ν = 0.01")
    return Finding(
        f"slope {tenth.limit_slope:.4f} and {hundredth.limit_slope:.4f} as γ → 0; simulated at γ = {tenth.gamma:g} "
        f"{tenth.slope:.4f} and {hundredth.slope:.4f}",
        judged_under(abs(tenth.limit_slope - 1) < NEAR_DIAGONAL, abs(hundredth.limit_slope - 1) < NEAR_DIAGONAL),
        "Close to it at ν = 0.1, on it at ν = 0.01; the price is noise, a rating's variance being about γ/2ν = "
        f"{hundredth.gamma / 0.02:.2g} at ν = 0.01.",
        on=f"how close is meant: {100 * abs(1 - tenth.limit_slope):.1f} % off at ν = 0.1, "
        f"{100 * abs(1 - hundredth.limit_slope):.1f} % at ν = 0.01",
        figures=(6,),
    )


@check(
    442, "Section 4, Figure 6, bottom right", needs=NEEDS,
    quote="the smaller value of ν corresponds to a slower convergence towards the stationary state",
    statement="a smaller ν takes more matches to settle",
    criterion="matches to settle grow as ν falls, computed and measured",
)  # fmt: skip
def small_nu_is_slow(evidence: Scale) -> Finding:
    """Smaller ν converges more slowly."""
    early = sorted(evidence.early.values(), key=lambda run: -run.nu)
    predicted, measured = ([getattr(run, name) for run in early] for name in _TIMES)
    return Finding(
        "; ".join(
            f"ν = {run.nu:g}: {m:,.0f} matches per team to within 10 % (computed {p:,.0f})"
            for run, p, m in zip(early, predicted, measured)
        ),
        judged(predicted == sorted(predicted) and measured == sorted(measured)),
        "The relaxation time 1/(γλ₂) grows like 1/ν once ν is small.",
        figures=(6,),
    )


_TIMES = ("matches_to_ten_percent", "measured_to_ten_percent")
CHECKS = (all_to_seven_at_nu_one, diagonal_for_small_nu, small_nu_is_slow)
