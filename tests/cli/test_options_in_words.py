"""What commands say names options; a mapping is for the file that has its column; each note is said once."""

import re

import pytest
from typed import kinelo, one_sentence

from kinelo.cli.output import OPTIONS, option_words

RESULTS = "date,home,away,FT\n2024-01-01,A,B,2-1\n2024-01-02,B,C,1-1\n2024-01-03,C,A,0-2\n2024-01-05,A,C,1-0\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text(RESULTS)
    (tmp_path / "f.csv").write_text("date,home,away\n2024-02-01,A,B\n")
    (tmp_path / "g.csv").write_text("day,host,away\n2024-02-01,A,B\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "f.csv", "--results", "r.csv", "--column", "result=FT"),
        ("season", "r.csv", "f.csv", "--column", "result=FT", "--realisations", "50"),
        ("predict", "g.csv", "--results", "r.csv", "--column", "result=FT", "--column", "home=host"),
    ],
)
def test_a_mapping_is_for_the_file_that_has_its_column(files, words):
    """``home=host`` is for the fixtures alone, ``result=FT`` for the results alone."""
    done = kinelo(*words, "--rater", "team")
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stderr.splitlines() if line.startswith("note:")]
    assert len(notes) == len(set(notes)) and any("neutral venues" in note for note in notes)


def test_a_mapping_to_a_column_of_no_file_is_refused(files):
    done = kinelo("predict", "f.csv", "--results", "r.csv", "--column", "result=FX", "--rater", "team")
    assert "sends 'result' to 'FX'" in one_sentence(done)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("date,home,away\n2024-02-01,A,B\n", "name them with --column home_score=... --column away_score=..."),
        ("date,x,away,score\n2024-02-01,A,B,1-0\n", "name it with --column home=..., its columns are"),
        ("race,name,score\nR,A,3\nR,B,4\nR,C,5\n", "say kinelo read odd.csv --best highest or --best lowest."),
        (
            "date,home,away,score,status\n2024-02-01,A,B,1-0,Zed 1\n",
            "kinelo read odd.csv --ending 'Zed 1=finished', or 'to come'",
        ),
        (
            "race,name,pos,status\nR,A,1,\nR,B,,Out\nR,C,,Out\nR,D,2,\n",
            "read odd.csv --ending Out=last says that they were behind",
        ),
    ],
)
def test_commands_ask_for_options(files, text, asked):
    (files / "odd.csv").write_text(text)
    said = one_sentence(kinelo("rate", "odd.csv"))
    assert asked in said
    assert not re.search(rf"(?<!--)\b({'|'.join(OPTIONS)})=", said)


def test_an_answer_given_as_an_option_is_taken(files):
    (files / "odd.csv").write_text("race,name,pos,status\nR,A,1,\nR,B,,Out\nR,C,,Out\nR,D,2,\n")
    assert "kinelo read odd.csv" not in one_sentence(kinelo("read", "odd.csv"))
    assert kinelo("read", "odd.csv", "--ending", "Out=last").returncode == 0
    done = kinelo("rate", "odd.csv", "--least-matches", "0")
    assert done.returncode == 0 and "2 entries are tied behind all others who finished ('Out')" in done.stderr


def test_every_argument_becomes_an_option():
    for name, option in OPTIONS.items():
        for value in ("", "'x'", "{'a': 'b'}", "['a', 'b']", "True"):
            said = option_words(f"say {name}={value}, or not")
            assert f"{name}=" not in said.replace(f"--{option}", "") and f"--{option}" in said
    assert option_words("gamma=0.1 and columns == 3") == "gamma=0.1 and columns == 3"
