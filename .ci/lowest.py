"""Print the lowest declared version of everything that Kinelo and its tests need, one requirement a line."""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

NOT_NEEDED = {"playwright"}
"""For tests in a browser, of which this trial has none."""


def lowest(requirements: list[str], extras: dict[str, list[str]]) -> Iterator[str]:
    """Lower bounds as exact versions; extras of Kinelo itself are followed."""
    for requirement in requirements:
        own = re.fullmatch(r"kinelo\[(.+)\]", requirement)
        if own:
            for name in own[1].split(","):
                yield from lowest(extras[name], extras)
            continue
        bound = re.fullmatch(r"([\w.-]+)(\[[\w,-]+\])?>=([\w.]+)(; .+)?", requirement)
        if bound is None:
            sys.exit(f"pyproject.toml: {requirement!r} has no lower bound of the form name>=version.")
        if bound[1] not in NOT_NEEDED:
            yield f"{bound[1]}{bound[2] or ''}=={bound[3]}{bound[4] or ''}"


packages = {path.parent.name for path in Path("src/kinelo").glob("*/__init__.py")}
tried = {line.split("/")[1] for line in Path(".ci/lowest_tests.txt").read_text(encoding="utf-8").split()}
if packages - tried:
    sys.exit(f".ci/lowest_tests.txt: no test of {', '.join(sorted(packages - tried))}.")

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
print("\n".join(lowest([*project["dependencies"], *extras["test"]], extras)))
