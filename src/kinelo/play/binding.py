"""The formulas of ``play`` on another device: the same functions with other operations.

A module of formulas that is new is imported here too: only what was imported is bound.
"""

from __future__ import annotations

from types import FunctionType, SimpleNamespace

# Each of these registers its formulas when it is imported.
from kinelo.play import contest, deviations, elementary, laws, match, motion, pairs, performances, steps, stream, users  # noqa: F401
from kinelo.play.arithmetic import Target
from kinelo.play.formula import FORMULAS


def bind(target: Target) -> SimpleNamespace:
    """Every formula of ``play`` compiled for another target, by name.

    >>> from kinelo.play.arithmetic import PLAIN
    >>> round(bind(PLAIN).logistic(0.5, 0.0, 1.0), 12)
    0.46211715726
    """
    replaced, bound = {id(old): new for old, new in target.operations.items()}, SimpleNamespace()
    for compiled in FORMULAS:
        plain = compiled.py_func
        names = {name: replaced.get(id(value), value) for name, value in plain.__globals__.items()}
        new = target.compile(FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__))
        replaced[id(compiled)] = new
        setattr(bound, plain.__name__, new)
    return bound
