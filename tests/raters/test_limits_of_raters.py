"""Limits at which raters change what they do or say, each crossed from both sides."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.raters.circumstances import numbers_in
from kinelo.raters.filter.smoother import check_room
from kinelo.raters.sides import Drift
from kinelo.raters.tables import left_out_words, order_words, tier_words


class Many:
    """So many matches that they are only counted."""

    def __init__(self, number):
        self.number = number

    def __len__(self):
        return self.number


def tried(monkeypatch, covariance, rows, number, given=True):
    """What a rater would try of so many sides in so many matches, and what it warns of."""
    rater = kn.KalmanElo(covariance=covariance)
    monkeypatch.setattr(kn.KalmanElo, "_rows_needed", lambda self, matches: rows)
    names = {p.name for p in rater._declared_parameters}
    monkeypatch.setattr(
        kn.KalmanElo, "_unidentified_parameters", lambda self, matches: names if given else names - {"walk"}
    )
    monkeypatch.setattr(kn.KalmanElo, "_open_parameters", lambda self: rater._declared_parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = rater._covariance_to_try(Many(number))
    return found, [str(one.message) for one in caught]


def test_covariance_is_kept_as_far_as_it_fits_and_pays(monkeypatch):
    assert tried(monkeypatch, "diagonal", 9000, 10) == ("diagonal", [])
    assert tried(monkeypatch, "full", 5000, 10) == ("full", [])
    with pytest.raises(kn.InputError) as refused:
        tried(monkeypatch, "full", 5001, 10)
    assert str(refused.value) == (
        "5,001 strengths are too many for a full covariance (at most 5,000); use covariance='diagonal'."
    )
    many = "are too many to keep how strengths are connected: covariance='diagonal' is used"
    slowly = "; covariance='full' keeps it all the same, slowly"
    assert tried(monkeypatch, "auto", 5001, 10) == ("diagonal", [f"5,001 sides in 10 matches {many}."])
    assert tried(monkeypatch, "auto", 5000, 1601) == ("diagonal", [f"5,000 sides in 1,601 matches {many}{slowly}."])
    assert tried(monkeypatch, "auto", 5000, 1600, given=False) == ("auto", [])
    assert tried(monkeypatch, "auto", 200, 1_000_000, given=False) == ("auto", [])
    assert tried(monkeypatch, "auto", 300, 1000) == ("full", [])
    found, (said,) = tried(monkeypatch, "auto", 301, 1000)
    assert (found, said) == (
        "diagonal",
        "covariance='full' would keep how the strengths of 301 sides are connected, at some 41 µs a match, and as all "
        "parameters are given nothing says whether that pays: covariance='diagonal' is used. Say which of the two you "
        "want.",
    )


def test_hindsight_of_three_gigabytes_is_the_most():
    """8 bytes of 1,000 rows: of 373,000 matches and 2 points of 1,000 rows."""
    check_room(373_000, 1000, 2)
    with pytest.raises(kn.InputError, match="Hindsight over 373,001 matches of 1,000 names needs more memory"):
        check_room(373_001, 1000, 2)
    with pytest.raises(kn.InputError, match="Hindsight over 372,001 matches of 1,000 names"):
        check_room(372_001, 1000, 3)


@pytest.mark.parametrize(
    ("active", "shift", "spread", "serious"),
    # A quarter of the spread, from 144 sides on; three standard errors with fewer; and nothing of fewer than eight.
    [(400, 24.9, 100.0, False), (400, 25.1, 100.0, True), (400, -25.1, 100.0, True), (9, 99.9, 100.0, False),
     (9, 100.1, 100.0, True), (8, 107.0, 100.0, True), (8, 106.0, 100.0, False), (7, 500.0, 100.0, False)],
)  # fmt: skip
def test_drift_is_serious_beyond_a_quarter_of_the_spread_and_three_errors(active, shift, spread, serious):
    found = Drift(active, 1512.3 + shift, 1512.3, spread)
    assert found.shift == pytest.approx(shift) and found.serious is serious
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found.warn()
    kind = "inflation" if shift > 0 else "deflation"
    assert [str(one.message) for one in caught] == [
        f"Rating {kind}: the {active} active sides average {1512.3 + shift:.4g}, newcomers start at 1512; compare "
        "ratings of different years by rank, not by value."
    ] * serious


def test_levels_are_numbers_from_six_on_and_years_are_not():
    assert numbers_in(("1", "2.5", "3", "4", "5")) is None and numbers_in(("1", "2.5", "3", "−4", "5", "6")) == (
        -4.0,
        6.0,
    )
    assert numbers_in(("1", "2", "3", "4", "5", "six")) is None and numbers_in(("1", "2", "3", "4", "5", "inf")) is None
    years = ["1800", "1900", "2000", "2100", "2150", "2200"]
    assert numbers_in(years) is None and numbers_in([*years, "2000.5"]) == (1800.0, 2200.0)
    assert numbers_in([*years, "1799"]) == (1799.0, 2200.0) and numbers_in([*years, "2201"]) == (1800.0, 2201.0)


def test_words_below_a_board_say_its_numbers():
    rows = {"tier": [1, 1, 2, 2], "name": ["A", "B", "C", "D"], "rating": [50.0, 90.0, 10.0, 30.0],
            "more": [1264.0, 876.0, 5321.0, None]}  # fmt: skip
    said = "Tiers are told apart at a level of 95 %, all pairs together"
    # By rating B, A, D, C: nearest told apart are B and A.
    apart = "would tell these two apart, if their difference is what it seems."
    assert tier_words(pl.DataFrame(rows)) == f"{said}; about 880 more matches between B and A {apart}"
    turned = pl.DataFrame(rows | {"more": [1264.0, 8760.0, None, 5321.0]})
    assert "about 1,300 more matches between A and D would" in tier_words(turned)
    assert (
        tier_words(pl.DataFrame(rows | {"more": [None] * 4}))
        == f"{said}."
        == tier_words(pl.DataFrame(rows).drop("more"))
    )
    assert tier_words(pl.DataFrame(rows).drop("tier")) == ""
    board = {"rating": [1512.0, 1530.0, 1400.0], "uncertainty": [0.0, 30.0, 10.0], "surely": [1512.0, 1485.0, 1385.0]}
    assert order_words(pl.DataFrame(board)) == "Sorted by what a rating is at least: the rating less 1.5 ±."
    assert order_words(pl.DataFrame(board | {"surely": board["rating"]})) == ""
    assert order_words(pl.DataFrame(board).drop("surely")) == ""
    assert left_out_words(2, "contests") == "2 more are rated but not ranked: not active, or too few contests."


def test_sides_are_counted_wherever_they_play():
    """X plays at home alone and Y away alone."""
    matches = kn.read_matches({"home": ["X", "A", "X"], "away": ["A", "Y", "Y"], "result": [1, 0, 0.5]})
    assert kn.KalmanElo()._rows_needed(matches) == 3
    only = kn.read_matches({"home": ["X", "X"], "away": ["A", "Y"], "result": [1, 0]})
    assert kn.KalmanElo()._rows_needed(only) == 3


def test_a_rater_is_printed_with_what_is_not_usual():
    table = pl.DataFrame({"name": ["A", "B"], "rating": [1500.0, 1600.0]})
    assert repr(kn.Glicko(350.0, start=table)) == repr(kn.Glicko(350.0)).replace(")", ", start=<2 rows>)")
    five, six = (dict.fromkeys("ABCDEF"[:n], 1500.0) for n in (5, 6))
    assert f"start={five!r}" in repr(kn.KalmanElo(start=five)) and "start=<6 names>" in repr(kn.KalmanElo(start=six))
    assert repr(kn.KalmanElo()) == "KalmanElo()" == repr(kn.KalmanElo(conditions=[]))
    rater = kn.KalmanElo(walk=0.123)
    rater.parameters_ = {"walk": 0.12345678, "prior_spread": 212.34567}
    rater.estimates_ = SimpleNamespace(standard_errors={"prior_spread": 12.345, "walk": math.nan})
    shown = rater._repr_html_()
    assert "KalmanElo(walk=0.123)" in shown and "0.1235" in shown and "212.3 ± 12" in shown and "0.1235 ±" not in shown
    assert "prior spread" in shown and np.isnan(rater.estimates_.standard_errors["walk"])


def test_pieces_say_what_was_estimated_on_and_what_was_set_aside(tmp_path):
    rng = np.random.default_rng(1)
    home = rng.integers(0, 5, 60)
    away = (home + np.where(np.isin(np.arange(60), (7, 31, 44)), 0, rng.integers(1, 5, 60))) % 5
    table = {"date": pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 2, 29), eager=True), "home": home, "away": away}
    pl.DataFrame(table | {"result": (rng.random(60) < 0.5).astype(float)}).write_parquet(tmp_path / "games.parquet")
    scan = kn.matches.scan_matches(str(tmp_path / "games.parquet"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rater = kn.TeamElo(look=20, ties=0.3, home_advantage=10.0, prior_spread=150.0).fit(scan)
    said = [str(one.message) for one in caught]
    estimated = (
        f"parameters were estimated on the latest {len(scan.latest(20)):,} matches; all matches were rated with them"
    )
    assert estimated in said and "3 rows were set aside (a side against itself: 3)." in said
    assert rater.ratings_["matches"].sum() == 2 * 57
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kn.TeamElo(look=100, ties=0.3, home_advantage=10.0, prior_spread=150.0).fit(scan)
    assert not [one for one in caught if "were estimated" in str(one.message)]


@pytest.mark.parametrize(
    ("results", "draws"),
    [([1.0, 0.5, 0.0, 1.0] * 5, 0.25), ([1.0, 0.0] * 5, None), ([0.5] * 8 + [1.0] * 2, 0.8),
     ([0.5] * 18 + [1.0] * 2, None),
     ([0.5] * 19 + [0.0], None), ([0.75, 0.25, 1.0, 0.0], 0.25)],
)  # fmt: skip
def test_the_level_of_draws_is_read_where_there_are_some_and_not_nearly_all(results, draws):
    number = len(results)
    table = {"home": ["A", "B"] * number, "away": ["B", "C"] * number, "result": [x for x in results for _ in range(2)]}
    rater = kn.KalmanElo()
    rater._prepare(kn.read_matches(table, results="points"))
    assert rater._level_draws == (None if draws is None else pytest.approx(draws))
