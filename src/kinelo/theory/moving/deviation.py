r"""The deviation of one team's rating (Glicko): it shrinks by playing and grows by resting.

In ratings on the scale of tanh(νz), with v = RD² and the information ``I = ν⟨g²b'(gΔ)⟩`` of a match:

* match by match: ``v⁺ = v/(1 + vI)``, then ``v + c²`` per match of rest; before a match it settles at
  ``½c²(1 + √(1 + 4/(c²I)))``;
* on average: ``dv/dT = c² − v²I``, settling at ``c/√I``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from kinelo.model.validation import Array, positive

GLICKO = 12 / math.pi**2


def discount(nu: float, variance: ArrayLike) -> Array:
    """``g = (1 + 12ν²v/π²)^{−½}``: how much less a result says against an opponent of uncertain rating."""
    return 1 / np.sqrt(1 + GLICKO * nu**2 * np.asarray(variance, dtype=np.float64))


def deviation_before_match(growth: float, information: float, matches: float = 1.0) -> float:
    """RD at which a team settles just before a match, at ``matches`` per unit of the time in which v grows by c².

    >>> import math
    >>> nu = math.log(10) / 800
    >>> round(deviation_before_match(math.sqrt(1200.0), nu**2, matches=1), 1)  # chess, opponents known exactly
    112.5
    """
    square = positive("growth", growth) ** 2 / positive("matches", matches)
    return math.sqrt(square / 2 * (1 + math.sqrt(1 + 4 / (square * positive("information", information)))))


def deviation_after(growth: float, information: float, start: float, matches: ArrayLike) -> Array:
    """RD after some matches, from RD ``start``, when matches come evenly: ``v_∞(v₀ + v_∞ th)/(v_∞ + v₀ th)``."""
    settled = growth / math.sqrt(information)
    tanh = np.tanh(growth * math.sqrt(information) * np.asarray(matches, dtype=np.float64))
    return np.sqrt(settled * (start**2 + settled * tanh) / (settled + start**2 * tanh))


def equal_deviation(nu: float, growth: float, matches: float = 1.0) -> float:
    """RD before a match in a league of equals, whose deviations discount one another.

    >>> nu = math.log(10) / 800
    >>> round(equal_deviation(nu, math.sqrt(1200.0)), 5)
    115.92344
    """
    deviation = deviation_before_match(growth, nu**2, matches)
    for _ in range(200):
        last = deviation
        deviation = deviation_before_match(growth, float(nu * discount(nu, last**2)) ** 2, matches)
        if abs(deviation - last) <= 1e-14 * deviation:
            break
    return deviation
