"""What a release consists of says the same everywhere: recipe, extras, entry points, history of benchmarks."""

import fnmatch
import json
import re
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest
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


def test_the_source_archive_holds_whatever_is_versioned():
    """Patterns of the archive name every file at the top, so that its tests find what they read."""
    included = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = included["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no clone, so there is nothing to compare the archive with")
    tops = {line.split("/")[0] for line in listed.stdout.splitlines()} - {".gitignore", "pyproject.toml"}  # always in
    forgotten = {top for top in tops if not any(fnmatch.fnmatch(f"/{top}", pattern) for pattern in patterns)}
    assert not forgotten, "name them in [tool.hatch.build.targets.sdist] of pyproject.toml"


def test_a_release_is_refused_while_an_address_is_empty(tmp_path):
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    filled = re.sub(
        r'^(repository|tracker|documentation|doi|security|conduct) = ""', r'\1 = "x"', text, flags=re.MULTILINE
    )
    for content, status in ((text, 1), (filled, 0)):
        (tmp_path / "pyproject.toml").write_text(content, encoding="utf-8")
        command = [sys.executable, str(ROOT / ".ci" / "addresses.py")]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        assert ("repository" in done.stderr) == bool(status)


def test_a_package_index_shows_links_and_pictures_of_the_readme(monkeypatch):
    """With an address every link of README.md is absolute and leads to a file; without one none changes."""
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin", "hatchling.metadata.plugin.interface"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(MetadataHookInterface=object))
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    hook = module_from_spec(spec)
    spec.loader.exec_module(hook)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = hook.absolute(text, "https://x/y")
    targets = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", shown)
    assert len(targets) > 20
    for picture, target in targets:
        kind = "raw" if picture else "blob"
        assert target.startswith(f"https://x/y/{kind}/HEAD/"), target
        assert (ROOT / target.removeprefix(f"https://x/y/{kind}/HEAD/").partition("#")[0]).exists(), target
    assert hook.absolute(text, "") == text


def test_the_software_is_cited_as_itself():
    """Citation programs follow ``preferred-citation`` in place of the software: the paper is a reference instead."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert "preferred-citation" not in cited and cited["type"] == "software" and cited["license"] == PROJECT["license"]
    [paper] = cited["references"]
    assert paper["doi"] in (ROOT / "docs" / "how-to" / "cite.md").read_text(encoding="utf-8")
