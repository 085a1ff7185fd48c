"""Built-in functions and predicates: Python behind ``module:name``, called for many rows at a time.

Skerry's own modules run in this process. A project's modules must be allowed by name, in ``skerry.toml``:

    [rules]
    builtins = ["mymodule"]

They run in a process of their own, which gets and gives JSON, and is killed if a batch takes too long. Built-ins are
pure, so that a result is kept for each row of arguments.
"""

import sys
import time
from collections.abc import Collection, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from skerry.deduce.builtins import geo
from skerry.deduce.builtins.worker_process import WorkerProcess
from skerry.deduce.rule_text import write_value
from skerry.deduce.values import Row, coerce, row_key
from skerry.errors import RuleError, RuleLimit
from skerry.model.term import Value
from skerry.plan.program import Function

__all__ = ["Builtins"]

_BUNDLED = {"geo": geo}
_BATCH = 1_000
_KEPT = 1_000_000
"""How many results are kept at the most."""


class _Runs(Protocol):
    def run(self, path: str, rows: Sequence[Row]) -> Sequence[Value | None]:
        """Call a function once per row. Raises ValueError if one of the calls fails."""


class Builtins:
    """The built-ins that a program declares.

    ``allowed`` names the modules beyond Skerry's own, which are looked for in ``folder`` first; a batch of 1,000 rows
    may take ``seconds``, and all rows of a call twice that.

    >>> from skerry.plan.program import Type
    >>> declared = Function("dist", (Type.POINT, Type.POINT), Type.FLOAT, "geo:dist")
    >>> with Builtins({"dist": declared}) as builtins:
    ...     builtins.call("dist", [((0.0, 0.0), (3.0, 4.0)), ((0.0, 0.0), "far")])
    [5.0, None]
    """

    def __init__(
        self,
        functions: Mapping[str, Function],
        allowed: Collection[str] = (),
        folder: Path | None = None,
        seconds: float = 5.0,
    ) -> None:
        self._functions, self._seconds = functions, seconds
        for function in functions.values():
            _check(function, allowed, folder or Path())
        self._worker = WorkerProcess(allowed, folder, seconds)
        self._results: dict[object, Value | None] = {}

    def call(self, name: str, rows: Sequence[Row]) -> list[Value | None]:
        """One result per row of arguments, in order; None where the function has none."""
        keys = [(name, row_key(row)) for row in rows]
        missing = {found: row for found, row in zip(keys, rows, strict=True) if found not in self._results}
        if len(self._results) + len(missing) > _KEPT:
            self._results.clear()
            missing = dict(zip(keys, rows, strict=True))
        waiting, end = list(missing.items()), time.monotonic() + 2 * self._seconds
        for start in range(0, len(waiting), _BATCH):
            if time.monotonic() > end:
                spent = f"more than {2 * self._seconds:g} seconds for {start:,} rows"
                message = f"built-in {name!r} takes too long: {spent}"
                raise RuleLimit(message, f"make {self._functions[name].path!r} faster")
            part = waiting[start : start + _BATCH]
            results = self._call_batch(self._functions[name], [row for _, row in part])
            self._results.update((found, result) for (found, _), result in zip(part, results, strict=True))
        return [self._results[found] for found in keys]

    def close(self) -> None:
        """End the process of the project's own built-ins, if there is one."""
        self._worker.close()

    def __enter__(self) -> Self:
        """Use them, and close them afterwards."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close them."""
        self.close()

    def _call_batch(self, function: Function, rows: Sequence[Row]) -> list[Value | None]:
        module = function.path.partition(":")[0]
        runs: _Runs = _InProcess() if module in _BUNDLED else self._worker
        try:
            return [_result(function, value) for value in runs.run(function.path, rows)]
        except ValueError as error:
            message = f"built-in {function.name!r} failed: {error}"
            raise RuleLimit(message, f"mend {function.path!r}", code="E402") from None
        except TimeoutError as error:
            message = f"built-in {function.name!r} takes too long: {error}"
            raise RuleLimit(message, f"make {function.path!r} faster") from None


class _InProcess:
    def run(self, path: str, rows: Sequence[Row]) -> Sequence[Value | None]:
        module, _, name = path.partition(":")
        function = getattr(_BUNDLED[module], name)
        return [function(*row) for row in rows]


def _result(function: Function, value: Value | None) -> Value | None:
    """What a function gave, as it was declared."""
    if value is None or function.result is None:
        return None if value is None else bool(value)
    fitted = coerce(value, function.result)
    if fitted is None:
        raise ValueError(f"it is declared to give {function.result}, and gave {write_value(value)}")
    return fitted


def _check(function: Function, allowed: Collection[str], folder: Path) -> None:
    module, colon, name = function.path.partition(":")
    if not colon or not module or not name:
        message = f"built-in {function.name!r} is behind {function.path!r}"
        raise RuleError("E104", message, "write module:name", location=function.location)
    if module in _BUNDLED:
        known = _BUNDLED[module].__all__
        if name not in known:
            message = f"built-in {function.name!r}: there is no {function.path!r}"
            raise RuleError("E104", message, f"{module} has {', '.join(known)}", location=function.location)
    elif module not in allowed:
        message = f"built-in {function.name!r}: module {module!r} is not allowed"
        known = sorted({*_BUNDLED, *allowed})
        fix = f"add it to builtins under [rules] in skerry.toml; allowed are {', '.join(known)}"
        raise RuleError("E104", message, fix, location=function.location)
    elif not _can_be_found(module.partition(".")[0], folder):
        message = f"built-in {function.name!r}: there is no module {module!r}"
        raise RuleError("E104", message, f"write {module}.py in {str(folder)!r}", location=function.location)


def _can_be_found(module: str, folder: Path) -> bool:
    """Whether there is such a module. It is not imported here: that is for the process of its own."""
    return module in sys.stdlib_module_names or PathFinder.find_spec(module, [str(folder), *sys.path]) is not None
