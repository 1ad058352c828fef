"""How laws are told to compiled code: by a formula in plain Python, or, where they are built in, by a small code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Scalar: TypeAlias = Callable[[float], float]
"""A formula in plain Python: made of ``math`` calls, closing over plain numbers only, so that it can be compiled."""

Code: TypeAlias = tuple[int, float, float]
"""A built-in law as compiled code knows it: its kind and two parameters."""
