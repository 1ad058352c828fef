"""Where the paper leaves a gap or contains a slip, what is read in its place, and what had to be assumed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """What the paper prints, what is computed here, and why."""

    printed: str
    read_as: str
    because: str


READINGS = (
    Reading(
        "P(S = 1) = b(λᵢ − λⱼ)",
        "P(S = 1) = (1 + b(λᵢ − λⱼ))/2",
        "b lies in [−1, 1] and is the expected result; a probability cannot be negative.",
    ),
    Reading(
        "line-up vectors λ ∈ {0, 1/m}ᴹ, strength λ·ρ",
        "the strength of a line-up is the sum of its players' ρ",
        "Only then is θ = (m/M) Σ ρ, as the paper states two paragraphs later, and do set-ups R1 and R2 lie "
        "around 5 and 4–10.",
    ),
    Reading(
        "Var S ≈ (b′)²(σᵢ² + σⱼ²)",
        "Var S = 1 − s²",
        "The printed formula is the variance of b(λᵢ − λⱼ), not of a result of ±1.",
    ),
    Reading(
        "⟨S⟩ ≈ b(d) + ½ b″(d) V",
        "the exact expectation; the Taylor closure where the paper's equations are solved as printed",
        "The closure leaves [−1, 1] when ν²V > 4 and is not monotone when ν²V > 1. The exact expectation costs "
        "no more.",
    ),
    Reading(
        "25 matches per time step Δt = 0.1 for N = 200 and N = 500",
        "25 matches per step for both; time is counted in matches per team, t = 2τ/N",
        "Bird's scheme gives NΔt/2: 25 is right for N = 500 and would be 10 for N = 200. Only the clock changes.",
    ),
    Reading(
        "σ = 1 in the caption of Figure 2b",
        "σ ≈ 0.218, which eleven of 23 players with standard normal η/11 give",
        "1 is the standard deviation of η.",
    ),
    Reading(
        "Figure 3 on Ω = [0, 10] × [0, 10] × [0, 1] with ratings around 7",
        "both [0, 10] and [4, 10] are run",
        "The mean rating is conserved; uniform data on [0, 10] keep 5, and 7 and θ ∈ [6, 8] belong to [4, 10].",
    ),
    Reading(
        "time steps Δt = 10⁻⁵ for the kinetic equation",
        "steps just below the stability limit Δr / max|a|",
        "The printed step is some thousand times smaller than the scheme needs; half a million steps become a "
        "few hundred.",
    ),
    Reading(
        "N(θ, σ) performances",
        "σ is the standard deviation",
        "The paper writes variance for both σ and σ²; its kinetic equation uses σ².",
    ),
    Reading(
        "the second integral of dm₂/dt vanishes",
        "dm₂/dt = −∬ Δr b(Δr) w f f′ + ∬ Δr s w f f′",
        "The integrand is even under exchange of the two teams, so the second term survives and can win.",
    ),
    Reading(
        "E = ∫ (r − θ)² f decays to zero under (B′)",
        "∫ (r − R*)² f decays, R* being the stationary map",
        "r = θ is not stationary for σ > 0: the expected result s differs from b(θ − θ′).",
    ),
    Reading(
        "decay at the rate 2 w_min (L + σ²L₂) with Lipschitz constants",
        "a rate of at least 2c, c = inf b′ on the support; asymptotically 2λ₂",
        "A Lipschitz constant is an upper bound of the slope where a lower one is needed.",
    ),
    Reading(
        "line-ups drawn match by match",
        "results drawn from their exact probabilities (1 + s)/2",
        "Given the pair, a result is ±1 with that probability whatever the line-ups were: the law of the ratings "
        "is the same.",
    ),
)

ASSUMPTIONS = (
    "The step size γ is nowhere printed. γ = 0.05 is used unless stated; Figure 2 also shows γ = 0.5, and Figure "
    "7 how the "
    "result moves with γ.",
    "The scale ν of set-ups R1 and R2 is not printed: ν = 0.5 is taken from the paper's later experiments.",
    "Germany's and Brazil's spread comes from ratings that are not published with the paper. Their σ is a "
    "parameter of the "
    "set-up, 1 by default, with θ = 10 and 9 as printed; Figure 11 shows how the result moves with it.",
    "The values of σ in Figures 4 and 5 are not printed: 0, 0.5, 1 and 2 are used.",
    "Initial ratings of the simulations are not printed: every team starts at the mean strength.",
)
