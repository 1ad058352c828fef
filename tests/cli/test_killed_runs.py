"""``kinelo study simulate`` and ``solve`` killed at any moment and resumed end at the bytes of a run left alone."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from typed import kinelo

from kinelo.studies import read_study
from kinelo.studies.simulation import run_simulation
from kinelo.studies.solution import run_solution

BASE = 'gamma = 0.05\noutcome = { kind = "tanh", nu = 0.5 }\n'
STUDIES = {
    "simulate": BASE
    + """league = { kind = "homogeneous", teams = 30, sigma = 1.0 }
simulate = { steps = 60, matches_per_step = 25, realisations = 4, record_every = 1, seed = 1 }
""",
    "solve": BASE
    + """pairing = { kind = "window", c = 3.0 }
population = { kind = "uniform", theta = [4.0, 10.0, 12], r = [2.0, 12.0, 40], sigma = 1.0 }
solve = { until = 8.0, samples = 58, save_at = [0.0, 3.0, 8.0] }
""",
}
# Every record is a checkpoint, and takes long enough for a kill to fall anywhere between and within them.
CHILD = """
import sys, time
import kinelo.micro.simulate as rounds, kinelo.results.store as store
store.INTERVAL, rounds.FIRST_ROUND = 0.0, int(sys.argv.pop(1))
commit = store.RunStore._commit
def slow(self, **how):
    time.sleep(0.05)
    commit(self, **how)
store.RunStore._commit = slow
from kinelo.cli import main
main()
"""
LEFT_ALONE = {"simulate": run_simulation, "solve": run_solution}


def stored(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rows_kept(run: Path) -> int:
    return max((int(path.stem.removeprefix("state-")) for path in run.glob("state-*.npz")), default=0)


@pytest.mark.filterwarnings("ignore:The range of r is too narrow:kinelo.errors.KineloWarning")
@pytest.mark.parametrize(
    ("command", "kills"),
    [("simulate", 1), *(pytest.param(*more, marks=pytest.mark.long) for more in (("simulate", 2), ("solve", 1)))],
)
def test_a_killed_run_ends_at_the_same_bytes(command, kills, tmp_path):
    study, out, draw = tmp_path / "study.toml", tmp_path / "out", random.Random(f"{command} 7")
    study.write_text(STUDIES[command], encoding="utf-8")
    seen = [0]
    # Matches of the first round for a simulation; threads of the linear algebra for a solution.
    for threads, matches, linear in ((1, 16, "2"), (2, 1 << 14, "1"))[-kills:]:
        more = ["--resume"] if out.exists() else []
        words = ["study", command, str(study), "--out", str(out), "--threads", str(threads), *more]
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(matches), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": linear},
        )  # fmt: skip
        while process.poll() is None and rows_kept(out / "run") <= seen[-1]:
            time.sleep(0.005)
        time.sleep(draw.uniform(0.0, 0.3))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        seen.append(rows_kept(out / "run"))
    assert all(before < after for before, after in pairwise(seen)) and seen[-1] < 60
    done = kinelo("study", command, study, "--out", out, "--resume")
    assert done.returncode == 0, done.stderr
    LEFT_ALONE[command](read_study(study), tmp_path / "whole", threads=1)
    assert stored(out / "run") == stored(tmp_path / "whole")
