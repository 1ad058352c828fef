"""``--condition`` and ``--start``, on every command that rates a file of results."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.audit import compared_raters
from kinelo.cli.commands import app
from kinelo.cli.options import ReadingOptions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A hundred matches of four sides, each of which is far better on one of two surfaces."""
    folder = tmp_path_factory.mktemp("tour")
    rng = np.random.default_rng(4)
    n = 100
    home = rng.integers(0, 4, n)
    away = (home + rng.integers(1, 4, n)) % 4
    grass = rng.random(n) < 0.5
    better = np.array([1, -1, 1, -1])
    edge = (better[home] - better[away]) * np.where(grass, 1, -1) + rng.normal(0, 0.8, n)
    names = np.array(["Ada", "Bea", "Cleo", "Dora"])
    table = pl.DataFrame(
        {
            "date": np.datetime64("2023-01-01") + 2 * np.arange(n),
            "home": names[home],
            "away": names[away],
            "result": np.where(edge > 0, 1, 0),
            "neutral": [True] * n,
            "surface": np.where(grass, "grass", "clay"),
        }
    )
    table.write_csv(folder / "results.csv")
    fixtures = {"date": ["2024-01-01"] * 2, "home": ["Ada"] * 2, "away": ["Bea"] * 2, "surface": ["grass", "clay"]}
    pl.DataFrame(fixtures).write_csv(folder / "fixtures.csv")
    pl.DataFrame({"name": names, "rating": [1900, 1500, 1500, 1500]}).write_csv(folder / "start.csv")
    return folder


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def commands(folder):
    results, fixtures = folder / "results.csv", folder / "fixtures.csv"
    return {
        "rate": ["rate", results],
        "predict": ["predict", fixtures, "--results", results],
        "backtest": ["backtest", results, "--metric", "log_loss"],
        "season": [
            "season",
            results,
            fixtures,
            "--season-start",
            "none",
            "--realisations",
            50,
            "--relegated",
            0,
            "--tie-break",
            "wins",
        ],
    }


COMMANDS = ("rate", "predict", "backtest", "season")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("rater", ["glicko", "glicko2", "bradley-terry"])
def test_raters_without_conditions_say_so(command, rater, folder):
    said = run(*commands(folder)[command], "--rater", rater, "--condition", "surface")
    assert isinstance(said.exception, kn.InputError)
    assert "uses no conditions of matches; leave out --condition, or choose team, player or kalman" in str(
        said.exception
    )


def test_rating_and_forecasts_heed_the_surface(folder, tmp_path):
    said = run("rate", folder / "results.csv", "--condition", "surface")
    assert said.exit_code == 0 and "Spread by surface" in said.output
    team = ["--rater", "team"]
    said = run("rate", folder / "results.csv", "--condition", "surface", "--book", tmp_path / "book", *team)
    assert said.exit_code == 0 and "100 new matches" in said.output
    words = commands(folder)["predict"]
    apart = []
    for number, more in enumerate((["--condition", "surface"], [])):
        out = tmp_path / f"{number}.csv"
        assert run(*words, *more, "--out", out, *team).exit_code == 0
        apart.append(np.ptp(pl.read_csv(out)["home_win"].to_numpy()))
    assert apart[0] > 0.3 and apart[1] == 0.0
    out = tmp_path / "kept.csv"  # a book knows which columns its rater heeds
    assert run("predict", folder / "fixtures.csv", "--book", tmp_path / "book", "--out", out).exit_code == 0
    assert np.ptp(pl.read_csv(out)["home_win"].to_numpy()) == pytest.approx(apart[0], abs=1e-12)
    again = run("rate", folder / "results.csv", "--book", tmp_path / "book")
    assert again.exit_code == 0 and "100 counted before" in again.output
    told = run("predict", "--match", "Ada - Bea", "--book", tmp_path / "book")
    assert told.exit_code == 0 and "--match says nothing of surface" in told.output
    for words in ([tmp_path / "book"], [folder / "results.csv", "--book", tmp_path / "book"]):
        for option, value in (("--condition", "round"), ("--start", folder / "start.csv")):
            refused = run("rate", *words, option, value)
            assert isinstance(refused.exception, kn.InputError) and f"leave out {option}" in str(refused.exception)


