"""Derivatives of the losses of contests, from batches read by slopes, against differences of losses."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import kinelo as kn
from kinelo.raters.rank.estimation import ContestSearch

STEP = 1e-4


def of_races():
    table = kn.matches.sample_contests(contests=40, entrants=20, size=(3, 9), cars=5, walk=0.5, seed=5)
    contests = kn.read_contests(table, slots=["entrant", "car"])
    ended, place = contests.ended.copy(), contests.place.copy()
    for c, (lo, hi) in enumerate(zip(contests.first[:-1], contests.first[1:])):
        out = c % 3 if hi - lo > 4 else 0
        ended[hi - out : hi], place[hi - out : hi] = 1, place[hi - out : hi].mean() if out else 0.0
    return replace(contests, ended=ended, place=place)


def of_ties(size=12):
    return kn.read_contests(kn.matches.sample_contests(contests=30, entrants=40, size=size, levels=3, seed=3))


def of_large_fields():
    return kn.read_contests(kn.matches.sample_contests(contests=6, entrants=600, size=500, walk=0.5, seed=3))


def reset(search, values):
    twin = copy.copy(search)
    twin._reset(values)
    return twin


@pytest.mark.parametrize(
    ("contests", "values"),
    [
        (of_races, {"retirement": 0.3, "off": 0.0}),
        (of_races, {"retirement": 0.06, "off": 0.06}),
        (of_ties, {"off": 0.03}),
        (lambda: of_ties(28), {"off": 0.03}),
        (of_large_fields, {"off": 0.0}),
    ],
    ids=["retirements", "bad days", "ties", "wide ties", "large fields"],
)
def test_slopes_are_those_of_the_losses(contests, values):
    rater, contests = kn.RankElo(), contests()
    rater._take_kinds(contests)
    rater._unidentified = rater._unidentified_parameters(contests)
    rater._reset(values)
    values = {p.name: rater.parameters_[p.name] for p in rater._open_parameters()}
    values |= {name: 0.1 for name in values if name.startswith("contest_walk")}  # of 0 nothing moves at first
    search = ContestSearch(rater, contests)
    found = reset(search, values)._slopes(contests, 3)
    assert set(found.names) == {p.name for p in rater._open_parameters()} - {"off", "depth"}
    for name, slope in zip(found.names, found.by.T):
        up, down = (reset(search, values | {name: values[name] + h})._losses(contests, 3) for h in (STEP, -STEP))
        expected = (up - down) / (2 * STEP)
        # Losses are sums over grids that move with the parameters: differences of them are right to a few thousandths.
        assert slope == pytest.approx(expected, abs=4e-3 * (np.abs(expected).max() + 0.1)), name
        assert np.abs(expected).max() > 1e-3, name


def test_what_a_retirement_tells_has_a_slope_where_it_tells_nothing():
    contests = of_races()
    rater = kn.RankElo(off=0.0, retirement=None, contest_walk=0.0)
    rater._take_kinds(contests)
    rater._reset({"retirement": 0.0})
    values, search = dict(rater.parameters_), ContestSearch(rater, contests)
    found = reset(search, values)._slopes(contests, 0)
    there, here = (reset(search, values | {"retirement": r})._losses(contests, 0) for r in (2e-4, 0.0))
    slope = found.by[:, found.names.index("retirement")]
    assert slope.sum() == pytest.approx((there - here).sum() / 2e-4, rel=0.01)
    assert slope == pytest.approx((there - here) / 2e-4, abs=0.01 * np.abs(slope).max())


def test_ratings_to_begin_with_that_lean_on_a_parameter_have_slopes():
    contests = of_races()
    rater = kn.RankElo(off=0.0, retirement=0.1, contest_walk=0.0, start=dict.fromkeys(contests.entrants[:6], 1600.0))
    rater._take_kinds(contests)
    rater._reset()
    values, search = dict(rater.parameters_), ContestSearch(rater, contests)
    found = reset(search, values)._slopes(contests, 0)
    up, down = (
        reset(search, values | {"prior_spread of entrant": values["prior_spread of entrant"] + h})._losses(contests, 0)
        for h in (STEP, -STEP)
    )
    expected = (up - down) / (2 * STEP)
    slope = found.by[:, found.names.index("prior_spread of entrant")]
    assert slope == pytest.approx(expected, abs=4e-3 * np.abs(expected).max())


def test_who_is_far_stronger_than_those_it_ties_with_has_slopes():
    """Behind one winner, and ahead of one too: where the chance to lie between the cuts is far below rounding."""
    for last in (2, 3):
        names = list("ABCDEFGHIJ")
        contests = kn.read_contests({"race": [1] * 10, "driver": names, "place": [2, 1] + [2] * 7 + [last]})
        start = dict.fromkeys(names, 1500.0) | {"A": 1500.0 + 17.0 * 196.02}
        rater = kn.RankElo(off=0.0, contest_walk=0.0, start=start)
        rater._take_kinds(contests)
        rater._reset()
        values, search = dict(rater.parameters_), ContestSearch(rater, contests)
        found = reset(search, values)._slopes(contests, 0)
        up, down = (
            reset(search, values | {"prior_spread": values["prior_spread"] + h})._losses(contests, 0).sum()
            for h in (STEP, -STEP)
        )
        slope = found.by[:, found.names.index("prior_spread")].sum()
        assert slope == pytest.approx((up - down) / (2 * STEP), rel=2e-3) and abs(slope) > 1.0
