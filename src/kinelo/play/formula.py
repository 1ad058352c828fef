"""A formula: a plain function of numbers, compiled for the processor where it stands and elsewhere by :func:`bind`.

Kernels that call formulas are made by :func:`kernel`. Numba keeps their machine code on disk and compiles again when
the file of the kernel changes; it does not look at the formulas that were compiled into it, nor at constants of other
files. Therefore each kernel has a folder for its code that is named after what can be compiled into it: the files that
hold compiled functions which its module names, and which those name in turn, and the values of constants there. Other
formulas or constants, another folder; tables, checks and classes beside them do not count. Stored code names the
classes of its arguments, which the next version may call otherwise: the version of Kinelo counts too, and code that
names classes which are not where they were is made anew.

A kernel takes seconds to compile. Two habits keep that short. A whole number that is handed on begins as
``np.int64(0)``: a bare ``0`` is a type of its own, and what it is handed to is compiled for it too. An array is copied
in a loop: to assign it to a slice compiles the words of an error. Nothing calls kernels from C, and nothing but kernels
calls their parts, so no entry is made for that; no garbage is looked for meanwhile.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pkgutil
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
from numba import config, njit, typeof
from numba.core import event
from numba.core.registry import CPUDispatcher

from kinelo._version import __version__
from kinelo.play.arithmetic import Target
from kinelo.runtime.compiling import NOTICE

FORMULAS: list[Any] = []
"""Every formula, those it calls before it."""

NOT_FROM_C: dict[str, Any] = {"no_cfunc_wrapper": True}
"""Option of ``numba.njit`` that makes no entry for calls from C."""

PACKAGE = Path(__file__).parents[1]
CONSTANTS = (bool, int, float, complex, str, np.generic)


class _Listener(event.Listener):
    """Tells whoever waits that code is being compiled; looking for garbage meanwhile would take a twentieth longer."""

    def __init__(self) -> None:
        self._collecting: list[bool] = []

    def on_start(self, event: object) -> None:
        self._collecting.append(gc.isenabled())
        gc.disable()
        NOTICE.begin()

    def on_end(self, event: object) -> None:
        NOTICE.end()
        if self._collecting.pop():
            gc.enable()


event.register("numba:compile", _Listener())


def formula(function: Callable[..., Any]) -> Any:
    """Compile a scalar function for the processor and remember it for other devices."""
    compiled = _inlined(function)
    FORMULAS.append(compiled)
    return compiled


def bind(target: Target) -> SimpleNamespace:
    """Every formula of ``play`` compiled for another target, by name: the same functions with other operations.

    >>> from kinelo.play.arithmetic import PLAIN
    >>> round(bind(PLAIN).logistic(0.5, 0.0, 1.0), 12)
    0.46211715726
    """
    # Each module registers its formulas when it is imported, those that it calls first.
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(import_module(package).__path__):
        import_module(f"{package}.{module.name}")
    replaced, bound = {id(old): new for old, new in target.operations.items()}, SimpleNamespace()
    for compiled in FORMULAS:
        plain = compiled.py_func
        names = {name: replaced.get(id(value), value) for name, value in plain.__globals__.items()}
        new = target.compile(FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__))
        replaced[id(compiled)] = new
        setattr(bound, plain.__name__, new)
    return bound


def _inlined(function: Callable[..., Any], **options: Any) -> Any:
    return njit(nogil=True, error_model="numpy", forceinline=True, **NOT_FROM_C, **options)(function)


def inlined(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a part of a loop, which becomes part of each kernel that calls it; from Python it runs as it is written.

    ``options`` are further ones of ``numba.njit``.
    """
    return _without_entry(_inlined(function, no_cpython_wrapper=True, **options))


def _without_entry(compiled: Any) -> Any:
    if isinstance(compiled, CPUDispatcher):
        compiled.__class__ = _Part
    return compiled


