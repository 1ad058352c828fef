"""The map of the package names files that exist and the layers that import-linter holds; ways through it stay short."""

import inspect
import re
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

import kinelo as kn

ROOT = Path(__file__).parents[2]
TO_BE_MADE = {"NAME.py", "algebraic.py", "level/rater.py", "NAME/rater.py", "figures/NAME.py"}
"""Files that recipes tell to write."""


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_files_that_are_named_exist(page):
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/**/*.py") if ".venv" not in path.parts}
    named = set(re.findall(r"(?<![\w/*])[\w/]+\.py\b", (ROOT / page).read_text(encoding="utf-8")))
    assert len(named) > 20
    named = {name for name in named if not any(name.endswith(made) for made in TO_BE_MADE)}
    assert [name for name in sorted(named) if not any(f"/{file}".endswith(f"/{name}") for file in files)] == []


def test_layers_are_those_that_are_held():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    held = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    shown = text[text.index("## Layers") :].split("```")[1].strip().splitlines()
    assert shown == [layer.replace("kinelo.", "") for layer in held]


@pytest.mark.parametrize("name", ["TeamElo", "Glicko", "KalmanElo", "PlayerElo", "BradleyTerry", "RankElo"])
def test_a_rater_shows_few_names_beside_its_parameters(name):
    rater = getattr(kn, name)
    classes = [each for each in inspect.getmro(rater) if each.__module__.startswith("kinelo")]
    names = {key for each in classes for key in [*vars(each), *inspect.get_annotations(each)]}
    shown = {key for key in names if not key.startswith("_")} - set(inspect.signature(rater).parameters)
    assert {"fit", "update", "predict", "ratings_"} <= shown and len(shown) <= 25, sorted(shown)
    assert len(classes) <= 3


def test_matches_go_through_plain_elo_by_a_short_way():
    """Whoever follows three matches into a federation's Elo opens eleven files, and turns to another sixty times."""
    matches = kn.read_matches({"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]})
    entered, source = [], str(Path(kn.__file__).parent)

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(source):
            entered.append(frame.f_code.co_filename)

    kn.TeamElo.classic(k=20).update(matches)  # what is loaded and compiled once is no part of the way
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        kn.TeamElo.classic(k=20).update(matches)
    finally:
        sys.setprofile(before)
    hops = sum(one != other for one, other in pairwise(entered))
    assert 5 <= len(set(entered)) <= 11, sorted(set(entered))
    assert 20 <= hops <= 60
