"""Fetch rows from memory that will be needed soon."""

import os
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["prefetch"]

_FOR_WRITING, _KEPT, _DATA = 1, 3, 1


@intrinsic
def _prefetch(typing, rows, row):
    """Numba's side of ``prefetch``."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
        word, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        offset = builder.mul(builder.extract_value(array.strides, 0), arguments[1])
        address = builder.gep(builder.bitcast(array.data, byte), [offset])
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(fetch, [address, *(ir.Constant(word, value) for value in (_FOR_WRITING, _KEPT, _DATA))])
        return context.get_dummy_value()

    return types.void(rows, row), generate


def _ignore(rows: Any, row: int) -> None:
    """Do nothing: without a compiler there is nothing to be gained."""


prefetch: Any = _ignore if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" else _prefetch
"""Let memory fetch a row of an array while other work is done."""
