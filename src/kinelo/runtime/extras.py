"""Other libraries: those that only some of Kinelo needs, and the versions of those that do its arithmetic.

What asks for a library that is not installed says which extra brings it.
"""

from __future__ import annotations

import platform
from importlib import import_module

from kinelo._version import __version__
from kinelo.errors import InputError

EXTRAS = {
    "matplotlib": ("Pictures need", "plot"),
    "pydantic": ("Study files need", "study"),
    "zarr": ("Studies and stored runs need", "study"),
    "starlette": ("The lab needs", "lab"),
    "uvicorn": ("The lab needs", "lab"),
    "websockets": ("The lab needs", "lab"),
    "plotly": ("The lab needs", "lab"),
    "distributed": ("Dask clients need", "dask"),
    "fastexcel": ("Spreadsheets (.xlsx) need", "excel"),
}
"""Library → what needs it, and the extra of ``kinelo`` that installs it."""


def require(*modules: str) -> None:
    """Refuse in one sentence to go on without these libraries."""
    for module in modules:
        try:
            import_module(module)
        except ImportError:
            what, extra = EXTRAS[module]
            raise InputError(f"{what} {module}. Install kinelo[{extra}].") from None


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
