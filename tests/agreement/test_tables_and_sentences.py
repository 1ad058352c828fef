"""A number stands under its own heading, in its own order, and is what the other doors to it say."""

import json
from statistics import NormalDist

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.forecasts.knockout import Knockout, knockout_table
from kinelo.forecasts.season import Rules, rules_words
from kinelo.matches.day_order import parts_of
from kinelo.raters.noise import NoiseFactors
from leagues import match_league

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
START = {"Ann": 1700.0, "Bob": 1590.0, "Cid": 1500.0, "Dee": 1350.0}


def plain() -> kn.raters.Rater:
    return kn.TeamElo.classic(k=20, home_advantage=80.0, start=START)


def under(table, heading: str, row: int = 0) -> str:
    """The cell below a heading."""
    [column] = [k for k, one in enumerate(table.columns) if one.label == heading]
    return table.cells()[row][column]


def test_a_preview_stands_under_its_outcome():
    seen = kn.preview(plain(), "Ann", "Bob")
    for row, name in enumerate(("Ann", "Bob")):
        for heading, outcome in (("First wins", "win"), ("Draw", "draw"), ("First loses", "loss")):
            assert under(seen.table(), heading, row) == f"{seen.changes(name)[outcome]:+.1f}"
    assert seen.changes("Ann")["win"] > 0 > seen.changes("Ann")["loss"]


def test_what_was_expected_of_both_sides_adds_up():
    table = {"home": ["Ann", "Bob"], "away": ["Bob", "Cid"], "result": [0.5, 0], "match_id": ["x", "y"]}
    rater = plain().fit(kn.read_matches(table))
    for match, (host, guest) in (("x", ("Ann", "Bob")), ("y", ("Bob", "Cid"))):
        reasons = kn.explain(rater, match).reasons
        assert reasons[host].expected + reasons[guest].expected == pytest.approx(1)
        assert reasons[host].score + reasons[guest].score == 1
        assert reasons[host].expected > 0.6
        assert f"score {reasons[guest].score:g}, expected {reasons[guest].expected:.2f}" in reasons[guest].sentence()


def test_fair_teams_play_on_neutral_ground_and_stand_under_their_headings():
    rater = plain()
    split = kn.balance(rater, ["Ann", "Dee"]).best
    forecast = rater.predict_one("Ann", "Dee", neutral=True)
    assert split.chances == pytest.approx(tuple(forecast.probabilities[0]))
    assert split.quality == pytest.approx(kn.match_quality(rater, "Ann", "Dee", neutral=True))
    table = kn.balance(rater, ["Ann", "Dee"]).table()
    shown = [under(table, heading) for heading in ("First wins", "Draw", "Second wins")]
    assert [float(cell.rstrip(" %")) for cell in shown] == pytest.approx([100 * p for p in split.chances], abs=0.51)
    assert under(table, "Side 1") == "Ann" and split.chances[0] > 0.6 > split.chances[2]


def test_the_day_of_fair_teams_reaches_them_from_the_command_line(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.Glicko(deviation=250.0, growth=20.0, home_advantage=0.0, ties=0.4))
    book.add(kn.read_matches(match_league(2).results.drop("surface"), ordered=True))
    names = book.ratings_["name"].to_list()[:5]
    answers = []
    for date in (str(book.matches().date[-1]), "2031-05-01"):
        words = [
            "predict",
            "--balance",
            "; ".join(names),
            "--book",
            str(tmp_path / "book.db"),
            "--date",
            date,
            "--json",
        ]
        said = json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)
        assert said["splits"] == json.loads(json.dumps(kn.balance(book, names, date=date).to_dict()))["splits"]
        answers.append(said["splits"][0]["quality"])
    assert answers[0] > answers[1] + 1e-3


def test_a_cup_stands_in_the_order_of_its_winners():
    """Who wins the first round most often is not who wins the cup."""
    cup = Knockout(("A", "B", "C", "D"), np.array([[0.9, 0.2], [0.1, 0.05], [0.55, 0.5], [0.45, 0.25]]))
    assert cup.to_polars()["name"].to_list() == ["C", "D", "A", "B"]
    table = knockout_table(cup)
    assert [row[0] for row in table.cells()] == ["C", "D", "A", "B"]
    assert [under(table, heading, 2) for heading in ("Final", "Wins it")] == ["90.0 %", "20.0 %"]


@pytest.mark.parametrize("relegated", [1, 2, 4])
def test_as_many_go_down_as_is_said(relegated):
    rules = Rules(places={"title": (1, 1), "relegation": (-relegated, -1)})
    season = kn.forecasts.season.Season(
        tuple("ABCDEF"), np.arange(12.0).reshape(2, 6), np.array([[1, 2, 3, 4, 5, 6], [2, 1, 3, 5, 4, 6]]), rules
    )
    down = round(float(season.chance("relegation").sum()))
    words = "the last of 6 goes down" if relegated == 1 else f"the last {down} of 6 go down"
    assert down == relegated and rules_words(rules, 6).endswith(f"; {words}.")


