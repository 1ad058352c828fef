"""Elementary functions in IEEE operations of a fixed order: the same bytes on every machine and device.

Each is accurate to one or two units in the last place over the range it is meant for. ``erf`` and the quantile of the
normal law are quotients of polynomials that interpolate the functions at Chebyshev points.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.play.arithmetic import add, bits_from_float, div, float_from_bits, mul, sub
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
def then(p, x, c):
    """One step of Horner's scheme: p x + c, rounded twice."""
    return add(mul(p, x), c)


@formula
def exp_negative(y):
    """e^y for −700 ≤ y ≤ 0, to about one unit in the last place, in operations a compiler can vectorise."""
    n = then(y, LOG2_E, ROUNDER)
    power = bits_from_float(n)  # pyright: ignore[reportCallIssue]
    n = sub(n, ROUNDER)
    r = sub(sub(y, mul(n, LN_2_HIGH)), mul(n, LN_2_LOW))
    p = 1.6059043836821613e-10
    p = then(p, r, 2.08767569878681e-09)
    p = then(p, r, 2.505210838544172e-08)
    p = then(p, r, 2.755731922398589e-07)
    p = then(p, r, 2.7557319223985893e-06)
    p = then(p, r, 2.48015873015873e-05)
    p = then(p, r, 0.0001984126984126984)
    p = then(p, r, 0.001388888888888889)
    p = then(p, r, 0.008333333333333333)
    p = then(p, r, 0.041666666666666664)
    p = then(p, r, 0.16666666666666666)
    p = then(p, r, 0.5)
    scale = float_from_bits((power + BIAS) << MANTISSA)  # pyright: ignore[reportCallIssue]
    return mul(add(1.0, add(r, mul(mul(r, r), p))), scale)


@formula
def log_of(x):
    """ln x of a normal double x > 0: x = 2^e m with m in [√½, √2), ln m = 2 artanh s with s = (m − 1)/(m + 1)."""
    bits = bits_from_float(x)  # pyright: ignore[reportCallIssue]
    e = sub(float(bits >> MANTISSA), 1023.0)
    m = float_from_bits((bits & FRACTION) | EXPONENT_OF_ONE)  # pyright: ignore[reportCallIssue]
    if m > ROOT_2:
        m = mul(m, 0.5)
        e = add(e, 1.0)
    f = sub(m, 1.0)
    s = div(f, add(2.0, f))
    q = mul(s, s)
    p = 0.08695652173913043
    p = then(p, q, 0.09523809523809523)
    p = then(p, q, 0.10526315789473684)
    p = then(p, q, 0.11764705882352941)
    p = then(p, q, 0.13333333333333333)
    p = then(p, q, 0.15384615384615385)
    p = then(p, q, 0.18181818181818182)
    p = then(p, q, 0.2222222222222222)
    p = then(p, q, 0.2857142857142857)
    p = then(p, q, 0.4)
    p = then(p, q, 0.6666666666666666)
    # ln m = f − f²/2 + s (f²/2 + q p): the leading term is exact.
    half = mul(mul(f, f), 0.5)
    rest = sub(mul(s, add(half, mul(q, p))), half)
    return add(add(mul(e, LN_2_HIGH), f), add(rest, mul(e, LN_2_LOW)))


@formula
def tanh_of(x):
    """Hyperbolic tangent by the same exponential."""
    q = exp_negative(mul(-2.0, min(abs(x), 175.0)))
    return math.copysign(div(sub(1.0, q), add(1.0, q)), x)


@formula
def erf_of(x):
    """Error function: x P(x²)/Q(x²) up to 1, then 1 − e^{−x²} P(x)/Q(x)."""
    a = min(abs(x), 6.0)
    q = mul(a, a)
    if a < 1.0:
        p = 8.625602445726376e-08
        p = then(p, q, 0.00019709588069752516)
        p = then(p, q, 0.0018829155471563983)
        p = then(p, q, 0.0455033341653278)
        p = then(p, q, 0.14365581715028763)
        p = then(p, q, 1.1283791670955126)
        d = 2.0866484101019162e-05
        d = then(d, q, 0.0006937362332349159)
        d = then(d, q, 0.010705251871973175)
        d = then(d, q, 0.0938746087651241)
        d = then(d, q, 0.46064498648983654)
        d = then(d, q, 1.0)
        return mul(x, div(p, d))
    p = 0.0003303856283625327
    p = then(p, a, 0.004978896516372382)
    p = then(p, a, 0.03757058056463302)
    p = then(p, a, 0.1797075609580054)
    p = then(p, a, 0.5886354962875683)
    p = then(p, a, 1.3455554538253134)
    p = then(p, a, 2.0992593823337997)
    p = then(p, a, 2.061955520865204)
    p = then(p, a, 1.0000000040359602)
    d = 0.0005855932791244992
    d = then(d, a, 0.008824864315677411)
    d = then(d, a, 0.06688491638773214)
    d = then(d, a, 0.32293580156458074)
    d = then(d, a, 1.0763323272817893)
    d = then(d, a, 2.5397866492904284)
    d = then(d, a, 4.209915713927801)
    d = then(d, a, 4.699166407972569)
    d = then(d, a, 3.1903347308491155)
    d = then(d, a, 1.0)
    return math.copysign(sub(1.0, mul(exp_negative(-q), div(p, d))), x)


@formula
def quantile(v):
    """Φ⁻¹(½ + v) for |v| < ½, odd in v: a quotient in v², and in the tails one in √(−ln(½ − |v|))."""
    a = abs(v)
    if a <= 0.425:
        s = sub(0.180625, mul(a, a))
        p = 3907.007639023816
        p = then(p, s, 74060.81462563902)
        p = then(p, s, 214247.3801984238)
        p = then(p, s, 213550.16248438213)
        p = then(p, s, 95692.73551269759)
        p = then(p, s, 21627.48116049056)
        p = then(p, s, 2548.2248573022625)
        p = then(p, s, 148.75654077063152)
        p = then(p, s, 3.3871328727963665)
        d = 9398.46451720659
        d = then(d, s, 72342.69749284587)
        d = then(d, s, 140376.82723612545)
        d = then(d, s, 109244.70555458817)
        d = then(d, s, 41169.98166790856)
        d = then(d, s, 8176.878340636071)
        d = then(d, s, 871.2838940641986)
        d = then(d, s, 46.92338689522055)
        d = then(d, s, 1.0)
        return mul(v, div(p, d))
    s = sub(math.sqrt(-log_of(sub(0.5, a))), 1.5)
    p = 4.076314699472763e-06
    p = then(p, s, 0.00029460022914244304)
    p = then(p, s, 0.007041110992698496)
    p = then(p, s, 0.08026857803725738)
    p = then(p, s, 0.5131317883499167)
    p = then(p, s, 1.9774340948733733)
    p = then(p, s, 4.643104056450678)
    p = then(p, s, 6.368062089194157)
    p = then(p, s, 4.5529326645439925)
    p = then(p, s, 1.2513729290570494)
    d = 2.8823497426844735e-06
    d = then(d, s, 0.0002040019810337013)
    d = then(d, s, 0.004681954691580407)
    d = then(d, s, 0.050220748217438695)
    d = then(d, s, 0.2962613038967696)
    d = then(d, s, 1.027886287487783)
    d = then(d, s, 2.080403117658968)
    d = then(d, s, 2.252551299855783)
    d = then(d, s, 1.0)
    return math.copysign(div(p, d), v)
