"""Ratings drawn towards the mean: who is drawn in, and how uncertain anybody becomes."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.raters.soft_reset import SoftReset, soften

TABLE = {"home": ["A", "B", "A", "C"] * 4, "away": ["B", "C", "C", "B"] * 4, "result": [1, 1, 0.5, 0] * 4}
START = {"name": ["A", "B", "C", "idle"], "rating": [1600.0, 1500.0, 1450.0, 1720.0], "deviation": [80.0] * 4,
         "matches": [9, 9, 9, 0]}  # fmt: skip


def played(rater):
    return rater.update(kn.read_matches(TABLE))


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize(("moves", "capped"), [(35.0, False), (5000.0, True)])
def test_nobody_becomes_less_certain_than_a_newcomer(covariance, moves, capped):
    rater = played(kn.KalmanElo(prior_spread=0.8, covariance=covariance, doubt=1.0))
    before = rater._state.variances()
    soften(rater, SoftReset(0, 0.25, moves))
    after = rater._state.variances()
    added = (moves / rater._points_per_unit) ** 2
    np.testing.assert_allclose(after, np.full(3, 0.8**2) if capped else before + added)
    assert (before < 0.8**2).all()


def test_rows_are_capped_alike():
    rater = played(kn.Glicko(deviation=150.0))
    soften(rater, SoftReset(0, 0.25, 5000.0))
    unit = rater._slots.points().unit
    assert [unit * math.sqrt(row.variance) for row in rater._slots.rows()] == pytest.approx([150.0] * 3)


def test_ratings_go_a_part_of_the_way_to_the_mean_of_all_who_have_one():
    """Whoever began with a rating has one before the first match."""
    rater = played(kn.Glicko(deviation=150.0, start=START))
    before = dict(zip(rater.ratings_["name"], rater.ratings_["rating"]))
    soften(rater, SoftReset(0, 0.25))
    after = dict(zip(rater.ratings_["name"], rater.ratings_["rating"]))
    mean = math.fsum(before.values()) / 4
    for name in ("A", "B", "C", "idle"):
        assert after[name] == pytest.approx(before[name] - 0.25 * (before[name] - mean))
