"""Numba's CUDA as a target of the formulas: which operations it has of its own, and how to keep it from fusing any.

The compiler of CUDA turns ``a * b + c`` into one operation that rounds once, where a processor rounds twice; the bytes
would differ. libNVVM has an option against it, ``-fma=0``. As of numba-cuda 0.30 ``cuda.jit`` takes ``fastmath=True``,
which sets ``fma=1`` among others, but no option that reaches libNVVM as ``fma=0``; an argument ``fma`` of ``cuda.jit``,
passed on to ``nvvm.compile_ir``, would make :func:`unfused` superfluous. Until then it adds the option to what
numba-cuda asks for while one of our kernels is compiled; a test notices where numba-cuda no longer asks that way.
(Link-time optimisation would fuse again, hence none.)

:func:`rounded_by_device` finds what a user's formula does that a graphics processor rounds in its own way.
"""

from __future__ import annotations

import dis
import inspect
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from kinelo.model.law import Scalar
from kinelo.play.arithmetic import PLAIN, Target, bits_from_float, float_from_bits, high_product
from kinelo.runtime.device import simulated

_PATCHING = threading.RLock()


@cache
def target() -> Target:
    """What formulas become: device functions, or plain Python where kernels are only imitated."""
    if simulated():
        return PLAIN
    from numba import cuda
    from numba.cuda import libdevice

    def wide(a, b):
        # 32-bit parts: the device has no 128-bit integers.
        low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
        middle = (a >> half) * (b & low) + (((a & low) * (b & low)) >> half)
        other = (a & low) * (b >> half) + (middle & low)
        return (a >> half) * (b >> half) + (middle >> half) + (other >> half)

    def from_bits(a):
        return libdevice.longlong_as_double(np.int64(a))

    def to_bits(a):
        return np.uint64(libdevice.double_as_longlong(a))  # pyright: ignore[reportArgumentType]

    def device(function: Callable[..., Any]) -> Any:
        return cuda.jit(function, device=True)

    return Target(
        device,
        {high_product: device(wide), float_from_bits: device(from_bits), bits_from_float: device(to_bits)},
    )


def kernel(function: Callable[..., Any]) -> Any:
    """A kernel none of whose operations is fused; call it inside :func:`unfused`."""
    from numba import cuda

    return cuda.jit(function) if simulated() else cuda.jit(function, lto=False)


@contextmanager
def unfused() -> Iterator[None]:
    """Compile whatever is compiled meanwhile without fusing multiplications and additions."""
    if simulated():
        yield
        return
    from numba.cuda.cudadrv import nvvm

    with _PATCHING:
        given = nvvm.compile_ir

        def exact(llvmir: Any, **options: Any) -> Any:
            return given(llvmir, **{**options, "fma": 0})

        nvvm.compile_ir = exact
        try:
            yield
        finally:
            nvvm.compile_ir = given


EXACT_FUNCTIONS = {"sqrt", "fabs", "copysign", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite"}
"""Functions of ``math`` that give the same bits everywhere."""


def rounded_by_device(formula: Scalar) -> list[str]:
    """Operations of a formula, and of the functions it calls, whose last bit is a matter of the device.

    >>> rounded_by_device(lambda z: z / math.sqrt(1 + z * z)), rounded_by_device(lambda z: math.tanh(z) ** 3)
    ([], ['**', 'math.tanh'])
    """
    names: dict[str, None] = {}
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
            names["**"] = None
        named = inspect.getclosurevars(function)
        for name, value in {**named.globals, **named.nonlocals, **named.builtins}.items():
            if value is math or value is np:
                parts = set(code.co_names) - EXACT_FUNCTIONS
                names |= {f"{name}.{part}": None for part in sorted(parts) if callable(getattr(value, part, None))}
            elif value is pow or (getattr(value, "__module__", None) == "math" and name not in EXACT_FUNCTIONS):
                names[name] = None
            elif callable(value):
                ahead.append(value)
    return list(names)
