"""Classes that others bring: by entry points of installed packages, or named by a user as ``module:Class``.

A package declares its raters, outcomes and commands in its own ``pyproject.toml``:

    [project.entry-points."kinelo.raters"]
    surprise = "my_package.raters:Surprise"

Nothing is imported before it is used. A package that cannot be loaded costs one warning, never the program. A module
of a user's is found on Python's path, or else in the working folder or in the folder of the file that names it; those
folders are looked into for that one import, which somebody allowed, and for nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, distributions
from pathlib import Path
from typing import Any, Literal

from kinelo.errors import InputError, warn

Group = Literal["kinelo.raters", "kinelo.outcomes", "kinelo.commands"]


@cache
def plugins(group: Group, taken: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Name → entry point of what installed packages add, but for names that are ``taken`` or given before."""
    return _sorted_out(group, taken)[0]


@cache
def warn_of_plugins_left_out(group: Group, taken: tuple[str, ...]) -> None:
    """Say, once, which plug-ins are not used because their name is taken."""
    for sentence in _sorted_out(group, taken)[1]:
        warn(sentence)


def _sorted_out(group: Group, taken: tuple[str, ...]) -> tuple[dict[str, EntryPoint], list[str]]:
    chosen: dict[str, EntryPoint] = {}
    points, complaints = entry_points_of(group)
    for point in sorted(points, key=lambda point: (point.name, package_of(point))):
        if point.name in taken:
            complaints.append(f"{described(point)} is left out: Kinelo has one of that name.")
        elif point.name not in chosen:
            chosen[point.name] = point
        elif point.value != chosen[point.name].value:
            complaints.append(f"{described(point)} is left out: {package_of(chosen[point.name])} has one of that name.")
    return chosen, complaints


def entry_points_of(group: Group) -> tuple[list[EntryPoint], list[str]]:
    """Entry points of one group, and sentences about packages whose metadata cannot be read."""
    points: dict[tuple[str, str, str], EntryPoint] = {}
    complaints = []
    for package in distributions():
        try:
            for point in package.entry_points:
                if point.group == group:
                    points.setdefault((package_of(point), point.name, point.value), point)
                    point.module  # noqa: B018  # a value that names nothing is noticed here
        except Exception as error:  # metadata of other packages may be broken in any way
            name = getattr(package, "_path", None)
            where = getattr(name, "name", None) or "an installed package"
            complaints.append(f"The plug-ins of {where} cannot be listed: {type(error).__name__}.")
    usable = [point for point in points.values() if point.pattern.match(point.value)]
    return usable, sorted(set(complaints))


def load_plugin(point: EntryPoint) -> Any:
    """What an entry point names, or an InputError that says which package is broken, and how."""
    try:
        return point.load()
    except (Exception, SystemExit) as error:  # a module of another package may raise anything when it is imported
        words = " ".join(str(error).split())
        raise InputError(f"{described(point)} cannot be loaded: {type(error).__name__}: {words}") from None


def described(point: EntryPoint) -> str:
    """A plug-in in words: its name and its package."""
    return f"The plug-in {point.name} of {package_of(point)}"


def package_of(point: EntryPoint) -> str:
    """The package that declares an entry point, with its version."""
    try:
        return f"{point.dist.name} {point.dist.version}" if point.dist else point.module
    except Exception:  # metadata without a name
        return point.value


def imported(name: str, what: str, folder: Path | None = None) -> Any:
    """What ``module:Class`` names; one sentence about ``what`` was wanted where it cannot be had.

    Only whoever may run code calls this: the module is found on Python's path, or else in the working folder or
    ``folder``, which are on that path for this one import.

    >>> imported("fractions:Fraction", "number")
    <class 'fractions.Fraction'>
    """
    module, _, kind = name.partition(":")
    folders = [Path.cwd()] if folder is None else [Path.cwd(), folder]
    try:
        with _path_ends_in(folders):
            named: Any = import_module(module)
        for part in kind.split("."):
            named = getattr(named, part)
    except Exception as error:  # a module of a user's may raise anything when it is imported
        said = str(error).strip().splitlines()[:1]
        if not said or not isinstance(error, ImportError | AttributeError | ValueError):
            said = [type(error).__name__, *said]
        raise InputError(f"The {what} {name} was not found: {': '.join(said)}{_hidden(module, folders)}") from None
    return named


@contextmanager
def _path_ends_in(folders: Sequence[Path]) -> Iterator[None]:
    """Modules of these folders are found meanwhile, but for those that Python has under the same name."""
    before = list(sys.path)
    sys.path += [str(folder.resolve()) for folder in folders]
    try:
        yield
    finally:
        sys.path[:] = before


def _hidden(module: str, folders: Sequence[Path]) -> str:
    """That a file of the user's is not what was imported under its name."""
    there = getattr(sys.modules.get(module), "__file__", None)
    for path in (folder / f"{module}.py" for folder in folders):
        if there is not None and path.is_file() and path.resolve() != Path(there).resolve():
            return f"; {there} has the name of {path}, so rename yours."
    return ""
