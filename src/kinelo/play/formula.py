"""A formula: a plain function of numbers, compiled for the processor where it stands and elsewhere by `play.binding`.

Kernels that call formulas are made by :func:`kernel`. Their machine code is kept on disk together with a digest of the
sources it was compiled from, so that code compiled from other formulas is never used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import MethodType
from typing import Any

from numba import njit
from numba.core.runtime.nrt import rtsys

FORMULAS: list[Any] = []
"""Every formula, those it calls before it."""


def formula(function: Callable[..., Any]) -> Any:
    """Compile a scalar function for the processor and remember it for other devices."""
    compiled = inlined(function)
    FORMULAS.append(compiled)
    return compiled


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a part of a loop, which becomes part of each kernel that calls it."""
    return njit(nogil=True, error_model="numpy", forceinline=True)(function)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop over arrays; its code on disk is used only with the sources that made it."""
    return stamped(njit(cache=True, nogil=True, error_model="numpy")(function))


def stamped(compiled: Any) -> Any:
    """Fold the digest of the sources that a cached function may call into the stamp of its cache."""
    kept = compiled._cache
    index = kept._cache_file
    index._source_stamp = (index._source_stamp, digest(Path(compiled.py_func.__code__.co_filename).parent))
    kept.load_overload = MethodType(_load, kept)
    return compiled


def _load(kept: Any, signature: Any, context: Any) -> Any:
    """Take machine code from disk as Numba does, but without what is needed to compile, SciPy among it.

    That would be loaded in half the time which importing Numba takes. Compiling loads it by itself.
    """
    rtsys.initialize(context)
    with kept._guard_against_spurious_io_errors():
        return kept._load_overload(signature, context)


@cache
def digest(folder: Path) -> str:
    """Digest of the sources of ``play``, of a folder, and of those between it and the package."""
    package = Path(__file__).parents[1]
    rooms = {package / "play", folder}
    rooms.update(parent for parent in folder.parents if package in parent.parents)
    content = hashlib.sha256()
    for source in sorted(path for room in rooms for path in room.glob("*.py")):
        content.update(source.name.encode() + b"\0" + source.read_bytes())
    return content.hexdigest()
