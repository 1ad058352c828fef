"""Glicko as a kinetic model: deviations, where a league settles, and the scale that travels."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.moving.glicko import deviation_after, deviation_before_match, deviation_path, equal_deviation

HALF = kn.Tanh(0.5)
LOPSIDED = kn.Fixed(np.concatenate([np.linspace(-0.5, 0.5, 40), np.linspace(4, 6, 10)]))


@pytest.mark.parametrize(("matches", "deviation"), [(1, 115.92344), (5, 75.19917), (10, 62.77929), (50, 41.57978)])
def test_chess_deviations_reference(matches, deviation):
    assert equal_deviation(math.log(10) / 800, math.sqrt(1200), matches) == pytest.approx(deviation, abs=6e-6)


def test_deviation_settles_by_its_own_recursion():
    """Slow twin: play and rest in turn until nothing changes."""
    growth, information, v = 0.2, 0.3, 4.0
    for _ in range(400):
        v = v / (1 + v * information) + growth**2
    assert deviation_before_match(growth, information) == pytest.approx(math.sqrt(v), rel=1e-12)


def test_deviation_falls_only_from_above():
    settled = math.sqrt(0.2 / math.sqrt(0.3))
    for start, sign in ((2 * settled, -1), (settled / 2, 1)):
        path = deviation_after(0.2, 0.3, start, [0.0, 1.0, 3.0, 200.0])
        assert path[0] == pytest.approx(start) and path[-1] == pytest.approx(settled)
        assert (sign * np.diff(path) > 0).all()


@pytest.mark.parametrize(
    ("sigma", "growth", "slope"),
    [(0, 0.1, 1.040356927), (0, 0.3, 1.125991134), (1, 0.1, 0.7905839389), (1, 0.01, 0.7646143268)],
)
def test_settled_reference(sigma, growth, slope):
    found = kn.theory.settled_deviations(HALF, kn.theory.Continuum((4, 10), sigma=float(sigma)), growth)
    assert found.slope == pytest.approx(slope, abs=1e-9)
    assert abs(found.travel_speed) < 1e-14


def test_settled_ends_of_the_league_reference():
    """RD(7) and RD(10), slope at 7 and R(10), read off a fine continuum by extrapolation at its nodes."""
    found = kn.theory.settled_deviations(HALF, kn.theory.Continuum((4, 10), sigma=1.0, nodes=120), 0.1)
    rd = np.polynomial.Polynomial.fit(found.teams.theta, found.deviation, 16)
    rating = np.polynomial.Polynomial.fit(found.teams.theta, found.rating, 17)
    assert (rd(7.0), rd(10.0)) == pytest.approx((0.4957508287, 0.5637705301), abs=1e-8)
    assert (rating.deriv()(7.0), rating(10.0)) == pytest.approx((0.7918320598, 9.373468652), abs=1e-7)


def test_transient_reference():
    path = deviation_path(HALF, kn.theory.Continuum((4, 10), sigma=1.0), 0.1, [5, 20, 100], rating=7.0, deviation=2.0)
    assert path.slopes() == pytest.approx([0.51886773, 0.67294539, 0.76865996], abs=6e-9)
    mean = (path.deviation**2) @ path.teams.mass
    assert mean == pytest.approx([1.07799836, 0.38022150, 0.26452379], abs=6e-9)


@pytest.mark.parametrize(
    ("growth", "speed", "gap", "noisy"),
    [(0.1, -6.03763746e-5, 5.19691068, -8.1922e-5), (0.3, -5.45729162e-4, 5.61271443, -7.7411e-4)],
)
def test_the_scale_travels_reference(growth, speed, gap, noisy):
    found = kn.theory.settled_deviations(HALF, LOPSIDED, growth)
    assert found.travel_speed == pytest.approx(speed, rel=1e-8)
    assert found.rating[40:].mean() - found.rating[:40].mean() == pytest.approx(gap, abs=1e-8)
    assert kn.theory.settled_deviations(HALF, LOPSIDED, growth, noise="gaussian").travel_speed == pytest.approx(
        noisy, rel=1e-4
    )


def test_fixed_point_is_where_the_characteristics_go():
    """Two ways to the same: the fixed point, and the differential equations followed for long."""
    league = kn.Fixed(np.concatenate([np.linspace(-0.5, 0.5, 6), [3.0]]))
    found = kn.theory.settled_deviations(HALF, league, 0.3)
    path = deviation_path(HALF, league, 0.3, [600.0, 601.0], rating=league.theta, deviation=1.0)
    assert path.deviation[-1] == pytest.approx(found.deviation, abs=1e-8)
    assert path.rating[-1] - path.rating[-2] == pytest.approx(np.full(7, found.travel_speed), abs=1e-10)


@pytest.mark.parametrize(
    ("sigma", "growth", "values"),
    [
        (0.0, 0.1, (1.07462110, 0.30653553, 0.16118437)),
        (1.0, 0.1, (0.81694853, 0.27841399, 0.14590568)),
        (0.0, 0.02, (1.01443295, None, None)),
    ],
)
def test_closure_reference(sigma, growth, values):
    found = kn.theory.settled_deviations(HALF, kn.Normal(np.linspace(4, 10, 100), sigma), growth, noise="gaussian")
    measured = (found.slope, (found.deviation**2).mean(), found.variance.mean())
    for mine, theirs in zip(measured, values):
        assert theirs is None or mine == pytest.approx(theirs, abs=1e-8)


def test_small_growth_gives_the_stationary_map():
    """c → 0: RD shrinks around the biased ratings, it does not cure them."""
    league = kn.Normal(np.linspace(0, 4, 7), 1.0)
    found = kn.theory.settled_deviations(HALF, league, 1e-9)
    assert found.rating == pytest.approx(kn.stationary(kn.RatingSystem(HALF), league).rating, abs=1e-6)


def test_narrow_league():
    """Slope ≈ 1 + (6/π² + 2/3)ν²v − 2ν²σ² in a narrow league."""
    league, growth = kn.theory.Continuum((-0.01, 0.01), sigma=0.2, nodes=6), 0.01
    found = kn.theory.settled_deviations(HALF, league, growth, noise="gaussian")
    # 1 + (6/π² + 2/3)ν²v − 2ν²σ²: unbiased near RD = 1.25 σ.
    expected = 1 + (6 / math.pi**2 + 2 / 3) * 0.25 * float(found.deviation[0]) ** 2 - 2 * 0.25 * 0.2**2
    assert found.slope == pytest.approx(expected, abs=1e-3)


def test_only_tanh():
    with pytest.raises(kn.InputError, match="those of Tanh"):
        kn.theory.settled_deviations(kn.model.Probit(0.5), LOPSIDED, 0.1)
