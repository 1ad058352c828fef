"""Backtests of contests tell raters apart as those of matches do: paired differences with a standard error."""

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.forecasts.comparison import backtest_table
from kinelo.forecasts.contest_scores import (
    ContestBacktest,
    pairs_right,
    place_bands,
    place_bands_table,
    place_calibration,
    rank_deviation,
)
from kinelo.forecasts.places import ContestForecast


@pytest.fixture(scope="module")
def three():
    """Forecasts from the strengths themselves, and from strengths seen through noise."""
    rng = np.random.default_rng(1)
    rows = {"race": [], "driver": [], "place": []}
    strength = rng.normal(size=12)
    chosen = [rng.permutation(12)[: rng.integers(3, 9)] for _ in range(200)]
    for c, drivers in enumerate(chosen):
        order = drivers[np.argsort(-(strength[drivers] + rng.normal(size=drivers.size)))]
        rows["race"] += [c] * order.size
        rows["driver"] += [f"D{k}" for k in order]
        rows["place"] += range(1, order.size + 1)
    contests = kn.read_contests(rows)
    of = np.array([strength[int(name[1:])] for name in contests.entrants])[contests.entrant]
    means = {"truth": of, "blurred": of + 0.2 * rng.normal(size=of.size), "nothing": 0.0 * of}
    forecasts = {name: ContestForecast(contests, mean, np.ones(of.size)) for name, mean in means.items()}
    return ContestBacktest(contests, forecasts, {}, dict.fromkeys(means, 0.0))


def by_definition(three, name, metric, resamples, seed):
    """Difference to the truth over contests drawn with replacement, pairs counting where pairs are scored."""
    gap = three.contest_scores(name, metric) - three.contest_scores("truth", metric)
    size = three.contests.sizes
    weight = size * (size - 1) / 2 if metric in ("pairs_right", "order_log_loss") else np.ones(size.size)
    rng = np.random.default_rng(seed)
    draws = [rng.integers(0, gap.size, gap.size) for _ in range(resamples)]
    return np.average(gap, weights=weight), np.std([np.average(gap[d], weights=weight[d]) for d in draws])


@pytest.mark.parametrize("metric", ["winner_log_loss", "order_log_loss", "pairs_right", "rank_deviation"])
def test_differences_are_those_of_the_same_contests(three, metric):
    table = three.differences("truth", metric=metric, resamples=400, seed=3)
    for row in table.iter_rows(named=True):
        difference, error = by_definition(three, row["rater"], metric, 400, 3)
        assert row["difference"] == pytest.approx(difference)
        assert row["standard_error"] == pytest.approx(error)
        assert row["low"] < row["difference"] < row["high"]
        assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * error, rel=0.25)
        scores = dict(three.scores.select("rater", metric).rows())
        assert scores[row["rater"]] - scores["truth"] == pytest.approx(difference)


def test_the_best_stands_first_and_is_what_others_are_compared_with(three):
    assert three.scores["rater"].to_list() == ["truth", "blurred", "nothing"]
    assert three.differences(resamples=20)["rater"].to_list() == ["blurred", "nothing"]
    assert "200 contests" in repr(three) and three.to_dict()["contests"] == 200


def test_the_table_shows_scores_and_how_far_behind_the_best_each_is(three):
    """Shares in percent, other scores to four digits; contests have no line-ups, and no column of them."""
    table = backtest_table(three, "Three raters")
    names = {"pairs_right": "pairs right", "order_log_loss": "order log-loss", "winner_log_loss": "winner log-loss",
             "rank_deviation": "rank deviation"}  # fmt: skip
    assert [column.label for column in table.columns] == ["Rater", *map(names.get, three.metrics), "behind the best"]
    gaps = {row["rater"]: row for row in three.differences("truth").iter_rows(named=True)}
    for row, name in zip(table.cells(), ["truth", "blurred", "nothing"], strict=True):
        means = [weighted_mean(three, name, metric) for metric in three.metrics]
        shown = [f"{100 * mean:.1f} %" if metric == "pairs_right" else f"{mean:.4f}"
                 for metric, mean in zip(three.metrics, means, strict=True)]  # fmt: skip
        gap = gaps.get(name)
        behind = f"{gap['difference']:+.4f} ({gap['low']:+.4f} to {gap['high']:+.4f})" if gap else ""
        assert row == [name, *shown, behind]
    words = f"Behind the best: mean difference in {names[three.metrics[0]]} with its 95 % bootstrap interval."
    assert (table.title, table.below) == ("Three raters", (words,))