def test_those_level_on_a_list_stand_in_the_order_of_their_names():
    start = {"Zoe": 2000, "Amy": 2000, "Mia": 2000, "Bea": 2100}
    games = {"date": ["2024-05-04"], "home": ["Bea"], "away": ["Zoe"], "result": [1]}
    rater = kn.FideElo(start=start).fit(kn.read_matches(games))
    names = rater.ratings_["name"].to_list()
    assert names[:3] == ["Bea", "Amy", "Mia"] and [row[1] for row in rater._list_table().cells()] == names
    assert rater.list_on("2024-05-10")["name"].to_list() == ["Bea", "Amy", "Mia", "Zoe"]


def test_the_noise_of_one_match_is_that_of_a_table_and_its_interval_holds_four_fifths():
    keys = [("format", "long"), ("ground", "wet"), ("ground", "dry")]
    log, error = np.array([0.3, -0.5, 0.1]), np.array([0.05, 0.02, 0.1])
    factors = NoiseFactors({key: k for k, key in enumerate(keys)}, log, error, np.array([3, 4, 5]))
    table = {"home": ["A", "B", "A", "B"], "away": ["B", "A", "B", "A"], "result": [1, 0, 1, 0.5],
             "format": ["long", "short", "long", ""], "ground": ["wet", "dry", "", "wet"]}  # fmt: skip
    columns = ("format", "ground")
    matches = kn.read_matches(table, conditions=list(columns))
    expected = np.exp([0.3 - 0.5, 0.1, 0.3, -0.5]).tolist()
    assert factors.of(matches, columns).tolist() == pytest.approx(expected)
    for row, factor in zip(zip(table["format"], table["ground"]), expected):
        assert factors.of_one(dict(zip(columns, row)), columns) == pytest.approx(factor)
    reach = NormalDist().inv_cdf(0.9) * error
    shown = factors.table()
    for name, wanted in (("low", log - reach), ("factor", log), ("high", log + reach)):
        assert np.log(shown[name].to_list()) == pytest.approx(wanted, abs=1e-9)
    assert NoiseFactors.from_rows(factors.to_rows()).table().equals(shown)
    assert NoiseFactors.from_arrays(factors.to_arrays()).table().equals(shown)


def test_days_without_an_order_are_parts_and_names_of_each_part_are_told():
    """One step ahead as in a forecast: a name of an earlier part alone is told as well."""
    table = {"date": ["2024-01-01"] * 2 + ["2024-01-08"] * 3 + ["2024-01-10"] + ["2024-01-15"] * 2,
             "home": list("ABXABAAB"), "away": list("BAABXBBA"), "result": [1, 0.5, 0, 1, 1, 1, 0, 0.5]}  # fmt: skip
    matches = kn.read_matches(table)
    parts = [(len(part), as_whole) for part, as_whole in parts_of(matches)]
    assert parts == [(2, True), (3, True), (1, False), (2, True)]
    for rater in (kn.TeamElo.classic(k=24), kn.BradleyTerry(ridge=0.05, refit_days=0.0)):
        rater.fit(matches[:2])
        assert rater.predict(matches[2:]).unknown == rater.one_step_ahead(matches[2:]).unknown == ("X",)


def test_aliases_reach_contests_that_are_typed(tmp_path):
    races = {"race": ["1"] * 3 + ["2"] * 3, "driver": ["Ann", "Bob", "Cid", "Bob", "Anne", "Cid"],
             "place": [1, 2, 3, 1, 2, 3]}  # fmt: skip
    (tmp_path / "races.csv").write_text(
        "\n".join(",".join(map(str, row)) for row in [[*races], *zip(*races.values())]) + "\n"
    )
    (tmp_path / "aliases.csv").write_text("found,wanted\nAnne,Ann\n")

    reading = ["read", str(tmp_path / "races.csv"), "--aliases", str(tmp_path / "aliases.csv")]
    assert CliRunner().invoke(app, reading).exit_code == 0

    def predict(typed: str):
        words = ["predict", "--results", tmp_path / "races.csv", "--match", typed]
        return json.loads(CliRunner().invoke(app, [*map(str, words), "--json"], catch_exceptions=False).stdout)

    named = kn.read_contests(tmp_path / "races.csv", aliases=tmp_path / "aliases.csv")
    assert named.entrants == named.slots["driver"].names == ("Ann", "Bob", "Cid")
    assert predict("Anne; Cid; Bob") == predict("Ann; Cid; Bob") and predict("Anne; Cid")["unknown"] == []
