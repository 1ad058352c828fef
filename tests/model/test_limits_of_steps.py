"""Where FIDE's K changes: each limit from both sides."""

import numpy as np
import pytest

import kinelo as kn


@pytest.mark.parametrize(
    ("rating", "matches", "reached", "k"),
    [
        (1800.0, 29, False, 40), (1800.0, 30, False, 20), (2399.0, 500, False, 20), (2350.0, 500, True, 10),
        (2500.0, 29, True, 40),
    ],
)  # fmt: skip
def test_k_of_somebody_of_age(rating, matches, reached, k):
    step = kn.model.FideSteps().at(np.array([rating]), np.array([matches]), np.array([reached]))
    assert 2 * step[0] == k


@pytest.mark.parametrize(("rating", "k"), [(2299.5, 40), (2300.0, 20), (2300.5, 20)])
def test_a_junior_keeps_the_largest_k_below_2300(rating, k):
    """The second of three is the junior; who is not settles after 30 games at any rating."""
    steps = kn.model.FideSteps(under_18=[1]).at(np.full(3, rating), np.full(3, 30), np.zeros(3, bool))
    assert (2 * steps).tolist() == [20, k, 20]
