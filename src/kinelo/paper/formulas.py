"""Statements of the paper that need no figure: they are formulas, and can be computed or drawn at once."""

from __future__ import annotations

import math

import numpy as np

from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Tanh
from kinelo.model.pairing import Local, Window
from kinelo.model.strength import Normal
from kinelo.paper.claim import Finding, check, judged, judged_print, judged_under


@check(201, "Section 2, line-ups", statement="P(S = 1) = b(λᵢ − λⱼ)", criterion="0 ≤ b(z) ≤ 1 at z = −1, ν = 0.5")
def result_is_a_probability() -> Finding:
    """P(S = 1) = b is printed; b takes negative values."""
    b = float(Tanh(0.5).b(-1.0))
    return Finding(
        f"b(−1) = {b:.4f} at ν = 0.5; (1 + b)/2 = {(1 + b) / 2:.4f}",
        judged_print(0 <= b <= 1),
        "b is an expected result in [−1, 1]; the probability that gives it is (1 + b)/2, which is what is simulated "
        "here.",
    )


@check(
    203,
    "Section 2, equation for Var S",
    statement="Var S ≈ (b′)² (σᵢ² + σⱼ²)",
    criterion="the printed formula within 10 % of the variance of 400,000 drawn results",
)
def variance_of_results() -> Finding:
    """Var S against (b')² V and against 1 − s²."""
    nu, sigma, d, draws = 0.5, 1.0, 1.0, 400_000
    generator = np.random.default_rng(101)
    difference = d + math.sqrt(2) * sigma * generator.standard_normal(draws)
    result = np.where(generator.random(draws) < (1 + np.tanh(nu * difference)) / 2, 1.0, -1.0)
    measured, printed = float(result.var()), float(Tanh(nu).b_prime(d)) ** 2 * 2 * sigma**2
    s = float(expected_result(Tanh(nu), Normal([d, 0.0], sigma))[0, 1])
    return Finding(
        f"drawn {measured:.4f}; printed formula {printed:.4f}; 1 − s² = {1 - s * s:.4f} (ν = 0.5, σ = 1, d = 1)",
        judged(abs(printed - measured) < 0.1 * measured),
        "The printed formula is the variance of b(λᵢ − λⱼ); a result of ±1 has variance 1 − s².",
    )


@check(
    100, "Introduction, choices of w; assumption (A2)",
    statement="w(z) = exp(ln 2/(1 + z²)) − 1 and w(z) = χ{|z| ≤ c} are even, bounded by 1 and twice differentiable",
    criterion="even, within [0, 1], and w′ changes by less than 0.01 over any step of 0.001, for both; depends "
    "if for one",
)  # fmt: skip
def printed_pairings() -> Finding:
    """Both printed w against what the analysis asks of w."""
    z = np.linspace(-4, 4, 8001)

    def suits(w: np.ndarray) -> bool:
        bounded = bool((w >= 0).all() and (w <= 1).all() and np.abs(w - w[::-1]).max() < 1e-12)
        return bounded and bool(np.abs(np.diff(np.diff(w) / np.diff(z))).max() < 0.01)

    local, window, smooth = (np.asarray(pairing.w(z)) for pairing in (Local(), Window(1.0), Window(1.0, 0.2)))
    words = {True: "yes", False: "no"}
    return Finding(
        f"the first: {words[suits(local)]} (w(0) = {local.max():g}, w(4) = {local[-1]:.4f}); the second with c = 1: "
        f"{words[suits(window)]}, it jumps by {np.abs(np.diff(window)).max():g}; smoothed over 0.2: "
        f"{words[suits(smooth)]}",
        judged_under(suits(local), suits(window)),
        "The paper adds “or smoothed variants thereof”, and only those meet its assumption (A2). Both are "
        "simulated and "
        "solved by Kinelo; the figures of the paper have w ≡ 1.",
        on="which of the two: the first is, the second only when smoothed",
    )


@check(
    405, "Section 4, assumption (B′)",
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
        "The printed inequality is right; it must hold at z = 0, which makes it νσ < 1/√2.",
    )


@check(
    500, "Conclusion",
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
        "Right in size: 400 is the number in 10^(−d/400), and tanh(νd) with that logistic curve has ν = ln 10 / 800.",
    )
