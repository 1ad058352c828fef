"""Which operations of a user's formula a graphics processor rounds in its own way."""

from __future__ import annotations

import dis
import inspect
import math
from typing import Any

import numpy as np

from kinelo.model.formula import Scalar

EXACT = {"sqrt", "fabs", "copysign", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite"}
"""Functions of ``math`` that give the same bits everywhere."""


def rounded_by_device(formula: Scalar) -> list[str]:
    """Operations of a formula, and of the functions it calls, whose last bit is a matter of the device.

    >>> rounded_by_device(lambda z: z / math.sqrt(1 + z * z)), rounded_by_device(lambda z: math.tanh(z) ** 3)
    ([], ['**', 'math.tanh'])
    """
    found: dict[str, None] = {}
    ahead: list[Any] = [formula]
    seen = set()
    while ahead:
        function = ahead.pop()
        function = getattr(function, "py_func", function)
        code = getattr(function, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        if any(one.opname == "BINARY_OP" and one.argrepr.startswith("**") for one in dis.get_instructions(code)):
            found["**"] = None
        named = inspect.getclosurevars(function)
        for name, value in {**named.globals, **named.nonlocals, **named.builtins}.items():
            if value is math or value is np:
                parts = set(code.co_names) - EXACT
                found |= {f"{name}.{part}": None for part in sorted(parts) if callable(getattr(value, part, None))}
            elif value is pow or (getattr(value, "__module__", None) == "math" and name not in EXACT):
                found[name] = None
            elif callable(value):
                ahead.append(value)
    return list(found)
