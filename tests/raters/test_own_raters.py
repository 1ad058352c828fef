"""A rater of one's own, with nothing but fit and one_step_ahead (and a table to show), wherever raters go."""

import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.raters.choice import RATERS, rater_called, rater_help

runner = CliRunner()

COUNTER = '''
"""A rater that counts points."""
import numpy as np
import polars as pl
import kinelo as kn


class Counter:
    def __init__(self, bonus=0.0):
        self.bonus = bonus
        self.points, self.played = {}, {}

    def fit(self, matches):
        self.points, self.played = {}, {}
        self.one_step_ahead(matches)
        return self

    def one_step_ahead(self, matches):
        rows = []
        for k in range(len(matches)):
            home, away = matches.teams[matches.home[k]], matches.teams[matches.away[k]]
            a, b = self.points.get(home, 0.0) + 1, self.points.get(away, 0.0) + 1
            rows.append((0.8 * a / (a + b), 0.2, 0.8 * b / (a + b)))
            share = (matches.signed[k] + 1) / 2
            for name, part in ((home, share), (away, 1 - share)):
                self.points[name] = self.points.get(name, 0.0) + part + self.bonus
                self.played[name] = self.played.get(name, 0) + 1
        return kn.forecasts.Forecast(np.array(rows).reshape(-1, 3))

    @property
    def ratings_(self):
        names = sorted(self.points, key=lambda name: -self.points[name])
        rows = {"name": names, "rating": [self.points[n] for n in names], "matches": [self.played[n] for n in names]}
        return pl.DataFrame(rows, schema={"name": pl.String, "rating": pl.Float64, "matches": pl.Int64})
'''


@pytest.fixture
def counter(tmp_path, monkeypatch):
    """The module in a folder on the path, and its class."""
    (tmp_path / "my_counter.py").write_text(COUNTER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "my_counter", raising=False)
    import my_counter  # type: ignore[import-not-found]

    return my_counter.Counter


def league() -> kn.matches.Matches:
    return kn.read_matches(kn.sample_league(teams=6, seasons=2, seed=3).results)


def test_in_backtests_histories_and_leaderboards(counter):
    matches = league()
    test = kn.backtest(matches, [counter(), kn.TeamElo.classic()], train_until=matches.date[30])
    assert set(test.scores["rater"]) == {"Counter", "ClassicElo"}
    fitted = counter().fit(matches)
    board = kn.leaderboard(fitted, matches)
    assert board["rating"].is_sorted(descending=True) and board.height == 6
    assert board.columns == ["place", "name", "rating", "surely", "matches", "pool", "note"]


def test_on_the_command_line(counter, tmp_path):
    runner.invoke(app, ["sample", str(tmp_path / "l"), "--teams", "6", "--seasons", "2", "--seed", "3"])
    results = str(tmp_path / "l" / "results.csv")

    def run(*words):
        answer = runner.invoke(app, [*map(str, words)], catch_exceptions=False)
        assert answer.exit_code == 0, answer.output
        return answer.output

    assert "60 matches, Counter" in run("rate", results, "--rater", "my_counter:Counter")
    assert "Counter" in run("backtest", results, "--rater", "my_counter:Counter", "--rater", "team")
    with pytest.raises(kn.InputError, match="cannot forecast matches to come"):
        run("predict", "--results", results, "--rater", "my_counter:Counter", "--match", "Ashford - Calder")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere:Elo", "was not found"),
        ("kinelo.raters.team.rater:Elo", "was not found"),
        ("pathlib:Path", "lacks fit and one_step_ahead"),
        ("fifa", "choose one of team, player, kalman, glicko, glicko2"),
    ],
)
def test_raters_that_are_none(name, said):
    with pytest.raises(kn.InputError, match=said):
        rater_called(name)


def test_one_list_of_raters():
    for name, choice in RATERS.items():
        assert type(rater_called(name)).__name__ == choice.kind
        assert name in rater_help()
        assert choice.meaning
    for command in ("rate", "predict", "backtest", "why"):
        said = "".join(runner.invoke(app, [command, "--help"]).output.split())
        assert all(name in said for name in RATERS), command


def test_names_never_met_are_told_with_their_neighbours(tmp_path):
    runner.invoke(app, ["sample", str(tmp_path / "l"), "--teams", "6", "--seasons", "1", "--seed", "3"])
    said = runner.invoke(
        app,
        [
            "predict",
            "--results",
            str(tmp_path / "l" / "results.csv"),
            "--match",
            "Ashfrod - Zzyzx",
            "--rater",
            "glicko",
        ],
    ).output
    assert "Ashfrod has never played: it is forecast as a newcomer; did you mean Ashford?" in said
    assert "Zzyzx has never played: it is forecast as a newcomer\n" in said
