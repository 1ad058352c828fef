"""The operations that formulas are made of, and what they are on each device.

A formula written in these gives the same bytes wherever it runs: every operation rounds once, in a fixed order. On a
processor they are the plain operators (LLVM fuses nothing unasked); on CUDA ``a * b + c`` would be fused into one
rounding, so there they are the intrinsics that forbid it. :data:`PLAIN` is ordinary Python, for twins and for the CUDA
simulator, which knows neither.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import add, mul, sub
from operator import truediv as div
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["PLAIN", "Target", "add", "bits_from_float", "cuda_target", "div", "float_from_bits", "high_product",
           "mul", "sub"]  # fmt: skip


@intrinsic
def high_product(typingctx: Any, a: Any, b: Any) -> Any:
    """Upper 64 bits of the 128-bit product; one machine instruction that NumPy integers cannot express."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def float_from_bits(typingctx: Any, a: Any) -> Any:
    """Reinterpret 64 bits as a double."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


@intrinsic
def bits_from_float(typingctx: Any, a: Any) -> Any:
    """Reinterpret a double as 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.uint64(types.float64), codegen


@dataclass(frozen=True)
class Target:
    """How a formula is compiled for a device, and what replaces each operation of this module there."""

    compile: Callable[[Callable[..., Any]], Any]
    operations: Mapping[Any, Any]


def _plain_high_product(a: Any, b: Any) -> Any:
    return np.uint64((int(a) * int(b)) >> 64)


def _plain_float(a: Any) -> float:
    return struct.unpack("<d", struct.pack("<Q", int(a)))[0]


def _plain_bits(a: Any) -> Any:
    return np.uint64(struct.unpack("<Q", struct.pack("<d", float(a)))[0])


PLAIN = Target(
    lambda function: function,
    {high_product: _plain_high_product, float_from_bits: _plain_float, bits_from_float: _plain_bits},
)
"""Ordinary Python: nothing is compiled."""


def cuda_target() -> Target:
    """Device functions of numba's CUDA target, none of whose operations is fused with another."""
    from numba import cuda
    from numba.cuda import libdevice

    def wide(a, b):
        # 32-bit parts: the device has no 128-bit integers.
        low = np.uint64(0xFFFFFFFF)
        a_high, a_low, b_high, b_low = a >> np.uint64(32), a & low, b >> np.uint64(32), b & low
        middle = a_high * b_low + ((a_low * b_low) >> np.uint64(32))
        other = a_low * b_high + (middle & low)
        return a_high * b_high + (middle >> np.uint64(32)) + (other >> np.uint64(32))

    def from_bits(a):
        return libdevice.longlong_as_double(np.int64(a))

    def to_bits(a):
        return np.uint64(libdevice.double_as_longlong(a))  # pyright: ignore[reportArgumentType]

    def difference(a, b):
        return libdevice.dadd_rn(a, -b)

    device = cuda.jit(device=True)
    return Target(
        device,
        {
            add: libdevice.dadd_rn, sub: device(difference), mul: libdevice.dmul_rn, div: libdevice.ddiv_rn,
            high_product: device(wide), float_from_bits: device(from_bits), bits_from_float: device(to_bits),
        },
    )  # fmt: skip
