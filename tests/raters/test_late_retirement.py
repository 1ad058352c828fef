"""How much a retirement tells by how far somebody came: found where it tells, and harmless where it does not."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.errors import InputError

GIVEN = {
    "walk": 0.3,
    "prior_spread": 0.9,
    "newcomer": -0.2,
    "regression": 0.1,
    "off": 0.0,
    "anchor": 0.0,
    "experience": 0.0,
    "contest_walk": 0.0,
    "newcomer_follows": 1.0,
}
TRUE = {
    "walk": 0.2 * 52**0.5,
    "prior_spread": 1.0,
    "newcomer": 0.0,
    "regression": 0.02 * 52,
    "off": 0.0,
    "anchor": 0.0,
    "experience": 0.0,
    "contest_walk": 0.0,
    "newcomer_follows": 1.0,
}
"""How strengths of :func:`races` move."""


def races(kind, contests=1000, entrants=60, size=12, seed=1):
    """Weekly races in which 30 % are out by luck, and (but for "luck") so are those of the last four places.

    ``kind`` says which of the two is out late: the slow ("late"), the unlucky ("early") or either ("any").
    """
    rng = np.random.default_rng(seed)
    strength, rows = rng.normal(size=entrants), []
    for race in range(contests):
        strength = 0.98 * strength + 0.2 * rng.normal(size=entrants)
        who = rng.permutation(entrants)[:size]
        rank = np.argsort(np.argsort(-(strength[who] + rng.normal(size=size))))
        unlucky = rng.random(size) < 0.3
        slow = ~unlucky & (rank >= size - 4) & (kind != "luck")
        first, second = rng.uniform(0.0, 0.5, size), rng.uniform(0.5, 1.0, size)
        came = {
            "late": np.where(slow, second, first),
            "early": np.where(slow, first, second),
        }.get(kind, 2.0 * first)
        out = unlucky | slow
        for place, a in enumerate(np.argsort(np.where(out, size, rank))):
            ended = ("DNF", 100.0 * came[a]) if out[a] else (str(place + 1), 100.0)
            rows.append((date(2020, 1, 6) + timedelta(weeks=race), race, f"P{who[a]}", *ended))
    return kn.read_contests(pl.DataFrame(rows, schema=["date", "race", "driver", "place", "laps"], orient="row"))


def both(contests):
    """Estimate, its standard error, and by how much the later half is forecast better than by one weight for all."""
    raters = {"estimated": kn.RankElo(**TRUE), "flat": kn.RankElo(**TRUE, late_retirement=0.0)}
    test = kn.backtest(contests, raters, train_until=contests.date[len(contests) // 2])
    found = test.raters["estimated"]
    gap = test.differences("flat").row(0, named=True)
    return found.parameters_["late_retirement"], found.estimates_.standard_errors["late_retirement"], gap


@pytest.mark.parametrize(("kind", "sign"), [("late", 1.0), ("early", -1.0)])
def test_which_retirements_carry_the_place_is_found_and_used(kind, sign):
    late, error, gap = both(races(kind))
    assert sign * late > 3.0 * error
    assert gap["difference"] < -2.0 * gap["standard_error"] and gap["difference"] < -0.01


@pytest.mark.parametrize("kind", ["luck", "any"])
def test_nothing_is_found_where_the_distance_tells_nothing(kind):
    late, error, gap = both(races(kind))
    assert abs(late) < 3.0 * error + 0.05
    assert abs(gap["difference"]) < 2.5 * gap["standard_error"] + 0.002


def test_without_distances_nothing_changes_to_the_bit():
    told = races("late", contests=60)
    untold = replace(told, distance=None)
    rater = kn.RankElo().fit(untold)
    assert rater.parameters_["late_retirement"] == 0.0 and "late_retirement" not in rater.estimates_.values
    given = {name: value for name, value in rater.parameters_.items() if name != "late_retirement"}
    for late in (-1.5, 0.0, 1.5):
        again = kn.RankElo(**given, late_retirement=late).update(untold)
        assert again.ratings_.equals(rater.ratings_)
    assert kn.RankElo(**given, late_retirement=0.0).update(told).ratings_.equals(rater.ratings_)
    assert not kn.RankElo(**given, late_retirement=1.0).update(told).ratings_.equals(rater.ratings_)


def test_the_weight_grows_evenly_with_the_distance_from_0_to_1():
    def rating(came, **given):
        rater = kn.RankElo(**GIVEN | given).update_one(["A", "B"], unfinished=["C"] if came is None else {"C": came})
        return dict(rater.ratings_.select("name", "rating").iter_rows())["C"]

    one = {"retirement": 0.3, "late_retirement": 0.4}
    for came, weight in [(0.0, 0.1), (0.25, 0.2), (0.5, 0.3), (None, 0.3), (1.0, 0.5)]:
        assert rating(came, **one) == pytest.approx(rating(None, retirement=weight), abs=1e-9)
    beyond = {"retirement": 0.5, "late_retirement": 2.0}
    assert rating(0.1, **beyond) == rating(None, retirement=0.0)
    assert rating(0.9, **beyond) == rating(None, retirement=1.0)


def test_one_contest_by_names_says_how_far_somebody_came():
    table = {"date": ["2024-05-01"] * 3, "race": [1] * 3, "driver": list("ABC"), "place": ["1", "2", "DNF"],
             "laps": [50, 50, 40]}  # fmt: skip
    given = GIVEN | {"retirement": 0.3, "late_retirement": 0.5}
    by_table = kn.RankElo(**given).update(kn.read_contests(table))
    by_names = kn.RankElo(**given).update_one(["A", "B"], unfinished={"C": 0.8}, date="2024-05-01")
    assert by_names.ratings_.drop("kind").equals(by_table.ratings_.drop("kind"))
    for part in (1.2, -0.1, "far", None, True):
        with pytest.raises(InputError, match="from 0 to 1"):
            by_names.update_one(["A", "B"], unfinished={"C": part})


def test_a_state_stored_before_distances_were_read_is_carried_on():
    rater = kn.RankElo(**GIVEN, retirement=0.3).update_one(["A", "B"], unfinished=["C"])
    arrays = {name: value for name, value in rater.to_arrays().items() if name != "parameter_late_retirement"}
    again = kn.RankElo()
    again.from_arrays(arrays)
    assert again.parameters_ == rater.parameters_ and again.ratings_.equals(rater.ratings_)


def test_hindsight_reads_distances_as_the_filter_does():
    contests = races("late", contests=40)
    given = GIVEN | {"retirement": 0.3}
    late, flat = (kn.RankElo(**given, late_retirement=late).update(contests) for late in (1.0, 0.0))
    smooth = [rater._hindsight(contests, [len(contests)])[0].sort("name")["rating"] for rater in (late, flat)]
    last = [rater.ratings_.sort("name")["rating"] for rater in (late, flat)]
    assert np.corrcoef(smooth[0] - smooth[1], last[0] - last[1])[0, 1] > 0.7
