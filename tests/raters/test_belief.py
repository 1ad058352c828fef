"""One normal belief: rest, entry, what is observed and the update, against integrals and plain conditioning."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from kinelo.raters.filter.belief import (
    entry_parts,
    fade,
    fade_all,
    informed,
    learnt,
    observe_margin,
    observe_result,
    rested,
)

DAYS_A_YEAR = 365.25
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(24)


def normal(x, mean, variance):
    return math.exp(-0.5 * (x - mean) ** 2 / variance) / math.sqrt(2 * math.pi * variance)


@pytest.mark.parametrize(("days", "rho", "walk"), [(3, 0.4, 0.7), (900, 0.4, 0.7), (250, 0.0, 0.3), (-5, 1.0, 2.0)])
def test_a_rest_is_the_random_walk_with_return(days, rho, walk):
    """In steps of a thousandth of the time, ``dx = −ρ x dt + dW``."""
    f, q = fade(days, rho, walk)
    mean, variance = 1.7, 0.9
    steps, years = 200_000, max(days, 0) / DAYS_A_YEAR
    keep = (1 - rho * years / steps) ** np.arange(steps + 1)
    expected = mean * keep[-1], variance * keep[-1] ** 2 + walk * years / steps * np.sum(keep[:-1] ** 2)
    assert rested(mean, variance, f, q) == pytest.approx(expected, rel=1e-5)
    assert (f, q) == pytest.approx(tuple(float(part) for part in fade_all(np.array(days), rho, walk)), rel=1e-9)


def test_a_margin_conditions_a_normal_vector():
    """Of two strengths with shares h, ``y = h·x + noise`` conditions their joint normal as linear algebra says."""
    x, v, h, noise, y = np.array([0.3, -1.1]), np.array([0.8, 0.25]), np.array([1.0, -0.6]), 1.3, 2.2
    S = h**2 @ v + noise
    gain = np.diag(v) @ h / S
    mean, C = x + gain * (y - h @ x), np.diag(v) - np.outer(gain, h @ np.diag(v))
    shift, left = observe_margin(y, h @ x, S)
    for k in range(2):
        assert learnt(x[k], v[k], h[k], shift, left) == pytest.approx((mean[k], C[k, k]), rel=1e-12)


@pytest.mark.parametrize(("S", "games"), [(1.0, 1.0), (-1.0, 1.0), (0.0, 2.0), (0.4, 0.5)])
def test_a_result_conditions_by_davidsons_law(S, games):
    """Moments of a strength after a result, as integrals over the difference."""
    nu, kappa, mean, variance, x, v = 0.9, 0.7, 0.25, 0.6, -0.2, 0.35

    def chance(z):
        return math.exp(S * nu * z) / (math.exp(nu * z) + math.exp(-nu * z) + kappa)

    def moment(n, power):
        return quad(lambda z: normal(z, mean, variance) * chance(z) ** power * z**n, -9, 9)[0]

    after = moment(1, games) / moment(0, games)
    spread = moment(2, games) / moment(0, games) - after**2
    expected = x - v / variance * (after - mean), v - (v / variance) ** 2 * (variance - spread)  # a share of −1
    likelihood, shift, left = observe_result(S, games, nu, kappa, mean, variance, NODES, WEIGHTS / WEIGHTS.sum())
    assert likelihood == pytest.approx(moment(0, 1.0), rel=1e-7)
    assert learnt(x, v, -1.0, shift, left) == pytest.approx(expected, rel=1e-6)


def test_a_precision_and_a_pull_are_a_normal_factor():
    x, v, centre, precision = 0.4, 0.7, -0.9, 1.9
    total, first, second = (
        quad(lambda z, n=n: z**n * normal(z, x, v) * normal(z, centre, 1 / precision), -9, 9)[0] for n in range(3)
    )
    mean = first / total
    assert informed(x, v, precision, precision * (centre - x)) == pytest.approx(
        (mean, second / total - mean**2), rel=1e-7
    )


def test_newcomers_are_given_parts_of_those_who_are_known():
    gift, late = (0.5, 0.2, 0.9), 0.7
    assert entry_parts(False, gift, late, 0.8, 0.6) == pytest.approx((0.5, 0.2, 0.9 * 0.8 * 0.7))
    assert entry_parts(False, gift, late, 0.8, 0.0) == pytest.approx((0.5, 0.0, 0.9 * 0.7))
    assert entry_parts(True, gift, late, 0.8, 0.6) == pytest.approx((1 / 0.8, 0.0, 0.0))
    assert entry_parts(True, gift, late, 0.0, 0.6) == pytest.approx((0.5, 0.2, 0.9 * 0.8 * 0.7))