def weighted_mean(three, name, metric):
    size = three.contests.sizes
    weight = size * (size - 1) / 2 if metric in ("pairs_right", "order_log_loss") else np.ones(size.size)
    return np.average(three.contest_scores(name, metric), weights=weight)


def test_the_picture_shows_wins_and_podiums(three):
    figure = kn.plot.calibration(three, ["truth"])
    above, below = figure.axes
    labels = {text.get_text() for text in above.get_legend().get_texts()}
    assert labels == {"comes first", "is among the first three"} and "log-loss of winners" in above.get_title(
        loc="left"
    )
    table = three.calibration("truth")
    shown = sorted(bar.get_height() for bar in below.patches)
    assert shown == sorted(table.filter(pl.col("forecast") > 0)["entries"].to_list())


def test_what_is_not_known_is_said(three):
    with pytest.raises(InputError, match="was not put to the test"):
        three.contest_scores("nobody")
    with pytest.raises(InputError, match="Metric 'log_loss' is not known"):
        three.differences(metric="log_loss")


def test_winners_are_counted_by_their_chance():
    """Bands against a loop over all entries: what was expected and what came, in each; all winners are counted."""
    contests = kn.read_contests(kn.matches.sample_contests(contests=50, entrants=30, size=11, seed=4))
    test = kn.backtest(contests, kn.RankElo(), train_until=contests.date[20])
    forecast, bands = test.forecasts["RankElo"], test.bands("RankElo")
    wins = bands.filter(event="win")
    assert wins["seen"].sum() == 30 and wins["expected"].sum() == pytest.approx(30.0, abs=1e-6)
    assert bands.filter(event="top 3")["seen"].sum() == 90
    for row in wins.to_dicts():
        own = [k for k, chance in enumerate(forecast.win) if row["low"] <= chance < row["high"]]
        assert row["entries"] == len(own)
        assert row["expected"] == pytest.approx(sum(forecast.win[k] for k in own))
        assert row["seen"] == sum(forecast.contests.place[k] == 1 for k in own)
        assert row["error"] == pytest.approx(sum(forecast.win[k] * (1 - forecast.win[k]) for k in own) ** 0.5)


def test_those_who_tie_for_a_place_share_it_in_bands_and_calibration():
    """Every contest has one winner and three on the podium, whoever ties: A and B share the first place of the first
    race, C, D and E the third of the second, and who did not finish has none, though two of three did not.
    """
    places = [1, 1, 3, 4, "DNF", 1, 2, 3, 3, 3, 1, "DNF", "DNF"]
    names = [*"ABCDE", *"ABCDE", *"ABC"]
    races = kn.read_contests({"race": [1] * 5 + [2] * 5 + [3] * 3, "driver": names, "place": places})
    forecast = kn.RankElo().update(races).predict(races)
    bands = place_bands(forecast)
    assert bands.filter(event="win")["seen"].sum() == 3.0
    assert bands.filter(event="top 3")["seen"].sum() == pytest.approx(7.0)
    table = place_calibration(forecast, bins=1).to_dict(as_series=False)
    assert table["frequency"] == pytest.approx([3 / 13, 7 / 13])


def test_the_order_forecast_is_that_of_the_medians_in_both_scores():
    """Where days may be off, who varies more has the higher mean and the lower median."""
    race = kn.read_contests({"race": [1, 1, 1], "driver": list("ABC"), "place": [1, 2, 3]})
    forecast = ContestForecast(race, np.array([0.0, 0.1, -2.0]), np.array([1.0, 2.0, 1.0]), off=0.4)
    assert forecast.middle[0] > forecast.middle[1] > forecast.middle[2]
    assert rank_deviation(forecast).tolist() == [0.0] and pairs_right(forecast).tolist() == [1.0]
    plain = ContestForecast(race, forecast.mean, forecast.deviation)
    assert rank_deviation(plain).tolist() == [2 / 9] and pairs_right(plain).tolist() == [2 / 3]


def test_bands_are_told_in_words_and_numbers():
    columns = {"event": ["win", "top 3"], "low": [0.005, 0.3], "high": [0.02, 1.0], "entries": [1200, 40]}
    bands = pl.DataFrame({**columns, "expected": [13.24, 21.0], "seen": [17.5, 19.0], "error": [3.56, 2.94]})
    table = place_bands_table(bands, "RankElo")
    assert table.cells() == [
        ["0.5 to 2 % to win", "1,200", "13.2 ± 3.6", "17.5"],
        ["30 to 100 % to be among the first three", "40", "21.0 ± 2.9", "19"],
    ]
    assert table.title == "What RankElo expected, and what came" and "one standard deviation" in table.below[0]
