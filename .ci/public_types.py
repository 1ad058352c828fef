"""Fail where a public name has a type that is not known: what pyright --verifytypes says, held to what is public.

Public is what a reader is told to use: the names in ``kinelo.__all__`` and in the ``__all__`` of its packages, the
members of those classes, and the members they inherit from other classes of the package. Pyright counts every module
as public; this does not.

    python .ci/public_types.py [REPORT.json]

Without a report pyright is run, on a copy of the package: it does not verify an editable installation.
"""

import inspect
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def verified(folder: Path) -> dict:
    """What pyright says of a copy of the package in ``folder``, with the packages installed for this Python."""
    venv.create(folder, with_pip=False)
    where = {"base": str(folder), "platbase": str(folder)}
    site, programs = (Path(sysconfig.get_path(name, "venv", vars=where)) for name in ("purelib", "scripts"))
    shutil.copytree(ROOT / "src/kinelo", site / "kinelo", ignore=shutil.ignore_patterns("__pycache__"))
    others = [line for line in sys.path if line.endswith("site-packages")]
    (site / "others.pth").write_text("\n".join(others), encoding="utf-8")
    told = {**os.environ, "VIRTUAL_ENV": str(folder), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "pyright", "--verifytypes", "kinelo", "--ignoreexternal", "--outputjson"]
    done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        raise SystemExit(f"pyright gave no report: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def homes() -> set[str]:
    """Where the public names live: the full names of functions and classes, with the classes these inherit from."""
    import kinelo

    found = set()
    packages = [import_module(f"kinelo.{name}") for name in sorted(kinelo._PACKAGES)]
    for module in [kinelo, *packages]:
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            for owner in inspect.getmro(value) if inspect.isclass(value) else [value]:
                where = getattr(owner, "__module__", None)
                if where and where.split(".")[0] == "kinelo":
                    found.add(f"{where}.{owner.__qualname__}")
    return found


def is_public(symbol: str, public: set[str]) -> bool:
    """Whether a symbol is a public name or a member of one.

    >>> is_public("kinelo.model.outcome.Tanh.nu", {"kinelo.model.outcome.Tanh"})
    True
    >>> is_public("kinelo.model.outcome.Tanh._nu", {"kinelo.model.outcome.Tanh"})
    False
    >>> is_public("kinelo.model.outcome.Tanhs", {"kinelo.model.outcome.Tanh"})
    False
    >>> is_public("kinelo.model.outcome.Tanh.__call__", {"kinelo.model.outcome.Tanh"})
    True
    """
    if symbol in public:
        return True
    owner, _, member = symbol.rpartition(".")
    hidden = member.startswith("_") and not member.endswith("__")
    return bool(owner) and not hidden and is_public(owner, public)


def lacking(report: dict, public: set[str]) -> tuple[int, list[str]]:
    """How many public symbols there are, and a line for each whose type is unknown or ambiguous."""
    symbols = [symbol for symbol in report["typeCompleteness"]["symbols"] if is_public(symbol["name"], public)]
    lines = [
        f"{symbol['name']}: " + "; ".join(said["message"].replace("\n", " ") for said in symbol["diagnostics"])
        for symbol in symbols
        if not symbol["isTypeKnown"] or symbol["isTypeAmbiguous"]
    ]
    return len(symbols), lines


def main() -> int:
    """Say which public names lack a type; 1 where one does."""
    if len(sys.argv) > 1:
        report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    else:
        with tempfile.TemporaryDirectory() as folder:
            report = verified(Path(folder).resolve())
    count, lines = lacking(report, homes())
    print("\n".join(lines))
    print(f"{count - len(lines)} of {count} public names have a known type.")
    return 1 if lines or not count else 0


if __name__ == "__main__":
    sys.exit(main())
