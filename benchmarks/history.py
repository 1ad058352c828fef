"""What every release takes for the same few tasks: ``python benchmarks/history.py`` writes history/VERSION.json of all.

Releases are measured in turns, each in a process of its own, so that a slow minute of the machine meets all of them; of
the turns the best one counts. Leave the machine to it, after ``--quick`` has compiled everything and shown that all
releases run. Sources of earlier ones are taken from the repository into ``build/history``. Only names that every
version has are used. Times are processor seconds after a first call that compiles.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import subprocess
import sys
import tarfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import kinelo as kn

ROOT = Path(__file__).parents[1]
FOLDER, SOURCES = Path(__file__).parent / "history", ROOT / "build" / "history"
RELEASES = {
    "0.1.0": "7922ae369587af1cec116963aa01e6bdf740f462",
    "0.2.0": "7cfcc75cbe83acdf1ee8a73f2f38d373e4080c81",
    "0.3.0": "7c2c9a4fe1bb9755535963fc30fa1f259cfd1a63",
    "0.4.0": "39ec251c36a3dc0115367863c1576860599bc3ae",
}
"""The last commit of every release before this one."""

TURNS = 2
CALLS = 3

Measures = dict[str, tuple[float, str]]


def best(task: Callable[[], object], calls: int = CALLS) -> float:
    """Processor seconds of the quickest call, after one that compiles."""
    task()
    times = []
    for _ in range(calls):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def simulator(size: float) -> Measures:
    system, league = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.homogeneous(sigma=1.0, teams=200)
    rho = np.random.default_rng(1).normal(0.5, 0.1, (200, 23))
    lottery = kn.model.LineupLottery(rho, 11)

    def per_match(steps: int, realisations: int, strengths, sampling: str) -> float:
        steps = max(int(size * steps), 40)

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


def kinetic(size: float) -> Measures:
    system = kn.RatingSystem(kn.Tanh(nu=1.0), gamma=0.05)
    teams = kn.macro.Population.uniform(theta=(0, 10, 200), r=(0, 10, 200), sigma=(0, 1, 20))
    solve = lambda scheme: best(lambda: kn.solve(system, teams, until=5.0 * size, scheme=scheme), 1)  # noqa: E731
    return {"Figure 3, upwind": (solve("upwind"), "s"), "Figure 3, TVD": (solve("tvd"), "s")}


def theory(size: float) -> Measures:
    system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    few, many = (kn.homogeneous(sigma=1.0, teams=teams) for teams in (200, max(int(100_000 * size), 1_000)))
    return {
        "map of 200 teams": (best(lambda: kn.stationary(system, few)), "s"),
        "map of 100,000 teams": (best(lambda: kn.stationary(system, many), 1), "s"),
        "noise of 200 teams": (best(lambda: kn.stationary(system, few, noise="gaussian")), "s"),
        "step without bias, 200 teams": (best(lambda: kn.unbiased_gamma(kn.Tanh(nu=0.5), few), 1), "s"),
        "diagnosis of 200 teams": (best(lambda: kn.diagnose(system, few), 1), "s"),
    }


def raters(size: float) -> Measures:
    """Results of 60 sides over ten years, drawn here so that every version reads the same."""
    rng, n = np.random.default_rng(1), max(int(10_000 * size), 500)
    strength, home = rng.normal(0.0, 0.7, 60), rng.integers(0, 60, n)
    away = (home + rng.integers(1, 60, n)) % 60
    goals = rng.poisson(1.4 * np.exp(0.3 * np.outer([1, -1], strength[home] - strength[away])))
    table = {
        "date": np.datetime64("2010-01-01") + np.arange(n) * 3_650 // n,
        "home": [f"side {k}" for k in home],
        "away": [f"side {k}" for k in away],
        "home_score": goals[0],
        "away_score": goals[1],
    }
    matches = kn.read_matches(table)
    found = {"reading 10,000 matches": (best(lambda: kn.read_matches(table)), "s")}
    for rater in (kn.TeamElo, kn.Glicko, kn.KalmanElo):
        found[f"{rater.__name__}, fit on 10,000 matches"] = (best(lambda rater=rater: rater().fit(matches), 1), "s")
    fitted, most = kn.KalmanElo().fit(matches[: n // 2]), n - n // 4
    fitted.one_step_ahead(matches[n // 2 : most])
    start = time.process_time()
    fitted.one_step_ahead(matches[most:])
    found["KalmanElo, a match of 60 sides ahead"] = ((time.process_time() - start) / (n - most) * 1e9, "ns")
    return found


def start(size: float) -> Measures:
    code = "import time; t = time.process_time(); import kinelo; print(time.process_time() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return {"import kinelo": (min(float(run.stdout) for run in runs), "s")}


def measured(size: float) -> dict[str, object]:
    """What the version that is imported takes for tasks of ``size`` times their full size."""
    found: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for task in (simulator, kinetic, theory, raters, start):
            for what, (value, unit) in task(size).items():
                found[what] = {"value": float(f"{value:.3g}"), "unit": unit}
    return {
        "version": kn.__version__,
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "how": f"benchmarks/history.py, releases in turns on one idle machine, the best of {TURNS}; processor time",
        "measures": found,
    }


def sources() -> list[Path]:
    """The ``src`` of every release, the oldest first; this version's own is the last."""
    for version, commit in RELEASES.items():
        if not (SOURCES / version).exists():
            content = subprocess.run(
                ["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True
            ).stdout
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                archive.extractall(SOURCES / version, filter="data")
    return [*(SOURCES / version / "src" for version in RELEASES), ROOT / "src"]


def one_turn(source: Path, size: float) -> dict:
    """What a release takes, measured in a process that imports it."""
    command = [sys.executable, __file__, "--only", "--size", str(size)]
    surroundings = os.environ | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    return json.loads(subprocess.run(command, env=surroundings, stdout=subprocess.PIPE, check=True).stdout)


def all_turns(size: float) -> list[dict]:
    """What every release takes, the best of several turns."""
    found: dict[str, dict] = {}
    for turn in range(TURNS if size == 1.0 else 1):
        for source in sources():
            content = one_turn(source, size)
            print(f"turn {turn + 1}: {content['version']}", file=sys.stderr)
            kept = found.setdefault(content["version"], content)["measures"]
            for what, one in content["measures"].items():
                kept[what]["value"] = min(kept[what]["value"], one["value"])
    return list(found.values())


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=FOLDER, help="Folder for VERSION.json.")
    arguments.add_argument("--quick", action="store_true", help="Small sizes, one turn: compile, try, write nothing.")
    arguments.add_argument("--only", action="store_true", help="Print what the version that is imported takes.")
    arguments.add_argument("--size", type=float, default=1.0, help="Part of the full size of the tasks.")
    chosen = arguments.parse_args()
    if chosen.only:
        print(json.dumps(measured(chosen.size)))
    elif chosen.quick:
        print(json.dumps(all_turns(0.02), indent=1))
    else:
        for content in all_turns(chosen.size):
            chosen.out.mkdir(parents=True, exist_ok=True)
            text = json.dumps(content, indent=1) + "\n"
            (chosen.out / f"{content['version']}.json").write_text(text, encoding="utf-8")
            print(text)
