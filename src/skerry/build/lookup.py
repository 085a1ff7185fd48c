"""Lookups in tables as operators."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.operators.lookup import Lookup as LookupOperator
from skerry.operators.operator import Operator
from skerry.plan.lookup import Lookup

__all__ = ["build_lookup"]


def build_lookup(node: Lookup, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator of a lookup, over the table as it is now."""
    return [LookupOperator(node.input.schema, node.name, tables[node.table.name], node.keys)]
