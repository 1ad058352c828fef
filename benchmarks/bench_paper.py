"""The reproduction as a user runs it, and what keeping a run on disk costs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kinelo.paper.figure import read_figures
from kinelo.paper.reproduce import run_work
from kinelo.studies.simulation import run_simulation, simulation_inputs
from kinelo.studies.study import Study, parse_study

SECTION = "Reproduction"


def reproduce(out: Path, *options: str) -> tuple[float, str]:
    """Run the command in a process of its own; return wall-clock seconds and what it said."""
    command = [sys.executable, "-c", "from kinelo.cli import main; main()", "reproduce", "--out", str(out), *options]
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - begin, done.stdout


def verdicts(said: str) -> str:
    found = re.search(r"\((.*)\)", said)
    return found.group(1) if found else said


@pytest.mark.timeout(900)
def test_full(table, tmp_path):
    matches = sum(run_work(study).matches for figure in read_figures() for study in figure.studies.values())
    seconds, said = reproduce(tmp_path / "out")
    what = f"full scale, {matches:.3g} matches and the kinetic runs on {os.cpu_count()} cores, {verdicts(said)}"
    table(SECTION).row(what, f"{seconds:.0f} s", "< 360 s", seconds < 360)


def test_quick(table, tmp_path):
    seconds, said = reproduce(tmp_path / "out", "--scale", "quick")
    table(SECTION).row(f"`--scale quick`, {verdicts(said)}", f"{seconds:.1f} s", "< 20 s", seconds < 20)
    again, _ = reproduce(tmp_path / "out", "--scale", "quick", "--resume")
    table(SECTION).row("the same again, nothing to simulate", f"{again:.1f} s")


def test_cost_of_storing(table, tmp_path):
    study = read_figures(wanted=[4])[0].studies["σ = 1"]
    content = simulation_inputs(study)
    content["simulate"] |= {"steps": 100_000, "record_every": 5_000}
    plan = parse_study(content)
    run_simulation(plan, tmp_path / "warm")
    kept = _seconds(lambda: run_simulation(plan, tmp_path / "run"))
    bare = _seconds(lambda: _simulate(plan))
    table(SECTION).row("1.25·10⁸ matches stored as they go, over kept in memory", f"{kept / bare:.2f}×")


def _simulate(plan: Study) -> None:
    import kinelo as kn

    assert plan.simulate is not None
    settings = plan.simulate.model_dump(include={"steps", "seed", "realisations", "matches_per_step", "record_every"})
    kn.simulate(plan.system, plan.strengths, **settings)


def _seconds(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
