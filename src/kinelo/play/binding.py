"""The formulas of ``play`` on another device: the same functions with other operations."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import FunctionType, SimpleNamespace

from kinelo.play.arithmetic import Target
from kinelo.play.formula import FORMULAS


def bind(target: Target) -> SimpleNamespace:
    """Every formula of ``play`` compiled for another target, by name.

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
