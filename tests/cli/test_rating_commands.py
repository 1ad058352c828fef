"""kinelo sample, rate and predict as a user runs them."""

import re
import sys

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app, main

runner = CliRunner()


@pytest.fixture(scope="module")
def league(tmp_path_factory):
    folder = tmp_path_factory.mktemp("league")
    answer = runner.invoke(app, ["sample", str(folder), "--teams", "6", "--seasons", "2", "--seed", "3"])
    assert answer.exit_code == 0
    return folder


def run(*words) -> str:
    answer = runner.invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.output


def refused(monkeypatch, capsys, *words) -> str:
    """What the program says on its error stream when it refuses with exit code 2."""
    monkeypatch.setattr(sys, "argv", ["kinelo", *(str(word) for word in words)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


def test_rate_writes_ratings_rejects_and_a_picture(league, tmp_path):
    dirty = tmp_path / "dirty.csv"
    dirty.write_text((league / "results.csv").read_text() + "X1,2030-01-01,Ashford,Ashford,1,0\n")
    out, rejects, picture = (tmp_path / name for name in ("ratings.csv", "rejects.csv", "h.png"))
    said = run("rate", dirty, "--out", out, "--rejects", rejects, "--picture", picture, "--top", 3)
    assert "60 matches, KalmanElo" in said and "and 3 more" in said and re.search(r"Noise +│ +\d", said)
    assert "Learnt from these matches" in said
    assert not re.search(r"\.\.$", said, re.M)
    assert "Rater chosen on the earlier matches: KalmanElo, with log-loss" in said
    assert "1 row set aside (a side against itself: 1)" in said
    assert pl.read_csv(out).columns == ["name", "rating", "uncertainty", "home", "matches", "last_played"]
    assert pl.read_csv(rejects).rows() == [("matches", 61, "a side against itself", "")]
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("rater", ["glicko", "glicko2"])
def test_rate_with_other_raters(league, rater):
    assert "60 matches, Glicko" in run("rate", league / "results.csv", "--rater", rater)


def test_a_book_is_carried_on(league, tmp_path):
    book, part = tmp_path / "book", tmp_path / "part.csv"
    lines = (league / "results.csv").read_text().splitlines(keepends=True)
    part.write_text("".join(lines[:41]))
    assert "40 new matches" in run("rate", part, "--book", book)
    assert "20 new matches, 40 counted before, 60 in all" in run("rate", league / "results.csv", "--book", book)
    said = run("predict", "--book", book, "--match", "Ashford - Nowhere")
    assert "Nowhere has never played" in said and "Home win" in said


def test_a_match_is_taken_out_of_a_book(league, tmp_path, monkeypatch, capsys):
    book = tmp_path / "book"
    run("rate", league / "results.csv", "--book", book, "--rater", "glicko")
    name = pl.read_csv(league / "results.csv")["match_id"][7]
    said = run("book", book, "--remove", name)
    assert "1 taken out" in said and "59 matches, 2021-08-07 to" in said and "rated by Glicko()" in said
    assert "holds no match" in refused(monkeypatch, capsys, "book", book, "--remove", name)
    assert "1 new match, 59 counted before" in run("rate", league / "results.csv", "--book", book)
    assert "There is no rating book" in refused(monkeypatch, capsys, "book", tmp_path / "none")


def test_predict_writes_forecasts_that_sum_to_one(league, tmp_path):
    fixtures, out = tmp_path / "fixtures.csv", tmp_path / "f.csv"
    fixtures.write_text("date,home_team,away_team\n2024-09-01,Ashford,Bramley\n2024-09-01,Calder,Dunmore\n")
    run("predict", fixtures, "--results", league / "results.csv", "--out", out)
    table = pl.read_csv(out)
    assert table.select(pl.sum_horizontal("home_win", "draw", "away_win")).to_series().to_list() == pytest.approx(
        [1, 1]
    )
    assert table["date"].to_list() == ["2024-09-01"] * 2


def test_columns_can_be_named(league, tmp_path):
    renamed = tmp_path / "renamed.csv"
    renamed.write_text((league / "results.csv").read_text().replace("home_team", "gastgeber", 1))
    assert "60 matches" in run("rate", renamed, "--column", "home=gastgeber")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rate", "nothing.csv"), "There is no file nothing.csv"),
        (("rate", "RESULTS", "--rater", "fifa"), "There is no rater 'fifa'"),
        (("rate", "RESULTS", "--column", "home"), "is not of the form NAME=COLUMN"),
        (("predict", "--match", "A - B"), "either --book BOOK or --results FILE"),
        (("predict", "--results", "RESULTS"), "Say what to forecast"),
        (("predict", "--results", "RESULTS", "--match", "A-B"), "is not of the form 'HOME - AWAY'"),
        (("predict", "--book", "FOLDER", "--match", "A - B"), "is a folder; a rating book is one file"),
        (("sample", "FOLDER"), "exists already"),
        (("rate", "RESULTS", "--out", "/dev/null/ratings.csv"), "cannot be written"),
        (("rate", "RESULTS", "--book", "/dev/null/book"), "cannot be written"),
        (("sample", "/dev/null/league"), "cannot be written"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(words, message, league, monkeypatch, capsys):
    words = [{"RESULTS": league / "results.csv", "FOLDER": league}.get(word, word) for word in words]
    assert message in refused(monkeypatch, capsys, *words)


def test_a_book_of_another_rater_is_refused(league, tmp_path, monkeypatch, capsys):
    run("rate", league / "results.csv", "--book", tmp_path / "b")
    said = refused(monkeypatch, capsys, "rate", league / "results.csv", "--book", tmp_path / "b", "--rater", "glicko")
    assert "is a book of Mixture" in said


def test_a_pattern_of_files_is_rated_as_one(league, tmp_path, monkeypatch, capsys):
    table = pl.read_csv(league / "results.csv", try_parse_dates=True).sort("date")
    (tmp_path / "games").mkdir()
    half = table.height // 2
    table[:half].write_parquet(tmp_path / "games" / "1.parquet")
    table[half:].write_parquet(tmp_path / "games" / "2.parquet")
    table.write_parquet(tmp_path / "all.parquet")
    said = run("rate", tmp_path / "games" / "*.parquet", "--rater", "glicko", "--out", tmp_path / "far.csv", "--top", 3)
    assert f"{table.height:,} matches of 2 files, 6 names, Glicko" in said and "Ratings: " in said
    run("rate", tmp_path / "all.parquet", "--rater", "glicko", "--out", tmp_path / "near.csv")
    far, near = (pl.read_csv(tmp_path / name).sort("name") for name in ("far.csv", "near.csv"))
    assert far.equals(near)
    near = near.with_columns(surely=pl.col("rating") - 2.0 * pl.col("uncertainty"))
    best = near.sort("surely", descending=True).head(3).iter_rows(named=True)
    assert [line.replace("│", " ").split()[:7] for line in said.splitlines() if line.startswith("│")] == [
        [
            str(place),
            row["name"],
            f"{row['rating']:.0f}",
            "±",
            f"{row['uncertainty']:.0f}",
            f"{row['surely']:.0f}",
            str(row["matches"]),
        ]
        for place, row in enumerate(best, 1)
    ]
    said = refused(monkeypatch, capsys, "rate", tmp_path / "games" / "*.parquet", "--book", tmp_path / "book")
    assert "Of a pattern of files" in said
    assert "none.parquet" in refused(monkeypatch, capsys, "rate", tmp_path / "*none.parquet")


@pytest.mark.parametrize("dated", [True, False])
def test_a_leaderboard_tells_when_sides_played_only_if_the_file_does(dated, tmp_path):
    rows = [(f"2024-03-0{k + 1}", *sides) for k, sides in enumerate([("A", "B", 1), ("B", "C", 1), ("C", "A", 0)])]
    table = pl.DataFrame(rows, schema=["date", "home", "away", "result"], orient="row")
    (table if dated else table.drop("date")).write_csv(tmp_path / "m.csv")
    shown = run("rate", tmp_path / "m.csv", "--rater", "team", "--least-matches", 0)
    assert ("Last played" in shown) == dated and ("2024-03-03" in shown) == dated and "1970" not in shown


def test_line_ups_of_the_next_round_are_used_and_not_noted_as_unknown(league, tmp_path):
    """Strong line-ups against weak ones: predict and season forecast as Python does, with the same file of line-ups."""
    results = pl.read_csv(league / "results.csv", infer_schema=False)
    lineups = pl.read_csv(league / "lineups.csv", infer_schema=False)
    last = results["match_id"].to_list()[-3:]
    results.filter(~pl.col("match_id").is_in(last)).write_csv(tmp_path / "past.csv")
    coming = results.filter(pl.col("match_id").is_in(last)).select("match_id", "date", "home_team", "away_team")
    coming.write_csv(tmp_path / "next.csv")
    lineups.write_csv(tmp_path / "lineups.csv")
    given = ("--lineups", tmp_path / "lineups.csv", "--rater", "player")
    said = run(
        "predict", tmp_path / "next.csv", "--results", tmp_path / "past.csv", *given, "--out", tmp_path / "f.csv"
    )
    assert "unknown match" not in said and "set aside" not in said
    past = kn.read_matches(tmp_path / "past.csv", tmp_path / "lineups.csv")
    rater = kn.PlayerElo().fit(past)
    fixtures = kn.read_matches(tmp_path / "next.csv", tmp_path / "lineups.csv", played=False)
    expected = rater.predict(fixtures).probabilities
    assert np.allclose(pl.read_csv(tmp_path / "f.csv").select("home_win", "draw", "away_win").to_numpy(), expected)
    unknown = rater.predict(kn.read_matches(tmp_path / "next.csv", played=False)).probabilities
    assert not np.allclose(unknown, expected, atol=1e-3)
    said = run("season", tmp_path / "past.csv", tmp_path / "next.csv", *given, "--realisations", 50)
    assert "unknown match" not in said and "set aside" not in said
    more = pl.concat([lineups, lineups.tail(1).with_columns(match_id=pl.lit("nowhere"))])
    more.write_csv(tmp_path / "lineups.csv")
    said = run("predict", tmp_path / "next.csv", "--results", tmp_path / "past.csv", *given)
    assert "1 row set aside (line-up of an unknown match: 1)" in said


def test_an_identifier_that_is_two_matches_is_refused_and_none_is_said(league, tmp_path, monkeypatch, capsys):
    results = pl.read_csv(league / "results.csv", infer_schema=False)
    results.head(40).write_csv(tmp_path / "past.csv")
    coming = results[50:51].select("home_team", "away_team", match_id=pl.lit(results["match_id"][0]))
    coming.write_csv(tmp_path / "next.csv")
    asked = ("predict", tmp_path / "next.csv", "--results", tmp_path / "past.csv", "--rater", "player")
    said = refused(monkeypatch, capsys, *asked, "--lineups", league / "lineups.csv")
    assert "among the results and" in said and "Give every match an identifier of its own" in said
    coming.drop("match_id").write_csv(tmp_path / "next.csv")
    said = run(*asked, "--lineups", league / "lineups.csv")
    assert "has an identifier, so no line-up of" in said
    day = kn.read_matches(tmp_path / "past.csv").date[-1]
    assert f"matches without a date are forecast for {day}, the last day known" in said


def test_votes_on_models_are_said_to_be_for_one_estimate_of_all(tmp_path):
    """Models do not change: the rater meant for that is named; a tie of two bad answers is said to be a draw."""
    votes, clubs = tmp_path / "votes.csv", tmp_path / "clubs.csv"
    rows = ["a,b,model_a", "b,c,tie (bothbad)", "c,a,model_b", "a,b,tie"] * 3
    votes.write_text("model_a,model_b,winner\n" + "\n".join(rows))
    said = run("rate", votes)
    assert "--rater bradley-terry is meant for that" in said
    assert "'tie (bothbad)', where both sides were bad, as a draw" in said
    for spelled in ("both_bad", "Both bad", "bothbad"):
        votes.write_text("model_a,model_b,winner\n" + "\n".join(rows).replace("tie (bothbad)", spelled))
        other = run("rate", votes, "--rater", "bradley-terry")
        assert f"{spelled.lower()!r}, where both sides were bad, as a draw" in other and "cannot be used" not in other
    assert "meant for that" not in other
    clubs.write_text("home,away,result\n" + "\n".join(["a,b,home", "b,c,draw", "c,a,away"] * 3))
    said = run("rate", clubs)
    assert "meant for that" not in said and "bothbad" not in said
