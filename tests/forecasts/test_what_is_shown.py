"""Tables and words of forecasts, backtests, seasons and cups, against numbers worked out by hand."""

import re

import numpy as np
import polars as pl
import pytest

import kinelo as kn

FIXTURES = {
    "date": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"],
    "home": ["A", "B", "C", "A"],
    "away": ["B", "C", "A", "C"],
    "neutral": [False, True, False, False],
    "match_id": ["w", "x", "y", "z"],
}
CHANCES = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.15, 0.05, 0.8], [0.7, 0.1, 0.2]])


class Given:
    """Says what it was given, match by match, and by names for cups."""

    def __init__(self, chances=CHANCES, duel=None):
        self.chances, self.duel = chances, duel

    def fit(self, matches):
        return self

    def predict(self, matches):
        if self.duel is None:
            return kn.forecasts.Forecast(self.chances)
        pairs = zip(matches.home, matches.away)
        return kn.forecasts.Forecast(np.array([self.duel(matches.teams[i], matches.teams[j]) for i, j in pairs]))

    def one_step_ahead(self, matches):
        return kn.forecasts.Forecast(self.chances[-len(matches) :])


def fixtures(results=None):
    table = FIXTURES if results is None else FIXTURES | {"result": results}
    return kn.read_matches(table, played=results is not None)


def test_a_forecast_says_home_draw_away_in_this_order():
    forecast = kn.forecasts.Forecast(CHANCES).about(fixtures())
    table = forecast.to_polars()
    assert table.columns == ["match_id", "date", "home", "away", "neutral", "home_win", "draw", "away_win", "points"]
    first, third = table.row(0, named=True), table.row(2, named=True)
    assert (first["home"], first["away"], first["home_win"], first["draw"], first["away_win"]) == (
        "A",
        "B",
        0.6,
        0.3,
        0.1,
    )
    assert (first["points"], third["points"]) == (pytest.approx(0.75), pytest.approx(0.175))
    assert (first["match_id"], first["neutral"], table["neutral"][1]) == ("w", False, True)
    said = ["A – B 0.600 / 0.300 / 0.100", "B – C 0.200 / 0.300 / 0.500", "C – A 0.150 / 0.050 / 0.800", "…"]
    assert repr(forecast) == f"Forecast of 4 matches: {'; '.join(said)}"
    cells = re.findall(r"<td.*?>(.*?)</td>", forecast._repr_html_())
    assert cells[9:18] == ["x", "2024-01-02", "B", "C", "True", "0.200", "0.300", "0.500", "0.350"]
    assert forecast.to_dict()["away_win"] == [0.1, 0.5, 0.8, 0.2]


def test_scores_and_their_differences_by_hand():
    """Results: home win, away win, draw; forecasts of two raters; the first match is used to fit."""
    played = fixtures([1.0, 1.0, 0.0, 0.5])
    bold = Given(CHANCES)
    even = Given(np.tile([0.4, 0.2, 0.4], (4, 1)))
    test = kn.backtest(
        played, {"bold": bold, "even": even}, train_until="2024-01-02", metrics=["accuracy", "log_loss", "brier", "rps"]
    )
    rows = {row["rater"]: row for row in test.scores.iter_rows(named=True)}
    assert rows["bold"]["log_loss"] == pytest.approx(-np.log([0.2, 0.8, 0.1]).mean())
    assert rows["even"]["log_loss"] == pytest.approx(-np.log([0.4, 0.4, 0.2]).mean())
    assert rows["bold"]["brier"] == pytest.approx(
        np.mean([0.64 + 0.09 + 0.25, 0.0225 + 0.0025 + 0.04, 0.49 + 0.81 + 0.04])
    )
    assert rows["bold"]["rps"] == pytest.approx(np.mean([0.64 + 0.25, 0.0225 + 0.04, 0.49 + 0.04]) / 2)
    assert rows["bold"]["accuracy"] == pytest.approx(1 / 3)  # of the three only the away win was thought likeliest
    assert test.scores["rater"].to_list() == sorted(rows, key=lambda name: -rows[name]["accuracy"])
    gap = test.differences("bold", metric="log_loss")
    assert gap["rater"].to_list() == ["even"]
    assert gap["difference"][0] == pytest.approx(rows["even"]["log_loss"] - rows["bold"]["log_loss"])


def test_a_calibration_table_by_hand():
    """Nine times four matches in five bins; home wins were said .6, .2, .15, .7, and the first and last happened."""
    table = {"home": ["A"] * 36, "away": ["B"] * 36, "result": [1.0, 0.0, 0.5, 1.0] * 9}
    said = kn.forecasts.Forecast(np.tile(CHANCES, (9, 1)))
    found = kn.forecasts.Backtest(kn.read_matches(table), {"it": said}, {}, {"it": 0.0}).calibration("it", bins=5)
    wins = found.filter(pl.col("outcome") == "home win")
    assert wins["forecast"].to_list() == pytest.approx([0.15, 0.2, 0.65])
    assert wins["matches"].to_list() == [9, 9, 18] and wins["frequency"].to_list() == [0.0, 0.0, 1.0]
    reach = 1.96 * np.sqrt((0.6 * 0.4 + 0.7 * 0.3) / 2 / 18)
    assert (wins["low"][2], wins["high"][2]) == (pytest.approx(0.65 - reach), pytest.approx(0.65 + reach))
    away = found.filter(pl.col("outcome") == "away win")
    assert away["forecast"].to_list() == pytest.approx([0.1, 0.2, 0.5, 0.8])
    assert away["frequency"].to_list() == [0.0, 0.0, 1.0, 0.0]


