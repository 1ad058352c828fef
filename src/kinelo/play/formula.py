"""A formula: a plain function of numbers, compiled for the processor where it stands and elsewhere by `play.binding`.

Kernels that call formulas are made by :func:`kernel`. Numba keeps their machine code on disk and compiles again when
the file of the kernel changes; it does not look at the formulas that were compiled into it. Therefore each kernel has
a folder for its code that is named after the sources it may call: other sources, another folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit

FORMULAS: list[Any] = []
"""Every formula, those it calls before it."""

PACKAGE = Path(__file__).parents[1]


def formula(function: Callable[..., Any]) -> Any:
    """Compile a scalar function for the processor and remember it for other devices."""
    compiled = inlined(function)
    FORMULAS.append(compiled)
    return compiled


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a part of a loop, which becomes part of each kernel that calls it."""
    return njit(nogil=True, error_model="numpy", forceinline=True)(function)


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a loop over arrays; its machine code on disk is used only with the sources that made it.

    ``options`` are further ones of ``numba.njit``.
    """
    with _code_folder(Path(function.__code__.co_filename).parent):
        return njit(cache=True, nogil=True, error_model="numpy", **options)(function)


@contextmanager
def _code_folder(sources: Path) -> Iterator[None]:
    """Have Numba keep what is compiled meanwhile in a folder named after its sources."""
    settings: Any = config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(Path(before or _default_folder()) / f"{sources.name}-{digest(sources)[:16]}")
    try:
        yield
    finally:
        settings.CACHE_DIR = before


@cache
def _default_folder() -> Path:
    """Beside the bytecode of the package, or in the user's cache where the package cannot be written."""
    beside = PACKAGE / "__pycache__"
    if os.access(beside if beside.exists() else PACKAGE, os.W_OK):
        return beside
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(home) / "kinelo"


@cache
def digest(folder: Path) -> str:
    """Digest of the sources of ``play``, of a folder, and of those between it and the package."""
    folders = {PACKAGE / "play", folder}
    folders.update(parent for parent in folder.parents if PACKAGE in parent.parents)
    content = hashlib.sha256()
    for source in sorted(path for folder in folders for path in folder.glob("*.py")):
        content.update(source.name.encode() + b"\0" + source.read_bytes())
    return content.hexdigest()