def test_leaderboards_backtests_and_seasons_heed_the_surface(folder, tmp_path):
    boards = [run(*commands(folder)["rate"], "--json", *more) for more in ([], ["--condition", "surface"])]
    ratings = [{row["name"]: row["rating"] for row in json.loads(said.stdout)["leaderboard"]} for said in boards]
    assert ratings[0].keys() == ratings[1].keys() and ratings[0] != ratings[1]
    losses = []
    for number, more in enumerate(([], ["--condition", "surface"])):
        out = tmp_path / f"{number}.csv"
        words = [*commands(folder)["backtest"], "--rater", "team", "--out", out, *more]
        assert run(*words).exit_code == 0
        losses.append(pl.read_csv(out)["log_loss"][0])
    assert losses[1] < losses[0] - 0.05
    one, other = (
        json.loads(run(*commands(folder)["season"], "--rater", "team", "--json", *more).stdout)
        for more in ([], ["--condition", "surface"])
    )
    assert one != other


@pytest.fixture(scope="module")
def lucky_folder(tmp_path_factory):
    """Four hundred matches of four sides, of which the better one wins on grass, and either on clay."""
    folder = tmp_path_factory.mktemp("luck")
    rng = np.random.default_rng(9)
    n = 400
    home = rng.integers(0, 4, n)
    away = (home + rng.integers(1, 4, n)) % 4
    grass = rng.random(n) < 0.6
    won = np.where(grass, away - home + rng.normal(0, 0.8, n), rng.normal(0, 1.0, n)) > 0
    names = np.array(["Ada", "Bea", "Cleo", "Dora"])
    day = np.datetime64("2021-01-01") + 2 * np.arange(n)
    surface = np.where(grass, "grass", "clay")
    table = {"date": day, "home": names[home], "away": names[away], "result": won.astype(int), "surface": surface}
    pl.DataFrame(table | {"neutral": [True] * n}).write_csv(folder / "results.csv")
    fixtures = {"date": ["2024-01-01"] * 2, "home": ["Ada"] * 2, "away": ["Bea"] * 2, "surface": ["grass", "clay"]}
    pl.DataFrame(fixtures).write_csv(folder / "fixtures.csv")
    return folder


def test_luck_may_depend_on_a_column_by_every_command(lucky_folder, tmp_path):
    """The book, and what is forecast with it, know the factors that the rater of the same matches finds."""
    folder = lucky_folder
    luck = ["--noise-by", "surface", "--rater", "team"]
    matches = kn.read_matches(folder / "results.csv", conditions=["surface"])
    rater = kn.TeamElo(noise_by=["surface"]).fit(matches)
    said = run(*commands(folder)["rate"], *luck, "--book", tmp_path / "book")
    assert said.exit_code == 0 and "Luck by" in said.output and "surface" in said.output
    told = json.loads(run(*commands(folder)["rate"], *luck, "--json").stdout)
    assert told["noise_factors"] == rater.noise_factors_.to_dicts()
    coming = kn.read_matches(folder / "fixtures.csv", played=False, conditions=["surface"])
    wanted = rater.predict(coming).probabilities[:, 0]
    assert wanted[0] > wanted[1] + 0.05
    for number, words in enumerate((["--results", folder / "results.csv", *luck], ["--book", tmp_path / "book"])):
        out = tmp_path / f"{number}.csv"
        assert run("predict", folder / "fixtures.csv", *words, "--out", out).exit_code == 0
        assert pl.read_csv(out)["home_win"].to_numpy() == pytest.approx(wanted, abs=1e-6)
        sides = f"{matches.teams[0]} - {matches.teams[1]}"
        never = run("predict", "--match", sides, *words[:2], *luck[2:], "--noise-by", "surface=gravel")
        assert never.exit_code == 0 and "note: 'gravel' is no 'surface' that was met (" in never.output
        table = pl.read_csv(folder / "fixtures.csv").with_columns(surface=pl.Series(["sand"] * len(coming)))
        table.write_csv(tmp_path / "sand.csv")
        never = run("predict", tmp_path / "sand.csv", *words)
        assert never.exit_code == 0 and never.output.count("note: 'sand' is no 'surface' that was met (") == 1
    for command in ("backtest", "rate", "season"):
        with_luck, plain = (run(*commands(folder)[command], "--json", *more) for more in (luck, luck[2:]))
        assert with_luck.exit_code == 0 and with_luck.stdout != plain.stdout
    told = json.loads(run(*commands(folder)["rate"], *luck[:3], "glicko2", "--json").stdout)
    assert told["noise_factors"] == kn.Glicko2(noise_by=["surface"]).fit(matches).noise_factors_.to_dicts()
    refused = run(*commands(folder)["rate"], *luck[:3], "bradley-terry")
    assert "uses no conditions of matches for its noise; leave out --noise-by" in str(refused.exception)


