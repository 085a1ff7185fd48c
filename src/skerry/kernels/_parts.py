"""How kernels are compiled that only other kernels call: no further than their callers need them.

Numba would make each of them a library of its own: optimise it, make machine code of it, with two wrappers to call
it from Python and from C. All of that is thrown away, for a caller takes its code in and optimises it once more. In a
chain of ten kernels the innermost is optimised ten times.
"""

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.registry import CPUDispatcher

__all__ = ["compile_part"]


def compile_part(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Compile for other kernels, as often as one of them is compiled: they are what is kept on disk.

    Python may call it too, as tests do; it is compiled as a whole for that.
    """
    without_wrappers = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    part = _Part(function, targetoptions={**options, **without_wrappers}, pipeline_class=_PartCompiler)
    part.whole = njit(**options)(function)
    return part


class _Part(CPUDispatcher):
    """What Numba compiles a part by, where another kernel calls it."""

    whole: Any

    def __call__(self, *arguments: Any) -> Any:
        """Python has no way into a part."""
        return self.whole(*arguments)


class _PartLibrary(JITCodeLibrary):
    """Code that is linked into that of its callers, and is optimised there."""

    @property
    def codegen(self) -> Any:
        """Itself: all that Numba asks of it is to note the environment of a function that Python may call."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """There is none: Python does not call a part."""

    def get_pointer_to_function(self, name: str) -> int:
        """None, for there is no machine code."""
        return 0

    def _optimize_final_module(self) -> None:
        """Leave it to the caller."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _PartCompiler(CompilerBase):
    """Numba's own passes, into such a library."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]
