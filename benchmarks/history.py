"""What one version takes for the same few tasks: ``python benchmarks/history.py`` writes history/VERSION.json.

To be compared, versions are measured one after the other on one idle machine: put the ``src`` of each on PYTHONPATH.
Only names that every version has are used. Times are processor seconds, the best of several turns, after a first call
that compiles.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import kinelo as kn

TURNS = 5
FOLDER = Path(__file__).parent / "history"


def best(task: Callable[[], object], turns: int = TURNS) -> float:
    """Processor seconds of the quickest turn."""
    task()
    times = []
    for _ in range(turns):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def simulator() -> dict[str, tuple[float, str]]:
    system, league = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.homogeneous(sigma=1.0, teams=200)
    rho = np.random.default_rng(1).normal(0.5, 0.1, (200, 23))
    lottery = kn.LineupLottery(rho, 11)

    def per_match(steps: int, realisations: int, strengths, sampling: str) -> float:
        def run() -> object:
            return kn.simulate(
                system, strengths, steps=steps, realisations=realisations, seed=1, sampling=sampling, threads=1
            )

        return best(run) / (steps * 25 * realisations) * 1e9

    return {
        "a match, 50 realisations": (per_match(8_000, 50, league, "marginal"), "ns"),
        "a match, 1 realisation": (per_match(200_000, 1, league, "marginal"), "ns"),
        "a match with line-ups drawn, 11 of 23": (per_match(4_000, 4, lottery, "literal"), "ns"),
    }


def kinetic() -> dict[str, tuple[float, str]]:
    system = kn.RatingSystem(kn.Tanh(nu=1.0), gamma=0.05)
    teams = kn.Population.uniform(theta=(0, 10, 200), r=(0, 10, 200), sigma=(0, 1, 20))
    solve = lambda scheme: best(lambda: kn.solve(system, teams, until=5.0, scheme=scheme), 3)  # noqa: E731
    return {"Figure 3, upwind": (solve("upwind"), "s"), "Figure 3, TVD": (solve("tvd"), "s")}


def theory() -> dict[str, tuple[float, str]]:
    system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    few, many = (kn.homogeneous(sigma=1.0, teams=teams) for teams in (200, 100_000))
    return {
        "map of 200 teams": (best(lambda: kn.stationary(system, few)), "s"),
        "map of 100,000 teams": (best(lambda: kn.stationary(system, many), 2), "s"),
        "noise of 200 teams": (best(lambda: kn.stationary(system, few, noise="gaussian")), "s"),
        "step without bias, 200 teams": (best(lambda: kn.unbiased_gamma(kn.Tanh(nu=0.5), few), 3), "s"),
        "diagnosis of 200 teams": (best(lambda: kn.diagnose(system, few), 3), "s"),
    }


def start() -> dict[str, tuple[float, str]]:
    code = "import time; t = time.process_time(); import kinelo; print(time.process_time() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(TURNS)
    ]
    return {"import kinelo": (min(float(run.stdout) for run in runs), "s")}


def measured() -> dict[str, object]:
    found: dict[str, object] = {}
    for task in (simulator, kinetic, theory, start):
        found |= {what: {"value": float(f"{value:.3g}"), "unit": unit} for what, (value, unit) in task().items()}
    return {
        "version": kn.__version__,
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "how": "benchmarks/history.py, versions one after the other on one idle machine; processor time on one core",
        "measures": found,
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=FOLDER, help="Folder for VERSION.json.")
    place = arguments.parse_args().out
    content = measured()
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{kn.__version__}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(content, indent=1))
