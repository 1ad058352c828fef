"""The laws of a match, each one scalar formula: b, b', ties and w.

Built-in laws are told apart by an integer, so that a loop compiled once serves them all and stays on disk.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinelo.model.outcome import PROBIT
from kinelo.model.pairing import ALL_PLAY_ALL, LOCAL, WINDOW
from kinelo.play.arithmetic import add, div, mul, sub
from kinelo.play.elementary import LN_2, erf_of, exp_negative, tanh_of
from kinelo.play.formula import formula

FLATTEST = 350.0
"""ν|z| beyond which nothing changes: t = e^{−ν|z|} would leave the range of the exponential."""
TWO_BY_ROOT_PI = 1.1283791670955126


class Law(NamedTuple):
    """A built-in outcome as kernels take it."""

    kind: int
    nu: float
    kappa: float


class Rule(NamedTuple):
    """A built-in pairing as kernels take it."""

    kind: int
    c: float
    smoothing: float


@formula
def logistic(nu, kappa, z):
    """b(z) = (1 − t²)/(1 + t² + κt) with t = e^{−ν|z|}: Davidson, and tanh for κ = 0."""
    t = exp_negative(-min(mul(nu, abs(z)), FLATTEST))
    q = mul(t, t)
    return math.copysign(div(sub(1.0, q), add(add(1.0, q), mul(kappa, t))), z)


@formula
def davidson(nu, kappa, z):
    """b(z), b'(z) = νt(4t + κ(1 + t²))/(1 + t² + κt)² and the probability κt/(1 + t² + κt) of a tie."""
    t = exp_negative(-min(mul(nu, abs(z)), FLATTEST))
    q = mul(t, t)
    whole = add(add(1.0, q), mul(kappa, t))
    b = math.copysign(div(sub(1.0, q), whole), z)
    rise = mul(t, add(mul(4.0, t), mul(kappa, add(1.0, q))))
    return b, div(mul(nu, rise), mul(whole, whole)), div(mul(kappa, t), whole)


@formula
def expected(kind, nu, kappa, z):
    """b(z) of any built-in outcome."""
    if kind == PROBIT:
        return erf_of(mul(nu, z))
    return logistic(nu, kappa, z)


@formula
def match_law(kind, nu, kappa, z):
    """b(z), b'(z) and the probability of a tie, of any built-in outcome."""
    if kind == PROBIT:
        x = mul(nu, z)
        slope = mul(mul(TWO_BY_ROOT_PI, nu), exp_negative(-min(mul(x, x), 700.0)))
        return erf_of(x), slope, 0.0
    return davidson(nu, kappa, z)


@formula
def tie_chance(kind, nu, kappa, z):
    """Probability of a tie."""
    if kind == PROBIT or kappa == 0.0:
        return 0.0
    t = exp_negative(-min(mul(nu, abs(z)), FLATTEST))
    return div(mul(kappa, t), add(add(1.0, mul(t, t)), mul(kappa, t)))


@formula
def result_of(uniform, b, tie):
    """Win, tie or loss (1, 0, −1) of a match whose expected result is b, from a uniform number."""
    wins = mul(0.5, add(sub(1.0, tie), b))
    if uniform < wins:
        return 1.0
    return 0.0 if uniform < add(wins, tie) else -1.0


@formula
def acceptance(kind, c, smoothing, z):
    """w(z) of any built-in pairing."""
    if kind == ALL_PLAY_ALL:
        return 1.0
    if kind == LOCAL:
        # e^x − 1 = (1 − e^{−x}) / e^{−x}
        shrunk = exp_negative(div(-LN_2, add(1.0, mul(z, z))))
        return div(sub(1.0, shrunk), shrunk)
    if kind == WINDOW:
        return 1.0 if abs(z) <= c else 0.0
    up, down = tanh_of(div(add(z, c), smoothing)), tanh_of(div(sub(z, c), smoothing))
    return div(sub(up, down), mul(2.0, tanh_of(div(c, smoothing))))
