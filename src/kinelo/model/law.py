"""What all laws share: how study files write them, how compiled code knows them, and a digest that names them.

A built-in law is a class marked ``@built_in(key)``. Study files then accept ``kind = "key"`` in the section of its base
class, with the parameters of its constructor as further keys; books know it by the name of the class. Whoever needs
every law asks :func:`built_in_laws`, which looks through all modules of ``kinelo.model``: there is no list to edit.
"""

from __future__ import annotations

import inspect
import pkgutil
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, TypeVar, get_type_hints

import numpy as np

from kinelo.errors import InputError
from kinelo.model.digest import law_digest

Made = TypeVar("Made", bound=Callable[..., Any])
_FOUND: list[BuiltIn] = []


class Law(ABC):
    """Base of outcomes, pairings, strengths, step rules, schedules and dynamics."""

    section: ClassVar[str]
    """The section of a study file that describes laws of this family."""

    kind: ClassVar[int | None] = None
    """The number of the law's formula in :mod:`kinelo.play`, for built-in laws that have one there."""

    @property
    def own_kind(self) -> int | None:
        """``kind`` where the class itself states it: a class derived from a built-in law may say something else."""
        return vars(type(self)).get("kind")

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
    names = [kind.__name__ for kind in classes if not compiled or "kind" in vars(kind)]
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
    [one] = [one for one in built_in_laws(Law) if one.make is type(law)]
    held = {name: getattr(law, name) for name in one.parameters()}
    plain = {name: _plain(value) for name, value in held.items() if value is not None}
    return {"kind": one.key, **plain}


def _plain(value: Any) -> Any:
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | tuple) else value
