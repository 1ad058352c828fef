"""Every number and word that a command prints, against a rater whose answers are written down."""

import json
import math
import os
import re

import polars as pl
import pytest
from scripted import CHANCES
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import sentence
from kinelo.cli.commands import app
from kinelo.cli.loading import silent_refusals
from kinelo.cli.output import result_folder

ROWS = [
    ("2024-01-01", "Ash", "Bix", 3, 1), ("2024-01-08", "Cay", "Ash", 0, 2), ("2024-01-15", "Bix", "Cay", 1, 1),
    ("2024-02-01", "Ash", "Cay", 0, 1), ("2024-02-08", "Bix", "Ash", 2, 0), ("2024-02-15", "Cay", "Bix", 2, 2),
]  # fmt: skip
SCRIPTED = ("--rater", "scripted:Scripted")


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def results(tmp_path):
    lines = ["date,home,away,home_score,away_score", *(",".join(map(str, row)) for row in ROWS)]
    path = tmp_path / "results.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def said(*words):
    answer = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer


def cells(output):
    """Rows of the first table of an output, cell by cell, the head first."""
    head = [line for line in output.splitlines() if line.startswith("┃")]
    rows = [line for line in output.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in re.split("[┃│]", line)[1:-1]] for line in head + rows]


def percent(triple):
    return [f"{100 * p:.1f} %" for p in triple]


def test_predict_prints_home_draw_away_in_this_order(results):
    table = cells(
        said("predict", "--results", results, *SCRIPTED, "--match", "Ash - Bix", "--match", "Bix - Ash").stdout
    )
    assert table == [
        ["Home", "Away", "Home win", "Draw", "Away win"],
        ["Ash", "Bix", *percent((0.62, 0.23, 0.15))],
        ["Bix", "Ash", *percent((0.31, 0.27, 0.42))],
    ]


def test_neutral_ground_changes_the_forecast_and_only_where_asked(results):
    words = ["predict", "--results", results, *SCRIPTED, "--match", "Ash - Bix"]
    assert cells(said(*words, "--neutral").stdout)[1][2:] == percent((0.53, 0.26, 0.21))
    found = json.loads(said(*words, "--neutral", "--json").stdout)
    assert found["rater"] == "Scripted" and found["unknown"] == []
    (row,) = found["forecasts"]
    assert (row["home"], row["away"], row["neutral"]) == ("Ash", "Bix", True)
    assert (row["home_win"], row["draw"], row["away_win"]) == (0.53, 0.26, 0.21)
    assert row["points"] == pytest.approx(0.53 + 0.13) and "date" not in row and "match_id" not in row


def test_names_never_met_are_said_with_the_nearest(results):
    answer = said("predict", "--results", results, *SCRIPTED, "--match", "Bixx - Cay", "--json")
    assert "warning: Bixx has never played: it is forecast as a newcomer; did you mean Bix?" in answer.stderr
    assert json.loads(answer.stdout)["unknown"] == ["Bixx"]


def test_what_has_been_played_is_not_forecast(results, tmp_path):
    fixtures, out = tmp_path / "fixtures.csv", tmp_path / "f.csv"
    # Played by its own score; played by the results; to come.
    fixtures.write_text(
        "date,home,away,home_score,away_score\n2024-03-01,Bix,Cay,4,0\n2024-01-08,Cay,Ash,,\n2024-03-08,Ash,Bix,,\n"
    )
    answer = said("predict", fixtures, "--results", results, *SCRIPTED, "--out", out)
    assert "note: 2 matches already played are left out (see --played-since)" in answer.stderr
    assert [row[:2] for row in cells(answer.stdout)[1:]] == [["Ash", "Bix"]]
    assert pl.read_csv(out).select("date", "home", "home_win").rows() == [("2024-03-08", "Ash", 0.62)]
    refused = CliRunner().invoke(app, ["predict", str(results), "--results", str(results), *SCRIPTED])
    assert isinstance(refused.exception, kn.InputError) and "All 6 matches have been played" in str(refused.exception)
    alone = said("predict", fixtures, *SCRIPTED)  # the played one of the same file is what is fitted
    assert [row[:2] for row in cells(alone.stdout)[1:]] == [["Cay", "Ash"], ["Ash", "Bix"]]
    assert "note: 1 match without a result is dated before 2024-03-01, the last result; forecasts of " in alone.stderr
    played = "2024-01-01,Cay,Bix,0\n2024-02-01,Bix,Ash,0.5\n2024-03-01,Bix,Cay,1\n"
    fixtures.write_text(f"date,home,away,result\n{played}2024-01-08,Cay,Ash,\n2024-02-08,Ash,Bix,\n")
    several = said("predict", fixtures, *SCRIPTED)
    assert "note: 2 matches without a result are dated before 2024-03-01" in several.stderr


