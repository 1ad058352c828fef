"""Charts: what every trace holds, computed apart from the functions that describe it."""

from datetime import date, timedelta
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.advice.charts import (
    bias_chart,
    calibration_chart,
    history_chart,
    loss_chart,
    map_chart,
    periods_chart,
)

SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.15)
# Strengths stand in no order, and every team has a spread of its own.
THETA, SIGMA = [6.0, 4.0, 9.5, 7.0, 5.0], [0.4, 1.0, 0.7, 1.3, 0.2]
NAMES = ["Fay", "Team 2", "Ida", "Joe", "Team 5"]


@pytest.fixture(scope="module")
def state():
    return kn.stationary(SYSTEM, kn.Normal(THETA, SIGMA, names=NAMES), noise="gaussian")


def trace(chart, name="", mode=None):
    (found,) = [one for one in chart.traces if one.name == name and mode in (None, one.mode)]
    return found


def test_a_map_shows_the_curve_its_band_and_the_teams(state):
    chart = map_chart(state)
    line, band, same = trace(chart, "stationary rating R(θ)"), chart.traces[0], trace(chart, "rating = mean strength")
    x = np.asarray(line.x)
    assert x[0] == 4.0 and x[-1] == 9.5 and (np.diff(x) > 0).all() and x.size > 100
    assert line.y == pytest.approx(state.rating_of(x))
    assert line.y[::17] == pytest.approx([float(state.rating_of(one)) for one in x[::17]])
    assert (same.x, same.y) == ([4.0, 9.5], [4.0, 9.5]) and same.mode == "dashed"
    # The band: between the deviations of teams, by their strength; at a team its own.
    by_strength = np.argsort(THETA)
    deviation = np.interp(x, np.array(THETA)[by_strength], np.sqrt(state.variance)[by_strength])
    assert band.name == "± one standard deviation of a rating" and band.mode == "band"
    assert np.asarray(band.y) - line.y == pytest.approx(deviation) and line.y - np.asarray(band.low) == pytest.approx(
        deviation
    )
    dots, named = trace(chart, "teams"), trace(chart, "", "named")
    assert list(dots.x) == THETA and list(dots.y) == list(state.rating)
    for note, theta, rating, variance in zip(dots.notes, THETA, state.rating, state.variance, strict=True):
        assert note == f"θ = {theta:.4g}, R = {rating:.4g} ± {np.sqrt(variance):.3g}"
    assert named.notes == ("Fay", "Ida", "Joe") and list(named.x) == [6.0, 9.5, 7.0]
    assert list(named.y) == [state.rating[0], state.rating[2], state.rating[3]]
    assert chart.label == f"Rating over mean strength, slope {state.slope:.3f}"


def test_without_noise_there_is_no_band():
    still = kn.stationary(SYSTEM, kn.Normal(THETA, SIGMA))
    chart = map_chart(still)
    assert [one.mode for one in chart.traces] == ["lines", "dashed", "markers"]


def test_where_pairing_depends_on_ratings_the_curve_goes_through_the_teams():
    near = kn.RatingSystem(kn.Tanh(nu=0.5), kn.model.Local(), gamma=0.05)
    found = kn.stationary(near, kn.Normal(THETA, 0.8))
    line = trace(map_chart(found), "stationary rating R(θ)")
    assert list(line.x) == sorted(THETA)
    assert list(line.y) == [found.rating[k] for k in np.argsort(THETA)]


def test_a_bias_is_rating_less_strength(state):
    chart = bias_chart(state)
    line = trace(chart, "", "lines")
    assert line.y == pytest.approx(state.rating_of(np.asarray(line.x)) - line.x)
    assert list(trace(chart, "teams").y) == pytest.approx(state.rating - np.array(THETA))
    assert trace(chart, "", "dashed").x == [4.0, 9.5] and trace(chart, "", "dashed").y == [0.0, 0.0]


