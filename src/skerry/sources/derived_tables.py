"""Tables that are queries over tables, computed by DuckDB."""

import hashlib
from collections.abc import Mapping

import duckdb
import pyarrow as pa

from skerry.errors import SourceError
from skerry.model.batch import as_batch
from skerry.model.duckdb_session import register_tables
from skerry.plan.derived_table import DerivedTable, describe_table

__all__ = ["compute_table"]


def compute_table(table: DerivedTable, inputs: Mapping[str, pa.RecordBatch]) -> tuple[str, pa.RecordBatch]:
    """The rows of a table, and a version that follows from them.

    >>> from skerry.plan.derived_table import derive_table
    >>> schema = pa.schema({"a": pa.int64()})
    >>> twice = derive_table("SELECT a * 2 AS a FROM input0", [], schema)
    >>> compute_table(twice, {"input0": pa.record_batch({"a": [3]})})[1].to_pydict()
    {'a': [6]}
    """
    try:
        with register_tables(inputs) as connection:
            rows = as_batch(connection.sql(table.sql).to_arrow_table().cast(table.schema))
    except duckdb.Error as error:
        raise SourceError(f"{describe_table(table)} fails: {str(error).splitlines()[0]}") from None
    return hashlib.sha256(rows.serialize()).hexdigest()[:16], rows
