"""DuckDB as a function from one batch to another, with nothing else in its reach."""

import threading

import duckdb
import pyarrow as pa

from skerry.model.batch import join

__all__ = ["query"]

_local = threading.local()


def query(sql: str, unit: pa.RecordBatch) -> pa.RecordBatch:
    """Run a statement over the table ``unit``; rows stay in order.

    >>> query("SELECT a + 1 AS b FROM unit", pa.record_batch({"a": [1, 2]})).to_pydict()
    {'b': [2, 3]}
    """
    connection = _connection()
    connection.register("unit", pa.Table.from_batches([unit]))
    try:
        answer = connection.sql(sql).to_arrow_table()
    finally:
        connection.unregister("unit")
    return join(answer.to_batches(), answer.schema)


def _connection() -> duckdb.DuckDBPyConnection:
    """Keep one database in memory a thread: it has one thread of its own, sees no file, and lives in UTC."""
    if not hasattr(_local, "connection"):
        connection = duckdb.connect(":memory:", config={"threads": 1, "enable_external_access": "false"})
        connection.execute("SET TimeZone = 'UTC'")
        _local.connection = connection
    found: duckdb.DuckDBPyConnection = _local.connection
    return found
