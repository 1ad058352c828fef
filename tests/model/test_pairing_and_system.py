"""Pairings are even, in [0, 1], and greatest at zero; a rating system validates itself."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinelo as kn
from kinelo.model.law import built_in_names

pairings = st.one_of(
    st.builds(kn.model.AllPlayAll),
    st.builds(kn.model.Local),
    st.builds(kn.model.Window, c=st.floats(0.1, 10), smoothing=st.floats(0.05, 3)),
    st.builds(kn.model.Window, c=st.floats(0.1, 10)),
)


@given(pairings, st.floats(-30, 30))
def test_w_is_even_and_a_probability(pairing, z):
    assert pairing.w(z) == pytest.approx(float(pairing.w(-z)), abs=1e-15)
    assert -1e-15 <= pairing.w(z) <= 1 + 1e-15
    assert pairing.w(0.0) == pytest.approx(1, abs=1e-15)


@given(pairings.filter(lambda p: not (isinstance(p, kn.model.Window) and p.smoothing == 0)), st.floats(-12, 12))
def test_w_prime_is_the_derivative(pairing, z):
    h = 1e-5
    slope = float(pairing.w(z + h) - pairing.w(z - h)) / (2 * h)
    assert slope == pytest.approx(float(pairing.w_prime(z)), abs=1e-5)


def test_a_smoothed_window_sharpens_to_the_window():
    z = np.array([0.0, 1.5, 2.5, 9.0])
    np.testing.assert_allclose(kn.model.Window(2, smoothing=1e-3).w(z), kn.model.Window(2).w(z), atol=1e-12)


@pytest.mark.parametrize("c", [0.3, 2.0, 40.0])
def test_rounding_an_edge_changes_a_window_only_near_it(c):
    """A sixth of the width away from the edge the window is what it was, to a thousandth."""
    z = np.concatenate([np.linspace(-3 * c, 3 * c, 601), [c, -c]])
    far = np.abs(np.abs(z) - c) > c / 6
    own = kn.model.Pairing.from_function(lambda z: 1.0 if abs(z) <= c else 0.0, jumps=[c])
    for sharp in (kn.model.Window(c), own):
        np.testing.assert_allclose(sharp.softened().w(z)[far], (np.abs(z) <= c)[far], atol=1e-3)
        np.testing.assert_allclose(sharp.softened().w([c, -c]), 0.5, atol=1e-3)


def test_local_is_the_papers_formula():
    assert float(kn.model.Local().w(2.0)) == pytest.approx(2 ** (1 / 5) - 1, abs=1e-15)


def test_a_rating_system_is_frozen():
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)
    assert isinstance(system.pairing, kn.model.AllPlayAll)
    with pytest.raises(dataclasses.FrozenInstanceError):
        system.gamma = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("gamma", [0, -0.1, float("nan"), "fast"])
def test_gamma_must_be_positive(gamma):
    with pytest.raises(kn.InputError, match="gamma must be"):
        kn.RatingSystem(kn.Tanh(0.5), gamma=gamma)


def test_parts_of_a_system_must_be_what_they_say():
    with pytest.raises(kn.InputError, match=f"outcome must be {built_in_names(kn.model.Outcome, ', ')} or your own"):
        kn.RatingSystem(np.tanh, gamma=0.1)  # type: ignore[arg-type]
    with pytest.raises(kn.InputError, match=f"pairing must be {built_in_names(kn.model.Pairing, ', ')} or your own"):
        kn.RatingSystem(kn.Tanh(0.5), "all", 0.1)  # type: ignore[arg-type]
    with pytest.raises(kn.InputError, match="c must be greater than 0"):
        kn.model.Window(-1)
