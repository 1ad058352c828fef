"""Order of accuracy on a smooth solution, against characteristics integrated without a grid in r."""

from functools import cache

import numpy as np
import pytest
from slow_kinetic import Characteristics

import kinelo as kn

LOW, HIGH, THETA, UNTIL = 3.0, 9.0, (4.0, 8.0, 6), 1.5
SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5))


def cumulative(r):
    """Distribution function of the bump ``sin⁴`` on [LOW, HIGH], which is four times smooth at its ends."""
    x = (np.asarray(r) - LOW) / (HIGH - LOW)
    return x - 2 * np.sin(2 * np.pi * x) / (3 * np.pi) + np.sin(4 * np.pi * x) / (12 * np.pi)


@cache
def characteristics():
    """The characteristics, and where they lead."""
    theta = np.linspace(THETA[0], THETA[1], THETA[2] + 1)[:-1] + (THETA[1] - THETA[0]) / THETA[2] / 2
    found = Characteristics(SYSTEM, theta, 1.0, cumulative, LOW, HIGH, "exact")
    return found, found.run(UNTIL)


@cache
def error(scheme, cells):
    """L1 distance between cell masses of the solver and of the characteristics."""
    teams = kn.macro.Population.uniform(theta=THETA, r=(2.0, 10.0, cells), sigma=1.0)
    mass = np.diff(cumulative(np.clip(teams.grid.r.faces, LOW, HIGH)))
    start = kn.macro.Population(np.broadcast_to(mass, (THETA[2], cells)), theta=THETA, r=(2.0, 10.0, cells), sigma=1.0)
    run = kn.solve(SYSTEM, start, until=UNTIL, scheme=scheme)
    found = run.density[-1, :, 0, :].values * teams.grid.volume
    true, positions = characteristics()
    return np.abs(found - true.cell_masses(positions, teams.grid.r.faces)).sum()


@pytest.mark.parametrize(("scheme", "least", "most"), [("upwind", 0.85, 1.2), ("tvd", 1.75, 2.4)])
def test_observed_order(scheme, least, most):
    errors = [error(scheme, cells) for cells in (80, 160, 320, 640)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > least).all() and (orders < most).all(), (errors, orders)


def test_second_order_is_worth_having():
    assert error("tvd", 80) < error("upwind", 320)
