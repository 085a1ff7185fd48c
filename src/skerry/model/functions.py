"""Functions that a program adds to SQL: Arrow arrays in, an Arrow array out. They belong to the process.

A function works row by row: what it gives for a row follows from the row's values alone, so that answers do not depend
on how rows come in batches. Where it raises an error, the rows that it raises it for are found by halving; they have
NULL, as everywhere an expression fails, and are counted. A result that is no array of the declared type, or of
another length, is the function's fault and not a row's: it ends the run.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import Any
from uuid import uuid4

import duckdb
import pyarrow as pa

from skerry.errors import InputError, RunError
from skerry.model.types import parse_field, sql_name

__all__ = [
    "FailedRows",
    "UserFunction",
    "define_functions",
    "functions_version",
    "install_functions",
    "list_functions",
    "raise_fault",
    "take_failed_rows",
]

Column = Any
"""An Arrow array."""


@dataclass(frozen=True)
class UserFunction:
    """A function by its name in SQL, its types, and a mark that another definition of the same name does not have."""

    name: str
    call: Callable[..., Column]
    parameters: tuple[pa.DataType, ...]
    result: pa.DataType
    mark: str = field(default_factory=lambda: uuid4().hex)

    @classmethod
    def of(cls, name: str, call: Callable[..., Column], parameters: Sequence[str], result: str) -> "UserFunction":
        """A function whose types are named as in SQL.

        >>> UserFunction.of("twice", lambda a: pa.compute.multiply(a, 2), ["BIGINT"], "BIGINT").signature
        'twice(BIGINT) BIGINT'
        """
        if not (name.isidentifier() and name.isascii() and name == name.lower()):
            raise InputError(f"{name!r} cannot be a function's name; write small letters, digits and _")
        if not callable(call):
            raise InputError(f"function {name!r} must be callable, got", type(call).__name__)
        if isinstance(parameters, str) or not parameters:
            raise InputError(f"function {name!r} needs the types of its arguments, such as ['DOUBLE', 'DOUBLE']")
        return cls(name, call, tuple(_find_type(name, each) for each in parameters), _find_type(name, result))

    @property
    def signature(self) -> str:
        """How it is called, as text."""
        return f"{self.name}({', '.join(map(sql_name, self.parameters))}) {sql_name(self.result)}"

    def apply(self, *columns: Column) -> Column:
        """What DuckDB calls: the values of some rows. NULL for those that the function cannot take."""
        arrays = [_combine(each).cast(type_) for each, type_ in zip(columns, self.parameters, strict=True)]
        return self._apply(arrays) if len(arrays[0]) else pa.nulls(0, self.result)

    def _apply(self, arrays: Sequence[Column]) -> Column:
        count = len(arrays[0])
        try:
            found = self.call(*arrays)
        except Exception as error:
            if count == 1:
                _note_failed_row(self.name, f"{type(error).__name__}: {error}")
                return pa.nulls(1, self.result)
            middle = count // 2
            halves = ([each.slice(0, middle) for each in arrays], [each.slice(middle) for each in arrays])
            return pa.concat_arrays([self._apply(half) for half in halves])
        return self._check(found, count)

    def _check(self, found: object, count: int) -> Column:
        """The result as one array, if it is what was declared."""
        if not isinstance(found, pa.Array | pa.ChunkedArray):
            raise self._find_fault(f"a {type(found).__name__}, which is no Arrow array")
        if len(found) != count:
            raise self._find_fault(f"{len(found)} values for {count} rows")
        if found.type != self.result and not _is_as_good(found.type, self.result):
            raise self._find_fault(f"an array of {sql_name(found.type)}, and {sql_name(self.result)} was declared")
        try:
            return _combine(found).cast(self.result)
        except pa.ArrowInvalid as error:
            raise self._find_fault(f"a value that is no {sql_name(self.result)}: {error}") from None

    def _find_fault(self, fault: str) -> RunError:
        """What ends the run, kept until DuckDB has come back."""
        _local.fault = RunError(f"function {self.name!r} gave {fault}")
        return _local.fault


@dataclass(frozen=True)
class FailedRows:
    """How many rows a function has raised an error for, and the first of these errors."""

    count: int
    first: str


_local = threading.local()
_functions: dict[str, UserFunction] = {}
_version = 0


def install_functions(functions: Sequence[UserFunction]) -> None:
    """Let expressions of this process call these functions; one of the same name is replaced."""
    global _version
    fresh = {each.name: each for each in functions if getattr(_functions.get(each.name), "mark", None) != each.mark}
    if fresh:
        _functions.update(fresh)
        _version += 1


def list_functions() -> list[UserFunction]:
    """All functions of this process, by name."""
    return sorted(_functions.values(), key=lambda each: each.name)


def functions_version() -> int:
    """Another number whenever the functions have changed."""
    return _version


def define_functions(connection: duckdb.DuckDBPyConnection, known: Mapping[str, str]) -> dict[str, str]:
    """Let a DuckDB call this process's functions; ``known`` are the marks by name that this gave it the last time."""
    for function in list_functions():
        if known.get(function.name) == function.mark:
            continue
        if function.name in known:
            connection.remove_function(function.name)
        types = [duckdb.sqltype(sql_name(type_)) for type_ in (*function.parameters, function.result)]
        connection.create_function(  # type: ignore[call-overload]  # of what this one takes, its stubs know the half
            function.name, _fix_arity(function), types[:-1], types[-1], type="arrow", null_handling="special"
        )
    return {function.name: function.mark for function in list_functions()}


def _fix_arity(function: UserFunction) -> Callable[..., Column]:
    """What applies a function, and looks to DuckDB as if it had written its parameters down one by one."""

    def apply(*columns: Column) -> Column:
        return function.apply(*columns)

    names = [f"column{number}" for number in range(len(function.parameters))]
    apply.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_ONLY) for name in names])  # type: ignore[attr-defined]
    return apply


def raise_fault() -> None:
    """Raise what was wrong with a function's result: DuckDB, which had called it, has made another error of it."""
    fault: RunError | None = getattr(_local, "fault", None)
    if fault is not None:
        _local.fault = None
        raise fault


def take_failed_rows() -> dict[str, FailedRows]:
    """The rows that functions have raised errors for in this thread, since this was asked last."""
    failed: dict[str, FailedRows] = getattr(_local, "failed", {})
    _local.failed = {}
    return failed


def _note_failed_row(name: str, reason: str) -> None:
    failed = _local.__dict__.setdefault("failed", {})
    known = failed.get(name)
    failed[name] = FailedRows(known.count + 1, known.first) if known else FailedRows(1, reason)


def _find_type(name: str, written: object) -> pa.DataType:
    found = parse_field("value", written.upper()) if isinstance(written, str) else None
    if found is None:
        raise InputError(f"function {name!r} has type {written!r}; write one of SQL's, such as 'DOUBLE' or 'VARCHAR'")
    return found.type


def _is_as_good(given: pa.DataType, declared: pa.DataType) -> bool:
    """Whether values of a type may stand for those of another, if they fit: Arrow's functions widen numbers."""
    if pa.types.is_integer(given):
        return pa.types.is_integer(declared) or pa.types.is_floating(declared)
    return pa.types.is_floating(given) and pa.types.is_floating(declared)


def _combine(column: Column) -> Column:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