class _Loop(CPUDispatcher):
    """A function whose machine code is stored in a folder of its own, if in any."""

    folder: Path | None = None

    def compile(self, sig: Any) -> Any:
        """Take the code for these types from the folder, or make it; where it cannot be read, all of it anew."""
        try:
            return super().compile(sig)
        except (AttributeError, ImportError):
            if self.folder is None or not self.folder.is_dir():
                raise
            shutil.rmtree(self.folder, ignore_errors=True)
            return super().compile(sig)


class _Part(_Loop):
    """A function whose machine code has no entry for calls from Python."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.py_func(*arguments, **named)


def part(function: Callable[..., Any]) -> Any:
    """The same of a part that makes no array: without counts of references."""
    return inlined(function, _nrt=False)


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a loop over arrays; its machine code on disk is used only with the sources that made it.

    ``options`` are further ones of ``numba.njit``.
    """
    with _code_folder(function) as folder:
        compiled = njit(cache=True, nogil=True, error_model="numpy", **NOT_FROM_C, **options)(function)
    if isinstance(compiled, CPUDispatcher):  # not where NUMBA_DISABLE_JIT has everything run as it is written
        compiled.__class__ = _Loop
        cast("_Loop", compiled).folder = folder
    return compiled


def borrowing(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a part of a loop that makes no array: without counts of references, to hand arrays on costs nothing."""
    return kernel(function, _nrt=False, **options)


def inner(function: Callable[..., Any], **options: Any) -> Any:
    """The same of a part that only kernels call; from Python it runs as it is written, which is slow.

    With ``_nrt=True`` it may make arrays.
    """
    return _without_entry(kernel(function, no_cpython_wrapper=True, **{"_nrt": False, **options}))


def compiled_for(kernel: Any, arguments: Sequence[Any]) -> Callable[..., Any]:
    """The machine code of a kernel for arguments of just these types: it must be called with no others.

    Who calls the kernel itself has the types of all arguments looked up anew, which takes longer than one match.
    """
    return kernel.compile(tuple(map(typeof, arguments)))


@contextmanager
def _code_folder(function: Callable[..., Any]) -> Iterator[Path]:
    """Have Numba keep what is compiled meanwhile in a folder named after all that can be compiled into a kernel."""
    settings: Any = config
    before = settings.CACHE_DIR
    source = Path(function.__code__.co_filename)
    folder = Path(before or _default_folder()) / f"{source.parent.name}.{source.stem}-{digest(function)[:16]}"
    settings.CACHE_DIR = str(folder)
    try:
        yield folder
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


def digest(function: Callable[..., Any]) -> str:
    """Digest of all that can be compiled into a kernel, given as the plain function that it is made of."""
    files, constants = {function.__code__.co_filename}, set[str]()
    held = {str(k): cell.cell_contents for k, cell in enumerate(function.__closure__ or ())}
    waiting: list[dict[str, Any]] = [function.__globals__, held]
    seen: dict[int, dict[str, Any]] = {}
    while waiting:
        names = waiting.pop()
        if id(names) in seen:
            continue
        seen[id(names)] = names  # kept, so that no other gets its address
        for name, value in list(names.items()):
            if name.startswith("__"):
                continue
            if isinstance(value, CONSTANTS):
                constants.add(f"{name} = {value!r}")
            elif isinstance(value, np.ndarray):
                constants.add(f"{name} = {value.dtype} {value.shape} {value.tobytes().hex()}")
            elif isinstance(value, tuple | list):
                waiting.append({f"{name} {k}": part for k, part in enumerate(value)})
            elif module := _module_with_code(value):
                files.add(str(module.__file__))
                waiting.append(vars(module))
    content = hashlib.sha256()
    for part in [__version__, *sorted([*constants, *map(_source, files)])]:
        content.update(part.encode() + b"\0")
    return content.hexdigest()


def _module_with_code(value: object) -> ModuleType | None:
    """The module that holds a compiled function; a module of the package, named as such, is taken for one."""
    if isinstance(value, type | FunctionType):  # classes, and functions that nothing compiles
        return None
    module = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    compiled = value is not module and hasattr(value, "py_func")
    return module if compiled or file.startswith(str(PACKAGE)) else None


@cache
def _source(file: str) -> str:
    """Name and digest of a file."""
    path = Path(file)
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}"
