"""Nothing a command reads is overwritten by what it writes."""

import os

import pytest
import typer
from typed import kinelo, one_sentence

from kinelo.cli import app
from kinelo.cli.output import NAMED_IN_WORDS, WRITTEN

ROWS = "date,home,away,result\n" + "".join(f"2024-01-{d:02d},{'AB'[d % 2]},{'BA'[d % 2]},1\n" for d in range(1, 20))
LIST = "name,rating\nA,1500\nB,1510\n"


@pytest.fixture
def results(tmp_path):
    """Results under four names, beside a list of ratings."""
    path = tmp_path / "c.csv"
    path.write_text(ROWS)
    (tmp_path / "linked.csv").symlink_to(path)
    os.link(path, tmp_path / "hard.csv")
    (tmp_path / "list.csv").write_text(LIST)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("rate", "c.csv", "--out", "c.csv"),
        ("rate", "c.csv", "--out", "./sub/../c.csv"),
        ("rate", "c.csv", "--out", "linked.csv"),
        ("rate", "linked.csv", "--out", "c.csv"),
        ("rate", "c.csv", "--out", "hard.csv"),
        ("rate", "c.csv", "--rejects", "c.csv"),
        ("rate", "c*.csv", "--out", "c.csv"),
        ("rate", "c.csv", "--start", "list.csv", "--out", "list.csv"),
        ("read", "c.csv", "--aliases", "list.csv", "--rejects", "list.csv"),
        ("rate", "c.csv", "--board", "c.csv"),
        ("predict", "--results", "c.csv", "--match", "A - B", "--out", "c.csv"),
        ("backtest", "c.csv", "--rejects", "c.csv"),
        ("season", "c.csv", "list.csv", "--out", "list.csv"),
        ("audit", "c.csv", "--changeover", "list.csv", "--to", "k=10", "--out", "list.csv"),
        ("rate", "c.csv", "--out", "new.csv", "--rejects", "sub/../new.csv"),
    ],
)
def test_output_onto_input_is_refused_before_anything_is_read(words, results, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    said = one_sentence(kinelo(*words))
    assert "which is read" in said or "both name" in said
    assert results.read_text() == ROWS and (tmp_path / "list.csv").read_text() == LIST
    assert not (tmp_path / "new.csv").exists()


def test_a_file_of_a_book_is_not_overwritten(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert kinelo("rate", "c.csv", "--k", 20, "--book", "kept").returncode == 0
    before = (tmp_path / "kept").read_bytes()
    for words in (
        ("rate", "kept", "--out", "kept"),
        ("predict", "--book", "kept", "--match", "A - B", "--out", "kept"),
        ("book", "export", "kept", "kept"),
    ):
        assert "would overwrite" in one_sentence(kinelo(*words))
        assert (tmp_path / "kept").read_bytes() == before


def test_another_file_is_written(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_text("replaced")
    done = kinelo("rate", "c.csv", "--k", 20, "--out", "old.csv", "--rejects", "rejects.csv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "old.csv").read_text().startswith("name,") and results.read_text() == ROWS


def test_every_path_that_is_written_is_looked_at():
    """Options that say they write or draw are those that are looked at, in every command."""
    commands = typer.main.get_command(app).commands
    for name, command in commands.items():
        for option in command.params:
            words = (option.help or "").split()
            if words[:1] in (["Write"], ["Draw"]) or " into this file" in " ".join(words):
                assert option.name in WRITTEN, (name, option.name)
            if option.name in NAMED_IN_WORDS:
                assert any(words in option.help for words in ("ook", "a list (CSV", "a file of names", "what shall be"))
    assert {"out", "rejects"} <= {option.name for option in commands["rate"].params}
