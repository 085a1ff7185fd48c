"""ASOF JOIN as operators: of two streams, and of a stream with a table."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.operators.asof_lookup import AsofLookup as AsofLookupOperator
from skerry.operators.joins.asof import Asof as AsofOperator
from skerry.operators.operator import Operator
from skerry.plan.asof import Asof
from skerry.plan.asof_lookup import AsofLookup

__all__ = ["build_asof", "build_asof_lookup"]


def build_asof(view: str, node: Asof) -> Operator:
    """The operator of an ASOF JOIN of two streams."""
    return AsofOperator(node.sides, kept=node.kept, strictly=node.strictly)


def build_asof_lookup(node: AsofLookup, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator of an ASOF JOIN with a table, over the table as it is now."""
    table = tables[node.table.name]
    times = node.time, node.table_time
    return [AsofLookupOperator(node.input.schema, node.name, table, node.keys, times, node.kept, node.strictly)]
