"""Functions of the program, on their way to its own workers."""

from dataclasses import dataclass

from pyspark import cloudpickle

from skerry.errors import RunError
from skerry.model.functions import install_functions, list_functions

__all__ = ["NO_FUNCTIONS", "PackedFunctions", "pack_functions"]

_installed: set[str] = set()
"""What this process has unpacked, by its mark."""


@dataclass(frozen=True)
class PackedFunctions:
    """Functions as their program has pickled them, and the marks of their definitions."""

    marks: str = ""
    blob: bytes = b""

    def install(self) -> None:
        """Let expressions of this process call them. They are unpacked once per process."""
        if not self.marks or self.marks in _installed:
            return
        try:
            functions = cloudpickle.loads(self.blob)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            message = f"a worker of Spark's cannot load the program's functions: {reason}"
            raise RunError(f"{message}; what they import must be installed there") from None
        install_functions(functions)
        _installed.add(self.marks)


NO_FUNCTIONS = PackedFunctions()


def pack_functions() -> PackedFunctions:
    """All functions of this process: it is the user's own program that pickles, and its own workers that unpickle."""
    functions = list_functions()
    if not functions:
        return NO_FUNCTIONS
    try:
        return PackedFunctions(" ".join(each.mark for each in functions), cloudpickle.dumps(functions))  # type: ignore[no-untyped-call]
    except Exception as error:
        names = ", ".join(each.name for each in functions)
        raise RunError(f"functions cannot be sent to Spark's workers ({names}): {error}") from None
