"""Nothing that lies in a folder is run because somebody works there: every process is started among traps.

A trap is a file named like a module that Kinelo, a library or Python itself imports, or would if it were installed.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import kinelo as kn
from kinelo.lab.serve.app import WORKER_KINDS
from kinelo.lab.serve.jobs import Jobs
from kinelo.lab.serve.settings import Limits
from kinelo.studies import read_study
from patience import PATIENCE

SITE = Path(sysconfig.get_path("purelib"))
LIBRARIES = [
    "cloudpickle", "dask", "distributed", "fastexcel", "llvmlite", "matplotlib", "narwhals", "numba", "numpy", "polars",
    "pydantic", "rich", "scipy", "starlette", "tornado", "typer", "uvicorn", "websockets", "xarray", "zarr",
]  # fmt: skip
IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z]\w*)", re.MULTILINE)
KINDS = sorted({*Jobs(Limits())._most, *WORKER_KINDS.values()})

DRIVER = """
import asyncio, json, sys
from pathlib import Path
import kinelo as kn
from kinelo.lab.serve.jobs import Worker
from kinelo.lab.serve.settings import Limits
from kinelo.runtime.workers import local_client
from kinelo.studies import read_study

async def ask(kind):
    worker = await Worker.start(kind, Limits())
    seen = len(await worker.ask("sample")) if kind == "rating" else len(await worker.ask("__repr__"))
    await worker.end()
    return seen

def paths():
    import sys
    return sys.path

def main():
    study = read_study(sys.argv[1])
    answers = {kind: asyncio.run(ask(kind)) for kind in sys.argv[2:]}
    with local_client(1) as client:
        there = client.submit(paths).result()
    print(json.dumps({"answers": answers, "paths": [sys.path, there], "shape": str(study.solve.distribution)}))

if __name__ == "__main__":
    main()
"""
STUDY = """
gamma = 0.05
outcome = {kind = "tanh", nu = 0.5}
population = {kind = "uniform", theta = [4, 10, 4], r = [2, 12, 8], sigma = 1.0}
solve = {until = 0.1, shape = {kind = "scipy.stats:t", df = 3}}
"""


def names_of_modules() -> set[str]:
    """Every name under which a module is looked for at the top level."""
    names = {*sys.stdlib_module_names, *(entry.name.partition(".")[0] for entry in os.scandir(SITE))}
    for library in LIBRARIES:
        assert (SITE / library).is_dir(), library
        for folder, below, files in os.walk(SITE / library):
            below[:] = [one for one in below if one not in ("tests", "testing")]
            for file in files:
                if file.endswith(".py"):
                    names.update(found.decode() for found in IMPORTED.findall(Path(folder, file).read_bytes()))
    return {name for name in names if name.isidentifier()}


@pytest.fixture(scope="module")
def traps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traps")
    names = names_of_modules()
    assert names >= {"polars", "scikits", "uarray", "sksparse", "json", "pickle", "runpy"} and len(names) > 400
    for name in names:
        (folder / f"{name}.py").write_text("open(__file__ + '.ran', 'w').close()\n")
    (folder / "study.toml").write_text(STUDY)
    return folder


def started(traps, *command):
    """What a process says that is started in the folder of traps, none of which it ran."""
    unsafe = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(command, cwd=traps, env=unsafe, capture_output=True, text=True, timeout=PATIENCE)
    assert [path.name for path in traps.glob("*.ran")] == [] and done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_trap_is_run_where_python_starts_as_it_likes(traps):
    with pytest.raises(AssertionError, match=r"json\.py\.ran"):
        started(traps, sys.executable, "-c", "import json")
    for path in traps.glob("*.ran"):
        path.unlink()


@pytest.mark.parametrize("kinds", [("rating", "theory"), pytest.param(KINDS, marks=pytest.mark.long)], ids=len)
def test_no_process_that_is_started_among_traps_runs_one(traps, tmp_path, kinds):
    """Every kind of worker is started in one way; each loads modules of its own."""
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER)
    said = json.loads(started(traps, sys.executable, driver, "study.toml", *kinds).splitlines()[-1])
    assert KINDS == ["audit", "compare", "figure", "guide", "paper", "rating", "theory"]
    assert set(said["answers"]) == set(kinds)
    assert all(said["answers"].values()) and said["shape"]
    assert all(str(traps) not in path and "" not in path for path in said["paths"])


def test_the_command_line_runs_no_trap(traps, tmp_path):
    started(traps, Path(sys.executable).parent / "kinelo", "sample", "--seasons", "1", tmp_path / "league")
    for name in sys.stdlib_module_names:
        (traps / f"{name}.py").unlink(missing_ok=True)  # Python runs these for -m before it runs anything of Kinelo's
    started(traps, sys.executable, "-m", "kinelo", "sample", "--seasons", "1", tmp_path / "other")
    assert (tmp_path / "league/results.csv").read_bytes() == (tmp_path / "other/results.csv").read_bytes()


def test_a_module_of_ones_own_is_found_beside_its_study_and_a_library_is_not_replaced_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "laws_beside.py").write_text(
        "import sys\nimport kinelo as kn\nwhile_here = list(sys.path)\nlaw = kn.Tanh(0.5)\n"
    )
    (beside / "fractions.py").write_text("import kinelo as kn\nlaw = kn.Tanh(0.5)\n")
    before = list(sys.path)
    for name in ("laws_beside", "fractions"):
        (beside / f"{name}.toml").write_text(f'gamma = 0.1\noutcome = {{kind = "{name}:law"}}\n')
        with pytest.raises(kn.InputError, match="allow_code=True"):
            read_study(beside / f"{name}.toml")
        assert sys.path == before and "laws_beside" not in sys.modules
    try:
        assert read_study(beside / "laws_beside.toml", allow_code=True).system.outcome == kn.Tanh(0.5)
        there = sys.modules["laws_beside"].while_here
        assert there[-1] == str(beside) and there[: len(before)] == before == sys.path
    finally:
        sys.modules.pop("laws_beside", None)
    with pytest.raises(
        kn.InputError, match=r"lib/.*fractions\.py has the name of .*beside/fractions\.py, so rename yours"
    ):
        read_study(beside / "fractions.toml", allow_code=True)
