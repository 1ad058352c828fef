"""Nonsense that was taken in silence, or ended in an error of Python's: a sentence each."""

import os
from functools import partial

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.book.book import is_book
from kinelo.presentation import isolated

NONSENSE = [[], {}, np.array([]), "", 5, 10**30, float("nan"), "x" * 1000, object(), [1], [[1], [2]], None]


def standing():
    return kn.TeamElo.classic(k=20, start={"A": 1600, "B": 1500})


@pytest.mark.parametrize("name", [name for name in kn.plot.__all__ if name not in ("save", "film")])
@pytest.mark.parametrize("value", NONSENSE, ids=lambda value: f"{type(value).__name__}-{str(value)[:8]}")
def test_pictures_say_what_they_take(name, value):
    with pytest.raises((kn.InputError, TypeError)) as refused:
        getattr(kn.plot, name)(value)
    if isinstance(refused.value, kn.InputError):
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


@pytest.mark.parametrize("value", NONSENSE, ids=lambda value: f"{type(value).__name__}-{str(value)[:8]}")
def test_figures_are_saved_in_words(value, tmp_path):
    for arguments in ((value, tmp_path / "a.png"), (value, value)):
        with pytest.raises((kn.InputError, TypeError)):
            kn.plot.save(*arguments)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("value", [v for v in NONSENSE if not isinstance(v, str) or not v])
def test_names_are_text(value):
    for call in (standing().predict_one, partial(kn.match_quality, standing())):
        if isinstance(call, partial) and isinstance(value, list | np.ndarray) and len(value) == 0:
            continue
        with pytest.raises(kn.InputError):
            call("A", value)
    with pytest.raises(kn.InputError):
        standing().update_one(value, "B", 1)


@pytest.mark.parametrize("value", ["no", "yes", 0, 1, None, "False", []])
def test_a_venue_is_neutral_or_not(value):
    for call in (
        standing().predict_one,
        partial(kn.match_quality, standing()),
        lambda a, b, neutral: standing().update_one(a, b, 1, neutral=neutral),
    ):
        with pytest.raises(kn.InputError, match="neutral must be True or False"):
            call("A", "B", neutral=value)
    assert standing().predict_one("A", "B", neutral=np.bool_(True)).probabilities.shape == (1, 3)


@pytest.mark.parametrize(("result", "margin"), [(1, -2), (0, 1), ("draw", 3), (0.5, -1)])
def test_a_margin_that_contradicts_the_result_is_refused(result, margin):
    for rater in (standing(), kn.Glicko(start={"A": 1600, "B": 1500})):
        before = rater.predict_one("A", "B").probabilities
        with pytest.raises(kn.InputError, match="contradicts a"):
            rater.update_one("A", "B", result, margin=margin)
        assert np.array_equal(rater.predict_one("A", "B").probabilities, before)


def test_margins_that_fit_are_taken():
    for result, margin in ((1, 2), (0, -1), (0.5, 0), (1, 0)):
        rater = standing().update_one("A", "B", result, margin=margin)
        moved = rater.ratings_.sort("name")["rating"].to_numpy() - [1600.0, 1500.0]
        # The favourite loses by a draw, too.
        assert np.sign(moved).tolist() == ([1.0, -1.0] if result == 1 else [-1.0, 1.0])


@pytest.mark.parametrize("value", [v for v in NONSENSE if v is not None])
def test_what_is_read_and_asked_is_refused_in_words(value):
    table = {"home": ["A"], "away": ["B"], "result": [1]}
    if not (isinstance(value, dict) and not value):
        with pytest.raises(kn.InputError):
            kn.read_matches(table, columns=value)
        with pytest.raises(kn.InputError):
            standing().predict_one("A", "B", conditions=value)
    with pytest.raises(kn.InputError):
        kn.forecasts.Forecast(value)
    if not isinstance(value, int):
        with pytest.raises(kn.InputError):
            kn.sample_league(teams=value)
    matches = kn.read_matches(table)
    if value != 5 if isinstance(value, int) else True:
        with pytest.raises(kn.InputError):
            matches.pools(firm=value)
    with pytest.raises(kn.InputError):
        matches.since(value)


@pytest.mark.parametrize("day", ["44444", "9999-01-01", "0001-01-01", "1e5"])
def test_days_of_no_match_are_refused(day):
    with pytest.raises(kn.InputError, match="is not a date"):
        kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}).before(day)


