"""A name for a law that users bring: it changes whenever the law's code, constants, closure or parameters do.

Functions are known by their compiled code, so digests hold within one version of Python; names of files, line numbers
and comments do not count.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def description(law: object) -> dict[str, Any]:
    """A law as plain words: its kind and its parameters; where those are functions, their digest.

    >>> from kinelo.model.outcome import Tanh
    >>> description(Tanh(nu=0.5))
    {'kind': 'tanh', 'nu': 0.5}
    """
    held = {name: value for name, value in vars(law).items() if not name.startswith("_")}
    return {
        "kind": type(law).__name__.lower(),
        **{name: law_digest(value) if callable(value) else value for name, value in held.items()},
    }


def law_digest(law: object) -> str:
    """Digest of a law, a function, or anything they hold.

    >>> law_digest(lambda z: 2 * z) == law_digest(lambda z: 2 * z), law_digest(lambda z: 2 * z) == law_digest(abs)
    (True, False)
    """
    state = hashlib.blake2b(digest_size=16)
    for word in _words(law, []):
        state.update(word)
        state.update(b"\0")
    return state.hexdigest()


def _words(value: object, seen: list[int]) -> Iterable[bytes]:
    """What is known of a value, piece by piece."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        yield repr(value).encode()
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype.str}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, np.generic):
        yield repr(value.item()).encode()
    elif id(value) in seen:
        yield b"again"
    else:
        yield from _parts(value, [*seen, id(value)])


def _parts(value: Any, seen: list[int]) -> Iterable[bytes]:
    if isinstance(value, types.CodeType):
        yield value.co_code
        yield repr(value.co_names).encode()
        yield from _all(value.co_consts, seen)
    elif isinstance(value, types.FunctionType):
        yield from _parts(value.__code__, seen)
        yield from _all(value.__defaults__ or (), seen)
        yield from _all((cell.cell_contents for cell in value.__closure__ or ()), seen)
        yield from _all((value.__globals__.get(name) for name in _names(value.__code__)), seen)
    elif isinstance(value, Mapping):
        yield from _all((pair for item in sorted(value.items(), key=lambda item: str(item[0])) for pair in item), seen)
    elif isinstance(value, frozenset | set):
        yield from _all(sorted(value, key=repr), seen)
    elif isinstance(value, tuple | list):
        yield from _all(value, seen)
    elif isinstance(value, types.ModuleType | types.BuiltinFunctionType | np.ufunc):
        yield value.__name__.encode()
    elif isinstance(value, type):
        yield from _class(value, seen)
    elif isinstance(value, types.MethodType):
        yield from _all((value.__func__, value.__self__), seen)
    elif hasattr(value, "dist") and hasattr(value, "kwds"):
        # A frozen distribution is its family with its arguments.
        yield from _class(type(value.dist), seen)
        yield from _all((value.dist.name, value.args, value.kwds), seen)
    else:
        yield from _class(type(value), seen)
        held = getattr(value, "__dict__", {})
        yield from _parts({name: part for name, part in held.items() if not name.startswith("_")}, seen)


def _names(code: types.CodeType) -> Iterable[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _class(kind: type, seen: list[int]) -> Iterable[bytes]:
    """A class by its name and, unless it comes with Kinelo or a library, by the code of its methods."""
    yield f"{kind.__module__}:{kind.__qualname__}".encode()
    if kind.__module__.split(".")[0] in ("kinelo", "builtins", "numpy", "scipy", "abc"):
        return
    for name, member in sorted(vars(kind).items()):
        inner = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
        if isinstance(inner, types.FunctionType) and id(inner) not in seen:
            yield name.encode()
            yield from _words(inner, seen)
        elif not name.startswith("__") and isinstance(member, bool | int | float | str | tuple | np.ndarray):
            yield name.encode()
            yield from _words(member, seen)
    for base in kind.__bases__:
        yield from _class(base, seen)


def _all(values: Iterable[object], seen: list[int]) -> Iterable[bytes]:
    for value in values:
        yield from _words(value, seen)
        yield b"\1"
