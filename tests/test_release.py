"""What a release consists of says the same everywhere: recipe, extras, entry points, history of benchmarks."""

import json
import re
import tomllib
from pathlib import Path

import yaml

import kinelo

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ELSEWHERE = {"matplotlib": "matplotlib-base", "dask": "dask-core"}
"""Names that conda has for the libraries that Kinelo imports."""


def recipe() -> dict:
    """The recipe with its one variable filled in, as conda does before it reads the YAML."""
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    [version] = re.findall(r'{% set version = "(.+)" %}\n', text)
    text = re.sub(r"{%.*%}\n", "", text).replace("{{ version }}", version).replace("{{ PYTHON }}", "python")
    assert "{{" not in text and "{%" not in text
    return yaml.safe_load(text)


def in_conda(requirements: list[str]) -> set[str]:
    pairs = [re.fullmatch(r"([\w-]+)(>=[\d.]+)", one) for one in requirements if not one.startswith("kinelo[")]
    return {f"{ELSEWHERE.get(pair[1], pair[1])} {pair[2]}" for pair in pairs if pair}


def test_the_conda_recipe_is_that_of_the_project():
    found = recipe()
    python = f"python {PROJECT['requires-python']}"
    assert found["package"] == {"name": PROJECT["name"], "version": kinelo.__version__}
    assert found["source"]["path"] == f"../dist/kinelo-{kinelo.__version__}.tar.gz"
    [script] = PROJECT["scripts"].items()
    assert found["build"]["entry_points"] == [" = ".join(script)]
    assert set(found["requirements"]["run"]) == in_conda(PROJECT["dependencies"]) | {python}
    extras = PROJECT["optional-dependencies"]
    optional = [one for name in ("plot", "study", "lab", "dask") for one in extras[name]]
    assert set(found["requirements"]["run_constrained"]) == in_conda(optional)
    assert {python, "pip", "hatchling"} == set(found["requirements"]["host"])
    assert found["about"] == {
        "summary": PROJECT["description"], "license": PROJECT["license"], "license_file": PROJECT["license-files"][0],
    }  # fmt: skip


def test_every_version_has_its_benchmarks():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+) \(\d", changelog, re.MULTILINE)
    kept = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "benchmarks/history").iterdir()}
    wanted = set(released)
    assert wanted <= kept.keys() <= wanted | {kinelo.__version__}, "python benchmarks/history.py on an idle machine"
    for version, content in kept.items():
        assert content["version"] == version
        assert all(one["value"] > 0 and one["unit"] in ("s", "ns") for one in content["measures"].values())
    assert len({content["machine"] for content in kept.values()}) == 1, (
        "figures of different machines cannot be compared"
    )
    names = [set(content["measures"]) for content in kept.values()]
    assert all(one == names[0] for one in names)