def test_pages_isolate_names_that_run_from_right_to_left(tmp_path):
    hebrew, arabic = "\u05de\u05db\u05d1\u05d9", "\u0627\u0644\u0623\u0647\u0644\u064a"
    rows = [(f"2024-01-{k + 1:02d}", (hebrew, "A&B")[k % 2], arabic, float(k % 2)) for k in range(24)]
    matches = kn.read_matches(pl.DataFrame(rows, ["date", "home", "away", "result"], orient="row"))
    page = kn.write_page(kn.TeamElo.classic(k=20).fit(matches), tmp_path / "p.html", matches=matches).read_text()
    assert f"<bdi>{hebrew}</bdi>" in page and f"<bdi>{arabic}</bdi> won" in page and f"<bdi>{arabic}</bdi>: 1" in page
    assert "<bdi>A" not in page and isolated("A&B") in page


RAGGED = [[1.0], [1.0, 2.0]]
LISTS = {
    "sigma": lambda value: kn.Normal([4.0, 7.0], value),
    "gamma": lambda value: kn.RatingSystem(kn.Tanh(nu=0.5), gamma=value),
    "weights": lambda value: kn.model.LineupLottery([[1.0, 2.0], [2.0, 2.0]], m=1, weights=value),
    "probabilities": lambda value: kn.model.Empirical([[1.0, 2.0], [0.0, 3.0]], value),
    "variance": lambda value: kn.theory.recover_strength(kn.Tanh(nu=0.5), [6.0, 7.0], 1.0, rating_variance=value),
    "spread": lambda value: kn.model.satisfies_b_prime(kn.Tanh(nu=0.5), value),
    "density": lambda value: kn.macro.Population(value, theta=(4, 10, 2), r=(4, 10, 2), sigma=1.0),
    "chances": lambda value: kn.forecasts.Forecast.of(value, value, value),
    "y": lambda value: standing().score(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}), value),
    "names": lambda value: kn.Fixed([4.0, 7.0], names=value),
}


def nested(depth):
    lists = [1.0]
    for _ in range(depth):
        lists = [lists]
    return lists


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    "value", [RAGGED, nested(600), ["A", 1, None, [2]], list], ids=["ragged", "deep", "mixed", "type"]
)
def test_what_is_no_table_of_numbers_is_refused(name, value):
    with pytest.raises(kn.InputError) as refused:
        LISTS[name](value)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 1100


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "A" * 20_000])
def test_what_no_file_can_be_called_is_refused(name):
    for call in (lambda: kn.RatingBook(name, standing()), lambda: kn.write_page(standing(), name)):
        with pytest.raises(kn.InputError):
            call()
    assert not is_book(name)
    if name == "\ud800":
        for call in (lambda: standing().update_one(name, "B", 1), lambda: kn.match_quality(standing(), "A", [name])):
            with pytest.raises(kn.InputError, match="is not the name of a side"):
                call()
        with pytest.raises(kn.InputError, match="title must be text"):
            kn.pages.share_page(standing(), title=name)


def test_a_refusal_is_one_line_whatever_it_repeats():
    for value in (pl.DataFrame({"a": [1]}), np.zeros((9, 9, 9)), "A\n" * 20_000):
        with pytest.raises(kn.InputError) as refused:
            kn.Tanh(nu=value)
        assert str(refused.value).isprintable() and len(str(refused.value)) < 1100


def test_nested_lists_name_no_files_and_leagues_made_up_end():
    with pytest.raises(kn.InputError, match="paths must be a file"):
        kn.matches.scan_contests(nested(600))
    for odd in ({"contests": 10**9}, {"entrants": 10**9}, {"cars": 5e-324}, {"team": 0}):
        with pytest.raises(kn.InputError):
            kn.matches.sample_contests(**odd)


@pytest.mark.parametrize("value", [10**9, -1e9])
def test_newcomers_begin_within_reach_of_a_field(value):
    """Beyond it the grid on which a field is looked at would fill any memory."""
    for given in (value, {"driver": value}):
        with pytest.raises(kn.InputError, match="newcomer is a finite number of at least -1000 and at most 1000"):
            kn.RankElo(newcomer=given)
