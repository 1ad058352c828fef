"""Every example of docs/ratings.md runs."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kinelo.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "ratings.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
def test_python_examples_run_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in blocks("python"):
        exec(compile(block, str(PAGE), "exec"), names)
    assert "unreadable date" in capsys.readouterr().out
    assert (tmp_path / "histories.png").exists()


def test_commands_run_in_order(tmp_path, monkeypatch):
    """In a league of few."""
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) >= 6
    for line in lines:
        program, *words = shlex.split(line) + ["--teams", "6", "--seasons", "2"] * (" sample " in line)
        assert program == "kinelo"
        answer = CliRunner().invoke(app, words, catch_exceptions=False)
        assert answer.exit_code == 0, line
    assert (tmp_path / "league" / "histories.png").exists()
