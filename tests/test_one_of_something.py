"""One of something is not said as several: sentences of the smallest results, word by word, and those of two."""

from __future__ import annotations

import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.book.milestones import SeasonTrial
from kinelo.book.refitting import Refit
from kinelo.book.tiers import MovedByLuck
from kinelo.cli import app
from kinelo.cli.rate import _refit_words
from kinelo.decisions.judging import judge_lines
from kinelo.decisions.queueing import Policy, QueueTrial
from kinelo.decisions.wrong_ratings import watch_lines


def league(n: int) -> dict:
    return {"date": [f"2024-03-{k + 1:02}" for k in range(n)], "home": ["Ann"] * n, "away": ["Bob"] * n,
            "home_score": [k + 2 for k in range(n)], "away_score": [1] * n}  # fmt: skip


def stopped(n: int) -> str:
    stop = kn.Elimination(["Ann", "Bob"])
    for _ in range(n):
        stop = stop.update("Ann", "Bob", "win")
    return f"{stop!r} {stop.lines()[0]}"


def trial(lobbies: int, minutes: float, players: int) -> str:
    policy = Policy("ours", lobbies, 12.0, 30.0, 0.9, 0.6, 0)
    return QueueTrial((policy, policy), minutes, players).lines()[0]


def season(n: float) -> str:
    return " ".join(SeasonTrial(0.3, 0.0, (), (n, n), (0.98, 0.97), (0.1, 0.2), n, 0.6, "matches").lines())


def watched(n: int) -> str:
    row = {"name": "Ann", "points": 120.0, "scored": float(n), "matches": n, "expected": 0.4, "evidence": 50.0}
    return watch_lines(pl.DataFrame(row | {"named": True}))[0]


def judged(n: int) -> str:
    row = {"judge": "Cid", "answers": "the first", "votes": n, "first": 1.0, "evidence": 50.0, "named": True}
    return judge_lines(pl.DataFrame(row))[0] + judge_lines(pl.DataFrame([row | {"named": False}] * n))[0]


ONE_AND_TWO = {
    "matches decided by elimination": (stopped, "after 1 match ", "after 1 match; ", "after 2 matches ", "2 matches; "),
    "matches watched": (watched, "points of 1 match, where", "", "points of 2 matches, where", ""),
    "votes and judges": (judged, "of 1 vote 100 %", "Of 1 judge none", "of 2 votes 100 %", "Of 2 judges none"),
    "matches of a season": (
        season, "(.99) after 1 match each.", "the first 1 match each", "(.99) after 2 matches each.", "2 matches each",
    ),
    "days since the tiers": (
        lambda n: MovedByLuck(0.5, 0.25, 8, n, 20).lines()[0], "in the last 1 day, 50%", "", "the last 2 days, 50%", "",
    ),
    "players and minutes": (
        lambda n: trial(1, n, n), "Of 1 player in a minute: ", "", "Of 2 players in 2 minutes: ", "",
    ),
    "matches learnt from": (
        lambda n: _refit_words(Refit(1, "2024-05-01", n, {"step": 20.0}, {"step": 24.5}, 0.61, 0.6), "matches"),
        "Learnt from 1 match up to 2024-05-01, and all ratings computed again: log-loss of their forecasts 0.6100 → "
        "0.6000, on matches that chose the parameters.\nstep 20 → 24.5",
        "", "Learnt from 2 matches up to 2024-05-01,", "",
    ),
    "too few players": (
        lambda n: trial(0, n, n), "1 player in a minute is too few for a lobby.", "",
        "2 players in 2 minutes are too few for a lobby.", "",
    ),
    "rows of a table": (
        lambda n: repr(kn.TeamElo.classic(k=20, start=pl.DataFrame({"name": ["Ann", "Bob"][:n], "rating": [1.0] * n}))),
        "start=<1 row>", "", "start=<2 rows>", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ONE_AND_TWO)
def test_one_is_one_and_two_are_two(case):
    shown, *ones, two, more = ONE_AND_TWO[case]
    first, second = shown(1), shown(2)
    assert all(words in first for words in ones), first
    assert two in second and more in second, second


@pytest.mark.parametrize(
    ("n", "said"), [(1, "1 match of 1 file, 2 names, ClassicElo"), (2, "2 matches of 1 file, 2 names, Cl")]
)
def test_a_board_of_files_counts_what_it_read(n, said, tmp_path):
    pl.DataFrame(league(n)).write_csv(tmp_path / "a.csv")
    answer = CliRunner().invoke(app, ["rate", str(tmp_path / "*.csv"), "--k", "20"])
    assert answer.exit_code == 0 and said in answer.output, answer.output
