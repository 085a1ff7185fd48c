"""The one DuckDB of a thread, by which expressions are evaluated and checked."""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from weakref import WeakSet

import duckdb
import pyarrow as pa

from skerry.model.batch import as_batch
from skerry.model.functions import define_functions, functions_version, raise_fault

__all__ = ["open_duckdb", "query_batch", "register_batch", "register_tables"]

_local = threading.local()


class _Held:
    """A thread's DuckDB, and the functions of the program that it knows."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.functions: dict[str, str] = {}
        self.version = 0


_all_held: "WeakSet[_Held]" = WeakSet()
_kept_for_child: list[_Held] = []
"""While a process is forked, what all threads have. The child has one thread, and lets go of what others had: to close
their DuckDB there would wait for threads that it does not have, or crash."""
os.register_at_fork(before=lambda: _kept_for_child.extend(_all_held), after_in_parent=_kept_for_child.clear)


def open_duckdb() -> duckdb.DuckDBPyConnection:
    """This thread's DuckDB: one core, no files, no network, UTC, and locked that way."""
    if not hasattr(_local, "held"):
        connection = duckdb.connect(config={"threads": 1, "enable_external_access": False})
        connection.execute("SET TimeZone = 'UTC'; SET integer_division = true; SET memory_limit = '2GB'")
        # A subexpression that occurs twice would be computed once, before TRY could catch its error.
        connection.execute("SET disabled_optimizers = 'common_subexpressions'")
        # On a busy machine it would draw a bar on the terminal for each query that takes two seconds.
        with suppress(
            duckdb.InvalidInputException
        ):  # a notebook that cannot draw bars refuses the word, and draws none
            connection.execute("SET enable_progress_bar = false")
        connection.execute("SET lock_configuration = true")
        _local.held = _Held(connection)
        _all_held.add(_local.held)
    held: _Held = _local.held
    if held.version != functions_version():
        held.version, held.functions = functions_version(), define_functions(held.connection, held.functions)
    raise_fault()
    return held.connection


@contextmanager
def register_batch(batch: pa.RecordBatch) -> Iterator[duckdb.DuckDBPyConnection]:
    """This thread's DuckDB with a table ``batch``.

    After a fatal error a DuckDB takes no more statements: then the next one will be another. The error is told as
    one of memory, which is what such errors come from: a value that grew beyond all bounds.
    """
    connection = open_duckdb()
    connection.register("batch", pa.Table.from_batches([batch]))
    try:
        yield connection
    finally:
        try:
            connection.unregister("batch")
        except duckdb.FatalException as error:
            del _local.held
            raise duckdb.OutOfMemoryException(str(error)) from None
        raise_fault()


@contextmanager
def register_tables(tables: Mapping[str, pa.RecordBatch]) -> Iterator[duckdb.DuckDBPyConnection]:
    """This thread's DuckDB with some tables.

    >>> with register_tables({"t": pa.record_batch({"a": [1]}), "u": pa.record_batch({"b": [2]})}) as connection:
    ...     connection.sql("SELECT a + b FROM t, u").fetchall()
    [(3,)]
    """
    connection = open_duckdb()
    try:
        for name, rows in tables.items():
            connection.register(name, pa.Table.from_batches([rows]))
        yield connection
    finally:
        for name in tables:
            connection.unregister(name)
        raise_fault()


def query_batch(sql: str, unit: pa.RecordBatch) -> pa.RecordBatch:
    """Run a statement over the table ``unit``; rows stay in order.

    >>> query_batch("SELECT a + 1 AS b FROM unit", pa.record_batch({"a": [1, 2]})).to_pydict()
    {'b': [2, 3]}
    """
    connection = open_duckdb()
    connection.register("unit", pa.Table.from_batches([unit]))
    try:
        return as_batch(connection.sql(sql).to_arrow_table())
    finally:
        connection.unregister("unit")
        raise_fault()
