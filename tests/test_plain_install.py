"""Without its extras Kinelo computes and rates; what needs more says so in one sentence, before it works."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kinelo.runtime.extras import EXTRAS
from one_process import type_each

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

BLOCK = "import sys\nfor name in {names!r}: sys.modules[name] = None\n"

CORE = """
import kinelo as kn

system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
league = kn.Normal([4.0, 7.0, 10.0], 1.0)
assert kn.simulate(system, league, steps=5).rating.sizes["team"] == 3
teams = kn.macro.Population.uniform(theta=(4.0, 10.0, 4), r=(4.0, 10.0, 5), sigma=1.0)
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


def of_extras(*names: str) -> list[str]:
    """Libraries that an extra, and those it includes, bring beyond the core."""
    found = []
    for requirement in (line for name in names for line in PROJECT["optional-dependencies"][name]):
        own = re.fullmatch(r"kinelo\[(.+)\]", requirement)
        found += of_extras(*own[1].split(",")) if own else [re.split(r"[>=\[]", requirement)[0]]
    return found


def test_every_library_of_an_extra_has_its_sentence():
    """numba-cuda speaks for itself: ``kinelo --devices`` says what is missing. Dask comes with distributed.

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
    sampled, rated, helped = type_each(
        ["sample", "league", "--teams", "4", "--seasons", "1"],
        ["rate", "league/results.csv", "--k", "20", "--json"],
        ["--help"],
        folder=tmp_path,
        first=BLOCK.format(names=missing),
    )
    assert sampled.code == 0, sampled.err
    assert rated.code == 0 and '"rating"' in rated.out, rated.err
    assert helped.code == 0 and "reproduce" in helped.out


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


NEEDS = {
    "matplotlib": [
        (["rate", "results.csv", "--picture", "history.png"], PICTURES),
        (["study", "simulate", "study.toml"], PICTURES),
        (["study", "diagnose", "study.toml"], PICTURES),
        (["study", "solve", "study.toml"], PICTURES),
        (["study", "sweep", "study.toml"], PICTURES),
        (["reproduce", "--scale", "quick"], PICTURES),
        ("kn.plot.stationary(None)", PICTURES),
    ],
    "zarr": [
        (["study", "simulate", "study.toml"], RUNS),
        ("kn.sweep(lambda n: 1 / n, {'n': [1, 2]}, out='here')", RUNS),
    ],
    "zarr matplotlib": [(["study", "diagnose", "study.toml"], BOTH)],
    "pydantic": [("kn.studies.read_study('study.toml')", "Study files need pydantic." + install("study"))],
    "starlette": [(["lab", "--no-browser"], "The lab needs starlette." + install("lab"))],
    "plotly": [(["lab", "--no-browser"], "The lab needs plotly." + install("lab"))],
    "distributed": [(["study", "simulate", "study.toml", "--workers", "2"], DASK)],
}
CALL = "import kinelo as kn\ntry:\n    {call}\nexcept kn.InputError as error:\n    print(error)"


ANEW = """
import sys
blocked = {names!r}
for name, module in getattr(sys, "aside", {{}}).items():
    if module is None: del sys.modules[name]
    else: sys.modules[name] = module
for name in [name for name in sys.modules if name.partition(".")[0] == "kinelo"]: del sys.modules[name]
aside = {{name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] in blocked}}
sys.modules.update(dict.fromkeys(blocked))
sys.aside = dict.fromkeys(blocked) | aside
"""
"""Without these libraries, as if nothing of Kinelo had been loaded before; the others stay, which load slowly."""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What is said without each of them, and what it leaves in the folder."""
    folder = tmp_path_factory.mktemp("needs")
    (folder / "study.toml").write_text(STUDY)
    (folder / "results.csv").write_text("home,away,result\nA,B,1\nB,A,0\n")
    words = []
    for missing, asked in NEEDS.items():
        words.append(["-c", ANEW.format(names=missing.split())])
        words += [["-c", CALL.format(call=one)] if isinstance(one, str) else one for one, _ in asked]
    each = iter(type_each(*words, folder=folder))
    answers = {}
    for missing, asked in NEEDS.items():
        assert next(each) == (0, "", "")
        answers[missing] = [next(each) for _ in asked]
    return answers, {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("missing", NEEDS)
def test_commands_and_functions_say_what_they_need_before_they_work(missing, said):
    answers, left = said
    for answer, (asked, sentence) in zip(answers[missing], NEEDS[missing], strict=True):
        told = (0, f"{sentence}\n", "") if isinstance(asked, str) else (2, "", f"kinelo: {sentence}\n")
        assert answer == told, asked
    assert left == {"study.toml", "results.csv"}
