"""DuckDB as a function from one batch to another, with nothing else in its reach."""

import pyarrow as pa

from skerry.model.batch import as_batch
from skerry.model.duckdb_session import open_duckdb

__all__ = ["query"]


def query(sql: str, unit: pa.RecordBatch) -> pa.RecordBatch:
    """Run a statement over the table ``unit``; rows stay in order.

    >>> query("SELECT a + 1 AS b FROM unit", pa.record_batch({"a": [1, 2]})).to_pydict()
    {'b': [2, 3]}
    """
    connection = open_duckdb()
    connection.register("unit", pa.Table.from_batches([unit]))
    try:
        return as_batch(connection.sql(sql).to_arrow_table())
    finally:
        connection.unregister("unit")
