"""One year typed wrong (2199 for 1999) is asked about: every match to come would be an earlier one."""

from datetime import date

import numpy as np
import pytest

import kinelo as kn

THIS_YEAR = date.today().year
RATERS = {"classic": lambda: kn.TeamElo.classic(k=20), "Glicko": lambda: kn.Glicko(deviation=300.0, growth=10.0)}


def matches(*years):
    table = {"date": [f"{year}-03-0{k + 1}" for k, year in enumerate(years)], "result": [1.0, 0.0, 0.5, 1.0]}
    return kn.read_matches({name: column[: len(years)] for name, column in table.items()} | {
        "home": list("ABCA")[: len(years)], "away": list("BCAC")[: len(years)],
    })  # fmt: skip


def refused(call, *words, **keys):
    with pytest.raises(kn.InputError, match=r"A result of 2199-\d\d-\d\d lies 1\d\d years after .* Is the year right"):
        call(*words, **keys)


@pytest.mark.parametrize("make", RATERS.values(), ids=RATERS)
def test_a_result_from_a_far_future_changes_nothing(make):
    rater = make().update(matches(2023, 2024))
    before = rater.to_arrays()
    refused(rater.update_one, "A", "B", 1, date="2199-01-02")
    refused(rater.update, matches(2199))
    refused(rater.update, matches(2025, 2025, 2199))
    refused(rater.one_step_ahead, matches(2025, 2199, 2199))
    refused(make().fit, matches(2023, 2024, 2199))
    after = rater.to_arrays()
    assert all(np.array_equal(before[name], after[name], equal_nan=before[name].dtype.kind == "f") for name in before)
    rater.update_one("A", "B", 1, date="2024-05-01")


def test_contests_are_asked_about_too():
    contests = [kn.Contests.from_matches(matches(*years)) for years in ((2023, 2024), (2025, 2199), (2199,))]
    for rater in (kn.TeamElo.classic(k=20), kn.RankElo(walk=0.3, prior_spread=1.0, newcomer=0.0, off=0.0)):
        rater.update(contests[0])
        refused(rater.update, contests[1])
        refused(rater.update, contests[2])
        rater.update(contests[0][1])


@pytest.mark.parametrize("make", RATERS.values(), ids=RATERS)
def test_leagues_of_other_times_are_taken(make):
    """A long gap up to today, next year's fixtures played early, and leagues that were made up."""
    for years in ((1924, 2016), (THIS_YEAR - 1, THIS_YEAR, THIS_YEAR + 1), (2150, 2151, 2152), (2198, 2199)):
        make().update(matches(*years))
    make().update_one("A", "B", 1, date="2199-01-01").update_one("A", "B", 0, date="2199-02-01")