def test_played_matches_are_forecast_from_the_results_before_their_day(results, tmp_path):
    fixtures = tmp_path / "fixtures.csv"
    fixtures.write_text("date,home,away,result\n2024-02-15,Cay,Bix,0.5\n2024-02-01,Ash,Cay,0\n2024-05-01,Ash,Bix,\n")
    words = ["predict", fixtures, "--results", results, "--rater", "scripted:Counting", "--json"]
    found = json.loads(said(*words, "--played-since", "2024-02-01").stdout)["forecasts"]
    # Three results lie before the first of February, five before the fifteenth, and six before the match to come.
    assert {row["date"]: row["home_win"] for row in found} == pytest.approx(
        {"2024-02-01": 3 / 4, "2024-02-15": 5 / 6, "2024-05-01": 6 / 7}
    )
    later = said(*words, "--played-since", "2024-02-10")
    assert "1 match already played is left out" in later.stderr
    assert [row["home_win"] for row in json.loads(later.stdout)["forecasts"]] == pytest.approx([5 / 6, 6 / 7])
    refused = CliRunner().invoke(app, [str(word) for word in (*words, "--played-since", "2023-01-01")])
    assert "There are no results before 2023-01-01" in str(refused.exception)


def test_leaderboards_take_off_the_uncertainty_asked_for(results):
    words = ["rate", results, *SCRIPTED, "--least-matches", "0"]
    table = cells(said(*words, "--active-days", "3000").stdout)
    assert table[0] == ["Place", "Name", "Rating", "±", "At least", "Matches", "Last played", "Note"]
    assert table[1] == ["1", "Ash", "1612", "± 21", f"{1612.5 - 2 * 21.25:.0f}", "31", "2024-03-09", ""]
    assert table[2] == ["2", "Bix", "1650", "± 90", f"{1650.25 - 2 * 90.5:.0f}", "12", "2024-03-02", ""]
    assert table[3][4:6] == [f"{1404.75 - 66:.0f}", "1,204"]
    assert table[3][-1] == "has not played for 1163 days"
    bold = json.loads(said(*words, "--active-days", "3000", "--caution", "0", "--json").stdout)["leaderboard"]
    assert [row["name"] for row in bold] == ["Bix", "Ash", "Cay"] and [row["place"] for row in bold] == [1, 2, 3]
    assert [row["surely"] for row in bold] == [1650.25, 1612.5, 1404.75]
    active = json.loads(said(*words, "--active-days", "30", "--json").stdout)["leaderboard"]
    assert [row["name"] for row in active] == ["Ash", "Bix"]
    many = json.loads(said(*words[:-1], "20", "--active-days", "3000", "--json").stdout)["leaderboard"]
    assert [row["name"] for row in many] == ["Ash", "Cay"]
    short = said(*words, "--active-days", "3000", "--top", "2").stdout
    assert [row[1] for row in cells(short)[1:]] == ["Ash", "Bix"] and "and 1 more" in short


def test_rate_shows_the_leaderboard_and_writes_all_ratings(results, tmp_path):
    out = tmp_path / "r.csv"
    answer = said("rate", results, *SCRIPTED, "--out", out, "--active-days", "30", "--top", "1")
    assert "6 matches, Scripted" in answer.stdout and "and 1 more" in answer.stdout
    left_out = "1 more is rated but not ranked: not active, or too few matches (--active-days, --least-matches)."
    assert left_out in answer.stdout
    assert cells(answer.stdout)[1][1:3] == ["Ash", "1612"]
    assert pl.read_csv(out)["rating"].to_list() == [1650.25, 1612.5, 1404.75]
    found = json.loads(said("rate", results, *SCRIPTED, "--json").stdout)
    assert found["matches"] == 6 and found["choice"] is None
    assert [(row["name"], row["uncertainty"]) for row in found["ratings"]] == [
        ("Bix", 90.5),
        ("Ash", 21.25),
        ("Cay", 33.0),
    ]


