"""The compiled laws against the model's own."""

import numpy as np
import pytest
from scipy.stats import kstest

import kinelo as kn
from kinelo.play import elementary, laws, stream

Z = np.concatenate([np.linspace(-30, 30, 601), np.logspace(-12, 0, 25), [-0.0, 900.0, -1e300]])


@pytest.mark.parametrize(
    "outcome", [kn.Tanh(0.5), kn.model.Probit(0.4), kn.model.Davidson(0.6, 1.3), kn.model.Davidson(0.6, 9.0)]
)
def test_b_its_slope_and_ties_are_the_models(outcome):
    code = laws.code_outcome(outcome)
    b, slope, tie = np.array([laws.match_law(*code, z) for z in Z]).T
    np.testing.assert_allclose(b, outcome.b(Z), atol=4e-16, rtol=0)
    np.testing.assert_allclose(slope, outcome.b_prime(Z), atol=4e-16, rtol=2e-14)
    np.testing.assert_allclose(tie, outcome.tie_probability(Z), atol=4e-16, rtol=0)
    assert [laws.expected(*code, z) for z in Z] == b.tolist()
    assert [laws.tie_chance(*code, z) for z in Z] == tie.tolist()


@pytest.mark.parametrize("kappa", [0.0, 0.8, 5.0])
def test_chances_are_those_of_the_law_however_they_are_asked(kappa):
    for z in Z:
        b, _, tie = laws.match_law(*laws.code_outcome(kn.model.Davidson(0.6, kappa)), z)
        win, drawn, loss = laws.davidson_chances(kappa, 0.6 * z)
        assert win - loss == pytest.approx(b, abs=4e-16)
        assert drawn == pytest.approx(tie, abs=4e-16)
        assert win + drawn + loss == pytest.approx(1.0, abs=4e-16)
        terms = laws.davidson_terms(kappa, np.exp(np.clip(0.6 * z, -300.0, 300.0)))
        assert terms[:2] == pytest.approx((win, loss), abs=4e-16) and kappa * terms[2] == pytest.approx(
            drawn, abs=4e-16
        )


@pytest.mark.parametrize("kappa", [0.0, 0.3, 1.0, 2.0, 7.0])
def test_a_point_is_a_point_of_expected_score_at_equality(kappa):
    """Slope ν between equals, by differences, whatever the share of draws."""
    scale = laws.points_scale(0.003, kappa)
    rise = laws.logistic(scale, kappa, 1e-3) - laws.logistic(scale, kappa, -1e-3)
    assert rise / 2e-3 == pytest.approx(0.003, rel=1e-6)


def test_davidson_in_points_stays_close_to_elo():
    """The figures of the page on points: largest difference of expected scores up to 600 points."""
    d = np.linspace(0.0, 600.0, 601)
    elo = 1 / (1 + 10 ** (-d / 400))

    def off(kappa):
        x = np.log(10) / 800 * (2 + kappa) / 2 * d
        return np.abs((np.exp(x) + kappa / 2) / (np.exp(x) + np.exp(-x) + kappa) - elo)

    for kappa in (0.4, 1.0, 4.0):
        scale = laws.points_scale(np.log(10) / 800, kappa)
        ours = [0.5 + 0.5 * laws.logistic(scale, kappa, z) for z in d]
        np.testing.assert_allclose(np.abs(ours - elo), off(kappa), atol=1e-14)
    assert off(0.0).max() < 1e-15 and off(2.0).max() < 1e-15
    assert round(max(off(k).max() for k in np.linspace(0, 2, 81)), 4) == 0.0101
    assert (round(off(1.0)[200], 4), round(off(1.0).max(), 4), round(off(4.0).max(), 3)) == (0.0027, 0.0097, 0.034)


@pytest.mark.parametrize(
    "pairing", [kn.model.AllPlayAll(), kn.model.Local(), kn.model.Window(2.0), kn.model.Window(2.0, smoothing=0.5)]
)
def test_w_is_the_models(pairing):
    code = laws.code_pairing(pairing)
    np.testing.assert_allclose([laws.acceptance(*code, z) for z in Z[:-1]], pairing.w(Z[:-1]), atol=4e-16, rtol=0)


def test_a_uniform_number_decides_win_tie_and_loss():
    b, tie = 0.2, 0.3
    win = (1 - tie + b) / 2
    results = [
        laws.result_of(u, b, tie) for u in (0.0, win - 1e-9, win + 1e-9, win + tie - 1e-9, win + tie + 1e-9, 1.0)
    ]
    assert results == [1, 1, 0, 0, -1, -1]


def test_drawn_deviations_are_normal():
    """Kolmogorov–Smirnov over 20 000 draws; false alarm probability 1e-6."""
    bits = [stream.draw(np.uint64(1), np.uint64(2), np.uint64(k)) for k in range(20_000)]
    assert kstest([elementary.quantile(stream.centred(np.uint64(b))) for b in bits], "norm").pvalue > 1e-6
