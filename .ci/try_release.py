"""Try an installed Kinelo as a user would, away from the sources: plain, or with its extras (``[all]``)."""

import subprocess
import sys
import tempfile
from pathlib import Path

PLAIN = """
import kinelo as kn
league = kn.homogeneous(sigma=1.0, teams=9)
print(kn.__version__, kn.unbiased_gamma(kn.Tanh(nu=0.5), league))
kn.simulate(kn.RatingSystem(kn.Tanh(nu=0.5)), league, steps=3)
"""
STUDY = """
gamma = 0.05
outcome = {kind = "tanh", nu = 0.5}
league = {kind = "normal", theta = [4.0, 7.0, 10.0], sigma = 1.0}
simulate = {steps = 4, seed = 1}
"""
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "study.toml").write_text(STUDY, encoding="utf-8")
    kinelo = [sys.executable, "-m", "kinelo"]
    tasks = [[sys.executable, "-c", PLAIN], [str(Path(sys.executable).parent / "kinelo"), "--version"]]
    tasks += [[*kinelo, "sample", "league", "--teams", "4", "--seasons", "1"]]
    tasks += [[*kinelo, "rate", "league/results.csv", "--k", "20"]]
    if "[all]" in sys.argv:
        tasks += [[*kinelo, "study", "simulate", "study.toml", "--out", "run"]]
        tasks += [[sys.executable, "-c", "import kinelo.lab.serve.app, kinelo.paper.reproduce, distributed"]]
    for task in tasks:
        done = subprocess.run(task, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(task)}\n{done.stdout}{done.stderr}")
        print(*done.stdout.splitlines()[:1])