def test_rate_prints_estimates_with_one_standard_error(results, monkeypatch):
    import scripted

    estimates = kn.forecasts.Estimates({"walk": 0.31234, "ties": 0.5}, {"walk": 0.0456, "ties": math.nan}, -10.0, 6)
    monkeypatch.setattr(scripted.Scripted, "estimates_", estimates, raising=False)
    monkeypatch.setattr(scripted.Scripted, "parameters_", {"walk": 0.31234, "ties": 0.5}, raising=False)
    learnt = said("rate", results, *SCRIPTED).stdout.partition("Learnt from these matches")[2]
    assert cells(learnt)[1][:2] == ["Walk", "0.312 ± 0.046"] and "Ties" not in learnt, "what hardly matters is left out"
    found = json.loads(said("rate", results, *SCRIPTED, "--json").stdout)
    assert found["parameters"]["walk"] == 0.31234 and found["standard_errors"] == {"walk": 0.0456, "ties": None}


def test_backtests_print_scores_of_what_happened(results, tmp_path):
    # From the first of February: an away win, a home win, a draw.
    happened = [(CHANCES["Ash", "Cay", False], 2), (CHANCES["Bix", "Ash", False], 0), (CHANCES["Cay", "Bix", False], 1)]
    log_loss = -sum(math.log(p[k]) for p, k in happened) / 3
    brier = sum(sum((p[j] - (j == k)) ** 2 for j in range(3)) for p, k in happened) / 3
    rps = sum(((p[0] - (k == 0)) ** 2 + (p[0] + p[1] - (k < 2)) ** 2) / 2 for p, k in happened) / 3
    out = tmp_path / "s.csv"
    words = ["backtest", results, *SCRIPTED, "--rater", "team"]
    answer = said(*words, "--train-until", "2024-02-01", "--out", out)
    assert "3 matches from 2024-02-01, one step ahead" in answer.stdout
    table = cells(answer.stdout)
    assert table[0] == ["Rater", "Line-up known", "log-loss", "brier", "rps", "accuracy", "behind the best"]
    row = next(row for row in table if row[0] == "Scripted")
    assert row[1:6] == ["not used", f"{log_loss:.4f}", f"{brier:.4f}", f"{rps:.4f}", "0.0 %"]
    found = json.loads(said(*words, "--json").stdout)  # by default the middle of the matches
    assert found["matches"] == 3 and found["train_until"] == "2024-02-01"
    scores = {score["rater"]: score for score in found["scores"]}
    assert scores["Scripted"]["log_loss"] == pytest.approx(log_loss)
    best = min(scores, key=lambda name: scores[name]["log_loss"])
    (gap,) = found["differences"]
    assert gap["rater"] != best
    assert gap["difference"] == pytest.approx(scores[gap["rater"]]["log_loss"] - scores[best]["log_loss"])
    shown = next(row for row in table if row[0] == gap["rater"])[-1]
    assert shown == f"{gap['difference']:+.4f} ({gap['low']:+.4f} to {gap['high']:+.4f})"
    assert gap["low"] <= gap["difference"] <= gap["high"] and "with its 95 % bootstrap interval" in answer.stdout
    assert pl.read_csv(out).filter(pl.col("rater") == "Scripted")["rps"].to_list() == pytest.approx([rps])
    later = json.loads(said(*words, "--since", "2024-01-15", "--json").stdout)  # four matches, two to forecast
    assert later["matches"] == 2 and later["train_until"] == "2024-02-08"


