"""Backtests look at nothing they should not know, and their scores are what textbooks say."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.errors import InputError
from kinelo.forecasts.scores import METRICS
from kinelo.matches.sample import sample_league
from kinelo.pictures.calibration import draw_calibration
from kinelo.pictures.style import picture_bytes


@pytest.fixture(scope="module")
def league():
    return sample_league(teams=8, seasons=4, seed=3)


@pytest.fixture(scope="module")
def matches(league):
    return kn.read_matches(league.results, lineups=league.lineups)


class Uniform:
    """The least a forecaster can be."""

    def fit(self, matches):
        self.fitted = len(matches)

    def one_step_ahead(self, matches):
        return kn.forecasts.Forecast.of(*np.full((3, len(matches)), 1 / 3))


def middle(matches):
    return str(matches.date[len(matches) // 2])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0.01, 1), st.integers(-1, 1)), min_size=1))
def test_scores_agree_with_loops(rows):
    p = np.array([row[:3] for row in rows])
    p /= p.sum(axis=1, keepdims=True)
    result = np.array([row[3] for row in rows], float)
    for k, s in enumerate(result):
        o = {1: (1, 0, 0), 0: (0, 1, 0), -1: (0, 0, 1)}[int(s)]
        plain = {
            "log_loss": -sum(a * np.log(b) for a, b in zip(o, p[k])),
            "brier": sum((b - a) ** 2 for a, b in zip(o, p[k])),
            "rps": ((p[k, 0] - o[0]) ** 2 + (p[k, 0] + p[k, 1] - o[0] - o[1]) ** 2) / 2,
            "accuracy": o[int(np.argmax(p[k]))],
        }
        for name, value in plain.items():
            assert METRICS[name](p, (1 + result) / 2)[k] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    "make", [kn.TeamElo, kn.Glicko, lambda: kn.KalmanElo(covariance="diagonal"), lambda: kn.PlayerElo(known="minutes")]
)
def test_no_forecast_knows_its_own_or_a_later_result(matches, make):
    """Turning all results from some match on around changes no forecast up to that match, and no parameter."""
    until, cut = middle(matches), len(matches) - 20
    result, margin = matches.result.copy(), matches.margin.copy()
    result[cut:] = 1 - result[cut:]
    margin[cut:] *= -1
    turned = kn.matches.Matches(
        matches.date, matches.home, matches.away, matches.teams, result, margin, matches.neutral, matches.weight,
        matches.row, matches.identifiers, matches.lineups,
    )  # fmt: skip
    (one,) = kn.backtest(matches, {"x": make()}, train_until=until).forecasts.values()
    (other,) = kn.backtest(turned, {"x": make()}, train_until=until).forecasts.values()
    start = len(matches.before(until))
    same = cut - start + 1
    np.testing.assert_array_equal(one.probabilities[:same], other.probabilities[:same])
    assert not np.array_equal(one.probabilities[same:], other.probabilities[same:])


def test_the_best_comes_first_whether_it_is_the_lowest_or_the_highest(matches):
    raters = {"nothing": Uniform(), "teams": kn.TeamElo(), "steep": kn.TeamElo.classic(k=200.0)}
    for metric, highest in (("accuracy", True), ("log_loss", False), ("brier", False), ("rps", False)):
        found = kn.backtest(matches, raters, train_until=middle(matches), metrics=[metric]).scores[metric].to_list()
        assert found == sorted(found, reverse=highest) and len(set(found)) == 3


def test_table_names_line_ups_and_sorts(matches):
    given_rater = kn.TeamElo()
    test = kn.backtest(
        matches,
        {"teams": given_rater, "after": kn.PlayerElo(known="minutes"), "nothing": Uniform()},
        train_until=middle(matches),
        metrics=["rps", "log_loss"],
    )
    assert test.scores.columns == ["rater", "line-up", "rps", "log_loss", "seconds"]
    assert test.scores["rps"].is_sorted()
    knowledge = dict(test.scores.select("rater", "line-up").iter_rows())
    assert knowledge == {"teams": "not used", "after": "after the match (minutes)", "nothing": "not used"}
    uniform = test.scores.filter(pl.col("rater") == "nothing")
    assert uniform["log_loss"][0] == pytest.approx(np.log(3))
    assert not given_rater.parameters_
    assert test.raters["nothing"].fitted == len(matches) - len(test.matches)


def test_intervals_of_differences_cover_and_shrink(matches):
    test = kn.backtest(matches, [kn.TeamElo(), Uniform()], train_until=middle(matches))
    gap = test.match_scores("Uniform") - test.match_scores("TeamElo")
    row = test.differences("TeamElo", resamples=1000).row(0, named=True)
    assert row["difference"] == pytest.approx(gap.mean())
    # The normal approximation: both ends within 15 % of 1.96 standard errors (1,000 draws give about 5 %).
    reach = 1.96 * gap.std() / np.sqrt(gap.size)
    assert row["high"] - row["difference"] == pytest.approx(reach, rel=0.15)
    assert row["difference"] - row["low"] == pytest.approx(reach, rel=0.15)
    assert test.differences("TeamElo", resamples=50).equals(test.differences("TeamElo", resamples=50))


def test_calibration_counts_every_forecast_once(matches):
    test = kn.backtest(matches, kn.TeamElo(), train_until=middle(matches))
    table = test.calibration("TeamElo", bins=5)
    counts = table.group_by("outcome").agg(pl.col("matches").sum())
    assert set(counts["matches"]) == {len(test.matches)}
    wins = table.filter(pl.col("outcome") == "home win")
    assert (wins["frequency"] * wins["matches"]).sum() == pytest.approx((test.matches.result == 1).sum())
    assert ((table["low"] <= table["forecast"]) & (table["forecast"] <= table["high"])).all()


def test_picture_of_calibration_is_drawn(matches):
    test = kn.backtest(matches, [kn.TeamElo(), Uniform()], train_until=middle(matches))
    figure = draw_calibration(test)
    assert picture_bytes(figure)[:4] == b"\x89PNG"
    assert [axes.get_title(loc="left").split("\n")[0] for axes in figure.axes[:2]] == list(test.scores["rater"])


def test_bad_input_is_one_sentence(matches):
    with pytest.raises(InputError, match="leaves 0 matches to fit"):
        kn.backtest(matches, kn.TeamElo(), train_until="1900-01-01")
    with pytest.raises(InputError, match="is not a date"):
        kn.backtest(matches, kn.TeamElo(), train_until="soon")
    with pytest.raises(InputError, match="Metric 'f1' is not known"):
        kn.backtest(matches, kn.TeamElo(), train_until=middle(matches), metrics=["f1"])
    with pytest.raises(InputError, match="no rater"):
        kn.backtest(matches, [], train_until=middle(matches))
    with pytest.raises(InputError, match="was not put to the test"):
        kn.backtest(matches, Uniform(), train_until=middle(matches)).calibration("TeamElo")

    class Broken(Uniform):
        def one_step_ahead(self, matches):
            return kn.forecasts.Forecast.of(*np.full((3, len(matches)), 0.5))

    with pytest.raises(InputError, match="sum to one"):
        kn.backtest(matches, Broken(), train_until=middle(matches))


def test_command_shows_the_table_and_writes_what_was_asked(league, tmp_path):
    league.results.write_csv(tmp_path / "results.csv")
    league.lineups.write_csv(tmp_path / "lineups.csv")
    arguments = ["backtest", str(tmp_path / "results.csv"), "--lineups", str(tmp_path / "lineups.csv")]
    arguments += ["--rater", "team", "--rater", "player"]
    arguments += ["--out", str(tmp_path / "scores.csv"), "--picture", str(tmp_path / "calibration.png")]
    ran = CliRunner().invoke(app, arguments, env={"COLUMNS": "160"}, catch_exceptions=False)
    assert ran.exit_code == 0
    assert "one step ahead" in ran.output and "before the match (starters)" in ran.output
    scores = pl.read_csv(tmp_path / "scores.csv")
    assert set(scores["rater"]) == {"TeamElo", "PlayerElo"}
    assert (tmp_path / "calibration.png").stat().st_size > 10_000


class Clairvoyant:
    """Knows the results: what a leak looks like."""

    def __init__(self, sure: float) -> None:
        self.sure = sure

    def fit(self, matches: kn.matches.Matches) -> "Clairvoyant":
        return self

    def one_step_ahead(self, matches: kn.matches.Matches) -> kn.forecasts.Forecast:
        won = matches.signed > 0
        rest = 1 - self.sure
        return kn.forecasts.Forecast.of(
            np.where(won, self.sure, rest), np.zeros(len(matches)), np.where(won, rest, self.sure)
        )


def decided(n: int) -> kn.matches.Matches:
    days = np.datetime64("2020-01-01") + np.arange(n)
    table = {
        "date": days,
        "home": ["A", "B"] * (n // 2),
        "away": ["B", "A"] * (n // 2),
        "home_score": [1, 0] * (n // 2),
    }
    return kn.read_matches(table | {"away_score": [0, 1] * (n // 2)})


def test_forecasts_too_good_to_be_true_are_doubted():
    matches = decided(400)
    with pytest.warns(kn.KineloWarning, match="too good to be true"):
        kn.backtest(matches, Clairvoyant(0.999), train_until=matches.date[200])
    good = kn.backtest(matches, Clairvoyant(0.9), train_until=matches.date[200])
    few = kn.backtest(matches, Clairvoyant(0.999), train_until=matches.date[310])
    assert len(few.matches) == 90
    assert good.forecasts["Clairvoyant"].to_polars()["home"].to_list() == ["A", "B"] * 100
    assert repr(good) == "Backtest of 200 matches by log_loss: Clairvoyant 0.1054"
    assert "<td>Clairvoyant</td>" in good._repr_html_()
    assert good.to_dict()["matches"] == 200
