"""A match before the last one rated is refused by every rater, in words, and a refusal changes nothing."""

from functools import cache

import numpy as np
import pytest
from polars.testing import assert_frame_equal

import kinelo as kn

SIDES = ["A", "B", "C", "D"]
RATERS = {
    "team": kn.TeamElo, "classic": lambda: kn.TeamElo.classic(k=20), "glicko": kn.Glicko, "glicko2": kn.Glicko2,
    "glicko by period": lambda: kn.Glicko2(together=True), "kalman": kn.KalmanElo,
    "diagonal": lambda: kn.KalmanElo(covariance="diagonal"), "player": kn.PlayerElo, "bradley-terry": kn.BradleyTerry,
}  # fmt: skip


def table(days, seed=1):
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 4, len(days))
    away = (home + rng.integers(1, 4, len(days))) % 4
    names = np.array(SIDES)
    return {
        "date": days,
        "home": names[home],
        "away": names[away],
        "result": rng.choice([0, 0.5, 1], len(days)),
        "home_lineup": [[name.lower()] for name in names[home]],
        "away_lineup": [[name.lower()] for name in names[away]],
    }


@cache
def past():
    days = np.datetime64("2024-03-01") + np.arange(40) // 2
    return kn.read_matches(table(days), ordered=True)


def state_of(rater):
    """All that a rater says and keeps, to the bit."""
    kept = {name: np.array(value).tobytes() for name, value in rater.to_arrays().items()}
    return kept, rater.ratings_.to_dicts(), rater.predict(past()).probabilities.tobytes()


@pytest.mark.parametrize("make", RATERS.values(), ids=RATERS)
@pytest.mark.parametrize("day", ["2024-03-19", "1900-01-01"])
def test_a_day_before_the_last_one_is_refused_and_changes_nothing(make, day):
    rater = make().update(past())
    before = state_of(rater)
    words = f"The match of {day} between A and B comes before the last match rated, of 2024-03-20; nothing was changed."
    with pytest.raises(kn.InputError, match=words):
        rater.update_one("A", "B", 1, date=day)
    partly = kn.read_matches(table([day, "2024-03-21"]), ordered=True)
    for verb in (rater.update, rater.one_step_ahead):
        with pytest.raises(kn.InputError, match=f"The match of {day} between .* comes before the last match rated"):
            verb(partly)
    assert state_of(rater) == before
    rater.update_one("A", "B", 1, date="2024-03-20").update_one("C", "B", 0, date="2024-03-21")
    assert rater.ratings_["matches"].sum() == 2 * (len(past()) + 2)


@pytest.mark.parametrize("make", RATERS.values(), ids=RATERS)
def test_matches_without_a_result_or_a_date_change_nothing(make):
    rater = make().update(past())
    before = state_of(rater)
    coming = kn.read_matches(table(["2024-04-01"] * 2) | {"result": [1, None]}, played=False, ordered=True)
    undated = {name: values for name, values in table(["2024-04-01"] * 2).items() if name != "date"}
    for matches, words in ((coming, "without a result"), (kn.read_matches(undated), "The match without a date")):
        for verb in (rater.update, rater.one_step_ahead):
            with pytest.raises(kn.InputError, match=words):
                verb(matches)
    assert state_of(rater) == before


@pytest.mark.parametrize("make", RATERS.values(), ids=RATERS)
def test_a_match_whose_day_is_not_said_is_rated_whoever_has_played_since(make):
    """Its sides do not rest, so it stands on the day on which one of them last played."""
    rater = make().update(past()).update_one("C", "D", 1, date="2024-05-01")
    rater.update_one("A", "B", 1)
    last = dict(zip(rater.ratings_["name"], rater.ratings_["matches"]))
    assert sum(last.values()) == 2 * (len(past()) + 2)
    assert np.isfinite(rater.ratings_["rating"].to_numpy()).all()


@pytest.mark.parametrize(
    "make", [v for k, v in RATERS.items() if k != "player"], ids=[k for k in RATERS if k != "player"]
)
def test_tables_in_any_order_are_fitted_alike(make):
    rows = table(np.datetime64("2024-03-01") + np.arange(40))
    order = np.random.default_rng(2).permutation(40)
    turned = {name: [values[k] for k in order] for name, values in rows.items()}
    fitted, other = (make().fit(kn.read_matches(one)) for one in (rows, turned))
    # Bradley and Terry's sums run over sides in the order of the table, so their last digit may differ.
    rounding = 1e-15 if isinstance(fitted, kn.BradleyTerry) else 0.0
    assert_frame_equal(fitted.ratings_.sort("name"), other.ratings_.sort("name"), rel_tol=4 * rounding, abs_tol=0.0)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("make", [lambda: kn.TeamElo(step=20.0), lambda: kn.TeamElo(step=20.0, conditions=["turf"])])
def test_ratings_that_leave_the_range_of_numbers_are_put_back(few, make):
    rows = table(np.datetime64("2024-03-01") + np.arange(20)) | {"turf": ["a", "b"] * 10}
    rater = make()
    asked = list(rater.conditions)
    rater.update(kn.read_matches(rows, conditions=asked))
    before, ratings = rater.to_arrays(), rater.ratings_
    rater._numbers = rater._numbers._replace(gamma=1e308)
    count = 2 if few else 100
    later = table([f"2024-05-{1 + k // 4:02}" for k in range(count)], 5) | {
        "turf": ["c"] * count,
        "result": [1] * count,
    }
    later |= {"home": ["A"] * (count - 1) + ["N"], "away": ["B"] * count}
    with pytest.raises(kn.InputError, match=r"leaves the range of numbers .* Nothing was changed; give smaller ones\."):
        rater.update(kn.read_matches(later, conditions=asked, ordered=True))
    assert rater.ratings_.equals(ratings)
    for name in ("rating", "variance", "games", "last", "common"):
        kept, now = before[name], rater.to_arrays()[name]
        assert (now[: len(kept)] == kept).all(), name


def test_books_take_results_that_arrive_late(tmp_path):
    book = kn.RatingBook(tmp_path / "b", kn.Glicko())
    ids = {"match_id": [f"m{k}" for k in range(40)]}
    whole = kn.read_matches(table(np.datetime64("2024-03-01") + np.arange(40)) | ids)
    book.add(whole[::2])
    book.add(whole[1::2])
    assert book.ratings_.equals(kn.Glicko().update(whole).ratings_)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_single_match_that_leaves_the_range_of_numbers_changes_nothing():
    rater = kn.TeamElo(step=20.0).update(past())
    before = state_of(rater)
    rater._numbers = rater._numbers._replace(gamma=1e308)
    with pytest.raises(kn.InputError, match=r"leaves the range of numbers .* Nothing was changed"):
        rater.update_one("A", "newcomer", 1, date="2024-05-01")
    kept = {name: value for name, value in before[0].items() if name not in ("names", "before", "numbers")}
    now = state_of(rater)
    assert now[1:] == before[1:] and "newcomer" not in rater.ratings_["name"].to_list()
    assert all(now[0][name].startswith(value) for name, value in kept.items())
