"""Versions of what does the arithmetic, recorded because results of two machines may differ with them."""

from __future__ import annotations

import platform

from kinelo._version import __version__

_LIBRARIES = ("numpy", "scipy", "numba", "xarray", "zarr", "matplotlib")


def library_versions() -> dict[str, str]:
    """Versions of Python, Kinelo and the libraries that do its arithmetic."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"kinelo": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
