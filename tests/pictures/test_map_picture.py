"""The picture of the stationary map: what is drawn is what was computed."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.pictures.systems import draw_map


def state(strengths, pairing=None, noise="gaussian"):
    return kn.stationary(kn.RatingSystem(kn.Tanh(0.5), pairing or kn.model.AllPlayAll(), 0.2), strengths, noise=noise)


def curve(axes):
    return next(line for line in axes.lines if line.get_label() == "stationary rating R(θ)").get_xydata()


@pytest.mark.parametrize(
    "strengths", [kn.homogeneous(sigma=1.0, teams=30), kn.theory.Continuum((4, 10), 1.0, nodes=30)]
)
def test_curve_band_and_labels(strengths):
    found = state(strengths)
    figure = draw_map(found, "A league")
    left, right = figure.axes
    theta, rating = curve(left).T
    assert rating == pytest.approx(found.rating_of(theta))
    [band] = left.collections[:1]
    edges = band.get_paths()[0].vertices[:, 1]
    middle = np.sqrt(found.variance.mean())
    assert np.ptp(edges) == pytest.approx(np.ptp(rating) + 2 * middle, rel=0.05)
    for axes in (left, right):
        assert "strength θ (rating points)" in axes.get_xlabel()
        assert "(rating points)" in axes.get_ylabel()


def test_without_noise_there_is_no_band():
    left = draw_map(state(kn.homogeneous(sigma=1.0, teams=10), noise="none")).axes[0]
    assert not any("deviation" in text.get_text() for text in left.get_legend().get_texts())


def test_a_pairing_by_rating_draws_its_teams():
    found = state(kn.homogeneous(sigma=1.0, teams=20), kn.model.Local())
    assert curve(draw_map(found).axes[0])[:, 1] == pytest.approx(found.rating)


def test_the_few_named_teams_are_named():
    texts = [text.get_text() for text in draw_map(state(kn.paper.setup_r2(teams=30))).axes[0].texts]
    assert texts == ["Germany", "Brazil"]
