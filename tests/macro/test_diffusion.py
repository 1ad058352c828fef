"""Transport and diffusion together: the limit of no diffusion, the order in time, and who meets how often."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.macro.velocity import Velocity

SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5))
CELLS = {"theta": (4.0, 10.0, 12), "r": (2.0, 12.0, 40), "sigma": 0.5}
START = kn.macro.Population.gaussian(**CELLS, theta_mean=7.0, theta_sd=1.0, r_mean=7.0, r_sd=1.0)


def density(diffusion: float, dt: float, until: float = 0.6) -> np.ndarray:
    run = kn.solve(SYSTEM, START, until=until, scheme="tvd", dt=dt, diffusion=diffusion, samples=1)
    return run.density.values[-1]


def test_little_diffusion_is_none():
    """Half steps of transport on both sides of the diffusion make whole ones."""
    without, little = density(0.0, 0.02), density(1e-6, 0.02)
    moved = np.abs(without - START.density).sum()
    assert np.abs(little - without).sum() < 1e-3 * moved


def test_second_order_in_time():
    """Three steps, each half of the one before: errors fall fourfold; they would fall twofold if the halves did not
    lie on both sides of the diffusion.
    """
    coarse, middle, fine = (density(1.5, dt) for dt in (0.06, 0.03, 0.015))
    assert np.abs(coarse - middle).sum() / np.abs(middle - fine).sum() > 3.0


@pytest.mark.parametrize("pairing", [kn.model.Window(c=1.0, smoothing=0.2), kn.model.Local()])
def test_the_meeting_rate_is_that_at_the_centre_of_a_cell(pairing):
    """Against the sum over all teams, each at the centre of its cell, of a smooth w."""
    grid = START.grid
    rate = Velocity(kn.RatingSystem(kn.Tanh(nu=0.5), pairing), grid, "exact").meeting_rate(START.rating_mass)
    r = grid.r.centres
    direct = np.array([sum(m * float(pairing.w(x - y)) for m, y in zip(START.rating_mass, r)) for x in r])
    np.testing.assert_allclose(rate, direct, atol=0.03)
    np.testing.assert_allclose(rate, rate[::-1], atol=1e-12)
