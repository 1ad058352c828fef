"""``kinelo read`` finds a reading, shows it and keeps it; every command then takes it by itself."""

import json

import polars as pl
import pytest
from typed import kinelo, one_sentence

import kinelo as kn
from kinelo.cli.commands import READ_ALONE

ROWS = "day,host,guest team,FT\n" + "".join(
    f"0{1 + k % 3}/0{1 + k // 3}/2024,{'ABCD'[k % 4]},{'BCDA'[(k + k // 4) % 4]},{k % 3}-1\n"
    for k in range(12)
    if k != 7
)
RACES = "race,who,car,score\n" + "".join(
    f"{race},{who},{'XYZ'[(race + place) % 3]},{3 * place + race}\n"
    for race in range(1, 9) for place, who in enumerate(("Ann", "Bob", "Cid"))
)  # fmt: skip
SAID = ("--column", "home=host", "--column", "away=guest team", "--column", "result=FT", "--dates", "dmy")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text(ROWS)
    (tmp_path / "races.csv").write_text(RACES)
    (tmp_path / "a.csv").write_text("found,wanted\nA,Zed\n")
    return tmp_path


def test_a_reading_is_kept_and_every_command_takes_it(folder):
    columns = {"date": "day", "home": "host", "away": "guest team", "result": "FT"}
    by_hand = kn.read_matches("r.csv", columns=columns, dates="dmy", aliases={"A": "Zed"})
    ratings = kn.TeamElo.classic(k=20).fit(by_hand).ratings_.select("name", "rating").rows()
    assert "has no column for the home side" in one_sentence(kinelo("rate", "r.csv"))
    done = kinelo("read", "r.csv", *SAID, "--aliases", "a.csv", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["number"] == 11 and told["kind"] == "matches"
    assert told["reading"] == {
        "dates": "dmy", "aliases": {"A": "Zed"},
        "columns": columns,
    }  # fmt: skip
    rated = kinelo("rate", "r.csv", "--k", 20, "--json")
    assert [(row["name"], row["rating"]) for row in json.loads(rated.stdout)["ratings"]] == ratings
    assert "Zed" in dict(ratings)
    assert rated.stderr.count("the file was read as r.csv.kinelo.toml says") == 1
    for words in (("backtest", "r.csv", "--rater", "glicko"),
                  ("why", "--of", "Zed", "--results", "r.csv", "--rater", "glicko"),
                  ("predict", "--match", "Zed - B", "--results", "r.csv", "--rater", "glicko"),
                  ("season", "r.csv", "--knockout", "Zed; B", "--rater", "glicko")):  # fmt: skip
        answer = kinelo(*words)
        assert answer.returncode == 0 and "the file was read as r.csv.kinelo.toml says" in answer.stderr, answer.stderr


def test_answers_stay_until_they_are_said_anew(folder):
    kinelo("read", "r.csv", *SAID)
    for more, dates, ordered in ((("--ordered",), "dmy", True), (("--dates", "mdy"), "mdy", True)):
        told = json.loads(kinelo("read", "r.csv", *more, "--json").stdout)["reading"]
        assert (told["dates"], told.get("ordered", False)) == (dates, ordered) and told["columns"]["home"] == "host"
    (folder / "r.csv").write_text(ROWS.replace("host", "home"))
    refused = one_sentence(kinelo("rate", "r.csv", "--k", 20))
    assert "says that 'home' is the column 'host', which r.csv no longer has" in refused
    assert "name it with --column away" in kinelo("read", "r.csv").stderr
    again = kinelo("read", "r.csv", "--column", "away=guest team", "--column", "result=FT", "--json")
    assert "r.csv no longer has the column 'host' for home: it is found anew" in again.stderr
    assert json.loads(again.stdout)["reading"]["columns"]["home"] == "home"


def test_contests_are_kept_with_what_is_rated_and_what_comes_is_read_alike(folder):
    asked = ("--slot", "who", "--slot", "car", "--column", "entrant=who", "--best", "lowest")
    done = kinelo("read", "races.csv", *asked)
    assert done.returncode == 0 and "8 contests" in done.stdout and "slots: car" in done.stdout, done.stderr
    rated = json.loads(kinelo("rate", "races.csv", "--least-matches", 0, "--json").stdout)["ratings"]
    twin = kn.RankElo().fit(kn.read_contests(folder / "races.csv")).ratings_
    assert [row["name"] for row in rated] == twin["name"].to_list() and {row["kind"] for row in rated} == {"who", "car"}
    (folder / "next.csv").write_text("race,who,car\n99,Ann,X\n99,Bob,Y\n99,Dee,Z\n")
    coming = kinelo("predict", "next.csv", "--results", "races.csv", "--json")
    assert "next.csv was read as races.csv is" in coming.stderr
    slots = {"who": ["who"], "car": ["car"]}
    fields = kn.read_contests("next.csv", played=False, slots=slots, columns={"entrant": "who"})
    by_hand = kn.RankElo().fit(kn.read_contests("races.csv")).predict(fields).to_polars()
    shown = {row["entrant"]: row["win"] for row in json.loads(coming.stdout)["forecasts"]}
    assert shown == pytest.approx(dict(by_hand.select("entrant", "win").rows()))


def test_tables_of_another_shape_keep_what_was_said_alone(folder):
    """Two rows a match, and a sheet with a column for each race: their columns are found anew every time."""
    (folder / "two.csv").write_text("match id,team,score\n1,A,2\n1,B,0\n2,B,1\n2,C,1\n3,C,0\n3,A,4\n")
    (folder / "wide.csv").write_text("sailor,R1,R2,R3\nAnn,1,2,1\nBob,2,1,3\nCid,3,3,2\n")
    for name, number in (("two.csv", 3), ("wide.csv", 3)):
        done = kinelo("read", name, "--json")
        assert done.returncode == 0 and json.loads(done.stdout)["number"] == number, done.stderr
        before = pl.read_csv(folder / name)
        read = kn.read_matches if name == "two.csv" else kn.read_contests
        assert read(folder / name).to_polars().equals(read(before).to_polars())


def test_what_is_asked_is_answered_at_a_terminal(folder, monkeypatch):
    asked = iter(["--column entrant=who", "--best lowest"])
    assert "best" in one_sentence(kinelo("read", "races.csv", "--column", "entrant=who"))
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(asked))
    monkeypatch.setattr("kinelo.cli.read.at_a_terminal", lambda: True)
    done = kinelo("read", "races.csv")
    assert done.returncode == 0 and "Kept: races.csv.kinelo.toml" in done.stdout, done.stderr
    assert kn.read_contests(folder / "races.csv").place.tolist()[:3] == [1.0, 2.0, 3.0]
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "")
    (folder / "races.csv.kinelo.toml").unlink()
    assert kinelo("read", "races.csv").returncode == 2
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "--column 'entrant=who")
    open_quotes = kinelo("read", "races.csv")
    assert open_quotes.returncode == 2 and "Traceback" not in open_quotes.stderr
    assert open_quotes.stderr.endswith("cannot be read: close its quotation marks.\n")