def test_a_backtest_leaves_out_with_a_word_who_lacks_what_is_asked(folder, capsys):
    matches = kn.read_matches(folder / "results.csv", conditions=["surface"])
    chosen = compared_raters(matches, None, ReadingOptions(start=folder / "start.csv", condition=["surface"]))
    assert list(chosen) == ["TeamElo", "KalmanElo"]
    assert all(rater.conditions == ["surface"] for rater in chosen.values())
    assert all(rater.start == folder / "start.csv" for rater in chosen.values())
    assert capsys.readouterr().err.splitlines() == [
        "note: Glicko takes no conditions and is left out",
        "note: Glicko2 takes no conditions and is left out",
        "note: BradleyTerry takes no conditions and no start and is left out",
    ]
    some = compared_raters(matches, ["glicko", "kalman"], ReadingOptions(condition=["surface"]))
    assert list(some) == ["KalmanElo"]
    assert capsys.readouterr().err == "note: Glicko takes no conditions and is left out\n"


def test_leaderboards_and_backtests_begin_with_given_ratings(folder, tmp_path):
    plain, begun = (
        {
            row["name"]: row["rating"]
            for row in json.loads(run(*commands(folder)["rate"], "--json", *more).stdout)["leaderboard"]
        }
        for more in ([], ["--start", folder / "start.csv"])
    )
    assert begun["Ada"] > plain["Ada"] + 20
    scores = []
    for number, more in enumerate(([], ["--start", folder / "start.csv"])):
        out = tmp_path / f"{number}.csv"
        assert run(*commands(folder)["backtest"], "--rater", "team", "--out", out, *more).exit_code == 0
        scores.append(pl.read_csv(out)["log_loss"][0])
    assert scores[0] != scores[1]


def test_a_typed_match_says_its_level(folder):
    """One forecast by a file of fixtures and by a match that is typed, under each surface."""
    words = ["--results", folder / "results.csv", "--rater", "team", "--json"]
    rater = kn.TeamElo(conditions=["surface"]).fit(kn.read_matches(folder / "results.csv", conditions=["surface"]))
    wins = []
    for level in ("grass", "clay"):
        typed = run("predict", "--match", "Ada - Bea", "--neutral", *words, "--condition", f"surface={level}")
        wins.append(json.loads(typed.stdout)["forecasts"][0]["home_win"])
        coming = kn.read_matches(
            {"home": ["Ada"], "away": ["Bea"], "neutral": [True], "surface": [level]},
            played=False, conditions=["surface"],
        )  # fmt: skip
        assert wins[-1] == pytest.approx(rater.predict(coming).probabilities[0, 0], abs=1e-9)
    assert wins[0] > wins[1] + 0.1
    refused = run("predict", "--match", "Ada - Bea", *words, "--condition", "=grass")
    assert "and for a --match its level" in str(refused.exception)
