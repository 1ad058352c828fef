"""The search with the covariance begins where that without it ended, and ends where it would have ended anyway."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.raters import gaussian


def league(n=400, sides=8):
    g = np.random.default_rng(4)
    home = g.integers(0, sides, n)
    away = (home + g.integers(1, sides, n)) % sides
    strength = g.normal(0.0, 0.7, sides)
    goals = g.poisson(1.4 * np.exp(0.3 * np.outer([1, -1], strength[home] - strength[away])))
    table = {"date": np.datetime64("2015-01-01") + 2 * np.arange(n), "home": [f"side {k}" for k in home]}
    return kn.read_matches(
        table | {"away": [f"side {k}" for k in away], "home_score": goals[0], "away_score": goals[1]}
    )


@pytest.mark.parametrize("noise", [None, 1.1])
def test_the_second_search_begins_where_the_first_one_ended(monkeypatch, noise):
    begun, passes = [], []

    def noted(rater, matches, warm_up=0.25, near=None):
        begun.append((rater.covariance_, near))
        passes.append(0)
        return search(rater, matches, warm_up, near)

    def counted(rater, matches, skipped):
        passes[-1] += 1
        return slopes(rater, matches, skipped)

    search, slopes = gaussian.estimate, gaussian.GaussianRater._slopes
    monkeypatch.setattr(gaussian, "estimate", noted)
    monkeypatch.setattr(gaussian.GaussianRater, "_slopes", counted)
    matches = league()
    rater = kn.KalmanElo(noise=noise).fit(matches)
    assert [covariance for covariance, _ in begun] == ["diagonal", "full"]
    assert begun[0][1] is None and rater._near is None
    alone, cold = (kn.KalmanElo(noise=noise, covariance=kind).fit(matches) for kind in ("diagonal", "full"))
    unit = 1.0 if noise else alone.parameters_["noise"]
    for name, value in alone.estimates_.values.items():
        assert begun[1][1][name] == pytest.approx(value / (unit if rater._in_unit(name) else 1.0), rel=1e-9), name
    assert passes[1] <= passes[3]
    assert max(alone.estimates_.log_likelihood, cold.estimates_.log_likelihood) == pytest.approx(
        rater.estimates_.log_likelihood, abs=0.2
    )