def test_the_other_commands_lack_what_read_keeps_and_say_so(folder):
    shown = {command: kinelo(command, "--help").stdout for command in ("read", "rate", "predict", "audit", "backtest")}
    for name in READ_ALONE:
        assert f"\n  {name} " in shown["read"], name
        others = [command for command, text in shown.items() if f"\n  {name} " in text and command != "read"]
        assert others == ([] if name != "--column" else ["rate", "predict", "audit", "backtest"]), name
    assert "\n  --lineups " in shown["rate"]
    for words in (("--dates", "dmy"), ("--dates=dmy",)):
        refused = one_sentence(kinelo("rate", "r.csv", *words, "--k", 20))
        assert "kinelo read FILE --dates …, then kinelo rate without it" in refused


def test_a_file_of_what_is_to_come_has_a_reading_of_its_own(folder):
    (folder / "next.csv").write_text("day,host,guest team\n05/06/2024,A,B\n")
    assert "neither scores nor results" in one_sentence(kinelo("read", "next.csv", *SAID[:4]))
    done = kinelo("read", "next.csv", "--coming", "--column", "home=host", "--column", "away=guest team",
                  "--dates", "mdy", "--json")  # fmt: skip
    assert done.returncode == 0 and json.loads(done.stdout)["number"] == 1, done.stderr
    kinelo("read", "r.csv", *SAID)
    rows = kinelo("predict", "next.csv", "--results", "r.csv", "--rater", "glicko", "--json").stdout
    assert [row["date"] for row in json.loads(rows)["forecasts"]] == ["2024-05-06"]


def test_a_column_that_is_said_counts_before_that_of_the_results(folder):
    (folder / "next.csv").write_text("day,host,other,guest team\n05/06/2024,A,C,B\n")
    kinelo("read", "r.csv", *SAID)
    words = ("predict", "next.csv", "--results", "r.csv", "--rater", "glicko", "--json")
    sides = [
        json.loads(kinelo(*words, *more).stdout)["forecasts"][0]["home"] for more in ((), ("--column", "home=other"))
    ]
    assert sides == ["A", "C"]
