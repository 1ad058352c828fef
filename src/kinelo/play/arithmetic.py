"""The three operations that Python cannot write and each device has in its own way.

Everything else in a formula is ``+ − × ÷ √``, which round once and the same everywhere, in the order written; a device
must not fuse ``a * b + c`` into one rounding (LLVM does so on no processor unasked; for CUDA, compile with ``fma=0``).
A :class:`Target` says how formulas are compiled for a device and what these operations are there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic


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
    """The same as :func:`high_product` in plain Python."""
    return np.uint64((int(a) * int(b)) >> 64)


def _plain_float(a: Any) -> float:
    """The same as :func:`float_from_bits`."""
    return struct.unpack("<d", struct.pack("<Q", int(a)))[0]


def _plain_bits(a: Any) -> Any:
    """The same as :func:`bits_from_float`."""
    return np.uint64(struct.unpack("<Q", struct.pack("<d", float(a)))[0])


PLAIN = Target(
    lambda function: function,
    {high_product: _plain_high_product, float_from_bits: _plain_float, bits_from_float: _plain_bits},
)
"""Ordinary Python, nothing compiled: for twins, and for the CUDA simulator, which knows none of the three."""
