"""When no stationary ratings exist: one sort decides what 2^N subsets would, and the error names the teams."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.theory.balance import runaway_group


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.randoms(use_true_random=False), st.sampled_from([0.8, 1.0, 1.4]))
def test_one_sort_agrees_with_all_subsets(size, random, largest):
    s = np.zeros((size, size))
    for i, j in combinations(range(size), 2):
        s[i, j] = random.choice([-1, -0.5, 0, 0.3, 1]) * largest
        s[j, i] = -s[i, j]
    mass = np.array([random.choice([1.0, 2.0, 3.0]) for _ in range(size)])
    mass /= mass.sum()
    cuts = [
        sum(mass[i] * mass[j] * (1 - s[i, j]) for i in group for j in range(size) if j not in group)
        for count in range(1, size)
        for group in combinations(range(size), count)
    ]
    assert (runaway_group(s @ mass, mass) is None) == (min(cuts) > 1e-12)


def test_a_group_that_always_wins_is_named():
    names = ["weak", "weaker", "strong", "stronger"]
    league = kn.Normal([0.0, 1.0, 200.0, 201.0], 1.0, names=names)
    with pytest.raises(kn.errors.NoStationaryState, match=r"strong, stronger would score no more .* 2 of the 4 teams"):
        kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), league)


def test_taylor_results_beyond_certainty():
    """With ν²V = 5 the Taylor closure gives the weaker of two teams a result of 1.37."""
    gap = np.arctanh(np.sqrt(4 / 15)) / 0.5
    league = kn.Normal([0.0, gap], np.sqrt(10.0), names=["lower", "upper"])
    with pytest.warns(kn.KineloWarning), pytest.raises(kn.errors.NoStationaryState, match="lower would score no more"):
        kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), league, closure="taylor")
    assert kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), league).residual <= 1e-12


def test_a_league_of_twenty_thousand_is_refused_as_well():
    random = np.random.default_rng(1)
    theta = np.concatenate([random.uniform(0, 6, 10_000), random.uniform(100, 106, 10_000)])
    with pytest.raises(kn.errors.NoStationaryState, match="and 9995 more"):
        kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), kn.Normal(theta, 1.0))


def test_leagues_close_to_certainty_still_settle():
    league = kn.Normal([0.0, 0.5, 12.0, 12.5], 1.0)
    state = kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), league)
    assert state.residual <= 1e-12
    assert state.rating[2] - state.rating[1] > 8


def test_one_more_team_that_always_wins():
    state = kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), kn.Fixed([0.0, 1.0]))
    with pytest.raises(kn.errors.NoStationaryState, match="wins or loses every match"):
        state.rating_of(1000.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"closure": "guess"}, 'closure must be "exact" or "taylor"'),
        ({"noise": "loud"}, 'noise must be "none" or "gaussian"'),
        ({"method": "fast"}, 'method must be "auto", "dense" or "matrix-free"'),
        ({"start": [1.0]}, "start must list one rating per team: 1 for 2 teams"),
        ({"start": [1.0, np.nan]}, "start must be finite"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(kn.InputError, match=words):
        kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), kn.Fixed([0.0, 1.0]), **arguments)


def test_bad_system_and_league():
    with pytest.raises(kn.InputError, match="system must be a RatingSystem"):
        kn.stationary(0.5, kn.Fixed([0.0, 1.0]))
    with pytest.raises(kn.InputError, match="strengths must be a league"):
        kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), [0.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"theta": (10, 4)}, "theta must be an interval"),
        ({"theta": "4"}, "theta must be a finite number"),
        ({"theta": (4, 10), "sigma": -1.0}, "sigma must be 0 or more"),
        ({"theta": (4, 10), "sigma": (-1.0, 1.0)}, r"sigma\[0\] must be 0 or more"),
        ({"theta": (4, 10), "sigma": (1.0, 2.0, 3.0)}, "sigma must be an interval"),
        ({"theta": (4, 10), "nodes": 1}, "nodes must be a whole number"),
    ],
)
def test_bad_continuum(arguments, words):
    with pytest.raises(kn.InputError, match=words):
        kn.theory.Continuum(**arguments)


@pytest.mark.parametrize(
    ("nu", "league"),
    [
        (0.5, kn.Normal([0.0, 40.0], 20.0)),
        (0.5, kn.Normal([1400.0, 1500.0, 1600.0, 1700.0], 80.0)),
        (6.0, kn.Normal([4.0, 7.0, 10.0], 1.0)),
    ],
)
def test_strengths_far_beyond_the_scale_of_b_have_ratings_all_the_same(nu, league):
    """Where b is flat at the strengths the search begins at equal ratings; the balance is checked pair by pair."""
    outcome = kn.Tanh(nu)
    rating = kn.stationary(kn.RatingSystem(outcome), league).rating
    expected = kn.expected_result(outcome, league).sum(axis=1)
    assert outcome.b(np.subtract.outer(rating, rating)).sum(axis=1) == pytest.approx(expected, abs=1e-10)
    assert rating.mean() == pytest.approx(league.theta.mean())
    assert (np.diff(rating) > 0).all()


def test_neighbours_far_apart_lie_as_far_as_what_is_left_of_a_certain_win_says():
    """``1 − E tanh ν(d + τξ) ≈ 2e^{−2νd + 2ν²τ²}``: ratings d − ντ² apart, here 29 for 30; with ties as well."""
    assert kn.stationary(kn.Tanh(0.5), kn.Normal([0.0, 30.0, 60.0], 1.0)).rating == pytest.approx([1, 30, 59], abs=1e-9)
    with_ties = kn.stationary(kn.model.Davidson(1.0, 1.5), kn.Normal([0.0, 30.0], 1.0)).rating
    # One tie weighs more than a loss so far out: e^{−νd + ν²τ²/2}, so d − ντ²/2 apart.
    assert with_ties[1] - with_ties[0] == pytest.approx(29, abs=1e-9)


@pytest.mark.parametrize("found", [True, False])
def test_a_map_that_is_not_found_is_noted_not_raised(found, monkeypatch):
    """A diagnostic of the kinetic equation: its distance is then not a number, and the run goes on."""
    if not found:
        monkeypatch.setattr("kinelo.theory.balance.MOST_NEWTON_STEPS", 0)
    start = kn.macro.Population.uniform(theta=(4, 10, 12), r=(2, 12, 24), sigma=2.0)
    with pytest.warns(kn.KineloWarning, match="Taylor closure is used outside"):
        run = kn.solve(kn.RatingSystem(kn.Tanh(1.5)), start, until=0.05, closure="taylor")
    assert np.isnan(run.stationary_distance.values).all() != found
    assert ("was not found" in run.attrs["stationary_note"]) != found
