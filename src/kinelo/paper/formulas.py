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
        "Harmless: with the pair in random order and b cut at 0 the rule gives ½(b⁺ + 1 − b⁻) = (1 + b)/2, here "
        f"{(max(b, 0) + 1 - max(-b, 0)) / 2:.4f}, which is the probability meant.",
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
    305, "§3, correction term",
    quote="This term's sign depends on the sign of θ−θ', either decreasing or increasing the adjustment of ratings",
    statement="½b″(θ − θ′)(σ² + σ′²) changes its sign with θ − θ′",
    criterion="of one sign for all d = θ − θ′ in (0, 10], of the other for −d",
)  # fmt: skip
def sign_of_the_correction() -> Finding:
    """b'' is negative where d is positive: the stronger team is expected to gain less."""
    outcome, d = Tanh(0.5), np.linspace(0.01, 10, 1000)
    signs = [set(np.sign(outcome.b_second(side * d))) for side in (1, -1)]
    return Finding(
        f"½b″V = {float(outcome.b_second(1.0)):+.4f} at d = 1, {float(outcome.b_second(-1.0)):+.4f} at d = −1 "
        "(ν = 0.5, V = 2)",
        judged(signs in ([{-1.0}, {1.0}], [{1.0}, {-1.0}])),
        "It always takes from the expected result of the stronger team, so ratings draw together.",
    )


@check(
    409, "§4, proof of the decay theorem",
    statement="(x − y)(b(y) − b(x)) ≥ L |x − y|² and (x − y)(b″(y) − b″(x)) ≥ L₂ |x − y|², x = r − r′, y = θ − θ′",
    criterion="true of all x, y in [−6, 6], ν = 0.5",
)  # fmt: skip
def printed_inequalities() -> Finding:
    """The quotients of both sides: −b' of some point between x and y over L."""
    outcome, points = Tanh(0.5), np.linspace(-6, 6, 241)
    x, y = (side[~np.eye(points.size, dtype=bool)] for side in np.meshgrid(points, points))
    steepest = float(np.abs(outcome.b_third(np.linspace(-12, 12, 24_001))).max())
    ratios = [
        (function(y) - function(x)) / (x - y) / bound
        for function, bound in ((outcome.b, outcome.steepest), (outcome.b_second, steepest))
    ]
    return Finding(
        "left over right: "
        + ", ".join(f"{one.min():+.2f} to {one.max():+.2f} for {name}" for one, name in zip(ratios, ("b", "b″"))),
        judged(all(bool((one >= 1).all()) for one in ratios)),
        "b increases, so the first left side is never positive. L bounds its size from above; a bound from below needs "
        "inf b′.",
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

    low, high = 0.1, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        increasing = bool((1 + middle**2 * (4 - 6 * sech2) > 0).all())
        low, high = (middle, high) if increasing else (low, middle)
    return Finding(
        f"positive for all z up to νσ = {low:.6f}; 1/√2 = {1 / math.sqrt(2):.6f}",
        judged(abs(low - 1 / math.sqrt(2)) < 1e-6),
        "",
    )


@check(
    501,
    "Conclusion",
    quote="The smallness assumption relates to practically relevant parameter values",
    statement="with chess numbers, ν = ln 10/800 per Elo point and a σ of 200 Elo points, (B′) holds",
    criterion="νσ below 1/√2",
)
def practical_values() -> Finding:
    """(B') and the slope with numbers of chess: strengths over 1,400 Elo points."""
    nu, sigma = Tanh.elo().nu, 200.0
    slope = stationary(RatingSystem(Tanh(nu)), Continuum(theta=(1000.0, 2400.0), sigma=sigma)).slope
    return Finding(
        f"νσ = {nu * sigma:.3f}; 1/√2 = {1 / math.sqrt(2):.3f}, which is σ = {1 / (math.sqrt(2) * nu):.0f}. Slope over "
        f"1,400 Elo points: {slope:.3f}",
        judged(nu * sigma < 1 / math.sqrt(2)),
        f"Met; and yet players 100 points apart are rated {100 * slope:.0f} apart. σ = 200 is Elo's figure, not the "
        "paper's; the curve of chess holds a part of it already.",
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
