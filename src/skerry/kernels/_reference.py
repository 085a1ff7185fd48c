"""Kernels that hand on a tuple of many arrays: by reference, and without counting who holds them.

By value a tuple of arrays costs seven words and two calls per array, each time it is handed to another kernel:
more than most small kernels cost themselves. The outermost kernel holds the tuple; those that it calls get a pointer.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, overload, register_model

from skerry.kernels._parts import compile_part

__all__ = ["by_reference", "inlined_kernel", "inner_kernel", "method"]

Function = TypeVar("Function", bound=Callable[..., Any])

_INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"


def inner_kernel(function: Function) -> Function:
    """As ``kernel``, for kernels that others call; they can make no arrays."""
    return _compile(function, inlined=False)


def inlined_kernel(function: Function) -> Function:
    """As ``inner_kernel``, for kernels called per tuple and by few callers: they become a part of their callers."""
    return _compile(function, inlined=True)


def _compile(function: Function, inlined: bool) -> Function:
    if _INTERPRETED:
        wrapping: Function = np.errstate(all="ignore")(function)
        return wrapping
    compiled: Function = compile_part(
        function, {"nogil": True, "error_model": "numpy", "forceinline": inlined, "_nrt": False}
    )
    return compiled


def method(name: str) -> Any:
    """A function that calls a method of its first argument, a tuple or a reference to one, in a kernel too."""

    def call(record, *arguments):
        return getattr(record, name)(*arguments)

    def choose(record, *arguments):
        return getattr(record.record.instance_class, name)

    overload(call, strict=False, jit_options={"forceinline": True})(choose)
    return call


class _Reference(types.Type):
    """A pointer to a tuple with named fields."""

    def __init__(self, record: types.NamedTuple) -> None:
        super().__init__(f"reference({record.name})")
        self.record = record


@register_model(_Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Reference) -> None:
        super().__init__(manager, kind, manager.lookup(kind.record).get_value_type().as_pointer())


def _kind_of_field(template: Any, reference: _Reference, name: str) -> Any:
    """A field is an array, or a reference if it is a tuple."""
    if name not in reference.record.fields:
        return None
    field = reference.record.types[reference.record.fields.index(name)]
    return _Reference(field) if isinstance(field, types.NamedTuple) else field


@infer_getattr
class _Fields(AttributeTemplate):
    key = _Reference
    generic_resolve: Any = _kind_of_field


@lower_getattr_generic(_Reference)
def _field(context: Any, builder: Any, reference: _Reference, pointer: Any, name: str) -> Any:
    for argument in builder.function.args:
        if argument.type == pointer.type:  # nobody writes there, so what was loaded once need not be loaded again
            argument.add_attribute("noalias")
    position = reference.record.fields.index(name)
    inner = cgutils.gep_inbounds(builder, pointer, 0, position)
    return inner if isinstance(reference.record.types[position], types.NamedTuple) else builder.load(inner)


@intrinsic
def _by_reference(typing, record):
    """Numba's side of ``by_reference``."""

    def generate(context, builder, signature, arguments):
        return cgutils.alloca_once_value(builder, arguments[0])

    return _Reference(record)(record), generate


def _return_record(record: Any) -> Any:
    return record


by_reference: Any = _return_record if _INTERPRETED else _by_reference
"""A reference to a tuple of arrays, good for as long as the kernel runs that made it."""
