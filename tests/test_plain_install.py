"""Without its extras Kinelo computes and rates; what needs more says so in one sentence, before it works."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kinelo.runtime.extras import EXTRAS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

BLOCK = "import sys\nfor name in {names!r}: sys.modules[name] = None\n"

CORE = """
import kinelo as kn

system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
league = kn.Normal([4.0, 7.0, 10.0], 1.0)
assert kn.simulate(system, league, steps=5).rating.sizes["team"] == 3
teams = kn.Population.uniform(theta=(4.0, 10.0, 4), r=(4.0, 10.0, 5), sigma=1.0)
assert kn.solve(system, teams, until=0.1).density.sizes["r"] == 5
assert 0.0 < kn.diagnose(system, league).slope < 1.0
assert kn.sweep(lambda n: 1 / n, {"n": [1, 2]}).value.values.tolist() == [1.0, 0.5]
assert kn.paper.setup_r1(teams=3).teams == 3
matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "A"], "result": [1, 0]})
rater = kn.TeamElo.classic(k=20).fit(matches)
assert rater.ratings_["name"][0] == "A"
print("done")
"""


def run(code: str, folder: Path, *, without: list[str]) -> subprocess.CompletedProcess[str]:
    blocked = BLOCK.format(names=without)
    command = [sys.executable, "-c", blocked + code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def type_command(words: list[str], folder: Path, *, without: list[str]) -> subprocess.CompletedProcess[str]:
    code = f"sys.argv = {['kinelo', *words]!r}\nfrom kinelo.cli import main\nmain()"
    return run(code, folder, without=without)


def of_extras(*names: str) -> list[str]:
    """Libraries that an extra, and those it includes, bring beyond the core."""
    found = []
    for requirement in (line for name in names for line in PROJECT["optional-dependencies"][name]):
        own = re.fullmatch(r"kinelo\[(.+)\]", requirement)
        found += of_extras(*own[1].split(",")) if own else [re.split(r"[>=\[]", requirement)[0]]
    return found


def test_every_library_of_an_extra_has_its_sentence():
    """numba-cuda speaks for itself: ``kinelo devices`` says what is missing. Dask comes with distributed.

    uvicorn takes httptools and uvloop where they are, and does without.
    """
    told = {name: extra for name, (_, extra) in EXTRAS.items()}
    for extra in ("plot", "study", "lab", "dask"):
        declared = PROJECT["optional-dependencies"][extra]
        own = {re.split("[>=]", line)[0] for line in declared if not line.startswith("kinelo")} - {"dask"}
        assert own == {name for name, brings in told.items() if brings == extra}
    core = {re.split("[>=]", line)[0] for line in PROJECT["dependencies"]}
    assert not core & EXTRAS.keys()
    assert set(of_extras("all")) == EXTRAS.keys() | {"dask", "httptools", "uvloop"}


def test_the_core_runs_without_any_extra(tmp_path):
    done = run(CORE, tmp_path, without=of_extras("all"))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_commands_without_any_extra(tmp_path):
    """pydantic stays: recent versions of typer bring it."""
    missing = [name for name in of_extras("all") if name != "pydantic"]
    assert (
        type_command(["sample", "league", "--teams", "4", "--seasons", "1"], tmp_path, without=missing).returncode == 0
    )
    rated = type_command(["rate", "league/results.csv", "--k", "20", "--json"], tmp_path, without=missing)
    assert rated.returncode == 0 and '"rating"' in rated.stdout, rated.stderr
    helped = type_command(["--help"], tmp_path, without=missing)
    assert helped.returncode == 0 and "reproduce" in helped.stdout


STUDY = """
gamma = 0.05
outcome = {kind = "tanh", nu = 0.5}
league = {kind = "fixed", theta = [1.0, 2.0]}
simulate = {steps = 4, seed = 1}
"""


def install(extra: str) -> str:
    return f' Install "kinelo[{extra}]" (in a checkout ".[{extra}]").'


RUNS = "Studies and stored runs need zarr." + install("study")
DASK = "Dask clients need distributed." + install("dask")
BOTH = "Pictures need matplotlib, studies and stored runs need zarr." + install("study")
PICTURES = "Pictures need matplotlib." + install("plot")


@pytest.mark.parametrize(
    ("words", "missing", "sentence"),
    [
        (["rate", "results.csv", "--picture", "history.png"], "matplotlib", PICTURES),
        (["simulate", "study.toml"], "matplotlib", PICTURES),
        (["simulate", "study.toml"], "zarr", RUNS),
        (["diagnose", "study.toml"], "matplotlib", PICTURES),
        (["solve", "study.toml"], "matplotlib", PICTURES),
        (["sweep", "study.toml"], "matplotlib", PICTURES),
        (["reproduce", "--scale", "quick"], "matplotlib", PICTURES),
        (["lab", "--no-browser"], "starlette", "The lab needs starlette." + install("lab")),
        (["diagnose", "study.toml"], "zarr matplotlib", BOTH),
        (["lab", "--no-browser"], "plotly", "The lab needs plotly." + install("lab")),
        (["simulate", "study.toml", "--workers", "2"], "distributed", DASK),
    ],
)  # fmt: skip
def test_commands_say_what_they_need_before_they_work(words, missing, sentence, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "results.csv").write_text("home,away,result\nA,B,1\nB,A,0\n")
    before = sorted(tmp_path.iterdir())
    done = type_command(words, tmp_path, without=missing.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"kinelo: {sentence}\n")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("call", "missing", "sentence"),
    [
        ("kn.plot.stationary(kn.stationary(kn.Tanh(nu=0.5), kn.Fixed([1.0, 2.0])))", "matplotlib", PICTURES),
        ("kn.sweep(lambda n: 1 / n, {'n': [1, 2]}, out='here')", "zarr", RUNS),
        ("kn.studies.read_study('study.toml')", "pydantic", "Study files need pydantic." + install("study")),
    ],
)  # fmt: skip
def test_functions_say_what_they_need(call, missing, sentence, tmp_path):
    code = f"import kinelo as kn\ntry:\n    {call}\nexcept kn.InputError as error:\n    print(error)"
    done = run(code, tmp_path, without=[missing])
    assert (done.stdout, done.stderr) == (f"{sentence}\n", "")