def test_seasons_count_points_by_the_rules(results, tmp_path):
    fixtures = tmp_path / "fixtures.csv"
    fixtures.write_text(
        "date,home,away,home_score,away_score\n2024-03-01,Ash,Bix,2,0\n2024-03-08,Cay,Ash,1,1\n2024-03-15,Bix,Cay,,\n"
    )
    words = ["season", results, fixtures, *SCRIPTED, "--realisations", "4000", "--relegated", "1"]
    answer = said(*words, "--win", "5", "--draw", "2", "--loss", "1", "--json")
    found = json.loads(answer.stdout)
    points = dict(zip(found["name"], found["points"]))
    # Bix - Cay is won, drawn, lost with .55, .25, .20; four thousand draws are sure to .07 points (four errors).
    assert points["Ash"] == 7.0
    assert points["Bix"] == pytest.approx(1 + 0.55 * 5 + 0.25 * 2 + 0.20 * 1, abs=0.11)
    assert points["Cay"] == pytest.approx(2 + 0.20 * 5 + 0.25 * 2 + 0.55 * 1, abs=0.11)
    assert found["rater"] == "Scripted" and found["realisations"] == 4000
    assert "Scripted draws no margins: sides level on points are separated by wins" in answer.stderr
    assert found["rule"] == (
        "A win is worth 5 points, a draw 2, a loss 1; sides level on points are separated by wins, then lots; the last "
        "of 3 goes down."
    )
    rule, *_ = said(*words[:-2]).stdout.splitlines()
    assert rule.endswith("; nobody goes down. Say --relegated for another number.")
    table = cells(said(*words).stdout)  # three points for a win: Ash 4, the others at most 4
    assert table[0] == ["Name", "Points", "80 %", "Place", "Title", "Relegation"]
    rows = {row[0]: row for row in table[1:]}
    assert rows["Ash"][1:3] == ["4.0", "4 to 4"] and rows["Bix"][2] == "0 to 3"
    title = {name: float(row[4].rstrip("%")) for name, row in rows.items()}
    # Cay overtakes Ash by a win at Bix (.20), level on points (4) and wins (1): lots decide.
    assert title["Cay"] == pytest.approx(10.0, abs=2.0) and title["Bix"] == 0.0
    assert sum(title.values()) == pytest.approx(100.0, abs=0.2)
    down = {name: float(row[5].rstrip("%")) for name, row in rows.items()}
    assert down["Cay"] == pytest.approx(55.0, abs=3.2) and down["Bix"] == pytest.approx(45.0, abs=3.2)


def test_sides_level_on_points_are_separated_as_asked(results, tmp_path):
    """Ash and Bix end with 6 points each: Ash with two wins, Bix with one, against Ash, and three draws."""
    rows = ["2024-03-01,Bix,Ash,1,0", "2024-03-02,Ash,Cay,1,0", "2024-03-03,Cay,Ash,0,1",
            "2024-03-04,Bix,Cay,1,1", "2024-03-05,Cay,Bix,0,0", "2024-03-06,Bix,Cay,2,2"]  # fmt: skip
    (tmp_path / "fixtures.csv").write_text("\n".join(["date,home,away,home_score,away_score", *rows]) + "\n")
    words = ["season", results, tmp_path / "fixtures.csv", *SCRIPTED, "--realisations", "20", "--json"]
    for order, first in (("wins", "Ash"), ("head_to_head", "Bix")):
        found = json.loads(said(*words, "--tie-break", order).stdout)
        assert dict(zip(found["name"], found["points"])) == {"Ash": 6.0, "Bix": 6.0, "Cay": 3.0}
        assert found["name"][0] == first and found["title"][0] == 1.0


def test_the_same_seed_plays_the_same_season(results, tmp_path):
    fixtures = tmp_path / "fixtures.csv"
    fixtures.write_text("date,home,away\n2024-03-01,Ash,Bix\n2024-03-08,Cay,Ash\n2024-03-15,Bix,Cay\n")
    words = ["season", results, fixtures, *SCRIPTED, "--simulations", "200", "--json", "--seed"]
    one, again, other = (json.loads(said(*words, seed).stdout)["points"] for seed in (3, 3, 4))
    assert one == again != other


def test_a_sample_league_is_written_as_it_is_made(tmp_path):
    answer = said("sample", tmp_path / "league", "--teams", "4", "--seasons", "2", "--seed", "7")
    league = kn.sample_league(4, 2, seed=7)
    assert f"24 matches: {tmp_path / 'league' / 'results.csv'}" in answer.stdout
    assert f"{league.lineups.height:,} appearances:" in answer.stdout
    written = pl.read_csv(tmp_path / "league" / "results.csv")
    assert written["home_score"].to_list() == league.results["home_score"].to_list()
    assert written["home_team"].to_list() == league.results["home_team"].to_list()
    assert pl.read_csv(tmp_path / "league" / "lineups.csv").height == league.lineups.height


