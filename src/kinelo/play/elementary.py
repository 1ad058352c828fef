"""Elementary functions in IEEE operations of a fixed order: the same bytes on every machine and device.

Each is accurate to one or two units in the last place over the range it is meant for. ``erf`` and the quantile of the
normal law are quotients of polynomials that interpolate the functions at Chebyshev points. Every digit of every
coefficient is part of the bytes that a seed promises.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.play.arithmetic import bits_from_float, float_from_bits
from kinelo.play.formula import formula

LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453
LN_2_HIGH = 6.93147180369123816490e-01
LN_2_LOW = 1.90821492927058770002e-10
ROUNDER = 6755399441055744.0  # 1.5 · 2⁵²: adding it rounds to an integer that sits in the low bits
BIAS, MANTISSA, EXPONENT_OF_ONE = np.uint64(1023), np.uint64(52), np.uint64(0x3FF0000000000000)
FRACTION = np.uint64(0x000FFFFFFFFFFFFF)
ROOT_2 = 1.4142135623730951


@formula
def exp_negative(y):
    """e^y for −700 ≤ y ≤ 0, to about one unit in the last place, in operations a compiler can vectorise."""
    n = y * LOG2_E + ROUNDER
    power = bits_from_float(n)  # pyright: ignore[reportCallIssue]
    n = n - ROUNDER
    r = y - n * LN_2_HIGH - n * LN_2_LOW
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    scale = float_from_bits((power + BIAS) << MANTISSA)  # pyright: ignore[reportCallIssue]
    return (1.0 + (r + r * r * p)) * scale


@formula
def log_of(x):
    """ln x of a normal double x > 0: x = 2^e m with m in [√½, √2), ln m = 2 artanh s with s = (m − 1)/(m + 1)."""
    bits = bits_from_float(x)  # pyright: ignore[reportCallIssue]
    e = float(bits >> MANTISSA) - 1023.0
    m = float_from_bits((bits & FRACTION) | EXPONENT_OF_ONE)  # pyright: ignore[reportCallIssue]
    if m > ROOT_2:
        m = m * 0.5
        e = e + 1.0
    f = m - 1.0
    s = f / (2.0 + f)
    q = s * s
    p = 0.08695652173913043
    p = p * q + 0.09523809523809523
    p = p * q + 0.10526315789473684
    p = p * q + 0.11764705882352941
    p = p * q + 0.13333333333333333
    p = p * q + 0.15384615384615385
    p = p * q + 0.18181818181818182
    p = p * q + 0.2222222222222222
    p = p * q + 0.2857142857142857
    p = p * q + 0.4
    p = p * q + 0.6666666666666666
    # ln m = f − f²/2 + s (f²/2 + q p): the leading term is exact.
    half = f * f * 0.5
    rest = s * (half + q * p) - half
    return e * LN_2_HIGH + f + (rest + e * LN_2_LOW)


@formula
def tanh_of(x):
    """Hyperbolic tangent by the same exponential."""
    q = exp_negative(-2.0 * min(abs(x), 175.0))
    return math.copysign((1.0 - q) / (1.0 + q), x)


@formula
def erf_of(x):
    """Error function: x P(x²)/Q(x²) up to 1, then 1 − e^{−x²} P(x)/Q(x)."""
    a = min(abs(x), 6.0)
    q = a * a
    if a < 1.0:
        p = 8.625602445726376e-08
        p = p * q + 0.00019709588069752516
        p = p * q + 0.0018829155471563983
        p = p * q + 0.0455033341653278
        p = p * q + 0.14365581715028763
        p = p * q + 1.1283791670955126
        d = 2.0866484101019162e-05
        d = d * q + 0.0006937362332349159
        d = d * q + 0.010705251871973175
        d = d * q + 0.0938746087651241
        d = d * q + 0.46064498648983654
        d = d * q + 1.0
        return x * (p / d)
    p = 0.0003303856283625327
    p = p * a + 0.004978896516372382
    p = p * a + 0.03757058056463302
    p = p * a + 0.1797075609580054
    p = p * a + 0.5886354962875683
    p = p * a + 1.3455554538253134
    p = p * a + 2.0992593823337997
    p = p * a + 2.061955520865204
    p = p * a + 1.0000000040359602
    d = 0.0005855932791244992
    d = d * a + 0.008824864315677411
    d = d * a + 0.06688491638773214
    d = d * a + 0.32293580156458074
    d = d * a + 1.0763323272817893
    d = d * a + 2.5397866492904284
    d = d * a + 4.209915713927801
    d = d * a + 4.699166407972569
    d = d * a + 3.1903347308491155
    d = d * a + 1.0
    return math.copysign(1.0 - exp_negative(-q) * (p / d), x)


@formula
def quantile(v):
    """Φ⁻¹(½ + v) for |v| < ½, odd in v: a quotient in v², and in the tails one in √(−ln(½ − |v|))."""
    a = abs(v)
    if a <= 0.425:
        s = 0.180625 - a * a
        p = 3907.007639023816
        p = p * s + 74060.81462563902
        p = p * s + 214247.3801984238
        p = p * s + 213550.16248438213
        p = p * s + 95692.73551269759
        p = p * s + 21627.48116049056
        p = p * s + 2548.2248573022625
        p = p * s + 148.75654077063152
        p = p * s + 3.3871328727963665
        d = 9398.46451720659
        d = d * s + 72342.69749284587
        d = d * s + 140376.82723612545
        d = d * s + 109244.70555458817
        d = d * s + 41169.98166790856
        d = d * s + 8176.878340636071
        d = d * s + 871.2838940641986
        d = d * s + 46.92338689522055
        d = d * s + 1.0
        return v * (p / d)
    s = math.sqrt(-log_of(0.5 - a)) - 1.5
    p = 4.076314699472763e-06
    p = p * s + 0.00029460022914244304
    p = p * s + 0.007041110992698496
    p = p * s + 0.08026857803725738
    p = p * s + 0.5131317883499167
    p = p * s + 1.9774340948733733
    p = p * s + 4.643104056450678
    p = p * s + 6.368062089194157
    p = p * s + 4.5529326645439925
    p = p * s + 1.2513729290570494
    d = 2.8823497426844735e-06
    d = d * s + 0.0002040019810337013
    d = d * s + 0.004681954691580407
    d = d * s + 0.050220748217438695
    d = d * s + 0.2962613038967696
    d = d * s + 1.027886287487783
    d = d * s + 2.080403117658968
    d = d * s + 2.252551299855783
    d = d * s + 1.0
    return math.copysign(p / d, v)
