"""The one DuckDB of a thread, by which expressions are evaluated and checked."""

import threading

import duckdb

__all__ = ["open_duckdb"]

_local = threading.local()


def open_duckdb() -> duckdb.DuckDBPyConnection:
    """This thread's DuckDB: one core, no files, no network, UTC, and locked that way."""
    if not hasattr(_local, "connection"):
        connection = duckdb.connect(config={"threads": 1, "enable_external_access": False})
        connection.execute("SET TimeZone = 'UTC'; SET integer_division = true; SET memory_limit = '2GB'")
        # A subexpression that occurs twice would be computed once, before TRY could catch its error.
        connection.execute("SET disabled_optimizers = 'common_subexpressions'")
        connection.execute("SET lock_configuration = true")
        _local.connection = connection
    found: duckdb.DuckDBPyConnection = _local.connection
    return found