def test_losses_stand_above_their_own_least(monkeypatch):
    theory = {"k": np.array([5.0, 10.0, 20.0, 40.0]), "log_loss": np.array([0.63, 0.61, 0.62, 0.66])}
    found = SimpleNamespace(
        curve=SimpleNamespace(column=theory.__getitem__), k=32.0, advice=SimpleNamespace(k=14.0),
        measured=SimpleNamespace(k=np.array([6.0, 12.0, 24.0]), log_loss=np.array([0.655, 0.65, 0.70])),
    )  # fmt: skip
    best = SimpleNamespace(k=11.0, low=7.5, high=19.0)
    monkeypatch.setattr("kinelo.advice.charts.advised", lambda found: best)
    chart = loss_chart(found)
    curve, dots = trace(chart, "theory"), trace(chart, "backtest, later half")
    assert curve.y == pytest.approx([0.02, 0.0, 0.01, 0.05]) and list(curve.x) == [5.0, 10.0, 20.0, 40.0]
    assert dots.y == pytest.approx([0.005, 0.0, 0.05]) and list(dots.x) == [6.0, 12.0, 24.0]
    assert dots.notes[2] == "K = 24: 0.05000 measured"
    assert [(one.name, list(one.x)) for one in chart.traces if one.mode in ("upright", "span")] == [
        ("95 % interval: 7.5 to 19", [7.5, 19.0]), ("best from today on: 11", [11.0]), ("in use: 32", [32.0]),
        ("wanted by the past: 14", [14.0]),
    ]  # fmt: skip
    assert chart.label == "Log-loss over K, theory and backtest; the best K is 11, in use is 32"
    assert chart.y_range == pytest.approx((-0.003, 0.053)) and chart.logarithmic
    # Without a lower end, without a K in use, without theory, and where the past wants the same.
    best.low, found.k, found.advice, found.curve = 0.0, None, best, None
    plain = loss_chart(found)
    assert list(trace(plain, "95 % interval: 0 to 19").x) == [6.0, 19.0]
    assert [one.name for one in plain.traces if one.mode == "upright"] == ["best: 11"] and len(plain.traces) == 3
    assert plain.label == "Log-loss over K by backtest; the best K is 11"


@pytest.mark.parametrize("in_use", [24.0, 30.0])
def test_periods_hold_their_own_numbers(in_use):
    periods = [
        SimpleNamespace(first="2020-01-05", last="2020-06-30", measured=20.0, low=12.0, high=31.0, theory=18.0),
        SimpleNamespace(first="2020-07-02", last="2021-03-01", measured=26.0, low=19.0, high=44.0, theory=29.0),
    ]
    chart = periods_chart(SimpleNamespace(periods=periods, lead=SimpleNamespace(k=24.0), k=in_use))
    band, measured, theory, advised = chart.traces
    days = ["2020-01-05", "2020-06-30", "2020-07-02", "2021-03-01"]
    assert all(np.asarray(one.x).astype(str).tolist() == days for one in (band, measured, theory))
    assert (list(band.low), list(band.y)) == ([12, 12, 19, 19], [31, 31, 44, 44])
    assert (list(measured.y), list(theory.y)) == ([20, 20, 26, 26], [18, 18, 29, 29])
    assert advised.name == ("in use: 24" if in_use == 24.0 else "to use: 24") and advised.y == [24.0, 24.0]
    assert np.asarray(advised.x).astype(str).tolist() == [days[0], days[-1]]
    assert chart.label.endswith("2020-01-05 to 2020-06-30: 20, 2020-07-02 to 2021-03-01: 26")


def history(sides, days=3):
    """Ratings of so many sides at so many days: all different."""
    rows = [
        {"date": date(2024, 1, 1) + timedelta(9 * d), "name": f"S{k}", "rating": 1500.0 + 7 * k + 31 * d * (-1) ** k,
         "uncertainty": 20.0 + k + 5 * d}
        for k in range(sides) for d in range(days)
    ]  # fmt: skip
    return pl.DataFrame(rows).sample(fraction=1.0, shuffle=True, seed=3)


