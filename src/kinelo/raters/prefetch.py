"""Asking memory for a number before it is needed: among a million sides most of the time is spent waiting for it."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WRITTEN, KEPT, DATA = 1, 3, 1
"""What LLVM is told: that it will be written, is worth keeping in every cache, and is no code."""


def _soon(typingctx: Any, values: Any, place: Any) -> Any:
    """Say that ``values[place]`` will be read and written; changes nothing and waits for nothing."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, number = signature.args
        array = context.make_array(kind)(context, builder, args[0])
        index = context.cast(builder, args[1], number, types.intp)
        pointer = cgutils.get_item_pointer(context, builder, kind, array, [index])
        byte, hint = ir.IntType(8).as_pointer(), ir.IntType(32)
        fetch = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, hint, hint, hint])
        )
        builder.call(fetch, [builder.bitcast(pointer, byte), *(hint(value) for value in (WRITTEN, KEPT, DATA))])
        return context.get_dummy_value()

    return types.void(values, place), codegen


soon: Any = intrinsic(_soon)
