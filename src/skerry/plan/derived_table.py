"""A table that is a query over tables."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from skerry.catalog import Source

__all__ = ["DerivedTable", "derive_table", "describe_table", "list_base_tables", "name_input"]

_CONNECTOR = "query"
"""In place of a connector: it is computed, not read."""


@dataclass(frozen=True)
class DerivedTable(Source):
    """What a query gives that reads tables alone. It is computed when one of them has changed.

    ``sql`` is the query as DuckDB reads it, made from a checked syntax tree; ``inputs`` are the tables it reads, which
    it knows by number (``name_input``).
    """

    sql: str = ""
    inputs: tuple[Source, ...] = ()


def derive_table(sql: str, inputs: Sequence[Source], schema: pa.Schema) -> DerivedTable:
    """The table of a query; equal queries over the same tables are one table."""
    texts = [sql, *(f"{table.name}: {table.text}" for table in inputs)]
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    text = "\n".join(texts)
    return DerivedTable(
        f"{_CONNECTOR}-{digest}", schema, _CONNECTOR, is_table=True, text=text, sql=sql, inputs=tuple(inputs)
    )


def describe_table(table: Source) -> str:
    """A table by its name; of a query over tables, what it reads."""
    if not isinstance(table, DerivedTable):
        return f"table {table.name}"
    bases = ", ".join(dict.fromkeys(base.name for base in list_base_tables(table)))
    return f"a query over {bases}" if bases else "a list of constants"


def name_input(number: int) -> str:
    """What a query calls a table that it reads.

    >>> name_input(0)
    'input0'
    """
    return f"input{number}"


def list_base_tables(table: Source) -> tuple[Source, ...]:
    """The tables that one is computed from; a table that is read is its own."""
    if not isinstance(table, DerivedTable):
        return (table,)
    return tuple(base for each in table.inputs for base in list_base_tables(each))
