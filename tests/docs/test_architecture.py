"""The map of the package names files that exist, and the layers that import-linter holds."""

import re
import tomllib
from pathlib import Path

import pytest

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