def test_a_season_is_played_by_the_forecasts():
    """20,000 seasons: mean points of a side are sure to .015; a right expectation misses once in 15,000 seeds."""
    rules = kn.forecasts.Rules(
        win=3, draw=1, loss=0, tie_breaks=["wins"], places={"first": (1, 1), "last two": (-2, -1)}
    )
    found = kn.season(Given(), fixtures(), rules=rules, realisations=20_000)
    (h1, d1, a1), (h2, d2, a2), (h3, d3, a3), (h4, d4, a4) = CHANCES
    expected = {
        "A": 3 * h1 + d1 + 3 * a3 + d3 + 3 * h4 + d4,
        "B": 3 * a1 + d1 + 3 * h2 + d2,
        "C": 3 * a2 + d2 + 3 * h3 + d3 + 3 * a4 + d4,
    }
    table = {row["name"]: row for row in found.to_polars().iter_rows(named=True)}
    assert {name: row["points"] for name, row in table.items()} == pytest.approx(expected, abs=0.06)
    for k, name in enumerate(found.names):
        points, places = np.sort(found.points[:, k]), found.positions[:, k]
        assert (table[name]["low"], table[name]["high"]) == (points[2000], points[18_000])
        assert table[name]["place"] == pytest.approx(places.mean())
        assert table[name]["first"] == pytest.approx((places == 1).mean())
        assert table[name]["last two"] == pytest.approx((places >= 2).mean())
        for place in (1, 2, 3):
            assert found.place_chances()[str(place)][k] == pytest.approx((places == place).mean())
    assert found.to_polars()["name"].to_list() == sorted(table, key=lambda name: table[name]["place"])
    ahead = f"mean place {table['A']['place']:.1f}, first {100 * table['A']['first']:.1f} %"
    assert repr(found) == f"Season of 3 sides, played 20,000 times. Ahead on average: A, {ahead}"


def test_what_has_been_played_counts_as_it_ended():
    rules = kn.forecasts.Rules(win=3, draw=1, loss=0, tie_breaks=["wins"])
    found = kn.season(Given(), fixtures([0.0, 0.5, 1.0, 0.0]), rules=rules, realisations=5)
    assert dict(zip(found.names, found.points[0])) == {"A": 0.0, "B": 4.0, "C": 7.0}
    assert found.to_polars()["name"].to_list() == ["C", "B", "A"]


def test_a_cup_is_won_by_the_product_of_its_duels():
    """Duels without draws by hand; 20,000 cups are sure to .0035."""
    strength = {"A": 8.0, "B": 4.0, "C": 2.0, "D": 1.0}

    def duel(home, away):
        share = 0.8 * strength[home] / (strength[home] + strength[away])
        return share, 0.2, 0.8 - share

    def beats(one, other):
        return strength[one] / (strength[one] + strength[other])

    cup = kn.knockout(Given(duel=duel), ["A", "C", "D", "B"], date="2024-06-01", realisations=20_000)
    table = {row["name"]: row for row in cup.to_polars().iter_rows(named=True)}
    assert table["A"]["round_1"] == pytest.approx(beats("A", "C"), abs=0.014)
    assert table["D"]["round_1"] == pytest.approx(beats("D", "B"), abs=0.014)
    wins = beats("A", "C") * (beats("D", "B") * beats("A", "D") + beats("B", "D") * beats("A", "B"))
    assert table["A"]["title"] == pytest.approx(wins, abs=0.014)
    assert (
        cup.to_polars()["name"][0] == "A" and repr(cup) == f"Knockout of 4 sides: A wins with {table['A']['title']:.3f}"
    )


def test_a_forecast_of_no_named_matches_is_shown_by_its_chances():
    short, long = (kn.forecasts.Forecast(np.tile(CHANCES, (times, 1)))._repr_html_() for times in (1, 100))
    assert short.count("0.600") == 1 and "more" not in short
    assert f"and {400 - 4 * long.count('0.600')} more" in long and 1 < long.count("0.600") < 100
    assert (
        repr(kn.forecasts.Forecast(CHANCES[:2]))
        == "Forecast of 2 matches: 0.600 / 0.300 / 0.100; 0.200 / 0.300 / 0.500"
    )
    with pytest.raises(kn.InputError) as refused:
        kn.forecasts.Forecast(CHANCES[:, :2], unknown=["A"])
    assert str(refused.value) == (
        "A forecast is an array of rows (home win, draw, away win) and a tuple of unknown names, not shape (4, 2) "
        "and list."
    )