def test_boards_stand_in_order_of_their_matches_and_what_is_on_none_is_counted(results, tmp_path):
    levels = ["clay", "grass", "clay", "", "clay", "grass"]
    table = pl.read_csv(results).with_columns(pl.Series("surface", levels))
    table.write_csv(results)
    shown = said("rate", results, "--rater", "glicko", "--by", "surface", "--board", tmp_path / "boards.csv")
    assert "note: 1 match without a value in 'surface' stands on no board" in " ".join(shown.output.split())
    assert list(dict.fromkeys(pl.read_csv(tmp_path / "boards.csv")["surface"])) == ["clay", "grass"]
    pl.concat([table, table.tail(1), table.tail(1)]).with_row_index("match_id").write_csv(results)
    said("rate", results, "--rater", "glicko", "--by", "surface", "--board", tmp_path / "boards.csv")
    assert list(dict.fromkeys(pl.read_csv(tmp_path / "boards.csv")["surface"])) == ["grass", "clay"]


def test_a_cup_of_somebody_unknown_says_who_was_meant(results):
    with pytest.raises(kn.InputError) as refused:
        said("season", results, "--knockout", "Ash; Bixx; Zoe; Cay")
    assert str(refused.value) == "'Bixx', 'Zoe' has no match in these results. Did you mean Bix?"
    with pytest.raises(kn.InputError) as refused:
        said("season", results, "--knockout", "Ash; Zoe")
    assert str(refused.value) == "'Zoe' has no match in these results."


def test_teams_keep_the_roles_that_were_asked_for(results):
    twos = ["Ash", "Bix", "Cay", "Dot"]
    words = [word for name in ("Ash", "Bix") for word in ("--role", f"{name}=keeper")]
    asked = ["predict", "--balance", "; ".join(twos), "--results", results, "--rater", "glicko", "--json"]
    kept = json.loads(said(*asked, *words).stdout)
    rater = kn.Glicko().fit(kn.read_matches(results))
    assert kept == {"rater": "Glicko", **kn.balance(rater, twos, roles={"Ash": "keeper", "Bix": "keeper"}).to_dict()}
    assert "warning: Dot has never played and counts as a newcomer" in said(*asked).stderr
    for split in kept["splits"]:
        assert all(len({"Ash", "Bix"} & set(side)) == 1 for side in split["sides"])


def test_a_changeover_goes_from_the_old_list_to_the_new_one(results, tmp_path):
    said_of_it = said("audit", results, "--changeover", "k=32", "--to", "k=8", "--out", tmp_path / "moves.csv")
    assert f"Lists: {tmp_path / 'moves.csv'}" in said_of_it.output
    lists = [kn.TeamElo.classic(k=k).fit(kn.read_matches(results)).ratings_.sort("name") for k in (32, 8)]
    table = pl.read_csv(tmp_path / "moves.csv").sort("name")
    for name, one in zip(("old", "new"), lists):
        rating = one["rating"] - one["rating"].mean()  # both lists are laid to the same mean
        assert (table[name] - table[name].mean()).to_list() == pytest.approx(rating.to_list())


def test_a_folder_for_nothing_is_not_left_behind(tmp_path):
    with pytest.raises(kn.InputError), result_folder(tmp_path / "run"):
        raise kn.InputError("no.")
    assert not (tmp_path / "run").exists()
    with result_folder(tmp_path / "run") as folder:
        (folder / "kept").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(kn.InputError, match="empty"), result_folder(tmp_path / "run"):
        pass
    assert (tmp_path / "run" / "kept").read_text() == "x"


def test_names_of_files_are_cut_where_they_are_long():
    short, long = "a" * 60, "b" * 61
    assert sentence(FileNotFoundError(2, "No such file", short)) == f"{short}: no such file."
    assert sentence(FileNotFoundError(2, "No such file", long)) == f"{'b' * 60}…: no such file."


def test_what_a_library_prints_is_held_back_where_a_file_is_refused_and_only_there(capfd):
    with silent_refusals():
        os.write(2, b"a word\nand another\n")
    assert capfd.readouterr().err == "a word\nand another\n"
    for error in (kn.InputError("no."), KeyError()):
        with pytest.raises(type(error)):
            _print_and_raise(error)
    assert capfd.readouterr().err == "panicked: KeyError\n"


def _print_and_raise(error: Exception) -> None:
    with silent_refusals():
        os.write(2, f"panicked: {type(error).__name__}\n".encode())
        raise error
