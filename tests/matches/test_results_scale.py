"""One scale of results: 1 won, ½ drawn, 0 lost, however the file writes it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn


def read(result, **options):
    sides = {"home": [f"h{k}" for k in range(len(result))], "away": [f"a{k}" for k in range(len(result))]}
    return kn.read_matches(sides | {"result": result}, **options)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=8))
def test_both_scales_say_the_same(points):
    signed = [2 * p - 1 for p in points]
    for matches in (read(points, results="points"), read(signed, results="signed")):
        assert matches.result.tolist() == points
        assert matches.signed.tolist() == signed
        assert matches.to_polars()["result"].to_list() == points


def test_negative_results_are_read_as_signed_and_it_is_said():
    matches = read([1, 0, -1])
    assert matches.result.tolist() == [1, 0.5, 0]
    assert any("-1 for an away win, 0 for a draw" in note for note in matches.notes)


def test_zeros_and_ones_alone_are_doubtful():
    """A column without a home defeat on the signed scale looks like one without draws on the other."""
    matches = read([1, 0, 1])
    assert matches.result.tolist() == [1, 0, 1]
    assert any("if 0 means a draw, say results='signed'" in note for note in matches.notes)
    signed = read([1, 0, 1], results="signed")
    assert signed.result.tolist() == [1, 0.5, 1]
    assert not any("if 0 means a draw" in note for note in read([1, 0, 1], results="points").notes)
    assert not any("if 0 means a draw" in note for note in read([1, 0, 0.5]).notes)


def test_scores_decide_what_zero_means():
    table = {"home": list("AAA"), "away": list("BBB"), "home_score": [2, 1, 3], "away_score": [1, 1, 0]}
    matches = kn.read_matches(table | {"result": [1, 0, 1]})
    assert matches.result.tolist() == [1, 0.5, 1] and matches.margin.tolist() == [1, 0, 3]
    assert any("0 in 'result' is a draw" in note for note in matches.notes)


def test_numbers_of_the_winning_side():
    matches = read([1, 2, 2, 1])
    assert matches.result.tolist() == [1, 0, 0, 1]
    assert any("2 where the second" in note for note in matches.notes)


def test_league_points_are_no_results():
    with pytest.raises(kn.InputError, match="as large as 3"):
        read([3, 1, 0])
    with pytest.raises(kn.InputError, match="not a scale"):
        read([1, 0], results="chess")  # type: ignore[arg-type]
    assert read([0.5] * 40 + [7]).rejected.counts() == {"impossible result": 1}


def test_forecasts_speak_of_points():
    forecast = kn.forecasts.Forecast.of(np.array([0.5, 0.0]), np.array([0.3, 0.0]), np.array([0.2, 1.0]))
    assert forecast.points == pytest.approx([0.65, 0.0])
    assert forecast.to_polars().columns == ["home_win", "draw", "away_win", "points"]


@pytest.mark.parametrize("line", ["2:19", "19:2"])
def test_a_score_as_large_as_times_of_day_leaves_no_times(line):
    """15:30 is a time of day only beyond all that other lines say, of either side."""
    table = {"home": ["A", "B", "C"], "away": ["B", "C", "A"], "score": [line, "15:30", "1:0"]}
    assert len(kn.read_matches(table)) == 3
    few = kn.read_matches(table | {"score": ["2:1", "15:30", "1:0"]})
    assert [few.teams[k] for k in few.home] == ["A", "C"]
