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
    "segno": ("A lab that is shared needs", "lab"),
    "distributed": ("Dask clients need", "dask"),
    "fastexcel": ("Spreadsheets (.xlsx) need", "excel"),
    "fastapi": ("The service needs", "serve"),
    "psycopg": ("Books in PostgreSQL need", "postgres"),
}
"""Library → what needs it, and the extra of ``kinelo`` that installs it."""


STUDY = ("matplotlib", "pydantic", "zarr")
"""What commands that carry out a study file use."""

SERVE = ("fastapi", "uvicorn")
"""What a book that is served uses."""

LAB = ("starlette", "uvicorn", "websockets", "plotly", *STUDY)

_INCLUDED = {"study": {"plot"}, "lab": {"study", "plot"}}
"""Extra → extras that it brings along."""


def require(*modules: str) -> None:
    """Refuse in one sentence to go on without these libraries, naming the extra that brings all that are missing."""
    missing = []
    for module in modules:
        try:
            import_module(module)
        except ImportError:
            missing.append(module)
    if not missing:
        return
    extras = {EXTRAS[module][1] for module in missing}
    extras -= {inner for extra in extras for inner in _INCLUDED.get(extra, ())}
    needs = [f"{EXTRAS[module][0]} {module}" for module in missing]
    words = ", ".join([needs[0], *(need[:1].lower() + need[1:] for need in needs[1:])])
    names = ",".join(sorted(extras))
    raise InputError(f'{words}. Install "kinelo[{names}]" (in a checkout ".[{names}]").')


_LIBRARIES = ("numpy", "scipy", "numba", "xarray", "zarr", "matplotlib")


def library_versions() -> dict[str, str]:
    """Versions of Python, Kinelo and the libraries that do its arithmetic."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {"kinelo": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