def test_a_history_shows_the_named_in_their_order_and_the_others_behind():
    chart = history_chart(history(5), ["S3", "S1"])
    assert [one.mode for one in chart.traces] == ["faint", "faint", "faint", "band", "lines", "lines"]
    third, first = chart.traces[4:]
    assert (third.name, third.role, first.name, first.role) == ("S3", 0, "S1", 1)
    assert list(third.y) == [1521.0, 1490.0, 1459.0] and list(first.y) == [1507.0, 1476.0, 1445.0]
    assert (third.value, first.value) == ("1459", "1445")
    band = chart.traces[3]
    assert list(band.y) == [1544.0, 1518.0, 1492.0] and list(band.low) == [1498.0, 1462.0, 1426.0]
    assert sorted(one.name for one in chart.traces[:3]) == ["", "", "3 others"] and chart.traces[0].name
    assert sorted(tuple(one.y) for one in chart.traces[:3]) == [
        (1500.0, 1531.0, 1562.0), (1514.0, 1545.0, 1576.0), (1528.0, 1559.0, 1590.0)
    ]  # fmt: skip
    low, high = chart.y_range
    # From the lowest end of a band, 1421 of S1 (to its half per cent), to the best of the others.
    assert 1400 < low < 1426 and 1590 < high < 1600
    alone = history_chart(history(5), ["S3", "S1"], others=False)
    assert [one.mode for one in alone.traces] == ["band", "lines", "lines"] and alone.y_range[1] < 1560


def test_many_others_are_one_band():
    table = history(43)
    chart = history_chart(table, ["S42"])
    band = chart.traces[0]
    assert band.name == "middle 80 % of 42 others" and band.mode == "band" and len(chart.traces) == 3
    for k, day in enumerate(sorted(table["date"].unique())):
        ratings = table.filter((pl.col("date") == day) & (pl.col("name") != "S42"))["rating"].to_numpy()
        assert np.mean(ratings < band.low[k]) == pytest.approx(0.1, abs=0.02)
        assert np.mean(ratings > band.y[k]) == pytest.approx(0.1, abs=0.02)
    assert history_chart(history(42), ["S41"]).traces[0].mode == "band"
    assert history_chart(history(41), ["S40"]).traces[0].mode == "faint"


def test_calibration_shows_what_was_given_and_what_came_in_percent():
    table = pl.DataFrame({
        "outcome": ["home win", "home win", "draw", "away win"], "forecast": [0.3, 0.62, 0.25, 0.4],
        "frequency": [0.28, 0.7, 0.31, 0.2], "low": [0.2, 0.6, 0.22, 0.0], "high": [0.36, 0.8, 0.4, 0.5],
        "matches": [120, 75, 80, 4],
    })  # fmt: skip
    chart = calibration_chart(table, {"home win": "White wins"})
    assert [one.name for one in chart.traces] == ["", "", "White wins", "", "draw"]  # four forecasts show chance alone
    home = chart.traces[2]
    assert list(home.x) == pytest.approx([30, 62]) and list(home.y) == pytest.approx([28, 70])
    assert home.notes[1] == "White wins: 62 % given, 70 % came true (75 matches)"
    bars = np.asarray(chart.traces[1].y).reshape(2, 3)
    assert bars[:, :2].tolist() == [pytest.approx([20, 36]), pytest.approx([60, 80])] and np.isnan(bars[:, 2]).all()
    assert np.asarray(chart.traces[1].x).reshape(2, 3)[1].tolist() == pytest.approx([62] * 3)
    at_least = table.with_columns(matches=pl.Series([120, 75, 80, 5]))
    assert calibration_chart(at_least).traces[-1].name == "away win"
