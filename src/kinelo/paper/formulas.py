"""Statements of the paper that need no figure: they are formulas, and can be computed or drawn at once."""

from __future__ import annotations

import math

import numpy as np

from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Tanh
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.paper.claim import Finding, check, judged, judged_print
from kinelo.theory.limit import stationary
from kinelo.theory.teams import Continuum


@check(201, "§2, line-ups", statement="P(S = 1) = b(λᵢ − λⱼ)", criterion="0 ≤ b(z) ≤ 1 at z = −1")
def result_is_a_probability() -> Finding:
    """P(S = 1) = b is printed; b takes negative values."""
    b = float(Tanh(0.5).b(-1.0))
    return Finding(
        f"b(−1) = {b:.4f} at ν = 0.5",
        judged_print(0 <= b <= 1),
        f"The probability is (1 + b)/2, here {(1 + b) / 2:.4f}.",
    )


@check(
    203,
    "§2, equation for Var S",
    statement="Var S ≈ (b′)² (σᵢ² + σⱼ²)",
    criterion="within 10 % of Var S = 1 − s²",
)
def variance_of_results() -> Finding:
    """Var S against (b')² V, 1 − s² and the variance of b(λ_i − λ_j), which is what (b')² V expands."""
    nu, sigma, d = 0.5, 1.0, 1.0
    outcome = Tanh(nu)
    s = float(expected_result(outcome, Normal([d, 0.0], sigma))[0, 1])
    z, weight = np.polynomial.hermite_e.hermegauss(60)
    square = float(weight @ outcome.b(d + math.sqrt(2) * sigma * z) ** 2 / weight.sum())
    printed, true = float(outcome.b_prime(d)) ** 2 * 2 * sigma**2, 1 - s * s
    return Finding(
        f"Var S = 1 − s² = {true:.4f}; printed formula {printed:.4f}; variance of b(λᵢ − λⱼ) {square - s * s:.4f} "
        f"(ν = {nu:g}, σ = {sigma:g}, d = {d:g})",
        judged(abs(printed - true) < 0.1 * true),
        "It is the first-order expansion of the variance of b(λᵢ − λⱼ).",
        more="Nothing in the paper rests on it.",
    )


@check(
    405, "§4, assumption (B′)",
    quote="holds for example for b(z) = tanh(νz) if 1 + ν²σ²(4 − 6 sech(zν)²) > 0",
    statement="b + σ²b″ increases for tanh under the printed inequality",
    criterion="the largest νσ within 1e-6 of 1/√2",
)  # fmt: skip
def condition_b_prime() -> Finding:
    """(B') for tanh: the printed inequality, for all z, is νσ < 1/√2."""
    z = np.linspace(-20, 20, 40_001)
    sech2 = 1 / np.cosh(z) ** 2

    def increasing(nu_sigma: float) -> bool:
        return bool((1 + nu_sigma**2 * (4 - 6 * sech2) > 0).all())

    low, high = 0.1, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) else (low, middle)
    return Finding(
        f"positive for all z up to νσ = {low:.6f}; 1/√2 = {1 / math.sqrt(2):.6f}",
        judged(abs(low - 1 / math.sqrt(2)) < 1e-6),
        "",
    )


@check(
    501,
    "Conclusion",
    quote="The smallness assumption relates to practically relevant parameter values",
    statement="with chess numbers, ν = ln 10/800 per Elo point and σ = 200 Elo points, (B′) holds",
    criterion="νσ below 1/√2",
)
def practical_values() -> Finding:
    """(B') and the slope with numbers of chess: strengths over 1,400 Elo points."""
    nu, sigma = Tanh.elo().nu, 200.0
    slope = stationary(RatingSystem(Tanh(nu)), Continuum(theta=(1000.0, 2400.0), sigma=sigma)).slope
    return Finding(
        f"νσ = {nu * sigma:.3f}; 1/√2 = {1 / math.sqrt(2):.3f}. Slope over 1,400 Elo points: {slope:.3f}",
        judged(nu * sigma < 1 / math.sqrt(2)),
        f"Met; and yet players 100 points apart are rated {100 * slope:.0f} apart.",
        figures=(10,),
    )


@check(
    600,
    "Appendix, first moment",
    statement="dm₁/dt = ½γ ∬ w f f′ (b(d) − ½b″(d)V − b(r − r′) + b(−d) + ½b″(−d)V − b(r′ − r)) = 0, d = θ − θ′",
    criterion="the bracket vanishes at d = 1, V = 2, ν = 0.5",
)
def sign_in_the_appendix() -> Finding:
    """The two b'' have opposite signs where both should be positive."""
    outcome, d, variance = Tanh(0.5), 1.0, 2.0
    here, there = float(outcome.b_second(d)), float(outcome.b_second(-d))
    printed, meant = (sign * here * variance / 2 + there * variance / 2 for sign in (-1, 1))
    return Finding(
        f"as printed {printed:+.4f}; with + before the first b″ {meant:.4f}",
        judged_print(abs(printed) < 1e-12),
        "",
        more="The mean rating is conserved all the same.",
    )


@check(
    502, "Conclusion",
    quote="in chess the scaling parameter ν in b is usually quite small, around 1/400",
    statement="in chess ν is around 1/400",
    criterion="ν between 1/800 and 1/200",
)  # fmt: skip
def chess_scale() -> Finding:
    """In chess ν is around 1/400."""
    nu = Tanh.elo().nu
    return Finding(
        f"ν = ln 10 / 800 = 1/{1 / nu:.0f}",
        judged(0.5 < nu * 400 < 2),
        "",
    )
