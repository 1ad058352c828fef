"""What all laws share: how study files write them, how compiled code knows them, and a digest that names them.

A built-in law is a class marked ``@built_in(key)``. Study files then accept ``kind = "key"`` in the section of its base
class, with the parameters of its constructor as further keys; books know it by the name of the class. Whoever needs
every law asks :func:`built_in_laws`, which looks through all modules of ``kinelo.model``: there is no list to edit.

The digest of a law changes whenever its code, constants, closure or parameters do. Functions are known by their
compiled code, so digests hold within one version of Python; names of files, line numbers and comments do not count.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import pkgutil
import types
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, TypeAlias, TypeVar, get_type_hints

import numpy as np

from kinelo.errors import InputError


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


Made = TypeVar("Made", bound=Callable[..., Any])
_FOUND: list[BuiltIn] = []


class Law(ABC):
    """Base of outcomes, pairings, strengths, step rules, schedules and dynamics."""

    section: ClassVar[str]
    """The section of a study file that describes laws of this family."""

    kind: ClassVar[int | None] = None
    """The number of the law's formula in :mod:`kinelo.play`, for built-in laws that have one there."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Take ``kind`` from the class itself alone: one derived from a built-in law may say something else."""
        super().__init_subclass__(**options)
        cls.kind = vars(cls).get("kind")

    @property
    def code(self) -> Any:
        """The law as compiled code knows it: its kind and its numbers; None where it has no formula there."""
        return None

    def digest(self) -> str:
        """A name for this law that changes whenever its formula or its parameters do."""
        return law_digest(self)


@dataclass(frozen=True)
class BuiltIn:
    """A built-in law: its key in study files and the class, or function, that makes it.

    ``types`` are those of keys that study files accept more narrowly than the constructor.
    """

    key: str
    make: Callable[..., Any]
    types: Mapping[str, Any]

    @property
    def law(self) -> type[Law]:
        """The class of the law; of a function, the one it returns."""
        return self.make if isinstance(self.make, type) else get_type_hints(self.make)["return"]

    def parameters(self) -> dict[str, tuple[Any, Any]]:
        """Type and default of every key, in the order of the constructor; ``inspect.Parameter.empty``: required."""
        maker = self.make.__init__ if isinstance(self.make, type) else self.make
        hints = get_type_hints(maker)
        found = inspect.signature(self.make).parameters.values()
        return {one.name: (self.types.get(one.name, hints[one.name]), one.default) for one in found}

    def build(self, **keys: Any) -> Any:
        """The law with these keys; a class may read them by a method ``from_keys``."""
        return getattr(self.make, "from_keys", self.make)(**keys)


def built_in(key: str, **types: Any) -> Callable[[Made], Made]:
    """Mark a class, or a function that returns a league, as a built-in law that study files write as ``key``."""

    def mark(made: Made) -> Made:
        _FOUND.append(BuiltIn(key, made, types))
        return made

    return mark


@cache
def built_in_laws(family: type[Law]) -> tuple[BuiltIn, ...]:
    """Every built-in law derived from a base class.

    >>> from kinelo.model.outcome import Outcome
    >>> [one.key for one in built_in_laws(Outcome)][:3]
    ['tanh', 'probit', 'davidson']
    """
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(import_module(package).__path__):
        import_module(f"{package}.{module.name}")
    return tuple(one for one in _FOUND if issubclass(one.law, family))


def built_in_names(family: type[Law], last: str = " and ", *, compiled: bool = False) -> str:
    """The names of the built-in classes of a family as a sentence lists them, or of those with a formula in ``play``.

    >>> from kinelo.model.outcome import Outcome
    >>> built_in_names(Outcome).startswith("Tanh, Probit")
    True
    """
    classes = [one.make for one in built_in_laws(family) if isinstance(one.make, type)]
    names = [kind.__name__ for kind in classes if not compiled or kind.kind is not None]
    return last.join(filter(None, (", ".join(names[:-1]), names[-1])))


def no_formula(family: type[Law], what: str, law: Law) -> InputError:
    """The refusal of a law that compiled code does not know."""
    known = built_in_names(family, compiled=True)
    return InputError(f"The {what} {law!r} has no compiled formula; {known} have one.")


def fingerprint(*laws: Law) -> str | None:
    """The same text for laws of the same kinds and numbers; None where a law may hold what is not seen from outside.

    What is computed from the laws alone can be kept under it for the next that are equal.

    >>> from kinelo.model.outcome import Tanh
    >>> fingerprint(Tanh(0.5)) == fingerprint(Tanh(0.5)), fingerprint(Tanh(0.5)) == fingerprint(Tanh(0.4))
    (True, False)
    """
    codes = [(type(law), law.code) for law in laws]
    return None if any(code is None for _, code in codes) else law_digest(codes)


def keys_of(law: Law) -> dict[str, Any]:
    """A built-in law as the section of a study file that describes it.

    >>> from kinelo.model.pairing import Window
    >>> keys_of(Window(2.0))
    {'kind': 'window', 'c': 2.0, 'smoothing': 0.0}
    """
    [entry] = [entry for entry in built_in_laws(Law) if entry.make is type(law)]
    values = {name: getattr(law, name) for name in entry.parameters()}
    lists = {
        name: np.asarray(value).tolist() for name, value in values.items() if isinstance(value, np.ndarray | tuple)
    }
    return {"kind": entry.key, **{name: value for name, value in (values | lists).items() if value is not None}}


Scalar: TypeAlias = Callable[[float], float]
"""A formula in plain Python: made of ``math`` calls, closing over plain numbers only, so that it can be compiled."""

FAR = 1e12
"""Differences of rating up to which a user's formula is checked; nothing lies beyond."""

Code: TypeAlias = tuple[int, float, float]
"""A built-in law as compiled code knows it: its kind and two parameters."""


def called(name: str, formula: Scalar, z: float) -> float:
    """The value of a user's formula, or one sentence on why there is none."""
    try:
        value = formula(z)
    except (ArithmeticError, ValueError, TypeError, NameError) as error:
        raise InputError(f"{name} must be a function of one number, but at {z:g} it fails: {error}.") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{name} must return a finite number, but at {z:g} it returns {value!r}.")
    return float(value)


def guarded(formula: Scalar) -> Scalar:
    """The formula, held at its last value where Python overflows far out, as ``math.sinh`` does."""
    if not _overflows(formula, FAR):
        return formula
    low, high = 0.0, FAR
    while high - low > 1e-6 * high and high > 1e-300:
        middle = math.sqrt(low * high) if low > 0 else 1e-9 * high
        if _overflows(formula, middle):
            high = middle
        else:
            low = middle
    edge = low
    return lambda z: formula(z if -edge < z < edge else math.copysign(edge, z))


def _overflows(formula: Scalar, z: float) -> bool:
    try:
        formula(z)
    except OverflowError:
        return True
    except (ArithmeticError, ValueError, TypeError, NameError):
        # Said in a sentence where the formula is checked.
        return False
    return False


def described(formula: Scalar) -> str:
    """A formula in a word: its name and a few digits that tell it from others."""
    return f"{getattr(formula, '__name__', type(formula).__name__)} {law_digest(formula)[:8]}"
