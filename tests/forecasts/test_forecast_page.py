"""Every example of docs/forecasting.md runs."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app

PAGE = Path(__file__).parents[2] / "docs" / "forecasting.md"


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
def test_python_examples_run(tmp_path, monkeypatch):
    """With half of the sides and a third of the seasons."""
    monkeypatch.chdir(tmp_path)
    sample = kn.sample_league
    monkeypatch.setattr(kn, "sample_league", lambda teams, seasons, seed: sample(teams // 2, seasons // 3, seed=seed))
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 7
    exec(compile("\n".join(blocks), str(PAGE), "exec"), {})
    assert Path("calibration.png").stat().st_size > 10_000


def test_commands_run(tmp_path, monkeypatch):
    """In a league of few."""
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines():
        words = shlex.split(line)[1:] + ["--teams", "6", "--seasons", "2"] * (" sample " in line)
        ran = CliRunner().invoke(app, words, catch_exceptions=False)
        assert ran.exit_code == 0, line
    assert Path("league/calibration.png").exists()
